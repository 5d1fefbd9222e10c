//! Joining strategies.

use trellis_domain::script::{ScriptError, ScriptStrategy, StateView};

use super::example;

/// A state of the database model: who is known to be absent (000 §2.1).
struct Database {
    absent: u8,
    user: i64,
}

impl StateView for Database {
    fn names(&self) -> Vec<String> {
        ["user", "aLogin", "DB.n"].map(String::from).into()
    }

    fn get(&self, name: &str) -> Option<i64> {
        match name {
            "user" => Some(self.user),
            "DB.n" => Some(-1),
            _ => None,
        }
    }

    fn location(&self, process: &str) -> Option<String> {
        (process == "DB").then(|| "Idle".to_owned())
    }

    fn call(&self, lattice_var: &str, method: &str, args: &[i64]) -> Result<i64, String> {
        match (lattice_var, method, args) {
            ("aLogin", "num0s", []) => Ok(self.absent.count_zeros().into()),
            ("aLogin", "get", &[i]) => Ok((self.absent >> i & 1).into()),
            _ => Err(format!("{lattice_var} has no query {method} with {} arguments", args.len())),
        }
    }
}

const FEW: Database = Database { absent: 0b1111_1100, user: 1 };
const MANY: Database = Database { absent: 0b0000_0011, user: 2 };

fn judge(body: &str) -> Result<bool, ScriptError> {
    let text = format!("function join(x, y)\n  {body}\nend");
    ScriptStrategy::parse("s.lua", &text, &[("N", 8)])?.accepts(&FEW, &MANY)
}

#[test]
fn the_database_must_not_look_full() {
    let file = example("database-full.strategy.lua");
    let mut strategy = ScriptStrategy::load(file, &[("N_USERS", 8)]).unwrap();
    assert_eq!(strategy.accepts(&FEW, &FEW), Ok(true));
    assert_eq!(strategy.accepts(&FEW, &MANY), Ok(false));
    strategy.set_constants(&[("N_USERS", 9)]).unwrap();
    assert_eq!(strategy.accepts(&FEW, &MANY), Ok(true));
}

#[test]
fn what_a_strategy_sees() {
    for truth in [
        "x.vars.user == 1 and y.vars.user == 2",
        "x.user + y.user == 3",
        "x['DB.n'] == -1 and x.vars['DB.n'] == -1",
        "x.location('DB') == 'Idle' and y:location('DB') == x.location('DB')",
        "x.aLogin:num0s() == 2 and y.aLogin:num0s() == 6",
        "x.aLogin:get(7) == 1 and y.aLogin:get(8 / 2) == 0",
        "N == 8 and math.min(N, x.user) == 1",
    ] {
        assert_eq!(judge(&format!("return {truth}")), Ok(true), "{truth}");
    }
}

#[test]
fn mistakes() {
    let cases = [
        ("return 1", "s.lua:1: join: must return true or false, not 1"),
        ("return x.usr == 1", "s.lua:2: join: there is no variable `usr`; there are: user, aLogin, DB.n"),
        ("return x.vars.usr == 1", "s.lua:2: join: there is no variable `usr`; there are: user, aLogin, DB.n"),
        ("return x.vars.aLogin == 1", "s.lua:2: join: `aLogin` is a lattice variable: call one of its methods"),
        ("return x.aLogin.get(1) == 1", "s.lua:2: join: write `aLogin:get(...)`, with a colon"),
        ("return x.aLogin:get() == 1", "s.lua:2: join: aLogin has no query get with 0 arguments"),
        ("return x.aLogin:get('a') == 1", "s.lua:2: join: aLogin:get wants integers, not the string \"a\""),
        ("return x.location('Db') == ''", "s.lua:2: join: there is no process `Db`"),
        ("return x.location() == ''", "s.lua:2: join: location wants the name of a process, not nil"),
        ("x.user = 3; return true", "s.lua:2: join: a strategy only looks at states"),
        ("d = 3; return true", "s.lua:2: join: `d` is not declared"),
        ("return x.user < M", "s.lua:2: join: attempt to compare number with nil"),
        ("while true do end", "s.lua:2: join: still running after"),
        ("return io.open('x')", "s.lua:2: join: attempt to index a nil value (global 'io')"),
    ];
    for (body, expected) in cases {
        let message = judge(body).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{body}\n{message}");
    }
    let error = ScriptStrategy::parse("s.lua", "x = 1", &[]).unwrap_err();
    assert!(error.to_string().starts_with("s.lua: a strategy must define a function"), "{error}");
    let error = ScriptStrategy::parse("s.lua", "function join(x, y)", &[]).unwrap_err();
    assert!(matches!(error, ScriptError::Syntax { .. }), "{error}");
}

#[test]
fn constants_can_be_used_while_loading() {
    let text = "local half = N // 2\nfunction join(x, y) return half == 4 end";
    let mut strategy = ScriptStrategy::parse("s.lua", text, &[("N", 8)]).unwrap();
    assert_eq!(strategy.accepts(&FEW, &FEW), Ok(true));
    strategy.set_constants(&[("N", 10)]).unwrap();
    assert_eq!(strategy.accepts(&FEW, &FEW), Ok(false));
    let error = ScriptStrategy::parse("s.lua", text, &[]).unwrap_err();
    assert!(error.to_string().contains("arithmetic on a nil value (global 'N')"), "{error}");
}

#[test]
fn a_strategy_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<ScriptStrategy>();
    shared::<trellis_domain::script::ScriptLattice>();
}
