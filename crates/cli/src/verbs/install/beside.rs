//! The texts in which hooks of others may stand: every place that a client reads them from.

use std::io::ErrorKind;
use std::path::Path;

use tagout_agents::Client;
use tagout_agents::install::Texts;
use tagout_vocab::limits::HOOK_FOLDER_NAMES_MAX;

use super::Wanted;

impl Wanted {
    /// The texts of a client's sources. A folder whose names can't be had has a text itself.
    pub(super) fn sources(&self, client: Client) -> Texts {
        let mut places = Vec::new();
        let mut unlisted = Vec::new();
        for source in client.profile().install.sources {
            let Some(folder) = source.listed() else {
                places.push(source.at.place());
                continue;
            };
            let path = self.homes.path_of(&folder, &self.places.root);
            match path.map_or(Some(Vec::new()), |path| names(&path)) {
                Some(names) => {
                    places.extend(names.iter().filter_map(|name| source.inside(client, name)));
                }
                None => unlisted.push(folder),
            }
        }
        let mut texts = self.homes.texts(&places, &self.places.root);
        texts.extend(unlisted.into_iter().map(|folder| (folder, String::new())));
        texts
    }
}

/// The names in a folder, none where there is no such folder.
fn names(folder: &Path) -> Option<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absent(error.kind()) => return Some(Vec::new()),
        Err(_) => return None,
    };
    let mut names = Vec::new();
    for entry in entries {
        // A file whose name is no text can't be handed on.
        names.push(entry.ok()?.file_name().into_string().ok()?);
        if names.len() > HOOK_FOLDER_NAMES_MAX {
            return None;
        }
    }
    Some(names)
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}
