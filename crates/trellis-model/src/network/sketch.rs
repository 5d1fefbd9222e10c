//! How the author of a template has drawn it, and what its labels say in the author's own words: for pictures. It means nothing; what a template does is in the
//! processes that were made of it.

/// A template, drawn once however many processes are made of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sketch {
    /// Its name.
    pub name: String,
    /// Its locations, in the order of those of its processes.
    pub locations: Vec<Spot>,
    /// Its edges, in source order.
    pub edges: Vec<Arrow>,
}

/// A location.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spot {
    /// Where its middle is.
    pub at: Option<(f64, f64)>,
    /// Its colour.
    pub color: Option<String>,
    /// Its name, if it has one, and what stands beside it.
    pub labels: Vec<Label>,
}

/// An edge.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arrow {
    /// The location it leaves, by number.
    pub source: usize,
    /// The one it leads to.
    pub target: usize,
    /// The points it goes through.
    pub nails: Vec<(f64, f64)>,
    /// Its colour.
    pub color: Option<String>,
    /// Selects, guard, synchronisation, updates.
    pub labels: Vec<Label>,
}

/// A text, and where its upper left corner is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Label {
    /// As the author wrote it.
    pub text: String,
    /// Where it stands.
    pub at: Option<(f64, f64)>,
}
