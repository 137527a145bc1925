//! The failure matrix of the hook: whatever goes wrong, each client is told what it takes for «no».

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tagout_agents::{Client, Kind};

use crate::confined::Site;

/// The event before a tool that a client sends, and a payload of it.
fn before(client: Client) -> Option<(&'static str, Vec<u8>)> {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/tests/captures");
    let mut events = client.registered().filter(|event| event.kind == Kind::Pre);
    let event = events.next()?.name;
    let folder: PathBuf = captures.join(client.as_str());
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|one| one.path())
        .collect();
    files.sort();
    let writes = |path: &&PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_lowercase();
        let after = name.split_once('-').map_or("", |(_, tool)| tool);
        name.starts_with(&event.to_lowercase())
            && ["write", "create", "editor", "apply"]
                .iter()
                .any(|word| after.starts_with(word))
    };
    let path = files.iter().find(writes)?;
    Some((event, fs::read(path).unwrap()))
}

fn hook(site: &Site, client: &str, event: &str, more: &[&str], payload: &[u8]) -> Output {
    let state = site.home().join(".local/state/tagout");
    let root = site.root();
    let places = [
        "--workspace",
        root.to_str().unwrap(),
        "--state-dir",
        state.to_str().unwrap(),
    ];
    let words = [
        &["hook", "--client", client, "--event", event][..],
        &places,
        more,
    ]
    .concat();
    let mut command = site.command(&words);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that denies before it reads closes its end.
    child
        .stdin
        .take()
        .unwrap()
        .write_all(payload)
        .unwrap_or_default();
    child.wait_with_output().unwrap()
}

/// What the client takes for a denial, by its own profile.
fn is_denial(client: Client, ran: &Output) -> bool {
    let denial = client.profile().denial;
    let code = ran.status.code();
    let text = !ran.stderr.is_empty();
    let said = String::from_utf8_lossy(&ran.stdout);
    let json = said.contains("deny") || said.contains("block") || said.contains("\"cancel\":true");
    let whole = said.ends_with("}\n") && said.matches('\n').count() == 1;
    let by_code = denial.strongest_exit == 2 && code == Some(2) && text;
    let by_output = denial.reads_stdout && json && whole;
    code != Some(1) && (by_code || by_output)
}

fn everywhere(what: &str, run: impl Fn(&Site, Client, &str, &[u8]) -> Output) {
    let site = Site::new(&[]);
    let mut seen = 0;
    for client in Client::ALL {
        let Some((event, payload)) = before(*client) else {
            continue;
        };
        let ran = run(&site, *client, event, &payload);
        assert!(is_denial(*client, &ran), "{what}, {client}: {ran:?}");
        seen += 1;
    }
    assert!(seen >= 7, "{seen} clients");
}

/// A panic is a denial.
#[cfg(debug_assertions)]
#[test]
fn a_panic_denies() {
    everywhere("panic", |site, client, event, payload| {
        hook(site, client.as_str(), event, &["--fail", "panic"], payload)
    });
}

/// Half a payload is a denial.
#[test]
fn half_a_payload_denies() {
    everywhere("truncated", |site, client, event, payload| {
        hook(
            site,
            client.as_str(),
            event,
            &[],
            &payload[..payload.len() / 2],
        )
    });
}

/// A state that is gone is a denial.
#[test]
fn a_missing_state_denies() {
    everywhere("no state", |site, client, event, payload| {
        let root = site.root();
        let words = [
            "--workspace",
            root.to_str().unwrap(),
            "--state-dir",
            "/nowhere/at/all",
        ];
        let words = [
            &["hook", "--client", client.as_str(), "--event", event][..],
            &words,
        ]
        .concat();
        let mut command = site.command(&words);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(payload)
            .unwrap_or_default();
        child.wait_with_output().unwrap()
    });
}

/// A policy that nobody understands is a denial of what writes.
#[test]
fn a_broken_policy_denies() {
    everywhere("broken policy", |site, client, event, payload| {
        site.write(".orchestration/hook_policy.yaml", "version: [1\n");
        hook(site, client.as_str(), event, &[], payload)
    });
}

/// The end of the process is a denial first.
#[cfg(debug_assertions)]
#[test]
fn a_signal_denies() {
    everywhere("signal", |site, client, event, payload| {
        let root = site.root();
        let state = site.home().join(".local/state/tagout");
        let places = [
            "--workspace",
            root.to_str().unwrap(),
            "--state-dir",
            state.to_str().unwrap(),
        ];
        let words = [
            "hook",
            "--client",
            client.as_str(),
            "--event",
            event,
            "--fail",
            "hang",
        ];
        let mut command = site.command(&[&words[..], &places].concat());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(payload)
            .unwrap_or_default();
        let id = rustix::process::Pid::from_child(&child);
        // Until the program watches for it, the signal would end it outright.
        let status = format!("/proc/{}/status", child.id());
        while !fs::read_to_string(&status).unwrap().lines().any(|line| {
            line.strip_prefix("SigBlk:")
                .is_some_and(|mask| mask.trim() != "0000000000000000")
        }) {
            std::thread::yield_now();
        }
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        child.wait_with_output().unwrap()
    });
}

/// A client that nobody knows, and a line that can't be read, end with code 2 and a reason.
#[test]
fn what_nobody_knows_is_denied() {
    let site = Site::new(&[]);
    for words in [
        &["hook", "--client", "nobody", "--event", "x"][..],
        &["hook", "--bogus"],
        &["hook"],
    ] {
        let ran = site.command(words).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{words:?}: {ran:?}");
        assert!(
            ran.stdout.is_empty() && !ran.stderr.is_empty(),
            "{words:?}: {ran:?}"
        );
    }
}
