//! Lays out the patched source of brush-core in `OUT_DIR`.
//!
//! Everything happens in `brush-patching`; nothing particular to this package belongs here.

fn main() -> std::process::ExitCode {
    brush_patching::build_script::main()
}
