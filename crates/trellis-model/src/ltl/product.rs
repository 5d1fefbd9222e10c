//! The product of a control-flow automaton and a Büchi automaton (004 §3.4.2): an automaton again, whose locations have marks.
//!
//! A *moment* is the end of an edge after which a letter is read; the formalism says which edges these are. A product's location is
//! a location, a state of the Büchi automaton, and the marks of the edge by which that state was just entered. So marks lie on
//! locations, edges carry statements only, and whatever makes large blocks, abstracts, or refutes paths of automata does so here.
//! A run of the product is *fair* if it meets each mark infinitely often; fair runs are the runs that the automaton accepts.
//! Where not every edge reads a letter, one more mark says that letters are read again and again.
//!
//! A run that has ended (in a final location, or in an error) stutters: it reads the same letter forever. A run that is stuck
//! elsewhere is none. The state before the first edge is not read.

use rustc_hash::FxHashMap;
use trellis_expr::defined::{self, Unsupported};
use trellis_expr::{StmtId, TermId, VarId};

use super::{Buchi, Cube, components, relevant};
use crate::cfa::lbe::{self, Blocks};
use crate::cfa::{Cfa, Edge, EdgeId, Kind, Location, LocationId};

/// What a formula is asked of.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The automaton.
    pub cfa: Cfa,
    /// For each of its edges: is a letter read after it?
    pub reads: Vec<bool>,
    /// Truth values that stand for being in one of these locations; they are no variables of the automaton.
    pub places: Vec<(VarId, Vec<LocationId>)>,
    /// Where a run can do nothing and stays as it is, of a model that goes from event to event: a location of its name stands for each, and an
    /// edge after which no letter is read leads on.
    pub stuck: Option<TermId>,
}

impl Subject {
    /// A letter is read after every edge.
    pub fn every_edge(cfa: Cfa) -> Subject {
        let reads = vec![true; cfa.edges().len()];
        Subject { cfa, reads, places: vec![], stuck: None }
    }

    /// Without the errors, and what leads to them: a formula is asked instead.
    pub fn without_errors(cfa: &Cfa, reads: impl Fn(&Edge) -> bool) -> Subject {
        let mut rest = Cfa::new(cfa.terms.clone(), cfa.location(LocationId(0)).clone());
        (rest.variables, rest.control, rest.files) = (cfa.variables.clone(), cfa.control.clone(), cfa.files.clone());
        rest.initial = cfa.initial;
        cfa.locations().skip(1).for_each(|l| _ = rest.add_location(cfa.location(l).clone()));
        let mut letters = vec![];
        for e in cfa.edges().map(|e| cfa.edge(e)).filter(|e| !cfa.is_error(e.to)) {
            rest.add_edge(e.clone());
            letters.push(reads(e));
        }
        Subject { cfa: rest, reads: letters, places: vec![], stuck: None }
    }

    /// From here on, a run has ended where no edge leaves.
    pub fn end_where_stuck(&mut self) {
        for l in self.cfa.locations() {
            if self.cfa.outgoing(l).is_empty() && self.cfa.location(l).kind == Kind::Plain {
                self.cfa.location_mut(l).kind = Kind::Final;
            }
        }
    }

    /// Does a run stutter there?
    pub fn is_end(&self, l: LocationId) -> bool {
        self.cfa.location(l).kind != Kind::Plain
    }
}

/// A product.
#[derive(Debug, Clone)]
pub struct Product {
    /// The automaton; it has no errors.
    pub cfa: Cfa,
    /// How many marks there are.
    pub count: u32,
    /// The marks of each location.
    pub marks: Vec<u64>,
    /// For each edge the one that it was made from; none where a run that has ended stutters.
    pub origin: Vec<Option<EdgeId>>,
    /// The variables that matter to runs and letters: a run repeats if these do.
    pub relevant: Vec<VarId>,
    /// For each location, where that is, and in which state the Büchi automaton is.
    pub places: Vec<(LocationId, u32)>,
}

impl Product {
    /// A fair run meets all of these again and again.
    pub fn all_marks(&self) -> u64 {
        if self.count == 64 { u64::MAX } else { (1 << self.count) - 1 }
    }
}

impl Product {
    /// In large blocks. A mark must not disappear inside a block: a location stays if it has one that not all locations on its
    /// cycles have. (Some location of each cycle stays in any case.)
    pub fn blocks(&self) -> Blocks {
        let count = self.marks.len();
        let after =
            |n: u32| self.cfa.outgoing(LocationId(n)).iter().map(|&e| self.cfa.edge(e).to.0).collect::<Vec<u32>>();
        let component = components(count, after);
        let mut common = vec![u64::MAX; count];
        let mut cyclic = vec![false; count];
        for n in 0..count {
            let at = component[n] as usize;
            common[at] &= self.marks[n];
            cyclic[at] |= after(n as u32).iter().any(|&m| component[m as usize] as usize == at);
        }
        let stays = |l: LocationId| {
            let at = component[l.index()] as usize;
            cyclic[at] && self.marks[l.index()] & !common[at] != 0
        };
        lbe::encode_keeping(&self.cfa, &stays)
    }
}

/// Multiplies. The atoms are terms of the subject's arena.
pub fn product(subject: &Subject, atoms: &[TermId], automaton: &Buchi) -> Result<Product, Unsupported> {
    let mut terms = subject.cfa.terms.clone();
    let holds: Result<Vec<TermId>, _> = atoms.iter().map(|&a| defined::holds(&mut terms, a)).collect();
    let everywhere = subject.reads.iter().all(|&r| r);
    let (first, second) = (LocationId(0), automaton.edges.len() as u32);
    let initial = subject.cfa.location(subject.cfa.initial).clone();
    let mut cfa = Cfa::new(terms, Location { kind: Kind::Plain, ..initial });
    cfa.variables = subject.cfa.variables.clone();
    cfa.control = subject.cfa.control.clone();
    cfa.files = subject.cfa.files.clone();
    let mut maker = Maker {
        subject,
        automaton,
        holds: holds?,
        letter: if everywhere { 0 } else { 1 << automaton.marks },
        // No state is the number of states: the Büchi automaton has not started, and may start in any of its initial states.
        known: FxHashMap::from_iter([((subject.cfa.initial, second, 0), first)]),
        assumed: FxHashMap::default(),
        product: Product {
            cfa,
            count: automaton.marks + u32::from(!everywhere),
            marks: vec![0],
            origin: vec![],
            relevant: relevant(&subject.cfa, atoms).into_iter().collect(),
            places: vec![(subject.cfa.initial, second)],
        },
    };
    let mut next = 0;
    while next < maker.product.places.len() {
        maker.expand(LocationId(next as u32));
        next += 1;
    }
    Ok(maker.product)
}

struct Maker<'a> {
    subject: &'a Subject,
    automaton: &'a Buchi,
    /// The atoms, without faults.
    holds: Vec<TermId>,
    /// The mark of edges that read a letter.
    letter: u64,
    known: FxHashMap<(LocationId, u32, u64), LocationId>,
    assumed: FxHashMap<(Cube, Vec<Cube>, LocationId), Option<StmtId>>,
    product: Product,
}

impl Maker<'_> {
    fn expand(&mut self, from: LocationId) {
        let (l, q) = self.product.places[from.index()];
        if self.subject.is_end(l) {
            let skip = self.product.cfa.terms.skip();
            self.read(from, None, skip, l, q);
            return;
        }
        for &e in self.subject.cfa.outgoing(l) {
            let edge = self.subject.cfa.edge(e);
            if self.subject.reads[e.index()] {
                self.read(from, Some(e), edge.stmt, edge.to, q);
            } else {
                let to = self.location(edge.to, q, 0);
                self.edge(from, Some(e), edge.stmt, to);
            }
        }
    }

    /// An edge for each edge of the Büchi automaton.
    fn read(&mut self, from: LocationId, e: Option<EdgeId>, stmt: StmtId, l: LocationId, q: u32) {
        let automaton = self.automaton;
        let states: Vec<u32> = if q as usize == automaton.edges.len() { automaton.initial.clone() } else { vec![q] };
        let mut edges: Vec<_> = states.iter().flat_map(|&q| &automaton.edges[q as usize]).collect();
        edges.sort_unstable_by_key(|edge| (edge.to, edge.cube, edge.marks));
        edges.dedup();
        for edge in &edges {
            // Where another edge to the same state can be taken that has more marks, this one need not be.
            let better = |other: &&&super::Edge| {
                other.to == edge.to && other.marks != edge.marks && edge.marks & !other.marks == 0
            };
            let without: Vec<Cube> = edges.iter().filter(better).map(|e| e.cube).collect();
            let Some(assumed) = self.assume(edge.cube, &without, l) else { continue };
            let to = self.location(l, edge.to, edge.marks | self.letter);
            let stmt = self.product.cfa.terms.seq([stmt, assumed]);
            self.edge(from, e, stmt, to);
        }
    }

    /// What a cube says in a location, without others; none if it is plainly false there.
    fn assume(&mut self, cube: Cube, without: &[Cube], l: LocationId) -> Option<StmtId> {
        if let Some(&done) = self.assumed.get(&(cube, without.to_vec(), l)) {
            return done;
        }
        let mut parts = vec![self.cube(cube, l)];
        for &other in without {
            let other = self.cube(other, l);
            parts.push(self.product.cfa.terms.not(other));
        }
        let terms = &mut self.product.cfa.terms;
        let all = terms.and(parts);
        let done = (terms.as_bool(all) != Some(false)).then(|| terms.assume(all));
        self.assumed.insert((cube, without.to_vec(), l), done);
        done
    }

    /// A cube in a location.
    fn cube(&mut self, cube: Cube, l: LocationId) -> TermId {
        let (subject, holds, terms) = (self.subject, &self.holds, &mut self.product.cfa.terms);
        let mut here = FxHashMap::default();
        for (v, places) in &subject.places {
            here.insert(*v, terms.bool(places.contains(&l)));
        }
        let mut parts = vec![];
        for (i, &atom) in holds.iter().enumerate() {
            if (cube.positive | cube.negative) >> i & 1 == 0 {
                continue;
            }
            let atom = if here.is_empty() { atom } else { terms.substitute(atom, &here) };
            parts.push(if cube.positive >> i & 1 == 1 { atom } else { terms.not(atom) });
        }
        terms.and(parts)
    }

    fn location(&mut self, l: LocationId, q: u32, marks: u64) -> LocationId {
        let (subject, product) = (self.subject, &mut self.product);
        *self.known.entry((l, q, marks)).or_insert_with(|| {
            let location = Location { kind: Kind::Plain, ..subject.cfa.location(l).clone() };
            product.marks.push(marks);
            product.places.push((l, q));
            product.cfa.add_location(location)
        })
    }

    fn edge(&mut self, from: LocationId, e: Option<EdgeId>, stmt: StmtId, to: LocationId) {
        let place = e.and_then(|e| self.subject.cfa.edge(e).place);
        self.product.cfa.add_edge(Edge { from, stmt, to, place });
        self.product.origin.push(e);
    }
}
