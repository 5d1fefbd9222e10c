//! Walks through models: where one is after some moves, and what can be done there.
//!
//! A walk is the list of its moves, and every request says all of them: a link to a state is such a list, and nothing is lost if the server
//! forgets. It does remember the walks of the last few models, each in a thread of its own (a `Stepper` stays in one), so that one more step costs
//! one step: moves that both lists have are not made again.
//!
//! A move is what `trellis simulate` reads: `3` takes the offer with that number, `w 5/2` waits, `x = 5` gives a value that the model leaves open.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError, mpsc};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use trellis::context::Context;
use trellis::report::run::{Run, Step};
use trellis::report::step::{self, Ask, Choices, Error, Stepper, Wait};
use trellis::settings::{Settings, Simulate};
use trellis::{registry, view};

use crate::check::STACK;
use crate::files::{Opened, Source};

/// So many walks are remembered.
const MOST: usize = 8;
/// A walk of more moves is refused.
const MAX_MOVES: usize = 100_000;
/// So many offers are shown.
const MAX_OFFERS: usize = 200;
/// So many of them are tried, to see where they lead.
const MAX_NEXT: usize = 64;

/// What is asked.
#[derive(Deserialize)]
pub struct Asked {
    pub model: Source,
    /// Options of `trellis check` that say how the model is read.
    #[serde(default)]
    pub options: Vec<String>,
    /// All moves.
    #[serde(default)]
    pub moves: Vec<String>,
    /// Then so many more at random.
    #[serde(default)]
    pub random: usize,
    #[serde(default)]
    pub seed: u64,
    /// How many steps of the run are known to who asks.
    #[serde(default)]
    pub known: usize,
    /// From one set of states to the next: zones, predicates.
    #[serde(default)]
    pub symbolic: bool,
    /// Where does each choice lead? That is what the explorer of the state space asks.
    #[serde(default)]
    pub expand: bool,
    /// Instead of moves: a trace, as `--trace` writes it, to be walked along for so many steps.
    #[serde(default)]
    pub trace: Option<(String, usize)>,
}

/// Which walk it is: the model as it is now, and how it is read.
pub type Key = (Source, Vec<String>, Option<std::time::SystemTime>, bool);

type Reply = Result<Value, String>;
type Job = (Asked, oneshot::Sender<Reply>);

/// The walks that are remembered, the last one used at the end.
#[derive(Default)]
pub struct Walks(Mutex<VecDeque<(Key, mpsc::Sender<Job>)>>);

impl Walks {
    /// Asks the thread of a walk, which is started if there is none.
    pub async fn ask(
        &self,
        key: Key,
        asked: Asked,
        open: impl FnOnce() -> Result<(Opened, Settings), String>,
    ) -> Reply {
        let (send, reply) = oneshot::channel();
        let mut job = Some((asked, send));
        {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = all.iter().position(|(k, _)| *k == key) {
                let (key, walk) = all.remove(at).expect("it is there");
                // A thread that has ended gives the job back.
                job = job.take().and_then(|job| walk.send(job).err()).map(|back| back.0);
                if job.is_none() {
                    all.push_back((key, walk));
                }
            }
            if let Some(job) = job {
                let walk = start(open()?)?;
                walk.send(job).map_err(|_| "the walk has ended".to_string())?;
                all.push_back((key, walk));
                while all.len() > MOST {
                    all.pop_front();
                }
            }
        }
        reply.await.map_err(|_| "this model cannot be walked through".to_string())?
    }
}

/// The thread of a walk. It ends when it is forgotten.
fn start((model, settings): (Opened, Settings)) -> Result<mpsc::Sender<Job>, String> {
    let (send, jobs) = mpsc::channel::<Job>();
    let work = move || {
        let mut walk: Option<Walk> = None;
        while let Ok((asked, reply)) = jobs.recv() {
            let result = match &mut walk {
                Some(walk) => walk.answer(&asked),
                None => Walk::open(&settings, &asked)
                    .map_err(|e| model.plain(&e))
                    .and_then(|new| walk.insert(new).answer(&asked)),
            };
            let _ = reply.send(result);
        }
    };
    let started = std::thread::Builder::new().stack_size(STACK).spawn(work);
    started.map(|_| send).map_err(|e| format!("cannot start a thread: {e}"))
}

struct Walk {
    stepper: Box<dyn Stepper>,
    moves: Vec<String>,
    /// Can one walk from one set of states to the next?
    symbolic: bool,
    /// Can a check begin where a walk has come to?
    begins: bool,
}

impl Walk {
    fn open(settings: &Settings, asked: &Asked) -> Result<Walk, String> {
        let (formalism, language) = registry::of_model(&settings.model).map_err(|e| e.to_string())?;
        let trace = asked.trace.as_ref().map(|(text, _)| text.as_str());
        let open = |symbolic| {
            let how = Simulate { symbolic, ..view::simulate(settings) };
            formalism.stepper(&how, language, trace, &Context::default())
        };
        let knows = formalism.plain_options().contains(&"symbolic");
        if asked.symbolic && !knows {
            return Err(format!("{} are walked through in states only", formalism.profile().who));
        }
        let stepper = open(asked.symbolic).map_err(|e| e.to_string())?;
        let symbolic = asked.symbolic || knows && open(true).is_ok();
        let begins = formalism.plain_options().contains(&"after");
        Ok(Walk { stepper, moves: vec![], symbolic, begins })
    }

    fn answer(&mut self, asked: &Asked) -> Reply {
        if asked.moves.len() + asked.random > MAX_MOVES {
            return Err(format!("a walk has at most {MAX_MOVES} moves"));
        }
        let moves = match &asked.trace {
            Some((trace, steps)) => self.along(trace, *steps).map_err(|e| e.to_string())?,
            None => asked.moves.clone(),
        };
        let shared = self.moves.iter().zip(&moves).take_while(|(a, b)| a == b).count();
        while self.moves.len() > shared {
            self.stepper.undo();
            self.moves.pop();
        }
        for m in &moves[shared..] {
            self.make(m).map_err(|e| format!("move {} (`{m}`): {e}", self.moves.len() + 1))?;
        }
        self.random(asked.random, asked.seed).map_err(|e| e.to_string())?;
        let run = self.stepper.run();
        let known = asked.known.min(run.steps.len());
        let (state, remark) = (self.stepper.state(), self.stepper.remark());
        let idle: Vec<&String> = state.iter().filter(|(n, v)| self.stepper.is_idle(n, v)).map(|(n, _)| n).collect();
        let next = if asked.expand { self.next().map_err(|e| e.to_string())? } else { Value::Null };
        let choices = self.stepper.choices().map_or_else(|e| json!({"error": e.to_string()}), |c| choices(&c));
        let steps = &run.steps[known..];
        let rest = Run { steps: vec![], ..run.clone() };
        Ok(json!({
            "moves": self.moves, "state": state, "idle": idle, "remark": remark, "choices": choices, "symbolic": self.symbolic, "begins": self.begins,
            "run": rest, "known": known, "steps": steps, "next": next,
        }))
    }

    /// Where each choice leads: its move, and the state after it. A wait is a move of its own.
    fn next(&mut self) -> Result<Value, Error> {
        let choices = self.stepper.choices()?;
        let moves = (0..choices.offers.len()).map(|n| n.to_string());
        let mut moves: Vec<String> = moves.take(MAX_NEXT).collect();
        for step in &choices.later {
            let wait = format!("w {}", step.delay.as_deref().unwrap_or("0"));
            if moves.len() < MAX_NEXT && !moves.contains(&wait) {
                moves.push(wait);
            }
        }
        let mut all = vec![];
        for m in moves {
            // What cannot be taken after all (a fault, a value outside its range) leads nowhere.
            if self.make(&m).is_err() {
                continue;
            }
            let (state, remark) = (self.stepper.state(), self.stepper.remark());
            self.stepper.undo();
            self.moves.pop();
            let label = m.parse().ok().and_then(|n: usize| choices.offers.get(n)).map(|s| (&s.message, &s.label));
            let label = label.map(|(message, label)| message.as_ref().unwrap_or(label));
            all.push(json!({"move": m, "label": label, "state": state, "remark": remark}));
        }
        Ok(all.into())
    }

    fn make(&mut self, m: &str) -> Result<(), Error> {
        step::make(&mut *self.stepper, m)?;
        self.moves.push(m.into());
        Ok(())
    }

    /// Some steps at random; where time must pass first, it waits.
    fn random(&mut self, steps: usize, seed: u64) -> Result<(), Error> {
        let mut seed = seed.wrapping_mul(2).wrapping_add(1) ^ 0x9E37_79B9_7F4A_7C15;
        let mut draw = |n: usize| {
            seed ^= seed >> 12;
            seed ^= seed << 25;
            seed ^= seed >> 27;
            (seed.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
        };
        let wanted = self.stepper.steps() + steps;
        // A step may need several moves: a start, a wait, some values.
        for _ in 0..steps.saturating_mul(20) {
            let choices = self.stepper.choices()?;
            let (now, later) = (choices.offers.len(), choices.later.len());
            if self.stepper.steps() >= wanted || now + later == 0 {
                break;
            }
            let n = draw(now + later);
            match choices.later.get(n.wrapping_sub(now)) {
                Some(step) => self.make(&format!("w {}", step.delay.as_deref().unwrap_or("0")))?,
                None => self.make(&n.to_string())?,
            }
        }
        Ok(())
    }

    /// The moves along a trace, for so many steps.
    fn along(&mut self, trace: &str, steps: usize) -> Result<Vec<String>, Error> {
        self.stepper.replay(trace)?;
        let run = self.stepper.run();
        while self.stepper.undo() {}
        self.moves.clear();
        for (n, step) in run.steps.iter().take(steps).enumerate() {
            if let Some(delay) = step.delay.as_deref().filter(|d| *d != "0") {
                self.make(&format!("w {delay}"))?;
            }
            // A step may begin with values that are left open.
            while self.stepper.steps() <= n {
                let choices = self.stepper.choices()?;
                let m = follows(&choices, step, &run).ok_or_else(|| {
                    Error::refused(format!("step {} of the run is not among what can be chosen here", n + 1))
                })?;
                self.make(&m)?;
            }
        }
        Ok(self.moves.clone())
    }
}

/// The move that belongs to a step of a run.
fn follows(choices: &Choices, step: &Step, run: &Run) -> Option<String> {
    let named = |name: &str| {
        let given = step.parts.iter().flat_map(|p| &p.choices).find_map(|c| c.get(name));
        given.or_else(|| step.set.get(name)).map(trellis::report::run::shown)
    };
    match &choices.ask {
        Ask::Step => {
            let moves = |s: &Step| s.parts.iter().map(|p| (p.name.clone(), p.takes.clone())).collect::<Vec<_>>();
            let plain = |s: &Step| {
                s.set
                    .iter()
                    .filter(|(n, _)| !run.clocks.contains(n))
                    .map(|(n, v)| (n.clone(), v.clone()))
                    .collect::<Vec<_>>()
            };
            let same = choices.offers.iter().position(|o| o.label == step.label && plain(o) == plain(step));
            let same = same.or_else(|| choices.offers.iter().position(|o| moves(o) == moves(step)));
            same.map(|n| n.to_string())
        }
        Ask::Start => {
            let fits = |o: &Step| o.set.iter().all(|(n, v)| run.start.get(n) == Some(v));
            let best = choices.offers.iter().enumerate().filter(|(_, o)| fits(o)).max_by_key(|(_, o)| o.set.len());
            best.map(|(n, _)| n.to_string())
        }
        Ask::Input(input) => named(&input.name).map(|value| format!("{} = {value}", input.name)),
    }
}

fn choices(c: &Choices) -> Value {
    let ask = match &c.ask {
        Ask::Step => json!({"kind": "step"}),
        Ask::Start => json!({"kind": "start"}),
        Ask::Input(input) => json!({"kind": "input", "name": input.name, "domain": input.domain}),
    };
    let wait = c.wait.as_ref().map(|wait| match wait {
        Wait::Forever => json!({"kind": "forever"}),
        Wait::Never => json!({"kind": "never"}),
        Wait::UpTo(limit) => json!({"kind": "upto", "limit": limit}),
        Wait::Below(limit) => json!({"kind": "below", "limit": limit}),
        Wait::Unknown => json!({"kind": "unknown"}),
    });
    let offers = &c.offers[..c.offers.len().min(MAX_OFFERS)];
    json!({"ask": ask, "offers": offers, "all": c.offers.len(), "later": c.later, "wait": wait})
}
