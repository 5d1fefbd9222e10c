//! Problems of clauses and bounds on sums of integers, and refutations of them that anybody can follow.
//!
//! Literals are those of DIMACS: `1, 2, …` are variables, `−1` is the negation of `1`. Some variables are *atoms*: they say that a sum of
//! integers is at most a number. [`crate::refute`] searches as the embedded solver does, writes down what it learns, and then justifies
//! every clause of arithmetic that the rest uses. Nothing here is to be believed: `trellis-check` follows a refutation.

use std::collections::BTreeMap;

use dashu_int::IBig;

use crate::Reason;

/// A literal, as in DIMACS.
pub type Literal = i32;

/// A sum of integers, `Σ factor · integer`: sorted, each once, no factor zero, no divisor in common.
pub type Sum = Vec<(u32, IBig)>;

/// What is to be refuted.
#[derive(Debug, Clone, Default)]
pub struct Problem {
    /// How many variables there are: `1 ..= variables`.
    pub variables: usize,
    /// All of them hold; the first one is that of the variable 1 alone, which is true.
    pub clauses: Vec<Vec<Literal>>,
    /// How many integers there are: `0 .. integers`.
    pub integers: usize,
    /// The variable is true if and only if the sum is at most the number. Each pair once.
    pub atoms: BTreeMap<Literal, (Sum, IBig)>,
}

/// A step of a refutation. It adds a clause, whose number is the next one after those of the problem, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The clause follows from these by unit propagation.
    Learnt(Vec<Literal>, Vec<usize>),
    /// The bounds that the negations of its literals are contradict each other.
    Lemma(Vec<Literal>, Arithmetic),
}

impl Step {
    /// The clause that is added.
    pub fn clause(&self) -> &[Literal] {
        match self {
            Step::Learnt(c, _) | Step::Lemma(c, _) => c,
        }
    }
}

/// Why bounds on sums of integers contradict each other. Bounds are numbered: first those given, then those of the splits around.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arithmetic {
    /// These bounds, times these positive factors, add up to `0 ≤` something negative (Farkas).
    Farkas(Vec<(usize, IBig)>),
    /// The sum is at most the number, or at least one more (branch): one more bound in each case, and neither goes.
    Branch(Sum, IBig, Box<(Arithmetic, Arithmetic)>),
    /// Pairs of bounds that are an equation, with factors: together they say that a multiple of something is no multiple of it (cut).
    Divisor(Vec<(usize, usize, IBig)>),
}

/// What came out.
#[derive(Debug, Clone)]
pub enum Found {
    /// The steps, the last of which adds the empty clause.
    Refutation(Vec<Step>),
    /// Values that satisfy it: of the variables (that of `1` first) and of the integers.
    Model(Vec<bool>, Vec<IBig>),
    /// Neither.
    Unknown(Reason),
}

/// The clauses of a problem and of a refutation's arithmetic, as DIMACS, with what the variables and the lemmas mean as comments.
pub fn dimacs(problem: &Problem, steps: &[Step]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let lemmas = || steps.iter().filter(|s| matches!(s, Step::Lemma(..)));
    let _ = writeln!(out, "c atoms: variable, sum of integers, the most that it is");
    for (v, (sum, most)) in &problem.atoms {
        let _ = writeln!(out, "c a {v} {} <= {most}", show(sum));
    }
    let _ = writeln!(out, "p cnf {} {}", problem.variables, problem.clauses.len() + lemmas().count());
    for c in &problem.clauses {
        let _ = writeln!(out, "{}", line(c));
    }
    for s in lemmas() {
        if let Step::Lemma(clause, why) = s {
            let _ = writeln!(out, "c l {}", justified(why));
            let _ = writeln!(out, "{}", line(clause));
        }
    }
    out
}

/// The clauses that a refutation learns, as `drat-trim` reads them.
pub fn drat(steps: &[Step]) -> String {
    let learnt = steps.iter().filter(|s| matches!(s, Step::Learnt(..)));
    learnt.map(|s| line(s.clause()) + "\n").collect()
}

fn line(clause: &[Literal]) -> String {
    clause.iter().map(|l| format!("{l} ")).collect::<String>() + "0"
}

fn show(sum: &Sum) -> String {
    let parts: Vec<String> = sum.iter().map(|(v, k)| format!("{k}*i{v}")).collect();
    parts.join(" + ")
}

/// A justification in one line: `farkas bound:factor …`, `branch sum <= number { … } { … }`, `divisor upper:lower:factor …`.
fn justified(why: &Arithmetic) -> String {
    match why {
        Arithmetic::Farkas(parts) => {
            format!("farkas{}", parts.iter().map(|(i, k)| format!(" {i}:{k}")).collect::<String>())
        }
        Arithmetic::Branch(sum, most, sides) => {
            format!("branch {} <= {most} {{ {} }} {{ {} }}", show(sum), justified(&sides.0), justified(&sides.1))
        }
        Arithmetic::Divisor(parts) => {
            format!("divisor{}", parts.iter().map(|(i, j, k)| format!(" {i}:{j}:{k}")).collect::<String>())
        }
    }
}
