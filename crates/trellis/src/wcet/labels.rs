//! The cache analysis: which blocks are surely in the cache, and which may be, under each key; and the longest run.
//!
//! A label is an element of `LruMust` and one of `LruMay` ([`trellis_order::lattice`]; Alt, Ferdinand, Martin and Wilhelm 1996). Keys come in an order in which
//! steps lead forward, so when a key's turn comes all labels that reach it are known, and are taken together as the update says. The bound of a label is the
//! largest cost of a step and the bound of what it leads to; a use costs a hit only if the block is surely there.

use std::collections::HashMap;

use trellis_meter::{Meter, Progress, Stats};
use trellis_model::evidence::Reason;
use trellis_order::lattice::{Lattice, LruMay, LruMust};
use trellis_order::{Domain, Join, Word};

use super::graph::Graph;
use super::{Costs, Failure, Geometry, Update};

/// The caches that a label allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// How old blocks are at most.
    pub must: Vec<Word>,
    /// How old they are at least.
    pub may: Vec<Word>,
}

/// A label under a key.
#[derive(Debug)]
pub struct Node {
    /// The key.
    pub key: u32,
    /// What is known of the cache.
    pub label: Label,
    /// Where each step of the key leads.
    pub to: Vec<u32>,
    /// What the rest of a run costs at most.
    pub bound: u64,
    /// The step with which it does.
    pub worst: Option<u32>,
}

/// Uses of memory, by what is known of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Classes {
    /// The block is there, always.
    pub hits: u64,
    /// It never is.
    pub misses: u64,
    /// Neither is known.
    pub open: u64,
}

/// All labels. The first node is the start; steps lead to later ones.
#[derive(Debug)]
pub struct Labels {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// What uses are.
    pub classes: Classes,
}

/// The two lattices.
struct Both {
    must: LruMust,
    may: LruMay,
    access: (usize, usize),
    ask: (usize, usize),
}

fn method(l: &dyn Lattice, name: &str) -> Result<usize, Failure> {
    let at = l.methods().iter().position(|m| m.name == name);
    at.ok_or_else(|| Failure::Unknown(format!("the cache lattice has no method `{name}`")))
}

impl Both {
    fn new(geometry: &Geometry, blocks: usize) -> Result<Both, Failure> {
        let wrong = |e: trellis_order::lattice::BuildError| Failure::Unknown(format!("--cache: {e}"));
        let must = LruMust::new(geometry.sets, geometry.ways, blocks).map_err(wrong)?;
        let may = LruMay::new(geometry.sets, geometry.ways, blocks).map_err(wrong)?;
        let access = (method(&must, "access")?, method(&may, "access")?);
        let ask = (method(&must, "isHit")?, method(&may, "isMiss")?);
        Ok(Both { must, may, access, ask })
    }

    fn empty(&self) -> Label {
        let (mut must, mut may) = (vec![0; self.must.width()], vec![0; self.may.width()]);
        self.must.initial(&mut must);
        self.may.initial(&mut may);
        Label { must, may }
    }

    /// Uses a block: is it surely there, surely not?
    fn used(&self, label: &mut Label, block: i64) -> Result<(bool, bool), Failure> {
        let wrong = |e: trellis_order::lattice::MethodError| Failure::Unknown(e.0);
        let hit = self.must.query(self.ask.0, &label.must, &[block]).map_err(wrong)? != 0;
        let miss = self.may.query(self.ask.1, &label.may, &[block]).map_err(wrong)? != 0;
        self.must.update(self.access.0, &mut label.must, &[block]).map_err(wrong)?;
        self.may.update(self.access.1, &mut label.may, &[block]).map_err(wrong)?;
        Ok((hit, miss))
    }

    fn join(&self, a: &mut Label, b: &Label) {
        Join::join(&self.must, &mut a.must, &b.must);
        Join::join(&self.may, &mut a.may, &b.may);
    }
}

/// A label on its way to a key: from a node, by one of its steps.
struct Coming {
    label: Label,
    from: u32,
    step: u32,
}

/// Takes labels together: those that are kept, and which of them each of the given ones belongs to.
fn gather(both: &Both, update: Update, coming: &[Coming]) -> (Vec<Label>, Vec<usize>) {
    let mut kept: Vec<Label> = Vec::new();
    match update {
        Update::Join => {
            for c in coming {
                match kept.first_mut() {
                    Some(all) => both.join(all, &c.label),
                    None => kept.push(c.label.clone()),
                }
            }
            (kept, vec![0; coming.len()])
        }
        Update::Simple => {
            let mut numbers: HashMap<&[Word], usize> = HashMap::new();
            let mut of = Vec::new();
            for c in coming {
                of.push(*numbers.entry(&c.label.must).or_insert_with(|| {
                    kept.push(c.label.clone());
                    kept.len() - 1
                }));
            }
            (kept, of)
        }
        Update::Cover => {
            // First those that no other one covers; the bound rests on what is surely there.
            for c in coming {
                if !kept.iter().any(|k| both.must.leq(&c.label.must, &k.must)) {
                    kept.retain(|k| !both.must.leq(&k.must, &c.label.must));
                    kept.push(c.label.clone());
                }
            }
            let mut of = Vec::new();
            for c in coming {
                let at = kept.iter().position(|k| both.must.leq(&c.label.must, &k.must)).unwrap_or_default();
                Join::join(&both.may, &mut kept[at].may, &c.label.may);
                of.push(at);
            }
            (kept, of)
        }
    }
}

/// Labels all keys, and bounds the cost of runs.
pub fn analyse(
    graph: &Graph,
    block: &dyn Fn(super::machine::Word) -> u64,
    blocks: usize,
    (geometry, costs): (&Geometry, Costs),
    update: Update,
    meter: &mut Meter,
) -> Result<Labels, Failure> {
    let both = Both::new(geometry, blocks)?;
    let mut coming: Vec<Vec<Coming>> = (0..graph.keys.len()).map(|_| Vec::new()).collect();
    coming[0].push(Coming { label: both.empty(), from: u32::MAX, step: 0 });
    let mut all = Labels { nodes: Vec::new(), classes: Classes::default() };
    // The cost of each step of each node.
    let mut cost: Vec<Vec<u64>> = Vec::new();
    let mut stats = Stats::default();
    for &k in &graph.order {
        let here = std::mem::take(&mut coming[k as usize]);
        let (kept, of) = gather(&both, update, &here);
        let first = all.nodes.len() as u32;
        for (c, at) in here.iter().zip(of) {
            if c.from != u32::MAX {
                all.nodes[c.from as usize].to[c.step as usize] = first + at as u32;
            }
        }
        for label in kept {
            stats.expanded += 1;
            stats.added += 1;
            meter.check(&Progress { waiting: 0, stats }).map_err(|why| Failure::Limit(Reason::from(why)))?;
            let n = all.nodes.len() as u32;
            let arrows = &graph.arrows[k as usize];
            let mut costs_here = Vec::new();
            for (step, arrow) in arrows.iter().enumerate() {
                let (mut next, mut sum) = (label.clone(), 0);
                for &word in &arrow.uses {
                    let (hit, miss) = both.used(&mut next, block(word) as i64)?;
                    sum += if hit { costs.hit } else { costs.miss };
                    *(match (hit, miss) {
                        (true, _) => &mut all.classes.hits,
                        (_, true) => &mut all.classes.misses,
                        _ => &mut all.classes.open,
                    }) += 1;
                }
                costs_here.push(sum);
                coming[arrow.to as usize].push(Coming { label: next, from: n, step: step as u32 });
            }
            cost.push(costs_here);
            all.nodes.push(Node { key: k, label, to: vec![u32::MAX; arrows.len()], bound: 0, worst: None });
        }
    }
    for n in (0..all.nodes.len()).rev() {
        let rest = |s: usize| cost[n][s] + all.nodes[all.nodes[n].to[s] as usize].bound;
        let worst = (0..cost[n].len()).max_by_key(|&s| (rest(s), std::cmp::Reverse(s)));
        let bound = worst.map_or(0, rest);
        all.nodes[n].bound = bound;
        all.nodes[n].worst = worst.map(|s| s as u32);
    }
    Ok(all)
}
