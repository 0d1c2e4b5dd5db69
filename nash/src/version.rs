//! Versions, as programs ask for them, and the help text.
//!
//! Which bash nash is measured against is said here, once. Nothing here prints: the caller writes the text.

use std::ffi::OsStr;

use crate::persona::base_name;

/// Version of nash itself.
pub const NASH_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Value of `BASH_VERSION`: the bash that nash is measured against.
pub const BASH_VERSION: &str = "5.2.15(1)-release";

/// First five elements of `BASH_VERSINFO`; the sixth is [`machine_type`].
pub const BASH_VERSINFO: [&str; 5] = ["5", "2", "15", "1", "release"];

/// Returns the value of `MACHTYPE`, the last element of `BASH_VERSINFO`, as Debian's bash has it on this processor.
pub fn machine_type() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x86_64-pc-linux-gnu",
        "aarch64" => "aarch64-unknown-linux-gnu",
        "riscv64" => "riscv64-unknown-linux-gnu",
        _ => "unknown-unknown-linux-gnu",
    }
}

/// Returns the line that names nash, without a newline.
pub fn nash_line() -> String {
    format!("nash (Nucleic agent shell, brush fork) {NASH_VERSION}")
}

/// Returns what `--version` prints for a shell that was called `argv0`.
///
/// Programs read bash's version from the first line of `bash --version`, so that under any name but `nash` that line comes
/// first, in bash's form, and nash's own follows.
pub fn version_text(argv0: &OsStr) -> String {
    let nash = nash_line();
    if base_name(argv0) == b"nash" {
        format!("{nash}\n")
    } else {
        format!("GNU bash, version {BASH_VERSION} ({})\n{nash}\n", machine_type())
    }
}

/// Returns what `--help` prints for a shell that was called `argv0`.
pub fn help_text(argv0: &OsStr) -> String {
    let name = String::from_utf8_lossy(base_name(argv0)).into_owned();
    let name = if name.is_empty() { "nash" } else { &name };
    format!("{}\n\n{}", nash_line(), HELP.replace("SHELL", name))
}

/// The help text; `SHELL` stands for the name the shell was called by.
const HELP: &str = "\
Runs commands as bash would, and reports what they did where a collector is configured.

  SHELL [options] -c COMMAND [NAME [ARGUMENT...]]
  SHELL [options] SCRIPT [ARGUMENT...]
  SHELL [options] [-s [ARGUMENT...]]         commands come from standard input

Long options, before all others:
  --login              be a login shell
  --norc               skip ~/.bashrc
  --noprofile          skip the login files
  --rcfile FILE        read FILE in place of ~/.bashrc (also --init-file)
  --posix              POSIX mode
  --restricted         be a restricted shell
  --verbose            print input as it is read
  --noediting          no line editor
  --debugger           switch extdebug on and load a debugger's profile
  --debug              taken, without effect
  --dump-strings       print translatable strings, run nothing
  --dump-po-strings    the same, as a gettext catalogue
  --pretty-print       print the script in a regular layout, run nothing
  --version            print the version
  --help               print this text
  --nash-unsupported   print what is handed to the real shell, and why

Letters:
  -c  run the first operand        -i  interactive
  -l  be a login shell             -r  restricted
  -s  read standard input          -D  print translatable strings
  -o NAME, +o NAME   switch an option of 'set' on or off; without NAME, list them
  -O NAME, +O NAME   switch an option of 'shopt' on or off; without NAME, list them
  -abefhkmnptuvxBCEHPT, also with +, as for 'set'

What nash can't do as bash does, it hands to the real shell: NUCLEIC_REAL_BASH and NUCLEIC_REAL_SH name it.
NUCLEIC_NASH_DISABLE=1 hands over everything.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nash_names_itself_alone() {
        assert_eq!(version_text(OsStr::new("/usr/bin/nash")), format!("{}\n", nash_line()));
        assert_eq!(version_text(OsStr::new("-nash")), format!("{}\n", nash_line()));
    }

    #[test]
    fn called_as_bash_the_first_line_is_that_of_the_bash_it_is_measured_against() {
        let ours = version_text(OsStr::new("/bin/bash"));
        let theirs = std::process::Command::new("/bin/bash").arg("--version").output().unwrap();
        let theirs = String::from_utf8(theirs.stdout).unwrap();
        assert_eq!(ours.lines().next(), theirs.lines().next());
        assert_eq!(ours.lines().nth(1), Some(nash_line().as_str()));
    }

    #[test]
    fn the_version_array_is_that_of_the_bash_it_is_measured_against() {
        let theirs = std::process::Command::new("/bin/bash")
            .args(["--norc", "-c", "echo ${BASH_VERSINFO[*]}"])
            .output()
            .unwrap();
        let ours = format!("{} {}\n", BASH_VERSINFO.join(" "), machine_type());
        assert_eq!(ours, String::from_utf8(theirs.stdout).unwrap());
    }

    #[test]
    fn the_help_text_names_every_long_option() {
        let help = help_text(OsStr::new("bash"));
        for name in crate::invocation::long_option_names() {
            assert!(help.contains(&format!("--{name}")), "{name}");
        }
        assert!(help.contains("bash [options] -c COMMAND"));
    }
}
