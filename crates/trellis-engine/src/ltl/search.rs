//! Is there a fair cycle? Two searches, on the fly, over any graph whose nodes have marks.
//!
//! [`Search::Nested`] is nested depth-first search with the colours of Schwoon and Esparza (*A note on on-the-fly verification
//! algorithms*, TACAS 2005): cyan is on the stack, blue is done, red is done for the inner search too. Several marks are counted one
//! after the other. [`Search::Components`] is Couvreur's search for strongly connected components (*On-the-fly verification of linear
//! temporal logic*, FM 1999): marks are collected while components grow. Neither forgets a node that was expanded before it became
//! part of a cycle, so both find a fair cycle if there is one, in whatever order edges come.
//!
//! With no marks at all every cycle is fair. What is found is told by a short path: a shortest one to the cycle, and around that from
//! mark to mark.
//!
//! The loops are their own: a depth-first search has to come back to a node after its successors.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

/// How to look for a fair cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Search {
    /// Nested depth-first search.
    #[default]
    Nested,
    /// Strongly connected components.
    Components,
}

/// A graph that is made while it is searched.
pub trait Space {
    /// Why it cannot be made further.
    type Error;
    /// Where runs start.
    fn roots(&mut self) -> Result<Vec<u32>, Self::Error>;
    /// What follows a node: by which edge, and which node. It must not change during a search.
    fn successors(&mut self, n: u32) -> Result<Vec<(u32, u32)>, Self::Error>;
    /// The marks of a node.
    fn marks(&self, n: u32) -> u64;
    /// All marks that a fair cycle meets.
    fn all_marks(&self) -> u64;
}

/// A path to a fair cycle, and once around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// Where it starts.
    pub root: u32,
    /// Edges and nodes up to the first node of the cycle.
    pub stem: Vec<(u32, u32)>,
    /// Edges and nodes of the cycle, up to its first node again.
    pub cycle: Vec<(u32, u32)>,
}

impl Path {
    /// The first node of the cycle.
    pub fn head(&self) -> u32 {
        self.stem.last().map_or(self.root, |s| s.1)
    }
}

/// A fair cycle, if there is one that can be reached.
pub fn find<S: Space>(space: &mut S, search: Search) -> Result<Option<Path>, S::Error> {
    match search {
        Search::Nested => Nested::new(space).run(),
        Search::Components => Components::new(space).run(),
    }
}

/// A node, and how many of the marks have been met since the last time all were.
type Counted = (u32, u32);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Colour {
    Cyan,
    Blue,
    Red,
}

struct Frame {
    node: Counted,
    successors: Vec<(u32, u32)>,
    next: usize,
}

struct Nested<'s, S> {
    space: &'s mut S,
    count: u32,
    colours: FxHashMap<Counted, Colour>,
}

impl<'s, S: Space> Nested<'s, S> {
    fn new(space: &'s mut S) -> Self {
        let count = space.all_marks().count_ones();
        Nested { space, count, colours: FxHashMap::default() }
    }

    /// The node, entered with so many marks met; when all have been met, counting starts anew.
    fn enter(&self, n: u32, met: u32) -> Counted {
        let marks = self.space.marks(n);
        let mut met = if met == self.count { 0 } else { met };
        while met < self.count && marks >> met & 1 == 1 {
            met += 1;
        }
        (n, met)
    }

    fn is_fair(&self, node: Counted) -> bool {
        node.1 == self.count
    }

    fn frame(&mut self, node: Counted) -> Result<Frame, S::Error> {
        Ok(Frame { node, successors: self.space.successors(node.0)?, next: 0 })
    }

    fn run(mut self) -> Result<Option<Path>, S::Error> {
        for root in self.space.roots()? {
            let root = self.enter(root, 0);
            if self.colours.contains_key(&root) {
                continue;
            }
            self.colours.insert(root, Colour::Cyan);
            let mut stack = vec![self.frame(root)?];
            while let Some(top) = stack.last_mut() {
                let from = top.node;
                if let Some(&(_, to)) = top.successors.get(top.next) {
                    top.next += 1;
                    let to = self.enter(to, from.1);
                    match self.colours.get(&to) {
                        Some(Colour::Cyan) if self.is_fair(from) || self.is_fair(to) => {
                            return self.path(closed(&stack, &[], to));
                        }
                        Some(_) => {}
                        None => {
                            self.colours.insert(to, Colour::Cyan);
                            let frame = self.frame(to)?;
                            stack.push(frame);
                        }
                    }
                    continue;
                }
                if self.is_fair(from) {
                    if let Some(cycle) = self.inner(&stack)? {
                        return self.path(cycle);
                    }
                    self.colours.insert(from, Colour::Red);
                } else {
                    self.colours.insert(from, Colour::Blue);
                }
                stack.pop();
            }
        }
        Ok(None)
    }

    fn path(self, (root, members): (u32, FxHashSet<u32>)) -> Result<Option<Path>, S::Error> {
        let visited: FxHashSet<u32> = self.colours.keys().map(|n| n.0).collect();
        path(self.space, root, &visited, &members).map(Some)
    }

    /// A way from the top of the stack back to something on it.
    fn inner(&mut self, outer: &[Frame]) -> Result<Option<(u32, FxHashSet<u32>)>, S::Error> {
        let seed = outer[outer.len() - 1].node;
        let mut stack = vec![self.frame(seed)?];
        while let Some(top) = stack.last_mut() {
            let from = top.node;
            let Some(&(_, to)) = top.successors.get(top.next) else {
                stack.pop();
                continue;
            };
            top.next += 1;
            let to = self.enter(to, from.1);
            match self.colours.get(&to) {
                Some(Colour::Cyan) => return Ok(Some(closed(outer, &stack[1..], to))),
                Some(Colour::Blue) => {
                    self.colours.insert(to, Colour::Red);
                    let frame = self.frame(to)?;
                    stack.push(frame);
                }
                // Red ones lead nowhere; the others would have been visited by the outer search.
                _ => {}
            }
        }
        Ok(None)
    }
}

/// The cycle on the stacks that an edge to a node of the outer one closes: the root, and the nodes.
fn closed(outer: &[Frame], inner: &[Frame], to: Counted) -> (u32, FxHashSet<u32>) {
    let at = outer.iter().position(|f| f.node == to).expect("cyan nodes are on the stack");
    (outer[0].node.0, outer[at..].iter().chain(inner).map(|f| f.node.0).collect())
}

struct Components<'s, S> {
    space: &'s mut S,
    /// When a node was met; none again once its component has been left.
    order: FxHashMap<u32, Option<usize>>,
    /// Nodes whose components are open, as they were met.
    live: Vec<u32>,
    /// Open components: when the first node was met, and which marks there are.
    open: Vec<(usize, u64)>,
}

impl<'s, S: Space> Components<'s, S> {
    fn new(space: &'s mut S) -> Self {
        Components { space, order: FxHashMap::default(), live: vec![], open: vec![] }
    }

    fn meet(&mut self, n: u32) -> Result<Frame, S::Error> {
        let now = self.live.len();
        self.order.insert(n, Some(now));
        self.live.push(n);
        self.open.push((now, self.space.marks(n)));
        Ok(Frame { node: (n, now as u32), successors: self.space.successors(n)?, next: 0 })
    }

    fn run(mut self) -> Result<Option<Path>, S::Error> {
        let all = self.space.all_marks();
        for root in self.space.roots()? {
            if self.order.contains_key(&root) {
                continue;
            }
            let mut stack = vec![self.meet(root)?];
            while let Some(top) = stack.last_mut() {
                if let Some(&(_, to)) = top.successors.get(top.next) {
                    top.next += 1;
                    match self.order.get(&to) {
                        None => {
                            let frame = self.meet(to)?;
                            stack.push(frame);
                        }
                        // Left already.
                        Some(None) => {}
                        Some(&Some(when)) => {
                            let mut marks = 0;
                            while let Some(&(first, more)) = self.open.last() {
                                marks |= more;
                                if first <= when {
                                    self.open.last_mut().expect("just seen").1 = marks;
                                    break;
                                }
                                self.open.pop();
                            }
                            if marks & all == all {
                                let first = self.open.last().expect("not empty").0;
                                let members: FxHashSet<u32> = self.live[first..].iter().copied().collect();
                                let visited = self.order.keys().copied().collect();
                                return path(self.space, root, &visited, &members).map(Some);
                            }
                        }
                    }
                    continue;
                }
                let when = top.node.1 as usize;
                if self.open.last().is_some_and(|c| c.0 == when) {
                    self.open.pop();
                    for n in self.live.drain(when..) {
                        self.order.insert(n, None);
                    }
                }
                stack.pop();
            }
        }
        Ok(None)
    }
}

/// A short path to a cycle inside a strongly connected set.
fn path<S: Space>(
    space: &mut S,
    root: u32,
    visited: &FxHashSet<u32>,
    members: &FxHashSet<u32>,
) -> Result<Path, S::Error> {
    let stem = shortest(space, root, |n| visited.contains(&n), |n| members.contains(&n))?;
    let head = stem.last().map_or(root, |s| s.1);
    let cycle = around(space, head, members)?;
    Ok(Path { root, stem, cycle })
}

/// A shortest path inside a set of nodes to one that is wanted; empty if the first one is.
pub fn shortest<S: Space>(
    space: &mut S,
    from: u32,
    inside: impl Fn(u32) -> bool,
    wanted: impl Fn(u32) -> bool,
) -> Result<Vec<(u32, u32)>, S::Error> {
    if wanted(from) {
        return Ok(vec![]);
    }
    onward(space, from, inside, wanted)
}

/// The same, with at least one edge.
fn onward<S: Space>(
    space: &mut S,
    from: u32,
    inside: impl Fn(u32) -> bool,
    wanted: impl Fn(u32) -> bool,
) -> Result<Vec<(u32, u32)>, S::Error> {
    let mut before: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
    let mut todo = VecDeque::from([from]);
    while let Some(n) = todo.pop_front() {
        for (via, to) in space.successors(n)? {
            if !inside(to) || before.contains_key(&to) {
                continue;
            }
            before.insert(to, (via, n));
            if wanted(to) {
                let mut path = vec![];
                let mut at = to;
                loop {
                    let (via, previous) = before[&at];
                    path.push((via, at));
                    at = previous;
                    if at == from {
                        path.reverse();
                        return Ok(path);
                    }
                }
            }
            todo.push_back(to);
        }
    }
    unreachable!("the nodes are connected")
}

/// A cycle through a node of a strongly connected set that has all marks: from one mark to the nearest one not yet met.
pub fn around<S: Space>(space: &mut S, head: u32, members: &FxHashSet<u32>) -> Result<Vec<(u32, u32)>, S::Error> {
    let all = space.all_marks();
    let (mut at, mut met, mut cycle) = (head, space.marks(head), vec![]);
    while met & all != all {
        let marks: FxHashMap<u32, u64> = members.iter().map(|&n| (n, space.marks(n))).collect();
        let part = onward(space, at, |n| members.contains(&n), |n| marks[&n] & all & !met != 0)?;
        for &(_, n) in &part {
            met |= marks[&n];
        }
        at = part.last().map_or(at, |s| s.1);
        cycle.extend(part);
    }
    if cycle.is_empty() || at != head {
        cycle.extend(onward(space, at, |n| members.contains(&n), |n| n == head)?);
    }
    Ok(cycle)
}
