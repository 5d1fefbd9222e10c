//! Composed statecharts (Gamma): read with all that they import, made an automaton, and asked like programs. Every run is also taken by the
//! interpreter of the language itself, cycle by cycle, before it is told.

pub mod cover;
pub mod rounds;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use trellis_engine::program::Engine;
use trellis_meter::Meter;
use trellis_model::cfa::Cfa;
use trellis_model::cfa::evidence::{Certificate, Trace, Verdict};
use trellis_model::evidence::Reason;
use trellis_report::json::{Input, read_binding};
use trellis_report::present::Drawing;
use trellis_report::program::text;
use trellis_report::{Kind, Program, ProgramReport, Style};
use trellis_syntax::diag::{self, Sources};
use trellis_syntax::gamma::encode::{Encoded, encode_watching};
use trellis_syntax::gamma::{self, Options, generated, properties};
use trellis_syntax::ltl::subject;

use super::formula::question::Ask;
use super::formula::{self, Subject};
use super::program::load::unread;
use super::program::statechart::{ChartView, Rounds};
use super::program::{self, chart::Walk};
use super::{Cases, Formalism, Language, Own, Profile, Request, Steps, boxed, by_name_only};
use crate::Error;
use crate::binding::c_inputs;
use crate::context::Context;
use crate::pipeline::{statistics, steps};
use crate::settings::{Convert, Engine as E, Model, Settings, Simulate, StateQuery};
use crate::task::{Presenter, Question, Rejection, Task, Unanswered};

/// Composed statecharts.
pub struct Compositions;

static LANGUAGES: [Language; 1] =
    [Language { name: "gamma", title: "composed statecharts, Gamma", extensions: &["gcd"], sniff: by_name_only }];

static PROFILE: Profile = Profile {
    who: "composed statecharts",
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
        ("node", &[]),
        ("period", &[]),
    ],
};

/// How the package is to be read.
pub fn options(model: &Model, component: Option<&String>) -> Options {
    Options {
        component: component.cloned(),
        constants: model.constants.clone(),
        period: model.period,
        ..Options::default()
    }
}

/// Reads a package, as an automaton.
pub fn read(model: &Model, component: Option<&String>, color: bool) -> Result<(Encoded, Sources, String), Error> {
    let mut sources = Sources::default();
    let read = sources.read(&model.model).map_err(|d| vec![d]);
    let read = read.and_then(|id| gamma::read_encoded(&mut sources, id, &options(model, component)));
    let (encoded, warnings) = read.map_err(|errors| unread("gamma", &errors, &sources, color))?;
    let warnings = diag::render(&warnings, &sources, color);
    Ok((encoded, sources, warnings))
}

/// Replays a file of execution traces.
pub fn replay(path: &Path, color: bool) -> Result<Vec<gamma::trace::Replayed>, Error> {
    if path.extension().is_none_or(|e| e != "get") {
        let what = format!("replay: {} is no execution trace (.get)", path.display());
        return Err(Error::Usage(format!("{what}; trellis certify checks evidence that check has written")));
    }
    let mut sources = Sources::default();
    let read = sources.read(path).map_err(|d| vec![d]).and_then(|id| gamma::trace::replay(&mut sources, id));
    read.map_err(|errors| Error::Input(diag::render(&errors, &sources, color)))
}

/// A question about states.
pub struct Asked {
    text: String,
    kind: Kind,
    encoded: Encoded,
}

impl Formalism for Compositions {
    fn languages(&self) -> &'static [Language] {
        &LANGUAGES
    }

    fn has_constants(&self, _: &Language) -> bool {
        true
    }

    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn own_queries(&self, _: &Language) -> Own {
        Own::States
    }

    fn plain_options(&self) -> &'static [&'static str] {
        &["period"]
    }

    fn ask(&self, request: &Request) -> Cases {
        let args = &request.args;
        let color = args.context.color;
        if let Some(text) = args.properties.properties.first() {
            let what =
                format!("--property `{text}`: write A[] p, E<> p, A<> p, E[] p or p --> q, or a formula with --ltl");
            return Err(Error::Usage(what));
        }
        if !args.properties.labels.is_empty() {
            return Err(Error::Usage("--labels: only for TChecker models".into()));
        }
        let (mut encoded, sources, warnings) = read(&args.model, args.nodes.node.as_ref(), color)?;
        args.context.note(warnings);
        let (mut states, mut formulas) = (args.properties.states.clone(), vec![]);
        if states.is_empty() || args.properties.queries.is_some() {
            let mut asked = vec![];
            let mut watched = vec![];
            for path in property_files(args, &encoded)? {
                if path.extension().is_some_and(|e| e == "prop") {
                    states.extend(generated_queries(&path, &encoded, &mut watched)?);
                } else {
                    asked.extend(property_file(&path, color)?);
                }
            }
            if !watched.is_empty() {
                let mut watching = encode_watching(encoded.system.clone(), &watched);
                watching.file.clone_from(&encoded.file);
                encoded = watching;
            }
            for p in asked {
                match p.states {
                    Some((condition, holds)) => states.push(StateQuery {
                        text: p.text,
                        condition,
                        holds,
                        kind: if holds { Kind::Possibly } else { Kind::Always },
                    }),
                    None => formulas.push(Ask::of_property(p.text, p.formula, p.exists)),
                }
            }
        }
        if states.is_empty() && formulas.is_empty() {
            let advice =
                "ask with --error, -p 'A[] …', --ltl or --pattern, or with properties in a file .gpd beside the model";
            return Err(Error::Nothing("gamma", advice.into()));
        }
        let inputs = c_inputs(&args.model.model, &sources);
        let mut cases: Vec<Rc<dyn crate::pipeline::Case>> = vec![];
        if !states.is_empty() {
            cases.push(Rc::new(task(args, &encoded, states, inputs)?));
        }
        if !formulas.is_empty() {
            cases.push(Rc::new(formula::task(request, self.subject(request)?, formulas)?));
        }
        Ok(cases)
    }

    fn subject(&self, request: &Request) -> Result<Subject, Error> {
        let mut options = options(&request.args.model, request.args.nodes.node.as_ref());
        for text in &request.args.formulas.fair {
            let names = match text.split_once(':') {
                Some(("environment", names)) => names.split(',').map(|n| n.trim().to_string()).collect(),
                None if text == "environment" => vec![],
                None if text == "time" => {
                    options.timely = true;
                    continue;
                }
                _ => {
                    let why =
                        format!("--fair {text}: expected time, environment, or environment:PORT.EVENT,PORT.EVENT");
                    return Err(Error::Usage(why));
                }
            };
            options.fair.get_or_insert_default().extend(names);
        }
        Ok(Subject::Gamma(options))
    }

    fn stepper(&self, args: &Simulate, _: &'static Language, trace: Option<&str>, context: &Context) -> Steps {
        let (mut encoded, _, warnings) = read(&args.model, None, context.color)?;
        context.note(warnings);
        // A trace is about a question, which decides where errors are.
        let claimed = trace.and_then(|t| read_binding(t).ok()).map(|(_, binding)| binding.property);
        if let Some((condition, holds)) = claimed.as_deref().and_then(about_states) {
            let mut sources = Sources::default();
            let id = sources.add("the condition", condition);
            let read = subject::composed_condition(&sources, id, &encoded);
            let (condition, mut cfa) =
                read.map_err(|errors| Error::Input(diag::render(&errors, &sources, context.color)))?;
            let good = if holds { cfa.terms.not(condition) } else { condition };
            encoded = encoded.asked(good, cfa);
        }
        boxed(Walk::new(encoded))
    }

    fn drawing(&self, args: &Convert, _: &'static Language, color: bool) -> Result<Drawing, Error> {
        let (encoded, _, _) = read(&args.model, None, color)?;
        Ok(Rounds::drawing(&encoded))
    }
}

/// The condition of a question about states, and whether it is looked for that it holds.
fn about_states(text: &str) -> Option<(String, bool)> {
    if let Some(bad) = text.strip_prefix("never ") {
        return Some((bad.to_string(), true));
    }
    match formula::question::parts(text)? {
        (Kind::Always, [p, _]) => Some((p, false)),
        (Kind::Possibly, [p, _]) => Some((p, true)),
        _ => None,
    }
}

/// The files of properties: the one that is given, or those beside the model that are about its component.
fn property_files(args: &Settings, encoded: &Encoded) -> Result<Vec<PathBuf>, Error> {
    if let Some(path) = &args.properties.queries {
        return Ok(vec![path.clone()]);
    }
    let folder = args.model.model.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).map_err(|e| Error::Input(format!("error: {}: {e}", folder.display())))?;
    let mut all: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "gpd"));
    all.sort();
    let about = |p: &PathBuf| {
        let text = std::fs::read_to_string(p).unwrap_or_default();
        let mut words = text.split_whitespace().skip_while(|w| *w != "component");
        words.nth(1) == Some(encoded.system.name.as_str())
    };
    all.retain(about);
    Ok(all)
}

/// Queries about the generated model. What cannot be understood is a condition that nobody can read, and says why.
fn generated_queries(
    path: &Path,
    encoded: &Encoded,
    watched: &mut Vec<(usize, usize)>,
) -> Result<Vec<StateQuery>, Error> {
    let complain = |why: String| Error::Input(format!("error: {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| complain(e.to_string()))?;
    let mut all = vec![];
    for q in generated::read(&encoded.system, &text).map_err(complain)? {
        for t in q.watched {
            if !watched.contains(&t) {
                watched.push(t);
            }
        }
        let kind = if q.exists { Kind::Possibly } else { Kind::Always };
        let condition = q.condition.unwrap_or_else(|why| format!("{UNREAD}{why}"));
        all.push(StateQuery { text: q.text, condition, holds: q.exists, kind });
    }
    Ok(all)
}

/// Begins the condition of a query that was not understood.
const UNREAD: &str = "not understood: ";

fn property_file(path: &Path, color: bool) -> Result<Vec<properties::Property>, Error> {
    let mut sources = Sources::default();
    let read = sources.read(path).map_err(|d| vec![d]).and_then(|id| properties::read(&sources, id));
    read.map_err(|errors| Error::Input(diag::render(&errors, &sources, color)))
}

/// Reads conditions, and makes an automaton for each.
fn task(args: &Arc<Settings>, encoded: &Encoded, all: Vec<StateQuery>, inputs: Vec<Input>) -> Result<Compound, Error> {
    let (mut asked, mut refused) = (vec![], vec![]);
    let several = all.len() > 1;
    for query in all {
        if let Some(why) = query.condition.strip_prefix(UNREAD) {
            args.context.note(format_args!("warning: {}: {why}\n", query.text));
            refused.push(query.text);
            continue;
        }
        let mut sources = Sources::default();
        let id = sources.add("the condition", query.condition.as_str());
        match subject::composed_condition(&sources, id, encoded) {
            Ok((condition, mut cfa)) => {
                let good = if query.holds { cfa.terms.not(condition) } else { condition };
                asked.push(Asked { text: query.text, kind: query.kind, encoded: encoded.asked(good, cfa) });
            }
            Err(errors) => {
                let why = diag::render(&errors, &sources, args.context.color);
                if !several {
                    return Err(Error::Input(why));
                }
                args.context.note(format_args!("{}\n", why.trim_end()));
                refused.push(query.text);
            }
        }
    }
    let engine = program::engine(args)?;
    Ok(Compound { args: args.clone(), name: args.model.model.display().to_string(), asked, refused, engine, inputs })
}

/// A composition, and questions about its states.
pub struct Compound {
    args: Arc<Settings>,
    name: String,
    asked: Vec<Asked>,
    refused: Vec<String>,
    engine: Engine,
    inputs: Vec<Input>,
}

impl Compound {
    fn cfa(&self, n: usize) -> &Cfa {
        &self.asked[n].encoded.cfa
    }
}

/// What the interpreter says about a run of the automaton: how many cycles it has.
pub fn interpreted(encoded: &Encoded, trace: &Trace) -> Result<usize, String> {
    let cycles = encoded.cycles(trace).ok_or("the run needs times that are no whole milliseconds")?;
    encoded.replay(&cycles)?;
    Ok(cycles.len())
}

/// Looks for a violation of a question. A mistake of the model is none, and keeps a proof away.
pub fn solve(encoded: &Encoded, engine: &Engine, meter: &mut Meter) -> trellis_engine::program::Outcome {
    let mut found = trellis_engine::program::check(&encoded.cfa, engine, meter);
    if ends_in_mistake(encoded, &found.verdict) {
        found = trellis_engine::program::check(&encoded.without_mistakes(), engine, meter);
        if !matches!(found.verdict, Verdict::Unsafe(_)) {
            found.verdict = Verdict::Unknown(Reason::Unsupported(rounds::MISTAKE.into()));
        }
    }
    if let Verdict::Unsafe(trace) = &found.verdict
        && let Err(why) = interpreted(encoded, trace)
    {
        found.verdict = Verdict::Unknown(Reason::Unsupported(format!("a run was found that is not replayed: {why}")));
    }
    found
}

fn ends_in_mistake(encoded: &Encoded, verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Unsafe(trace) => is_mistaken(encoded, trace),
        _ => false,
    }
}

fn is_mistaken(encoded: &Encoded, trace: &Trace) -> bool {
    trace.steps.last().is_some_and(|s| Some(encoded.cfa.edge(s.edge).to) == encoded.mistake)
}

impl Task for Compound {
    type Trace = Trace;
    type Proof = Certificate;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        "gamma"
    }

    fn inputs(&self) -> Vec<Input> {
        self.inputs.clone()
    }

    fn meaning(&self) -> Vec<(String, String)> {
        self.args.nodes.node.iter().map(|n| ("node".to_string(), n.clone())).collect()
    }

    fn questions(&self) -> Vec<Question> {
        self.asked.iter().map(|a| Question::plain(&a.text, a.kind, vec![])).collect()
    }

    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        self.refused.iter().map(|t| (t.clone(), Unanswered::Refused("it cannot be read".into()))).collect()
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<ProgramReport, Error> {
        let asked = &self.asked[n];
        let found = solve(&asked.encoded, &self.engine, meter);
        let mut report = ProgramReport::about(&self.name, "gamma", &asked.text, asked.kind, found.verdict);
        report.engine = program::engine_line(&found.by.unwrap_or(self.engine));
        report.statistics = statistics(&found.stats);
        Ok(report)
    }

    fn replay(&self, n: usize, trace: &Trace, _: &Meter) -> Result<String, Rejection> {
        let encoded = &self.asked[n].encoded;
        program::replay(self.cfa(n), trace)?;
        if is_mistaken(encoded, trace) {
            return Err(Rejection::Wrong(rounds::MISTAKE.into()));
        }
        let cycles = interpreted(encoded, trace).map_err(Rejection::Wrong)?;
        Ok(format!("run of {} replayed by the interpreter", steps(cycles)))
    }

    fn certify(&self, n: usize, proof: &Certificate, meter: &Meter) -> Result<String, Rejection> {
        program::certify(self.cfa(n), proof, meter)
    }

    fn present(&self, n: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        let program = Program::new(self.cfa(n), &[]);
        then(&ChartView { program, chart: &self.asked[n].encoded })
    }

    fn more_text(&self, n: usize, report: &ProgramReport, style: Style) -> String {
        let shown = report.certificate.as_ref().filter(|_| self.args.programs.show_invariant);
        shown.map_or_else(String::new, |c| text::invariant(&Program::new(self.cfa(n), &[]), c, style))
    }

    fn proof_text(&self, n: usize, proof: &Certificate) -> Option<(String, String)> {
        let program = Program::new(self.cfa(n), &[]);
        Some((text::summary(proof), text::invariant(&program, proof, Style::default())))
    }
}
