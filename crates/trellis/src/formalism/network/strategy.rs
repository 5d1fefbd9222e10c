//! Joining strategies written in Lua, or in another language that the user brings along: what a script sees of a network's states.

use std::path::Path;
use std::sync::Arc;

use trellis_domain::script::{JoinRule, ScriptError, ScriptStrategy, StateView};
use trellis_engine::reach::Strategy;
use trellis_expr::Fault;
use trellis_model::network::{Action, Layout, ModelError, Network, Snapshot};
use trellis_order::{MethodKind, Word};

use crate::Error;

/// A script that says when to join.
pub struct Scripted<'n> {
    net: &'n Network,
    layout: Layout,
    script: Script,
}

enum Script {
    Lua(ScriptStrategy),
    Brought(Arc<dyn JoinRule>),
}

impl Script {
    fn accepts(&self, x: &View<'_>, y: &View<'_>) -> Result<bool, ScriptError> {
        match self {
            Script::Lua(script) => script.accepts(x, y),
            Script::Brought(rule) => rule.accepts(x, y),
        }
    }
}

impl<'n> Scripted<'n> {
    /// One that was brought along.
    pub fn brought(rule: Arc<dyn JoinRule>, net: &'n Network) -> Scripted<'n> {
        Scripted { net, layout: Layout::new(net), script: Script::Brought(rule) }
    }

    /// Loads one in Lua.
    pub fn load(path: &Path, net: &'n Network) -> Result<Scripted<'n>, Error> {
        let constants: Vec<(&str, i64)> = net.constants.iter().map(|(n, v)| (n.as_str(), *v)).collect();
        let script = ScriptStrategy::load(path, &constants).map_err(|e| Error::Input(format!("error: {e}")))?;
        Ok(Scripted { net, layout: Layout::new(net), script: Script::Lua(script) })
    }
}

impl Strategy<ModelError> for Scripted<'_> {
    fn accepts(&mut self, key: &[Word], stored: &[Word], new: &[Word]) -> Result<bool, ModelError> {
        let view = |elem| View { net: self.net, state: self.layout.snapshot(self.net, key, elem) };
        let (x, y) = (view(stored), view(new));
        self.script.accepts(&x, &y).map_err(|e| ModelError {
            fault: Fault::Foreign(e.to_string()),
            during: "joining strategy",
            place: String::new(),
            state: y.state,
            action: Action(Vec::new()),
        })
    }
}

struct View<'n> {
    net: &'n Network,
    state: Snapshot,
}

impl StateView for View<'_> {
    fn names(&self) -> Vec<String> {
        self.net.cell_names().into_iter().chain(self.net.lattices.iter().map(|l| l.name.clone())).collect()
    }

    fn get(&self, name: &str) -> Option<i64> {
        let at = self.net.cell_names().iter().position(|n| n == name)?;
        Some(self.state.data[at])
    }

    fn location(&self, process: &str) -> Option<String> {
        let p = self.net.processes.iter().position(|p| p.name == process)?;
        Some(self.net.processes[p].locations[self.state.locations[p] as usize].name.clone())
    }

    fn call(&self, lattice_var: &str, method: &str, args: &[i64]) -> Result<i64, String> {
        let var = self.net.lattices.iter().find(|l| l.name == lattice_var);
        let var = var.ok_or_else(|| format!("there is no lattice variable `{lattice_var}`"))?;
        let l = &var.lattice;
        let number = l.methods().iter().position(|m| m.name == method && m.kind == MethodKind::Query);
        let number = number.ok_or_else(|| format!("`{}` has no query `{method}`", l.name()))?;
        if l.methods()[number].args != args.len() {
            return Err(format!("`{method}` takes {} argument(s), not {}", l.methods()[number].args, args.len()));
        }
        let words = &self.state.element[var.offset..var.offset + l.width()];
        l.query(number, words, args).map_err(|e| e.0)
    }
}
