//! G5: which tools a model is shown.

use tagout_vocab::{Class, Role, State};

use crate::catalogue::Tool;

/// The tools to show in a state, in the order given.
///
/// Until the handshake only SAFE tools are shown. The shell is hidden with the destructive ones
/// unless the policy offers it; called before the handshake, it still runs only reading lines.
pub fn offered<'a>(
    tools: impl IntoIterator<Item = &'a Tool>,
    state: State,
    shell_before_handshake: bool,
) -> Vec<&'a Tool> {
    let shown = |tool: &&Tool| match state {
        State::Action => true,
        State::Request | State::Reasoning => {
            tool.class == Class::Safe || (shell_before_handshake && tool.role == Some(Role::Shell))
        }
    };
    tools.into_iter().filter(shown).collect()
}
