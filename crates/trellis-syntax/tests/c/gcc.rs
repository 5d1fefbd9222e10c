//! Small programs, each about one thing in which C is particular.

use crate::run::{agree, has_gcc};

/// Runs the body with globals `r0`, `r1`, … of type `long long` for the results.
pub fn check(before: &str, body: &str) {
    if !has_gcc() {
        eprintln!("skipped: there is no gcc");
        return;
    }
    let globals: Vec<String> = (0..16).map(|n| format!("r{n}")).filter(|r| body.contains(&format!("{r} "))).collect();
    let declared: String = globals.iter().map(|g| format!("long long {g};\n")).collect();
    agree(&format!("{declared}{before}\nvoid run(void) {{\n{body}\n}}\n"), &globals, &[]);
}

#[test]
fn promotions_and_conversions() {
    check(
        "signed char sc = -1; unsigned char uc = 255; short s = -32768; unsigned short us = 65535; unsigned u = 4000000000u;",
        "r0 = sc == uc; r1 = sc + uc; r2 = us * us; r3 = s - us; r4 = u + sc; r5 = -1 < u; r6 = (long) -1 < u;
         r7 = (unsigned char) 300; r8 = (signed char) 200; r9 = (short) u; r10 = ~uc; r11 = -uc; r12 = (_Bool) 256;
         r13 = sizeof(sc + sc); r14 = us > -1; r15 = (u << 1) >> 1;",
    );
}

#[test]
fn wrapping_around() {
    check(
        "int i = 2147483647; unsigned u = 0; long l = 9223372036854775807L; char c = 127; unsigned char uc = 0; _Bool b = 1;",
        "i++; u--; l++; c++; uc--; b++; r0 = i; r1 = u; r2 = l; r3 = c; r4 = uc; r5 = b; b--; r6 = b; b--; r7 = b;
         i = -2147483647 - 1; r8 = -i; r9 = i - 1; r10 = i * 3; unsigned short s = 40000; s += s; r11 = s; s *= s; r12 = s;
         c = 100; c += 100; r13 = c; c <<= 1; r14 = c; r15 = 65535 * 65537;",
    );
}

#[test]
fn shifts_and_bits() {
    check(
        "int i = -17; unsigned u = 0xdeadbeef; short s = -5; unsigned char c = 0x81; long long w = -1; int d = 31;",
        "r0 = i >> 2; r1 = u >> 4; r2 = s << 3; r3 = c << 24; r4 = 1 << d; r5 = 1u << d; r6 = w >> 63; r7 = (unsigned long) w >> 1;
         r8 = i & u; r9 = i | 0xff; r10 = i ^ u; r11 = ~u; r12 = ~c; r13 = (c & 0x80) != 0; r14 = u & -u; r15 = !u;",
    );
}

#[test]
fn division() {
    check(
        "int a = -7, b = 2; unsigned u = 4294967289u; long long m = -7; unsigned char c = 7;",
        "r0 = a / b; r1 = a % b; r2 = a / -b; r3 = a % -b; r4 = u / b; r5 = u % 10; r6 = m / c; r7 = m % c;
         r8 = a / 2u; r9 = -a / b; a /= 2; r10 = a; a %= 2; r11 = a; r12 = (-9) % 5; r13 = 9 % (-5);",
    );
}

#[test]
fn switches_fall_through() {
    check(
        "int f(int x) { int r = 0; switch (x) { case 0: r += 1; case 1: r += 10; break; case 'a' ... 'c': r += 7; default: r += 100;
           case 5: r += 1000; break; case -1: { int y = 3; r += y; } } return r; }
         int g(unsigned char c) { switch (c) { case 255: return 1; case -1: return 2; } return 3; }
         int h(int n) { int s = 0; switch (n & 3) { do { case 0: s += 1; case 3: s += 2; case 2: s += 4; case 1: s += 8; } while (--n > 0); }
           return s; }",
        "r0 = f(0); r1 = f(1); r2 = f(5); r3 = f(-1); r4 = f(98); r5 = f(42); r6 = g(255); r7 = g(0); r8 = h(3); r9 = h(8);
         int x = 3; switch (x) ; switch (x) { x = 9; case 3: x++; } r10 = x; switch (x) { case 1: break; } r11 = x;",
    );
}

#[test]
fn short_circuit() {
    check(
        "int n; int t(void) { n++; return 1; } int f(void) { n += 10; return 0; }",
        "r0 = t() && f(); r1 = n; n = 0; r2 = f() && t(); r3 = n; n = 0; r4 = t() || f(); r5 = n; n = 0; r6 = f() || t(); r7 = n;
         n = 0; r8 = (f() || t()) && !f() ? t() + 41 : f(); r9 = n; int a = 0; if (a && (a = 5)) a = 7; r10 = a;
         if (a++ || a++) r11 = a; else r11 = -1; r12 = (a = 3, a + 1); r13 = a > 2 ? a++ : a--; r14 = a;
         int z = 0; r15 = z != 0 && 10 / z > 1;",
    );
}

#[test]
fn steps_inside_expressions() {
    check(
        "int a[5]; int i = 1; unsigned char c = 255;",
        "r0 = i++; r1 = i; r2 = ++i; r3 = i--; r4 = --i; r5 = c++; r6 = c; r7 = --c; a[i] = 7; a[i++] += 2; r8 = a[1]; r9 = i;
         a[0] = a[3] = 5; r10 = a[0] + a[3]; int x, y; x = y = 3; r11 = x * y; x += y -= 1; r12 = x; r13 = y;
         for (int k = 0, m = 4; k < m; k++, m--) r14 += k * m; i = 2; r15 = -i++ + 10;",
    );
}

#[test]
fn goto_and_loops() {
    check(
        "int collatz(unsigned n) { int s = 0; again: if (n == 1) return s; s++; n = n & 1 ? 3 * n + 1 : n / 2; goto again; }",
        "r0 = collatz(27); int i = 0; do { i += 3; if (i == 6) continue; if (i > 10) break; r1 += i; } while (i < 100); r2 = i;
         for (i = 0; ; i++) { if (i == 3) continue; if (i > 5) break; r3 += i; } while (1) { while (1) { break; } r4 = 5; break; }
         goto in; { int k; in: k = 4; r5 = k; } i = 0; loop: if (i++ < 4) goto loop; r6 = i;
         for (int a = 0; a < 3; a++) for (int b = 0; b < 3; b++) { if (b == 2) goto out; r7 += a * 10 + b; } out: r8 = 1;",
    );
}

#[test]
fn functions_and_scopes() {
    check(
        "int x = 5; static int count; int add(int a, int b) { return a + b; } int next(void) { static int n = 7; return n++; }
         int shadow(int x) { { int x = 2; x++; } int y = x; { int y = 100; x += y; } return x + y; }
         void set(int *p, int v) { *p = v; } int sum(int a[], int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
         void fill(int a[3], int v) { a[0] = v; a[1] = v + 1; a[2] = v + 2; } unsigned char narrow(int v) { return v; }
         int twice(int v) { return add(v, v); } void nothing(void) { return; } int old(a, b) int a; char b; { return a - b; }
         void through(int *q) { set(q, 77); }",
        "r0 = add(add(1, 2), add(3, 4)); r1 = next() * 100 + next(); r2 = next(); r3 = shadow(1); r4 = x; int v; set(&v, 9); r5 = v;
         int a[3] = {1, 2, 3}; r6 = sum(a, 3); fill(a, 10); r7 = sum(a, 3); r8 = narrow(300); r9 = twice(twice(3)); nothing();
         { int x = 8; r10 = x; } r11 = x; r12 = old(300, 3); through(&v); r13 = v; set(&a[1], 5); r14 = a[1]; int s[3] = {0, 5, 6}; r15 = (s[s[0]] = 2) * 10 + s[0];",
    );
}

#[test]
fn arrays_and_initialisers() {
    check(
        "int m[2][3] = {{1, 2, 3}, {4, 5, 6}}; int flat[2][2] = {1, 2, 3}; int part[5] = {1, [3] = 9, 10}; char text[] = \"ab\\n\";
         enum e { A, B = 5, C, D = -2, E }; int z[4]; unsigned char uc[3] = {300, -1}; int unknown[] = {1, 2, [5] = 3};
         int ranges[6] = {[1 ... 3] = 4};",
        "r0 = m[1][2] * 10 + m[0][1]; r1 = flat[1][0] + flat[1][1]; r2 = part[0] + part[3] * part[4] + part[2]; r3 = text[1] + text[2];
         r4 = sizeof(text) + sizeof(m) / sizeof(m[0]); r5 = A + B * 2 + C * 3 + D * 4 + E; r6 = z[2]; r7 = uc[0] * 1000 + uc[1];
         r8 = sizeof unknown / sizeof unknown[0]; int local[2][2] = {{7}, {8, 9}}; for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++)
         { r9 += local[i][j] * (i + 1); m[i][j] = i * j; } r10 = m[1][1] + m[1][2]; enum e v = D; r11 = v; r12 = ranges[3] + ranges[4];
         int k = 2, l[3] = {k++, k++, k}; r13 = l[0] * 100 + l[1] * 10 + l[2]; r14 = 'a' + '\\x10' + '\\0';",
    );
}

#[test]
fn gnu_extensions() {
    check(
        "#include <assert.h>\n#include <stdbool.h>\n#include <limits.h>\n#include <stdlib.h>\n#include <stdint.h>\nint n;\n",
        "r0 = ({ int a = 3; a + 1; }); assert(r0 == 4); bool b = 7; r1 = b == true; r2 = INT_MAX; r3 = LONG_MIN; r4 = ({ n++; n; }) + n;
         r5 = __builtin_expect(n > 0, 1); uint8_t u = 250; u += 10; r6 = u; int64_t w = INT64_C(5); r7 = w; size_t s = sizeof(int); r8 = s;
         r9 = abs(-4); r10 = 0b101; r11 = 077; r12 = 0x7fffffffffffffff; r13 = UINT_MAX; r14 = 1 ? -1 : 1u; ",
    );
}
