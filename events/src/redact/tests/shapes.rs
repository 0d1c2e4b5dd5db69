//! What a mask looks like.
//!
//! Prefix, name, user and scheme stay; the length of the secret does not show.

use super::super::{redact, redact_truncated};
use super::{ALNUM, HEX, made_up, secrets};

fn check(input: &str, expect: &str, rules: &[&str]) {
    let redaction = redact(input.as_bytes());
    assert_eq!(String::from_utf8_lossy(&redaction.bytes), expect);
    assert_eq!(redaction.rules, rules);
}

#[test]
fn a_token_keeps_its_prefix_and_loses_its_length() {
    let token = format!("ghp_{}", made_up(ALNUM, 36, 1));
    check(&token, "ghp_****", &["github-token"]);
    check(&format!("{token}{}", made_up(ALNUM, 900, 2)), "ghp_****", &["github-token"]);
}

#[test]
fn a_token_in_a_secret_variable_is_reported_as_what_it_is() {
    let token = format!("ghp_{}", made_up(ALNUM, 36, 1));
    check(&format!("GITHUB_TOKEN={token}"), "GITHUB_TOKEN=ghp_****", &["github-token"]);
    check(&format!("https://u:{token}@github.com/x"), "https://u:ghp_****@github.com/x", &["github-token"]);
    check(&format!("Authorization: token {token}"), "Authorization: token ghp_****", &["github-token"]);
}

#[test]
fn an_address_keeps_user_and_host() {
    check("https://user:hunter2@h.example/x", "https://user:****@h.example/x", &["url-credentials"]);
    check("amqp://u:p%40ss@h:5672//", "amqp://u:****@h:5672//", &["url-credentials"]);
    check("redis://:hunter2@h:6379", "redis://:****@h:6379", &["url-credentials"]);
    check("postgres://u:p@ss@h/db", "postgres://u:****@h/db", &["url-credentials"]);
}

#[test]
fn a_header_keeps_its_scheme() {
    check("Authorization: Bearer abc123def456", "Authorization: Bearer ****", &["authorization-header"]);
    check("authorization: basic dTpw", "authorization: basic ****", &["authorization-header"]);
    check("Set-Cookie: sid=abc; Path=/", "Set-Cookie: sid=****; Path=/", &["cookie"]);
}

#[test]
fn a_private_key_keeps_its_marker_lines() {
    let key = format!("-----BEGIN EC PRIVATE KEY-----\n{}\n-----END EC PRIVATE KEY-----\n", made_up(ALNUM, 64, 3));
    check(&key, "-----BEGIN EC PRIVATE KEY-----****-----END EC PRIVATE KEY-----\n", &["private-key"]);
}

#[test]
fn an_assignment_keeps_name_and_quotes() {
    check("export DB_PASSWORD='changeme' X=1", "export DB_PASSWORD='****' X=1", &["password-assignment"]);
    check("password=ab&cd\n", "password=****\n", &["password-assignment"]);
    check("a=1&password=abc&b=2", "a=1&password=****&b=2", &["password-assignment"]);
}

#[test]
fn a_command_in_text_keeps_its_quotes() {
    check("sshpass -p 'a b' ssh h", "sshpass -p '****' ssh h", &["command-secret"]);
    check("curl -u 'a:b c' h", "curl -u 'a:****' h", &["command-secret"]);
    check("mysql -p'a b' db", "mysql -p'****' db", &["command-secret"]);
}

#[test]
fn two_secrets_in_one_text_are_both_masked() {
    let text = format!("AKIA{} and sk_live_{}", "Q7".repeat(8), made_up(HEX, 24, 5));
    check(&text, "AKIA**** and sk_live_****", &["aws-access-key-id", "stripe-key"]);
}

#[test]
fn a_secret_cut_off_by_the_bound_of_a_preview_is_masked() {
    for secret in secrets::all() {
        let from = secret.text.find(&secret.body).unwrap();
        for shown in (from + 10..from + secret.body.len()).filter(|_| secret.is_token) {
            if !secret.text.is_char_boundary(shown) {
                continue;
            }
            let cut = redact_truncated(&secret.text.as_bytes()[..shown]);
            let text = String::from_utf8_lossy(&cut.bytes);
            assert!(!text.contains(&secret.body[..10]), "{}: {text}", secret.rule);
        }
    }
    let cut = redact_truncated(b"git clone https://user:hunter");
    assert_eq!(&*cut.bytes, b"git clone https://user:****");
    let whole = redact_truncated(b"see http://localhost:80");
    assert_eq!(&*whole.bytes, b"see http://localhost:80");
}
