//! A session within a session: what it asks for, cut down to what is there to give (A5).

use super::compare::{ChangeKind, compare_layers};
use super::layer::Limits;
use super::pattern::NameGlob;
use super::{Change, Law, Layer, Restriction, Source, SourceKind};
use crate::capability::Allowance;

impl Law {
    /// This law with one more layer that only takes away.
    ///
    /// A layer that asks for more than the law gives is refused with everything that it asks for
    /// in excess: dropping a wish in silence would leave the one who asked wrong about its powers.
    pub fn narrowed(&self, mut layer: Layer) -> Result<Self, Vec<Change>> {
        layer.source.kind = SourceKind::Repository;
        let mut excess = self.granted_by(&layer);
        let mut widens = |what: String| {
            let kind = ChangeKind::Widens;
            excess.push(Change { kind, what });
        };
        for key in layer.user_only_keys() {
            widens(format!("sets `{key}`, which is the user's alone"));
        }
        for name in names(&layer.tools).filter(|name| !self.offers_tool(name)) {
            widens(format!("asks for the tool `{}`", name.as_str()));
        }
        for name in names(&layer.capabilities) {
            if self.capability_denied(name.as_str()).is_some() {
                widens(format!("asks for the capability `{}`", name.as_str()));
            }
        }
        let ceiling = self.ceiling();
        if let Some(level) = layer.ceiling.filter(|level| *level > ceiling) {
            let (level, ceiling) = (level.as_str(), ceiling.as_str());
            widens(format!("asks for the ceiling `{level}`, above `{ceiling}`"));
        }
        for name in self.exceeded(&layer.limits) {
            widens(format!("asks for a higher `{name}`"));
        }
        if !excess.is_empty() {
            excess.sort();
            return Err(excess);
        }
        let mut law = self.clone();
        law.others.push(layer);
        Ok(law)
    }

    /// What the layer would grant; a root that is there already may be named again to be only read.
    fn granted_by(&self, layer: &Layer) -> Vec<Change> {
        let known = self.roots();
        let is_known = |wanted: &super::ExtraRoot| {
            known.iter().any(|root| {
                root.name == wanted.name && root.path == wanted.path && root.access >= wanted.access
            })
        };
        let mut asked = layer.clone();
        asked.roots.retain(|root| !is_known(root));
        let silent = Layer::silent(Source::clone(&layer.source));
        let mut changes = compare_layers(&silent, &asked);
        changes.retain(|change| change.kind == ChangeKind::Widens);
        changes
    }

    /// Whether every layer lets all names through that a pattern means.
    fn offers_tool(&self, wanted: &NameGlob) -> bool {
        self.layers().all(|layer| {
            let allowed = match &layer.tools.allow {
                Allowance::Unrestricted => true,
                Allowance::Only(entries) => entries.iter().any(|entry| entry.covers(wanted)),
            };
            allowed && !layer.tools.deny.iter().any(|entry| entry.covers(wanted))
        })
    }

    fn exceeded(&self, wanted: &Limits) -> Vec<&'static str> {
        let limits = self.limits();
        let repeat = |limits: &Limits| limits.repeat_max.map(u64::from);
        let pairs = [
            ("repeat_limit", repeat(wanted), repeat(&limits)),
            ("calls", wanted.calls_max, limits.calls_max),
            ("minutes", wanted.minutes_max, limits.minutes_max),
        ];
        let exceeds = |wanted: Option<u64>, held: Option<u64>| {
            wanted.zip(held).is_some_and(|(wanted, held)| wanted > held)
        };
        let over = pairs
            .into_iter()
            .filter(|(_, wanted, held)| exceeds(*wanted, *held));
        over.map(|(name, _, _)| name).collect()
    }
}

fn names(restriction: &Restriction) -> impl Iterator<Item = &NameGlob> {
    let listed = match &restriction.allow {
        Allowance::Unrestricted => None,
        Allowance::Only(entries) => Some(entries),
    };
    listed.into_iter().flatten()
}
