//! What a tree can do in one state: out sets from below (001 Lemma 5.7), then the targets of what is offered (Lemma 5.8). A step is
//! one vector for each node; the sub-nodes' choices are never multiplied out, only different targets are.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Tree;

/// What each node offers in one state.
#[derive(Debug, Clone)]
pub struct Offers {
    /// For each node, the vectors that it offers.
    pub vectors: Vec<Vec<usize>>,
    /// For each node and each of its events, whether a vector with that event is offered.
    pub labels: Vec<Vec<bool>>,
}

/// There are too many successors of one state to list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a state has too many successors to list them")]
pub struct TooMany;

impl Tree {
    /// What each node offers in a state of the whole tree.
    pub fn offers(&self, state: &[u32]) -> Offers {
        let mut offers = Offers { vectors: vec![], labels: vec![] };
        for (number, node) in self.nodes().iter().enumerate() {
            let possible: Vec<bool> = node
                .vectors
                .iter()
                .map(|vector| {
                    node.behaviour.can(state[number], vector[0])
                        && node.subs.iter().zip(&vector[1..]).all(|(&sub, &e)| offers.labels[sub][e as usize])
                })
                .collect();
            let offered = |&n: &usize| possible[n] && !node.higher[n].iter().any(|&h| possible[h]);
            let vectors: Vec<usize> = (0..possible.len()).filter(offered).collect();
            let mut labels = vec![false; node.events.len()];
            vectors.iter().for_each(|&n| labels[node.vectors[n][0] as usize] = true);
            offers.vectors.push(vectors);
            offers.labels.push(labels);
        }
        offers
    }

    /// The states that one step leads to, each once, if there are no more than the limit.
    pub fn successors(&self, state: &[u32], limit: usize) -> Result<Vec<Vec<u32>>, TooMany> {
        let offers = self.offers(state);
        let mut parts = Parts { tree: self, state, offers: &offers, limit, known: FxHashMap::default() };
        let mut all = vec![];
        let mut seen: FxHashSet<Vec<u32>> = FxHashSet::default();
        let top = self.top();
        for event in 0..self.nodes()[top].events.len() as u32 {
            for target in parts.targets(top, event)?.iter() {
                if seen.insert(target.clone()) {
                    all.push(target.clone());
                }
            }
        }
        Ok(all)
    }

    /// One vector for each node that together lead from one state to another.
    pub fn explain(&self, from: &[u32], to: &[u32]) -> Option<Vec<u32>> {
        let offers = self.offers(from);
        let mut vectors = vec![0; self.nodes().len()];
        let top = self.top();
        offers.vectors[top]
            .iter()
            .any(|&n| self.explain_vector(top, n, &offers, from, to, &mut vectors))
            .then_some(vectors)
    }

    fn explain_vector(
        &self,
        number: usize,
        vector: usize,
        offers: &Offers,
        from: &[u32],
        to: &[u32],
        chosen: &mut [u32],
    ) -> bool {
        let node = &self.nodes()[number];
        let events = &node.vectors[vector];
        chosen[number] = vector as u32;
        node.behaviour.targets(from[number], events[0]).any(|t| t == to[number])
            && node.subs.iter().zip(&events[1..]).all(|(&sub, &event)| {
                let labelled = offers.vectors[sub].iter().filter(|&&n| self.nodes()[sub].vectors[n][0] == event);
                labelled.into_iter().any(|&n| self.explain_vector(sub, n, offers, from, to, chosen))
            })
    }
}

/// Targets of parts of the tree, each computed once.
struct Parts<'p> {
    tree: &'p Tree,
    state: &'p [u32],
    offers: &'p Offers,
    limit: usize,
    known: FxHashMap<(usize, u32), Rc<Vec<Vec<u32>>>>,
}

impl Parts<'_> {
    /// The states of the nodes at or below a node, after a step that it takes part in with an event.
    fn targets(&mut self, number: usize, event: u32) -> Result<Rc<Vec<Vec<u32>>>, TooMany> {
        if let Some(known) = self.known.get(&(number, event)) {
            return Ok(known.clone());
        }
        let node = &self.tree.nodes()[number];
        let mut all: Vec<Vec<u32>> = vec![];
        let mut several = 0;
        for &vector in self.offers.vectors[number].iter().filter(|&&n| node.vectors[n][0] == event) {
            let mut rows: Vec<Vec<u32>> = vec![vec![]];
            for (&sub, &e) in node.subs.iter().zip(&node.vectors[vector][1..]) {
                let parts = self.targets(sub, e)?;
                if rows.len().saturating_mul(parts.len()) > self.limit {
                    return Err(TooMany);
                }
                if let [only] = parts.as_slice() {
                    rows.iter_mut().for_each(|row| row.extend_from_slice(only));
                    continue;
                }
                let longer = |row: &Vec<u32>| parts.iter().map(|p| [row.as_slice(), p].concat()).collect::<Vec<_>>();
                rows = rows.iter().flat_map(longer).collect();
            }
            for target in node.behaviour.targets(self.state[number], event) {
                all.extend(rows.iter().map(|row| [row.as_slice(), &[target]].concat()));
            }
            if all.len() > self.limit {
                return Err(TooMany);
            }
            several += 1;
        }
        if several > 1 {
            let mut seen = FxHashSet::default();
            all.retain(|row| seen.insert(row.clone()));
        }
        let all = Rc::new(all);
        self.known.insert((number, event), all.clone());
        Ok(all)
    }
}
