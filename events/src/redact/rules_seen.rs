//! The names of the rules that masked something.
//!
//! A handful at most, so a sorted list does. It allocates nothing until a rule is added.

/// Rule names, sorted, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct RulesSeen(Vec<&'static str>);

impl RulesSeen {
    pub(crate) fn add(&mut self, rule: &'static str) {
        if let Err(place) = self.0.binary_search(&rule) {
            self.0.insert(place, rule);
        }
    }

    pub(crate) fn add_all(&mut self, rules: &[&'static str]) {
        for rule in rules {
            self.add(rule);
        }
    }

    pub(crate) fn names(&self) -> &[&'static str] {
        &self.0
    }

    pub(crate) fn into_names(self) -> Vec<&'static str> {
        self.0
    }
}
