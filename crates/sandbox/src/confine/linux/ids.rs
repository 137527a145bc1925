//! Which user and group ids exist in a sandbox: each is itself.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};

use rustix::process::{getegid, geteuid};

/// Gives the new user name space of this process its ids.
///
/// Who may map every id does so, so that files of other users keep their owners' names and can be
/// copied into an upper layer; the command has no capability to use them with. Everyone else maps
/// themselves alone.
pub(super) fn map(pid: i32) -> io::Result<()> {
    if geteuid().is_root()
        && let (Ok(uids), Ok(gids)) = (whole("uid"), whole("gid"))
        && put(pid, "uid_map", &uids).is_ok()
    {
        return put(pid, "gid_map", &gids);
    }
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    put(pid, "uid_map", &format!("{uid} {uid} 1"))?;
    put(pid, "setgroups", "deny")?;
    put(pid, "gid_map", &format!("{gid} {gid} 1"))
}

/// Every id that exists here, mapped to itself.
fn whole(kind: &str) -> io::Result<String> {
    let mut text = String::new();
    for line in fs::read_to_string(format!("/proc/self/{kind}_map"))?.lines() {
        let mut words = line.split_ascii_whitespace();
        if let (Some(inside), Some(_), Some(count)) = (words.next(), words.next(), words.next()) {
            writeln!(text, "{inside} {inside} {count}").map_err(io::Error::other)?;
        }
    }
    Ok(text)
}

/// The kernel takes a map as one write.
fn put(pid: i32, file: &str, text: &str) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .open(format!("/proc/{pid}/{file}"))?
        .write_all(text.as_bytes())
}
