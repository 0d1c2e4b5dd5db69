//! Words that must not stand in the repository: names of package hosts, paths of one machine, unfinished business.
//!
//! They are put together here from pieces, so that this file holds none of them.

use crate::rig::repository::{files, text};

/// A word, and why it must not be there.
fn forbidden() -> Vec<(String, &'static str)> {
    let glue = |pieces: &[&str]| pieces.concat();
    let host = "the name of a package host";
    let machine = "a path of one machine";
    let unfinished = "unfinished business";
    vec![
        (glue(&["static.", "crates.io"]), host),
        (glue(&["index.", "crates.io"]), host),
        (glue(&["registry.", "npmjs"]), host),
        (glue(&["files.", "pythonhosted"]), host),
        (glue(&["deb.", "debian.org"]), host),
        (glue(&["proxy.", "golang.org"]), host),
        (glue(&["/wo", "rk/"]), machine),
        (glue(&["/ro", "ot/"]), machine),
        (glue(&["/tmp/", "scratch"]), machine),
        (glue(&["/.car", "go/registry"]), machine),
        (glue(&["TO", "DO"]), unfinished),
        (glue(&["FIX", "ME"]), unfinished),
        (glue(&["XX", "X:"]), unfinished),
        (glue(&["HA", "CK:"]), unfinished),
        (glue(&["to", "do!("]), unfinished),
        (glue(&["unimpl", "emented!("]), unfinished),
        (glue(&["#[ign", "ore]"]), "a test that is skipped"),
    ]
}

#[test]
fn no_file_holds_a_word_that_must_not_be_there() {
    let forbidden = forbidden();
    let mut found = Vec::new();
    for path in files() {
        // Lock files are cargo's.
        if path.extension().is_some_and(|extension| extension == "lock") {
            continue;
        }
        let is_patch = path.extension().is_some_and(|extension| extension == "patch");
        for (number, line) in text(&path).lines().enumerate() {
            // What a patch leaves or takes away was written by others.
            if is_patch && (line.starts_with(' ') || line.starts_with('-')) {
                continue;
            }
            let bad = forbidden.iter().filter(|(word, _)| stands_in(line, word));
            found.extend(bad.map(|(word, why)| format!("{}:{}: {word}: {why}", path.display(), number + 1)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_search_finds_what_it_looks_for() {
    for (word, _) in forbidden() {
        assert!(stands_in(&format!("see {word} there"), &word), "{word}");
    }
    assert!(!stands_in("see homework/list", &["/wo", "rk/"].concat()));
    assert!(!stands_in("AUTODOC", &["TO", "DO"].concat()));
}

/// Whether a word stands in a line and is not a part of a longer word.
fn stands_in(line: &str, word: &str) -> bool {
    let is_part =
        |character: Option<char>| character.is_some_and(|character| character.is_alphanumeric() || character == '.');
    let starts_in_a_word = word.starts_with(|character: char| character.is_alphanumeric() || character == '/');
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let goes_on = word.chars().all(char::is_uppercase) && is_part(after);
        !(goes_on || starts_in_a_word && is_part(before))
    })
}
