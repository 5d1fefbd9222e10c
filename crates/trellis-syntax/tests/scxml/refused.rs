//! What is refused, and where.
