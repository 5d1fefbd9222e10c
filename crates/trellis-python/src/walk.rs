//! A walk through a model, one step after the other.

use pyo3::prelude::*;
use trellis::report::step::{Ask, Error as StepError, Stepper, Wait};

use crate::{Error, UsageError, raised};

/// What is asked, the offers, what is possible later, and how long time may pass.
type Choices = (String, Vec<String>, Vec<String>, Option<String>);

/// A walk; its states and steps are JSON texts.
#[pyclass(unsendable)]
pub struct Walk(Box<dyn Stepper>);

impl Walk {
    pub fn of(model: &trellis::Model) -> PyResult<Walk> {
        model.walk().map(Walk).map_err(raised)
    }
}

fn refused(error: StepError) -> PyErr {
    match error {
        StepError::Refused(why) => UsageError::new_err(why),
        other => Error::new_err(other.to_string()),
    }
}

fn json(value: &impl trellis::report::run::Serialize) -> PyResult<String> {
    trellis::report::run::to_json(value).map_err(|e| Error::new_err(e.to_string()))
}

#[pymethods]
impl Walk {
    fn state(&self) -> PyResult<String> {
        json(&self.0.state())
    }

    /// What is asked, the offers, what is possible later, and how long time may pass.
    fn choices(&self) -> PyResult<Choices> {
        let c = self.0.choices().map_err(refused)?;
        let ask = match c.ask {
            Ask::Step => "step".to_string(),
            Ask::Start => "start".into(),
            Ask::Input(input) => format!("{}: {}", input.name, input.domain),
        };
        let steps = |all: &[trellis::report::run::Step]| all.iter().map(json).collect::<PyResult<Vec<_>>>();
        let wait = c.wait.map(|w| match w {
            Wait::Forever => "forever".to_string(),
            Wait::Never => "not at all".into(),
            Wait::UpTo(t) => format!("<= {t}"),
            Wait::Below(t) => format!("< {t}"),
            Wait::Unknown => "unknown".into(),
        });
        Ok((ask, steps(&c.offers)?, steps(&c.later)?, wait))
    }

    fn take(&mut self, offer: usize) -> PyResult<()> {
        self.0.take(offer).map_err(refused)
    }

    fn undo(&mut self) -> bool {
        self.0.undo()
    }

    fn steps(&self) -> usize {
        self.0.steps()
    }

    fn run(&self) -> PyResult<String> {
        json(&self.0.run())
    }

    fn replay(&mut self, trace: &str) -> PyResult<()> {
        self.0.replay(trace).map_err(refused)
    }

    fn remark(&self) -> Option<String> {
        self.0.remark()
    }

    fn wait(&mut self, delay: &str) -> PyResult<()> {
        self.0.wait(delay).map_err(refused)
    }

    fn input(&mut self, name: &str, value: &str) -> PyResult<()> {
        self.0.input(name, value).map_err(refused)
    }

    /// Takes a step at random; answers whether there was one.
    fn random(&mut self, mut seed: u64) -> PyResult<bool> {
        let mut draw = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        self.0.random(&mut draw).map_err(refused)
    }
}
