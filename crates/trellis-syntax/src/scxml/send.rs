//! What a chart sends to itself: the external queue, and what is sent with a delay.
//!
//! **The external queue** is a row of variables like the internal one. An event is taken from it when a macro-step has come to
//! its end. The environment may put events into the same queue at any time, before and between what the chart sends; so in a
//! stable configuration the next event is the first one in the row, *or* any event from outside, which has been put there before
//! it.
//!
//! **Delays** are clocks. Time passes in stable configurations whose queue is empty; what a chart does takes none. What is sent
//! with a delay waits in a row of *timers*, sorted by the time that is left, in the order of sending where that is the same. One
//! that has no time left puts its event into the queue: it is the next event, or comes after others. Which of several that are
//! due at once comes first is open, except that of two sent at the same moment the first comes first: that moment was the same
//! exactly if so were their delays. Before an event from outside any time may pass that lets no timer go by.
//!
//! Time is counted in units that all delays are multiples of. That loses nothing: all comparisons of times are closed (a timer is due
//! *when* its time has come, and ties are open), so a run with real times is also one with whole numbers of units (digitization,
//! Henzinger, Manna and Pnueli 1992), and the other way round.
//!
//! How many events and timers may wait is limited ([`Limit`]); a chart that needs more comes to an error location that says so.
//! What nobody listens to is not queued, here as there.

use trellis_expr::{EnumId, StmtId, TermId, Type, VarId};

use super::events::{self, Message, Source};
use super::expr::{Expr, Node};
use super::lower::{DEFAULT_QUEUE, Lower, Made, Slot, location};
use super::tree::{Action, Delay, Send, microseconds};
use super::value::{Kind, Store, Sym};

/// The event processor that delivers to charts, by both its names.
pub const PROCESSORS: [&str; 2] = ["scxml", "http://www.w3.org/TR/scxml/#SCXMLEventProcessor"];

/// Up to so many units the time that is left is kept value by value.
const FEW_UNITS: i64 = 16;

/// What may not hold all that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The internal queue.
    Internal,
    /// The external queue.
    External,
    /// What is sent with a delay.
    Timers,
    /// The values that there are.
    Value,
}

impl Limit {
    /// The attribute of `<scxml>` that makes it longer, if it can be.
    pub fn attribute(self) -> Option<&'static str> {
        match self {
            Limit::Internal => Some("trellis:queue"),
            Limit::External => Some("trellis:external"),
            Limit::Timers => Some("trellis:timers"),
            Limit::Value => None,
        }
    }

    /// What there is too much of.
    pub fn what(self) -> &'static str {
        match self {
            Limit::Internal => "more internal events than the queue holds",
            Limit::External => "more events sent by the chart to itself than its external queue holds",
            Limit::Timers => "more events sent with a delay than can wait",
            Limit::Value => {
                "a value that is not supported (NaN, data from outside, a string made of a number, a long array)"
            }
        }
    }

    /// The name of the error location.
    pub fn location(self) -> &'static str {
        match self {
            Limit::Internal => "queue overflow",
            Limit::External => "external queue overflow",
            Limit::Timers => "timer overflow",
            Limit::Value => "unsupported value",
        }
    }
}

/// What a timer is set for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Alarm {
    event: u32,
    /// In microseconds; greater than 0.
    delay: u64,
    id: Option<String>,
}

/// A timer: what it is set for (0: nothing), how many units of time are left, and what the event carries.
#[derive(Debug, Clone)]
pub struct Timer {
    pub set: VarId,
    pub left: VarId,
    data: Option<Store>,
}

/// What a chart has sent to itself.
#[derive(Default)]
pub struct Outbox {
    /// The external queue.
    pub queue: Vec<Slot>,
    /// All that timers may be set for.
    alarms: Vec<Alarm>,
    pub timers: Vec<Timer>,
    kind: Option<EnumId>,
    /// How much time has passed before the last event.
    pub elapsed: Option<VarId>,
    /// How many microseconds a unit is.
    pub unit: u64,
}

/// The greatest common divisor.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Lower<'_> {
    /// Something did not fit.
    pub fn declare_overflow(&mut self, limit: Limit) {
        let v = self.declare(limit.location(), Type::Bool, true);
        self.overflow.push((limit, v));
    }

    /// Takes note that something did not fit.
    pub fn overflows(&mut self, limit: Limit) -> StmtId {
        let yes = self.terms.bool(true);
        match self.overflow.iter().find(|(l, _)| *l == limit) {
            Some(&(_, v)) => self.terms.assign(v, yes),
            None => self.terms.skip(),
        }
    }

    /// Declares the external queue and the timers. Symbols must be known: a delay may be one.
    pub fn declare_outbox(&mut self) {
        let tree = self.tree;
        let (mut at_once, mut later) = (0, 0);
        for action in tree.actions() {
            let Action::Send(send) = action else { continue };
            let internal = |t: &Expr| matches!(&t.node, Node::Text(t) if t == "#_internal");
            if send.target.as_ref().is_some_and(internal) {
                continue;
            }
            let id = self.send_id(send);
            let name = match &send.event.node {
                Node::Text(name) => Some(name.clone()),
                _ => None,
            };
            let invoke = send.from.map(|k| tree.invokes[k - 1].id.clone());
            let may_be = |m: &Message| {
                let named = name.as_ref().is_none_or(|name| *name == m.name);
                m.source == Source::Own && m.id == id && m.invoke == invoke && named
            };
            let told = self.events.told;
            let numbers: Vec<u32> = match &name {
                Some(name) if !told => self.events.find(&Message::new(name, Source::Own)).into_iter().collect(),
                _ => {
                    let all = self.events.messages.iter().enumerate().skip(1);
                    all.filter(|(_, m)| !told || may_be(m)).map(|(n, _)| n as u32).collect()
                }
            };
            if numbers.is_empty() {
                continue;
            }
            let delays = match &send.delay {
                Delay::Fixed(time) => vec![*time],
                Delay::Computed(_) => self.symbols().iter().filter_map(|s| microseconds(s)).collect(),
            };
            at_once += usize::from(delays.contains(&0));
            later += usize::from(delays.iter().any(|&d| d > 0));
            for delay in delays.into_iter().filter(|&d| d > 0) {
                for &event in &numbers {
                    let alarm = Alarm { event, delay, id: id.clone() };
                    if !self.outbox.alarms.contains(&alarm) {
                        self.outbox.alarms.push(alarm);
                    }
                }
            }
        }
        at_once += tree.invokes.len() * 2;
        if at_once > 0 {
            for n in 0..tree.external.unwrap_or(at_once.clamp(2, DEFAULT_QUEUE)) {
                let slot = self.declare_slot(&format!("external {n}"));
                self.outbox.queue.push(slot);
            }
            self.declare_overflow(Limit::External);
        }
        if self.outbox.alarms.is_empty() {
            return;
        }
        let alarms = &self.outbox.alarms;
        let unit = alarms.iter().fold(0, |unit, a| gcd(a.delay, unit));
        let most = alarms.iter().map(|a| a.delay / unit).max().and_then(|n| i64::try_from(n).ok()).unwrap_or(i64::MAX);
        let mut names = vec!["-".to_string()];
        for alarm in alarms {
            let id = alarm.id.as_ref().map_or_else(String::new, |id| format!(" as {id}"));
            names.push(format!("{} after {} µs{id}", self.events.names[alarm.event as usize], alarm.delay));
        }
        let kind = self.terms.declare_enum("Timer", names);
        for n in 0..tree.timers.unwrap_or(later.clamp(2, DEFAULT_QUEUE)) {
            let set = self.declare(&format!("timer {n}"), Type::Enum(kind), true);
            let left = self.declare(&format!("timer {n} left"), Type::Range(0, most), most <= FEW_UNITS);
            let data = self.declare_payload(&format!("timer {n} data"));
            self.outbox.timers.push(Timer { set, left, data });
        }
        self.outbox.elapsed = Some(self.declare("elapsed", Type::Range(0, most), most <= FEW_UNITS));
        (self.outbox.kind, self.outbox.unit) = (Some(kind), unit);
        self.declare_overflow(Limit::Timers);
    }

    fn alarm_literal(&mut self, n: u32) -> TermId {
        match self.outbox.kind {
            Some(kind) => self.terms.enum_lit(kind, n),
            None => self.terms.bool(false),
        }
    }

    /// Is there something in a place of a queue, or is a timer set?
    fn is_set(&mut self, v: VarId) -> TermId {
        let (place, none) = match self.terms.variable(v).ty {
            Type::Enum(e) => (self.terms.var(v), self.terms.enum_lit(e, 0)),
            _ => return self.terms.bool(false),
        };
        self.terms.ne(place, none)
    }

    /// The id of a `<send>`: its own, or one that is made up. Each `<send>` has one.
    fn send_id(&self, send: &Send) -> Option<String> {
        send.id.clone().or_else(|| send.idlocation.as_ref().map(|_| format!("send.{}", send.span.start)))
    }

    /// `<send>`; and whether it may fail.
    pub fn send(&mut self, send: &Send) -> (StmtId, bool) {
        let always = self.terms.bool(true);
        let id = self.send_id(send);
        let one = |text: &str| vec![(text.to_string(), always)];
        let ((processors, targets, names, delays, data, told), outcome) = self.evaluating(|l| {
            let told = match (&send.idlocation, &id) {
                (Some(to), Some(id)) => {
                    let id = l.text(id);
                    l.put_into(to, id, false)
                }
                _ => l.terms.skip(),
            };
            (
                send.processor.as_ref().map_or_else(|| one(PROCESSORS[0]), |e| l.texts(e)),
                send.target.as_ref().map_or_else(|| one(&location()), |e| l.texts(e)),
                l.texts(&send.event),
                match &send.delay {
                    Delay::Fixed(_) => None,
                    Delay::Computed(e) => Some(l.texts(e)),
                },
                l.payload(&send.data),
                told,
            )
        });
        let mut fails = false;
        let mut fail = |l: &mut Self| {
            fails = true;
            l.fail(id.as_deref())
        };
        let wrong = |l: &Self, all: &[(String, TermId)]| all.len() != 1 || l.terms.as_bool(all[0].1) != Some(true);
        let mut failing = |l: &mut Self, all: &[(String, TermId)]| if wrong(l, all) { fail(l) } else { l.terms.skip() };
        let no_processor = failing(self, &processors);
        let no_target = failing(self, &targets);
        let no_event = failing(self, &names);
        let no_delay = delays.as_ref().map(|d| failing(self, d));
        let mut internal = false;
        let stmt = self.by_text(&targets, no_target, |l, target| {
            if target == "#_internal" {
                internal = true;
                return l.by_text(&names, no_event, |l, name| {
                    let message = Message { id: id.clone(), ..Message::new(name, Source::Internal) };
                    l.enqueue(&message, &data)
                });
            }
            if target != location() && target != PROCESSORS[0] {
                if target.starts_with("#_") {
                    // Nobody is there; the block goes on.
                    let nothing = l.constant(Kind::Undefined);
                    let message = Message { id: id.clone(), ..Message::new(events::UNREACHABLE, Source::Platform) };
                    return l.enqueue(&message, &nothing);
                }
                return fail(l);
            }
            l.by_text(&names, no_event, |l, name| {
                let invoke = send.from.map(|k| l.tree.invokes[k - 1].id.clone());
                let message = Message { id: id.clone(), invoke, ..Message::new(name, Source::Own) };
                let event = l.number_of(&message);
                match (&send.delay, &delays, no_delay) {
                    (Delay::Computed(_), Some(delays), Some(no_delay)) => {
                        // What is not a time is an error.
                        l.by_text(delays, no_delay, |l, time| match microseconds(time) {
                            Some(time) => l.send_in(event, time, id.as_deref(), &data),
                            None => no_delay,
                        })
                    }
                    (Delay::Fixed(time), ..) => l.send_in(event, *time, id.as_deref(), &data),
                    _ => l.terms.skip(),
                }
            })
        });
        let known = |name: &str| PROCESSORS.contains(&name);
        let stmt = self.by_text(&processors, no_processor, |l, name| if known(name) { stmt } else { fail(l) });
        let stmt = self.addressed(send, stmt);
        let stmt = self.terms.seq([told, stmt]);
        let (stmt, failing) = self.when_known_of(id.as_deref(), outcome, stmt);
        (stmt, failing || fails)
    }

    fn send_in(&mut self, event: Option<u32>, delay: u64, id: Option<&str>, data: &Sym) -> StmtId {
        let Some(event) = event else { return self.terms.skip() };
        let plain = self.current.is_none();
        if delay == 0 {
            if let (Some(&made), true) = (self.known.get(&Made::Send(event)), plain) {
                return made;
            }
            let stmt = self.append(&self.outbox.queue.clone(), event, data, Limit::External);
            if plain {
                self.known.insert(Made::Send(event), stmt);
            }
            return stmt;
        }
        let alarm = |a: &Alarm| a.event == event && a.delay == delay && a.id.as_deref() == id;
        let Some(n) = self.outbox.alarms.iter().position(alarm) else { return self.terms.skip() };
        let n = n as u32 + 1;
        if let (Some(&made), true) = (self.known.get(&Made::Later(n)), plain) {
            return made;
        }
        let stmt = self.set_timer(n, i64::try_from(delay / self.outbox.unit).unwrap_or(i64::MAX), data);
        if plain {
            self.known.insert(Made::Later(n), stmt);
        }
        stmt
    }

    /// Moves what a timer is set for to another one.
    fn move_timer(&mut self, from: &Timer, to: &Timer) -> StmtId {
        let (set, left) = (self.terms.var(from.set), self.terms.var(from.left));
        let parts =
            [self.terms.assign(to.set, set), self.terms.assign(to.left, left), self.move_data(&from.data, &to.data)];
        self.terms.seq(parts)
    }

    fn clear_timer(&mut self, timer: &Timer) -> StmtId {
        let (none, zero) = (self.alarm_literal(0), self.terms.int(0));
        let parts = [
            self.terms.assign(timer.set, none),
            self.terms.assign(timer.left, zero),
            self.move_data(&None, &timer.data),
        ];
        self.terms.seq(parts)
    }

    /// Sets a timer: it comes before those that have more time left.
    fn set_timer(&mut self, n: u32, units: i64, data: &Sym) -> StmtId {
        let timers = self.outbox.timers.clone();
        let units = self.terms.int(units);
        let mut parts = vec![];
        for pair in timers.windows(2).rev() {
            let (is_set, left) = (self.is_set(pair[0].set), self.terms.var(pair[0].left));
            let longer = self.terms.lt(units, left);
            let moves = self.terms.and([is_set, longer]);
            let moved = [self.move_timer(&pair[0], &pair[1]), self.clear_timer(&pair[0])];
            let (moved, skip) = (self.terms.seq(moved), self.terms.skip());
            parts.push(self.terms.branch(moves, moved, skip));
        }
        let mut put = self.terms.skip();
        let alarm = self.alarm_literal(n);
        for timer in timers.iter().rev() {
            let here = [
                self.terms.assign(timer.set, alarm),
                self.terms.assign(timer.left, units),
                self.carry(&timer.data, data),
            ];
            let (taken, here) = (self.is_set(timer.set), self.terms.seq(here));
            put = self.terms.branch(taken, put, here);
        }
        parts.push(put);
        let inserted = self.terms.seq(parts);
        let overflow = self.overflows(Limit::Timers);
        match timers.last() {
            Some(last) => {
                let full = self.is_set(last.set);
                self.terms.branch(full, overflow, inserted)
            }
            None => self.terms.skip(),
        }
    }

    /// `<cancel>`; and whether it may fail.
    pub fn cancel(&mut self, id: &Expr) -> (StmtId, bool) {
        let (ids, outcome) = self.evaluating(|l| l.texts(id));
        let skip = self.terms.skip();
        let stmt = self.by_text(&ids, skip, |l, id| l.cancel_id(id));
        self.when_known(outcome, stmt)
    }

    /// Timers with this id are taken out, and the others move up.
    fn cancel_id(&mut self, id: &str) -> StmtId {
        let named = |(_, a): &(usize, &Alarm)| a.id.as_deref() == Some(id);
        let all: Vec<usize> = self.outbox.alarms.iter().enumerate().filter(named).map(|(n, _)| n).collect();
        self.cancel_all(&all)
    }

    /// The same, of events whose names begin so, or that come from an invoked chart.
    pub fn cancel_events(&mut self, prefix: &str, invoke: &str) -> StmtId {
        let named = |(_, a): &(usize, &Alarm)| {
            let message = &self.events.messages[a.event as usize];
            message.name.starts_with(prefix) || message.invoke.as_deref() == Some(invoke)
        };
        let all: Vec<usize> = self.outbox.alarms.iter().enumerate().filter(named).map(|(n, _)| n).collect();
        self.cancel_all(&all)
    }

    fn cancel_all(&mut self, all: &[usize]) -> StmtId {
        let Some(&first) = all.first() else { return self.terms.skip() };
        // Which others go with the first depends on who asks.
        let key = Made::Cancel(first * (self.outbox.alarms.len() + 1) + all.len());
        if let Some(&made) = self.known.get(&key) {
            return made;
        }
        let skip = self.terms.skip();
        let timers = self.outbox.timers.clone();
        let mut parts = vec![];
        for timer in &timers {
            let mut is = vec![];
            for &n in all {
                let (place, alarm) = (self.terms.var(timer.set), self.alarm_literal(n as u32 + 1));
                is.push(self.terms.eq(place, alarm));
            }
            let (is, clear) = (self.terms.or(is), self.clear_timer(timer));
            parts.push(self.terms.branch(is, clear, skip));
        }
        // Each time one hole comes to the end.
        for _ in 1..timers.len() {
            for pair in timers.windows(2) {
                let (here, next) = (self.is_set(pair[0].set), self.is_set(pair[1].set));
                let hole = self.terms.not(here);
                let moves = self.terms.and([hole, next]);
                let moved = [self.move_timer(&pair[1], &pair[0]), self.clear_timer(&pair[1])];
                let moved = self.terms.seq(moved);
                parts.push(self.terms.branch(moves, moved, skip));
            }
        }
        let stmt = self.terms.seq(parts);
        self.known.insert(key, stmt);
        stmt
    }

    // What comes next in a stable configuration.

    /// Does an event wait in the external queue?
    pub fn has_mail(&mut self) -> TermId {
        match self.outbox.queue.first().map(|slot| slot.event) {
            Some(first) => self.is_set(first),
            None => self.terms.bool(false),
        }
    }

    /// Is a timer set?
    fn has_timer(&mut self) -> TermId {
        match self.outbox.timers.first().map(|timer| timer.set) {
            Some(first) => self.is_set(first),
            None => self.terms.bool(false),
        }
    }

    /// The first event in the external queue comes.
    pub fn next_mail(&mut self) -> Option<StmtId> {
        let mail = self.has_mail();
        let (waits, take) = (self.terms.assume(mail), self.dequeue(&self.outbox.queue.clone()));
        (!self.outbox.queue.is_empty()).then(|| self.terms.seq([waits, take]))
    }

    /// Nothing waits, and nothing will come.
    pub fn nothing_comes(&mut self) -> Option<StmtId> {
        if self.outbox.queue.is_empty() && self.outbox.timers.is_empty() {
            return None;
        }
        let (mail, timer) = (self.has_mail(), self.has_timer());
        let any = self.terms.or([mail, timer]);
        let none = self.terms.not(any);
        Some(self.terms.assume(none))
    }

    /// So much time passes as `elapsed` says.
    fn pass(&mut self) -> StmtId {
        let Some(elapsed) = self.outbox.elapsed else { return self.terms.skip() };
        let (elapsed, zero) = (self.terms.var(elapsed), self.terms.int(0));
        let mut parts = vec![];
        for Timer { set, left, .. } in self.outbox.timers.clone() {
            let (is_set, now) = (self.is_set(set), self.terms.var(left));
            let less = self.terms.sub(now, elapsed);
            let less = self.terms.ite(is_set, less, zero);
            parts.push(self.terms.assign(left, less));
        }
        self.terms.seq(parts)
    }

    /// Before an event from outside: some time passes, if nothing waits in the queue, and no timer goes by.
    pub fn some_time(&mut self) -> StmtId {
        let (Some(elapsed), Some(first)) = (self.outbox.elapsed, self.outbox.timers.first()) else {
            return self.terms.skip();
        };
        let left = first.left;
        let (time, left, zero) = (self.terms.var(elapsed), self.terms.var(left), self.terms.int(0));
        // With no timer set, `left` is 0: then time is not counted.
        let (none, within, mail) = (self.terms.eq(time, zero), self.terms.le(time, left), self.has_mail());
        let allowed = self.terms.ite(mail, none, within);
        let (havoc, assume, pass) = (self.terms.havoc(elapsed), self.terms.assume(allowed), self.pass());
        self.terms.seq([havoc, assume, pass])
    }

    /// The timers that may come first, each with what happens then.
    pub fn alarms(&mut self) -> Vec<StmtId> {
        let timers = self.outbox.timers.clone();
        let Some(elapsed) = self.outbox.elapsed else { return vec![] };
        let delays: Vec<u64> = self.outbox.alarms.iter().map(|a| a.delay).collect();
        let one_delay = delays.iter().all(|d| *d == delays[0]);
        let mut all = vec![];
        for (j, timer) in timers.iter().enumerate() {
            let (set, left) = (timer.set, timer.left);
            if j > 0 && one_delay {
                break;
            }
            let (first, zero) = (self.terms.var(timers[0].left), self.terms.int(0));
            let (is_set, mine) = (self.is_set(set), self.terms.var(left));
            let due = self.terms.eq(mine, first);
            // Nothing waits, or no time need pass.
            let (mail, now) = (self.has_mail(), self.terms.eq(first, zero));
            let quiet = self.terms.not(mail);
            let may = self.terms.or([quiet, now]);
            let mut conditions = vec![is_set, due, may];
            for earlier in &timers[..j] {
                let same = self.same_delay(earlier.set, set);
                conditions.push(self.terms.not(same));
            }
            let all_of = self.terms.and(conditions);
            let mut parts = vec![self.terms.assume(all_of), self.terms.assign(elapsed, first)];
            let event = self.event_of(set);
            parts.push(self.take_in(event, &timer.data));
            for pair in timers[j..].windows(2) {
                parts.push(self.move_timer(&pair[1], &pair[0]));
            }
            if let Some(last) = timers.last() {
                parts.push(self.clear_timer(last));
            }
            parts.push(self.pass());
            all.push(self.terms.seq(parts));
        }
        all
    }

    /// Forgets how much time has passed.
    pub fn forget_time(&mut self) -> StmtId {
        match self.outbox.elapsed {
            Some(v) => {
                let zero = self.terms.int(0);
                self.terms.assign(v, zero)
            }
            None => self.terms.skip(),
        }
    }

    /// Were two timers set with the same delay?
    fn same_delay(&mut self, a: VarId, b: VarId) -> TermId {
        let mut delays: Vec<u64> = self.outbox.alarms.iter().map(|a| a.delay).collect();
        delays.sort_unstable();
        delays.dedup();
        let mut same = vec![];
        for delay in delays {
            let (a, b) = (self.has_delay(a, delay), self.has_delay(b, delay));
            same.push(self.terms.and([a, b]));
        }
        self.terms.or(same)
    }

    fn has_delay(&mut self, timer: VarId, delay: u64) -> TermId {
        let mut is = vec![];
        for n in (0..self.outbox.alarms.len()).filter(|&n| self.outbox.alarms[n].delay == delay).collect::<Vec<_>>() {
            let (place, alarm) = (self.terms.var(timer), self.alarm_literal(n as u32 + 1));
            is.push(self.terms.eq(place, alarm));
        }
        self.terms.or(is)
    }

    /// The event that a timer is set for.
    fn event_of(&mut self, timer: VarId) -> TermId {
        let mut event = self.event_literal(0);
        for n in 0..self.outbox.alarms.len() {
            let literal = self.event_literal(self.outbox.alarms[n].event);
            let (place, alarm) = (self.terms.var(timer), self.alarm_literal(n as u32 + 1));
            let is = self.terms.eq(place, alarm);
            event = self.terms.ite(is, literal, event);
        }
        event
    }
}
