//! Repositories whose own configuration makes readers run code: nothing of it lands.

use crate::stage::{Stage, everyone};

/// What a hostile repository brings along. Each program would leave traces in and beside the
/// workspace, and tell about itself.
const PLANT: &str = r#"
set -e
git init -q .
git config user.email a@b; git config user.name n
printf '#!/bin/sh\ntouch "$PWD/landed" ../outside/landed; echo "$0 ran" >&2\n' >evil
chmod +x evil
echo '*.rs diff=evil filter=evil' >.gitattributes
git config diff.evil.textconv "$PWD/evil"
git add -A && git commit -qm one
git config core.fsmonitor "$PWD/evil"
git config core.pager "$PWD/evil"
git config core.sshCommand "$PWD/evil"
git config diff.external "$PWD/evil"
git config filter.evil.clean "$PWD/evil"
git config core.hooksPath "$PWD/hooks"
mkdir hooks && for hook in post-index-change post-checkout pre-commit; do cp evil hooks/$hook; done
echo changed >>src/main.rs
printf 'script-shell=%s/evil\nnode-options=--require %s/evil\n' "$PWD" "$PWD" >.npmrc
echo '{"name":"planted","scripts":{"hello":"true","preinstall":"./evil"}}' >package.json
printf '[alias]\nversion = ["run"]\n' >cargo-config.toml
"#;

/// Commands that only read, by their class.
const READERS: &[&str] = &[
    "git status",
    "git diff",
    "git log -p",
    "git show HEAD",
    "git blame src/main.rs",
    "git describe --always --dirty",
    "git ls-files -m",
    "git grep main",
];

/// What runs planted code, one of it by `.npmrc`. Without walls each of them leaves its marks.
const RUNNERS: &[&str] = &["git status", "git diff", "npm run hello"];

/// S1 T-002 Readers of a hostile repository run its code behind the walls, and nothing lands.
#[test]
fn nothing_of_a_hostile_repository_lands() {
    for who in everyone() {
        let stage = Stage::new(who);
        let planted = stage
            .command("sh")
            .args(["-c", PLANT])
            .env("HOME", stage.path("home"))
            .output()
            .unwrap();
        assert!(planted.status.success(), "{planted:?}");
        for runner in RUNNERS {
            let marks = "rm landed ../outside/landed";
            let line = format!("{runner} >/dev/null 2>&1; {marks}");
            let mut plain = stage.command("sh");
            let plain = plain.args(["-c", &line]).env("HOME", stage.path("home"));
            let plain = plain.output().unwrap();
            assert!(plain.status.success(), "{runner} as {who:?}: {plain:?}");
        }
        let before = stage.fingerprint(&["workspace", "outside", "home", "state"]);
        let mut ran = 0;
        for reader in READERS.iter().chain(RUNNERS) {
            let order = stage.order("read_only", &["sh", "-c", reader]);
            let told = stage.run(&[], &order);
            assert!(told["ended"].is_object(), "{reader}: {told:#}");
            let has_run = stage.printed().contains("evil ran");
            assert!(has_run || !RUNNERS.contains(reader), "{reader} as {who:?}");
            ran += usize::from(has_run);
            let after = stage.fingerprint(&["workspace", "outside", "home", "state"]);
            assert_eq!(before, after, "{reader} as {who:?}");
        }
        println!(
            "{ran} of {} readers ran planted code",
            READERS.len() + RUNNERS.len()
        );
    }
}
