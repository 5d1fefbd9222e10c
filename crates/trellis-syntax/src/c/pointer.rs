//! Pointers as values.
//!
//! Where a pointer plainly points to one thing (`&x` handed to a function that does not change the parameter) it is that place,
//! and has no value at all. Otherwise it is an *address*: a number from 1 on into a list of all the objects of its type whose
//! address is taken anywhere in the program; 0 is the null pointer. What is behind it is then one of these objects, each with
//! its condition. Each array has one address more than it has entries, because a pointer may point just behind the last one.
//!
//! Which objects there are is known only when the program has been read: it is read again until no more are found.

use std::rc::Rc;

use lang_c::ast::{BinaryOperator, ConditionalExpression, Constant, Expression, UnaryOperator};
use lang_c::span::{Node, Span as CSpan};
use rustc_hash::FxHashMap;
use trellis_expr::{Division, TermId, Type};

use super::Ints;
use super::checks::Kind;
use super::decl::Name;
use super::lower::{Lower, Lowered, Val, index_type};
use super::place::{Base, Place, Step};
use super::purity::{is_impure, steps, without_assignment};
use super::structs::{Key, Member, Object};
use super::types::{CType, IntType};

/// Something whose address is taken.
#[derive(Debug, Clone)]
pub struct Target {
    pub key: Key,
    /// The type and the name of the object that it is a part of.
    whole: CType,
    name: String,
    leaf: usize,
    /// How many there are beside each other, where a pointer may go from one to the next: the entries of the array around it, or
    /// one.
    run: u64,
    /// How many such arrays there are, in all arrays around them.
    runs: u64,
    /// Is it an entry of an array?
    entry: bool,
}

impl Target {
    /// How many addresses it takes.
    pub fn addresses(&self) -> u64 {
        self.runs.saturating_mul(self.run.saturating_add(1))
    }
}

/// All targets, by their type.
pub type Targets = FxHashMap<CType, Vec<Target>>;

/// What pointers point to is decided case by case; more cases than this are too many.
const MAX_TARGETS: usize = 256;

/// Addresses are less than this, so that their sums with an `int` do not go around to other addresses.
const MAX_ADDRESSES: u64 = 1 << 30;

impl Lower<'_> {
    // Addresses.

    /// The first address of each target, and the first one that is free.
    pub fn bases(&self, to: &CType) -> (Vec<u64>, u64) {
        let mut next = 1u64;
        let mut all = vec![];
        for target in self.known.get(to).into_iter().flatten() {
            all.push(next);
            next = next.saturating_add(target.addresses());
        }
        (all, next)
    }

    /// The type of variables that hold an address.
    pub fn address_variable(&self, to: &CType) -> Type {
        let free = self.bases(to).1;
        index_type(self.ints(), free + u64::from(self.dead(to).is_some()))
    }

    fn address_sort(&self, to: &CType) -> Type {
        self.cfa.terms.sort(self.address_variable(to))
    }

    /// The null pointer.
    pub fn null(&mut self, to: &CType) -> TermId {
        self.address_number(to, 0)
    }

    pub fn address_number(&mut self, to: &CType, n: u64) -> TermId {
        let sort = self.address_sort(to);
        self.terms().number(sort, n.into())
    }

    /// The address of a place.
    pub fn address(&mut self, place: &Place, span: CSpan) -> Lowered<TermId> {
        let to = place.ty.clone();
        if self.leaf_count(&to) == 0 {
            return self.error(span, format!("the address of {} is not supported", to.describe()));
        }
        self.can_point(place, span);
        self.address_there(place, span)
    }

    /// Notes that a place is within its arrays, or just behind the last of them.
    pub fn can_point(&mut self, place: &Place, span: CSpan) {
        for (k, step) in place.steps.iter().enumerate() {
            self.within(*step, place.entry && k + 1 == place.steps.len(), span);
        }
    }

    /// The address of a place that exists.
    fn address_there(&mut self, place: &Place, span: CSpan) -> Lowered<TermId> {
        let to = place.ty.clone();
        let object = match &place.base {
            Base::Behind(address, _) if place.is_pointee() => return Ok(*address),
            Base::Behind(address, pointee) => {
                let mut all = vec![];
                for (when, target) in self.pointees(*address, pointee)? {
                    let steps = target.steps.iter().chain(&place.steps).copied().collect();
                    let inner = Place { leaf: target.leaf + place.leaf, steps, ..place.clone() };
                    all.push((when, self.address_there(&Place { base: target.base, ..inner }, span)?));
                }
                self.points_somewhere(*address, pointee, span)?;
                let mut value = self.null(&to);
                for (when, address) in all.into_iter().rev() {
                    value = self.terms().ite(when, address, value);
                }
                return Ok(value);
            }
            Base::Object(object) => object,
        };
        if object.key == Key::Temporary {
            return self.error(span, "this has no address: it is only a value");
        }
        let same = |t: &Target| t.key == object.key && t.leaf == place.leaf;
        let Some(number) = self.known.get(&to).and_then(|all| all.iter().position(same)) else {
            let target = self.target_of(place, object);
            let found = self.found.entry(to.clone()).or_default();
            if !found.iter().any(same) {
                found.push(target);
            }
            let large = found.iter().map(Target::addresses).fold(0, u64::saturating_add) > MAX_ADDRESSES;
            return match large || found.len() > MAX_TARGETS {
                true => self.error(span, "pointers of one type point to too many different things"),
                // The program will be read again.
                false => Ok(self.null(&to)),
            };
        };
        let (run, entry) = self.known.get(&to).map_or((1, false), |all| (all[number].run, all[number].entry));
        let first = self.bases(&to).0[number];
        let base = self.address_number(&to, first);
        let sort = self.address_sort(&to);
        let (outer, inner) = match place.steps.split_last() {
            Some((last, rest)) if entry => (rest, std::slice::from_ref(last)),
            _ => (&place.steps[..], &[][..]),
        };
        let mut parts = vec![base];
        if let Some(at) = self.position(outer, sort) {
            let wide = self.address_number(&to, run + 1);
            parts.push(self.terms().mul(at, wide));
        }
        parts.extend(self.position(inner, sort));
        Ok(self.terms().add(parts))
    }

    fn target_of(&self, place: &Place, object: &Object) -> Target {
        let (dims, entry) = self.around(&object.ty, place.leaf, &place.ty);
        let name = object.vars.first().map_or("", |v| &self.cfa.terms.variable(*v).name);
        let name = name.split(['.', '@', '#']).next().unwrap_or_default().to_string();
        let (run, outer) = match dims.split_last() {
            Some((last, rest)) if entry => (*last, rest),
            _ => (1, &dims[..]),
        };
        let runs = outer.iter().product();
        Target { key: object.key.clone(), whole: object.ty.clone(), name, leaf: place.leaf, run, runs, entry }
    }

    /// The arrays around a part of an object, and whether it is an entry of the last one.
    fn around(&self, whole: &CType, mut leaf: usize, part: &CType) -> (Vec<u64>, bool) {
        let (mut dims, mut entry, mut ty) = (vec![], false, whole.clone());
        while ty != *part {
            ty = match ty {
                CType::Array(inner, n) => {
                    dims.push(n.unwrap_or(0));
                    entry = true;
                    (*inner).clone()
                }
                CType::Struct(id) => {
                    entry = false;
                    let members = self.structs.get(&id).cloned().unwrap_or_default();
                    let inside = |m: &&Member| (m.leaf..m.leaf + self.leaf_count(&m.ty)).contains(&leaf);
                    let Some(member) = members.members.iter().find(inside).cloned() else { break };
                    leaf -= member.leaf;
                    member.ty
                }
                _ => break,
            };
        }
        (dims, entry)
    }

    /// What there may be at an address, and when.
    pub fn pointees(&mut self, address: TermId, to: &Rc<CType>) -> Lowered<Vec<(TermId, Place)>> {
        let targets = self.known.get(&**to).cloned().unwrap_or_default();
        let (bases, _) = self.bases(to);
        let mut out = vec![];
        for (target, base) in targets.iter().zip(bases) {
            let first = self.address_number(to, base);
            let last = self.address_number(to, base + target.addresses() - 2);
            let terms = self.terms();
            let mut when = match target.addresses() {
                2 => terms.eq(address, first),
                _ => {
                    let (low, high) = (terms.le(first, address), terms.le(address, last));
                    terms.and([low, high])
                }
            };
            if target.run == 0 || target.runs == 0 || terms.as_bool(when) == Some(false) {
                continue;
            }
            let object = match &target.key {
                Key::Global(name) => self.global(&name.clone(), CSpan::span(0, 0))?,
                Key::Local(start) => self.local_object(*start, &target.name, &target.whole)?,
                Key::Temporary => continue,
            };
            let mut place = Place::whole(object);
            (place.leaf, place.ty) = (target.leaf, (**to).clone());
            let (outer, inner) = self.run_of(address, to, base, target);
            if target.runs > 1 {
                let behind = self.address_number(to, target.run);
                let terms = self.terms();
                let there = terms.ne(inner, behind);
                when = terms.and([when, there]);
                place.steps.push(self.step_at(outer, target.runs));
            }
            if target.entry {
                place.steps.push(self.step_at(inner, target.run));
            }
            out.push((when, place));
        }
        Ok(out)
    }

    /// In which of its arrays an address is, and where in it.
    fn run_of(&mut self, address: TermId, to: &CType, base: u64, target: &Target) -> (TermId, TermId) {
        let first = self.address_number(to, base);
        let offset = self.terms().sub(address, first);
        if target.runs == 1 {
            return (self.address_number(to, 0), offset);
        }
        let each = self.address_number(to, target.run + 1);
        let terms = self.terms();
        (terms.div(Division::Truncating, offset, each), terms.rem(Division::Truncating, offset, each))
    }

    fn step_at(&mut self, index: TermId, n: u64) -> Step {
        let ty = IntType::long_long(false);
        let term = match self.ints() {
            Ints::Wrap => self.terms().convert(ty.sort(Ints::Wrap), index),
            Ints::Math => index,
        };
        Step { index: Val { term, ty }, n }
    }

    /// The address so many entries further on.
    pub fn moved(&mut self, address: TermId, to: &CType, by: Val, back: bool, span: CSpan) -> TermId {
        let by = Val { term: self.plain(by), ty: by.ty };
        let number = self.cfa.terms.as_value(by.term).and_then(|n| i64::try_from(&n.number()).ok());
        if let Some(number) = number {
            return self.moved_by(address, to, if back { -i128::from(number) } else { number.into() }, span);
        }
        // Numbers in which no sum of an address and a distance goes around to another address.
        let ty = if by.ty == IntType::INT { by.ty } else { IntType::long_long(true) };
        let (old, by) = (self.widened(address, ty), self.convert(by, ty).term);
        let terms = self.terms();
        let new = if back { terms.sub(old, by) } else { terms.add([old, by]) };
        let both = self.in_one(to, address, new, ty);
        self.must(both, Kind::Bounds, span, |s| s.leaves_array(span));
        let sort = self.address_sort(to);
        self.terms().convert(sort, new)
    }

    /// The same by a number that is known: where an address must be before, so that it is still within its array afterwards.
    fn moved_by(&mut self, address: TermId, to: &CType, by: i128, span: CSpan) -> TermId {
        let targets = self.known.get(to).cloned().unwrap_or_default();
        let mut any = vec![];
        for (target, base) in targets.iter().zip(self.bases(to).0) {
            let (from, most) = (0.max(-by), i128::from(target.run).min(i128::from(target.run) - by));
            if from > most {
                continue;
            }
            let [first, last] = [base, base + target.addresses() - 1].map(|n| self.address_number(to, n));
            let (_, inner) = self.run_of(address, to, base, target);
            let [from, most] = [from, most].map(|n| self.address_number(to, n as u64));
            let terms = self.terms();
            let inside = [terms.le(first, address), terms.le(address, last)];
            let there = [terms.le(from, inner), terms.le(inner, most)];
            any.push(terms.and(inside.into_iter().chain(there)));
        }
        let all = self.terms().or(any);
        self.must(all, Kind::Bounds, span, |s| s.leaves_array(span));
        let sort = self.address_sort(to);
        let distance = self.terms().number(sort, by.into());
        self.terms().add([address, distance])
    }

    fn leaves_array(&self, span: CSpan) -> String {
        format!("{}: the pointer leaves its array", self.snippet(span))
    }

    /// An address as a number that can be negative.
    fn widened(&mut self, address: TermId, ty: IntType) -> TermId {
        match self.ints() {
            Ints::Wrap => self.terms().convert(ty.sort(Ints::Wrap), address),
            Ints::Math => address,
        }
    }

    /// Are both within one array, or just behind it? The second one is widened already.
    fn in_one(&mut self, to: &CType, a: TermId, b: TermId, ty: IntType) -> TermId {
        let targets = self.known.get(to).cloned().unwrap_or_default();
        let mut any = vec![];
        for (target, base) in targets.iter().zip(self.bases(to).0) {
            let [first, last] = [base, base + target.addresses() - 1].map(|n| self.address_number(to, n));
            let terms = self.terms();
            let mut all = vec![terms.le(first, a), terms.le(a, last)];
            let (outer, _) = self.run_of(a, to, base, target);
            let outer = self.widened(outer, ty);
            let [base, each, run] = [base, target.run + 1, target.run].map(|n| self.number(ty, n.into()));
            let terms = self.terms();
            let before = terms.mul(outer, each);
            let low = terms.add([base, before]);
            let high = terms.add([low, run]);
            all.extend([terms.le(low, b), terms.le(b, high)]);
            any.push(terms.and(all));
        }
        self.terms().or(any)
    }

    // Expressions.

    /// Does an expression plainly have the type of a pointer (or of an array)?
    pub fn is_pointer(&mut self, e: &Node<Expression>) -> bool {
        match &e.node {
            Expression::Constant(_) | Expression::SizeOfTy(_) | Expression::SizeOfVal(_) => false,
            Expression::Identifier(i) => match self.lookup(&i.node.name) {
                Some(Name::Variable(o)) => matches!(o.ty, CType::Pointer(_) | CType::Array(..)),
                Some(Name::Reference(_)) => true,
                Some(Name::Odd(ty)) => matches!(ty, CType::Pointer(_)),
                Some(Name::Global) => {
                    matches!(self.unit.type_of(&i.node.name), CType::Pointer(_) | CType::Array(..))
                }
                _ => false,
            },
            Expression::BinaryOperator(b) => match &b.node.operator.node {
                BinaryOperator::Plus => self.is_pointer(&b.node.lhs) || self.is_pointer(&b.node.rhs),
                BinaryOperator::Minus => self.is_pointer(&b.node.lhs) && !self.is_pointer(&b.node.rhs),
                BinaryOperator::Assign => self.is_pointer(&b.node.lhs),
                BinaryOperator::Index => self.has_pointer_type(e),
                op => without_assignment(op).is_some() && self.is_pointer(&b.node.lhs),
            },
            Expression::UnaryOperator(u) => match &u.node.operator.node {
                UnaryOperator::Address => true,
                UnaryOperator::Indirection => self.has_pointer_type(e),
                op => steps(op).is_some() && self.is_pointer(&u.node.operand),
            },
            Expression::Conditional(c) => {
                self.is_pointer(&c.node.then_expression) || self.is_pointer(&c.node.else_expression)
            }
            Expression::Comma(parts) => parts.last().is_some_and(|e| self.is_pointer(e)),
            Expression::StringLiteral(_) => true,
            Expression::Cast(_) | Expression::Member(_) | Expression::Call(_) => self.has_pointer_type(e),
            _ => false,
        }
    }

    fn has_pointer_type(&mut self, e: &Node<Expression>) -> bool {
        let before = self.errors.count();
        let ty = self.type_of(e);
        // What is wrong with it is said when it is evaluated.
        ty.is_ok_and(|ty| matches!(ty, CType::Pointer(_) | CType::Array(..))) && self.errors.count() == before
    }

    /// Is this a null pointer constant?
    fn is_null(&mut self, e: &Node<Expression>) -> bool {
        match &e.node {
            Expression::Constant(c) => matches!(&c.node, Constant::Integer(_)) && self.is_zero(e),
            Expression::Cast(c) => self.is_null(&c.node.expression),
            _ => false,
        }
    }

    fn is_zero(&mut self, e: &Node<Expression>) -> bool {
        self.constant_if(e).is_ok_and(|n| n == Some(0))
    }

    /// The value of a pointer, and the type of what it points to. `to` says what is wanted where nothing else does.
    pub fn pointer(&mut self, e: &Node<Expression>, to: Option<&Rc<CType>>) -> Lowered<(TermId, Rc<CType>)> {
        if self.is_null(e) {
            let named = match &e.node {
                Expression::Cast(c) => match self.type_name(&c.node.type_name)? {
                    CType::Pointer(to) if *to != CType::Void => Some(to),
                    _ => None,
                },
                _ => None,
            };
            return match named.as_ref().or(to).cloned() {
                Some(to) => Ok((self.null(&to), to)),
                None => self.error(e.span, "nobody can tell to what type of thing this null pointer points"),
            };
        }
        let (address, found) = self.pointer_value(e, to)?;
        match to {
            Some(to) if *to != found => {
                let message = "this is a pointer to another type: casts between pointers are not supported";
                self.error(e.span, message)
            }
            _ => Ok((address, found)),
        }
    }

    fn pointer_value(&mut self, e: &Node<Expression>, to: Option<&Rc<CType>>) -> Lowered<(TermId, Rc<CType>)> {
        if !self.is_plain_sum(e)
            && let Some(place) = self.seen(e)?
        {
            let address = self.address(&place, e.span)?;
            return Ok((address, Rc::new(place.ty)));
        }
        match &e.node {
            Expression::BinaryOperator(b) => match &b.node.operator.node {
                BinaryOperator::Plus | BinaryOperator::Minus => {
                    let back = b.node.operator.node == BinaryOperator::Minus;
                    if self.is_pointer(&b.node.lhs) {
                        let (mut address, to) = self.pointer(&b.node.lhs, to)?;
                        if is_impure(&b.node.rhs) {
                            address = self.save(address, e.span);
                        }
                        let by = self.value(&b.node.rhs)?;
                        return Ok((self.moved(address, &to, by, back, e.span), to));
                    }
                    let by = self.value(&b.node.lhs)?;
                    let by = self.kept(by, &b.node.rhs, e.span);
                    let (address, to) = self.pointer(&b.node.rhs, to)?;
                    Ok((self.moved(address, &to, by, false, e.span), to))
                }
                BinaryOperator::Assign => {
                    self.assign(&b.node.lhs, &b.node.rhs, e.span)?;
                    self.pointer_in(&b.node.lhs)
                }
                op if without_assignment(op).is_some() => {
                    self.effect(e)?;
                    self.pointer_in(&b.node.lhs)
                }
                _ => self.pointer_in(e),
            },
            Expression::UnaryOperator(u) if steps(&u.node.operator.node).is_some() => {
                let Some(up) = steps(&u.node.operator.node) else { return self.pointer_in(e) };
                let place = self.place_of(&u.node.operand)?;
                let place = self.steadied(place, e.span);
                let CType::Pointer(to) = place.ty.clone() else { return self.pointer_in(e) };
                let old = self.load_term(&place, e.span)?;
                let old = self.save(old, e.span);
                self.step_pointer(&place, up, e.span)?;
                match u.node.operator.node {
                    UnaryOperator::PreIncrement | UnaryOperator::PreDecrement => {
                        Ok((self.load_term(&place, e.span)?, to))
                    }
                    _ => Ok((old, to)),
                }
            }
            Expression::Conditional(c) => self.either(&c.node, to, e.span),
            Expression::Comma(parts) => match parts.split_last() {
                Some((last, before)) => {
                    before.iter().try_for_each(|p| self.effect(p))?;
                    self.pointer(last, to)
                }
                None => self.error(e.span, "this is not a pointer"),
            },
            Expression::Cast(c) => match self.type_name(&c.node.type_name)? {
                CType::Pointer(to) if self.is_pointer(&c.node.expression) => {
                    self.pointer(&c.node.expression, Some(&to))
                }
                ty => self.error(e.span, format!("a cast to {} is not supported", ty.describe())),
            },
            _ => self.pointer_in(e),
        }
    }

    /// Sums are computed on addresses where the array's end may be meant.
    fn is_plain_sum(&mut self, e: &Node<Expression>) -> bool {
        matches!(&e.node, Expression::BinaryOperator(b)
            if matches!(b.node.operator.node, BinaryOperator::Plus | BinaryOperator::Minus) && is_impure(&b.node.rhs))
    }

    /// The pointer in a place.
    fn pointer_in(&mut self, e: &Node<Expression>) -> Lowered<(TermId, Rc<CType>)> {
        let place = self.place_of(e)?;
        match &place.ty {
            CType::Pointer(to) => Ok((self.load_term(&place, e.span)?, to.clone())),
            CType::Array(..) => {
                let first = place.first(self, e.span)?;
                Ok((self.address(&first, e.span)?, Rc::new(first.ty)))
            }
            ty => self.error(e.span, format!("this is {}, where a pointer is expected", ty.describe())),
        }
    }

    /// `c ? p : q`
    fn either(
        &mut self,
        c: &ConditionalExpression,
        to: Option<&Rc<CType>>,
        span: CSpan,
    ) -> Lowered<(TermId, Rc<CType>)> {
        // One of them may be null, and then the other one says what it points to.
        let (yes, no) = (&c.then_expression, &c.else_expression);
        let other = if self.is_null(yes) { no } else { yes };
        let to = match (to, self.type_of(other)?) {
            (Some(to), _) => to.clone(),
            (None, CType::Pointer(to) | CType::Array(to, _)) => to,
            _ => return self.error(span, "this is not a pointer"),
        };
        let [at_yes, at_no, after] = [(); 3].map(|()| self.location(span));
        let v = self.temporary(self.address_variable(&to));
        self.branch(&c.condition, at_yes, at_no)?;
        for (at, part) in [(at_yes, yes), (at_no, no)] {
            self.at = Some(at);
            let (value, _) = self.pointer(part, Some(&to))?;
            let stmt = self.terms().assign(v, value);
            self.leave(stmt, after, part.span);
        }
        self.at = Some(after);
        Ok((self.terms().var(v), to))
    }

    /// `p++`, `--p`
    pub fn step_pointer(&mut self, place: &Place, up: bool, span: CSpan) -> Lowered<()> {
        let one = self.constant(IntType::INT, 1);
        self.move_pointer(place, one, !up, span)
    }

    /// `p += n`
    pub fn move_pointer(&mut self, place: &Place, by: Val, back: bool, span: CSpan) -> Lowered<()> {
        let CType::Pointer(to) = place.ty.clone() else { return Ok(()) };
        let old = self.load_term(place, span)?;
        let new = self.moved(old, &to, by, back, span);
        self.store_term(place, new, span, span)
    }

    /// Is the pointer not null?
    pub fn points(&mut self, e: &Node<Expression>) -> Lowered<TermId> {
        if self.is_null(e) {
            return Ok(self.terms().bool(false));
        }
        let (address, to) = self.pointer(e, None)?;
        let null = self.null(&to);
        Ok(self.terms().ne(address, null))
    }

    /// `p == q`, `p < q`, `p - q`
    pub fn compare(
        &mut self,
        op: &BinaryOperator,
        left: &Node<Expression>,
        right: &Node<Expression>,
        span: CSpan,
    ) -> Lowered<Val> {
        let to = match self.is_null(left) {
            true => match self.type_of(right)? {
                CType::Pointer(to) | CType::Array(to, _) => Some(to),
                _ => None,
            },
            false => None,
        };
        let (mut a, to) = self.pointer(left, to.as_ref())?;
        if is_impure(right) {
            a = self.save(a, span);
        }
        let (b, _) = self.pointer(right, Some(&to))?;
        let truth = |term| Ok(Val { term, ty: IntType::INT });
        let terms = self.terms();
        match op {
            BinaryOperator::Equals => return truth(terms.eq(a, b)),
            BinaryOperator::NotEquals => return truth(terms.ne(a, b)),
            _ => {}
        }
        let ty = IntType::INT;
        let wide = self.widened(b, ty);
        let both = self.in_one(&to, a, wide, ty);
        let text = "pointers into different objects";
        self.must(both, Kind::Pointer, span, |s| format!("{}: {text}", s.snippet(span)));
        let (a, b) = (self.widened(a, ty), wide);
        let terms = self.terms();
        match op {
            BinaryOperator::Less => truth(terms.lt(a, b)),
            BinaryOperator::Greater => truth(terms.lt(b, a)),
            BinaryOperator::LessOrEqual => truth(terms.le(a, b)),
            BinaryOperator::GreaterOrEqual => truth(terms.le(b, a)),
            BinaryOperator::Minus => {
                let difference = Val { term: terms.sub(a, b), ty };
                Ok(self.convert(difference, IntType::long(self.options.data_model, true)))
            }
            _ => self.error(span, "this operator is not expected between pointers"),
        }
    }
}
