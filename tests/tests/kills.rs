//! Shells that are killed at any moment: what has started was told.
//!
//! Every command of a script leaves a file of its own name before it does anything else. Whatever file is there afterwards,
//! its command must be known. How soon is not measured.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use nash_events::event::{Exec, RedirectTarget};
use nash_events::{Event, EventKind};
use tempfile::TempDir;

use crate::rig::collector::{ACCEPTS, Collector};
use crate::rig::process::{Group, clean_command};
use crate::rig::programs::nash;

/// How many shells are killed.
const KILLS: u32 = 1000;

/// Shells that run at the same time: one for each core of a small machine.
const WORKERS: u32 = 2;

/// Microseconds after its start within which a shell is killed.
const LIFE_US_MAX: u64 = 40_000;

/// One of so many shells lives longer by [`LONG_LIFE_US`], so that it is killed while it delivers, or after that.
const LONG_LIVES: u32 = 36;

/// More than the half second after which a shell delivers while it runs; the script takes longer than that.
const LONG_LIFE_US: u64 = 480_000;

/// The letters of files that programs make, and of those that the shell makes for a redirection.
const PROGRAMS: &str = "acefik";
const REDIRECTED: &str = "bdghjl";

/// Commands in every place, each with a number of its run and its own.
const SCRIPT: &str = r"
i=0
f() { touch $run-f$i; : $run-g$i > $run-g$i; }
while [ $i -lt 400 ]; do
    touch $run-a$i
    : $run-b$i > $run-b$i
    (touch $run-c$i)
    (: $run-d$i > $run-d$i; :)
    x=$(touch $run-e$i; : $run-h$i > $run-h$i)
    f
    touch $run-i$i | : $run-j$i > $run-j$i
    { touch $run-k$i; } &
    { :; } > $run-m$i
    /bin/true $run-l$i > $run-l$i
    i=$((i + 1))
done
";

/// What is left of all the shells.
struct Left {
    /// Every word of every command that was told.
    told: BTreeSet<String>,
    /// The name of every file whose redirection was told.
    redirected: BTreeSet<String>,
    /// The names of the files that are there.
    files: Vec<String>,
}

#[test]
fn no_program_that_started_is_lost_where_a_shell_is_killed() {
    assert_told(left(), PROGRAMS, &left().told);
}

#[test]
fn no_command_whose_redirection_took_effect_is_lost_where_a_shell_is_killed() {
    assert_told(left(), REDIRECTED, &left().told);
}

#[test]
fn no_redirection_that_made_a_file_is_lost_where_a_shell_is_killed() {
    assert_told(left(), &format!("{REDIRECTED}m"), &left().redirected);
}

/// Checks that every file of these letters was told.
fn assert_told(left: &Left, letters: &str, told: &BTreeSet<String>) {
    let is_of =
        |name: &str| name.split_once('-').is_some_and(|(_, rest)| rest.starts_with(|letter| letters.contains(letter)));
    let files: Vec<_> = left.files.iter().filter(|name| is_of(name)).collect();
    assert!(files.len() > KILLS as usize, "the shells were killed before they did anything: {} files", files.len());
    let missing: Vec<_> = files.iter().filter(|name| !told.contains(**name)).collect();
    assert!(missing.is_empty(), "{} of {} were lost: {missing:?}", missing.len(), files.len());
}

/// Kills all the shells, once for all tests.
fn left() -> &'static Left {
    static LEFT: OnceLock<Left> = OnceLock::new();
    LEFT.get_or_init(kill_all)
}

fn kill_all() -> Left {
    nash();
    let place = TempDir::new().unwrap();
    let refusing = place.path().join("refusing");
    drop(std::os::unix::net::UnixListener::bind(&refusing).unwrap());
    let accepting = place.path().join("accepting");
    let collector = Collector::on_socket(&accepting, ACCEPTS);
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (place, accepting, refusing) = (place.path(), &accepting, &refusing);
            scope.spawn(move || {
                for run in (worker..KILLS).step_by(WORKERS as usize) {
                    // A collector, a socket that nobody listens to, and none.
                    let socket = [accepting.as_path(), refusing.as_path(), Path::new("")][run as usize % 3];
                    kill_one(place, run, socket);
                }
            });
        }
    });
    collector.settle();
    let mut streams = collector.streams();
    assert!(streams.commands().count() > 0, "the collector was told nothing");
    (0..KILLS).for_each(|run| streams.take_spool(&spool_of(place.path(), run)));
    let files = (0..KILLS).flat_map(|run| fs::read_dir(home_of(place.path(), run)).unwrap());
    let files = files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    Left {
        told: streams.commands().flat_map(words_of).collect(),
        redirected: streams.events().filter_map(redirected_by).collect(),
        files,
    }
}

fn kill_one(place: &Path, run: u32, socket: &Path) {
    let home = home_of(place, run);
    fs::create_dir_all(&home).unwrap();
    let mut command = clean_command(nash(), "bash", &home);
    command.args(["-c", SCRIPT]).env("run", format!("r{run}"));
    command.env("NUCLEIC_SHELL_SOCKET", socket).env("NUCLEIC_SHELL_SPOOL", spool_of(place, run));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut group = Group::start(command);
    // Random, and another sequence in each run of the tests: the moments add up over time.
    let longer_us = if run.is_multiple_of(LONG_LIVES) { LONG_LIFE_US } else { 0 };
    let moment_us = longer_us + RandomState::new().hash_one(run) % LIFE_US_MAX;
    thread::sleep(Duration::from_micros(moment_us));
    group.kill();
    group.wait();
}

/// The arguments of a command, which name its file.
fn words_of(exec: &Exec) -> Vec<String> {
    exec.argv.iter().map(|word| String::from_utf8_lossy(word.as_bytes()).into_owned()).collect()
}

/// The name of the file that a redirection makes.
fn redirected_by(event: &Event) -> Option<String> {
    let EventKind::Redirect(redirect) = &event.kind else { return None };
    let RedirectTarget::Path(path) = &redirect.target else { return None };
    Some(Path::new(OsStr::from_bytes(path.as_bytes())).file_name()?.to_str()?.to_owned())
}

fn home_of(place: &Path, run: u32) -> PathBuf {
    place.join(format!("run-{run}")).join("home")
}

fn spool_of(place: &Path, run: u32) -> PathBuf {
    place.join(format!("run-{run}")).join("spool")
}
