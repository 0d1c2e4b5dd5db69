//! Keys of model providers.
//!
//! The bare `sk-` comes last, since other providers took it as the start of their own prefixes.

use super::super::bytes::Set;
use super::super::rule::{Part, Rule};
use super::super::value;
use super::TOKEN_LEN_MAX;

const URLSAFE: &[Part] = &[Part::Secret(Set::BASE64URL, 20, TOKEN_LEN_MAX)];

pub(super) const RULES: &[Rule] = &[
    Rule::token(
        "anthropic-key",
        &["sk-ant-api03-", "sk-ant-admin01-", "sk-ant-oat01-", "sk-ant-ort01-", "sk-ant-sid01-"],
        URLSAFE,
    ),
    Rule::token("anthropic-key", &["sk-ant-"], URLSAFE).only_if(value::has_digit),
    Rule::token("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-service-"], URLSAFE)
        .only_if(value::has_digit),
    Rule::token("openrouter-key", &["sk-or-v1-"], &[Part::Secret(Set::HEX, 40, 128)]),
    Rule::token("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], &[Part::Secret(Set::WORD, 30, 128)]),
    Rule::token("openai-key", &["sk-"], &[Part::Secret(Set::ALNUM, 32, TOKEN_LEN_MAX), Part::End(Set::DASH)])
        .not_after(Set::BASE64URL)
        .only_if(value::looks_random),
    Rule::token("huggingface-token", &["hf_", "api_org_"], &[Part::Secret(Set::ALNUM, 30, 128), Part::End(Set::WORD)])
        .only_if(value::is_mixed),
    Rule::token("groq-key", &["gsk_"], &[Part::Secret(Set::ALNUM, 40, 128)]).only_if(value::is_mixed),
    Rule::token("xai-key", &["xai-"], &[Part::Secret(Set::ALNUM, 60, 128)]).only_if(value::is_mixed),
    Rule::token("perplexity-key", &["pplx-"], &[Part::Secret(Set::ALNUM, 40, 128)]).only_if(value::is_mixed),
    Rule::token("replicate-token", &["r8_"], &[Part::Secret(Set::ALNUM, 37, 64)]).only_if(value::is_mixed),
    Rule::token("nvidia-key", &["nvapi-"], &[Part::Secret(Set::BASE64URL, 50, 128)]).only_if(value::is_mixed),
];
