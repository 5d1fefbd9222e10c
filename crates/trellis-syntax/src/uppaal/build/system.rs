//! The system line: templates instantiated, locations and edges lowered.

use std::rc::Rc;
use std::sync::Arc;

use trellis_expr::Type;
use trellis_model::network::{Condition, Edge, Location, Process, Sync};

use super::expr::{Denotes, Lower};
use super::scope::{Entity, Family, Kind, Scope};
use super::types::{Range, Ty};
use super::{Builder, Res, ast};
use crate::diag::{Diagnostic, Span};
use ast::Nta;

/// More instances of one edge than this are a mistake, not a model.
const MAX_SELECT: i64 = 1 << 20;
/// More processes than this from one line, likewise.
const MAX_PROCESSES: i64 = 1 << 16;

/// A template with the arguments fixed so far.
struct Partial<'n> {
    template: &'n ast::Template,
    scope: Rc<Scope>,
    /// Values of the free parameters, as they appear in the process's name.
    args: Vec<i64>,
}

impl Builder<'_> {
    pub fn priorities(&mut self, nta: &Nta) {
        if nta.chan_priority.is_empty() {
            return;
        }
        self.net.has_priorities = true;
        let default = nta.chan_priority.iter().position(|g| g.iter().any(|c| matches!(c, ast::ChanRef::Default(_))));
        let default = default.unwrap_or(0) as i32;
        for (level, group) in nta.chan_priority.iter().enumerate() {
            for c in group {
                let ast::ChanRef::Chan(e) = c else { continue };
                let scope = self.global.clone();
                match Lower::new(self, scope).denote(e) {
                    Ok(Denotes::Chan(c)) => {
                        let count = channel_count(&c.ty);
                        let at = self.net.terms.as_int(c.index).unwrap_or(0) as usize * count;
                        let first = c.base as usize + at;
                        for channel in &mut self.net.channels[first..first + count] {
                            channel.priority = level as i32 - default;
                        }
                    }
                    Ok(_) => {
                        let _ = self.error::<()>(e.span, "only channels have a place in `chan priority`");
                    }
                    Err(_) => {}
                }
            }
        }
    }

    pub fn system(&mut self, nta: &Nta) -> Res<()> {
        if nta.system.is_empty() {
            let d = match nta.system_span {
                Some(span) => Diagnostic::error(span, "the system has no processes"),
                None => Diagnostic { span: None, ..Diagnostic::error(Span { source: crate::diag::SourceId(0), start: 0, end: 0 }, "there is no `system` line") },
            };
            return Err(self.report(d.help("write `system P, Q;` with the names of your templates")));
        }
        self.net.has_priorities |= nta.system.len() > 1;
        let mut result = Ok(());
        for (level, group) in nta.system.iter().enumerate() {
            for name in group {
                let made = self.instances(nta, name).and_then(|partials| self.family(name, partials, level as i32));
                if let Err(e) = made {
                    result = Err(e);
                }
            }
        }
        result
    }

    fn family(&mut self, name: &ast::Ident, partials: Vec<Partial<'_>>, priority: i32) -> Res<()> {
        let mut members = Vec::new();
        let params = partials.first().map_or(0, |p| p.args.len());
        for p in partials {
            let full = if p.args.is_empty() {
                name.name.clone()
            } else {
                format!("{}({})", name.name, p.args.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
            };
            let index = self.process(&full, p.template, &p.scope, priority)?;
            members.push((p.args, index, p.scope));
        }
        let family = Rc::new(Family { name: name.name.clone(), params, members });
        self.families.push(family.clone());
        if self.global.here(&name.name).is_some() {
            return self.error(name.span, format!("`{}` stands twice in the system line, or is the name of something else", name.name));
        }
        self.global.set(&name.name, Entity::Family(family));
        Ok(())
    }

    /// All instances that a name of the system line stands for.
    fn instances<'n>(&mut self, nta: &'n Nta, name: &ast::Ident) -> Res<Vec<Partial<'n>>> {
        let mut chain: Vec<&ast::Instance> = Vec::new();
        let mut at = name;
        let template = loop {
            if let Some(i) = nta.instances.iter().find(|i| i.name.name == at.name) {
                if chain.iter().any(|c| c.name.name == i.name.name) {
                    return self.error(i.span, format!("`{}` is defined by itself", i.name.name));
                }
                chain.push(i);
                at = &i.template;
            } else if let Some(t) = nta.templates.iter().find(|t| t.name.name == at.name) {
                break t;
            } else {
                let names = nta.templates.iter().map(|t| t.name.name.clone()).chain(nta.instances.iter().map(|i| i.name.name.clone()));
                let d = Diagnostic::error(at.span, format!("there is no template or process `{}`", at.name));
                return Err(self.report(match super::scope::closest_of(&at.name, names) {
                    Some(near) => d.help(format!("did you mean `{near}`?")),
                    None => d,
                }));
            }
        };
        // The outermost free parameters range over all their values.
        let free: &[ast::Param] = chain.first().map_or(&template.params, |i| &i.params);
        let mut out = Vec::new();
        for (scope, args) in self.free_values(free, name.span)? {
            let mut scope = scope;
            for (n, instance) in chain.iter().enumerate() {
                let params = chain.get(n + 1).map_or(&template.params, |i| &i.params);
                scope = self.bind_args(params, &instance.args, &scope, instance.span)?;
            }
            out.push(Partial { template, scope, args });
        }
        Ok(out)
    }

    fn free_values(&mut self, params: &[ast::Param], at: Span) -> Res<Vec<(Rc<Scope>, Vec<i64>)>> {
        let global = self.global.clone();
        let mut out = vec![(Scope::child(&global), Vec::new())];
        for p in params {
            let ty = self.param_type(p, &global)?;
            let bounded = !p.by_ref && !matches!(p.ty.base, ast::BaseType::Int(None));
            let Some(Range { lo, len }) = ty.values().filter(|_| bounded) else {
                return Err(self.report(
                    Diagnostic::error(at, format!("parameter `{}` is left open, but `{}` cannot be enumerated", p.name.name, ty.describe()))
                        .help("give it an argument (`P1 = P(…);`), or a bounded type like `const int[0,3]`"),
                ));
            };
            if len.saturating_mul(out.len() as i64) > MAX_PROCESSES {
                return self.error(p.name.span, format!("this would make more than {MAX_PROCESSES} processes"));
            }
            let mut next = Vec::new();
            for (scope, args) in out {
                for n in lo..lo + len {
                    let inner = Scope::child(&global);
                    for q in &params[..args.len()] {
                        if let Some(earlier) = scope.here(&q.name.name) {
                            inner.set(&q.name.name, earlier);
                        }
                    }
                    let value = self.literal(n, Kind::of(&ty));
                    inner.set(&p.name.name, Entity::Const(value));
                    let mut args = args.clone();
                    args.push(n);
                    next.push((inner, args));
                }
            }
            out = next;
        }
        Ok(out)
    }

    fn param_type(&mut self, p: &ast::Param, scope: &Rc<Scope>) -> Res<Ty> {
        let base = self.resolve_type(&p.ty, scope)?;
        self.with_dims(base, &p.dims, scope, p.name.span)
    }

    /// Parameters bound to arguments, in a fresh scope below the global one.
    fn bind_args(&mut self, params: &[ast::Param], args: &[ast::Expr], from: &Rc<Scope>, span: Span) -> Res<Rc<Scope>> {
        if params.len() != args.len() {
            return self.error(span, format!("{} argument(s) where {} are needed", args.len(), params.len()));
        }
        let global = self.global.clone();
        let scope = Scope::child(&global);
        for (p, a) in params.iter().zip(args) {
            let ty = self.param_type(p, &global)?;
            let mut lower = Lower::new(self, from.clone());
            let entity = if p.by_ref || matches!(ty, Ty::Chan { .. }) {
                match lower.denote(a)? {
                    Denotes::Place(q) if q.ty.same_shape(&ty) => Entity::Var(q),
                    Denotes::Chan(c) if c.ty.same_shape(&ty) => Entity::Chan(c),
                    Denotes::Lattice(l) => Entity::Lattice(l),
                    Denotes::Value(v) if p.ty.is_const => Entity::Const(v),
                    _ => return self.error(a.span, format!("a variable of type `{}` is needed here", ty.describe())),
                }
            } else if ty.values().is_some() {
                // If the template assigns to it, `process` makes it a variable.
                let n = self.constant_of(a, from, &ty)?;
                Entity::Const(self.literal(n, Kind::of(&ty)))
            } else {
                match lower.denote(a)? {
                    Denotes::Place(q) if q.ty.same_shape(&ty) && !q.writable => Entity::Var(q),
                    _ => return self.error(a.span, format!("a constant of type `{}` is needed here", ty.describe())),
                }
            };
            scope.set(&p.name.name, entity);
        }
        Ok(scope)
    }

    fn process(&mut self, name: &str, t: &ast::Template, params: &Rc<Scope>, priority: i32) -> Res<usize> {
        for p in &t.params {
            // Parameters by value may be assigned to: then they are variables of the process.
            if let (false, false, Some(Entity::Const(v))) = (p.by_ref, p.ty.is_const, params.here(&p.name.name))
                && writes(t, &p.name.name)
                && let Some(n) = self.constant_value(v)
            {
                let global = self.global.clone();
                let ty = self.param_type(p, &global)?;
                let place = self.declare_place(&format!("{name}.{}", p.name.name), &ty, &[n], false, true);
                params.set(&p.name.name, Entity::Var(place));
            }
        }
        let scope = params;
        let mut broken = Ok(());
        for d in &t.decls {
            if let Err(e) = self.declare(d, scope, &format!("{name}.")) {
                broken = Err(e);
            }
        }
        broken?;
        let Some(init) = t.init else {
            return Err(self.report(
                Diagnostic::error(t.name.span, format!("template `{}` has no initial location", t.name.name))
                    .help("mark one with `init`"),
            ));
        };
        let last = t.locations.len() as i64 - 1;
        let location = self.net.terms.declare(format!("{name}.location"), Type::Range(0, last));
        let index = self.net.processes.len();
        self.net.processes.push(Process {
            name: name.to_string(),
            location,
            locations: Vec::new(),
            init: init as u32,
            edges: Vec::new(),
            priority,
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

    fn location(&mut self, l: &ast::Location, scope: &Rc<Scope>) -> Res<Location> {
        if let Some((what, span)) = &l.unsupported {
            return self.error(*span, format!("{what} is not supported"));
        }
        let invariant = match &l.invariant {
            Some(e) => Some(self.condition(e, scope)?).filter(|c| self.net.terms.as_bool(c.holds) != Some(true)),
            None => None,
        };
        Ok(Location { name: l.name.name.clone(), invariant, urgent: l.urgent, committed: l.committed })
    }

    fn condition(&mut self, e: &ast::Expr, scope: &Rc<Scope>) -> Res<Condition> {
        self.new_unit();
        let mut lower = Lower::new(self, scope.clone());
        let holds = lower.boolean(e)?;
        let stmts = lower.stmts;
        Ok(Condition { prepare: self.block(stmts), holds })
    }

    /// One edge per choice of its selects; those whose guard is plainly false are left out.
    fn edge(&mut self, e: &ast::Edge, origin: u32, scope: &Rc<Scope>) -> Res<Vec<Edge>> {
        if let Some((what, span)) = &e.unsupported {
            return self.error(*span, format!("{what} is not supported"));
        }
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
                    Diagnostic::error(name.span, format!("the selects of this edge have more than {MAX_SELECT} combinations"))
                        .help("give them smaller ranges, or split the edge into steps"),
                ));
            }
            ranges.push((name.name.clone(), Kind::of(&t), r));
        }
        let mut out = Vec::new();
        for mut n in 0..total {
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
            Some(g) => self.condition(g, scope),
            None => {
                let holds = self.terms().bool(true);
                Ok(Condition { prepare: self.terms().skip(), holds })
            }
        };
        // The other labels are looked at even if the guard is broken or false: mistakes there count too.
        let sync = match &e.sync {
            Some(s) => self.sync(s, scope).map(Some),
            None => Ok(None),
        };
        self.new_unit();
        let mut lower = Lower::new(self, scope.clone());
        lower.effects = true;
        let mut update = Ok(());
        for u in &e.update {
            if let Err(e) = lower.effect(u) {
                update = Err(e);
            }
        }
        let stmts = lower.stmts;
        let (guard, sync) = (guard?, sync?);
        update?;
        if self.net.terms.as_bool(guard.holds) == Some(false) {
            return Ok(None);
        }
        let update = self.block(stmts);
        let place = place.clone();
        Ok(Some(Edge { source: e.source as u32, target: e.target as u32, guard, sync, update, origin, select, place }))
    }

    fn sync(&mut self, s: &ast::Sync, scope: &Rc<Scope>) -> Res<Sync> {
        self.new_unit();
        let mut lower = Lower::new(self, scope.clone());
        let c = match lower.denote(&s.chan)? {
            Denotes::Chan(c) => c,
            _ => return self.error(s.chan.span, "a channel is needed before `!` or `?`"),
        };
        let stmts = lower.stmts;
        if !matches!(c.ty, Ty::Chan { .. }) {
            return self.error(s.chan.span, "this is an array of channels; say which one: `c[i]`");
        }
        let index = match self.net.terms.as_int(c.index) {
            Some(0) => None,
            _ => Some((self.block(stmts), c.index)),
        };
        Ok(Sync { base: c.base, index, send: s.send })
    }
}

fn channel_count(ty: &Ty) -> usize {
    match ty {
        Ty::Array(r, t) => r.len as usize * channel_count(t),
        _ => 1,
    }
}

/// Does a template assign to a name anywhere? (By name only: a shadowing local counts too, which is harmless.)
fn writes(t: &ast::Template, name: &str) -> bool {
    let in_decl = |d: &ast::Decl| matches!(d, ast::Decl::Function(f) if block_writes(&f.body, name));
    t.decls.iter().any(in_decl) || t.edges.iter().any(|e| e.update.iter().any(|u| expr_writes(u, name)))
}

fn block_writes(b: &ast::Block, name: &str) -> bool {
    b.stmts.iter().any(|s| stmt_writes(s, name))
}

fn stmt_writes(s: &ast::Stmt, name: &str) -> bool {
    use ast::Stmt::*;
    let some = |e: &Option<ast::Expr>| e.as_ref().is_some_and(|e| expr_writes(e, name));
    match s {
        Empty | Unsupported { .. } => false,
        Expr(e) => expr_writes(e, name),
        Block(b) => block_writes(b, name),
        For { init, cond, step, body, .. } => some(init) || some(cond) || some(step) || stmt_writes(body, name),
        Iterate { body, .. } => stmt_writes(body, name),
        While { cond, body, .. } | DoWhile { cond, body, .. } => expr_writes(cond, name) || stmt_writes(body, name),
        If { cond, then, els } => {
            expr_writes(cond, name) || stmt_writes(then, name) || els.as_ref().is_some_and(|e| stmt_writes(e, name))
        }
        Return(e, _) => some(e),
    }
}

fn expr_writes(e: &ast::Expr, name: &str) -> bool {
    use ast::ExprKind::*;
    match &e.kind {
        Assign(_, lhs, rhs) => root(lhs) == Some(name) || expr_writes(lhs, name) || expr_writes(rhs, name),
        Step { of, .. } => root(of) == Some(name),
        // A call may take it by reference.
        Call(_, args) => args.iter().any(|a| root(a) == Some(name) || expr_writes(a, name)),
        Index(a, b) | Binary(_, a, b) | Comma(a, b) => expr_writes(a, name) || expr_writes(b, name),
        Unary(_, a) | Field(a, _) | Rate(a) => expr_writes(a, name),
        Cond(a, b, c) => [a, b, c].iter().any(|x| expr_writes(x, name)),
        Quant(_, _, _, body) => expr_writes(body, name),
        Int(_) | Bool(_) | Unsupported(_) | Name(_) | Deadlock => false,
    }
}

/// The variable that an expression is a part of.
fn root(e: &ast::Expr) -> Option<&str> {
    match &e.kind {
        ast::ExprKind::Name(n) => Some(n),
        ast::ExprKind::Index(a, _) | ast::ExprKind::Field(a, _) => root(a),
        _ => None,
    }
}
