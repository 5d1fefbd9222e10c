//! Bugs to be had on purpose: is a wrong verdict refused by the checker of evidence?
//!
//! Where a search could plausibly be wrong it asks whether this very bug is wanted ([`has`]). Nobody can want one in a release build, and
//! the question costs nothing there; with the feature `seeded-bugs`, the environment variable `TRELLIS_BUG` names one. Tests want
//! them with [`with`]. The reference interpreters and the checker have none.

use std::cell::Cell;

macro_rules! bugs {
    ($($bug:ident = $what:literal,)*) => {
        /// A bug.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Bug { $(#[doc = $what] $bug,)* }

        /// All of them, and what they do.
        pub const ALL: &[(Bug, &str)] = &[$((Bug::$bug, $what),)*];
    };
}

bugs! {
    FirstPartner = "a sender meets only the first process that receives",
    AbsentHears = "a broadcast is taken to reach whoever clocks may keep from it",
    FirstChoice = "of several choices of edges only the first is taken",
    CommittedReceiver = "a step with a committed receiver and another sender is left out",
    VectorTail = "the last part of a vector is forgotten",
    SourceInvariant = "the clock invariant of the source is taken for the target's",
    LastReset = "the last reset of a step is forgotten",
    ReceiverFirst = "the receiver's update comes before the sender's",
    OneWay = "of the ways to keep a process from a broadcast one is taken",
    SourceUrgent = "time stands still after a step from an urgent location",
    UrgentChannels = "time stands still wherever there are urgent channels",
    LostCell = "a variable that becomes 1 is not stored",
    AllStrict = "clock constraints that depend on data are strict",
    UpForgets = "when time passes the last clock keeps its upper bound",
    ResetRow = "a reset leaves the differences of other clocks to the clock as they were",
    AssignRow = "the copy of a clock leaves the differences of other clocks to it as they were",
    WeakOrder = "zones are compared by their bounds of single clocks",
    AluLower = "a⊑LU takes lower bounds of 0 for none",
    AluUpper = "a⊑LU takes all clocks for above their upper bound",
    AluStrict = "a⊑LU compares constants one too high",
    LowBounds = "constants of invariants are not among the bounds of clocks",
    ResetBounds = "bounds of clocks do not go back over edges that reset any clock",
    PreNeeds = "a predecessor needs one token more than it does",
    PreConstants = "a rule that sets a variable to a constant has no predecessor",
    SumRaises = "a rule that adds up variables is taken not to raise any",
    BelowTotal = "vectors are compared by their sums",
    StartLow = "the start is taken to have the least that it may",
    PostLoses = "what a rule adds to a sum is forgotten",
    AboveAny = "a vector counts as covered by one with the same variables",
    Question = "a swap need not leave the question as it is",
}

thread_local! {
    static WANTED: Cell<Option<Bug>> = Cell::new(named());
}

/// The bug that the environment names.
fn named() -> Option<Bug> {
    let name = if cfg!(feature = "seeded-bugs") { std::env::var("TRELLIS_BUG").ok()? } else { return None };
    ALL.iter().map(|b| b.0).find(|b| format!("{b:?}") == name)
}

/// Is this bug wanted?
#[inline(always)]
pub fn has(bug: Bug) -> bool {
    cfg!(any(debug_assertions, feature = "seeded-bugs")) && WANTED.get() == Some(bug)
}

/// Does something with a bug, on this thread.
pub fn with<T>(bug: Bug, work: impl FnOnce() -> T) -> T {
    struct Back(Option<Bug>);
    impl Drop for Back {
        fn drop(&mut self) {
            WANTED.set(self.0);
        }
    }
    let _back = Back(WANTED.replace(Some(bug)));
    work()
}
