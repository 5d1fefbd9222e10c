//! `trellis check` for programs and control-flow automata: from the command line to an engine, and from its answer to a report whose
//! evidence has been checked.

use std::io::{self, Write};

use trellis_check::program as checker;
use trellis_engine::program::cegar::{self, Domain, Initial, Pruning, Scope, Search, Split};
use trellis_engine::program::lazy;
use trellis_engine::program::post::Mode;
use trellis_engine::program::refine::Refinement;
use trellis_engine::program::{Engine, Outcome as Found};
use trellis_meter::Meter;
use trellis_model::cfa::Cfa;
use trellis_model::cfa::evidence::{Certificate, Trace, Verdict};
use trellis_model::cfa::interpret;
use trellis_model::evidence::Reason;
use trellis_report::json::{Header, Input};
use trellis_report::program::{self as tell, text};
use trellis_report::{Content, Kind, Present, Program, ProgramReport, Style, chart, dot, html, json, text as plain};
use trellis_syntax::scxml::Chart;

use crate::automaton::{self, QUESTION, load, load_readable};
use crate::binding::Bound;
use crate::cli::{self, Certify, Check};
use crate::evidence::Given;
use crate::formalism::{Evidence, Formalism, Question, Rejection, Unanswered};
use crate::pipeline::{self, statistics, steps};
use crate::{Failure, Ran, answers, c_program, print, statechart};

/// The options for programs that were given, for a message.
pub fn given(args: &Check) -> Option<String> {
    let (p, r) = (&args.programs, &args.reading);
    let mut all = cegar_given(p).to_vec();
    all.extend([
        ("--engine cegar", args.engine == cli::Engine::Cegar),
        ("--engine bmc", args.engine == cli::Engine::Bmc),
        ("--engine induction", args.engine == cli::Engine::Induction),
        ("--engine explicit", args.engine == cli::Engine::Explicit),
        ("--ltl-step", args.formulas.ltl_step.is_some()),
        ("--search", args.formulas.search.is_some()),
        ("--depth", p.depth.is_some()),
        ("--threads", p.threads.is_some()),
        ("--order error", args.order == Some(cli::Order::Error)),
        ("--show-invariant", p.show_invariant),
        ("--full-trace", p.full_trace),
        ("--witness", p.witness.is_some()),
        ("--ints", r.ints.is_some()),
        ("--data-model", r.data_model.is_some()),
        ("--termination", p.termination),
        ("--overflow", r.overflow),
        ("--uninitialised", r.uninitialised),
        ("--assume-defined", r.assume_defined),
        ("--property-file", r.property_file.is_some()),
    ]);
    names(&all)
}

/// The options of cegar alone.
fn cegar_given(p: &cli::Programs) -> [(&'static str, bool); 8] {
    [
        ("--domain", p.domain.is_some()),
        ("--predicates", p.predicates.is_some()),
        ("--refinement", p.refinement.is_some()),
        ("--precision", p.precision.is_some()),
        ("--initial", p.initial.is_some()),
        ("--split", p.split.is_some()),
        ("--pruning", p.pruning.is_some()),
        ("--max-values", p.max_values.is_some()),
    ]
}

/// Options of other formalisms that were given.
pub fn foreign(args: &Check) -> Option<String> {
    names(&[
        ("--engine reach", args.engine == cli::Engine::Reach),
        ("--order random", args.order == Some(cli::Order::Random)),
        ("--order priority", args.order == Some(cli::Order::Priority)),
        ("--order largest", args.order == Some(cli::Order::Largest)),
        ("--priority", args.priority.is_some()),
        ("--update", args.update.is_some()),
        ("--join", args.join.is_some()),
        ("--symmetry", args.symmetry),
        ("--no-symmetry", args.no_symmetry),
        ("--audit", args.audit),
        ("--extrapolation", args.extrapolation.is_some()),
        ("--cover", args.cover.is_some()),
        ("--clocks", args.clocks.is_some()),
        ("--data", args.data.is_some()),
        ("--all-clocks", args.all_clocks),
        ("--non-zeno", args.non_zeno),
    ])
}

/// Refuses options of other formalisms.
pub fn not_foreign(args: &Check) -> Result<(), Failure> {
    match foreign(args) {
        Some(text) => Err(Failure::Usage(format!("{text}: not for programs and control-flow automata"))),
        None => Ok(()),
    }
}

fn names(options: &[(&str, bool)]) -> Option<String> {
    let given: Vec<&str> = options.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    (!given.is_empty()).then(|| given.join(", "))
}

/// What the command line asks for.
fn engine(args: &Check) -> Result<Engine, Failure> {
    let say = |text: &str| Err(Failure::Usage(text.into()));
    not_foreign(args)?;
    if args.formulas.ltl_step.is_some() || args.formulas.search.is_some() {
        return say("--ltl-step and --search go with --ltl or --buchi");
    }
    let p = &args.programs;
    if p.predicates.is_some() && p.domain == Some(cli::Domain::Explicit) {
        return say("--predicates goes with --domain predicates or product");
    }
    if p.max_values.is_some() && !matches!(p.domain, Some(cli::Domain::Explicit | cli::Domain::Product)) {
        return say("--max-values goes with --domain explicit or product");
    }
    if p.split.is_some() && p.domain == Some(cli::Domain::Explicit) {
        return say("--split goes with --domain predicates or product");
    }
    if p.witness.is_some() && !matches!(args.model.model.extension().and_then(|e| e.to_str()), Some("c" | "i")) {
        return say("--witness: only for C programs (.c, .i)");
    }
    if p.witness.is_some() && args.reading.ints == Some(cli::Ints::Math) {
        return say("--witness: witnesses are about machine integers; leave out --ints math");
    }
    if p.depth.is_some() && !matches!(args.engine, cli::Engine::Bmc | cli::Engine::Induction) {
        return say("--depth goes with --engine bmc or induction");
    }
    if p.threads.is_some() && (args.engine != cli::Engine::Auto || chosen(args).is_some()) {
        return say("--threads is for the portfolio, which runs when no engine and no option of one is given");
    }
    if let (cli::Engine::Bmc | cli::Engine::Induction | cli::Engine::Explicit, Some(text)) = (args.engine, chosen(args))
    {
        return Err(Failure::Usage(format!("{text}: goes with --engine cegar")));
    }
    match args.engine {
        cli::Engine::Auto => match chosen(args) {
            Some(_) => Ok(Engine::Cegar(cegar_options(args))),
            None => Ok(Engine::Portfolio(args.programs.threads.unwrap_or(2).into())),
        },
        cli::Engine::Cegar => Ok(Engine::Cegar(cegar_options(args))),
        cli::Engine::Lazy => {
            let default = lazy::Options::default();
            if matches!(p.refinement, Some(cli::Refinement::Binary | cli::Refinement::BinaryBackward)) {
                return say("--refinement binary: lazy abstraction needs a predicate for each position of a path");
            }
            let refinement = p.refinement.map_or(default.refinement, |_| cegar_options(args).refinement);
            let depth_first = args.order.map_or(default.depth_first, |o| o == cli::Order::Dfs);
            Ok(Engine::Lazy(lazy::Options { refinement, depth_first, ..default }))
        }
        cli::Engine::Bmc => Ok(Engine::Bmc(p.depth)),
        cli::Engine::Induction => Ok(Engine::Induction(p.depth)),
        cli::Engine::Explicit => Ok(Engine::Explicit),
        // Refused above.
        _ => say("this engine is not for programs"),
    }
}

/// Options that an engine of one's own choice has, in the order of the help.
pub fn chosen(args: &Check) -> Option<String> {
    let mut all = cegar_given(&args.programs).to_vec();
    all.push(("--order", args.order.is_some()));
    names(&all)
}

pub fn cegar_options(args: &Check) -> cegar::Options {
    let (p, default) = (&args.programs, cegar::Options::default());
    let mode = match p.predicates {
        None | Some(cli::Predicates::Cartesian) => Mode::Cartesian,
        Some(cli::Predicates::Boolean) => Mode::Boolean,
        Some(cli::Predicates::Split) => Mode::Split,
    };
    cegar::Options {
        domain: match p.domain {
            None if p.predicates.is_none() => default.domain,
            None | Some(cli::Domain::Predicates) => Domain::Predicates(mode),
            Some(cli::Domain::Explicit) => Domain::Explicit,
            Some(cli::Domain::Product) => Domain::Product(mode),
        },
        scope: match p.precision {
            None => default.scope,
            Some(cli::Precision::Local) => Scope::Local,
            Some(cli::Precision::Global) => Scope::Global,
        },
        initial: match p.initial {
            None => default.initial,
            Some(cli::Initial::Empty) => Initial::Empty,
            Some(cli::Initial::Property) => Initial::Property,
            Some(cli::Initial::Assumes) => Initial::Assumes,
        },
        refinement: match p.refinement {
            None => default.refinement,
            Some(cli::Refinement::Newton) => Refinement::NewtonForward,
            Some(cli::Refinement::NewtonBackward) => Refinement::NewtonBackward,
            Some(cli::Refinement::Sequence) => Refinement::Sequence,
            Some(cli::Refinement::Core) => Refinement::Core,
            Some(cli::Refinement::Binary) => Refinement::BinaryForward,
            Some(cli::Refinement::BinaryBackward) => Refinement::BinaryBackward,
        },
        split: match p.split {
            None => default.split,
            Some(cli::Split::Whole) => Split::Whole,
            Some(cli::Split::Conjuncts) => Split::Conjuncts,
            Some(cli::Split::Atoms) => Split::Atoms,
        },
        search: match args.order {
            Some(cli::Order::Bfs) => Search::Bfs,
            Some(cli::Order::Dfs) => Search::Dfs,
            Some(cli::Order::Error) => Search::Error,
            _ => default.search,
        },
        pruning: match p.pruning {
            None => default.pruning,
            Some(cli::Pruning::Lazy) => Pruning::Lazy,
            Some(cli::Pruning::Full) => Pruning::Full,
        },
        max_values: p.max_values.unwrap_or(default.max_values),
    }
}

/// The engine in words.
pub fn engine_line(engine: &Engine) -> String {
    match engine {
        Engine::Cegar(o) => {
            let mode = |m| match m {
                Mode::Cartesian => "Cartesian",
                Mode::Boolean => "boolean",
                Mode::Split => "split",
            };
            let domain = match o.domain {
                Domain::Explicit => "explicit values".to_string(),
                Domain::Predicates(m) => format!("{} predicates", mode(m)),
                Domain::Product(m) => format!("explicit values and {} predicates", mode(m)),
            };
            let refinement = match o.refinement {
                Refinement::NewtonForward => "Newton",
                Refinement::NewtonBackward => "Newton backward",
                Refinement::Sequence => "sequence interpolants",
                Refinement::Core => "unsat cores",
                Refinement::BinaryForward => "binary interpolants",
                Refinement::BinaryBackward => "binary interpolants backward",
            };
            let order = match o.search {
                Search::Bfs => "breadth first",
                Search::Dfs => "depth first",
                Search::Error => "nearest to an error first",
            };
            let scope = if o.scope == Scope::Local { "local" } else { "global" };
            let pruning = if o.pruning == Pruning::Lazy { "lazy" } else { "full" };
            format!("cegar, {domain}, {refinement}, {scope} precision, {pruning} pruning, {order}")
        }
        Engine::Lazy(o) => format!("lazy abstraction with interpolants ({})", o.refinement),
        Engine::Bmc(_) => "bounded model checking".into(),
        Engine::Induction(_) => "k-induction with invariants from runs".into(),
        Engine::Explicit => "explicit states".into(),
        Engine::Portfolio(_) => "portfolio".into(),
        other => format!("{other}"),
    }
}

/// Programs, transition systems and statecharts, as automata; C has a driver of its own, which asks about its checks one by one.
struct Automata<'a> {
    args: &'a Check,
    loaded: automaton::Loaded,
    engine: Engine,
    /// For each question, the texts of its automaton's files.
    texts: Vec<Vec<Option<String>>>,
}

impl Automata<'_> {
    fn cfa(&self, n: usize) -> &Cfa {
        &self.loaded.questions[n].1
    }

    fn program(&self, n: usize) -> Program<'_> {
        Program::new(self.cfa(n), &self.texts[n])
    }
}

impl Formalism for Automata<'_> {
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
        let question = |(n, (name, cfa)): (usize, &(String, Cfa))| {
            let mut warnings = vec![];
            if !has_errors(cfa) {
                warnings.push("nothing to check: no way leads to an error location; so none is ever reached".into());
            }
            let properties = self.loaded.properties.get(n).into_iter();
            warnings.extend(properties.flat_map(|&t| answers::of_term(&cfa.terms, t, name)));
            Question { text: name.clone(), property: name.clone(), kind: Kind::Always, warnings }
        };
        self.loaded.questions.iter().enumerate().map(question).collect()
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        let refused = |(text, _): &(String, String)| (text.clone(), Unanswered::Refused("it cannot be read".into()));
        self.loaded.refused.iter().map(refused).collect()
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<ProgramReport, Failure> {
        let (name, chart) = (&self.loaded.questions[n].0, self.loaded.charts.get(n));
        let mut found = trellis_engine::program::check(self.cfa(n), &self.engine, meter);
        if let Some(chart) = chart
            && let Some(limit) = statechart::too_short(chart, &found.verdict)
        {
            // A queue that is too short keeps a proof away, but not a run in which everything fits.
            found = trellis_engine::program::check(&statechart::fitting(chart), &self.engine, meter);
            if !matches!(found.verdict, Verdict::Unsafe(_)) {
                found.verdict = Verdict::Unknown(Reason::Unsupported(statechart::advice(limit)));
            }
        }
        let Found { verdict, stats, by } = found;
        let mut report = ProgramReport::about(&self.loaded.name, self.loaded.language, name, Kind::Always, verdict);
        report.engine = engine_line(&by.unwrap_or(self.engine));
        // A run is one whatever else the environment could do.
        if report.trace.is_none() {
            report.assumes = chart.map(statechart::assumes).unwrap_or_default();
        }
        report.statistics = statistics(&stats);
        Ok(report)
    }

    fn replay(&self, n: usize, trace: &Trace) -> Result<String, Rejection> {
        checker::replay(self.cfa(n), trace).map_err(|why| words(self.cfa(n), &why))?;
        Ok(format!("run of {} replayed", steps(trace.steps.len())))
    }

    fn certify(&self, n: usize, proof: &Certificate, meter: &Meter) -> Result<String, Rejection> {
        match checker::certify(self.cfa(n), proof, meter) {
            Ok(work) => Ok(format!("{} checked: {work}", text::summary(proof))),
            Err(checker::Rejection::Undecided(why)) => Err(match (meter.go_on(), why) {
                (Err(stopped), _) => Rejection::Stopped(stopped),
                (Ok(()), why) => Rejection::Open(why.to_string()),
            }),
            Err(why) => Err(Rejection::Wrong(words(self.cfa(n), &why))),
        }
    }

    fn text(&self, n: usize, report: &ProgramReport, style: Style) -> String {
        let p = self.program(n);
        let mut said = match (self.loaded.charts.get(n), &report.trace) {
            // A run of a statechart is told in its own words.
            (Some(chart), Some(trace)) => {
                let bare = ProgramReport { trace: None, ..report.clone() };
                plain::render(&bare, &p, style) + &statechart::story(chart, trace)
            }
            _ => plain::render(report, &p, style),
        };
        if let Some(c) = report.certificate.as_ref().filter(|_| self.args.programs.show_invariant) {
            said.push_str(&text::invariant(&p, c, style));
        }
        said
    }

    fn json(&self, n: usize, report: &ProgramReport, out: &mut Vec<u8>) -> io::Result<()> {
        let p = self.program(n);
        json::write_report(out, &p, report, report.certificate.as_ref().map(|c| p.size(c)))
    }

    fn write(
        &self,
        n: usize,
        header: Header<'_>,
        evidence: Evidence<&Trace, &Certificate>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match evidence {
            Evidence::Trace(t) => json::write_trace(out, &self.program(n), header, t),
            Evidence::Proof(c) => json::write_certificate(out, &self.program(n), header, c),
        }
    }

    fn read(&self, n: usize, text: &str) -> Result<Evidence<Trace, Certificate>, String> {
        Ok(match json::read(&self.program(n), text).map_err(|e| e.to_string())? {
            Content::Trace(t) => Evidence::Trace(t),
            Content::Certificate(c) => Evidence::Proof(c),
        })
    }

    fn dot(&self, n: usize, report: &ProgramReport) -> Option<String> {
        match (self.loaded.charts.get(n), &report.trace) {
            (Some(chart), Some(trace)) => Some(dot::run(&statechart::shown(chart, trace), &report.query)),
            _ => dot::report(report, &self.program(n)),
        }
    }

    fn html(&self, reports: &[ProgramReport]) -> String {
        if self.loaded.charts.is_empty() {
            let all: Vec<_> = reports.iter().enumerate().map(|(n, r)| (r.clone(), self.program(n))).collect();
            return tell::html(&all);
        }
        let evidence = |n: usize, r: &ProgramReport| html::Evidence {
            run: r.trace.as_ref().map(|t| statechart::shown(&self.loaded.charts[n], t)),
            ..html::Evidence::default()
        };
        html::page(&reports.iter().enumerate().map(|(n, r)| (r, evidence(n, r))).collect::<Vec<_>>())
    }

    fn chart(&self, n: usize, trace: &Trace, picture: bool) -> Option<String> {
        let Some(of) = self.loaded.charts.get(n) else { return chart::trace(&self.program(n), trace, picture) };
        let drawn = chart::chart(&statechart::shown(of, trace).run)?;
        Some(if picture { drawn.svg() } else { drawn.text() })
    }
}

/// `trellis check` for programs.
pub fn check(args: &Check, out_color: bool, err_color: bool) -> Ran {
    let engine = engine(args)?;
    let loaded = load_readable(&args.model, &args.reading, Some(&args.properties), err_color)?;
    eprint!("{}", loaded.warnings);
    if let Some(asked) = &loaded.program {
        return c_program::check(args, engine, &loaded, asked, (out_color, err_color));
    }
    if args.programs.termination {
        return Err(Failure::Usage("--termination: only for C programs (.c, .i)".into()));
    }
    unasked(&loaded)?;
    loaded.refused.iter().for_each(|(_, why)| eprintln!("{}", why.trim_end()));
    let texts = loaded.questions.iter().map(|(_, cfa)| loaded.texts(cfa)).collect();
    pipeline::check(args, &Automata { args, loaded, engine, texts }, out_color)
}

/// Refuses to answer where nothing is asked.
fn unasked(loaded: &automaton::Loaded) -> Result<(), Failure> {
    let advice = match loaded.language {
        _ if !loaded.refused.is_empty() => return Ok(()),
        "scxml" if loaded.charts.iter().all(|chart| chart.property.is_none()) => {
            "give a condition that must always hold, for instance --property \"!In('error')\", or a formula with --ltl"
        }
        "cfa" if loaded.questions.iter().all(|(_, cfa)| cfa.errors().next().is_none()) => {
            "the automaton has no error location (`error loc NAME`); name one, or ask a formula with --ltl"
        }
        _ => return Ok(()),
    };
    Err(Failure::Nothing(loaded.language, advice.into()))
}

/// Do edges lead to an error?
fn has_errors(cfa: &Cfa) -> bool {
    let connected = cfa.connected();
    cfa.errors().any(|l| connected[l.index()])
}

/// Checks the evidence, and says so. Evidence that is wrong is a bug; a proof that the checker's solver cannot follow is no proof.
pub fn checked(report: &mut ProgramReport, cfa: &Cfa, limits: &Meter) -> Result<(), Failure> {
    let failed = |what: &str, why: &checker::Rejection| {
        let why = words(cfa, why);
        Failure::Internal(format!("the {what} for `{}` did not pass its check: {why}", report.query))
    };
    if let Some(t) = &report.trace {
        checker::replay(cfa, t).map_err(|why| failed("run", &why))?;
        report.checked = Some(format!("run of {} replayed", steps(t.steps.len())));
    }
    if let Some(c) = &report.certificate {
        match checker::certify(cfa, c, limits) {
            Ok(work) => report.checked = Some(format!("{} checked: {work}", text::summary(c))),
            Err(checker::Rejection::Undecided(why)) => {
                let reason = match why {
                    trellis_smt::Reason::Time => Reason::Time,
                    trellis_smt::Reason::Cancelled => Reason::Interrupted,
                    why => Reason::Solver(format!("an invariant was found that could not be checked: {why}")),
                };
                let (model, language, query) = (&report.model, &report.language, &report.query);
                let unknown = ProgramReport::about(model, language, query, report.kind, Verdict::Unknown(reason));
                let (engine, statistics) = (std::mem::take(&mut report.engine), std::mem::take(&mut report.statistics));
                let (binding, assumes) = (report.binding.clone(), std::mem::take(&mut report.assumes));
                *report = ProgramReport { engine, statistics, binding, assumes, ..unknown };
            }
            Err(why) => return Err(failed("invariant", &why)),
        }
    }
    Ok(())
}

pub fn show(
    args: &Check,
    p: &Program<'_>,
    r: &mut ProgramReport,
    style: Style,
    chart: Option<&Chart>,
    invariant: bool,
) -> Result<(), Failure> {
    if args.json {
        let mut line = Vec::new();
        let size = r.certificate.as_ref().map(|c| p.size(c));
        json::write_report(&mut line, p, r, size).map_err(|e| Failure::Internal(e.to_string()))?;
        print(&String::from_utf8_lossy(&line))?;
        return Ok(());
    }
    let mut said = match (chart, r.trace.take()) {
        (_, trace) if args.quiet => {
            r.trace = trace;
            plain::line(r, style)
        }
        // A run of a statechart is told in its own words.
        (Some(chart), Some(trace)) => {
            let said = plain::render(r, p, style) + &statechart::story(chart, &trace);
            r.trace = Some(trace);
            said
        }
        (_, trace) => {
            r.trace = trace;
            plain::render(r, p, style)
        }
    };
    if let Some(c) = r.certificate.as_ref().filter(|_| args.programs.show_invariant && invariant) {
        said.push_str(&text::invariant(p, c, style));
    }
    print(&said)?;
    Ok(())
}

/// A refusal in the model's names.
fn words(cfa: &Cfa, why: &checker::Rejection) -> String {
    let name = |v| &cfa.terms.variable(v).name;
    match *why {
        checker::Rejection::Step { from, to, .. } => {
            format!("a step from {} to {} leads out of the invariant", cfa.describe(from), cfa.describe(to))
        }
        checker::Rejection::Error(l) => format!("the invariant allows the error location {}", cfa.describe(l)),
        checker::Rejection::Harmless(l) => format!("the run ends in {}, which is no error location", cfa.describe(l)),
        checker::Rejection::Run(interpret::Error::Start(v)) => {
            format!("at the start, {} has no value of its type", name(v))
        }
        checker::Rejection::Run(interpret::Error::Value(n, v)) => {
            format!("after step {}, {} has another value", n + 1, name(v))
        }
        ref other => other.to_string(),
    }
}

/// `trellis certify` for programs.
pub fn certify(args: &Certify, given: &Given<'_>, err_color: bool) -> Ran {
    if args.non_zeno {
        return Err(Failure::Usage("--non-zeno: only for models with clocks".into()));
    }
    let mut loaded = match automaton::is_c(&args.model.model) {
        true => load(&args.model, &args.reading, None, err_color)?,
        false => load(&args.model, &args.reading, Some(&args.properties), err_color)?,
    };
    if let Some(asked) = &loaded.program {
        loaded.questions = asked.provable(given.property(), &args.properties)?;
    }
    let bound = Bound::new(args, loaded.inputs.clone());
    let names: Vec<&str> = loaded.questions.iter().map(|(name, _)| name.as_str()).collect();
    let at = match given.asked(&bound, &names)? {
        Ok(at) => at,
        Err(why) => return given.rejected(&why),
    };
    let (query, cfa) = &loaded.questions[at];
    let p = Program::new(cfa, &[]);
    let content = json::read(&p, &given.text).map_err(|e| given.unreadable(&e))?;
    // A run into one check is a violation of the program; a proof of one check among others is none of the program.
    let several = loaded.program.as_ref().is_some_and(|asked| asked.checks.len() > 1);
    if several
        && query != QUESTION
        && args.properties.properties.is_empty()
        && matches!(content, Content::Certificate(_))
    {
        return given.rejected("it proves one check of the program, and not all; --property asks for one");
    }
    let result = match &content {
        Content::Trace(t) if loaded.charts.get(at).is_some_and(|chart| statechart::overflows(chart, t)) => {
            Err("the run ends where an event did not fit into the internal queue, which shows nothing".into())
        }
        Content::Trace(t) => {
            let said = || format!("the run of {} reaches an error", steps(t.steps.len()));
            checker::replay(cfa, t).map(|()| said()).map_err(|why| words(cfa, &why))
        }
        Content::Certificate(c) => checker::certify(cfa, c, &Meter::unlimited())
            .map(|work| format!("{} proves it: {work}", text::summary(c)))
            .map_err(|why| words(cfa, &why)),
    };
    let binding = bound.to(query);
    let header = Header { language: loaded.language, kind: Kind::Always, binding: &binding };
    let write = |out: &mut dyn std::io::Write| match &content {
        Content::Trace(t) => json::write_trace(out, &p, header, t),
        Content::Certificate(c) => json::write_certificate(out, &p, header, c),
    };
    given.judged(query, result, &write)
}
