//! Questions: sets of labels, and UPPAAL's queries.

use trellis_expr::{TermId, VarId};
use trellis_model::network::{Condition, Query, QueryKind};

use super::{Builder, Reported, Res, nearest};
use crate::diag::shorten;
use crate::tchecker::ast::Ident;
use crate::uppaal::ast::{self, Expr, ExprKind};

/// How many labels an error lists.
const SHOWN: usize = 20;

impl Builder<'_> {
    /// Can a state be reached in which all of these labels occur?
    pub fn label_query(&mut self, labels: &[Ident]) -> Res<Query> {
        let mut parts = Vec::new();
        for l in labels {
            match self.label_term(&l.name) {
                Some(t) => parts.push(t),
                None => return self.unknown_label(l),
            }
        }
        let holds = self.terms().and(parts);
        let condition = Condition { prepare: self.terms().skip(), holds };
        let names: Vec<&str> = labels.iter().map(|l| l.name.as_str()).collect();
        let text = format!("E<> {}", names.join(" && "));
        Ok(Query { text, kind: QueryKind::Possibly(condition), deadlock: false, atoms: Vec::new() })
    }

    fn unknown_label<T>(&mut self, l: &Ident) -> Res<T> {
        let near = nearest(&l.name, self.labels.iter().map(|(n, _)| n.as_str()));
        let mut list: Vec<String> = self.labels.iter().take(SHOWN).map(|(n, _)| shorten(n)).collect();
        if self.labels.len() > SHOWN {
            list.push("…".into());
        }
        let help = match (near, list.is_empty()) {
            (_, true) => "no location of the model has labels; give it some: `location:P:l{labels: a}`".into(),
            (Some(near), _) => format!("did you mean `{near}`? There are: {}", list.join(", ")),
            (None, _) => format!("there are: {}", list.join(", ")),
        };
        self.error(l.span, format!("no location has the label `{}`", shorten(&l.name)), help)
    }

    /// Is some process in a location that has the label?
    fn label_term(&mut self, label: &str) -> Option<TermId> {
        let number = *self.label_numbers.get(label)?;
        let places = self.labels[number].1.clone();
        let terms: Vec<TermId> = places.into_iter().map(|(p, l)| self.is_at(p, l)).collect();
        Some(self.terms().or(terms))
    }

    fn is_at(&mut self, process: u32, location: u32) -> TermId {
        let at = self.net.processes[process as usize].location;
        let at = self.terms().var(at);
        let l = self.int(i64::from(location));
        self.terms().eq(at, l)
    }

    /// `P.loc`; both names may have dots in them.
    pub fn location_term(&mut self, name: &str) -> Option<TermId> {
        for (dot, _) in name.match_indices('.') {
            if let Some(&p) = self.processes.get(&name[..dot])
                && let Some(&l) = self.locations.get(&(p, name[dot + 1..].to_string()))
            {
                return Some(self.is_at(p, l));
            }
        }
        None
    }

    /// A name in a query that is neither a location nor a variable.
    pub fn asked_name(&mut self, name: &str, e: &Expr) -> Res<super::expr::Value> {
        if let Some(term) = self.label_term(name) {
            return Ok(super::expr::Value { term, is_bool: true });
        }
        if self.processes.contains_key(name) {
            let shown = shorten(name);
            let help = format!("ask for a location of it: `{shown}.location`");
            return self.error(e.span, format!("`{shown}` is a process"), help);
        }
        if let Some((process, location)) = name.rsplit_once('.')
            && let Some(&p) = self.processes.get(process)
        {
            let locations = &self.net.processes[p as usize].locations;
            let near = nearest(location, locations.iter().map(|l| l.name.as_str()));
            let list: Vec<String> = locations.iter().take(SHOWN).map(|l| shorten(&l.name)).collect();
            let what = format!("location in process `{}` named", shorten(process));
            return self.unknown(&what, location, e.span, near, &format!("there are: {}", list.join(", ")));
        }
        self.unknown_variable(name, e.span)
    }

    pub fn query(&mut self, q: &ast::Query) -> Res<Query> {
        self.new_unit(u32::MAX);
        self.asking = Some(Vec::new());
        self.asks_deadlock = false;
        let kind = self.kind(q);
        let atoms = self.asking.take().unwrap_or_default();
        Ok(Query { text: q.text.clone(), kind: kind?, deadlock: self.asks_deadlock, atoms })
    }

    /// What a formula may speak of: a truth value or a number, or why it may not.
    pub fn spoken_of(&mut self, e: &Expr) -> Result<Condition, String> {
        self.new_unit(u32::MAX);
        self.asking = Some(Vec::new());
        self.asks_deadlock = false;
        let before = self.diags.len();
        let found = self.value(e);
        let why = self.diags.drain(before..).next().map(|d| match d.help {
            Some(help) => format!("{}; {help}", d.message),
            None => d.message,
        });
        let clocks = self.asking.take().is_some_and(|atoms| !atoms.is_empty());
        match found {
            _ if self.asks_deadlock => Err("formulas do not speak of `deadlock`; ask for it with --property".into()),
            _ if clocks => Err("formulas do not speak of clocks".into()),
            Ok(v) => Ok(Condition { prepare: self.terms().skip(), holds: v.term }),
            Err(Reported) => Err(why.unwrap_or_else(|| "this is not part of the model".into())),
        }
    }

    fn kind(&mut self, q: &ast::Query) -> Res<QueryKind> {
        Ok(match &q.kind {
            ast::QueryKind::Invariantly(p) => QueryKind::Always(self.holds(p)?),
            ast::QueryKind::Possibly(p) => QueryKind::Possibly(self.holds(p)?),
            ast::QueryKind::Eventually(p) => QueryKind::Eventually(self.holds(p)?),
            ast::QueryKind::PotentiallyAlways(p) => QueryKind::PotentiallyAlways(self.holds(p)?),
            ast::QueryKind::LeadsTo(p, then) => {
                let (p, then) = (self.holds(p), self.holds(then));
                QueryKind::LeadsTo(p?, then?)
            }
            ast::QueryKind::Bounds { sup, when, of } => {
                let [of] = &of[..] else {
                    let help = "write one query for each of them";
                    return self.error(q.span, "ask for the bound of one expression at a time", help);
                };
                let when = match when {
                    Some(w) => self.holds(w)?,
                    None => self.always(),
                };
                self.bound(*sup, when, of)?
            }
            ast::QueryKind::Unsupported(what) => {
                let help = "Trellis answers A[] p, E<> p, A<> p, E[] p, p --> q, sup: e and inf: e";
                return self.error(q.span, format!("{what} is not supported"), help);
            }
            ast::QueryKind::Malformed(errors) => {
                self.diags.extend(errors.iter().cloned());
                return Err(Reported);
            }
        })
    }

    fn bound(&mut self, sup: bool, when: Condition, of: &Expr) -> Res<QueryKind> {
        let prepare = self.terms().skip();
        if !self.mentions_clocks(of) || matches!(&of.kind, ExprKind::Binary(op, ..) if super::expr::is_comparison(*op))
        {
            let holds = self.integer(of)?;
            return Ok(QueryKind::Bound { sup, when, of: Condition { prepare, holds } });
        }
        let help = "ask for the bound of one clock: `sup: x`";
        match &of.kind {
            ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Index(..) => {
                let clock = self.clock(of)?;
                match clock.of {
                    None => Ok(QueryKind::ClockBound { sup, when, clock: clock.first }),
                    Some(_) => self.error(of.span, "which clock is meant must be known beforehand", help),
                }
            }
            _ => self.error(of.span, "the bound of an expression over clocks is not supported", help),
        }
    }

    fn holds(&mut self, e: &Expr) -> Res<Condition> {
        let holds = self.boolean(e)?;
        Ok(Condition { prepare: self.terms().skip(), holds })
    }

    /// The temporary that says whether a state is a deadlock.
    pub fn deadlock(&mut self) -> VarId {
        if let Some(d) = self.net.deadlock {
            return d;
        }
        let d = self.fresh("deadlock".into(), true, None);
        self.net.deadlock = Some(d);
        d
    }
}
