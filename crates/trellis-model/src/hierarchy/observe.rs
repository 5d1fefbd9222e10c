//! A hierarchy that remembers which of some events have happened: one more state variable for each of them, which is set by every
//! transition of the event and read by nobody. So runs, priorities and assertions are what they were.

use trellis_expr::{Type, VarId};

use super::{ComponentId, Domain, Hierarchy, Variable};

/// An event of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventOf {
    /// Whose.
    pub component: ComponentId,
    /// Which of its events.
    pub event: usize,
}

impl Hierarchy {
    /// All events of all components but ε, from the top down.
    pub fn all_events(&self) -> Vec<EventOf> {
        let mut all = vec![];
        let mut waiting = vec![self.top];
        while let Some(component) = waiting.pop() {
            let c = self.component(component);
            all.extend((1..c.events.len()).map(|event| EventOf { component, event }));
            waiting.extend(c.subs.iter().rev());
        }
        all
    }

    /// The name of an event with its path from the top.
    pub fn event_name(&self, e: EventOf) -> String {
        let component = self.component(e.component);
        let name = &component.events[e.event];
        if component.path.is_empty() { name.clone() } else { format!("{}.{name}", component.path) }
    }

    /// The same hierarchy with a memory of some events; and for each of them, the variable that tells.
    pub fn observing(&self, events: &[EventOf]) -> (Hierarchy, Vec<VarId>) {
        let mut new = self.clone();
        let (yes, no) = (new.terms.bool(true), new.terms.bool(false));
        let mut memory = vec![];
        for &e in events {
            // No name of a model has a blank in it.
            let name = format!("happened {}", self.event_name(e));
            let v = new.terms.declare(name.clone(), Type::Bool);
            new.variables.push(Variable { name, domain: Domain::Bool, flow: false, owner: e.component });
            let component = &mut new.components[e.component.index()];
            component.variables.push(v);
            component.init.push((v, no));
            component.transitions.iter_mut().filter(|t| t.event == e.event).for_each(|t| t.updates.push((v, yes)));
            memory.push(v);
        }
        (new, memory)
    }
}
