//! Where a repository stands: its head and its branches.

use std::path::Path;

use tagout_vocab::limits::{
    GIT_PACKED_REFS_BYTES_MAX, GIT_REF_DEPTH_MAX, GIT_SMALL_BYTES_MAX, GIT_TIPS_MAX,
};

use super::{Oid, Repository, text};

fn resolved(folder: &Path, name: &str) -> Option<Oid> {
    if let Some(id) = text(&folder.join(name), GIT_SMALL_BYTES_MAX) {
        return Oid::parse(id.trim_end());
    }
    let packed = text(&folder.join("packed-refs"), GIT_PACKED_REFS_BYTES_MAX)?;
    let found = packed.lines().find_map(|line| {
        let (id, known) = line.split_once(' ')?;
        (known == name).then_some(id)
    });
    found.and_then(Oid::parse)
}

impl Repository {
    /// The commit that is checked out, if there is one.
    pub(crate) fn head(&self) -> Option<Oid> {
        let head = text(&self.folder.join("HEAD"), GIT_SMALL_BYTES_MAX)?;
        let Some(name) = head.trim_end().strip_prefix("ref: ") else {
            return Oid::parse(head.trim_end());
        };
        let is_plain = name.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if !is_plain {
            return None;
        }
        resolved(&self.folder, name).or_else(|| resolved(&self.common, name))
    }

    /// Where it stands, as one line that is another after each commit, switch or rewrite.
    pub(crate) fn standing(&self) -> String {
        let head = text(&self.folder.join("HEAD"), GIT_SMALL_BYTES_MAX).unwrap_or_default();
        let id = self.head().map(|id| id.to_string()).unwrap_or_default();
        // Who went away, committed and came back stands where he stood, and left a note of it.
        let noted = std::fs::metadata(self.folder.join("logs/HEAD")).map_or(0, |one| one.len());
        format!("{} {id} {noted}", head.trim_end())
    }

    /// The head and the tips of the branches of this repository, each once.
    pub(super) fn tips(&self) -> Vec<Oid> {
        let mut tips: Vec<Oid> = self.head().into_iter().collect();
        self.beneath("refs/heads/", &mut tips);
        tips
    }

    /// What the other repositories had when they were last heard of.
    pub(super) fn remote_tips(&self) -> Vec<Oid> {
        let mut tips = Vec::new();
        self.beneath("refs/remotes/", &mut tips);
        tips
    }

    fn beneath(&self, start: &str, tips: &mut Vec<Oid>) {
        let folder = self.common.join(start);
        loose(&folder, GIT_REF_DEPTH_MAX, tips);
        let packed =
            text(&self.common.join("packed-refs"), GIT_PACKED_REFS_BYTES_MAX).unwrap_or_default();
        for line in packed.lines() {
            if let Some((id, name)) = line.split_once(' ')
                && let Some(name) = name.strip_prefix(start)
                && !folder.join(name).exists()
            {
                add(tips, Oid::parse(id));
            }
        }
    }
}

fn add(tips: &mut Vec<Oid>, tip: Option<Oid>) {
    if let Some(tip) = tip
        && tips.len() < GIT_TIPS_MAX
        && !tips.contains(&tip)
    {
        tips.push(tip);
    }
}

fn loose(folder: &Path, depth: usize, tips: &mut Vec<Oid>) {
    let Ok(found) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in found.flatten().take(GIT_TIPS_MAX) {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth > 0 && tips.len() < GIT_TIPS_MAX {
            loose(&entry.path(), depth - 1, tips);
        } else if !is_folder {
            let id = text(&entry.path(), GIT_SMALL_BYTES_MAX);
            add(tips, id.and_then(|id| Oid::parse(id.trim_end())));
        }
    }
}
