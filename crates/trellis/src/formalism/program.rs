//! Programs: C, control-flow automata, transition systems and statecharts, which all become automata whose error locations must not be
//! reached. Which engine, and evidence; a C program is asked about its checks one by one (`c`).

pub mod annotated;
mod c;
pub mod chart;
pub mod horn;
mod labels;
pub mod load;
mod state;
pub mod statechart;
mod step;

use std::rc::Rc;
use std::sync::Arc;

use trellis_check::program as checker;
use trellis_engine::program::cegar::{self, Domain, Initial, Pruning, Search, Split};
use trellis_engine::program::lazy;
use trellis_engine::program::post::Mode;
use trellis_engine::program::refine::Refinement;
use trellis_engine::program::{Engine, Outcome as Found};
use trellis_meter::Meter;
use trellis_model::cfa::evidence::{Certificate, Trace, Verdict};
use trellis_model::cfa::{Cfa, interpret, lbe};
use trellis_model::evidence::Reason;
use trellis_report::automaton;
use trellis_report::json::Input;
use trellis_report::present::Drawing;
use trellis_report::program::text;
use trellis_report::{Kind, Program, ProgramReport, Style};
use trellis_syntax::ltl::subject::Moment;

use super::formula::{self, Subject};
use super::{Cases, Formalism, Language, Own, Profile, Request, Steps, by_name_only};
use crate::context::Context;
use crate::pipeline::{statistics, steps};
use crate::settings::{self, Convert, Engine as E, Format, LtlStep, Properties, Settings, Simulate};
use crate::task::{Evidence, Presenter, Question, Rejection, Task, Unanswered};
use crate::{Error, warnings};
pub use c::meaning as c_meaning;
use load::{c_options, load};
use statechart::ChartView;

/// Programs.
pub struct Programs;

/// The languages.
static LANGUAGES: [Language; 5] = [
    Language {
        name: "c",
        title: "C",
        extensions: &["c", "i"],
        sniff: |text| text.contains("main(") && text.contains('{') && text.contains(';'),
    },
    Language {
        name: "cfa",
        title: "Theta's control-flow automata",
        extensions: &["cfa", "theta"],
        sniff: by_name_only,
    },
    Language { name: "xsts", title: "Theta's transition systems, XSTS", extensions: &["xsts"], sniff: by_name_only },
    Language {
        name: "sts",
        title: "Theta's transition systems, STS",
        extensions: &["sts", "system"],
        sniff: by_name_only,
    },
    Language {
        name: "scxml",
        title: "statecharts, SCXML",
        extensions: &["scxml"],
        sniff: |text| text.trim_start().starts_with('<') && text.contains("<scxml"),
    },
];

/// The options of all programs.
static PROFILE: Profile = Profile {
    who: "programs and automata",
    engines: &[E::Auto, E::Cegar, E::Lazy, E::Bmc, E::Induction, E::Explicit],
    options: &[
        ("order", &[E::Auto, E::Cegar, E::Lazy]),
        ("domain", &[E::Auto, E::Cegar]),
        ("predicates", &[E::Auto, E::Cegar]),
        ("refinement", &[E::Auto, E::Cegar, E::Lazy]),
        ("precision", &[E::Auto, E::Cegar]),
        ("initial", &[E::Auto, E::Cegar]),
        ("split", &[E::Auto, E::Cegar]),
        ("pruning", &[E::Auto, E::Cegar]),
        ("max_values", &[E::Auto, E::Cegar]),
        ("depth", &[E::Bmc, E::Induction]),
        ("threads", &[E::Auto]),
        ("show_invariant", &[]),
        ("termination", &[]),
        ("witness", &[]),
        ("ints", &[]),
        ("data_model", &[]),
        ("overflow", &[]),
        ("uninitialised", &[]),
        ("assume_defined", &[]),
        ("property_file", &[]),
    ],
};

/// Options that only C programs have.
const ONLY_C: [&str; 8] =
    ["termination", "witness", "ints", "data_model", "overflow", "uninitialised", "assume_defined", "property_file"];

fn refuse_options_of_c(request: &Request) -> Result<(), Error> {
    let given = request.args.given.iter().find(|id| request.language.name != "c" && ONLY_C.contains(&id.as_str()));
    match given {
        Some(id) => Err(Error::Usage(format!("--{}: only for C programs (.c, .i)", id.replace('_', "-")))),
        None => Ok(()),
    }
}

impl Formalism for Programs {
    fn languages(&self) -> &'static [Language] {
        &LANGUAGES
    }

    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn ask(&self, request: &Request) -> Cases {
        let args = &request.args;
        refuse_options_of_c(request)?;
        let engine = engine(args)?;
        if !args.properties.states.is_empty() {
            return state::ask(request, engine);
        }
        let loaded = load(
            &args.model,
            request.language.name,
            &args.reading,
            Some(&args.properties),
            request.args.context.color,
        )?;
        args.context.note(&loaded.warnings);
        if loaded.program.is_some() {
            return c::ask(request, engine, loaded);
        }
        unasked(&loaded)?;
        loaded.refused.iter().for_each(|(_, why)| args.context.note(format_args!("{}\n", why.trim_end())));
        Ok(vec![Rc::new(ProgramTask::new(args.clone(), loaded, engine))])
    }

    fn ask_formulas(&self, request: &Request) -> Cases {
        refuse_options_of_c(request)?;
        let mut all = formula::ask(request, self.subject(request)?)?;
        if request.language.name == "c" {
            all.extend(c::undefined(request)?);
        }
        Ok(all)
    }

    fn own_queries(&self, _: &Language) -> Own {
        Own::States
    }

    fn quoted_conditions(&self, language: &Language) -> bool {
        language.name == "c"
    }

    fn subject(&self, request: &Request) -> Result<Subject, Error> {
        let args = &request.args;
        Ok(match request.language.name {
            "c" => {
                let (options, scope) = c_options(&args.model, &args.reading)?;
                Subject::c(options, scope.assumes())
            }
            "xsts" => Subject::Xsts(match args.formulas.ltl_step {
                Some(LtlStep::Full) => Moment::Full,
                _ => Moment::Half,
            }),
            "sts" => Subject::Sts,
            "scxml" => Subject::Scxml,
            _ => Subject::Cfa,
        })
    }

    fn stepper(&self, args: &Simulate, language: &'static Language, trace: Option<&str>, context: &Context) -> Steps {
        step::open(args, language, trace, context)
    }

    fn plain_options(&self) -> &'static [&'static str] {
        &[
            "ints",
            "data_model",
            "overflow",
            "uninitialised",
            "assume_defined",
            "property_file",
            "blocks",
            "property",
            "symbolic",
        ]
    }

    fn drawing(&self, args: &Convert, language: &'static Language, color: bool) -> Result<Drawing, Error> {
        let properties =
            Properties { properties: args.property.clone().into_iter().collect(), ..Properties::default() };
        let loaded = load(&args.model, language.name, &args.reading, Some(&properties), color)?;
        match loaded.charts.first() {
            Some(chart) => Ok(statechart::drawing(chart)),
            None => Ok(automaton::drawing(&automaton(args, language, color)?)),
        }
    }

    fn convert(&self, args: &Convert, language: &'static Language, color: bool) -> Result<String, Error> {
        match args.to {
            Format::Horn => {
                let cfa = automaton(args, language, color)?;
                horn::clauses(&cfa).map_err(|what| Error::Usage(format!("--to horn: {what}")))
            }
            _ => Err(Error::Usage("programs and automata are written as --to svg, --to dot or --to horn".into())),
        }
    }
}

/// The automaton of one question, or of all that a program is asked.
fn automaton(args: &Convert, language: &'static Language, color: bool) -> Result<Cfa, Error> {
    let properties = Properties { properties: args.property.clone().into_iter().collect(), ..Properties::default() };
    let mut loaded = load(&args.model, language.name, &args.reading, Some(&properties), color)?;
    if let Some((_, why)) = loaded.refused.first() {
        return Err(Error::Input(why.clone()));
    }
    if let Some(asked) = &loaded.program {
        loaded.questions = vec![(load::QUESTION.into(), asked.question(&asked.all()))];
    }
    if loaded.questions.len() != 1 {
        let names: Vec<&str> = loaded.questions.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(", ");
        return Err(Error::Usage(format!("there are several properties; choose with --property: {names}")));
    }
    let (_, cfa) = loaded.questions.swap_remove(0);
    Ok(if args.blocks { lbe::encode(&cfa).cfa } else { cfa })
}

/// What the command line asks for.
pub fn engine(args: &Settings) -> Result<Engine, Error> {
    let say = |text: &str| Err(Error::Usage(text.into()));
    let p = &args.programs;
    if let Some(order @ (settings::Order::Random | settings::Order::Priority | settings::Order::Largest)) = args.order {
        let name = settings::value_name(order);
        return say(&format!("--order {name}: not for programs and automata, which have bfs, dfs and error"));
    }
    let domain_without = matches!(p.domain, Some(settings::Domain::Explicit | settings::Domain::Intervals));
    if p.predicates.is_some() && domain_without {
        return say("--predicates goes with --domain predicates or product");
    }
    if p.max_values.is_some()
        && !matches!(
            p.domain,
            Some(settings::Domain::Explicit | settings::Domain::Product | settings::Domain::Intervals)
        )
    {
        return say("--max-values goes with --domain explicit, product or intervals");
    }
    if p.split.is_some() && p.domain == Some(settings::Domain::Explicit) {
        return say("--split goes with --domain predicates or product");
    }
    if p.witness.is_some() && args.reading.ints == Some(settings::Ints::Math) {
        return say("--witness: witnesses are about machine integers; leave out --ints math");
    }
    if p.threads.is_some() && options_of_cegar(args) {
        return say("--threads is for the portfolio, which runs when no engine and no option of one is given");
    }
    match args.engine {
        settings::Engine::Auto if options_of_cegar(args) => Ok(Engine::Cegar(cegar_options(args))),
        settings::Engine::Auto => Ok(Engine::Portfolio(args.programs.threads.unwrap_or(2).into())),
        settings::Engine::Cegar => Ok(Engine::Cegar(cegar_options(args))),
        settings::Engine::Lazy => {
            let default = lazy::Options::default();
            if matches!(p.refinement, Some(settings::Refinement::Binary | settings::Refinement::BinaryBackward)) {
                return say("--refinement binary: lazy abstraction needs a predicate for each position of a path");
            }
            let refinement = p.refinement.map_or(default.refinement, |_| cegar_options(args).refinement);
            let depth_first = args.order.map_or(default.depth_first, |o| o == settings::Order::Dfs);
            Ok(Engine::Lazy(lazy::Options { refinement, depth_first, ..default }))
        }
        settings::Engine::Bmc => Ok(Engine::Bmc(p.depth)),
        settings::Engine::Induction => Ok(Engine::Induction(p.depth)),
        settings::Engine::Explicit => Ok(Engine::Explicit),
        // Refused above.
        _ => say("this engine is not for programs"),
    }
}

/// Was an option of cegar given? Then it is the engine.
pub fn options_of_cegar(args: &Settings) -> bool {
    let mine =
        ["order", "domain", "predicates", "refinement", "precision", "initial", "split", "pruning", "max_values"];
    args.given.iter().any(|id| mine.contains(&id.as_str()))
}

/// How cegar is asked for.
pub fn cegar_options(args: &Settings) -> cegar::Options {
    let (p, default) = (&args.programs, cegar::Options::default());
    let mode = match p.predicates {
        None | Some(settings::Predicates::Cartesian) => Mode::Cartesian,
        Some(settings::Predicates::Boolean) => Mode::Boolean,
        Some(settings::Predicates::Split) => Mode::Split,
    };
    cegar::Options {
        domain: match p.domain {
            None if p.predicates.is_none() => default.domain,
            None | Some(settings::Domain::Predicates) => Domain::Predicates(mode),
            Some(settings::Domain::Explicit) => Domain::Explicit,
            Some(settings::Domain::Product) => Domain::Product(mode),
            Some(settings::Domain::Intervals) => Domain::Intervals,
        },
        scope: match p.precision {
            None => default.scope,
            Some(settings::Precision::Local) => cegar::Scope::Local,
            Some(settings::Precision::Global) => cegar::Scope::Global,
        },
        initial: match p.initial {
            None => default.initial,
            Some(settings::Initial::Empty) => Initial::Empty,
            Some(settings::Initial::Property) => Initial::Property,
            Some(settings::Initial::Assumes) => Initial::Assumes,
        },
        refinement: match p.refinement {
            None => default.refinement,
            Some(settings::Refinement::Newton) => Refinement::NewtonForward,
            Some(settings::Refinement::NewtonBackward) => Refinement::NewtonBackward,
            Some(settings::Refinement::Sequence) => Refinement::Sequence,
            Some(settings::Refinement::Core) => Refinement::Core,
            Some(settings::Refinement::Binary) => Refinement::BinaryForward,
            Some(settings::Refinement::BinaryBackward) => Refinement::BinaryBackward,
        },
        split: match p.split {
            None => default.split,
            Some(settings::Split::Whole) => Split::Whole,
            Some(settings::Split::Conjuncts) => Split::Conjuncts,
            Some(settings::Split::Atoms) => Split::Atoms,
        },
        search: match args.order {
            Some(settings::Order::Bfs) => Search::Bfs,
            Some(settings::Order::Dfs) => Search::Dfs,
            Some(settings::Order::Error) => Search::Error,
            _ => default.search,
        },
        pruning: match p.pruning {
            None => default.pruning,
            Some(settings::Pruning::Lazy) => Pruning::Lazy,
            Some(settings::Pruning::Full) => Pruning::Full,
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
                Domain::Intervals => "intervals with widening".to_string(),
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
            let scope = if o.scope == cegar::Scope::Local { "local" } else { "global" };
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

/// Automata, transition systems and statecharts.
struct ProgramTask {
    args: Arc<Settings>,
    loaded: load::Loaded,
    engine: Engine,
    /// For each question, the texts of its automaton's files.
    texts: Vec<Vec<Option<String>>>,
    /// The kinds of the questions; all must always hold where this says nothing.
    kinds: Vec<Kind>,
    /// What all answers rest on, and options that change the meaning.
    assumes: Vec<String>,
    meaning: Vec<(String, String)>,
}

impl ProgramTask {
    fn new(args: Arc<Settings>, loaded: load::Loaded, engine: Engine) -> ProgramTask {
        let texts = loaded.questions.iter().map(|(_, cfa)| loaded.texts(cfa)).collect();
        ProgramTask { args, loaded, engine, texts, kinds: vec![], assumes: vec![], meaning: vec![] }
    }

    fn kind(&self, n: usize) -> Kind {
        self.kinds.get(n).copied().unwrap_or(Kind::Always)
    }

    fn cfa(&self, n: usize) -> &Cfa {
        &self.loaded.questions[n].1
    }

    fn program(&self, n: usize) -> Program<'_> {
        Program::new(self.cfa(n), &self.texts[n])
    }
}

impl Task for ProgramTask {
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

    fn meaning(&self) -> Vec<(String, String)> {
        self.meaning.clone()
    }

    fn questions(&self) -> Vec<Question> {
        let question = |(n, (name, cfa)): (usize, &(String, Cfa))| {
            let mut warnings = vec![];
            if !has_errors(cfa) {
                warnings.push("nothing to check: no way leads to an error location; so none is ever reached".into());
            }
            let properties = self.loaded.properties.get(n).into_iter();
            warnings.extend(properties.flat_map(|&t| warnings::of_term(&cfa.terms, t, name)));
            Question::plain(name, self.kind(n), warnings)
        };
        self.loaded.questions.iter().enumerate().map(question).collect()
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        let refused = |(text, _): &(String, String)| (text.clone(), Unanswered::Refused("it cannot be read".into()));
        self.loaded.refused.iter().map(refused).collect()
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<ProgramReport, Error> {
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
        let mut report = ProgramReport::about(&self.loaded.name, self.loaded.language, name, self.kind(n), verdict);
        report.engine = engine_line(&by.unwrap_or(self.engine));
        // A run is one whatever else the environment could do.
        if report.trace.is_none() {
            report.assumes = [self.assumes.clone(), chart.map(statechart::assumes).unwrap_or_default()].concat();
        }
        report.statistics = statistics(&stats);
        Ok(report)
    }

    fn replay(&self, n: usize, trace: &Trace, _: &Meter) -> Result<String, Rejection> {
        replay(self.cfa(n), trace)
    }

    fn certify(&self, n: usize, proof: &Certificate, meter: &Meter) -> Result<String, Rejection> {
        certify(self.cfa(n), proof, meter)
    }

    fn accept(&self, n: usize, evidence: Evidence<&Trace, &Certificate>) -> Result<(), Rejection> {
        match (evidence, self.loaded.charts.get(n)) {
            (Evidence::Trace(t), Some(chart)) if statechart::overflows(chart, t) => {
                let why = "the run ends where an event did not fit into the internal queue, which shows nothing";
                Err(Rejection::Wrong(why.into()))
            }
            _ => Ok(()),
        }
    }

    fn present(&self, n: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        let program = self.program(n);
        let generated = if self.loaded.language == "xsts" { annotated::Names::of(self.cfa(n)) } else { None };
        match (self.loaded.charts.get(n), generated) {
            (Some(chart), _) => then(&ChartView { program, chart }),
            (None, Some(names)) => then(&annotated::Annotated { program, cfa: self.cfa(n), names: &names }),
            (None, None) => then(&program),
        }
    }

    fn more_text(&self, n: usize, report: &ProgramReport, style: Style) -> String {
        let shown = report.certificate.as_ref().filter(|_| self.args.programs.show_invariant);
        shown.map_or_else(String::new, |c| text::invariant(&self.program(n), c, style))
    }

    fn proof_text(&self, n: usize, proof: &Certificate) -> Option<(String, String)> {
        Some((text::summary(proof), text::invariant(&self.program(n), proof, Style::default())))
    }
}

/// Replays a run into an error.
pub fn replay(cfa: &Cfa, trace: &Trace) -> Result<String, Rejection> {
    checker::replay(cfa, trace).map_err(|why| words(cfa, &why))?;
    Ok(format!("run of {} replayed", steps(trace.steps.len())))
}

/// Checks an invariant. One that the checker's solver cannot follow is no proof, but not wrong either.
pub fn certify(cfa: &Cfa, proof: &Certificate, meter: &Meter) -> Result<String, Rejection> {
    match checker::certify(cfa, proof, meter) {
        Ok(work) => Ok(format!("{} checked: {work}", text::summary(proof))),
        Err(checker::Rejection::Undecided(why)) => Err(match (meter.go_on(), why) {
            (Err(stopped), _) => Rejection::Stopped(stopped),
            (Ok(()), why) => Rejection::Open(why.to_string()),
        }),
        Err(why) => Err(Rejection::Wrong(words(cfa, &why))),
    }
}

/// Refuses to answer where nothing is asked.
fn unasked(loaded: &load::Loaded) -> Result<(), Error> {
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
    Err(Error::Nothing(loaded.language, advice.into()))
}

/// Do edges lead to an error?
fn has_errors(cfa: &Cfa) -> bool {
    let connected = cfa.connected();
    cfa.errors().any(|l| connected[l.index()])
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
