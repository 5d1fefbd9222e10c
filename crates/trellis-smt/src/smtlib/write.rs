//! Terms as SMT-LIB text, for a solver process and for logs.
//!
//! An assertion is satisfied where its term *evaluates to true*. A term may fault, SMT-LIB's functions are total; so what is
//! written is "the term is defined, and true", where both are built side by side, one text for each sub-term (the conditions are
//! those of [`trellis_expr::eval`], and the tests compare with it). Numbers within bounds and enumerations are written as
//! integers, with their bounds asserted; fixed width as bit vectors; truncating division by SMT-LIB's own.
//!
//! Texts are shared as terms are: what occurs twice, or deep inside, is defined once under a name of its own, so that neither
//! size nor depth grows. A writer knows levels: what was declared above a level is gone after its `pop`.
//!
//! Foreign functions and bitwise operations on unbounded integers have no text, nor has equality of arrays with thousands of
//! bounded indexes: these are refused by name.

use dashu_int::IBig;
use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{Term, TermId, Terms, Type, VarId};

use super::sexpr::symbol;
use super::texts::{TextId, Texts};
use super::translate::{Translation, within};

/// Bounded indexes are written out up to here.
pub(super) const MOST_INDEXES: i64 = 1024;
/// Texts are nested up to here.
const DEEPEST: u32 = 40;

/// Writes commands, and knows what is declared.
#[derive(Default)]
pub struct Writer {
    texts: Texts,
    translation: Translation,
    /// Names of variables, for good.
    vars: FxHashMap<VarId, String>,
    used: FxHashSet<String>,
    declared: FxHashSet<VarId>,
    /// Texts that are defined under a name.
    names: FxHashMap<TextId, String>,
    /// Conditions that are asserted.
    asserted: FxHashSet<TextId>,
    levels: Vec<Vec<Undo>>,
}

enum Undo {
    Declared(VarId),
    Named(TextId),
    Asserted(TextId),
}

impl Writer {
    /// A writer of a new script.
    pub fn new() -> Writer {
        Writer::default()
    }

    /// Opens a level.
    pub fn push(&mut self) -> String {
        self.levels.push(vec![]);
        "(push 1)\n".into()
    }

    /// Closes a level.
    ///
    /// # Panics
    ///
    /// If no level is open.
    pub fn pop(&mut self) -> String {
        for undo in self.levels.pop().expect("an open level") {
            match undo {
                Undo::Declared(v) => {
                    self.declared.remove(&v);
                }
                Undo::Named(t) => {
                    self.names.remove(&t);
                }
                Undo::Asserted(t) => {
                    self.asserted.remove(&t);
                }
            }
        }
        "(pop 1)\n".into()
    }

    /// The commands that assert a term; or what of it cannot be written.
    pub fn assert(&mut self, terms: &Terms, t: TermId) -> Result<String, String> {
        let (mut out, holds) = self.prepare(terms, t)?;
        let text = self.define(terms, holds, &mut out);
        out.push_str(&format!("(assert {text})\n"));
        Ok(out)
    }

    /// The commands that make a term known under a new name, without asserting it; and the name.
    pub fn name(&mut self, terms: &Terms, t: TermId) -> Result<(String, String), String> {
        let (mut out, holds) = self.prepare(terms, t)?;
        let text = self.define(terms, holds, &mut out);
        let name = self.fresh("a!", t.index());
        out.push_str(&format!("(declare-const {name} Bool)\n(assert (= {name} {text}))\n"));
        Ok((out, name))
    }

    /// The name of a variable that was in some assertion.
    pub fn variable(&self, v: VarId) -> Option<&str> {
        self.vars.get(&v).map(String::as_str)
    }

    /// Declares what a term needs; gives the text of "defined and true".
    fn prepare(&mut self, terms: &Terms, t: TermId) -> Result<(String, TextId), String> {
        let parts = terms.subterms([t]);
        // All that may fail comes first: what is marked as declared must be written.
        for &t in &parts {
            if let Term::Var(v) = *terms.get(t) {
                self.introduce(terms, v, t)?;
            }
            self.translation.add(terms, t, &mut self.texts)?;
        }
        let mut out = String::new();
        for &t in &parts {
            if let Term::Var(v) = *terms.get(t) {
                self.declare(terms, v, t, &mut out);
            }
        }
        for &t in &parts {
            if let Some(condition) = self.translation.condition(t) {
                self.condition(terms, condition, &mut out);
            }
        }
        let holds = self.translation.holds(t, &mut self.texts);
        Ok((out, holds))
    }

    fn undo(&mut self, undo: Undo) {
        if let Some(level) = self.levels.last_mut() {
            level.push(undo);
        }
    }

    /// Asserts a condition, once.
    fn condition(&mut self, terms: &Terms, condition: TextId, out: &mut String) {
        if self.texts.is_true(condition) || !self.asserted.insert(condition) {
            return;
        }
        self.undo(Undo::Asserted(condition));
        let text = self.define(terms, condition, out);
        out.push_str(&format!("(assert {text})\n"));
    }

    /// Gives a variable its name, for good.
    fn introduce(&mut self, terms: &Terms, v: VarId, t: TermId) -> Result<(), String> {
        if self.vars.contains_key(&v) {
            return Ok(());
        }
        let var = terms.variable(v);
        sort(terms, var.ty)?;
        let plain = symbol(&var.name);
        let name = if !is_reserved(&var.name) && self.used.insert(plain.clone()) {
            plain
        } else {
            self.fresh(&format!("{}!", var.name), v.index())
        };
        let text = self.texts.atom(terms.ty(t), name.clone());
        self.translation.set(t, text);
        self.vars.insert(v, name);
        Ok(())
    }

    /// Declares a variable that has a name, with its bounds.
    fn declare(&mut self, terms: &Terms, v: VarId, t: TermId, out: &mut String) {
        if !self.declared.insert(v) {
            return;
        }
        self.undo(Undo::Declared(v));
        let ty = terms.variable(v).ty;
        let sort = sort(terms, ty).expect("it was introduced");
        out.push_str(&format!("(declare-const {} {sort})\n", self.vars[&v]));
        let text = self.texts.atom(terms.ty(t), self.vars[&v].clone());
        for condition in bounds(terms, ty, text, &mut self.texts) {
            self.condition(terms, condition, out);
        }
    }

    /// A name that nothing has yet.
    fn fresh(&mut self, base: &str, n: usize) -> String {
        let mut name = symbol(&format!("{base}{n}"));
        let mut k = 0;
        while !self.used.insert(name.clone()) {
            k += 1;
            name = symbol(&format!("{base}{n}!{k}"));
        }
        name
    }

    /// Defines what is shared or deep in a text, and gives the rest of it.
    fn define(&mut self, terms: &Terms, root: TextId, out: &mut String) -> String {
        let mut uses: FxHashMap<TextId, u32> = FxHashMap::default();
        let mut todo = vec![root];
        while let Some(t) = todo.pop() {
            let n = uses.entry(t).or_default();
            *n += 1;
            if *n == 1 && !self.names.contains_key(&t) {
                todo.extend(self.texts.parts(t));
            }
        }
        let mut order: Vec<TextId> = uses.keys().copied().collect();
        order.sort_unstable();
        let mut depths: FxHashMap<TextId, u32> = FxHashMap::default();
        for t in order {
            let parts = self.texts.parts(t);
            if parts.is_empty() || self.names.contains_key(&t) {
                continue;
            }
            let depth = 1 + parts.iter().filter_map(|p| depths.get(p)).max().copied().unwrap_or(0);
            if uses[&t] > 1 || depth >= DEEPEST {
                let text = self.texts.render(t, &self.names);
                let name = self.fresh("t!", t);
                let sort = sort(terms, self.texts.ty(t)).expect("its parts have sorts");
                out.push_str(&format!("(define-fun {name} () {sort} {text})\n"));
                self.names.insert(t, name);
                self.undo(Undo::Named(t));
            } else {
                depths.insert(t, depth);
            }
        }
        self.texts.render(root, &self.names)
    }
}

/// A whole script that asks whether the terms can be true together.
pub fn script(terms: &Terms, assertions: &[TermId]) -> Result<String, String> {
    let mut writer = Writer::new();
    let mut out = String::from("(set-logic ALL)\n");
    for &t in assertions {
        out.push_str(&writer.assert(terms, t)?);
    }
    out.push_str("(check-sat)\n");
    Ok(out)
}

/// The sort that values of a type are written in.
pub(super) fn sort(terms: &Terms, ty: Type) -> Result<String, String> {
    Ok(match ty {
        Type::Bool => "Bool".into(),
        Type::Enum(e) if terms.enumeration(e).literals.is_empty() => {
            return Err("an enumeration without literals".into());
        }
        Type::Int | Type::Range(..) | Type::Enum(_) => "Int".into(),
        Type::Bits { width, .. } => format!("(_ BitVec {width})"),
        Type::Array(i, e) => {
            let (i, e) = (sort(terms, terms.type_of_id(i))?, sort(terms, terms.type_of_id(e))?);
            format!("(Array {i} {e})")
        }
    })
}

/// What is true of each value of a type, as far as it can be said without quantifiers.
fn bounds(terms: &Terms, ty: Type, text: TextId, texts: &mut Texts) -> Vec<TextId> {
    match ty {
        Type::Range(lo, hi) => vec![within(texts, text, &lo.into(), &hi.into())],
        Type::Enum(e) => {
            vec![within(texts, text, &IBig::ZERO, &(terms.enumeration(e).literals.len() as i64 - 1).into())]
        }
        Type::Array(index, entry) => {
            let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
            let (Type::Range(..) | Type::Enum(_), Some((lo, hi))) = (index, terms.type_bounds(index)) else {
                return vec![];
            };
            if hi.saturating_sub(lo) >= MOST_INDEXES {
                return vec![];
            }
            let mut all = vec![];
            for i in lo..=hi {
                let i = texts.int(&i.into());
                let part = texts.list(terms.sort(entry), "select", [text, i]);
                all.extend(bounds(terms, entry, part, texts));
            }
            all
        }
        _ => vec![],
    }
}

/// May no variable be called that?
fn is_reserved(name: &str) -> bool {
    let taken = ["Bool", "Int", "Real", "Array", "BitVec", "String", "const", "is", "Set", "Seq"];
    taken.contains(&name)
        || name.starts_with(['@', '.'])
        || super::term::is_known(name)
        || super::ops::is_foreign(name)
        || name.contains(['|', '\\'])
        || name.starts_with("bv")
}
