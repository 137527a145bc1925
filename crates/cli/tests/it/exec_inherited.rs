//! What a command has from whoever started Tagout: ignored signals, and all processors.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};

use crate::confined::Site;

const PATIENCE: Duration = Duration::from_secs(60);

/// A field of what the kernel tells about a process.
fn field<'a>(status: &'a str, name: &str) -> &'a str {
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {name} in {status}"))
        .trim()
}

fn ignores_hangups(status: &str) -> bool {
    let mask = u64::from_str_radix(field(status, "SigIgn"), 16).unwrap();
    mask & (1 << (Signal::HUP.as_raw() - 1)) != 0
}

/// A command of Tagout, started by a shell that ignores hang-ups as `nohup` does, or minds them.
fn started(site: &Site, line: &str, ignoring: bool) -> Command {
    let ours = site.command(&[
        "exec",
        "--session",
        "s-1",
        "--intent",
        "INT-001",
        "--",
        line,
    ]);
    let trap = if ignoring { "trap '' HUP; " } else { "" };
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{trap}exec \"$0\" \"$@\""));
    shell.arg(ours.get_program()).args(ours.get_args());
    shell.current_dir(site.root()).env_clear();
    let given = ours.get_envs();
    shell.envs(given.filter_map(|(name, value)| Some((name, value?))));
    shell
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    shell
}

/// Opens a pipe for writing once someone reads it.
fn once_read(pipe: &Path) -> fs::File {
    let begun = Instant::now();
    loop {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::open(pipe, flags, Mode::empty()) {
            Ok(opened) => return opened.into(),
            Err(error) => assert_eq!(error, rustix::io::Errno::NXIO),
        }
        assert!(begun.elapsed() < PATIENCE, "nobody reads");
        sleep(Duration::from_millis(5));
    }
}

/// A hang-up that was ignored from the start is ignored by the command too, in both lanes; one
/// that was not is not.
#[test]
fn ignored_hang_ups_stay_ignored() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    for ignoring in [true, false] {
        let reading = started(&site, "cat /proc/self/status", ignoring).output();
        let reading = reading.unwrap();
        assert!(reading.status.success(), "{reading:?}");
        let told = String::from_utf8(reading.stdout).unwrap();
        assert_eq!(ignores_hangups(&told), ignoring, "{told}");
        let line = "cat /proc/self/status > src/told.txt";
        let writing = started(&site, line, ignoring).output().unwrap();
        assert!(writing.status.success(), "{writing:?}");
        let told = site.read("src/told.txt").unwrap();
        assert_eq!(ignores_hangups(&told), ignoring, "{told}");
    }
}

/// A hang-up ends `tagout exec` and its command, unless both were started to ignore it.
#[test]
fn a_hang_up_ends_only_who_minds_it() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let pipe = site.root().join("src/pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for ignoring in [true, false] {
        let child = started(&site, "cat src/pipe", ignoring).spawn().unwrap();
        let mut end = once_read(&pipe);
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        assert_eq!(ignores_hangups(&status), ignoring, "{status}");
        kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
        if ignoring {
            end.write_all(b"done\n").unwrap();
            drop(end);
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
            assert_eq!(output.stdout, b"done\n");
        } else {
            // The pipe stays open: nothing but the signal ends it.
            let output = child.wait_with_output().unwrap();
            assert!(!output.status.success(), "{output:?}");
            drop(end);
        }
    }
}

/// A command may use the processors that whoever started Tagout may use, in both lanes.
#[test]
fn commands_have_all_processors() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let own = fs::read_to_string("/proc/thread-self/status").unwrap();
    let own = field(&own, "Cpus_allowed");
    let count = Command::new("nproc")
        .env_remove("OMP_NUM_THREADS")
        .output()
        .unwrap();
    let count = String::from_utf8(count.stdout).unwrap();
    let told = site.exec("cat /proc/self/status");
    assert_eq!(field(&told.stdout, "Cpus_allowed"), own, "{}", told.shown());
    assert_eq!(site.exec("nproc").stdout, count);
    let told = site.exec("cat /proc/self/status > src/told.txt && nproc > src/count.txt");
    assert_eq!(told.code, Some(0), "{}", told.shown());
    let inside = site.read("src/told.txt").unwrap();
    assert_eq!(field(&inside, "Cpus_allowed"), own);
    assert_eq!(site.read("src/count.txt").unwrap(), count);
}
