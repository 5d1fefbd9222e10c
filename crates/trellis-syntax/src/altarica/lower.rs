//! Expressions as terms. A value may be an array or a structure; then it is a tree of terms, and equality and assignment go through
//! it leaf by leaf.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{Division, EnumId, TermId, Terms, Type, VarId};
use trellis_model::hierarchy::Domain;

use super::ast::{BinaryOp, Dom, DomKind, Expr, ExprKind, Path, Segment};
use crate::diag::{Diagnostic, Span};
use crate::text::cursor::unknown;
use crate::text::errors::{Errors, Read};

/// How many leaves a domain may have.
const MAX_LEAVES: usize = 100_000;

/// A value with structure.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree<T> {
    /// A plain value.
    Leaf(T),
    /// An array.
    Array(Vec<Tree<T>>),
    /// A structure, or a node with all that is in it.
    Fields(Vec<(String, Tree<T>)>),
}

impl<T> Tree<T> {
    /// All leaves, each with the end of its name.
    pub fn leaves(&self) -> Vec<(String, &T)> {
        let mut all = vec![];
        self.collect(String::new(), &mut all);
        all
    }

    fn collect<'a>(&'a self, name: String, all: &mut Vec<(String, &'a T)>) {
        match self {
            Tree::Leaf(t) => all.push((name, t)),
            Tree::Array(list) => {
                list.iter().enumerate().for_each(|(i, t)| t.collect(format!("{name}[{i}]"), all));
            }
            Tree::Fields(list) => list.iter().for_each(|(f, t)| t.collect(format!("{name}.{f}"), all)),
        }
    }

    /// The same tree with other leaves.
    pub fn map<U>(&self, leaf: &mut impl FnMut(String, &T) -> U) -> Tree<U> {
        self.map_named(String::new(), leaf)
    }

    fn map_named<U>(&self, name: String, leaf: &mut impl FnMut(String, &T) -> U) -> Tree<U> {
        match self {
            Tree::Leaf(t) => Tree::Leaf(leaf(name, t)),
            Tree::Array(list) => {
                let entry = |(i, t): (usize, &Tree<T>)| t.map_named(format!("{name}[{i}]"), leaf);
                Tree::Array(list.iter().enumerate().map(entry).collect())
            }
            Tree::Fields(list) => {
                let field = |(f, t): &(String, Tree<T>)| (f.clone(), t.map_named(format!("{name}.{f}"), leaf));
                Tree::Fields(list.iter().map(field).collect())
            }
        }
    }
}

/// The names that an expression may use.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Variables, parameters, and sub-nodes with all that is in them.
    pub names: FxHashMap<String, Tree<TermId>>,
}

/// What all expressions of a model share.
pub struct Lower<'e> {
    pub terms: Terms,
    /// All literals.
    pub literals: EnumId,
    pub literal_numbers: FxHashMap<String, u32>,
    /// Constants with their values.
    pub constants: FxHashMap<String, TermId>,
    /// Domains that have names.
    pub domains: FxHashMap<String, Tree<Domain>>,
    /// State variables that only their own node should read.
    pub private: FxHashSet<VarId>,
    pub errors: &'e mut Errors,
}

impl Lower<'_> {
    pub fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Read<T> {
        self.errors.fail(Diagnostic::error(span, message))
    }

    // Domains.

    /// What a domain means, with the values of parameters in scope.
    pub fn dom(&mut self, scope: &Scope, dom: &Dom) -> Read<Tree<Domain>> {
        Ok(match &dom.kind {
            DomKind::Bool => Tree::Leaf(Domain::Bool),
            DomKind::Integer => Tree::Leaf(Domain::Integer),
            DomKind::Range(low, high) => {
                let (l, h) = (self.constant(scope, low)?, self.constant(scope, high)?);
                if l > h {
                    return self.fail(dom.span, format!("this range is empty: {l} is greater than {h}"));
                }
                Tree::Leaf(Domain::Range(l, h))
            }
            DomKind::Enum(names) => {
                let mut all: Vec<u32> = vec![];
                for name in names {
                    let number = self.literal_numbers[&name.text];
                    if all.contains(&number) {
                        return self.fail(name.span, format!("`{}` is in this enumeration twice", name.text));
                    }
                    all.push(number);
                }
                Tree::Leaf(Domain::Literals(all))
            }
            DomKind::Named(name) => match self.domains.get(name) {
                Some(tree) => tree.clone(),
                None => {
                    let there_are: Vec<String> = self.domains.keys().cloned().collect();
                    let d = unknown("domain", name, dom.span, there_are.iter().map(String::as_str));
                    return self.errors.fail(d);
                }
            },
            DomKind::Struct(fields) => {
                let mut all: Vec<(String, Tree<Domain>)> = vec![];
                for (names, field) in fields {
                    let tree = self.dom(scope, field)?;
                    for name in names {
                        if all.iter().any(|(f, _)| *f == name.text) {
                            return self.fail(name.span, format!("there are two fields `{}`", name.text));
                        }
                        all.push((name.text.clone(), tree.clone()));
                    }
                }
                Tree::Fields(all)
            }
            DomKind::Array(base, sizes) => {
                let tree = self.dom(scope, base)?;
                self.array(scope, tree, sizes)?
            }
        })
    }

    /// An array of something; `bool[2][3]` is an array of three arrays of two (LaBRI's description of the language, domains).
    pub fn array<T: Clone>(&mut self, scope: &Scope, base: Tree<T>, sizes: &[Expr]) -> Read<Tree<T>> {
        let mut tree = base;
        for size in sizes {
            let n = self.constant(scope, size)?;
            let leaves = tree.leaves().len().max(1);
            match usize::try_from(n) {
                Ok(n) if n > 0 && n.saturating_mul(leaves) <= MAX_LEAVES => {
                    tree = Tree::Array(vec![tree; n]);
                }
                Ok(0) | Err(_) => return self.fail(size.span, format!("an array cannot have {n} entries")),
                Ok(_) => return self.fail(size.span, format!("an array of {n} entries is too large")),
            }
        }
        Ok(tree)
    }

    /// The type of the variables that have a domain.
    pub fn type_of(&self, domain: &Domain) -> Type {
        match domain {
            Domain::Bool => Type::Bool,
            Domain::Integer => Type::Int,
            Domain::Range(low, high) => Type::Range(*low, *high),
            Domain::Literals(_) => Type::Enum(self.literals),
        }
    }

    // Expressions.

    /// An expression whose value is a number that is known now.
    pub fn constant(&mut self, scope: &Scope, e: &Expr) -> Read<i64> {
        let t = self.integer(scope, e)?;
        match self.terms.as_int(t) {
            Some(n) => Ok(n),
            None => self.fail(e.span, "this must be a constant"),
        }
    }

    /// A condition.
    pub fn boolean(&mut self, scope: &Scope, e: &Expr) -> Read<TermId> {
        let t = self.scalar(scope, e)?;
        match self.terms.ty(t) {
            Type::Bool => Ok(t),
            ty => self.fail(e.span, format!("expected a condition, found {}", describe(ty))),
        }
    }

    fn integer(&mut self, scope: &Scope, e: &Expr) -> Read<TermId> {
        let t = self.scalar(scope, e)?;
        match self.terms.ty(t) {
            ty if ty.is_int() => Ok(t),
            ty => self.fail(e.span, format!("expected a number, found {}", describe(ty))),
        }
    }

    /// A plain value.
    pub fn scalar(&mut self, scope: &Scope, e: &Expr) -> Read<TermId> {
        match self.value(scope, e)? {
            Tree::Leaf(t) => Ok(t),
            Tree::Array(_) => self.fail(e.span, "this is an array; choose one of its entries"),
            Tree::Fields(_) => self.fail(e.span, "this is a structure or a node; choose one of its parts"),
        }
    }

    /// Any value.
    pub fn value(&mut self, scope: &Scope, e: &Expr) -> Read<Tree<TermId>> {
        let leaf = match &e.kind {
            ExprKind::Bool(b) => self.terms.bool(*b),
            ExprKind::Int(n) => self.terms.int(*n),
            ExprKind::Path(path) => return self.path(scope, path),
            ExprKind::Not(a) => {
                let a = self.boolean(scope, a)?;
                self.terms.not(a)
            }
            ExprKind::Neg(a) => {
                let a = self.integer(scope, a)?;
                self.terms.neg(a)
            }
            ExprKind::Binary(op, ..) if matches!(op, BinaryOp::And | BinaryOp::Or) => self.chain(scope, *op, e)?,
            ExprKind::Binary(op, a, b) => self.binary(scope, *op, a, b)?,
            ExprKind::If(c, a, b) => {
                let c = self.boolean(scope, c)?;
                let (x, y) = (self.value(scope, a)?, self.value(scope, b)?);
                return self.choice(c, &x, &y, b.span);
            }
            ExprKind::Extreme(least, all) => {
                let mut all: Vec<TermId> = all.iter().map(|e| self.integer(scope, e)).collect::<Read<_>>()?;
                let mut best = all.remove(0);
                for t in all {
                    let better = if *least { self.terms.lt(t, best) } else { self.terms.lt(best, t) };
                    best = self.terms.ite(better, t, best);
                }
                best
            }
            ExprKind::Quantified(..) | ExprKind::Apply(..) => {
                return self.fail(e.span, "quantifiers and relations cannot stand within an expression");
            }
        };
        Ok(Tree::Leaf(leaf))
    }

    /// A long conjunction or disjunction leans to the left; it is walked without recursion.
    fn chain(&mut self, scope: &Scope, op: BinaryOp, e: &Expr) -> Read<TermId> {
        let mut parts = vec![];
        let mut at = e;
        while let ExprKind::Binary(same, a, b) = &at.kind
            && *same == op
        {
            parts.push(&**b);
            at = a;
        }
        parts.push(at);
        let all: Vec<TermId> = parts.into_iter().rev().map(|e| self.boolean(scope, e)).collect::<Read<_>>()?;
        Ok(if op == BinaryOp::And { self.terms.and(all) } else { self.terms.or(all) })
    }

    fn binary(&mut self, scope: &Scope, op: BinaryOp, a: &Expr, b: &Expr) -> Read<TermId> {
        use BinaryOp::*;
        match op {
            And | Or | Implies => {
                let (x, y) = (self.boolean(scope, a)?, self.boolean(scope, b)?);
                Ok(self.terms.implies(x, y))
            }
            Eq | Ne => {
                let (x, y) = (self.value(scope, a)?, self.value(scope, b)?);
                let same = self.equal(&x, &y, a.span.to(b.span))?;
                Ok(if op == Eq { same } else { self.terms.not(same) })
            }
            _ => {
                let (x, y) = (self.integer(scope, a)?, self.integer(scope, b)?);
                Ok(match op {
                    Lt => self.terms.lt(x, y),
                    Le => self.terms.le(x, y),
                    Gt => self.terms.lt(y, x),
                    Ge => self.terms.le(y, x),
                    Add => self.terms.add([x, y]),
                    Sub => self.terms.sub(x, y),
                    Mul => self.terms.mul(x, y),
                    _ => {
                        let zero = self.terms.bounds(y).is_none_or(|(low, high)| low <= 0 && high >= 0);
                        if zero {
                            return self.fail(b.span, "this may be zero, and then the quotient has no value");
                        }
                        match op {
                            Div => self.terms.div(Division::Truncating, x, y),
                            _ => self.terms.rem(Division::Truncating, x, y),
                        }
                    }
                })
            }
        }
    }

    /// Are two values equal, leaf by leaf?
    pub fn equal(&mut self, a: &Tree<TermId>, b: &Tree<TermId>, span: Span) -> Read<TermId> {
        let pairs = self.pairs(a, b, span)?;
        let all: Vec<TermId> = pairs.into_iter().map(|(x, y)| self.terms.eq(x, y)).collect();
        Ok(self.terms.and(all))
    }

    /// The leaves of two values side by side, if they fit.
    pub fn pairs(&mut self, a: &Tree<TermId>, b: &Tree<TermId>, span: Span) -> Read<Vec<(TermId, TermId)>> {
        let (x, y) = (a.leaves(), b.leaves());
        if x.len() != y.len() || x.iter().zip(&y).any(|(p, q)| p.0 != q.0) {
            return self.fail(span, "these have different structures");
        }
        for ((_, p), (_, q)) in x.iter().zip(&y) {
            let (s, t) = (self.terms.ty(**p), self.terms.ty(**q));
            if s != t && !(s.is_int() && t.is_int()) {
                return self.fail(span, format!("{} meets {}", describe(s), describe(t)));
            }
        }
        Ok(x.into_iter().zip(y).map(|(p, q)| (*p.1, *q.1)).collect())
    }

    fn choice(&mut self, c: TermId, a: &Tree<TermId>, b: &Tree<TermId>, span: Span) -> Read<Tree<TermId>> {
        let mut pairs = self.pairs(a, b, span)?.into_iter();
        let terms = &mut self.terms;
        Ok(a.map(&mut |_, &x| pairs.next().map_or(x, |(x, y)| terms.ite(c, x, y))))
    }

    // Paths.

    /// What a path stands for.
    pub fn path(&mut self, scope: &Scope, path: &Path) -> Read<Tree<TermId>> {
        let name = &path.first.text;
        let mut tree = match (scope.names.get(name), self.constants.get(name), self.literal_numbers.get(name)) {
            (Some(tree), ..) => tree.clone(),
            (None, Some(value), _) => Tree::Leaf(*value),
            (None, None, Some(&n)) => Tree::Leaf(self.terms.enum_lit(self.literals, n)),
            (None, None, None) => {
                let mut there_are: Vec<String> = scope.names.keys().cloned().collect();
                there_are.extend(self.constants.keys().cloned());
                there_are.extend(self.literal_numbers.keys().cloned());
                there_are.sort();
                let d = unknown("variable, constant or literal", name, path.first.span, there_are.iter().map(|s| &**s));
                return self.errors.fail(d);
            }
        };
        for segment in &path.rest {
            tree = self.step(scope, tree, segment)?;
        }
        if !path.rest.is_empty()
            && let Tree::Leaf(t) = tree
            && let trellis_expr::Term::Var(v) = *self.terms.get(t)
            && self.private.contains(&v)
        {
            let told = "this state variable is not `public`, and is read from outside its node";
            self.errors.push(Diagnostic::warning(path.span, told));
        }
        Ok(tree)
    }

    fn step(&mut self, scope: &Scope, tree: Tree<TermId>, segment: &Segment) -> Read<Tree<TermId>> {
        match (segment, tree) {
            (Segment::Name(name), Tree::Fields(fields)) => match fields.iter().find(|(f, _)| *f == name.text) {
                Some((_, tree)) => Ok(tree.clone()),
                None => {
                    let d = unknown("part", &name.text, name.span, fields.iter().map(|(f, _)| &**f));
                    self.errors.fail(d)
                }
            },
            (Segment::Name(name), Tree::Array(_)) => {
                self.fail(name.span, "this is an array; choose an entry first, like `a[0]`")
            }
            (Segment::Name(name), Tree::Leaf(_)) => {
                self.fail(name.span, format!("there is no part `{}` in a plain value", name.text))
            }
            (Segment::Index(e), Tree::Array(mut entries)) => {
                let n = self.constant(scope, e)?;
                match usize::try_from(n) {
                    Ok(i) if i < entries.len() => Ok(entries.swap_remove(i)),
                    _ => self.fail(e.span, format!("there is no entry {n}: the array has {}", entries.len())),
                }
            }
            (Segment::Index(e), _) => self.fail(e.span, "this is no array"),
        }
    }
}

/// A type, for a message.
pub fn describe(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "a truth value",
        Type::Enum(_) => "a literal",
        _ => "a number",
    }
}
