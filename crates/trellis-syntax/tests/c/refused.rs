//! What is not understood is refused, by name and in its place.

use std::time::Instant;

use trellis_syntax::c::{Ints, Kind, Kinds, Options, TIME_LIMIT, parse};
use trellis_syntax::diag::Sources;

use crate::run::read;

/// The first line of the complaint, and where it points.
fn refusal(text: &str) -> (String, String) {
    let message = read(text, Ints::Wrap).expect_err(text);
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ").to_string();
    let place = lines.next().unwrap_or_default().trim_start_matches([' ', '-', '>', '╭', '▸']).to_string();
    (first, place)
}

#[test]
fn by_name_and_place() {
    for (text, message, place) in [
        ("int main() { int x, *p; x = p; }", "this is a pointer, where a number is expected", "test.c:1:29"),
        (
            "int f(int n) { return n ? f(n - 1) : 0; } int main() { f(3); }",
            "`f` calls itself: recursion is not supported",
            "test.c:1:27",
        ),
        ("int main() { float f = 1; }", "`f` is a floating-point number, which is not supported here", "test.c:1:20"),
        ("int main() { int x = 1.5; }", "floating-point numbers are not supported", "test.c:1:22"),
        (
            "union s { int a; } v; int main() { v.a = 1; }",
            "`v` is a union `s`, which is not supported here",
            "test.c:1:36",
        ),
        ("int main() { asm(\"nop\"); }", "`asm` is not supported: it is inline assembly", "test.c:1:14"),
        ("int main() { __asm__ volatile(\"nop\" ::: \"memory\"); }", "inline assembly is not supported", "test.c:1:14"),
        (
            "int main() { int n = 3; int a[n]; a[0] = 1; }",
            "`a` is an array of variable size, which is not supported here",
            "test.c:1:35",
        ),
        ("int main() { __int128 x; }", "128-bit integers are not supported", "test.c:1:23"),
        ("int main() { x = 1; }", "`x` is not declared", "test.c:1:14"),
        ("int main() { goto nowhere; }", "there is no label `nowhere` in this function", "test.c:1:14"),
        ("int f() { return 1; }", "there is no function `main`", "test.c:1:1"),
        (
            "int (*f)(void); int main() { f(); }",
            "`f` is a function pointer, which is not supported here",
            "test.c:1:30",
        ),
        ("int main() { int a[2]; a = 0; }", "this is an array, where a number is expected", "test.c:1:24"),
        ("int main() { return 1 + ; }", "the parser of C does not expect `;` here", "test.c:1:25"),
        ("int main() { foo x; }", "the parser of C does not expect `x` here", "test.c:1:18"),
        (
            "int f(int n, ...) { return n; } int main() { f(1, 2); }",
            "`f` takes variable arguments, which are not supported",
            "test.c:1:46",
        ),
        (
            "void g(int *); int main() { int x; g(&x); }",
            "`g` has no body here, and might change what it is handed: a pointer",
            "test.c:1:38",
        ),
        ("int main() { case 1: ; }", "`case` outside a switch", "test.c:1:14"),
        ("int x; f(a) { return a; }\nmain() { f(1); y = 1; }", "`y` is not declared", "test.c:2:16"),
        ("int main() { break; }", "`break` outside a loop or switch", "test.c:1:14"),
        ("int main(int n) { switch (n) { case 1: case 1: ; } }", "this case stands there twice", "test.c:1:40"),
    ] {
        let (said, at) = refusal(text);
        assert_eq!((said.as_str(), at.as_str()), (message, place), "{text}");
    }
}

/// What gcc refuses, too; found by the class tests (`bench/trust`).
#[test]
fn words_that_are_no_type_and_second_definitions() {
    let words = "these words do not make up a type together";
    for (text, message, place) in [
        ("unsigned int int x; int main() { }", words, "test.c:1:14"),
        ("unsigned unsigned x; int main() { }", words, "test.c:1:10"),
        ("int main() { long long long x; }", words, "test.c:1:24"),
        ("int main() { short long x; }", words, "test.c:1:20"),
        ("int main() { return sizeof(int int); }", words, "test.c:1:32"),
        (
            "extern extern int x; int main() { }",
            "a second storage class: a declaration has one (`static`, `extern`, …)",
            "test.c:1:8",
        ),
        ("int x = 0; int x = 0; int main() { }", "`x` is defined twice", "test.c:1:16"),
        ("int x; long x; int main() { }", "`x` is declared with another type before", "test.c:1:13"),
        ("int x[2]; int x[3]; int main() { }", "`x` is declared with another type before", "test.c:1:15"),
        ("int main() { int x; int x; }", "`x` is defined twice", "test.c:1:25"),
        ("enum e { A }; enum e { B }; int main() { }", "`enum e` is defined twice", "test.c:1:20"),
        ("enum { A }; enum { A }; int main() { }", "`A` is defined twice", "test.c:1:20"),
        ("struct s { int a; }; struct s { int a; }; int main() { }", "`struct s` is defined twice", "test.c:1:29"),
        ("struct s { int a; int a; }; int main() { }", "there are two members `a`", "test.c:1:23"),
        (
            "enum f x; int main() { int y = x; }",
            "`x` is of the unknown type `enum f`, which is not supported here",
            "test.c:1:32",
        ),
        ("int f(voyd); int main() { }", "`voyd` is not the name of a type", "test.c:1:7"),
        ("int main() { while (1) { brake; } }", "`brake` is not declared", "test.c:1:26"),
        (
            "int __VERIFIER_nondet_int() __attribute__((noretrun)); int main() { int x = __VERIFIER_nondet_int(); }",
            "`__VERIFIER_nondet_int` has the attribute `noretrun`, which is not supported",
            "test.c:1:77",
        ),
    ] {
        let (said, at) = refusal(text);
        assert_eq!((said.as_str(), at.as_str()), (message, place), "{text}");
    }
}

/// Declared again, hidden, or with parentheses: all of that is C.
#[test]
fn repeated_declarations_are_no_definitions() {
    for text in [
        "extern int x; int x; int x = 1; int x; int main() { return x; }",
        "int x[]; int x[3]; int main() { return x[0]; }",
        "int f(int); int f(int); int f(int n) { return n; } int main() { return f(1) + f(2); }",
        "int main() { int x = 0; { int x = 1; } for (int x = 0; x < 2; x++) { int y = x; } return x; }",
        "enum e { A }; int main() { enum e { A, B }; enum e x = B; return x; }",
        "struct s { int a; }; int main() { struct s { int b; } x = { 1 }; return x.b; }",
        "int long unsigned x; long int long y; int main() { return x + y; }",
        "typedef int T; T (*f)(void); void (*g)(int); int main() { (void) f; return 0; }",
        "int main(int argc, char **argv) { (void) argc; argv; return 0; }",
    ] {
        read(text, Ints::Wrap).unwrap_or_else(|e| panic!("{text}\n{e}"));
    }
}

#[test]
fn several_mistakes_are_told_at_once() {
    let message = read("int main() { x = 1; y = 2; if (z) { w = 1; } }", Ints::Wrap).expect_err("mistakes");
    for name in ["`x`", "`y`", "`z`"] {
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn macros_do_not_move_complaints() {
    if !crate::run::has_gcc() {
        return;
    }
    let text = "#define TWO 2\n#include <limits.h>\nint main() {\n  int a = TWO; float p = a;\n  undeclared = 1;\n}\n";
    let message = read(text, Ints::Wrap).expect_err("mistakes");
    assert!(message.contains("test.c:5:3"), "{message}");
    assert!(message.contains("test.c:4:"), "{message}");
}

#[test]
fn deep_nesting_is_refused_or_read_but_never_too_much() {
    let deep = |n: usize| {
        [
            format!("int main() {{ int x = {}1{}; }}", "(".repeat(n), ")".repeat(n)),
            format!("int main() {{ int x = {}1; }}", "- ".repeat(n)),
            format!("int main() {{ int x = {}1; }}", "1 + ".repeat(n)),
            format!("int main() {{ int x = 1; {} x = 2; }}", "if (x) x = 3; else ".repeat(n)),
            format!("int main() {{ int x = 1; {} x = 2; }}", "if (x) ".repeat(n)),
            format!("int main() {{ {} ; {} }}", "{".repeat(n), "}".repeat(n)),
            format!("int main() {{ int x = 1; x = {} 1{}; }}", "x ? x : (".repeat(n), ")".repeat(n)),
            format!("int main() {{ {} ; }}", (0..n).map(|k| format!("l{k}: ")).collect::<String>()),
        ]
    };
    for text in deep(200) {
        read(&text, Ints::Wrap).unwrap_or_else(|e| panic!("{e}"));
    }
    for text in deep(3_000).into_iter().chain(deep(100_000)) {
        let _ = read(&text, Ints::Wrap);
    }
}

/// What once took the parser exponential time, or made an automaton whose conditions grow with the cube of the text.
#[test]
fn repetitive_text_is_refused_or_read_in_no_time() {
    let typed =
        |n: usize, rest: &str| format!("typedef int T; int main(void) {{ {}{rest}; return 0; }}", "T (".repeat(n));
    let expression = |e: &str| format!("int main(void) {{ int x = 1; x = {e}x; return 0; }}");
    let texts = [
        typed(100, ""),
        typed(100, &format!("@{}", ")".repeat(100))),
        format!("int main(void) {{ int x = {}1{}; return 0; }}", "(1, ".repeat(5_000), ")".repeat(5_000)),
        expression(&"*".repeat(5_000)),
        expression(&"x << ".repeat(4_000)),
        expression(&"x / ".repeat(4_000)),
        "int a[1] = ".to_string() + &"__attribute__((x(".repeat(20_000),
        "f() { return 1; }\n".repeat(5_000) + "main() { return f(); }",
    ];
    for text in texts {
        let started = Instant::now();
        let kinds = Kinds::of(&[Kind::Shift, Kind::Division]);
        let mut sources = Sources::default();
        let id = sources.add("test.c", &*text);
        let options = Options { checks: kinds, ..Default::default() };
        let _ = parse(&mut sources, id, &options);
        // Generous, for a busy machine without optimisation.
        let seconds = started.elapsed().as_secs();
        assert!(seconds < 30, "{seconds} s: {}", &text[..80]);
    }
}

#[test]
fn the_deadline_covers_the_parser_and_what_follows() {
    let text = "int main(void) { return 0; }\n".to_string() + &"int g(int x);\n".repeat(20_000);
    let mut sources = Sources::default();
    let id = sources.add("test.c", &*text);
    let options = Options { deadline: Some(Instant::now()), ..Default::default() };
    let errors = parse(&mut sources, id, &options).expect_err("late");
    assert!(errors.iter().any(|d| d.message == TIME_LIMIT), "{errors:?}");
}

#[test]
fn broken_text_never_panics() {
    let text = include_str!("gcc.rs");
    let program = "typedef int t; enum e { A = 1 }; int g[3] = {1, 2}; int f(int x, unsigned y) { for (int i = 0; i < x; i++) \
                   { switch (y) { case 1: y++; break; default: goto out; } } out: return x ? y : A; } \
                   int main(void) { t v = f(1, 2u) + g[1]; assert(v && 'c'); return 0; }";
    let mut seed = 1u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for _ in 0..2_000 {
        let mut bytes = program.as_bytes().to_vec();
        for _ in 0..1 + random(3) {
            let at = random(bytes.len());
            match random(3) {
                0 => {
                    bytes.remove(at);
                }
                1 => bytes[at] = text.as_bytes()[random(text.len())] & 0x7f,
                _ => {
                    let to = (at + random(20)).min(bytes.len());
                    bytes.drain(at..to);
                }
            }
        }
        let broken: String = String::from_utf8_lossy(&bytes).replace(['#', '\\'], " ");
        let _ = read(&broken, Ints::Wrap);
    }
}
