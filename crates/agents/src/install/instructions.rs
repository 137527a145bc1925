//! H15: the block that teaches an agent how to work under Tagout, in the file its client reads.

use super::block::{self, MARKDOWN};
use super::plan::{Base, Place};
use crate::client::Client;
use crate::profile::Subagents;

const TEXT: &str = include_str!("../../data/instructions.txt");

const WRAPPED: &str = "7. Shell commands are confined: they see the repository, and what they \
                       change outside the scope\n   is not applied. They need no prefix.\n";

const UNWRAPPED: &str = "7. A shell command that changes anything runs as \
                         `tagout exec -- COMMAND`. Commands that only\n   read need no prefix.\n";

const EITHER: &str = "7. Shell commands are confined: what they change outside the scope is not \
                      applied. Where a\n   refusal names a line with `tagout exec`, \
                      run exactly that line instead.\n";

const SOME_HELPERS: &str = "8. Where handing work to helpers is refused, do it in this \
                            conversation: not every client lets\n   their calls be governed.\n";

const NO_HELPERS: &str = "8. Do not hand work to helpers: their calls can't be governed here, so \
                          handing over is refused.\n";

const FINAL: &str = "8. A refusal ends the whole run here, so select an intent before the first \
                     change.\n";

/// The file that gets the block.
pub fn instruction_file(client: Client) -> Place {
    Place::new(Base::Workspace, client.profile().install.instructions)
}

/// What the block says to the agents of every client that reads the same file, so that whichever
/// client is installed last changes nothing for the others.
pub fn instruction_block(client: Client) -> String {
    let file = instruction_file(client);
    let all = Client::ALL.iter().copied();
    let readers: Vec<Client> = all.filter(|one| instruction_file(*one) == file).collect();
    let shell = match (
        readers.iter().copied().any(Client::rewrites),
        readers.iter().copied().all(Client::rewrites),
    ) {
        (_, true) => WRAPPED,
        (true, false) => EITHER,
        (false, false) => UNWRAPPED,
    };
    let has = |kind| readers.iter().any(|one| one.profile().subagents == kind);
    let more = match (has(Subagents::Bypass), readers.len() > 1) {
        (true, true) => SOME_HELPERS,
        (true, false) => NO_HELPERS,
        // The only client whose agents all have numbers is also the one that stops at a denial.
        (false, _) if has(Subagents::Numbered) => FINAL,
        (false, _) => "",
    };
    TEXT.replace("{shell}", shell).replace("{more}", more)
}

/// An instruction file's text with the block in it.
pub fn put_instructions(client: Client, text: Option<&str>) -> String {
    let body = instruction_block(client);
    match text {
        Some(text) if block::holds(text, MARKDOWN, &body) => text.to_owned(),
        Some(_) | None => block::put(text, MARKDOWN, &body),
    }
}

/// An instruction file's text without the block; `None` where nothing else was in it.
pub fn take_instructions(text: &str) -> Option<String> {
    block::take(text, MARKDOWN)
}
