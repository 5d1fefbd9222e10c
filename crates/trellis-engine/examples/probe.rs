use trellis_engine::budget::Budget;
use trellis_engine::network::*;
use trellis_engine::reach::*;
use trellis_engine::waitlist::Order;
use trellis_syntax::diag::Sources;
use trellis_syntax::uppaal::{self, build};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let mut sources = Sources::default();
    let id = sources.add(args[1].clone(), text.clone());
    let (nta, d) = if args[1].ends_with("xml") { uppaal::parse_xml(id, &text) } else { uppaal::parse_xta(id, &text) };
    for d in d { println!("{d:?}"); }
    let mut o = build::Options::default();
    let (update, rest) = (args[2].as_str(), &args[3..]);
    let mut strat = None;
    for r in rest { match r.split_once('=') { Some((n, v)) if v.parse::<i64>().is_ok() => o.constants.push((n.into(), v.parse().unwrap())), _ => { let id = sources.add("strategy", r.clone()); strat = uppaal::parse_expr(id, r).0; } } }
    let t0 = std::time::Instant::now();
    let q = build::Questions { queries: vec![], embedded: true, strategy: strat, ..Default::default() };
    let r = build::build(&nta, &q, &sources, &o);
    match r {
        Err(ds) => for d in ds { println!("{:?} {:?}", d, d.span.map(|s| sources.line_col(s))); },
        Ok(b) => { let s = b.strategy;
            println!("built {:?} key {} elem {}", t0.elapsed(), b.network.processes.len(), b.network.element_width());
            for q in &b.queries {
                let t0 = std::time::Instant::now();
                let opts = Options { update: match update { "simple" => Update::Simple, "cover" => Update::Cover, _ => Update::Join }, order: Order::Bfs, refine: if update == "cegar" { Refine::Split } else { Refine::Never } };
                let mut es = s.map(|s| ExprStrategy::new(&b.network, s.condition, s.uses_joined));
                let a = answer(&b.network, q, opts, es.as_mut().map(|e| e as &mut dyn Strategy<_>), None, &mut Budget::unlimited());
                match a {
                    Ok(a) => println!("{} {} {:?} {:?} bound {:?}", q.text, match a.verdict { trellis_model::evidence::Verdict::Safe(_) => "SAFE".into(), trellis_model::evidence::Verdict::Unsafe(t) => format!("UNSAFE {}", t.steps.len()), trellis_model::evidence::Verdict::Unknown(r) => format!("{r}") }, a.stats, t0.elapsed(), a.bound),
                    Err(e) => println!("{} after {:?}", e.error, e.trace.map(|t| t.steps.len())),
                }
            }
        }
    }
}
