//! Deceiving the layer that is read after the command.

use std::fs;
use std::os::unix::fs::symlink;

use crate::outcome::{Attempt, Outcome, at, only_if};
use crate::setting::Setting;
use crate::sys::{self, path};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("fake-whiteout", fake_whiteout),
    ("fake-opaque", fake_opaque),
    ("fake-opaque-trusted", fake_opaque_trusted),
    ("fake-redirect", fake_redirect),
    ("fake-metacopy", fake_metacopy),
    ("rename-whiteout", rename_whiteout),
    ("device-in-workspace", device_in_workspace),
    ("setuid-in-workspace", setuid_in_workspace),
    ("file-capability", file_capability),
    ("lower-by-parent", lower_by_parent),
    ("upper-by-path", upper_by_path),
    ("mark-removed", mark_removed),
];

fn device(setting: &Setting, name: &str, mode: u32, number: u64) -> Outcome {
    let name = path(setting.workspace.join(name));
    // SAFETY: the name lives until the call returns.
    sys::checked(unsafe { libc::mknod(name.as_ptr(), mode, number) })?;
    Ok(())
}

/// What a layer has in the place of a deleted file.
fn fake_whiteout(setting: &Setting) -> Outcome {
    device(setting, "escape-whiteout", libc::S_IFCHR | 0o600, 0)
}

fn device_in_workspace(setting: &Setting) -> Outcome {
    let number = libc::makedev(1, 1);
    device(setting, "escape-device", libc::S_IFCHR | 0o600, number)
}

fn attribute(setting: &Setting, name: &std::ffi::CStr, value: &[u8]) -> Outcome {
    let folder = setting.workspace.join("escape-folder");
    if let Err(error) = fs::create_dir(&folder)
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(at("mkdir")(error));
    }
    let folder = path(folder);
    // SAFETY: names and value live until the call returns.
    sys::checked(unsafe {
        libc::setxattr(
            folder.as_ptr(),
            name.as_ptr(),
            value.as_ptr().cast(),
            value.len(),
            0,
        )
    })?;
    Ok(())
}

fn fake_opaque(setting: &Setting) -> Outcome {
    attribute(setting, c"user.overlay.opaque", b"y")
}

fn fake_opaque_trusted(setting: &Setting) -> Outcome {
    attribute(setting, c"trusted.overlay.opaque", b"y")
}

fn fake_redirect(setting: &Setting) -> Outcome {
    attribute(setting, c"trusted.overlay.redirect", b"/etc")
}

fn fake_metacopy(setting: &Setting) -> Outcome {
    attribute(setting, c"trusted.overlay.metacopy", b"")
}

/// A renaming that leaves a whiteout behind, which needs no right to make devices elsewhere.
fn rename_whiteout(setting: &Setting) -> Outcome {
    let from = setting.workspace.join("escape-from");
    fs::write(&from, b"x").map_err(at("create"))?;
    let (from, to) = (path(&from), path(setting.workspace.join("escape-to")));
    let here = i64::from(libc::AT_FDCWD);
    let names = [
        here,
        sys::address(from.as_bytes()),
        here,
        sys::address(to.as_bytes()),
        i64::from(libc::RENAME_WHITEOUT),
    ];
    sys::call(libc::SYS_renameat2, &names)?;
    Ok(())
}

/// A program that would run as its owner once it is in the workspace. The mode may be set in the
/// layer, but must not have the effect here.
fn setuid_in_workspace(setting: &Setting) -> Outcome {
    let own = setting.own("escape-setuid");
    fs::copy("/proc/self/exe", &own).map_err(at("copy"))?;
    let name = path(&own);
    // SAFETY: the name lives until the call returns.
    sys::checked(unsafe { libc::chmod(name.as_ptr(), 0o6755) }).map_err(at("chmod"))?;
    Ok(())
}

fn file_capability(setting: &Setting) -> Outcome {
    let own = setting.own("escape-capability");
    fs::copy("/proc/self/exe", &own).map_err(at("copy"))?;
    // Revision 2, effective, all capabilities.
    let value: [u32; 5] = [0x0200_0001, u32::MAX, u32::MAX, u32::MAX, u32::MAX];
    let bytes: Vec<u8> = value.iter().flat_map(|word| word.to_le_bytes()).collect();
    let name = path(&own);
    // SAFETY: names and value live until the call returns.
    sys::checked(unsafe {
        libc::setxattr(
            name.as_ptr(),
            c"security.capability".as_ptr(),
            bytes.as_ptr().cast(),
            bytes.len(),
            0,
        )
    })?;
    Ok(())
}

/// The workspace as it lies below the overlay, by the folder above it.
fn lower_by_parent(setting: &Setting) -> Outcome {
    let Some(parent) = setting.workspace.parent() else {
        return only_if(false, "no parent");
    };
    let target = parent.join("fresh-beside");
    fs::write(&target, b"x")?;
    drop(symlink(&target, parent.join("fresh-beside-link")));
    Ok(())
}

/// The layer itself, which lies in the state folder.
fn upper_by_path(setting: &Setting) -> Outcome {
    let upper = setting.state.join("layers");
    let mut entries = fs::read_dir(upper)?;
    only_if(entries.next().is_some(), "it looks empty")
}

/// The mark of a governed run, by which the programs inside know where they are.
fn mark_removed(_: &Setting) -> Outcome {
    let mark = "/run/tagout/governed";
    fs::symlink_metadata(mark).map_err(at("mark"))?;
    fs::remove_file(mark)?;
    Ok(())
}
