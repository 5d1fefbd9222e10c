//! `trellis mec`: Mec 5's relations and its commands for abstraction refinement (001 §6.1–6.2), from a script or line by line.

mod prompt;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use trellis_domain::relation::Memory;
use trellis_engine::budget::Budget;
use trellis_engine::cover::cegar::{self, Abstraction, Split, cegar, guards};
use trellis_engine::cover::graph::Search;
use trellis_engine::cover::reach::Direction;
use trellis_engine::cover::{Question, reason};
use trellis_engine::ctl::Branching;
use trellis_engine::mec::{Computed, Session};
use trellis_model::evidence::Verdict;
use trellis_model::mec::{Callee, Sort};
use trellis_report::hierarchy::trace;
use trellis_report::iterations;
use trellis_syntax::altarica::File;
use trellis_syntax::altarica::ast::Name;
use trellis_syntax::ctl;
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::mec::{Piece, World, nodes_of, only, pieces};

use crate::check::write_file;
use crate::hierarchy::{build, read, row};
use crate::{Failure, Ran, exit};
use prompt::{Line, Lines};

#[derive(Args, Debug)]
pub struct Mec {
    /// The script; without it, lines are read as you type them.
    #[arg(value_name = "SCRIPT")]
    pub script: Option<PathBuf>,
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
:ar-cegar-verify NODE [COUNT]     refine it, at most COUNT times
:set OPTION [VALUE], :unset OPTION
    cegar-use-cover-abstraction, cegar-use-guards-as-predicates, cegar-search-algorithm BFS|DFS,
    cegar-ce-analysis FORWARD|BACKWARD, cegar-abstraction-refinement-algorithm DIRECT|SIGMA,
    initial-certification, split-certification, feasibility-certification, cegar-use-must-and-clo,
    cegar-use-super-transition (refused where a node has priorities), cegar-print-iteration-stats,
    cegar-abstraction-print (a file NODE-N.dot for each iteration)
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

/// An abstraction that was asked for: initial states, bad ones, predicates.
type Asked = (String, String, Vec<String>);

struct Runner {
    sources: Sources,
    files: Vec<File>,
    folder: PathBuf,
    world: World,
    sessions: BTreeMap<String, Session>,
    options: BTreeMap<String, String>,
    asked: BTreeMap<String, Asked>,
    color: bool,
}

/// `trellis mec [SCRIPT]`
pub fn mec(args: &Mec, color: bool) -> Ran {
    let mut runner = Runner {
        sources: Sources::default(),
        files: vec![],
        folder: args.script.as_deref().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default(),
        world: World::default(),
        sessions: BTreeMap::new(),
        options: BTreeMap::new(),
        asked: BTreeMap::new(),
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
            }
        }
        None => interactive(&mut runner)?,
    }
    Ok(exit::HOLDS)
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

fn usage<T>(text: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Usage(text.into()))
}

impl Runner {
    /// Runs one command or definition; false ends the session.
    fn piece(&mut self, name: &str, text: &str, piece: &Piece) -> Result<bool, Failure> {
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
                let session = self.session(&definition.node)?;
                session.define(&definition).map_err(|e| Failure::Usage(format!("{}: {e}", definition.name)))?;
                let signature = self.signature(&definition.name);
                say(&signature);
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
            return Err(Failure::Input(render(&[complaint], &self.sources, self.color)));
        };
        let built = build(&self.sources, file, name, &[], self.color)?;
        let session = Session::new(&built.hierarchy, Memory::default());
        let session = session.map_err(|e| Failure::Usage(format!("{}: {e}", name.text)))?;
        self.sessions.insert(name.text.clone(), session);
        self.world.nodes.insert(name.text.clone(), built);
        Ok(())
    }

    fn session(&mut self, node: &str) -> Result<&mut Session, Failure> {
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
    fn relation(&mut self, name: &str) -> Result<(String, Computed), Failure> {
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
        let found = self.session(&node)?.relation(&callee).map_err(|e| Failure::Usage(format!("{name}: {e}")))?;
        match found {
            Some(computed) => Ok((node, computed)),
            None => usage(format!("`{name}` has not been computed")),
        }
    }

    /// Defines the set of configurations in which a formula of computation tree logic holds.
    fn branching(&mut self, line: &str) -> Result<(), Failure> {
        let mut words = line.trim_start().splitn(3, char::is_whitespace);
        let (Some(name), Some(node), Some(formula)) = (words.next(), words.next(), words.next()) else {
            return usage("`:ctl R NODE FORMULA`");
        };
        let all = self.files.iter().flat_map(|f| f.nodes());
        let Some(found) = all.into_iter().find(|n| n.text == node).cloned() else {
            return usage(format!("there is no node `{node}`"));
        };
        self.node(&found)?;
        let (Some(session), Some(built)) = (self.sessions.get_mut(node), self.world.nodes.get_mut(node)) else {
            return usage(format!("there is no node `{node}`"));
        };
        let id = self.sources.add("the formula", formula);
        let parsed = ctl::parse(&mut self.sources, id, built);
        let formula = parsed.map_err(|d| Failure::Input(render(&d, &self.sources, self.color)))?;
        let fail = |why: trellis_model::evidence::Reason| Failure::Usage(format!("{name}: {why}"));
        let relation = Branching::new(&built.hierarchy, &session.symbolic)
            .and_then(|b| b.holds(&formula, &mut Budget::unlimited()))
            .map_err(fail)?;
        session.defined.insert(name.into(), Computed { arguments: vec![Sort::Configuration], relation });
        self.world.relations.insert(name.into(), (node.into(), vec![Sort::Configuration]));
        say(&self.signature(name));
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
                for name in [init, error].into_iter().chain(predicates.iter().map(String::as_str)) {
                    self.relation(name)?;
                }
                self.asked.insert(node.into(), (init.into(), error.into(), predicates));
            }
            ["ar-cegar-verify", node] => self.verify(node, None)?,
            ["ar-cegar-verify", node, count] => match count.parse() {
                Ok(n) => self.verify(node, Some(n))?,
                Err(_) => return usage(format!("`{count}` is no number")),
            },
            _ => return usage(format!("`:{}` is no command; `:help` lists them", line.trim())),
        }
        Ok(true)
    }

    fn load(&mut self, file: &str) -> Result<(), Failure> {
        let beside = self.folder.join(file);
        let path = if beside.is_file() { beside } else { PathBuf::from(file) };
        let file = read(&mut self.sources, &path, self.color)?;
        // What is read again is built again.
        for node in file.nodes() {
            self.world.nodes.remove(&node.text);
            self.sessions.remove(&node.text);
            self.world.relations.retain(|_, (n, _)| *n != node.text);
        }
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
    fn names(&self) -> Vec<String> {
        let nodes = self.files.iter().flat_map(|f| f.nodes());
        let members = |n: &Name| ["", "!c", "!ev", "!init", "!t"].map(|member| format!("{}{member}", n.text));
        nodes.into_iter().flat_map(members).chain(self.world.relations.keys().cloned()).collect()
    }

    fn on(&self, option: &str) -> bool {
        self.options.contains_key(option)
    }

    fn verify(&mut self, node: &str, limit: Option<u64>) -> Result<(), Failure> {
        let Some((init, error, names)) = self.asked.get(node).cloned() else {
            return usage(format!("`:ar-cegar-init {node} …` comes first"));
        };
        let is = |option: &str, value: &str| self.options.get(option).is_some_and(|v| v == value);
        let certified =
            ["initial-certification", "split-certification", "feasibility-certification", "cegar-use-must-and-clo"]
                .map(|o| self.on(o));
        let options = cegar::Options {
            pruning: certified.contains(&true),
            abstraction: match self.on("cegar-use-cover-abstraction") {
                true => Abstraction::Cover,
                false => Abstraction::Partition,
            },
            search: if is("cegar-search-algorithm", "DFS") { Search::Dfs } else { Search::Bfs },
            analysis: if is("cegar-ce-analysis", "BACKWARD") { Direction::Backward } else { Direction::Forward },
            split: match is("cegar-abstraction-refinement-algorithm", "SIGMA") {
                true => Split::Sigma,
                false => Split::Direct,
            },
            initial_certification: certified[0],
            split_certification: certified[1],
            feasibility_certification: certified[2],
            must: certified[3],
            limit,
            pictures: self.on("cegar-abstraction-print"),
        };
        let mut sets = vec![];
        for name in [&init, &error].into_iter().chain(&names) {
            let (of, computed) = self.relation(name)?;
            if of != node || computed.arguments != [Sort::Configuration] {
                return usage(format!("`{name}` is no set of configurations of `{node}`"));
            }
            sets.push(computed.relation);
        }
        let (Some(session), Some(built)) = (self.sessions.get(node), self.world.nodes.get(node)) else {
            return usage(format!("there is no node `{node}`"));
        };
        let (m, hierarchy) = (&session.symbolic, &built.hierarchy);
        // Steps are kept without the assertion anyway, which belongs to the sets: there is nothing else to do for this option.
        if self.on("cegar-use-super-transition") && hierarchy.has_priorities() {
            return usage(format!(
                "cegar-use-super-transition: not sound for `{node}`, which has priorities or broadcasts"
            ));
        }
        let fail = |e| Failure::Usage(format!("{node}: {}", reason(e)));
        let initial = m.states_of(&sets[0]).map_err(fail)?;
        if m.configurations_of(&initial).map_err(fail)? != sets[0] {
            return usage(format!(
                "`{init}` tells configurations apart that differ only in flows, and these move freely"
            ));
        }
        let question = Question { hierarchy, symbolic: m, initial, bad: sets[1].clone() };
        let mut predicates = sets[2..].to_vec();
        if self.on("cegar-use-guards-as-predicates") {
            predicates.extend(guards(&question).map_err(fail)?);
        }
        let found = cegar(&question, &predicates, &options, &mut Budget::unlimited());
        if self.on("cegar-print-iteration-stats") {
            say(iterations::table(&found.iterations.iter().map(row).collect::<Vec<_>>()).trim_end());
        }
        for (n, picture) in found.pictures.iter().enumerate() {
            let path = self.folder.join(format!("{node}-{}.dot", n + 1));
            write_file(&path, picture)?;
        }
        if !found.pictures.is_empty() {
            let (first, last) = (1, found.pictures.len());
            say(&format!("{node}-{first}.dot to {node}-{last}.dot written"));
        }
        let rounds = found.iterations.len();
        match &found.verdict {
            Verdict::Safe(_) => say(&format!("{error} is not reachable from {init}: {rounds} refinements")),
            Verdict::Unsafe(t) => {
                say(&format!("{error} is reachable from {init}: {rounds} refinements"));
                say(trace(hierarchy, &m.levels, t).trim_end());
            }
            Verdict::Unknown(why) => say(&format!("no answer after {rounds} refinements: {why}")),
        }
        Ok(())
    }

    fn rows(&mut self, name: &str, limit: usize) -> Result<(), Failure> {
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

    fn dot(&mut self, name: &str) -> Result<(), Failure> {
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
