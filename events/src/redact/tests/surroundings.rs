//! The places in which secrets turn up.
//!
//! Each is a text with `@` where the secret stands. A token is to be known in all of them by itself.

/// Where, and the text around.
pub(super) const PLACES: &[(&str, &str)] = &[
    ("environment file", "# settings\nAPP_VALUE=@\nMODE=production\n"),
    ("export", "export VALUE=\"@\" && ./deploy.sh --fast"),
    ("curl header", "curl -sS -H 'X-Custom: @' https://api.example.com/v1/items | jq ."),
    ("curl data", "curl -d '{\"t\":\"@\"}' https://api.example.com"),
    ("JSON", "{\n  \"id\": 7,\n  \"value\": \"@\",\n  \"next\": null\n}"),
    ("JSON in JSON", "{\"body\":\"{\\\"v\\\":\\\"@\\\",\\\"n\\\":1}\"}"),
    ("YAML", "service:\n  value: @\n  replicas: 3\n"),
    ("quoted YAML", "env:\n  - VALUE: '@'\n"),
    ("INI", "[default]\nvalue = @\nregion = eu-west-1\n"),
    ("TOML", "[client]\nvalue = \"@\" # rotate\n"),
    ("XML", "<config><value>@</value></config>"),
    ("query", "GET https://host.example/path?v=@&page=2 HTTP/1.1"),
    ("log", "2026-01-01T10:00:00Z INFO client started with @ (retry 1)"),
    ("code", "const client = new Client(\"@\", { retries: 3 });"),
    ("diff", "-  value: old\n+  value: @\n"),
    ("Dockerfile", "FROM scratch\nENV VALUE @\nRUN make\n"),
    ("history", "  501  tool use @ --verbose"),
    ("table", "| name | value |\n| a | @ |\n"),
    ("list", "a,b,@,c\n"),
    ("terminal", "\u{1b}[32m@\u{1b}[0m\r\n"),
];
