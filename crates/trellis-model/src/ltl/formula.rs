//! Making and showing formulas.

use super::Formula;

impl Formula {
    /// `!a`, without a second negation where there is one already.
    pub fn negate(self) -> Formula {
        match self {
            Formula::Not(a) => *a,
            a => Formula::Not(Box::new(a)),
        }
    }

    /// The operands.
    pub fn children(&self) -> impl Iterator<Item = &Formula> {
        use Formula as F;
        let (a, b) = match self {
            F::True | F::False | F::Atom(_) => (None, None),
            F::Not(a) | F::Next(a) | F::Finally(a) | F::Globally(a) => (Some(a), None),
            F::And(a, b)
            | F::Or(a, b)
            | F::Implies(a, b)
            | F::Iff(a, b)
            | F::Until(a, b)
            | F::WeakUntil(a, b)
            | F::Release(a, b)
            | F::StrongRelease(a, b) => (Some(a), Some(b)),
        };
        a.into_iter().chain(b).map(|child| &**child)
    }

    /// Is there no temporal operator in it?
    pub fn is_propositional(&self) -> bool {
        use Formula as F;
        let connective = matches!(
            self,
            F::True | F::False | F::Atom(_) | F::Not(_) | F::And(..) | F::Or(..) | F::Implies(..) | F::Iff(..)
        );
        connective && self.children().all(Formula::is_propositional)
    }

    /// As text; atoms by their names, or as `p3` where there are none. A name that is more than one word stands in quotes.
    pub fn show(&self, names: &[String]) -> String {
        let mut out = String::new();
        self.write(names, &mut out);
        out
    }

    fn write(&self, names: &[String], out: &mut String) {
        use Formula as F;
        // Everything below an operator stands in parentheses unless it is a word or has a prefix: short, and never ambiguous.
        fn inner(f: &Formula, names: &[String], out: &mut String) {
            let plain = f.children().count() < 2;
            out.push_str(if plain { "" } else { "(" });
            f.write(names, out);
            out.push_str(if plain { "" } else { ")" });
        }
        let operator = match self {
            F::True => return out.push_str("true"),
            F::False => return out.push_str("false"),
            F::Atom(n) => return out.push_str(&atom(names, *n)),
            F::Not(_) => "!",
            F::Next(_) => "X ",
            F::Finally(_) => "F ",
            F::Globally(_) => "G ",
            F::And(..) => " && ",
            F::Or(..) => " || ",
            F::Implies(..) => " -> ",
            F::Iff(..) => " <-> ",
            F::Until(..) => " U ",
            F::WeakUntil(..) => " W ",
            F::Release(..) => " R ",
            F::StrongRelease(..) => " M ",
        };
        let children: Vec<&Formula> = self.children().collect();
        if let [a, b] = children[..] {
            inner(a, names, out);
            out.push_str(operator);
            inner(b, names, out);
        } else {
            out.push_str(operator);
            children.into_iter().for_each(|a| inner(a, names, out));
        }
    }
}

fn atom(names: &[String], n: u32) -> String {
    match names.get(n as usize) {
        Some(name) if name.chars().all(|c| c.is_alphanumeric() || "_.$".contains(c)) => name.clone(),
        Some(name) => format!("\"{name}\""),
        None => format!("p{n}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_with_parentheses_where_it_matters() {
        let p = |n| Box::new(Formula::Atom(n));
        let until = Formula::Until(Box::new(Formula::Not(p(0))), p(1));
        let f = Formula::Globally(Box::new(Formula::Or(Box::new(until), p(2))));
        assert_eq!(f.show(&["a".into(), "x < 3".into()]), "G ((!a U \"x < 3\") || p2)");
    }
}
