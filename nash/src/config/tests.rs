//! Tests of the configuration: environment over file, and nothing that breaks a command.

use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A configuration file that is removed in the end.
struct Toml(PathBuf);

impl Toml {
    fn new(text: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("nash-config-{}-{number}.toml", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for Toml {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Loads with these variables and this file.
fn load(variables: &[(&str, &str)], toml: &str) -> Config {
    let file = Toml::new(toml);
    let lookup =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
    Config::load(lookup, &file.0)
}

#[test]
fn without_configuration_nothing_is_observed_and_nothing_is_wrong() {
    let config = Config::load(|_| None, Path::new("/nonexistent/nash.toml"));
    assert!(!config.observes());
    assert_eq!(config.problems, [] as [&str; 0]);
    assert_eq!(config.capture, Capture::Tap);
    assert_eq!(config.kernel, Kernel::None);
    assert!(!config.disabled && config.agent.is_empty() && config.parent_shell.is_none());
    assert!(config.token().unwrap().is_none());
}

#[test]
fn any_of_socket_url_and_spool_turns_observation_on() {
    assert!(load(&[("NUCLEIC_SHELL_SOCKET", "/s")], "").observes());
    assert!(load(&[("NUCLEIC_SHELL_HOOK_URL", "http://h:1/shell-event")], "").observes());
    assert!(load(&[("NUCLEIC_SHELL_SPOOL", "/d")], "").observes());
    assert!(load(&[], "spool = '/d'").observes());
    assert!(!load(&[("NUCLEIC_SESSION_ID", "s"), ("NUCLEIC_HOOK_TOKEN", "t")], "").observes());
}

#[test]
fn capture_off_turns_observation_off() {
    assert!(!load(&[("NUCLEIC_SHELL_CAPTURE", "off")], "spool = '/d'").observes());
    assert!(load(&[("NUCLEIC_SHELL_CAPTURE", "meta")], "spool = '/d'\ncapture = 'off'").observes());
}

#[test]
fn the_environment_wins_over_the_file() {
    let toml = "socket = '/file'\nsession_id = 'file'\nkernel = 'ebpf'\nreal_bash = '/file/bash'\nreal_sh = '/file/sh'";
    let config = load(&[("NUCLEIC_SHELL_SOCKET", "/env"), ("NUCLEIC_REAL_BASH", "/env/bash")], toml);
    assert_eq!(config.socket, Place::At("/env".into()));
    assert_eq!(config.session_id.as_deref(), Some("file"));
    assert_eq!(config.kernel, Kernel::Ebpf);
    assert_eq!(config.real_bash, Some("/env/bash".into()));
    assert_eq!(config.real_sh, Some("/file/sh".into()));
}

#[test]
fn an_empty_variable_hides_the_file_and_the_default() {
    let config = load(&[("NUCLEIC_SHELL_SOCKET", ""), ("NUCLEIC_SHELL_SPOOL", "/d")], "socket = '/file'");
    assert_eq!(config.socket_path(), None);
    assert_eq!(load(&[("NUCLEIC_SHELL_SPOOL", "/d")], "").socket_path(), Some(Path::new(DEFAULT_SOCKET)));
    assert_eq!(load(&[("NUCLEIC_SHELL_SOCKET", "/s")], "").spool_path(), Some(Path::new(DEFAULT_SPOOL)));
}

#[test]
fn paths_keep_bytes_that_are_not_text() {
    let bytes = OsString::from_vec(b"/d\xff".to_vec());
    let lookup = |name: &str| (name == "NUCLEIC_SHELL_SPOOL").then(|| bytes.clone());
    let config = Config::load(lookup, Path::new("/nonexistent"));
    assert_eq!(config.spool, Place::At(PathBuf::from(bytes.clone())));
    assert!(config.problems.is_empty());
}

#[test]
fn an_unknown_word_is_the_default_and_remembered() {
    let config = load(&[("NUCLEIC_SHELL_CAPTURE", "everything"), ("NUCLEIC_SHELL_KERNEL", "bpf")], "");
    assert_eq!((config.capture, config.kernel), (Capture::Tap, Kernel::None));
    assert_eq!(config.problems.len(), 2);
    assert!(config.problems[0].contains("NUCLEIC_SHELL_CAPTURE") && config.problems[0].contains("everything"));
}

#[test]
fn a_file_that_is_no_toml_counts_as_empty_and_is_not_quoted() {
    let config = load(&[], "spool = '/d'\ntoken = s3cret s3cret");
    assert_eq!(config.spool, Place::Unset);
    assert_eq!(config.problems.len(), 1);
    assert!(!config.problems[0].contains("s3cret"), "{:?}", config.problems);
}

#[test]
fn one_bad_key_leaves_the_others_alone() {
    let config = load(&[], "spool = '/d'\nsocket = 1\nsurprise = true\n[table]\nx = 1");
    assert_eq!(config.spool, Place::At("/d".into()));
    assert_eq!(config.socket, Place::Unset);
    assert_eq!(config.problems.len(), 3, "{:?}", config.problems);
}

#[test]
fn an_endless_file_is_not_read_to_its_end() {
    let config = Config::load(|_| None, Path::new("/dev/zero"));
    assert_eq!(config.problems.len(), 1);
}

#[test]
fn problems_are_bounded() {
    let toml = (0..100).map(|number| format!("k{number} = 1")).collect::<Vec<_>>().join("\n");
    assert_eq!(load(&[], &toml).problems.len(), PROBLEMS_MAX);
}

#[test]
fn a_url_without_plain_http_is_ignored() {
    let config = load(&[("NUCLEIC_SHELL_HOOK_URL", "https://h/")], "");
    assert_eq!(config.hook_url, None);
    assert_eq!(config.problems.len(), 1);
}

#[test]
fn the_switch_is_off_only_when_empty_or_zero() {
    assert!(load(&[("NUCLEIC_NASH_DISABLE", "1")], "").disabled);
    assert!(load(&[("NUCLEIC_NASH_DISABLE", "yes")], "").disabled);
    assert!(!load(&[("NUCLEIC_NASH_DISABLE", "")], "").disabled);
    assert!(!load(&[("NUCLEIC_NASH_DISABLE", "0")], "disable = true").disabled);
    assert!(load(&[], "disable = true").disabled);
}

#[test]
fn a_parent_is_thirty_two_hexadecimal_digits() {
    let parent = |value: &str| load(&[("NUCLEIC_SHELL_ID", value)], "").parent_shell;
    let digits = "0123456789abcdefABCDEF0123456789";
    assert_eq!(parent(digits).unwrap().as_str(), digits.to_ascii_lowercase());
    assert_eq!(parent(&digits[1..]), None);
    assert_eq!(parent(&digits.replace('f', "g")), None);
    assert_eq!(parent(&format!("{digits}0")), None);
}

#[test]
fn markers_are_recorded_as_found() {
    let config = load(&[("AI_AGENT", "a"), ("TRACEPARENT", "00-1"), ("SANDBOX_RUNTIME", "1"), ("OTHER", "x")], "");
    assert_eq!(config.agent, [("AI_AGENT", "a".into()), ("TRACEPARENT", "00-1".into())]);
    assert!(config.sockets_refused);
    assert!(!load(&[("CODEX_SANDBOX_NETWORK_DISABLED", "0")], "").sockets_refused);
}

#[test]
fn a_token_comes_from_the_environment_before_any_file() {
    let reveal = |config: &Config| config.token().unwrap().map(|token| token.reveal().to_owned());
    let file = Toml::new("from-file\n");
    let path = file.0.to_str().unwrap();
    let toml = "token = 'from-toml'";
    let both = [("NUCLEIC_HOOK_TOKEN", "from-env"), ("NUCLEIC_HOOK_TOKEN_FILE", path)];
    assert_eq!(reveal(&load(&both, toml)).as_deref(), Some("from-env"));
    assert_eq!(reveal(&load(&both[1..], toml)).as_deref(), Some("from-file"));
    assert_eq!(reveal(&load(&[], toml)).as_deref(), Some("from-toml"));
}

#[test]
fn the_token_file_is_opened_only_when_the_token_is_asked_for() {
    let config = load(&[("NUCLEIC_HOOK_TOKEN_FILE", "/nonexistent/token")], "");
    assert!(config.problems.is_empty());
    assert!(matches!(config.token(), Err(TokenError::Unreadable { .. })));
}

#[test]
fn a_token_cannot_break_out_of_its_header_line() {
    let config = load(&[("NUCLEIC_HOOK_TOKEN", "a\r\nHost: x")], "");
    assert!(matches!(config.token(), Err(TokenError::Malformed)));
}

#[test]
fn a_token_does_not_show_in_debugging_output() {
    let config = load(&[("NUCLEIC_HOOK_TOKEN", "s3cret")], "");
    assert!(!format!("{config:?} {:?}", config.token()).contains("s3cret"));
}
