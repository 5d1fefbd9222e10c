//! What a name stands for.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, VarId};

use super::lattice::LatticePlace;
use super::types::Ty;
use super::{Builder, ast};

/// A block of names inside another.
#[derive(Debug)]
pub(crate) struct Scope {
    parent: Option<Rc<Scope>>,
    names: RefCell<FxHashMap<String, Entity>>,
}

/// What a name can stand for.
#[derive(Debug, Clone)]
pub(crate) enum Entity {
    /// A compile-time scalar.
    Const(Value),
    /// A variable, or a constant array or struct.
    Var(Place),
    Lattice(LatticePlace),
    Chan(ChanPlace),
    /// A clock: already refused where it was declared.
    Clock,
    Func(Rc<FuncDef>),
    Type(Ty),
    /// Processes of one name: `P`, or `P(1)`, `P(2)`.
    Family(Rc<Family>),
    /// In joining strategies: the state `x`, `y` or `joined`, by where its element starts.
    State(usize),
}

/// A scalar value: a term and what it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value {
    pub term: TermId,
    pub kind: Kind,
}

/// The kinds of scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Bool,
    Scalar(u32),
}

impl Kind {
    pub fn of(ty: &Ty) -> Kind {
        match ty {
            Ty::Bool => Kind::Bool,
            Ty::Scalar { set, .. } => Kind::Scalar(*set),
            _ => Kind::Int,
        }
    }
}

/// A variable or a part of one. Structs of arrays, arrays of structs: each scalar leaf is one flat array, and `index` says
/// where in all of them the part lies.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub ty: Ty,
    pub leaves: Vec<VarId>,
    pub index: TermId,
    pub writable: bool,
}

/// A channel or an array of them.
#[derive(Debug, Clone)]
pub(crate) struct ChanPlace {
    pub ty: Ty,
    pub base: u32,
    pub index: TermId,
}

/// A function and where it was declared.
#[derive(Debug)]
pub(crate) struct FuncDef {
    pub ast: ast::Function,
    pub scope: Rc<Scope>,
}

/// The processes made from one name of the system line.
#[derive(Debug)]
pub(crate) struct Family {
    pub name: String,
    /// How many arguments pick a member.
    pub params: usize,
    /// Arguments, index of the process, its local names.
    pub members: Vec<(Vec<i64>, usize, Rc<Scope>)>,
}

impl Scope {
    pub fn root() -> Rc<Scope> {
        Rc::new(Scope { parent: None, names: RefCell::default() })
    }

    pub fn child(parent: &Rc<Scope>) -> Rc<Scope> {
        Rc::new(Scope { parent: Some(parent.clone()), names: RefCell::default() })
    }

    /// Innermost first.
    pub fn find(&self, name: &str) -> Option<Entity> {
        let mut scope = Some(self);
        while let Some(s) = scope {
            if let Some(e) = s.names.borrow().get(name) {
                return Some(e.clone());
            }
            scope = s.parent.as_deref();
        }
        None
    }

    /// Only in this block.
    pub fn here(&self, name: &str) -> Option<Entity> {
        self.names.borrow().get(name).cloned()
    }

    pub fn set(&self, name: &str, e: Entity) {
        self.names.borrow_mut().insert(name.to_string(), e);
    }

    fn all_names(&self, out: &mut Vec<String>) {
        out.extend(self.names.borrow().keys().cloned());
        if let Some(p) = &self.parent {
            p.all_names(out);
        }
    }
}

impl Builder<'_> {
    /// A visible name that the user may have meant.
    pub fn closest(&self, name: &str, scope: &Scope) -> Option<String> {
        let mut names = Vec::new();
        scope.all_names(&mut names);
        closest_of(name, names)
    }
}

/// The name of a list that differs least, if by little.
pub(crate) fn closest_of(name: &str, names: impl IntoIterator<Item = String>) -> Option<String> {
    let limit = 1 + name.chars().count() / 4;
    names
        .into_iter()
        .map(|n| (distance(name, &n), n))
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, n)| n)
}

/// Edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let next = (diagonal + usize::from(ca.to_lowercase().ne(cb.to_lowercase()))).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}
