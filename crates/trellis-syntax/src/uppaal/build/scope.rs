//! What a name stands for.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trellis_expr::TermId;

use super::lattice::LatticePlace;
use super::place::{ChanPlace, Place};
use super::types::Ty;
use super::{Builder, ast};
use crate::diag::{Diagnostic, Span};
use crate::text::errors::closest;

/// A block of names inside another.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The block around it, and how many of that block's names are visible here: a function sees what stands before it.
    parent: Option<(Rc<Scope>, usize)>,
    names: RefCell<FxHashMap<String, (usize, Entity)>>,
}

/// What a name can stand for.
#[derive(Debug, Clone)]
pub(crate) enum Entity {
    /// A scalar that cannot be assigned to.
    Const(Value),
    /// A variable, or a constant array or struct.
    Var(Place),
    Lattice(LatticePlace),
    Chan(ChanPlace),
    /// Something that was already refused where it was declared.
    Broken,
    /// What only costs and statistics need: a floating-point number, a hybrid clock. It may be assigned to, which is left out, and not looked at.
    LeftOut(&'static str),
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

/// A function and where it was declared.
#[derive(Debug)]
pub(crate) struct FuncDef {
    pub ast: Arc<ast::Function>,
    /// The names it sees.
    pub scope: Rc<Scope>,
    /// Whether it has been looked into.
    pub called: Cell<bool>,
}

/// The processes made from one name of the system line.
#[derive(Debug)]
pub(crate) struct Family {
    pub name: String,
    /// How many arguments pick a member.
    pub params: usize,
    /// The members by their arguments: index of the process, its local names.
    pub members: FxHashMap<Vec<i64>, (usize, Rc<Scope>)>,
    /// The arguments of the first member.
    pub first: Vec<i64>,
}

impl Scope {
    pub fn root() -> Rc<Scope> {
        Rc::new(Scope { parent: None, names: RefCell::default() })
    }

    pub fn child(parent: &Rc<Scope>) -> Rc<Scope> {
        Scope::below(parent, usize::MAX)
    }

    /// A block that sees only what its parent contains now.
    pub fn from_here(parent: &Rc<Scope>) -> Rc<Scope> {
        Scope::below(parent, parent.names.borrow().len())
    }

    fn below(parent: &Rc<Scope>, visible: usize) -> Rc<Scope> {
        Rc::new(Scope { parent: Some((parent.clone(), visible)), names: RefCell::default() })
    }

    /// Innermost first; whether it stands in the outermost block, too.
    fn lookup(&self, name: &str, early: bool) -> Option<(Entity, bool)> {
        let (mut scope, mut visible) = (self, usize::MAX);
        loop {
            if let Some((at, e)) = scope.names.borrow().get(name)
                && (*at < visible || early)
            {
                return Some((e.clone(), scope.parent.is_none()));
            }
            let (parent, n) = scope.parent.as_ref()?;
            (scope, visible) = (parent, *n);
        }
    }

    /// What a name stands for here, innermost first.
    pub fn find(&self, name: &str) -> Option<Entity> {
        self.lookup(name, false).map(|(e, _)| e)
    }

    /// Is the name, as seen from here, that of a global constant?
    pub fn is_global_const(&self, name: &str) -> bool {
        matches!(self.lookup(name, false), Some((Entity::Const(_), true)))
    }

    /// Only in this block.
    pub fn here(&self, name: &str) -> Option<Entity> {
        self.names.borrow().get(name).map(|(_, e)| e.clone())
    }

    /// Declares a name, or declares it anew in its old place.
    pub fn set(&self, name: &str, e: Entity) {
        let mut names = self.names.borrow_mut();
        let next = names.len();
        let at = names.get(name).map_or(next, |(at, _)| *at);
        names.insert(name.to_string(), (at, e));
    }

    /// The names of this block.
    pub fn own_names(&self) -> Vec<String> {
        self.names.borrow().keys().cloned().collect()
    }

    /// Visible names, innermost first: as many as one would compare with a misspelt one.
    fn some_names(&self, out: &mut Vec<String>) {
        out.extend(self.names.borrow().keys().take(1000).cloned());
        if let Some((p, _)) = &self.parent {
            p.some_names(out);
        }
    }
}

/// The name of a list that was probably meant.
pub(crate) fn closest_of(name: &str, names: impl IntoIterator<Item = String>) -> Option<String> {
    let names: Vec<String> = names.into_iter().collect();
    closest(name, names.iter().map(String::as_str)).map(str::to_string)
}

impl Builder<'_> {
    /// A visible name that the user may have meant.
    pub fn closest(&self, name: &str, scope: &Scope) -> Option<String> {
        let mut names = Vec::new();
        scope.some_names(&mut names);
        closest_of(name, names)
    }

    /// An error about a name that stands for nothing.
    pub fn unknown(&self, what: &str, name: &str, span: Span, scope: &Scope) -> Diagnostic {
        let d = Diagnostic::error(span, format!("unknown {what} `{}`", crate::diag::shorten(name)));
        if scope.lookup(name, true).is_some() {
            return d.help("it is declared further down; move its declaration before this");
        }
        d.meant_or(self.closest(name, scope), "declare it before it is used")
    }
}
