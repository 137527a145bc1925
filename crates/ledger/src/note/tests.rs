//! Notes: what is refused because it has another form.

use super::*;

fn signed() -> (SealKey, SignedCheckpoint) {
    let key = SealKey::new("example.com/log", [3; 32]).unwrap();
    let checkpoint = Checkpoint {
        origin: "example.com/log".to_owned(),
        size: 12,
        root: [9; 32],
    };
    let signed = checkpoint.sign(&key);
    (key, signed)
}

/// B6: one text for one checkpoint: anything else is refused.
#[test]
fn other_forms_are_refused() {
    let (_, signed) = signed();
    let good = signed.text();
    assert_eq!(SignedCheckpoint::parse(&good).unwrap(), signed);
    let wrong = [
        good.replace("\n12\n", "\n012\n"),
        good.replace("\n12\n", "\n+12\n"),
        good.replace("\n12\n", "\n-12\n"),
        good.replace("\n12\n", "\n99999999999999999999\n"),
        good.replace("\n12\n", "\n12\nextension\n"),
        good.replace("=\n\n", "\n\n"),
        good.replace("\u{2014}", "-"),
        good.replace("example.com/log\n", "example.com/ log\n"),
        good.replace("example.com/log\n", "\n"),
        good.trim_end().to_owned(),
        format!("{good}\n"),
        format!("{good}\u{2014} x\n"),
        format!("\n{good}"),
        String::new(),
    ];
    for text in wrong {
        assert!(SignedCheckpoint::parse(&text).is_err(), "{text}");
    }
}

/// B6: a line that claims the key and is false spoils the note, wherever it stands.
#[test]
fn a_false_signature_spoils_the_note() {
    let (key, signed) = signed();
    let keys = [key.verifier()];
    signed.verified("example.com/log", &keys).unwrap();
    let mut other = signed.clone();
    let mut line = other.signatures[0].clone();
    line.payload[0] ^= 1;
    other.signatures.push(line);
    assert!(matches!(
        other.verified("example.com/log", &keys),
        Err(NoteError::BadSignature { .. })
    ));
    other.signatures.clear();
    assert_eq!(
        other.verified("example.com/log", &keys),
        Err(NoteError::Unsigned)
    );
}

/// B6: key, name and id belong together.
#[test]
fn keys_are_checked() {
    let (key, _) = signed();
    let text = key.verifier().to_string();
    assert_eq!(VerifierKey::parse(&text).unwrap(), key.verifier());
    assert!(key.witness().is_witness() && !key.verifier().is_witness());
    let witness = key.witness().to_string();
    assert_eq!(VerifierKey::parse(&witness).unwrap(), key.witness());
    for wrong in [
        text.replace("example", "exbmple"),
        text.replace('+', "-"),
        format!("{text}A"),
        String::new(),
    ] {
        assert!(VerifierKey::parse(&wrong).is_err(), "{wrong}");
    }
    assert!(SealKey::new("with space", [1; 32]).is_err());
    assert!(SealKey::new("with+plus", [1; 32]).is_err());
}
