//! Hears of calls that would make a file longer than allowed.
//!
//! The resource limit refuses them, but a shell can hide that it did. So the kernel is asked to
//! report such calls here before it goes on with them; it sees only calls that are refused anyway,
//! so the others cost nothing.

#![allow(unsafe_code, reason = "the kernel's reports have no safe interface")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the program's parts are small constants, and halves of a number fit by their making"
)]

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xC000_00B7;

/// Offsets in the data that a filter sees; little-endian machines only, like all of the above.
const OFFSET_NUMBER: u32 = 0;
const OFFSET_ARCH: u32 = 4;
const fn low(argument: u32) -> u32 {
    16 + 8 * argument
}
const fn high(argument: u32) -> u32 {
    low(argument) + 4
}

/// The end of the kernel's reports that this process holds.
#[derive(Debug)]
pub(super) struct Oversize {
    listener: OwnedFd,
}

impl Oversize {
    /// Asks for reports about this process and all that it starts from now on.
    pub(super) fn install(most: u64) -> io::Result<Self> {
        let mut filter = program(most);
        let program = libc::sock_fprog {
            len: u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
            filter: filter.as_mut_ptr(),
        };
        // SAFETY: the program and the instructions it points to live until the call returns; the
        // kernel copies them.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
                &raw const program,
            )
        };
        let fd = i32::try_from(answer).map_err(|_| io::ErrorKind::InvalidData)?;
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel just made this descriptor for this process, and nobody else has it.
        let listener = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { listener })
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Answers all reports that wait; the largest length that was asked for, if there was one.
    pub(super) fn take(&mut self) -> Option<u64> {
        let mut largest = None;
        while self.waiting() {
            match self.answer() {
                Ok(wanted) => largest = largest.max(wanted),
                // Who made the call was killed meanwhile.
                Err(_) => break,
            }
        }
        largest
    }

    fn waiting(&self) -> bool {
        let mut asked = [rustix::event::PollFd::new(
            &self.listener,
            rustix::event::PollFlags::IN,
        )];
        let now = rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        rustix::event::poll(&mut asked, Some(&now)).is_ok_and(|count| count > 0)
            && asked
                .iter()
                .any(|one| one.revents().contains(rustix::event::PollFlags::IN))
    }

    /// Lets one call go on, so that the kernel itself refuses it as it always does.
    fn answer(&self) -> io::Result<Option<u64>> {
        // SAFETY: all zeroes is a value of this type, and the kernel demands zeroes.
        let mut report: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        self.control(RECEIVE, (&raw mut report).cast())?;
        let wanted = wanted(&report.data);
        let mut answer = libc::seccomp_notif_resp {
            id: report.id,
            val: 0,
            error: 0,
            flags: CONTINUE,
        };
        self.control(SEND, (&raw mut answer).cast())?;
        Ok(wanted)
    }

    fn control(&self, request: libc::c_ulong, value: *mut libc::c_void) -> io::Result<()> {
        // SAFETY: the two requests take a pointer to the type that the callers above hand in, which
        // is live and writable.
        let answer = unsafe { libc::ioctl(self.listener.as_raw_fd(), request as _, value) };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

/// `SECCOMP_IOCTL_NOTIF_RECV`, `SECCOMP_IOCTL_NOTIF_SEND`, `SECCOMP_USER_NOTIF_FLAG_CONTINUE`.
const RECEIVE: libc::c_ulong = 0xC050_2100;
const SEND: libc::c_ulong = 0xC018_2101;
const CONTINUE: u32 = 1;

/// How long the file would have become; nothing for lengths that are no lengths.
fn wanted(data: &libc::seccomp_data) -> Option<u64> {
    let [_, first, second, third, ..] = data.args;
    let length = if libc::c_long::from(data.nr) == libc::SYS_fallocate {
        i64::try_from(second)
            .ok()?
            .checked_add(i64::try_from(third).ok()?)?
    } else {
        i64::try_from(first).ok()?
    };
    u64::try_from(length).ok()
}

/// Where the parts of the program begin.
const TRUNCATION: usize = 6;
const OFFSET: usize = 11;
const LENGTH: usize = 16;
const PASS: usize = 21;
const REPORT: usize = 22;

/// Reports `truncate` and `ftruncate` to a greater length, and `fallocate` with a greater offset or
/// length; all else passes.
fn program(most: u64) -> Vec<libc::sock_filter> {
    let mut list = Vec::new();
    list.push(load(OFFSET_ARCH));
    test(&mut list, libc::BPF_JEQ, ARCH, (2, PASS));
    list.push(load(OFFSET_NUMBER));
    let [fallocate, ftruncate, truncate] =
        [libc::SYS_fallocate, libc::SYS_ftruncate, libc::SYS_truncate].map(|call| call as u32);
    test(&mut list, libc::BPF_JEQ, fallocate, (OFFSET, 4));
    test(&mut list, libc::BPF_JEQ, ftruncate, (TRUNCATION, 5));
    test(&mut list, libc::BPF_JEQ, truncate, (TRUNCATION, PASS));
    greater(&mut list, most, (1, PASS));
    greater(&mut list, most, (2, LENGTH));
    greater(&mut list, most, (3, PASS));
    list.push(statement(
        libc::BPF_RET | libc::BPF_K,
        libc::SECCOMP_RET_ALLOW,
    ));
    list.push(statement(
        libc::BPF_RET | libc::BPF_K,
        libc::SECCOMP_RET_USER_NOTIF,
    ));
    list
}

/// Five instructions: reports if the argument is greater, else goes on elsewhere.
fn greater(list: &mut Vec<libc::sock_filter>, most: u64, (argument, other): (u32, usize)) {
    let [most_low, most_high] = [most & 0xFFFF_FFFF, most >> 32].map(|half| half as u32);
    list.push(load(high(argument)));
    let next = list.len() + 1;
    test(list, libc::BPF_JGT, most_high, (REPORT, next));
    let next = list.len() + 1;
    test(list, libc::BPF_JEQ, most_high, (next, other));
    list.push(load(low(argument)));
    test(list, libc::BPF_JGT, most_low, (REPORT, other));
}

/// Goes on at one of two places further down.
fn test(list: &mut Vec<libc::sock_filter>, test: u32, k: u32, (yes, no): (usize, usize)) {
    let next = list.len() + 1;
    list.push(libc::sock_filter {
        code: (libc::BPF_JMP | test | libc::BPF_K) as u16,
        jt: (yes - next) as u8,
        jf: (no - next) as u8,
        k,
    });
}

fn load(offset: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}
