//! Everyday work with the plain scope `src/**` and `tests/**`: it works unmodified, and the
//! workspace shows only what is in scope.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::confined::Site;

fn has(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .output()
        .is_ok_and(|ran| ran.status.success())
}

/// What the workspace gained or lost against a list.
fn names(site: &Site) -> Vec<String> {
    site.tree().into_iter().map(|(name, _)| name).collect()
}

const CRATE: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    ),
    (
        "src/lib.rs",
        "pub fn two() -> u8 { 2 }\n#[test]\nfn it() { assert_eq!(two(), 2); }\n",
    ),
    (".gitignore", "/target\n"),
];

/// B2: the second build is incremental, and neither shows in the workspace.
#[test]
fn slow_cargo_test_twice() {
    let site = Site::new(CRATE);
    let before = names(&site);
    let ran = site.exec("cargo test");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(ran.stderr.contains("Compiling tiny"), "{}", ran.shown());
    assert!(ran.stdout.contains("1 passed"), "{}", ran.shown());
    let ran = site.exec("cargo test");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(!ran.stderr.contains("Compiling tiny"), "{}", ran.shown());
    assert_eq!(names(&site), before);
    assert_eq!(site.exec("ls target/debug").code, Some(0));
    let told = site.receipt("printf 'pub fn two() -> u8 { 3 }\\n' > src/new.rs");
    assert_eq!(told["outcome"], "completed", "{told:#}");
    assert!(names(&site).contains(&"src/new.rs".to_owned()));
}

/// A virtual environment in the workspace, with what `cargo xtask test` installed by name.
fn virtual_environment(site: &Site) {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/python");
    assert!(
        tools.join("pytest/__init__.py").is_file(),
        "pytest is not in {}: `cargo xtask test` installs it there",
        tools.display()
    );
    let run = |command: &mut Command| {
        let ran = command.current_dir(site.root()).output().unwrap();
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        String::from_utf8(ran.stdout).unwrap()
    };
    run(Command::new("python3").args(["-m", "venv", "--without-pip", ".venv"]));
    let line = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let place = run(Command::new(".venv/bin/python").args(["-c", line]));
    run(Command::new("cp")
        .arg("-r")
        .arg(tools.join("."))
        .arg(place.trim()));
}

/// B2: pytest works unmodified, remembers what failed last, and writes nothing beside the sources.
#[test]
fn slow_pytest() {
    let site = Site::with_setup(
        &[
            ("src/calc.py", "def two():\n    return 2\n"),
            (
                "tests/test_calc.py",
                "from src.calc import two\n\n\ndef test_two():\n    assert two() == 2\n\n\n\
                 def test_three(tmp_path):\n    (tmp_path / 'x').write_text('x')\n    \
                 assert two() + 1 == 3\n",
            ),
            (".gitignore", ".venv\n"),
        ],
        virtual_environment,
    );
    let before = names(&site);
    let ran = site.exec(".venv/bin/python -m pytest -q");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(ran.stdout.contains("2 passed"), "{}", ran.shown());
    assert_eq!(site.exec("cat tests/test_calc.py").code, Some(0));
    let line = "sed -i 's/== 3/== 4/' tests/test_calc.py && .venv/bin/python -m pytest -q";
    let ran = site.exec(line);
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    assert!(ran.stdout.contains("1 failed, 1 passed"), "{}", ran.shown());
    let ran = site.exec(". .venv/bin/activate && python -m pytest --last-failed -q");
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    assert!(ran.stdout.contains("1 failed"), "{}", ran.shown());
    assert!(!ran.stdout.contains("passed"), "{}", ran.shown());
    // The lesson of the failed run is in the agent's instructions; nothing else came.
    let mut after = names(&site);
    after.retain(|name| name != "AGENT.md");
    assert_eq!(after, before);
    let test = site.read("tests/test_calc.py").unwrap();
    assert!(test.contains("== 4"), "what is in scope is applied: {test}");
}

/// A package from a folder is installed where the next command finds it.
#[test]
fn slow_npm_install_from_a_folder() {
    assert!(
        has("npm", &["--version"]),
        "npm is not installed: `cargo xtask test` installs it"
    );
    let site = Site::new(&[
        (
            "package.json",
            "{\"name\":\"w\",\"version\":\"1.0.0\",\"dependencies\":{\"left\":\"file:vendor/left\"}}",
        ),
        (
            "vendor/left/package.json",
            "{\"name\":\"left\",\"version\":\"1.0.0\",\"main\":\"i.js\"}",
        ),
        ("vendor/left/i.js", "module.exports = 42;\n"),
    ]);
    let before = names(&site);
    let ran = site.exec("npm install --no-audit --no-fund");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let ran = site.exec("node -e 'console.log(require(\"left\"))'");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "42\n"),
        "{}",
        ran.shown()
    );
    assert_eq!(names(&site), before);
}

/// A commit is made by git itself; private files stay out of it, and the repository is sound.
#[test]
fn git_commit() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let line = "mkdir -p target && echo built > target/x && echo two > src/b.txt && git add -A \
                && git commit -q -m second";
    // The folder is named, so the judge would refuse it before it runs; a program makes it instead.
    let line = line.replace(
        "mkdir -p target && echo built > target/x",
        "python3 -c 'import os; os.mkdir(\"target\"); open(\"target/x\", \"w\")'",
    );
    let ran = site.exec(&line);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.git(&["log", "--format=%s"]), "second\nfirst\n");
    let files = site.git(&["show", "--name-only", "--format="]);
    assert!(
        files.contains("src/b.txt") && !files.contains("target"),
        "{files}"
    );
    site.git(&["fsck", "--strict"]);
    assert_eq!(site.git(&["status", "--porcelain", "src", "target"]), "");
    assert!(!site.root().join("target").exists());
}

/// A server that one call starts is reached by the next, by nobody outside, and ends with the
/// session.
#[test]
fn slow_a_server_and_its_client() {
    let site = Site::new(&[("src/page.txt", "hello\n")]);
    let options = ["--intent", "INT-001", "--long-running"];
    let ran = site.exec_with(&options, "python3 -u -m http.server 8473 --bind 127.0.0.1");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let id = ran.stdout.trim().to_owned();
    assert!(id.starts_with("x-"), "{}", ran.shown());
    let fetch = "for i in $(seq 1 100); do curl -sf http://127.0.0.1:8473/src/page.txt && exit 0; \
                 sleep 0.1; done; exit 1";
    let ran = site.exec(fetch);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "hello\n"),
        "{}",
        ran.shown()
    );
    assert!(
        std::net::TcpStream::connect("127.0.0.1:8473").is_err(),
        "it is seen from outside"
    );
    let ran = site.tagout(&["exec", "--session", "s-1", "--end"]);
    assert_eq!(
        (ran.code, ran.stdout.trim()),
        (Some(0), format!("ended {id}").as_str())
    );
    let ran = site.exec("curl -s http://127.0.0.1:8473/");
    assert_eq!(ran.code, Some(7), "{}", ran.shown());
    let log = site.tagout(&["log", "--json"]);
    assert!(log.stdout.contains("its session ended"), "{}", log.stdout);
}

/// L6: a server that dies at once is no success, and one that dies later leaves its exit code with
/// the ledger although whoever started it is gone.
#[test]
fn a_server_that_dies_is_told() {
    let site = Site::new(&[]);
    let options = ["--intent", "INT-001", "--long-running"];
    let ran = site.exec_with(&options, "echo no such port >&2; exit 3");
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    assert!(ran.stderr.contains("no such port"), "{}", ran.shown());
    let options = ["--intent", "INT-001", "--long-running", "--json"];
    let ran = site.exec_with(&options, "echo no such port; exit 3");
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["exit_code"], 3, "{told:#}");
    assert_eq!(told["output"], "no such port\n", "{told:#}");
    assert!(told["long_running"].is_null(), "{told:#}");

    let go = site.state().join("layers");
    let line = "while ! test -e /tmp/go; do sleep 0.05; done; exit 7";
    let ran = site.exec_with(&["--intent", "INT-001", "--long-running"], line);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let id = ran.stdout.trim().to_owned();
    let sessions = fs::read_dir(&go).unwrap().flatten();
    for tmp in sessions.map(|entry| entry.path().join("tmp")) {
        if tmp.is_dir() {
            fs::write(tmp.join("go"), "").unwrap();
        }
    }
    let exits = format!("\"exits\":{{\"{id}\":7}}");
    let started = std::time::Instant::now();
    loop {
        assert_eq!(site.exec("true").code, Some(0));
        let log = site.tagout(&["log", "--json"]);
        if log.stdout.contains(&exits) {
            break;
        }
        assert!(started.elapsed().as_secs() < 30, "{}", log.stdout);
    }
}

/// Folders that a person passes through in their own policy are written at once and named as not
/// transactional; what must stay closed is not passed through.
#[test]
fn folders_are_passed_through() {
    let passing = |folders: &str| {
        Site::with_setup(&[("out/.keep", "")], |site| {
            let folder = site.home().join(".config/tagout");
            fs::create_dir_all(&folder).unwrap();
            fs::create_dir_all(site.home().join("shared")).unwrap();
            let shared = site.home().join("shared").display().to_string();
            let homes = site.home().display().to_string();
            let policy = format!("version: 1\npass_through: [{folders}]\n");
            fs::write(
                folder.join("policy.yaml"),
                policy.replace("SHARED", &shared).replace("HOMES", &homes),
            )
            .unwrap();
        })
    };
    let site = passing("out, SHARED, not-there");
    // A line that is seen to write there is refused like any other; programs write there.
    let line = "python3 -c 'import os; open(\"out/made\", \"w\").write(\"x\"); \
                open(os.path.expanduser(\"~/shared/y\"), \"w\").write(\"y\\n\"); \
                open(\"elsewhere\", \"w\")'";
    let told = site.receipt(line);
    assert_eq!(told["error"]["code"], "SCOPE_VIOLATION", "{told:#}");
    assert_eq!(site.read("out/made").as_deref(), Some("x"), "{told:#}");
    assert_eq!(
        fs::read_to_string(site.home().join("shared/y")).unwrap(),
        "y\n"
    );
    assert_eq!(site.read("elsewhere"), None);
    let named = |one: &serde_json::Value| {
        let what = one["what"].as_str().unwrap_or_default();
        what.starts_with("changes in ") && what.ends_with("/out") && one["weaker"] == true
    };
    assert!(
        told["enforcers"].as_array().unwrap().iter().any(named),
        "{told:#}"
    );
    let told = site.receipt("ls out");
    assert_eq!(told["lane"], "read-only", "{told:#}");
    for bad in ["HOMES", ".git", ".orchestration"] {
        let site = passing(bad);
        let told = site.receipt("echo x > src/x");
        assert_eq!(
            told["error"]["code"], "ISOLATION_UNAVAILABLE",
            "{bad}: {told:#}"
        );
        assert_eq!(site.read("src/x"), None);
    }
}

/// A command's own `/tmp` stays for the next one and is nobody else's.
#[test]
fn tmp_stays_with_the_session() {
    let site = Site::new(&[]);
    assert_eq!(site.exec("echo kept > /tmp/exec-note").code, Some(0));
    let ran = site.exec("cat /tmp/exec-note");
    assert_eq!(ran.stdout, "kept\n", "{}", ran.shown());
    assert!(!fs::exists("/tmp/exec-note").unwrap());
    let other = site.tagout(&["exec", "--session", "s-2", "--", "cat /tmp/exec-note"]);
    assert_eq!(other.code, Some(1), "{}", other.shown());
}
