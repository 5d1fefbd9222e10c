//! One's own Rust type as a model: what can happen in a state, and what is bad, is all that [`reach`] needs.
//!
//! States are numbered as they are met, and the engine explores the numbers: breadth first, so that a run to something bad is a shortest one.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::hash::Hash;
use std::time::Duration;

use trellis_engine::reach::{Answer, JoinAll, Options, Refine, Update};
use trellis_engine::waitlist::Order;
use trellis_engine::{Batch, State};
use trellis_meter::{Meter, Stats};
use trellis_model::evidence::{Reason, Verdict};
use trellis_order::{Domain, Join, Word};

/// A model written in Rust.
///
/// ```
/// use trellis::{Found, System};
///
/// /// A counter that must not reach three.
/// struct Counter;
///
/// impl System for Counter {
///     type State = u32;
///     type Action = &'static str;
///
///     fn initial(&self) -> Vec<u32> {
///         vec![0]
///     }
///
///     fn steps(&self, n: &u32) -> Vec<(&'static str, u32)> {
///         vec![("up", (n + 1) % 5), ("reset", 0)]
///     }
///
///     fn is_bad(&self, n: &u32) -> bool {
///         *n == 3
///     }
/// }
///
/// let Found::Unsafe(run) = trellis::reach(&Counter).run() else { panic!("it can be reached") };
/// assert_eq!(run.iter().map(|(action, _)| *action).collect::<Vec<_>>(), ["up", "up", "up"]);
/// ```
pub trait System {
    /// A state; two states are the same if they are equal.
    type State: Clone + Eq + Hash;
    /// What a step is called.
    type Action: Clone;

    /// The states in which it may start.
    fn initial(&self) -> Vec<Self::State>;
    /// What can happen in a state, and where that leads.
    fn steps(&self, state: &Self::State) -> Vec<(Self::Action, Self::State)>;
    /// Must this state never be reached?
    fn is_bad(&self, state: &Self::State) -> bool;

    /// Takes actions one after the other: the states on the way, the start first. An action may lead to several states; of the ways that there
    /// are then, one to something bad is preferred.
    ///
    /// ```
    /// # use trellis::{Flaw, Found, System, reach};
    /// # struct Counter(u32); // up to this
    /// # impl System for Counter {
    /// #     type State = u32;
    /// #     type Action = &'static str;
    /// #     fn initial(&self) -> Vec<u32> { vec![0] }
    /// #     fn steps(&self, n: &u32) -> Vec<(&'static str, u32)> { vec![("up", (n + 1) % self.0), ("reset", 0)] }
    /// #     fn is_bad(&self, n: &u32) -> bool { *n == 3 }
    /// # }
    /// assert_eq!(Counter(5).walk(&["up", "up", "reset"]), Ok(vec![0, 1, 2, 0]));
    /// assert_eq!(Counter(5).walk(&["up", "down"]), Err(Flaw::Step(1)));
    /// ```
    fn walk(&self, actions: &[Self::Action]) -> Result<Vec<Self::State>, FlawOf<Self>>
    where
        Self::Action: PartialEq,
    {
        // All states that can be met after each action, with the number of one that each comes from.
        let mut met = vec![self.initial().into_iter().map(|s| (s, 0)).collect::<Vec<_>>()];
        for (n, action) in actions.iter().enumerate() {
            let mut next: Vec<(Self::State, usize)> = vec![];
            for (from, (state, _)) in met[n].iter().enumerate() {
                for (_, to) in self.steps(state).into_iter().filter(|(a, _)| a == action) {
                    if !next.iter().any(|(known, _)| *known == to) {
                        next.push((to, from));
                    }
                }
            }
            if next.is_empty() {
                return Err(Flaw::Step(n));
            }
            met.push(next);
        }
        let mut at = met.last().and_then(|last| last.iter().position(|(s, _)| self.is_bad(s))).unwrap_or(0);
        let mut states = vec![];
        for all in met.iter().rev() {
            let (state, from) = all.get(at).ok_or(Flaw::Step(0))?;
            states.push(state.clone());
            at = *from;
        }
        states.reverse();
        Ok(states)
    }

    /// Do these actions lead to something bad? The states on the way, the start first.
    ///
    /// ```
    /// # use trellis::{Flaw, Found, System, reach};
    /// # struct Counter(u32); // up to this
    /// # impl System for Counter {
    /// #     type State = u32;
    /// #     type Action = &'static str;
    /// #     fn initial(&self) -> Vec<u32> { vec![0] }
    /// #     fn steps(&self, n: &u32) -> Vec<(&'static str, u32)> { vec![("up", (n + 1) % self.0), ("reset", 0)] }
    /// #     fn is_bad(&self, n: &u32) -> bool { *n == 3 }
    /// # }
    /// assert_eq!(Counter(5).replay(&["up"; 3]), Ok(vec![0, 1, 2, 3]));
    /// assert_eq!(Counter(5).replay(&["up"; 2]), Err(Flaw::End(2)), "that is not bad");
    /// ```
    fn replay(&self, actions: &[Self::Action]) -> Result<Vec<Self::State>, FlawOf<Self>>
    where
        Self::Action: PartialEq,
    {
        let states = self.walk(actions)?;
        match states.last() {
            Some(end) if !self.is_bad(end) => Err(Flaw::End(end.clone())),
            _ => Ok(states),
        }
    }

    /// Do these states show that nothing bad can be reached? All starts are among them, no step leaves them, and none is bad.
    ///
    /// ```
    /// # use trellis::{Flaw, Found, System, reach};
    /// # struct Counter(u32); // up to this
    /// # impl System for Counter {
    /// #     type State = u32;
    /// #     type Action = &'static str;
    /// #     fn initial(&self) -> Vec<u32> { vec![0] }
    /// #     fn steps(&self, n: &u32) -> Vec<(&'static str, u32)> { vec![("up", (n + 1) % self.0), ("reset", 0)] }
    /// #     fn is_bad(&self, n: &u32) -> bool { *n == 3 }
    /// # }
    /// assert_eq!(Counter(3).certify(&[0, 1, 2]), Ok(()));
    /// assert_eq!(Counter(3).certify(&[0, 1]), Err(Flaw::Leaves(1, "up", 2)));
    /// ```
    fn certify(&self, states: &[Self::State]) -> Result<(), FlawOf<Self>> {
        let all: HashSet<&Self::State> = states.iter().collect();
        if let Some(start) = self.initial().into_iter().find(|s| !all.contains(s)) {
            return Err(Flaw::Start(start));
        }
        for state in states {
            if self.is_bad(state) {
                return Err(Flaw::Bad(state.clone()));
            }
            if let Some((action, to)) = self.steps(state).into_iter().find(|(_, to)| !all.contains(to)) {
                return Err(Flaw::Leaves(state.clone(), action, to));
            }
        }
        Ok(())
    }
}

/// What is wrong with evidence about this system.
pub type FlawOf<S> = Flaw<<S as System>::State, <S as System>::Action>;

/// What is wrong with evidence about a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw<S, A> {
    /// The action with this number, from 0, is not possible where it should be taken.
    Step(usize),
    /// A run ends in this state, which is not bad.
    End(S),
    /// This start is not among the states.
    Start(S),
    /// This bad state is among the states.
    Bad(S),
    /// This step leaves the states.
    Leaves(S, A, S),
}

/// What was found.
///
/// ```
/// # use trellis::{Flaw, Found, System, reach};
/// # struct Counter(u32); // up to this
/// # impl System for Counter {
/// #     type State = u32;
/// #     type Action = &'static str;
/// #     fn initial(&self) -> Vec<u32> { vec![0] }
/// #     fn steps(&self, n: &u32) -> Vec<(&'static str, u32)> { vec![("up", (n + 1) % self.0), ("reset", 0)] }
/// #     fn is_bad(&self, n: &u32) -> bool { *n == 3 }
/// # }
/// // Whoever does not believe the search checks what it found.
/// match reach(&Counter(3)).run() {
///     Found::Safe(states) => assert_eq!(Counter(3).certify(&states), Ok(())),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<S, A> {
    /// Nothing bad can be reached; these are all the states that can. They can be checked to be closed under all steps.
    Safe(Vec<S>),
    /// A shortest run to something bad: the steps, each with the state it leads to. It is empty if the start is bad.
    Unsafe(Vec<(A, S)>),
    /// Not known: why.
    Unknown(String),
}

/// A verdict with its evidence: the steps of a run, each with the state it leads to, or all states that can be reached.
pub type Searched<S> = Verdict<Vec<(<S as System>::Action, <S as System>::State)>, Vec<<S as System>::State>>;

/// Explores a system. Options first, then [`Reach::run`].
///
/// ```
/// # use trellis::{Flaw, Found, System, reach};
/// # struct Counter(u32); // up to this
/// # impl System for Counter {
/// #     type State = u32;
/// #     type Action = &'static str;
/// #     fn initial(&self) -> Vec<u32> { vec![0] }
/// #     fn steps(&self, n: &u32) -> Vec<(&'static str, u32)> { vec![("up", (n + 1) % self.0), ("reset", 0)] }
/// #     fn is_bad(&self, n: &u32) -> bool { *n == 3 }
/// # }
/// assert_eq!(reach(&Counter(3)).run(), Found::Safe(vec![0, 1, 2]));
/// ```
pub fn reach<S: System>(system: &S) -> Reach<'_, S> {
    Reach { system, meter: Meter::unlimited() }
}

/// An exploration to be run.
pub struct Reach<'s, S> {
    system: &'s S,
    meter: Meter,
}

impl<S: System> Reach<'_, S> {
    /// Gives up after this long.
    ///
    /// ```
    /// # use trellis::{Flaw, Found, System, reach};
    /// # struct Counter(u32); // up to this
    /// # impl System for Counter {
    /// #     type State = u32;
    /// #     type Action = &'static str;
    /// #     fn initial(&self) -> Vec<u32> { vec![0] }
    /// #     fn steps(&self, n: &u32) -> Vec<(&'static str, u32)> { vec![("up", (n + 1) % self.0), ("reset", 0)] }
    /// #     fn is_bad(&self, n: &u32) -> bool { *n == 3 }
    /// # }
    /// use std::time::Duration;
    ///
    /// assert!(matches!(reach(&Counter(4)).timeout(Duration::ZERO).run(), Found::Unknown(why) if why == "time limit reached"));
    /// ```
    pub fn timeout(mut self, time: Duration) -> Self {
        self.meter = self.meter.time(time);
        self
    }

    /// Gives up after so many states.
    ///
    /// ```
    /// # use trellis::{Flaw, Found, System, reach};
    /// # struct Counter(u32); // up to this
    /// # impl System for Counter {
    /// #     type State = u32;
    /// #     type Action = &'static str;
    /// #     fn initial(&self) -> Vec<u32> { vec![0] }
    /// #     fn steps(&self, n: &u32) -> Vec<(&'static str, u32)> { vec![("up", (n + 1) % self.0), ("reset", 0)] }
    /// #     fn is_bad(&self, n: &u32) -> bool { *n == 3 }
    /// # }
    /// assert!(matches!(reach(&Counter(4)).states(2).run(), Found::Unknown(why) if why == "state limit reached"));
    /// ```
    pub fn states(mut self, most: u64) -> Self {
        self.meter = self.meter.states(Some(most));
        self
    }

    /// Explores.
    pub fn run(mut self) -> Found<S::State, S::Action> {
        let mut meter = std::mem::take(&mut self.meter);
        match self.search(&mut meter).0 {
            Verdict::Safe(states) => Found::Safe(states),
            Verdict::Unsafe(steps) => Found::Unsafe(steps),
            Verdict::Unknown(why) => Found::Unknown(why.to_string()),
        }
    }

    /// Explores under the limits of somebody else, who also shows progress: what a formalism of one's own does with its meter.
    pub fn search(self, meter: &mut Meter) -> (Searched<S>, Stats) {
        let mut numbered = Numbered { system: self.system, states: vec![], numbers: HashMap::new(), nothing: Nothing };
        let options = Options { update: Update::Simple, order: Order::Bfs, refine: Refine::Never };
        let found = trellis_engine::reach::reach(&mut numbered, options, &mut JoinAll, meter);
        let verdict = match found.answer {
            Answer::Unreachable => Verdict::Safe(numbered.states),
            Answer::Reachable(path) => {
                let states = path.states.iter().skip(1).filter_map(|(key, _)| numbered.state(key).cloned());
                // The first step only chooses the start.
                Verdict::Unsafe(path.actions.into_iter().zip(states).filter_map(|((_, a), s)| Some((a?, s))).collect())
            }
            Answer::Stopped(why) => Verdict::Unknown(why),
            // Nothing is joined, and steps are computed without errors.
            Answer::Inconclusive { .. } => Verdict::Unknown(Reason::InconclusiveJoin),
            Answer::Error(_, never) => match never {},
        };
        (verdict, found.stats)
    }
}

/// The order of elements that there are none of.
struct Nothing;

impl Domain for Nothing {
    type Elem = [Word];

    fn leq(&self, _: &[Word], _: &[Word]) -> bool {
        true
    }

    fn is_bottom(&self, _: &[Word]) -> bool {
        false
    }
}

impl Join for Nothing {
    fn join(&self, _: &mut [Word], _: &[Word]) -> bool {
        false
    }
}

/// A system whose states are numbers: 0 is before the start, `n + 1` the state with number `n`.
struct Numbered<'s, S: System> {
    system: &'s S,
    states: Vec<S::State>,
    numbers: HashMap<S::State, Word>,
    nothing: Nothing,
}

impl<S: System> Numbered<'_, S> {
    fn state(&self, key: &[Word]) -> Option<&S::State> {
        self.states.get(usize::try_from(key[0]).ok()?.checked_sub(1)?)
    }

    fn number(&mut self, state: S::State) -> Word {
        let next = self.states.len() as Word + 1;
        let number = *self.numbers.entry(state.clone()).or_insert(next);
        if number == next {
            self.states.push(state);
        }
        number
    }

    /// Steps and where they lead; the choice of a start has no action.
    fn moves(&self, key: &[Word]) -> Vec<(Option<S::Action>, S::State)> {
        match self.state(key) {
            None => self.system.initial().into_iter().map(|s| (None, s)).collect(),
            Some(state) => self.system.steps(state).into_iter().map(|(a, s)| (Some(a), s)).collect(),
        }
    }
}

impl<S: System> trellis_engine::System for Numbered<'_, S> {
    type Domain = Nothing;
    /// A step's number, by which it is taken again, and its name.
    type Action = (u32, Option<S::Action>);
    type Error = Infallible;

    fn domain(&self) -> &Nothing {
        &self.nothing
    }

    fn key_width(&self) -> usize {
        1
    }

    fn elem_width(&self) -> usize {
        0
    }

    fn initial(&mut self) -> Result<State, Infallible> {
        Ok((vec![0], vec![]))
    }

    fn successors(&mut self, key: &[Word], _: &[Word], out: &mut Batch) -> Result<(), Infallible> {
        let moves = self.moves(key);
        out.steps = moves.len() as u32;
        for (ordinal, (_, state)) in moves.into_iter().enumerate() {
            let number = self.number(state);
            if number != key[0] {
                out.push(ordinal as u32, &[number], &[]);
            }
        }
        Ok(())
    }

    fn is_target(&mut self, key: &[Word], _: &[Word]) -> Result<bool, Infallible> {
        Ok(self.state(key).is_some_and(|state| self.system.is_bad(state)))
    }

    fn action(&mut self, key: &[Word], _: &[Word], ordinal: u32) -> Result<Option<Self::Action>, Infallible> {
        Ok(self.moves(key).into_iter().nth(ordinal as usize).map(|(action, _)| (ordinal, action)))
    }

    fn take(&mut self, key: &[Word], _: &[Word], action: &Self::Action) -> Result<Option<State>, Infallible> {
        let to = self.moves(key).into_iter().nth(action.0 as usize);
        Ok(to.map(|(_, state)| (vec![self.number(state)], vec![])))
    }
}
