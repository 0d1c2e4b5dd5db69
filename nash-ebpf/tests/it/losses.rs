//! What does not fit is counted: what was seen is what was delivered and what was dropped.

use std::fmt::Write;

use rustix::process::Signal;

use super::daemon::{Place, has_root};

/// Opens of the flood.
const OPENS: u64 = 200_000;

/// Programs that are run in the middle of it.
const EXECS: u64 = 20;

/// A script that opens a file again and again, and runs programs in between.
fn flood(opens: u64) -> String {
    let mut script = String::new();
    let each = opens / EXECS;
    for number in 0..EXECS {
        writeln!(script, "i=0; while [ $i -lt {each} ]; do : < /dev/null; i=$((i+1)); done; /bin/echo {number} >&-")
            .unwrap();
    }
    script + "exit 0"
}

/// Runs the script under a daemon that sleeps meanwhile; its opens, delivered and lost, and its execs.
fn opens_and_execs(opens: u64) -> (u64, u64) {
    let place = Place::new();
    let daemon = place.start(&["--life-ring", "256", "--file-ring", "64"]);
    daemon.signal(Signal::STOP);
    place.run(&flood(opens));
    daemon.signal(Signal::CONT);
    assert!(daemon.stop().success());
    let told = place.told();
    assert!(told.ended());
    // Whatever was seen and is neither delivered nor dropped would be unaccounted for.
    assert!(told.progress["lost"]["unaccounted"].is_null(), "{}", told.progress);
    assert!(opens < 1000 || told.lost("ring-full", "open") > 0, "{}", told.progress);
    for kind in ["fork", "exec", "exit"] {
        assert_eq!(told.lost("ring-full", kind), 0, "{kind}");
    }
    (told.delivered("open") + told.lost("ring-full", "open"), told.execs().len() as u64)
}

#[test]
fn a_flood_of_opens_that_nobody_reads_is_counted_and_hides_no_exec() {
    if !has_root() {
        return;
    }
    let (without, execs) = opens_and_execs(0);
    assert_eq!(execs, EXECS + 1);
    assert_eq!(opens_and_execs(OPENS), (without + OPENS, EXECS + 1));
}

#[test]
fn processes_that_the_table_can_t_hold_are_a_loss() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let daemon = place.start(&["--processes-max", "8"]);
    place.run("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do /bin/sleep 1 & done; wait");
    assert!(daemon.stop().success());
    let told = place.told();
    let gaps = told.lost("process-table-full", "fork");
    assert!(gaps > 0, "{}", told.progress);
    // Every fork is told, even where what the child does is not.
    assert_eq!(told.delivered("fork"), 12);
    assert_eq!(told.execs().len() as u64, 13 - gaps);
    assert!(told.progress["lost"]["unaccounted"].is_null(), "{}", told.progress);
}
