//! Scripts: the commands of SMT-LIB 2.6 §3.9, their formulas as terms.
//!
//! A script is read as a whole before anything runs, so that a mistake at its end is known at its start. Functions with
//! arguments are there only if they are defined, datatypes only if they are enumerations, sorts only as abbreviations;
//! everything else that SMT-LIB has is [`Foreign`].

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, Terms, Type, VarId};

use super::ops::sort_name;
use super::sexpr::{Kind, Node, NodeId, Reader, error};
use super::term::{Name, Scope, Sort, index};
use super::{Error, Foreign};

/// A term, or what in it we have no terms for.
pub type Read = Result<TermId, Foreign>;

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// `set-option` or `set-info`: the keyword and what follows it, as written.
    Set(String, String),
    /// `set-logic`.
    Logic(String),
    /// A constant of this name is the variable, unless its sort is foreign.
    Declare(String, Result<VarId, Foreign>),
    /// A sort or function was defined; nothing is to be done.
    Define,
    /// `assert`, with the formula's name.
    Assert(Read, Option<String>),
    /// `push` of so many levels.
    Push(u64),
    /// `pop` of so many levels.
    Pop(u64),
    /// `check-sat` (no assumptions) or `check-sat-assuming`: each as written, and its term.
    Check(Vec<(String, Read)>),
    /// `get-model`.
    GetModel,
    /// `get-value`: each term as written.
    GetValue(Vec<(String, Read)>),
    /// `get-unsat-core`.
    GetCore,
    /// `get-unsat-assumptions`.
    GetAssumptions,
    /// `get-assignment`: the named formulas there are.
    GetAssignment(Vec<(String, TermId)>),
    /// `get-assertions`.
    GetAssertions(Vec<String>),
    /// `get-info`.
    GetInfo(String),
    /// `get-option`.
    GetOption(String),
    /// `echo`.
    Echo(String),
    /// `reset` (everything) or `reset-assertions`.
    Reset,
    /// `exit`.
    Exit,
}

/// The commands of a script, each with the place where it starts.
pub fn read(text: &str, terms: &mut Terms) -> Result<Vec<(usize, Command)>, Error> {
    let mut script = Script { text, terms, scope: Scope::default(), asserted: vec![vec![]], global: false };
    let mut reader = Reader::new(text);
    let mut commands = vec![];
    while let Some(nodes) = reader.next()? {
        let start = nodes.last().map_or(0, |n| n.start);
        let command = script.command(&nodes)?;
        let done = command == Command::Exit;
        commands.push((start, command));
        if done {
            break;
        }
    }
    Ok(commands)
}

/// The terms of a solver's answer to `get-value`: pairs of what was asked and its value. There is nothing in scope.
pub(super) fn read_values(text: &str, terms: &mut Terms) -> Result<Vec<Read>, Error> {
    let Some(nodes) = Reader::new(text).next()? else { return Err(error(0, 0, "expected values, found nothing")) };
    let root = nodes.len() - 1;
    let parts = |at: NodeId| match &nodes[at].kind {
        Kind::List(parts) => Ok(parts.clone()),
        _ => Err(error(nodes[at].start, nodes[at].end, "expected a list")),
    };
    let mut values = vec![];
    for pair in parts(root)? {
        let &[_, value] = &parts(pair)?[..] else {
            return Err(error(nodes[pair].start, nodes[pair].end, "expected a pair"));
        };
        values.push(Scope::default().term(terms, &nodes, value)?);
    }
    Ok(values)
}

struct Script<'a, 't> {
    text: &'a str,
    terms: &'t mut Terms,
    scope: Scope,
    /// What is asserted, as written, by level.
    asserted: Vec<Vec<String>>,
    /// Do declarations outlive their level?
    global: bool,
}

impl<'a> Script<'a, '_> {
    fn command(&mut self, nodes: &[Node<'a>]) -> Result<Command, Error> {
        let root = nodes.len() - 1;
        let Kind::List(parts) = &nodes[root].kind else { return wrong(nodes, root, "expected a command: (NAME …)") };
        let Some((&head, args)) = parts.split_first() else {
            return wrong(nodes, root, "expected a command: (NAME …)");
        };
        let Kind::Symbol(name) = nodes[head].kind else { return wrong(nodes, head, "expected the name of a command") };
        let arity = |n: usize, usage: &str| {
            if args.len() == n { Ok(()) } else { wrong(nodes, root, format!("expected ({name}{usage})")) }
        };
        let simple = |command| arity(0, "").map(|()| command);
        match name {
            "set-logic" => {
                arity(1, " NAME")?;
                Ok(Command::Logic(symbol(nodes, args[0])?.into()))
            }
            "set-option" | "set-info" => self.set(nodes, root, args),
            "declare-const" => {
                arity(2, " NAME SORT")?;
                self.declare(nodes, args[0], args[1])
            }
            "declare-fun" => {
                arity(3, " NAME (SORT …) SORT")?;
                if list(nodes, args[1])?.is_empty() {
                    self.declare(nodes, args[0], args[2])
                } else {
                    self.function(nodes, root, args[0])
                }
            }
            "define-const" => {
                arity(3, " NAME SORT TERM")?;
                self.define(nodes, args[0], &[], args[1], args[2])
            }
            "define-fun" => {
                arity(4, " NAME ((NAME SORT) …) SORT TERM")?;
                self.define(nodes, args[0], list(nodes, args[1])?, args[2], args[3])
            }
            "define-fun-rec" => match args {
                &[name, _, _, _] => self.function(nodes, root, name),
                _ => wrong(nodes, root, "expected (define-fun-rec NAME ((NAME SORT) …) SORT TERM)"),
            },
            "define-funs-rec" => {
                arity(2, " ((NAME ((NAME SORT) …) SORT) …) (TERM …)")?;
                for &declaration in list(nodes, args[0])? {
                    let Some(&name) = list(nodes, declaration)?.first() else {
                        return wrong(nodes, declaration, "expected a name");
                    };
                    self.function(nodes, root, name)?;
                }
                Ok(Command::Define)
            }
            "declare-sort" => {
                let what =
                    format!("the sort {}, of which nothing is known", symbol(nodes, *args.first().unwrap_or(&head))?);
                self.foreign_sort(nodes, root, args, what)
            }
            "define-sort" => {
                arity(3, " NAME (NAME …) SORT")?;
                if !list(nodes, args[1])?.is_empty() {
                    return self.foreign_sort(nodes, root, args, "sorts with parameters".into());
                }
                let sort = match self.scope.sort(self.terms, nodes, args[2])? {
                    Ok(ty) => Sort::Type(ty),
                    Err(f) => Sort::Foreign(f),
                };
                self.scope.declare_sort(symbol(nodes, args[0])?, &nodes[args[0]], sort)?;
                Ok(Command::Define)
            }
            "declare-datatype" => {
                arity(2, " NAME (CONSTRUCTOR …)")?;
                self.datatype(nodes, args[0], list(nodes, args[1])?)
            }
            "declare-datatypes" => {
                arity(2, " ((NAME 0) …) ((CONSTRUCTOR …) …)")?;
                self.datatypes(nodes, args[0], args[1])
            }
            "assert" => {
                arity(1, " TERM")?;
                let t = self.formula(nodes, args[0])?;
                if let Some(level) = self.asserted.last_mut() {
                    level.push(self.text[nodes[args[0]].start..nodes[args[0]].end].to_string());
                }
                Ok(Command::Assert(t, named(nodes, args[0])))
            }
            "push" | "pop" => {
                let n = match args {
                    [] => 1,
                    &[n] => index(&nodes[n])?,
                    _ => return wrong(nodes, root, format!("expected ({name} NUMBER)")),
                };
                self.levels(nodes, root, name == "push", n)
            }
            "check-sat" => simple(Command::Check(vec![])),
            "check-sat-assuming" => {
                arity(1, " (TERM …)")?;
                Ok(Command::Check(self.written(nodes, args[0], true)?))
            }
            "get-value" => {
                arity(1, " (TERM …)")?;
                Ok(Command::GetValue(self.written(nodes, args[0], false)?))
            }
            "get-model" => simple(Command::GetModel),
            "get-unsat-core" => simple(Command::GetCore),
            "get-unsat-assumptions" => simple(Command::GetAssumptions),
            "get-assignment" => {
                let truths = |(_, t): &&(String, TermId)| self.terms.ty(*t) == Type::Bool;
                simple(Command::GetAssignment(self.scope.named.iter().filter(truths).cloned().collect()))
            }
            "get-assertions" => simple(Command::GetAssertions(self.asserted.concat())),
            "get-info" | "get-option" => {
                arity(1, " KEYWORD")?;
                let Kind::Keyword(key) = nodes[args[0]].kind else {
                    return wrong(nodes, args[0], "expected a keyword");
                };
                Ok(if name == "get-info" { Command::GetInfo(key.into()) } else { Command::GetOption(key.into()) })
            }
            "echo" => match args {
                &[a] => match &nodes[a].kind {
                    Kind::Text(text) => Ok(Command::Echo(text.to_string())),
                    _ => wrong(nodes, a, "expected a string"),
                },
                _ => wrong(nodes, root, "expected (echo STRING)"),
            },
            "exit" => simple(Command::Exit),
            "reset" => {
                self.scope = Scope::default();
                self.asserted = vec![vec![]];
                simple(Command::Reset)
            }
            "reset-assertions" => {
                if !self.global {
                    self.scope = Scope::default();
                }
                self.asserted = vec![vec![]];
                simple(Command::Reset)
            }
            "get-proof" => wrong(nodes, head, "there are no proofs to get"),
            _ => wrong(nodes, head, format!("there is no command `{name}`")),
        }
    }

    fn set(&mut self, nodes: &[Node<'a>], root: NodeId, args: &[NodeId]) -> Result<Command, Error> {
        let Some((&key, value)) = args.split_first() else { return wrong(nodes, root, "expected a keyword") };
        let Kind::Keyword(keyword) = nodes[key].kind else { return wrong(nodes, key, "expected a keyword") };
        let written = match (value.first(), value.last()) {
            (Some(&a), Some(&b)) => self.text[nodes[a].start..nodes[b].end].to_string(),
            _ => String::new(),
        };
        if keyword == ":global-declarations" {
            self.global = written == "true";
        }
        Ok(Command::Set(keyword.to_string(), written))
    }

    fn declare(&mut self, nodes: &[Node<'a>], name: NodeId, sort: NodeId) -> Result<Command, Error> {
        let symbol = symbol(nodes, name)?;
        let var = self.scope.sort(self.terms, nodes, sort)?.map(|ty| self.terms.declare(symbol, ty));
        let term = var.clone().map(|v| self.terms.var(v));
        self.scope.declare(symbol, &nodes[name], Name::Term(term))?;
        Ok(Command::Declare(symbol.to_string(), var))
    }

    /// A function without a definition that we could put in its place.
    fn function(&mut self, nodes: &[Node<'a>], root: NodeId, name: NodeId) -> Result<Command, Error> {
        let symbol = symbol(nodes, name)?;
        let foreign = Foreign {
            what: format!("the function {symbol}, which has no definition"),
            start: nodes[root].start,
            end: nodes[root].end,
        };
        self.scope.declare(symbol, &nodes[name], Name::Function(foreign))?;
        Ok(Command::Define)
    }

    fn define(
        &mut self,
        nodes: &[Node<'a>],
        name: NodeId,
        params: &[NodeId],
        sort: NodeId,
        body: NodeId,
    ) -> Result<Command, Error> {
        let mut locals: FxHashMap<&str, Vec<Read>> = FxHashMap::default();
        let mut vars = vec![];
        for &param in params {
            let &[name, sort] = list(nodes, param)? else { return wrong(nodes, param, "expected (NAME SORT)") };
            let symbol = symbol(nodes, name)?;
            let var = self.scope.sort(self.terms, nodes, sort)?.map(|ty| (self.terms.declare(symbol, ty), ty));
            let value = var.clone().map(|(v, _)| self.terms.var(v));
            if locals.insert(symbol, vec![value]).is_some() {
                return wrong(nodes, name, format!("there are two parameters `{symbol}`"));
            }
            vars.push(var);
        }
        let sort = self.scope.sort(self.terms, nodes, sort)?;
        let value = self.scope.term_with(self.terms, nodes, body, locals)?;
        if let (Ok(ty), Ok(t)) = (&sort, &value)
            && self.terms.ty(*t) != *ty
        {
            let [want, found] = [*ty, self.terms.ty(*t)].map(|ty| sort_name(self.terms, ty));
            return wrong(nodes, body, format!("expected a term of sort {want}, found {found}"));
        }
        let value = sort.and(value);
        let what = if params.is_empty() { Name::Term(value) } else { Name::Macro { params: vars, body: value } };
        self.scope.declare(symbol(nodes, name)?, &nodes[name], what)?;
        Ok(Command::Define)
    }

    fn foreign_sort(
        &mut self,
        nodes: &[Node<'a>],
        root: NodeId,
        args: &[NodeId],
        what: String,
    ) -> Result<Command, Error> {
        let Some(&name) = args.first() else { return wrong(nodes, root, "expected the name of a sort") };
        let foreign = Foreign { what, start: nodes[root].start, end: nodes[root].end };
        self.scope.declare_sort(symbol(nodes, name)?, &nodes[name], Sort::Foreign(foreign))?;
        Ok(Command::Define)
    }

    /// `((Color 0)) (((red) (green)))`, or as Z3 once had it: `() ((Color red green))`.
    fn datatypes(&mut self, nodes: &[Node<'a>], names: NodeId, bodies: NodeId) -> Result<Command, Error> {
        let (heads, bodies) = (list(nodes, names)?, list(nodes, bodies)?);
        if heads.is_empty() {
            for &body in bodies {
                let Some((&name, constructors)) = list(nodes, body)?.split_first() else {
                    return wrong(nodes, body, "expected a name and constructors");
                };
                self.datatype(nodes, name, constructors)?;
            }
            return Ok(Command::Define);
        }
        if heads.len() != bodies.len() {
            return wrong(nodes, names, format!("{} datatypes are named, {} are defined", heads.len(), bodies.len()));
        }
        for (&head, &body) in heads.iter().zip(bodies) {
            let name = match &nodes[head].kind {
                Kind::List(parts) if parts.len() == 2 => parts[0],
                _ => return wrong(nodes, head, "expected (NAME 0)"),
            };
            self.datatype(nodes, name, list(nodes, body)?)?;
        }
        Ok(Command::Define)
    }

    fn datatype(&mut self, nodes: &[Node<'a>], name: NodeId, constructors: &[NodeId]) -> Result<Command, Error> {
        let symbol = symbol(nodes, name)?;
        let mut literals = vec![];
        let mut foreign = constructors.is_empty();
        for &c in constructors {
            match &nodes[c].kind {
                Kind::Symbol("par") => foreign = true,
                Kind::Symbol(_) => literals.push(c),
                Kind::List(parts) => match parts.first().map(|&p| (p, &nodes[p].kind)) {
                    Some((p, Kind::Symbol(_))) => {
                        literals.push(p);
                        foreign |= parts.len() > 1;
                    }
                    _ => foreign = true,
                },
                _ => return wrong(nodes, c, "expected a constructor"),
            }
        }
        let names: Vec<String> = literals
            .iter()
            .filter_map(|&l| if let Kind::Symbol(s) = nodes[l].kind { Some(s.to_string()) } else { None })
            .collect();
        if foreign {
            let what = format!("the datatype {symbol}, which is more than an enumeration");
            let f = Foreign { what, start: nodes[name].start, end: nodes[name].end };
            self.scope.declare_sort(symbol, &nodes[name], Sort::Foreign(f.clone()))?;
            // Selectors and testers are not looked at: whoever uses one uses a constructor or a variable of the sort too, or
            // is told that there is no such function.
            for (&l, literal) in literals.iter().zip(&names) {
                self.scope.declare(literal, &nodes[l], Name::Function(f.clone()))?;
            }
            for &c in constructors {
                self.foreign_selectors(nodes, c, &f)?;
            }
            return Ok(Command::Define);
        }
        let e = self.terms.declare_enum(symbol, names.clone());
        self.scope.declare_sort(symbol, &nodes[name], Sort::Type(Type::Enum(e)))?;
        for (n, (&l, literal)) in literals.iter().zip(&names).enumerate() {
            let t = self.terms.enum_lit(e, n as u32);
            self.scope.declare(literal, &nodes[l], Name::Term(Ok(t)))?;
        }
        Ok(Command::Define)
    }

    fn foreign_selectors(&mut self, nodes: &[Node<'a>], constructor: NodeId, f: &Foreign) -> Result<(), Error> {
        let Kind::List(parts) = &nodes[constructor].kind else { return Ok(()) };
        for &selector in parts.iter().skip(1) {
            if let Kind::List(pair) = &nodes[selector].kind
                && let Some(&name) = pair.first()
                && let Kind::Symbol(symbol) = nodes[name].kind
            {
                self.scope.declare(symbol, &nodes[name], Name::Function(f.clone()))?;
            }
        }
        Ok(())
    }

    fn formula(&mut self, nodes: &[Node<'a>], at: NodeId) -> Result<Read, Error> {
        let value = self.scope.term(self.terms, nodes, at)?;
        match value {
            Ok(t) if self.terms.ty(t) != Type::Bool => {
                let found = sort_name(self.terms, self.terms.ty(t));
                wrong(nodes, at, format!("expected a formula, found a term of sort {found}"))
            }
            value => Ok(value),
        }
    }

    fn written(&mut self, nodes: &[Node<'a>], at: NodeId, formulas: bool) -> Result<Vec<(String, Read)>, Error> {
        let mut all = vec![];
        for &t in list(nodes, at)? {
            let value = if formulas { self.formula(nodes, t)? } else { self.scope.term(self.terms, nodes, t)? };
            all.push((self.text[nodes[t].start..nodes[t].end].to_string(), value));
        }
        Ok(all)
    }

    fn levels(&mut self, nodes: &[Node<'a>], root: NodeId, push: bool, n: u64) -> Result<Command, Error> {
        const MOST: u64 = 100_000;
        if n > MOST {
            return wrong(nodes, root, format!("expected at most {MOST} levels"));
        }
        if !push && n >= self.asserted.len() as u64 {
            return wrong(nodes, root, format!("there are only {} levels to pop", self.asserted.len() - 1));
        }
        for _ in 0..n {
            if push {
                self.asserted.push(vec![]);
            } else {
                self.asserted.pop();
            }
            match (self.global, push) {
                (true, _) => {}
                (false, true) => self.scope.push(),
                (false, false) => {
                    self.scope.pop();
                }
            }
        }
        Ok(if push { Command::Push(n) } else { Command::Pop(n) })
    }
}

fn wrong<T>(nodes: &[Node<'_>], at: NodeId, message: impl Into<String>) -> Result<T, Error> {
    Err(error(nodes[at].start, nodes[at].end, message))
}

fn symbol<'a>(nodes: &[Node<'a>], at: NodeId) -> Result<&'a str, Error> {
    match nodes[at].kind {
        Kind::Symbol(name) => Ok(name),
        _ => wrong(nodes, at, "expected a name"),
    }
}

fn list<'n>(nodes: &'n [Node<'_>], at: NodeId) -> Result<&'n [NodeId], Error> {
    match &nodes[at].kind {
        Kind::List(parts) => Ok(parts),
        _ => wrong(nodes, at, "expected a list"),
    }
}

/// The name of an assertion.
fn named(nodes: &[Node<'_>], at: NodeId) -> Option<String> {
    let Kind::List(parts) = &nodes[at].kind else { return None };
    if nodes[*parts.first()?].kind != Kind::Symbol("!") {
        return None;
    }
    let key = parts.iter().position(|&p| nodes[p].kind == Kind::Keyword(":named"))?;
    match nodes[*parts.get(key + 1)?].kind {
        Kind::Symbol(name) => Some(name.to_string()),
        _ => None,
    }
}
