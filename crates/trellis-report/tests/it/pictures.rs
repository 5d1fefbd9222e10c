//! Graphs and pages.

use trellis_report::{Present, dot};

use crate::world::{LIBRARY, library, queries_of, reports, walk};

/// Quotes and braces close, as far as one can tell without Graphviz.
pub fn assert_balanced(text: &str) {
    let (mut depth, mut quoted, mut chars) = (0, false, text.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => _ = chars.next(),
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => {
                depth -= 1;
                assert!(depth >= 0, "{text}");
            }
            _ => {}
        }
    }
    assert!(depth == 0 && !quoted, "{text}");
}

/// A network of which nobody has drawn templates, as of other languages than UPPAAL's.
pub fn unsketched(mut net: trellis_model::network::Network) -> trellis_model::network::Network {
    net.processes.iter_mut().for_each(|p| p.sketch = None);
    net
}

#[test]
fn a_network() {
    // Templates once, in their author's words.
    let drawn = dot::drawing(&library().drawing(), "library.xta");
    assert_balanced(&drawn);
    assert_eq!(drawn.matches("subgraph cluster_").count(), 2);
    assert!(drawn.contains("label=\"login[id]!\\nknown = true\""), "{drawn}");
    // Processes, in ours.
    let drawn = dot::drawing(&unsketched(library()).drawing(), "library \"2\".xta");
    assert_balanced(&drawn);
    assert!(drawn.starts_with("digraph \"library \\\"2\\\".xta\" {"), "{drawn}");
    assert_eq!(drawn.matches("subgraph cluster_").count(), 3);
    for line in [
        "label=\"User(0)\";",
        "n11 [label=\"Closed\\nurgent\", style=dashed];",
        "n13 [label=\"Ring\\ncommitted\\nopen\", peripheries=2];",
        "n4 -> n1 [label=\"\"];",
        "n1 -> n2 [label=\"login[0]!\\nUser(0).known := true\"];",
        // One arrow for all values of the select.
        "n7 -> n6 [label=\"w : {0, 1, 3}\\npool[w+60] := 1\\ngrid[1][0] := w\"];",
        "n12 -> n12 [label=\"open\\nlogin[Desk.who]?\\nDesk.who := -Desk.who + 1\"];",
        "n12 -> n13 [label=\"pool[61] == 1\\nload.add(2)\"];",
    ] {
        assert!(drawn.contains(line), "{line} in\n{drawn}");
    }
}

/// Parts of lattices get the names that the model uses.
#[test]
fn lattice_places_have_names() {
    let model = "extern UnionBitVector; extern Both = Product(size, Interval, side, Sign);
        UnionBitVector many[3][70]; Both pair; int[0, 2] i;
        process P() { state A; init A; trans A -> A { select k : int[0, 2];
            guard many[1][k] == 1 && pair.side.mayBe(k) == 1;
            assign many[2] = many[0], i = (i * 2 + k) % 3, pair.size.add(i), many[2][k + 1] = 1; }; } system P;";
    let drawn = dot::drawing(&unsketched(queries_of(model, "").0).drawing(), "m");
    assert_balanced(&drawn);
    let expected = r"k : 0..2\nmany[1][k] == 1 && pair.side.mayBe(k) == 1\nmany[2] := many[0]";
    assert!(drawn.contains(expected), "{drawn}");
    assert!(drawn.contains(r"\npair.size.add(i)\nmany[2][k+1] := 1"), "{drawn}");
}

pub fn drawn_as(net: &trellis_model::network::Network, t: &trellis_model::network::Trace, ending: &str) -> String {
    let mut shown = net.shown(t);
    shown.run.ending = Some(ending.into());
    dot::run(&shown, "t")
}

#[test]
fn a_trace() {
    let (net, _) = queries_of(LIBRARY, "");
    let mut t = walk(&net, &[0, 0, 0]);
    let drawn = drawn_as(&net, &t, "target");
    assert_balanced(&drawn);
    assert!(
        drawn.contains("s1 -> s2 [label=\"User(0): Idle → Reading  login[0]!\\nDesk: Open → Open  login[0]?\"];"),
        "{drawn}"
    );
    assert!(drawn.contains("s3 [penwidth=3];"), "{drawn}");
    t.back_to = Some(1);
    let drawn = drawn_as(&net, &t, "loop");
    assert!(drawn.contains("s2 -> s1 ") && !drawn.contains("s3"), "{drawn}");
    let idle = drawn_as(&net, &walk(&net, &[0]), "idle");
    assert!(idle.contains("s1 -> end [style=dashed];"), "{idle}");
    let (net, all) = reports();
    let drawn = dot::report(&all[10], &net).unwrap();
    assert_balanced(&drawn);
    assert_eq!(drawn.matches("peripheries=2").count(), 2);
}

#[test]
fn a_page() {
    let (net, mut all) = reports();
    all[0].query = "A[] not </script><script>alert(1)</script>".into();
    let page = crate::network_page(&all, &net);
    assert!(!page.contains("alert(1)</script>") && page.contains("\\u003c/script>"));
    assert!(!page.contains("{{"));
    // Nothing is fetched; the only addresses are names of XML.
    assert!(
        !page.contains("https://")
            && !page.contains(" src=")
            && !page.replace("http://www.w3.org", "").contains("http://")
    );
    let shown = crate::data(&page);
    assert_eq!(shown["answers"].as_array().unwrap().len(), all.len());
    for (answer, report) in shown["answers"].as_array().unwrap().iter().zip(&all) {
        assert_eq!(answer["report"]["trace"].is_object(), report.trace.is_some());
        assert_eq!(answer["proof"]["document"]["kind"].is_string(), report.certificate.is_some());
    }
}
