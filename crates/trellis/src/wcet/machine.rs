//! What a program does to memory, step by step: the known part of its data, and what is read and written.
//!
//! An integer that the program computes from constants is known, one that it reads from an array or asks of its environment is not; nothing is kept of what is in
//! arrays. A condition that is not known may be true or false. So more runs are possible here than in the program, never fewer.
//!
//! The machine: each location with a statement that does something is an instruction of one word, in the order of the automaton; integers are in registers; each
//! entry of an array is a word, and an array starts with a block of its own. A statement reads first, each entry once, and then writes.

use std::collections::HashMap;
use trellis_expr::ternary::eval_partial;
use trellis_expr::{Stmt, StmtId, Term, TermId, Type, Value, VarId};
use trellis_model::cfa::{Cfa, EdgeId, Kind, LocationId};

/// What is read or written: an instruction, or an entry of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Word {
    /// The instruction with this number.
    Code(u32),
    /// This entry of the array with this number.
    Data(u32, i64),
}

/// Where a run is, and what is known of its integers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The location.
    pub location: LocationId,
    /// Of each integer in turn; nothing if it is not known.
    pub known: Vec<Option<i64>>,
    /// How often the heads of loops with a given bound were passed.
    pub rounds: Vec<u32>,
}

/// One step.
#[derive(Debug, Clone)]
pub struct Step {
    /// Along this edge.
    pub edge: EdgeId,
    /// What it uses, in order.
    pub uses: Vec<Word>,
    /// Where it leads.
    pub to: Key,
}

/// A program on that machine.
pub struct Machine<'c> {
    /// The program.
    pub cfa: &'c Cfa,
    /// Its integers.
    scalars: Vec<VarId>,
    places: HashMap<VarId, usize>,
    /// Its arrays.
    pub arrays: Vec<VarId>,
    /// The number of the instruction at each location, if there is one.
    code: Vec<Option<u32>>,
    /// How many instructions there are.
    pub instructions: u32,
    /// Heads of loops, and how often each is passed at most.
    loops: Vec<(LocationId, u32)>,
}

/// Values after a statement, and what was used.
type After = (Vec<Option<i64>>, Vec<Word>);

fn does_nothing(cfa: &Cfa, s: StmtId) -> bool {
    match cfa.terms.stmt(s) {
        Stmt::Skip => true,
        Stmt::Seq(all) => all.iter().all(|&s| does_nothing(cfa, s)),
        _ => false,
    }
}

/// The locations that a depth-first walk along edges comes back to.
pub fn heads(cfa: &Cfa) -> Vec<LocationId> {
    let count = cfa.locations().len();
    let (mut state, mut heads) = (vec![0u8; count], Vec::new());
    let mut open = vec![(cfa.initial, 0)];
    state[cfa.initial.index()] = 1;
    while let Some((l, next)) = open.pop() {
        let Some(&e) = cfa.outgoing(l).get(next) else {
            state[l.index()] = 2;
            continue;
        };
        open.push((l, next + 1));
        let to = cfa.edge(e).to;
        match state[to.index()] {
            0 => {
                state[to.index()] = 1;
                open.push((to, 0));
            }
            1 if !heads.contains(&to) => heads.push(to),
            _ => {}
        }
    }
    heads
}

impl<'c> Machine<'c> {
    /// The machine, and what is known of loops: the line of a head, and how many rounds a run makes at most, all in all.
    pub fn new(cfa: &'c Cfa, loops: &[(u32, u32)]) -> Result<Machine<'c>, String> {
        let is_array = |v: &VarId| matches!(cfa.terms.variable(*v).ty, Type::Array(..));
        let (arrays, scalars): (Vec<VarId>, Vec<VarId>) = cfa.variables.iter().copied().partition(is_array);
        let mut instructions = 0;
        let works = |l: LocationId| cfa.outgoing(l).iter().any(|&e| !does_nothing(cfa, cfa.edge(e).stmt));
        let number = |l: LocationId| {
            works(l).then(|| {
                instructions += 1;
                instructions - 1
            })
        };
        let code = cfa.locations().map(number).collect();
        let heads = heads(cfa);
        let mut bounded = Vec::new();
        for &(line, rounds) in loops {
            let head = heads.iter().find(|l| line_of(cfa, **l) == Some(line));
            let known: Vec<String> = heads.iter().filter_map(|l| line_of(cfa, *l)).map(|n| n.to_string()).collect();
            let head = head.ok_or_else(|| match known.is_empty() {
                true => format!("--loop {line}={rounds}: there is no loop whose line is known"),
                false => {
                    format!("--loop {line}={rounds}: no loop begins there; loops begin in line {}", known.join(", "))
                }
            })?;
            bounded.push((*head, rounds));
        }
        let places = scalars.iter().enumerate().map(|(i, &v)| (v, i)).collect();
        Ok(Machine { cfa, scalars, places, arrays, code, instructions, loops: bounded })
    }

    /// Where a run starts: nothing is known.
    pub fn initial(&self) -> Key {
        Key { location: self.cfa.initial, known: vec![None; self.scalars.len()], rounds: vec![0; self.loops.len()] }
    }

    /// The known part of all values.
    pub fn known(&self, value: impl Fn(VarId) -> Option<i64>) -> Vec<Option<i64>> {
        self.scalars.iter().map(|&v| value(v)).collect()
    }

    /// All that can happen next.
    pub fn steps(&self, key: &Key) -> Result<Vec<Step>, String> {
        if self.cfa.location(key.location).kind != Kind::Plain {
            return Ok(Vec::new());
        }
        let mut steps = Vec::new();
        for &e in self.cfa.outgoing(key.location) {
            let edge = self.cfa.edge(e);
            let mut rounds = key.rounds.clone();
            if let Some(i) = self.loops.iter().position(|(head, _)| *head == edge.to) {
                rounds[i] += 1;
                // The head is passed once more than the loop goes round.
                if rounds[i] > self.loops[i].1 + 1 {
                    continue;
                }
            }
            for (known, uses) in self.after(key.location, e, &key.known)? {
                steps.push(Step { edge: e, uses, to: Key { location: edge.to, known, rounds: rounds.clone() } });
            }
        }
        Ok(steps)
    }

    /// What an edge leads to from such values.
    pub fn after(&self, at: LocationId, e: EdgeId, known: &[Option<i64>]) -> Result<Vec<After>, String> {
        let fetch: Vec<Word> = self.code[at.index()].map(Word::Code).into_iter().collect();
        let place = || match line_of_edge(self.cfa, e) {
            Some(line) => format!("line {line}"),
            None => format!("`{}`", self.cfa.location(at).name),
        };
        self.run(self.cfa.edge(e).stmt, (known.to_vec(), fetch)).map_err(|why| format!("{}: {why}", place()))
    }

    fn value(&self, t: TermId, known: &[Option<i64>]) -> Option<i64> {
        let terms = &self.cfa.terms;
        let of = |v: VarId| {
            let word = known[*self.places.get(&v)?]?;
            Some(Value::from_word(terms.variable(v).ty, word))
        };
        eval_partial(terms, t, of)?.to_word()
    }

    fn run(&self, s: StmtId, (mut known, mut uses): After) -> Result<Vec<After>, String> {
        match self.cfa.terms.stmt(s) {
            Stmt::Skip => Ok(vec![(known, uses)]),
            Stmt::Assume(t) => {
                self.uses(*t, &known, &mut uses)?;
                let never = self.value(*t, &known) == Some(0);
                Ok(if never { Vec::new() } else { vec![(known, uses)] })
            }
            Stmt::Assign(v, t) => {
                self.uses(*t, &known, &mut uses)?;
                if let Some(&at) = self.places.get(v) {
                    known[at] = self.value(*t, &known);
                }
                Ok(vec![(known, uses)])
            }
            Stmt::Havoc(v) => {
                if let Some(&at) = self.places.get(v) {
                    known[at] = None;
                }
                Ok(vec![(known, uses)])
            }
            Stmt::Seq(all) => {
                let mut now = vec![(known, uses)];
                for &s in all.iter() {
                    let mut next = Vec::new();
                    for after in now {
                        next.extend(self.run(s, after)?);
                    }
                    now = next;
                }
                Ok(now)
            }
            Stmt::Choice(all) => {
                let mut found = Vec::new();
                for &s in all.iter() {
                    found.extend(self.run(s, (known.clone(), uses.clone()))?);
                }
                Ok(found)
            }
            Stmt::If(c, a, b) => {
                self.uses(*c, &known, &mut uses)?;
                let decided = self.value(*c, &known);
                let mut found = Vec::new();
                if decided != Some(0) {
                    found.extend(self.run(*a, (known.clone(), uses.clone()))?);
                }
                if decided.is_none_or(|v| v == 0) {
                    found.extend(self.run(*b, (known, uses))?);
                }
                Ok(found)
            }
            Stmt::While(..) | Stmt::Foreign(..) => Err("a statement with a loop of its own".into()),
        }
    }

    /// What a term reads and writes, in order.
    fn uses(&self, t: TermId, known: &[Option<i64>], out: &mut Vec<Word>) -> Result<(), String> {
        let (mut reads, mut writes, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        self.collect(t, known, &mut seen, &mut reads, &mut writes)?;
        out.append(&mut reads);
        out.append(&mut writes);
        Ok(())
    }

    fn collect(
        &self,
        t: TermId,
        known: &[Option<i64>],
        seen: &mut Vec<TermId>,
        reads: &mut Vec<Word>,
        writes: &mut Vec<Word>,
    ) -> Result<(), String> {
        if seen.contains(&t) {
            return Ok(());
        }
        seen.push(t);
        for part in self.cfa.terms.children(t) {
            self.collect(part, known, seen, reads, writes)?;
        }
        let (array, index, list) = match *self.cfa.terms.get(t) {
            Term::Select(a, i) => (a, i, reads),
            Term::Store(a, i, _) => (a, i, writes),
            _ => return Ok(()),
        };
        let array = self.array(array).ok_or("an array that is none of the program's variables")?;
        let name = || &self.cfa.terms.variable(self.arrays[array as usize]).name;
        match self.value(index, known) {
            Some(i) if i >= 0 => {
                let word = Word::Data(array, i);
                if !list.contains(&word) {
                    list.push(word);
                }
                Ok(())
            }
            Some(_) => Err(format!("an index below 0 into `{}`", name())),
            None => Err(format!("which entry of `{}` is used depends on unknown data", name())),
        }
    }

    /// The number of the array behind a term.
    fn array(&self, t: TermId) -> Option<u32> {
        match *self.cfa.terms.get(t) {
            Term::Var(v) => self.arrays.iter().position(|&a| a == v).map(|i| i as u32),
            Term::Store(a, ..) => self.array(a),
            _ => None,
        }
    }
}

/// The line of a location, or of the first edge that leaves it.
pub fn line_of(cfa: &Cfa, l: LocationId) -> Option<u32> {
    let own = cfa.location(l).place.map(|p| p.line);
    own.or_else(|| cfa.outgoing(l).iter().find_map(|&e| line_of_edge(cfa, e)))
}

/// The line of an edge.
pub fn line_of_edge(cfa: &Cfa, e: EdgeId) -> Option<u32> {
    cfa.edge(e).place.map(|p| p.line)
}
