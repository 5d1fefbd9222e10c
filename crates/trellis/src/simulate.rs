//! `trellis simulate`: one step after the other, by hand, at random, or along a trace.
//!
//! Everything here is written once for all formalisms, over [`Stepper`]; only [`open`] knows that there are several. What a step is, and
//! what a model may do, is for the steppers to say, which use the reference interpreters.

use std::borrow::Cow;
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use trellis_model::hierarchy::tree::detach::detach;
use trellis_report::Style;
use trellis_report::json::read_binding;
use trellis_report::step::counter::CounterStepper;
use trellis_report::step::hierarchy::HierarchyStepper;
use trellis_report::step::network::NetworkStepper;
use trellis_report::step::program::ProgramStepper;
use trellis_report::step::tree::TreeStepper;
use trellis_report::step::{Ask, Choices, Error, Stepper, Wait, text};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::{scxml, xsts};

use crate::chart::ChartStepper;
use crate::cli::{Properties, Simulate};
use crate::load::{Asked, load};
use crate::pipeline::steps;
use crate::{Failure, Ran, automaton, counter, exit, hierarchy, print, tree};

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

pub fn simulate(args: &Simulate, out_color: bool, err_color: bool) -> Ran {
    let style = Style { color: out_color, ..Default::default() };
    let trace = match &args.trace {
        Some(path) => Some(std::fs::read_to_string(path).map_err(|e| broken(path, &e))?),
        None => None,
    };
    let stepper = open(args, trace.as_deref(), err_color)?;
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

fn broken(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::Input(format!("error: {}: {why}", path.display()))
}

/// A walk through the model, whatever it is written in. A trace that is to be replayed says which question of the model it is about: that
/// decides where errors are.
fn open(args: &Simulate, trace: Option<&str>, color: bool) -> Result<Box<dyn Stepper>, Failure> {
    let path = &args.model.model;
    if args.instance.is_some() && !counter::is_one(path) {
        return Err(counter::no_instance());
    }
    if args.node.is_some() && !hierarchy::is_one(path) {
        return Err(Failure::Usage("--node: only for AltaRica (.alt)".into()));
    }
    if automaton::is_one(path) {
        return open_program(args, trace, color);
    }
    automaton::not_c(&args.reading)?;
    if counter::is_one(path) {
        let (system, start) = counter::start(&args.model, args.instance.as_deref(), color)?;
        return boxed(CounterStepper::new(Cow::Owned(system), start));
    }
    if tree::is_one(path) {
        if !args.model.constants.is_empty() {
            return Err(Failure::Usage("--const: a hierarchical transition system has no constants".into()));
        }
        return boxed(TreeStepper::new(Cow::Owned(tree::load(path)?.tree)));
    }
    if hierarchy::is_one(path) {
        let built = hierarchy::top(&mut Sources::default(), &args.model, args.node.as_deref(), color)?;
        if trace.is_some_and(|t| t.contains("\"trellis-tree-trace/")) {
            let detached = detach(&built.hierarchy, tree::MAX_LISTED).map_err(|e| Failure::Input(e.to_string()))?;
            return boxed(TreeStepper::new(Cow::Owned(detached.tree)));
        }
        return boxed(HierarchyStepper::new(Cow::Owned(built.hierarchy)));
    }
    let loaded = load(&args.model, &Asked { color, ..Default::default() })?;
    eprint!("{}", loaded.warnings);
    boxed(NetworkStepper::new(Cow::Owned(loaded.network)))
}

/// The same for programs, automata, transition systems and statecharts.
fn open_program(args: &Simulate, trace: Option<&str>, color: bool) -> Result<Box<dyn Stepper>, Failure> {
    let claimed = trace.and_then(|t| read_binding(t).ok()).map(|(_, binding)| binding.property);
    let with = |properties| automaton::load(&args.model, &args.reading, properties, color);
    let mut loaded = match with(None) {
        // A model that asks nothing can be walked through all the same.
        Err(Failure::Nothing("xsts", _)) => {
            let mut sources = Sources::default();
            let id = sources.read(&args.model.model).map_err(|d| Failure::Input(render(&[d], &sources, color)))?;
            let (xsts, warnings) =
                xsts::parse_system(&sources, id).map_err(|d| Failure::Input(render(&d, &sources, color)))?;
            eprint!("{}", render(&warnings, &sources, color));
            return Ok(Box::new(ProgramStepper::new(Cow::Owned(xsts.cfa), vec![])));
        }
        read => read?,
    };
    if let (Some(asked), Some(claimed)) = (&loaded.program, &claimed) {
        loaded.questions = asked.provable(claimed, &Properties::default())?;
    }
    let named = |loaded: &automaton::Loaded| {
        claimed.as_ref().and_then(|c| loaded.questions.iter().position(|(name, _)| name == c))
    };
    let mut at = named(&loaded);
    if let (Some(claimed), None, None) = (&claimed, at, &loaded.program) {
        // It is about something that was asked on the command line.
        let asked = Properties { properties: vec![claimed.clone()], ..Properties::default() };
        if let Ok(other) = with(Some(&asked)) {
            (loaded, at) = (other, Some(0));
        }
    }
    eprint!("{}", loaded.warnings);
    let at = at.unwrap_or(0);
    if at < loaded.charts.len() {
        // Without a trace no property is asked, and nothing stops a walk.
        if trace.is_none() {
            let mut sources = Sources::default();
            let id = sources.read(&args.model.model).map_err(|d| Failure::Input(render(&[d], &sources, color)))?;
            let (chart, _) =
                scxml::parse_system(&sources, id).map_err(|d| Failure::Input(render(&d, &sources, color)))?;
            return boxed(ChartStepper::new(chart));
        }
        return boxed(ChartStepper::new(loaded.charts.swap_remove(at)));
    }
    if loaded.questions.len() > 1 {
        eprintln!("note: of several properties, errors are about `{}`", loaded.questions[at].0);
    }
    let texts = loaded.texts(&loaded.questions[at].1);
    let (_, cfa) = loaded.questions.swap_remove(at);
    Ok(Box::new(ProgramStepper::new(Cow::Owned(cfa), texts)))
}

fn boxed<S: Stepper + 'static>(stepper: Result<S, Error>) -> Result<Box<dyn Stepper>, Failure> {
    match stepper {
        Ok(stepper) => Ok(Box::new(stepper)),
        Err(why) => Err(failed(why)),
    }
}

/// What cannot go on.
fn failed(why: Error) -> Failure {
    Failure::Input(match why {
        Error::Model(_) => why.to_string(),
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
    fn random_step(&mut self) -> Result<bool, Error> {
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
                "b" | "u" if !self.stepper.undo() => Err(Error::refused("there is nothing to undo")),
                "b" | "u" => Ok(()),
                "r" => match self.random_step() {
                    Ok(false) => Err(Error::refused("there is no step to take, now or later")),
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
    fn command(&mut self, word: &str, offers: usize) -> Result<(), Error> {
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
                Err(Error::Refused(format!("there is no step {word}: no step is possible; u undoes the last one")))
            }
            _ if number => Err(Error::Refused(format!("there is no step {word}; choose from 0 to {}", offers - 1))),
            _ if word == "w" => Err(Error::refused("wait for how long? w 3, w 5/2 or w 2.5")),
            _ => Err(Error::Refused(format!("`{word}` is not a step here; {COMMANDS}"))),
        }
    }

    /// The state, and what can be done in it; answers how many offers there are.
    fn show_all(&self) -> Result<usize, Failure> {
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

    fn show_state(&self) -> Result<(), Failure> {
        print(&text::state(&self.stepper.state(), &|name, value| self.stepper.is_idle(name, value)))?;
        if let Some(remark) = self.stepper.remark() {
            print(&format!("({remark})"))?;
        }
        Ok(())
    }
}

/// What can be done now, by number, and what only after waiting.
fn show_choices(choices: &Choices) -> Result<(), Failure> {
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
