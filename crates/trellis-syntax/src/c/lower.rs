//! The automaton while it grows: where we are in it, what must hold for terms to have a value, temporaries, complaints.

use std::rc::Rc;

use lang_c::span::Span as CSpan;
use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{StmtId, Term, TermId, Terms, Type, VarId};
use trellis_model::cfa::{Cfa, Edge, Kind, Location, LocationId, Place};

use super::attributes::Attributes;
use super::checks::{Check, Def, Kind as Asked};
use super::lifetime::Pending;
use super::pointer::Targets;
use super::preprocess::Map;
use super::stmt::Frame;
use super::structs::{Key, Object, Structure};
use super::types::{CType, IntType, StructId};
use super::unit::Unit;
use super::volatile::Volatile;
use super::{Ints, Options, TIME_LIMIT};
use crate::diag::{Diagnostic, Sources};
pub use crate::text::errors::Read as Lowered;
use crate::text::errors::{Errors, Reported};

/// An integer: a term of the type's sort, or a truth value that stands for 0 or 1 of the type.
#[derive(Debug, Clone, Copy)]
pub struct Val {
    pub term: TermId,
    pub ty: IntType,
}

/// So many edges are enough for everybody: a program larger than this was made so by inlining.
const MAX_EDGES: usize = 2_000_000;
/// How often the clock is looked at.
const EDGES_PER_LOOK: usize = 1 << 12;

/// Turns a translation unit into an automaton.
pub struct Lower<'a> {
    pub options: &'a Options,
    pub map: &'a Map,
    pub sources: &'a Sources,
    pub unit: Unit<'a>,
    pub errors: Errors,
    reported: FxHashSet<(usize, usize, String)>,
    pub cfa: Cfa,
    /// Where the next edge starts; `None` after a jump.
    pub at: Option<LocationId>,
    /// What must hold for the terms since the last edge to have a value.
    pub defs: Vec<Def>,
    pub end: LocationId,
    /// What the program is asked, and where each of it is.
    pub checks: Vec<Check>,
    pub check_numbers: FxHashMap<(Asked, usize, usize, String), usize>,
    /// Edges whose statements speak of all pointers, or of all variables, and so are known last.
    pub pending: Vec<Pending>,
    /// Variables that hold pointers: to what, and how many.
    pub pointers: Vec<(VarId, Rc<CType>, Option<u64>)>,
    /// For variables whose first value is not set: what says whether there is one.
    pub flags: FxHashMap<VarId, VarId>,
    /// Functions without a body that are called, and are no inputs.
    pub bodiless: Vec<String>,
    /// What happens before `main`.
    pub first: Vec<(StmtId, Place)>,
    /// How many edges that comes to.
    pub before_main: usize,
    /// Conditions that were asked for.
    pub atoms: Vec<TermId>,
    pub frame: Frame,
    /// The functions that are being inlined.
    pub stack: Vec<&'a str>,
    /// One variable for each declarator, by its place; functions that are inlined twice share it.
    pub locals: FxHashMap<usize, Object>,
    /// Local variables with `static` that have their first value.
    pub started: FxHashSet<usize>,
    /// What holds what a function returns.
    pub results: FxHashMap<&'a str, Object>,
    /// What functions change of their own variables, by name.
    pub changed: FxHashMap<&'a str, Rc<FxHashSet<String>>>,
    pub structs: FxHashMap<StructId, Rc<Structure>>,
    /// The attributes behind the braces of structures and enumerations, by where these start.
    pub tagged: FxHashMap<usize, Attributes>,
    pub volatile: Volatile,
    /// The statement that is being read.
    pub here: CSpan,
    /// What pointers may point to, as far as it is known, and what was found now.
    pub known: Targets,
    pub found: Targets,
    /// Names that were given to variables.
    names: FxHashMap<String, u32>,
    temps: FxHashMap<Type, Vec<VarId>>,
    /// How many temporaries of each type are in use.
    used: FxHashMap<Type, usize>,
    too_large: bool,
}

impl<'a> Lower<'a> {
    pub fn new(options: &'a Options, map: &'a Map, sources: &'a Sources, unit: Unit<'a>, known: Targets) -> Lower<'a> {
        let plain = |name: &str, kind| Location { name: name.into(), kind, place: None };
        let mut cfa = Cfa::new(Terms::new(), plain("start", Kind::Plain));
        cfa.files = map.files.clone();
        let end = cfa.add_location(plain("end", Kind::Final));
        Lower {
            options,
            map,
            sources,
            unit,
            errors: Errors::default(),
            reported: FxHashSet::default(),
            cfa,
            at: None,
            defs: vec![],
            end,
            checks: vec![],
            check_numbers: FxHashMap::default(),
            pending: vec![],
            pointers: vec![],
            flags: FxHashMap::default(),
            bodiless: vec![],
            first: vec![],
            before_main: 0,
            atoms: vec![],
            frame: Frame::default(),
            stack: vec![],
            locals: FxHashMap::default(),
            started: FxHashSet::default(),
            results: FxHashMap::default(),
            changed: FxHashMap::default(),
            structs: FxHashMap::default(),
            tagged: FxHashMap::default(),
            volatile: Volatile::default(),
            here: CSpan::span(0, 0),
            found: known.clone(),
            known,
            names: FxHashMap::default(),
            temps: FxHashMap::default(),
            used: FxHashMap::default(),
            too_large: false,
        }
    }

    pub fn ints(&self) -> Ints {
        self.options.ints
    }

    pub fn terms(&mut self) -> &mut Terms {
        &mut self.cfa.terms
    }

    // Complaints.

    /// Says something is wrong; a place in an inlined function is blamed once.
    pub fn error<T>(&mut self, span: CSpan, message: impl Into<String>) -> Lowered<T> {
        self.complain(span, message.into(), None)
    }

    pub fn complain<T>(&mut self, span: CSpan, message: String, help: Option<&str>) -> Lowered<T> {
        if self.reported.insert((span.start, span.end, message.clone())) {
            let d = Diagnostic::error(self.map.span(span.start, span.end), message);
            self.errors.push(match help {
                Some(help) => d.help(help),
                None => d,
            });
        }
        Err(Reported)
    }

    /// Refuses to use something of this type.
    pub fn refuse<T>(&mut self, span: CSpan, name: &str, ty: &CType) -> Lowered<T> {
        self.error(span, format!("`{name}` is {}, which is not supported here", ty.describe()))
    }

    pub fn warn(&mut self, span: CSpan, message: String) {
        if self.reported.insert((0, 0, message.clone())) {
            self.errors.push(Diagnostic::warning(self.map.span(span.start, span.end), message));
        }
    }

    // The graph.

    pub fn place(&self, span: CSpan) -> Place {
        self.map.place(self.sources, span.start)
    }

    pub fn location(&mut self, span: CSpan) -> LocationId {
        let place = Some(self.place(span));
        let name = format!("L{}", self.cfa.locations().len());
        self.cfa.add_location(Location { name, kind: Kind::Plain, place })
    }

    pub fn edge(&mut self, from: LocationId, stmt: StmtId, to: LocationId, span: CSpan) {
        let place = Some(self.place(span));
        self.edge_at(Edge { from, stmt, to, place }, span);
    }

    /// An edge with a place of its own.
    pub fn edge_at(&mut self, edge: Edge, span: CSpan) {
        let count = self.cfa.edges().len();
        let late = count.is_multiple_of(EDGES_PER_LOOK) && self.options.late();
        if late || count >= MAX_EDGES {
            let why = if late { TIME_LIMIT } else { "the program becomes too large when its functions are inlined" };
            if !std::mem::replace(&mut self.too_large, true) {
                let _ = self.error::<()>(span, why);
            }
            return;
        }
        self.cfa.add_edge(edge);
    }

    /// Has the automaton grown beyond all bounds?
    pub fn too_large(&self) -> bool {
        self.too_large
    }

    /// The statement, after the assumption that everything in it has a value.
    fn defined(&mut self, stmt: StmtId, span: CSpan) -> StmtId {
        let defs = self.guards(span);
        let terms = &mut self.cfa.terms;
        let all = terms.and(defs);
        let assume = terms.assume(all);
        terms.seq([assume, stmt])
    }

    /// Does something, and goes on.
    pub fn emit(&mut self, stmt: StmtId, span: CSpan) {
        let stmt = self.defined(stmt, span);
        if let Some(from) = self.at
            && stmt != self.cfa.terms.skip()
        {
            let to = self.location(span);
            self.edge(from, stmt, to, span);
            self.at = Some(to);
        }
    }

    /// Does something on the way to a location; nothing comes after it.
    pub fn leave(&mut self, stmt: StmtId, to: LocationId, span: CSpan) {
        let stmt = self.defined(stmt, span);
        if let Some(from) = self.at.take() {
            self.edge(from, stmt, to, span);
        }
    }

    /// Goes to a location; nothing comes after it.
    pub fn jump(&mut self, to: LocationId, span: CSpan) {
        let skip = self.terms().skip();
        self.leave(skip, to, span);
    }

    /// Emits what must hold, so that terms may be used after the values change.
    pub fn flush(&mut self, span: CSpan) {
        let skip = self.terms().skip();
        self.emit(skip, span);
    }

    /// Goes one way if the term holds, and the other if not.
    pub fn fork(&mut self, c: TermId, yes: LocationId, no: LocationId, span: CSpan) {
        let defs = self.guards(span);
        let Some(from) = self.at.take() else { return };
        let not = self.terms().not(c);
        for (c, to) in [(c, yes), (not, no)] {
            let terms = self.terms();
            if terms.as_bool(c) == Some(false) {
                continue;
            }
            let all = terms.and(defs.iter().copied().chain([c]));
            let stmt = terms.assume(all);
            self.edge(from, stmt, to, span);
        }
    }

    // Variables.

    /// A variable under a name of its own.
    pub fn declare(&mut self, name: &str, ty: Type) -> VarId {
        let count = self.names.entry(name.to_string()).or_insert(0);
        *count += 1;
        let name = if *count == 1 { name.to_string() } else { format!("{name}#{count}") };
        let v = self.terms().declare(name, ty);
        self.cfa.variables.push(v);
        v
    }

    /// The variable that is declared there, which may be pointed to before its declaration is read.
    pub fn local_object(&mut self, start: usize, name: &str, ty: &CType) -> Lowered<Object> {
        if let Some(object) = self.locals.get(&start) {
            return Ok(object.clone());
        }
        let Some(object) = self.object(name, ty, Key::Local(start)) else { return Err(Reported) };
        self.locals.insert(start, object.clone());
        Ok(object)
    }

    /// An array of so many zeros or null pointers.
    pub fn zeros(&mut self, ty: &CType, n: u64) -> TermId {
        let ints = self.ints();
        let (zero, entry) = match ty {
            CType::Pointer(to) => (self.null(to), self.address_variable(to)),
            CType::Int(int) => (self.number(*int, 0), int.variable(ints)),
            _ => (self.number(IntType::INT, 0), IntType::INT.variable(ints)),
        };
        let terms = self.terms();
        let sort = terms.array_type(index_type(ints, n), entry);
        terms.const_array(sort, zero)
    }

    /// A temporary; it lasts until [`Lower::release`].
    pub fn temporary(&mut self, ty: Type) -> VarId {
        let used = self.used.entry(ty).or_insert(0);
        let n = *used;
        *used += 1;
        if let Some(&v) = self.temps.get(&ty).and_then(|all| all.get(n)) {
            return v;
        }
        let v = self.declare("@tmp", ty);
        self.temps.entry(ty).or_default().push(v);
        v
    }

    /// What is in use now.
    pub fn mark(&self) -> FxHashMap<Type, usize> {
        self.used.clone()
    }

    /// Everything taken since is free again.
    pub fn release(&mut self, mark: FxHashMap<Type, usize>) {
        self.used = mark;
    }

    /// Keeps the value of a term that may depend on variables which change.
    pub fn save(&mut self, t: TermId, span: CSpan) -> TermId {
        if self.cfa.terms.as_value(t).is_some() {
            return t;
        }
        if let Term::Var(v) = *self.cfa.terms.get(t)
            && self.is_temporary(v)
        {
            return t;
        }
        let ty = self.cfa.terms.ty(t);
        let v = self.temporary(ty);
        let stmt = self.terms().assign(v, t);
        self.emit(stmt, span);
        self.terms().var(v)
    }

    fn is_temporary(&self, v: VarId) -> bool {
        self.temps.get(&self.cfa.terms.variable(v).ty).is_some_and(|all| all.contains(&v))
    }

    /// Gives a variable any value of its type.
    pub fn arbitrary(&mut self, v: VarId, ty: &CType) -> StmtId {
        let havoc = self.terms().havoc(v);
        match ty {
            CType::Int(int) if self.ints() == Ints::Math && !int.signed && !int.is_bool() => {
                let terms = self.terms();
                let (zero, var) = (terms.int(0), terms.var(v));
                let least = terms.le(zero, var);
                let assume = terms.assume(least);
                terms.seq([havoc, assume])
            }
            _ => havoc,
        }
    }

    // Numbers.

    pub fn number(&mut self, ty: IntType, n: i128) -> TermId {
        let sort = ty.sort(self.ints());
        self.terms().number(sort, n.into())
    }

    pub fn constant(&mut self, ty: IntType, n: i128) -> Val {
        Val { term: self.number(ty, n), ty }
    }

    pub fn is_truth(&self, v: Val) -> bool {
        self.cfa.terms.ty(v.term) == Type::Bool
    }

    /// Is it not zero?
    pub fn truth(&mut self, v: Val) -> TermId {
        if self.is_truth(v) {
            return v.term;
        }
        let zero = self.number(v.ty, 0);
        self.terms().ne(v.term, zero)
    }

    /// The value as a number of its type.
    pub fn plain(&mut self, v: Val) -> TermId {
        if !self.is_truth(v) {
            return v.term;
        }
        let (one, zero) = (self.number(v.ty, 1), self.number(v.ty, 0));
        self.terms().ite(v.term, one, zero)
    }

    /// C11 6.3.1.2 and 6.3.1.3.
    pub fn convert(&mut self, v: Val, ty: IntType) -> Val {
        let term = if self.is_truth(v) || v.ty == ty {
            v.term
        } else if ty.is_bool() {
            self.truth(v)
        } else {
            let sort = ty.sort(self.ints());
            self.terms().convert(sort, v.term)
        };
        Val { term, ty }
    }
}

/// The index type of an array of so many entries: a word just wide enough, or a range. That an index is within the array is
/// assumed before it is used.
pub fn index_type(ints: Ints, n: u64) -> Type {
    let n = n.max(1);
    match ints {
        Ints::Wrap => Type::Bits { width: (64 - (n - 1).leading_zeros()).max(1) as u8, signed: false },
        Ints::Math => Type::Range(0, (n - 1).min(i64::MAX as u64) as i64),
    }
}
