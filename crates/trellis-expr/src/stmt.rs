//! Statements over terms: how they are made. What they are stands beside the arena that holds them, in [`crate::term`].

#[cfg(debug_assertions)]
use crate::term::Type;
use crate::term::{FnId, TermId, Terms, VarId};
pub use crate::term::{Stmt, StmtId};

impl Terms {
    /// The statement behind an id.
    pub fn stmt(&self, s: StmtId) -> &Stmt {
        &self.stmts[s.index()]
    }

    /// How deeply the statement is nested, the terms in it included.
    pub fn stmt_depth(&self, s: StmtId) -> u32 {
        self.stmt_depths[s.index()]
    }

    /// Interns a statement as it is.
    ///
    /// # Panics
    ///
    /// In debug builds if the statement is ill-typed.
    pub fn intern_stmt(&mut self, s: Stmt) -> StmtId {
        if let Some(&id) = self.stmt_ids.get(&s) {
            return id;
        }
        #[cfg(debug_assertions)]
        if let Err(why) = self.check_stmt(&s) {
            panic!("ill-typed statement: {why} in {s:?}");
        }
        let id = StmtId(self.stmts.len() as u32);
        let depth = 1 + match s {
            Stmt::Skip | Stmt::Havoc(_) => 0,
            Stmt::Assume(t) | Stmt::Assign(_, t) => self.depth(t),
            Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => {
                parts.iter().map(|&p| self.stmt_depth(p)).max().unwrap_or(0)
            }
            Stmt::If(c, a, b) => self.depth(c).max(self.stmt_depth(a)).max(self.stmt_depth(b)),
            Stmt::While(c, body) => self.depth(c).max(self.stmt_depth(body)),
            Stmt::Foreign(_, ref args) => args.iter().map(|&t| self.depth(t)).max().unwrap_or(0),
        };
        self.stmt_depths.push(depth);
        self.stmts.push(s.clone());
        self.stmt_ids.insert(s, id);
        id
    }

    #[cfg(debug_assertions)]
    fn check_stmt(&self, s: &Stmt) -> Result<(), &'static str> {
        let array = |&t: &TermId| matches!(self.ty(t), Type::Array(..));
        match *s {
            Stmt::Assume(t) | Stmt::If(t, ..) | Stmt::While(t, _) if self.ty(t) != Type::Bool => {
                Err("a condition that is no truth value")
            }
            Stmt::Assign(v, t) if self.sort(self.variable(v).ty) != self.ty(t) => Err("a value of another type"),
            Stmt::Foreign(_, ref args) if args.iter().any(array) => Err("an array as a foreign argument"),
            _ => Ok(()),
        }
    }

    /// Does nothing.
    pub fn skip(&mut self) -> StmtId {
        self.intern_stmt(Stmt::Skip)
    }

    /// `v := t`.
    pub fn assign(&mut self, v: VarId, t: TermId) -> StmtId {
        self.intern_stmt(Stmt::Assign(v, t))
    }

    /// One after the other, flattened.
    pub fn seq(&mut self, parts: impl IntoIterator<Item = StmtId>) -> StmtId {
        let mut flat = Vec::new();
        for p in parts {
            match self.stmt(p) {
                Stmt::Skip => {}
                Stmt::Seq(inner) => flat.extend(inner.iter().copied()),
                _ => flat.push(p),
            }
        }
        match flat.len() {
            0 => self.skip(),
            1 => flat[0],
            _ => self.intern_stmt(Stmt::Seq(flat.into())),
        }
    }

    /// Deterministic choice.
    pub fn branch(&mut self, c: TermId, a: StmtId, b: StmtId) -> StmtId {
        match self.as_bool(c) {
            Some(true) => a,
            Some(false) => b,
            None if a == b && !self.may_fault(c) => a,
            None => self.intern_stmt(Stmt::If(c, a, b)),
        }
    }

    /// Blocks unless the term holds.
    pub fn assume(&mut self, t: TermId) -> StmtId {
        if self.as_bool(t) == Some(true) { self.skip() } else { self.intern_stmt(Stmt::Assume(t)) }
    }

    /// Gives the variable any value of its type.
    pub fn havoc(&mut self, v: VarId) -> StmtId {
        self.intern_stmt(Stmt::Havoc(v))
    }

    /// Any one of them, flattened. A choice between nothing blocks.
    pub fn choice(&mut self, parts: impl IntoIterator<Item = StmtId>) -> StmtId {
        let mut flat = Vec::new();
        for p in parts {
            match self.stmt(p) {
                Stmt::Choice(inner) => flat.extend(inner.iter().copied()),
                _ => flat.push(p),
            }
        }
        if flat.len() == 1 { flat[0] } else { self.intern_stmt(Stmt::Choice(flat.into())) }
    }

    /// Repeats the body as long as the term holds.
    pub fn repeat(&mut self, c: TermId, body: StmtId) -> StmtId {
        if self.as_bool(c) == Some(false) { self.skip() } else { self.intern_stmt(Stmt::While(c, body)) }
    }

    /// Calls a foreign procedure.
    pub fn call(&mut self, f: FnId, args: impl IntoIterator<Item = TermId>) -> StmtId {
        self.intern_stmt(Stmt::Foreign(f, args.into_iter().collect()))
    }
}
