//! What was found: verdicts with their evidence.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use trellis_report::run::{Run, Step};
use trellis_report::{Outcome, Style, page};

use crate::Error;
use crate::pipeline::{Answer, Summary};

/// What was found about a property.
///
/// ```
/// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
/// # let model = trellis::Model::from_text("lamp.xta", text)?;
/// let report = model.check(&model.property("A[] not P.Broken")?).run()?;
/// assert!(report.to_string().starts_with("SAFE"), "{report}");
/// assert!(report.checked().is_some(), "the proof was checked again");
/// assert!(report.assumes().is_empty(), "nothing is taken on trust");
/// # Ok::<(), trellis::Error>(())
/// ```
pub struct Report {
    pub(super) summary: Summary,
    pub(super) answer: Option<Rc<dyn Answer>>,
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
        self.summary.holds()
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
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// let report = model.check(&model.property("A[] not P.Broken")?).run()?;
    /// assert!(report.warnings().is_empty());
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn warnings(&self) -> &[String] {
        &self.summary.warnings
    }

    /// How it was searched, in words.
    pub fn engine(&self) -> &str {
        &self.summary.engine
    }

    /// What was counted, by name.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// let report = model.check(&model.property("A[] not P.Broken")?).run()?;
    /// assert!(report.statistics().iter().any(|(what, count)| what == "stored" && *count == 2));
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn statistics(&self) -> &[(String, u64)] {
        &self.summary.statistics
    }

    /// How long it took.
    pub fn seconds(&self) -> f64 {
        self.summary.seconds
    }

    /// The report for a machine (JSON, one line), as `trellis check --json` prints it.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// let report = model.check(&model.property("A[] not P.Broken")?).run()?;
    /// assert!(report.json()?.contains("\"verdict\":\"SAFE\""));
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn json(&self) -> Result<String, Error> {
        let written = match &self.answer {
            Some(answer) => answer.json(),
            None => {
                let mut line = vec![];
                trellis_report::json::write_plain_report(&mut line, &self.summary).map(|()| line)
            }
        };
        let line = written.map_err(|e| Error::Internal(e.to_string()))?;
        Ok(String::from_utf8_lossy(&line).trim_end().to_string())
    }

    /// What a page shows of it.
    #[doc(hidden)]
    pub fn page(&self) -> Result<Vec<page::Answer>, Error> {
        let answers = self.answer.iter().map(|a| a.page()).collect::<Result<_, _>>();
        answers.map_err(|e| Error::Internal(e.to_string()))
    }

    /// A page with what was found, as `trellis check --html` writes it.
    #[doc(hidden)]
    pub fn frozen(model: &super::Model, answers: Vec<page::Answer>) -> Result<String, Error> {
        Ok(crate::view::frozen(&model.settings(&[])?, answers))
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
///
/// ```
/// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
/// # let model = trellis::Model::from_text("lamp.xta", text)?;
/// use trellis::Verdict;
///
/// for (text, word) in [("A[] not P.Broken", "safe"), ("A[] P.Off", "unsafe"), ("E<> P.On", "possible")] {
///     let found = match model.check(&model.property(text)?).run()?.verdict() {
///         Verdict::Safe(_) => "safe",
///         Verdict::Unsafe(_) => "unsafe",
///         Verdict::Possible(_) => "possible",
///         Verdict::Impossible(_) => "impossible",
///         _ => "something else",
///     };
///     assert_eq!(found, word);
/// }
/// # Ok::<(), trellis::Error>(())
/// ```
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
///
/// ```
/// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
/// # let model = trellis::Model::from_text("lamp.xta", text)?;
/// # let folder = tempfile::tempdir().unwrap();
/// # let file = folder.path().join("proof.json");
/// use trellis::Verdict;
///
/// let report = model.check(&model.property("A[] not P.Broken")?).run()?;
/// let Verdict::Safe(proof) = report.verdict() else { panic!("it never breaks") };
/// assert!(proof.is_saved());
/// proof.save(&file)?;
/// assert!(std::fs::read_to_string(&file).unwrap().contains("trellis-certificate/2"));
/// # Ok::<(), trellis::Error>(())
/// ```
pub struct Proof(Option<Rc<dyn Answer>>);

impl Proof {
    /// Writes the certificate (JSON), for [`crate::Model::certify`] or `trellis certify`. Some proofs have none.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        match &self.0 {
            Some(answer) => save(path.as_ref(), |out| answer.write_certificate(out)),
            None => Err(Error::Output("this verdict has no certificate".into())),
        }
    }

    /// The certificate (JSON), if there is one.
    pub fn json(&self) -> Result<Option<Vec<u8>>, Error> {
        let Some(answer) = &self.0 else { return Ok(None) };
        let mut out = vec![];
        answer.write_certificate(&mut out).map_err(|e| Error::Internal(e.to_string()))?;
        Ok(Some(out))
    }

    /// Is there a certificate to be saved?
    pub fn is_saved(&self) -> bool {
        self.0.is_some()
    }
}

/// A run.
///
/// ```
/// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
/// # let model = trellis::Model::from_text("lamp.xta", text)?;
/// use trellis::Verdict;
///
/// let report = model.check(&model.property("A[] not P.On")?).run()?;
/// let Verdict::Unsafe(trace) = report.verdict() else { panic!("it can be lit") };
/// let [step] = &trace.steps()[..] else { panic!("one step is enough") };
/// assert_eq!((&step.parts[0].from, &step.parts[0].to), (&Some("Off".into()), &Some("On".into())));
/// println!("{trace}"); // as the command line shows it
/// # Ok::<(), trellis::Error>(())
/// ```
pub struct Trace(Rc<dyn Answer>);

impl Trace {
    /// The run in the model's own words.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// use trellis::Verdict;
    ///
    /// let Verdict::Possible(trace) = model.check(&model.property("E<> P.On")?).run()?.verdict() else { panic!() };
    /// let run = trace.run();
    /// assert_eq!(run.parts, ["P"]);
    /// assert_eq!(run.steps.len(), 1);
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn run(&self) -> Run {
        self.0.run().unwrap_or_default()
    }

    /// Its steps.
    pub fn steps(&self) -> Vec<Step> {
        self.run().steps
    }

    /// The trace (JSON).
    pub fn json(&self) -> Result<Vec<u8>, Error> {
        let mut out = vec![];
        self.0.write_trace(&mut out).map_err(|e| Error::Internal(e.to_string()))?;
        Ok(out)
    }

    /// Writes it (JSON), for [`crate::Model::certify`] or `trellis certify`.
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

fn save(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Error> {
    crate::files::write_with(path, write)
}
