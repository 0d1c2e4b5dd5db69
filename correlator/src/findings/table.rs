//! What finding rules know by name and by file: a table that comes with the program, and what an administrator adds.
//!
//! Text in, patterns out. Nothing here reads a file or looks at a story.

use nash_events::ByteString;
use serde::Deserialize;

/// The table that comes with the program.
const BUILT_IN: &str = include_str!("shells.toml");

/// What finding rules know by name and by file.
///
/// ```
/// use nash_correlator::FindingRules;
///
/// let mut rules = FindingRules::default();
/// rules.extend("[names]\nforeign = [\"my-shell\"]\n\n[[preserved]]\npath = \"/opt/bash\"\n")?;
/// assert!(rules.extend("[names]\nunknown = 1\n").is_err());
/// # Ok::<(), nash_correlator::FindingRulesError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FindingRules {
    pub(super) names: Names,
    pub(super) preserved: Vec<Preserved>,
}

/// Why a text is no table of finding rules.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FindingRulesError(#[from] toml::de::Error);

/// Lists of patterns.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Names {
    pub(super) shells: Vec<String>,
    pub(super) system_directories: Vec<String>,
    pub(super) foreign: Vec<String>,
    pub(super) multi_call: Vec<String>,
    pub(super) applets: Vec<String>,
    pub(super) preserved: Vec<String>,
    pub(super) loaders: Vec<String>,
    pub(super) launchers: Vec<String>,
    pub(super) libraries: Vec<String>,
    pub(super) observers: Vec<String>,
    pub(super) nash: Vec<String>,
    pub(super) network: Vec<String>,
}

/// A file that is a real shell whatever it is called. Every field that is given is enough.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Preserved {
    name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) dev: Option<u64>,
    pub(super) ino: Option<u64>,
    pub(super) sha256: Option<String>,
    pub(super) build_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    names: Names,
    #[serde(default)]
    preserved: Vec<Preserved>,
}

impl Default for FindingRules {
    /// The table that comes with the program.
    fn default() -> Self {
        let mut rules = Self { names: Names::default(), preserved: Vec::new() };
        let built_in = rules.extend(BUILT_IN);
        debug_assert!(built_in.is_ok(), "the table of this crate can be read: {built_in:?}");
        rules
    }
}

impl FindingRules {
    /// Adds what a text in the form of the built-in table says; an error names the line.
    pub fn extend(&mut self, text: &str) -> Result<(), FindingRulesError> {
        let File { names, preserved } = toml::from_str(text)?;
        let Names {
            shells,
            system_directories,
            foreign,
            multi_call,
            applets,
            preserved: aside,
            loaders,
            launchers,
            libraries,
            observers,
            nash,
            network,
        } = names;
        self.names.shells.extend(shells);
        self.names.system_directories.extend(system_directories);
        self.names.foreign.extend(foreign);
        self.names.multi_call.extend(multi_call);
        self.names.applets.extend(applets);
        self.names.preserved.extend(aside);
        self.names.loaders.extend(loaders);
        self.names.launchers.extend(launchers);
        self.names.libraries.extend(libraries);
        self.names.observers.extend(observers);
        self.names.nash.extend(nash);
        self.names.network.extend(network);
        self.preserved.extend(preserved);
        Ok(())
    }
}

/// Whether a name fits one of the patterns.
pub(super) fn is_one_of(name: &[u8], patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| fits(name, pattern.as_bytes()))
}

/// The last part of a path, without the dash of a login shell.
pub(super) fn base_name(path: &ByteString) -> &[u8] {
    let name = crate::attribution::file_name(path.as_bytes());
    name.strip_prefix(b"-").unwrap_or(name)
}

/// Whether a text fits a pattern in which `*` stands for anything. Looks at each place once for each star.
fn fits(text: &[u8], pattern: &[u8]) -> bool {
    if pattern.first() != text.first() && pattern.first() != Some(&b'*') {
        return false;
    }
    let mut pieces = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut last = None;
    for piece in pieces {
        if let Some(piece) = last.replace(piece) {
            let Some(at) = find(rest, piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

fn find(text: &[u8], piece: &[u8]) -> Option<usize> {
    if piece.is_empty() {
        return Some(0);
    }
    text.windows(piece.len()).position(|window| window == piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_that_comes_with_the_program_can_be_read() {
        let rules = FindingRules::default();
        assert!(is_one_of(b"zsh", &rules.names.foreign));
        assert!(is_one_of(b"bash.real", &rules.names.preserved));
        assert!(is_one_of(b"ld-linux-x86-64.so.2", &rules.names.loaders));
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        let fits = |text: &str, pattern: &str| super::fits(text.as_bytes(), pattern.as_bytes());
        assert!(fits("bash.real", "*.real") && fits("ld-musl-x86_64.so.1", "ld-musl-*.so*"));
        assert!(!fits("bash.really", "*.real") && !fits("xbash", "bash") && !fits("bash", "bash*h"));
        assert!(fits("", "*") && fits("aXbXc", "a*b*c") && !fits("ab", "a*bb"));
    }

    #[test]
    fn an_error_names_the_line() {
        let error = FindingRules::default().extend("[names]\nshels = []\n").unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
