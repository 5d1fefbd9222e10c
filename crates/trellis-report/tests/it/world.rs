//! Networks to report about, and runs through them.

use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{CertEntry, Certificate, Network, Query, Step, Trace};
use trellis_report::{Inconclusive, PropertyReport};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::uppaal::build::{Options, Questions, build};
use trellis_syntax::uppaal::{parse_queries, parse_xta};

/// A library with users who log in over a channel array, some data, a pool of messages.
pub const LIBRARY: &str = "
const int N = 2;
typedef int[0, N-1] user_t;
typedef int[0, 3] word_t;
extern UnionBitVector;
UnionBitVector pool[70];
extern Interval;
Interval load;
chan login[N];
broadcast chan bell;
bool open = false;
int[0, 9] grid[2][2];
int[-3, 3] last;

process User(const user_t id) {
    bool known;
    state Idle, Reading, Lost;
    init Idle;
    trans
        Idle -> Reading { sync login[id]!; assign known = true; },
        Reading -> Idle { select w : word_t; guard w != 2; assign pool[w + 60] = 1, grid[id][0] = w; },
        Reading -> Lost { sync bell?; };
}

process Desk() {
    int[0, 1] who;
    state Closed, Open, Ring { open };
    commit Ring;
    urgent Closed;
    init Closed;
    trans
        Closed -> Open { assign open = true, last = -2; },
        Open -> Open { guard open; sync login[who]?; assign who = 1 - who; },
        Open -> Ring { guard pool[61] == 1; assign load.add(2); },
        Ring -> Open { sync bell!; };
}

system User, Desk;
";

pub fn queries_of(model: &str, queries: &str) -> (Network, Vec<Query>) {
    let mut sources = Sources::default();
    let id = sources.add("test.xta", model);
    let (nta, diags) = parse_xta(id, model);
    assert!(diags.is_empty(), "{}", render(&diags, &sources, false));
    let id = sources.add("test.q", queries);
    let (asked, diags) = parse_queries(id, queries);
    assert!(diags.is_empty(), "{}", render(&diags, &sources, false));
    let questions = Questions { queries: asked, ..Questions::default() };
    match build(&nta, &questions, &sources, &Options::default()) {
        Ok(built) => (built.network, built.queries),
        Err(diags) => panic!("{}", render(&diags, &sources, false)),
    }
}

pub fn library() -> Network {
    queries_of(LIBRARY, "").0
}

pub fn query(model: &str, text: &str) -> (Network, Query) {
    let (net, mut queries) = queries_of(model, text);
    (net, queries.remove(0))
}

/// A run that takes the chosen steps (modulo how many there are).
pub fn walk(net: &Network, choices: &[usize]) -> Trace {
    let interpreter = Interpreter::new(net);
    let initial = interpreter.initial().unwrap();
    let mut now = initial.clone();
    let mut steps = Vec::new();
    for choice in choices {
        let mut possible = interpreter.steps(&now).unwrap();
        if possible.is_empty() {
            break;
        }
        let (action, state) = possible.swap_remove(choice % possible.len());
        now = state.clone();
        steps.push(Step::at_once(action, state));
    }
    Trace { steps, ..Trace::at(initial) }
}

/// All states of some walks.
pub fn certificate(net: &Network, ranks: bool) -> Certificate {
    let mut entries: Vec<CertEntry> = Vec::new();
    for seed in 0..20usize {
        let choices: Vec<usize> = (1..20).map(|i| i * (seed + 7) / 3).collect();
        let t = walk(net, &choices);
        for state in std::iter::once(t.initial).chain(t.steps.into_iter().map(|s| s.state)) {
            if !entries.iter().any(|e| e.state == state) {
                let rank = (ranks && !entries.len().is_multiple_of(3)).then_some(entries.len() as u32);
                entries.push(CertEntry { rank, ..CertEntry::of(state) });
            }
        }
    }
    Certificate { entries: entries.into(), up_to_order: !ranks, up_to_symmetry: false }
}

/// One report of each kind.
pub fn reports() -> (Network, Vec<PropertyReport>) {
    let text =
        "A[] not Desk.Ring\nE<> User(0).Lost\nA<> Desk.Ring\nE[] true\nDesk.Open --> Desk.Ring\nsup: last\ninf: last\n";
    let (net, queries) = queries_of(LIBRARY, text);
    let lasso = |at: usize| {
        let mut t = walk(&net, &[0, 0, 1, 2, 0, 1]);
        t.back_to = Some(at);
        t
    };
    let stats = |n: u64| {
        let names = ["added", "stored", "expanded", "steps", "covered", "joins", "refinements"];
        names.iter().zip(n..).map(|(name, n)| (name.to_string(), n)).collect::<Vec<_>>()
    };
    let report = |i: usize, verdict| {
        let mut r = PropertyReport::new("library.xta", "uppaal", &queries[i], verdict);
        r.engine = "reach, join update, breadth first".into();
        r.statistics = stats(85 + i as u64);
        r.seconds = 0.0125;
        r
    };
    let mut all = vec![
        report(0, Verdict::Unsafe(walk(&net, &[0, 0, 0, 1, 2]))),
        report(0, Verdict::Safe(certificate(&net, false))),
        report(1, Verdict::Unsafe(walk(&net, &[0, 0, 0, 1, 2, 0]))),
        report(1, Verdict::Safe(certificate(&net, false))),
        report(2, Verdict::Unsafe(walk(&net, &[0, 0]))),
        report(2, Verdict::Safe(certificate(&net, true))),
        report(3, Verdict::Unsafe(lasso(2))),
        report(4, Verdict::Unknown(Reason::Time)),
        report(5, Verdict::Safe(certificate(&net, false))),
        report(6, Verdict::Safe(certificate(&net, false))),
        report(0, Verdict::Unknown(Reason::InconclusiveJoin)),
    ];
    all[0].checked = Some("trace replayed: 5 steps".into());
    all[1].checked = Some("certificate re-validated: 86 elements".into());
    all[1].assumes = vec!["monotone transitions (000 Def. 2)".into()];
    all[8].bound = Some(0);
    let path = walk(&net, &[0, 0, 0, 1]);
    all[10].inconclusive = Some(Inconclusive { path, fails_at: 2, joins: vec![1, 3], pivot: 1 });
    (net, all)
}
