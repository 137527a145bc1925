//! Many runs of one process, through one helper.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use std::{fs, thread};

use tagout_sandbox::{
    Ended, Exit, Host, Input, Lane, Layers, Limits, Network, Output, SandboxError, Wanted, plan,
};

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
        Host::probe(scratch.path())
    })
}

fn wanted(folder: &Path, script: &str) -> Wanted {
    for name in ["workspace", "upper", "work", "tmp"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    Wanted {
        lane: Lane::Transaction,
        workspace: folder.join("workspace"),
        cwd: folder.join("workspace"),
        argv: vec!["sh".into(), "-c".into(), script.into()],
        direct: None,
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        limits: Limits::default(),
        network: Network::Off,
        layers: Layers {
            upper: folder.join("upper"),
            work: folder.join("work"),
            tmp: folder.join("tmp"),
            ..Layers::default()
        },
        writable: Vec::new(),
        hidden: Vec::new(),
        home: None,
        through: Vec::new(),
        read_only_inside: Vec::new(),
        accept_degraded: Vec::new(),
        long_running: false,
        input: Input::Nothing,
        output: Output {
            artifact: folder.join("output"),
            live: None,
        },
    }
}

fn run(script: &str) -> Result<(Ended, tempfile::TempDir), SandboxError> {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let plan = plan(host(), &wanted(folder.path(), script)).unwrap();
    Ok((plan.start()?.wait()?, folder))
}

#[test]
fn runs_at_the_same_time_do_not_mix() {
    let threads: Vec<_> = (0..12)
        .map(|number| {
            thread::spawn(move || {
                let (ended, folder) =
                    run(&format!("echo {number} | tee f; exit {number}")).unwrap();
                assert_eq!(ended.exit, Exit::Code(number));
                assert_eq!(ended.output.head, format!("{number}\n").into_bytes());
                let kept = fs::read_to_string(folder.path().join("upper/f")).unwrap();
                assert_eq!(kept, format!("{number}\n"));
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_run_is_stopped_from_another_thread() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let plan = plan(host(), &wanted(folder.path(), "sleep 600")).unwrap();
    let running = plan.start().unwrap();
    let stopper = running.stopper();
    let other = thread::spawn(move || stopper.stop());
    let ended = running.wait().unwrap();
    other.join().unwrap();
    assert!(ended.stopped);
    assert!(!ended.is_success());
    assert_eq!(ended.exit, Exit::Signal(9));
    assert!(ended.wall < Duration::from_secs(60));
}

#[test]
fn what_was_probed_can_be_kept() {
    let text = serde_json::to_string(host()).unwrap();
    let again: Host = serde_json::from_str(&text).unwrap();
    assert_eq!(&again, host());
    assert!(again.fits());
    assert!(
        !Host {
            key: "other".to_owned(),
            ..again
        }
        .fits()
    );
}

/// The clock is not set during a test run, and that is what is said.
#[test]
fn nobody_set_the_clock() {
    let (ended, _folder) = run("true").unwrap();
    assert!(!ended.clock_was_set);
}
