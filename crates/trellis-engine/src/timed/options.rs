//! How a zone graph is explored ([`super::reach`]), and what of it is sound for which question.

use trellis_model::network::Query;

use crate::waitlist::Order;

/// What is forgotten of zones when they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extrapolation {
    /// Nothing.
    None,
    /// Extra-M.
    M,
    /// Extra-LU.
    Lu,
    /// Extra-LU+.
    #[default]
    LuPlus,
}

/// When one zone stands for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cover {
    /// Only for itself.
    Equality,
    /// When it includes it.
    Inclusion,
    /// When it simulates it.
    #[default]
    Alu,
}

/// How to explore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What is forgotten.
    pub extrapolation: Extrapolation,
    /// What covers what.
    pub cover: Cover,
    /// What comes first.
    pub order: Order,
}

impl Default for Options {
    fn default() -> Options {
        Options { extrapolation: Extrapolation::LuPlus, cover: Cover::Alu, order: Order::Priority }
    }
}

impl Options {
    /// These options, as far as they are sound for a question; `diagonal` if clocks are compared with one another.
    pub fn sound(mut self, query: &Query, diagonal: bool) -> Options {
        if query.deadlock && self.extrapolation != Extrapolation::None {
            self.extrapolation = Extrapolation::M;
        }
        if diagonal {
            self.extrapolation = Extrapolation::None;
            if self.cover == Cover::Alu {
                self.cover = Cover::Inclusion;
            }
        }
        self
    }
}
