//! Reachability with simple update (000 Alg. 2): a state stands only for itself.
//!
//! So nothing that is stored is ever replaced, joined or undone, and a [`Table`] is all that is needed. Breadth first, what waits are the
//! states that came last: there is no list of them.

use crate::explore::NONE;
use crate::path::{Origins, Path, path_to};
use crate::reach::{Answer, Exploration, Failure, Goal, Replayed, really};
use crate::stored::{Shard, Stored};
use crate::table::{Table, hash_words};
use crate::waitlist::{Order, Waitlist};
use crate::{Batch, System};
use trellis_meter::{Meter, Progress, Stats};

/// Explores.
pub fn explore<S: System>(system: &mut S, order: Order, meter: &mut Meter) -> Exploration<S::Action, S::Error> {
    let key_width = system.key_width();
    let mut s = Simple {
        table: Table::new(key_width + system.elem_width()),
        key_width,
        expanded: 0,
        waiting: (order != Order::Bfs).then(|| Waitlist::new(order)),
        stats: Stats::default(),
    };
    let ended = s.run(system, meter);
    let stats = Stats { stored: s.table.len() as u64, ..s.stats };
    let stored = Stored::new(vec![Shard::Table(s.table, key_width)]);
    let answer = match ended {
        Ok(None) => Answer::Unreachable,
        Ok(Some(n)) => arrive(system, &stored, n, Goal::Target),
        Err(Failure::Broken(n, e)) if n != NONE => arrive(system, &stored, n, Goal::Fault(e)),
        Err(Failure::Limit(why)) => Answer::Stopped(why),
        Err(Failure::Broken(_, e) | Failure::Strategy(e)) => Answer::Error(Path::empty(), e),
    };
    Exploration { answer, stats, stored }
}

/// The path to a node, taken again from the start: nothing was joined on the way, so it leads to the goal.
pub(crate) fn arrive<S: System>(
    system: &mut S,
    stored: &Stored,
    n: u32,
    goal: Goal<S::Error>,
) -> Answer<S::Action, S::Error> {
    let again = |system: &mut S| {
        let path = path_to(system, stored, &stored.path(n))?;
        let initial = system.initial()?;
        Ok((really(system, &initial, &path.actions, &goal)?, path))
    };
    match (again(system), goal) {
        (Ok((Replayed::Target(states), path)), _) => Answer::Reachable(Path { states, actions: path.actions }),
        (Ok((Replayed::Fault(states, e), path)), _) => Answer::Error(Path { states, actions: path.actions }, e),
        // A system that answers differently when asked again is broken itself.
        (Ok((Replayed::Fails(_), _)), Goal::Fault(e)) | (Err(e), _) => Answer::Error(Path::empty(), e),
        (Ok((Replayed::Fails(fails_at), path)), Goal::Target) => {
            Answer::Inconclusive { path, fails_at, joins: vec![], pivot: 0 }
        }
    }
}

struct Simple {
    table: Table,
    key_width: usize,
    /// Breadth first: how many were expanded.
    expanded: u32,
    /// Otherwise: what waits.
    waiting: Option<Waitlist>,
    stats: Stats,
}

type Ran<S, T> = Result<T, Failure<<S as System>::Error>>;

impl Simple {
    /// Answers a target.
    fn run<S: System>(&mut self, system: &mut S, meter: &mut Meter) -> Ran<S, Option<u32>> {
        let (key, elem) = system.initial().map_err(|e| Failure::Broken(NONE, e))?;
        let mut state = [key, elem].concat();
        if self.insert(system, &state, NONE, 0)? {
            return Ok(Some(0));
        }
        let mut batch = Batch::default();
        while let Some((n, waiting)) = self.next() {
            meter.check(&Progress { waiting, stats: self.stats }).map_err(|why| Failure::Limit(why.into()))?;
            self.stats.expanded += 1;
            batch.clear();
            let (key, elem) = self.table.get(n).split_at(self.key_width);
            let (kw, ew) = (key.len(), elem.len());
            system.successors(key, elem, &mut batch).map_err(|e| Failure::Broken(n, e))?;
            self.stats.steps += u64::from(batch.steps);
            for (i, &via) in batch.ordinals.iter().enumerate() {
                state.clear();
                state.extend_from_slice(&batch.keys[i * kw..][..kw]);
                state.extend_from_slice(&batch.elems[i * ew..][..ew]);
                if self.insert(system, &state, n, via)? {
                    return Ok(Some(self.table.len() as u32 - 1));
                }
            }
        }
        Ok(None)
    }

    /// The next state to expand, and how many others wait.
    fn next(&mut self) -> Option<(u32, usize)> {
        match &mut self.waiting {
            Some(waiting) => waiting.pop().map(|n| (n, waiting.len())),
            None => {
                let n = self.expanded;
                self.expanded += u32::from((n as usize) < self.table.len());
                ((n as usize) < self.table.len()).then(|| (n, self.table.len() - self.expanded as usize))
            }
        }
    }

    /// Adds a state unless it is stored. Is it new, and the target?
    fn insert<S: System>(&mut self, system: &mut S, state: &[u64], parent: u32, via: u32) -> Ran<S, bool> {
        let Some(n) = self.table.add(state, hash_words(state), parent, via)? else {
            self.stats.covered += 1;
            return Ok(false);
        };
        self.stats.added += 1;
        let (key, elem) = state.split_at(self.key_width);
        if let Some(waiting) = &mut self.waiting {
            let wants = waiting.wants_priority();
            let priority = if wants { system.priority(key, elem) } else { Ok(0) };
            waiting.push(n, priority.map_err(|e| Failure::Broken(n, e))?);
        }
        system.is_target(key, elem).map_err(|e| Failure::Broken(n, e))
    }
}
