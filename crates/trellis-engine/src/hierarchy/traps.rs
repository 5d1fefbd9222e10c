//! What no longer matters. A *trap* is a set of blocks of each node that no event of the node leaves; if no state of it is bad, nothing that
//! is in a trap ever becomes bad. So the abstract product is not explored beyond the states through which traps are entered.
//!
//! That is sound whatever the covers and priorities are: what a node does in a run of the tree, it can do alone. For the same reason it is
//! found node by node, before the first abstraction: for each atom of what is bad, the states of its node from which it is false for ever, or
//! true for ever. First covers tell these states apart.

use trellis_model::hierarchy::tree::{Condition, Tree};

use super::cover::Cover;

/// Some blocks of each node: for each block, whether it is one of them.
pub type Trap = Vec<Vec<bool>>;

/// For each atom, by number, its node and, for each state or block of it, its value for ever, if it has one.
type Values = Vec<(usize, Vec<Option<bool>>)>;

/// What the atoms of a condition are from now on, whatever happens.
pub struct Ahead {
    /// The condition, with the numbers of atoms in place of their nodes, and no states.
    bad: Condition,
    atoms: Values,
}

/// The condition with the numbers of its atoms, in the order of [`Condition::atoms`], in place of their nodes.
fn numbered(condition: &Condition, next: &mut usize) -> Condition {
    match condition {
        Condition::Constant(b) => Condition::Constant(*b),
        Condition::Local { .. } => {
            *next += 1;
            Condition::Local { node: *next - 1, states: vec![] }
        }
        Condition::Not(a) => Condition::Not(Box::new(numbered(a, next))),
        Condition::All(all) => Condition::All(all.iter().map(|c| numbered(c, next)).collect()),
        Condition::Any(all) => Condition::Any(all.iter().map(|c| numbered(c, next)).collect()),
    }
}

impl Ahead {
    /// Looks ahead from all states of all nodes that the condition speaks of.
    pub fn new(tree: &Tree, bad: &Condition) -> Ahead {
        let mut atoms = vec![];
        for (node, states) in bad.atoms() {
            let moves = &tree.nodes()[node].behaviour.moves;
            let mut into = vec![vec![]; moves.len()];
            moves.iter().enumerate().for_each(|(from, all)| all.iter().for_each(|m| into[m.1 as usize].push(from)));
            let [can_be, can_fail] = [true, false].map(|value| {
                let mut leads: Vec<bool> = states.iter().map(|s| *s == value).collect();
                let mut waiting: Vec<usize> = (0..leads.len()).filter(|&q| leads[q]).collect();
                while let Some(q) = waiting.pop() {
                    for &from in &into[q] {
                        if !std::mem::replace(&mut leads[from], true) {
                            waiting.push(from);
                        }
                    }
                }
                leads
            });
            let value = |q: usize| (!can_be[q] || !can_fail[q]).then_some(can_be[q]);
            atoms.push((node, (0..states.len()).map(value).collect()));
        }
        Ahead { bad: numbered(bad, &mut 0), atoms }
    }

    /// Separates states whose future is decided from the others.
    pub fn separate(&self, covers: &mut [Cover]) {
        for (node, values) in &self.atoms {
            for value in [Some(true), Some(false)] {
                for block in 0..covers[*node].blocks.len() as u32 {
                    covers[*node].split(block, &|q| values[q as usize] == value);
                }
            }
        }
    }
}

/// Traps, as they are met.
pub struct Traps<'a> {
    ahead: &'a Ahead,
    blocks: Values,
    /// How many blocks each node has.
    counts: Vec<usize>,
    /// Is nothing ever decided?
    idle: bool,
    /// Those that were met.
    pub met: Vec<Trap>,
    /// How often one was entered.
    pub entered: u64,
}

impl<'a> Traps<'a> {
    /// None is met yet.
    pub fn new(ahead: &'a Ahead, covers: &[Cover]) -> Traps<'a> {
        let one = |(node, values): &(usize, Vec<Option<bool>>)| {
            let block = |states: &Vec<u32>| {
                let first = states.first().and_then(|&q| values[q as usize]);
                first.filter(|_| states.iter().all(|&q| values[q as usize] == first))
            };
            (*node, covers[*node].blocks.iter().map(block).collect())
        };
        let blocks: Values = ahead.atoms.iter().map(one).collect();
        let idle = blocks.iter().all(|(_, values)| values.iter().all(Option::is_none));
        let counts = covers.iter().map(|c| c.blocks.len()).collect();
        Traps { ahead, blocks, counts, idle, met: vec![], entered: 0 }
    }

    /// Is an abstract state in a trap? The larger the trap, the better: nodes are left out as long as the others decide.
    pub fn contain(&mut self, tuple: &[u32]) -> bool {
        if self.idle {
            return false;
        }
        let within = |trap: &Trap| trap.iter().zip(tuple).all(|(blocks, &b)| blocks[b as usize]);
        if !self.met.iter().any(within) {
            let mut matters = vec![true; tuple.len()];
            if !self.safe(tuple, &matters) {
                return false;
            }
            for node in 0..tuple.len() {
                matters[node] = false;
                matters[node] = !self.safe(tuple, &matters);
            }
            let trap = self.trap(tuple, &matters);
            self.met.push(trap);
        }
        self.entered += 1;
        true
    }

    /// Is it never bad from here on, whatever some nodes do?
    fn safe(&self, tuple: &[u32], matters: &[bool]) -> bool {
        let ever = |atom: usize, _: &[bool]| {
            let (node, values) = &self.blocks[atom];
            values[tuple[*node] as usize].filter(|_| matters[*node])
        };
        self.ahead.bad.known(&ever) == Some(false)
    }

    /// All blocks in which at least as much is decided, and in the same way.
    fn trap(&self, tuple: &[u32], matters: &[bool]) -> Trap {
        let mut trap: Trap = self.counts.iter().map(|&n| vec![true; n]).collect();
        for (node, values) in self.blocks.iter().filter(|(node, _)| matters[*node]) {
            let here = values[tuple[*node] as usize];
            for (block, kept) in trap[*node].iter_mut().enumerate() {
                *kept &= here.is_none() || values[block] == here;
            }
        }
        trap
    }
}
