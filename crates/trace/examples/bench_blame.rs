//! Authorship alone, in memory: blame and query at ten thousand records and at many more, an edit
//! in a small and in a large file, and the move of ten thousand files. Run by hand, to see what
//! the database and the engine add.
//!
//! Every file has the same history in both stores, so that what grows is only what lies around it.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::time::{Duration, Instant};

use tagout_trace::attribution::Origin;
use tagout_trace::blame::{Authorship, FileChange, Outside};
use tagout_trace::history::{MemoryStore, Posting, Postings, Topic, find};
use tagout_vocab::{CallId, IntentId, Timestamp, WorkspacePath};

type Outcome<T> = Result<T, Box<dyn Error>>;

const EDITS_PER_FILE: usize = 100;
const LINES: usize = 30;
const ROUNDS: usize = 400;

fn origin(number: usize) -> Outcome<Origin> {
    Ok(Origin {
        execution: CallId::new(&format!("call-{number}"))?,
        intent: Some(IntentId::new(&format!("INT-{}", number / EDITS_PER_FILE))?),
        session: None,
        agent: Some("client".to_owned()),
        model: Some("model".to_owned()),
        approval: None,
        at: Timestamp::from_millis(i64::try_from(number)?),
    })
}

fn text(file: usize, lines: usize, changed: usize) -> String {
    let line = |at: usize| {
        // One line more is another one with each edit.
        let version = if at < changed % lines {
            changed / lines + 1
        } else {
            changed / lines
        };
        format!("    let value_{file}_{at} = compute_something({version}, {at});\n")
    };
    (0..lines).map(line).collect()
}

fn path(file: usize) -> Outcome<WorkspacePath> {
    Ok(WorkspacePath::new(&format!(
        "src/folder_{}/file_{file}.rs",
        file % 100
    ))?)
}

fn filled(records: usize) -> Outcome<Authorship<MemoryStore>> {
    let mut authorship = Authorship::new(MemoryStore::default());
    for record in 0..records {
        let (file, edit) = (record / EDITS_PER_FILE, record % EDITS_PER_FILE);
        let (before, after) = (text(file, LINES, edit), text(file, LINES, edit + 1));
        let origin = origin(record)?;
        let change = FileChange {
            path: &path(file)?,
            moved_from: None,
            before: Some(before.as_bytes()),
            after: Some(after.as_bytes()),
        };
        authorship.settle(&origin, &[change], Outside::Human)?;
        let posting = Posting {
            at: origin.at,
            record: format!("record-{record}"),
        };
        let intent = origin.intent.map(String::from).unwrap_or_default();
        Postings(authorship.store_mut()).add(Topic::Intent, &intent, &posting)?;
    }
    Ok(authorship)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Median times of a blame of a known content, of one that was edited since, and of a query.
fn reads(authorship: &Authorship<MemoryStore>, records: usize) -> Outcome<[Duration; 3]> {
    let files = records / EDITS_PER_FILE;
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        let file = round * 7919 % files;
        let known = text(file, LINES, EDITS_PER_FILE);
        let edited = format!("{known}// A person was here, in round {round}.\n");
        let at = path(file)?;
        let intent = format!("INT-{file}");
        let start = Instant::now();
        let blame = authorship.blame(&at, known.as_bytes(), Outside::Human)?;
        let first = start.elapsed();
        let other = authorship.blame(&at, edited.as_bytes(), Outside::Human)?;
        let second = start.elapsed();
        let found = find(
            authorship.store(),
            (Topic::Intent, &intent),
            Timestamp::from_millis(0),
            usize::MAX,
        )?;
        let third = start.elapsed();
        assert!(blame.lines.len() == LINES && other.lines.len() == LINES + 1);
        assert_eq!(found.len(), EDITS_PER_FILE);
        for (times, time) in times.iter_mut().zip([
            first,
            second.saturating_sub(first),
            third.saturating_sub(second),
        ]) {
            times.push(time);
        }
    }
    Ok(times.map(median))
}

fn edit(lines: usize) -> Outcome<Duration> {
    let mut authorship = Authorship::new(MemoryStore::default());
    let at = path(0)?;
    let mut times = Vec::new();
    for round in 0..40 {
        let (before, after) = (text(0, lines, round), text(0, lines, round + 1));
        let change = FileChange {
            path: &at,
            moved_from: None,
            before: Some(before.as_bytes()),
            after: Some(after.as_bytes()),
        };
        let origin = origin(round)?;
        let start = Instant::now();
        authorship.settle(&origin, &[change], Outside::Human)?;
        times.push(start.elapsed());
    }
    Ok(median(times))
}

fn rename(files: usize) -> Outcome<Duration> {
    let mut authorship = Authorship::new(MemoryStore::default());
    let mut moves = Vec::new();
    for file in 0..files {
        let old = path(file)?;
        let new = WorkspacePath::new(&format!("lib/{}", old.as_str()))?;
        let text = text(file, LINES, 1);
        authorship.observe(&old, text.as_bytes(), Outside::Human)?;
        moves.push((old, new, text));
    }
    let changes: Vec<FileChange<'_>> = moves
        .iter()
        .map(|(old, new, text)| FileChange {
            path: new,
            moved_from: Some(old),
            before: Some(text.as_bytes()),
            after: Some(text.as_bytes()),
        })
        .collect();
    let start = Instant::now();
    authorship.settle(&origin(0)?, &changes, Outside::Human)?;
    Ok(start.elapsed())
}

fn main() -> Outcome<()> {
    for lines in [1_000, 10_000] {
        println!(
            "settle an edit of one line in {lines} lines: {:.2?}",
            edit(lines)?
        );
    }
    println!("settle a move of 10000 files: {:.2?}", rename(10_000)?);
    let mut all = Vec::new();
    // Another count than a million may be given where time is short.
    let many = std::env::args()
        .nth(1)
        .map_or(Ok(1_000_000), |count| count.parse())?;
    for records in [10_000, many] {
        let start = Instant::now();
        let authorship = filled(records)?;
        let taken = start.elapsed();
        let (values, bytes) = authorship.store().size();
        println!("{records} records settled in {taken:.1?}: {values} values, {bytes} bytes");
        all.push(reads(&authorship, records)?);
    }
    if let [few, many] = all.as_slice() {
        for ((name, few), many) in ["blame", "blame after an edit", "query"]
            .iter()
            .zip(few)
            .zip(many)
        {
            let ratio = many.as_secs_f64() / few.as_secs_f64();
            println!(
                "{name}: {few:.1?} at 10 k, {many:.1?} with the larger store, ratio {ratio:.2}"
            );
        }
    }
    Ok(())
}
