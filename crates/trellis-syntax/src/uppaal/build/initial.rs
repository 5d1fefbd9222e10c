//! What variables hold at first: initialisers, and the constants they are made of.

use std::rc::Rc;

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Limits, State, Valuation, eval, exec};
use trellis_expr::value::ArrayValue;
use trellis_expr::{StmtId, Type, VarId};

use super::expr::{Lower, Unit};
use super::place::Place;
use super::scope::{Kind, Scope, Value};
use super::types::Ty;
use super::{Builder, Res, ast};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use crate::text::errors::count;

/// How many iterations the loops behind one constant may take.
const MAX_ITERATIONS: u64 = 100_000;

impl Builder<'_> {
    /// A literal of a kind.
    pub fn literal(&mut self, n: i64, kind: Kind) -> Value {
        let term = match kind {
            Kind::Bool => self.terms().bool(n != 0),
            _ => self.int(n),
        };
        Value { term, kind }
    }

    /// The items of a list of values, in the order of the entries or fields of a type.
    pub fn listed<'n>(
        &mut self,
        items: &'n [(Option<ast::Ident>, ast::Init)],
        ty: &Ty,
        span: Span,
    ) -> Res<Vec<&'n ast::Init>> {
        let wrong_count = |expected: i64| items.len() as i64 != expected;
        match ty {
            Ty::Array(r, _) if wrong_count(r.len) => {
                self.error(span, format!("{} for an array of {}", count(items.len(), "value"), r.len))
            }
            Ty::Array(..) => match items.iter().find_map(|(name, _)| name.as_ref()) {
                Some(name) => self.error(name.span, "the entries of an array have no names"),
                None => Ok(items.iter().map(|(_, item)| item).collect()),
            },
            Ty::Struct(fields) if wrong_count(fields.len() as i64) => self.error(
                span,
                format!("{} for a struct of {}", count(items.len(), "value"), count(fields.len(), "field")),
            ),
            Ty::Struct(fields) => {
                let mut found = vec![None; fields.len()];
                for (i, (name, item)) in items.iter().enumerate() {
                    let at = match name {
                        Some(n) => fields.iter().position(|(f, _)| *f == n.name),
                        None => Some(i),
                    };
                    let place = name.as_ref().map_or(span, |n| n.span);
                    let Some(at) = at else {
                        let name = name.as_ref().map_or(String::new(), |n| shorten(&n.name));
                        return self.error(place, format!("the struct has no field `{name}`"));
                    };
                    if found[at].replace(item).is_some() {
                        return self.error(place, format!("field `{}` is given twice", shorten(&fields[at].0)));
                    }
                }
                Ok(found.into_iter().flatten().collect())
            }
            _ => self.error(span, format!("a list of values for the scalar type `{}`", ty.describe())),
        }
    }

    /// The cells of an initialiser, in type order.
    pub fn initial_cells(&mut self, init: &ast::Init, ty: &Ty, scope: &Rc<Scope>, out: &mut Vec<i64>) -> Res<()> {
        match (init, ty) {
            (ast::Init::List(items, span), _) => {
                let items = self.listed(items, ty, *span)?;
                for (i, item) in items.into_iter().enumerate() {
                    let part = match ty {
                        Ty::Array(_, t) => t,
                        Ty::Struct(fields) => &fields[i].1,
                        ty => ty,
                    };
                    self.initial_cells(item, part, scope, out)?;
                }
                Ok(())
            }
            (ast::Init::Expr(e), Ty::Array(..) | Ty::Struct(_)) if ty.has_clocks() => {
                self.error(e.span, "clocks have no initial value but 0; leave this out")
            }
            (ast::Init::Expr(e), Ty::Clock) => match self.constant(e, scope)? {
                0 => {
                    out.push(0);
                    Ok(())
                }
                n => Err(self.report(
                    Diagnostic::error(e.span, format!("a clock starts at 0, not at {n}"))
                        .help("set it in the update of an edge that leaves a committed initial location"),
                )),
            },
            (ast::Init::Expr(e), Ty::Array(..) | Ty::Struct(_)) => {
                let mut lower = Lower::new(self, scope.clone(), Unit::Constant);
                let place = lower.aggregate(e, ty)?;
                let stmts = lower.stmts;
                let before = self.block(stmts);
                self.known_cells(before, &place, ty, e.span, out)
            }
            (ast::Init::Expr(e), _) => {
                out.push(self.constant_of(e, scope, ty)?);
                Ok(())
            }
        }
    }

    /// The cells of a constant array or struct after some statements, as values of the given type.
    fn known_cells(&mut self, before: StmtId, place: &Place, ty: &Ty, span: Span, out: &mut Vec<i64>) -> Res<()> {
        let (mut values, mut types) = (Vec::new(), Vec::new());
        self.scalars(place, ty, span, &mut values, &mut types)?;
        for (n, ty) in self.known(before, &values, span)?.into_iter().zip(types) {
            let n = if matches!(ty, Ty::Bool) { i64::from(n != 0) } else { n };
            out.push(self.fitting(n, &ty, span)?);
        }
        Ok(())
    }

    /// The scalars of an array or a struct, and of what type each shall be, in type order.
    fn scalars(&mut self, p: &Place, ty: &Ty, span: Span, values: &mut Vec<Value>, types: &mut Vec<Ty>) -> Res<()> {
        self.spend(1, span)?;
        match (&p.ty, ty) {
            (Ty::Array(r, _), Ty::Array(_, t)) => {
                for i in r.lo..r.lo + r.len {
                    let entry = self.constant_entry(p, i);
                    self.scalars(&entry, t, span, values, types)?;
                }
            }
            (Ty::Struct(_), Ty::Struct(fields)) => {
                for ((_, part), (_, t)) in Self::fields(p).iter().zip(fields.iter()) {
                    self.scalars(part, t, span, values, types)?;
                }
            }
            _ => {
                values.push(self.read(p));
                types.push(ty.clone());
            }
        }
        Ok(())
    }

    /// The cells of a variable that is a constant.
    pub fn cells_of(&mut self, place: &Place, span: Span) -> Res<Vec<i64>> {
        let nothing = self.terms().skip();
        let mut cells = Vec::new();
        self.known_cells(nothing, place, &place.ty, span, &mut cells)?;
        Ok(cells)
    }

    pub fn constant_value(&self, v: Value) -> Option<i64> {
        match v.kind {
            Kind::Bool => self.net.terms.as_bool(v.term).map(i64::from),
            _ => self.net.terms.as_int(v.term),
        }
    }

    /// The value of a constant integer expression.
    pub fn constant(&mut self, e: &ast::Expr, scope: &Rc<Scope>) -> Res<i64> {
        self.constant_of(e, scope, &Ty::Int { lo: -(1 << 61), hi: 1 << 61 })
    }

    /// The value of a constant expression that must fit a scalar type.
    pub fn constant_of(&mut self, e: &ast::Expr, scope: &Rc<Scope>, ty: &Ty) -> Res<i64> {
        let mut lower = Lower::new(self, scope.clone(), Unit::Constant);
        let value = lower.value(e)?;
        let value = lower.convert(value, Kind::of(ty), e.span)?;
        let stmts = lower.stmts;
        let before = self.block(stmts);
        let n = self.known(before, &[value], e.span)?[0];
        self.fitting(n, ty, e.span)
    }

    /// The values that terms have after some statements, whatever the state.
    fn known(&mut self, before: StmtId, values: &[Value], span: Span) -> Res<Vec<i64>> {
        let nothing = self.terms().skip();
        let literals: Option<Vec<i64>> = values.iter().map(|v| self.constant_value(*v)).collect();
        if let (Some(literals), true) = (literals, before == nothing) {
            return Ok(literals);
        }
        let (mut vars, written) = self.net.terms.stmt_vars(before);
        vars.extend(written);
        for v in values {
            self.spend_on(before, Some(v.term), span)?;
            vars.extend(self.net.terms.free_vars(v.term));
        }
        if vars.iter().any(|v| self.leaves.get(v).is_none_or(|l| l.shared)) {
            return Err(self.report(
                Diagnostic::error(span, "this must be a constant")
                    .help("use numbers, `const` names and operators only"),
            ));
        }
        let env: Valuation = vars.iter().map(|&v| (v, self.at_first(v))).collect();
        let terms = &self.net.terms;
        let limits = Limits { iterations: MAX_ITERATIONS, ..Limits::default() };
        let compute = || {
            let mut ends = exec(terms, before, State { env, host: NoHost }, limits).map_err(|e| e.to_string())?;
            let end = ends.pop().ok_or("it has no value")?;
            let value = |v: &Value| {
                let value = eval(terms, v.term, &end.env, &mut NoHost).map_err(|f| f.to_string())?;
                value.to_word().ok_or("it is too large".to_string())
            };
            values.iter().map(value).collect::<Result<Vec<i64>, String>>()
        };
        match compute() {
            Ok(known) => Ok(known),
            Err(why) => self.error(span, format!("this constant cannot be computed: {why}")),
        }
    }

    /// What a temporary or a constant holds at first.
    fn at_first(&self, v: VarId) -> trellis_expr::Value {
        use trellis_expr::Value;
        let leaf = &self.leaves[&v];
        let cell = |n: i64| if leaf.is_bool { Value::Bool(n != 0) } else { Value::Int(n.into()) };
        let zero = super::place::default_value(leaf.lo, leaf.hi);
        match self.net.terms.variable(v).ty {
            Type::Array(index, _) => {
                let mut array = ArrayValue::new(&self.net.terms, self.net.terms.type_of_id(index), cell(zero));
                for (i, &n) in leaf.value.iter().flatten().enumerate() {
                    array.set(&Value::Int(i.into()), cell(n));
                }
                Value::Array(array)
            }
            _ => cell(leaf.value.as_ref().and_then(|v| v.first()).copied().unwrap_or(zero)),
        }
    }
}
