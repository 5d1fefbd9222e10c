//! Executable content as statements.
//!
//! **Errors.** As W3C says: where an expression has no value (a division by zero, a value that is not in a variable's range),
//! `error.execution` is raised; a condition counts as false then, and what is left of a block of executable content is not done.

use trellis_expr::{StmtId, Type};

use super::events::{Message, Source};
use super::expr::{Expr, Node};
use super::lower::Lower;
use super::tree::{Action, Block, Payload};
use super::value::{Kind, Sym};

impl Lower<'_> {
    /// One block of executable content.
    pub fn block(&mut self, block: &Block) -> StmtId {
        let (stmt, may_fail) = self.actions(block);
        match self.failed {
            Some(failed) if may_fail => {
                let no = self.terms.bool(false);
                let reset = self.terms.assign(failed, no);
                self.terms.seq([stmt, reset])
            }
            _ => stmt,
        }
    }

    /// One after the other, until one fails; and whether one may.
    fn actions(&mut self, block: &Block) -> (StmtId, bool) {
        let made: Vec<(StmtId, bool)> = block.iter().map(|action| self.action(action)).collect();
        let mut rest = self.terms.skip();
        let mut may_fail = false;
        for (stmt, fails) in made.into_iter().rev() {
            if let (true, Some(failed)) = (fails, self.failed) {
                let (failed, skip) = (self.terms.var(failed), self.terms.skip());
                rest = self.terms.branch(failed, skip, rest);
            }
            rest = self.terms.seq([stmt, rest]);
            may_fail |= fails;
        }
        (rest, may_fail)
    }

    fn action(&mut self, action: &Action) -> (StmtId, bool) {
        match action {
            Action::Raise(event) => {
                let nothing = self.constant(Kind::Undefined);
                (self.enqueue(&Message::new(event, Source::Internal), &nothing), false)
            }
            Action::Send(send) => self.send(send),
            Action::Cancel(id) => self.cancel(id),
            Action::Assign { to, expr, create } => self.assign(to, expr, *create),
            Action::Declare(name) => (self.declare_now(name), false),
            Action::Log(expr) => {
                let quiet = std::mem::replace(&mut self.quiet, true);
                let (_, outcome) = self.value(expr);
                self.quiet = quiet;
                let (within, skip) = (self.terms.bool(true), self.terms.skip());
                self.when_known(super::types::Outcome { within, ..outcome }, skip)
            }
            Action::Foreach { array, item, index, body } => {
                self.foreach(array, item.as_deref(), index.as_deref(), body)
            }
            Action::If { branches, otherwise, script } => {
                let (mut stmt, mut may_fail) = self.actions(otherwise);
                for (cond, block) in branches.iter().rev() {
                    let (then, fails) = self.actions(block);
                    may_fail |= fails;
                    let always = self.terms.bool(true);
                    if *script {
                        let (truth, outcome) = self.evaluating(|l| {
                            let value = l.eval(cond, always);
                            l.truthy(&value)
                        });
                        let tried = self.terms.branch(truth, then, stmt);
                        let (known, fails) = self.when_known(outcome, tried);
                        (stmt, may_fail) = (known, may_fail | fails);
                        continue;
                    }
                    let (holds, error) = self.condition(cond, false);
                    let stmt_else = self.terms.seq([error, stmt]);
                    stmt = self.terms.branch(holds, then, stmt_else);
                }
                (stmt, may_fail)
            }
        }
    }

    /// Puts the value of an expression into a location.
    fn assign(&mut self, to: &Expr, expr: &Expr, create: bool) -> (StmtId, bool) {
        let always = self.terms.bool(true);
        let (put, outcome) = self.evaluating(|l| {
            let value = l.eval(expr, always);
            l.alone(&value, expr.span);
            l.put_into(to, value, create)
        });
        self.when_known(outcome, put)
    }

    /// Puts a value into a location; what is wrong is taken note of.
    pub fn put_into(&mut self, to: &Expr, value: Sym, create: bool) -> StmtId {
        let always = self.terms.bool(true);
        match &to.node {
            Node::Name(name) if !name.starts_with("_") || self.store(name).is_some() => {
                let Some(store) = self.store(name).cloned() else {
                    self.unknown_name(name, always, to.span);
                    return self.terms.skip();
                };
                if !create && let Some(&unbound) = self.read(&store).guards.get(&Kind::Unbound) {
                    self.fault(always, unbound);
                }
                self.fit(&store, &value, always, to.span);
                self.put(name, &store, &value)
            }
            Node::Member(base, field) => {
                let at = Expr::new(Node::Text(field.clone()), to.span);
                self.put_part(base, &at, value)
            }
            Node::Index(base, at) => self.put_part(base, at, value),
            _ => {
                self.warn(to.span, "nothing can be assigned here: this is `error.execution`");
                self.fault(always, always);
                self.terms.skip()
            }
        }
    }

    fn put_part(&mut self, base: &Expr, at: &Expr, value: Sym) -> StmtId {
        let always = self.terms.bool(true);
        let whole = self.eval(base, always);
        let changed = self.changed(&whole, at, &value, always);
        self.put_into(base, changed, false)
    }

    /// `var x`
    fn declare_now(&mut self, name: &str) -> StmtId {
        let (Some(store), undefined) = (self.store(name).cloned(), self.constant(Kind::Undefined)) else {
            return self.terms.skip();
        };
        let Some(&unbound) = self.read(&store).guards.get(&Kind::Unbound) else { return self.terms.skip() };
        let (put, skip) = (self.put(name, &store, &undefined), self.terms.skip());
        self.terms.branch(unbound, put, skip)
    }

    /// `<foreach>`: once for each element that the array has now.
    fn foreach(&mut self, array: &Expr, item: Option<&str>, index: Option<&str>, body: &Block) -> (StmtId, bool) {
        let always = self.terms.bool(true);
        let stores = |l: &Self, name: Option<&str>| name.and_then(|n| Some((n.to_string(), l.store(n)?.clone())));
        let (item, index) = (stores(self, item), stores(self, index));
        let (value, outcome) = self.evaluating(|l| {
            let value = l.eval(array, always);
            let no = l.terms.bool(false);
            let is_array = value.guards.get(&Kind::Array).copied().unwrap_or(no);
            let other = l.terms.not(is_array);
            l.fault(always, other);
            if item.is_none() {
                l.fault(always, always);
            }
            value.elements.iter().for_each(|element| l.alone(element, array.span));
            value
        });
        let (body, fails) = self.actions(body);
        let Some((name, store)) = item else { return self.when_known(outcome, body) };
        // What the body changes must not change what is gone through.
        let mut before = self.terms.skip();
        let mut value = value;
        let mut written = vec![];
        for v in store.all().into_iter().chain(index.iter().flat_map(|(_, s)| s.all())) {
            let none = self.none_of(v);
            written.push(self.terms.assign(v, none));
        }
        written.push(body);
        let all = self.terms.seq(written);
        let mut after = self.terms.skip();
        if self.changes(all, &value) {
            let copy = self.declare_store("copy", &value.shape());
            before = self.write(&copy, &value);
            value = self.read(&copy);
            after = self.move_data(&None, &Some(copy));
        }
        let mut rest = self.terms.skip();
        for (k, element) in value.elements.clone().iter().enumerate().rev() {
            let number = self.terms.int(k as i64);
            let within = value.len.map_or(always, |len| self.terms.lt(number, len));
            let (put, put_outcome) = self.evaluating(|l| {
                l.fit(&store, element, always, array.span);
                let mut put = vec![l.put(&name, &store, element)];
                if let Some((name, store)) = &index {
                    let number = l.integer(number);
                    l.fit(store, &number, always, array.span);
                    put.push(l.put(name, store, &number));
                }
                l.terms.seq(put)
            });
            let round = self.terms.seq([put, body]);
            let (round, put_fails) = self.when_known(put_outcome, round);
            if let (true, Some(failed)) = (fails || put_fails, self.failed) {
                let (failed, skip) = (self.terms.var(failed), self.terms.skip());
                rest = self.terms.branch(failed, skip, rest);
            }
            let (round, skip) = (self.terms.seq([round, rest]), self.terms.skip());
            rest = self.terms.branch(within, round, skip);
        }
        let stmt = self.terms.seq([before, rest, after]);
        let (stmt, not_array) = self.when_known(outcome, stmt);
        (stmt, fails || not_array || self.failed.is_some())
    }

    /// What an event carries.
    pub fn payload(&mut self, data: &Payload) -> Sym {
        let always = self.terms.bool(true);
        let value = match data {
            Payload::None => self.constant(Kind::Undefined),
            Payload::Content(e) => self.eval(e, always),
            Payload::Fields(fields) => {
                let fields = fields.iter().map(|(name, e)| (name.clone(), self.eval(e, always))).collect();
                Sym { fields, ..self.constant(Kind::Object) }
            }
        };
        if self.events.told {
            self.grown |= self.shapes.payload.join(&value.shape());
        }
        value
    }

    /// Something has no value: an error is raised, and the rest of the block is not done.
    pub fn fail(&mut self, id: Option<&str>) -> StmtId {
        let failed = match self.failed {
            Some(failed) => failed,
            None => self.declare("failed", Type::Bool, true),
        };
        self.failed = Some(failed);
        let (error, yes) = (self.enqueue_error(id), self.terms.bool(true));
        let fail = self.terms.assign(failed, yes);
        self.terms.seq([error, fail])
    }

    /// With late binding: what a state declares gets its value when that is entered for the first time.
    pub fn bind(&mut self, s: usize) -> StmtId {
        let tree = self.tree;
        let own: Vec<_> = tree.data.iter().filter(|d| tree.late && s != tree.main && d.state == s).collect();
        if own.is_empty() {
            return self.terms.skip();
        }
        let flag = match self.entered.get(&s) {
            Some(&flag) => flag,
            None => self.declare(&format!("entered {}", tree.states[s].name), Type::Bool, true),
        };
        self.entered.insert(s, flag);
        let mut parts: Vec<StmtId> = own.into_iter().map(|d| self.first_value(d)).collect();
        let (entered, yes, skip) = (self.terms.var(flag), self.terms.bool(true), self.terms.skip());
        parts.push(self.terms.assign(flag, yes));
        let bind = self.terms.seq(parts);
        self.terms.branch(entered, skip, bind)
    }
}
