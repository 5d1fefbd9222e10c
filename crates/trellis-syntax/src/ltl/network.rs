//! Formulas about networks of automata: names and indices as in UPPAAL's queries (`P(1).cs`, `board[2][3]`, `n`), and whole conditions of
//! that language in quotes (`"forall (i : id_t) n[i] > 0"`).
//!
//! What a name means is for whoever builds the network to say, so a formula is read twice: once for the words in it
//! ([`Vocabulary`]), which are built along with the model, and then as a formula.
//!
//! Deliberately not possible: to speak of clocks or `deadlock`. The words are refused where they stand.

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, Terms, Type};
use trellis_model::ltl::Formula;
use trellis_model::network::{Condition, Network};

use super::parser::{is_operator, tokens};
use super::{Names, parse, parse_state};
use crate::diag::{Diagnostic, SourceId, Sources};
use crate::text::tokens::Tok;
use crate::uppaal::{ast, parse_expr};

/// The words of some formulas, and what they mean.
#[derive(Debug, Default)]
pub struct Vocabulary {
    texts: Vec<String>,
    /// Those that are expressions at all, in the order of their texts.
    expressions: Vec<ast::Expr>,
    meanings: FxHashMap<String, Result<Condition, String>>,
}

/// How much of a text that starts with a name is one expression: `P(1).cs`, `n[2]`.
pub(super) fn chain(text: &str) -> usize {
    let bytes = text.as_bytes();
    let word = |from: usize| {
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
        from + bytes[from..].iter().take_while(|b| part(b)).count()
    };
    let mut at = word(0);
    if at == 0 {
        return 0;
    }
    loop {
        match bytes.get(at) {
            Some(b'.') if word(at + 1) > at + 1 => at = word(at + 1),
            Some(b'(' | b'[') => {
                let (mut depth, mut end) = (0usize, at);
                for b in &bytes[at..] {
                    end += 1;
                    match b {
                        b'(' | b'[' => depth += 1,
                        b')' | b']' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
                if depth > 0 {
                    return at;
                }
                at = end;
            }
            _ => return at,
        }
    }
}

impl Vocabulary {
    /// Collects what may be a word of the model in a formula.
    pub fn add(&mut self, sources: &mut Sources, formula: SourceId) {
        let text = sources.get(formula).text.clone();
        let mut words = vec![];
        for t in tokens(formula, &text) {
            match t.tok {
                Tok::Quoted(condition) => words.push(condition.to_string()),
                Tok::Name(word) if !is_operator(word) => {
                    let rest = &text[t.span.start as usize..];
                    words.push(rest[..chain(rest)].to_string());
                    // `GFp` may be three words.
                    let operators = word.len() - word.trim_start_matches(['F', 'G', 'X']).len();
                    words.extend((0..=operators).map(|n| word[n..].to_string()));
                }
                _ => {}
            }
        }
        for word in words {
            if word.is_empty() || self.meanings.contains_key(&word) || self.texts.contains(&word) {
                continue;
            }
            let id = sources.add("--ltl", word.as_str());
            match parse_expr(id, &word) {
                (Some(e), errors) if errors.is_empty() => {
                    self.texts.push(word);
                    self.expressions.push(e);
                }
                (_, errors) => {
                    let why = errors.first().map_or("this is no expression".into(), |d| d.message.clone());
                    self.meanings.insert(word, Err(why));
                }
            }
        }
    }

    /// What must be built along with the model.
    pub fn expressions(&self) -> &[ast::Expr] {
        &self.expressions
    }

    /// What that came to.
    pub fn built(&mut self, values: Vec<Result<Condition, String>>) {
        self.meanings.extend(self.texts.drain(..).zip(values));
    }
}

/// A formula about a network.
#[derive(Debug, Clone)]
pub struct Said {
    /// The formula.
    pub formula: Formula,
    /// Its atoms.
    pub conditions: Vec<Condition>,
    /// As they were written.
    pub names: Vec<String>,
}

/// Reads a formula. Its words must have been built.
pub fn read(
    sources: &Sources,
    formula: SourceId,
    net: &mut Network,
    words: &Vocabulary,
) -> Result<Said, Vec<Diagnostic>> {
    let mut names = Asked { terms: &mut net.terms, words, prepared: FxHashMap::default() };
    let spec = parse(sources, formula, &mut names)?;
    let conditions = spec.atoms.iter().map(|t| names.condition(*t)).collect();
    Ok(Said { formula: spec.formula, conditions, names: spec.names })
}

/// Reads what the atoms of an automaton say. There is no formula: `true` stands for it.
pub fn read_atoms(
    sources: &Sources,
    atoms: &[SourceId],
    net: &mut Network,
    words: &Vocabulary,
) -> Result<Said, Vec<Diagnostic>> {
    let mut said = Said { formula: Formula::True, conditions: vec![], names: vec![] };
    for &atom in atoms {
        let mut names = Asked { terms: &mut net.terms, words, prepared: FxHashMap::default() };
        let t = parse_state(sources, atom, &mut names)?;
        said.conditions.push(names.condition(t));
        said.names.push(sources.get(atom).text.to_string());
    }
    Ok(said)
}

struct Asked<'n> {
    terms: &'n mut Terms,
    words: &'n Vocabulary,
    /// Variables that stand for conditions that are more than a term.
    prepared: FxHashMap<TermId, Condition>,
}

impl Asked<'_> {
    fn condition(&mut self, t: TermId) -> Condition {
        let inner = match *self.terms.get(t) {
            trellis_expr::Term::Not(inner) => Some(inner),
            _ => None,
        };
        match (self.prepared.get(&t), inner.and_then(|i| self.prepared.get(&i))) {
            (Some(c), _) => *c,
            (None, Some(&c)) => Condition { holds: self.terms.not(c.holds), ..c },
            (None, None) => Condition { prepare: self.terms.skip(), holds: t },
        }
    }

    fn meaning(&mut self, text: &str) -> Result<TermId, String> {
        let c = match self.words.meanings.get(text) {
            Some(Ok(c)) => *c,
            Some(Err(why)) => return Err(why.clone()),
            None => return Err("this is not part of the model".into()),
        };
        if c.prepare == self.terms.skip() {
            return Ok(c.holds);
        }
        if self.terms.ty(c.holds) != Type::Bool {
            return Err(format!("`{text}` takes some computing; put the whole condition it is part of in quotes"));
        }
        // The same condition is the same variable, so that it is one atom.
        if let Some((t, _)) = self.prepared.iter().find(|(_, known)| **known == c) {
            return Ok(*t);
        }
        let v = self.terms.declare(format!("condition {text}"), Type::Bool);
        let t = self.terms.var(v);
        self.prepared.insert(t, c);
        Ok(t)
    }
}

impl Names for Asked<'_> {
    fn name(&mut self, text: &str) -> Option<TermId> {
        self.meaning(text).ok()
    }

    fn quoted(&mut self, text: &str) -> Result<TermId, String> {
        let t = self.meaning(text)?;
        if self.terms.ty(t) == Type::Bool {
            return Ok(t);
        }
        // What is in quotes is UPPAAL's, where a number is true unless it is 0.
        let zero = self.terms.int(0);
        let is_zero = self.terms.eq(t, zero);
        Ok(self.terms.not(is_zero))
    }

    fn inside(&mut self, state: &str) -> Option<TermId> {
        let t = self.meaning(state).ok()?;
        (self.terms.ty(t) == Type::Bool).then_some(t)
    }

    fn terms(&mut self) -> &mut Terms {
        self.terms
    }

    fn division(&self) -> trellis_expr::Division {
        trellis_expr::Division::Truncating
    }

    fn whole<'t>(&self, text: &'t str) -> Option<&'t str> {
        Some(&text[..chain(text)])
    }

    fn complaint(&mut self, text: &str) -> Option<String> {
        self.meaning(text).err()
    }
}

#[cfg(test)]
mod tests {
    use super::chain;

    #[test]
    fn chains() {
        for (text, length) in
            [("P(1).cs && x", 7), ("a[i][2] > 3", 7), ("n", 1), ("P.L0.", 4), ("f(g(1)", 1), ("x (", 1)]
        {
            assert_eq!(chain(text), length, "{text}");
        }
    }
}
