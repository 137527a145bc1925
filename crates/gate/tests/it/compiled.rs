//! The books that an earlier process put together, and when they are put together anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tagout_gate::{GateError, Shelf, Site, Sources, Text};
use tagout_policy::law::{Layer, Source, read};
use tagout_policy::shell::{self, ShellContext};
use tagout_vocab::path::Roots;

use crate::support::{World, catalogue};

fn text(name: &str, text: &str) -> Text {
    Text {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

/// A shelf and whether it was put together for it.
fn shelved(site: &Site, build: &str, files: (Option<&Text>, &Sources)) -> (Shelf, bool) {
    let (shelf, made) = counted(site, build, files);
    let is_new = made.load(Ordering::Relaxed) > 0;
    (shelf, is_new)
}

/// A shelf and how often it was put together for it, also later.
fn counted(
    site: &Site,
    build: &str,
    (own, tree): (Option<&Text>, &Sources),
) -> (Shelf, Arc<AtomicUsize>) {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let again = move |site: &Site, own: Option<&Text>, tree: &Sources| {
        count.fetch_add(1, Ordering::Relaxed);
        let layer = |one: &Text| -> Layer {
            read(Source::user(one.name.clone()), &one.text)
                .unwrap()
                .layer
        };
        site.shelve(catalogue().clone(), own.map(layer), tree)
    };
    let files = (own.cloned(), tree.clone());
    let shelf = site.shelved::<GateError>(build, files, again).unwrap();
    (shelf, made)
}

/// Nothing is parsed that did not change, and whatever changed is: a file of the tree, the person's
/// own, what was accepted, the program itself.
#[test]
fn books_are_put_together_once_for_the_same_files() {
    let world = World::new();
    let (site, tree) = (world.site(), world.sources());
    let (first, made) = shelved(&site, "1", (None, &tree));
    assert!(made);
    let (second, made) = shelved(&site, "1", (None, &tree));
    assert!(!made);
    assert_eq!(first, second);

    let own = text("policy.yaml", "version: 1\nprofile: strict\n");
    let (strict, made) = shelved(&site, "1", (Some(&own), &tree));
    assert!(made);
    assert_ne!(strict.version, first.version);
    assert!(!shelved(&site, "1", (Some(&own), &tree)).1);
    assert!(shelved(&site, "2", (Some(&own), &tree)).1);

    let mut other = tree.clone();
    other.ignores.push(text(".intentignore", "secrets/**\n"));
    let (narrower, made) = shelved(&site, "2", (None, &other));
    assert!(made);
    assert_ne!(narrower.books.ignore, first.books.ignore);
    let accepted = site.state().join("gate/law/accepted.json");
    std::fs::remove_file(accepted).unwrap();
    let (untrusted, made) = shelved(&site, "2", (None, &other));
    assert!(made);
    assert_ne!(untrusted.standing, narrower.standing);
}

/// What was kept is a cache: damage is not believed, and files with problems are not kept at all.
#[test]
fn damaged_and_broken_books_are_read_again() {
    let world = World::new();
    let (site, tree) = (world.site(), world.sources());
    let (first, _) = shelved(&site, "1", (None, &tree));
    let kept = site.state().join("gate/law/compiled");
    let whole = std::fs::read(&kept).unwrap();
    for place in [0, 20, 200, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        std::fs::write(&kept, bytes).unwrap();
        // What lies apart is looked at when it is asked for, and made again then, once.
        let (again, made) = counted(&site, "1", (None, &tree));
        assert_eq!(first, again, "{place}");
        assert_eq!(made.load(Ordering::Relaxed), 1, "{place}");
        assert_eq!(
            std::fs::read(&kept).unwrap(),
            whole,
            "{place}: it is kept again"
        );
    }
    for cut in [0, 10, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&kept, &whole[..cut]).unwrap();
        assert!(shelved(&site, "1", (None, &tree)).1, "{cut}");
    }

    let mut broken = tree.clone();
    broken.policies = vec![text("hook_policy.yaml", "profile: [")];
    for _ in 0..2 {
        let (shelf, made) = shelved(&site, "1", (None, &broken));
        assert!(made && !shelf.broken.is_empty());
    }
}

fn analysed(shelf: &Shelf, line: &str) -> String {
    let roots = Roots::default();
    let context = ShellContext::bare(&shelf.books.knowledge, &roots);
    serde_json::to_string(&shell::analyse(line, &context)).unwrap()
}

/// The knowledge of programs is kept apart, and is a cache too: whatever becomes of it, it is built
/// anew and commands are judged the same.
#[test]
fn damaged_programs_are_built_anew() {
    let world = World::new();
    let (site, tree) = (world.site(), world.sources());
    let (first, _) = shelved(&site, "1", (None, &tree));
    let lines = ["ls -l", "rm -rf /", "git status", "cp a b", "make"];
    let expected: Vec<String> = lines.iter().map(|line| analysed(&first, line)).collect();
    assert!(expected[0].contains("SAFE") && !expected[1].contains("\"catastrophic\":null"));
    let kept = site.state().join("gate/law/programs");
    let whole = std::fs::read(&kept).unwrap();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        Some(bytes)
    };
    let damages = [
        None,
        Some(Vec::new()),
        Some(whole[..whole.len() / 2].to_vec()),
        Some(whole[..whole.len() - 1].to_vec()),
        flipped(0),
        flipped(whole.len() / 2),
        flipped(whole.len() - 1),
        Some([whole.as_slice(), b"more"].concat()),
    ];
    for damage in damages {
        match &damage {
            None => std::fs::remove_file(&kept).unwrap(),
            Some(bytes) => std::fs::write(&kept, bytes).unwrap(),
        }
        let (shelf, made) = shelved(&site, "1", (None, &tree));
        assert!(!made, "the books themselves are whole");
        let found: Vec<String> = lines.iter().map(|line| analysed(&shelf, line)).collect();
        assert_eq!(found, expected);
        assert_eq!(std::fs::read(&kept).unwrap(), whole, "it is kept again");
    }
    // Another build's is not believed, and is put in its own place.
    let (other, made) = shelved(&site, "2", (None, &tree));
    assert!(made);
    assert_eq!(analysed(&other, lines[0]), expected[0]);
    assert_ne!(std::fs::read(&kept).unwrap(), whole);
}

/// Files with problems are read anew each time; the knowledge of programs is not among them.
#[test]
fn programs_are_kept_beside_broken_books() {
    let world = World::new();
    let (site, mut tree) = (world.site(), world.sources());
    tree.policies = vec![text("hook_policy.yaml", "profile: [")];
    let kept = site.state().join("gate/law/programs");
    assert!(!kept.exists());
    assert!(!shelved(&site, "1", (None, &tree)).0.broken.is_empty());
    assert!(kept.exists());
}
