//! Random programs: declarations, functions, and one edge with a guard and updates.
//!
//! Expressions are trees that are printed in two ways: see [`Program`].

use crate::random::Random;

/// One program, printed twice.
pub struct Program {
    /// With only the parentheses that UPPAAL's precedence needs.
    pub minimal: String,
    /// With all parentheses.
    pub full: String,
}

/// An expression.
#[derive(Debug, Clone)]
enum E {
    /// Printed as it is: a literal or a name.
    Atom(String),
    /// Something indexed.
    Index(Box<E>, Box<E>),
    Field(Box<E>, &'static str),
    Call(String, Vec<E>),
    Prefix(&'static str, Box<E>),
    Postfix(&'static str, Box<E>),
    Binary(&'static str, Box<E>, Box<E>),
    Cond(Box<E>, Box<E>, Box<E>),
    Assign(&'static str, Box<E>, Box<E>),
    /// `forall (i : T)` and the like, and the body.
    Quant(String, Box<E>),
}

/// How tightly operators bind: UPPAAL's help page "Expressions", tightest highest.
fn tightness(op: &str) -> u32 {
    match op {
        "*" | "/" | "%" => 17,
        "+" | "-" => 16,
        "<<" | ">>" => 15,
        "<?" | ">?" => 14,
        "<" | "<=" | ">" | ">=" => 13,
        "==" | "!=" => 12,
        "&" => 11,
        "^" => 10,
        "|" => 9,
        "&&" | "and" => 8,
        "||" | "or" | "imply" => 7,
        other => panic!("the operator {other}"),
    }
}

const PREFIX: u32 = 18;
const COND: u32 = 6;
const ASSIGN: u32 = 5;
const QUANT: u32 = 4;
const ATOM: u32 = 20;

impl E {
    fn atom(s: impl Into<String>) -> E {
        E::Atom(s.into())
    }

    fn binds(&self) -> u32 {
        match self {
            E::Atom(_) | E::Index(..) | E::Field(..) | E::Call(..) => ATOM,
            E::Postfix(..) => ATOM - 1,
            E::Prefix(..) => PREFIX,
            E::Binary(op, ..) => tightness(op),
            E::Cond(..) => COND,
            E::Assign(..) => ASSIGN,
            E::Quant(..) => QUANT,
        }
    }

    /// With parentheses wherever `full`, or where it binds less tightly than needed.
    fn print(&self, full: bool, needed: u32) -> String {
        let text = match self {
            E::Atom(s) => s.clone(),
            E::Index(a, i) => format!("{}[{}]", a.print(full, ATOM), i.print(full, 0)),
            E::Field(a, f) => format!("{}.{f}", a.print(full, ATOM)),
            E::Call(f, args) => {
                let args: Vec<String> = args.iter().map(|a| a.print(full, 0)).collect();
                format!("{f}({})", args.join(", "))
            }
            E::Prefix(op, a) => {
                let a = a.print(full, PREFIX);
                // `- -x` is not `--x`, and `not` is a word.
                let gap = a.starts_with(['-', '+']) || op.starts_with('n');
                format!("{op}{}{a}", if gap { " " } else { "" })
            }
            E::Postfix(op, a) => format!("{}{op}", a.print(full, ATOM)),
            E::Binary(op, a, b) => {
                let p = tightness(op);
                format!("{} {op} {}", a.print(full, p), b.print(full, p + 1))
            }
            E::Cond(c, a, b) => {
                format!("{} ? {} : {}", c.print(full, COND + 1), a.print(full, COND), b.print(full, COND))
            }
            E::Assign(op, a, b) => format!("{} {op} {}", a.print(full, ATOM), b.print(full, ASSIGN)),
            E::Quant(head, body) => format!("{head} {}", body.print(full, COND)),
        };
        let compound = self.binds() < ATOM;
        if self.binds() < needed || (full && compound && needed > 0) { format!("({text})") } else { text }
    }
}

/// Something printed twice: minimal, full.
#[derive(Default, Clone)]
struct Text(String, String);

impl Text {
    fn push(&mut self, s: &str) {
        self.0.push_str(s);
        self.1.push_str(s);
    }

    fn expr(&mut self, e: &E) {
        self.0.push_str(&e.print(false, 0));
        self.1.push_str(&e.print(true, 0));
    }
}

const GLOBALS: &str = "const int K = 3;
typedef int[0,4] small_t;
typedef struct { int[-9,9] f; bool g; int[0,9] h[2]; } rec_t;
int x = 2;
int[-40,40] y = -3;
small_t z = 1;
bool p = true, q;
int a[3] = {1, 2, 3};
const int c[3] = {2, 0, 1};
int[0,5] m[2][3] = {{0, 1, 2}, {3, 4, 5}};
int o[int[2,4]] = {4, 3, 2};
bool w[2];
rec_t s = {1, true, {2, 3}};
rec_t t;
rec_t rs[2];
int total(int v[3], int n) {
    int i, k = 0;
    for (i = 0, k = n; i < 3; i++, k--) { v[i] += k; if (v[i] > 90) return v[i]; }
    return v[0] + v[1] - v[2];
}
rec_t make(int n, rec_t r) {
    int x = r.f;
    r.h[0] = (r.h[1] + 1) % 10;
    if (n > x) { r.f = n % 10; return r; }
    r.g = !r.g;
    return r;
}
void rotate(int[0,5] &v[3], int n) {
    int[0,5] old[3] = v;
    if (n < 0) return;
    v[0] = old[(n + 1) % 3];
    v[1] = old[(n + 2) % 3];
    v[2] = old[n % 3];
}
";

/// What can be written where an expression stands.
#[derive(Clone)]
struct Scope {
    /// Plain integers that can be written, and those that can only be read.
    ints: Vec<String>,
    fixed: Vec<String>,
    bools: Vec<String>,
    /// Whether globals can be read, and written.
    globals: bool,
    writes: bool,
    /// How many functions can be called: the first so many.
    pure_functions: usize,
    functions: usize,
}

struct Generator {
    r: Random,
    loops: usize,
}

pub fn generate(seed: u64) -> Program {
    let mut g = Generator { r: Random::new(seed ^ 0x5EED), loops: 0 };
    let mut t = Text::default();
    t.push(GLOBALS);
    let pure_functions = g.r.below(3);
    let functions = g.r.below(3);
    for n in 0..pure_functions {
        g.function(&mut t, &format!("pure{n}"), Scope { globals: true, writes: false, functions: 0, ..g.bare(n) });
    }
    for n in 0..functions {
        let scope = Scope { globals: true, writes: true, functions: n, ..g.bare(pure_functions) };
        g.function(&mut t, &format!("work{n}"), scope);
    }
    t.push("process P() {\n    state A, B;\n    init A;\n    trans A -> B {\n");
    let outside = Scope { globals: true, functions: 0, ..g.bare(pure_functions) };
    if g.r.percent(50) {
        t.push("        guard ");
        // Mostly true.
        let guard = g.bool(&outside, 3);
        let open = if g.r.percent(70) { E::Binary("||", Box::new(guard), Box::new(E::atom("true"))) } else { guard };
        t.expr(&open);
        t.push(";\n");
    }
    t.push("        assign ");
    let inside = Scope { writes: true, functions, ..outside };
    for n in 0..1 + g.r.below(4) {
        if n > 0 {
            t.push(",\n            ");
        }
        let e = g.effect(&inside, 3);
        t.expr(&e);
    }
    t.push(";\n    };\n}\nsystem P;\n");
    Program { minimal: t.0, full: t.1 }
}

fn b(e: E) -> Box<E> {
    Box::new(e)
}

impl Generator {
    fn bare(&self, pure_functions: usize) -> Scope {
        Scope {
            ints: Vec::new(),
            fixed: Vec::new(),
            bools: Vec::new(),
            globals: false,
            writes: false,
            pure_functions,
            functions: 0,
        }
    }

    // Places.

    /// A scalar integer variable that may be written.
    fn writable_int(&mut self, s: &Scope, depth: usize) -> Option<E> {
        if s.globals && s.writes && (s.ints.is_empty() || self.r.percent(60)) {
            return Some(self.global_int(s, depth));
        }
        (!s.ints.is_empty()).then(|| E::atom(self.r.one(&s.ints).clone()))
    }

    fn global_int(&mut self, s: &Scope, depth: usize) -> E {
        match self.r.below(11) {
            0..=2 => E::atom("x"),
            3 => E::atom("y"),
            4 => E::atom("z"),
            5 => E::Index(b(E::atom("a")), b(self.index(s, 3, 0, depth))),
            6 => {
                let row = E::Index(b(E::atom("m")), b(self.index(s, 2, 0, depth)));
                E::Index(b(row), b(self.index(s, 3, 0, depth)))
            }
            7 => E::Index(b(E::atom("o")), b(self.index(s, 3, 2, depth))),
            8 => E::Field(b(self.record(s, depth)), "f"),
            _ => {
                let h = E::Field(b(self.record(s, depth)), "h");
                E::Index(b(h), b(self.index(s, 2, 0, depth)))
            }
        }
    }

    fn record(&mut self, s: &Scope, depth: usize) -> E {
        match self.r.below(3) {
            0 => E::atom("s"),
            1 => E::atom("t"),
            _ => E::Index(b(E::atom("rs")), b(self.index(s, 2, 0, depth))),
        }
    }

    fn writable_bool(&mut self, s: &Scope, depth: usize) -> Option<E> {
        if s.globals && s.writes && (s.bools.is_empty() || self.r.percent(60)) {
            return Some(match self.r.below(4) {
                0 => E::atom("p"),
                1 => E::atom("q"),
                2 => E::Index(b(E::atom("w")), b(self.index(s, 2, 0, depth))),
                _ => E::Field(b(self.record(s, depth)), "g"),
            });
        }
        (!s.bools.is_empty()).then(|| E::atom(self.r.one(&s.bools).clone()))
    }

    /// An index from `lo` on; mostly within the array.
    fn index(&mut self, s: &Scope, len: i64, lo: i64, depth: usize) -> E {
        if depth == 0 || self.r.percent(55) {
            return E::atom((lo + self.r.range(0, len - 1)).to_string());
        }
        if self.r.percent(10) {
            return self.int(s, depth - 1);
        }
        if lo == 0 && len == 2 && self.r.percent(30) {
            return self.bool(s, depth - 1);
        }
        let e = self.int(s, depth - 1);
        let n = || b(E::atom(len.to_string()));
        let positive = E::Binary("+", b(E::Binary("%", b(e), n())), n());
        let small = E::Binary("%", b(positive), n());
        if lo == 0 { small } else { E::Binary("+", b(small), b(E::atom(lo.to_string()))) }
    }

    // Values.

    fn int(&mut self, s: &Scope, depth: usize) -> E {
        if depth == 0 {
            return self.int_leaf(s);
        }
        let d = depth - 1;
        match self.r.below(24) {
            0..=2 => self.int_leaf(s),
            3 | 4 if s.globals => self.global_int(s, d),
            5..=9 => {
                let op = self.r.pick(&["+", "-", "*", "+", "-"]);
                E::Binary(op, b(self.int(s, d)), b(self.int(s, d)))
            }
            10 => {
                let op = self.r.pick(&["/", "%"]);
                let by = if self.r.percent(80) { E::atom(*self.r.one(&["2", "3", "7"])) } else { self.int(s, d) };
                E::Binary(op, b(self.int(s, d)), b(by))
            }
            11 => {
                let op = self.r.pick(&["<?", ">?"]);
                E::Binary(op, b(self.int(s, d)), b(self.int(s, d)))
            }
            12 => {
                let op = self.r.pick(&["&", "|", "^"]);
                E::Binary(op, b(self.int(s, d)), b(self.int(s, d)))
            }
            13 => {
                let op = self.r.pick(&["<<", ">>"]);
                let by = if self.r.percent(85) { E::atom(self.r.below(4).to_string()) } else { self.int(s, 0) };
                E::Binary(op, b(self.int(s, d)), b(by))
            }
            14 => E::Prefix(self.r.pick(&["-", "+"]), b(self.int(s, d))),
            15 => E::Cond(b(self.bool(s, d)), b(self.int(s, d)), b(self.int(s, d))),
            16 if s.globals => match self.r.below(3) {
                0 => E::Call("total".into(), vec![E::atom("a"), self.int(s, d)]),
                1 => {
                    let row = E::Index(b(E::atom("m")), b(self.index(s, 2, 0, d)));
                    E::Call("total".into(), vec![row, self.int(s, d)])
                }
                _ => {
                    let made = E::Call("make".into(), vec![self.int(s, d), self.record(s, d)]);
                    E::Field(b(made), "f")
                }
            },
            17 => {
                let inner = Scope { fixed: [s.fixed.clone(), vec!["k".into()]].concat(), ..s.clone() };
                E::Quant("sum (k : int[0,2])".into(), b(self.int(&inner, d)))
            }
            18 => self.bool(s, d),
            19 | 20 if s.pure_functions > 0 => self.call(s, "pure", s.pure_functions, d),
            21 if s.functions > 0 => self.call(s, "work", s.functions, d),
            22 | 23 => self.int_effect(s, d).unwrap_or_else(|| self.int_leaf(s)),
            _ => self.int_leaf(s),
        }
    }

    fn int_leaf(&mut self, s: &Scope) -> E {
        let known: Vec<&String> = s.ints.iter().chain(&s.fixed).collect();
        match self.r.below(6) {
            0 | 1 => E::atom(self.r.range(0, 5).to_string()),
            2 | 3 if !known.is_empty() => E::atom(self.r.one(&known).to_string()),
            4 => E::atom("K"),
            5 => {
                let i = self.r.below(3);
                E::Index(b(E::atom("c")), b(E::atom(i.to_string())))
            }
            _ if s.globals => E::atom(*self.r.one(&["x", "y", "z"])),
            _ => E::atom("1"),
        }
    }

    fn bool(&mut self, s: &Scope, depth: usize) -> E {
        if depth == 0 {
            let own = (!s.bools.is_empty()).then(|| self.r.one(&s.bools).clone());
            return match (self.r.below(4), own) {
                (0, _) => E::atom(*self.r.one(&["true", "false"])),
                (1, _) if s.globals => E::atom(*self.r.one(&["p", "q"])),
                (_, Some(own)) => E::atom(own),
                _ => E::Binary("<", b(self.int_leaf(s)), b(self.int_leaf(s))),
            };
        }
        let d = depth - 1;
        match self.r.below(14) {
            0..=4 => {
                let op = self.r.pick(&["<", "<=", "==", "!=", ">=", ">"]);
                E::Binary(op, b(self.int(s, d)), b(self.int(s, d)))
            }
            5..=8 => {
                let op = self.r.pick(&["&&", "||", "imply", "and", "or"]);
                E::Binary(op, b(self.bool(s, d)), b(self.bool(s, d)))
            }
            9 => E::Prefix(self.r.pick(&["!", "not"]), b(self.bool(s, d))),
            10 => E::Binary(self.r.pick(&["==", "!="]), b(self.bool(s, d)), b(self.bool(s, d))),
            11 => {
                let q = self.r.pick(&["forall", "exists"]);
                let inner = Scope { fixed: [s.fixed.clone(), vec!["k".into()]].concat(), ..s.clone() };
                E::Quant(format!("{q} (k : int[1,3])"), b(self.bool(&inner, d)))
            }
            12 => match self.writable_bool(s, d) {
                Some(at) if self.r.percent(50) => E::Assign("=", b(at), b(self.bool(s, d))),
                _ => self.bool(s, 0),
            },
            _ => E::Cond(b(self.bool(s, d)), b(self.bool(s, d)), b(self.bool(s, d))),
        }
    }

    /// An integer with an effect.
    fn int_effect(&mut self, s: &Scope, depth: usize) -> Option<E> {
        let at = self.writable_int(s, depth)?;
        Some(match self.r.below(4) {
            0 => E::Prefix(self.r.pick(&["++", "--"]), b(at)),
            1 => E::Postfix(self.r.pick(&["++", "--"]), b(at)),
            2 => {
                let op = *self.r.one(&["+=", "-=", "*=", "|=", "&=", "^=", "<<=", ">>=", "/=", "%="]);
                let e = match op {
                    "<<=" | ">>=" => E::atom(self.r.below(3).to_string()),
                    "*=" => E::atom(self.r.range(0, 2).to_string()),
                    _ => self.int(s, depth),
                };
                E::Assign(op, b(at), b(e))
            }
            _ => {
                let op = self.r.pick(&["=", ":="]);
                let e = self.int(s, depth);
                // Often small enough for anything.
                let e = if self.r.percent(70) { E::Binary("%", b(e), b(E::atom("5"))) } else { e };
                E::Assign(op, b(at), b(e))
            }
        })
    }

    /// `f(value, reference, truth value)`.
    fn call(&mut self, s: &Scope, family: &str, count: usize, depth: usize) -> E {
        let n = self.r.below(count);
        let mut args = vec![self.int(s, depth)];
        if family == "work" {
            // By reference: any integer variable that may be written.
            match self.writable_int(s, depth) {
                Some(at) => args.push(at),
                None => return self.int_leaf(s),
            }
        }
        args.push(self.bool(s, depth));
        E::Call(format!("{family}{n}"), args)
    }

    /// Something for its effect.
    fn effect(&mut self, s: &Scope, depth: usize) -> E {
        match self.r.below(10) {
            0 if s.writes => {
                let to = self.record(s, depth);
                let from = match self.r.below(3) {
                    0 => E::Call("make".into(), vec![self.int(s, depth - 1), self.record(s, depth - 1)]),
                    _ => self.record(s, depth),
                };
                E::Assign("=", b(to), b(from))
            }
            1 if s.writes => {
                let row = |i: E| E::Index(b(E::atom("m")), b(i));
                let (to, from) = (row(self.index(s, 2, 0, depth)), row(self.index(s, 2, 0, depth)));
                match self.r.below(3) {
                    0 => E::Call("rotate".into(), vec![to, self.int(s, depth - 1)]),
                    _ => E::Assign("=", b(to), b(from)),
                }
            }
            2 | 3 => match self.writable_bool(s, depth) {
                Some(at) => E::Assign("=", b(at), b(self.bool(s, depth))),
                None => self.plain_effect(s, depth),
            },
            4 if s.functions > 0 => self.call(s, "work", s.functions, depth),
            _ => self.plain_effect(s, depth),
        }
    }

    fn plain_effect(&mut self, s: &Scope, depth: usize) -> E {
        self.int_effect(s, depth).unwrap_or_else(|| E::atom("1"))
    }

    // Functions.

    fn function(&mut self, t: &mut Text, name: &str, outer: Scope) {
        let work = name.starts_with("work");
        let (ret, by_ref) = (self.r.pick(&["int", "int", "bool", "int[-99,99]"]), if work { "int &r, " } else { "" });
        t.push(&format!("{ret} {name}(int v, {by_ref}bool u) {{\n"));
        let mut s = outer;
        s.ints.push("v".into());
        s.bools.push("u".into());
        if work {
            s.ints.push("r".into());
        }
        if self.r.percent(35) {
            // A body that is one `return`.
            t.push("    return ");
            let e = self.int(&s, 3);
            t.expr(&e);
            t.push(";\n}\n");
            return;
        }
        self.locals(t, &mut s, 1);
        for _ in 0..1 + self.r.below(3) {
            self.statement(t, &s, 2, 1);
        }
        t.push("    return ");
        let e = self.int(&s, 2);
        t.expr(&e);
        t.push(";\n}\n");
    }

    fn locals(&mut self, t: &mut Text, s: &mut Scope, level: usize) {
        let pad = "    ".repeat(level);
        if self.r.percent(70) {
            let name = format!("l{level}");
            t.push(&format!("{pad}{} {name}", self.r.pick(&["int", "int[-50,50]", "const int"])));
            let constant = t.0.ends_with(&format!("const int {name}"));
            if constant || self.r.percent(80) {
                t.push(" = ");
                let e = self.int(s, 1);
                t.expr(&e);
            }
            t.push(";\n");
            if constant { s.fixed.push(name) } else { s.ints.push(name) }
        }
        if self.r.percent(10) && s.globals {
            // Another `x` from here on.
            t.push(&format!("{pad}int x = "));
            let e = self.int(s, 1);
            t.expr(&e);
            t.push(";\n");
        }
        if self.r.percent(30) {
            let name = format!("d{level}");
            t.push(&format!("{pad}bool {name} = "));
            let e = self.bool(s, 1);
            t.expr(&e);
            t.push(";\n");
            s.bools.push(name);
        }
        if self.r.percent(25) {
            let name = format!("ar{level}");
            t.push(&format!("{pad}int {name}[2] = {{"));
            let e = self.int(s, 1);
            t.expr(&e);
            t.push(", 4};\n");
            s.ints.extend([format!("{name}[0]"), format!("{name}[1]")]);
        }
    }

    fn statement(&mut self, t: &mut Text, s: &Scope, depth: usize, level: usize) {
        let pad = "    ".repeat(level);
        let loop_variable = |g: &mut Generator| {
            g.loops += 1;
            format!("i{}", g.loops)
        };
        match self.r.below(if depth == 0 { 4 } else { 12 }) {
            0..=2 => {
                t.push(&pad);
                let e = self.effect(s, 2);
                t.expr(&e);
                t.push(";\n");
            }
            3 => {
                t.push(&format!("{pad}if ("));
                let c = self.bool(s, 1);
                t.expr(&c);
                t.push(") return ");
                let e = self.int(s, 1);
                t.expr(&e);
                t.push(";\n");
            }
            4..=6 => {
                t.push(&format!("{pad}if ("));
                let c = self.bool(s, 2);
                t.expr(&c);
                t.push(") {\n");
                self.body(t, s, depth - 1, level + 1);
                if self.r.percent(60) {
                    t.push(&format!("{pad}}} else {{\n"));
                    self.body(t, s, depth - 1, level + 1);
                }
                t.push(&format!("{pad}}}\n"));
            }
            7 => {
                let i = loop_variable(self);
                t.push(&format!("{pad}for ({i} : int[0,2]) {{\n"));
                let inner = Scope { fixed: [s.fixed.clone(), vec![i]].concat(), ..s.clone() };
                self.body(t, &inner, depth - 1, level + 1);
                t.push(&format!("{pad}}}\n"));
            }
            8 => {
                // The counter is nobody else's, so that it ends.
                let i = loop_variable(self);
                t.push(&format!("{pad}{{\n{pad}    int {i};\n{pad}    for ({i} = 0; {i} < 3"));
                if self.r.percent(50) {
                    t.push(" && ");
                    let c = self.bool(s, 1);
                    let c = E::Binary("!=", b(E::atom("false")), b(c));
                    t.expr(&c);
                }
                t.push(&format!("; {i}++) {{\n"));
                let inner = Scope { fixed: [s.fixed.clone(), vec![i]].concat(), ..s.clone() };
                self.body(t, &inner, depth - 1, level + 2);
                t.push(&format!("{pad}    }}\n{pad}}}\n"));
            }
            9 | 10 => {
                let i = loop_variable(self);
                let until = self.r.percent(50);
                t.push(&format!("{pad}{{\n{pad}    int {i} = 0;\n{pad}    "));
                let head = |g: &mut Generator, t: &mut Text| {
                    t.push(&format!("while ({i}++ < 2"));
                    if g.r.percent(50) {
                        t.push(" && ");
                        let c = g.bool(s, 1);
                        let c = E::Binary("==", b(E::atom("true")), b(c));
                        t.expr(&c);
                    }
                    t.push(")");
                };
                if until {
                    t.push("do {\n");
                } else {
                    head(self, t);
                    t.push(" {\n");
                }
                let inner = Scope { fixed: [s.fixed.clone(), vec![i.clone()]].concat(), ..s.clone() };
                self.body(t, &inner, depth - 1, level + 2);
                t.push(&format!("{pad}    }}"));
                if until {
                    t.push(" ");
                    head(self, t);
                    t.push(";");
                }
                t.push(&format!("\n{pad}}}\n"));
            }
            _ => {
                t.push(&format!("{pad}{{\n"));
                self.body(t, s, depth - 1, level + 1);
                t.push(&format!("{pad}}}\n"));
            }
        }
    }

    fn body(&mut self, t: &mut Text, s: &Scope, depth: usize, level: usize) {
        let mut inner = s.clone();
        if self.r.percent(40) {
            self.locals(t, &mut inner, level);
        }
        for _ in 0..1 + self.r.below(2) {
            self.statement(t, &inner, depth, level);
        }
    }
}
