//! Breadth-first search through a tree's states, made as they are met.

use trellis_model::evidence::Reason;
use trellis_model::hierarchy::tree::Tree;
use trellis_model::hierarchy::tree::siblings::Siblings;

use crate::explore::{Exploration, InOrder, NONE, Reached, explore};
use trellis_meter::{Meter, Progress, Stats};

/// How many successors of one state are listed at most.
pub(super) const MAX_SUCCESSORS: usize = 1 << 20;

/// What is looked for, and what is passed over.
pub struct GoalSearch<'h> {
    /// Is a state looked for?
    pub goal: &'h dyn Fn(&[u32]) -> bool,
    /// Can nothing that is looked for ever come after a state?
    pub dead: &'h mut dyn FnMut(&[u32]) -> bool,
}

/// Explores until a state is met that is looked for; which one, if any. States that differ only in who of some siblings is where are one.
pub fn search(
    tree: &Tree,
    siblings: &Siblings,
    goal_search: GoalSearch<'_>,
    counted: &mut Stats,
    meter: &mut Meter,
) -> Result<(Reached<u32>, Option<u32>), Reason> {
    let mut search =
        Search { tree, siblings, goal_search, counted, seen: Reached::default(), order: InOrder::default() };
    for state in initial(tree)? {
        if let Some(n) = search.meet(state, NONE).filter(|&n| (search.goal_search.goal)(search.seen.get(n))) {
            return Ok((search.seen, Some(n)));
        }
    }
    meter.go_on()?;
    let met = explore(&mut search, meter)?;
    Ok((search.seen, met))
}

struct Search<'s, 'h> {
    tree: &'s Tree,
    siblings: &'s Siblings,
    goal_search: GoalSearch<'h>,
    counted: &'s mut Stats,
    seen: Reached<u32>,
    order: InOrder,
}

impl Search<'_, '_> {
    /// The number of a state that is new and may matter.
    fn meet(&mut self, state: Vec<u32>, from: u32) -> Option<u32> {
        let state = if self.siblings.is_empty() { state } else { self.siblings.sorted(self.tree, &state) };
        if (self.goal_search.dead)(&state) { None } else { self.seen.add(state, from, 0) }
    }
}

impl Exploration for Search<'_, '_> {
    type Found = u32;
    type Failure = Reason;

    fn next(&mut self) -> Result<Option<u32>, Reason> {
        Ok(self.order.next(self.seen.count()))
    }

    fn progress(&self) -> Progress {
        Progress { waiting: self.order.waiting(self.seen.count()), stats: *self.counted }
    }

    fn expand(&mut self, n: u32, _: &mut Meter) -> Result<Option<u32>, Reason> {
        self.counted.expanded += 1;
        let all = self.tree.successors(self.seen.get(n), MAX_SUCCESSORS).map_err(|e| Reason::Stuck(e.to_string()))?;
        for target in all {
            self.counted.steps += 1;
            if let Some(new) = self.meet(target, n) {
                self.counted.added += 1;
                if (self.goal_search.goal)(self.seen.get(new)) {
                    return Ok(Some(new));
                }
            }
        }
        Ok(None)
    }
}

/// All initial states: one of each node, in any combination.
fn initial(tree: &Tree) -> Result<Vec<Vec<u32>>, Reason> {
    if tree.nodes().iter().any(|n| n.behaviour.initial.is_empty()) {
        return Ok(vec![]);
    }
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for node in tree.nodes() {
        let own = &node.behaviour.initial;
        if all.len().saturating_mul(own.len()) > MAX_SUCCESSORS {
            return Err(Reason::Stuck("there are too many initial states to list them".into()));
        }
        all = all.iter().flat_map(|row| own.iter().map(|&q| [row.as_slice(), &[q]].concat())).collect();
    }
    Ok(all)
}
