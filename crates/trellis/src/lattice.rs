//! Models whose states carry an element of a lattice of one's own: a larger element stands in for smaller ones.
//!
//! A state is a *key*, compared for equality, and an *element*, compared by `⊑`; both are words. [`Domain`] and [`Join`] say what the lattice is,
//! [`System`] what can happen; [`reach`] explores, with simple, cover or join update. Covering and joining are right for systems that are
//! monotone: from a larger element, whatever a smaller one can do leads at least as high. The example `own_lattice` has all of it.
//!
//! ```
//! use trellis::lattice::{Domain, Join, Word, laws};
//!
//! /// How much is left at most: more is better.
//! struct Most;
//!
//! impl Domain for Most {
//!     type Elem = [Word];
//!     fn leq(&self, a: &[Word], b: &[Word]) -> bool {
//!         a[0] <= b[0]
//!     }
//!     fn is_bottom(&self, a: &[Word]) -> bool {
//!         a[0] == 0
//!     }
//! }
//!
//! impl Join for Most {
//!     fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
//!         let grew = b[0] > a[0];
//!         a[0] = a[0].max(b[0]);
//!         grew
//!     }
//! }
//!
//! let samples: Vec<Vec<Word>> = (0..9).map(|n| vec![n]).collect();
//! assert!(laws::order(&Most, &samples).is_ok() && laws::join(&Most, &samples).is_ok());
//! ```

pub use trellis_engine::reach::{Answer, Exploration, JoinAll, Options, Refine, Strategy, Update, reach};
pub use trellis_engine::waitlist::Order;
pub use trellis_engine::{Batch, State, System};
pub use trellis_order::{Domain, Join, Word, laws};
