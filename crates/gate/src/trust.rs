//! The pinned law: what a person accepted, what the tree proposes, and what holds in between.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tagout_policy::catalogue::Catalogue;
use tagout_policy::intents::{self, IgnoreFile, IntentSet};
use tagout_policy::judge::{Books, Standing};
use tagout_policy::law::compare::{
    compare_ignore, compare_intents, compare_layers, effective_intents,
};
use tagout_policy::law::{self, Change, Law, Layer, Source};
use tagout_policy::problem::Problem;
use tagout_vocab::limits::RECORD_BYTES_MAX;
use tagout_vocab::{Digest, Intent, IntentId, Timestamp};
use tagout_workspace::files;

use crate::error::GateError;
use crate::site::Site;
use crate::store::Store;

/// A file's name and text.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// The name as people know it.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// The files of a workspace that decide what agents may do, as they stand in the tree.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Sources {
    /// Policy files.
    pub policies: Vec<Text>,
    /// The intents file.
    pub intents: Option<Text>,
    /// Ignore files.
    pub ignores: Vec<Text>,
}

/// What a person accepted.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Accepted {
    /// The files.
    pub sources: Sources,
    /// Their digest.
    pub digest: Digest,
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// What calls are judged by, and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shelf {
    /// The books.
    pub books: Books,
    /// What can't be understood. Any of it leaves only the built-in readers.
    pub broken: Vec<Problem>,
    /// Whether a person accepted it.
    pub standing: Standing,
    /// What the tree would change, if a person accepted it.
    pub waiting: Vec<Change>,
    /// The version of the law: approvals are bound to it.
    pub version: Digest,
    /// Scopes of the tree that paths must lie in too, while it waits.
    pub also_within: BTreeMap<IntentId, Vec<String>>,
}

impl Sources {
    /// Every file with what kind it is.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&'static str, &Text)> {
        let policies = self.policies.iter().map(|one| ("policy", one));
        let intents = self.intents.iter().map(|one| ("intents", one));
        let ignores = self.ignores.iter().map(|one| ("ignore", one));
        policies.chain(intents).chain(ignores)
    }

    /// What all of it would change where nothing holds yet.
    pub fn changes(&self) -> Vec<Change> {
        Read::default().differences(&Read::of(self))
    }

    /// A digest of all of it.
    pub fn digest(&self) -> Digest {
        let parts = self
            .texts()
            .flat_map(|(_, one)| [one.name.as_bytes(), one.text.as_bytes()]);
        Digest::of_parts("tagout law sources v1", parts)
    }
}

/// The files of one set of sources, read.
#[derive(Debug, Default)]
struct Read {
    layers: Vec<Layer>,
    intents: Vec<Intent>,
    ignore: IgnoreFile,
    ignore_text: String,
    problems: Vec<Problem>,
}

impl Read {
    fn of(sources: &Sources) -> Self {
        let mut read = Self::default();
        for Text { name, text } in &sources.policies {
            match law::read(Source::repository(name.clone()), text) {
                Ok(reading) => read.layers.push(reading.layer),
                Err(problems) => read.problems.extend(problems),
            }
        }
        if let Some(Text { name, text }) = &sources.intents {
            match intents::read(name, text) {
                Ok(file) => read.intents = file.intents,
                Err(problems) => read.problems.extend(problems),
            }
        }
        for Text { name, text } in &sources.ignores {
            read.ignore_text.push_str(text);
            read.ignore_text.push('\n');
            match IgnoreFile::read(name, text) {
                Ok(file) => read.ignore = std::mem::take(&mut read.ignore).merge(file),
                Err(problems) => read.problems.extend(problems),
            }
        }
        read
    }

    fn differences(&self, proposed: &Self) -> Vec<Change> {
        let silent = |source: &Source| Layer::silent(source.clone());
        let mut changes = Vec::new();
        for new in &proposed.layers {
            let same = |old: &&Layer| old.source.file == new.source.file;
            let old = self.layers.iter().find(same).cloned();
            let old = old.unwrap_or_else(|| silent(&new.source));
            changes.extend(compare_layers(&old, new));
        }
        for old in &self.layers {
            if !proposed
                .layers
                .iter()
                .any(|new| new.source.file == old.source.file)
            {
                changes.extend(compare_layers(old, &silent(&old.source)));
            }
        }
        changes.extend(compare_intents(&self.intents, &proposed.intents));
        changes.extend(compare_ignore(&self.ignore_text, &proposed.ignore_text));
        changes
    }
}

impl Site {
    fn law_path(&self) -> std::path::PathBuf {
        self.store.path("law", "accepted.json")
    }

    /// The record of what a person accepted, as it lies there.
    pub(crate) fn accepted_bytes(&self) -> Result<Option<Vec<u8>>, GateError> {
        Ok(files::read(&self.law_path(), RECORD_BYTES_MAX)?)
    }

    /// What a person accepted, if anything.
    pub fn accepted(&self) -> Result<Option<Accepted>, GateError> {
        let found: Option<Accepted> = Store::read(&self.law_path())?;
        // A record whose digest does not fit was not written by `accept`.
        Ok(found.filter(|one| one.sources.digest() == one.digest))
    }

    /// Stores that a person accepted these files. Files that can't be understood are refused.
    pub(crate) fn keep_accepted(
        &self,
        sources: &Sources,
        (by, at): (&str, Timestamp),
    ) -> Result<Accepted, GateError> {
        let read = Read::of(sources);
        if !read.problems.is_empty() {
            return Err(GateError::Unreadable {
                problems: read.problems,
            });
        }
        let accepted = Accepted {
            digest: sources.digest(),
            sources: sources.clone(),
            by: by.to_owned(),
            at,
        };
        Store::write(&self.law_path(), &accepted)?;
        Ok(accepted)
    }

    /// Puts the books together from the user's layer, what was accepted and what the tree holds.
    ///
    /// What the tree narrows holds at once; what it widens waits.
    pub fn shelve(
        &self,
        catalogue: Catalogue,
        user: Option<Layer>,
        tree: &Sources,
    ) -> Result<Shelf, GateError> {
        let accepted = self.accepted()?;
        let proposed = Read::of(tree);
        let mut broken = proposed.problems.clone();
        let mut also_within = BTreeMap::new();
        let (held, waiting, standing) = match &accepted {
            None => (Read::of(tree), Vec::new(), Standing::NotTrusted),
            Some(accepted) => {
                let held = Read::of(&accepted.sources);
                broken.extend(held.problems.iter().cloned());
                let waiting = held.differences(&proposed);
                (held, waiting, Standing::Accepted)
            }
        };
        let pending = accepted.as_ref().is_some_and(|one| one.sources != *tree);
        let mut law = Law::assemble(Layer::built_in(), user, held.layers).unwrap_or_else(|found| {
            broken.extend(found);
            Law::built_in()
        });
        let (mut intents, mut ignore) = (held.intents, held.ignore);
        if pending {
            law = law.with_proposal(proposed.layers);
            let standing = effective_intents(&intents, &proposed.intents);
            intents = standing.iter().map(|one| one.intent.clone()).collect();
            for one in standing {
                also_within.extend(one.also_within.map(|scope| (one.intent.id, scope)));
            }
            ignore = ignore.merge(proposed.ignore);
        }
        let intents = IntentSet::new(intents).unwrap_or_default();
        let (books, refused) = Books::new(catalogue, law, intents, ignore);
        broken.extend(refused);
        let accepted = accepted.map(|one| one.digest.to_string());
        let layers = serde_json::to_string(&books.law).unwrap_or_default();
        let parts = [
            accepted.unwrap_or_default(),
            tree.digest().to_string(),
            layers,
        ];
        let version = Digest::of_parts("tagout law v1", parts.iter().map(String::as_bytes));
        Ok(Shelf {
            books,
            broken,
            standing,
            waiting,
            version,
            also_within,
        })
    }
}
