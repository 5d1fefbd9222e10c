//! Right models with a few words exchanged: whatever becomes of them, nothing panics, errors have places, and what can be
//! built can be compiled and run.

use proptest::prelude::*;
use trellis_model::network::Post;
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::uppaal::build::{Options, Questions, build};
use trellis_syntax::uppaal::{parse_queries, parse_xta};

const MODELS: &[&str] = &[
    include_str!("../../../../../models/lattice/lossy.xta"),
    include_str!("../../../../../models/lattice/binary-search.xta"),
    include_str!("../../../../../tests/malformed/model.xta"),
    "const int N = 3; typedef int[0, N-1] id; typedef struct { int x; bool b[2]; } S; S s, t[N]; int a[N][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 } }; \
     chan c[N], d; broadcast chan e; chan priority c[0], d < default < e; meta int m; extern UnionBitVector; UnionBitVector v[N]; \
     extern L = Product(level, Hasse(low < mid, mid < high), set, Powerset(4)); L l; typedef scalar[2] Sc; Sc sc; int k[Sc]; \
     void swap(int &p, int &q) { int h = p; p = q; q = h; } int sum2(const int p[2]) { return p[0] + p[1]; } \
     S make(int n) { S r = { n, { true, false } }; return r; } \
     int find(int n) { for (i : id) { if (a[i][0] == n) return i; } return -1; } \
     void loop(UnionBitVector &w[N]) { int i = 0; while (i < N && w[i] == 0) { w[i] = 1; i++; } do { i--; } while (i > 0); } \
     process P(const id me, int &r, chan &go) { int own[2]; state A { own[0] < 9 }, B, C; commit B; urgent C; init A; \
       trans A -> B { select i : id; guard i != me && a[i][1] > own[0]; sync c[i]!; assign own[0]++, swap(a[me][0], r), s = make(i), t[i].b = s.b; }, \
             B -> A { guard forall (j : id) v[j] == 0 imply find(j) < 0; sync go?; assign loop(v), l.set.add(me), m = sum2(a[0]), k[sc] = m; }, \
             A -> C { sync e!; assign r = (own[1] > 0 ? own[0] : s.x) <? 5, v[me] = exists (j : id) j == r; }; } \
     Q(const id i) = P(i, s.x, d); R = P(1, a[0][1], c[2]); system Q < R; \
     query { A[] forall (i : id) Q(i).A imply l.set.contains(i) == 0 } query { sup{R.B}: R.own[0] + s.x } query { E<> deadlock and v.num1s() > 1 }",
];

/// A model cut into words and signs.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len = match first {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c if c.is_whitespace() => rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at(len);
        words.push(word);
        rest = after;
    }
    words
}

fn damaged() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4u8);
    (prop::sample::select(MODELS), prop::collection::vec(change, 1..4)).prop_map(|(model, changes)| {
        let mut all = words(model);
        for (at, from, how) in changes {
            let (at, from) = (at.index(all.len()), from.index(all.len()));
            match how {
                0 => drop(all.remove(at)),
                1 => all.insert(at, all[from]),
                _ => all[at] = all[from],
            }
        }
        all.concat()
    })
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let mut sources = Sources::default();
    let id = sources.add("model.xta", text);
    let (nta, diags) = parse_xta(id, text);
    if !diags.is_empty() {
        return Ok(());
    }
    let (queries, _) = parse_queries(sources.add("queries.q", ""), "A[] n == 0\n");
    let questions = Questions { queries, embedded: true, ..Questions::default() };
    match build(&nta, &questions, &sources, &Options::default()) {
        Ok(built) => {
            // A fault is the model's own affair.
            let mut post = Post::new(&built.network);
            if let Ok((key, elem)) = post.initial() {
                let _ = post.has_successor(&key, &elem);
            }
        }
        Err(errors) => {
            prop_assert!(!errors.is_empty(), "refused without a word: {text}");
            for e in &errors {
                prop_assert!(e.span.is_some(), "no place: {}", e.message);
            }
            let _ = render(&errors, &sources, false);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(text in damaged()) {
        check(&text)?;
    }
}

#[test]
fn the_models_are_right() {
    for model in MODELS {
        super::network(model);
    }
}
