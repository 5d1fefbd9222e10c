//! Acheck's `quot()`, `modes()` and `project(…)`: what another tool printed for the valves and controllers of the tank, and random graphs
//! and models against plain definitions.

use std::collections::{BTreeMap, BTreeSet};

use trellis_domain::relation::Memory;
use trellis_engine::acheck::Specification;
use trellis_engine::acheck::draw::{Graph, Quotient, Rows};
use trellis_meter::Meter;
use trellis_model::acheck::{Line, Of, Projection, Set};
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_model::hierarchy::{ComponentId, Hierarchy};
use trellis_syntax::altarica::parse;
use trellis_syntax::diag::Sources;

use crate::random::{Random, model};
use crate::read;

fn graph(h: &Hierarchy, most: usize) -> Option<Graph> {
    let symbolic = Symbolic::new(h, 2, Memory { nodes: 1 << 20, cache: 1 << 14 }).expect("small");
    let sets = Specification::new(h, &symbolic, &mut Meter::unlimited()).expect("small");
    sets.graph(&Set::Any(Of::States), &Set::Any(Of::Transitions), most).expect("small")
}

/// EmileRolley/altarica-project, `Graphs/Valve-quot.dot`, `Valve-modes.dot` and the same for the virtual valve.
#[test]
fn valves() {
    let mut sources = Sources::default();
    let id = sources.add("tank.alt", include_str!("../../../../models/altarica/tank.alt"));
    let (file, _) = parse(&sources, id).expect("a model");
    let of = |name: &str| {
        let nodes = file.nodes();
        let node = nodes.into_iter().find(|n| n.text == name).expect("there");
        let h = file.build(node, &[]).expect("built").0.hierarchy;
        let flows: Vec<bool> = h.variables.iter().map(|v| v.flow).collect();
        let g = graph(&h, 1000).expect("small");
        (g.quotient(&[]), g.modes(&flows))
    };
    let (quotient, modes) = of("Valve");
    assert_eq!((quotient.classes.len(), quotient.steps.len()), (1, 3));
    assert_eq!((modes.modes.len(), modes.steps.len()), (6, 24));
    assert!(modes.steps.values().all(Option::is_none));
    let (quotient, modes) = of("ValveVirtual");
    assert_eq!((quotient.classes.len(), quotient.steps.len()), (6, 20));
    let mut sizes: Vec<usize> = quotient.classes.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 1, 1, 2, 2, 2]);
    assert_eq!((modes.modes.len(), modes.steps.len()), (3, 7));
    // Doing nothing is always possible, the others only where the flow is what the state is.
    for ((from, event, _), when) in &modes.steps {
        let expected = (*event != 0).then(|| BTreeSet::from([modes.modes[*from].clone()]));
        assert_eq!(*when, expected);
    }
}

/// The system of EmileRolley/altarica-project around a controller without memory, or one with virtual valves; so many failures.
fn system(virtual_valves: bool, failures: usize) -> String {
    let tank = include_str!("../../../../models/altarica/tank.alt");
    let nodes = tank.split("node CtrlVV1F4I_Opt").next().expect("it is there");
    let nodes = &nodes[..nodes.rfind("/*").expect("a comment")];
    let nodes = nodes.replace("nbFailures = 1", &format!("nbFailures = {failures}"));
    let moves = ["d", "i", "n"];
    let commands: Vec<[&str; 3]> = (0..27).map(|n| [moves[n / 9], moves[n / 3 % 3], moves[n % 3]]).collect();
    let names: Vec<String> = commands.iter().map(|c| c.concat()).collect();
    let vectors = |prefix: &str, more: &str, valves: bool| -> String {
        let vector = |c: &[&str; 3]| {
            let valve = |(n, m): (usize, &&str)| match *m {
                "n" => None,
                m => Some(format!(", V[{n}].{}", if m == "d" { "dec" } else { "inc" })),
            };
            let valves: String = c.iter().enumerate().filter(|_| valves).filter_map(valve).collect();
            format!("<{prefix}{}{more}{valves}>;\n", c.concat())
        };
        commands.iter().map(vector).collect()
    };
    let inner = match virtual_valves {
        true => format!(
            "sub V : ValveVirtual[3]; assert V[0].rateReal = rate[0]; V[1].rateReal = rate[1]; V[2].rateReal = rate[2];
             sync {}",
            vectors("", "", true)
        ),
        false => String::new(),
    };
    let outer = vectors("C.", ", cmd", true);
    format!(
        "{nodes}
        node Ctrl flow rate : [0, 2][3]; level : [0, nbSensors]; event {0}; trans true |- {0} -> ; {inner} edon
        node System sub V : Valve[3]; T : Tank; C : Ctrl;
          assert T.input = (V[0].rate + V[1].rate); T.output = V[2].rate; C.level = T.level;
            C.rate[0] = V[0].rate; C.rate[1] = V[1].rate; C.rate[2] = V[2].rate;
            nbFailures >= (V[0].stucked + V[1].stucked + V[2].stucked);
          state ctrl : bool; init ctrl := true; event env, cmd;
          trans ctrl |- cmd -> ctrl := false; ~ctrl |- env -> ctrl := true;
          sync <env, T.time>; {outer}
        edon",
        names.join(", ")
    )
}

/// The universal projections that another tool printed: `Controleurs/Ctrl0F1I.alt`, `Ctrl1F1I.alt` and `CtrlVV1F1I.alt`. Of some events,
/// how many configurations of the controller satisfy the guard that is printed there.
#[test]
fn controllers() {
    let spec = "with System do
        NC := any_s & [T.level = 0 | T.level = nbSensors];
        SR := (any_s - src(any_t - self_epsilon)) | NC;
        ok := any_s - SR;
        CCoup := any_t & label cmd;
        ECoup := any_t & label env;
        win -= CCoup & rtgt(ok & (src(ECoup & rtgt(ok & src(win))) - src(ECoup & rtgt(any_s - (ok & src(win))))));
        project(any_s, (empty_t, win), 'Next', true, C);
      done";
    type Guards = &'static [(&'static str, usize)];
    let printed: [(bool, usize, Guards); 3] = [
        (false, 0, &[("ddd", 57), ("did", 39)]),
        (false, 1, &[("ddd", 59), ("did", 42)]),
        (true, 1, &[("ddd", 0), ("ddi", 3), ("did", 2), ("dii", 1), ("idd", 2), ("idi", 1)]),
    ];
    for (valves, failures, guards) in printed {
        let (mut built, _) = read(&system(valves, failures), "true");
        let mut sources = Sources::default();
        let id = sources.add("spec", spec);
        let lines = trellis_syntax::acheck::lines(&sources, id, None, &mut built);
        let lines = lines.unwrap_or_else(|d| panic!("{}", trellis_syntax::diag::render(&d, &sources, false)));
        let h = &built.hierarchy;
        let symbolic = Symbolic::new(h, 2, Memory { nodes: 1 << 22, cache: 1 << 16 }).expect("small");
        let mut sets = Specification::new(h, &symbolic, &mut Meter::unlimited()).expect("small");
        for line in &lines {
            match line {
                Line::Define(name, of, fixpoint, set) => sets.define(name, *of, *fixpoint, set).expect("small"),
                Line::Project(p, _) => {
                    let found = sets.project(p, 5_000).expect("small").expect("small");
                    for (name, count) in guards {
                        let event = h.component(p.of).events.iter().position(|e| e == name).expect("there");
                        let (_, some, all) = found.iter().find(|(e, ..)| *e == event).expect("there");
                        assert_eq!((some.len(), all.len()), (0, *count), "{name}");
                    }
                }
                _ => {}
            }
        }
    }
}

/// The greatest relation that is a bisimulation and respects marks, pair by pair.
fn bisimilar(g: &Graph, marks: &[Vec<bool>]) -> BTreeSet<(usize, usize)> {
    let count = g.configurations.len();
    let pairs = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
    let mut all: BTreeSet<(usize, usize)> = pairs.filter(|&(a, b)| marks.iter().all(|m| m[a] == m[b])).collect();
    loop {
        let follows = |a: usize, b: usize| {
            g.steps.iter().filter(|s| s.0 == a).all(|&(_, event, to)| {
                g.steps.iter().any(|&(from, e, other)| from == b && e == event && all.contains(&(to, other)))
            })
        };
        let next: BTreeSet<_> = all.iter().copied().filter(|&(a, b)| follows(a, b) && follows(b, a)).collect();
        if next == all {
            return all;
        }
        all = next;
    }
}

fn check(g: &Graph, marks: &[Vec<bool>], context: &str) -> Quotient {
    let (q, pairs) = (g.quotient(marks), bisimilar(g, marks));
    let found = q.classes.iter().flat_map(|c| c.iter().flat_map(move |&a| c.iter().map(move |&b| (a, b))));
    assert_eq!(found.collect::<BTreeSet<_>>(), pairs, "{context}");
    let class = |n: usize| q.classes.iter().position(|c| c.contains(&n)).expect("each is in one");
    let steps: BTreeSet<_> = g.steps.iter().map(|&(from, event, to)| (class(from), event, class(to))).collect();
    assert_eq!(q.steps, steps, "{context}");
    q
}

#[test]
fn random_graphs() {
    let mut between = 0;
    for seed in 1..=300 {
        let mut r = Random::new(seed);
        let count = 1 + r.below(9);
        let steps = (0..r.below(3 * count)).map(|_| (r.below(count), r.below(2), r.below(count))).collect();
        let g = Graph { configurations: vec![vec![]; count], initial: vec![], steps };
        let marks: Vec<Vec<bool>> = (0..r.below(3)).map(|_| (0..count).map(|_| r.chance(30)).collect()).collect();
        let classes = check(&g, &marks, &format!("seed {seed} {g:?} {marks:?}")).classes.len();
        between += usize::from(classes > 1 && classes < count);
    }
    assert!(between > 50, "{between}");
}

#[test]
fn random_models() {
    let (mut done, mut seed, mut guarded, mut both) = (0, 0, 0, 0);
    while done < 40 {
        seed += 1;
        let mut r = Random::new(seed);
        let (text, bad) = model(&mut r, true);
        let (built, bad) = read(&text, &bad);
        let h = &built.hierarchy;
        let Ok(meaning) = Meaning::of(h, 2_000) else { continue };
        let level = &meaning.components[h.top.index()];
        let order = h.variables_below(h.top);
        let row = |n: usize| {
            let mut values = vec![0; order.len()];
            order.iter().zip(&level.configurations[n]).for_each(|(v, &value)| values[v.index()] = value);
            values
        };
        let reachable = meaning.reachable(h.top, &meaning.initial(h, h.top));
        if reachable.len() > 60 || reachable.is_empty() {
            continue;
        }
        done += 1;
        let g = graph(h, 100_000).expect("small");
        let mark: Vec<bool> = {
            let bad: BTreeSet<Vec<i64>> = meaning.satisfying(h, h.top, bad).into_iter().map(row).collect();
            g.configurations.iter().map(|c| bad.contains(c)).collect()
        };
        check(&g, &[mark], &text);
        // Modes, by what they are.
        let flows: Vec<bool> = h.variables.iter().map(|v| v.flow).collect();
        let part = |values: &[i64], flow: bool| -> Vec<i64> {
            values.iter().zip(&flows).filter(|(_, f)| **f == flow).map(|(v, _)| *v).collect()
        };
        let m = g.modes(&flows);
        let states: BTreeSet<Vec<i64>> = reachable.iter().map(|&n| part(&row(n), false)).collect();
        assert_eq!(m.modes.iter().cloned().collect::<BTreeSet<_>>(), states, "{text}");
        assert_eq!(m.modes.len(), states.len(), "{text}");
        let mut when: BTreeMap<(Vec<i64>, usize, Vec<i64>), Rows> = BTreeMap::new();
        for &(from, event, to) in level.transitions.iter().filter(|t| reachable.contains(&t.0)) {
            let (from, to) = (row(from), row(to));
            when.entry((part(&from, false), event, part(&to, false))).or_default().insert(part(&from, true));
        }
        let found: BTreeMap<_, _> = (m.steps.iter())
            .map(|(&(from, event, to), flows)| {
                let all = || {
                    let here = g.configurations.iter().filter(|c| part(c, false) == m.modes[from]);
                    here.map(|c| part(c, true)).collect()
                };
                guarded += usize::from(flows.is_some());
                ((m.modes[from].clone(), event, m.modes[to].clone()), flows.clone().unwrap_or_else(all))
            })
            .collect();
        assert_eq!(found, when, "{text}");

        // Projections, by what they are: of some transitions, on each component.
        let symbolic = Symbolic::new(h, 2, Memory { nodes: 1 << 20, cache: 1 << 14 }).expect("small");
        let sets = Specification::new(h, &symbolic, &mut Meter::unlimited()).expect("small");
        let bad_ones: BTreeSet<usize> = meaning.satisfying(h, h.top, bad).into_iter().collect();
        let chosen = Set::To(Set::Condition(bad).into());
        for c in 0..h.components.len() {
            let of = ComponentId(c as u32);
            let p = Projection { name: String::new(), of, some: chosen.clone(), all: chosen.clone() };
            let seen = |n: usize| h.variables_below(of).iter().map(|v| row(n)[v.index()]).collect::<Vec<i64>>();
            for (event, some, all) in sets.project(&p, 10_000).expect("small").expect("small") {
                let ours = |t: &&(usize, usize, usize)| {
                    reachable.contains(&t.0) && meaning.levels.parts(h, h.top, t.1).contains(&(of, event))
                };
                let steps: Vec<_> = level.transitions.iter().filter(ours).collect();
                let good = |t: &&&(usize, usize, usize)| bad_ones.contains(&t.2);
                let expected: BTreeSet<Vec<i64>> = steps.iter().filter(good).map(|t| seen(t.0)).collect();
                assert_eq!(some, expected, "{text}");
                let always = |n: &&usize| {
                    let mut from = steps.iter().filter(|t| t.0 == **n).peekable();
                    from.peek().is_some() && from.all(|t| good(&t))
                };
                let expected: BTreeSet<Vec<i64>> = reachable.iter().filter(always).map(|&n| seen(n)).collect();
                assert_eq!(all, expected, "{text}");
                both += usize::from(!all.is_empty() && all.len() < some.len());
            }
        }
    }
    assert!(guarded > 0 && both > 0, "{guarded} {both}");
}
