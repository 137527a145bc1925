//! The parts a tool can play. The code knows roles; names are data in the catalogue.

use serde::{Deserialize, Serialize};

/// What a tool is to the engine, beyond its kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Selects the active intent: the handshake.
    SelectIntent,
    /// Asks a person for an intent or a wider scope.
    ProposeIntent,
    /// Says that the task is done; resets the session.
    Completion,
    /// Runs a shell command line.
    Shell,
    /// Writes to a running shell's standard input.
    ShellInput,
    /// Reads what a command printed.
    OutputReader,
    /// Hands work to another agent.
    Delegation,
    /// Changes the agent's mode.
    ModeSwitch,
    /// Asks the person a question.
    Question,
    /// Keeps the agent's own list of things to do.
    Todo,
    /// Calls a tool of an MCP server by name.
    McpCall,
    /// Takes up a text of instructions, which may bring commands of its own.
    Skill,
}
