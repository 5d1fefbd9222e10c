//! Formalisms: what a model can be. Each says which languages it is written in, which engines answer questions about it and with which
//! options, and makes tasks ([`crate::task`]) of what is asked; [`crate::registry`] is the list of them.
//!
//! The only place that knows how a file is called is a [`Language`].

pub mod channel;
pub mod counter;
pub mod formula;
pub mod gamma;
pub mod hierarchy;
pub mod network;
pub mod program;
pub mod tree;

/// All that a formalism of one's own needs: `use trellis::formalism::prelude::*;`.
///
/// ```
/// use trellis::formalism::prelude::*;
///
/// /// A lamp, in words: this is enough for `simulate` to walk through it.
/// struct Lamp;
///
/// impl Walkable for Lamp {
///     type State = bool;
///     type Action = &'static str;
///     fn next(&self, lit: &bool) -> Result<Vec<(&'static str, bool)>, StepError> {
///         Ok(vec![("press", !lit)])
///     }
///     fn values(&self, lit: &bool) -> Values {
///         Values::from_iter([("lit".into(), (*lit).into())])
///     }
///     fn step(&self, _: &bool, action: &&'static str, _: &bool) -> Step {
///         Step { label: action.to_string(), ..Step::default() }
///     }
///     fn retrace(&mut self, _: &str) -> Result<Walked<Self>, StepError> {
///         Err(StepError::refused("lamps write no traces"))
///     }
/// }
///
/// let run = Walkable::run(&Lamp, &[false, true], &["press"]);
/// assert_eq!(run.steps[0].label, "press");
/// ```
pub mod prelude {
    pub use std::rc::Rc;
    pub use std::sync::Arc;

    pub use serde_json::value::RawValue;
    pub use serde_json::{Value, json};
    pub use trellis_meter::Meter;
    pub use trellis_model::evidence::{Reason, Verdict};
    pub use trellis_report::json::Input;
    pub use trellis_report::present::{Body, Drawing, DrawnEdge, DrawnNode, NodeShape, Present, ProofKind};
    pub use trellis_report::run::{Part, Run, Step, Values};
    pub use trellis_report::step::{Error as StepError, Stepper, Trail, Walkable, Walked, read_trace};
    pub use trellis_report::{Kind, ReadError};

    pub use super::formula::Subject;
    pub use super::{Cases, Formalism, Language, Own, Profile, Request, Steps, boxed, by_name_only};
    pub use crate::context::Context;
    pub use crate::listed::Listed;
    pub use crate::pipeline::{statistics, steps as count_steps};
    pub use crate::settings::{Convert, Engine, Format, Settings, Simulate};
    pub use crate::task::{Presenter, Question, Rejection, Report, Task};
    pub use crate::{Error, System, binding, reach};
}

use std::rc::Rc;
use std::sync::Arc;

use trellis_report::present::Drawing;
use trellis_report::step::{self, Stepper};

use crate::Error;
use crate::context::Context;
use crate::formalism::formula::Subject;
use crate::pipeline::Case;
use crate::settings::{Convert, Engine, Settings, Simulate, value_name};

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
pub type Cases = Result<Vec<Rc<dyn Case>>, Error>;
/// A walk through a model.
pub type Steps = Result<Box<dyn Stepper>, Error>;

/// Which questions of the common language (`A[] p`, `E<> p`, …, `--error p`) a formalism answers itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// All.
    All,
    /// `A[] p` (as `p`), `E<> p` and `--error p`.
    Reachability,
    /// `A[] p`, `E<> p` and `--error p`, as [`StateQuery`](crate::settings::StateQuery).
    States,
    /// `--error p`.
    Errors,
    /// None of them.
    None,
}

/// What a model can be.
pub trait Formalism: Sync {
    /// The languages it is written in.
    fn languages(&self) -> &'static [Language];
    /// Do models have constants that `--const` sets?
    fn has_constants(&self, _language: &Language) -> bool {
        false
    }
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
    /// Which questions of the common language it answers itself; the others become formulas.
    fn own_queries(&self, _language: &Language) -> Own {
        Own::None
    }
    /// Do formulas have conditions in the model's own language, between quotes?
    fn quoted_conditions(&self, _language: &Language) -> bool {
        false
    }
    /// A walk through the model, by the reference interpreter. A trace that is to be replayed says which question of the model it is
    /// about: that decides where errors are.
    fn stepper(&self, args: &Simulate, language: &'static Language, trace: Option<&str>, context: &Context) -> Steps;
    /// Options of `convert` and `simulate` that it has.
    fn plain_options(&self) -> &'static [&'static str] {
        &[]
    }
    /// The model as a picture.
    fn drawing(&self, args: &Convert, language: &'static Language, color: bool) -> Result<Drawing, Error>;
    /// The model in a form that is no picture.
    fn convert(&self, args: &Convert, _language: &'static Language, _color: bool) -> Result<String, Error> {
        let (who, to) = (self.profile().who, value_name(args.to));
        Err(Error::Usage(format!("--to {to}: {who} are only written as pictures: --to svg or --to dot")))
    }
}

/// A stepper that could be made, or why not.
pub fn boxed<S: Stepper + 'static>(stepper: Result<S, step::Error>) -> Steps {
    match stepper {
        Ok(stepper) => Ok(Box::new(stepper)),
        Err(why @ step::Error::Model(_)) => Err(Error::Input(why.to_string())),
        Err(why) => Err(Error::Input(format!("error: {why}"))),
    }
}
