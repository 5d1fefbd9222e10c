//! `trellis simulate`: one step after the other, by hand, at random, or along a trace. Uses the reference interpreter.

use std::io::{BufRead, IsTerminal, Write};

use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{ModelError, Network, Snapshot, Step, Trace};
use trellis_report::{Content, Style, read_evidence, text};

use crate::cli::Simulate;
use crate::load::{Asked, load};
use crate::{Failure, Ran, exit, print};

const COMMANDS: &str =
    "number: take that step · r: a random one · b: back · s: the whole state · t: the way here · q: quit";

pub fn simulate(args: &Simulate, out_color: bool, err_color: bool) -> Ran {
    let loaded = load(&args.model, &Asked { color: err_color, ..Default::default() })?;
    loaded.runnable()?;
    eprint!("{}", loaded.warnings);
    let net = &loaded.network;
    let style = Style { color: out_color, ..Default::default() };
    if let Some(path) = &args.trace {
        let broken = |why: &dyn std::fmt::Display| Failure::Input(format!("error: {}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|e| broken(&e))?;
        let Content::Trace(trace) = read_evidence(net, &text).map_err(|e| broken(&e))?.content else {
            return Err(Failure::Usage(format!("{} is a certificate; only traces can be replayed", path.display())));
        };
        return replay(net, &trace, style);
    }
    let walk = Walk { net, interpreter: Interpreter::new(net), style, seed: args.seed.wrapping_mul(2).wrapping_add(1) };
    match args.random {
        Some(steps) => walk.random(steps),
        None => walk.by_hand(),
    }
}

fn replay(net: &Network, trace: &Trace, style: Style) -> Ran {
    print(&text::trace(net, trace, None, style))?;
    let interpreter = Interpreter::new(net);
    let initial = interpreter.initial().map_err(model_error)?;
    if initial != trace.initial {
        return Err(Failure::Input("error: the trace does not start in the model's initial state".into()));
    }
    let mut at = initial;
    for (i, step) in trace.steps.iter().enumerate() {
        match interpreter.take(&at, &step.action).map_err(model_error)? {
            Some(next) if next == step.state => at = next,
            Some(_) => return Err(Failure::Input(format!("error: step {} leads elsewhere in this model", i + 1))),
            None => return Err(Failure::Input(format!("error: step {} is not possible in this model", i + 1))),
        }
    }
    print(&format!("replayed: {} steps", trace.steps.len()))
}

fn model_error(e: ModelError) -> Failure {
    Failure::Input(format!("model error: {e}"))
}

struct Walk<'n> {
    net: &'n Network,
    interpreter: Interpreter<'n>,
    style: Style,
    seed: u64,
}

impl Walk<'_> {
    fn draw(&mut self, n: usize) -> usize {
        self.seed ^= self.seed >> 12;
        self.seed ^= self.seed << 25;
        self.seed ^= self.seed >> 27;
        (self.seed.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn start(&self) -> Result<Trace, Failure> {
        let initial = self.interpreter.initial().map_err(model_error)?;
        Ok(Trace::at(initial))
    }

    fn steps(&self, at: &Snapshot) -> Result<Vec<Step>, Failure> {
        let steps = self.interpreter.steps(at).map_err(model_error)?;
        Ok(steps.into_iter().map(|(action, state)| Step::at_once(action, state)).collect())
    }

    fn random(mut self, steps: usize) -> Ran {
        let mut trace = self.start()?;
        for _ in 0..steps {
            let mut next = self.steps(trace.last())?;
            if next.is_empty() {
                print(&text::trace(self.net, &trace, None, self.style))?;
                return print("deadlock: no step is possible");
            }
            let i = self.draw(next.len());
            trace.steps.push(next.swap_remove(i));
        }
        print(&text::trace(self.net, &trace, None, self.style))
    }

    fn by_hand(mut self) -> Ran {
        let mut trace = self.start()?;
        let asking = std::io::stdin().is_terminal();
        let mut lines = std::io::stdin().lock().lines();
        print(&text::state(self.net, trace.last()))?;
        loop {
            let mut steps = self.steps(trace.last())?;
            for (i, s) in steps.iter().enumerate() {
                print(&format!("  {i}: {}", trellis_check::describe_action(self.net, &s.action)))?;
            }
            if steps.is_empty() {
                print("  no step is possible")?;
            }
            if asking {
                eprint!("({COMMANDS})\n> ");
                let _ = std::io::stderr().flush();
            }
            let Some(Ok(line)) = lines.next() else { return Ok(exit::HOLDS) };
            match line.trim() {
                "" => continue,
                "q" | "quit" | "exit" => return Ok(exit::HOLDS),
                "s" => {
                    print(&text::state(self.net, trace.last()))?;
                    continue;
                }
                "t" => {
                    print(&text::trace(self.net, &trace, None, self.style))?;
                    continue;
                }
                "b" => {
                    trace.steps.pop();
                }
                "r" if !steps.is_empty() => {
                    let i = self.draw(steps.len());
                    trace.steps.push(steps.swap_remove(i));
                }
                word => match word.parse::<usize>() {
                    Ok(i) if i < steps.len() => trace.steps.push(steps.swap_remove(i)),
                    _ => {
                        print(&format!("`{word}` is not a step here; {COMMANDS}"))?;
                        continue;
                    }
                },
            }
            print(&text::state(self.net, trace.last()))?;
        }
    }
}
