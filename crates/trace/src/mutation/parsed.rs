//! Both sides of a file, each parsed at most once, and only if someone asks.

use std::cell::OnceCell;

use super::Sides;
use crate::syntax::{NoSyntax, Syntax};

type Tree<'t> = OnceCell<Result<Syntax<'t>, NoSyntax>>;

/// A file before and after, with the trees of its texts.
#[derive(Debug)]
pub(crate) struct Parsed<'t> {
    pub(crate) sides: Sides<'t>,
    old: Tree<'t>,
    new: Tree<'t>,
}

impl<'t> Parsed<'t> {
    pub(crate) const fn new(sides: Sides<'t>) -> Self {
        Self {
            sides,
            old: OnceCell::new(),
            new: OnceCell::new(),
        }
    }

    /// The old text's tree; that of an empty text if the file was not there.
    pub(crate) fn old(&self) -> Result<&Syntax<'t>, NoSyntax> {
        let path = self.sides.moved_from.unwrap_or(self.sides.path);
        let text = self.sides.before.unwrap_or_default();
        let tree = self.old.get_or_init(|| Syntax::parse(path, text));
        tree.as_ref().map_err(|why| *why)
    }

    /// The new text's tree; that of an empty text if the file is gone.
    pub(crate) fn new_text(&self) -> Result<&Syntax<'t>, NoSyntax> {
        let text = self.sides.after.unwrap_or_default();
        let tree = self
            .new
            .get_or_init(|| Syntax::parse(self.sides.path, text));
        tree.as_ref().map_err(|why| *why)
    }

    /// How many bytes of source the trees that are held stand for.
    pub(crate) fn held_bytes(&self) -> usize {
        let held = |tree: &Tree<'t>| {
            let syntax = tree.get().and_then(|tree| tree.as_ref().ok());
            syntax.map_or(0, |syntax| syntax.text().len())
        };
        held(&self.old).saturating_add(held(&self.new))
    }

    /// Lets the trees go; they are made again if someone asks.
    pub(crate) fn forget(&mut self) {
        self.old.take();
        self.new.take();
    }
}
