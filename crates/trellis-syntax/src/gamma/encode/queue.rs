//! Queues as variables: how many messages wait, and for each place which message it is and what it carries. What is empty holds zeros.

use trellis_expr::{StmtId, TermId, Type, VarId};
use trellis_model::gamma::{Control, Post, Queues};

use super::Builder;

/// The variables of a queue.
#[derive(Debug, Clone)]
pub struct Cells {
    /// How many messages wait.
    pub length: VarId,
    /// For each place: which entry it is, then a value for each column.
    pub places: Vec<(VarId, Vec<VarId>)>,
    /// The types of the columns, and for which value of a message: its number.
    columns: Vec<(usize, Type)>,
    /// For each entry the columns that its values are in.
    pub of_entry: Vec<Vec<usize>>,
}

/// What an adapter does next.
const NOTHING: i64 = 0;
const RUN: i64 = 1;
const RESET: i64 = 2;

impl Builder<'_> {
    /// Variables for all queues.
    pub fn declare_queues(&mut self) {
        let sys = self.sys;
        for adapter in &sys.adapters {
            let mut all = vec![];
            for queue in &adapter.queues {
                let mut columns: Vec<(usize, Type)> = vec![];
                let mut of_entry = vec![];
                for entry in &queue.entries {
                    let types: Vec<Type> = entry
                        .like
                        .map_or(vec![], |s| sys.signals[s].params.iter().map(|p| sys.terms.variable(p.1).ty).collect());
                    let mut mine = vec![];
                    for column in types.into_iter().enumerate() {
                        let at = columns.iter().position(|c| *c == column).unwrap_or_else(|| {
                            columns.push(column);
                            columns.len() - 1
                        });
                        mine.push(at);
                    }
                    of_entry.push(mine);
                }
                let length = self.t().declare(format!("@{}", queue.name), Type::Range(0, queue.capacity as i64));
                let last = queue.entries.len().saturating_sub(1) as i64;
                let mut places = vec![];
                for n in 0..queue.capacity {
                    let entry = self.t().declare(format!("@{}[{n}]", queue.name), Type::Range(0, last));
                    let values =
                        columns.iter().map(|(p, ty)| self.cfa.terms.declare(format!("@{}[{n}].{p}", queue.name), *ty));
                    places.push((entry, values.collect()));
                }
                all.push(Cells { length, places, columns, of_entry });
            }
            self.queues.push(all);
        }
    }

    /// A queue is emptied.
    pub fn forget_queue(&mut self, a: usize, q: usize) -> StmtId {
        let cells = self.queues[a][q].clone();
        let zero = self.t().int(0);
        let mut parts = vec![self.t().assign(cells.length, zero)];
        for (n, _) in cells.places.iter().enumerate() {
            parts.push(self.empty_place(&cells, n));
        }
        self.t().seq(parts)
    }

    fn empty_place(&mut self, cells: &Cells, n: usize) -> StmtId {
        let zero = self.t().int(0);
        let mut parts = vec![self.t().assign(cells.places[n].0, zero)];
        for (v, (_, ty)) in cells.places[n].1.iter().zip(&cells.columns) {
            let default = self.default(*ty);
            parts.push(self.t().assign(*v, default));
        }
        self.t().seq(parts)
    }

    fn fill_place(&mut self, cells: &Cells, n: usize, entry: usize, values: &[TermId]) -> StmtId {
        let mut parts = vec![self.empty_place(cells, n)];
        let number = self.t().int(entry as i64);
        parts.push(self.t().assign(cells.places[n].0, number));
        for (column, value) in cells.of_entry[entry].iter().zip(values) {
            parts.push(self.t().assign(cells.places[n].1[*column], *value));
        }
        self.t().seq(parts)
    }

    /// All move up, and the last place is empty.
    fn shift(&mut self, cells: &Cells) -> StmtId {
        let mut parts = vec![];
        for pair in cells.places.windows(2) {
            let ((to, to_values), (from, from_values)) = (&pair[0], &pair[1]);
            for (to, from) in std::iter::once((to, from)).chain(to_values.iter().zip(from_values)) {
                let from = self.t().var(*from);
                parts.push(self.t().assign(*to, from));
            }
        }
        parts.push(self.empty_place(cells, cells.places.len() - 1));
        self.t().seq(parts)
    }

    fn has_length(&mut self, cells: &Cells, n: usize) -> TermId {
        let (length, n) = (self.t().var(cells.length), self.t().int(n as i64));
        self.t().eq(length, n)
    }

    /// A message comes to a queue.
    pub fn push_message(&mut self, (a, q, entry): Post, values: &[TermId]) -> StmtId {
        let cells = self.queues[a][q].clone();
        let capacity = cells.places.len();
        // It is full.
        let mut all = self.t().skip();
        if self.sys.adapters[a].queues[q].drops_oldest {
            let (shift, fill) = (self.shift(&cells), self.fill_place(&cells, capacity - 1, entry, values));
            all = self.t().seq([shift, fill]);
        }
        for n in (0..capacity).rev() {
            let here = self.has_length(&cells, n);
            let fill = self.fill_place(&cells, n, entry, values);
            let more = self.t().int(n as i64 + 1);
            let count = self.t().assign(cells.length, more);
            let body = self.t().seq([fill, count]);
            all = self.t().branch(here, body, all);
        }
        all
    }

    /// The environment sends a message: what is done, and that there is room for it.
    pub fn sent(&mut self, input: usize) -> (StmtId, StmtId) {
        let sys = self.sys;
        let input = &sys.inputs[input];
        let mut parts = vec![];
        let mut room = vec![];
        // Its values are chosen where they will wait, in the first queue that gets it.
        let carried: Vec<VarId> = input.like.map_or(vec![], |s| sys.signals[s].params.iter().map(|p| p.1).collect());
        let mut values = vec![];
        for v in carried {
            let ty = self.t().variable(v).ty;
            let fresh = self.open_value(ty, values.len());
            parts.push(self.t().havoc(fresh));
            values.push(fresh);
        }
        let terms: Vec<TermId> = values.iter().map(|v| self.cfa.terms.var(*v)).collect();
        for &post in &input.posts {
            let cells = self.queues[post.0][post.1].clone();
            let full = self.has_length(&cells, cells.places.len());
            room.push(self.t().not(full));
            parts.push(self.push_message(post, &terms));
        }
        for v in values {
            let ty = self.t().variable(v).ty;
            let default = self.default(ty);
            parts.push(self.t().assign(v, default));
        }
        let room = self.t().and(room);
        (self.t().seq(parts), self.t().assume(room))
    }

    /// A variable for a value that comes from outside.
    fn open_value(&mut self, ty: Type, n: usize) -> VarId {
        let name = format!("@value {n} {}", self.t().show_type(ty));
        self.named(name, ty)
    }

    /// One execution of an adapter.
    pub fn execute(&mut self, a: usize) {
        let sys = self.sys;
        let adapter = &sys.adapters[a];
        let control = self.named(format!("@control {a}"), Type::Range(NOTHING, RESET));
        let zero = self.t().int(NOTHING);
        // Of several with the greatest priority, the first.
        let mut order: Vec<usize> = (0..adapter.queues.len()).collect();
        order.sort_by_key(|q| (std::cmp::Reverse(adapter.queues[*q].priority), *q));
        let mut rest = self.t().assign(control, zero);
        for &q in order.iter().rev() {
            let cells = self.queues[a][q].clone();
            let mut taken = self.t().skip();
            for (n, entry) in adapter.queues[q].entries.iter().enumerate().rev() {
                let (first, number) = (self.t().var(cells.places[0].0), self.t().int(n as i64));
                let it = self.t().eq(first, number);
                let values: Vec<TermId> =
                    cells.of_entry[n].iter().map(|c| self.cfa.terms.var(cells.places[0].1[*c])).collect();
                let mut parts: Vec<StmtId> = entry.inputs.iter().map(|s| self.put(*s, &values)).collect();
                parts.push(self.shift(&cells));
                let mut fewer = self.t().skip();
                for length in (1..=cells.places.len()).rev() {
                    let here = self.has_length(&cells, length);
                    let less = self.t().int(length as i64 - 1);
                    let count = self.t().assign(cells.length, less);
                    fewer = self.t().branch(here, count, fewer);
                }
                parts.push(fewer);
                if let Control::Forget(which) = entry.control {
                    for other in 0..adapter.queues.len() {
                        if match which {
                            Queues::All => true,
                            Queues::Own => other == q,
                            Queues::Others => other != q,
                        } {
                            parts.push(self.forget_queue(a, other));
                        }
                    }
                }
                let next = match entry.control {
                    Control::Run => RUN,
                    Control::Reset => RESET,
                    Control::Nothing | Control::Forget(_) => NOTHING,
                };
                let next = self.t().int(next);
                parts.push(self.t().assign(control, next));
                let body = self.t().seq(parts);
                taken = self.t().branch(it, body, taken);
            }
            let empty = self.has_length(&cells, 0);
            rest = self.t().branch(empty, rest, taken);
        }
        self.push(rest);
        self.flush(&format!("{} has a message", adapter.name));
        let (from, to) = (self.at, self.location(&format!("{} is done", adapter.name)));
        let entries = || adapter.queues.iter().flat_map(|q| &q.entries);
        for (number, wanted) in [
            (NOTHING, true),
            (RUN, entries().any(|e| e.control == Control::Run)),
            (RESET, entries().any(|e| e.control == Control::Reset)),
        ] {
            if !wanted {
                continue;
            }
            self.at = from;
            let (v, n) = (self.t().var(control), self.t().int(number));
            let it = self.t().eq(v, n);
            let assume = self.t().assume(it);
            self.push(assume);
            let clear = self.t().assign(control, zero);
            self.push(clear);
            match number {
                RUN => self.run(&adapter.inner),
                RESET => self.start(&adapter.inner),
                _ => {}
            }
            if number != NOTHING {
                let post = self.post(a);
                self.push(post);
            }
            self.flush_to(to);
        }
        self.at = to;
    }

    /// An adapter sends what was raised.
    pub fn post(&mut self, a: usize) -> StmtId {
        let adapter = &self.sys.adapters[a];
        let mut all = vec![];
        for (s, posts) in adapter.posts.iter().filter(|(_, posts)| !posts.is_empty()) {
            let values = self.carried(*s);
            let mut parts: Vec<StmtId> = posts.iter().map(|p| self.push_message(*p, &values)).collect();
            if !adapter.kept.contains(s) {
                parts.push(self.clear(*s, false));
            }
            if let Some(&(_, v)) = self.sent.iter().find(|(t, _)| t == s) {
                let yes = self.t().bool(true);
                parts.push(self.t().assign(v, yes));
            }
            let (raised, body, skip) = (self.raised(*s), self.t().seq(parts), self.t().skip());
            all.push(self.t().branch(raised, body, skip));
        }
        self.t().seq(all)
    }
}
