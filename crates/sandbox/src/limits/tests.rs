//! Tests of limits: what is pure, what is measured, and what this machine's kernel holds.

#![allow(clippy::disallowed_methods, reason = "tests write their own files")]

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cgroup::{Groups, Left, locate};
use super::choice::{Chosen, Counter, LimitHost, Place, Version};
use super::size::Sizes;
use super::stat::Stat;
use super::{Limit, LimitHit, Limits, choose, lines, probe};
use crate::host::State;

fn host() -> LimitHost {
    LimitHost {
        watcher: true,
        ..LimitHost::default()
    }
}

fn group(version: Version) -> Place {
    Place {
        path: PathBuf::from("/sys/fs/cgroup/own"),
        version,
    }
}

#[test]
fn every_limit_that_is_asked_for_has_a_named_enforcer() {
    let (_, enforcers) = choose(&host(), &Limits::usual()).unwrap();
    let named: Vec<&str> = enforcers.iter().map(|one| one.what.as_str()).collect();
    let all: Vec<&str> = Limit::ALL.into_iter().map(Limit::as_str).collect();
    assert_eq!(named, all);
    assert!(enforcers.iter().all(|one| !one.by.is_empty()));
    let (_, none) = choose(&host(), &Limits::default()).unwrap();
    assert!(none.is_empty());
}

/// S2 A limit that nobody can hold is refused with its name and a remedy.
#[test]
fn a_limit_that_nobody_can_hold_is_refused_by_name() {
    for (limit, limits) in [
        (
            Limit::Memory,
            Limits {
                memory_bytes: Some(1),
                ..Limits::default()
            },
        ),
        (
            Limit::Cpu,
            Limits {
                cpu: Some(Duration::from_secs(1)),
                ..Limits::default()
            },
        ),
    ] {
        let refused = choose(&LimitHost::default(), &limits).unwrap_err();
        assert!(refused.what.contains(limit.as_str()), "{refused}");
        assert!(!refused.remedy.is_empty());
    }
}

#[test]
fn the_kernel_comes_before_the_watcher_and_the_second_version_before_the_first() {
    let by = |host: &LimitHost, what: Limit| {
        let (_, enforcers) = choose(host, &Limits::usual()).unwrap();
        let one = enforcers.into_iter().find(|one| one.what == what.as_str());
        one.unwrap().by
    };
    let mut host = host();
    assert!(by(&host, Limit::Memory).contains("watcher"));
    assert!(by(&host, Limit::Processes).contains("watcher"));
    host.memory = Some(group(Version::One));
    host.pids = Some(group(Version::One));
    assert!(by(&host, Limit::Memory).contains("version 1"));
    assert!(by(&host, Limit::Processes).contains("version 1"));
    host.memory = Some(group(Version::Two));
    host.rlimit_counts = true;
    assert!(by(&host, Limit::Memory).contains("version 2"));
    assert!(by(&host, Limit::Processes).contains("resource limit"));
    let (chosen, _) = choose(&host, &Limits::usual()).unwrap();
    assert_eq!(chosen.pids, None, "one counter of processes is enough");
    assert_eq!(chosen.processes, Counter::Rlimit);
    // A resource limit outside of a namespace would count the user's other processes.
    let bare = host.without_namespaces();
    assert!(by(&bare, Limit::Processes).contains("version 1"));
    let (chosen, _) = choose(&bare, &Limits::usual()).unwrap();
    assert_eq!(chosen.processes, Counter::Group);
    let nobody = LimitHost { pids: None, ..bare };
    assert!(by(&nobody, Limit::Processes).contains("watcher"));
}

/// S1: where the watcher stands in for the kernel, every word about it says that this is weaker.
#[test]
fn a_watcher_in_the_kernels_place_is_told_as_weaker() {
    let weaker = |host: &LimitHost| -> Vec<String> {
        let (_, enforcers) = choose(host, &Limits::usual()).unwrap();
        let marked = enforcers.into_iter().filter(|one| one.weaker);
        let marked: Vec<String> = marked.map(|one| one.what).collect();
        let shown: Vec<String> = lines(host)
            .into_iter()
            .filter(|line| line.state == State::Weaker)
            .map(|line| line.what.replace("limit on ", ""))
            .collect();
        assert_eq!(marked, shown);
        marked
    };
    let mut host = host();
    assert_eq!(weaker(&host), ["memory", "processes and threads"]);
    host.memory = Some(group(Version::Two));
    assert_eq!(weaker(&host), ["processes and threads"]);
    host.rlimit_counts = true;
    assert!(weaker(&host).is_empty());
    assert_eq!(
        weaker(&host.without_namespaces()),
        ["processes and threads"]
    );
}

#[test]
fn the_lines_for_people_name_a_remedy_where_something_is_missing() {
    let missing = lines(&LimitHost::default());
    assert_eq!(missing.len(), Limit::ALL.len());
    for line in missing.iter().filter(|line| line.state == State::Missing) {
        assert!(!line.remedy.is_empty(), "{line:?}");
    }
    assert!(missing.iter().any(|line| line.state == State::Missing));
    let all = lines(&host());
    assert!(all.iter().all(|line| line.state != State::Missing));
    let memory = all.iter().find(|line| line.what.contains("memory"));
    assert!(memory.unwrap().remedy.contains("control group"));
}

#[test]
fn a_hit_says_which_limit_what_was_seen_and_by_whom() {
    let hit = LimitHit::new(Limit::Memory, "a watcher", "600 bytes in use");
    insta::assert_snapshot!(
        hit,
        @"the limit on memory was hit: 600 bytes in use (seen by a watcher)"
    );
}

#[test]
fn a_line_of_stat_is_read_behind_any_name() {
    let rest = "S 7 1 1 0 -1 4194560 1 2 3 4 50 60 70 80 20 0 3 0 900 1000000 250 184467";
    for name in ["bash", "a b", ") R 1 1", "((", ")"] {
        let stat = Stat::parse(format!("42 ({name}) {rest}").as_bytes()).unwrap();
        assert_eq!(
            stat,
            Stat {
                parent: 7,
                own_ticks: 110,
                waited_ticks: 150,
                threads: 3,
                started_ticks: 900,
                pages: 250,
                dead: false,
            }
        );
    }
    assert_eq!(Stat::parse(b"42 (cut) S 1 2"), None);
    assert_eq!(Stat::parse(b""), None);
    let own = std::fs::read("/proc/self/stat").unwrap();
    assert!(Stat::parse(&own).unwrap().pages > 0);
}

#[test]
fn control_groups_are_found_in_mixed_second_version_and_container_layouts() {
    let mixed = "\
30 23 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755
36 30 0:32 / /sys/fs/cgroup/mem\\040ory rw - cgroup cgroup rw,memory
37 30 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";
    let own = "4:memory:/one/two\n0::/\n";
    let found = locate(mixed, own, "memory", Version::One).unwrap();
    assert_eq!(found.mount, Path::new("/sys/fs/cgroup/mem ory"));
    assert_eq!(found.own, Path::new("one/two"));
    let places = found.places();
    assert_eq!(places.len(), 1, "nothing above the own group");
    assert_eq!(places[0].path, Path::new("/sys/fs/cgroup/mem ory/one/two"));
    assert_eq!(locate(mixed, own, "pids", Version::One), None);

    let second = "29 22 0:25 / /nowhere/cgroup rw - cgroup2 cgroup2 rw";
    let own = "0::/user.slice/app.scope\n";
    let found = locate(second, own, "memory", Version::Two).unwrap();
    let paths: Vec<PathBuf> = found.places().into_iter().map(|one| one.path).collect();
    assert_eq!(
        paths,
        [
            Path::new("/nowhere/cgroup/user.slice/app.scope"),
            Path::new("/nowhere/cgroup/user.slice"),
            Path::new("/nowhere/cgroup"),
        ]
    );

    let container = "50 40 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
    let own = "4:memory:/docker/abc/inner\n";
    let found = locate(container, own, "memory", Version::One).unwrap();
    assert_eq!(found.own, Path::new("inner"));
    let outside = "4:memory:/other\n";
    assert_eq!(locate(container, outside, "memory", Version::One), None);
}

#[test]
fn the_size_of_a_layer_counts_blocks_not_holes_and_finds_the_longest_file() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = || {
        let root: OwnedFd = File::open(folder.path()).unwrap().into();
        Sizes::new(vec![root]).finish(Some(1 << 30)).unwrap()
    };
    assert_eq!(sizes().total_bytes, 0);
    let hole = File::create(folder.path().join("hole")).unwrap();
    hole.set_len(1 << 40).unwrap();
    let seen = sizes();
    assert_eq!(seen.longest_bytes, 1 << 40);
    assert!(seen.total_bytes <= 8192, "{seen:?}");
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    std::fs::write(folder.path().join("inner/full"), vec![1; 1 << 20]).unwrap();
    std::fs::hard_link(
        folder.path().join("inner/full"),
        folder.path().join("again"),
    )
    .unwrap();
    let seen = sizes();
    assert!(
        (1 << 20..(1 << 20) + 65_536).contains(&seen.total_bytes),
        "two names of one file: {seen:?}"
    );
    assert!(!seen.too_deep);
}

#[test]
fn a_measurement_goes_on_in_steps_until_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..5_000 {
        File::create(folder.path().join(number.to_string())).unwrap();
    }
    let root: OwnedFd = File::open(folder.path()).unwrap().into();
    let mut sizes = Sizes::new(vec![root]);
    // With a limit of nothing every look is suspicious enough as soon as something was lost; the
    // first measurement is due after a pause.
    assert_eq!(sizes.step(None), None);
    let seen = sizes.finish(Some(0)).unwrap();
    assert_eq!(seen.total_bytes, 5_000 * 4096);
}

/// S2 The probe sees only what it did: what it found is used here once more.
#[test]
fn what_the_probe_found_holds() {
    let scratch = tempfile::tempdir().unwrap();
    let host = probe(scratch.path());
    assert!(host.watcher);
    println!("{host:?}");
    if let Some(place) = &host.memory {
        let chosen = Chosen {
            limits: Limits {
                memory_bytes: Some(32 << 20),
                ..Limits::default()
            },
            memory: host.memory.clone(),
            ..Chosen::default()
        };
        let groups = Groups::create(&chosen).unwrap();
        assert_eq!(groups.joins().unwrap().len(), 1);
        assert_eq!(groups.hit(), None);
        drop(groups);
        let own = format!("tagout-{}-", std::process::id());
        let left = std::fs::read_dir(&place.path).unwrap().flatten();
        let mut left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(&own));
        assert!(left.next().is_none(), "the group goes with its run");
        // Who is told of a group removes it, and those of processes that are gone.
        let orphan = place.path.join("tagout-4194304-1-0");
        std::fs::create_dir(&orphan).unwrap();
        let mut groups = Groups::create(&chosen).unwrap();
        let own = groups.paths().next().unwrap().to_owned();
        groups.leave();
        let mut left = Left::default();
        left.add([own.clone()].into_iter());
        drop(groups);
        assert!(own.exists());
        left.remove();
        assert!(!own.exists() && !orphan.exists());
    }
}
