//! The audit finds what is wrong with a lattice: each of these breaks one law.

use std::fmt;

use trellis_order::laws::{Law, audit};
use trellis_order::{Domain, Join, Lattice, Meet, Method, MethodError, MethodKind, Shape, Trend, Word};

/// Numbers 0 to 15 as bit sets, with something wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Nothing,
    StrictOrder,
    OrderForgetsABit,
    OrderNotTransitive,
    NoBottomSeen,
    BottomElsewhere,
    JoinTooLow,
    JoinTooHigh,
    JoinNeverGrows,
    JoinAlwaysGrows,
    MeetTooHigh,
    MeetTooLow,
    MeetNeverShrinks,
    TopTooLow,
    UpdateNotCanonical,
    UpdateNotFunction,
}

#[derive(Debug)]
struct Broken {
    fault: Fault,
    methods: Vec<Method>,
    calls: std::sync::atomic::AtomicU64,
}

impl Broken {
    fn new(fault: Fault) -> Self {
        let methods = vec![
            Method {
                name: "touch".to_owned(),
                args: 0,
                kind: MethodKind::Update,
                trend: Trend::Monotone,
                truth: false,
            },
            Method { name: "bits".to_owned(), args: 0, kind: MethodKind::Query, trend: Trend::Monotone, truth: false },
        ];
        Self { fault, methods, calls: Default::default() }
    }
}

impl Domain for Broken {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        let (a, b) = (a[0] & 15, b[0] & 15);
        match self.fault {
            Fault::StrictOrder => a & !b == 0 && a != b,
            Fault::OrderForgetsABit => a & !b & 7 == 0,
            Fault::OrderNotTransitive => a & !b == 0 && !(a == 1 && b == 15),
            _ => a & !b == 0,
        }
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        a[0] == 0 && self.fault != Fault::NoBottomSeen
    }
}

impl Join for Broken {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        let old = a[0];
        a[0] |= b[0];
        match self.fault {
            Fault::JoinTooLow => a[0] = old,
            Fault::JoinTooHigh if old != b[0] && a[0] != old && a[0] != b[0] => a[0] = 15,
            _ => {}
        }
        match self.fault {
            Fault::JoinNeverGrows => false,
            Fault::JoinAlwaysGrows => true,
            _ => a[0] != old,
        }
    }
}

impl Meet for Broken {
    fn top(&self, a: &mut [Word]) {
        a[0] = if self.fault == Fault::TopTooLow { 7 } else { 15 };
    }

    fn meet(&self, a: &mut [Word], b: &[Word]) -> bool {
        let old = a[0];
        a[0] &= b[0];
        match self.fault {
            Fault::MeetTooHigh => a[0] = old,
            Fault::MeetTooLow if a[0] != old && a[0] != b[0] => a[0] = 0,
            _ => {}
        }
        a[0] != old && self.fault != Fault::MeetNeverShrinks
    }
}

impl Lattice for Broken {
    fn name(&self) -> String {
        "Broken".to_owned()
    }

    fn width(&self) -> usize {
        1
    }

    fn is_element(&self, _: &[Word]) -> bool {
        true
    }

    fn initial(&self, out: &mut [Word]) {
        out[0] = 0;
    }

    fn bottom(&self, out: &mut [Word]) {
        out[0] = (self.fault == Fault::BottomElsewhere) as Word;
    }

    fn methods(&self) -> &[Method] {
        &self.methods
    }

    fn query(&self, _: usize, elem: &[Word], _: &[i64]) -> Result<i64, MethodError> {
        Ok(elem[0].count_ones().into())
    }

    fn update(&self, _: usize, elem: &mut [Word], _: &[i64]) -> Result<(), MethodError> {
        let calls = self.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match self.fault {
            Fault::UpdateNotCanonical => elem[0] |= 16,
            Fault::UpdateNotFunction => elem[0] = calls % 16,
            _ => {}
        }
        Ok(())
    }

    fn shape(&self) -> Shape<'_> {
        Shape::Leaf
    }

    fn show(&self, elem: &[Word], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04b}", elem[0])
    }

    fn sample(&self, random: &mut dyn FnMut() -> u64, out: &mut [Word]) {
        out[0] = random() % 16;
    }

    fn as_meet(&self) -> Option<&dyn Meet<Elem = [Word]>> {
        Some(self)
    }
}

#[test]
fn a_sound_lattice_passes() {
    let report = audit(&Broken::new(Fault::Nothing), 64, 1).unwrap();
    assert_eq!(report.trends.len(), 2);
}

#[test]
fn every_fault_is_found_and_named() {
    let found = [
        (Fault::StrictOrder, Law::Reflexive),
        (Fault::OrderForgetsABit, Law::Antisymmetric),
        (Fault::OrderNotTransitive, Law::Transitive),
        (Fault::NoBottomSeen, Law::BottomRecognised),
        (Fault::BottomElsewhere, Law::BottomRecognised),
        (Fault::JoinTooLow, Law::JoinUpper),
        (Fault::JoinTooHigh, Law::JoinLeast),
        (Fault::JoinNeverGrows, Law::JoinGrew),
        (Fault::JoinAlwaysGrows, Law::JoinGrew),
        (Fault::MeetTooHigh, Law::MeetLower),
        (Fault::MeetTooLow, Law::MeetGreatest),
        (Fault::MeetNeverShrinks, Law::MeetShrank),
        (Fault::TopTooLow, Law::TopGreatest),
        (Fault::UpdateNotCanonical, Law::Canonical("touch".to_owned())),
        (Fault::UpdateNotFunction, Law::Deterministic("touch".to_owned())),
    ];
    for (fault, law) in found {
        for seed in 0..20 {
            let violation = audit(&Broken::new(fault), 64, seed).expect_err("a fault");
            assert_eq!(violation.law, law, "{fault:?}: {violation}");
        }
    }
}

#[test]
fn violations_can_be_read() {
    let broken = Broken::new(Fault::JoinTooLow);
    let violation = audit(&broken, 64, 1).unwrap_err();
    let text = violation.explain(&broken);
    assert!(text.starts_with("Broken breaks a law: join is an upper bound: a ⊑ a ⊔ b and b ⊑ a ⊔ b\n  a = "), "{text}");
    assert_eq!(text.lines().count(), 3);
}
