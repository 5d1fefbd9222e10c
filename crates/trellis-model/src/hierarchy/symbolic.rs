//! The meaning of a hierarchy on relations, composed level by level (001 §2.2.2).
//!
//! A flat event is a relation between a configuration and the new values of the state variables that the event *writes*; all other
//! state variables stay as they are, and flows are free: they take any values that the assertions allow. So it is enough to follow
//! sets of *states* (values of state variables): a configuration is reachable if and only if its state is.
//!
//! The assertion is kept in *clusters*, conjunctions that share no flow. An event that reads a flow is multiplied with that flow's
//! cluster and nothing else, because for an admissible state the other clusters can always be satisfied.
//!
//! Priorities are resolved on relations too, never in the text of guards, which would explode.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_domain::relation::{self, Decisions, Error, Made, Memory, Natural, Reader, Relation, Space};
use trellis_expr::{TermId, Terms, VarId};

use super::order::orders;
use super::{ComponentId, Hierarchy, Levels};

/// How many values a variable may have.
const MAX_VALUES: u64 = 1 << 16;

/// Conjuncts of the assertion that share flows, or that have none.
#[derive(Debug, Clone)]
struct Cluster {
    flows: Vec<usize>,
    /// Over states and flows; flows have codes that stand for values.
    relation: Relation,
}

/// A flat event as a relation.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its number among the flat events of the top.
    pub number: usize,
    /// Between a configuration and the new values of what is written.
    guarded: Relation,
    /// The same without flows: for some values of them.
    relation: Relation,
    /// The columns that are written, in order.
    pub written: Vec<usize>,
    /// They, before the event.
    old: Relation,
    /// They, after it.
    new: Relation,
}

/// A step of one component.
struct Step {
    relation: Relation,
    written: Vec<usize>,
}

/// A hierarchy as relations.
pub struct Symbolic {
    /// The diagrams.
    pub space: Space,
    /// The flat events of all components.
    pub levels: Levels,
    /// Those of the top that can happen at all, the ones that write nothing included.
    pub events: Vec<Event>,
    /// Its first column in the space.
    first: usize,
    /// For each variable, its column.
    pub columns: Vec<usize>,
    /// The columns of state variables.
    pub states: Vec<usize>,
    /// The columns of flows.
    pub flows: Vec<usize>,
    flow_cube: Relation,
    clusters: Vec<Cluster>,
    admissible: Relation,
    /// What can be reached from the initial states, if a trial of the order has found it.
    reached: Option<(Relation, Relation)>,
}

/// How often a trial of an order is asked whether it goes on, at first and at most.
const TRIAL: std::ops::RangeInclusive<u32> = 16..=256;

impl Symbolic {
    /// All configurations and events of the top. At least two copies of the variables are needed.
    pub fn new(hierarchy: &Hierarchy, copies: usize, memory: Memory) -> Made<Symbolic> {
        Symbolic::within(hierarchy, &Space::new(&[], copies.max(2), memory)?)
    }

    /// The same, with the first of several orders in which all reachable states are found in a short trial; where there is none, the one that
    /// looks best. What was found is kept.
    pub fn tried(hierarchy: &Hierarchy, copies: usize, memory: Memory, go_on: &dyn Fn() -> bool) -> Made<Symbolic> {
        let orders = orders(hierarchy);
        let make = |order: &[VarId]| Symbolic::ordered(hierarchy, order, &Space::new(&[], copies.max(2), memory)?);
        let mut turns = *TRIAL.start();
        while turns <= *TRIAL.end() && orders.len() > 1 && go_on() {
            for order in &orders {
                let mut symbolic = make(order)?;
                let (start, mut left) = (symbolic.initial(hierarchy)?, turns);
                let mut more = || {
                    left -= 1;
                    left > 0 && go_on()
                };
                match symbolic.closure(&start, false, &mut more) {
                    Ok(Some(all)) => {
                        symbolic.reached = Some((start, all));
                        return Ok(symbolic);
                    }
                    // Too many values for a trial.
                    Ok(None) => return Ok(symbolic),
                    Err(_) => {}
                }
            }
            turns *= 4;
        }
        make(&orders[0])
    }

    /// The same in a space that others live in, behind them. It needs at least two copies.
    pub fn within(hierarchy: &Hierarchy, space: &Space) -> Made<Symbolic> {
        Symbolic::ordered(hierarchy, &orders(hierarchy)[0], space)
    }

    fn ordered(hierarchy: &Hierarchy, order: &[VarId], space: &Space) -> Made<Symbolic> {
        let levels = hierarchy.levels().map_err(|e| Error::Unsupported(e.to_string()))?;
        let mut values = vec![];
        for v in &hierarchy.variables {
            let all = v.domain.values(MAX_VALUES);
            values.push(all.ok_or_else(|| {
                let what = if v.domain.size().is_none() { "infinitely many" } else { "too many" };
                Error::Unsupported(format!("`{}` has {what} values for decision diagrams", v.name))
            })?);
        }
        let first = space.len();
        let mut columns = vec![0; hierarchy.variables.len()];
        order.iter().enumerate().for_each(|(n, v)| columns[v.index()] = first + n);
        let mut rows: Vec<Vec<i64>> = order.iter().map(|v| values[v.index()].clone()).collect();
        // The last column is the flat event, for relations that have it as an argument.
        rows.push((0..levels.of(hierarchy.top).len() as i64).collect());
        let space = space.extended(&rows)?;
        let of_kind = |flow: bool| {
            let mut all: Vec<usize> =
                (0..columns.len()).filter(|&v| hierarchy.variables[v].flow == flow).map(|v| columns[v]).collect();
            all.sort_unstable();
            all
        };
        let (states, flows) = (of_kind(false), of_kind(true));
        let flow_cube = space.cube(flows.iter().map(|&c| (c, 0)))?;
        let none = space.none();
        let mut symbolic = Symbolic {
            space,
            levels,
            events: vec![],
            first,
            columns,
            states,
            flows,
            flow_cube,
            clusters: vec![],
            admissible: none,
            reached: None,
        };
        symbolic.compose(hierarchy)?;
        Ok(symbolic)
    }

    /// The column of the flat event.
    pub fn event_column(&self) -> usize {
        self.first + self.columns.len()
    }

    /// The columns of a configuration, in order.
    pub fn own_columns(&self) -> std::ops::Range<usize> {
        self.first..self.event_column()
    }

    // Composition.

    fn compose(&mut self, hierarchy: &Hierarchy) -> Made<()> {
        let place = self.place();
        self.clusters = self.clusters_below(hierarchy, hierarchy.top, &mut self.space.reader(&place))?;
        let admissible = self.admissible_states(&self.clusters)?;
        let valid = self.space.valid(&self.states, 0)?;
        self.admissible = admissible.iter().rev().try_fold(valid, |all, r| self.space.and(&all, r))?;
        self.events = self.composed(hierarchy, true)?;
        Ok(())
    }

    /// Where a variable of the hierarchy is.
    fn place(&self) -> impl Fn(VarId) -> Option<(usize, usize)> + use<> {
        let columns = self.columns.clone();
        move |v: VarId| columns.get(v.index()).map(|&c| (c, 0))
    }

    /// The events as Mec 5's *super transitions* (001 §6.2.1), which do not ask whether their target satisfies the assertion.
    ///
    /// Between configurations they are the same steps, so whoever intersects what they lead to with configurations finds the same; their
    /// diagrams are others. Not where there are priorities or broadcasts: a step that leads to no configuration would take precedence
    /// there over one that does, and the steps between configurations would not be the same.
    pub fn super_events(&self, hierarchy: &Hierarchy) -> Made<Vec<Event>> {
        if hierarchy.has_priorities() {
            return Err(Error::Unsupported("super transitions, where there are priorities or broadcasts".into()));
        }
        self.composed(hierarchy, false)
    }

    /// The events of the top; the target is a configuration, if that is asked for.
    fn composed(&self, hierarchy: &Hierarchy, asserted: bool) -> Made<Vec<Event>> {
        let place = self.place();
        let mut below: Vec<Option<Vec<Step>>> = vec![];
        for number in 0..hierarchy.components.len() {
            let id = ComponentId(number as u32);
            let mut reader = self.space.reader(&place);
            let clusters = if asserted { self.clusters_below(hierarchy, id, &mut reader)? } else { vec![] };
            let steps = self.level(hierarchy, id, &below, &clusters, &mut reader)?;
            for &sub in &hierarchy.component(id).subs {
                below[sub.index()] = None;
            }
            below.push(Some(steps));
        }
        let mut events = vec![];
        let top = below[hierarchy.top.index()].take().unwrap_or_default();
        for (number, step) in top.into_iter().enumerate() {
            if step.relation.is_empty() {
                continue;
            }
            let old = self.space.cube(step.written.iter().map(|&c| (c, 0)))?;
            let new = self.space.cube(step.written.iter().map(|&c| (c, 1)))?;
            let relation = self.without_flows(&step.relation)?;
            if !relation.is_empty() {
                events.push(Event { number, guarded: step.relation, relation, written: step.written, old, new });
            }
        }
        Ok(events)
    }

    /// The assertions at or below a component, in clusters.
    fn clusters_below(&self, hierarchy: &Hierarchy, c: ComponentId, reader: &mut Reader<'_>) -> Made<Vec<Cluster>> {
        let mut conjuncts: Vec<TermId> = vec![];
        let mut waiting = vec![c];
        while let Some(c) = waiting.pop() {
            let component = hierarchy.component(c);
            conjuncts.extend(&component.assertion);
            waiting.extend(&component.subs);
        }
        // Conjuncts that are connected by flows belong together.
        let flows_of = |t: TermId| -> Vec<usize> {
            let all = hierarchy.terms.free_vars(t);
            all.into_iter().filter(|v| hierarchy.variable(*v).flow).map(|v| self.columns[v.index()]).collect()
        };
        let mut groups: Vec<(FxHashSet<usize>, Vec<TermId>)> = vec![];
        for t in conjuncts {
            let mut flows: FxHashSet<usize> = flows_of(t).into_iter().collect();
            let mut terms = vec![t];
            groups.retain(|(others, more)| {
                let apart = others.is_disjoint(&flows);
                if !apart {
                    flows.extend(others);
                    terms.extend(more);
                }
                apart
            });
            groups.push((flows, terms));
        }
        let mut clusters = vec![];
        for (flows, terms) in groups {
            let mut flows: Vec<usize> = flows.into_iter().collect();
            flows.sort_unstable();
            let mut relation = self.space.valid(&flows, 0)?;
            for t in terms {
                relation = self.space.and(&relation, &reader.condition(&hierarchy.terms, t)?)?;
            }
            clusters.push(Cluster { flows, relation });
        }
        Ok(clusters)
    }

    /// What the clusters ask of states alone; what every state satisfies is left out.
    fn admissible_states(&self, clusters: &[Cluster]) -> Made<Vec<Relation>> {
        let valid = self.space.valid(&self.states, 0)?;
        let mut all = vec![];
        for cluster in clusters {
            let cube = self.space.cube(cluster.flows.iter().map(|&c| (c, 0)))?;
            let states = self.space.exists(&cluster.relation, &cube)?;
            if !self.space.within(&valid, &states)? {
                all.push(states);
            }
        }
        Ok(all)
    }

    fn level(
        &self,
        hierarchy: &Hierarchy,
        c: ComponentId,
        below: &[Option<Vec<Step>>],
        clusters: &[Cluster],
        reader: &mut Reader<'_>,
    ) -> Made<Vec<Step>> {
        let component = hierarchy.component(c);
        let own: Vec<Step> =
            (0..component.events.len()).map(|event| self.own_step(hierarchy, c, event, reader)).collect::<Made<_>>()?;
        let admissible = self.admissible_states(clusters)?;
        let events = self.levels.of(c);
        let mut steps: Vec<Step> = vec![];
        for event in events {
            let mut relation = own[event.label].relation.clone();
            let mut written = own[event.label].written.clone();
            for (sub, &n) in component.subs.iter().zip(&event.subs) {
                if let Some(step) = below[sub.index()].as_ref().map(|steps| &steps[n]) {
                    relation = self.space.and(&relation, &step.relation)?;
                    written.extend(&step.written);
                }
            }
            written.sort_unstable();
            // The target must be a configuration for some values of flows.
            if !written.is_empty() {
                for states in &admissible {
                    let target = self.space.rename(states, &written, 0, 1)?;
                    relation = self.space.and(&relation, &target)?;
                }
            }
            steps.push(Step { relation, written });
        }
        self.prioritise(hierarchy, c, &mut steps)?;
        Ok(steps)
    }

    /// What is lower than something that can happen is taken away.
    fn prioritise(&self, hierarchy: &Hierarchy, c: ComponentId, steps: &mut [Step]) -> Made<()> {
        let (choices, events) = (&self.levels.choices[c.index()], self.levels.of(c));
        let higher: Vec<Vec<usize>> = (0..choices.len())
            .map(|low| (0..choices.len()).filter(|&high| self.levels.lower(hierarchy, c, low, high)).collect())
            .collect();
        let needed: FxHashSet<usize> = higher.iter().flatten().copied().collect();
        let mut possible: FxHashMap<usize, Relation> = FxHashMap::default();
        for (event, step) in events.iter().zip(steps.iter()).filter(|(e, _)| needed.contains(&e.choice)) {
            let new = self.space.cube(step.written.iter().map(|&c| (c, 1)))?;
            let here = self.space.exists(&step.relation, &new)?;
            let all = possible.remove(&event.choice).unwrap_or_else(|| self.space.none());
            possible.insert(event.choice, self.space.or(&all, &here)?);
        }
        for (event, step) in events.iter().zip(steps.iter_mut()) {
            for high in &higher[event.choice] {
                if let Some(better) = possible.get(high) {
                    step.relation = self.space.minus(&step.relation, better)?;
                }
            }
        }
        Ok(())
    }

    /// What one event of a component does to its own variables.
    fn own_step(&self, hierarchy: &Hierarchy, c: ComponentId, event: usize, reader: &mut Reader<'_>) -> Made<Step> {
        if event == 0 {
            return Ok(Step { relation: self.space.all(), written: vec![] });
        }
        let component = hierarchy.component(c);
        let transitions = || component.transitions.iter().filter(move |t| t.event == event);
        let mut written: Vec<usize> =
            transitions().flat_map(|t| &t.updates).map(|(v, _)| self.columns[v.index()]).collect();
        written.sort_unstable();
        written.dedup();
        let mut relation = self.space.none();
        for t in transitions() {
            let mut one = reader.condition(&hierarchy.terms, t.guard)?;
            for &column in &written {
                let update = t.updates.iter().find(|(v, _)| self.columns[v.index()] == column);
                let becomes = match update {
                    None => self.space.same(column, 0, 1)?,
                    Some(&(_, e)) => {
                        let mut some = self.space.none();
                        for (n, here) in reader.values(&hierarchy.terms, e)? {
                            let there = self.space.equals(column, 1, n)?;
                            some = self.space.or(&some, &self.space.and(&here, &there)?)?;
                        }
                        some
                    }
                };
                one = self.space.and(&one, &becomes)?;
            }
            relation = self.space.or(&relation, &one)?;
        }
        Ok(Step { relation, written })
    }

    /// For some values of flows that the assertion allows, at admissible states.
    fn without_flows(&self, relation: &Relation) -> Made<Relation> {
        let mut all = relation.clone();
        for cluster in self.clusters.iter().filter(|c| !c.flows.is_empty()) {
            let cube = self.space.cube(cluster.flows.iter().map(|&c| (c, 0)))?;
            if self.space.exists(&all, &cube)? != all {
                all = self.space.and_exists(&all, &cluster.relation, &cube)?;
            }
        }
        // Flows that no assertion mentions.
        if self.space.exists(&all, &self.flow_cube)? == all {
            return Ok(all);
        }
        self.space.and_exists(&all, &self.space.valid(&self.flows, 0)?, &self.flow_cube)
    }

    // Sets.

    /// States that have a configuration.
    pub fn admissible(&self) -> &Relation {
        &self.admissible
    }

    /// All configurations with a state in a set.
    pub fn configurations_of(&self, states: &Relation) -> Made<Relation> {
        let mut all = self.space.and(states, &self.space.valid(&self.flows, 0)?)?;
        for cluster in &self.clusters {
            all = self.space.and(&all, &cluster.relation)?;
        }
        Ok(all)
    }

    /// All configurations.
    pub fn configurations(&self) -> Made<Relation> {
        self.configurations_of(&self.admissible)
    }

    /// The states of some configurations.
    pub fn states_of(&self, configurations: &Relation) -> Made<Relation> {
        self.space.exists(configurations, &self.flow_cube)
    }

    /// The configurations in which a condition holds.
    pub fn satisfying(&self, hierarchy: &Hierarchy, condition: TermId) -> Made<Relation> {
        let Some(v) = hierarchy.deadlock_in(condition) else { return self.holding(&hierarchy.terms, condition) };
        let mut terms = hierarchy.terms.clone();
        let mut with = |stuck: bool| {
            let map = [(v, terms.bool(stuck))].into_iter().collect();
            let condition = terms.substitute(condition, &map);
            self.holding(&terms, condition)
        };
        let (there, elsewhere, stuck) = (with(true)?, with(false)?, self.stuck()?);
        self.space.or(&self.space.and(&there, &stuck)?, &self.space.minus(&elsewhere, &stuck)?)
    }

    fn holding(&self, terms: &Terms, condition: TermId) -> Made<Relation> {
        let place = |v: VarId| self.columns.get(v.index()).map(|&c| (c, 0));
        let holds = self.space.reader(&place).condition(terms, condition)?;
        self.space.and(&self.configurations()?, &holds)
    }

    /// The configurations in which nothing but ε can happen.
    pub fn stuck(&self) -> Made<Relation> {
        let all = self.configurations()?;
        let mut stuck = all.clone();
        for event in self.events.iter().filter(|e| e.number != 0) {
            stuck = self.space.minus(&stuck, &self.pre_to(event, &self.admissible, &all)?)?;
        }
        Ok(stuck)
    }

    /// The initial states.
    pub fn initial(&self, hierarchy: &Hierarchy) -> Made<Relation> {
        let place = |v: VarId| self.columns.get(v.index()).map(|&c| (c, 0));
        let mut reader = self.space.reader(&place);
        let mut all = self.admissible.clone();
        for (v, t) in hierarchy.initial(hierarchy.top) {
            let mut some = self.space.none();
            for (n, here) in reader.values(&hierarchy.terms, t)? {
                let equal = self.space.equals(self.columns[v.index()], 0, n)?;
                some = self.space.or(&some, &self.space.and(&here, &equal)?)?;
            }
            all = self.space.and(&all, &some)?;
        }
        Ok(all)
    }

    // Steps.

    /// The states that an event leads to from some states.
    pub fn post(&self, event: &Event, states: &Relation) -> Made<Relation> {
        let after = self.space.and_exists(states, &event.relation, &event.old)?;
        self.space.rename(&after, &event.written, 1, 0)
    }

    /// The states from which an event leads to some states.
    pub fn pre(&self, event: &Event, states: &Relation) -> Made<Relation> {
        let after = self.space.rename(states, &event.written, 0, 1)?;
        let before = self.space.and_exists(&after, &event.relation, &event.new)?;
        self.space.and(&before, &self.admissible)
    }

    /// All states that events lead to from some, or, backward, from which events lead to some; `None` if a variable has too many
    /// values for this.
    pub fn closure(
        &self,
        states: &Relation,
        backward: bool,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Made<Option<Relation>> {
        if let Some((_, all)) = self.reached.as_ref().filter(|(start, _)| !backward && start == states) {
            return Ok(Some(all.clone()));
        }
        let mut relations = vec![];
        for event in self.events.iter().filter(|e| !e.written.is_empty()) {
            let relation = match backward {
                true => self.space.and(&event.relation, &self.admissible)?,
                false => event.relation.clone(),
            };
            relations.push((relation, &event.written));
        }
        let steps: Vec<relation::Step<'_>> =
            relations.iter().map(|(relation, written)| relation::Step { relation, written }).collect();
        self.space.closure(states, &steps, &self.states, backward, go_on)
    }

    /// The states that an event leads to from some configurations.
    pub fn post_from(&self, event: &Event, configurations: &Relation) -> Made<Relation> {
        let here = self.space.and(configurations, &event.guarded)?;
        let here = self.space.exists(&here, &self.flow_cube)?;
        let after = self.space.exists(&here, &event.old)?;
        self.space.rename(&after, &event.written, 1, 0)
    }

    /// The configurations, of all, from which an event leads to some states.
    pub fn pre_to(&self, event: &Event, states: &Relation, all: &Relation) -> Made<Relation> {
        let after = self.space.rename(states, &event.written, 0, 1)?;
        let before = self.space.and_exists(&after, &event.guarded, &event.new)?;
        self.space.and(&before, all)
    }

    /// An event as a relation between configurations, of copies 0 and 1.
    pub fn transitions(&self, event: &Event, all: &Relation) -> Made<Relation> {
        let mut both = self.space.and(all, &event.guarded)?;
        for &column in self.states.iter().rev().filter(|c| !event.written.contains(c)) {
            both = self.space.and(&both, &self.space.same(column, 0, 1)?)?;
        }
        let columns: Vec<usize> = self.own_columns().collect();
        let target = self.space.rename(all, &columns, 0, 1)?;
        self.space.and(&both, &target)
    }

    // On file.

    /// A set of states as tests of variables, by their numbers.
    pub fn decisions(&self, states: &Relation) -> Decisions {
        let mut decisions = self.space.decisions(states, &self.states);
        let variable = |column: usize| self.columns.iter().position(|&c| c == column).unwrap_or(column);
        decisions.tests.iter_mut().for_each(|t| t.variable = variable(t.variable));
        decisions
    }

    /// The states that tests of variables accept, of those that have a configuration; nothing if the tests make no sense.
    pub fn decided(&self, decisions: &Decisions) -> Made<Option<Relation>> {
        let mut decisions = decisions.clone();
        for test in &mut decisions.tests {
            match self.columns.get(test.variable) {
                Some(&column) if self.states.contains(&column) => test.variable = column,
                _ => return Ok(None),
            }
        }
        let found = self.space.decided(&decisions)?;
        found.map(|states| self.space.and(&states, &self.admissible)).transpose()
    }

    // Counting.

    /// How many states.
    pub fn count_states(&self, states: &Relation) -> Natural {
        let columns: Vec<(usize, usize)> = self.states.iter().map(|&c| (c, 0)).collect();
        self.space.count(states, &columns)
    }

    /// How many configurations.
    pub fn count(&self, configurations: &Relation) -> Natural {
        let columns: Vec<(usize, usize)> = self.own_columns().map(|c| (c, 0)).collect();
        self.space.count(configurations, &columns)
    }

    /// One configuration of a set: the values of all variables, by number.
    pub fn pick(&self, configurations: &Relation) -> Option<Vec<i64>> {
        let columns: Vec<(usize, usize)> = self.columns.iter().map(|&c| (c, 0)).collect();
        self.space.pick(configurations, &columns)
    }

    /// The set of one configuration, or of the states that agree with it if only states are asked for.
    pub fn single(&self, values: &[i64], with_flows: bool) -> Made<Relation> {
        let mut columns: Vec<(usize, i64)> = self.columns.iter().copied().zip(values.iter().copied()).collect();
        columns.sort_unstable();
        let mut all = self.space.all();
        for (column, value) in columns.into_iter().rev() {
            if with_flows || self.states.binary_search(&column).is_ok() {
                all = self.space.and(&self.space.equals(column, 0, value)?, &all)?;
            }
        }
        Ok(all)
    }
}
