//! What administrators' rules find in a text, and what is said of files that can't be used.
//!
//! Rules and secrets are made up.

use nash_correlator::rules::{Piece, Rules, mask};

/// Sixteen letters and digits without a meaning.
const BODY: &str = "q7x2m9k4w1z8b5n3";

fn rules(text: &str) -> Rules {
    let (rules, warnings) = Rules::parse(text).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    rules
}

fn masked(rules: &Rules, piece: &Piece<'_>) -> (String, Vec<String>) {
    let found = rules.find(piece);
    let mut ids: Vec<String> = found.iter().flat_map(|finding| &finding.rules).map(|id| (*id).to_owned()).collect();
    ids.sort();
    ids.dedup();
    (String::from_utf8_lossy(&mask(piece.text, &found)).into_owned(), ids)
}

/// Checks one text against the rules of a file; `@` stands for the body of a secret.
#[track_caller]
fn check(file: &str, text: &str, expect: &str, ids: &[&str]) {
    check_in(file, None, text, expect, ids);
}

#[track_caller]
fn check_in(file: &str, path: Option<&str>, text: &str, expect: &str, ids: &[&str]) {
    let text = text.replace('@', BODY);
    let piece = Piece { text: text.as_bytes(), path: path.map(str::as_bytes), cut: false };
    let (shown, by) = masked(&rules(file), &piece);
    assert_eq!(
        (shown.as_str(), by),
        (expect.replace('@', BODY).as_str(), ids.iter().map(|id| (*id).to_owned()).collect())
    );
}

const TOKEN: &str = "[[rules]]\nid = 'acme'\nregex = '''acme_[a-z0-9]{16}'''\nkeywords = ['ACME_']\n";
const ASSIGNED: &str = "[[rules]]\nid = 'pin'\nregex = '''(pin|code)\\s*=\\s*(\\w+)'''\n";

#[test]
fn a_match_is_masked_and_a_keyword_at_its_beginning_stays() {
    check(TOKEN, "a acme_@ b acme_@.", "a acme_**** b acme_****.", &["acme"]);
    check(TOKEN, "acme_@@", "acme_****@", &["acme"]);
    check(TOKEN, "acme_short acme-@ @", "acme_short acme-@ @", &[]);
    // Of a secret that is little more than its keyword nothing is shown.
    check("[[rules]]\nid = 'x'\nregex = 'hunter2!'\nkeywords = ['hunter2']", "is hunter2!", "is ****", &["x"]);
}

#[test]
fn the_secret_is_the_group_that_is_named_or_the_first_that_took_part() {
    check(&format!("{ASSIGNED}secretGroup = 2"), "pin = @, code=@", "pin = ****, code=****", &["pin"]);
    check(ASSIGNED, "pin = @", "**** = @", &["pin"]);
    check("[[rules]]\nid = 'x'\nregex = 'a(?:(b+)|(c+))d'", "abbd accd", "a****d a****d", &["x"]);
    check("[[rules]]\nid = 'x'\nregex = 'a(b*)cc'", "acc", "****", &["x"]);
}

#[test]
fn a_rule_with_keywords_needs_one_of_them_in_any_case() {
    let file = "[[rules]]\nid = 'x'\nregex = '[a-z0-9]{16}'\nkeywords = ['Alpha', 'beta']\n";
    check(file, "key @", "key @", &[]);
    check(file, "BETA key @", "BETA key ****", &["x"]);
    check(&file.replace("'beta'", "''"), "key @", "key ****", &["x"]);
    // Keywords that overlap wake each its own rule.
    let two = "[[rules]]\nid = 'a'\nregex = 'x[0-9]+'\nkeywords = ['token']\n[[rules]]\nid = 'b'\nregex = 'y[0-9]+'\nkeywords = ['my_token_is']\n";
    check(two, "my_token_is x1 y2", "my_token_is **** ****", &["a", "b"]);
}

#[test]
fn a_secret_must_exceed_its_rules_entropy() {
    let file = "[[rules]]\nid = 'x'\nregex = 'k=(\\w{16})'\nentropy = 3\n";
    check(file, "k=@ k=aaaaaaaabbbbbbbb", "k=**** k=aaaaaaaabbbbbbbb", &["x"]);
    check(&file.replace("= 3", "= 4.5"), "k=@", "k=@", &[]);
}

#[test]
fn a_rule_with_a_path_applies_to_the_content_of_such_files_alone() {
    let file = format!("{TOKEN}path = '''\\.env$'''");
    check_in(&file, Some("/w/.env"), "acme_@", "acme_****", &["acme"]);
    check_in(&file, Some("/w/.envrc"), "acme_@", "acme_@", &[]);
    check(&file, "acme_@", "acme_@", &[]);
    let whole = "[[rules]]\nid = 'keystore'\npath = '''\\.p12$'''";
    check_in(whole, Some("/w/a.p12"), "anything", "****", &["keystore"]);
    check_in(whole, Some("/w/a.p12"), "****", "****", &[]);
    check(whole, "a.p12", "a.p12", &[]);
}

#[test]
fn allowlists_leave_alone_what_they_name() {
    let list = |text: &str| format!("{TOKEN}[[rules.allowlists]]\n{text}\n");
    let stays = |text: &str| check(&list(text), "id acme_@", "id acme_@", &[]);
    let goes = |text: &str| check(&list(text), "id acme_@", "id acme_****", &["acme"]);
    stays("regexes = ['^acme_q7']");
    goes("regexes = ['^id']");
    stays("regexes = ['^id']\nregexTarget = 'line'");
    stays("stopwords = ['nothing', 'X2M9']");
    goes("stopwords = ['nothing']");
    goes("paths = ['x']");
    goes("commits = []");
    stays("regexes = ['q7']\nstopwords = ['m9']\ncondition = 'AND'");
    goes("regexes = ['q8']\nstopwords = ['m9']\ncondition = 'and'");
    goes("condition = 'AND'");
    // The same in older files, and for all rules or some.
    check(&format!("{TOKEN}[rules.allowlist]\nregexes = ['q7']"), "acme_@", "acme_@", &[]);
    check(&format!("[allowlist]\nregexes = ['q7']\n{TOKEN}"), "acme_@", "acme_@", &[]);
    check(&format!("{TOKEN}[[allowlists]]\nstopwords = ['q7']\ntargetRules = ['acme']"), "acme_@", "acme_@", &[]);
    let two =
        format!("{TOKEN}{}[[allowlists]]\nstopwords = ['q7']\ntargetRules = ['b']", TOKEN.replace("'acme'", "'b'"));
    check(&two, "acme_@", "acme_****", &["acme"]);
    let by_path = list("paths = ['^/w/test/']");
    check_in(&by_path, Some("/w/test/a"), "acme_@", "acme_@", &[]);
    check_in(&by_path, Some("/w/a"), "acme_@", "acme_****", &["acme"]);
}

#[test]
fn a_match_target_is_all_that_the_rule_matched() {
    let file = format!("{ASSIGNED}secretGroup = 2\n[[rules.allowlists]]\nregexTarget = 'match'\nregexes = ['^code']");
    check(&file, "pin=@ code=@", "pin=**** code=@", &["pin"]);
}

#[test]
fn findings_that_overlap_become_one_mask_of_both_rules() {
    let two = format!("{TOKEN}[[rules]]\nid = 'after'\nregex = '''is (\\S+)'''\n");
    check(&two, "it is acme_@-more.", "it is ****", &["acme", "after"]);
    // What is masked already is not found again.
    check(&two, "it is ****", "it is ****", &[]);
}

#[test]
fn classes_are_of_ascii_and_other_letters_are_bytes_unless_a_rule_names_them() {
    let text = "k=h\u{e9}llo1";
    check("[[rules]]\nid = 'x'\nregex = 'k=(\\w+)'", text, "k=****\u{e9}llo1", &["x"]);
    check("[[rules]]\nid = 'x'\nregex = 'k=(\\p{L}+)'", text, "k=****1", &["x"]);
    check("[[rules]]\nid = 'x'\nregex = 'k=([h\u{e9}]+)'", text, "k=****llo1", &["x"]);
    let rules = rules("[[rules]]\nid = 'x'\nregex = 'k=(\\w+)'");
    let text = b"\xff\0k=abc\xfe";
    let found = rules.find(&Piece { text, ..Piece::default() });
    assert_eq!(mask(text, &found), b"\xff\0k=****\xfe");
}

#[test]
fn the_beginning_of_a_secret_at_a_cut_is_masked_wherever_the_cut_is() {
    let file = format!(
        "{TOKEN}[[rules]]\nid = 'header'\nregex = '''x-acme-key:\\s*([a-z0-9]{{16}})'''\nkeywords = ['x-acme']\n"
    );
    let rules = rules(&file);
    for whole in [format!("some words acme_{BODY}"), format!("some words x-acme-key: {BODY}")] {
        let body = whole.len() - BODY.len();
        for shown in body + 6..whole.len() {
            let (text, ids) = masked(&rules, &Piece { text: &whole.as_bytes()[..shown], path: None, cut: true });
            assert!(!text.contains(&BODY[..3]) && text.starts_with("some words ") && ids.len() == 1, "{text}");
        }
    }
    // Without a cut there is nothing more to come.
    let half = &format!("acme_{}", &BODY[..10]);
    assert_eq!(masked(&rules, &Piece { text: half.as_bytes(), path: None, cut: false }).1, Vec::<String>::new());
    // And what can't go on stays.
    for other in [format!("acme_{}. And more", &BODY[..10]), "words at the end of a text".to_owned()] {
        assert_eq!(masked(&rules, &Piece { text: other.as_bytes(), path: None, cut: true }).0, other);
    }
}

#[test]
fn a_file_that_cannot_be_used_is_an_error_with_its_line() {
    for (text, line, reason) in [
        ("[[rules]]\nid = 'a'\n\nregex = 'a('", 4, "the regular expression in rule \"a\": unclosed group"),
        ("[[rules]]\nid = 'a'\nregex = 'a'\nregex = 'b'", 4, "duplicate key"),
        ("[[rules]]\nid = 3", 2, "invalid type: integer `3`, expected a string"),
        ("\n[[rules]]\nregex = 'a'", 2, "a rule without an id"),
        ("[[rules]]\nid = 'a'\nkeywords = ['a']", 1, "rule \"a\" has neither a regex nor a path"),
        (
            "[[rules]]\nid = 'a'\nregex = '(a)'\nsecretGroup = 2",
            4,
            "secretGroup = 2 in rule \"a\", whose regex has 1 groups",
        ),
        (
            "[[rules]]\nid = 'a'\nregex = 'a'\npath = '*'",
            4,
            "the regular expression in rule \"a\": repetition operator",
        ),
        ("[allowlist]\nregexes = [\n'a',\n'[']\n", 4, "the regular expression in an allowlist at the top: unclosed"),
        ("[[rules]]\nid = 'a'\nregex = 'a'\n[[rules.allowlists]]\ncondition = 'XOR'", 5, "expected \"OR\" or \"AND\""),
        ("[allowlist]\nregexTarget = 'file'", 2, "expected \"secret\", \"match\" or \"line\""),
        ("[[allowlists]]\ntargetRules = ['b']", 2, "no rule \"b\" for this allowlist"),
        ("[[rules]]\nid = 'a'\nregex = '(?:\\w{1000}){1000}'", 3, "takes more than"),
        ("rules = [", 1, ""),
    ] {
        let error = Rules::parse(text).unwrap_err();
        assert!(error.line == line && error.reason.contains(reason), "{text:?}: {error}");
    }
}

#[test]
fn what_has_no_effect_is_said_and_the_rest_counts() {
    let file = format!(
        "title = 't'\nminVersion = 'v8'\nnovelty = 1\n[extend]\nuseDefault = true\npath = 'b'\n{TOKEN}description = 'd'\n\
         tags = ['x']\nverify = true\n[rules.allowlist]\nregexs = ['q']\ncommits = ['c']\n\
         [[rules]]\nid = 'part'\nregex = 'q7'\nskipReport = true\n"
    );
    let (rules, warnings) = Rules::parse(&file).unwrap();
    let said = warnings.join("\n");
    for word in ["novelty", "extend.useDefault", "--rules", "verify", "regexs", "commits", "skipReport"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(warnings.len(), 7, "{said}");
    let text = format!("acme_{BODY}");
    assert_eq!(masked(&rules, &Piece { text: text.as_bytes(), ..Piece::default() }).0, "acme_****");
}
