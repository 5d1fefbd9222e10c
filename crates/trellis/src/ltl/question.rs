//! What is asked of the runs of a model: a formula that they must satisfy, or an automaton that must accept none of them.

use std::path::Path;

use trellis_check::ltl::{Claim, OfRuns};
use trellis_engine::ltl::translate::translate;
use trellis_model::ltl::{Buchi, Formula};
use trellis_report::json::Input;
use trellis_report::ltl::LtlAsked;
use trellis_syntax::c::{self, Kinds};
use trellis_syntax::diag::{self, Sources};
use trellis_syntax::hoa::{self, Hoa};
use trellis_syntax::ltl::subject::{self, Asked, Language, Moment};

use crate::Failure;
use crate::automaton::{c_options, not_c, unread};
use crate::binding::{c_inputs, model_input};
use crate::cli::{LtlStep, Model, Reading};
use crate::{counter, hierarchy, tree};

/// More marks leave none for letters.
const MAX_MARKS: u32 = 63;

/// What a user asks.
pub enum Ask {
    /// A formula.
    Formula(String),
    /// The automaton of what must not be, with its file.
    Forbidden(String, Hoa, Input),
}

/// What `--termination` asks, in words and as a formula about a C program.
pub const TERMINATION: &str = "every run ends";
const ENDS: &str = "F In(end)";

impl Ask {
    /// Reads an automaton.
    pub fn forbidden(path: &Path, err_color: bool) -> Result<Ask, Failure> {
        let mut sources = Sources::default();
        let read = sources.read(path).map_err(|d| vec![d]).and_then(|id| hoa::read(&sources, id));
        let hoa = read.map_err(|errors| Failure::Input(diag::render(&errors, &sources, err_color)))?;
        if hoa.automaton.marks > MAX_MARKS {
            return Err(Failure::Usage(format!("{}: at most {MAX_MARKS} acceptance sets", path.display())));
        }
        Ok(Ask::Forbidden(path.display().to_string(), hoa, model_input(path, &sources)))
    }

    /// In words.
    pub fn text(&self) -> &str {
        match self {
            Ask::Formula(text) | Ask::Forbidden(text, ..) => text,
        }
    }
}

impl Ask {
    /// As evidence has it: nothing that a query could be.
    pub fn property(&self) -> String {
        match self {
            Ask::Formula(text) => format!("LTL {text}"),
            Ask::Forbidden(_, _, file) => format!("LTL never {}", file.name),
        }
    }

    /// What it was read from.
    pub fn input(&self) -> Option<Input> {
        match self {
            Ask::Formula(_) => None,
            Ask::Forbidden(_, _, file) => Some(file.clone()),
        }
    }
}

/// A question, understood.
pub struct Question {
    pub asked: Asked,
    /// The automaton of what must not be.
    pub automaton: Buchi,
    /// Was the automaton given, not a formula?
    pub is_forbidden: bool,
    pub sources: Sources,
    /// The language of the model, as reports call it.
    pub language: &'static str,
    /// What the model and the question were read from.
    pub inputs: Vec<Input>,
    /// What the user said that is assumed.
    pub assumes: Vec<String>,
}

impl Question {
    pub fn read(
        ask: &Ask,
        model: &Model,
        reading: &Reading,
        step: Option<LtlStep>,
        err_color: bool,
    ) -> Result<Question, Failure> {
        let path = &model.model;
        if !model.constants.is_empty() && !hierarchy::is_one(path) {
            return Err(Failure::Usage(
                "--const: only UPPAAL and AltaRica models have constants that can be set".into(),
            ));
        }
        let mut assumes = vec![];
        let options = match path.extension().and_then(|e| e.to_str()) {
            // What is undefined is no run that a formula speaks of; whether there is any is asked separately.
            Some("c" | "i") => {
                let (options, scope) = c_options(path, reading)?;
                assumes = scope.assumes();
                c::Options { checks: Kinds::ASSERTIONS, ..options }
            }
            _ => c::Options::default(),
        };
        let full = step == Some(LtlStep::Full);
        let mut sources = Sources::default();
        let (system, built, file);
        let (name, language) = match path.extension().and_then(|e| e.to_str()) {
            Some("c" | "i") => ("c", Language::C(&options)),
            Some("xsts") => ("xsts", Language::Xsts(if full { Moment::Full } else { Moment::Half })),
            Some("sts" | "system") => ("sts", Language::Sts),
            Some("scxml") => ("scxml", Language::Scxml),
            _ if counter::is_one(path) => {
                system = counter::load(model, &counter::Asked { color: err_color, ..Default::default() })?.system;
                ("counters", Language::Counters(&system))
            }
            _ if hierarchy::is_one(path) => {
                built = hierarchy::top(&mut sources, model, None, err_color)?;
                ("altarica", Language::Nodes(&built))
            }
            _ if tree::is_one(path) => {
                file = tree::load(path)?;
                ("hierarchy", Language::Tree(&file.tree))
            }
            _ => ("cfa", Language::Cfa),
        };
        if name != "c" {
            not_c(reading)?;
        }
        if step.is_some() && name != "xsts" {
            return Err(Failure::Usage("--ltl-step: only for XSTS".into()));
        }
        let read = sources.read(path).map_err(|d| vec![d]).and_then(|model| match ask {
            Ask::Formula(text) => {
                let meant = if name == "c" && text == TERMINATION { ENDS } else { text.as_str() };
                let formula = sources.add("--ltl", meant);
                subject::read(&mut sources, model, formula, language)
            }
            Ask::Forbidden(file, hoa, _) => {
                let named = |atom: &String| sources.add(format!("AP of {file}"), atom.as_str());
                let atoms: Vec<_> = hoa.atoms.iter().map(named).collect();
                subject::read_with(&mut sources, model, &atoms, language)
            }
        });
        let asked = read.map_err(|errors| unread(name, &errors, &sources, err_color))?;
        let automaton = match ask {
            Ask::Formula(_) => translate(&Formula::Not(Box::new(asked.spec.formula.clone())))
                .map_err(|why| Failure::Usage(format!("--ltl: {why}")))?,
            Ask::Forbidden(_, hoa, _) => hoa.automaton.clone(),
        };
        let is_forbidden = matches!(ask, Ask::Forbidden(..));
        let mut inputs = c_inputs(path, &sources);
        inputs.extend(ask.input());
        Ok(Question { asked, automaton, is_forbidden, sources, language: name, inputs, assumes })
    }

    /// What evidence must show.
    pub fn claim(&self) -> Claim<'_> {
        match self.is_forbidden {
            true => Claim { atoms: &self.asked.spec.atoms, of_runs: OfRuns::Avoid(&self.automaton) },
            false => Claim::from(&self.asked.spec),
        }
    }

    /// What evidence says that it is about.
    pub fn about(&self) -> LtlAsked<'_> {
        LtlAsked {
            subject: &self.asked.subject,
            atoms: &self.asked.spec.atoms,
            names: &self.asked.spec.names,
            automaton: &self.automaton,
        }
    }
}
