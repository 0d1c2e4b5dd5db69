//! Judges names: does a variable, key, header or flag of this name hold a secret?
//!
//! Only the name is looked at. What its value must look like follows from the strength returned here.

/// Longest name judged, in bytes. Longer ones are data.
pub(crate) const NAME_LEN_MAX: usize = 64;

/// How surely a name tells that its value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// `token`, `auth`: the value must look like a secret too.
    Weak,
    /// `client_secret`: any value in a tight assignment (`name=value`).
    Medium,
    /// `password`: any value.
    Strong,
}

/// A name that may hold a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SecretName {
    pub(crate) strength: Strength,
    pub(crate) rule: &'static str,
    /// Written in capitals, as the environment has it.
    pub(crate) environment: bool,
}

/// Nouns at the end of a name. Those that start with `_` must be a word of their own.
const NOUNS: &[(&str, Strength)] = &[
    ("password", Strength::Strong),
    ("passwd", Strength::Strong),
    ("passphrase", Strength::Strong),
    ("passcode", Strength::Strong),
    ("passwort", Strength::Strong),
    ("_pass", Strength::Strong),
    ("requirepass", Strength::Strong),
    ("masterauth", Strength::Strong),
    ("dbpass", Strength::Strong),
    ("userpass", Strength::Strong),
    ("_pwd", Strength::Strong),
    ("secret", Strength::Medium),
    ("api_key", Strength::Medium),
    ("apikey", Strength::Medium),
    ("access_key", Strength::Medium),
    ("accesskey", Strength::Medium),
    ("secret_key", Strength::Medium),
    ("secretkey", Strength::Medium),
    ("private_key", Strength::Medium),
    ("privatekey", Strength::Medium),
    ("secret_key_base", Strength::Medium),
    ("account_key", Strength::Medium),
    ("accountkey", Strength::Medium),
    ("encryption_key", Strength::Medium),
    ("signing_key", Strength::Medium),
    ("master_key", Strength::Medium),
    ("shared_key", Strength::Medium),
    ("storage_key", Strength::Medium),
    ("auth_key", Strength::Medium),
    ("service_key", Strength::Weak),
    ("admin_key", Strength::Medium),
    ("app_key", Strength::Weak),
    ("application_key", Strength::Weak),
    ("deploy_key", Strength::Weak),
    ("license_key", Strength::Weak),
    ("subscription_key", Strength::Weak),
    ("session_key", Strength::Weak),
    ("_psk", Strength::Medium),
    ("token", Strength::Weak),
    ("_key", Strength::Weak),
    ("_auth", Strength::Weak),
    ("_pat", Strength::Weak),
    ("_credential", Strength::Weak),
    ("_credentials", Strength::Weak),
    ("_creds", Strength::Weak),
];

/// Words that turn a name into something else: a switch, a limit, a position in a list.
const DISARMING: &[&str] = &[
    "public",
    "cache",
    "gpg",
    "primary",
    "foreign",
    "sort",
    "host",
    "known",
    "registry",
    "hot",
    "max",
    "min",
    "num",
    "count",
    "total",
    "no",
    "has",
    "is",
    "use",
    "with",
    "show",
    "hide",
    "ask",
    "prompt",
    "read",
    "enable",
    "disable",
    "allow",
    "forgot",
    "require",
    "required",
    "requires",
    "invalid",
    "missing",
    "wrong",
    "incorrect",
    "next",
    "page",
    "continuation",
    "pagination",
    "sync",
    "cancellation",
    "cancel",
    "bos",
    "eos",
    "pad",
    "unk",
    "mask",
    "special",
    "start",
    "end",
    "stop",
    "new_line",
    "expected",
    "unexpected",
    "old_pwd",
    "last",
    "first",
    "prev",
    "previous",
    "current",
    "each",
    "per",
    "empty",
    "generate",
    "idempotency",
    "paging",
    "next_page",
    "lookahead",
    "skip",
    "without",
];

/// Words that may follow the noun without changing what it names.
const SUFFIXES: &[&str] = &[
    "prod",
    "production",
    "dev",
    "development",
    "staging",
    "stage",
    "test",
    "testing",
    "qa",
    "old",
    "new",
    "live",
    "b64",
    "base64",
    "value",
    "plain",
    "plaintext",
    "v1",
    "v2",
    "primary",
    "secondary",
    "default",
    "root",
    "admin",
    "dummy",
];

/// Providers whose keys are only known by the name they are assigned to.
const VENDORS: &[(&str, &str)] = &[
    ("aws_secret", "aws-secret-key"),
    ("secret_access_key", "aws-secret-key"),
    ("aws_session_token", "aws-session-token"),
    ("aws_security_token", "aws-session-token"),
    ("amz_security_token", "aws-session-token"),
    ("azure", "azure-secret"),
    ("arm_client_secret", "azure-secret"),
    ("account_key", "azure-storage-key"),
    ("datadog", "datadog-key"),
    ("dd_api", "datadog-key"),
    ("dd_app", "datadog-key"),
    ("cloudflare", "cloudflare-key"),
    ("cf_api", "cloudflare-key"),
    ("fastly", "fastly-key"),
    ("okta", "okta-token"),
    ("vercel", "vercel-token"),
    ("twilio", "twilio-key"),
    ("heroku", "heroku-key"),
    ("vault_token", "vault-token"),
    ("discord", "discord-token"),
    ("telegram", "telegram-token"),
    ("mailgun", "mailgun-key"),
    ("alibaba", "alibaba-secret"),
    ("aliyun", "alibaba-secret"),
    ("alicloud", "alibaba-secret"),
    ("netlify", "netlify-token"),
    ("circle", "circleci-token"),
    ("travis", "travis-token"),
    ("algolia", "algolia-key"),
    ("paypal", "paypal-secret"),
    ("braintree", "braintree-token"),
    ("pagerduty", "pagerduty-key"),
    ("codecov", "codecov-token"),
    ("gitea", "gitea-token"),
    ("bitbucket", "bitbucket-token"),
    ("jira", "atlassian-token"),
    ("confluence", "atlassian-token"),
    ("snyk", "snyk-token"),
    ("openai", "openai-key"),
    ("mistral", "mistral-key"),
    ("cohere", "cohere-key"),
    ("gemini", "gcp-api-key"),
];

/// Judges a name. Leading dashes of a flag must be cut off.
pub(crate) fn judge(name: &[u8]) -> Option<SecretName> {
    if name.is_empty() || name.len() > NAME_LEN_MAX {
        return None;
    }
    let mut buffer = [0_u8; 2 * NAME_LEN_MAX + 1];
    let len = write_words(name, &mut buffer);
    let words = std::str::from_utf8(&buffer[..len]).ok()?;
    let mut stem = words.trim_end_matches(|last: char| last.is_ascii_digit() || last == '_');
    for suffix in SUFFIXES {
        if let Some(rest) = words.strip_suffix(suffix).and_then(|rest| rest.strip_suffix('_')) {
            stem = rest;
        }
    }
    let (noun, strength) = NOUNS.iter().find(|(noun, _)| stem.ends_with(noun))?;
    if matches!(name, b"PWD" | b"OLDPWD") || DISARMING.iter().any(|word| has_word(stem, word)) {
        return None;
    }
    let fallback = if *strength == Strength::Strong { "password-assignment" } else { "secret-assignment" };
    let rule = VENDORS.iter().find(|(vendor, _)| words.contains(vendor)).map_or(fallback, |(_, rule)| *rule);
    let environment = !name.iter().any(u8::is_ascii_lowercase) && !name.contains(&b'-') && name.len() >= 4;
    // A key is a secret in the environment, and there only if it looks like one: others name places in caches and tables.
    if *noun == "_key" {
        return environment.then_some(SecretName { strength: *strength, rule, environment: false });
    }
    // In code, `pat` is a pattern.
    if *noun == "_pat" && !environment {
        return None;
    }
    Some(SecretName { strength: *strength, rule, environment })
}

/// Writes a name as `_lower_case_words`, whatever its style was.
fn write_words(name: &[u8], buffer: &mut [u8]) -> usize {
    let mut len = 0;
    let mut push = |byte: u8| {
        buffer[len] = byte;
        len += 1;
    };
    push(b'_');
    for (index, byte) in name.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| name.get(before)).copied().unwrap_or(b'_');
        let after = name.get(index + 1).copied().unwrap_or(b'_');
        let starts = byte.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || before.is_ascii_uppercase() && after.is_ascii_lowercase());
        if starts {
            push(b'_');
        }
        push(if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b'_' });
    }
    len
}

fn has_word(words: &str, word: &str) -> bool {
    words.match_indices(word).any(|(index, _)| {
        let after = words.as_bytes().get(index + word.len());
        words.as_bytes().get(index.wrapping_sub(1)) == Some(&b'_') && after == Some(&b'_')
    })
}
