//! Processes that cannot be told apart: up to symmetry, the answers are the same.
//!
//! Two or three instances of one template, whose identities are compared, assigned, selected, indexes of arrays, of clocks and of
//! channels; now and then something that breaks the symmetry: an order between identities, a question about one of them, a broadcast
//! whose receivers write the same variable. Whether a symmetry is used or not, the region graph decides. And a certificate up to
//! symmetry, written out, is one for a checker that knows nothing of symmetry.

use std::collections::HashSet;

use trellis_check::certify;
use trellis_domain::zone::Constraint;
use trellis_engine::network::{answer as answer_untimed, answer_up_to_symmetry};
use trellis_engine::reach::{Options, Refine, Update};
use trellis_engine::timed::answer::{Config, Engine, answer};
use trellis_engine::timed::reach::{self, Cover, Extrapolation};
use trellis_engine::waitlist::Order;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::network::{CertEntry, Certificate, LuBounds, Network, Query, Snapshot, Symmetry};

use crate::load::load;
use crate::random::{Random, for_seeds};
use crate::verdicts::{Count, check_ways};

/// A model and its questions, as text.
struct Text {
    model: String,
    queries: String,
}

struct Generator {
    r: Random,
    /// The first identity; from 1, 0 is nobody.
    lo: i64,
    hi: i64,
    scalar: bool,
    timed: bool,
    /// What breaks the symmetry may occur.
    unfair: bool,
    broadcast: bool,
    locations: usize,
}

fn generate(seed: u64, timed: bool) -> Text {
    let mut r = Random::new(seed);
    let lo = r.range(0, 1);
    let hi = lo + if r.percent(55) { 1 } else { 2 };
    let scalar = r.percent(30);
    let (lo, hi) = if scalar { (0, hi - lo) } else { (lo, hi) };
    let (unfair, broadcast) = (r.percent(25), r.percent(40));
    let locations = 2 + r.below(2);
    Generator { r, lo, hi, scalar, timed, unfair, broadcast, locations }.text()
}

impl Generator {
    fn text(mut self) -> Text {
        let (lo, hi) = (self.lo, self.hi);
        let id = if self.scalar { format!("scalar[{}]", hi + 1) } else { format!("int[{lo},{hi}]") };
        let owner = if lo == 1 { format!("int[0,{hi}] owner;") } else { "id_t owner;".into() };
        let mut model = format!(
            "typedef {id} id_t;\n{owner} id_t last; bool flag[id_t]; id_t link[id_t]; int[0,1] m[id_t][id_t]; int[0,2] n;\n\
             chan c, go[id_t]; broadcast chan d; urgent chan u;\n\
             id_t choose(id_t a, id_t b) {{ if (a == last) {{ return b; }} return a; }}\n\
             void hand(id_t a) {{ id_t old = last; last = a; link[a] = old; }}\n"
        );
        if self.timed {
            model += "clock y; clock z[id_t];\n";
        }
        model += "process P(const id_t id) {\n  int[0,1] v; id_t friend;";
        model += if self.timed { " clock x;\n" } else { "\n" };
        model += "  state ";
        let names: Vec<String> = (0..self.locations).map(|l| format!("L{l}")).collect();
        let mut shown = Vec::new();
        for name in &names {
            let invariant = match self.r.below(6) {
                0 if self.timed => format!(" {{ x <= {} }}", self.r.range(1, 2)),
                1 if self.timed => format!(" {{ z[id] <= {} }}", self.r.range(1, 2)),
                2 if self.timed && self.r.percent(30) => " { y < 3 }".into(),
                _ => String::new(),
            };
            shown.push(format!("{name}{invariant}"));
        }
        model += &format!("{};\n", shown.join(", "));
        if self.r.percent(15) {
            let l = self.r.below(self.locations);
            model += &format!("  {} L{l};\n", self.r.pick(&["commit", "urgent"]));
        }
        model += "  init L0;\n  trans\n";
        let count = self.locations + 1 + self.r.below(3);
        let edges: Vec<String> = (0..count).map(|e| self.edge(e)).collect();
        model += &format!("{};\n}}\n", edges.join(",\n"));
        let controller = self.r.percent(35);
        if controller {
            let update = self.r.pick(&["last = i", "owner = i, n = 0", "flag[i] = false", "n = 1"]);
            let sync = self.r.pick(&["go[i]!", "go[i]?", "c?", "c!", "d!"]);
            let guard = self.r.pick(&["", "guard flag[i];", "guard i != last;", "guard m[i][last] == 0;"]);
            model += &format!(
                "process C() {{\n  state A, B;\n  init A;\n  trans A -> B {{ select i : id_t; {guard} sync {sync}; assign {update}; \
                 }}, B -> A {{ {}}};\n}}\n",
                if self.timed { "guard y >= 1; assign y = 0; " } else { "" }
            );
        }
        model += if controller { "system P, C;\n" } else { "system P;\n" };
        let queries = (0..4).map(|_| self.query() + "\n").collect();
        Text { model, queries }
    }

    fn edge(&mut self, number: usize) -> String {
        let source = if number < self.locations { number } else { self.r.below(self.locations) };
        let target = self.r.below(self.locations);
        let select = self.r.percent(30);
        let mut parts = Vec::new();
        if select {
            parts.push("select e : id_t;".to_string());
        }
        let guards: Vec<String> = (0..self.r.below(3)).map(|_| self.guard(select)).collect();
        if !guards.is_empty() {
            parts.push(format!("guard {};", guards.join(" && ")));
        }
        let sync = match self.r.below(12) {
            0 | 1 => self.r.pick(&["c!", "c?"]),
            2 => self.r.pick(&["go[id]!", "go[id]?"]),
            3 if select => self.r.pick(&["go[e]!", "go[e]?"]),
            4 => self.r.pick(&["go[last]!", "go[friend]?"]),
            5 | 6 if self.broadcast => self.r.pick(&["d!", "d?", "d?"]),
            _ => "",
        };
        if !sync.is_empty() {
            parts.push(format!("sync {sync};"));
        }
        let updates: Vec<String> = (0..self.r.below(4)).map(|_| self.update(select)).collect();
        if !updates.is_empty() {
            parts.push(format!("assign {};", updates.join(", ")));
        }
        format!("    L{source} -> L{target} {{ {} }}", parts.join(" "))
    }

    fn nobody(&self) -> bool {
        self.lo == 1
    }

    fn guard(&mut self, select: bool) -> String {
        let c = self.r.range(0, 2);
        match self.r.below(22) {
            0 => "owner == id".into(),
            1 if self.nobody() => "owner == 0".into(),
            2 if self.nobody() => "owner != 0".into(),
            3 => "last != id".into(),
            4 => "flag[id]".into(),
            5 => "!flag[friend]".into(),
            6 => "(forall (i : id_t) !flag[i])".into(),
            7 => "(exists (i : id_t) link[i] == id)".into(),
            8 => "m[id][last] == 0".into(),
            9 => format!("v == {}", c % 2),
            10 => format!("n < {c}"),
            11 => "choose(id, friend) == id".into(),
            12 if select => "e != id".into(),
            13 if select => "flag[e]".into(),
            14 if self.unfair && !self.scalar => self.r.pick(&["id < last", "owner <= id", "id > n"]).into(),
            15 => "link[link[id]] == id".into(),
            16 => "(sum (i : id_t) m[i][id]) == 0".into(),
            _ if self.timed => match self.r.below(6) {
                0 => format!("z[id] >= {c}"),
                1 => format!("z[last] < {}", c + 1),
                2 => format!("y >= {c}"),
                3 => format!("x <= {c}"),
                4 if self.r.percent(10) => "x - y < 1".into(),
                _ => format!("x >= {c}"),
            },
            _ => "link[id] != last".into(),
        }
    }

    fn update(&mut self, select: bool) -> String {
        match self.r.below(24) {
            0 | 1 => "owner = id".into(),
            2 if self.nobody() => "owner = 0".into(),
            3 => "last = id".into(),
            4 => "last = friend".into(),
            5 => "flag[id] = true".into(),
            6 => "flag[id] = false".into(),
            7 => "flag[last] = !flag[last]".into(),
            8 => "link[id] = last".into(),
            9 => "m[id][last] = 1".into(),
            10 => "m[last][id] = 0".into(),
            11 => "v = 1 - v".into(),
            12 => "n = (n + 1) % 3".into(),
            13 => "n = 0".into(),
            14 if select => self.r.pick(&["friend = e", "link[id] = e", "last = e", "flag[e] = true"]).into(),
            15 => "friend = choose(last, id)".into(),
            16 => "hand(id)".into(),
            17 if self.unfair && !self.scalar => {
                self.r.pick(&["n = id % 3", "v = id % 2", "n = last > id ? 1 : 0"]).into()
            }
            18 if self.broadcast => "n = 2 - n".into(),
            _ if self.timed => match self.r.below(6) {
                0 => "z[id] = 0".into(),
                1 => "z[last] = 0".into(),
                2 => "y = 0".into(),
                3 => "x = 1".into(),
                4 => "z[id] = x".into(),
                _ => "x = 0".into(),
            },
            _ => "friend = id".into(),
        }
    }

    fn query(&mut self) -> String {
        let l = self.r.below(self.locations);
        let k = self.r.below(self.locations);
        let (lo, c) = (self.lo, self.r.range(0, 2));
        let one = if self.scalar { "exists (i : id_t) P(i).L0 && last == i".into() } else { format!("P({lo}).L{l}") };
        let all = match self.r.below(9) {
            0 => format!("forall (i : id_t) forall (j : id_t) P(i).L{l} && P(j).L{l} imply i == j"),
            1 => format!("exists (i : id_t) P(i).L{l} && flag[i]"),
            2 => format!("forall (i : id_t) P(i).L{l} imply link[i] == last || P(i).v == 0"),
            3 => format!("n == {c} && exists (i : id_t) P(i).L{l} && P(i).friend == owner"),
            4 => one,
            5 => "deadlock".into(),
            6 => format!("exists (i : id_t) exists (j : id_t) P(i).L{l} && P(j).L{k} && m[i][j] == 1"),
            _ if self.timed => match self.r.below(4) {
                0 => format!("forall (i : id_t) P(i).L{l} imply P(i).x <= {c}"),
                1 => format!("exists (i : id_t) P(i).L{k} && P(i).x > {c} && y < 1"),
                2 => format!("forall (i : id_t) z[i] < 3 || P(i).L{l}"),
                _ => format!("y >= {c} && exists (i : id_t) P(i).L{l} && owner == i"),
            },
            _ => format!("forall (i : id_t) flag[i] imply P(i).L{l}"),
        };
        format!("{} {all}", self.r.pick(&["E<>", "A[]"]))
    }
}

fn ways(seed: u64) -> Vec<Config> {
    let order = [Order::Bfs, Order::Dfs, Order::Random(seed), Order::Priority][seed as usize % 4];
    let zones = [
        (Extrapolation::LuPlus, Cover::Alu),
        (Extrapolation::LuPlus, Cover::Inclusion),
        (Extrapolation::M, Cover::Equality),
        (Extrapolation::None, Cover::Inclusion),
    ];
    let way = |(extrapolation, cover), symmetry| {
        let engine = Some(Engine::Reach(reach::Options { extrapolation, cover, order }));
        Config { engine, order: None, non_zeno: false, certificate: true, symmetry }
    };
    zones.into_iter().map(|z| way(z, true)).chain([way(zones[0], false)]).collect()
}

/// How many states are needed, without symmetry and with.
#[derive(Debug, Default)]
struct Saved {
    models: usize,
    questions: usize,
    symmetric: usize,
    without: u64,
    with: u64,
    broken: usize,
    /// Certificates that were written out without symmetry.
    written_out: usize,
    /// Why not, and how often.
    refused: std::collections::BTreeMap<&'static str, usize>,
}

/// What an entry becomes when two members are exchanged.
fn swapped(symmetry: &Symmetry, swap: u16, e: &CertEntry) -> CertEntry {
    let word = [swap];
    let Snapshot { locations, data, .. } = &e.state;
    let mut cells: Vec<i64> = locations.iter().map(|&l| i64::from(l)).chain(data.iter().copied()).collect();
    // A swap is its own inverse.
    symmetry.cells_before(&word, &mut cells);
    let (locations, data) = cells.split_at(locations.len());
    let locations = locations.iter().map(|&l| l as u32).collect();
    let clock = |c: u32| symmetry.clock(&word, c);
    let zone = e.zone.iter().map(|c| Constraint { left: clock(c.left), right: clock(c.right), bound: c.bound });
    let moved = |of: &[i32]| (0..of.len()).map(|c| of[clock(c as u32) as usize]).collect();
    let bounds = e.bounds.as_ref().map(|b| LuBounds { lower: moved(&b.lower), upper: moved(&b.upper) });
    let state = Snapshot { locations, data: data.to_vec(), ..e.state.clone() };
    CertEntry { state, zone: zone.collect(), bounds, ..e.clone() }
}

/// A certificate up to symmetry as one that needs none: all that its entries become. None if that is too much.
fn written_out(symmetry: &Symmetry, cert: &Certificate) -> Option<Certificate> {
    let key = |e: &CertEntry| {
        let mut zone: Vec<_> = e.zone.iter().map(|c| (c.left, c.right, c.bound)).collect();
        zone.sort_unstable();
        (e.state.clone(), zone, e.bounds.clone())
    };
    let mut seen: HashSet<_> = cert.entries.iter().map(key).collect();
    let mut entries = cert.entries.clone();
    let mut next = 0;
    while next < entries.len() {
        for swap in 0..symmetry.swaps().count() as u16 {
            let image = swapped(symmetry, swap, &entries[next]);
            if seen.insert(key(&image)) {
                entries.push(image);
            }
        }
        next += 1;
        if entries.len() > 3000 {
            return None;
        }
    }
    Some(Certificate { entries, up_to_symmetry: false, ..*cert })
}

/// Whoever knows nothing of symmetry accepts what a certificate stands for.
fn check_written_out(net: &Network, query: &Query, symmetry: &Symmetry, cert: &Certificate, saved: &mut Saved) {
    if let Some(whole) = written_out(symmetry, cert) {
        saved.written_out += 1;
        if let Err(r) = certify(net, query, &whole) {
            panic!("{}: written out, the certificate is none: {r}", query.text);
        }
    }
}

fn saved(net: &Network, query: &Query, saved: &mut Saved) {
    saved.questions += 1;
    let group = Symmetry::find(net, query);
    for r in group.refused() {
        *saved.refused.entry(r.why).or_default() += 1;
    }
    if group.is_empty() {
        return;
    }
    saved.symmetric += 1;
    let mut count = |symmetry| {
        let options = reach::Options { order: Order::Bfs, ..reach::Options::default() };
        let engine = Some(Engine::Reach(options));
        let way = Config { engine, order: None, non_zeno: false, certificate: true, symmetry };
        let Ok(a) = answer(net, query, &way, &mut Meter::unlimited().states(Some(4000))) else { return None };
        let Verdict::Safe(cert) = a.verdict else { return None };
        // A certificate up to symmetry is none without, unless it needs no symmetry; never may it be more.
        assert_eq!(cert.up_to_symmetry, symmetry);
        if symmetry {
            let plain = Certificate { up_to_symmetry: false, ..cert.clone() };
            saved.broken += usize::from(certify(net, query, &plain).is_err());
            check_written_out(net, query, &group, &cert, saved);
        }
        Some(a.stats.stored)
    };
    if let (Some(without), Some(with)) = (count(false), count(true)) {
        saved.without += without;
        saved.with += with;
    }
}

fn agree(first: u64, models: u64) {
    let (mut count, mut total) = (Count::default(), Saved::default());
    for_seeds(
        first,
        models,
        |seed| {
            let t = generate(seed, true);
            format!("{}\n{}", t.model, t.queries)
        },
        |seed| {
            let t = generate(seed, true);
            let (net, queries) = load(&t.model, &t.queries)?;
            total.models += 1;
            check_ways(&net, &queries, &|i| ways(seed + i as u64), &mut count)?;
            queries.iter().for_each(|q| saved(&net, q, &mut total));
            Ok(())
        },
    );
    println!("models from {first}: {count:?}, {total:?}");
    if models > 50 {
        assert!(total.symmetric * 4 > total.questions, "too few are symmetric: {total:?}");
        assert!(total.with < total.without && total.broken > 0, "symmetry saves nothing: {total:?}");
        assert!(total.written_out > 0, "no certificate was written out: {total:?}");
    }
}

#[test]
fn symmetric_processes_agree_with_regions() {
    agree(7_000_000, 150);
}

fn untimed(net: &Network, query: &Query, total: &mut Saved) -> Result<(), String> {
    let options = Options { update: Update::Simple, order: Order::Bfs, refine: Refine::Never };
    let limit = || Meter::unlimited().states(Some(20_000));
    let plain = answer_untimed(net, query, options, None, None, &mut limit());
    let folded = answer_up_to_symmetry(net, query, Order::Bfs, &mut limit());
    let symmetry = Symmetry::find(net, query);
    let symmetric = !symmetry.is_empty();
    total.questions += 1;
    total.symmetric += usize::from(symmetric);
    let (plain, folded) = match (plain, folded) {
        (Ok(a), Ok(b)) => (a, b),
        // Whoever finds what is looked for first does not see the fault.
        (Err(_), Err(_)) => return Ok(()),
        (Ok(a), Err(_)) if matches!(a.verdict, Verdict::Unsafe(_)) => return Ok(()),
        (Err(_), Ok(b)) if matches!(b.verdict, Verdict::Unsafe(_)) => return Ok(()),
        (a, _) => {
            return Err(format!(
                "{}: a fault is seen only {} symmetry",
                query.text,
                if a.is_err() { "without" } else { "with" }
            ));
        }
    };
    match (plain.verdict, folded.verdict) {
        (Verdict::Safe(_), Verdict::Safe(cert)) => {
            certify(net, query, &cert).map_err(|r| format!("{}: certificate rejected: {r}", query.text))?;
            if symmetric {
                total.without += plain.stats.stored;
                total.with += folded.stats.stored;
                check_written_out(net, query, &symmetry, &cert, total);
                let plain = Certificate { up_to_symmetry: false, ..cert };
                total.broken += usize::from(certify(net, query, &plain).is_err());
            }
            Ok(())
        }
        (Verdict::Unsafe(_), Verdict::Unsafe(trace)) => {
            let replayed = trellis_check::replay(net, query, &trace);
            replayed.map(|_| ()).map_err(|r| format!("{}: trace rejected: {r}", query.text))
        }
        (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => Ok(()),
        (a, _) => Err(format!("{}: {} without symmetry only", query.text, matches!(a, Verdict::Unsafe(_)))),
    }
}

#[test]
fn symmetric_processes_without_clocks() {
    let mut total = Saved::default();
    for_seeds(
        8_000_000,
        400,
        |seed| {
            let t = generate(seed, false);
            format!("{}\n{}", t.model, t.queries)
        },
        |seed| {
            let t = generate(seed, false);
            let (net, queries) = load(&t.model, &t.queries)?;
            total.models += 1;
            queries.iter().try_for_each(|q| untimed(&net, q, &mut total))
        },
    );
    println!("{total:?}");
}

/// Fischer's protocol with identities from 1, where 0 is nobody.
const FISCHER: &str = "typedef int[1,N] id_t; int[0,N] id;
    process P(const id_t pid) { clock x; state A, req { x <= 2 }, wait, cs; init A;
    trans A -> req { guard id == 0; assign x = 0; }, req -> wait { assign x = 0, id = pid; },
          wait -> req { guard id == 0; assign x = 0; }, wait -> cs { guard x > 2 && id == pid; }, cs -> A { assign id = 0; }; }
    system P;";
const EXCLUSION: &str = "A[] forall (i : id_t) forall (j : id_t) P(i).cs && P(j).cs imply i == j";

fn fischer(n: usize, symmetry: bool) -> (Network, Query, Certificate) {
    let (net, mut queries) = load(&FISCHER.replace('N', &n.to_string()), EXCLUSION).expect("a model");
    let query = queries.remove(0);
    let way = Config { engine: Some(Engine::Reach(reach::Options::default())), symmetry, ..ways(0)[0] };
    let Ok(a) = answer(&net, &query, &way, &mut Meter::unlimited()) else { panic!("a fault") };
    let Verdict::Safe(cert) = a.verdict else { panic!("Fischer is safe") };
    (net, query, cert)
}

#[test]
fn fischer_needs_few_states_up_to_symmetry() {
    let sizes = |n| (fischer(n, false).2.entries.len(), fischer(n, true).2.entries.len());
    assert_eq!([3, 4, 5, 6].map(sizes), [(65, 18), (220, 28), (727, 40), (2378, 54)]);
}

#[test]
fn a_damaged_certificate_up_to_symmetry_is_noticed() {
    let (net, query, cert) = fischer(4, true);
    certify(&net, &query, &cert).expect("the certificate is one");
    for i in 0..cert.entries.len() {
        let mut less = cert.clone();
        less.entries.remove(i);
        assert!(certify(&net, &query, &less).is_err(), "nobody misses entry {i}");
    }
    let plain = Certificate { up_to_symmetry: false, ..cert.clone() };
    assert!(certify(&net, &query, &plain).is_err(), "entries stand for more than they are");
    // The question about one process leaves a smaller symmetry: the same entries prove less.
    let (same, others) = load(&FISCHER.replace('N', "4"), "A[] not (P(1).cs && P(2).req)").expect("a model");
    assert!(certify(&same, &others[0], &cert).is_err());
    // Entries under other names are the same entries.
    let mut renamed = cert.clone();
    for e in &mut renamed.entries {
        e.state.locations.reverse();
        e.state.data[0] = if e.state.data[0] == 0 { 0 } else { 5 - e.state.data[0] };
        for c in &mut e.zone {
            for x in [&mut c.left, &mut c.right] {
                *x = if *x == 0 { 0 } else { 5 - *x };
            }
        }
        let bounds = e.bounds.as_mut().expect("the default has bounds");
        bounds.lower[1..].reverse();
        bounds.upper[1..].reverse();
    }
    certify(&net, &query, &renamed).expect("the names of symmetric processes do not matter");
}

#[test]
fn members_of_scalar_sets_are_alike_without_processes() {
    let model = "typedef scalar[3] S; bool seen[S]; S last; int[0,3] n; clock x; clock z[S]; chan go[S];
        process P() { state A, B; init A; trans
            A -> A { select s : S; guard !seen[s] && x >= 1 && z[s] <= 4; assign seen[s] = true, last = s, z[s] = 0, x = 0, n = n + 1; },
            A -> B { guard forall (s : S) seen[s]; },
            A -> A { select s : S; sync go[s]!; } ; }
        process Q(const S s) { state A, B; init A; trans A -> B { sync go[s]?; }; }
        system P, Q;";
    let (net, queries) =
        load(model, "A[] P.B imply n == 3\nE<> exists (s : S) Q(s).B && last == s && z[s] > 2").expect("a model");
    for q in &queries {
        let symmetry = Symmetry::find(&net, q);
        assert_eq!(symmetry.swaps().count(), 2, "{:?}", symmetry.refused());
    }
    check_ways(&net, &queries, &|i| ways(i as u64), &mut Count::default()).unwrap();
}

#[test]
fn instances_of_a_template_beside_the_template() {
    let model =
        "process T(const int[0,2] a) { state A, B; init A; trans A -> B { guard a <= 1; }; } F = T(2); system T, F;";
    for (query, safe) in [("A[] F.A", true), ("A[] not T(2).B", true), ("A[] not T(1).B", false), ("E<> T(2).B", true)]
    {
        let (net, queries) = load(model, query).unwrap_or_else(|e| panic!("{e}"));
        let answer = answer_up_to_symmetry(&net, &queries[0], Order::Bfs, &mut Meter::unlimited());
        let answer = answer.unwrap_or_else(|b| panic!("{}", b.error));
        assert_eq!(matches!(answer.verdict, Verdict::Safe(_)), safe, "{query}");
    }
}
