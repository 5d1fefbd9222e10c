//! The UPPAAL language, as XML (`nta`, flat DTDs 1.1–1.6) and as text (`.xta`, `.ta`, queries in `.q`), with the
//! `extern` lattice types of 000. Both spellings give the one syntax tree of [`ast`].

pub mod ast;
