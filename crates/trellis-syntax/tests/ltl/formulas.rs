//! What formulas mean: precedence, types, atoms.

use trellis_expr::{Division, EnumId, TermId, Terms, Type};
use trellis_model::ltl::Spec;
use trellis_syntax::diag::Sources;
use trellis_syntax::ltl::{Names, parse, parse_propositional, parse_state};

use crate::shown;

/// `x`, `y` and `n` are integers, `b`, `c` and `Foggy` truth values, `color` is Red or Green, `a` an array, `w` a word of 8 bits.
pub struct World {
    terms: Terms,
    colors: EnumId,
    names: Vec<String>,
}

impl World {
    pub fn new() -> World {
        let mut terms = Terms::new();
        let colors = terms.declare_enum("Colors", vec!["Red".into(), "Green".into()]);
        let array = terms.array_type(Type::Int, Type::Int);
        let word = Type::Bits { width: 8, signed: true };
        let all = [
            ("x", Type::Int),
            ("y", Type::Int),
            ("limit", Type::Range(0, 9)),
            ("b", Type::Bool),
            ("c", Type::Bool),
            ("Foggy", Type::Bool),
            ("color", Type::Enum(colors)),
            ("a", array),
            ("w", word),
        ];
        for (name, ty) in all {
            terms.declare(name, ty);
        }
        World { terms, colors, names: all.iter().map(|n| n.0.to_string()).collect() }
    }

    pub fn read(&mut self, text: &str) -> Result<Spec, Vec<String>> {
        let mut sources = Sources::default();
        let id = sources.add("formula", text);
        parse(&sources, id, self).map_err(|complaints| shown(&sources, &complaints))
    }
}

impl Names for World {
    fn name(&mut self, text: &str) -> Option<TermId> {
        match text {
            "Colors.Red" => return Some(self.terms.enum_lit(self.colors, 0)),
            "Colors.Green" => return Some(self.terms.enum_lit(self.colors, 1)),
            _ => {}
        }
        let v = self.terms.variables().find(|v| v.1.name == text).map(|v| v.0)?;
        Some(self.terms.var(v))
    }

    fn quoted(&mut self, text: &str) -> Result<TermId, String> {
        match text.trim() {
            "x == 1" => {
                let (x, one) = (self.name("x").expect("x"), self.terms.int(1));
                Ok(self.terms.eq(x, one))
            }
            other => Err(format!("cannot read `{other}`")),
        }
    }

    fn inside(&mut self, state: &str) -> Option<TermId> {
        let name = if state == "P.idle" || state == "idle" { "b" } else { return None };
        self.name(name)
    }

    fn terms(&mut self) -> &mut Terms {
        &mut self.terms
    }

    fn division(&self) -> Division {
        Division::Truncating
    }

    fn known(&self) -> Vec<String> {
        self.names.clone()
    }
}

fn shows(text: &str, formula: &str, atoms: &[&str]) {
    let mut world = World::new();
    let spec = world.read(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    assert_eq!(spec.formula.show(&[]), formula, "{text}");
    assert_eq!(spec.names, atoms, "{text}");
}

fn plain(text: &str) -> String {
    let mut sources = Sources::default();
    let id = sources.add("formula", text);
    match parse_propositional(&sources, id) {
        Ok((f, names)) => f.show(&names),
        Err(complaints) => panic!("{text}: {:?}", shown(&sources, &complaints)),
    }
}

#[test]
fn precedence() {
    assert_eq!(plain("!a U b"), "!a U b");
    assert_eq!(plain("a U b U c"), "a U (b U c)");
    assert_eq!(plain("a U b & c | d -> e -> f <-> g"), "((((a U b) && c) || d) -> (e -> f)) <-> g");
    assert_eq!(plain("G a W b R c M d"), "G a W (b R (c M d))");
    assert_eq!(plain("a & b U c"), "a && (b U c)");
    assert_eq!(plain("a && b and c ∧ d /\\ e & f"), "((a && b) && c) && ((d && e) && f)");
    assert_eq!(plain("¬a ∨ not b \\/ c"), "(!a || !b) || c");
    assert_eq!(plain("[]<>a => <>[]b"), "G F a -> F G b");
    assert_eq!(plain("Y & S U O"), "Y && (S U O)");
    assert_eq!(plain("true U false"), "true U false");
}

/// As the collections write it.
#[test]
fn operators_need_no_blanks() {
    assert_eq!(plain("GFp0 & XXp1"), "G F p0 && X X p1");
    assert_eq!(plain("G!p0 | FG\"x == 1\""), "G !p0 || F G \"x == 1\"");
    assert_eq!(plain("F1 & FG(a)"), "F1 && F G a");
}

#[test]
fn three_types() {
    shows("G(x = 1 -> X (y < 3 or F b))", "G (p0 -> X (p1 || F p2))", &["x = 1", "y < 3", "b"]);
    shows("F G(color = Colors.Red)", "F G p0", &["color = Colors.Red"]);
    shows("G x + 2 * y mod 3 > 5 & b", "G p0 && p1", &["x + 2 * y mod 3 > 5", "b"]);
    shows("G(color = Green)", "G p0", &["color = Green"]);
    shows("b = c U x /= limit", "(p0 <-> p1) U p2", &["b", "c", "x /= limit"]);
    shows("b = X c", "p0 <-> X p1", &["b", "c"]);
    shows("F a[x + 1] = -1", "F p0", &["a[x + 1] = -1"]);
    shows("G w < 100 -> w = -128", "G p0 -> p1", &["w < 100", "w = -128"]);
    shows("1 < 2 & b", "true && p0", &["b"]);
    shows("FGFoggy & FFoggy", "F G p0 && F p0", &["Foggy"]);
    shows("In(idle) U P.idle", "p0 U p0", &["In(idle)"]);
    shows("G\"x == 1\" | x = 1", "G p0 || p0", &["x == 1"]);
}

/// Atoms that are equal, or each other's negation, share a number.
#[test]
fn atoms_are_shared() {
    shows("G(x < 3 | x >= 3 | 3 <= x | 3 > x)", "G ((p0 || !p0) || (!p0 || p0))", &["x < 3"]);
    shows("F x != 1 & G x = 1 & !b & b", "(F p0 && G !p0) && (!p1 && p1)", &["x != 1", "b"]);
}

#[test]
fn sixty_four_atoms_and_no_more() {
    let all = |n: usize| (0..n).map(|i| format!("x = {i}")).collect::<Vec<_>>().join(" | ");
    assert_eq!(World::new().read(&all(64)).map(|s| s.atoms.len()), Ok(64));
    assert!(World::new().read(&all(65)).expect_err("too many")[0].contains("64 different atoms"));
}

/// Without temporal operators: one term.
#[test]
fn a_moment_is_a_term() {
    let read = |text: &str| {
        let mut world = World::new();
        let mut sources = Sources::default();
        let id = sources.add("formula", text);
        let t = parse_state(&sources, id, &mut world).map_err(|e| shown(&sources, &e));
        t.map(|t| world.terms.show(t).to_string())
    };
    assert_eq!(read("x > 1 && !b").as_deref(), Ok("x > 1 && !b"));
    assert_eq!(read("b <-> c or true").as_deref(), Ok("b"));
    assert_eq!(read("F b"), Err(vec!["1: this must be about one moment, without temporal operators".into()]));
}
