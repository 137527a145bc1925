//! Handing on, expiring and revoking.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;

use super::*;

/// The grant after `parent`, for the next session, given by the holder.
fn next(parent: &Grant, change: impl FnOnce(&mut Draft)) -> Result<Grant, IssueError> {
    let step = u8::try_from(parent.depth).unwrap() + 2;
    let mut draft = Draft {
        grant_id: id(&format!("g{step}")),
        grantee: session(&format!("s{step}")),
        grantor: parent.grantee.to_string(),
        ..draft()
    };
    change(&mut draft);
    delegate(parent, draft, &key(step))
}

fn whole_chain() -> Vec<Grant> {
    let mut chain = vec![issue(draft(), &key(1)).unwrap()];
    for _ in 0..3 {
        let grant = next(chain.last().unwrap(), |_| ()).unwrap();
        chain.push(grant);
    }
    chain
}

/// C2 Three times may a grant be handed on, and every use counts against all of it.
#[test]
fn three_deep_and_no_deeper() {
    let chain = whole_chain();
    let ask = Ask {
        who: "s4",
        ..Ask::new(&chain)
    };
    assert_eq!(ask.answer().unwrap(), ["g1", "g2", "g3", "g4"]);
    let refused = next(chain.last().unwrap(), |_| ());
    assert_eq!(
        refused,
        Err(IssueError::Delegation {
            source: Invalid::TooDeep
        })
    );
}

/// Changes a grant and signs it again, as someone with a key of their own can.
fn resigned(grant: &Grant, seed: u8, change: impl FnOnce(&mut Grant)) -> Grant {
    use ed25519_dalek::Signer as _;
    let mut grant = grant.clone();
    change(&mut grant);
    let message = super::super::bytes::of_grant(&grant);
    grant.signature = SignatureBytes::from_bytes(key(seed).sign(&message).to_bytes());
    grant
}

/// C2 A grant that lies about its depth or its parent does not hold, however well it is signed.
#[test]
fn a_chain_can_not_be_faked() {
    let root = issue(draft(), &key(1)).unwrap();
    let child = next(&root, |_| ()).unwrap();
    let check = |seed: u8, expected: Invalid, change: fn(&mut Grant)| {
        let grants = [root.clone(), resigned(&child, seed, change)];
        let ask = Ask {
            who: "s2",
            ..Ask::new(&grants)
        };
        assert_eq!(ask.reasons(), [expected]);
    };
    check(2, Invalid::DepthMismatch, |grant| grant.depth = 2);
    check(2, Invalid::DepthMismatch, |grant| grant.parent = None);
    check(2, Invalid::DepthMismatch, |grant| {
        grant.parent = Some(id("g2"));
    });
    check(2, Invalid::Parent, |grant| grant.parent = Some(id("gone")));
    check(2, Invalid::TooDeep, |grant| grant.depth = u32::MAX);
    check(2, Invalid::GrantorNotTrusted, |grant| {
        (grant.parent, grant.depth) = (None, 0);
    });
    check(4, Invalid::NotTheHolder, |grant| {
        grant.grantor = "session:s3".to_owned();
    });
    check(2, Invalid::WiderScope, |grant| {
        grant.scope.resources = paths(&["**"]);
    });
    check(2, Invalid::OutlivesParent, |grant| grant.expires_at = None);
    check(2, Invalid::MoreCapabilities, |grant| {
        grant.capabilities.extend(capabilities(&["network.tcp"]));
    });
}

/// C2 Never wider than the parent: each way of trying has its own refusal.
#[test]
fn never_wider() {
    let root = issue(draft(), &key(1)).unwrap();
    let refused = |change: fn(&mut Draft)| match next(&root, change) {
        Err(IssueError::Delegation { source }) => source,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refused(|draft| draft.capabilities = capabilities(&["network.https"])),
        Invalid::MoreCapabilities
    );
    assert_eq!(
        refused(|draft| draft.scope.resources = Allowance::Unrestricted),
        Invalid::WiderScope
    );
    assert_eq!(
        refused(|draft| draft.scope.resources = paths(&["src", "d"])),
        Invalid::WiderScope
    );
    assert_eq!(
        refused(|draft| draft.expires_at = None),
        Invalid::OutlivesParent
    );
    assert_eq!(
        refused(|draft| draft.expires_at = Some(at(1001))),
        Invalid::OutlivesParent
    );
    assert_eq!(
        refused(|draft| draft.issued_at = at(99)),
        Invalid::OutlivesParent
    );
    assert_eq!(
        refused(|draft| draft.grantor = "session:s5".into()),
        Invalid::NotTheHolder
    );
    let admin = Draft {
        capabilities: capabilities(&["admin.tool.install"]),
        ..draft()
    };
    let admin = issue(admin, &key(1)).unwrap();
    let kept = next(&admin, |draft| {
        draft.capabilities = capabilities(&["admin.tool.install"]);
    });
    assert_eq!(
        kept,
        Err(IssueError::Delegation {
            source: Invalid::NotDelegatable
        })
    );
}

/// C2 A parent's conditions bind its children, although they do not repeat them.
#[test]
fn conditions_are_inherited() {
    let constraints = vec![Constraint::MaxFileSize { bytes: 1 }];
    let root = issue(
        Draft {
            constraints,
            ..draft()
        },
        &key(1),
    )
    .unwrap();
    let child = next(&root, |_| ()).unwrap();
    let grants = [child, root];
    let usage = Usage {
        file_size_bytes: Some(2),
        ..Usage::default()
    };
    let ask = Ask {
        who: "s2",
        usage,
        ..Ask::new(&grants)
    };
    assert_eq!(ask.lacking(), Unsatisfied::FileSize);
}

/// C2, C3 Revoking any grant of a chain revokes all after it, at once, and none before it.
#[test]
fn revocation_holds_at_once() {
    let chain = whole_chain();
    let keys = keys();
    for (revoked, grant) in chain.iter().enumerate() {
        let taken = revoke(grant.grant_id.clone(), "root", at(9_999), "enough", &key(1));
        let revocations = [taken];
        let book = Book {
            grants: &chain,
            revocations: &revocations,
            keys: &keys,
        };
        assert_eq!(revocations[0].verify(&book), Ok(()));
        for (index, holder) in chain.iter().enumerate() {
            let who = format!("s{}", index + 1);
            let ask = Ask {
                who: &who,
                revocations: &revocations,
                ..Ask::new(&chain)
            };
            let held = still_valid(&book, &holder.grant_id, at(500));
            if index >= revoked {
                assert_eq!(ask.reasons(), [Invalid::Revoked]);
                assert_eq!(held, Err(Invalid::Revoked));
            } else {
                assert!(ask.answer().is_ok());
                assert_eq!(held, Ok(()));
            }
        }
    }
}

/// C2 Who may take back, and that a damaged revocation does not bring a grant back.
#[test]
fn who_may_revoke() {
    let chain = whole_chain();
    let keys = keys();
    let book = Book {
        grants: &chain,
        revocations: &[],
        keys: &keys,
    };
    let verify = |by: &str, seed, grant| revoke(id(grant), by, at(1), "", &key(seed)).verify(&book);
    assert_eq!(verify("root", 1, "g4"), Ok(()));
    assert_eq!(verify("session:s1", 2, "g2"), Ok(()), "what it handed on");
    assert_eq!(verify("session:s1", 2, "g4"), Ok(()), "and what came of it");
    assert_eq!(
        verify("session:s1", 2, "g1"),
        Err(RevocationError::NotEntitled)
    );
    assert_eq!(
        verify("session:s5", 6, "g4"),
        Err(RevocationError::NotEntitled)
    );
    assert_eq!(verify("nobody", 1, "g4"), Err(RevocationError::NotEntitled));
    assert_eq!(verify("root", 2, "g4"), Err(RevocationError::BadSignature));
    assert_eq!(
        verify("session:s1", 3, "g4"),
        Err(RevocationError::BadSignature)
    );
    assert_eq!(verify("root", 1, "gone"), Err(RevocationError::NoGrant));
    let damaged = [revoke(id("g1"), "root", at(1), "", &key(9))];
    let ask = Ask {
        revocations: &damaged,
        ..Ask::new(&chain)
    };
    assert_eq!(ask.reasons(), [Invalid::Revoked]);
}

/// C3 A use after the end is refused although the decision was made before it.
#[test]
fn expiry_holds_at_once() {
    let chain = whole_chain();
    let keys = keys();
    let book = Book {
        grants: &chain,
        revocations: &[],
        keys: &keys,
    };
    assert_eq!(still_valid(&book, &id("g4"), at(999)), Ok(()));
    assert_eq!(
        still_valid(&book, &id("g4"), at(1000)),
        Err(Invalid::Expired)
    );
    assert_eq!(still_valid(&book, &id("g4"), at(99)), Err(Invalid::NotYet));
    assert_eq!(
        still_valid(&book, &id("g5"), at(500)),
        Err(Invalid::Missing)
    );
}

fn resource() -> impl Strategy<Value = &'static str> {
    select(vec![
        "src", "src/", "src/**", "src/a", "src/a/**", "src/*", "**", "docs", "src/a/b",
    ])
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(200) })]

    /// C2 Whatever a handed-on grant lets through, its parent lets through.
    #[test]
    fn handed_on_is_never_wider(
        above in prop::collection::vec(resource(), 0..3),
        below in prop::collection::vec(resource(), 0..3),
        path in select(vec!["src", "src/a", "src/a/b", "src/x", "docs/a", "y"]),
        write in any::<bool>(),
        end in select(vec![None, Some(at(400)), Some(at(600)), Some(at(900))]),
        now in select(vec![50, 300, 500, 800, 2000]),
    ) {
        let scope = |texts: &[&str]| GrantScope {
            resources: paths(texts),
            actions: Allowance::Unrestricted,
        };
        let root = Draft { scope: scope(&above), expires_at: Some(at(600)), ..draft() };
        let root = issue(root, &key(1)).unwrap();
        let child = next(&root, |draft| {
            draft.scope = scope(&below);
            draft.expires_at = end;
            if !write {
                draft.capabilities = capabilities(&["filesystem.read"]);
            }
        });
        let Ok(child) = child else {
            return Ok(());
        };
        let grants = [root, child];
        for capability in ["filesystem.read", "filesystem.write"] {
            let ask = |who| {
                Ask { who, path: Some(path), capability, now, ..Ask::new(&grants) }.answer().is_ok()
            };
            prop_assert!(!ask("s2") || ask("s1"));
        }
    }
}
