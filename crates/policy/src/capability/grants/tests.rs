//! What grants promise.

mod chains;
mod golden;
mod tampering;

use std::collections::BTreeSet;

use ed25519_dalek::SigningKey;
use tagout_vocab::{GrantId, Timestamp, WorkspacePath};

use super::*;
use crate::capability::{Allowance, Capability, NamePattern};
use crate::scope::CaseRule;

fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn id(text: &str) -> GrantId {
    GrantId::new(text).unwrap()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn capabilities(names: &[&str]) -> BTreeSet<Capability> {
    names
        .iter()
        .map(|name| Capability::parse(name).unwrap())
        .collect()
}

fn session(name: &str) -> Grantee {
    Grantee {
        kind: GranteeKind::Session,
        id: name.to_owned(),
    }
}

fn paths(texts: &[&str]) -> Allowance<ResourcePattern> {
    Allowance::Only(
        texts
            .iter()
            .map(|text| ResourcePattern::path(text).unwrap())
            .collect(),
    )
}

/// Key 1 is the authority `root`; key 2 is the delegate `session:s1`, key 3 `session:s2`, …
fn keys() -> TrustedKeys {
    let public = |seed| PublicKey::new(key(seed).verifying_key()).unwrap();
    TrustedKeys {
        authorities: [("root".to_owned(), public(1))].into(),
        delegates: (1..6_u8)
            .map(|n| (format!("session:s{n}"), public(n + 1)))
            .collect(),
    }
}

/// Reading and writing beneath `src`, for session `s1`, from 100 until 1000.
fn draft() -> Draft {
    Draft {
        grant_id: id("g1"),
        capabilities: capabilities(&["filesystem.read", "filesystem.write"]),
        grantee: session("s1"),
        grantor: "root".to_owned(),
        scope: GrantScope {
            resources: paths(&["src"]),
            actions: Allowance::Unrestricted,
        },
        constraints: Vec::new(),
        issued_at: at(100),
        expires_at: Some(at(1000)),
    }
}

struct Ask<'a> {
    grants: &'a [Grant],
    revocations: &'a [Revocation],
    capability: &'a str,
    who: &'a str,
    path: Option<&'a str>,
    usage: Usage<'a>,
    action: Option<&'a str>,
    now: i64,
}

impl<'a> Ask<'a> {
    fn new(grants: &'a [Grant]) -> Self {
        Self {
            grants,
            revocations: &[],
            capability: "filesystem.write",
            who: "s1",
            path: Some("src/a"),
            usage: Usage::default(),
            action: None,
            now: 500,
        }
    }

    fn answer(&self) -> Result<Vec<String>, GrantDenied> {
        let resources: Vec<Resource> = self
            .path
            .iter()
            .map(|path| Resource::Path(WorkspacePath::new(path).unwrap()))
            .collect();
        let keys = keys();
        let book = Book {
            grants: self.grants,
            revocations: self.revocations,
            keys: &keys,
        };
        let request = GrantRequest {
            capabilities: &capabilities(&[self.capability]),
            grantees: &[session(self.who)],
            resources: &resources,
            action: self.action,
            usage: self.usage,
            case: CaseRule::Sensitive,
        };
        let granted = decide(&book, &request, at(self.now))?;
        assert!(
            granted
                .by
                .iter()
                .any(|(one, _)| one.as_str() == self.capability)
        );
        Ok(granted.charged.iter().map(ToString::to_string).collect())
    }

    fn reasons(&self) -> Vec<Invalid> {
        match self.answer() {
            Err(GrantDenied::NoValidGrant { reasons, .. }) => {
                reasons.into_iter().map(|(_, why)| why).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn lacking(&self) -> Unsatisfied {
        match self.answer() {
            Err(GrantDenied::NotSatisfied { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    }
}

/// C2 The RFC's three ways of saying no, and yes.
#[test]
fn outcomes() {
    let grants = [issue(draft(), &key(1)).unwrap()];
    let ask = Ask::new(&grants);
    assert_eq!(ask.answer().unwrap(), ["g1"]);
    let none = Ask {
        who: "s2",
        ..Ask::new(&grants)
    }
    .answer()
    .unwrap_err();
    assert_eq!(none.to_string(), "no grant found for `filesystem.read`");
    let none = Ask {
        capability: "network.https",
        ..Ask::new(&grants)
    }
    .answer();
    assert!(matches!(none, Err(GrantDenied::NoGrant { .. })));
    let late = Ask {
        now: 1000,
        ..Ask::new(&grants)
    }
    .answer()
    .unwrap_err();
    assert_eq!(
        late.to_string(),
        "no valid grant found for `filesystem.read`; `g1`: it has expired"
    );
    let far = Ask {
        path: Some("docs/a"),
        ..Ask::new(&grants)
    }
    .answer()
    .unwrap_err();
    assert_eq!(
        far.to_string(),
        "scope or constraints not satisfied for `filesystem.read` by grant `g1`: \
         it does not reach the resource"
    );
    assert!(Ask::new(&[]).answer().is_err());
}

/// C2 What a capability requires has to be granted too.
#[test]
fn requirements_need_grants() {
    let alone = Draft {
        capabilities: capabilities(&["filesystem.write"]),
        ..draft()
    };
    let grants = [issue(alone, &key(1)).unwrap()];
    let denied = Ask::new(&grants).answer().unwrap_err();
    let read = Capability::parse("filesystem.read").unwrap();
    assert_eq!(denied, GrantDenied::NoGrant { capability: read });
}

/// C2 An empty list gives nothing, and an unnamed resource is not in a list.
#[test]
fn nothing_is_not_everything() {
    let with = |scope: GrantScope| [issue(Draft { scope, ..draft() }, &key(1)).unwrap()];
    let all = || GrantScope {
        resources: Allowance::Unrestricted,
        actions: Allowance::Unrestricted,
    };
    let nowhere = with(GrantScope {
        resources: Allowance::nothing(),
        ..all()
    });
    assert_eq!(Ask::new(&nowhere).lacking(), Unsatisfied::Resource);
    assert_eq!(
        Ask {
            path: None,
            ..Ask::new(&nowhere)
        }
        .lacking(),
        Unsatisfied::Resource
    );
    let nohow = with(GrantScope {
        actions: Allowance::nothing(),
        ..all()
    });
    assert_eq!(Ask::new(&nohow).lacking(), Unsatisfied::Action);
    let edits = Allowance::only([NamePattern::parse("edit*").unwrap()]);
    let edits = with(GrantScope {
        actions: edits,
        ..all()
    });
    assert_eq!(Ask::new(&edits).lacking(), Unsatisfied::Action);
    assert!(
        Ask {
            action: Some("edit_line"),
            ..Ask::new(&edits)
        }
        .answer()
        .is_ok()
    );
    let some = [issue(draft(), &key(1)).unwrap()];
    assert_eq!(
        Ask {
            path: None,
            ..Ask::new(&some)
        }
        .lacking(),
        Unsatisfied::ResourceUnknown
    );
    assert!(
        Ask {
            path: None,
            ..Ask::new(&with(all()))
        }
        .answer()
        .is_ok()
    );
}

/// C2 Asking for no capability is not asking for one that everybody has.
#[test]
fn asking_for_nothing_gets_nothing() {
    let some = [issue(draft(), &key(1)).unwrap()];
    let nothing = GrantRequest {
        capabilities: &BTreeSet::new(),
        grantees: &[session("s1")],
        resources: &[],
        action: None,
        usage: Usage::default(),
        case: CaseRule::Sensitive,
    };
    let book = Book {
        grants: &some,
        revocations: &[],
        keys: &keys(),
    };
    assert_eq!(
        decide(&book, &nothing, at(500)),
        Err(GrantDenied::NothingAsked)
    );
}

/// C2 Rate and size are bounded; an unknown size refuses.
#[test]
fn constraints() {
    let constraints = vec![
        Constraint::RateLimit {
            max: 2,
            window_ms: 100,
        },
        Constraint::MaxFileSize { bytes: 10 },
    ];
    let grants = [issue(
        Draft {
            constraints,
            ..draft()
        },
        &key(1),
    )
    .unwrap()];
    let ask = |uses: &[i64], file_size_bytes| {
        let uses: Vec<_> = uses.iter().map(|time| (id("g1"), at(*time))).collect();
        let usage = Usage {
            uses: &uses,
            file_size_bytes,
        };
        let ask = Ask {
            usage,
            ..Ask::new(&grants)
        };
        ask.answer()
            .is_ok()
            .then_some(())
            .ok_or_else(|| ask.lacking())
    };
    assert_eq!(ask(&[], Some(10)), Ok(()));
    assert_eq!(ask(&[], Some(11)), Err(Unsatisfied::FileSize));
    assert_eq!(ask(&[], None), Err(Unsatisfied::FileSizeUnknown));
    assert_eq!(
        ask(&[400, 450], Some(1)),
        Ok(()),
        "the window's edge is outside"
    );
    assert_eq!(ask(&[401, 450], Some(1)), Err(Unsatisfied::RateLimit));
    assert_eq!(
        ask(&[600, 700], Some(1)),
        Err(Unsatisfied::RateLimit),
        "a clock that ran back"
    );
    let never = vec![Constraint::RateLimit {
        max: 0,
        window_ms: 1,
    }];
    let grants = [issue(
        Draft {
            constraints: never,
            ..draft()
        },
        &key(1),
    )
    .unwrap()];
    assert_eq!(Ask::new(&grants).lacking(), Unsatisfied::RateLimit);
}

/// C1, C2 Capabilities that exclude each other are never given, nor used, together.
#[test]
fn conflicts() {
    let both = capabilities(&["admin.capability.grant", "admin.tool.install"]);
    let refused = issue(
        Draft {
            capabilities: both,
            ..draft()
        },
        &key(1),
    );
    assert!(matches!(refused, Err(IssueError::Conflict { .. })));
    let give = |name: &str, id_text: &str| {
        let scope = GrantScope {
            resources: Allowance::Unrestricted,
            actions: Allowance::Unrestricted,
        };
        let given = Draft {
            grant_id: id(id_text),
            capabilities: capabilities(&[name]),
            scope,
            ..draft()
        };
        issue(given, &key(1)).unwrap()
    };
    let one = [give("admin.tool.install", "a")];
    let ask = |grants| Ask {
        capability: "admin.tool.install",
        path: None,
        ..Ask::new(grants)
    };
    assert!(ask(&one).answer().is_ok());
    let two = [
        give("admin.tool.install", "a"),
        give("admin.capability.grant", "b"),
    ];
    assert!(matches!(
        ask(&two).answer(),
        Err(GrantDenied::Conflict { .. })
    ));
}

#[test]
fn empty_and_backward_grants_are_not_given() {
    let empty = Draft {
        capabilities: BTreeSet::new(),
        ..draft()
    };
    assert_eq!(issue(empty, &key(1)), Err(IssueError::Empty));
    let backwards = Draft {
        expires_at: Some(at(100)),
        ..draft()
    };
    assert_eq!(issue(backwards, &key(1)), Err(IssueError::Backwards));
    assert!(ResourcePattern::path("!src").is_err());
    assert!(serde_json::from_str::<ResourcePattern>(r#"{"path":"!src"}"#).is_err());
}

/// C2 Only authorities give; only the trusted sign; two grants of one id are none.
#[test]
fn who_may_give() {
    let unknown = Draft {
        grantor: "nobody".to_owned(),
        ..draft()
    };
    let grants = [issue(unknown, &key(1)).unwrap()];
    assert_eq!(Ask::new(&grants).reasons(), [Invalid::GrantorNotTrusted]);
    let delegate = Draft {
        grantor: "session:s1".to_owned(),
        ..draft()
    };
    let grants = [issue(delegate, &key(2)).unwrap()];
    assert_eq!(
        Ask::new(&grants).reasons(),
        [Invalid::GrantorNotTrusted],
        "to itself"
    );
    let grants = [issue(draft(), &key(9)).unwrap()];
    assert_eq!(Ask::new(&grants).reasons(), [Invalid::BadSignature]);
    let grants = [
        issue(draft(), &key(1)).unwrap(),
        issue(draft(), &key(1)).unwrap(),
    ];
    assert_eq!(
        Ask::new(&grants).reasons(),
        [Invalid::Duplicate, Invalid::Duplicate]
    );
}
