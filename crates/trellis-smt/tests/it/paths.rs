//! Refutations of random infeasible paths pass the checker; feasible paths are replayed.
//!
//! Most paths are made along a run, so that they stay feasible for long; then something is assumed that the run does not
//! satisfy. By hand, with the environment: `PATHS` says how many infeasible ones are wanted, `LENGTH` how long paths are, `SEED` and `AT` which,
//! `LIMIT` the seconds for each, `SOLVER` who checks the triples, `ONLY` which refiner, `SHOW` prints them.

use std::time::{Duration, Instant};

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Limits as RunLimits, State, Valuation, eval, exec};
use trellis_expr::value::ArrayValue;
use trellis_expr::{Division, EnumId, Stmt, StmtId, TermId, Terms, Type, Value, VarId};
use trellis_smt::path::{Broken, CoreVariables, Interpolate, Newton, NotRefuted, Refine, check_triples};
use trellis_smt::smtlib::Process;
use trellis_smt::{Embedded, Meter};

/// A small generator of numbers: the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const U4: Type = Type::Bits { width: 4, signed: false };

struct Maker {
    t: Terms,
    random: Random,
    color: EnumId,
    ints: Vec<VarId>,
    bools: Vec<VarId>,
    colors: Vec<VarId>,
    words: Vec<VarId>,
    arrays: Vec<VarId>,
    /// The run that is followed.
    state: Valuation,
}

impl Maker {
    fn new(seed: u64) -> Maker {
        let mut random = Random::new(seed);
        let mut t = Terms::new();
        let color = t.declare_enum("Color", ["red", "green", "blue"].map(String::from).to_vec());
        let mut ints: Vec<VarId> = (0..1 + random.below(5)).map(|k| t.declare(format!("n{k}"), Type::Int)).collect();
        if random.chance(30) {
            ints.push(t.declare("r", Type::Range(0, 5)));
        }
        let mut some = |t: &mut Terms, percent, name: &str, ty| -> Vec<VarId> {
            if random.chance(percent) { vec![t.declare(name, ty)] } else { vec![] }
        };
        let bools = some(&mut t, 40, "p", Type::Bool);
        let colors = some(&mut t, 25, "c", Type::Enum(color));
        let words = some(&mut t, 15, "w", U4);
        let list = t.array_type(Type::Range(0, 2), Type::Int);
        let arrays = some(&mut t, 10, "a", list);
        let mut state = Valuation::new();
        for (v, var) in t.variables().map(|(v, var)| (v, var.ty)).collect::<Vec<_>>() {
            state.insert(v, any(&t, var, &mut random));
        }
        Maker { t, random, color, ints, bools, colors, words, arrays, state }
    }

    fn pick(&mut self, vars: &[VarId]) -> VarId {
        vars[self.random.below(vars.len())]
    }

    fn constant(&mut self) -> TermId {
        let n = self.random.below(12) as i64 - 4;
        self.t.int(n)
    }

    fn number(&mut self) -> TermId {
        let v = self.pick(&self.ints.clone());
        let v = self.t.var(v);
        match self.random.below(12) {
            0 => self.constant(),
            1 | 2 if !self.arrays.is_empty() => {
                let a = self.arrays[0];
                let i = self.index();
                let a = self.t.var(a);
                self.t.select(a, i)
            }
            1..=4 => v,
            5..=7 => {
                let k = self.constant();
                self.t.add([v, k])
            }
            8 | 9 => {
                let w = self.pick(&self.ints.clone());
                let w = self.t.var(w);
                if self.random.chance(50) { self.t.add([v, w]) } else { self.t.sub(v, w) }
            }
            10 => {
                let k = [2, 3, -2][self.random.below(3)];
                let k = self.t.int(k);
                self.t.mul(k, v)
            }
            _ => {
                let division = [Division::Euclidean, Division::Truncating][self.random.below(2)];
                let k = self.t.int(2 + self.random.below(2) as i64);
                if self.random.chance(50) { self.t.div(division, v, k) } else { self.t.rem(division, v, k) }
            }
        }
    }

    fn atom(&mut self) -> TermId {
        match self.random.below(14) {
            0 | 1 if !self.bools.is_empty() => {
                let v = self.pick(&self.bools.clone());
                self.t.var(v)
            }
            2 | 3 if !self.colors.is_empty() => {
                let (v, k) = (self.pick(&self.colors.clone()), self.random.below(3) as u32);
                let (v, k) = (self.t.var(v), self.t.enum_lit(self.color, k));
                self.t.eq(v, k)
            }
            4 if !self.words.is_empty() => {
                let (a, b) = (self.word(), self.word());
                if self.random.chance(50) { self.t.le(a, b) } else { self.t.eq(a, b) }
            }
            k => {
                let a = self.number();
                let b = if self.random.chance(60) { self.constant() } else { self.number() };
                match k % 4 {
                    0 => self.t.eq(a, b),
                    1 => self.t.le(a, b),
                    2 => self.t.le(b, a),
                    _ => self.t.lt(a, b),
                }
            }
        }
    }

    /// Mostly inside the array.
    fn index(&mut self) -> TermId {
        if self.random.chance(70) {
            return self.t.int(self.random.below(3) as i64);
        }
        let v = self.pick(&self.ints.clone());
        self.t.var(v)
    }

    fn word(&mut self) -> TermId {
        let v = self.pick(&self.words.clone());
        let (v, k) = (self.t.var(v), self.t.bits(4, false, self.random.below(16) as u64));
        match self.random.below(3) {
            0 => v,
            1 => k,
            _ => self.t.add([v, k]),
        }
    }

    fn condition(&mut self) -> TermId {
        let a = self.atom();
        match self.random.below(8) {
            0 => {
                let b = self.atom();
                self.t.and([a, b])
            }
            1 => {
                let b = self.atom();
                self.t.or([a, b])
            }
            2 => self.t.not(a),
            _ => a,
        }
    }

    fn holds(&self, t: TermId) -> Option<bool> {
        eval(&self.t, t, &self.state, &mut NoHost).ok().map(|value| value == Value::Bool(true))
    }

    /// A statement without parts; the variables that have been given any value are not written again.
    fn simple(&mut self, along: bool, fixed: &mut Vec<VarId>) -> StmtId {
        let kind = self.random.below(10);
        let free = |vars: &[VarId], fixed: &[VarId]| -> Vec<VarId> {
            vars.iter().copied().filter(|v| !fixed.contains(v)).collect()
        };
        let all: Vec<VarId> = [&self.ints[..], &self.bools, &self.colors, &self.words, &self.arrays].concat();
        let all = free(&all, fixed);
        if kind < 4 || all.is_empty() {
            let c = self.condition();
            // Along the run it is true, whatever it takes.
            let c = if along && self.holds(c) == Some(false) { self.t.not(c) } else { c };
            return self.t.assume(c);
        }
        if kind == 4 {
            let v = self.pick(&all);
            fixed.push(v);
            return self.t.havoc(v);
        }
        let v = self.pick(&all);
        let value = match self.t.variable(v).ty {
            Type::Bool => self.condition(),
            Type::Enum(e) => self.t.enum_lit(e, self.random.below(3) as u32),
            Type::Bits { .. } => self.word(),
            Type::Array(..) => {
                let (a, i, n) = (self.t.var(v), self.index(), self.number());
                self.t.store(a, i, n)
            }
            _ if self.random.chance(10) => {
                let (c, a, b) = (self.atom(), self.number(), self.number());
                self.t.ite(c, a, b)
            }
            _ => self.number(),
        };
        self.t.assign(v, value)
    }

    fn stmt(&mut self, along: bool) -> StmtId {
        let mut fixed = vec![];
        match self.random.below(10) {
            0 => {
                let parts: Vec<StmtId> = (0..2 + self.random.below(2))
                    .map(|k| {
                        let mut fixed = vec![];
                        let first = self.simple(along && k == 0, &mut fixed);
                        let second = self.simple(false, &mut fixed);
                        if k > 0 && self.random.chance(50) { self.t.seq([first, second]) } else { first }
                    })
                    .collect();
                self.t.choice(parts)
            }
            1 => {
                let c = self.condition();
                let (a, b) = (self.simple(along, &mut vec![]), self.simple(along, &mut vec![]));
                self.t.branch(c, a, b)
            }
            _ => self.simple(along, &mut fixed),
        }
    }

    /// Follows the run by one statement; false if it ends here.
    fn follow(&mut self, s: StmtId) -> bool {
        let state = State { env: self.state.clone(), host: NoHost };
        let next: Option<Valuation> = match *self.t.stmt(s) {
            Stmt::Havoc(v) => {
                let value = any(&self.t, self.t.variable(v).ty, &mut self.random);
                let mut env = self.state.clone();
                env.insert(v, value);
                Some(env)
            }
            Stmt::Choice(ref parts) => {
                let first = parts[0];
                return self.follow(first);
            }
            Stmt::If(c, a, b) => match self.holds(c) {
                Some(true) => return self.follow(a),
                Some(false) => return self.follow(b),
                None => None,
            },
            _ => exec(&self.t, s, state, RunLimits::default()).ok().and_then(|mut all| all.pop()).map(|o| o.env),
        };
        match next {
            Some(env) => {
                self.state = env;
                true
            }
            None => false,
        }
    }

    fn path(&mut self, longest: usize) -> Vec<StmtId> {
        let length = 2 + self.random.below(longest - 1);
        let mut path = vec![];
        let mut along = true;
        for _ in 0..length {
            let s = self.stmt(along);
            if along && !self.follow(s) {
                // Only a fault ends a run that is followed; another statement will do.
                if self.random.chance(90) {
                    continue;
                }
                along = false;
            }
            path.push(s);
        }
        let c = self.condition();
        let c = if self.holds(c) == Some(true) { self.t.not(c) } else { c };
        path.push(self.t.assume(c));
        path
    }
}

fn any(t: &Terms, ty: Type, random: &mut Random) -> Value {
    match t.type_bounds(ty) {
        Some((lo, hi)) => Value::from_word(ty, lo + random.below((hi - lo + 1) as usize) as i64),
        None if matches!(ty, Type::Array(..)) => {
            let mut array = ArrayValue::new(t, Type::Range(0, 2), Value::Int(0.into()));
            for i in 0..3 {
                array.set(&Value::Int(i.into()), Value::Int((random.below(13) as i64 - 5).into()));
            }
            Value::Array(array)
        }
        None => Value::Int((random.below(13) as i64 - 5).into()),
    }
}

/// Can the statement go from one state to the other? What is given any value within it is not written again.
fn goes(t: &Terms, s: StmtId, from: &Valuation, to: &Valuation) -> bool {
    ends(t, s, from, to).contains(to)
}

fn ends(t: &Terms, s: StmtId, from: &Valuation, to: &Valuation) -> Vec<Valuation> {
    match *t.stmt(s) {
        Stmt::Havoc(v) => {
            let mut env = from.clone();
            env.insert(v, to[&v].clone());
            vec![env]
        }
        Stmt::Seq(ref parts) => {
            parts.iter().fold(vec![from.clone()], |envs, &p| envs.iter().flat_map(|env| ends(t, p, env, to)).collect())
        }
        Stmt::Choice(ref parts) => parts.iter().flat_map(|&p| ends(t, p, from, to)).collect(),
        Stmt::If(c, a, b) => match eval(t, c, from, &mut NoHost) {
            Ok(Value::Bool(true)) => ends(t, a, from, to),
            Ok(_) => ends(t, b, from, to),
            Err(_) => vec![],
        },
        _ => match exec(t, s, State { env: from.clone(), host: NoHost }, RunLimits::default()) {
            Ok(outcomes) => outcomes.into_iter().map(|o| o.env).collect(),
            Err(_) => vec![],
        },
    }
}

fn shown(t: &Terms, path: &[StmtId], predicates: &[TermId]) -> String {
    let mut text = String::new();
    for (i, &s) in path.iter().enumerate() {
        if let Some(&p) = predicates.get(i) {
            text += &format!("    {{{}}}\n", t.show(p));
        }
        text += &format!("{i}: {}\n", t.show_stmt(s));
    }
    text
}

type Make = fn() -> Box<dyn Refine>;

const REFINERS: [(&str, Make); 4] = [
    ("forward", || Box::new(Newton::forward())),
    ("backward", || Box::new(Newton::backward())),
    ("core", || Box::new(CoreVariables::new())),
    ("interpolate", || Box::new(Interpolate::new())),
];

/// `x := 0; y := 0;` then some rounds of a loop, and at the end what cannot be.
#[test]
fn unrolled_loop() {
    let mut t = Terms::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| t.declare(name, Type::Int));
    let [xt, yt] = [x, y].map(|v| t.var(v));
    let [zero, one, two, ten, twenty] = [0, 1, 2, 10, 20].map(|n| t.int(n));
    let (more, less) = (t.lt(xt, ten), t.le(ten, xt));
    let (up, twice) = (t.add([xt, one]), t.add([yt, two]));
    let wrong = t.ne(yt, twenty);
    let mut path = vec![t.assign(x, zero), t.assign(y, zero)];
    for _ in 0..10 {
        path.extend([t.assume(more), t.assign(x, up), t.assign(y, twice), t.havoc(z)]);
    }
    path.extend([t.assume(less), t.assume(wrong)]);
    for (name, make) in REFINERS {
        let mut t = t.clone();
        let start = Instant::now();
        let found = make().refute(&mut t, &path, &mut Embedded::new(), &Meter::unlimited()).expect("it is infeasible");
        println!("{name}: {} statements in {:?}", path.len(), start.elapsed());
        let text = shown(&t, &path, &found.predicates);
        assert_eq!(
            check_triples(&mut t, &path, &found.predicates, &mut Embedded::new(), &Meter::unlimited()),
            Ok(()),
            "{text}"
        );
        // The bounds of the loop play no role, nor does what is chosen at random.
        assert!(found.variables.iter().all(|vars| !vars.contains(&x) && !vars.contains(&z)), "{text}");
        if name == "forward" {
            let middle: Vec<String> = found.predicates[9..12].iter().map(|&p| t.show(p).to_string()).collect();
            assert_eq!(middle, ["y == 4"; 3], "{text}");
        }
    }
}

#[test]
fn broken_triples_are_found() {
    let mut t = Terms::new();
    let x = t.declare("x", Type::Int);
    let r = t.declare("r", Type::Range(0, 3));
    let (xt, rt) = (t.var(x), t.var(r));
    let [zero, one, four] = [0, 1, 4].map(|n| t.int(n));
    let (yes, no) = (t.bool(true), t.bool(false));
    let (is_zero, is_one) = (t.eq(xt, zero), t.eq(xt, one));
    let path = [t.assign(x, zero), t.assume(is_one)];
    let check = |t: &mut Terms, path: &[StmtId], predicates: &[TermId]| {
        check_triples(t, path, predicates, &mut Embedded::new(), &Meter::unlimited())
    };
    assert_eq!(check(&mut t, &path, &[yes, is_zero, no]), Ok(()));
    assert!(matches!(check(&mut t, &path, &[yes, no]), Err(Broken::Length { .. })));
    assert!(matches!(check(&mut t, &path, &[is_zero, is_zero, no]), Err(Broken::Start(_))));
    assert!(matches!(check(&mut t, &path, &[yes, is_one, no]), Err(Broken::Step { position: 0, .. })));
    assert!(matches!(check(&mut t, &path, &[yes, yes, no]), Err(Broken::Step { position: 1, .. })));
    assert!(matches!(check(&mut t, &path, &[yes, is_zero, is_zero]), Err(Broken::End(_))));
    let other = t.eq(rt, one);
    assert!(matches!(check(&mut t, &path, &[yes, other, no]), Err(Broken::Variable { position: 1, .. })));
    // A predicate that faults does not hold: it cannot stand for what it does not say.
    let limited = t.checked(xt, 1, 3);
    let faulty = t.le(zero, limited);
    assert!(matches!(check(&mut t, &path, &[yes, faulty, no]), Err(Broken::Step { position: 0, .. })));
    // A statement that always faults lets nothing through.
    let s = t.assign(r, four);
    assert_eq!(check(&mut t, &[s], &[yes, no]), Ok(()));
    assert!(matches!(check(&mut t, &[], &[yes]), Err(Broken::End(_))));
}

#[test]
fn refuted() {
    let wanted: usize = std::env::var("PATHS").map_or(300, |n| n.parse().expect("a number"));
    let seed: u64 = std::env::var("SEED").map_or(1, |n| n.parse().expect("a number"));
    let seconds: u64 = std::env::var("LIMIT").map_or(5, |n| n.parse().expect("a number"));
    let only = std::env::var("ONLY").ok();
    let refiners = REFINERS;
    let (mut infeasible, mut feasible) = (0, 0);
    let mut unknown = [0; 4];
    let mut unchecked = [0; 4];
    let mut spent = [Duration::ZERO; 4];
    let mut longest = [Duration::ZERO; 4];
    let mut atoms = [0; 4];
    let mut slow = [0; 4];
    let mut at = std::env::var("AT").map_or(seed * 1_000_000, |n| n.parse::<u64>().expect("a number") - 1);
    while infeasible < wanted {
        at += 1;
        let mut maker = Maker::new(at);
        let chosen = [5, 10, 30, 60][maker.random.below(4)];
        let length = std::env::var("LENGTH").map_or(chosen, |n| n.parse().expect("a number"));
        let path = maker.path(length);
        let mut answers = vec![];
        for (k, (name, make)) in refiners.iter().enumerate() {
            if only.as_ref().is_some_and(|only| only != name) {
                continue;
            }
            let mut t = maker.t.clone();
            let mut solver = Embedded::new();
            let start = Instant::now();
            let answer =
                make().refute(&mut t, &path, &mut solver, &Meter::unlimited().time(Duration::from_secs(seconds)));
            let time = start.elapsed();
            spent[k] += time;
            longest[k] = longest[k].max(time);
            slow[k] += usize::from(time > Duration::from_millis(20));
            if std::env::var("SHOW").is_ok_and(|ms| time.as_millis() as u64 > ms.parse().expect("a number")) {
                let predicates = answer.as_ref().map_or(vec![], |r| r.predicates.clone());
                println!("{at} {name} {time:?}:\n{}", shown(&t, &path, &predicates));
            }
            match answer {
                Ok(refutation) => {
                    answers.push(Some(true));
                    atoms[k] += refutation.predicates.iter().map(|&p| t.subterms([p]).len()).sum::<usize>();
                    let checked = check_triples(
                        &mut t,
                        &path,
                        &refutation.predicates,
                        &mut Embedded::new(),
                        &Meter::unlimited().time(Duration::from_secs(20)),
                    );
                    match checked {
                        Err(Broken::Unknown { reason, .. }) => {
                            unchecked[k] += 1;
                            // Another solver checks what the embedded one cannot, if there is one.
                            let Ok(other) = std::env::var("SOLVER") else {
                                println!("{at} {name} unchecked: {reason}");
                                continue;
                            };
                            let mut other = Process::new(&other).expect("a solver");
                            let checked =
                                check_triples(&mut t, &path, &refutation.predicates, &mut other, &Meter::unlimited());
                            assert_eq!(checked, Ok(()), "{at} {name}:\n{}", shown(&t, &path, &refutation.predicates));
                        }
                        checked => {
                            assert_eq!(checked, Ok(()), "{at} {name}:\n{}", shown(&t, &path, &refutation.predicates));
                        }
                    }
                    assert_eq!(t.as_bool(refutation.predicates[0]), Some(true));
                    assert_eq!(t.as_bool(refutation.predicates[path.len()]), Some(false));
                    for (p, variables) in refutation.predicates.iter().zip(&refutation.variables) {
                        assert!(t.free_vars(*p).is_subset(variables), "{at} {name}");
                    }
                }
                Err(NotRefuted::Feasible(states)) => {
                    answers.push(Some(false));
                    assert_eq!(states.len(), path.len() + 1);
                    for (i, &s) in path.iter().enumerate() {
                        assert!(goes(&t, s, &states[i], &states[i + 1]), "{at} {name} {i}:\n{}", shown(&t, &path, &[]));
                    }
                }
                Err(NotRefuted::Unknown(reason)) => {
                    println!("{at} {name} unknown after {time:?}: {reason}");
                    answers.push(None);
                    unknown[k] += 1;
                }
            }
        }
        let decided: Vec<bool> = answers.into_iter().flatten().collect();
        assert!(decided.windows(2).all(|w| w[0] == w[1]), "{at}");
        match decided.first() {
            Some(true) => infeasible += 1,
            Some(false) => feasible += 1,
            None => {}
        }
    }
    println!("{infeasible} infeasible, {feasible} feasible");
    for (k, (name, _)) in refiners.iter().enumerate() {
        let (unknown, unchecked, slow) = (unknown[k], unchecked[k], slow[k]);
        println!(
            "{name}: {unknown} unknown, {unchecked} not checked by ourselves, {slow} over 20 ms; size {}",
            atoms[k]
        );
        println!("    {:?} in all, at most {:?}", spent[k], longest[k]);
        assert!(unknown * 50 <= wanted, "{name} does not know too often");
    }
}
