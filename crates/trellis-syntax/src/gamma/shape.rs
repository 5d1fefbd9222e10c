//! Values that are made of others: a record is its fields, an array of records is a record of arrays, and what is left over are single terms. So
//! engines and interpreter know nothing of records.

use trellis_expr::{TermId, Type};

use super::ast::{self, Expr, Name};
use super::packages::{lookup, unknown};
use super::terms::{Scope, Words};
use crate::text::errors::Read;

/// What a type is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Leaf(Type),
    /// A record: its name and its fields.
    Record(String, Vec<(String, Shape)>),
    /// An array of records, of so many dimensions, field by field.
    Records(usize, String, Vec<(String, Shape)>),
}

/// A value, in the shape of its type.
#[derive(Debug, Clone)]
pub enum Tree {
    Leaf(TermId),
    Record(String, Vec<(String, Tree)>),
    Records(usize, String, Vec<(String, Tree)>),
}

impl Shape {
    /// Its leaves, each with the way to it: `.f.g`.
    pub fn leaves(&self) -> Vec<(String, Type)> {
        match self {
            Shape::Leaf(ty) => vec![(String::new(), *ty)],
            Shape::Record(_, fields) | Shape::Records(_, _, fields) => {
                let of = |(name, shape): &(String, Shape)| {
                    let name = name.clone();
                    shape.leaves().into_iter().map(move |(way, ty)| (format!(".{name}{way}"), ty))
                };
                fields.iter().flat_map(of).collect()
            }
        }
    }

    fn map(&self, f: &mut impl FnMut(Type) -> Type) -> Shape {
        let mut all = |fields: &[(String, Shape)]| fields.iter().map(|(n, s)| (n.clone(), s.map(f))).collect();
        match self {
            Shape::Record(name, fields) => Shape::Record(name.clone(), all(fields)),
            Shape::Records(n, name, fields) => Shape::Records(*n, name.clone(), all(fields)),
            Shape::Leaf(ty) => Shape::Leaf(f(*ty)),
        }
    }
}

impl Tree {
    /// Its leaves, in order.
    pub fn leaves(&self) -> Vec<TermId> {
        match self {
            Tree::Leaf(t) => vec![*t],
            Tree::Record(_, fields) | Tree::Records(_, _, fields) => {
                fields.iter().flat_map(|(_, t)| t.leaves()).collect()
            }
        }
    }

    /// The same with other leaves.
    pub fn map(&self, f: &mut impl FnMut(TermId) -> TermId) -> Tree {
        let mut all = |fields: &[(String, Tree)]| fields.iter().map(|(n, t)| (n.clone(), t.map(f))).collect();
        match self {
            Tree::Record(name, fields) => Tree::Record(name.clone(), all(fields)),
            Tree::Records(n, name, fields) => Tree::Records(*n, name.clone(), all(fields)),
            Tree::Leaf(t) => Tree::Leaf(f(*t)),
        }
    }

    /// A field of a record.
    pub fn field(&self, name: &str) -> Option<&Tree> {
        match self {
            Tree::Record(_, fields) => fields.iter().find(|(n, _)| n == name).map(|(_, t)| t),
            _ => None,
        }
    }

    /// Of an array of records: one entry, the leaves of which somebody picks.
    pub fn entry(&self, pick: &mut impl FnMut(TermId) -> TermId) -> Option<Tree> {
        let Tree::Records(n, name, fields) = self.map(pick) else { return None };
        Some(if n > 1 { Tree::Records(n - 1, name, fields) } else { Tree::Record(name, fields) })
    }

    /// Is it made as another one is?
    pub fn is_like(&self, other: &Tree) -> bool {
        match (self, other) {
            (Tree::Leaf(_), Tree::Leaf(_)) => true,
            (Tree::Record(a, x), Tree::Record(b, y)) => a == b && x.len() == y.len(),
            (Tree::Records(n, a, x), Tree::Records(m, b, y)) => n == m && a == b && x.len() == y.len(),
            _ => false,
        }
    }
}

impl<'a> Words<'a, '_> {
    /// What a type is made of.
    pub fn shape(&mut self, file: usize, ty: &ast::Type<'a>) -> Read<Shape> {
        match ty {
            ast::Type::Bool => Ok(Shape::Leaf(Type::Bool)),
            ast::Type::Int => Ok(Shape::Leaf(Type::Int)),
            ast::Type::Range(bounds) => {
                let mut scope = Scope { file, ..Scope::default() };
                let lo = self.typed(&mut scope, &bounds[0], Type::Int)?;
                let hi = self.typed(&mut scope, &bounds[1], Type::Int)?;
                match (self.sys.terms.as_int(lo), self.sys.terms.as_int(hi)) {
                    (Some(lo), Some(hi)) if lo <= hi => Ok(Shape::Leaf(Type::Range(lo, hi))),
                    _ => self.fail(bounds[0].span, "bounds must be constants, the smaller one first"),
                }
            }
            ast::Type::Array(entry) => {
                let entry = self.shape(file, entry)?;
                let leaves = |w: &mut Self, s: &Shape| s.map(&mut |ty| w.t().array_type(Type::Int, ty));
                Ok(match leaves(self, &entry) {
                    Shape::Record(name, fields) => Shape::Records(1, name, fields),
                    Shape::Records(n, name, fields) => Shape::Records(n + 1, name, fields),
                    leaf => leaf,
                })
            }
            ast::Type::Record(fields, span) => self.fields(file, "record", fields, *span),
            ast::Type::Other(what, span) => self.fail(*span, format!("{what} are not read")),
            ast::Type::Enum(literals) => {
                let key = (usize::MAX, format!("{:?}", literals.first().map(|l| l.1)));
                Ok(Shape::Leaf(Type::Enum(self.enumeration(key, "enum", literals))))
            }
            ast::Type::Named(name) => {
                let files = self.files;
                let found = lookup(files, file, |p| p.types.iter().find(|t| t.0.0 == name.0));
                let Some((there, (declared, ty))) = found else {
                    let all = files.iter().flat_map(|f| f.package.types.iter().map(|t| t.0.0));
                    let error = unknown("type", *name, all);
                    return self.errors.fail(error);
                };
                if self.types >= super::terms::MAX_CALLS {
                    return self.fail(name.1, "this type is in itself");
                }
                self.types += 1;
                let shape = match ty {
                    ast::Type::Enum(literals) => {
                        let e = self.enumeration((there, declared.0.into()), declared.0, literals);
                        Ok(Shape::Leaf(Type::Enum(e)))
                    }
                    ast::Type::Record(fields, span) => self.fields(there, declared.0, fields, *span),
                    _ => self.shape(there, ty),
                };
                self.types -= 1;
                shape
            }
        }
    }

    fn fields(
        &mut self,
        file: usize,
        name: &str,
        fields: &[(Name<'a>, ast::Type<'a>)],
        span: crate::diag::Span,
    ) -> Read<Shape> {
        let mut all: Vec<(String, Shape)> = vec![];
        for (field, ty) in fields {
            if all.iter().any(|(n, _)| n == field.0) {
                return self.fail(field.1, format!("there is another field `{}`", field.0));
            }
            let shape = self.shape(file, ty)?;
            all.push((field.0.to_string(), shape));
        }
        if all.is_empty() {
            return self.fail(span, "a record has fields");
        }
        Ok(Shape::Record(name.to_string(), all))
    }

    /// A type that is no record.
    pub fn ty(&mut self, file: usize, ty: &ast::Type<'a>, span: crate::diag::Span) -> Read<Type> {
        match self.shape(file, ty)? {
            Shape::Leaf(ty) => Ok(ty),
            _ => self.fail(span, "records are not read here"),
        }
    }

    /// Variables for a value.
    pub fn declare(&mut self, name: &str, shape: &Shape) -> Tree {
        match shape {
            Shape::Leaf(ty) => {
                let v = self.t().declare(name, *ty);
                Tree::Leaf(self.t().var(v))
            }
            Shape::Record(record, fields) => Tree::Record(record.clone(), self.declare_fields(name, fields)),
            Shape::Records(n, record, fields) => Tree::Records(*n, record.clone(), self.declare_fields(name, fields)),
        }
    }

    fn declare_fields(&mut self, name: &str, fields: &[(String, Shape)]) -> Vec<(String, Tree)> {
        fields.iter().map(|(f, s)| (f.clone(), self.declare(&format!("{name}.{f}"), s))).collect()
    }

    /// The value that variables of a type start with.
    pub fn default_tree(&mut self, shape: &Shape) -> Tree {
        let mut all = |fields: &[(String, Shape)]| -> Vec<(String, Tree)> {
            fields.iter().map(|(f, s)| (f.clone(), self.default_tree(s))).collect()
        };
        match shape {
            Shape::Record(name, fields) => Tree::Record(name.clone(), all(fields)),
            Shape::Records(n, name, fields) => Tree::Records(*n, name.clone(), all(fields)),
            Shape::Leaf(ty) => Tree::Leaf(self.default(*ty)),
        }
    }

    /// An expression of a type. What does not fit into bounds is found out where it is assigned; constants at once.
    pub fn shaped(&mut self, scope: &mut Scope<'a>, e: &Expr<'a>, want: &Shape) -> Read<Tree> {
        if let Shape::Leaf(ty) = want {
            return Ok(Tree::Leaf(self.typed(scope, e, *ty)?));
        }
        if let (ast::ExprKind::Array(entries), Shape::Records(n, name, fields)) = (&e.kind, want) {
            let unwrap = |w: &mut Self, s: &Shape| {
                s.map(&mut |ty| match ty {
                    Type::Array(_, entry) => w.sys.terms.type_of_id(entry),
                    ty => ty,
                })
            };
            let fields: Vec<(String, Shape)> = fields.iter().map(|(f, s)| (f.clone(), unwrap(self, s))).collect();
            let entry =
                if *n > 1 { Shape::Records(n - 1, name.clone(), fields) } else { Shape::Record(name.clone(), fields) };
            let mut array = self.default_tree(want);
            for (i, value) in entries.iter().enumerate() {
                let value = self.shaped(scope, value, &entry)?.leaves();
                let i = self.t().int(i as i64);
                let mut next = value.into_iter();
                array = array.map(&mut |a| match next.next() {
                    Some(v) => self.sys.terms.store(a, i, v),
                    None => a,
                });
            }
            return Ok(array);
        }
        let found = self.tree(scope, e)?;
        let wanted = self.default_tree(want);
        if !found.is_like(&wanted) {
            let (Shape::Record(name, _) | Shape::Records(_, name, _)) = want else { return Ok(found) };
            let message = format!("expected a value of `{name}`, or an array of such");
            return self.fail(e.span, message);
        }
        Ok(found)
    }
}
