//! Questions about the states of a program: `A[] p`, `E<> p`, `--error p`, and whether it can be stuck (`deadlock`).
//!
//! A state is what a formula reads: of C, that after each statement, from the start of `main` on; of a control-flow automaton, after each edge;
//! of transition systems and statecharts as `--ltl` and `--property` have it. XSTS and SCXML have conditions of their own that must always hold,
//! so a question is one of these or its negation; other languages are watched ([`watch`]). A state counts even if an assumption blocks the run
//! after it.

use std::rc::Rc;

use trellis_engine::program::Engine;
use trellis_model::ltl::watch::{Watched, watch};
use trellis_report::Kind;
use trellis_syntax::diag::{self, Diagnostic, Sources, Span};
use trellis_syntax::ltl::subject;

use super::load::{Loaded, c_options, load, unread};
use super::{ProgramTask, Programs, c, c_meaning};
use crate::Error;
use crate::binding::c_inputs;
use crate::formalism::formula::Subject;
use crate::formalism::{Cases, Formalism, Request};
use crate::settings::{Properties, Settings, StateQuery};

/// The word for states from which no step leads on.
const DEADLOCK: &str = "deadlock";

/// Tasks for all questions about states, and for those of the language itself.
pub fn ask(request: &Request, engine: Engine) -> Cases {
    let (args, language) = (&request.args, request.language.name);
    let queries = &args.properties.states;
    let own = &args.properties.properties;
    if language == "c" && !own.is_empty() {
        let why = "--property: ask for checks of the program by name, and for states (A[], E<>), one after the other";
        return Err(Error::Usage(why.into()));
    }
    let mut loaded: Option<Loaded> = None;
    let mut kinds = vec![];
    if !own.is_empty() {
        let properties = Properties { states: vec![], ..args.properties.clone() };
        let all = load(&args.model, language, &args.reading, Some(&properties), args.context.color)?;
        kinds = vec![Kind::Always; all.questions.len()];
        loaded = Some(all);
    }
    for query in queries {
        let one = read(request, query);
        let mut one = match one {
            // One that cannot be read leaves the others answered.
            Err(Error::Input(why)) if queries.len() + own.len() > 1 => {
                args.context.note(format_args!("{}\n", why.trim_end()));
                let refused = vec![(query.text.clone(), why)];
                Loaded { refused, ..Loaded::empty(language, args.model.model.display().to_string()) }
            }
            one => one?,
        };
        if !one.questions.is_empty() {
            kinds.push(query.kind);
        }
        match &mut loaded {
            Some(all) => all.add(one),
            None => {
                args.context.note(std::mem::take(&mut one.warnings));
                loaded = Some(one);
            }
        }
    }
    let loaded = loaded.expect("something is asked");
    let task = ProgramTask::new(args.clone(), loaded, engine);
    let mut cases: Cases = Ok(vec![]);
    let (mut assumes, mut meaning) = (vec![], vec![]);
    if language == "c" {
        let scope = c_options(&args.model, &args.reading)?.1;
        (assumes, meaning) = (scope.assumes(), c_meaning(&args.reading));
        // What is undefined is no run of the program; whether there is any is asked separately.
        cases = c::undefined(&Request { args: plain(args).into(), language: request.language });
    }
    let mut cases = cases?;
    cases.insert(0, Rc::new(ProgramTask { kinds, assumes, meaning, ..task }));
    Ok(cases)
}

fn plain(args: &Settings) -> Settings {
    Settings { properties: Properties::default(), ..args.clone() }
}

/// A program that is asked one question.
fn read(request: &Request, query: &StateQuery) -> Result<Loaded, Error> {
    let (args, language) = (&request.args, request.language.name);
    let deadlock = deadlock(&query.condition);
    if ["xsts", "scxml"].contains(&language) && deadlock.is_none() {
        let condition = &query.condition;
        let always = if query.holds { format!("!({condition})") } else { condition.clone() };
        let properties = Properties { properties: vec![always], ..Properties::default() };
        let mut loaded = load(&args.model, language, &args.reading, Some(&properties), args.context.color)?;
        loaded.questions.iter_mut().for_each(|(name, _)| name.clone_from(&query.text));
        return Ok(loaded);
    }
    let path = &args.model.model;
    let mut sources = Sources::default();
    let fail = |errors: Vec<Diagnostic>, sources: &Sources| unread(language, &errors, sources, args.context.color);
    let model = sources.read(path).map_err(|d| fail(vec![d], &sources))?;
    let text = match deadlock {
        Some(_) => "true".to_string(),
        None if Programs.quoted_conditions(request.language) && !query.condition.contains('"') => {
            format!("\"{}\"", query.condition)
        }
        None => query.condition.clone(),
    };
    let atom = sources.add("the condition", text);
    let about = Programs.subject(request)?;
    if let (Subject::Scxml, Some(_)) = (&about, deadlock) {
        let why = format!("`{}`: a statechart waits for events; it has no deadlock", query.text);
        return Err(Error::Usage(why));
    }
    let asked = subject::read_with(&mut sources, model, &[atom], about.language()).map_err(|e| fail(e, &sources))?;
    let watched = match (deadlock, query.holds) {
        (Some(is), holds) if is == holds => Watched::Deadlock,
        (Some(_), _) => Watched::NoDeadlock,
        (None, true) => Watched::Holds(asked.spec.atoms[0]),
        (None, false) => Watched::Fails(asked.spec.atoms[0]),
    };
    let cfa = watch(asked.subject, watched).map_err(|why| {
        let span = Span { source: atom, start: 0, end: sources.get(atom).text.len() as u32 };
        fail(vec![Diagnostic::error(span, format!("`{}`: {why}", query.text))], &sources)
    })?;
    let warnings = diag::render(&asked.warnings, &sources, args.context.color);
    let inputs = c_inputs(path, &sources);
    let questions = vec![(query.text.clone(), cfa)];
    Ok(Loaded { questions, warnings, sources, inputs, ..Loaded::empty(language, path.display().to_string()) })
}

/// Is the condition `deadlock`, or that there is none?
fn deadlock(condition: &str) -> Option<bool> {
    let bare = condition.trim().trim_matches('"').trim();
    let is = |text: &str| text.trim().trim_start_matches('(').trim_end_matches(')').trim() == DEADLOCK;
    match bare.strip_prefix("not ").or_else(|| bare.strip_prefix('!')) {
        Some(rest) => is(rest).then_some(false),
        None => is(bare).then_some(true),
    }
}
