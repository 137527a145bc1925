//! Questions to the trace at ten thousand and at a million records, and a move of ten thousand
//! files: through the engine, over its database.
//!
//! The files that are asked for have the same history in both databases, so that what grows is only
//! what lies around them.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark: its output is its purpose and a panic is a finding"
)]

#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/support.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use support::World;
use tagout_gate::trace::attribution::Origin;
use tagout_gate::trace::blame::{Authorship, FileChange, Outside};
use tagout_gate::trace::history::{Key, Posting, Postings, Store, StoreError, Topic};
use tagout_gate::trace::record::{Change, Facts, Record, Side, record};
use tagout_gate::{Engine, Outcome, TraceQuery};
use tagout_vocab::{CallId, IntentId, Timestamp, WorkspacePath};
use tagout_workspace::RelPath;

/// Files that are asked for, and the edits of each.
const FILES: usize = 20;
const EDITS: usize = 100;
const LINES: usize = 30;

/// What lies around is older than what is asked for.
const LONG_AGO: i64 = 1_700_000_000_000;
const LATELY: i64 = 1_780_000_000_000;

/// The text of a file after some edits: one more of its lines is another one with each.
fn text(file: usize, edits: usize) -> String {
    let line = |at: usize| {
        let version = edits / LINES + usize::from(at < edits % LINES);
        format!("    let value_{file}_{at} = compute_something({version}, {at});\n")
    };
    let body: String = (0..LINES).map(line).collect();
    format!("fn work_{file}() {{\n{body}}}\n")
}

fn path(file: usize) -> String {
    format!("src/folder_{}/file_{file}.rs", file % 10)
}

fn origin(file: usize, edit: usize, at: i64) -> Origin {
    Origin {
        execution: CallId::new(&format!("call-{file}-{edit}")).unwrap(),
        intent: Some(IntentId::new(&format!("INT-{file}")).unwrap()),
        session: None,
        agent: Some("client".to_owned()),
        model: None,
        approval: None,
        at: Timestamp::from_millis(at),
    }
}

fn made(file: usize, edit: usize, at: i64) -> Record {
    let (before, after) = (text(file, edit), text(file, edit + 1));
    let facts = Facts {
        id: format!("record-{file}-{edit}"),
        timestamp: Some(Timestamp::from_millis(at)),
        intent_id: Some(format!("INT-{file}")),
        ..Facts::default()
    };
    let change = Change {
        path: &path(file),
        moved_from: None,
        before: Some(Side {
            bytes: before.as_bytes(),
            mode: 0o644,
        }),
        after: Some(Side {
            bytes: after.as_bytes(),
            mode: 0o644,
        }),
    };
    record(facts, &[change])
}

/// All edits of a file, taken in by a store of authorship.
fn settle<S: Store>(store: S, file: usize, at: i64) {
    let mut authorship = Authorship::new(store);
    let name = WorkspacePath::new(&path(file)).unwrap();
    for edit in 0..EDITS {
        let (before, after) = (text(file, edit), text(file, edit + 1));
        let change = FileChange {
            path: &name,
            moved_from: None,
            before: Some(before.as_bytes()),
            after: Some(after.as_bytes()),
        };
        let at = at + i64::try_from(edit).unwrap();
        authorship
            .settle(&origin(file, edit, at), &[change], Outside::Human)
            .unwrap();
    }
}

/// Values under their keys, to be written again under others.
#[derive(Default)]
struct Sheaf(BTreeMap<String, Vec<u8>>);

impl Store for &mut Sheaf {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.get(key.as_str()).cloned())
    }
    fn put(&mut self, key: &Key, value: &[u8]) -> Result<(), StoreError> {
        self.0.insert(key.to_string(), value.to_vec());
        Ok(())
    }
    fn append(&mut self, key: &Key, more: &[u8]) -> Result<(), StoreError> {
        let value = self.0.entry(key.to_string()).or_default();
        value.extend_from_slice(more);
        Ok(())
    }
}

/// The engine's own table of values.
struct Table<'c>(&'c Connection);

fn failed(source: rusqlite::Error) -> StoreError {
    StoreError {
        source: Box::new(source),
    }
}

impl Store for Table<'_> {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT value FROM pages WHERE key = ?1";
        let mut found = self.0.prepare_cached(sql).map_err(failed)?;
        let mut rows = found.query([key.as_str()]).map_err(failed)?;
        let row = rows.next().map_err(failed)?;
        row.map(|row| row.get(0).map_err(failed)).transpose()
    }
    fn put(&mut self, key: &Key, value: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO pages (key, value) VALUES (?1, ?2)";
        let mut put = self.0.prepare_cached(sql).map_err(failed)?;
        put.execute(params![key.as_str(), value]).map_err(failed)?;
        Ok(())
    }
    fn append(&mut self, key: &Key, more: &[u8]) -> Result<(), StoreError> {
        let mut value = self.get(key)?.unwrap_or_default();
        value.extend_from_slice(more);
        self.put(key, &value)
    }
}

/// One workspace with its database of so many records.
struct Place {
    world: World,
    engine: Engine,
}

impl Place {
    fn filled(records: usize) -> Self {
        let world = World::new();
        let engine = world.engine();
        drop(engine.trace_query(&TraceQuery::default()).unwrap());
        let place = Self { world, engine };
        let database = place.world.site().state().join("trace/trace.db");
        let mut connection = Connection::open(database).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;")
            .unwrap();
        around(&mut connection, records - FILES * EDITS);
        let transaction = connection.transaction().unwrap();
        for file in 0..FILES {
            settle(Table(&transaction), file, LATELY);
        }
        transaction.commit().unwrap();
        drop(connection);
        let mut lines = String::new();
        for (file, edit) in (0..FILES).flat_map(|file| (0..EDITS).map(move |edit| (file, edit))) {
            let at = LATELY + i64::try_from(file * EDITS + edit).unwrap();
            lines.push_str(&made(file, edit, at).to_line());
            place.world.write(&path(file), &text(file, EDITS));
        }
        let (_, new) = place.engine.trace_import(lines.as_bytes()).unwrap();
        assert_eq!(new, FILES * EDITS);
        place
    }

    /// Asks one question; gives how long that took.
    fn ask(&self, question: &str, round: usize) -> Duration {
        let file = round * 7 % FILES;
        let name = WorkspacePath::new(&path(file)).unwrap();
        if question == "blame after an edit" {
            let edited = format!("{}// A person was here: {round}.\n", text(file, EDITS));
            self.world.write(&path(file), &edited);
        }
        let query = match question {
            "intent" => TraceQuery {
                intent: Some(IntentId::new(&format!("INT-{file}")).unwrap()),
                ..TraceQuery::default()
            },
            "symbol" => TraceQuery {
                symbol: Some(format!("work_{file}")),
                ..TraceQuery::default()
            },
            "file" => TraceQuery {
                file: Some(path(file)),
                ..TraceQuery::default()
            },
            _ => TraceQuery {
                since: Some(Timestamp::from_millis(
                    LATELY + i64::try_from((FILES - 1) * EDITS).unwrap(),
                )),
                ..TraceQuery::default()
            },
        };
        let start = Instant::now();
        let took = if question.starts_with("blame") {
            let found = self.engine.blame(&name).unwrap();
            let took = start.elapsed();
            assert!(found.blame.lines.len() >= LINES && found.blame.origins.len() >= LINES);
            took
        } else {
            let found = self.engine.trace_query(&query).unwrap();
            let took = start.elapsed();
            assert_eq!(found.len(), EDITS, "{question}");
            took
        };
        if question == "blame after an edit" {
            self.world.write(&path(file), &text(file, EDITS));
        }
        took
    }
}

/// Fills a database with other files' histories: those of one file under other keys, so that the
/// tables are as large and as deep as they would be.
fn around(connection: &mut Connection, records: usize) {
    let mut sheaf = Sheaf::default();
    settle(&mut sheaf, FILES, LONG_AGO);
    let mut bodies = Vec::new();
    for edit in 0..EDITS {
        let record = made(FILES, edit, LONG_AGO);
        let posting = Posting {
            at: Timestamp::from_millis(LONG_AGO),
            record: record.id.clone(),
        };
        let mut store = &mut sheaf;
        let mut lists = Postings(&mut store);
        for (topic, name) in [
            (Topic::Intent, "INT-around"),
            (Topic::Path, "src/around.rs"),
            (Topic::Symbol, "around"),
        ] {
            lists.add(topic, name, &posting).unwrap();
        }
        bodies.push(record.to_line());
    }
    for copy in 0..records / EDITS {
        let transaction = connection.transaction().unwrap();
        {
            let sql = "INSERT INTO pages (key, value) VALUES (?1, ?2)";
            let mut put = transaction.prepare_cached(sql).unwrap();
            for (key, value) in &sheaf.0 {
                let (kind, rest) = key.split_once('/').unwrap();
                put.execute(params![format!("{kind}/{copy:08x}{rest}"), value])
                    .unwrap();
            }
            let sql = "INSERT INTO records (id, at, is_published, body) VALUES (?1, ?2, 1, ?3)";
            let mut put = transaction.prepare_cached(sql).unwrap();
            for (edit, body) in bodies.iter().enumerate() {
                let at = LONG_AGO + i64::try_from(copy * EDITS + edit).unwrap();
                put.execute(params![format!("around-{copy}-{edit}"), at, body])
                    .unwrap();
            }
        }
        transaction.commit().unwrap();
    }
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn questions(rounds: usize, many: usize) {
    let start = Instant::now();
    let places = [Place::filled(10_000), Place::filled(many)];
    println!(
        "{{\"bench\":\"fill\",\"records\":{many},\"s\":{:.1}}}",
        start.elapsed().as_secs_f64()
    );
    for question in [
        "blame",
        "blame after an edit",
        "intent",
        "symbol",
        "file",
        "since",
    ] {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            for turn in 0..2 {
                let which = (round + turn) % 2;
                times[which].push(places[which].ask(question, round));
            }
        }
        let [few, many] = times.map(|mut times| median(&mut times));
        println!(
            "{{\"ask\":\"{question}\",\"few_us\":{few:.1},\"many_us\":{many:.1},\"ratio\":{:.3}}}",
            many / few
        );
    }
}

/// Moves so many files with one call; the trace's part is what a lost trace takes to catch up.
fn rename(files: usize) {
    let world = World::new();
    let old = |file: usize| format!("src/old/folder_{}/file_{file}.rs", file % 100);
    let new = move |file: usize| old(file).replace("src/old", "src/new");
    for file in 0..files {
        let mut content = text(file, 1);
        writeln!(content, "// Number {file}.").unwrap();
        world.write(&old(file), &content);
    }
    let mover = support::tool("write_to_file", move |_, context| {
        let at = |path: String| RelPath::from(&WorkspacePath::new(&path).unwrap());
        for file in 0..files {
            context
                .transaction()
                .rename(&at(old(file)), &at(new(file)))?;
        }
        support::said("moved")
    });
    let engine = support::in_action(&world, vec![mover]);
    let start = Instant::now();
    let receipt = engine.execute(&support::write("src/old/note.txt", "x"));
    let whole = start.elapsed();
    assert_eq!(receipt.outcome, Outcome::Completed, "{:?}", receipt.refusal);
    assert_eq!(receipt.warnings, Vec::<String>::new());
    std::fs::remove_dir_all(world.site().state().join("trace")).unwrap();
    let start = Instant::now();
    drop(engine.catch_up().unwrap());
    let traced = start.elapsed();
    let query = TraceQuery {
        file: Some(new(files / 2)),
        ..TraceQuery::default()
    };
    let found = engine.trace_query(&query).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].modified_ranges.len(), files);
    #[expect(clippy::cast_precision_loss, reason = "a few thousand files")]
    let each = |time: Duration| time.as_secs_f64() * 1e6 / files as f64;
    println!(
        "{{\"bench\":\"rename\",\"files\":{files},\"whole_s\":{:.2},\"trace_s\":{:.2},\
         \"whole_us_each\":{:.1},\"trace_us_each\":{:.1}}}",
        whole.as_secs_f64(),
        traced.as_secs_f64(),
        each(whole),
        each(traced)
    );
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = |default: usize| {
        let word = words.next();
        word.map_or(default, |word| word.parse().unwrap())
    };
    let (rounds, many, files) = (number(200), number(1_000_000), number(10_000));
    rename(files);
    questions(rounds, many);
}
