//! Control-flow automata: locations, and edges that carry statements.
//!
//! A run starts in the initial location with any values in the variables (a front end that knows better assigns them on the
//! first edges), and takes one edge after the other: it may take an edge if the edge's statement can be run to its end. To
//! reach an *error* location is the bad event; nothing is asked of a run beyond it. In a *final* location a run has ended (where
//! infinite runs matter, it stutters there forever). Elsewhere a run may get stuck: that is nothing bad.
//!
//! **Faults.** A statement that divides by zero, leaves an array or assigns a value outside a variable's range *cannot happen*:
//! a way through a statement on which something has no value blocks, exactly like a failed assumption; other ways through the
//! same statement stay possible. A front end for a language in which such a thing is an error makes an edge of it.
//!
//! [`interpret`] is the meaning, written plainly; [`lbe`] makes large blocks of small edges.

use trellis_expr::{StmtId, Terms, VarId};

pub mod evidence;
pub mod interpret;
pub mod lbe;
pub mod paths;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a vector.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A location of a [`Cfa`].
    LocationId
);
index!(
    /// An edge of a [`Cfa`].
    EdgeId
);

/// Where in the source something was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// An index into [`Cfa::files`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// What a location means for the runs that come to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nothing special.
    Plain,
    /// The bad event.
    Error,
    /// The end.
    Final,
}

/// A location.
#[derive(Debug, Clone)]
pub struct Location {
    /// Its name, for people.
    pub name: String,
    /// Whether a run ends here, well or badly.
    pub kind: Kind,
    /// Where it is in the source, if it is a place there.
    pub place: Option<Place>,
}

/// An edge.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Where it starts.
    pub from: LocationId,
    /// What is done.
    pub stmt: StmtId,
    /// Where it leads.
    pub to: LocationId,
    /// The line it was made from.
    pub place: Option<Place>,
}

/// A control-flow automaton.
#[derive(Debug, Clone)]
pub struct Cfa {
    /// Terms and statements.
    pub terms: Terms,
    /// The variables, all of them, as they are named in the arena. A name that starts with `@` is a front end's own, and nothing that
    /// the model's author has written.
    pub variables: Vec<VarId>,
    /// Those of them that steer the automaton like locations do: abstractions keep them explicit from the start.
    pub control: Vec<VarId>,
    /// Where runs start.
    pub initial: LocationId,
    /// The source files that places speak of.
    pub files: Vec<String>,
    locations: Vec<Location>,
    edges: Vec<Edge>,
    outgoing: Vec<Vec<EdgeId>>,
    incoming: Vec<Vec<EdgeId>>,
}

impl Cfa {
    /// An automaton of one location, where runs start, over the variables of the arena.
    pub fn new(terms: Terms, initial: Location) -> Cfa {
        Cfa {
            terms,
            variables: vec![],
            control: vec![],
            initial: LocationId(0),
            files: vec![],
            locations: vec![initial],
            edges: vec![],
            outgoing: vec![vec![]],
            incoming: vec![vec![]],
        }
    }

    /// One more location.
    pub fn add_location(&mut self, location: Location) -> LocationId {
        self.locations.push(location);
        self.outgoing.push(vec![]);
        self.incoming.push(vec![]);
        LocationId(self.locations.len() as u32 - 1)
    }

    /// One more edge.
    pub fn add_edge(&mut self, edge: Edge) -> EdgeId {
        let id = EdgeId(self.edges.len() as u32);
        self.outgoing[edge.from.index()].push(id);
        self.incoming[edge.to.index()].push(id);
        self.edges.push(edge);
        id
    }

    /// The location behind an id.
    pub fn location(&self, l: LocationId) -> &Location {
        &self.locations[l.index()]
    }

    /// Gives a location another name or meaning.
    pub fn location_mut(&mut self, l: LocationId) -> &mut Location {
        &mut self.locations[l.index()]
    }

    /// The edge behind an id.
    pub fn edge(&self, e: EdgeId) -> &Edge {
        &self.edges[e.index()]
    }

    /// All locations.
    pub fn locations(&self) -> impl ExactSizeIterator<Item = LocationId> + use<> {
        (0..self.locations.len() as u32).map(LocationId)
    }

    /// All edges.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = EdgeId> + use<> {
        (0..self.edges.len() as u32).map(EdgeId)
    }

    /// The edges that leave a location, in the order in which they were added.
    pub fn outgoing(&self, l: LocationId) -> &[EdgeId] {
        &self.outgoing[l.index()]
    }

    /// The edges that lead to a location.
    pub fn incoming(&self, l: LocationId) -> &[EdgeId] {
        &self.incoming[l.index()]
    }

    /// Is it an error location?
    pub fn is_error(&self, l: LocationId) -> bool {
        self.location(l).kind == Kind::Error
    }

    /// The error locations.
    pub fn errors(&self) -> impl Iterator<Item = LocationId> + '_ {
        self.locations().filter(|&l| self.is_error(l))
    }

    /// The locations that can be reached by edges, whatever their statements say; runs do not go on from an error.
    pub fn connected(&self) -> Vec<bool> {
        let mut seen = vec![false; self.locations.len()];
        seen[self.initial.index()] = true;
        let mut todo = vec![self.initial];
        while let Some(l) = todo.pop() {
            if self.is_error(l) {
                continue;
            }
            for &e in self.outgoing(l) {
                let to = self.edge(e).to;
                if !std::mem::replace(&mut seen[to.index()], true) {
                    todo.push(to);
                }
            }
        }
        seen
    }

    /// The same automaton without the locations that no edges lead to, and without what leaves an error.
    pub fn pruned(self) -> Cfa {
        self.pruned_with().0
    }

    /// The same, and what becomes of each location.
    pub fn pruned_with(mut self) -> (Cfa, Vec<Option<LocationId>>) {
        let keep = self.connected();
        let locations = std::mem::take(&mut self.locations);
        let edges = std::mem::take(&mut self.edges);
        self.outgoing.clear();
        self.incoming.clear();
        let mut new = vec![LocationId(u32::MAX); keep.len()];
        for (l, location) in locations.into_iter().enumerate().filter(|(l, _)| keep[*l]) {
            new[l] = self.add_location(location);
        }
        self.initial = new[self.initial.index()];
        for mut edge in edges.into_iter().filter(|e| keep[e.from.index()]) {
            (edge.from, edge.to) = (new[edge.from.index()], new[edge.to.index()]);
            if !self.is_error(edge.from) {
                self.add_edge(edge);
            }
        }
        let kept = new.into_iter().zip(keep).map(|(l, keep)| keep.then_some(l)).collect();
        (self, kept)
    }

    /// The same automaton, edge by edge, where edges that lead to one location lead to another.
    pub fn redirected(&self, new: impl Fn(LocationId) -> LocationId) -> Cfa {
        let mut other = self.clone();
        other.incoming.iter_mut().for_each(Vec::clear);
        for (e, edge) in other.edges.iter_mut().enumerate() {
            edge.to = new(edge.to);
            other.incoming[edge.to.index()].push(EdgeId(e as u32));
        }
        other
    }

    /// Do edges lead around in circles?
    pub fn has_cycles(&self) -> bool {
        // Locations that no cycle leads to go, one after the other.
        let connected = self.connected();
        let live = |e: &EdgeId| connected[self.edge(*e).from.index()] && !self.is_error(self.edge(*e).from);
        let mut waiting: Vec<usize> =
            self.incoming.iter().map(|edges| edges.iter().filter(|e| live(e)).count()).collect();
        let start = |l: &LocationId| connected[l.index()] && waiting[l.index()] == 0;
        let mut todo: Vec<LocationId> = self.locations().filter(start).collect();
        let mut gone = 0;
        while let Some(l) = todo.pop() {
            gone += 1;
            if self.is_error(l) {
                continue;
            }
            for &e in self.outgoing(l) {
                let to = self.edge(e).to;
                waiting[to.index()] -= 1;
                if waiting[to.index()] == 0 {
                    todo.push(to);
                }
            }
        }
        gone < connected.iter().filter(|c| **c).count()
    }

    /// `main.c:12`, or the location's name if it has no place.
    pub fn describe(&self, l: LocationId) -> String {
        let location = self.location(l);
        match location.place {
            Some(place) => format!("{} ({})", location.name, self.show_place(place)),
            None => location.name.clone(),
        }
    }

    /// `main.c:12:3`
    pub fn show_place(&self, place: Place) -> String {
        let file = self.files.get(place.file as usize).map_or("?", String::as_str);
        format!("{file}:{}:{}", place.line, place.column)
    }
}
