//! Hierarchical transition systems as JSON (`trellis-hierarchy/1`), and evidence about them (`trellis-tree-trace/2`,
//! `trellis-tree-certificate/2`). Nodes and states have their names, vectors their numbers.

mod evidence;
mod model;

pub use evidence::{
    TREE_CERTIFICATE, TREE_TRACE, TreeContent, read_tree_evidence, write_tree_certificate, write_tree_report,
    write_tree_trace,
};
pub use model::{TREE, TreeFile, read_tree};
