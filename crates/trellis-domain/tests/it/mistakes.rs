//! Scripts that are wrong: the message must say what, and where.

use trellis_domain::script::{ScriptError, ScriptLattice};
use trellis_order::{Domain, Join, Lattice};

use super::{after, initial, interval, method, show};

fn refused(text: &str) -> ScriptError {
    match ScriptLattice::parse("bad.lua", text, 1) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error,
    }
}

/// An interval script with something else on line 10.
fn changed(change: &str) -> ScriptLattice {
    ScriptLattice::parse("bad.lua", &interval(change), 1).unwrap()
}

#[test]
fn declarations() {
    let cases = [
        ("x = ", "bad.lua:1: unexpected symbol near <eof>"),
        ("return 1", "bad.lua: the script must define a table: lattice = {"),
        ("local t = nil\nt.x = 1", "bad.lua:2: running the script: attempt to index a nil value (local 't')"),
    ];
    for (text, expected) in cases {
        let message = refused(text).to_string();
        assert!(message.starts_with(expected), "{message}");
    }
    let changes = [
        ("lattice.leq = nil", "bad.lua:1: the lattice lacks `leq`: function(a, b)"),
        ("lattice.join = 5", "`join` must be a function, not 5"),
        ("lattice.initial = { lo = 1 }", "bad.lua:10: `initial`: the element lacks `hi`"),
        ("lattice.initial = { lo = 1, hi = 2, ho = 3 }", "an element has the fields `lo`, `hi`, but no `ho`"),
        ("lattice.initial = { lo = 1, hi = 2.5 }", "`hi` must be an integer, not 2.5"),
        ("lattice.initial = function() return 3 end", "but this is 3"),
        ("lattice.state = 3", "bad.lua:10: `state` is 3; write state = \"integer\", or"),
        ("lattice.state = { \"lo\", \"lo\" }", "`state` names `lo` twice"),
        ("lattice.state = { lo = 0 }", "`lo` must have 1 to"),
        ("lattice.state = { 7 }", "`state` has an entry [1] = 7"),
        ("lattice.state = {}", "`state` has 0 fields with 0 integers"),
        ("lattice.leq = function(a) return true end", "bad.lua:10: `leq` takes 2 parameters, not 1"),
        ("lattice.queris = {}", "unknown entry `queris`; there are: state, initial"),
        ("lattice.queries.set = function(a) return 1 end", "`set` is both a query and an update"),
        ("lattice.queries.none = function() return 1 end", "queries.none must take the element first"),
        ("lattice.top = lattice.initial", "a lattice with `meet` or `top` has both, and `bottom`"),
        ("lattice.bits = 4", "a lattice with `bits` has queries.get(a, i) and updates.set(a, i, b)"),
        ("lattice.bits = -4", "`bits` must be the number of bits, not -4"),
        ("lattice.leq = function(a, b) return 0 end", "bad.lua:10: leq: must return true or false, not 0"),
        ("lattice.join = function(a, b) end", "bad.lua:10: join: an element is a table with the fields"),
        ("lattice.show = function(a) return a end", "bad.lua:10: show: must return a string, not a table"),
        ("lattice.sample = function(random) return random(0) end", "bad.lua:10: sample: random(n) wants a positive"),
    ];
    for (change, expected) in changes {
        let message = refused(&interval(change)).to_string();
        assert!(message.contains(expected), "{change}\n{message}");
    }
}

#[test]
fn a_missing_file() {
    let error = ScriptLattice::load("/nowhere/at.lua", 1).unwrap_err();
    assert!(matches!(error, ScriptError::Unreadable { .. }));
    assert!(error.to_string().starts_with("/nowhere/at.lua: "), "{error}");
}

#[test]
fn nothing_outside_can_be_reached() {
    let names = "io os require load loadfile dofile loadstring print debug package coroutine collectgarbage pcall \
                 xpcall setmetatable getmetatable rawset rawget next warn _G utf8 math.random math.randomseed \
                 string.dump string.find string.gsub table.move";
    for name in names.split_whitespace() {
        let text = format!("if {name} ~= nil then error('reached') end");
        let message = refused(&text).to_string();
        assert!(message.contains("must define a table"), "{name}: {message}");
    }
    let message = refused("local x = (''):rep(1 << 62)").to_string();
    assert!(message.starts_with("bad.lua:1: running the script: string.rep wants"), "{message}");
    // Compiled code could do anything.
    let message = refused("\u{1b}Lua").to_string();
    assert!(message.contains("binary chunk") || message.contains("near"), "{message}");
}

#[test]
fn a_join_that_is_no_upper_bound() {
    let lattice = changed("lattice.join = function(a, b) return a end");
    let message = lattice.audit(64, 1).unwrap_err().to_string();
    assert!(
        message.starts_with("bad.lua: bad breaks a law: join is an upper bound: a ⊑ a ⊔ b and b ⊑ a ⊔ b\n  a = ["),
        "{message}"
    );
    assert!(message.contains("\n  b = ["), "in the script's own form: {message}");
}

#[test]
fn an_order_that_is_not_transitive() {
    let near = "lattice.leq = function(a, b) return (b.lo == a.lo or b.lo == a.lo + 1) and a.hi <= b.hi end";
    let lattice = changed(near);
    let message = lattice.audit(256, 1).unwrap_err().to_string();
    assert!(message.contains("transitive: if a ⊑ b and b ⊑ c then a ⊑ c"), "{message}");
    assert!(message.contains("\n  c = ["), "{message}");
}

#[test]
fn an_element_with_two_representations() {
    let lattice = changed(
        "lattice.leq = function(a, b) return a.hi - a.lo <= b.hi - b.lo end
         lattice.join = function(a, b) return lattice.leq(a, b) and b or a end",
    );
    let message = lattice.audit(64, 1).unwrap_err().to_string();
    assert!(message.contains("antisymmetric"), "{message}");
}

#[test]
fn an_error_while_running_is_kept() {
    // It fails for some elements only, so loading does not see it.
    let lattice = changed("lattice.leq = function(a, b)\n  return a.lo <= b.lo or a[b.hi] + 1 == 0 end");
    let x = after(&lattice, &[("set", &[2])]);
    let y = initial(&lattice);
    assert!(lattice.leq(&y, &x));
    assert!(!lattice.leq(&x, &y));
    let error = lattice.error().unwrap();
    assert_eq!(error.place().line, Some(11));
    assert!(error.to_string().starts_with("bad.lua:11: leq: attempt to perform arithmetic on a nil value"), "{error}");
    assert!(!lattice.leq(&y, &x), "nothing is believed after an error");
    let mut z = x.clone();
    assert!(!lattice.join(&mut z, &y));
    assert_eq!(z, x);
    assert_eq!(lattice.error(), Some(error.clone()));
    assert_eq!(lattice.audit(8, 1), Err(error));
}

#[test]
fn an_endless_loop_is_stopped() {
    let error = refused("local i = 0\nwhile true do i = i + 1 end");
    assert!(matches!(error, ScriptError::Endless { .. }), "{error}");
    assert_eq!(error.place().line, Some(2));

    let lattice = changed("lattice.updates.spin = function(a, v) repeat local x = 1 until v == 1 end");
    let mut x = initial(&lattice);
    let spin = method(&lattice, "spin");
    assert_eq!(lattice.update(spin, &mut x, &[1]), Ok(()));
    let error = lattice.update(spin, &mut x, &[0]).unwrap_err();
    assert!(error.0.starts_with("bad.lua:10: updates.spin: still running after"), "{error}");
    // It can go on afterwards, with a fresh allowance.
    assert_eq!(lattice.update(spin, &mut x, &[1]), Ok(()));

    let lattice = changed("lattice.leq = function(a, b) while a.lo ~= b.lo do end return true end");
    let y = after(&lattice, &[("set", &[2])]);
    assert!(!lattice.leq(&x, &y));
    assert!(matches!(lattice.error(), Some(ScriptError::Endless { .. })));
}

#[test]
fn endless_recursion_and_hoarding_are_stopped() {
    let lattice = changed(
        "lattice.updates.dive = function(a) lattice.updates.dive(a); return a end
         lattice.updates.hoard = function(a) local t = {}; for i = 1, 1 << 40 do t[i] = ('x'):rep(1000000) .. i end end",
    );
    let mut x = initial(&lattice);
    let error = lattice.update(method(&lattice, "dive"), &mut x, &[]).unwrap_err();
    assert!(error.0.contains("stack overflow"), "{error}");
    let error = lattice.update(method(&lattice, "hoard"), &mut x, &[]).unwrap_err();
    assert!(error.0.contains("updates.hoard: the script uses more than"), "{error}");
    lattice.update(method(&lattice, "set"), &mut x, &[1]).unwrap();
}

#[test]
fn elements_are_read_only_outside_updates() {
    let cases = [
        "lattice.join = function(a, b) a.lo = math.min(a.lo, b.lo); return a end",
        "lattice.leq = function(a, b) table.insert(a, 1); return true end",
        "lattice.show = function(a) a.new = 1; return 'x' end",
    ];
    for case in cases {
        let message = refused(&interval(case)).to_string();
        assert!(message.starts_with("bad.lua:10: "), "{message}");
        assert!(message.contains("only updates may change their element"), "{message}");
    }
}

#[test]
fn a_forgotten_local_is_found() {
    let message = refused(&interval("lattice.leq = function(a, b) d = b.lo - a.lo; return d <= 0 end")).to_string();
    assert_eq!(message, "bad.lua:10: leq: `d` is not declared; write `local d = ...`");
}

#[test]
fn updates_that_misspell_a_field() {
    let lattice = changed("lattice.updates.slip = function(a) a.low = 1 end");
    let mut x = initial(&lattice);
    let error = lattice.update(method(&lattice, "slip"), &mut x, &[]).unwrap_err();
    assert_eq!(error.0, "bad.lua:10: updates.slip: an element has the fields `lo`, `hi`, but no `low`");
    let error = lattice.query(method(&lattice, "slip"), &x, &[]).unwrap_err();
    assert!(error.0.contains("is not one of this kind"), "{error}");
}

#[test]
fn floats_that_are_not_integers() {
    let lattice = changed("lattice.updates.half = function(a) a.lo = a.lo / 2; a.hi = math.huge end");
    let error = lattice.update(method(&lattice, "half"), &mut initial(&lattice), &[]).unwrap_err();
    assert!(error.0.contains("`hi` must be an integer, not inf"), "{error}");
}

#[test]
fn a_show_that_fails_does_not_matter() {
    let lattice = changed("lattice.show = function(a) return a.lo == 0 and 'zero' or a[a.lo] .. '!' end");
    assert_eq!(show(&lattice, &initial(&lattice)), "zero");
    let x = after(&lattice, &[("set", &[2])]);
    assert_eq!(show(&lattice, &x), "{lo = 2, hi = 2}");
    assert_eq!(lattice.error(), None);
}

#[test]
fn records_of_many_fields() {
    let script = |n: usize| {
        format!(
            "local fields, zero = {{}}, {{}}
             for i = 1, {n} do fields[i] = 'field ' .. i; zero['field ' .. i] = 0 end
             lattice = {{
               state = fields, initial = zero,
               leq = function(a, b) return a['field 1'] <= b['field 1'] end,
               join = function(a, b) return a['field 1'] <= b['field 1'] and b or a end,
               updates = {{ set = function(a, v) a['field {n}'] = v end }},
             }}"
        )
    };
    let lattice = ScriptLattice::parse("many.lua", &script(100), 1).unwrap();
    let x = after(&lattice, &[("set", &[7])]);
    assert_eq!(x[99..], [7, 1]);
    let message = refused(&script(101)).to_string();
    assert!(message.contains("there may be 1 to 100 fields"), "{message}");
}

#[test]
fn a_mark_that_an_element_contradicts_is_refused() {
    let script = |marks: &str| {
        format!(
            "lattice = {{ state = {{ \"n\" }}, initial = {{ n = 0 }}, leq = function(a, b) return a.n <= b.n end,
               join = function(a, b) return {{ n = math.max(a.n, b.n) }} end,
               queries = {{ missing = function(a, v) return v - a.n end }},
               updates = {{ add = function(a) a.n = a.n + 1 end }}, marks = {marks} }}"
        )
    };
    let lattice = |marks: &str| ScriptLattice::parse("count.lua", &script(marks), 1);
    lattice("{ missing = \"down\", add = \"up\" }").unwrap().audit(64, 1).unwrap();
    let message = lattice("{ missing = \"up\" }").unwrap().audit(64, 1).unwrap_err().to_string();
    assert!(message.contains("moves as its mark says") && message.contains("missing"), "{message}");
    assert!(lattice("{ missing = 1 }").unwrap_err().to_string().contains("must be \"up\""));
    assert!(lattice("{ gone = \"up\" }").unwrap_err().to_string().contains("marks.gone"));
}
