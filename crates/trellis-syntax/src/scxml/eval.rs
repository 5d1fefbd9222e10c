//! Expressions as terms, with ECMAScript's conversions as far as their results are values here.
//!
//! `path` says when a part is evaluated at all; what goes wrong in it goes wrong only then. All terms have a value everywhere,
//! whatever is taken note of as an error.

use std::collections::{BTreeMap, BTreeSet};

use trellis_expr::{Division, TermId, Type};

use super::expr::{Expr, Node, Op};
use super::lower::Lower;
use super::value::{Kind, MAX_ARRAY, Sym};
use crate::diag::{Diagnostic, Span, shorten};
use crate::text::errors::closest;

impl Lower<'_> {
    /// The value of an expression.
    pub fn eval(&mut self, e: &Expr, path: TermId) -> Sym {
        match &e.node {
            Node::Bool(b) => {
                let t = self.terms.bool(*b);
                self.truth(t)
            }
            Node::Int(n) => {
                let t = self.terms.big(n.clone());
                self.integer(t)
            }
            Node::Text(text) => self.text(text),
            Node::Undefined => self.constant(Kind::Undefined),
            Node::Null => self.constant(Kind::Null),
            Node::Name(name) => {
                let mut value = self.name(name, path, e.span);
                if let Some(unbound) = value.guards.remove(&Kind::Unbound) {
                    self.fault(path, unbound);
                    if value.guards.is_empty() {
                        return self.constant(Kind::Undefined);
                    }
                }
                value
            }
            Node::In(name) => {
                let t = self.is_in(name, e.span);
                self.truth(t)
            }
            Node::Illegal => {
                let always = self.terms.bool(true);
                if self.strict {
                    self.mistake(e.span, "this is not an expression");
                } else {
                    self.warn(e.span, "this is not an expression: it is `error.execution`");
                }
                self.fault(path, always);
                self.constant(Kind::Undefined)
            }
            Node::Not(a) => {
                let a = self.eval(a, path);
                let t = self.truthy(&a);
                let t = self.terms.not(t);
                self.truth(t)
            }
            Node::Neg(a) => {
                let value = self.eval(a, path);
                let t = self.number(&value, path, a.span);
                let t = self.terms.neg(t);
                self.integer(t)
            }
            Node::Cond(c, a, b) => {
                let c = self.eval(c, path);
                let c = self.truthy(&c);
                let (then, otherwise) = self.paths(path, c);
                let (a, b) = (self.eval(a, then), self.eval(b, otherwise));
                self.choose(c, a, b)
            }
            Node::Array(parts) => {
                let elements: Vec<Sym> = parts.iter().map(|p| self.eval(p, path)).collect();
                if elements.len() > MAX_ARRAY {
                    self.mistake(e.span, format!("an array of more than {MAX_ARRAY} elements is not supported"));
                }
                let shared = elements.iter().any(|s| s.shared);
                let len = self.terms.int(elements.len().min(MAX_ARRAY) as i64);
                let elements = elements.into_iter().take(MAX_ARRAY).collect();
                Sym { len: Some(len), elements, shared, ..self.constant(Kind::Array) }
            }
            Node::Object(parts) => {
                let fields: BTreeMap<String, Sym> =
                    parts.iter().map(|(n, p)| (n.clone(), self.eval(p, path))).collect();
                let shared = fields.values().any(|s| s.shared);
                Sym { fields, shared, ..self.constant(Kind::Object) }
            }
            Node::Member(a, field) => match &a.node {
                Node::Name(name) if name == "_event" => self.event_field(field, path, e.span),
                _ => {
                    let value = self.eval(a, path);
                    self.member(&value, field, path, e.span)
                }
            },
            Node::Index(a, at) => {
                if let (Node::Name(name), Node::Text(field)) = (&a.node, &at.node)
                    && name == "_event"
                {
                    return self.event_field(field, path, e.span);
                }
                let value = self.eval(a, path);
                if let Node::Text(field) = &at.node {
                    return self.member(&value, field, path, e.span);
                }
                let at_value = self.eval(at, path);
                self.element(&value, &at_value, path, e.span)
            }
            Node::Typeof(a) => {
                let value = match &a.node {
                    Node::Name(name) if !name.starts_with('_') => match self.store(name).cloned() {
                        Some(store) => self.read(&store),
                        None => self.constant(Kind::Undefined),
                    },
                    _ => self.eval(a, path),
                };
                let mut result: Option<Sym> = None;
                for (&kind, &guard) in &value.guards {
                    let name = match kind {
                        Kind::Unbound => Kind::Undefined.name(),
                        Kind::Null | Kind::Array => Kind::Object.name(),
                        kind => kind.name(),
                    };
                    let text = self.text(name);
                    result = Some(match result {
                        Some(other) => self.choose(guard, text, other),
                        None => text,
                    });
                }
                result.unwrap_or_else(|| self.constant(Kind::Undefined))
            }
            Node::IsArray(a) => {
                let value = self.eval(a, path);
                let no = self.terms.bool(false);
                self.truth(value.guards.get(&Kind::Array).copied().unwrap_or(no))
            }
            Node::Has(field, of) => {
                if matches!(&of.node, Node::Name(name) if name == "_event") {
                    // An error where there has been no event.
                    self.event_field("type", path, e.span);
                    let t = self.terms.bool(super::equal::FIELDS.contains(&field.as_str()));
                    return self.truth(t);
                }
                let of = self.eval(of, path);
                let t = self.has(field, &of, path, e.span);
                self.truth(t)
            }
            Node::Concat(parts) => self.concat(parts, path),
            Node::Binary(op, a, b) => self.binary(*op, a, b, path, e.span),
        }
    }

    fn paths(&mut self, path: TermId, c: TermId) -> (TermId, TermId) {
        let not = self.terms.not(c);
        (self.terms.and([path, c]), self.terms.and([path, not]))
    }

    pub fn is_in(&mut self, name: &str, span: Span) -> TermId {
        let states = self.tree.states.iter().enumerate().skip(1);
        if let Some((s, _)) = states.clone().find(|(_, state)| state.name == name) {
            return self.active(s);
        }
        // A history is never active itself.
        if !self.tree.histories.iter().any(|h| h.name == name) && !self.quiet {
            let d = Diagnostic::error(span, format!("there is no state `{}`", shorten(name)));
            let d = d.meant(closest(name, states.map(|(_, state)| state.name.as_str())));
            self.errors.push(d);
        }
        self.terms.bool(false)
    }

    /// `ToBoolean`
    pub fn truthy(&mut self, value: &Sym) -> TermId {
        let mut parts = vec![];
        for (&kind, &guard) in &value.guards {
            let holds = match kind {
                Kind::Unbound | Kind::Undefined | Kind::Null => continue,
                Kind::Bool => value.bool,
                Kind::Int => value.int.map(|n| {
                    let zero = self.terms.int(0);
                    self.terms.ne(n, zero)
                }),
                Kind::Text => value.text.as_ref().map(|(t, texts)| {
                    let empty = if texts.contains("") { self.is_text(*t, "") } else { self.terms.bool(false) };
                    self.terms.not(empty)
                }),
                Kind::Array | Kind::Object => None,
            };
            parts.push(match holds {
                Some(holds) => self.terms.and([guard, holds]),
                None => guard,
            });
        }
        self.terms.or(parts)
    }

    /// `ToNumber`, where that is an integer.
    fn number(&mut self, value: &Sym, path: TermId, span: Span) -> TermId {
        let mut result = self.terms.int(0);
        for (&kind, &guard) in &value.guards {
            let n = match kind {
                Kind::Int => value.int,
                Kind::Bool => value.bool.map(|b| self.as_integer(b)),
                Kind::Null | Kind::Unbound => Some(self.terms.int(0)),
                kind => {
                    self.beyond(path, guard, span, &format!("{} as a number", kind.describe()));
                    continue;
                }
            };
            result = self.terms.ite(guard, n.unwrap_or(result), result);
        }
        result
    }

    pub fn as_integer(&mut self, b: TermId) -> TermId {
        let (one, zero) = (self.terms.int(1), self.terms.int(0));
        self.terms.ite(b, one, zero)
    }

    /// `a.name`
    fn member(&mut self, value: &Sym, name: &str, path: TermId, span: Span) -> Sym {
        let mut result = self.constant(Kind::Undefined);
        for (&kind, &guard) in &value.guards {
            let this = match kind {
                Kind::Unbound | Kind::Undefined | Kind::Null => {
                    self.fault(path, guard);
                    continue;
                }
                Kind::Object => value.fields.get(name).cloned(),
                Kind::Array if name == "length" => value.len.map(|len| self.integer(len)),
                Kind::Text if name == "length" => {
                    self.beyond(path, guard, span, "the length of a string");
                    None
                }
                _ => None,
            };
            if let Some(mut this) = this {
                this.shared |= this.is_compound();
                result = self.choose(guard, this, result);
            }
        }
        result
    }

    /// `a[i]`
    fn element(&mut self, value: &Sym, at: &Sym, path: TermId, span: Span) -> Sym {
        let mut result = self.constant(Kind::Undefined);
        for (&kind, &guard) in &at.guards {
            match kind {
                Kind::Text => {
                    let Some((t, texts)) = &at.text else { continue };
                    for text in texts {
                        let is = self.is_text(*t, text);
                        let here = self.terms.and([guard, is]);
                        let on = self.terms.and([path, here]);
                        let member = self.member(value, text, on, span);
                        result = self.choose(here, member, result);
                    }
                }
                Kind::Int => {
                    let Some(n) = at.int else { continue };
                    let on = self.terms.and([path, guard]);
                    // Faults where there are no elements, and is undefined else.
                    self.member(value, "", on, span);
                    if let Some(&object) = value.guards.get(&Kind::Object) {
                        self.beyond(on, object, span, "a number as the name of a member");
                    }
                    let (Some(&array), Some(len)) = (value.guards.get(&Kind::Array), value.len) else { continue };
                    for (k, element) in value.elements.iter().enumerate() {
                        let k = self.terms.int(k as i64);
                        let (is, within) = (self.terms.eq(n, k), self.terms.lt(k, len));
                        let here = self.terms.and([guard, array, is, within]);
                        let mut element = element.clone();
                        element.shared |= element.is_compound();
                        result = self.choose(here, element, result);
                    }
                }
                kind => self.beyond(path, guard, span, &format!("{} as an index", kind.describe())),
            }
        }
        result
    }

    /// The value with another value for a member or an element.
    pub fn changed(&mut self, value: &Sym, at: &Expr, new: &Sym, path: TermId) -> Sym {
        let mut result = value.clone();
        let field = match &at.node {
            Node::Text(field) => Some(field.clone()),
            _ => None,
        };
        // Where there can be no members that is an error.
        self.member(value, "", path, at.span);
        let at_value = if field.is_none() { Some(self.eval(at, path)) } else { None };
        let plain: Vec<TermId> =
            [Kind::Bool, Kind::Int, Kind::Text].iter().filter_map(|k| value.guards.get(k).copied()).collect();
        let plain = self.terms.or(plain);
        self.beyond(path, plain, at.span, "a member of a value that is no object");
        if let Some(field) = field {
            if let Some(&array) = value.guards.get(&Kind::Array) {
                self.beyond(path, array, at.span, "a member of an array");
            }
            if value.may_be(Kind::Object) {
                result.fields.insert(field, new.clone());
            }
            return result;
        }
        let n = at_value.filter(|v| v.kind() == Some(Kind::Int)).and_then(|v| v.int);
        let (Some(n), Some(&array), Some(len)) = (n, value.guards.get(&Kind::Array), value.len) else {
            let always = self.terms.bool(true);
            self.beyond(path, always, at.span, "this index");
            return result;
        };
        if let Some(&object) = value.guards.get(&Kind::Object) {
            self.beyond(path, object, at.span, "a number as the name of a member");
        }
        let (zero, most) = (self.terms.int(0), self.terms.int(MAX_ARRAY as i64));
        let (low, far, full) = (self.terms.lt(n, zero), self.terms.lt(len, n), self.terms.le(most, n));
        let out = self.terms.or([low, far, full]);
        let out = self.terms.and([array, out]);
        self.beyond(path, out, at.span, "an element outside of the array");
        let append = self.terms.eq(n, len);
        let (one, here) = (self.terms.int(1), result.elements.len());
        let longer = self.terms.add([len, one]);
        result.len = Some(self.terms.ite(append, longer, len));
        for k in 0..(here + 1).min(MAX_ARRAY) {
            let literal = self.terms.int(k as i64);
            let is = self.terms.eq(n, literal);
            match result.elements.get(k).cloned() {
                Some(old) => result.elements[k] = self.choose(is, new.clone(), old),
                None if self.terms.as_bool(is) != Some(false) => result.elements.push(new.clone()),
                None => {}
            }
        }
        result
    }

    /// `a.concat(b, …)`
    fn concat(&mut self, parts: &[Expr], path: TermId) -> Sym {
        let mut result = Sym { len: Some(self.terms.int(0)), ..self.constant(Kind::Array) };
        for (n, part) in parts.iter().enumerate() {
            let value = self.eval(part, path);
            let (no, always) = (self.terms.bool(false), self.terms.bool(true));
            let array = value.guards.get(&Kind::Array).copied().unwrap_or(no);
            let other = self.terms.not(array);
            if n == 0 {
                self.beyond(path, other, part.span, "`concat` of what is no array");
            } else if !value.may_be(Kind::Array) {
                self.append_element(&mut result, value, always, path, part.span);
                continue;
            } else {
                self.beyond(path, other, part.span, "`concat` with what may be an array");
            }
            for (k, element) in value.elements.iter().enumerate() {
                let k = self.terms.int(k as i64);
                let within = value.len.map_or(no, |len| self.terms.lt(k, len));
                self.append_element(&mut result, element.clone(), within, path, part.span);
            }
        }
        result
    }

    fn append_element(&mut self, array: &mut Sym, value: Sym, when: TermId, path: TermId, span: Span) {
        let Some(len) = array.len else { return };
        array.shared |= value.is_compound() && value.shared;
        let most = self.terms.int(MAX_ARRAY as i64);
        let full = self.terms.eq(len, most);
        let full = self.terms.and([when, full]);
        self.beyond(path, full, span, &format!("an array of more than {MAX_ARRAY} elements"));
        for k in 0..(array.elements.len() + 1).min(MAX_ARRAY) {
            let literal = self.terms.int(k as i64);
            let is = self.terms.eq(len, literal);
            let here = self.terms.and([when, is]);
            match array.elements.get(k).cloned() {
                Some(old) => array.elements[k] = self.choose(here, value.clone(), old),
                None if self.terms.as_bool(here) != Some(false) => array.elements.push(value.clone()),
                None => {}
            }
        }
        let one = self.terms.int(1);
        let longer = self.terms.add([len, one]);
        array.len = Some(self.terms.ite(when, longer, len));
    }

    fn binary(&mut self, op: Op, left: &Expr, right: &Expr, path: TermId, span: Span) -> Sym {
        let a = self.eval(left, path);
        if matches!(op, Op::Or | Op::And) {
            let c = self.truthy(&a);
            let (then, otherwise) = self.paths(path, c);
            let b = self.eval(right, if op == Op::And { then } else { otherwise });
            if let (Some(Kind::Bool), Some(Kind::Bool), Some(x), Some(y)) = (a.kind(), b.kind(), a.bool, b.bool) {
                let t = if op == Op::And { self.terms.and([x, y]) } else { self.terms.or([x, y]) };
                return self.truth(t);
            }
            return if op == Op::And { self.choose(c, b, a) } else { self.choose(c, a, b) };
        }
        let b = self.eval(right, path);
        match op {
            Op::Eq | Op::Ne | Op::Same | Op::NotSame => {
                self.declared(&a, &b, right);
                self.declared(&b, &a, left);
                let t = self.equal(&a, &b, matches!(op, Op::Eq | Op::Ne), path, span);
                let t = if matches!(op, Op::Ne | Op::NotSame) { self.terms.not(t) } else { t };
                self.truth(t)
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                let t = self.compare(op, &a, &b, path, (left.span, right.span));
                self.truth(t)
            }
            Op::Add if a.may_be(Kind::Text) || b.may_be(Kind::Text) => {
                self.join_texts(&a, &b, path, (left.span, right.span))
            }
            Op::BitOr | Op::BitXor | Op::BitAnd => {
                let (Some(Kind::Bool), Some(Kind::Bool), Some(x), Some(y)) = (a.kind(), b.kind(), a.bool, b.bool)
                else {
                    let always = self.terms.bool(true);
                    self.beyond(path, always, span, "a bitwise operator on anything but truth values");
                    return self.constant(Kind::Undefined);
                };
                let t = match op {
                    Op::BitOr => self.terms.or([x, y]),
                    Op::BitAnd => self.terms.and([x, y]),
                    _ => self.terms.ne(x, y),
                };
                let n = self.as_integer(t);
                self.integer(n)
            }
            _ => {
                let (x, y) = (self.number(&a, path, left.span), self.number(&b, path, right.span));
                let t = self.arithmetic(op, x, y, path);
                self.integer(t)
            }
        }
    }

    /// A literal that a variable with a type of its own never is.
    fn declared(&mut self, a: &Sym, b: &Sym, written: &Expr) {
        if let (Some((t, texts)), Node::Text(text)) = (&a.text, &written.node)
            && b.kind() == Some(Kind::Text)
            && a.kind() == Some(Kind::Text)
            && self.terms.ty(*t) != Type::Enum(self.symbol_type)
            && !texts.contains(text)
            && let Type::Enum(e) = self.terms.ty(*t)
        {
            let among = self.terms.enumeration(e).literals.join("', '");
            self.mistake(written.span, format!("expected one of '{}', found '{}'", shorten(&among), shorten(text)));
        }
    }

    fn arithmetic(&mut self, op: Op, a: TermId, b: TermId, path: TermId) -> TermId {
        let mut b = b;
        if matches!(op, Op::Rem | Op::Trunc | Op::Floor) {
            let (zero, one) = (self.terms.int(0), self.terms.int(1));
            let by_zero = self.terms.eq(b, zero);
            self.fault(path, by_zero);
            b = self.terms.ite(by_zero, one, b);
        }
        let terms = &mut self.terms;
        match op {
            Op::Add => terms.add([a, b]),
            Op::Sub => terms.sub(a, b),
            Op::Mul => terms.mul(a, b),
            Op::Rem => terms.rem(Division::Truncating, a, b),
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
            _ => terms.div(Division::Truncating, a, b),
        }
    }

    fn compare(&mut self, op: Op, a: &Sym, b: &Sym, path: TermId, spans: (Span, Span)) -> TermId {
        let no = self.terms.bool(false);
        let lacks = |s: &Sym| s.guards.get(&Kind::Undefined).copied().unwrap_or(no);
        // With `undefined` every comparison is false.
        let lacking = self.terms.or([lacks(a), lacks(b)]);
        let known = self.terms.not(lacking);
        let on = self.terms.and([path, known]);
        let (x, y) = (self.number(a, on, spans.0), self.number(b, on, spans.1));
        let t = match op {
            Op::Lt => self.terms.lt(x, y),
            Op::Le => self.terms.le(x, y),
            Op::Gt => self.terms.lt(y, x),
            _ => self.terms.le(y, x),
        };
        self.terms.and([known, t])
    }

    /// `+` where strings may be joined.
    fn join_texts(&mut self, a: &Sym, b: &Sym, path: TermId, spans: (Span, Span)) -> Sym {
        let span = spans.0.to(spans.1);
        let no = self.terms.bool(false);
        let of = |s: &Sym| s.guards.get(&Kind::Text).copied().unwrap_or(no);
        let any = self.terms.or([of(a), of(b)]);
        let (both, none) = (self.terms.and([of(a), of(b)]), self.terms.not(any));
        let one = self.terms.or([both, none]);
        let mixed = self.terms.not(one);
        self.beyond(path, mixed, span, "joining a string with anything but a string");
        let as_numbers = self.terms.and([path, none]);
        let numbers = match self.terms.as_bool(none) {
            Some(false) => None,
            _ => {
                let (x, y) = (self.number(a, as_numbers, spans.0), self.number(b, as_numbers, spans.1));
                let sum = self.terms.add([x, y]);
                Some(self.integer(sum))
            }
        };
        let mut joined: Option<(TermId, BTreeSet<String>)> = None;
        if let (Some((x, xs)), Some((y, ys))) = (&a.text, &b.text) {
            for (left, right, text) in self.joined(xs, ys) {
                let (p, q) = (self.is_text(*x, &left), self.is_text(*y, &right));
                let here = self.terms.and([p, q]);
                let Some(text) = text else {
                    let here = self.terms.and([both, here]);
                    self.beyond(path, here, span, "so long a string");
                    continue;
                };
                let t = self.symbol(&text);
                let (term, mut all) = joined.unwrap_or((t, BTreeSet::new()));
                all.insert(text);
                joined = Some((self.terms.ite(here, t, term), all));
            }
        }
        let joined = joined.map(|text| Sym { text: Some(text), ..self.constant(Kind::Text) });
        match (joined, numbers) {
            (Some(joined), Some(numbers)) => self.choose(both, joined, numbers),
            (joined, numbers) => joined.or(numbers).unwrap_or_else(|| self.constant(Kind::Undefined)),
        }
    }
}
