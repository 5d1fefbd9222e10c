//! Networks of automata (UPPAAL, TChecker), with lattice variables, clocks, both or neither: how a question is searched, and its evidence.

mod audit;
mod formula;
pub mod load;
pub mod monotone;
mod shared;
mod strategy;
mod symmetry;
mod timed;
mod usage;

use std::borrow::Cow;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use trellis_check::Cause;
use trellis_engine::audit::hazard;
use trellis_engine::network::{Answer, ExprStrategy};
use trellis_engine::reach::{Options, Refine, Strategy, Update};
use trellis_engine::timed::Config;
use trellis_engine::waitlist::Order;
use trellis_engine::workers::Workers;
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::{CertEntry, Certificate, Network, Query, QueryKind, Symmetry, Trace};
use trellis_report::json::Input;
use trellis_report::network::{certificate_parts, certificate_summary};
use trellis_report::present::Drawing;
use trellis_report::step::network::NetworkStepper;
use trellis_report::step::zones::ZoneStepper;
use trellis_report::{Inconclusive, Kind, Present, PropertyReport, Style};
use trellis_syntax::tchecker;

use super::formula::Subject;
use super::{Cases, Formalism, Language, Own, Profile, Request, Steps, boxed, tree};
use crate::Error;
use crate::context::Context;
use crate::pipeline::{statistics, steps};
use crate::settings::{self, Convert, Engine as E, Settings, Simulate};
use crate::task::{Evidence, Presenter, Question, Rejection, Task, Unanswered};
use load::{Asked, Loaded, load};
use monotone::Basis;
use strategy::Scripted;
use usage::usage;

/// Networks of automata.
pub struct Networks;

/// The languages.
pub static LANGUAGES: [Language; 3] = [
    Language {
        name: "uppaal",
        title: "UPPAAL, XML",
        extensions: &["xml"],
        sniff: |text| text.trim_start().starts_with('<') && text.contains("<nta"),
    },
    Language {
        name: "uppaal",
        title: "UPPAAL, text",
        extensions: &["xta", "ta"],
        sniff: |text| text.contains("process ") && text.contains("system ") && text.contains("state "),
    },
    Language { name: "tchecker", title: "TChecker", extensions: &["tck"], sniff: tchecker::looks_like },
];

/// Options of questions about states.
static PROFILE: Profile = Profile {
    who: "networks of automata",
    engines: &[E::Auto, E::Reach, E::Lazy, E::Hierarchy],
    options: &[
        ("update", &[E::Auto, E::Reach]),
        ("join", &[E::Auto, E::Reach]),
        ("join_zones", &[E::Auto, E::Reach]),
        ("order", &[E::Auto, E::Reach, E::Lazy]),
        ("priority", &[E::Auto, E::Reach]),
        ("workers", &[E::Auto, E::Reach]),
        ("checkpoint", &[E::Auto, E::Reach]),
        ("every", &[E::Auto, E::Reach]),
        ("resume", &[E::Auto, E::Reach]),
        ("symmetry", &[E::Auto, E::Reach]),
        ("no_symmetry", &[]),
        ("audit", &[E::Auto, E::Reach]),
        ("assume", &[E::Auto, E::Reach]),
        ("extrapolation", &[E::Auto, E::Reach]),
        ("cover", &[E::Auto, E::Reach]),
        ("clocks", &[E::Auto, E::Lazy]),
        ("data", &[E::Auto, E::Lazy]),
        ("all_clocks", &[E::Auto, E::Lazy]),
        ("non_zeno", &[E::Auto, E::Reach, E::Lazy]),
        ("trace_kind", &[E::Auto, E::Reach, E::Lazy]),
        ("no_pruning", &[E::Hierarchy]),
        ("neat", &[E::Hierarchy]),
        ("python", &[]),
        ("after", &[]),
        ("refine", &[E::Hierarchy]),
    ],
};

/// Options of formulas of linear temporal logic.
static FORMULAS: Profile = Profile {
    who: "formulas (--ltl, --buchi) about networks of automata",
    engines: &[E::Auto, E::Explicit],
    options: &[("search", &[]), ("fair", &[]), ("non_zeno", &[]), ("python", &[]), ("after", &[])],
};

impl Formalism for Networks {
    fn languages(&self) -> &'static [Language] {
        &LANGUAGES
    }

    fn has_constants(&self, language: &Language) -> bool {
        language.name != "tchecker"
    }

    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn formula_profile(&self) -> &'static Profile {
        &FORMULAS
    }

    fn own_queries(&self, _: &Language) -> Own {
        Own::All
    }

    fn plain_options(&self) -> &'static [&'static str] {
        &["python", "symbolic", "after"]
    }

    fn ask(&self, request: &Request) -> Cases {
        let args = &request.args;
        let script = args.join.as_deref().filter(|j| j.ends_with(".lua")).map(PathBuf::from);
        let expr = args.join.as_deref().filter(|j| !matches!(*j, "all" | "none" | "auto") && script.is_none());
        let asked = Asked {
            properties: Some(&args.properties),
            strategy: expr,
            priority: args.priority.as_deref(),
            color: request.args.context.color,
            ..Default::default()
        };
        let loaded = load(&args.model, request.language, &asked)?;
        args.context.note(&loaded.warnings);
        usage(args, &loaded)?;
        if args.engine == E::Hierarchy {
            return Ok(vec![Rc::new(tree::TreeTask::of_network(args.clone(), loaded))]);
        }
        Ok(vec![Rc::new(NetworkTask { args: args.clone(), loaded, script })])
    }

    fn ask_formulas(&self, request: &Request) -> Cases {
        formula::ask(request)
    }

    fn subject(&self, _: &Request) -> Result<Subject, Error> {
        Err(Error::Internal("networks have products of their own with automata".into()))
    }

    fn stepper(&self, args: &Simulate, language: &'static Language, _: Option<&str>, context: &Context) -> Steps {
        let loaded = load(&args.model, language, &Asked { color: context.color, ..Default::default() })?;
        context.note(&loaded.warnings);
        match args.symbolic {
            true => boxed(ZoneStepper::new(Cow::Owned(loaded.network))),
            false => boxed(NetworkStepper::new(Cow::Owned(loaded.network))),
        }
    }

    fn drawing(&self, args: &Convert, language: &'static Language, color: bool) -> Result<Drawing, Error> {
        Ok(load(&args.model, language, &Asked { color, ..Default::default() })?.network.drawing())
    }
}

/// So many keys of a certificate are shown on a page.
const MAX_KEYS: usize = 200;

/// How one property is going to be searched, and what that rests on.
struct Plan {
    options: Options,
    /// For models with clocks.
    timed: Option<Config>,
    assumes: Vec<String>,
    /// Why the model is not known to be monotone, if the search needs it to be.
    open: Option<String>,
    /// A limit where nobody gave one.
    states: Option<u64>,
    notes: Vec<String>,
    /// Who explores, if they are several, or keep what they explore.
    workers: Option<Workers>,
}

/// A network, and how it is asked.
struct NetworkTask {
    args: Arc<Settings>,
    loaded: Loaded,
    /// The joining strategy, if it is a script.
    script: Option<PathBuf>,
}

impl NetworkTask {
    fn net(&self) -> &Network {
        &self.loaded.network
    }
}

impl Task for NetworkTask {
    type Trace = Trace;
    type Proof = Certificate;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        self.loaded.language
    }

    fn inputs(&self) -> Vec<Input> {
        self.loaded.inputs.clone()
    }

    fn questions(&self) -> Vec<Question> {
        self.loaded.questions()
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        self.loaded.left_open()
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<PropertyReport, Error> {
        let (args, loaded, net, query) = (&*self.args, &self.loaded, self.net(), &self.loaded.queries[n]);
        let mut plan = plan(args, net, query, loaded.brought.join.is_some())?;
        self.share(n, &mut plan)?;
        if args.symmetry {
            plan.notes.push(symmetry::note(net, query));
        }
        if args.audit {
            args.context.listener.found(&audit::found(net, query, args.seed));
        }
        if !args.quiet && !args.json {
            plan.notes.iter().for_each(|note| args.context.note(format_args!("note: {note}\n")));
        }
        let mut meter = meter.clone().states(args.states.or(plan.states));
        let mut expr = loaded.strategy.map(|s| ExprStrategy::new(net, s.condition, s.uses_joined));
        let mut script = self.script.as_deref().map(|p| Scripted::load(p, net)).transpose()?;
        if let Some(rule) = &loaded.brought.join {
            script = Some(Scripted::brought(rule.clone(), net));
        }
        let strategy: Option<&mut dyn Strategy<_>> = match (&mut expr, &mut script) {
            (Some(e), _) => Some(e),
            (None, Some(s)) => Some(s),
            (None, None) => None,
        };
        let found = match &plan.timed {
            Some(config) => trellis_engine::timed::answer_by(net, query, config, &mut meter).map(|(mut answer, by)| {
                // From here on it is known who has answered.
                plan.timed = plan.timed.map(|config| Config { engine: by.or(config.engine), ..config });
                let states = matches!(query.kind, QueryKind::Always(_) | QueryKind::Possibly(_));
                if args.trace_kind == Some(settings::TraceKind::Fastest) && states {
                    let said = timed::hasten(net, query, &mut answer.verdict, &mut meter);
                    said.into_iter().for_each(|said| args.context.note(format_args!("note: {said}\n")));
                }
                answer
            }),
            None => shared::explore(args, loaded, query, &plan, strategy, &mut meter),
        };
        Ok(match found {
            Ok(a) => answered(args, loaded, query, a, &plan),
            Err(broken) => {
                let broken = *broken;
                PropertyReport::broken(&loaded.name, loaded.language, query, broken.trace, &broken.error)
            }
        })
    }

    fn replay(&self, n: usize, trace: &Trace, _: &Meter) -> Result<String, Rejection> {
        let (net, query) = (self.net(), &self.loaded.queries[n]);
        let done = match self.args.non_zeno {
            true => trellis_check::replay_non_zeno(net, query, trace),
            false => trellis_check::replay(net, query, trace),
        }
        .map_err(rejected)?;
        let value = done.value.map_or(String::new(), |v| format!(", value {v}"));
        let grows = if done.unbounded { ", can be made as long as one likes" } else { "" };
        Ok(format!("trace of {} replayed{value}{grows}", steps(trace.steps.len())))
    }

    fn certify(&self, n: usize, proof: &Certificate, meter: &Meter) -> Result<String, Rejection> {
        let (net, query) = (self.net(), &self.loaded.queries[n]);
        let check = || match self.args.non_zeno {
            true => trellis_check::certify_non_zeno(net, query, proof),
            false => trellis_check::certify(net, query, proof),
        };
        self.certified(proof, meter, check)
    }

    fn check(&self, n: usize, r: &PropertyReport, meter: &Meter) -> Result<Vec<String>, Rejection> {
        let (net, query) = (self.net(), &self.loaded.queries[n]);
        let mut said = vec![];
        if let Some(t) = &r.trace {
            said.push(self.replay(n, t, meter)?);
        }
        if let Some(c) = &r.certificate {
            said.push(match query.kind {
                QueryKind::Bound { .. } => {
                    self.certified(c, meter, || trellis_check::certify_bound(net, query, c, r.bound))?
                }
                QueryKind::ClockBound { .. } => {
                    let claimed = r.clock_bound.and_then(|l| l.value.map(|v| (v, l.attained)));
                    self.certified(c, meter, || trellis_check::certify_clock_bound(net, query, c, claimed))?
                }
                _ => self.certify(n, c, meter)?,
            });
        }
        if let (Some(t), Some(limit)) = (&r.witness, r.clock_bound) {
            let shown = trellis_check::replay(net, query, t).map_err(rejected)?;
            if limit.value.is_none() && !shown.unbounded {
                return Err(Rejection::Wrong("the trace does not show that the clock grows".into()));
            }
            let way = if shown.unbounded {
                "a trace of {}, replayed, which can be made as long as one likes"
            } else {
                "reached by a trace of {}, replayed"
            };
            said.push(way.replace("{}", &steps(t.steps.len())));
        }
        if let (Some(t), Some(value)) = (&r.witness, r.bound) {
            trellis_check::replay_bound(net, query, t, value).map_err(rejected)?;
            said.push(format!("reached by a trace of {}, replayed", steps(t.steps.len())));
        }
        Ok(said)
    }

    fn accept(&self, n: usize, evidence: Evidence<&Trace, &Certificate>) -> Result<(), Rejection> {
        match evidence {
            Evidence::Trace(_) => Ok(()),
            Evidence::Proof(c) => Ok(idle(self.net(), Kind::of(&self.loaded.queries[n].kind), c)?),
        }
    }

    fn present(&self, _: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        then(self.net());
    }

    fn proof_text(&self, _: usize, proof: &Certificate) -> Option<(String, String)> {
        Some(certificate_parts(self.net(), proof, MAX_KEYS))
    }

    fn more_text(&self, _: usize, report: &PropertyReport, style: Style) -> String {
        let timed = !self.net().clocks.is_empty();
        let shown = report.certificate.as_ref().filter(|_| style.verbose && timed);
        shown.map_or_else(String::new, |c| format!("{:9}{}\n", "", style.dim(&certificate_summary(self.net(), c))))
    }
}

/// What stands in a certificate that nobody looks at, for such a query about such a network.
fn idle(net: &Network, kind: Kind, c: &Certificate) -> Result<(), String> {
    if c.up_to_order && net.lattices.is_empty() {
        return Err("it speaks of an order, and the model has no lattice variables".into());
    }
    let ranks = kind.is_liveness() && kind != Kind::Ltl;
    let untimed = net.clocks.is_empty();
    let odd = |e: &CertEntry| match () {
        () if e.rank.is_some() && !ranks => Some("a rank"),
        () if e.course.is_some() && kind != Kind::Ltl => Some("a state of an automaton"),
        () if !e.zone.is_empty() && untimed => Some("a zone"),
        () if e.bounds.is_some() && untimed => Some("bounds of clocks"),
        () if e.bounds.as_ref().is_some_and(|b| [&b.lower, &b.upper].iter().any(|side| side[..1] != [i32::MIN])) => {
            Some("bounds of no clock")
        }
        () => None,
    };
    match c.entries.stream().enumerate().find_map(|(i, e)| odd(&e).map(|what| (i, what))) {
        Some((i, what)) => Err(format!("entry {i} has {what}, which means nothing here")),
        None => Ok(()),
    }
}

impl NetworkTask {
    /// Runs a check of a certificate; what it found, in words. One that only wants for monotonicity is told from one that is wrong anyway.
    fn certified(
        &self,
        c: &Certificate,
        meter: &Meter,
        check: impl Fn() -> Result<trellis_check::Certified, trellis_check::Rejection>,
    ) -> Result<String, Rejection> {
        let stated = self.args.assume.is_some();
        let quick = self.args.check == settings::Recheck::Quick && self.net().clocks.is_empty();
        let check = || trellis_check::quickly(quick, &check);
        let run = |stated| trellis_check::within(meter, || trellis_check::assuming_monotone(stated, check));
        match run(stated) {
            Err(why) if matches!(why.why, Cause::NotMonotone(_)) => run(true).and(Err(why)),
            done => done,
        }
        .map_err(rejected)?;
        let rests = match (c.up_to_order, stated) {
            (true, true) => ", assuming monotone transitions",
            (true, false) => ", monotonicity proved",
            (false, _) => "",
        };
        let how = if quick { " quickly, with the search's own steps" } else { "" };
        Ok(format!("certificate re-validated{how}{rests}"))
    }
}

fn rejected(why: trellis_check::Rejection) -> Rejection {
    match why.why {
        Cause::Stopped(why) => Rejection::Stopped(why),
        // Nothing is wrong with it, but for what nobody has proved or stated.
        Cause::NotMonotone(_) => Rejection::Open(format!("{why}; --assume monotone states that it is")),
        _ => Rejection::Wrong(why.to_string()),
    }
}

/// Chooses how to search.
fn plan(args: &Settings, net: &Network, query: &Query, brought: bool) -> Result<Plan, Error> {
    let order = match args.order {
        // Those that do not fit have been refused.
        None | Some(settings::Order::Bfs | settings::Order::Largest | settings::Order::Error) => Order::Bfs,
        Some(settings::Order::Dfs) => Order::Dfs,
        Some(settings::Order::Random) => Order::Random(args.seed),
        Some(settings::Order::Priority) => Order::Priority,
    };
    let with = |update, refine| Options { update, order, refine };
    let mut plan = Plan {
        options: with(Update::Simple, Refine::Never),
        timed: None,
        assumes: Vec::new(),
        open: None,
        states: None,
        notes: Vec::new(),
        workers: None,
    };
    // With lattice variables beside clocks, elements are updated as without clocks.
    if !net.clocks.is_empty() && net.lattices.is_empty() {
        plan.timed = Some(timed::config(args, net, query)?);
        let live =
            matches!(query.kind, QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_) | QueryKind::LeadsTo(..));
        if live && !args.non_zeno {
            plan.notes
                .push("runs with infinitely many steps in finite time (Zeno) count; --non-zeno excludes them".into());
        }
        return Ok(plan);
    }
    let asked = match (args.join.as_deref(), args.update) {
        (Some("none"), None) => Some(Update::Cover),
        (Some("auto"), None) => None,
        (Some(_), _) => Some(Update::Join),
        (None, Some(settings::Update::Simple)) => Some(Update::Simple),
        (None, Some(settings::Update::Cover)) => Some(Update::Cover),
        (None, Some(settings::Update::Join)) => Some(Update::Join),
        (None, None) => brought.then_some(Update::Join),
    };
    if net.lattices.is_empty() || asked == Some(Update::Simple) {
        return Ok(plan);
    }
    if let Some(why) = hazard(net, query) {
        if let Some(update) = asked {
            let name = if update == Update::Cover { "cover" } else { "join" };
            return Err(Error::Usage(format!(
                "{name} update cannot answer `{}`: {why}; use --update simple",
                query.text
            )));
        }
        plan.notes.push(format!("simple update: {why}"));
        return Ok(plan);
    }
    let given = brought || args.join.is_some() && !matches!(args.join.as_deref(), Some("auto"));
    let refine = if given { Refine::Never } else { Refine::Split };
    let is_bound = matches!(query.kind, QueryKind::Bound { .. });
    match (asked, monotone::basis(net, query, args.assume.is_some())) {
        (None, Basis::Open(why)) => {
            plan.notes.push(format!("simple update: the model is not proved monotone: {why}"));
            let limited = args.states.is_some() || args.timeout.is_some() || args.memory.is_some();
            if !limited && monotone::may_go_on(net) {
                plan.states = Some(monotone::MOST_STATES);
            }
        }
        (asked, basis) => {
            // A bound has no target to refine for; cover gives it exactly.
            let usual = if is_bound { Update::Cover } else { Update::Join };
            plan.options = with(asked.unwrap_or(usual), refine);
            match basis {
                Basis::Proved => {}
                Basis::Stated(what) => plan.assumes.push(what),
                Basis::Open(why) => plan.open = Some(why),
            }
        }
    }
    Ok(plan)
}

/// Are states explored up to symmetry? It is asked for, or nobody has said how to search.
fn folds(args: &Settings, net: &Network) -> bool {
    let by_itself = args.engine == settings::Engine::Auto
        && args.order.is_none()
        && args.update.is_none()
        && !timed::lazily(args)
        && !timed::by_zones(args);
    net.lattices.is_empty() && (args.symmetry || by_itself && !args.no_symmetry)
}

/// Turns an answer into a report, its evidence not yet checked.
fn answered(args: &Settings, loaded: &Loaded, query: &Query, a: Answer, plan: &Plan) -> PropertyReport {
    let net = &loaded.network;
    let mut r = PropertyReport::new(&loaded.name, loaded.language, query, a.verdict);
    r.engine = match &plan.timed {
        Some(config) => timed::engine_line(config, net, query),
        None => engine_line(args, plan, query, net),
    };
    r.statistics = statistics(&a.stats);
    if plan.timed.is_some_and(|c| !c.certificate) {
        r.certificate = None;
    }
    if args.non_zeno && r.kind.is_liveness() {
        r.assumes.push("that no run takes infinitely many steps in finite time (--non-zeno)".into());
    }
    let up_to_order = r.certificate.as_ref().is_some_and(|c| c.up_to_order);
    if up_to_order {
        r.assumes.extend(plan.assumes.iter().cloned());
    }
    if let (true, Some(why)) = (up_to_order, &plan.open) {
        let unknown = Verdict::Unknown(Reason::Stuck(monotone::undecided(why)));
        let (engine, statistics) = (r.engine, r.statistics);
        let open = PropertyReport::new(&loaded.name, loaded.language, query, unknown);
        return PropertyReport { engine, statistics, ..open };
    }
    r.inconclusive =
        a.inconclusive.map(|i| Inconclusive { path: i.path, fails_at: i.fails_at, joins: i.joins, pivot: i.pivot });
    if let Some(b) = a.clock_bound {
        r.clock_bound = Some(trellis_report::ClockLimit { value: b.limit.value, attained: b.limit.attained });
        r.witness = b.witness;
        if b.limit.value.is_none() {
            // That a clock grows without limit is not what a closed set can prove.
            r.certificate = None;
        }
    }
    if let Some(b) = a.bound {
        r.bound = Some(b.value);
        if b.witness.is_none() {
            r.assumes.push("nothing, but the bound may be too generous: only joined states reach it".into());
        }
        r.witness = b.witness;
    }
    r
}

fn engine_line(args: &Settings, plan: &Plan, query: &Query, net: &Network) -> String {
    let o = plan.options;
    let order = match o.order {
        Order::Bfs | Order::Shortest => "breadth first".to_string(),
        Order::Dfs => "depth first".to_string(),
        Order::Random(seed) => format!("random order, seed {seed}"),
        Order::Shuffled(seed) => format!("depth first in random order, seed {seed}"),
        Order::Priority => "by priority".to_string(),
    };
    match query.kind {
        QueryKind::Always(_) | QueryKind::Possibly(_) | QueryKind::Bound { .. } | QueryKind::ClockBound { .. } => {
            let update = match (o.update, o.refine) {
                _ if net.lattices.is_empty() => "explicit states",
                (Update::Simple, _) => "simple update",
                (Update::Cover, _) => "cover update",
                (Update::Join, Refine::Never) => "join update",
                (Update::Join, Refine::Split) => "join update, refined",
            };
            let zones = match args.join_zones {
                _ if net.clocks.is_empty() => "",
                Some(settings::JoinZones::Hull) if o.update == Update::Join => ", zones by inclusion and convex hull",
                _ => ", zones by inclusion",
            };
            let folded = folds(args, net) && !Symmetry::find(net, query).is_empty();
            let folded = if folded { ", up to symmetry" } else { "" };
            format!("reach, {update}{zones}, {order}{folded}{}", shared::by(plan.workers.as_ref()))
        }
        _ => "liveness, explicit states".into(),
    }
}
