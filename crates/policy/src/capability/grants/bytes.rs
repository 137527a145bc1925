//! The bytes that are signed: every field in order, each text preceded by its length.
//!
//! JSON has many spellings of one value, so a signature over JSON invites disputes about which was
//! meant. Here one grant has one form, and the first field says what is signed, so that a
//! signature under a revocation can't be shown as one under a grant.

use tagout_vocab::{GrantId, Timestamp};

use super::{Constraint, Grant, GranteeKind, ResourcePattern, Revocation};
use crate::capability::Allowance;

const GRANT_DOMAIN: &str = "tagout.grant.v1";
const REVOCATION_DOMAIN: &str = "tagout.revocation.v1";

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    fn number(&mut self, number: u64) {
        self.0.extend(number.to_be_bytes());
    }

    fn count(&mut self, count: usize) {
        self.number(u64::try_from(count).unwrap_or(u64::MAX));
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend(text.as_bytes());
    }

    fn time(&mut self, time: Timestamp) {
        self.0.extend(time.as_millis().to_be_bytes());
    }

    fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.tag(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn allowance<T: Ord>(&mut self, allowance: &Allowance<T>, write: impl Fn(&mut Self, &T)) {
        match allowance {
            Allowance::Unrestricted => self.tag(0),
            Allowance::Only(regions) => {
                self.tag(1);
                self.count(regions.len());
                for region in regions {
                    write(self, region);
                }
            }
        }
    }

    fn resource(&mut self, resource: &ResourcePattern) {
        match resource {
            ResourcePattern::Path(pattern) => {
                self.tag(0);
                self.text(pattern.as_str());
            }
            ResourcePattern::Name(name) => {
                self.tag(1);
                self.text(&name.to_string());
            }
        }
    }

    fn constraint(&mut self, constraint: Constraint) {
        match constraint {
            Constraint::RateLimit { max, window_ms } => {
                self.tag(0);
                self.number(max);
                self.number(window_ms);
            }
            Constraint::MaxFileSize { bytes } => {
                self.tag(1);
                self.number(bytes);
            }
        }
    }
}

const fn kind_tag(kind: GranteeKind) -> u8 {
    match kind {
        GranteeKind::Tool => 0,
        GranteeKind::User => 1,
        GranteeKind::Role => 2,
        GranteeKind::Session => 3,
    }
}

/// The signed form of a grant: all of it but the signature.
pub(super) fn of_grant(grant: &Grant) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.text(GRANT_DOMAIN);
    writer.text(grant.grant_id.as_str());
    writer.count(grant.capabilities.len());
    for capability in &grant.capabilities {
        writer.text(capability.as_str());
    }
    writer.tag(kind_tag(grant.grantee.kind));
    writer.text(&grant.grantee.id);
    writer.text(&grant.grantor);
    writer.allowance(&grant.scope.resources, Writer::resource);
    writer.allowance(&grant.scope.actions, |writer, action| {
        writer.text(&action.to_string());
    });
    writer.count(grant.constraints.len());
    for constraint in &grant.constraints {
        writer.constraint(*constraint);
    }
    writer.time(grant.issued_at);
    writer.option(grant.expires_at, Writer::time);
    writer.option(grant.parent.as_ref().map(GrantId::as_str), Writer::text);
    writer.number(u64::from(grant.depth));
    writer.0
}

/// The signed form of a revocation.
pub(super) fn of_revocation(revocation: &Revocation) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.text(REVOCATION_DOMAIN);
    writer.text(revocation.grant_id.as_str());
    writer.text(&revocation.revoked_by);
    writer.time(revocation.revoked_at);
    writer.text(&revocation.reason);
    writer.0
}
