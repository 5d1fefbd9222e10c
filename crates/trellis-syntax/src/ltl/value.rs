//! Types: what is a number, a truth value, a formula, and what may be done with it.

use trellis_expr::{Division, Term, TermId, Type};
use trellis_model::ltl::{Formula, MAX_ATOMS};

use super::parser::Parser;
use crate::cfa::ops::integers;
use crate::diag::Span;
use crate::text::cursor::unknown;
use crate::text::errors::Read;

/// What was read, and where.
pub struct Operand {
    pub value: Value,
    pub span: Span,
}

pub enum Value {
    /// A term of the model, of any type.
    Term(TermId),
    /// Something with connectives; whether there is a temporal operator in it.
    Formula(Formula, bool),
    /// A name that nothing has; it may still be a literal of an enumeration.
    Unknown(String),
}

impl Operand {
    pub fn is_temporal(&self) -> bool {
        matches!(self.value, Value::Formula(_, true))
    }
}

/// One formula of many, of small depth.
pub fn balanced(mut all: Vec<Formula>, make: fn(Box<Formula>, Box<Formula>) -> Formula) -> Formula {
    if all.len() < 2 {
        return all.pop().unwrap_or(Formula::True);
    }
    let right = all.split_off(all.len().div_ceil(2));
    make(Box::new(balanced(all, make)), Box::new(balanced(right, make)))
}

impl Parser<'_, '_> {
    /// A truth value or a formula.
    pub fn as_formula(&mut self, x: Operand, op: &str) -> Read<Formula> {
        match x.value {
            Value::Formula(f, _) => Ok(f),
            Value::Term(t) if self.names.terms().ty(t) == Type::Bool => self.atom(t, x.span),
            Value::Term(t) => {
                let found = self.type_of(t);
                let what = if op.starts_with("a ") { op.to_string() } else { format!("`{op}`") };
                self.fail(x.span, format!("{what} needs bool or LTL, and this is {found}"))
            }
            Value::Unknown(name) => self.no_such("variable", &name, x.span),
        }
    }

    /// A term, of whatever type.
    fn as_term(&mut self, x: Operand, op: &str, needs: &str) -> Read<TermId> {
        match x.value {
            Value::Term(t) => Ok(t),
            Value::Formula(_, temporal) => {
                let found = if temporal { "LTL" } else { "bool" };
                self.fail(x.span, format!("`{op}` needs {needs}, and this is {found}"))
            }
            Value::Unknown(name) => self.no_such("variable", &name, x.span),
        }
    }

    /// A number: an integer, or a word of some width.
    fn as_number(&mut self, x: Operand, op: &str) -> Read<TermId> {
        let span = x.span;
        let t = self.as_term(x, op, "int")?;
        match self.names.terms().ty(t) {
            Type::Int | Type::Range(..) | Type::Bits { .. } => Ok(t),
            _ => {
                let found = self.type_of(t);
                self.fail(span, format!("`{op}` needs int, and this is {found}"))
            }
        }
    }

    fn type_of(&mut self, t: TermId) -> String {
        let terms = self.names.terms();
        let ty = terms.ty(t);
        terms.show_type(ty).to_string()
    }

    pub fn no_such<T>(&mut self, what: &str, name: &str, span: Span) -> Read<T> {
        if let Some(why) = self.names.complaint(name) {
            return self.fail(span, why);
        }
        let known = self.names.known();
        self.errors.fail(unknown(what, name, span, known.iter().map(String::as_str)))
    }

    /// The atom of a boolean term; equal ones and negations share a number.
    fn atom(&mut self, t: TermId, span: Span) -> Read<Formula> {
        let terms = self.names.terms();
        let opposite = match *terms.get(t) {
            Term::Bool(b) => return Ok(if b { Formula::True } else { Formula::False }),
            Term::Lt(a, b) => terms.le(b, a),
            Term::Le(a, b) => terms.lt(b, a),
            _ => terms.not(t),
        };
        let find = |t: TermId| self.atoms.iter().position(|a| a.0 == t).map(|n| Formula::Atom(n as u32));
        if let Some(f) = find(t).or_else(|| find(opposite).map(Formula::negate)) {
            return Ok(f);
        }
        if self.atoms.len() == MAX_ATOMS {
            return self.fail(span, format!("a formula may have {MAX_ATOMS} different atoms, and this is one more"));
        }
        let written = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let inner = written.strip_prefix('"').and_then(|w| w.strip_suffix('"')).filter(|w| !w.contains('"'));
        self.atoms.push((t, inner.unwrap_or(written).trim().to_string()));
        Ok(Formula::Atom(self.atoms.len() as u32 - 1))
    }

    /// A comparison; of truth values and formulas, an equivalence.
    pub fn compare(&mut self, op: &str, a: Operand, b: Operand) -> Read<Operand> {
        let span = a.span.to(b.span);
        let equality = matches!(op, "=" | "==" | "/=" | "!=" | "<>" | "≠");
        let same = matches!(op, "=" | "==");
        if equality && (self.is_logical(&a) || self.is_logical(&b)) {
            let temporal = a.is_temporal() || b.is_temporal();
            let (a, b) = (self.as_formula(a, op)?, self.as_formula(b, op)?);
            let iff = Formula::Iff(Box::new(a), Box::new(b));
            return Ok(Operand { span, value: Value::Formula(if same { iff } else { iff.negate() }, temporal) });
        }
        let (a, b) = if equality { self.alike(op, a, b)? } else { self.numbers(op, a, b)? };
        let terms = self.names.terms();
        let t = match op {
            "<" => terms.lt(a, b),
            "<=" | "≤" => terms.le(a, b),
            ">" => terms.lt(b, a),
            ">=" | "≥" => terms.le(b, a),
            _ if same => terms.eq(a, b),
            _ => terms.ne(a, b),
        };
        Ok(Operand { span, value: Value::Term(t) })
    }

    /// Is it a truth value or a formula?
    pub fn is_logical(&mut self, x: &Operand) -> bool {
        match x.value {
            Value::Formula(..) => true,
            Value::Term(t) => self.names.terms().ty(t) == Type::Bool,
            Value::Unknown(_) => false,
        }
    }

    /// Two things that can be equal. A literal of an enumeration need not be written with its type.
    fn alike(&mut self, op: &str, mut a: Operand, mut b: Operand) -> Read<(TermId, TermId)> {
        self.literal(&mut a, &b);
        self.literal(&mut b, &a);
        let span = a.span.to(b.span);
        let (a, b) = (self.as_term(a, op, "int")?, self.as_term(b, op, "int")?);
        self.fitted(op, a, b, span)
    }

    /// A name that nothing has is a literal, if the other side is of a type with such a literal.
    fn literal(&mut self, x: &mut Operand, other: &Operand) {
        let (Value::Unknown(name), Value::Term(t)) = (&x.value, &other.value) else { return };
        let terms = self.names.terms();
        if let Type::Enum(e) = terms.ty(*t)
            && let Some(n) = terms.enumeration(e).literals.iter().position(|l| l == name)
        {
            x.value = Value::Term(terms.enum_lit(e, n as u32));
        }
    }

    fn numbers(&mut self, op: &str, a: Operand, b: Operand) -> Read<(TermId, TermId)> {
        let span = a.span.to(b.span);
        let (a, b) = (self.as_number(a, op)?, self.as_number(b, op)?);
        self.fitted(op, a, b, span)
    }

    /// Of one type: integers, or a written number with a word that it fits.
    fn fitted(&mut self, op: &str, a: TermId, b: TermId, span: Span) -> Read<(TermId, TermId)> {
        let terms = self.names.terms();
        let (ta, tb) = (terms.ty(a), terms.ty(b));
        if ta == tb || (ta.is_int() && tb.is_int()) {
            return Ok((a, b));
        }
        let mut word = |ty: Type, number: TermId| match (ty, terms.get(number)) {
            (Type::Bits { width, signed }, &Term::Int(n)) => {
                let (low, high) = terms.type_bounds(ty).map_or((0, i64::MAX), |b| b);
                (low..=high).contains(&n).then(|| terms.bits(width, signed, n as u64))
            }
            _ => None,
        };
        if let Some(b) = word(ta, b) {
            return Ok((a, b));
        }
        if let Some(a) = word(tb, a) {
            return Ok((a, b));
        }
        let (a, b) = (self.type_of(a), self.type_of(b));
        self.fail(span, format!("`{op}` needs operands of one type, and these are {a} and {b}"))
    }

    pub fn calculate(&mut self, op: &str, a: Operand, b: Operand) -> Read<Operand> {
        let span = a.span.to(b.span);
        let (a, b) = self.numbers(op, a, b)?;
        let division = self.names.division();
        let terms = self.names.terms();
        let word = matches!(terms.ty(a), Type::Bits { .. });
        let t = match op {
            "/" | "div" if word || division == Division::Truncating => terms.div(Division::Truncating, a, b),
            "%" if word || division == Division::Truncating => terms.rem(Division::Truncating, a, b),
            "mod" | "rem" if word => return self.fail(span, format!("`{op}` is for integers; use `%`")),
            _ => integers(terms, op, a, b),
        };
        Ok(Operand { span, value: Value::Term(t) })
    }

    pub fn minus(&mut self, x: Operand, start: Span) -> Read<Operand> {
        let span = start.to(x.span);
        let t = self.as_number(x, "-")?;
        Ok(Operand { span, value: Value::Term(self.names.terms().neg(t)) })
    }

    /// `array[index]`
    pub fn entry(&mut self, array: Operand, index: Operand, end: Span) -> Read<Operand> {
        let span = array.span.to(end);
        let (at, where_index) = (array.span, index.span);
        let array = self.as_term(array, "[]", "an array")?;
        let index = self.as_term(index, "[]", "int")?;
        let terms = self.names.terms();
        let Type::Array(of, _) = terms.ty(array) else {
            let found = self.type_of(array);
            return self.fail(at, format!("only arrays have entries, and this is {found}"));
        };
        let (of, found) = (terms.type_of_id(of), terms.ty(index));
        if of != found && !(of.is_int() && found.is_int()) {
            let (of, found) = (terms.show_type(of).to_string(), terms.show_type(found).to_string());
            return self.fail(where_index, format!("indexes of this array are {of}, and this is {found}"));
        }
        Ok(Operand { span, value: Value::Term(self.names.terms().select(array, index)) })
    }
}
