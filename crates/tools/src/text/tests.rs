//! Texts that come back byte for byte.

use proptest::prelude::*;

use super::{Encoding, Splice, Text};

fn utf16(text: &str, little: bool) -> Vec<u8> {
    let mut bytes = if little {
        vec![0xFF, 0xFE]
    } else {
        vec![0xFE, 0xFF]
    };
    for unit in text.encode_utf16() {
        bytes.extend(if little {
            unit.to_le_bytes()
        } else {
            unit.to_be_bytes()
        });
    }
    bytes
}

#[test]
fn encodings_are_recognised_and_kept() {
    let cases: [(Vec<u8>, Encoding, &str); 6] = [
        (b"a\n".to_vec(), Encoding::Utf8, "a\n"),
        (b"\xEF\xBB\xBFa\r\n".to_vec(), Encoding::Utf8Bom, "a\n"),
        (utf16("ä\r\nb", true), Encoding::Utf16Le, "ä\nb"),
        (utf16("😀\n", false), Encoding::Utf16Be, "😀\n"),
        (b"caf\xE9\n".to_vec(), Encoding::Latin1, "café\n"),
        (Vec::new(), Encoding::Utf8, ""),
    ];
    for (bytes, encoding, flat) in cases {
        let text = Text::decode(&bytes).unwrap();
        assert_eq!((text.encoding(), text.flat()), (encoding, flat));
        assert_eq!(text.encode().unwrap(), bytes);
    }
}

#[test]
fn binary_files_are_no_text() {
    for bytes in [
        &b"a\0b"[..],
        b"\xFF\xFEa",
        b"\xFF\xFE\x00\xD8a\x00",
        b"\xFF\xFE\x00\x00",
    ] {
        assert!(Text::decode(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn a_new_line_takes_the_end_of_the_line_in_its_place() {
    let text = Text::decode(b"a\r\nb\nc\r\nd").unwrap();
    let splice = Splice {
        range: 0..4,
        text: "x\ny\nz\n".to_owned(),
    };
    let changed = text.spliced(&[splice]).unwrap();
    assert_eq!(changed.encode().unwrap(), b"x\r\ny\nz\r\nc\r\nd");
}

#[test]
fn a_character_without_room_is_refused() {
    let text = Text::decode(b"caf\xE9").unwrap();
    let splice = Splice {
        range: 0..1,
        text: "→".to_owned(),
    };
    let error = text.spliced(&[splice]).unwrap().encode().unwrap_err();
    assert!(error.to_string().contains("no room for `→`"), "{error}");
}

#[test]
fn a_rewritten_file_keeps_its_manner() {
    let old = Text::decode(b"\xEF\xBB\xBFa\r\nb\r\n").unwrap();
    let new = old.rewritten("x\ny\n").encode().unwrap();
    assert_eq!(new, b"\xEF\xBB\xBFx\r\ny\r\n");
    let mixed = Text::decode(b"a\r\nb\n").unwrap();
    assert_eq!(mixed.rewritten("x\n").encode().unwrap(), b"x\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Every file that counts as text comes back byte for byte.
    #[test]
    fn text_round_trips(bytes in prop::collection::vec(
        prop_oneof![
            prop::sample::select(vec![b'\r', b'\n', 0xEF, 0xBB, 0xBF, 0xFE, 0xFF]),
            any::<u8>(),
        ],
        0..64,
    )) {
        if let Ok(text) = Text::decode(&bytes) {
            prop_assert_eq!(text.encode().unwrap(), bytes.clone());
            prop_assert_eq!(text.with_lines(&text.lines()).encode().unwrap(), bytes);
        }
    }

    /// A splice changes its range and nothing else.
    #[test]
    fn splices_keep_untouched_bytes(
        before in "([a-c]{0,3}(\r\n|\n)){0,4}[a-c]{0,2}",
        after in "[a-c]{1,3}((\r\n|\n)[a-c]{0,3}){0,4}",
        new in "[x-z]{0,3}(\n[x-z]){0,3}",
    ) {
        let bytes = format!("{before}MIDDLE{after}").into_bytes();
        let text = Text::decode(&bytes).unwrap();
        let start = text.flat().find("MIDDLE").unwrap();
        let splice = Splice { range: start..start + 6, text: new };
        let changed = text.spliced(&[splice]).unwrap().encode().unwrap();
        prop_assert!(changed.starts_with(before.as_bytes()));
        prop_assert!(changed.ends_with(after.as_bytes()));
    }
}
