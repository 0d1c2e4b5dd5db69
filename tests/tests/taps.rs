//! Taps that are killed while data crosses them.
//!
//! What commands make of a tapped pipe is the tables' business, and what is told of one `data`'s.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use nash_events::event::Pipe;
use tempfile::TempDir;

use crate::data::{Told, told_in, told_with};
use crate::rig::programs::nash;
use crate::rig::repository::root;

/// The most that a pipe of a tap holds: 256 KiB.
const PIPE_BYTES: u64 = 256 << 10;

/// The taps of the shell whose spool this is, with their parents.
fn taps_of(spool: &Path) -> Vec<(u32, u32)> {
    let spool = spool.as_os_str().as_encoded_bytes();
    let is_tap = |process: &Path| {
        // They share the shell's memory, and with it its environment; only they are at home in the root.
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        environment.windows(spool.len()).any(|text| text == spool)
            && std::fs::read_link(process.join("cwd")).is_ok_and(|folder| folder == Path::new("/"))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let taps = processes.filter(|process| is_tap(process)).filter_map(|process| {
        let stat = std::fs::read_to_string(process.join("stat")).ok()?;
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Some((process.file_name()?.to_str()?.parse().ok()?, parent))
    });
    taps.collect()
}

/// What was told of a script during which taps are killed as soon as they are there, those that `which` picks of all of them; and how
/// many were.
fn told_while_killing(script: &str, which: impl Fn(&[(u32, u32)]) -> Vec<u32> + Sync) -> (Told, u64) {
    let spool = TempDir::new().unwrap();
    let (is_over, killed) = (AtomicBool::new(false), AtomicU64::new(0));
    let told = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for pid in which(&taps_of(spool.path())) {
                    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
                    killed.fetch_add(1, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let told = told_in(&spool, script, |_| {});
        is_over.store(true, Ordering::Relaxed);
        told
    });
    (told, killed.into_inner())
}

#[test]
fn commands_do_not_notice_that_taps_are_killed_and_it_is_told() {
    let script = "seq 3000000 | cat | md5sum; (sleep 0.3; echo late) | cat; echo ${PIPESTATUS[@]}";
    let workers = |taps: &[(u32, u32)]| {
        let keepers: Vec<u32> = taps.iter().map(|(pid, _)| *pid).collect();
        taps.iter().filter(|(_, parent)| keepers.contains(parent)).map(|(pid, _)| *pid).collect()
    };
    let (told, killed) = told_while_killing(script, workers);
    let mut numbers = (1..=3_000_000).fold(String::new(), |text, number| text + &format!("{number}\n"));
    let undisturbed = told_with(script, |command| {
        command.env("NUCLEIC_SHELL_CAPTURE", "off");
    });
    assert_eq!((told.ended.out(), told.ended.err()), (undisturbed.ended.out(), undisturbed.ended.err()));
    let pipes = told.pipes();
    let counted = |pipe: &&Pipe| pipe.data.as_ref().map(|data| data.bytes);
    assert!(pipes.iter().any(|pipe| pipe.tap_failed && !pipe.still_open), "{pipes:#?}");
    // Who is killed between a move and its counting leaves one move uncounted, which is no more than a pipe holds.
    let (crossed, all) = (pipes.iter().filter_map(counted).max().unwrap(), numbers.len() as u64);
    assert!((all.saturating_sub(killed * PIPE_BYTES)..=all).contains(&crossed), "{crossed} of {all}: {pipes:#?}");
    let head = pipes[0].data.as_ref().and_then(|data| data.preview.clone()).unwrap_or_default();
    numbers.truncate(head.len());
    assert_eq!(numbers.as_bytes(), head);
    let is_unknown = |pipe: &&Pipe| pipe.data.as_ref().is_some_and(|data| data.sha256.is_none());
    assert!(pipes.iter().filter(|pipe| pipe.tap_failed).all(is_unknown), "{pipes:#?}");
}

#[test]
fn who_kills_all_taps_breaks_pipes_and_not_the_shell() {
    let script =
        "(sleep 0.5; seq 100000; :) | wc -l > /dev/null; echo ${#PIPESTATUS[@]}; echo b | cat | cat > f; echo end";
    let (told, _) = told_while_killing(script, |taps| taps.iter().map(|(pid, _)| *pid).collect());
    assert_eq!(told.ended.out(), "2\nend\n");
    assert!(told.pipes()[0].tap_failed, "{:#?}", told.pipes());
    assert_eq!(told.pipes().len(), 3, "{:#?}", told.pipes());
}

/// Flags of the calls that make the processes of taps, as `refuse_clone` takes them: the one that the shell makes, the keeper and the
/// worker.
const LAUNCH: &str = "100";
const KEEPER: &str = "700";
const WORKER: &str = "711";

/// What was told of a script in a shell that can't make these processes.
fn told_without(refused: &str, script: &str) -> Told {
    told_below("refuse_clone", refused, script)
}

/// What was told of a script in a shell below a program of ours that refuses something.
fn told_below(program: &str, refused: &str, script: &str) -> Told {
    let tools = TempDir::new().unwrap();
    let refuse = tools.path().join(program);
    let source = root().join("tests/tests/rig").join(program).with_extension("c");
    let compiled =
        Command::new("cc").args(["-O1", "-Wall", "-Werror", "-o"]).arg(&refuse).arg(source).status().unwrap();
    assert!(compiled.success());
    let words = [refuse.to_str().unwrap(), refused, nash().to_str().unwrap(), "-c", script];
    told_with("exec \"$@\"", |command| {
        command.arg("bash").args(words);
    })
}

#[test]
fn a_process_of_the_taps_that_cannot_start_the_next_does_its_work() {
    let script = "seq 100000 | cat | md5sum; echo a | cat; echo ${PIPESTATUS[@]}";
    let expected = told_with(script, |command| {
        command.env("NUCLEIC_SHELL_CAPTURE", "off");
    });
    for refused in [KEEPER, WORKER, &format!("{KEEPER},{WORKER}")] {
        let told = told_without(refused, script);
        assert_eq!((told.ended.out(), told.ended.err()), (expected.ended.out(), expected.ended.err()), "{refused}");
        let crossed: Vec<_> = told.pipes().iter().map(|pipe| pipe.data.as_ref().map(|data| data.bytes)).collect();
        assert_eq!(crossed, [Some(588_895), Some(588_895), Some(2)], "{refused}: {:#?}", told.pipes());
        assert!(told.pipes().iter().all(|pipe| !pipe.tap_failed), "{refused}: {:#?}", told.pipes());
    }
}

#[test]
fn early_in_a_stream_commands_find_what_they_find_in_a_plain_pipe() {
    // What fits into a pipe and what doesn't; all that was written by the time its reader comes, while its writer goes on.
    let script = "for count in 64 65; do for i in $(seq $count); do printf '%1000d' 0; done | sleep 0.2
        echo ${PIPESTATUS[@]}; done
        { printf a; sleep 0.05; printf b; sleep 0.05; printf c; sleep 0.5; } | { sleep 0.3; dd bs=100 count=1 2>&-; }
        { printf 'one '; } | { sleep 0.1; printf two > /dev/stdin; cat; }";
    let told = told_with(script, |_| {});
    assert_eq!((&*told.ended.out(), &*told.ended.err()), ("0 0\n141 0\nabcone two", ""));
    assert!(told.pipes().iter().all(|pipe| !pipe.tap_failed), "{:#?}", told.pipes());
}

#[test]
fn a_shell_that_can_have_no_taps_has_plain_pipes_and_says_so() {
    let told = told_without(LAUNCH, "seq 100000 | cat | wc -c; echo ${PIPESTATUS[@]}");
    assert_eq!((&*told.ended.out(), &*told.ended.err()), ("588895\n0 0 0\n", ""));
    assert_eq!(told.pipes().len(), 2);
    assert!(told.pipes().iter().all(|pipe| pipe.tap_failed), "{:#?}", told.pipes());
}

/// What sends data through every kind of link, and whose reader goes early once.
const EVERY_LINK: &str = "seq 100000 | cat | md5sum; seq 1000000 | head -n 1; echo ${PIPESTATUS[@]}; echo a | cat; \
    cat <(echo b); seq 30000 | sleep 0.2; echo ${PIPESTATUS[@]}";

/// What was told of it where a call is not permitted; commands notice nothing of that.
fn told_of_every_link_without(call: &str) -> Told {
    let expected = told_with(EVERY_LINK, |command| {
        command.env("NUCLEIC_SHELL_CAPTURE", "off");
    });
    let told = told_below("refuse_call", call, EVERY_LINK);
    assert_eq!((told.ended.out(), told.ended.err()), (expected.ended.out(), expected.ended.err()), "{call}");
    assert_eq!(told.pipes().len(), 6, "{call}: {:#?}", told.pipes());
    told
}

#[test]
fn where_the_system_does_not_move_data_it_is_copied_and_that_is_told() {
    for refused in ["splice", "tee"] {
        let told = told_of_every_link_without(refused);
        assert!(told.pipes().iter().all(|pipe| pipe.tap_failed), "{refused}: {:#?}", told.pipes());
        assert_eq!(told.pipes()[0].data.as_ref().map(|data| data.bytes), Some(588_895), "{refused}");
    }
}

#[test]
fn where_links_cannot_be_announced_the_pipes_are_plain_and_that_is_told() {
    for refused in ["sendmsg", "recvmsg"] {
        let told = told_of_every_link_without(refused);
        assert!(
            told.pipes().iter().all(|pipe| pipe.tap_failed && pipe.data.is_none()),
            "{refused}: {:#?}",
            told.pipes()
        );
    }
}

#[test]
fn where_the_system_does_not_tell_what_happens_to_a_pipe_it_is_looked_at() {
    let told = told_of_every_link_without("ppoll");
    let crossed: Vec<_> = told.pipes().iter().map(|pipe| pipe.data.as_ref().map(|data| data.bytes)).collect();
    assert_eq!((crossed[0], crossed[1], crossed[3]), (Some(588_895), Some(588_895), Some(2)));
}

#[test]
fn where_few_processes_are_allowed_no_tap_takes_one() {
    let told = told_with("ulimit -u 900; echo a | cat", |_| {});
    assert_eq!(told.ended.out(), "a\n");
    assert!(told.pipes()[0].tap_failed, "{:#?}", told.pipes());
}

#[test]
fn where_no_tap_can_be_made_the_pipe_is_a_plain_one_and_says_so() {
    // Room for a plain pipe, and not for two.
    let told = told_with("ulimit -n 6; echo a | cat", |_| {});
    assert_eq!(told.ended.out(), "a\n");
    let pipes = told.pipes();
    assert_eq!(pipes.len(), 1, "{pipes:#?}");
    assert!(pipes[0].tap_failed && pipes[0].data.is_none(), "{pipes:#?}");
}
