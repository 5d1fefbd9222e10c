//! Labelled transition systems as Trellis knows them: their language, what they are asked, and how they are walked through.

use std::path::Path;

use trellis::formalism::prelude::*;

use crate::model::{Asked, Closed, Lts, Trace};
use crate::parse::parse;

pub struct Systems;

static LANGUAGES: [Language; 1] =
    [Language { name: "lts", title: "labelled transition systems", extensions: &["lts"], sniff: by_name_only }];
static PROFILE: Profile = Profile { who: "labelled transition systems", engines: &[Engine::Auto], options: &[] };

fn load(path: &Path) -> Result<(Lts, Input), Error> {
    let (text, input) = binding::read(path)?;
    let lts = parse(&text).map_err(|why| Error::Input(format!("error: {}: {why}", path.display())))?;
    Ok((lts, input))
}

impl Formalism for Systems {
    fn languages(&self) -> &'static [Language] {
        &LANGUAGES
    }

    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn own_queries(&self, _: &Language) -> Own {
        Own::Errors
    }

    fn ask(&self, request: &Request) -> Cases {
        let args = request.args.clone();
        let (lts, input) = load(&args.model.model)?;
        let unknown = |name: &String| Error::Input(format!("error: --error: there is no state `{name}`"));
        let find = |name: &String| lts.states.iter().position(|s| s == name).ok_or_else(|| unknown(name));
        let asked = args.properties.errors.iter().map(find).collect::<Result<Vec<usize>, Error>>()?;
        let bad = if asked.is_empty() { lts.errors.clone() } else { asked };
        match bad.is_empty() {
            true => Err(Error::Nothing("lts", "say what must never be reached: --error STATE".into())),
            false => Ok(vec![Rc::new(SystemTask { args, lts, input, bad })]),
        }
    }

    /// Formulas say `state in NAME`.
    fn quoted_conditions(&self, _: &Language) -> bool {
        true
    }

    fn subject(&self, request: &Request) -> Result<Subject, Error> {
        let (lts, _) = load(&request.args.model.model)?;
        Subject::transitions("state", &lts.states, &[lts.start], &lts.steps)
    }

    fn stepper(
        &self,
        args: &Simulate,
        _: &'static Language,
        _: Option<&str>,
        _: &Context,
    ) -> Result<Box<dyn Stepper>, Error> {
        Ok(Box::new(Walk { lts: load(&args.model.model)?.0, taken: vec![] }))
    }

    fn convert(&self, args: &Convert, _: &'static Language, _: bool) -> Result<String, Error> {
        match args.to {
            Format::Dot => Ok(dot::drawing(&load(&args.model.model)?.0.drawing(), "lts")),
            _ => Err(Error::Usage("a labelled transition system is written as a picture: --to dot".into())),
        }
    }
}

/// A system, and states that must never be reached: a question for each.
struct SystemTask {
    args: Arc<Settings>,
    lts: Lts,
    input: Input,
    bad: Vec<usize>,
}

impl Task for SystemTask {
    type Trace = Trace;
    type Proof = Closed;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        "lts"
    }

    fn inputs(&self) -> Vec<Input> {
        vec![self.input.clone()]
    }

    fn questions(&self) -> Vec<Question> {
        let never = |&bad: &usize| Question::plain(&format!("never {}", self.lts.states[bad]), Kind::Always, vec![]);
        self.bad.iter().map(never).collect()
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<Report<Self>, Error> {
        let (verdict, stats) = reach(&Asked(&self.lts, self.bad[n])).search(meter);
        let verdict = match verdict {
            Verdict::Safe(states) => Verdict::Safe(states.into_iter().collect()),
            Verdict::Unsafe(run) => Verdict::Unsafe(run.into_iter().map(|(step, _)| step).collect()),
            Verdict::Unknown(why) => Verdict::Unknown(why),
        };
        let text = self.question(n).text;
        let report = Report::<Self>::about(&self.name(), "lts", &text, Kind::Always, verdict);
        Ok(Report::<Self> { engine: "breadth-first search".into(), statistics: statistics(&stats), ..report })
    }

    fn replay(&self, n: usize, trace: &Trace, _: &Meter) -> Result<String, Rejection> {
        match self.lts.walk(trace)? {
            end if end == self.bad[n] => Ok(format!("run of {} replayed", count_steps(trace.len()))),
            end => Err(Rejection::Wrong(format!("it ends in `{}`", self.lts.states[end]))),
        }
    }

    fn certify(&self, n: usize, proof: &Closed, _: &Meter) -> Result<String, Rejection> {
        self.lts.closed(self.bad[n], proof)?;
        Ok(format!("{} states checked: no step leaves them", proof.len()))
    }

    fn present(&self, _: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        then(&self.lts);
    }
}

/// A walk: the steps taken so far, which the interpreter can take.
struct Walk {
    lts: Lts,
    taken: Trace,
}

impl Walk {
    fn offers(&self) -> Result<Vec<usize>, StepError> {
        let now = self.lts.walk(&self.taken).map_err(StepError::Model)?;
        Ok(Asked(&self.lts, now).steps(&now).into_iter().map(|(step, _)| step).collect())
    }
}

impl Stepper for Walk {
    fn state(&self) -> Values {
        self.run().state(self.taken.len())
    }

    fn choices(&self) -> Result<Choices, StepError> {
        let offers = self.offers()?.into_iter().map(|n| self.lts.step(n)).collect();
        Ok(Choices { offers, ..Choices::default() })
    }

    fn take(&mut self, offer: usize) -> Result<(), StepError> {
        let step = self.offers()?.get(offer).copied();
        self.taken.push(step.ok_or_else(|| StepError::refused("there is no such choice"))?);
        Ok(())
    }

    fn undo(&mut self) -> bool {
        self.taken.pop().is_some()
    }

    fn steps(&self) -> usize {
        self.taken.len()
    }

    fn run(&self) -> Run {
        Present::run(&self.lts, &self.taken).unwrap_or_default()
    }

    fn replay(&mut self, trace: &str) -> Result<(), StepError> {
        let Ok(Content::Trace(trace)) = read_evidence(&self.lts, trace) else {
            return Err(StepError::refused("it is no trace of this model"));
        };
        self.lts.walk(&trace).map_err(StepError::Refused)?;
        self.taken = trace;
        Ok(())
    }
}
