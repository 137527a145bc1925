//! What one tool means: the entry of the catalogue.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tagout_vocab::{Class, Role, SideEffectLevel, ToolAnnotations, ToolArgSchema, ToolKind};

use super::InputSchema;

/// What a tool does with the path under one of its keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reads it.
    Read,
    /// Creates or changes it.
    Write,
    /// Removes it.
    Delete,
    /// Moves it away.
    MoveFrom,
    /// Moves something there.
    MoveTo,
    /// Works in it: later relative paths start there.
    Cwd,
}

impl Access {
    /// Whether the path is changed.
    pub const fn mutates(self) -> bool {
        match self {
            Self::Read | Self::Cwd => false,
            Self::Write | Self::Delete | Self::MoveFrom | Self::MoveTo => true,
        }
    }
}

/// One argument that holds a path or a list of paths.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
pub struct PathParam {
    /// The argument's canonical key; `files[].path` reaches into lists of objects.
    pub key: String,
    /// What is done with it.
    pub access: Access,
    /// Whether a list's object, or an object, may leave it out.
    pub optional: bool,
}

/// How the targets of a call are read from its arguments.
#[derive(Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetForm {
    /// From the path parameters, and from them alone.
    #[default]
    Params,
    /// The path parameters, and the files named in a `*** Begin Patch` or unified diff under this
    /// key.
    Patch {
        /// The argument that holds the patch.
        key: String,
    },
    /// A shell command line under this key.
    Command {
        /// The argument that holds the command line or a list of them.
        key: String,
    },
    /// A program and its arguments, one text each, under this key.
    Argv {
        /// The argument that holds the list.
        key: String,
    },
    /// The tool touches no path and no host.
    Nothing,
    /// A remote address under this key.
    Address {
        /// The argument that holds the address.
        key: String,
    },
    /// A tool of a remote server, named by two arguments.
    Remote {
        /// The argument that names the server.
        server: String,
        /// The argument that names the tool there.
        tool: String,
        /// The argument that holds that tool's own arguments.
        arguments: String,
    },
    /// Can't be read from the arguments: refuses.
    Unknown,
}

/// What one tool means. Serialised into the compiled law, so no field may be skipped.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each one is a separate fact about the tool, as the annotations name them"
)]
pub struct Tool {
    /// The canonical name.
    pub name: String,
    /// SAFE or DESTRUCTIVE, before the arguments are looked at.
    pub class: Class,
    /// ACP kind.
    pub kind: ToolKind,
    /// How far it reaches.
    pub level: SideEffectLevel,
    /// The part it plays, if any.
    pub role: Option<Role>,
    /// Arguments that hold paths. All of them count.
    pub paths: Vec<PathParam>,
    /// How its targets are read.
    pub targets: TargetForm,
    /// Alias to canonical key.
    pub aliases: Vec<(String, String)>,
    /// Keys that must be there and not null.
    pub required: Vec<String>,
    /// Capabilities of RFC-0003's tree that it needs, such as `filesystem.write`.
    pub capabilities: Vec<String>,
    /// Whether it must carry `intent_id` and `mutation_class` itself (H10).
    pub carries_metadata: bool,
    /// Whether its effects can be taken back.
    pub undoable: bool,
    /// Whether it may answer with a handle to a large output.
    pub emits_artifacts: bool,
    /// Canonical names of tools that read such output.
    pub result_readers: Vec<String>,
    /// Whether its results are always complete inline.
    pub inline_result: bool,
    /// Its input schema (2020-12), where it has one.
    pub input_schema: Option<InputSchema>,
}

impl Tool {
    /// A4: the same facts under the wire names of seed 003.
    pub fn annotations(&self) -> ToolAnnotations {
        let mut capabilities: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for capability in &self.capabilities {
            let (family, operation) = capability.split_once('.').unwrap_or((capability, "*"));
            let operations = capabilities.entry(family.to_owned()).or_default();
            operations.push(operation.to_owned());
        }
        ToolAnnotations {
            kind: self.kind,
            side_effect_level: self.level,
            arg_schema: ToolArgSchema {
                path_params: self.paths.iter().map(|param| param.key.clone()).collect(),
                arg_aliases: self.aliases.iter().cloned().collect(),
                required: self.required.clone(),
            },
            capabilities,
            emits_artifacts: self.emits_artifacts,
            result_readers: self.result_readers.clone(),
            inline_result: self.inline_result,
            read_only_hint: Some(self.class == Class::Safe),
            destructive_hint: Some(self.class == Class::Destructive && !self.undoable),
            idempotent_hint: None,
            open_world_hint: Some(self.level >= SideEffectLevel::Network),
        }
    }

    /// A tool with this name about which nothing is known, and so the worst is assumed.
    pub fn undeclared(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            class: Class::Destructive,
            kind: ToolKind::Other,
            level: SideEffectLevel::MAX,
            role: None,
            paths: Vec::new(),
            targets: TargetForm::Unknown,
            aliases: Vec::new(),
            required: Vec::new(),
            capabilities: Vec::new(),
            carries_metadata: false,
            undoable: false,
            emits_artifacts: false,
            result_readers: Vec::new(),
            inline_result: false,
            input_schema: None,
        }
    }
}
