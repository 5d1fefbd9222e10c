//! Thread transition systems (Kaiser, Kroening, Wahl, CONCUR 2012) as counter systems: any number of threads, each in a local state, and
//! one shared state.
//!
//! ```text
//! 2 4                      so many shared and so many local states
//! 0 1 -> 1 2               in shared state 0 a thread goes from local state 1 to 2; the shared state becomes 1
//! 0 1 -> 1 2 3 ~> 0        … and all others that are in 3 go to 0
//! 0 1 -> 1 2 3 ~> 0 3 ~> 1 … or each of them to 0 or 1, as it likes
//! 0 1 +> 1 2               the thread stays in 1, and a new one starts in 2
//! 0 1 ~> 1 2               all that are in 1 go to 2, if there are any
//! ```
//!
//! `#` starts a comment. Shared state `i` is the variable `s<i>`, of which one is 1; local state `i` is the variable `l<i>`, which
//! counts threads. At the start the shared state is 0, and any number of threads are in local state 0, unless a start is
//! given ([`parse_start`]); the target is `s|l,l` ([`parse_target`]).
//!
//! Where each thread chooses for itself there is no single step that does it. The transition leads into a shared state of its own,
//! `choice<line>`, and threads that have a choice into a local state of their own, `l<i>_choice<line>`; there they choose one by
//! one, and then it goes on. The steps have the name of the transition: its line. Whoever has not chosen until then is stuck, and gone when the transition is taken again: for a target
//! that asks for at least so many threads that makes no difference, since the others could have done the same with it around.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use trellis_model::counter::{Interval, Rule, System, Update, Var, Vector};

use crate::diag::shorten;
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::text::errors::Errors;

/// More states than this are not read.
const MOST: u32 = 250_000;

/// How many states there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    shared: u32,
    local: u32,
}

/// Reads the system; without a target.
pub fn parse(sources: &Sources, id: SourceId) -> Result<(System, Size), Vec<Diagnostic>> {
    let mut errors = Errors::default();
    let mut lines = Lines::new(sources, id);
    let Some(mut first) = lines.next() else {
        let end = sources.get(id).text.len() as u32;
        let span = Span { source: id, start: end, end };
        let error =
            Diagnostic::error(span, "expected the numbers of shared and local states, found the end of the file");
        return Err(vec![error]);
    };
    let size = first.size().map_err(|d| vec![d])?;
    let mut system = System {
        names: (0..size.shared).map(|i| format!("s{i}")).chain((0..size.local).map(|i| format!("l{i}"))).collect(),
        initial: vec![Interval::exactly(0); (size.shared + size.local) as usize],
        // There is one shared state at a time: no rule changes that.
        claimed: vec![(0..size.shared).map(|i| (i, 1)).collect()],
        ..System::default()
    };
    system.initial[0] = Interval::exactly(1);
    system.initial[size.shared as usize] = Interval::ANY;
    while let Some(mut line) = lines.next() {
        match line.transition(size) {
            Ok(t) => t.add_to(&mut system, size),
            Err(d) => errors.push(d),
        }
        if errors.stopped() {
            break;
        }
    }
    match errors.count() {
        0 => Ok((system, size)),
        _ => Err(errors.finish()),
    }
}

/// Reads a target: `s|l1,l2`, a shared state and the local states of some threads.
pub fn parse_target(sources: &Sources, id: SourceId, size: Size) -> Result<Vector, Vec<Diagnostic>> {
    let mut line = one_line(sources, id)?;
    let (shared, counts) = line.state(size).map_err(|d| vec![d])?;
    line.end().map_err(|d| vec![d])?;
    let entries = counts.into_iter().map(|(l, n)| (size.shared + l, n));
    Ok(Vector::new(entries.chain([(shared, 1)]).collect()))
}

/// Reads a start into a system: `s|l1,l2/u1,u2`, with one thread in each of the first states, and any number in each of those behind
/// the slash; or `s/u1,u2`, as BFC writes it.
pub fn parse_start(sources: &Sources, id: SourceId, size: Size, system: &mut System) -> Result<(), Vec<Diagnostic>> {
    let mut line = one_line(sources, id)?;
    let read = |line: &mut Line<'_>| {
        // BFC writes `0/24` where nobody is there but any number in one state.
        let (shared, counts) = match sources.get(id).text.contains('|') {
            true => line.state(size)?,
            false => (line.number("a shared state", size.shared)?, FxHashMap::default()),
        };
        let mut any = vec![];
        if line.take("/") {
            loop {
                any.push(line.number("a local state", size.local)?);
                if !line.take(",") {
                    break;
                }
            }
        }
        line.end()?;
        Ok((shared, counts, any))
    };
    let (shared, counts, any) = read(&mut line).map_err(|d| vec![d])?;
    system.initial = vec![Interval::exactly(0); system.names.len()];
    system.initial[shared as usize] = Interval::exactly(1);
    for (l, n) in counts {
        system.initial[(size.shared + l) as usize] = Interval::exactly(n);
    }
    for l in any {
        let at = &mut system.initial[(size.shared + l) as usize];
        *at = Interval::at_least(at.low);
    }
    Ok(())
}

fn one_line<'a>(sources: &'a Sources, id: SourceId) -> Result<Line<'a>, Vec<Diagnostic>> {
    Lines::new(sources, id).next().ok_or_else(|| {
        let span = Span { source: id, start: 0, end: 0 };
        vec![Diagnostic::error(span, "expected a shared state and local states, as `0|1,1`; there is nothing")]
    })
}

/// Lines that are not empty, without their comments.
struct Lines<'a> {
    id: SourceId,
    text: &'a str,
    at: usize,
    number: u32,
}

impl<'a> Lines<'a> {
    fn new(sources: &'a Sources, id: SourceId) -> Lines<'a> {
        Lines { id, text: &sources.get(id).text, at: 0, number: 0 }
    }

    fn next(&mut self) -> Option<Line<'a>> {
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let start = self.at;
            let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
            self.at += line.len() + 1;
            self.number += 1;
            let line = &line[..line.find('#').unwrap_or(line.len())];
            if line.chars().any(|c| !c.is_whitespace() && c != '\u{feff}') {
                return Some(Line { id: self.id, text: line, start, at: 0, number: self.number });
            }
        }
        None
    }
}

struct Line<'a> {
    id: SourceId,
    text: &'a str,
    /// Where it is in the file.
    start: usize,
    at: usize,
    number: u32,
}

type Read<T> = Result<T, Diagnostic>;

impl<'a> Line<'a> {
    /// The next word: digits, or other signs together.
    fn peek(&mut self) -> (&'a str, Span) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c: char| !c.is_whitespace() && c != '\u{feff}').unwrap_or(rest.len());
        let rest = &self.text[self.at..];
        let apart = |c: char| c.is_whitespace() || c == ',' || c == '|' || c == '/';
        let len = match rest.chars().next() {
            None => 0,
            Some(c) if c.is_ascii_digit() => rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()),
            Some(c) if apart(c) => c.len_utf8(),
            Some(_) => rest.find(|c: char| apart(c) || c.is_ascii_digit()).unwrap_or(rest.len()),
        };
        let from = (self.start + self.at) as u32;
        (&rest[..len], Span { source: self.id, start: from, end: from + len as u32 })
    }

    fn take(&mut self, word: &str) -> bool {
        let is = self.peek().0 == word;
        if is {
            self.at += word.len();
        }
        is
    }

    fn unexpected<T>(&mut self, expected: &str) -> Read<T> {
        let (word, span) = self.peek();
        let found = if word.is_empty() { "the end of the line".into() } else { format!("`{}`", shorten(word)) };
        Err(Diagnostic::error(span, format!("expected {expected}, found {found}")))
    }

    /// A number below a limit.
    fn number(&mut self, what: &str, limit: u32) -> Read<u32> {
        let (word, span) = self.peek();
        if !word.starts_with(|c: char| c.is_ascii_digit()) {
            return self.unexpected(what);
        }
        self.at += word.len();
        match word.parse::<u32>() {
            Ok(n) if n < limit => Ok(n),
            _ => Err(Diagnostic::error(
                span,
                format!("expected {what}, a number below {limit}, found `{}`", shorten(word)),
            )),
        }
    }

    fn end(&mut self) -> Read<()> {
        if self.peek().0.is_empty() { Ok(()) } else { self.unexpected("the end of the line") }
    }

    fn size(&mut self) -> Read<Size> {
        let mut number = |what: &str| {
            let (word, span) = self.peek();
            match self.number(what, MOST + 1)? {
                0 => Err(Diagnostic::error(span, format!("expected {what}, at least 1, found `{word}`"))),
                n => Ok(n),
            }
        };
        let size =
            Size { shared: number("the number of shared states")?, local: number("the number of local states")? };
        self.end()?;
        Ok(size)
    }

    /// `s|l1,l2`, with how many threads are in each of the local states.
    fn state(&mut self, size: Size) -> Read<(u32, FxHashMap<u32, u64>)> {
        let shared = self.number("a shared state", size.shared)?;
        let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
        if !self.take("|") {
            return self.unexpected("`|`");
        }
        let (next, _) = self.peek();
        if next.is_empty() || next == "/" {
            return Ok((shared, counts));
        }
        loop {
            *counts.entry(self.number("a local state", size.local)?).or_default() += 1;
            if !self.take(",") {
                return Ok((shared, counts));
            }
        }
    }

    fn transition(&mut self, size: Size) -> Read<Transition> {
        let shared = |line: &mut Self| line.number("a shared state", size.shared);
        let local = |line: &mut Self| line.number("a local state", size.local);
        let from = (shared(self)?, local(self)?);
        let arrow = ["->", "+>", "~>"].into_iter().find(|a| self.take(a));
        let Some(arrow) = arrow else { return self.unexpected("`->`, `+>` or `~>`") };
        let to = (shared(self)?, local(self)?);
        let mut moves: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        if arrow == "~>" {
            moves.insert(from.1, [to.1].into());
        }
        while arrow == "->" && !self.peek().0.is_empty() {
            let l = local(self)?;
            if !self.take("~>") {
                return self.unexpected("`~>`");
            }
            moves.entry(l).or_default().insert(local(self)?);
        }
        self.end()?;
        let words: Vec<&str> = self.text.split_whitespace().map(|w| w.trim_start_matches('\u{feff}')).collect();
        Ok(Transition { from, arrow, to, moves, line: self.number, text: words.join(" ") })
    }
}

/// One line: shared and local states before and after.
struct Transition {
    from: (u32, u32),
    arrow: &'static str,
    to: (u32, u32),
    /// Where the threads may go that are only watching.
    moves: BTreeMap<u32, BTreeSet<u32>>,
    line: u32,
    /// As it is written.
    text: String,
}

impl Transition {
    fn add_to(mut self, system: &mut System, size: Size) {
        let choices: Vec<(u32, BTreeSet<u32>)> =
            self.moves.iter().filter(|m| m.1.len() > 1).map(|(l, all)| (*l, all.clone())).collect();
        if choices.is_empty() {
            system.rules.extend(self.rule(size, self.to.0, size.local));
            return;
        }
        let mut new = |name: String| -> Var {
            system.names.push(name);
            system.initial.push(Interval::exactly(0));
            system.names.len() as Var - 1
        };
        let choosing = new(format!("choice{}", self.line));
        let first = choosing + 1 - size.shared;
        let waiting: Vec<Var> = choices.iter().map(|(l, _)| new(format!("l{l}_choice{}", self.line))).collect();
        for (i, (l, _)) in choices.iter().enumerate() {
            self.moves.insert(*l, [first + i as u32].into());
        }
        // It is a shared state like the others.
        system.claimed[0].push((choosing, 1));
        system.rules.extend(self.rule(size, choosing, first));
        let (line, name, to) = (Some(self.line), Some(self.text), self.to.0);
        let mut step = |from: Var, to: Var| {
            let one = |v: Var, constant| (v, Update { sources: vec![v], constant });
            let mut guards = vec![(choosing, Interval::at_least(1)), (from, Interval::at_least(1))];
            guards.dedup();
            let mut updates = vec![one(from, -1), one(to, 1)];
            updates.sort_unstable_by_key(|u| u.0);
            system.rules.push(Rule { guards, updates, line, name: name.clone(), title: None });
        };
        for (from, (_, all)) in waiting.iter().zip(&choices) {
            all.iter().for_each(|l| step(*from, size.shared + l));
        }
        step(choosing, to);
    }

    /// As one rule, into this shared state, if it changes something. Every thread that is only watching has one state to go to;
    /// local states from `fresh` on are emptied first.
    fn rule(&self, size: Size, into: Var, fresh: u32) -> Option<Rule> {
        let ((s1, l1), (_, l2)) = (self.from, self.to);
        let one = |(l, all): (&u32, &BTreeSet<u32>)| all.first().map(|to| (*l, *to));
        let moves: FxHashMap<u32, u32> = self.moves.iter().filter_map(one).filter(|m| m.0 != m.1).collect();
        let mut sums: FxHashMap<u32, Update> = FxHashMap::default();
        let itself = |l: u32| {
            let goes = l >= fresh || moves.contains_key(&l);
            Update { sources: if goes { vec![] } else { vec![l] }, constant: 0 }
        };
        for (from, to) in &moves {
            sums.entry(*from).or_insert_with(|| itself(*from));
            sums.entry(*to).or_insert_with(|| itself(*to)).sources.push(*from);
        }
        let mut add = |l: u32, n: i64| sums.entry(l).or_insert_with(|| itself(l)).constant += n;
        match self.arrow {
            // The thread is not where the others of its state went: it goes its own way.
            "->" => {
                add(moves.get(&l1).copied().unwrap_or(l1), -1);
                add(l2, 1);
            }
            "+>" => add(l2, 1),
            _ => {}
        }
        let local = |l: u32| -> Var { size.shared + l };
        let mut updates: Vec<(Var, Update)> = vec![];
        if s1 != into {
            updates.push((s1, Update { sources: vec![s1], constant: -1 }));
            updates.push((into, Update { sources: vec![into], constant: 1 }));
        }
        for (l, mut u) in sums {
            u.sources.iter_mut().for_each(|x| *x = local(*x));
            u.sources.sort_unstable();
            if u.constant != 0 || u.sources != [local(l)] {
                updates.push((local(l), u));
            }
        }
        updates.sort_unstable_by_key(|u| u.0);
        let mut guards = vec![(s1, Interval::at_least(1))];
        if self.arrow != "~>" {
            guards.push((local(l1), Interval::at_least(1)));
        }
        let name = Some(self.text.clone());
        Some(Rule { guards, updates, line: Some(self.line), name, title: None }).filter(|r| !r.updates.is_empty())
    }
}
