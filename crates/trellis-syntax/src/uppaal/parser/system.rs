//! The outermost level: declarations, processes, instances, priorities, the `system` line.

use super::{Parser, Read};
use crate::diag::Span;
use crate::uppaal::ast::{ChanRef, Decl, Expr, ExprKind, Instance, Nta};
use crate::uppaal::token::{Kw, Punct, Tok, shorten};

impl Parser<'_, '_> {
    /// A whole file of the textual language, or the global declarations of an XML file.
    pub(in crate::uppaal) fn file(&mut self, nta: &mut Nta) {
        self.section(nta, |nta| &mut nta.decls);
    }

    /// The system section of an XML file.
    pub(in crate::uppaal) fn system_section(&mut self, nta: &mut Nta) {
        self.section(nta, |nta| &mut nta.system_decls);
    }

    /// The local declarations of an XML template.
    pub(in crate::uppaal) fn local_section(&mut self, decls: &mut Vec<Decl>) {
        while !self.at_eof() {
            let start = self.look(0).at;
            if self.eat(Punct::Semi) {
                continue;
            }
            match self.declaration() {
                Ok(decl) => decls.push(decl),
                Err(_) => self.recover_outside(start),
            }
        }
    }

    fn section(&mut self, nta: &mut Nta, decls: fn(&mut Nta) -> &mut Vec<Decl>) {
        while !self.at_eof() {
            let start = self.look(0).at;
            if self.section_item(nta, decls).is_err() {
                self.recover_outside(start);
            }
        }
    }

    /// Goes on after a mistake where no `{` is open.
    fn recover_outside(&mut self, start: usize) {
        self.recover(start);
        if self.at(Punct::RBrace) {
            self.bump();
            self.eat(Punct::Semi);
        }
    }

    fn section_item(&mut self, nta: &mut Nta, decls: fn(&mut Nta) -> &mut Vec<Decl>) -> Read<()> {
        match self.peek() {
            Tok::P(Punct::Semi) => {
                self.bump();
            }
            Tok::Kw(Kw::Process) => {
                let template = self.process()?;
                nta.templates.push(template);
            }
            Tok::Kw(Kw::System) => self.system_line(nta)?,
            Tok::Kw(Kw::Chan) if self.at_chan_priority() => self.chan_priority(nta)?,
            Tok::Ident("query") if self.look(1).tok == Tok::P(Punct::LBrace) => self.query_block(nta)?,
            Tok::Ident("progress" | "gantt" | "before_update" | "after_update" | "IO")
                if self.look(1).tok != Tok::P(Punct::Assign) =>
            {
                let decl = self.declaration()?;
                decls(nta).push(decl);
            }
            Tok::Ident(_) if matches!(self.look(1).tok, Tok::P(Punct::Assign | Punct::ColonAssign | Punct::LParen)) => {
                let instance = self.instance()?;
                nta.instances.push(instance);
            }
            _ => {
                let decl = self.declaration()?;
                decls(nta).push(decl);
            }
        }
        Ok(())
    }

    /// `P1 = T(1);`, `P1 := T(1);`, `P(const int[0,3] i) = T(3, i);`
    fn instance(&mut self) -> Read<Instance> {
        let name = self.ident("the name of the instance")?;
        let mut params = Vec::new();
        if self.eat(Punct::LParen) {
            params = self.bracketed(Self::params)?;
            self.require(Punct::RParen, "after the parameters")?;
        }
        if !self.eat(Punct::Assign) && !self.eat(Punct::ColonAssign) {
            let error = self.unexpected("`=` and the template to instantiate");
            return Err(self.report(error.help("as in `P1 = Template(1);`")));
        }
        let template = self.ident("the name of a template")?;
        if !self.at(Punct::LParen) {
            let error = self.unexpected("`(` after the name of the template");
            let help = format!("write the arguments, or `{}()` if there are none", shorten(&template.name));
            return Err(self.report(error.help(help)));
        }
        self.bump();
        let (args, _) = self.bracketed(Self::args)?;
        self.require(Punct::RParen, "after the arguments")?;
        let end = self.require(Punct::Semi, "after the instantiation")?;
        Ok(Instance { span: name.span.to(end), name, params, template, args })
    }

    /// `system A, B < C;`
    fn system_line(&mut self, nta: &mut Nta) -> Read<()> {
        let start = self.bump().span;
        if let Some(first) = nta.system_span {
            let error = crate::diag::Diagnostic::error(start, "expected one `system` line, found another");
            let help = match first.source == start.source {
                true => "name all processes in one line, separated by `,`",
                false => "remove one of them",
            };
            return Err(self.report(error.help(help)));
        }
        nta.system_span = Some(start);
        let mut groups = vec![Vec::new()];
        loop {
            let name = self.ident("the name of a process")?;
            if self.at(Punct::LParen) {
                let error = self.unexpected("`,` or `;`");
                let help = format!(
                    "name the instance first, as in `{0}1 = {0}(…);`, and put `{0}1` here",
                    shorten(&name.name)
                );
                return Err(self.report(error.help(help)));
            }
            if let Some(group) = groups.last_mut() {
                group.push(name);
            }
            if self.eat(Punct::Lt) {
                groups.push(Vec::new());
            } else if !self.eat(Punct::Comma) {
                break;
            }
        }
        let end = self.require(Punct::Semi, "after the processes of the system")?;
        nta.system = groups;
        nta.system_span = Some(start.to(end));
        Ok(())
    }

    /// `chan priority` and an entry, not a channel that is called `priority`.
    fn at_chan_priority(&mut self) -> bool {
        self.look(1).tok == Tok::Ident("priority") && matches!(self.look(2).tok, Tok::Ident(_))
    }

    /// `chan priority a, b[0] < default < c;`
    fn chan_priority(&mut self, nta: &mut Nta) -> Read<()> {
        self.bump();
        self.bump();
        let mut groups = vec![Vec::new()];
        loop {
            let entry = self.chan_ref()?;
            if let Some(group) = groups.last_mut() {
                group.push(entry);
            }
            if self.eat(Punct::Lt) {
                groups.push(Vec::new());
            } else if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.require(Punct::Semi, "after the channel priorities")?;
        nta.chan_priority.extend(groups);
        Ok(())
    }

    fn chan_ref(&mut self) -> Read<ChanRef> {
        if self.at_word("default") {
            return Ok(ChanRef::Default(self.bump().span));
        }
        let name = self.ident("a channel or `default`")?;
        let start: Span = name.span;
        let mut expr = Expr { kind: ExprKind::Name(name.name), span: start };
        let mut height = 1;
        while self.eat(Punct::LBracket) {
            let index = self.bracketed(Self::expr)?;
            let end = self.require(Punct::RBracket, "after the index")?;
            self.grow(height.max(self.height), start.to(end))?;
            height = self.height;
            expr = Expr { kind: ExprKind::Index(Box::new(expr), Box::new(index)), span: start.to(end) };
        }
        Ok(ChanRef::Chan(expr))
    }

    /// `query { A[] p }`
    fn query_block(&mut self, nta: &mut Nta) -> Read<()> {
        self.bump();
        let open = self.look(0);
        self.skip_bracketed();
        let end = self.prev_end.saturating_sub(1).max(open.end);
        let mut inner = Parser::with(self.text, self.errors, true, open.end, end);
        nta.queries.extend(inner.query_list());
        Ok(())
    }
}

/// In the old syntax every parameter that is not constant is passed by reference, without a `&`. To be called once a
/// whole file has been read; `old` says whether anything in it is old syntax.
pub(in crate::uppaal) fn by_reference_if_old(nta: &mut Nta, old: bool) {
    if !old {
        return;
    }
    for param in nta.templates.iter_mut().flat_map(|t| &mut t.params) {
        param.by_ref |= !param.ty.is_const;
    }
}
