//! Random models as texts. The engines' tests use them too.

use std::fmt::Write;

/// A small generator of numbers: the same on every machine.
pub struct Random(pub u64);

impl Random {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// The types of the generator. Both enumerations have a literal `A`.
#[derive(Clone, Copy, PartialEq)]
enum Ty {
    Bool,
    Int,
    Hue,
    Size,
    /// `[boolean] -> integer`
    Counts,
    /// `[Hue] -> boolean`
    Marks,
}

const TYPES: [Ty; 6] = [Ty::Bool, Ty::Int, Ty::Hue, Ty::Size, Ty::Counts, Ty::Marks];

fn name(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "boolean",
        Ty::Int => "integer",
        Ty::Hue => "Hue",
        Ty::Size => "Size",
        Ty::Counts => "[boolean] -> integer",
        Ty::Marks => "[Hue] -> boolean",
    }
}

struct Generator {
    r: Random,
    /// The variables in scope; whether they may be assigned, and whether they are global.
    scope: Vec<(String, Ty, bool, bool)>,
    fresh: usize,
    text: String,
}

impl Generator {
    fn variable(&mut self, ty: Ty) -> Option<String> {
        let all: Vec<&String> = self.scope.iter().filter(|v| v.1 == ty).map(|v| &v.0).collect();
        let n = if all.is_empty() { return None } else { self.r.below(all.len()) };
        Some(all[n].clone())
    }

    fn literal(&mut self, ty: Ty) -> String {
        let short = match ty {
            Ty::Hue => self.r.pick(&["A", "B", "C"]),
            _ => self.r.pick(&["A", "D"]),
        };
        if self.r.one_in(3) { format!("{}.{short}", name(ty)) } else { short.to_string() }
    }

    /// An expression that says its type by itself.
    fn certain(&mut self, ty: Ty, depth: usize) -> String {
        match self.variable(ty) {
            Some(v) if !self.r.one_in(4) => v,
            _ => match ty {
                Ty::Hue => format!("Hue.{}", self.r.pick(&["A", "B", "C"])),
                Ty::Size => format!("Size.{}", self.r.pick(&["A", "D"])),
                _ => self.expression(ty, depth),
            },
        }
    }

    fn expression(&mut self, ty: Ty, depth: usize) -> String {
        if let Some(v) = self.variable(ty)
            && (depth == 0 || self.r.one_in(3))
        {
            return v;
        }
        if depth > 0 && self.r.one_in(8) {
            let (c, a) = (self.expression(Ty::Bool, depth - 1), self.expression(ty, depth - 1));
            return format!("(if {c} then {a} else {})", self.expression(ty, depth - 1));
        }
        match ty {
            Ty::Bool => self.condition(depth),
            Ty::Int if depth == 0 => self.r.below(4).to_string(),
            Ty::Int => match self.r.below(9) {
                0 | 1 => self.r.below(4).to_string(),
                2 => format!("-{}", self.atom(Ty::Int, depth - 1)),
                3 => format!("{}[{}]", self.atom(Ty::Counts, depth - 1), self.expression(Ty::Bool, depth - 1)),
                _ => {
                    let op = self.r.pick(&["+", "-", "*", "/", "%", "rem", "+"]);
                    let (a, b) = (self.atom(Ty::Int, depth - 1), self.atom(Ty::Int, depth - 1));
                    match self.r.below(3) {
                        0 => format!("{a} {op} {b} {} {}", self.r.pick(&["+", "*", "-"]), self.r.below(3)),
                        _ => format!("{a} {op} {b}"),
                    }
                }
            },
            Ty::Hue | Ty::Size => self.literal(ty),
            Ty::Counts | Ty::Marks => {
                let (index, entry) = if ty == Ty::Counts { (Ty::Bool, Ty::Int) } else { (Ty::Hue, Ty::Bool) };
                let d = depth.saturating_sub(1);
                if depth > 0 && self.r.one_in(2) {
                    let (a, i) = (self.atom(ty, d), self.expression(index, d));
                    return format!("{a}[{i} <- {}]", self.expression(entry, d));
                }
                let mut text = "[".to_string();
                for _ in 0..self.r.below(3) {
                    let (i, v) = (self.certain(index, d), self.expression(entry, d));
                    let _ = write!(text, "{i} <- {v}, ");
                }
                let _ = write!(text, "<{}>default <- {}]", name(index), self.expression(entry, d));
                text
            }
        }
    }

    /// Something that can stand as an operand.
    fn atom(&mut self, ty: Ty, depth: usize) -> String {
        match self.variable(ty) {
            Some(v) if self.r.one_in(2) => v,
            _ => format!("({})", self.expression(ty, depth)),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.r.pick(&["true", "false"]).to_string();
        }
        let d = depth - 1;
        match self.r.below(8) {
            0 => format!("!{}", self.atom(Ty::Bool, d)),
            1 => {
                let (a, b) = (self.atom(Ty::Int, d), self.atom(Ty::Int, d));
                let not = if self.r.one_in(4) { "!" } else { "" };
                format!("{not}{a} {} {b}", self.r.pick(&["<", "<=", ">", ">=", "==", "!="]))
            }
            2 | 3 => {
                let ty = if self.r.one_in(2) { Ty::Hue } else { Ty::Size };
                let (a, b) = (self.certain(ty, d), self.expression(ty, d));
                let (a, b) = if self.r.one_in(2) { (a, b) } else { (b, a) };
                format!("{a} {} {b}", self.r.pick(&["==", "!="]))
            }
            4 => format!("{}[{}]", self.atom(Ty::Marks, d), self.expression(Ty::Hue, d)),
            // Without parentheses, precedence counts.
            _ => {
                let mut text = self.operand(d);
                for _ in 0..1 + self.r.below(3) {
                    let op = self.r.pick(&["&&", "||", "&&", "||", "=>", "xor", "iff"]);
                    let _ = write!(text, " {op} {}", self.operand(d));
                }
                text
            }
        }
    }

    fn operand(&mut self, depth: usize) -> String {
        match self.r.below(4) {
            0 => format!("{} == {}", self.atom(Ty::Bool, depth), self.atom(Ty::Bool, depth)),
            1 => format!("!{}", self.atom(Ty::Bool, depth)),
            2 => format!("{} < {}", self.atom(Ty::Int, depth), self.atom(Ty::Int, depth)),
            _ => self.atom(Ty::Bool, depth),
        }
    }

    /// An integer that stays small.
    fn small(&mut self) -> String {
        match self.r.below(3) {
            0 => self.r.below(4).to_string(),
            _ => format!("({}) % {}", self.expression(Ty::Int, 2), 2 + self.r.below(3)),
        }
    }

    fn value(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Int => self.small(),
            Ty::Counts => {
                let (i, v) = (self.expression(Ty::Bool, 1), self.small());
                let array = self.variable(ty).unwrap_or("[<boolean>default <- 0]".into());
                format!("{array}[{i} <- {v}]")
            }
            ty => self.expression(ty, 2),
        }
    }

    fn block(&mut self, depth: usize) {
        let known = self.scope.len();
        self.text += "{ ";
        for _ in 0..self.r.below(4) {
            self.statement(depth);
        }
        self.text += "} ";
        self.scope.truncate(known);
    }

    fn branches(&mut self, depth: usize) {
        self.block(depth);
        while self.r.one_in(2) {
            self.text += "or ";
            self.block(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        let kinds = if depth == 0 { 6 } else { 10 };
        match self.r.below(kinds) {
            0 => {
                let ty = TYPES[self.r.below(6)];
                // Some names hide others.
                let hides = self.scope.iter().map(|v| v.0.clone()).nth(self.r.below(self.scope.len() + 4));
                let hides = hides.filter(|n| !n.starts_with('i'));
                self.fresh += 1;
                let new = hides.unwrap_or(format!("l{}", self.fresh));
                let free = !matches!(ty, Ty::Int | Ty::Counts) && self.r.one_in(3);
                let value = if free { String::new() } else { format!(" = {}", self.value(ty)) };
                let _ = write!(self.text, "{{ local var {new} : {}{value}; ", name(ty));
                // What it hides is not in scope in there, so that types are right.
                let saved = self.scope.clone();
                self.scope.retain(|v| v.0 != new);
                self.scope.push((new, ty, true, false));
                for _ in 0..1 + self.r.below(3) {
                    self.statement(depth);
                }
                self.text += "} ";
                self.scope = saved;
            }
            1 => {
                let e = self.expression(Ty::Bool, 2);
                let _ = write!(self.text, "assume {e}; ");
            }
            2 => {
                let few = |v: &&(String, Ty, bool, bool)| v.3 && !matches!(v.1, Ty::Int | Ty::Counts);
                let all: Vec<String> = self.scope.iter().filter(few).map(|v| v.0.clone()).collect();
                if !all.is_empty() {
                    let v = &all[self.r.below(all.len())];
                    let _ = write!(self.text, "havoc {v}; ");
                }
            }
            3..=5 => {
                let all: Vec<(String, Ty, bool, bool)> = self.scope.iter().filter(|v| v.2).cloned().collect();
                let (v, ty, ..) = &all[self.r.below(all.len())];
                match ty {
                    Ty::Counts if self.r.one_in(2) => {
                        let (i, e) = (self.expression(Ty::Bool, 1), self.small());
                        let _ = write!(self.text, "{v}[{i}] := {e}; ");
                    }
                    Ty::Marks if self.r.one_in(2) => {
                        let (i, e) = (self.expression(Ty::Hue, 1), self.expression(Ty::Bool, 1));
                        let _ = write!(self.text, "{v}[{i}] := {e}; ");
                    }
                    ty => {
                        let e = self.value(*ty);
                        let _ = write!(self.text, "{v} := {e}; ");
                    }
                }
            }
            6 => {
                self.text += "choice ";
                self.branches(depth - 1);
            }
            7 | 8 => {
                let c = self.expression(Ty::Bool, 2);
                let _ = write!(self.text, "if ({c}) ");
                self.block(depth - 1);
                if self.r.one_in(2) {
                    self.text += "else ";
                    self.block(depth - 1);
                }
            }
            _ => {
                self.fresh += 1;
                let i = format!("i{}", self.fresh);
                let (from, to) = match self.r.below(3) {
                    0 => (self.r.below(2).to_string(), self.r.below(4).to_string()),
                    1 => (self.small(), self.r.below(4).to_string()),
                    _ => (self.r.below(2).to_string(), self.small()),
                };
                let _ = write!(self.text, "for {i} from {from} to {to} do ");
                self.scope.push((i, Ty::Int, false, false));
                self.block(depth - 1);
                self.scope.pop();
            }
        }
    }

    fn model(mut self) -> String {
        self.text += "type Hue : { A, B, C }\ntype Size : { A, D }\n";
        for n in 0..3 + self.r.below(4) {
            let ty = if n == 0 { Ty::Bool } else { TYPES[self.r.below(6)] };
            let free = !matches!(ty, Ty::Int | Ty::Counts) && self.r.one_in(4);
            let value = if free { String::new() } else { format!(" = {}", self.value(ty)) };
            let ctrl = if self.r.one_in(4) { "ctrl " } else { "" };
            let _ = writeln!(self.text, "{ctrl}var v{n} : {}{value}", name(ty));
            self.scope.push((format!("v{n}"), ty, true, true));
        }
        for word in ["trans", "init", "env"] {
            let _ = write!(self.text, "{word} ");
            self.branches(2);
            self.text += "\n";
        }
        let e = self.expression(Ty::Bool, 3);
        let _ = writeln!(self.text, "prop {{ {e} }}");
        self.text
    }
}

/// The model of a seed.
pub fn model(seed: u64) -> String {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..10 {
        r.below(2);
    }
    Generator { r, scope: vec![], fresh: 0, text: String::new() }.model()
}
