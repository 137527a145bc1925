//! The books as an earlier process put them together from the same files, so that nothing is parsed
//! that did not change.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use tagout_policy::law::compiled::{self, Apart, CompiledError, Key};
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
    /// What was kept is a cache and never a source: whatever can't be read is made again, and be it
    /// when it is asked for. Files with problems are read anew each time, so that the problems are
    /// told as they stand.
    pub fn shelved<E: From<GateError> + 'static>(
        &self,
        build: &str,
        (own, tree): (Option<Text>, Sources),
        make: impl Fn(&Self, Option<&Text>, &Sources) -> Result<Shelf, E> + Send + Sync + 'static,
    ) -> Result<Shelf, E> {
        let sources = Arc::new(Made {
            site: self.clone(),
            build: build.to_owned(),
            own,
            tree,
            make,
        });
        let key = sources.key()?;
        let (path, programs) = (self.compiled_path(), self.programs_path());
        let knowledge = knowledge(build.to_owned(), programs.clone());
        let known = front_of(&path, &key, |file| Rest {
            file,
            path: path.clone(),
            key,
            again: {
                let sources = Arc::clone(&sources);
                Box::new(move || sources.again(&key))
            },
            mended: OnceLock::new(),
        });
        let is_known = known.is_some();
        let mut whole: Shelf = known.map_or_else(|| sources.make(), Ok)?;
        whole.books.knowledge = knowledge;
        if !is_known {
            if whole.broken.is_empty() {
                store(&path, &compiled::encode(&key, &whole));
            }
            // Whoever makes the books has time; the next process may be one that has none.
            if !programs.exists() {
                whole.books.knowledge.is_there();
            }
        }
        Ok(whole)
    }
}

/// What books are put together from, and how.
struct Made<F> {
    site: Site,
    build: String,
    own: Option<Text>,
    tree: Sources,
    make: F,
}

impl<F, E> Made<F>
where
    F: Fn(&Site, Option<&Text>, &Sources) -> Result<Shelf, E>,
{
    fn make(&self) -> Result<Shelf, E> {
        (self.make)(&self.site, self.own.as_ref(), &self.tree)
    }

    /// The books of a key once more; `None` where they are others by now, because a person accepted
    /// something else.
    fn again(&self, key: &Key) -> Option<Shelf> {
        let is_same = || self.key().is_ok_and(|now| now == *key);
        let made = is_same().then(|| self.make().ok())??;
        is_same().then_some(made)
    }
}

impl<F> Made<F> {
    fn key(&self) -> Result<Key, GateError> {
        let accepted = self.site.accepted_bytes()?;
        let named = |text: &'static str| move |bytes| (text, bytes);
        let own = self.own.as_ref().map(|one| {
            [
                ("own name", one.name.as_bytes()),
                ("own", one.text.as_bytes()),
            ]
        });
        let texts = self
            .tree
            .texts()
            .flat_map(|(kind, one)| [(kind, one.name.as_bytes()), ("text", one.text.as_bytes())]);
        let sources = own.into_iter().flatten();
        let sources = sources.chain(accepted.as_deref().map(named("accepted")));
        Ok(Key::of(&self.build, sources.chain(texts)))
    }
}

/// The knowledge of programs is the build's own, whatever the files say.
fn knowledge(build: String, path: PathBuf) -> Knowledge {
    Knowledge::later(move || {
        let fixed = Key::of(&build, []);
        // It is asked for as a whole.
        let known = files::read(&path, RECORD_BYTES_MAX).ok().flatten();
        let known = known.and_then(|bytes| compiled::decode_whole(bytes, &fixed).ok());
        known.or_else(|| {
            let parsed = Knowledge::built_in().ok()?.kept().clone();
            store(&path, &compiled::encode_whole(&fixed, &parsed));
            Some(parsed)
        })
    })
}

/// What was stored for this key. Its front is read now, and the rest when it is asked for.
fn front_of<T: DeserializeOwned, A: Apart + 'static>(
    path: &Path,
    key: &Key,
    rest: impl FnOnce(Opened) -> A,
) -> Option<T> {
    let file = Opened::plain(path, RECORD_BYTES_MAX).ok()??;
    let mut front = file.read(0..COMPILED_FRONT_BYTES.min(file.length()))?;
    let wanted = compiled::front_length(&front)?;
    if wanted > front.len() {
        front.extend(file.read(front.len()..wanted)?);
    }
    front.truncate(wanted);
    let length = file.length();
    compiled::decode_front(&Arc::new(front), key, (length, Arc::new(rest(file)))).ok()
}

/// The part of stored books that is read when it is asked for.
struct Rest {
    file: Opened,
    path: PathBuf,
    key: Key,
    again: Box<dyn Fn() -> Option<Shelf> + Send + Sync>,
    /// The books as they were stored, made once more.
    mended: OnceLock<Option<Vec<u8>>>,
}

impl Apart for Rest {
    fn fetch(&self, range: Range<usize>) -> Option<Vec<u8>> {
        match self.mended.get() {
            None => self.file.read(range),
            Some(bytes) => bytes.as_ref()?.get(range).map(<[u8]>::to_vec),
        }
    }

    /// The same sources give the same books, so that everything lies where it lay.
    fn mend(&self) {
        self.mended.get_or_init(|| {
            let bytes = compiled::encode(&self.key, &(self.again)()?);
            store(&self.path, &bytes);
            bytes.ok()
        });
    }
}

fn store(path: &Path, bytes: &Result<Vec<u8>, CompiledError>) {
    if let Ok(bytes) = bytes {
        // Without it the next process reads the files again.
        drop(files::write_note(path, bytes, Some(0o600)));
    }
}
