//! How the program is linked: whole, at a fixed address, with what a hook enters side by side.
//!
//! A hook runs before every step of an agent, and a start of a program of this size costs more
//! than what it then does. `docs/decisions/0023` has the figures and what is given for them.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script runs at the developer's, outside of every workspace, and is told its \
              target by variables"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The libraries that the standard library asks for as shared ones.
const LIBRARIES: [&str; 6] = ["c", "m", "util", "rt", "pthread", "dl"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=link/order.txt");
    if of("CARGO_CFG_TARGET_OS") != "linux" || of("CARGO_CFG_TARGET_ENV") != "gnu" {
        return;
    }
    let folder = PathBuf::from(of("OUT_DIR"));
    let is_native = of("HOST") == of("TARGET");
    let is_tried = is_native && of("CARGO_CFG_TARGET_ARCH") == "x86_64" && !is_told_otherwise();
    if is_tried && of("PROFILE") == "release" {
        put_in_order(&folder);
    }
    if is_tried && take_the_libraries_in(&folder) {
        return;
    }
    // Grammars and tables hold tens of thousands of addresses, which are written anew at every
    // start where the program can lie anywhere. Packed, that is quicker.
    println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    if is_native {
        take_the_unwinder_in(&folder);
    }
}

fn of(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Whether the developer chose another linker or another way of linking, which then holds.
fn is_told_otherwise() -> bool {
    let flags = of("CARGO_ENCODED_RUSTFLAGS");
    let chosen = [
        "fuse-ld=",
        "linker=",
        "crt-static",
        "relocation-model",
        "linker-flavor",
    ];
    chosen.iter().any(|one| flags.contains(one)) || !of("RUSTC_LINKER").is_empty()
}

/// Lets the linker put the listed functions first, side by side.
fn put_in_order(folder: &Path) {
    let Ok(list) = fs::read_to_string("link/order.txt") else {
        return;
    };
    let mut script = "SECTIONS\n{\n  .text.first :\n  {\n".to_owned();
    for name in list.lines().filter(|name| !name.is_empty()) {
        let _written = if name.strip_suffix(".o").is_some() {
            // A file of the C library, whose functions have no sections of their own.
            writeln!(script, "    *{name}(.text .text.*)")
        } else {
            writeln!(
                script,
                "    *(.text.{name} .text.{name}.llvm.* .text.unlikely.{name} \
                 .text.unlikely.{name}.llvm.*)"
            )
        };
    }
    script.push_str("  }\n}\nINSERT BEFORE .text;\n");
    let path = folder.join("order.ld");
    if fs::write(&path, script).is_ok() {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", path.display());
    }
}

/// Puts every library into the program: the loader then has nothing to map, to search and to
/// rewrite, and no variable of an agent's shell can bring a library along.
///
/// The standard library asks for the shared ones by name: what is found first under that name is a
/// script that leads to the archive. Where one is missing, the program is linked as ever.
fn take_the_libraries_in(folder: &Path) -> bool {
    let folder = folder.join("archives");
    let Some(unwinder) = archive("gcc_eh") else {
        return false;
    };
    let Some(compiler) = archive("gcc") else {
        return false;
    };
    if fs::create_dir_all(&folder).is_err() {
        return false;
    }
    for name in LIBRARIES {
        let Some(path) = archive(name) else {
            return false;
        };
        let script = format!("GROUP(\"{path}\" \"{unwinder}\" \"{compiler}\")\n");
        if fs::write(folder.join(format!("lib{name}.so")), script).is_err() {
            return false;
        }
    }
    if !lead_to_the_unwinder(&folder, &unwinder) {
        return false;
    }
    println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
    println!("cargo::rustc-link-arg-bins=-static");
    println!("cargo::rustc-link-arg-bins=-no-pie");
    true
}

/// Puts the compiler's unwinder into the program, so that the loader has one library less to map
/// and to search at every start. Where the compiler has no such archive, the shared one is loaded.
fn take_the_unwinder_in(folder: &Path) {
    if archive("gcc_eh").is_some_and(|path| lead_to_the_unwinder(folder, &path)) {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}

fn lead_to_the_unwinder(folder: &Path, archive: &str) -> bool {
    let script = format!("INPUT(\"{archive}\")\n");
    fs::write(folder.join("libgcc_s.so"), script).is_ok()
}

/// Where the compiler has the archive of a library, if it has one.
fn archive(library: &str) -> Option<String> {
    let told = Command::new("cc")
        .arg(format!("-print-file-name=lib{library}.a"))
        .output()
        .ok()?;
    let path = String::from_utf8(told.stdout).ok()?.trim().to_owned();
    let is_usable = Path::new(&path).is_absolute() && !path.contains(['"', '\n']);
    is_usable.then_some(path)
}
