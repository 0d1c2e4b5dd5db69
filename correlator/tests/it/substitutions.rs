//! Substitutions: at their place, each with the text that came of it.

use serde_json::{Value, json};

use crate::events::{exec, nesting, shell_end, shell_start};
use crate::trees::check;

/// The text `x` of a substitution in the words of a command, or of none.
fn text(seq: u64, cmd: Option<u64>) -> Value {
    json!({"kind": "cmdsub", "seq": seq, "ts": 1900.0, "cmd": cmd, "bytes": seq,
        "previewB64": "eAo="})
}

fn inside(parent: Option<u64>, stack: &[&str]) -> Value {
    json!({"parentCmd": parent, "nesting": nesting(stack)})
}

#[test]
fn the_substitution_of_a_bare_assignment_takes_the_assignments_place() {
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 1, "before", &json!({})),
            exec(3, 3, "echo a", &inside(Some(2), &["cmdsub"])),
            exec(4, 4, "date", &inside(Some(2), &["cmdsub"])),
            text(5, Some(2)),
            exec(6, 5, "after", &json!({})),
            text(7, Some(6)),
            shell_end(8, 0),
        ],
        r#"
        bash -c script  in /w     1.00s
        ├─ ✓ before               3.4ms
        ├─ $( ) → 5 B: "x"
        │  ├─ ✓ echo a            3.4ms
        │  └─ ✓ date              3.4ms
        ├─ ✓ after                3.4ms
        └─ $( ) → 7 B: "x""#,
    );
}

#[test]
fn process_substitutions_stand_apart_and_say_which_way_they_go() {
    let pipe = |seq: u64, id: &str, direction: &str| json!({"kind": "pipe", "seq": seq, "ts": 1000.0, "procsub": id, "direction": direction});
    let within = |id: &str| {
        let mut nesting = nesting(&["procsub"]);
        nesting["procsub"] = json!(id);
        json!({"parentCmd": 1, "nesting": nesting})
    };
    check(
        &[
            shell_start(1, &json!({})),
            pipe(2, "s1", "read"),
            pipe(3, "s2", "write"),
            exec(4, 1, "join", &json!({})),
            exec(5, 2, "sort a", &within("s1")),
            exec(6, 3, "sort b", &within("s2")),
            exec(7, 4, "uniq b", &within("s2")),
            shell_end(8, 0),
        ],
        "
        bash -c script  in /w     1.00s
        └─ ✓ join                 3.4ms
           ├─ <( ) ✓ sort a       3.4ms
           └─ >( )
              ├─ ✓ sort b         3.4ms
              └─ ✓ uniq b         3.4ms",
    );
}

#[test]
fn an_assignment_says_its_variable_where_that_is_known() {
    let mut named = text(3, Some(1));
    named["assign"] = json!("now");
    check(
        &[shell_start(1, &json!({})), exec(2, 2, "date", &inside(Some(1), &["cmdsub"])), named, shell_end(4, 0)],
        r#"
        bash -c script  in /w             1.00s
        └─ now=$( ) ✓ date → 3 B: "x"     3.4ms"#,
    );
}

#[test]
fn assignments_in_functions_and_in_each_other_stand_where_they_ran() {
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 3, "date", &inside(Some(2), &["function:f", "cmdsub"])),
            text(3, Some(2)),
            exec(4, 1, "f", &json!({"type": "function"})),
            exec(5, 6, "inner", &inside(Some(5), &["cmdsub", "cmdsub"])),
            text(6, Some(5)),
            exec(7, 7, "outer", &inside(Some(4), &["cmdsub"])),
            text(8, Some(4)),
            shell_end(9, 0),
        ],
        r#"
        bash -c script  in /w             1.00s
        ├─ ✓ f                            3.4ms
        │  └─ $( ) ✓ date → 3 B: "x"      3.4ms
        └─ $( ) → 8 B: "x"
           ├─ $( ) ✓ inner → 6 B: "x"     3.4ms
           └─ ✓ outer                     3.4ms"#,
    );
}

#[test]
fn several_substitutions_of_one_command_are_told_apart() {
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 2, "a1", &inside(Some(1), &["cmdsub"])),
            exec(3, 3, "a2", &inside(Some(1), &["cmdsub"])),
            text(4, Some(1)),
            exec(5, 4, "b", &inside(Some(1), &["cmdsub"])),
            text(6, Some(1)),
            text(7, Some(1)),
            exec(8, 1, "echo x x x", &json!({})),
            shell_end(9, 0),
        ],
        r#"
        bash -c script  in /w         1.00s
        └─ ✓ echo x x x               3.4ms
           ├─ $( ) → 4 B: "x"
           │  ├─ ✓ a1                 3.4ms
           │  └─ ✓ a2                 3.4ms
           ├─ $( ) ✓ b → 6 B: "x"     3.4ms
           └─ $( ) → 7 B: "x""#,
    );
}

#[test]
fn words_that_belong_to_no_command_have_their_texts_too() {
    check(
        &[
            shell_start(1, &json!({})),
            exec(2, 1, "ls", &inside(None, &["cmdsub"])),
            text(3, None),
            exec(4, 2, "f", &json!({"type": "function"})),
            exec(5, 3, "pwd", &inside(Some(2), &["function:f", "cmdsub"])),
            text(6, None),
            text(7, None),
            shell_end(8, 0),
        ],
        r#"
        bash -c script  in /w           1.00s
        ├─ $( ) ✓ ls → 3 B: "x"         3.4ms
        ├─ ✓ f                          3.4ms
        │  └─ $( ) ✓ pwd → 6 B: "x"     3.4ms
        └─ $( ) → 7 B: "x""#,
    );
}

#[test]
fn a_command_that_never_ended_gets_no_text() {
    let mut running = exec(2, 2, "sleep 9", &inside(Some(1), &["cmdsub"]));
    running["kind"] = json!("exec-start");
    check(
        &[shell_start(1, &json!({})), running, text(3, Some(1)), shell_end(4, 0)],
        r#"
        bash -c script  in /w                1.00s
        ├─ $( ) → 3 B: "x"
        └─ $( ) ● sleep 9      no end seen"#,
    );
}

#[test]
fn a_sourced_file_is_told_once_and_startup_files_are_told() {
    check(
        &[
            shell_start(1, &json!({})),
            json!({"kind": "source", "seq": 2, "ts": 1001.0, "path": "/etc/profile"}),
            json!({"kind": "source", "seq": 3, "ts": 1002.0, "path": "./env.sh"}),
            exec(4, 1, "source ./env.sh", &json!({"type": "builtin"})),
            shell_end(5, 0),
        ],
        "
        bash -c script  in /w       1.00s
        ├─ sourced /etc/profile
        └─ ✓ source ./env.sh        3.4ms",
    );
}

#[test]
fn a_program_that_takes_the_shells_place_stays_inside_the_function_that_called_it() {
    let place = nesting(&["function:f"]);
    let mut begun = exec(2, 2, "exec prog", &json!({"type": "builtin", "parentCmd": 1, "nesting": place}));
    begun["kind"] = json!("exec-start");
    let mut around = exec(3, 1, "f", &json!({"type": "function"}));
    around["kind"] = json!("exec-start");
    check(
        &[
            shell_start(1, &json!({})),
            begun,
            around,
            exec(4, 2, "prog", &json!({"parentCmd": 2, "nesting": place, "replaced": true, "exitCode": null})),
        ],
        "
        bash -c script  in /w
        └─ ● f                            no end seen
           └─ ⇒ prog           took the shell's place",
    );
}
