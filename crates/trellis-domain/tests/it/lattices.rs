//! Lattices that are right.

use trellis_domain::script::ScriptLattice;
use trellis_order::{Domain, Join, Lattice, Meet, MethodKind, Shape};

use super::{after, bottom, example, initial, interval, method, show};

#[test]
fn intervals_are_a_lattice() {
    let lattice = ScriptLattice::load(example("interval.lua"), 1).unwrap();
    let report = lattice.audit(24, 7).unwrap();
    assert!(report.elements >= 24 && !report.has_meet);
    assert_eq!(lattice.name(), "interval");

    let mut x = after(&lattice, &[("set", &[3])]);
    let y = after(&lattice, &[("set", &[5]), ("add", &[i64::MAX])]);
    assert!(lattice.leq(&x, &x) && !lattice.leq(&x, &y));
    assert!(lattice.join(&mut x, &y));
    assert!(!lattice.join(&mut x, &y));
    assert_eq!(show(&lattice, &x), "[3, …]");
    let may_be = method(&lattice, "may_be");
    assert_eq!(lattice.query(may_be, &x, &[4]), Ok(1));
    assert_eq!(lattice.query(may_be, &x, &[2]), Ok(0));
    assert_eq!(lattice.error(), None);
}

#[test]
fn a_missing_bottom_is_added() {
    let lattice = ScriptLattice::parse("interval.lua", &interval(""), 1).unwrap();
    let (x, bottom) = (initial(&lattice), bottom(&lattice));
    assert_eq!(lattice.width(), 3);
    assert!(lattice.is_bottom(&bottom) && !lattice.is_bottom(&x));
    assert!(lattice.leq(&bottom, &x) && !lattice.leq(&x, &bottom));
    assert_eq!(show(&lattice, &bottom), "⊥");

    let mut joined = bottom.clone();
    assert!(lattice.join(&mut joined, &x));
    assert_eq!(joined, x);
    assert!(!lattice.join(&mut joined, &bottom));
    assert_eq!(joined, x);

    let mut updated = bottom.clone();
    lattice.update(method(&lattice, "set"), &mut updated, &[4]).unwrap();
    assert_eq!(updated, bottom);
    let error = lattice.query(method(&lattice, "width"), &bottom, &[]).unwrap_err();
    assert!(error.0.contains("bottom"), "{error}");
}

#[test]
fn count_sets_are_a_lattice_with_meet_and_bits() {
    for size in [1, 8, 64] {
        let lattice = ScriptLattice::load(example("CountSet.lua"), size).unwrap();
        let report = lattice.audit(24, 7).unwrap();
        assert!(report.has_meet);
    }
    let lattice = ScriptLattice::load(example("CountSet.lua"), 8).unwrap();
    assert_eq!(lattice.name(), "CountSet(8)");
    assert!(matches!(lattice.shape(), Shape::Bits(8)));
    let names: Vec<_> = lattice.methods().iter().map(|m| (&*m.name, m.args, m.kind)).collect();
    use MethodKind::{Query, Update};
    assert_eq!(names, [("get", 1, Query), ("set", 2, Update), ("count", 0, Query), ("add", 1, Update)]);

    let mut x = after(&lattice, &[("add", &[1]), ("add", &[3])]);
    assert_eq!(show(&lattice, &x), "{1, 3} × 2");
    let mut top = x.clone();
    lattice.as_meet().unwrap().top(&mut top);
    assert_eq!(show(&lattice, &top), "{0, 1, 2, 3, 4, 5, 6, 7} × many");
    assert!(lattice.meet(&mut top, &x));
    assert_eq!(top, x);

    let refused = lattice.update(method(&lattice, "add"), &mut x, &[8]).unwrap_err();
    assert!(
        refused.0.ends_with("CountSet.lua:9: updates.add: there is no member 8: they are numbered 0 to 7"),
        "{refused}"
    );
    assert_eq!(x, top, "a refused update leaves the element alone");
    assert_eq!(lattice.error(), None, "what a method refuses is the model's error");

    let error = ScriptLattice::load(example("CountSet.lua"), 65).unwrap_err();
    assert!(error.to_string().contains("at most 64 members, not 65"), "{error}");
}

#[test]
fn sets_in_one_integer() {
    let text = r#"
      lattice = {
        state = "integer", initial = 0, bottom = 0,
        leq = function(a, b) return a & b == a end,
        join = function(a, b) return a | b end,
        queries = { has = function(a, i) return a & 1 << i ~= 0 end },
        updates = { add = function(a, i) return a | 1 << (i & 15) end },
      }"#;
    let lattice = ScriptLattice::parse("set.lua", text, 16).unwrap();
    lattice.audit(24, 1).unwrap();
    assert_eq!(lattice.width(), 1);
    let x = after(&lattice, &[("add", &[0]), ("add", &[4])]);
    assert_eq!(x, [0b10001]);
    assert_eq!(lattice.query(method(&lattice, "has"), &x, &[4]), Ok(1));
    assert_eq!(show(&lattice, &x), "17");
}

#[test]
fn arrays_sized_by_the_declaration() {
    let text = r#"
      lattice = {
        state = { "turn", ages = N },
        names = { "low", "high" },
        initial = function(n)
          local ages = {}
          for i = 1, n do ages[i] = 0 end
          return { turn = 0, ages = ages }
        end,
        leq = function(a, b)
          for i, age in ipairs(a.ages) do
            if age > b.ages[i] then return false end
          end
          return #a.ages == N and a.turn <= b.turn
        end,
        join = function(a, b)
          local ages = {}
          for i, age in pairs(a.ages) do ages[i] = math.max(age, b.ages[i]) end
          return { turn = math.max(a.turn, b.turn), ages = ages }
        end,
        updates = {
          -- Returns its element's own parts, changed in place.
          put = function(a, i, v) a.ages[i + 1] = v; return { turn = a.turn, ages = a.ages } end,
          next = function(a) a.turn = (a.turn + 2) / 2 * 2 end,
        },
        sample = function(random)
          local ages = {}
          for i = 1, N do ages[i] = random(4) end
          return { turn = random(3), ages = ages }
        end,
      }"#;
    let lattice = ScriptLattice::parse("ages.lua", text, 4).unwrap();
    lattice.audit(24, 1).unwrap();
    assert_eq!(lattice.names(), ["low", "high"]);
    let x = after(&lattice, &[("put", &[0, 7]), ("next", &[]), ("put", &[3, -1])]);
    assert_eq!(show(&lattice, &x), "{turn = 2, ages = [7, 0, 0, -1]}");

    let mut elem = x.clone();
    let error = lattice.update(method(&lattice, "put"), &mut elem, &[4, 1]).unwrap_err();
    assert!(error.0.contains("`ages` has an entry [5]: its entries are numbered 1 to 4"), "{error}");
    assert_eq!(elem, x);
}

#[test]
fn a_function_may_return_its_argument() {
    let text = interval("lattice.join = function(a, b) if lattice.leq(a, b) then return b end return a end");
    let lattice = ScriptLattice::parse("either.lua", &text, 1).unwrap();
    let mut x = initial(&lattice);
    let y = after(&lattice, &[("set", &[3])]);
    assert!(!lattice.join(&mut x, &y));
    assert!(!lattice.join(&mut x.clone(), &x));
    assert_eq!(lattice.error(), None);
}

#[test]
fn more_elements_than_are_remembered() {
    let lattice = ScriptLattice::parse("interval.lua", &interval(""), 1).unwrap();
    let set = method(&lattice, "set");
    let zero = initial(&lattice);
    let mut elem = zero.clone();
    for v in 0..100_000 {
        lattice.update(set, &mut elem, &[v]).unwrap();
        assert_eq!(lattice.leq(&zero, &elem), v == 0);
    }
    assert_eq!(lattice.error(), None);
}

#[test]
fn many_threads_use_one_lattice() {
    let lattice = ScriptLattice::load(example("CountSet.lua"), 8).unwrap();
    std::thread::scope(|scope| {
        for i in 0..8 {
            let lattice = &lattice;
            scope.spawn(move || {
                let x = after(lattice, &[("add", &[i])]);
                for j in 0..500 {
                    let mut y = after(lattice, &[("add", &[j % 8])]);
                    assert_eq!(lattice.leq(&x, &y), i == j % 8);
                    assert_eq!(lattice.join(&mut y, &x), i != j % 8);
                }
            });
        }
    });
    assert_eq!(lattice.error(), None);
}
