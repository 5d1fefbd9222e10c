//! The way in: a model, its properties, checks, and what is reported.

mod check;
mod report;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use trellis_domain::script::Brought;
use trellis_report::step::Stepper;

pub use check::{Check, Timeout};
pub use report::{Proof, Report, Trace, Verdict};

use crate::certify::{Given, Judged};
use crate::context::Context;
use crate::formalism::Cases;
use crate::settings::Settings;
use crate::task::Question;
use crate::{Error, registry};

/// A model in any language that Trellis reads.
///
/// ```
/// let text = "process P() { state A, B; init A; trans A -> B { }; } system P;";
/// let model = trellis::Model::from_text("small.xta", text)?; // or Model::open("small.xta")
/// let property = model.property("A[] not P.B")?;
/// let report = model.check(&property).timeout(std::time::Duration::from_secs(60)).run()?;
/// assert_eq!(report.holds(), Some(false));
/// # Ok::<(), trellis::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    path: PathBuf,
    constants: Vec<(String, i64)>,
    /// Lattices and a joining strategy in another language.
    brought: Brought,
    /// Where the file is, if it was made for a text; it goes with the last clone.
    _folder: Option<Arc<TempDir>>,
}

impl Model {
    /// Opens a file. What is wrong with it is said with places.
    ///
    /// ```
    /// let missing = trellis::Model::open("nowhere.xta").unwrap_err();
    /// assert!(matches!(missing, trellis::Error::Input(_)), "{missing}");
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Model, Error> {
        Model::open_with(path, &[])
    }

    /// Opens a file with some of its constants set: `[("N", 7)]`.
    ///
    /// ```
    /// let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/lattice/lossy.xta");
    /// let model = trellis::Model::open_with(file, &[("N", 2), ("M", 1)])?;
    /// let first = &model.properties()?[0];
    /// assert_eq!(model.check(first).run()?.holds(), Some(false));
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn open_with(path: impl AsRef<Path>, constants: &[(&str, i64)]) -> Result<Model, Error> {
        Model::open_bringing(path, constants, Brought::default())
    }

    /// Reads a text. The name is that of a file, for the language that it is in and for messages.
    ///
    /// ```
    /// let wrong = trellis::Model::from_text("lamp.xta", "process P() { state A init A; } system P;").unwrap_err();
    /// assert!(wrong.to_string().contains("lamp.xta:1:"), "errors have places: {wrong}");
    /// ```
    pub fn from_text(name: &str, text: &str) -> Result<Model, Error> {
        Model::text_bringing(name, text, &[], Brought::default())
    }

    /// Opens a file with lattices and a joining strategy that are written in another language, as the Python package does.
    #[doc(hidden)]
    pub fn open_bringing(path: impl AsRef<Path>, constants: &[(&str, i64)], brought: Brought) -> Result<Model, Error> {
        let constants = constants.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        Model { path: path.as_ref().to_path_buf(), constants, brought, _folder: None }.read()
    }

    /// Reads a text with lattices and a joining strategy that are written in another language.
    #[doc(hidden)]
    pub fn text_bringing(name: &str, text: &str, constants: &[(&str, i64)], brought: Brought) -> Result<Model, Error> {
        let io = |e: std::io::Error| Error::Output(format!("{name}: {e}"));
        let folder = tempfile::tempdir().map_err(io)?;
        let plain =
            Path::new(name).file_name().ok_or_else(|| Error::Usage(format!("`{name}` is no name of a file")))?;
        let path = folder.path().join(plain);
        std::fs::write(&path, text).map_err(io)?;
        let constants = constants.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        Model { path, constants, brought, _folder: Some(Arc::new(folder)) }.read()
    }

    fn read(self) -> Result<Model, Error> {
        match self.tasks(&self.settings(&[])?) {
            // It can be read; that it has no question of its own is no mistake.
            Ok(_) | Err(Error::Nothing(..)) => Ok(self),
            Err(error) => Err(error),
        }
    }

    /// The language that it is written in: `uppaal`, `c`, `pnml`, …
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// assert_eq!(model.language()?, "uppaal");
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn language(&self) -> Result<&'static str, Error> {
        registry::of(&self.path).map(|(_, language)| language.name)
    }

    /// The properties that the file, or one beside it, asks.
    ///
    /// ```
    /// let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/data/peterson.xta"); // its queries are in peterson.q
    /// let model = trellis::Model::open(file)?;
    /// for property in model.properties()? {
    ///     assert_eq!(model.check(&property).run()?.holds(), Some(true), "{property}");
    /// }
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn properties(&self) -> Result<Vec<Property>, Error> {
        let own = |q: Question| Property { text: q.text, canonical: q.property, given: None };
        match self.tasks(&self.settings(&[])?) {
            Ok(tasks) => Ok(tasks.iter().flat_map(|t| t.questions()).map(own).collect()),
            Err(Error::Nothing(..)) => Ok(vec![]),
            Err(error) => Err(error),
        }
    }

    /// A property of one's own, in the words of the command line's `--property`.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// // Can it be lit? Is it off again and again, in every run?
    /// let possible = model.check(&model.property("E<> P.On")?).run()?;
    /// assert_eq!(possible.holds(), Some(true));
    /// assert!(model.property("E<> P.Onn").is_err(), "there is no such place");
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn property(&self, text: &str) -> Result<Property, Error> {
        self.asked("--property", text)
    }

    /// What must never hold.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// assert_eq!(model.check(&model.never("P.Broken")?).run()?.holds(), Some(true));
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn never(&self, text: &str) -> Result<Property, Error> {
        self.asked("--error", text)
    }

    /// A formula of linear temporal logic that all runs must satisfy.
    ///
    /// ```
    /// # let text = "process P() { state A, B; init A; trans A -> B { }, B -> A { }; } system P;";
    /// # let model = trellis::Model::from_text("ab.xta", text)?;
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
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// let property = model.property("A[] not P.Broken")?;
    /// let report = model.check(&property).engine("reach").states(1000).timeout("10s").run()?;
    /// assert_eq!(report.holds(), Some(true));
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn check<'m>(&'m self, property: &'m Property) -> Check<'m> {
        Check::new(self, property)
    }

    /// Is evidence that was saved good for this property, of this model?
    ///
    /// Nothing is believed because it stands in the file: the model and the property are read anew.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let file = folder.path().join("run.json");
    /// use trellis::{Certified, Verdict};
    ///
    /// let property = model.property("A[] not P.On")?;
    /// let Verdict::Unsafe(trace) = model.check(&property).run()?.verdict() else { panic!("it can be lit") };
    /// trace.save(&file)?;
    /// assert!(matches!(model.certify(&property, &file)?, Certified::Valid(_)));
    ///
    /// let other = model.property("A[] not P.Broken")?;
    /// assert!(matches!(model.certify(&other, &file)?, Certified::Rejected(_)), "it is about something else");
    /// # Ok::<(), trellis::Error>(())
    /// ```
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
        let mut settings = Settings::read(&self.path, constants.chain(options.iter().cloned()))?;
        settings.model.brought = self.brought.clone();
        Ok(settings)
    }

    /// The file that it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A walk through it, one step after the other, by the reference interpreter.
    ///
    /// ```
    /// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
    /// # let model = trellis::Model::from_text("lamp.xta", text)?;
    /// let mut walk = model.walk()?;
    /// walk.take(0).unwrap();
    /// assert_eq!(walk.state()["P"], "On");
    /// assert!(walk.undo() && walk.steps() == 0);
    /// # Ok::<(), trellis::Error>(())
    /// ```
    pub fn walk(&self) -> Result<Box<dyn Stepper>, Error> {
        let settings = self.settings(&[])?;
        let (formalism, language) = registry::of_model(&settings.model)?;
        let simulate = crate::view::simulate(&settings);
        formalism.stepper(&simulate, language, None, &Context::default())
    }
}

/// What is asked.
///
/// ```
/// # let text = "process P() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system P;";
/// # let model = trellis::Model::from_text("lamp.xta", text)?;
/// assert_eq!(model.property("A[] not P.On")?.to_string(), "A[] not P.On");
/// # Ok::<(), trellis::Error>(())
/// ```
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
