//! Statements of function bodies.

use super::{MAX_HEIGHT, Parser, Read, Reported};
use crate::diag::Diagnostic;
use crate::uppaal::ast::{Block, Expr, Stmt};
use crate::uppaal::token::{Kw, Punct, Tok};

impl Parser<'_, '_> {
    /// `{ declarations statements }`
    pub(super) fn block(&mut self) -> Read<Block> {
        self.nested(|p| {
            let open = p.require(Punct::LBrace, "at the start of the block")?;
            let mut block = Block { decls: Vec::new(), stmts: Vec::new(), span: open };
            loop {
                if p.at(Punct::RBrace) {
                    block.span = open.to(p.bump().span);
                    return Ok(block);
                }
                if matches!(p.peek(), Tok::Eof | Tok::Kw(Kw::Process | Kw::System | Kw::State | Kw::Trans | Kw::Init)) {
                    let error = p.unexpected("`}` at the end of the block");
                    return Err(p.report(error.help("a `{` above is not closed")));
                }
                let start = p.look(0).at;
                if p.block_item(&mut block).is_err() {
                    p.recover(start);
                }
            }
        })
    }

    fn block_item(&mut self, block: &mut Block) -> Read<()> {
        if self.at_kw(Kw::Typedef) || self.at_type() {
            if !block.stmts.is_empty() {
                let span = self.span();
                self.report(
                    Diagnostic::error(span, "expected a statement, found a declaration")
                        .label("declared after a statement")
                        .help("move the declaration to the top of the block"),
                );
            }
            block.decls.push(self.declaration()?);
        } else {
            block.stmts.push(self.stmt()?);
        }
        Ok(())
    }

    fn stmt(&mut self) -> Read<Stmt> {
        // A block counts as a level by itself.
        if self.at(Punct::LBrace) { self.block().map(Stmt::Block) } else { self.nested(Self::stmt_inner) }
    }

    fn body(&mut self) -> Read<Box<Stmt>> {
        if self.at_type() {
            let error = self.unexpected("a statement");
            return Err(self.report(error.help("put the declaration into a block `{ … }`")));
        }
        self.stmt().map(Box::new)
    }

    fn stmt_inner(&mut self) -> Read<Stmt> {
        let token = self.look(0);
        match token.tok {
            Tok::P(Punct::Semi) => {
                self.bump();
                Ok(Stmt::Empty)
            }
            Tok::Kw(Kw::For) => self.for_stmt(),
            Tok::Kw(Kw::While) => {
                self.bump();
                let cond = self.head("while")?;
                let body = self.body()?;
                Ok(Stmt::While { cond, body, span: token.span.to(self.prev) })
            }
            Tok::Kw(Kw::Do) => {
                self.bump();
                let body = self.body()?;
                if !self.eat_kw(Kw::While) {
                    let error = self.unexpected("`while` after the body of `do`");
                    return Err(self.report(error));
                }
                let cond = self.head("while")?;
                let end = self.require(Punct::Semi, "after `do … while (…)`")?;
                Ok(Stmt::DoWhile { body, cond, span: token.span.to(end) })
            }
            Tok::Kw(Kw::If) => self.if_stmt(),
            Tok::Kw(Kw::Return) => {
                self.bump();
                let value = if self.at(Punct::Semi) { None } else { Some(self.expr()?) };
                let end = self.require(Punct::Semi, "after `return`")?;
                Ok(Stmt::Return(value, token.span.to(end)))
            }
            Tok::Kw(Kw::Else) => {
                let error = self.unexpected("a statement");
                Err(self.report(error.help("this `else` belongs to no `if`; is there a `;` or a `}` too many above?")))
            }
            Tok::Ident(word @ ("break" | "continue")) if self.look(1).tok == Tok::P(Punct::Semi) => {
                self.bump();
                self.bump();
                Ok(Stmt::Unsupported { what: word.to_string(), span: token.span })
            }
            Tok::Ident("switch") if self.look(1).tok == Tok::P(Punct::LParen) => {
                self.bump();
                self.skip_bracketed();
                if !self.at(Punct::LBrace) {
                    let error = self.unexpected("`{` after `switch (…)`");
                    return Err(self.report(error));
                }
                self.skip_bracketed();
                Ok(Stmt::Unsupported { what: "switch".to_string(), span: token.span })
            }
            Tok::Ident("assert") if self.look(1).tok != Tok::P(Punct::Assign) => {
                self.bump();
                self.expr()?;
                self.require(Punct::Semi, "after `assert`")?;
                Ok(Stmt::Unsupported { what: "assert".to_string(), span: token.span })
            }
            _ => {
                let expr = self.expr()?;
                self.require(Punct::Semi, "after the statement")?;
                Ok(Stmt::Expr(expr))
            }
        }
    }

    /// `(condition)`
    fn head(&mut self, word: &str) -> Read<Expr> {
        self.require(Punct::LParen, &format!("after `{word}`"))?;
        let cond = self.bracketed(Self::comma_expr)?;
        self.require(Punct::RParen, &format!("after the condition of `{word}`"))?;
        Ok(cond)
    }

    /// `if`, with all its `else if`s, of which there may be many more than blocks may nest.
    fn if_stmt(&mut self) -> Read<Stmt> {
        let mut arms = Vec::new();
        let mut last = None;
        loop {
            self.bump();
            if arms.len() as u32 >= MAX_HEIGHT {
                let span = self.prev;
                self.errors.stop(
                    Diagnostic::error(span, format!("more than {MAX_HEIGHT} times `else if` in a row"))
                        .help("use an array, or split the function"),
                );
                return Err(Reported);
            }
            let cond = self.head("if")?;
            arms.push((cond, self.body()?));
            if !self.eat_kw(Kw::Else) {
                break;
            }
            if !self.at_kw(Kw::If) {
                last = Some(self.body()?);
                break;
            }
        }
        for (cond, then) in arms.into_iter().rev() {
            last = Some(Box::new(Stmt::If { cond, then, els: last }));
        }
        // There is at least one arm.
        Ok(last.map_or(Stmt::Empty, |stmt| *stmt))
    }

    fn for_stmt(&mut self) -> Read<Stmt> {
        let start = self.bump().span;
        if self.at(Punct::LParen) {
            self.no_declaration_in_head()?;
        }
        self.require(Punct::LParen, "after `for`")?;
        if matches!(self.peek(), Tok::Ident(_)) && self.look(1).tok == Tok::P(Punct::Colon) {
            let var = self.ident("the loop variable")?;
            self.bump();
            let ty = self.bracketed(Self::ty)?;
            self.require(Punct::RParen, "after the type of the loop variable")?;
            let body = self.body()?;
            return Ok(Stmt::Iterate { var, ty, body, span: start.to(self.prev) });
        }
        let init = self.for_part(Punct::Semi)?;
        self.require(Punct::Semi, "after the first part of `for`")?;
        let cond = self.for_part(Punct::Semi)?;
        self.require(Punct::Semi, "after the condition of `for`")?;
        let step = self.for_part(Punct::RParen)?;
        self.require(Punct::RParen, "after the head of `for`")?;
        let body = self.body()?;
        Ok(Stmt::For { init, cond, step, body, span: start.to(self.prev) })
    }

    /// Catches `for (int i = 0; …)`.
    fn no_declaration_in_head(&mut self) -> Read<()> {
        let token = self.look(1);
        if !matches!(token.tok, Tok::Kw(Kw::Int | Kw::Bool | Kw::Const | Kw::Meta)) {
            return Ok(());
        }
        self.report(
            Diagnostic::error(token.span, "expected an expression in the head of `for`, found a declaration")
                .help("declare the variable before the loop, or write `for (i : int[low, high])`"),
        );
        self.skip_bracketed();
        Err(Reported)
    }

    fn for_part(&mut self, end: Punct) -> Read<Option<Expr>> {
        if self.at(end) { Ok(None) } else { self.bracketed(Self::comma_expr).map(Some) }
    }
}
