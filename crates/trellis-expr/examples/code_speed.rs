//! How long compiled guards and updates take: `cargo run --release -p trellis-expr --example code_speed`.

use std::hint::black_box;
use std::time::Instant;

use trellis_expr::code::{Code, Host, Layout, compile_stmt, compile_term};
use trellis_expr::{Fault, FnId, Stmt, Terms, Type};

/// A host that does next to nothing, so that what is measured is the way there.
struct Quick(i64);

impl Host for Quick {
    #[inline]
    fn query(&mut self, _: FnId, args: &[i64]) -> Result<i64, Fault> {
        Ok(self.0 + args[0])
    }

    #[inline]
    fn update(&mut self, _: FnId, args: &[i64]) -> Result<(), Fault> {
        self.0 ^= args[0];
        Ok(())
    }
}

const ROUNDS: u32 = 100_000;
const SAMPLES: u32 = 300;

/// The best of many short samples: what is left when nobody else uses the machine.
fn measure(name: &str, mut round: impl FnMut(u32)) {
    let only = std::env::args().nth(1);
    if only.is_some_and(|only| !name.starts_with(&only)) {
        return;
    }
    let best = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            (0..ROUNDS).for_each(&mut round);
            start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
        })
        .fold(f64::INFINITY, f64::min);
    println!("{best:7.2} ns  {name}");
}

fn guard(name: &str, code: &Code, mem: &[i64]) {
    let mut host = Quick(0);
    measure(name, |_| {
        black_box(black_box(code).eval(black_box(mem), &mut host).is_ok_and(|n| n != 0));
    });
}

fn update(name: &str, code: &Code, mem: &mut [i64]) {
    let mut host = Quick(0);
    measure(name, |k| {
        mem[0] = i64::from(k & 1);
        black_box(black_box(code).exec(black_box(&mut *mem), &mut host).is_ok());
    });
}

fn main() {
    let mut t = Terms::new();
    let range = Type::Range(0, 100);
    let vars: Vec<_> = ["x", "y", "z", "w"].into_iter().map(|n| t.declare(n, range)).collect();
    let array = t.array_type(Type::Range(0, 7), range);
    let a = t.declare("a", array);
    let mut layout = Layout::new();
    for (k, &v) in vars.iter().enumerate() {
        layout.place(v, k as u32, 1);
    }
    layout.place(a, 4, 8);
    let mut mem = vec![3, 2, 5, 7, 0, 1, 2, 3, 4, 5, 6, 7];

    let v: Vec<_> = vars.iter().map(|&v| t.var(v)).collect();
    let a_term = t.var(a);
    let n: Vec<_> = (0..10).map(|k| t.int(k)).collect();

    let x_is_3 = t.eq(v[0], n[3]);
    let y_below_4 = t.lt(v[1], n[4]);
    let z_below_w = t.lt(v[2], v[3]);
    let both = t.and([x_is_3, y_below_4]);
    let a2 = t.select(a_term, n[2]);
    let a2_is_2 = t.eq(a2, n[2]);
    let all = t.and([x_is_3, y_below_4, z_below_w, a2_is_2]);
    let sum = t.add([v[0], v[1], n[1]]);
    let small = t.le(sum, n[9]);
    let ax = t.select(a_term, v[0]);
    let ax_is_3 = t.eq(ax, n[3]);
    let query = t.foreign(FnId(0), [n[1], n[2], n[3]]);
    let query_is_1 = t.eq(query, n[1]);
    let query_x = t.foreign(FnId(0), [v[0], n[1]]);
    let query_x_is_3 = t.eq(query_x, n[3]);

    // For comparison: the same guard in Rust, behind a call.
    #[inline(never)]
    fn by_hand(mem: &[i64]) -> bool {
        mem[0] == 3 && mem[1] < 4
    }
    measure("x == 3 && y < 4, by hand", |_| {
        black_box(by_hand(black_box(&mem)));
    });

    for (name, term) in [
        ("x == 3", x_is_3),
        ("x == 3 && y < 4", both),
        ("x == 3 && y < 4 && z < w && a[2] == 2", all),
        ("x + y + 1 <= 9", small),
        ("a[x] == 3", ax_is_3),
        ("f(1, 2, 3) == 1", query_is_1),
        ("f(x, 1) == 3", query_x_is_3),
    ] {
        guard(name, &compile_term(&t, &layout, term).unwrap(), &mem);
    }

    let x_plus_1 = t.add([v[0], n[1]]);
    let bump = t.assign(vars[0], x_plus_1);
    let stored = t.store(a_term, v[0], v[1]);
    let put = t.assign(a, stored);
    let copy = t.assign(vars[2], v[3]);
    let several = t.seq([bump, copy, put]);
    let call = t.intern_stmt(Stmt::Foreign(FnId(1), [n[1]].into()));
    for (name, stmt) in
        [("x := x + 1", bump), ("a[x] := y", put), ("x := x + 1; z := w; a[x] := y", several), ("g(1)", call)]
    {
        update(name, &compile_stmt(&t, &layout, stmt).unwrap(), &mut mem);
    }
}
