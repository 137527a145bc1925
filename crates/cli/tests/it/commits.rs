//! The last link of the chain: commits of every kind are tied to the calls whose lines they hold.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::confined::Site;

const BODY: &str = "fn first_of_all() -> u32 {\n    41 + by_the_agent()\n}\n\n\
    fn by_the_agent() -> u32 {\n    call_number(1, \"one\")\n}\n";

pub(crate) fn select(site: &Site, intent: &str, session: &str) {
    let ran = site.tagout(&["intent", "select", intent, "--session", session]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
}

/// Writes a file by the native tool; gives the call.
pub(crate) fn write(
    site: &Site,
    (intent, session): (&str, &str),
    path: &str,
    text: &str,
) -> String {
    let read = json!({ "path": path }).to_string();
    site.tagout(&["run", "read_file", "--input", &read, "--session", session]);
    let input = json!({
        "path": path, "content": text, "intent_id": intent,
        "mutation_class": "INTENT_EVOLUTION",
    });
    let input = input.to_string();
    let words = [
        "run",
        "write_to_file",
        "--input",
        &input,
        "--session",
        session,
    ];
    let ran = site.tagout(&[&words[..], &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["warnings"].as_array().map_or(0, Vec::len), 0, "{told}");
    told["execution"].as_str().unwrap().to_owned()
}

/// A repository with one call's file in it.
fn set_up() -> (Site, String) {
    let site = Site::new(&[("src/old.rs", "fn from_before() {}\n")]);
    commit(&site, &[]);
    select(&site, "INT-001", "s-1");
    let call = write(&site, ("INT-001", "s-1"), "src/a.rs", BODY);
    (site, call)
}

fn head(site: &Site) -> String {
    site.git(&["rev-parse", "HEAD"]).trim().to_owned()
}

fn commit(site: &Site, words: &[&str]) -> String {
    site.git(&["add", "-A"]);
    site.git(&[&["commit", "-q", "-m", "work"], words].concat());
    head(site)
}

/// The events about commits that the ledger has, without asking any verb.
fn told(site: &Site) -> Vec<Value> {
    let mut found = Vec::new();
    for entry in fs::read_dir(site.state().join("ledger")).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let lines = text
            .lines()
            .filter(|line| line.contains("\"kind\":\"commit\""));
        found.extend(lines.map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }
    found
}

/// The commits of a call, as `trace query` has them.
fn commits_of(site: &Site, call: &str) -> Vec<String> {
    let ran = site.tagout(&["trace", "query", "--json"]);
    let records = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let record = records
        .into_iter()
        .find(|one: &Value| one["call_id"] == call);
    let record = record.unwrap_or_else(|| panic!("{}", ran.shown()));
    let commits = record["commits"].as_array().cloned().unwrap_or_default();
    let text = |one: &Value| one.as_str().unwrap().to_owned();
    commits.iter().map(text).collect()
}

/// B6: a commit that a governed command makes is tied when the command is closed.
#[test]
fn a_commit_by_a_command_is_tied_at_once() {
    let (site, call) = set_up();
    let ran = site.exec("git add src && git commit -q -m 'the work'");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let events = told(&site);
    assert_eq!(events.len(), 1, "{events:?}");
    let (event, tie) = (&events[0], &events[0]["data"]["ties"][0]);
    assert_eq!(event["data"]["commit"]["revision"], head(&site));
    assert_eq!(event["intent"], "INT-001");
    assert_eq!(event["paths"][0]["path"], "src/a.rs");
    assert_eq!(
        (&tie["execution"], &tie["lines_count"]),
        (&json!(call), &json!(7))
    );
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// B3: the first column of a blame is what the help says it is.
#[test]
fn the_help_tells_the_column_of_commits() {
    let (site, _) = set_up();
    let help = site.tagout(&["blame", "--help"]).stdout;
    let help = help.split_whitespace().collect::<Vec<&str>>().join(" ");
    for told in [
        "One line each: commit, intent,",
        "`00000000` for a line that the commit which is checked out does not hold",
        "`-` for one that it holds and that no call wrote",
        "the latest one that brought lines of the call",
        "Without git, or before the first commit, there is no such column",
    ] {
        assert!(help.contains(told), "{told}: {help}");
    }
    let first = || -> Vec<String> {
        let shown = site.tagout(&["blame", "src/a.rs"]).stdout;
        let cell = |line: &str| line.split(' ').next().unwrap().to_owned();
        shown.lines().map(cell).collect()
    };
    let short = |id: &str| id.chars().take(8).collect::<String>();
    commit(&site, &[]);
    site.write("src/a.rs", &format!("{BODY}fn by_hand() {{}}\n"));
    let second = commit(&site, &[]);
    site.write(
        "src/a.rs",
        &format!("{BODY}fn by_hand() {{}}\nfn later() {{}}\n"),
    );
    let cells = first();
    let lines = BODY.lines().count();
    assert_eq!(cells[lines..], ["-", "00000000"], "{cells:?}");
    // The second commit brought nothing of the call.
    assert!(!cells.contains(&short(&second)), "{cells:?}");
    fs::remove_dir_all(site.root().join(".git")).unwrap();
    let cells = first();
    assert_eq!(
        cells[lines..],
        ["-", "-"],
        "the intent comes first: {cells:?}"
    );
    assert_eq!(cells[0], "INT-001", "{cells:?}");
}

/// B6, B3: a person's commit is found by the next verb that looks, and shown by all of them.
#[test]
fn a_commit_by_a_person_is_found_later() {
    let (site, call) = set_up();
    let blamed = |words: &[&str]| {
        site.tagout(&[&["blame", "src/a.rs"], words].concat())
            .stdout
    };
    assert!(
        blamed(&[])
            .lines()
            .all(|line| line.starts_with("00000000 "))
    );
    let id = commit(&site, &[]);
    site.write("src/a.rs", &format!("{BODY}fn by_hand() {{}}\n"));
    assert!(told(&site).is_empty());
    let log = site.tagout(&["log"]).stdout;
    let short: String = id.chars().take(8).collect();
    assert!(log.contains("commit") && log.contains(&short), "{log}");
    assert_eq!(told(&site).len(), 1);
    let shown = blamed(&[]);
    let first: Vec<&str> = shown.lines().map(|line| line.split_at(8).0).collect();
    assert_eq!(first[..7], [short.as_str(); 7], "{shown}");
    assert_eq!(first[7], "00000000", "{shown}");
    let blame: Value = serde_json::from_str(&blamed(&["--json"])).unwrap();
    assert_eq!(blame["lines"][0]["commits"], json!([id]));
    assert_eq!(blame["lines"][0]["committed"], true);
    assert_eq!(blame["lines"][7]["committed"], false);
    let porcelain = blamed(&["--porcelain"]);
    assert!(
        porcelain.contains(&format!("\ncommit {id}\n")),
        "{porcelain}"
    );
    assert!(
        porcelain.contains("human 8 certain\nuncommitted\n\tfn by_hand"),
        "{porcelain}"
    );
    assert_eq!(commits_of(&site, &call), std::slice::from_ref(&id));
    let lines = site.tagout(&["trace", "query"]).stdout;
    assert!(lines.contains(&short), "{lines}");
    // Looking again says nothing twice.
    assert_eq!(told(&site).len(), 1);
    // The link is in the tree with the next record, and a commit leaves nothing behind by itself.
    assert_eq!(site.git(&["status", "--short"]), " M src/a.rs\n");
    write(&site, ("INT-001", "s-1"), "src/b.rs", "fn another() {}\n");
    let list = site.read(".orchestration/agent_trace.jsonl").unwrap();
    let link = list
        .lines()
        .find(|line| line.contains("\"commit\":"))
        .unwrap();
    let link: Value = serde_json::from_str(link).unwrap();
    assert_eq!(link["commit"], json!({ "type": "git", "revision": id }));
    assert_eq!(link["records"], json!([format!("t-{call}")]));
    // Who loses the trace finds the same ties again, in the ledger.
    fs::remove_dir_all(site.state().join("trace")).unwrap();
    assert_eq!(commits_of(&site, &call), [id]);
    assert_eq!(told(&site).len(), 1);
}

/// B6: however a commit is rewritten, the one that holds the lines is tied.
#[test]
fn rewritten_commits_are_tied() {
    let (site, call) = set_up();
    site.git(&["branch", "-M", "main"]);
    let mut ids = vec![commit(&site, &[])];
    assert_eq!(commits_of(&site, &call), ids);
    ids.push(commit(&site, &["--amend", "-m", "more"]));
    assert_eq!(commits_of(&site, &call), ids, "amended");
    // Something new below, and the work put on top of it.
    site.git(&["switch", "-q", "-c", "below", "HEAD~1"]);
    site.write("other.txt", "below\n");
    commit(&site, &[]);
    site.git(&["switch", "-q", "main"]);
    site.git(&["rebase", "-q", "below"]);
    ids.push(head(&site));
    assert_eq!(commits_of(&site, &call), ids, "rebased");
    // Two commits in one.
    site.write("src/a.rs", &format!("{BODY}fn by_hand() {{}}\n"));
    commit(&site, &[]);
    site.git(&["reset", "-q", "--soft", "HEAD~2"]);
    ids.push(commit(&site, &[]));
    assert_eq!(commits_of(&site, &call), ids, "squashed");
    // Taken to another branch, and looked at from a third.
    site.git(&["switch", "-q", "-c", "third", "below"]);
    site.git(&["switch", "-q", "below"]);
    site.write("another.txt", "below\n");
    commit(&site, &[]);
    site.git(&["cherry-pick", "main"]);
    ids.push(head(&site));
    site.git(&["switch", "-q", "third"]);
    assert_eq!(commits_of(&site, &call), ids, "cherry-picked");
    // A merge brings nothing that its parents did not bring.
    site.git(&["switch", "-q", "main"]);
    site.write("more.txt", "x\n");
    commit(&site, &[]);
    site.git(&["merge", "-q", "--no-edit", "below"]);
    assert_eq!(commits_of(&site, &call), ids, "merged");
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// B6: repositories of every form: packed, detached, with another hash, beneath or beside others.
#[test]
fn repositories_of_every_form() {
    // Packed objects and refs, a renamed branch, a detached head.
    let (site, call) = set_up();
    let mut ids = vec![commit(&site, &[])];
    site.git(&["branch", "-M", "a/longer/name"]);
    site.git(&["gc", "-q", "--aggressive", "--prune=now"]);
    assert_eq!(commits_of(&site, &call), ids, "packed");
    site.git(&["checkout", "-q", "--detach"]);
    ids.push(commit(&site, &["--amend", "-m", "more"]));
    assert_eq!(commits_of(&site, &call), ids, "detached");
    // A submodule and a second worktree beside it change nothing.
    site.git(&["worktree", "add", "-q", "../beside", "HEAD"]);
    let sub = site.root().join("src/sub");
    fs::create_dir_all(&sub).unwrap();
    git_in(&sub, &["init", "-q", "."]);
    git_in(
        &sub,
        &[
            "-c",
            "user.name=n",
            "-c",
            "user.email=e",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "s",
        ],
    );
    site.git(&["-c", "advice.addEmbeddedRepo=false", "add", "-A"]);
    site.git(&["commit", "-q", "-m", "sub"]);
    assert_eq!(commits_of(&site, &call), ids, "submodule");
    // Refs that lead nowhere and objects that are not there.
    fs::write(site.root().join(".git/refs/heads/broken"), "no id\n").unwrap();
    fs::write(
        site.root().join(".git/refs/heads/gone"),
        format!("{}\n", "1".repeat(40)),
    )
    .unwrap();
    commit(&site, &["--amend", "-m", "again"]);
    assert_eq!(commits_of(&site, &call), ids, "broken refs");
}

fn git_in(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    let status = command.args(args).current_dir(folder).status().unwrap();
    assert!(status.success(), "git {args:?}");
}

/// B6: before the first commit, with the other hash, in a worktree and without git at all.
#[test]
fn repositories_without_commits_and_with_other_hashes() {
    for form in ["sha1", "sha256"] {
        let site = Site::with_setup(&[("src/old.rs", "fn old() {}\n")], |site| {
            fs::remove_dir_all(site.root().join(".git")).unwrap();
            site.git(&["init", "-q", "--object-format", form, "."]);
            site.git(&["config", "user.email", "person@example.org"]);
            site.git(&["config", "user.name", "Person"]);
        });
        select(&site, "INT-001", "s-1");
        let call = write(&site, ("INT-001", "s-1"), "src/a.rs", BODY);
        assert!(commits_of(&site, &call).is_empty());
        let shown = site.tagout(&["blame", "src/a.rs"]).stdout;
        assert!(shown.starts_with("INT-001 "), "no commit yet: {shown}");
        let first = commit(&site, &[]);
        site.git(&["gc", "-q"]);
        assert_eq!(commits_of(&site, &call), [first], "{form}");
    }
    let site = Site::with_setup(&[], |site| {
        fs::remove_dir_all(site.root().join(".git")).unwrap();
    });
    select(&site, "INT-001", "s-1");
    let call = write(&site, ("INT-001", "s-1"), "src/a.rs", BODY);
    assert!(commits_of(&site, &call).is_empty());
    let shown = site.tagout(&["blame", "src/a.rs"]).stdout;
    assert!(shown.starts_with("INT-001 "), "{shown}");
}

/// B6: a clone without its past, and a workspace that is a folder of a larger repository.
#[test]
fn shallow_clones_and_folders_of_repositories() {
    let site = Site::with_setup(&[("ws.txt", "x\n")], |site| {
        for text in ["one", "two", "three"] {
            site.write("src/old.rs", &format!("fn {text}() {{}}\n"));
            site.git(&["commit", "-q", "-a", "--allow-empty", "-m", text]);
        }
        let url = format!("file://{}", site.root().display());
        let clone = site.home().join("clone");
        site.git(&["clone", "-q", "--depth", "1", &url, clone.to_str().unwrap()]);
        fs::remove_dir_all(site.root().join(".git")).unwrap();
        fs::rename(clone.join(".git"), site.root().join(".git")).unwrap();
        site.git(&["config", "user.email", "person@example.org"]);
        site.git(&["config", "user.name", "Person"]);
    });
    select(&site, "INT-001", "s-1");
    let call = write(&site, ("INT-001", "s-1"), "src/a.rs", BODY);
    let id = commit(&site, &[]);
    assert_eq!(commits_of(&site, &call), [id]);

    let site = Site::with_setup(&[("src/old.rs", "fn old() {}\n")], |site| {
        fs::remove_dir_all(site.root().join(".git")).unwrap();
        let above = site.root().parent().unwrap().to_owned();
        git_in(&above, &["init", "-q", "."]);
        git_in(&above, &["config", "user.email", "person@example.org"]);
        git_in(&above, &["config", "user.name", "Person"]);
    });
    select(&site, "INT-001", "s-1");
    let call = write(&site, ("INT-001", "s-1"), "src/a.rs", BODY);
    site.git(&["add", "."]);
    site.git(&["commit", "-q", "-m", "work"]);
    let ids = commits_of(&site, &call);
    assert_eq!(ids, [head(&site)]);
    assert_eq!(told(&site)[0]["paths"][0]["path"], "src/a.rs");
    let shown = site.tagout(&["blame", "src/a.rs"]).stdout;
    assert!(shown.starts_with(ids[0].split_at(8).0), "{shown}");
}

/// B6: a long past from before the workspace costs nothing, and a long one since is bounded.
#[test]
fn a_long_history_is_bounded() {
    let (site, call) = set_up();
    let id = commit(&site, &[]);
    let branch = site.git(&["symbolic-ref", "HEAD"]);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let mut stream = String::new();
    for (name, count, seconds) in [("old", 5_000, 1_000_000_000), ("new", 60, now.as_secs())] {
        for number in 1..=count {
            let from = if number > 1 { "" } else { "from BRANCH^0\n" };
            let from = from.replace("BRANCH", branch.trim());
            write!(
                stream,
                "commit refs/heads/{name}\ncommitter N <e> {seconds} +0000\ndata 1\nx\n{from}\
                 M 100644 inline src/{name}.txt\ndata <<END\nline {number}\nEND\n\n",
            )
            .unwrap();
        }
    }
    let mut import = Command::new("git");
    import
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(site.root());
    let mut child = import.stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), stream.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    // A call that is closed does not wait for it all.
    let began = Instant::now();
    write(
        &site,
        ("INT-001", "s-1"),
        "src/b.rs",
        "fn short_and_new() {}\n",
    );
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(commits_of(&site, &call), [id]);
    assert_eq!(told(&site).len(), 1);
}
