//! What a declared type is, once its sizes are known.

use std::rc::Rc;

use trellis_model::network::symmetry::ScalarSet;
use trellis_order::lattice::library;

use super::lattice::LatticeDef;
use super::place::default_value;
use super::scope::{Entity, Scope};
use super::{Builder, Reported, Res, ast};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};

/// A type.
#[derive(Debug, Clone)]
pub(crate) enum Ty {
    Int { lo: i64, hi: i64 },
    Bool,
    Scalar { set: u32, size: i64 },
    Clock,
    Chan { broadcast: bool, urgent: bool },
    Array(Range, Rc<Ty>),
    Struct(Rc<Vec<(String, Ty)>>),
    Lattice(Rc<LatticeDef>),
    Void,
}

/// What an array is indexed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub lo: i64,
    pub len: i64,
    /// The number of the scalar set whose members these are; 0 for numbers.
    pub set: u32,
}

/// UPPAAL's plain `int`.
const INT: Ty = Ty::Int { lo: -(1 << 15), hi: (1 << 15) - 1 };
/// A constant may be larger: it needs no room in a state.
const CONST_INT: Ty = Ty::Int { lo: -(1 << 31), hi: (1 << 31) - 1 };

/// More cells than this in one variable are a mistake, not a model.
const MAX_CELLS: i64 = 1 << 20;
/// Likewise more scalars in one struct, those of its parts included.
const MAX_LEAVES: i64 = 1 << 12;
/// How deep types may nest.
const MAX_DEPTH: i64 = 200;

impl Ty {
    pub fn describe(&self) -> String {
        match self {
            Ty::Int { lo, hi } if [(-(1 << 15), (1 << 15) - 1), (-(1 << 31), (1 << 31) - 1)].contains(&(*lo, *hi)) => {
                "int".into()
            }
            Ty::Int { lo, hi } => format!("int[{lo},{hi}]"),
            Ty::Bool => "bool".into(),
            Ty::Scalar { size, .. } => format!("scalar[{size}]"),
            Ty::Clock => "clock".into(),
            Ty::Chan { .. } => "chan".into(),
            Ty::Array(..) => {
                let mut suffix = String::new();
                let mut entry = self;
                while let Ty::Array(r, t) = entry {
                    suffix.push_str(&format!("[{}]", r.len));
                    entry = t;
                }
                entry.describe() + &suffix
            }
            Ty::Struct(fields) => {
                let names: Vec<&str> = fields.iter().map(|(n, _)| n.as_str()).collect();
                format!("struct {{ {} }}", shorten(&names.join(", ")))
            }
            Ty::Lattice(d) => d.name.clone(),
            Ty::Void => "void".into(),
        }
    }

    /// The same shape, so that one can be copied to the other?
    pub fn same_shape(&self, other: &Ty) -> bool {
        match (self, other) {
            (Ty::Int { .. } | Ty::Bool, Ty::Int { .. } | Ty::Bool) => true,
            (Ty::Scalar { set: a, .. }, Ty::Scalar { set: b, .. }) => a == b,
            (Ty::Chan { .. }, Ty::Chan { .. }) | (Ty::Clock, Ty::Clock) => true,
            (Ty::Array(r, a), Ty::Array(s, b)) => r.len == s.len && a.same_shape(b),
            (Ty::Struct(a), Ty::Struct(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|((_, x), (_, y))| x.same_shape(y))
            }
            _ => false,
        }
    }

    /// Bounds of a scalar type, and whether its values are truth values.
    pub fn scalar(&self) -> Option<(i64, i64, bool)> {
        match *self {
            Ty::Int { lo, hi } => Some((lo, hi, false)),
            Ty::Bool => Some((0, 1, true)),
            Ty::Scalar { size, .. } => Some((0, size - 1, false)),
            _ => None,
        }
    }

    /// The values of a scalar type: first and how many.
    pub fn values(&self) -> Option<Range> {
        let set = if let Ty::Scalar { set, .. } = self { *set } else { 0 };
        self.scalar().map(|(lo, hi, _)| Range { lo, len: hi - lo + 1, set })
    }

    /// What a variable of a scalar type holds when the model does not say.
    pub fn default_value(&self) -> i64 {
        self.scalar().map_or(0, |(lo, hi, _)| default_value(lo, hi))
    }

    /// Is it one value, a number or a clock, rather than made of several?
    fn is_leaf(&self) -> bool {
        matches!(self, Ty::Clock) || self.scalar().is_some()
    }

    /// How many scalars and clocks a value of this type has, the entries of an array counting once.
    pub fn leaf_count(&self) -> usize {
        match self {
            Ty::Array(_, t) => t.leaf_count(),
            Ty::Struct(fields) => fields.iter().map(|(_, t)| t.leaf_count()).sum(),
            _ => usize::from(self.is_leaf()),
        }
    }

    /// How many cells each of them has.
    pub fn leaf_sizes(&self) -> Vec<i64> {
        match self {
            Ty::Array(r, t) => t.leaf_sizes().into_iter().map(|n| n * r.len).collect(),
            Ty::Struct(fields) => fields.iter().flat_map(|(_, t)| t.leaf_sizes()).collect(),
            _ => self.is_leaf().then_some(1).into_iter().collect(),
        }
    }

    /// What an array has in its cells; the type itself if it is none.
    pub fn innermost(&self) -> &Ty {
        match self {
            Ty::Array(_, t) => t.innermost(),
            ty => ty,
        }
    }

    /// Does it contain something of this kind?
    pub fn contains(&self, what: fn(&Ty) -> bool) -> bool {
        what(self)
            || match self {
                Ty::Array(_, t) => t.contains(what),
                Ty::Struct(fields) => fields.iter().any(|(_, t)| t.contains(what)),
                _ => false,
            }
    }

    pub fn is_data(&self) -> bool {
        self.is_stored() && !self.has_clocks()
    }

    /// Data and clocks: what a variable can consist of.
    pub fn is_stored(&self) -> bool {
        !self.contains(|t| matches!(t, Ty::Chan { .. } | Ty::Lattice(_) | Ty::Void))
    }

    pub fn has_clocks(&self) -> bool {
        self.contains(|t| matches!(t, Ty::Clock))
    }

    /// How many cells, how many leaves, how deep; as many as can be counted.
    fn measure(&self) -> (i64, i64, i64) {
        match self {
            Ty::Array(r, t) => {
                let (cells, leaves, depth) = t.measure();
                (cells.saturating_mul(r.len), leaves, depth + 1)
            }
            Ty::Struct(fields) => {
                let parts = fields.iter().map(|(_, t)| t.measure());
                parts.fold((0, 0, 1), |(c, l, d), (cells, leaves, depth)| {
                    (c.saturating_add(cells), l.saturating_add(leaves), d.max(depth + 1))
                })
            }
            _ => (1, 1, 1),
        }
    }

    /// How many cells a value of this type has.
    pub fn cells(&self) -> i64 {
        self.measure().0
    }
}

impl Builder<'_> {
    /// The type that a type expression denotes.
    pub fn resolve_type(&mut self, t: &ast::TypeExpr, scope: &Rc<Scope>) -> Res<Ty> {
        let ty = match &t.base {
            ast::BaseType::Int(None) => {
                if t.is_const {
                    CONST_INT
                } else {
                    INT
                }
            }
            ast::BaseType::Int(Some(bounds)) => {
                let lo = self.constant(&bounds.0, scope)?;
                let hi = self.constant(&bounds.1, scope)?;
                if lo > hi {
                    return Err(self.report(
                        Diagnostic::error(t.span, format!("empty range: int[{lo},{hi}] has no values"))
                            .help("the lower bound comes first"),
                    ));
                }
                Ty::Int { lo, hi }
            }
            ast::BaseType::Bool => Ty::Bool,
            ast::BaseType::Clock => Ty::Clock,
            ast::BaseType::Chan => Ty::Chan { broadcast: t.broadcast, urgent: t.urgent },
            ast::BaseType::Void => Ty::Void,
            ast::BaseType::Unsupported(what) => {
                return Err(self.report(
                    Diagnostic::error(t.span, format!("type `{what}` is not supported"))
                        .help("Trellis models have integers, truth values, scalars, arrays, structs and lattices"),
                ));
            }
            ast::BaseType::Scalar(size) => {
                let size = self.constant(size, scope)?;
                if !(1..=MAX_CELLS).contains(&size) {
                    return self.error(t.span, format!("a scalar set cannot have {size} members"));
                }
                self.scalar_sets += 1;
                self.net.scalars.push(ScalarSet { size, ..ScalarSet::default() });
                Ty::Scalar { set: self.scalar_sets, size }
            }
            ast::BaseType::Struct(fields) => self.structure(fields, scope, t.span)?,
            ast::BaseType::Named(name) => self.named_type(name, scope)?,
        };
        if t.hybrid {
            return self.error(t.span, "hybrid clocks are not supported");
        }
        if (t.broadcast || t.urgent) && !matches!(t.base, ast::BaseType::Chan) {
            return match ty {
                Ty::Chan { .. } => Ok(Ty::Chan { broadcast: t.broadcast, urgent: t.urgent }),
                _ => self.error(t.span, "only channels can be `broadcast` or `urgent`"),
            };
        }
        Ok(ty)
    }

    fn structure(
        &mut self,
        fields: &[(ast::TypeExpr, Vec<ast::Declarator>)],
        scope: &Rc<Scope>,
        span: Span,
    ) -> Res<Ty> {
        let mut all: Vec<(String, Ty)> = Vec::new();
        let mut names = std::collections::HashSet::new();
        for (ft, declarators) in fields {
            let base = self.resolve_type(ft, scope)?;
            for d in declarators {
                if !names.insert(&d.name.name) {
                    return self.error(d.name.span, format!("field `{}` is declared twice", shorten(&d.name.name)));
                }
                let ty = self.with_dims(base.clone(), &d.dims, scope, d.name.span)?;
                all.push((d.name.name.clone(), ty));
            }
        }
        self.not_too_large(Ty::Struct(Rc::new(all)), span)
    }

    fn named_type(&mut self, name: &ast::Ident, scope: &Rc<Scope>) -> Res<Ty> {
        match scope.find(&name.name) {
            Some(Entity::Type(ty)) => Ok(ty),
            Some(Entity::Broken) => Err(Reported),
            Some(_) => self.error(name.span, format!("`{}` is not a type", shorten(&name.name))),
            None => {
                let d = self.unknown("type", &name.name, name.span, scope);
                let in_library = library::catalogue().iter().any(|e| e.name == name.name);
                Err(self.report(if in_library {
                    d.help(format!("`{}` is a lattice of the library: write `extern {};` first", name.name, name.name))
                } else {
                    d
                }))
            }
        }
    }

    /// A type with array suffixes.
    pub fn with_dims(&mut self, base: Ty, dims: &[ast::Dim], scope: &Rc<Scope>, span: Span) -> Res<Ty> {
        let mut ty = base;
        for d in dims.iter().rev() {
            let range = self.dimension(d, scope)?;
            ty = self.not_too_large(Ty::Array(range, Rc::new(ty)), span)?;
        }
        Ok(ty)
    }

    fn not_too_large(&mut self, ty: Ty, span: Span) -> Res<Ty> {
        let (cells, leaves, depth) = ty.measure();
        let what = match () {
            () if cells > MAX_CELLS => format!("more than {MAX_CELLS} cells"),
            () if leaves > MAX_LEAVES => {
                format!("a struct of more than {MAX_LEAVES} fields, those of its parts included")
            }
            () if depth > MAX_DEPTH => format!("a type nested more than {MAX_DEPTH} levels deep"),
            () => return Ok(ty),
        };
        self.error(span, format!("too large: {what}"))
    }

    fn dimension(&mut self, d: &ast::Dim, scope: &Rc<Scope>) -> Res<Range> {
        let (ty, span) = match d {
            ast::Dim::Type(t) => (self.resolve_type(t, scope)?, t.span),
            ast::Dim::Expr(e) => {
                let named = match &e.kind {
                    ast::ExprKind::Name(n) => scope.find(n),
                    _ => None,
                };
                let Some(Entity::Type(ty)) = named else {
                    let n = self.constant(e, scope)?;
                    if n < 1 {
                        return self.error(e.span, format!("an array cannot have {n} entries"));
                    }
                    return Ok(Range { lo: 0, len: n, set: 0 });
                };
                (ty, e.span)
            }
        };
        match ty.values() {
            Some(r) if r.len <= MAX_CELLS => Ok(r),
            Some(_) => {
                self.error(span, format!("an array cannot be indexed by `{}`: it has too many values", ty.describe()))
            }
            None => self.error(span, format!("an array cannot be indexed by `{}`", ty.describe())),
        }
    }
}
