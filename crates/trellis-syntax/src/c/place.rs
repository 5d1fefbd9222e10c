//! Places: what can be assigned to. A variable, a part of it, or what a pointer points to.

use std::rc::Rc;

use lang_c::ast::{BinaryOperator, Expression, MemberOperator, UnaryOperator};
use lang_c::span::{Node, Span as CSpan};
use rustc_hash::FxHashSet;
use trellis_expr::{TermId, Type, VarId};

use super::checks::Kind;
use super::decl::Name;
use super::lower::{Lower, Lowered, Val};
use super::purity::is_impure;
use super::structs::{Key, Object};
use super::types::{CType, IntType};

/// What a place is a part of.
#[derive(Debug, Clone)]
pub enum Base {
    Object(Object),
    /// What a pointer points to: its address, and its type.
    Behind(TermId, Rc<CType>),
}

/// One of the entries of an array.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    pub index: Val,
    /// How many there are.
    pub n: u64,
}

/// A variable or a part of it.
#[derive(Debug, Clone)]
pub struct Place {
    pub base: Base,
    /// Its first leaf.
    pub leaf: usize,
    pub ty: CType,
    /// Which entries, in all arrays around it, from the outermost one on.
    pub steps: Vec<Step>,
    /// Is it itself an entry (and not a member of one)?
    pub entry: bool,
}

/// Structures whose arrays have more entries than this in all are not copied entry by entry.
const MAX_COPIED: u64 = 1024;

impl Place {
    pub fn whole(object: Object) -> Place {
        let ty = object.ty.clone();
        Place { base: Base::Object(object), leaf: 0, ty, steps: vec![], entry: false }
    }

    /// Is it all that its pointer points to?
    pub fn is_pointee(&self) -> bool {
        matches!(&self.base, Base::Behind(_, to) if **to == self.ty) && self.leaf == 0 && self.steps.is_empty()
    }

    /// The variable, if it is one and nothing else.
    pub fn variable(&self) -> Option<VarId> {
        match &self.base {
            Base::Object(o) if self.steps.is_empty() => o.vars.get(self.leaf).copied(),
            _ => None,
        }
    }
}

/// Where a leaf of a place may be.
pub struct Spot {
    /// When it is there; none if it is always.
    pub when: Option<TermId>,
    pub var: VarId,
    /// Its position, in an array.
    pub at: Option<TermId>,
}

impl Lower<'_> {
    /// The place an expression denotes.
    pub fn place_of(&mut self, e: &Node<Expression>) -> Lowered<Place> {
        match &e.node {
            Expression::Identifier(i) => {
                let name = i.node.name.as_str();
                match self.lookup(name).cloned() {
                    Some(Name::Variable(object)) => Ok(Place::whole(object)),
                    Some(Name::Global) => Ok(Place::whole(self.global(name, e.span)?)),
                    Some(Name::Reference(_)) => self.refuse(e.span, name, &CType::other("a reference (a pointer)")),
                    Some(Name::Odd(ty)) => self.refuse(e.span, name, &ty),
                    Some(Name::Constant(_)) => self.error(e.span, format!("`{name}` is a constant")),
                    Some(Name::Type(_)) => self.error(e.span, format!("`{name}` is a type")),
                    None => self.error(e.span, format!("`{name}` is not declared")),
                }
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                // `2[a]` is `a[2]`.
                let (array, index) = match self.is_pointer(&b.node.rhs) && !self.is_pointer(&b.node.lhs) {
                    true => (&b.node.rhs, &b.node.lhs),
                    false => (&b.node.lhs, &b.node.rhs),
                };
                let mut place = self.pointed_by(array)?;
                if is_impure(index) {
                    place = self.steadied(place, e.span);
                }
                let index = self.value(index)?;
                Ok(self.shifted(place, index, false, e.span))
            }
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Indirection => {
                self.pointed_by(&u.node.operand)
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Assign => {
                self.assign(&b.node.lhs, &b.node.rhs, e.span)?;
                self.place_of(&b.node.lhs)
            }
            Expression::Member(m) => {
                let outer = match m.node.operator.node {
                    MemberOperator::Direct => self.place_of(&m.node.expression)?,
                    MemberOperator::Indirect => self.pointed_by(&m.node.expression)?,
                };
                let name = &m.node.identifier.node.name;
                let (ty, leaf) = self.member(&outer.ty, name, e.span)?;
                if let CType::Other(_) | CType::Function(_) = ty {
                    return self.refuse(e.span, name, &ty);
                }
                if self.leaf_count(&ty) == 0 && !matches!(ty, CType::Struct(_)) {
                    return self.refuse(e.span, name, &ty);
                }
                Ok(Place { leaf: outer.leaf + leaf, ty, entry: false, ..outer })
            }
            Expression::StringLiteral(_) => Ok(Place::whole(self.literal_text(e)?)),
            Expression::Call(call) => match self.call_place(call)? {
                Some(place) => Ok(place),
                None => self.error(e.span, "this is not a variable"),
            },
            Expression::CompoundLiteral(literal) => {
                let ty = self.type_name(&literal.node.type_name)?;
                let name = format!("@literal{}", e.span.start);
                let object = match self.locals.get(&e.span.start) {
                    Some(object) => object.clone(),
                    None => {
                        let Some(object) = self.object(&name, &ty, Key::Temporary) else {
                            return self.error(e.span, format!("a literal that is {} is not supported", ty.describe()));
                        };
                        self.locals.insert(e.span.start, object.clone());
                        object
                    }
                };
                self.initialise_by(&object, &literal.node.initializer_list, e.span)?;
                Ok(Place::whole(object))
            }
            _ => self.error(e.span, "this is not a variable"),
        }
    }

    /// The place that a pointer points to: where it can be seen in the text, that place.
    pub fn pointed_by(&mut self, e: &Node<Expression>) -> Lowered<Place> {
        if let Some(place) = self.seen(e)? {
            return Ok(place);
        }
        let (address, to) = self.pointer(e, None)?;
        let ty = (*to).clone();
        if self.leaf_count(&ty) == 0 && self.leaves(&ty).is_none() {
            return self
                .error(e.span, format!("what this points to is {}, which is not supported here", ty.describe()));
        }
        Ok(Place { base: Base::Behind(address, to), leaf: 0, ty, steps: vec![], entry: false })
    }

    /// What an expression points to, if that is plain from the text.
    pub fn seen(&mut self, e: &Node<Expression>) -> Lowered<Option<Place>> {
        match &e.node {
            Expression::Identifier(i) => {
                if let Some(Name::Reference(place)) = self.lookup(&i.node.name) {
                    return Ok(Some(place.clone()));
                }
                match self.type_of(e)? {
                    CType::Array(..) => self.place_of(e)?.first(self, e.span).map(Some),
                    _ => Ok(None),
                }
            }
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Address => {
                self.place_of(&u.node.operand).map(Some)
            }
            Expression::BinaryOperator(b)
                if let BinaryOperator::Plus | BinaryOperator::Minus = b.node.operator.node
                    && !is_impure(&b.node.rhs) =>
            {
                if !self.is_pointer(&b.node.lhs) || self.is_pointer(&b.node.rhs) {
                    return Ok(None);
                }
                // Beside a single thing there is nothing, but a pointer may point there.
                let place = self.seen(&b.node.lhs)?;
                let Some(place) = place.filter(|p| p.entry || p.is_pointee()) else { return Ok(None) };
                let by = self.value(&b.node.rhs)?;
                let back = b.node.operator.node == BinaryOperator::Minus;
                Ok(Some(self.shifted(place, by, back, e.span)))
            }
            Expression::Member(_) | Expression::BinaryOperator(_) | Expression::UnaryOperator(_) => {
                let lvalue = match &e.node {
                    Expression::BinaryOperator(b) => b.node.operator.node == BinaryOperator::Index,
                    Expression::UnaryOperator(u) => u.node.operator.node == UnaryOperator::Indirection,
                    _ => true,
                };
                match lvalue && matches!(self.type_of(e)?, CType::Array(..)) {
                    true => self.place_of(e)?.first(self, e.span).map(Some),
                    false => Ok(None),
                }
            }
            Expression::StringLiteral(_) => self.place_of(e)?.first(self, e.span).map(Some),
            Expression::Cast(c) => {
                let CType::Pointer(to) = self.type_name(&c.node.type_name)? else { return Ok(None) };
                let place = self.seen(&c.node.expression)?;
                Ok(place.filter(|p| p.ty == *to))
            }
            _ => Ok(None),
        }
    }

    /// The entry so many further on.
    pub fn shifted(&mut self, mut place: Place, by: Val, back: bool, span: CSpan) -> Place {
        let by = self.convert(by, by.ty.promoted());
        let by = Val { term: self.plain(by), ty: by.ty };
        let number = self.cfa.terms.as_value(by.term).map(|v| v.number());
        if number.is_some_and(|n| n == dashu_int::IBig::ZERO) {
            return place;
        }
        if place.is_pointee() {
            let Base::Behind(address, to) = &place.base else { return place };
            let moved = self.moved(*address, &to.clone(), by, back, span);
            place.base = Base::Behind(moved, Rc::new(place.ty.clone()));
            return place;
        }
        match place.steps.last().copied().filter(|_| place.entry) {
            Some(step) => {
                let old = self.cfa.terms.as_value(step.index.term).map(|v| v.number());
                let index = if !back && old.is_some_and(|n| n == dashu_int::IBig::ZERO) {
                    by
                } else {
                    let wide = IntType::long_long(true);
                    let (old, by) = (self.convert(step.index, wide), self.convert(by, wide));
                    let (old, by) = (self.plain(old), self.plain(by));
                    let terms = self.terms();
                    Val { term: if back { terms.sub(old, by) } else { terms.add([old, by]) }, ty: wide }
                };
                if let Some(last) = place.steps.last_mut() {
                    last.index = index;
                }
            }
            None => {
                // A single thing: there is nothing beside it.
                let zero = self.number(by.ty, 0);
                let here = self.terms().eq(by.term, zero);
                let text = "there is nothing beside a single object";
                self.must(here, Kind::Bounds, span, |s| format!("{}: {text}", s.snippet(span)));
            }
        }
        place
    }

    /// Notes that an index is within its array (or just behind it).
    pub fn within(&mut self, step: Step, behind: bool, span: CSpan) {
        let ty = step.index.ty;
        let i = self.plain(step.index);
        let zero = self.number(ty, 0);
        let mut inside = vec![self.terms().le(zero, i)];
        let most = (1u128 << (ty.width - u8::from(ty.signed))) - 1;
        let bound = u128::from(step.n) + u128::from(behind);
        if bound <= most {
            let size = self.number(ty, bound as i128);
            inside.push(self.terms().lt(i, size));
        }
        let inside = self.terms().and(inside);
        let text = |s: &Self| format!("{}: index outside an array of {}", s.snippet(span), step.n);
        self.must(inside, Kind::Bounds, span, text);
    }

    /// The position among all entries, as a number of this type.
    pub fn position(&mut self, steps: &[Step], sort: Type) -> Option<TermId> {
        let mut at = None;
        for step in steps {
            let i = self.plain(step.index);
            let terms = &mut self.cfa.terms;
            let i = terms.convert(sort, i);
            at = Some(match at {
                None => i,
                Some(outer) => {
                    let n = terms.number(sort, step.n.into());
                    let before = terms.mul(outer, n);
                    terms.add([before, i])
                }
            });
        }
        at
    }

    /// Where a leaf of a place may be, counted from its first one; `inner`: and which entry of the arrays inside.
    pub fn spots(&mut self, place: &Place, leaf: usize, inner: &[Step]) -> Lowered<Vec<Spot>> {
        let mut out = vec![];
        match &place.base {
            Base::Object(o) => {
                let Some(&var) = o.vars.get(place.leaf + leaf) else { return Ok(out) };
                let steps: Vec<Step> = place.steps.iter().chain(inner).copied().collect();
                out.push(Spot { when: None, var, at: self.position_in(var, &steps) });
            }
            Base::Behind(address, to) => {
                for (when, target) in self.pointees(*address, to)? {
                    let Base::Object(o) = &target.base else { continue };
                    let Some(&var) = o.vars.get(target.leaf + place.leaf + leaf) else { continue };
                    let steps: Vec<Step> = target.steps.iter().chain(&place.steps).chain(inner).copied().collect();
                    out.push(Spot { when: Some(when), var, at: self.position_in(var, &steps) });
                }
            }
        }
        Ok(out)
    }

    fn position_in(&mut self, var: VarId, steps: &[Step]) -> Option<TermId> {
        let Type::Array(index, _) = self.cfa.terms.variable(var).ty else { return None };
        let terms = &self.cfa.terms;
        let sort = terms.sort(terms.type_of_id(index));
        // Arrays with one entry each have one position.
        Some(self.position(steps, sort).unwrap_or_else(|| self.cfa.terms.number(sort, 0.into())))
    }

    /// Notes what must hold for a place to be there.
    fn exists(&mut self, place: &Place, span: CSpan) -> Lowered<()> {
        if let Base::Behind(address, to) = &place.base {
            self.points_somewhere(*address, to, span)?;
        }
        for step in &place.steps {
            self.within(*step, false, span);
        }
        Ok(())
    }

    /// The value of a leaf.
    fn leaf(&mut self, place: &Place, leaf: usize, inner: &[Step], ty: &CType) -> Lowered<TermId> {
        let spots = self.spots(place, leaf, inner)?;
        let mut value = None;
        for spot in spots.iter().rev() {
            let terms = self.terms();
            let var = terms.var(spot.var);
            let here = match spot.at {
                Some(i) => terms.select(var, i),
                None => var,
            };
            value = Some(match (value, spot.when) {
                (Some(other), Some(when)) => terms.ite(when, here, other),
                _ => here,
            });
        }
        Ok(match (value, ty) {
            (Some(value), _) => value,
            // It points to nothing there is; that was noted.
            (None, CType::Pointer(to)) => self.null(to),
            (None, CType::Int(int)) => self.number(*int, 0),
            (None, _) => self.number(IntType::INT, 0),
        })
    }

    /// The integer type of a place.
    pub fn integer_of(&mut self, place: &Place, span: CSpan) -> Lowered<IntType> {
        match &place.ty {
            CType::Int(ty) => Ok(*ty),
            CType::Array(..) => self.error(span, "this is an array, where a number is expected"),
            ty => self.error(span, format!("this is {}, where a number is expected", ty.describe())),
        }
    }

    /// The value in a place.
    pub fn load(&mut self, place: &Place, span: CSpan) -> Lowered<Val> {
        let ty = self.integer_of(place, span)?;
        Ok(Val { term: self.load_term(place, span)?, ty })
    }

    /// The value in a place that has just been assigned to: it is there.
    pub fn reload(&mut self, place: &Place, span: CSpan) -> Lowered<Val> {
        let ty = self.integer_of(place, span)?;
        Ok(Val { term: self.leaf(place, 0, &[], &place.ty.clone())?, ty })
    }

    /// The integer or pointer in a place.
    pub fn load_term(&mut self, place: &Place, span: CSpan) -> Lowered<TermId> {
        self.exists(place, span)?;
        self.is_set(place, span)?;
        self.leaf(place, 0, &[], &place.ty.clone())
    }

    /// Puts a value into a place; `at` is what is to blame if it is not there.
    pub fn store(&mut self, place: &Place, v: Val, at: CSpan, span: CSpan) -> Lowered<()> {
        let value = self.plain(v);
        self.store_term(place, value, at, span)
    }

    /// Puts a value into a place that has just been read.
    pub fn overwrite(&mut self, place: &Place, v: Val, span: CSpan) -> Lowered<()> {
        let value = self.plain(v);
        self.put(place, 0, &[], value, span)
    }

    /// Puts an integer or a pointer into a place.
    pub fn store_term(&mut self, place: &Place, value: TermId, at: CSpan, span: CSpan) -> Lowered<()> {
        self.exists(place, at)?;
        self.put(place, 0, &[], value, span)
    }

    fn put(&mut self, place: &Place, leaf: usize, inner: &[Step], value: TermId, span: CSpan) -> Lowered<()> {
        let spots = self.spots(place, leaf, inner)?;
        let mut all = vec![];
        for spot in &spots {
            let terms = self.terms();
            let value = match spot.at {
                Some(i) => {
                    let array = terms.var(spot.var);
                    terms.store(array, i, value)
                }
                None => value,
            };
            let assign = terms.assign(spot.var, value);
            let set = self.set_flag(spot.var, spot.at);
            let terms = self.terms();
            let assign = terms.seq([assign, set]);
            all.push(match spot.when {
                Some(when) => {
                    let here = terms.assume(when);
                    terms.seq([here, assign])
                }
                None => assign,
            });
        }
        if let [one] = all[..] {
            self.emit(one, span);
            return Ok(());
        }
        // Several possibilities: a way for each.
        self.flush(span);
        let Some(from) = self.at else { return Ok(()) };
        let to = self.location(span);
        for stmt in all {
            self.edge(from, stmt, to, span);
        }
        self.at = Some(to);
        Ok(())
    }

    /// All variables that a place may be part of.
    pub fn touched(&mut self, place: &Place) -> Lowered<FxHashSet<VarId>> {
        let mut out = FxHashSet::default();
        for leaf in 0..self.leaf_count(&place.ty) {
            out.extend(self.spots(place, leaf, &[])?.iter().map(|s| s.var));
        }
        Ok(out)
    }

    /// The place, which stays the same whatever changes.
    pub fn steadied(&mut self, mut place: Place, span: CSpan) -> Place {
        for step in &mut place.steps {
            step.index.term = self.save(step.index.term, span);
        }
        if let Base::Behind(address, to) = place.base {
            place.base = Base::Behind(self.save(address, span), to);
        }
        place
    }

    // Structures.

    /// The leaves of a structure, each as one value.
    pub fn snapshot(&mut self, place: &Place, span: CSpan) -> Lowered<Vec<TermId>> {
        self.exists(place, span)?;
        let mut out = vec![];
        for (k, leaf) in self.leaves(&place.ty).unwrap_or_default().iter().enumerate() {
            let Some(n) = leaf.count else {
                out.push(self.leaf(place, k, &[], &leaf.ty)?);
                continue;
            };
            if let (Base::Object(o), []) = (&place.base, &place.steps[..])
                && let Some(&v) = o.vars.get(place.leaf + k)
            {
                out.push(self.terms().var(v));
                continue;
            }
            let mut value = self.zeros(&leaf.ty, n);
            for i in self.copied(n, span)? {
                let term = self.leaf(place, k, &[i], &leaf.ty)?;
                let sort = self.cfa.terms.ty(value);
                let Type::Array(index, _) = sort else { continue };
                let index = self.cfa.terms.sort(self.cfa.terms.type_of_id(index));
                if let Some(at) = self.position(&[i], index) {
                    value = self.terms().store(value, at, term);
                }
            }
            out.push(value);
        }
        Ok(out)
    }

    /// Gives the leaves of a structure these values.
    pub fn spread(&mut self, place: &Place, mut values: Vec<TermId>, span: CSpan) -> Lowered<()> {
        self.exists(place, span)?;
        let touched = self.touched(place)?;
        let moves = |terms: &trellis_expr::Terms, t: TermId| terms.free_vars(t).iter().any(|v| touched.contains(v));
        if values.len() > 1 {
            for value in &mut values {
                if moves(&self.cfa.terms, *value) {
                    *value = self.save(*value, span);
                }
            }
        }
        let mut place = place.clone();
        for step in &mut place.steps {
            if moves(&self.cfa.terms, step.index.term) {
                step.index.term = self.save(step.index.term, span);
            }
        }
        if let Base::Behind(address, to) = &place.base
            && moves(&self.cfa.terms, *address)
        {
            place.base = Base::Behind(self.save(*address, span), to.clone());
        }
        let leaves = self.leaves(&place.ty).unwrap_or_default();
        for (k, (leaf, value)) in leaves.iter().zip(values).enumerate() {
            let Some(n) = leaf.count else {
                self.put(&place, k, &[], value, span)?;
                continue;
            };
            if let (Base::Object(o), []) = (&place.base, &place.steps[..])
                && let Some(&v) = o.vars.get(place.leaf + k)
            {
                let assign = self.terms().assign(v, value);
                let set = self.set_flag(v, None);
                let stmt = self.terms().seq([assign, set]);
                self.emit(stmt, span);
                continue;
            }
            let Type::Array(index, _) = self.cfa.terms.ty(value) else { continue };
            let index = self.cfa.terms.sort(self.cfa.terms.type_of_id(index));
            for i in self.copied(n, span)? {
                if let Some(at) = self.position(&[i], index) {
                    let entry = self.terms().select(value, at);
                    self.put(&place, k, &[i], entry, span)?;
                }
            }
        }
        Ok(())
    }

    fn copied(&mut self, n: u64, span: CSpan) -> Lowered<Vec<Step>> {
        if n > MAX_COPIED {
            return self
                .error(span, "structures with arrays this long are not copied out of arrays or through pointers");
        }
        let ty = IntType::long_long(true);
        Ok((0..n).map(|i| Step { index: self.constant(ty, i.into()), n }).collect())
    }

    /// The value of a name, an entry, or what a reference refers to.
    pub fn read(&mut self, e: &Node<Expression>) -> Lowered<Val> {
        if let Expression::Identifier(i) = &e.node
            && let Some(&Name::Constant(n)) = self.lookup(&i.node.name)
        {
            // C11 6.7.2.2: members have type int. gcc gives larger ones a larger type.
            let ty = match i32::try_from(n) {
                Ok(_) => IntType::INT,
                Err(_) if u32::try_from(n).is_ok() => IntType::UINT,
                Err(_) => IntType::long_long(true),
            };
            return Ok(self.constant(ty, n));
        }
        let place = self.place_of(e)?;
        self.load(&place, e.span)
    }

    /// Can the value depend on no variable? (Then it may be a constant expression.)
    pub fn is_closed(&self, e: &Node<Expression>) -> bool {
        match &e.node {
            Expression::Constant(_) => true,
            Expression::SizeOfTy(_) | Expression::SizeOfVal(_) | Expression::AlignOf(_) => true,
            Expression::Identifier(i) => matches!(self.lookup(&i.node.name), Some(Name::Constant(_))),
            Expression::Cast(c) => self.is_closed(&c.node.expression),
            Expression::UnaryOperator(u) => !is_impure(e) && self.is_closed(&u.node.operand),
            Expression::BinaryOperator(b) => {
                !is_impure(e) && self.is_closed(&b.node.lhs) && self.is_closed(&b.node.rhs)
            }
            Expression::Conditional(c) => {
                let c = &c.node;
                self.is_closed(&c.condition) && self.is_closed(&c.then_expression) && self.is_closed(&c.else_expression)
            }
            _ => false,
        }
    }
}

impl Place {
    /// The first entry of an array.
    pub fn first(mut self, lower: &mut Lower<'_>, span: CSpan) -> Lowered<Place> {
        match self.ty {
            CType::Array(entry, Some(n)) => {
                let index = lower.constant(IntType::INT, 0);
                self.steps.push(Step { index, n });
                Ok(Place { ty: (*entry).clone(), entry: true, ..self })
            }
            CType::Array(_, None) => lower.error(span, "the size of this array is not known"),
            _ => lower.error(span, "this is not an array"),
        }
    }
}
