//! Extensions leave Python's symbols open until they are loaded; only the linker of macOS must be told.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
