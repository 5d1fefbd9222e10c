//! The public formulas, asked of their models; skipped where those are not there.

use std::path::{Path, PathBuf};

use trellis_expr::{TermId, Terms, Type};
use trellis_syntax::diag::Sources;
use trellis_syntax::ltl::{Names, parse};
use trellis_syntax::{cfa, xsts};

use crate::shown;

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models")
}

/// The variables and literals of an automaton; quoted texts are taken on trust.
struct Model(Terms);

impl Names for Model {
    fn name(&mut self, text: &str) -> Option<TermId> {
        let variable = self.0.variables().find(|v| v.1.name == text).map(|v| v.0);
        if let Some(v) = variable {
            return Some(self.0.var(v));
        }
        let (ty, literal) = text.split_once('.')?;
        let mut enums = self.0.variables().filter_map(|v| if let Type::Enum(e) = v.1.ty { Some(e) } else { None });
        let e = enums.find(|e| self.0.enumeration(*e).name == ty)?;
        drop(enums);
        let n = self.0.enumeration(e).literals.iter().position(|l| l == literal)?;
        Some(self.0.enum_lit(e, n as u32))
    }

    fn quoted(&mut self, text: &str) -> Result<TermId, String> {
        let v = self.0.declare(text, Type::Bool);
        Ok(self.0.var(v))
    }

    fn inside(&mut self, _: &str) -> Option<TermId> {
        None
    }

    fn terms(&mut self) -> &mut Terms {
        &mut self.0
    }
}

fn reads(terms: Terms, formula: &str) {
    let mut sources = Sources::default();
    let id = sources.add("formula", formula);
    if let Err(complaints) = parse(&sources, id, &mut Model(terms)) {
        panic!("{formula}: {:?}", shown(&sources, &complaints));
    }
}

#[test]
fn of_automata_and_transition_systems() {
    let Ok(table) = std::fs::read_to_string(shared().join("ltl/EXPECTED.tsv")) else { return };
    let mut count = 0;
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [kind, model, formula] = cells[..3] else { panic!("{row}") };
        let mut sources = Sources::default();
        let id = sources.read(&shared().join(format!("ltl/{kind}/{model}.{kind}"))).expect("a model");
        let terms = match kind {
            "cfa" => cfa::parse(&sources, id).map(|parsed| parsed.0.terms),
            _ => xsts::parse(&sources, id, None).map(|parsed| parsed.0.cfa.terms),
        };
        reads(terms.unwrap_or_else(|e| panic!("{model}: {:?}", shown(&sources, &e))), formula);
        count += 1;
    }
    assert!(count > 40, "{count}");
}

/// Their variables are words of 32 bits.
#[test]
fn of_programs() {
    let Ok(table) = std::fs::read_to_string(shared().join("ltl-c/EXPECTED.tsv")) else { return };
    for row in table.lines().skip(1) {
        // A cell with quotes stands in quotes itself, and has them doubled.
        let formula = row.split('\t').nth(2).expect("a formula");
        let inner = formula.strip_prefix('"').and_then(|f| f.strip_suffix('"')).unwrap_or(formula);
        let mut terms = Terms::new();
        for name in ["init", "__INITIALIZED"] {
            terms.declare(name, Type::Bits { width: 32, signed: true });
        }
        reads(terms, &inner.replace("\"\"", "\""));
    }
}
