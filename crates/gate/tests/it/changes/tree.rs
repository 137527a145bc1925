//! Random trees, and random scripts that change them.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// Names that programs stumble over, among plain ones.
const NAMES: [&[u8]; 9] = [
    b"a",
    b"b",
    b"c",
    b"-rf",
    b"weird name",
    b"new\nline",
    "\u{fc}n\u{ef}".as_bytes(),
    b"x\xff\xfe",
    b"q'\"$(x)",
];

/// A small generator of numbers that are the same on every machine.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn path(&mut self) -> Vec<u8> {
        let depth = 1 + self.below(3);
        let names: Vec<&[u8]> = (0..depth).map(|_| self.pick(&NAMES)).collect();
        names.join(&b'/')
    }
}

fn at(root: &Path, path: &[u8]) -> PathBuf {
    root.join(std::ffi::OsStr::from_bytes(path))
}

pub(crate) fn set_mtime(path: &Path, seconds: i64, nanos: i64) {
    let time = rustix::fs::Timespec {
        tv_sec: seconds,
        tv_nsec: nanos,
    };
    let times = rustix::fs::Timestamps {
        last_access: time,
        last_modification: time,
    };
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::utimensat(rustix::fs::CWD, path, &times, flags).ok();
}

/// Makes a tree; steps that make no sense on what is there so far are left out.
pub(crate) fn build(root: &Path, chance: &mut Chance) {
    let mut regular = Vec::new();
    for _ in 0..6 + chance.below(18) {
        let path = chance.path();
        let target = at(root, &path);
        drop(target.parent().map(fs::create_dir_all));
        match chance.below(12) {
            0..=4 => {
                let size = chance.pick(&[0, 1, 700, 5000, 300_000]);
                if fs::metadata(&target).is_ok_and(|stat| !stat.is_file()) {
                    continue;
                }
                drop(fs::write(
                    &target,
                    vec![b'0' + u8::try_from(size % 7).unwrap(); size],
                ));
                let mode = chance.pick(&[0o644, 0o600, 0o755, 0o400, 0o4755]);
                if target.is_file() && !target.is_symlink() {
                    drop(fs::set_permissions(
                        &target,
                        fs::Permissions::from_mode(mode),
                    ));
                }
            }
            5 | 6 => drop(fs::create_dir_all(&target)),
            7 => drop(symlink(
                chance.pick(&["a", "../b", "/etc/passwd", "nowhere"]),
                &target,
            )),
            8 => {
                let mode = rustix::fs::Mode::from_raw_mode(0o640);
                let pipe = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, &target, pipe, mode, 0).ok();
            }
            9 | 10 if !regular.is_empty() => {
                let other: &PathBuf = &regular[chance.below(regular.len())];
                drop(fs::hard_link(other, &target));
            }
            _ => {
                let none = rustix::fs::XattrFlags::empty();
                rustix::fs::lsetxattr(&target, "user.k", b"v", none).ok();
            }
        }
        if target.is_file() && !target.is_symlink() {
            regular.push(target);
        }
    }
    age(root, chance);
}

/// Gives some of it old times, and some folders odd modes.
fn age(root: &Path, chance: &mut Chance) {
    let mut open = vec![root.to_path_buf()];
    let mut all = Vec::new();
    while let Some(path) = open.pop() {
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            let mut names: Vec<PathBuf> = fs::read_dir(&path)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            names.sort();
            open.extend(names);
        }
        all.push(path);
    }
    for path in all.iter().rev() {
        let is_folder = fs::symlink_metadata(path).unwrap().is_dir();
        if is_folder && path != root && chance.below(4) == 0 {
            let mode = chance.pick(&[0o700, 0o711, 0o1777, 0o2755]);
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        if chance.below(3) == 0 {
            let nanos = i64::try_from(chance.below(1_000_000_000)).unwrap();
            set_mtime(path, 1_000_000_000, nanos);
        }
    }
}

/// A name for bash, whatever its bytes are.
fn quoted(path: &[u8]) -> String {
    let mut text = String::from("$'./");
    for byte in path {
        if byte.is_ascii_alphanumeric() || b"/._- ".contains(byte) {
            text.push(char::from(*byte));
        } else {
            write!(text, "\\x{byte:02x}").unwrap();
        }
    }
    text.push('\'');
    text
}

/// A script of a dozen changes, of which some fail.
pub(crate) fn script(tool: &Path, chance: &mut Chance) -> String {
    let tool = tool.display();
    let mut text = String::from("set +e\nexec 2>/dev/null\n");
    for _ in 0..=chance.below(14) {
        let (one, two) = (quoted(&chance.path()), quoted(&chance.path()));
        let number = chance.below(1000);
        let line = match chance.below(26) {
            0 | 1 => format!(
                "mkdir -p \"$(dirname -- {one})\"; [ -p {one} ] || printf 'new {number}' > {one}"
            ),
            2 => format!("[ -p {one} ] || printf more{number} >> {one}"),
            3 => format!("truncate -s {} {one}", number % 60),
            4 => format!("rm -f {one}"),
            5 => format!("mkdir -p {one}"),
            6 => format!("rm -rf {one}"),
            7 | 8 => format!("mv {one} {two}"),
            // A folder that its owner may not enter could not be looked at from inside.
            9 => format!(
                "if [ -d {one} ]; then chmod {} {one}; else chmod {} {one}; fi",
                chance.pick(&["755", "700", "711", "1777"]),
                chance.pick(&["755", "700", "644", "400", "4711"])
            ),
            10 => format!("ln -s target{number} {one}"),
            11 | 12 => format!("ln {one} {two}"),
            13 => format!("ln {one} {two} && [ ! -p {two} ] && printf linked{number} >> {two}"),
            14 => format!("P={one} {tool} attr user.z{} v{number}", number % 3),
            15 => format!("P={one} {tool} attr user.k ''"),
            16 => format!("rm -f {one} && mkdir {one} && printf x > {one}/in"),
            17 => format!("rm -rf {one}; [ -p {one} ] || printf file{number} > {one}"),
            18 => format!("rm -rf {one}; mkdir {one}; printf again > {one}/a"),
            19 => format!("touch -h -d @1000000000.{number} {one}"),
            20 => format!("P={one} {tool} attr user.overlay.opaque y"),
            21 => format!("mkfifo {one}"),
            22 => format!("[ -p {one} ] || : >> {one}"),
            23 => format!("cp -a {one} {two}"),
            24 => format!("[ -f {one} ] && sed -i s/0/1/ {one}"),
            _ => format!("P={one} {tool} socket; rmdir {two}"),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("true\n");
    text
}
