//! Writing configuration files: all of a plan or nothing of it, and back to what was there.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tagout_agents::Client;
use tagout_agents::install::plan::{Place, Scope};
use tagout_agents::install::{
    self, FileEdit, FindingKind, Texts, instruction_file, put_instructions, take_instructions,
};
use tagout_vocab::limits::INSTALL_NOTE_BYTES_MAX;
use tagout_workspace::files;

use super::Wanted;
use crate::failure::Failure;
use crate::notes::homes;
use crate::{person, report};

/// One file that changes.
struct Change {
    path: PathBuf,
    old: Option<String>,
    new: Option<String>,
    executable: bool,
}

/// What was made besides the files, so that it can go with them.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Made {
    folders: Vec<PathBuf>,
}

/// Whether hooks come or go.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Way {
    In,
    Out,
}

/// Says what changes.
fn announced(changes: &[Change], yes: bool) {
    for change in changes {
        let word = match (change.new.is_some(), yes) {
            (true, false) => "would write",
            (true, true) => "writing",
            (false, false) => "would remove",
            (false, true) => "removing",
        };
        report::note(&format!("{word} {}", change.path.display()));
    }
}

impl Wanted {
    /// Shows, asks, writes. Nothing is written where anything can't be.
    pub(in crate::verbs) fn install(
        &self,
        clients: &[Client],
        yes: bool,
    ) -> Result<Vec<String>, Failure> {
        self.is_fit()?;
        self.change(clients, Way::In, yes)
    }

    /// Says what `install` would write, which fails where anything can't be.
    pub(in crate::verbs) fn announce(&self, clients: &[Client], yes: bool) -> Result<(), Failure> {
        announced(&self.plan(clients, Way::In)?, yes);
        Ok(())
    }

    /// Writes what was announced and agreed to.
    pub(in crate::verbs) fn install_agreed(&self, clients: &[Client]) -> Result<(), Failure> {
        self.is_fit()?;
        self.apply_now(clients, Way::In).map(drop)
    }

    /// The same the other way. A client may tell its hook of the change at once, which then has to
    /// know whose will it was.
    pub(super) fn uninstall(&self, clients: &[Client], yes: bool) -> Result<Vec<String>, Failure> {
        let changed = self.change(clients, Way::Out, yes)?;
        // Once more: a hook that saw itself in between took the note back.
        self.take_out(clients);
        Ok(changed)
    }

    fn change(&self, clients: &[Client], way: Way, yes: bool) -> Result<Vec<String>, Failure> {
        let shown = self.plan(clients, way)?;
        announced(&shown, yes);
        if shown.is_empty() {
            return Ok(Vec::new());
        }
        person::agrees(yes, "Change these files?")?;
        if way == Way::Out {
            self.take_out(clients);
        }
        self.apply_now(clients, way)
    }

    fn apply_now(&self, clients: &[Client], way: Way) -> Result<Vec<String>, Failure> {
        files::ensure_dir_private(&self.places.state_home).map_err(Failure::failed)?;
        let lock = files::lock(&self.places.state_home.join("install.lock"));
        let lock = lock.map_err(Failure::failed)?;
        // Once more: the files may have changed while a person thought or another one wrote.
        let changes = self.plan(clients, way)?;
        self.apply(&changes)?;
        drop(lock);
        let path = |change: &Change| change.path.display().to_string();
        Ok(changes.iter().map(path).collect())
    }

    /// Every file that changes, once, with what all clients want of it.
    fn plan(&self, clients: &[Client], way: Way) -> Result<Vec<Change>, Failure> {
        let mut texts = Texts::new();
        let mut before: BTreeMap<Place, Option<String>> = BTreeMap::new();
        let mut executable = Vec::new();
        for client in clients {
            let mut places = install::files(*client, self.scope).map_err(invalid)?;
            places.push(instruction_file(*client));
            for place in places {
                if before.contains_key(&place) {
                    continue;
                }
                let text = homes::read(&self.path_of(&place)?)?;
                if let Some(text) = &text {
                    texts.insert(place.clone(), text.clone());
                }
                before.insert(place, text);
            }
            let edits = match way {
                Way::In => self.put(*client, &texts),
                Way::Out => self.taken(*client, clients, &texts),
            };
            for edit in edits.map_err(invalid)? {
                match edit.text {
                    Some(text) => texts.insert(edit.place.clone(), text),
                    None => texts.remove(&edit.place),
                };
                executable.extend(edit.executable.then_some(edit.place));
            }
        }
        let mut changes = Vec::new();
        for (place, old) in before {
            let new = texts.get(&place).cloned();
            if new != old {
                changes.push(Change {
                    path: self.path_of(&place)?,
                    executable: executable.contains(&place),
                    old,
                    new,
                });
            }
        }
        Ok(changes)
    }

    fn path_of(&self, place: &Place) -> Result<PathBuf, Failure> {
        let path = self.homes.path_of(place, &self.places.root);
        path.ok_or_else(|| Failure::invalid("there is no home: `HOME` is not set"))
    }

    fn put(&self, client: Client, texts: &Texts) -> Result<Vec<FileEdit>, install::InstallError> {
        let mut edits = install::install_plan(client, self.scope, &self.binary, texts)?;
        let place = instruction_file(client);
        let text = put_instructions(client, texts.get(&place).map(String::as_str));
        edits.push(FileEdit {
            place,
            text: Some(text),
            executable: false,
        });
        Ok(edits)
    }

    fn taken(
        &self,
        client: Client,
        leaving: &[Client],
        texts: &Texts,
    ) -> Result<Vec<FileEdit>, install::InstallError> {
        let mut edits = install::uninstall_plan(client, self.scope, texts)?;
        let place = instruction_file(client);
        if let Some(old) = texts.get(&place)
            && !self.is_shared(client, leaving)
        {
            edits.push(FileEdit {
                place,
                text: take_instructions(old),
                executable: false,
            });
        }
        Ok(edits)
    }

    /// Whether hooks remain whose agents read the same instructions: of another client, or of this
    /// one in another scope.
    fn is_shared(&self, client: Client, leaving: &[Client]) -> bool {
        let file = instruction_file(client);
        let readers = Client::ALL.iter().copied();
        let mut readers = readers.filter(|other| instruction_file(*other) == file);
        readers.any(|other| {
            let texts = self.texts(other);
            let mut scopes = Scope::ALL.into_iter();
            scopes.any(|scope| {
                let same = |one: &Client| has_same_hooks(*one, other, scope);
                let goes = scope == self.scope && leaving.iter().any(same);
                !goes && is_there(other, scope, &texts, &self.binary)
            })
        })
    }

    /// Writes every file or, where one can't be, none.
    fn apply(&self, changes: &[Change]) -> Result<(), Failure> {
        let note = self.places.state_home.join("installed.json");
        let mut made = read_made(&note);
        let mut undo: Vec<&Change> = Vec::new();
        for change in changes {
            let result = match &change.new {
                Some(text) => write(change, text, &mut made),
                None => files::remove_followed(&change.path).map_err(Failure::failed),
            };
            if let Err(failure) = result {
                return Err(taken_back(failure, (undo, changes), &mut made));
            }
            undo.push(change);
        }
        if changes.iter().any(|change| change.new.is_none()) {
            unmake(changes, &mut made);
        }
        let bytes = serde_json::to_vec(&made).map_err(Failure::failed);
        let noted = bytes.and_then(|bytes| {
            files::write_atomic(&note, &bytes, Some(0o600)).map_err(Failure::failed)
        });
        // Hooks whose folders nobody knows of could not be taken out again.
        noted.map_err(|failure| taken_back(failure, (undo, changes), &mut made))
    }
}

/// Takes back what was written before something failed.
fn taken_back(
    failure: Failure,
    (undo, changes): (Vec<&Change>, &[Change]),
    made: &mut Made,
) -> Failure {
    for change in undo {
        take_back(change);
    }
    unmake(changes, made);
    failure.hint("nothing was changed; mend this and try again")
}

/// Whether the hooks of two clients are the same ones.
fn has_same_hooks(one: Client, other: Client, scope: Scope) -> bool {
    let files = |client| install::files(client, scope).ok();
    one == other || files(one).is_some_and(|own| Some(own) == files(other))
}

fn is_there(client: Client, scope: Scope, texts: &Texts, binary: &install::Binary) -> bool {
    let known = install::files(client, scope).is_ok();
    let found = install::check(client, scope, binary, texts);
    known && !found.iter().any(|one| one.kind == FindingKind::Missing)
}

fn write(change: &Change, text: &str, made: &mut Made) -> Result<(), Failure> {
    let parent = change.path.parent().unwrap_or(Path::new("/"));
    let missing = parent.ancestors().take_while(|folder| !folder.exists());
    let missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
    files::ensure_dir(parent).map_err(Failure::failed)?;
    for folder in missing {
        if !made.folders.contains(&folder) {
            made.folders.push(folder);
        }
    }
    let executable = change.executable.then_some(0o755);
    files::write_atomic(&change.path, text.as_bytes(), executable).map_err(Failure::failed)
}

/// Puts back what a change replaced. What can't be put back is said, because nobody else will.
fn take_back(change: &Change) {
    let back = match &change.old {
        Some(text) => files::write_atomic(&change.path, text.as_bytes(), None),
        None => files::remove_followed(&change.path),
    };
    if let Err(error) = back {
        report::note(&format!("left behind: {error}"));
    }
}

/// Removes the folders that were made for files which are gone, as far as they are empty.
fn unmake(changes: &[Change], made: &mut Made) {
    for change in changes {
        for folder in change.path.ancestors().skip(1) {
            let Some(at) = made.folders.iter().position(|one| one == folder) else {
                break;
            };
            if is_empty(folder).is_ok_and(|empty| !empty) {
                break;
            }
            // A folder that somebody uses meanwhile stays.
            if files::remove_dir(folder).is_err() {
                break;
            }
            made.folders.remove(at);
        }
    }
}

fn is_empty(folder: &Path) -> io::Result<bool> {
    Ok(std::fs::read_dir(folder)?.next().is_none())
}

/// What earlier runs made. A note that can't be read costs an empty folder at most.
fn read_made(note: &Path) -> Made {
    let bytes = files::read(note, INSTALL_NOTE_BYTES_MAX).ok().flatten();
    let made = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    made.unwrap_or_default()
}

fn invalid(error: impl std::error::Error) -> Failure {
    let source = error.source().map(|source| format!(": {source}"));
    Failure::invalid(format!("{error}{}", source.unwrap_or_default())).hint("nothing was changed")
}
