//! Evidence about formulas: what is written is valid, and comes back as it was.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use trellis_expr::Value;
use trellis_model::cfa::interpret::zero;
use trellis_model::cfa::{EdgeId, LocationId};
use trellis_model::evidence::Verdict;
use trellis_model::ltl::evidence::{Lasso, Proof, Recurrence, Run, Step};
use trellis_model::ltl::product::product;
use trellis_model::ltl::{Buchi, Cube, Edge};
use trellis_report::ltl::{Counterexample, Formula, LtlAsked, LtlReport};
use trellis_report::{Content, Kind, Present, Program, dot, json};
use trellis_syntax::diag::Sources;
use trellis_syntax::ltl::subject::{Asked, Language, read};

use crate::validate::Validator;

const MODEL: &str = "main process p { var x : int init loc A loc B A -> B { x := 0 } B -> B { x := x + 1 } }";

fn world() -> (Asked, Buchi) {
    let mut sources = Sources::default();
    let model = sources.add("m.cfa", MODEL);
    let formula = sources.add("f", "F(x < 0)");
    let asked = read(&mut sources, model, formula, Language::Cfa).expect("a model");
    let stay = Edge { cube: Cube { positive: 0, negative: 1 }, marks: 1, to: 0 };
    (asked, Buchi { initial: vec![0], marks: 1, edges: vec![vec![stay]] })
}

fn about<'a>(program: &'a Program<'a>, asked: &'a Asked, automaton: &'a Buchi) -> Formula<'a> {
    let (atoms, names) = (&asked.spec.atoms, &asked.spec.names);
    Formula { program, asked: LtlAsked { subject: &asked.subject, atoms, names, automaton } }
}

fn report(verdict: Verdict<Counterexample, Proof>) -> LtlReport {
    LtlReport::about("m.cfa", "cfa", "F(x < 0)", Kind::Ltl, verdict)
}

/// A step with an edge, and one without.
fn run(asked: &Asked) -> Run {
    let cfa = &asked.subject.cfa;
    let start = zero(cfa);
    let mut after = start.clone();
    after.insert(cfa.variables[0], Value::Int(7.into()));
    let step = |edge| Step { edge, choices: vec![], after: after.clone() };
    Run { start, steps: vec![step(Some(EdgeId(0))), step(None)] }
}

fn valid(schema: &str, text: &[u8]) -> String {
    let json: Json = serde_json::from_slice(text).expect("JSON");
    Validator::new().assert_valid(schema, &json);
    json.to_string()
}

#[test]
fn lassos_come_back() {
    let (asked, automaton) = world();
    let lasso = Lasso { run: run(&asked), back: 1 };
    let trace = Counterexample::Lasso(lasso.clone());
    let program = Program::new(&asked.subject.cfa, &[]);
    let about = about(&program, &asked, &automaton);
    {
        let report = report(Verdict::Unsafe(trace.clone()));
        let (mut alone, mut inside) = (vec![], vec![]);
        json::write_trace(&mut alone, &about, report.header(), &trace).expect("written");
        json::write_report(&mut inside, &about, &report, None).expect("written");
        for text in [valid("trace-2.json", &alone), valid("report-1.json", &inside)] {
            let back = json::read(&about, &text).expect("readable");
            assert!(matches!(back, Content::Trace(Counterexample::Lasso(l)) if l == lasso), "{text}");
        }
    }
    let drawn = dot::run(&about.shown(&trace), "name");
    assert!(drawn.contains("s1 -> s1 [") && drawn.contains("nothing changes"), "{drawn}");
}

#[test]
fn recurrent_sets_and_proofs_come_back() {
    let (asked, automaton) = world();
    let program = Program::new(&asked.subject.cfa, &[]);
    let about = about(&program, &asked, &automaton);
    let large = product(&asked.subject, &asked.spec.atoms, &automaton).expect("a product").blocks();
    let (mut terms, v, place) = (large.cfa.terms.clone(), large.cfa.variables[0], large.origin[0]);
    let (x, one) = (terms.var(v), terms.int(1));
    let (set, more) = (terms.le(one, x), terms.add([x, one]));
    let told = Recurrence {
        automaton: automaton.clone(),
        terms: terms.clone(),
        stem: run(&asked),
        rounds: vec![vec![place, place]],
        choices: BTreeMap::from([(v, one)]),
        set,
    };
    let trace = Counterexample::Recurrence(Box::new(told.clone()));
    let mut text = vec![];
    json::write_trace(&mut text, &about, report(Verdict::Unsafe(trace.clone())).header(), &trace).expect("written");
    let text = valid("trace-2.json", &text);
    let back = json::read(&about, &text).expect("readable");
    let Content::Trace(Counterexample::Recurrence(back)) = back else { panic!("{text}") };
    assert_eq!((&back.stem, &back.rounds, back.choices.len()), (&told.stem, &told.rounds, 1));
    assert_eq!(back.terms.show(back.set).to_string(), told.terms.show(told.set).to_string());

    let proof = Proof {
        automaton: automaton.clone(),
        terms,
        nodes: vec![(place, set), (LocationId(0), set)],
        edges: vec![(0, 1), (1, 1)],
        rankings: vec![vec![Some(more), None]],
    };
    let mut text = vec![];
    let mut whole = vec![];
    let report = report(Verdict::Safe(proof.clone()));
    json::write_certificate(&mut text, &about, report.header(), &proof).expect("written");
    json::write_report(&mut whole, &about, &report, Some(about.size(&proof))).expect("written");
    valid("report-1.json", &whole);
    {
        let text = valid("certificate-2.json", &text);
        let back = json::read(&about, &text).expect("readable");
        let Content::Certificate(back) = back else { panic!("{text}") };
        assert_eq!(back.edges, proof.edges);
        assert_eq!(back.nodes.iter().map(|n| n.0).collect::<Vec<_>>(), [place, LocationId(0)]);
        assert!(back.rankings[0][0].is_some() && back.rankings[0][1].is_none());
        let other = Buchi { marks: 0, ..automaton.clone() };
        let why =
            json::read(&Formula { program: &program, asked: LtlAsked { automaton: &other, ..about.asked } }, &text)
                .expect_err("another automaton");
        assert!(why.to_string().contains("what must not be"), "{why}");
    }
    let short = valid("report-1.json", &whole);
    let why = json::read(&about, &short).expect_err("only how large it is");
    assert!(why.to_string().contains("--certificate"), "{why}");
}
