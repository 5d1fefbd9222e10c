//! The shared timed models.
