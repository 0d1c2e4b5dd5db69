//! Who may send, and for which session.
//!
//! Tokens are kept as their SHA-256 and looked up by it: how long a comparison takes then tells nothing about a token. Making
//! and handing out tokens is not done here.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, ensure};
use nash_events::SessionId;
use sha2::{Digest, Sha256};

/// The known tokens.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    sessions_by_digest: HashMap<[u8; 32], Option<SessionId>>,
}

/// What a known token allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Grant {
    /// To speak for whichever session a batch names.
    AnySession,
    /// To speak for this session, whatever a batch names.
    Session(SessionId),
}

impl Tokens {
    /// Reads the tokens from where the command line and the environment say.
    pub(crate) fn gather(token_file: Option<&Path>, sessions: Option<&Path>) -> anyhow::Result<Self> {
        let mut tokens = Self::default();
        if let Some(path) = token_file {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("reading the token file {}", path.display()))?;
            let token = text.trim();
            ensure!(!token.is_empty(), "the token file {} is empty, expected one token", path.display());
            tokens.add(token, None);
        } else if let Some(token) = std::env::var_os("NUCLEIC_HOOK_TOKEN").filter(|token| !token.is_empty()) {
            let token = token.to_str().context("NUCLEIC_HOOK_TOKEN is not UTF-8")?.to_owned();
            tokens.add(&token, None);
        }
        if let Some(path) = sessions {
            tokens.add_sessions(path)?;
        }
        Ok(tokens)
    }

    /// Adds a token for one session, or for any.
    pub(crate) fn add(&mut self, token: &str, session: Option<SessionId>) {
        self.sessions_by_digest.insert(digest(token.as_bytes()), session);
    }

    /// Whether any token is known.
    pub(crate) fn any(&self) -> bool {
        !self.sessions_by_digest.is_empty()
    }

    /// What the value of an `Authorization` header allows; nothing where the token is not known.
    pub(crate) fn grant(&self, authorization: Option<&[u8]>) -> Option<Grant> {
        let value = authorization?;
        let (scheme, token) = value.split_at_checked("Bearer ".len())?;
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return None;
        }
        let session = self.sessions_by_digest.get(&digest(token.trim_ascii()))?;
        Some(session.clone().map_or(Grant::AnySession, Grant::Session))
    }

    fn add_sessions(&mut self, path: &Path) -> anyhow::Result<()> {
        let file = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("reading the sessions file {file}"))?;
        let sessions: BTreeMap<String, String> = toml::from_str(&text)
            .with_context(|| format!("the sessions file {file}: expected lines like: session = \"token\""))?;
        for (session, token) in sessions {
            ensure!(!token.trim().is_empty(), "the sessions file {file}: the token of {session:?} is empty");
            let known = self.sessions_by_digest.contains_key(&digest(token.trim().as_bytes()));
            ensure!(!known, "the sessions file {file}: the token of {session:?} is used twice");
            self.add(token.trim(), Some(SessionId(session)));
        }
        Ok(())
    }
}

fn digest(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_whole_or_not_at_all() {
        let mut tokens = Tokens::default();
        tokens.add("abc", None);
        tokens.add("xyz", Some(SessionId("s".to_owned())));
        assert_eq!(tokens.grant(Some(b"Bearer abc")), Some(Grant::AnySession));
        assert_eq!(tokens.grant(Some(b"bearer xyz")), Some(Grant::Session(SessionId("s".to_owned()))));
        for other in [&b"Bearer ab"[..], b"Bearer abcd", b"Basic abc", b"abc", b"Bearer", b""] {
            assert_eq!(tokens.grant(Some(other)), None, "{other:?}");
        }
        assert_eq!(tokens.grant(None), None);
    }
}
