//! A received batch, with rules applied to every text in it.
//!
//! Works on the batch as JSON, so that fields and kinds that this version does not know are searched as well. What is no
//! text of the script's (ids, hashes, kinds, operators) is left alone. This does not know HTTP, files or the journal.

use std::collections::BTreeSet;

use nash_events::bytes::{from_base64, to_base64};
use nash_events::limits::ARG_BYTES_MAX;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::finding::{Finding, mask};
use super::{Piece, Rules};

/// What the key of a text's bytes in base64 ends with.
const BASE64_SUFFIX: &str = "B64";

/// Keys of an event that hold words of the format's own.
const OWN_WORDS: &[&str] =
    &["kind", "type", "op", "phase", "mode", "via", "persona", "version", "capture", "kernel", "direction", "redacted"];

/// Keys at any depth that hold names and hashes of the format's own.
const OWN_NAMES: &[&str] =
    &["sha256", "buildId", "hashOf", "bootId", "pipelineId", "procsub", "id", "pathSource", "family"];

/// Applies rules to every text of a batch, and says in each event which of them masked something.
///
/// Where a preview was masked, its hash is one of what is known: recomputed over the masked bytes where these are all, gone
/// where they are a part, since the true bytes' hash would tell a short secret to whoever tries.
pub fn mask_batch(rules: &[Rules], batch: &mut Value) {
    if let Some(Value::Object(agent)) = batch.get_mut("agent") {
        Search::new(rules).object(agent, &[]);
    }
    let Some(Value::Array(events)) = batch.get_mut("events") else { return };
    for event in events.iter_mut().filter_map(Value::as_object_mut) {
        mask_event(rules, event);
    }
}

fn mask_event(rules: &[Rules], event: &mut Map<String, Value>) {
    let mut search = Search::new(rules);
    search.path = event.get("target").and_then(Value::as_object).and_then(|target| bytes_of(target, "path"));
    search.cut = event.get("truncated") == Some(&Value::Bool(true));
    search.arguments_cut = event.get("argvTruncated") == Some(&Value::Bool(true));
    search.object(event, OWN_WORDS);
    if search.data_masked {
        hash_what_is_known(event);
    }
    if search.masked_by.is_empty() {
        return;
    }
    let told = event.entry("redacted").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(told) = told {
        let known: BTreeSet<String> = told.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        *told =
            known.into_iter().chain(search.masked_by).collect::<BTreeSet<_>>().into_iter().map(Value::from).collect();
    }
}

/// Replaces the hash of data of which something was masked.
fn hash_what_is_known(event: &mut Map<String, Value>) {
    let is_whole = event.get("truncated") != Some(&Value::Bool(true));
    let known = bytes_of(event, "preview").or_else(|| bytes_of(event, "input"));
    event.remove("hashedBytes");
    let hashed = event.remove("sha256").is_some();
    event.remove("hashOf");
    if let Some(known) = known.filter(|_| is_whole && hashed) {
        let hash = format!("{:x}", Sha256::digest(&known));
        event.insert("sha256".to_owned(), hash.into());
        event.insert("hashOf".to_owned(), "redacted".into());
    }
}

/// The bytes under a key: those in base64 where there are any, else the text.
fn bytes_of(object: &Map<String, Value>, key: &str) -> Option<Vec<u8>> {
    let encoded = object.get(&format!("{key}{BASE64_SUFFIX}")).and_then(Value::as_str);
    let text = || object.get(key).and_then(Value::as_str).map(|text| text.as_bytes().to_vec());
    encoded.and_then(|encoded| from_base64(encoded).ok()).or_else(text)
}

/// A search through one event.
struct Search<'r> {
    rules: &'r [Rules],
    masked_by: BTreeSet<String>,
    /// The file whose content the event shows.
    path: Option<Vec<u8>>,
    /// Whether that content was cut.
    cut: bool,
    arguments_cut: bool,
    /// Whether something of that content was masked.
    data_masked: bool,
}

impl<'r> Search<'r> {
    fn new(rules: &'r [Rules]) -> Self {
        Self { rules, masked_by: BTreeSet::new(), path: None, cut: false, arguments_cut: false, data_masked: false }
    }

    /// Masks every text below an object but those under `left` and the format's own.
    fn object(&mut self, object: &mut Map<String, Value>, left: &[&str]) {
        let keys: Vec<String> = object.keys().cloned().collect();
        let searched = |key: &&String| !left.contains(&key.as_str()) && !OWN_NAMES.contains(&key.as_str());
        for key in keys.iter().filter(searched) {
            match key.strip_suffix(BASE64_SUFFIX) {
                // Done with its text.
                Some(text) if object.contains_key(text) => {}
                Some(_) => self.bytes(object, key),
                None => self.text(object, key),
            }
        }
    }

    /// Masks bytes that have no text beside them, such as a preview.
    fn bytes(&mut self, object: &mut Map<String, Value>, key: &str) {
        let Some(bytes) = object.get(key).and_then(Value::as_str).and_then(|text| from_base64(text).ok()) else {
            return self.text(object, key);
        };
        let is_data = key == "previewB64";
        let path = self.path.clone().filter(|_| is_data);
        if let Some(masked) = self.masked(&Piece { text: &bytes, path: path.as_deref(), cut: self.cut }) {
            self.data_masked |= is_data;
            object.insert(key.to_owned(), to_base64(&masked).into());
        }
    }

    fn text(&mut self, object: &mut Map<String, Value>, key: &str) {
        let encoded_key = format!("{key}{BASE64_SUFFIX}");
        match object.get_mut(key) {
            Some(Value::String(_)) => {
                let Some(bytes) = bytes_of(object, key) else { return };
                let cut = self.cut && key == "input";
                let masked = self.masked(&Piece { text: &bytes, path: None, cut });
                self.data_masked |= masked.is_some() && key == "input";
                // Where there are two forms, the text is made anew in any case: it is to say what was searched.
                if masked.is_some() || object.contains_key(&encoded_key) {
                    let items = [masked.unwrap_or(bytes)];
                    put(object, key, &encoded_key, &items, |mut texts| texts.pop().unwrap_or_default().into());
                }
            }
            Some(Value::Array(items)) if items.iter().all(Value::is_string) => self.list(object, key, &encoded_key),
            Some(Value::Array(items)) => items.iter_mut().for_each(|item| self.any(item)),
            Some(value) => self.any(value),
            None => {}
        }
    }

    /// Masks a list of texts, each by itself and all of them as the line that they make: a secret may be known by the word
    /// before it.
    fn list(&mut self, object: &mut Map<String, Value>, key: &str, encoded_key: &str) {
        let Some(mut items) = list_of(object, encoded_key, |item| from_base64(item).ok())
            .or_else(|| list_of(object, key, |item| Some(item.as_bytes().to_vec())))
        else {
            return;
        };
        let mut changed = object.contains_key(encoded_key);
        let last = items.len().saturating_sub(1);
        for (index, item) in items.iter_mut().enumerate() {
            // A cut never leaves part of a character, so a cut argument may be three bytes shorter than its bound.
            let cut = self.arguments_cut && (index == last || item.len() + 3 >= ARG_BYTES_MAX);
            if let Some(masked) = self.masked(&Piece { text: item, path: None, cut }) {
                *item = masked;
                changed = true;
            }
        }
        changed |= items.len() > 1 && self.line(&mut items);
        if changed {
            put(object, key, encoded_key, &items, Value::from);
        }
    }

    /// Masks what is found in a list's items as one line, in the items; tells whether anything was.
    fn line(&mut self, items: &mut [Vec<u8>]) -> bool {
        let mut changed = false;
        for rules in self.rules {
            let line = items.join(&b' ');
            let found = rules.find(&Piece { text: &line, path: None, cut: false });
            let mut start = 0;
            for item in items.iter_mut() {
                let end = start + item.len();
                let here: Vec<Finding<'_>> = found.iter().filter_map(|finding| within(finding, start, end)).collect();
                if !here.is_empty() {
                    *item = mask(item, &here);
                    self.masked_by.extend(here.iter().flat_map(|finding| &finding.rules).map(|id| (*id).to_owned()));
                    changed = true;
                }
                start = end + 1;
            }
        }
        changed
    }

    fn any(&mut self, value: &mut Value) {
        match value {
            Value::Object(object) => self.object(object, &[]),
            Value::Array(items) => items.iter_mut().for_each(|item| self.any(item)),
            Value::String(text) => {
                if let Some(masked) = self.masked(&Piece { text: text.as_bytes(), path: None, cut: false }) {
                    *text = String::from_utf8_lossy(&masked).into_owned();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The text without what the rules of all files find; nothing where they find nothing.
    fn masked(&mut self, piece: &Piece<'_>) -> Option<Vec<u8>> {
        let mut masked: Option<Vec<u8>> = None;
        for rules in self.rules {
            let text = masked.as_deref().unwrap_or(piece.text);
            let found = rules.find(&Piece { text, ..*piece });
            if !found.is_empty() {
                self.masked_by.extend(found.iter().flat_map(|finding| &finding.rules).map(|id| (*id).to_owned()));
                masked = Some(mask(text, &found));
            }
        }
        masked
    }
}

/// The part of a finding that lies in an item, counted from the item's start.
fn within<'r>(finding: &Finding<'r>, start: usize, end: usize) -> Option<Finding<'r>> {
    let range = finding.range.start.max(start)..finding.range.end.min(end);
    let inside = range.start < range.end;
    inside.then(|| Finding { range: range.start - start..range.end - start, rules: finding.rules.clone() })
}

fn list_of(object: &Map<String, Value>, key: &str, read: impl Fn(&str) -> Option<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
    let items = object.get(key)?.as_array()?;
    items.iter().map(|item| read(item.as_str()?)).collect()
}

/// Writes texts under a key, and their bytes under the other where the texts are not the whole truth.
fn put(
    object: &mut Map<String, Value>,
    key: &str,
    encoded_key: &str,
    items: &[Vec<u8>],
    form: impl Fn(Vec<String>) -> Value,
) {
    object.insert(key.to_owned(), form(items.iter().map(|item| String::from_utf8_lossy(item).into_owned()).collect()));
    if items.iter().all(|item| std::str::from_utf8(item).is_ok()) {
        object.remove(encoded_key);
    } else {
        object.insert(encoded_key.to_owned(), form(items.iter().map(|item| to_base64(item)).collect()));
    }
}
