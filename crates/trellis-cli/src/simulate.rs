//! `trellis simulate`: one step after the other, by hand, at random, or along a trace.
//!
//! Everything here is written once for all formalisms, over [`Stepper`], which each formalism has. What a step is, and
//! what a model may do, is for the steppers to say, which use the reference interpreters.

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use trellis::pipeline::steps;
use trellis::settings::Simulate;
use trellis::{Error, registry};
use trellis_report::Style;
use trellis_report::step::{Ask, Choices, Error as StepError, Stepper, Wait, text};

use crate::{Ran, exit, limits, print};

/// So many offers are shown; all can be taken.
const MAX_SHOWN: usize = 50;

const COMMANDS: &str =
    "a number takes that step · r a random one · u undo · s the state · t the way here · h help · q quit";

const HELP: &str = "  NUMBER        take the step, or the value, with that number
  r             take a step at random; where time must pass first, wait
  u, b          undo the last step, the last wait, or the last choice
  s             show the whole state
  t             show the way here
  w DELAY       wait: w 3, w 5/2, w 2.5 (models with clocks)
  NAME = VALUE  give the value that the model leaves open (programs)
  h, help       show this
  q             quit; so does the end of the input";

pub fn simulate(args: &Simulate, style: Style, err_color: bool) -> Ran {
    let trace = match &args.trace {
        Some(path) => Some(std::fs::read_to_string(path).map_err(|e| broken(path, &e))?),
        None => None,
    };
    let (formalism, language) = registry::of_model(&args.model)?;
    registry::refuse_plain(&args.given, formalism, language)?;
    let stepper = formalism.stepper(args, language, trace.as_deref(), &limits::colored(err_color))?;
    let seed = args.seed.wrapping_mul(2).wrapping_add(1);
    let mut session = Session { stepper, style, seed };
    match (trace.zip(args.trace.as_ref()), args.random) {
        (Some((trace, path)), _) => {
            session.stepper.replay(&trace).map_err(|why| broken(path, &why))?;
            session.replayed()
        }
        (None, Some(steps)) => session.random(steps),
        (None, None) => session.by_hand(),
    }
}

fn broken(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Input(format!("error: {}: {why}", path.display()))
}

/// What cannot go on.
fn failed(why: StepError) -> Error {
    Error::Input(match why {
        StepError::Model(_) => why.to_string(),
        why => format!("error: {why}"),
    })
}

struct Session {
    stepper: Box<dyn Stepper>,
    style: Style,
    seed: u64,
}

impl Session {
    fn replayed(&self) -> Ran {
        self.show_run()?;
        let remark = self.stepper.remark().map_or(String::new(), |r| format!(", and {r}"));
        print(&format!("replayed: {}{remark}", steps(self.stepper.steps())))
    }

    /// Takes some step; answers whether there was one.
    fn random_step(&mut self) -> Result<bool, StepError> {
        let seed = &mut self.seed;
        let mut draw = |n: usize| {
            *seed ^= *seed >> 12;
            *seed ^= *seed << 25;
            *seed ^= *seed >> 27;
            (seed.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
        };
        self.stepper.random(&mut draw)
    }

    fn random(mut self, steps: usize) -> Ran {
        for _ in 0..steps {
            match self.random_step() {
                Ok(true) => {}
                Ok(false) => {
                    self.show_run()?;
                    let remark = self.stepper.remark();
                    return print(
                        &remark.map_or("deadlock: no step is possible".into(), |r| format!("{r}: no step follows")),
                    );
                }
                Err(why) => {
                    self.show_run()?;
                    return Err(failed(why));
                }
            }
        }
        self.show_run()
    }

    fn show_run(&self) -> Ran {
        print(&text::run(&self.stepper.run(), &|name, value| self.stepper.is_idle(name, value), self.style))
    }

    fn by_hand(mut self) -> Ran {
        let asking = std::io::stdin().is_terminal();
        let mut lines = std::io::stdin().lock().lines();
        let mut offers = self.show_all()?;
        loop {
            if asking {
                eprint!("({COMMANDS})\n> ");
                let _ = std::io::stderr().flush();
            }
            let line = match lines.next() {
                None => return Ok(exit::HOLDS),
                Some(Ok(line)) => line,
                Some(Err(why)) => {
                    print(&format!("this line cannot be read: {why}"))?;
                    continue;
                }
            };
            let done = match line.trim() {
                "" => continue,
                "q" | "quit" | "exit" => return Ok(exit::HOLDS),
                "h" | "help" | "?" => {
                    print(HELP)?;
                    continue;
                }
                "s" => Ok(()),
                "t" => {
                    self.show_run()?;
                    continue;
                }
                "b" | "u" if !self.stepper.undo() => Err(StepError::refused("there is nothing to undo")),
                "b" | "u" => Ok(()),
                "r" => match self.random_step() {
                    Ok(false) => Err(StepError::refused("there is no step to take, now or later")),
                    other => other.map(|_| ()),
                },
                word => self.command(word, offers),
            };
            match done {
                Ok(()) => offers = self.show_all()?,
                Err(why) => _ = print(&why.to_string())?,
            }
        }
    }

    /// A number, a delay or a value.
    fn command(&mut self, word: &str, offers: usize) -> Result<(), StepError> {
        if let Some((name, value)) = word.split_once('=') {
            return self.stepper.input(name.trim(), value.trim());
        }
        if let Some(delay) = word.strip_prefix('w').filter(|d| d.starts_with([' ', '\t'])) {
            return self.stepper.wait(delay.trim());
        }
        let number = word.bytes().all(|b| b.is_ascii_digit());
        match word.parse::<usize>() {
            Ok(n) if n < offers => self.stepper.take(n),
            _ if number && offers == 0 => {
                Err(StepError::Refused(format!("there is no step {word}: no step is possible; u undoes the last one")))
            }
            _ if number => Err(StepError::Refused(format!("there is no step {word}; choose from 0 to {}", offers - 1))),
            _ if word == "w" => Err(StepError::refused("wait for how long? w 3, w 5/2 or w 2.5")),
            _ => Err(StepError::Refused(format!("`{word}` is not a step here; {COMMANDS}"))),
        }
    }

    /// The state, and what can be done in it; answers how many offers there are.
    fn show_all(&self) -> Result<usize, Error> {
        self.show_state()?;
        match self.stepper.choices() {
            Ok(choices) => {
                show_choices(&choices)?;
                Ok(choices.offers.len())
            }
            // Whoever has walked into it can walk back.
            Err(why) => print(&format!("  {why}")).map(|_| 0),
        }
    }

    fn show_state(&self) -> Result<(), Error> {
        print(&text::state(&self.stepper.state(), &|name, value| self.stepper.is_idle(name, value), self.style))?;
        if let Some(remark) = self.stepper.remark() {
            print(&format!("({remark})"))?;
        }
        Ok(())
    }
}

/// What can be done now, by number, and what only after waiting.
fn show_choices(choices: &Choices) -> Result<(), Error> {
    let wait = choices.wait.as_ref().and_then(|wait| match wait {
        Wait::Forever => Some("time may pass without limit".to_string()),
        Wait::Never => Some("no time may pass".into()),
        Wait::UpTo(limit) => Some(format!("up to {limit} time units may pass")),
        Wait::Below(limit) => Some(format!("less than {limit} time units may pass")),
        Wait::Unknown => None,
    });
    wait.map_or(Ok(exit::HOLDS), |text| print(&text))?;
    match &choices.ask {
        Ask::Step => {}
        Ask::Start => _ = print("it may start in several ways; choose one:")?,
        Ask::Input(input) => {
            print(&format!("{} is open ({}): choose one, or write {} = VALUE", input.name, input.domain, input.name))?;
        }
    }
    for (i, step) in choices.offers.iter().enumerate().take(MAX_SHOWN) {
        print(&format!("  {i}: {}", text::offer(step)))?;
    }
    if choices.offers.len() > MAX_SHOWN {
        print(&format!("  … and so on, up to {}", choices.offers.len() - 1))?;
    }
    for step in &choices.later {
        let delay = step.delay.as_deref().unwrap_or("0");
        print(&format!("  w {delay}: and then, for example, {}", text::offer(step)))?;
    }
    if choices.offers.is_empty() && choices.later.is_empty() {
        print(if choices.ask == Ask::Step {
            "  no step is possible"
        } else {
            "  no value that was tried is possible"
        })?;
    }
    Ok(())
}
