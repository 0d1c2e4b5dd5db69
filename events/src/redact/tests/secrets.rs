//! Secrets that must be masked, one kind after the other.
//!
//! Each is a prefix that is shown and a body that must not be. Nothing here is real.

use super::tokens::TOKENS;
use super::{ALNUM, BASE64, BASE64URL, DIGITS, HEX, LETTERS, LOWER_DIGITS, UPPER_DIGITS, made_up};

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

/// All secrets.
pub(super) fn all() -> Vec<Secret> {
    let mut secrets = tokens();
    secrets.extend(composed());
    secrets.extend(surrounded());
    secrets
}

fn tokens() -> Vec<Secret> {
    TOKENS.iter().enumerate().map(|(index, token)| of_token(token, index as u64 + 1)).collect()
}

/// A token of a row of the table, another one for each seed.
pub(super) fn of_token(&(rule, prefix, alphabet, len): &(&'static str, &str, &str, usize), seed: u64) -> Secret {
    // No alphabet's odd characters at the ends, where a text around a token would be ambiguous.
    let body = format!("a7{}", made_up(alphabet, len - 2, seed)).replace(['+', '/'], "Q");
    let body = match alphabet {
        UPPER_DIGITS => body.to_uppercase(),
        DIGITS => body.replacen('a', "1", 1),
        LETTERS => body.replacen("a7", "Ab", 1),
        _ => body,
    };
    let body = body.trim_end_matches(['-', '_']).to_owned() + if body.ends_with(['-', '_']) { "z" } else { "" };
    Secret { rule, text: format!("{prefix}{body}"), body, is_token: true }
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
        ("harness-token", "pat.".into(), format!("{}.{}.{}", of(ALNUM, 22), of(ALNUM, 24), of(ALNUM, 20))),
        ("cloudflare-key", "v1.0-".into(), format!("{}-{}", of(HEX, 24), of(HEX, 146))),
        ("dynatrace-token", format!("dt0c01.{}.", of(UPPER_DIGITS, 24)), of(UPPER_DIGITS, 64)),
        ("authress-key", "sc_abcd1234.ef56.acc_".into(), format!("{}.{}", of(ALNUM, 16), of(BASE64URL, 60) + "z")),
        ("resend-key", "re_".into(), format!("{}_{}", of(ALNUM, 8), of(ALNUM, 24))),
        ("clickup-token", "pk_1234567_".into(), of(UPPER_DIGITS, 32)),
        ("asana-token", "2/".into(), format!("{}/{}:{}", of(DIGITS, 16), of(DIGITS, 15), of(HEX, 32))),
        (
            "1password-key",
            "A3-".into(),
            format!("{}-{}-ABCDE-F2GHI-{}", of(UPPER_DIGITS, 6), of(UPPER_DIGITS, 6), of(UPPER_DIGITS, 11)),
        ),
        (
            "launchdarkly-key",
            "sdk-".into(),
            format!("{}-{}-4{}-a{}-{}", of(HEX, 8), of(HEX, 4), of(HEX, 3), of(HEX, 3), of(HEX, 12)),
        ),
        (
            "langfuse-key",
            "sk-lf-".into(),
            format!("{}-{}-4{}-a{}-{}", of(HEX, 8), of(HEX, 4), of(HEX, 3), of(HEX, 3), of(HEX, 12)),
        ),
        (
            "plaid-token",
            "access-sandbox-".into(),
            format!("{}-{}-4{}-a{}-{}", of(HEX, 8), of(HEX, 4), of(HEX, 3), of(HEX, 3), of(HEX, 12)),
        ),
        ("encoded-jwt", "ZXlKaGJHY2lPaU".into(), of(ALNUM, 180)),
        ("cloudflare-tunnel-token", "eyJhIjoi".into(), of(ALNUM, 160)),
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
            "teams-webhook",
            "curl https://tenant.webhook.office.com/webhookb2/@ -d x",
            &format!("{}@{}/IncomingWebhook/{}", made_up(HEX, 36, 11), made_up(HEX, 36, 12), made_up(HEX, 32, 13)),
        ),
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
        of("putty-private-key", "Private-Lines: 1\n@=\nPrivate-MAC: 01", &made_up(BASE64, 47, 14)),
        of("json-web-key", r#"{"kty":"OKP","d":"@","crv":"Ed25519"}"#, &made_up(BASE64URL, 43, 15)),
        of("sql-password", "CREATE USER app IDENTIFIED BY '@';", &short),
        of("sql-password", "ALTER ROLE app WITH LOGIN PASSWORD '@';", &short),
        of("smtp-credentials", "AUTH PLAIN @", &made_up(ALNUM, 24, 16)),
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
    secrets.extend(IN_PAIRS.iter().map(|text| of("password-assignment", text, &short)));
    secrets.extend(HASHES.iter().map(|text| of("password-hash", text, &format!("a7B.{random}"))));
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
    ("authorization-header", "Authorization: SSWS @"),
    ("authorization-header", "Authorization: NoSchemeThatIsKnown @"),
    ("authorization-header", "authorization: @"),
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
    ("password-assignment", "define('DB_PASSWORD', '@');"),
    ("secret-assignment", "define(\"AUTH_KEY\",\"@\");"),
    ("secret-assignment", "const apiKey = '@';"),
    ("secret-assignment", "https://h.example/x?access_token=@&page=2"),
    ("secret-assignment", "client_secret=@"),
    ("secret-assignment", "{\"refreshToken\":\"@\"}"),
    ("secret-assignment", "\\\"token\\\": \\\"@\\\""),
    ("secret-assignment", "SECRET_KEY_BASE=@"),
    ("secret-assignment", "ENV API_SECRET @"),
    ("secret-assignment", "WIFI_PSK=@"),
    ("secret-assignment", "PAYMENT_KEY=@"),
    ("secret-assignment", "<add key=\"ApiKey\" value=\"@\"/>"),
    ("secret-assignment", "- name: SERVICE_TOKEN\n  value: @\n"),
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

/// Names and values in two fields.
const IN_PAIRS: &[&str] = &[
    "{\"name\":\"DB_PASSWORD\",\"value\":\"@\"}",
    "{\"Name\": \"DB_PASSWORD\", \"Value\": \"@\"},",
    "- name: DB_PASSWORD\n  value: @\n- name: X",
    "- name: DB_PASSWORD\n  value: \"@\"\n",
    "<property name=\"password\" value=\"@\"/>",
    "<add key=\"ClearTextPassword\" value=\"@\" />",
    "<input type=\"password\" value=\"@\">",
    "\\\"name\\\":\\\"DB_PASSWORD\\\",\\\"value\\\":\\\"@\\\"",
];

/// Hashes of passwords: method, then salt and hash; `@` stands for both.
const HASHES: &[&str] = &["root:$6$@:19000:0:99999:7:::", "u:$y$j9T$@:1::::::", "$2b$12$@", "admin:$apr1$@"];

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
    "ssh-keygen -t rsa -N '@' -f k",
    "sqlcmd -S h -U sa -P @",
];
