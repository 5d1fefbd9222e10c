//! Values of ECMAScript as terms, and the variables that hold them.
//!
//! A value is one of several kinds. [`Sym`] says for each kind when it is of that kind, and what it is then: a *guarded union*, as in
//! symbolic execution. Where only one kind is possible the guard is `true`, and nothing of the union is left: a variable that
//! is always an integer is one integer variable of the automaton. A variable that may be of several kinds has one more that says of
//! which it is. Which kinds (strings, elements, members) something may have is its [`Shape`]; `types` finds them.
//!
//! Objects and arrays are values here, not references: what would tell the difference is refused there.

use std::collections::{BTreeMap, BTreeSet};

use trellis_expr::eval::Valuation;
use trellis_expr::{StmtId, TermId, Type, Value, VarId};

use super::lower::Lower;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// There is no such variable yet.
    Unbound,
    Undefined,
    Null,
    Bool,
    Int,
    Text,
    Array,
    Object,
}

pub const KINDS: [Kind; 8] =
    [Kind::Unbound, Kind::Undefined, Kind::Null, Kind::Bool, Kind::Int, Kind::Text, Kind::Array, Kind::Object];

impl Kind {
    /// The literal of the automaton's enumeration.
    pub fn name(self) -> &'static str {
        ["not declared", "undefined", "null", "boolean", "number", "string", "array", "object"][self as usize]
    }

    /// In messages.
    pub fn describe(self) -> &'static str {
        let all = ["nothing", "undefined", "null", "a truth value", "an integer", "a string", "an array", "an object"];
        all[self as usize]
    }
}

/// A member that no chart can name: it says which object this is, where that is known.
pub const IDENTITY: &str = "\0";

/// The longest array.
pub const MAX_ARRAY: usize = 8;
/// How deeply arrays and objects may be nested.
const MAX_DEPTH: usize = 5;

/// Which values are possible.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    pub kinds: BTreeSet<Kind>,
    pub texts: BTreeSet<String>,
    pub elements: Vec<Shape>,
    pub fields: BTreeMap<String, Shape>,
}

impl Shape {
    pub fn only(kind: Kind) -> Shape {
        Shape { kinds: BTreeSet::from([kind]), ..Shape::default() }
    }

    /// Takes in what another allows; was that more?
    pub fn join(&mut self, other: &Shape) -> bool {
        self.join_within(other, MAX_DEPTH)
    }

    fn join_within(&mut self, other: &Shape, depth: usize) -> bool {
        if depth == 0 {
            return false;
        }
        let before = self.kinds.len() + self.texts.len() + self.elements.len() + self.fields.len();
        let both = [&*self, other].iter().all(|s| s.kinds.contains(&Kind::Object));
        let mut grown = false;
        for (name, shape) in &other.fields {
            let missing = both && !self.fields.contains_key(name);
            let mine = self.fields.entry(name.clone()).or_default();
            grown |= mine.join_within(shape, depth - 1);
            grown |= missing && mine.kinds.insert(Kind::Undefined);
        }
        if both {
            for (_, mine) in self.fields.iter_mut().filter(|(name, _)| !other.fields.contains_key(*name)) {
                grown |= mine.kinds.insert(Kind::Undefined);
            }
        }
        self.elements.resize_with(self.elements.len().max(other.elements.len()), Shape::default);
        for (mine, shape) in self.elements.iter_mut().zip(&other.elements) {
            grown |= mine.join_within(shape, depth - 1);
        }
        self.kinds.extend(&other.kinds);
        self.texts.extend(other.texts.iter().cloned());
        grown || before != self.kinds.len() + self.texts.len() + self.elements.len() + self.fields.len()
    }
}

/// A value as terms.
#[derive(Debug, Clone, Default)]
pub struct Sym {
    /// When it is of which kind; together they cover all that can happen, and no two hold at once.
    pub guards: BTreeMap<Kind, TermId>,
    pub bool: Option<TermId>,
    pub int: Option<TermId>,
    /// With all strings that are possible.
    pub text: Option<(TermId, BTreeSet<String>)>,
    pub len: Option<TermId>,
    pub elements: Vec<Sym>,
    pub fields: BTreeMap<String, Sym>,
    /// May an array or object in it have another name?
    pub shared: bool,
}

impl Sym {
    /// Which values it may have.
    pub fn shape(&self) -> Shape {
        Shape {
            kinds: self.guards.keys().copied().collect(),
            texts: self.text.as_ref().map_or_else(BTreeSet::new, |(_, texts)| texts.clone()),
            elements: self.elements.iter().map(Sym::shape).collect(),
            fields: self.fields.iter().map(|(name, s)| (name.clone(), s.shape())).collect(),
        }
    }

    pub fn may_be(&self, kind: Kind) -> bool {
        self.guards.contains_key(&kind)
    }

    /// The kind, if there is only one.
    pub fn kind(&self) -> Option<Kind> {
        self.guards.keys().next().copied().filter(|_| self.guards.len() == 1)
    }

    /// Is it a single variable of the automaton, or could it be?
    pub fn is_compound(&self) -> bool {
        self.may_be(Kind::Array) || self.may_be(Kind::Object)
    }
}

/// The variables that hold a value.
#[derive(Debug, Clone, Default)]
pub struct Store {
    pub shape: Shape,
    /// The type is declared: nothing else goes in.
    pub ty: Option<Type>,
    pub tag: Option<VarId>,
    pub bool: Option<VarId>,
    pub int: Option<VarId>,
    pub text: Option<VarId>,
    pub len: Option<VarId>,
    pub elements: Vec<Store>,
    pub fields: BTreeMap<String, Store>,
}

impl Store {
    /// The one variable that it is.
    pub fn plain(&self) -> Option<VarId> {
        if self.tag.is_some() || self.len.is_some() || self.shape.kinds.contains(&Kind::Object) {
            return None;
        }
        self.bool.or(self.int).or(self.text)
    }

    /// All variables.
    pub fn all(&self) -> Vec<VarId> {
        let mut all: Vec<VarId> = [self.tag, self.bool, self.int, self.text, self.len].into_iter().flatten().collect();
        self.elements.iter().chain(self.fields.values()).for_each(|s| all.extend(s.all()));
        all
    }
}

/// What a variable holds, as single values with names: `x`, `x[0]`, `x.member`.
pub fn tell(store: &Store, name: &str, values: &Valuation, told: &mut Vec<(String, Value)>) {
    let value = |v: Option<VarId>| v.and_then(|v| values.get(&v)).cloned();
    let mut kind = store.shape.kinds.iter().next().copied();
    let tag = value(store.tag);
    if let Some(Value::Enum(_, n)) = tag {
        kind = KINDS.get(n as usize).copied();
    }
    let single = match kind {
        Some(Kind::Bool) => value(store.bool),
        Some(Kind::Int) => value(store.int),
        Some(Kind::Text) => value(store.text),
        Some(Kind::Array) => {
            let len = value(store.len);
            let n = match &len {
                Some(Value::Int(n)) => usize::try_from(n).unwrap_or(0),
                _ => 0,
            };
            for (k, element) in store.elements.iter().enumerate().take(n) {
                tell(element, &format!("{name}[{k}]"), values, told);
            }
            told.extend(len.map(|len| (format!("{name}.length"), len)));
            return;
        }
        Some(Kind::Object) => {
            let fields = store.fields.iter().filter(|(field, _)| *field != IDENTITY);
            return fields.for_each(|(field, s)| tell(s, &format!("{name}.{field}"), values, told));
        }
        _ => tag,
    };
    told.extend(single.map(|value| (name.to_string(), value)));
}

impl Lower<'_> {
    /// The enumeration of kinds.
    fn tag_literal(&mut self, kind: Kind) -> TermId {
        let ty = match self.kind_type {
            Some(ty) => ty,
            None => self.terms.declare_enum("Kind", KINDS.iter().map(|k| k.name().to_string()).collect()),
        };
        self.kind_type = Some(ty);
        self.terms.enum_lit(ty, kind as u32)
    }

    /// Declares the variables of something with this shape. They get their first values with all others.
    pub fn declare_store(&mut self, name: &str, shape: &Shape) -> Store {
        let mut store = Store { shape: shape.clone(), ..Store::default() };
        let has = |kind| shape.kinds.contains(&kind);
        let many = shape.kinds.len() > 1;
        if many {
            self.tag_literal(Kind::Undefined);
            store.tag = self.kind_type.map(|ty| self.declare(name, Type::Enum(ty), true));
        }
        let part = |what: Kind| if many { format!("{name} ({})", what.name()) } else { name.to_string() };
        if has(Kind::Bool) {
            store.bool = Some(self.declare(&part(Kind::Bool), Type::Bool, false));
        }
        if has(Kind::Int) {
            store.int = Some(self.declare(&part(Kind::Int), Type::Int, false));
        }
        if has(Kind::Text) {
            let ty = Type::Enum(self.symbol_type);
            store.text = Some(self.declare(&part(Kind::Text), ty, false));
        }
        if has(Kind::Array) {
            let most = shape.elements.len().max(1) as i64;
            store.len = Some(self.declare(&format!("{name}.length"), Type::Range(0, most), true));
            for (n, element) in shape.elements.iter().enumerate() {
                let element = self.declare_store(&format!("{name}[{n}]"), element);
                store.elements.push(element);
            }
        }
        if has(Kind::Object) {
            for (field, shape) in &shape.fields {
                let field_store = self.declare_store(&format!("{name}.{field}"), shape);
                store.fields.insert(field.clone(), field_store);
            }
        }
        if many || store.plain().is_none() {
            let own = [store.bool, store.int, store.text];
            self.zeroed.extend(own.into_iter().flatten());
        }
        store
    }

    /// A variable with a type of its own.
    pub fn declare_typed(&mut self, name: &str, ty: Type) -> Store {
        let v = self.declare(name, ty, false);
        let mut store = Store { ty: Some(ty), ..Store::default() };
        let kind = match ty {
            Type::Bool => {
                store.bool = Some(v);
                Kind::Bool
            }
            Type::Enum(e) => {
                store.text = Some(v);
                store.shape.texts = self.terms.enumeration(e).literals.iter().cloned().collect();
                Kind::Text
            }
            _ => {
                store.int = Some(v);
                Kind::Int
            }
        };
        store.shape.kinds.insert(kind);
        store
    }

    /// What is in there.
    pub fn read(&mut self, store: &Store) -> Sym {
        let mut sym = Sym::default();
        for &kind in &store.shape.kinds {
            let guard = match store.tag {
                Some(tag) => {
                    let (tag, literal) = (self.terms.var(tag), self.tag_literal(kind));
                    self.terms.eq(tag, literal)
                }
                None => self.terms.bool(true),
            };
            sym.guards.insert(kind, guard);
        }
        sym.bool = store.bool.map(|v| self.terms.var(v));
        sym.int = store.int.map(|v| self.terms.var(v));
        sym.text = store.text.map(|v| (self.terms.var(v), store.shape.texts.clone()));
        sym.len = store.len.map(|v| self.terms.var(v));
        sym.elements = store.elements.iter().map(|s| self.read(s)).collect();
        sym.fields = store.fields.iter().map(|(name, s)| (name.clone(), self.read(s))).collect();
        sym.shared = sym.is_compound();
        sym
    }

    /// The assignments that put a value there. What it has no place for there cannot be, or is an error that was found before.
    fn assignments(&mut self, store: &Store, value: &Sym, when: TermId, all: &mut Vec<(VarId, TermId)>) {
        let guard = |kind: Kind| value.guards.get(&kind).copied();
        if let Some(tag) = store.tag {
            let mut literal = self.tag_literal(*store.shape.kinds.iter().next().unwrap_or(&Kind::Unbound));
            for (&kind, &guard) in value.guards.iter().rev() {
                let this = self.tag_literal(kind);
                literal = self.terms.ite(guard, this, literal);
            }
            let none = self.tag_literal(Kind::Unbound);
            all.push((tag, self.terms.ite(when, literal, none)));
        }
        // Where it is of another kind, what was there is wiped out, so that equal values look the same.
        let mut put = |l: &mut Self, v: Option<VarId>, kind: Kind, term: Option<TermId>| {
            let Some(v) = v else { return };
            let none = l.none_of(v);
            let value = match (guard(kind), term) {
                (Some(guard), Some(term)) => {
                    let when = l.terms.and([when, guard]);
                    l.terms.ite(when, term, none)
                }
                _ => none,
            };
            all.push((v, value));
        };
        put(self, store.bool, Kind::Bool, value.bool);
        put(self, store.int, Kind::Int, value.int);
        let text = match (store.text, &value.text) {
            (Some(v), Some((term, texts))) => self.as_enum(*term, texts, self.terms.variable(v).ty),
            _ => None,
        };
        put(self, store.text, Kind::Text, text);
        put(self, store.len, Kind::Array, value.len);
        for (n, element) in store.elements.iter().enumerate() {
            let there = match (value.elements.get(n), guard(Kind::Array), value.len) {
                (Some(_), Some(guard), Some(len)) => {
                    let n = self.terms.int(n as i64);
                    let within = self.terms.lt(n, len);
                    self.terms.and([when, guard, within])
                }
                _ => self.terms.bool(false),
            };
            let nothing = Sym::default();
            self.assignments(element, value.elements.get(n).unwrap_or(&nothing), there, all);
        }
        for (name, field) in &store.fields {
            let there = match guard(Kind::Object) {
                Some(guard) => self.terms.and([when, guard]),
                None => self.terms.bool(false),
            };
            let undefined = self.constant(Kind::Undefined);
            self.assignments(field, value.fields.get(name).unwrap_or(&undefined), there, all);
        }
    }

    /// Puts a value there, all at once.
    pub fn write(&mut self, store: &Store, value: &Sym) -> StmtId {
        let mut all = vec![];
        let always = self.terms.bool(true);
        self.assignments(store, value, always, &mut all);
        let mut written = BTreeSet::new();
        let clash = all.iter().any(|&(v, t)| {
            let reads = self.reads(t).into_iter().any(|r| written.contains(&r));
            written.insert(v);
            reads
        });
        let mut parts = vec![];
        if clash {
            // Through others, which are wiped out again.
            for (n, (v, t)) in all.iter_mut().enumerate() {
                let ty = self.terms.sort(self.terms.variable(*v).ty);
                let temporary = self.temporary(n, ty);
                parts.push(self.terms.assign(temporary, *t));
                *t = self.terms.var(temporary);
            }
        }
        for &(v, t) in &all {
            parts.push(self.terms.assign(v, t));
        }
        if clash {
            for (n, &(v, _)) in all.iter().enumerate() {
                let ty = self.terms.sort(self.terms.variable(v).ty);
                let temporary = self.temporary(n, ty);
                let none = self.none_of(temporary);
                parts.push(self.terms.assign(temporary, none));
            }
        }
        self.terms.seq(parts)
    }

    fn temporary(&mut self, n: usize, ty: Type) -> VarId {
        if let Some(&v) = self.temporaries.get(&(n, ty)) {
            return v;
        }
        let v = self.declare(&format!("temporary {n}"), ty, false);
        self.zeroed.push(v);
        self.temporaries.insert((n, ty), v);
        v
    }

    /// What stands in a variable that says nothing.
    pub fn none_of(&mut self, v: VarId) -> TermId {
        match self.terms.variable(v).ty {
            Type::Enum(e) => self.terms.enum_lit(e, 0),
            Type::Bool => self.terms.bool(false),
            Type::Range(lo, hi) => self.terms.int(0.clamp(lo, hi)),
            _ => self.terms.int(0),
        }
    }

    /// The variables in a term.
    fn reads(&self, t: TermId) -> BTreeSet<VarId> {
        let (mut all, mut seen, mut todo) = (BTreeSet::new(), BTreeSet::new(), vec![t]);
        while let Some(t) = todo.pop() {
            if seen.insert(t) {
                if let trellis_expr::Term::Var(v) = self.terms.get(t) {
                    all.insert(*v);
                }
                todo.extend(self.terms.children(t));
            }
        }
        all
    }

    /// May a statement change what a value is made of?
    pub fn changes(&self, stmt: StmtId, value: &Sym) -> bool {
        fn written(l: &Lower, s: StmtId, all: &mut BTreeSet<VarId>, seen: &mut BTreeSet<StmtId>) {
            if !seen.insert(s) {
                return;
            }
            match l.terms.stmt(s) {
                trellis_expr::Stmt::Assign(v, _) => {
                    all.insert(*v);
                }
                trellis_expr::Stmt::Seq(parts) => parts.iter().for_each(|&p| written(l, p, all, seen)),
                trellis_expr::Stmt::If(_, a, b) => [*a, *b].into_iter().for_each(|p| written(l, p, all, seen)),
                _ => {}
            }
        }
        let (mut changed, mut seen) = (BTreeSet::new(), BTreeSet::new());
        written(self, stmt, &mut changed, &mut seen);
        let mut todo = vec![value];
        while let Some(s) = todo.pop() {
            let terms = s.guards.values().copied().chain([s.bool, s.int, s.len].into_iter().flatten());
            let terms = terms.chain(s.text.as_ref().map(|(t, _)| *t));
            if terms.into_iter().any(|t| self.reads(t).iter().any(|v| changed.contains(v))) {
                return true;
            }
            todo.extend(s.elements.iter().chain(s.fields.values()));
        }
        false
    }

    // Values.

    /// A value of a kind that has only one.
    pub fn constant(&mut self, kind: Kind) -> Sym {
        Sym { guards: BTreeMap::from([(kind, self.terms.bool(true))]), ..Sym::default() }
    }

    pub fn truth(&mut self, t: TermId) -> Sym {
        Sym { bool: Some(t), ..self.constant(Kind::Bool) }
    }

    pub fn integer(&mut self, t: TermId) -> Sym {
        Sym { int: Some(t), ..self.constant(Kind::Int) }
    }

    pub fn text(&mut self, text: &str) -> Sym {
        let t = self.symbol(text);
        Sym { text: Some((t, BTreeSet::from([text.to_string()]))), ..self.constant(Kind::Text) }
    }

    /// The literal of a string; if it is new it is taken note of.
    pub fn symbol(&mut self, text: &str) -> TermId {
        let n = self.terms.enumeration(self.symbol_type).literals.iter().position(|l| l == text);
        if n.is_none() && !self.shapes.symbols.iter().any(|s| s == text) {
            self.shapes.symbols.push(text.to_string());
        }
        self.grown |= n.is_none();
        self.terms.enum_lit(self.symbol_type, n.unwrap_or(0) as u32)
    }

    /// A string as a literal of another enumeration, where that has it.
    pub fn as_enum(&mut self, term: TermId, texts: &BTreeSet<String>, ty: Type) -> Option<TermId> {
        let (Type::Enum(to), Type::Enum(from)) = (ty, self.terms.ty(term)) else { return None };
        if to == from {
            return Some(term);
        }
        let place = |l: &Self, e, text: &str| l.terms.enumeration(e).literals.iter().position(|s| s == text);
        let mut result = self.terms.enum_lit(to, 0);
        for text in texts.iter().rev() {
            if let (Some(m), Some(n)) = (place(self, from, text), place(self, to, text)) {
                let (is, then) = (self.terms.enum_lit(from, m as u32), self.terms.enum_lit(to, n as u32));
                let is = self.terms.eq(term, is);
                result = self.terms.ite(is, then, result);
            }
        }
        Some(result)
    }

    /// When a string is this one.
    pub fn is_text(&mut self, term: TermId, text: &str) -> TermId {
        let Type::Enum(e) = self.terms.ty(term) else { return self.terms.bool(false) };
        match self.terms.enumeration(e).literals.iter().position(|l| l == text) {
            Some(n) => {
                let literal = self.terms.enum_lit(e, n as u32);
                self.terms.eq(term, literal)
            }
            None if e == self.symbol_type => {
                self.symbol(text);
                self.terms.bool(false)
            }
            None => self.terms.bool(false),
        }
    }

    /// The one or the other.
    pub fn choose(&mut self, c: TermId, a: Sym, b: Sym) -> Sym {
        match self.terms.as_bool(c) {
            Some(true) => return a,
            Some(false) => return b,
            None => {}
        }
        let mut guards = BTreeMap::new();
        let no = self.terms.bool(false);
        for kind in KINDS {
            if a.may_be(kind) || b.may_be(kind) {
                let of = |s: &Sym| s.guards.get(&kind).copied().unwrap_or(no);
                let guard = self.terms.ite(c, of(&a), of(&b));
                guards.insert(kind, guard);
            }
        }
        let pick = |l: &mut Self, x: Option<TermId>, y: Option<TermId>| match (x, y) {
            (Some(x), Some(y)) => Some(l.terms.ite(c, x, y)),
            (x, y) => x.or(y),
        };
        let (bool, int, len) = (pick(self, a.bool, b.bool), pick(self, a.int, b.int), pick(self, a.len, b.len));
        let text = match (a.text, b.text) {
            (Some((x, xs)), Some((y, ys))) => {
                let ty =
                    if self.terms.ty(x) == self.terms.ty(y) { self.terms.ty(x) } else { Type::Enum(self.symbol_type) };
                let both = (self.as_enum(x, &xs, ty), self.as_enum(y, &ys, ty));
                let all = xs.union(&ys).cloned().collect();
                both.0.zip(both.1).map(|(x, y)| (self.terms.ite(c, x, y), all))
            }
            (x, y) => x.or(y),
        };
        let both_objects = guards.contains_key(&Kind::Object)
            && a.guards.contains_key(&Kind::Object)
            && b.guards.contains_key(&Kind::Object);
        let mut fields = BTreeMap::new();
        let names: BTreeSet<String> = a.fields.keys().chain(b.fields.keys()).cloned().collect();
        for name in names {
            let (x, y) = (a.fields.get(&name).cloned(), b.fields.get(&name).cloned());
            let undefined = self.constant(Kind::Undefined);
            let field = match (x, y) {
                (Some(x), Some(y)) => self.choose(c, x, y),
                (Some(x), None) if both_objects => self.choose(c, x, undefined),
                (None, Some(y)) if both_objects => self.choose(c, undefined, y),
                (x, y) => x.or(y).unwrap_or(undefined),
            };
            fields.insert(name, field);
        }
        let (mut x, mut y) = (a.elements.into_iter(), b.elements.into_iter());
        let mut elements = vec![];
        loop {
            match (x.next(), y.next()) {
                (Some(x), Some(y)) => elements.push(self.choose(c, x, y)),
                (None, None) => break,
                (x, y) => elements.extend(x.or(y)),
            }
        }
        Sym { guards, bool, int, text, len, elements, fields, shared: a.shared || b.shared }
    }

    /// What kinds something may be of, for messages.
    pub fn describe_kinds(&self, value: &Sym) -> String {
        let all: Vec<&str> = value.guards.keys().map(|k| k.describe()).collect();
        all.join(" or ")
    }
}
