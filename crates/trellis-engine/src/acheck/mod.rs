//! Acheck's properties, computed: a set of configurations is a relation, a set of transitions has one relation for each flat event.
//! What is drawn is listed: [`draw`].

pub mod draw;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_domain::relation::{Error, Made, Natural, Relation};
use trellis_model::acheck::{Of, Projection, Set};
use trellis_model::evidence::Reason;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_model::mec::Fixpoint;

use crate::cover::reach::{Direction, reachable};
use crate::cover::{Question, reason};
use draw::{Graph, Rows};
use trellis_meter::Meter;

/// A set that was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Computed {
    /// Configurations.
    States(Relation),
    /// Transitions between copies 0 and 1, for each event that the symbolic meaning lists.
    Transitions(Vec<Relation>),
}

/// The sets of one node.
pub struct Specification<'m> {
    hierarchy: &'m Hierarchy,
    symbolic: &'m Symbolic,
    initial: Relation,
    any_states: Relation,
    any_transitions: Vec<Relation>,
    /// What was defined.
    pub defined: FxHashMap<String, Computed>,
}

impl<'m> Specification<'m> {
    /// Finds what is reachable.
    pub fn new(
        hierarchy: &'m Hierarchy,
        symbolic: &'m Symbolic,
        meter: &mut Meter,
    ) -> Result<Specification<'m>, Reason> {
        let initial = symbolic.initial(hierarchy).map_err(reason)?;
        let question = Question { hierarchy, symbolic, initial: initial.clone(), bad: symbolic.space.none() };
        let states = reachable(&question, Direction::Forward, meter)?;
        let any_states = symbolic.configurations_of(&states).map_err(reason)?;
        let initial = symbolic.configurations_of(&initial).map_err(reason)?;
        let transitions = symbolic.events.iter().map(|e| symbolic.transitions(e, &any_states));
        let any_transitions = transitions.collect::<Made<_>>().map_err(reason)?;
        Ok(Specification { hierarchy, symbolic, initial, any_states, any_transitions, defined: FxHashMap::default() })
    }

    fn columns(&self) -> Vec<usize> {
        self.symbolic.own_columns().collect()
    }

    fn all(&self, of: Of) -> Computed {
        match of {
            Of::States => Computed::States(self.any_states.clone()),
            Of::Transitions => Computed::Transitions(self.any_transitions.clone()),
        }
    }

    fn empty(&self, of: Of) -> Computed {
        let none = self.symbolic.space.none();
        match of {
            Of::States => Computed::States(none),
            Of::Transitions => Computed::Transitions(vec![none; self.any_transitions.len()]),
        }
    }

    /// Computes a definition, and remembers it.
    pub fn define(&mut self, name: &str, of: Of, fixpoint: Fixpoint, set: &Set) -> Made<()> {
        let mut now = match fixpoint {
            Fixpoint::Greatest => self.all(of),
            _ => self.empty(of),
        };
        // One that is not monotone may have no fixpoint.
        for _ in 0..1_000_000 {
            if fixpoint != Fixpoint::None {
                self.defined.insert(name.into(), now.clone());
            }
            let next = self.set(set)?;
            if fixpoint == Fixpoint::None || next == now {
                self.defined.insert(name.into(), next);
                return Ok(());
            }
            now = next;
        }
        Err(Error::Unsupported(format!("`{name}` has no fixpoint")))
    }

    /// How many there are in a set.
    pub fn cardinal(&self, set: &Computed) -> Natural {
        match set {
            Computed::States(r) => self.symbolic.count(r),
            Computed::Transitions(list) => {
                let both: Vec<(usize, usize)> = self.columns().into_iter().flat_map(|c| [(c, 0), (c, 1)]).collect();
                let count = |r: &Relation| self.symbolic.space.count(r, &both);
                list.iter().map(count).fold(Natural::ZERO, |a, b| a + b)
            }
        }
    }

    /// The configurations of a set, as values of all variables by number, and the transitions of another between them: from which, by which
    /// flat event, to which. Nothing if there are more configurations or transitions than the limit.
    pub fn graph(&self, states: &Set, transitions: &Set, most: usize) -> Made<Option<Graph>> {
        let space = &self.symbolic.space;
        let copy = |copy: usize| self.symbolic.columns.iter().map(move |&c| (c, copy));
        let within = self.states(states)?;
        let configurations = space.rows(&within, &copy(0).collect::<Vec<_>>(), most + 1);
        let numbers: FxHashMap<&[i64], usize> =
            configurations.iter().enumerate().map(|(n, row)| (row.as_slice(), n)).collect();
        let both: Vec<(usize, usize)> = copy(0).chain(copy(1)).collect();
        let mut steps = vec![];
        for (event, relation) in self.symbolic.events.iter().zip(self.transitions(transitions)?) {
            if configurations.len() > most || steps.len() > most {
                return Ok(None);
            }
            let between = space.and(&space.and(&relation, &within)?, &space.rename(&within, &self.columns(), 0, 1)?)?;
            for row in space.rows(&between, &both, most + 1) {
                let (from, to) = row.split_at(self.symbolic.columns.len());
                if let (Some(&from), Some(&to)) = (numbers.get(from), numbers.get(to)) {
                    steps.push((from, event.number, to));
                }
            }
        }
        let initial = space.and(&self.initial, &within)?;
        let initial = space.rows(&initial, &copy(0).collect::<Vec<_>>(), most + 1);
        let initial = initial.iter().filter_map(|row| numbers.get(row.as_slice()).copied()).collect();
        Ok((steps.len() <= most).then_some(Graph { initial, steps, configurations }))
    }

    /// The names of the sets of configurations that were defined, each with which of a graph's configurations are in it. Names of the
    /// language are left out.
    pub fn marks(&self, graph: &Graph) -> Made<Vec<(String, Vec<bool>)>> {
        let columns: Vec<(usize, usize)> = self.symbolic.columns.iter().map(|&c| (c, 0)).collect();
        let mut all = vec![];
        for (name, set) in &self.defined {
            let Computed::States(set) = set else { continue };
            if ["any_s", "empty_s", "initial"].contains(&name.as_str()) {
                continue;
            }
            // Conditions hold for configurations that cannot be reached, too, and these may be many.
            let here = self.symbolic.space.and(set, &self.any_states)?;
            let rows = self.symbolic.space.rows(&here, &columns, usize::MAX);
            let rows: FxHashSet<&[i64]> = rows.iter().map(Vec::as_slice).collect();
            all.push((name.clone(), graph.configurations.iter().map(|c| rows.contains(c.as_slice())).collect()));
        }
        all.sort();
        Ok(all)
    }

    /// For each event of a sub-node that is possible: for which values of the variables there ([`Hierarchy::variables_below`]) some
    /// configuration has a transition of the first set; and for which some has transitions, all of them of the second set. Nothing if
    /// there are more values than the limit.
    ///
    /// That is what a public tool's outputs agree with (EmileRolley/altarica-project, `Controleurs`).
    pub fn project(&self, p: &Projection, most: usize) -> Made<Option<Vec<(usize, Rows, Rows)>>> {
        let (space, levels) = (&self.symbolic.space, &self.symbolic.levels);
        let below = self.hierarchy.variables_below(p.of);
        let columns: Vec<(usize, usize)> = below.iter().map(|v| (self.symbolic.columns[v.index()], 0)).collect();
        let others = space.cube(self.symbolic.own_columns().map(|c| (c, 0)).filter(|c| !columns.contains(c)))?;
        let next = space.cube(self.columns().into_iter().map(|c| (c, 1)))?;
        let (some, all) = (self.transitions(&p.some)?, self.transitions(&p.all)?);
        let mut found = vec![];
        for event in 1..self.hierarchy.component(p.of).events.len() {
            let (mut exists, mut wins, mut loses) = (space.none(), space.none(), space.none());
            for (n, flat) in self.symbolic.events.iter().enumerate() {
                if !levels.parts(self.hierarchy, self.hierarchy.top, flat.number).contains(&(p.of, event)) {
                    continue;
                }
                let any = &self.any_transitions[n];
                exists = space.or(&exists, &space.exists(&space.and(any, &some[n])?, &next)?)?;
                wins = space.or(&wins, &space.exists(&space.and(any, &all[n])?, &next)?)?;
                loses = space.or(&loses, &space.exists(&space.minus(any, &all[n])?, &next)?)?;
            }
            let rows = |sources: &Relation| -> Made<Rows> {
                let here = space.exists(sources, &others)?;
                Ok(space.rows(&here, &columns, most + 1).into_iter().collect())
            };
            let (exists, wins) = (rows(&exists)?, rows(&space.minus(&wins, &loses)?)?);
            if exists.len() > most || wins.len() > most {
                return Ok(None);
            }
            found.push((event, exists, wins));
        }
        Ok(Some(found))
    }

    fn states(&self, set: &Set) -> Made<Relation> {
        match self.set(set)? {
            Computed::States(r) => Ok(r),
            Computed::Transitions(_) => Err(Error::Unsupported("transitions where configurations should be".into())),
        }
    }

    fn transitions(&self, set: &Set) -> Made<Vec<Relation>> {
        match self.set(set)? {
            Computed::Transitions(list) => Ok(list),
            Computed::States(_) => Err(Error::Unsupported("configurations where transitions should be".into())),
        }
    }

    fn set(&self, set: &Set) -> Made<Computed> {
        let space = &self.symbolic.space;
        Ok(match set {
            Set::Name(name) => match self.defined.get(name) {
                Some(found) => found.clone(),
                None => return Err(Error::Unsupported(format!("`{name}`, which is not defined"))),
            },
            Set::Any(of) => self.all(*of),
            Set::Empty(of) => self.empty(*of),
            Set::Initial => Computed::States(self.initial.clone()),
            Set::Own(epsilon) => {
                let mut same = space.all();
                for c in self.columns().into_iter().rev() {
                    same = space.and(&space.same(c, 0, 1)?, &same)?;
                }
                let own = |(event, r): (usize, &Relation)| match *epsilon && self.symbolic.events[event].number != 0 {
                    true => Ok(space.none()),
                    false => space.and(r, &same),
                };
                Computed::Transitions(self.any_transitions.iter().enumerate().map(own).collect::<Made<_>>()?)
            }
            Set::Condition(t) => Computed::States(self.symbolic.satisfying(self.hierarchy, *t)?),
            Set::Label(c, event) => {
                let levels = &self.symbolic.levels;
                let taken = |number: usize| levels.parts(self.hierarchy, self.hierarchy.top, number);
                let labelled = |(at, r): (usize, &Relation)| {
                    let part = taken(self.symbolic.events[at].number).contains(&(*c, *event));
                    if part { r.clone() } else { space.none() }
                };
                Computed::Transitions(self.any_transitions.iter().enumerate().map(labelled).collect())
            }
            Set::And(a, b) => self.both(a, b, |x, y| space.and(x, y))?,
            Set::Or(a, b) => self.both(a, b, |x, y| space.or(x, y))?,
            Set::Minus(a, b) => self.both(a, b, |x, y| space.minus(x, y))?,
            Set::Sources(t) => {
                let cube = space.cube(self.columns().into_iter().map(|c| (c, 1)))?;
                let mut all = space.none();
                for r in self.transitions(t)? {
                    all = space.or(&all, &space.exists(&r, &cube)?)?;
                }
                Computed::States(all)
            }
            Set::Targets(t) => Computed::States(self.image(&self.transitions(t)?, &space.all())?),
            Set::From(s) => {
                let s = self.states(s)?;
                let from = self.any_transitions.iter().map(|r| space.and(r, &s));
                Computed::Transitions(from.collect::<Made<_>>()?)
            }
            Set::To(s) => {
                let s = space.rename(&self.states(s)?, &self.columns(), 0, 1)?;
                let to = self.any_transitions.iter().map(|r| space.and(r, &s));
                Computed::Transitions(to.collect::<Made<_>>()?)
            }
            Set::Reach(s, t) => {
                let (mut all, t) = (self.states(s)?, self.transitions(t)?);
                loop {
                    let next = space.or(&all, &self.image(&t, &all)?)?;
                    if next == all {
                        break Computed::States(all);
                    }
                    all = next;
                }
            }
            Set::Coreach(s, t) => {
                let (mut all, t) = (self.states(s)?, self.transitions(t)?);
                loop {
                    let next = space.or(&all, &self.preimage(&t, &all)?)?;
                    if next == all {
                        break Computed::States(all);
                    }
                    all = next;
                }
            }
            Set::Trace(from, by, to) => {
                Computed::Transitions(self.way(&self.states(from)?, &self.transitions(by)?, &self.states(to)?)?)
            }
        })
    }

    fn both(&self, a: &Set, b: &Set, op: impl Fn(&Relation, &Relation) -> Made<Relation>) -> Made<Computed> {
        Ok(match (self.set(a)?, self.set(b)?) {
            (Computed::States(a), Computed::States(b)) => Computed::States(op(&a, &b)?),
            (Computed::Transitions(a), Computed::Transitions(b)) => {
                Computed::Transitions(a.iter().zip(&b).map(|(x, y)| op(x, y)).collect::<Made<_>>()?)
            }
            _ => return Err(Error::Unsupported("configurations beside transitions".into())),
        })
    }

    fn image(&self, by: &[Relation], from: &Relation) -> Made<Relation> {
        let space = &self.symbolic.space;
        let cube = space.cube(self.columns().into_iter().map(|c| (c, 0)))?;
        let mut all = space.none();
        for r in by {
            all = space.or(&all, &space.and_exists(from, r, &cube)?)?;
        }
        space.rename(&all, &self.columns(), 1, 0)
    }

    fn preimage(&self, by: &[Relation], to: &Relation) -> Made<Relation> {
        let space = &self.symbolic.space;
        let cube = space.cube(self.columns().into_iter().map(|c| (c, 1)))?;
        let to = space.rename(to, &self.columns(), 0, 1)?;
        let mut all = space.none();
        for r in by {
            all = space.or(&all, &space.and_exists(&to, r, &cube)?)?;
        }
        Ok(all)
    }

    /// The transitions of one shortest way; none if there is no way.
    fn way(&self, from: &Relation, by: &[Relation], to: &Relation) -> Made<Vec<Relation>> {
        let space = &self.symbolic.space;
        let mut picked = vec![space.none(); by.len()];
        let mut layers = vec![to.clone()];
        let mut seen = to.clone();
        while !space.meets(&layers[layers.len() - 1], from)? {
            let next = space.minus(&self.preimage(by, &layers[layers.len() - 1])?, &seen)?;
            if next.is_empty() {
                return Ok(picked);
            }
            seen = space.or(&seen, &next)?;
            layers.push(next);
        }
        let mut here = space.and(&layers[layers.len() - 1], from)?;
        for layer in layers.iter().rev().skip(1) {
            let Some(values) = self.symbolic.pick(&here) else { break };
            let start = self.symbolic.single(&values, true)?;
            let target = space.rename(layer, &self.columns(), 0, 1)?;
            for (event, r) in by.iter().enumerate() {
                let steps = space.and(&space.and(r, &start)?, &target)?;
                let after = self.image(std::slice::from_ref(&steps), &start)?;
                if let Some(next) = self.symbolic.pick(&after) {
                    here = self.symbolic.single(&next, true)?;
                    let end = space.rename(&here, &self.columns(), 0, 1)?;
                    picked[event] = space.or(&picked[event], &space.and(&steps, &end)?)?;
                    break;
                }
            }
        }
        Ok(picked)
    }
}
