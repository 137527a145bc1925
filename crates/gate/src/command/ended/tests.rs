//! What is shown of an output.

use tagout_sandbox::Captured;
use tagout_vocab::limits::COMMAND_SHOWN_BYTES_MAX;

use super::Printed;

fn captured(head: &[u8], tail: &[u8], bytes: u64) -> Captured {
    Captured {
        head: head.to_vec(),
        tail: tail.to_vec(),
        bytes,
        ..Captured::default()
    }
}

#[test]
fn what_fits_is_shown_whole() {
    let printed = Printed::of(&captured(b"one\n", b"two\n", 8), None);
    assert_eq!(
        (printed.shown.as_str(), printed.truncated),
        ("one\ntwo\n", false)
    );
}

/// The middle goes first, and the note says how much of it.
#[test]
fn head_and_tail_of_a_flood() {
    let half = COMMAND_SHOWN_BYTES_MAX;
    let printed = Printed::of(
        &captured(&vec![b'a'; half], &vec![b'z'; half], 1_000_000),
        None,
    );
    assert!(printed.truncated && printed.shown.len() < COMMAND_SHOWN_BYTES_MAX + 100);
    assert!(printed.shown.starts_with('a') && printed.shown.ends_with('z'));
    let left = 1_000_000 - COMMAND_SHOWN_BYTES_MAX;
    assert!(
        printed
            .shown
            .contains(&format!("[{left} bytes are left out here]"))
    );
}

/// One long head without a tail is cut in its middle, and nothing of it is shown twice.
#[test]
fn a_long_head_alone() {
    let mut head = vec![b'a'; COMMAND_SHOWN_BYTES_MAX];
    head.extend(vec![b'z'; COMMAND_SHOWN_BYTES_MAX]);
    let bytes = head.len() as u64;
    let printed = Printed::of(&captured(&head, b"", bytes), None);
    assert!(printed.shown.starts_with('a') && printed.shown.ends_with('z'));
    assert!(printed.shown.len() < COMMAND_SHOWN_BYTES_MAX + 100);
}
