//! Formulas of linear temporal logic (`--ltl`), and automata of what must not be (`--buchi`), about whatever becomes an automaton:
//! programs, transition systems, statecharts, counter systems, hierarchies. Networks have products of their own
//! ([`crate::formalism::network`]).

pub mod pattern;
pub mod question;

use std::rc::Rc;
use std::sync::Arc;

use trellis_check::ltl::{self as checker, Rejection as Wrong};
use trellis_engine::ltl::search::Search;
use trellis_engine::ltl::{Engine, Options, Outcome};
use trellis_meter::Meter;
use trellis_model::counter::System;
use trellis_model::evidence::{Reason, Verdict as Plain};
use trellis_model::hierarchy::tree::{Behaviour, Node, Tree};
use trellis_model::ltl::evidence::{Proof, Verdict};
use trellis_report::json::Input;
use trellis_report::ltl::{self as tell, Counterexample, Formula, LtlReport};
use trellis_report::{Class, Program};
use trellis_syntax::altarica::Built;
use trellis_syntax::c::{self, Kinds};
use trellis_syntax::diag;
use trellis_syntax::gamma;
use trellis_syntax::ltl::subject::{Language, Moment};

use super::gamma::rounds;
use super::program::statechart::{self, ChartFormula};
use super::program::{c_meaning, cegar_options, load::texts, options_of_cegar};
use super::{Cases, Profile, Request};
use crate::pipeline::{statistics, steps};
use crate::settings::{self, Engine as E, Settings};
use crate::task::{Evidence, Presenter, Question, Rejection, Task, Unanswered};
use crate::{Error, warnings};
use question::{Ask, Understood, asks};

/// Options of formulas.
pub static PROFILE: Profile = Profile {
    who: "formulas of linear temporal logic (--ltl, --buchi)",
    engines: &[E::Auto, E::Cegar, E::Explicit, E::Bmc],
    options: &[
        ("ltl_step", &[]),
        ("search", &[E::Auto, E::Cegar, E::Explicit]),
        ("domain", &[E::Auto, E::Cegar]),
        ("predicates", &[E::Auto, E::Cegar]),
        ("refinement", &[E::Auto, E::Cegar]),
        ("precision", &[E::Auto, E::Cegar]),
        ("initial", &[E::Auto, E::Cegar]),
        ("split", &[E::Auto, E::Cegar]),
        ("pruning", &[E::Auto, E::Cegar]),
        ("max_values", &[E::Auto, E::Cegar]),
        ("order", &[E::Auto, E::Cegar]),
        ("depth", &[E::Bmc]),
        ("threads", &[E::Auto]),
        ("node", &[]),
        ("period", &[]),
        ("fair", &[]),
        ("start", &[]),
        ("ints", &[]),
        ("data_model", &[]),
        ("overflow", &[]),
        ("uninitialised", &[]),
        ("assume_defined", &[]),
    ],
};

/// Is a formula asked?
pub fn is_asked(args: &Settings) -> bool {
    !args.formulas.ltl.is_empty() || !args.formulas.pattern.is_empty() || args.formulas.buchi.is_some()
}

/// A model as formulas speak of it.
pub enum Subject {
    /// How the program is read, and what is assumed beside the formula.
    C(Box<c::Options>, Vec<String>),
    Cfa,
    Xsts(Moment),
    Sts,
    Scxml,
    /// How the package is read.
    Gamma(gamma::Options),
    Counters(System),
    /// Below a node, with its name.
    Nodes(Box<Built>, String),
    Tree(Tree),
}

impl Subject {
    /// What is undefined is no run that a formula speaks of; whether there is any is asked separately.
    pub fn c(options: c::Options, assumes: Vec<String>) -> Subject {
        Subject::C(Box::new(c::Options { checks: Kinds::ASSERTIONS, ..options }), assumes)
    }

    /// A transition system: names of states, the initial ones, and steps with their labels. Formulas say `part in STATE`.
    pub fn transitions(
        part: &str,
        states: &[String],
        initial: &[usize],
        steps: &[(usize, String, usize)],
    ) -> Result<Subject, Error> {
        let mut events: Vec<String> = steps.iter().map(|s| s.1.clone()).collect();
        events.sort();
        events.dedup();
        let mut moves = vec![vec![]; states.len()];
        for (from, label, to) in steps {
            let event = events.binary_search(label).unwrap_or_default();
            moves[*from].push((event as u32, *to as u32));
        }
        let initial = initial.iter().map(|&q| q as u32).collect();
        let vectors: Vec<Vec<u32>> = (0..events.len()).map(|e| vec![e as u32]).collect();
        let node = Node {
            name: part.into(),
            subs: vec![],
            higher: vec![vec![]; vectors.len()],
            vectors,
            events,
            behaviour: Arc::new(Behaviour::new(states.to_vec(), initial, moves)),
        };
        Ok(Subject::Tree(Tree::new(vec![node]).map_err(|e| Error::Internal(e.to_string()))?))
    }

    pub fn language(&self) -> Language<'_> {
        match self {
            Subject::C(options, _) => Language::C(options),
            Subject::Cfa => Language::Cfa,
            Subject::Xsts(moment) => Language::Xsts(*moment),
            Subject::Sts => Language::Sts,
            Subject::Scxml => Language::Scxml,
            Subject::Gamma(options) => Language::Gamma(options),
            Subject::Counters(system) => Language::Counters(system),
            Subject::Nodes(built, _) => Language::Nodes(built),
            Subject::Tree(tree) => Language::Tree(tree),
        }
    }

    /// When a letter is read, where that is a choice.
    fn step(&self) -> Option<&'static str> {
        match self {
            Subject::Xsts(Moment::Full) => Some("full"),
            Subject::Xsts(_) => Some("half"),
            _ => None,
        }
    }
}

fn engine(args: &Settings) -> Engine {
    let search = match args.formulas.search {
        Some(settings::LassoSearch::Nested) => Search::Nested,
        Some(settings::LassoSearch::Scc) | None => Search::Components,
    };
    match args.engine {
        E::Auto if args.formulas.search.is_none() && !options_of_cegar(args) => {
            Engine::Portfolio(args.programs.threads.unwrap_or(2).into())
        }
        E::Explicit => Engine::Explicit(search),
        E::Bmc => Engine::Bounded(args.programs.depth),
        _ => Engine::Cegar(Options { cegar: cegar_options(args), search }),
    }
}

/// Reads the formulas of the command line and the model with them.
pub fn ask(request: &Request, subject: Subject) -> Cases {
    let p = &request.args.properties;
    if !p.properties.is_empty() || !p.errors.is_empty() || !p.labels.is_empty() || p.queries.is_some() {
        return Err(Error::Usage(
            "--property, --error, --labels and --queries: not together with --ltl or --buchi".into(),
        ));
    }
    let all = asks(&request.args, request.args.context.color)?;
    Ok(vec![Rc::new(task(request, subject, all)?)])
}

/// Formulas about a model. One that cannot be read leaves the others answered.
pub fn task(request: &Request, subject: Subject, asks: Vec<Ask>) -> Result<FormulaTask, Error> {
    let (args, language) = (&request.args, request.language.name);
    if args.model.period.is_some() && !matches!(subject, Subject::Gamma(_)) {
        return Err(Error::Usage("--period: only for composed statecharts".into()));
    }
    if !args.formulas.fair.is_empty() && !matches!(subject, Subject::Gamma(_)) {
        return Err(Error::Usage("--fair: only for networks of automata and composed statecharts".into()));
    }
    if args.formulas.ltl_step.is_some() && subject.step().is_none() {
        return Err(Error::Usage("--ltl-step: only for XSTS".into()));
    }
    let (mut understood, mut refused): (Vec<Understood>, Vec<String>) = (vec![], vec![]);
    let several = asks.len() > 1;
    for ask in asks {
        let text = ask.text().to_string();
        match Understood::read(ask, args, &subject, language, request.args.context.color) {
            Err(Error::Input(said)) if several => {
                args.context.note(format_args!("{}\n", said.trim_end()));
                refused.push(text);
            }
            read => understood.push(read?),
        }
    }
    if let Some(first) = understood.first() {
        args.context.note(diag::render(&first.asked.warnings, &first.sources, args.context.color));
    }
    let texts = understood.iter().map(|u| texts(language, &u.asked.subject.cfa, &u.sources)).collect();
    let (assumes, meaning) = match subject {
        Subject::C(_, assumes) => (assumes, c_meaning(&args.reading)),
        Subject::Gamma(options) => {
            let fair = args.formulas.fair.iter().map(|f| format!("only fair runs count: {f}")).collect();
            (fair, options.component.into_iter().map(|node| ("node".to_string(), node)).collect())
        }
        Subject::Nodes(_, node) => (vec![], vec![("node".to_string(), node)]),
        ref subject @ Subject::Xsts(_) => {
            let step = subject.step().map(|step| ("ltl-step".to_string(), step.to_string()));
            (vec![], step.into_iter().collect())
        }
        _ => (vec![], vec![]),
    };
    let engine = engine(args);
    Ok(FormulaTask { args: args.clone(), language, engine, understood, texts, refused, assumes, meaning })
}

/// A model, and formulas about its runs.
pub struct FormulaTask {
    args: Arc<Settings>,
    language: &'static str,
    engine: Engine,
    understood: Vec<Understood>,
    /// For each formula, the texts of the model's files, if runs are shown in lines of them.
    texts: Vec<Vec<Option<String>>>,
    refused: Vec<String>,
    assumes: Vec<String>,
    meaning: Vec<(String, String)>,
}

impl FormulaTask {
    /// With files of its own: `proof.json` as `proof-termination.json`.
    pub fn with_args(self, args: Settings) -> FormulaTask {
        FormulaTask { args: Arc::new(args), ..self }
    }

    fn program(&self, n: usize) -> Program<'_> {
        Program::new(&self.understood[n].asked.subject.cfa, &self.texts[n])
    }
}

/// A proof that the checker's solver cannot follow is no proof; evidence that is wrong is.
fn rejected(why: Wrong, meter: &Meter) -> Rejection {
    match (why, meter.go_on()) {
        (Wrong::Undecided(_), Err(stopped)) => Rejection::Stopped(stopped),
        (why @ (Wrong::Undecided(_) | Wrong::Unproven), _) => Rejection::Open(why.to_string()),
        (why, _) => Rejection::Wrong(why.to_string()),
    }
}

fn to_the_solver(n: usize) -> String {
    format!("{n} question{} to the solver", if n == 1 { "" } else { "s" })
}

impl Task for FormulaTask {
    type Trace = Counterexample;
    type Proof = Proof;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        self.language
    }

    fn inputs(&self) -> Vec<Input> {
        self.understood.first().map_or_else(Vec::new, |u| u.inputs.clone())
    }

    fn meaning(&self) -> Vec<(String, String)> {
        self.meaning.clone()
    }

    fn questions(&self) -> Vec<Question> {
        let question = |u: &Understood| {
            let (spec, terms) = (&u.asked.spec, &u.asked.subject.cfa.terms);
            let warnings = match &u.ask {
                Ask::Formula { text, .. } => warnings::of_linear(terms, &spec.atoms, &spec.names, &spec.formula, text),
                Ask::Forbidden { .. } => vec![],
            };
            u.ask.question(warnings)
        };
        self.understood.iter().map(question).collect()
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        let refused = |text: &String| (text.clone(), Unanswered::Refused("it cannot be read".into()));
        self.refused.iter().map(refused).collect()
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<LtlReport, Error> {
        let u = &self.understood[n];
        let Outcome { verdict, stats, by, .. } = answer(u, &self.engine, meter);
        let verdict = match plain(verdict) {
            Plain::Unsafe(run) => match &u.asked.composed {
                Some(composed) => match rounds::goes_on(composed, &run) {
                    Ok(()) => Plain::Unsafe(run),
                    Err(why) => Plain::Unknown(Reason::Unsupported(why)),
                },
                None => Plain::Unsafe(run),
            },
            verdict => verdict,
        };
        let verdict = match (&u.asked.chart, verdict) {
            (Some(chart), Plain::Unsafe(run)) => match statechart::fair(chart, &run) {
                Ok(()) => Plain::Unsafe(run),
                Err(why) => Plain::Unknown(Reason::Unsupported(why)),
            },
            (_, verdict) => verdict,
        };
        let mut report = LtlReport::about(&self.name(), self.language, u.ask.text(), u.ask.kind(), verdict);
        report.assumes.clone_from(&self.assumes);
        // A run of a chart is one whatever else its environment could do.
        if let (Some(chart), None) = (&u.asked.chart, &report.trace) {
            report.assumes.extend(statechart::assumes(chart));
        }
        report.engine = by.unwrap_or(self.engine).to_string();
        report.statistics = statistics(&stats);
        Ok(report)
    }

    fn replay(&self, n: usize, trace: &Counterexample, meter: &Meter) -> Result<String, Rejection> {
        let u = &self.understood[n];
        let (subject, claim) = (&u.asked.subject, u.claim());
        let violated = match u.ask.kind().class() {
            _ if u.is_forbidden() => "the automaton accepts it",
            Class::Existential => "it is what is asked for",
            _ => "the formula is false on it",
        };
        let said = match trace {
            Counterexample::Lasso(lasso) => checker::replay(subject, claim, lasso)
                .map(|()| format!("lasso of {} replayed, {violated}", steps(lasso.run.steps.len()))),
            Counterexample::Recurrence(r) => checker::certify_recurrence(subject, claim, r, meter)
                .map(|n| format!("beginning replayed, recurrent set checked: {}", to_the_solver(n))),
        };
        said.map_err(|why| rejected(why, meter))
    }

    fn certify(&self, n: usize, proof: &Proof, meter: &Meter) -> Result<String, Rejection> {
        let u = &self.understood[n];
        let done = checker::certify(&u.asked.subject, u.claim(), proof, meter).map_err(|why| rejected(why, meter))?;
        Ok(format!("{} checked: {done}", tell::summary(proof)))
    }

    fn accept(&self, n: usize, evidence: Evidence<&Counterexample, &Proof>) -> Result<(), Rejection> {
        if let Some(composed) = &self.understood[n].asked.composed {
            match evidence {
                Evidence::Trace(run) => rounds::goes_on(composed, run)?,
                Evidence::Proof(_) => rounds::never_mistaken(composed, &mut Meter::unlimited())?,
            }
            return Ok(());
        }
        let Some(chart) = &self.understood[n].asked.chart else { return Ok(()) };
        match evidence {
            Evidence::Trace(run) => Ok(statechart::fair(chart, run)?),
            // A proof about a statechart knows nothing of runs in which an event did not fit into a queue.
            Evidence::Proof(_) => Ok(statechart::never_too_short(chart, &mut Meter::unlimited())?),
        }
    }

    fn present(&self, n: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        let (program, u) = (self.program(n), &self.understood[n]);
        let formula = Formula { program: &program, asked: u.about() };
        match (&u.asked.chart, &u.asked.composed) {
            (Some(chart), _) => then(&ChartFormula { formula, chart }),
            (_, Some(composed)) => then(&ChartFormula { formula, chart: &**composed }),
            _ => then(&formula),
        }
    }

    fn proof_text(&self, _: usize, proof: &Proof) -> Option<(String, String)> {
        Some((tell::summary(proof), String::new()))
    }
}

/// Asks the engine; of a statechart first whether its queues are long enough.
fn answer(u: &Understood, engine: &Engine, meter: &mut Meter) -> Outcome {
    if let Some(chart) = &u.asked.chart
        && let Err(why) = statechart::never_too_short(chart, meter)
    {
        let verdict = Verdict::Unknown(Reason::Unsupported(why));
        return Outcome { verdict, stats: Default::default(), by: None };
    }
    if let Some(composed) = &u.asked.composed
        && let Err(why) = rounds::never_mistaken(composed, meter)
    {
        let verdict = Verdict::Unknown(Reason::Unsupported(why));
        return Outcome { verdict, stats: Default::default(), by: None };
    }
    trellis_engine::ltl::check(&u.asked.subject, &u.asked.spec.atoms, &u.automaton, engine, meter)
}

/// The verdict as reports have it.
fn plain(verdict: Verdict) -> Plain<Counterexample, Proof> {
    match verdict {
        Verdict::Holds(proof) => Plain::Safe(proof),
        Verdict::Violated(lasso) => Plain::Unsafe(Counterexample::Lasso(lasso)),
        Verdict::Diverges(recurrence) => Plain::Unsafe(Counterexample::Recurrence(Box::new(recurrence))),
        Verdict::Unknown(why) => Plain::Unknown(why),
    }
}
