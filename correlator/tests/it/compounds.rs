//! Compound commands with redirections: groups in the tree, with what runs inside below them.

use serde_json::{Value, json};

use crate::events::{SHELL, batch, element, exec, nesting, shell_end, shell_start, story, with};
use crate::trees::check;

/// The redirection of a compound to `/w/out`.
fn compound(seq: u64, cmd: u64, more: &Value) -> Value {
    let base = json!({"kind": "redirect", "seq": seq, "ts": 1015.0, "cmd": cmd, "op": ">", "fd": 1, "compound": true,
        "target": {"path": "/w/out"}});
    with(base, more)
}

#[test]
fn a_compound_is_a_group_with_its_redirections_and_its_commands_in_order() {
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 1, "before", &json!({})),
            compound(3, 2, &json!({"bytes": 3})),
            compound(4, 2, &json!({"op": ">&", "fd": 2, "target": {"fd": 1}})),
            exec(5, 3, "make", &json!({"parentCmd": 2})),
            exec(6, 4, "make install", &json!({"parentCmd": 2, "nesting": nesting(&["subshell"])})),
            exec(7, 5, "after", &json!({})),
            shell_end(8, 0),
        ],
        "
        bash -c script  in /w            1.00s
        ├─ ✓ before                      3.4ms
        ├─ { … } > /w/out (3 B) 2>&1
        │  ├─ ✓ make                     3.4ms
        │  └─ ( ) ✓ make install         3.4ms
        └─ ✓ after                       3.4ms",
    );
}

#[test]
fn a_compound_that_a_substitution_feeds_shows_the_sign_under_which_its_commands_stand() {
    check(
        &[
            shell_start(1, &json!({})),
            compound(2, 1, &json!({"op": "<", "fd": 0, "target": {"procsub": "s1"}})),
            exec(3, 2, "printf a", &json!({"parentCmd": 1, "nesting": nesting(&["procsub"])})),
            exec(4, 3, "read a", &json!({"parentCmd": 1})),
            compound(5, 4, &json!({"target": {"procsub": "s2"}})),
            shell_end(6, 0),
        ],
        "
        bash -c script  in /w     1.00s
        ├─ { … } < <( )
        │  ├─ <( ) ✓ printf a     3.4ms
        │  └─ ✓ read a            3.4ms
        └─ { … } > >( )",
    );
}

#[test]
fn compounds_stand_inside_each_other_and_inside_functions() {
    let in_function = nesting(&["function:deploy"]);
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 1, "deploy", &json!({"type": "function"})),
            compound(3, 2, &json!({"parentCmd": 1})),
            compound(4, 3, &json!({"parentCmd": 2, "op": "2>", "target": {"path": "/w/err"}})),
            exec(5, 4, "make", &json!({"parentCmd": 3, "nesting": in_function})),
            exec(6, 5, "date", &json!({"parentCmd": 1, "nesting": in_function})),
            shell_end(7, 0),
        ],
        "
        bash -c script  in /w        1.00s
        └─ ✓ deploy                  3.4ms
           ├─ { … } > /w/out
           │  └─ { … } 2> /w/err
           │     └─ ✓ make           3.4ms
           └─ ✓ date                 3.4ms",
    );
}

#[test]
fn a_compound_is_the_element_of_the_pipeline_in_which_its_commands_run() {
    let inside =
        |index| json!({"parentCmd": 2, "pipeline": element("p1", index, 3), "nesting": nesting(&["subshell"])});
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 1, "cat log", &json!({"pipeline": element("p1", 0, 3)})),
            compound(3, 2, &json!({"op": "2>", "target": {"path": "/dev/null"}})),
            exec(4, 3, "read l", &inside(1)),
            exec(5, 4, "echo x", &inside(1)),
            exec(6, 5, "wc -l", &json!({"pipeline": element("p1", 2, 3)})),
            shell_end(7, 0),
        ],
        "
        bash -c script  in /w          1.00s
        └─ pipeline of 3
           ├─ ✓ cat log                3.4ms
           ├─ | { … } 2> /dev/null
           │  ├─ ✓ read l              3.4ms
           │  └─ ✓ echo x              3.4ms
           └─ | ✓ wc -l                3.4ms",
    );
}

#[test]
fn a_pipeline_of_compounds_alone_is_one_pipeline() {
    let inside = |parent, index| json!({"parentCmd": parent, "pipeline": element("p1", index, 2), "nesting": nesting(&["subshell"])});
    check(
        &[
            shell_start(1, &json!({})),
            compound(2, 1, &json!({"op": "2>", "target": {"path": "/w/a"}})),
            compound(3, 2, &json!({})),
            exec(4, 3, "one", &inside(1, 0)),
            exec(5, 4, "two", &inside(2, 1)),
            shell_end(6, 0),
        ],
        "
        bash -c script  in /w      1.00s
        └─ pipeline of 2
           ├─ { … } 2> /w/a
           │  └─ ✓ one             3.4ms
           └─ | { … } > /w/out
              └─ ✓ two             3.4ms",
    );
}

#[test]
fn a_pipeline_inside_a_compound_stays_inside() {
    let inside = |index| json!({"parentCmd": 1, "pipeline": element("p1", index, 2)});
    check(
        &[
            shell_start(1, &json!({})),
            compound(2, 1, &json!({})),
            exec(3, 2, "ls", &inside(0)),
            exec(4, 3, "head -1", &inside(1)),
            exec(
                5,
                4,
                "eval a",
                &with(json!({"type": "builtin", "pipeline": element("p2", 0, 2)}), &json!({"parentCmd": 1})),
            ),
            exec(6, 5, "a", &json!({"parentCmd": 4, "pipeline": element("p2", 0, 2)})),
            exec(7, 6, "cat", &json!({"parentCmd": 1, "pipeline": element("p2", 1, 2)})),
            shell_end(8, 0),
        ],
        "
        bash -c script  in /w     1.00s
        └─ { … } > /w/out
           ├─ ✓ ls | head -1      3.4ms
           └─ pipeline of 2
              ├─ ✓ eval a         3.4ms
              │  └─ ✓ a           3.4ms
              └─ | ✓ cat          3.4ms",
    );
}

#[test]
fn levels_that_everything_inside_shares_are_around_the_compound() {
    let inside = |parent, stack: &[&str]| json!({"parentCmd": parent, "nesting": nesting(stack)});
    check(
        &[
            shell_start(1, &json!({})),
            compound(2, 1, &json!({})),
            exec(3, 2, "one", &inside(1, &["subshell"])),
            exec(4, 3, "two", &inside(1, &["subshell"])),
            compound(5, 4, &json!({})),
            exec(6, 5, "server", &inside(4, &["background"])),
            compound(7, 6, &json!({})),
            exec(8, 7, "job", &inside(6, &["background"])),
            exec(9, 8, "wait", &inside(6, &[])),
            shell_end(10, 0),
        ],
        "
        bash -c script  in /w     1.00s
        ├─ ( … ) > /w/out
        │  ├─ ✓ one               3.4ms
        │  └─ ✓ two               3.4ms
        ├─ & { … } > /w/out
        │  └─ ✓ server            3.4ms
        └─ { … } > /w/out
           ├─ & ✓ job             3.4ms
           └─ ✓ wait              3.4ms",
    );
}

#[test]
fn words_of_a_compounds_redirection_are_below_it_and_a_compound_in_words_below_their_owner() {
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 2, "mktemp", &json!({"parentCmd": 1, "nesting": nesting(&["cmdsub"])})),
            json!({"kind": "cmdsub", "seq": 3, "bytes": 7, "previewB64": "L3cvb3V0Cg=="}),
            compound(4, 1, &json!({})),
            compound(5, 4, &json!({"parentCmd": 3, "op": "2>", "target": {"path": "/w/err"}})),
            exec(6, 5, "date", &json!({"parentCmd": 4, "nesting": nesting(&["cmdsub"])})),
            json!({"kind": "cmdsub", "seq": 7, "cmd": 3, "bytes": 2, "previewB64": "eAo="}),
            exec(8, 3, "echo x", &json!({})),
            shell_end(9, 0),
        ],
        r#"
        bash -c script  in /w                     1.00s
        ├─ { … } > /w/out
        │  └─ $( ) ✓ mktemp → 7 B: "/w/out"       3.4ms
        └─ ✓ echo x                               3.4ms
           └─ $( ) { … } 2> /w/err → 2 B: "x"
              └─ ✓ date                           3.4ms"#,
    );
}

#[test]
fn a_compound_whose_redirection_failed_and_one_without_commands_are_told() {
    check(
        &[
            shell_start(1, &json!({})),
            compound(2, 1, &json!({"error": "No such file"})),
            compound(3, 2, &json!({"bytes": 0})),
            shell_end(4, 1),
        ],
        "
        bash -c script  in /w             exit 1   1.00s
        ├─ { … } > /w/out (No such file)
        └─ { … } > /w/out (0 B)",
    );
}

#[test]
fn a_redirection_that_is_told_before_it_fails_is_one_that_failed() {
    check(
        &[
            shell_start(1, &json!({})),
            compound(2, 1, &json!({})),
            compound(3, 1, &json!({"error": "No such file"})),
            shell_end(4, 1),
        ],
        "
        bash -c script  in /w             exit 1   1.00s
        └─ { … } > /w/out (No such file)",
    );
}

#[test]
fn a_redirection_of_a_compound_without_a_number_stands_on_a_line_inside_what_encloses_it() {
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 1, "deploy", &json!({"type": "function"})),
            compound(3, 1, &json!({"bytes": 3})),
            exec(4, 2, "echo a", &json!({})),
            compound(5, 1, &json!({"cmd": null, "bytes": 3})),
            shell_end(6, 0),
        ],
        "
        bash -c script  in /w          1.00s
        ├─ ✓ deploy                    3.4ms
        │  └─ { … } > /w/out (3 B)
        ├─ { … } > /w/out (3 B)
        └─ ✓ echo a                    3.4ms",
    );
}

#[test]
fn the_data_tell_compounds_and_where_they_stand() {
    let events = [
        shell_start(1, &json!({})),
        compound(2, 1, &json!({})),
        exec(3, 2, "make", &json!({"parentCmd": 1, "nesting": nesting(&["subshell"])})),
        shell_end(4, 0),
    ];
    let told = serde_json::to_value(story(&[batch(SHELL, None, &events)])).unwrap();
    let commands = &told["shells"][0]["commands"];
    assert_eq!((&commands[0]["cmd"], &commands[0]["compound"]), (&json!(1), &json!(true)));
    assert_eq!(commands[0]["surroundings"]["nesting"], nesting(&["subshell"]));
    assert_eq!(commands[0]["redirects"][0]["target"], json!({"path": "/w/out"}));
    assert_eq!(commands[1]["parent"], json!({"cmd": 1, "rule": "parent-cmd"}));
    assert!(commands[1].get("compound").is_none());
    assert_eq!(told["coverage"]["commands"], 1);
}
