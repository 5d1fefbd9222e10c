//! How large a model may grow while it is built. Functions are inlined, selects and quantifiers written out, so that a
//! short text can stand for an endless network; it is refused where it gets out of hand.

use rustc_hash::FxHashMap;
use trellis_expr::{Stmt, StmtId, TermId, Terms};

use super::{Builder, Reported, Res};
use crate::diag::{Diagnostic, Span};

/// How deep expressions, statements and the functions they call may nest, taken together. Where the address space is too small for the stack
/// which that needs, fewer levels must do.
pub(crate) const LEVELS: [u32; 3] = [4000, 1000, 250];

/// Of the stack on which a model is built, what a level may take.
pub(crate) const LEVEL: usize = 16 << 10;

/// How much may be done in all: expressions looked at, and the size of what they become once it is written out.
const MAX_WORK: u64 = 1 << 21;

/// How many cells all variables, constants and channels may have together.
const MAX_CELLS: i64 = 1 << 20;

/// What has been used up so far.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    depth: u32,
    /// How deep it may become.
    pub levels: u32,
    work: u64,
    cells: i64,
    /// What stands outermost of what is being looked at.
    outermost: Option<Span>,
    /// Too much of something: nothing is built any more.
    pub exhausted: bool,
    /// How large each term is when nothing in it is shared: that is how it is compiled.
    terms: Vec<u64>,
    stmts: FxHashMap<StmtId, u64>,
}

impl Limits {
    /// The size of a term, written out.
    pub fn term(&mut self, terms: &Terms, t: TermId) -> u64 {
        // Sub-terms are older than what they are part of.
        for i in self.terms.len()..=t.index() {
            let parts = terms.children(TermId(i as u32));
            let size = parts.iter().fold(1u64, |sum, p| sum.saturating_add(self.terms[p.index()]));
            self.terms.push(size);
        }
        self.terms[t.index()]
    }

    /// The size of a statement, written out.
    fn stmt(&mut self, terms: &Terms, s: StmtId) -> u64 {
        if let Some(&size) = self.stmts.get(&s) {
            return size;
        }
        let below = match *terms.stmt(s) {
            Stmt::Skip | Stmt::Havoc(_) => 0,
            Stmt::Assume(t) | Stmt::Assign(_, t) => self.term(terms, t),
            Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => {
                parts.iter().fold(0u64, |sum, &p| sum.saturating_add(self.stmt(terms, p)))
            }
            Stmt::If(c, a, b) => {
                let both = self.stmt(terms, a).saturating_add(self.stmt(terms, b));
                both.saturating_add(self.term(terms, c))
            }
            Stmt::While(c, body) => self.term(terms, c).saturating_add(self.stmt(terms, body)),
            Stmt::Foreign(_, ref args) => args.iter().fold(0u64, |sum, &t| sum.saturating_add(self.term(terms, t))),
        };
        let size = below.saturating_add(1);
        self.stmts.insert(s, size);
        size
    }
}

impl Builder<'_> {
    /// Notes that so much work is done for what stands here; too much is refused, here and from then on.
    pub fn spend(&mut self, work: u64, span: Span) -> Res<()> {
        if self.limits.exhausted {
            return Err(Reported);
        }
        self.limits.work = self.limits.work.saturating_add(work);
        if self.limits.work <= MAX_WORK {
            return Ok(());
        }
        let span = self.outermost(span);
        Err(self.exhausted(
            Diagnostic::error(span, "the model grows too large here")
                .label("while this was written out")
                .help("functions, selects and quantifiers are written out; use smaller ranges or fewer nested calls"),
        ))
    }

    fn exhausted(&mut self, d: Diagnostic) -> Reported {
        self.limits.exhausted = true;
        self.report(d)
    }

    /// The same for a finished condition or update.
    pub fn spend_on(&mut self, stmt: StmtId, term: Option<TermId>, span: Span) -> Res<()> {
        let size = self.limits.stmt(&self.net.terms, stmt);
        let size = size.saturating_add(term.map_or(0, |t| self.limits.term(&self.net.terms, t)));
        self.spend(size, span)
    }

    /// Notes that so many more cells are declared.
    pub fn spend_cells(&mut self, cells: i64, span: Span) -> Res<()> {
        self.limits.cells = self.limits.cells.saturating_add(cells);
        if self.limits.cells <= MAX_CELLS {
            return Ok(());
        }
        Err(self.exhausted(
            Diagnostic::error(span, format!("too large: all variables together have more than {MAX_CELLS} cells"))
                .help("use smaller arrays or fewer processes"),
        ))
    }

    /// Notes that something was made which takes a lot of room; if that is too much, the next to spend hears of it.
    pub fn owe(&mut self, work: u64) {
        self.limits.work = self.limits.work.saturating_add(work);
    }

    /// Where the label, query or function begins in which this stands.
    fn outermost(&self, span: Span) -> Span {
        self.limits.outermost.filter(|_| self.limits.depth > 0).unwrap_or(span)
    }

    /// Goes one level down.
    pub fn enter(&mut self, span: Span) -> Res<()> {
        if self.limits.depth == 0 {
            self.limits.outermost = Some(span);
        }
        self.limits.depth += 1;
        if self.limits.depth <= self.limits.levels {
            return Ok(());
        }
        let (span, levels) = (self.outermost(span), self.limits.levels);
        Err(self.exhausted(
            Diagnostic::error(span, format!("nested more than {levels} levels deep, functions included"))
                .help("call fewer functions inside each other"),
        ))
    }

    /// Comes up again.
    pub fn leave(&mut self) {
        self.limits.depth -= 1;
    }

    /// Is the term so large that it should not be written twice?
    pub fn is_heavy(&mut self, t: TermId) -> bool {
        self.limits.term(&self.net.terms, t) > 12
    }
}
