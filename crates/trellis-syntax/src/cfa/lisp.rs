//! The spelling with parentheses: `(process (var x Int) (init L0) (edge L0 L1 (assign x 0)))`.

use trellis_expr::{StmtId, TermId, Type};
use trellis_model::cfa::Cfa;

use super::parser::Parser;
use crate::diag::Span;
use crate::text::errors::{Read, Reported};
use crate::text::tokens::Tok;

/// How deeply expressions may be nested.
const MAX_DEPTH: usize = 400;

/// A name, a number, or a list.
enum Tree<'a> {
    Word(&'a str, Span),
    Number(&'a str, Span),
    List(Vec<Tree<'a>>, Span),
}

impl Tree<'_> {
    fn span(&self) -> Span {
        match self {
            Tree::Word(_, span) | Tree::Number(_, span) | Tree::List(_, span) => *span,
        }
    }
}

impl<'a> Parser<'a> {
    pub fn lisp(&mut self) -> Option<Cfa> {
        let read = self.tree(0).and_then(|tree| self.process_tree(&tree));
        if read.is_err() || self.errors.count() > 0 {
            return None;
        }
        if self.peek().tok != Tok::End {
            let _ = self.unexpected::<()>("the end of the text");
            return None;
        }
        self.done()
    }

    fn tree(&mut self, depth: usize) -> Read<Tree<'a>> {
        let t = self.bump();
        match t.tok {
            Tok::P("(") => {
                if depth > MAX_DEPTH {
                    return self.fail(t.span, "this is nested too deeply");
                }
                let mut parts = vec![];
                while !self.is(")") {
                    parts.push(self.tree(depth + 1)?);
                }
                let end = self.bump().span;
                Ok(Tree::List(parts, t.span.to(end)))
            }
            Tok::Name(word) => Ok(Tree::Word(word, t.span)),
            Tok::Number(digits) => Ok(Tree::Number(digits, t.span)),
            Tok::P(op) if op != ")" => Ok(Tree::Word(op, t.span)),
            tok => self.fail(t.span, format!("expected a name, a number or `(`, found {}", tok.describe())),
        }
    }

    fn process_tree(&mut self, tree: &Tree<'a>) -> Read<()> {
        let Tree::List(parts, span) = tree else { return self.fail(tree.span(), "expected `(process …)`") };
        let [Tree::Word("process", _), members @ ..] = &parts[..] else {
            return self.fail(*span, "expected `(process …)`");
        };
        // First the names, then the edges.
        for edges in [false, true] {
            for member in members {
                // One mistake does not hide the next.
                let _: Result<(), Reported> = self.member(member, edges);
            }
        }
        Ok(())
    }

    fn member(&mut self, tree: &Tree<'a>, edges: bool) -> Read<()> {
        let form = "expected `(var x Int)`, `(loc L)`, `(init L)`, `(final L)`, `(error L)` or `(edge L M …)`";
        let Tree::List(parts, span) = tree else { return self.fail(tree.span(), form) };
        match &parts[..] {
            [Tree::Word("var", _), Tree::Word(name, at), ty] => {
                let ty = self.type_tree(ty)?;
                if edges { Ok(()) } else { self.declare(name, ty, *at) }
            }
            [Tree::Word(kind @ ("loc" | "init" | "final" | "error"), _), Tree::Word(name, at)] => {
                if edges {
                    Ok(())
                } else {
                    self.add_location(kind, name, *at)
                }
            }
            [Tree::Word("edge", _), Tree::Word(from, at), Tree::Word(to, to_at), stmts @ ..] => {
                if !edges {
                    return Ok(());
                }
                let (from, to) = (self.located(from, *at)?, self.located(to, *to_at)?);
                let stmts: Vec<StmtId> = stmts.iter().map(|s| self.statement_tree(s)).collect::<Read<_>>()?;
                let stmt = self.terms().seq(stmts);
                self.add_edge(from, stmt, to, *span);
                Ok(())
            }
            _ => self.fail(*span, form),
        }
    }

    fn type_tree(&mut self, tree: &Tree<'a>) -> Read<Type> {
        match tree {
            Tree::Word("Bool" | "bool", _) => Ok(Type::Bool),
            Tree::Word("Int" | "int", _) => Ok(Type::Int),
            Tree::Word(word, span) => self.fail(*span, format!("the type `{word}` is not supported")),
            Tree::List(parts, span) => match &parts[..] {
                [Tree::Word("Array", _), index, entry] => {
                    let (index, entry) = (self.type_tree(index)?, self.type_tree(entry)?);
                    match index {
                        Type::Array(..) => self.fail(*span, "arrays that are indexed by arrays are not supported"),
                        index => Ok(self.terms().array_type(index, entry)),
                    }
                }
                _ => self.fail(*span, "this type is not supported"),
            },
            Tree::Number(_, span) => self.fail(*span, "expected a type"),
        }
    }

    fn statement_tree(&mut self, tree: &Tree<'a>) -> Read<StmtId> {
        let form = "expected `(assign x e)`, `(havoc x)` or `(assume e)`";
        let Tree::List(parts, span) = tree else { return self.fail(tree.span(), form) };
        match &parts[..] {
            [Tree::Word("assign", _), Tree::Word(name, at), e] => {
                let v = self.variable_of(name, *at)?;
                let e = self.term_tree(e)?;
                self.assigned(v, e, *span)
            }
            [Tree::Word("havoc", _), Tree::Word(name, at)] => {
                let v = self.variable_of(name, *at)?;
                Ok(self.terms().havoc(v))
            }
            [Tree::Word("assume", _), e] => {
                let e = self.term_tree(e)?;
                self.expect_type(e, Type::Bool, "assume", *span)?;
                Ok(self.terms().assume(e))
            }
            _ => self.fail(*span, form),
        }
    }

    fn term_tree(&mut self, tree: &Tree<'a>) -> Read<TermId> {
        match tree {
            Tree::Word("true", _) => Ok(self.terms().bool(true)),
            Tree::Word("false", _) => Ok(self.terms().bool(false)),
            Tree::Word(name, span) => {
                let v = self.variable_of(name, *span)?;
                Ok(self.terms().var(v))
            }
            Tree::Number(digits, span) => self.integer(digits, *span),
            Tree::List(parts, span) => {
                let Some((Tree::Word(op, _), args)) = parts.split_first() else {
                    return self.fail(*span, "expected `(operator …)`");
                };
                let args: Vec<TermId> = args.iter().map(|a| self.term_tree(a)).collect::<Read<_>>()?;
                match (*op, &args[..]) {
                    ("read", &[array, index]) => self.read_array(array, index, None, *span),
                    ("write", &[array, index, value]) => self.read_array(array, index, Some(value), *span),
                    ("=>", _) => self.apply("imply", &args, *span),
                    (op, args) => self.apply(op, args, *span),
                }
            }
        }
    }

    fn read_array(&mut self, array: TermId, index: TermId, value: Option<TermId>, span: Span) -> Read<TermId> {
        let Type::Array(i, entry) = self.terms().ty(array) else { return self.fail(span, "only arrays have entries") };
        let (i, entry) = (self.terms().type_of_id(i), self.terms().type_of_id(entry));
        self.expect_type(index, i, "read", span)?;
        match value {
            Some(v) => {
                self.expect_type(v, entry, "write", span)?;
                Ok(self.terms().store(array, index, v))
            }
            None => Ok(self.terms().select(array, index)),
        }
    }
}
