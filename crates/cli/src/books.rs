//! Reads what the judge reads by: the user's policy and the workspace's files.

use std::path::{Path, PathBuf};

use tagout_gate::Text;
use tagout_policy::catalogue::Catalogue;
use tagout_policy::intents::{self, IgnoreFile, IntentSet};
use tagout_policy::judge::Books;
use tagout_policy::law::{self, Law, Layer, Source};
use tagout_policy::problem::{Position, Problem};

use crate::args;
use crate::failure::Failure;
use crate::site;

/// Where the intents are declared.
pub(crate) const INTENTS: &str = ".orchestration/active_intents.yaml";
pub(crate) const POLICIES: [&str; 2] = [
    ".orchestration/hook_policy.yaml",
    ".orchestration/constraints.sidecar.yaml",
];
pub(crate) const IGNORES: [&str; 2] = [".intentignore", ".orchestration/.intentignore"];
const USER_POLICY: &str = "policy.yaml";

/// The books of one workspace, with everything that is wrong with its files.
#[derive(Debug)]
pub(crate) struct Shelf {
    /// What to judge by. Where a file can't be understood, its part is the built-in one.
    pub(crate) books: Books,
    /// What can't be understood. Any of it leaves only the built-in readers.
    pub(crate) problems: Vec<Problem>,
    /// What was understood but should be looked at.
    pub(crate) warnings: Vec<Problem>,
    /// The files that were there.
    pub(crate) read: Vec<String>,
}

/// Reads the books of a workspace, or the built-in ones where there is none.
pub(crate) fn open(root: Option<&Path>) -> Result<Shelf, Failure> {
    let catalogue = Catalogue::built_in().map_err(|problems| Failure::problems(&problems))?;
    let mut reader = Reader::default();
    let user = reader.user_layer();
    let repository = root.map(|root| reader.policies(root)).unwrap_or_default();
    let intents = root.map(|root| reader.intents(root)).unwrap_or_default();
    let ignore = root.map(|root| reader.ignores(root)).unwrap_or_default();
    let law = reader.keep(
        Law::assemble(Layer::built_in(), user, repository),
        Law::built_in,
    );
    let (books, refused) = Books::new(catalogue, law, intents, ignore);
    reader.problems.extend(refused);
    let Reader {
        problems,
        warnings,
        read,
    } = reader;
    Ok(Shelf {
        books,
        problems,
        warnings,
        read,
    })
}

/// The person's own policy, which caps every repository's, as it is written.
pub(crate) fn user_text() -> Result<Option<Text>, Failure> {
    user_text_in(args::config_dir().as_deref())
}

/// The same from a folder that is known without the environment.
pub(crate) fn user_text_in(folder: Option<&Path>) -> Result<Option<Text>, Failure> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    let text = site::read_sidecar(folder, USER_POLICY).map_err(|one| Failure::problems(&[one]))?;
    Ok(text.map(|text| Text {
        name: folder.join(USER_POLICY).display().to_string(),
        text,
    }))
}

/// What it says. One that can't be understood ends here.
pub(crate) fn user_layer(text: Option<&Text>) -> Result<Option<Layer>, Failure> {
    let read = text.map(|one| law::read(Source::user(one.name.clone()), &one.text));
    let read = read.transpose();
    let reading = read.map_err(|problems| Failure::problems(&problems))?;
    Ok(reading.map(|reading| reading.layer))
}

#[derive(Debug, Default)]
struct Reader {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    read: Vec<String>,
}

impl Reader {
    /// The person's own policy. One that can't be understood is a problem like any other: it caps
    /// what every repository may do, so it must never be skipped.
    fn user_layer(&mut self) -> Option<Layer> {
        let folder: PathBuf = args::config_dir()?;
        self.user_layer_in(&folder)
    }

    fn user_layer_in(&mut self, folder: &Path) -> Option<Layer> {
        let shown = folder.join(USER_POLICY).display().to_string();
        let text = self.text(folder, USER_POLICY)?;
        let read = law::read(Source::user(shown), &text);
        let reading = self.keep(read.map(Some), || None)?;
        self.warnings.extend(reading.warnings);
        Some(reading.layer)
    }

    fn policies(&mut self, root: &Path) -> Vec<Layer> {
        let mut layers = Vec::new();
        for name in POLICIES {
            let Some(text) = self.text(root, name) else {
                continue;
            };
            let read = law::read(Source::repository(name), &text);
            if let Some(reading) = self.keep(read.map(Some), || None) {
                self.warnings.extend(reading.warnings);
                layers.push(reading.layer);
            }
        }
        layers
    }

    fn intents(&mut self, root: &Path) -> IntentSet {
        let Some(text) = self.text(root, INTENTS) else {
            return IntentSet::default();
        };
        match self.keep(intents::read(INTENTS, &text).map(Some), || None) {
            None => IntentSet::default(),
            Some(file) => {
                self.warnings.extend(file.warnings.clone());
                file.into_set()
            }
        }
    }

    fn ignores(&mut self, root: &Path) -> IgnoreFile {
        let mut merged = IgnoreFile::default();
        for name in IGNORES {
            let Some(text) = self.text(root, name) else {
                continue;
            };
            let file = self.keep(IgnoreFile::read(name, &text), IgnoreFile::default);
            self.warnings.extend(file.warnings().iter().cloned());
            merged = merged.merge(file);
        }
        merged
    }

    fn text(&mut self, folder: &Path, name: &str) -> Option<String> {
        match site::read_sidecar(folder, name) {
            Ok(text) => {
                if text.is_some() {
                    self.read.push(name.to_owned());
                }
                text
            }
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    /// The value, or what stands in for it while its problems are kept.
    fn keep<T>(&mut self, read: Result<T, Vec<Problem>>, instead: impl FnOnce() -> T) -> T {
        read.unwrap_or_else(|problems| {
            self.problems.extend(problems);
            instead()
        })
    }
}

/// A problem that concerns a whole file.
pub(crate) fn whole_file(file: &str, message: String) -> Problem {
    Problem {
        file: file.to_owned(),
        at: Position { line: 1, column: 1 },
        message,
        hint: None,
    }
}
