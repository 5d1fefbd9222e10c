//! One instance of a counter system, with a fixed number of processes: written as an UPPAAL model, or stepped through.

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use trellis_model::counter::evidence::Trace;
use trellis_model::counter::interpret::{State, is_bad};
use trellis_model::counter::{RuleId, System, interpret};
use trellis_report::counter::xta;
use trellis_report::{Content, Style, json, text as shown};
use trellis_syntax::diag::{self, Diagnostic, Sources};
use trellis_syntax::spec;

use super::load::{Asked, Loaded, load};
use crate::cli::{Convert, Format, Model, Simulate};
use crate::files::write_file;
use crate::pipeline::steps;
use crate::simulate::COMMANDS;
use crate::{Failure, Ran, automaton, exit, print};

/// The system, and how the instance starts.
fn start(model: &Model, instance: Option<&str>, color: bool) -> Result<(System, Vec<u64>), Failure> {
    let Loaded { system, warnings, .. } = load(model, &Asked { color, ..Asked::default() })?;
    eprint!("{warnings}");
    let initial = match instance {
        None => system.initial.iter().map(|i| i.low).collect(),
        Some(numbers) => {
            let mut sources = Sources::default();
            let id = sources.add("--instance", numbers);
            let broken = |d: Vec<Diagnostic>| Failure::Input(diag::render(&d, &sources, color));
            spec::parse_instance(&sources, id, &system).map_err(broken)?
        }
    };
    Ok((system, initial))
}

fn written(model: &Model, instance: Option<&str>, color: bool) -> Result<String, Failure> {
    let (system, initial) = start(model, instance, color)?;
    xta::instance(&system, &initial, &model.model.display().to_string()).map_err(Failure::Usage)
}

/// What is said to other models.
pub fn no_instance() -> Failure {
    Failure::Usage("--instance and --to xta: only for counter systems (.spec, .pnml, .lola, .tts)".into())
}

/// `trellis convert` for counter systems.
pub fn convert(args: &Convert, color: bool) -> Ran {
    automaton::not_c(&args.reading)?;
    if args.to != Format::Xta || args.property.is_some() || !args.model.constants.is_empty() {
        return Err(Failure::Usage("a counter system is written as an instance: --to xta --instance 'x = 3'".into()));
    }
    let text = written(&args.model, args.instance.as_deref(), color)?;
    match &args.output {
        Some(path) => write_file(path, &text).map(|()| exit::HOLDS),
        None => print(&text),
    }
}

/// `trellis simulate` for counter systems: one rule after the other.
pub fn simulate(args: &Simulate, style: Style, color: bool) -> Ran {
    if !args.model.constants.is_empty() {
        return Err(Failure::Usage("--const: only UPPAAL and AltaRica models have constants that can be set".into()));
    }
    if let Some(path) = &args.trace {
        return replay(&args.model, path, style, color);
    }
    let (system, initial) = start(&args.model, args.instance.as_deref(), color)?;
    let mut walk = Walk { system: &system, states: vec![initial], rules: vec![], seed: args.seed };
    match args.random {
        Some(steps) => {
            let stuck = !(0..steps).all(|_| walk.random());
            print(&shown::trace(&system, &walk.trace(), Style { full: true, ..style }))?;
            if stuck { print("no rule can be taken") } else { Ok(exit::HOLDS) }
        }
        None => by_hand(walk, style),
    }
}

/// A run so far.
struct Walk<'s> {
    system: &'s System,
    states: Vec<State>,
    rules: Vec<RuleId>,
    seed: u64,
}

impl Walk<'_> {
    fn now(&self) -> &State {
        self.states.last().expect("there is a start")
    }

    /// The rules that can be taken, and where they lead.
    fn steps(&self) -> Vec<(RuleId, State)> {
        let all = 0..self.system.rules.len() as RuleId;
        all.filter_map(|r| Some((r, interpret::step(self.system, r, self.now()).ok()??))).collect()
    }

    fn take(&mut self, (rule, state): (RuleId, State)) {
        self.rules.push(rule);
        self.states.push(state);
    }

    /// Takes some rule; answers whether there was one.
    fn random(&mut self) -> bool {
        let mut all = self.steps();
        if all.is_empty() {
            return false;
        }
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let step = all.swap_remove((self.seed >> 33) as usize % all.len());
        self.take(step);
        true
    }

    fn trace(&self) -> Trace {
        Trace { initial: self.states[0].clone(), rules: self.rules.clone() }
    }

    fn show(&self) -> Result<(), Failure> {
        let some = self.now().iter().zip(&self.system.names).filter(|(n, _)| **n > 0);
        let parts: Vec<String> = some.map(|(n, name)| format!("{name} = {n}")).collect();
        let covered = if is_bad(self.system, self.now()) { "    (a target is covered)" } else { "" };
        print(&format!("{}{covered}", parts.join(", "))).map(|_| ())
    }
}

fn by_hand(mut walk: Walk<'_>, style: Style) -> Ran {
    let asking = std::io::stdin().is_terminal();
    let mut lines = std::io::stdin().lock().lines();
    walk.show()?;
    loop {
        let mut steps = walk.steps();
        for (i, (rule, _)) in steps.iter().enumerate() {
            let line = walk.system.rules[*rule as usize].line.map_or(String::new(), |l| format!("line {l}: "));
            print(&format!("  {i}: {line}{}", walk.system.describe(*rule)))?;
        }
        if steps.is_empty() {
            print("  no rule can be taken")?;
        }
        if asking {
            eprint!("({COMMANDS})\n> ");
            let _ = std::io::stderr().flush();
        }
        let Some(Ok(line)) = lines.next() else { return Ok(exit::HOLDS) };
        match line.trim() {
            "" => continue,
            "q" | "quit" | "exit" => return Ok(exit::HOLDS),
            "s" => {}
            "t" => {
                print(&shown::trace(walk.system, &walk.trace(), Style { full: true, ..style }))?;
                continue;
            }
            "b" if walk.rules.is_empty() => {}
            "b" => {
                walk.rules.pop();
                walk.states.pop();
            }
            "r" => _ = walk.random(),
            word => match word.parse::<usize>() {
                Ok(i) if i < steps.len() => walk.take(steps.swap_remove(i)),
                _ => {
                    print(&format!("`{word}` is not a step here; {COMMANDS}"))?;
                    continue;
                }
            },
        }
        walk.show()?;
    }
}

/// `trellis simulate --trace` for counter systems.
fn replay(model: &Model, path: &Path, style: Style, color: bool) -> Ran {
    let Loaded { system, .. } = load(model, &Asked { color, ..Asked::default() })?;
    let broken = |why: &dyn std::fmt::Display| Failure::Input(format!("error: {}: {why}", path.display()));
    let evidence = std::fs::read_to_string(path).map_err(|e| broken(&e))?;
    let Content::Trace(trace) = json::read(&system, &evidence).map_err(|e| broken(&e))? else {
        return Err(Failure::Usage(format!("{} is a certificate; only traces can be replayed", path.display())));
    };
    let end = interpret::walk(&system, &trace, |_| {}).map_err(|e| broken(&e))?;
    print(&shown::trace(&system, &trace, Style { full: true, ..style }))?;
    let covers = if is_bad(&system, &end) { ", and a target is covered" } else { "" };
    print(&format!("replayed: {}{covers}", steps(trace.rules.len())))
}
