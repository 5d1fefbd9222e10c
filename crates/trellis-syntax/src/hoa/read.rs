//! Reads an automaton.

use rustc_hash::FxHashMap;
use trellis_model::ltl::{Cube, Edge, MAX_ATOMS};

use super::Hoa;
use super::label::{Label, Labels};
use super::lexer::{tokens, unescaped};
use crate::diag::{Diagnostic, Severity, SourceId, Sources, Span};
use crate::text::cursor::Cursor;
use crate::text::errors::Read;
use crate::text::tokens::Tok;

/// More states or marks than that are refused, and more atoms with implicit labels.
const MAX_STATES: usize = 1_000_000;
const MAX_MARKS: usize = 64;
const MAX_IMPLICIT: usize = 12;

/// Headers with capital letters that need no attention.
const HEADERS: [&str; 6] = ["HOA:", "States:", "Start:", "AP:", "Alias:", "Acceptance:"];

#[derive(Default)]
struct Reader {
    hoa: Hoa,
    states: Option<usize>,
    initial: Vec<(u32, Span)>,
    aliases: FxHashMap<String, Label>,
    /// For each set of the format, the mark it is; none if the condition does not mention it.
    marks: Vec<Option<u32>>,
    /// Does the condition accept nothing?
    nothing: bool,
    acceptance: Option<(String, Span)>,
    /// How many sets the condition of that name has.
    announced: Option<usize>,
    has_acceptance: bool,
    has_atoms: bool,
    defined: Vec<bool>,
    /// Headers that can be there only once, and are.
    seen: Vec<String>,
}

/// Reads an automaton, or says what is wrong with it.
pub fn read(sources: &Sources, id: SourceId) -> Result<Hoa, Vec<Diagnostic>> {
    let mut cursor = Cursor::new(sources, tokens(id, &sources.get(id).text));
    let mut reader = Reader::default();
    let done = reader.file(&mut cursor);
    let complaints = cursor.errors.finish();
    match done {
        Ok(()) if !complaints.iter().any(|d| d.severity == Severity::Error) => Ok(reader.hoa),
        _ => Err(complaints),
    }
}

impl Reader {
    fn file(&mut self, c: &mut Cursor) -> Read<()> {
        if !c.take("HOA:") {
            return c.unexpected("`HOA: v1`");
        }
        let (version, span) = c.name("the version")?;
        if version != "v1" && !version.starts_with("v1-") {
            return c.fail(span, format!("version {version} of the format is not supported, only v1"));
        }
        while !c.is("--BODY--") {
            self.header(c)?;
        }
        let start = c.bump().span;
        if !self.has_acceptance {
            return c.fail(start, "the header says nothing about `Acceptance:`");
        }
        if let (Some((name, span)), Some(n)) = (&self.acceptance, self.announced)
            && n != self.marks.len()
        {
            let sets = self.marks.len();
            return c.fail(*span, format!("`acc-name: {name}` has {n} sets, and `Acceptance:` has {sets}"));
        }
        self.grow(c, self.states.unwrap_or(0), start)?;
        for (s, span) in std::mem::take(&mut self.initial) {
            self.state(c, s as usize, span)?;
            self.hoa.automaton.initial.push(s);
        }
        while c.is("State:") {
            self.body(c)?;
        }
        if c.is("--ABORT--") {
            let span = c.peek().span;
            return c.fail(span, "this automaton was given up by the program that wrote it");
        }
        c.require("--END--")?;
        match c.peek().tok {
            Tok::End => Ok(()),
            _ => c.unexpected("the end of the text: only one automaton is read"),
        }
    }

    fn header(&mut self, c: &mut Cursor) -> Read<()> {
        let t = c.peek();
        if let Tok::Name(name @ ("States:" | "acc-name:" | "name:" | "tool:")) = t.tok {
            if self.seen.contains(&name.to_string()) {
                return c.fail(t.span, format!("the header `{name}` is there twice"));
            }
            self.seen.push(name.to_string());
        }
        match t.tok {
            Tok::Name("States:") => {
                c.bump();
                let (n, span) = number(c, "how many states there are")?;
                self.states = Some(n);
                self.limit(c, n, span)
            }
            Tok::Name("Start:") => {
                c.bump();
                let (n, span) = number(c, "a state")?;
                self.limit(c, n, span)?;
                alternates(c)?;
                self.initial.push((n as u32, span));
                Ok(())
            }
            Tok::Name("AP:") => self.atoms(c),
            Tok::Name("Alias:") => {
                c.bump();
                let (name, span) = c.name("an alias")?;
                if !name.starts_with('@') {
                    return c.fail(span, "an alias starts with `@`");
                }
                let label = Labels { atoms: self.hoa.atoms.len(), aliases: &self.aliases }.expression(c)?;
                match self.aliases.insert(name.to_string(), label) {
                    None => Ok(()),
                    Some(_) => c.fail(span, format!("there is an alias `{name}` already")),
                }
            }
            Tok::Name("acc-name:") => {
                c.bump();
                let (name, span) = c.name("the name of an acceptance condition")?;
                self.acceptance = Some((name.to_string(), span));
                let sets = if let Tok::Number(n) = c.peek().tok { n.parse().ok() } else { None };
                values(c);
                // How many sets a condition of this name has; what another name means is for `Acceptance:` to say.
                self.announced = match name {
                    "Buchi" => Some(1),
                    "generalized-Buchi" => sets,
                    "all" | "none" => Some(0),
                    _ => None,
                };
                Ok(())
            }
            Tok::Name("Acceptance:") => self.condition(c),
            Tok::Name("name:") => {
                c.bump();
                let Tok::Quoted(name) = c.peek().tok else { return c.unexpected("the automaton's name in quotes") };
                self.hoa.name = Some(unescaped(name));
                c.bump();
                Ok(())
            }
            Tok::Name(name) if name.ends_with(':') => {
                if name.starts_with(|first: char| first.is_ascii_uppercase()) {
                    let what = format!("the header `{name}` is not supported");
                    return if HEADERS.contains(&name) || name == "State:" {
                        c.unexpected("another header or `--BODY--`")
                    } else {
                        c.fail(t.span, what)
                    };
                }
                c.bump();
                values(c);
                Ok(())
            }
            _ => c.unexpected("a header or `--BODY--`"),
        }
    }

    fn atoms(&mut self, c: &mut Cursor) -> Read<()> {
        let start = c.bump().span;
        if std::mem::replace(&mut self.has_atoms, true) {
            return c.fail(start, "the atoms are declared twice");
        }
        let (count, span) = number(c, "how many atoms there are")?;
        while let Tok::Quoted(name) = c.peek().tok {
            let at = c.bump().span;
            let name = unescaped(name);
            if self.hoa.atoms.contains(&name) {
                return c.fail(at, "there is an atom with this name already");
            }
            if self.hoa.atoms.len() == MAX_ATOMS {
                return c.fail(at, format!("more than {MAX_ATOMS} atoms are not supported"));
            }
            self.hoa.atoms.push(name);
        }
        if self.hoa.atoms.len() != count {
            return c.fail(span, format!("{count} atoms are announced, and there are {}", self.hoa.atoms.len()));
        }
        Ok(())
    }

    /// `Acceptance: 2 Inf(0)&Inf(1)`
    fn condition(&mut self, c: &mut Cursor) -> Read<()> {
        let start = c.bump().span;
        if std::mem::replace(&mut self.has_acceptance, true) {
            return c.fail(start, "acceptance is declared twice");
        }
        let (sets, span) = number(c, "how many sets there are")?;
        if sets > MAX_MARKS {
            return c.fail(span, format!("more than {MAX_MARKS} sets are not supported"));
        }
        self.marks = vec![None; sets];
        self.conjunction(c)?;
        if c.is("|") {
            return self.other(c);
        }
        // A run that sees a mark that nothing has infinitely often: there is none.
        let marks = self.marks.iter().flatten().count() as u32;
        self.hoa.automaton.marks = if self.nothing { 1 } else { marks };
        if self.nothing {
            self.marks.fill(None);
        }
        Ok(())
    }

    fn conjunction(&mut self, c: &mut Cursor) -> Read<()> {
        loop {
            let t = c.peek();
            match t.tok {
                Tok::Name("t") => {
                    c.bump();
                }
                Tok::Name("f") => {
                    c.bump();
                    self.nothing = true;
                }
                Tok::P("(") => {
                    c.bump();
                    c.deeper(t.span)?;
                    self.conjunction(c)?;
                    c.depth -= 1;
                    if c.is("|") {
                        return self.other(c);
                    }
                    c.require(")")?;
                }
                Tok::Name("Inf") => {
                    c.bump();
                    c.require("(")?;
                    if c.is("!") {
                        return self.other(c);
                    }
                    let (n, span) = number(c, "the number of a set")?;
                    c.require(")")?;
                    let next = self.marks.iter().flatten().count() as u32;
                    match self.marks.get_mut(n) {
                        Some(mark) => *mark = mark.or(Some(next)),
                        None => return c.fail(span, format!("there is no set {n}")),
                    }
                }
                Tok::Name("Fin") => return self.other(c),
                _ => return c.unexpected("an acceptance condition"),
            }
            if !c.take("&") {
                return Ok(());
            }
        }
    }

    /// A condition that is not supported.
    fn other<T>(&mut self, c: &mut Cursor) -> Read<T> {
        let (what, span) = match &self.acceptance {
            Some((name, span)) => (format!("acceptance `{name}`"), *span),
            None => (format!("acceptance with {}", c.peek().tok.describe()), c.peek().span),
        };
        c.errors.fail(
            Diagnostic::error(span, format!("{what} is not supported"))
                .help("Buchi, generalized-Buchi and all are: conjunctions of Inf(n), or t"),
        )
    }

    fn limit(&self, c: &mut Cursor, n: usize, span: Span) -> Read<()> {
        if n > MAX_STATES { c.fail(span, format!("more than {MAX_STATES} states are not supported")) } else { Ok(()) }
    }

    fn grow(&mut self, c: &mut Cursor, n: usize, span: Span) -> Read<()> {
        self.limit(c, n, span)?;
        let edges = &mut self.hoa.automaton.edges;
        edges.resize(edges.len().max(n), vec![]);
        self.defined.resize(edges.len(), false);
        Ok(())
    }

    /// There is such a state.
    fn state(&mut self, c: &mut Cursor, n: usize, span: Span) -> Read<()> {
        match self.states {
            Some(all) if n >= all => c.fail(span, format!("there is no state {n}: the header declares {all}")),
            _ => self.grow(c, n + 1, span),
        }
    }

    /// `State: [label] 0 "name" {0}`, and its edges.
    fn body(&mut self, c: &mut Cursor) -> Read<()> {
        c.bump();
        let common = self.label(c)?;
        let (s, span) = number(c, "a state")?;
        self.state(c, s, span)?;
        if std::mem::replace(&mut self.defined[s], true) {
            return c.fail(span, format!("there is a state {s} already"));
        }
        if let Tok::Quoted(_) = c.peek().tok {
            c.bump();
        }
        let marks = self.sets(c)?;
        let mut implicit = 0u64;
        loop {
            let own = self.label(c)?;
            let Tok::Number(_) = c.peek().tok else {
                if own.is_some() {
                    return c.unexpected("a state that the edge leads to");
                }
                break;
            };
            let (to, at) = number(c, "a state")?;
            self.state(c, to, at)?;
            alternates(c)?;
            let marks = marks | self.sets(c)?;
            let cubes = match (own, &common) {
                (Some(own), None) => own.yes,
                (None, Some(common)) => common.yes.clone(),
                (Some(_), Some(_)) => return c.fail(at, "either the state has a label or its edges have"),
                (None, None) => vec![self.implicit(c, &mut implicit, at)?],
            };
            let edges = cubes.into_iter().map(|cube| Edge { cube, marks, to: to as u32 });
            self.hoa.automaton.edges[s].extend(edges);
        }
        if implicit != 0 && implicit != 1 << self.hoa.atoms.len() {
            let all = 1u64 << self.hoa.atoms.len();
            return c.fail(span, format!("this state has {implicit} edges without labels, and there must be {all}"));
        }
        Ok(())
    }

    /// Without labels, the edges of a state are those of all letters in order.
    fn implicit(&self, c: &mut Cursor, next: &mut u64, span: Span) -> Read<Cube> {
        let atoms = self.hoa.atoms.len();
        if atoms > MAX_IMPLICIT {
            return c.fail(span, format!("implicit labels over more than {MAX_IMPLICIT} atoms are not supported"));
        }
        let all = (1u64 << atoms) - 1;
        let letter = *next;
        *next += 1;
        if letter > all {
            return c.fail(span, "there are more edges without labels than letters");
        }
        Ok(Cube { positive: letter, negative: all & !letter })
    }

    fn label(&self, c: &mut Cursor) -> Read<Option<Label>> {
        if !c.take("[") {
            return Ok(None);
        }
        let label = Labels { atoms: self.hoa.atoms.len(), aliases: &self.aliases }.expression(c)?;
        c.require("]")?;
        Ok(Some(label))
    }

    /// `{0 2}`
    fn sets(&self, c: &mut Cursor) -> Read<u64> {
        let mut marks = 0;
        if c.take("{") {
            while !c.take("}") {
                let (n, span) = number(c, "the number of a set, or `}`")?;
                match self.marks.get(n) {
                    Some(mark) => marks |= mark.map_or(0, |m| 1 << m),
                    None => {
                        return c.fail(span, format!("there is no set {n}: the header declares {}", self.marks.len()));
                    }
                }
            }
        }
        Ok(marks)
    }
}

fn number(c: &mut Cursor, what: &str) -> Read<(usize, Span)> {
    match c.peek().tok {
        Tok::Number(digits) => {
            let span = c.bump().span;
            match digits.parse::<u32>() {
                Ok(n) => Ok((n as usize, span)),
                Err(_) => c.fail(span, "this number is too large"),
            }
        }
        _ => c.unexpected(what),
    }
}

/// Over the values of a header: words, numbers and texts; what is none of them is not skipped, and refused where a header should be.
fn values(c: &mut Cursor) {
    while match c.peek().tok {
        Tok::Name(name) => !name.ends_with(':') && !name.starts_with('@'),
        Tok::Number(_) | Tok::Quoted(_) => true,
        _ => false,
    } {
        c.bump();
    }
}

/// Several states at once are alternation.
fn alternates(c: &mut Cursor) -> Read<()> {
    if c.is("&") {
        let span = c.peek().span;
        return c.fail(span, "alternation is not supported: an edge leads to one state");
    }
    Ok(())
}
