//! Confined processes: every command that Tagout runs, runs through here.
//!
//! A caller says what it wants ([`Wanted`]); [`plan`] compares that with what this machine was
//! seen to enforce ([`Host`]) and names the lane and, for each wall and each limit, who holds it,
//! or refuses with the remedy. [`Plan::start`] hands the plan to a small single-threaded helper
//! process that builds the walls and runs the command inside. Nothing is ever retried outside of
//! them. Policies, ledgers and clients are not known here.

#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        reason = "the stub of other systems refuses before most of it is reached"
    )
)]

mod confine;
mod ended;
pub mod environment;
mod error;
mod hidden;
mod hint;
mod host;
mod kernel;
mod last_word;
pub mod layer;
#[cfg(target_os = "linux")]
mod lease;
mod limits;
mod output;
mod plan;
mod scratch;
mod session;
mod signals;
#[cfg(target_os = "linux")]
mod start;
mod trial;
mod wanted;

pub use confine::{
    Prepared, Running, Stopper, processors, serve_if_helper, start_helper_early, use_helper,
};
pub use ended::{Ended, Exit};
pub use error::{Refused, SandboxError};
pub use host::{Host, Line, Probed, State};
pub use last_word::{LastWord, last_word, speak, take_the_floor};
#[cfg(target_os = "linux")]
pub use lease::{lease, lease_alone, lease_lost};
pub use limits::{Limit, LimitHit, LimitHost, Limits};
pub use output::{Captured, Listener, LiveSink, Output, Stream};
pub use plan::{Enforcer, NETWORK_OPEN, Plan, nested_mount, plan};
pub use scratch::remove as remove_scratch;
pub use session::{Detached, exit_note, session_runs, stop_detached, stop_session};
pub use signals::{hear_interrupts, on_interrupt};
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub use start::begin;
pub use trial::{Trial, Tried, trial};
pub use wanted::{Cache, Input, Lane, Layers, Network, Through, Wanted, Weaker};

/// The file by which a process inside a sandbox knows that it is governed. Nothing inside can
/// remove it.
pub const GOVERNED: &str = "/run/tagout/governed";

/// Lets any program that links this crate be its own helper, without a line in its `main`: for test
/// binaries, whose `main` is not theirs. Stands once at the top of the test crate.
#[macro_export]
macro_rules! helper_before_main {
    () => {
        #[cfg(target_os = "linux")]
        #[used]
        #[allow(
            unsafe_code,
            reason = "a function that runs before `main` has to be placed so"
        )]
        #[unsafe(link_section = ".init_array")]
        static TAGOUT_SANDBOX_HELPER: extern "C" fn() = {
            extern "C" fn serve() {
                $crate::serve_if_helper();
            }
            serve
        };
    };
}
