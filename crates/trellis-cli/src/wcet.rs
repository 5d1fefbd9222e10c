//! `trellis wcet`: how long a program takes at most, on a machine with a cache.

use std::fmt::Write;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use trellis::Error;
use trellis::formalism::program::load::load;
use trellis::registry;
use trellis::settings::{self, Model, Reading};
use trellis::wcet::machine::line_of_edge;
use trellis::wcet::{Concrete, Costs, Failure, Found, Geometry, LINE, Options, Update, analyse};
use trellis_model::cfa::Cfa;

use crate::{Ran, exit, print};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum How {
    /// One label for each place and what is known of the data there.
    Join,
    /// A cache of which less is known stands for others.
    Cover,
    /// Every cache apart.
    Simple,
}

#[derive(Args, Debug)]
pub struct Wcet {
    #[command(flatten)]
    pub model: Model,
    #[command(flatten)]
    pub reading: Reading,
    /// The cache, for data and instructions: lru:WAYSxSETS.
    #[arg(long, value_name = "CACHE", default_value = "lru:4x16")]
    pub cache: Geometry,
    /// How many words (entries of arrays, instructions) a block holds.
    #[arg(long, value_name = "WORDS", default_value_t = LINE, value_parser = words)]
    pub line: usize,
    /// What it costs to use a word that is in the cache.
    #[arg(long, value_name = "COST", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    pub hit: u64,
    /// What it costs to use one that is not; at least as much.
    #[arg(long, value_name = "COST", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    pub miss: u64,
    /// A loop that data do not bound: the line where it begins, and how many rounds a run makes at most, all in all; may be given several times.
    #[arg(long = "loop", value_name = "LINE=ROUNDS", value_parser = bounded)]
    pub loops: Vec<(u32, u32)>,
    /// How caches at the same place are taken together; without it, joined, then covered, then apart, until a run takes as long as the bound.
    #[arg(long, value_enum)]
    pub update: Option<How>,
    /// Show the run, line by line.
    #[arg(long, short)]
    pub verbose: bool,
    /// At most so long, e.g. 30s.
    #[arg(long, value_name = "TIME", value_parser = settings::duration)]
    pub timeout: Option<Duration>,
    /// At most so many labels.
    #[arg(long, value_name = "COUNT")]
    pub states: Option<u64>,
}

fn words(text: &str) -> Result<usize, String> {
    let n = text.parse().ok().filter(|n| (1..=4096).contains(n));
    n.ok_or_else(|| "a number from 1 to 4096 is needed".into())
}

fn bounded(text: &str) -> Result<(u32, u32), String> {
    let pair = text.split_once('=').and_then(|(line, rounds)| Some((line.parse().ok()?, rounds.parse().ok()?)));
    pair.ok_or_else(|| "write LINE=ROUNDS, for instance 12=100".into())
}

/// The program as an automaton.
fn read(args: &Wcet, color: bool) -> Result<Cfa, Error> {
    let (formalism, of) = registry::of(&args.model.model)?;
    let language = of.name;
    if !matches!(language, "c" | "cfa") {
        return Err(Error::Usage("wcet: only for C programs (.c, .i) and control-flow automata (.cfa)".into()));
    }
    registry::of_model(&args.model)?;
    let Model { model: _, constants: _, root: _, period, python, after, brought: _ } = &args.model;
    let given = [("period", period.is_some()), ("python", python.is_some()), ("after", after.is_some())];
    let given: Vec<String> = given.iter().filter(|(_, given)| *given).map(|(option, _)| option.to_string()).collect();
    registry::refuse_plain(&given, formalism, of)?;
    let mut loaded = load(&args.model, language, &args.reading, None, color)?;
    eprint!("{}", loaded.warnings);
    match (&loaded.program, loaded.questions.pop()) {
        (Some(program), _) => Ok(program.question(&program.all())),
        (None, Some((_, cfa))) => Ok(cfa),
        (None, None) => Err(Error::Internal("a program without an automaton".into())),
    }
}

/// `trellis wcet prog.c --cache lru:4x16`
pub fn wcet(args: &Wcet, color: bool) -> Ran {
    if args.miss < args.hit {
        return Err(Error::Usage("--miss: a miss costs at least what a hit costs".into()));
    }
    let start = Instant::now();
    let cfa = read(args, color)?;
    let options = Options {
        geometry: Geometry { line: args.line, ..args.cache },
        costs: Costs { hit: args.hit, miss: args.miss },
        loops: args.loops.clone(),
        update: args.update.map(|how| match how {
            How::Join => Update::Join,
            How::Cover => Update::Cover,
            How::Simple => Update::Simple,
        }),
    };
    let mut meter = crate::limits::colored(color).meter(args.timeout, None).states(args.states);
    match analyse(&cfa, &options, &mut meter) {
        Ok(found) => {
            print(&told(args, &cfa, &found, start.elapsed()))?;
            Ok(exit::HOLDS)
        }
        Err(Failure::Unknown(why)) if why.starts_with("--") => Err(Error::Usage(why)),
        Err(why) => {
            print(&format!("UNKNOWN  wcet    ({why}; {:.2} s)", start.elapsed().as_secs_f64()))?;
            Ok(exit::UNDECIDED)
        }
    }
}

fn told(args: &Wcet, cfa: &Cfa, found: &Found, time: Duration) -> String {
    let Found { bound, update, sizes, classes, witness, .. } = found;
    let mut text = format!("BOUND    wcet <= {bound}    ({:.2} s)\n", time.as_secs_f64());
    let mut say = |line: String| _ = writeln!(text, "{:9}{line}", "");
    say(format!("{update} update, {} labels of {} states of the program, {}", sizes.1, sizes.0, args.cache));
    say(format!(
        "bound checked; uses of memory: {} always hit, {} always miss, {} are open",
        classes.hits, classes.misses, classes.open
    ));
    say(format!(
        "longest run: {} steps, {} hits and {} misses on a plain cache, cost {}",
        witness.edges.len(),
        witness.hits,
        witness.misses,
        witness.cost
    ));
    match &witness.concrete {
        Concrete::Run(_) if found.is_attained() => say("replayed by the interpreter: the bound is attained".into()),
        Concrete::Run(_) => {
            say("replayed by the interpreter; what was joined on its way makes the bound larger than its cost".into())
        }
        Concrete::None => say("no data make the program run like that: the bound may be larger than needed".into()),
        Concrete::Unknown(why) => say(format!("whether data make the program run like that is not known: {why}")),
    }
    for (line, rounds) in &args.loops {
        say(format!("assuming that the loop in line {line} goes round at most {rounds} times"));
    }
    if args.verbose {
        let mut lines: Vec<u32> = witness.edges.iter().filter_map(|&e| line_of_edge(cfa, e)).collect();
        lines.dedup();
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        say(format!("lines: {}", lines.join(" ")));
    }
    text
}
