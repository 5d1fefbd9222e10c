//! Text to terms. Everything is checked before a term is made of it: what comes from a file may be anything.

use rustc_hash::FxHashMap;
use trellis_expr::value::Value;
use trellis_expr::{BitOp, Division, EnumId, Term, TermId, Terms, Type, VarId};
use trellis_model::cfa::Cfa;

use super::enumerations;
use crate::program::full_names;

/// Deeper nesting is refused; definitions keep it small.
const MAX_DEPTH: usize = 200;

/// Reads the terms of one document into an arena.
pub(crate) struct Reader {
    /// The automaton's arena, which grows.
    pub terms: Terms,
    variables: FxHashMap<String, VarId>,
    enums: FxHashMap<String, EnumId>,
    definitions: Vec<TermId>,
}

#[derive(Debug, PartialEq)]
enum Token {
    Open,
    Close,
    /// As it is written; a name between bars is a name for sure.
    Atom(String, bool),
}

enum Sexpr {
    Atom(String, bool),
    List(Vec<Sexpr>),
}

type Read<T> = Result<T, String>;

impl Reader {
    /// Knows the variables and enumerations of the automaton.
    pub fn new(cfa: &Cfa) -> Reader {
        Reader {
            variables: full_names(cfa).into_iter().zip(cfa.variables.iter().copied()).collect(),
            enums: enumerations(&cfa.terms).into_iter().map(|(e, n)| (n, e)).collect(),
            terms: cfa.terms.clone(),
            definitions: Vec::new(),
        }
    }

    /// The next definition.
    pub fn define(&mut self, text: &str) -> Read<()> {
        let t = self.read(text)?;
        self.definitions.push(t);
        Ok(())
    }

    /// A term.
    pub fn read(&mut self, text: &str) -> Read<TermId> {
        let tree = parse(text)?;
        self.term(&tree)
    }

    /// A term that is a truth value.
    pub fn condition(&mut self, text: &str) -> Read<TermId> {
        let t = self.read(text)?;
        if self.terms.ty(t) == Type::Bool { Ok(t) } else { Err("it is no truth value".into()) }
    }

    /// A type.
    pub fn ty(&mut self, text: &str) -> Read<Type> {
        let tree = parse(text)?;
        self.type_from(&tree)
    }

    /// The type of a variable.
    pub fn type_of(&self, name: &str) -> Option<Type> {
        self.variables.get(name).map(|&v| self.terms.variable(v).ty)
    }

    fn term(&mut self, tree: &Sexpr) -> Read<TermId> {
        match tree {
            Sexpr::Atom(text, quoted) => self.atom(text, *quoted),
            Sexpr::List(parts) => match parts.split_first() {
                Some((Sexpr::Atom(operator, false), args)) => self.application(operator, args),
                _ => Err("a list that does not start with an operator".into()),
            },
        }
    }

    fn atom(&mut self, text: &str, quoted: bool) -> Read<TermId> {
        let terms = &mut self.terms;
        if !quoted {
            match text {
                "true" => return Ok(terms.bool(true)),
                "false" => return Ok(terms.bool(false)),
                _ => {}
            }
            if let Some(n) = text.strip_prefix('!') {
                let n = n.parse::<usize>().ok().and_then(|n| self.definitions.get(n));
                return n.copied().ok_or_else(|| format!("`{text}` is not defined before it is used"));
            }
            if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                return self.number(text);
            }
        }
        match self.variables.get(text) {
            Some(&v) => Ok(terms.var(v)),
            None => Err(format!("`{text}` is no variable of this model")),
        }
    }

    fn number(&mut self, text: &str) -> Read<TermId> {
        let digits = text.find(['i', 'u']).unwrap_or(text.len());
        let (number, ty) = text.split_at(digits);
        let plain = number.strip_prefix('-').unwrap_or(number);
        let wrong = || format!("`{text}` is no number");
        if plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        let big = number.parse().map_err(|_| wrong())?;
        if ty.is_empty() {
            return Ok(self.terms.big(big));
        }
        let Some(Type::Bits { width, signed }) = word(ty) else { return Err(wrong()) };
        let value = Value::wrap(width, signed, &big);
        if value.number() != big {
            return Err(format!("`{text}` does not fit its type"));
        }
        let Value::Bits { bits, .. } = value else { return Err(wrong()) };
        Ok(self.terms.bits(width, signed, bits))
    }

    fn application(&mut self, operator: &str, args: &[Sexpr]) -> Read<TermId> {
        match (operator, args) {
            ("of", [Sexpr::Atom(of, _), Sexpr::Atom(literal, _)]) => {
                let e = *self.enums.get(of).ok_or_else(|| format!("`{of}` is no enumeration of this model"))?;
                let n = self.terms.enumeration(e).literals.iter().position(|l| l == literal);
                let n = n.ok_or_else(|| format!("`{of}` has no literal `{literal}`"))?;
                return Ok(self.terms.enum_lit(e, n as u32));
            }
            ("check", [a, lo, hi]) => {
                let (a, lo, hi) = (self.term(a)?, bound(lo)?, bound(hi)?);
                if self.terms.ty(a) != Type::Int || lo > hi {
                    return Err("`check` takes an integer and two bounds".into());
                }
                return Ok(self.terms.intern(Term::Checked(a, lo, hi)));
            }
            ("convert", [ty, a]) => {
                let (ty, a) = (self.type_from(ty)?, self.term(a)?);
                let number = ty.is_int() || matches!(ty, Type::Bits { .. });
                if !number || matches!(self.terms.ty(a), Type::Array(..)) {
                    return Err("`convert` takes a type of numbers and what is no array".into());
                }
                let ty = self.terms.type_id(ty);
                return Ok(self.terms.intern(Term::Convert(ty, a)));
            }
            ("const", [ty, v]) => {
                let (ty, v) = (self.type_from(ty)?, self.term(v)?);
                let fits = matches!(ty, Type::Array(_, e)
                    if self.terms.sort(self.terms.type_of_id(e)) == self.terms.ty(v));
                if !fits {
                    return Err("`const` takes a type of arrays and an entry of it".into());
                }
                let ty = self.terms.type_id(ty);
                return Ok(self.terms.intern(Term::ConstArray(ty, v)));
            }
            _ => {}
        }
        let mut all = Vec::new();
        for a in args {
            all.push(self.term(a)?);
        }
        match self.node(operator, &all) {
            Some(node) => Ok(self.terms.intern(node)),
            None => Err(format!("`{operator}` cannot be applied to this")),
        }
    }

    /// The node, if it is well-typed.
    fn node(&self, operator: &str, args: &[TermId]) -> Option<Term> {
        let ty = |t: &TermId| self.terms.ty(*t);
        let bool = |t: &TermId| ty(t) == Type::Bool;
        let number = |t: &TermId| matches!(ty(t), Type::Int | Type::Bits { .. });
        let same = args.windows(2).all(|w| ty(&w[0]) == ty(&w[1]));
        let numbers = !args.is_empty() && args.iter().all(number);
        let entry = |a: &TermId, i: &TermId| match ty(a) {
            Type::Array(index, entry) if self.terms.sort(self.terms.type_of_id(index)) == ty(i) => {
                Some(self.terms.sort(self.terms.type_of_id(entry)))
            }
            _ => None,
        };
        use Division::{Euclidean, Truncating};
        Some(match (operator, args) {
            ("not", &[a]) if bool(&a) => Term::Not(a),
            ("and", [_, ..]) if args.iter().all(bool) => Term::And(args.into()),
            ("or", [_, ..]) if args.iter().all(bool) => Term::Or(args.into()),
            ("ite", &[c, a, b]) if bool(&c) && ty(&a) == ty(&b) => Term::Ite(c, a, b),
            ("=", &[a, b]) if same => Term::Eq(a, b),
            ("<", &[a, b]) if same && numbers => Term::Lt(a, b),
            ("<=", &[a, b]) if same && numbers => Term::Le(a, b),
            ("+", _) if same && numbers => Term::Add(args.into()),
            ("-", &[a]) if numbers => Term::Neg(a),
            ("*", &[a, b]) if same && numbers => Term::Mul(a, b),
            ("/", &[a, b]) if same && numbers => Term::Div(Truncating, a, b),
            ("%", &[a, b]) if same && numbers => Term::Rem(Truncating, a, b),
            ("div", &[a, b]) if same && numbers => Term::Div(Euclidean, a, b),
            ("mod", &[a, b]) if same && numbers => Term::Rem(Euclidean, a, b),
            ("bitand", &[a, b]) if same && numbers => Term::Bit(BitOp::And, a, b),
            ("bitor", &[a, b]) if same && numbers => Term::Bit(BitOp::Or, a, b),
            ("bitxor", &[a, b]) if same && numbers => Term::Bit(BitOp::Xor, a, b),
            ("shl", &[a, b]) if numbers => Term::Bit(BitOp::Shl, a, b),
            ("shr", &[a, b]) if numbers => Term::Bit(BitOp::Shr, a, b),
            ("select", &[a, i]) if entry(&a, &i).is_some() => Term::Select(a, i),
            ("store", &[a, i, v]) if entry(&a, &i) == Some(ty(&v)) => Term::Store(a, i, v),
            _ => return None,
        })
    }

    fn type_from(&mut self, tree: &Sexpr) -> Read<Type> {
        let wrong = || Err("expected a type".to_string());
        match tree {
            Sexpr::Atom(text, false) => match (text.as_str(), word(text)) {
                ("bool", _) => Ok(Type::Bool),
                ("int", _) => Ok(Type::Int),
                (_, Some(ty)) => Ok(ty),
                _ => wrong(),
            },
            Sexpr::List(parts) => match &parts[..] {
                [Sexpr::Atom(what, false), lo, hi] if what == "range" => {
                    let (lo, hi) = (bound(lo)?, bound(hi)?);
                    if lo <= hi { Ok(Type::Range(lo, hi)) } else { wrong() }
                }
                [Sexpr::Atom(what, false), Sexpr::Atom(name, _)] if what == "enum" => {
                    let e = self.enums.get(name).ok_or_else(|| format!("`{name}` is no enumeration of this model"))?;
                    Ok(Type::Enum(*e))
                }
                [Sexpr::Atom(what, false), i, e] if what == "array" => {
                    let (i, e) = (self.type_from(i)?, self.type_from(e)?);
                    if matches!(i, Type::Array(..)) { wrong() } else { Ok(self.terms.array_type(i, e)) }
                }
                _ => wrong(),
            },
            _ => wrong(),
        }
    }
}

/// `i32`, `u8`.
fn word(text: &str) -> Option<Type> {
    let signed = text.starts_with('i');
    let digits = text.strip_prefix(['i', 'u'])?;
    let width = digits.parse().ok().filter(|w| (1..=64).contains(w) && digits.bytes().all(|b| b.is_ascii_digit()))?;
    Some(Type::Bits { width, signed })
}

fn bound(tree: &Sexpr) -> Read<i64> {
    match tree {
        Sexpr::Atom(text, false) => text.parse().map_err(|_| format!("`{text}` is no bound")),
        _ => Err("expected a bound".into()),
    }
}

fn parse(text: &str) -> Read<Sexpr> {
    let mut open: Vec<Vec<Sexpr>> = Vec::new();
    let mut done = None;
    for token in tokens(text)? {
        if done.is_some() {
            return Err("there is something behind the term".into());
        }
        let tree = match token {
            Token::Open if open.len() >= MAX_DEPTH => return Err("it is nested too deeply".into()),
            Token::Open => {
                open.push(Vec::new());
                continue;
            }
            Token::Close => Sexpr::List(open.pop().ok_or("a closing parenthesis too many")?),
            Token::Atom(text, quoted) => Sexpr::Atom(text, quoted),
        };
        match open.last_mut() {
            Some(list) => list.push(tree),
            None => done = Some(tree),
        }
    }
    done.ok_or_else(|| "the term does not end".into())
}

fn tokens(text: &str) -> Read<Vec<Token>> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '(' => out.push(Token::Open),
            ')' => out.push(Token::Close),
            c if c.is_whitespace() => {}
            '|' => {
                let mut name = String::new();
                loop {
                    match chars.next() {
                        Some('|') => break,
                        Some('\\') => name.extend(chars.next()),
                        Some(c) => name.push(c),
                        None => return Err("a name that does not end".into()),
                    }
                }
                out.push(Token::Atom(name, true));
            }
            c => {
                let mut atom = c.to_string();
                while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !matches!(c, '(' | ')' | '|')) {
                    atom.push(c);
                }
                out.push(Token::Atom(atom, false));
            }
        }
    }
    Ok(out)
}
