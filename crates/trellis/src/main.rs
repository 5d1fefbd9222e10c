//! The command line of Trellis: arguments, files, progress, exit codes. Knows no algorithms.

#[macro_use]
mod streams;

mod answers;
mod automaton;
mod bench;
mod binding;
mod c_program;
mod check;
mod cli;
mod counter;
mod cuts;
mod evidence;
mod files;
mod formalism;
mod hierarchy;
mod horn;
mod limits;
mod load;
mod ltl;
mod ltl2hoa;
mod mec;
mod monotone;
mod network;
mod pipeline;
mod program;
mod simulate;
mod smt;
mod statechart;
mod strategy;
mod timed;
mod topics;
mod tree;
mod walk;
mod witness;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use cli::{Cli, Color, Command};

/// Why a command could not do what it was asked to.
#[derive(Debug)]
pub enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// The input is broken; the text is rendered diagnostics.
    Input(String),
    /// Nothing was asked of a model in this language, and how to ask.
    Nothing(&'static str, String),
    /// There was no time to read a model in this language.
    Late(&'static str),
    /// Something could not be written: a file, or the standard output.
    Output(String),
    /// Evidence did not pass its check, or something that cannot happen did.
    Internal(String),
}

/// What a command answers: the process's exit code.
pub type Ran = Result<u8, Failure>;

/// Exit codes.
pub mod exit {
    /// Every property holds; the command did what it was asked.
    pub const HOLDS: u8 = 0;
    /// Trellis itself is wrong, or what it has to say cannot be written.
    pub const INTERNAL: u8 = 1;
    /// The command line or the input is wrong.
    pub const INPUT: u8 = 2;
    /// Some property fails.
    pub const FAILS: u8 = 10;
    /// Some property is undecided.
    pub const UNDECIDED: u8 = 20;
    /// Interrupted (SIGINT, SIGTERM).
    pub const INTERRUPTED: u8 = 130;
}

fn main() -> ExitCode {
    limits::start();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and the version are no mistakes; whether they could be printed counts all the same.
        Err(said) => {
            let printed = said.print();
            let lost = printed.is_err_and(|e| e.kind() != std::io::ErrorKind::BrokenPipe);
            return ExitCode::from(if lost { exit::INTERNAL } else { said.exit_code() as u8 });
        }
    };
    let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let colored = |terminal: bool| match cli.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && !plain,
    };
    let (out, err) = (colored(std::io::stdout().is_terminal()), colored(std::io::stderr().is_terminal()));
    // Deeply nested input is refused long before this much is needed; the default stack of a thread is not enough.
    let run = move || run(cli, out, err);
    let ran = match std::thread::Builder::new().stack_size(256 << 20).spawn(run).map(|t| t.join()) {
        Ok(Ok(ran)) => ran,
        Ok(Err(_)) => Err(Failure::Internal("Trellis has a bug; please report the lines above".into())),
        Err(e) => Err(Failure::Internal(format!("cannot start: {e}"))),
    };
    let code = match ran {
        Ok(code) => code,
        Err(Failure::Usage(text)) => {
            eprintln!("error: {text}\n\nFor more information, try 'trellis help'.");
            exit::INPUT
        }
        Err(Failure::Nothing(_, advice)) => {
            eprintln!("error: nothing was asked: {advice}");
            exit::INPUT
        }
        Err(Failure::Late(_)) => {
            eprintln!("error: there was no time to read the model");
            exit::UNDECIDED
        }
        Err(Failure::Input(text)) => {
            eprintln!("{}", text.trim_end());
            exit::INPUT
        }
        Err(Failure::Output(text)) => {
            eprintln!("error: {text}");
            exit::INTERNAL
        }
        Err(Failure::Internal(text)) => {
            eprintln!("internal error: {text}");
            exit::INTERNAL
        }
    };
    // A verdict that nobody could read is none.
    let code = if streams::lost() { exit::INTERNAL } else { code };
    ExitCode::from(code)
}

fn run(cli: Cli, out: bool, err: bool) -> Ran {
    match &cli.command {
        Command::Check(args) => check::check(args, out, err),
        Command::Certify(args) => evidence::certify(args, out, err),
        Command::Simulate(args) => simulate::simulate(args, out, err),
        Command::Convert(args) => evidence::convert(args, err),
        Command::Cuts(args) => cuts::cuts(args, err),
        Command::Mec(args) => mec::mec(args, err),
        Command::Smt(args) => smt::smt(args, err),
        Command::Ltl2hoa(args) => ltl2hoa::ltl2hoa(args, err),
        Command::Bench(args) => bench::bench(args).map(|agree| if agree { exit::HOLDS } else { exit::INTERNAL }),
        Command::Schema { name } => match trellis_report::schema(name) {
            Some(text) => print(text),
            None => Err(Failure::Usage(format!(
                "there is no schema `{name}`; there are: trace, certificate, report, hierarchy"
            ))),
        },
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "trellis", &mut text);
            print(&String::from_utf8_lossy(&text))
        }
        Command::Man { folder: None } => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text).map_err(|e| Failure::Internal(e.to_string()))?;
            print(&String::from_utf8_lossy(&text))
        }
        Command::Man { folder: Some(folder) } => {
            let written =
                std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
            written.map_err(|e| Failure::Output(format!("cannot write to {}: {e}", folder.display())))?;
            Ok(exit::HOLDS)
        }
        Command::Help { topic } => help(topic.as_deref()),
    }
}

fn help(topic: Option<&str>) -> Ran {
    let mut command = Cli::command();
    let Some(name) = topic else { return print(&command.render_long_help().to_string()) };
    if let Some(text) = topics::topic(name) {
        return print(&text);
    }
    command.build();
    match command.find_subcommand_mut(name) {
        Some(sub) => {
            let text = sub.render_long_help().to_string();
            print(&text)
        }
        None => Err(Failure::Usage(format!("there is no command or topic `{name}`; topics: {}", topics::NAMES))),
    }
}

/// Prints to standard output; a reader that has gone away (`| head`) is not an error, anything else is.
pub fn print(text: &str) -> Ran {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match limits::said(|| streams::out(format_args!("{text}{end}"))) {
        Ok(()) => Ok(exit::HOLDS),
        Err(e) => Err(Failure::Output(format!("cannot write to the standard output: {e}"))),
    }
}
