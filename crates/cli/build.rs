//! How the program is linked.

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script its target by variables"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Grammars and tables hold tens of thousands of addresses, which are written anew at every
    // start. Packed, that is quicker, and the program still lies anywhere.
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    if of("CARGO_CFG_TARGET_OS") == "linux" && of("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
