//! Files, opened by whatever way, and names that are meant to deceive.

use std::fs;

use nash_events::kernel::{MutationOp, OpenVia, PathSource};

use super::{Scene, assert_proved, check};
use crate::rig::observer::{Recorded, can_observe};

/// Checks that a script opens the file once, and returns nothing but what the kernel vouches for.
fn opens_the_file(test: &str, script: &str, via: Option<&OpenVia>) {
    check(test, script, |scene, recorded| {
        let opens: Vec<_> =
            recorded.opens().filter(|(_, open)| Recorded::is_path(open.path.as_ref(), scene.file())).collect();
        assert_eq!(opens.len(), 1, "{:#?}", recorded.events);
        assert_eq!(recorded.times_opened(&scene.file()), 1);
        assert_eq!(opens[0].1.path_source, Some(PathSource::Kernel));
        assert_eq!(opens[0].1.via.as_ref(), via);
        assert_proved(scene, &[]);
    });
}

#[test]
fn by_an_ordinary_call() {
    opens_the_file("by_an_ordinary_call", r#"cat "$file""#, None);
}

#[test]
fn by_io_uring() {
    opens_the_file("by_io_uring", r#""$evade" io-uring "$file""#, Some(&OpenVia::IoUring));
}

#[test]
fn by_a_32_bit_call() {
    opens_the_file("by_a_32_bit_call", r#""$evade" open-32bit "$file""#, None);
}

#[test]
fn by_a_handle() {
    opens_the_file("by_a_handle", r#""$evade" handle "$file" "$place""#, Some(&OpenVia::Handle));
}

#[test]
fn by_a_process_that_nobody_may_look_into() {
    opens_the_file("by_a_process_that_nobody_may_look_into", r#""$evade" non-dumpable "$file""#, None);
}

#[test]
fn a_path_that_is_rewritten_meanwhile_is_the_one_that_was_opened() {
    if !can_observe("a_path_that_is_rewritten_meanwhile_is_the_one_that_was_opened") {
        return;
    }
    let scene = Scene::new();
    let other = scene.path("fool");
    fs::write(&other, "nothing\n").unwrap();
    let recorded = scene.record(r#""$evade" swap "$file" "$place/fool" 2000"#);
    let said = recorded.ended.out();
    let said: Vec<usize> = said.split_whitespace().map(|count| count.parse().unwrap()).collect();
    assert_eq!(recorded.times_opened(&scene.file()), said[0]);
    assert_eq!(recorded.times_opened(&other), said[1]);
    for (_, open) in recorded.opens().filter(|(_, open)| open.result >= Some(0)) {
        let path = open.path.as_ref().unwrap().to_string();
        // Gone files aside, the path leads to the inode that was opened.
        if let Ok(facts) = fs::metadata(&path) {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(open.ino, Some(facts.ino()), "{path}");
        }
    }
}

#[test]
fn names_with_anything_in_them_come_through() {
    if !can_observe("names_with_anything_in_them_come_through") {
        return;
    }
    let scene = Scene::new();
    let recorded = scene.record("echo > $'a\\nb\\e[31m\\xff'; cat $'a\\nb\\e[31m\\xff'; rm $'a\\nb\\e[31m\\xff'");
    let mut expected = scene.path("").as_os_str().as_encoded_bytes().to_vec();
    expected.extend_from_slice(b"a\nb\x1b[31m\xff");
    let is_it = |path: Option<&nash_events::ByteString>| path.is_some_and(|path| path.as_bytes() == expected);
    let by_cat = recorded.opens().filter(|(event, open)| {
        is_it(open.path.as_ref()) && event.actor.comm.as_ref().is_some_and(|name| name.as_bytes() == b"cat")
    });
    assert_eq!(by_cat.count(), 1, "{:#?}", recorded.events);
    let made = recorded.opens().filter(|(_, open)| is_it(open.path.as_ref()) && open.flags.unwrap_or(0) & 0o100 != 0);
    assert_eq!(made.count(), 1, "{:#?}", recorded.events);
    let removed: Vec<_> = recorded.changes(MutationOp::Unlink).collect();
    assert_eq!(removed.iter().filter(|(_, change)| is_it(change.path.as_ref())).count(), 1, "{removed:#?}");
}

#[test]
fn failed_opens_say_what_was_asked_for() {
    if !can_observe("failed_opens_say_what_was_asked_for") {
        return;
    }
    let scene = Scene::new();
    let recorded = scene.record("mkdir in; cd in; cat ../nothing 2> /dev/null; :");
    let expected = scene.path("in/../nothing");
    let (_, open) = recorded.opens().find(|(_, open)| Recorded::is_path(open.path.as_ref(), &expected)).unwrap();
    assert_eq!((open.result, open.path_source.as_ref()), (Some(-2), Some(&PathSource::User)));
}

#[test]
fn changes_are_told_with_both_names() {
    if !can_observe("changes_are_told_with_both_names") {
        return;
    }
    let scene = Scene::new();
    let script = "mkdir d; mv file d/moved; ln d/moved hard; ln -s d/moved soft; chmod 600 hard; chown 0:0 hard; \
        truncate -s 3 hard; mkfifo p; rm hard soft p d/moved; rmdir d";
    let recorded = scene.record(script);
    let spool = scene.path("spool").as_os_str().as_encoded_bytes().to_vec();
    let of_the_shell =
        |path: Option<&nash_events::ByteString>| path.is_some_and(|path| path.as_bytes().starts_with(&spool));
    let done = |op: MutationOp| {
        let all = recorded.changes(op).filter(|(_, change)| change.result == Some(0));
        all.filter(|(_, change)| !of_the_shell(change.path.as_ref())).collect::<Vec<_>>()
    };
    let one = |op: MutationOp| {
        let found = done(op);
        assert_eq!(found.len(), 1, "{op:?}: {:#?}", recorded.events);
        found[0].1.clone()
    };
    let rename = one(MutationOp::Rename);
    assert!(Recorded::is_path(rename.path.as_ref(), scene.file()), "{rename:#?}");
    assert!(Recorded::is_path(rename.new_path.as_ref(), scene.path("d/moved")), "{rename:#?}");
    let link = one(MutationOp::Link);
    assert!(Recorded::is_path(link.new_path.as_ref(), scene.path("hard")), "{link:#?}");
    let symlink = one(MutationOp::Symlink);
    assert!(Recorded::is_path(symlink.path.as_ref(), "d/moved"), "{symlink:#?}");
    assert!(Recorded::is_path(symlink.new_path.as_ref(), scene.path("soft")), "{symlink:#?}");
    assert_eq!(one(MutationOp::Chmod).mode, Some(0o600));
    let chown = one(MutationOp::Chown);
    assert_eq!((chown.new_uid, chown.new_gid), (Some(0), Some(0)));
    let truncate = one(MutationOp::Truncate);
    assert_eq!(truncate.size, Some(3));
    assert!(Recorded::is_path(truncate.path.as_ref(), scene.path("hard")), "{truncate:#?}");
    assert!(Recorded::is_path(one(MutationOp::Mkdir).path.as_ref(), scene.path("d")));
    assert!(Recorded::is_path(one(MutationOp::Mknod).path.as_ref(), scene.path("p")));
    assert!(Recorded::is_path(one(MutationOp::Rmdir).path.as_ref(), scene.path("d")));
    assert_eq!(done(MutationOp::Unlink).len(), 4);
}

#[test]
fn a_spool_that_is_rewritten_or_removed_is_seen() {
    if !can_observe("a_spool_that_is_rewritten_or_removed_is_seen") {
        return;
    }
    let scene = Scene::new();
    let recorded = scene.record(r#"for journal in spool/*.journal; do echo > "$journal"; rm "$journal"; done"#);
    let spool = scene.path("spool");
    let in_spool = |path: Option<&nash_events::ByteString>| {
        path.is_some_and(|path| path.to_string().starts_with(&format!("{}/", spool.display())))
    };
    let removed = recorded.changes(MutationOp::Unlink).filter(|(_, change)| in_spool(change.path.as_ref())).count();
    assert_eq!(removed, 1, "{:#?}", recorded.events);
    // Opened for writing by its name: once by the shell that keeps it, once by the script.
    let truncates = 0o1000;
    let rewritten = recorded
        .opens()
        .filter(|(_, open)| in_spool(open.path.as_ref()) && open.flags.unwrap_or(0) & truncates != 0)
        .count();
    assert_eq!(rewritten, 1, "{:#?}", recorded.events);
    assert_proved(&scene, &["gap", "observer-attacked"]);
}
