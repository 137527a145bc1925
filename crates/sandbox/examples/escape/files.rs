//! Changing files outside of the workspace.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::outcome::{Attempt, Outcome, at, last, only_if, stop};
use crate::setting::Setting;
use crate::sys::{self, address, call, path};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("write-outside", write_outside),
    ("append-outside", append_outside),
    ("truncate-outside", truncate_outside),
    ("create-outside", create_outside),
    ("create-in-home", create_in_home),
    ("create-in-root", create_in_root),
    ("create-in-etc", create_in_etc),
    ("create-in-var-tmp", create_in_var_tmp),
    ("unlink-outside", unlink_outside),
    ("rename-outside", rename_outside),
    ("exchange-outside", exchange_outside),
    ("mkdir-outside", mkdir_outside),
    ("symlink-outside", symlink_outside),
    ("link-outside-in", link_outside_in),
    ("link-inside-out", link_inside_out),
    ("fifo-outside", fifo_outside),
    ("write-by-symlink", write_by_symlink),
    ("write-by-symlink-folder", write_by_symlink_folder),
    ("write-by-symlink-race", write_by_symlink_race),
    ("write-by-dotdot", write_by_dotdot),
    ("write-by-self-root", write_by_self_root),
    ("write-by-self-cwd", write_by_self_cwd),
    ("write-by-mapping", write_by_mapping),
    ("write-by-tmpfile", write_by_tmpfile),
    ("write-by-splice", write_by_splice),
    ("write-by-copy-range", write_by_copy_range),
    ("write-by-handle", write_by_handle),
    ("write-by-reopened-reader", write_by_reopened_reader),
    ("punch-hole-outside", punch_hole_outside),
    ("chmod-outside", chmod_outside),
    ("fchmod-outside", fchmod_outside),
    ("chown-outside", chown_outside),
    ("utimes-outside", utimes_outside),
    ("setxattr-outside", setxattr_outside),
    ("removexattr-outside", removexattr_outside),
    ("inode-flags-outside", inode_flags_outside),
    ("lock-outside", lock_outside),
    ("state-write", state_write),
    ("state-create", state_create),
    ("state-list", state_list),
    ("state-read", state_read),
];

fn write_outside(setting: &Setting) -> Outcome {
    let mut file = OpenOptions::new().write(true).open(setting.file())?;
    file.write_all(b"x")?;
    Ok(())
}

fn append_outside(setting: &Setting) -> Outcome {
    let mut file = OpenOptions::new().append(true).open(setting.file())?;
    file.write_all(b"x")?;
    Ok(())
}

fn truncate_outside(setting: &Setting) -> Outcome {
    let name = path(setting.file());
    // SAFETY: the name lives until the call returns.
    sys::checked(unsafe { libc::truncate(name.as_ptr(), 1) })?;
    Ok(())
}

fn create_outside(setting: &Setting) -> Outcome {
    Ok(fs::write(setting.fresh("created"), b"x")?)
}

fn create_in_home(setting: &Setting) -> Outcome {
    Ok(fs::write(setting.home.join("fresh-created"), b"x")?)
}

/// Creates a file and takes it away again, so that nothing stays where nothing belongs.
fn create_and_remove(at: &str) -> Outcome {
    fs::write(at, b"x")?;
    drop(fs::remove_file(at));
    Ok(())
}

fn create_in_root(_: &Setting) -> Outcome {
    create_and_remove("/tagout-escape")
}

fn create_in_etc(_: &Setting) -> Outcome {
    create_and_remove("/etc/tagout-escape")
}

fn create_in_var_tmp(_: &Setting) -> Outcome {
    create_and_remove("/var/tmp/tagout-escape")
}

fn unlink_outside(setting: &Setting) -> Outcome {
    Ok(fs::remove_file(setting.outside.join("spare-unlink"))?)
}

fn rename_outside(setting: &Setting) -> Outcome {
    let from = setting.outside.join("spare-rename");
    Ok(fs::rename(from, setting.fresh("renamed"))?)
}

fn exchange_outside(setting: &Setting) -> Outcome {
    let (one, other) = (path(setting.file()), path(setting.outside.join("other")));
    let arguments = [
        i64::from(libc::AT_FDCWD),
        address(one.as_bytes()),
        i64::from(libc::AT_FDCWD),
        address(other.as_bytes()),
        i64::from(libc::RENAME_EXCHANGE),
    ];
    call(libc::SYS_renameat2, &arguments)?;
    Ok(())
}

fn mkdir_outside(setting: &Setting) -> Outcome {
    Ok(fs::create_dir(setting.fresh("folder"))?)
}

fn symlink_outside(setting: &Setting) -> Outcome {
    Ok(symlink("/etc/passwd", setting.fresh("symlink"))?)
}

fn link_outside_in(setting: &Setting) -> Outcome {
    let own = setting.own("escape-hard-link");
    fs::hard_link(setting.file(), &own)?;
    fs::write(&own, b"x")?;
    Ok(())
}

fn link_inside_out(setting: &Setting) -> Outcome {
    let own = setting.own("escape-own");
    fs::write(&own, b"x").map_err(at("own"))?;
    Ok(fs::hard_link(&own, setting.fresh("hard-link"))?)
}

fn fifo_outside(setting: &Setting) -> Outcome {
    let name = path(setting.fresh("fifo"));
    // SAFETY: the name lives until the call returns.
    sys::checked(unsafe { libc::mkfifo(name.as_ptr(), 0o600) })?;
    Ok(())
}

fn write_by_symlink(setting: &Setting) -> Outcome {
    let own = setting.own("escape-symlink");
    symlink(setting.file(), &own).map_err(at("symlink"))?;
    let wrote = OpenOptions::new().append(true).open(&own);
    drop(fs::remove_file(&own));
    wrote?.write_all(b"x")?;
    Ok(())
}

fn write_by_symlink_folder(setting: &Setting) -> Outcome {
    let own = setting.own("escape-symlink-folder");
    symlink(&setting.outside, &own).map_err(at("symlink"))?;
    let wrote = fs::write(own.join("fresh-by-symlink"), b"x");
    drop(fs::remove_file(&own));
    Ok(wrote?)
}

/// One thread swaps a folder and a link, another one writes through the name.
fn write_by_symlink_race(setting: &Setting) -> Outcome {
    let own = setting.own("escape-race");
    let (folder, link) = (own.with_extension("folder"), own.with_extension("link"));
    fs::create_dir(&folder).map_err(at("mkdir"))?;
    symlink(&setting.outside, &link).map_err(at("symlink"))?;
    fs::create_dir(&own).map_err(at("mkdir"))?;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let (one, other) = (path(&own), path(&link));
                let here = i64::from(libc::AT_FDCWD);
                let names = [
                    here,
                    address(one.as_bytes()),
                    here,
                    address(other.as_bytes()),
                    2,
                ];
                drop(call(libc::SYS_renameat2, &names));
            }
        });
        for _ in 0..2_000 {
            drop(fs::write(own.join("fresh-by-race"), b"x"));
        }
        done.store(true, Ordering::Relaxed);
    });
    let landed = setting.outside.join("fresh-by-race").exists();
    only_if(landed, "no write of 2000 went through")
}

fn write_by_dotdot(setting: &Setting) -> Outcome {
    let up = "../".repeat(64);
    let outside = setting
        .outside
        .strip_prefix("/")
        .unwrap_or(&setting.outside);
    Ok(fs::write(
        Path::new(&up).join(outside).join("fresh-dotdot"),
        b"x",
    )?)
}

fn below(root: &str, setting: &Setting) -> std::path::PathBuf {
    let outside = setting
        .outside
        .strip_prefix("/")
        .unwrap_or(&setting.outside);
    Path::new(root).join(outside)
}

fn write_by_self_root(setting: &Setting) -> Outcome {
    Ok(fs::write(
        below("/proc/self/root", setting).join("fresh-root"),
        b"x",
    )?)
}

fn write_by_self_cwd(setting: &Setting) -> Outcome {
    let root = format!("/proc/self/cwd/{}", "../".repeat(64));
    Ok(fs::write(below(&root, setting).join("fresh-cwd"), b"x")?)
}

fn write_by_mapping(setting: &Setting) -> Outcome {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(setting.file())?;
    // SAFETY: a new mapping at a place of the kernel's choice, checked before it is written.
    unsafe {
        let map = libc::mmap(
            std::ptr::null_mut(),
            1,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        );
        if map == libc::MAP_FAILED {
            return Err(last("mmap"));
        }
        map.cast::<u8>().write_volatile(b'x');
    }
    Ok(())
}

fn write_by_tmpfile(setting: &Setting) -> Outcome {
    let mut file = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_TMPFILE)
        .open(&setting.outside)?;
    file.write_all(b"x")?;
    Ok(())
}

fn write_by_splice(setting: &Setting) -> Outcome {
    let (from, mut to) = sys::pipe()?;
    to.write_all(b"x")?;
    let file = OpenOptions::new().write(true).open(setting.file())?;
    let ends = [
        i64::from(from.as_raw_fd()),
        0,
        i64::from(file.as_raw_fd()),
        0,
        1,
        0,
    ];
    call(libc::SYS_splice, &ends)?;
    Ok(())
}

fn write_by_copy_range(setting: &Setting) -> Outcome {
    let from = File::open(setting.outside.join("other"))?;
    let to = OpenOptions::new().write(true).open(setting.file())?;
    let ends = [
        i64::from(from.as_raw_fd()),
        0,
        i64::from(to.as_raw_fd()),
        0,
        1,
        0,
    ];
    call(libc::SYS_copy_file_range, &ends)?;
    Ok(())
}

/// A handle of a file needs no path, and its file system is known by any descriptor on it.
fn write_by_handle(setting: &Setting) -> Outcome {
    let name = path(setting.file());
    let mut handle = [0_u32; 34];
    handle[0] = 128;
    let mut mount = 0_i32;
    let arguments = [
        i64::from(libc::AT_FDCWD),
        address(name.as_bytes()),
        &raw mut handle as i64,
        &raw mut mount as i64,
        0,
    ];
    call(libc::SYS_name_to_handle_at, &arguments).map_err(at("name_to_handle_at"))?;
    let folder = File::open(&setting.workspace)?;
    let fd = call(
        libc::SYS_open_by_handle_at,
        &[
            i64::from(folder.as_raw_fd()),
            &raw mut handle as i64,
            i64::from(libc::O_WRONLY),
        ],
    )
    .map_err(at("open_by_handle_at"))?;
    let mut file = File::from(sys::owned(fd)?);
    file.write_all(b"x")?;
    Ok(())
}

/// What is open for reading is opened again for writing through its magic link.
fn write_by_reopened_reader(setting: &Setting) -> Outcome {
    let reader = File::open(setting.file())?;
    let again = format!("/proc/self/fd/{}", reader.as_raw_fd());
    let mut file = OpenOptions::new().write(true).open(again)?;
    file.write_all(b"x")?;
    Ok(())
}

fn punch_hole_outside(setting: &Setting) -> Outcome {
    let file = OpenOptions::new().write(true).open(setting.file())?;
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: takes plain numbers.
    sys::checked(unsafe { libc::fallocate(file.as_raw_fd(), mode, 0, 4096) })?;
    Ok(())
}

fn chmod_outside(setting: &Setting) -> Outcome {
    Ok(fs::set_permissions(
        setting.file(),
        fs::Permissions::from_mode(0o611),
    )?)
}

fn fchmod_outside(setting: &Setting) -> Outcome {
    let file = File::open(setting.file())?;
    Ok(file.set_permissions(fs::Permissions::from_mode(0o612))?)
}

fn chown_outside(setting: &Setting) -> Outcome {
    // SAFETY: take nothing.
    let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
    Ok(std::os::unix::fs::chown(
        setting.file(),
        Some(uid),
        Some(gid),
    )?)
}

fn utimes_outside(setting: &Setting) -> Outcome {
    let name = path(setting.file());
    let then = libc::timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };
    let times = [then, then];
    // SAFETY: name and times live until the call returns.
    sys::checked(unsafe { libc::utimensat(libc::AT_FDCWD, name.as_ptr(), times.as_ptr(), 0) })?;
    Ok(())
}

fn setxattr_outside(setting: &Setting) -> Outcome {
    let name = path(setting.file());
    // SAFETY: the names and the value live until the call returns.
    sys::checked(unsafe {
        libc::setxattr(
            name.as_ptr(),
            c"user.escape".as_ptr(),
            b"x".as_ptr().cast(),
            1,
            0,
        )
    })?;
    Ok(())
}

fn removexattr_outside(setting: &Setting) -> Outcome {
    let name = path(setting.file());
    // SAFETY: the names live until the call returns.
    sys::checked(unsafe { libc::removexattr(name.as_ptr(), c"user.kept".as_ptr()) })?;
    Ok(())
}

/// `FS_IOC_SETFLAGS` with `FS_NODUMP_FL`: metadata that is changed through a reading descriptor.
fn inode_flags_outside(setting: &Setting) -> Outcome {
    let file = File::open(setting.file())?;
    let flags: libc::c_long = 0x40;
    // SAFETY: the request takes a pointer to a number that lives until the call returns.
    sys::checked(unsafe { libc::ioctl(file.as_raw_fd(), 0x4008_6602, &raw const flags) })?;
    Ok(())
}

/// A lock that a program outside would wait for. Readers may lock; it changes nothing.
fn lock_outside(setting: &Setting) -> Outcome {
    let file = File::open(setting.file())?;
    // SAFETY: takes plain numbers.
    sys::checked(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) })?;
    Ok(())
}

fn state_write(setting: &Setting) -> Outcome {
    let mut file = OpenOptions::new()
        .write(true)
        .open(setting.state.join("secret"))?;
    file.rewind()?;
    file.write_all(b"x")?;
    Ok(())
}

fn state_create(setting: &Setting) -> Outcome {
    Ok(fs::write(setting.state.join("fresh"), b"x")?)
}

fn state_list(setting: &Setting) -> Outcome {
    let mut entries = fs::read_dir(&setting.state)?;
    only_if(entries.next().is_some(), "it looks empty")
}

fn state_read(setting: &Setting) -> Outcome {
    let mut text = String::new();
    let read = File::open(setting.state.join("secret"))
        .and_then(|mut file| file.read_to_string(&mut text));
    match read {
        Ok(0) => Err(stop("it looks empty")),
        Ok(_) => Ok(()),
        Err(error) => Err(io::Error::into(error)),
    }
}
