//! Nanoseconds per operation on zones: `cargo run --release -p trellis-domain --example zone_speed [dim…]`.
//!
//! The zones are those of a random walk as an exploration would make it: delays, guards, resets. Operations that change
//! a zone work on a fresh copy each time; the line "copy" is what that alone takes, and is included in theirs.

use std::hint::black_box;
use std::time::Instant;

use trellis_domain::zone::{Bound, Zone, ZoneDomain};
use trellis_order::{Domain, Join};

fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Zones of a random walk.
fn walk(d: ZoneDomain, count: usize) -> Vec<Zone> {
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    let mut zones = Vec::new();
    let mut z = Zone::zero(d.clocks());
    while zones.len() < count {
        let x = 1 + next(&mut seed) as usize % d.clocks();
        let c = next(&mut seed) as i32 & 31;
        d.up(&mut z);
        let (i, j, bound) = if next(&mut seed) & 1 == 0 { (x, 0, Bound::le(c)) } else { (0, x, Bound::lt(-c)) };
        if d.satisfies(&z, i, j, bound) {
            d.constrain(&mut z, i, j, bound).expect("small constants");
            zones.push(z.clone());
        }
        d.reset(&mut z, 1 + next(&mut seed) as usize % d.clocks(), 0).expect("zero");
        // Clocks must not run away, as they do not with an extrapolation.
        if d.get(&z, 0, x) < Bound::le(-1000) {
            z = Zone::zero(d.clocks());
        }
    }
    zones
}

/// A bound that makes the zone smaller but, if possible, not empty.
fn guard(d: ZoneDomain, z: &Zone, at: usize) -> (usize, usize, Bound) {
    let lower = |x: usize| d.get(z, 0, x).constant().unwrap_or_default();
    let cuts = |x: &usize| d.satisfies(z, 0, *x, Bound::le(lower(*x) - 1));
    let x = (0..d.clocks()).map(|n| 1 + (n + at) % d.clocks()).find(cuts).unwrap_or(1);
    (0, x, Bound::le(lower(x) - 1))
}

/// The least time per call of several rounds over all zones.
fn measure(name: &str, zones: &[Zone], mut operation: impl FnMut(usize)) {
    let rounds = 4_000_000 / (zones.len() * zones[0].len()).max(1) + 3;
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        for at in 0..zones.len() {
            operation(at);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / zones.len() as f64);
    }
    println!("  {name:<32}{best:>9.1} ns");
}

fn report(dim: usize) {
    let d = ZoneDomain::new(dim - 1);
    let zones = &walk(d, 512);
    let other = |at: usize| &zones[(at * 7 + 3) % zones.len()];
    let mut z = Zone::empty(d.clocks());
    let l: Vec<i32> = (0..dim as i32).map(|x| 3 + x % 17).collect();
    let u: Vec<i32> = (0..dim as i32).map(|x| 19 - x % 17).collect();
    let guards: Vec<_> = zones.iter().enumerate().map(|(at, z)| guard(d, z, at)).collect();
    println!("dim {dim} ({} clocks)", d.clocks());
    measure("copy", zones, |at| black_box(&mut z).copy_from_slice(&zones[at]));
    macro_rules! on_copy {
        ($name:literal, |$zone:ident, $at:ident| $body:expr) => {
            measure($name, zones, |$at| {
                let $zone = black_box(&mut z);
                $zone.copy_from_slice(&zones[$at]);
                let _ = black_box($body);
            })
        };
    }
    on_copy!("up", |z, at| d.up(z));
    on_copy!("down", |z, at| d.down(z));
    on_copy!("reset", |z, at| d.reset(z, 1 + at % d.clocks(), 3));
    on_copy!("free", |z, at| d.free(z, 1 + at % d.clocks()));
    on_copy!("constrain, tighter", |z, at| {
        let (i, j, bound) = guards[at];
        d.constrain(z, i, j, bound)
    });
    on_copy!("close (all of it)", |z, at| d.close(z));
    on_copy!("intersect with another", |z, at| d.intersect(z, other(at)));
    on_copy!("join", |z, at| d.join(z, other(at)));
    on_copy!("Extra-M", |z, at| d.extra_m(z, &u));
    on_copy!("Extra-LU", |z, at| d.extra_lu(z, &l, &u));
    on_copy!("Extra-LU+", |z, at| d.extra_lu_plus(z, &l, &u));
    measure("leq of equals (longest)", zones, |at| {
        black_box(d.leq(black_box(&zones[at]), black_box(&zones[at])));
    });
    measure("leq of others", zones, |at| {
        black_box(d.leq(black_box(&zones[at]), black_box(other(at))));
    });
    measure("leq aLU of equals (longest)", zones, |at| {
        black_box(d.leq_alu(black_box(&zones[at]), black_box(&zones[at]), &l, &u));
    });
    measure("leq aLU of others", zones, |at| {
        black_box(d.leq_alu(black_box(&zones[at]), black_box(other(at)), &l, &u));
    });
    let mut form = Vec::new();
    measure("minimal", zones, |at| {
        form.clear();
        d.minimal_into(black_box(&zones[at]), &mut form);
        black_box(&form);
    });
    let mut out = Zone::empty(d.clocks());
    measure("interpolant, or none", zones, |at| {
        black_box(d.interpolant(&zones[at], other(at), &mut out)).ok();
    });
    measure("point in", zones, |at| {
        black_box(d.point_in(&zones[at]));
    });
}

fn main() {
    let dims: Vec<usize> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    for dim in if dims.is_empty() { vec![4, 8, 16, 64] } else { dims } {
        report(dim.max(2));
    }
}
