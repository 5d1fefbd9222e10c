//! Mec 5's relations, computed (001 §6.1): a definition becomes a diagram over as many copies of the variables as it has variables.
//!
//! All nodes and all domains of plain values have their columns in one space, one behind the other, so that a relation may be about
//! several nodes, or about none. Every relation lies within the values of its arguments.
//!
//! A fixpoint is iterated from nothing (least) or from everything (greatest) until it does not change; one that is not monotone may go
//! on for ever, so the rounds are limited. Of a system of equations the first is the outermost: whenever its value changes, those behind
//! it are solved anew. Neighbours of the same kind are iterated together (Bekić).
//!
//! What this deliberately does not do: look for a good order across nodes. Relations between large nodes have large diagrams.

use rustc_hash::FxHashMap;
use trellis_domain::relation::{Error, Made, Memory, Natural, Relation, Space};
use trellis_expr::VarId;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_model::hierarchy::{Domain, Hierarchy};
use trellis_model::mec::{Callee, Definition, Fixpoint, Formula, Place, Sort};

/// Asked again and again while something is computed; no ends it.
pub type GoOn<'g> = &'g mut dyn FnMut() -> bool;

fn ask(go_on: GoOn<'_>) -> Made<()> {
    if go_on() { Ok(()) } else { Err(Error::Stopped) }
}

/// How many variables a definition may have in scope at once.
pub const MAX_VARIABLES: usize = 10;

/// How often fixpoints are iterated at most.
const MAX_ROUNDS: usize = 1_000_000;

/// How many values a domain may have.
const MAX_VALUES: u64 = 4096;

/// A relation with its arguments, which are copies 0, 1, …
#[derive(Debug, Clone)]
pub struct Computed {
    /// The arguments.
    pub arguments: Vec<Sort>,
    /// The rows.
    pub relation: Relation,
}

/// A node as relations.
pub struct Node {
    /// Its meaning.
    pub symbolic: Symbolic,
    initial: Relation,
    configurations: Relation,
    transitions: Option<Relation>,
    /// Its flat events, as they are written.
    pub events: Vec<String>,
}

/// The relations over some nodes.
pub struct Session {
    /// All columns.
    pub space: Space,
    /// The nodes.
    pub nodes: FxHashMap<String, Node>,
    /// The columns of plain values.
    values: FxHashMap<Domain, usize>,
    /// What was defined.
    pub defined: FxHashMap<String, Computed>,
}

fn missing<T>(what: &str) -> Made<T> {
    Err(Error::Unsupported(format!("{what}, which was not computed")))
}

impl Session {
    /// Without nodes.
    pub fn new(memory: Memory) -> Made<Session> {
        let space = Space::new(&[], MAX_VARIABLES, memory)?;
        let (nodes, values, defined) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        Ok(Session { space, nodes, values, defined })
    }

    /// A node more; one of the same name is no longer known.
    pub fn add(&mut self, name: &str, hierarchy: &Hierarchy) -> Made<()> {
        let symbolic = Symbolic::within(hierarchy, &self.space)?;
        let initial = symbolic.configurations_of(&symbolic.initial(hierarchy)?)?;
        let configurations = symbolic.configurations()?;
        let count = symbolic.levels.of(hierarchy.top).len();
        let events = (0..count).map(|n| symbolic.levels.show(hierarchy, hierarchy.top, n)).collect();
        // The space that it made has all columns so far, its own at the end.
        self.space = symbolic.space.extended(&[])?;
        self.nodes.insert(name.into(), Node { symbolic, initial, configurations, transitions: None, events });
        Ok(())
    }

    fn node(&self, name: &str) -> Made<&Node> {
        self.nodes.get(name).map_or_else(|| missing(&format!("the node `{name}`")), Ok)
    }

    /// Makes sure that there is a column for a domain.
    fn know(&mut self, sort: &Sort) -> Made<()> {
        let Sort::Value(domain) = sort else { return Ok(()) };
        if self.values.contains_key(domain) {
            return Ok(());
        }
        let Some(values) = domain.values(MAX_VALUES) else {
            return Err(Error::Unsupported(format!("a domain of more than {MAX_VALUES} values")));
        };
        self.values.insert(domain.clone(), self.space.len());
        self.space = self.space.extended(&[values])?;
        Ok(())
    }

    fn value_column(&self, domain: &Domain) -> Made<usize> {
        self.values.get(domain).map_or_else(|| missing("a domain"), |&column| Ok(column))
    }

    /// Where the parts of an argument are; those of a configuration in the order of the space.
    fn columns(&self, sort: &Sort, copy: usize) -> Made<Vec<(usize, usize)>> {
        Ok(match sort {
            Sort::Configuration(node) => self.node(node)?.symbolic.own_columns().map(|c| (c, copy)).collect(),
            Sort::Event(node) => vec![(self.node(node)?.symbolic.event_column(), copy)],
            Sort::Value(domain) => vec![(self.value_column(domain)?, copy)],
        })
    }

    /// All values of an argument.
    fn all_of(&self, sort: &Sort, copy: usize) -> Made<Relation> {
        match sort {
            Sort::Configuration(node) => {
                let node = self.node(node)?;
                let moves: Vec<_> = node.symbolic.own_columns().map(|c| (c, 0, copy)).collect();
                self.space.moved(&node.configurations, &moves)
            }
            Sort::Event(_) | Sort::Value(_) => {
                let columns: Vec<usize> = self.columns(sort, copy)?.into_iter().map(|(column, _)| column).collect();
                self.space.valid(&columns, copy)
            }
        }
    }

    /// The relation behind a name.
    pub fn relation(&mut self, callee: &Callee, go_on: GoOn<'_>) -> Made<Option<Computed>> {
        let configuration = |node: &String| Sort::Configuration(node.clone());
        Ok(match callee {
            Callee::Configurations(node) => {
                let relation = self.node(node)?.configurations.clone();
                Some(Computed { arguments: vec![configuration(node)], relation })
            }
            Callee::Initial(node) => {
                let relation = self.node(node)?.initial.clone();
                Some(Computed { arguments: vec![configuration(node)], relation })
            }
            Callee::Events(node) => {
                let relation = self.all_of(&Sort::Event(node.clone()), 0)?;
                Some(Computed { arguments: vec![Sort::Event(node.clone())], relation })
            }
            Callee::Transitions(node) => {
                let relation = self.all_transitions(node, go_on)?;
                let arguments = vec![configuration(node), Sort::Event(node.clone()), configuration(node)];
                Some(Computed { arguments, relation })
            }
            Callee::Defined(name) => self.defined.get(name).cloned(),
        })
    }

    /// From where (copy 0), by which event (copy 1), to where (copy 2).
    fn all_transitions(&mut self, name: &str, go_on: GoOn<'_>) -> Made<Relation> {
        let node = self.node(name)?;
        if let Some(known) = &node.transitions {
            return Ok(known.clone());
        }
        let (m, space) = (&node.symbolic, &self.space);
        let mut all = space.none();
        for event in &m.events {
            ask(go_on)?;
            let one = m.transitions(event, &node.configurations)?;
            let moves: Vec<(usize, usize, usize)> = m.own_columns().map(|c| (c, 1, 2)).collect();
            let one = space.moved(&one, &moves)?;
            let which = space.equals(m.event_column(), 1, event.number as i64)?;
            all = space.or(&all, &space.and(&one, &which)?)?;
        }
        if let Some(node) = self.nodes.get_mut(name) {
            node.transitions = Some(all.clone());
        }
        Ok(all)
    }

    /// How many rows a relation has.
    pub fn cardinal(&self, relation: &Computed) -> Made<Natural> {
        let mut columns = vec![];
        for (copy, sort) in relation.arguments.iter().enumerate() {
            columns.extend(self.columns(sort, copy)?);
        }
        Ok(self.space.count(&relation.relation, &columns))
    }

    /// Rows of a relation, no more than so many: for each argument its value, or the values of a configuration's variables by number.
    pub fn rows(&self, relation: &Computed, limit: usize) -> Made<Vec<Vec<Vec<i64>>>> {
        let mut columns: Vec<Vec<(usize, usize)>> = vec![];
        for (copy, sort) in relation.arguments.iter().enumerate() {
            columns.push(match sort {
                Sort::Configuration(node) => self.node(node)?.symbolic.columns.iter().map(|&c| (c, copy)).collect(),
                _ => self.columns(sort, copy)?,
            });
        }
        let cut = |row: Vec<i64>| {
            let mut values = row.into_iter();
            columns.iter().map(|c| values.by_ref().take(c.len()).collect()).collect()
        };
        let rows = self.space.rows(&relation.relation, &columns.concat(), limit);
        Ok(rows.into_iter().map(cut).collect())
    }

    /// Computes what a definition says, or several that use each other, and remembers it. If that fails there are no relations of these
    /// names, not even older ones.
    pub fn define(&mut self, system: &[Definition], go_on: GoOn<'_>) -> Made<()> {
        let done = self.compute(system, go_on);
        if done.is_err() {
            system.iter().for_each(|d| drop(self.defined.remove(&d.name)));
        }
        done
    }

    fn compute(&mut self, system: &[Definition], go_on: GoOn<'_>) -> Made<()> {
        for definition in system {
            if definition.depth > MAX_VARIABLES {
                return Err(Error::Unsupported(format!("more than {MAX_VARIABLES} variables at once")));
            }
            for sort in definition.sorts() {
                self.know(sort)?;
            }
        }
        let groups: Vec<&[Definition]> = system.chunk_by(|a, b| a.fixpoint == b.fixpoint).collect();
        self.solve(&groups, &mut 0, go_on)
    }

    /// Solves equations, outermost first, for what those outside of them are now.
    fn solve(&mut self, groups: &[&[Definition]], rounds: &mut usize, go_on: GoOn<'_>) -> Made<()> {
        let Some((outer, inner)) = groups.split_first() else { return Ok(()) };
        let mut limits = vec![];
        for d in *outer {
            let mut everything = self.space.all();
            for (copy, sort) in d.arguments.iter().enumerate() {
                everything = self.space.and(&everything, &self.all_of(sort, copy)?)?;
            }
            let start = match d.fixpoint {
                Fixpoint::None => None,
                Fixpoint::Least => Some(self.space.none()),
                Fixpoint::Greatest => Some(everything.clone()),
            };
            if let Some(relation) = start {
                self.defined.insert(d.name.clone(), Computed { arguments: d.arguments.clone(), relation });
            }
            limits.push(everything);
        }
        loop {
            self.solve(inner, rounds, go_on)?;
            let mut stable = true;
            for (d, everything) in outer.iter().zip(&limits) {
                let next = self.formula(d, &d.formula, go_on)?;
                let relation = self.space.and(&next, everything)?;
                stable &=
                    d.fixpoint == Fixpoint::None || self.defined.get(&d.name).map(|c| &c.relation) == Some(&relation);
                self.defined.insert(d.name.clone(), Computed { arguments: d.arguments.clone(), relation });
            }
            if stable {
                return Ok(());
            }
            *rounds += 1;
            if *rounds > MAX_ROUNDS {
                let text = format!("`{}` has no fixpoint within {MAX_ROUNDS} rounds", outer[0].name);
                return Err(Error::Unsupported(text));
            }
        }
    }

    fn formula(&mut self, d: &Definition, f: &Formula, go_on: GoOn<'_>) -> Made<Relation> {
        ask(go_on)?;
        Ok(match f {
            Formula::Term(t) => {
                let place = |v: VarId| match d.places.get(&v)? {
                    Place::Part(node, number, variable) => {
                        let column = self.nodes.get(node)?.symbolic.columns.get(*variable)?;
                        Some((*column, *number))
                    }
                    Place::Value(domain, number) => Some((*self.values.get(domain)?, *number)),
                };
                self.space.reader(&place).condition(&d.terms, *t)?
            }
            Formula::Not(a) => {
                let a = self.formula(d, a, go_on)?;
                self.space.not(&a)?
            }
            Formula::And(a, b) => {
                let (a, b) = (self.formula(d, a, go_on)?, self.formula(d, b, go_on)?);
                self.space.and(&a, &b)?
            }
            Formula::Or(a, b) => {
                let (a, b) = (self.formula(d, a, go_on)?, self.formula(d, b, go_on)?);
                self.space.or(&a, &b)?
            }
            Formula::Exists(number, sort, body) => {
                // The product is what makes images cheap: do not build the conjunction first.
                let (left, right) = match &**body {
                    Formula::And(a, b) => (self.formula(d, a, go_on)?, self.formula(d, b, go_on)?),
                    body => (self.space.all(), self.formula(d, body, go_on)?),
                };
                self.some(*number, sort, &left, &right)?
            }
            Formula::Forall(number, sort, body) => {
                let body = self.formula(d, body, go_on)?;
                let fails = self.some(*number, sort, &self.space.all(), &self.space.not(&body)?)?;
                self.space.not(&fails)?
            }
            Formula::Apply(callee, numbers) => {
                let Some(computed) = self.relation(callee, go_on)? else {
                    let Callee::Defined(name) = callee else { return missing("a relation") };
                    return missing(&format!("`{name}`"));
                };
                self.applied(&computed, numbers)?
            }
            Formula::SameEvent((a, x), (b, y)) => self.same_event((a, *x), (b, *y))?,
        })
    }

    /// Where two events are the same, or at least are written the same.
    fn same_event(&self, (a, x): (&str, usize), (b, y): (&str, usize)) -> Made<Relation> {
        let (space, first, second) = (&self.space, self.node(a)?, self.node(b)?);
        let (left, right) = (first.symbolic.event_column(), second.symbolic.event_column());
        if a == b {
            return space.same(left, x, y);
        }
        let mut all = space.none();
        for (n, name) in first.events.iter().enumerate() {
            for (m, _) in second.events.iter().enumerate().filter(|(_, other)| *other == name) {
                let both = space.and(&space.equals(left, x, n as i64)?, &space.equals(right, y, m as i64)?)?;
                all = space.or(&all, &both)?;
            }
        }
        Ok(all)
    }

    /// For some value of a variable, both.
    fn some(&self, number: usize, sort: &Sort, a: &Relation, b: &Relation) -> Made<Relation> {
        let cube = self.space.cube(self.columns(sort, number)?)?;
        let a = self.space.and(a, &self.all_of(sort, number)?)?;
        self.space.and_exists(&a, b, &cube)
    }

    /// A relation of other variables than its arguments.
    fn applied(&self, computed: &Computed, numbers: &[usize]) -> Made<Relation> {
        let space = &self.space;
        // An argument that is given twice: the relation is first cut to where both are equal.
        let mut relation = computed.relation.clone();
        let mut moves = vec![];
        for (copy, (sort, &to)) in computed.arguments.iter().zip(numbers).enumerate() {
            let columns = self.columns(sort, copy)?;
            match numbers[..copy].iter().position(|n| *n == to) {
                Some(first) => {
                    for &(column, _) in &columns {
                        relation = space.and(&relation, &space.same(column, first, copy)?)?;
                    }
                    relation = space.exists(&relation, &space.cube(columns)?)?;
                }
                None => moves.extend(columns.into_iter().map(|(column, copy)| (column, copy, to))),
            }
        }
        space.moved(&relation, &moves)
    }
}
