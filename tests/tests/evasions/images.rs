//! The preserved shell, executed under whatever name or none.

use std::fs;
use std::path::Path;

use super::{Scene, assert_proved, check};
use crate::rig::observer::{Recorded, can_observe};

/// Checks that a script runs the preserved shell's own file once.
fn runs_the_preserved_shell(test: &str, script: &str) {
    check(test, script, |scene, recorded| {
        assert_eq!(recorded.times_run(&scene.preserved()), 1, "{:#?}", recorded.events);
        assert_proved(scene, &["real-shell-exec"]);
    });
}

/// Checks that a script runs a program once of which something else than its file is known, and what is found in that.
fn runs(test: &str, script: &str, rules: &[&str], is_it: impl Fn(&Scene, &nash_events::kernel::Exec) -> bool) {
    check(test, script, |scene, recorded| {
        let found = recorded.execs().filter(|(_, exec)| is_it(scene, exec)).count();
        assert_eq!(found, 1, "{:#?}", recorded.events);
        assert_proved(scene, rules);
    });
}

#[test]
fn by_its_path() {
    runs_the_preserved_shell("by_its_path", r#""$real" -c :"#);
}

#[test]
fn by_a_hard_link() {
    runs_the_preserved_shell("by_a_hard_link", r#"ln "$real" other; ./other -c :"#);
}

#[test]
fn by_a_symbolic_link() {
    runs_the_preserved_shell("by_a_symbolic_link", r#"ln -s "$real" other; ./other -c :"#);
}

#[test]
fn by_a_bind_mount() {
    let script = r#"touch other; unshare -m sh -c 'mount --bind "$real" "$place/other" && "$place/other" -c :'"#;
    runs_the_preserved_shell("by_a_bind_mount", script);
}

#[test]
fn in_a_changed_root() {
    // The root as it is, seen from a folder that it is mounted on.
    let script = r#"mkdir jail; unshare -m sh -c 'mount --rbind / jail && /usr/sbin/chroot jail "$real" -c :'"#;
    runs_the_preserved_shell("in_a_changed_root", script);
}

#[test]
fn under_another_name() {
    check("under_another_name", r#""$evade" exec-a cat "$real" -c :"#, |scene, recorded| {
        assert_eq!(recorded.times_run(&scene.preserved()), 1);
        let named =
            recorded.execs().filter(|(_, exec)| exec.argv.first().is_some_and(|name| name.as_bytes() == b"cat"));
        assert_eq!(named.count(), 1, "{:#?}", recorded.events);
        assert_proved(scene, &["real-shell-exec"]);
    });
}

#[test]
fn as_a_copy() {
    runs("as_a_copy", r#"cp "$real" copy; ./copy -c :"#, &["real-shell-exec"], |scene, exec| {
        Recorded::is_path(exec.path.as_ref(), scene.path("copy")) && exec.ino.is_some()
    });
}

/// Finds the dynamic loader.
const LOADER: &str = "for loader in /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.*; do [ -e \"$loader\" ] && break; done";

#[test]
fn by_the_loader() {
    check("by_the_loader", &format!(r#"{LOADER}; "$loader" "$real" -c :"#), |scene, recorded| {
        let preserved = scene.preserved();
        let is_it = |name: &nash_events::ByteString| name.as_bytes() == preserved.as_os_str().as_encoded_bytes();
        let execs: Vec<_> = recorded.execs().filter(|(_, exec)| exec.argv.iter().any(is_it)).collect();
        assert_eq!(execs.len(), 1, "{:#?}", recorded.events);
        let (event, exec) = execs[0];
        let path = exec.path.as_ref().unwrap().to_string();
        assert!(Path::new(&path).file_name().unwrap().to_string_lossy().starts_with("ld-"), "{path}");
        // The shell's own file is opened by the loader, in the same process.
        let opened = recorded.opens().filter(|(open, _)| open.actor.pid == event.actor.pid);
        let opened = opened.filter(|(_, open)| Recorded::is_path(open.path.as_ref(), &preserved)).count();
        assert_eq!(opened, 1, "{:#?}", recorded.events);
        assert_proved(scene, &["loader-exec"]);
    });
}

#[test]
fn from_memory() {
    // What a copy in memory is a copy of can be seen as long as it runs.
    check("from_memory", r#""$evade" memfd "$real" -c 'sleep 2; :'"#, |scene, recorded| {
        let execs: Vec<_> = recorded.execs().filter(|(_, exec)| exec.memfd).collect();
        assert_eq!(execs.len(), 1, "{:#?}", recorded.events);
        let made = recorded.events.iter().filter(|event| event.kind.name() == "memfd").count();
        assert_eq!(made, 1, "{:#?}", recorded.events);
        assert_proved(scene, &["loader-exec", "real-shell-exec"]);
    });
}

#[test]
fn from_a_file_that_is_gone() {
    runs(
        "from_a_file_that_is_gone",
        r#""$evade" deleted "$real" "$place/gone" -c :"#,
        &["loader-exec", "real-shell-exec"],
        |_, exec| exec.deleted,
    );
}

#[test]
fn from_a_file_that_never_had_a_name() {
    let script = r#"python3 -c '
import os, sys
made = os.open(sys.argv[1], os.O_TMPFILE | os.O_RDWR, 0o755)
os.write(made, open(sys.argv[2], "rb").read())
held = os.open(f"/proc/self/fd/{made}", os.O_RDONLY)
os.close(made)
os.execve(held, ["x", "-c", ":"], {})
' "$place" "$real""#;
    check("from_a_file_that_never_had_a_name", script, |scene, recorded| {
        let found = recorded.execs().filter(|(_, exec)| exec.deleted).count();
        assert_eq!(found, 1, "{:#?}", recorded.events);
        assert_proved(scene, &["loader-exec", "real-shell-exec"]);
    });
}

#[test]
fn by_a_chain_of_scripts() {
    if !can_observe("by_a_chain_of_scripts") {
        return;
    }
    let scene = Scene::new();
    let real = scene.preserved();
    let inner = scene.script("inner", &format!("#!{}\n:\n", real.display()));
    let outer = scene.script("outer", &format!("#!{}\n:\n", inner.display()));
    let recorded = scene.record("./outer");
    assert_eq!(recorded.times_run(&real), 1);
    let (_, exec) = recorded.execs().find(|(_, exec)| Recorded::is_path(exec.path.as_ref(), &real)).unwrap();
    assert!(
        exec.chain.iter().any(|image| Recorded::is_path(image.path.as_ref(), outer.with_file_name("./outer"))),
        "{exec:#?}"
    );
    let inner_named = exec.argv.iter().any(|argument| argument.as_bytes() == inner.as_os_str().as_encoded_bytes());
    assert!(inner_named, "{exec:#?}");
    assert_proved(&scene, &["real-shell-exec"]);
}

#[test]
fn by_a_registered_format() {
    if !can_observe("by_a_registered_format") {
        return;
    }
    let scene = Scene::new();
    fs::write(scene.path("payload"), ": NASHTEST\n").unwrap();
    // In a mount namespace of its own, so that the format is gone with it; kernels before 6.7 have one table for all, which the
    // last line empties of this entry.
    let script = r#"chmod +x payload; unshare -m sh -c 'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
        echo "|nash-test|M||: NASHTEST||$real|" > /proc/sys/fs/binfmt_misc/register && ./payload; status=$?
        echo -1 > /proc/sys/fs/binfmt_misc/nash-test; exit $status'"#;
    let recorded = scene.record(script);
    assert_eq!(recorded.times_run(&scene.preserved()), 1, "{:#?}", recorded.events);
    assert_proved(&scene, &["real-shell-exec"]);
}

#[test]
fn another_shell_is_seen_by_its_path() {
    runs("another_shell_is_seen_by_its_path", "/bin/dash -c :", &[], |_, exec| {
        exec.path.as_ref().is_some_and(|path| path.to_string().ends_with("/dash"))
    });
}

#[test]
fn a_multi_call_program_is_seen_with_what_it_was_called_for() {
    runs(
        "a_multi_call_program_is_seen_with_what_it_was_called_for",
        "busybox sh -c :",
        &["foreign-shell"],
        |_, exec| {
            exec.path.as_ref().is_some_and(|path| path.to_string().ends_with("/busybox"))
                && exec.argv[1].as_bytes() == b"sh"
        },
    );
}

#[test]
fn a_call_that_the_kernel_refuses_is_told_with_its_error() {
    if !can_observe("a_call_that_the_kernel_refuses_is_told_with_its_error") {
        return;
    }
    let scene = Scene::new();
    let recorded = scene.record("./file || [ $? = 126 ]");
    let refused: Vec<_> = recorded
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            nash_events::kernel::KernelEventKind::Exec(exec) if exec.result.is_some() => Some(exec),
            _ => None,
        })
        .collect();
    assert_eq!(refused.len(), 1, "{:#?}", recorded.events);
    assert_eq!(refused[0].result, Some(-13));
    assert!(Recorded::is_path(refused[0].requested.as_ref(), scene.path("./file")), "{:#?}", refused[0]);
}

#[test]
fn as_a_copy_that_came_through_a_pipe() {
    // Nobody who wrote the copy had the shell open.
    let script = r#"cat "$real" | cat > copy; chmod +x copy; ./copy -c :"#;
    runs("as_a_copy_that_came_through_a_pipe", script, &["real-shell-exec"], |scene, exec| {
        Recorded::is_path(exec.path.as_ref(), scene.path("copy")) && exec.sha256.is_some()
    });
}

#[test]
fn by_a_copy_of_the_loader() {
    let script =
        format!(r#"{LOADER}; cp "$loader" tool; ln -s "$real" data; ./tool ./data -c 'read -r line < /etc/passwd'"#);
    runs("by_a_copy_of_the_loader", &script, &["loader-exec"], |scene, exec| {
        Recorded::is_path(exec.path.as_ref(), scene.path("tool"))
    });
}

#[test]
fn as_a_changed_copy_that_nobody_is_seen_to_make() {
    // Too many files for the observer's events to say which of them is the copy, and two bytes that make it another file.
    let script = r#"perl -e 'open F, "<", $ENV{real}; local $/; $shell = <F>;
        for (1 .. 40) { open F, ">", "small$_" or die; print F "x"; close F }
        substr($shell, 9000, 1) ^= "\1"; substr($shell, 800000, 1) ^= "\1";
        open F, ">", "tool" or die; print F $shell; close F; chmod 0755, "tool" or die'; ./tool -c :"#;
    runs("as_a_changed_copy_that_nobody_is_seen_to_make", script, &["real-shell-exec"], |scene, exec| {
        Recorded::is_path(exec.path.as_ref(), scene.path("tool")) && exec.same_as.is_some()
    });
}

#[test]
fn a_copy_of_a_multi_call_program_is_known_by_its_content() {
    let script = r#"cp "$(command -v busybox)" tool; "$evade" exec-a sh ./tool -c :; ln -s tool ls; ./ls > /dev/null"#;
    runs("a_copy_of_a_multi_call_program_is_known_by_its_content", script, &["foreign-shell"], |_, exec| {
        exec.argv[0].as_bytes() == b"sh"
            && exec.same_as.as_ref().is_some_and(|path| path.to_string().ends_with("/busybox"))
    });
}
