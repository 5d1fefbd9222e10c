//! Is a model monotone (000 Def. 2)? Cover and join update rest on it: if `ℓ ⊑ ℓ'`, whatever `(s, ℓ)` can do, `(s, ℓ')` can
//! do too, and ends at least as high. This module looks for counterexamples by sampling: it walks through the model at
//! random, enlarges the elements it meets, and compares. Finding none proves nothing; finding one is certain.
//!
//! Some things are hazards without any sampling: see [`hazard`].

use rustc_hash::FxHashSet;
use trellis_expr::{Stmt, StmtId, Term, TermId, Terms};
use trellis_model::network::{Action, Condition, Judge, ModelError, Network, Query, QueryKind, Snapshot};
use trellis_order::{Domain, Join, Word};

use crate::network::NetworkSystem;
use crate::{Batch, State, System};

/// A broken promise: two states, the second larger, and what only the first can do.
#[derive(Debug, Clone)]
pub struct Violation {
    /// The smaller state.
    pub smaller: Snapshot,
    /// The larger state, under the same key.
    pub larger: Snapshot,
    /// What the smaller can do and the larger cannot match.
    pub what: Unmatched,
}

/// What a larger state fails to match.
#[derive(Debug, Clone)]
pub enum Unmatched {
    /// A step, and where it leads from the smaller state.
    Step(Action, Snapshot),
    /// The query's condition: the smaller state is what is looked for, the larger is not.
    Target,
}

/// What an audit did.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    /// How many pairs of states were compared.
    pub pairs: usize,
    /// The first violation found, of each edge at most one.
    pub violations: Vec<Violation>,
}

/// Why covering cannot be trusted for this query, if there is a reason that needs no sampling.
pub fn hazard(net: &Network, query: &Query) -> Option<&'static str> {
    if net.element_width() == 0 {
        return None;
    }
    if query.deadlock {
        return Some("`deadlock` holds in a small state and not in a larger one that can do more");
    }
    if !matches!(query.kind, QueryKind::Always(_) | QueryKind::Possibly(_) | QueryKind::Bound { .. }) {
        return Some("covering does not preserve liveness");
    }
    let reads = |c: Condition| reads_lattice(&net.terms, c);
    let edges = || net.processes.iter().flat_map(|p| &p.edges);
    if net.has_priorities && edges().any(|e| reads(e.guard)) {
        return Some("with priorities, a step that only a larger state can take blocks others");
    }
    let hears =
        |e: &&trellis_model::network::Edge| e.sync.is_some_and(|s| !s.send && net.channels[s.base as usize].broadcast);
    if edges().filter(hears).any(|e| reads(e.guard)) {
        return Some("a larger state can have more receivers of a broadcast, and all must take part");
    }
    None
}

/// Does a condition read a lattice value?
pub fn reads_lattice(terms: &Terms, c: Condition) -> bool {
    term_reads(terms, c.holds) || stmt_reads(terms, c.prepare)
}

fn term_reads(terms: &Terms, t: TermId) -> bool {
    // Terms share their parts: each is looked at once.
    let mut seen = FxHashSet::from_iter([t]);
    let mut open = vec![t];
    while let Some(t) = open.pop() {
        if matches!(terms.get(t), Term::Foreign(..)) {
            return true;
        }
        open.extend(terms.children(t).into_iter().filter(|&c| seen.insert(c)));
    }
    false
}

fn stmt_reads(terms: &Terms, s: StmtId) -> bool {
    match terms.stmt(s) {
        Stmt::Skip | Stmt::Havoc(_) => false,
        Stmt::Assume(t) | Stmt::Assign(_, t) => term_reads(terms, *t),
        Stmt::Seq(parts) | Stmt::Choice(parts) => parts.iter().any(|&p| stmt_reads(terms, p)),
        Stmt::If(c, a, b) => term_reads(terms, *c) || stmt_reads(terms, *a) || stmt_reads(terms, *b),
        Stmt::While(c, body) => term_reads(terms, *c) || stmt_reads(terms, *body),
        Stmt::Foreign(..) => true,
    }
}

/// Compares so many pairs of states, chosen by a seed. A fault on the way ends the audit early: the exploration will find
/// and report it properly.
pub fn audit(net: &Network, query: Option<&Query>, pairs: usize, seed: u64) -> Audit {
    let mut auditor = Auditor::new(net, query, seed);
    let mut report = Audit::default();
    if net.element_width() > 0 {
        // Faults are the exploration's affair.
        let _ = auditor.run(pairs, &mut report);
    }
    report
}

struct Auditor<'n> {
    net: &'n Network,
    system: NetworkSystem<'n>,
    target: Option<(Judge, bool)>,
    random: u64,
    small: Batch,
    large: Batch,
}

impl<'n> Auditor<'n> {
    fn new(net: &'n Network, query: Option<&Query>, seed: u64) -> Auditor<'n> {
        let mut system = NetworkSystem::new(net);
        let target = query.and_then(|q| match q.kind {
            QueryKind::Always(p) => Some((system.post().compile(p, q.deadlock), false)),
            QueryKind::Possibly(p) => Some((system.post().compile(p, q.deadlock), true)),
            _ => None,
        });
        let random = seed.wrapping_mul(2).wrapping_add(1);
        Auditor { net, system, target, random, small: Batch::default(), large: Batch::default() }
    }

    fn next(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    fn run(&mut self, pairs: usize, report: &mut Audit) -> Result<(), ModelError> {
        let initial = self.system.initial()?;
        let mut state = initial.clone();
        // Elements met so far: real ones make better partners than random ones.
        let mut met: Vec<Vec<Word>> = Vec::new();
        let mut length = 0;
        while report.pairs < pairs {
            if met.len() < 64 {
                met.push(state.1.clone());
            } else {
                let i = self.next() as usize % met.len();
                met[i].clone_from(&state.1);
            }
            for _ in 0..2 {
                let larger = self.enlarge(&state.1, &met);
                report.pairs += 1;
                if larger != state.1 {
                    self.compare(&state, &larger, report)?;
                }
            }
            self.small.clear();
            self.system.successors(&state.0, &state.1, &mut self.small)?;
            let count = self.small.ordinals.len();
            length += 1;
            if count == 0 || length > 50 {
                state = initial.clone();
                length = 0;
                continue;
            }
            let i = self.next() as usize % count;
            state = successor(&self.small, i, state.0.len(), state.1.len());
        }
        Ok(())
    }

    /// An element above the given one.
    fn enlarge(&mut self, elem: &[Word], met: &[Vec<Word>]) -> Vec<Word> {
        let mut larger = elem.to_vec();
        let domain = self.net.elements();
        if self.next().is_multiple_of(2) {
            let i = self.next() as usize % met.len();
            domain.join(&mut larger, &met[i]);
            return larger;
        }
        let pick = self.next() as usize % self.net.lattices.len();
        let net = self.net;
        for (i, l) in net.lattices.iter().enumerate() {
            if i == pick || self.next().is_multiple_of(2) {
                let mut sample = vec![0; l.lattice.width()];
                l.lattice.sample(&mut || self.next(), &mut sample);
                l.lattice.join(&mut larger[l.offset..l.offset + sample.len()], &sample);
            }
        }
        larger
    }

    fn compare(&mut self, (key, elem): &State, larger: &[Word], report: &mut Audit) -> Result<(), ModelError> {
        let (kw, ew) = (key.len(), elem.len());
        let layout = self.system.post().layout.clone();
        let snapshot = |k: &[Word], e: &[Word]| layout.snapshot(self.net, k, e);
        if let Some((judge, value)) = self.target.clone() {
            let mut is = |e: &[Word]| Ok((self.system.post().judge(&judge, key, e)? != 0) == value);
            let known = report.violations.iter().any(|v| matches!(v.what, Unmatched::Target));
            if !known && is(elem)? && !is(larger)? {
                let (smaller, larger) = (snapshot(key, elem), snapshot(key, larger));
                report.violations.push(Violation { smaller, larger, what: Unmatched::Target });
            }
        }
        self.small.clear();
        self.large.clear();
        self.system.successors(key, elem, &mut self.small)?;
        self.system.successors(key, larger, &mut self.large)?;
        let domain = self.net.elements();
        for (i, &ordinal) in self.small.ordinals.iter().enumerate() {
            let (k, e) = successor(&self.small, i, kw, ew);
            // A step that changes nothing is not listed, so the larger state itself counts as one of its successors.
            let stays = k == *key && domain.leq(&e, larger);
            let matched = stays
                || (0..self.large.ordinals.len()).any(|j| {
                    let (k2, e2) = (&self.large.keys[j * kw..][..kw], &self.large.elems[j * ew..][..ew]);
                    k2 == k && domain.leq(&e, e2)
                });
            if matched {
                continue;
            }
            let Some(action) = self.system.action(key, elem, ordinal)? else { continue };
            let origin = |a: &Action| {
                let edge = |e: &trellis_model::network::EdgeRef| {
                    (e.process, self.net.processes[e.process as usize].edges[e.edge as usize].origin)
                };
                a.0.iter().map(edge).collect::<Vec<_>>()
            };
            let known = report
                .violations
                .iter()
                .any(|v| matches!(&v.what, Unmatched::Step(a, _) if origin(a) == origin(&action)));
            if !known {
                let what = Unmatched::Step(action, snapshot(&k, &e));
                report.violations.push(Violation { smaller: snapshot(key, elem), larger: snapshot(key, larger), what });
            }
        }
        Ok(())
    }
}

fn successor(b: &Batch, i: usize, kw: usize, ew: usize) -> State {
    (b.keys[i * kw..][..kw].to_vec(), b.elems[i * ew..][..ew].to_vec())
}
