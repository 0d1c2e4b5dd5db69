//! Programs in every place of a script where one can stand.
//!
//! How deep each stands is told too, but not compared here: the system knows nothing of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use nash_events::EventKind;
use tempfile::TempDir;

use super::witness::{Witnessed, witness};
use crate::rig::process::clean_command;
use crate::rig::programs::nash;

/// Every nesting, each with a program.
const EVERYWHERE: &str = r#"
/bin/true; true; env true
A=1 B=2 env > env.out
if date > /dev/null; then ls / > /dev/null; else false; fi
while ! [ -e stop ]; do touch stop; done
for i in 1 2 3; do expr $i + 1; done > loop.out
case $(uname) in *) date +%Y > case.out;; esac
(cd / && ls > /dev/null); (ls > /dev/null; ls > /dev/null)
(:; (:; (date > /dev/null)))
{ date; ls; } > group.out
x=$(date; echo $(uname -a) `uname`)
y="$(printf '%s' "$(seq 3 | tail -n 1)")"
f() { date > /dev/null; g; }
g() { (ls > /dev/null); z=$(id -u); }
f; f | cat; (f)
seq 10 | grep 1 | wc -l > pipe.out
seq 10 | while read -r n; do expr $n \* 2; done | sort -n | { read -r first; tail -n 1; } > pipe2.out
diff <(seq 3) <(seq 4) > diff.out
seq 3 | tee >(wc -l > tee.out) > /dev/null
cat <<END > here.out
$(date +%Y)
END
. ./lib
eval 'date > /dev/null; ls > /dev/null'
command ls > /dev/null
[[ $(uname) == Linux ]] && uname > and.out || uname
! false
./sub.sh one; sh ./sub.sh two; ./nash.sh
nonexistent-command 2> /dev/null; ./nonexistent 2> /dev/null
trap 'date > trap.out' EXIT
coproc { cat; }; echo hi >&"${COPROC[1]}"; read -r back <&"${COPROC[0]}"
sleep 0.05 & { sleep 0.05; date; } > bg.out &
find . -name lib -exec cat {} + > /dev/null
echo a b | xargs -n 1 echo > xargs.out
eval "exec ${COPROC[1]}>&-"
(exec date > /dev/null)
wait
exit 3
"#;

#[test]
fn programs_are_told_wherever_they_stand() {
    let place = TempDir::new().unwrap();
    let home = place.path().join("home");
    fs::create_dir(&home).unwrap();
    write(&home, "script", EVERYWHERE);
    write(&home, "lib", "date > /dev/null; w=$(uname)\n");
    write(&home, "sub.sh", "#!/bin/sh\ndate > /dev/null; ls > /dev/null\n");
    write(&home, "nash.sh", &format!("#!{}\n(date > /dev/null); ls > /dev/null\n", nash().display()));
    let mut command = clean_command(nash(), "bash", &home);
    command.arg("script");
    let witnessed = witness(command, place.path());
    assert_eq!(witnessed.ended.code(), 3, "{}", witnessed.ended.err());
    assert!(witnessed.started_count() > 60, "only {} programs", witnessed.started_count());
    assert_eq!(witnessed.streams.by_shell.len(), 2, "the script, and the script that it starts");
    witnessed.assert_nothing_is_missing_or_invented();
}

#[test]
fn a_program_that_takes_the_shell_s_place_is_told() {
    run_line("date > /dev/null; exec env true").assert_nothing_is_missing_or_invented();
    run_line("(exec env true); exec true").assert_nothing_is_missing_or_invented();
    run_line("date > /dev/null; exec \"$NASH\" -c 'date > /dev/null; exec \"$NASH\" -c \"date; ls\"' > /dev/null")
        .assert_nothing_is_missing_or_invented();
    run_line("env true").assert_nothing_is_missing_or_invented();
}

#[test]
fn programs_of_a_list_that_outlives_its_shell_are_told() {
    let witnessed = run_line("(sleep 0.2; date; ls; date) > out & exit 0");
    assert_eq!(witnessed.started_count(), 4);
    witnessed.assert_nothing_is_missing_or_invented();
}

#[test]
fn a_shell_within_a_shell_has_a_stream_of_its_own() {
    let witnessed = run_line("\"$NASH\" -c 'date; \"$NASH\" -c \"ls; ls\"; true' > /dev/null; date > /dev/null");
    assert_eq!(witnessed.streams.by_shell.len(), 3);
    let parents = witnessed.streams.by_shell.values().filter(|stream| stream.parent.is_some()).count();
    assert_eq!(parents, 2, "shells within name the shell around them");
    witnessed.assert_nothing_is_missing_or_invented();
}

#[test]
fn what_is_told_says_where_it_went_and_why_it_failed() {
    let witnessed = run_line("x=$(date) y=$(date $(date)) true $(:); ./nonexistent 2> /dev/null; z=$(:)$(:); true");
    let events: Vec<_> = witnessed.streams.events().collect();
    let assigned = events.iter().filter_map(|event| match &event.kind {
        EventKind::Cmdsub(cmdsub) => Some(cmdsub.assign.as_deref().unwrap_or("-")),
        _ => None,
    });
    assert_eq!(assigned.collect::<Vec<_>>(), ["-", "-", "-", "-", "z", "z"]);
    let error = witnessed.streams.commands().find_map(|exec| exec.error.as_deref());
    assert_eq!(error, Some("No such file or directory"));
}

fn run_line(script: &str) -> Witnessed {
    let place = TempDir::new().unwrap();
    let mut command = clean_command(nash(), "bash", place.path());
    command.args(["-c", script]).env("NASH", nash());
    let witnessed = witness(command, place.path());
    assert_eq!(witnessed.ended.code(), 0, "{}", witnessed.ended.err());
    witnessed
}

fn write(folder: &std::path::Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}
