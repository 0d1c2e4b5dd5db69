//! Data that moved: what is told of files and pipes, and what happens where nothing can be seen.
//!
//! That commands behave the same is the tables' business; here the events are looked at.

mod substitutions;

use std::fmt::Write as _;
use std::process::Command;

use nash_events::event::{Data, HashOf, Pipe, Redirect, RedirectMode, RedirectTarget};
use nash_events::limits::{HASHED_BYTES_MAX, PREVIEW_BYTES_MAX, PREVIEWS_PER_COMMAND_BYTES_MAX};
use nash_events::{Event, EventKind};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::rig::process::{Ended, Input, clean_command, run};
use crate::rig::programs::nash;
use crate::rig::streams::Streams;

/// What a script did, and what was told of it.
pub(crate) struct Told {
    pub(crate) ended: Ended,
    events: Vec<Event>,
    place: TempDir,
}

fn told(script: &str) -> Told {
    told_with(script, |_| {})
}

pub(crate) fn told_with(script: &str, prepare: impl FnOnce(&mut Command)) -> Told {
    told_in(&TempDir::new().unwrap(), script, prepare)
}

pub(crate) fn told_in(spool: &TempDir, script: &str, prepare: impl FnOnce(&mut Command)) -> Told {
    let place = TempDir::new().unwrap();
    let mut command = clean_command(nash(), "bash", place.path());
    command.env("NUCLEIC_SHELL_SPOOL", spool.path()).env("NUCLEIC_SHELL_SOCKET", "").args(["-c", script]);
    prepare(&mut command);
    let ended = run(command, &Input::Null);
    let events = Streams::of_spool(spool.path()).events().cloned().collect();
    Told { ended, events, place }
}

impl Told {
    pub(crate) fn pipes(&self) -> Vec<&Pipe> {
        let pipes = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Pipe(pipe) => Some(&**pipe),
            _ => None,
        });
        pipes.collect()
    }

    /// The last that was told of each redirection.
    fn redirects(&self) -> Vec<&Redirect> {
        let mut redirects: Vec<&Redirect> = Vec::new();
        for event in &self.events {
            if let EventKind::Redirect(redirect) = &event.kind {
                match redirects.iter_mut().find(|earlier| redirect.supersedes(earlier)) {
                    Some(earlier) => *earlier = redirect,
                    None => redirects.push(redirect),
                }
            }
        }
        redirects
    }

    /// The names of the programs that were told of.
    pub(crate) fn programs(&self) -> Vec<String> {
        let execs = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Exec(exec) => Some(String::from_utf8_lossy(exec.argv[0].as_bytes()).into_owned()),
            _ => None,
        });
        execs.collect()
    }

    /// What a file holds that the script made.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.place.path().join(name)).unwrap()
    }

    fn to_file(&self, name: &str) -> &Redirect {
        let path = self.place.path().join(name);
        let leads_there = |redirect: &&&Redirect| match &redirect.target {
            RedirectTarget::Path(target) => target.as_bytes() == path.as_os_str().as_encoded_bytes(),
            _ => false,
        };
        let found: Vec<_> = self.redirects().into_iter().collect();
        found.iter().copied().find(|redirect| leads_there(&redirect)).unwrap_or_else(|| panic!("{name}: {found:#?}"))
    }
}

fn shown(data: Option<&Data>) -> (u64, &str) {
    let data = data.unwrap();
    (data.bytes, std::str::from_utf8(data.preview.as_deref().unwrap_or_default()).unwrap())
}

/// A hash as events have it.
fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[test]
fn what_crosses_a_pipe_is_counted_hashed_and_shown() {
    let told = told("echo hello | tr a-z A-Z | cat; f() { echo in f; }; f | { read -r x; echo $x; }");
    assert_eq!(told.ended.out(), "HELLO\nin f\n");
    let pipes = told.pipes();
    let crossed: Vec<_> = pipes.iter().map(|pipe| shown(pipe.data.as_ref())).collect();
    assert_eq!(crossed, [(6, "hello\n"), (6, "HELLO\n"), (5, "in f\n")]);
    assert_eq!(pipes[0].data.as_ref().unwrap().sha256, Some(sha256(b"hello\n")));
    assert!(pipes.iter().all(|pipe| !pipe.tap_failed && !pipe.still_open), "{pipes:#?}");
}

#[test]
fn elements_of_a_pipeline_in_the_background_know_their_place() {
    let told = told("echo b | sort > o & wait; (seq 1) | tr 1 2 & wait; seq 3 | { true & cat; } > o");
    let place = |name: &str| {
        let execs = told.events.iter().filter_map(|event| match &event.kind {
            EventKind::Exec(exec) if exec.argv[0].as_bytes() == name.as_bytes() => Some(exec),
            _ => None,
        });
        execs.map(|exec| exec.pipeline.as_ref().map(|place| (place.id.0.clone(), place.index))).collect::<Vec<_>>()
    };
    let at = |pipeline: &str, index| Some((pipeline.to_owned(), index));
    assert_eq!((place("echo"), place("sort")), (vec![at("p1", 0)], vec![at("p1", 1)]));
    assert_eq!((place("seq"), place("tr")), (vec![at("p2", 0), at("p3", 0)], vec![at("p2", 1)]));
    assert_eq!((place("true"), place("cat")), (vec![None], vec![at("p3", 1)]));
}

#[test]
fn what_crosses_a_process_substitution_is_shown_both_ways() {
    let told = told("cat <(echo one); echo two > >(cat > f; : > done); while [ ! -e done ]; do :; done; cat f");
    assert_eq!(told.ended.out(), "one\ntwo\n");
    let mut crossed: Vec<_> = told.pipes().iter().map(|pipe| shown(pipe.data.as_ref())).collect();
    crossed.sort_unstable();
    assert_eq!(crossed, [(4, "one\n"), (4, "two\n")]);
}

#[test]
fn a_long_stream_shows_its_head_and_the_hash_says_how_much_it_covers() {
    let told = told("head -c 70000000 /dev/zero | cat | wc -c; seq 100000 | tail -1");
    assert_eq!(told.ended.out(), "70000000\n100000\n");
    let pipes = told.pipes();
    for pipe in &pipes[..2] {
        let data = pipe.data.as_ref().unwrap();
        assert_eq!((data.bytes, data.hashed_bytes, data.truncated), (70_000_000, Some(HASHED_BYTES_MAX), true));
        assert_eq!(data.sha256, Some(sha256(&vec![0; 64 << 20])));
        assert_eq!(data.preview.as_deref().map(<[u8]>::len), Some(PREVIEW_BYTES_MAX));
    }
    let numbers = (1..=100_000).fold(String::new(), |text, number| text + &format!("{number}\n"));
    let data = pipes[2].data.as_ref().unwrap();
    assert_eq!((data.bytes, data.hashed_bytes, data.sha256.clone()), (588_895, None, Some(sha256(numbers.as_bytes()))));
}

#[test]
fn a_file_is_read_back_in_the_range_that_the_command_wrote() {
    let told = told(
        "echo one > new; echo two >> new; { echo a; echo b; } > group; for i in 1 2; do echo $i; done >> group
         ls /nonexistent 2> err; sort < new > sorted; echo long long > new; (echo sub; true) &> both; echo bg > bg & wait
         cat new > staged | cat; f() { echo f; }; f > function",
    );
    assert_eq!(told.ended.code(), 0);
    let expected = [
        ("new", 0, 4, "one\n"),
        ("sorted", 0, 8, "one\ntwo\n"),
        ("both", 0, 4, "sub\n"),
        ("bg", 0, 3, "bg\n"),
        ("staged", 0, 10, "long long\n"),
        ("function", 0, 2, "f\n"),
    ];
    for (name, before, after, text) in expected {
        let redirect = told.to_file(name);
        assert_eq!(shown(redirect.data.as_ref()), (text.len() as u64, text), "{name}");
        let (sizes, hash) = ((redirect.size_before, redirect.size_after), &redirect.data.as_ref().unwrap().sha256);
        if name != "new" {
            assert_eq!(sizes, (Some(before), Some(after)), "{name}");
            assert_eq!(*hash, Some(sha256(text.as_bytes())), "{name}");
        }
    }
    let appended: Vec<_> = told.redirects().into_iter().filter(|redirect| redirect.op == ">>").collect();
    let ranges: Vec<_> =
        appended.iter().map(|redirect| (redirect.size_before, shown(redirect.data.as_ref()))).collect();
    assert_eq!(ranges, [(Some(4), (4, "two\n")), (Some(4), (4, "1\n2\n"))]);
    assert!(shown(told.to_file("err").data.as_ref()).1.starts_with("ls: cannot access"));
}

#[test]
fn what_exec_opens_is_read_back_when_it_is_closed_or_the_shell_ends() {
    let told = told(
        "exec 3> three; echo 3 >&3; exec 3>&-; rm three; exec 4> a; echo a >&4; exec 4> b; rm a; echo b >&4; exec > last; echo end",
    );
    for (name, text) in [("three", "3\n"), ("a", "a\n"), ("b", "b\n"), ("last", "end\n")] {
        assert_eq!(shown(told.to_file(name).data.as_ref()), (text.len() as u64, text), "{name}");
    }
}

#[test]
fn a_descriptor_that_exec_opened_is_found_closed_after_much_use() {
    let told = told("exec 3> f; for i in 1 2 3; do echo $i >&3; done; exec 3>&-; echo more >> f");
    let opened = told.redirects().into_iter().find(|redirect| redirect.op == "3>").unwrap();
    assert_eq!(shown(opened.data.as_ref()), (6, "1\n2\n3\n"), "read back when it was closed, not at the end");
}

#[test]
fn what_a_variable_s_descriptor_opens_is_read_back_when_it_is_closed() {
    let told = told(
        "exec {v}> f; echo z >&$v; exec {v}>&-; echo more > f; : {w}> g; echo y >&$w; : {w}>&-; echo more > g
         { : ; } {x}> h; echo x >&$x; : {x}>&-; echo more > h",
    );
    assert_eq!(told.ended.err(), "");
    for (name, text) in [("f", "z\n"), ("g", "y\n"), ("h", "x\n")] {
        assert_eq!(shown(told.to_file(name).data.as_ref()), (2, text), "{name}");
    }
    let redirects = told.redirects();
    let closed: Vec<_> = redirects.iter().filter(|redirect| redirect.target == RedirectTarget::Close).collect();
    assert_eq!(closed.len(), 3);
    // The number is the lowest from 10 on that nobody gave the shell.
    assert!(closed.iter().all(|close| close.op == format!("{}>&-", close.fd.unwrap())), "{closed:#?}");
    assert_eq!(redirects.len(), 12, "each is told once: {redirects:#?}");
}

#[test]
fn a_file_after_an_ampersand_is_told_like_one_for_both_streams() {
    let told = told("{ echo out; echo err >&2; } >& f; echo more > f; exec >& g; echo out; echo err >&2; exec >& h");
    for name in ["f", "g"] {
        let redirect = told.to_file(name);
        assert_eq!((redirect.op.as_str(), redirect.mode.clone()), (">&", Some(RedirectMode::Write)), "{name}");
        assert_eq!(shown(redirect.data.as_ref()), (8, "out\nerr\n"), "{name}");
    }
}

#[test]
fn the_files_of_tests_and_arithmetic_are_read_back_when_those_end() {
    let told =
        told("[[ a == a ]] > f; echo z > f; (( 1 )) > g; echo z > g; [[ a == b ]] > h | :; echo z > h; [[ x ]] > /");
    for name in ["f", "g", "h"] {
        assert_eq!(shown(told.to_file(name).data.as_ref()), (0, ""), "{name}");
    }
    assert!(told.redirects().last().unwrap().error.is_some());
}

#[test]
fn a_file_that_is_not_what_it_was_is_not_guessed_at() {
    let told = told(
        "{ echo x; rm gone; } > gone; { echo x; rm other; echo new > other; } > other; { echo x; mv moved elsewhere; } > moved
         echo 12345 > short; { : > short; } >> short",
    );
    let groups = told.redirects().into_iter().filter(|redirect| redirect.compound && redirect.op == ">");
    let groups: Vec<_> = groups.collect();
    assert_eq!(groups.len(), 3, "{groups:#?}");
    for redirect in groups {
        assert!(redirect.changed && redirect.data.is_none(), "{redirect:#?}");
    }
    let short = told.redirects().into_iter().find(|redirect| redirect.op == ">>").unwrap();
    assert!(short.changed && short.data.is_none() && short.size_after == Some(0), "{short:#?}");
}

#[test]
fn what_is_no_regular_file_is_never_read() {
    let script = "echo x > /dev/null; read -r line < /proc/version; mkfifo p; (echo y > p &); cat < p; : <> /dev/zero
        exec 5<> p; echo waiting >&5; { sleep 0.05; } < p; read -r w <&5; echo $w";
    let told = told(script);
    assert_eq!(told.ended.out(), "y\nwaiting\n");
    for redirect in told.redirects() {
        assert!(redirect.data.is_none(), "{redirect:#?}");
    }
}

#[test]
fn a_file_that_may_not_be_read_is_told_by_its_size() {
    let script = "echo secret > f; chmod 200 f; echo more >> f; ls -l f > /dev/null";
    let told = told_with(script, |command| {
        // Root may read everything; in a user namespace where it isn't root it is nobody special.
        let shell = command.get_program().to_owned();
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let mut wrapped = Command::new("/usr/bin/unshare");
        wrapped.args(["--user", "--map-user=1000", "--map-group=1000"]).arg(shell).args(arguments);
        wrapped.current_dir(command.get_current_dir().unwrap()).env_clear();
        wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        *command = wrapped;
    });
    let appended = told.redirects().into_iter().find(|redirect| redirect.op == ">>").unwrap();
    assert_eq!((appended.size_before, appended.size_after), (Some(7), Some(12)), "{appended:#?}");
    assert!(appended.data.is_none(), "{appended:#?}");
}

#[test]
fn a_redirection_that_fails_says_why_in_the_systems_words() {
    let told = told("cat < nosuch; cat > /nonexistent/f; set -C; echo > f; echo > f");
    let errors: Vec<_> = told.redirects().iter().filter_map(|redirect| redirect.error.clone()).collect();
    assert_eq!(errors[..2], ["No such file or directory", "No such file or directory"]);
    assert_eq!(errors.len(), 3, "{errors:?}");
    let of_commands = told.events.iter().filter_map(|event| match &event.kind {
        EventKind::Exec(exec) => exec.error.clone(),
        _ => None,
    });
    let of_commands: Vec<_> = of_commands.collect();
    assert_eq!(of_commands[0], "nosuch: No such file or directory", "{of_commands:?}");
}

#[test]
fn secrets_are_masked_in_whatever_crosses() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let script = format!(
        "echo {token} | cat > f; cat <<< {token} | tr x x; cd /nonexistent/{token}; echo > /nonexistent/{token}
         export {token}; echo x > \"$NUCLEIC_SHELL_SPOOL/{token}\"; {token}=1; {token}() {{ :; }}; {token}=2 true"
    );
    let told = told(&script);
    assert!(told.ended.out().contains(&token), "the commands see it");
    for event in &told.events {
        let text = serde_json::to_string(event).unwrap();
        assert!(!text.contains(&token), "{text}");
    }
    let pipe = told.pipes()[0].data.as_ref().unwrap();
    assert_eq!(shown(Some(pipe)), (token.len() as u64 + 1, "ghp_****\n"));
    assert_eq!((pipe.hash_of.clone(), pipe.sha256.clone()), (Some(HashOf::Redacted), Some(sha256(b"ghp_****\n"))));
    assert_eq!(shown(told.to_file("f").data.as_ref()).1, "ghp_****\n");
}

#[test]
fn the_previews_of_one_command_are_bounded_together() {
    let texts = "<<< \"$x\" ".repeat(8);
    let told = told(&format!("x=$(printf '%070000d' 1); : {texts}"));
    let shown: usize =
        told.redirects().iter().filter_map(|redirect| redirect.data.as_ref()?.preview.as_ref()).map(Vec::len).sum();
    assert_eq!(shown, PREVIEWS_PER_COMMAND_BYTES_MAX);
    assert!(told.redirects().iter().all(|redirect| redirect.data.as_ref().unwrap().bytes == 70_001));
}

#[test]
fn a_pipe_that_outlives_the_shell_goes_on_and_is_told_as_open() {
    let told = told("(sleep 0.5; echo late > late) | (cat; : > end) > /dev/null & disown; sleep 0.1");
    assert_eq!(told.ended.code(), 0);
    let end = told.place.path().join("end");
    let deadline = std::time::Instant::now() + crate::rig::process::PATIENCE;
    while !end.exists() && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(end.exists() && told.place.path().join("late").exists(), "the pipeline broke with its shell");
}

#[test]
fn a_shell_that_is_replaced_leaves_its_pipes_in_order() {
    let told = told(
        "(sleep 0.2; seq 3) | (sleep 0.1; sort -r > f; : > end) & exec sh -c 'while [ ! -e end ]; do sleep 0.01; done; cat f'",
    );
    assert_eq!(told.ended.out(), "3\n2\n1\n");
}

#[test]
fn a_pipeline_that_left_the_shells_group_survives_what_kills_that() {
    let script = "setsid sh -c 'for i in 1 2 3; do echo $i; sleep 0.2; done' | setsid sh -c 'cat > out; : > end' &
        while [ ! -s out ]; do sleep 0.01; done; kill -9 0";
    let told = told(script);
    let end = told.place.path().join("end");
    let deadline = std::time::Instant::now() + crate::rig::process::PATIENCE;
    while !end.exists() && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(std::fs::read_to_string(told.place.path().join("out")).unwrap(), "1\n2\n3\n");
}

#[test]
fn half_a_secret_in_a_pipe_that_is_still_open_is_masked() {
    let told = told("(printf 'token ghp_ABCDEFGHIJKLMNOPQR'; sleep 0.4 &) | (exec 3<&0; sleep 0.4 &)");
    let pipe = told.pipes()[0];
    assert!(pipe.still_open, "{pipe:#?}");
    let (bytes, text) = shown(pipe.data.as_ref());
    assert!(bytes == 28 && !text.contains("ABCDEFGHIJ"), "{text}");
}

#[test]
fn where_there_is_no_memory_for_taps_the_pipe_is_a_plain_one_and_says_so() {
    // The rest of the shell has what it needs, and a megabyte more.
    let told = told(
        "ulimit -v $((`sed -n 's/VmSize:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$$/status` + 1000)); echo a | cat > f; cat f",
    );
    assert_eq!(told.ended.out() + &told.ended.err(), "a\n");
    let pipes = told.pipes();
    assert!(pipes[0].tap_failed && pipes[0].data.is_none(), "{pipes:#?}");
    assert_eq!(shown(told.to_file("f").data.as_ref()), (2, "a\n"));
}

#[test]
fn at_meta_nothing_stands_in_a_pipe_and_no_file_is_read() {
    let told = told_with("echo a | cat > f", |command| {
        command.env("NUCLEIC_SHELL_CAPTURE", "meta");
    });
    assert!(told.pipes().iter().all(|pipe| pipe.data.is_none()));
    assert!(told.to_file("f").data.is_none());
}
