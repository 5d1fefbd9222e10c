//! From a definition as it is written to what it says: names become variables by number, types become sorts.
//!
//! An argument of a call that is an expression becomes a variable of its own, for some value of which both the equation and the call
//! hold; if the expression has a value that the relation's argument cannot have, the call does not hold.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{EnumId, Term, TermId, Terms, Type, Value, VarId};
use trellis_model::hierarchy::Domain;
use trellis_model::mec::{Callee, Definition, Fixpoint, Formula, Place, Sort};

use super::{Equation, Known, World, parts};
use crate::altarica::Declared;
use crate::altarica::ast::{BinaryOp, Expr, ExprKind, Name, Segment, TypeName};
use crate::altarica::lower::{Lower, Scope, Tree, describe};
use crate::diag::{Diagnostic, Span};
use crate::text::cursor::unknown;
use crate::text::errors::{Errors, Read, Reported};

/// How many values a domain may have; diagrams do not like more.
const MAX_VALUES: u64 = 4096;

/// All definitions of a system, each with the nodes that it is computed from.
pub fn system(
    world: &World,
    equations: &[Equation],
    mentioned: &[Name],
    errors: &mut Errors,
) -> Read<Vec<(Definition, Vec<String>)>> {
    if let Some(missing) = mentioned.iter().find(|n| !world.nodes.contains_key(&n.text)) {
        return errors.fail(Diagnostic::error(missing.span, format!("there is no node `{}`", missing.text)));
    }
    let declared = world.declared_for(mentioned);
    let mut relations = world.relations.clone();
    let mut nodes: Vec<String> = mentioned.iter().map(|n| n.text.clone()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let only = nodes.first().map(String::as_str).filter(|_| nodes.len() == 1);
    // Signatures first: in a system each may use all others.
    for e in equations {
        if equations.len() > 1 && e.fixpoint == Fixpoint::None {
            let text = "definitions that use each other are fixpoints: `+=` or `-=`";
            return errors.fail(
                Diagnostic::error(e.name.span, text)
                    .help("a relation that is defined by `:=` comes before `begin` or after `end`"),
            );
        }
        let mut resolver = Resolver::new(world, &relations, only, &[], lowering(&declared, errors));
        let arguments = resolver.arguments(e)?;
        if e.fixpoint != Fixpoint::None {
            relations.insert(e.name.text.clone(), Known { arguments, nodes: nodes.clone() });
        }
    }
    // What is defined by `:=` may use an older relation of its name.
    let recursive = equations.iter().filter(|e| e.fixpoint != Fixpoint::None);
    let together: Vec<&str> = recursive.map(|e| e.name.text.as_str()).collect();
    let mut all = vec![];
    for e in equations {
        let mut resolver = Resolver::new(world, &relations, only, &together, lowering(&declared, errors));
        let arguments = resolver.arguments(e)?;
        let formula = resolver.formula(&e.body)?;
        let (places, depth, terms) = (resolver.places, resolver.depth, resolver.lower.terms);
        let (name, fixpoint) = (e.name.text.clone(), e.fixpoint);
        let mut used = nodes.clone();
        used.extend(resolver.used);
        used.sort_unstable();
        used.dedup();
        all.push((Definition { name, arguments, fixpoint, formula, terms, places, depth }, used));
    }
    Ok(all)
}

/// What lowers the expressions of one definition.
fn lowering<'e>(declared: &Declared, errors: &'e mut Errors) -> Lower<'e> {
    let mut terms = Terms::new();
    let literals = terms.declare_enum("literal", declared.literals.clone());
    let mut constants = FxHashMap::default();
    for (name, value) in &declared.constants {
        constants.insert(name.clone(), constant(&mut terms, literals, value));
    }
    let literal_numbers = declared.literals.iter().cloned().zip(0..).collect();
    let (domains, private) = (declared.domains.clone(), FxHashSet::default());
    Lower { terms, literals, literal_numbers, constants, domains, private, errors }
}

/// A value of a model, which has only plain ones.
fn constant(terms: &mut Terms, literals: EnumId, value: &Value) -> TermId {
    match value {
        Value::Bool(b) => terms.bool(*b),
        Value::Enum(_, n) => terms.enum_lit(literals, *n),
        value => terms.int(value.to_word().unwrap_or_default()),
    }
}

/// A variable in scope; an event is no term.
struct Variable {
    name: String,
    sort: Sort,
    tree: Option<Tree<TermId>>,
}

struct Resolver<'r, 'e> {
    world: &'r World,
    lower: Lower<'e>,
    relations: &'r FxHashMap<String, Known>,
    /// The node that the definitions speak of, if it is only one.
    only: Option<&'r str>,
    /// The relations of the system that this is a part of.
    together: &'r [&'r str],
    /// Are we under a negation?
    negated: bool,
    /// By number.
    scope: Vec<Variable>,
    places: FxHashMap<VarId, Place>,
    depth: usize,
    /// Nodes that the relations that are called were computed from.
    used: Vec<String>,
}

impl<'r, 'e> Resolver<'r, 'e> {
    fn new(
        world: &'r World,
        relations: &'r FxHashMap<String, Known>,
        only: Option<&'r str>,
        together: &'r [&'r str],
        lower: Lower<'e>,
    ) -> Resolver<'r, 'e> {
        let (scope, places, used) = (vec![], FxHashMap::default(), vec![]);
        Resolver { world, lower, relations, only, together, negated: false, scope, places, depth: 0, used }
    }

    // Sorts.

    fn sort(&mut self, ty: &TypeName) -> Read<Sort> {
        let node = ty.name.text.clone();
        match (ty.member.as_ref().map(|m| m.text.as_str()), &ty.dom) {
            (Some("c"), _) => Ok(Sort::Configuration(node)),
            (Some("ev"), _) => Ok(Sort::Event(node)),
            (None, Some(dom)) => {
                let Tree::Leaf(domain) = self.lower.dom(&Scope::default(), dom)? else {
                    return self.lower.fail(dom.span, "a variable is a plain value, not an array or a structure");
                };
                match domain.size() {
                    Some(n) if n <= MAX_VALUES => Ok(Sort::Value(domain)),
                    Some(n) => {
                        self.lower.fail(dom.span, format!("this has {n} values; at most {MAX_VALUES} can be handled"))
                    }
                    None => {
                        let d = Diagnostic::error(dom.span, "this has infinitely many values");
                        self.lower.errors.fail(d.help("give bounds, like `[0, 7]`"))
                    }
                }
            }
            _ => {
                let d = Diagnostic::error(ty.name.span, "this is no type of a variable");
                self.lower
                    .errors
                    .push(d.help("`Node!c`, `Node!ev`, `bool`, `[0, 7]`, `{a, b}`, or the name of a domain"));
                Err(Reported)
            }
        }
    }

    /// The arguments of a definition, which are then in scope.
    fn arguments(&mut self, e: &Equation) -> Read<Vec<Sort>> {
        let mut sorts: Vec<Sort> = vec![];
        for (n, (name, ty)) in e.arguments.iter().enumerate() {
            if e.arguments[..n].iter().any(|(other, _)| other.text == name.text) {
                return self.lower.fail(name.span, format!("there are two arguments `{}`", name.text));
            }
            let sort = match ty {
                Some(ty) => self.sort(ty)?,
                None => match self.used_as(&name.text, &e.body) {
                    Some(sort) => sort,
                    None => return self.no_type(name),
                },
            };
            self.enter(&name.text, &sort);
            sorts.push(sort);
        }
        Ok(sorts)
    }

    fn no_type<T>(&mut self, name: &Name) -> Read<T> {
        let d = Diagnostic::error(name.span, format!("what `{}` ranges over is not clear from its use", name.text));
        let example = format!("say so: `{0} : Node!c`, `{0} : bool`, `{0} : [0, 7]`", name.text);
        self.lower.errors.fail(d.help(example))
    }

    /// What a variable must range over: as the first relation says that it is an argument of, or the first variable that it is compared
    /// with; or it has parts, and there is only one node that it can be a configuration of.
    fn used_as(&self, name: &str, e: &Expr) -> Option<Sort> {
        let part = |e: &Expr| matches!(&e.kind, ExprKind::Path(p) if !p.rest.is_empty() && p.first.text == name);
        self.first_use(name, e).or_else(|| {
            let node = self.only.filter(|_| parts(e).into_iter().any(part))?;
            Some(Sort::Configuration(node.into()))
        })
    }

    fn first_use(&self, name: &str, e: &Expr) -> Option<Sort> {
        let is = |a: &Expr| matches!(&a.kind, ExprKind::Path(p) if p.rest.is_empty() && p.first.text == name);
        match &e.kind {
            ExprKind::Not(a) => self.first_use(name, a),
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) if is(a) || is(b) => {
                self.sort_of_value(if is(a) { b } else { a })
            }
            ExprKind::Binary(_, a, b) => self.first_use(name, a).or_else(|| self.first_use(name, b)),
            ExprKind::Quantified(_, names, body) if names.iter().all(|(n, _)| n.text != name) => {
                self.first_use(name, body)
            }
            ExprKind::Apply(callee, arguments) => {
                let at = arguments.iter().position(is)?;
                self.signature(callee)?.1.get(at).cloned()
            }
            _ => None,
        }
    }

    /// What something that a variable is compared with may be.
    fn sort_of_value(&self, e: &Expr) -> Option<Sort> {
        match &e.kind {
            ExprKind::Bool(_) => Some(Sort::Value(Domain::Bool)),
            ExprKind::Path(path) => {
                let variable = &self.scope[self.find(&path.first.text)?];
                if path.rest.is_empty() {
                    return Some(variable.sort.clone());
                }
                let mut tree = variable.tree.as_ref()?;
                for segment in &path.rest {
                    let (Segment::Name(n), Tree::Fields(fields)) = (segment, tree) else { return None };
                    tree = &fields.iter().find(|(f, _)| *f == n.text)?.1;
                }
                let Tree::Leaf(t) = tree else { return None };
                let Term::Var(v) = *self.lower.terms.get(*t) else { return None };
                let Place::Part(node, _, number) = self.places.get(&v)? else { return None };
                let domain = &self.world.nodes.get(node)?.hierarchy.variables.get(*number)?.domain;
                domain.size().is_some_and(|n| n <= MAX_VALUES).then(|| Sort::Value(domain.clone()))
            }
            _ => None,
        }
    }

    fn show(&self, sort: &Sort) -> String {
        self.world.show_sort(sort)
    }

    // Variables.

    fn enter(&mut self, name: &str, sort: &Sort) -> usize {
        let number = self.scope.len();
        let tree = match sort {
            Sort::Event(_) => None,
            Sort::Value(domain) => {
                let v = self.lower.terms.declare(name, self.lower.type_of(domain));
                self.places.insert(v, Place::Value(domain.clone(), number));
                Some(Tree::Leaf(self.lower.terms.var(v)))
            }
            Sort::Configuration(node) => self.world.nodes.get(node).map(|built| {
                let there = &built.hierarchy;
                built.fields().map(&mut |rest, &t| {
                    let (terms, literals) = (&mut self.lower.terms, self.lower.literals);
                    // Parameters have values.
                    if let Some(value) = there.terms.as_value(t) {
                        return constant(terms, literals, &value);
                    }
                    let original = if let Term::Var(v) = *there.terms.get(t) { v.index() } else { usize::MAX };
                    let ty = match there.terms.ty(t) {
                        Type::Enum(_) => Type::Enum(literals),
                        ty => ty,
                    };
                    let v = terms.declare(format!("{name}{rest}"), ty);
                    self.places.insert(v, Place::Part(node.clone(), number, original));
                    terms.var(v)
                })
            }),
        };
        self.scope.push(Variable { name: name.into(), sort: sort.clone(), tree });
        self.depth = self.depth.max(self.scope.len());
        number
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.scope.iter().rposition(|v| v.name == name)
    }

    /// The number of a variable that stands alone.
    fn variable(&self, e: &Expr) -> Option<usize> {
        let ExprKind::Path(path) = &e.kind else { return None };
        self.find(&path.first.text).filter(|_| path.rest.is_empty())
    }

    /// The names that terms may use; the innermost variable of a name is it, and hides others even if terms may not use it.
    fn names(&self) -> Scope {
        let mut names = FxHashMap::default();
        for v in &self.scope {
            match &v.tree {
                Some(tree) => names.insert(v.name.clone(), tree.clone()),
                None => names.remove(&v.name),
            };
        }
        Scope { names }
    }

    // Formulas.

    fn formula(&mut self, e: &Expr) -> Read<Formula> {
        Ok(match &e.kind {
            ExprKind::Not(a) => self.negation(a)?,
            ExprKind::Binary(BinaryOp::And, a, b) => Formula::And(self.formula(a)?.into(), self.formula(b)?.into()),
            ExprKind::Binary(BinaryOp::Or, a, b) => Formula::Or(self.formula(a)?.into(), self.formula(b)?.into()),
            ExprKind::Binary(BinaryOp::Implies, a, b) => Formula::Or(self.negation(a)?.into(), self.formula(b)?.into()),
            ExprKind::Quantified(exists, names, body) => return self.quantified(*exists, names, body),
            ExprKind::Apply(callee, arguments) => return self.apply(callee, arguments, e.span),
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b)
                if self.event(a).is_some() || self.event(b).is_some() =>
            {
                let (Some(x), Some(y)) = (self.event(a), self.event(b)) else {
                    return self.lower.fail(e.span, "an event can only be compared with an event variable");
                };
                let same = Formula::SameEvent(x, y);
                if *op == BinaryOp::Eq { same } else { Formula::Not(same.into()) }
            }
            _ => {
                let names = self.names();
                Formula::Term(self.lower.boolean(&names, e)?)
            }
        })
    }

    fn negation(&mut self, e: &Expr) -> Read<Formula> {
        self.negated = !self.negated;
        let formula = self.formula(e);
        self.negated = !self.negated;
        Ok(Formula::Not(formula?.into()))
    }

    /// The node and the number of an event variable.
    fn event(&self, e: &Expr) -> Option<(String, usize)> {
        let number = self.variable(e)?;
        let Sort::Event(node) = &self.scope[number].sort else { return None };
        Some((node.clone(), number))
    }

    fn quantified(&mut self, exists: bool, names: &[(Name, Option<TypeName>)], body: &Expr) -> Read<Formula> {
        let outside = self.scope.len();
        let mut entered = vec![];
        for (n, (name, ty)) in names.iter().enumerate() {
            let sort = match ty {
                Some(ty) => self.sort(ty)?,
                // As in Mec, the type follows from where the variable is used; if it does not, from the list that it stands in.
                None => match (self.used_as(&name.text, body), names[n..].iter().find_map(|(_, ty)| ty.as_ref())) {
                    (Some(sort), _) => sort,
                    (None, Some(ty)) => self.sort(ty)?,
                    (None, None) => return self.no_type(name),
                },
            };
            entered.push((self.enter(&name.text, &sort), sort));
        }
        let formula = self.formula(body);
        self.scope.truncate(outside);
        let mut formula = formula?;
        for (number, sort) in entered.into_iter().rev() {
            formula = match exists {
                true => Formula::Exists(number, sort, formula.into()),
                false => Formula::Forall(number, sort, formula.into()),
            };
        }
        Ok(formula)
    }

    fn signature(&self, callee: &TypeName) -> Option<(Callee, Vec<Sort>)> {
        let node = callee.name.text.clone();
        let (configuration, event) = (Sort::Configuration(node.clone()), Sort::Event(node.clone()));
        match callee.member.as_ref().map(|m| m.text.as_str()) {
            None => {
                let known = self.relations.get(&node)?;
                Some((Callee::Defined(node), known.arguments.clone()))
            }
            Some("c") => Some((Callee::Configurations(node), vec![configuration])),
            Some("init") => Some((Callee::Initial(node), vec![configuration])),
            Some("ev") => Some((Callee::Events(node), vec![event])),
            Some("t") => Some((Callee::Transitions(node), vec![configuration.clone(), event, configuration])),
            Some(_) => None,
        }
    }

    fn apply(&mut self, callee: &TypeName, arguments: &[Expr], span: Span) -> Read<Formula> {
        let Some((relation, sorts)) = self.signature(callee) else {
            let d = match &callee.member {
                Some(m) => Diagnostic::error(m.span, format!("a node has no relation `!{}`", m.text))
                    .help("there are `!c`, `!ev`, `!init` and `!t`"),
                None => unknown("relation", &callee.name.text, span, self.relations.keys().map(String::as_str)),
            };
            return self.lower.errors.fail(d);
        };
        if let Callee::Defined(name) = &relation {
            if self.negated && self.together.contains(&name.as_str()) {
                let text = match self.together.len() {
                    1 => format!("`{name}` is defined here as a fixpoint, and stands under a negation"),
                    _ => format!("`{name}` is defined together with this, and stands under a negation"),
                };
                let d = Diagnostic::error(span, text);
                return self.lower.errors.fail(d.help("then there need be no fixpoint; define its complement instead"));
            }
            self.used.extend(self.relations.get(name).into_iter().flat_map(|known| known.nodes.clone()));
        }
        if arguments.len() != sorts.len() {
            let text = format!("expected {} arguments, found {}", sorts.len(), arguments.len());
            return self.lower.fail(span, text);
        }
        // Expressions are read before their variables are there, which are nothing that they could speak of.
        let (outside, names) = (self.scope.len(), self.names());
        let (mut numbers, mut given) = (vec![], vec![]);
        for (argument, sort) in arguments.iter().zip(&sorts) {
            match self.variable(argument) {
                Some(number) if self.scope[number].sort == *sort => numbers.push(number),
                _ => {
                    let value = self.argument(&names, argument, sort)?;
                    let number = self.enter(" ", sort);
                    numbers.push(number);
                    given.push((number, sort.clone(), value));
                }
            }
        }
        let mut formula = Formula::Apply(relation, numbers);
        for (number, sort, value) in given.into_iter().rev() {
            let Some(Tree::Leaf(variable)) = self.scope[number].tree.clone() else { return Err(Reported) };
            let equal = Formula::Term(self.lower.terms.eq(variable, value));
            formula = Formula::Exists(number, sort, Formula::And(equal.into(), formula.into()).into());
        }
        self.scope.truncate(outside);
        Ok(formula)
    }

    /// An expression as the argument of a relation.
    fn argument(&mut self, names: &Scope, e: &Expr, sort: &Sort) -> Read<TermId> {
        let Sort::Value(domain) = sort else {
            let asked = self.show(sort);
            let ExprKind::Path(path) = &e.kind else {
                return self.lower.fail(e.span, format!("expected a variable of `{asked}`"));
            };
            return match self.find(&path.first.text) {
                Some(number) if path.rest.is_empty() => {
                    let text = format!(
                        "expected a variable of `{asked}`, and this is one of `{}`",
                        self.show(&self.scope[number].sort)
                    );
                    self.lower.fail(e.span, text)
                }
                Some(_) => self.lower.fail(e.span, format!("expected a variable of `{asked}`")),
                None => {
                    let there_are: FxHashSet<&str> = self.scope.iter().map(|v| v.name.as_str()).collect();
                    let d = unknown("variable", &path.first.text, e.span, there_are);
                    self.lower.errors.fail(d)
                }
            };
        };
        if self.event(e).is_some() {
            return self.lower.fail(e.span, format!("expected a value of `{}`, and this is an event", self.show(sort)));
        }
        let t = self.lower.scalar(names, e)?;
        let (ty, asked) = (self.lower.terms.ty(t), self.lower.type_of(domain));
        if ty != asked && !(ty.is_int() && asked.is_int()) {
            return self.lower.fail(e.span, format!("expected {}, found {}", describe(asked), describe(ty)));
        }
        Ok(t)
    }
}
