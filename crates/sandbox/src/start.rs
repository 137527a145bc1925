//! How the program begins: with what it needs of a runtime, and without what it does not.
//!
//! The standard library's own beginning asks the kernel for a list of all mappings, to tell an
//! overflow of the stack from other faults. A process that lives for two milliseconds spends a
//! twentieth of them on it. What matters of that beginning is done here.

#![allow(
    unsafe_code,
    reason = "what runs before everything else talks to the system itself"
)]

#[cfg(not(target_env = "gnu"))]
mod heap_as_it_is;
#[cfg(target_env = "gnu")]
mod heap_of_gnu;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod origin_of_gnu;

use std::panic;

#[cfg(not(target_env = "gnu"))]
use heap_as_it_is as heap;
#[cfg(target_env = "gnu")]
use heap_of_gnu as heap;

/// Memory for what a process that runs a command will touch, at once.
pub(crate) use heap::fill as fill_heap;

/// The code of a program that broke down, as the standard library has it.
const BROKEN: i32 = 101;

/// Runs a program's `run`, and ends the process with its code.
#[doc(hidden)]
#[expect(
    clippy::exit,
    reason = "it is the end of the process, which writes out what standard output still holds"
)]
pub fn begin(run: fn() -> u8) -> ! {
    stand();
    heap::widen();
    let code = panic::catch_unwind(run).map_or(BROKEN, i32::from);
    std::process::exit(code)
}

/// A closed standard stream would be the next file that is opened, and get what is meant for
/// people. Who stops reading is told by an error and not by a signal.
fn stand() {
    for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: it asks for a flag of a number; a number that is no file is an answer too.
        if unsafe { libc::fcntl(stream, libc::F_GETFD) } != -1 {
            continue;
        }
        // SAFETY: the path is a string with its end. The lowest free number is this stream's.
        if unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) } != stream {
            std::process::abort();
        }
    }
    // SAFETY: to ignore a signal needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// Makes a function that returns an exit code the program's `main`. The program says `no_main`
/// wherever this is built for Linux and not as a test.
#[macro_export]
macro_rules! start {
    ($run:path) => {
        #[cfg(all(target_os = "linux", not(test)))]
        #[unsafe(no_mangle)]
        extern "C" fn main() -> i32 {
            $crate::begin($run)
        }

        #[cfg(not(all(target_os = "linux", not(test))))]
        #[cfg_attr(
            test,
            expect(dead_code, reason = "tests have a beginning of their own")
        )]
        fn main() -> std::process::ExitCode {
            std::process::ExitCode::from($run())
        }
    };
}
