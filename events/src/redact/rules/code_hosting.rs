//! Tokens of code hosting and build services.
//!
//! Prefixes and alphabets come from the providers' own documentation; lengths are lower bounds, because providers lengthen
//! their tokens without notice.

use super::super::bytes::Set;
use super::super::rule::{Part, Rule};
use super::super::value;
use super::TOKEN_LEN_MAX;

pub(super) const RULES: &[Rule] = &[
    Rule::token("github-token", &["github_pat_"], &[Part::Secret(Set::WORD, 22, TOKEN_LEN_MAX)]).anywhere(),
    Rule::token(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        &[Part::Secret(Set::WORD, 30, TOKEN_LEN_MAX)],
    )
    .only_if(value::is_issued),
    Rule::token(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-",
            "glffct-", "glrtr-", "glwt-",
        ],
        &[Part::Secret(Set::BASE64URL.or(Set::DOT), 20, TOKEN_LEN_MAX)],
    )
    .only_if(value::is_issued),
    Rule::token("gitlab-token", &["GR1348941"], &[Part::Secret(Set::BASE64URL, 20, TOKEN_LEN_MAX)]),
    Rule::token("bitbucket-token", &["ATBB"], &[Part::Secret(Set::ALNUM, 28, 64)]).only_if(value::looks_random),
    Rule::token(
        "atlassian-token",
        &["ATATT3", "ATCTT3"],
        &[Part::Secret(Set::BASE64URL.or(Set::EQUALS), 60, TOKEN_LEN_MAX)],
    ),
    Rule::token("gitlab-token", &["_gitlab_session="], &[Part::Secret(Set::HEX, 32, 64)]).anywhere(),
    Rule::token("circleci-token", &["CCIPAT_", "CCIPRJ_"], &[Part::Secret(Set::WORD, 20, TOKEN_LEN_MAX)]),
    Rule::token("buildkite-token", &["bkua_", "bkct_", "bkaj_"], &[Part::Secret(Set::WORD, 40, 128)]),
    Rule::token("terraform-token", &[".atlasv1."], &[Part::Secret(Set::BASE64URL.or(Set::EQUALS), 30, TOKEN_LEN_MAX)])
        .anywhere(),
    Rule::token("pulumi-token", &["pul-"], &[Part::Secret(Set::HEX, 40, 64)]),
    Rule::token("sonar-token", &["sqp_", "squ_", "sqa_"], &[Part::Secret(Set::HEX, 40, 64)]),
    Rule::token("sourcegraph-token", &["sgp_"], &[Part::Secret(Set::WORD, 40, TOKEN_LEN_MAX)])
        .only_if(value::is_issued),
    Rule::token(
        "postman-key",
        &["PMAK-"],
        &[Part::Secret(Set::HEX, 24, 24), Part::Literal("-"), Part::Secret(Set::HEX, 34, 34), Part::End(Set::ALNUM)],
    ),
    Rule::token(
        "harness-token",
        &["pat.", "sat."],
        &[
            Part::Secret(Set::BASE64URL, 22, 22),
            Part::Literal("."),
            Part::Secret(Set::ALNUM, 24, 24),
            Part::Literal("."),
            Part::Secret(Set::ALNUM, 20, 20),
            Part::End(Set::WORD),
        ],
    ),
    Rule::token("octopus-key", &["API-"], &[Part::Secret(Set::UPPER_DIGIT, 26, 26), Part::End(Set::WORD)])
        .not_after(Set::BASE64URL)
        .only_if(value::has_digit),
    Rule::token("snyk-token", &["snyk_uat.", "snyk_sat."], &[Part::Secret(Set::BASE64URL.or(Set::DOT), 40, 256)]),
    Rule::token("infracost-key", &["ico-"], &[Part::Secret(Set::ALNUM, 32, 32), Part::End(Set::BASE64URL)])
        .not_after(Set::BASE64URL)
        .only_if(value::is_issued_in_both_cases),
    Rule::token("chromatic-token", &["chpt_"], &[Part::Secret(Set::HEX, 12, 64), Part::End(Set::WORD)]),
    Rule::token(
        "depot-token",
        &["depot_project_", "depot_org_", "depot_user_"],
        &[Part::Secret(Set::HEX, 40, 128), Part::End(Set::WORD)],
    ),
];
