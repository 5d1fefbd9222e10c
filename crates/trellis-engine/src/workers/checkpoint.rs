//! Explorations that can be taken up again: all nodes, how each was reached, and which are to be expanded next, as they are between two levels.
//!
//! A checkpoint is a *head*, a few lines of text, and a file of nodes for each worker that wrote it. The files of nodes are written first,
//! under names of their own, and then the head takes the place of the one before: whenever a process ends, there is one whole checkpoint (or none).
//! A head says what was explored; nothing else is taken up. Any number of workers may go on: nodes are dealt out anew. Nothing that
//! is read is trusted more than a search is: what comes of it is checked as ever.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use trellis_meter::Stats;
use trellis_order::Word;

use super::exchange::owner;
use crate::arg::{Arg, Mark};
use crate::explore::NONE;
use crate::reach::Update;
use crate::stored::Shard;
use crate::table::{Table, hash_words};

/// Where to keep what has been explored, and how often.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// A directory; it is made if there is none.
    pub dir: PathBuf,
    /// What is explored: model, question, and all that changes what is stored.
    pub what: String,
    /// So long between two of them.
    pub every: Duration,
}

/// An exploration that was taken up.
pub struct Resumed {
    /// For each worker: its nodes, and those to be expanded next.
    pub(super) shards: Vec<(Shard, Vec<u32>)>,
    /// What was counted before.
    pub(super) stats: Stats,
}

const TITLE: &str = "trellis checkpoint 1";
const HEAD: &str = "head";
/// No more workers than this have written one.
const MOST: u64 = 1 << 10;

/// Words of a node beside its state: parent and step, mark.
const MORE: usize = 2;

fn part(dir: &Path, generation: u64, i: usize) -> PathBuf {
    dir.join(format!("nodes-{generation}-{i}"))
}

/// The number of a file of nodes.
fn generation(name: &str) -> Option<u64> {
    name.strip_prefix("nodes-")?.split('-').next()?.parse().ok()
}

/// What a worker writes: how many nodes there are, how many come before the level that is next, nodes, and a sum of all words.
pub(super) struct Writer<'c> {
    checkpoint: &'c Checkpoint,
    generation: u64,
    last: Instant,
}

impl<'c> Writer<'c> {
    /// Numbers go on from those that are there. All workers make one, before any of them writes.
    pub fn new(checkpoint: &'c Checkpoint) -> io::Result<Writer<'c>> {
        fs::create_dir_all(&checkpoint.dir)?;
        let mut last = 0;
        for file in fs::read_dir(&checkpoint.dir)? {
            last = last.max(generation(&file?.file_name().to_string_lossy()).unwrap_or(0));
        }
        Ok(Writer { checkpoint, generation: last, last: Instant::now() })
    }

    /// Is it time for the next one?
    pub fn is_due(&self) -> bool {
        self.last.elapsed() >= self.checkpoint.every
    }

    /// Writes the nodes of a worker.
    pub fn nodes(&mut self, me: usize, shard: &Shard, first: u32) -> io::Result<()> {
        self.generation += 1;
        let mut out = Sum::new(BufWriter::new(File::create(part(&self.checkpoint.dir, self.generation, me))?));
        let count = shard.nodes() as u32;
        out.word(u64::from(count))?;
        out.word(u64::from(first))?;
        for n in 0..count {
            let (key, elem) = shard.state(n);
            key.iter().chain(elem).try_for_each(|&w| out.word(w))?;
            let (parent, via) = shard.origin(n);
            out.word(u64::from(parent) << 32 | u64::from(via))?;
            out.word(match shard {
                Shard::Table(..) => 0,
                Shard::Arg(arg) => match arg.nodes[n as usize].mark {
                    Mark::Waiting => 0,
                    Mark::Passed => 1,
                    _ => 2,
                },
            })?;
        }
        let sum = out.sum;
        out.word(sum)?;
        out.to.into_inner()?.sync_all()
    }

    /// Everybody has written: the head makes it the checkpoint, and the one before is removed.
    pub fn head(&mut self, workers: usize, widths: (usize, usize), update: Update, stats: &Stats) -> io::Result<()> {
        let (dir, generation) = (&self.checkpoint.dir, self.generation);
        let Stats { added, expanded, steps, covered, joins, .. } = stats;
        let text = format!(
            "{TITLE}\nof {}\nupdate {update:?}\nwords {} {}\nworkers {workers}\ngeneration {generation}\n\
             counts {added} {expanded} {steps} {covered} {joins}\n",
            self.checkpoint.what, widths.0, widths.1
        );
        let temporary = dir.join("head.new");
        let mut file = File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(temporary, dir.join(HEAD))?;
        for file in fs::read_dir(dir)? {
            let file = file?;
            if self::generation(&file.file_name().to_string_lossy()).is_some_and(|g| g < generation) {
                fs::remove_file(file.path())?;
            }
        }
        Ok(())
    }

    /// The next one is due after as long again.
    pub fn written(&mut self) {
        self.last = Instant::now();
    }
}

/// What a head says beside what it is of.
struct Head {
    widths: [u64; 2],
    parts: u64,
    generation: u64,
    stats: Stats,
}

/// Can an exploration of this be taken up in a directory? If not, why.
pub fn is_of(dir: &Path, what: &str, update: Update) -> Result<(), String> {
    head(dir, what, update).map(|_| ())
}

fn head(dir: &Path, what: &str, update: Update) -> Result<Head, String> {
    let head = dir.join(HEAD);
    let text = fs::read_to_string(&head).map_err(|e| format!("{}: cannot be read: {e}", head.display()))?;
    let mut lines = text.lines();
    let damaged = || format!("{}: this is no checkpoint, or it is damaged", head.display());
    let mut line = |name: &str| lines.next().and_then(|l| l.strip_prefix(name)).map(str::trim).ok_or_else(damaged);
    line(TITLE)?;
    if line("of ")? != what {
        return Err(format!(
            "{}: a checkpoint of another model or property, or of other options: go on with what it was made with",
            dir.display()
        ));
    }
    if line("update ")? != format!("{update:?}") {
        return Err(format!("{}: a checkpoint of another kind of update", dir.display()));
    }
    let numbers =
        |text: &str| text.split(' ').map(|n| n.parse::<u64>().map_err(|_| damaged())).collect::<Result<Vec<_>, _>>();
    let [key, elem] = numbers(line("words ")?)?[..] else { return Err(damaged()) };
    let [parts @ 1..=MOST] = numbers(line("workers ")?)?[..] else { return Err(damaged()) };
    let [generation] = numbers(line("generation ")?)?[..] else { return Err(damaged()) };
    let [added, expanded, steps, covered, joins] = numbers(line("counts ")?)?[..] else { return Err(damaged()) };
    let stats = Stats { added, expanded, steps, covered, joins, ..Stats::default() };
    Ok(Head { widths: [key, elem], parts, generation, stats })
}

/// Takes up the exploration of this in a directory, with so many workers; or says why that cannot be.
pub fn resume(
    dir: &Path,
    what: &str,
    update: Update,
    widths: (usize, usize),
    workers: usize,
) -> Result<Resumed, String> {
    let Head { widths: written, parts, generation, stats } = head(dir, what, update)?;
    if written != [widths.0 as u64, widths.1 as u64] {
        return Err(format!("{}: a checkpoint of states of another size", dir.display()));
    }
    let paths: Vec<PathBuf> = (0..parts as usize).map(|i| part(dir, generation, i)).collect();
    let shards = deal(&paths, update, widths, workers).map_err(|(path, why)| format!("{}: {why}", path.display()))?;
    Ok(Resumed { shards, stats })
}

type Broken<'p> = (&'p Path, String);

/// Reads all nodes, and gives each to the worker that owns it now. Those to be expanded come after all others.
fn deal(
    paths: &[PathBuf],
    update: Update,
    (key_width, elem_width): (usize, usize),
    workers: usize,
) -> Result<Vec<(Shard, Vec<u32>)>, Broken<'_>> {
    let width = key_width + elem_width;
    let new = |_| match update {
        Update::Simple => Shard::Table(Table::new(width), key_width),
        Update::Cover | Update::Join => Shard::Arg(Arg::new(key_width, elem_width)),
    };
    let mut shards: Vec<Shard> = (0..workers).map(new).collect();
    // For each file, what its nodes are called now.
    let mut numbers: Vec<Vec<u32>> = paths.iter().map(|_| Vec::new()).collect();
    let mut firsts = Vec::new();
    for frontier in [false, true] {
        if frontier {
            firsts = shards.iter().map(|s| s.nodes() as u32).collect();
        }
        for (path, numbers) in paths.iter().zip(&mut numbers) {
            let read = |e: io::Error| (&**path, format!("cannot be read, or is damaged: {e}"));
            let add = |node: &[Word]| {
                let (state, [from, mark]) = node.split_last_chunk::<MORE>().ok_or(io::ErrorKind::InvalidData)?;
                let (key, elem) = state.split_at(key_width);
                let hash = hash_words(if update == Update::Simple { state } else { key });
                let at = owner(hash, workers);
                let (parent, via) = ((from >> 32) as u32, *from as u32);
                let full = |_| io::Error::from(io::ErrorKind::OutOfMemory);
                let n = match &mut shards[at] {
                    Shard::Table(table, _) => table.add(state, hash, parent, via).map_err(full)?,
                    Shard::Arg(arg) => {
                        let k = arg.key_id(key).map_err(full)?;
                        let n = arg.add(k, elem, parent, via).map_err(full)?;
                        match mark {
                            0 => {}
                            1 => arg.nodes[n as usize].mark = Mark::Passed,
                            _ => arg.retire(n, Mark::Replaced),
                        }
                        Some(n)
                    }
                };
                let n = n.filter(|n| *n < NONE / workers as u32).ok_or(io::ErrorKind::InvalidData)?;
                numbers.push(n * workers as u32 + at as u32);
                Ok(())
            };
            nodes(path, width, frontier, add).map_err(read)?;
        }
    }
    // Parents are called otherwise now.
    let count = paths.len() as u32;
    let renamed = |old: u32| match old {
        NONE => Some(NONE),
        old => numbers[(old % count) as usize].get((old / count) as usize).copied(),
    };
    let missing = || (&*paths[0], "is damaged: a node has a parent that is not there".to_string());
    for shard in &mut shards {
        for n in 0..shard.nodes() as u32 {
            let (parent, via) = shard.origin(n);
            let parent = renamed(parent).ok_or_else(missing)?;
            match shard {
                Shard::Table(table, _) => table.reached(n, parent, via),
                Shard::Arg(arg) => arg.nodes[n as usize].parent = parent,
            }
        }
    }
    let frontier = |(shard, first): (Shard, u32)| {
        let waits = |n: &u32| match &shard {
            Shard::Table(..) => true,
            Shard::Arg(arg) => arg.nodes[*n as usize].mark == Mark::Waiting,
        };
        let next = (first..shard.nodes() as u32).filter(waits).collect();
        (shard, next)
    };
    Ok(shards.into_iter().zip(firsts).map(frontier).collect())
}

/// Reads the nodes of a file that are to be expanded, or the others.
fn nodes(path: &Path, width: usize, frontier: bool, mut add: impl FnMut(&[Word]) -> io::Result<()>) -> io::Result<()> {
    let mut from = Sum::new(BufReader::new(File::open(path)?));
    let (count, first) = (from.next()?, from.next()?);
    let mut node = vec![0; width + MORE];
    for n in 0..count {
        for word in &mut node {
            *word = from.next()?;
        }
        if (n >= first) == frontier {
            add(&node)?;
        }
    }
    let sum = from.sum;
    if from.next()? != sum {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the sum is wrong"));
    }
    Ok(())
}

/// Words on their way to or from a file, and their sum.
struct Sum<T> {
    to: T,
    sum: u64,
}

impl<T> Sum<T> {
    fn new(to: T) -> Sum<T> {
        Sum { to, sum: 0 }
    }

    fn add(&mut self, word: Word) {
        self.sum = (self.sum.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl<T: Write> Sum<T> {
    fn word(&mut self, word: Word) -> io::Result<()> {
        self.add(word);
        self.to.write_all(&word.to_le_bytes())
    }
}

impl<T: Read> Sum<T> {
    fn next(&mut self) -> io::Result<Word> {
        let mut bytes = [0; 8];
        self.to.read_exact(&mut bytes)?;
        let word = u64::from_le_bytes(bytes);
        self.add(word);
        Ok(word)
    }
}
