//! `volatile`: something outside the program may change the object at any time, so every read of it gives any value.
//!
//! What counts is the object, not the pointer through which it is read: an object that is not declared `volatile` changes only
//! by the program, whoever looks. A pointer that is itself `volatile` is refused when it is read.

use lang_c::ast::{Declarator, DeclaratorKind, DerivedDeclarator, PointerQualifier, TypeQualifier};
use lang_c::span::Node;
use rustc_hash::FxHashSet;
use trellis_expr::{TermId, Type, VarId};

use super::decl::Name;
use super::lower::Lower;
use super::types::CType;

/// What is `volatile`.
#[derive(Default)]
pub struct Volatile {
    /// Local variables and parameters, by the places of their declarators.
    declared: FxHashSet<usize>,
    vars: FxHashSet<VarId>,
}

impl Volatile {
    /// What is declared there is volatile.
    pub fn note(&mut self, start: usize) {
        self.declared.insert(start);
    }

    pub fn is_noted(&self, start: usize) -> bool {
        self.declared.contains(&start)
    }

    pub fn insert(&mut self, v: VarId) {
        self.vars.insert(v);
    }

    pub fn contains(&self, v: VarId) -> bool {
        self.vars.contains(&v)
    }
}

impl Lower<'_> {
    /// Is this the name of a variable that is volatile?
    pub fn is_volatile(&self, name: &str) -> bool {
        match self.lookup(name) {
            Some(Name::Variable(o)) => o.vars.iter().any(|v| self.volatile.contains(*v)),
            Some(Name::Global) => self.unit.is_volatile(name),
            _ => false,
        }
    }

    /// The value of a variable that is read now.
    pub fn observed(&mut self, v: VarId, ty: &CType) -> TermId {
        if !self.volatile.contains(v) || self.at.is_none() {
            return self.terms().var(v);
        }
        // What must hold for other terms of the expression is none of its business, and stays for later.
        let defs = std::mem::take(&mut self.defs);
        let span = self.here;
        let stmt = match self.cfa.terms.variable(v).ty {
            Type::Array(..) => self.terms().havoc(v),
            _ => self.arbitrary(v, ty),
        };
        self.emit(stmt, span);
        let now = self.terms().var(v);
        // The next read gives another value.
        let kept = self.save(now, span);
        self.defs = defs;
        kept
    }
}

/// The type, unless it is a pointer that may change at any time.
pub fn steady(ty: CType, volatile: bool) -> CType {
    match ty {
        CType::Pointer(_) if volatile => CType::other("a pointer that is `volatile`"),
        ty => ty,
    }
}

/// Is what a declarator declares volatile, if `base` says whether the type before it is?
pub fn declares_volatile(base: bool, d: &Declarator) -> bool {
    let qualified = |q: &Node<PointerQualifier>| matches!(&q.node, PointerQualifier::TypeQualifier(q) if q.node == TypeQualifier::Volatile);
    let mut here = base;
    for part in &d.derived {
        if let DerivedDeclarator::Pointer(qualifiers) = &part.node {
            here = qualifiers.iter().any(qualified);
        }
    }
    match &d.kind.node {
        DeclaratorKind::Declarator(inner) => declares_volatile(here, &inner.node),
        _ => here,
    }
}
