//! Tests of the lease probe.

#![allow(clippy::disallowed_methods, reason = "tests write their own files")]

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd as _;

use super::{lease, lease_alone, lease_lost};

fn file() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, [1; 8192]).unwrap();
    (folder, path)
}

#[test]
fn a_file_that_nobody_writes_is_free() {
    let (_folder, path) = file();
    let reader = File::open(&path).unwrap();
    let other = File::open(&path).unwrap();
    assert!(!lease(reader.as_fd()).unwrap());
    assert!(!lease(other.as_fd()).unwrap(), "asking leaves nothing");
    OpenOptions::new().write(true).open(&path).unwrap();
    assert!(!lease(reader.as_fd()).unwrap(), "free again once closed");
}

#[test]
fn a_file_that_is_open_for_writing_is_held() {
    let (_folder, path) = file();
    let writer = OpenOptions::new().append(true).open(&path).unwrap();
    let reader = File::open(&path).unwrap();
    assert!(lease(reader.as_fd()).unwrap());
    drop(writer);
    assert!(!lease(reader.as_fd()).unwrap());
}

#[test]
#[expect(unsafe_code, reason = "mapping a file has no safe interface")]
fn a_file_that_is_mapped_for_writing_is_held_although_it_is_closed() {
    let (_folder, path) = file();
    let writer = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    // SAFETY: a new mapping at a place of the kernel's choice, never read or written here.
    let map = unsafe {
        rustix::mm::mmap(
            std::ptr::null_mut(),
            4096,
            rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
            rustix::mm::MapFlags::SHARED,
            &writer,
            0,
        )
    }
    .unwrap();
    drop(writer);
    let reader = File::open(&path).unwrap();
    assert!(lease(reader.as_fd()).unwrap());
    // SAFETY: exactly the mapping that was made above, which nobody uses.
    unsafe { rustix::mm::munmap(map, 4096) }.unwrap();
    assert!(!lease(reader.as_fd()).unwrap());
}

#[test]
fn what_can_not_be_asked_is_an_error_and_not_a_no() {
    let folder = tempfile::tempdir().unwrap();
    let dir = File::open(folder.path()).unwrap();
    let pipe = rustix::pipe::pipe().unwrap();
    assert!(lease(pipe.0.as_fd()).is_err());
    drop(dir);
    let (_folder, path) = file();
    let writer = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    assert!(
        lease(writer.as_fd()).unwrap(),
        "the asker itself is a writer"
    );
}

#[test]
fn a_file_that_anyone_has_open_is_not_held_alone() {
    let (_folder, path) = file();
    let mine = || {
        let opened = OpenOptions::new().read(true).write(true).open(&path);
        opened.unwrap()
    };
    let reader = File::open(&path).unwrap();
    assert!(lease_alone(mine().as_fd()).unwrap());
    drop(reader);
    let writer = OpenOptions::new().append(true).open(&path).unwrap();
    assert!(lease_alone(mine().as_fd()).unwrap());
    drop(writer);
    assert!(!lease_alone(mine().as_fd()).unwrap());
    assert!(!lease_alone(mine().as_fd()).unwrap(), "closing lets it go");
}

#[test]
#[expect(unsafe_code, reason = "mapping a file has no safe interface")]
fn a_file_that_anyone_maps_is_not_held_alone() {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let (_folder, path) = file();
    let open = |write| OpenOptions::new().read(true).write(write).open(&path);
    for (writes, kind) in [(false, MapFlags::PRIVATE), (true, MapFlags::SHARED)] {
        let mapped = open(writes).unwrap();
        let (none, rights) = (std::ptr::null_mut(), ProtFlags::READ);
        // SAFETY: a new mapping at a place of the kernel's choice, never read or written here.
        let map = unsafe { mmap(none, 4096, rights, kind, &mapped, 0) }.unwrap();
        drop(mapped);
        let mine = open(true).unwrap();
        assert!(lease_alone(mine.as_fd()).unwrap(), "mapped and closed");
        // SAFETY: exactly the mapping that was made above, which nobody uses.
        unsafe { munmap(map, 4096) }.unwrap();
        assert!(!lease_alone(mine.as_fd()).unwrap());
    }
}

#[test]
fn who_opens_a_file_that_is_held_alone_waits() {
    for writes in [false, true] {
        let (_folder, path) = file();
        let open = || OpenOptions::new().read(true).write(true).open(&path);
        let mut mine = open().unwrap();
        assert!(!lease_alone(mine.as_fd()).unwrap());
        assert!(!lease_lost(mine.as_fd()).unwrap());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut options = OpenOptions::new();
                let mut file = options.read(true).append(writes).open(&path).unwrap();
                let mut read = Vec::new();
                std::io::Read::read_to_end(&mut file, &mut read).unwrap();
                read
            });
            // The kernel tells when someone waits, so what is written next comes before they read.
            while !lease_lost(mine.as_fd()).unwrap() {
                std::thread::yield_now();
            }
            mine.set_len(0).unwrap();
            std::io::Write::write_all(&mut mine, b"new").unwrap();
            assert!(!other.is_finished(), "it waits while the file is held");
            drop(mine);
            assert_eq!(other.join().unwrap(), b"new");
        });
    }
}

#[test]
fn a_lease_that_was_never_taken_is_lost() {
    let (_folder, path) = file();
    assert!(lease_lost(File::open(&path).unwrap().as_fd()).unwrap());
}
