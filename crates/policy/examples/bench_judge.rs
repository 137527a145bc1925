//! Figures of the judge, one JSON line each: decision, load of the compiled books, scope matching.
//!
//! Run in release by the project's own benchmarks, which compare the figures with the budgets. All
//! contenders of one figure run in turns, so that other load hits them alike.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measuring program: it prints its figures, and a failure ends it"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobSetBuilder};
use serde_json::json;
use tagout_policy::catalogue::{Catalogue, Tool};
use tagout_policy::intents::{self, IgnoreFile};
use tagout_policy::judge::{Books, Facts, judge};
use tagout_policy::law::compiled::{self, Key};
use tagout_policy::law::{self, Law, Layer, Source};
use tagout_policy::scope::{CaseRule, Scope};
use tagout_vocab::path::Roots;
use tagout_vocab::{Call, IntentId, Session, SessionId, State, Timestamp, WorkspacePath};

const ROUNDS: usize = 400;

/// What is measured, and its name.
type Contender<'a> = (&'static str, Box<dyn FnMut() + 'a>);

fn main() {
    decisions();
    loads();
    scopes();
}

/// The median of each contender in microseconds, run in turns.
fn medians(contenders: &mut [Contender<'_>]) -> Vec<f64> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); contenders.len()];
    for _ in 0..ROUNDS {
        for ((_, run), times) in contenders.iter_mut().zip(&mut times) {
            let start = Instant::now();
            run();
            times.push(start.elapsed());
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times
            .get(times.len() / 2)
            .copied()
            .unwrap_or_default()
            .as_secs_f64()
            * 1e6
    };
    times.into_iter().map(median).collect()
}

fn tell(what: &str, value: f64, unit: &str) {
    println!("{}", json!({"what": what, "value": value, "unit": unit}));
}

fn policy(rules: usize) -> String {
    let mut text = String::from("version: 1\nrules:\n");
    for rule in 0..rules {
        writeln!(
            text,
            "  - id: rule-{rule}\n    action: ask\n    match: {{path: 'area{rule}/**/*.gen'}}\n    \
             reason: generated\n    examples: {{match: [{{path: area{rule}/x/y.gen}}], \
             no_match: [{{path: area{rule}/x/y.rs}}]}}"
        )
        .unwrap();
    }
    text
}

fn intent_file(count: usize) -> String {
    let mut text = String::from("version: 1\nactive_intents:\n");
    for intent in 0..count {
        writeln!(
            text,
            "  - id: INT-{intent:05}\n    name: Work number {intent}\n    status: IN_PROGRESS\n    \
             owned_scope: [src/area{intent}/**, tests/area{intent}/]"
        )
        .unwrap();
    }
    text
}

fn books(rules: usize, intent_count: usize) -> Books {
    read(&policy(rules), &intent_file(intent_count))
}

fn read(policy: &str, intent_text: &str) -> Books {
    let layer = law::read(Source::repository("hook_policy.yaml"), policy)
        .unwrap()
        .layer;
    let law = Law::assemble(Layer::built_in(), None, vec![layer]).unwrap();
    let intents = intents::read("active_intents.yaml", intent_text)
        .unwrap()
        .into_set();
    let (books, problems) = Books::new(
        Catalogue::built_in().unwrap(),
        law,
        intents,
        IgnoreFile::default(),
    );
    assert!(problems.is_empty());
    books
}

fn write_call() -> (Call, Session) {
    let arguments = json!({"path": "src/area7/deep/file.rs", "content": "x".repeat(1_000),
        "intent_id": "INT-00007", "mutation_class": "INTENT_EVOLUTION"});
    let catalogue = Catalogue::built_in().unwrap();
    let has = |required: &[String], key: &str| required.iter().any(|known| known == key);
    let writes = |tool: &&Tool| {
        tool.carries_metadata && has(&tool.required, "path") && has(&tool.required, "content")
    };
    let tool = catalogue.native().find(writes).unwrap();
    let call = Call::new(&tool.name, arguments.as_object().cloned().unwrap());
    let session = Session {
        id: SessionId::new("s").unwrap(),
        state: State::Action,
        intent: Some(IntentId::new("INT-00007").unwrap()),
        parent: None,
    };
    (call, session)
}

fn decisions() {
    let (call, session) = write_call();
    let roots = Roots {
        workspace: "/w".to_owned(),
        extra: Vec::new(),
    };
    let facts = Facts::for_explanation(Timestamp::from_millis(1_780_000_000_000), roots);
    let sizes = [
        (10, 10),
        (100, 10),
        (1_000, 10),
        (10, 1_000),
        (100, 1_000),
        (100, 10_000),
    ];
    let shelves: Vec<Books> = sizes
        .iter()
        .map(|(rules, count)| books(*rules, *count))
        .collect();
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for books in &shelves {
        let (call, session, facts) = (&call, &session, &facts);
        assert!(judge(call, session, books, facts).verdict.is_allow());
        contenders.push((
            "judge",
            Box::new(move || {
                black_box(judge(black_box(call), session, books, facts));
            }),
        ));
    }
    for ((rules, count), median) in sizes.iter().zip(medians(&mut contenders)) {
        tell(
            &format!("decision, {rules} rules, {count} intents"),
            median,
            "µs",
        );
    }
}

fn loads() {
    let (policy, intent_text) = (policy(100), intent_file(1_000));
    let key = Key::of(
        "bench",
        [
            ("policy", policy.as_bytes()),
            ("intents", intent_text.as_bytes()),
        ],
    );
    let bytes = compiled::encode(&key, &read(&policy, &intent_text)).unwrap();
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "parse",
            Box::new(|| drop(black_box(read(&policy, &intent_text)))),
        ),
        (
            "load",
            Box::new(|| {
                let key = Key::of(
                    "bench",
                    [
                        ("policy", policy.as_bytes()),
                        ("intents", intent_text.as_bytes()),
                    ],
                );
                drop(black_box(compiled::decode::<Books>(&bytes, &key).unwrap()));
            }),
        ),
    ];
    let found = medians(&mut contenders);
    let (parse, load) = (
        found.first().copied().unwrap(),
        found.get(1).copied().unwrap(),
    );
    tell("parse YAML, 100 rules, 1,000 intents", parse, "µs");
    tell("load compiled, 100 rules, 1,000 intents", load, "µs");
    tell("load compiled / parse YAML", load / parse, "×");
    tell("compiled size", bytes.len() as f64 / 1_024.0, "KiB");
}

fn scopes() {
    let endings = ["rs", "py", "ts"].into_iter().cycle().take(100);
    let patterns: Vec<String> = endings
        .enumerate()
        .map(|(n, ending)| format!("src/area{n}/**/*.{ending}"))
        .collect();
    let paths: Vec<WorkspacePath> = (0..5)
        .map(|n| WorkspacePath::new(&format!("src/area{}/deep/file.rs", n * 30)).unwrap())
        .collect();
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "ours",
            Box::new(|| {
                let scope = Scope::parse(&patterns).unwrap();
                for path in &paths {
                    black_box(scope.owns(path, CaseRule::Sensitive));
                }
            }),
        ),
        (
            "globset",
            Box::new(|| {
                let mut set = GlobSetBuilder::new();
                for pattern in &patterns {
                    set.add(
                        GlobBuilder::new(pattern)
                            .literal_separator(true)
                            .build()
                            .unwrap(),
                    );
                }
                let set = set.build().unwrap();
                for path in &paths {
                    black_box(set.is_match(path.as_str()));
                }
            }),
        ),
    ];
    let found = medians(&mut contenders);
    let (ours, theirs) = (
        found.first().copied().unwrap(),
        found.get(1).copied().unwrap(),
    );
    tell("scope of 100 patterns, 5 paths", ours, "µs");
    tell("globset, compiled for the same", theirs, "µs");
    tell("scope / globset, a few paths", ours / theirs, "×");
}
