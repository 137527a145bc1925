//! What others do around the moment in which a change is shown that does not stand.
//!
//! The probes are asked at known points of a commit: the one for a file that is filled again before
//! anything is swapped, the one for writers when everything is. There another program acts here.

use std::cell::RefCell;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tagout_workspace::{Alone, Clash, Error, Options, Workspace, WriterProbe};

use crate::support::{Place, call, commit, rel};

type Act = Box<dyn FnOnce()>;

thread_local! {
    /// Done before the swap, when the record is durable.
    static BEFORE: RefCell<Option<Act>> = const { RefCell::new(None) };
    /// Done behind the swap, before what was displaced is looked at.
    static BEHIND: RefCell<Option<Act>> = const { RefCell::new(None) };
    /// What the file held whenever writers were looked for.
    static SHOWN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static FILE: RefCell<PathBuf> = RefCell::default();
}

fn options() -> Options {
    Options {
        writers: WriterProbe::Lease(|_| {
            let now = FILE.with_borrow(|file| fs::read_to_string(file));
            SHOWN.with_borrow_mut(|shown| shown.push(now.unwrap_or_default()));
            BEHIND.take().into_iter().for_each(|act| act());
            Ok(false)
        }),
        alone: Some(Alone {
            take: |_| {
                BEFORE.take().into_iter().for_each(|act| act());
                Ok(false)
            },
            lost: |_| Ok(false),
        }),
        ..Options::default()
    }
}

/// A file that was changed once, so that the next change fills the first one again.
fn set_up(place: &Place) -> Workspace {
    place.put("f", "first");
    let workspace = place.open_with(options());
    FILE.set(place.root().join("f"));
    write(&workspace, "one").unwrap();
    SHOWN.take();
    workspace
}

fn write(workspace: &Workspace, text: &str) -> Result<(), Error> {
    let mut transaction = workspace.begin(&call(text)).unwrap();
    transaction.write(&rel("f"), text.as_bytes()).unwrap();
    commit(transaction)
}

/// What the answer says: how the file was found, and what is in the versions that it names.
fn told(place: &Place, answer: Result<(), Error>) -> Vec<(Clash, Option<String>)> {
    let Err(Error::Conflict { paths }) = answer else {
        panic!("no conflict: {answer:?}");
    };
    let read = |kept: Option<String>| kept.map(|name| place.text(&name));
    let told = paths.into_iter().map(|one| (one.found, read(one.kept)));
    told.collect()
}

/// How many files the folder has.
fn count(place: &Place) -> usize {
    fs::read_dir(place.root()).unwrap().count()
}

fn save_by_rename(file: &Path, text: &str) {
    let beside = file.with_file_name("unsaved");
    fs::write(&beside, text).unwrap();
    fs::rename(&beside, file).unwrap();
}

/// L4: what was saved while the record was made durable is never covered by the change, not even
/// for a moment: whoever looked there would build on what goes again.
#[test]
fn a_file_that_was_saved_before_the_swap_is_never_covered() {
    let saves: [fn(&Path, &str); 2] = [|file, text| fs::write(file, text).unwrap(), save_by_rename];
    for save in saves {
        let place = Place::new();
        let workspace = set_up(&place);
        let file = place.root().join("f");
        BEFORE.set(Some(Box::new(move || save(&file, "theirs"))));
        let told = told(&place, write(&workspace, "ours"));
        assert_eq!(told, [(Clash::Changed, None)]);
        assert_eq!((place.text("f").as_str(), count(&place)), ("theirs", 1));
        let shown = SHOWN.take();
        assert!(!shown.contains(&"ours".to_owned()), "{shown:?}");
    }
}

/// L4: the same for a file that someone removed.
#[test]
fn a_file_that_was_removed_before_the_swap_stays_away() {
    let place = Place::new();
    let workspace = set_up(&place);
    let file = place.root().join("f");
    BEFORE.set(Some(Box::new(move || fs::remove_file(file).unwrap())));
    let told = told(&place, write(&workspace, "ours"));
    assert_eq!(told, [(Clash::Existence, None)]);
    assert_eq!(count(&place), 0);
}

/// L4: a file that was only touched meanwhile is changed.
#[test]
fn a_file_that_was_touched_before_the_swap_is_no_conflict() {
    let place = Place::new();
    let workspace = set_up(&place);
    let file = place.root().join("f");
    BEFORE.set(Some(Box::new(move || fs::write(file, "one").unwrap())));
    write(&workspace, "ours").unwrap();
    assert_eq!((place.text("f").as_str(), count(&place)), ("ours", 1));
}

/// Someone who holds the file since before the swap writes it behind it, unseen by any probe, and
/// then does what is given. Answers what the call was told.
fn with_a_late_writer(
    place: &Place,
    act: impl FnOnce(&Path) + 'static,
) -> Vec<(Clash, Option<String>)> {
    let workspace = set_up(place);
    let file = place.root().join("f");
    let mut late = fs::OpenOptions::new().write(true).open(&file).unwrap();
    BEHIND.set(Some(Box::new(move || {
        late.write_all(b"theirs").unwrap();
        drop(late);
        act(&file);
    })));
    told(place, write(&workspace, "ours"))
}

/// L4: who reads a change that goes again and saves later, saves over what was put back and was
/// never seen by them. That is kept, and the call says where.
#[test]
fn a_reader_of_what_goes_again_destroys_nothing() {
    let place = Place::new();
    let told = with_a_late_writer(&place, |file| {
        assert_eq!(fs::read_to_string(file).unwrap(), "ours");
    });
    assert_eq!(place.text("f"), "theirs");
    place.put("f", "ours and mine");
    assert_eq!(told, [(Clash::Changed, Some("theirs".to_owned()))]);
}

/// L4: who writes into a change that goes again has that kept beside what was put back, however
/// little it is.
#[test]
fn a_save_into_what_goes_again_is_kept() {
    for mine in ["mine", "our", ""] {
        let place = Place::new();
        let told = with_a_late_writer(&place, move |file| fs::write(file, mine).unwrap());
        assert_eq!(place.text("f"), "theirs", "{mine}");
        let kept = ["theirs", mine].map(|text| (Clash::Changed, Some(text.to_owned())));
        assert_eq!(told, kept, "{mine}");
        assert_eq!(count(&place), 3, "{mine}");
    }
}

/// L4: who saves over a change that goes again keeps the name; what was displaced is beside it.
#[test]
fn a_save_over_what_goes_again_stays() {
    let place = Place::new();
    let told = with_a_late_writer(&place, |file| save_by_rename(file, "mine"));
    assert_eq!((place.text("f").as_str(), count(&place)), ("mine", 2));
    assert_eq!(told, [(Clash::Changed, Some("theirs".to_owned()))]);
}
