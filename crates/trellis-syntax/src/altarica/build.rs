//! From the tree of a file to a hierarchy: one component for each occurrence of a node, with its parameters filled in.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{Term, TermId, Terms, VarId};
use trellis_model::hierarchy::{Component, ComponentId, Domain, Hierarchy, Part, Transition, Variable, Vector};

use super::ast::{self, BinaryOp, Directive, Dom, DomKind, Expr, Item, Name, Node, Path, Segment};
use super::lower::{Lower, Scope, Tree, describe};
use super::{Built, Declared, File};
use crate::diag::{Diagnostic, Severity, Span};
use crate::text::cursor::unknown;
use crate::text::errors::{Errors, Read, Reported};

/// How many components and variables a model may have.
const MAX_PARTS: usize = 100_000;

/// Builds the hierarchy below a node; with warnings, or complaints. Literals that are known have the first numbers.
pub fn build(
    file: &File,
    top: &Name,
    constants: &[(String, i64)],
    known: &[String],
) -> Result<(Built, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut errors = Errors::default();
    let built = Builder::new(file, known, &mut errors).build(top, constants);
    let list = errors.finish();
    match built {
        Ok(built) if !list.iter().any(|d| d.severity == Severity::Error) => Ok((built, list)),
        _ => Err(list),
    }
}

/// The constants and domains of a file that make sense; what does not is told when a node is built.
pub fn declared(file: &File, known: &[String]) -> Declared {
    let mut errors = Errors::default();
    let mut builder = Builder::new(file, known, &mut errors);
    for (number, item) in file.items.iter().enumerate() {
        let _ = builder.item(number, item, &[]);
    }
    let lower = builder.lower;
    Declared::of(&lower.terms, lower.literals, &lower.constants, lower.domains)
}

/// Parameters' values, by sub-node (`P[0]`) and name.
type Params = FxHashMap<(String, String), (Tree<TermId>, Span)>;

struct Builder<'f, 'e> {
    lower: Lower<'e>,
    nodes: FxHashMap<&'f str, &'f Node>,
    /// Nodes that are declared so far.
    order: FxHashMap<&'f str, usize>,
    items: &'f [Item],
    variables: Vec<Variable>,
    components: Vec<Component>,
    /// What components say to other tools.
    directives: Vec<(ComponentId, Directive)>,
}

impl<'f, 'e> Builder<'f, 'e> {
    fn new(file: &'f File, known: &[String], errors: &'e mut Errors) -> Builder<'f, 'e> {
        let mut terms = Terms::new();
        let mut names: Vec<String> = known.to_vec();
        let mut numbers: FxHashMap<String, u32> = names.iter().cloned().zip(0..).collect();
        let mut literal_numbers = FxHashMap::default();
        file.items.iter().for_each(|item| {
            literals(item, &mut |name| {
                let number = *numbers.entry(name.to_string()).or_insert_with(|| {
                    names.push(name.to_string());
                    names.len() as u32 - 1
                });
                literal_numbers.insert(name.to_string(), number);
            })
        });
        let literals = terms.declare_enum("literal", names);
        let lower = Lower {
            terms,
            literals,
            literal_numbers,
            constants: FxHashMap::default(),
            domains: FxHashMap::default(),
            private: FxHashSet::default(),
            errors,
        };
        let (nodes, order) = (FxHashMap::default(), FxHashMap::default());
        let (variables, components, directives) = (vec![], vec![], vec![]);
        Builder { lower, nodes, order, items: &file.items, variables, components, directives }
    }

    fn build(mut self, top: &Name, given: &[(String, i64)]) -> Read<Built> {
        let mut failed = false;
        for (number, item) in self.items.iter().enumerate() {
            failed |= self.item(number, item, given).is_err();
        }
        if let Some((name, _)) = given.iter().find(|(name, _)| !self.lower.constants.contains_key(name)) {
            return self.lower.fail(top.span, format!("--const: there is no constant `{name}`"));
        }
        if failed {
            return Err(Reported);
        }
        let Some(node) = self.nodes.get(top.text.as_str()).copied() else { return self.unknown_node(top) };
        let (component, fields) = self.instance(node, String::new(), &Params::default(), top.span)?;
        let hierarchy = Hierarchy {
            terms: self.lower.terms,
            literals: self.lower.literals,
            variables: self.variables,
            components: self.components,
            top: component,
        };
        Ok(Built {
            hierarchy,
            fields,
            literal_numbers: self.lower.literal_numbers,
            constants: self.lower.constants,
            domains: self.lower.domains,
            directives: self.directives,
        })
    }

    fn unknown_node<T>(&mut self, name: &Name) -> Read<T> {
        let d = unknown("node", &name.text, name.span, self.nodes.keys().copied());
        self.lower.errors.fail(d)
    }

    fn item(&mut self, number: usize, item: &'f Item, given: &[(String, i64)]) -> Read<()> {
        let nothing = Scope::default();
        let lower = &mut self.lower;
        match item {
            Item::Const(c) => {
                let name = &c.name.text;
                if lower.constants.contains_key(name) {
                    return lower.fail(c.name.span, format!("there are two constants `{name}`"));
                }
                let value = match (given.iter().find(|(n, _)| n == name), &c.value) {
                    (Some((_, n)), _) => lower.terms.int(*n),
                    (None, Some(e)) => lower.scalar(&nothing, e)?,
                    (None, None) => {
                        let d = Diagnostic::error(c.name.span, format!("the constant `{name}` has no value"));
                        return lower.errors.fail(d.help(format!("give it one: --const {name}=1")));
                    }
                };
                if lower.terms.as_value(value).is_none() {
                    return lower.fail(c.name.span, format!("the value of `{name}` is not constant"));
                }
                if let Some(dom) = &c.dom {
                    let Tree::Leaf(domain) = lower.dom(&nothing, dom)? else {
                        return lower.fail(dom.span, "constants must be plain values");
                    };
                    self.fits(value, &domain, c.name.span)?;
                }
                self.lower.constants.insert(name.clone(), value);
            }
            Item::Domain(name, dom) => {
                let tree = lower.dom(&nothing, dom)?;
                if lower.domains.insert(name.text.clone(), tree).is_some() {
                    return lower.fail(name.span, format!("there are two domains `{}`", name.text));
                }
            }
            Item::Node(node) => {
                if self.nodes.insert(&node.name.text, node).is_some() {
                    let text = format!("there are two nodes `{}`", node.name.text);
                    return self.lower.fail(node.name.span, text);
                }
                self.order.insert(&node.name.text, number);
            }
            Item::Directive(_) => {}
        }
        Ok(())
    }

    /// Is a constant value in a domain?
    fn fits(&mut self, value: TermId, domain: &Domain, span: Span) -> Read<()> {
        let (ty, expected) = (self.lower.terms.ty(value), self.lower.type_of(domain));
        if ty != expected && !(ty.is_int() && expected.is_int()) {
            return self.lower.fail(span, format!("{} meets {}", describe(expected), describe(ty)));
        }
        let word = self.lower.terms.as_value(value).map(|v| v.to_word());
        match word {
            Some(Some(n)) if domain.contains(n) => Ok(()),
            None => Ok(()),
            Some(_) => self.lower.fail(span, "this value is not in the domain"),
        }
    }

    // Components.

    fn instance(
        &mut self,
        node: &'f Node,
        path: String,
        params: &Params,
        used: Span,
    ) -> Read<(ComponentId, Tree<TermId>)> {
        if self.components.len() + self.variables.len() > MAX_PARTS {
            self.lower.errors.stop(Diagnostic::error(used, "the model has too many components or variables"));
            return Err(Reported);
        }
        let mut scope = Scope::default();
        self.parameters(node, params, used, &mut scope)?;

        // Sub-nodes first: components below come before those above.
        let mut subs: Vec<(String, ComponentId)> = vec![];
        let settings = self.param_set(node, &scope)?;
        let mut fields = vec![];
        for declared in &node.subs {
            let Some(sub) = self.nodes.get(declared.node.text.as_str()).copied() else {
                return self.unknown_node(&declared.node);
            };
            if self.order[sub.name.text.as_str()] >= self.order[node.name.text.as_str()] {
                let text = format!("`{}` must be declared before it is used", sub.name.text);
                return self.lower.fail(declared.node.span, text);
            }
            let shape = self.lower.array(&scope, Tree::Leaf(()), &declared.sizes)?;
            for name in &declared.names {
                let mut broken = false;
                let tree = shape.map(&mut |index, ()| {
                    let local = format!("{}{index}", name.text);
                    let below: Params = settings
                        .iter()
                        .filter(|((sub, _), _)| *sub == local)
                        .map(|((_, p), value)| ((String::new(), p.clone()), value.clone()))
                        .collect();
                    let full = if path.is_empty() { local.clone() } else { format!("{path}.{local}") };
                    let made =
                        if broken { Err(Reported) } else { self.instance(sub, full, &below, declared.node.span) };
                    match made {
                        Ok((c, fields)) => {
                            subs.push((local, c));
                            fields
                        }
                        Err(Reported) => {
                            broken = true;
                            Tree::Fields(vec![])
                        }
                    }
                });
                if broken {
                    return Err(Reported);
                }
                let tree = grafted(tree);
                self.declare(&mut scope, name, tree.clone())?;
                fields.push((name.text.clone(), tree));
            }
        }

        let unused = settings.iter().find(|((sub, _), _)| !subs.iter().any(|(name, _)| name == sub));
        if let Some(((sub, _), (_, span))) = unused {
            let d = unknown("sub-node", sub, *span, subs.iter().map(|(n, _)| &**n));
            return self.lower.errors.fail(d);
        }
        let id = ComponentId(self.components.len() as u32);
        // Its place is taken now, so that variables know their owner; the rest is filled in below.
        let mut component = Component {
            path: path.clone(),
            node: node.name.text.clone(),
            variables: vec![],
            subs: subs.iter().map(|(_, c)| *c).collect(),
            events: vec![String::new()],
            priorities: vec![],
            transitions: vec![],
            assertion: vec![],
            init: vec![],
            vectors: vec![],
        };
        self.components.push(component.clone());
        self.directives.extend(node.directives.iter().map(|d| (id, d.clone())));
        for (vars, flow) in node.states.iter().map(|v| (v, false)).chain(node.flows.iter().map(|v| (v, true))) {
            let dom = self.lower.dom(&scope, &vars.dom)?;
            let visible = |a: &Name| a.text.eq_ignore_ascii_case("public") || a.text.eq_ignore_ascii_case("parent");
            let private = !flow && !vars.attributes.iter().any(visible);
            for name in &vars.names {
                let tree = self.variable(&mut component, id, &path, name, &dom, flow, private);
                self.declare(&mut scope, name, tree.clone())?;
                fields.push((name.text.clone(), tree));
            }
        }
        self.events(node, &mut component)?;
        let done = [
            self.transitions(node, &scope, &mut component, id),
            self.assertions(node, &scope, &mut component),
            self.init(node, &scope, &mut component),
            self.vectors(node, &scope, &subs, &mut component),
        ];
        done.into_iter().collect::<Read<()>>()?;
        self.components[id.index()] = component;
        Ok((id, Tree::Fields(fields)))
    }

    fn declare(&mut self, scope: &mut Scope, name: &Name, tree: Tree<TermId>) -> Read<()> {
        match scope.names.insert(name.text.clone(), tree) {
            None => Ok(()),
            Some(_) => self.lower.fail(name.span, format!("there are two things called `{}`", name.text)),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn variable(
        &mut self,
        component: &mut Component,
        owner: ComponentId,
        path: &str,
        name: &Name,
        dom: &Tree<Domain>,
        flow: bool,
        private: bool,
    ) -> Tree<TermId> {
        let prefix = if path.is_empty() { name.text.clone() } else { format!("{path}.{}", name.text) };
        dom.map(&mut |rest, domain| {
            let full = format!("{prefix}{rest}");
            let v = self.lower.terms.declare(full.clone(), self.lower.type_of(domain));
            self.variables.push(Variable { name: full, domain: domain.clone(), flow, owner });
            component.variables.push(v);
            if private {
                self.lower.private.insert(v);
            }
            self.lower.terms.var(v)
        })
    }

    fn parameters(&mut self, node: &Node, params: &Params, used: Span, scope: &mut Scope) -> Read<()> {
        let mut known = FxHashSet::default();
        for vars in &node.params {
            let dom = self.lower.dom(scope, &vars.dom)?;
            for name in &vars.names {
                known.insert(name.text.as_str());
                let Some((value, span)) = params.get(&(String::new(), name.text.clone())) else {
                    let text = format!("the parameter `{}` of `{}` has no value", name.text, node.name.text);
                    let d = Diagnostic::error(used, text);
                    return self
                        .lower
                        .errors
                        .fail(d.help("set it where the node is used: `param_set Sub.name := value`"));
                };
                let (value, span) = (value.clone(), *span);
                let (leaves, domains) = (value.leaves(), dom.leaves());
                if leaves.len() != domains.len() {
                    return self.lower.fail(span, "the value and the parameter have different structures");
                }
                let pairs: Vec<(TermId, Domain)> =
                    leaves.iter().zip(domains).map(|(v, d)| (*v.1, d.1.clone())).collect();
                for (v, d) in pairs {
                    self.fits(v, &d, span)?;
                }
                self.declare(scope, name, value)?;
            }
        }
        if let Some(((_, name), (_, span))) = params.iter().find(|((_, name), _)| !known.contains(name.as_str())) {
            return self.lower.fail(*span, format!("`{}` has no parameter `{name}`", node.name.text));
        }
        Ok(())
    }

    fn param_set(&mut self, node: &Node, scope: &Scope) -> Read<Params> {
        let mut all = Params::default();
        for (path, e) in &node.param_set {
            let value = self.lower.value(scope, e)?;
            if value.leaves().iter().any(|(_, t)| self.lower.terms.as_value(**t).is_none()) {
                return self.lower.fail(e.span, "the value of a parameter must be a constant");
            }
            let (sub, name) = self.sub_and_name(scope, path, "a parameter of a sub-node")?;
            if !node.subs.iter().flat_map(|s| &s.names).any(|n| n.text == path.first.text) {
                return self.lower.fail(path.first.span, format!("there is no sub-node `{}`", path.first.text));
            }
            if all.insert((sub, name.text.clone()), (value, path.span)).is_some() {
                return self.lower.fail(path.span, "this parameter is set twice");
            }
        }
        Ok(all)
    }

    /// `P[0].name`: the sub-node as it is named in its parent, and the name behind it.
    fn sub_and_name(&mut self, scope: &Scope, path: &Path, what: &str) -> Read<(String, Name)> {
        let Some((Segment::Name(name), indices)) = path.rest.split_last() else {
            return self.lower.fail(path.span, format!("expected {what}"));
        };
        let mut sub = path.first.text.clone();
        for segment in indices {
            match segment {
                Segment::Index(e) => sub += &format!("[{}]", self.lower.constant(scope, e)?),
                Segment::Name(n) => {
                    return self.lower.fail(n.span, format!("expected {what}, not something further down"));
                }
            }
        }
        Ok((sub, name.clone()))
    }

    // What happens.

    fn events(&mut self, node: &Node, component: &mut Component) -> Read<()> {
        let mut pairs: Vec<(usize, usize, Span)> = vec![];
        // Events may be named as often as they are ordered, but declared once.
        let mut declared = FxHashSet::default();
        for prio in &node.events {
            let plain = prio.groups.iter().flatten().filter(|_| prio.lower.is_empty());
            for name in plain {
                if !declared.insert(&name.text) {
                    return self.lower.fail(name.span, format!("the event `{}` is declared twice", name.text));
                }
            }
            let mut groups: Vec<Vec<(usize, Span)>> = vec![];
            for group in &prio.groups {
                let mut numbers = vec![];
                for name in group {
                    let number = component.events.iter().position(|e| *e == name.text).unwrap_or_else(|| {
                        component.events.push(name.text.clone());
                        component.events.len() - 1
                    });
                    numbers.push((number, name.span));
                }
                groups.push(numbers);
            }
            for (i, lower) in prio.lower.iter().enumerate() {
                for a in &groups[i] {
                    for b in &groups[i + 1] {
                        let (low, high) = if *lower { (a, b) } else { (b, a) };
                        pairs.push((low.0, high.0, a.1.to(b.1)));
                    }
                }
            }
        }
        let n = component.events.len();
        let mut below = vec![vec![false; n]; n];
        for &(a, b, span) in &pairs {
            if below[b][a] || a == b {
                return self.lower.fail(span, "these priorities go round in a circle");
            }
            for x in 0..n {
                for y in 0..n {
                    if (x == a || below[x][a]) && (y == b || below[b][y]) {
                        below[x][y] = true;
                    }
                }
            }
        }
        let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        component.priorities = all.filter(|&(a, b)| below[a][b]).collect();
        Ok(())
    }

    fn event(&mut self, component: &Component, name: &Name) -> Read<usize> {
        match component.events.iter().position(|e| *e == name.text) {
            Some(n) => Ok(n),
            None => {
                let there_are = component.events.iter().skip(1).map(String::as_str);
                let what = format!("event of `{}`", component.node);
                self.lower.errors.fail(unknown(&what, &name.text, name.span, there_are))
            }
        }
    }

    fn transitions(&mut self, node: &Node, scope: &Scope, component: &mut Component, id: ComponentId) -> Read<()> {
        for trans in &node.trans {
            let guard = self.lower.boolean(scope, &trans.guard)?;
            for branch in &trans.branches {
                let mut updates: Vec<(VarId, TermId)> = vec![];
                for (path, e) in &branch.updates {
                    for (v, t) in self.assigned(scope, path, e)? {
                        let variable = &self.variables[v.index()];
                        if variable.owner != id {
                            return self
                                .lower
                                .fail(path.span, "a transition can assign only to variables of its own node");
                        }
                        if updates.iter().any(|(w, _)| *w == v) {
                            return self.lower.fail(path.span, "this variable is assigned twice");
                        }
                        updates.push((v, t));
                    }
                }
                for name in &branch.events {
                    let event = self.event(component, name)?;
                    component.transitions.push(Transition { event, guard, updates: updates.clone() });
                }
            }
        }
        Ok(())
    }

    /// State variables, and what is assigned to them.
    fn assigned(&mut self, scope: &Scope, path: &Path, e: &Expr) -> Read<Vec<(VarId, TermId)>> {
        let target = self.lower.path(scope, path)?;
        let value = self.lower.value(scope, e)?;
        let pairs = self.lower.pairs(&target, &value, path.span.to(e.span))?;
        let mut all = vec![];
        for (variable, value) in pairs {
            let Term::Var(v) = *self.lower.terms.get(variable) else {
                return self.lower.fail(path.span, "only variables can be assigned to");
            };
            if self.variables[v.index()].flow {
                let text =
                    format!("`{}` is a flow; only state variables are assigned to", self.variables[v.index()].name);
                return self.lower.fail(path.span, text);
            }
            all.push((v, value));
        }
        Ok(all)
    }

    fn assertions(&mut self, node: &Node, scope: &Scope, component: &mut Component) -> Read<()> {
        for e in &node.asserts {
            component.assertion.push(self.lower.boolean(scope, e)?);
        }
        Ok(())
    }

    fn init(&mut self, node: &Node, scope: &Scope, component: &mut Component) -> Read<()> {
        for (path, e) in &node.init {
            for (v, value) in self.assigned(scope, path, e)? {
                let domain = self.variables[v.index()].domain.clone();
                self.fits(value, &domain, e.span)?;
                if component.init.iter().any(|(w, _)| *w == v) {
                    return self.lower.fail(path.span, "this variable is initialised twice");
                }
                component.init.push((v, value));
            }
        }
        Ok(())
    }

    fn vectors(
        &mut self,
        node: &Node,
        scope: &Scope,
        subs: &[(String, ComponentId)],
        component: &mut Component,
    ) -> Read<()> {
        for vector in &node.sync {
            let mut parts: Vec<Part> = vec![];
            for (path, optional) in &vector.parts {
                let part = self.part(scope, path, subs, component, *optional)?;
                if parts.iter().any(|p| p.sub == part.sub) {
                    return self.lower.fail(path.span, "a node takes part in a vector only once");
                }
                parts.push(part);
            }
            let optional = parts.iter().filter(|p| p.optional).count();
            let count = self.count(scope, vector, optional)?;
            component.vectors.push(Vector { parts, count });
        }
        Ok(())
    }

    fn part(
        &mut self,
        scope: &Scope,
        path: &Path,
        subs: &[(String, ComponentId)],
        component: &Component,
        optional: bool,
    ) -> Read<Part> {
        if path.rest.is_empty() {
            let event = self.event(component, &path.first)?;
            return Ok(Part { sub: None, event, optional });
        }
        let (sub, name) = self.sub_and_name(scope, path, "an event, or an event of a sub-node")?;
        let Some(at) = subs.iter().position(|(n, _)| *n == sub) else {
            let d = unknown("sub-node", &sub, path.span, subs.iter().map(|(n, _)| &**n));
            return self.lower.errors.fail(d);
        };
        let below = self.components[subs[at].1.index()].clone();
        Ok(Part { sub: Some(at), event: self.event(&below, &name)?, optional })
    }

    fn count(&mut self, scope: &Scope, vector: &ast::Vector, optional: usize) -> Read<(usize, usize)> {
        let Some((op, e)) = &vector.constraint else { return Ok((0, optional)) };
        let n = self.lower.constant(scope, e)?;
        let (low, high) = match op {
            BinaryOp::Eq => (n, n),
            BinaryOp::Lt => (0, n.saturating_sub(1)),
            BinaryOp::Le => (0, n),
            BinaryOp::Gt => (n.saturating_add(1), i64::MAX),
            _ => (n, i64::MAX),
        };
        let most = i64::try_from(optional).unwrap_or(i64::MAX);
        let (low, high) = (low.max(0), high.min(most));
        if low > high {
            return self.lower.fail(e.span, format!("with {optional} events that may take part, this can never be"));
        }
        let count = |n: i64| usize::try_from(n).unwrap_or(0);
        let (low, high) = (count(low), count(high));
        Ok((low, high))
    }
}

/// A tree whose leaves are trees, as one tree.
fn grafted(tree: Tree<Tree<TermId>>) -> Tree<TermId> {
    match tree {
        Tree::Leaf(inner) => inner,
        Tree::Array(list) => Tree::Array(list.into_iter().map(grafted).collect()),
        Tree::Fields(list) => Tree::Fields(list.into_iter().map(|(f, t)| (f, grafted(t))).collect()),
    }
}

/// All literals in the domains of an item.
fn literals(item: &Item, found: &mut impl FnMut(&str)) {
    match item {
        Item::Const(c) => c.dom.iter().for_each(|d| literals_of(d, found)),
        Item::Domain(_, d) => literals_of(d, found),
        Item::Node(node) => {
            let vars = node.states.iter().chain(&node.flows).chain(&node.params);
            vars.for_each(|v| literals_of(&v.dom, found));
        }
        Item::Directive(_) => {}
    }
}

/// All literals in a domain.
pub fn literals_of(d: &Dom, found: &mut impl FnMut(&str)) {
    match &d.kind {
        DomKind::Enum(names) => names.iter().for_each(|n| found(&n.text)),
        DomKind::Struct(fields) => fields.iter().for_each(|(_, d)| literals_of(d, found)),
        DomKind::Array(base, _) => literals_of(base, found),
        _ => {}
    }
}
