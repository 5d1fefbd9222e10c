//! Structures for sets of minimal vectors, beside the one that is used ([`Basis`]): all agree, and with `--nocapture` it is said how
//! often each compares two vectors and how long that takes. `bench/README.md` has figures.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use trellis_model::counter::pre::pre;
use trellis_model::counter::{Basis, System, Vector};

use crate::generator::{Kind, runs, system};
use crate::models::{load, root};

/// What backward search does: keeps a vector unless one is below, and drops those above.
trait Structure {
    fn insert(&mut self, v: &Vector) -> bool;
    fn compared(&self) -> u64;
}

impl Structure for Basis {
    fn insert(&mut self, v: &Vector) -> bool {
        self.insert_minimal(v.clone()).is_some()
    }
    fn compared(&self) -> u64 {
        0
    }
}

/// A list; perhaps with the signature and the sum of each, which tell most apart.
#[derive(Default)]
struct List {
    all: Vec<(u64, u64, Vector)>,
    filtered: bool,
    compared: u64,
}

impl List {
    fn leq(filtered: bool, count: &mut u64, a: &(u64, u64, Vector), b: &(u64, u64, Vector)) -> bool {
        if filtered && (a.0 & !b.0 != 0 || a.1 > b.1) {
            return false;
        }
        *count += 1;
        a.2.leq(&b.2)
    }
}

impl Structure for List {
    fn insert(&mut self, v: &Vector) -> bool {
        let v = (v.signature(), v.total(), v.clone());
        let (filtered, count) = (self.filtered, &mut self.compared);
        if self.all.iter().any(|o| List::leq(filtered, count, o, &v)) {
            return false;
        }
        self.all.retain(|o| !List::leq(filtered, count, &v, o));
        self.all.push(v);
        true
    }
    fn compared(&self) -> u64 {
        self.compared
    }
}

/// By the sum of all numbers.
#[derive(Default)]
struct Sums {
    by: BTreeMap<u64, Vec<Vector>>,
    compared: u64,
}

impl Structure for Sums {
    fn insert(&mut self, v: &Vector) -> bool {
        let (total, count) = (v.total(), &mut self.compared);
        let mut leq = |a: &Vector, b: &Vector| {
            *count += 1;
            a.leq(b)
        };
        if self.by.range(..=total).any(|(_, all)| all.iter().any(|o| leq(o, v))) {
            return false;
        }
        for (_, all) in self.by.range_mut(total..) {
            all.retain(|o| !leq(v, o));
        }
        self.by.entry(total).or_default().push(v.clone());
        true
    }
    fn compared(&self) -> u64 {
        self.compared
    }
}

/// A kd-tree: an inner node tells apart who has less than so many of a variable.
#[derive(Default)]
struct Kd {
    root: Option<Box<Node>>,
    compared: u64,
}

enum Node {
    Leaf(Vec<Vector>),
    Split(u32, u64, Box<[Node; 2]>),
}

impl Node {
    fn below(&self, v: &Vector, count: &mut u64) -> bool {
        match self {
            Node::Leaf(all) => all.iter().any(|o| {
                *count += 1;
                o.leq(v)
            }),
            Node::Split(x, n, parts) => parts[0].below(v, count) || (v.get(*x) >= *n && parts[1].below(v, count)),
        }
    }

    fn drop_above(&mut self, v: &Vector, count: &mut u64) {
        match self {
            Node::Leaf(all) => all.retain(|o| {
                *count += 1;
                !v.leq(o)
            }),
            Node::Split(x, n, parts) => {
                if v.get(*x) < *n {
                    parts[0].drop_above(v, count);
                }
                parts[1].drop_above(v, count);
            }
        }
    }

    fn add(&mut self, v: Vector) {
        match self {
            Node::Split(x, n, parts) => parts[usize::from(v.get(*x) >= *n)].add(v),
            Node::Leaf(all) => {
                all.push(v);
                if all.len() > 16 {
                    let all = std::mem::take(all);
                    // The split that comes nearest to the middle.
                    let mut entries: Vec<(u32, u64)> = all.iter().flat_map(Vector::iter).collect();
                    entries.sort_unstable();
                    entries.dedup();
                    let uneven = |e: &(u32, u64)| {
                        let right = all.iter().filter(|v| v.get(e.0) >= e.1).count();
                        right.abs_diff(all.len() / 2)
                    };
                    let Some((x, n)) = entries.into_iter().min_by_key(uneven) else { return *self = Node::Leaf(all) };
                    let (right, left): (Vec<Vector>, Vec<Vector>) = all.into_iter().partition(|v| v.get(x) >= n);
                    *self = Node::Split(x, n, Box::new([Node::Leaf(left), Node::Leaf(right)]));
                }
            }
        }
    }
}

impl Structure for Kd {
    fn insert(&mut self, v: &Vector) -> bool {
        let root = self.root.get_or_insert_with(|| Box::new(Node::Leaf(vec![])));
        if root.below(v, &mut self.compared) {
            return false;
        }
        root.drop_above(v, &mut self.compared);
        root.add(v.clone());
        true
    }
    fn compared(&self) -> u64 {
        self.compared
    }
}

/// A tree of entries in the order of variables: what begins alike is shared (a sharing tree, of which only beginnings are).
#[derive(Default)]
struct Trie {
    root: Branch,
    steps: u64,
}

#[derive(Default)]
struct Branch {
    end: bool,
    next: BTreeMap<(u32, u64), Branch>,
}

impl Branch {
    fn below(&self, v: &[(u32, u64)], count: &mut u64) -> bool {
        *count += 1;
        if self.end {
            return true;
        }
        (0..v.len()).any(|i| self.next.range((v[i].0, 0)..=v[i]).any(|(_, branch)| branch.below(&v[i + 1..], count)))
    }

    /// Whether nothing is left.
    fn drop_above(&mut self, v: &[(u32, u64)], count: &mut u64) -> bool {
        *count += 1;
        let Some(first) = v.first() else { return true };
        let most = (first.0, u64::MAX);
        self.next.retain(|key, branch| {
            if *key > most {
                return true;
            }
            let rest = if key.0 == first.0 && key.1 >= first.1 { &v[1..] } else { v };
            key.0 == first.0 && key.1 < first.1 || !branch.drop_above(rest, count)
        });
        self.next.is_empty() && !self.end
    }
}

impl Structure for Trie {
    fn insert(&mut self, v: &Vector) -> bool {
        if self.root.below(v.entries(), &mut self.steps) {
            return false;
        }
        self.root.drop_above(v.entries(), &mut self.steps);
        let mut at = &mut self.root;
        for e in v.iter() {
            at = at.next.entry(e).or_default();
        }
        at.end = true;
        true
    }
    fn compared(&self) -> u64 {
        self.steps
    }
}

/// Backward search, so many vectors far: what it tries to insert.
fn workload(system: &System, most: usize) -> Vec<Vector> {
    let mut basis = Basis::default();
    let mut all = vec![];
    let mut waiting: Vec<Vector> = system.target.clone();
    let mut at = 0;
    while at < waiting.len() && all.len() < most {
        let v = waiting[at].clone();
        at += 1;
        for rule in &system.rules {
            for p in pre(rule, &v).expect("small numbers") {
                all.push(p.clone());
                if basis.insert_minimal(p.clone()).is_some() {
                    waiting.push(p);
                }
            }
        }
    }
    all
}

fn compare(name: &str, all: &[Vector]) {
    let mut expected: Option<Vec<bool>> = None;
    let mut structures: Vec<(&str, Box<dyn Structure>)> = vec![
        ("list", Box::new(List::default())),
        ("list, signatures and sums", Box::new(List { filtered: true, ..List::default() })),
        ("sorted by sum", Box::new(Sums::default())),
        ("kd-tree", Box::new(Kd::default())),
        ("sharing tree", Box::new(Trie::default())),
        ("basis", Box::new(Basis::default())),
    ];
    for (word, s) in &mut structures {
        let started = Instant::now();
        let kept: Vec<bool> = all.iter().map(|v| s.insert(v)).collect();
        let took = started.elapsed();
        println!("{name:<40} {word:<26} {:>12} {took:>12.1?}", s.compared());
        match &expected {
            None => expected = Some(kept),
            Some(before) => assert_eq!(*before, kept, "{name}, {word}"),
        }
    }
}

#[test]
fn all_structures_agree() {
    for seed in 0..runs(100).min(2000) {
        let system = system(50_000 + seed, Kind { transfers: seed % 2 == 0, upper_bounds: false });
        compare("random", &workload(&system, 200));
    }
    let most = if std::env::var("TRELLIS_RUNS").is_ok() { 60_000 } else { 1000 };
    for name in ["german", "csm-broadcast"] {
        let system = load(&root().join(format!("models/coverability/{name}.spec"))).expect("a model");
        compare(name, &workload(&system, most));
    }
    let shared = root().join("../shared/models/coverability/mist");
    for name in ["PN/multipool", "BroadcastProtocols/Javaprograms/Java", "PN/mesh3x2", "PN/pncsacover"] {
        let path = shared.join(Path::new(name).with_extension("spec"));
        if let Some(system) = load(&path) {
            compare(name, &workload(&system, most));
        }
    }
}
