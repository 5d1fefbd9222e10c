//! Declarations: constants, variables, channels, types, functions.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use trellis_model::network::Channel;
use trellis_model::network::symmetry::Holder;

use super::place::{ChanPlace, Role};
use super::scope::{Entity, FuncDef, Kind, Scope};
use super::types::Ty;
use super::{Builder, Res, ast, syntax};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};

impl Builder<'_> {
    /// Declares a name, once per block.
    pub fn bind(&mut self, scope: &Rc<Scope>, name: &ast::Ident, e: Entity) -> Res<()> {
        if scope.here(&name.name).is_some() {
            return Err(self.report(declared_twice(name)));
        }
        scope.set(&name.name, e);
        Ok(())
    }

    /// Names that a declaration would have given a meaning to, had it been right: nobody needs to hear of every use.
    fn give_up<'n>(&mut self, scope: &Rc<Scope>, names: impl IntoIterator<Item = &'n ast::Ident>) {
        for name in names {
            if scope.here(&name.name).is_none() {
                scope.set(&name.name, Entity::Broken);
            }
        }
    }

    /// A declaration outside functions. `prefix` is the process's name and a dot, or nothing.
    pub fn declare(&mut self, d: &ast::Decl, scope: &Rc<Scope>, prefix: &str) -> Res<()> {
        match d {
            ast::Decl::Vars(v) if left_out(&v.ty).is_some() => {
                let what = left_out(&v.ty).unwrap_or_default();
                let d = Diagnostic::warning(v.ty.span, "this is left out");
                self.report(d.help("questions and steps that depend on it cannot be checked"));
                let mut result = Ok(());
                for d in &v.names {
                    result = result.and(self.bind(scope, &d.name, Entity::LeftOut(what)));
                }
                result
            }
            ast::Decl::Vars(v) => {
                let base = self.resolve_type(&v.ty, scope);
                let mut result = base.as_ref().map(|_| ()).map_err(|e| *e);
                for d in &v.names {
                    let declared = base.as_ref().map_err(|e| *e).and_then(|b| self.declare_one(v, b, d, scope, prefix));
                    result = result.and(declared);
                }
                if result.is_err() {
                    self.give_up(scope, v.names.iter().map(|d| &d.name));
                }
                result
            }
            ast::Decl::Typedef { ty, names } => {
                let result = self.define_types(ty, names, scope);
                if result.is_err() {
                    self.give_up(scope, names.iter().map(|d| &d.name));
                }
                result
            }
            ast::Decl::Function(f) => self.declare_function(f, scope),
            ast::Decl::Extern { name, def, file, span } => {
                match self.extern_lattice(name, def.as_ref(), file.as_ref(), *span, scope) {
                    Ok(def) => self.bind(scope, name, Entity::Type(Ty::Lattice(Rc::new(def)))),
                    Err(e) => {
                        self.give_up(scope, [name]);
                        Err(e)
                    }
                }
            }
            // What is measured or drawn while UPPAAL works changes no answer.
            ast::Decl::Unsupported { what, span } if matches!(what.as_str(), "progress" | "gantt") => {
                self.report(Diagnostic::warning(*span, format!("{what} is left out")));
                Ok(())
            }
            ast::Decl::Unsupported { what, span } => {
                let d = Diagnostic::error(*span, format!("{what} is not supported"));
                Err(self.report(d.help("remove it if the properties do not need it")))
            }
        }
    }

    fn define_types(&mut self, ty: &ast::TypeExpr, names: &[ast::Declarator], scope: &Rc<Scope>) -> Res<()> {
        let base = self.resolve_type(ty, scope)?;
        for n in names {
            let ty = self.with_dims(base.clone(), &n.dims, scope, n.name.span)?;
            self.bind(scope, &n.name, Entity::Type(ty))?;
        }
        Ok(())
    }

    fn declare_function(&mut self, f: &Arc<ast::Function>, scope: &Rc<Scope>) -> Res<()> {
        let distinct = self.check_distinct(f.params.iter().map(|p| &p.name));
        let is_void = matches!(f.ret.base, ast::BaseType::Void);
        if !is_void && !syntax::block_returns(&f.body, syntax::may_return) {
            self.report(
                Diagnostic::error(f.name.span, format!("`{}` never returns a value", shorten(&f.name.name)))
                    .help("end it with `return …;`, or make it a `void` function"),
            );
        } else if !is_void && !syntax::block_returns(&f.body, syntax::must_return) {
            self.report(
                Diagnostic::warning(
                    f.name.span,
                    format!("`{}` may end without returning a value", shorten(&f.name.name)),
                )
                .help("it then returns 0, or the least value of its type; end it with `return …;`"),
            );
        }
        let ast = f.clone();
        // A function sees what stands before it, and itself, so that recursion is noticed.
        self.bind(scope, &f.name, Entity::Broken)?;
        let def = Rc::new(FuncDef { ast, scope: Scope::from_here(scope), called: Cell::new(false) });
        scope.set(&f.name.name, Entity::Func(def.clone()));
        self.declared.push(def);
        distinct
    }

    fn declare_one(
        &mut self,
        v: &ast::VarDecl,
        base: &Ty,
        d: &ast::Declarator,
        scope: &Rc<Scope>,
        prefix: &str,
    ) -> Res<()> {
        let name = format!("{prefix}{}", d.name.name);
        if let Ty::Lattice(def) = base {
            if v.ty.is_const || v.ty.meta {
                return self.error(v.ty.span, "a lattice variable cannot be `const` or `meta`");
            }
            let place = self.declare_lattice(&name, def, d, scope)?;
            return self.bind(scope, &d.name, Entity::Lattice(place));
        }
        let ty = self.with_dims(base.clone(), &d.dims, scope, d.name.span)?;
        if ty.has_clocks() && (v.ty.is_const || v.ty.meta) {
            return self.error(v.ty.span, "a clock cannot be `const` or `meta`: it runs");
        }
        if let Ty::Chan { .. } = ty.innermost() {
            if let Some(init) = &d.init {
                return self.error(syntax::init_span(init), "a channel has no value");
            }
            self.spend_cells(ty.cells(), d.name.span)?;
            let place = self.declare_channels(&name, &ty);
            return self.bind(scope, &d.name, Entity::Chan(place));
        }
        if !ty.is_stored() {
            return self.error(d.name.span, format!("a variable cannot have the type `{}`", ty.describe()));
        }
        let mut cells = Vec::new();
        match &d.init {
            Some(init) => self.initial_cells(init, &ty, scope, &mut cells)?,
            None if v.ty.is_const => return Err(self.report(constant_without_value(&d.name))),
            None => default_cells(&ty, &mut cells),
        }
        if !v.ty.is_const {
            let role = if v.ty.meta { Role::Meta } else { Role::State };
            let place = self.declare_place(&name, &ty, &cells, role, d.name.span)?;
            return self.bind(scope, &d.name, Entity::Var(place));
        }
        if prefix.is_empty() && matches!(ty, Ty::Int { .. }) {
            let given = self.options.constants.iter().find(|(n, _)| *n == d.name.name);
            if let Some((_, n)) = given {
                cells = vec![self.fitting(*n, &ty, d.name.span)?];
            }
            self.net.constants.push((d.name.name.clone(), cells[0]));
        }
        if ty.scalar().is_some() {
            let value = self.literal(cells[0], Kind::of(&ty));
            return self.bind(scope, &d.name, Entity::Const(value));
        }
        let place = self.declare_place(&name, &ty, &cells, Role::Const, d.name.span)?;
        self.bind(scope, &d.name, Entity::Var(place))
    }

    fn declare_channels(&mut self, name: &str, ty: &Ty) -> ChanPlace {
        let base = self.net.channels.len() as u32;
        self.add_channels(name, ty);
        let mut dims = Vec::new();
        let mut entry = ty;
        while let Ty::Array(r, t) = entry {
            self.note_scalar(r.set, Holder::Channel(base, dims.len() as u32));
            dims.push((r.lo, r.len));
            entry = t;
        }
        self.net.channel_arrays.extend((!dims.is_empty()).then_some((base, dims)));
        let index = self.int(0);
        ChanPlace { ty: ty.clone(), base, index }
    }

    fn add_channels(&mut self, name: &str, ty: &Ty) {
        match ty {
            Ty::Array(r, t) => (r.lo..r.lo + r.len).for_each(|i| self.add_channels(&format!("{name}[{i}]"), t)),
            Ty::Chan { broadcast, urgent } => self.net.channels.push(Channel {
                name: name.to_string(),
                broadcast: *broadcast,
                urgent: *urgent,
                priority: 0,
            }),
            _ => {}
        }
    }

    /// Parameters or selected names that are given twice.
    pub fn check_distinct<'n>(&mut self, names: impl IntoIterator<Item = &'n ast::Ident>) -> Res<()> {
        let mut seen = std::collections::HashSet::new();
        let mut result = Ok(());
        for name in names {
            if !seen.insert(&name.name) {
                result = Err(self.report(declared_twice(name)));
            }
        }
        result
    }

    /// A number, if it is a value of the type.
    pub fn fitting(&mut self, n: i64, ty: &Ty, span: Span) -> Res<i64> {
        match ty.scalar() {
            Some((lo, hi, _)) if n < lo || n > hi => self.error(span, format!("{n} does not fit `{}`", ty.describe())),
            _ => Ok(n),
        }
    }
}

/// What only costs and statistics need, and why it cannot be looked at.
fn left_out(ty: &ast::TypeExpr) -> Option<&'static str> {
    match &ty.base {
        ast::BaseType::Unsupported(name) if name == "double" => {
            Some("is a floating-point number, which is not supported")
        }
        ast::BaseType::Clock if ty.hybrid => Some("is a hybrid clock, which is not supported"),
        _ => None,
    }
}

pub(crate) fn declared_twice(name: &ast::Ident) -> Diagnostic {
    Diagnostic::error(name.span, format!("`{}` is already declared here", shorten(&name.name)))
        .help("give one of the two another name")
}

pub(crate) fn constant_without_value(name: &ast::Ident) -> Diagnostic {
    let name_text = shorten(&name.name);
    Diagnostic::error(name.span, format!("constant `{name_text}` has no value"))
        .help(format!("write `const … {name_text} = value;`"))
}

fn default_cells(ty: &Ty, out: &mut Vec<i64>) {
    match ty {
        Ty::Array(r, t) => (0..r.len).for_each(|_| default_cells(t, out)),
        Ty::Struct(fields) => fields.iter().for_each(|(_, t)| default_cells(t, out)),
        ty => out.push(ty.default_value()),
    }
}
