//! Whether one pattern surely owns everything that another owns.

use super::Pattern;
use super::glob::{has_wildcard, segments};

impl Pattern {
    /// Whether every path that `other` matches is matched by this one too.
    ///
    /// «Yes» is proven; «no» only means that the texts do not show it. That is the safe side for
    /// asking whether something got narrower. The `!` of either does not count here.
    pub fn covers(&self, other: &Self) -> bool {
        if self.body() == other.body() || segments(self.body()).all(|segment| segment == "**") {
            return true;
        }
        let Some(folder) = Folder::of(self.body()) else {
            return false;
        };
        // Up to the last slash before a brace all alternatives are alike.
        let fixed = other
            .body()
            .split_once('{')
            .map_or(other.body(), |(before, _)| {
                before.rsplit_once('/').map_or("", |(folders, _)| folders)
            });
        let mut theirs = segments(fixed);
        for ours in segments(folder.path) {
            match theirs.next() {
                Some(segment) if !has_wildcard(segment) && literal(segment) == literal(ours) => {}
                Some(_) | None => return false,
            }
        }
        folder.itself || theirs.next().is_some()
    }
}

/// A pattern that means a folder's subtree.
struct Folder<'a> {
    path: &'a str,
    /// Whether the folder itself belongs to it.
    itself: bool,
}

impl<'a> Folder<'a> {
    fn of(body: &'a str) -> Option<Self> {
        let (path, itself) = body
            .strip_suffix("/**")
            .map_or((body, true), |path| (path, false));
        let is_plain = !has_wildcard(path) && !path.contains(['{', '}']);
        (is_plain && segments(path).next().is_some()).then_some(Self { path, itself })
    }
}

/// The segment without its escapes.
fn literal(segment: &str) -> String {
    let mut characters = segment.chars();
    std::iter::from_fn(|| match characters.next()? {
        '\\' => characters.next(),
        other => Some(other),
    })
    .collect()
}
