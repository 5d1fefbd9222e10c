//! Lattices of infinite height: a set of states that nothing leaves, found with widening, then made smaller by narrowing (Cousot and Cousot 1977).
//!
//! Join update (000 Alg. 4) ends if elements grow only finitely often. Those of an interval grow for as long as a loop counts. So before elements are joined one
//! by one: one element for each key, that of its successors are joined to; after some rounds it is *widened* ([`trellis_order::Widen`]), until nothing grows. What
//! was widened too far comes back by *narrowing*: each key's element becomes the join of what all elements lead to, a few times. For a monotone system what is left is
//! again a set that nothing leaves, and the checker sees that it is. If it has no target, that is the proof.
//!
//! What it deliberately does not do: refine. Where the target is met there is no answer, and the search goes on as it would have without this.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use trellis_model::evidence::Verdict;
use trellis_model::network::{Network, Query, QueryKind};
use trellis_order::{Domain, Join, Word};

use crate::arg::{Arg, NONE};
use crate::network::{Answer, NetworkSystem};
use crate::stored::{Shard, Stored};
use crate::table::NoRoom;
use crate::{Batch, System};
use trellis_meter::{Meter, Progress, Stats};

/// So often an element is joined before it is widened.
const JOINS: u32 = 4;

/// So often all elements are computed anew from each other.
const NARROWINGS: usize = 4;

/// A proof that a network has no state that is looked for, found with widening; nothing if nothing widens, or that did not find one.
pub fn answer(net: &Network, query: &Query, meter: &mut Meter) -> Option<Answer> {
    let (condition, value) = match query.kind {
        QueryKind::Always(p) => (p, false),
        QueryKind::Possibly(p) => (p, true),
        _ => return None,
    };
    let elements = net.elements();
    if !elements.widens() || query.deadlock || !net.clocks.is_empty() {
        return None;
    }
    let mut system = NetworkSystem::new(net);
    system.look_for(condition, false, value);
    let (stored, stats) = prove(&mut system, |a, b| elements.widen(a, b), meter)?;
    if net.lattices.iter().any(|l| l.lattice.failure().is_some()) {
        return None;
    }
    let verdict = Verdict::Safe(system.certificate(stored, true, vec![]));
    Some(Answer { verdict, stats, inconclusive: None, bound: None, clock_bound: None })
}

/// The keys in the order in which they were found, each with its element.
#[derive(Default)]
struct Set {
    keys: Vec<Vec<Word>>,
    elems: Vec<Vec<Word>>,
    numbers: FxHashMap<Vec<Word>, u32>,
}

impl Set {
    /// The number of a key; a new one gets this element.
    fn number(&mut self, key: &[Word], elem: &[Word]) -> (u32, bool) {
        if let Some(&n) = self.numbers.get(key) {
            return (n, false);
        }
        let n = self.keys.len() as u32;
        self.keys.push(key.to_vec());
        self.elems.push(elem.to_vec());
        self.numbers.insert(key.to_vec(), n);
        (n, true)
    }
}

/// A set of states that nothing leaves, and that has no target; or nothing.
pub fn prove<S: System>(
    system: &mut S,
    widen: impl Fn(&mut [Word], &[Word]) -> bool,
    meter: &mut Meter,
) -> Option<(Stored, Stats)> {
    let mut stats = Stats::default();
    let mut set = Set::default();
    let (key, elem) = system.initial().ok()?;
    set.number(&key, &elem);
    let mut grown = vec![0];
    let mut waiting = VecDeque::from([0]);
    let mut is_waiting = vec![true];
    let mut batch = Batch::default();
    while let Some(n) = waiting.pop_front() {
        is_waiting[n as usize] = false;
        stats.expanded += 1;
        meter.check(&Progress { waiting: waiting.len(), stats }).ok()?;
        batch.clear();
        system.successors(&set.keys[n as usize], &set.elems[n as usize], &mut batch).ok()?;
        stats.steps += u64::from(batch.steps);
        for (key, elem) in successors(&*system, &batch) {
            let (to, new) = set.number(key, elem);
            if new {
                stats.added += 1;
                grown.push(0);
                is_waiting.push(false);
            } else {
                let at = &mut set.elems[to as usize];
                if system.domain().leq(elem, at) {
                    stats.covered += 1;
                    continue;
                }
                stats.joins += 1;
                grown[to as usize] += 1;
                match grown[to as usize] > JOINS {
                    true => widen(at, elem),
                    false => system.domain().join(at, elem),
                };
            }
            if !std::mem::replace(&mut is_waiting[to as usize], true) {
                waiting.push_back(to);
            }
        }
    }
    for _ in 0..NARROWINGS {
        let mut less = Set::default();
        let (key, elem) = system.initial().ok()?;
        less.number(&key, &elem);
        for n in 0..set.keys.len() {
            meter.check(&Progress { waiting: 0, stats }).ok()?;
            batch.clear();
            system.successors(&set.keys[n], &set.elems[n], &mut batch).ok()?;
            for (key, elem) in successors(&*system, &batch) {
                let (to, new) = less.number(key, elem);
                if !new {
                    system.domain().join(&mut less.elems[to as usize], elem);
                }
            }
        }
        let same = less.keys.len() == set.keys.len()
            && less
                .keys
                .iter()
                .zip(&less.elems)
                .all(|(k, e)| set.numbers.get(k).is_some_and(|&n| set.elems[n as usize] == *e));
        set = less;
        if same {
            break;
        }
    }
    // Of a system that is not monotone, what is left may be too small.
    for n in 0..set.keys.len() {
        meter.check(&Progress { waiting: 0, stats }).ok()?;
        batch.clear();
        system.successors(&set.keys[n], &set.elems[n], &mut batch).ok()?;
        let inside = |(key, elem): (&[Word], &[Word])| {
            set.numbers.get(key).is_some_and(|&to| system.domain().leq(elem, &set.elems[to as usize]))
        };
        if !successors(&*system, &batch).all(inside) {
            return None;
        }
    }
    for (key, elem) in set.keys.iter().zip(&set.elems) {
        if system.is_target(key, elem).ok()? {
            return None;
        }
    }
    let stored = store(system, &set).ok()?;
    stats.stored = stored.len() as u64;
    Some((stored, stats))
}

fn successors<'b, S: System>(
    system: &S,
    batch: &'b Batch,
) -> impl Iterator<Item = (&'b [Word], &'b [Word])> + use<'b, S> {
    let (kw, ew) = (system.key_width(), system.elem_width());
    (0..batch.ordinals.len()).map(move |i| (&batch.keys[i * kw..][..kw], &batch.elems[i * ew..][..ew]))
}

fn store<S: System>(system: &S, set: &Set) -> Result<Stored, NoRoom> {
    let mut arg = Arg::new(system.key_width(), system.elem_width());
    for (key, elem) in set.keys.iter().zip(&set.elems) {
        let k = arg.key_id(key)?;
        arg.add(k, elem, NONE, 0)?;
    }
    Ok(Stored::new(vec![Shard::Arg(arg)]))
}
