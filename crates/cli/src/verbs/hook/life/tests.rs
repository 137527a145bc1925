//! When the absence of a hook is news.

use super::{Absent, surprises};

const fn absent(is_taken_out: bool, has_stood: bool) -> Absent {
    Absent {
        is_taken_out,
        has_stood,
    }
}

/// A person who takes the hook out of one scope says nothing about another one.
#[test]
fn a_scope_excuses_only_itself() {
    let (taken, lost, never) = (
        absent(true, true),
        absent(false, true),
        absent(false, false),
    );
    for (scopes, is_news) in [
        (&[lost][..], true),
        (&[never][..], true),
        (&[taken][..], false),
        (&[taken, lost][..], true),
        (&[lost, taken][..], true),
        (&[taken, never][..], false),
        (&[taken, taken][..], false),
        (&[lost, never][..], true),
        (&[never, never][..], true),
    ] {
        assert_eq!(surprises(scopes), is_news, "{scopes:?}");
    }
}
