//! Names and sorts in scope, and formulas: from s-expressions to terms, without recursion.

use dashu_int::IBig;
use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{TermId, Terms, Type, VarId};

use super::ops::{self, OpError, sort_name};
use super::read::Read;
use super::sexpr::{Kind, Node, NodeId, error};
use super::{Error, Foreign};

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Name {
    /// A term: a variable, a literal, something defined.
    Term(Read),
    /// A function defined by a term over these variables.
    Macro { params: Vec<Result<(VarId, Type), Foreign>>, body: Read },
    /// A function that we have no terms for.
    Function(Foreign),
}

/// What a sort's name stands for.
#[derive(Debug, Clone)]
pub enum Sort {
    Type(Type),
    Foreign(Foreign),
}

/// All that is declared, by level.
#[derive(Debug, Default)]
pub struct Scope {
    pub names: FxHashMap<String, Name>,
    pub sorts: FxHashMap<String, Sort>,
    /// What was added, in order: is it a sort?
    trail: Vec<(bool, String)>,
    levels: Vec<usize>,
    /// Terms with a name, in order, for `get-assignment`.
    pub named: Vec<(String, TermId)>,
}

/// Sorts are nested by recursion, up to here.
const SORT_DEPTH: usize = 64;

impl Scope {
    pub fn push(&mut self) {
        self.levels.push(self.trail.len());
    }

    /// Closes a level, if one is open.
    pub fn pop(&mut self) -> bool {
        let Some(start) = self.levels.pop() else { return false };
        for (sort, name) in self.trail.drain(start..) {
            if sort {
                self.sorts.remove(&name);
            } else {
                self.names.remove(&name);
            }
        }
        let names = &self.names;
        self.named.retain(|(name, _)| names.contains_key(name));
        true
    }

    pub fn declare(&mut self, name: &str, at: &Node<'_>, what: Name) -> Result<(), Error> {
        if self.names.contains_key(name) {
            return Err(error(at.start, at.end, format!("`{name}` is declared already")));
        }
        if is_known(name) {
            return Err(error(at.start, at.end, format!("`{name}` has a meaning in SMT-LIB; choose another name")));
        }
        self.trail.push((false, name.to_string()));
        self.names.insert(name.to_string(), what);
        Ok(())
    }

    pub fn declare_sort(&mut self, name: &str, at: &Node<'_>, what: Sort) -> Result<(), Error> {
        if self.sorts.contains_key(name) || ["Bool", "Int", "Real", "Array", "BitVec", "String"].contains(&name) {
            return Err(error(at.start, at.end, format!("the sort `{name}` is declared already")));
        }
        self.trail.push((true, name.to_string()));
        self.sorts.insert(name.to_string(), what);
        Ok(())
    }

    /// A sort.
    pub fn sort(&self, terms: &mut Terms, nodes: &[Node<'_>], at: NodeId) -> Result<Result<Type, Foreign>, Error> {
        self.sort_within(terms, nodes, at, SORT_DEPTH)
    }

    fn sort_within(
        &self,
        terms: &mut Terms,
        nodes: &[Node<'_>],
        at: NodeId,
        depth: usize,
    ) -> Result<Result<Type, Foreign>, Error> {
        let node = &nodes[at];
        let foreign = |what: String| Ok(Err(Foreign { what, start: node.start, end: node.end }));
        let Some(depth) = depth.checked_sub(1) else {
            return Err(error(node.start, node.end, format!("a sort nested more than {SORT_DEPTH} deep")));
        };
        match &node.kind {
            Kind::Symbol("Bool") => Ok(Ok(Type::Bool)),
            Kind::Symbol("Int") => Ok(Ok(Type::Int)),
            Kind::Symbol(name) => match self.sorts.get(*name) {
                Some(Sort::Type(ty)) => Ok(Ok(*ty)),
                Some(Sort::Foreign(f)) => Ok(Err(f.clone())),
                None if is_foreign_sort(name) => foreign(format!("the sort {name}")),
                None => Err(error(node.start, node.end, format!("there is no sort `{name}`"))),
            },
            Kind::List(parts) => match parts.first().map(|&p| &nodes[p].kind) {
                Some(Kind::Symbol("_")) => match parts.get(1).map(|&p| &nodes[p].kind) {
                    Some(Kind::Symbol("BitVec")) if parts.len() == 3 => {
                        let width = index(&nodes[parts[2]])?;
                        match ops::bits_type(width) {
                            Ok(ty) => Ok(Ok(ty)),
                            Err(OpError::Wrong(message)) => Err(error(node.start, node.end, message)),
                            Err(OpError::Foreign(what)) => foreign(what),
                        }
                    }
                    Some(Kind::Symbol(name)) if is_foreign_sort(name) => foreign(format!("the sort {name}")),
                    _ => Err(error(node.start, node.end, "expected a sort, such as (_ BitVec 8)")),
                },
                Some(Kind::Symbol("Array")) if parts.len() == 3 => {
                    let index = self.sort_within(terms, nodes, parts[1], depth)?;
                    let entry = self.sort_within(terms, nodes, parts[2], depth)?;
                    match (index, entry) {
                        (Ok(Type::Array(..)), Ok(_)) => foreign("arrays indexed by arrays".into()),
                        (Ok(index), Ok(entry)) => Ok(Ok(terms.array_type(index, entry))),
                        (Err(f), _) | (_, Err(f)) => Ok(Err(f)),
                    }
                }
                Some(Kind::Symbol("Array")) => {
                    Err(error(node.start, node.end, "Array takes two sorts: (Array INDEX ENTRY)"))
                }
                Some(Kind::Symbol(name)) => match self.sorts.get(*name) {
                    Some(Sort::Foreign(f)) => Ok(Err(f.clone())),
                    _ if is_foreign_sort(name) => foreign(format!("the sort {name}")),
                    _ => Err(error(node.start, node.end, format!("there is no sort `{name}` with parameters"))),
                },
                _ => Err(error(node.start, node.end, "expected a sort")),
            },
            _ => Err(error(node.start, node.end, "expected a sort, such as Int")),
        }
    }

    /// The term that an s-expression stands for.
    pub fn term(&mut self, terms: &mut Terms, nodes: &[Node<'_>], root: NodeId) -> Result<Read, Error> {
        self.term_with(terms, nodes, root, FxHashMap::default())
    }

    /// The same, with local names.
    pub fn term_with<'a>(
        &mut self,
        terms: &mut Terms,
        nodes: &[Node<'a>],
        root: NodeId,
        locals: FxHashMap<&'a str, Vec<Read>>,
    ) -> Result<Read, Error> {
        let mut walk = Walk { scope: self, terms, nodes, locals, values: vec![], tasks: vec![Task::Read(root)] };
        while let Some(task) = walk.tasks.pop() {
            walk.step(task)?;
        }
        Ok(walk.values.pop().expect("the value of the root"))
    }
}

enum Task<'a> {
    Read(NodeId),
    /// The arguments of this list are read.
    Apply(NodeId),
    /// What this `let` binds is read.
    Let(NodeId),
    /// The body of a `let` is read.
    Leave(Vec<&'a str>),
    /// What this `!` annotates is read.
    Annotated(NodeId),
}

struct Walk<'w, 'a> {
    scope: &'w mut Scope,
    terms: &'w mut Terms,
    nodes: &'w [Node<'a>],
    locals: FxHashMap<&'a str, Vec<Read>>,
    values: Vec<Read>,
    tasks: Vec<Task<'a>>,
}

impl<'a> Walk<'_, 'a> {
    fn step(&mut self, task: Task<'a>) -> Result<(), Error> {
        match task {
            Task::Read(at) => return self.read(at),
            Task::Apply(at) => {
                let Kind::List(parts) = &self.nodes[at].kind else { return Ok(()) };
                let args = self.values.split_off(self.values.len() - (parts.len() - 1));
                let value = self.apply(at, parts[0], args)?;
                self.values.push(value);
            }
            Task::Let(at) => {
                let (names, _, body) = self.bindings(at)?;
                let values = self.values.split_off(self.values.len() - names.len());
                for (name, value) in names.iter().zip(values) {
                    self.locals.entry(name).or_default().push(value);
                }
                self.tasks.extend([Task::Leave(names), Task::Read(body)]);
            }
            Task::Leave(names) => {
                for name in names {
                    self.locals.get_mut(name).map(Vec::pop);
                }
            }
            Task::Annotated(at) => {
                let Kind::List(parts) = &self.nodes[at].kind else { return Ok(()) };
                let named = parts[2..].iter().position(|&p| self.nodes[p].kind == Kind::Keyword(":named"));
                if let Some(n) = named {
                    let Some(node) = parts.get(n + 3).map(|&p| &self.nodes[p]) else {
                        return self.wrong(at, "expected a name after :named");
                    };
                    let Kind::Symbol(name) = node.kind else {
                        return Err(error(node.start, node.end, "expected a name after :named"));
                    };
                    let value = self.values.last().expect("the annotated term").clone();
                    if let Ok(t) = value {
                        self.scope.named.push((name.to_string(), t));
                    }
                    self.scope.declare(name, node, Name::Term(value))?;
                }
            }
        }
        Ok(())
    }

    fn wrong<T>(&self, at: NodeId, message: impl Into<String>) -> Result<T, Error> {
        Err(error(self.nodes[at].start, self.nodes[at].end, message))
    }

    fn foreign(&self, at: NodeId, what: impl Into<String>) -> Read {
        Err(Foreign { what: what.into(), start: self.nodes[at].start, end: self.nodes[at].end })
    }

    fn read(&mut self, at: NodeId) -> Result<(), Error> {
        let value = match &self.nodes[at].kind {
            Kind::Symbol(name) => self.symbol(at, name)?,
            Kind::Numeral(digits) => Ok(self.terms.big(number(digits, 10))),
            Kind::Decimal => self.foreign(at, "real numbers"),
            Kind::Hex(digits) => self.bit_literal(at, digits.len() as u64 * 4, number(digits, 16))?,
            Kind::Binary(digits) => self.bit_literal(at, digits.len() as u64, number(digits, 2))?,
            Kind::Text(_) => self.foreign(at, "strings"),
            Kind::Keyword(_) => return self.wrong(at, "expected a term, found a keyword"),
            Kind::List(parts) => {
                let Some(&head) = parts.first() else { return self.wrong(at, "expected a term, found ()") };
                match self.nodes[head].kind {
                    Kind::Symbol("let") => {
                        let (_, values, _) = self.bindings(at)?;
                        self.tasks.push(Task::Let(at));
                        self.tasks.extend(values.into_iter().rev().map(Task::Read));
                        return Ok(());
                    }
                    Kind::Symbol("!") => {
                        if parts.len() < 2 {
                            return self.wrong(at, "expected a term to annotate");
                        }
                        self.tasks.extend([Task::Annotated(at), Task::Read(parts[1])]);
                        return Ok(());
                    }
                    Kind::Symbol("forall" | "exists") => self.foreign(at, "quantifiers"),
                    Kind::Symbol("match") => self.foreign(at, "match"),
                    Kind::Symbol("lambda") => self.foreign(at, "lambda"),
                    Kind::Symbol("_") => self.indexed_literal(at, parts)?,
                    // An enumeration's literal, perhaps; its sort is known without.
                    Kind::Symbol("as") if parts.len() == 3 => {
                        self.tasks.push(Task::Read(parts[1]));
                        return Ok(());
                    }
                    _ if parts.len() == 1 => {
                        return self.wrong(at, "a function without arguments is written without parentheses");
                    }
                    _ => {
                        self.tasks.push(Task::Apply(at));
                        self.tasks.extend(parts[1..].iter().rev().map(|&p| Task::Read(p)));
                        return Ok(());
                    }
                }
            }
        };
        self.values.push(value);
        Ok(())
    }

    fn symbol(&mut self, at: NodeId, name: &str) -> Result<Read, Error> {
        if let Some(value) = self.locals.get(name).and_then(|l| l.last()) {
            return Ok(value.clone());
        }
        match self.scope.names.get(name) {
            Some(Name::Term(value)) => return Ok(value.clone()),
            Some(Name::Macro { .. }) => return self.wrong(at, format!("`{name}` is a function: it takes arguments")),
            Some(Name::Function(f)) => return Ok(Err(f.clone())),
            None => {}
        }
        match name {
            "true" => Ok(Ok(self.terms.bool(true))),
            "false" => Ok(Ok(self.terms.bool(false))),
            _ if ops::is_foreign(name) => Ok(self.foreign(at, name)),
            _ if is_known(name) => self.wrong(at, format!("`{name}` is a function: it takes arguments")),
            _ => self.wrong(at, format!("`{name}` is not declared")),
        }
    }

    fn bit_literal(&mut self, at: NodeId, width: u64, n: IBig) -> Result<Read, Error> {
        match ops::bits_type(width) {
            Ok(ty) => Ok(Ok(self.terms.number(ty, n))),
            Err(OpError::Wrong(message)) => self.wrong(at, message),
            Err(OpError::Foreign(what)) => Ok(self.foreign(at, what)),
        }
    }

    /// `(_ bv5 8)`, or something foreign.
    fn indexed_literal(&mut self, at: NodeId, parts: &[NodeId]) -> Result<Read, Error> {
        let kinds: Vec<&Kind<'_>> = parts.iter().map(|&p| &self.nodes[p].kind).collect();
        if let [_, Kind::Symbol(name), width] = kinds[..]
            && let Some(digits) =
                name.strip_prefix("bv").filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
            && matches!(width, Kind::Numeral(_))
        {
            let width = index(&self.nodes[parts[2]])?;
            let n = number(digits, 10);
            return self.bit_literal(at, width, n);
        }
        match kinds.get(1) {
            Some(Kind::Symbol(name)) if ["char", "+oo", "-oo", "NaN", "+zero", "-zero"].contains(name) => {
                Ok(self.foreign(at, *name))
            }
            _ => self.wrong(at, "expected a literal, such as (_ bv5 8)"),
        }
    }

    /// The names that a `let` binds, what to, and its body.
    #[allow(clippy::type_complexity)]
    fn bindings(&self, at: NodeId) -> Result<(Vec<&'a str>, Vec<NodeId>, NodeId), Error> {
        let list = |at: NodeId| match &self.nodes[at].kind {
            Kind::List(parts) => Ok(parts),
            _ => self.wrong(at, "expected (let ((NAME TERM) …) TERM)"),
        };
        let &[_, bound, body] = &list(at)?[..] else { return self.wrong(at, "expected (let ((NAME TERM) …) TERM)") };
        let (mut names, mut values, mut seen) = (vec![], vec![], FxHashSet::default());
        for &pair in list(bound)? {
            let &[name, value] = &list(pair)?[..] else { return self.wrong(pair, "expected (NAME TERM)") };
            let Kind::Symbol(symbol) = self.nodes[name].kind else { return self.wrong(name, "expected a name") };
            if !seen.insert(symbol) {
                return self.wrong(name, format!("`{symbol}` is bound twice"));
            }
            names.push(symbol);
            values.push(value);
        }
        Ok((names, values, body))
    }

    fn apply(&mut self, at: NodeId, head: NodeId, args: Vec<Read>) -> Result<Read, Error> {
        match &self.nodes[head].kind {
            Kind::Symbol(name) if self.locals.get(name).is_some_and(|l| !l.is_empty()) => {
                self.wrong(head, format!("`{name}` is no function"))
            }
            Kind::Symbol(name) => match self.scope.names.get(*name) {
                Some(Name::Term(_)) => self.wrong(head, format!("`{name}` is no function")),
                Some(Name::Function(f)) => Ok(Err(f.clone())),
                Some(Name::Macro { .. }) => self.call(at, name, args),
                None if !is_known(name) && !ops::is_foreign(name) => {
                    self.wrong(head, format!("there is no function `{name}`"))
                }
                None => self.builtin(at, name, &[], args),
            },
            Kind::List(parts) => {
                let kinds: Vec<&Kind<'_>> = parts.iter().map(|&p| &self.nodes[p].kind).collect();
                match kinds[..] {
                    [Kind::Symbol("_"), Kind::Symbol("is"), Kind::Symbol(literal)] => {
                        self.tester(at, parts[2], literal, args)
                    }
                    [Kind::Symbol("_"), Kind::Symbol(name), ref indices @ ..] if !indices.is_empty() => {
                        if ops::is_foreign(name) {
                            return Ok(self.foreign(head, format!("the function {name}")));
                        }
                        let indices =
                            parts[2..].iter().map(|&p| index(&self.nodes[p])).collect::<Result<Vec<u64>, Error>>()?;
                        if !is_indexed(name) {
                            return self.wrong(head, format!("there is no function `{name}` with indices"));
                        }
                        self.builtin(at, name, &indices, args)
                    }
                    [Kind::Symbol("as"), Kind::Symbol("const"), _] => self.constant_array(at, parts[2], args),
                    _ => self.wrong(head, "expected a function"),
                }
            }
            _ => self.wrong(head, "expected a function"),
        }
    }

    fn builtin(&mut self, at: NodeId, name: &str, indices: &[u64], args: Vec<Read>) -> Result<Read, Error> {
        let args = match args.into_iter().collect::<Result<Vec<TermId>, Foreign>>() {
            Ok(args) => args,
            Err(f) => return Ok(Err(f)),
        };
        match ops::apply(self.terms, name, indices, &args) {
            Ok(t) => Ok(Ok(t)),
            Err(OpError::Wrong(message)) => self.wrong(at, message),
            Err(OpError::Foreign(what)) => Ok(self.foreign(at, what)),
        }
    }

    /// A defined function, its definition put in place.
    fn call(&mut self, at: NodeId, name: &str, args: Vec<Read>) -> Result<Read, Error> {
        let Some(Name::Macro { params, body }) = self.scope.names.get(name).cloned() else {
            return self.wrong(at, "no function");
        };
        if params.len() != args.len() {
            return self.wrong(at, format!("`{name}` takes {} arguments, found {}", params.len(), args.len()));
        }
        let mut map = FxHashMap::default();
        for (param, arg) in params.into_iter().zip(args) {
            match (param, arg) {
                (Ok((v, ty)), Ok(t)) if self.terms.ty(t) == ty => {
                    map.insert(v, t);
                }
                (Ok((_, ty)), Ok(t)) => {
                    let [want, found] = [ty, self.terms.ty(t)].map(|ty| sort_name(self.terms, ty));
                    return self.wrong(at, format!("`{name}` expects {want} here, found {found}"));
                }
                (Err(f), _) | (_, Err(f)) => return Ok(Err(f)),
            }
        }
        Ok(body.map(|t| self.terms.substitute(t, &map)))
    }

    /// `((_ is red) x)`
    fn tester(&mut self, at: NodeId, node: NodeId, literal: &str, args: Vec<Read>) -> Result<Read, Error> {
        let value = self.symbol(node, literal)?;
        let [Ok(a)] = args[..] else {
            return match args.into_iter().next() {
                Some(Err(f)) => Ok(Err(f)),
                _ => self.wrong(at, "a tester takes one argument"),
            };
        };
        match value {
            Ok(l) if matches!(self.terms.ty(l), Type::Enum(_)) && self.terms.ty(a) == self.terms.ty(l) => {
                Ok(Ok(self.terms.eq(a, l)))
            }
            Ok(_) => self.wrong(at, format!("`{literal}` is no constructor of this term's sort")),
            Err(f) => Ok(Err(f)),
        }
    }

    /// `((as const (Array Int Int)) 0)`
    fn constant_array(&mut self, at: NodeId, sort: NodeId, args: Vec<Read>) -> Result<Read, Error> {
        let ty = self.scope.sort(self.terms, self.nodes, sort)?;
        let [ref arg] = args[..] else { return self.wrong(at, "`as const` takes one argument") };
        match (ty, arg) {
            (Err(f), _) => Ok(Err(f)),
            (_, Err(f)) => Ok(Err(f.clone())),
            (Ok(ty @ Type::Array(_, entry)), &Ok(t)) => {
                let entry = self.terms.type_of_id(entry);
                if entry != self.terms.ty(t) {
                    let [want, found] = [entry, self.terms.ty(t)].map(|ty| sort_name(self.terms, ty));
                    return self.wrong(at, format!("expected an entry of sort {want}, found {found}"));
                }
                Ok(Ok(self.terms.const_array(ty, t)))
            }
            _ => self.wrong(sort, "expected an array sort"),
        }
    }
}

/// Functions with numbers in their name.
fn is_indexed(name: &str) -> bool {
    matches!(
        name,
        "extract"
            | "zero_extend"
            | "sign_extend"
            | "repeat"
            | "rotate_left"
            | "rotate_right"
            | "divisible"
            | "int2bv"
            | "int_to_bv"
    )
}

/// Functions of the theories that we have.
pub fn is_known(name: &str) -> bool {
    matches!(
        name,
        "true"
            | "false"
            | "not"
            | "and"
            | "or"
            | "xor"
            | "=>"
            | "="
            | "distinct"
            | "ite"
            | "+"
            | "-"
            | "*"
            | "div"
            | "mod"
            | "abs"
            | "<"
            | "<="
            | ">"
            | ">="
            | "select"
            | "store"
            | "concat"
            | "bvadd"
            | "bvmul"
            | "bvand"
            | "bvor"
            | "bvxor"
            | "bvnot"
            | "bvneg"
            | "bvsub"
            | "bvnand"
            | "bvnor"
            | "bvxnor"
            | "bvcomp"
            | "bvult"
            | "bvule"
            | "bvugt"
            | "bvuge"
            | "bvslt"
            | "bvsle"
            | "bvsgt"
            | "bvsge"
            | "bvshl"
            | "bvlshr"
            | "bvashr"
            | "bvudiv"
            | "bvurem"
            | "bvsdiv"
            | "bvsrem"
            | "bvsmod"
            | "bv2nat"
            | "ubv_to_int"
            | "sbv_to_int"
            | "let"
            | "!"
            | "_"
    )
}

fn is_foreign_sort(name: &str) -> bool {
    matches!(
        name,
        "Real"
            | "String"
            | "RegLan"
            | "RoundingMode"
            | "FloatingPoint"
            | "Float16"
            | "Float32"
            | "Float64"
            | "Float128"
            | "Seq"
            | "Set"
            | "Bag"
            | "Tuple"
            | "Relation"
            | "FiniteField"
            | "Char"
            | "Unicode"
    )
}

fn number(digits: &str, radix: u32) -> IBig {
    IBig::from_str_radix(digits, radix).expect("the lexer has seen to it that these are digits")
}

/// A numeral in a name or command.
pub fn index(node: &Node<'_>) -> Result<u64, Error> {
    match node.kind {
        Kind::Numeral(digits) => {
            digits.parse().map_err(|_| error(node.start, node.end, format!("`{digits}` is too large here")))
        }
        _ => Err(error(node.start, node.end, "expected a number")),
    }
}
