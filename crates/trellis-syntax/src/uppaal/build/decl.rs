//! Declarations: constants, variables, channels, types, functions.

use std::rc::Rc;

use trellis_model::network::Channel;

use super::expr::Lower;
use super::scope::{ChanPlace, Entity, FuncDef, Kind, Place, Scope, Value};
use super::types::Ty;
use super::{Builder, Res, ast, default_value};
use crate::diag::{Diagnostic, Span};

impl Builder<'_> {
    /// Declares a name, once per block.
    pub fn bind(&mut self, scope: &Rc<Scope>, name: &ast::Ident, e: Entity) -> Res<()> {
        if scope.here(&name.name).is_some() {
            return Err(self.report(
                Diagnostic::error(name.span, format!("`{}` is already declared here", name.name))
                    .help("give one of the two another name"),
            ));
        }
        scope.set(&name.name, e);
        Ok(())
    }

    /// A declaration outside functions. `prefix` is the process's name and a dot, or nothing.
    pub fn declare(&mut self, d: &ast::Decl, scope: &Rc<Scope>, prefix: &str) -> Res<()> {
        match d {
            ast::Decl::Vars(v) => self.declare_vars(v, scope, prefix),
            ast::Decl::Typedef { ty, names } => {
                let base = self.resolve_type(ty, scope)?;
                for n in names {
                    let ty = self.with_dims(base.clone(), &n.dims, scope, n.name.span)?;
                    self.bind(scope, &n.name, Entity::Type(ty))?;
                }
                Ok(())
            }
            ast::Decl::Function(f) => {
                let def = FuncDef { ast: f.clone(), scope: scope.clone() };
                self.bind(scope, &f.name, Entity::Func(Rc::new(def)))
            }
            ast::Decl::Extern { name, def, file, span } => {
                let def = self.extern_lattice(name, def.as_ref(), file.as_ref(), *span, scope)?;
                self.bind(scope, name, Entity::Type(Ty::Lattice(Rc::new(def))))
            }
            ast::Decl::Unsupported { what, span } => self.error(*span, format!("{what} is not supported")),
        }
    }

    fn declare_vars(&mut self, v: &ast::VarDecl, scope: &Rc<Scope>, prefix: &str) -> Res<()> {
        let base = self.resolve_type(&v.ty, scope)?;
        let mut result = Ok(());
        for d in &v.names {
            if let Err(e) = self.declare_one(v, &base, d, scope, prefix) {
                // Known but broken: do not complain about every use of the name.
                if scope.here(&d.name.name).is_none() {
                    scope.set(&d.name.name, Entity::Clock);
                }
                result = Err(e);
            }
        }
        result
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
            let place = self.declare_lattice(&name, def.clone(), d, scope)?;
            return self.bind(scope, &d.name, Entity::Lattice(place));
        }
        let ty = self.with_dims(base.clone(), &d.dims, scope, d.name.span)?;
        if ty.contains(|t| matches!(t, Ty::Clock)) {
            self.bind(scope, &d.name, Entity::Clock)?;
            return Err(self.report(
                Diagnostic::error(d.name.span, format!("clock `{}`: timed automata are not checked yet", d.name.name))
                    .label("a clock")
                    .help("Trellis reads clocks but has no engine for them in this version; models without clocks are checked"),
            ));
        }
        if let Ty::Chan { .. } = base {
            let place = self.declare_channels(&name, &ty);
            return self.bind(scope, &d.name, Entity::Chan(place));
        }
        if !ty.is_data() {
            return self.error(d.name.span, format!("a variable cannot have the type `{}`", ty.describe()));
        }
        let mut cells = Vec::new();
        match &d.init {
            Some(init) => self.initial_cells(init, &ty, scope, &mut cells)?,
            None if v.ty.is_const => {
                return Err(self.report(
                    Diagnostic::error(d.name.span, format!("constant `{}` has no value", d.name.name))
                        .help(format!("write `const … {} = value;`", d.name.name)),
                ));
            }
            None => default_cells(&ty, &mut cells),
        }
        if v.ty.is_const && prefix.is_empty() && matches!(ty, Ty::Int { .. }) {
            if let Some((_, given)) = self.options.constants.iter().find(|(n, _)| *n == d.name.name) {
                cells = vec![*given];
            }
            self.net.constants.push((d.name.name.clone(), cells[0]));
        }
        let place = if v.ty.is_const {
            if matches!(ty, Ty::Int { .. } | Ty::Bool | Ty::Scalar { .. }) {
                let value = self.literal(cells[0], Kind::of(&ty));
                return self.bind(scope, &d.name, Entity::Const(value));
            }
            self.declare_place(&name, &ty, &cells, true, false)
        } else {
            self.declare_place(&name, &ty, &cells, false, !v.ty.meta)
        };
        self.bind(scope, &d.name, Entity::Var(place))
    }

    /// A literal of a kind.
    pub fn literal(&mut self, n: i64, kind: Kind) -> Value {
        let term = match kind {
            Kind::Bool => self.terms().bool(n != 0),
            _ => self.int(n),
        };
        Value { term, kind }
    }

    /// A variable of any data type, given its cells in type order (arrays of structs: entry by entry).
    pub fn declare_place(&mut self, name: &str, ty: &Ty, cells: &[i64], constant: bool, state: bool) -> Place {
        let mut shapes = Vec::new();
        leaf_shapes(ty, name.to_string(), &[], &mut shapes);
        let mut values = vec![Vec::new(); shapes.len()];
        distribute(ty, &mut cells.iter().copied(), &mut values, 0);
        let leaves = shapes
            .into_iter()
            .zip(values)
            .map(|(s, v)| {
                if constant {
                    self.declare_cells(s.name, s.lo, s.hi, s.is_bool, s.array, Some(v), false)
                } else {
                    let var = self.declare_cells(s.name, s.lo, s.hi, s.is_bool, s.array, None, state);
                    let list = if state { &mut self.net.vars } else { &mut self.net.temps };
                    let data = list.last_mut().expect("just declared");
                    data.init = v;
                    data.dims = s.dims;
                    var
                }
            })
            .collect();
        let index = self.int(0);
        Place { ty: ty.clone(), leaves, index, writable: !constant }
    }

    /// Fresh cells for a local variable of a function.
    pub fn local_place(&mut self, ty: &Ty) -> Place {
        let mut shapes = Vec::new();
        leaf_shapes(ty, String::new(), &[], &mut shapes);
        let leaves = shapes.into_iter().map(|s| self.temp(s.lo, s.hi, s.is_bool, s.array)).collect();
        let index = self.int(0);
        Place { ty: ty.clone(), leaves, index, writable: true }
    }

    fn declare_channels(&mut self, name: &str, ty: &Ty) -> ChanPlace {
        let base = self.net.channels.len() as u32;
        self.add_channels(name, ty);
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

    /// The cells of an initialiser, in type order.
    fn initial_cells(&mut self, init: &ast::Init, ty: &Ty, scope: &Rc<Scope>, out: &mut Vec<i64>) -> Res<()> {
        match (init, ty) {
            (ast::Init::List(items, span), Ty::Array(r, t)) => {
                if items.len() as i64 != r.len {
                    return self.error(*span, format!("{} values for an array of {}", items.len(), r.len));
                }
                for (_, item) in items {
                    self.initial_cells(item, t, scope, out)?;
                }
                Ok(())
            }
            (ast::Init::List(items, span), Ty::Struct(fields)) => {
                if items.len() != fields.len() {
                    return self.error(*span, format!("{} values for a struct of {} fields", items.len(), fields.len()));
                }
                for (i, (name, ty)) in fields.iter().enumerate() {
                    let named = items.iter().find(|(n, _)| n.as_ref().is_some_and(|n| n.name == *name));
                    let item = named.unwrap_or(&items[i]);
                    if let (Some(n), None) = (&item.0, named) {
                        return self.error(n.span, format!("the struct has no field `{}`", n.name));
                    }
                    self.initial_cells(&item.1, ty, scope, out)?;
                }
                Ok(())
            }
            (ast::Init::List(_, span), _) => {
                self.error(*span, format!("a list of values for the scalar type `{}`", ty.describe()))
            }
            (ast::Init::Expr(e), Ty::Array(..) | Ty::Struct(_)) => {
                let mut lower = Lower::new(self, scope.clone());
                let place = lower.place(e)?;
                if !place.ty.same_shape(ty) {
                    return self.error(e.span, format!("`{}` cannot initialise `{}`", place.ty.describe(), ty.describe()));
                }
                self.constant_cells(&place, e.span, out)
            }
            (ast::Init::Expr(e), _) => {
                let n = self.constant_of(e, scope, ty)?;
                out.push(n);
                Ok(())
            }
        }
    }

    fn constant_cells(&mut self, place: &Place, span: Span, out: &mut Vec<i64>) -> Res<()> {
        match place.ty.clone() {
            Ty::Array(r, _) => {
                for i in r.lo..r.lo + r.len {
                    let i = self.int(i);
                    let entry = self.entry(place, i);
                    self.constant_cells(&entry, span, out)?;
                }
                Ok(())
            }
            Ty::Struct(fields) => {
                for (name, _) in fields.iter() {
                    let field = Self::field(place, name).expect("a field of its own type");
                    self.constant_cells(&field, span, out)?;
                }
                Ok(())
            }
            _ => {
                let value = self.read(place);
                match self.constant_value(value) {
                    Some(n) => {
                        out.push(n);
                        Ok(())
                    }
                    None => self.error(span, "this is not a constant"),
                }
            }
        }
    }

    pub fn constant_value(&self, v: Value) -> Option<i64> {
        match v.kind {
            Kind::Bool => self.net.terms.as_bool(v.term).map(i64::from),
            _ => self.net.terms.as_int(v.term),
        }
    }

    /// The value of a constant integer expression.
    pub fn constant(&mut self, e: &ast::Expr, scope: &Rc<Scope>) -> Res<i64> {
        self.constant_of(e, scope, &Ty::Int { lo: -(1 << 61), hi: 1 << 61 })
    }

    /// The value of a constant expression that must fit a scalar type.
    pub fn constant_of(&mut self, e: &ast::Expr, scope: &Rc<Scope>, ty: &Ty) -> Res<i64> {
        let mut lower = Lower::new(self, scope.clone());
        let value = lower.value(e)?;
        let value = lower.convert(value, Kind::of(ty), e.span)?;
        let effects = !lower.stmts.is_empty();
        let Some(n) = self.constant_value(value).filter(|_| !effects) else {
            return Err(self.report(
                Diagnostic::error(e.span, "this must be a constant").help("use numbers, `const` names and operators only"),
            ));
        };
        match ty.values() {
            Some(r) if n < r.lo || n - r.lo >= r.len => {
                self.error(e.span, format!("{n} does not fit `{}`", ty.describe()))
            }
            _ => Ok(n),
        }
    }
}

struct LeafShape {
    name: String,
    lo: i64,
    hi: i64,
    is_bool: bool,
    array: Option<usize>,
    dims: Vec<(i64, i64)>,
}

/// One flat array per scalar leaf.
fn leaf_shapes(ty: &Ty, name: String, dims: &[(i64, i64)], out: &mut Vec<LeafShape>) {
    match ty {
        Ty::Array(r, t) => leaf_shapes(t, name, &[dims, &[(r.lo, r.len)]].concat(), out),
        Ty::Struct(fields) => {
            fields.iter().for_each(|(f, t)| leaf_shapes(t, format!("{name}.{f}"), dims, out));
        }
        _ => {
            let mut leaf = Vec::new();
            ty.leaves(&mut leaf);
            let array = (!dims.is_empty()).then(|| dims.iter().map(|d| d.1 as usize).product());
            out.extend(leaf.into_iter().map(|(lo, hi, is_bool)| LeafShape {
                name: name.clone(),
                lo,
                hi,
                is_bool,
                array,
                dims: dims.to_vec(),
            }));
        }
    }
}

/// Deals cells in type order out to the leaves they belong to.
fn distribute(ty: &Ty, cells: &mut impl Iterator<Item = i64>, leaves: &mut [Vec<i64>], first: usize) {
    match ty {
        Ty::Array(r, t) => (0..r.len).for_each(|_| distribute(t, cells, leaves, first)),
        Ty::Struct(fields) => {
            let mut at = first;
            for (_, t) in fields.iter() {
                distribute(t, cells, leaves, at);
                at += t.leaf_count();
            }
        }
        _ => leaves[first].push(cells.next().unwrap_or(0)),
    }
}

fn default_cells(ty: &Ty, out: &mut Vec<i64>) {
    match ty {
        Ty::Array(r, t) => (0..r.len).for_each(|_| default_cells(t, out)),
        Ty::Struct(fields) => fields.iter().for_each(|(_, t)| default_cells(t, out)),
        _ => {
            let mut leaf = Vec::new();
            ty.leaves(&mut leaf);
            out.extend(leaf.iter().map(|(lo, hi, _)| default_value(*lo, *hi)));
        }
    }
}
