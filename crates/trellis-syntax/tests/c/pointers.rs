//! Structures and pointers: we and gcc agree on what they mean, and what goes beyond is refused.

use std::fmt::Write;

use trellis_model::cfa::Kind;
use trellis_syntax::c::Ints;

use crate::gcc::check;
use crate::random::Random;
use crate::run::{agree, execute, has_gcc, read};

/// These were taken for functions of old C that are called `int` and `void`.
#[test]
fn declarators_in_parentheses_at_file_scope() {
    let text = "int (x) = 3; int (*p) = &x; void (*callback)(int); int (*table[2])(void); typeof(x) y = 4; \
                f() { return *p + y; } int main(void) { if (f() == 7) __VERIFIER_error(); return 0; }";
    let built = crate::run::read(text, trellis_syntax::c::Ints::Wrap).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(crate::run::execute(&built.cfa, &[]).0, trellis_model::cfa::Kind::Error);
}

#[test]
fn structures() {
    check(
        "struct t { short x; long y; }; struct s { int a; unsigned char b; struct t t; int c[3]; struct { int in; }; };
         struct s g = { 1, 300, { 2, 3 }, { 4, 5 }, { 6 } }; struct s h = { .c = { [1] = 7 }, .a = 8, .t = { .y = 9 } };
         struct s all[3] = { [1] = { .a = 5, .c = { 1, 2, 3 } }, { 4 } }; typedef struct { int x, y; } point; point flat[2] = { 1, 2, 3 };
         point swapped(point p) { int k = p.x; p.x = p.y; p.y = k; return p; } int sum(struct s s) { s.a += 10; return s.a + s.t.x + s.c[1]; }
         point none[] = { { 1 }, { 2, 3 }, 4, 5 };",
        "r0 = g.a + g.b * 10 + g.t.x * 100 + g.t.y * 1000 + g.c[0] * 10000 + g.c[2] + g.in * 100000; r1 = h.a * 100 + h.c[1] * 10 + h.t.y;
         struct s k = g; k.a++; k.c[2] = 50; r2 = k.a + k.c[2] + g.a + g.c[2]; g = h; r3 = g.a + g.c[1] + g.in; int i = 1; all[i].c[i + 1] += 40;
         all[0] = all[i]; r4 = all[0].a * 1000 + all[0].c[2]; all[i].t.x = 70000; r5 = all[1].t.x; r6 = sum(all[0]) + all[0].a;
         point p = { 3, 4 }; p = swapped(p); r7 = p.x * 10 + p.y; r8 = swapped(swapped(p)).y; p = (point) { p.y, p.x }; r9 = p.x * 10 + p.y;
         r10 = sizeof(struct s) + sizeof(point) * 1000 + sizeof none * 100000; r11 = flat[0].y * 10 + flat[1].x + flat[1].y; point q; r12 = (q = p).x; r13 = q.y;
         r14 = none[1].y * 1000 + none[2].y * 10 + none[0].y;",
    );
}

#[test]
fn pointers() {
    check(
        "int x = 1, y = 2; int *p = &x; int *q; int a[5] = { 10, 20, 30, 40, 50 }; int *none; struct n { int v; struct n *next; };
         struct n third = { 3, 0 }, second = { 2, &third }, first = { 1, &second }; int *larger(int *m, int *n) { return *m > *n ? m : n; }
         void swap(int *m, int *n) { int k = *m; *m = *n; *n = k; } void walk(int *m, int n, int *out) { while (n-- > 0) *out += *m++; }
         int length(struct n *l) { int k = 0; while (l) { k++; l = l->next; } return k; } struct b { int *where; int m[2]; } box = { &y, { 8, 9 } };",
        "*p = 5; r0 = x; p = &y; (*p)++; r1 = y; q = p; r2 = (p == q) * 10 + (p != &x); q = &a[1]; q++; r3 = *q; q += 2; r4 = q - a; r5 = q[-1] + *(q - 2) + *(a + 1) + 1[a];
         r6 = none == 0; if (!none && p) r6 += 2; swap(&x, &y); r7 = x * 10 + y; *larger(&x, &y) = 100; r8 = x + y; int s = 0; walk(a, 5, &s); r9 = s;
         int **pp = &p; **pp = 7; *pp = &x; *p += 1; r10 = x + y; r11 = length(&first) * 10 + first.next->next->v; second.next = &first; r12 = first.next->next->next->v;
         *box.where = 3; box.where = &box.m[1]; *box.where += 1; r13 = y * 100 + box.m[1]; int *e = a + 5; r14 = 0; for (q = a; q < e; q++) r14 += *q;
         int *l = x > 3 ? &a[0] : (int *) 0; r15 = l ? *l : -1;",
    );
}

#[test]
fn pointers_into_structures_and_arrays() {
    check(
        "struct t { int x; int y; }; struct s { struct t t; int c[2]; struct t *to; }; struct s v[3]; int m[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
         void set(struct s *s, int k) { s->t.x = k; s->c[1] = k + 1; s->to = &s->t; } int row(int r[3]) { return r[0] + r[2]; }
         int second(struct t *t) { t++; return t->y; } void clear(int (*all)[3]) { for (int i = 0; i < 3; i++) (*all)[i] = 0; }",
        "for (int i = 0; i < 3; i++) set(&v[i], i * 10); r0 = v[2].t.x + v[1].c[1]; struct s *p = v + 1; p->to->y = 6; r1 = v[1].t.y; p++; r2 = p->t.x; *p = v[0]; r3 = v[2].c[1];
         r4 = row(m[1]); r5 = row(&m[0][0]); struct t pair[2] = { { 1, 2 }, { 3, 4 } }; r6 = second(pair); clear(&m[1]); r7 = m[1][0] + m[1][2] + m[0][2];
         struct t *t = &v[1].t; t->x = 77; r8 = v[1].t.x; t = &pair[1]; r9 = t->x; r10 = t == pair + 1; v[0].to = t; v[0].to->y++; r11 = pair[1].y;
         int (*whole)[3] = &m[0]; (*whole)[1] = 9; r12 = m[0][1]; const int *c = &m[0][1]; r13 = *c; r14 = (p - v) * 10 + (&v[2] == p);",
    );
}

#[test]
fn strings() {
    check(
        "const char *name = \"first\"; int length(const char *s) { int n = 0; while (*s++) n++; return n; } int last(const char *s, int n) { return s[n - 1]; }
         void unused(const char *why, int *x) { *x = 4; }",
        "r0 = length(name); name = \"ab\"; r1 = length(name); char *s = \"xyz\"; r2 = s[1]; r3 = last(\"hello\", 5); r4 = length(\"\"); int x; unused(\"why\", &x); r5 = x;
         r6 = \"abc\"[1]; r7 = *\"q\"; r8 = sizeof \"four\"; const char *all[2] = { \"one\", \"three\" }; r9 = length(all[1]) * 10 + length(all[0]); r10 = name == s;",
    );
}

/// What is undefined ends a run: null pointers, and pointers beyond what they point into.
#[test]
fn bad_pointers_end_a_run() {
    for (body, end) in [
        ("int *p = 0; *p = 1;", Kind::Plain),
        ("int a[2]; int *p = a; p += 2; p--; *p = 1;", Kind::Final),
        ("int a[2]; int *p = a; p += 2; *p = 1;", Kind::Plain),
        ("int a[2]; int *p = a; p += 3;", Kind::Plain),
        ("int a[2]; int *p = &a[2]; p = p;", Kind::Final),
        ("int m[2][2]; int *p; p = &m[0][1]; p++; p--; *p = 1;", Kind::Final),
        ("int m[2][2]; int *p; p = &m[0][1]; p++; *p = 1;", Kind::Plain),
        ("int x; int y; int *p = &x; int *q = &y; q = p; if (p < q) x = 1; if (p + 1 > q) x = 1;", Kind::Final),
        ("struct s { int v; struct s *n; } a = { 1, 0 }; struct s *p = &a; p = p->n; p = p->n;", Kind::Plain),
    ] {
        let built = read(&format!("int main() {{ {body} return 0; }}"), Ints::Wrap).unwrap_or_else(|e| panic!("{e}"));
        let (kind, _) = execute(&built.cfa, &[]);
        assert_eq!(kind, end, "{body}");
        let built = read(&format!("int main() {{ {body} return 0; }}"), Ints::Math).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(execute(&built.cfa, &[]).0, end, "{body}");
    }
}

#[test]
fn what_goes_beyond_is_refused() {
    for (text, message, place) in [
        ("int main() { int x; char *p = (char *) &x; *p = 1; }", "another type", "test.c:1:40"),
        (
            "void *malloc(unsigned long); int main() { int *p = malloc(4); *p = 1; }",
            "`malloc` has no body",
            "test.c:1:52",
        ),
        ("union u { int a; char b; } v; int main() { v.a = 1; }", "`v` is a union `u`", "test.c:1:44"),
        ("struct s { int a : 3; } v; int main() { v.a = 1; }", "`a` is a bit-field", "test.c:1:41"),
        ("struct s { float f; } v; int main() { v.f = 1; }", "`f` is a floating-point number", "test.c:1:39"),
        ("int main() { int x; void *p = &x; }", "`p` is a pointer to anything", "test.c:1:27"),
        (
            "int main() { int x; int *p; p = &x; return p + 1 > 0 ? p : 3; }",
            "this is a pointer, which is not supported here",
            "test.c:1:44",
        ),
        ("struct s *p; int main() { return p->a; }", "what this points to is a structure, which is not", "test.c:1:34"),
        ("int main() { int x; x.a = 1; }", "which has no member `a`", "test.c:1:21"),
        ("struct s { int a; } v; int main() { return v.b; }", "there is no member `b`", "test.c:1:44"),
        ("int main() { int x; int *p; p = &x; x = p; }", "where a number is expected", "test.c:1:41"),
    ] {
        let said = read(text, Ints::Wrap).expect_err(text);
        assert!(said.contains(message) && said.contains(place), "{text}\n{said}");
    }
}

const BEFORE: &str = "
struct t { short x; long y; };
struct s { int a; unsigned char b; int c[3]; struct t t; int *w; };
struct n { int v; struct n *next; };
int x0 = 3, x1 = -5, x2 = 7; int arr[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
int *p = &x0, *q = &x1, *r = arr; int **pp = &p;
struct s s0 = { .w = &x2 }, s1 = { 1, 2, { 3, 4, 5 }, { 6, 7 }, &x0 }; struct s ss[3] = { { 5, .w = &x1 }, { 6, .w = &x1 }, { 7, .w = &x1 } };
struct s *u = &s0, *z = &ss[1]; struct t *w = &s1.t; struct n nodes[4] = { { 1, nodes + 1 }, { 2 }, { 3, nodes }, { 4, &nodes[3] } }; struct n *m = nodes;
int change(int *i, struct s *s, struct t t) { *i += t.x; s->a ^= *i; t.y = 4; i = &s->a; *i += t.y; return *i; }
int plain(int *i, const struct s *s) { return *i + s->c[1] - s->t.x; }
struct t made(struct s s) { s.t.x++; s.c[1] = s.a; return s.t; }
int *pick(int c) { return c & 1 ? p : &x2; }
int total(int *i, int n) { int k = 0; for (int *e = i + n; i != e; ++i) k += *i; return k; }
";

fn number(r: &mut Random, depth: usize) -> String {
    if depth == 0 {
        let leaves = [
            "x0",
            "x1",
            "x2",
            "*p",
            "*q",
            "**pp",
            "r[1]",
            "s0.a",
            "u->a",
            "u->b",
            "z->c[2]",
            "s1.t.x",
            "w->x",
            "u->t.y",
            "*z->w",
            "m->v",
            "(p == q)",
            "(m->next ? m->next->v : 9)",
            "(r - arr)",
            "ss[x0 & 1].a",
            "!p",
            "(w == &u->t)",
            "total(r, 3)",
            "*pick(x1)",
            "plain(q, z)",
            "plain(&x2, &s1)",
            "u->c[x1 & 1]",
            "(r < arr + 3)",
            "5",
            "-3",
        ];
        return r.pick(&leaves).to_string();
    }
    let (a, b) = (number(r, depth - 1), number(r, depth - 1));
    match r.below(6) {
        0 => format!("({a} + {b})"),
        1 => format!("({a} - {b})"),
        2 => format!("({a} & {b})"),
        3 => format!("({a} < {b})"),
        4 => format!("({a} ? {b} : {})", number(r, 0)),
        _ => format!("({a} ^ {b})"),
    }
}

fn statement(r: &mut Random, out: &mut String, depth: usize) {
    let e = number(r, 1);
    let place = r.pick(&[
        "x0",
        "x1",
        "*p",
        "*q",
        "**pp",
        "*r",
        "r[2]",
        "*(r + 1)",
        "s0.a",
        "s1.t.y",
        "u->a",
        "u->b",
        "z->c[x0 & 1]",
        "u->t.x",
        "w->y",
        "w->x",
        "*u->w",
        "m->v",
        "ss[x1 & 1].c[2]",
        "(*u).a",
        "nodes[x2 & 3].v",
    ]);
    let pointer = r.pick(&[
        "&x0",
        "&x1",
        "&arr[x0 & 3]",
        "&ss[1].c[x1 & 1]",
        "p",
        "q",
        "*pp",
        "&s0.a",
        "&s0.c[1]",
        "pick(x0)",
        "u->w",
        "z->w",
    ]);
    let _ = match r.below(if depth == 0 { 12 } else { 15 }) {
        0 | 1 => writeln!(out, "{place} {} {e};", r.pick(&["=", "+=", "^="])),
        2 => writeln!(out, "{} = {pointer};", r.pick(&["p", "q", "*pp", "u->w", "ss[1].w"])),
        3 => writeln!(out, "r = arr + ({e} & 3);"),
        4 => writeln!(out, "{} = {};", r.pick(&["u", "z"]), r.pick(&["&s0", "&s1", "&ss[x0 & 1]", "u", "z", "ss + 2"])),
        5 => writeln!(out, "w = {};", r.pick(&["&u->t", "&s0.t", "&z->t", "w"])),
        6 => writeln!(
            out,
            "{};",
            r.pick(&[
                "s0 = s1",
                "*u = *z",
                "ss[0] = *u",
                "*z = ss[2]",
                "*w = s1.t",
                "s1 = ss[x1 & 1]",
                "*w = made(*u)"
            ])
        ),
        7 => writeln!(out, "m = {};", r.pick(&["m->next ? m->next : nodes", "&nodes[x0 & 3]", "nodes + 2", "m"])),
        8 => writeln!(out, "m->next = {};", r.pick(&["0", "m", "&nodes[x1 & 3]", "nodes[0].next"])),
        9 => writeln!(
            out,
            "{place} = change({}, {}, {});",
            r.pick(&["p", "&x1", "r"]),
            r.pick(&["u", "&s1", "z"]),
            r.pick(&["*w", "u->t", "made(s0)"])
        ),
        10 => writeln!(out, "pp = {};", r.pick(&["&p", "&q", "&u->w", "pp"])),
        11 => writeln!(out, "({}){};", place, r.pick(&["++", "--"])),
        12 | 13 => {
            let _ = writeln!(out, "if ({e}) {{");
            statement(r, out, depth - 1);
            let _ = writeln!(out, "}} else {{");
            statement(r, out, depth - 1);
            writeln!(out, "}}")
        }
        _ => {
            let _ = writeln!(out, "for (int i{depth} = 0; i{depth} < 2; i{depth}++) {{");
            statement(r, out, depth - 1);
            statement(r, out, depth - 1);
            writeln!(out, "}}")
        }
    };
}

fn compare(seeds: std::ops::Range<u64>) {
    if !has_gcc() {
        eprintln!("skipped: there is no gcc");
        return;
    }
    for seed in seeds {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let results = [
            "x0",
            "x1",
            "x2",
            "*p",
            "*q",
            "**pp",
            "s0.a",
            "s0.b",
            "s0.c[1]",
            "s1.t.x",
            "s1.t.y",
            "u->a",
            "z->c[2]",
            "w->x",
            "m->v",
            "ss[0].a",
            "ss[1].c[0]",
            "ss[2].t.y",
            "arr[1]",
            "arr[3]",
            "r - arr",
            "u == z",
            "p == q",
            "nodes[1].v",
            "*ss[1].w",
        ];
        let mut text = String::from(BEFORE);
        let globals: Vec<String> = (0..results.len()).map(|n| format!("e{n}")).collect();
        let _ = writeln!(text, "long long {};\nvoid run(void) {{", globals.join(", "));
        for _ in 0..8 {
            statement(&mut r, &mut text, 2);
        }
        for (n, e) in results.iter().enumerate() {
            let _ = writeln!(text, "e{n} = {e};");
        }
        let _ = writeln!(text, "}} /* seed {seed} */");
        agree(&text, &globals, &[]);
    }
}

#[test]
fn programs_mean_the_same() {
    compare(1..30);
}

/// Long: `cargo test -p trellis-syntax --test c -- --ignored many`
#[test]
#[ignore = "takes minutes"]
fn many_programs_mean_the_same() {
    let seeds = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2_000);
    compare(1_000..1_000 + seeds);
}
