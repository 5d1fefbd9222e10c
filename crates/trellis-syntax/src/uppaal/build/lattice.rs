//! Lattices in models: `extern` types, lattice variables, and the methods that guards and updates call on them (000 §2).

use std::rc::Rc;
use std::sync::Arc;

use trellis_domain::script::{Class, ScriptLattice};
use trellis_expr::{FnId, StmtId, TermId};
use trellis_model::network::{Function, LatticeVar};
use trellis_order::lattice::library::{self, Arg};
use trellis_order::{Lattice, MethodKind, Shape};

use super::expr::{Denotes, Lower};
use super::scope::{Entity, Kind, Scope, Value, closest_of};
use super::types::{Range, Ty};
use super::{Builder, Reported, Res, ast};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use crate::text::errors::count;
use ast::{BinOp, Expr, ExprKind};

/// How many elements are drawn when a user's lattice is audited on load.
const AUDIT_SAMPLES: usize = 24;

/// More arguments than this are a mistake.
const MAX_ARGS: usize = 1 << 12;

/// A larger script is a mistake.
const MAX_SCRIPT: u64 = 1 << 20;

/// An `extern` type.
#[derive(Debug)]
pub(crate) struct LatticeDef {
    pub name: String,
    /// Where it is brought in.
    span: Span,
    origin: Origin,
}

#[derive(Debug, Clone)]
enum Origin {
    Library(String, Vec<Arg>),
    /// A script: its file's name and text.
    Script(String, String),
    /// A lattice that the user has brought along.
    Brought(Arc<dyn Class>),
}

/// A lattice value: which lattice, and at which word of the element it starts.
#[derive(Debug, Clone)]
pub(crate) struct LatticePlace {
    pub lattice: Arc<dyn Lattice>,
    pub offset: TermId,
}

/// What makes two foreign functions the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum FnKey {
    /// A lattice of the library is what its name says; two scripts may have the same name, so theirs is their place in memory.
    Method(String, usize, usize),
    GetBit(usize),
    SetBit(usize),
    Copy(usize),
}

fn method_key(lattice: &Arc<dyn Lattice>, method: usize) -> FnKey {
    let place = if lattice.is_vouched_for() { 0 } else { Arc::as_ptr(lattice).cast::<()>() as usize };
    FnKey::Method(lattice.name(), place, method)
}

/// The methods of a lattice, for messages.
pub(crate) fn method_list(l: &dyn Lattice) -> String {
    let all: Vec<String> =
        l.methods().iter().map(|m| format!("{}({})", m.name, vec!["_"; m.args].join(", "))).collect();
    if all.is_empty() { "it has none".into() } else { all.join(", ") }
}

/// How many entries `x[i]` can pick from, if it can.
pub(crate) fn entries(l: &dyn Lattice) -> Option<usize> {
    match l.shape() {
        Shape::Bits(n) | Shape::Vector(n, _) => Some(n),
        _ => None,
    }
}

impl Builder<'_> {
    pub fn extern_lattice(
        &mut self,
        name: &ast::Ident,
        def: Option<&Expr>,
        file: Option<&(String, Span)>,
        span: Span,
        scope: &Rc<Scope>,
    ) -> Res<LatticeDef> {
        let origin = match (def, file) {
            (_, Some((file, at))) => self.script(file, *at)?,
            (Some(e), None) => self.lattice_origin(e, scope)?,
            // Whoever brings a lattice along means it, whatever the library has under its name.
            (None, None) if self.options.brought.class(&name.name).is_some() => self.brought(&name.name),
            (None, None) if library::catalogue().iter().any(|e| e.name == name.name) => {
                Origin::Library(name.name.clone(), Vec::new())
            }
            (None, None) => {
                let file = format!("{}.lua", name.name);
                if !self.options.folders.folder.join(&file).is_file() {
                    let names = library::catalogue().iter().map(|e| e.name.to_string());
                    let what = shorten(&name.name);
                    let what = format!(
                        "there is no lattice `{what}` in the library, and no file `{what}.lua` beside the model"
                    );
                    let d = Diagnostic::error(name.span, what);
                    let d = d.meant_or(
                        closest_of(&name.name, names.clone()),
                        format!("the library has {}", names.collect::<Vec<_>>().join(", ")),
                    );
                    return Err(self.report(d));
                }
                self.script(&file, name.span)?
            }
        };
        Ok(LatticeDef { name: name.name.clone(), span, origin })
    }

    /// What stands behind `extern L =`.
    fn lattice_origin(&mut self, e: &Expr, scope: &Rc<Scope>) -> Res<Origin> {
        if let ExprKind::Name(n) = &e.kind {
            match scope.find(n) {
                Some(Entity::Type(Ty::Lattice(def))) => return Ok(def.origin.clone()),
                Some(Entity::Broken) => return Err(Reported),
                _ => {}
            }
        }
        let (name, args) = self.lattice_expr(e, scope)?;
        // What is wrong with it is said here, even if no variable uses it. Without arguments, its size may still come
        // from an array.
        if !args.is_empty() || !library::catalogue().iter().any(|e| e.name == name) {
            self.lattice_from(&name, &args, e.span)?;
        }
        Ok(Origin::Library(name, args))
    }

    /// A lattice that the user has brought along, which there is.
    fn brought(&mut self, name: &str) -> Origin {
        let class = self.options.brought.class(name).expect("it has been looked for").clone();
        self.read.push((class.file().to_string(), class.text().to_string()));
        Origin::Brought(class)
    }

    fn lattice_from(&mut self, name: &str, args: &[Arg], span: Span) -> Res<Arc<dyn Lattice>> {
        library::build(name, args, None).or_else(|why| self.error(span, why.to_string()))
    }

    fn script(&mut self, file: &str, at: Span) -> Res<Origin> {
        let path = self.options.folders.folder.join(file);
        if !self.options.folders.has(&path) {
            return Err(self.report(self.options.folders.refusal(file, at)));
        }
        let shown = shorten(file);
        // Not a device or a pipe: reading it might never end.
        match std::fs::metadata(&path) {
            Ok(m) if !m.is_file() => return self.error(at, format!("`{shown}` is not a file")),
            Ok(m) if m.len() > MAX_SCRIPT => {
                return self.error(at, format!("`{shown}` is larger than {MAX_SCRIPT} bytes"));
            }
            _ => {}
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                self.read.push((file.to_string(), text.clone()));
                Ok(Origin::Script(file.to_string(), text))
            }
            Err(e) => Err(self.report(
                Diagnostic::error(at, format!("cannot read `{shown}`: {e}"))
                    .help("its place is taken from the folder of the model"),
            )),
        }
    }

    /// `Product(Sign, Parity)`: the name and its arguments.
    fn lattice_expr(&mut self, e: &Expr, scope: &Rc<Scope>) -> Res<(String, Vec<Arg>)> {
        match &e.kind {
            ExprKind::Name(n) => Ok((n.clone(), Vec::new())),
            ExprKind::Call(f, args) => {
                let ExprKind::Name(n) = &f.kind else {
                    return self.error(f.span, "the name of a lattice is needed here");
                };
                if args.len() > MAX_ARGS {
                    return self.error(e.span, format!("a lattice with more than {MAX_ARGS} arguments"));
                }
                let mut out = Vec::new();
                for a in args {
                    out.push(self.lattice_arg(a, scope)?);
                }
                Ok((n.clone(), out))
            }
            _ => self.error(e.span, "a lattice is needed here: `Name` or `Name(arguments)`"),
        }
    }

    fn lattice_arg(&mut self, e: &Expr, scope: &Rc<Scope>) -> Res<Arg> {
        match &e.kind {
            ExprKind::Binary(BinOp::Lt, a, b) => match (&a.kind, &b.kind) {
                (ExprKind::Name(a), ExprKind::Name(b)) => Ok(Arg::Less(a.clone(), b.clone())),
                _ => self.error(e.span, "a pair of names is needed: `low < high`"),
            },
            ExprKind::Name(n) => match scope.find(n) {
                Some(Entity::Type(Ty::Lattice(def))) => Ok(Arg::Lattice(self.instantiate(&def, None, e.span)?)),
                Some(Entity::Const(_)) => Ok(Arg::Int(self.constant(e, scope)?)),
                Some(Entity::Broken) => Err(Reported),
                _ => Ok(Arg::Name(n.clone())),
            },
            ExprKind::Call(..) => {
                let (name, args) = self.lattice_expr(e, scope)?;
                Ok(Arg::Lattice(self.lattice_from(&name, &args, e.span)?))
            }
            _ => Ok(Arg::Int(self.constant(e, scope)?)),
        }
    }

    fn instantiate(&mut self, def: &LatticeDef, array: Option<usize>, span: Span) -> Res<Arc<dyn Lattice>> {
        let size = array.unwrap_or(1);
        let key = match &def.origin {
            Origin::Library(name, args) => {
                return library::build(name, args, array).or_else(|why| self.error(span, why.to_string()));
            }
            Origin::Script(file, _) => (file.clone(), size),
            Origin::Brought(class) => (format!("{}: {}", class.file(), def.name), size),
        };
        if let Some(known) = self.scripts.get(&key) {
            return Ok(known.clone());
        }
        let lattice = match &def.origin {
            Origin::Brought(class) => ScriptLattice::of_class(&def.name, &**class, size),
            Origin::Script(file, text) => ScriptLattice::parse(file, text, size),
            Origin::Library(..) => unreachable!("that was answered before"),
        };
        let lattice = match lattice {
            Ok(l) => l,
            Err(why) => return self.error(def.span, format!("lattice `{}`: {why}", shorten(&def.name))),
        };
        if let Err(why) = lattice.audit(AUDIT_SAMPLES, 1) {
            return Err(self.report(
                Diagnostic::error(def.span, format!("`{}` is not a lattice: {why}", shorten(&def.name)))
                    .help("without the laws no verdict could be trusted; mend `leq` or `join`"),
            ));
        }
        let lattice: Arc<dyn Lattice> = Arc::new(lattice);
        self.scripts.insert(key, lattice.clone());
        Ok(lattice)
    }

    /// The lattice of a variable of type `def`, or of an array of them: `ty` is its type with the dimensions.
    pub fn lattice_of(&mut self, def: &LatticeDef, ty: &Ty, span: Span) -> Res<Arc<dyn Lattice>> {
        let mut sizes = Vec::new();
        let mut ty = ty;
        while let Ty::Array(Range { lo, len, .. }, inner) = ty {
            if *lo != 0 {
                return self.error(span, "lattice vectors are indexed from 0");
            }
            sizes.push(*len as usize);
            ty = inner;
        }
        let mut lattice = self.instantiate(def, sizes.pop(), span)?;
        for n in sizes.into_iter().rev() {
            lattice = self.lattice_from("Vector", &[Arg::Lattice(lattice), Arg::Int(n as i64)], span)?;
        }
        Ok(lattice)
    }

    pub fn declare_lattice(
        &mut self,
        name: &str,
        def: &Rc<LatticeDef>,
        d: &ast::Declarator,
        scope: &Rc<Scope>,
    ) -> Res<LatticePlace> {
        let ty = self.with_dims(Ty::Lattice(def.clone()), &d.dims, scope, d.name.span)?;
        let lattice = self.lattice_of(def, &ty, d.name.span)?;
        self.spend_cells(lattice.width() as i64, d.name.span)?;
        let mut init = vec![0; lattice.width()];
        lattice.initial(&mut init);
        match (&d.init, lattice.shape()) {
            (None, _) => {}
            (Some(ast::Init::List(items, span)), Shape::Bits(n)) if lattice.packed_bits() => {
                if items.len() != n {
                    return self.error(*span, format!("{} bits for a vector of {n}", items.len()));
                }
                init.fill(0);
                for (i, (_, item)) in items.iter().enumerate() {
                    let ast::Init::Expr(e) = item else { return self.error(*span, "a bit is 0 or 1") };
                    let bit = self.constant_of(e, scope, &Ty::Int { lo: 0, hi: 1 })?;
                    init[i / 64] |= (bit as u64) << (i % 64);
                }
            }
            (Some(ast::Init::List(_, span)), _) => {
                return self.error(*span, "only bit vectors can be initialised here; use an update in a first step");
            }
            (Some(ast::Init::Expr(e)), _) => {
                return self.error(
                    e.span,
                    "a lattice variable has no initialiser of this kind; use an update in a first step",
                );
            }
        }
        let offset = self.net.element_width();
        self.net.lattices.push(LatticeVar { name: name.to_string(), lattice: lattice.clone(), offset, init });
        Ok(LatticePlace { lattice, offset: self.int(offset as i64) })
    }

    /// `x[i]`.
    pub fn lattice_entry(&mut self, l: LatticePlace, i: TermId) -> Denotes {
        let (len, inner) = match l.lattice.shape() {
            Shape::Vector(n, inner) => (n, inner.clone()),
            _ => return Denotes::Bit(l, i),
        };
        let i = self.terms().checked(i, 0, len as i64 - 1);
        let width = self.int(inner.width() as i64);
        let at = self.terms().mul(i, width);
        let offset = self.terms().add([l.offset, at]);
        Denotes::Lattice(LatticePlace { lattice: inner, offset })
    }

    /// `x.name`.
    pub fn lattice_field(&mut self, l: LatticePlace, f: &ast::Ident) -> Res<Denotes> {
        let found = match l.lattice.shape() {
            Shape::Fields(fields) => fields.iter().find(|(n, ..)| *n == f.name).map(|(_, at, l)| (*at, l.clone())),
            _ => None,
        };
        let Some((at, lattice)) = found else {
            let d = Diagnostic::error(f.span, format!("`{}` has no part `{}`", l.lattice.name(), shorten(&f.name)));
            return Err(self.report(d.help(format!("its methods: {}", method_list(&*l.lattice)))));
        };
        let at = self.int(at as i64);
        let offset = self.terms().add([l.offset, at]);
        Ok(Denotes::Lattice(LatticePlace { lattice, offset }))
    }

    fn function(&mut self, key: FnKey, make: impl FnOnce() -> Function) -> FnId {
        if let Some(&f) = self.functions.get(&key) {
            return f;
        }
        let f = FnId(self.net.functions.len() as u32);
        self.net.functions.push(make());
        self.functions.insert(key, f);
        f
    }

    pub fn get_bit(&mut self, l: &LatticePlace, i: TermId) -> Value {
        let f = self.bit_function(l, 0);
        Value { term: self.terms().foreign(f, [l.offset, i]), kind: Kind::Int }
    }

    pub fn set_bit(&mut self, l: &LatticePlace, i: TermId, v: TermId) -> StmtId {
        let f = self.bit_function(l, 1);
        self.terms().call(f, [l.offset, i, v])
    }

    /// Methods 0 and 1 of a lattice of bits are `get` and `set`; where bits are simply packed there are quicker ways.
    fn bit_function(&mut self, l: &LatticePlace, method: usize) -> FnId {
        let lattice = l.lattice.clone();
        match (lattice.shape(), lattice.packed_bits(), method) {
            (Shape::Bits(n), true, 0) => self.function(FnKey::GetBit(n), || Function::GetBit(n)),
            (Shape::Bits(n), true, _) => self.function(FnKey::SetBit(n), || Function::SetBit(n)),
            _ => {
                let key = method_key(&lattice, method);
                self.function(key, || Function::Method { lattice: lattice.clone(), method })
            }
        }
    }

    pub fn copy_lattice(&mut self, to: &LatticePlace, from: &LatticePlace) -> StmtId {
        let n = to.lattice.width();
        let f = self.function(FnKey::Copy(n), || Function::Copy(n));
        self.terms().call(f, [to.offset, from.offset])
    }
}

impl Lower<'_, '_> {
    /// `v.method(args)`.
    pub fn method(&mut self, l: LatticePlace, name: &ast::Ident, args: &[Expr]) -> Res<Denotes> {
        let lattice = l.lattice.clone();
        let shown = shorten(&name.name);
        let Some(number) = lattice.methods().iter().position(|m| m.name == name.name) else {
            let names = lattice.methods().iter().map(|m| m.name.clone());
            let d = Diagnostic::error(name.span, format!("`{}` has no method `{shown}`", lattice.name()));
            let near = closest_of(&name.name, names);
            return Err(self.b.report(d.meant_or(near, format!("it has {}", method_list(&*lattice)))));
        };
        let method = &lattice.methods()[number];
        if method.args != args.len() {
            let takes = count(method.args, "argument");
            return self.err(name.span, format!("`{shown}` takes {takes}, not {}", args.len()));
        }
        // The value's own place, then the arguments, from left to right.
        let mut values = vec![Value { term: l.offset, kind: Kind::Int }];
        for a in args {
            let mark = self.stmts.len();
            let named = match &a.kind {
                ExprKind::Name(n) => lattice.names().iter().position(|m| m == n),
                _ => None,
            };
            let term = match named {
                Some(i) => self.b.int(i as i64),
                None => self.integer(a)?,
            };
            for v in &mut values {
                v.term = self.held(mark, *v);
            }
            values.push(Value { term, kind: Kind::Int });
        }
        let terms = values.into_iter().map(|v| v.term);
        let key = method_key(&lattice, number);
        let f = self.b.function(key, || Function::Method { lattice: lattice.clone(), method: number });
        match method.kind {
            MethodKind::Query => Ok(Value { term: self.b.terms().foreign(f, terms), kind: Kind::Int }.into()),
            MethodKind::Update => {
                self.may_change_lattice(name.span)?;
                let s = self.b.terms().call(f, terms);
                self.stmts.push(s);
                Ok(Denotes::Nothing)
            }
        }
    }
}
