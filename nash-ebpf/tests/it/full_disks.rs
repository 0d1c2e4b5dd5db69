//! A disk without room: events wait in the kernel, and what does not fit there is counted.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Pid, Signal, kill_process};

use super::daemon::{Place, has_root, wait_for};

/// Opens while the disk is full: several times what the ring holds.
const OPENS: u64 = 20_000;

/// A small file system of its own, which goes with the test.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Self {
        std::fs::create_dir(at).unwrap();
        mount("tmpfs", at, "tmpfs", MountFlags::empty(), c"size=8m,mode=0700").unwrap();
        Self(at.to_owned())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        unmount(&self.0, UnmountFlags::DETACH).unwrap();
    }
}

/// Fills a file system to its last byte.
fn fill(file: &Path) {
    let mut fills = std::fs::File::create(file).unwrap();
    let error = std::io::copy(&mut std::io::repeat(0), &mut fills).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
}

#[test]
fn a_full_disk_is_told_once_and_everything_is_told_or_counted_when_there_is_room_again() {
    if !has_root() {
        return;
    }
    let place = Place::new();
    let disk = SmallDisk::mount(&place.path("journal"));
    let filler = disk.0.join("filler");
    fill(&filler);
    let mut child = place.command(&["--file-ring", "64"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut hear = |words: &str| {
        let line = said.find(|line| line.as_ref().unwrap().contains(words));
        assert!(line.is_some(), "it never said: {words}");
    };
    hear("the journal can't be written");
    hear("observing as");
    place.run(&format!("i=0; while [ $i -lt {OPENS} ]; do : < /dev/null; i=$((i+1)); done; exit 0"));
    std::fs::remove_file(&filler).unwrap();
    hear("the journal can be written again");
    let delivered = || place.told().delivered("open");
    wait_for("what waited in the ring", || delivered() > 0);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
    let told = place.told();
    let lost = told.lost("ring-full", "open");
    assert!(lost > 0, "{}", told.progress);
    // The shell opens its libraries and locales too.
    assert!((OPENS..OPENS + 1000).contains(&(told.delivered("open") + lost)), "{}", told.progress);
    assert!(told.ended() && told.progress["lost"]["unaccounted"].is_null(), "{}", told.progress);
}
