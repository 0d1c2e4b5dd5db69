//! Tokens of cloud platforms.
//!
//! Access key ids are masked as well as secret keys: an id names an account. Keys that have no prefix of their own (the
//! secret half of an AWS key, Cloudflare, Fastly, Vercel) are found by the name they are assigned to, in `assignment.rs`.

use super::super::bytes::Set;
use super::super::rule::{Part, Rule};
use super::super::value;
use super::TOKEN_LEN_MAX;

const KEY_ID: &[Part] = &[Part::Secret(Set::UPPER_DIGIT, 16, 16), Part::End(Set::WORD.or(Set::PLUS))];
const URLSAFE: Set = Set::BASE64URL;
/// The first of a JWT's parts is followed by a full stop.
const NO_JWT: Part = Part::End(Set::DOT);

pub(super) const RULES: &[Rule] = &[
    Rule::token("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], KEY_ID)
        .not_after(Set::WORD.or(Set::PLUS))
        .only_if(value::is_key_id),
    Rule::token(
        "aws-access-key-id",
        &["A3T"],
        &[Part::Secret(Set::UPPER_DIGIT, 17, 17), Part::End(Set::WORD.or(Set::PLUS))],
    )
    .not_after(Set::WORD.or(Set::PLUS))
    .only_if(value::is_key_id),
    Rule::token(
        "aws-session-token",
        &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz", "FQoDYXdz"],
        &[Part::Secret(Set::BASE64_BOTH.or(Set::PERCENT), 80, 4096)],
    ),
    Rule::token("aws-signature", &["X-Amz-Signature="], &[Part::Secret(Set::HEX, 64, 64)]).any_case(),
    Rule::token("gcp-signature", &["X-Goog-Signature="], &[Part::Secret(Set::HEX, 64, 1024)]).any_case(),
    Rule::token("aws-bedrock-key", &["ABSKQmVkcm9ja0FQSUtleS"], &[Part::Secret(Set::BASE64, 20, TOKEN_LEN_MAX)]),
    Rule::token("aws-bedrock-key", &["bedrock-api-key-"], &[Part::Secret(Set::BASE64_BOTH, 40, 4096)]),
    Rule::token("gcp-api-key", &["AQ.Ab8RN6"], &[Part::Secret(URLSAFE, 30, TOKEN_LEN_MAX)]),
    Rule::token("gcp-hmac-key-id", &["GOOG1E"], &[Part::Secret(Set::UPPER_DIGIT, 18, 64), Part::End(Set::WORD)]),
    Rule::token("gcp-refresh-token", &["1//0"], &[Part::Secret(URLSAFE, 40, TOKEN_LEN_MAX)]).only_if(value::is_issued),
    Rule::token("firebase-server-key", &[":APA91b"], &[Part::Secret(URLSAFE, 100, TOKEN_LEN_MAX)]).anywhere(),
    Rule::token("gcp-api-key", &["AIza"], &[Part::Secret(URLSAFE, 35, 35), Part::End(URLSAFE)]),
    Rule::token("gcp-oauth-token", &["ya29."], &[Part::Secret(URLSAFE.or(Set::DOT), 20, 2048)]),
    Rule::token("gcp-client-secret", &["GOCSPX-"], &[Part::Secret(URLSAFE, 20, TOKEN_LEN_MAX)]),
    Rule::token(
        "azure-storage-key",
        &["AccountKey=", "SharedAccessKey="],
        &[Part::Secret(Set::BASE64, 20, TOKEN_LEN_MAX)],
    )
    .any_case(),
    Rule::token(
        "azure-sas-signature",
        &["?sig=", "&sig=", ";sig="],
        &[Part::Secret(Set::BASE64_BOTH.or(Set::PERCENT), 20, TOKEN_LEN_MAX)],
    )
    .anywhere()
    .any_case(),
    Rule::grammar("azure-client-secret", &["Q~"], super::super::grammars::provider::azure_client_secret),
    Rule::token("alibaba-access-key-id", &["LTAI"], &[Part::Secret(Set::ALNUM, 12, 30), Part::End(Set::WORD)])
        .only_if(value::has_digit),
    Rule::token("tencent-secret-id", &["AKID"], &[Part::Secret(Set::ALNUM, 32, 32), Part::End(Set::WORD)])
        .only_if(value::looks_random),
    Rule::token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], &[Part::Secret(Set::HEX, 40, 128)]),
    Rule::token("heroku-key", &["HRKU-"], &[Part::Secret(URLSAFE, 20, TOKEN_LEN_MAX)]),
    Rule::token("databricks-token", &["dapi"], &[Part::Secret(Set::HEX, 32, 32), Part::End(Set::ALNUM)])
        .only_if(value::has_digit),
    Rule::token("databricks-token", &["dose"], &[Part::Secret(Set::HEX, 32, 32), Part::End(Set::ALNUM)])
        .only_if(value::has_digit),
    Rule::token("flyio-token", &["fo1_"], &[Part::Secret(URLSAFE, 30, TOKEN_LEN_MAX)]),
    Rule::token(
        "flyio-token",
        &["FlyV1 fm1r_", "FlyV1 fm2_", "fm1r_", "fm1a_", "fm2_"],
        &[Part::Secret(Set::BASE64_BOTH.or(Set::COMMA), 60, 4096)],
    ),
    Rule::token("flyio-token", &["FlyV1 "], &[Part::Secret(Set::BASE64_BOTH.or(Set::COMMA), 30, 4096)]),
    Rule::token(
        "planetscale-token",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        &[Part::Secret(URLSAFE.or(Set::DOT).or(Set::EQUALS), 30, TOKEN_LEN_MAX)],
    ),
    Rule::token("supabase-token", &["sbp_"], &[Part::Secret(Set::WORD, 40, 128)]).only_if(value::has_digit),
    Rule::token("supabase-token", &["sb_secret_"], &[Part::Secret(URLSAFE, 20, 128)]),
    Rule::token("tailscale-key", &["tskey-"], &[Part::Secret(URLSAFE, 16, TOKEN_LEN_MAX)]).only_if(value::has_digit),
    Rule::token("vault-token", &["hvs.", "hvb.", "hvr."], &[Part::Secret(URLSAFE, 20, TOKEN_LEN_MAX)])
        .only_if(value::has_digit),
    Rule::token("vault-token", &["s."], &[Part::Secret(Set::ALNUM, 24, 24), Part::End(URLSAFE.or(Set::DOT))])
        .not_after(Set::NAME.or(Set::PLUS).or(Set::SLASH))
        .only_if(value::is_mixed_random),
    Rule::token(
        "doppler-token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        &[Part::Secret(URLSAFE.or(Set::DOT), 30, 128)],
    ),
    Rule::token("age-secret-key", &["AGE-SECRET-KEY-1"], &[Part::Secret(Set::UPPER_DIGIT, 40, 128)]).any_case(),
    Rule::token("1password-token", &["ops_ey"], &[Part::Secret(Set::BASE64_BOTH, 60, 8192)]),
    Rule::token(
        "1password-key",
        &["A3-"],
        &[
            Part::Secret(Set::UPPER_DIGIT, 6, 6),
            Part::Literal("-"),
            Part::Secret(Set::UPPER_DIGIT.or(Set::DASH), 25, 40),
            Part::End(Set::WORD),
        ],
    )
    .only_if(value::has_digit),
    Rule::token("scaleway-key", &["SCW"], &[Part::Secret(Set::UPPER_DIGIT, 17, 17), Part::End(Set::WORD)])
        .only_if(value::is_key_id),
    Rule::token(
        "cloudflare-key",
        &["v1.0-"],
        &[Part::Secret(Set::HEX, 24, 24), Part::Literal("-"), Part::Secret(Set::HEX, 146, 146), Part::End(Set::WORD)],
    ),
    Rule::token("cloudflare-key", &["cfut_", "cfat_", "cfk_"], &[Part::Secret(Set::ALNUM, 40, 128)])
        .only_if(value::is_issued),
    Rule::token("cloudflare-tunnel-token", &["eyJhIjoi"], &[Part::Secret(Set::BASE64, 80, TOKEN_LEN_MAX), NO_JWT])
        .not_after(URLSAFE.or(Set::PLUS).or(Set::SLASH).or(Set::DOT)),
    Rule::token("clickhouse-key", &["4b1d"], &[Part::Secret(Set::ALNUM, 38, 38), Part::End(Set::WORD)])
        .only_if(value::is_mixed_random),
    Rule::token("openshift-token", &["sha256~"], &[Part::Secret(URLSAFE, 43, 43), Part::End(URLSAFE)])
        .only_if(value::is_issued_in_both_cases),
    Rule::token("scalingo-token", &["tk-us-"], &[Part::Secret(URLSAFE, 48, 64)]).only_if(value::is_issued),
    Rule::token("digitalocean-key-id", &["DO00"], &[Part::Secret(Set::UPPER_DIGIT, 16, 18), Part::End(Set::WORD)])
        .only_if(value::is_key_id),
    Rule::token("yandex-key", &["AQVN"], &[Part::Secret(URLSAFE, 35, 40), Part::End(URLSAFE)])
        .only_if(value::is_issued_in_both_cases),
    Rule::token("yandex-token", &["y0_"], &[Part::Secret(URLSAFE, 50, 128)])
        .not_after(URLSAFE)
        .only_if(value::is_issued_in_both_cases),
    Rule::token(
        "vercel-token",
        &["vcp_", "vci_", "vca_", "vcr_", "vck_"],
        &[Part::Secret(Set::ALNUM, 24, 128), Part::End(Set::WORD)],
    )
    .not_after(URLSAFE)
    .only_if(value::is_issued_in_both_cases),
    Rule::token(
        "netlify-token",
        &["nfp_", "nfc_", "nfo_", "nfu_"],
        &[Part::Secret(Set::ALNUM, 36, 64), Part::End(Set::WORD)],
    )
    .not_after(URLSAFE)
    .only_if(value::is_issued_in_both_cases),
    Rule::token("render-key", &["rnd_"], &[Part::Secret(Set::ALNUM, 28, 64), Part::End(Set::WORD)])
        .not_after(URLSAFE)
        .only_if(value::is_issued_in_both_cases),
    Rule::token("neon-key", &["napi_"], &[Part::Secret(Set::ALNUM, 60, 80)])
        .not_after(URLSAFE)
        .only_if(value::has_digit),
    Rule::token(
        "encoded-jwt",
        &["ZXlKaGJHY2lPaU", "ZXlKcmFXUWlPaU", "ZXlKMGVYQWlPaU"],
        &[Part::Secret(Set::BASE64_BOTH, 60, 8192)],
    ),
];
