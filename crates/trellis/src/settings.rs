//! What can be chosen, by whoever asks: the command line, the library, a page. Options are `clap`'s, so that help, completions and manual
//! pages come from here; which of them go with what is said beside the formalisms ([`crate::registry`]).

mod choices;
mod counter;
mod hierarchy;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{Args, Command, FromArgMatches, ValueEnum};
use trellis_domain::script::Brought;
use trellis_meter::Meter;
use trellis_report::Kind;
use trellis_syntax::diag::Folders;

pub use choices::*;
pub use counter::{Control, CounterOptions};
pub use hierarchy::NodeOptions;

use crate::Error;
use crate::context::Context;

/// Which model, and which of its sizes.
#[derive(Args, Debug, Clone, Default)]
pub struct Model {
    /// The model: UPPAAL .xml, .xta or .ta, TChecker .tck or .txt, C (.c, .i), Theta's automata (.cfa, .theta) and
    /// transition systems (.xsts, .sts), statecharts (.scxml), composed statecharts (.gcd), counter systems (.spec, .pnml, .lola, .tts), lossy channel systems (.lcs), AltaRica
    /// (.alt), hierarchical transition systems (.hts.json).
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// Set a global integer constant of the model.
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = constant)]
    pub constants: Vec<(String, i64)>,
    /// For composed statecharts: the time that passes before each step (500ms), or its bounds (499ms..501ms, 100ms..). Without it, any time.
    #[arg(long, value_name = "TIME", value_parser = period)]
    pub period: Option<(i64, Option<i64>)>,
    /// What a model may include or load (`#include`, Lua scripts) lies in this folder; without it, in the model's own. Headers of the system
    /// are always read.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Lattices and a joining strategy of your own, in Python (needs the Python package): classes that the model's `extern` names, and
    /// a function join(x, y).
    #[arg(long, value_name = "FILE")]
    pub python: Option<PathBuf>,
    /// Begin in the state that these moves of `trellis simulate` lead to, with `;` between them: '3; 0'. Of networks (where all clocks are 0
    /// then), and of one instance of counter systems.
    #[arg(long, value_name = "MOVES")]
    pub after: Option<String>,
    /// What `python` would bring, by way of the library.
    #[arg(skip)]
    pub brought: Brought,
}

impl Model {
    /// What the model may read.
    pub fn folders(&self) -> Folders {
        let folder = self.model.parent().map_or_else(PathBuf::new, PathBuf::from);
        Folders { root: self.root.clone(), folder }
    }
}

/// Which properties.
#[derive(Args, Debug, Clone, Default)]
pub struct Properties {
    /// A property to check instead of those in the model; may be given several times.
    #[arg(short, long = "property", value_name = "QUERY")]
    pub properties: Vec<String>,
    /// Something bad, which must never hold: the property A[] not (EXPR). Of a counter system: a target, as `x >= 2, y >= 1`.
    #[arg(long = "error", value_name = "EXPR")]
    pub errors: Vec<String>,
    /// For TChecker models: can a state be reached in which all these labels occur? May be given several times.
    #[arg(long, value_name = "A,B")]
    pub labels: Vec<String>,
    /// A file of queries (.q) to check instead of those in the model.
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// Questions about states, where a formalism answers them itself: see `queries`.
    #[arg(skip)]
    pub states: Vec<StateQuery>,
}

/// Can a state be reached in which something holds?
#[derive(Debug, Clone)]
pub struct StateQuery {
    /// As it was written.
    pub text: String,
    /// In the model's own language.
    pub condition: String,
    /// Is it looked for that the condition holds, not that it fails?
    pub holds: bool,
    pub kind: Kind,
}

/// How a model is checked.
#[derive(Args, Debug, Clone, Default)]
pub struct Settings {
    /// Which options were given, by name: see [`crate::registry`].
    #[arg(skip)]
    pub given: Vec<String>,
    /// Who asks: when that began, who is told, who may stop it.
    #[arg(skip)]
    pub context: Context,
    #[command(flatten)]
    pub model: Model,
    /// More models, checked one after the other.
    #[arg(value_name = "MODEL")]
    pub more: Vec<PathBuf>,
    #[command(flatten)]
    pub properties: Properties,

    /// The algorithm.
    #[arg(long, value_enum, default_value = "auto", help_heading = "Engine")]
    pub engine: Engine,
    /// How a new state is combined with stored states that share its discrete part.
    #[arg(long, value_enum, help_heading = "Engine")]
    pub update: Option<Update>,
    /// When to join (implies --update join): all, none, an expression over the states x, y and joined, or a .lua file.
    /// Without it, Trellis joins everything and refines where that is too coarse.
    #[arg(long, value_name = "STRATEGY", help_heading = "Engine")]
    pub join: Option<String>,
    /// With lattice variables beside clocks: which zones are joined when their elements are. Without it, those of which one includes the
    /// other.
    #[arg(long, value_enum, value_name = "ZONES", help_heading = "Engine")]
    pub join_zones: Option<JoinZones>,
    /// What to explore next; without it, what suits the engine.
    #[arg(long, value_enum, help_heading = "Engine")]
    pub order: Option<Order>,
    /// The seed of the random order and of the audit.
    #[arg(long, default_value_t = 1, help_heading = "Engine")]
    pub seed: u64,
    /// For --order priority: an integer expression, explored largest first.
    #[arg(long, value_name = "EXPR", help_heading = "Engine")]
    pub priority: Option<String>,
    /// Explore with N threads, breadth first, level by level: what is found and counted does not depend on N (1 to 256). Without it, one
    /// thread that stops as soon as it finds something.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256), value_name = "N", help_heading = "Engine")]
    pub workers: Option<u16>,
    /// Keep what was explored in this directory, now and then (--every); --resume goes on from there. Implies --workers 1.
    #[arg(long, value_name = "DIR", help_heading = "Engine")]
    pub checkpoint: Option<PathBuf>,
    /// How long between two checkpoints (default: 5m).
    #[arg(long, value_parser = duration, value_name = "TIME", help_heading = "Engine", requires = "checkpoint")]
    pub every: Option<Duration>,
    /// Go on from the last checkpoint in this directory: of the same model, property and options, with any number of workers.
    #[arg(long, value_name = "DIR", help_heading = "Engine")]
    pub resume: Option<PathBuf>,
    /// Symmetry reduction over processes and scalar sets (A[] and E<>); prints the orbits found. On by default unless a search option
    /// is given.
    #[arg(long, help_heading = "Engine", conflicts_with = "no_symmetry")]
    pub symmetry: bool,
    /// Disable symmetry reduction (of processes, or of sub-nodes with --engine hierarchy).
    #[arg(long, help_heading = "Engine")]
    pub no_symmetry: bool,
    /// Say whether the model is proved monotone, as cover and join need; then sample it, and print what breaks it.
    #[arg(long, help_heading = "Engine")]
    pub audit: bool,
    /// Take something for granted that is not proved: that the model is monotone, so that cover and join update may be used. The
    /// verdict names it.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Engine")]
    pub assume: Option<Assume>,

    /// Zone extrapolation. Without --cover, subsumption is then zone inclusion.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Models with clocks")]
    pub extrapolation: Option<Extrapolation>,
    /// Subsumption of zones in reach.
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Models with clocks")]
    pub cover: Option<Cover>,
    /// How lazy refines the abstraction of clocks.
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Models with clocks")]
    pub clocks: Option<Clocks>,
    /// How lazy abstracts data (default: not at all).
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Models with clocks")]
    pub data: Option<Data>,
    /// Keep all clocks in the zones of lazy, not only the active ones.
    #[arg(long, help_heading = "Models with clocks")]
    pub all_clocks: bool,
    /// Which run is shown (A[] and E<>; default: some).
    #[arg(long, value_enum, value_name = "WHICH", help_heading = "Models with clocks")]
    pub trace_kind: Option<TraceKind>,
    /// Ignore Zeno runs (liveness).
    #[arg(long, help_heading = "Models with clocks")]
    pub non_zeno: bool,

    #[command(flatten)]
    pub formulas: Formulas,
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub counters: CounterOptions,
    #[command(flatten)]
    pub nodes: NodeOptions,

    /// Give up after this long, counted from the start over all properties, reading and checking included (60s, 5m, 1h).
    #[arg(long, value_parser = duration, value_name = "TIME", help_heading = "Limits")]
    pub timeout: Option<Duration>,
    /// Give up when the process needs more than this (500MiB, 2GiB).
    #[arg(long, value_parser = bytes, value_name = "SIZE", help_heading = "Limits")]
    pub memory: Option<usize>,
    /// Give up on a property after this many states.
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub states: Option<u64>,

    /// Print one JSON object per property.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write the trace: JSON, or by the name's end .itf.json, .vcd, .xtr (UPPAAL), .get (Gamma); `-`: here.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,
    /// Write the certificate (JSON).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub certificate: Option<PathBuf>,
    /// Write the trace as a graph (dot).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub dot: Option<PathBuf>,
    /// Write the run as a picture: who acts on whom, and where they are over time.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub svg: Option<PathBuf>,
    /// Write the report as a web page.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,
    /// Draw the run as a message sequence chart: .svg is a picture, anything else is text (`-`: here).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub msc: Option<PathBuf>,
    /// Only the verdicts: no traces, no statistics.
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// Print every statistic.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Print all of a long run.
    #[arg(long, help_heading = "Output")]
    pub full_trace: bool,
    /// Do not re-check the evidence.
    #[arg(long, help_heading = "Output")]
    pub no_check: bool,
    /// How proofs are re-checked.
    #[arg(long, value_enum, value_name = "HOW", default_value = "full", help_heading = "Output")]
    pub check: Recheck,
}

impl Settings {
    /// The options of a command line, read as the command line reads them.
    pub fn read(model: &Path, options: impl IntoIterator<Item = String>) -> Result<Settings, Error> {
        let command = Settings::augment_args(Command::new("check").no_binary_name(true));
        let known: Vec<String> = command.get_arguments().map(|a| a.get_id().to_string()).collect();
        let all = std::iter::once(model.as_os_str().to_os_string()).chain(options.into_iter().map(Into::into));
        let usage = |e: clap::Error| Error::Usage(e.to_string());
        let matches = command.try_get_matches_from(all).map_err(usage)?;
        let mut settings = Settings::from_arg_matches(&matches).map_err(usage)?;
        let given = |id: &String| matches.value_source(id) == Some(ValueSource::CommandLine);
        settings.given = known.into_iter().filter(given).collect();
        Ok(settings)
    }

    /// Options that name files, by name: whoever asks from afar may not use them.
    pub fn name_files(&self) -> Vec<String> {
        let command = Settings::augment_args(Command::new("check"));
        let path = std::any::TypeId::of::<PathBuf>();
        let is_file = |id: &&String| {
            let arg = command.get_arguments().find(|a| a.get_id() == id.as_str());
            *id != "model" && arg.is_some_and(|a| a.get_value_parser().type_id() == path)
        };
        self.given.iter().filter(is_file).cloned().collect()
    }

    /// The limits.
    pub fn meter(&self) -> Meter {
        self.context.meter(self.timeout, self.memory).states(self.states)
    }
}

/// Formulas of linear temporal logic.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Linear temporal logic")]
pub struct Formulas {
    /// A formula that every infinite run must satisfy (see `trellis help ltl`); may be given several times.
    #[arg(long, value_name = "FORMULA")]
    pub ltl: Vec<String>,
    /// A requirement in words that every infinite run must satisfy, as `response: A leads to B, after Q until R` (see `trellis help
    /// patterns`); may be given several times.
    #[arg(long, value_name = "REQUIREMENT")]
    pub pattern: Vec<String>,
    /// A Büchi automaton (HOA) of what must not happen, like a never claim: no infinite run may be accepted by it. Its atoms are
    /// conditions on the model.
    #[arg(long, value_name = "FILE")]
    pub buchi: Option<PathBuf>,
    /// For XSTS: when a letter is read (default: half).
    #[arg(long, value_enum, value_name = "WHEN")]
    pub ltl_step: Option<LtlStep>,
    /// How fair cycles are looked for (default: scc).
    #[arg(long, value_enum, value_name = "HOW")]
    pub search: Option<LassoSearch>,
    /// Only fair runs count: `progress` (something happens if anything can), `weak` or `strong` for all processes, or for some
    /// processes and channels: `strong:P1,go`; may be given several times. For networks without clocks. Of composed statecharts: `environment` (it
    /// raises every input again and again), `environment:Port.event,…`, `time` (which passes again and again while timers run).
    #[arg(long, value_name = "KIND[:NAMES]")]
    pub fair: Vec<String>,
}

/// How a C program is understood.
#[derive(Args, Debug, Clone, Default)]
pub struct Reading {
    /// How the integers of a C program behave (default: wrap).
    #[arg(long, value_enum, help_heading = "Programs and control-flow automata")]
    pub ints: Option<Ints>,
    /// How long `long` is in a C program (default: lp64).
    #[arg(long, value_enum, value_name = "MODEL", help_heading = "Programs and control-flow automata")]
    pub data_model: Option<DataModel>,
    /// Check a C program for signed overflow too, instead of wrapping around.
    #[arg(long, help_heading = "Programs and control-flow automata")]
    pub overflow: bool,
    /// Check a C program for reads of local variables that were never set too, instead of reading any value.
    #[arg(long, help_heading = "Programs and control-flow automata")]
    pub uninitialised: bool,
    /// Check the assertions of a C program only, and assume that nothing in it is undefined.
    #[arg(long, help_heading = "Programs and control-flow automata", conflicts_with_all = ["overflow", "uninitialised"])]
    pub assume_defined: bool,
    /// What a C program is asked, as SV-COMP says it: unreach-call.prp, no-overflow.prp, valid-memsafety.prp,
    /// def-behavior.prp, termination.prp.
    #[arg(long, value_name = "FILE", help_heading = "Programs and control-flow automata",
          conflicts_with_all = ["overflow", "uninitialised", "assume_defined"])]
    pub property_file: Option<PathBuf>,
    /// When reading must be done: the same as what comes after it.
    #[arg(skip)]
    pub deadline: Option<std::time::Instant>,
}

/// How programs and control-flow automata are checked, and shown.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Programs and control-flow automata")]
pub struct Programs {
    /// What cegar's labels are made of (default: predicates).
    #[arg(long, value_enum, value_name = "WHAT")]
    pub domain: Option<Domain>,
    /// What is kept of predicates: with --domain predicates or product (default: cartesian).
    #[arg(long, value_enum, value_name = "HOW")]
    pub predicates: Option<Predicates>,
    /// How a path that cannot be taken refines the precision (default: newton).
    #[arg(long, value_enum, value_name = "HOW")]
    pub refinement: Option<Refinement>,
    /// Scope of the precision (default: local).
    #[arg(long, value_enum, value_name = "WHERE")]
    pub precision: Option<Precision>,
    /// Initial precision (default: empty).
    #[arg(long, value_enum, value_name = "WHAT")]
    pub initial: Option<Initial>,
    /// How predicates are taken apart (default: conjuncts).
    #[arg(long, value_enum, value_name = "HOW")]
    pub split: Option<Split>,
    /// How much is explored again after a refinement (default: lazy).
    #[arg(long, value_enum, value_name = "HOW")]
    pub pruning: Option<Pruning>,
    /// A variable that may have more values than this after a step is not tracked there: with --domain explicit or product
    /// (default: 64).
    #[arg(long, value_name = "N")]
    pub max_values: Option<usize>,
    /// How many large steps to go at most: with --engine bmc or induction.
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,
    /// How many threads may work at once when no engine is chosen (default: 2). With 1, the same answer comes every time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub threads: Option<u8>,
    /// Print the invariant of a program that is safe, location by location.
    #[arg(long)]
    pub show_invariant: bool,
    /// For C programs: does every run end?
    #[arg(long)]
    pub termination: bool,
    /// For C programs: write a witness for the validators of SV-COMP (format 2.0, YAML).
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
}

/// How a model is stepped through.
#[derive(Args, Debug)]
pub struct Simulate {
    /// Which options were given, by name: see [`crate::registry`].
    #[arg(skip)]
    pub given: Vec<String>,
    #[command(flatten)]
    pub model: Model,
    /// Replay this trace (JSON).
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Take so many random steps instead of asking.
    #[arg(long, value_name = "STEPS")]
    pub random: Option<usize>,
    /// The seed of the random steps.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Walk from one set of states to the next: zones of models with clocks, predicates of programs.
    #[arg(long, help_heading = "Networks and programs")]
    pub symbolic: bool,
    #[command(flatten)]
    pub reading: Reading,
    /// How many there are at the start, as `invalid = 3`; where nothing is said, as few as may be.
    #[arg(long, value_name = "NUMBERS", help_heading = "Counter systems")]
    pub instance: Option<String>,
    /// The node at the top; without it, the last one in the file.
    #[arg(long, value_name = "NAME", help_heading = "AltaRica")]
    pub node: Option<String>,
}

/// How a model is written in another form.
#[derive(Args, Debug)]
pub struct Convert {
    /// Which options were given, by name: see [`crate::registry`].
    #[arg(skip)]
    pub given: Vec<String>,
    #[command(flatten)]
    pub model: Model,
    /// The form.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Format,
    /// Where to write it (standard output if absent).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    /// Make large blocks of edges: what has no loop in it becomes one edge.
    #[arg(long, help_heading = "Programs and control-flow automata")]
    pub blocks: bool,
    /// What an XSTS must satisfy: a .prop file or an expression, instead of its own property. Of an STS: which property, by
    /// name.
    #[arg(short, long, value_name = "PROPERTY", help_heading = "Transition systems")]
    pub property: Option<String>,
    /// With --to xta: how many there are at the start, as `invalid = 3`; where nothing is said, as few as may be.
    #[arg(long, value_name = "NUMBERS", help_heading = "Counter systems")]
    pub instance: Option<String>,
}

fn constant(s: &str) -> Result<(String, i64), String> {
    let (name, value) = s.split_once('=').ok_or("write NAME=VALUE, for instance N=7")?;
    let value = value.trim().parse().map_err(|_| format!("`{}` is not an integer", value.trim()))?;
    Ok((name.trim().to_string(), value))
}

fn period(s: &str) -> Result<(i64, Option<i64>), String> {
    let ms = |text: &str| -> Result<i64, String> {
        let time = duration(text.trim())?;
        let whole = time.as_nanos() % 1_000_000 == 0;
        let ms = i64::try_from(time.as_millis()).ok().filter(|_| whole);
        ms.ok_or_else(|| "write whole milliseconds".to_string())
    };
    let (least, most) = match s.split_once("..") {
        None => (ms(s)?, Some(ms(s)?)),
        Some((least, "")) => (ms(least)?, None),
        Some((least, most)) => (ms(least)?, Some(ms(most)?)),
    };
    if most.is_some_and(|most| most < least) { Err("the smaller time first".into()) } else { Ok((least, most)) }
}

/// How a value is called on the command line.
pub fn value_name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |v| v.get_name().to_string())
}

/// Reads a time like `60s`, `500ms`, `5m` or `1h`.
pub fn duration(s: &str) -> Result<Duration, String> {
    let digits = s.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(s.len());
    let (number, unit) = s.split_at(digits);
    let number: f64 = number.parse().map_err(|_| "write a time like 60s, 500ms, 5m or 1h".to_string())?;
    let scale = match unit.trim() {
        "ms" => 0.001,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("`{unit}` is not a unit of time: use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(number * scale).map_err(|_| "that is too long".to_string())
}

/// Reads a size like `500MiB` or `2GiB`.
pub fn bytes(s: &str) -> Result<usize, String> {
    let digits = s.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(s.len());
    let (number, unit) = s.split_at(digits);
    let number: f64 = number.parse().map_err(|_| "write a size like 500MiB or 2GiB".to_string())?;
    let scale: f64 = match unit.trim() {
        "" | "B" => 1.0,
        "K" | "KB" | "kB" => 1e3,
        "KiB" => 1024.0,
        "M" | "MB" => 1e6,
        "MiB" => 1048576.0,
        "G" | "GB" => 1e9,
        "GiB" => 1073741824.0,
        unit => return Err(format!("`{unit}` is not a unit of size: use KiB, MiB or GiB")),
    };
    Ok((number * scale) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        assert_eq!(duration("1.5m").unwrap(), Duration::from_secs(90));
        assert_eq!(duration("250ms").unwrap(), Duration::from_millis(250));
        assert!(duration("soon").is_err());
        assert_eq!(bytes("2GiB").unwrap(), 2 << 30);
        assert!(bytes("2 parsecs").is_err());
        assert_eq!(constant("N=7").unwrap(), ("N".to_string(), 7));
        assert!(constant("N").is_err());
    }
}
