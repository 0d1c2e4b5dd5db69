//! Look-alikes made for the rules: prefixes without a token, and the random-looking strings of ordinary work.
//!
//! Nothing here is a secret, and every line must come back as it was.

use super::tokens::TOKENS;
use super::{ALNUM, BASE64, BASE64URL, HEX, LOWER_DIGITS, UPPER_DIGITS, made_up};

/// Lines in which `%` stands for something random: its alphabet, its length, the line.
const WORK: &[(&str, usize, &str)] = &[
    (HEX, 40, "commit %"),
    (HEX, 40, "GITHUB_SHA=%"),
    (HEX, 40, "CI_COMMIT_SHA=%"),
    (HEX, 40, "Merge branch 'main' of github.com:a/b at %"),
    (HEX, 40, "100644 blob %\tsrc/main.rs"),
    (HEX, 7, "* % (HEAD -> main) fix the tests"),
    (HEX, 64, "checksum = \"%\""),
    (HEX, 64, "name = \"token\"\nversion = \"1.0.0\"\nchecksum = \"%\""),
    (HEX, 64, "--hash=sha256:%"),
    (HEX, 64, "Digest: sha256:%"),
    (HEX, 64, "FROM debian:12@sha256:%"),
    (HEX, 64, "docker exec -it % sh"),
    (HEX, 12, "Removing intermediate container %"),
    (HEX, 32, "MD5 (file.iso) = %"),
    (HEX, 32, "traceparent: 00-%-00f067aa0ba902b7-01"),
    (HEX, 40, "GPG_KEY=%"),
    (HEX, 16, "gpg: key %: public key imported"),
    (HEX, 40, "      %"),
    (HEX, 24, "ObjectId(\"%\")"),
    (HEX, 17, "InstanceId: i-%"),
    (HEX, 32, "etag: \"%\""),
    (HEX, 20, "dist/assets/index-%.js"),
    (BASE64, 43, "h1:%="),
    (HEX, 12, "define('DB_PASSWORD', getenv('DB_PASSWORD')); // %"),
    (HEX, 12, "define('DB_PASSWORD', ''); // %"),
    (HEX, 12, "define('PASSWORD_MIN_LENGTH', 12); // %"),
    (HEX, 12, "in_array('password', $columns) // %"),
    (BASE64, 1200, "    certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t%"),
    (BASE64, 1200, "  tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t%"),
    (BASE64, 500, "  cosign.pub: LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0%"),
    (HEX, 12, "e2b_template_% is built"),
    (BASE64, 86, "\"integrity\": \"sha512-%==\""),
    (BASE64, 64, "integrity=\"sha384-%\" crossorigin"),
    (BASE64, 43, "256 SHA256:% user@host (ED25519)"),
    (BASE64, 27, "|1|%=|rV7zXxN0aBcDeFgHiJkLmNoPqRs= ssh-ed25519 AAAA"),
    (BASE64URL, 43, "pip/_vendor/x.py,sha256=%,160"),
    (BASE64, 68, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI% user@host"),
    (BASE64, 400, "//# sourceMappingURL=data:application/json;base64,%"),
    (BASE64, 200, "background: url(data:image/png;base64,iVBORw0KGgo%)"),
    (LOWER_DIGITS, 5, "pod/web-7d9f8b6c5d-% 1/1 Running"),
    (LOWER_DIGITS, 46, "ipfs get bafybei%"),
    (ALNUM, 44, "ipfs get Qm%"),
    (ALNUM, 11, "https://video.example/watch?v=%"),
    (ALNUM, 21, "/_next/static/%/_buildManifest.js"),
    (ALNUM, 22, "https://docs.example/document/d/%/edit"),
    (UPPER_DIGITS, 26, "ulid 01J%"),
    (UPPER_DIGITS, 13, "arn:aws:iam::123456789012:role/AROA%"),
    (LOWER_DIGITS, 58, "age1%"),
    (BASE64, 64, "-----BEGIN CERTIFICATE REQUEST-----\n%\n-----END CERTIFICATE REQUEST-----"),
];

/// What stands after a prefix where no token does.
const NO_TOKENS: &[&str] =
    &["", "abc", "${NAME}", "<token>", "****", "...", "xxxxxxxxxxxxxxxxxxxx", "{{ value }}", "%s"];

/// All of them.
pub(super) fn all() -> Vec<String> {
    let mut lines = Vec::new();
    for (index, (alphabet, len, line)) in WORK.iter().enumerate() {
        lines.extend((1..=4).map(|seed| line.replace('%', &made_up(alphabet, *len, seed * 101 + index as u64))));
    }
    for (_, prefix, ..) in TOKENS {
        lines.extend(NO_TOKENS.iter().map(|rest| format!("see {prefix}{rest} in the docs")));
    }
    lines.extend((1..=60).map(base64_file));
    lines.extend((1..=20).map(hex_dump));
    lines.extend((1..=20).map(uuids));
    lines
}

/// What `base64 FILE` prints: lines of 76 letters, each of which begins a word.
fn base64_file(seed: u64) -> String {
    (0..40).map(|line| made_up(BASE64, 76, seed * 1000 + line) + "\n").collect()
}

fn hex_dump(seed: u64) -> String {
    let row = |line: u64| {
        let hex = made_up(HEX, 32, seed * 1000 + line);
        let pairs: Vec<&str> = (0..16).map(|pair| &hex[2 * pair..2 * pair + 2]).collect();
        format!("{:08x}  {}  {}  |................|\n", line * 16, pairs[..8].join(" "), pairs[8..].join(" "))
    };
    (0..16).map(row).collect()
}

fn uuids(seed: u64) -> String {
    let hex = |len, more: u64| made_up(HEX, len, seed * 7 + more);
    format!(
        "{}-{}-4{}-a{}-{} request done\nrequest_id={}-{}-4{}-b{}-{}",
        hex(8, 1),
        hex(4, 2),
        hex(3, 3),
        hex(3, 4),
        hex(12, 5),
        hex(8, 6),
        hex(4, 7),
        hex(3, 8),
        hex(3, 9),
        hex(12, 10)
    )
}
