//! Evidence that is no evidence: states that do not fit, and random damage. Nothing may panic, and nothing false may
//! pass.

use trellis_check::{Cause, certify, replay};
use trellis_engine::reach::Update;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Certificate, QueryKind, Snapshot};

use crate::models::{Asked, POOL, ask};

const MIXED: &str = "
    extern Level = Hasse(low < mid, mid < high);
    extern Flat;
    extern Interval;
    extern Powerset;
    Level level;
    Flat flat[2];
    Interval range;
    Powerset set[3];
    int[-2,2] x;
    bool flags[2];
    process P() {
        state a, b;
        init a;
        trans
            a -> b { assign level.raise(mid), flat[1].set(3), range.add(1), set.add(2), x = x == 2 ? 0 : x + 1; },
            b -> a { guard level.atLeast(mid) == 1; assign range.set(0), flags[0] = !flags[0]; };
    }
    system P;
";

fn malformed(asked: &Asked, damage: impl Fn(&mut Snapshot)) {
    let mut cert = asked.certificate(Update::Simple);
    let last = cert.entries.len() - 1;
    damage(&mut cert.entries[last].state);
    let rejection = certify(&asked.net, &asked.query, &cert).unwrap_err();
    assert!(matches!(rejection.why, Cause::Malformed(_)), "{rejection}");
    assert_eq!(rejection.number, Some(last));

    let mut trace = ask_trace(asked);
    damage(&mut trace.steps[0].state);
    let rejection = replay(&asked.net, &asked.query, &trace).unwrap_err();
    assert!(matches!(rejection.why, Cause::Malformed(_)), "{rejection}");
}

fn ask_trace(asked: &Asked) -> trellis_model::network::Trace {
    let interpreter = Interpreter::new(&asked.net);
    let initial = interpreter.initial().unwrap();
    let (action, state) = interpreter.steps(&initial).unwrap().remove(0);
    let steps = vec![trellis_model::network::Step::at_once(action, state)];
    trellis_model::network::Trace { steps, ..trellis_model::network::Trace::at(initial) }
}

#[test]
fn states_that_do_not_fit() {
    let asked = ask(MIXED, "A[] x >= -2");
    certify(&asked.net, &asked.query, &asked.certificate(Update::Simple)).unwrap();
    malformed(&asked, |s| s.locations.clear());
    malformed(&asked, |s| s.locations.push(0));
    malformed(&asked, |s| s.locations[0] = 2);
    malformed(&asked, |s| s.locations[0] = u32::MAX);
    malformed(&asked, |s| s.data.truncate(1));
    malformed(&asked, |s| s.data.push(0));
    malformed(&asked, |s| s.data[0] = 3);
    malformed(&asked, |s| s.data[0] = i64::MIN);
    malformed(&asked, |s| s.data[1] = 2);
    malformed(&asked, |s| s.element.truncate(1));
    malformed(&asked, |s| s.element.push(0));
    malformed(&asked, |s| s.element[1] = 3); // Flat: neither ⊥ nor a value nor ⊤
    malformed(&asked, |s| (s.element[1], s.element[2]) = (2, 1)); // Flat: ⊤ with a value
    malformed(&asked, |s| (s.element[5], s.element[6]) = (3, 2)); // Interval: empty, but not as ⊥ is
    malformed(&asked, |s| s.element[7] = 8); // Powerset: no such member
}

#[test]
fn elements_that_mean_nothing_to_their_lattice() {
    let asked = ask(MIXED, "A[] x >= -2");
    for word in [3, 7, 1 << 40, u64::MAX] {
        malformed(&asked, |s| s.element[0] = word); // Hasse: no such element
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }
}

fn damage(r: &mut Random, cert: &mut Certificate) {
    if cert.entries.is_empty() {
        return;
    }
    let i = r.below(cert.entries.len());
    let j = r.below(cert.entries.len());
    let small = r.below(5) as i64 - 2;
    let other = cert.entries[j].clone();
    let e = &mut cert.entries[i];
    match r.below(10) {
        0 => _ = cert.entries.remove(i),
        1 => cert.entries.swap(i, j),
        2 => e.state = other.state,
        3 => cert.entries.push(other),
        4 => {
            if let Some(x) = e.state.data.first_mut() {
                *x = x.wrapping_add(small);
            }
        }
        5 => {
            if let Some(x) = e.state.element.first_mut() {
                *x ^= 1 << r.below(4);
            }
        }
        6 => {
            if let Some(x) = e.state.locations.first_mut() {
                *x = r.below(3) as u32;
            }
        }
        7 => e.rank = [None, Some(0), Some(small.unsigned_abs() as u32)][r.below(3)],
        8 => cert.up_to_order = !cert.up_to_order,
        _ => e.rank = other.rank,
    }
}

/// Is the claim true, by exploring everything with the interpreter?
fn true_claim(asked: &Asked) -> bool {
    let interpreter = Interpreter::new(&asked.net);
    let mut seen = vec![interpreter.initial().unwrap()];
    let mut i = 0;
    while i < seen.len() {
        for (_, next) in interpreter.steps(&seen[i]).unwrap() {
            if !seen.contains(&next) {
                seen.push(next);
            }
        }
        i += 1;
    }
    let holds = |c, s| interpreter.holds(c, asked.query.deadlock, s).unwrap();
    match &asked.query.kind {
        QueryKind::Always(p) => seen.iter().all(|s| holds(p, s)),
        QueryKind::Possibly(p) => !seen.iter().any(|s| holds(p, s)),
        _ => unreachable!("only these are asked here"),
    }
}

#[test]
fn random_damage_never_proves_a_falsehood() {
    let mut r = Random(7);
    // The certificate proves the first question; it is presented as an answer to each of the others.
    let first = ask(POOL, "A[] not User.full");
    let whole: Vec<Certificate> =
        [Update::Simple, Update::Cover, Update::Join].into_iter().map(|u| first.certificate(u)).collect();
    let questions = ["A[] not User.full", "A[] n < 2", "E<> n == 2", "A[] n < 3", "E<> User.busy && n == 0"];
    let asked: Vec<(Asked, bool)> = questions
        .iter()
        .map(|q| {
            let asked = ask(POOL, q);
            let truth = true_claim(&asked);
            (asked, truth)
        })
        .collect();
    assert!(asked.iter().any(|(_, t)| *t) && asked.iter().any(|(_, t)| !*t));
    let (mut accepted, mut rejected) = (0, 0);
    for _ in 0..4000 {
        let mut cert = whole[r.below(3)].clone();
        for _ in 0..r.below(3) {
            damage(&mut r, &mut cert);
        }
        let (asked, truth) = &asked[r.below(asked.len())];
        match certify(&asked.net, &asked.query, &cert) {
            Ok(_) => {
                assert!(truth, "{}: {cert:?}", asked.query.text);
                accepted += 1;
            }
            Err(_) => rejected += 1,
        }
    }
    assert!(accepted > 500 && rejected > 500, "{accepted} accepted, {rejected} rejected");
}
