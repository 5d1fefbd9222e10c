//! The grammar.

use trellis_expr::TermId;
use trellis_model::ltl::{Formula, Spec};

use super::Names;
use super::value::{Operand, Value, balanced};
use crate::diag::{Diagnostic, Severity, SourceId, Sources, Span};
use crate::text::cursor::{Cursor, Reads, reads};
use crate::text::errors::Read;
use crate::text::tokens::{Tok, Token, cut, name, slashed};

const PUNCTUATION: [&str; 44] = [
    "<->", "<=>", "<>", "<=", "->", "=>", "==", "=", "/=", "/\\", "\\/", "!=", "!", "&&", "&", "||", "|", ">=", ">",
    "<", "+", "-", "*", "/", "%", "(", ")", "[]", "[", "]", ",", "¬", "∧", "∨", "→", "⇒", "↔", "⇔", "≠", "≤", "≥", "□",
    "◇", "○",
];

/// All tokens; the last one is the end.
pub(super) fn tokens(source: SourceId, text: &str) -> Vec<Token<'_>> {
    cut(source, text, &PUNCTUATION, slashed, |first, rest| match first {
        '"' => rest[1..].find('"').map(|len| (Tok::Quoted(&rest[1..1 + len]), len + 2)),
        _ => name(rest, "$", "$."),
    })
}

const IFF: [&str; 5] = ["<->", "<=>", "iff", "↔", "⇔"];
const IMPLIES: [&str; 5] = ["->", "=>", "imply", "→", "⇒"];
const OR: [&str; 5] = ["or", "||", "|", "∨", "\\/"];
const AND: [&str; 5] = ["and", "&&", "&", "∧", "/\\"];
const TWO: [&str; 4] = ["U", "W", "R", "M"];
const NOT: [&str; 3] = ["not", "!", "¬"];
const COMPARISONS: [&str; 12] = ["=", "==", "/=", "!=", "<>", "≠", "<", "<=", "≤", ">", ">=", "≥"];
const PRODUCTS: [&str; 6] = ["*", "/", "%", "mod", "rem", "div"];

/// Operators that look back, with what they are called.
const PAST: [(&str, &str); 9] = [
    ("Y", "yesterday"),
    ("Z", "weak yesterday"),
    ("O", "once"),
    ("H", "historically"),
    ("P", "previously"),
    ("S", "since"),
    ("T", "triggered"),
    ("once", "once"),
    ("since", "since"),
];

/// Is a word an operator, or a constant?
pub(super) fn is_operator(word: &str) -> bool {
    let all = [&IFF[..], &IMPLIES, &OR, &AND, &TWO, &NOT, &PRODUCTS].concat();
    all.contains(&word)
        || matches!(word, "true" | "false" | "In")
        || word.trim_start_matches(['F', 'G', 'X']).is_empty()
}

/// How long a chain like `a + b + …` may be.
const MAX_CHAIN: usize = 400;

pub struct Parser<'a, 'n> {
    cursor: Cursor<'a>,
    pub names: &'n mut dyn Names,
    pub text: &'a str,
    /// The atoms so far: terms, and how they were written.
    pub atoms: Vec<(TermId, String)>,
}

reads!(Parser<'a, 'n>);

impl<'a, 'n> Parser<'a, 'n> {
    pub fn new(sources: &'a Sources, id: SourceId, names: &'n mut dyn Names) -> Parser<'a, 'n> {
        let text = &sources.get(id).text;
        Parser { cursor: Cursor::new(sources, tokens(id, text)), names, text, atoms: vec![] }
    }

    pub fn formula(mut self) -> Result<Spec, Vec<Diagnostic>> {
        let read = self.whole();
        let complaints = std::mem::take(&mut self.cursor.errors).finish();
        match read {
            Ok(formula) if !complaints.iter().any(|d| d.severity == Severity::Error) => {
                let (atoms, names) = self.atoms.into_iter().unzip();
                Ok(Spec { formula, atoms, names })
            }
            _ => Err(complaints),
        }
    }

    fn whole(&mut self) -> Read<Formula> {
        let all = self.iff()?;
        match self.peek().tok {
            Tok::End => self.as_formula(all, "a formula"),
            _ => self.unexpected("an operator or the end of the formula"),
        }
    }

    fn past<T>(&mut self, word: &str, span: Span) -> Read<T> {
        let called = PAST.iter().find(|p| p.0 == word).map_or(word, |p| p.1);
        let help = "a formula speaks of now and later only: F, G, X, U, W, R, M";
        let what = format!("past operators are not supported: `{word}` ({called})");
        self.errors.fail(Diagnostic::error(span, what).help(help))
    }

    /// The operator that is next, if it is one of these.
    fn operator<'o>(&self, operators: &[&'o str]) -> Option<&'o str> {
        match self.peek().tok {
            Tok::P(p) | Tok::Name(p) => operators.iter().copied().find(|op| *op == p),
            _ => None,
        }
    }

    fn iff(&mut self) -> Read<Operand> {
        self.right(&IFF, Self::implies, |_, a, b| Formula::Iff(a, b))
    }

    fn implies(&mut self) -> Read<Operand> {
        self.right(&IMPLIES, Self::or, |_, a, b| Formula::Implies(a, b))
    }

    fn or(&mut self) -> Read<Operand> {
        self.many(&OR, Self::and, Formula::Or)
    }

    fn and(&mut self) -> Read<Operand> {
        self.many(&AND, Self::until, Formula::And)
    }

    fn until(&mut self) -> Read<Operand> {
        let read = self.right(&TWO, Self::unary, |op, a, b| match op {
            "U" => Formula::Until(a, b),
            "W" => Formula::WeakUntil(a, b),
            "R" => Formula::Release(a, b),
            _ => Formula::StrongRelease(a, b),
        })?;
        // No name can follow here, whatever it means.
        match self.peek() {
            Token { tok: Tok::Name(word), span } if PAST.iter().any(|p| p.0 == word) => self.past(word, span),
            _ => Ok(read),
        }
    }

    /// An operator that goes to the right.
    fn right(
        &mut self,
        operators: &[&'static str],
        tighter: fn(&mut Self) -> Read<Operand>,
        make: fn(&str, Box<Formula>, Box<Formula>) -> Formula,
    ) -> Read<Operand> {
        let left = tighter(self)?;
        let Some(op) = self.operator(operators) else { return Ok(left) };
        let at = self.bump().span;
        let (start, temporal) = (left.span, left.is_temporal());
        let a = self.as_formula(left, op)?;
        let right = self.down(at, |p| p.right(operators, tighter, make))?;
        let span = start.to(right.span);
        let temporal = TWO.contains(&op) || temporal || right.is_temporal();
        let b = self.as_formula(right, op)?;
        Ok(Operand { span, value: Value::Formula(make(op, Box::new(a), Box::new(b)), temporal) })
    }

    /// A chain of an associative operator.
    fn many(
        &mut self,
        operators: &[&'static str],
        tighter: fn(&mut Self) -> Read<Operand>,
        make: fn(Box<Formula>, Box<Formula>) -> Formula,
    ) -> Read<Operand> {
        let first = tighter(self)?;
        let Some(op) = self.operator(operators) else { return Ok(first) };
        let (mut span, mut temporal) = (first.span, first.is_temporal());
        let mut all = vec![self.as_formula(first, op)?];
        while let Some(op) = self.operator(operators) {
            self.bump();
            let next = tighter(self)?;
            span = span.to(next.span);
            temporal |= next.is_temporal();
            all.push(self.as_formula(next, op)?);
        }
        Ok(Operand { span, value: Value::Formula(balanced(all, make), temporal) })
    }

    /// Which prefix operator is next?
    fn prefix(&mut self) -> Option<char> {
        self.split();
        match self.peek().tok {
            Tok::Name("F") | Tok::P("<>" | "◇") => Some('F'),
            Tok::Name("G") | Tok::P("[]" | "□") => Some('G'),
            Tok::Name("X") | Tok::P("○") => Some('X'),
            _ => self.operator(&NOT).map(|_| '!'),
        }
    }

    fn unary(&mut self) -> Read<Operand> {
        let Some(op) = self.prefix() else { return self.comparison(None) };
        let t = self.bump();
        let inner = self.down(t.span, |p| if p.prefix().is_some() { p.unary() } else { p.comparison(Some(op)) })?;
        let (span, temporal) = (t.span.to(inner.span), op != '!' || inner.is_temporal());
        let a = Box::new(self.as_formula(inner, &op.to_string())?);
        let f = match op {
            'F' => Formula::Finally(a),
            'G' => Formula::Globally(a),
            'X' => Formula::Next(a),
            _ => Formula::Not(a),
        };
        Ok(Operand { span, value: Value::Formula(f, temporal) })
    }

    /// `GFp` is three tokens, unless there is such a name.
    fn split(&mut self) {
        let Token { tok: Tok::Name(word), span } = self.peek() else { return };
        let operators = word.len() - word.trim_start_matches(['F', 'G', 'X']).len();
        if word.len() < 2 || operators == 0 || self.lookup(word).is_some() {
            return;
        }
        let constant = |rest: &str| matches!(rest, "" | "true" | "false" | "In" | "not");
        let at = (1..=operators).find(|&n| constant(&word[n..]) || self.lookup(&word[n..]).is_some());
        if let Some(at) = at {
            let piece = |from: usize, to: usize| Token {
                tok: Tok::Name(&word[from..to]),
                span: Span { start: span.start + from as u32, end: span.start + to as u32, ..span },
            };
            let ends = (0..at).map(|n| piece(n, n + 1)).chain((at < word.len()).then(|| piece(at, word.len())));
            let pieces: Vec<Token> = ends.collect();
            let here = self.at;
            self.tokens.splice(here..=here, pieces);
        }
    }

    fn lookup(&mut self, name: &str) -> Option<TermId> {
        self.names.name(name).or_else(|| self.names.inside(name))
    }

    /// A comparison, perhaps behind a prefix operator.
    fn comparison(&mut self, prefix: Option<char>) -> Read<Operand> {
        let bracket = self.is("(");
        let mut left = self.sum()?;
        let mut length = 0;
        while let Some(op) = self.operator(&COMPARISONS) {
            let at = self.bump().span;
            self.chained(&mut length, at)?;
            if self.is_logical(&left) {
                // `F (a) = b` would be `F (a = b)`, and looks like `(F a) = b`.
                if let Some(prefix @ ('F' | 'G' | 'X')) = prefix.filter(|_| bracket && length == 1) {
                    let help = "put parentheses around what is compared";
                    let what = format!("`{prefix} (…) {op} …` can be understood in two ways");
                    return self.errors.fail(Diagnostic::error(at, what).help(help));
                }
                // Now, so that atoms are numbered from left to right.
                let (span, temporal) = (left.span, left.is_temporal());
                left = Operand { span, value: Value::Formula(self.as_formula(left, op)?, temporal) };
            }
            let right = if self.prefix().is_some() { self.unary()? } else { self.sum()? };
            left = self.compare(op, left, right)?;
        }
        Ok(left)
    }

    fn sum(&mut self) -> Read<Operand> {
        self.arithmetic(&["+", "-"], |p| p.arithmetic(&PRODUCTS, Self::negated))
    }

    fn arithmetic(&mut self, operators: &[&'static str], tighter: fn(&mut Self) -> Read<Operand>) -> Read<Operand> {
        let mut left = tighter(self)?;
        let mut length = 0;
        while let Some(op) = self.operator(operators) {
            let at = self.bump().span;
            self.chained(&mut length, at)?;
            let right = tighter(self)?;
            left = self.calculate(op, left, right)?;
        }
        Ok(left)
    }

    fn chained(&mut self, length: &mut usize, span: Span) -> Read<()> {
        *length += 1;
        if *length > MAX_CHAIN { self.fail(span, "this chain of operators is too long") } else { Ok(()) }
    }

    fn negated(&mut self) -> Read<Operand> {
        if !self.is("-") {
            return self.indexed();
        }
        let t = self.bump();
        let inner = self.down(t.span, |p| p.negated())?;
        self.minus(inner, t.span)
    }

    fn indexed(&mut self) -> Read<Operand> {
        let mut array = self.primary()?;
        let mut length = 0;
        while self.is("[") {
            let at = self.bump().span;
            self.chained(&mut length, at)?;
            let index = self.nested(at)?;
            let end = self.peek().span;
            self.require("]")?;
            array = self.entry(array, index, end)?;
        }
        Ok(array)
    }

    /// Something in brackets. All levels of precedence are gone through, so it counts as much as four prefix operators.
    fn nested(&mut self, span: Span) -> Read<Operand> {
        self.depth += 3;
        self.deeper(span)?;
        let inside = self.iff()?;
        self.depth -= 4;
        Ok(inside)
    }

    fn primary(&mut self) -> Read<Operand> {
        let t = self.bump();
        let formula = |f| Ok(Operand { span: t.span, value: Value::Formula(f, false) });
        let term = |x| Ok(Operand { span: t.span, value: Value::Term(x) });
        match t.tok {
            Tok::Name("true") => formula(Formula::True),
            Tok::Name("false") => formula(Formula::False),
            Tok::Name("In") if self.is("(") => self.inside(t.span),
            Tok::Name(word) => {
                let past = PAST.iter().any(|p| p.0 == word);
                let rest = self.text.get(t.span.start as usize..).unwrap_or_default();
                let longer = self.names.whole(rest).filter(|w| w.len() > word.len() && !is_operator(word));
                if let Some(whole) = longer.filter(|w| !past || w.contains(['.', '[']) || self.names.name(w).is_some())
                {
                    return self.longer_name(whole, t.span);
                }
                // Even where there is a variable of that name: nothing like this can follow it.
                if past && self.starts_operand() {
                    return self.past(word, t.span);
                }
                if let Some(x) = self.lookup(word) {
                    return term(x);
                }
                let all = [&IFF[..], &IMPLIES, &OR, &AND, &TWO, &NOT, &PRODUCTS].concat();
                if all.contains(&word) {
                    return self.fail(t.span, format!("expected a formula, found the operator `{word}`"));
                }
                Ok(Operand { span: t.span, value: Value::Unknown(word.to_string()) })
            }
            Tok::Number(digits) => match digits.parse::<dashu_int::IBig>() {
                Ok(n) => term(self.names.terms().big(n)),
                Err(_) => self.fail(t.span, "this is not a number"),
            },
            Tok::Quoted(text) => match self.names.quoted(text) {
                Ok(x) => term(x),
                Err(why) => self.fail(t.span, why),
            },
            Tok::P("(") => {
                let inside = self.nested(t.span)?;
                self.require(")")?;
                Ok(inside)
            }
            Tok::Odd('"') => self.fail(t.span, "this quotation has no end"),
            tok => self.fail(t.span, format!("expected a formula, found {}", tok.describe())),
        }
    }

    /// A name that is more than one token.
    fn longer_name(&mut self, name: &str, start: Span) -> Read<Operand> {
        let end = start.start + name.len() as u32;
        while self.peek().span.start < end && !matches!(self.peek().tok, Tok::End) {
            self.bump();
        }
        let span = Span { end, ..start };
        match self.names.name(name) {
            Some(x) => Ok(Operand { span, value: Value::Term(x) }),
            None => Ok(Operand { span, value: Value::Unknown(name.to_string()) }),
        }
    }

    /// Is there something that an operator could be applied to?
    fn starts_operand(&self) -> bool {
        match self.peek().tok {
            Tok::Name(word) => ![&AND[..], &OR, &IFF, &IMPLIES, &TWO, &PRODUCTS].concat().contains(&word),
            Tok::Number(_) | Tok::Quoted(_) => true,
            Tok::P(p) => matches!(p, "(" | "!" | "¬" | "[]"),
            _ => false,
        }
    }

    /// `In(state)`
    fn inside(&mut self, start: Span) -> Read<Operand> {
        self.require("(")?;
        let (state, at) = match self.peek().tok {
            Tok::Quoted(text) => (text, self.bump().span),
            _ => self.name("a state")?,
        };
        let span = start.to(self.peek().span);
        self.require(")")?;
        match self.names.inside(state) {
            Some(x) => Ok(Operand { span, value: Value::Term(x) }),
            None => self.no_such("state", state, at),
        }
    }
}
