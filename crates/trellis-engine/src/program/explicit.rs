//! All states, one by one: the plain search, for automata that come to few states, however large their types are.
//!
//! A state is a location of the automaton of large blocks, with the values of the variables that are live there; what others hold
//! does not matter, nor that they have no value yet. A block is run on a set of memories at once, so choices in a row do not multiply
//! where they come to the same. Values are machine words. What may have too many values (a local variable of C before it is assigned) has
//! none: a state leaves it open, and stands for all of them.
//!
//! The invariant is the list of states, which a checker can follow by running blocks, without a solver.
//!
//! What it deliberately does not do: guess. Where a cell is read that has no value, a number leaves the machine words, or an array has
//! no bounds, it gives up at once, and others are asked.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashSet;
use trellis_expr::code::{Code, Layout, NoHost, compile_stmt, compile_term};
use trellis_expr::eval::Valuation;
use trellis_expr::value::ArrayValue;
use trellis_expr::{Fault, Stmt, StmtId, TermId, Terms, Type, Value, VarId};
use trellis_model::cfa::evidence::{Trace, Verdict};
use trellis_model::cfa::interpret::{Choice, Script, Step, run, zero_of};
use trellis_model::cfa::{Cfa, EdgeId, LocationId, paths};
use trellis_model::evidence::Reason;

use super::candidates::live;
use super::label::equal;
use super::{Outcome, Program};
use crate::explore::{Exploration, InOrder, NONE, Reached, explore};
use trellis_meter::{Meter, Progress, Stats};

/// More memories than this within one block are too many.
const MANY: usize = 1 << 16;
/// A longer array is not written out.
const LONG: i64 = 1 << 10;

/// A block, made ready.
enum Block {
    /// What is not open.
    Code(Code),
    Havoc(VarId, u32, i64, i64),
    /// Anything, and too much of it.
    Forget(VarId, u32, u32),
    Seq(Vec<Block>),
    Choice(Vec<Block>),
    If(Code, Box<Block>, Box<Block>),
}

/// The variables within a block, and what was decided on the way if anybody wants to know.
#[derive(Clone)]
struct Memory {
    cells: Vec<i64>,
    /// Which of them have no value, if any.
    missing: Option<Vec<bool>>,
    choices: Vec<Choice>,
}

/// Stands for no value where states are stored.
const MISSING: i64 = i64::MIN;

impl Memory {
    fn new(size: usize) -> Memory {
        Memory { cells: vec![0; size], missing: None, choices: vec![] }
    }

    fn forget(&mut self, cells: Range<u32>) {
        let size = self.cells.len();
        let missing = self.missing.get_or_insert_with(|| vec![false; size]);
        for c in cells {
            (self.cells[c as usize], missing[c as usize]) = (0, true);
        }
    }

    /// A cell, as it is stored.
    fn word(&self, cell: u32) -> i64 {
        let is_missing = self.missing.as_ref().is_some_and(|missing| missing[cell as usize]);
        if is_missing { MISSING } else { self.cells[cell as usize] }
    }

    /// Runs a statement, or evaluates a term.
    fn run(&mut self, code: &Code, is_term: bool) -> Result<i64, Fault> {
        match &mut self.missing {
            Some(missing) => code.run_with_missing(&mut self.cells, missing),
            None if is_term => code.eval(&self.cells, &mut NoHost),
            None => code.exec(&mut self.cells, &mut NoHost).map(i64::from),
        }
    }
}

/// What a state says of a variable, or of an entry of an array.
type Fact = (VarId, Option<Value>, Value);

struct Search<'a> {
    cfa: &'a Cfa,
    /// More values than this of one variable are not listed.
    many: usize,
    layout: Layout,
    size: usize,
    /// Of each location, the live variables' cells.
    cells: Vec<Vec<u32>>,
    blocks: Vec<Option<Block>>,
    distances: Vec<Option<usize>>,
    /// The location and the values of the live cells.
    states: Reached<i64>,
    order: InOrder,
    stats: Stats,
}

/// Explores everything.
pub fn check(program: &mut Program<'_>, meter: &mut Meter) -> Outcome {
    check_listing(program, MANY, meter)
}

/// Explores everything, with at most so many values of a variable listed.
pub fn check_listing(program: &mut Program<'_>, many: usize, meter: &mut Meter) -> Outcome {
    let live = live(&program.large.cfa);
    let distances = paths::error_distances(&program.large.cfa);
    let mut search = match Search::new(&program.large.cfa, many, &live, distances) {
        Ok(search) => search,
        Err(why) => return Outcome::new(Verdict::Unknown(why), Stats::default()),
    };
    match search.explore(&live, meter) {
        Err(why) => Outcome::new(Verdict::Unknown(why), search.stats),
        Ok(Some(error)) => {
            let found = search.trace(&live, error);
            let stats = search.stats;
            match found {
                Ok(trace) => Outcome::new(Verdict::Unsafe(program.trace(&trace)), stats),
                Err(why) => Outcome::new(Verdict::Unknown(why), stats),
            }
        }
        Ok(None) => {
            let (stats, distances) = (search.stats, std::mem::take(&mut search.distances));
            let states: Vec<(LocationId, Vec<Fact>)> =
                (0..search.states.count() as u32).map(|n| (search.location(n), search.facts(&live, n))).collect();
            let cfa = &mut program.large.cfa;
            let labels: Vec<_> = states.iter().map(|(l, facts)| (*l, point(&mut cfa.terms, facts))).collect();
            let invariant = super::invariant(cfa, &distances, labels);
            let terms = cfa.terms.clone();
            Outcome::new(Verdict::Safe(program.certificate(terms, 1, invariant)), stats)
        }
    }
}

/// All of that is so.
fn point(terms: &mut Terms, facts: &[Fact]) -> TermId {
    let mut all = vec![];
    for (v, at, value) in facts {
        let literal = terms.literal(value).expect("a scalar has one");
        let Some(at) = at else {
            all.push(equal(terms, *v, literal));
            continue;
        };
        let (array, at) = (terms.var(*v), terms.literal(at).expect("a scalar has one"));
        let entry = terms.select(array, at);
        all.push(terms.eq(entry, literal));
    }
    terms.and(all)
}

fn gives_up(what: &str) -> Reason {
    Reason::Stuck(format!("states cannot be listed: {what}"))
}

impl<'a> Search<'a> {
    fn new(
        cfa: &'a Cfa,
        many: usize,
        live: &[BTreeSet<VarId>],
        distances: Vec<Option<usize>>,
    ) -> Result<Search<'a>, Reason> {
        let mut layout = Layout::new();
        let mut size = 0;
        for &v in &cfa.variables {
            let len = match cfa.terms.variable(v).ty {
                Type::Array(index, entry) => {
                    let entry = cfa.terms.type_of_id(entry);
                    match cfa.terms.type_bounds(cfa.terms.type_of_id(index)) {
                        Some((lo, hi)) if hi - lo < LONG && !matches!(entry, Type::Array(..)) => (hi - lo + 1) as u32,
                        _ => return Err(gives_up("an array is too large")),
                    }
                }
                _ => 1,
            };
            layout.place(v, size, len);
            size += len;
        }
        let slots = |v: &VarId| layout.slot(*v).map_or(0..0, |(at, len)| at..at + len);
        let cells = live.iter().map(|vars| vars.iter().flat_map(slots).collect()).collect();
        let mut search = Search {
            cfa,
            many,
            layout,
            size: size as usize,
            cells,
            blocks: vec![],
            distances,
            states: Reached::default(),
            order: InOrder::default(),
            stats: Stats::default(),
        };
        for e in cfa.edges() {
            // Where no error can be reached from, nothing is looked at.
            let matters = search.distances[cfa.edge(e).to.index()].is_some();
            let block = matters.then(|| search.block(cfa.edge(e).stmt)).transpose()?;
            search.blocks.push(block);
        }
        Ok(search)
    }

    fn block(&self, s: StmtId) -> Result<Block, Reason> {
        let terms = &self.cfa.terms;
        if !is_open(terms, s) {
            let code = compile_stmt(terms, &self.layout, s).map_err(|e| gives_up(&e.to_string()))?;
            return Ok(Block::Code(code));
        }
        let parts = |all: &[StmtId]| all.iter().map(|&p| self.block(p)).collect::<Result<Vec<_>, _>>();
        match *terms.stmt(s) {
            Stmt::Havoc(v) => match (terms.type_bounds(terms.variable(v).ty), self.layout.slot(v)) {
                (Some((lo, hi)), Some((at, _))) if self.are_few(lo, hi) => Ok(Block::Havoc(v, at, lo, hi)),
                (_, Some((at, len))) => Ok(Block::Forget(v, at, len)),
                (_, None) => Err(gives_up(&format!("{} has no place", terms.variable(v).name))),
            },
            Stmt::Seq(ref all) => Ok(Block::Seq(parts(all)?)),
            Stmt::Choice(ref all) => Ok(Block::Choice(parts(all)?)),
            Stmt::If(c, a, b) => {
                let c = compile_term(terms, &self.layout, c).map_err(|e| gives_up(&e.to_string()))?;
                Ok(Block::If(c, Box::new(self.block(a)?), Box::new(self.block(b)?)))
            }
            _ => Err(gives_up("a loop within a step leaves something open")),
        }
    }

    /// Are these values few enough to be listed?
    fn are_few(&self, lo: i64, hi: i64) -> bool {
        i128::from(hi) - i128::from(lo) < self.many as i128
    }

    /// All that a block makes of some memories.
    fn post(
        &self,
        block: &Block,
        mut from: Vec<Memory>,
        choices: bool,
        meter: &mut Meter,
    ) -> Result<Vec<Memory>, Reason> {
        // A fault blocks; what only our words cannot say is no fault.
        let judge = |fault: Fault| match fault {
            Fault::Overflow => Err(gives_up("a number leaves the machine words")),
            Fault::Diverges => Err(gives_up("a loop runs for too long")),
            Fault::NoValue(_) => Err(gives_up("something is read that may be anything")),
            _ => Ok(0),
        };
        let check = |m: &[Memory]| if m.len() > MANY { Err(gives_up("a step has too many outcomes")) } else { Ok(()) };
        match block {
            Block::Code(code) => {
                let mut kept = Vec::with_capacity(from.len());
                for mut m in from {
                    if m.run(code, false).or_else(judge)? != 0 {
                        kept.push(m);
                    }
                }
                Ok(kept)
            }
            &Block::Havoc(v, at, lo, hi) => {
                let ty = self.cfa.terms.variable(v).ty;
                let mut all = vec![];
                for m in from {
                    for n in lo..=hi {
                        let mut next = m.clone();
                        next.cells[at as usize] = n;
                        if choices {
                            next.choices.push(Choice::Value(Value::from_word(ty, n)));
                        }
                        all.push(next);
                    }
                    check(&all)?;
                }
                Ok(distinct(all))
            }
            &Block::Forget(v, at, len) => {
                let ty = self.cfa.terms.variable(v).ty;
                for m in &mut from {
                    m.forget(at..at + len);
                    if choices {
                        m.choices.push(Choice::Value(zero_of(&self.cfa.terms, ty)));
                    }
                }
                Ok(distinct(from))
            }
            Block::Seq(parts) => {
                for p in parts {
                    from = self.post(p, from, choices, meter)?;
                }
                Ok(from)
            }
            Block::Choice(parts) => {
                let mut all = vec![];
                if from.len() > 256 {
                    meter.ask(&Progress { waiting: 0, stats: self.stats })?;
                }
                for (n, p) in parts.iter().enumerate() {
                    let mut here = from.clone();
                    if choices {
                        here.iter_mut().for_each(|m| m.choices.push(Choice::Branch(n)));
                    }
                    all.extend(self.post(p, here, choices, meter)?);
                    check(&all)?;
                }
                Ok(distinct(all))
            }
            Block::If(c, a, b) => {
                let (mut yes, mut no) = (vec![], vec![]);
                for mut m in from {
                    match m.run(c, true) {
                        Ok(0) => no.push(m),
                        Ok(_) => yes.push(m),
                        Err(fault) => _ = judge(fault)?,
                    }
                }
                let mut all = self.post(a, yes, choices, meter)?;
                all.extend(self.post(b, no, choices, meter)?);
                Ok(all)
            }
        }
    }

    fn location(&self, n: u32) -> LocationId {
        LocationId(self.states.get(n)[0] as u32)
    }

    fn values(&self, n: u32) -> &[i64] {
        &self.states.get(n)[1..]
    }

    fn memory(&self, n: u32) -> Memory {
        let mut memory = Memory::new(self.size);
        let at = &self.cells[self.location(n).index()];
        for (&at, &value) in at.iter().zip(self.values(n)) {
            match value {
                MISSING => memory.forget(at..at + 1),
                value => memory.cells[at as usize] = value,
            }
        }
        memory
    }

    /// What is known of the live variables.
    fn facts(&self, live: &[BTreeSet<VarId>], n: u32) -> Vec<Fact> {
        let (memory, terms) = (self.memory(n), &self.cfa.terms);
        let mut all = vec![];
        for &v in &live[self.location(n).index()] {
            let (at, len) = self.layout.slot(v).expect("every variable has a place");
            let (index, ty) = match terms.variable(v).ty {
                Type::Array(index, entry) => (Some(terms.type_of_id(index)), terms.type_of_id(entry)),
                ty => (None, ty),
            };
            let first = index.and_then(|index| terms.type_bounds(index)).map_or(0, |b| b.0);
            for i in (0..len).filter(|i| memory.word(at + i) != MISSING) {
                let entry = index.map(|index| Value::from_word(index, first + i64::from(i)));
                all.push((v, entry, Value::from_word(ty, memory.word(at + i))));
            }
        }
        all
    }

    /// Values of the live variables, some value for those that have none.
    fn valuation(&self, live: &[BTreeSet<VarId>], n: u32) -> Valuation {
        let memory = self.memory(n).cells;
        let terms = &self.cfa.terms;
        let value = |v: VarId| {
            let (at, len) = self.layout.slot(v).expect("every variable has a place");
            let ty = terms.variable(v).ty;
            let Type::Array(index, entry) = ty else { return Value::from_word(ty, memory[at as usize]) };
            let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
            let mut array = ArrayValue::new(terms, index, zero_of(terms, entry));
            let first = terms.type_bounds(index).map_or(0, |b| b.0);
            for i in 0..len {
                let value = Value::from_word(entry, memory[(at + i) as usize]);
                array.set(&Value::from_word(index, first + i64::from(i)), value);
            }
            Value::Array(array)
        };
        live[self.location(n).index()].iter().map(|&v| (v, value(v))).collect()
    }

    /// Notes a state; its number, and whether it is new.
    fn reach(&mut self, location: LocationId, memory: &Memory, parent: u32, via: EdgeId) -> (u32, bool) {
        let values = self.cells[location.index()].iter().map(|&c| memory.word(c));
        let (n, new) = self.states.number(std::iter::once(i64::from(location.0)).chain(values), parent, via.0);
        self.stats.added += u64::from(new);
        (n, new)
    }

    /// Answers the first error, if there is one.
    fn explore(&mut self, live: &[BTreeSet<VarId>], meter: &mut Meter) -> Result<Option<u32>, Reason> {
        let initial = self.cfa.initial;
        if self.distances[initial.index()].is_none() {
            return Ok(None);
        }
        self.start(live, meter)?;
        if self.cfa.is_error(initial) {
            return Ok(Some(0));
        }
        let found = explore(self, meter)?;
        self.stats.stored = self.stats.added;
        Ok(found)
    }

    /// Notes what there is at the start.
    fn start(&mut self, live: &[BTreeSet<VarId>], meter: &mut Meter) -> Result<(), Reason> {
        let cfa = self.cfa;
        let initial = cfa.initial;
        let mut start = vec![Memory::new(self.size)];
        for &v in &live[initial.index()] {
            let (at, len) = self.layout.slot(v).unwrap_or_default();
            let ty = match cfa.terms.variable(v).ty {
                Type::Array(_, entry) => cfa.terms.type_of_id(entry),
                ty => ty,
            };
            let Some((lo, hi)) = cfa.terms.type_bounds(ty).filter(|&(lo, hi)| self.are_few(lo, hi)) else {
                start.iter_mut().for_each(|m| m.forget(at..at + len));
                continue;
            };
            for cell in at..at + len {
                start = self.post(&Block::Havoc(v, cell, lo, hi), start, false, meter)?;
            }
        }
        for m in start {
            self.reach(initial, &m, NONE, EdgeId(0));
        }
        Ok(())
    }

    /// The run to a state, taken by the interpreter.
    fn trace(&self, live: &[BTreeSet<VarId>], error: u32) -> Result<Trace, Reason> {
        let path = self.states.path(error);
        let steps: Vec<_> = path[1..].iter().map(|&n| (self.states.via(n), n)).collect();
        self.along(live, path[0], &steps)
    }

    /// A run from a state by edges through others, taken by the interpreter.
    fn along(&self, live: &[BTreeSet<VarId>], first: u32, path: &[(u32, u32)]) -> Result<Trace, Reason> {
        let terms = &self.cfa.terms;
        let mut env: Valuation =
            self.cfa.variables.iter().map(|&v| (v, zero_of(terms, terms.variable(v).ty))).collect();
        env.extend(self.valuation(live, first));
        let start = env.clone();
        let mut steps = vec![];
        let mut from = first;
        for &(edge, to) in path {
            let edge = EdgeId(edge);
            let Some(block) = &self.blocks[edge.index()] else { return Err(gives_up("no way")) };
            let after = self.post(block, vec![self.memory(from)], true, &mut Meter::unlimited())?;
            let cells = &self.cells[self.location(to).index()];
            let leads = |m: &&Memory| cells.iter().zip(self.values(to)).all(|(&c, &value)| m.word(c) == value);
            let Some(found) = after.iter().find(leads) else { return Err(gives_up("no way")) };
            if !run(terms, self.cfa.edge(edge).stmt, &mut env, &mut Script::new(&found.choices)) {
                return Err(gives_up("a run that the interpreter does not take"));
            }
            steps.push(Step { edge, choices: found.choices.clone(), after: env.clone() });
            from = to;
        }
        Ok(Trace { start, steps })
    }
}

impl Exploration for Search<'_> {
    type Found = u32;
    type Failure = Reason;

    fn next(&mut self) -> Result<Option<u32>, Reason> {
        Ok(self.order.next(self.states.count()))
    }

    fn progress(&self) -> Progress {
        Progress { waiting: self.order.waiting(self.states.count()), stats: self.stats }
    }

    fn expand(&mut self, n: u32, meter: &mut Meter) -> Result<Option<u32>, Reason> {
        let cfa = self.cfa;
        self.stats.expanded += 1;
        for &e in cfa.outgoing(self.location(n)) {
            let Some(block) = &self.blocks[e.index()] else { continue };
            let after = self.post(block, vec![self.memory(n)], false, meter)?;
            let to = cfa.edge(e).to;
            for m in &after {
                self.stats.steps += 1;
                match self.reach(to, m, n, e) {
                    (new, true) if cfa.is_error(to) => return Ok(Some(new)),
                    (_, true) => {}
                    (_, false) => self.stats.covered += 1,
                }
            }
        }
        Ok(None)
    }
}

/// All states as a graph that is made while somebody walks in it.
pub(crate) struct States<'a> {
    search: Search<'a>,
    live: Vec<BTreeSet<VarId>>,
    after: Vec<Option<Vec<(u32, u32)>>>,
    roots: Vec<u32>,
}

impl<'a> States<'a> {
    /// Of an automaton in large blocks; everything counts, not only what leads to errors.
    pub(crate) fn new(cfa: &'a Cfa, meter: &mut Meter) -> Result<States<'a>, Reason> {
        let live = live(cfa);
        let mut search = Search::new(cfa, MANY, &live, vec![Some(0); cfa.locations().len()])?;
        search.start(&live, meter)?;
        let roots = (0..search.states.count() as u32).collect();
        Ok(States { search, live, after: vec![], roots })
    }

    /// Where runs start.
    pub(crate) fn roots(&self) -> Vec<u32> {
        self.roots.clone()
    }

    /// Where a state is.
    pub(crate) fn location(&self, n: u32) -> LocationId {
        self.search.location(n)
    }

    /// How many there are by now.
    pub(crate) fn count(&self) -> u32 {
        self.search.states.count() as u32
    }

    /// What was counted.
    pub(crate) fn stats(&self) -> Stats {
        Stats { stored: self.search.stats.added, ..self.search.stats }
    }

    /// By which edges one gets to which states.
    pub(crate) fn successors(&mut self, n: u32, meter: &mut Meter) -> Result<Vec<(u32, u32)>, Reason> {
        if let Some(Some(known)) = self.after.get(n as usize) {
            return Ok(known.clone());
        }
        meter.check(&self.search.progress())?;
        let search = &mut self.search;
        search.stats.expanded += 1;
        let cfa = search.cfa;
        let mut all = vec![];
        for &e in cfa.outgoing(search.location(n)) {
            let Some(block) = &search.blocks[e.index()] else { continue };
            for m in search.post(block, vec![search.memory(n)], false, meter)? {
                search.stats.steps += 1;
                all.push((e.0, search.reach(cfa.edge(e).to, &m, n, e).0));
            }
        }
        all.sort_unstable();
        all.dedup();
        let count = self.count() as usize;
        self.after.resize(count, None);
        self.after[n as usize] = Some(all.clone());
        Ok(all)
    }

    /// What is known in a state.
    pub(crate) fn said(&self, terms: &mut Terms, n: u32) -> TermId {
        point(terms, &self.search.facts(&self.live, n))
    }

    /// A run by edges through states, taken by the interpreter.
    pub(crate) fn run(&self, first: u32, path: &[(u32, u32)]) -> Result<Trace, Reason> {
        self.search.along(&self.live, first, path)
    }
}

/// Is anything left open?
fn is_open(terms: &Terms, s: StmtId) -> bool {
    match *terms.stmt(s) {
        Stmt::Havoc(_) | Stmt::Choice(_) => true,
        Stmt::Seq(ref parts) => parts.iter().any(|&p| is_open(terms, p)),
        Stmt::If(_, a, b) => is_open(terms, a) || is_open(terms, b),
        Stmt::While(_, body) => is_open(terms, body),
        Stmt::Skip | Stmt::Assume(_) | Stmt::Assign(..) | Stmt::Foreign(..) => false,
    }
}

/// Each once.
fn distinct(mut all: Vec<Memory>) -> Vec<Memory> {
    if all.len() > 1 {
        let mut seen = FxHashSet::default();
        all.retain(|m| seen.insert((m.cells.clone(), m.missing.clone())));
    }
    all
}
