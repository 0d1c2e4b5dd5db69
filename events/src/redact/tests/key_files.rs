//! Keys and passwords in the forms that files give them: wrapped, in blocks, in parts of forms.

use super::super::{StreamRedactor, redact};
use super::{ALNUM, BASE64URL, made_up};

/// Masks as a whole and byte by byte, which must come to the same.
fn masked(input: &str) -> String {
    let whole = redact(input.as_bytes()).bytes.into_owned();
    let mut stream = StreamRedactor::new();
    let mut pieces: Vec<u8> = input.as_bytes().iter().flat_map(|byte| stream.push(&[*byte])).collect();
    pieces.extend(stream.finish());
    assert_eq!(String::from_utf8_lossy(&pieces), String::from_utf8_lossy(&whole));
    String::from_utf8_lossy(&whole).into_owned()
}

#[test]
fn an_encoded_key_is_masked_to_its_last_line() {
    let [first, second, last] = [(46, 1), (76, 2), (20, 3)].map(|(len, seed)| made_up(ALNUM, len, seed));
    let begin = "LS0tLS1CRUdJTiBQUklWQVRFIEtFW";
    assert_eq!(masked(&format!("{begin}{first}\n{second}\n{last}==\ndone\n")), format!("{begin}****\ndone\n"));
    assert_eq!(masked(&format!("k: {begin}{first}\nother: text\n")), format!("k: {begin}****\nother: text\n"));
}

#[test]
fn of_a_putty_key_the_private_lines_are_masked() {
    let lines = [1, 2].map(|seed| made_up(ALNUM, 64, seed)).join("\n");
    let file =
        |body: &str| format!("Public-Lines: 1\nAAAAB3NzaC1yc2E\nPrivate-Lines: 3\n{body}Private-MAC: 0123abcd\n");
    let shown = masked(&file(&format!("{lines}\n{}=\n", made_up(ALNUM, 23, 4))));
    assert!(shown.contains("Public-Lines: 1\nAAAAB3NzaC1yc2E\nPrivate-Lines: 3\n****"), "{shown}");
    assert!(!lines.lines().any(|line| shown.contains(line)) && shown.contains("Private-MAC"), "{shown}");
}

#[test]
fn of_a_json_web_key_the_private_numbers_are_masked() {
    let [x, d, p] = [(43, 1), (43, 2), (171, 3)].map(|(len, seed)| made_up(BASE64URL, len, seed));
    let key = format!(r#"{{"kty":"EC","x":"{x}","d":"{d}", "p" : "{p}"}}"#);
    let expect = format!(r#"{{"kty":"EC","x":"{x}","d":"****", "p" : "****"}}"#);
    assert_eq!(masked(&key), expect);
    assert_eq!(masked(&key.replace('"', "\\\"")), expect.replace('"', "\\\""));
    let plain = r#"{"d": "a day of the week, as a text", "p": "x", "q": 12, "d": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#;
    assert_eq!(masked(plain), plain);
}

#[test]
fn a_value_may_stand_on_a_line_of_its_own() {
    assert_eq!(masked("password: |\n  hunter2x9\nuser: me\n"), "password: |\n  ****\nuser: me\n");
    assert_eq!(masked("db_password: >-\n    hunter2x9\n"), "db_password: >-\n    ****\n");
    assert_eq!(masked("description: |\n  password\n"), "description: |\n  password\n");
    let form =
        |value: &str| format!("--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n{value}\r\n--b--\r\n");
    assert_eq!(masked(&form("hunter2x9")), form("****"));
}
