//! One setting at a time, from the environment or else from the file.
//!
//! A value that can't be used is passed over with a line about it. Nothing is opened here; which settings there are is the
//! parent module's list.

use std::ffi::OsString;
use std::path::PathBuf;

use super::file::FileSettings;
use super::token::TokenSource;
use super::{AGENT_MARKERS, Place, SESSION_ID_LEN_MAX, means_yes};

/// The two places that settings come from, and what was wrong with them.
pub(super) struct Sources<E> {
    pub(super) environment: E,
    pub(super) file: FileSettings,
    pub(super) problems: Vec<String>,
}

impl<E: Fn(&str) -> Option<OsString>> Sources<E> {
    /// Returns a setting; an empty variable hides the file's value.
    pub(super) fn value(&self, variable: &str, key: &str) -> Option<OsString> {
        match (self.environment)(variable) {
            Some(value) if value.is_empty() => None,
            Some(value) => Some(value),
            None => self.file.text(key).map(OsString::from),
        }
    }

    /// Returns a setting that must be text.
    pub(super) fn text(&mut self, variable: &str, key: &str) -> Option<String> {
        let text = self.value(variable, key)?.into_string().ok();
        if text.is_none() {
            self.problems.push(format!("{variable}: not UTF-8, ignored"));
        }
        text
    }

    /// Returns a path, and whether it was explicitly left out.
    pub(super) fn place(&self, variable: &str, key: &str) -> Place {
        match (self.environment)(variable) {
            Some(value) if value.is_empty() => Place::Off,
            Some(value) => Place::At(PathBuf::from(value)),
            None => match self.file.text(key) {
                Some("") => Place::Off,
                Some(text) => Place::At(PathBuf::from(text)),
                None => Place::Unset,
            },
        }
    }

    /// Returns a setting that is one of a few words; an unknown word is the default.
    pub(super) fn word<T: Default>(&mut self, variable: &str, key: &str, from_word: fn(&str) -> Option<T>) -> T {
        let Some(text) = self.text(variable, key) else { return T::default() };
        from_word(&text).unwrap_or_else(|| {
            self.problems.push(format!("{variable}: unknown word {text:.40?}, the default is used"));
            T::default()
        })
    }

    /// Returns the collector's URL; without TLS in the shell only plain HTTP can be meant.
    pub(super) fn hook_url(&mut self) -> Option<String> {
        let url = self.text("NUCLEIC_SHELL_HOOK_URL", "hook_url")?;
        if url.starts_with("http://") {
            return Some(url);
        }
        self.problems.push("NUCLEIC_SHELL_HOOK_URL: does not start with http://, ignored".to_owned());
        None
    }

    /// Returns the session's id if it isn't absurdly long.
    pub(super) fn session_id(&mut self) -> Option<String> {
        let id = self.text("NUCLEIC_SESSION_ID", "session_id")?;
        if id.len() <= SESSION_ID_LEN_MAX {
            return Some(id);
        }
        self.problems.push(format!("NUCLEIC_SESSION_ID: longer than {SESSION_ID_LEN_MAX} bytes, ignored"));
        None
    }

    /// Returns whether everything goes to the real shell; the variable wins over the file in both directions.
    pub(super) fn disabled(&self) -> bool {
        match (self.environment)("NUCLEIC_NASH_DISABLE") {
            Some(value) => means_yes(&value),
            None => self.file.flag("disable"),
        }
    }

    /// Returns where the token is; a token itself wins over a file, and the environment over the configuration file.
    pub(super) fn token(&self) -> TokenSource {
        let variable = |name: &str| (self.environment)(name).filter(|value| !value.is_empty());
        if let Some(token) = variable("NUCLEIC_HOOK_TOKEN") {
            return TokenSource::Value(token);
        }
        if let Some(file) = variable("NUCLEIC_HOOK_TOKEN_FILE") {
            return TokenSource::File(PathBuf::from(file));
        }
        if let Some(token) = self.file.text("token") {
            return TokenSource::Value(OsString::from(token));
        }
        self.file.text("token_file").map_or(TokenSource::None, |file| TokenSource::File(PathBuf::from(file)))
    }

    /// Returns the agent's markers that are there.
    pub(super) fn agent(&self) -> Vec<(&'static str, OsString)> {
        AGENT_MARKERS.iter().filter_map(|name| Some((*name, (self.environment)(name)?))).collect()
    }

    /// Tells whether a marker variable is there and doesn't say no.
    pub(super) fn is_set(&self, name: &str) -> bool {
        (self.environment)(name).is_some_and(|value| means_yes(&value))
    }
}
