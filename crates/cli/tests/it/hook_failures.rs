//! The failure matrix of the hook: whatever goes wrong, each client is told what it takes for «no».
//!
//! Before and after, the same kind of call is let through where nothing is wrong, so that a denial
//! is the failure's and not the policy's.
//!
//! Three rows exist only in debug builds: a panic, an abort and a stack that runs out come from a
//! switch that the released program does not have, because nobody may ask it to fail. Every other
//! row holds for any build; signals and time-outs meet a hook that waits for the rest of its
//! payload.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use rustix::process::Signal;
use tagout_agents::Client;
use tagout_vocab::limits::HOOK_PAYLOAD_BYTES_MAX;

use crate::confined::Site;
use crate::hook_oracle::{Does, Said, said};
use crate::hooked::{Call, Line, ask, fed, hook, sends, site_for, site_for_all, tell, written};

/// Every client was let through just now.
fn all_is_well(site: &Site, name: &str) {
    for client in Client::ALL {
        let call = written(*client, name);
        let said = ask(site, &call);
        assert!(said.runs(), "{client}, nothing wrong: {said:?}");
        tell(site, &call);
    }
}

/// One row of the matrix: each client asks once.
struct Row {
    what: &'static str,
    answers: Vec<Said>,
}

fn row(site: &Site, what: &'static str, asked: impl Fn(&Site, &Call) -> Output) -> Row {
    let answer = |client: &Client| said(*client, &asked(site, &written(*client, "bad")));
    Row {
        what,
        answers: Client::ALL.iter().map(answer).collect(),
    }
}

impl Row {
    fn cells(&self) -> String {
        let cell = |said: &Said| {
            let does = match said.does() {
                Does::Denies => "denied",
                Does::Asks => "ASKS",
                Does::Runs | Does::RunsRewritten => "RUNS",
            };
            let code = said
                .code
                .map_or("signal".to_owned(), |code| code.to_string());
            format!("{:>14}", format!("{does} ({code})"))
        };
        let cells: String = self.answers.iter().map(cell).collect();
        format!("{:<22}{cells}", self.what)
    }

    /// Holds every client to it.
    fn hold(&self) {
        let what = self.what;
        assert_eq!(self.answers.len(), Client::ALL.len());
        for said in &self.answers {
            assert_eq!(said.wrong, None, "{what}: {said:?}");
            assert_eq!(said.does(), Does::Denies, "{what}: {said:?}");
            let told = format!("{}{}", said.stdout, said.stderr);
            assert!(!told.trim().is_empty(), "{what} without a reason: {said:?}");
        }
    }
}

fn print(rows: &[Row]) {
    let names = Client::ALL
        .iter()
        .map(|client| format!("{:>14}", client.as_str()));
    println!("{:<22}{}", "", names.collect::<String>());
    for row in rows {
        println!("{}", row.cells());
    }
}

fn plain(site: &Site, call: &Call) -> Output {
    with(site, call, &[])
}

fn with(site: &Site, call: &Call, more: &[&str]) -> Output {
    let event = call.before();
    let line = Line {
        more,
        ..Line::of(call.client, &event)
    };
    fed(hook(site, &line), &call.payload(&site.root()))
}

fn with_input(site: &Site, call: &Call, payload: &[u8]) -> Output {
    let event = call.before();
    fed(hook(site, &Line::of(call.client, &event)), payload)
}

/// Runs the hook's words in a shell that first does something.
fn after(shell: &[&str], setup: &str, (site, call): (&Site, &Call)) -> Output {
    let event = call.before();
    let words = Line::of(call.client, &event).words(site);
    let mut all = shell.iter().copied().chain(["sh", "-ec"]);
    let mut command = Command::new(all.next().unwrap());
    command
        .args(all)
        .arg(format!("{setup}\nexec \"$@\""))
        .args(["sh", env!("CARGO_BIN_EXE_tagout")])
        .args(words)
        .current_dir(site.root())
        .env("LEDGER", site.state().join("ledger"))
        .env("STATE", site.home().join(".local/state/tagout"));
    fed(command, &call.payload(&site.root()))
}

/// A mount namespace of one's own: for everybody where the system gives one, else for root.
const MOUNTS: [&[&str]; 2] = [
    &["unshare", "--user", "--map-root-user", "--mount"],
    &["unshare", "--mount"],
];

/// How such a namespace is had here. Where there is none, two rows of the matrix can't be tried,
/// which is a failure: nothing else shows what a full disk does.
fn mounts(site: &Site) -> &'static [&'static str] {
    let call = written(Client::Goose, "probe");
    let tried = |way: &&[&str]| after(way, "mount -t tmpfs none /mnt && exit 42", (site, &call));
    let found = MOUNTS
        .iter()
        .find(|way| tried(way).status.code() == Some(42));
    found.unwrap_or_else(|| {
        let ran = MOUNTS.iter().map(tried).collect::<Vec<_>>();
        panic!("no mount namespace is to be had here, not even by root: {ran:?}")
    })
}

const READ_ONLY: &str = "mount --bind \"$LEDGER\" \"$LEDGER\"
mount -o remount,bind,ro \"$LEDGER\"";

const FULL: &str = "mount -t tmpfs -o size=16m none /mnt
cp -a \"$STATE/.\" /mnt/
head -c 20000000 /dev/zero > /mnt/filling 2>/dev/null || true
mount --bind /mnt \"$STATE\"";

/// The failure matrix, for every client that the tables know.
#[test]
fn slow_the_failure_matrix() {
    let site = site_for_all();
    all_is_well(&site, "first");
    let mut rows = Vec::new();
    #[cfg(debug_assertions)]
    rows.extend(broken_down(&site));
    rows.extend(ended(&site));
    rows.extend(bad_input(&site));
    rows.extend(bad_lines(&site));
    rows.push(row(&site, "no file may grow", |site, call| {
        after(&["env"], "ulimit -f 0", (site, call))
    }));
    let mounts = mounts(&site);
    rows.push(row(&site, "unwritable ledger", |site, call| {
        after(mounts, READ_ONLY, (site, call))
    }));
    rows.push(row(&site, "full disk", |site, call| {
        after(mounts, FULL, (site, call))
    }));
    all_is_well(&site, "second");
    let policy = ".orchestration/hook_policy.yaml";
    let good = site.read(policy).unwrap();
    site.write(policy, "version: [1\n");
    rows.push(row(&site, "broken policy", plain));
    site.write(policy, &good);
    all_is_well(&site, "third");
    fs::remove_dir_all(site.state()).unwrap();
    rows.push(row(&site, "no state folder", plain));
    print(&rows);
    for row in &rows {
        row.hold();
    }
}

/// What the program does to itself.
#[cfg(debug_assertions)]
fn broken_down(site: &Site) -> Vec<Row> {
    let failing = |what, how: &'static str| {
        row(site, what, move |site, call| {
            with(site, call, &["--fail", how])
        })
    };
    vec![
        failing("panic", "panic"),
        failing("abort", "abort"),
        failing("stack overflow", "overflow"),
    ]
}

fn ended(site: &Site) -> Vec<Row> {
    let signals = [
        ("SIGTERM", Signal::TERM),
        ("SIGINT", Signal::INT),
        ("SIGHUP", Signal::HUP),
    ];
    let one = |(what, signal)| row(site, what, move |site, call| signalled(site, call, signal));
    signals.into_iter().map(one).collect()
}

fn bad_input(site: &Site) -> Vec<Row> {
    let filling = vec![b' '; HOOK_PAYLOAD_BYTES_MAX];
    vec![
        row(site, "truncated stdin", |site, call| {
            let payload = call.payload(&site.root());
            with_input(site, call, &payload[..payload.len() / 2])
        }),
        row(site, "empty stdin", |site, call| {
            with_input(site, call, b"")
        }),
        row(site, "oversized payload", |site, call| {
            let payload = [filling.clone(), call.payload(&site.root())].concat();
            with_input(site, call, &payload)
        }),
    ]
}

fn bad_lines(site: &Site) -> Vec<Row> {
    let line = |call: &Call, client: &str| {
        let event = call.before();
        let line = Line {
            client,
            ..Line::of(call.client, &event)
        };
        fed(hook(site, &line), &call.payload(&site.root()))
    };
    vec![
        row(site, "no state home", |site, call| {
            let event = call.before();
            let line = Line {
                state: Some(Path::new("/nowhere/at/all")),
                ..Line::of(call.client, &event)
            };
            fed(hook(site, &line), &call.payload(&site.root()))
        }),
        row(site, "unknown --client", |_, call| line(call, "nobody")),
        row(site, "unreadable line", |site, call| {
            with(site, call, &["--bogus"])
        }),
    ]
}

/// A hook whose client stopped in the middle of the payload, with the end that is held open.
fn hanging(site: &Site, call: &Call) -> (Child, ChildStdin) {
    let event = call.before();
    let mut command = hook(site, &Line::of(call.client, &event));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let payload = call.payload(&site.root());
    stdin.write_all(&payload[..payload.len() / 2]).unwrap();
    (child, stdin)
}

fn signalled(site: &Site, call: &Call, signal: Signal) -> Output {
    let (child, stdin) = hanging(site, call);
    // Until the program watches for it, the signal would end it outright.
    let status = format!("/proc/{}/status", child.id());
    let watches = |line: &str| {
        let mask = line.strip_prefix("SigCgt:").map(str::trim);
        let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok());
        mask.is_some_and(|mask| mask & (1 << (signal.as_raw() - 1)) != 0)
    };
    while !fs::read_to_string(&status).unwrap().lines().any(watches) {
        std::thread::yield_now();
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, signal).unwrap();
    let ran = child.wait_with_output().unwrap();
    drop(stdin);
    ran
}

/// §13.7: every signal that would end a process without its word is answered with a denial.
#[test]
fn no_signal_ends_it_without_a_word() {
    let site = site_for(&[]);
    let call = written(Client::ClaudeCode, "bad");
    for signal in [
        Signal::TRAP,
        Signal::USR1,
        Signal::USR2,
        Signal::VTALARM,
        Signal::PROF,
        Signal::IO,
        Signal::POWER,
        Signal::STKFLT,
    ] {
        let said = said(call.client, &signalled(&site, &call, signal));
        assert_eq!(said.wrong, None, "{signal:?}: {said:?}");
        assert_eq!(said.does(), Does::Denies, "{signal:?}: {said:?}");
    }
}

/// §13.7: a client that takes the answer only later gets all of it.
#[test]
fn a_slow_reader_gets_the_whole_answer() {
    let site = site_for(&[]);
    let call = written(Client::ClaudeCode, "bad");
    let (mut ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let mut filling = 0;
    while let Ok(written) = theirs.write(&[b'\n'; 512]) {
        filling += written;
    }
    let event = call.before();
    let mut command = hook(&site, &Line::of(call.client, &event));
    let stdout = std::os::fd::OwnedFd::from(theirs);
    command.stdin(Stdio::piped()).stdout(Stdio::from(stdout));
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    drop(command);
    let payload = call.payload(&site.root());
    child.stdin.take().unwrap().write_all(&payload).unwrap();
    // Nothing is taken out before it waits for room, or has given up.
    let asked = format!("/proc/{}/syscall", child.id());
    let waits = || {
        let asked = fs::read_to_string(&asked).unwrap_or_default();
        let number = asked.split(' ').next().unwrap_or_default();
        WAITING.contains(&number)
    };
    let mut looks = 0;
    while !waits() && child.try_wait().unwrap().is_none() && looks < 4_000 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        looks += 1;
    }
    let mut stdout = Vec::new();
    ours.read_to_end(&mut stdout).unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&stdout[filling..]).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

/// The answers to a call, one piece for each write.
fn pieces(site: &Site, call: &Call) -> Vec<Vec<u8>> {
    let (ours, theirs) = UnixDatagram::pair().unwrap();
    let event = call.before();
    let mut command = hook(site, &Line::of(call.client, &event));
    let stdout = std::os::fd::OwnedFd::from(theirs);
    command.stdin(Stdio::piped()).stdout(Stdio::from(stdout));
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    drop(command);
    let payload = call.payload(&site.root());
    child.stdin.take().unwrap().write_all(&payload).unwrap();
    child.wait().unwrap();
    ours.set_nonblocking(true).unwrap();
    let mut room = vec![0; 1 << 20];
    let mut pieces = Vec::new();
    while let Ok(length) = ours.recv(&mut room) {
        pieces.push(room[..length].to_vec());
    }
    pieces
}

/// An answer is one write or none, whatever it says and however long it is.
#[test]
fn an_answer_is_one_write() {
    let site = site_for(&[]);
    let mut seen = 0;
    for client in Client::ALL {
        let long = format!("echo {}", "x".repeat(40_000));
        for call in [
            written(*client, "denied"),
            Call::shell(*client, ("main", "short"), "ls"),
            Call::shell(*client, ("main", "long"), &long),
        ] {
            let pieces = pieces(&site, &call);
            assert!(pieces.len() <= 1, "{client}: {} writes", pieces.len());
            for piece in &pieces {
                let value: serde_json::Value = serde_json::from_slice(piece).unwrap();
                assert!(value.is_object(), "{client}: {value}");
                seen += 1;
            }
        }
    }
    assert!(seen > Client::ALL.len(), "{seen}");
}

/// The numbers of the calls that wait for room.
const WAITING: &[&str] = if cfg!(target_arch = "x86_64") {
    &["7", "271"]
} else {
    &["73"]
};

/// The hook gives up before its client does, all clients at once.
#[test]
fn slow_a_stall_denies_before_the_client_gives_up() {
    let site = site_for_all();
    let started = std::time::Instant::now();
    let asked = |client: &Client| {
        let call = written(*client, "bad");
        let waits = client.event(&call.before()).unwrap().wait_ms.unwrap();
        (*client, waits, hanging(&site, &call))
    };
    let asked: Vec<_> = Client::ALL.iter().map(asked).collect();
    let mut answers = Vec::new();
    for (client, waits, (child, stdin)) in asked {
        let ran = child.wait_with_output().unwrap();
        drop(stdin);
        let took = started.elapsed().as_millis();
        assert!(took < u128::from(waits), "{client}: {took} of {waits} ms");
        answers.push(said(client, &ran));
    }
    let row = Row {
        what: "time-out",
        answers,
    };
    print(std::slice::from_ref(&row));
    row.hold();
}

/// §13.7: the client on the line is a claim. One that the payload does not bear out is a denial in
/// words that the client understands which really asked; only a client that is known to read
/// another's configuration is judged as itself.
#[test]
fn slow_another_clients_line_denies() {
    let site = site_for_all();
    let mut tried = 0;
    for claimed in Client::ALL {
        let others = Client::ALL.iter().filter(|client| *client != claimed);
        for client in others.filter(|client| !client.reads_hooks_of(*claimed)) {
            let call = written(*client, "bad");
            let event = &sends(*claimed).before;
            let line = Line {
                client: claimed.as_str(),
                ..Line::of(*client, event)
            };
            let ran = fed(hook(&site, &line), &call.payload(&site.root()));
            let said = said(*client, &ran);
            assert_eq!(
                said.wrong, None,
                "{client} in the line of {claimed}: {said:?}"
            );
            assert_eq!(
                said.does(),
                Does::Denies,
                "{client} in the line of {claimed}: {said:?}"
            );
            tried += 1;
        }
    }
    assert!(tried > 140, "{tried}");
}
