//! What came of an attempt.

use std::fmt;
use std::io;

use crate::setting::Setting;

/// Nothing stopped it, or something did.
pub(crate) type Outcome = Result<(), Stop>;

/// A name and what it does.
pub(crate) type Attempt = (&'static str, fn(&Setting) -> Outcome);

/// What stopped an attempt: the step, and the system's word for why.
#[derive(Debug)]
pub(crate) struct Stop(String);

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self(word(&error))
    }
}

/// Stopped by this.
pub(crate) fn stop(by: &str) -> Stop {
    Stop(by.to_owned())
}

/// Stopped by the last error of the system.
pub(crate) fn last(step: &str) -> Stop {
    at(step)(io::Error::last_os_error())
}

/// Names the step that failed.
pub(crate) fn at(step: &str) -> impl Fn(io::Error) -> Stop + '_ {
    move |error| Stop(format!("{step}: {}", word(&error)))
}

/// The attempt is open only if this holds.
pub(crate) fn only_if(seen: bool, otherwise: &str) -> Outcome {
    if seen { Ok(()) } else { Err(stop(otherwise)) }
}

/// Open if one of them is; else what stopped the first.
pub(crate) fn any(outcomes: Vec<Outcome>) -> Outcome {
    if outcomes.iter().any(Result::is_ok) {
        return Ok(());
    }
    outcomes
        .into_iter()
        .next()
        .unwrap_or_else(|| Err(stop("nothing to try")))
}

fn word(error: &io::Error) -> String {
    let number = error.raw_os_error();
    let known = NAMES.iter().find(|(code, _)| Some(*code) == number);
    match (known, number) {
        (Some((_, name)), _) => (*name).to_owned(),
        (None, Some(number)) => format!("errno {number}"),
        (None, None) => error.to_string(),
    }
}

const NAMES: &[(i32, &str)] = &[
    (libc::EPERM, "EPERM"),
    (libc::ENOENT, "ENOENT"),
    (libc::ESRCH, "ESRCH"),
    (libc::EINTR, "EINTR"),
    (libc::EIO, "EIO"),
    (libc::ENXIO, "ENXIO"),
    (libc::EBADF, "EBADF"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EACCES, "EACCES"),
    (libc::EFAULT, "EFAULT"),
    (libc::EBUSY, "EBUSY"),
    (libc::EEXIST, "EEXIST"),
    (libc::EXDEV, "EXDEV"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EISDIR, "EISDIR"),
    (libc::EINVAL, "EINVAL"),
    (libc::EMFILE, "EMFILE"),
    (libc::ENOTTY, "ENOTTY"),
    (libc::EFBIG, "EFBIG"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::EROFS, "EROFS"),
    (libc::EMLINK, "EMLINK"),
    (libc::ENOSYS, "ENOSYS"),
    (libc::ELOOP, "ELOOP"),
    (libc::ENODATA, "ENODATA"),
    (libc::EOVERFLOW, "EOVERFLOW"),
    (libc::EUSERS, "EUSERS"),
    (libc::ENOTSOCK, "ENOTSOCK"),
    (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
    (libc::ESOCKTNOSUPPORT, "ESOCKTNOSUPPORT"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
    (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (libc::ENETDOWN, "ENETDOWN"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::ECONNRESET, "ECONNRESET"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::EHOSTUNREACH, "EHOSTUNREACH"),
    (libc::ESTALE, "ESTALE"),
    (libc::ENOKEY, "ENOKEY"),
    (libc::ENOTCONN, "ENOTCONN"),
    (libc::EDESTADDRREQ, "EDESTADDRREQ"),
];
