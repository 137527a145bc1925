//! The class of a change, computed from the syntax trees: the same behaviour in another form, or
//! new behaviour.
//!
//! A change is a refactoring when what others can see keeps its names and the words that carry
//! behaviour stay: layout, comments, names of locals and private definitions, the order of
//! definitions, extraction. Whatever cannot be shown to be one counts as new behaviour.

mod canon;
mod compare;
mod helper;
mod imports;
mod inline;
mod parsed;
mod resolve;
mod scheme;
mod surface;

use std::fmt;

use serde::{Deserialize, Serialize};
use tagout_vocab::MutationClass;

pub(crate) use parsed::Parsed;

/// A file before and after.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// Its path after the change, or before it if it is gone.
    pub path: &'a str,
    /// Its path before, where that was another one.
    pub moved_from: Option<&'a str>,
    /// Its bytes before; `None` if it was not there.
    pub before: Option<&'a [u8]>,
    /// Its bytes after; `None` if it is gone.
    pub after: Option<&'a [u8]>,
}

/// The class of a change, and why.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Computed {
    /// The class.
    pub class: MutationClass,
    /// Why.
    pub reason: Reason,
}

/// Why a change has its class.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// The bytes are the same.
    Unchanged,
    /// Only layout, comments or documentation changed.
    Layout,
    /// Only names of locals, or the order of definitions or imports changed.
    LocalNames,
    /// Private names changed, everywhere and alike.
    PrivateNames {
        /// Old and new names.
        names: Vec<(String, String)>,
    },
    /// Private definitions were taken out of, or put back into, what uses them.
    Extraction,
    /// Definitions moved between files.
    Moved,
    /// The file is new.
    Created,
    /// The file is gone.
    Deleted,
    /// Names that others can see came or went.
    Surface {
        /// New ones.
        added: Vec<String>,
        /// Missing ones.
        removed: Vec<String>,
    },
    /// Words that carry behaviour changed.
    Behaviour {
        /// The definitions they are in.
        symbols: Vec<String>,
    },
    /// There is no grammar for this file, so that nothing can be shown.
    NoGrammar,
    /// The grammar could not read one of the texts.
    NoParse,
    /// The text is too large to be compared.
    TooLarge,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| names.join("`, `");
        match self {
            Self::Unchanged => formatter.write_str("the bytes are the same"),
            Self::Layout => formatter.write_str("only layout or comments changed"),
            Self::LocalNames => {
                formatter.write_str("only names of locals, or the order of definitions, changed")
            }
            Self::PrivateNames { names } => {
                formatter.write_str("private names changed everywhere and alike:")?;
                names
                    .iter()
                    .try_for_each(|(old, new)| write!(formatter, " `{old}` to `{new}`"))
            }
            Self::Extraction => {
                formatter.write_str("private definitions were extracted or inlined")
            }
            Self::Moved => formatter.write_str("definitions moved between files"),
            Self::Created => formatter.write_str("the file is new"),
            Self::Deleted => formatter.write_str("the file is gone"),
            Self::Surface { added, removed } if removed.is_empty() => {
                write!(formatter, "new names can be seen: `{}`", list(added))
            }
            Self::Surface { added, removed } if added.is_empty() => {
                write!(
                    formatter,
                    "names can no longer be seen: `{}`",
                    list(removed)
                )
            }
            Self::Surface { added, removed } => write!(
                formatter,
                "other names can be seen: `{}` instead of `{}`",
                list(added),
                list(removed)
            ),
            Self::Behaviour { symbols } if symbols.is_empty() => {
                formatter.write_str("words that carry behaviour changed")
            }
            Self::Behaviour { symbols } => write!(
                formatter,
                "words that carry behaviour changed in `{}`",
                list(symbols)
            ),
            Self::NoGrammar => formatter.write_str("no grammar for this file"),
            Self::NoParse => formatter.write_str("the grammar could not read the file"),
            Self::TooLarge => formatter.write_str("the file is too large to be compared"),
        }
    }
}

impl Reason {
    /// The class that this reason gives a change.
    pub const fn class(&self) -> MutationClass {
        match self {
            Self::Unchanged
            | Self::Layout
            | Self::LocalNames
            | Self::PrivateNames { .. }
            | Self::Extraction
            | Self::Moved => MutationClass::AstRefactor,
            Self::Created
            | Self::Deleted
            | Self::Surface { .. }
            | Self::Behaviour { .. }
            | Self::NoGrammar
            | Self::NoParse
            | Self::TooLarge => MutationClass::IntentEvolution,
        }
    }
}

impl From<Reason> for Computed {
    fn from(reason: Reason) -> Self {
        Self {
            class: reason.class(),
            reason,
        }
    }
}

/// The class of one file's change.
pub fn classify(sides: Sides<'_>) -> Computed {
    compare::file(&Parsed::new(sides)).into()
}

/// Why one file's change has its class.
pub(crate) fn reason(parsed: &Parsed<'_>) -> Reason {
    compare::file(parsed)
}

/// The class of a change to several files at once, from the reasons of each: also a refactoring if
/// all that left some files came to others.
pub(crate) fn together(reasons: &[Reason], files: &[Parsed<'_>]) -> Computed {
    compare::together(reasons, files).into()
}

/// The class of a change to several files at once: also a refactoring if all that left some files
/// came to others.
pub fn classify_all(files: &[Sides<'_>]) -> Computed {
    let files: Vec<Parsed<'_>> = files.iter().map(|sides| Parsed::new(*sides)).collect();
    let reasons: Vec<Reason> = files.iter().map(reason).collect();
    together(&reasons, &files)
}

#[cfg(test)]
mod tests;
