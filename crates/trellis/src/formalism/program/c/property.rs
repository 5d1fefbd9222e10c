//! What a C program is asked, by options or by one of SV-COMP's property files.

use std::path::Path;

use trellis_syntax::c::{Kind, Kinds};

use crate::Error;
use crate::settings::Reading;

/// Which checks, and what is assumed beside them.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub kinds: Kinds,
    /// Must every run end?
    pub termination: bool,
    /// What a property file says.
    pub property: Option<String>,
    /// Did the user say that nothing else is undefined?
    assumed: bool,
}

/// What C developers want to know without being asked.
const USUAL: [Kind; 7] =
    [Kind::Assertion, Kind::Bounds, Kind::Pointer, Kind::Division, Kind::Shift, Kind::Return, Kind::Call];

impl Scope {
    /// What the options say.
    pub fn of(reading: &Reading) -> Result<Scope, Error> {
        if let Some(path) = &reading.property_file {
            return Scope::read(path);
        }
        if reading.assume_defined {
            return Ok(Scope { assumed: true, ..Scope::default() });
        }
        let mut kinds = Kinds::of(&USUAL);
        if reading.overflow {
            kinds = kinds.with(Kind::Overflow);
        }
        if reading.uninitialised {
            kinds = kinds.with(Kind::Uninitialised);
        }
        Ok(Scope { kinds, ..Scope::default() })
    }

    fn read(path: &Path) -> Result<Scope, Error> {
        let shown = path.display();
        let text =
            std::fs::read_to_string(path).map_err(|e| Error::Input(format!("error: {shown}: cannot be read: {e}")))?;
        Scope::parse(&text).map_err(|(line, why)| Error::Input(format!("error: {shown}:{line}: {why}")))
    }

    /// `CHECK( init(main()), LTL(G ! overflow) )`, one on each line.
    fn parse(text: &str) -> Result<Scope, (usize, String)> {
        let mut scope = Scope { kinds: Kinds::NONE, assumed: true, ..Scope::default() };
        let mut said = vec![];
        for (n, line) in text.lines().enumerate() {
            let written: String = line.chars().filter(|c| !c.is_whitespace()).collect();
            if written.is_empty() {
                continue;
            }
            let fail = |why: String| Err((n + 1, why));
            let formula = written.strip_prefix("CHECK(init(main()),LTL(").and_then(|rest| rest.strip_suffix("))"));
            let Some(formula) = formula else {
                return fail(format!("`{}`: write CHECK( init(main()), LTL(…) )", line.trim()));
            };
            let (kinds, shown) = match formula {
                "G!call(reach_error())" | "G!call(__VERIFIER_error())" | "G!call(__assert_fail())" => {
                    (Kinds::of(&[Kind::Assertion]), "G ! call(reach_error())")
                }
                "G!overflow" => (Kinds::of(&[Kind::Overflow]), "G ! overflow"),
                "Gvalid-deref" => (Kinds::of(&[Kind::Bounds, Kind::Pointer]), "G valid-deref"),
                // There is no heap in the programs that are read.
                "Gvalid-free" => (Kinds::NONE, "G valid-free"),
                "Gvalid-memtrack" => (Kinds::NONE, "G valid-memtrack"),
                "Gvalid-memcleanup" => (Kinds::NONE, "G valid-memcleanup"),
                "Gdef-behavior" => {
                    let undefined = Kind::ALL.into_iter().filter(|k| *k != Kind::Assertion);
                    (Kinds::of(&undefined.collect::<Vec<_>>()), "G def-behavior")
                }
                "Fend" => {
                    scope.termination = true;
                    (Kinds::NONE, "F end")
                }
                other => {
                    return fail(format!(
                        "the property `{other}` is not known; known are unreach-call, no-overflow, valid-memsafety, \
                         def-behavior and termination"
                    ));
                }
            };
            scope.kinds = scope.kinds.and(kinds);
            said.push(shown);
        }
        if said.is_empty() {
            return Err((1, "there is no property: write CHECK( init(main()), LTL(…) )".into()));
        }
        scope.property = Some(said.join(", "));
        Ok(scope)
    }

    /// What verdicts rest on.
    pub fn assumes(&self) -> Vec<String> {
        let undefined = Kind::ALL.into_iter().filter(|k| !matches!(k, Kind::Assertion | Kind::Uninitialised));
        let all = undefined.clone().all(|k| self.kinds.contains(k));
        let some = undefined.clone().any(|k| self.kinds.contains(k));
        match (self.assumed && !all, some) {
            (false, _) => vec![],
            (true, false) => vec!["no undefined behaviour".into()],
            (true, true) => vec!["no other undefined behaviour".into()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        let scope = Scope::parse(text).expect("a property");
        Kind::ALL.into_iter().filter(|k| scope.kinds.contains(*k)).collect()
    }

    #[test]
    fn property_files_of_sv_comp() {
        assert_eq!(kinds("CHECK( init(main()), LTL(G ! call(reach_error())) )\n"), [Kind::Assertion]);
        assert_eq!(kinds("CHECK( init(main()), LTL(G ! overflow) )"), [Kind::Overflow]);
        let memory = "CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )\n\
                      CHECK( init(main()), LTL(G valid-memtrack) )\n";
        assert_eq!(kinds(memory), [Kind::Bounds, Kind::Pointer]);
        assert_eq!(kinds("CHECK( init(main()), LTL(G def-behavior) )").len(), 8);
        let ends = Scope::parse("CHECK( init(main()), LTL(F end) )").expect("a property");
        assert!(ends.termination && ends.kinds == Kinds::NONE);
        for wrong in ["", "CHECK( init(main()), LTL(G ! data-race) )", "COVER( init(main()), FQL(COVER EDGES) )", "x"] {
            assert!(Scope::parse(wrong).is_err(), "{wrong}");
        }
        let (line, why) = Scope::parse("\nCHECK( init(main()), LTL(G ! data-race) )").expect_err("unknown");
        assert!(line == 2 && why.contains("`G!data-race`"), "{why}");
    }

    #[test]
    fn what_is_not_asked_is_assumed() {
        let says = |text: &str| Scope::parse(text).expect("a property").assumes();
        assert_eq!(says("CHECK( init(main()), LTL(G ! call(reach_error())) )"), ["no undefined behaviour"]);
        assert_eq!(says("CHECK( init(main()), LTL(G ! overflow) )"), ["no other undefined behaviour"]);
        assert_eq!(says("CHECK( init(main()), LTL(G def-behavior) )"), [""; 0]);
        assert_eq!(Scope::of(&Reading::default()).expect("the usual").assumes(), [""; 0]);
        let reading = Reading { assume_defined: true, ..Reading::default() };
        assert_eq!(Scope::of(&reading).expect("assertions").assumes(), ["no undefined behaviour"]);
    }
}
