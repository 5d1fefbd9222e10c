//! Mec 5's relations against an evaluation that lists everything: random definitions over two small nodes of different files and over
//! plain values, and random systems of equations, least and greatest within each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use trellis_check::mec::Relations;
use trellis_domain::relation::Memory;
use trellis_engine::mec::Session;
use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{TermId, Value};
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::mec::{Callee, Definition, Fixpoint, Formula, Place, Sort};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::mec::World;

use crate::mec::load;
use crate::random::Random;

/// The value of an argument: that of a configuration is a list of its variables' values.
type Row = Vec<Vec<i64>>;

struct Node {
    configurations: Vec<Vec<i64>>,
    initial: BTreeSet<Row>,
    transitions: BTreeSet<Row>,
    events: Vec<String>,
}

impl Node {
    fn of(h: &Hierarchy) -> Option<Node> {
        let meaning = Meaning::of(h, 2_000).ok()?;
        let (level, order) = (&meaning.components[h.top.index()], h.variables_below(h.top));
        let sorted = |row: &Vec<i64>| {
            let mut all: Vec<(usize, i64)> = order.iter().map(|v| v.index()).zip(row.iter().copied()).collect();
            all.sort_unstable();
            all.into_iter().map(|(_, n)| n).collect::<Vec<i64>>()
        };
        let configurations: Vec<Vec<i64>> = level.configurations.iter().map(sorted).collect();
        let initial = meaning.initial(h, h.top).into_iter().map(|n| vec![configurations[n].clone()]).collect();
        let step = |&(from, event, to): &(usize, usize, usize)| {
            vec![configurations[from].clone(), vec![event as i64], configurations[to].clone()]
        };
        let transitions = level.transitions.iter().map(step).collect();
        let events = (0..meaning.levels.of(h.top).len()).map(|n| meaning.levels.show(h, h.top, n)).collect();
        Some(Node { configurations, initial, transitions, events })
    }
}

/// Everything, listed.
struct Plain {
    nodes: BTreeMap<String, Node>,
    defined: BTreeMap<String, BTreeSet<Row>>,
}

impl Plain {
    fn all(&self, sort: &Sort) -> Vec<Vec<i64>> {
        match sort {
            Sort::Configuration(node) => self.nodes[node].configurations.clone(),
            Sort::Event(node) => (0..self.nodes[node].events.len() as i64).map(|n| vec![n]).collect(),
            Sort::Value(domain) => domain.values(100).unwrap().into_iter().map(|n| vec![n]).collect(),
        }
    }

    fn rows(&self, sorts: &[Sort]) -> BTreeSet<Row> {
        let more = |rows: Vec<Row>, sort: &Sort| {
            let all = self.all(sort);
            rows.iter().flat_map(|row| all.iter().map(move |v| [&row[..], std::slice::from_ref(v)].concat())).collect()
        };
        sorts.iter().fold(vec![vec![]], more).into_iter().collect()
    }

    fn term(&self, d: &Definition, t: TermId, env: &Row) -> bool {
        let here: Valuation = (d.terms.free_vars(t).into_iter())
            .map(|v| {
                let word = match &d.places[&v] {
                    Place::Part(_, number, variable) => env[*number][*variable],
                    Place::Value(_, number) => env[*number][0],
                };
                (v, Value::from_word(d.terms.variable(v).ty, word))
            })
            .collect();
        eval(&d.terms, t, &here, &mut NoHost).unwrap().as_bool().unwrap()
    }

    fn holds(&self, d: &Definition, f: &Formula, env: &mut Row) -> bool {
        match f {
            Formula::Term(t) => self.term(d, *t, env),
            Formula::Not(a) => !self.holds(d, a, env),
            Formula::And(a, b) => self.holds(d, a, env) && self.holds(d, b, env),
            Formula::Or(a, b) => self.holds(d, a, env) || self.holds(d, b, env),
            Formula::Exists(n, sort, a) | Formula::Forall(n, sort, a) => {
                let some = matches!(f, Formula::Exists(..));
                let found = self.all(sort).into_iter().any(|value| {
                    env.truncate(*n);
                    env.push(value);
                    self.holds(d, a, env) == some
                });
                env.truncate(*n);
                found == some
            }
            Formula::Apply(callee, numbers) => {
                let row: Row = numbers.iter().map(|&n| env[n].clone()).collect();
                match callee {
                    Callee::Configurations(_) | Callee::Events(_) => true,
                    Callee::Initial(node) => self.nodes[node].initial.contains(&row),
                    Callee::Transitions(node) => self.nodes[node].transitions.contains(&row),
                    Callee::Defined(name) => self.defined[name].contains(&row),
                }
            }
            Formula::SameEvent((a, x), (b, y)) => {
                self.nodes[a].events[env[*x][0] as usize] == self.nodes[b].events[env[*y][0] as usize]
            }
        }
    }

    /// Solves equations one by one, each within those before it.
    fn solve(&mut self, system: &[Definition]) {
        let Some((d, inner)) = system.split_first() else { return };
        let everything = self.rows(&d.arguments);
        let mut now = if d.fixpoint == Fixpoint::Greatest { everything.clone() } else { BTreeSet::new() };
        loop {
            self.defined.insert(d.name.clone(), now.clone());
            self.solve(inner);
            let next: BTreeSet<Row> =
                everything.iter().filter(|row| self.holds(d, &d.formula, &mut row.to_vec())).cloned().collect();
            if d.fixpoint == Fixpoint::None || next == now {
                self.defined.insert(d.name.clone(), next);
                return;
            }
            now = next;
        }
    }
}

const KINDS: [&str; 9] = ["A!c", "B!c", "A!ev", "B!ev", "bool", "[0, 2]", "[1, 4]", "{a, b, c}", "{c, d}"];

fn literal(r: &mut Random, kind: usize) -> &'static str {
    match KINDS[kind] {
        "bool" => r.pick(&["true", "false"]),
        "[0, 2]" => r.pick(&["0", "1", "2"]),
        "[1, 4]" => r.pick(&["1", "2", "3", "4"]),
        "{a, b, c}" => r.pick(&["a", "b", "c"]),
        _ => r.pick(&["c", "d"]),
    }
}

/// What kinds of values can stand beside each other: truth values, numbers, literals.
fn class(kind: usize) -> usize {
    match kind {
        4 => 0,
        5 | 6 => 1,
        _ => 2,
    }
}

/// A node: its text, and the kinds of its variables.
fn node(r: &mut Random, name: &str) -> (String, Vec<(String, usize)>) {
    let kinds = if name == "A" { [4, 5, 7] } else { [4, 5, 8] };
    let mut variables: Vec<(String, usize)> = (0..2).map(|n| (format!("s{n}"), r.pick(&kinds))).collect();
    let domain = if name == "A" { "domain D = {a, b, c};" } else { "domain D = {c, d};" };
    let mut text = format!("{domain}\nnode {name}\n");
    for (v, kind) in &variables {
        let _ = writeln!(text, "  state {v} : {} : public;\n  init {v} := {};", KINDS[*kind], literal(r, *kind));
    }
    if r.chance(40) {
        let kind = variables[0].1;
        let _ = writeln!(text, "  flow f : {};\n  assert f = s0;", KINDS[kind]);
        variables.push(("f".into(), kind));
    }
    let _ = writeln!(text, "  event {};", if r.chance(20) { "u > v" } else { "u, v" });
    for event in ["u", "v", "u"] {
        let (v, kind) = r.pick(&variables[..2]);
        let (w, other) = r.pick(&variables);
        let update = if KINDS[kind] == "[0, 2]" && r.chance(60) { format!("{v} + 1") } else { literal(r, kind).into() };
        let op = r.pick(&["=", "!="]);
        let _ = writeln!(text, "  trans {w} {op} {} |- {event} -> {v} := {update};", literal(r, other));
    }
    text.push_str("edon\n");
    (text, variables)
}

struct Writer<'r> {
    r: &'r mut Random,
    /// The variables of A and of B.
    parts: [Vec<(String, usize)>; 2],
    /// Relations, and whether they may not stand under a negation.
    relations: Vec<(String, Vec<usize>, bool)>,
}

impl Writer<'_> {
    /// An expression of a class.
    fn value(&mut self, scope: &[(String, usize)], wanted: usize) -> String {
        let mut all: Vec<String> = vec![];
        for (name, kind) in scope {
            match kind {
                0 | 1 => all.extend(
                    self.parts[*kind].iter().filter(|(_, k)| class(*k) == wanted).map(|(p, _)| format!("{name}.{p}")),
                ),
                2 | 3 => {}
                _ if class(*kind) == wanted => all.push(name.clone()),
                _ => {}
            }
        }
        if all.is_empty() || self.r.chance(25) {
            let kind =
                self.r.pick(&[4, 5, 6, 7, 8].map(|k| if class(k) == wanted { k } else { 4 + wanted + wanted / 2 }));
            return literal(self.r, kind).into();
        }
        let one = self.r.pick(&all);
        if wanted == 1 && self.r.chance(30) { format!("{one} {} 1", self.r.pick(&["+", "-"])) } else { one }
    }

    fn atom(&mut self, scope: &[(String, usize)], negated: bool) -> String {
        let of = |kind: usize| scope.iter().filter(|(_, k)| *k == kind).map(|(n, _)| n.clone()).collect::<Vec<_>>();
        match self.r.below(6) {
            0 | 1 => {
                let callable: Vec<(String, Vec<usize>, bool)> = (self.relations.iter())
                    .filter(|(_, kinds, together)| {
                        !(*together && negated) && kinds.iter().all(|k| *k > 3 || !of(*k).is_empty())
                    })
                    .cloned()
                    .collect();
                if !callable.is_empty() {
                    let (name, kinds, _) = self.r.pick(&callable);
                    let mut arguments = vec![];
                    for kind in kinds {
                        let there = of(kind);
                        arguments.push(match there.is_empty() || (kind > 3 && self.r.chance(40)) {
                            true => self.value(scope, class(kind)),
                            false => self.r.pick(&there),
                        });
                    }
                    return format!("{name}({})", arguments.join(", "));
                }
            }
            2 | 3 => {
                let n = self.r.below(2);
                let (name, states, events) = (["A", "B"][n], of(n), of(n + 2));
                if !states.is_empty() {
                    if events.is_empty() {
                        return match self.r.below(3) {
                            0 => format!("{name}!init({})", self.r.pick(&states)),
                            1 => format!("{} = {}", self.r.pick(&states), self.r.pick(&states)),
                            _ => format!(
                                "<e : {name}!ev> {name}!t({}, e, {})",
                                self.r.pick(&states),
                                self.r.pick(&states)
                            ),
                        };
                    }
                    let (s, e, t) = (self.r.pick(&states), self.r.pick(&events), self.r.pick(&states));
                    return format!("{name}!t({s}, {e}, {t})");
                }
            }
            4 => {
                let events: Vec<String> = [of(2), of(3)].concat();
                if !events.is_empty() {
                    return format!("{} {} {}", self.r.pick(&events), self.r.pick(&["=", "!="]), self.r.pick(&events));
                }
            }
            _ => {}
        }
        let wanted = self.r.below(3);
        let (a, b) = (self.value(scope, wanted), self.value(scope, wanted));
        let op = if wanted == 1 { self.r.pick(&["=", "!=", "<", ">="]) } else { self.r.pick(&["=", "!="]) };
        format!("{a} {op} {b}")
    }

    fn formula(&mut self, scope: &[(String, usize)], depth: usize, negated: bool) -> String {
        if depth == 0 {
            return format!("({})", self.atom(scope, negated));
        }
        match self.r.below(7) {
            0 | 1 if scope.len() < 4 => {
                let (name, kind) = (format!("x{}", scope.len()), self.r.below(KINDS.len()));
                let inner = [scope, &[(name.clone(), kind)]].concat();
                let body = self.formula(&inner, depth - 1, negated);
                match self.r.chance(60) {
                    true => format!("<{name} : {}> {body}", KINDS[kind]),
                    false => format!("[{name} : {}] {body}", KINDS[kind]),
                }
            }
            2 => format!("~{}", self.formula(scope, depth - 1, !negated)),
            3 => {
                format!("({} => {})", self.formula(scope, depth - 1, !negated), self.formula(scope, depth - 1, negated))
            }
            4 | 5 => {
                format!("({} & {})", self.formula(scope, depth - 1, negated), self.formula(scope, depth - 1, negated))
            }
            _ => format!("({} | {})", self.formula(scope, depth - 1, negated), self.formula(scope, depth - 1, negated)),
        }
    }

    /// One definition, or some that use each other.
    fn system(&mut self, number: usize) -> String {
        let count = 1 + self.r.below(3);
        let mut heads = vec![];
        for n in 0..count {
            // Steps are what makes iterations long.
            let mut kinds = vec![self.r.below(2)];
            if self.r.chance(50) {
                kinds.push(4 + self.r.below(5));
            }
            heads.push((format!("R{number}_{n}"), kinds));
        }
        let plain = count == 1 && self.r.chance(50);
        if !plain {
            self.relations.extend(heads.iter().map(|(name, kinds)| (name.clone(), kinds.clone(), true)));
        }
        let mut text = String::new();
        for (name, kinds) in &heads {
            let scope: Vec<(String, usize)> = kinds.iter().enumerate().map(|(n, k)| (format!("x{n}"), *k)).collect();
            let header: Vec<String> = scope.iter().map(|(n, k)| format!("{n} : {}", KINDS[*k])).collect();
            let sign = if plain { ":=" } else { self.r.pick(&["+=", "-="]) };
            let mut body = self.formula(&scope, 3, false);
            if !plain && self.r.chance(70) {
                let (name, kinds) = self.r.pick(&heads);
                if kinds[0] == scope[0].1 {
                    let node = ["A", "B"][kinds[0]];
                    let more: Vec<String> = kinds[1..].iter().map(|k| self.value(&scope, class(*k))).collect();
                    let call = format!("{name}({})", [&["y".to_string()][..], &more].concat().join(", "));
                    let step = format!("<y : {node}!c>(<e : {node}!ev>({node}!t(x0, e, y)) & {call})");
                    body = format!("{body} {} {step}", self.r.pick(&["&", "|"]));
                }
            }
            let _ = writeln!(text, "{name}({}) {sign} {body};", header.join(", "));
        }
        self.relations.retain(|(_, _, together)| !together);
        self.relations.extend(heads.into_iter().map(|(name, kinds)| (name, kinds, false)));
        if count > 1 { format!("begin\n{text}end") } else { text }
    }
}

#[test]
fn random_relations() {
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|r| r.parse().ok()).unwrap_or(400);
    let (mut mixed, mut between, mut ordered) = (0, 0, 0);
    for seed in 1..=runs {
        let mut r = Random::new(seed);
        let (mut world, mut sources) = (World::default(), Sources::default());
        let mut session = Session::new(Memory { nodes: 1 << 20, cache: 1 << 14 }).expect("small");
        let mut plain = Plain { nodes: BTreeMap::new(), defined: BTreeMap::new() };
        let mut lists = Relations::default();
        let (mut parts, mut context) = (vec![], format!("seed {seed}\n"));
        for name in ["A", "B"] {
            let (text, variables) = node(&mut r, name);
            context += &text;
            parts.push(variables);
            let hierarchy = load(&mut session, &mut world, &mut sources, name, &text);
            plain.nodes.insert(name.into(), Node::of(&hierarchy).expect("small"));
            lists.add(name, &hierarchy, None);
        }
        let parts = [parts[0].clone(), parts[1].clone()];
        let mut writer = Writer { r: &mut r, parts, relations: vec![] };
        for number in 0..4 {
            let text = writer.system(number);
            context += &text;
            let id = sources.add("script", text);
            let system = world.define(&sources, id);
            let system = system.unwrap_or_else(|d| panic!("{}\n{context}", render(&d, &sources, false)));
            session.define(&system, &mut || true).unwrap_or_else(|e| panic!("{e}\n{context}"));
            plain.solve(&system);
            lists.define(&system, None);
            for d in &system {
                let mut found = session.rows(&session.defined[&d.name], usize::MAX).expect("there are columns");
                // The checker's own lists, which refuse a row too few and a row that is another one.
                let callee = Callee::Defined(d.name.clone());
                assert_eq!(lists.same(&callee, &d.arguments, &found), Ok(true), "{}: {found:?}\n{context}", d.name);
                let other = plain.rows(&d.arguments).into_iter().find(|row| !found.contains(row));
                if let Some(last) = found.pop() {
                    assert_eq!(lists.same(&callee, &d.arguments, &found), Ok(false), "{}\n{context}", d.name);
                    if let Some(other) = other {
                        found.push(other);
                        assert_eq!(lists.same(&callee, &d.arguments, &found), Ok(false), "{}\n{context}", d.name);
                        found.pop();
                    }
                    found.push(last);
                }
                let found: BTreeSet<Row> = found.into_iter().collect();
                assert!(found == plain.defined[&d.name], "{}: {found:?}\n{context}", d.name);
                let count = session.cardinal(&session.defined[&d.name]).expect("there are columns");
                assert_eq!(count.to_string(), found.len().to_string(), "{context}");
                between += usize::from(!found.is_empty() && found.len() < plain.rows(&d.arguments).len());
            }
            if system.len() > 1 && system.iter().any(|d| d.fixpoint != system[0].fixpoint) {
                mixed += 1;
                let right = plain.defined.clone();
                let other: Vec<Definition> = system.iter().rev().cloned().collect();
                plain.solve(&other);
                ordered += usize::from(plain.defined != right);
                plain.defined = right;
            }
        }
    }
    println!(
        "{mixed} systems of both kinds, the order of {ordered} matters; {between} relations are neither empty nor full"
    );
    assert!(mixed > 0 && between > 0 && (ordered > 0 || runs < 400));
}
