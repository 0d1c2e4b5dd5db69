//! Links nash at a fixed address where the platform allows: a shell is started for every command, and relocating a
//! position-independent program of this size at each start costs a fifth of bash's whole run. Nothing else is decided here.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
