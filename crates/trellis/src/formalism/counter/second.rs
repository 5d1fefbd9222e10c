//! Counter systems whose rules have upper bounds, asked once more. The engines for counter systems let processes get lost there, or keep the
//! numbers that are tested as they are; neither need come to an answer (`x = 0 -> …` where `x` only grows). The same question is a formula (no
//! state is bad), which abstractions of programs may answer: they have a turn if the others did not succeed in theirs.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use trellis_model::counter::{System, Vector};
use trellis_report::{Kind, Outcome, Style, page};

use super::CounterTask;
use crate::Error;
use crate::certify::{Given, Judged};
use crate::formalism::Request;
use crate::formalism::formula::question::Ask;
use crate::formalism::formula::{self, FormulaTask, Subject};
use crate::pipeline::{Answer, Case, Sink, Summary};
use crate::task::Question;

/// How long the first turn is, and the second one.
pub const TURNS: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(20));

/// A question in two forms.
pub struct Second {
    /// For a turn.
    pub first: Rc<CounterTask>,
    /// The same question as a formula, for a turn.
    pub formula: Rc<FormulaTask>,
    /// As long as it takes.
    pub last: Rc<CounterTask>,
}

/// The question as a formula; nothing if its names are not plain, or there are too many targets.
pub fn as_formula(request: &Request, system: &System, text: &str) -> Option<FormulaTask> {
    let plain = |name: &str| {
        name.starts_with(|c: char| c.is_alphabetic()) && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let target = |t: &Vector| {
        let parts: Vec<String> = t.iter().map(|(v, n)| format!("{} >= {n}", system.names[v as usize])).collect();
        (!parts.is_empty()).then(|| format!("({})", parts.join(" && ")))
    };
    let named = system.target.iter().flat_map(Vector::iter).all(|(v, _)| plain(&system.names[v as usize]));
    if !named || system.target.is_empty() || system.target.len() > 20 {
        return None;
    }
    let all: Vec<String> = system.target.iter().map(target).collect::<Option<_>>()?;
    let formula = format!("G !({})", all.join(" || "));
    let mut args = (*request.args).clone();
    args.properties.errors.clear();
    args.timeout = Some(until(&args, TURNS.0 + TURNS.1));
    let request = Request { args: Arc::new(args), language: request.language };
    let ask = Ask::Formula { text: text.into(), formula, kind: Kind::Always };
    formula::task(&request, Subject::Counters(system.clone()), vec![ask]).ok()
}

/// The limit, if not sooner, after this long from now.
fn until(args: &crate::settings::Settings, turn: Duration) -> Duration {
    let turn = args.context.started.elapsed() + turn;
    args.timeout.map_or(turn, |limit| limit.min(turn))
}

impl Case for Second {
    fn questions(&self) -> Vec<Question> {
        Case::questions(&*self.first)
    }

    fn unanswered(&self) -> Vec<Summary> {
        Case::unanswered(&*self.first)
    }

    fn check_only(self: Rc<Self>, only: Option<usize>, sink: &mut dyn Sink) -> Result<(), Error> {
        let cases: [Rc<dyn Case>; 2] = [self.first.clone(), self.formula.clone()];
        for case in cases {
            let mut kept = Kept::default();
            case.check_only(only, &mut kept)?;
            if kept.decided || self.last.args.context.is_cancelled() {
                return kept.pass_on(sink);
            }
        }
        self.last.clone().check_only(only, sink)
    }

    fn certify(&self, given: &Given<'_>) -> Result<Result<Judged, String>, Error> {
        match Case::certify(&*self.last, given)? {
            Err(why) => match Case::certify(&*self.formula, given)? {
                Err(_) => Ok(Err(why)),
                judged => Ok(judged),
            },
            judged => Ok(judged),
        }
    }
}

type Said = (Rc<dyn Answer>, Style, [Option<usize>; 2]);

/// What a turn came to, until it is known whether it counts.
#[derive(Default)]
struct Kept {
    decided: bool,
    answers: Vec<Said>,
    open: Vec<(Summary, Style)>,
    pages: Vec<Vec<page::Answer>>,
}

impl Kept {
    fn pass_on(self, sink: &mut dyn Sink) -> Result<(), Error> {
        self.answers.into_iter().try_for_each(|(answer, style, numbers)| sink.answer(answer, style, numbers))?;
        self.open.iter().try_for_each(|(report, style)| sink.unanswered(report, *style))?;
        self.pages.into_iter().try_for_each(|answers| sink.page(answers))
    }
}

impl Sink for Kept {
    fn answer(&mut self, answer: Rc<dyn Answer>, style: Style, numbers: [Option<usize>; 2]) -> Result<(), Error> {
        self.decided |= answer.summary().outcome != Outcome::Unknown;
        self.answers.push((answer, style, numbers));
        Ok(())
    }

    fn unanswered(&mut self, report: &Summary, style: Style) -> Result<(), Error> {
        self.open.push((report.clone(), style));
        Ok(())
    }

    fn table(&mut self, _: &str, _: Option<bool>) -> Result<(), Error> {
        Ok(())
    }

    fn page(&mut self, answers: Vec<page::Answer>) -> Result<(), Error> {
        self.pages.push(answers);
        Ok(())
    }
}
