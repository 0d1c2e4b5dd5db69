//! Tokens of package registries and container registries.
//!
//! Settings files of the package managers are read here as far as a key alone tells that a value is a secret.

use super::super::bytes::Set;
use super::super::rule::{Part, Rule};
use super::super::value;
use super::TOKEN_LEN_MAX;

pub(super) const RULES: &[Rule] = &[
    Rule::token("npm-token", &["npm_"], &[Part::Secret(Set::ALNUM, 30, 128), Part::End(Set::WORD)])
        .only_if(value::is_issued_in_both_cases),
    Rule::grammar(
        "npm-token",
        &["_authToken", "_auth", "_password"],
        super::super::grammars::provider::registry_setting,
    ),
    Rule::token("pypi-token", &["pypi-"], &[Part::Secret(Set::BASE64URL, 50, TOKEN_LEN_MAX)])
        .only_if(value::is_issued_in_both_cases),
    Rule::token("docker-token", &["dckr_pat_", "dckr_oat_"], &[Part::Secret(Set::BASE64URL, 20, 128)]),
    Rule::grammar(
        "docker-auth",
        &["\"auth\"", "\"identitytoken\"", "\"registrytoken\""],
        super::super::grammars::provider::docker_auth,
    ),
    Rule::token("rubygems-key", &["rubygems_"], &[Part::Secret(Set::HEX, 40, 64)]),
    Rule::token("cargo-token", &["cio"], &[Part::Secret(Set::ALNUM, 32, 32), Part::End(Set::WORD)])
        .only_if(value::is_mixed),
    Rule::token("nuget-key", &["oy2"], &[Part::Secret(Set::LOWER.or(Set::DIGIT), 43, 43), Part::End(Set::WORD)])
        .only_if(value::has_digit),
    Rule::token("jfrog-key", &["AKCp"], &[Part::Secret(Set::ALNUM, 60, 128)]).only_if(value::has_digit),
    Rule::token("clojars-token", &["CLOJARS_"], &[Part::Secret(Set::ALNUM, 50, 80)]).any_case(),
    Rule::token("artifactory-token", &["cmVmd"], &[Part::Secret(Set::ALNUM, 59, 59), Part::End(Set::BASE64)])
        .not_after(Set::BASE64URL.or(Set::PLUS).or(Set::SLASH))
        .only_if(value::is_mixed),
    Rule::token("deno-token", &["ddp_", "ddo_", "ddw_"], &[Part::Secret(Set::ALNUM, 36, 40), Part::End(Set::WORD)])
        .only_if(value::is_issued_in_both_cases),
];
