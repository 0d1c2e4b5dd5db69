//! Process substitutions of commands that run in processes of their own: what they carried, and the files behind them.
//!
//! Those of the shell's own commands are looked at with all other pipes.

use super::{shown, told};

#[test]
fn process_substitutions_of_a_stage_that_is_a_program_are_told_whole() {
    let script = "echo hello | tee >(tr a-z A-Z > u) > /dev/null; sleep 0.3; echo more >| u; comm -12 <(seq 3) <(seq 4) | wc -l > n";
    let told = told(script);
    let mut crossed: Vec<_> = told.pipes().iter().map(|pipe| shown(pipe.data.as_ref())).collect();
    crossed.sort_unstable();
    assert_eq!(crossed, [(6, "1\n2\n3\n"), (6, "1\n2\n3\n"), (6, "hello\n"), (6, "hello\n"), (8, "1\n2\n3\n4\n")]);
    assert!(told.pipes().iter().all(|pipe| !pipe.still_open), "{:#?}", told.pipes());
    let redirects = told.redirects();
    let by_tr = redirects.iter().find(|redirect| redirect.op == ">" && redirect.target == told.to_file("u").target);
    assert_eq!(shown(by_tr.unwrap().data.as_ref()), (6, "HELLO\n"));
}
