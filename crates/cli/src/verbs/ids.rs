//! Ids that people type: whole, or as much of them as means one thing.

use tagout_vocab::limits::ID_BEGINNING_BYTES_MIN;

use crate::failure::Failure;

/// Of ids that begin alike, so many are looked for; one more than are shown.
pub(super) const ALIKE: usize = 5;

/// What was looked for, and how to find it.
#[derive(Clone, Copy)]
pub(super) struct Sought<'a> {
    /// What was typed.
    pub(super) typed: &'a str,
    /// What it names: «call with changes».
    pub(super) what: &'static str,
    /// Where the ids are shown.
    pub(super) hint: &'static str,
}

impl Sought<'_> {
    /// The one of these that was meant: the one that is written like this, or the only one that
    /// begins so.
    pub(super) fn among<T>(self, mut alike: Vec<T>, id: impl Fn(&T) -> &str) -> Result<T, Failure> {
        let Self { typed, what, hint } = self;
        if let Some(at) = alike.iter().position(|one| id(one) == typed) {
            return Ok(alike.swap_remove(at));
        }
        match alike.pop() {
            Some(_) if alike.is_empty() && typed.len() < ID_BEGINNING_BYTES_MIN => {
                Err(Failure::invalid(format!(
                    "`{typed}` is too short to say which {what} is meant"
                ))
                .hint(format!(
                    "write at least {ID_BEGINNING_BYTES_MIN} letters of the id"
                )))
            }
            Some(only) if alike.is_empty() => Ok(only),
            None => Err(Failure::invalid(format!("there is no {what} `{typed}`")).hint(hint)),
            Some(last) => {
                alike.push(last);
                Err(Failure::invalid(format!(
                    "`{typed}` is the beginning of more than one {what}: {}",
                    shown(&alike, id)
                ))
                .hint("write more of the id"))
            }
        }
    }
}

fn shown<T>(alike: &[T], id: impl Fn(&T) -> &str) -> String {
    let mut ids: Vec<&str> = alike.iter().map(id).collect();
    if ids.len() >= ALIKE {
        ids.truncate(ALIKE.saturating_sub(1));
        ids.push("…");
    }
    ids.join(", ")
}
