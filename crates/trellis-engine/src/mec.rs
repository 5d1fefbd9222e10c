//! Mec 5's relations, computed (001 §6.1): a definition becomes a diagram over as many copies of the variables as it has variables.
//!
//! Every relation lies within the configurations and events of its arguments. A fixpoint is iterated from nothing (least) or from
//! everything (greatest) until it does not change; for one that is not monotone this may go on for ever, so the rounds are limited.

use rustc_hash::FxHashMap;
use trellis_domain::relation::{Made, Memory, Natural, Relation, Trouble};
use trellis_expr::VarId;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_model::mec::{Callee, Definition, Fixpoint, Formula, Sort};

/// Asked again and again while something is computed; no ends it.
pub type GoOn<'g> = &'g mut dyn FnMut() -> bool;

fn ask(go_on: GoOn<'_>) -> Made<()> {
    if go_on() { Ok(()) } else { Err(Trouble::Stopped) }
}

/// How many variables a definition may have in scope at once.
pub const MAX_VARIABLES: usize = 6;

/// How often a fixpoint is iterated at most.
const MAX_ROUNDS: usize = 1_000_000;

/// A relation with its arguments, which are copies 0, 1, …
#[derive(Debug, Clone)]
pub struct Computed {
    /// The arguments.
    pub arguments: Vec<Sort>,
    /// The rows.
    pub relation: Relation,
}

/// The relations of one node.
pub struct Session {
    /// The node as relations.
    pub symbolic: Symbolic,
    initial: Relation,
    configurations: Relation,
    transitions: Option<Relation>,
    /// What was defined.
    pub defined: FxHashMap<String, Computed>,
}

impl Session {
    /// A node, ready for definitions.
    pub fn new(hierarchy: &Hierarchy, memory: Memory) -> Made<Session> {
        let symbolic = Symbolic::new(hierarchy, MAX_VARIABLES, memory)?;
        let initial = symbolic.configurations_of(&symbolic.initial(hierarchy)?)?;
        let configurations = symbolic.configurations()?;
        Ok(Session { symbolic, initial, configurations, transitions: None, defined: FxHashMap::default() })
    }

    /// Where the parts of an argument are.
    fn columns(&self, sort: Sort, copy: usize) -> Vec<(usize, usize)> {
        match sort {
            Sort::Configuration => (0..self.symbolic.columns.len()).map(|c| (c, copy)).collect(),
            Sort::Event => vec![(self.symbolic.event_column(), copy)],
        }
    }

    /// All values of an argument.
    fn all_of(&self, sort: Sort, copy: usize) -> Made<Relation> {
        let space = &self.symbolic.space;
        match sort {
            Sort::Configuration => space.moved(&self.configurations, &self.moves(&[sort], &[copy])),
            Sort::Event => space.valid(&[self.symbolic.event_column()], copy),
        }
    }

    /// From arguments to other variables.
    fn moves(&self, sorts: &[Sort], to: &[usize]) -> Vec<(usize, usize, usize)> {
        let one = |(copy, (&sort, &to)): (usize, (&Sort, &usize))| {
            self.columns(sort, copy).into_iter().map(move |(column, copy)| (column, copy, to)).collect::<Vec<_>>()
        };
        sorts.iter().zip(to).enumerate().flat_map(one).collect()
    }

    /// The relation behind a name.
    pub fn relation(&mut self, callee: &Callee, go_on: GoOn<'_>) -> Made<Option<Computed>> {
        use Sort::*;
        Ok(match callee {
            Callee::Configurations => {
                Some(Computed { arguments: vec![Configuration], relation: self.configurations.clone() })
            }
            Callee::Initial => Some(Computed { arguments: vec![Configuration], relation: self.initial.clone() }),
            Callee::Transitions => {
                let relation = self.all_transitions(go_on)?;
                Some(Computed { arguments: vec![Configuration, Event, Configuration], relation })
            }
            Callee::Defined(name) => self.defined.get(name).cloned(),
        })
    }

    /// From where (copy 0), by which event (copy 1), to where (copy 2).
    fn all_transitions(&mut self, go_on: GoOn<'_>) -> Made<Relation> {
        if let Some(known) = &self.transitions {
            return Ok(known.clone());
        }
        let (m, space) = (&self.symbolic, &self.symbolic.space);
        let mut all = space.none();
        for event in &m.events {
            ask(go_on)?;
            let one = m.transitions(event, &self.configurations)?;
            let moves: Vec<(usize, usize, usize)> = (0..m.columns.len()).map(|c| (c, 1, 2)).collect();
            let one = space.moved(&one, &moves)?;
            let which = space.equals(m.event_column(), 1, event.number as i64)?;
            all = space.or(&all, &space.and(&one, &which)?)?;
        }
        self.transitions = Some(all.clone());
        Ok(all)
    }

    /// How many rows a relation has.
    pub fn cardinal(&self, relation: &Computed) -> Natural {
        let columns: Vec<(usize, usize)> =
            relation.arguments.iter().enumerate().flat_map(|(copy, &sort)| self.columns(sort, copy)).collect();
        self.symbolic.space.count(&relation.relation, &columns)
    }

    /// Computes what a definition says, and remembers it. If that fails there is no relation of this name, not even an older one.
    pub fn define(&mut self, definition: &Definition, go_on: GoOn<'_>) -> Made<()> {
        let done = self.compute(definition, go_on);
        if done.is_err() {
            self.defined.remove(&definition.name);
        }
        done
    }

    fn compute(&mut self, definition: &Definition, go_on: GoOn<'_>) -> Made<()> {
        if definition.depth > MAX_VARIABLES {
            let text = format!("more than {MAX_VARIABLES} variables at once");
            return Err(Trouble::Unsupported(text));
        }
        let sorts = &definition.arguments;
        let mut everything = self.symbolic.space.all();
        for (copy, &sort) in sorts.iter().enumerate() {
            everything = self.symbolic.space.and(&everything, &self.all_of(sort, copy)?)?;
        }
        let start = match definition.fixpoint {
            Fixpoint::Greatest => everything.clone(),
            _ => self.symbolic.space.none(),
        };
        let mut relation = start;
        for _ in 0..MAX_ROUNDS {
            if definition.fixpoint != Fixpoint::None {
                let now = Computed { arguments: sorts.clone(), relation: relation.clone() };
                self.defined.insert(definition.name.clone(), now);
            }
            let next = self.formula(definition, &definition.formula, go_on)?;
            let next = self.symbolic.space.and(&next, &everything)?;
            if definition.fixpoint == Fixpoint::None || next == relation {
                self.defined.insert(definition.name.clone(), Computed { arguments: sorts.clone(), relation: next });
                return Ok(());
            }
            relation = next;
        }
        Err(Trouble::Unsupported(format!("`{}` has no fixpoint within {MAX_ROUNDS} rounds", definition.name)))
    }

    fn formula(&mut self, d: &Definition, f: &Formula, go_on: GoOn<'_>) -> Made<Relation> {
        ask(go_on)?;
        Ok(match f {
            Formula::Term(t) => {
                let columns = &self.symbolic.columns;
                let place = |v: VarId| d.places.get(&v).map(|&(number, original)| (columns[original], number));
                self.symbolic.space.reader(&place).condition(&d.terms, *t)?
            }
            Formula::Not(a) => {
                let a = self.formula(d, a, go_on)?;
                self.symbolic.space.not(&a)?
            }
            Formula::And(a, b) => {
                let (a, b) = (self.formula(d, a, go_on)?, self.formula(d, b, go_on)?);
                self.symbolic.space.and(&a, &b)?
            }
            Formula::Or(a, b) => {
                let (a, b) = (self.formula(d, a, go_on)?, self.formula(d, b, go_on)?);
                self.symbolic.space.or(&a, &b)?
            }
            Formula::Exists(number, sort, body) => {
                // The product is what makes images cheap: do not build the conjunction first.
                let (left, right) = match &**body {
                    Formula::And(a, b) => (self.formula(d, a, go_on)?, self.formula(d, b, go_on)?),
                    body => (self.symbolic.space.all(), self.formula(d, body, go_on)?),
                };
                self.some(*number, *sort, &left, &right)?
            }
            Formula::Forall(number, sort, body) => {
                let body = self.formula(d, body, go_on)?;
                let space = &self.symbolic.space;
                let fails = self.some(*number, *sort, &space.all(), &space.not(&body)?)?;
                space.not(&fails)?
            }
            Formula::Apply(callee, numbers) => {
                let Some(computed) = self.relation(callee, go_on)? else {
                    let Callee::Defined(name) = callee else { return Err(Trouble::Unsupported("a relation".into())) };
                    return Err(Trouble::Unsupported(format!("`{name}`, which was not computed")));
                };
                self.applied(&computed, numbers)?
            }
            Formula::SameEvent(a, b) => self.symbolic.space.same(self.symbolic.event_column(), *a, *b)?,
        })
    }

    /// For some value of a variable, both.
    fn some(&self, number: usize, sort: Sort, a: &Relation, b: &Relation) -> Made<Relation> {
        let space = &self.symbolic.space;
        let cube = space.cube(self.columns(sort, number))?;
        let a = space.and(a, &self.all_of(sort, number)?)?;
        space.and_exists(&a, b, &cube)
    }

    /// A relation of other variables than its arguments.
    fn applied(&self, computed: &Computed, numbers: &[usize]) -> Made<Relation> {
        let space = &self.symbolic.space;
        // An argument that is given twice: the relation is first cut to where both are equal.
        let mut relation = computed.relation.clone();
        let mut moves = vec![];
        for (copy, (&sort, &to)) in computed.arguments.iter().zip(numbers).enumerate() {
            match numbers[..copy].iter().position(|n| *n == to) {
                Some(first) => {
                    for (column, _) in self.columns(sort, copy) {
                        relation = space.and(&relation, &space.same(column, first, copy)?)?;
                    }
                    relation = space.exists(&relation, &space.cube(self.columns(sort, copy))?)?;
                }
                None => moves.extend(self.columns(sort, copy).into_iter().map(|(column, copy)| (column, copy, to))),
            }
        }
        space.moved(&relation, &moves)
    }
}
