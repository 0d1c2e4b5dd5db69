//! Tests of the configuration: environment over file, and nothing that breaks a command.
