//! Statecharts: regions, nodes and transitions of one instance.

use trellis_expr::{TermId, Type};
use trellis_model::gamma::{Chart, Kind, Node, Part, Priority, Region, Signal, SignalId, Skip, Timer, Transition};

use super::ast::{self, Action, ActionKind, Component, Guard, Name, NodeKind};
use super::build::{Built, Port};
use super::packages::{self, unknown};
use super::shape::Shape;
use super::terms::{Bound, Scope, Words};
use crate::text::errors::{Read, count};

/// So many regions beside each other may take any order.
const MAX_UNORDERED: usize = 4;

impl<'a> Words<'a, '_> {
    /// An instance of a statechart.
    pub fn chart(
        &mut self,
        file: usize,
        c: &Component<'a>,
        written: &ast::Chart<'a>,
        path: &str,
        mut scope: Scope<'a>,
    ) -> Read<Built<'a>> {
        let skip = self.sys.terms.skip();
        let mut chart = Chart {
            name: path.to_string(),
            nodes: vec![],
            regions: vec![],
            top: vec![],
            transitions: vec![],
            bottom_up: false,
            unordered: false,
            guards_first: false,
            priority: Priority::Value,
            skip: Skip::Never,
            variables: vec![],
            transient: vec![],
            resettable: vec![],
            inputs: vec![],
            outputs: vec![],
            timers: vec![],
            port_invariants: vec![],
            invariants: vec![],
        };
        self.annotated(c, &mut chart)?;
        scope.ports = self.ports(file, c, path, &mut chart)?;
        scope.functions.clone_from(&written.functions);
        self.variables(file, written, path, &mut scope, &mut chart)?;
        self.timers(written, path, &mut scope, &mut chart)?;

        // Names first, then what refers to them.
        let mut places = vec![];
        for region in &written.regions {
            let r = self.region(region, None, path, &mut chart, &mut places)?;
            chart.top.push(r);
        }
        self.histories(path, &mut chart);
        for (n, node) in chart.nodes.iter().enumerate() {
            if node.kind == Kind::State {
                let t = self.active(&chart, n);
                scope.states.push((format!("{}.{}", chart.regions[node.region].name, node.name), t));
            }
        }
        for (n, node) in places.iter().enumerate() {
            chart.nodes[n].entry = self.actions(&mut scope, &node.entry).unwrap_or(skip);
            chart.nodes[n].exit = self.actions(&mut scope, &node.exit).unwrap_or(skip);
            for e in &node.invariants {
                if let Ok(t) = self.typed(&mut scope, e, Type::Bool) {
                    chart.nodes[n].invariants.push(t);
                }
            }
        }
        for t in &written.transitions {
            // Go on after a mistake.
            let _ = self.transition(&mut scope, t, &mut chart);
        }
        for e in &written.invariants {
            let t = self.typed(&mut scope, e, Type::Bool)?;
            chart.invariants.push(t);
        }
        self.port_invariants(file, c, &mut scope, &mut chart)?;
        self.well_formed(&chart, &places, c)?;
        let ports = std::mem::take(&mut scope.ports);
        self.sys.charts.push(chart);
        Ok(Built { part: Part::Chart(self.sys.charts.len() - 1), ports })
    }

    fn annotated(&mut self, c: &Component<'a>, chart: &mut Chart) -> Read<()> {
        for a in &c.annotations {
            let (name, value) = (a.name.0.strip_suffix("Annotation").unwrap_or(a.name.0), a.value.map(|v| v.0));
            match (name, value) {
                ("RegionSchedule", Some("top-down"))
                | ("OrthogonalRegionSchedule", Some("sequential"))
                | ("GuardEvaluation", Some("on-the-fly"))
                | ("Asynchronous", _)
                | ("TransitionPriority", Some("off" | "value-based")) => {}
                ("RegionSchedule", Some("bottom-up")) => chart.bottom_up = true,
                ("OrthogonalRegionSchedule", Some("unordered")) => chart.unordered = true,
                ("TransitionPriority", Some("order-based")) => chart.priority = Priority::Order,
                ("GuardEvaluation", Some("beginning-of-step")) => chart.guards_first = true,
                ("RunUponExternalEvent", _) => chart.skip = Skip::NoInput,
                ("RunUponExternalEventOrInternalTimeout", _) => chart.skip = Skip::NoInputNorTimeout,
                _ => return self.fail(a.name.1, format!("`@{}` with this value is not read", a.name.0)),
            }
        }
        Ok(())
    }

    fn ports(&mut self, file: usize, c: &Component<'a>, path: &str, chart: &mut Chart) -> Read<Vec<Port<'a>>> {
        let mut ports = self.declared(file, &c.ports)?;
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        for (port, written) in ports.iter_mut().zip(&c.ports) {
            let files = self.files;
            let (there, interface) = match packages::interface(files, file, written.interface) {
                Ok(found) => found,
                Err(error) => return self.errors.fail(error),
            };
            for (event, (at, e)) in port.events.iter_mut().zip(self.events_of(there, interface, 0)?) {
                let name = format!("{prefix}{}.{}", port.name, e.name.0);
                if event.comes {
                    let s = self.signal(at, &e, format!("@{name}"))?;
                    event.ins.push(s);
                    chart.inputs.push(s);
                }
                if event.goes {
                    let s = self.signal(at, &e, name)?;
                    event.outs.push(s);
                    chart.outputs.push(s);
                }
            }
        }
        Ok(ports)
    }

    fn signal(&mut self, file: usize, e: &ast::Event<'a>, name: String) -> Read<SignalId> {
        let flag = self.t().declare(name.clone(), Type::Bool);
        let (mut params, mut records) = (vec![], vec![]);
        for p in &e.params {
            let shape = self.shape(file, &p.ty)?;
            if !parts_of(p.name.0, &shape, &mut records) {
                return self.fail(p.name.1, "arrays of records are not read in events");
            }
            let default = self.default_tree(&shape).leaves();
            for ((way, ty), default) in shape.leaves().into_iter().zip(default) {
                let part = format!("{}{way}", p.name.0);
                let v = self.t().declare(format!("{name}.{part}"), ty);
                params.push((part, v, default));
            }
        }
        self.sys.signals.push(Signal { name, flag, params, records, persistent: e.persistent });
        Ok(self.sys.signals.len() - 1)
    }

    fn variables(
        &mut self,
        file: usize,
        written: &ast::Chart<'a>,
        path: &str,
        scope: &mut Scope<'a>,
        chart: &mut Chart,
    ) -> Read<()> {
        for v in &written.variables {
            let shape = self.shape(file, &v.ty)?;
            let default = self.default_tree(&shape);
            let first = match &v.value {
                Some(value) => self.within(scope, value, &shape)?,
                None => default.clone(),
            };
            let name = if path.is_empty() { v.name.0.to_string() } else { format!("{path}.{}", v.name.0) };
            if scope.names.iter().any(|(n, b)| *n == v.name.0 && matches!(b, Bound::Variable(_))) {
                return self.fail(v.name.1, format!("there is another variable `{}`", v.name.0));
            }
            let tree = self.declare(&name, &shape);
            let parts = tree.leaves().into_iter().zip(default.leaves()).zip(first.leaves()).zip(shape.leaves());
            for (((leaf, default), first), (way, _)) in parts {
                let Some(id) = self.variable_of(leaf) else { continue };
                chart.variables.push((format!("{name}{way}"), id, first));
                if v.transient {
                    chart.transient.push((id, default));
                }
                if v.resettable {
                    chart.resettable.push((id, default));
                }
            }
            scope.names.push((v.name.0, Bound::Variable(tree)));
        }
        Ok(())
    }

    fn timers(&mut self, written: &ast::Chart<'a>, path: &str, scope: &mut Scope<'a>, chart: &mut Chart) -> Read<()> {
        let mut sets = vec![];
        written.transitions.iter().for_each(|t| set_in(&t.effects, &mut sets));
        written.regions.iter().for_each(|r| set_in_region(r, &mut sets));
        written.functions.iter().for_each(|f| f.body.as_ref().err().into_iter().for_each(|b| set_in(b, &mut sets)));
        for name in &written.timeouts {
            let mut of = sets.iter().filter(|(n, _)| n.0 == name.0);
            let duration = of.next().map_or(0, |(_, d)| *d);
            if let Some((other, _)) = of.find(|(_, d)| *d != duration) {
                return self.fail(other.1, format!("`{}` is set to another time elsewhere", name.0));
            }
            let left = self.t().declare(format!("@{path}.{}", name.0), Type::Int);
            chart.timers.push(self.sys.timers.len());
            self.sys.timers.push(Timer { left, duration, chart: Some(self.sys.charts.len()) });
            scope.timers.push((name.0, left, duration));
        }
        Ok(())
    }

    fn region(
        &mut self,
        region: &ast::Region<'a>,
        parent: Option<usize>,
        path: &str,
        chart: &mut Chart,
        places: &mut Vec<ast::Node<'a>>,
    ) -> Read<usize> {
        let name = if path.is_empty() { region.name.0.to_string() } else { format!("{path}.{}", region.name.0) };
        let states = region.nodes.iter().filter(|n| n.kind == NodeKind::State).map(|n| n.name.0.to_string());
        let literals = std::iter::once("none".to_string()).chain(states).collect();
        let e = self.t().declare_enum(name.clone(), literals);
        let active = self.t().declare(format!("@{name}"), Type::Enum(e));
        let r = chart.regions.len();
        chart.regions.push(Region { name: region.name.0.into(), parent, nodes: vec![], active, last: None });
        let skip = self.t().skip();
        let mut value = 0;
        for node in &region.nodes {
            if places.iter().any(|p| p.name.0 == node.name.0) {
                return self.fail(node.name.1, format!("there is another node `{}`", node.name.0));
            }
            let kind = match node.kind {
                NodeKind::State => Kind::State,
                NodeKind::Initial => Kind::Initial,
                NodeKind::Shallow => Kind::Shallow,
                NodeKind::Deep => Kind::Deep,
                NodeKind::Choice => Kind::Choice,
                NodeKind::Merge => Kind::Merge,
                NodeKind::Fork => Kind::Fork,
                NodeKind::Join => Kind::Join,
            };
            value += u32::from(kind == Kind::State);
            let n = chart.nodes.len();
            chart.regions[r].nodes.push(n);
            chart.nodes.push(Node {
                name: node.name.0.into(),
                kind,
                region: r,
                regions: vec![],
                entry: skip,
                exit: skip,
                invariants: vec![],
                outgoing: vec![],
                value,
            });
            places.push(node.clone());
            for inner in &node.regions {
                let inner = self.region(inner, Some(n), path, chart, places)?;
                chart.nodes[n].regions.push(inner);
            }
        }
        if chart.unordered && parent.is_some_and(|p| chart.nodes[p].regions.len() > MAX_UNORDERED) {
            return self.fail(region.name.1, format!("more than {MAX_UNORDERED} regions in any order are not read"));
        }
        Ok(r)
    }

    /// Regions that some history asks for remember.
    fn histories(&mut self, path: &str, chart: &mut Chart) {
        for r in 0..chart.regions.len() {
            let has = |kind: Kind, r: usize| chart.regions[r].nodes.iter().any(|n| chart.nodes[*n].kind == kind);
            let remembers = has(Kind::Shallow, r) || chart.around_region(r).into_iter().any(|o| has(Kind::Deep, o));
            if remembers {
                let region = &chart.regions[r];
                let name = format!("@last {path}.{}", region.name);
                let ty = self.sys.terms.variable(region.active).ty;
                chart.regions[r].last = Some(self.t().declare(name, ty));
            }
        }
    }

    /// That a state is active.
    pub fn active(&mut self, chart: &Chart, state: usize) -> TermId {
        let node = &chart.nodes[state];
        let v = chart.regions[node.region].active;
        let Type::Enum(e) = self.sys.terms.variable(v).ty else { return self.t().bool(false) };
        let (v, lit) = (self.t().var(v), self.sys.terms.enum_lit(e, node.value));
        self.t().eq(v, lit)
    }

    fn transition(&mut self, scope: &mut Scope<'a>, t: &ast::Transition<'a>, chart: &mut Chart) -> Read<()> {
        let node = |w: &mut Self, name: Name<'a>| match chart.nodes.iter().position(|n| n.name == name.0) {
            Some(n) => Ok(n),
            None => {
                let error = unknown("node", name, chart.nodes.iter().map(|n| n.name.as_str()));
                w.errors.fail(error)
            }
        };
        let (from, to) = (node(self, t.from)?, node(self, t.to)?);
        let trigger = match &t.trigger {
            Some(trigger) => self.trigger(scope, trigger)?,
            None => self.t().bool(true),
        };
        let guard = match &t.guard {
            Some(Guard::If(e)) => self.typed(scope, e, Type::Bool)?,
            _ => self.t().bool(true),
        };
        let enabled = self.t().and([trigger, guard]);
        let otherwise = matches!(t.guard, Some(Guard::Else));
        let effect = self.actions(scope, &t.effects)?;
        let (a, b) = (&chart.nodes[from], &chart.nodes[to]);
        if chart.around(from).first() != chart.around(to).first() {
            return self.fail(t.span, "transitions between regions at the top are not read");
        }
        if a.kind == Kind::State && otherwise {
            return self.fail(t.span, "`[else]` is read at choices only");
        }
        let name = t.id.map_or_else(|| format!("{} -> {}", a.name, b.name), String::from);
        let n = chart.transitions.len();
        chart.transitions.push(Transition { name, from, to, enabled, otherwise, priority: t.priority, effect });
        chart.nodes[from].outgoing.push(n);
        Ok(())
    }

    fn port_invariants(
        &mut self,
        file: usize,
        c: &Component<'a>,
        scope: &mut Scope<'a>,
        chart: &mut Chart,
    ) -> Read<()> {
        for port in &c.ports {
            let files = self.files;
            let Ok((there, interface)) = packages::interface(files, file, port.interface) else { continue };
            scope.this = Some(port.name.0);
            for e in &port.invariants {
                let t = self.typed(scope, e, Type::Bool)?;
                chart.port_invariants.push(t);
            }
            let own = std::mem::replace(&mut scope.file, there);
            for e in &interface.invariants {
                let t = self.typed(scope, e, Type::Bool);
                chart.port_invariants.extend(t);
            }
            scope.file = own;
            scope.this = None;
        }
        Ok(())
    }

    /// What the meaning takes for granted.
    fn well_formed(&mut self, chart: &Chart, places: &[ast::Node<'a>], c: &Component<'a>) -> Read<()> {
        for (n, node) in chart.nodes.iter().enumerate() {
            let (name, out) = (places[n].name, node.outgoing.len());
            let into = chart.transitions.iter().filter(|t| t.to == n);
            let wrong = match node.kind {
                Kind::State => continue,
                Kind::Initial | Kind::Shallow | Kind::Deep | Kind::Merge | Kind::Join if out != 1 => {
                    format!("`{}` must have one outgoing transition, and has {}", name.0, count(out, "transition"))
                }
                Kind::Choice | Kind::Fork if out == 0 => format!("`{}` must have outgoing transitions", name.0),
                Kind::Initial | Kind::Shallow | Kind::Deep
                    if !node.outgoing.iter().all(|t| {
                        let to = chart.transitions[*t].to;
                        chart.contains(node.region, to)
                            && matches!(chart.nodes[to].kind, Kind::State | Kind::Choice | Kind::Merge)
                    }) =>
                {
                    format!("the transition of `{}` must lead to a state or a choice of its region", name.0)
                }
                Kind::Fork
                    if !node.outgoing.iter().all(|t| chart.nodes[chart.transitions[*t].to].kind == Kind::State) =>
                {
                    format!("`{}` must lead to states", name.0)
                }
                Kind::Join if !into.clone().all(|t| chart.nodes[t.from].kind == Kind::State) => {
                    format!("only transitions of states are joined by `{}`", name.0)
                }
                _ => continue,
            };
            return self.fail(name.1, wrong);
        }
        for (r, region) in chart.regions.iter().enumerate() {
            if chart.entry_node(r).is_none() {
                let message = format!("the region `{}` has no initial state or history", region.name);
                return self.fail(c.name.1, message);
            }
        }
        if chart.unordered && chart.top.len() > MAX_UNORDERED {
            return self.fail(c.name.1, format!("more than {MAX_UNORDERED} regions in any order are not read"));
        }
        Ok(())
    }
}

/// The records in a parameter: the way to each, and its name. False if there is an array of records.
fn parts_of(way: &str, shape: &Shape, records: &mut Vec<(String, String)>) -> bool {
    match shape {
        Shape::Leaf(_) => true,
        Shape::Records(..) => false,
        Shape::Record(name, fields) => {
            records.push((way.to_string(), name.clone()));
            fields.iter().all(|(f, s)| parts_of(&format!("{way}.{f}"), s, records))
        }
    }
}

fn set_in_region<'a>(r: &ast::Region<'a>, sets: &mut Vec<(Name<'a>, i64)>) {
    for node in &r.nodes {
        set_in(&node.entry, sets);
        set_in(&node.exit, sets);
        node.regions.iter().for_each(|r| set_in_region(r, sets));
    }
}

fn set_in<'a>(actions: &[Action<'a>], sets: &mut Vec<(Name<'a>, i64)>) {
    for action in actions {
        match &action.kind {
            ActionKind::Set(name, time) => sets.push((*name, *time)),
            ActionKind::Block(all) | ActionKind::For(_, _, _, all) => set_in(all, sets),
            ActionKind::If(_, a, b) => {
                set_in(a, sets);
                set_in(b, sets);
            }
            ActionKind::Switch(_, cases, or) => {
                cases.iter().for_each(|(_, body)| set_in(body, sets));
                set_in(or, sets);
            }
            ActionKind::Choice(branches) => branches.iter().for_each(|(_, body)| set_in(body, sets)),
            _ => {}
        }
    }
}
