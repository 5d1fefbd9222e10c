//! Networks of automata (UPPAAL, TChecker), with lattice variables or clocks or neither: how a question is searched, and its evidence.

use std::io::{self, Write};
use std::path::PathBuf;

use trellis_check::Cause;
use trellis_engine::audit::{self, Audit, Unmatched};
use trellis_engine::network::{Answer, ExprStrategy, answer, answer_up_to_symmetry};
use trellis_engine::reach::{Options, Refine, Strategy, Update};
use trellis_engine::timed::Config;
use trellis_engine::waitlist::Order;
use trellis_meter::{Meter, StopReason};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::{Certificate, Network, Query, QueryKind, Symmetry, Trace};
use trellis_report::json::{Header, Input};
use trellis_report::{Content, Inconclusive, Kind, Present, PropertyReport, Style, chart, dot, json, network::state};

use crate::cli::{self, Check};
use crate::formalism::{Evidence, Formalism, Question, Rejection, Unanswered};
use crate::load::{Asked, Loaded, load};
use crate::monotone::{self, Basis};
use crate::pipeline::{self, statistics, steps, worst};
use crate::strategy::LuaStrategy;
use crate::{Failure, Ran, answers, program, timed, tree};

/// Pairs of states compared under `--audit`.
const LONG_AUDIT: usize = 20_000;

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
}

/// A network, and how it is asked.
pub struct Networks<'a> {
    args: &'a Check,
    loaded: Loaded,
    /// The joining strategy, if it is a script.
    script: Option<PathBuf>,
}

impl Networks<'_> {
    fn net(&self) -> &Network {
        &self.loaded.network
    }
}

impl Formalism for Networks<'_> {
    type Trace = Trace;
    type Proof = Certificate;

    fn name(&self) -> &str {
        &self.loaded.name
    }

    fn language(&self) -> &'static str {
        self.loaded.language
    }

    fn inputs(&self) -> &[Input] {
        &self.loaded.inputs
    }

    fn questions(&self) -> Vec<Question> {
        let question = |q: &Query| Question {
            text: q.text.clone(),
            property: q.text.clone(),
            kind: Kind::of(&q.kind),
            warnings: answers::of_query(self.net(), q),
        };
        self.loaded.queries.iter().map(question).collect()
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        let refused = self.loaded.refused.iter().map(|(text, why)| (text.clone(), Unanswered::Refused(why.clone())));
        let others = self.loaded.unanswered.iter();
        refused.chain(others.map(|(text, what)| (text.clone(), Unanswered::Unsupported(what.clone())))).collect()
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<PropertyReport, Failure> {
        let (args, loaded, net, query) = (self.args, &self.loaded, self.net(), &self.loaded.queries[n]);
        let mut plan = plan(args, net, query)?;
        if args.symmetry {
            plan.notes.push(symmetry_note(net, query));
        }
        if args.audit {
            show_audit(net, query, args.seed, args.json)?;
        }
        if !args.quiet && !args.json {
            plan.notes.iter().for_each(|note| eprintln!("note: {note}"));
        }
        let mut meter = meter.clone().states(args.states.or(plan.states));
        let mut expr = loaded.strategy.map(|s| ExprStrategy::new(net, s.condition, s.uses_joined));
        let mut lua = self.script.as_deref().map(|p| LuaStrategy::load(p, net)).transpose()?;
        let strategy: Option<&mut dyn Strategy<_>> = match (&mut expr, &mut lua) {
            (Some(e), _) => Some(e),
            (None, Some(l)) => Some(l),
            (None, None) => None,
        };
        let found = match &plan.timed {
            Some(config) => trellis_engine::timed::answer(net, query, config, &mut meter),
            None if folds(args, net) => answer_up_to_symmetry(net, query, plan.options.order, &mut meter),
            None => answer(net, query, plan.options, strategy, loaded.priority, &mut meter),
        };
        Ok(match found {
            Ok(a) => answered(args, loaded, query, a, &plan),
            Err(broken) => {
                let broken = *broken;
                PropertyReport::broken(&loaded.name, loaded.language, query, broken.trace, &broken.error)
            }
        })
    }

    fn replay(&self, n: usize, trace: &Trace) -> Result<String, Rejection> {
        let (net, query) = (self.net(), &self.loaded.queries[n]);
        match self.args.non_zeno {
            true => trellis_check::replay_non_zeno(net, query, trace),
            false => trellis_check::replay(net, query, trace),
        }
        .map_err(rejected)?;
        Ok(format!("trace of {} replayed", steps(trace.steps.len())))
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
            said.push(self.replay(n, t)?);
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

    fn text(&self, _: usize, report: &PropertyReport, style: Style) -> String {
        trellis_report::network::render(report, self.net(), style)
    }

    fn json(&self, _: usize, report: &PropertyReport, out: &mut Vec<u8>) -> io::Result<()> {
        json::write_report(out, self.net(), report, report.certificate.as_ref().map(|c| self.net().size(c)))
    }

    fn write(
        &self,
        _: usize,
        header: Header<'_>,
        evidence: Evidence<&Trace, &Certificate>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match evidence {
            Evidence::Trace(t) => json::write_trace(out, self.net(), header, t),
            Evidence::Proof(c) => json::write_certificate(out, self.net(), header, c),
        }
    }

    fn read(&self, _: usize, text: &str) -> Result<Evidence<Trace, Certificate>, String> {
        Ok(match json::read(self.net(), text).map_err(|e| e.to_string())? {
            Content::Trace(t) => Evidence::Trace(t),
            Content::Certificate(c) => Evidence::Proof(c),
        })
    }

    fn dot(&self, _: usize, r: &PropertyReport) -> Option<String> {
        dot::report(r, self.net())
    }

    fn html(&self, reports: &[PropertyReport]) -> String {
        trellis_report::network::html(reports, self.net())
    }

    fn chart(&self, _: usize, trace: &Trace, picture: bool) -> Option<String> {
        chart::trace(self.net(), trace, picture)
    }
}

impl Networks<'_> {
    /// Runs a check of a certificate; what it found, in words.
    fn certified<T>(
        &self,
        c: &Certificate,
        meter: &Meter,
        check: impl FnOnce() -> Result<T, trellis_check::Rejection>,
    ) -> Result<String, Rejection> {
        let stated = self.args.assume.is_some();
        trellis_check::within(meter.deadline(), || trellis_check::assuming_monotone(stated, check))
            .map_err(rejected)?;
        let proved = if c.up_to_order && !stated { ", monotonicity proved" } else { "" };
        Ok(format!("certificate re-validated{proved}"))
    }
}

fn rejected(why: trellis_check::Rejection) -> Rejection {
    match why.why {
        Cause::Time => Rejection::Stopped(StopReason::Time),
        // Nothing is wrong with it, but for what nobody has proved or stated.
        Cause::NotMonotone(_) => Rejection::Open(format!("{why}; --assume monotone states that it is")),
        _ => Rejection::Wrong(why.to_string()),
    }
}

/// `trellis check` for networks.
pub fn check(args: &Check, out_color: bool, err_color: bool) -> Ran {
    let script = args.join.as_deref().filter(|j| j.ends_with(".lua")).map(PathBuf::from);
    let expr = args.join.as_deref().filter(|j| !matches!(*j, "all" | "none" | "auto") && script.is_none());
    let asked = Asked {
        properties: Some(&args.properties),
        strategy: expr,
        priority: args.priority.as_deref(),
        asks: &[],
        color: err_color,
    };
    let loaded = load(&args.model, &asked)?;
    eprint!("{}", loaded.warnings);
    usage(args, &loaded)?;
    let model = Networks { args, loaded, script };
    if args.engine == cli::Engine::Hierarchy {
        let code = tree::check_network(args, &model.loaded, out_color)?;
        let style = Style { color: out_color, ..Style::default() };
        return pipeline::unanswered(args, &model, style).map(|more| worst(code, more));
    }
    pipeline::check(args, &model, out_color)
}

/// What the command line alone cannot know to be wrong.
fn usage(args: &Check, loaded: &Loaded) -> Result<(), Failure> {
    let say = |text: &str| Err(Failure::Usage(text.into()));
    if let Some(text) = program::given(args) {
        return Err(Failure::Usage(format!(
            "{text}: only for programs and control-flow automata (.c, .i, .cfa, .theta)"
        )));
    }
    if loaded.queries.is_empty() && loaded.unanswered.is_empty() && loaded.refused.is_empty() {
        let advice = match loaded.language {
            "tchecker" => no_question(&loaded.labels),
            _ => {
                "the model has no query; give one, for instance --property 'A[] not deadlock', or --queries FILE".into()
            }
        };
        return Err(Failure::Nothing(loaded.language, advice));
    }
    if args.assume.is_some() && loaded.network.lattices.is_empty() {
        return say("--assume monotone: the model has no lattice variables");
    }
    if !loaded.network.clocks.is_empty() {
        return Ok(());
    }
    if timed::lazily(args)
        || timed::by_zones(args)
        || args.non_zeno
        || args.engine == cli::Engine::Lazy
        || args.order == Some(cli::Order::Largest)
    {
        return say(
            "--engine lazy, --clocks, --data, --all-clocks, --extrapolation, --cover, --non-zeno and --order largest are for models with clocks; this one has none",
        );
    }
    let lattices = !loaded.network.lattices.is_empty();
    if args.symmetry && (lattices || args.priority.is_some()) {
        return say("--symmetry goes neither with lattice variables nor with --priority");
    }
    let join = args.join.as_deref();
    if join.is_some() && !lattices {
        return say("--join: the model has no lattice variables, so there is nothing to join");
    }
    if join.is_some_and(|j| j != "none") && args.update.is_some_and(|u| u != cli::Update::Join) {
        return say("--join goes with --update join");
    }
    if (args.order == Some(cli::Order::Priority)) != args.priority.is_some() {
        return say("--order priority and --priority EXPR go together");
    }
    Ok(())
}

/// What can be asked of a TChecker model.
fn no_question(labels: &[String]) -> String {
    let some = labels.iter().take(20).map(String::as_str).collect::<Vec<_>>().join(", ");
    match labels {
        [] => "the model has no labels; give a property, for instance --property 'A[] not deadlock'".into(),
        [first, ..] => format!(
            "the labels of the model are {some}{}; give some, for instance --labels {first}, or a property, for instance \
             --property 'A[] not deadlock'",
            if labels.len() > 20 { ", …" } else { "" }
        ),
    }
}

/// Chooses how to search.
fn plan(args: &Check, net: &Network, query: &Query) -> Result<Plan, Failure> {
    let order = match args.order {
        // Those that do not fit have been refused.
        None | Some(cli::Order::Bfs | cli::Order::Largest | cli::Order::Error) => Order::Bfs,
        Some(cli::Order::Dfs) => Order::Dfs,
        Some(cli::Order::Random) => Order::Random(args.seed),
        Some(cli::Order::Priority) => Order::Priority,
    };
    let with = |update, refine| Options { update, order, refine };
    let mut plan = Plan {
        options: with(Update::Simple, Refine::Never),
        timed: None,
        assumes: Vec::new(),
        open: None,
        states: None,
        notes: Vec::new(),
    };
    if !net.clocks.is_empty() {
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
        (None, Some(cli::Update::Simple)) => Some(Update::Simple),
        (None, Some(cli::Update::Cover)) => Some(Update::Cover),
        (None, Some(cli::Update::Join)) => Some(Update::Join),
        (None, None) => None,
    };
    if net.lattices.is_empty() || asked == Some(Update::Simple) {
        return Ok(plan);
    }
    if let Some(why) = audit::hazard(net, query) {
        if let Some(update) = asked {
            let name = if update == Update::Cover { "cover" } else { "join" };
            return Err(Failure::Usage(format!(
                "{name} update cannot answer `{}`: {why}; use --update simple",
                query.text
            )));
        }
        plan.notes.push(format!("simple update: {why}"));
        return Ok(plan);
    }
    let given = args.join.is_some() && !matches!(args.join.as_deref(), Some("auto"));
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
pub fn folds(args: &Check, net: &Network) -> bool {
    let by_itself = args.engine == cli::Engine::Auto
        && args.order.is_none()
        && args.update.is_none()
        && !timed::lazily(args)
        && !timed::by_zones(args);
    net.lattices.is_empty() && (args.symmetry || by_itself && !args.no_symmetry)
}

/// Which processes count as the same.
fn symmetry_note(net: &Network, query: &Query) -> String {
    let symmetry = Symmetry::find(net, query);
    let name = |p: &u32| net.processes[*p as usize].name.clone();
    let groups: Vec<String> =
        symmetry.groups().iter().map(|g| g.iter().map(name).collect::<Vec<_>>().join(", ")).collect();
    match () {
        () if symmetry.is_empty() => match symmetry.refused() {
            [] => "no symmetry: no two processes look alike, or the question is none of A[] and E<>".into(),
            [r, ..] => format!("no symmetry: {} and {}: {}", name(&r.processes.0), name(&r.processes.1), r.why),
        },
        () if groups.is_empty() => "symmetric: members of scalar sets".into(),
        () => format!("symmetric: {}", groups.join("; ")),
    }
}

/// Turns an answer into a report, its evidence not yet checked.
fn answered(args: &Check, loaded: &Loaded, query: &Query, a: Answer, plan: &Plan) -> PropertyReport {
    let net = &loaded.network;
    let mut r = PropertyReport::new(&loaded.name, loaded.language, query, a.verdict);
    r.engine = match &plan.timed {
        Some(config) => timed::engine_line(config, net, query),
        None => engine_line(args, plan.options, query, net),
    };
    r.statistics = statistics(&a.stats);
    if plan.timed.is_some_and(|c| !c.certificate) {
        r.certificate = None;
    }
    if args.non_zeno && r.kind.is_liveness() {
        r.assumes.push("only runs in which time goes on without end count (--non-zeno)".into());
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

fn engine_line(args: &Check, o: Options, query: &Query, net: &Network) -> String {
    let order = match o.order {
        Order::Bfs => "breadth first".to_string(),
        Order::Dfs => "depth first".to_string(),
        Order::Random(seed) => format!("random order, seed {seed}"),
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
            let folded = folds(args, net) && !Symmetry::find(net, query).is_empty();
            format!("reach, {update}, {order}{}", if folded { ", up to symmetry" } else { "" })
        }
        _ => "liveness, explicit states".into(),
    }
}

fn show_audit(net: &Network, query: &Query, seed: u64, quiet: bool) -> Result<(), Failure> {
    let Audit { pairs, violations } = audit::audit(net, Some(query), LONG_AUDIT, seed);
    if net.lattices.is_empty() {
        eprintln!("audit: the model has no lattice variables; nothing to compare");
        return Ok(());
    }
    let mut out = match monotone::basis(net, query, false) {
        Basis::Open(why) => format!("audit: not proved monotone: {why}\n"),
        Basis::Proved | Basis::Stated(_) => "audit: proved monotone\n".to_string(),
    };
    if violations.is_empty() {
        out.push_str(&format!("audit: monotone, as far as {pairs} pairs of states show\n"));
    }
    for v in &violations {
        let small = state(net, &v.smaller);
        let large = state(net, &v.larger);
        let what = match &v.what {
            Unmatched::Step(action, _) => {
                let places: Vec<String> = action
                    .0
                    .iter()
                    .map(|e| net.processes[e.process as usize].edges[e.edge as usize].place.to_string())
                    .collect();
                format!("can take the step {} ({})", trellis_check::describe_action(net, action), places.join(", "))
            }
            Unmatched::Target => format!("is what `{}` looks for", query.text),
        };
        out.push_str(&format!(
            "audit: NOT monotone. The state\n{}  {what}, but the larger state\n{}  {}.\n",
            indent(&small),
            indent(&large),
            if matches!(v.what, Unmatched::Target) { "is not" } else { "has no step that ends as high" }
        ));
    }
    if quiet {
        eprint!("{out}");
    } else {
        crate::print(&out)?;
    }
    Ok(())
}

fn indent(text: &str) -> String {
    text.lines().map(|l| format!("      {l}\n")).collect()
}
