//! The command line of Trellis: arguments, files, progress, exit codes. Knows no algorithms.

#[macro_use]
mod streams;

mod batch;
mod bench;
mod check;
mod cli;
mod cover;
mod cuts;
mod evidence;
mod fold;
mod limits;
mod ltl2hoa;
mod mec;
mod python;
mod replay;
mod serve;
mod simulate;
mod smt;
mod stdin;
mod topics;
mod wcet;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::CommandFactory;
use trellis::{Error, registry};
use trellis_report::Style;

use cli::{Cli, Color, Command};

/// What a command answers: the process's exit code.
pub type Ran = Result<u8, Error>;

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

/// Runs the command line of this process: with the built-in formalisms, and those that were added before (`trellis::registry::add`).
pub fn run() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = python::instead(&args) {
        return code;
    }
    ExitCode::from(run_on(args))
}

/// Runs a command line, the name of the program first; answers the exit code.
pub fn run_on(args: Vec<OsString>) -> u8 {
    limits::start();
    let cli = match cli::parse(args) {
        Ok(cli) => cli,
        // Help and the version are no mistakes; whether they could be printed counts all the same.
        Err(said) => {
            let printed = said.print();
            let lost = printed.is_err_and(|e| e.kind() != std::io::ErrorKind::BrokenPipe);
            return if lost { exit::INTERNAL } else { said.exit_code() as u8 };
        }
    };
    let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let colored = |terminal: bool| match cli.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && !plain,
    };
    let (out, err) = (colored(std::io::stdout().is_terminal()), colored(std::io::stderr().is_terminal()));
    let columns = terminal_size::terminal_size().filter(|_| std::io::stdout().is_terminal());
    let columns = columns.map_or(0, |(width, _)| usize::from(width.0));
    let out = Style { color: out, columns, ..Style::default() };
    // Deeply nested input is refused long before this much is needed; the default stack of a thread is not enough. Where the address space
    // is limited there may be less of it.
    let stack = trellis_meter::address_space().map_or(256 << 20, |all| (all / 8).min(256 << 20));
    let cli = Arc::new(Mutex::new(Some(cli)));
    let start = |stack: usize| {
        let cli = cli.clone();
        let run = move || {
            let cli = cli.lock().unwrap_or_else(PoisonError::into_inner).take();
            command(cli.expect("only one thread is started"), out, err)
        };
        std::thread::Builder::new().stack_size(stack).spawn(run)
    };
    let ran = match start(stack).or_else(|_| start(stack / 4)).map(|t| t.join()) {
        Ok(Ok(ran)) => ran,
        Ok(Err(_)) => Err(Error::Internal("Trellis has a bug; please report the lines above".into())),
        Err(e) => Err(Error::Internal(format!("cannot start: {e}"))),
    };
    let code = match ran {
        Ok(code) => code,
        Err(error) => {
            match &error {
                Error::Usage(text) => eprintln!("error: {text}\n\nFor more information, try 'trellis help'."),
                Error::Input(_) | Error::Internal(_) => eprintln!("{error}"),
                _ => eprintln!("error: {error}"),
            }
            match error {
                Error::Usage(_) | Error::Input(_) | Error::Nothing(..) => exit::INPUT,
                Error::Late(_) => exit::UNDECIDED,
                Error::Output(_) | Error::Internal(_) => exit::INTERNAL,
            }
        }
    };
    // A verdict that nobody could read is none.
    if streams::lost() { exit::INTERNAL } else { code }
}

fn command(cli: Cli, out: Style, err: bool) -> Ran {
    match &cli.command {
        Command::Check(args) => check::check(args, out, err),
        Command::Batch(args) => batch::batch(args),
        Command::Certify(args) => evidence::certify(args, out, err),
        Command::Simulate(args) => simulate::simulate(args, out, err),
        Command::Serve(args) => serve::serve(args),
        Command::Convert(args) => evidence::convert(args, err),
        Command::Cover(args) => cover::cover(args, err),
        Command::Replay(args) => replay::replay(args, err),
        Command::Cuts(args) => cuts::cuts(args, err),
        Command::Mec(args) => mec::mec(args, err),
        Command::Wcet(args) => wcet::wcet(args, err),
        Command::Smt(args) => smt::smt(args, err),
        Command::Ltl2hoa(args) => ltl2hoa::ltl2hoa(args, err),
        Command::Bench(args) => bench::bench(args).map(|agree| if agree { exit::HOLDS } else { exit::INTERNAL }),
        Command::Schema { name } => match trellis_report::schema(name) {
            Some(text) => print(text),
            None => Err(Error::Usage(format!(
                "there is no schema `{name}`; there are: trace, certificate, report, hierarchy, page"
            ))),
        },
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "trellis", &mut text);
            print(&String::from_utf8_lossy(&text))
        }
        Command::Man { folder: None } => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text).map_err(|e| Error::Internal(e.to_string()))?;
            print(&String::from_utf8_lossy(&text))
        }
        Command::Man { folder: Some(folder) } => {
            let written =
                std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
            written.map_err(|e| Error::Output(format!("cannot write to {}: {e}", folder.display())))?;
            Ok(exit::HOLDS)
        }
        Command::Help { topic } => help(topic.as_deref(), out.columns),
    }
}

fn help(topic: Option<&str>, columns: usize) -> Ran {
    let mut command = Cli::command();
    let Some(name) = topic else { return print(&command.render_long_help().to_string()) };
    let options = registry::of_topic(name).map(|groups| topics::options_of(&groups)).unwrap_or_default();
    let text = || registry::sisters(name).iter().find_map(|language| topics::topic(language.name));
    if let Some(text) = topics::topic(name).or_else(text) {
        return print(&format!("{}{options}", fold::fold(&text, columns)));
    }
    if !options.is_empty() {
        return print(&options);
    }
    if name == "check" {
        return print(&topics::check());
    }
    command.build();
    match command.find_subcommand_mut(name) {
        Some(sub) => {
            let text = sub.render_long_help().to_string();
            print(&text)
        }
        None => Err(Error::Usage(format!("there is no command or topic `{name}`; topics: {}", topics::NAMES))),
    }
}

/// Prints to standard output; a reader that has gone away (`| head`) is not an error, anything else is.
pub fn print(text: &str) -> Ran {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match limits::said(|| streams::out(format_args!("{text}{end}"))) {
        Ok(()) => Ok(exit::HOLDS),
        Err(e) => Err(Error::Output(format!("cannot write to the standard output: {e}"))),
    }
}
