//! The books as an earlier process put them together from the same files, so that nothing is parsed
//! that did not change.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tagout_policy::law::compiled::{self, Apart, Key};
use tagout_policy::shell::Knowledge;
use tagout_vocab::limits::{COMPILED_FRONT_BYTES, RECORD_BYTES_MAX};
use tagout_workspace::files::{self, Opened};

use crate::error::GateError;
use crate::site::Site;
use crate::trust::{Shelf, Sources, Text};

impl Site {
    fn compiled_path(&self) -> PathBuf {
        self.store.path("law", "compiled")
    }

    fn programs_path(&self) -> PathBuf {
        self.store.path("law", "programs")
    }

    /// The shelf that `make` puts together, or the one that it put together the last time, if that
    /// was the same build with the same files: the person's own, what was accepted, the tree's.
    ///
    /// What was kept is a cache and never a source: whatever can't be read is made again. Files
    /// with problems are read anew each time, so that the problems are told as they stand.
    pub fn shelved<E: From<GateError>>(
        &self,
        build: &str,
        (own, tree): (Option<&Text>, &Sources),
        make: impl FnOnce() -> Result<Shelf, E>,
    ) -> Result<Shelf, E> {
        let accepted = self.accepted_bytes()?;
        let named = |text: &'static str| move |bytes| (text, bytes);
        let own = own.map(|one| {
            [
                ("own name", one.name.as_bytes()),
                ("own", one.text.as_bytes()),
            ]
        });
        let texts = tree
            .texts()
            .flat_map(|(kind, one)| [(kind, one.name.as_bytes()), ("text", one.text.as_bytes())]);
        let sources = own.into_iter().flatten();
        let sources = sources.chain(accepted.as_deref().map(named("accepted")));
        let key = Key::of(build, sources.chain(texts));
        let path = self.compiled_path();
        // The knowledge of programs is the build's own, whatever the files say.
        let (programs, build) = (self.programs_path(), build.to_owned());
        let path_of_programs = programs.clone();
        let knowledge = Knowledge::later(move || {
            let fixed = Key::of(&build, []);
            stored(&programs, &fixed).or_else(|| {
                let parsed = Knowledge::built_in().ok()?.kept().clone();
                store(&programs, &fixed, &parsed);
                Some(parsed)
            })
        });
        let known = stored::<Shelf>(&path, &key);
        let is_known = known.is_some();
        let mut whole = known.map_or_else(make, Ok)?;
        whole.books.knowledge = knowledge;
        if !is_known {
            if whole.broken.is_empty() {
                store(&path, &key, &whole);
            }
            // Whoever makes the books has time; the next process may be one that has none.
            if !path_of_programs.exists() {
                whole.books.knowledge.is_there();
            }
        }
        Ok(whole)
    }
}

/// What was stored for this key. Its front is read now, and the rest when it is asked for.
fn stored<T: DeserializeOwned>(path: &Path, key: &Key) -> Option<T> {
    let file = Opened::plain(path, RECORD_BYTES_MAX).ok()??;
    let mut front = file.read(0..COMPILED_FRONT_BYTES.min(file.length()))?;
    let wanted = compiled::front_length(&front)?;
    if wanted > front.len() {
        front.extend(file.read(front.len()..wanted)?);
    }
    front.truncate(wanted);
    let (length, path) = (file.length(), path.to_owned());
    let rest = Arc::new(Rest { file, path });
    compiled::decode_front(&Arc::new(front), key, (length, rest)).ok()
}

/// The part of a stored book that is read when it is asked for.
struct Rest {
    file: Opened,
    path: PathBuf,
}

impl Apart for Rest {
    fn fetch(&self, range: Range<usize>) -> Option<Vec<u8>> {
        self.file.read(range)
    }

    /// The next process makes the books anew.
    fn is_damaged(&self) {
        drop(files::remove_note(&self.path));
    }
}

fn store<T: Serialize>(path: &Path, key: &Key, value: &T) {
    if let Ok(bytes) = compiled::encode(key, value) {
        // Without it the next process reads the files again.
        drop(files::write_note(path, &bytes, Some(0o600)));
    }
}
