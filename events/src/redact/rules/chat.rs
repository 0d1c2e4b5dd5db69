//! Tokens and webhooks of chat and mail services.
//!
//! A webhook's address is its secret, so its path is masked and its host kept.

use super::super::bytes::Set;
use super::super::rule::{Part, Rule};
use super::super::value;
use super::TOKEN_LEN_MAX;

/// How a Discord bot token starts: the base64 of a decimal number, whose first three letters can only be these.
const DISCORD_HEADS: &[&str] = &[
    "MTA", "MTE", "MTI", "MTM", "MTQ", "MTU", "MTY", "MTc", "MTg", "MTk", "MjA", "MjE", "MjI", "MjM", "MjQ", "MjU",
    "MjY", "Mjc", "Mjg", "Mjk", "MzA", "MzE", "MzI", "MzM", "MzQ", "MzU", "MzY", "Mzc", "Mzg", "Mzk", "NDA", "NDE",
    "NDI", "NDM", "NDQ", "NDU", "NDY", "NDc", "NDg", "NDk", "NTA", "NTE", "NTI", "NTM", "NTQ", "NTU", "NTY", "NTc",
    "NTg", "NTk", "NjA", "NjE", "NjI", "NjM", "NjQ", "NjU", "NjY", "Njc", "Njg", "Njk", "NzA", "NzE", "NzI", "NzM",
    "NzQ", "NzU", "NzY", "Nzc", "Nzg", "Nzk", "ODA", "ODE", "ODI", "ODM", "ODQ", "ODU", "ODY", "ODc", "ODg", "ODk",
    "OTA", "OTE", "OTI", "OTM", "OTQ", "OTU", "OTY", "OTc", "OTg", "OTk",
];

pub(super) const RULES: &[Rule] = &[
    Rule::token("slack-token", &["xoxe.xoxb-", "xoxe.xoxp-"], &[Part::Secret(Set::BASE64URL, 20, TOKEN_LEN_MAX)]),
    Rule::token(
        "slack-token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxo-", "xoxc-", "xoxd-", "xapp-"],
        &[Part::Secret(Set::BASE64URL.or(Set::PERCENT), 10, TOKEN_LEN_MAX)],
    )
    .only_if(value::has_digit),
    Rule::token(
        "slack-webhook",
        &["hooks.slack.com/"],
        &[
            Part::Shown(Set::LOWER, 5, 12),
            Part::Literal("/"),
            Part::Secret(Set::WORD.or(Set::SLASH).or(Set::PLUS), 20, 256),
        ],
    ),
    Rule::token(
        "discord-webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        &[Part::Shown(Set::DIGIT, 8, 24), Part::Literal("/"), Part::Secret(Set::BASE64URL, 30, 256)],
    ),
    Rule::token(
        "teams-webhook",
        &[".webhook.office.com/webhookb2/"],
        &[Part::Secret(Set::BASE64URL.or(Set::SLASH).or(Set::AT), 60, 512)],
    )
    .anywhere(),
    Rule::token(
        "discord-token",
        DISCORD_HEADS,
        &[
            Part::Secret(Set::BASE64URL, 20, 26),
            Part::Literal("."),
            Part::Secret(Set::BASE64URL, 6, 6),
            Part::Literal("."),
            Part::Secret(Set::BASE64URL, 27, 40),
            Part::End(Set::BASE64URL.or(Set::DOT)),
        ],
    )
    .not_after(Set::BASE64URL.or(Set::DOT)),
    Rule::grammar("telegram-token", &[":AA"], super::super::grammars::provider::telegram_token),
    Rule::token("twilio-key", &["SK", "AC"], &[Part::Secret(Set::HEX_ANY, 32, 32), Part::End(Set::WORD)])
        .only_if(value::has_digit),
    Rule::token(
        "sendgrid-key",
        &["SG."],
        &[Part::Secret(Set::BASE64URL, 16, 32), Part::Literal("."), Part::Secret(Set::BASE64URL, 32, 64)],
    ),
    Rule::token("mailgun-key", &["key-"], &[Part::Secret(Set::HEX, 32, 32), Part::End(Set::BASE64URL)])
        .not_after(Set::BASE64URL)
        .only_if(value::has_digit),
    Rule::token("brevo-key", &["xkeysib-", "xsmtpsib-"], &[Part::Secret(Set::BASE64URL, 40, 128)]),
    Rule::token(
        "resend-key",
        &["re_"],
        &[Part::Secret(Set::ALNUM, 8, 8), Part::Literal("_"), Part::Secret(Set::ALNUM, 24, 24), Part::End(Set::WORD)],
    )
    .not_after(Set::BASE64URL)
    .only_if(value::is_issued_in_both_cases),
];
