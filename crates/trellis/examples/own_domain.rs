//! An abstract domain of one's own: parities. Neither predicates nor intervals find why `x` is never 7 in this loop; that it is even is enough.

use std::collections::BTreeSet;

use trellis::expr::{Division, TermId, Terms, Type, VarId};
use trellis::meter::Meter;
use trellis::program::{self, AbstractDomain, Cfa, EdgeId, Edges, LocationId, Options, Verdict};
use trellis::smt::{Answer, Reason};

const LOOP: &str = "
    main process cfa {
        var x : int
        init loc START
        loc LOOP
        error loc ERROR
        START -> LOOP { x := 0 }
        LOOP -> LOOP { x := x + 2 }
        LOOP -> ERROR { assume x = 7 }
    }";

/// Follows whether numbers are even or odd.
#[derive(Default)]
struct Parities {
    edges: Edges,
}

/// `v` is odd, or even.
fn is_odd(terms: &mut Terms, v: VarId, odd: bool) -> TermId {
    let (v, two, rest) = (terms.var(v), terms.int(2), terms.int(i64::from(odd)));
    let left = terms.rem(Division::Euclidean, v, two);
    terms.eq(left, rest)
}

impl AbstractDomain for Parities {
    /// The variables whose parity is known: is it odd?
    type Label = Vec<(VarId, bool)>;
    /// The variables whose parity is followed.
    type Precision = BTreeSet<VarId>;

    fn top(&self) -> Self::Label {
        vec![]
    }

    fn first(&self, _: &Cfa) -> BTreeSet<VarId> {
        BTreeSet::new()
    }

    fn values<'l>(&self, _: &'l Self::Label) -> &'l [(VarId, TermId)] {
        &[]
    }

    fn leq(&self, a: &Self::Label, b: &Self::Label) -> bool {
        b.iter().all(|fact| a.contains(fact))
    }

    fn assumptions(&self, terms: &mut Terms, label: &Self::Label) -> Vec<TermId> {
        label.iter().map(|&(v, odd)| is_odd(terms, v, odd)).collect()
    }

    fn successors(
        &mut self,
        cfa: &mut Cfa,
        before: &[TermId],
        e: EdgeId,
        followed: &BTreeSet<VarId>,
        limits: &Meter,
    ) -> Result<Vec<Self::Label>, Reason> {
        let edge = self.edges.get(cfa, e)?;
        if let Answer::Unsat(_) = edge.check(&cfa.terms, before, limits) {
            return Ok(vec![]);
        }
        let mut label = vec![];
        for &v in followed {
            // Known is what the solver has refuted the contrary of.
            for odd in [false, true] {
                let contrary = is_odd(&mut cfa.terms, edge.version(v), !odd);
                if let Answer::Unsat(_) = edge.check(&cfa.terms, &[before, &[contrary]].concat(), limits) {
                    label.push((v, odd));
                    break;
                }
            }
        }
        Ok(vec![label])
    }

    fn follow(&mut self, terms: &mut Terms, _: LocationId, fact: TermId) -> BTreeSet<VarId> {
        terms.free_vars(fact).into_iter().filter(|v| terms.variable(*v).ty == Type::Int).collect()
    }

    fn edges(&mut self) -> &mut Edges {
        &mut self.edges
    }
}

fn main() -> Result<(), trellis::Error> {
    let cfa = program::parse(LOOP)?;
    let (verdict, counted) = program::cegar(&cfa, Parities::default(), &Options::default(), &mut Meter::unlimited())?;
    let Verdict::Safe(proof) = verdict else { panic!("x is even: {verdict:?}") };
    println!(
        "safe after {} refinements, with an invariant at {} locations",
        counted.refinements,
        proof.invariant.len()
    );

    // What can happen is found, and replayed.
    let cfa = program::parse(&LOOP.replace("x = 7", "x = 0"))?;
    let (verdict, _) = program::cegar(&cfa, Parities::default(), &Options::default(), &mut Meter::unlimited())?;
    let Verdict::Unsafe(run) = verdict else { panic!("it starts with 0: {verdict:?}") };
    println!("unsafe by a run of {} edges", run.steps.len());

    // Parities cannot tell 0 from 8: that is said, and nothing is guessed.
    let cfa = program::parse(&LOOP.replace("x = 7", "x = 8"))?;
    let (verdict, _) = program::cegar(&cfa, Parities::default(), &Options::default(), &mut Meter::unlimited())?;
    let Verdict::Unknown(why) = verdict else { panic!("it cannot be told: {verdict:?}") };
    println!("unknown: {why}");
    Ok(())
}
