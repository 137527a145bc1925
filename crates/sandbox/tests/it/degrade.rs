//! Hosts that lack something: refused, or the weaker lane named; never without walls.

use serde_json::{Value, json};

use crate::stage::{Stage, Who, everyone};

/// A command that leaves a trace wherever it can.
const TRACE: &[&str] = &[
    "sh",
    "-c",
    "touch \"$HOME/ran\" ../outside/ran /var/tmp/tagout-ran ran; echo ran",
];

const LANES: &[&str] = &["read_only", "transaction", "snapshot"];
const ACCEPT_ALL: &[&str] = &["snapshot", "no_namespaces"];

/// Words that run the launcher with this done before it.
fn around(unshare: &[&str], line: &str) -> Vec<String> {
    let mut words = vec!["unshare"];
    words.extend(unshare);
    let line = format!("{line} && exec \"$@\"");
    words.extend(["sh", "-c", &line, "sh"]);
    words.into_iter().map(str::to_owned).collect()
}

/// Mounts of its own for whoever launches.
fn own_mounts(who: Who) -> &'static [&'static str] {
    match who {
        Who::Root => &["-m"],
        Who::Ordinary => &["-U", "-r", "-m"],
    }
}

/// Refused with a reason and a remedy, and nothing was run.
fn assert_refused(stage: &Stage, told: &Value) {
    let refused = &told["refused"];
    println!("{refused}");
    assert!(refused.is_object(), "{told:#}");
    for part in ["what", "why", "remedy"] {
        assert!(!refused[part].as_str().unwrap().is_empty(), "{told:#}");
    }
    for trace in ["home/ran", "outside/ran", "workspace/ran"] {
        assert!(!stage.path(trace).exists(), "{trace}: {told:#}");
    }
    assert_eq!(stage.printed(), "");
}

/// It ran, behind walls: nothing outside was touched.
fn assert_confined(stage: &Stage, told: &Value) {
    assert!(told["ended"].is_object(), "{told:#}");
    assert!(stage.printed().contains("ran"), "{told:#}");
    for trace in ["home/ran", "outside/ran"] {
        assert!(!stage.path(trace).exists(), "{trace}: {told:#}");
    }
}

/// Every lane is refused, whatever weaker form is accepted.
fn all_refused(stage: &Stage, without: &[&str]) {
    for lane in LANES {
        let mut order = stage.order(lane, TRACE);
        order["accept"] = ACCEPT_ALL.into();
        assert_refused(stage, &stage.run(without, &order));
    }
}

/// S2 Without user name spaces the lanes are refused; the weaker one is used only if it is
/// accepted, and is named.
#[test]
fn without_user_name_spaces_only_what_was_accepted_runs() {
    for who in everyone() {
        for outer in [false, true] {
            let mut stage = Stage::new(who);
            let mut without = vec!["user-namespaces"];
            if outer {
                let line = "echo 0 >/proc/sys/user/max_user_namespaces";
                stage.around = around(&["-U", "-r"], line);
                without.clear();
            }
            for lane in LANES {
                let mut order = stage.order(lane, TRACE);
                let told = stage.run(&without, &order);
                assert_refused(&stage, &told);
                order["accept"] = ["snapshot"].as_slice().into();
                assert_refused(&stage, &stage.run(&without, &order));
            }
            let mut order = stage.order("transaction", TRACE);
            order["accept"] = ACCEPT_ALL.into();
            let told = stage.run(&without, &order);
            assert_confined(&stage, &told);
            assert_eq!(told["lane"], "snapshot", "{told:#}");
            let enforcers = told["enforcers"].as_array().unwrap();
            let weaker = enforcers.iter().filter(|one| one["weaker"] == true);
            assert!(
                weaker.count() > 0,
                "the receipt says that it is weaker: {told:#}"
            );
        }
    }
}

/// S2 Landlock is required.
#[test]
fn without_landlock_everything_is_refused() {
    for who in everyone() {
        all_refused(&Stage::new(who), &["landlock"]);
    }
}

/// S2 Seccomp is required.
#[test]
fn without_seccomp_everything_is_refused() {
    for who in everyone() {
        all_refused(&Stage::new(who), &["seccomp"]);
    }
}

/// S2 A host that gives out name spaces and then refuses mounts in them, as some security modules
/// do: only the lane without name spaces is left, where it is accepted.
#[test]
fn where_mounts_are_refused_no_lane_with_mounts_runs() {
    for who in everyone() {
        let stage = Stage::new(who);
        for lane in LANES {
            let order = stage.order(lane, TRACE);
            assert_refused(&stage, &stage.run(&["mounts"], &order));
        }
    }
}

/// S2 Without control groups a watcher holds the memory, and is named.
#[test]
fn without_control_groups_a_watcher_holds_the_memory() {
    for who in everyone() {
        let mut stage = Stage::new(who);
        stage.around = around(own_mounts(who), "mount -t tmpfs none /sys/fs/cgroup");
        let greedy = stage.path("bin/greedy");
        let line = format!("{} children 100; exit 0", greedy.display());
        let mut order = stage.order("transaction", &["sh", "-c", &line]);
        order["limits"] = json!({ "memory_bytes": 256_u64 << 20, "processes": 50 });
        let told = stage.run(&[], &order);
        let failed = &told["ended"]["failed_by"];
        assert_eq!(failed["limit"], "memory", "{told:#}");
        assert!(
            failed["by"].as_str().unwrap().contains("watcher"),
            "{told:#}"
        );
        let enforcers = told["enforcers"].as_array().unwrap();
        let memory = enforcers
            .iter()
            .find(|one| one["what"] == "memory")
            .unwrap();
        assert!(memory["by"].as_str().unwrap().contains("watcher"));
        assert_eq!(memory["weaker"], true, "{told:#}");
    }
}

/// S2 A mount inside the workspace can't be overlaid: refused by its name, or the accepted lane.
#[test]
fn a_mount_inside_the_workspace_is_named() {
    for who in everyone() {
        let mut stage = Stage::new(who);
        stage.around = around(own_mounts(who), "mount -t tmpfs none src");
        let mut order = stage.order("transaction", TRACE);
        let told = stage.run(&[], &order);
        assert_refused(&stage, &told);
        let why = told["refused"]["why"].as_str().unwrap();
        assert!(why.contains("workspace/src"), "{why}");
        order["accept"] = ["snapshot"].as_slice().into();
        let told = stage.run(&[], &order);
        assert_confined(&stage, &told);
        assert_eq!(told["lane"], "snapshot");
        let order = stage.order("read_only", TRACE);
        let told = stage.run(&[], &order);
        assert_confined(&stage, &told);
    }
}

/// S2 Layers on another file system than the workspace, a home that can't be written: the lane
/// works as ever.
#[test]
fn other_file_systems_and_a_read_only_home_are_no_hindrance() {
    for who in everyone() {
        let mut stage = Stage::new(who);
        let scratch = stage.path("scratch").display().to_string();
        let home = stage.path("home").display().to_string();
        let line = format!(
            "cp {scratch}/order.json . && mount -t tmpfs none {scratch} && \
             mkdir {scratch}/upper {scratch}/work {scratch}/tmp && mv order.json {scratch} && \
             mount --bind {home} {home} && mount -o remount,bind,ro {home}"
        );
        stage.around = around(own_mounts(who), &line);
        let order = stage.order("transaction", &["sh", "-c", "echo x >new && cat new"]);
        let told = stage.run(&[], &order);
        assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told:#}");
        assert!(!stage.path("workspace/new").exists());
    }
}

/// S2 Names that other tools trip over.
#[test]
fn odd_paths_are_no_hindrance() {
    for who in everyone() {
        for name in [
            "a,b:c",
            "back\\slash",
            "sp ace",
            "new\nline",
            "ümläut",
            "-dash",
            "a=b",
        ] {
            let stage = Stage::new(who);
            let odd = stage.path(name);
            std::fs::rename(stage.path("workspace"), &odd).unwrap();
            std::fs::create_dir(stage.path("workspace")).unwrap();
            let upper = stage.path(&format!("scratch/{name}-upper"));
            stage.make(&upper);
            let mut order = stage.order("transaction", &["sh", "-c", "echo x >new; cat README.md"]);
            order["workspace"] = odd.to_str().into();
            order["cwd"] = odd.to_str().into();
            order["layers"]["upper"] = upper.to_str().into();
            let told = stage.run(&[], &order);
            assert_eq!(
                told["ended"]["exit"],
                json!({ "code": 0 }),
                "{name:?}: {told:#}"
            );
            assert!(!odd.join("new").exists());
            assert_eq!(std::fs::read(upper.join("new")).unwrap(), b"x\n");
        }
    }
}
