//! Whether one pattern surely owns everything that another owns.

use std::borrow::Cow;

use super::glob::{has_wildcard, segments};
use super::{Pattern, Reading, Subject, fold};

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
        let mut theirs = segments(before_braces(other.body()));
        for ours in segments(folder.path) {
            match theirs.next() {
                Some(segment) if !has_wildcard(segment) && literal(segment) == literal(ours) => {}
                Some(_) | None => return false,
            }
        }
        folder.itself || theirs.next().is_some()
    }
}

impl Pattern {
    /// Whether everything that it matches lies beneath a folder, because the pattern starts with
    /// the folder's names as they are and goes on. The root is no such folder.
    pub(super) fn lies_beneath(&self, folder: &Subject<'_>) -> bool {
        let body = if folder.is_folded() {
            Cow::Owned(fold::pattern(self.body(), Reading::Granting))
        } else {
            Cow::Borrowed(self.body())
        };
        let mut ours = segments(before_braces(&body));
        let names = folder.text(Reading::Granting).split('/');
        let mut names = names.filter(|name| !name.is_empty()).peekable();
        let starts = names.peek().is_some()
            && names.all(|name| {
                ours.next()
                    .is_some_and(|segment| !has_wildcard(segment) && literal(segment) == name)
            });
        // Braces that were cut off are more of the pattern too.
        starts && (ours.next().is_some() || body.contains('{'))
    }
}

/// The folders before the first brace, in which all alternatives are alike.
fn before_braces(body: &str) -> &str {
    body.split_once('{').map_or(body, |(before, _)| {
        before.rsplit_once('/').map_or("", |(folders, _)| folders)
    })
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
