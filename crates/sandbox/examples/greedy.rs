//! Takes too much of something, and says afterwards that all went well.
//!
//! `greedy WHAT [NUMBER] [TOKEN]`; the token is for the test that looks for what is left running.

#![allow(
    unsafe_code,
    clippy::print_stdout,
    reason = "greed is made of raw system calls, and this program is never shipped"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const MEGABYTE: usize = 1 << 20;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    match words.first().map_or("", String::as_str) {
        "children" => children(number),
        "memory" => hold(number),
        "memory-file" => memory_file(number),
        "fork-bomb" => fork_bomb(),
        "threads" => threads(number),
        "hop" => hop(),
        "daemon" => daemon(),
        "spin" => spin(Duration::from_secs(600)),
        "spin-children" => spin_children(),
        "sparse" => truncate("sparse", number),
        "allocate" => allocate("allocated", number),
        "write-long" => write_long(number),
        "many-files" => many_files(number),
        "nameless" => nameless(number),
        "deep" => deep(number),
        "flood" => flood(),
        "stop" => stop(),
        "descriptors" => descriptors(number),
        "wait" => std::thread::sleep(Duration::from_secs(600)),
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

fn fork() -> i32 {
    // SAFETY: this program has one thread wherever it forks.
    unsafe { libc::fork() }
}

/// Takes this many megabytes, uses them, and keeps them for a while.
fn hold(megabytes: usize) {
    let mut taken = Vec::new();
    for _ in 0..megabytes {
        taken.push(vec![1_u8; MEGABYTE]);
    }
    std::hint::black_box(&taken);
    std::thread::sleep(Duration::from_secs(1));
}

/// Six children that each stay below what all together may have.
fn children(megabytes: usize) {
    let children: Vec<i32> = (0..6)
        .map(|_| {
            let child = fork();
            if child == 0 {
                hold(megabytes);
                // SAFETY: ends the child at once.
                unsafe { libc::_exit(0) }
            }
            child
        })
        .collect();
    for child in children {
        // SAFETY: takes plain numbers and no pointer.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    }
}

/// Memory that no process has mapped.
fn memory_file(megabytes: usize) {
    // SAFETY: the name lives for the whole program, and the descriptor is new.
    let mut file = unsafe { File::from_raw_fd(libc::memfd_create(c"greedy".as_ptr(), 0)) };
    let part = vec![1; MEGABYTE];
    for _ in 0..megabytes {
        if file.write_all(&part).is_err() {
            return;
        }
    }
    std::thread::sleep(Duration::from_secs(2));
}

fn fork_bomb() {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if fork() < 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn threads(number: usize) {
    for _ in 0..number {
        let made = std::thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn(|| std::thread::sleep(Duration::from_secs(10)));
        if made.is_err() {
            break;
        }
    }
    std::thread::sleep(Duration::from_secs(1));
}

/// A daemon that is never the same process for long, so that nobody can kill it by number.
fn hop() {
    if fork() > 0 {
        return;
    }
    loop {
        // SAFETY: takes nothing.
        unsafe { libc::setsid() };
        if fork() > 0 {
            // SAFETY: ends this process at once.
            unsafe { libc::_exit(0) }
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Two forks and a session of its own: what survives a terminal.
fn daemon() {
    if fork() > 0 {
        return;
    }
    // SAFETY: takes nothing.
    unsafe { libc::setsid() };
    if fork() > 0 {
        // SAFETY: ends this process at once.
        unsafe { libc::_exit(0) }
    }
    for signal in [libc::SIGHUP, libc::SIGTERM, libc::SIGINT] {
        // SAFETY: ignoring a signal installs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    std::thread::sleep(Duration::from_secs(600));
}

fn spin(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// Children that nobody waits for, so that their time is added to nobody's.
fn spin_children() {
    // SAFETY: ignoring a signal installs no code.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    for _ in 0..200 {
        let child = fork();
        if child == 0 {
            spin(Duration::from_millis(50));
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(0) }
        }
        // SAFETY: takes plain numbers and no pointer; with the signal ignored it waits for the end.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    }
}

fn ignore_file_limit() {
    // SAFETY: ignoring a signal installs no code.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

fn truncate(name: &str, megabytes: usize) {
    ignore_file_limit();
    if let Ok(file) = File::create(name) {
        file.set_len((megabytes * MEGABYTE) as u64).ok();
    }
}

fn allocate(name: &str, megabytes: usize) {
    ignore_file_limit();
    if let Ok(file) = File::create(name) {
        let bytes = i64::try_from(megabytes * MEGABYTE).unwrap_or(i64::MAX);
        // SAFETY: takes plain numbers.
        unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes) };
    }
}

fn write_long(megabytes: usize) {
    ignore_file_limit();
    if let Ok(mut file) = File::create("long") {
        for _ in 0..megabytes {
            if file.write_all(&vec![1; MEGABYTE]).is_err() {
                return;
            }
        }
    }
}

/// Many files that are each short enough.
fn many_files(megabytes: usize) {
    for number in 0..megabytes / 16 {
        allocate(&format!("part-{number}"), 16);
    }
}

/// Files that have no name any more.
fn nameless(megabytes: usize) {
    let mut open = Vec::new();
    for number in 0..megabytes / 16 {
        let name = format!("part-{number}");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&name);
        let Ok(file) = file else { return };
        // SAFETY: takes plain numbers.
        unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, 16 << 20) };
        fs::remove_file(&name).ok();
        open.push(file);
    }
    std::thread::sleep(Duration::from_secs(2));
}

/// Folders in folders.
fn deep(number: usize) {
    for _ in 0..number {
        if fs::create_dir("d").is_err() || std::env::set_current_dir("d").is_err() {
            return;
        }
    }
}

fn flood() {
    let part = vec![b'x'; 64 * 1024];
    let mut out = io::stdout();
    while out.write_all(&part).is_ok() {}
}

/// Stops everything that it can reach, itself last.
fn stop() {
    if fork() == 0 {
        std::thread::sleep(Duration::from_secs(600));
    }
    // SAFETY: takes plain numbers.
    unsafe { libc::kill(-1, libc::SIGSTOP) };
    // SAFETY: as above.
    unsafe { libc::raise(libc::SIGSTOP) };
}

fn descriptors(number: usize) {
    let mut open = Vec::new();
    for _ in 0..number {
        match File::open("/dev/null") {
            Ok(file) => open.push(file),
            Err(_) => break,
        }
    }
    std::thread::sleep(Duration::from_secs(1));
}
