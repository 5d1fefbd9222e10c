//! Random systems of formulas over truth values: the automaton goes from one state to another exactly if the formulas hold of the
//! two. For the reference the formulas are read as properties, with other variables for the next state, and are evaluated for all
//! values; the automaton's own statements are what is tested.

use std::collections::BTreeSet;

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{Value, VarId};
use trellis_model::cfa::LocationId;
use trellis_model::cfa::interpret::{State, successors};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::sts::{Sts, parse};

const NAMES: [&str; 3] = ["x", "y", "z"];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    /// A variable of this state or, written with `#`, of the next.
    fn variable(&mut self, next: bool) -> String {
        let prime = if next && self.below(2) == 0 { "#" } else { "" };
        format!("{}{prime}", NAMES[self.below(3)])
    }

    fn formula(&mut self, next: bool, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match self.below(if depth == 0 { 3 } else { 11 }) {
            0 | 1 => self.variable(next),
            2 => ["true", "false"][self.below(2)].into(),
            // This has no value if the variable is false.
            3 => format!("(1 / (if {} then 1 else 0) = 1)", self.variable(next)),
            4 => format!("(not {})", self.formula(next, d)),
            5 | 6 => format!("({} = {})", self.variable(next), self.formula(next, d)),
            7 | 8 => {
                let c = self.formula(next, d);
                format!("(if {c} then {} else {})", self.formula(next, d), self.formula(next, d))
            }
            n => {
                let op = ["and", "or", "imply", "equal", "xor"][(n + self.below(5)) % 5];
                format!("({} {op} {})", self.formula(next, d), self.formula(next, d))
            }
        }
    }
}

fn read(text: &str) -> Sts {
    let mut sources = Sources::default();
    let id = sources.add("random.sts", text);
    match parse(&sources, id) {
        Ok((mut all, _)) => all.remove(0),
        Err(d) => panic!("{}\n{text}", render(&d, &sources, false)),
    }
}

const DECLARED: &str = "var x : bool var y : bool var z : bool";

/// For all values of the three variables, and of three more, whether the formula has the value true.
fn table(formula: &str) -> Vec<bool> {
    let text = format!(
        "specification R {{ property p : {{ {DECLARED} var nx : bool var ny : bool var nz : bool }} models G({}) }}",
        NAMES.iter().fold(formula.to_string(), |text, n| text.replace(&format!("{n}#"), &format!("n{n}")))
    );
    let sts = read(&text);
    let holds = |bits: usize| {
        let env: Valuation =
            sts.variables.iter().enumerate().map(|(n, &v)| (v, Value::Bool(bits >> n & 1 == 1))).collect();
        eval(&sts.cfa.terms, sts.property, &env, &mut NoHost) == Ok(Value::Bool(true))
    };
    (0..64).map(holds).collect()
}

/// The first three variables as bits.
fn bits(variables: &[VarId], env: &Valuation) -> usize {
    variables.iter().enumerate().map(|(n, v)| usize::from(env[v] == Value::Bool(true)) << n).sum()
}

/// With junk in the copies.
fn state(sts: &Sts, at: LocationId, values: usize, r: &mut Random) -> State {
    let mut env: Valuation = sts.cfa.variables.iter().map(|&v| (v, Value::Bool(r.below(2) == 0))).collect();
    env.extend(sts.variables.iter().enumerate().map(|(n, &v)| (v, Value::Bool(values >> n & 1 == 1))));
    State { location: at, env }
}

#[test]
fn steps_are_what_the_formulas_say() {
    let count: u64 = std::env::var("TRELLIS_RUNS").ok().and_then(|v| v.parse().ok()).unwrap_or(400);
    let mut steps = 0;
    for seed in 1..=count {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut list =
            |next: bool, most: usize| -> Vec<String> { (0..r.below(most + 1)).map(|_| r.formula(next, 3)).collect() };
        let (initial, invariant, transition) = (list(false, 3), list(false, 1), list(true, 4));
        let property = r.formula(false, 2);
        let mut inside = String::new();
        for (word, formulas) in [("initial", &initial), ("invariant", &invariant), ("transition", &transition)] {
            for f in formulas {
                inside += &format!("{word} {}\n", f.replace('#', "'"));
            }
        }
        let text = format!("specification S {{ property p : {{ {DECLARED}\n{inside} }} models G({property}) }}");
        let sts = read(&text);
        let all = |formulas: &[String]| {
            let tables: Vec<Vec<bool>> = formulas.iter().map(|f| table(f)).collect();
            move |at: usize| tables.iter().all(|t| t[at])
        };
        let (initial, invariant, transition) = (all(&initial), all(&invariant), all(&transition));
        let holds = table(&property);
        let (start, states) = (sts.cfa.initial, LocationId(1));

        let mut first = BTreeSet::new();
        for values in 0..8 {
            let here = state(&sts, start, values, &mut r);
            first
                .extend(successors(&sts.cfa, &here, 1000).expect("few").iter().map(|s| bits(&sts.variables, &s.1.env)));
        }
        let expected: BTreeSet<usize> = (0..8).filter(|&s| initial(s) && invariant(s)).collect();
        assert_eq!(first, expected, "seed {seed}, start\n{text}");

        for (values, &holds) in holds.iter().enumerate().take(8) {
            let here = state(&sts, states, values, &mut r);
            let after = successors(&sts.cfa, &here, 1000).expect("few");
            let (errors, next): (Vec<_>, Vec<_>) = after.iter().partition(|s| sts.cfa.is_error(s.1.location));
            assert_eq!(errors.is_empty(), holds, "seed {seed}, property in {values:03b}\n{text}");
            let next: BTreeSet<usize> = next.iter().map(|s| bits(&sts.variables, &s.1.env)).collect();
            let expected: BTreeSet<usize> = (0..8).filter(|&s| transition(values | s << 3) && invariant(s)).collect();
            assert_eq!(next, expected, "seed {seed}, from {values:03b}\n{text}");
            steps += next.len();
        }
    }
    println!("{count} systems, {steps} steps");
}
