//! Honest work under the kernel's observer ends in no finding, however much of it looks like an evasion.
//!
//! A table of scripts, run under nash with nash as `bash` and `sh` on the path and the system's own shells beside it. What is found
//! in evasions is tested with them.

use std::time::Duration;

use crate::evasions::{Scene, assert_proved};
use crate::rig::observer::can_observe;
use crate::rig::programs::nash;

/// Puts nash on the path as both shells.
const DIVERTED: &str = r#"mkdir bin; ln -s "$nash" bin/bash; ln -s "$nash" bin/sh; PATH=$place/bin:$PATH"#;

/// What people do, by what it is for.
const SCRIPTS: [(&str, &str); 9] = [
    (
        "a real shell is a file like others",
        r#"cat "$real" | wc -c; cp "$real" copy; cmp "$real" copy; ldd "$real" /bin/bash; sha256sum /bin/bash "$real"; ls -l "$real"; rm copy"#,
    ),
    (
        "time limits end shells with what they run",
        r"timeout 0.2 sh -c 'sleep 1; :'; timeout -s KILL 0.2 /bin/sh -c 'sleep 1; :'; timeout -s KILL 0.2 bash -c 'sleep 1; :'; sleep 1.2",
    ),
    (
        "shells in shells, by every way in",
        r#"bash -c 'bash -c "sh -c \"/bin/true; exec true\"; :"; :'; echo /bin/true | bash; bash <<< /bin/true; (exec bash -c :); x=$(sh -c 'exit 4'); bash nofile; bash --no-such-option; bash -c; bash --version"#,
    ),
    (
        "scripts by their first lines, in files that source others",
        r"printf '#!/usr/bin/env bash\n. ./lib; f\nexec ./b\n' > a; printf '#!/bin/sh\n/bin/true\n' > b; echo 'f() { /bin/true; }' > lib; echo /bin/true > c; chmod +x a b c; ./a; ./b; ./c; sh b; . ./lib; f",
    ),
    (
        "tools that start shells, many at a time",
        r#"seq 12 | xargs -P 4 -n 1 sh -c '/bin/echo $0'; find . -maxdepth 1 -exec /bin/sh -c 'for f; do /bin/echo "$f"; done' sh {} +; awk 'BEGIN { system("bash -c /bin/true"); "sh -c date" | getline }'; env -u HOME bash -c /bin/true; nice sh -c /bin/true"#,
    ),
    (
        "version control with hooks",
        r"git init -q r; cd r; git config user.name a; git config user.email a@b; printf '#!/bin/sh\n/bin/true\n' > .git/hooks/pre-commit; printf '#!/usr/bin/env bash\n[[ -f $1 ]]\n' > .git/hooks/commit-msg; chmod +x .git/hooks/*; for i in 1 2 3; do echo $i > f; git add f; git commit -qm $i; done; git rebase -q --exec 'echo x | cat' HEAD~2; git clone -q . ../c",
    ),
    (
        "jobs, and signals among them",
        r#"sleep 5 & kill $!; wait; for i in {1..6}; do (/bin/true) & done; wait; yes | head -100 | wc -l; coproc cat; kill -9 "$COPROC_PID"; bash -c 'kill -9 $$'; bash -c '(sleep 0.2; /bin/true) & kill -KILL $$'; sleep 0.4"#,
    ),
    (
        "substitutions and pipes, in every place",
        r#"for i in {1..10}; do x=$(echo $i | sed s/1/2/); done; cat <(/bin/echo a) <(sh -c '/bin/echo b') | tee >(cat) >(bash -c 'cat') | wc -l; while read l; do /bin/echo "$l"; done < <(seq 5); /bin/true | /bin/false | /bin/true"#,
    ),
    (
        "what a shell leaves behind in the background",
        r#"sh -c '/bin/sleep 0.3 & exec true'; /bin/sh -c '(/bin/sleep 0.3; : > "$place/left") & exec true'; bash -c '(sleep 0.2; /bin/true; /bin/true) &'; nohup sleep 0.2 >nohup & disown"#,
    ),
];

/// The last of [`SCRIPTS`] leaves this when it is over.
const LEFT: &str = "left";

#[test]
fn honest_work_ends_in_no_finding() {
    if !can_observe("honest_work_ends_in_no_finding") {
        return;
    }
    for (what, script) in SCRIPTS {
        eprintln!("{what}");
        let scene = Scene::new();
        let nash = nash().display();
        scene.record(&format!("nash='{nash}'; export place; {DIVERTED}; {script}; :"));
        assert_proved(&scene, &[]);
        while script.contains(LEFT) && !scene.path(LEFT).exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
