//! The way in: a model, its properties, checks, and what is reported.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use trellis_report::run::{Run, Step};
use trellis_report::{Outcome, Style};

use crate::certify::{Given, Judged};
use crate::context::{Context, Listener};
use crate::formalism::Cases;
use crate::pipeline::{Answer, Sink, Summary};
use crate::settings::{Reading, Settings};
use crate::task::Question;
use crate::{Error, registry};

/// A model in any language that Trellis reads.
///
/// ```
/// # let file = tempfile::Builder::new().suffix(".xta").tempfile().unwrap();
/// # std::fs::write(&file, "process P() { state A, B; init A; trans A -> B { }; } system P;").unwrap();
/// # let path = file.path();
/// let model = trellis::Model::open(path)?;
/// let property = model.property("A[] not P.B")?;
/// let report = model.check(&property).timeout(std::time::Duration::from_secs(60)).run()?;
/// assert_eq!(report.holds(), Some(false));
/// # Ok::<(), trellis::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    path: PathBuf,
    constants: Vec<(String, i64)>,
}

impl Model {
    /// Opens a file. What is wrong with it is said with places.
    pub fn open(path: impl AsRef<Path>) -> Result<Model, Error> {
        Model::open_with(path, &[])
    }

    /// Opens a file with some of its constants set: `[("N", 7)]`.
    pub fn open_with(path: impl AsRef<Path>, constants: &[(&str, i64)]) -> Result<Model, Error> {
        let constants = constants.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        let model = Model { path: path.as_ref().to_path_buf(), constants };
        match model.tasks(&model.settings(&[])?) {
            // It can be read; that it has no question of its own is no mistake.
            Ok(_) | Err(Error::Nothing(..)) => Ok(model),
            Err(error) => Err(error),
        }
    }

    /// The language that it is written in: `uppaal`, `c`, `pnml`, …
    pub fn language(&self) -> Result<&'static str, Error> {
        registry::of(&self.path).map(|(_, language)| language.name)
    }

    /// The properties that the file, or one beside it, asks.
    pub fn properties(&self) -> Result<Vec<Property>, Error> {
        let own = |q: Question| Property { text: q.text, canonical: q.property, given: None };
        match self.tasks(&self.settings(&[])?) {
            Ok(tasks) => Ok(tasks.iter().flat_map(|t| t.questions()).map(own).collect()),
            Err(Error::Nothing(..)) => Ok(vec![]),
            Err(error) => Err(error),
        }
    }

    /// A property of one's own, in the words of the command line's `--property`.
    pub fn property(&self, text: &str) -> Result<Property, Error> {
        self.asked("--property", text)
    }

    /// What must never hold.
    pub fn never(&self, text: &str) -> Result<Property, Error> {
        self.asked("--error", text)
    }

    /// A formula of linear temporal logic that all runs must satisfy.
    ///
    /// ```
    /// # let file = tempfile::Builder::new().suffix(".xta").tempfile().unwrap();
    /// # std::fs::write(&file, "process P() { state A, B; init A; trans A -> B { }, B -> A { }; } system P;").unwrap();
    /// # let model = trellis::Model::open(file.path())?;
    /// let report = model.check(&model.ltl("G F P.A")?).option("--fair", "progress").run()?;
    /// assert_eq!(report.holds(), Some(true));
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn ltl(&self, text: &str) -> Result<Property, Error> {
        self.asked("--ltl", text)
    }

    fn asked(&self, option: &'static str, text: &str) -> Result<Property, Error> {
        let tasks = self.tasks(&self.settings(&[option.into(), text.into()])?)?;
        let question = tasks.iter().flat_map(|t| t.questions()).next();
        let question = question.ok_or_else(|| Error::Usage(format!("`{text}` asks nothing")))?;
        let given = Some((option, text.to_string()));
        Ok(Property { text: question.text, canonical: question.property, given })
    }

    /// A check of a property. Options first, then [`Check::run`].
    pub fn check<'m>(&'m self, property: &'m Property) -> Check<'m> {
        Check { model: self, property, options: vec![], listener: None, cancelled: None }
    }

    /// Is evidence that was saved good for this property, of this model?
    ///
    /// Nothing is believed because it stands in the file: the model and the property are read anew.
    pub fn certify(&self, property: &Property, evidence: impl AsRef<Path>) -> Result<Certified, Error> {
        let given = Given::read(evidence.as_ref())?;
        let settings = Settings { engine: given.engine(), ..self.settings(&property.options())? };
        let mut why = String::from("nothing is asked");
        for task in self.tasks(&settings)? {
            match task.certify(&given)? {
                Ok(Judged::Valid(_, said)) => return Ok(Certified::Valid(said)),
                Ok(Judged::Rejected(_, why)) => return Ok(Certified::Rejected(why)),
                Ok(Judged::Undecided(_, why)) => return Ok(Certified::Undecided(why)),
                Err(other) => why = other,
            }
        }
        Ok(Certified::Rejected(why))
    }

    fn tasks(&self, settings: &Settings) -> Cases {
        registry::tasks(Arc::new(settings.clone()))
    }

    /// The options of a command line, read as the command line reads them.
    fn settings(&self, options: &[String]) -> Result<Settings, Error> {
        let constants = self.constants.iter().map(|(name, value)| format!("--const={name}={value}"));
        Settings::read(&self.path, constants.chain(options.iter().cloned()))
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    text: String,
    canonical: String,
    /// How it was asked, if it is not the file's own.
    given: Option<(&'static str, String)>,
}

impl Property {
    fn options(&self) -> Vec<String> {
        self.given.iter().flat_map(|(option, text)| [option.to_string(), text.clone()]).collect()
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A limit of time: a [`Duration`], or a text like `60s`, `500ms`, `5m`.
pub struct Timeout(String);

impl From<Duration> for Timeout {
    fn from(time: Duration) -> Timeout {
        Timeout(format!("{}s", time.as_secs_f64()))
    }
}

impl From<&str> for Timeout {
    fn from(text: &str) -> Timeout {
        Timeout(text.into())
    }
}

/// A check to be run. Options are those of `trellis check`; what does not fit the model is refused when it runs.
#[must_use = "a check does nothing until it is run"]
pub struct Check<'m> {
    model: &'m Model,
    property: &'m Property,
    options: Vec<String>,
    listener: Option<Arc<dyn Listener>>,
    cancelled: Option<Arc<AtomicBool>>,
}

impl Check<'_> {
    /// Gives up after this long, reading and checking included: `"60s"`, or a [`Duration`].
    pub fn timeout(self, time: impl Into<Timeout>) -> Self {
        let Timeout(time) = time.into();
        self.option("--timeout", &time)
    }

    /// Gives up when the process needs more than this: `"2GiB"`.
    pub fn memory(self, size: &str) -> Self {
        self.option("--memory", size)
    }

    /// Gives up after so many states.
    pub fn states(self, most: u64) -> Self {
        self.option("--states", &most.to_string())
    }

    /// The algorithm: `"lazy"`, `"cegar"`, … ; without it, the one that suits the question.
    pub fn engine(self, name: &str) -> Self {
        self.option("--engine", name)
    }

    /// Any option of `trellis check`, with its value: `("--clocks", "bounds")`.
    pub fn option(mut self, name: &str, value: &str) -> Self {
        self.options.push(format!("{name}={value}"));
        self
    }

    /// Any option of `trellis check` that has no value: `"--non-zeno"`.
    pub fn flag(mut self, name: &str) -> Self {
        self.options.push(name.into());
        self
    }

    /// Who is told of warnings, notes and progress.
    pub fn listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// A flag that ends the check when it is raised, from another thread.
    pub fn cancelled_by(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancelled = Some(flag);
        self
    }

    /// Runs it: the engine is chosen, and the evidence checked again.
    pub fn run(self) -> Result<Report, Error> {
        let mut options = self.property.options();
        options.extend(self.options);
        let mut settings = self.model.settings(&options)?;
        let mut context = Context::default();
        context.listener = self.listener.unwrap_or(context.listener);
        context.cancelled = self.cancelled.unwrap_or(context.cancelled);
        settings.reading = Reading { deadline: context.deadline(settings.timeout), ..settings.reading };
        settings.context = context;
        let late = || {
            let verdict = trellis_model::evidence::Verdict::Unknown(trellis_model::evidence::Reason::Time);
            let model = self.model.path.display().to_string();
            Summary::about(&model, "", &self.property.text, trellis_report::Kind::Always, verdict)
        };
        let tasks = match self.model.tasks(&settings) {
            Err(Error::Late(_)) => return Ok(Report { summary: late(), answer: None }),
            tasks => tasks?,
        };
        let mut collected = Collected(vec![]);
        for task in tasks {
            let at = task.questions().iter().position(|q| q.property == self.property.canonical);
            if let Some(n) = at {
                task.check_only(Some(n), &mut collected)?;
                break;
            }
        }
        // A question with several answers is answered by the worst of them.
        let rank = |r: &Report| match r.summary.outcome {
            Outcome::Error => 0,
            Outcome::Unsafe | Outcome::Fails => 1,
            Outcome::Unknown => 2,
            _ => 3,
        };
        collected.0.sort_by_key(rank);
        let nothing = || Error::Usage(format!("`{}` is not asked of this model", self.property.text));
        collected.0.into_iter().next().ok_or_else(nothing)
    }
}

/// Collects answers.
struct Collected(Vec<Report>);

impl Sink for Collected {
    fn answer(&mut self, answer: Rc<dyn Answer>, _: Style, _: [Option<usize>; 2]) -> Result<(), Error> {
        self.0.push(Report { summary: answer.summary(), answer: Some(answer) });
        Ok(())
    }

    fn unanswered(&mut self, report: &Summary, _: Style) -> Result<(), Error> {
        self.0.push(Report { summary: report.clone(), answer: None });
        Ok(())
    }

    fn table(&mut self, _: &str, _: Option<bool>) -> Result<(), Error> {
        Ok(())
    }

    fn page(&mut self, _: Vec<trellis_report::page::Answer>) -> Result<(), Error> {
        Ok(())
    }
}

/// What was found about a property.
pub struct Report {
    summary: Summary,
    answer: Option<Rc<dyn Answer>>,
}

impl Report {
    /// The verdict, with its evidence.
    pub fn verdict(&self) -> Verdict {
        let trace = || self.answer.clone().filter(|a| a.has_trace()).map(Trace);
        let proof = Proof(self.answer.clone().filter(|a| a.has_certificate()));
        match self.summary.outcome {
            Outcome::Safe => Verdict::Safe(proof),
            Outcome::Fails => Verdict::Impossible(proof),
            Outcome::Unsafe => trace().map_or_else(|| Verdict::Unknown(self.why()), Verdict::Unsafe),
            Outcome::Holds => trace().map_or_else(|| Verdict::Unknown(self.why()), Verdict::Possible),
            Outcome::Bound => Verdict::Bound(self.summary.value().unwrap_or_default(), proof),
            Outcome::Unknown | Outcome::Error => Verdict::Unknown(self.why()),
        }
    }

    /// Does the property hold? Nothing if that is not known.
    pub fn holds(&self) -> Option<bool> {
        self.summary.holds().filter(|_| self.summary.unchecked.is_none())
    }

    /// What was done to check the evidence again; nothing if it was not.
    pub fn checked(&self) -> Option<&str> {
        self.summary.checked.as_deref()
    }

    /// What the verdict rests on and nobody has checked.
    pub fn assumes(&self) -> &[String] {
        &self.summary.assumes
    }

    /// What the reader should know of the question itself.
    pub fn warnings(&self) -> &[String] {
        &self.summary.warnings
    }

    /// How it was searched, in words.
    pub fn engine(&self) -> &str {
        &self.summary.engine
    }

    /// What was counted, by name.
    pub fn statistics(&self) -> &[(String, u64)] {
        &self.summary.statistics
    }

    /// How long it took.
    pub fn seconds(&self) -> f64 {
        self.summary.seconds
    }

    fn why(&self) -> String {
        self.summary.reason.as_ref().map_or_else(|| "not known".into(), |why| why.text.clone())
    }
}

/// As the command line prints it.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match &self.answer {
            Some(answer) => answer.text(Style::default()),
            None => trellis_report::text::line(&self.summary, Style::default()),
        };
        f.write_str(text.trim_end())
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report").field("summary", &self.summary).finish_non_exhaustive()
    }
}

/// A verdict, with its evidence.
#[non_exhaustive]
pub enum Verdict {
    /// What must not happen cannot.
    Safe(Proof),
    /// What must not happen can: here is how.
    Unsafe(Trace),
    /// Of a property about some run (`E<>`, `E[]`): there is one.
    Possible(Trace),
    /// Of a property about some run: there is none.
    Impossible(Proof),
    /// Of `sup` and `inf`: the number.
    Bound(String, Proof),
    /// Not known: why.
    Unknown(String),
}

/// What shows that something cannot happen.
pub struct Proof(Option<Rc<dyn Answer>>);

impl Proof {
    /// Writes the certificate (JSON), for [`Model::certify`] or `trellis certify`. Some proofs have none.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        match &self.0 {
            Some(answer) => save(path.as_ref(), |out| answer.write_certificate(out)),
            None => Err(Error::Output("this verdict has no certificate".into())),
        }
    }

    /// Is there a certificate to be saved?
    pub fn is_saved(&self) -> bool {
        self.0.is_some()
    }
}

/// A run.
pub struct Trace(Rc<dyn Answer>);

impl Trace {
    /// The run in the model's own words.
    pub fn run(&self) -> Run {
        self.0.run().unwrap_or_default()
    }

    /// Its steps.
    pub fn steps(&self) -> Vec<Step> {
        self.run().steps
    }

    /// Writes it (JSON), for [`Model::certify`] or `trellis certify`.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        save(path.as_ref(), |out| self.0.write_trace(out))
    }
}

/// As the command line prints it.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text(Style { full: true, ..Style::default() }).trim_end())
    }
}

/// What became of evidence on file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certified {
    /// It shows what it claims: what was done to see it.
    Valid(String),
    /// It does not: why.
    Rejected(String),
    /// Not known: why.
    Undecided(String),
}

fn save(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Error> {
    crate::files::write_with(path, write)
}
