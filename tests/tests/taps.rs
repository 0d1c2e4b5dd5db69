//! Taps that are killed while data crosses them.
//!
//! What commands make of a tapped pipe is the tables' business, and what is told of one `data`'s.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nash_events::event::Pipe;
use tempfile::TempDir;

use crate::data::{Told, told_in, told_with};

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

/// What was told of a script during which taps are killed as soon as they are there: those that `which` picks of all of them.
fn told_while_killing(script: &str, which: impl Fn(&[(u32, u32)]) -> Vec<u32> + Sync) -> Told {
    let spool = TempDir::new().unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for pid in which(&taps_of(spool.path())) {
                    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let told = told_in(&spool, script, |_| {});
        is_over.store(true, Ordering::Relaxed);
        told
    })
}

#[test]
fn commands_do_not_notice_that_taps_are_killed_and_it_is_told() {
    let script = "seq 3000000 | cat | md5sum; (sleep 0.3; echo late) | cat; echo ${PIPESTATUS[@]}";
    let workers = |taps: &[(u32, u32)]| {
        let keepers: Vec<u32> = taps.iter().map(|(pid, _)| *pid).collect();
        taps.iter().filter(|(_, parent)| keepers.contains(parent)).map(|(pid, _)| *pid).collect()
    };
    let told = told_while_killing(script, workers);
    let mut numbers = (1..=3_000_000).fold(String::new(), |text, number| text + &format!("{number}\n"));
    let undisturbed = told_with(script, |command| {
        command.env("NUCLEIC_SHELL_CAPTURE", "off");
    });
    assert_eq!((told.ended.out(), told.ended.err()), (undisturbed.ended.out(), undisturbed.ended.err()));
    let pipes = told.pipes();
    let counted = |pipe: &&Pipe| pipe.data.as_ref().map(|data| data.bytes);
    assert!(pipes.iter().any(|pipe| pipe.tap_failed && !pipe.still_open), "{pipes:#?}");
    assert_eq!(pipes.iter().map(counted).max().flatten(), Some(numbers.len() as u64), "{pipes:#?}");
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
    let told = told_while_killing(script, |taps| taps.iter().map(|(pid, _)| *pid).collect());
    assert_eq!(told.ended.out(), "2\nend\n");
    assert!(told.pipes()[0].tap_failed, "{:#?}", told.pipes());
    assert_eq!(told.pipes().len(), 3, "{:#?}", told.pipes());
}
