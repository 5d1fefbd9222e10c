//! Conditions and edges of a network, compiled, and the lattice elements they read and write.

use trellis_expr::code::{Code, Host, compile_stmt, compile_term};
use trellis_expr::{Fault, FnId, Stmt, StmtId, Terms, VarId};
use trellis_meter::seeded::{self, Bug};
use trellis_order::Word;

use trellis_domain::zone::{Bound, Constraint, MAX_CONSTANT};

use super::{ClockAtom, Condition, Edge, Function, Layout, Network, Rate, Reset, ResetTo};

/// Reads and writes lattice elements for compiled code, remembering what to undo.
pub(super) struct ElementHost<'a> {
    pub functions: &'a [Function],
    pub elem: &'a mut [Word],
    /// Words that were overwritten, and what they held.
    pub log: &'a mut Vec<(u32, Word)>,
}

fn bit_fault(index: i64, len: usize) -> Fault {
    Fault::Index { index, lo: 0, hi: len as i64 - 1 }
}

impl Host for ElementHost<'_> {
    #[inline]
    fn query(&mut self, f: FnId, args: &[i64]) -> Result<i64, Fault> {
        let at = args[0] as usize;
        match &self.functions[f.index()] {
            Function::GetBit(len) => {
                let i = args[1] as usize;
                if i >= *len {
                    return Err(bit_fault(args[1], *len));
                }
                Ok((self.elem[at + i / 64] >> (i % 64) & 1) as i64)
            }
            Function::Method { lattice, method } => lattice
                .query(*method, &self.elem[at..at + lattice.width()], &args[1..])
                .map_err(|e| Fault::Foreign(e.0)),
            Function::SetBit(_) | Function::Copy(_) => Err(Fault::Foreign("an update where a value is needed".into())),
        }
    }

    #[inline]
    fn update(&mut self, f: FnId, args: &[i64]) -> Result<(), Fault> {
        let at = args[0] as usize;
        match &self.functions[f.index()] {
            Function::SetBit(len) => {
                let i = args[1] as usize;
                if i >= *len {
                    return Err(bit_fault(args[1], *len));
                }
                let word = &mut self.elem[at + i / 64];
                self.log.push(((at + i / 64) as u32, *word));
                *word = *word & !(1 << (i % 64)) | Word::from(args[2] != 0) << (i % 64);
                Ok(())
            }
            Function::Method { lattice, method } => {
                let width = lattice.width();
                self.save(at, width);
                lattice.update(*method, &mut self.elem[at..at + width], &args[1..]).map_err(|e| Fault::Foreign(e.0))
            }
            Function::Copy(width) => {
                self.save(at, *width);
                let from = args[1] as usize;
                self.elem.copy_within(from..from + width, at);
                Ok(())
            }
            Function::GetBit(_) => Err(Fault::Foreign("a value where an update is needed".into())),
        }
    }
}

impl ElementHost<'_> {
    fn save(&mut self, at: usize, width: usize) {
        for (i, &w) in self.elem[at..at + width].iter().enumerate() {
            self.log.push(((at + i) as u32, w));
        }
    }
}

/// A condition, compiled. `None` for a part that does nothing.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub prepare: Option<Code>,
    pub holds: Option<Code>,
}

#[derive(Debug, Clone)]
pub(super) struct CompiledEdge {
    pub guard: Test,
    pub channel: Channel,
    pub update: Option<Code>,
    pub target: i64,
    /// Cells of working memory that the update may write.
    pub writes: Vec<(u32, u32)>,
    pub clock_guard: Atoms,
    pub resets: Vec<CompiledReset>,
    pub event: Option<u32>,
}

/// A conjunction of clock constraints, compiled: those that never change, and those that depend on data.
#[derive(Debug, Clone, Default)]
pub(super) struct Atoms {
    pub fixed: Vec<Constraint>,
    pub varying: Vec<VaryingAtom>,
}

impl Atoms {
    pub fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.varying.is_empty()
    }
}

#[derive(Debug, Clone)]
pub(super) struct VaryingAtom {
    when: Option<Code>,
    left: u32,
    right: u32,
    strict: bool,
    bound: Code,
}

impl VaryingAtom {
    /// What it says in this state; nothing if it does not apply.
    pub fn constraint(&self, mem: &[i64], host: &mut ElementHost<'_>) -> Result<Option<Constraint>, Fault> {
        if let Some(when) = &self.when
            && when.eval(mem, host)? == 0
        {
            return Ok(None);
        }
        let bound = self.bound.eval(mem, host)?;
        let strict = self.strict || seeded::has(Bug::AllStrict);
        Ok(Some(constraint(self.left, self.right, strict, bound)?))
    }
}

fn constraint(left: u32, right: u32, strict: bool, bound: i64) -> Result<Constraint, Fault> {
    if bound.unsigned_abs() >= MAX_CONSTANT as u64 {
        return Err(Fault::Foreign(format!("a clock is compared with {bound}, which is too large")));
    }
    let bound = if strict { Bound::lt(bound as i32) } else { Bound::le(bound as i32) };
    Ok(Constraint { left, right, bound })
}

/// A rate, compiled.
#[derive(Debug, Clone)]
pub(super) struct CompiledRate {
    when: Option<Code>,
    pub clock: u32,
    rate: Code,
}

impl CompiledRate {
    /// The rate in this state; nothing if it does not apply.
    pub fn value(&self, mem: &[i64], host: &mut ElementHost<'_>) -> Result<Option<i64>, Fault> {
        match &self.when {
            Some(when) if when.eval(mem, host)? == 0 => Ok(None),
            _ => self.rate.eval(mem, host).map(Some),
        }
    }
}

pub(super) fn compile_rate(net: &Network, layout: &Layout, r: &Rate) -> CompiledRate {
    let code = |t| compile_term(&net.terms, &layout.code, t).expect("front ends build terms that compile");
    CompiledRate { when: r.when.map(code), clock: r.clock, rate: code(r.rate) }
}

/// A reset, compiled.
#[derive(Debug, Clone)]
pub(super) struct CompiledReset {
    when: Option<Code>,
    clock: u32,
    to: CompiledValue,
}

#[derive(Debug, Clone)]
enum CompiledValue {
    Fixed(i64),
    Varying(Code),
    Clock(u32),
}

/// A clock gets a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetClock {
    /// A number.
    Value {
        /// Which clock.
        clock: u32,
        /// Not negative.
        value: i32,
    },
    /// The value of another clock.
    Copy {
        /// Which clock.
        clock: u32,
        /// Whose value.
        from: u32,
    },
}

impl CompiledReset {
    /// What it does in this state; nothing if it does not happen.
    pub fn set(&self, mem: &[i64], host: &mut ElementHost<'_>) -> Result<Option<SetClock>, Fault> {
        if let Some(when) = &self.when
            && when.eval(mem, host)? == 0
        {
            return Ok(None);
        }
        let clock = self.clock;
        let value = match &self.to {
            CompiledValue::Clock(from) => return Ok(Some(SetClock::Copy { clock, from: *from })),
            CompiledValue::Fixed(n) => *n,
            CompiledValue::Varying(code) => code.eval(mem, host)?,
        };
        if !(0..i64::from(MAX_CONSTANT)).contains(&value) {
            return Err(Fault::Foreign(format!("a clock is set to {value}")));
        }
        Ok(Some(SetClock::Value { clock, value: value as i32 }))
    }
}

/// Compiles a conjunction of clock constraints.
pub(super) fn compile_atoms(net: &Network, layout: &Layout, atoms: &[ClockAtom]) -> Atoms {
    let mut compiled = Atoms::default();
    let code = |t| compile_term(&net.terms, &layout.code, t).expect("front ends build terms that compile");
    for a in atoms {
        let always = a.when.is_none_or(|w| net.terms.as_bool(w) == Some(true));
        let fixed = net.terms.as_int(a.bound).and_then(|b| constraint(a.left, a.right, a.strict, b).ok());
        match fixed {
            Some(c) if always => compiled.fixed.push(c),
            _ => compiled.varying.push(VaryingAtom {
                when: a.when.filter(|_| !always).map(code),
                left: a.left,
                right: a.right,
                strict: a.strict,
                bound: code(a.bound),
            }),
        }
    }
    compiled
}

fn compile_reset(net: &Network, layout: &Layout, r: &Reset) -> CompiledReset {
    let code = |t| compile_term(&net.terms, &layout.code, t).expect("front ends build terms that compile");
    let to = match r.to {
        ResetTo::Clock(from) => CompiledValue::Clock(from),
        ResetTo::Value(t) => net.terms.as_int(t).map_or_else(|| CompiledValue::Varying(code(t)), CompiledValue::Fixed),
    };
    CompiledReset { when: r.when.map(code), clock: r.clock, to }
}

#[derive(Debug, Clone)]
pub(super) enum Channel {
    None,
    Fixed(u32),
    Indexed(Box<Indexed>),
}

#[derive(Debug, Clone)]
pub(super) struct Indexed {
    pub base: u32,
    pub prepare: Option<Code>,
    pub index: Code,
}

/// Judges a condition over two (or three) elements under one key: a joining strategy.
#[derive(Debug, Clone)]
pub struct PairJudge<'n> {
    net: &'n Network,
    layout: Layout,
    test: Test,
    /// The key that `mem` holds now.
    key: Vec<Word>,
    mem: Vec<i64>,
    words: Vec<Word>,
    log: Vec<(u32, Word)>,
}

impl<'n> PairJudge<'n> {
    /// Compiles a condition whose element is that of `x`, then that of `y`, then that of their join.
    pub fn new(net: &'n Network, condition: Condition) -> PairJudge<'n> {
        let layout = Layout::new(net);
        let mem = layout.initial(net);
        let mut key = vec![0; layout.key_width()];
        layout.pack(&mem, &mut key);
        let test = compile_test(net, &layout, condition);
        PairJudge { net, test, key, mem, words: Vec::new(), log: Vec::new(), layout }
    }

    /// Does it hold for these elements?
    pub fn holds(&mut self, key: &[Word], elements: &[&[Word]]) -> Result<bool, Fault> {
        if self.key != key {
            self.layout.unpack(key, &mut self.mem);
            self.key.copy_from_slice(key);
        }
        self.words.clear();
        elements.iter().for_each(|e| self.words.extend_from_slice(e));
        let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.words, log: &mut self.log };
        Ok(self.test.run(&mut self.mem, &mut host)? != 0)
    }
}

/// A compiled state condition (or integer expression).
#[derive(Debug, Clone)]
pub struct Judge {
    pub(super) test: Test,
    /// The cell that says whether the state is a deadlock, if the condition asks.
    pub(super) deadlock: Option<u32>,
}

impl Test {
    #[inline]
    pub(super) fn run(&self, mem: &mut [i64], host: &mut ElementHost<'_>) -> Result<i64, Fault> {
        if let Some(p) = &self.prepare {
            p.exec(mem, host)?;
        }
        match &self.holds {
            Some(h) => h.eval(mem, host),
            None => Ok(1),
        }
    }
}

pub(super) fn compile_test(net: &Network, layout: &Layout, c: Condition) -> Test {
    Test {
        prepare: compile_prepare(net, layout, c.prepare),
        holds: (net.terms.as_bool(c.holds) != Some(true))
            .then(|| compile_term(&net.terms, &layout.code, c.holds).expect("front ends build terms that compile")),
    }
}

pub(super) fn compile_prepare(net: &Network, layout: &Layout, s: StmtId) -> Option<Code> {
    (!matches!(net.terms.stmt(s), Stmt::Skip))
        .then(|| compile_stmt(&net.terms, &layout.code, s).expect("front ends build statements that compile"))
}

pub(super) fn compile_edge(net: &Network, layout: &Layout, e: &Edge) -> CompiledEdge {
    let channel = match e.sync {
        None => Channel::None,
        Some(s) => match s.index {
            None => Channel::Fixed(s.base),
            Some((prepare, index)) => match net.terms.as_int(index) {
                Some(i) => Channel::Fixed(s.base + i as u32),
                None => Channel::Indexed(Box::new(Indexed {
                    base: s.base,
                    prepare: compile_prepare(net, layout, prepare),
                    index: compile_term(&net.terms, &layout.code, index).expect("front ends build terms that compile"),
                })),
            },
        },
    };
    let mut written = Vec::new();
    assigned(&net.terms, e.update, &mut written);
    written.sort_unstable();
    written.dedup();
    CompiledEdge {
        guard: compile_test(net, layout, e.guard),
        channel,
        update: compile_prepare(net, layout, e.update),
        target: e.target.into(),
        writes: written.into_iter().filter_map(|v| layout.code.slot(v)).collect(),
        clock_guard: compile_atoms(net, layout, &e.clock_guard),
        resets: e.resets.iter().map(|r| compile_reset(net, layout, r)).collect(),
        event: e.event,
    }
}

fn assigned(terms: &Terms, s: StmtId, out: &mut Vec<VarId>) {
    match terms.stmt(s) {
        Stmt::Assign(v, _) | Stmt::Havoc(v) => out.push(*v),
        Stmt::Seq(parts) | Stmt::Choice(parts) => parts.iter().for_each(|&p| assigned(terms, p, out)),
        Stmt::If(_, a, b) => {
            assigned(terms, *a, out);
            assigned(terms, *b, out);
        }
        Stmt::While(_, body) => assigned(terms, *body, out),
        Stmt::Skip | Stmt::Assume(_) | Stmt::Foreign(..) => {}
    }
}
