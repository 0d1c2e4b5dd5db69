//! Trees out of links that strangers gave.
//!
//! Every node names at most one parent, and nothing keeps the names from going round in a circle. This module does not know
//! what the nodes are.

/// Takes the parent from the first node of every circle, so that every node leads up to a root.
pub(crate) fn break_circles(parents: &mut [Option<usize>]) {
    /// Whether a node's way up is known.
    #[derive(Clone, Copy, PartialEq)]
    enum Way {
        Unknown,
        Walked,
        LeadsToARoot,
    }
    let mut ways = vec![Way::Unknown; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        let mut walked = Vec::new();
        while ways[at] == Way::Unknown {
            ways[at] = Way::Walked;
            walked.push(at);
            match parents[at].filter(|parent| *parent < parents.len()) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        let came_round = walked.iter().position(|node| *node == at).filter(|_| parents[at].is_some());
        if let Some(first) = came_round.and_then(|from| walked[from..].iter().min()) {
            parents[*first] = None;
        }
        for node in walked {
            ways[node] = Way::LeadsToARoot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mut parents: Vec<Option<usize>>, expect: &[Option<usize>]) {
        break_circles(&mut parents);
        assert_eq!(parents, expect);
    }

    #[test]
    fn a_tree_stays_as_it_is() {
        check(vec![None, Some(0), Some(1), Some(0), None], &[None, Some(0), Some(1), Some(0), None]);
    }

    #[test]
    fn a_circle_is_opened_at_its_first_node() {
        check(vec![Some(0)], &[None]);
        check(vec![Some(2), Some(0), Some(1)], &[None, Some(0), Some(1)]);
        check(vec![Some(3), None, Some(3), Some(2)], &[Some(3), None, None, Some(2)]);
    }
}
