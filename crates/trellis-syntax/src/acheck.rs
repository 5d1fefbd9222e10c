//! Acheck's specifications (`.spe`): `with Node do … done`, with sets of configurations and of transitions.
//!
//! What this deliberately does not do: `loop` is refused by name, because no public description says what it means; of `project`, what
//! could not be read off public outputs: configurations other than `any_s`, one set of transitions instead of a pair, no sub-node, and
//! sub-nodes whose own transitions assign something, or that have priorities or parameters.

use rustc_hash::FxHashMap;
use trellis_model::acheck::{Line, Of, Projection, Set};
use trellis_model::hierarchy::ComponentId;
use trellis_model::mec::Fixpoint;

use crate::altarica::Built;
use crate::altarica::ast::{Name, Path, Segment};
use crate::altarica::lower::{Scope, Tree};
use crate::altarica::parser::Parser;
use crate::diag::{Diagnostic, Severity, SourceId, Sources, Span};
use crate::text::cursor::unknown;
use crate::text::errors::{Errors, Read, Reported};
use crate::text::tokens::Tok;

/// The nodes that a specification is about.
pub fn nodes(sources: &Sources, id: SourceId) -> Result<Vec<Name>, Vec<Diagnostic>> {
    let mut parser = Parser::new(sources, id, false);
    let mut all = vec![];
    while parser.peek().tok != Tok::End {
        if parser.take_word("with") {
            match parser.idents("a node") {
                Ok(names) => all.extend(names),
                Err(Reported) => return Err(parser.finish()),
            }
        }
        parser.bump();
    }
    if all.is_empty() {
        let _ = parser.unexpected::<()>("`with Node do … done`");
        return Err(parser.finish());
    }
    Ok(all)
}

/// The lines of a specification that are about a node: of all its parts, if no name is given.
pub fn lines(
    sources: &Sources,
    id: SourceId,
    node: Option<&str>,
    built: &mut Built,
) -> Result<Vec<Line>, Vec<Diagnostic>> {
    let mut errors = Errors::default();
    let mut reader = Reader {
        parser: Parser::new(sources, id, false),
        built,
        errors: &mut errors,
        known: FxHashMap::default(),
        lines: vec![],
    };
    let read = reader.file(node);
    let lines = std::mem::take(&mut reader.lines);
    let mut complaints = reader.parser.finish();
    complaints.extend(errors.finish());
    if read.is_err() || complaints.iter().any(|d| d.severity == Severity::Error) {
        return Err(complaints);
    }
    Ok(lines)
}

/// An operator between two sets.
type Both = fn(Box<Set>, Box<Set>) -> Set;

struct Reader<'a, 'b> {
    parser: Parser<'a>,
    built: &'b mut Built,
    errors: &'b mut Errors,
    known: FxHashMap<String, Of>,
    lines: Vec<Line>,
}

impl Reader<'_, '_> {
    fn fail<T>(&mut self, span: Span, text: impl Into<String>) -> Read<T> {
        self.errors.fail(Diagnostic::error(span, text))
    }

    fn file(&mut self, node: Option<&str>) -> Read<()> {
        while self.parser.peek().tok != Tok::End {
            self.parser.require_word("with")?;
            let names = self.parser.idents("a node")?;
            self.parser.require_word("do")?;
            let ours = node.is_none_or(|n| names.iter().any(|m| m.text == n));
            while !self.parser.take_word("done") {
                if self.parser.peek().tok == Tok::End {
                    return self.parser.unexpected("`done`");
                }
                if ours {
                    self.line()?;
                } else {
                    self.parser.bump();
                }
            }
        }
        Ok(())
    }

    fn line(&mut self) -> Read<()> {
        let name = self.parser.ident("the name of a set, `show`, `test` or `done`")?;
        if self.parser.is("(") {
            return self.command(&name);
        }
        let fixpoint = match self.parser.peek().tok {
            Tok::P(":=") => Fixpoint::None,
            Tok::P("+=") => Fixpoint::Least,
            Tok::P("-=") => Fixpoint::Greatest,
            _ => return self.parser.unexpected("`:=`, `+=` or `-=`"),
        };
        self.parser.bump();
        if fixpoint == Fixpoint::None {
            let (set, of) = self.set()?;
            self.known.insert(name.text.clone(), of);
            self.lines.push(Line::Define(name.text, of, fixpoint, set));
            return self.parser.require(";");
        }
        // What it has in it is known only when it has been read; so it is read with either, and must turn out to be that.
        let (start, mut found) = (self.parser.at, None);
        let mut first = None;
        for of in [Of::States, Of::Transitions] {
            self.parser.at = start;
            self.known.insert(name.text.clone(), of);
            let mut errors = Errors::default();
            std::mem::swap(self.errors, &mut errors);
            let read = self.set();
            std::mem::swap(self.errors, &mut errors);
            match read {
                Ok((set, same)) if same == of => {
                    found = Some((set, of, self.parser.at));
                    break;
                }
                _ => first = first.or(Some(errors)),
            }
        }
        let Some((set, of, at)) = found else {
            let told = first.map(Errors::finish).unwrap_or_default();
            told.into_iter().for_each(|d| self.errors.push(d));
            return self
                .fail(name.span, format!("`{}` is neither a set of configurations nor one of transitions", name.text));
        };
        self.parser.at = at;
        self.lines.push(Line::Define(name.text, of, fixpoint, set));
        self.parser.require(";")
    }

    fn command(&mut self, name: &Name) -> Read<()> {
        self.parser.require("(")?;
        let made: Box<dyn FnOnce(Option<String>) -> Line> = match name.text.as_str() {
            "show" => {
                let mut all = vec![];
                for shown in self.parser.idents("the name of a set")? {
                    self.define_builtin(&shown)?;
                    all.push(shown.text);
                }
                Box::new(|to| Line::Show(all, to))
            }
            "test" => {
                let tested = self.parser.ident("the name of a set")?;
                self.define_builtin(&tested)?;
                self.parser.require(",")?;
                let n = self.parser.bump();
                let Tok::Number(digits) = n.tok else { return self.fail(n.span, "expected a number") };
                let Ok(count) = digits.parse() else { return self.fail(n.span, "this number is too large") };
                Box::new(move |to| Line::Test(tested.text, count, to))
            }
            "dot" => {
                let states = *self.argument(Of::States)?;
                self.parser.require(",")?;
                let transitions = *self.argument(Of::Transitions)?;
                Box::new(|to| Line::Dot(states, transitions, to))
            }
            "quot" => Box::new(Line::Quotient),
            "modes" => Box::new(Line::Modes),
            "project" => {
                let projection = self.projection()?;
                Box::new(|to| Line::Project(projection, to))
            }
            _ => return self.fail(name.span, format!("there is no command `{}`", name.text)),
        };
        self.parser.require(")")?;
        let to = if self.parser.take(">") { Some(self.parser.ident("the name of a file")?.text) } else { None };
        self.lines.push(made(to));
        self.parser.require(";")
    }

    /// `any_s, (T, T), 'name', true, path)`
    fn projection(&mut self) -> Read<Projection> {
        let span = self.parser.peek().span;
        if !matches!(*self.argument(Of::States)?, Set::Any(_)) {
            return self.fail(span, "`project` is only supported for `any_s`");
        }
        self.parser.require(",")?;
        self.parser.require("(")?;
        let some = *self.argument(Of::Transitions)?;
        self.parser.require(",")?;
        let all = *self.argument(Of::Transitions)?;
        self.parser.require(")")?;
        self.parser.require(",")?;
        let name = self.parser.ident("the name of the new node")?.text;
        self.parser.require(",")?;
        // Whether conditions are made simple; ours are as simple as they get.
        if !(self.parser.take_word("true") || self.parser.take_word("false")) {
            return self.parser.unexpected("`true` or `false`");
        }
        self.parser.require(",")?;
        let path = self.parser.path()?;
        let at = self.names(&path)?.join(".");
        let Some(found) = self.built.hierarchy.components.iter().position(|c| c.path == at) else {
            return self.fail(path.span, format!("there is no sub-node `{at}`"));
        };
        let component = &self.built.hierarchy.components[found];
        let refused = match component {
            c if c.transitions.iter().any(|t| !t.updates.is_empty()) => "whose own transitions assign something",
            c if !c.priorities.is_empty() => "with priorities",
            _ => return Ok(Projection { name, of: ComponentId(found as u32), some, all }),
        };
        self.fail(path.span, format!("`project` is not supported for a sub-node {refused}"))
    }

    /// A name of the language that is shown is defined first.
    fn define_builtin(&mut self, name: &Name) -> Read<()> {
        if self.known.contains_key(&name.text) {
            return Ok(());
        }
        let Some((set, of)) = builtin(&name.text) else { return self.no_set(name) };
        self.known.insert(name.text.clone(), of);
        self.lines.push(Line::Define(name.text.clone(), of, Fixpoint::None, set));
        Ok(())
    }

    fn no_set<T>(&mut self, name: &Name) -> Read<T> {
        self.errors.fail(unknown("set", &name.text, name.span, self.known.keys().map(String::as_str)))
    }

    // Sets.

    fn set(&mut self) -> Read<(Set, Of)> {
        self.level(0)
    }

    /// Operators, loosest first.
    fn level(&mut self, level: usize) -> Read<(Set, Of)> {
        const LEVELS: [(&str, &str, Both); 3] = [("|", "or", Set::Or), ("-", "", Set::Minus), ("&", "and", Set::And)];
        let Some(&(sign, word, make)) = LEVELS.get(level) else { return self.simple() };
        let mut left = self.level(level + 1)?;
        while self.parser.take(sign) || self.parser.take_word(word) {
            let right = self.level(level + 1)?;
            left = self.both(left, right, make)?;
        }
        Ok(left)
    }

    fn both(&mut self, a: (Set, Of), b: (Set, Of), make: Both) -> Read<(Set, Of)> {
        if a.1 != b.1 {
            let span = self.parser.tokens[self.parser.at.saturating_sub(1)].span;
            return self.fail(span, "a set of configurations meets a set of transitions");
        }
        Ok((make(a.0.into(), b.0.into()), a.1))
    }

    fn argument(&mut self, of: Of) -> Read<Box<Set>> {
        let span = self.parser.peek().span;
        let (set, found) = self.set()?;
        if found != of {
            let what = if of == Of::States { "configurations" } else { "transitions" };
            return self.fail(span, format!("expected a set of {what}"));
        }
        Ok(set.into())
    }

    fn simple(&mut self) -> Read<(Set, Of)> {
        let start = self.parser.peek().span;
        self.parser.deeper(start)?;
        let set = self.primary();
        self.parser.depth -= 1;
        set
    }

    fn primary(&mut self) -> Read<(Set, Of)> {
        if self.parser.take("(") {
            let set = self.set()?;
            self.parser.require(")")?;
            return Ok(set);
        }
        if self.parser.take("[") {
            let e = self.parser.expr()?;
            self.parser.require("]")?;
            let Tree::Fields(fields) = self.built.fields().clone() else { return Err(Reported) };
            let scope = Scope { names: fields.into_iter().collect() };
            let t = self.built.lowering(self.errors, |lower| lower.boolean(&scope, &e))?;
            return Ok((Set::Condition(t), Of::States));
        }
        let name = self.parser.ident("a set")?;
        if name.text == "label" {
            let path = self.parser.path()?;
            let (c, event) = self.label(&path)?;
            return Ok((Set::Label(c, event), Of::Transitions));
        }
        if self.parser.take("(") {
            use Of::*;
            let made = match name.text.as_str() {
                "src" => (Set::Sources(self.argument(Transitions)?), States),
                "tgt" => (Set::Targets(self.argument(Transitions)?), States),
                "rsrc" => (Set::From(self.argument(States)?), Transitions),
                "rtgt" => (Set::To(self.argument(States)?), Transitions),
                "reach" | "coreach" => {
                    let from = self.argument(States)?;
                    self.parser.require(",")?;
                    let by = self.argument(Transitions)?;
                    (if name.text == "reach" { Set::Reach(from, by) } else { Set::Coreach(from, by) }, States)
                }
                "trace" => {
                    let from = self.argument(States)?;
                    self.parser.require(",")?;
                    let by = self.argument(Transitions)?;
                    self.parser.require(",")?;
                    (Set::Trace(from, by, self.argument(States)?), Transitions)
                }
                "loop" => return self.fail(name.span, "`loop` is not supported"),
                _ => return self.fail(name.span, format!("there is no function `{}`", name.text)),
            };
            self.parser.require(")")?;
            return Ok(made);
        }
        if let Some(&of) = self.known.get(&name.text) {
            return Ok((Set::Name(name.text), of));
        }
        match builtin(&name.text) {
            Some(made) => Ok(made),
            None => self.no_set(&name),
        }
    }

    /// The names of a path, with indexes.
    fn names(&mut self, path: &Path) -> Read<Vec<String>> {
        let mut names = vec![path.first.text.clone()];
        for segment in &path.rest {
            match segment {
                Segment::Name(n) => names.push(n.text.clone()),
                Segment::Index(e) => {
                    let n = self.built.lowering(self.errors, |lower| lower.constant(&Scope::default(), e))?;
                    if let Some(last) = names.last_mut() {
                        *last += &format!("[{n}]");
                    }
                }
            }
        }
        Ok(names)
    }

    /// `V[2].dec`: the component, and its event.
    fn label(&mut self, path: &Path) -> Read<(ComponentId, usize)> {
        let mut names = self.names(path)?;
        let event = names.pop().unwrap_or_default();
        let at = names.join(".");
        let components = &self.built.hierarchy.components;
        let found = components.iter().position(|c| c.path == at);
        let number = found.and_then(|c| components[c].events.iter().position(|e| *e == event).map(|e| (c, e)));
        match number {
            Some((c, e)) if e > 0 => Ok((ComponentId(c as u32), e)),
            _ => self.fail(path.span, format!("there is no event `{event}` there")),
        }
    }
}

fn builtin(name: &str) -> Option<(Set, Of)> {
    Some(match name {
        "any_s" => (Set::Any(Of::States), Of::States),
        "any_t" => (Set::Any(Of::Transitions), Of::Transitions),
        "empty_s" => (Set::Empty(Of::States), Of::States),
        "empty_t" => (Set::Empty(Of::Transitions), Of::Transitions),
        "initial" => (Set::Initial, Of::States),
        "self" => (Set::Own(false), Of::Transitions),
        "self_epsilon" => (Set::Own(true), Of::Transitions),
        _ => return None,
    })
}
