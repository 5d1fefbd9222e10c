//! Small models, and how to ask the engines about them.

use trellis_engine::network::answer;
use trellis_engine::reach::{Options, Refine, Update};
use trellis_engine::waitlist::Order;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::network::{Certificate, Network, Query, Trace};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::uppaal::build::{Options as BuildOptions, Questions, build};
use trellis_syntax::uppaal::{parse_queries, parse_xta};

/// A model with its one question.
pub struct Asked {
    pub net: Network,
    pub query: Query,
}

pub fn ask(model: &str, query: &str) -> Asked {
    let mut sources = Sources::default();
    let id = sources.add("model.xta", model);
    let (nta, errors) = parse_xta(id, model);
    assert!(errors.is_empty(), "{}", render(&errors, &sources, false));
    let id = sources.add("query.q", query);
    let (queries, errors) = parse_queries(id, query);
    assert!(errors.is_empty(), "{}", render(&errors, &sources, false));
    let questions = Questions { queries, ..Questions::default() };
    match build(&nta, &questions, &sources, &BuildOptions::default()) {
        Ok(mut built) => Asked { net: built.network, query: built.queries.remove(0) },
        Err(errors) => panic!("{}", render(&errors, &sources, false)),
    }
}

impl Asked {
    pub fn verdict(&self, update: Update) -> (Verdict<Trace, Certificate>, Option<i64>) {
        let options = Options { update, order: Order::Bfs, refine: Refine::Split };
        match answer(&self.net, &self.query, options, None, None, &mut Meter::unlimited()) {
            Ok(a) => (a.verdict, a.bound.map(|b| b.value)),
            Err(broken) => panic!("{}", broken.error),
        }
    }

    pub fn certificate(&self, update: Update) -> Certificate {
        match self.verdict(update).0 {
            Verdict::Safe(c) => c,
            other => panic!("no certificate but {other:?}"),
        }
    }

    pub fn trace(&self, update: Update) -> Trace {
        match self.verdict(update).0 {
            Verdict::Unsafe(t) => t,
            other => panic!("no trace but {other:?}"),
        }
    }
}

/// Users take numbered things from a pool and give them back; the more is known to be there (fewer ones), the more can
/// be done. `n` counts what is taken.
pub const POOL: &str = "
    extern IntersectionBitVector;
    IntersectionBitVector taken[3];
    int[0,3] n;
    bool alarm;
    process User() {
        state idle, busy, full;
        init idle;
        trans
            idle -> busy { select i : int[0,2]; guard taken[i] == 0 && n < 2; assign taken[i] = 1, n++; },
            busy -> idle { },
            busy -> idle { select i : int[0,2]; guard n > 0; assign taken[i] = 0, n--; },
            idle -> idle { },
            idle -> full { guard n == 3; };
    }
    system User;
";

/// A countdown that cannot wait: every location is urgent.
pub const COUNTDOWN: &str = "
    int[0,4] n = 4;
    process P() {
        state run, done, lost;
        urgent run;
        init run;
        trans
            run -> run { guard n > 1; assign n--; },
            run -> run { guard n > 2; assign n = n - 2; },
            run -> done { guard n <= 1; assign n = 0; },
            done -> done { guard n == 0; };
    }
    system P;
";

/// A request that is answered, by way of one or two urgent steps, again and again.
pub const REQUEST: &str = "
    int[0,2] k;
    chan go;
    process Server() {
        state idle, work, more, reply;
        urgent work, more;
        commit reply;
        init idle;
        trans
            idle -> work { sync go?; },
            work -> more { guard k > 0; assign k--; },
            more -> work { },
            work -> reply { guard k == 0; },
            reply -> idle { };
    }
    process Client() {
        state wait;
        init wait;
        trans wait -> wait { select i : int[0,2]; sync go!; assign k = i; };
    }
    system Server, Client;
";
