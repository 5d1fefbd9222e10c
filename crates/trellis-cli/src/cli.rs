//! The command line as data: help, man page and completions come from here.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use trellis::settings::*;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  trellis check models/lattice/leader.xml                 every property in the file, with evidence
  trellis check model.xml -p 'A[] not deadlock'           a property of your own
  trellis check model.xml --const N=7 --json              another size, for a program to read
  trellis check model.xml --trace t.json                  keep the counterexample …
  trellis certify model.xml t.json                        … and have it checked again
  trellis check models/timed/fischer-4-32-64.xta          a model with clocks
  trellis check fischer.txt --labels cs1,cs2              a TChecker model: can both labels be reached at once?
  trellis simulate model.xml                              step through the model by hand
  trellis serve model.xml                                 see model, runs and proofs in a browser
  trellis check program.c                                 can reach_error() or a failing assert() be reached in a C program?
  trellis check program.c --witness w.yml                 … with a witness for SV-COMP's validators
  trellis convert program.c --to dot --blocks             the control-flow automaton of a C program, as a picture
  trellis check models/coverability/mesi.spec             a protocol, for any number of processes
  trellis simulate protocol.spec --instance 'idle = 3'    … and three of them, step by step
  trellis check model.alt --error 'P.loc = cs & Q.loc = cs'   an AltaRica model: can this be?
  trellis mec script.mec5                                 Mec 5's relations over AltaRica nodes
  trellis smt problem.smt2                                is an SMT-LIB problem satisfiable?
  trellis ltl2hoa 'G(a -> F b)'                           the Büchi automaton of an LTL formula
  trellis help lattices                                   the lattices a model can use

Exit codes: 0 every property holds, 10 some property fails, 20 undecided,
            2 bad usage or input, 1 internal error or lost output, 130 interrupted.
More: trellis help check, trellis help TOPIC; topics are uppaal, timed, tchecker, programs, scxml, gamma,
      patterns, counters, altarica, lattices, join, evidence, smtlib, ltl";

/// Trellis: can something bad happen? SAFE, UNSAFE or UNKNOWN, with evidence that is checked again.
#[derive(Parser, Debug)]
#[command(name = "trellis", version, styles = STYLES, after_help = EXAMPLES, disable_help_subcommand = true)]
#[command(propagate_version = true, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Colours on the terminal.
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// If the output is a terminal and NO_COLOR is not set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Check the properties of a model.
    Check(Box<Settings>),
    /// Check many models, each in a process of its own, and go on where an earlier batch was stopped.
    Batch(Box<crate::batch::Batch>),
    /// Check evidence again: does a certificate or a trace that `check` wrote show what is asked of this model?
    ///
    /// What is asked is what `check` would ask with the same options: the model's own properties, or those on the command line. Evidence
    /// about anything else is rejected, and so is evidence that was made from other files or with other options.
    Certify(Box<Certify>),
    /// Step through a model, or replay a trace.
    Simulate(Simulate),
    /// Show models, runs and proofs in a browser: check, step through, simulate.
    ///
    /// Prints an address to open, and serves until it is interrupted. Only this machine can reach it, only with the token in that address; it
    /// reads the given files, models beside them, and the examples that are part of the program.
    Serve(crate::serve::Serve),
    /// Write a model in another form.
    Convert(Convert),
    /// Tests from composed statecharts: an execution trace for every state, transition or interaction that can be reached.
    Cover(crate::cover::Cover),
    /// Replay execution traces (.get) of composed statecharts: is what they assert so?
    Replay(crate::replay::Replay),
    /// Minimal cut sets and sequences of failures of an AltaRica model, and their effects.
    Cuts(crate::cuts::Cuts),
    /// Run a script of Mec 5's relations over AltaRica nodes, or ask for one line after the other.
    Mec(crate::mec::Mec),
    /// How long a C program or control-flow automaton takes at most, on a machine with a cache.
    Wcet(crate::wcet::Wcet),
    /// Run an SMT-LIB script on the embedded solver, or on another.
    Smt(Smt),
    /// Write the automaton of a formula of linear temporal logic, in the Hanoi format.
    #[command(name = "ltl2hoa")]
    Ltl2hoa(crate::ltl2hoa::Ltl2hoa),
    /// Run a benchmark suite: a table beside the published figures.
    Bench(Bench),
    /// Print the JSON Schema of an output: report, trace, certificate; or of hierarchical transition systems: hierarchy.
    Schema {
        /// The name of the schema.
        name: String,
    },
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page per command into a folder.
    Man {
        /// The folder.
        folder: Option<PathBuf>,
    },
    /// Explain a command or a topic.
    Help {
        /// A command, or one of: uppaal, timed, tchecker, programs, scxml, gamma, patterns, counters, altarica, lattices, join, evidence, smtlib,
        /// ltl, exit-codes.
        topic: Option<String>,
    },
}

#[derive(Args, Debug)]
pub struct Certify {
    /// Which options were given, by name: see [`crate::registry`].
    #[arg(skip)]
    pub given: Vec<String>,
    #[command(flatten)]
    pub model: Model,
    /// The certificate or trace (JSON).
    #[arg(value_name = "EVIDENCE")]
    pub evidence: PathBuf,
    #[command(flatten)]
    pub properties: Properties,
    /// The formula that the evidence must be about; may be given several times.
    #[arg(long, value_name = "FORMULA")]
    pub ltl: Vec<String>,
    /// The requirement that the evidence must be about; may be given several times.
    #[arg(long, value_name = "REQUIREMENT")]
    pub pattern: Vec<String>,
    /// The automaton (HOA) that the evidence must be about.
    #[arg(long, value_name = "FILE")]
    pub buchi: Option<PathBuf>,
    /// The evidence was made with this --ltl-step.
    #[arg(long, value_enum, value_name = "WHEN")]
    pub ltl_step: Option<LtlStep>,
    /// The evidence was made with --non-zeno.
    #[arg(long)]
    pub non_zeno: bool,
    /// The evidence was made with --assume monotone, and that is taken for granted.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub assume: Option<Assume>,
    /// The evidence was made with this --fair.
    #[arg(long, value_name = "KIND[:NAMES]")]
    pub fair: Vec<String>,
    /// The evidence was made with this --node, about an AltaRica model.
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// The evidence was made with this --start, about a thread transition system.
    #[arg(long, value_name = "STATE")]
    pub start: Option<String>,
    #[command(flatten)]
    pub reading: Reading,
    /// Give up after this long (60s, 5m, 1h).
    #[arg(long, value_parser = duration, value_name = "TIME", help_heading = "Limits")]
    pub timeout: Option<Duration>,
    /// Give up when the process needs more than this (500MiB, 2GiB).
    #[arg(long, value_parser = bytes, value_name = "SIZE", help_heading = "Limits")]
    pub memory: Option<usize>,
}

#[derive(Args, Debug)]
pub struct Smt {
    /// The script (.smt2).
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The solver: embedded, or the name or path of a program that speaks SMT-LIB 2, such as z3 or cvc5.
    #[arg(long, default_value = "embedded", value_name = "SOLVER")]
    pub solver: String,
    /// Write what the solver is asked into numbered .smt2 files in this folder.
    #[arg(long, value_name = "DIR")]
    pub smt_log: Option<PathBuf>,
    /// Write a proof of each `unsat`: clauses (FILE.cnf, DIMACS) and what follows from them (FILE.drat).
    #[arg(long, value_name = "FILE")]
    pub proof: Option<PathBuf>,
    /// Give up on a check after this long (60s, 5m, 1h).
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub timeout: Option<Duration>,
}

#[derive(Args, Debug)]
pub struct Bench {
    /// The suite: c, coverability, hierarchy, lattice, lazy, pcegar, smt or timed.
    pub suite: String,
    /// Only the sizes that take a moment.
    #[arg(long)]
    pub quick: bool,
    /// For lazy and timed: another folder with models, searched before models/timed. For smt: a folder of .smt2 files, instead of
    /// those that are made up. For c and coverability: a folder of models with a table EXPECTED.tsv. For pcegar:
    /// another folder with models, searched before models/altarica.
    #[arg(long, value_name = "FOLDER")]
    pub models: Option<PathBuf>,
    /// For smt: write the problems into this folder, and do nothing else. For c: write the programs as Horn clauses.
    /// For pcegar: draw how the abstractions grow, with and without pruning (SVG).
    #[arg(long, value_name = "FOLDER")]
    pub write: Option<PathBuf>,
    /// For smt and c: another solver's answers and times, as bench/smt/run_z3.py and bench/c/run_spacer.py print them.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// For c: draw how many programs are decided in how much time (SVG).
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// `trellis model.xml` is `trellis check model.xml`.
fn with_command(mut args: Vec<OsString>) -> Vec<OsString> {
    let mut command = Cli::command();
    command.build();
    let is_command = |word: &str| command.find_subcommand(word).is_some();
    let first = args.get(1).map(|a| a.to_string_lossy().into_owned());
    let is_file = |word: &str| word == "-" || word.contains('.') || std::path::Path::new(word).is_file();
    // `trellis check --help [TOPIC]` is the short help, or the topic.
    let help = args.iter().position(|a| a == "--help" || a == "-h");
    if let (Some("check"), Some(at)) = (first.as_deref(), help) {
        let topic = args.get(at + 1).cloned().unwrap_or_else(|| "check".into());
        return vec![args[0].clone(), "help".into(), topic];
    }
    if first.is_some_and(|word| !is_command(&word) && (is_file(&word) && !word.starts_with("--"))) {
        args.insert(1, "check".into());
    }
    args
}

/// Reads the command line, and notes which options were given.
pub fn parse(args: Vec<OsString>) -> Result<Cli, clap::Error> {
    let matches = Cli::command().try_get_matches_from(with_command(args))?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    let given = matches.subcommand().map_or_else(Vec::new, |(name, m)| {
        let mut command = Cli::command();
        let known = command
            .find_subcommand_mut(name)
            .map_or_else(Vec::new, |c| c.get_arguments().map(|a| a.get_id().to_string()).collect());
        // Groups of options have names, too, and are none.
        known.into_iter().filter(|id| m.value_source(id) == Some(ValueSource::CommandLine)).collect()
    });
    match &mut cli.command {
        Command::Check(args) => args.given = given,
        Command::Certify(args) => args.given = given,
        Command::Convert(args) => args.given = given,
        Command::Simulate(args) => args.given = given,
        _ => {}
    }
    Ok(cli)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
