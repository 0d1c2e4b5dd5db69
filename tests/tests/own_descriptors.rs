//! Descriptors that are the shell's own, where a script wants their numbers.
//!
//! What data is told of is `data`'s business.

use crate::data::told_with;

#[test]
fn a_script_that_takes_the_shells_own_descriptors_gets_them_and_is_told_of_all_the_same() {
    let take_all = r#"for fd in $(ls /proc/$$/fd); do case $fd in [0-2] | 255) ;; *) eval "exec $fd>&-" ;; esac; done"#;
    let cases = [
        ("exec 800> f; echo hi >&800; touch x; exec 800>&-", "hi\n"),
        ("(echo hi >&800; touch x) 800> f", "hi\n"),
        ("{ echo hi >&800; touch x; } 800> f", "hi\n"),
        ("exec 800>&-; touch x > f", ""),
        (&format!("{take_all}; touch x > f"), ""),
    ];
    for (script, content) in cases {
        let told = told_with(&format!("{script}\ntrue | cat"), |_| {});
        assert_eq!((told.ended.err(), told.read("f")), (String::new(), content.to_owned()), "{script}");
        let programs = told.programs();
        for name in ["touch", "cat"] {
            assert!(programs.iter().any(|program| program == name), "{script}: {programs:?}");
        }
    }
}
