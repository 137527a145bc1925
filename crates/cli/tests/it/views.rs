//! The files in the tree are views: whatever becomes of them, they are made again.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::commits::{select, write};
use crate::confined::Site;

const LIST: &str = ".orchestration/agent_trace.jsonl";
const MAP: &str = ".orchestration/intent_map.md";

fn set_up() -> Site {
    let site = Site::new(&[("src/old.rs", "fn from_before() {}\n")]);
    select(&site, "INT-001", "s-1");
    site
}

fn change(site: &Site, name: &str) -> String {
    let text = format!("fn {name}() {{\n    made_by(\"{name}\");\n}}\n");
    write(site, ("INT-001", "s-1"), &format!("src/{name}.rs"), &text)
}

/// How often each call is in the list.
fn listed(site: &Site) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in site.read(LIST).unwrap().lines() {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        if let Some(call) = value["call_id"].as_str() {
            *found.entry(call.to_owned()).or_default() += 1;
        }
    }
    found
}

fn once(calls: &[&String]) -> BTreeMap<String, usize> {
    calls.iter().map(|call| ((*call).clone(), 1)).collect()
}

/// H11, H12: what somebody deletes or damages is there again after the next look; what others wrote
/// stays.
#[test]
fn deleted_and_damaged_views_are_made_again() {
    let site = set_up();
    change(&site, "a");
    change(&site, "b");
    let whole = (site.read(LIST), site.read(MAP));
    for name in [LIST, MAP] {
        fs::remove_file(site.root().join(name)).unwrap();
        site.tagout(&["trace", "query"]);
        assert_eq!(
            (site.read(LIST), site.read(MAP)),
            whole,
            "{name} was deleted"
        );
    }
    // A line of ours is changed, one is torn, one is a conflict marker.
    let list = whole.0.clone().unwrap();
    let first = list.lines().next().unwrap();
    let damaged = [
        list.replacen("INT-001", "INT-999", 1),
        list.replacen(first, first.split_at(first.len() / 2).0, 1),
        format!("<<<<<<< ours\n{list}=======\n>>>>>>> theirs\n"),
        String::new(),
    ];
    for text in damaged {
        site.write(LIST, &text);
        site.write(MAP, "# Something else\n");
        site.tagout(&["trace", "query"]);
        assert_eq!((site.read(LIST), site.read(MAP)), whole, "{text}");
    }
    // A formatter that broke every line, others' records, and a form from the future.
    let pretty: Vec<String> = list
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|value| serde_json::to_string_pretty(&value).unwrap())
        .collect();
    let other = first
        .replace("t-x-", "t-their-")
        .replace("INT-001", "INT-777");
    let newer = r#"{"version":9,"id":"n-1","what":"ever"}"#;
    site.write(LIST, &format!("{}\n{other}\n{newer}\n", pretty.join("\n")));
    site.tagout(&["trace", "query"]);
    let now = site.read(LIST).unwrap();
    let mut lines: Vec<&str> = now.lines().collect();
    lines.sort_unstable();
    let mut expected: Vec<&str> = list.lines().chain([other.as_str(), newer]).collect();
    expected.sort_unstable();
    assert_eq!(lines, expected);
    let map = site.read(MAP).unwrap();
    assert!(map.contains("`INT-777` `src/a.rs`"), "{map}");
    // What was only put in another order is left alone.
    let reversed: Vec<&str> = now.lines().rev().collect();
    let reversed = format!("{}\n", reversed.join("\n"));
    site.write(LIST, &reversed);
    site.tagout(&["trace", "query"]);
    assert_eq!(site.read(LIST), Some(reversed));
}

/// H11, H12: branches come and go; nothing is lost, nothing is said twice, and looking alone does
/// not stand in the way of the next switch.
#[test]
fn views_survive_switches_and_merges() {
    let site = set_up();
    site.git(&["branch", "-M", "main"]);
    let in_a = change(&site, "a");
    site.git(&["add", "-A"]);
    site.git(&["commit", "-q", "-m", "a"]);
    site.git(&["switch", "-q", "-c", "feature"]);
    let in_b = change(&site, "b");
    site.git(&["add", "-A"]);
    site.git(&["commit", "-q", "-m", "b"]);
    site.git(&["switch", "-q", "main"]);
    site.tagout(&["trace", "query"]);
    site.tagout(&["blame", "src/a.rs"]);
    assert_eq!(site.git(&["status", "--short"]), "");
    assert_eq!(listed(&site), once(&[&in_a]));
    let in_c = change(&site, "c");
    assert_eq!(listed(&site), once(&[&in_a, &in_b, &in_c]));
    assert!(site.read(MAP).unwrap().contains("`src/c.rs`"));
    site.git(&["add", "-A"]);
    site.git(&["commit", "-q", "-m", "c"]);
    site.git(&["merge", "-q", "--no-edit", "feature"]);
    let in_d = change(&site, "d");
    assert_eq!(listed(&site), once(&[&in_a, &in_b, &in_c, &in_d]));
    let map = site.read(MAP).unwrap();
    for name in ["a", "b", "c", "d"] {
        let line = format!("- `INT-001` `src/{name}.rs`\n");
        assert_eq!(map.matches(&line).count(), 1, "{map}");
    }
    // Work that is thrown away was done all the same.
    site.git(&["checkout", "-q", "--", ".orchestration"]);
    let e = change(&site, "e");
    assert_eq!(listed(&site), once(&[&in_a, &in_b, &in_c, &in_d, &e]));
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// H11: several writers at once leave whole lines, each once.
#[test]
fn two_writers_at_once() {
    let site = set_up();
    let work = |writer: &str| -> Vec<String> {
        let names = (0..5).map(|number| format!("{writer}_{number}"));
        names.map(|name| change(&site, &name)).collect()
    };
    let calls: Vec<String> = std::thread::scope(|scope| {
        let one = scope.spawn(|| work("one"));
        let two = scope.spawn(|| work("two"));
        [one.join().unwrap(), two.join().unwrap()].concat()
    });
    assert_eq!(listed(&site), once(&calls.iter().collect::<Vec<_>>()));
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// H11: `on_commit` leaves the tree alone until there is a commit.
#[test]
fn views_are_written_on_commit() {
    let site = set_up();
    site.write(
        ".orchestration/hook_policy.yaml",
        "version: 1\ntrace:\n  publish: on_commit\n",
    );
    let ran = site.tagout(&["trust", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    site.git(&["add", "-A"]);
    site.git(&["commit", "-q", "-m", "policy"]);
    let before = site.read(LIST);
    let a = change(&site, "a");
    let b = change(&site, "b");
    assert_eq!(site.read(LIST), before);
    assert!(site.tagout(&["trace", "query"]).stdout.contains(&a));
    site.git(&["add", "-A"]);
    site.git(&["commit", "-q", "-m", "ab"]);
    site.tagout(&["trace", "query"]);
    assert_eq!(listed(&site), once(&[&a, &b]));
    let after = site.read(LIST);
    change(&site, "c");
    assert_eq!(site.read(LIST), after);
}
