//! What is asked of the runs of a model: a formula that they must satisfy, or an automaton that must accept none of them.

use std::path::Path;

use trellis_check::ltl::{Claim, OfRuns};
use trellis_engine::ltl::translate::translate;
use trellis_model::ltl::{Buchi, Formula};
use trellis_report::Kind;
use trellis_report::json::Input;
use trellis_report::ltl::LtlAsked;
use trellis_syntax::diag::{self, Sources};
use trellis_syntax::hoa::{self, Hoa};
use trellis_syntax::ltl::subject::{self, Asked};

use super::{Subject, pattern};
use crate::Error;
use crate::binding::{c_inputs, model_input};
use crate::formalism::program::load::unread;
use crate::settings::Settings;
use crate::task::Question;

/// More marks leave none for letters.
const MAX_MARKS: u32 = 63;

/// What `--termination` asks, in words and as a formula about a C program.
pub const TERMINATION: &str = "every run ends";
const ENDS: &str = "F In(end)";

/// What a user asks.
#[derive(Clone)]
pub enum Ask {
    /// A formula, as it was written, and as a formula of linear temporal logic. A question about some run is the negation of one about all.
    Formula { text: String, formula: String, kind: Kind },
    /// The automaton of what must not be, with its file.
    Forbidden { file: String, hoa: Hoa, input: Input },
}

impl Ask {
    /// A formula of linear temporal logic.
    pub fn ltl(text: &str) -> Ask {
        let formula = if text == TERMINATION { ENDS } else { text };
        Ask::Formula { text: text.into(), formula: formula.into(), kind: Kind::Ltl }
    }

    /// A property that all runs have to have, or some.
    pub fn of_property(text: String, formula: String, exists: bool) -> Ask {
        match exists {
            true => Ask::Formula { text, formula: format!("!({formula})"), kind: Kind::PotentiallyAlways },
            false => Ask::Formula { text, formula, kind: Kind::Eventually },
        }
    }

    /// Reads an automaton.
    fn forbidden(path: &Path, err_color: bool) -> Result<Ask, Error> {
        let mut sources = Sources::default();
        let read = sources.read(path).map_err(|d| vec![d]).and_then(|id| hoa::read(&sources, id));
        let hoa = read.map_err(|errors| Error::Input(diag::render(&errors, &sources, err_color)))?;
        if hoa.automaton.marks > MAX_MARKS {
            return Err(Error::Usage(format!("{}: at most {MAX_MARKS} acceptance sets", path.display())));
        }
        Ok(Ask::Forbidden { file: path.display().to_string(), hoa, input: model_input(path, &sources) })
    }

    /// In words.
    pub fn text(&self) -> &str {
        match self {
            Ask::Formula { text, .. } | Ask::Forbidden { file: text, .. } => text,
        }
    }

    /// What kind of question it is.
    pub fn kind(&self) -> Kind {
        match self {
            Ask::Formula { kind, .. } => *kind,
            Ask::Forbidden { .. } => Kind::Ltl,
        }
    }

    /// As evidence has it: nothing that a query could be, unless it is one.
    fn property(&self) -> String {
        match self {
            Ask::Formula { text, kind: Kind::Ltl, .. } => format!("LTL {text}"),
            Ask::Formula { text, .. } => text.clone(),
            Ask::Forbidden { input, .. } => format!("LTL never {}", input.name),
        }
    }

    /// As the pipeline has it.
    pub fn question(&self, warnings: Vec<String>) -> Question {
        let inputs = match self {
            Ask::Formula { .. } => vec![],
            Ask::Forbidden { input, .. } => vec![input.clone()],
        };
        Question {
            text: self.text().into(),
            property: self.property(),
            kind: self.kind(),
            warnings,
            inputs,
            recorded: None,
        }
    }
}

/// What the command line asks.
pub fn asks(args: &Settings, color: bool) -> Result<Vec<Ask>, Error> {
    let mut all: Vec<Ask> = args.formulas.ltl.iter().map(|text| Ask::ltl(text)).collect();
    for text in &args.formulas.pattern {
        let formula = pattern::formula(text).map_err(|why| Error::Usage(format!("--pattern `{text}`: {why}")))?;
        all.push(Ask::Formula { text: text.clone(), formula, kind: Kind::Ltl });
    }
    if let Some(path) = &args.formulas.buchi {
        all.push(Ask::forbidden(path, color)?);
    }
    Ok(all)
}

/// A question, understood.
pub struct Understood {
    pub ask: Ask,
    pub asked: Asked,
    /// The automaton of what must not be.
    pub automaton: Buchi,
    pub sources: Sources,
    /// What the model was read from.
    pub inputs: Vec<Input>,
}

impl Understood {
    /// Reads a model with what is asked of it.
    pub fn read(
        ask: Ask,
        args: &Settings,
        subject: &Subject,
        language: &'static str,
        color: bool,
    ) -> Result<Understood, Error> {
        let path = &args.model.model;
        let mut sources = Sources::default();
        let read = sources.read(path).map_err(|d| vec![d]).and_then(|model| match &ask {
            Ask::Formula { formula, .. } => {
                let formula = sources.add("--ltl", formula.as_str());
                subject::read(&mut sources, model, formula, subject.language())
            }
            Ask::Forbidden { file, hoa, .. } => {
                let named = |atom: &String| sources.add(format!("AP of {file}"), atom.as_str());
                let atoms: Vec<_> = hoa.atoms.iter().map(named).collect();
                subject::read_with(&mut sources, model, &atoms, subject.language())
            }
        });
        let asked = read.map_err(|errors| unread(language, &errors, &sources, color))?;
        let automaton = match &ask {
            Ask::Formula { .. } => translate(&Formula::Not(Box::new(asked.spec.formula.clone())))
                .map_err(|why| Error::Usage(format!("--ltl: {why}")))?,
            Ask::Forbidden { hoa, .. } => hoa.automaton.clone(),
        };
        let inputs = c_inputs(path, &sources);
        Ok(Understood { ask, asked, automaton, sources, inputs })
    }

    /// Was the automaton given, not a formula?
    pub fn is_forbidden(&self) -> bool {
        matches!(self.ask, Ask::Forbidden { .. })
    }

    /// What evidence must show.
    pub fn claim(&self) -> Claim<'_> {
        match self.is_forbidden() {
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

/// What a query asks, and its conditions.
pub fn parts(text: &str) -> Option<(Kind, [String; 2])> {
    let text = text.trim();
    let prefixes =
        [("A[]", Kind::Always), ("E<>", Kind::Possibly), ("A<>", Kind::Eventually), ("E[]", Kind::PotentiallyAlways)];
    for (prefix, kind) in prefixes {
        if let Some(p) = text.strip_prefix(prefix) {
            return Some((kind, [p.trim().into(), String::new()]));
        }
    }
    let (p, q) = text.split_once("-->")?;
    Some((Kind::LeadsTo, [p.trim().into(), q.trim().into()]))
}
