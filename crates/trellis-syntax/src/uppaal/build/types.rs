//! What a declared type is, once its sizes are known.

use std::rc::Rc;

use super::lattice::LatticeDef;
use super::scope::{Entity, Scope};
use super::{Builder, Res, ast};
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
}

/// UPPAAL's plain `int`.
pub(crate) const INT: Ty = Ty::Int { lo: -32768, hi: 32767 };

/// More cells than this in one variable are a mistake, not a model.
const MAX_CELLS: i64 = 1 << 24;

impl Ty {
    pub fn describe(&self) -> String {
        match self {
            Ty::Int { lo, hi } if (*lo, *hi) == (-32768, 32767) => "int".into(),
            Ty::Int { lo, hi } => format!("int[{lo},{hi}]"),
            Ty::Bool => "bool".into(),
            Ty::Scalar { size, .. } => format!("scalar[{size}]"),
            Ty::Clock => "clock".into(),
            Ty::Chan { .. } => "chan".into(),
            Ty::Array(r, t) => format!("{}[{}]", t.describe(), r.len),
            Ty::Struct(fields) => {
                format!("struct {{ {} }}", fields.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>().join(", "))
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
            (Ty::Clock, Ty::Clock) => true,
            (Ty::Chan { .. }, Ty::Chan { .. }) => true,
            (Ty::Array(r, a), Ty::Array(s, b)) => r.len == s.len && a.same_shape(b),
            (Ty::Struct(a), Ty::Struct(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|((_, x), (_, y))| x.same_shape(y))
            }
            _ => false,
        }
    }

    /// The values of a finite scalar type: first and how many.
    pub fn values(&self) -> Option<Range> {
        match *self {
            Ty::Int { lo, hi } => Some(Range { lo, len: hi - lo + 1 }),
            Ty::Bool => Some(Range { lo: 0, len: 2 }),
            Ty::Scalar { size, .. } => Some(Range { lo: 0, len: size }),
            _ => None,
        }
    }

    /// The scalar leaves below this type: bounds, truth value or not, in declaration order.
    pub fn leaves(&self, out: &mut Vec<(i64, i64, bool)>) {
        match self {
            Ty::Int { lo, hi } => out.push((*lo, *hi, false)),
            Ty::Bool => out.push((0, 1, true)),
            Ty::Scalar { size, .. } => out.push((0, size - 1, false)),
            Ty::Array(_, t) => t.leaves(out),
            Ty::Struct(fields) => fields.iter().for_each(|(_, t)| t.leaves(out)),
            Ty::Clock | Ty::Chan { .. } | Ty::Lattice(_) | Ty::Void => {}
        }
    }

    /// How many leaves.
    pub fn leaf_count(&self) -> usize {
        let mut out = Vec::new();
        self.leaves(&mut out);
        out.len()
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
        !self.contains(|t| matches!(t, Ty::Clock | Ty::Chan { .. } | Ty::Lattice(_) | Ty::Void))
    }
}

impl Builder<'_> {
    /// The type that a type expression denotes.
    pub fn resolve_type(&mut self, t: &ast::TypeExpr, scope: &Rc<Scope>) -> Res<Ty> {
        let ty = match &t.base {
            ast::BaseType::Int(None) => INT,
            ast::BaseType::Int(Some(bounds)) => {
                let lo = self.constant(&bounds.0, scope)?;
                let hi = self.constant(&bounds.1, scope)?;
                if lo > hi {
                    return self.error(t.span, format!("empty range: int[{lo},{hi}] has no values"));
                }
                if hi.checked_sub(lo).is_none_or(|d| d == i64::MAX) {
                    return self.error(t.span, "the range is too large");
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
                Ty::Scalar { set: self.scalar_sets, size }
            }
            ast::BaseType::Struct(fields) => {
                let mut all: Vec<(String, Ty)> = Vec::new();
                for (ft, names) in fields {
                    let base = self.resolve_type(ft, scope)?;
                    for d in names {
                        if all.iter().any(|(n, _)| *n == d.name.name) {
                            return self.error(d.name.span, format!("field `{}` is declared twice", d.name.name));
                        }
                        let ty = self.with_dims(base.clone(), &d.dims, scope, d.name.span)?;
                        all.push((d.name.name.clone(), ty));
                    }
                }
                Ty::Struct(Rc::new(all))
            }
            ast::BaseType::Named(name) => match scope.find(&name.name) {
                Some(Entity::Type(ty)) => ty,
                Some(_) => return self.error(name.span, format!("`{}` is not a type", name.name)),
                None => {
                    let d = Diagnostic::error(name.span, format!("unknown type `{}`", name.name));
                    let d = match self.closest(&name.name, scope) {
                        Some(near) => d.help(format!("did you mean `{near}`?")),
                        None if trellis_order::lattice::library::catalogue().iter().any(|e| e.name == name.name) => {
                            d.help(format!("`{}` is a lattice of the library: write `extern {};` first", name.name, name.name))
                        }
                        None => d.help("declare it with `typedef`, or bring a lattice in with `extern`"),
                    };
                    return Err(self.report(d));
                }
            },
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

    /// A type with array suffixes.
    pub fn with_dims(&mut self, base: Ty, dims: &[ast::Dim], scope: &Rc<Scope>, span: Span) -> Res<Ty> {
        let mut ty = base;
        for d in dims.iter().rev() {
            let range = self.dimension(d, scope)?;
            ty = Ty::Array(range, Rc::new(ty));
        }
        if self.cells(&ty).is_none_or(|n| n > MAX_CELLS) {
            return self.error(span, format!("too large: more than {MAX_CELLS} cells"));
        }
        Ok(ty)
    }

    fn cells(&self, ty: &Ty) -> Option<i64> {
        match ty {
            Ty::Array(r, t) => r.len.checked_mul(self.cells(t)?),
            Ty::Struct(fields) => {
                fields.iter().try_fold(0i64, |sum, (_, t)| sum.checked_add(self.cells(t)?))
            }
            _ => Some(1),
        }
    }

    fn dimension(&mut self, d: &ast::Dim, scope: &Rc<Scope>) -> Res<Range> {
        let (ty, span) = match d {
            ast::Dim::Type(t) => (self.resolve_type(t, scope)?, t.span),
            ast::Dim::Expr(e) => {
                if let ast::ExprKind::Name(n) = &e.kind
                    && let Some(Entity::Type(ty)) = scope.find(n)
                {
                    (ty, e.span)
                } else {
                    let n = self.constant(e, scope)?;
                    if n < 1 {
                        return self.error(e.span, format!("an array cannot have {n} entries"));
                    }
                    return Ok(Range { lo: 0, len: n });
                }
            }
        };
        match ty.values() {
            Some(r) if r.len <= MAX_CELLS => Ok(r),
            Some(_) => self.error(span, "an array cannot be indexed by a type this large"),
            None => self.error(span, format!("an array cannot be indexed by `{}`", ty.describe())),
        }
    }
}
