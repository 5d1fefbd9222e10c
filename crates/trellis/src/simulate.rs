//! `trellis simulate`: one step after the other, by hand, at random, or along a trace. Uses the reference interpreter.

use std::io::{BufRead, IsTerminal, Write};

use trellis_domain::zone::Rational;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{ModelError, Network, Step, Trace};
use trellis_report::{Content, Style, json, network, text};

use crate::cli::Simulate;
use crate::counter;
use crate::load::{Asked, load};
use crate::walk::{Patience, Walk, duration};
use crate::{Failure, Ran, exit, print};

pub const COMMANDS: &str =
    "number: take that step · r: a random one · b: back · s: the whole state · t: the way here · q: quit";
const WAIT: &str = " · w 5/2: wait so long";

pub fn simulate(args: &Simulate, out_color: bool, err_color: bool) -> Ran {
    let style = Style { color: out_color, ..Default::default() };
    if counter::is_one(&args.model.model) {
        return counter::simulate(args, style, err_color);
    }
    if args.instance.is_some() {
        return Err(counter::no_instance());
    }
    let loaded = load(&args.model, &Asked { color: err_color, ..Default::default() })?;
    eprint!("{}", loaded.warnings);
    let net = &loaded.network;
    if let Some(path) = &args.trace {
        let broken = |why: &dyn std::fmt::Display| Failure::Input(format!("error: {}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|e| broken(&e))?;
        let Content::Trace(trace) = json::read(net, &text).map_err(|e| broken(&e))? else {
            return Err(Failure::Usage(format!("{} is a certificate; only traces can be replayed", path.display())));
        };
        return replay(net, &trace, style);
    }
    let walk = Walk::new(net).map_err(model_error)?;
    let session = Session { net, walk, style, seed: args.seed.wrapping_mul(2).wrapping_add(1) };
    match args.random {
        Some(steps) => session.random(steps),
        None => session.by_hand(),
    }
}

fn replay(net: &Network, trace: &Trace, style: Style) -> Ran {
    print(&text::trace(net, trace, Style { full: true, ..style }))?;
    let interpreter = Interpreter::new(net);
    let initial = interpreter.initial().map_err(model_error)?;
    if initial != trace.initial {
        return Err(Failure::Input("error: the trace does not start in the model's initial state".into()));
    }
    let mut at = initial;
    let cannot_wait = |delay: Rational, i: usize| {
        Failure::Input(format!("error: {delay} time units may not pass in state {i} of this model"))
    };
    for (i, step) in trace.steps.iter().enumerate() {
        let waited = interpreter.wait(&at, step.delay).map_err(model_error)?;
        at = waited.ok_or_else(|| cannot_wait(step.delay, i))?;
        match interpreter.take(&at, &step.action).map_err(model_error)? {
            Some(next) if next == step.state => at = next,
            Some(_) => return Err(Failure::Input(format!("error: step {} leads elsewhere in this model", i + 1))),
            None => return Err(Failure::Input(format!("error: step {} is not possible in this model", i + 1))),
        }
    }
    if !interpreter.can_wait(&at, trace.rest).map_err(model_error)? {
        return Err(cannot_wait(trace.rest, trace.steps.len()));
    }
    print(&format!("replayed: {} steps", trace.steps.len()))
}

fn model_error(e: ModelError) -> Failure {
    Failure::Input(format!("model error: {e}"))
}

struct Session<'n> {
    net: &'n Network,
    walk: Walk<'n>,
    style: Style,
    seed: u64,
}

impl Session<'_> {
    fn draw(&mut self, n: usize) -> usize {
        self.seed ^= self.seed >> 12;
        self.seed ^= self.seed << 25;
        self.seed ^= self.seed >> 27;
        (self.seed.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn random(mut self, steps: usize) -> Ran {
        for _ in 0..steps {
            if !self.random_step()? {
                print(&text::trace(self.net, &self.walk.trace, Style { full: true, ..self.style }))?;
                return print("deadlock: no step is possible");
            }
        }
        print(&text::trace(self.net, &self.walk.trace, Style { full: true, ..self.style }))
    }

    /// Takes some step, perhaps after waiting; answers whether there was one.
    fn random_step(&mut self) -> Result<bool, Failure> {
        let mut next = self.walk.later().map_err(model_error)?;
        if next.is_empty() {
            return Ok(false);
        }
        let i = self.draw(next.len());
        self.walk.take(next.swap_remove(i));
        Ok(true)
    }

    fn by_hand(mut self) -> Ran {
        let commands = format!("{COMMANDS}{}", if self.walk.is_timed() { WAIT } else { "" });
        let asking = std::io::stdin().is_terminal();
        let mut lines = std::io::stdin().lock().lines();
        self.show_state()?;
        loop {
            let mut steps = self.walk.steps().map_err(model_error)?;
            self.offer(&steps)?;
            if asking {
                eprint!("({commands})\n> ");
                let _ = std::io::stderr().flush();
            }
            let Some(Ok(line)) = lines.next() else { return Ok(exit::HOLDS) };
            match line.trim() {
                "" => continue,
                "q" | "quit" | "exit" => return Ok(exit::HOLDS),
                "s" => {}
                "t" => {
                    print(&text::trace(self.net, &self.walk.trace, Style { full: true, ..self.style }))?;
                    continue;
                }
                "b" => self.walk.back(),
                "r" => {
                    if !self.random_step()? {
                        print("there is no step to take, now or later")?;
                        continue;
                    }
                }
                word => match (word.parse::<usize>(), word.strip_prefix("w ").map(|d| duration(d.trim()))) {
                    (Ok(i), _) if i < steps.len() => self.walk.take(steps.swap_remove(i)),
                    (_, Some(Some(delay))) if self.walk.is_timed() => {
                        if !self.walk.wait(delay).map_err(model_error)? {
                            print("time may not pass for so long here")?;
                            continue;
                        }
                    }
                    _ => {
                        print(&format!("`{word}` is not a step here; {commands}"))?;
                        continue;
                    }
                },
            }
            self.show_state()?;
        }
    }

    fn show_state(&self) -> Result<(), Failure> {
        print(&network::state(self.net, &self.walk.now().map_err(model_error)?))?;
        if !self.walk.is_timed() {
            return Ok(());
        }
        print(&match self.walk.patience().map_err(model_error)? {
            Patience::Forever => "time may pass without limit".into(),
            Patience::Until(Rational::ZERO, _) => "no time may pass".into(),
            Patience::Until(limit, true) => format!("up to {limit} time units may pass"),
            Patience::Until(limit, false) => format!("less than {limit} time units may pass"),
            Patience::Unknown => return Ok(()),
        })?;
        Ok(())
    }

    /// What can be done now, by number, and what only after waiting.
    fn offer(&self, steps: &[Step]) -> Result<(), Failure> {
        for (i, s) in steps.iter().enumerate() {
            print(&format!("  {i}: {}", trellis_check::describe_action(self.net, &s.action)))?;
        }
        let awaited = if self.walk.is_timed() { self.walk.awaited().map_err(model_error)? } else { Vec::new() };
        for (wait, action) in &awaited {
            let what = trellis_check::describe_action(self.net, action);
            print(&format!("  w {wait}: and then, for example, {what}"))?;
        }
        if steps.is_empty() && awaited.is_empty() {
            print("  no step is possible")?;
        }
        Ok(())
    }
}
