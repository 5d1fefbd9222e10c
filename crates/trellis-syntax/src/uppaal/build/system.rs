//! The system line: which processes there are, and with which arguments.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use trellis_model::network::symmetry::Member;

use super::decl::declared_twice;
use super::expr::{Denotes, Lower, Unit};
use super::scope::{Entity, Family, Kind, Scope};
use super::types::{Range, Ty};
use super::{Builder, Reported, Res, ast, syntax};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use crate::text::errors::{closest, count};
use ast::Nta;

/// More processes than this are a mistake, not a model.
const MAX_PROCESSES: usize = 1 << 14;

/// A template with its arguments.
pub(crate) struct Partial<'n> {
    pub template: &'n ast::Template,
    pub scope: Rc<Scope>,
    /// Values of the free parameters, as they appear in the process's name.
    pub args: Vec<i64>,
    /// What they are.
    pub kinds: Vec<Kind>,
}

/// What the system line or an instance can name.
#[derive(Clone, Copy)]
enum Named<'n> {
    Template(&'n ast::Template),
    Instance(&'n ast::Instance),
}

/// Parameters bound to values, and the values.
type Bound = (Rc<Scope>, Vec<i64>);
type Names<'n> = BTreeMap<&'n str, Named<'n>>;

impl<'n> Named<'n> {
    fn params(self) -> &'n [ast::Param] {
        match self {
            Named::Template(t) => &t.params,
            Named::Instance(i) => &i.params,
        }
    }
}

impl Builder<'_> {
    pub fn priorities(&mut self, nta: &Nta) {
        let [first, ..] = &nta.chan_priority[..] else { return };
        self.net.has_priorities = true;
        let is_default = |c: &ast::ChanRef| matches!(c, ast::ChanRef::Default(_));
        let default = nta.chan_priority.iter().position(|g| g.iter().any(is_default));
        if let (None, Some(ast::ChanRef::Chan(e))) = (default, first.first()) {
            self.report(
                Diagnostic::warning(e.span, "`chan priority` does not say where `default` stands")
                    .help("taken as level with this: write `default < …` or `… < default` to say otherwise"),
            );
        }
        let default = default.unwrap_or(0) as i32;
        for (level, group) in nta.chan_priority.iter().enumerate() {
            for c in group {
                if let ast::ChanRef::Chan(e) = c {
                    // Those that are wrong are reported.
                    let _ = self.set_priority(e, level as i32 - default);
                }
            }
        }
    }

    fn set_priority(&mut self, e: &ast::Expr, priority: i32) -> Res<()> {
        let scope = self.global.clone();
        let Denotes::Chan(c) = Lower::new(self, scope, Unit::Constant).denote(e)? else {
            return self.error(e.span, "only channels have a place in `chan priority`");
        };
        let Some(index) = self.net.terms.as_int(c.index) else {
            return self.error(e.span, "which channel is meant must be a constant");
        };
        let count = c.ty.cells() as usize;
        self.spend(count as u64, e.span)?;
        let first = c.base as usize + index as usize * count;
        for channel in &mut self.net.channels[first..first + count] {
            channel.priority = priority;
        }
        Ok(())
    }

    pub fn system(&mut self, nta: &Nta) -> Res<()> {
        let (names, mut result) = self.names(nta);
        if nta.system.is_empty() {
            let d = match (nta.system_span, nta.end) {
                (Some(span), _) => Diagnostic::error(span, "the system has no processes"),
                (None, Some(end)) => Diagnostic::error(end, "there is no `system` line"),
                (None, None) => super::whole("there is no `system` line".into()),
            };
            return Err(self.report(d.help("write `system P, Q;` with the names of your templates")));
        }
        self.net.has_priorities |= nta.system.len() > 1;
        let mut families = Vec::new();
        for (level, group) in nta.system.iter().enumerate() {
            for name in group {
                match self.instances(&names, name).and_then(|partials| self.family(name, partials, level as i32)) {
                    Ok(family) => families.push(family),
                    Err(e) => result = Err(e),
                }
            }
        }
        // Only questions may speak of processes.
        for family in families {
            self.asking.set(&family.name.clone(), Entity::Family(Rc::new(family)));
        }
        result
    }

    /// What the system line can name. Templates, instances and global names are told apart by their names, and all that
    /// is named exists.
    fn names<'n>(&mut self, nta: &'n Nta) -> (Names<'n>, Res<()>) {
        let mut result = Ok(());
        let mut names = Names::default();
        let templates = nta.templates.iter().map(|t| (&t.name, Named::Template(t)));
        for (name, named) in templates.chain(nta.instances.iter().map(|i| (&i.name, Named::Instance(i)))) {
            let twice = names.insert(&name.name, named).is_some();
            if twice || self.global.here(&name.name).is_some() {
                result = Err(self.report(declared_twice(name)));
            }
            result = result.and(self.check_distinct(named.params().iter().map(|p| &p.name)));
        }
        for i in &nta.instances {
            result = result.and(match names.get(i.template.name.as_str()) {
                None => Err(self.no_template(&names, &i.template)),
                Some(named) => self.check_count(named.params(), &i.args, i.span),
            });
        }
        let mut seen = HashSet::new();
        for name in nta.system.iter().flatten() {
            if !seen.insert(&name.name) {
                let what = format!("`{}` stands twice in the system line", shorten(&name.name));
                let d = Diagnostic::error(name.span, what);
                result = Err(self.report(d.help("for two processes, name two instances: `P1 = P(); P2 = P();`")));
            }
        }
        (names, result)
    }

    fn check_count(&mut self, params: &[ast::Param], args: &[ast::Expr], span: Span) -> Res<()> {
        if params.len() == args.len() {
            return Ok(());
        }
        self.error(span, format!("{} given, {} needed", count(args.len(), "argument"), params.len()))
    }

    fn no_template(&mut self, names: &Names<'_>, name: &ast::Ident) -> Reported {
        let d = Diagnostic::error(name.span, format!("there is no template or process `{}`", shorten(&name.name)));
        let near = closest(&name.name, names.keys().copied());
        self.report(d.meant(near))
    }

    fn family(&mut self, name: &ast::Ident, partials: Vec<Partial<'_>>, priority: i32) -> Res<Family> {
        let Some(one) = partials.first() else { return self.error(name.span, "there is no such process") };
        let first = one.args.clone();
        let writes =
            |p: &&ast::Param| !p.by_ref && !p.ty.is_const && syntax::template_writes(one.template, &p.name.name);
        let written: Vec<&ast::Param> = one.template.params.iter().filter(writes).collect();
        let mut members = rustc_hash::FxHashMap::default();
        for p in &partials {
            let full = if p.args.is_empty() {
                name.name.clone()
            } else {
                format!("{}({})", name.name, p.args.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
            };
            if self.net.processes.len() == MAX_PROCESSES {
                return self.error(name.span, format!("there are more than {MAX_PROCESSES} processes"));
            }
            self.spend(8, name.span)?;
            self.own_params(&full, &written, &p.scope)?;
            let index = self.process(&full, p, priority)?;
            let set = |kind: &Kind| if let Kind::Scalar(set) = kind { Some(set - 1) } else { None };
            let args = p.kinds.iter().map(set).zip(p.args.iter().copied()).collect();
            self.net.members.resize(index, None);
            self.net.members.push(Some(Member { family: name.span.start, args }));
            members.insert(p.args.clone(), (index, p.scope.clone()));
        }
        Ok(Family { name: name.name.clone(), params: first.len(), members, first })
    }

    /// Parameters by value that the template assigns to are variables of the process.
    fn own_params(&mut self, process: &str, written: &[&ast::Param], scope: &Rc<Scope>) -> Res<()> {
        for p in written {
            let global = self.global.clone();
            let ty = self.param_type(p, &global)?;
            let cells = match scope.here(&p.name.name) {
                Some(Entity::Const(v)) => self.constant_value(v).map(|n| vec![n]),
                Some(Entity::Var(place)) => Some(self.cells_of(&place, p.name.span)?),
                _ => None,
            };
            if let Some(cells) = cells {
                let name = format!("{process}.{}", p.name.name);
                let place = self.declare_place(&name, &ty, &cells, super::place::Role::State, p.name.span)?;
                scope.set(&p.name.name, Entity::Var(place));
            }
        }
        Ok(())
    }

    /// All instances that a name of the system line stands for.
    fn instances<'n>(&mut self, names: &Names<'n>, name: &'n ast::Ident) -> Res<Vec<Partial<'n>>> {
        let mut chain: Vec<&ast::Instance> = Vec::new();
        let mut seen = HashSet::new();
        let mut at = name;
        let template = loop {
            self.spend(1, name.span)?;
            match names.get(at.name.as_str()) {
                Some(Named::Instance(i)) if !seen.insert(&i.name.name) => {
                    return self.error(i.span, format!("`{}` is defined by itself", shorten(&i.name.name)));
                }
                Some(Named::Instance(i)) => {
                    chain.push(i);
                    at = &i.template;
                }
                Some(Named::Template(t)) => break *t,
                None => return Err(self.no_template(names, at)),
            }
        };
        // The outermost free parameters range over all their values.
        let free: &[ast::Param] = chain.first().map_or(&template.params, |i| &i.params);
        let mut out = Vec::new();
        let (kinds, values) = self.free_values(free, name.span)?;
        for (scope, args) in values {
            let mut scope = scope;
            for (n, instance) in chain.iter().enumerate() {
                let params = chain.get(n + 1).map_or(&template.params, |i| &i.params);
                scope = self.bind_args(params, instance, &scope)?;
            }
            out.push(Partial { template, scope, args, kinds: kinds.clone() });
        }
        Ok(out)
    }

    fn free_values(&mut self, params: &[ast::Param], at: Span) -> Res<(Vec<Kind>, Vec<Bound>)> {
        let global = self.global.clone();
        let mut all: Vec<Vec<i64>> = vec![Vec::new()];
        let mut kinds = Vec::new();
        for p in params {
            let ty = self.param_type(p, &global)?;
            let bounded = !p.by_ref && !matches!(p.ty.base, ast::BaseType::Int(None));
            let Some(Range { lo, len, .. }) = ty.values().filter(|_| bounded) else {
                let what =
                    format!("`{}` is left open, but `{}` cannot be enumerated", shorten(&p.name.name), ty.describe());
                return Err(self.report(
                    Diagnostic::error(at, format!("parameter {what}"))
                        .help("give it an argument (`P1 = P(…);`), or a bounded type like `const int[0,3]`"),
                ));
            };
            if len.saturating_mul(all.len() as i64) > MAX_PROCESSES as i64 {
                return self.error(p.name.span, format!("this would make more than {MAX_PROCESSES} processes"));
            }
            let with_each = |args: Vec<i64>| (lo..lo + len).map(move |n| [&args[..], &[n]].concat());
            all = all.into_iter().flat_map(with_each).collect();
            kinds.push(Kind::of(&ty));
        }
        let mut scoped = |args: Vec<i64>| {
            let scope = Scope::child(&global);
            for ((p, &n), &kind) in params.iter().zip(&args).zip(&kinds) {
                scope.set(&p.name.name, Entity::Const(self.literal(n, kind)));
            }
            (scope, args)
        };
        let all = all.into_iter().map(&mut scoped).collect();
        Ok((kinds, all))
    }

    /// Parameters bound to the arguments of an instance, in a fresh scope below the global one.
    fn bind_args(&mut self, params: &[ast::Param], instance: &ast::Instance, from: &Rc<Scope>) -> Res<Rc<Scope>> {
        self.spend(1, instance.span)?;
        self.check_count(params, &instance.args, instance.span)?;
        let global = self.global.clone();
        let scope = Scope::child(&global);
        for (p, a) in params.iter().zip(&instance.args) {
            let ty = self.param_type(p, &global)?;
            let entity = if p.by_ref || matches!(ty.innermost(), Ty::Chan { .. }) {
                self.template_reference(p, ty, a, from)?
            } else if ty.has_clocks() {
                let what = format!("a parameter of type `{}` must be a reference (`&`)", ty.describe());
                return self.error(p.name.span, what);
            } else if ty.scalar().is_some() {
                let n = self.constant_of(a, from, &ty)?;
                Entity::Const(self.literal(n, Kind::of(&ty)))
            } else {
                match Lower::new(self, from.clone(), Unit::Constant).denote(a)? {
                    Denotes::Place(q) if q.ty.same_shape(&ty) && self.is_constant(&q) => Entity::Var(q),
                    _ => return self.error(a.span, format!("a constant of type `{}` is needed here", ty.describe())),
                }
            };
            scope.set(&p.name.name, entity);
        }
        Ok(scope)
    }

    /// A reference that a process keeps: to something that is known beforehand.
    fn template_reference(&mut self, p: &ast::Param, ty: Ty, a: &ast::Expr, from: &Rc<Scope>) -> Res<Entity> {
        let mut lower = Lower::new(self, from.clone(), Unit::Constant);
        let given = lower.denote(a)?;
        let entity = lower.reference(p, given, ty, a.span)?;
        if !lower.stmts.is_empty() {
            return self.error(a.span, "which variable is meant must be known beforehand: the index is not a constant");
        }
        Ok(entity)
    }
}
