//! Changing what is mounted, and where the root is.

use std::fs;
use std::os::fd::AsRawFd as _;

use crate::outcome::{Attempt, Outcome, at, only_if};
use crate::setting::Setting;
use crate::sys::{self, address, call, path};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("remount-root", remount_root),
    ("remount-outside", remount_outside),
    ("mount-setattr", mount_setattr),
    ("mount-tmpfs", mount_tmpfs),
    ("mount-bind", mount_bind),
    ("mount-proc", mount_proc),
    ("mount-sysfs", mount_sysfs),
    ("mount-cgroup", mount_cgroup),
    ("mount-devpts", mount_devpts),
    ("mount-disk", mount_disk),
    ("umount-workspace", umount_workspace),
    ("umount-hidden", umount_hidden),
    ("umount-root", umount_root),
    ("umount-proc", umount_proc),
    ("open-tree", open_tree),
    ("move-mount", move_mount),
    ("fsopen", fsopen),
    ("fspick", fspick),
    ("pivot-root", pivot_root),
    ("chroot", chroot),
    ("listmount", listmount),
    ("quotactl", quotactl),
];

fn mount(source: &str, target: &std::path::Path, kind: &str, flags: u64) -> Outcome {
    let (source, target, kind) = (path(source), path(target), path(kind));
    // SAFETY: all strings live until the call returns.
    sys::checked(unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            kind.as_ptr(),
            flags,
            std::ptr::null(),
        )
    })?;
    Ok(())
}

fn remount_root(_: &Setting) -> Outcome {
    mount(
        "none",
        "/".as_ref(),
        "none",
        libc::MS_REMOUNT | libc::MS_BIND,
    )
}

fn remount_outside(setting: &Setting) -> Outcome {
    let flags = libc::MS_REMOUNT | libc::MS_BIND;
    mount("none", &setting.outside, "none", flags)
}

fn mount_setattr(_: &Setting) -> Outcome {
    // No flags to set, «read-only» to clear.
    let attributes = [0_u64, 1, 0, 0];
    let root = path("/");
    call(
        libc::SYS_mount_setattr,
        &[
            i64::from(libc::AT_FDCWD),
            address(root.as_bytes()),
            0x8000,
            address(&attributes),
            32,
        ],
    )?;
    Ok(())
}

fn mount_tmpfs(setting: &Setting) -> Outcome {
    mount("none", &setting.workspace, "tmpfs", 0)
}

fn mount_bind(setting: &Setting) -> Outcome {
    let source = setting.outside.to_string_lossy();
    mount(&source, &setting.workspace, "none", libc::MS_BIND)
}

fn mount_proc(_: &Setting) -> Outcome {
    mount("proc", "/proc".as_ref(), "proc", 0)
}

fn mount_sysfs(_: &Setting) -> Outcome {
    mount("sysfs", "/tmp".as_ref(), "sysfs", 0)
}

fn mount_cgroup(_: &Setting) -> Outcome {
    mount("cgroup", "/tmp".as_ref(), "cgroup2", 0)
}

fn mount_devpts(_: &Setting) -> Outcome {
    mount("devpts", "/tmp".as_ref(), "devpts", 0)
}

fn mount_disk(_: &Setting) -> Outcome {
    mount("/dev/vda", "/tmp".as_ref(), "ext4", libc::MS_RDONLY)
}

fn umount(target: &std::path::Path) -> Outcome {
    let target = path(target);
    // SAFETY: the name lives until the call returns.
    sys::checked(unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) })?;
    Ok(())
}

fn umount_workspace(setting: &Setting) -> Outcome {
    umount(&setting.workspace)
}

fn umount_hidden(setting: &Setting) -> Outcome {
    umount(&setting.state)
}

fn umount_root(_: &Setting) -> Outcome {
    umount("/".as_ref())
}

fn umount_proc(_: &Setting) -> Outcome {
    umount("/proc".as_ref())
}

/// A copy of a mount that hangs nowhere and was never made read-only.
fn open_tree(setting: &Setting) -> Outcome {
    let name = path(&setting.outside);
    let clone = 1;
    let fd = call(
        libc::SYS_open_tree,
        &[i64::from(libc::AT_FDCWD), address(name.as_bytes()), clone],
    )?;
    drop(sys::owned(fd)?);
    Ok(())
}

fn move_mount(setting: &Setting) -> Outcome {
    let (from, to) = (path("/proc"), path(&setting.workspace));
    let here = i64::from(libc::AT_FDCWD);
    let names = [
        here,
        address(from.as_bytes()),
        here,
        address(to.as_bytes()),
        0,
    ];
    call(libc::SYS_move_mount, &names)?;
    Ok(())
}

fn fsopen(_: &Setting) -> Outcome {
    let kind = path("tmpfs");
    let fd = call(libc::SYS_fsopen, &[address(kind.as_bytes()), 1])?;
    drop(sys::owned(fd)?);
    Ok(())
}

fn fspick(_: &Setting) -> Outcome {
    let root = path("/");
    let arguments = [i64::from(libc::AT_FDCWD), address(root.as_bytes()), 0];
    let fd = call(libc::SYS_fspick, &arguments)?;
    drop(sys::owned(fd)?);
    Ok(())
}

fn pivot_root(setting: &Setting) -> Outcome {
    let name = path(&setting.workspace);
    call(
        libc::SYS_pivot_root,
        &[address(name.as_bytes()), address(name.as_bytes())],
    )?;
    Ok(())
}

/// The old way out of a changed root: a handle outside of a new one.
fn chroot(setting: &Setting) -> Outcome {
    let handle = fs::File::open("/").map_err(at("open"))?;
    let name = path(&setting.workspace);
    // SAFETY: the name lives until the call returns.
    sys::checked(unsafe { libc::chroot(name.as_ptr()) })?;
    // SAFETY: takes a plain number.
    sys::checked(unsafe { libc::fchdir(handle.as_raw_fd()) })?;
    Ok(())
}

/// Mounts of other mount namespaces, by number.
fn listmount(_: &Setting) -> Outcome {
    // Asks for the mounts of the first namespace of the machine, whose number is fixed.
    let request = [32_u64, u64::MAX, 0, 0xEFFF_FFF8];
    let mut found = [0_u64; 16];
    let answer = call(458, &[address(&request), &raw mut found as i64, 16, 0])?;
    only_if(answer > 0, "none were listed")
}

fn quotactl(_: &Setting) -> Outcome {
    let device = path("/dev/vda");
    let mut info = [0_u8; 256];
    let get_info = 0x0080_0005 << 8;
    call(
        libc::SYS_quotactl,
        &[
            get_info,
            address(device.as_bytes()),
            0,
            &raw mut info as i64,
        ],
    )?;
    Ok(())
}
