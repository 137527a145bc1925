//! Where the program lies, which the GNU C library asks for before anything of ours runs.
//!
//! Linked whole, the program has the library's loader in it, which could load further libraries
//! from beside the program. It never does; but to be ready for it the library has the kernel put
//! the program's path together, which costs as much as ten system calls of another kind.

use std::ffi::c_char;

/// Takes the place of the library's own function of this name: its word for «not known», with which
/// the loader looks in no folder beside the program. In a program that is linked otherwise nobody
/// calls it.
#[unsafe(no_mangle)]
extern "C" fn _dl_get_origin() -> *const c_char {
    std::ptr::without_provenance(usize::MAX)
}
