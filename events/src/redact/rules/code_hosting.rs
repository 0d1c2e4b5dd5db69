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
    .only_if(value::has_digit),
    Rule::token(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-",
            "glffct-", "glrtr-", "glwt-",
        ],
        &[Part::Secret(Set::BASE64URL.or(Set::DOT), 20, TOKEN_LEN_MAX)],
    )
    .only_if(value::has_digit),
    Rule::token("gitlab-token", &["GR1348941"], &[Part::Secret(Set::BASE64URL, 20, TOKEN_LEN_MAX)]),
    Rule::token("bitbucket-token", &["ATBB"], &[Part::Secret(Set::ALNUM, 28, 64)]).only_if(value::looks_random),
    Rule::token(
        "atlassian-token",
        &["ATATT3", "ATCTT3"],
        &[Part::Secret(Set::BASE64URL.or(Set::EQUALS), 60, TOKEN_LEN_MAX)],
    ),
    Rule::token("circleci-token", &["CCIPAT_", "CCIPRJ_"], &[Part::Secret(Set::WORD, 20, TOKEN_LEN_MAX)]),
    Rule::token("buildkite-token", &["bkua_"], &[Part::Secret(Set::HEX, 40, 64)]),
    Rule::token("terraform-token", &[".atlasv1."], &[Part::Secret(Set::BASE64URL.or(Set::EQUALS), 30, TOKEN_LEN_MAX)])
        .anywhere(),
    Rule::token("pulumi-token", &["pul-"], &[Part::Secret(Set::HEX, 40, 64)]),
    Rule::token("sonar-token", &["sqp_", "squ_", "sqa_"], &[Part::Secret(Set::HEX, 40, 64)]),
    Rule::token("sourcegraph-token", &["sgp_"], &[Part::Secret(Set::WORD, 40, TOKEN_LEN_MAX)])
        .only_if(value::has_digit),
    Rule::token(
        "postman-key",
        &["PMAK-"],
        &[Part::Secret(Set::HEX, 24, 24), Part::Literal("-"), Part::Secret(Set::HEX, 34, 34), Part::End(Set::ALNUM)],
    ),
];
