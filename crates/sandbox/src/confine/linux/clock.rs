//! Noticing that someone set the machine's clock.

use std::io;
use std::os::fd::OwnedFd;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// A timer that never fires, and is cancelled by the kernel when the clock is set.
#[derive(Debug)]
pub(super) struct ClockWatch(OwnedFd);

impl ClockWatch {
    pub(super) fn start() -> io::Result<Self> {
        const FAR_SECONDS: i64 = 1 << 40;
        let timer = timerfd_create(
            TimerfdClockId::Realtime,
            TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
        )?;
        let never = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec {
                tv_sec: FAR_SECONDS,
                tv_nsec: 0,
            },
        };
        timerfd_settime(
            &timer,
            TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET,
            &never,
        )?;
        Ok(Self(timer))
    }

    /// Whether the clock was set since the start. Not knowing counts as yes.
    pub(super) fn was_set(&self) -> bool {
        let mut count = [0_u8; 8];
        !matches!(
            rustix::io::read(&self.0, &mut count),
            Err(rustix::io::Errno::AGAIN)
        )
    }
}
