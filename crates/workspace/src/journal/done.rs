//! The lazily written companion of a segment: which records were applied and which were confirmed.
//!
//! Nothing here is ever synced, and a power loss may take any of it: then every path is compared
//! with what the journal knows. Within one boot the lines are as good as memory. A lost or torn one
//! means that a record is looked at again.

use tagout_vocab::Digest;

use crate::node::Identity;
use crate::sys::FileTime;

/// What the companion says about one record.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Done {
    /// Where the record starts.
    pub offset: u64,
    /// Where it ends.
    pub end: u64,
    /// Which boot applied it.
    pub boot: Option<[u8; 16]>,
    /// The files as they stood afterwards, one per unit.
    pub installed: Vec<Option<Identity>>,
    /// The caller has its closing events.
    pub confirmed: bool,
    /// The call, for the lock of its owner.
    pub owner: String,
}

fn sealed(body: &str) -> String {
    let sum = Digest::of(body.as_bytes()).hex();
    // The line break in front lets the reader find its feet behind a torn line.
    format!("\n{body} #{}", sum.chars().take(16).collect::<String>())
}

fn boot_text(boot: Option<[u8; 16]>) -> String {
    boot.map_or_else(
        || "-".to_owned(),
        |id| format!("{:032x}", u128::from_be_bytes(id)),
    )
}

/// The line that says that a record was applied.
pub(crate) fn applied_line(done: &Done) -> String {
    let files: Vec<String> = done
        .installed
        .iter()
        .map(|one| {
            one.map_or_else(
                || "-".to_owned(),
                |id| {
                    let FileTime { seconds, nanos } = id.mtime;
                    format!("{}:{}:{}:{seconds}:{nanos}", id.dev, id.ino, id.size)
                },
            )
        })
        .collect();
    let (boot, files) = (boot_text(done.boot), files.join(","));
    sealed(&format!(
        "A {} {} {boot} {} {files}",
        done.offset, done.end, done.owner
    ))
}

/// The line that says which files were made for a record, before they take their places.
pub(crate) fn staged_line(offset: u64, staged: &[Option<u64>]) -> String {
    let inodes: Vec<String> = staged
        .iter()
        .map(|one| one.map_or_else(|| "-".to_owned(), |inode| inode.to_string()))
        .collect();
    sealed(&format!("S {offset} {}", inodes.join(",")))
}

/// Which files were made for a record, one per unit; `None` when not all were.
pub(crate) fn staged(text: &str, offset: u64) -> Option<Vec<Option<u64>>> {
    let start = format!("S {offset} ");
    text.lines()
        .rev()
        .filter_map(|line| {
            line.rsplit_once(" #")
                .filter(|(body, _)| sealed(body).ends_with(line))
        })
        .find_map(|(body, _)| body.strip_prefix(&start))
        .map(|inodes| inodes.split(',').map(|one| one.parse().ok()).collect())
}

/// The line that says that the caller has a record's closing events.
pub(crate) fn confirmed_line(offset: u64) -> String {
    sealed(&format!("C {offset}"))
}

fn identity(text: &str) -> Option<Identity> {
    let mut numbers = text.split(':');
    let mut number = || numbers.next()?.parse().ok();
    let (dev, ino, size) = (number()?, number()?, number()?);
    let mut times = text.split(':').skip(3).map(str::parse);
    let seconds = times.next()?.ok()?;
    let nanos = times.next()?.ok()?;
    let mtime = FileTime { seconds, nanos };
    Some(Identity {
        dev,
        ino,
        size,
        mtime,
        ..Identity::default()
    })
}

/// What a companion file says, record by record; lines that are not whole say nothing.
pub(crate) fn read(text: &str) -> Vec<Done> {
    let mut found: Vec<Done> = Vec::new();
    for line in text.lines() {
        let Some((body, _)) = line.rsplit_once(" #") else {
            continue;
        };
        if sealed(body).strip_prefix('\n') != Some(line) {
            continue;
        }
        let words: Vec<&str> = body.split(' ').collect();
        match words.as_slice() {
            ["A", offset, end, boot, owner, files] => {
                let (Ok(offset), Ok(end)) = (offset.parse(), end.parse()) else {
                    continue;
                };
                let boot = u128::from_str_radix(boot, 16).ok().map(u128::to_be_bytes);
                let installed = files.split(',').map(identity).collect();
                let owner = (*owner).to_owned();
                let done = Done {
                    offset,
                    end,
                    boot,
                    installed,
                    confirmed: false,
                    owner,
                };
                found.retain(|one| one.offset != offset);
                found.push(done);
            }
            ["C", offset] => {
                let offset = offset.parse::<u64>().ok();
                if let Some(one) = found.iter_mut().find(|one| Some(one.offset) == offset) {
                    one.confirmed = true;
                }
            }
            _ => {}
        }
    }
    found
}
