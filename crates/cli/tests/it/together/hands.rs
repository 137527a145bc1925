//! Who edits: agents through the binary, a person through the file system. Each line that they
//! write says who wrote it.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tagout_vocab::Digest;

use super::FILES;
use crate::confined::{Ran, Site};

/// What the names of versions have in them that are kept beside a file.
pub(super) const KEPT: &str = ".tagout-conflict-";

/// What an agent was told about a call that went through.
#[derive(Clone, Debug)]
pub(super) struct Called {
    pub(super) agent: &'static str,
    pub(super) execution: String,
    pub(super) file: String,
    /// The mark of its lines.
    pub(super) mark: String,
    /// The digests of what it read and of what it wrote; a command's are known afterwards.
    pub(super) wrote: Option<(String, String)>,
    /// The line that a command appended.
    pub(super) appended: Option<String>,
}

/// One save of the person.
#[derive(Clone, Debug)]
pub(super) struct Save {
    pub(super) file: String,
    pub(super) read: String,
    pub(super) wrote: String,
}

/// What everybody noted down.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// Every content that anybody wrote, by its digest.
    pub(super) contents: BTreeMap<String, String>,
    pub(super) calls: Vec<Called>,
    pub(super) saves: Vec<Save>,
    pub(super) refusals: BTreeMap<String, usize>,
    /// The answers that name a version kept beside a file.
    pub(super) answers: Vec<String>,
    /// How long the latest call took.
    took: Duration,
}

/// Notes a content; gives its digest.
pub(super) fn learn(notes: &Mutex<Notes>, content: &str) -> String {
    let digest = Digest::of(content.as_bytes()).to_string();
    let mut notes = notes.lock().unwrap();
    notes.contents.insert(digest.clone(), content.to_owned());
    digest
}

/// Numbers from a seed.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

/// The text after an edit: some lines away, some new ones there. At least one of them is nobody
/// else's; about one in five is everywhere.
fn edited(text: &str, mark: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = dice.below(lines.len() + 1);
    let most = if lines.len() > 60 { 6 } else { 3 };
    let away = dice.below(most).min(lines.len() - at);
    let mut new = Vec::new();
    for number in 0..=dice.below(3) {
        let is_common = number > 0 && dice.below(3) == 0;
        new.push(if is_common {
            "pass".to_owned()
        } else {
            format!("{mark}_{number} = compute({})", dice.below(100))
        });
    }
    lines.splice(at..at + away, new);
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// An agent in a session of its own.
pub(super) struct Agent<'a> {
    site: &'a Site,
    notes: &'a Mutex<Notes>,
    name: &'static str,
    session: &'static str,
    intent: &'static str,
    has_shell: bool,
    seed: u64,
}

impl<'a> Agent<'a> {
    pub(super) const fn new(
        site: &'a Site,
        notes: &'a Mutex<Notes>,
        (name, session, intent): (&'static str, &'static str, &'static str),
        seed: u64,
    ) -> Self {
        Self {
            site,
            notes,
            name,
            session,
            intent,
            has_shell: false,
            seed,
        }
    }

    pub(super) const fn with_shell(mut self) -> Self {
        self.has_shell = true;
        self
    }

    /// Changes every file once, so that the trace knows them from then on.
    pub(super) fn begin(&self) {
        let mut dice = Dice(self.seed);
        for (number, file) in FILES.iter().enumerate() {
            self.write(file, &format!("{}_first{number}", self.name), &mut dice);
        }
    }

    pub(super) fn work(&self, until: Instant) {
        let mut dice = Dice(self.seed);
        for number in 0_usize.. {
            if Instant::now() >= until {
                return;
            }
            let file = FILES[dice.below(FILES.len())];
            let mark = format!("{}_{number}", self.name);
            if self.has_shell && dice.below(4) == 0 {
                self.append(file, &mark);
            } else {
                self.write(file, &mark, &mut dice);
            }
        }
    }

    fn told(&self, words: &[&str]) -> Value {
        let start = Instant::now();
        let ran = self
            .site
            .tagout(&[words, &["--session", self.session, "--json"]].concat());
        self.notes.lock().unwrap().took = start.elapsed();
        self.heard(&ran);
        let first = ran.stdout.lines().next().unwrap_or_default();
        serde_json::from_str(first).unwrap_or_else(|_| panic!("{words:?}: {}", ran.shown()))
    }

    fn heard(&self, ran: &Ran) {
        if [&ran.stdout, &ran.stderr]
            .iter()
            .any(|text| text.contains(KEPT))
        {
            let answer = format!("{}{}", ran.stdout, ran.stderr);
            self.notes.lock().unwrap().answers.push(answer);
        }
    }

    fn refused(&self, told: &Value) {
        let code = told["error"]["code"].as_str().or(told["code"].as_str());
        let mut code = code.unwrap_or("none").to_owned();
        if code == "LEDGER_UNAVAILABLE" {
            // Nothing here makes the state fail: if it does, the reason has to be seen.
            code = told.to_string();
        }
        *self.notes.lock().unwrap().refusals.entry(code).or_default() += 1;
    }

    /// Reads a file and writes it with some lines changed.
    fn write(&self, file: &str, mark: &str, dice: &mut Dice) {
        let input = json!({ "path": file }).to_string();
        let told = self.told(&["run", "read_file", "--input", &input]);
        let Some(content) = told["output"]["content"].as_str() else {
            return self.refused(&told);
        };
        let end = if told["output"]["final_newline"] == true {
            "\n"
        } else {
            ""
        };
        let read = format!("{content}{end}");
        let text = edited(&read, mark, dice);
        // Whoever looks at the file may see this content from now on.
        let wrote = (learn(self.notes, &read), learn(self.notes, &text));
        let input = json!({
            "path": file, "content": text, "intent_id": self.intent,
            "mutation_class": "INTENT_EVOLUTION",
        });
        let told = self.told(&["run", "write_to_file", "--input", &input.to_string()]);
        self.note(&told, (file, mark), (Some(wrote), None));
    }

    /// Appends a line by a command.
    fn append(&self, file: &str, mark: &str) {
        let line = format!("{mark}_0 = compute(0)");
        let command = format!("printf '%s\\n' '{line}' >> {file}");
        let words = [
            "exec",
            "--session",
            self.session,
            "--intent",
            self.intent,
            "--json",
            "--",
        ];
        let ran = self.site.tagout(&[&words[..], &[&command]].concat());
        self.heard(&ran);
        let first = ran.stdout.lines().last().unwrap_or_default();
        let told = serde_json::from_str(first).unwrap_or_else(|_| panic!("{}", ran.shown()));
        self.note(&told, (file, mark), (None, Some(line)));
    }

    fn note(
        &self,
        told: &Value,
        (file, mark): (&str, &str),
        (wrote, appended): (Option<(String, String)>, Option<String>),
    ) {
        if told["outcome"] != "completed" {
            return self.refused(told);
        }
        self.notes.lock().unwrap().calls.push(Called {
            agent: self.name,
            execution: told["execution"].as_str().unwrap().to_owned(),
            file: file.to_owned(),
            mark: mark.to_owned(),
            wrote,
            appended,
        });
    }
}

/// A person with an editor that knows nothing of any of this.
pub(super) struct Person<'a> {
    site: &'a Site,
    notes: &'a Mutex<Notes>,
    seed: u64,
}

impl<'a> Person<'a> {
    pub(super) const fn new(site: &'a Site, notes: &'a Mutex<Notes>, seed: u64) -> Self {
        Self { site, notes, seed }
    }

    pub(super) fn work(&self, until: Instant) {
        let mut dice = Dice(self.seed);
        for number in 0_usize.. {
            if Instant::now() >= until {
                return;
            }
            let file = FILES[dice.below(FILES.len())];
            let read = self.site.read(file).unwrap();
            let text = edited(&read, &format!("p_{number}"), &mut dice);
            // Before it can be seen by anybody.
            let save = Save {
                file: file.to_owned(),
                read: learn(self.notes, &read),
                wrote: learn(self.notes, &text),
            };
            self.notes.lock().unwrap().saves.push(save);
            let path = self.site.root().join(file);
            if dice.below(2) == 0 {
                fs::write(&path, &text).unwrap();
            } else {
                let beside = self.site.home().join("unsaved");
                fs::write(&beside, &text).unwrap();
                fs::rename(&beside, &path).unwrap();
            }
            // About as often as the agents call, so that some of their calls come too late and
            // others do not, on whatever machine.
            let took = self.notes.lock().unwrap().took;
            let pause = took.mul_f64(f64::from(u32::try_from(dice.below(200)).unwrap()) / 100.0);
            std::thread::sleep(pause.max(Duration::from_millis(5)));
        }
    }
}
