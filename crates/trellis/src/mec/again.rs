//! What is told of a relation is evaluated again, as lists of rows ([`trellis_check::mec`]), and compared.

use std::time::{Duration, Instant};

use trellis_check::mec::{MOST, Sets};
use trellis_engine::cover::reason;
use trellis_engine::mec::Computed;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::mec::{Callee, Definition};

use super::{Failure, Runner};
use crate::Error;

/// How long one relation is evaluated again, if no limit was given.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is said of an answer that is none.
pub(super) fn aside(doubt: Option<String>) -> String {
    doubt.map_or_else(String::new, |why| format!(" (UNKNOWN: computed on relations and not evaluated again: {why})"))
}

impl Runner {
    /// When the command that runs must have ended, or the patience with it.
    fn until(&self) -> Option<Instant> {
        self.deadline.or_else(|| Instant::now().checked_add(PATIENCE))
    }

    /// Lists a node that was just built. The relations say in advance whether that is hopeless, and nothing more.
    pub(super) fn list_again(&mut self, name: &str, hierarchy: &Hierarchy) {
        let until = self.until();
        let Some(plain) = &mut self.plain else { return };
        let all = self.session.relation(&Callee::Configurations(name.into()), &mut || true);
        let count = all.ok().flatten().and_then(|c| self.session.cardinal(&c).ok());
        match count.is_some_and(|n| n <= (MOST as u64).into()) {
            true => plain.add(name, hierarchy, until),
            false => plain.leave_out(name),
        }
    }

    /// Evaluates definitions.
    pub(super) fn define_again(&mut self, system: &[Definition]) {
        let until = self.until();
        if let Some(plain) = &mut self.plain {
            plain.define(system, until);
        }
    }

    /// Why what is told of a relation is not known to be right; nothing if it is. What is known to be wrong is a mistake in here.
    pub(super) fn doubt(&mut self, name: &str, computed: &Computed) -> Result<Option<String>, Failure> {
        let doubt = self.compared(name, computed)?;
        self.unchecked |= doubt.is_some();
        Ok(doubt)
    }

    fn compared(&mut self, name: &str, computed: &Computed) -> Result<Option<String>, Failure> {
        let callee = self.callee(name)?;
        let Some(plain) = &self.plain else { return Ok(None) };
        let listed = match plain.cardinal(&callee) {
            Ok(listed) => listed,
            Err(why) => return Ok(Some(why.to_string())),
        };
        let unknown = |e| Failure::Unknown(name.into(), reason(e));
        let rows = self.session.rows(computed, listed + 1).map_err(unknown)?;
        match plain.same(&callee, &computed.arguments, &rows) {
            Ok(true) => Ok(None),
            Ok(false) => {
                let cardinal = self.session.cardinal(computed).map_err(unknown)?;
                let why = format!("`{name}` has {cardinal} rows by relations and {listed} others when it is listed");
                Err(Error::Internal(why).into())
            }
            Err(why) => Ok(Some(why.to_string())),
        }
    }

    /// Two sets of configurations as lists, after these were compared with what was computed; or why not. Nothing if nobody asked for it.
    pub(super) fn sets_again(&mut self, from: &str, to: &str) -> Result<Option<Result<Sets, String>>, Failure> {
        for name in [from, to] {
            let computed = self.relation(name)?;
            if let Some(why) = self.compared(name, &computed)? {
                return Ok(Some(Err(why)));
            }
        }
        let (from, to) = (self.callee(from)?, self.callee(to)?);
        let plain = self.plain.as_ref();
        Ok(plain.map(|plain| plain.sets(&from, &to).map_err(|why| why.to_string())))
    }
}
