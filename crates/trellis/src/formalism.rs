//! Formalisms: what a model can be. Each says which languages it is written in, which engines answer questions about it and with which
//! options, and makes tasks ([`crate::task`]) of what is asked; [`ALL`] is the list of them, and nothing else in the program knows one by name.
//!
//! The only place that knows how a file is called is a [`Language`].

pub mod counter;
pub mod formula;
pub mod hierarchy;
pub mod network;
pub mod program;
pub mod tree;

use std::path::Path;
use std::sync::Arc;

use trellis_report::step::{self, Stepper};

use crate::context::Context;
use crate::formalism::formula::Subject;
use crate::pipeline::Case;
use crate::queries::{self, Own};
use crate::settings::{Convert, Engine, Model, Settings, Simulate};
use crate::{Error, options};

/// A language that models are written in.
pub struct Language {
    /// As reports call it.
    pub name: &'static str,
    /// As people call it.
    pub title: &'static str,
    /// What file names end in, without the dot.
    pub extensions: &'static [&'static str],
    /// Does a text look like it? For files whose names do not tell.
    pub sniff: fn(&str) -> bool,
}

/// Texts of this language are known by their file's name alone.
pub fn by_name_only(_: &str) -> bool {
    false
}

/// Which options go with a kind of question about a formalism: data, so that one mechanism refuses all others.
pub struct Profile {
    /// About what, for messages: `counter systems`.
    pub who: &'static str,
    /// The engines.
    pub engines: &'static [Engine],
    /// The options, each with the engines that have it; any engine if there is none in its list.
    pub options: &'static [(&'static str, &'static [Engine])],
}

/// What is asked, and where it is found: what making a task needs.
pub struct Request {
    pub args: Arc<Settings>,
    pub language: &'static Language,
}

/// Tasks, one after the other.
pub type Cases = Result<Vec<Arc<dyn Case>>, Error>;

/// What a model can be.
pub trait Formalism: Sync {
    /// The languages it is written in.
    fn languages(&self) -> &'static [Language];
    /// Options of questions about states.
    fn profile(&self) -> &'static Profile;
    /// Options of formulas of linear temporal logic.
    fn formula_profile(&self) -> &'static Profile {
        &formula::PROFILE
    }
    /// Reads the model and what it is asked.
    fn ask(&self, request: &Request) -> Cases;
    /// Reads the model and formulas about its runs.
    fn ask_formulas(&self, request: &Request) -> Cases {
        formula::ask(request, self.subject(request)?)
    }
    /// The model as formulas of linear temporal logic speak of it.
    fn subject(&self, request: &Request) -> Result<Subject, Error>;
    /// Which questions of the common language ([`crate::queries`]) it answers itself.
    fn own_queries(&self, _language: &Language) -> Own {
        Own::None
    }
    /// A walk through the model, by the reference interpreter. A trace that is to be replayed says which question of the model it is
    /// about: that decides where errors are.
    fn stepper(
        &self,
        args: &Simulate,
        language: &'static Language,
        trace: Option<&str>,
        context: &Context,
    ) -> Result<Box<dyn Stepper>, Error>;
    /// Options of `convert` and `simulate` that it has.
    fn plain_options(&self) -> &'static [&'static str] {
        &[]
    }
    /// The model in another form.
    fn convert(&self, args: &Convert, language: &'static Language, color: bool) -> Result<String, Error>;
}

/// All formalisms.
pub static ALL: [&dyn Formalism; 5] =
    [&network::Networks, &program::Programs, &counter::Counters, &hierarchy::Hierarchies, &tree::Trees];

/// The formalism and the language of a file: by its name, or by a look into it.
pub fn of(path: &Path) -> Result<(&'static dyn Formalism, &'static Language), Error> {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let ends = |e: &&str| name.strip_suffix(*e).is_some_and(|stem| stem.ends_with('.') && stem.len() > 1);
    let all = || ALL.iter().flat_map(|f| f.languages().iter().map(move |l| (*f, l)));
    if let Some(found) = all().find(|(_, l)| l.extensions.iter().any(&ends)) {
        return Ok(found);
    }
    let text = std::fs::read(path).map_err(|e| Error::Input(format!("error: {}: {e}", path.display())))?;
    let text = String::from_utf8_lossy(&text);
    if let Some(found) = all().find(|(_, l)| (l.sniff)(&text)) {
        return Ok(found);
    }
    let known: Vec<String> = all()
        .map(|(_, l)| {
            format!("{} ({})", l.title, l.extensions.iter().map(|e| format!(".{e}")).collect::<Vec<_>>().join(", "))
        })
        .collect();
    let what = match path.extension().and_then(|e| e.to_str()) {
        Some("q") => {
            format!("it is a file of queries; give the model first: trellis check MODEL --queries {}", path.display())
        }
        Some(e) => format!("its name ends in `.{e}`"),
        None => "its name has no extension".into(),
    };
    Err(Error::Usage(format!(
        "cannot tell the language of {}: {what}. Trellis reads {}",
        path.display(),
        known.join(", ")
    )))
}

/// The language that a text looks like.
pub fn sniffed(text: &str) -> Option<&'static Language> {
    ALL.iter().flat_map(|f| f.languages()).find(|l| (l.sniff)(text))
}

/// The tasks of a command line.
pub fn tasks(args: Arc<Settings>) -> Cases {
    let (formalism, language) = of(&args.model.model)?;
    if formula::is_asked(&args) {
        options::refuse(&args, formalism.formula_profile(), language)?;
        return formalism.ask_formulas(&Request { args, language });
    }
    let (own, asks) = queries::split(&args, formalism.own_queries(language));
    if asks.is_empty() {
        options::refuse(&args, formalism.profile(), language)?;
        return formalism.ask(&Request { args, language });
    }
    let mut cases: Vec<Arc<dyn Case>> = vec![];
    if !own.properties.properties.is_empty() || !own.properties.errors.is_empty() {
        options::refuse(&own, formalism.profile(), language)?;
        cases = formalism.ask(&Request { args: Arc::new(own), language })?;
    } else {
        options::refuse(&args, formalism.formula_profile(), language)?;
    }
    let request = Request { args, language };
    cases.push(Arc::new(formula::task(&request, formalism.subject(&request)?, asks)?));
    Ok(cases)
}

/// A stepper that could be made, or why not.
fn boxed<S: Stepper + 'static>(stepper: Result<S, step::Error>) -> Result<Box<dyn Stepper>, Error> {
    match stepper {
        Ok(stepper) => Ok(Box::new(stepper)),
        Err(why @ step::Error::Model(_)) => Err(Error::Input(why.to_string())),
        Err(why) => Err(Error::Input(format!("error: {why}"))),
    }
}

/// Refuses `--const` where a language has no constants.
pub fn no_constants(model: &Model) -> Result<(), Error> {
    match model.constants.is_empty() {
        true => Ok(()),
        false => Err(Error::Usage("--const: only UPPAAL and AltaRica models have constants that can be set".into())),
    }
}
