//! Where the files of clients lie: in the workspace, in the home or where a variable moves it, in
//! the system.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tagout_agents::Client;
use tagout_agents::install::Texts;
use tagout_agents::install::plan::{Base, Moved, Place};
use tagout_vocab::limits::SIDECAR_BYTES_MAX;
use tagout_workspace::files;

use crate::failure::Failure;

/// A person's home, and the folders of it that variables move.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Homes {
    /// The home.
    pub(crate) home: Option<PathBuf>,
    /// Folders by the variable that names them.
    #[serde(default)]
    pub(crate) moved: BTreeMap<String, PathBuf>,
}

/// The variables that move folders of clients.
pub(crate) fn variables() -> impl Iterator<Item = Moved> {
    let all = Client::ALL.iter();
    all.flat_map(|client| client.profile().install.moved.iter().copied())
}

impl Homes {
    /// Where a place lies.
    pub(crate) fn path_of(&self, place: &Place, root: &Path) -> Option<PathBuf> {
        match place.base {
            Base::Workspace => Some(root.join(&place.path)),
            Base::System => Some(Path::new("/").join(&place.path)),
            Base::Home => self.at(&place.path),
        }
    }

    /// Where a path of the home lies.
    pub(crate) fn at(&self, path: &str) -> Option<PathBuf> {
        let moved = variables().find_map(|moved| {
            let folder = self.moved.get(moved.variable)?;
            Some(folder.join(moved.rest(path)?))
        });
        moved.or_else(|| Some(self.home.as_ref()?.join(path)))
    }

    /// The texts of files. One that is there and can't be read has a text that nothing understands.
    pub(crate) fn texts(&self, places: &[Place], root: &Path) -> Texts {
        let text = |place: &Place| {
            let path = self.path_of(place, root)?;
            if !path.exists() {
                return None;
            }
            let text = read(&path).ok().flatten();
            Some((place.clone(), text.unwrap_or_else(|| "\0".to_owned())))
        };
        places.iter().filter_map(text).collect()
    }
}

/// A configuration file's text, if it is there.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Failure> {
    let most = u64::try_from(SIDECAR_BYTES_MAX).unwrap_or(u64::MAX);
    if !path.parent().is_some_and(Path::is_dir) {
        return Ok(None);
    }
    let Some(bytes) = files::read(path, most).map_err(Failure::failed)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| {
        Failure::invalid(format!("`{}` is not UTF-8 text", path.display()))
            .hint("mend it, or take it away and try again")
    })
}
