//! Networks under the engines: the one place where this formalism meets the algorithms.

use std::ops::ControlFlow;

use trellis_domain::zone::Rational;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::symmetry::Symmetry;
use trellis_model::network::{
    Action, CertEntry, Certificate, Condition, Elements, Entries, Judge, Layout, ModelError, Network, PairJudge, Post,
    Query, QueryKind, Snapshot, Step, Store, Trace,
};
use trellis_order::{Join, Word};

use crate::liveness::{self, Watch};
use crate::path::{Origins, Path, path_to, replay};
use crate::reach::{self, JoinAll, Options, Refine, Strategy, Update};
use crate::stored::{Shard, Stored};
use crate::waitlist::Order;
use crate::workers::Workers;
use crate::{Batch, State, System};
use trellis_meter::{Meter, Stats};

/// A network with a target.
pub struct NetworkSystem<'n> {
    post: Post<'n>,
    elements: Elements,
    /// What is looked for: a state in which the condition has this truth value.
    target: Option<(Judge, bool)>,
    priority: Option<Judge>,
    /// What makes states the same, and how their keys are packed.
    reduction: Option<(Symmetry, Layout)>,
    /// Working memory: the cells of a state, its key, swaps.
    sorting: (Vec<i64>, Vec<Word>, Vec<u16>),
}

impl<'n> NetworkSystem<'n> {
    /// A network in which nothing is looked for yet.
    pub fn new(net: &'n Network) -> NetworkSystem<'n> {
        let post = Post::new(net);
        let sorting = (vec![0; post.layout.key_cells()], vec![0; post.layout.key_width()], Vec::new());
        NetworkSystem { post, elements: net.elements(), target: None, priority: None, reduction: None, sorting }
    }

    /// From here on, states that are the same up to these symmetries are the same. Not with lattice variables.
    pub fn up_to(&mut self, symmetry: Symmetry) {
        self.reduction = (!symmetry.is_empty()).then(|| (symmetry, self.post.layout.clone()));
    }

    /// Looks for states in which a query's condition has the given truth value.
    pub fn look_for(&mut self, condition: Condition, deadlock: bool, value: bool) {
        self.target = Some((self.post.compile(condition, deadlock), value));
    }

    /// Orders by an integer expression, larger first.
    pub fn prioritise(&mut self, of: Condition) {
        self.priority = Some(self.post.compile(of, false));
    }

    /// The compiled network.
    pub fn post(&mut self) -> &mut Post<'n> {
        &mut self.post
    }

    /// Makes a condition ready to be judged.
    pub fn compile(&self, condition: Condition) -> Judge {
        self.post.compile(condition, false)
    }

    /// A state in the model's terms.
    pub fn snapshot(&self, key: &[Word], elem: &[Word]) -> Snapshot {
        self.post.layout.snapshot(self.post.network(), key, elem)
    }

    /// A path in the model's terms.
    pub fn trace(&self, path: &Path<Action>, back_to: Option<usize>) -> Option<Trace> {
        let mut states = path.states.iter().map(|(key, elem)| self.snapshot(key, elem));
        let initial = states.next()?;
        let steps =
            path.actions.iter().cloned().zip(states).map(|(action, state)| Step::at_once(action, state)).collect();
        Some(Trace { initial, steps, rest: Rational::ZERO, back_to })
    }

    /// The stored states as a certificate. They stay as they are until somebody wants to see them.
    pub fn certificate(&self, mut stored: Stored, up_to_order: bool, ranks: Vec<Option<u32>>) -> Certificate {
        stored.only_states();
        let packed = Packed { layout: self.post.layout.clone(), stored, ranks };
        Certificate { entries: Entries::stored(packed), up_to_order, up_to_symmetry: false }
    }
}

/// The states of a certificate as an exploration has stored them.
struct Packed {
    layout: Layout,
    stored: Stored,
    /// Of each node, if they have ranks.
    ranks: Vec<Option<u32>>,
}

impl Store for Packed {
    fn count(&self) -> usize {
        self.stored.len()
    }

    fn entries(&self) -> Box<dyn Iterator<Item = CertEntry> + '_> {
        Box::new(self.stored.numbers().map(|n| {
            let (key, elem) = self.stored.state(n);
            let rank = self.ranks.get(n as usize).copied().flatten();
            CertEntry { rank, ..CertEntry::of(self.layout.unpacked(key, elem)) }
        }))
    }
}

impl System for NetworkSystem<'_> {
    type Domain = Elements;
    type Action = Action;
    type Error = ModelError;

    fn domain(&self) -> &Elements {
        &self.elements
    }

    fn key_width(&self) -> usize {
        self.post.layout.key_width()
    }

    fn elem_width(&self) -> usize {
        self.post.network().element_width()
    }

    fn initial(&mut self) -> Result<State, ModelError> {
        self.post.initial()
    }

    fn successors(&mut self, key: &[Word], elem: &[Word], out: &mut Batch) -> Result<(), ModelError> {
        let NetworkSystem { post, reduction, sorting: (cells, sorted, word), .. } = self;
        out.steps = post.successors(key, elem, &mut |ordinal, k: &[Word], e: &[Word]| {
            match reduction {
                None => out.push(ordinal, k, e),
                Some((symmetry, layout)) => {
                    sort(symmetry, layout, k, cells, sorted, word);
                    out.push(ordinal, sorted, e);
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    fn is_target(&mut self, key: &[Word], elem: &[Word]) -> Result<bool, ModelError> {
        match &self.target {
            Some((judge, value)) => Ok((self.post.judge(judge, key, elem)? != 0) == *value),
            None => Ok(false),
        }
    }

    fn action(&mut self, key: &[Word], elem: &[Word], ordinal: u32) -> Result<Option<Action>, ModelError> {
        Ok(self.post.step(key, elem, ordinal)?.map(|(action, _)| action))
    }

    fn take(&mut self, key: &[Word], elem: &[Word], action: &Action) -> Result<Option<State>, ModelError> {
        self.post.take(key, elem, action)
    }

    fn priority(&mut self, key: &[Word], elem: &[Word]) -> Result<i64, ModelError> {
        match &self.priority {
            Some(judge) => self.post.judge(judge, key, elem),
            None => Ok(0),
        }
    }

    fn may_idle(&mut self, key: &[Word], elem: &[Word]) -> Result<bool, ModelError> {
        self.post.may_idle(key, elem)
    }

    fn unfold(&mut self, path: &Path<Action>) -> Result<Vec<Action>, ModelError> {
        let NetworkSystem { post, reduction, sorting: (cells, sorted, word), .. } = self;
        let Some((symmetry, layout)) = reduction else { return Ok(path.actions.clone()) };
        let net = post.network();
        let mut all = Vec::new();
        let mut swaps = Vec::new();
        for ((key, elem), action) in path.states.iter().zip(&path.actions) {
            all.push(symmetry.action_before(net, &swaps, &action.0));
            let (next, _) = post.take(key, elem, action)?.expect("a step that was taken can be taken again");
            sort(symmetry, layout, &next, cells, sorted, word);
            swaps.extend_from_slice(word);
        }
        Ok(all)
    }
}

/// Brings a key into order.
fn sort(
    symmetry: &Symmetry,
    layout: &Layout,
    key: &[Word],
    cells: &mut [i64],
    sorted: &mut [Word],
    word: &mut Vec<u16>,
) {
    layout.unpack(key, cells);
    word.clear();
    symmetry.sort(cells, word);
    layout.pack(cells, sorted);
}

/// A joining strategy given as a condition over `x`, `y` and `joined`.
pub struct ExprStrategy<'n> {
    net: &'n Network,
    judge: PairJudge<'n>,
    elements: Elements,
    joined: Option<Vec<Word>>,
}

impl<'n> ExprStrategy<'n> {
    /// Compiles it; `uses_joined` says whether the join must be computed to judge it.
    pub fn new(net: &'n Network, condition: Condition, uses_joined: bool) -> ExprStrategy<'n> {
        ExprStrategy {
            net,
            judge: PairJudge::new(net, condition),
            elements: net.elements(),
            joined: uses_joined.then(|| vec![0; net.element_width()]),
        }
    }
}

impl Strategy<ModelError> for ExprStrategy<'_> {
    fn accepts(&mut self, key: &[Word], stored: &[Word], new: &[Word]) -> Result<bool, ModelError> {
        let answer = match &mut self.joined {
            None => self.judge.holds(key, &[stored, new]),
            Some(joined) => {
                joined.copy_from_slice(stored);
                self.elements.join(joined, new);
                self.judge.holds(key, &[stored, new, joined])
            }
        };
        answer.map_err(|fault| ModelError {
            fault,
            during: "joining strategy",
            place: String::new(),
            state: Layout::new(self.net).snapshot(self.net, key, new),
            action: Action(Vec::new()),
        })
    }
}

/// How one query was answered.
pub struct Answer {
    /// The verdict: `Safe` means that what was looked for (a violation of `A…`, a witness of `E…`) does not exist.
    pub verdict: Verdict<Trace, Certificate>,
    /// What was counted.
    pub stats: Stats,
    /// For an inconclusive join: the abstracted path and which of its states are joins.
    pub inconclusive: Option<Inconclusive>,
    /// For `sup` and `inf`: the bound, if any state qualifies.
    pub bound: Option<Bound>,
    /// For `sup` and `inf` of a clock: the limit, if any state qualifies.
    pub clock_bound: Option<ClockBound>,
}

/// The supremum or infimum of a clock. The verdict's certificate proves a number to be a bound.
pub struct ClockBound {
    /// What it is.
    pub limit: ClockLimit,
    /// A run that reaches it, if it is attained.
    pub witness: Option<Trace>,
}

/// The supremum or infimum of a clock: a whole number, for the constants of models are, or infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockLimit {
    /// The number; nothing if the clock grows without limit.
    pub value: Option<i64>,
    /// Whether some reachable state has it. Infinity is never attained.
    pub attained: bool,
}

/// The largest or smallest value found. The verdict's certificate proves that it is a bound.
pub struct Bound {
    /// The value.
    pub value: i64,
    /// A run that reaches it; without one (joined states have no runs of their own) it may be too generous.
    pub witness: Option<Trace>,
}

/// A path that exists only because of joins (000 §B.1).
pub struct Inconclusive {
    /// The abstracted path.
    pub path: Trace,
    /// The step (from 0) that fails without joins.
    pub fails_at: usize,
    /// The states (0 is the initial one) that are joins.
    pub joins: Vec<usize>,
    /// The join without which the path fails.
    pub pivot: usize,
}

/// The model does something undefined.
pub struct Broken {
    /// How to get to the state in which it happens; `None` if it is the initial state itself that is broken.
    pub trace: Option<Trace>,
    /// What happens.
    pub error: ModelError,
}

/// Answers a query about a network without lattice variables, up to symmetry where there is any.
pub fn answer_up_to_symmetry(
    net: &Network,
    query: &Query,
    order: Order,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let options = Options { update: Update::Simple, order, refine: Refine::Never };
    search(net, query, options, Symmetry::find(net, query), None, None, None, meter)
}

/// Answers a query with several workers, breadth first; joins are never refined. Up to symmetry, where that is wanted and there is any.
pub fn answer_by_workers(
    net: &Network,
    query: &Query,
    update: Update,
    fold: bool,
    workers: &Workers,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let options = Options { update, order: Order::Bfs, refine: Refine::Never };
    let symmetry = if fold { Symmetry::find(net, query) } else { Symmetry::default() };
    sound(net, search(net, query, options, symmetry, None, None, Some(workers), meter))
}

/// Answers a query.
pub fn answer(
    net: &Network,
    query: &Query,
    options: Options,
    strategy: Option<&mut dyn Strategy<ModelError>>,
    priority: Option<Condition>,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    sound(net, search(net, query, options, Symmetry::default(), strategy, priority, None, meter))
}

/// Comparing and joining cannot fail; a script that did has said so to its lattice, and nothing it said counts.
pub(crate) fn sound(net: &Network, answer: Result<Answer, Box<Broken>>) -> Result<Answer, Box<Broken>> {
    let failure = net.lattices.iter().find_map(|l| l.lattice.failure());
    match (failure, &answer) {
        (Some(why), Ok(_)) => {
            let mut post = Post::new(net);
            let layout = post.layout.clone();
            let (key, elem) = post.initial().unwrap_or_default();
            let state = match key.is_empty() {
                true => Snapshot::default(),
                false => layout.snapshot(net, &key, &elem),
            };
            let error = ModelError {
                fault: trellis_expr::Fault::Foreign(why),
                during: "lattice",
                place: String::new(),
                state,
                action: Action(Vec::new()),
            };
            Err(Box::new(Broken { trace: None, error }))
        }
        _ => answer,
    }
}

#[allow(clippy::too_many_arguments)]
fn search(
    net: &Network,
    query: &Query,
    options: Options,
    symmetry: Symmetry,
    strategy: Option<&mut dyn Strategy<ModelError>>,
    priority: Option<Condition>,
    workers: Option<&Workers>,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let up_to_symmetry = !symmetry.is_empty();
    let make = || {
        let mut system = NetworkSystem::new(net);
        system.up_to(symmetry.clone());
        if let Some(p) = priority {
            system.prioritise(p);
        }
        match query.kind {
            QueryKind::Always(p) => system.look_for(p, query.deadlock, false),
            QueryKind::Possibly(p) => system.look_for(p, query.deadlock, true),
            _ => {}
        }
        system
    };
    let mut system = make();
    let up_to_order = options.update != Update::Simple && net.element_width() > 0;
    let shared = |meter: &mut Meter| workers.map(|w| crate::workers::reach(make, options.update, w, meter));
    match query.kind {
        QueryKind::Always(_) | QueryKind::Possibly(_) => {}
        QueryKind::Bound { sup, when, of } => {
            let options = Options { refine: Refine::Never, ..options };
            let explored = shared(meter).unwrap_or_else(|| reach::reach(&mut system, options, &mut JoinAll, meter));
            return bound(system, explored, up_to_order, sup, when, of, query.deadlock);
        }
        QueryKind::ClockBound { .. } => {
            let verdict = Verdict::Unknown(Reason::Unsupported("bounds of clocks".into()));
            return Ok(Answer { verdict, stats: Stats::default(), inconclusive: None, bound: None, clock_bound: None });
        }
        QueryKind::Eventually(p) => return live(system, Question::Avoids(p, false), query, meter),
        QueryKind::PotentiallyAlways(p) => return live(system, Question::Avoids(p, true), query, meter),
        QueryKind::LeadsTo(p, q) => return live(system, Question::LeadsTo(p, q), query, meter),
    }
    let explored = match strategy {
        None if workers.is_some() => shared(meter).unwrap_or_else(|| unreachable!("there are workers")),
        Some(s) => reach::reach(&mut system, options, &mut Given(s), meter),
        None => reach::reach(&mut system, options, &mut JoinAll, meter),
    };
    let mut inconclusive = None;
    let verdict = match explored.answer {
        reach::Answer::Unreachable => {
            Verdict::Safe(Certificate { up_to_symmetry, ..system.certificate(explored.stored, up_to_order, vec![]) })
        }
        reach::Answer::Reachable(path) => match system.trace(&path, None) {
            Some(trace) => Verdict::Unsafe(trace),
            None => unreachable!("a path has a first state"),
        },
        reach::Answer::Inconclusive { path, fails_at, joins, pivot } => {
            inconclusive = system.trace(&path, None).map(|path| Inconclusive { path, fails_at, joins, pivot });
            Verdict::Unknown(Reason::InconclusiveJoin)
        }
        reach::Answer::Stopped(reason) => Verdict::Unknown(reason),
        reach::Answer::Error(path, error) => return Err(broken(&system, &path, error)),
    };
    Ok(Answer { verdict, stats: explored.stats, inconclusive, bound: None, clock_bound: None })
}

fn broken(system: &NetworkSystem<'_>, path: &Path<Action>, error: ModelError) -> Box<Broken> {
    Box::new(Broken { trace: system.trace(path, None), error })
}

struct Given<'s>(&'s mut dyn Strategy<ModelError>);

impl Strategy<ModelError> for Given<'_> {
    fn accepts(&mut self, key: &[Word], stored: &[Word], new: &[Word]) -> Result<bool, ModelError> {
        self.0.accepts(key, stored, new)
    }
}

/// `sup` and `inf` of data: explore everything, then look at every state.
fn bound(
    mut system: NetworkSystem<'_>,
    explored: reach::Exploration<Action, ModelError>,
    up_to_order: bool,
    sup: bool,
    when: Condition,
    of: Condition,
    deadlock: bool,
) -> Result<Answer, Box<Broken>> {
    let stopped = match explored.answer {
        reach::Answer::Unreachable => None,
        reach::Answer::Stopped(reason) => Some(reason),
        reach::Answer::Error(path, error) => return Err(broken(&system, &path, error)),
        reach::Answer::Reachable(_) | reach::Answer::Inconclusive { .. } => unreachable!("nothing was looked for"),
    };
    let stored = explored.stored;
    let (when, of) = (system.post.compile(when, deadlock), system.post.compile(of, deadlock));
    let mut best: Option<(i64, u32)> = None;
    for n in stored.numbers() {
        let (key, elem) = stored.state(n);
        match measure(&mut system, &when, &of, key, elem) {
            Ok(Some(v)) if best.is_none_or(|(b, _)| if sup { v > b } else { v < b }) => best = Some((v, n)),
            Ok(_) => {}
            // A fault of the question counts if a real state has it, not if only a joined one does.
            Err(_) => {
                let run = real_run(&mut system, &stored, n);
                let again = run.and_then(|p| {
                    let (key, elem) = p.states.last()?.clone();
                    measure(&mut system, &when, &of, &key, &elem).err().map(|e| (p, e))
                });
                return match again {
                    Some((path, error)) => Err(broken(&system, &path, error)),
                    None => {
                        let verdict = Verdict::Unknown(Reason::InconclusiveJoin);
                        Ok(Answer {
                            verdict,
                            stats: explored.stats,
                            inconclusive: None,
                            bound: None,
                            clock_bound: None,
                        })
                    }
                };
            }
        }
    }
    let bound = best.map(|(value, n)| {
        let run = real_run(&mut system, &stored, n);
        let witness = run.filter(|p| {
            let reached = p.states.last().map(|(k, e)| measure(&mut system, &when, &of, k, e));
            matches!(reached, Some(Ok(Some(v))) if v == value)
        });
        Bound { value, witness: witness.and_then(|p| system.trace(&p, None)) }
    });
    let verdict = match stopped {
        None => Verdict::Safe(system.certificate(stored, up_to_order, vec![])),
        Some(reason) => Verdict::Unknown(reason),
    };
    Ok(Answer { verdict, stats: explored.stats, inconclusive: None, bound, clock_bound: None })
}

/// What is measured in a state, if it is.
fn measure(
    system: &mut NetworkSystem<'_>,
    when: &Judge,
    of: &Judge,
    key: &[Word],
    elem: &[Word],
) -> Result<Option<i64>, ModelError> {
    if system.post.judge(when, key, elem)? == 0 {
        return Ok(None);
    }
    system.post.judge(of, key, elem).map(Some)
}

/// The way to a node, replayed without joins, if it goes so far.
fn real_run(system: &mut NetworkSystem<'_>, stored: &Stored, n: u32) -> Option<Path<Action>> {
    let path = path_to(system, stored, &stored.path(n)).ok()?;
    let initial = system.initial().ok()?;
    let states = replay(system, &initial, &path.actions).ok()?.ok()?;
    Some(Path { states, actions: path.actions })
}

enum Question {
    /// From the initial state: can the condition keep this truth value forever?
    Avoids(Condition, bool),
    LeadsTo(Condition, Condition),
}

struct NetworkWatch {
    stays: (Judge, bool),
    starts: Option<Judge>,
}

impl<'n> Watch<NetworkSystem<'n>> for NetworkWatch {
    fn stays(&mut self, s: &mut NetworkSystem<'n>, key: &[Word], elem: &[Word]) -> Result<bool, ModelError> {
        Ok((s.post.judge(&self.stays.0, key, elem)? != 0) == self.stays.1)
    }

    fn starts(
        &mut self,
        s: &mut NetworkSystem<'n>,
        key: &[Word],
        elem: &[Word],
        initial: bool,
    ) -> Result<bool, ModelError> {
        match &self.starts {
            None => Ok(initial),
            Some(p) => Ok(s.post.judge(p, key, elem)? != 0),
        }
    }

    fn beyond(&self) -> bool {
        self.starts.is_some()
    }
}

fn live(
    mut system: NetworkSystem<'_>,
    question: Question,
    query: &Query,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let compile = |c| system.post.compile(c, query.deadlock);
    let mut watch = match question {
        Question::Avoids(p, value) => NetworkWatch { stays: (compile(p), value), starts: None },
        Question::LeadsTo(p, q) => NetworkWatch { stays: (compile(q), false), starts: Some(compile(p)) },
    };
    let search = liveness::search(&mut system, &mut watch, meter);
    let verdict = match search.answer {
        liveness::Answer::Leaves => {
            Verdict::Safe(system.certificate(Stored::new(vec![Shard::Arg(search.arg)]), false, search.ranks))
        }
        liveness::Answer::Stays(path, back_to) => match system.trace(&path, back_to) {
            Some(trace) => Verdict::Unsafe(trace),
            None => unreachable!("a path has a first state"),
        },
        liveness::Answer::Stopped(reason) => Verdict::Unknown(reason),
        liveness::Answer::Error(path, error) => return Err(broken(&system, &path, error)),
    };
    Ok(Answer { verdict, stats: search.stats, inconclusive: None, bound: None, clock_bound: None })
}
