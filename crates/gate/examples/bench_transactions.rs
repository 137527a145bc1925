//! What transactions cost, as JSON lines: interleaved with the bare write and sync that they need.
//!
//! `bench_transactions FOLDER [ROUNDS]`, on the disk that is to be measured.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a measuring program: its output is its purpose"
)]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use tagout_vocab::{CallId, Timestamp};
use tagout_workspace::{Options, RelPath, Workspace, WriterProbe};

/// Files of one transaction and the bytes of each.
const CASES: [(&str, usize, usize); 2] = [("one_file", 1, 3_000), ("twenty_files", 20, 19_900)];

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

fn content(round: usize, file: usize, size: usize) -> Vec<u8> {
    format!("round {round} file {file}\n")
        .into_bytes()
        .into_iter()
        .cycle()
        .take(size)
        .collect()
}

fn transact(workspace: &Workspace, id: &str, contents: &[Vec<u8>]) -> bool {
    let mut transaction = workspace.begin(&CallId::new(id).unwrap()).unwrap();
    for (file, bytes) in contents.iter().enumerate() {
        let path = RelPath::new(format!("src/f{file}").as_bytes()).unwrap();
        transaction.write(&path, bytes).unwrap();
    }
    let committed = transaction
        .commit(Timestamp::from_millis(0), b"closing event")
        .unwrap();
    let due = committed.checkpoint_due;
    committed.confirm();
    due
}

fn measure(folder: &Path, rounds: usize, probe: (&str, WriterProbe), case: (&str, usize, usize)) {
    let (name, files, size) = case;
    let place = folder.join(format!("bench-{}-{name}", std::process::id()));
    let (root, state) = (place.join("w"), place.join("s"));
    fs::create_dir_all(root.join("src")).unwrap();
    for file in 0..files {
        fs::write(
            root.join(format!("src/f{file}")),
            content(usize::MAX, file, size),
        )
        .unwrap();
    }
    Workspace::create_state(&state).unwrap();
    let options = Options {
        writers: probe.1,
        #[cfg(target_os = "linux")]
        alone: matches!(probe.1, WriterProbe::Lease(_)).then_some(tagout_workspace::Alone {
            take: tagout_sandbox::lease_alone,
            lost: tagout_sandbox::lease_lost,
        }),
        ..Options::default()
    };
    let workspace = Workspace::open(&root, &state, options).unwrap();
    workspace.recover().unwrap();
    let mut bare_file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(place.join("bare"))
        .unwrap();
    let (mut bare, mut ours, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let bytes = content(round, 0, files * size);
        let contents: Vec<Vec<u8>> = (0..files).map(|file| content(round, file, size)).collect();
        let started = Instant::now();
        bare_file.write_all(&bytes).unwrap();
        bare_file.sync_data().unwrap();
        bare.push(started.elapsed().as_secs_f64());

        let started = Instant::now();
        let due = transact(&workspace, &format!("c{round}"), &contents);
        ours.push(started.elapsed().as_secs_f64());
        if due {
            assert!(workspace.checkpoint(|| Ok(())).unwrap().done);
        }
        all.push(started.elapsed().as_secs_f64());
    }
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let (bare, ours) = (median(&mut bare), median(&mut ours));
    println!(
        "{{\"bench\":\"transaction\",\"figure\":\"{name} {}\",\"rounds\":{rounds},\
         \"bare_ms\":{:.3},\"transaction_ms\":{:.3},\"ratio\":{:.2},\
         \"mean_with_checkpoints_ms\":{:.3}}}",
        probe.0,
        bare * 1e3,
        ours * 1e3,
        ours / bare,
        mean * 1e3,
    );
    let mut opens = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        let again = Workspace::open(&root, &state, Options::default()).unwrap();
        again.recover().unwrap();
        opens.push(started.elapsed().as_secs_f64());
    }
    println!(
        "{{\"bench\":\"open_and_recover\",\"case\":\"{name}\",\"ms\":{:.3}}}",
        median(&mut opens) * 1e3
    );
    fs::remove_dir_all(&place).unwrap();
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .expect("a folder on the disk to be measured");
    let rounds = arguments
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(300);
    // The kernel is asked for a lease on every file that is replaced, as in a real commit.
    #[cfg(target_os = "linux")]
    let probes = [
        ("lease", WriterProbe::Lease(tagout_sandbox::lease)),
        ("processes", WriterProbe::Processes),
    ];
    #[cfg(not(target_os = "linux"))]
    let probes = [("processes", WriterProbe::Processes)];
    for probe in probes {
        for case in CASES {
            measure(Path::new(&folder), rounds, probe, case);
        }
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or_default();
    println!("{{\"bench\":\"memory\",\"peak\":\"{}\"}}", peak.trim());
}
