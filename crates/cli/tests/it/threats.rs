//! The threats that only commands can carry out, attacked through the real binary.

use serde_json::Value;

use crate::confined::Site;

/// L14, T-002: whatever a command takes too much of, it is ended and told as failed, and nothing of
/// it is left.
#[test]
fn threat_t002_too_much_of_everything() {
    let site = Site::new(&[]);
    let before = site.tree();
    let greedy = [
        ("wall", "touch src/x; while :; do :; done"),
        (
            "memory",
            "touch src/x; python3 -c 'b = bytearray(8 << 30); b[::4096] = b\"x\" * (len(b) // 4096)'; true",
        ),
        ("file size", "touch src/x; truncate -s 100T src/big; true"),
    ];
    for (what, line) in greedy {
        let ran = site.exec_with(
            &["--intent", "INT-001", "--timeout", "5000", "--json"],
            line,
        );
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_ne!(told["outcome"], "completed", "{what}: {told:#}");
        assert!(told["limit_hit"]["limit"].is_string(), "{what}: {told:#}");
        assert_ne!(ran.code, Some(0), "{what}: {told:#}");
        assert_eq!(site.tree(), before, "{what}");
    }
}

/// L14, T-004: what an agent has no capability for, it can't give itself, by no verb and no file.
#[test]
fn threat_t004_nobody_widens_their_own_rights() {
    let site = Site::new(&[]);
    let law = || {
        ["active_intents.yaml", "hook_policy.yaml"]
            .map(|name| site.read(&format!(".orchestration/{name}")))
    };
    let before = law();
    for line in [
        "tagout grant issue --capability filesystem.write --holder s-1 --yes",
        "tagout trust --yes",
        "tagout approve a-1 --yes",
        "tagout intent new Wider --scope '**' --yes",
        "bash -c 'tagout epoch new --yes'",
        "env -u TAGOUT_GOVERNED tagout trust --yes",
        "printf 'version: 1\\n' > .orchestration/hook_policy.yaml",
        "sed -i s/src/docs/ .orchestration/active_intents.yaml",
        "python3 -c 'open(\".orchestration/hook_policy.yaml\", \"w\").write(\"x\")'",
        "ln -s ../.orchestration src/o && printf x > src/o/hook_policy.yaml",
        "git config core.hooksPath src",
        "sudo true",
    ] {
        let ran = site.exec(line);
        assert_ne!(ran.code, Some(0), "{line}: {}", ran.shown());
        assert_eq!(law(), before, "{line}");
    }
    // Nothing got wider: what was refused before is refused now, and reading still works.
    assert_ne!(site.exec("printf x > docs.md").code, Some(0));
    assert_eq!(site.read("docs.md"), None);
    assert_eq!(site.exec("ls src").code, Some(0));
    let verified = site.tagout(&["verify"]);
    assert_eq!(verified.code, Some(0), "{}", verified.shown());
}
