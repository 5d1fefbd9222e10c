//! Large-block encoding (Beyer, Cimatti, Griggio, Keremoglu, Sebastiani: *Software Model Checking via Large-Block Encoding*,
//! FMCAD 2009): edges in a row become a sequence, parallel edges a choice, until nothing changes.
//!
//! 1. A location with exactly one incoming edge disappears: that edge is put in front of each of its outgoing edges.
//! 2. Edges with the same ends become one, with a choice.
//!
//! What stays are the initial location, error and final locations, loop heads, and places where ways meet that come from
//! different ones of these. A location without outgoing edges that is neither an error nor final goes too: from it nothing can
//! happen. What cannot be reached by edges goes first.
//!
//! Choices are not multiplied out. A block remembers the edges it is made of, so that a run through it can be told edge by edge
//! ([`Blocks::expand`]). Rule 1 copies the first edge as often as there are outgoing ones; blocks that would grow beyond
//! [`MAX_BLOCK`] edges are left alone.

use trellis_expr::eval::Valuation;
use trellis_expr::{Stmt, StmtId, Terms};

use super::interpret::{Error, Oracle, Recorder, Script, Step, Trace, run};
use super::{Cfa, Edge, EdgeId, Kind, LocationId};

/// How many edges, counted with repetition, a block may have.
pub const MAX_BLOCK: usize = 10_000;

/// What a large edge is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// An edge of the small automaton.
    Edge(EdgeId),
    /// One after the other.
    Seq(Vec<Block>),
    /// One of them.
    Choice(Vec<Block>),
}

/// An automaton of large blocks, and the way back.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// The large automaton. Its locations are some of those of the small one, under other numbers.
    pub cfa: Cfa,
    /// For each of its edges, what it is made of.
    pub blocks: Vec<Block>,
    /// For each of its locations, which one that was.
    pub origin: Vec<LocationId>,
}

struct Large {
    from: usize,
    to: usize,
    block: Block,
    stmt: StmtId,
    size: usize,
}

/// The automaton with blocks as large as possible.
pub fn encode(cfa: &Cfa) -> Blocks {
    encode_with(cfa, &|_| false, false)
}

/// The same, where some locations are to stay in any case, and several edges from a location to itself stay several: why one of
/// them is not taken forever may be another reason than for the next.
pub fn encode_keeping(cfa: &Cfa, kept: &dyn Fn(LocationId) -> bool) -> Blocks {
    encode_with(cfa, kept, true)
}

fn encode_with(cfa: &Cfa, kept: &dyn Fn(LocationId) -> bool, apart: bool) -> Blocks {
    let mut terms = cfa.terms.clone();
    let keep = cfa.connected();
    let count = keep.len();
    let mut edges: Vec<Option<Large>> = vec![];
    let mut outgoing: Vec<Vec<usize>> = vec![vec![]; count];
    let mut incoming: Vec<Vec<usize>> = vec![vec![]; count];
    for e in cfa.edges() {
        let edge = cfa.edge(e);
        if keep[edge.from.index()] && !cfa.is_error(edge.from) {
            let large =
                Large { from: edge.from.index(), to: edge.to.index(), block: Block::Edge(e), stmt: edge.stmt, size: 1 };
            insert(&mut edges, &mut outgoing, &mut incoming, large, &mut terms, apart);
        }
    }
    let stays = |l: usize| {
        let id = LocationId(l as u32);
        id == cfa.initial || cfa.location(id).kind != Kind::Plain || kept(id)
    };
    let mut gone = vec![false; count];
    let mut todo: Vec<usize> = (0..count).rev().filter(|&l| keep[l] && !stays(l)).collect();
    while let Some(l) = todo.pop() {
        let &[first] = &*incoming[l] else { continue };
        if gone[l] || edges[first].as_ref().is_none_or(|e| e.from == l) {
            continue;
        }
        let size = |e: &usize| edges[*e].as_ref().map_or(0, |e| e.size);
        if outgoing[l].iter().any(|e| size(e) + size(&first) > MAX_BLOCK) {
            continue;
        }
        gone[l] = true;
        let Some(head) = edges[first].take() else { continue };
        outgoing[head.from].retain(|&e| e != first);
        incoming[l].clear();
        for e in std::mem::take(&mut outgoing[l]) {
            let Some(tail) = edges[e].take() else { continue };
            incoming[tail.to].retain(|&i| i != e);
            let to = tail.to;
            let large = Large {
                from: head.from,
                to,
                stmt: sequence(&mut terms, (&head.block, head.stmt), (&tail.block, tail.stmt)),
                block: join(head.block.clone(), tail.block),
                size: head.size + tail.size,
            };
            insert(&mut edges, &mut outgoing, &mut incoming, large, &mut terms, apart);
            if !stays(to) {
                todo.push(to);
            }
        }
    }
    finish(cfa, terms, edges, &|l| keep[l] && !gone[l])
}

/// Takes in an edge; makes a choice of it and the one that has the same ends already.
fn insert(
    edges: &mut Vec<Option<Large>>,
    outgoing: &mut [Vec<usize>],
    incoming: &mut [Vec<usize>],
    new: Large,
    terms: &mut Terms,
    loops_apart: bool,
) {
    let alone = loops_apart && new.from == new.to;
    let same = |&e: &usize| !alone && edges[e].as_ref().is_some_and(|e| e.to == new.to);
    if let Some(e) = outgoing[new.from].iter().copied().find(same)
        && let Some(old) = &mut edges[e]
        && old.size + new.size <= MAX_BLOCK
    {
        old.stmt = alternative(terms, (&old.block, old.stmt), (&new.block, new.stmt));
        let (a, b) = (std::mem::replace(&mut old.block, Block::Choice(vec![])), new.block);
        old.block = match (a, b) {
            (Block::Choice(mut a), b) => {
                a.push(b);
                Block::Choice(a)
            }
            (a, b) => Block::Choice(vec![a, b]),
        };
        old.size += new.size;
        return;
    }
    outgoing[new.from].push(edges.len());
    incoming[new.to].push(edges.len());
    edges.push(Some(new));
}

// Statements are put together exactly as blocks are, never flattened into the statement of a small edge, so that choices mean the
// same in both.

fn parts(terms: &Terms, (block, stmt): (&Block, StmtId), choice: bool) -> Vec<StmtId> {
    match (block, terms.stmt(stmt)) {
        (Block::Seq(_), Stmt::Seq(parts)) if !choice => parts.to_vec(),
        (Block::Choice(_), Stmt::Choice(parts)) if choice => parts.to_vec(),
        _ => vec![stmt],
    }
}

fn sequence(terms: &mut Terms, a: (&Block, StmtId), b: (&Block, StmtId)) -> StmtId {
    let all = [parts(terms, a, false), parts(terms, b, false)].concat();
    terms.intern_stmt(Stmt::Seq(all.into()))
}

fn alternative(terms: &mut Terms, a: (&Block, StmtId), b: (&Block, StmtId)) -> StmtId {
    let mut all = parts(terms, a, true);
    all.push(b.1);
    terms.intern_stmt(Stmt::Choice(all.into()))
}

fn join(a: Block, b: Block) -> Block {
    let list = |b| match b {
        Block::Seq(parts) => parts,
        b => vec![b],
    };
    Block::Seq([list(a), list(b)].concat())
}

fn finish(cfa: &Cfa, terms: Terms, edges: Vec<Option<Large>>, keep: &dyn Fn(usize) -> bool) -> Blocks {
    let mut large = Cfa::new(terms, cfa.location(cfa.initial).clone());
    large.variables = cfa.variables.clone();
    large.control = cfa.control.clone();
    large.files = cfa.files.clone();
    let mut origin = vec![cfa.initial];
    let mut new = vec![large.initial; cfa.locations().len()];
    for l in cfa.locations().filter(|l| *l != cfa.initial && keep(l.index())) {
        new[l.index()] = large.add_location(cfa.location(l).clone());
        origin.push(l);
    }
    let mut blocks = vec![];
    for e in edges.into_iter().flatten() {
        let place = first_edge(&e.block).and_then(|e| cfa.edge(e).place);
        large.add_edge(Edge { from: new[e.from], stmt: e.stmt, to: new[e.to], place });
        blocks.push(e.block);
    }
    Blocks { cfa: large, blocks, origin }
}

fn first_edge(block: &Block) -> Option<EdgeId> {
    match block {
        Block::Edge(e) => Some(*e),
        Block::Seq(parts) | Block::Choice(parts) => parts.first().and_then(first_edge),
    }
}

impl Blocks {
    /// A trace of the large automaton, told in edges of the small one.
    pub fn expand(&self, small: &Cfa, trace: &Trace) -> Result<Trace, Error> {
        let mut steps = vec![];
        let mut env = trace.start.clone();
        for (n, step) in trace.steps.iter().enumerate() {
            let block = self.blocks.get(step.edge.index()).ok_or(Error::Elsewhere(n))?;
            let mut script = Script::new(&step.choices);
            if !walk(small, block, &mut env, &mut script, &mut steps) {
                return Err(Error::Blocked(n));
            }
        }
        Ok(Trace { start: trace.start.clone(), steps })
    }
}

/// Goes through a block as the script says.
fn walk(cfa: &Cfa, block: &Block, env: &mut Valuation, script: &mut Script<'_>, steps: &mut Vec<Step>) -> bool {
    match block {
        Block::Edge(e) => {
            let mut recorder = Recorder::new(script);
            let done = run(&cfa.terms, cfa.edge(*e).stmt, env, &mut recorder);
            steps.push(Step { edge: *e, choices: recorder.choices, after: env.clone() });
            done
        }
        Block::Seq(parts) => parts.iter().all(|p| walk(cfa, p, env, script, steps)),
        Block::Choice(parts) => match script.choose(parts.len()) {
            Some(n) => walk(cfa, &parts[n], env, script, steps),
            None => false,
        },
    }
}
