//! The places that a client reads hooks from, as data: those of every scope, and those that it
//! shares with other programs.

use super::plan::{At, Place};
use crate::client::Client;

/// Places that hooks are read from.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The file, or the folder with the files.
    pub at: At,
    /// Which files are read.
    pub which: Which,
    /// What they look like.
    pub form: Form,
}

/// Which files of a source are read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Which {
    /// The file itself.
    Itself,
    /// Every file of the folder with one of these endings.
    Endings(&'static [&'static str]),
    /// This file in every folder of the folder.
    Beneath(&'static str),
    /// Every file of the folder that is named after an event, with or without an ending.
    Events,
}

/// What a file with hooks looks like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// JSON or TOML: lists of hooks below this key.
    Below(&'static str),
    /// JSON: lists of hooks, with nothing above them.
    Top,
    /// JSON: a list of plugins below this key, each of which may hold hooks.
    Listed(&'static str),
    /// The file is one hook, or one plugin.
    Whole,
}

const HOOKS: Form = Form::Below("hooks");

impl Source {
    /// A file with hooks.
    pub const fn file(at: At) -> Self {
        Self {
            at,
            which: Which::Itself,
            form: HOOKS,
        }
    }

    /// The same in another form.
    pub const fn formed(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// A folder of JSON files with hooks.
    pub const fn folder(at: At) -> Self {
        Self {
            at,
            which: Which::Endings(&["json"]),
            form: HOOKS,
        }
    }

    /// A folder of plugins that have their hooks in a file.
    pub const fn plugins(at: At) -> Self {
        Self {
            at,
            which: Which::Beneath("hooks/hooks.json"),
            form: HOOKS,
        }
    }

    /// A folder of scripts with one of these endings.
    pub const fn scripts(at: At, endings: &'static [&'static str]) -> Self {
        Self {
            at,
            which: Which::Endings(endings),
            form: Form::Whole,
        }
    }

    /// A folder of programs that are named after events.
    pub const fn events(at: At) -> Self {
        Self {
            at,
            which: Which::Events,
            form: Form::Whole,
        }
    }

    /// The folder whose names have to be known, where there is one.
    pub fn listed(&self) -> Option<Place> {
        match self.which {
            Which::Itself => None,
            Which::Endings(_) | Which::Beneath(_) | Which::Events => Some(self.at.place()),
        }
    }

    /// The file that is read for a name in the folder.
    pub fn inside(&self, client: Client, name: &str) -> Option<Place> {
        let path = self.at.path;
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let path = match self.which {
            Which::Endings(endings) if endings.contains(&ending) => format!("{path}/{name}"),
            Which::Events if client.event(stem).is_some() => format!("{path}/{name}"),
            Which::Beneath(file) => format!("{path}/{name}/{file}"),
            Which::Itself | Which::Endings(_) | Which::Events => return None,
        };
        Some(Place::new(self.at.base, path))
    }

    /// Whether a file is one of those that are read.
    pub(crate) fn covers(&self, client: Client, place: &Place) -> bool {
        if self.which == Which::Itself {
            return *place == self.at.place();
        }
        let rest = place.path.strip_prefix(self.at.path);
        let name = rest
            .and_then(|rest| rest.strip_prefix('/'))
            .and_then(|rest| rest.split('/').next());
        name.and_then(|name| self.inside(client, name)).as_ref() == Some(place)
    }
}
