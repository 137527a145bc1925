//! Plans for single cases.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use tagout_vocab::{CallId, Digest, WorkspacePath};

use super::{
    Beyond, Change, Clash, Content, Entry, EntryKind, Held, Loss, Plan, Step, difference, plan,
};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn call(number: usize) -> CallId {
    CallId::new(&format!("call-{number}")).unwrap()
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every place takes what may not be there"
)]
fn file(text: &str) -> Option<Entry> {
    Some(Entry::file(text.as_bytes().to_vec(), 0o644))
}

fn lost(text: &str) -> Option<Entry> {
    file(text).map(|entry| Entry {
        content: Content::Lost(Loss::PastHorizon),
        ..entry
    })
}

fn step(number: usize, at: &str, before: Option<Entry>, after: Option<Entry>) -> Step {
    Step {
        execution: call(number),
        changes: vec![Change {
            path: path(at),
            moved_from: None,
            before,
            after,
        }],
        undoes: Vec::new(),
        beyond: Vec::new(),
    }
}

fn moved(number: usize, from: &str, to: &str, before: &str, after: &str) -> Step {
    let mut step = step(number, to, file(before), file(after));
    step.changes[0].moved_from = Some(path(from));
    step
}

fn planned(steps: &[Step], chosen: &[usize], now: &[(&str, Option<Entry>)]) -> Plan {
    let now: BTreeMap<WorkspacePath, Entry> = now
        .iter()
        .filter_map(|(at, entry)| Some((path(at), entry.clone()?)))
        .collect();
    let chosen: BTreeSet<CallId> = chosen.iter().map(|number| call(*number)).collect();
    plan(steps, &chosen, |path| {
        Ok::<_, Infallible>(now.get(path).cloned())
    })
    .unwrap()
}

/// The plan in a few words: what is written, then what stands in the way.
fn told(plan: &Plan) -> Vec<String> {
    let edits = plan.edits.iter().map(|edit| match &edit.result {
        None => format!("remove {}", edit.path),
        Some(Entry {
            content: Content::Kept(bytes),
            mode,
            ..
        }) => {
            format!(
                "{} {mode:o} {:?}",
                edit.path,
                String::from_utf8_lossy(bytes)
            )
        }
        Some(_) => "lost".to_owned(),
    });
    let conflicts = plan.conflicts.iter().map(|conflict| {
        let clash = if matches!(conflict.clash, Clash::Lines(_)) {
            "lines".to_owned()
        } else {
            format!("{:?}", conflict.clash)
        };
        format!("conflict {} {clash}", conflict.path)
    });
    let impossible = plan
        .impossible
        .iter()
        .map(|lost| format!("lost {} {:?}", lost.what, lost.why));
    edits.chain(conflicts).chain(impossible).collect()
}

/// B4 Made, removed and moved files come back as they were.
#[test]
fn existence_and_place() {
    let made = [step(0, "a", None, file("one\n"))];
    assert_eq!(
        told(&planned(&made, &[0], &[("a", file("one\n"))])),
        ["remove a"]
    );
    assert_eq!(
        told(&planned(&made, &[0], &[("a", file("one\nmore\n"))])),
        ["conflict a ChangedSinceMade"]
    );
    assert!(
        told(&planned(&made, &[0], &[])).is_empty(),
        "someone else removed it already"
    );
    let removed = [step(0, "a", file("one\n"), None)];
    assert_eq!(told(&planned(&removed, &[0], &[])), ["a 644 \"one\\n\""]);
    assert_eq!(
        told(&planned(&removed, &[0], &[("a", file("other\n"))])),
        ["conflict a PlaceTaken"]
    );
    let away = [moved(0, "a", "b", "1\n2\n3\n", "1\n2\n3\n")];
    assert_eq!(
        told(&planned(&away, &[0], &[("b", file("1\n2\nthree\n"))])),
        ["a 644 \"1\\n2\\nthree\\n\"", "remove b"],
        "work of others since goes with it"
    );
    assert_eq!(
        told(&planned(
            &away,
            &[0],
            &[("b", file("1\n2\n3\n")), ("a", file("x\n"))]
        )),
        ["conflict a PlaceTaken"]
    );
}

/// B4 A file that someone else moved since is found where it is now, and stays there.
#[test]
fn files_that_moved_on() {
    let steps = [
        step(0, "a", file("1\n2\n3\n4\n"), file("one\n2\n3\n4\n")),
        moved(1, "a", "b", "one\n2\n3\n4\n", "one\n2\n3\n4\n"),
    ];
    assert_eq!(
        told(&planned(&steps, &[0], &[("b", file("one\n2\n3\nfour\n"))])),
        ["b 644 \"1\\n2\\n3\\nfour\\n\""]
    );
    let twice = [
        moved(0, "a", "b", "1\n", "1\n"),
        moved(1, "b", "c", "1\n", "1\n"),
    ];
    assert!(told(&planned(&twice, &[0], &[("c", file("1\n"))])).is_empty());
    assert_eq!(
        told(&planned(&twice, &[0, 1], &[("c", file("1\n"))])),
        ["a 644 \"1\\n\"", "remove c"]
    );
}

/// B4 Permissions and contents are merged apart; binary contents are not merged.
#[test]
fn modes_and_binaries() {
    let mode = |text: &str, mode| file(text).map(|entry| Entry { mode, ..entry });
    let steps = [step(0, "a", mode("x\n", 0o644), mode("x\n", 0o755))];
    assert_eq!(
        told(&planned(&steps, &[0], &[("a", mode("y\n", 0o755))])),
        ["a 644 \"y\\n\""]
    );
    assert_eq!(
        told(&planned(&steps, &[0], &[("a", mode("y\n", 0o600))])),
        ["conflict a Mode"]
    );
    let binary = [step(0, "a", file("a\0b"), file("a\0c"))];
    assert_eq!(
        told(&planned(&binary, &[0], &[("a", file("a\0c"))])),
        ["a 644 \"a\\0b\""]
    );
    assert_eq!(
        told(&planned(&binary, &[0], &[("a", file("a\0d"))])),
        ["conflict a Content"]
    );
    let link = |target: &str| {
        Some(Entry {
            kind: EntryKind::Symlink,
            mode: 0o777,
            digest: Digest::of(target.as_bytes()),
            content: Content::Kept(target.as_bytes().into()),
            held: Held::default(),
        })
    };
    let steps = [step(0, "a", link("x"), link("y"))];
    assert_eq!(
        told(&planned(&steps, &[0], &[("a", file("y"))])),
        ["conflict a Kind"]
    );
}

/// B4 What can't be taken back is listed, with all that lies behind it; the rest goes on.
#[test]
fn what_is_lost() {
    let mut steps = vec![
        step(0, "a", file("0\n"), file("1\n")),
        step(1, "a", lost("1\n"), file("2\n")),
        step(2, "b", file("old\n"), file("new\n")),
    ];
    steps[2].beyond.push(Beyond {
        what: "a request to example.org".to_owned(),
        why: Loss::Network,
    });
    let now = [("a", file("2\n")), ("b", file("new\n"))];
    let plan = planned(&steps, &[0, 1, 2], &now);
    assert!(plan.is_clean());
    assert_eq!(
        told(&plan),
        [
            "b 644 \"old\\n\"",
            "lost a request to example.org Network",
            "lost the change of `a` PastHorizon",
            "lost the change of `a` PastHorizon",
        ]
    );
}

#[test]
fn a_difference_is_shown() {
    let old: String = (1..=12)
        .map(|number| format!("line {number}\n"))
        .collect::<Vec<_>>()
        .concat();
    let new = old.replace("line 6\n", "line six\n");
    let steps = [step(0, "a", file(&old), file(&new))];
    let plan = planned(&steps, &[0], &[("a", file(&new))]);
    let shown = String::from_utf8(difference(&plan.edits[0])).unwrap();
    insta::assert_snapshot!(shown, @r"
    --- a/a
    +++ b/a
    @@ -3,7 +3,7 @@
     line 3
     line 4
     line 5
    -line six
    +line 6
     line 7
     line 8
     line 9
    ");
}
