//! Walks through programs, automata, transition systems and statecharts.

use std::borrow::Cow;

use trellis_model::cfa::Cfa;
use trellis_report::json::read_binding;
use trellis_report::step::Stepper;
use trellis_report::step::program::ProgramStepper;
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::{scxml, xsts};

use super::chart::Walk;
use super::labels::LabelStepper;
use super::load::{Loaded, load};
use crate::Error;
use crate::context::Context;
use crate::formalism::{Language, boxed};
use crate::settings::{Properties, Simulate};

/// Opens a model. A trace is about one of its questions, or about one that was asked on the command line.
pub fn open(
    args: &Simulate,
    language: &'static Language,
    trace: Option<&str>,
    context: &Context,
) -> Result<Box<dyn Stepper>, Error> {
    let color = context.color;
    let claimed = trace.and_then(|t| read_binding(t).ok()).map(|(_, binding)| binding.property);
    let with = |properties| load(&args.model, language.name, &args.reading, properties, color);
    let mut loaded = match with(None) {
        // A model that asks nothing can be walked through all the same.
        Err(Error::Nothing("xsts", _)) => {
            let mut sources = Sources::default();
            let id = sources.read(&args.model.model).map_err(|d| Error::Input(render(&[d], &sources, color)))?;
            let (xsts, warnings) =
                xsts::parse_system(&sources, id).map_err(|d| Error::Input(render(&d, &sources, color)))?;
            context.note(render(&warnings, &sources, color));
            return walk(xsts.cfa, vec![], args);
        }
        read => read?,
    };
    if let Some(asked) = &loaded.program {
        loaded.questions = vec![asked.claimed(claimed.as_deref())];
    }
    let named =
        |loaded: &Loaded| claimed.as_ref().and_then(|c| loaded.questions.iter().position(|(name, _)| name == c));
    let mut at = named(&loaded);
    if let (Some(claimed), None, None) = (&claimed, at, &loaded.program) {
        let asked = Properties { properties: vec![claimed.clone()], ..Properties::default() };
        if let Ok(other) = with(Some(&asked)) {
            (loaded, at) = (other, Some(0));
        }
    }
    context.note(&loaded.warnings);
    let at = at.unwrap_or(0);
    if at < loaded.charts.len() && args.symbolic {
        return Err(Error::Usage("--symbolic: statecharts are walked through in states only".into()));
    }
    if at < loaded.charts.len() {
        // Without a trace no property is asked, and nothing stops a walk.
        if trace.is_none() {
            let mut sources = Sources::default();
            let id = sources.read(&args.model.model).map_err(|d| Error::Input(render(&[d], &sources, color)))?;
            let (chart, _) =
                scxml::parse_system(&sources, id).map_err(|d| Error::Input(render(&d, &sources, color)))?;
            return boxed(Walk::new(chart));
        }
        return boxed(Walk::new(loaded.charts.swap_remove(at)));
    }
    if loaded.questions.len() > 1 {
        context.note(format_args!("note: of several properties, errors are about `{}`\n", loaded.questions[at].0));
    }
    let texts = loaded.texts(&loaded.questions[at].1);
    let (_, cfa) = loaded.questions.swap_remove(at);
    walk(cfa, texts, args)
}

/// A walk in states, or in labels of predicates.
fn walk(cfa: Cfa, texts: Vec<Option<String>>, args: &Simulate) -> Result<Box<dyn Stepper>, Error> {
    match args.symbolic {
        true => boxed(LabelStepper::new(cfa, texts)),
        false => Ok(Box::new(ProgramStepper::new(Cow::Owned(cfa), texts))),
    }
}
