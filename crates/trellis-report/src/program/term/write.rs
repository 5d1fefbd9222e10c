//! Terms to text.

use rustc_hash::FxHashMap;
use trellis_expr::{BitOp, Division, EnumId, Term, TermId, Terms, Type, VarId};
use trellis_model::cfa::Cfa;

use super::enumerations;
use crate::program::full_names;

/// A shared term with more nodes than this is defined under a name.
const SMALL: usize = 6;
/// Nesting beyond this is cut by a definition.
const DEEP: usize = 60;

/// Writes the terms of one document.
pub(crate) struct Writer<'t> {
    terms: &'t Terms,
    variables: FxHashMap<VarId, String>,
    enums: FxHashMap<EnumId, String>,
    texts: FxHashMap<TermId, Text>,
    /// The definitions, in order.
    pub definitions: Vec<String>,
}

struct Text {
    text: String,
    size: usize,
    depth: usize,
}

impl<'t> Writer<'t> {
    /// Knows how to write these terms, which are over the variables of the automaton. What has no text is named.
    pub fn new(cfa: &Cfa, terms: &'t Terms, roots: impl IntoIterator<Item = TermId>) -> Result<Writer<'t>, String> {
        let variables = cfa.variables.iter().copied().zip(full_names(cfa)).map(|(v, n)| (v, symbol(&n))).collect();
        let enums = enumerations(terms).into_iter().map(|(e, n)| (e, symbol(&n))).collect();
        let mut w = Writer { terms, variables, enums, texts: FxHashMap::default(), definitions: Vec::new() };
        let roots: Vec<TermId> = roots.into_iter().collect();
        let all = terms.subterms(roots.iter().copied());
        let mut uses: FxHashMap<TermId, usize> = FxHashMap::default();
        roots.iter().for_each(|&t| *uses.entry(t).or_default() += 1);
        all.iter().flat_map(|&t| terms.children(t)).for_each(|t| *uses.entry(t).or_default() += 1);
        for t in all {
            let text = w.node(t)?;
            let children = terms.children(t);
            let part = |f: fn(&Text) -> usize| children.iter().map(|c| f(&w.texts[c])).collect::<Vec<_>>();
            let size = 1 + part(|t| t.size).iter().sum::<usize>();
            let depth = 1 + part(|t| t.depth).iter().max().unwrap_or(&0);
            let written = if (uses[&t] > 1 && size > SMALL) || depth >= DEEP {
                w.definitions.push(text);
                Text { text: format!("!{}", w.definitions.len() - 1), size: 1, depth: 1 }
            } else {
                Text { text, size, depth }
            };
            w.texts.insert(t, written);
        }
        Ok(w)
    }

    /// One of the terms.
    pub fn text(&self, t: TermId) -> &str {
        &self.texts[&t].text
    }

    fn list(&self, operator: &str, args: &[TermId]) -> String {
        let mut out = format!("({operator}");
        for t in args {
            out.push(' ');
            out.push_str(&self.texts[t].text);
        }
        out.push(')');
        out
    }

    fn node(&self, t: TermId) -> Result<String, String> {
        let terms = self.terms;
        let enumeration = |e: EnumId| self.enums.get(&e).ok_or("a literal of an enumeration that no variable has");
        let operator = match *terms.get(t) {
            Term::Bool(b) => return Ok(b.to_string()),
            Term::Int(n) => return Ok(n.to_string()),
            Term::Big(ref n) => return Ok(n.to_string()),
            Term::Bits(width, signed, _) => {
                let n = terms.as_value(t).map(|value| value.number()).unwrap_or_default();
                return Ok(format!("{n}{}{width}", if signed { 'i' } else { 'u' }));
            }
            Term::EnumLit(e, n) => {
                let literal = terms.enumeration(e).literals.get(n as usize).ok_or("a literal that is none")?;
                return Ok(format!("(of {} {})", enumeration(e)?, symbol(literal)));
            }
            Term::Var(v) => {
                let name = self.variables.get(&v);
                return name.cloned().ok_or_else(|| format!("`{}`, no variable of the model", terms.variable(v).name));
            }
            Term::Not(_) => "not",
            Term::And(_) => "and",
            Term::Or(_) => "or",
            Term::Ite(..) => "ite",
            Term::Eq(..) => "=",
            Term::Lt(..) => "<",
            Term::Le(..) => "<=",
            Term::Add(_) => "+",
            Term::Neg(_) => "-",
            Term::Mul(..) => "*",
            Term::Div(Division::Truncating, ..) => "/",
            Term::Rem(Division::Truncating, ..) => "%",
            Term::Div(Division::Euclidean, ..) => "div",
            Term::Rem(Division::Euclidean, ..) => "mod",
            Term::Bit(BitOp::And, ..) => "bitand",
            Term::Bit(BitOp::Or, ..) => "bitor",
            Term::Bit(BitOp::Xor, ..) => "bitxor",
            Term::Bit(BitOp::Shl, ..) => "shl",
            Term::Bit(BitOp::Shr, ..) => "shr",
            Term::Select(..) => "select",
            Term::Store(..) => "store",
            Term::ConstArray(ty, a) => {
                return Ok(self.list(&format!("const {}", self.ty(terms.type_of_id(ty))?), &[a]));
            }
            Term::Convert(ty, a) => {
                return Ok(self.list(&format!("convert {}", self.ty(terms.type_of_id(ty))?), &[a]));
            }
            Term::Checked(a, lo, hi) => return Ok(format!("(check {} {lo} {hi})", self.text(a))),
            Term::Foreign(..) => return Err("a foreign function".into()),
        };
        Ok(self.list(operator, &terms.children(t)))
    }

    /// A type.
    pub fn ty(&self, ty: Type) -> Result<String, String> {
        let part = |t| self.ty(self.terms.type_of_id(t));
        Ok(match ty {
            Type::Bool => "bool".into(),
            Type::Int => "int".into(),
            Type::Range(lo, hi) => format!("(range {lo} {hi})"),
            Type::Bits { width, signed } => format!("{}{width}", if signed { 'i' } else { 'u' }),
            Type::Enum(e) => format!("(enum {})", self.enums.get(&e).ok_or("an enumeration that no variable has")?),
            Type::Array(i, e) => format!("(array {} {})", part(i)?, part(e)?),
        })
    }
}

/// A name, between bars if it might be taken for something else.
fn symbol(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_:.#@$?[],".contains(c);
    let starts = |c: char| c.is_alphabetic() || "_@$".contains(c);
    if name.starts_with(starts) && name.chars().all(plain) && !matches!(name, "true" | "false") {
        return name.to_string();
    }
    let mut out = String::from("|");
    for c in name.chars() {
        if matches!(c, '|' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('|');
    out
}
