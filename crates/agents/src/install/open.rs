//! What stays open by a client's own limits.

use crate::client::Client;
use crate::profile::{Failing, Subagents, Then};

/// What stays open whatever a person does: what the client does when the hook fails, and what its
/// table says besides.
pub fn stays_open(client: Client) -> Vec<String> {
    let profile = client.profile();
    let mut lines: Vec<String> = failing(profile.failing).collect();
    lines.extend(profile.install.open.iter().map(|open| (*open).to_owned()));
    if profile.subagents == Subagents::Unmarked {
        let text = "subagents can't be told from their parent, so both act under one intent";
        lines.push(text.to_owned());
    }
    lines
}

/// One line for the failures after which the tool runs, and one for those of which nobody knows.
fn failing(failing: Failing) -> impl Iterator<Item = String> {
    let Failing {
        crash,
        timeout,
        missing,
        garbled,
    } = failing;
    let cells = [
        (crash, "a hook that crashes"),
        (missing, "a hook whose program is gone"),
        (timeout, "a hook that the client stops for taking too long"),
        (garbled, "an answer that is cut off"),
    ];
    let causes = move |end: Then| {
        let all: Vec<&str> = cells
            .iter()
            .filter(|(then, _)| *then == end)
            .map(|(_, cause)| *cause)
            .collect();
        (!all.is_empty()).then(|| all.join(" or "))
    };
    let runs = causes(Then::Runs).map(|causes| format!("{causes} lets the tool run"));
    let unknown = causes(Then::Unknown)
        .map(|causes| format!("whether the tool runs after {causes} is not known"));
    runs.into_iter().chain(unknown)
}
