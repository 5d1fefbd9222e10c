//! Calls: what some functions mean by their names, and the inlining of the others.

use std::rc::Rc;

use lang_c::ast::{CallExpression, Expression};
use lang_c::span::{Node, Span as CSpan};
use trellis_expr::TermId;

use super::checks::{Kind, Operation};
use super::decl::{Name, Scope};
use super::lower::{Lower, Lowered, Val};
use super::place::Place;
use super::purity::{changed, is_impure, string_of};
use super::stmt::Frame;
use super::structs::Key;
use super::types::{CType, IntType};
use super::unit::{Function, Signature};

/// What a function does, if its name says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// Reaches the error.
    Error,
    /// Ends the run.
    End,
    /// Must never be reached.
    Unreachable,
    /// Blocks unless its argument holds.
    Assume,
    /// Reaches the error unless its argument holds.
    Assert,
    /// Any value.
    Nondet(IntType),
    /// Writes something somewhere else; its result may be anything.
    Output,
    /// The absolute value.
    Absolute(IntType),
    /// Its first argument.
    First,
    /// Cannot be understood.
    Refused(&'static str),
}

/// Functions that mean the same whether the program defines them or not.
fn always(name: &str) -> Option<Known> {
    match name {
        "reach_error" | "__VERIFIER_error" | "__assert_fail" | "__assert" | "__assert_rtn" => Some(Known::Error),
        _ => None,
    }
}

/// A condition that is not too long for a name.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CONDITION) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_string(),
    }
}

/// How much of a condition is shown.
const MAX_CONDITION: usize = 60;

/// How a call hands over an argument.
enum Argument {
    Reference(Place),
    /// Its leaves.
    Value(Vec<TermId>),
}

impl<'a> Lower<'a> {
    fn known(&self, name: &str) -> Option<Known> {
        if let Some(known) = always(name) {
            return Some(known);
        }
        if self.unit.functions.contains_key(name) {
            return None;
        }
        let model = self.options.data_model;
        if let Some(kind) = name.strip_prefix("__VERIFIER_nondet_").or_else(|| name.strip_prefix("nondet_")) {
            if let Some(CType::Int(ty)) = self.unit.result_of(name) {
                return Some(Known::Nondet(ty));
            }
            let ty = match kind {
                "bool" | "_Bool" => IntType::BOOL,
                "char" | "schar" => IntType::CHAR,
                "uchar" | "u8" => IntType { signed: false, ..IntType::CHAR },
                "short" => IntType::short(true),
                "ushort" | "u16" => IntType::short(false),
                "int" => IntType::INT,
                "uint" | "unsigned" | "unsigned_int" | "u32" => IntType::UINT,
                "long" | "loff_t" => IntType::long(model, true),
                "ulong" | "size_t" | "sector_t" => IntType::long(model, false),
                "longlong" => IntType::long_long(true),
                "ulonglong" | "u64" => IntType::long_long(false),
                _ => return Some(Known::Refused("it returns something that is not an integer")),
            };
            return Some(Known::Nondet(ty));
        }
        Some(match name {
            "abort" | "exit" | "_exit" | "_Exit" | "quick_exit" => Known::End,
            "__builtin_abort" | "__builtin_exit" | "__builtin_trap" => Known::End,
            "__builtin_unreachable" => Known::Unreachable,
            "__VERIFIER_assume" | "__CPROVER_assume" | "__ESBMC_assume" | "assume" => Known::Assume,
            "assert" | "__VERIFIER_assert" | "__CPROVER_assert" | "__ESBMC_assert" => Known::Assert,
            "printf" | "fprintf" | "puts" | "putchar" | "putc" | "fputc" | "fputs" | "perror" | "fflush" => {
                Known::Output
            }
            "abs" | "__builtin_abs" => Known::Absolute(IntType::INT),
            "labs" | "__builtin_labs" => Known::Absolute(IntType::long(model, true)),
            "llabs" | "__builtin_llabs" => Known::Absolute(IntType::long_long(true)),
            "__builtin_expect" | "__builtin_expect_with_probability" => Known::First,
            "setjmp" | "_setjmp" | "sigsetjmp" | "longjmp" | "siglongjmp" => {
                Known::Refused("it jumps out of functions")
            }
            "pthread_create" | "thrd_create" | "fork" => Known::Refused("it starts a second thread"),
            "asm" | "__asm" | "__asm__" => Known::Refused("it is inline assembly"),
            "signal" | "sigaction" | "sigset" | "bsd_signal" | "atexit" | "at_quick_exit" | "on_exit" => {
                Known::Refused("it calls functions later")
            }
            "_Pragma" => Known::Refused("it is a pragma"),
            "alloca" | "vfork" | "clone" => Known::Refused("it changes the stack"),
            _ if name.starts_with("__builtin_") || name.starts_with("__sync_") || name.starts_with("__atomic_") => {
                Known::Refused("it is a built-in function of the compiler that is not known here")
            }
            _ => return None,
        })
    }

    /// The type that a call returns.
    pub fn call_type(&mut self, call: &Node<CallExpression>) -> Lowered<CType> {
        let name = self.callee(call)?;
        Ok(match self.known(&name) {
            Some(Known::Nondet(ty) | Known::Absolute(ty)) => CType::Int(ty),
            Some(Known::Output) => CType::Int(IntType::INT),
            Some(Known::First) => CType::Int(IntType::long(self.options.data_model, true)),
            Some(_) => CType::Void,
            None => self.unit.result_of(&name).unwrap_or(CType::Int(IntType::INT)),
        })
    }

    fn callee(&mut self, call: &Node<CallExpression>) -> Lowered<String> {
        let callee = &call.node.callee;
        let Expression::Identifier(i) = &callee.node else {
            return self.error(callee.span, "calls through pointers are not supported");
        };
        let name = i.node.name.clone();
        match self.lookup(&name) {
            None | Some(Name::Global) => match self.unit.globals.get(name.as_str()) {
                Some(global) => {
                    let ty = global.ty.clone();
                    self.refuse(callee.span, &name, &ty)
                }
                None => match self.unit.attributes.get(&name).and_then(|a| a.odd_for_function(&name)) {
                    Some(odd) => {
                        let message = format!("`{name}` has the attribute `{odd}`, which is not supported");
                        self.error(callee.span, message)
                    }
                    None => Ok(name),
                },
            },
            Some(Name::Odd(ty)) => {
                let ty = ty.clone();
                self.refuse(callee.span, &name, &ty)
            }
            Some(_) => self.error(callee.span, format!("`{name}` is not a function")),
        }
    }

    /// If this is a call that gives any value of a type and does nothing else: the type.
    pub fn arbitrary_call(&self, e: &Node<Expression>) -> Option<IntType> {
        let Expression::Call(call) = &e.node else { return None };
        let Expression::Identifier(i) = &call.node.callee.node else { return None };
        let name = &i.node.name;
        // Whoever refuses the attribute does not come here.
        if self.unit.attributes.get(name).is_some_and(|a| a.odd_for_function(name).is_some()) {
            return None;
        }
        match self.known(&i.node.name) {
            Some(Known::Nondet(ty)) if call.node.arguments.is_empty() => Some(ty),
            _ => None,
        }
    }

    /// A call, and its value if it has one and it is wanted.
    pub fn call(&mut self, call: &Node<CallExpression>, wanted: bool) -> Lowered<Option<Val>> {
        let name = self.callee(call)?;
        let args = &call.node.arguments;
        let span = call.span;
        match self.known(&name) {
            Some(Known::Error) => {
                let text = match args.first().and_then(string_of) {
                    Some(text) => format!("assert({})", shortened(&String::from_utf8_lossy(&text))),
                    None => format!("{name}()"),
                };
                args.iter().filter(|a| is_impure(a)).try_for_each(|a| self.effect(a))?;
                let to = self.refuted(span, text);
                self.jump(to, span);
                Ok(None)
            }
            Some(Known::Unreachable) => {
                let check = self.check(Kind::Return, span, |_| format!("`{name}` is reached"));
                let to = check.map_or(self.end, |check| self.failure(check));
                self.jump(to, span);
                Ok(None)
            }
            Some(Known::End) => {
                args.iter().filter(|a| is_impure(a)).try_for_each(|a| self.effect(a))?;
                self.jump(self.end, span);
                Ok(None)
            }
            Some(known @ (Known::Assume | Known::Assert)) => {
                let [condition, ..] = &args[..] else {
                    return self.error(span, format!("`{name}` needs a condition"));
                };
                let after = self.location(span);
                if known == Known::Assume {
                    // What does not satisfy the assumption is no run.
                    let blocked = self.location(span);
                    self.branch(condition, after, blocked)?;
                } else {
                    let text = self.snippet(span);
                    let other = self.refuted(span, text);
                    self.branch(condition, after, other)?;
                }
                self.at = Some(after);
                Ok(None)
            }
            Some(Known::Nondet(ty)) => {
                args.iter().try_for_each(|a| self.effect(a))?;
                Ok(wanted.then(|| self.any(ty, span)))
            }
            Some(Known::Output) => {
                args.iter().filter(|a| is_impure(a)).try_for_each(|a| self.effect(a))?;
                Ok(wanted.then(|| self.any(IntType::INT, span)))
            }
            Some(Known::Absolute(ty)) => {
                let [x] = &args[..] else { return self.error(span, format!("`{name}` needs one argument")) };
                let v = self.value(x)?;
                let v = self.convert(v, ty);
                let x = self.plain(v);
                let zero = self.number(ty, 0);
                self.no_overflow(Operation::Subtract, ty, zero, x, span);
                let terms = self.terms();
                let (negative, minus) = (terms.lt(x, zero), terms.neg(x));
                Ok(Some(Val { term: terms.ite(negative, minus, x), ty }))
            }
            Some(Known::First) => {
                let Some((x, rest)) = args.split_first() else {
                    return self.error(span, format!("`{name}` needs arguments"));
                };
                let v = self.value(x)?;
                let v = self.convert(v, IntType::long(self.options.data_model, true));
                if rest.iter().any(is_impure) {
                    return self.error(span, "the second argument must be a constant");
                }
                Ok(Some(v))
            }
            Some(Known::Refused(why)) => self.error(span, format!("`{name}` is not supported: {why}")),
            None => match self.unit.functions.get(name.as_str()).copied() {
                Some(function) => match self.inline(function, args, span, wanted)? {
                    Some(place) if matches!(place.ty, CType::Int(_)) => self.load(&place, span).map(Some),
                    Some(place) if wanted => self.integer_of(&place, span).map(|_| None),
                    _ => Ok(None),
                },
                None => self.unknown(&name, args, span, wanted),
            },
        }
    }

    /// A call of a function with a body: where its result is.
    pub fn call_place(&mut self, call: &Node<CallExpression>) -> Lowered<Option<Place>> {
        let name = self.callee(call)?;
        let function = match self.known(&name) {
            None => self.unit.functions.get(name.as_str()).copied(),
            Some(_) => None,
        };
        match function {
            Some(function) => self.inline(function, &call.node.arguments, call.span, true),
            None => {
                let ty = self.call_type(call)?;
                let message = format!("`{name}` has no body here, and returns {}", ty.describe());
                self.error(call.span, message)
            }
        }
    }

    /// Does the function that is being read change this variable of its own?
    pub fn changed_here(&mut self, name: &str) -> bool {
        let function = self.stack.last().and_then(|f| self.unit.functions.get(f).copied());
        function.is_none_or(|f| self.changes(f, name))
    }

    fn changes(&mut self, f: Function<'a>, name: &str) -> bool {
        let known = self.changed.entry(f.name).or_insert_with(|| Rc::new(changed(f.body)));
        known.contains(name)
    }

    /// Any value of a type.
    fn any(&mut self, ty: IntType, span: CSpan) -> Val {
        let v = self.temporary(ty.variable(self.ints()));
        let stmt = self.arbitrary(v, &CType::Int(ty));
        self.emit(stmt, span);
        Val { term: self.terms().var(v), ty }
    }

    /// A function without a body.
    fn unknown(&mut self, name: &str, args: &[Node<Expression>], span: CSpan, wanted: bool) -> Lowered<Option<Val>> {
        for a in args {
            match self.type_of(a)? {
                CType::Int(_) => self.value(a).map(|_| ())?,
                _ if matches!(a.node, Expression::StringLiteral(_)) => {}
                CType::Void => return self.error(a.span, "this has no value (it is `void`)"),
                ty => {
                    let message =
                        format!("`{name}` has no body here, and might change what it is handed: {}", ty.describe());
                    return self.error(a.span, message);
                }
            }
        }
        self.flush(span);
        if self.asks(Kind::Call) {
            let text = |_: &Self| format!("`{name}` has no body: it may do anything");
            if let (Some(check), Some(from)) = (self.check(Kind::Call, span, text), self.at) {
                let (to, skip) = (self.failure(check), self.terms().skip());
                self.edge(from, skip, to, span);
            }
            if !self.bodiless.iter().any(|known| known == name) {
                self.bodiless.push(name.to_string());
            }
            self.anything(span);
        } else {
            self.warn(span, format!("`{name}` has no body: it is taken to return any value and to change nothing"));
        }
        if self.unit.never_returns(name) {
            // Whatever it does, what stands behind it is not reached.
            self.jump(self.end, span);
        }
        match self.unit.result_of(name).unwrap_or(CType::Int(IntType::INT)) {
            CType::Void => Ok(None),
            CType::Int(ty) => Ok(wanted.then(|| self.any(ty, span))),
            _ if !wanted => Ok(None),
            ty => self.error(span, format!("`{name}` returns {}, which is not supported here", ty.describe())),
        }
    }

    /// The body of a function in place of a call.
    pub fn inline(
        &mut self,
        function: Function<'a>,
        args: &[Node<Expression>],
        span: CSpan,
        wanted: bool,
    ) -> Lowered<Option<Place>> {
        let name = function.name;
        if self.stack.contains(&name) {
            return self.complain(
                span,
                format!("`{name}` calls itself: recursion is not supported"),
                Some("functions are inlined, so the calls must come to an end; write a loop"),
            );
        }
        if self.too_large() {
            return Ok(None);
        }
        let Signature { parameters, result } = self.signature(function)?;
        if function.variadic {
            return self.error(span, format!("`{name}` takes variable arguments, which are not supported"));
        }
        if args.len() != parameters.len() && !(parameters.is_empty() && function.unspecified) {
            let message = format!("`{name}` takes {} arguments, not {}", parameters.len(), args.len());
            return self.error(span, message);
        }
        let mut handed = vec![];
        for (k, a) in args.iter().enumerate() {
            let later = args[k + 1..].iter().any(is_impure);
            let Some(parameter) = parameters.get(k) else {
                self.effect(a)?;
                continue;
            };
            let mut leaves = match &parameter.ty {
                CType::Int(ty) => {
                    let v = self.value(a)?;
                    let v = self.convert(v, *ty);
                    vec![self.plain(v)]
                }
                CType::Pointer(to) => {
                    if !self.changes(function, &parameter.name)
                        && let Some(place) = self.seen(a)?
                    {
                        if place.ty != **to {
                            return self.error(a.span, "this is a pointer to another type than the parameter is");
                        }
                        self.can_point(&place, a.span);
                        handed.push(Argument::Reference(self.steadied(place, a.span)));
                        continue;
                    }
                    if self.leaves(&parameter.ty).is_none() {
                        return self.unfit(a.span, &parameter.name, &parameter.ty);
                    }
                    vec![self.pointer(a, Some(to))?.0]
                }
                CType::Struct(_) => self.structure_of(a, &parameter.ty)?,
                ty => return self.unfit(a.span, &parameter.name, ty),
            };
            if later {
                for term in &mut leaves {
                    *term = self.save(*term, a.span);
                }
            }
            handed.push(Argument::Value(leaves));
        }
        // From here on the names are those of the function.
        let mark = self.mark();
        let mut scope = Scope::default();
        let mut automatic = vec![];
        for (parameter, argument) in parameters.iter().zip(handed) {
            let meaning = match argument {
                Argument::Reference(place) => Name::Reference(place),
                Argument::Value(leaves) => {
                    let variable = format!("{name}::{}", parameter.name);
                    let object = self.local_object(parameter.span.start, &variable, &parameter.ty)?;
                    for (var, value) in object.vars.iter().zip(leaves) {
                        let stmt = self.terms().assign(*var, value);
                        self.emit(stmt, span);
                    }
                    automatic.push(object.clone());
                    Name::Variable(object)
                }
            };
            scope.names.insert(parameter.name.clone(), meaning);
        }
        let result = match (&result, self.results.get(name)) {
            (CType::Void, _) => None,
            (_, Some(object)) => Some(object.clone()),
            (ty, None) => match self.object(&format!("{name}::return"), ty, Key::Temporary) {
                Some(object) => {
                    self.results.insert(name, object.clone());
                    Some(object)
                }
                None => {
                    let message = format!("`{name}` returns {}, which is not supported here", ty.describe());
                    return self.error(span, message);
                }
            },
        };
        let after = self.location(span);
        let mut frame = Frame::new(scope, after);
        (frame.declared, frame.wanted) = (automatic.clone(), wanted);
        (frame.automatic, frame.result) = (automatic, result.clone());
        let outer = std::mem::replace(&mut self.frame, frame);
        self.stack.push(name);
        self.flush(span);
        let body = self.body(function.body);
        self.stack.pop();
        let inner = std::mem::replace(&mut self.frame, outer);
        self.release(mark);
        body?;
        self.at = Some(after);
        self.end_of(&inner.declared, span);
        Ok(result.map(Place::whole))
    }

    fn unfit<T>(&mut self, span: CSpan, name: &str, ty: &CType) -> Lowered<T> {
        self.error(span, format!("`{name}` is {}, which cannot be handed over like this", ty.describe()))
    }
}
