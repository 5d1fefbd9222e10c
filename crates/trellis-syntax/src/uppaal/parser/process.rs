//! Templates in the textual language, `process P(…) { … }`, and the pieces of them that XML labels share.

use std::collections::HashMap;

use super::{Parser, Read, Reported};
use crate::diag::{Diagnostic, Span};
use crate::text::errors::closest;
use crate::uppaal::ast::{Edge, Expr, Ident, Location, Param, Sync, Template, TypeExpr};
use crate::uppaal::token::{Kw, Punct, Tok, shorten};

/// An edge whose ends are still names.
struct NamedEdge {
    source: Ident,
    target: Ident,
    edge: Edge,
}

/// What has been read of a process.
#[derive(Default)]
struct Body {
    /// The locations by name.
    index: HashMap<String, usize>,
    /// Whether some location could not be read, so that unknown ones are no news.
    incomplete: bool,
    flags: Vec<(Ident, Kw)>,
    init: Option<Ident>,
    edges: Vec<NamedEdge>,
}

impl Parser<'_, '_> {
    /// `process P(params) { declarations state … commit … urgent … init … trans … }`
    pub(super) fn process(&mut self) -> Read<Template> {
        let start = self.bump().span;
        let name = self.ident("the name of the process")?;
        let mut params = Vec::new();
        if self.eat(Punct::LParen) {
            params = self.bracketed(Self::params)?;
            self.require(Punct::RParen, "after the parameters")?;
        } else {
            self.old = true;
        }
        self.require(Punct::LBrace, "before the body of the process")?;
        let span = start.to(name.span);
        let mut template =
            Template { name, params, decls: Vec::new(), locations: Vec::new(), init: None, edges: Vec::new(), span };
        let mut body = Body::default();
        loop {
            if self.eat(Punct::RBrace) {
                break;
            }
            let next = self.look(0);
            if matches!(next.tok, Tok::Eof | Tok::Kw(Kw::Process | Kw::System)) {
                let error = self.unexpected("`}` at the end of the process");
                self.report(
                    error.help(format!("the `{{` of process `{}` is not closed", shorten(&template.name.name))),
                );
                break;
            }
            if self.process_item(&mut template, &mut body).is_err() {
                self.recover(next.at);
            }
        }
        self.resolve(&mut template, body);
        Ok(template)
    }

    fn process_item(&mut self, template: &mut Template, body: &mut Body) -> Read<()> {
        match self.peek() {
            Tok::Kw(Kw::State) => self.states(template, body),
            Tok::Ident("branchpoint") if matches!(self.look(1).tok, Tok::Ident(_)) => self.branchpoints(template, body),
            Tok::Kw(kw @ (Kw::Commit | Kw::Urgent)) if matches!(self.look(1).tok, Tok::Ident(_)) => {
                self.bump();
                self.list(|p| {
                    body.flags.push((p.ident("the name of a location")?, kw));
                    Ok(())
                })?;
                self.require(Punct::Semi, "after the locations").map(|_| ())
            }
            Tok::Kw(Kw::Init) => {
                let start = self.bump().span;
                let name = self.ident("the name of the initial location")?;
                if body.init.is_some() {
                    self.report(
                        Diagnostic::error(start.to(name.span), "expected one `init`, found another")
                            .help("a process starts in one location; remove this line"),
                    );
                } else {
                    body.init = Some(name);
                }
                self.require(Punct::Semi, "after the initial location").map(|_| ())
            }
            Tok::Kw(Kw::Trans) => self.transitions(body),
            Tok::Kw(Kw::Guard | Kw::Sync | Kw::Assign) => {
                let error = self.unexpected("a part of the process");
                Err(self.report(error.help("this belongs inside the `{…}` of an edge, after `trans`")))
            }
            _ => {
                template.decls.push(self.declaration()?);
                Ok(())
            }
        }
    }

    fn states(&mut self, template: &mut Template, body: &mut Body) -> Read<()> {
        self.bump();
        self.list(|p| {
            let state = p.state();
            body.incomplete |= state.is_err();
            state.map(|location| p.add_location(template, body, location)).or_else(|r| p.resume_at_comma(r))
        })?;
        self.require(Punct::Semi, "after the locations").map(|_| ())
    }

    fn state(&mut self) -> Read<Location> {
        let name = self.ident("the name of a location")?;
        let mut location = Location::new(name, false);
        if self.eat(Punct::LBrace) {
            if !matches!(self.peek(), Tok::P(Punct::Semi | Punct::RBrace)) {
                location.invariant = Some(self.condition("an invariant")?);
            }
            if self.eat(Punct::Semi) && !self.at(Punct::RBrace) {
                let rate = self.rate()?;
                location.rate = Some(rate);
            }
            self.require(Punct::RBrace, "after the invariant")?;
        }
        Ok(location)
    }

    /// After a mistake in an element of a list: goes on behind it, if the list does.
    fn resume_at_comma(&mut self, reported: Reported) -> Read<()> {
        self.skip_to_comma();
        if matches!(self.peek(), Tok::P(Punct::Comma | Punct::Semi)) { Ok(()) } else { Err(reported) }
    }

    /// Skips the rest of an element of a list: to the next `,` or `;` outside brackets, or to what cannot be part of it.
    fn skip_to_comma(&mut self) {
        loop {
            match self.peek() {
                Tok::Eof | Tok::P(Punct::Comma | Punct::Semi) => return,
                Tok::Kw(Kw::Init | Kw::Trans | Kw::Commit | Kw::Process | Kw::System | Kw::State) => return,
                Tok::P(Punct::LBrace) => self.skip_bracketed(),
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// `e` or `e : e`
    pub(in crate::uppaal) fn rate(&mut self) -> Read<Span> {
        let mut span = self.expr()?.span;
        if self.eat(Punct::Colon) {
            span = span.to(self.expr()?.span);
        }
        Ok(span)
    }

    fn branchpoints(&mut self, template: &mut Template, body: &mut Body) -> Read<()> {
        self.bump();
        self.list(|p| {
            let name = p.ident("the name of a branch point")?;
            p.add_location(template, body, Location { branches: true, ..Location::new(name, false) });
            Ok(())
        })?;
        self.require(Punct::Semi, "after the branch points").map(|_| ())
    }

    fn add_location(&mut self, template: &mut Template, body: &mut Body, location: Location) {
        if body.index.insert(location.name.name.clone(), template.locations.len()).is_some() {
            self.errors.push(duplicate_location(&location.name));
        }
        template.locations.push(location);
    }

    /// Puts indices in place of location names.
    fn resolve(&mut self, template: &mut Template, body: Body) {
        let mut find = |name: &Ident| {
            let found = body.index.get(&name.name).copied();
            if found.is_none() && !body.incomplete {
                let known = template.locations.iter().map(|l| l.name.name.as_str());
                let help = match closest(&name.name, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("declare it: `state {};`", shorten(&name.name)),
                };
                self.errors.push(
                    Diagnostic::error(
                        name.span,
                        format!("there is no location `{}` in this process", shorten(&name.name)),
                    )
                    .label("not declared after `state`")
                    .help(help),
                );
            }
            found
        };
        let mut flags = Vec::new();
        for (name, kw) in &body.flags {
            flags.extend(find(name).map(|i| (i, *kw)));
        }
        template.init = body.init.as_ref().and_then(&mut find);
        let no_init = body.init.is_none() && !template.locations.is_empty();
        for named in body.edges {
            if let (Some(source), Some(target)) = (find(&named.source), find(&named.target)) {
                template.edges.push(Edge { source, target, ..named.edge });
            }
        }
        for (i, kw) in flags {
            match kw {
                Kw::Commit => template.locations[i].committed = true,
                _ => template.locations[i].urgent = true,
            }
        }
        if no_init {
            let first = shorten(&template.locations[0].name.name);
            self.errors.push(
                Diagnostic::error(
                    template.span,
                    format!("process `{}` has no initial location", shorten(&template.name.name)),
                )
                .label("no `init` in this process")
                .help(format!("add one after the `state` line, such as `init {first};`")),
            );
        }
    }

    fn transitions(&mut self, body: &mut Body) -> Read<()> {
        self.bump();
        let mut last = None;
        self.list(|p| p.edge(&mut last).map(|edge| body.edges.push(edge)).or_else(|r| p.resume_at_comma(r)))?;
        if matches!(self.peek(), Tok::Ident(_)) && self.look(1).tok == Tok::P(Punct::Arrow) {
            let mut error = self.unexpected("`,` between edges");
            error.span = Some(Span { start: self.prev.end, ..self.prev });
            return Err(self.report(error.label("`,` missing").help("put `,` here; the last edge is followed by `;`")));
        }
        self.require(Punct::Semi, "after the edges").map(|_| ())
    }

    /// `A -> B { … }`, or `-> B { … }` from the location of the edge before.
    fn edge(&mut self, last: &mut Option<Ident>) -> Read<NamedEdge> {
        let start = self.span();
        let source = match (self.peek(), &last) {
            (Tok::P(Punct::Arrow | Punct::Minus), Some(source)) => Ident::clone(source),
            _ => self.ident("the source location of an edge")?,
        };
        // `-u->`: the environment's, in games. Whoever moves, symbolic questions are about all that can happen.
        if self.at(Punct::Minus) && self.look(1).tok == Tok::Ident("u") {
            self.bump();
            self.bump();
        }
        if self.at(Punct::Dec) {
            let error = self.unexpected("`->` after the source location of the edge");
            return Err(self.report(error.help("an edge is written `A -> B { }`")));
        }
        self.require(Punct::Arrow, "after the source location of the edge")?;
        let target = self.ident("the target location of the edge")?;
        let span = start.to(target.span);
        *last = Some(source.clone());
        let mut edge = Edge::new(span);
        self.edge_body(&mut edge)?;
        Ok(NamedEdge { source, target, edge })
    }

    fn edge_body(&mut self, edge: &mut Edge) -> Read<()> {
        if !self.at(Punct::LBrace) {
            let error = self.unexpected("`{` after the target location of the edge");
            return Err(self.report(error.help("write `{ }` if there is nothing to say")));
        }
        self.bump();
        while !self.eat(Punct::RBrace) {
            if self.at_eof() {
                let error = self.unexpected("`}` at the end of the edge");
                return Err(self.report(error));
            }
            if self.edge_part(edge).is_err() {
                self.recover_in_edge();
            }
        }
        Ok(())
    }

    /// Skips to the next part of the edge, or to its end.
    fn recover_in_edge(&mut self) {
        loop {
            match self.peek() {
                Tok::Eof | Tok::P(Punct::RBrace) | Tok::Kw(Kw::Guard | Kw::Sync | Kw::Assign) => return,
                Tok::P(Punct::Semi) => {
                    self.bump();
                    return;
                }
                Tok::P(Punct::LBrace) => self.skip_bracketed(),
                _ => {
                    self.bump();
                }
            }
        }
    }

    fn edge_part(&mut self, edge: &mut Edge) -> Read<()> {
        let token = self.look(0);
        let again = match token.tok {
            Tok::Ident("select") => {
                self.bump();
                let again = !edge.select.is_empty();
                edge.select = self.select()?;
                again
            }
            Tok::Kw(Kw::Guard) => {
                self.bump();
                edge.guard.replace(self.condition("a guard")?).is_some()
            }
            Tok::Kw(Kw::Sync) => {
                self.bump();
                let again = edge.sync.is_some();
                self.sync_into(edge)?;
                again
            }
            Tok::Kw(Kw::Assign) => {
                self.bump();
                let again = !edge.update.is_empty();
                edge.update = self.expr_list()?;
                again
            }
            Tok::Ident("probability") => {
                self.bump();
                edge.weight.replace(self.expr()?.span).is_some()
            }
            _ => {
                let error = self.unexpected("`select`, `guard`, `sync`, `assign` or `}`");
                let meant = match token.tok {
                    Tok::Ident("update") => Some("assign"),
                    Tok::Ident(word) => closest(word, ["select", "guard", "sync", "assign"]),
                    _ => None,
                };
                return Err(self.report(error.meant(meant)));
            }
        };
        if again {
            let span = token.span.to(self.prev);
            self.report(
                Diagnostic::error(
                    span,
                    format!("expected one of each part of an edge, found {} again", token.tok.describe()),
                )
                .help("join the two: conditions with `&&`, updates with `,`"),
            );
        }
        self.require(Punct::Semi, "after this part of the edge").map(|_| ())
    }

    // ---- shared with XML labels ----

    /// `i : id_t, j : int[0, 2]`
    pub(in crate::uppaal) fn select(&mut self) -> Read<Vec<(Ident, TypeExpr)>> {
        self.list(|p| {
            let name = p.ident("the name of a selection")?;
            p.require(Punct::Colon, "after the name of the selection")?;
            Ok((name, p.ty()?))
        })
    }

    /// `c!` or `c?`; a channel alone is noted as unsupported.
    pub(in crate::uppaal) fn sync_into(&mut self, edge: &mut Edge) -> Read<()> {
        if matches!(self.peek(), Tok::P(Punct::Not | Punct::Question)) {
            let error = self.unexpected("a channel");
            return Err(self.report(error.help("write `c!` to send and `c?` to receive")));
        }
        let chan = self.postfix()?;
        let send = match self.peek() {
            Tok::P(Punct::Not) => true,
            Tok::P(Punct::Question) => false,
            Tok::P(Punct::Semi) | Tok::Eof => {
                edge.unsupported = Some(("a synchronisation without `!` or `?`".to_string(), chan.span));
                return Ok(());
            }
            _ => {
                let error = self.unexpected("`!` or `?` after the channel");
                return Err(self.report(error.help("write `c!` to send and `c?` to receive")));
            }
        };
        let end = self.bump().span;
        edge.sync = Some(Sync { span: chan.span.to(end), chan, send });
        Ok(())
    }

    /// A whole label that is a guard or an invariant.
    pub(in crate::uppaal) fn condition_label(&mut self, what: &str) -> Read<Expr> {
        let expr = self.condition(what)?;
        self.eat(Punct::Semi);
        self.expect_end(what).map(|()| expr)
    }

    /// A whole label that is a selection.
    pub(in crate::uppaal) fn select_label(&mut self) -> Read<Vec<(Ident, TypeExpr)>> {
        let select = self.select()?;
        self.eat(Punct::Semi);
        self.expect_end("the selection").map(|()| select)
    }

    /// A whole label that is a synchronisation.
    pub(in crate::uppaal) fn sync_label(&mut self, edge: &mut Edge) -> Read<()> {
        self.sync_into(edge)?;
        self.eat(Punct::Semi);
        self.expect_end("the synchronisation")
    }

    /// A whole label that is an update.
    pub(in crate::uppaal) fn update_label(&mut self) -> Read<Vec<Expr>> {
        let update = self.expr_list()?;
        self.eat(Punct::Semi);
        self.expect_end("the update").map(|()| update)
    }

    /// A whole text that is a parameter list.
    pub(in crate::uppaal) fn params_label(&mut self) -> Read<Vec<Param>> {
        let params = self.params()?;
        self.expect_end("the parameters").map(|()| params)
    }

    /// A whole text that is a name.
    pub(in crate::uppaal) fn name_label(&mut self, what: &str) -> Read<Ident> {
        let name = self.ident(what)?;
        self.expect_end(what).map(|()| name)
    }

    /// Whether there is nothing but blanks and comments.
    pub(in crate::uppaal) fn is_empty(&mut self) -> bool {
        self.at_eof()
    }
}

/// Two locations of one name.
pub(in crate::uppaal) fn duplicate_location(name: &Ident) -> Diagnostic {
    Diagnostic::error(name.span, format!("there is already a location `{}` in this process", shorten(&name.name)))
        .label("the second of this name")
        .help("rename one of them")
}
