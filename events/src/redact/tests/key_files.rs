//! Keys and passwords in the forms that files give them: wrapped, in blocks, in parts of forms.

use super::super::{StreamRedactor, redact, redact_truncated};
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
fn a_key_is_masked_whatever_stands_before_its_lines() {
    let lines = [64, 64, 64, 28].map(|len| made_up(ALNUM, len, len as u64 + 7));
    for (before, after) in [
        ("+", ""),
        ("    ", ""),
        ("12:", ""),
        ("id_rsa:", ""),
        ("conf/tls.key-3-", ""),
        ("web_1  | ", ""),
        ("# ", ""),
        ("// ", ""),
        ("> ", ""),
        (" * ", ""),
        ("[info] ", ""),
        ("2026-01-01T00:00:00Z ", ""),
        ("\x1b[32m+", "\x1b[m"),
        ("\x1b[35mid_rsa\x1b[m\x1b[36m:\x1b[m", ""),
        ("  \"", "\","),
        ("", "\r"),
    ] {
        let marker = |word: &str| format!("{before}-----{word} RSA PRIVATE KEY-----{after}\n");
        let body = format!("{before}{}{after}\n", lines.join(&format!("{after}\n{before}")));
        let header = format!("{before}Proc-Type: 4,ENCRYPTED{after}\n{before}{after}\n");
        for head in [String::new(), header] {
            let file = format!("{}{head}{body}{}next\n", marker("BEGIN"), marker("END"));
            let shown = masked(&file);
            assert!(!lines.iter().any(|line| shown.contains(line)), "{before:?}: {shown}");
            assert!(shown.starts_with(&format!("{before}-----BEGIN RSA PRIVATE KEY-----****")), "{shown}");
            assert!(shown.ends_with(&format!("-----END RSA PRIVATE KEY-----{after}\nnext\n")), "{shown}");
            let cut = redact_truncated(&file.as_bytes()[..file.len() - 100]).bytes.into_owned();
            assert!(!lines.iter().any(|line| String::from_utf8_lossy(&cut).contains(&line[..20])), "{before:?}");
        }
        let open = masked(&format!("{}{body}", marker("BEGIN")));
        assert!(!lines.iter().any(|line| open.contains(line)), "{before:?}: {open}");
    }
    for plain in [
        "if text.contains(\"-----BEGIN RSA PRIVATE KEY-----\") {\n    readTheKeyOfThisFileAndNothingElse(text);\n}\n",
        "# -----BEGIN PRIVATE KEY-----\n# the key goes here\n# -----END PRIVATE KEY-----\n",
    ] {
        assert_eq!(masked(plain), plain);
    }
}

#[test]
fn colours_hide_no_secret() {
    let secret = made_up(ALNUM, 40, 3);
    for text in [
        "\x1b[34;1m\"password\"\x1b[0m\x1b[39m:\x1b[0m \x1b[0;32m\"@\"\x1b[0m\n",
        "\x1b[35mexport\x1b[0m \x1b[36mDB_PASSWORD\x1b[0m=\x1b[33m@\x1b[0m\n",
        "\x1b[36mAuthorization\x1b[39;49;00m:\x1b[37m \x1b[39;49;00m@\n",
        "\x1b[36mAuthorization\x1b[0m: \x1b[33mBearer @\x1b[0m\n",
        "config.yml:\x1b[01;31m\x1b[Kpassword\x1b[m\x1b[K: @\n",
        "\x1b[1mAPI_TOKEN\x1b[0m=@\n",
    ] {
        let shown = masked(&text.replace('@', &secret));
        assert_eq!(shown, text.replace('@', "****"));
    }
    let plain = "\x1b[1mpassword\x1b[0m: \x1b[32mok\x1b[0m and \x1b[1mkey\x1b[0m is set\n";
    assert_eq!(masked(plain), plain);
}

#[test]
fn passwords_of_accounts_are_masked_in_statements() {
    for text in [
        "CREATE USER bob IDENTIFIED BY '@';",
        "create user 'bob'@'%' identified with mysql_native_password by '@';",
        "ALTER ROLE bob WITH LOGIN PASSWORD '@' VALID UNTIL 'infinity';",
        "psql -c \"create role bob with encrypted password '@'\"",
        "SET PASSWORD FOR 'bob'@'h' = PASSWORD('@');",
    ] {
        let at = text.replace("'%'", "'h'").replace("'@'h'", "'_'h'").replace("'@'", "'hunter2x'");
        assert_eq!(masked(&at), at.replace("hunter2x", "****"), "{text}");
    }
    for plain in [
        "the password 'hunter2' was in the film",
        "identified by the police",
        "IDENTIFIED BY :password",
        "alter role bob with password '$PASSWORD'",
        "ALTER ROLE bob WITH PASSWORD '';",
    ] {
        assert_eq!(masked(plain), plain);
    }
    assert_eq!(masked("AUTH PLAIN AHVzZXIAaHVudGVyMng5\r\n"), "AUTH PLAIN ****\r\n");
    assert_eq!(
        masked("250-AUTH PLAIN LOGIN\r\nthe server offers AUTH PLAIN authentication\n"),
        "250-AUTH PLAIN LOGIN\r\nthe server offers AUTH PLAIN authentication\n"
    );
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
