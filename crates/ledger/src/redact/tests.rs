//! What is taken out, and what is left.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn full(text: &str) -> String {
    redact(text, Strength::Full)
}

/// Design §6: secrets of every known shape.
#[test]
fn secrets_are_taken_out() {
    let cases = [
        (
            "token ghp_abcdefghijklmnopqrstuvwxyz0123456789 end",
            "token [redacted] end",
        ),
        (
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG",
            "AWS_SECRET_ACCESS_KEY=[redacted]",
        ),
        (
            "export API_KEY='a b c' && run",
            "export API_KEY='[redacted]' && run",
        ),
        ("password: hunter2", "password: [redacted]"),
        (
            r#"{"client_secret": "xyz", "a": 1}"#,
            r#"{"client_secret": "[redacted]", "a": 1}"#,
        ),
        (
            r#"{\"token\":\"xyz\",\"a\":1}"#,
            r#"{\"token\":\"[redacted]",\"a\":1}"#,
        ),
        (
            "Authorization: Bearer abc def\nAccept: x",
            "Authorization: [redacted]\nAccept: x",
        ),
        (
            "-H 'Authorization: Basic YWxhZGRpbjpvcGVu' -v",
            "-H 'Authorization: [redacted]' -v",
        ),
        (
            "Cookie: a=b; c=d\r\nHost: x",
            "Cookie: [redacted]\r\nHost: x",
        ),
        (
            "postgres://user:pa55@db/name",
            "postgres://user:[redacted]@db/name",
        ),
        (
            "curl https://x?api_key=12345&b=2",
            "curl https://x?api_key=[redacted]&b=2",
        ),
        ("key AKIAIOSFODNN7EXAMPLE here", "key [redacted] here"),
        ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY", "[redacted]"),
        (
            "a -----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY----- b",
            "a [redacted] b",
        ),
        ("-----BEGIN RSA PRIVATE KEY-----\nno end", "[redacted]"),
    ];
    for (text, expected) in cases {
        assert_eq!(full(text), expected);
    }
}

/// Design §6: digests, paths, names and everyday text stay readable.
#[test]
fn everything_else_stays() {
    let texts = [
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "commit fb9d45f0c0ffee0123456789abcdef0123456789",
        "crates/ledger/src/verify/Diagnose2ndPass/someVeryLongFileName_v2.rs:12:5",
        "550e8400-e29b-41d4-a716-446655440000",
        "max_tokens: 4096",
        "fn getUserAccountByIdAndStatusV2Handler() {}",
        "see https://example.com:8080/a?b=c#d",
        "TOKEN=$TOKEN make deploy",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        "x = y == z ? a : b",
        "«schön» 🔑: naïve",
        "",
    ];
    for text in texts {
        assert_eq!(full(text), text);
    }
}

/// L5: hostile text takes no longer than honest text of the same length.
#[test]
fn hostile_text_is_redacted_in_linear_time() {
    for piece in [
        "token=",
        "cookie:",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY",
        "a://b:c@",
        "Bearer ",
        "=",
        "ghp_",
        "   :",
    ] {
        let text = piece.repeat(2_000_000 / piece.len());
        assert!(full(&text).len() <= text.len() * 5);
    }
}

/// Design §6: in JSON the values of secret names go, whatever they look like.
#[test]
fn json_is_redacted_by_name_and_by_value() {
    let value = json!({
        "password": "x", "pin_token": 12, "nested": {"apiKey": "y", "deep": ["a", "ghp_x"]},
        "max_tokens": 5, "secret": null, "text": "API_TOKEN=abc",
    });
    let expected = json!({
        "password": "[redacted]", "pin_token": "[redacted]",
        "nested": {"apiKey": "[redacted]", "deep": ["a", "ghp_x"]},
        "max_tokens": 5, "secret": null, "text": "API_TOKEN=[redacted]",
    });
    assert_eq!(redact_json(&value, Strength::Full), expected);
}

/// A fixed number of cases, and no files beside the tests.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(512))]

    /// L5: any text can be redacted, and what is left is redacted already.
    #[test]
    fn any_text_can_be_redacted(
        text in r#"([a-zA-Z0-9_=:/@"'\\ \n-]|\PC|password|token=|://|Bearer ){0,60}"#,
    ) {
        for strength in [Strength::Shapes, Strength::Full] {
            let once = redact(&text, strength);
            prop_assert!(once.len() <= text.len() + 11 * text.len().max(1));
        }
    }

    /// Design §6: random strings of letters and digits are taken out of free text, nearly always.
    #[test]
    fn random_values_are_taken_out(values in proptest::collection::vec("[A-Za-z0-9+/]{40}", 20)) {
        let left = values.iter().filter(|value| full(value) == value.as_str()).count();
        prop_assert!(left <= 2, "{left} of 20 were left");
    }
}
