//! Undo against histories whose truth without the undone part is known.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use tagout_trace::undo::{Change, Clash, Content, Entry, Plan, Step, plan};
use tagout_vocab::{CallId, WorkspacePath};

use crate::world::Dice;

const FILES: usize = 50;
const OPERATIONS: usize = 180;

/// A line of one intent; of none for those that were there before.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    id: u64,
    text: String,
    intent: Option<usize>,
}

/// A file by its identity; its path may change.
#[derive(Clone, Debug, PartialEq)]
struct File {
    path: String,
    mode: u32,
    lines: Vec<Line>,
}

type Files = BTreeMap<u64, File>;

/// What was done, by identity and not by place, so that it can be done without what others did.
#[derive(Clone, Debug)]
enum Deed {
    Insert {
        file: u64,
        after: Option<u64>,
        lines: Vec<Line>,
    },
    Replace {
        file: u64,
        line: u64,
        with: Line,
    },
    Remove {
        file: u64,
        lines: Vec<u64>,
    },
    Create {
        file: u64,
        made: File,
    },
    Delete {
        file: u64,
    },
    Rename {
        file: u64,
        to: String,
    },
    Mode {
        file: u64,
        to: u32,
    },
}

impl Deed {
    const fn file(&self) -> u64 {
        match self {
            Self::Insert { file, .. }
            | Self::Replace { file, .. }
            | Self::Remove { file, .. }
            | Self::Create { file, .. }
            | Self::Delete { file }
            | Self::Rename { file, .. }
            | Self::Mode { file, .. } => *file,
        }
    }

    /// Does it; false if it stands on something that is not there.
    fn apply(&self, files: &mut Files) -> bool {
        if let Self::Create { file, made } = self {
            files.insert(*file, made.clone());
            return true;
        }
        let Some(file) = files.get_mut(&self.file()) else {
            return false;
        };
        let at = |lines: &[Line], id: u64| lines.iter().position(|line| line.id == id);
        match self {
            Self::Insert { after, lines, .. } => {
                let place = match after {
                    None => Some(0),
                    Some(id) => at(&file.lines, *id).map(|at| at + 1),
                };
                let Some(place) = place else { return false };
                file.lines.splice(place..place, lines.iter().cloned());
            }
            Self::Replace { line, with, .. } => {
                let Some(place) = at(&file.lines, *line) else {
                    return false;
                };
                file.lines[place] = with.clone();
            }
            Self::Remove { lines, .. } => file.lines.retain(|line| !lines.contains(&line.id)),
            Self::Delete { file } => {
                files.remove(file);
            }
            Self::Rename { to, .. } => file.path.clone_from(to),
            Self::Mode { to, .. } => file.mode = *to,
            Self::Create { .. } => {}
        }
        true
    }
}

struct Game {
    dice: Dice,
    ids: u64,
    files: Files,
    deeds: Vec<(usize, Deed)>,
    steps: Vec<Step>,
}

const COMMON: &[&str] = &["}", "", "    return;", "    }", "end"];

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn entry(file: &File) -> Entry {
    let text: String = file
        .lines
        .iter()
        .map(|line| format!("{}\n", line.text))
        .collect::<Vec<_>>()
        .concat();
    Entry::file(text.into_bytes(), file.mode)
}

fn tree(files: &Files) -> BTreeMap<WorkspacePath, Entry> {
    files
        .values()
        .map(|file| (path(&file.path), entry(file)))
        .collect()
}

impl Game {
    fn new(seed: u64) -> Self {
        let mut game = Self {
            dice: Dice::new(seed),
            ids: 0,
            files: Files::new(),
            deeds: Vec::new(),
            steps: Vec::new(),
        };
        for file in 0..FILES {
            let made = game.file(format!("src/f{file}.txt"), None, 30);
            game.ids += 1;
            game.files.insert(game.ids, made);
        }
        game
    }

    fn line(&mut self, intent: Option<usize>) -> Line {
        self.ids += 1;
        let text = if self.dice.percent(25) {
            (*self.dice.pick(COMMON)).to_owned()
        } else {
            format!("line {}", self.ids)
        };
        Line {
            id: self.ids,
            text,
            intent,
        }
    }

    fn file(&mut self, path: String, intent: Option<usize>, count: usize) -> File {
        let lines = (0..count).map(|_| self.line(intent)).collect();
        File {
            path,
            mode: 0o644,
            lines,
        }
    }

    fn deed(&mut self, intent: usize) -> Deed {
        let ids: Vec<u64> = self.files.keys().copied().collect();
        let file = *self.dice.pick(&ids);
        let lines = self.files[&file].lines.clone();
        let line = (!lines.is_empty()).then(|| self.dice.pick(&lines).id);
        match (self.dice.below(100), line) {
            (0..=44, after) => {
                let count = 1 + self.dice.below(4);
                let lines = (0..count).map(|_| self.line(Some(intent))).collect();
                Deed::Insert { file, after, lines }
            }
            (45..=69, Some(line)) => Deed::Replace {
                file,
                line,
                with: self.line(Some(intent)),
            },
            (70..=84, Some(first)) => {
                let from = lines.iter().position(|line| line.id == first).unwrap();
                let count = 1 + self.dice.below(3);
                let lines = lines
                    .iter()
                    .skip(from)
                    .take(count)
                    .map(|line| line.id)
                    .collect();
                Deed::Remove { file, lines }
            }
            (85..=88, _) => {
                self.ids += 1;
                let id = self.ids;
                let made = self.file(format!("src/new{id}.txt"), Some(intent), 8);
                Deed::Create { file: id, made }
            }
            (89..=91, _) => Deed::Delete { file },
            (92..=95, _) => {
                self.ids += 1;
                let to = format!("src/moved{}.txt", self.ids);
                Deed::Rename { file, to }
            }
            _ => {
                let to = *self.dice.pick(&[0o644, 0o755, 0o600]);
                Deed::Mode { file, to }
            }
        }
    }

    fn play(&mut self) {
        while self.steps.len() < OPERATIONS {
            let intent = self.dice.below(3);
            let deed = self.deed(intent);
            let mut files = self.files.clone();
            assert!(deed.apply(&mut files));
            let (before, after) = (self.files.get(&deed.file()), files.get(&deed.file()));
            // What changes nothing leaves nothing behind, whatever was meant.
            let Some(change) = change(before, after) else {
                continue;
            };
            self.files = files;
            self.steps.push(Step {
                execution: call(self.steps.len()),
                changes: vec![change],
                undoes: Vec::new(),
                beyond: Vec::new(),
            });
            self.deeds.push((intent, deed));
        }
    }
}

fn call(number: usize) -> CallId {
    CallId::new(&format!("call-{number}")).unwrap()
}

fn change(before: Option<&File>, after: Option<&File>) -> Option<Change> {
    let at = after.or(before)?;
    let shown = |file: &File| (file.path.clone(), entry(file));
    if before.map(shown) == after.map(shown) {
        return None;
    }
    let from = before.filter(|file| file.path != at.path);
    Some(Change {
        path: path(&at.path),
        moved_from: from.map(|file| path(&file.path)),
        before: before.map(entry),
        after: after.map(entry),
    })
}

fn planned(
    steps: &[Step],
    chosen: &BTreeSet<CallId>,
    now: &BTreeMap<WorkspacePath, Entry>,
) -> Plan {
    let look = |path: &WorkspacePath| Ok::<_, Infallible>(now.get(path).cloned());
    plan(steps, chosen, look).unwrap()
}

/// The tree that a plan would leave.
fn applied(now: &BTreeMap<WorkspacePath, Entry>, plan: &Plan) -> BTreeMap<WorkspacePath, Entry> {
    let mut tree = now.clone();
    for edit in &plan.edits {
        assert_eq!(
            now.get(&edit.path),
            edit.now.as_ref(),
            "the plan says what it stands on"
        );
        match &edit.result {
            Some(entry) => tree.insert(edit.path.clone(), entry.clone()),
            None => tree.remove(&edit.path),
        };
    }
    tree
}

fn bytes(entry: &Entry) -> String {
    match &entry.content {
        Content::Kept(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        Content::Lost(_) => panic!("kept"),
    }
}

#[derive(Debug, Default)]
struct Tally {
    exact: usize,
    conflicts: usize,
    tangled: usize,
}

/// One game: the first intent is taken back, file by file compared with the other two alone.
fn check(seed: u64, tally: &mut Tally) {
    let mut game = Game::new(seed);
    let start = game.files.clone();
    game.play();
    let now = tree(&game.files);
    let chosen: BTreeSet<CallId> = game
        .deeds
        .iter()
        .enumerate()
        .filter(|(_, (intent, _))| *intent == 0)
        .map(|(number, _)| call(number))
        .collect();
    let plan = planned(&game.steps, &chosen, &now);
    let result = applied(&now, &plan);
    // The other two alone. A deed that stands on what the first intent made has no truth of its
    // own.
    let mut truth = start;
    let mut tangled = BTreeSet::new();
    for (intent, deed) in &game.deeds {
        if *intent != 0 && !deed.apply(&mut truth) {
            tangled.insert(deed.file());
        }
    }
    let clashing: BTreeSet<&WorkspacePath> = plan.conflicts.iter().map(|c| &c.path).collect();
    for (id, file) in &truth {
        let place = path(&file.path);
        let here = game.files.get(id).map(|file| path(&file.path));
        let is_clashing =
            clashing.contains(&place) || here.as_ref().is_some_and(|here| clashing.contains(here));
        if is_clashing {
            tally.conflicts += 1;
            continue;
        }
        if tangled.contains(id) {
            // Nobody can say what it would be, but nothing of the others may be lost.
            tally.tangled += 1;
            let text = result.get(&place).map(bytes).unwrap_or_default();
            for line in game.files.get(id).map_or(&[][..], |file| &file.lines) {
                if line.intent.is_some_and(|intent| intent != 0) {
                    assert!(text.contains(&line.text), "seed {seed}: lost {line:?}");
                }
            }
            continue;
        }
        tally.exact += 1;
        let found = result.get(&place);
        assert_eq!(
            found.map(|entry| (entry.mode, bytes(entry))),
            Some((file.mode, bytes(&entry(file)))),
            "seed {seed}: {place}"
        );
    }
    // Nothing is left beside them but what is in conflict or tangled.
    let expected: BTreeSet<WorkspacePath> = truth.values().map(|file| path(&file.path)).collect();
    for place in result.keys() {
        let id = game
            .files
            .iter()
            .find(|(_, file)| path(&file.path) == *place)
            .map(|(id, _)| id);
        let is_excused = clashing.contains(place) || id.is_some_and(|id| tangled.contains(id));
        assert!(
            expected.contains(place) || is_excused,
            "seed {seed}: left {place}"
        );
    }
}

/// B4 One intent of three interleaved over fifty files is taken back: each file is exactly what the
/// other two alone would have made, or the plan says conflict.
#[test]
fn one_intent_of_three_is_taken_back() {
    let mut tally = Tally::default();
    let seeds = if std::env::var_os("TAGOUT_TEST_ALL").is_some() {
        2_000
    } else {
        60
    };
    for seed in 0..seeds {
        check(seed, &mut tally);
    }
    println!("{seeds} undos: {tally:?}");
    assert!(
        tally.exact > tally.conflicts * 4,
        "conflicts are the exception: {tally:?}"
    );
}

/// B4 The undo is a step like any other: taking it back gives the files as they were.
#[test]
fn an_undo_of_an_undo_is_a_redo() {
    let mut redone = 0;
    for seed in 500..560 {
        let mut game = Game::new(seed);
        game.play();
        let now = tree(&game.files);
        let last = call(OPERATIONS - 1);
        let chosen: BTreeSet<CallId> = [call(OPERATIONS / 2), last].into();
        let undo = planned(&game.steps, &chosen, &now);
        if !undo.is_clean() || undo.edits.is_empty() {
            continue;
        }
        let undone = applied(&now, &undo);
        let changes = undo.edits.iter().map(|edit| Change {
            path: edit.path.clone(),
            moved_from: None,
            before: edit.now.clone(),
            after: edit.result.clone(),
        });
        let id = CallId::new("undo-1").unwrap();
        let mut steps = game.steps.clone();
        steps.push(Step {
            execution: id.clone(),
            changes: changes.collect(),
            undoes: chosen.iter().cloned().collect(),
            beyond: Vec::new(),
        });
        let again = planned(&steps, &chosen, &undone);
        assert!(
            again.edits.is_empty() && again.already.len() == 2,
            "taken back only once"
        );
        let redo = planned(&steps, &[id].into(), &undone);
        assert!(redo.is_clean());
        assert_eq!(applied(&undone, &redo), now);
        redone += 1;
    }
    assert!(redone > 20, "{redone}");
}

/// B4 A conflict names the execution and shows both sides.
#[test]
fn a_conflict_shows_both_sides() {
    let file = |text: &str| Some(Entry::file(text.as_bytes().to_vec(), 0o644));
    let edit = |number: usize, before: &str, after: &str| Step {
        execution: call(number),
        changes: vec![Change {
            path: path("a"),
            moved_from: None,
            before: file(before),
            after: file(after),
        }],
        undoes: Vec::new(),
        beyond: Vec::new(),
    };
    let steps = [
        edit(0, "one\ntwo\nthree\n", "one\nTWO\nthree\n"),
        edit(1, "one\nTWO\nthree\n", "one\n2\nthree\n"),
    ];
    let now = BTreeMap::from([(path("a"), file("one\n2\nthree\n").unwrap())]);
    let plan = planned(&steps, &[call(0)].into(), &now);
    assert!(!plan.is_clean());
    let [conflict] = plan.conflicts.as_slice() else {
        panic!("one conflict")
    };
    assert_eq!(conflict.execution, call(0));
    let Clash::Lines(hunks) = &conflict.clash else {
        panic!("lines")
    };
    assert_eq!(hunks[0].ours.text, b"2\n");
    assert_eq!(hunks[0].theirs.text, b"two\n");
    let both = planned(&steps, &[call(0), call(1)].into(), &now);
    assert!(both.is_clean());
    assert_eq!(
        applied(&now, &both)[&path("a")],
        file("one\ntwo\nthree\n").unwrap()
    );
}
