//! Reachability by several workers in one process, level by level: what [`crate::reach`] does with one.
//!
//! Each worker owns a part of the states: with simple update by key and element, else by key alone, for elements meet under one key. It
//! expands what it owns, keeps what falls to it, and sends the rest to the others in packets. A level ends when everybody has
//! expanded everything and heard of it. So a state is reached by as few steps as possible, and what is stored and counted is the same however
//! many workers there are:
//!
//! - with simple update, of all steps that lead to a new state the one from the parent with the smallest hash counts;
//! - otherwise what arrives is kept until the level ends, and then added in the order of its words.
//!
//! What this deliberately does not do: refine joins (000 Alg. 5), for which a worker would have to know the past of all others; orders other
//! than breadth first; and liveness.

pub mod checkpoint;
mod exchange;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;

use trellis_meter::{Meter, Progress, Stats};
use trellis_model::evidence::Reason;
use trellis_order::{Domain, Join, Word};

use crate::arg::{Arg, Mark};
use crate::explore::NONE;
use crate::path::Path;
use crate::reach::simple::arrive;
use crate::reach::{Answer, Exploration, Goal, Update};
use crate::stored::{Shard, Stored};
use crate::table::{NoRoom, Table, hash_words, make_room};
use crate::{Batch, System};
use checkpoint::{Checkpoint, Resumed, Writer, resume};
use exchange::{Exchange, HEAD, Record, Shared, Stopped, Summary, sum};

/// Who explores.
#[derive(Debug, Clone)]
pub struct Workers {
    /// So many threads.
    pub count: NonZeroUsize,
    /// Where they keep what they have explored.
    pub checkpoint: Option<Checkpoint>,
    /// A checkpoint of the same exploration, with which they begin: its directory, and what it is of.
    pub resume: Option<(PathBuf, String)>,
}

/// Explores with some workers. `make` makes the system of one of them.
pub fn reach<S>(
    make: impl Fn() -> S + Sync,
    update: Update,
    by: &Workers,
    meter: &mut Meter,
) -> Exploration<S::Action, S::Error>
where
    S: System,
    S::Error: Send,
{
    let mut system = make();
    let initial = match system.initial() {
        Ok((key, elem)) => [key, elem].concat(),
        Err(e) => {
            let stored = Stored::new(vec![Shard::Table(Table::new(1), 1)]);
            return Exploration { answer: Answer::Error(Path::empty(), e), stats: Stats::default(), stored };
        }
    };
    let workers = by.count.get();
    let mut begun: Vec<Option<Begun>> = (0..workers).map(|_| None).collect();
    if let Some((dir, what)) = &by.resume {
        match resume(dir, what, update, (system.key_width(), system.elem_width()), workers) {
            Err(why) => {
                let stored = Stored::new(vec![Shard::Table(Table::new(1), 1)]);
                return Exploration { answer: Answer::Stopped(Reason::Stuck(why)), stats: Stats::default(), stored };
            }
            Ok(Resumed { shards, mut stats }) => {
                // One of them counts on.
                let of = |(shard, next)| Some(Begun { shard, next, stats: std::mem::take(&mut stats) });
                begun = shards.into_iter().map(of).collect();
            }
        }
    }
    let shared = Shared::default();
    let parts: Vec<Part<S::Error>> = thread::scope(|scope| {
        let (make, initial, shared) = (&make, &initial, &shared);
        let mut threads = Vec::new();
        for (exchange, begun) in Exchange::all(workers, shared).into_iter().zip(begun) {
            let name = (workers > 1).then(|| format!("worker {}", exchange.me + 1));
            let meter = meter.clone();
            let work = move || {
                let _guard = shared.guard();
                Worker::new(make(), update, exchange).run(initial, begun, by.checkpoint.as_ref(), &meter, name)
            };
            threads.push(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work));
        }
        if threads.iter().any(|t| t.is_err()) {
            shared.stop(Reason::Stuck("the system starts no more threads".into()));
        }
        let joined = threads.into_iter().flatten().map(|t| t.join());
        joined.map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    finish(&mut system, parts, shared.why())
}

/// Of a worker: terms of models are walked recursively.
const STACK: usize = 16 << 20;

/// What a worker begins with, if it is not the first to explore this.
struct Begun {
    shard: Shard,
    next: Vec<u32>,
    stats: Stats,
}

/// What a worker leaves behind.
struct Part<E> {
    shard: Shard,
    stats: Stats,
    /// Targets of the last level, and nodes in which the system fails: with their words.
    found: Vec<(Vec<Word>, u32)>,
    faults: Vec<(Vec<Word>, u32, E)>,
}

/// After so many targets that only joins reach, others are not looked at.
const MANY: usize = 1000;

fn finish<S: System>(
    system: &mut S,
    parts: Vec<Part<S::Error>>,
    stopped: Option<Reason>,
) -> Exploration<S::Action, S::Error> {
    let joined = parts.iter().any(|p| matches!(p.shard, Shard::Arg(_)));
    let (mut stats, mut shards) = (Stats::default(), Vec::new());
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for part in parts {
        stats = sum(stats, part.stats);
        found.extend(part.found);
        faults.extend(part.faults);
        shards.push(part.shard);
    }
    let stored = Stored::new(shards);
    stats.stored = stored.len() as u64;
    let mut answer = match stopped {
        Some(why) => Answer::Stopped(why),
        None => Answer::Unreachable,
    };
    if matches!(answer, Answer::Unreachable) && (!found.is_empty() || !faults.is_empty()) {
        answer = Answer::Stopped(Reason::InconclusiveJoin);
        found.sort_unstable();
        faults.sort_by(|a, b| a.0.cmp(&b.0));
        let goals = found.into_iter().map(|(_, n)| (n, Goal::Target));
        let goals = goals.chain(faults.into_iter().map(|(_, n, e)| (n, Goal::Fault(e))));
        for (n, goal) in goals.take(MANY) {
            // A path through joins need not be one.
            match arrive(system, &stored, n, goal) {
                Answer::Error(path, _) if joined && path.states.is_empty() => {}
                real @ (Answer::Reachable(_) | Answer::Error(..)) => {
                    answer = real;
                    break;
                }
                _ => {}
            }
        }
    }
    Exploration { answer, stats, stored }
}

struct Worker<'x, S: System> {
    system: S,
    update: Update,
    exchange: Exchange<'x>,
    key_width: usize,
    width: usize,
    shard: Shard,
    /// The first node of the level that is being made.
    level: u32,
    /// Simple update: of each node of that level, the parent's hash and the step.
    best: Vec<(u64, u32)>,
    /// Otherwise: what has arrived for that level.
    arrived: Vec<Word>,
    stats: Stats,
    /// How many added states the others know of.
    told: u64,
    found: Vec<u32>,
    faults: Vec<(u32, S::Error)>,
}

impl<'x, S: System> Worker<'x, S> {
    fn new(system: S, update: Update, exchange: Exchange<'x>) -> Worker<'x, S> {
        let (key_width, elem_width) = (system.key_width(), system.elem_width());
        let shard = match update {
            Update::Simple => Shard::Table(Table::new(key_width + elem_width), key_width),
            Update::Cover | Update::Join => Shard::Arg(Arg::new(key_width, elem_width)),
        };
        Worker {
            system,
            update,
            exchange,
            key_width,
            width: key_width + elem_width,
            shard,
            level: 0,
            best: Vec::new(),
            arrived: Vec::new(),
            stats: Stats::default(),
            told: 0,
            found: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Explores until everybody has nothing left to expand, or somebody has found something, or must stop.
    fn run(
        mut self,
        initial: &[Word],
        begun: Option<Begun>,
        checkpoint: Option<&Checkpoint>,
        meter: &Meter,
        name: Option<String>,
    ) -> Part<S::Error> {
        let next = match begun {
            None => self.begin(initial),
            Some(Begun { shard, next, stats }) => {
                self.level = shard.nodes() as u32;
                (self.shard, self.stats) = (shard, stats);
                Ok(next)
            }
        };
        if let Err(Stopped(why)) = next.and_then(|next| self.explore(next, checkpoint, meter, name)) {
            self.exchange.shared.stop(why);
        }
        let Worker { shard, stats, found, faults, exchange, .. } = self;
        let number = |n: u32| n * exchange.count as u32 + exchange.me as u32;
        let words = |n: u32| {
            let (key, elem) = shard.state(n);
            [key, elem].concat()
        };
        Part {
            stats,
            found: found.into_iter().map(|n| (words(n), number(n))).collect(),
            faults: faults.into_iter().map(|(n, e)| (words(n), number(n), e)).collect(),
            shard,
        }
    }

    /// The start, if it is this worker's.
    fn begin(&mut self, initial: &[Word]) -> Result<Vec<u32>, Stopped> {
        if self.owner(initial) == self.exchange.me {
            self.keep(&Record { parent: NONE, via: 0, rank: 0, state: initial })?;
        }
        self.end_level()
    }

    fn explore(
        &mut self,
        mut next: Vec<u32>,
        checkpoint: Option<&Checkpoint>,
        meter: &Meter,
        name: Option<String>,
    ) -> Result<(), Stopped> {
        let not_written = |e: std::io::Error| Stopped(Reason::Stuck(format!("no checkpoint could be written: {e}")));
        let mut writer = checkpoint.map(Writer::new).transpose().map_err(not_written)?;
        let mut meter = match &name {
            Some(name) => meter.named(name),
            None => meter.clone(),
        };
        let mut batch = Batch::default();
        loop {
            let mine = Summary {
                waiting: next.len() as u64,
                found: !(self.found.is_empty() && self.faults.is_empty()),
                due: self.exchange.me == 0 && writer.as_ref().is_some_and(Writer::is_due),
                stats: self.stats,
            };
            let all = self.exchange.agree(mine)?;
            if all.waiting == 0 || all.found {
                return Ok(());
            }
            if let (true, Some(writer)) = (all.due, &mut writer) {
                let first = next.first().copied().unwrap_or(self.level);
                writer.nodes(self.exchange.me, &self.shard, first).map_err(not_written)?;
                // Only when all have written it is a checkpoint.
                self.exchange.agree(mine)?;
                if self.exchange.me == 0 {
                    let widths = (self.key_width, self.width - self.key_width);
                    writer.head(self.exchange.count, widths, self.update, &all.stats).map_err(not_written)?;
                }
                writer.written();
            }
            self.expand_level(&next, &mut batch, &mut meter)?;
            next = self.end_level()?;
        }
    }

    /// Who owns a state.
    fn owner(&self, state: &[Word]) -> usize {
        match self.update {
            Update::Simple => self.exchange.owner(hash_words(state)),
            Update::Cover | Update::Join => self.exchange.owner(hash_words(&state[..self.key_width])),
        }
    }

    /// Expands these nodes, and hears what others have found meanwhile.
    fn expand_level(&mut self, nodes: &[u32], batch: &mut Batch, meter: &mut Meter) -> Result<(), Stopped> {
        let (kw, ew) = (self.key_width, self.width - self.key_width);
        let me = self.exchange.me as u32;
        let count = self.exchange.count as u32;
        let mut state = Vec::with_capacity(self.width);
        self.hear(false)?;
        for (i, &n) in nodes.iter().enumerate() {
            if i % 64 == 0 {
                let added = self.tell();
                let progress = Progress { waiting: nodes.len() - i, stats: Stats { added, ..self.stats } };
                meter.ask(&progress).map_err(|why| Stopped(why.into()))?;
                self.hear(false)?;
            }
            if let Shard::Arg(arg) = &mut self.shard {
                arg.nodes[n as usize].mark = Mark::Passed;
            }
            self.stats.expanded += 1;
            batch.clear();
            let (key, elem) = self.shard.state(n);
            if let Err(e) = self.system.successors(key, elem, batch) {
                self.faults.push((n, e));
                continue;
            }
            state.clear();
            state.extend_from_slice(key);
            state.extend_from_slice(elem);
            let rank = hash_words(&state);
            let parent = n * count + me;
            self.stats.steps += u64::from(batch.steps);
            for (i, &via) in batch.ordinals.iter().enumerate() {
                state.clear();
                state.extend_from_slice(&batch.keys[i * kw..][..kw]);
                state.extend_from_slice(&batch.elems[i * ew..][..ew]);
                let record = Record { parent, via, rank, state: &state };
                let owner = self.owner(&state);
                if owner == self.exchange.me {
                    self.keep(&record)?;
                } else if self.exchange.pack(owner, &record) {
                    self.post(owner)?;
                }
            }
        }
        for to in self.exchange.others() {
            self.post(to)?;
            while !self.exchange.done(to)? {
                self.hear(false)?;
                thread::yield_now();
            }
        }
        self.tell();
        self.hear(true)
    }

    /// Sends what is packed for another; while that one is busy, hears what has come.
    fn post(&mut self, to: usize) -> Result<(), Stopped> {
        while !self.exchange.send(to)? {
            self.hear(false)?;
            thread::yield_now();
        }
        Ok(())
    }

    /// Keeps what others have sent; if `all`, until they have expanded everything.
    fn hear(&mut self, all: bool) -> Result<(), Stopped> {
        while let Some(packet) = self.exchange.receive(all)? {
            for record in packet.chunks_exact(HEAD + self.width) {
                self.keep(&Record::read(record))?;
            }
        }
        Ok(())
    }

    /// Adds a state, or, where elements meet, keeps it until the level ends.
    fn keep(&mut self, record: &Record<'_>) -> Result<(), Stopped> {
        match &mut self.shard {
            Shard::Table(table, key_width) => {
                let hash = hash_words(record.state);
                if let Some(n) = table.find(record.state, hash) {
                    self.stats.covered += 1;
                    // Of all parents the same one, whoever comes first.
                    if let Some(best) = n.checked_sub(self.level).map(|i| &mut self.best[i as usize])
                        && (record.rank, record.via) < *best
                    {
                        *best = (record.rank, record.via);
                        table.reached(n, record.parent, record.via);
                    }
                    return Ok(());
                }
                if table.len() >= (NONE / self.exchange.count as u32) as usize {
                    return Err(NoRoom::Numbers.into());
                }
                make_room(&mut self.best, 1)?;
                let n = table.push(record.state, hash, record.parent, record.via)?;
                self.best.push((record.rank, record.via));
                let (key, elem) = record.state.split_at(*key_width);
                let target = self.system.is_target(key, elem);
                self.added(n, target);
            }
            Shard::Arg(arg) => {
                let (key, elem) = record.state.split_at(self.key_width);
                let k = arg.key_id(key)?;
                if arg.find(k, elem).is_some() {
                    self.stats.covered += 1;
                    return Ok(());
                }
                make_room(&mut self.arrived, HEAD + self.width)?;
                record.write(&mut self.arrived);
            }
        }
        Ok(())
    }

    /// Tells all how many states were added; answers how many those of all are.
    fn tell(&mut self) -> u64 {
        let more = self.stats.added - std::mem::replace(&mut self.told, self.stats.added);
        self.exchange.shared.added.fetch_add(more, Ordering::Relaxed) + more
    }

    fn added(&mut self, n: u32, target: Result<bool, S::Error>) {
        self.stats.added += 1;
        match target {
            Ok(true) => self.found.push(n),
            Ok(false) => {}
            Err(e) => self.faults.push((n, e)),
        }
    }

    /// Everything has arrived: answers the nodes that are to be expanded next.
    fn end_level(&mut self) -> Result<Vec<u32>, Stopped> {
        self.best.clear();
        let first = self.level;
        match &mut self.shard {
            Shard::Table(table, _) => {
                self.level = table.len() as u32;
                Ok((first..self.level).collect())
            }
            Shard::Arg(_) => {
                let arrived = std::mem::take(&mut self.arrived);
                let mut records: Vec<&[Word]> = arrived.chunks_exact(HEAD + self.width).collect();
                records.sort_unstable_by_key(|r| (&r[HEAD..], r[1], r[0] as u32));
                for record in records {
                    self.meet(&Record::read(record))?;
                }
                let Shard::Arg(arg) = &self.shard else { return Ok(Vec::new()) };
                self.level = arg.nodes.len() as u32;
                Ok((first..self.level).filter(|&n| arg.nodes[n as usize].mark == Mark::Waiting).collect())
            }
        }
    }

    /// 000 Alg. 3 and 4: adds a state unless a stored one stands for it.
    fn meet(&mut self, record: &Record<'_>) -> Result<(), Stopped> {
        let Shard::Arg(arg) = &mut self.shard else { return Ok(()) };
        let domain = self.system.domain();
        let (key, elem) = record.state.split_at(self.key_width);
        let k = arg.key_id(key)?;
        let stands = arg.find(k, elem).or_else(|| arg.find_in_chain(k, |_, e| domain.leq(elem, e)));
        if stands.is_some() {
            self.stats.covered += 1;
            return Ok(());
        }
        if arg.nodes.len() >= (NONE / self.exchange.count as u32) as usize {
            return Err(NoRoom::Numbers.into());
        }
        let partner = match self.update {
            Update::Join => arg.find_in_chain(k, |_, _| true),
            _ => None,
        };
        let n = match partner {
            Some(p) => {
                self.stats.joins += 1;
                let mut joined = arg.elem(p).to_vec();
                domain.join(&mut joined, elem);
                arg.retire(p, Mark::Replaced);
                arg.add(k, &joined, record.parent, record.via)?
            }
            None => {
                let mut covered = Vec::new();
                arg.find_in_chain(k, |n, e| {
                    if domain.leq(e, elem) {
                        covered.push(n);
                    }
                    false
                });
                covered.retain(|&n| arg.nodes[n as usize].mark == Mark::Waiting);
                covered.into_iter().for_each(|n| arg.retire(n, Mark::Replaced));
                arg.add(k, elem, record.parent, record.via)?
            }
        };
        let (key, elem) = arg.state(n);
        let target = self.system.is_target(key, elem);
        self.added(n, target);
        Ok(())
    }
}
