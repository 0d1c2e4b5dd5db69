//! Arguments: what the flag before, the program or the form of the argument adds.
//!
//! Each case is a command line split on blanks, with `_` for a blank inside an argument.

use super::super::redact_argv;
use super::{ALNUM, made_up};

fn check(line: &str, expect: &str) {
    let argv: Vec<String> = line.split(' ').map(|word| word.replace('_', " ")).collect();
    let redacted = redact_argv(&argv);
    let shown: Vec<String> =
        redacted.argv.iter().map(|argument| String::from_utf8_lossy(argument).replace(' ', "_")).collect();
    assert_eq!(shown.join(" "), expect);
    assert_eq!(redacted.rules.is_empty(), line == expect, "{:?}", redacted.rules);
}

#[test]
fn a_value_after_a_secret_flag_is_masked() {
    check("tool --password hunter2 -v", "tool --password **** -v");
    check("tool --token abc --x y", "tool --token **** --x y");
    check("tool --api-key=abcd run", "tool --api-key=**** run");
    check("tool -password hunter2", "tool -password ****");
    check(
        "java -Djavax.net.ssl.keyStorePassword=changeit -jar a.jar",
        "java -Djavax.net.ssl.keyStorePassword=**** -jar a.jar",
    );
    check("tool --password my_long_phrase", "tool --password ****");
    check("tool --password=my_long_phrase", "tool --password=****");
}

#[test]
fn a_secret_spread_over_words_is_masked() {
    check("echo password: hunter2hunter2", "echo password: ****");
    check("echo Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789 x", "echo Authorization: Bearer **** x");
    check("git commit -m fix: token handling", "git commit -m fix: token handling");
    check("echo password: required", "echo password: required");
    check("echo note: see token: below", "echo note: see token: below");
}

#[test]
fn flags_of_known_programs_are_masked() {
    check("mysql -uroot -phunter2 db", "mysql -uroot -p**** db");
    check("/usr/bin/mysqldump -phunter2 db", "/usr/bin/mysqldump -p**** db");
    check("sshpass -p hunter2 ssh h", "sshpass -p **** ssh h");
    check("curl -u user:hunter2 https://h", "curl -u user:**** https://h");
    check("curl -uuser:hunter2 https://h", "curl -uuser:**** https://h");
    check("curl -H Authorization:_Bearer_abcdef12 https://h", "curl -H Authorization:_Bearer_**** https://h");
    check("curl -b sid=abcdef https://h", "curl -b sid=**** https://h");
    check("docker login -u u -p hunter2 r", "docker login -u u -p **** r");
    check("redis-cli -a hunter2 ping", "redis-cli -a **** ping");
    check("openssl rsa -passin pass:hunter2", "openssl rsa -passin pass:****");
    check("ssh-keygen -t rsa -N hunter2 -f k", "ssh-keygen -t rsa -N **** -f k");
    check("xcrun altool -u me -p hunter2", "xcrun altool -u me -p ****");
    check("ldapsearch -x -D cn=a -w hunter2", "ldapsearch -x -D cn=a -w ****");
    check("htpasswd -b file user hunter2", "htpasswd -b file user ****");
    check("smbclient //h/s -U user%hunter2", "smbclient //h/s -U user%****");
    check("zip -P hunter2 a.zip a", "zip -P **** a.zip a");
    check("7z a -phunter2 a.7z a", "7z a -p**** a.7z a");
    check("twine upload -u u -p hunter2 dist/a.whl", "twine upload -u u -p **** dist/a.whl");
    check(
        "twine upload --repository-url https://h -r pypi dist/a",
        "twine upload --repository-url https://h -r pypi dist/a",
    );
    check("sh -c 7z_a_-phunter2_a.7z_a", "sh -c 7z_a_-p****_a.7z_a");
    check("sh -c twine_upload_-u_u_-p_hunter2_dist/a", "sh -c twine_upload_-u_u_-p_****_dist/a");
    check("sh -c 7z_x_a.7z_-oout_-y", "sh -c 7z_x_a.7z_-oout_-y");
    check("sh -c cd_x.7z_a_-pretty", "sh -c cd_x.7z_a_-pretty");
}

#[test]
fn a_wrapped_program_is_recognised() {
    check("sudo -u root mysql -phunter2", "sudo -u root mysql -p****");
    check("env A=1 sshpass -phunter2 ssh h", "env A=1 sshpass -p**** ssh h");
    check("timeout 5 curl -u a:hunter2 h", "timeout 5 curl -u a:**** h");
}

#[test]
fn assignments_as_arguments_are_masked_to_their_end() {
    let redacted = redact_argv(&["env", "FOO_TOKEN=some words, and more", "cmd"]);
    assert_eq!(redacted.argv, [&b"env"[..], b"FOO_TOKEN=****", b"cmd"]);
    assert_eq!(redacted.rules, ["secret-assignment"]);
    let redacted = redact_argv(&["export", "AWS_SECRET_ACCESS_KEY=abcd", "B=c"]);
    assert_eq!(redacted.argv, [&b"export"[..], b"AWS_SECRET_ACCESS_KEY=****", b"B=c"]);
    assert_eq!(redacted.rules, ["aws-secret-key"]);
}

#[test]
fn a_setting_that_follows_its_name_is_masked() {
    let redacted = redact_argv(&["aws", "configure", "set", "aws_secret_access_key", "abcdef"]);
    assert_eq!(redacted.argv[4], &b"****"[..]);
    let redacted = redact_argv(&["flyctl", "secrets", "set", "STRIPE_KEY=abc123def456ghi"]);
    assert_eq!(redacted.argv[3], &b"STRIPE_KEY=****"[..]);
    let redacted = redact_argv(&["npm", "config", "set", "//r.example/:_authToken", "abcdef"]);
    assert_eq!(redacted.argv[4], &b"****"[..]);
}

#[test]
fn a_variable_that_another_shell_sets_is_masked() {
    check("set -x TOKEN hunter22", "set -x TOKEN ****");
    check("setx APIKEY hunter22", "setx APIKEY ****");
    check("setenv PASSWORD hunter22", "setenv PASSWORD ****");
    check("set -e", "set -e");
    check("set -euo pipefail", "set -euo pipefail");
    check("set -x PATH /bin:/usr/bin", "set -x PATH /bin:/usr/bin");
}

#[test]
fn a_token_in_an_argument_keeps_its_prefix() {
    let token = format!("ghp_{}", made_up(ALNUM, 36, 1));
    let argv =
        ["gh".to_owned(), "--token".to_owned(), token.clone(), format!("X_TOKEN={token}"), format!("curl {token} x")];
    let redacted = redact_argv(&argv);
    assert_eq!(redacted.argv, [&b"gh"[..], b"--token", b"ghp_****", b"X_TOKEN=ghp_****", b"curl ghp_**** x"]);
    assert_eq!(redacted.rules, ["github-token"]);
}

#[test]
fn a_script_given_as_an_argument_is_read_as_text() {
    check("sh -c mysql_-phunter2_db", "sh -c mysql_-p****_db");
    check("bash -c PASSWORD=hunter2_run", "bash -c PASSWORD=****_run");
    check("ssh h curl_-u_a:hunter2_https://h", "ssh h curl_-u_a:****_https://h");
}

#[test]
fn harmless_arguments_stay() {
    for line in [
        "git status",
        "ls -l",
        "mkdir -p dir",
        "ssh -p 22 host",
        "docker run -p 8080:80 -u 1000:1000 nginx",
        "docker login -u user --password-stdin r",
        "mysql -u root -p db",
        "tool --tokens 5",
        "tool --max-tokens 5",
        "tool --password-file /run/p",
        "tool --password /run/p",
        "tool --token $TOKEN",
        "tool --no-password -v",
        "gh auth login --with-token",
        "gcc -pthread -o a a.c",
        "npm i @scope/pkg",
        "git clone git@github.com:x/y",
        "export PATH=/bin",
        "curl -u user https://h",
        "openssl rsa -passin env:PW -passout stdin",
        "kubectl get secret db",
        "tool --password",
        "tool --key key.pem",
        "git config user.name a",
    ] {
        check(line, line);
    }
}

#[test]
fn no_arguments_give_none() {
    assert!(redact_argv::<&[u8]>(&[]).argv.is_empty());
}
