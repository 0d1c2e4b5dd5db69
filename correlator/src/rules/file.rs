//! How rules are written down: the TOML of gitleaks' configuration, as far as it speaks of texts and not of commits.
//!
//! What is wrong is an error with its line; what has no effect here is said. Nothing is applied here.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::PatternID;
use regex_automata::meta::{self, BuildError, Regex};
use regex_automata::util::syntax;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::Rules;
use super::allow::{Allowlist, Target};
use super::rule::Rule;
use super::syntax::translated;

/// Bytes that one compiled regular expression may take: 10 MiB, what the library's makers think is sane.
pub(super) const REGEX_BYTES_MAX: usize = 10 << 20;

/// Why a file of rules can't be used.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct RulesError {
    /// Where, from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: String,
}

/// Keys that this version doesn't know.
type Unknown = BTreeMap<String, Value>;

/// What may be in a file. Keys may be written in lower case as well, as gitleaks takes them.
#[derive(Deserialize)]
struct RawFile {
    #[serde(default)]
    rules: Vec<Spanned<RawRule>>,
    #[serde(alias = "allowList")]
    allowlist: Option<RawAllowlist>,
    #[serde(default)]
    allowlists: Vec<RawAllowlist>,
    #[serde(default)]
    extend: BTreeMap<String, Value>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRule {
    id: Option<String>,
    regex: Option<Spanned<String>>,
    #[serde(alias = "secretgroup")]
    secret_group: Option<Spanned<usize>>,
    #[serde(default)]
    entropy: f64,
    path: Option<Spanned<String>>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(alias = "allowList")]
    allowlist: Option<RawAllowlist>,
    #[serde(default)]
    allowlists: Vec<RawAllowlist>,
    #[serde(default, alias = "skipreport")]
    skip_report: bool,
    required: Option<Value>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawAllowlist {
    condition: Option<Spanned<String>>,
    #[serde(alias = "regextarget")]
    regex_target: Option<Spanned<String>>,
    #[serde(default)]
    regexes: Vec<Spanned<String>>,
    #[serde(default)]
    paths: Vec<Spanned<String>>,
    #[serde(default, alias = "stopWords")]
    stopwords: Vec<String>,
    #[serde(default)]
    commits: Vec<String>,
    #[serde(default, alias = "targetrules")]
    target_rules: Vec<Spanned<String>>,
    #[serde(flatten)]
    unknown: Unknown,
}

/// Keys that mean something to people or to gitleaks alone, and nothing here.
const SILENT: &[&str] = &["title", "description", "tags", "version", "minVersion", "minversion", "version"];

/// A reader of one file: what it says, and what has no effect.
struct Reader<'a> {
    text: &'a str,
    warnings: Vec<String>,
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<(Rules, Vec<String>), RulesError> {
    let mut reader = Reader { text, warnings: Vec::new() };
    let raw: RawFile = toml::from_str(text)
        .map_err(|error| reader.error(error.span().unwrap_or_default(), error.message().to_owned()))?;
    reader.warn_of_unknown(&raw.unknown, "at the top");
    reader.warn_of_extension(&raw.extend);
    let mut rules = Vec::with_capacity(raw.rules.len());
    for rule in raw.rules {
        let span = rule.span();
        rules.extend(reader.rule(rule.into_inner(), span)?);
    }
    let mut everywhere = Vec::new();
    for list in raw.allowlist.into_iter().chain(raw.allowlists) {
        let targets = list.target_rules.clone();
        if targets.is_empty() {
            everywhere.push(reader.allowlist(list, "at the top")?);
            continue;
        }
        for target in &targets {
            let Some(rule) = rules.iter_mut().find(|rule: &&mut Rule| rule.id == *target.get_ref()) else {
                let reason = format!("no rule {:?} for this allowlist", target.get_ref());
                return Err(reader.error(target.span(), reason));
            };
            rule.allowlists.push(reader.allowlist(list.clone(), "at the top")?);
        }
    }
    let rules = Rules::new(rules, everywhere).map_err(|error| reader.error(0..0, format!("the keywords: {error}")))?;
    Ok((rules, reader.warnings))
}

impl Reader<'_> {
    /// Compiles a rule; nothing for one that only other rules would use.
    fn rule(&mut self, raw: RawRule, span: Range<usize>) -> Result<Option<Rule>, RulesError> {
        let Some(id) = raw.id.filter(|id| !id.is_empty()) else {
            return Err(self.error(span, "a rule without an id".to_owned()));
        };
        let of = format!("in rule {id:?}");
        self.warn_of_unknown(&raw.unknown, &of);
        if raw.skip_report {
            self.warnings.push(format!("rule {id:?} has skipReport and is not used"));
            return Ok(None);
        }
        if raw.required.is_some() {
            self.warnings.push(format!("\"required\" {of} is not looked at: the rule counts by itself"));
        }
        let written = raw.regex.filter(|regex| !regex.get_ref().is_empty());
        let regex = written.as_ref().map(|regex| self.regex(regex, &of)).transpose()?;
        let path = raw.path.filter(|path| !path.get_ref().is_empty());
        let path = path.as_ref().map(|path| self.regex(path, &of)).transpose()?;
        if regex.is_none() && path.is_none() {
            return Err(self.error(span, format!("rule {id:?} has neither a regex nor a path")));
        }
        let groups = regex.as_ref().map_or(0, |regex| regex.group_info().group_len(PatternID::ZERO) - 1);
        if let Some(group) = raw.secret_group.as_ref().filter(|group| *group.get_ref() > groups) {
            let reason = format!("secretGroup = {} {of}, whose regex has {groups} groups", group.get_ref());
            return Err(self.error(group.span(), reason));
        }
        let mut allowlists = Vec::new();
        for list in raw.allowlist.into_iter().chain(raw.allowlists) {
            allowlists.push(self.allowlist(list, &of)?);
        }
        Ok(Some(Rule {
            regex: written.map(Spanned::into_inner).zip(regex),
            secret_group: raw.secret_group.map_or(0, Spanned::into_inner),
            entropy: raw.entropy,
            path,
            keywords: lower_case(raw.keywords),
            allowlists,
            beginnings: OnceLock::new(),
            id,
        }))
    }

    fn allowlist(&mut self, raw: RawAllowlist, of: &str) -> Result<Allowlist, RulesError> {
        let place = format!("in an allowlist {of}");
        self.warn_of_unknown(&raw.unknown, &place);
        let all = match raw.condition.as_ref().map(|word| word.get_ref().to_uppercase()).as_deref() {
            None | Some("" | "OR" | "||") => false,
            Some("AND" | "&&") => true,
            Some(_) => return Err(self.unexpected(raw.condition, "condition", "\"OR\" or \"AND\"", &place)),
        };
        let target = match raw.regex_target.as_ref().map(|word| word.get_ref().as_str()) {
            None | Some("" | "secret") => Target::Secret,
            Some("match") => Target::Match,
            Some("line") => Target::Line,
            Some(_) => {
                return Err(self.unexpected(
                    raw.regex_target,
                    "regexTarget",
                    "\"secret\", \"match\" or \"line\"",
                    &place,
                ));
            }
        };
        if !raw.commits.is_empty() {
            self.warnings.push(format!("\"commits\" {place} means nothing here: no text belongs to a commit"));
        }
        let regexes = |list: &[Spanned<String>]| {
            list.iter().map(|regex| self.regex(regex, &place)).collect::<Result<Vec<_>, _>>()
        };
        Ok(Allowlist {
            all,
            target,
            regexes: regexes(&raw.regexes)?,
            paths: regexes(&raw.paths)?,
            stopwords: raw.stopwords.iter().map(|word| word.to_lowercase()).filter(|word| !word.is_empty()).collect(),
            has_commits: !raw.commits.is_empty(),
        })
    }

    /// Compiles a regular expression. Classes such as `\w` are of ASCII, as gitleaks has them, unless it names others.
    fn regex(&self, regex: &Spanned<String>, of: &str) -> Result<Regex, RulesError> {
        let pattern = translated(regex.get_ref());
        let bytes = syntax::Config::new().unicode(false).utf8(false);
        let config = meta::Config::new().utf8_empty(false).nfa_size_limit(Some(REGEX_BYTES_MAX));
        let build = |syntax| {
            let built = Regex::builder().configure(config.clone()).syntax(syntax).build(&pattern);
            built.map_err(Box::new)
        };
        match build(bytes) {
            Ok(regex) => Ok(regex),
            Err(_) => build(bytes.unicode(true)).map_err(|error| {
                let reason = format!("the regular expression {of}: {}", why(&error));
                self.error(regex.span(), reason)
            }),
        }
    }

    fn unexpected(&self, word: Option<Spanned<String>>, key: &str, expected: &str, place: &str) -> RulesError {
        let (span, word) = word.map_or((0..0, String::new()), |word| (word.span(), word.into_inner()));
        self.error(span, format!("{key} = {word:?} {place}, expected {expected}"))
    }

    fn warn_of_unknown(&mut self, unknown: &Unknown, place: &str) {
        let names = unknown.keys().filter(|name| !SILENT.contains(&name.as_str()));
        self.warnings.extend(names.map(|name| format!("unknown key {name:?} {place}, ignored")));
    }

    fn warn_of_extension(&mut self, extend: &Unknown) {
        if extend.contains_key("path") || extend.contains_key("url") {
            self.warnings.push("\"extend\" is not followed: give the other file with --rules as well".to_owned());
        }
        if extend.get("useDefault").or(extend.get("usedefault")).is_some_and(|value| *value == Value::Boolean(true)) {
            let text =
                "\"extend.useDefault\": gitleaks' own rules are not part of nash, whose built-in rules always apply";
            self.warnings.push(text.to_owned());
        }
    }

    fn error(&self, span: Range<usize>, reason: String) -> RulesError {
        let before = self.text.get(..span.start).unwrap_or_default();
        RulesError { line: before.matches('\n').count() + 1, reason }
    }
}

/// The one line of a library's complaint that says what is wrong.
fn why(error: &BuildError) -> String {
    if let Some(limit) = error.size_limit() {
        return format!("takes more than {limit} bytes when compiled");
    }
    let text = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    let told = text.lines().rev().find_map(|line| line.trim().strip_prefix("error: ").map(str::to_owned));
    told.unwrap_or(text)
}

/// The keywords in lower case. An empty one is in every text, so the rule needs none then.
fn lower_case(keywords: Vec<String>) -> Vec<String> {
    if keywords.iter().any(String::is_empty) {
        return Vec::new();
    }
    keywords.into_iter().map(|word| word.to_lowercase()).collect()
}
