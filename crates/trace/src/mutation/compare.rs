//! Two texts side by side, from the cheapest likeness to the dearest.

use std::collections::{HashMap, HashSet};

use tagout_vocab::limits::REASON_NAMES_MAX;

use super::Reason;
use super::canon::{Canon, Writer};
use super::inline::inline;
use super::parsed::Parsed;
use super::resolve::resolve;
use super::scheme::{self, Scheme};
use super::surface::{self, Names};
use crate::nodes::Definitions;
use crate::ranges;
use crate::shape::Shape;
use crate::syntax::{NoSyntax, Syntax};

/// Why one file's change has its class.
pub(super) fn file(parsed: &Parsed<'_>) -> Reason {
    match (parsed.sides.before, parsed.sides.after) {
        (None, None) => Reason::Unchanged,
        (None, Some(_)) => Reason::Created,
        (Some(_), None) => Reason::Deleted,
        (Some(before), Some(after)) if before == after => Reason::Unchanged,
        (Some(_), Some(_)) => match (parsed.old(), parsed.new_text()) {
            (Ok(old), Ok(new)) => texts(old, new),
            (Err(why), _) | (_, Err(why)) => unread(why),
        },
    }
}

const fn unread(why: NoSyntax) -> Reason {
    match why {
        NoSyntax::NoGrammar => Reason::NoGrammar,
        NoSyntax::TooLarge | NoSyntax::TooSlow => Reason::TooLarge,
    }
}

fn texts(old: &Syntax<'_>, new: &Syntax<'_>) -> Reason {
    if old.grammar.name != new.grammar.name {
        return Reason::Behaviour {
            symbols: Vec::new(),
        };
    }
    if !old.is_clean() || !new.is_clean() {
        return Reason::NoParse;
    }
    let before = Shape::of(old, old.root());
    let after = Shape::of(new, new.root());
    if before == after {
        return Reason::Layout;
    }
    let language = old.grammar.name;
    let mut before = Side::new(language, before);
    let mut after = Side::new(language, after);
    let nothing = Names::default();
    if before.canon(&nothing) == after.canon(&nothing) {
        return Reason::LocalNames;
    }
    // Private names that only one of the texts knows.
    let gone = before.private.without(&after.mentioned);
    let came = after.private.without(&before.mentioned);
    if gone.is_empty() && came.is_empty() {
        return changed(old, new);
    }
    let open = gone.and(&came);
    if let Some(names) = renamed(&before.canon(&open), &after.canon(&open)) {
        return Reason::PrivateNames { names };
    }
    let put_back = [before.inline(&gone), after.inline(&came)];
    if put_back.contains(&true) && renamed(&before.canon(&open), &after.canon(&open)).is_some() {
        return Reason::Extraction;
    }
    changed(old, new)
}

/// One of the texts, resolved.
struct Side<'k> {
    language: &'k str,
    scheme: &'static Scheme,
    root: Shape<'k>,
    mentioned: Names,
    private: Names,
}

impl<'k> Side<'k> {
    fn new(language: &'k str, mut root: Shape<'k>) -> Self {
        let scheme = scheme::of(language);
        resolve(scheme, &mut root);
        let mut mentioned = Names::default();
        surface::mentioned(&root, &mut mentioned);
        let private = surface::private(language, &root);
        Self {
            language,
            scheme,
            root,
            mentioned,
            private,
        }
    }

    fn inline(&mut self, names: &Names) -> bool {
        inline(&mut self.root, names)
    }

    fn canon(&self, open: &Names) -> Canon {
        self.with_writer(open, |writer| writer.file(&self.root))
    }

    fn with_writer<T>(&self, open: &Names, act: impl FnOnce(&Writer<'_>) -> T) -> T {
        let mut mentioned = Names::default();
        for child in &self.root.children {
            if !self.scheme.imports.contains(&child.kind) {
                surface::mentioned(child, &mut mentioned);
            }
        }
        act(&Writer {
            scheme: self.scheme,
            language: self.language,
            open,
            mentioned: &mentioned,
        })
    }
}

/// The renaming that makes one text the other, if there is one.
fn renamed(before: &Canon, after: &Canon) -> Option<Vec<(String, String)>> {
    if before.text != after.text || before.open.len() != after.open.len() {
        return None;
    }
    let mut there: HashMap<&str, &str> = HashMap::new();
    let mut back: HashMap<&str, &str> = HashMap::new();
    let mut names = Vec::new();
    for (old, new) in before.open.iter().zip(&after.open) {
        let known = there.insert(old, new);
        let taken = back.insert(new, old);
        if known.is_some_and(|known| known != new) || taken.is_some_and(|taken| taken != old) {
            return None;
        }
        if known.is_none() && names.len() < REASON_NAMES_MAX {
            names.push((old.clone(), new.clone()));
        }
    }
    Some(names)
}

/// What became of the definitions.
fn changed(old: &Syntax<'_>, new: &Syntax<'_>) -> Reason {
    let (before, after) = (Definitions::of(old), Definitions::of(new));
    let symbols = |all: &Definitions<'_, '_>| -> HashSet<String> {
        all.iter().map(|one| one.symbol.clone()).collect()
    };
    let (old_symbols, new_symbols) = (symbols(&before), symbols(&after));
    let listed = |names: HashSet<String>| -> Vec<String> {
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort();
        names.truncate(REASON_NAMES_MAX);
        names
    };
    let added = listed(&new_symbols - &old_symbols);
    let removed = listed(&old_symbols - &new_symbols);
    if !added.is_empty() || !removed.is_empty() {
        return Reason::Surface { added, removed };
    }
    let hunks = ranges::diff(old.text(), new.text());
    let touched = hunks.iter().flat_map(|hunk| after.touched(&hunk.after));
    // A touched definition may only look different.
    let symbols = touched
        .filter(|node| before.hash(&node.symbol) != Some(node.node_hash))
        .map(|node| node.symbol)
        .take(REASON_NAMES_MAX * REASON_NAMES_MAX);
    Reason::Behaviour {
        symbols: listed(symbols.collect()),
    }
}

/// Why a change of several files has its class, from those of each of them.
pub(super) fn together(reasons: &[Reason], all: &[Parsed<'_>]) -> Reason {
    let is_new = |reason: &&Reason| reason.class() == tagout_vocab::MutationClass::IntentEvolution;
    let Some(worst) = reasons.iter().find(is_new) else {
        let told = reasons.iter().find(|one| **one != Reason::Unchanged);
        return told.cloned().unwrap_or(Reason::Unchanged);
    };
    if is_moved(all).is_some() {
        return Reason::Moved;
    }
    worst.clone()
}

/// Whether every definition that left a file came to another, and nothing else changed.
fn is_moved(all: &[Parsed<'_>]) -> Option<()> {
    let mut balance: HashMap<String, i64> = HashMap::new();
    for parsed in all {
        let (removed, old_rest) = definitions(parsed.old().ok()?)?;
        let (added, new_rest) = definitions(parsed.new_text().ok()?)?;
        let is_whole = parsed.sides.before.is_some() && parsed.sides.after.is_some();
        let is_same = old_rest == new_rest;
        let is_bare = old_rest.is_empty() && new_rest.is_empty();
        if !(is_bare || is_whole && is_same) {
            return None;
        }
        for one in removed {
            *balance.entry(one).or_default() -= 1;
        }
        for one in added {
            *balance.entry(one).or_default() += 1;
        }
    }
    balance.values().all(|left| *left == 0).then_some(())
}

/// A text's definitions and the rest of it.
fn definitions(syntax: &Syntax<'_>) -> Option<(Vec<String>, String)> {
    if !syntax.is_clean() {
        return None;
    }
    let mut root = Shape::of(syntax, syntax.root());
    // What makes a moved definition reachable again is part of the move.
    root.children.retain(|child| {
        child.kind != "package_clause"
            && !(child.kind == "mod_item" && child.child("body").is_none())
    });
    strip_restricted(&mut root);
    let side = Side::new(syntax.grammar.name, root);
    let nothing = Names::default();
    let (parts, rest) = side.with_writer(&nothing, |writer| writer.parts(&side.root));
    let language = side.language;
    let named = |part: Canon| format!("{language} {}", part.text);
    Some((parts.into_iter().map(named).collect(), rest.text))
}

fn strip_restricted(shape: &mut Shape<'_>) {
    shape
        .children
        .retain(|child| child.kind != "visibility_modifier" || child.children.len() <= 1);
    for child in &mut shape.children {
        strip_restricted(child);
    }
}
