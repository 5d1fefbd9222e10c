//! A check to be run: its options, and who is told.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use trellis_report::{Outcome, Style};

use super::{Model, Property, Report};
use crate::Error;
use crate::context::{Context, Listener};
use crate::pipeline::{Answer, Sink, Summary};
use crate::settings::Reading;

/// A limit of time: a [`Duration`], or a text like `60s`, `500ms`, `5m`.
///
/// ```
/// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
/// # let model = trellis::Model::from_text("lamp.xta", text)?;
/// use std::time::Duration;
///
/// let property = model.property("A[] not P.On")?;
/// let check = model.check(&property);
/// assert!(check.timeout(Duration::from_millis(1500)).run().is_ok());
/// assert!(model.check(&property).timeout("a while").run().is_err());
/// # Ok::<(), trellis::Error>(())
/// ```
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
///
/// ```
/// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
/// # let model = trellis::Model::from_text("lamp.xta", text)?;
/// // What does not fit the model is refused, with what does.
/// let property = model.property("A[] not P.On")?;
/// let refused = model.check(&property).engine("bmc").run().unwrap_err();
/// assert!(refused.to_string().contains("for networks"), "{refused}");
/// # Ok::<(), trellis::Error>(())
/// ```
#[must_use = "a check does nothing until it is run"]
pub struct Check<'m> {
    model: &'m Model,
    property: &'m Property,
    options: Vec<String>,
    listener: Option<Arc<dyn Listener>>,
    cancelled: Option<Arc<AtomicBool>>,
}

impl<'m> Check<'m> {
    pub(super) fn new(model: &'m Model, property: &'m Property) -> Check<'m> {
        Check { model, property, options: vec![], listener: None, cancelled: None }
    }

    /// Gives up after this long, reading and checking included: `"60s"`, or a [`Duration`]. A single operation on decision diagrams
    /// (AltaRica) is not cut short; the command line ends the process then.
    pub fn timeout(self, time: impl Into<Timeout>) -> Self {
        let Timeout(time) = time.into();
        self.option("--timeout", &time)
    }

    /// Gives up when the process needs more than this: `"2GiB"`.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// use trellis::Verdict;
    ///
    /// let property = model.property("A[] not P.Broken")?;
    /// let Verdict::Unknown(why) = model.check(&property).memory("1KiB").run()?.verdict() else { panic!("that is not enough") };
    /// assert_eq!(why, "memory limit reached");
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn memory(self, size: &str) -> Self {
        self.option("--memory", size)
    }

    /// Gives up after so many states.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// use trellis::Verdict;
    ///
    /// let property = model.property("A[] not P.Broken")?;
    /// let Verdict::Unknown(why) = model.check(&property).states(1).run()?.verdict() else { panic!("there are two") };
    /// assert_eq!(why, "state limit reached");
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn states(self, most: u64) -> Self {
        self.option("--states", &most.to_string())
    }

    /// The algorithm: `"lazy"`, `"cegar"`, … ; without it, the one that suits the question.
    pub fn engine(self, name: &str) -> Self {
        self.option("--engine", name)
    }

    /// Any option of `trellis check`, with its value: `("--clocks", "bounds")`.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// let property = model.property("A[] not P.On")?;
    /// assert_eq!(model.check(&property).option("--order", "dfs").run()?.holds(), Some(false));
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn option(mut self, name: &str, value: &str) -> Self {
        self.options.push(format!("{name}={value}"));
        self
    }

    /// Any option of `trellis check` that has no value: `"--non-zeno"`.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// let property = model.property("A[] not P.Broken")?;
    /// let report = model.check(&property).flag("--no-check").run()?;
    /// assert_eq!(report.checked(), None);
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn flag(mut self, name: &str) -> Self {
        self.options.push(name.into());
        self
    }

    /// Who is told of warnings, notes and progress.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// use std::any::Any;
    /// use std::sync::{Arc, Mutex};
    ///
    /// use trellis::Listener;
    /// use trellis::meter::Board;
    ///
    /// /// Remembers what is worked on; a program with a window would look at the board now and then.
    /// #[derive(Default)]
    /// struct Log(Mutex<Vec<(String, Board)>>);
    ///
    /// impl Listener for Log {
    ///     fn working(&self, question: &str, board: &Board) -> Option<Box<dyn Any>> {
    ///         self.0.lock().unwrap().push((question.into(), board.clone()));
    ///         None
    ///     }
    /// }
    ///
    /// let (log, property) = (Arc::new(Log::default()), model.property("A[] not P.Broken")?);
    /// model.check(&property).listener(log.clone()).run()?;
    /// let seen = log.0.lock().unwrap();
    /// assert_eq!(seen[0].0, "A[] not P.Broken");
    /// assert!(seen[0].1.lines().iter().any(|line| line.progress().is_some_and(|p| p.stats.added > 0)));
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// A flag that ends the check when it is raised, from another thread.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// use std::sync::Arc;
    /// use std::sync::atomic::AtomicBool;
    ///
    /// use trellis::Verdict;
    ///
    /// let flag = Arc::new(AtomicBool::new(true)); // raised by another thread, usually
    /// let property = model.property("A[] not P.Broken")?;
    /// let report = model.check(&property).cancelled_by(flag).run()?;
    /// assert!(matches!(report.verdict(), Verdict::Unknown(why) if why == "interrupted"));
    /// # Ok::<(), trellis::Error>(())
    /// ```
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
