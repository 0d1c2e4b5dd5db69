//! Tokens of payment, monitoring and office services.
//!
//! Keys without a prefix of their own (Datadog, Okta) are found by name, in `assignment.rs`. Publishable keys, which are
//! made to be seen, are left alone.

use super::super::bytes::Set;
use super::super::rule::{Part, Rule};
use super::super::value;
use super::TOKEN_LEN_MAX;

const URLSAFE: Set = Set::BASE64URL;
/// What `crypt` writes after the method: parameters, salt and hash.
const HASH: Set = Set::BASE64.or(Set::DOT).or(Set::DOLLAR).or(Set::COMMA);

pub(super) const RULES: &[Rule] = &[
    Rule::token(
        "stripe-key",
        &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "sk_org_"],
        &[Part::Secret(Set::WORD, 16, TOKEN_LEN_MAX)],
    )
    .only_if(value::is_issued),
    Rule::token("stripe-webhook-secret", &["whsec_"], &[Part::Secret(Set::BASE64, 24, 128)])
        .only_if(value::is_issued_in_both_cases),
    Rule::token(
        "square-token",
        &["EAAA"],
        &[Part::Secret(URLSAFE, 56, 64), Part::End(URLSAFE.or(Set::PLUS).or(Set::SLASH))],
    )
    .not_after(URLSAFE.or(Set::PLUS).or(Set::SLASH))
    .only_if(value::is_mixed_random),
    Rule::token("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], &[Part::Secret(URLSAFE, 20, 64)]),
    Rule::token(
        "braintree-token",
        &["access_token$production$", "access_token$sandbox$"],
        &[Part::Shown(Set::ALNUM, 10, 32), Part::Literal("$"), Part::Secret(Set::HEX, 32, 64)],
    ),
    Rule::token("shopify-token", &["shpat_", "shpss_", "shpca_", "shppa_"], &[Part::Secret(Set::HEX_ANY, 32, 64)]),
    Rule::token("newrelic-key", &["NRAK-", "NRJS-", "NRII-", "NRIQ-"], &[Part::Secret(URLSAFE, 19, 64)])
        .only_if(value::has_digit),
    Rule::token("sentry-token", &["sntrys_", "sntryu_"], &[Part::Secret(Set::BASE64_BOTH, 40, 1024)]),
    Rule::token("grafana-token", &["glsa_"], &[Part::Secret(Set::WORD, 32, 128)]).only_if(value::is_issued),
    Rule::token("grafana-token", &["glc_"], &[Part::Secret(Set::BASE64, 32, TOKEN_LEN_MAX)]),
    Rule::token("grafana-token", &["eyJrIjoi"], &[Part::Secret(Set::BASE64, 60, 400), Part::End(Set::DOT)])
        .not_after(URLSAFE.or(Set::PLUS).or(Set::SLASH).or(Set::DOT)),
    Rule::token("linear-key", &["lin_api_", "lin_oauth_"], &[Part::Secret(Set::ALNUM, 32, 128)]),
    Rule::token("notion-token", &["ntn_"], &[Part::Secret(Set::ALNUM, 40, 64)]),
    Rule::token("notion-token", &["secret_"], &[Part::Secret(Set::ALNUM, 43, 43), Part::End(Set::WORD)])
        .only_if(value::is_mixed),
    Rule::token(
        "airtable-token",
        &["pat"],
        &[Part::Secret(Set::ALNUM, 14, 14), Part::Literal("."), Part::Secret(Set::HEX, 64, 64), Part::End(Set::WORD)],
    ),
    Rule::token("figma-token", &["figd_", "figu_", "figo_"], &[Part::Secret(URLSAFE, 40, 128)]),
    Rule::token(
        "asana-token",
        &["2/"],
        &[
            Part::Secret(Set::DIGIT, 13, 20),
            Part::Literal("/"),
            Part::Secret(Set::DIGIT, 13, 20),
            Part::Literal(":"),
            Part::Secret(Set::HEX, 32, 32),
        ],
    ),
    Rule::token(
        "dynatrace-token",
        &["dt0c01.", "dt0s16."],
        &[Part::Shown(Set::ALNUM, 24, 24), Part::Literal("."), Part::Secret(Set::ALNUM, 64, 64)],
    ),
    Rule::token("easypost-key", &["EZAK", "EZTK"], &[Part::Secret(Set::ALNUM, 54, 54)]),
    Rule::token("duffel-token", &["duffel_live_", "duffel_test_"], &[Part::Secret(URLSAFE.or(Set::EQUALS), 40, 64)]),
    Rule::token("typeform-token", &["tfp_"], &[Part::Secret(URLSAFE.or(Set::DOT).or(Set::EQUALS), 40, 80)]),
    Rule::token("prefect-key", &["pnu_", "pnb_"], &[Part::Secret(Set::ALNUM, 36, 36), Part::End(Set::WORD)])
        .only_if(value::has_digit),
    Rule::token("readme-key", &["rdme_"], &[Part::Secret(Set::ALNUM, 60, 80)]),
    Rule::token(
        "plaid-token",
        &["access-production-", "access-sandbox-", "access-development-"],
        &[Part::Secret(Set::HEX.or(Set::DASH), 36, 36)],
    ),
    Rule::token("facebook-token", &["EAACEdEose0cBA", "EAA"], &[Part::Secret(Set::ALNUM, 90, TOKEN_LEN_MAX)])
        .not_after(URLSAFE.or(Set::PLUS).or(Set::SLASH))
        .only_if(value::is_mixed_random),
    Rule::token(
        "launchdarkly-key",
        &["sdk-", "mob-"],
        &[
            Part::Secret(Set::HEX, 8, 8),
            Part::Literal("-"),
            Part::Secret(Set::HEX.or(Set::DASH), 27, 27),
            Part::End(Set::WORD),
        ],
    )
    .only_if(value::has_digit),
    Rule::token("adobe-secret", &["p8e-"], &[Part::Secret(Set::ALNUM, 32, 32), Part::End(Set::BASE64URL)])
        .not_after(URLSAFE)
        .only_if(value::is_issued),
    Rule::token(
        "authress-key",
        &[".acc_", ".acc-"],
        &[Part::Secret(URLSAFE, 10, 32), Part::Literal("."), Part::Secret(Set::BASE64_BOTH, 30, 120)],
    )
    .anywhere(),
    Rule::token(
        "flutterwave-key",
        &["FLWSECK_TEST-", "FLWSECK_LIVE-", "FLWSECK-"],
        &[Part::Secret(Set::ALNUM, 12, 64)],
    ),
    Rule::token("frameio-token", &["fio-u-"], &[Part::Secret(URLSAFE.or(Set::EQUALS), 64, 64)]),
    Rule::token("intra42-secret", &["s-s4t2ud-", "s-s4t2af-"], &[Part::Secret(Set::HEX, 64, 64)]),
    Rule::token("settlemint-token", &["sm_pat_", "sm_aat_", "sm_sat_"], &[Part::Secret(Set::ALNUM, 16, 64)])
        .only_if(value::is_issued_in_both_cases),
    Rule::token("shippo-token", &["shippo_live_", "shippo_test_"], &[Part::Secret(Set::HEX_ANY, 40, 64)]),
    Rule::token("lob-key", &["live_", "test_"], &[Part::Secret(Set::HEX, 35, 35), Part::End(Set::WORD)])
        .only_if(value::has_digit),
    Rule::token("contentful-token", &["CFPAT-"], &[Part::Secret(URLSAFE, 40, 64)]),
    Rule::token("posthog-key", &["phx_"], &[Part::Secret(Set::ALNUM, 40, 64), Part::End(Set::WORD)])
        .only_if(value::is_issued_in_both_cases),
    Rule::token(
        "honeycomb-key",
        &["hcaik_", "hcalk_", "hcamk_", "hcbik_"],
        &[Part::Secret(Set::LOWER.or(Set::DIGIT), 32, 128)],
    )
    .only_if(value::has_digit),
    Rule::token("mapbox-token", &["sk.eyJ1Ijoi"], &[Part::Secret(URLSAFE.or(Set::DOT), 40, TOKEN_LEN_MAX)]),
    Rule::token(
        "clickup-token",
        &["pk_"],
        &[
            Part::Shown(Set::DIGIT, 4, 12),
            Part::Literal("_"),
            Part::Secret(Set::UPPER_DIGIT, 32, 32),
            Part::End(Set::WORD),
        ],
    ),
    Rule::token(
        "password-hash",
        &["$6$", "$5$", "$1$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2id$", "$argon2i$"],
        &[Part::Secret(HASH, 28, 256)],
    )
    .anywhere()
    .only_if(value::is_mixed),
];
