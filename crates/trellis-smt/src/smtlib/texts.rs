//! Texts of SMT-LIB terms, shared: equal texts are one, a part is always older than its whole.

use dashu_int::IBig;
use rustc_hash::FxHashMap;
use trellis_expr::Type;

/// A text's number.
pub type TextId = usize;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Text {
    Atom(String),
    /// A head, which may be a list itself, such as `(_ extract 3 0)`; and its arguments.
    List(String, Vec<TextId>),
}

/// All texts so far.
#[derive(Default)]
pub struct Texts {
    nodes: Vec<(Text, Type)>,
    ids: FxHashMap<Text, TextId>,
}

impl Texts {
    fn intern(&mut self, ty: Type, text: Text) -> TextId {
        if let Some(&id) = self.ids.get(&text) {
            return id;
        }
        self.nodes.push((text.clone(), ty));
        self.ids.insert(text, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// A name or literal of a type.
    pub fn atom(&mut self, ty: Type, text: impl Into<String>) -> TextId {
        self.intern(ty, Text::Atom(text.into()))
    }

    /// A function applied to arguments.
    pub fn list(&mut self, ty: Type, head: impl Into<String>, args: impl IntoIterator<Item = TextId>) -> TextId {
        self.intern(ty, Text::List(head.into(), args.into_iter().collect()))
    }

    pub fn bool(&mut self, b: bool) -> TextId {
        self.atom(Type::Bool, if b { "true" } else { "false" })
    }

    /// An integer; below zero there are no literals.
    pub fn int(&mut self, n: &IBig) -> TextId {
        if *n < IBig::ZERO { self.atom(Type::Int, format!("(- {})", -n)) } else { self.atom(Type::Int, n.to_string()) }
    }

    /// A fixed-width literal.
    pub fn bits(&mut self, width: u8, bits: u64) -> TextId {
        let bits = bits & (u64::MAX >> (64 - width));
        let width = usize::from(width);
        let text = if width % 4 == 0 { format!("#x{bits:0w$x}", w = width / 4) } else { format!("#b{bits:0width$b}") };
        self.atom(Type::Bits { width: width as u8, signed: false }, text)
    }

    pub fn is_true(&self, t: TextId) -> bool {
        matches!(&self.nodes[t].0, Text::Atom(a) if a == "true")
    }

    fn is_false(&self, t: TextId) -> bool {
        matches!(&self.nodes[t].0, Text::Atom(a) if a == "false")
    }

    pub fn and(&mut self, a: TextId, b: TextId) -> TextId {
        match () {
            () if self.is_true(a) || self.is_false(b) => b,
            () if self.is_true(b) || self.is_false(a) => a,
            () => self.list(Type::Bool, "and", [a, b]),
        }
    }

    pub fn implies(&mut self, a: TextId, b: TextId) -> TextId {
        match () {
            () if self.is_true(a) || self.is_true(b) => b,
            () if self.is_false(a) => self.bool(true),
            () => self.list(Type::Bool, "=>", [a, b]),
        }
    }

    pub fn or(&mut self, a: TextId, b: TextId) -> TextId {
        match () {
            () if self.is_true(a) || self.is_false(b) => a,
            () if self.is_true(b) || self.is_false(a) => b,
            () => self.list(Type::Bool, "or", [a, b]),
        }
    }

    pub fn ite(&mut self, c: TextId, a: TextId, b: TextId) -> TextId {
        if a == b || self.is_true(c) { a } else { self.list(self.ty(a), "ite", [c, a, b]) }
    }

    pub fn ty(&self, t: TextId) -> Type {
        self.nodes[t].1
    }

    /// The arguments.
    pub fn parts(&self, t: TextId) -> &[TextId] {
        match &self.nodes[t].0 {
            Text::Atom(_) => &[],
            Text::List(_, parts) => parts,
        }
    }

    /// The text itself, with names for parts that have one. Whoever calls sees to it that the rest is not deep.
    pub fn render(&self, t: TextId, names: &FxHashMap<TextId, String>) -> String {
        let mut out = String::new();
        self.render_into(t, names, &mut out);
        out
    }

    fn render_into(&self, t: TextId, names: &FxHashMap<TextId, String>, out: &mut String) {
        match (names.get(&t), &self.nodes[t].0) {
            (Some(name), _) => out.push_str(name),
            (None, Text::Atom(atom)) => out.push_str(atom),
            (None, Text::List(head, parts)) => {
                out.push('(');
                out.push_str(head);
                for &p in parts {
                    out.push(' ');
                    self.render_into(p, names, out);
                }
                out.push(')');
            }
        }
    }
}
