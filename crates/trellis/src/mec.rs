//! `trellis mec`: Mec 5's relations and its commands for abstraction refinement (001 §6.1–6.2), from a script or line by line.
//!
//! What is not found within the limits is UNKNOWN, and so is what needs it; a script goes on, and its exit code says so.

mod abstraction;
mod prompt;
mod watch;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use trellis_domain::relation::{Made, Memory};
use trellis_engine::budget::{Budget, Progress};
use trellis_engine::cover::reason;
use trellis_engine::ctl::Branching;
use trellis_engine::mec::{Computed, GoOn, Session};
use trellis_model::evidence::Reason;
use trellis_model::mec::{Callee, Sort};
use trellis_syntax::altarica::File;
use trellis_syntax::altarica::ast::Name;
use trellis_syntax::ctl;
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::mec::{Piece, World, nodes_of, only, pieces};

use crate::check::interrupts;
use crate::hierarchy::{build, read};
use crate::{Failure, Ran, cli, exit};
use abstraction::Refined;
use prompt::{Line, Lines};
use watch::Watch;

#[derive(Args, Debug)]
pub struct Mec {
    /// The script; without it, lines are read as you type them.
    #[arg(value_name = "SCRIPT")]
    pub script: Option<PathBuf>,
    /// At most so long for each command and each definition, e.g. 30s; what takes longer is UNKNOWN.
    #[arg(long, value_name = "TIME", value_parser = cli::duration)]
    pub timeout: Option<Duration>,
    /// At most so much memory for the diagrams of each node, e.g. 2G.
    #[arg(long, value_name = "SIZE", value_parser = cli::bytes)]
    pub memory: Option<usize>,
}

const HELP: &str = "\
R(s : Node!c, …) := formula;      define a relation; += is the least fixpoint, -= the greatest
                                  formulas: & | ~ => = != <x>(…) exists [x](…) for all, s.Sub.var
                                  relations: Node!c(s) Node!init(s) Node!t(s, e, s'), and those defined
:ar-load FILE                     read AltaRica nodes
:ctl R NODE FORMULA               define R: the configurations in which a formula holds (EX AX EF AF EG AG E[a U b] A[a U b])
:rel-cardinal R                   how many rows a relation has
:rel-print R [N]                  the first N rows
:rel-list                         all relations
:rel-dot R                        its diagram, for dot
:ar-cegar-init NODE INIT ERROR [P, …]   an abstraction
:ar-cegar-verify NODE [COUNT]     refine it, at most COUNT times; again: go on from there, with the options that are set then
:set OPTION [VALUE], :unset OPTION
    cegar-use-cover-abstraction, cegar-use-guards-as-predicates, cegar-search-algorithm BFS|DFS,
    cegar-ce-analysis FORWARD|BACKWARD, cegar-abstraction-refinement-algorithm DIRECT|SIGMA,
    initial-certification, split-certification, feasibility-certification, cegar-use-must-and-clo,
    cegar-use-super-transition (refused where a node has priorities), cegar-print-iteration-stats,
    cegar-abstraction-print (a file NODE-N.dot for each iteration)
    cover abstraction, guards and super transitions are for the next :ar-cegar-init, the others for the next :ar-cegar-verify
:options                          those that are set
:help, :quit
";

/// The options of 001 §6.2, and their values.
const OPTIONS: [(&str, &[&str]); 12] = [
    ("cegar-search-algorithm", &["BFS", "DFS"]),
    ("cegar-ce-analysis", &["FORWARD", "BACKWARD"]),
    ("cegar-abstraction-refinement-algorithm", &["DIRECT", "SIGMA"]),
    ("cegar-use-cover-abstraction", &[""]),
    ("cegar-use-guards-as-predicates", &[""]),
    ("cegar-use-super-transition", &[""]),
    ("cegar-use-must-and-clo", &[""]),
    ("initial-certification", &[""]),
    ("split-certification", &[""]),
    ("feasibility-certification", &[""]),
    ("cegar-print-iteration-stats", &[""]),
    ("cegar-abstraction-print", &[""]),
];

/// Why a command did not do what it should.
enum Stop {
    /// It makes no sense, or its input does not.
    Failed(Failure),
    /// What it is about, and why that is not known.
    Unknown(String, Reason),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(failure)
    }
}

struct Runner {
    sources: Sources,
    files: Vec<File>,
    folder: PathBuf,
    world: World,
    sessions: BTreeMap<String, Session>,
    options: BTreeMap<String, String>,
    refined: BTreeMap<String, Refined>,
    memory: Memory,
    timeout: Option<Duration>,
    /// When the command that runs must have ended.
    deadline: Option<Instant>,
    cancelled: Arc<AtomicBool>,
    watch: Watch,
    /// What is not known, and why.
    unknown: BTreeMap<String, Reason>,
    color: bool,
}

/// `trellis mec [SCRIPT]`
pub fn mec(args: &Mec, color: bool) -> Ran {
    let cancelled = interrupts();
    let mut runner = Runner {
        sources: Sources::default(),
        files: vec![],
        folder: args.script.as_deref().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default(),
        world: World::default(),
        sessions: BTreeMap::new(),
        options: BTreeMap::new(),
        refined: BTreeMap::new(),
        memory: args.memory.map_or_else(Memory::default, Memory::within),
        timeout: args.timeout,
        deadline: None,
        watch: Watch::new(args.timeout, cancelled.clone()),
        cancelled,
        unknown: BTreeMap::new(),
        color,
    };
    match &args.script {
        Some(path) => {
            let id = runner.sources.read(path).map_err(|d| Failure::Input(render(&[d], &Sources::default(), color)))?;
            let source = runner.sources.get(id).clone();
            for piece in pieces(&source.text) {
                if !runner.piece(&source.name, &source.text, &piece)? {
                    break;
                }
                if runner.cancelled.load(Ordering::Relaxed) {
                    return Ok(exit::INTERRUPTED);
                }
            }
        }
        None => interactive(&mut runner)?,
    }
    Ok(if runner.unknown.is_empty() { exit::HOLDS } else { exit::UNDECIDED })
}

fn interactive(runner: &mut Runner) -> Result<(), Failure> {
    let mut lines = Lines::new(OPTIONS.iter().map(|(name, _)| *name).collect());
    let mut text = String::new();
    loop {
        lines.know(runner.names());
        let line = match lines.next(if text.is_empty() { "[mec] " } else { "   …  " })? {
            Line::Text(line) => line,
            Line::TakenBack => {
                text.clear();
                continue;
            }
            Line::End => return Ok(()),
        };
        text.push_str(line.trim_end_matches(['\r', '\n']));
        text.push('\n');
        let all = pieces(&text);
        let finished = |p: &Piece| {
            matches!(p, Piece::Command(..)) || matches!(p, Piece::Definition(_, end) if text[..*end].ends_with(';'))
        };
        if !all.iter().all(finished) {
            continue;
        }
        let now = std::mem::take(&mut text);
        for piece in all {
            // An interrupt ends one command, and not the conversation.
            runner.cancelled.store(false, Ordering::Relaxed);
            match runner.piece("input", &now, &piece) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                // A mistake ends a script, but not a conversation.
                Err(Failure::Usage(said) | Failure::Input(said)) => eprintln!("{}", said.trim_end()),
                Err(failure) => return Err(failure),
            }
        }
    }
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

fn usage<T>(text: impl Into<String>) -> Result<T, Stop> {
    Err(Failure::Usage(text.into()).into())
}

impl Runner {
    /// Runs one command or definition, and says what could not be found; false ends the session.
    fn piece(&mut self, name: &str, text: &str, piece: &Piece) -> Result<bool, Failure> {
        let (Piece::Command(start, end) | Piece::Definition(start, end)) = *piece;
        let about = &text[start..end];
        let about = about.split_once('(').filter(|_| !about.starts_with(':')).map_or(about, |(name, _)| name);
        self.watch.begin(about.trim());
        self.deadline = self.timeout.and_then(|t| Instant::now().checked_add(t));
        let done = self.run(name, text, piece);
        self.watch.end();
        match done {
            Ok(more) => Ok(more),
            Err(Stop::Failed(failure)) => Err(failure),
            Err(Stop::Unknown(what, why)) => {
                say(&format!("{what}: UNKNOWN: {why}"));
                self.unknown.insert(what, why);
                Ok(true)
            }
        }
    }

    /// The limits of one command.
    fn budget(&self) -> Budget<'static> {
        let left = self.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        Budget::unlimited().time(left).cancel(self.cancelled.clone())
    }

    /// Something that takes time, and is about something.
    fn within<T>(&mut self, about: &str, work: impl FnOnce(&mut Runner, GoOn<'_>) -> Made<T>) -> Result<T, Stop> {
        let (mut budget, mut stopped) = (self.budget(), None);
        let mut go_on = || {
            stopped = budget.ask(&Progress::default(), 0).err();
            stopped.is_none()
        };
        let done = work(self, &mut go_on);
        done.map_err(|trouble| Stop::Unknown(about.into(), stopped.unwrap_or_else(|| reason(trouble))))
    }

    fn run(&mut self, name: &str, text: &str, piece: &Piece) -> Result<bool, Stop> {
        match *piece {
            Piece::Command(start, end) => self.command(&text[start + 1..end]),
            Piece::Definition(start, end) => {
                let id = self.sources.add(name, only(text, start, end));
                for node in nodes_of(&self.sources, id) {
                    self.node(&node)?;
                }
                let color = self.color;
                let definition = self.world.define(&self.sources, id);
                let definition = definition.map_err(|d| Failure::Input(render(&d, &self.sources, color)))?;
                self.session(&definition.node)?;
                self.within(&definition.name, |runner, go_on| match runner.sessions.get_mut(&definition.node) {
                    Some(session) => session.define(&definition, go_on),
                    None => Ok(()),
                })?;
                let signature = self.signature(&definition.name);
                say(&signature);
                Ok(true)
            }
        }
    }

    /// Builds a node, if that has not been done.
    fn node(&mut self, name: &Name) -> Result<(), Stop> {
        if self.world.nodes.contains_key(&name.text) {
            return Ok(());
        }
        let holds = |f: &&File| f.nodes().iter().any(|n| n.text == name.text);
        let Some(file) = self.files.iter().rev().find(holds) else {
            let complaint =
                trellis_syntax::diag::Diagnostic::error(name.span, format!("there is no node `{}`", name.text));
            let complaint = complaint.help("read its file first: `:ar-load FILE`");
            return Err(Failure::Input(render(&[complaint], &self.sources, self.color)).into());
        };
        let built = build(&self.sources, file, name, &[], self.color)?;
        let session = Session::new(&built.hierarchy, self.memory);
        let session = session.map_err(|e| Stop::Unknown(name.text.clone(), reason(e)))?;
        self.sessions.insert(name.text.clone(), session);
        self.world.nodes.insert(name.text.clone(), built);
        Ok(())
    }

    fn session(&mut self, node: &str) -> Result<&mut Session, Stop> {
        match self.sessions.get_mut(node) {
            Some(session) => Ok(session),
            None => usage(format!("there is no node `{node}`")),
        }
    }

    fn signature(&self, name: &str) -> String {
        let Some((node, sorts)) = self.world.relations.get(name) else { return name.into() };
        let sort = |s: &Sort| if *s == Sort::Configuration { format!("{node}!c") } else { format!("{node}!ev") };
        let sorts: Vec<String> = sorts.iter().map(sort).collect();
        format!("{name} : ({}) -> bool", sorts.join(", "))
    }

    /// A relation by its name, and the node that it is about.
    fn relation(&mut self, name: &str) -> Result<(String, Computed), Stop> {
        let (node, callee) = match name.split_once('!') {
            None => match self.world.relations.get(name) {
                Some((node, _)) => (node.clone(), Callee::Defined(name.into())),
                None => return usage(format!("there is no relation `{name}`")),
            },
            Some((node, member)) => {
                let callee = match member {
                    "c" => Callee::Configurations,
                    "init" => Callee::Initial,
                    "t" => Callee::Transitions,
                    _ => return usage(format!("there is no relation `{name}`; a node has !c, !init and !t")),
                };
                let all = self.files.iter().flat_map(|f| f.nodes());
                let Some(found) = all.into_iter().find(|n| n.text == node).cloned() else {
                    return usage(format!("there is no node `{node}`"));
                };
                self.node(&found)?;
                (node.to_string(), callee)
            }
        };
        self.session(&node)?;
        let found = self.within(name, |runner, go_on| match runner.sessions.get_mut(&node) {
            Some(session) => session.relation(&callee, go_on),
            None => Ok(None),
        })?;
        match found {
            Some(computed) => Ok((node, computed)),
            None => {
                let why = self.unknown.get(name).cloned();
                let why = why.unwrap_or_else(|| Reason::Stuck("it was not computed".into()));
                Err(Stop::Unknown(name.into(), why))
            }
        }
    }

    /// Defines the set of configurations in which a formula of computation tree logic holds.
    fn branching(&mut self, line: &str) -> Result<(), Stop> {
        let mut words = line.trim_start().splitn(3, char::is_whitespace);
        let (Some(name), Some(node), Some(formula)) = (words.next(), words.next(), words.next()) else {
            return usage("`:ctl R NODE FORMULA`");
        };
        let all = self.files.iter().flat_map(|f| f.nodes());
        let Some(found) = all.into_iter().find(|n| n.text == node).cloned() else {
            return usage(format!("there is no node `{node}`"));
        };
        self.node(&found)?;
        let mut budget = self.budget();
        let (Some(session), Some(built)) = (self.sessions.get_mut(node), self.world.nodes.get_mut(node)) else {
            return usage(format!("there is no node `{node}`"));
        };
        let id = self.sources.add("the formula", formula);
        let parsed = ctl::parse(&mut self.sources, id, built);
        let formula = parsed.map_err(|d| Failure::Input(render(&d, &self.sources, self.color)))?;
        session.defined.remove(name);
        let relation = Branching::new(&built.hierarchy, &session.symbolic)
            .and_then(|b| b.holds(&formula, &mut budget))
            .map_err(|why| Stop::Unknown(name.into(), why))?;
        session.defined.insert(name.into(), Computed { arguments: vec![Sort::Configuration], relation });
        self.world.relations.insert(name.into(), (node.into(), vec![Sort::Configuration]));
        say(&self.signature(name));
        Ok(())
    }

    fn command(&mut self, line: &str) -> Result<bool, Stop> {
        if let Some(rest) = line.trim_start().strip_prefix("ctl ") {
            self.branching(rest)?;
            return Ok(true);
        }
        let line = line.split("//").next().unwrap_or_default().replace(',', " ");
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["quit" | "exit"] => return Ok(false),
            ["help"] => say(HELP.trim_end()),
            ["ar-load", file] => self.load(file)?,
            ["rel-cardinal", name] => {
                let (node, computed) = self.relation(name)?;
                let cardinal = self.session(&node)?.cardinal(&computed);
                say(&format!("cardinal of {name} : {cardinal}"));
            }
            ["rel-list"] => {
                let mut names: Vec<&String> = self.world.relations.keys().collect();
                names.sort();
                names.into_iter().for_each(|n| say(&self.signature(n)));
            }
            ["rel-print", name] => self.rows(name, 20)?,
            ["rel-print", name, n] => match n.parse() {
                Ok(n) => self.rows(name, n)?,
                Err(_) => return usage(format!("`{n}` is no number")),
            },
            ["rel-dot", name] => self.dot(name)?,
            ["options"] => self.options.iter().for_each(|(name, value)| say(format!("{name} {value}").trim_end())),
            ["set", option] => self.set(option, "")?,
            ["set", option, value] => self.set(option, value)?,
            ["unset", option] => {
                self.options.remove(option);
            }
            ["ar-cegar-init", node, init, error, ref predicates @ ..] => {
                let predicates = predicates.iter().map(|p| p.trim_matches(['[', ']']).to_string());
                let predicates: Vec<String> = predicates.filter(|p| !p.is_empty()).collect();
                self.cegar_init(node, init, error, &predicates)?;
            }
            ["ar-cegar-verify", node] => self.cegar_verify(node, None)?,
            ["ar-cegar-verify", node, count] => match count.parse() {
                Ok(n) => self.cegar_verify(node, Some(n))?,
                Err(_) => return usage(format!("`{count}` is no number")),
            },
            _ => return usage(format!("`:{}` is no command; `:help` lists them", line.trim())),
        }
        Ok(true)
    }

    fn load(&mut self, file: &str) -> Result<(), Stop> {
        let beside = self.folder.join(file);
        let path = if beside.is_file() { beside } else { PathBuf::from(file) };
        let file = read(&mut self.sources, &path, self.color)?;
        // What is read again is built again.
        for node in file.nodes() {
            self.world.nodes.remove(&node.text);
            self.sessions.remove(&node.text);
            self.refined.remove(&node.text);
            self.world.relations.retain(|_, (n, _)| *n != node.text);
        }
        self.files.push(file);
        Ok(())
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), Stop> {
        let Some((_, values)) = OPTIONS.iter().find(|(name, _)| *name == option) else {
            return usage(format!("there is no option `{option}`; `:help` lists them"));
        };
        // 001 writes both `FORWARD` and `Forward`.
        let value = value.to_uppercase();
        if !values.contains(&value.as_str()) {
            return match values {
                [""] => usage(format!("`{option}` takes no value")),
                _ => usage(format!("`{option}` is one of: {}", values.join(", "))),
            };
        }
        self.options.insert(option.into(), value);
        Ok(())
    }

    /// Names of nodes and relations, for completion.
    fn names(&self) -> Vec<String> {
        let nodes = self.files.iter().flat_map(|f| f.nodes());
        let members = |n: &Name| ["", "!c", "!ev", "!init", "!t"].map(|member| format!("{}{member}", n.text));
        nodes.into_iter().flat_map(members).chain(self.world.relations.keys().cloned()).collect()
    }

    fn rows(&mut self, name: &str, limit: usize) -> Result<(), Stop> {
        let (node, computed) = self.relation(name)?;
        let (Some(session), Some(built)) = (self.sessions.get(&node), self.world.nodes.get(&node)) else {
            return usage(format!("there is no node `{node}`"));
        };
        let (m, h) = (&session.symbolic, &built.hierarchy);
        let columns: Vec<(usize, usize)> = computed
            .arguments
            .iter()
            .enumerate()
            .flat_map(|(copy, sort)| match sort {
                Sort::Configuration => m.columns.iter().map(|&c| (c, copy)).collect::<Vec<_>>(),
                Sort::Event => vec![(m.event_column(), copy)],
            })
            .collect();
        for row in m.space.rows(&computed.relation, &columns, limit) {
            let mut values = row.into_iter();
            let arguments = computed.arguments.iter().map(|sort| match sort {
                Sort::Event => m.levels.show(h, h.top, values.next().unwrap_or(0) as usize),
                Sort::Configuration => {
                    let all = values.by_ref().take(h.variables.len()).enumerate();
                    let show = |(n, value): (usize, i64)| {
                        let v = trellis_expr::VarId(n as u32);
                        format!("{} = {}", h.variable(v).name, h.show_value(v, value))
                    };
                    format!("[{}]", all.map(show).collect::<Vec<_>>().join(", "))
                }
            });
            say(&arguments.collect::<Vec<_>>().join(" "));
        }
        Ok(())
    }

    fn dot(&mut self, name: &str) -> Result<(), Stop> {
        let (node, computed) = self.relation(name)?;
        let (Some(session), Some(built)) = (self.sessions.get(&node), self.world.nodes.get(&node)) else {
            return usage(format!("there is no node `{node}`"));
        };
        let m = &session.symbolic;
        let variable = |column: usize| m.columns.iter().position(|&c| c == column);
        let named = |column: usize, copy: usize, bit: usize| {
            let name = variable(column).map_or("event", |v| built.hierarchy.variables[v].name.as_str());
            format!("{name}#{copy}.{bit}")
        };
        say(m.space.dot(&computed.relation, &named).trim_end());
        Ok(())
    }
}
