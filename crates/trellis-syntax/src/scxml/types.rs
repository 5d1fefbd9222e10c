//! Data and expressions as terms, with their types.
//!
//! A variable has the type that it is declared with, or that of its initial value. String literals are symbols: all variables that
//! start with one, and have no type of their own, are of one enumeration, of all the string literals in the chart. There are no
//! conversions: what compares or mixes values of different types is refused.

use rustc_hash::FxHashMap;
use trellis_expr::defined::Defined;
use trellis_expr::{Division, EnumId, StmtId, TermId, Type, VarId};

use super::expr::{Expr, Node, Op};
use super::lower::Lower;
use super::tree::{Action, Block, DataType, Delay};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use crate::text::errors::closest;

/// The variables of the data model.
#[derive(Default)]
pub struct DataModel {
    /// In the order in which they are declared.
    pub variables: Vec<(String, VarId)>,
    names: FxHashMap<String, VarId>,
    /// The enumeration of all string literals.
    strings: Option<EnumId>,
    enums: FxHashMap<Vec<String>, EnumId>,
    defined: Defined,
}

impl Lower<'_> {
    /// Declares the data; answers with the statements that give them their initial values.
    pub fn declare_data(&mut self, properties: &[Expr]) -> Vec<StmtId> {
        let mut literals: Vec<String> = vec![];
        let mut see = |e: &Expr| {
            e.visit(&mut |e| {
                if let Node::Text(text) = &e.node
                    && !literals.contains(text)
                {
                    literals.push(text.clone());
                }
            });
        };
        let tree = self.tree;
        tree.data.iter().map(|d| &d.expr).for_each(&mut see);
        tree.transitions.iter().filter_map(|t| t.cond.as_ref()).for_each(&mut see);
        for block in tree.blocks() {
            visit_block(block, &mut see);
        }
        properties.iter().for_each(&mut see);
        if !literals.is_empty() {
            self.data.strings = Some(self.terms.declare_enum("Symbol", literals));
        }
        let mut initial = vec![];
        for data in &tree.data {
            let span = data.span;
            let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            if data.name.is_empty()
                || data.name.contains(|c| !word(c))
                || data.name.starts_with(|c: char| c.is_numeric())
            {
                self.error(span, "this is not the name of a variable");
                continue;
            }
            let given = data.ty.as_ref().map(|ty| self.data_type(ty));
            let shape = given.or_else(|| self.shape(&data.expr));
            let Some(ty) = shape.or(self.data.strings.map(Type::Enum)) else { continue };
            let Some(value) = self.term(&data.expr, Some(ty)) else { continue };
            let within = match ty {
                Type::Range(lo, hi) => self.terms.lies_within(value, lo, hi),
                _ => true,
            };
            if self.terms.may_fault(value) || !within {
                self.error(data.expr.span, "this may have no value in the type of the variable");
                continue;
            }
            if self.data.names.contains_key(&data.name) {
                self.error(span, format!("the variable `{}` is declared twice", shorten(&data.name)));
                continue;
            }
            let v = self.declare(&data.name, ty, false);
            self.data.names.insert(data.name.clone(), v);
            self.data.variables.push((data.name.clone(), v));
            initial.push(self.terms.assign(v, value));
        }
        initial
    }

    /// All string literals in the chart.
    pub fn symbols(&self) -> Vec<String> {
        self.data.strings.map_or_else(Vec::new, |e| self.terms.enumeration(e).literals.clone())
    }

    /// The type of all string literals; it is wanted here.
    pub fn symbol_type(&mut self, span: Span) -> Option<Type> {
        if self.data.strings.is_none() {
            self.error(span, "expected a time such as `'1s'`");
        }
        self.data.strings.map(Type::Enum)
    }

    fn data_type(&mut self, ty: &DataType) -> Type {
        match ty {
            DataType::Bool => Type::Bool,
            DataType::Int => Type::Int,
            DataType::Range(lo, hi) => Type::Range(*lo, *hi),
            DataType::Enum(literals) => {
                let terms = &mut self.terms;
                let declare = || terms.declare_enum("Symbol", literals.clone());
                Type::Enum(*self.data.enums.entry(literals.clone()).or_insert_with(declare))
            }
        }
    }

    /// The type of an expression, if it does not depend on where it stands. Mistakes are found later.
    fn shape(&self, e: &Expr) -> Option<Type> {
        match &e.node {
            Node::Text(_) => None,
            Node::Int(_) | Node::Neg(_) => Some(Type::Int),
            Node::Bool(_) | Node::In(_) | Node::Not(_) => Some(Type::Bool),
            Node::Name(name) => self.data.names.get(name).map(|&v| self.terms.sort(self.terms.variable(v).ty)),
            Node::Binary(op, ..) => match op {
                Op::Add | Op::Sub | Op::Mul | Op::Rem | Op::Trunc | Op::Floor => Some(Type::Int),
                _ => Some(Type::Bool),
            },
            Node::Cond(_, a, b) => self.shape(a).or_else(|| self.shape(b)),
        }
    }

    /// The term of an expression, which must be of the type if there is one. Mistakes are reported.
    pub fn term(&mut self, e: &Expr, want: Option<Type>) -> Option<TermId> {
        let want = want.map(|ty| self.terms.sort(ty));
        let t = self.any_term(e, want)?;
        let found = self.terms.ty(t);
        match want {
            Some(want) if want != found => {
                let (want, found) = (self.describe_type(want), self.describe_type(found));
                self.error(e.span, format!("expected {want}, found {found}"));
                None
            }
            _ => Some(t),
        }
    }

    fn describe_type(&self, ty: Type) -> String {
        match ty {
            Type::Bool => "a truth value".into(),
            Type::Enum(e) => format!("one of '{}'", shorten(&self.terms.enumeration(e).literals.join("', '"))),
            _ => "an integer".into(),
        }
    }

    fn any_term(&mut self, e: &Expr, want: Option<Type>) -> Option<TermId> {
        match &e.node {
            Node::Bool(b) => Some(self.terms.bool(*b)),
            Node::Int(n) => Some(self.terms.big(n.clone())),
            Node::Text(text) => {
                let enumeration = match want {
                    Some(Type::Enum(e)) => e,
                    _ => self.data.strings?,
                };
                match self.terms.enumeration(enumeration).literals.iter().position(|l| l == text) {
                    Some(n) => Some(self.terms.enum_lit(enumeration, n as u32)),
                    None => {
                        let among = self.describe_type(Type::Enum(enumeration));
                        self.error(e.span, format!("expected {among}, found '{}'", shorten(text)));
                        None
                    }
                }
            }
            Node::Name(name) => {
                let v = self.data_variable(name, e.span)?;
                Some(self.terms.var(v))
            }
            Node::In(name) => self.is_in(name, e.span),
            Node::Not(a) => {
                let a = self.term(a, Some(Type::Bool))?;
                Some(self.terms.not(a))
            }
            Node::Neg(a) => {
                let a = self.term(a, Some(Type::Int))?;
                Some(self.terms.neg(a))
            }
            Node::Cond(c, a, b) => {
                let ty = want.or_else(|| self.shape(a)).or_else(|| self.shape(b)).or(self.data.strings.map(Type::Enum));
                let c = self.term(c, Some(Type::Bool))?;
                let (a, b) = (self.term(a, ty)?, self.term(b, ty)?);
                Some(self.terms.ite(c, a, b))
            }
            Node::Binary(op, a, b) => {
                let ty = match op {
                    Op::Or | Op::And => Some(Type::Bool),
                    Op::Eq | Op::Ne => self.shape(a).or_else(|| self.shape(b)).or(self.data.strings.map(Type::Enum)),
                    _ => Some(Type::Int),
                };
                let (a, b) = (self.term(a, ty)?, self.term(b, ty)?);
                Some(self.binary(*op, a, b))
            }
        }
    }

    fn binary(&mut self, op: Op, a: TermId, b: TermId) -> TermId {
        let terms = &mut self.terms;
        match op {
            Op::Or => terms.or([a, b]),
            Op::And => terms.and([a, b]),
            Op::Eq => terms.eq(a, b),
            Op::Ne => terms.ne(a, b),
            Op::Lt => terms.lt(a, b),
            Op::Le => terms.le(a, b),
            Op::Gt => terms.lt(b, a),
            Op::Ge => terms.le(b, a),
            Op::Add => terms.add([a, b]),
            Op::Sub => terms.sub(a, b),
            Op::Mul => terms.mul(a, b),
            Op::Rem => terms.rem(Division::Truncating, a, b),
            Op::Trunc => terms.div(Division::Truncating, a, b),
            Op::Floor => {
                // One less than the truncated quotient where that was rounded up.
                let (q, r) = (terms.div(Division::Truncating, a, b), terms.rem(Division::Truncating, a, b));
                let zero = terms.int(0);
                let (exact, signs) = (terms.eq(r, zero), (terms.lt(r, zero), terms.lt(b, zero)));
                let up = terms.ne(signs.0, signs.1);
                let inexact = terms.not(exact);
                let up = terms.and([inexact, up]);
                let minus_one = terms.int(-1);
                let less = terms.add([q, minus_one]);
                terms.ite(up, less, q)
            }
        }
    }

    /// A variable of the data model.
    pub fn data_variable(&mut self, name: &str, span: Span) -> Option<VarId> {
        let found = self.data.names.get(name).copied();
        if found.is_none() {
            let d = Diagnostic::error(span, format!("there is no variable `{}` (yet)", shorten(name)));
            self.errors.push(d.meant(closest(name, self.data.names.keys().map(String::as_str))));
        }
        found
    }

    fn is_in(&mut self, name: &str, span: Span) -> Option<TermId> {
        let states = self.tree.states.iter().enumerate().skip(1);
        if let Some((s, _)) = states.clone().find(|(_, state)| state.name == name) {
            return Some(self.active(s));
        }
        if self.tree.histories.iter().any(|h| h.name == name) {
            // A history is never active itself.
            return Some(self.terms.bool(false));
        }
        let d = Diagnostic::error(span, format!("there is no state `{}`", shorten(name)));
        self.errors.push(d.meant(closest(name, states.map(|(_, state)| state.name.as_str()))));
        None
    }

    /// Where the term has a value, and where it is true; neither faults.
    pub fn guarded(&mut self, t: TermId) -> (TermId, TermId) {
        let defined = self.data.defined.of(&mut self.terms, t);
        let holds = self.data.defined.holds(&mut self.terms, t);
        // Only foreign functions have no answer, and there are none.
        (defined.unwrap_or(t), holds.unwrap_or(t))
    }

    /// Where a term of integers has a value that fits the type.
    pub fn fits(&mut self, t: TermId, ty: Type) -> TermId {
        let (mut fits, lo_hi) = (self.data.defined.of(&mut self.terms, t).unwrap_or(t), self.terms.type_bounds(ty));
        if let (Type::Range(..), Some((lo, hi))) = (ty, lo_hi)
            && !self.terms.lies_within(t, lo, hi)
        {
            let (lo, hi) = (self.terms.int(lo), self.terms.int(hi));
            let (above, below) = (self.terms.le(lo, t), self.terms.le(t, hi));
            fits = self.terms.and([fits, above, below]);
        }
        fits
    }
}

/// All expressions in executable content.
pub fn visit_block<'a>(block: &'a Block, see: &mut dyn FnMut(&'a Expr)) {
    for action in block {
        match action {
            Action::Assign { expr, .. } => see(expr),
            Action::Send { delay: Delay::Computed(expr), .. } => see(expr),
            Action::Raise(_) | Action::Send { .. } | Action::Cancel(_) => {}
            Action::If { branches, otherwise } => {
                for (cond, block) in branches {
                    see(cond);
                    visit_block(block, see);
                }
                visit_block(otherwise, see);
            }
        }
    }
}
