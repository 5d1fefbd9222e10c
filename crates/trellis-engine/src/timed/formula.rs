//! Formulas of linear temporal logic about networks: is some fair run accepted by the automaton of what must not be?
//!
//! The runs of a network are the paths of the graph of [`super::live`], for models without clocks as well (their zones say nothing),
//! or of states with the elements of lattices (`runs`). It is made while its product with the automaton is searched
//! ([`crate::ltl::search`]); what a step must not forget, marks of the automaton, time that passed, a party that moved, is
//! remembered where it leads. A run that ends reads its last letter for ever.
//! Parties that are treated strongly fairly are looked at afterwards, on the whole product ([`crate::ltl::fair`]).
//!
//! What this deliberately does not do: clock constraints as atoms, and fairness, priorities or lattice variables with clocks. They
//! are refused by name.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::ltl::{Letter, Word};
use trellis_model::network::temporal::Obligations;
use trellis_model::network::{Certificate, Course, Judge, Network, Temporal, Trace, Transitions};

use super::live::{Edge, Failure, Graph, Measure, NONE, refused, unknown, with_measure};
use super::runs::{Plain, Runs, Zoned};
use super::target::Error;
use crate::ltl::fair;
use crate::ltl::search::{self, Search, Space};
use crate::network::{Answer, Broken};
use trellis_meter::{Meter, Progress};

/// Asks a formula of all runs.
pub fn check(net: &Network, asked: &Temporal, search: Search, meter: &mut Meter) -> Result<Answer, Box<Broken>> {
    let timed = !net.clocks.is_empty();
    if timed && !net.lattices.is_empty() {
        return Ok(unknown("formulas about models with both clocks and lattice variables"));
    }
    if timed && net.has_priorities {
        return Ok(unknown("formulas about models with both clocks and priorities"));
    }
    if timed && !asked.fair.is_empty() {
        return Ok(unknown("fairness in models with clocks"));
    }
    let Some(obligations) = asked.obligations() else {
        return Ok(unknown("more than 64 acceptance sets and parties"));
    };
    if net.has_rates() {
        return Ok(unknown("formulas where clocks can stand still"));
    }
    if !net.lattices.is_empty() {
        return explore(net, Plain::new(net), asked, obligations, search, meter);
    }
    let zoned = |graph| Zoned { graph, moves: Transitions::default() };
    if !asked.non_zeno {
        let graph = Graph::new(net, &asked.query, Measure::None);
        return explore(net, zoned(graph), asked, obligations, search, meter);
    }
    let (measured, z) = with_measure(net);
    let graph = Graph::new(&measured, &asked.query, Measure::Steps(z));
    explore(net, zoned(graph), asked, obligations, search, meter)
}

/// `net` is as the user knows it.
fn explore(
    net: &Network,
    graph: impl Runs,
    asked: &Temporal,
    obligations: Obligations,
    search: Search,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let mut product = Product::new(graph, net, asked, obligations, meter);
    let found = product.decide(search);
    let graph = &mut product.graph;
    // A pair counts once, whatever led to it.
    let pairs: FxHashSet<_> = product.nodes.iter().map(|n| (n.of, n.at)).collect();
    graph.stats().stored = pairs.len() as u64;
    let stats = *graph.stats();
    let verdict = match found {
        Err(Failure::Limit(reason)) => Verdict::Unknown(reason),
        Err(Failure::Broken(_, Error::Range)) => too_large(),
        Err(Failure::Broken(_, Error::Room(why))) => Verdict::Unknown(why.into()),
        Err(Failure::Broken(n, Error::Model(error))) => {
            let trace = if n == NONE { None } else { graph.trace_to(net, n).ok().flatten() };
            return Err(Box::new(Broken { trace, error: *error }));
        }
        Ok(Found::Nothing(certificate)) => Verdict::Safe(certificate),
        Ok(Found::Run { stem, round, last }) => match graph.run(net, &stem, &round, last) {
            Ok(Some(trace)) => Verdict::Unsafe(trace),
            // There is such a run, but no answer without evidence.
            Ok(None) => {
                Verdict::Unknown(Reason::Unsupported("a run that exists, but was not found with exact delays".into()))
            }
            Err(Error::Range) => too_large(),
            Err(Error::Room(why)) => Verdict::Unknown(why.into()),
            Err(Error::Model(error)) => return Err(Box::new(Broken { trace: None, error: *error })),
        },
    };
    Ok(match verdict {
        Verdict::Unknown(reason) => refused(reason, stats),
        verdict => Answer { verdict, stats, inconclusive: None, bound: None, clock_bound: None },
    })
}

fn too_large() -> Verdict<Trace, Certificate> {
    Verdict::Unknown(Reason::Unsupported("clock constants beyond 2^28".into()))
}

/// A node of the network's graph, a state of the automaton, and the marks of the step that led here. A run that has ended is in no
/// state, and has all marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    of: u32,
    at: Option<u32>,
    marks: u64,
}

/// What the search came to: edges of the network's graph.
enum Found {
    Nothing(Certificate),
    Run { stem: Vec<u32>, round: Vec<u32>, last: u32 },
}

/// What is known of a node of the network's graph.
struct Expanded {
    edges: Range<u32>,
    letter: Letter,
    /// The obligations that being here meets: parties that cannot move. Every step from here has them.
    marks: u64,
    /// Nobody who could move is left waiting if the run ends here.
    rests: bool,
}

struct Product<'n, 'b, R> {
    graph: R,
    net: &'n Network,
    asked: &'n Temporal,
    obligations: Obligations,
    atoms: Vec<Judge>,
    known: Vec<Option<Expanded>>,
    /// Of each edge: the obligations it meets, and which of the parties that are treated strongly fairly move.
    moves: Vec<(u64, u64)>,
    nodes: Vec<Node>,
    index: FxHashMap<Node, u32>,
    /// Does the automaton accept this letter for ever, from this state?
    for_ever: FxHashMap<(u32, Letter), bool>,
    meter: &'b mut Meter,
}

impl<'n, 'b, R: Runs> Product<'n, 'b, R> {
    fn new(graph: R, net: &'n Network, asked: &'n Temporal, obligations: Obligations, meter: &'b mut Meter) -> Self {
        let atoms = asked.conditions.iter().map(|c| graph.compile(*c)).collect();
        Product {
            graph,
            net,
            asked,
            obligations,
            atoms,
            known: vec![],
            moves: vec![],
            nodes: vec![],
            index: FxHashMap::default(),
            for_ever: FxHashMap::default(),
            meter,
        }
    }

    fn decide(&mut self, search: Search) -> Result<Found, Failure> {
        let path = search::find(self, search)?;
        if let Some(path) = &path
            && self.obligations.strong.is_empty()
        {
            let ended = path.cycle.iter().any(|&(via, _)| via == NONE);
            let edges = |steps: &[(u32, u32)]| steps.iter().map(|s| s.0).filter(|&e| e != NONE).collect();
            let last = self.nodes[path.head() as usize].of;
            let round = if ended { vec![] } else { edges(&path.cycle) };
            return Ok(Found::Run { stem: edges(&path.stem), round, last });
        }
        self.whole()
    }

    /// Looks at the whole product.
    fn whole(&mut self) -> Result<Found, Failure> {
        let roots = self.roots()?;
        let mut product = fair::Graph { edges: vec![], marks: self.obligations.all };
        // Nodes without what led to them.
        let mut pairs: Vec<(u32, Option<u32>)> = vec![];
        let mut numbers: FxHashMap<(u32, Option<u32>), u32> = FxHashMap::default();
        let mut number = |node: Node, pairs: &mut Vec<_>| {
            *numbers.entry((node.of, node.at)).or_insert_with(|| {
                pairs.push((node.of, node.at));
                pairs.len() as u32 - 1
            })
        };
        let roots: Vec<u32> = roots.into_iter().map(|n| number(self.nodes[n as usize], &mut pairs)).collect();
        while let Some(&(of, at)) = pairs.get(product.edges.len()) {
            let here = self.number(Node { of, at, marks: 0 });
            let mut out = vec![];
            for (via, to) in self.successors(here)? {
                let node = self.nodes[to as usize];
                let (marks, moves) = match via {
                    NONE => (self.obligations.all, 0),
                    e => (node.marks, self.moves[e as usize].1),
                };
                out.push(fair::Edge { via, to: number(node, &mut pairs), marks, moves });
            }
            product.edges.push(out);
        }
        let members = match product.levels() {
            Ok(levels) => {
                let course = |(_, at): &(u32, Option<u32>), levels| at.map(|at| Course { at, levels });
                let entries = pairs.iter().zip(levels).map(|(pair, levels)| {
                    let course = course(pair, levels);
                    trellis_model::network::CertEntry { course, ..self.graph.entry(pair.0) }
                });
                let entries = entries.collect();
                return Ok(Found::Nothing(Certificate { entries, up_to_order: false, up_to_symmetry: false }));
            }
            Err(members) => members,
        };
        let start = roots.iter().find(|r| members.contains(r));
        let (head, stem) = match start {
            Some(&root) => (root, vec![]),
            None => {
                let (_, path) = product.path(&roots, |_| true, |_, e| members.contains(&e.to));
                (path.last().map_or(0, |e| e.to), path)
            }
        };
        let stem = stem.iter().map(|e| e.via).filter(|&e| e != NONE).collect();
        let round = product.tour(head, &members).iter().map(|e| e.via).filter(|&e| e != NONE).collect();
        Ok(Found::Run { stem, round, last: pairs[head as usize].0 })
    }

    fn number(&mut self, node: Node) -> u32 {
        *self.index.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        })
    }

    /// Learns what follows a node of the network's graph.
    fn expand(&mut self, of: u32) -> Result<(), Failure> {
        if self.known.len() <= of as usize {
            self.known.resize_with(of as usize + 1, || None);
        }
        if self.known[of as usize].is_some() {
            return Ok(());
        }
        let progress = Progress { waiting: self.graph.len() - of as usize, stats: *self.graph.stats() };
        self.meter.check(&progress).map_err(|why| Failure::Limit(why.into()))?;
        let broken = |e| Failure::Broken(of, e);
        let first = self.graph.edges().len();
        let actions = self.graph.expand(of).map_err(broken)?;
        let mut letter = 0;
        for (i, atom) in self.atoms.iter().enumerate() {
            letter |= u64::from(self.graph.holds(atom, of).map_err(broken)?) << i;
        }
        let o = &self.obligations;
        let (mut able_weakly, mut able) = (0, 0);
        for (&Edge { marked, .. }, action) in self.graph.edges()[first..].iter().zip(&actions) {
            let takes = |party: trellis_model::network::Party| u64::from(party.moves_in(self.net, action));
            let weak = o.weak.iter().fold(0, |all, &(party, mark)| all | takes(party) << mark);
            let strong = o.strong.iter().enumerate().fold(0, |all, (i, &party)| all | takes(party) << i);
            let time = o.time.map_or(0, |mark| u64::from(marked) << mark);
            able_weakly |= weak;
            able |= strong;
            self.moves.push((weak | time, strong));
        }
        let weak = o.weak.iter().fold(0, |all, w| all | 1 << w.1);
        self.known[of as usize] = Some(Expanded {
            edges: first as u32..self.graph.edges().len() as u32,
            letter,
            marks: weak & !able_weakly,
            rests: able_weakly == 0 && able == 0,
        });
        Ok(())
    }

    fn accepts_for_ever(&mut self, at: u32, letter: Letter) -> bool {
        let automaton = &self.asked.automaton;
        *self.for_ever.entry((at, letter)).or_insert_with(|| {
            let from_here = trellis_model::ltl::Buchi { initial: vec![at], ..automaton.clone() };
            from_here.accepts(&Word::new(vec![], vec![letter]))
        })
    }
}

impl<R: Runs> Space for Product<'_, '_, R> {
    type Error = Failure;

    fn roots(&mut self) -> Result<Vec<u32>, Failure> {
        if self.graph.len() == 0 {
            self.graph.start().map_err(|e| Failure::Broken(NONE, e))?;
        }
        // Atoms do not speak of clocks, so there is one cell, and one node.
        let initial = self.asked.automaton.initial.clone();
        Ok(initial.into_iter().map(|q| self.number(Node { of: 0, at: Some(q), marks: 0 })).collect())
    }

    fn successors(&mut self, n: u32) -> Result<Vec<(u32, u32)>, Failure> {
        let node = self.nodes[n as usize];
        let Some(at) = node.at else { return Ok(vec![(NONE, n)]) };
        self.expand(node.of)?;
        let Some(&Expanded { ref edges, letter, marks, rests }) = self.known[node.of as usize].as_ref() else {
            unreachable!("just expanded")
        };
        let mut next = vec![];
        let reads = self.asked.automaton.edges[at as usize].iter().filter(|b| b.cube.admits(letter));
        for b in reads {
            for e in edges.clone() {
                let to = self.graph.edges()[e as usize].to;
                next.push((e, Node { of: to, at: Some(b.to), marks: b.marks | marks | self.moves[e as usize].0 }));
            }
        }
        let mut next: Vec<(u32, u32)> = next.into_iter().map(|(e, node)| (e, self.number(node))).collect();
        if rests && self.graph.ends(node.of) && self.accepts_for_ever(at, letter) {
            let marks = self.obligations.all;
            next.push((NONE, self.number(Node { of: node.of, at: None, marks })));
        }
        Ok(next)
    }

    fn marks(&self, n: u32) -> u64 {
        self.nodes[n as usize].marks
    }

    fn all_marks(&self) -> u64 {
        self.obligations.all
    }
}
