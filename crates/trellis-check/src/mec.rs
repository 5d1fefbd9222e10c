//! Mec 5's relations, evaluated again: as lists of rows, over lists of all configurations and transitions that
//! [`Walker`] finds, and without decision diagrams. Only where these are not too many.
//!
//! A formula is asked which rows of a table satisfy it: conditions and negations take rows away, relations and quantifiers add
//! variables. A fixpoint is iterated as the μ-calculus says, each equation within the one before it.

mod table;

use std::rc::Rc;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{TermId, Value, VarId};
use trellis_model::hierarchy::ctl;
use trellis_model::hierarchy::walk::Walker;
use trellis_model::hierarchy::{Domain, Hierarchy};
use trellis_model::mec::{Callee, Definition, Fixpoint, Formula, Place, Sort};

use crate::branching::{Graph, Reached};
use table::{Rows, Table, cut};

/// How many rows a list may have.
pub const MOST: usize = 1_000_000;

/// How many values a domain may have.
const MAX_VALUES: u64 = 1 << 16;

/// Cause a relation is not evaluated again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Open {
    /// A node cannot be listed.
    #[error("`{0}` has too many configurations or transitions to list them")]
    Node(String),
    /// A list would be too long.
    #[error("more than {MOST} rows")]
    Rows,
    /// That took too long.
    #[error("it takes too long")]
    Time,
    /// It needs one that was not.
    #[error("it needs `{0}`, which was not")]
    Needs(String),
}

/// A node, listed.
struct Node {
    graph: Rc<Graph>,
    numbers: FxHashMap<Vec<i64>, u32>,
    initial: Rc<Rows>,
    transitions: Rc<Rows>,
    events: Vec<String>,
}

type Listed = Result<Rc<Rows>, Open>;

/// The relations over some nodes.
#[derive(Default)]
pub struct Relations {
    nodes: FxHashMap<String, Result<Node, Open>>,
    defined: FxHashMap<String, Listed>,
}

/// Some configurations to start in, and some that are looked for.
pub struct Sets {
    from: Rc<Rows>,
    to: Rc<Rows>,
}

impl Relations {
    /// A node more; one of the same name is no longer known. What it was computed from stays as it is.
    pub fn add(&mut self, name: &str, hierarchy: &Hierarchy, until: Option<Instant>) {
        let listed = node(hierarchy, until).ok_or_else(|| Open::Node(name.into()));
        self.nodes.insert(name.into(), listed);
    }

    /// A node that need not be tried, because it is known to be too large.
    pub fn leave_out(&mut self, name: &str) {
        self.nodes.insert(name.into(), Err(Open::Node(name.into())));
    }

    fn node(&self, name: &str) -> Result<&Node, Open> {
        self.nodes.get(name).ok_or_else(|| Open::Needs(name.into()))?.as_ref().map_err(Clone::clone)
    }

    /// Evaluates definitions that use each other, and remembers what they are.
    pub fn define(&mut self, system: &[Definition], until: Option<Instant>) {
        if let Err(why) = self.solve(system, until) {
            system.iter().for_each(|d| drop(self.defined.insert(d.name.clone(), Err(why.clone()))));
        }
    }

    /// Evaluates a formula of computation tree logic about a node, whose terms are the hierarchy's.
    pub fn branching(&mut self, name: &str, of: &str, hierarchy: &Hierarchy, formula: &ctl::Formula) {
        let holds = self.node(of).map(|node| Reached::of(hierarchy, node.graph.clone()).holds(formula));
        let rows = |holds: Vec<bool>| -> Rows {
            (0..).zip(holds).filter(|(_, holds)| *holds).map(|(n, _)| [n].into()).collect()
        };
        self.defined.insert(name.into(), holds.map(|h| rows(h).into()));
    }

    /// The rows behind a name.
    fn listed(&self, callee: &Callee) -> Listed {
        Ok(match callee {
            Callee::Configurations(node) => {
                let count = self.node(node)?.graph.configurations.len() as u32;
                Rc::new((0..count).map(|n| [n].into()).collect())
            }
            Callee::Initial(node) => self.node(node)?.initial.clone(),
            Callee::Events(node) => Rc::new((0..self.node(node)?.events.len() as u32).map(|n| [n].into()).collect()),
            Callee::Transitions(node) => self.node(node)?.transitions.clone(),
            Callee::Defined(name) => match self.defined.get(name) {
                Some(Ok(rows)) => rows.clone(),
                Some(Err(why)) => return Err(why.clone()),
                None => return Err(Open::Needs(name.clone())),
            },
        })
    }

    /// How many rows a relation has.
    pub fn cardinal(&self, callee: &Callee) -> Result<usize, Open> {
        Ok(self.listed(callee)?.len())
    }

    /// Does a relation have exactly these rows? For each argument its value, or the values of a configuration's variables by
    /// number; no row comes twice.
    pub fn same(&self, callee: &Callee, sorts: &[Sort], rows: &[Vec<Vec<i64>>]) -> Result<bool, Open> {
        let listed = self.listed(callee)?;
        if listed.len() != rows.len() {
            return Ok(false);
        }
        for row in rows {
            let mut numbers = vec![];
            for (sort, values) in sorts.iter().zip(row) {
                numbers.push(self.number(sort, values)?);
            }
            let there = numbers.into_iter().collect::<Option<Box<[u32]>>>();
            if !there.is_some_and(|row| listed.contains(&row)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The number of a value, if it is one.
    fn number(&self, sort: &Sort, values: &[i64]) -> Result<Option<u32>, Open> {
        let first = values.first().copied().unwrap_or(0);
        Ok(match sort {
            Sort::Configuration(node) => self.node(node)?.numbers.get(values).copied(),
            Sort::Event(node) => u32::try_from(first).ok().filter(|&n| self.nodes_events(node) > n as usize),
            Sort::Value(domain) => {
                let all = values_of(domain)?;
                all.iter().position(|&n| n == first).map(|n| n as u32)
            }
        })
    }

    fn nodes_events(&self, node: &str) -> usize {
        self.node(node).map_or(0, |n| n.events.len())
    }

    fn count(&self, sort: &Sort) -> Result<usize, Open> {
        Ok(match sort {
            Sort::Configuration(node) => self.node(node)?.graph.configurations.len(),
            Sort::Event(node) => self.node(node)?.events.len(),
            Sort::Value(domain) => values_of(domain)?.len(),
        })
    }

    /// Two sets of configurations, as they are now.
    pub fn sets(&self, from: &Callee, to: &Callee) -> Result<Sets, Open> {
        Ok(Sets { from: self.listed(from)?, to: self.listed(to)? })
    }

    /// Can one of the second set be reached from one of the first?
    pub fn reachable(&self, node: &str, sets: &Sets) -> Result<bool, Open> {
        let graph = &self.node(node)?.graph;
        let mut next: Vec<Vec<u32>> = vec![vec![]; graph.configurations.len()];
        graph.transitions.iter().for_each(|&(from, _, to)| next[from as usize].push(to));
        let mut seen: FxHashSet<u32> = sets.from.iter().map(|row| row[0]).collect();
        let mut waiting: Vec<u32> = seen.iter().copied().collect();
        while let Some(q) = waiting.pop() {
            if sets.to.contains(&[q][..]) {
                return Ok(true);
            }
            waiting.extend(next[q as usize].iter().copied().filter(|r| seen.insert(*r)));
        }
        Ok(false)
    }

    /// Do these configurations lead from the first set to the second, each by an event to the next?
    pub fn leads(&self, node: &str, sets: &Sets, run: &[Vec<i64>], events: &[usize]) -> Result<bool, Open> {
        let node = self.node(node)?;
        let numbers: Option<Vec<u32>> = run.iter().map(|values| node.numbers.get(values).copied()).collect();
        let Some(numbers) = numbers.filter(|n| n.len() == events.len() + 1) else { return Ok(false) };
        let within = |rows: &Rows, n: Option<&u32>| n.is_some_and(|&n| rows.contains(&[n][..]));
        let step = |(w, &event): (&[u32], &usize)| node.transitions.contains(&[w[0], event as u32, w[1]][..]);
        Ok(within(&sets.from, numbers.first())
            && within(&sets.to, numbers.last())
            && numbers.windows(2).zip(events).all(step))
    }

    /// Solves equations, outermost first, for what those outside of them are now.
    fn solve(&mut self, system: &[Definition], until: Option<Instant>) -> Result<(), Open> {
        let Some((d, inner)) = system.split_first() else { return Ok(()) };
        match d.fixpoint {
            Fixpoint::None => {}
            Fixpoint::Least => drop(self.defined.insert(d.name.clone(), Ok(Rc::default()))),
            Fixpoint::Greatest => {
                let mut all = Table::unit();
                for (n, sort) in d.arguments.iter().enumerate() {
                    all = all.extend(n, self.count(sort)?, MOST).ok_or(Open::Rows)?;
                }
                self.defined.insert(d.name.clone(), Ok(all.rows.into()));
            }
        }
        loop {
            self.solve(inner, until)?;
            let mut asked = Asked { relations: self, d, sorts: d.arguments.clone(), until };
            let all: Vec<usize> = (0..d.arguments.len()).collect();
            let found = asked.among(&d.formula, &Table::unit())?;
            let found = asked.with(found, &all)?.rows;
            let stable =
                d.fixpoint == Fixpoint::None || matches!(self.defined.get(&d.name), Some(Ok(now)) if **now == found);
            self.defined.insert(d.name.clone(), Ok(found.into()));
            if stable {
                return Ok(());
            }
        }
    }
}

/// Lists a node, if there is not too much of it.
fn node(hierarchy: &Hierarchy, until: Option<Instant>) -> Option<Node> {
    let graph = Graph::new(hierarchy, true, until)?;
    if graph.transitions.len() > MOST {
        return None;
    }
    let levels = Walker::new(hierarchy).ok()?.levels;
    let count = levels.of(hierarchy.top).len();
    let numbers = graph.configurations.iter().cloned().zip(0..).collect();
    let initial = graph.initial.iter().map(|&q| [q].into()).collect();
    let row = |&(from, event, to): &(u32, usize, u32)| [from, event as u32, to].into();
    let transitions = graph.transitions.iter().map(row).collect();
    let events = (0..count).map(|n| levels.show(hierarchy, hierarchy.top, n)).collect();
    let (initial, transitions) = (Rc::new(initial), Rc::new(transitions));
    Some(Node { graph: graph.into(), numbers, initial, transitions, events })
}

fn values_of(domain: &Domain) -> Result<Vec<i64>, Open> {
    domain.values(MAX_VALUES).ok_or(Open::Rows)
}

/// A formula that is being evaluated.
struct Asked<'a> {
    relations: &'a Relations,
    d: &'a Definition,
    /// What the variables in scope range over.
    sorts: Vec<Sort>,
    until: Option<Instant>,
}

impl Asked<'_> {
    /// The variables of a formula that are not bound in it.
    fn free(&self, f: &Formula) -> Vec<usize> {
        let mut all = match f {
            Formula::Term(t) => self.d.terms.free_vars(*t).into_iter().filter_map(|v| self.place(v)).collect(),
            Formula::Not(a) => self.free(a),
            Formula::And(a, b) | Formula::Or(a, b) => [self.free(a), self.free(b)].concat(),
            Formula::Exists(n, _, a) | Formula::Forall(n, _, a) => {
                self.free(a).into_iter().filter(|v| v != n).collect()
            }
            Formula::Apply(_, numbers) => numbers.clone(),
            Formula::SameEvent((_, x), (_, y)) => vec![*x, *y],
        };
        all.sort_unstable();
        all.dedup();
        all
    }

    fn place(&self, v: VarId) -> Option<usize> {
        Some(match self.d.places.get(&v)? {
            Place::Part(_, number, _) | Place::Value(_, number) => *number,
        })
    }

    /// A table with all of some variables: those that it does not have take every value.
    fn with(&self, mut table: Table, variables: &[usize]) -> Result<Table, Open> {
        for &v in variables {
            if !table.variables.contains(&v) {
                table = table.extend(v, self.relations.count(&self.sorts[v])?, MOST).ok_or(Open::Rows)?;
            }
        }
        Ok(table)
    }

    /// The rows of a table, with the variables of a formula that it does not have, that satisfy the formula.
    fn among(&mut self, f: &Formula, table: &Table) -> Result<Table, Open> {
        if self.until.is_some_and(|until| Instant::now() > until) {
            return Err(Open::Time);
        }
        match f {
            Formula::Term(t) => {
                let table = self.with(table.clone(), &self.free(f))?;
                self.filtered(*t, table)
            }
            Formula::And(..) => {
                let mut parts = vec![];
                conjuncts(f, true, &mut parts);
                self.all_of(parts, table.clone())
            }
            Formula::Or(..) => {
                let (mut parts, free) = (vec![], self.free(f));
                disjuncts(f, true, &mut parts);
                self.any_of(&parts, table, &free)
            }
            Formula::Not(a) => match &**a {
                Formula::Not(a) => self.among(a, table),
                Formula::Or(..) => {
                    let mut parts = vec![];
                    conjuncts(a, false, &mut parts);
                    self.all_of(parts, table.clone())
                }
                Formula::And(..) => {
                    let (mut parts, free) = (vec![], self.free(a));
                    disjuncts(a, false, &mut parts);
                    self.any_of(&parts, table, &free)
                }
                Formula::Forall(n, sort, body) => self.some(*n, sort, body, false, table),
                a => {
                    let table = self.with(table.clone(), &self.free(a))?;
                    let fails = self.among(a, &table.project(&self.free(a)))?;
                    Ok(without(table, &fails))
                }
            },
            Formula::Exists(n, sort, body) => self.some(*n, sort, body, true, table),
            Formula::Forall(n, sort, body) => {
                let free = self.free(f);
                let table = self.with(table.clone(), &free)?;
                let fails = self.some(*n, sort, body, false, &table.project(&free))?;
                Ok(without(table, &fails))
            }
            Formula::Apply(callee, numbers) => table.join(&self.applied(callee, numbers)?, MOST).ok_or(Open::Rows),
            Formula::SameEvent((a, x), (b, y)) => {
                let mut table = self.with(table.clone(), &self.free(f))?;
                let (first, second) = (&self.relations.node(a)?.events, &self.relations.node(b)?.events);
                let at = |v: &usize| table.variables.iter().position(|w| w == v).unwrap_or(0);
                let (i, j) = (at(x), at(y));
                table.rows.retain(|row| match a == b {
                    true => row[i] == row[j],
                    false => first.get(row[i] as usize) == second.get(row[j] as usize),
                });
                Ok(table)
            }
        }
    }

    /// The rows for which some value of a variable satisfies the body, or its negation.
    fn some(&mut self, n: usize, sort: &Sort, body: &Formula, is: bool, table: &Table) -> Result<Table, Open> {
        let outside = self.free(body).into_iter().filter(|v| *v != n).collect::<Vec<_>>();
        self.sorts.truncate(n);
        self.sorts.push(sort.clone());
        let part = table.project(&outside);
        let found = match is {
            true => self.among(body, &part)?,
            false => self.among(&Formula::Not(body.clone().into()), &part)?,
        };
        let found = self.with(found, &[n])?;
        table.join(&found.project(&outside), MOST).ok_or(Open::Rows)
    }

    /// The rows that satisfy all of some formulas: next comes whatever takes rows away, or else adds the fewest.
    fn all_of(&mut self, mut parts: Vec<(&Formula, bool)>, mut table: Table) -> Result<Table, Open> {
        while !parts.is_empty() {
            let price = |&(f, is): &(&Formula, bool)| {
                let free = self.free(f);
                let new = free.iter().filter(|v| !table.variables.contains(v)).count();
                let apart = new == free.len() && !table.variables.is_empty();
                match f {
                    Formula::Term(_) if new == 0 => (0, 0),
                    _ if new == 0 => (1, 0),
                    Formula::Apply(callee, _) if is => {
                        (if apart { 4 } else { 2 }, self.relations.listed(callee).map_or(MOST, |rows| rows.len()))
                    }
                    Formula::Exists(..) if is => (if apart { 5 } else { 3 }, new),
                    Formula::Forall(..) if !is => (if apart { 5 } else { 3 }, new),
                    _ => (6, new),
                }
            };
            let next = (0..parts.len()).min_by_key(|&n| price(&parts[n])).unwrap_or(0);
            let (f, is) = parts.remove(next);
            table = if is { self.among(f, &table)? } else { self.among(&Formula::Not(f.clone().into()), &table)? };
        }
        Ok(table)
    }

    /// The rows that satisfy one of some formulas, of all variables of any.
    fn any_of(&mut self, parts: &[(&Formula, bool)], table: &Table, free: &[usize]) -> Result<Table, Open> {
        let mut all: Option<Table> = None;
        for &(f, is) in parts {
            let found = if is { self.among(f, table)? } else { self.among(&Formula::Not(f.clone().into()), table)? };
            let found = self.with(found, free)?;
            match &mut all {
                Some(all) => all.rows.extend(found.rows),
                None => all = Some(found),
            }
            if all.as_ref().is_some_and(|all| all.rows.len() > MOST) {
                return Err(Open::Rows);
            }
        }
        all.ok_or(Open::Rows)
    }

    /// A relation of other variables than its arguments.
    fn applied(&self, callee: &Callee, numbers: &[usize]) -> Result<Table, Open> {
        let rows = self.relations.listed(callee)?;
        let mut variables = numbers.to_vec();
        variables.sort_unstable();
        variables.dedup();
        let first = |v: &usize| numbers.iter().position(|n| n == v).unwrap_or(0);
        let places: Vec<usize> = variables.iter().map(first).collect();
        // An argument that is given twice has the same value twice.
        let agrees = |row: &[u32]| numbers.iter().zip(row).all(|(v, n)| row[first(v)] == *n);
        let rows = rows.iter().filter(|row| agrees(row)).map(|row| cut(row, &places)).collect();
        Ok(Table { variables, rows })
    }

    /// The rows of a table for which a condition holds. What has no value does not hold.
    fn filtered(&self, t: TermId, mut table: Table) -> Result<Table, Open> {
        let terms = &self.d.terms;
        let mut reads: Vec<(VarId, usize, Reads<'_>)> = vec![];
        for v in terms.free_vars(t) {
            let Some(place) = self.d.places.get(&v) else { return Err(Open::Needs(terms.variable(v).name.clone())) };
            let at = |number: &usize| table.variables.iter().position(|w| w == number).unwrap_or(0);
            reads.push(match place {
                Place::Part(node, number, variable) => {
                    (v, at(number), Reads::Part(&self.relations.node(node)?.graph.configurations, *variable))
                }
                Place::Value(domain, number) => (v, at(number), Reads::Value(values_of(domain)?)),
            });
        }
        let (mut here, mut looked, mut late) = (Valuation::default(), 0_u32, false);
        table.rows.retain(|row| {
            looked += 1;
            late |= looked.is_multiple_of(4096) && self.until.is_some_and(|until| Instant::now() > until);
            if late {
                return false;
            }
            for (v, at, reads) in &reads {
                let n = row[*at] as usize;
                let word = match reads {
                    Reads::Part(all, variable) => all[n][*variable],
                    Reads::Value(all) => all[n],
                };
                here.insert(*v, Value::from_word(terms.variable(*v).ty, word));
            }
            eval(terms, t, &here, &mut NoHost).ok().and_then(|v| v.as_bool()) == Some(true)
        });
        if late { Err(Open::Time) } else { Ok(table) }
    }
}

/// What a variable of a term is read from.
enum Reads<'a> {
    Part(&'a [Vec<i64>], usize),
    Value(Vec<i64>),
}

/// The rows of a table that agree with none of another, which has some of its variables.
fn without(mut table: Table, other: &Table) -> Table {
    let at = |v: &usize| table.variables.iter().position(|w| w == v);
    let places: Vec<usize> = other.variables.iter().filter_map(at).collect();
    table.rows.retain(|row| !other.rows.contains(&cut(row, &places)));
    table
}

/// The parts of a conjunction, or of a disjunction that is negated.
fn conjuncts<'f>(f: &'f Formula, is: bool, parts: &mut Vec<(&'f Formula, bool)>) {
    match (f, is) {
        (Formula::And(a, b), true) | (Formula::Or(a, b), false) => {
            conjuncts(a, is, parts);
            conjuncts(b, is, parts);
        }
        (Formula::Not(a), is) => conjuncts(a, !is, parts),
        (f, is) => parts.push((f, is)),
    }
}

/// The parts of a disjunction, or of a conjunction that is negated.
fn disjuncts<'f>(f: &'f Formula, is: bool, parts: &mut Vec<(&'f Formula, bool)>) {
    match (f, is) {
        (Formula::Or(a, b), true) | (Formula::And(a, b), false) => {
            disjuncts(a, is, parts);
            disjuncts(b, is, parts);
        }
        (Formula::Not(a), is) => disjuncts(a, !is, parts),
        (f, is) => parts.push((f, is)),
    }
}
