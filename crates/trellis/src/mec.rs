//! A session of Mec 5: relations, and commands for abstraction refinement (Chucri, 001 §6.1–6.2), piece by piece.
//!
//! What is not found within the limits is UNKNOWN, and so is what needs it. What is told of a relation is evaluated again, plainly (`again`);
//! where that is too much it is said, and no answer. Where pieces come from, and what happens after a mistake, is the client's.

mod abstraction;
mod again;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trellis_check::mec::Relations;
use trellis_domain::relation::{Made, Memory};
use trellis_engine::cover::reason;
use trellis_engine::ctl::Branching;
use trellis_engine::mec::{Computed, GoOn, Session};
use trellis_meter::{Meter, Progress};
use trellis_model::evidence::Reason;
use trellis_model::mec::{Callee, Sort};
use trellis_syntax::altarica::File;
use trellis_syntax::altarica::ast::Name;
use trellis_syntax::ctl;
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::mec::{Known, Piece, World, nodes_of, only};

use crate::Error;
use crate::context::{Context, Listener};
use crate::formalism::hierarchy::load::{build_beside, read};
use abstraction::Refined;

const HELP: &str = "\
R(s : Node!c, n : [0, 3]) := formula;   define a relation; += is the least fixpoint, -= the greatest
    arguments and variables are of Node!c (configurations), Node!ev (events), bool, [a, b], {a, b}, or a domain of the model
    formulas: & | ~ => <x>(…) exists [x](…) for all, s.Sub.var, = != < <= + - …, events of two nodes are equal if written the same
    relations: Node!c(s) Node!ev(e) Node!init(s) Node!t(s, e, s'), and those defined; arguments may be expressions: R(s, s.level + 1)
begin R(…) += …; S(…) -= …; end   relations that use each other; the first is the outermost fixpoint
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
pub const OPTIONS: [(&str, &[&str]); 12] = [
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
enum Failure {
    /// It makes no sense, or its input does not.
    Failed(Error),
    /// What it is about, and why that is not known.
    Unknown(String, Reason),
}

impl From<Error> for Failure {
    fn from(failure: Error) -> Failure {
        Failure::Failed(failure)
    }
}

/// Where answers go.
#[derive(Clone)]
struct Say(Arc<dyn Listener>);

impl Say {
    fn line(&self, text: &str) {
        self.0.found(&format!("{text}\n"));
    }
}

/// How a session runs.
pub struct Config {
    /// Who asks: interrupts, colours, and where answers go.
    pub context: Context,
    /// Where files are looked for first.
    pub folder: PathBuf,
    /// At most so long for each command and each definition.
    pub timeout: Option<Duration>,
    /// At most so much memory for the diagrams.
    pub memory: Option<usize>,
    /// Evaluate relations again, configuration by configuration.
    pub check: bool,
}

/// A session.
pub struct Runner {
    /// Texts that were read, for diagnostics.
    pub sources: Sources,
    files: Vec<File>,
    folder: PathBuf,
    world: World,
    session: Session,
    options: BTreeMap<String, String>,
    refined: BTreeMap<String, Refined>,
    timeout: Option<Duration>,
    /// When the command that runs must have ended.
    deadline: Option<Instant>,
    context: Context,
    say: Say,
    /// What is not known, and why.
    unknown: BTreeMap<String, Reason>,
    /// All relations once more, as lists; nothing if nobody asked for that.
    plain: Option<Relations>,
    /// Was something told that was not evaluated again?
    unchecked: bool,
}

fn usage<T>(text: impl Into<String>) -> Result<T, Failure> {
    Err(Error::Usage(text.into()).into())
}

/// What a piece is about: the command, or the relation that it defines.
pub fn subject<'t>(text: &'t str, piece: &Piece) -> &'t str {
    let (start, end) = piece.place();
    let about = &text[start..end];
    about.split_once('(').filter(|_| !about.starts_with(':')).map_or(about, |(name, _)| name).trim()
}

impl Runner {
    /// A session that knows nothing yet.
    pub fn new(config: Config) -> Result<Runner, Error> {
        let memory = config.memory.map_or_else(Memory::default, Memory::within);
        Ok(Runner {
            sources: Sources::default(),
            files: vec![],
            folder: config.folder,
            world: World::default(),
            session: Session::new(memory).map_err(|e| Error::Usage(e.to_string()))?,
            options: BTreeMap::new(),
            refined: BTreeMap::new(),
            timeout: config.timeout,
            deadline: None,
            say: Say(config.context.listener.clone()),
            context: config.context,
            unknown: BTreeMap::new(),
            plain: config.check.then(Relations::default),
            unchecked: false,
        })
    }

    /// Was all that was asked answered, and evaluated again?
    pub fn is_known(&self) -> bool {
        self.unknown.is_empty() && !self.unchecked
    }

    /// Runs one command or definition of a text, and says what could not be found; false ends the session.
    pub fn piece(&mut self, name: &str, text: &str, piece: &Piece) -> Result<bool, Error> {
        self.deadline = self.timeout.and_then(|t| Instant::now().checked_add(t));
        match self.run(name, text, piece) {
            Ok(more) => Ok(more),
            Err(Failure::Failed(failure)) => Err(failure),
            Err(Failure::Unknown(what, why)) => {
                self.say.line(&format!("{what}: UNKNOWN: {why}"));
                self.unknown.insert(what, why);
                Ok(true)
            }
        }
    }

    /// The limits of one command.
    fn budget(&self) -> Meter {
        let left = self.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        Meter::unlimited().time(left).cancelled_by(self.context.cancelled.clone())
    }

    /// Something that takes time, and is about something.
    fn within<T>(&mut self, about: &str, work: impl FnOnce(&mut Runner, GoOn<'_>) -> Made<T>) -> Result<T, Failure> {
        let (mut budget, mut stopped) = (self.budget(), None);
        let mut go_on = || {
            stopped = budget.ask(&Progress::default()).err();
            stopped.is_none()
        };
        let done = work(self, &mut go_on);
        done.map_err(|trouble| Failure::Unknown(about.into(), stopped.map_or_else(|| reason(trouble), Into::into)))
    }

    fn run(&mut self, name: &str, text: &str, piece: &Piece) -> Result<bool, Failure> {
        match *piece {
            Piece::Command(start, end) => self.command(&text[start + 1..end]),
            Piece::Definition(start, end) => {
                let id = self.sources.add(name, only(text, start, end));
                for node in nodes_of(&self.sources, id) {
                    self.node(&node)?;
                }
                let color = self.context.color;
                let system = self.world.define(&self.sources, id);
                let system = system.map_err(|d| Error::Input(render(&d, &self.sources, color)))?;
                let names: Vec<&str> = system.iter().map(|d| d.name.as_str()).collect();
                self.within(&names.join(", "), |runner, go_on| runner.session.define(&system, go_on))?;
                self.define_again(&system);
                for name in names {
                    self.say.line(&self.signature(name));
                }
                Ok(true)
            }
        }
    }

    /// Builds a node, if that has not been done.
    fn node(&mut self, name: &Name) -> Result<(), Failure> {
        if self.world.nodes.contains_key(&name.text) {
            return Ok(());
        }
        let holds = |f: &&File| f.nodes().iter().any(|n| n.text == name.text);
        let Some(file) = self.files.iter().rev().find(holds) else {
            let complaint =
                trellis_syntax::diag::Diagnostic::error(name.span, format!("there is no node `{}`", name.text));
            let complaint = complaint.help("read its file first: `:ar-load FILE`");
            return Err(Error::Input(render(&[complaint], &self.sources, self.context.color)).into());
        };
        let built = build_beside(&self.sources, file, name, self.world.literals(), &self.context)?;
        let added = self.session.add(&name.text, &built.hierarchy);
        added.map_err(|e| Failure::Unknown(name.text.clone(), reason(e)))?;
        self.list_again(&name.text, &built.hierarchy);
        self.world.know(&name.text, built).or_else(usage)
    }

    fn signature(&self, name: &str) -> String {
        let Some(known) = self.world.relations.get(name) else { return name.into() };
        let sorts: Vec<String> = known.arguments.iter().map(|sort| self.world.show_sort(sort)).collect();
        format!("{name} : ({}) -> bool", sorts.join(", "))
    }

    /// What a name stands for.
    fn callee(&mut self, name: &str) -> Result<Callee, Failure> {
        Ok(match name.split_once('!') {
            None if self.world.relations.contains_key(name) => Callee::Defined(name.into()),
            None => return usage(format!("there is no relation `{name}`")),
            Some((node, member)) => {
                let callee: fn(String) -> Callee = match member {
                    "c" => Callee::Configurations,
                    "init" => Callee::Initial,
                    "ev" => Callee::Events,
                    "t" => Callee::Transitions,
                    _ => return usage(format!("there is no relation `{name}`; a node has !c, !ev, !init and !t")),
                };
                self.named(node)?;
                callee(node.into())
            }
        })
    }

    /// A relation by its name.
    fn relation(&mut self, name: &str) -> Result<Computed, Failure> {
        let callee = self.callee(name)?;
        let found = self.within(name, |runner, go_on| runner.session.relation(&callee, go_on))?;
        found.ok_or_else(|| {
            let why = self.unknown.get(name).cloned();
            Failure::Unknown(name.into(), why.unwrap_or_else(|| Reason::Stuck("it was not computed".into())))
        })
    }

    /// Builds the node of a name.
    fn named(&mut self, node: &str) -> Result<(), Failure> {
        let all = self.files.iter().flat_map(|f| f.nodes());
        match all.into_iter().find(|n| n.text == node).cloned() {
            Some(found) => self.node(&found),
            None => usage(format!("there is no node `{node}`")),
        }
    }

    /// Defines the set of configurations in which a formula of computation tree logic holds.
    fn branching(&mut self, line: &str) -> Result<(), Failure> {
        let mut words = line.trim_start().splitn(3, char::is_whitespace);
        let (Some(name), Some(node), Some(formula)) = (words.next(), words.next(), words.next()) else {
            return usage("`:ctl R NODE FORMULA`");
        };
        self.named(node)?;
        let mut budget = self.budget();
        let (Some(known), Some(built)) = (self.session.nodes.get(node), self.world.nodes.get_mut(node)) else {
            return usage(format!("there is no node `{node}`"));
        };
        let id = self.sources.add("the formula", formula);
        let parsed = ctl::parse(&mut self.sources, id, built);
        let formula = parsed.map_err(|d| Error::Input(render(&d, &self.sources, self.context.color)))?;
        self.session.defined.remove(name);
        let relation = Branching::new(&built.hierarchy, &known.symbolic)
            .and_then(|b| b.holds(&formula, &mut budget))
            .map_err(|why| Failure::Unknown(name.into(), why))?;
        if let Some(plain) = &mut self.plain {
            plain.branching(name, node, &built.hierarchy, &formula);
        }
        let arguments = vec![Sort::Configuration(node.into())];
        self.session.defined.insert(name.into(), Computed { arguments: arguments.clone(), relation });
        self.world.relations.insert(name.into(), Known { arguments, nodes: vec![node.into()] });
        self.say.line(&self.signature(name));
        Ok(())
    }

    fn command(&mut self, line: &str) -> Result<bool, Failure> {
        if let Some(rest) = line.trim_start().strip_prefix("ctl ") {
            self.branching(rest)?;
            return Ok(true);
        }
        let line = line.split("//").next().unwrap_or_default().replace(',', " ");
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["quit" | "exit"] => return Ok(false),
            ["help"] => self.say.line(HELP.trim_end()),
            ["ar-load", file] => self.load(file)?,
            ["rel-cardinal", name] => {
                let computed = self.relation(name)?;
                let cardinal =
                    self.session.cardinal(&computed).map_err(|e| Failure::Unknown(name.into(), reason(e)))?;
                let doubt = self.doubt(name, &computed)?;
                self.say.line(&format!("cardinal of {name} : {cardinal}{}", again::aside(doubt)));
            }
            ["rel-list"] => {
                let mut names: Vec<&String> = self.world.relations.keys().collect();
                names.sort();
                for name in names {
                    self.say.line(&self.signature(name));
                }
            }
            ["rel-print", name] => self.rows(name, 20)?,
            ["rel-print", name, n] => match n.parse() {
                Ok(n) => self.rows(name, n)?,
                Err(_) => return usage(format!("`{n}` is no number")),
            },
            ["rel-dot", name] => self.dot(name)?,
            ["options"] => {
                for (name, value) in &self.options {
                    self.say.line(format!("{name} {value}").trim_end());
                }
            }
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

    fn load(&mut self, file: &str) -> Result<(), Failure> {
        let beside = self.folder.join(file);
        let path = if beside.is_file() { beside } else { PathBuf::from(file) };
        let file = read(&mut self.sources, &path, &self.context)?;
        // What is read again is built again.
        for node in file.nodes() {
            self.world.forget(&node.text);
            self.session.nodes.remove(&node.text);
            self.refined.remove(&node.text);
        }
        self.session.defined.retain(|name, _| self.world.relations.contains_key(name));
        self.world.load(&file);
        self.files.push(file);
        Ok(())
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), Failure> {
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
    pub fn names(&self) -> Vec<String> {
        let nodes = self.files.iter().flat_map(|f| f.nodes());
        let members = |n: &Name| ["", "!c", "!ev", "!init", "!t"].map(|member| format!("{}{member}", n.text));
        nodes.into_iter().flat_map(members).chain(self.world.relations.keys().cloned()).collect()
    }

    fn rows(&mut self, name: &str, limit: usize) -> Result<(), Failure> {
        let computed = self.relation(name)?;
        let rows = self.session.rows(&computed, limit).map_err(|e| Failure::Unknown(name.into(), reason(e)))?;
        let doubt = self.doubt(name, &computed)?;
        for row in rows {
            let arguments = computed.arguments.iter().zip(&row).map(|(sort, values)| self.shown(sort, values));
            self.say.line(&arguments.collect::<Vec<_>>().join(" "));
        }
        if let Some(why) = doubt {
            self.say.line(&format!("rows of {name}{}", again::aside(Some(why))));
        }
        Ok(())
    }

    /// The value of an argument; of a configuration, those of all its variables.
    fn shown(&self, sort: &Sort, values: &[i64]) -> String {
        let first = values.first().copied().unwrap_or(0);
        match sort {
            Sort::Value(domain) => self.world.show_value(domain, first),
            Sort::Event(node) => {
                let events = self.session.nodes.get(node).map(|n| &n.events);
                events.and_then(|e| e.get(first as usize)).cloned().unwrap_or_default()
            }
            Sort::Configuration(node) => {
                let Some(h) = self.world.nodes.get(node).map(|built| &built.hierarchy) else { return String::new() };
                let show = |(n, &value): (usize, &i64)| {
                    let v = trellis_expr::VarId(n as u32);
                    format!("{} = {}", h.variable(v).name, h.show_value(v, value))
                };
                format!("[{}]", values.iter().enumerate().map(show).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn dot(&mut self, name: &str) -> Result<(), Failure> {
        let computed = self.relation(name)?;
        let several = self.world.nodes.len() > 1;
        let variable = |column: usize| {
            self.world.nodes.iter().find_map(|(node, built)| {
                let m = &self.session.nodes.get(node)?.symbolic;
                let name = match m.columns.iter().position(|&c| c == column) {
                    Some(v) => built.hierarchy.variables[v].name.as_str(),
                    None if column == m.event_column() => "event",
                    None => return None,
                };
                Some(if several { format!("{node}.{name}") } else { name.into() })
            })
        };
        let named = |column: usize, copy: usize, bit: usize| {
            format!("{}#{copy}.{bit}", variable(column).unwrap_or_else(|| "value".into()))
        };
        let picture = self.session.space.dot(&computed.relation, &named);
        let doubt = self.doubt(name, &computed)?;
        self.say.line(picture.trim_end());
        if let Some(why) = doubt {
            // A comment of dot's.
            self.say.line(&format!("// rows of {name}{}", again::aside(Some(why))));
        }
        Ok(())
    }
}
