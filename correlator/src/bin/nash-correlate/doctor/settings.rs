//! What shells are told: the environment over `/etc/nash/nash.toml`, as nash reads them.
//!
//! Reads only what a check needs. What a setting means is nash's business.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Area, Check, State};

/// The configuration file.
const FILE: &str = "/etc/nash/nash.toml";

/// Where a collector listens once something else turns observation on.
const SOCKET: &str = "/run/nucleic/control.sock";

/// Where events wait once something else turns observation on.
const SPOOL: &str = "/var/spool/nucleic-nash";

/// What shells are told.
#[derive(Debug)]
pub(super) struct Settings {
    file: toml::Table,
}

impl Settings {
    /// Reads them, and says what is wrong with the file.
    pub(super) fn read() -> (Self, Option<Check>) {
        let lack = |found: String| Some(Check::new(Area::Shell, "configuration", State::Limit, found));
        let (file, trouble) = match std::fs::read_to_string(FILE) {
            Ok(text) => match text.parse() {
                Ok(table) => (table, Some(Check::new(Area::Shell, "configuration", State::Ok, FILE))),
                Err(error) => {
                    let error: toml::de::Error = error;
                    let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
                    (toml::Table::new(), lack(format!("{FILE}:{line}: {}; it is not used", error.message())))
                }
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (toml::Table::new(), None),
            Err(error) => (toml::Table::new(), lack(format!("{FILE}: {error}"))),
        };
        (Self { file }, trouble)
    }

    /// Whether anything turns observation on.
    pub(super) fn any_named(&self) -> bool {
        [("NUCLEIC_SHELL_SOCKET", "socket"), ("NUCLEIC_SHELL_HOOK_URL", "hook_url"), ("NUCLEIC_SHELL_SPOOL", "spool")]
            .iter()
            .any(|(variable, key)| self.named(variable, key).is_some())
    }

    /// What switches nash off, where something does.
    pub(super) fn disabled_by(&self) -> Option<&'static str> {
        if let Some(value) = std::env::var_os("NUCLEIC_NASH_DISABLE").filter(|value| !value.is_empty()) {
            return (value.as_bytes() != b"0").then_some("NUCLEIC_NASH_DISABLE is set");
        }
        let in_file = self.file.get("disable").and_then(toml::Value::as_bool);
        in_file.unwrap_or_default().then_some("/etc/nash/nash.toml says disable = true")
    }

    /// Whether capture is switched off.
    pub(super) fn captures_nothing(&self) -> bool {
        self.named("NUCLEIC_SHELL_CAPTURE", "capture").is_some_and(|level| level.as_bytes() == b"off")
    }

    /// The collector's socket; none where it is switched off.
    pub(super) fn socket(&self) -> Option<PathBuf> {
        self.or_default("NUCLEIC_SHELL_SOCKET", "socket", SOCKET)
    }

    /// Whether the socket is one that somebody chose.
    pub(super) fn socket_is_named(&self) -> bool {
        self.named("NUCLEIC_SHELL_SOCKET", "socket").is_some()
    }

    /// The collector's address.
    pub(super) fn hook_url(&self) -> Option<String> {
        self.named("NUCLEIC_SHELL_HOOK_URL", "hook_url").map(|url| url.to_string_lossy().into_owned())
    }

    /// The spool; none where it is switched off.
    pub(super) fn spool(&self) -> Option<PathBuf> {
        self.or_default("NUCLEIC_SHELL_SPOOL", "spool", SPOOL)
    }

    /// Whether shells have a token to send.
    pub(super) fn token(&self) -> Result<bool, String> {
        if self.named("NUCLEIC_HOOK_TOKEN", "token").is_some() {
            return Ok(true);
        }
        let Some(file) = self.named("NUCLEIC_HOOK_TOKEN_FILE", "token_file") else { return Ok(false) };
        let path = Path::new(&file);
        std::fs::read(path).map(|_| true).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// A setting that is there and not empty.
    fn named(&self, variable: &str, key: &str) -> Option<OsString> {
        self.told(variable, key).filter(|value| !value.is_empty())
    }

    /// An empty value switches the default off.
    fn or_default(&self, variable: &str, key: &str, otherwise: &str) -> Option<PathBuf> {
        let told = self.told(variable, key).unwrap_or_else(|| otherwise.into());
        (!told.is_empty()).then(|| told.into())
    }

    fn told(&self, variable: &str, key: &str) -> Option<OsString> {
        std::env::var_os(variable).or_else(|| self.file.get(key)?.as_str().map(OsString::from))
    }
}
