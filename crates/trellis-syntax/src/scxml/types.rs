//! The data model, and what its variables may hold.
//!
//! A variable has the type that it is declared with (`trellis:type`), or may hold whatever is put into it somewhere in the chart.
//! What that is, is found by making all terms again and again until nothing new turns up ([`Shapes`]): which kinds of values,
//! which strings, how long arrays are, which events are sent under computed names. Arrays have at most
//! [`MAX_ARRAY`](super::value::MAX_ARRAY) elements.
//!
//! **Errors.** An expression that throws in ECMAScript (a name that nobody has declared, a member of `undefined`), or has no
//! integer as its value (a division by zero), is W3C's `error.execution`. What ECMAScript has a value for that there is none of
//! here (`NaN`, a number as a string, whether two objects are the same one) leads to a location of its own,
//! [`Limit::Value`](super::Limit): a run that comes there is not looked at any further, and nothing is proven. If every run
//! would, the chart is refused.

use rustc_hash::FxHashMap;
use trellis_expr::{EnumId, StmtId, TermId, Type};

use super::events::Message;
use super::expr::{Expr, Node};
use super::lower::Lower;
use super::send::Limit;
use super::tree::{Action, Data, DataType};
use super::value::{IDENTITY, Kind, Shape, Store, Sym};
use crate::diag::{Diagnostic, Span, shorten};
use crate::text::errors::closest;

/// How many strings may be put together.
const MAX_STRINGS: usize = 200;

/// What was found out about values.
#[derive(Debug, Clone, Default)]
pub struct Shapes {
    pub variables: FxHashMap<String, Shape>,
    /// What events carry.
    pub payload: Shape,
    pub symbols: Vec<String>,
    /// Events with computed names, targets or ids.
    pub messages: Vec<Message>,
    /// May a condition without an event have no value? Then it is tried again and again.
    pub again: bool,
}

/// The variables of the data model.
#[derive(Default)]
pub struct DataModel {
    /// In the order in which they are declared.
    pub variables: Vec<(String, Store)>,
    enums: FxHashMap<Vec<String>, EnumId>,
    /// Those that have a value already, while the first values are made.
    early: Option<Vec<String>>,
}

/// Where an expression has a value.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// No error.
    pub ok: TermId,
    /// Nothing that there is no value for.
    pub within: TermId,
}

const SYSTEM: [&str; 5] = ["_event", "_sessionid", "_name", "_ioprocessors", "_x"];

impl Lower<'_> {
    // What is wrong, and when.

    /// Something is wrong that no run is needed for; not said while shapes are still looked for.
    pub fn mistake(&mut self, span: Span, message: impl Into<String>) {
        if !self.quiet {
            self.error(span, message);
        }
    }

    /// Something that W3C has a meaning for, but hardly what was meant.
    pub fn warn(&mut self, span: Span, message: impl Into<String>) {
        if !self.quiet && self.warned.insert(span.start) {
            self.errors.push(Diagnostic::warning(span, message));
        }
    }

    /// It is an error if this holds.
    pub fn fault(&mut self, path: TermId, when: TermId) {
        let when = self.terms.and([path, when]);
        self.faults.push(when);
    }

    /// There is no value for it here if this holds.
    pub fn beyond(&mut self, path: TermId, when: TermId, span: Span, what: &str) {
        let when = self.terms.and([path, when]);
        match self.terms.as_bool(when) {
            Some(false) => {}
            Some(true) => self.mistake(span, format!("{what} is not supported")),
            None => self.beyonds.push(when),
        }
    }

    /// Evaluates something, and says where that succeeds.
    pub fn evaluating<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (T, Outcome) {
        let before = (std::mem::take(&mut self.faults), std::mem::take(&mut self.beyonds));
        let result = f(self);
        let faults = std::mem::replace(&mut self.faults, before.0);
        let beyonds = std::mem::replace(&mut self.beyonds, before.1);
        let (fault, beyond) = (self.terms.or(faults), self.terms.or(beyonds));
        (result, Outcome { ok: self.terms.not(fault), within: self.terms.not(beyond) })
    }

    /// A value, wherever it is needed.
    pub fn value(&mut self, e: &Expr) -> (Sym, Outcome) {
        let always = self.terms.bool(true);
        self.evaluating(|l| l.eval(e, always))
    }

    /// Does it where there is a value; and whether it may fail.
    pub fn when_known(&mut self, outcome: Outcome, then: StmtId) -> (StmtId, bool) {
        self.when_known_of(None, outcome, then)
    }

    /// The same for the `<send>` with an id.
    pub fn when_known_of(&mut self, id: Option<&str>, outcome: Outcome, then: StmtId) -> (StmtId, bool) {
        let mut stmt = then;
        let fails = self.terms.as_bool(outcome.ok) != Some(true);
        if fails {
            let fail = self.fail(id);
            stmt = self.terms.branch(outcome.ok, stmt, fail);
        }
        (self.when_within(outcome, stmt), fails)
    }

    pub fn when_within(&mut self, outcome: Outcome, then: StmtId) -> StmtId {
        if self.terms.as_bool(outcome.within) == Some(true) {
            return then;
        }
        if !self.overflow.iter().any(|(l, _)| *l == Limit::Value) {
            self.declare_overflow(Limit::Value);
        }
        let lost = self.overflows(Limit::Value);
        self.terms.branch(outcome.within, then, lost)
    }

    /// Where a condition is true; and what happens, where it is not, because it may have no value.
    pub fn condition(&mut self, cond: &Expr, eventless: bool) -> (TermId, StmtId) {
        let always = self.terms.bool(true);
        let (truth, outcome) = self.evaluating(|l| {
            let value = l.eval(cond, always);
            l.truthy(&value)
        });
        if eventless && self.terms.as_bool(outcome.ok) != Some(true) && !self.shapes.again {
            self.shapes.again = true;
            self.grown = true;
        }
        let (error, skip) = (self.enqueue_error(None), self.terms.skip());
        let error = self.terms.branch(outcome.ok, skip, error);
        let error = self.when_within(outcome, error);
        (self.terms.and([outcome.within, outcome.ok, truth]), error)
    }

    // The data model.

    /// The variables that executable content makes.
    fn made(&self) -> Vec<String> {
        let mut all = vec![];
        for action in self.tree.actions() {
            match action {
                Action::Declare(name) => all.push(name.clone()),
                Action::Assign { to, create: true, .. } => {
                    if let Node::Name(name) = &to.node {
                        all.push(name.clone());
                    }
                }
                Action::Foreach { item, index, .. } => all.extend(item.iter().chain(index).cloned()),
                _ => {}
            }
        }
        all.retain(|name| !SYSTEM.contains(&name.as_str()));
        all
    }

    /// Declares the data; answers with the statements that give them their first values.
    pub fn declare_data(&mut self) -> Vec<StmtId> {
        let tree = self.tree;
        let mut sound = vec![];
        for data in &tree.data {
            let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            let named = !data.name.is_empty() && data.name.chars().all(word);
            if !named || data.name.starts_with(|c: char| c.is_numeric()) {
                self.mistake(data.span, "this is not the name of a variable");
                continue;
            }
            if self.store(&data.name).is_some() {
                self.mistake(data.span, format!("the variable `{}` is declared twice", shorten(&data.name)));
                continue;
            }
            let store = match &data.ty {
                Some(ty) => {
                    let ty = self.data_type(ty);
                    self.declare_typed(&data.name, ty)
                }
                None => {
                    let late = self.is_late(data);
                    if data.expr.is_none() || late {
                        self.join_variable(&data.name, &Shape::only(Kind::Undefined));
                    }
                    let shape = self.shapes.variables.get(&data.name).cloned().unwrap_or_default();
                    self.declare_store(&data.name, &shape)
                }
            };
            self.data.variables.push((data.name.clone(), store));
            sound.push(data);
        }
        for name in self.made() {
            if self.store(&name).is_none() {
                self.join_variable(&name, &Shape::only(Kind::Unbound));
                let shape = self.shapes.variables.get(&name).cloned().unwrap_or_default();
                let store = self.declare_store(&name, &shape);
                self.data.variables.push((name, store));
            }
        }
        self.declare_inbox();
        let mut initial = vec![];
        self.data.early = Some(vec![]);
        for data in sound {
            let stmt = if self.is_late(data) { self.undefined(data) } else { self.first_value(data) };
            initial.push(stmt);
            if let Some(early) = &mut self.data.early {
                early.push(data.name.clone());
            }
        }
        self.data.early = None;
        initial
    }

    /// Does it get its value later? What belongs to an invoked chart does so when that starts.
    fn is_late(&self, data: &Data) -> bool {
        let tree = self.tree;
        tree.session(data.state) > 0 || (tree.late && data.state != tree.main)
    }

    fn undefined(&mut self, data: &Data) -> StmtId {
        match (self.store(&data.name).cloned(), self.constant(Kind::Undefined)) {
            (Some(store), value) if store.ty.is_none() => self.write(&store, &value),
            _ => self.terms.skip(),
        }
    }

    /// A variable gets its first value.
    pub fn first_value(&mut self, data: &Data) -> StmtId {
        let Some(store) = self.store(&data.name).cloned() else { return self.terms.skip() };
        let Some(expr) = &data.expr else {
            if data.ty.is_some() {
                self.mistake(data.span, "a variable with a type needs a value");
            }
            return self.undefined(data);
        };
        let always = self.terms.bool(true);
        let (value, outcome) = self.evaluating(|l| {
            let value = l.eval(expr, always);
            l.fit(&store, &value, always, expr.span);
            l.alone(&value, expr.span);
            value
        });
        if store.ty.is_some() && self.terms.as_bool(outcome.ok) != Some(true) {
            self.mistake(expr.span, "this may have no value in the type of the variable");
            return self.terms.skip();
        }
        let write = self.put(&data.name, &store, &value);
        if self.terms.as_bool(outcome.ok) == Some(true) {
            return self.when_within(outcome, write);
        }
        // W3C: it is created, without a value.
        self.join_variable(&data.name, &Shape::only(Kind::Undefined));
        let (error, nothing) = (self.enqueue_error(None), self.undefined(data));
        let failed = self.terms.seq([error, nothing]);
        let stmt = self.terms.branch(outcome.ok, write, failed);
        self.when_within(outcome, stmt)
    }

    /// Writes a value, and takes note of what a variable may hold.
    pub fn put(&mut self, name: &str, store: &Store, value: &Sym) -> StmtId {
        if store.ty.is_none() {
            self.join_variable(name, &value.shape());
        }
        self.write(store, value)
    }

    fn join_variable(&mut self, name: &str, shape: &Shape) {
        self.grown |= self.shapes.variables.entry(name.to_string()).or_default().join(shape);
    }

    /// The variables of the data model, by name.
    pub fn store(&self, name: &str) -> Option<&Store> {
        self.data.variables.iter().find(|(n, _)| n == name).map(|(_, store)| store)
    }

    /// All string literals there may be.
    pub fn symbols(&self) -> Vec<String> {
        self.terms.enumeration(self.symbol_type).literals.clone()
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

    /// Nobody else may know an array or object that is changed in part: there are no references here.
    pub fn alone(&mut self, value: &Sym, span: Span) {
        if self.mutates && value.shared && value.is_compound() {
            self.mistake(
                span,
                "an array or object with two names is not supported in a chart that changes parts of one",
            );
        }
    }

    /// The name of a variable that there is none of.
    pub fn unknown_name(&mut self, name: &str, path: TermId, span: Span) -> Sym {
        let always = self.terms.bool(true);
        let near = closest(name, self.data.variables.iter().map(|(n, _)| n.as_str())).map(String::from);
        let said = format!("there is no variable `{}`", shorten(name));
        if self.strict {
            let d = Diagnostic::error(span, said).meant(near.as_deref());
            self.errors.push(d);
        } else {
            let meant = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            self.warn(span, format!("{said}{meant}: this is `error.execution`"));
        }
        self.fault(path, always);
        self.constant(Kind::Undefined)
    }

    /// A variable, or a system variable; where there is none, `Unbound`.
    pub fn name(&mut self, name: &str, path: TermId, span: Span) -> Sym {
        match name {
            "_event" => return self.whole_event(path, span),
            "_sessionid" => return self.text(super::lower::SESSION),
            "_name" => {
                return match self.tree.name.clone() {
                    Some(name) => self.text(&name),
                    None => self.constant(Kind::Undefined),
                };
            }
            "_ioprocessors" => {
                let location = self.text(&super::lower::location());
                let entry = Sym { fields: [("location".to_string(), location)].into(), ..self.constant(Kind::Object) };
                let names = super::send::PROCESSORS.iter().map(|name| (name.to_string(), entry.clone()));
                let identity = self.text(name);
                let fields = names.chain([(IDENTITY.to_string(), identity)]).collect();
                return Sym { fields, ..self.constant(Kind::Object) };
            }
            _ => {}
        }
        if let Some(early) = &self.data.early
            && self.tree.data.iter().any(|d| d.name == name)
            && !early.iter().any(|n| n == name)
        {
            self.mistake(span, format!("there is no variable `{}` (yet)", shorten(name)));
        }
        match self.store(name).cloned() {
            Some(store) => self.read(&store),
            None => self.unknown_name(name, path, span),
        }
    }

    /// All strings that two can make together; none if that would be too many.
    pub fn joined(
        &mut self,
        a: &std::collections::BTreeSet<String>,
        b: &std::collections::BTreeSet<String>,
    ) -> Vec<(String, String, Option<String>)> {
        let mut all = vec![];
        for x in a {
            for y in b {
                let text = format!("{x}{y}");
                let known = self.symbols().contains(&text) || self.shapes.symbols.contains(&text);
                let fits = known || (self.shapes.symbols.len() < MAX_STRINGS && text.len() < 60);
                all.push((x.clone(), y.clone(), fits.then_some(text)));
            }
        }
        all
    }

    /// Whether a value fits a declared type: where it does not, that is an error. What never fits is refused.
    pub fn fit(&mut self, store: &Store, value: &Sym, path: TermId, span: Span) {
        let Some(ty) = store.ty else { return };
        let fitting: Vec<Kind> = value.guards.keys().copied().filter(|k| store.shape.kinds.contains(k)).collect();
        if fitting.is_empty() {
            let want = match ty {
                Type::Bool => "a truth value".to_string(),
                Type::Enum(e) => format!("one of '{}'", shorten(&self.terms.enumeration(e).literals.join("', '"))),
                _ => "an integer".to_string(),
            };
            let found = self.describe_kinds(value);
            return self.mistake(span, format!("expected {want}, found {found}"));
        }
        for (kind, guard) in value.guards.clone() {
            if !fitting.contains(&kind) {
                self.fault(path, guard);
            }
        }
        if let (Type::Range(lo, hi), Some(t)) = (ty, value.int)
            && !self.terms.lies_within(t, lo, hi)
        {
            let (lo, hi) = (self.terms.int(lo), self.terms.int(hi));
            let (under, over) = (self.terms.lt(t, lo), self.terms.lt(hi, t));
            let out = self.terms.or([under, over]);
            self.fault(path, out);
        }
        if let (Type::Enum(e), Some((t, texts))) = (ty, &value.text) {
            let foreign: Vec<&String> = texts.iter().filter(|s| !store.shape.texts.contains(*s)).collect();
            if foreign.len() == texts.len() && value.kind() == Some(Kind::Text) && !texts.is_empty() {
                let among = self.terms.enumeration(e).literals.join("', '");
                let found = shorten(foreign[0]).to_string();
                return self.mistake(span, format!("expected one of '{}', found '{found}'", shorten(&among)));
            }
            for text in foreign {
                let is = self.is_text(*t, text);
                self.fault(path, is);
            }
        }
    }
}
