//! What Acheck draws: configurations and transitions, their quotient by bisimulation (`quot()`), and the automaton of modes (`modes()`).
//! Small graphs only, listed.
//!
//! What the two commands mean was read off the outputs of a public tool for public models (EmileRolley/altarica-project, `Graphs`):
//! both are about what is reachable, with ε. A class of the quotient names the sets of configurations that it lies in, so classes respect
//! these. A mode is what state variables are; a step between modes says for which flows of its source it is possible.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

/// Values of some variables, in order.
pub type Rows = BTreeSet<Vec<i64>>;

/// Some configurations and the transitions between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// The values of all variables, by number.
    pub configurations: Vec<Vec<i64>>,
    /// Those that are initial.
    pub initial: Vec<usize>,
    /// From which, by which flat event, to which.
    pub steps: Vec<(usize, usize, usize)>,
}

/// The classes of the coarsest bisimulation, and the steps between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quotient {
    /// The configurations of each class.
    pub classes: Vec<Vec<usize>>,
    /// From which class, by which flat event, to which.
    pub steps: BTreeSet<(usize, usize, usize)>,
}

/// What state variables can be, and how they change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modes {
    /// The values of the state variables, in order.
    pub modes: Vec<Vec<i64>>,
    /// From which mode, by which flat event, to which: the values of flows for which that is possible, in order; nothing if it is for all
    /// that the mode has.
    pub steps: BTreeMap<(usize, usize, usize), Option<Rows>>,
}

impl Graph {
    /// The quotient by the coarsest bisimulation whose classes lie within or without each of some sets.
    pub fn quotient(&self, marks: &[Vec<bool>]) -> Quotient {
        let count = self.configurations.len();
        let numbered = |keys: &mut dyn Iterator<Item = Key>| {
            let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
            let all: Vec<usize> = keys
                .map(|key| {
                    let next = numbers.len();
                    *numbers.entry(key).or_insert(next)
                })
                .collect();
            (all, numbers.len())
        };
        let key = |n: usize| (0, marks.iter().enumerate().filter(|(_, m)| m[n]).map(|(i, _)| (i, 0)).collect());
        let (mut class, mut classes) = numbered(&mut (0..count).map(key));
        loop {
            // Two configurations stay together if they were, and the same events lead them to the same classes.
            let mut leads: Vec<BTreeSet<(usize, usize)>> = vec![BTreeSet::new(); count];
            for &(from, event, to) in &self.steps {
                leads[from].insert((event, class[to]));
            }
            let keys = class.iter().copied().zip(leads);
            let (next, more) = numbered(&mut keys.map(|(c, leads)| (c, leads.into_iter().collect())));
            class = next;
            if more == classes {
                break;
            }
            classes = more;
        }
        let mut members = vec![vec![]; classes];
        class.iter().enumerate().for_each(|(n, &c)| members[c].push(n));
        let steps = self.steps.iter().map(|&(from, event, to)| (class[from], event, class[to])).collect();
        Quotient { classes: members, steps }
    }

    /// The automaton of modes, where it is said which variables are flows.
    pub fn modes(&self, flow: &[bool]) -> Modes {
        let part = |row: &[i64], flows: bool| -> Vec<i64> {
            row.iter().zip(flow).filter(|(_, f)| **f == flows).map(|(&v, _)| v).collect()
        };
        let (mut modes, mut numbers): (Vec<Vec<i64>>, FxHashMap<Vec<i64>, usize>) = (vec![], FxHashMap::default());
        let mut mode_of = vec![];
        let mut flows: Vec<Rows> = vec![];
        for row in &self.configurations {
            let states = part(row, false);
            let mode = *numbers.entry(states.clone()).or_insert_with(|| {
                modes.push(states);
                flows.push(BTreeSet::new());
                modes.len() - 1
            });
            flows[mode].insert(part(row, true));
            mode_of.push(mode);
        }
        let mut when: BTreeMap<(usize, usize, usize), Rows> = BTreeMap::new();
        for &(from, event, to) in &self.steps {
            let flows = part(&self.configurations[from], true);
            when.entry((mode_of[from], event, mode_of[to])).or_default().insert(flows);
        }
        let always = |(step, when): ((usize, usize, usize), _)| (step, (when != flows[step.0]).then_some(when));
        Modes { modes, steps: when.into_iter().map(always).collect() }
    }
}

/// What tells configurations apart: a class, and some pairs.
type Key = (usize, Vec<(usize, usize)>);
