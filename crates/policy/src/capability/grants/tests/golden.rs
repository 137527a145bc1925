//! Grants as they were written before: their bytes and signatures must never change.

use serde::Deserialize;

use super::super::key::to_hex;
use super::*;

#[derive(Deserialize)]
struct Vector {
    /// What the sample shows.
    shows: String,
    seed: u8,
    grant: Grant,
    signed_bytes: String,
}

const VECTORS: &str = include_str!("../../../../tests/fixtures/grants/vectors.json");

fn samples() -> Vec<(&'static str, u8, Grant)> {
    let root = issue(draft(), &key(1)).unwrap();
    let bounded = Draft {
        grant_id: id("g2"),
        grantee: Grantee {
            kind: GranteeKind::Role,
            id: "réviseur".to_owned(),
        },
        constraints: vec![
            Constraint::RateLimit {
                max: 3,
                window_ms: 60_000,
            },
            Constraint::MaxFileSize { bytes: 1 << 20 },
        ],
        scope: GrantScope {
            resources: Allowance::Only(
                [
                    ResourcePattern::path("src/**").unwrap(),
                    ResourcePattern::Name(NamePattern::parse("example.org").unwrap()),
                ]
                .into(),
            ),
            actions: Allowance::only([NamePattern::parse("edit*").unwrap()]),
        },
        ..draft()
    };
    let handed = Draft {
        grant_id: id("g3"),
        grantee: session("s2"),
        grantor: "session:s1".to_owned(),
        scope: GrantScope {
            resources: paths(&["src/a"]),
            actions: Allowance::nothing(),
        },
        expires_at: Some(at(900)),
        ..draft()
    };
    let endless = Draft {
        grant_id: id("g4"),
        expires_at: None,
        issued_at: at(-1),
        scope: GrantScope {
            resources: Allowance::Unrestricted,
            actions: Allowance::Unrestricted,
        },
        ..draft()
    };
    vec![
        (
            "bounded in rate and size",
            1,
            issue(bounded, &key(1)).unwrap(),
        ),
        (
            "handed on, to nothing",
            2,
            delegate(&root, handed, &key(2)).unwrap(),
        ),
        ("without end or bounds", 1, issue(endless, &key(1)).unwrap()),
        ("plain", 1, root),
    ]
}

/// C2 Today's code signs the same bytes and reads the same grants as when the samples were made.
#[test]
fn golden_vectors() {
    let vectors: Vec<Vector> = serde_json::from_str(VECTORS).unwrap();
    let samples = samples();
    assert_eq!(vectors.len(), samples.len());
    for (vector, (shows, seed, grant)) in vectors.iter().zip(&samples) {
        assert_eq!((vector.shows.as_str(), vector.seed), (*shows, *seed));
        assert_eq!(
            to_hex(&super::super::bytes::of_grant(grant)),
            vector.signed_bytes,
            "{shows}"
        );
        assert_eq!(vector.grant, *grant, "{shows}");
        let public = PublicKey::new(key(*seed).verifying_key()).unwrap();
        let message = super::super::bytes::of_grant(&vector.grant);
        assert!(public.accepts(&message, &vector.grant.signature), "{shows}");
    }
}
