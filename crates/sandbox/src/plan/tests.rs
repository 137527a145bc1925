//! Which lane, with whose consent, or why not.

use std::path::{Path, PathBuf};

use super::plan;
use crate::host::{Host, Probed};
use crate::limits::{LimitHost, Limits};
use crate::output::Output;
use crate::wanted::{Input, Lane, Layers, Network, Wanted, Weaker};

fn fails() -> Probed {
    Probed::Fails {
        why: "it was tried".to_owned(),
        remedy: "change it".to_owned(),
    }
}

fn host() -> Host {
    Host {
        key: String::new(),
        read_only: Probed::Works,
        transaction: Probed::Works,
        snapshot: Probed::Works,
        bare_snapshot: Probed::Works,
        landlock_abi: 7,
        limits: LimitHost::default(),
    }
}

fn wanted(lane: Lane) -> Wanted {
    Wanted {
        lane,
        workspace: PathBuf::from("/w"),
        cwd: PathBuf::from("/w/src"),
        argv: vec!["true".into()],
        direct: None,
        env: Vec::new(),
        limits: Limits::default(),
        network: Network::Off,
        layers: Layers {
            upper: PathBuf::from("/s/upper"),
            work: PathBuf::from("/s/work"),
            tmp: PathBuf::from("/s/tmp"),
            ..Layers::default()
        },
        writable: Vec::new(),
        hidden: vec![PathBuf::from("/s")],
        home: Some(PathBuf::from("/home/u")),
        through: Vec::new(),
        read_only_inside: Vec::new(),
        accept_degraded: Vec::new(),
        long_running: false,
        input: Input::Nothing,
        output: Output {
            artifact: PathBuf::from("/s/output"),
            live: None,
        },
    }
}

const LANES: [Lane; 3] = [Lane::ReadOnly, Lane::Transaction, Lane::Snapshot];

#[test]
fn what_works_is_given_as_asked_and_nothing_in_it_is_weaker() {
    for lane in LANES {
        let plan = plan(&host(), &wanted(lane)).unwrap();
        assert_eq!(plan.lane(), lane);
        assert!(plan.enforcers().iter().all(|enforcer| !enforcer.weaker));
        assert!(
            plan.enforcers()
                .iter()
                .all(|enforcer| !enforcer.by.is_empty())
        );
    }
}

#[test]
fn what_fails_is_refused_with_its_remedy_unless_the_weaker_form_is_accepted() {
    let mut host = host();
    (host.read_only, host.transaction, host.snapshot) = (fails(), fails(), fails());
    for lane in LANES {
        let refused = plan(&host, &wanted(lane)).unwrap_err();
        assert_eq!(refused.remedy, "change it");
        assert!(refused.what.contains(lane.as_str()));
        let mut accepting = wanted(lane);
        accepting.accept_degraded = vec![Weaker::Snapshot];
        assert!(plan(&host, &accepting).is_err(), "{lane:?}");
        accepting.accept_degraded = vec![Weaker::NoNamespaces];
        let weaker = plan(&host, &accepting).unwrap();
        assert_eq!(weaker.lane(), Lane::Snapshot);
        assert!(!weaker.form.namespaces);
        assert!(weaker.enforcers().iter().any(|enforcer| enforcer.weaker));
    }
}

#[test]
fn without_an_overlay_the_snapshot_lane_needs_consent_and_says_that_it_is_weaker() {
    let mut host = host();
    host.transaction = fails();
    assert!(plan(&host, &wanted(Lane::Transaction)).is_err());
    let mut accepting = wanted(Lane::Transaction);
    accepting.accept_degraded = vec![Weaker::Snapshot];
    let plan = plan(&host, &accepting).unwrap();
    assert_eq!(plan.lane(), Lane::Snapshot);
    assert!(plan.form.namespaces);
    assert!(plan.enforcers().iter().any(|enforcer| enforcer.weaker));
}

#[test]
fn a_sessions_network_can_not_be_had_without_name_spaces() {
    let mut host = host();
    host.read_only = fails();
    let mut wanted = wanted(Lane::ReadOnly);
    wanted.network = Network::Session(PathBuf::from("/s/session"));
    wanted.accept_degraded = vec![Weaker::NoNamespaces];
    assert!(plan(&host, &wanted).is_err());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |change: &dyn Fn(&mut Wanted)| {
        let mut wanted = wanted(Lane::Transaction);
        change(&mut wanted);
        plan(&host(), &wanted).is_err()
    };
    assert!(!refused(&|_| ()));
    assert!(refused(&|wanted| wanted.argv.clear()));
    assert!(refused(&|wanted| wanted.argv = vec!["".into()]));
    for path in [
        "/",
        "w",
        "/w/../etc",
        "/run/w",
        "/proc/1",
        "/dev/shm/w",
        "/tmp",
        "/sys",
    ] {
        assert!(refused(&|wanted| wanted.workspace = path.into()), "{path}");
    }
    assert!(refused(&|wanted| wanted.workspace = "/home/u/.ssh/w".into()));
    assert!(refused(&|wanted| wanted.workspace = "/s/w".into()));
    assert!(refused(&|wanted| wanted.layers.upper = "/w/upper".into()));
    assert!(refused(&|wanted| wanted.layers.tmp = PathBuf::new()));
    assert!(refused(&|wanted| wanted.hidden.push("a".into())));
    assert!(refused(&|wanted| wanted.long_running = true));
}

#[test]
fn a_long_running_command_reads_and_shares_the_sessions_network() {
    let mut wanted = wanted(Lane::ReadOnly);
    wanted.long_running = true;
    assert!(plan(&host(), &wanted).is_err());
    wanted.network = Network::Session(PathBuf::from("/s/session"));
    assert!(plan(&host(), &wanted).is_ok());
}

#[test]
fn mounts_are_read_with_their_escapes() {
    assert_eq!(super::mounts::below(Path::new("/no such place")), None);
    assert!(super::mounts::below(Path::new("/")).is_some());
}
