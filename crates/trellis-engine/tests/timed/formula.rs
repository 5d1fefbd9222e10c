//! Formulas of linear temporal logic about networks: with clocks against the region graph, without against enumerated states and
//! every way to be fair.

use trellis_engine::ltl::search::Search;
use trellis_engine::ltl::translate::translate;
use trellis_engine::timed::formula;
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::ltl::Formula;
use trellis_model::network::region::{Options, Regions};
use trellis_model::network::{Condition, Fair, Network, Party, Query, QueryKind, Temporal};

use crate::generator::{Asked, generate};
use crate::model::{Edge, Location, Model, Process};
use crate::random::{Random, for_seeds};
use crate::tableau::{self, Graph, Step};
use crate::verdicts::check_or_shrink;

/// Larger region graphs are not explored.
const REGIONS: usize = 3000;

#[derive(Default, Debug)]
struct Count {
    too_large: usize,
    faults: usize,
    violated: usize,
    holds: usize,
    refused: usize,
    stopped: usize,
}

/// What formulas are asked of: all runs.
pub fn of_all_runs(net: &mut Network, text: String) -> Query {
    let anything = Condition { prepare: net.terms.skip(), holds: net.terms.bool(true) };
    Query { text, kind: QueryKind::PotentiallyAlways(anything), deadlock: false, atoms: vec![] }
}

/// A question about conditions of some queries, none of which asks about clocks.
fn asked(net: &mut Network, queries: &[Query], formula: Formula, fair: Vec<Fair>, non_zeno: bool) -> Option<Temporal> {
    let mut conditions: Vec<Condition> = vec![];
    for q in queries {
        match q.kind {
            QueryKind::Possibly(p) | QueryKind::Always(p) if q.atoms.is_empty() && !q.deadlock => conditions.push(p),
            _ => {}
        }
    }
    conditions.truncate(2);
    let query = of_all_runs(net, format!("{formula:?}"));
    let automaton = translate(&Formula::Not(Box::new(formula.clone()))).expect("small");
    let enough = conditions.len() == 2;
    enough.then_some(Temporal { query, conditions, formula: Some(formula), automaton, fair, non_zeno })
}

/// What happens of what must happen again and again, if time must pass: a unit of time is complete.
const TICK: u64 = 1 << 63;

/// Is the formula violated by a run that counts? None if that cannot be enumerated.
fn is_violated(net: &Network, asked: &Temporal, count: &mut Count) -> Option<bool> {
    let options = Options { limit: REGIONS, diverging: asked.non_zeno, ..Options::default() };
    let Some(regions) = Regions::explore(net, Some(&asked.query), options) else {
        count.too_large += 1;
        return None;
    };
    let letters: Result<Vec<_>, _> = asked.conditions.iter().map(|c| regions.holds(&asked.query, c)).collect();
    let Some(letters) = letters.ok().filter(|_| regions.fault.is_none()) else {
        count.faults += 1;
        return None;
    };
    let states = regions.states.len();
    let letter = |i: usize| letters.iter().enumerate().fold(0, |l, (a, v)| l | u64::from(v[i]) << a);
    // After the states, those of runs that have ended there.
    let mut graph =
        Graph { letters: (0..2 * states).map(|i| letter(i % states)).collect(), starts: vec![0], steps: vec![] };
    let able = |i: usize, party: Party| regions.steps[i].iter().any(|(a, _)| party.moves_in(net, a));
    for i in 0..states {
        // Bit `f` of what is done: the party moves, or (weakly) cannot.
        let mut steps: Vec<Step> = vec![];
        for (action, to) in &regions.steps[i] {
            let does = asked.fair.iter().enumerate().fold(0, |all, (f, fair)| {
                let done = fair.party.moves_in(net, action) || !fair.strong && !able(i, fair.party);
                all | u64::from(done) << f
            });
            steps.push(Step { to: *to, reads: true, does });
        }
        let mut ends = steps.is_empty() && regions.waits[i].is_none();
        if let Some(wait) = regions.waits[i] {
            steps.push(Step { to: wait.to, reads: false, does: if wait.tick { TICK } else { 0 } });
            // Time passes for ever if it comes back here.
            let mut at = wait.to;
            for _ in 0..states {
                ends |= at == i;
                at = regions.waits[at].map_or(at, |w| w.to);
            }
        }
        if ends && !asked.fair.iter().any(|f| able(i, f.party)) {
            steps.push(Step { to: states + i, reads: true, does: 0 });
        }
        graph.steps.push(steps);
    }
    for i in 0..states {
        graph.steps.push(vec![Step { to: states + i, reads: true, does: !0 }]);
    }
    // Of the parties treated strongly fairly, some cannot move from some time on; the others move again and again.
    let strong: Vec<usize> = (0..asked.fair.len()).filter(|&f| asked.fair[f].strong).collect();
    let formula = asked.formula.as_ref().expect("given");
    let violated = (0..1u32 << strong.len()).any(|still| {
        let cannot: Vec<usize> =
            strong.iter().enumerate().filter(|(k, _)| still >> k & 1 == 1).map(|(_, f)| *f).collect();
        let within = |i: usize| i >= states || cannot.iter().all(|&f| !able(i, asked.fair[f].party));
        let must = (0..asked.fair.len()).filter(|f| !cannot.contains(f)).fold(0, |all, f| all | 1 << f);
        tableau::is_violated(&graph, formula, must | if asked.non_zeno { TICK } else { 0 }, &within)
    });
    Some(violated)
}

fn check(net: &Network, asked: &Temporal, count: &mut Count) -> Result<(), String> {
    let Some(truth) = is_violated(net, asked, count) else { return Ok(()) };
    for search in [Search::Nested, Search::Components] {
        let at = |why: String| {
            format!("{}, {:?}, non-zeno {}, {search:?}: {why}", asked.query.text, asked.fair, asked.non_zeno)
        };
        let budget = &mut Meter::unlimited().states(Some(3000));
        let found =
            formula::check(net, asked, search, budget).map_err(|b| at(format!("a fault that is none: {}", b.error)))?;
        let says = match &found.verdict {
            Verdict::Safe(cert) => {
                if truth {
                    return Err(at("UNSOUND: holds, but is violated by the oracle".into()));
                }
                trellis_check::certify_formula(net, asked, cert)
                    .map_err(|r| at(format!("certificate rejected: {r}")))?;
                false
            }
            Verdict::Unsafe(trace) => {
                trellis_check::replay_formula(net, asked, trace).map_err(|r| at(format!("run rejected: {r}")))?;
                true
            }
            Verdict::Unknown(Reason::Iterations) => {
                count.stopped += 1;
                continue;
            }
            Verdict::Unknown(Reason::Unsupported(_)) => {
                count.refused += 1;
                continue;
            }
            Verdict::Unknown(why) => return Err(at(format!("no answer: {why}"))),
        };
        if says != truth {
            return Err(at(format!("violated: {says}, but {truth} by the oracle")));
        }
        count.violated += usize::from(truth);
        count.holds += usize::from(!truth);
    }
    Ok(())
}

fn with_clocks(seed: u64, model: &Model, count: &mut Count) -> Result<(), String> {
    let mut r = Random::new(seed ^ 0x17);
    let mut place = |p: usize| format!("P{p}.L{}", r.below(model.processes[p].locations.len()));
    let queries = vec![format!("E<> {}", place(0)), format!("E<> n == 1 or {}", place(model.processes.len() - 1))];
    let (mut net, queries) = Model { queries, ..model.clone() }.load()?;
    for _ in 0..3 {
        let depth = 1 + r.below(2);
        let formula = tableau::formula(&mut |n| r.below(n), 2, depth);
        let Some(asked) = asked(&mut net, &queries, formula, vec![], r.percent(50)) else { return Ok(()) };
        check(&net, &asked, count)?;
    }
    Ok(())
}

/// A network without clocks.
fn plain(seed: u64) -> Model {
    let mut r = Random::new(seed);
    let mut m =
        Model { declarations: vec!["int[0,2] n; chan a; broadcast chan b; urgent chan c;".into()], ..Model::default() };
    // Sets that grow, and one that may be forgotten: more allows more.
    let sets = r.percent(40);
    if sets {
        m.declarations.push("extern Powerset; Powerset s[3];".into());
    }
    if r.percent(25) {
        m.declarations.push(r.pick(&["chan priority b < default < a;", "chan priority default < c;"]).to_string());
    }
    for p in 0..2 + r.below(2) {
        let locations = 1 + r.below(3);
        let place = |r: &mut Random| Location { urgent: r.percent(15), committed: r.percent(7), ..Location::default() };
        let mut process = Process { locations: (0..locations).map(|_| place(&mut r)).collect(), ..Process::default() };
        for _ in 0..1 + r.below(4) {
            let mut e = Edge { source: r.below(locations), target: r.below(locations), ..Edge::default() };
            if r.percent(40) {
                e.guard.push(format!("n {} {}", r.pick(&["==", "<", ">", "!="]), r.below(3)));
            }
            if sets && r.percent(30) {
                e.guard.push(format!("s.contains({})", r.below(3)));
            }
            if sets && r.percent(40) {
                e.update.push(format!("s.{}({})", r.pick(&["add", "add", "remove"]), r.below(3)));
            }
            if r.percent(30) {
                e.sync.push(format!("{}{}", r.pick(&["a", "b", "c"]), r.pick(&["!", "?"])));
            }
            if r.percent(40) {
                e.update.push(r.pick(&["n = 0", "n = 1", "n = (n + 1) % 3", "n = 2"]).to_string());
            }
            process.edges.push(e);
        }
        m.processes.push(process);
        let at = r.below(locations);
        m.queries.push(match p {
            0 => format!("E<> P0.L{at}"),
            1 if sets && r.percent(50) => format!("E<> s.contains({}) or P1.L{at}", r.below(3)),
            1 => format!("E<> n == {} or P1.L{at}", r.below(3)),
            _ => format!("E<> P2.L{at}"),
        });
    }
    m
}

fn fairly(seed: u64, model: &Model, count: &mut Count) -> Result<(), String> {
    let (mut net, queries) = model.load()?;
    let mut r = Random::new(seed ^ 0x19);
    for _ in 0..4 {
        let mut fair: Vec<Fair> = vec![];
        for p in 0..net.processes.len() as u32 {
            if r.percent(50) {
                fair.push(Fair { party: Party::Process(p), strong: r.percent(50) });
            }
        }
        for c in 0..net.channels.len() as u32 {
            if r.percent(20) {
                fair.push(Fair { party: Party::Channel(c), strong: r.percent(50) });
            }
        }
        if r.percent(15) {
            fair.push(Fair { party: Party::Anyone, strong: r.percent(30) });
        }
        if r.percent(20) {
            fair.clear();
        }
        let depth = 1 + r.below(2);
        let formula = tableau::formula(&mut |n| r.below(n), 2, depth);
        let Some(asked) = asked(&mut net, &queries, formula, fair, false) else { return Ok(()) };
        check(&net, &asked, count)?;
    }
    Ok(())
}

#[test]
fn formulas_agree_with_regions() {
    let mut count = Count::default();
    let shown = |seed| generate(seed, Asked::States).shown();
    for_seeds(3_000_000, 60, shown, |seed| {
        let model = generate(seed, Asked::States);
        let again = &mut |m: &Model| with_clocks(seed, m, &mut Count::default());
        with_clocks(seed, &model, &mut count).or_else(|_| check_or_shrink(&model, again))
    });
    println!("{count:?}");
}

#[test]
fn fair_runs_agree_with_enumeration() {
    let mut count = Count::default();
    for_seeds(
        4_000_000,
        150,
        |seed| plain(seed).shown(),
        |seed| {
            let model = plain(seed);
            let again = &mut |m: &Model| fairly(seed, m, &mut Count::default());
            fairly(seed, &model, &mut count).or_else(|_| check_or_shrink(&model, again))
        },
    );
    println!("{count:?}");
}
