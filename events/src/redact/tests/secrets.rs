//! Secrets that must be masked, one kind after the other.
//!
//! Each is a prefix that is shown and a body that must not be. Nothing here is real.

use super::{ALNUM, BASE64, BASE64URL, DIGITS, HEX, LOWER_DIGITS, UPPER_DIGITS, made_up};

/// A secret in its surroundings.
pub(super) struct Secret {
    /// The rule that must find it.
    pub(super) rule: &'static str,
    pub(super) text: String,
    /// What must not be seen afterwards.
    pub(super) body: String,
    /// Whether it is known by itself, without its surroundings.
    pub(super) is_token: bool,
}

/// Provider tokens: rule, prefix, alphabet, length, what follows.
const TOKENS: &[(&str, &str, &str, usize)] = &[
    ("github-token", "ghp_", ALNUM, 36),
    ("github-token", "gho_", ALNUM, 36),
    ("github-token", "ghu_", ALNUM, 36),
    ("github-token", "ghs_", ALNUM, 36),
    ("github-token", "ghr_", ALNUM, 76),
    ("github-token", "github_pat_", ALNUM, 82),
    ("gitlab-token", "glpat-", BASE64URL, 20),
    ("gitlab-token", "gldt-", BASE64URL, 20),
    ("gitlab-token", "glrt-", BASE64URL, 20),
    ("gitlab-token", "glcbt-", BASE64URL, 24),
    ("gitlab-token", "glptt-", HEX, 40),
    ("gitlab-token", "glft-", BASE64URL, 20),
    ("gitlab-token", "glsoat-", BASE64URL, 20),
    ("gitlab-token", "GR1348941", BASE64URL, 20),
    ("bitbucket-token", "ATBB", ALNUM, 32),
    ("atlassian-token", "ATATT3", BASE64URL, 186),
    ("circleci-token", "CCIPAT_", ALNUM, 63),
    ("buildkite-token", "bkua_", HEX, 40),
    ("pulumi-token", "pul-", HEX, 40),
    ("sonar-token", "sqp_", HEX, 40),
    ("aws-access-key-id", "AKIA", UPPER_DIGITS, 16),
    ("aws-access-key-id", "ASIA", UPPER_DIGITS, 16),
    ("aws-access-key-id", "ABIA", UPPER_DIGITS, 16),
    ("aws-access-key-id", "ACCA", UPPER_DIGITS, 16),
    ("aws-signature", "X-Amz-Signature=", HEX, 64),
    ("gcp-api-key", "AIza", BASE64URL, 35),
    ("gcp-oauth-token", "ya29.", BASE64URL, 120),
    ("gcp-client-secret", "GOCSPX-", BASE64URL, 28),
    ("alibaba-access-key-id", "LTAI", ALNUM, 20),
    ("tencent-secret-id", "AKID", ALNUM, 32),
    ("digitalocean-token", "dop_v1_", HEX, 64),
    ("digitalocean-token", "doo_v1_", HEX, 64),
    ("digitalocean-token", "dor_v1_", HEX, 64),
    ("heroku-key", "HRKU-", BASE64URL, 60),
    ("databricks-token", "dapi", HEX, 32),
    ("flyio-token", "fo1_", BASE64URL, 43),
    ("flyio-token", "fm2_", BASE64, 120),
    ("planetscale-token", "pscale_tkn_", BASE64URL, 43),
    ("supabase-token", "sbp_", HEX, 40),
    ("tailscale-key", "tskey-auth-", ALNUM, 40),
    ("vault-token", "hvs.", BASE64URL, 90),
    ("vault-token", "hvb.", BASE64URL, 140),
    ("vault-token", "s.", ALNUM, 24),
    ("doppler-token", "dp.pt.", ALNUM, 43),
    ("age-secret-key", "AGE-SECRET-KEY-1", UPPER_DIGITS, 58),
    ("1password-token", "ops_ey", BASE64, 250),
    ("anthropic-key", "sk-ant-api03-", BASE64URL, 95),
    ("openai-key", "sk-", ALNUM, 48),
    ("openai-key", "sk-proj-", BASE64URL, 120),
    ("openai-key", "sk-svcacct-", BASE64URL, 120),
    ("openai-key", "sk-admin-", BASE64URL, 120),
    ("openrouter-key", "sk-or-v1-", HEX, 64),
    ("huggingface-token", "hf_", ALNUM, 34),
    ("groq-key", "gsk_", ALNUM, 52),
    ("replicate-token", "r8_", ALNUM, 37),
    ("slack-token", "xoxb-", DIGITS, 40),
    ("slack-token", "xoxp-", DIGITS, 40),
    ("slack-token", "xoxa-2-", ALNUM, 40),
    ("slack-token", "xoxr-", ALNUM, 40),
    ("slack-token", "xoxs-", ALNUM, 40),
    ("slack-token", "xoxe-", ALNUM, 40),
    ("slack-token", "xapp-", ALNUM, 80),
    ("twilio-key", "SK", HEX, 32),
    ("twilio-key", "AC", HEX, 32),
    ("mailgun-key", "key-", HEX, 32),
    ("brevo-key", "xkeysib-", HEX, 64),
    ("npm-token", "npm_", ALNUM, 36),
    ("pypi-token", "pypi-", BASE64URL, 160),
    ("docker-token", "dckr_pat_", BASE64URL, 27),
    ("rubygems-key", "rubygems_", HEX, 48),
    ("nuget-key", "oy2", LOWER_DIGITS, 43),
    ("stripe-key", "sk_live_", ALNUM, 24),
    ("stripe-key", "sk_test_", ALNUM, 99),
    ("stripe-key", "rk_live_", ALNUM, 24),
    ("stripe-webhook-secret", "whsec_", ALNUM, 32),
    ("square-token", "EAAA", BASE64URL, 60),
    ("square-token", "sq0csp-", BASE64URL, 43),
    ("shopify-token", "shpat_", HEX, 32),
    ("shopify-token", "shpss_", HEX, 32),
    ("shopify-token", "shpca_", HEX, 32),
    ("newrelic-key", "NRAK-", UPPER_DIGITS, 27),
    ("sentry-token", "sntrys_", BASE64, 120),
    ("sentry-token", "sntryu_", HEX, 64),
    ("grafana-token", "glsa_", ALNUM, 41),
    ("grafana-token", "glc_", BASE64, 80),
    ("linear-key", "lin_api_", ALNUM, 40),
    ("notion-token", "ntn_", ALNUM, 46),
    ("notion-token", "secret_", ALNUM, 43),
    ("figma-token", "figd_", BASE64URL, 40),
];

/// All secrets.
pub(super) fn all() -> Vec<Secret> {
    let mut secrets = tokens();
    secrets.extend(composed());
    secrets.extend(surrounded());
    secrets
}

fn tokens() -> Vec<Secret> {
    let token = |(index, (rule, prefix, alphabet, len)): (usize, &(&'static str, &str, &str, usize))| {
        // No alphabet's odd characters at the ends, where a text around a token would be ambiguous.
        let body = format!("a7{}", made_up(alphabet, len - 2, index as u64 + 1)).replace(['+', '/'], "Q");
        let body = if *alphabet == UPPER_DIGITS { body.to_uppercase() } else { body };
        let body = if *alphabet == DIGITS { body.replacen('a', "1", 1) } else { body };
        let body = body.trim_end_matches(['-', '_']).to_owned() + if body.ends_with(['-', '_']) { "z" } else { "" };
        Secret { rule, text: format!("{prefix}{body}"), body, is_token: true }
    };
    TOKENS.iter().enumerate().map(token).collect()
}

/// Tokens of several parts.
fn composed() -> Vec<Secret> {
    let of = |alphabet: &str, len: usize| made_up(alphabet, len, len as u64 * 31);
    let header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
    let parts: Vec<(&'static str, String, String)> = vec![
        ("jwt", "eyJ".into(), format!("{}.eyJz{}.{}", &header[3..], of(ALNUM, 40), of(ALNUM, 43))),
        ("sendgrid-key", "SG.".into(), format!("{}.{}", of(ALNUM, 22), of(ALNUM, 43))),
        ("telegram-token", "123456789:".into(), format!("AA{}", of(ALNUM, 33))),
        ("discord-token", "MTA".into(), format!("{}.{}.{}", of(ALNUM, 23), of(ALNUM, 6), of(ALNUM, 38))),
        ("postman-key", "PMAK-".into(), format!("{}-{}", of(HEX, 24), of(HEX, 34))),
        ("terraform-token", format!("{}.atlasv1.", of(ALNUM, 14)), of(ALNUM, 67)),
        ("azure-client-secret", "abc8Q~".into(), of(ALNUM, 34)),
        ("braintree-token", format!("access_token$production${}$", of(LOWER_DIGITS, 16)), of(HEX, 32)),
        ("airtable-token", "pat".into(), format!("{}.{}", of(ALNUM, 14), of(HEX, 64))),
        ("flyio-token", "FlyV1 ".into(), of(ALNUM, 80)),
    ];
    let token = |(rule, prefix, body): (&'static str, String, String)| Secret {
        rule,
        text: format!("{prefix}{body}"),
        body,
        is_token: true,
    };
    parts.into_iter().map(token).collect()
}

/// Secrets known by what surrounds them; `@` stands for the secret.
fn surrounded() -> Vec<Secret> {
    let random = made_up(ALNUM, 40, 77);
    let short = format!("hunter{}", 2);
    let hook = format!("T{}/B{}/{}", made_up(UPPER_DIGITS, 8, 5), made_up(UPPER_DIGITS, 8, 6), made_up(ALNUM, 24, 7));
    let key_body = format!("\n{}\n{}==\n", made_up(BASE64, 64, 8), made_up(BASE64, 40, 9));
    let pem = |label: &str, body: &str| format!("-----BEGIN {label}-----{body}-----END {label}-----");
    let escaped = key_body.replace('\n', "\\n");
    let of = |rule: &'static str, text: &str, body: &str| Secret {
        rule,
        text: text.replace('@', body),
        body: body.trim().to_owned(),
        is_token: false,
    };
    let mut secrets = vec![
        of("slack-webhook", "curl https://hooks.slack.com/services/@ -d x", &hook),
        of("discord-webhook", "https://discord.com/api/webhooks/123456789012345678/@", &made_up(ALNUM, 68, 3)),
        of(
            "azure-storage-key",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=@==;EndpointSuffix=x",
            &made_up(ALNUM, 86, 4),
        ),
        of(
            "azure-sas-signature",
            "https://a.blob.core.windows.net/c/b?sv=2024&se=2025&sr=b&sig=@%3D",
            &made_up(ALNUM, 43, 5),
        ),
        of("docker-auth", "{\"auths\":{\"r.example\":{\"auth\": \"@=\"}}}", &made_up(ALNUM, 31, 6)),
        of("npm-token", "//registry.example/:_authToken=@", &made_up(HEX, 32, 7)),
        of("npm-token", "_auth = \"@=\"", &made_up(ALNUM, 31, 8)),
        of(
            "url-credentials",
            &format!("git clone https://user:{}@host.example/x.git", '@').replacen("@host", "\u{1}host", 1),
            &short,
        ),
        of("cookie", "Cookie: session=@; theme=dark", &random),
        of("cookie", "Set-Cookie: sid=@; Path=/; HttpOnly", &random),
        of("private-key", &pem("RSA PRIVATE KEY", "@"), &key_body),
        of("private-key", &pem("EC PRIVATE KEY", "@"), &key_body),
        of("private-key", &pem("PRIVATE KEY", "@"), &key_body),
        of("private-key", &pem("ENCRYPTED PRIVATE KEY", "@"), &key_body),
        of("private-key", &pem("OPENSSH PRIVATE KEY", "@"), &key_body),
        of("private-key", &pem("PGP PRIVATE KEY BLOCK", "@"), &format!("\nVersion: GnuPG v2\n{key_body}")),
        of(
            "private-key",
            &pem("RSA PRIVATE KEY", "@"),
            &format!("\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n{key_body}"),
        ),
        of("private-key", &format!("{{\"private_key\": \"{}\"}}", pem("PRIVATE KEY", "@")), &escaped),
    ];
    for secret in &mut secrets {
        secret.text = secret.text.replace('\u{1}', "@");
    }
    secrets.extend(HEADERS.iter().map(|(rule, text)| of(rule, text, &random)));
    secrets.extend(ASSIGNED_RANDOM.iter().map(|(rule, text)| of(rule, text, &random)));
    secrets.extend(ASSIGNED_SHORT.iter().map(|text| of("password-assignment", text, &short)));
    secrets.extend(IN_COMMANDS.iter().map(|text| of("command-secret", text, &short)));
    secrets
}

const HEADERS: &[(&str, &str)] = &[
    ("authorization-header", "Authorization: Bearer @"),
    ("authorization-header", "authorization: token @"),
    ("authorization-header", "Proxy-Authorization: Basic @"),
    ("authorization-header", "curl -H 'Authorization: Basic @' https://h.example"),
    ("authorization-header", "{\"Authorization\": \"Bearer @\"}"),
    ("authorization-header", "headers['Authorization'] = 'Bearer @'"),
    ("authorization-header", "sent Bearer @ to the host"),
    ("authorization-header", "Authorization: AWS4-HMAC-SHA256 Credential=x, Signature=@"),
    ("secret-assignment", "X-Api-Key: @"),
    ("secret-assignment", "curl -H \"X-Auth-Token: @\" h"),
    ("secret-assignment", "PRIVATE-TOKEN: @"),
];

const ASSIGNED_RANDOM: &[(&str, &str)] = &[
    ("aws-secret-key", "AWS_SECRET_ACCESS_KEY=@"),
    ("aws-secret-key", "aws_secret_access_key = @\n"),
    ("aws-secret-key", "\"SecretAccessKey\": \"@\","),
    ("aws-session-token", "export AWS_SESSION_TOKEN=@"),
    ("twilio-key", "TWILIO_AUTH_TOKEN=@"),
    ("datadog-key", "DD_API_KEY=@"),
    ("datadog-key", "datadog_app_key: @"),
    ("cloudflare-key", "CLOUDFLARE_API_TOKEN='@'"),
    ("fastly-key", "FASTLY_API_TOKEN=@"),
    ("okta-token", "OKTA_API_TOKEN=@"),
    ("vercel-token", "VERCEL_TOKEN=@"),
    ("azure-secret", "AZURE_CLIENT_SECRET=@"),
    ("secret-assignment", "api_key: \"@\""),
    ("secret-assignment", "const apiKey = '@';"),
    ("secret-assignment", "https://h.example/x?access_token=@&page=2"),
    ("secret-assignment", "client_secret=@"),
    ("secret-assignment", "{\"refreshToken\":\"@\"}"),
    ("secret-assignment", "\\\"token\\\": \\\"@\\\""),
    ("secret-assignment", "SECRET_KEY_BASE=@"),
    ("secret-assignment", "ENV API_SECRET @"),
    ("secret-assignment", "WIFI_PSK=@"),
    ("secret-assignment", "  secret_key: @\n"),
];

const ASSIGNED_SHORT: &[&str] = &[
    "PASSWORD=@",
    "export DB_PASSWORD=@",
    "export DB_PASSWORD=\"@\"; run",
    "PGPASSWORD='@' psql -h db",
    "password: @\n",
    "password = @\n",
    "\"password\": \"@\",",
    "'password' => '@',",
    "db.password=@\n",
    "spring.datasource.password=@\n",
    "<password>@</password>",
    "Server=db;User Id=sa;Password=@;Encrypt=yes",
    "connect(user='a', password='@')",
    "tool --password=@ run",
    "tool --password @ run",
    "mount -o username=a,password=@ //h/s /mnt",
    "let dbPassword = \"@\";",
    "ROOT_PASSWD=@",
    "passphrase: '@'",
    "password: str = \"@\"",
    "machine h.example login user password @\n",
    "requirepass @\n",
    "docker run -e MYSQL_ROOT_PASSWORD=@ -d mysql",
    "jdbc:mysql://h/db?user=a&password=@&ssl=true",
    "kubectl create secret generic x --from-literal=password=@",
    "helm upgrade --set auth.rootPassword=@,x=y r c",
    "gpg --batch --passphrase @ -c f",
    "curl -d '{\"password\":\"@\"}' h.example",
    "Passwort: @\n",
];

const IN_COMMANDS: &[&str] = &[
    "curl -u user:@ https://h.example",
    "curl --user 'user:@' https://h.example",
    "mysql -u root -p@ db",
    "sshpass -p @ ssh h.example",
    "docker login -u user -p @ r.example",
    "redis-cli -h h -a @ ping",
    "openssl rsa -in k -passin pass:@",
    "sshpass -p'@' ssh h.example",
    "htpasswd -b file user @",
    "zip -P @ a.zip a",
    "az login --service-principal -u user -p @ --tenant t",
    "sqlcmd -S h -U sa -P @",
];
