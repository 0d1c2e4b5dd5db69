//! The story depends on what was told, not on when, how often or in which batches.

use nash_correlator::Engine;
use serde_json::{Value, json};

use crate::events::{SHELL, batch, element, exec, nesting, shell_end, shell_start, with};
use crate::kernel::{Observed, kernel_batch, shell_process};

/// The story's JSON after these pushes, each with the shell that it belongs to.
fn told(pushes: &[(&str, Option<&str>, Vec<Value>)]) -> String {
    let mut engine = Engine::new();
    for (shell, parent, events) in pushes {
        engine.push(&batch(shell, *parent, events));
    }
    serde_json::to_string(&engine.story()).unwrap()
}

/// Every order of a list.
fn permutations(list: &[Value]) -> Vec<Vec<Value>> {
    if list.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in 0..list.len() {
        let mut rest = list.to_vec();
        let head = rest.remove(first);
        all.extend(permutations(&rest).into_iter().map(|tail| [vec![head.clone()], tail].concat()));
    }
    all
}

/// A small list with everything in it that refers to something else, and with a hole.
fn small() -> Vec<Value> {
    let mut start = exec(2, 1, "deploy", &json!({"type": "function"}));
    start["kind"] = json!("exec-start");
    vec![
        shell_start(1, &json!({})),
        start,
        json!({"kind": "redirect", "seq": 3, "cmd": 1, "op": ">", "target": {"path": "/w/x"}}),
        exec(5, 2, "make", &json!({"nesting": nesting(&["function:deploy"])})),
        exec(6, 1, "deploy", &json!({"type": "function"})),
        json!({"kind": "cmdsub", "seq": 7, "cmdSeq": 5, "bytes": 3}),
        shell_end(8, 0),
    ]
}

/// A compound as an element of a pipeline, an assignment, and a kind that nobody knows.
fn more() -> Vec<Value> {
    let place = |index| json!({"pipeline": element("p9", index, 2)});
    vec![
        json!({"kind": "news", "seq": 9, "cmd": 1, "what": [1, 2]}),
        json!({"kind": "redirect", "seq": 10, "cmd": 5, "op": ">", "target": {"path": "/w/y"}, "compound": true}),
        exec(11, 6, "sort", &with(place(0), &json!({"parentCmd": 5, "nesting": nesting(&["subshell"])}))),
        exec(12, 7, "head", &place(1)),
        exec(13, 9, "date", &json!({"parentCmd": 8, "nesting": nesting(&["cmdsub"])})),
        json!({"kind": "cmdsub", "seq": 14, "cmd": 8, "bytes": 3}),
    ]
}

/// A generator whose numbers are the same on every run (Marsaglia's xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

#[test]
fn every_order_of_a_small_stream_tells_the_same_story() {
    let expected = told(&[(SHELL, None, small())]);
    for order in permutations(&small()) {
        let singly: Vec<_> = order.into_iter().map(|event| (SHELL, None, vec![event])).collect();
        assert_eq!(told(&singly), expected);
    }
}

#[test]
fn shuffled_and_repeated_batches_of_several_shells_tell_the_same_story() {
    let outer: Vec<Value> = (1..60)
        .map(|n| {
            exec(n + 1, n, "step", &json!({"pipeline": element(&format!("p{}", n / 2), u32::from(n % 2 == 1), 2)}))
        })
        .chain([shell_start(1, &json!({})), shell_end(70, 0)])
        .collect();
    let inner: Vec<Value> = small().into_iter().chain(more()).collect();
    let pieces: Vec<(&str, Option<&str>, Value)> = outer
        .into_iter()
        .map(|event| (SHELL, None, event))
        .chain(inner.into_iter().map(|event| ("bbbb", Some(SHELL), event)))
        .collect();
    let expected =
        told(&pieces.iter().map(|(shell, parent, event)| (*shell, *parent, vec![event.clone()])).collect::<Vec<_>>());
    let mut random = Random(0x5eed);
    for _ in 0..200 {
        let mut pushes: Vec<_> =
            pieces.iter().map(|(shell, parent, event)| (*shell, *parent, vec![event.clone()])).collect();
        for _ in 0..20 {
            pushes.push(pushes[random.below(pushes.len())].clone());
        }
        for end in (1..pushes.len()).rev() {
            pushes.swap(end, random.below(end + 1));
        }
        assert_eq!(told(&pushes), expected);
    }
}

#[test]
fn two_different_events_under_one_number_are_settled_alike_in_any_order_and_counted() {
    let one = exec(1, 1, "true", &json!({}));
    let other = exec(1, 1, "false", &json!({"exitCode": 1}));
    let forth = told(&[(SHELL, None, vec![one.clone()]), (SHELL, None, vec![other.clone()])]);
    let back = told(&[(SHELL, None, vec![other]), (SHELL, None, vec![one])]);
    assert_eq!(forth, back);
    assert!(forth.contains(r#""contradictions":[{"first":1,"last":1}]"#), "{forth}");
}

#[test]
fn three_accounts_of_one_event_are_settled_alike_in_any_order() {
    let redirect = |path: &str, of: Option<u64>| json!({"kind": "redirect", "seq": 2, "cmd": null, "op": ">", "target": {"path": path}, "cmdSeq": of});
    let accounts = [redirect("/x", None), redirect("/y", Some(1)), redirect("/w", Some(3))];
    let commands = vec![exec(1, 1, "true", &json!({})), exec(3, 2, "false", &json!({}))];
    let of = |order: [usize; 3]| {
        let mut pushes = vec![(SHELL, None, commands.clone())];
        pushes.extend(order.map(|at| (SHELL, None, vec![accounts[at].clone()])));
        told(&pushes)
    };
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        assert_eq!(of(order), of([0, 1, 2]), "{order:?}");
    }
}

#[test]
fn a_repeated_event_that_names_its_command_better_is_no_contradiction() {
    let redirect = json!({"kind": "redirect", "seq": 2, "cmd": 1, "op": ">", "target": {"path": "/x"}});
    let mut named = redirect.clone();
    named["cmdSeq"] = json!(1);
    let forth = told(&[(SHELL, None, vec![redirect.clone()]), (SHELL, None, vec![named.clone()])]);
    assert_eq!(forth, told(&[(SHELL, None, vec![named]), (SHELL, None, vec![redirect])]));
    assert!(forth.contains(r#""contradictions":[]"#), "{forth}");
}

#[test]
fn changes_name_what_is_new_and_count_what_is_not() {
    let mut engine = Engine::new();
    let first = engine.push(&batch(SHELL, None, &small()[..3]));
    assert_eq!((first.new.len(), first.duplicates), (3, 0));
    let second = engine.push(&batch(SHELL, None, &small()[1..4]));
    assert_eq!((second.new.iter().map(|seq| seq.0).collect::<Vec<_>>(), second.duplicates), (vec![5], 2));
}

/// What an observer saw of a shell with a command that has a child, a thread, a nested shell and a daemon.
fn observed() -> Vec<Value> {
    let seen = Observed::default()
        .fork(990, 50, 100)
        .exec(992, 100, "/usr/bin/nash", "bash -c script")
        .fork(1010, 100, 201)
        .write(1010, 201, "/w/out")
        .exec(1011, 201, "/usr/bin/make", "make")
        .read(1011, 201, "/w/Makefile")
        .read(1012, 201, "/w/Makefile")
        .fork(1012, 201, 202)
        .exec(1012, 202, "/usr/bin/nash", "sh -c ls")
        .event(1012, 202, "connect", &json!({"family": "unix", "path": "/run/c.sock", "result": 0}))
        .fork(1013, 202, 203)
        .exec(1013, 203, "/usr/bin/ls", "ls")
        .event(1013, 203, "unlink", &json!({"path": "/w/x", "result": 0}))
        .exit(1014, 203, 0)
        .exit(1014, 202, 0)
        .exit(1014, 201, 0)
        .event(1014, 201, "news", &json!({"what": 1}))
        .event(1100, 100, "exit", &json!({"signal": 9}));
    let lost = json!({"kind": "lost", "seq": 40, "count": 3, "byKind": {"open": 3}, "reason": "ring-full"});
    let bare = json!({"kind": "bind", "seq": 41, "bootNs": 1_013_000_000, "pid": 201, "family": "inet", "port": 80});
    seen.events.into_iter().chain([lost, bare]).collect()
}

#[test]
fn two_witnesses_tell_the_same_story_in_whatever_order_their_words_come() {
    let outer = [shell_start(1, &shell_process(100)), exec(2, 1, "make", &json!({}))];
    let inner = [
        shell_start(1, &with(shell_process(202), &json!({"ts": 1012.5}))),
        exec(2, 2, "ls", &json!({"pid": 203, "ts": 1013.0})),
        json!({"kind": "shell", "phase": "end", "seq": 3, "ts": 1014.0, "exitCode": 0}),
    ];
    let mut pieces: Vec<nash_events::Batch> = outer.into_iter().map(|event| batch(SHELL, None, &[event])).collect();
    pieces.extend(inner.into_iter().map(|event| batch("bbbb", None, &[event])));
    pieces.extend(observed().into_iter().map(|event| kernel_batch("o-1", &[event])));
    let tell = |pieces: &[nash_events::Batch]| {
        let mut engine = Engine::new();
        for piece in pieces {
            engine.push(piece);
        }
        serde_json::to_string(&engine.story()).unwrap()
    };
    let expected = tell(&pieces);
    assert!(expected.contains(r#""rule":"nested-shell""#), "{expected}");
    let mut random = Random(0x5eed);
    for _ in 0..200 {
        let mut order = pieces.clone();
        for _ in 0..10 {
            order.push(order[random.below(order.len())].clone());
        }
        for end in (1..order.len()).rev() {
            order.swap(end, random.below(end + 1));
        }
        assert_eq!(tell(&order), expected);
    }
}
