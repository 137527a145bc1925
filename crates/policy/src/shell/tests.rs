//! The corpus in both directions, mutations of it, and input that means harm to the reader itself.

use std::sync::OnceLock;

use serde::Deserialize;
use tagout_vocab::Class;
use tagout_vocab::path::Roots;

use super::{Analysis, Knowledge, ShellContext, analyse};

fn knowledge() -> &'static Knowledge {
    static LOADED: OnceLock<Knowledge> = OnceLock::new();
    LOADED.get_or_init(|| {
        Knowledge::built_in().unwrap_or_else(|problems| {
            let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("{} problems\n{}", told.len(), told.join("\n"))
        })
    })
}

fn look(line: &str) -> Analysis {
    let roots = Roots {
        workspace: "/work/project".to_owned(),
        extra: Vec::new(),
    };
    let context = ShellContext {
        cwd: "/work/project",
        ..ShellContext::bare(knowledge(), &roots)
    };
    analyse(line, &context)
}

#[derive(Deserialize)]
struct Labelled {
    cmd: String,
    label: String,
}

fn corpus(text: &str) -> Vec<Labelled> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const CORPUS: &str = include_str!("../../tests/fixtures/shell.jsonl");

/// H4 on the labelled commands: nothing destructive is called SAFE, and what is safe nearly always is.
#[test]
fn the_corpus_is_judged_in_both_directions() {
    let mut safe = (0, 0);
    let mut destructive = (0, 0);
    for line in corpus(CORPUS) {
        let analysis = look(&line.cmd);
        let called_safe = analysis.class == Class::Safe;
        if line.label == "safe" {
            safe.1 += 1;
            if called_safe {
                safe.0 += 1;
            } else {
                println!("safe, called destructive: {:?}: {:?}", line.cmd, analysis.why());
            }
        } else {
            destructive.1 += 1;
            if called_safe {
                destructive.0 += 1;
                println!("DESTRUCTIVE, called safe: {:?}", line.cmd);
            }
        }
    }
    println!("safe lines called SAFE: {}/{}", safe.0, safe.1);
    println!("destructive lines called SAFE: {}/{}", destructive.0, destructive.1);
    assert_eq!(destructive.0, 0);
    assert!(safe.0 * 100 >= safe.1 * 95);
}
