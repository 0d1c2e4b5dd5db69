//! Whether commands reach nash: the program, and the names under which agents call a shell.
//!
//! Asks each shell who it is. It does not care where events go.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::outcome::printed;
use super::settings::Settings;
use super::{Area, Check, State};
use crate::run::find_shell;

/// How nash names itself.
const NASH_SAYS: &str = "nash (Nucleic agent shell, brush fork) ";

/// The places where agents look for a shell, beside `PATH` and `SHELL`.
const FIXED: [(&str, &str); 2] = [("/bin/bash", "bash"), ("/bin/sh", "sh")];

/// Where a diverted shell lies.
const REAL: [&str; 2] = ["/usr/bin/bash.real", "/usr/bin/dash.real"];

/// Looks at everything.
pub(super) fn checks(settings: &Settings) -> Vec<Check> {
    let mut checks = Vec::new();
    let nash = find_shell(None);
    match &nash {
        Ok(path) => checks.push(program(path)),
        Err(error) => {
            let missing = Check::new(Area::Shell, "nash", State::Lack, not_found(error));
            checks.push(missing.fix(
                "cargo build --release --locked -p nash --bins && install -m 755 target/release/nash /usr/local/bin/",
            ));
        }
    }
    if let Some(by) = settings.disabled_by() {
        let off =
            Check::new(Area::Shell, "kill switch", State::Lack, format!("{by}: everything goes to the real shell"));
        checks.push(off.fix("unset NUCLEIC_NASH_DISABLE, or take `disable` out of /etc/nash/nash.toml"));
    }
    if settings.captures_nothing() {
        let off = Check::new(Area::Shell, "capture", State::Lack, "capture is off: nash reports nothing");
        checks.push(off.fix("export NUCLEIC_SHELL_CAPTURE=tap"));
    }
    let nash = nash.ok();
    checks.extend(personas(nash.as_deref()));
    checks.extend(REAL.into_iter().filter(|path| Path::new(path).exists()).map(|path| {
        Check::new(Area::Shell, "preserved shell", State::Ok, format!("{path}: what nash can't run goes there"))
    }));
    checks
}

/// Where nash was looked for, without the option that only `run` has.
fn not_found(error: &anyhow::Error) -> String {
    let text = error.to_string();
    text.split("; --shell").next().unwrap_or_default().to_owned()
}

/// nash itself, with its version.
fn program(path: &Path) -> Check {
    let own = env!("CARGO_PKG_VERSION");
    let found = |text: &str| format!("{}: {text}", path.display());
    match version(path) {
        Some(version) if version == own => Check::new(Area::Shell, "nash", State::Ok, found(&version)),
        Some(version) => {
            Check::new(Area::Shell, "nash", State::Limit, found(&format!("{version}, and nash-correlate is {own}")))
                .fix("install both from one build")
        }
        None => Check::new(Area::Shell, "nash", State::Lack, found("it does not say that it is nash")),
    }
}

/// The names under which a shell is called.
fn personas(nash: Option<&Path>) -> Vec<Check> {
    let in_path = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file())
    };
    let own = std::env::var_os("SHELL").filter(|shell| !shell.is_empty()).map(PathBuf::from);
    let mut places = vec![("bash in PATH", in_path("bash")), ("sh in PATH", in_path("sh")), ("SHELL", own)];
    for (path, _) in FIXED {
        places.push((path, Some(PathBuf::from(path)).filter(|path| path.exists())));
    }
    let mut checks = Vec::new();
    for (name, path) in places {
        let Some(path) = path else { continue };
        if is_nash(&path, nash) {
            checks.push(Check::new(Area::Shell, name, State::Ok, format!("{} is nash", path.display())));
            continue;
        }
        let found = format!("{} is not nash: what an agent runs with it is not observed", path.display());
        let check = Check::new(Area::Shell, name, State::Limit, found);
        let nash = nash.unwrap_or(Path::new("/usr/local/bin/nash")).display();
        let links = format!(
            "mkdir -p /usr/local/lib/nash && ln -sf {nash} /usr/local/lib/nash/bash && ln -sf {nash} /usr/local/lib/nash/sh"
        );
        checks.push(match name {
            "bash in PATH" => check.fix(format!("{links} && export PATH=/usr/local/lib/nash:$PATH")),
            "sh in PATH" => check.fix("the same"),
            "SHELL" => check.fix("export SHELL=/usr/local/lib/nash/bash"),
            "/bin/bash" => check.fix(format!(
                "in an image that you can rebuild: cp -p /bin/bash /usr/bin/bash.real && ln -sf {nash} /bin/bash"
            )),
            _ => {
                check.fix(format!("in an image that you can rebuild, and with /bin/dash there: ln -sf {nash} /bin/sh"))
            }
        });
    }
    // One name that leads to nash is a way for an agent; without any, nothing is observed.
    if checks.iter().all(|check| check.state != State::Ok) {
        checks.iter_mut().take(1).for_each(|check| check.state = State::Lack);
    }
    checks
}

/// Whether a path leads to nash.
fn is_nash(path: &Path, nash: Option<&Path>) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let same = nash.is_some_and(|nash| identity(nash).is_some() && identity(nash) == identity(path));
    same || version(path).is_some()
}

/// nash's version, where it is nash.
fn version(path: &Path) -> Option<String> {
    let said = printed(path, &["--version"])?;
    said.lines().find_map(|line| line.strip_prefix(NASH_SAYS)).map(|version| version.trim().to_owned())
}
