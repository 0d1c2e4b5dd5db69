//! Secrets known by what surrounds them: keys in PEM, headers, addresses, assignments, command lines.
//!
//! Each of these has a grammar of its own in `grammars/`; this table only says which keywords wake it.

use super::super::bytes::Set;
use super::super::grammars::{assignment, command, header, key_file, pem, provider, sql, url};
use super::super::rule::{Part, Rule};
use super::super::value;

/// The private numbers of a JSON Web Key, in JSON and in JSON within a text.
const JSON_WEB_KEY: &[&str] =
    &["\"d\"", "\"d\\", "\"p\"", "\"p\\", "\"q\"", "\"q\\", "\"dp\"", "\"dp\\", "\"dq\"", "\"dq\\", "\"qi\"", "\"qi\\"];

pub(super) const RULES: &[Rule] = &[
    Rule::grammar("private-key", &["-----BEGIN "], pem::private_key),
    // Each begins with `-----BEGIN … PRIVATE KEY`, so that certificates and public keys stay.
    Rule::grammar(
        "encoded-private-key",
        &[
            "LS0tLS1CRUdJTiBQUklWQVRFIEtFW",
            "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRV",
            "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFW",
            "LS0tLS1CRUdJTiBEU0EgUFJJVkFURSBLRV",
            "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ",
            "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRV",
        ],
        key_file::encoded,
    )
    .not_after(Set::WORD),
    Rule::grammar("putty-private-key", &["private-lines:"], key_file::putty),
    Rule::grammar("json-web-key", JSON_WEB_KEY, key_file::json_web_key),
    Rule::grammar("jwt", &["eyJ"], provider::json_web_token).not_after(Set::BASE64URL.or(Set::DOT).or(Set::PLUS)),
    Rule::grammar("authorization-header", &["authorization"], header::authorization),
    Rule::grammar("authorization-header", &["bearer "], header::bearer).not_after(Set::WORD),
    Rule::grammar("cookie", &["cookie:"], header::cookie),
    Rule::grammar("sql-password", &["identified by", "identified with"], sql::identified).not_after(Set::WORD),
    Rule::grammar("sql-password", &["password '", "password('"], sql::password).not_after(Set::WORD),
    Rule::token("smtp-credentials", &["AUTH PLAIN ", "AUTH LOGIN "], &[Part::Secret(Set::BASE64, 12, 512)])
        .any_case()
        .only_if(value::is_issued_in_both_cases),
    Rule::grammar("url-credentials", &["://"], url::credentials),
    Rule::grammar(
        "secret-assignment",
        &["pass", "pwd", "secret", "token", "key", "auth", "cred", "_pat", "psk"],
        assignment::read,
    ),
    Rule::grammar("command-secret", command::KEYWORDS, command::read).not_after(Set::NAME),
];
