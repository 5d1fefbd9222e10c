//! Cut sets, sequences and effects of failures: for a person, as a table for a spreadsheet, and as a fault tree in the format of
//! Open-PSA (its Model Exchange Format, version 2.0d), which tools of reliability engineers read.

use std::fmt::Write;

/// What one failure does, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Whose failure; empty at the top.
    pub component: String,
    /// The name of the failure event.
    pub failure: String,
    /// What changes within the component.
    pub local: Vec<String>,
    /// What changes elsewhere.
    pub system: Vec<String>,
    /// Can it happen first and alone, and is it then enough for the top event?
    pub outcome: Outcome,
}

/// What a failure means for the top event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is enough.
    Enough,
    /// It is not.
    NotEnough,
    /// It cannot happen before another, or not without another.
    NotFirst,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Enough => "yes",
            Outcome::NotEnough => "no",
            Outcome::NotFirst => "not alone",
        }
    }
}

/// One line for each cut set, each a list of names; behind a heading.
pub fn cut_sets(sets: &[Vec<String>], note: &str) -> String {
    let mut out = format!("minimal cut sets: {}{note}\n", sets.len());
    for set in sets {
        let _ = writeln!(out, "  {{{}}}", set.join(", "));
    }
    out
}

/// One line for each sequence, each a list of steps; behind a heading.
pub fn sequences(sequences: &[Vec<Vec<String>>], note: &str) -> String {
    let mut out = format!("minimal sequences: {}{note}\n", sequences.len());
    for sequence in sequences {
        let step = |names: &Vec<String>| match names.as_slice() {
            [one] => one.clone(),
            many => format!("{{{}}}", many.join(", ")),
        };
        let steps: Vec<String> = sequence.iter().map(step).collect();
        let _ = writeln!(out, "  {}", if steps.is_empty() { "(nothing)".into() } else { steps.join(", then ") });
    }
    out
}

/// A table with columns that line up.
pub fn effects(rows: &[Row]) -> String {
    let none = || vec!["–".to_string()];
    let list = |all: &[String]| if all.is_empty() { none() } else { all.to_vec() };
    let first = |n: usize| list(&rows[n].local);
    let cells: Vec<[Vec<String>; 5]> = (0..rows.len())
        .map(|n| {
            let r = &rows[n];
            let component = if r.component.is_empty() { none() } else { vec![r.component.clone()] };
            [component, vec![r.failure.clone()], first(n), list(&r.system), vec![r.outcome.word().into()]]
        })
        .collect();
    let heads = ["component", "failure", "effect there", "effect elsewhere", "top event"];
    let width = |at: usize| {
        let longest = cells.iter().flat_map(|row| &row[at]).map(|c| c.chars().count()).max().unwrap_or(0);
        longest.max(heads[at].len())
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    let line = |cells: [&str; 5]| {
        let mut text = String::from(" ");
        for (cell, &width) in cells.iter().zip(&widths) {
            let _ = write!(text, " {cell:<width$} ");
        }
        format!("{}\n", text.trim_end())
    };
    let mut out = String::from("single failures and their effects\n");
    out += &line(heads);
    for row in &cells {
        let height = row.iter().map(Vec::len).max().unwrap_or(1);
        for n in 0..height {
            let cell = |at: usize| row[at].get(n).map_or("", String::as_str);
            out += &line([cell(0), cell(1), cell(2), cell(3), cell(4)]);
        }
    }
    out
}

/// The same for a spreadsheet.
pub fn effects_csv(rows: &[Row]) -> String {
    let mut out = String::from("component,failure,effect there,effect elsewhere,top event\n");
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    for r in rows {
        let cells = [&r.component, &r.failure, &r.local.join("; "), &r.system.join("; "), r.outcome.word()];
        let _ = writeln!(out, "{}", cells.map(quoted).join(","));
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Names that Open-PSA allows (letters, digits, `_` and `-`), all different.
fn identifiers(names: &[String]) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    for name in names {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let mut id = String::new();
        for c in name.chars().map(plain).skip_while(|c| !c.is_ascii_alphanumeric()) {
            // No two hyphens in a row, and none at the end.
            if c != '-' || !id.ends_with('-') {
                id.push(c);
            }
        }
        let id = id.trim_end_matches('-');
        let id = if id.starts_with(|c: char| c.is_ascii_alphabetic()) { id.to_string() } else { format!("e{id}") };
        let taken = |id: &String| all.contains(id);
        let mut unique = id.clone();
        let mut n = 2;
        while taken(&unique) {
            unique = format!("{id}-{n}");
            n += 1;
        }
        all.push(unique);
    }
    all
}

/// A fault tree: the top event is a disjunction of cut sets, each a conjunction of failures, given by their number. What the model says of a
/// failure to other tools, such as its law, becomes attributes of it.
pub fn open_psa(model: &str, top: &str, failures: &[String], said: &[Vec<String>], sets: &[Vec<usize>]) -> String {
    let ids = identifiers(failures);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opsa-mef>\n");
    let name = identifiers(&[model.to_string()]).remove(0);
    let _ = writeln!(out, "  <define-fault-tree name=\"{name}\">");
    let _ = writeln!(out, "    <define-gate name=\"top\">\n      <label>{}</label>", escaped(top));
    if sets.iter().any(Vec::is_empty) {
        out += "      <constant value=\"true\"/>\n    </define-gate>\n";
    } else if sets.is_empty() {
        out += "      <constant value=\"false\"/>\n    </define-gate>\n";
    } else {
        let gate = |out: &mut String, word: &str, members: &[String], indent: &str| {
            // A gate with one input is that input.
            match members {
                [one] => {
                    let _ = writeln!(out, "{indent}{one}");
                }
                many => {
                    let _ = writeln!(out, "{indent}<{word}>");
                    many.iter().for_each(|m| {
                        let _ = writeln!(out, "{indent}  {m}");
                    });
                    let _ = writeln!(out, "{indent}</{word}>");
                }
            }
        };
        let cuts: Vec<String> = (1..=sets.len()).map(|n| format!("<gate name=\"cut-{n}\"/>")).collect();
        gate(&mut out, "or", &cuts, "      ");
        out += "    </define-gate>\n";
        for (n, set) in sets.iter().enumerate() {
            let _ = writeln!(out, "    <define-gate name=\"cut-{}\">", n + 1);
            let events: Vec<String> = set.iter().map(|&f| format!("<basic-event name=\"{}\"/>", ids[f])).collect();
            gate(&mut out, "and", &events, "      ");
            out += "    </define-gate>\n";
        }
    }
    out += "  </define-fault-tree>\n  <model-data>\n";
    let mut used: Vec<usize> = sets.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    for f in used {
        let _ = writeln!(out, "    <define-basic-event name=\"{}\">", ids[f]);
        let _ = writeln!(out, "      <label>{}</label>", escaped(&failures[f]));
        if let Some(said) = said.get(f).filter(|said| !said.is_empty()) {
            out += "      <attributes>\n";
            for text in said {
                let _ = writeln!(out, "        <attribute name=\"extern\" value=\"{}\"/>", escaped(text));
            }
            out += "      </attributes>\n";
        }
        out += "    </define-basic-event>\n";
    }
    out += "  </model-data>\n</opsa-mef>\n";
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_different() {
        let names = ["P[0].fail", "P.0.fail", "'a b'", "1x", "P[0].fail"].map(String::from);
        assert_eq!(identifiers(&names), ["P-0-fail", "P-0-fail-2", "a-b", "e1x", "P-0-fail-3"]);
    }

    #[test]
    fn a_fault_tree() {
        let names = ["p.fail", "s.fail", "v.fail"].map(String::from);
        let said = [vec![], vec![], vec!["law <event fail> = dirac(0)".to_string()]];
        let tree = open_psa("Plant", "not v.ok & x < 3", &names, &said, &[vec![2], vec![0, 1]]);
        for part in [
            "<define-fault-tree name=\"Plant\">",
            "<label>not v.ok &amp; x &lt; 3</label>",
            "<or>\n        <gate name=\"cut-1\"/>\n        <gate name=\"cut-2\"/>\n      </or>",
            "<define-gate name=\"cut-1\">\n      <basic-event name=\"v-fail\"/>",
            "<and>\n        <basic-event name=\"p-fail\"/>\n        <basic-event name=\"s-fail\"/>\n      </and>",
            "<define-basic-event name=\"v-fail\">",
            "<attribute name=\"extern\" value=\"law &lt;event fail&gt; = dirac(0)\"/>",
        ] {
            assert!(tree.contains(part), "{part}\n{tree}");
        }
        assert!(open_psa("M", "x", &names, &[], &[]).contains("<constant value=\"false\"/>"));
        assert!(open_psa("M", "x", &names, &[], &[vec![]]).contains("<constant value=\"true\"/>"));
    }

    #[test]
    fn a_table() {
        let row = Row {
            component: "p".into(),
            failure: "fail".into(),
            local: vec!["p.ok = false".into()],
            system: vec![],
            outcome: Outcome::NotEnough,
        };
        let text = effects(std::slice::from_ref(&row));
        assert!(text.contains("  p          fail     p.ok = false  –                 no"), "{text}");
        assert!(effects_csv(&[row]).ends_with("\"p\",\"fail\",\"p.ok = false\",\"\",\"no\"\n"));
    }
}
