//! Ranks: proofs that something must happen.

use trellis_check::{Cause, certify};
use trellis_engine::reach::Update;
use trellis_model::network::{Certificate, Query, QueryKind};

use crate::models::{Asked, COUNTDOWN, REQUEST, ask};

fn why(asked: &Asked, cert: &Certificate) -> Cause {
    certify(&asked.net, &asked.query, cert).expect_err("accepted").why
}

fn each_rank_matters(model: &str, query: &str) {
    let asked = ask(model, query);
    let whole = asked.certificate(Update::Simple);
    certify(&asked.net, &asked.query, &whole).unwrap();
    let ranked: Vec<usize> = (0..whole.entries.len()).filter(|&i| whole.entries[i].rank.is_some()).collect();
    assert!(ranked.len() >= 3, "{query}: {whole:?}");
    for &i in &ranked {
        let mut cert = whole.clone();
        cert.entries[i].rank = None;
        assert!(matches!(why(&asked, &cert), Cause::NoRank | Cause::RankNotSmaller { .. }), "{query} without rank {i}");
        cert.entries.remove(i);
        assert!(
            matches!(why(&asked, &cert), Cause::InitialMissing | Cause::LeadsOutside | Cause::RankNotSmaller { .. }),
            "{query} without {i}"
        );
        let rank = whole.entries[i].rank.unwrap();
        if rank > 0 {
            let mut cert = whole.clone();
            cert.entries[i].rank = Some(0);
            assert!(matches!(why(&asked, &cert), Cause::RankNotSmaller { from: 0, .. }), "{query} with rank 0 at {i}");
        }
        // As large as the largest: somebody leads here from that one, or it is the largest itself.
        let largest = ranked.iter().filter_map(|&j| whole.entries[j].rank).max().unwrap();
        if rank < largest {
            let mut cert = whole.clone();
            cert.entries[i].rank = Some(u32::MAX);
            let accepted = certify(&asked.net, &asked.query, &cert);
            assert!(matches!(accepted, Err(r) if matches!(r.why, Cause::RankNotSmaller { .. })), "{query}, {i}");
        }
        // The same state again, with another rank.
        let mut cert = whole.clone();
        let mut twin = cert.entries[i].clone();
        twin.rank = Some(rank + 1);
        cert.entries.push(twin);
        assert_eq!(why(&asked, &cert), Cause::TwoRanks);
    }
}

#[test]
fn each_rank_of_a_countdown_matters() {
    each_rank_matters(COUNTDOWN, "A<> P.done");
    each_rank_matters(COUNTDOWN, "E[] P.run");
    each_rank_matters(COUNTDOWN, "n > 2 --> P.done");
}

#[test]
fn each_rank_of_a_response_matters() {
    each_rank_matters(REQUEST, "Server.work --> Server.idle");
}

#[test]
fn what_is_there_already_needs_no_rank() {
    let asked = ask(COUNTDOWN, "A<> P.run");
    let nothing = Certificate { entries: Vec::new().into(), up_to_order: false, up_to_symmetry: false };
    assert!(certify(&asked.net, &asked.query, &nothing).is_ok());
    let asked = ask(COUNTDOWN, "A<> P.done");
    assert_eq!(why(&asked, &nothing), Cause::InitialMissing);
    let mut cert = asked.certificate(Update::Simple);
    for e in &mut cert.entries {
        e.rank = e.rank.or(Some(0));
    }
    assert!(matches!(why(&asked, &cert), Cause::Condition(_)));
}

/// All states of a model in which what is awaited never comes, with these ranks.
fn all(asked: &Asked, rank: impl Fn(usize) -> u32) -> Certificate {
    let QueryKind::Eventually(p) = asked.query.kind else { panic!("an A<> is needed") };
    let query = Query { kind: QueryKind::Possibly(p), ..asked.query.clone() };
    let mut cert = Asked { net: asked.net.clone(), query }.certificate(Update::Simple);
    for (i, e) in cert.entries.iter_mut().enumerate() {
        e.rank = Some(rank(i));
    }
    cert
}

#[test]
fn idling_deadlocks_and_loops_on_the_spot_are_noticed() {
    let model = |marks: &str, trans: &str| {
        format!("bool x; process P() {{ state a, b, c; {marks} init a; trans {trans}; }} system P;")
    };
    let case = |marks: &str, trans: &str| {
        let asked = ask(&model(marks, trans), "A<> P.c");
        why(&asked, &all(&asked, |i| 10 - i as u32))
    };
    assert_eq!(case("", "a -> b { }, b -> a { guard x; }"), Cause::MayIdle);
    assert_eq!(case("urgent a; commit b;", "a -> b { }, b -> a { guard x; }"), Cause::Deadlock);
    assert_eq!(case("urgent a, b;", "a -> a { }"), Cause::SelfLoop);
    assert!(matches!(case("urgent a, b;", "a -> b { }, b -> a { }"), Cause::RankNotSmaller { from: 9, to: Some(10) }));
}

#[test]
fn an_urgent_channel_does_not_wait() {
    let model = "
        urgent chan go;
        bool ready = 1;
        process P() { state a, b; init a; trans a -> b { guard ready; sync go!; }; }
        process Q() { state a; init a; trans a -> a { sync go?; }; }
        system P, Q;";
    let asked = ask(model, "A<> P.b");
    let cert = asked.certificate(Update::Simple);
    certify(&asked.net, &asked.query, &cert).unwrap();
    // The same over a patient channel may wait forever.
    let patient = ask(&model.replace("urgent ", ""), "A<> P.b");
    assert_eq!(why(&patient, &cert), Cause::MayIdle);
}
