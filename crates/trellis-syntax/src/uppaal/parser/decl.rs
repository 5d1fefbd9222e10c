//! Types, variables, parameters, functions, `extern`, and the declarations that are read but not supported.

use std::sync::Arc;

use super::{Parser, Read};
use crate::diag::{Diagnostic, Span};
use crate::uppaal::ast::{
    BaseType, Decl, Declarator, Dim, Expr, ExprKind, Function, Ident, Init, Param, TypeExpr, VarDecl,
};
use crate::uppaal::token::{Kw, Punct, Tok};

impl<'a> Parser<'a, '_> {
    /// Whether a type starts here: a type's keyword, or two names in a row.
    pub(super) fn at_type(&mut self) -> bool {
        match self.peek() {
            Tok::Kw(
                Kw::Const
                | Kw::Meta
                | Kw::Int
                | Kw::Bool
                | Kw::Clock
                | Kw::Chan
                | Kw::Void
                | Kw::Scalar
                | Kw::Broadcast
                | Kw::Urgent
                | Kw::Struct,
            ) => true,
            Tok::Ident("hybrid") if self.look(1).tok == Tok::Kw(Kw::Clock) => true,
            // `assert x;` and `a xor b;` are statements.
            Tok::Ident(name) => {
                !matches!(name, "assert" | "spawn") && matches!(self.look(1).tok, Tok::Ident(next) if next != "xor")
            }
            _ => false,
        }
    }

    /// A type with its prefixes.
    pub(super) fn ty(&mut self) -> Read<TypeExpr> {
        let (mut ty, start) = self.type_prefixes();
        if ty.is_const && self.at_untyped_const() {
            // Old syntax: `const N 5;` and `const id` among parameters.
            self.old |= self.look(1).tok != Tok::P(Punct::Assign);
            ty.base = BaseType::Int(None);
            ty.span = start.to(self.prev);
            return Ok(ty);
        }
        ty.base = self.base_type()?;
        ty.span = start.to(self.prev);
        Ok(ty)
    }

    fn type_prefixes(&mut self) -> (TypeExpr, Span) {
        let start = self.span();
        let mut ty = TypeExpr {
            base: BaseType::Void,
            is_const: false,
            meta: false,
            broadcast: false,
            urgent: false,
            hybrid: false,
            span: start,
        };
        loop {
            let flag = match self.peek() {
                Tok::Kw(Kw::Const) => &mut ty.is_const,
                Tok::Kw(Kw::Meta) => &mut ty.meta,
                Tok::Kw(Kw::Broadcast) => &mut ty.broadcast,
                Tok::Kw(Kw::Urgent) => &mut ty.urgent,
                Tok::Ident("hybrid") if self.look(1).tok == Tok::Kw(Kw::Clock) => &mut ty.hybrid,
                _ => return (ty, start),
            };
            *flag = true;
            self.bump();
        }
    }

    /// Whether, after `const`, a name follows that is no type: `N 5`, `N = 5`, `id,`, `id)`, `A[2]`.
    fn at_untyped_const(&mut self) -> bool {
        matches!(self.peek(), Tok::Ident(_)) && !matches!(self.look(1).tok, Tok::Ident(_) | Tok::P(Punct::And))
    }

    fn base_type(&mut self) -> Read<BaseType> {
        let token = self.look(0);
        match token.tok {
            Tok::Kw(Kw::Int) => {
                self.bump();
                if !self.eat(Punct::LBracket) {
                    return Ok(BaseType::Int(None));
                }
                let low = self.bracketed(Self::expr)?;
                self.require(Punct::Comma, "between the bounds of `int[low, high]`")?;
                let high = self.bracketed(Self::expr)?;
                self.require(Punct::RBracket, "after the bounds of `int[low, high]`")?;
                Ok(BaseType::Int(Some((Box::new(low), Box::new(high)))))
            }
            Tok::Kw(Kw::Scalar) => {
                self.bump();
                self.require(Punct::LBracket, "after `scalar`")?;
                let size = self.bracketed(Self::expr)?;
                self.require(Punct::RBracket, "after the size of `scalar[n]`")?;
                Ok(BaseType::Scalar(Box::new(size)))
            }
            Tok::Kw(Kw::Struct) => {
                self.bump();
                self.require(Punct::LBrace, "after `struct`")?;
                self.nested(Self::fields)
            }
            Tok::Kw(kw @ (Kw::Bool | Kw::Clock | Kw::Chan | Kw::Void)) => {
                self.bump();
                Ok(match kw {
                    Kw::Bool => BaseType::Bool,
                    Kw::Clock => BaseType::Clock,
                    Kw::Chan => BaseType::Chan,
                    _ => BaseType::Void,
                })
            }
            Tok::Ident(name @ ("double" | "string")) => {
                self.bump();
                Ok(BaseType::Unsupported(name.to_string()))
            }
            Tok::Ident(_) => Ok(BaseType::Named(self.ident("a type")?)),
            _ => {
                let error = self.unexpected("a type");
                Err(self.report(error))
            }
        }
    }

    fn fields(&mut self) -> Read<BaseType> {
        let mut fields = Vec::new();
        while !self.eat(Punct::RBrace) {
            if matches!(self.peek(), Tok::Eof | Tok::Kw(Kw::Process | Kw::System)) {
                let error = self.unexpected("`}` after the fields");
                return Err(self.report(error));
            }
            match self.field() {
                Ok(field) => fields.push(field),
                Err(_) => self.skip_field(),
            }
        }
        Ok(BaseType::Struct(fields))
    }

    fn field(&mut self) -> Read<(TypeExpr, Vec<Declarator>)> {
        let ty = self.ty()?;
        let names = self.declarators("a field name")?;
        self.require(Punct::Semi, "after the fields")?;
        Ok((ty, names))
    }

    /// Goes on after a mistake among the fields: past the next `;`, or up to the closing bracket.
    fn skip_field(&mut self) {
        loop {
            match self.peek() {
                Tok::Eof | Tok::P(Punct::RBrace) | Tok::Kw(Kw::Process | Kw::System) => return,
                Tok::P(Punct::LBrace) => self.skip_bracketed(),
                tok => {
                    self.bump();
                    if tok == Tok::P(Punct::Semi) {
                        return;
                    }
                }
            }
        }
    }

    /// Names without initial values, as of fields and types.
    fn declarators(&mut self, what: &str) -> Read<Vec<Declarator>> {
        self.list(|p| {
            let name = p.ident(what)?;
            Ok(Declarator { name, dims: p.dims()?, init: None })
        })
    }

    /// The rest of a declared variable: `[2] = {1, 2}`; `bare` allows the old `[2] {1, 2}`.
    fn declarator(&mut self, name: Ident, bare: bool) -> Read<Declarator> {
        let dims = self.dims()?;
        let init = match self.peek() {
            Tok::P(Punct::Assign | Punct::ColonAssign) => {
                self.bump();
                Some(self.nested(Self::initialiser)?)
            }
            Tok::Int(_) | Tok::P(Punct::LBrace | Punct::Minus) if bare => Some(self.nested(Self::initialiser)?),
            Tok::P(Punct::EqEq) => {
                let error = self.unexpected("`=`, `,` or `;`");
                return Err(self.report(error.help("`==` compares; an initial value is given with `=`")));
            }
            _ => None,
        };
        Ok(Declarator { name, dims, init })
    }

    fn dims(&mut self) -> Read<Vec<Dim>> {
        let mut dims = Vec::new();
        while self.eat(Punct::LBracket) {
            let dim = match self.peek() {
                Tok::Kw(Kw::Int | Kw::Scalar | Kw::Bool) => self.bracketed(Self::ty).map(Dim::Type)?,
                Tok::P(Punct::RBracket) => {
                    let error = self.unexpected("the size of the array");
                    return Err(self.report(error.help("write the size between the brackets, as in `a[4]`")));
                }
                _ => Dim::Expr(self.bracketed(Self::expr)?),
            };
            self.require(Punct::RBracket, "after the size of the array")?;
            dims.push(dim);
        }
        Ok(dims)
    }

    fn initialiser(&mut self) -> Read<Init> {
        if !self.at(Punct::LBrace) {
            return self.expr().map(Init::Expr);
        }
        let open = self.bump().span;
        let mut list = Vec::new();
        while !self.at(Punct::RBrace) {
            let field = match self.peek() {
                Tok::Ident(_) if self.look(1).tok == Tok::P(Punct::Colon) => {
                    let name = self.ident("a field name")?;
                    self.bump();
                    Some(name)
                }
                _ => None,
            };
            list.push((field, self.nested(Self::initialiser)?));
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        let close = self.require(Punct::RBrace, "after the initial values")?;
        Ok(Init::List(list, open.to(close)))
    }

    /// A parameter list up to what closes it, in the new syntax or the old.
    pub(super) fn params(&mut self) -> Read<Vec<Param>> {
        let mut params: Vec<Param> = Vec::new();
        if matches!(self.peek(), Tok::P(Punct::RParen) | Tok::Eof) {
            return Ok(params);
        }
        loop {
            // Old syntax: `int a, b` shares the type.
            let shares =
                matches!(self.peek(), Tok::Ident(_)) && !matches!(self.look(1).tok, Tok::Ident(_) | Tok::P(Punct::And));
            let ty = match params.last() {
                Some(last) if shares => {
                    self.old = true;
                    last.ty.clone()
                }
                _ => self.ty()?,
            };
            let by_ref = self.eat(Punct::And);
            let name = self.ident("the name of the parameter")?;
            let dims = self.dims()?;
            params.push(Param { ty, by_ref, name, dims });
            if self.eat(Punct::Semi) {
                self.old = true;
                // A `;` may also close the list.
                if matches!(self.peek(), Tok::P(Punct::RParen) | Tok::Eof) {
                    return Ok(params);
                }
            } else if !self.eat(Punct::Comma) {
                return Ok(params);
            }
        }
    }

    /// One declaration; `None` if it was one that leaves nothing in the tree.
    pub(super) fn declaration(&mut self) -> Read<Decl> {
        match self.peek() {
            Tok::Kw(Kw::Typedef) => {
                self.bump();
                let ty = self.ty()?;
                let names = self.declarators("the name of the type")?;
                self.require(Punct::Semi, "after the type definition")?;
                Ok(Decl::Typedef { ty, names })
            }
            Tok::Ident("extern") if matches!(self.look(1).tok, Tok::Ident(_) | Tok::Kw(_) | Tok::P(Punct::Semi)) => {
                self.extern_decl()
            }
            Tok::Ident(word @ ("import" | "dynamic" | "IO")) if self.at_unsupported() => self.skip_decl(word),
            Tok::Ident(word @ ("before_update" | "after_update" | "progress" | "gantt"))
                if self.look(1).tok == Tok::P(Punct::LBrace) =>
            {
                self.skip_decl(word)
            }
            _ if self.at_type() => self.variable_or_function(),
            tok => {
                let error = self.unexpected("a declaration");
                Err(self.report(match tok {
                    Tok::Ident("A" | "E") => error.help("queries belong into a file of their own, called .q"),
                    Tok::Kw(Kw::State | Kw::Init | Kw::Trans | Kw::Commit) => error.help("this belongs into a process"),
                    Tok::P(Punct::RBrace) => error.help("there is a `}` too many"),
                    _ => error,
                }))
            }
        }
    }

    fn at_unsupported(&mut self) -> bool {
        matches!(self.look(1).tok, Tok::Ident(_) | Tok::Str(_))
    }

    /// Skips a declaration that is not supported: up to its `;` or past its `{…}`.
    pub(super) fn skip_decl(&mut self, what: &str) -> Read<Decl> {
        let start = self.bump().span;
        loop {
            match self.peek() {
                Tok::P(Punct::Semi) => {
                    self.bump();
                    break;
                }
                Tok::P(Punct::LBrace) => {
                    self.skip_bracketed();
                    self.eat(Punct::Semi);
                    break;
                }
                Tok::Eof => {
                    let error = self.unexpected(&format!("`;` or `{{` after `{what}`"));
                    return Err(self.report(error));
                }
                _ => {
                    self.bump();
                }
            }
        }
        Ok(Decl::Unsupported { what: what.to_string(), span: start })
    }

    fn variable_or_function(&mut self) -> Read<Decl> {
        let ty = self.ty()?;
        let name = self.ident("a name after the type")?;
        if self.at(Punct::LParen) {
            return self.function(ty, name).map(|f| Decl::Function(Arc::new(f)));
        }
        let bare = ty.is_const && self.old;
        let mut names = vec![self.declarator(name, bare)?];
        while self.eat(Punct::Comma) {
            let name = self.ident("a name after `,`")?;
            names.push(self.declarator(name, bare)?);
        }
        let end = self.require(Punct::Semi, "after the declaration")?;
        Ok(Decl::Vars(VarDecl { span: ty.span.to(end), ty, names }))
    }

    fn function(&mut self, ret: TypeExpr, name: Ident) -> Read<Function> {
        self.bump();
        let params = self.bracketed(Self::params)?;
        self.require(Punct::RParen, "after the parameters")?;
        if !self.at(Punct::LBrace) {
            let error = self.unexpected("`{` and the body of the function");
            return Err(self.report(error));
        }
        let body = self.block()?;
        Ok(Function { ret, name, params, body })
    }

    /// `extern Name;`, `extern Name = Lattice(args);`, `extern Name from "file";`
    fn extern_decl(&mut self) -> Read<Decl> {
        let start = self.bump().span;
        let name = self.ident("the name of the lattice")?;
        let mut def: Option<Expr> = None;
        let mut file = None;
        if self.eat(Punct::Assign) || self.eat(Punct::ColonAssign) {
            let expr = self.expr()?;
            if !matches!(expr.kind, ExprKind::Name(_) | ExprKind::Call(..)) {
                self.report(
                    Diagnostic::error(expr.span, "expected a lattice, found another expression")
                        .help("write a name or a construction, as in `extern L = Product(Sign, Parity);`"),
                );
            }
            def = Some(expr);
        } else if self.at_word("from") {
            self.bump();
            let token = self.look(0);
            let Tok::Str(path) = token.tok else {
                let error = self.unexpected("the name of a script in quotes");
                return Err(self.report(error.help("as in `extern Mine from \"mine.lua\";`")));
            };
            self.bump();
            file = Some((path.to_string(), token.span));
        }
        let end = self.require(Punct::Semi, "after the `extern` declaration")?;
        Ok(Decl::Extern { name, def, file, span: start.to(end) })
    }
}
