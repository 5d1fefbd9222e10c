//! Worst-case execution times of programs on a machine with a cache (000 §2.3).
//!
//! A program (C, or a control-flow automaton) and the shape of a cache give a lattice automaton by themselves: the discrete part is where the program is and what
//! is known of its integers ([`machine`]), the element is what is known of the cache (`labels`: must and may caches). The bound is the cost of the longest run,
//! found with joins first; if no run is seen to take that long, with cover, and then with every cache apart, as long as that can be afforded. A run that takes longest is
//! made concrete by a solver, replayed by the reference interpreter, and its cost counted by a plain cache that is driven by the trace ([`cache`]). That the bound is one
//! is checked by `proof`.
//!
//! The machine is simple: each use of memory costs what a hit or a miss costs, and nothing else costs anything. What it deliberately does not do: pipelines, branch
//! prediction, several levels of caches, other ways to replace than LRU, arrays whose index is not known, recursion. Loops that the program's own data do not bound need
//! a bound that is given.

pub mod cache;
pub mod graph;
pub mod labels;
pub mod machine;
mod proof;
mod run;

use std::fmt;
use std::str::FromStr;

use trellis_meter::Meter;
use trellis_model::cfa::Cfa;
use trellis_model::evidence::Reason;

use labels::{Classes, Labels};
use machine::{Machine, Word};

pub use run::{Concrete, Witness};

/// The shape of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// How many blocks a set holds.
    pub ways: usize,
    /// How many sets there are.
    pub sets: usize,
    /// How many words a block holds.
    pub line: usize,
}

/// Words per block, if nothing is said.
pub const LINE: usize = 4;

impl FromStr for Geometry {
    type Err = String;

    /// `lru:WAYSxSETS`
    fn from_str(text: &str) -> Result<Geometry, String> {
        let wrong =
            || format!("`{text}` is no cache: write lru:WAYSxSETS, for instance lru:4x16 (16 sets of 4 blocks)");
        let shape = text.strip_prefix("lru:").ok_or_else(wrong)?;
        let (ways, sets) = shape.split_once('x').ok_or_else(wrong)?;
        let number = |t: &str| t.parse::<usize>().ok().filter(|n| (1..=255).contains(n)).ok_or_else(wrong);
        Ok(Geometry { ways: number(ways)?, sets: number(sets)?, line: LINE })
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lru:{}x{}", self.ways, self.sets)
    }
}

/// What a use of memory costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// If the block is in the cache.
    pub hit: u64,
    /// If it is not.
    pub miss: u64,
}

/// How labels of one key are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Every cache apart: exact, as far as the program's data are known.
    Simple,
    /// A cache of which less is known stands for others.
    Cover,
    /// One label for each key.
    Join,
}

impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Update::Simple => "simple",
            Update::Cover => "cover",
            Update::Join => "join",
        })
    }
}

/// How to analyse.
#[derive(Debug, Clone)]
pub struct Options {
    /// The cache.
    pub geometry: Geometry,
    /// What its uses cost.
    pub costs: Costs,
    /// Of loops, by the line of the head: how many rounds a run makes at most, all in all.
    pub loops: Vec<(u32, u32)>,
    /// The update; without one, join, cover and simple, until a run attains the bound.
    pub update: Option<Update>,
}

/// Why there is no bound.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// A run may go round for ever, by what is known of the data; where, if that is known.
    Unbounded(Option<u32>),
    /// Something that is not analysed.
    Unknown(String),
    /// A limit.
    Limit(Reason),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unbounded(Some(line)) => {
                write!(
                    f,
                    "nothing that is known of the data bounds the loop in line {line}; give a bound: --loop LINE=ROUNDS"
                )
            }
            Failure::Unbounded(None) => f.write_str("nothing that is known of the data bounds a loop"),
            Failure::Unknown(why) => f.write_str(why),
            Failure::Limit(why) => write!(f, "{why}"),
        }
    }
}

/// A bound, and what is behind it.
#[derive(Debug)]
pub struct Found {
    /// No run costs more.
    pub bound: u64,
    /// By which update.
    pub update: Update,
    /// How many keys there are, and how many labels.
    pub sizes: (usize, usize),
    /// What is known of the uses of memory.
    pub classes: Classes,
    /// A longest run.
    pub witness: Witness,
}

impl Found {
    /// Does a run of the program cost as much?
    pub fn is_attained(&self) -> bool {
        self.witness.cost == self.bound && matches!(self.witness.concrete, Concrete::Run(_))
    }
}

/// Where words lie: arrays one after the other, each from the beginning of a block, then the instructions.
pub struct Layout {
    /// The first block of each array; last that of the instructions.
    starts: Vec<u64>,
    line: u64,
    /// How many blocks there are.
    pub blocks: usize,
}

impl Layout {
    /// Of all the words that steps use.
    pub fn new(machine: &Machine<'_>, graph: &graph::Graph, line: usize) -> Result<Layout, Failure> {
        let mut lengths = vec![0u64; machine.arrays.len()];
        for use_ in graph.arrows.iter().flatten().flat_map(|a| &a.uses) {
            if let Word::Data(array, i) = *use_ {
                lengths[array as usize] = lengths[array as usize].max(i as u64 + 1);
            }
        }
        let line = line as u64;
        let mut starts = vec![0];
        for length in lengths {
            starts.push(starts[starts.len() - 1] + length.div_ceil(line));
        }
        let all = starts[starts.len() - 1] + u64::from(machine.instructions).div_ceil(line);
        let blocks = usize::try_from(all).ok().filter(|&n| n <= 1 << 16);
        let large = || Failure::Unknown(format!("memory of {all} blocks is too large"));
        Ok(Layout { starts, line, blocks: blocks.ok_or_else(large)?.max(1) })
    }

    /// The block of a word.
    pub fn block(&self, word: Word) -> u64 {
        match word {
            Word::Data(array, i) => self.starts[array as usize] + i as u64 / self.line,
            Word::Code(i) => self.starts[self.starts.len() - 1] + u64::from(i) / self.line,
        }
    }
}

/// Bounds the execution time of a program.
pub fn analyse(cfa: &Cfa, options: &Options, meter: &mut Meter) -> Result<Found, Failure> {
    let machine = Machine::new(cfa, &options.loops).map_err(Failure::Unknown)?;
    let graph = graph::explore(&machine, meter)?;
    let layout = Layout::new(&machine, &graph, options.geometry.line)?;
    let ladder = match options.update {
        Some(update) => vec![update],
        None => vec![Update::Join, Update::Cover, Update::Simple],
    };
    let mut best: Option<Found> = None;
    for update in ladder {
        let with = (&options.geometry, options.costs);
        let block = |w: Word| layout.block(w);
        let labels: Labels = match labels::analyse(&graph, &block, layout.blocks, with, update, meter) {
            Ok(labels) => labels,
            // A bound there is, if not the best one.
            Err(Failure::Limit(_)) if best.is_some() => break,
            Err(why) => return Err(why),
        };
        proof::check(&machine, &graph.keys, &labels, &block, layout.blocks, with)
            .map_err(|why| Failure::Unknown(format!("the bound is refused: {why}")))?;
        let witness = run::witness(&machine, &graph, &labels, &layout, with, meter)?;
        let found = Found {
            bound: labels.nodes[0].bound,
            update,
            sizes: (graph.keys.len(), labels.nodes.len()),
            classes: labels.classes,
            witness,
        };
        let done = found.witness.cost == found.bound;
        if best.as_ref().is_none_or(|b| found.bound < b.bound || done) {
            best = Some(found);
        }
        if done {
            break;
        }
    }
    best.ok_or_else(|| Failure::Unknown("nothing was analysed".into()))
}
