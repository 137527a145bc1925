//! How the walls are built, by system.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "linux")]
pub use linux::{
    Prepared, Running, Stopper, processors, serve_if_helper, start_helper_early, use_helper,
};

#[cfg(not(target_os = "linux"))]
mod none;
#[cfg(not(target_os = "linux"))]
pub(crate) use none::*;
#[cfg(not(target_os = "linux"))]
pub use none::{
    Prepared, Running, Stopper, processors, serve_if_helper, start_helper_early, use_helper,
};
