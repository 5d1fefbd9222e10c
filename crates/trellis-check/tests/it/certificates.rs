//! Closed sets: proofs that something cannot happen.

use trellis_check::{Cause, Claimed, Rejection, assuming_monotone, certify, certify_bound};
use trellis_engine::reach::Update;
use trellis_model::network::Certificate;

use crate::models::{Asked, POOL, ask};

fn why(asked: &Asked, cert: &Certificate) -> Cause {
    match certify(&asked.net, &asked.query, cert) {
        Ok(_) => panic!("accepted: {cert:?}"),
        Err(Rejection { why, .. }) => why,
    }
}

#[test]
fn what_every_update_proves_is_accepted() {
    let asked = ask(POOL, "A[] not User.full");
    for update in [Update::Simple, Update::Cover, Update::Join] {
        let cert = asked.certificate(update);
        let certified = certify(&asked.net, &asked.query, &cert).unwrap();
        assert_eq!(certified.entries, cert.entries.len());
        assert_eq!(certified.up_to_order, update != Update::Simple);
        assert!(certified.steps > 0);
        // The steps of the search are the same.
        assert_eq!(trellis_check::quickly(true, || certify(&asked.net, &asked.query, &cert)).unwrap(), certified);
        let mut less = cert.clone();
        less.entries.pop();
        let why = |quick| trellis_check::quickly(quick, || certify(&asked.net, &asked.query, &less)).map_err(|r| r.why);
        assert_eq!(why(true), why(false));
    }
}

#[test]
fn no_entry_can_be_left_out() {
    for (query, update) in [
        ("A[] not User.full", Update::Simple),
        ("A[] not User.full", Update::Cover),
        ("A[] not User.full", Update::Join),
        ("E<> User.full", Update::Simple),
        ("E<> alarm", Update::Cover),
    ] {
        let asked = ask(POOL, query);
        let whole = asked.certificate(update);
        assert!(whole.entries.len() > 3);
        for i in 0..whole.entries.len() {
            let mut cert = whole.clone();
            cert.entries.remove(i);
            // Under an order an entry may be superfluous if another covers it.
            let gone = &whole.entries[i].state;
            let covered = cert.up_to_order
                && cert.entries.iter().any(|e| {
                    use trellis_order::Domain;
                    (&e.state.locations, &e.state.data) == (&gone.locations, &gone.data)
                        && asked.net.elements().leq(&gone.element, &e.state.element)
                });
            if !covered {
                assert!(
                    matches!(why(&asked, &cert), Cause::LeadsOutside | Cause::InitialMissing),
                    "{query} without {i}"
                );
            }
        }
    }
}

#[test]
fn an_entry_beyond_the_property_is_noticed() {
    let asked = ask(POOL, "A[] n < 3 && !alarm");
    let mut cert = asked.certificate(Update::Cover);
    assert!(certify(&asked.net, &asked.query, &cert).is_ok());
    cert.entries[0].state.data[1] = 1;
    assert!(matches!(why(&asked, &cert), Cause::Condition(_)));

    // A larger element can do more: here, something that the property forbids.
    let model = "
        extern UnionBitVector;
        UnionBitVector seen[2];
        process P() {
            state a, b, bad;
            init a;
            trans a -> b { assign seen[0] = 1; }, b -> bad { guard seen[1] == 1; };
        }
        system P;";
    let asked = ask(model, "A[] not P.bad");
    let mut cert = asked.certificate(Update::Cover);
    for e in &mut cert.entries {
        e.state.element[0] |= 2;
    }
    let rejection = certify(&asked.net, &asked.query, &cert).unwrap_err();
    assert_eq!(rejection.why, Cause::LeadsOutside);
    let text = rejection.to_string();
    assert!(text.contains("P.b") && text.contains("b -> bad") && text.contains("leads to: P.bad"), "{text}");
}

#[test]
fn a_changed_value_is_noticed() {
    let asked = ask(POOL, "A[] not User.full");
    let whole = asked.certificate(Update::Simple);
    for i in 0..whole.entries.len() {
        for change in 0..4 {
            let mut cert = whole.clone();
            let s = &mut cert.entries[i].state;
            match change {
                0 => s.data[0] = (s.data[0] + 1) % 4,
                1 => s.data[1] = 1 - s.data[1],
                2 => s.locations[0] = (s.locations[0] + 1) % 3,
                _ => s.element[0] ^= 1,
            }
            certify(&asked.net, &asked.query, &cert).expect_err("a reachable state is gone");
        }
    }
}

#[test]
fn equality_is_not_order() {
    // What covers by the order is no proof when states must be listed.
    let asked = ask(POOL, "A[] not User.full");
    let mut cert = asked.certificate(Update::Join);
    cert.up_to_order = false;
    assert_eq!(why(&asked, &cert), Cause::LeadsOutside);
}

#[test]
fn deadlocks_and_liveness_need_exact_sets() {
    let asked = ask(POOL, "A[] not deadlock");
    let mut cert = asked.certificate(Update::Simple);
    assert!(certify(&asked.net, &asked.query, &cert).is_ok());
    cert.up_to_order = true;
    assert!(matches!(why(&asked, &cert), Cause::BesideThePoint(_)));
    for query in ["A<> User.full", "E[] User.idle", "User.idle --> User.busy"] {
        let asked = ask(POOL, query);
        assert!(matches!(why(&asked, &cert), Cause::BesideThePoint(_)), "{query}");
    }
    // Without lattice variables the two are the same.
    let asked = ask("process P() { state a; init a; trans a -> a { }; } system P;", "A[] not deadlock");
    let mut cert = asked.certificate(Update::Cover);
    cert.up_to_order = true;
    assert!(certify(&asked.net, &asked.query, &cert).is_ok());
}

#[test]
fn covering_is_refused_where_it_cannot_be_trusted() {
    // A larger element lets more receivers hear; a larger element lets more important steps happen.
    let hears = "
        extern UnionBitVector;
        UnionBitVector u[1];
        broadcast chan c;
        process P() { state a, b; init a; trans a -> b { sync c!; }; }
        process Q() { state a, b; init a; trans a -> b { guard u[0]; sync c?; }; }
        system P, Q;";
    let yields = "
        extern UnionBitVector;
        UnionBitVector u[1];
        process P() { state a, b; init a; trans a -> b { }; }
        process Q() { state a, b; init a; trans a -> b { guard u[0]; }; }
        system P < Q;";
    for model in [hears, yields] {
        let asked = ask(model, "A[] not (P.b && Q.b && u[0])");
        let mut cert = asked.certificate(Update::Simple);
        assert!(certify(&asked.net, &asked.query, &cert).is_ok());
        cert.up_to_order = true;
        assert!(matches!(why(&asked, &cert), Cause::NotMonotone(_)));
        // Such a "proof" of a falsehood: the larger state stands for the smaller, which does otherwise.
        let asked = ask(model, "A[] not (P.b && Q.a)");
        for e in &mut cert.entries {
            e.state.element[0] = 1;
        }
        assert!(matches!(why(&asked, &cert), Cause::NotMonotone(_)));
    }
}

/// The certificate that used to make this unsafe model safe: every state is below one that cannot go wrong.
#[test]
fn a_certificate_up_to_the_order_needs_a_monotone_model() {
    let model = |guard: &str| {
        format!(
            "extern UnionBitVector; const int D = 3; UnionBitVector x[4]; int[0,D] n;
             process P() {{ state A, B, Bad; init A;
               trans A -> B {{ assign x[0] = 1; }}, A -> B {{ }},
                     B -> B {{ guard n < D; assign n = n + 1; }},
                     B -> Bad {{ guard n == D && {guard}; }}; }}
             system P;"
        )
    };
    let asked = ask(&model("!x[0]"), "A[] not P.Bad");
    // A search that takes the model for monotone finds nothing.
    let cert = asked.certificate(Update::Join);
    let Cause::NotMonotone(why) = why(&asked, &cert) else { panic!("accepted, or refused for another reason") };
    assert!(why.starts_with("the guard of the edge of P at "), "{why}");
    assert!(assuming_monotone(true, || certify(&asked.net, &asked.query, &cert)).is_ok());
    // The same guard the right way round.
    let asked = ask(&model("x[0] && x[1]"), "A[] not P.Bad");
    let cert = asked.certificate(Update::Join);
    assert!(certify(&asked.net, &asked.query, &cert).is_ok());
}

#[test]
fn bounds() {
    for (query, bound) in
        [("sup: n", Some(2)), ("inf: n", Some(0)), ("sup{User.full}: n", None), ("inf{n > 0}: n", Some(1))]
    {
        let asked = ask(POOL, query);
        for update in [Update::Simple, Update::Cover] {
            let (verdict, found) = asked.verdict(update);
            assert_eq!(found, bound, "{query}");
            let trellis_model::evidence::Verdict::Safe(cert) = verdict else { panic!("{verdict:?}") };
            let check = |claimed| certify_bound(&asked.net, &asked.query, &cert, claimed);
            assert_eq!(check(bound).unwrap().bound, bound);
            assert_eq!(certify(&asked.net, &asked.query, &cert).unwrap().bound, bound);
            let Some(n) = bound else { continue };
            let sup = query.starts_with("sup");
            let too_good = if sup { n - 1 } else { n + 1 };
            let claimed = if sup { Claimed::AtMost(too_good) } else { Claimed::AtLeast(too_good) };
            assert_eq!(check(Some(too_good)).unwrap_err().why, Cause::Value { found: n, claimed });
            let none = Cause::Value { found: n, claimed: Claimed::Nothing };
            assert_eq!(check(None).unwrap_err().why, none);
            // A weaker claim is a weaker claim, but true.
            assert!(check(Some(if sup { n + 1 } else { n - 1 })).is_ok());
        }
    }
    let asked = ask(POOL, "A[] true");
    let cert = asked.certificate(Update::Simple);
    let beside = certify_bound(&asked.net, &asked.query, &cert, Some(1)).unwrap_err();
    assert!(matches!(beside.why, Cause::BesideThePoint(_)));
}

#[test]
fn a_model_that_fails_proves_nothing() {
    let model = "
        int[0,3] n = 1;
        process P() { state a; init a; trans a -> a { guard 6 / n > 0; assign n--; }; }
        system P;";
    let asked = ask(model, "A[] n >= 0");
    let state = |n| {
        let state = trellis_model::network::Snapshot { locations: vec![0], data: vec![n], ..Default::default() };
        trellis_model::network::CertEntry::of(state)
    };
    let cert = Certificate { entries: vec![state(1), state(0)].into(), up_to_order: false, up_to_symmetry: false };
    assert!(matches!(why(&asked, &cert), Cause::Model(_)));
}
