//! A model as a page shows it: its text, its picture, what it is asked.

use std::path::Path;
use std::sync::Arc;

use trellis_report::page::{self, Page};
use trellis_report::present::Drawing;

use crate::formalism::{Formalism, Language};
use crate::settings::{Convert, Format, Settings, Simulate};
use crate::{Error, registry};

/// Longer texts are not shown.
const MAX_SOURCE: u64 = 2 << 20;

/// A model, as far as it can be read: what is wrong with it is part of what is shown.
pub fn model(args: &Arc<Settings>) -> page::Model {
    let path = &args.model.model;
    let mut model = page::Model { name: path.display().to_string(), source: source(path), ..page::Model::default() };
    match fill(args, &mut model) {
        Ok(()) => {}
        Err(Error::Nothing(_, advice)) => model.advice = Some(advice),
        Err(error) => model.error = Some(error.to_string()),
    }
    model
}

fn fill(args: &Arc<Settings>, model: &mut page::Model) -> Result<(), Error> {
    let (formalism, language) = registry::of_model(&args.model)?;
    (model.language, model.title) = (language.name.into(), language.title.into());
    let cases = registry::tasks(args.clone());
    for case in cases.iter().flatten() {
        let asked = case.questions().into_iter().map(|q| page::Question { text: q.text, kind: q.kind.symbol() });
        model.questions.extend(asked);
        for report in case.unanswered() {
            model.refused.extend(page::Answer::plain(&report).map(|a| a.report));
        }
    }
    model.drawing = drawing(args, formalism, language, &model.questions)?;
    cases.map(|_| ())
}

/// The picture of a model. Some formalisms draw a model only with a question; then any will do.
fn drawing(
    args: &Settings,
    formalism: &dyn Formalism,
    language: &'static Language,
    questions: &[page::Question],
) -> Result<Drawing, Error> {
    let draw = |property: Option<String>| {
        let (model, reading) = (args.model.clone(), args.reading.clone());
        let convert = Convert {
            given: vec![],
            model,
            to: Format::Dot,
            output: None,
            reading,
            blocks: false,
            property,
            instance: None,
        };
        formalism.drawing(&convert, language, false)
    };
    let asked = questions.first().map_or("true", |q| &q.text);
    draw(None).or_else(|why| draw(Some(asked.into())).or(draw(Some("true".into()))).map_err(|_| why))
}

/// The options of a walk that go with those of a check.
pub fn simulate(args: &Settings) -> Simulate {
    Simulate {
        given: vec![],
        model: args.model.clone(),
        trace: None,
        random: None,
        seed: 1,
        symbolic: false,
        reading: args.reading.clone(),
        instance: None,
        node: args.nodes.node.clone(),
    }
}

fn source(path: &Path) -> String {
    match std::fs::metadata(path) {
        Ok(m) if m.len() <= MAX_SOURCE => {
            std::fs::read(path).map_or_else(|_| String::new(), |text| String::from_utf8_lossy(&text).into_owned())
        }
        _ => String::new(),
    }
}

/// Answers as a page of their own.
pub fn frozen(args: &Settings, answers: Vec<page::Answer>) -> String {
    let (args, tool) = (Arc::new(args.clone()), concat!("trellis ", env!("CARGO_PKG_VERSION")).into());
    Page { live: false, tool, model: Some(model(&args)), answers }.html()
}
