//! `trellis check`: every property, with the engine that suits it, evidence re-checked before anybody sees it.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

use trellis_engine::audit::{self, Audit, Unmatched};
use trellis_engine::network::{Answer, ExprStrategy, answer, answer_up_to_symmetry};
use trellis_engine::reach::{Options, Refine, Strategy, Update};
use trellis_engine::timed::Config;
use trellis_engine::waitlist::Order;
use trellis_meter::StopReason;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::{Network, Query, QueryKind, Symmetry};
use trellis_report::{Inconclusive, Kind, PropertyReport, dot, ending, html, json, text};

use crate::binding::Bound;
use crate::cli::{self, Check};
use crate::files::{write_file, write_with};
use crate::limits::{Work, interrupts};
use crate::load::{Asked, Loaded, load};
use crate::monotone::{self, Basis};
use crate::pipeline::{code_of, numbered, statistics, steps, worst};
use crate::strategy::LuaStrategy;
use crate::{Failure, Ran, exit};
use crate::{answers, automaton, counter, hierarchy, limits, ltl, program, timed, tree};

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

/// Says UNKNOWN for the question at work when a phase that cannot stop by itself has run out of a limit.
fn watch(args: &Check, color: bool) {
    let watched = limits::Watched { timeout: args.timeout, memory: args.memory, interrupts: false };
    let args = args.clone();
    limits::watch(watched, move |query, why| {
        let (query, phase) = match query {
            Some(query) => (query, ""),
            None => ("nothing was decided", " (while the model was read, or evidence written)"),
        };
        let reason = match phase {
            "" => why.into(),
            phase => Reason::Solver(format!("{why}{phase}")),
        };
        let model = args.model.model.display().to_string();
        let report: PropertyReport = PropertyReport::about(&model, "", query, Kind::Always, Verdict::Unknown(reason));
        let style = text::Style { color, ..Default::default() };
        match answers::plain(&args, &report, style) {
            Ok(()) if why == StopReason::Cancelled => exit::INTERRUPTED,
            Ok(()) => exit::UNDECIDED,
            Err(_) => exit::INTERNAL,
        }
    });
}

pub fn check(args: &Check, out_color: bool, err_color: bool) -> Ran {
    watch(args, out_color);
    let reading = cli::Reading { timeout: args.timeout, ..args.reading.clone() };
    let args = &Check { reading, ..args.clone() };
    match answer_all(args, out_color, err_color) {
        Err(Failure::Late(language)) => answers::late(args, language, out_color),
        Err(Failure::Nothing(language, advice)) => answers::nothing(args, language, &advice, out_color),
        ran => ran,
    }
}

fn answer_all(args: &Check, out_color: bool, err_color: bool) -> Ran {
    let network = !ltl::is_asked(args)
        && !hierarchy::is_one(&args.model.model)
        && !tree::is_one(&args.model.model)
        && !counter::is_one(&args.model.model)
        && !automaton::is_one(&args.model.model);
    if args.assume.is_some() && !network {
        return Err(Failure::Usage("--assume monotone: only for networks with lattice variables".into()));
    }
    if ltl::is_asked(args) {
        return ltl::ask(args, out_color, err_color);
    }
    if !args.formulas.fair.is_empty() {
        return Err(Failure::Usage("--fair goes with --ltl or --buchi".into()));
    }
    if hierarchy::is_one(&args.model.model) {
        return hierarchy::check(args, out_color, err_color);
    }
    if tree::is_one(&args.model.model) {
        return tree::check(args, out_color);
    }
    let other = counter::is_one(&args.model.model) || automaton::is_one(&args.model.model);
    if args.engine == cli::Engine::Hierarchy && other {
        return Err(Failure::Usage(
            "--engine hierarchy: only for AltaRica, hierarchical transition systems, and networks without clocks"
                .into(),
        ));
    }
    // Networks have nodes, too, if they are taken apart.
    let foreign = match args.engine {
        cli::Engine::Hierarchy => args.nodes.of_nodes_only(),
        _ => args.nodes.given(),
    };
    if let Some(name) = foreign {
        return Err(Failure::Usage(format!("{name}: only for models in AltaRica (.alt)")));
    }
    if counter::is_one(&args.model.model) {
        return counter::check(args, out_color, err_color);
    }
    if let Some(text) = counter::given(args) {
        return Err(Failure::Usage(format!("{text}: only for counter systems (.spec, .pnml, .lola, .tts)")));
    }
    if automaton::is_one(&args.model.model) {
        return program::check(args, out_color, err_color);
    }
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
    if args.engine == cli::Engine::Hierarchy {
        let code = tree::check_network(args, &loaded, out_color)?;
        let style = text::Style { color: out_color, ..Default::default() };
        return left_over(args, &loaded, style, code, &mut Vec::new());
    }
    let net = &loaded.network;
    let bound = Bound::new(args, loaded.inputs.clone());

    let cancelled = interrupts();

    let style = text::Style { color: out_color, verbose: args.stats, ..Default::default() }
        .align(loaded.queries.iter().map(|q| q.text.as_str()));
    let mut reports = Vec::new();
    let mut code = exit::HOLDS;
    for (i, query) in loaded.queries.iter().enumerate() {
        let mut plan = plan(args, net, query)?;
        if args.symmetry {
            plan.notes.push(symmetry_note(net, query));
        }
        if args.audit {
            show_audit(net, query, args.seed, args.json)?;
        }
        let warnings = answers::warn(args, answers::of_query(net, query));
        let started = Instant::now();
        let found = {
            let work = Work::on(args, &query.text);
            let mut budget = work.meter.clone().states(args.states.or(plan.states));
            let mut expr = loaded.strategy.map(|s| ExprStrategy::new(net, s.condition, s.uses_joined));
            let mut lua = script.as_deref().map(|p| LuaStrategy::load(p, net)).transpose()?;
            let strategy: Option<&mut dyn Strategy<_>> = match (&mut expr, &mut lua) {
                (Some(e), _) => Some(e),
                (None, Some(l)) => Some(l),
                (None, None) => None,
            };
            match &plan.timed {
                Some(config) => trellis_engine::timed::answer(net, query, config, &mut budget),
                None if folds(args, net) => answer_up_to_symmetry(net, query, plan.options.order, &mut budget),
                None => answer(net, query, plan.options, strategy, loaded.priority, &mut budget),
            }
        };
        let seconds = started.elapsed().as_secs_f64();
        let mut report = match found {
            Ok(a) => answered(args, &loaded, query, a, &plan, seconds)?,
            Err(broken) => {
                let broken = *broken;
                let mut r = PropertyReport::broken(&loaded.name, loaded.language, query, broken.trace, &broken.error);
                r.seconds = seconds;
                r
            }
        };
        report.binding = bound.to(&query.text);
        report.warnings = warnings;
        code = worst(code, code_of(&report));
        for note in &plan.notes {
            if !args.quiet && !args.json {
                eprintln!("note: {note}");
            }
        }
        show(args, net, &report, style)?;
        let several = (loaded.queries.len() > 1).then_some(i + 1);
        write_evidence(args, net, &report, several)?;
        reports.push(report);
        if cancelled.load(Ordering::Relaxed) {
            code = exit::INTERRUPTED;
            break;
        }
    }
    code = left_over(args, &loaded, style, code, &mut reports)?;
    if let Some(path) = &args.html {
        write_file(path, &html::render(&reports, net))?;
    }
    Ok(code)
}

/// The questions that are not answered: those of kinds that Trellis does not know, and those that make no sense.
fn left_over(
    args: &Check,
    loaded: &Loaded,
    style: text::Style,
    mut code: u8,
    reports: &mut Vec<PropertyReport>,
) -> Result<u8, Failure> {
    if code == exit::INTERRUPTED {
        return Ok(code);
    }
    let net = &loaded.network;
    for (text, why) in &loaded.refused {
        let report = PropertyReport::refused(&loaded.name, loaded.language, text, why);
        code = worst(code, code_of(&report));
        show(args, net, &report, style)?;
        reports.push(report);
    }
    for (text, what) in &loaded.unanswered {
        let unknown = Verdict::Unknown(Reason::Unsupported(what.clone()));
        let report = PropertyReport::about(&loaded.name, loaded.language, text, Kind::Always, unknown);
        code = worst(code, code_of(&report));
        show(args, net, &report, style)?;
        reports.push(report);
    }
    Ok(code)
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

/// Turns an answer into a report, its evidence checked.
fn answered(
    args: &Check,
    loaded: &Loaded,
    query: &Query,
    a: Answer,
    plan: &Plan,
    seconds: f64,
) -> Result<PropertyReport, Failure> {
    let net = &loaded.network;
    let mut r = PropertyReport::new(&loaded.name, loaded.language, query, a.verdict);
    r.seconds = seconds;
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
        return Ok(PropertyReport { engine, statistics, seconds, ..open });
    }
    r.inconclusive =
        a.inconclusive.map(|i| Inconclusive { path: i.path, fails_at: i.fails_at, joins: i.joins, pivot: i.pivot });
    let mut witness = None;
    if let Some(b) = a.clock_bound {
        r.clock_bound = Some(trellis_report::ClockLimit { value: b.limit.value, attained: b.limit.attained });
        witness = b.witness;
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
        witness = b.witness;
    }
    if args.no_check {
        return Ok(r);
    }
    let failed = |what: &str, why: trellis_check::Rejection| {
        Failure::Internal(format!("the {what} for `{}` did not pass its check: {why}", query.text))
    };
    let mut said = Vec::new();
    let until = limits::deadline(args.timeout);
    if let Some(t) = &r.trace {
        match args.non_zeno {
            true => trellis_check::replay_non_zeno(net, query, t),
            false => trellis_check::replay(net, query, t),
        }
        .map_err(|e| failed("trace", e))?;
        said.push(format!("trace of {} replayed", steps(t.steps.len())));
    }
    if let Some(c) = &r.certificate {
        let stated = args.assume.is_some();
        let check = || match query.kind {
            QueryKind::Bound { .. } => trellis_check::certify_bound(net, query, c, r.bound),
            QueryKind::ClockBound { .. } => {
                let claimed = r.clock_bound.and_then(|l| l.value.map(|v| (v, l.attained)));
                trellis_check::certify_clock_bound(net, query, c, claimed)
            }
            _ if args.non_zeno => trellis_check::certify_non_zeno(net, query, c),
            _ => trellis_check::certify(net, query, c),
        };
        let certified = trellis_check::within(until, || trellis_check::assuming_monotone(stated, check));
        match certified {
            // A proof that nobody has checked is none.
            Err(e) if e.why == trellis_check::Why::Time => {
                let unknown = Verdict::Unknown(Reason::Time);
                let (engine, statistics) = (r.engine, r.statistics);
                let unchecked = PropertyReport::new(&loaded.name, loaded.language, query, unknown);
                return Ok(PropertyReport { engine, statistics, seconds, ..unchecked });
            }
            certified => certified.map_err(|e| failed("certificate", e))?,
        };
        let proved = if c.up_to_order && r.assumes.is_empty() { ", monotonicity proved" } else { "" };
        said.push(format!("certificate re-validated{proved}"));
    }
    if let (Some(t), Some(limit)) = (&witness, r.clock_bound) {
        let shown = trellis_check::replay(net, query, t).map_err(|e| failed("trace", e))?;
        if limit.value.is_none() && !shown.unbounded {
            return Err(Failure::Internal(format!(
                "the trace for `{}` does not show that the clock grows",
                query.text
            )));
        }
        let way = if shown.unbounded {
            "a trace of {}, replayed, which can be made as long as one likes"
        } else {
            "reached by a trace of {}, replayed"
        };
        said.push(way.replace("{}", &steps(t.steps.len())));
    }
    if let (Some(t), Some(value)) = (&witness, r.bound) {
        trellis_check::replay_bound(net, query, t, value).map_err(|e| failed("trace", e))?;
        said.push(format!("reached by a trace of {}, replayed", steps(t.steps.len())));
    }
    if args.trace.is_some() || args.dot.is_some() || args.html.is_some() {
        r.trace = r.trace.or(witness);
    }
    r.checked = (!said.is_empty()).then(|| said.join("; "));
    Ok(r)
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

pub fn show(args: &Check, net: &Network, r: &PropertyReport, style: text::Style) -> Result<(), Failure> {
    let text = if args.json {
        let mut line = Vec::new();
        json::write_report(&mut line, net, r, false).map_err(|e| Failure::Internal(e.to_string()))?;
        String::from_utf8_lossy(&line).into_owned()
    } else if args.quiet {
        // What it rests on is part of a verdict.
        format!("{}{}", text::line(r, style), text::assumptions(r, style))
    } else {
        text::render(r, net, style)
    };
    crate::print(&text)?;
    Ok(())
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
        let small = text::state(net, &v.smaller);
        let large = text::state(net, &v.larger);
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

pub fn write_evidence(args: &Check, net: &Network, r: &PropertyReport, several: Option<usize>) -> Result<(), Failure> {
    if let (Some(path), Some(t)) = (&args.trace, &r.trace) {
        let end = ending(net, r.kind, t);
        write_with(&numbered(path, several), |out| json::write_trace(out, net, r.header(), t, end))?;
    }
    if let Some(path) = &args.dot {
        let text = match (&r.trace, &r.inconclusive) {
            (Some(t), _) => Some(dot::trace(net, t, ending(net, r.kind, t), &r.query)),
            (None, Some(i)) => Some(dot::inconclusive(net, i, &r.query)),
            (None, None) => None,
        };
        if let Some(text) = text {
            write_file(&numbered(path, several), &text)?;
        }
    }
    if let (Some(path), Some(c)) = (&args.certificate, &r.certificate) {
        write_with(&numbered(path, several), |out| json::write_certificate(out, net, r.header(), c))?;
    }
    Ok(())
}
