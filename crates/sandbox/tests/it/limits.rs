//! Limits that are run into: each holds, and the run has failed although its shell says otherwise.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stage::{Stage, Who, everyone};

/// Runs a greedy program below a shell that says afterwards that all went well.
fn greedy(stage: &Stage, what: &str, limits: &Value) -> Value {
    let program = stage.path("bin/greedy");
    let line = format!("{} {what} 2>/dev/null & wait; exit 0", program.display());
    let mut order = stage.order("transaction", &["sh", "-c", &line]);
    order["limits"] = limits.clone();
    let told = stage.run(&[], &order);
    assert!(told["ended"].is_object(), "{what}: {told:#}");
    told
}

/// The limit that failed the run.
fn held(told: &Value) -> &str {
    told["ended"]["failed_by"]["limit"]
        .as_str()
        .unwrap_or("none")
}

fn seconds(count: u64) -> Value {
    json!({ "secs": count, "nanos": 0 })
}

/// One limit is run into, by everyone; the run fails by its name within the time.
fn check(what: &str, limits: &Value, limit: &str, most: Duration) {
    for who in everyone() {
        let stage = Stage::new(who);
        let before = stage.fingerprint(&["workspace", "outside", "home"]);
        let mut limits = limits.clone();
        if limits["wall"].is_null() {
            limits["wall"] = seconds(30);
        }
        let begun = Instant::now();
        let told = greedy(&stage, &format!("{what} {}", stage.secret), &limits);
        let took = begun.elapsed();
        let ended = &told["ended"];
        println!(
            "{what} as {who:?}: {} after {took:?}, peak {}",
            ended["failed_by"], ended["peak_memory"]
        );
        assert_eq!(held(&told), limit, "{what} as {who:?}: {told:#}");
        assert!(took < most, "{what} as {who:?} took {took:?}");
        assert_eq!(stage.running(), Vec::<u32>::new(), "{what} as {who:?}");
        assert_eq!(before, stage.fingerprint(&["workspace", "outside", "home"]));
    }
}

const SOON: Duration = Duration::from_secs(15);

/// S2 T-004 Six children of 300 MB each do not get past 512 MB together.
#[test]
fn memory_is_counted_for_the_whole_tree() {
    let limit: u64 = 512 << 20;
    check(
        "children 300",
        &json!({ "memory_bytes": limit }),
        "memory",
        SOON,
    );
}

/// S2 The peak is told, and near what was used.
#[test]
fn the_peak_of_memory_is_told() {
    for who in everyone() {
        let stage = Stage::new(who);
        let limits = json!({ "memory_bytes": 512_u64 << 20, "wall": seconds(30) });
        let told = greedy(&stage, "memory 100", &limits);
        assert_eq!(held(&told), "none", "{told:#}");
        let peak = told["ended"]["peak_memory"].as_u64().unwrap();
        assert!((90 << 20..200 << 20).contains(&peak), "{who:?}: {peak}");
    }
}

/// S2 Memory that no process has mapped counts too.
#[test]
fn memory_in_files_without_a_name_is_counted() {
    let limits = json!({ "memory_bytes": 256_u64 << 20 });
    check("memory-file 400", &limits, "memory", SOON);
}

/// S2 A fork bomb is held.
#[test]
fn a_fork_bomb_is_held() {
    check("fork-bomb", &json!({ "processes": 64 }), "processes", SOON);
}

/// S2 So is one under the usual bounds, where the watcher is one of a thousand busy processes.
#[test]
fn a_fork_bomb_is_held_among_a_thousand() {
    let limits = json!({ "processes": 1024, "memory_bytes": 4_u64 << 30, "wall": seconds(10) });
    check("fork-bomb", &limits, "processes", SOON);
}

/// S2 Threads count like processes.
#[test]
fn threads_are_counted() {
    check(
        "threads 200",
        &json!({ "processes": 64 }),
        "processes",
        SOON,
    );
}

/// S2 Processor time is counted for the whole tree.
#[test]
fn a_busy_loop_is_ended() {
    check(
        "spin",
        &json!({ "cpu": { "secs": 0, "nanos": 300_000_000 } }),
        "cpu",
        SOON,
    );
}

/// S2 Processor time of children that nobody waits for is counted too.
#[test]
fn busy_children_that_nobody_waits_for_are_counted() {
    check(
        "spin-children",
        &json!({ "cpu": { "secs": 0, "nanos": 300_000_000 } }),
        "cpu",
        SOON,
    );
}

/// S2 A file with a hole counts by its length.
#[test]
fn a_sparse_file_is_held() {
    let limits = json!({ "file_bytes": 64_u64 << 20 });
    check("sparse 100000", &limits, "file_size", SOON);
}

/// S2 So does a file whose room is only reserved.
#[test]
fn an_allocated_file_is_held() {
    let limits = json!({ "file_bytes": 64_u64 << 20 });
    check("allocate 200", &limits, "file_size", SOON);
}

/// S2 And one that is written.
#[test]
fn a_long_file_is_held() {
    let limits = json!({ "file_bytes": 16_u64 << 20 });
    check("write-long 40", &limits, "file_size", SOON);
}

/// S2 Many files that are each short enough are counted together.
#[test]
fn the_total_size_is_held() {
    let limits = json!({ "file_bytes": 64_u64 << 20, "total_bytes": 128_u64 << 20 });
    check("many-files 400", &limits, "total_size", SOON);
}

/// S2 So are files that have no name any more.
#[test]
fn files_without_a_name_count_for_the_total_size() {
    let limits = json!({ "total_bytes": 128_u64 << 20 });
    check("nameless 400", &limits, "total_size", SOON);
}

/// S2 Folders that are nested too deeply to be measured are not let pass as empty.
#[test]
fn what_can_not_be_measured_is_held() {
    let limits = json!({ "total_bytes": 128_u64 << 20 });
    check("deep 700", &limits, "total_size", SOON);
}

/// S2 A flood of output is cut, and the artifact is not longer than allowed.
#[test]
fn a_flood_of_output_is_held() {
    let most: u64 = 1 << 20;
    let limits = json!({ "output_bytes": most });
    check("flood", &limits, "output", SOON);
    for who in everyone() {
        let stage = Stage::new(who);
        let told = greedy(&stage, &format!("flood {}", stage.secret), &limits);
        assert_eq!(held(&told), "output", "{told:#}");
        let length = std::fs::metadata(stage.path("scratch/artifact"))
            .unwrap()
            .len();
        assert!((1..=most).contains(&length), "{who:?}: {length} bytes");
    }
}

/// S2 L6 A tree that stands still ends with its time.
#[test]
fn a_stopped_tree_ends() {
    let limits = json!({ "wall": { "secs": 0, "nanos": 700_000_000 } });
    check("stop", &limits, "wall", SOON);
}

/// S2 A process that holds as many descriptors as it may have has hit its limit.
#[test]
fn descriptors_are_held() {
    check(
        "descriptors 500",
        &json!({ "descriptors": 64 }),
        "descriptors",
        SOON,
    );
}

/// Runs this below a shell that ends at once and says that all went well.
fn leaving(stage: &Stage, what: &str) -> Value {
    let program = stage.path("bin/greedy");
    let line = format!("{} {what} 0 {} &", program.display(), stage.secret);
    let mut order = stage.order("transaction", &["sh", "-c", &line]);
    order["limits"] = json!({ "wall": seconds(20), "processes": 200 });
    stage.run(&[], &order)
}

/// L6 T-004 A daemon that forks twice, one that changes its number all the time, one that stands
/// still and one that was only put into the background end with the call, and the run has failed
/// although its shell says otherwise.
#[test]
fn nothing_outlives_the_command() {
    for who in everyone() {
        for what in ["daemon", "hop", "wait"] {
            let stage = Stage::new(who);
            let told = leaving(&stage, what);
            assert_eq!(held(&told), "left_behind", "{what} as {who:?}: {told:#}");
            let ended = &told["ended"];
            assert_eq!(ended["exit"], json!({ "code": 0 }), "{told:#}");
            println!("{what} as {who:?}: {}", ended["failed_by"]["detail"]);
            assert_eq!(stage.running(), Vec::<u32>::new(), "{what} as {who:?}");
        }
        let stage = Stage::new(who);
        let line = "sh -c 'kill -STOP $$' &";
        let told = stage.run(&[], &stage.order("read_only", &["sh", "-c", line]));
        assert_eq!(held(&told), "left_behind", "stopped as {who:?}: {told:#}");
    }
}

/// L6 What only finishes its last step after the command has ended may do so.
#[test]
fn what_ends_by_itself_is_waited_for() {
    for who in everyone() {
        let stage = Stage::new(who);
        let line = "(sleep 0.3; echo late) & (setsid sh -c 'sleep 0.2; echo later >file' &)";
        let told = stage.run(&[], &stage.order("transaction", &["sh", "-c", line]));
        assert_eq!(held(&told), "none", "{told:#}");
        assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told:#}");
        assert_eq!(stage.printed(), "late\n");
        let wrote = stage.path("scratch/upper/file");
        assert_eq!(std::fs::read_to_string(wrote).unwrap(), "later\n");
    }
}

/// L6 The launching process is killed: nothing of the run is left, and nothing has changed.
#[test]
fn a_killed_launcher_leaves_nothing_running() {
    for who in everyone() {
        for lane in ["transaction", "read_only"] {
            let stage = Stage::new(who);
            let before = stage.fingerprint(&["workspace", "outside", "home", "state"]);
            let program = stage.path("bin/greedy");
            let line = format!(
                "for what in hop daemon wait; do {} $what 0 {} & done; echo x >f; wait",
                program.display(),
                stage.secret
            );
            let mut order = stage.order(lane, &["sh", "-c", &line]);
            order["limits"] = json!({ "memory_bytes": 256_u64 << 20, "processes": 200 });
            let mut launcher = stage.start(&[], &order);
            wait_until("the run is under way", || stage.running().len() >= 3);
            launcher.kill().unwrap();
            launcher.wait().unwrap();
            wait_until("nothing is left", || stage.running().is_empty());
            let after = stage.fingerprint(&["workspace", "outside", "home", "state"]);
            assert_eq!(before, after, "{lane} as {who:?}");
            // The next run finds nothing of it in its way.
            let mut order = stage.order("read_only", &["true"]);
            order["limits"] = json!({ "memory_bytes": 256_u64 << 20 });
            let told = stage.run(&[], &order);
            assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told:#}");
        }
    }
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < end, "not within ten seconds: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// S2 What holds the limits is named before the run, and a run within them is not failed.
#[test]
fn a_modest_run_is_not_failed_and_names_its_enforcers() {
    for who in everyone() {
        let stage = Stage::new(who);
        let mut order = stage.order("transaction", &["sh", "-c", "echo hello; echo x >file"]);
        order["limits"] = json!({
            "wall": seconds(20), "cpu": seconds(10), "memory_bytes": 256_u64 << 20,
            "processes": 50, "file_bytes": 1_u64 << 20, "total_bytes": 8_u64 << 20,
            "descriptors": 100, "output_bytes": 1000,
        });
        let told = stage.run(&[], &order);
        assert_eq!(held(&told), "none", "{told:#}");
        assert_eq!(stage.printed(), "hello\n");
        let named = told["enforcers"].as_array().unwrap();
        for limit in [
            "memory",
            "processes and threads",
            "total size",
            "output",
            "wall time",
        ] {
            let by = named.iter().find(|one| one["what"] == limit).unwrap();
            println!("{who:?}: {limit} by {}", by["by"]);
            assert!(!by["by"].as_str().unwrap().is_empty());
        }
        if who == Who::Ordinary {
            let by = named
                .iter()
                .find(|one| one["what"] == "processes and threads");
            assert!(
                by.unwrap()["by"]
                    .as_str()
                    .unwrap()
                    .contains("resource limit")
            );
        }
    }
}
