//! H4: every line of the corpus that is called SAFE is run on a layer, and leaves it empty.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tagout_policy::shell::{self, Knowledge, ShellContext};
use tagout_sandbox::layer::{self, Reading};
use tagout_sandbox::{Host, Lane, Layers, Limits, Network, Output, Wanted, environment};
use tagout_vocab::Class;
use tagout_vocab::path::Roots;

use crate::confined::Site;

/// Lines that wait for what never comes, or only read until they are stopped.
const FOR_LONG: Duration = Duration::from_secs(4);

fn safe_lines(root: &Path) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policy/tests/fixtures");
    let text = ["shell.jsonl", "shell-everyday.jsonl", "shell-audit.jsonl"]
        .map(|name| std::fs::read_to_string(folder.join(name)).unwrap())
        .concat();
    let knowledge = Knowledge::built_in().unwrap();
    let roots = Roots {
        workspace: root.display().to_string(),
        extra: Vec::new(),
    };
    let context = ShellContext::bare(&knowledge, &roots);
    let line = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["cmd"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    text.lines()
        .map(line)
        .filter(|line| shell::analyse(line, &context).class == Class::Safe)
        .collect()
}

fn wanted(site: &Site, scratch: &Path, line: &str) -> Wanted {
    let upper = scratch.join("upper");
    let work = scratch.join("work");
    layer::prepare(&site.root(), &upper, &work).unwrap();
    let words = ["/bin/bash", "--noprofile", "--norc", "-c", line];
    Wanted {
        lane: Lane::Transaction,
        workspace: site.root(),
        cwd: site.root(),
        argv: words.map(OsString::from).to_vec(),
        direct: None,
        env: environment::rebuild(std::env::vars_os(), environment::USUAL),
        limits: Limits {
            wall: Some(FOR_LONG),
            ..Limits::default()
        },
        network: Network::Off,
        layers: Layers {
            upper,
            work,
            lower: Vec::new(),
            caches: Vec::new(),
            tmp: scratch.join("tmp"),
        },
        writable: Vec::new(),
        hidden: Vec::new(),
        home: None,
        through: Vec::new(),
        read_only_inside: Vec::new(),
        accept_degraded: Vec::new(),
        long_running: false,
        input: tagout_sandbox::Input::Nothing,
        output: Output {
            artifact: scratch.join("output"),
            live: None,
        },
    }
}

#[test]
fn slow_safe_lines_leave_the_layer_empty() {
    let files = [
        ("README.md", "# A\n\nsome words\n"),
        ("package.json", "{\"name\": \"a\", \"dependencies\": {}}\n"),
        ("Makefile", "all:\n\techo all\n"),
        ("data.csv", "a,b\n1,2\n"),
        ("src/main.rs", "fn main() {}\n// TODO\n"),
        ("tests/a.py", "def test(): pass\n"),
    ];
    let site = Site::new(&files);
    tagout_sandbox::use_helper(PathBuf::from(env!("CARGO_BIN_EXE_tagout")));
    let scratch = tempfile::Builder::new()
        .prefix("corpus-")
        .tempdir()
        .unwrap();
    let host = Host::probe(scratch.path());
    let lines = safe_lines(&site.root());
    let (mut ended, mut wrote) = (0, Vec::new());
    for (at, line) in lines.iter().enumerate() {
        let own = scratch.path().join(at.to_string());
        std::fs::create_dir_all(own.join("tmp")).unwrap();
        let plan = tagout_sandbox::plan(&host, &wanted(&site, &own, line)).unwrap();
        let run = plan.start().unwrap().wait().unwrap();
        ended += u32::from(run.failed_by.is_none());
        let reading = Reading {
            workspace: &site.root(),
            is_private: &|_, _| false,
            entries_max: 1_000,
            bytes_max: 1 << 20,
        };
        let set = layer::read(&own.join("upper"), reading).unwrap();
        // Git may bring the times in its index up to date, which changes nothing that it says.
        let of_index = |path: &[u8]| path == b".git/index" || path == b".git";
        if set.judged().any(|entry| !of_index(&entry.path)) {
            wrote.push(format!("{line}: {:?}", set.entries));
        }
        layer::remove(&own).unwrap();
    }
    println!(
        "{} lines called SAFE, {ended} ended by themselves, {} wrote",
        lines.len(),
        wrote.len()
    );
    assert!(lines.len() > 600, "{}", lines.len());
    assert!(wrote.is_empty(), "{}", wrote.join("\n"));
}
