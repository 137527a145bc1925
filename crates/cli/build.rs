//! How the program is linked.

use std::path::Path;
use std::process::Command;

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script its target by variables"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    if of("CARGO_CFG_TARGET_OS") != "linux" || of("CARGO_CFG_TARGET_ENV") != "gnu" {
        return;
    }
    // Grammars and tables hold tens of thousands of addresses, which are written anew at every
    // start. Packed, that is quicker, and the program still lies anywhere.
    println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    if of("HOST") == of("TARGET") {
        take_the_unwinder_in(Path::new(&of("OUT_DIR")));
    }
}

/// Puts the compiler's unwinder into the program, so that the loader has one library less to map
/// and to search at every start. The standard library asks for the shared one by name: what is
/// found first under that name is a script that leads to the other.
///
/// Where the compiler has no such archive, the shared one is loaded as ever.
#[expect(
    clippy::disallowed_methods,
    reason = "a build script runs at the developer's, outside of every workspace"
)]
fn take_the_unwinder_in(folder: &Path) {
    let told = Command::new("cc")
        .arg("-print-file-name=libgcc_eh.a")
        .output();
    let Ok(told) = told else { return };
    let archive = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    if !Path::new(&archive).is_absolute() || archive.contains(['"', '\n']) {
        return;
    }
    let script = format!("INPUT(\"{archive}\")\n");
    if std::fs::write(folder.join("libgcc_s.so"), script).is_ok() {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}
