//! Who runs this, for the record: the user of the process, which no environment can change.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};

use tagout_vocab::limits::PASSWD_BYTES_MAX;

/// The name of the user that this process runs as, or its number where no name is known.
pub(crate) fn user() -> String {
    let uid = rustix::process::getuid().as_raw();
    let known = fs::File::open("/etc/passwd").ok().and_then(|file| {
        let lines = BufReader::new(file.take(PASSWD_BYTES_MAX)).lines();
        lines
            .map_while(Result::ok)
            .find_map(|line| named(&line, uid))
    });
    known.unwrap_or_else(|| format!("uid {uid}"))
}

/// The name in a line of the list of users, if the line is of this user.
fn named(line: &str, uid: u32) -> Option<String> {
    let mut fields = line.split(':');
    let name = fields.next().filter(|name| !name.is_empty())?;
    let number: u32 = fields.nth(1)?.parse().ok()?;
    let plain = name.chars().all(|one| !one.is_control());
    (number == uid && plain).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{named, user};

    #[test]
    fn a_line_names_its_user_and_no_other() {
        let line = "ann:x:1000:1000:Ann:/home/ann:/bin/sh";
        assert_eq!(named(line, 1000).as_deref(), Some("ann"));
        for (line, uid) in [
            (line, 100),
            (":x:7:7::/:", 7),
            ("ann", 0),
            ("ann:x:", 0),
            ("ann:x:-1:", 0),
            ("a\u{1b}n:x:7:7::/:", 7),
            ("", 0),
        ] {
            assert_eq!(named(line, uid), None, "{line}");
        }
    }

    #[test]
    fn somebody_runs_this() {
        assert!(!user().is_empty());
    }
}
