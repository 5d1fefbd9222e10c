//! Statements, and the frame of the function they stand in.

use lang_c::ast::{
    BlockItem, Expression, ForInitializer, ForStatement, IfStatement, Label, LabeledStatement, Statement,
    SwitchStatement,
};
use lang_c::span::{Node, Span as CSpan};
use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::StmtId;
use trellis_model::cfa::LocationId;

use super::checks::Kind;
use super::decl::{Name, Scope, declared_name};
use super::lower::{Lower, Lowered, Val};
use super::place::Place;
use super::structs::Object;
use super::types::CType;

/// The local variables that are alive somewhere.
pub type Automatic = Vec<Object>;

/// What there is once for each function that is being inlined.
#[derive(Debug, Default)]
pub struct Frame {
    pub scopes: Vec<Scope>,
    pub automatic: Automatic,
    /// All variables that were declared in it, alive or not.
    pub declared: Automatic,
    /// Is the result used?
    pub wanted: bool,
    /// Where the result goes.
    pub result: Option<Object>,
    /// Where control goes in the end.
    pub after: Option<LocationId>,
    labels: FxHashMap<String, (LocationId, Automatic)>,
    gotos: Vec<Goto>,
    /// Where `break` and `continue` go, and how many variables are alive there.
    targets: Vec<(LocationId, Option<LocationId>, usize)>,
    switches: Vec<Switch>,
}

#[derive(Debug)]
struct Goto {
    from: LocationId,
    label: String,
    automatic: Automatic,
    span: CSpan,
}

#[derive(Debug, Default)]
struct Switch {
    /// From, to, and where.
    cases: Vec<(i128, i128, LocationId, Automatic, CSpan)>,
    default: Option<(LocationId, Automatic)>,
}

impl Frame {
    /// The frame of a function with these names, which ends there.
    pub fn new(names: Scope, after: LocationId) -> Frame {
        Frame { scopes: vec![names], after: Some(after), ..Frame::default() }
    }
}

/// Is the variable one of these?
fn contains(all: &Automatic, object: &Object) -> bool {
    all.iter().any(|other| other.key == object.key)
}

impl Lower<'_> {
    /// The body of a function, up to where control goes after it.
    pub fn body(&mut self, body: &Node<Statement>) -> Lowered<()> {
        let done = self.statement(body);
        let end = CSpan::span(body.span.end.saturating_sub(1), body.span.end);
        self.never_returns(end);
        if let Some(result) = self.frame.result.clone()
            && self.at.is_some()
        {
            self.no_result(&result, end);
        }
        if let Some(after) = self.frame.after {
            self.jump(after, body.span);
        }
        for goto in std::mem::take(&mut self.frame.gotos) {
            let Some((to, automatic)) = self.frame.labels.get(&goto.label).cloned() else {
                self.error::<()>(goto.span, format!("there is no label `{}` in this function", goto.label))?;
                continue;
            };
            let ended: Automatic = goto.automatic.iter().filter(|o| !contains(&automatic, o)).cloned().collect();
            self.at = Some(goto.from);
            self.end_of(&ended, goto.span);
            let stmt = self.jumped_over(&goto.automatic, &automatic);
            self.leave(stmt, to, goto.span);
        }
        done
    }

    /// Control is at the end of a function, or at a `return`: it must not be one that is declared not to return (C11 6.7.4).
    fn never_returns(&mut self, span: CSpan) {
        let Some(name) = self.stack.last().copied().filter(|_| self.at.is_some()) else { return };
        if !self.unit.never_returns(name) {
            return;
        }
        self.flush(span);
        let check = self.check(Kind::Return, span, |_| format!("`{name}` returns, and is declared not to"));
        let to = check.map_or(self.end, |check| self.failure(check));
        self.jump(to, span);
    }

    /// A function ends without `return`: its result is anything, and must not be used (C11 6.9.1).
    fn no_result(&mut self, result: &Object, span: CSpan) {
        let check = match self.frame.wanted {
            true => {
                let name = self.stack.last().copied().unwrap_or_default();
                self.check(Kind::Return, span, |_| format!("`{name}` ends without a value, which is used"))
            }
            false => None,
        };
        match check {
            Some(check) => {
                let to = self.failure(check);
                self.jump(to, span);
            }
            None => {
                let stmt = self.arbitrary_object(result);
                self.emit(stmt, span);
            }
        }
    }

    /// Variables whose declaration a jump passes over have any value.
    fn jumped_over(&mut self, from: &Automatic, to: &Automatic) -> StmtId {
        let mut havocs = vec![];
        for object in to {
            if !contains(from, object) {
                havocs.push(self.unset_again(object));
            }
        }
        self.terms().seq(havocs)
    }

    pub fn statement(&mut self, s: &Node<Statement>) -> Lowered<()> {
        self.here = s.span;
        match &s.node {
            Statement::Labeled(l) => self.labeled(&l.node, s.span),
            Statement::Compound(items) => self.block(items),
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(e)) => self.full(e, Lower::effect),
            Statement::If(i) => self.if_else(&i.node, s.span),
            Statement::Switch(w) => self.switch(&w.node, s.span),
            Statement::While(w) => {
                let [head, body, exit] = [(); 3].map(|()| self.location(s.span));
                self.jump(head, s.span);
                self.at = Some(head);
                self.branch(&w.node.expression, body, exit)?;
                self.at = Some(body);
                self.repeated(&w.node.statement, exit, head)?;
                self.jump(head, s.span);
                self.at = Some(exit);
                Ok(())
            }
            Statement::DoWhile(w) => {
                let [head, test, exit] = [(); 3].map(|()| self.location(s.span));
                self.jump(head, s.span);
                self.at = Some(head);
                self.repeated(&w.node.statement, exit, test)?;
                self.jump(test, s.span);
                self.at = Some(test);
                self.branch(&w.node.expression, head, exit)?;
                self.at = Some(exit);
                Ok(())
            }
            Statement::For(f) => {
                self.frame.scopes.push(Scope::default());
                let before = self.frame.automatic.len();
                let done = self.for_loop(&f.node, s.span);
                self.end_from(before, s.span);
                self.frame.automatic.truncate(before);
                self.frame.scopes.pop();
                done
            }
            Statement::Goto(label) => {
                self.flush(s.span);
                if let Some(from) = self.at.take() {
                    let automatic = self.frame.automatic.clone();
                    let goto = Goto { from, label: label.node.name.clone(), automatic, span: s.span };
                    self.frame.gotos.push(goto);
                }
                Ok(())
            }
            Statement::Break => match self.frame.targets.last() {
                Some(&(exit, _, alive)) => {
                    self.end_from(alive, s.span);
                    self.jump(exit, s.span);
                    Ok(())
                }
                None => self.error(s.span, "`break` outside a loop or switch"),
            },
            Statement::Continue => match self.frame.targets.iter().rev().find_map(|t| Some((t.1?, t.2))) {
                Some((head, alive)) => {
                    self.end_from(alive, s.span);
                    self.jump(head, s.span);
                    Ok(())
                }
                None => self.error(s.span, "`continue` outside a loop"),
            },
            Statement::Return(e) => self.give_back(e.as_deref(), s.span),
            Statement::Asm(_) => self.error(s.span, "inline assembly is not supported"),
        }
    }

    /// A full expression: its temporaries are free afterwards.
    fn full(
        &mut self,
        e: &Node<Expression>,
        f: impl FnOnce(&mut Self, &Node<Expression>) -> Lowered<()>,
    ) -> Lowered<()> {
        let mark = self.mark();
        let done = f(self, e);
        self.flush(e.span);
        self.release(mark);
        done
    }

    fn block(&mut self, items: &[Node<BlockItem>]) -> Lowered<()> {
        self.frame.scopes.push(Scope::default());
        let before = self.frame.automatic.len();
        let done = self.items(items);
        if let Some(last) = items.last() {
            self.end_from(before, last.span);
        }
        self.frame.automatic.truncate(before);
        self.frame.scopes.pop();
        done
    }

    /// After a mistake in one item, the others are still looked at.
    fn items(&mut self, items: &[Node<BlockItem>]) -> Lowered<()> {
        let mut all = Ok(());
        for item in items {
            let done = match &item.node {
                BlockItem::Declaration(d) => {
                    self.here = d.span;
                    self.local_declaration(d)
                }
                BlockItem::StaticAssert(a) => self.static_assert(a),
                BlockItem::Statement(s) => self.statement(s),
            };
            if let Err(reported) = done {
                all = Err(reported);
                if self.errors.stopped() {
                    break;
                }
                self.defs.clear();
                self.at = Some(self.location(item.span));
            }
        }
        all
    }

    fn labeled(&mut self, l: &LabeledStatement, span: CSpan) -> Lowered<()> {
        let here = self.location(l.label.span);
        self.jump(here, span);
        self.at = Some(here);
        let automatic = self.frame.automatic.clone();
        match &l.label.node {
            Label::Identifier(name) => {
                let name = name.node.name.clone();
                self.cfa.location_mut(here).name.push_str(&format!("_{name}"));
                if self.frame.labels.insert(name.clone(), (here, automatic)).is_some() {
                    return self.error(l.label.span, format!("there are two labels `{name}` in this function"));
                }
            }
            Label::Default => match self.frame.switches.last_mut() {
                Some(switch) if switch.default.is_none() => switch.default = Some((here, automatic)),
                Some(_) => return self.error(l.label.span, "there are two `default` labels in this switch"),
                None => return self.error(l.label.span, "`default` outside a switch"),
            },
            label => {
                let what = "the value of a case";
                let (from, to) = match label {
                    Label::CaseRange(r) => {
                        (self.constant_of(&r.node.low, what)?, self.constant_of(&r.node.high, what)?)
                    }
                    Label::Case(e) => {
                        let n = self.constant_of(e, what)?;
                        (n, n)
                    }
                    _ => return Ok(()),
                };
                match self.frame.switches.last_mut() {
                    Some(switch) => switch.cases.push((from, to, here, automatic, l.label.span)),
                    None => return self.error(l.label.span, "`case` outside a switch"),
                }
            }
        }
        self.statement(&l.statement)
    }

    fn if_else(&mut self, i: &IfStatement, span: CSpan) -> Lowered<()> {
        let [yes, no] = [(); 2].map(|()| self.location(span));
        let after = if i.else_statement.is_some() { self.location(span) } else { no };
        self.branch(&i.condition, yes, no)?;
        self.at = Some(yes);
        let first = self.statement(&i.then_statement);
        self.jump(after, span);
        self.at = Some(no);
        let second = match &i.else_statement {
            Some(s) => {
                let done = self.statement(s);
                self.jump(after, span);
                done
            }
            None => Ok(()),
        };
        self.at = Some(after);
        first.and(second)
    }

    /// The body of a loop.
    fn repeated(&mut self, body: &Node<Statement>, exit: LocationId, next: LocationId) -> Lowered<()> {
        self.frame.targets.push((exit, Some(next), self.frame.automatic.len()));
        let done = self.statement(body);
        self.frame.targets.pop();
        done
    }

    fn for_loop(&mut self, f: &ForStatement, span: CSpan) -> Lowered<()> {
        match &f.initializer.node {
            ForInitializer::Expression(e) => self.full(e, Lower::effect)?,
            ForInitializer::Declaration(d) => self.local_declaration(d)?,
            ForInitializer::Empty => {}
            ForInitializer::StaticAssert(a) => self.static_assert(a)?,
        }
        let [head, body, next, exit] = [(); 4].map(|()| self.location(span));
        self.jump(head, span);
        self.at = Some(head);
        match &f.condition {
            Some(c) => self.branch(c, body, exit)?,
            None => self.jump(body, span),
        }
        self.at = Some(body);
        self.repeated(&f.statement, exit, next)?;
        self.jump(next, span);
        self.at = Some(next);
        if let Some(step) = &f.step {
            self.full(step, Lower::effect)?;
        }
        self.jump(head, span);
        self.at = Some(exit);
        Ok(())
    }

    fn switch(&mut self, w: &SwitchStatement, span: CSpan) -> Lowered<()> {
        let mark = self.mark();
        let v = self.value(&w.expression)?;
        let v = self.convert(v, v.ty.promoted());
        let term = self.plain(v);
        self.flush(w.expression.span);
        let head = self.at.take();
        let exit = self.location(span);
        let automatic = self.frame.automatic.clone();
        self.frame.switches.push(Switch::default());
        self.frame.targets.push((exit, None, automatic.len()));
        let done = self.statement(&w.statement);
        self.frame.targets.pop();
        let switch = self.frame.switches.pop().unwrap_or_default();
        self.jump(exit, span);
        self.at = Some(exit);
        self.release(mark);
        done?;
        let Some(head) = head else { return Ok(()) };
        let mut seen = FxHashSet::default();
        let mut others = vec![];
        for (from, to, at, alive, label) in switch.cases {
            let [low, high] = [from, to].map(|n| self.number(v.ty, n));
            let terms = self.terms();
            let is = if from == to {
                terms.eq(term, low)
            } else {
                let (a, b) = (terms.le(low, term), terms.le(term, high));
                terms.and([a, b])
            };
            if !seen.insert(is) && terms.as_bool(is).is_none() {
                return self.error(label, "this case stands there twice");
            }
            others.push(terms.not(is));
            self.case(head, is, at, (&automatic, &alive), label);
        }
        let none = self.terms().and(others);
        match switch.default {
            Some((at, alive)) => self.case(head, none, at, (&automatic, &alive), span),
            None => self.case(head, none, exit, (&automatic, &automatic), span),
        }
        Ok(())
    }

    fn case(
        &mut self,
        head: LocationId,
        condition: trellis_expr::TermId,
        at: LocationId,
        (before, alive): (&Automatic, &Automatic),
        span: CSpan,
    ) {
        let havoc = self.jumped_over(before, alive);
        let terms = self.terms();
        if terms.as_bool(condition) == Some(false) {
            return;
        }
        let assume = terms.assume(condition);
        let stmt = terms.seq([assume, havoc]);
        self.edge(head, stmt, at, span);
    }

    fn give_back(&mut self, e: Option<&Node<Expression>>, span: CSpan) -> Lowered<()> {
        let mark = self.mark();
        let Some(after) = self.frame.after else { return Ok(()) };
        let stmt = match (self.frame.result.clone(), e) {
            (Some(result), Some(e)) => match result.ty.clone() {
                CType::Int(ty) if self.arbitrary_call(e) == Some(ty) => self.arbitrary_object(&result),
                CType::Struct(_) => {
                    self.assign_structure(&Place::whole(result), e, span)?;
                    self.terms().skip()
                }
                ty => {
                    let value = match &ty {
                        CType::Pointer(to) => self.pointer(e, Some(to))?.0,
                        CType::Int(int) => {
                            let value = self.value(e)?;
                            let value = self.convert(value, *int);
                            self.plain(value)
                        }
                        ty => return self.error(e.span, format!("{} cannot be returned", ty.describe())),
                    };
                    match result.vars.first() {
                        Some(&v) => self.terms().assign(v, value),
                        None => self.terms().skip(),
                    }
                }
            },
            (Some(result), None) => {
                self.no_result(&result, span);
                self.terms().skip()
            }
            (None, Some(e)) => {
                // The value of `main` is used by whoever runs the program.
                let plain = matches!(e.node, Expression::Call(_) | Expression::Identifier(_));
                let used = self.stack.len() == 1 && plain && matches!(self.type_of(e)?, CType::Int(_));
                if used {
                    self.value(e).map(|_| ())?
                } else {
                    self.effect(e)?
                }
                self.terms().skip()
            }
            (None, None) => self.terms().skip(),
        };
        self.never_returns(span);
        self.leave(stmt, after, span);
        self.release(mark);
        Ok(())
    }

    // GNU's statements in parentheses.

    pub fn statement_expression(&mut self, s: &Node<Statement>, wanted: bool) -> Lowered<Option<Val>> {
        let Statement::Compound(items) = &s.node else { return self.statement(s).map(|()| None) };
        let Some((last, before)) = items.split_last() else { return Ok(None) };
        self.frame.scopes.push(Scope::default());
        let alive = self.frame.automatic.len();
        let done = self.items(before).and_then(|()| match &last.node {
            BlockItem::Statement(Node { node: Statement::Expression(Some(e)), .. }) => {
                if wanted && self.type_of(e)? != CType::Void {
                    // Its variables may be used again before the value is.
                    let v = self.value(e)?;
                    Ok(Some(Val { term: self.save(v.term, e.span), ty: v.ty }))
                } else {
                    self.effect(e).map(|()| None)
                }
            }
            _ => self.items(std::slice::from_ref(last)).map(|()| None),
        });
        self.end_from(alive, s.span);
        self.frame.automatic.truncate(alive);
        self.frame.scopes.pop();
        done
    }

    pub fn statement_type(&mut self, s: &Node<Statement>) -> Lowered<CType> {
        let Statement::Compound(items) = &s.node else { return Ok(CType::Void) };
        self.frame.scopes.push(Scope::default());
        let mut ty = Ok(CType::Void);
        for item in items {
            match &item.node {
                BlockItem::Declaration(d) => ty = self.declare_types(d).map(|()| CType::Void),
                BlockItem::Statement(Node { node: Statement::Expression(Some(e)), .. }) => ty = self.type_of(e),
                _ => ty = Ok(CType::Void),
            }
            if ty.is_err() {
                break;
            }
        }
        self.frame.scopes.pop();
        ty
    }

    /// Takes note of the types of the variables only.
    fn declare_types(&mut self, d: &Node<lang_c::ast::Declaration>) -> Lowered<()> {
        let specified = self.specified(&d.node.specifiers)?;
        for declarator in &d.node.declarators {
            let declarator = &declarator.node.declarator.node;
            if let Some((name, _)) = declared_name(declarator) {
                let ty = self.derived_type(specified.ty.clone(), declarator)?;
                self.bind(name, Name::Odd(ty));
            }
        }
        Ok(())
    }
}
