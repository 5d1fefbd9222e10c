//! Models: constants, domains and nodes. Keywords may be written in any case.

use super::ast::{BinaryOp, Branch, Const, Directive, Dom, Item, Name, Node, Path, Prio, Subs, Trans, Vars, Vector};
use super::lexer::tokens;
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::text::cursor::{Cursor, Reads, reads};
use crate::text::errors::{Read, Reported};
use crate::text::tokens::Tok;

/// What starts a part of a node.
const SECTIONS: [&str; 11] =
    ["state", "flow", "param", "sub", "event", "trans", "sync", "assert", "init", "param_set", "extern"];

/// Words that are no names either.
const KEYWORDS: [&str; 21] = [
    "node", "edon", "const", "domain", "sort", "sig", "bool", "integer", "struct", "tcurts", "if", "then", "else",
    "case", "and", "or", "not", "imply", "mod", "true", "false",
];

pub struct Parser<'a> {
    cursor: Cursor<'a>,
    /// Are there quantifiers and relations?
    pub mec: bool,
    /// Is `!` another way to write `not`, as in the queries of other languages?
    pub bang: bool,
}

reads!(Parser<'a>);

impl<'a> Parser<'a> {
    pub fn new(sources: &'a Sources, id: SourceId, mec: bool) -> Parser<'a> {
        Parser { cursor: Cursor::new(sources, tokens(id, &sources.get(id).text)), mec, bang: false }
    }

    pub fn finish(self) -> Vec<Diagnostic> {
        self.cursor.errors.finish()
    }

    // Words and names.

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek().tok, Tok::Name(n) if n.eq_ignore_ascii_case(word))
    }

    pub fn take_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.bump();
        }
        is
    }

    pub fn require_word(&mut self, word: &str) -> Read<()> {
        if self.take_word(word) { Ok(()) } else { self.unexpected(&format!("`{word}`")) }
    }

    /// May this word, in lower case, not be a name here? In Mec's formulas, what starts a part of a node may be one: `Init`.
    pub fn reserved(&self, word: &str) -> bool {
        let free = self.mec && (SECTIONS.contains(&word) || matches!(word, "node" | "const" | "domain"));
        !free && (SECTIONS.contains(&word) || KEYWORDS.contains(&word))
    }

    pub fn ident(&mut self, what: &str) -> Read<Name> {
        let t = self.peek();
        match t.tok {
            Tok::Name(text) if self.reserved(&text.to_ascii_lowercase()) => self.unexpected(what),
            Tok::Name(text) | Tok::Quoted(text) if !text.is_empty() => {
                self.bump();
                Ok(Name { text: text.into(), span: t.span })
            }
            _ => self.unexpected(what),
        }
    }

    pub fn idents(&mut self, what: &str) -> Read<Vec<Name>> {
        self.list(|p| p.ident(what))
    }

    // Items.

    /// The whole file.
    pub fn model(&mut self) -> Vec<Item> {
        let mut items = vec![];
        while self.peek().tok != Tok::End && !self.errors.stopped() {
            let read = self.item(&mut items);
            if read.is_err() {
                self.skip_to_item();
            }
        }
        items
    }

    fn skip_to_item(&mut self) {
        let words = ["node", "const", "domain", "extern", "sort", "sig"];
        while self.peek().tok != Tok::End && !words.iter().any(|w| self.is_word(w)) {
            self.bump();
        }
    }

    fn item(&mut self, items: &mut Vec<Item>) -> Read<()> {
        let t = self.peek();
        if self.take_word("node") {
            let node = self.node()?;
            items.push(Item::Node(node));
        } else if self.take_word("const") {
            let name = self.ident("the name of the constant")?;
            let dom = if self.take(":") { Some(self.dom()?) } else { None };
            let value = if self.take("=") { Some(self.expr()?) } else { None };
            self.require(";")?;
            items.push(Item::Const(Const { name, dom, value }));
        } else if self.take_word("domain") {
            let name = self.ident("the name of the domain")?;
            self.require("=")?;
            let dom = self.dom()?;
            self.require(";")?;
            items.push(Item::Domain(name, dom));
        } else if self.take_word("extern") {
            items.push(Item::Directive(self.directive()));
        } else if self.is_word("sort") || self.is_word("sig") {
            let what = if self.is_word("sort") { "abstract sorts (`sort`)" } else { "signatures (`sig`)" };
            while !matches!(self.peek().tok, Tok::End | Tok::P(";")) {
                self.bump();
            }
            self.take(";");
            let _ = self.fail::<()>(t.span, format!("{what} are not supported"));
        } else {
            if ["block", "class", "function", "operator", "record"].iter().any(|w| self.is_word(w)) {
                let d = Diagnostic::error(t.span, "this looks like AltaRica 3.0 or AltaRica DataFlow");
                return self
                    .errors
                    .fail(d.help("Trellis reads LaBRI's AltaRica, in which models consist of `node … edon`"));
            }
            self.unexpected("`node`, `const`, `domain` or `extern`")?;
        }
        Ok(())
    }

    /// Directives of other tools are kept as they are, and the user is told.
    fn directive(&mut self) -> Directive {
        let start = self.peek().span;
        let (mut end, mut event) = (start, None);
        while !matches!(self.peek().tok, Tok::End | Tok::P(";")) && !self.is_word("edon") {
            if self.is("<") && matches!(self.ahead(1), Tok::Name(w) if w.eq_ignore_ascii_case("event")) {
                event = match self.ahead(2) {
                    Tok::Name(name) | Tok::Quoted(name) => Some(name.to_string()),
                    _ => event,
                };
            }
            end = self.bump().span;
        }
        self.take(";");
        let span = start.to(end);
        let text = self.sources.get(span.source).text[span.start as usize..span.end as usize].to_string();
        let told = Diagnostic::warning(span, "this directive is for other tools; it is kept, and not looked at");
        self.errors.push(told);
        Directive { text, event, span }
    }

    /// A section of directives, up to the next section. What looks like a part of the model is none.
    fn directives(&mut self, node: &mut Node) -> Read<()> {
        loop {
            let from = self.at;
            let directive = self.directive();
            let model = |t: &crate::text::tokens::Token<'_>| matches!(t.tok, Tok::P("|-" | "->" | ":="));
            if let Some(odd) = self.tokens[from..self.at].iter().find(|t| model(t)) {
                let d = Diagnostic::error(odd.span, "this does not belong to a directive of another tool");
                return self
                    .errors
                    .fail(d.help("does the line begin with the name of a section, such as `trans` or `init`?"));
            }
            node.directives.push(directive);
            if self.at_section() {
                return Ok(());
            }
        }
    }

    fn node(&mut self) -> Read<Node> {
        let mut node = Node {
            name: self.ident("the name of the node")?,
            states: vec![],
            flows: vec![],
            params: vec![],
            subs: vec![],
            events: vec![],
            trans: vec![],
            sync: vec![],
            asserts: vec![],
            init: vec![],
            param_set: vec![],
            directives: vec![],
        };
        while !self.take_word("edon") {
            let Some(section) = SECTIONS.iter().find(|s| self.is_word(s)) else {
                return self.unexpected("a section (`state`, `event`, `trans`, …) or `edon`");
            };
            self.bump();
            if *section == "extern" {
                self.directives(&mut node)?;
                continue;
            }
            while !self.at_section() {
                if self.member(section, &mut node).is_err() {
                    if self.errors.stopped() {
                        return Err(Reported);
                    }
                    self.skip_member();
                }
            }
        }
        Ok(node)
    }

    /// Does the section end here?
    fn at_section(&self) -> bool {
        self.is_word("edon") || self.is_word("node") || SECTIONS.iter().any(|s| self.is_word(s)) || self.at_end()
    }

    fn at_end(&self) -> bool {
        self.peek().tok == Tok::End
    }

    /// Behind the next semicolon, or to the next section.
    fn skip_member(&mut self) {
        while !self.at_section() {
            if self.bump().tok == Tok::P(";") {
                return;
            }
        }
    }

    /// A semicolon, which the last member of a section may lack.
    fn end_of_member(&mut self) -> Read<()> {
        if self.take(";") || self.at_section() { Ok(()) } else { self.unexpected("`;`") }
    }

    fn member(&mut self, section: &str, node: &mut Node) -> Read<()> {
        match section {
            "state" | "flow" | "param" => {
                let vars = self.vars()?;
                match section {
                    "state" => node.states.push(vars),
                    "flow" => node.flows.push(vars),
                    _ => node.params.push(vars),
                }
            }
            "sub" => node.subs.push(self.sub()?),
            "event" => self.events(node)?,
            "trans" => node.trans.push(self.trans()?),
            "sync" => node.sync.push(self.vector()?),
            "assert" => node.asserts.push(self.expr()?),
            "init" => node.init.extend(self.list(Self::assignment)?),
            _ => node.param_set.extend(self.list(Self::assignment)?),
        }
        self.end_of_member()
    }

    fn vars(&mut self) -> Read<Vars> {
        let names = self.idents("a variable")?;
        self.require(":")?;
        let dom: Dom = self.dom()?;
        let attributes = self.attributes()?;
        Ok(Vars { names, dom, attributes })
    }

    fn attributes(&mut self) -> Read<Vec<Name>> {
        if !self.take(":") {
            return Ok(vec![]);
        }
        let all = self.idents("an attribute (`public`, `parent`, `private`, `in`, `out`)")?;
        for a in &all {
            if !["public", "parent", "private", "in", "out"].iter().any(|k| a.text.eq_ignore_ascii_case(k)) {
                let told = Diagnostic::error(a.span, format!("there is no attribute `{}`", a.text));
                return self.errors.fail(told.help("attributes are `public`, `parent`, `private`, `in` and `out`"));
            }
        }
        Ok(all)
    }

    fn sub(&mut self) -> Read<Subs> {
        let names = self.idents("a sub-node")?;
        self.require(":")?;
        let node = self.ident("the name of a node")?;
        Ok(Subs { names, node, sizes: self.sizes()? })
    }

    fn events(&mut self, node: &mut Node) -> Read<()> {
        node.events.extend(self.list(|p| {
            let mut prio = Prio { groups: vec![p.group()?], lower: vec![] };
            while p.is("<") || p.is(">") {
                prio.lower.push(p.bump().tok == Tok::P("<"));
                prio.groups.push(p.group()?);
            }
            Ok(prio)
        })?);
        self.attributes().map(|_| ())
    }

    fn group(&mut self) -> Read<Vec<Name>> {
        if !self.take("{") {
            return Ok(vec![self.ident("an event")?]);
        }
        let all = self.idents("an event")?;
        self.require("}")?;
        Ok(all)
    }

    fn trans(&mut self) -> Read<Trans> {
        let guard = self.expr()?;
        let mut branches = vec![];
        if !self.is("|-") {
            return self.unexpected("`|-` and the events of the transition");
        }
        while self.is("|-") {
            let start = self.bump().span;
            let events = self.idents("an event")?;
            self.require("->")?;
            let mut updates = vec![];
            while !self.is(";") && !self.is("|-") && !self.at_section() {
                updates.push(self.assignment()?);
                if !self.take(",") {
                    break;
                }
            }
            let span = start.to(self.last());
            branches.push(Branch { events, updates, span });
        }
        Ok(Trans { guard, branches })
    }

    fn assignment(&mut self) -> Read<(Path, super::ast::Expr)> {
        let path = self.path()?;
        self.require(":=")?;
        Ok((path, self.expr()?))
    }

    fn vector(&mut self) -> Read<Vector> {
        let start = self.peek().span;
        self.require("<")?;
        let mut parts = vec![];
        while !self.is(">") && !self.is(">=") {
            let path = self.path()?;
            parts.push((path, self.take("?")));
            if !self.take(",") {
                break;
            }
        }
        // `<a?>=1` closes the vector and starts a constraint, though it reads as one token.
        let glued = self.take(">=");
        if !glued {
            self.require(">")?;
        }
        let op = if glued { Some(BinaryOp::Eq) } else { self.cardinality() };
        let constraint = match op {
            Some(op) => Some((op, self.expr()?)),
            None => None,
        };
        let span: Span = start.to(self.last());
        Ok(Vector { parts, constraint, span })
    }

    fn cardinality(&mut self) -> Option<BinaryOp> {
        let ops =
            [("=", BinaryOp::Eq), ("<=", BinaryOp::Le), (">=", BinaryOp::Ge), ("<", BinaryOp::Lt), (">", BinaryOp::Gt)];
        ops.into_iter().find(|(p, _)| self.take(p)).map(|(_, op)| op)
    }
}
