//! One process: its locations and edges, selects expanded.

use std::rc::Rc;
use std::sync::Arc;

use trellis_expr::Type;
use trellis_model::network::sketch::{Arrow, Label, Sketch};
use trellis_model::network::{ClockAtom, Condition, Edge, Location, Process, Rate, Sync};

use super::decl::declared_twice;
use super::expr::{Denotes, Lower, Unit};
use super::scope::{Entity, Kind, Scope};
use super::system::Partial;
use super::types::Ty;
use super::{Builder, Res, ast};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};

/// More instances of one edge than this are a mistake, not a model.
const MAX_SELECT: i64 = 1 << 18;

impl Builder<'_> {
    /// Adds a process; answers its index.
    pub fn process(&mut self, name: &str, p: &Partial<'_>, priority: i32) -> Res<usize> {
        let (t, scope) = (p.template, &p.scope);
        let mut result = Ok(());
        for d in &t.decls {
            result = result.and(self.declare(d, scope, &format!("{name}.")));
        }
        for l in t.locations.iter().filter(|l| !l.anonymous) {
            if scope.here(&l.name.name).is_some() {
                result = Err(self.report(declared_twice(&l.name)));
            }
        }
        result?;
        let Some(init) = t.init else {
            let what = if t.locations.is_empty() { "locations" } else { "initial location" };
            return Err(self.report(
                Diagnostic::error(t.name.span, format!("template `{}` has no {what}", shorten(&t.name.name)))
                    .help("it needs at least one location, and one of them must be the initial one"),
            ));
        };
        let last = t.locations.len() as i64 - 1;
        let location = self.net.terms.declare(format!("{name}.location"), Type::Range(0, last));
        let (index, sketch) = (self.net.processes.len(), self.sketch(t));
        self.net.processes.push(Process {
            name: name.to_string(),
            location,
            locations: Vec::new(),
            init: init as u32,
            edges: Vec::new(),
            priority,
            sketch: Some(sketch),
        });
        let mut result = Ok(index);
        for l in &t.locations {
            match self.location(l, scope) {
                Ok(l) => self.net.processes[index].locations.push(l),
                Err(e) => result = Err(e),
            }
        }
        for (origin, e) in t.edges.iter().enumerate() {
            match self.edge(e, origin as u32, scope) {
                Ok(edges) => self.net.processes[index].edges.extend(edges),
                Err(e) => result = Err(e),
            }
        }
        result
    }

    /// How a template is drawn; of one that is not in XML only the words are known.
    fn sketch(&mut self, t: &ast::Template) -> Arc<Sketch> {
        if let Some(known) = self.sketches.get(&t.name.name) {
            return known.clone();
        }
        let text = |span: Span| self.sources.get(span.source).text.get(span.start as usize..span.end as usize);
        let label = |text: String| Label { text, at: None };
        let words = |e: &ast::Expr| text(e.span).unwrap_or_default().to_string();
        let spot = |l: &ast::Location| {
            let mut spot = l.drawn.clone();
            if spot.labels.is_empty() && !l.anonymous {
                spot.labels.push(label(l.name.name.clone()));
                spot.labels.extend(l.invariant.iter().map(words).map(label));
            }
            spot
        };
        let arrow = |e: &ast::Edge| {
            let mut arrow = Arrow { source: e.source, target: e.target, ..e.drawn.clone() };
            if arrow.labels.is_empty() {
                let select =
                    e.select.iter().map(|(name, ty)| format!("{} : {}", name.name, text(ty.span).unwrap_or_default()));
                let updates: Vec<String> = e.update.iter().map(words).collect();
                let sync = e.sync.iter().filter_map(|s| text(s.span)).map(String::from);
                let all = select.chain(e.guard.iter().map(words)).chain(sync).chain([updates.join(", ")]);
                arrow.labels = all.filter(|text| !text.is_empty()).map(label).collect();
            }
            arrow
        };
        let locations = t.locations.iter().map(spot).collect();
        let edges = t.edges.iter().map(arrow).collect();
        let sketch = Arc::new(Sketch { name: t.name.name.clone(), locations, edges });
        self.sketches.insert(t.name.name.clone(), sketch.clone());
        sketch
    }

    fn location(&mut self, l: &ast::Location, scope: &Rc<Scope>) -> Res<Location> {
        if let Some(span) = l.rate {
            let d = Diagnostic::warning(span, "the exponential rate is left out");
            self.report(d.help("only probabilities depend on it, and Trellis is not asked for any"));
        }
        self.spend(1, l.name.span)?;
        let (invariant, clock_invariant, rates) = match &l.invariant {
            Some(e) => {
                let (data, clocks, rates) = self.condition(e, scope, Unit::Invariant)?;
                // Constraints on clocks may need what is prepared for them.
                let trivial = self.net.terms.as_bool(data.holds) == Some(true);
                let prepares = !(clocks.is_empty() && rates.is_empty()) && data.prepare != self.terms().skip();
                (Some(data).filter(|_| !trivial || prepares), clocks, rates)
            }
            None => (None, Vec::new(), Vec::new()),
        };
        let name = l.name.name.clone();
        Ok(Location { name, invariant, clock_invariant, rates, urgent: l.urgent, committed: l.committed })
    }

    /// A guard or an invariant: what it asks of data, and of clocks, and how fast these run.
    fn condition(
        &mut self,
        e: &ast::Expr,
        scope: &Rc<Scope>,
        unit: Unit,
    ) -> Res<(Condition, Vec<ClockAtom>, Vec<Rate>)> {
        self.new_unit();
        let mut lower = Lower::new(self, scope.clone(), unit);
        let formula = lower.formula(e)?;
        let (holds, clocks, rates) = lower.settled(formula, e.span)?;
        let stmts = lower.stmts;
        let prepare = self.block(stmts);
        self.spend_on(prepare, Some(holds), e.span)?;
        Ok((Condition { prepare, holds }, clocks, rates))
    }

    /// One edge per choice of its selects; those whose guard is plainly false are left out.
    fn edge(&mut self, e: &ast::Edge, origin: u32, scope: &Rc<Scope>) -> Res<Vec<Edge>> {
        if let Some((what, span)) = &e.unsupported {
            return self.error(*span, format!("{what} is not supported"));
        }
        if let Some(span) = e.weight {
            let d = Diagnostic::warning(span, "the weights of a branch point are left out");
            self.report(
                d.help("every branch may be taken; what its edge does comes right after the edge that leads there"),
            );
        }
        self.check_distinct(e.select.iter().map(|(name, _)| name))?;
        let place: Arc<str> = self.place(e.span).into();
        let mut ranges = Vec::new();
        let mut total = 1i64;
        for (name, ty) in &e.select {
            let t = self.resolve_type(ty, scope)?;
            let Some(r) = t.values() else {
                return self.error(ty.span, format!("a select cannot range over `{}`", t.describe()));
            };
            total = total.saturating_mul(r.len);
            if total > MAX_SELECT {
                return Err(self.report(
                    Diagnostic::error(
                        name.span,
                        format!("the selects of this edge have more than {MAX_SELECT} combinations"),
                    )
                    .help("give them smaller ranges, or split the edge into steps"),
                ));
            }
            ranges.push((name.name.clone(), Kind::of(&t), r));
        }
        let mut out = Vec::new();
        for mut n in 0..total {
            self.spend(2, e.span)?;
            let inner = Scope::child(scope);
            let mut select = vec![(String::new(), 0); ranges.len()];
            for (i, (name, kind, r)) in ranges.iter().enumerate().rev() {
                let value = r.lo + n % r.len;
                n /= r.len;
                let literal = self.literal(value, *kind);
                inner.set(name, Entity::Const(literal));
                select[i] = (name.clone(), value);
            }
            if let Some(edge) = self.edge_instance(e, origin, &inner, select, &place)? {
                out.push(edge);
            }
        }
        Ok(out)
    }

    fn edge_instance(
        &mut self,
        e: &ast::Edge,
        origin: u32,
        scope: &Rc<Scope>,
        select: Vec<(String, i64)>,
        place: &Arc<str>,
    ) -> Res<Option<Edge>> {
        let guard = match &e.guard {
            Some(g) => self.condition(g, scope, Unit::Guard).map(|(data, clocks, _)| (data, clocks)),
            None => {
                let holds = self.terms().bool(true);
                Ok((Condition { prepare: self.terms().skip(), holds }, Vec::new()))
            }
        };
        // The other labels are looked at even if the guard is broken or false: mistakes there count too.
        let never = guard.as_ref().is_ok_and(|(g, _)| self.net.terms.as_bool(g.holds) == Some(false));
        let sync = match &e.sync {
            Some(s) => self.sync(s, scope, never).map(Some),
            None => Ok(None),
        };
        self.new_unit();
        let mut lower = Lower::new(self, scope.clone(), Unit::Update);
        lower.dead = never;
        let mut result = Ok(());
        for u in &e.update {
            result = result.and(lower.effect(u));
        }
        let (stmts, resets) = (lower.stmts, lower.resets);
        let ((guard, clock_guard), sync) = (guard?, sync?);
        result?;
        if never {
            return Ok(None);
        }
        let urgent = sync.is_some_and(|s| self.net.channels.get(s.base as usize).is_some_and(|c| c.urgent));
        if let (true, false, Some(g)) = (urgent, clock_guard.is_empty(), &e.guard) {
            return Err(self.report(
                Diagnostic::error(g.span, "an edge over an urgent channel cannot have a guard on clocks")
                    .help("time would have to stop as soon as the guard holds; use an invariant, or a plain channel"),
            ));
        }
        let update = self.block(stmts);
        self.spend_on(update, None, e.span)?;
        let place = place.clone();
        Ok(Some(Edge {
            source: e.source as u32,
            target: e.target as u32,
            guard,
            clock_guard,
            sync,
            event: None,
            update,
            resets,
            origin,
            select,
            place,
        }))
    }

    fn sync(&mut self, s: &ast::Sync, scope: &Rc<Scope>, never: bool) -> Res<Sync> {
        self.new_unit();
        let mut lower = Lower::new(self, scope.clone(), Unit::Guard);
        lower.dead = never;
        let Denotes::Chan(c) = lower.denote(&s.chan)? else {
            return self.error(s.chan.span, "a channel is needed before `!` or `?`");
        };
        let stmts = lower.stmts;
        if !matches!(c.ty, Ty::Chan { .. }) {
            return self.error(s.chan.span, "this is an array of channels; say which one: `c[i]`");
        }
        let index = match self.net.terms.as_int(c.index) {
            Some(0) => None,
            _ => Some((self.block(stmts), c.index)),
        };
        if let Some((prepare, index)) = index {
            self.spend_on(prepare, Some(index), s.span)?;
        }
        Ok(Sync { base: c.base, index, send: s.send })
    }
}
