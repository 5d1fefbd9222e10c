//! What workers tell each other: states in packets, that they have expanded everything, and how the level went.
//!
//! Nobody waits for one that cannot answer: who must stop raises a flag that all others look at while they wait. A worker's box holds few packets,
//! so that a slow one slows the others down instead of filling the memory.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::Duration;

use trellis_meter::Stats;
use trellis_model::evidence::Reason;
use trellis_order::Word;

use crate::table::NoRoom;

/// A worker must not go on, and why.
pub struct Stopped(pub Reason);

impl From<NoRoom> for Stopped {
    fn from(why: NoRoom) -> Stopped {
        Stopped(why.into())
    }
}

/// Words before the state in a record.
pub const HEAD: usize = 2;

/// A state that was reached.
pub struct Record<'r> {
    /// From which node of all.
    pub parent: u32,
    /// By which step.
    pub via: u32,
    /// The hash of the parent, by which the same one is chosen whoever comes first.
    pub rank: u64,
    /// Key and element.
    pub state: &'r [Word],
}

impl<'r> Record<'r> {
    /// From its words.
    pub fn read(words: &'r [Word]) -> Record<'r> {
        Record { parent: (words[0] >> 32) as u32, via: words[0] as u32, rank: words[1], state: &words[HEAD..] }
    }

    /// Appends its words.
    pub fn write(&self, to: &mut Vec<Word>) {
        to.push(u64::from(self.parent) << 32 | u64::from(self.via));
        to.push(self.rank);
        to.extend_from_slice(self.state);
    }
}

/// How a level went, for one worker or for all.
#[derive(Clone, Copy)]
pub struct Summary {
    /// How many nodes are to be expanded next.
    pub waiting: u64,
    /// Whether something was found.
    pub found: bool,
    /// Whether it is time for a checkpoint.
    pub due: bool,
    /// What was counted.
    pub stats: Stats,
}

/// What two have counted.
pub fn sum(a: Stats, b: Stats) -> Stats {
    Stats {
        added: a.added + b.added,
        stored: a.stored + b.stored,
        expanded: a.expanded + b.expanded,
        steps: a.steps + b.steps,
        covered: a.covered + b.covered,
        joins: a.joins + b.joins,
        refinements: a.refinements + b.refinements,
    }
}

enum Message {
    /// Records, one after the other.
    Packet(Vec<Word>),
    /// Its sender has expanded everything.
    Done,
    /// Its sender has added everything; how often it has said so.
    Level(u64, Summary),
}

/// What all workers see.
#[derive(Default)]
pub struct Shared {
    /// States added so far.
    pub added: AtomicU64,
    stopped: AtomicBool,
    why: Mutex<Option<Reason>>,
}

impl Shared {
    /// Everybody is to stop; the first reason counts.
    pub fn stop(&self, why: Reason) {
        // Those that stop because others did have nothing to add.
        self.why.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(why);
        self.stopped.store(true, Ordering::Release);
    }

    /// Why everybody stopped, if they did.
    pub fn why(&self) -> Option<Reason> {
        self.why.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// A worker that panics stops the others.
    pub fn guard(&self) -> impl Drop + '_ {
        struct Guard<'s>(&'s Shared);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.stop(Reason::Stuck("a worker has failed".into()));
                }
            }
        }
        Guard(self)
    }
}

/// Which of so many workers owns what has this hash.
#[inline]
pub fn owner(hash: u64, count: usize) -> usize {
    // Tables look at both ends of a hash.
    (((hash >> 20 & 0xFFFF_FFFF) * count as u64) >> 32) as usize
}

/// A packet is sent when it has so many words.
const FULL: usize = 1 << 12;
/// So many packets wait for a worker at most.
const BOX: usize = 64;
/// How often those who wait look whether they are to stop.
const LOOK: Duration = Duration::from_millis(20);

/// One worker's place among all.
pub struct Exchange<'s> {
    /// Its number.
    pub me: usize,
    /// How many there are.
    pub count: usize,
    /// What all see.
    pub shared: &'s Shared,
    packed: Vec<Vec<Word>>,
    to: Vec<SyncSender<Message>>,
    from: Receiver<Message>,
    /// What has come from the level after this one.
    early: VecDeque<Message>,
    /// How many others have expanded everything.
    done: usize,
    /// How the level went for others, as far as they have said.
    levels: Vec<(u64, Summary)>,
    /// How often this one has said how a level went.
    round: u64,
}

impl<'s> Exchange<'s> {
    /// The places of so many.
    pub fn all(count: usize, shared: &'s Shared) -> Vec<Exchange<'s>> {
        let (to, from): (Vec<_>, Vec<_>) = (0..count).map(|_| sync_channel(BOX)).unzip();
        let place = |(me, from)| Exchange {
            me,
            count,
            shared,
            packed: vec![Vec::new(); count],
            to: to.clone(),
            from,
            early: VecDeque::new(),
            done: 0,
            levels: Vec::new(),
            round: 0,
        };
        from.into_iter().enumerate().map(place).collect()
    }

    /// Who owns what has this hash.
    #[inline]
    pub fn owner(&self, hash: u64) -> usize {
        owner(hash, self.count)
    }

    /// All others, those first that come after this one: so not all write to the same one at once.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (me, count) = (self.me, self.count);
        (1..count).map(move |i| (me + i) % count)
    }

    /// Packs a record; is the packet full?
    #[inline]
    pub fn pack(&mut self, to: usize, record: &Record<'_>) -> bool {
        record.write(&mut self.packed[to]);
        self.packed[to].len() >= FULL
    }

    /// Sends a packet, unless there is no place for it now.
    pub fn send(&mut self, to: usize) -> Result<bool, Stopped> {
        if self.packed[to].is_empty() {
            return Ok(true);
        }
        let packet = std::mem::take(&mut self.packed[to]);
        match self.to[to].try_send(Message::Packet(packet)) {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(Message::Packet(packet))) => {
                self.packed[to] = packet;
                self.go_on().map(|()| false)
            }
            Err(_) => Err(self.lost()),
        }
    }

    /// Tells another that everything was expanded, unless there is no place for it now.
    pub fn done(&self, to: usize) -> Result<bool, Stopped> {
        self.try_send(to, Message::Done)
    }

    /// The next packet, if there is one; if `all`, waits until there can be no other.
    pub fn receive(&mut self, all: bool) -> Result<Option<Vec<Word>>, Stopped> {
        loop {
            if all && self.done == self.count - 1 {
                self.done = 0;
                return Ok(None);
            }
            let message = match self.early.pop_front() {
                Some(message) => message,
                None if all => match self.wait()? {
                    Some(message) => message,
                    None => continue,
                },
                None => match self.from.try_recv() {
                    Ok(message) => message,
                    Err(TryRecvError::Empty) => return self.go_on().map(|()| None),
                    Err(TryRecvError::Disconnected) => return Err(self.lost()),
                },
            };
            match message {
                Message::Packet(packet) => return Ok(Some(packet)),
                Message::Done => self.done += 1,
                // From one who has heard before us that everybody has expanded everything.
                Message::Level(round, s) => self.levels.push((round, s)),
            }
        }
    }

    /// Tells all others how the level went, and hears how it went for them.
    pub fn agree(&mut self, mine: Summary) -> Result<Summary, Stopped> {
        self.round += 1;
        for to in self.others() {
            // Two that wait for a place in each other's box would wait for ever.
            while !self.try_send(to, Message::Level(self.round, mine))? {
                self.put_aside()?;
            }
        }
        while self.levels.iter().filter(|(round, _)| *round == self.round).count() + 1 < self.count {
            self.put_aside()?;
        }
        let add = |a: Summary, b: Summary| Summary {
            waiting: a.waiting + b.waiting,
            found: a.found | b.found,
            due: a.due | b.due,
            stats: sum(a.stats, b.stats),
        };
        let round = self.round;
        Ok(self.levels.extract_if(.., |(r, _)| *r == round).fold(mine, |a, (_, b)| add(a, b)))
    }

    /// Keeps a message, if one comes: another may have heard from all, and be ahead.
    fn put_aside(&mut self) -> Result<(), Stopped> {
        match self.wait()? {
            Some(Message::Level(round, s)) => self.levels.push((round, s)),
            Some(message) => self.early.push_back(message),
            None => {}
        }
        Ok(())
    }

    fn try_send(&self, to: usize, message: Message) -> Result<bool, Stopped> {
        match self.to[to].try_send(message) {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => self.go_on().map(|()| false),
            Err(TrySendError::Disconnected(_)) => Err(self.lost()),
        }
    }

    fn wait(&self) -> Result<Option<Message>, Stopped> {
        match self.from.recv_timeout(LOOK) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => self.go_on().map(|()| None),
            Err(RecvTimeoutError::Disconnected) => Err(self.lost()),
        }
    }

    /// Has nobody said to stop?
    fn go_on(&self) -> Result<(), Stopped> {
        match self.shared.stopped.load(Ordering::Acquire) {
            true => Err(self.lost()),
            false => Ok(()),
        }
    }

    fn lost(&self) -> Stopped {
        Stopped(self.shared.why().unwrap_or_else(|| Reason::Stuck("a worker has failed".into())))
    }
}
