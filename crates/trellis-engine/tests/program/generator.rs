//! Small random automata: loops, guards, assignments that may fault, decisions left open, every type there is.

use std::collections::BTreeSet;

use trellis_expr::eval::Valuation;
use trellis_expr::{Division, EnumId, StmtId, TermId, Terms, Type, Value, VarId};
use trellis_model::cfa::interpret::{Oracle, State, Trace, successors, walk};
use trellis_model::cfa::{Cfa, Edge, Kind, Location, LocationId};

/// A small generator of numbers: the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// How many runs a random test makes: so many, unless the environment says otherwise.
pub fn runs(few: u64) -> u64 {
    std::env::var("TRELLIS_RUNS").map_or(few, |n| n.parse().expect("a number"))
}

/// A value of the type; integers are small.
pub fn any(terms: &Terms, ty: Type, r: &mut Random) -> Value {
    match Value::all(terms, ty, 1000) {
        Some(mut values) => values.swap_remove(r.below(values.len())),
        None => Value::from_word(ty, r.below(9) as i64 - 4),
    }
}

/// Decides at random.
impl Oracle for Random {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        Some(any(terms, terms.variable(v).ty, self))
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        (branches > 0).then(|| self.below(branches))
    }
}

struct Maker {
    t: Terms,
    r: Random,
    color: EnumId,
    vars: Vec<VarId>,
    ints: Vec<VarId>,
}

impl Maker {
    fn new(seed: u64, finite: bool) -> Maker {
        let mut r = Random::new(seed);
        let mut t = Terms::new();
        let color = t.declare_enum("Color", ["red", "green", "blue"].map(String::from).to_vec());
        let list = t.array_type(Type::Range(0, 1), Type::Range(0, 1));
        let marks = t.array_type(Type::Enum(color), Type::Bool);
        let mut types = vec![
            Type::Bool,
            Type::Range(0, 3),
            Type::Range(-2, 1),
            Type::Enum(color),
            Type::Bits { width: 4, signed: false },
            Type::Bits { width: 4, signed: true },
            list,
            marks,
        ];
        if !finite {
            types.extend([Type::Int; 6]);
        }
        // Every automaton has numbers to count with.
        let first = if finite { Type::Range(0, 4) } else { Type::Int };
        let mut vars = vec![t.declare("n", first)];
        for k in 0..r.below(3) {
            let ty = r.pick(&types);
            vars.push(t.declare(format!("v{k}"), ty));
        }
        let ints = vars.iter().copied().filter(|&v| t.variable(v).ty.is_int()).collect();
        Maker { t, r, color, vars, ints }
    }

    /// A term for a value of the type; it may fault.
    fn term(&mut self, ty: Type) -> TermId {
        let same: Vec<VarId> =
            self.vars.iter().copied().filter(|&v| self.t.sort(self.t.variable(v).ty) == self.t.sort(ty)).collect();
        let var = if same.is_empty() { None } else { Some(self.r.pick(&same)) };
        match ty {
            Type::Bool => self.condition(1),
            Type::Enum(_) => match var {
                Some(v) if self.r.chance(40) => self.t.var(v),
                _ => self.t.enum_lit(self.color, self.r.below(3) as u32),
            },
            Type::Array(index, entry) => {
                let (index, entry) = (self.t.type_of_id(index), self.t.type_of_id(entry));
                match var {
                    Some(v) if self.r.chance(80) => {
                        let (a, i, e) = (self.t.var(v), self.term(index), self.term(entry));
                        self.t.store(a, i, e)
                    }
                    _ => {
                        let e = self.term(entry);
                        self.t.const_array(ty, e)
                    }
                }
            }
            _ => {
                let sort = self.t.sort(ty);
                let small = self.r.below(4) as i64;
                let literal = self.t.number(sort, small.into());
                let Some(v) = var else { return literal };
                let a = self.t.var(v);
                let other = self.r.pick(&same);
                let b = if self.r.chance(60) { literal } else { self.t.var(other) };
                match self.r.below(10) {
                    0 => literal,
                    1 => a,
                    2 => self.t.sub(a, b),
                    // By zero too; by a variable only words, which the solver takes bit by bit.
                    3 if sort == Type::Int => self.t.div(Division::Truncating, a, literal),
                    3 => self.t.div(Division::Truncating, a, b),
                    4 => {
                        let two = self.t.number(sort, 2.into());
                        self.t.rem(Division::Euclidean, a, two)
                    }
                    _ => self.t.add([a, b]),
                }
            }
        }
    }

    fn atom(&mut self) -> TermId {
        let v = self.r.pick(&self.vars);
        let (a, ty) = (self.t.var(v), self.t.variable(v).ty);
        match ty {
            Type::Bool => a,
            Type::Enum(_) => {
                let b = self.term(ty);
                self.t.eq(a, b)
            }
            Type::Array(index, entry) => {
                let (index, entry) = (self.t.type_of_id(index), self.t.type_of_id(entry));
                let i = self.term(index);
                let entry_now = self.t.select(a, i);
                if entry == Type::Bool {
                    entry_now
                } else {
                    let b = self.t.int(self.r.below(2) as i64);
                    self.t.eq(entry_now, b)
                }
            }
            _ => {
                let b = self.term(ty);
                match self.r.below(3) {
                    0 => self.t.lt(a, b),
                    1 => self.t.le(b, a),
                    _ => self.t.eq(a, b),
                }
            }
        }
    }

    fn condition(&mut self, depth: usize) -> TermId {
        let t = match self.r.below(if depth == 0 { 1 } else { 4 }) {
            0 | 1 => self.atom(),
            n => {
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                if n == 2 { self.t.and([a, b]) } else { self.t.or([a, b]) }
            }
        };
        if self.r.chance(30) { self.t.not(t) } else { t }
    }

    fn assignment(&mut self) -> StmtId {
        let v = if self.r.chance(50) { self.r.pick(&self.ints) } else { self.r.pick(&self.vars) };
        let t = self.term(self.t.variable(v).ty);
        self.t.assign(v, t)
    }

    fn statement(&mut self, depth: usize) -> StmtId {
        match self.r.below(if depth == 0 { 8 } else { 14 }) {
            0 => self.t.skip(),
            1 | 2 => {
                let c = self.condition(1);
                self.t.assume(c)
            }
            3..=6 => self.assignment(),
            7 => {
                let v = self.r.pick(&self.vars);
                self.t.havoc(v)
            }
            8 => {
                let c = self.condition(1);
                let (a, b) = (self.statement(depth - 1), self.statement(depth - 1));
                self.t.branch(c, a, b)
            }
            n => {
                let parts: Vec<StmtId> = (0..2 + self.r.below(2)).map(|_| self.statement(depth - 1)).collect();
                if n % 2 == 0 { self.t.choice(parts) } else { self.t.seq(parts) }
            }
        }
    }

    /// Most variables get a value.
    fn initial(&mut self) -> StmtId {
        let mut parts = vec![];
        for v in self.vars.clone() {
            let ty = self.t.variable(v).ty;
            if self.r.chance(75)
                && let Some(value) = match ty {
                    Type::Array(..) => None,
                    ty => self.t.literal(&Value::from_word(ty, self.r.below(2) as i64)),
                }
            {
                parts.push(self.t.assign(v, value));
            }
        }
        self.t.seq(parts)
    }
}

fn location(name: String, kind: Kind) -> Location {
    Location { name, kind, place: None }
}

/// A random automaton; if it is finite its states can be enumerated.
pub fn random(seed: u64, finite: bool) -> Cfa {
    let mut m = Maker::new(seed, finite);
    let count = 2 + m.r.below(4);
    let mut edges: Vec<(usize, StmtId, usize)> = vec![];
    edges.push((0, m.initial(), 1));
    // A way through all locations, loops, some other edges, and one or two ways into the error, which is the last location.
    for n in 1..count {
        let s = m.statement(1);
        edges.push((n, s, n + 1));
    }
    for n in 1..=count {
        if m.r.chance(70) {
            let guard = m.condition(1);
            let (guard, body) = (m.t.assume(guard), m.statement(2));
            let s = m.t.seq([guard, body]);
            edges.push((n, s, n));
        }
    }
    for _ in 0..m.r.below(3) {
        let s = m.statement(2);
        let (from, to) = (m.r.below(count + 1), 1 + m.r.below(count));
        edges.push((from, s, to));
    }
    let error = count + 1;
    for _ in 0..1 + m.r.below(2) {
        let parts: Vec<TermId> = (0..1 + m.r.below(3)).map(|_| m.condition(1)).collect();
        let c = m.t.and(parts);
        let s = m.t.assume(c);
        edges.push((1 + m.r.below(count), s, error));
    }
    let mut cfa = Cfa::new(m.t, location("L0".into(), Kind::Plain));
    cfa.variables = m.vars;
    for n in 1..=count {
        let kind = if n == count && m.r.chance(20) { Kind::Final } else { Kind::Plain };
        cfa.add_location(location(format!("L{n}"), kind));
    }
    cfa.add_location(location("error".into(), Kind::Error));
    let id = |n: usize| LocationId(n as u32);
    for (from, stmt, to) in edges {
        cfa.add_edge(Edge { from: id(from), stmt, to: id(to), place: None });
    }
    cfa
}

/// So many random conditions on the variables of an automaton, as atoms of a formula; they may fault.
pub fn atoms(cfa: &mut Cfa, seed: u64, count: usize) -> Vec<TermId> {
    let (t, vars) = (std::mem::take(&mut cfa.terms), cfa.variables.clone());
    let ints = vars.iter().copied().filter(|&v| t.variable(v).ty.is_int()).collect();
    let mut m = Maker { t, r: Random::new(seed ^ 0x5eed), color: EnumId(0), vars, ints };
    let atoms = (0..count).map(|_| m.atom()).collect();
    cfa.terms = m.t;
    atoms
}

/// All values that the variables can have together.
pub fn valuations(cfa: &Cfa) -> Vec<Valuation> {
    let mut all = vec![Valuation::new()];
    for &v in &cfa.variables {
        let values = Value::all(&cfa.terms, cfa.terms.variable(v).ty, 1000).expect("few values");
        let with = |env: &Valuation, value: &Value| {
            let mut env = env.clone();
            env.insert(v, value.clone());
            env
        };
        all = all.iter().flat_map(|env| values.iter().map(move |value| with(env, value))).collect();
    }
    all
}

/// Can an error be reached? By enumeration.
pub fn can_fail(cfa: &Cfa) -> bool {
    let key = |s: &State| (s.location, format!("{:?}", s.env));
    let mut seen = BTreeSet::new();
    let mut todo: Vec<State> = valuations(cfa).into_iter().map(|env| State { location: cfa.initial, env }).collect();
    seen.extend(todo.iter().map(key));
    while let Some(state) = todo.pop() {
        if cfa.is_error(state.location) {
            return true;
        }
        for (_, next) in successors(cfa, &state, 100_000).expect("few values") {
            if seen.insert(key(&next)) {
                todo.push(next);
            }
        }
    }
    false
}

/// Some run.
pub fn some_run(cfa: &Cfa, steps: usize, r: &mut Random) -> Trace {
    let start: Valuation = cfa.variables.iter().map(|&v| (v, any(&cfa.terms, cfa.terms.variable(v).ty, r))).collect();
    let state = State { location: cfa.initial, env: start.clone() };
    let (_, steps) = walk(cfa, state, r, steps);
    Trace { start, steps }
}
