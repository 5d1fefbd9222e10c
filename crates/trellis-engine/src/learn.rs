//! Refinement that learns (000 Alg. 4–5, with a strategy in place of a set of split states): from a path that exists only because of a join, a
//! rule is learnt that forbids this join and others like it.
//!
//! A rule looks at the joined element through the eyes of the model: through a query of a lattice variable that a guard or the property calls. If the
//! join has changed its answer, the rule is `joined.v.m() < c` (or `> c`), where `c` is the answer that it must not have again. Of several such queries the
//! one is taken that also differs where the path fails. The search then begins anew with what was learnt; when it has ended with a proof, rules
//! without which it also ends are dropped. A rule can be written down as a joining strategy, and used again.
//!
//! Where nothing can be learnt (no query has changed), or too much would be, keys are split as before ([`Refine::Split`]), under the rules so
//! far. Rules only say which joins are made; no verdict rests on them.

use std::sync::Arc;

use trellis_expr::{FnId, Term};
use trellis_meter::{Meter, Stats};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::{
    Action, Condition, Elements, Function, Layout, ModelError, Network, Post, Query, QueryKind, Snapshot,
};
use trellis_order::{Join, Lattice, MethodKind, Shape, Word};

use crate::network::{Answer, Broken, Inconclusive, answer};
use crate::reach::{Options, Refine, Strategy};

/// So often the search begins anew; then keys are split.
const MOST_ROUNDS: usize = 40;
/// Rules are dropped again on trial if the search is not larger than this.
const SMALL: u64 = 20_000;

/// Something that the model asks of an element: `aLogin.num0s()`.
struct Probe {
    lattice: Arc<dyn Lattice>,
    /// Where its words start.
    at: usize,
    method: usize,
    args: Vec<i64>,
    /// As a strategy writes it, without the state: `aLogin.num0s()`.
    text: String,
}

impl Probe {
    fn ask(&self, elem: &[Word]) -> Option<i64> {
        self.lattice.query(self.method, &elem[self.at..self.at + self.lattice.width()], &self.args).ok()
    }
}

/// What the answer about a joined element must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Below(i64),
    Above(i64),
}

/// Rules about joins.
struct Learnt {
    elements: Elements,
    probes: Vec<Probe>,
    rules: Vec<(usize, Bound)>,
    joined: Vec<Word>,
}

impl Learnt {
    fn new(net: &Network) -> Learnt {
        Learnt { elements: net.elements(), probes: probes(net), rules: vec![], joined: vec![0; net.element_width()] }
    }

    /// The rules as a joining strategy, as `--join` reads it.
    fn text(&self) -> String {
        let rule = |&(probe, bound): &(usize, Bound)| {
            let text = &self.probes[probe].text;
            match bound {
                Bound::Below(c) => format!("joined.{text} < {c}"),
                Bound::Above(c) => format!("joined.{text} > {c}"),
            }
        };
        self.rules.iter().map(rule).collect::<Vec<_>>().join(" and ")
    }

    /// Learns from a path; answers whether there was anything to learn.
    fn learn(&mut self, net: &Network, found: &Inconclusive) -> bool {
        let Some((joined, parted)) = states(net, found, found.pivot) else { return false };
        // Where the path fails: what it claims there, and what is really there.
        let failing = real(net, found).and_then(|real| Some((moment(found, found.fails_at)?.element.clone(), real)));
        let mut best: Option<(bool, usize, Bound)> = None;
        for (n, probe) in self.probes.iter().enumerate() {
            let (Some(with), Some(without)) = (probe.ask(&joined), probe.ask(&parted)) else { continue };
            let bound = match () {
                () if with > without => Bound::Below(with),
                () if with < without => Bound::Above(with),
                () => continue,
            };
            let matters = failing.as_ref().is_some_and(|(said, real)| probe.ask(said) != probe.ask(real));
            if best.is_none_or(|(b, ..)| matters && !b) {
                best = Some((matters, n, bound));
            }
        }
        let Some((_, n, bound)) = best else { return false };
        // A tighter rule about the same answer takes the place of the other.
        let same =
            |b: &Bound| matches!((b, bound), (Bound::Below(_), Bound::Below(_)) | (Bound::Above(_), Bound::Above(_)));
        self.rules.retain(|(m, b)| *m != n || !same(b));
        self.rules.push((n, bound));
        true
    }
}

impl Strategy<ModelError> for Learnt {
    fn accepts(&mut self, _: &[Word], stored: &[Word], new: &[Word]) -> Result<bool, ModelError> {
        if self.rules.is_empty() {
            return Ok(true);
        }
        self.joined.copy_from_slice(stored);
        self.elements.join(&mut self.joined, new);
        let allows = |&(probe, bound): &(usize, Bound)| match (self.probes[probe].ask(&self.joined), bound) {
            (Some(answer), Bound::Below(c)) => answer < c,
            (Some(answer), Bound::Above(c)) => answer > c,
            // What cannot be asked must not be joined.
            (None, _) => false,
        };
        Ok(self.rules.iter().all(allows))
    }
}

/// Answers a query by join update that learns when to join; what was learnt, if anything was, as a joining strategy.
pub fn answer_learning(
    net: &Network,
    query: &Query,
    options: Options,
    priority: Option<Condition>,
    meter: &mut Meter,
) -> (Result<Answer, Box<Broken>>, Option<String>) {
    let mut learnt = Learnt::new(net);
    let once = Options { refine: Refine::Never, ..options };
    let mut total = Stats::default();
    // Bounds and runs without end have no path to learn from.
    let mut splits = learnt.probes.is_empty() || !matches!(query.kind, QueryKind::Always(_) | QueryKind::Possibly(_));
    for _ in 0..MOST_ROUNDS {
        if splits {
            break;
        }
        match answer(net, query, once, Some(&mut learnt), priority, meter) {
            Err(broken) => return (Err(broken), None),
            Ok(found) => {
                add(&mut total, &found.stats);
                let undecided = matches!(found.verdict, Verdict::Unknown(Reason::InconclusiveJoin));
                if !undecided {
                    let found = minimise(net, query, once, priority, &mut learnt, found, meter);
                    let text = (!learnt.rules.is_empty()).then(|| learnt.text());
                    return (Ok(Answer { stats: Stats { stored: found.stats.stored, ..total }, ..found }), text);
                }
                total.refinements += 1;
                splits = !found.inconclusive.as_ref().is_some_and(|i| learnt.learn(net, i));
            }
        }
    }
    let text = (!learnt.rules.is_empty()).then(|| learnt.text());
    let found = answer(net, query, options, Some(&mut learnt), priority, meter).map(|found| {
        add(&mut total, &found.stats);
        Answer { stats: Stats { stored: found.stats.stored, ..total }, ..found }
    });
    (found, text)
}

/// Drops rules without which there is a proof, too. Trials are not counted: they are no part of the proof that is shown.
fn minimise(
    net: &Network,
    query: &Query,
    options: Options,
    priority: Option<Condition>,
    learnt: &mut Learnt,
    mut found: Answer,
    meter: &mut Meter,
) -> Answer {
    if !matches!(found.verdict, Verdict::Safe(_)) || found.stats.added > SMALL {
        return found;
    }
    let mut n = 0;
    while learnt.rules.len() > 1 && n < learnt.rules.len() {
        let rule = learnt.rules.remove(n);
        let mut limited = meter.clone().states(Some(found.stats.added.saturating_mul(2)));
        match answer(net, query, options, Some(&mut *learnt), priority, &mut limited) {
            Ok(other) if matches!(other.verdict, Verdict::Safe(_)) && other.stats.added <= found.stats.added => {
                found = other;
            }
            _ => {
                learnt.rules.insert(n, rule);
                n += 1;
            }
        }
    }
    found
}

fn add(total: &mut Stats, more: &Stats) {
    total.added += more.added;
    total.expanded += more.expanded;
    total.steps += more.steps;
    total.covered += more.covered;
    total.joins += more.joins;
    total.refinements += more.refinements;
}

/// A state of the path.
fn moment(found: &Inconclusive, at: usize) -> Option<&Snapshot> {
    match at {
        0 => Some(&found.path.initial),
        n => found.path.steps.get(n - 1).map(|s| &s.state),
    }
}

/// Takes a step from a state, without joins.
fn take(post: &mut Post<'_>, layout: &Layout, from: &Snapshot, action: &Action) -> Option<(Vec<Word>, Vec<Word>)> {
    post.take(&layout.key_of(from), &from.element, action).ok().flatten()
}

/// The joined element of a state of the path, and what the step before really leads to.
fn states(net: &Network, found: &Inconclusive, at: usize) -> Option<(Vec<Word>, Vec<Word>)> {
    let joined = moment(found, at)?.element.clone();
    let (mut post, layout) = (Post::new(net), Layout::new(net));
    let parted = match at {
        0 => post.initial().ok()?.1,
        n => take(&mut post, &layout, moment(found, n - 1)?, &found.path.steps[n - 1].action)?.1,
    };
    Some((joined, parted))
}

/// The element where the path fails, when it is taken from the pivot on without joins.
fn real(net: &Network, found: &Inconclusive) -> Option<Vec<Word>> {
    let (mut post, layout) = (Post::new(net), Layout::new(net));
    let (_, elem) = states(net, found, found.pivot)?;
    let mut state = (layout.key_of(moment(found, found.pivot)?), elem);
    for step in found.path.steps.get(found.pivot..found.fails_at.max(found.pivot))? {
        match post.take(&state.0, &state.1, &step.action).ok().flatten() {
            Some(next) => state = next,
            None => break,
        }
    }
    Some(state.1)
}

/// What guards and questions ask of lattice variables, with constant arguments.
fn probes(net: &Network) -> Vec<Probe> {
    let constant = |t: &trellis_expr::TermId| match net.terms.get(*t) {
        Term::Int(n) => Some(*n),
        Term::Checked(inner, ..) => match net.terms.get(*inner) {
            Term::Int(n) => Some(*n),
            _ => None,
        },
        _ => None,
    };
    let mut all: Vec<Probe> = vec![];
    for t in 0..net.terms.len() {
        let Term::Foreign(FnId(f), args) = net.terms.get(trellis_expr::TermId(t as u32)) else { continue };
        let Some(Function::Method { lattice, method }) = net.functions.get(*f as usize) else { continue };
        let Some(args) = args.iter().map(constant).collect::<Option<Vec<i64>>>() else { continue };
        let Some((&at, args)) = args.split_first() else { continue };
        let m = &lattice.methods()[*method];
        if m.kind != MethodKind::Query {
            continue;
        }
        let Some(place) = usize::try_from(at).ok().and_then(|at| place(net, at, &**lattice)) else { continue };
        let given: Vec<String> = args.iter().map(i64::to_string).collect();
        let text = format!("{place}.{}({})", m.name, given.join(", "));
        if !all.iter().any(|p| p.text == text) {
            let (lattice, args) = (lattice.clone(), args.to_vec());
            all.push(Probe { lattice, at: at as usize, method: *method, args, text });
        }
    }
    all
}

/// How a model calls the lattice value that starts at a word: `cache`, `cache[2]`, `cache.lines`.
fn place(net: &Network, at: usize, lattice: &dyn Lattice) -> Option<String> {
    let var = net.lattices.iter().find(|v| (v.offset..v.offset + v.lattice.width()).contains(&at))?;
    // Names of processes' own variables are no expressions of a strategy.
    let mut name = var.name.clone();
    let (mut here, mut of) = (var.offset, &var.lattice);
    loop {
        if here == at && of.name() == lattice.name() {
            return Some(name);
        }
        match of.shape() {
            Shape::Vector(_, inner) => {
                let n = (at - here) / inner.width();
                name += &format!("[{n}]");
                (here, of) = (here + n * inner.width(), inner);
            }
            Shape::Fields(fields) => {
                let (field, start, inner) =
                    fields.iter().find(|(_, start, l)| (here + start..here + start + l.width()).contains(&at))?;
                name += &format!(".{field}");
                (here, of) = (here + start, inner);
            }
            _ => return None,
        }
    }
}
