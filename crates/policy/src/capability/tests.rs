//! What the capability tree promises.

mod laws;

use std::collections::BTreeSet;

use super::{Capability, Risk};

fn capabilities(names: &[&str]) -> BTreeSet<Capability> {
    names
        .iter()
        .map(|name| Capability::parse(name).unwrap())
        .collect()
}

/// C1 The tree as the RFC draws it.
#[test]
fn the_tree() {
    let lines: Vec<String> = Capability::all()
        .map(|one| {
            let entry = one.entry();
            let handed = if entry.delegatable { "" } else { " stays" };
            format!(
                "{one} {:?} {:?} {:?}{handed}",
                entry.risk, entry.requires, entry.conflicts
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    filesystem.read Low [] []
    filesystem.write Medium ["filesystem.read"] []
    filesystem.delete High ["filesystem.read"] []
    filesystem.execute High ["filesystem.read"] []
    network.http Medium [] []
    network.https Medium [] []
    network.tcp High [] []
    network.udp High [] []
    process.spawn High ["filesystem.execute"] []
    process.kill High [] []
    process.signal Medium [] []
    system.env Medium [] []
    system.time Low [] []
    system.info Low [] []
    state.read Low [] []
    state.write Medium [] []
    state.delete Medium [] []
    admin.capability.grant Critical [] ["admin.tool.install"] stays
    admin.capability.revoke Critical [] [] stays
    admin.tool.install Critical [] ["admin.capability.grant"] stays
    "#);
}

/// C1 Every name in the tree is a name of the tree, once, and conflicts go both ways.
#[test]
fn the_tree_is_whole() {
    let names: BTreeSet<&str> = Capability::all().map(Capability::as_str).collect();
    assert_eq!(names.len(), Capability::all().count());
    for capability in Capability::all() {
        let entry = capability.entry();
        for name in entry.requires.iter().chain(entry.conflicts) {
            assert!(names.contains(name), "{capability} names `{name}`");
        }
        for other in entry.conflicts {
            let back = Capability::parse(other).unwrap().entry().conflicts;
            assert!(
                back.contains(&capability.as_str()),
                "{capability} and {other}"
            );
        }
        let is_admin = entry.name.starts_with("admin.");
        assert_eq!(entry.delegatable, !is_admin);
        assert_eq!(entry.risk == Risk::Critical, is_admin);
    }
}

/// C1 A branch is its leaves, written out; nothing else is a name.
#[test]
fn names() {
    assert_eq!(Capability::expand("filesystem").unwrap().len(), 4);
    assert_eq!(Capability::expand("admin").unwrap().len(), 3);
    assert_eq!(Capability::expand("admin.capability").unwrap().len(), 2);
    assert_eq!(
        Capability::expand("state.read").unwrap(),
        capabilities(&["state.read"])
    );
    for wrong in [
        "",
        ".",
        "file",
        "filesystem.",
        "filesystem.rea",
        "Filesystem.read",
        "*",
    ] {
        assert!(Capability::expand(wrong).is_err(), "`{wrong}`");
        assert!(Capability::parse(wrong).is_err(), "`{wrong}`");
    }
    assert_eq!(
        Capability::parse("filesystem.wirte")
            .unwrap_err()
            .to_string(),
        "`filesystem.wirte` is no capability (did you mean `filesystem.write`?)"
    );
    assert!(Capability::parse("filesystem").is_err());
    assert!(serde_json::from_str::<Capability>("\"admin\"").is_err());
    assert!(
        Capability::parse(&"x".repeat(1 << 20))
            .unwrap_err()
            .to_string()
            .len()
            < 200
    );
}

/// C1 What is required is required all the way down.
#[test]
fn requirements_are_followed() {
    assert_eq!(
        Capability::closure(&capabilities(&["process.spawn"])),
        capabilities(&["process.spawn", "filesystem.execute", "filesystem.read"])
    );
    let both = capabilities(&["admin.capability.grant", "state.read", "admin.tool.install"]);
    assert!(Capability::conflict(&both).is_some());
    assert!(Capability::conflict(&capabilities(&["admin.tool.install"])).is_none());
}
