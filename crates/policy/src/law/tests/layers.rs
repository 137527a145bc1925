//! What layers say together (A5, A6, H5, H17).

use serde_json::{Map, json};
use tagout_vocab::{SideEffectLevel, limits::REPEAT_LIMIT_DEFAULT};

use super::{repository, user};
use crate::law::{
    Isolation, Law, Layer, Network, OnFailure, Overlap, Profile, Publish, RootAccess,
};
use crate::scope::CaseRule;

fn law(user_text: Option<&str>, repository_text: Option<&str>) -> Law {
    let user = user_text.map(user);
    let repository = repository_text.map(repository).into_iter().collect();
    Law::assemble(Layer::built_in(), user, repository).unwrap()
}

#[test]
fn without_files_the_built_in_layer_holds() {
    let law = Law::built_in();
    assert_eq!(law.profile(), Profile::Balanced);
    assert_eq!(law.ceiling(), SideEffectLevel::ProcessExec);
    assert_eq!(law.limits().repeat_max, Some(REPEAT_LIMIT_DEFAULT));
    assert_eq!(law.network(), Network::None);
    assert_eq!(law.isolation(), Isolation::Full);
    assert_eq!(law.overlap(), Overlap::Deny);
    assert_eq!(law.publish(), Publish::AtOnce);
    assert_eq!(law.on_command_failure(), OnFailure::Keep);
    assert!(!law.offers_shell_before_handshake());
    assert!(law.tool_denied(&["anything"]).is_none());
}

#[test]
fn the_strictest_profile_holds_and_observe_is_the_users() {
    let profile = |user, repository| law(user, repository).profile();
    assert_eq!(profile(Some("profile: observe"), None), Profile::Observe);
    assert_eq!(
        profile(Some("profile: observe"), Some("profile: balanced")),
        Profile::Balanced
    );
    assert_eq!(
        profile(Some("profile: strict"), Some("profile: balanced")),
        Profile::Strict
    );
    assert_eq!(profile(None, Some("profile: strict")), Profile::Strict);
}

/// A layer that was put together by hand is held to the same rule as one that was read.
#[test]
fn a_repository_cannot_set_what_is_the_users() {
    let layer =
        user("profile: observe\nnetwork: any\nisolation: {accept: none}\npass_through: [t]");
    let problems = Law::assemble(Layer::built_in(), None, vec![layer]).unwrap_err();
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert!(
        problems[0]
            .to_string()
            .contains("`profile: observe` can be set only in the user's")
    );
}

/// A5 The ceiling is the least of all, and only the user's own grant lifts the built-in one.
#[test]
fn ceilings_only_fall_except_for_the_users_network() {
    let ceiling = |user, repository| law(user, repository).ceiling();
    assert_eq!(
        ceiling(Some("ceiling: network"), None),
        SideEffectLevel::ProcessExec
    );
    assert_eq!(
        ceiling(Some("network: any"), None),
        SideEffectLevel::Network
    );
    assert_eq!(
        ceiling(Some("network: none"), None),
        SideEffectLevel::ProcessExec
    );
    assert_eq!(
        ceiling(None, Some("ceiling: desktop_control")),
        SideEffectLevel::ProcessExec
    );
    assert_eq!(
        ceiling(Some("network: any"), Some("ceiling: read_only")),
        SideEffectLevel::ReadOnly
    );
    assert_eq!(
        ceiling(
            Some("network: any\nceiling: workspace_write"),
            Some("ceiling: network")
        ),
        SideEffectLevel::WorkspaceWrite
    );
}

/// A5 «Nothing allowed» and «unrestricted» are different values, and disjoint lists leave nothing.
#[test]
fn an_empty_list_is_nothing_and_layers_intersect() {
    let nothing = law(None, Some("tools: {allow: []}\ncapabilities: {allow: []}"));
    assert!(nothing.tool_denied(&["read_file"]).is_some());
    assert!(nothing.capability_denied("filesystem.read").is_some());
    let disjoint = law(Some("tools: {allow: [a]}"), Some("tools: {allow: [b]}"));
    for tool in ["a", "b", "c"] {
        assert!(disjoint.tool_denied(&[tool]).is_some(), "{tool}");
    }
    let overlapping = law(
        Some("tools: {allow: ['mcp_*']}"),
        Some("tools: {deny: ['*_delete']}"),
    );
    assert!(overlapping.tool_denied(&["mcp_read"]).is_none());
    let denied = overlapping.tool_denied(&["mcp_delete"]).unwrap();
    assert_eq!(
        (denied.source.file.as_str(), denied.entry.as_str()),
        ("hook_policy.yaml", "deny: *_delete")
    );
}

#[test]
fn a_denied_name_counts_under_any_of_a_tools_names() {
    let law = law(None, Some("tools: {deny: [Bash]}"));
    assert!(law.tool_denied(&["Bash", "execute_command"]).is_some());
}

/// A5, C1 A capability's name stands for all beneath it, and asking for the whole asks for the
/// part.
#[test]
fn capabilities_are_a_tree() {
    let law = law(
        Some("capabilities: {allow: [filesystem, network.https]}"),
        Some("capabilities: {deny: [filesystem.write]}"),
    );
    let denied = |name| law.capability_denied(name).is_some();
    assert!(!denied("filesystem.read") && !denied("network.https"));
    assert!(denied("filesystem.write") && denied("filesystem"));
    assert!(denied("network.http") && denied("network.httpsx") && denied("process.spawn"));
}

/// A6, H5 A server's hint is advice until the policy trusts the server, and any layer can distrust.
#[test]
fn mcp_tools_are_destructive_unless_listed_or_trusted() {
    let trusting = law(None, Some("mcp: {servers: {docs: {trust_hints: true}}}"));
    assert!(trusting.mcp_reads("docs", "search", Some(true)).is_some());
    assert!(trusting.mcp_reads("docs", "search", None).is_none());
    assert!(trusting.mcp_reads("docs", "search", Some(false)).is_none());
    assert!(trusting.mcp_reads("other", "search", Some(true)).is_none());
    let distrusting = law(
        Some("mcp: {servers: {docs: {trust_hints: false}}}"),
        Some("mcp: {servers: {docs: {trust_hints: true}}, readonly_tools: [docs/list]}"),
    );
    assert!(
        distrusting
            .mcp_reads("docs", "search", Some(true))
            .is_none()
    );
    assert!(distrusting.mcp_reads("docs", "list", None).is_some());
    let denying = law(Some("mcp: {deny: [docs]}"), None);
    assert!(denying.mcp_denied("docs", "any").is_some());
    assert!(denying.mcp_denied("docs2", "any").is_none());
}

/// A5 A constraint that can't be resolved refuses.
#[test]
fn argument_constraints_refuse_what_they_cannot_read() {
    let law = law(
        None,
        Some(
            "arguments: [{tool: 'write_*', key: path, path: [src, 'docs/*.md']}, \
             {tool: run, key: mode, exact: [fast], prefix: [x-], optional: true}]",
        ),
    );
    let passes = |tool: &str, arguments: serde_json::Value| {
        let arguments: Map<_, _> = arguments.as_object().unwrap().clone();
        law.argument_refused(&[tool], &arguments, CaseRule::Sensitive)
            .is_none()
    };
    assert!(passes("write_file", json!({"path": "src/a/b.rs"})));
    assert!(passes("write_file", json!({"path": "./src//a.rs"})));
    assert!(passes(
        "write_file",
        json!({"path": ["src/a", "docs/x.md"]})
    ));
    assert!(passes("read_file", json!({"path": "/etc/passwd"})));
    let refused = [
        json!({}),
        json!({"path": null}),
        json!({"path": []}),
        json!({"path": 7}),
        json!({"path": {"src": 1}}),
        json!({"path": ["src/a", 7]}),
        json!({"path": ["src/a", "etc/b"]}),
        json!({"path": "src/../etc"}),
        json!({"path": "/src/a"}),
        json!({"path": "docs/a/b.md"}),
        json!({"path": "srcx/a"}),
    ];
    for arguments in refused {
        assert!(!passes("write_file", arguments.clone()), "{arguments}");
    }
    assert!(passes("run", json!({})) && passes("run", json!({"mode": "x-1"})));
    assert!(!passes("run", json!({"mode": "slow"})) && !passes("run", json!({"mode": true})));
}

#[test]
fn a_grant_can_be_taken_back_by_any_layer() {
    let on =
        "offer_shell_before_handshake: true\nintents: {overlap: ask}\non_command_failure: keep";
    let off = "offer_shell_before_handshake: false\nintents: {overlap: deny}\n\
               on_command_failure: roll_back";
    let granted = law(None, Some(on));
    assert!(granted.offers_shell_before_handshake());
    assert_eq!(
        (granted.overlap(), granted.on_command_failure()),
        (Overlap::Ask, OnFailure::Keep)
    );
    for law in [law(Some(off), Some(on)), law(Some(on), Some(off))] {
        assert!(!law.offers_shell_before_handshake());
        assert_eq!(
            (law.overlap(), law.on_command_failure()),
            (Overlap::Deny, OnFailure::RollBack)
        );
    }
}

#[test]
fn roots_take_the_least_access_and_clash_loudly() {
    let root =
        |access: &str, path: &str| format!("roots: [{{name: s, path: {path}, access: {access}}}]");
    let law = law(Some(&root("read", "/srv")), Some(&root("write", "/srv")));
    assert_eq!(law.roots()[0].access, RootAccess::Read);
    let clash = Law::assemble(
        Layer::built_in(),
        Some(user(&root("read", "/srv"))),
        vec![repository(&root("read", "/etc"))],
    );
    assert!(
        clash.unwrap_err()[0]
            .message
            .contains("names another folder")
    );
}

/// H17 The smallest limit holds.
#[test]
fn limits_take_the_minimum() {
    let law = law(
        Some("limits: {repeat_limit: 100, calls: 10}"),
        Some("limits: {repeat_limit: 3, calls: 20, minutes: 0}"),
    );
    let limits = law.limits();
    assert_eq!(limits.repeat_max, Some(3));
    assert_eq!((limits.calls_max, limits.minutes_max), (Some(10), Some(0)));
}

/// Until a person accepts them, files of the tree take away at once and give nothing.
#[test]
fn a_proposal_narrows_at_once_and_grants_nothing() {
    let grants = "offer_shell_before_handshake: true\nmcp: {readonly_tools: [docs/list]}";
    let fresh =
        Law::built_in().with_proposal(vec![repository(&format!("{grants}\nprofile: strict"))]);
    assert!(!fresh.offers_shell_before_handshake());
    assert!(fresh.mcp_reads("docs", "list", None).is_none());
    assert_eq!(fresh.profile(), Profile::Strict);
    let accepted = law(None, Some(&format!("{grants}\ntools: {{deny: [a]}}")));
    let kept = accepted.with_proposal(vec![repository(grants)]);
    assert!(kept.mcp_reads("docs", "list", None).is_some());
    assert!(
        kept.tool_denied(&["a"]).is_some(),
        "removing a denial waits"
    );
    let gone = accepted.with_proposal(vec![]);
    assert!(gone.mcp_reads("docs", "list", None).is_none());
    assert!(gone.tool_denied(&["a"]).is_some());
}

#[test]
fn a_withdrawn_declaration_still_narrows_but_makes_nothing_known() {
    let accepted = law(
        None,
        Some("declare: [{name: t, about: t, class: DESTRUCTIVE, kind: other, level: network}]"),
    );
    assert!(!accepted.declared()[0].withdrawn);
    let proposed = accepted.with_proposal(vec![repository(
        "declare: [{name: u, about: u, class: DESTRUCTIVE, kind: other, level: network}]",
    )]);
    let declared = proposed.declared();
    assert_eq!(declared.len(), 1);
    assert!(declared[0].withdrawn && declared[0].tool.name == "t");
}

/// A5 Asking for more is an error that names what is too much; asking for less is given.
#[test]
fn a_session_within_a_session_gets_what_is_there() {
    let outer = law(
        Some("limits: {calls: 5}"),
        Some(
            "tools: {allow: [read_file, 'search_*']}\ncapabilities: {allow: [filesystem]}\n\
             ceiling: workspace_write\nroots: [{name: r, path: /r, access: write}]",
        ),
    );
    for (asked, excess) in [
        (
            "tools: {allow: [write_file]}",
            "asks for the tool `write_file`",
        ),
        ("tools: {allow: ['*']}", "asks for the tool `*`"),
        (
            "tools: {allow: ['search?*']}",
            "asks for the tool `search?*`",
        ),
        (
            "capabilities: {allow: [network.tcp]}",
            "asks for the capability `network.tcp`",
        ),
        (
            "ceiling: network",
            "asks for the ceiling `network`, above `workspace_write`",
        ),
        ("limits: {calls: 6}", "asks for a higher `calls`"),
        ("roots: [{name: s, path: /s}]", "adds the root `s`"),
        ("roots: [{name: r, path: /r}]", ""),
        (
            "tools: {allow: [read_file, 'search_f*']}\nlimits: {calls: 4}",
            "",
        ),
        (
            "intents: {overlap: ask}",
            "what happens when intents overlap",
        ),
    ] {
        let found = outer.narrowed(repository(asked)).map_err(|excess| {
            let what: Vec<String> = excess.into_iter().map(|change| change.what).collect();
            what.join("; ")
        });
        assert_eq!(found.err().unwrap_or_default(), excess, "{asked}");
    }
}

/// A5 Two lists that share nothing leave nothing, never everything.
#[test]
fn disjoint_lists_leave_nothing() {
    let both = law(
        Some("tools: {allow: [a]}\ncapabilities: {allow: [network]}"),
        Some("tools: {allow: [b]}\ncapabilities: {allow: [filesystem]}"),
    );
    for name in ["a", "b", "c", "*", ""] {
        assert!(both.tool_denied(&[name]).is_some(), "`{name}`");
    }
    for name in ["network.tcp", "filesystem.read", "network", "state.read"] {
        assert!(both.capability_denied(name).is_some(), "`{name}`");
    }
}

/// A5 `src/*` does not accept `src/../x`, however it is spelled.
#[test]
fn constrained_values_are_paths() {
    let law = law(
        None,
        Some("arguments: [{tool: edit, key: path, path: 'src/*'}]"),
    );
    let passes = |path: &str| {
        let arguments = json!({ "path": path });
        law.argument_refused(
            &["edit"],
            arguments.as_object().unwrap(),
            CaseRule::Sensitive,
        )
        .is_none()
    };
    for good in ["src/a", "./src//a"] {
        assert!(passes(good), "`{good}`");
    }
    for bad in [
        "src/../x",
        "src/..",
        "src/a/../../x",
        "src/a/b",
        "srcx/a",
        "",
        "SRC/a",
        "/etc/src/a",
        "src\\..\\x",
        "https://src/a",
        "../ws/src/a",
    ] {
        assert!(!passes(bad), "`{bad}`");
    }
}
