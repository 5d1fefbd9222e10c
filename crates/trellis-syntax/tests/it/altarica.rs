//! AltaRica: the models of the thesis, the whole grammar, what is refused and where.

use std::path::{Path, PathBuf};

use trellis_model::hierarchy::explicit::Meaning;
use trellis_syntax::altarica::{Built, parse};
use trellis_syntax::diag::{Sources, render};

fn read(text: &str) -> Result<(Built, String), String> {
    let mut sources = Sources::default();
    let id = sources.add("model.alt", text);
    let (file, mut warnings) = parse(&sources, id).map_err(|d| render(&d, &sources, false))?;
    let nodes = file.nodes();
    let top = *nodes.last().expect("a node");
    let (built, more) = file.build(top, &[]).map_err(|d| render(&d, &sources, false))?;
    warnings.extend(more);
    Ok((built, render(&warnings, &sources, false)))
}

fn model(text: &str) -> Built {
    read(text).unwrap_or_else(|e| panic!("{e}")).0
}

fn refused(text: &str) -> String {
    match read(text) {
        Ok(_) => panic!("should be refused: {text}"),
        Err(e) => e,
    }
}

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models/altarica")
}

/// Configurations, transitions, reachable configurations, and those with a condition, all and reachable.
fn counts(built: &mut Built, condition: &str) -> [usize; 5] {
    let mut sources = Sources::default();
    let id = sources.add("condition", condition);
    let bad = built.condition(&sources, id).unwrap_or_else(|d| panic!("{}", render(&d, &sources, false)));
    let (h, top) = (&built.hierarchy, built.hierarchy.top);
    let meaning = Meaning::of(h, 1_000_000).expect("small");
    let level = &meaning.components[top.index()];
    let reachable = meaning.reachable(top, &meaning.initial(h, top));
    let bad = meaning.satisfying(h, top, bad);
    let both = bad.iter().filter(|q| reachable.contains(q)).count();
    [level.configurations.len(), level.transitions.len(), reachable.len(), bad.len(), both]
}

const STACK3: &str = include_str!("../../../../models/altarica/stack3.alt");

#[test]
fn the_stack_has_the_counts_of_the_thesis() {
    let bad = "Top.object != no and (Stack.Top.object = no and Stack.Stack.object = no)";
    assert_eq!(counts(&mut model(STACK3), bad), [27, 91, 15, 2, 0]);
}

#[test]
fn wheels_have_the_flat_events_of_the_thesis() {
    for (text, expected) in [
        (include_str!("../../../../models/altarica/wheels3.alt"), 5),
        (include_str!("../../../../models/altarica/dwheels3.alt"), 157),
    ] {
        let h = model(text).hierarchy;
        assert_eq!(h.levels().expect("few").of(h.top).len(), expected);
    }
}

#[test]
fn shared_models_are_read() {
    for folder in ["own", "tank"] {
        let Ok(files) = std::fs::read_dir(shared().join(folder)) else { return };
        for file in files.map(|f| f.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "alt")) {
            let text = std::fs::read_to_string(&file).unwrap();
            read(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        }
    }
}

#[test]
fn small_mutual_exclusion_has_the_known_counts() {
    let file = shared().join("own/peterson2.alt");
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let [_, _, reachable, _, bad] = counts(&mut model(&text), "P[0].loc = cs & P[1].loc = cs");
    assert_eq!((reachable, bad), (20, 0));
}

#[test]
fn the_whole_grammar_is_read() {
    let (mut built, warnings) = read(
        "const N : [0, 9] = 2 + 1; const 'odd name' = true; domain Pair = struct a, b : bool; c : [0, N] tcurts;\n\
         extern law <event Leaf.e> = exponential 0.1;\n\
         NODE Leaf\n\
           param low : [0, 3];\n\
           state x : [low, N] : public; p : Pair[2] : parent; q : {red, green}[N] : private;\n\
           flow f : bool : in; g : Pair : out;\n\
           init x := low; p[0].a := true, p[1].c := 3;\n\
           event {a, b} < c < d; e; \"quoted event\" : public;\n\
           trans x < N & not f |- a, b -> x := x + 1 |- c -> p[0] := p[1], q[0] := if f then red else q[1];\n\
             true |- e ->; x = (f ? 1 : 2) => p[0].a |- 'quoted event' -> x := max(x - 1, low, -1);\n\
           assert g = p[0]; f = case { x = 1 : true, x * 2 / 1 mod 3 = 0 : p[0].a, else false };\n\
           extern bucket 1 2 3;\n\
         edon\n\
         node Main sub L : Leaf[2]; M, K : Leaf; param_set L[0].low := 1, L[1].low := 0; M.low := N - 2; K.low := 0;\n\
           event go, stop\n\
           sync <go, L[0].a?, L[1].a?> >= 1; <stop, M.e?>=0; <M.e, K.e>\n\
           trans true |- go, stop ->\n\
           init M.x := 2;\n\
         edon\n",
    )
    .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(warnings.matches("this directive").count(), 2, "{warnings}");
    let h = &built.hierarchy;
    assert_eq!(h.components.len(), 5);
    let choices = h.component(h.top).choices(h).expect("few");
    // ε, three of the first vector, one of the second, one of the third, and what no vector names.
    let families = choices.iter().filter(|c| !c.families.is_empty()).count();
    assert_eq!(families, 4);
    let mut sources = Sources::default();
    let id = sources.add("condition", "M.q[1] = red & L[0].p = L[1].p");
    built.condition(&sources, id).expect("a condition");
}

#[test]
fn mistakes_are_told_with_their_places() {
    for (text, message) in [
        ("sort T; node A edon", "abstract sorts (`sort`) are not supported"),
        ("sig f; node A edon", "signatures (`sig`) are not supported"),
        ("node A state x : bool; trans x + 1 = 2 |- e -> ; event e; edon", "expected a number, found a truth value"),
        ("node A state x : bool; event e; trans x |- e -> x := 3; edon", "a truth value meets a number"),
        ("node B event e; edon node A sub b : B; sync <b.f>; edon", "there is no event of `B` `f`"),
        ("node A event a < b; b < c; c < a; edon", "these priorities go round in a circle"),
        ("node A state x : [0, 3]; init x := 4; edon", "this value is not in the domain"),
        ("node A sub b : B; edon node B edon node C sub a : A; edon", "`B` must be declared before it is used"),
        ("node A flow f : bool; init f := true; edon", "`f` is a flow"),
        ("const N; node A edon", "the constant `N` has no value"),
        ("node A state x : [0, 1][2]; y : bool; assert x[y] = 0; edon", "expected a number, found a truth value"),
        ("node A state x : [0, 1][2]; assert x[2] = 0; edon", "there is no entry 2"),
        ("node A state x : [0, 1]; assert 1 / x = 0; edon", "this may be zero"),
        ("node A state x : {a, b}; assert x < b; edon", "expected a number, found a literal"),
        ("node A state x : bool; assert x = y; edon", "there is no variable, constant or literal `y`"),
        ("node B event e, f; edon node A sub b : B; sync <b.e, b.f>; edon", "takes part in a vector only once"),
        ("node A state x : bool[2][3]; assert x[0][2]; edon", "there is no entry 2"),
        ("node A state x : bool[1000000000]; edon", "is too large"),
        ("node A state x bool; edon", "expected `:`"),
        ("node A", "expected a section"),
        ("class Pump Boolean ok (init = true); end", "this looks like AltaRica 3.0"),
        ("node A state x : [1, 0]; edon", "this range is empty"),
        ("node A state x : bool; x : bool; edon", "there are two things called `x`"),
        ("node A param p : bool; edon node B sub a : A; edon", "the parameter `p` of `A` has no value"),
        (
            "node A param p : bool; edon node B sub a : A[1]; param_set a[0].p := true, a[1].p := true; edon",
            "there is no sub-node `a[1]`",
        ),
        ("node A event e; edon node B sub a : A; sync <a.e?> < 0; edon", "this can never be"),
        ("node A event e; edon node B sub a : A; sync <a.e?> = 2; edon", "this can never be"),
        ("node A flow f : bool : outt; edon", "there is no attribute `outt`"),
        ("node A event a; b; a; edon", "the event `a` is declared twice"),
        ("node A event a, a; edon", "the event `a` is declared twice"),
        ("node A state x : bool; extern law 1; tranz x |- e -> ; edon", "does not belong to a directive"),
    ] {
        let told = refused(text);
        assert!(told.contains(message), "{text}\nexpected {message}\n{told}");
        assert!(told.contains("model.alt:1:"), "{told}");
    }
}

/// `bool[2][3]` is an array of three arrays of two; so it is with sub-nodes.
#[test]
fn the_last_size_is_the_outer_one() {
    let mut built = model(
        "node A state m : bool[2][3]; init m[2][1] := true; edon\n\
         node B sub a : A[1][2]; init a[1][0].m[2][0] := true; edon",
    );
    assert_eq!(built.hierarchy.components.len(), 3);
    let [_, _, reachable, all, _] = counts(&mut built, "a[1][0].m[2][0] & a[1][0].m[2][1] & a[0][0].m[2][1]");
    assert_eq!((reachable, all), (1 << 9, 1 << 9));
}

/// The example of LaBRI's description of the language: who is not named in a vector takes part with ε, and what is below ε may happen.
#[test]
fn events_below_epsilon_happen_beside_others() {
    let h = model(
        "node A event a; state x : bool; trans x |- a -> x := not x; edon\n\
         node B sub a : A; event b; state x : bool; trans x |- b -> x := not x; edon\n\
         node C sub b : B; event c; state x : bool; trans x |- c -> x := not x; edon",
    )
    .hierarchy;
    let levels = h.levels().expect("few");
    let shown: Vec<String> = (0..levels.of(h.top).len()).map(|n| levels.show(&h, h.top, n)).collect();
    assert_eq!(shown, ["ε", "<b.a.a>", "<b.b>", "<c>", "<c, b.a.a>"]);
}

/// Cardinalities that always hold are no mistake.
#[test]
fn cardinalities_are_counted() {
    for (constraint, choices) in [("", 8), (">= 1", 7), ("> -1", 8), (">= -3", 8), ("= 2", 3), ("< 1", 1), ("<= 9", 8)]
    {
        let text = format!(
            "node A event e; trans true |- e -> ; edon node B sub a : A[3]; event go; trans true |- go -> ;\n\
             sync <go, a[0].e?, a[1].e?, a[2].e?> {constraint}; edon"
        );
        let h = model(&text).hierarchy;
        let all = h.component(h.top).choices(&h).expect("few");
        assert_eq!(all.iter().filter(|c| !c.families.is_empty()).count(), choices, "{constraint}");
    }
}

/// What is for other tools is kept as it is written: one directive or several, in a node or outside.
#[test]
fn directives_are_kept() {
    let (built, warnings) = read(
        "extern predicate up = <global (x)>;\n\
         node A state x : bool; event fail, repair;\n\
           extern law <event fail> = exponential (1.0e-3); law <event repair> = dirac(0);\n\
             bucket {x} = trans_group;\n\
           trans x |- fail -> x := false; not x |- repair -> x := true;\n\
           extern law <event fail> = again\n\
         edon\n\
         node B sub a : A[2]; edon",
    )
    .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(warnings.matches("this directive").count(), 5, "{warnings}");
    let kept: Vec<(u32, &str, Option<&str>)> =
        built.directives.iter().map(|(c, d)| (c.0, d.text.as_str(), d.event.as_deref())).collect();
    assert_eq!(kept.len(), 8);
    assert_eq!(kept[0], (0, "law <event fail> = exponential (1.0e-3)", Some("fail")));
    assert_eq!(kept[2], (0, "bucket {x} = trans_group", None));
    assert_eq!(kept[7], (1, "law <event fail> = again", Some("fail")));
}

#[test]
fn a_state_that_is_not_public_is_read_with_a_warning() {
    let (_, warnings) =
        read("node A state x : bool; edon node B sub a : A; assert a.x; edon").unwrap_or_else(|e| panic!("{e}"));
    assert!(warnings.contains("not `public`"), "{warnings}");
}

#[test]
fn broken_text_is_refused_and_nothing_panics() {
    // Every prefix of a model, and the model with one character replaced.
    for end in (0..STACK3.len()).step_by(3) {
        let _ = parse_any(&STACK3[..end]);
    }
    for (at, c) in STACK3.char_indices().step_by(2) {
        for other in ["<", "'", "[", "ε", "|-"] {
            let text = format!("{}{other}{}", &STACK3[..at], &STACK3[at + c.len_utf8()..]);
            let _ = parse_any(&text);
        }
    }
    let deep = format!("node A assert {}true{}; edon", "(".repeat(100_000), ")".repeat(100_000));
    assert!(refused(&deep).contains("nested too deeply"));
}

fn parse_any(text: &str) -> Option<Built> {
    let mut sources = Sources::default();
    let id = sources.add("model.alt", text);
    let (file, _) = parse(&sources, id).ok()?;
    let nodes = file.nodes();
    file.build(nodes.last()?, &[]).ok().map(|(built, _)| built)
}
