//! Counter systems: any number of processes, counted by the state they are in (003 §2.1).
//!
//! A state gives every variable a natural number. A [`Rule`] may be taken where its variables lie in intervals; it then sets
//! variables, all at once, to a sum of variables and a constant. That covers Petri nets (`x' = x - 1`), transfers
//! (`y' = y + x, x' = 0`), resets, and broadcast protocols. The question is *coverability*: can a state be reached that is at least
//! one of the [`System::target`]s?
//!
//! Rules without upper bounds are *monotone*: more processes can do no less, so the system is well-structured. A rule that tests for
//! zero, or for any upper bound, is not. Most engines then see the smallest monotone system that can do more: whoever has too many may
//! lose some first ([`pre`], [`post`]). What they prove holds; a counterexample counts only if [`interpret`] can replay it, and
//! [`interpret`] knows nothing of losing. A search that keeps what such tests depend on as it is ([`System::exact_part`]) needs no such
//! allowance.
//!
//! Numbers are exact: what does not fit is [`Overflow`], never a wrong number.

pub mod basis;
pub mod evidence;
pub mod interpret;
pub mod post;
pub mod pre;
pub mod vector;

use std::borrow::Cow;
use std::fmt;

use trellis_meter::seeded::{self, Bug};

pub use basis::Basis;
pub use vector::{OMEGA, Vector};

/// A variable, by position.
pub type Var = u32;

/// A rule, by position.
pub type RuleId = u32;

/// The largest number that input may contain. Sums of a few of these still fit.
pub const LARGEST: u64 = 1 << 50;

/// What a variable may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// At least this.
    pub low: u64,
    /// At most this, if there is a limit.
    pub high: Option<u64>,
}

impl Interval {
    /// Any number.
    pub const ANY: Interval = Interval { low: 0, high: None };

    /// This number or more.
    pub fn at_least(low: u64) -> Interval {
        Interval { low, high: None }
    }

    /// This number.
    pub fn exactly(n: u64) -> Interval {
        Interval { low: n, high: Some(n) }
    }

    /// Is the number in it?
    pub fn contains(&self, n: u64) -> bool {
        self.low <= n && self.high.is_none_or(|h| n <= h)
    }

    /// What is in both.
    pub fn and(self, other: Interval) -> Interval {
        let high = match (self.high, other.high) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Interval { low: self.low.max(other.low), high }
    }

    /// Is nothing in it?
    pub fn is_empty(&self) -> bool {
        self.high.is_some_and(|h| h < self.low)
    }
}

/// The new value of a variable: a sum of variables, each once, and a constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Sorted.
    pub sources: Vec<Var>,
    /// Added to them.
    pub constant: i64,
}

/// What may happen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rule {
    /// Where it may be taken; sorted by variable, each once. The others may be anything.
    pub guards: Vec<(Var, Interval)>,
    /// What it sets, all at once; sorted by variable, each once. The others stay. It cannot be taken where a result would be
    /// negative.
    pub updates: Vec<(Var, Update)>,
    /// The line it was written in, from 1, if there was one.
    pub line: Option<u32>,
    /// What the model calls it, if it has a name: the identifier of a transition.
    pub name: Option<String>,
    /// What people call it, where that is another name.
    pub title: Option<String>,
}

impl Rule {
    /// The guard on a variable.
    pub fn guard(&self, v: Var) -> Interval {
        self.guards.binary_search_by_key(&v, |g| g.0).map_or(Interval::ANY, |i| self.guards[i].1)
    }

    /// What a variable is set to, if it is.
    pub fn update(&self, v: Var) -> Option<&Update> {
        self.updates.binary_search_by_key(&v, |u| u.0).ok().map(|i| &self.updates[i].1)
    }

    /// Without upper bounds, what one state can do a larger one can do too.
    pub fn is_monotone(&self) -> bool {
        self.guards.iter().all(|g| g.1.high.is_none())
    }

    /// May the rule leave more in a variable than there was?
    pub fn may_raise(&self, v: Var) -> bool {
        self.update(v).is_some_and(|u| match u.sources[..] {
            [] => u.constant > 0,
            [x] if x == v => u.constant > 0,
            _ => !seeded::has(Bug::SumRaises),
        })
    }

    /// Does it only add to variables and subtract from them, as the transitions of Petri nets do?
    pub fn is_plain(&self) -> bool {
        self.is_monotone() && self.updates.iter().all(|(v, u)| u.sources == [*v])
    }

    /// The smallest numbers with which the rule can be taken: of the guard, and of what it subtracts from single variables. (With
    /// sums there is no smallest state; this is what all of them have in common.)
    pub fn least(&self) -> Vector {
        let mut all: Vec<(Var, u64)> = self.guards.iter().map(|(v, g)| (*v, g.low)).collect();
        for (_, u) in &self.updates {
            if let ([x], Ok(needed)) = (&u.sources[..], u64::try_from(-i128::from(u.constant))) {
                all.push((*x, needed));
            }
        }
        Vector::new(all)
    }
}

/// A counter system and its question.
#[derive(Debug, Clone, Default)]
pub struct System {
    /// The variables.
    pub names: Vec<String>,
    /// What may happen.
    pub rules: Vec<Rule>,
    /// For each variable what it may be at the start.
    pub initial: Vec<Interval>,
    /// What must not be covered: a state at least as large as one of these.
    pub target: Vec<Vector>,
    /// Weights of the variables whose sum, somebody claims, never changes. Not trusted: see [`System::changes`].
    pub claimed: Vec<Vec<(Var, i64)>>,
    /// Other names by which people may call variables; several variables may share one.
    pub aliases: Vec<(String, Var)>,
}

impl System {
    /// Is every rule monotone?
    pub fn is_monotone(&self) -> bool {
        self.rules.iter().all(Rule::is_monotone)
    }

    /// Can the start be at least this?
    pub fn may_start_above(&self, v: &Vector) -> bool {
        let high = |x: Var| match seeded::has(Bug::StartLow) {
            true => Some(self.initial[x as usize].low),
            false => self.initial[x as usize].high,
        };
        v.iter().all(|(x, n)| high(x).is_none_or(|h| n <= h))
    }

    /// The smallest initial state that is at least this. Only if there is one.
    pub fn start_above(&self, v: &Vector) -> Vec<u64> {
        let mut state: Vec<u64> = self.initial.iter().map(|i| i.low).collect();
        for (x, n) in v.iter() {
            let value = &mut state[x as usize];
            *value = n.max(*value);
        }
        state
    }

    /// For each variable the rules that may raise it. What no rule raises, no step can lead into: `pre` of the other rules only
    /// gives what was there.
    pub fn raisers(&self) -> Vec<Vec<RuleId>> {
        let mut all = vec![vec![]; self.names.len()];
        for (r, rule) in self.rules.iter().enumerate() {
            for (v, _) in &rule.updates {
                if rule.may_raise(*v) {
                    all[*v as usize].push(r as RuleId);
                }
            }
        }
        all
    }

    /// A rule that changes the sum with these weights, if there is one. (Nobody should believe an invariant who was only told.)
    pub fn changes(&self, weights: &[(Var, i64)]) -> Option<RuleId> {
        let mut all = vec![0; self.names.len()];
        weights.iter().for_each(|(v, k)| all[*v as usize] += i128::from(*k));
        let changed = self.rules.iter().position(|rule| {
            let mut change = 0;
            let mut columns: Vec<(Var, i128)> = vec![];
            for (v, u) in &rule.updates {
                let weight = all[*v as usize];
                change += weight * i128::from(u.constant);
                columns.push((*v, -weight));
                columns.extend(u.sources.iter().map(|x| (*x, weight)));
            }
            columns.sort_unstable();
            change != 0 || columns.chunk_by(|a, b| a.0 == b.0).any(|c| c.iter().map(|e| e.1).sum::<i128>() != 0)
        });
        changed.map(|r| r as RuleId)
    }

    /// The variables whose numbers decide whether a rule can be taken by being too large, and what these are computed from. Two states
    /// in which these are the same, and nothing else is smaller in the second, can do the same: the second can take every rule that the
    /// first can, and what follows is again like that. So a search that keeps these numbers exact is exact.
    pub fn exact_part(&self) -> Vec<bool> {
        let mut exact = vec![false; self.names.len()];
        let limited = self.rules.iter().flat_map(|r| &r.guards).filter(|g| g.1.high.is_some());
        let mut waiting: Vec<Var> = limited.map(|g| g.0).collect();
        let mut sources: Vec<Vec<Var>> = vec![vec![]; self.names.len()];
        for (v, u) in self.rules.iter().flat_map(|r| &r.updates) {
            sources[*v as usize].extend(&u.sources);
        }
        while let Some(v) = waiting.pop() {
            if !std::mem::replace(&mut exact[v as usize], true) {
                waiting.extend(&sources[v as usize]);
            }
        }
        exact
    }

    /// How the name of a variable is shown, and can be written where a variable is asked for.
    pub fn shown(&self, v: Var) -> Cow<'_, str> {
        shown(&self.names[v as usize])
    }

    /// How a person calls a rule.
    pub fn describe(&self, rule: RuleId) -> String {
        let r = &self.rules[rule as usize];
        let called = match (&r.name, &r.title) {
            (Some(id), Some(title)) => format!("{} ({}): ", shown(id), shown(title)),
            (Some(name), None) | (None, Some(name)) => format!("{}: ", shown(name)),
            (None, None) => String::new(),
        };
        format!("{called}{}", self.meaning(rule))
    }

    /// What a rule does: its guards and updates.
    pub fn meaning(&self, rule: RuleId) -> String {
        let r = &self.rules[rule as usize];
        let name = |v: Var| self.shown(v);
        let guards: Vec<String> = r
            .guards
            .iter()
            .map(|(v, g)| match (g.low, g.high) {
                (l, Some(h)) if l == h => format!("{} = {l}", name(*v)),
                (l, Some(h)) => format!("{} in [{l}, {h}]", name(*v)),
                (l, None) => format!("{} >= {l}", name(*v)),
            })
            .collect();
        let updates: Vec<String> = r.updates.iter().map(|(v, u)| format!("{}' = {}", name(*v), self.sum(u))).collect();
        let guards = if guards.is_empty() { "true".into() } else { guards.join(", ") };
        format!("{guards} -> {}", updates.join(", ")).trim_end().to_string()
    }

    fn sum(&self, u: &Update) -> String {
        let text: Vec<Cow<'_, str>> = u.sources.iter().map(|x| self.shown(*x)).collect();
        let sum = text.join(" + ");
        match (sum.is_empty(), u.constant) {
            (true, n) => n.to_string(),
            (false, 0) => sum,
            (false, n) if n < 0 => format!("{sum} - {}", n.unsigned_abs()),
            (false, n) => format!("{sum} + {n}"),
        }
    }
}

/// A name as it is shown: as it is if it is made of letters, digits, `_` and `.` and starts with no digit, else in quotes.
pub fn shown(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    if name.starts_with(|c: char| plain(c) && !c.is_ascii_digit()) && name.chars().all(plain) {
        return name.into();
    }
    let mut quoted = String::from("\"");
    for c in name.chars() {
        // Apostrophes need no care between double quotes; what moves a cursor does.
        if c == '\'' { quoted.push(c) } else { quoted.extend(c.escape_debug()) }
    }
    quoted.push('"');
    quoted.into()
}

/// Why an exact answer is not to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// A number does not fit.
    Numbers,
    /// A set has more minimal elements than anybody could go through.
    Many,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overflow::Numbers => write!(f, "a number grows beyond 2^50"),
            Overflow::Many => write!(f, "a rule that adds up variables has too many predecessors"),
        }
    }
}

impl std::error::Error for Overflow {}
