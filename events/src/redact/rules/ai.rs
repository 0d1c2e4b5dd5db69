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
    Rule::token("anthropic-key", &["sk-ant-"], URLSAFE).only_if(value::looks_random),
    Rule::token("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-service-"], URLSAFE)
        .only_if(value::is_issued),
    Rule::token("openrouter-key", &["sk-or-v1-"], &[Part::Secret(Set::HEX, 40, 128)]),
    Rule::token("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], &[Part::Secret(Set::WORD, 30, 128)]),
    Rule::token("langfuse-key", &["sk-lf-"], &[Part::Secret(Set::HEX.or(Set::DASH), 36, 36), Part::End(Set::WORD)]),
    Rule::token("openai-key", &["sk-"], &[Part::Secret(Set::ALNUM, 32, TOKEN_LEN_MAX), Part::End(Set::DASH)])
        .not_after(Set::BASE64URL)
        .only_if(value::looks_random),
    Rule::token("huggingface-token", &["hf_", "api_org_"], &[Part::Secret(Set::ALNUM, 30, 128), Part::End(Set::WORD)])
        .only_if(value::is_issued_in_both_cases),
    Rule::token("groq-key", &["gsk_"], &[Part::Secret(Set::ALNUM, 40, 128)]).only_if(value::is_issued_in_both_cases),
    Rule::token("xai-key", &["xai-"], &[Part::Secret(Set::ALNUM, 60, 128)]).only_if(value::is_issued_in_both_cases),
    Rule::token("perplexity-key", &["pplx-"], &[Part::Secret(Set::ALNUM, 40, 128)])
        .only_if(value::is_issued_in_both_cases),
    Rule::token("replicate-token", &["r8_"], &[Part::Secret(Set::ALNUM, 37, 64)])
        .only_if(value::is_issued_in_both_cases),
    Rule::token("together-key", &["tgp_v1_"], &[Part::Secret(Set::BASE64URL, 30, 128)]),
    Rule::token("fireworks-key", &["fw_"], &[Part::Secret(Set::ALNUM, 20, 64), Part::End(Set::BASE64URL)])
        .not_after(Set::BASE64URL)
        .only_if(value::is_mixed_random),
    Rule::token("cerebras-key", &["csk-"], &[Part::Secret(Set::ALNUM, 40, 128)]).only_if(value::is_issued),
    Rule::token("llamacloud-key", &["llx-"], &[Part::Secret(Set::ALNUM, 40, 128)]).only_if(value::is_issued),
    Rule::token("tavily-key", &["tvly-"], &[Part::Secret(Set::BASE64URL, 30, 128)]).only_if(value::is_issued),
    Rule::token("firecrawl-key", &["fc-"], &[Part::Secret(Set::HEX, 32, 32), Part::End(Set::BASE64URL)])
        .not_after(Set::BASE64URL)
        .only_if(value::has_digit),
    Rule::token("jina-key", &["jina_"], &[Part::Secret(Set::BASE64URL, 50, 128)]).only_if(value::is_issued),
    Rule::token("pinecone-key", &["pcsk_"], &[Part::Secret(Set::WORD, 40, 128)]).only_if(value::is_issued),
    Rule::token("wandb-key", &["wandb_v1_"], &[Part::Secret(Set::WORD, 40, 128)]),
    Rule::token("e2b-key", &["sk_e2b_", "e2b_"], &[Part::Secret(Set::HEX, 40, 64), Part::End(Set::WORD)]),
    Rule::token("elevenlabs-key", &["sk_"], &[Part::Secret(Set::HEX, 48, 48), Part::End(Set::WORD)]),
    Rule::token("nvidia-key", &["nvapi-"], &[Part::Secret(Set::BASE64URL, 50, 128)])
        .only_if(value::is_issued_in_both_cases),
];
