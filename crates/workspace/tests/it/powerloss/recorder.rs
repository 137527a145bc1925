//! A file system in user space with one file, `disk.img`, that a loop device stands on: every block
//! write and every flush that reaches the disk is recorded in order, with labels in between.
//!
//! The kernel's side of the protocol is `include/uapi/linux/fuse.h`; only the calls that a loop
//! device and a shell make are answered.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What reached the disk.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Write { at: usize, bytes: Vec<u8> },
    Flush,
    Label(String),
}

#[derive(Debug, Default)]
pub(crate) struct Disk {
    pub(crate) image: Vec<u8>,
    pub(crate) events: Vec<Event>,
    pub(crate) recording: bool,
}

/// A mounted recorder.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) disk: Arc<Mutex<Disk>>,
    folder: PathBuf,
}

const DISK: u64 = 2;
const MARK: u64 = 3;

fn attributes(node: u64, size: u64) -> Vec<u8> {
    let mode: u32 = if node == 1 { 0o040_700 } else { 0o100_666 };
    let mut out = Vec::new();
    for number in [node, size, size / 512, 0, 0, 0] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for number in [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0] {
        out.extend_from_slice(&u32::to_le_bytes(number));
    }
    out
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn short(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

const NO_ENTRY: i32 = -2;
const NOT_SUPPORTED: i32 = -95;
const NO_CALL: i32 = -38;

impl Disk {
    fn size(&self, node: u64) -> u64 {
        if node == DISK {
            self.image.len() as u64
        } else {
            0
        }
    }

    fn write(&mut self, node: u64, body: &[u8]) -> Vec<u8> {
        let (at, size) = (number(body, 8), short(body, 16));
        let bytes = &body[40..40 + size as usize];
        if node == MARK {
            let text = String::from_utf8_lossy(bytes).trim().to_owned();
            self.events.push(Event::Label(text));
        } else {
            let at = usize::try_from(at).unwrap();
            self.image[at..at + bytes.len()].copy_from_slice(bytes);
            if self.recording {
                self.events.push(Event::Write {
                    at,
                    bytes: bytes.to_vec(),
                });
            }
        }
        let mut out = size.to_le_bytes().to_vec();
        out.extend_from_slice(&[0; 4]);
        out
    }

    fn read(&self, node: u64, body: &[u8]) -> Vec<u8> {
        if node != DISK {
            return Vec::new();
        }
        let at = usize::try_from(number(body, 8))
            .unwrap()
            .min(self.image.len());
        let end = (at + short(body, 16) as usize).min(self.image.len());
        self.image[at..end].to_vec()
    }

    /// The answer to one request; `None` where the kernel expects none.
    fn answer(&mut self, opcode: u32, node: u64, body: &[u8]) -> Option<Result<Vec<u8>, i32>> {
        let valid = 3600_u64.to_le_bytes();
        Some(match opcode {
            // LOOKUP
            1 => {
                let found = match body.split(|byte| *byte == 0).next() {
                    Some(b"disk.img") => DISK,
                    Some(b"mark") => MARK,
                    _ => return Some(Err(NO_ENTRY)),
                };
                let mut out = found.to_le_bytes().to_vec();
                out.extend_from_slice(&[0; 8]);
                out.extend_from_slice(&valid);
                out.extend_from_slice(&valid);
                out.extend_from_slice(&[0; 8]);
                out.extend_from_slice(&attributes(found, self.size(found)));
                Ok(out)
            }
            // FORGET, INTERRUPT, BATCH_FORGET
            2 | 36 | 42 => return None,
            // GETATTR, SETATTR
            3 | 4 => {
                let mut out = valid.to_vec();
                out.extend_from_slice(&[0; 8]);
                out.extend_from_slice(&attributes(node, self.size(node)));
                Ok(out)
            }
            // OPEN, OPENDIR: every read and write comes here, none stays in a cache
            14 | 27 => Ok([1_u64.to_le_bytes(), 1_u64.to_le_bytes()].concat()),
            // READ
            15 => Ok(self.read(node, body)),
            // WRITE
            16 => Ok(self.write(node, body)),
            // STATFS
            17 => Ok(vec![0; 80]),
            // RELEASE, FLUSH, RELEASEDIR, ACCESS, DESTROY
            18 | 25 | 29 | 34 | 38 => Ok(Vec::new()),
            // FSYNC
            20 => {
                if node == DISK && self.recording {
                    self.events.push(Event::Flush);
                }
                Ok(Vec::new())
            }
            // INIT: big writes, up to 128 KiB each
            26 => {
                let flags: u32 = 1 | 1 << 5 | 1 << 22;
                let mut out = Vec::new();
                // Version, read ahead, flags, background requests, longest write, time unit, pages.
                let queue = (9 << 16) + 12;
                for number in [7, 31, 128 * 1024, flags, queue, 128 * 1024, 1, 32] {
                    out.extend_from_slice(&u32::to_le_bytes(number));
                }
                out.resize(64, 0);
                Ok(out)
            }
            // FALLOCATE
            43 => Err(NOT_SUPPORTED),
            _ => Err(NO_CALL),
        })
    }
}

fn serve(mut device: &File, disk: &Mutex<Disk>) {
    let mut buffer = vec![0; 1 << 20];
    // The read fails once the recorder is unmounted.
    while let Ok(count) = device.read(&mut buffer) {
        let request = &buffer[..count];
        let (opcode, unique, node) = (short(request, 4), number(request, 8), number(request, 16));
        let Some(answer) = disk.lock().unwrap().answer(opcode, node, &request[40..]) else {
            continue;
        };
        let (error, body) = match answer {
            Ok(body) => (0, body),
            Err(error) => (error, Vec::new()),
        };
        let mut reply = u32::try_from(16 + body.len())
            .unwrap()
            .to_le_bytes()
            .to_vec();
        reply.extend_from_slice(&error.to_le_bytes());
        reply.extend_from_slice(&unique.to_le_bytes());
        reply.extend_from_slice(&body);
        // A request that was interrupted in between has no reader any more.
        drop(device.write_all(&reply));
    }
}

impl Recorder {
    pub(crate) fn mount(folder: &Path, size_mib: usize) -> Self {
        Self::mount_as("fuse", folder, size_mib)
    }

    /// The same under the name that another file system in user space has.
    pub(crate) fn mount_as(kind: &str, folder: &Path, size_mib: usize) -> Self {
        let device = File::options().read(true).write(true).open("/dev/fuse");
        let device = device.expect("this test needs /dev/fuse");
        let data = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0",
            device.as_raw_fd()
        );
        let data = std::ffi::CString::new(data).unwrap();
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("recorder", folder, kind, flags, data.as_c_str())
            .expect("this test needs the right to mount");
        let disk = Disk {
            image: vec![0; size_mib << 20],
            ..Disk::default()
        };
        let disk = Arc::new(Mutex::new(disk));
        let shared = Arc::clone(&disk);
        std::thread::spawn(move || serve(&device, &shared));
        Self {
            disk,
            folder: folder.to_path_buf(),
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let flags = rustix::mount::UnmountFlags::DETACH;
        rustix::mount::unmount(&self.folder, flags).unwrap_or_default();
    }
}
