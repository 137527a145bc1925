//! Reading one tool in the catalogue's YAML form, from the catalogue or from the policy file.

use std::collections::BTreeSet;

use tagout_vocab::{Class, Role, SideEffectLevel, ToolKind};

use super::schema::{Argument, Type, input_schema};
use super::{Access, InputSchema, PathParam, TargetForm, Tool};
use crate::problem::Problems;
use crate::yaml::{Fields, Node};

const TOOL_FIELDS: [&str; 16] = [
    "name",
    "about",
    "class",
    "safe_because",
    "kind",
    "level",
    "role",
    "targets",
    "capabilities",
    "carries_metadata",
    "undoable",
    "emits_artifacts",
    "result_readers",
    "inline_result",
    "arguments",
    "input_schema",
];

const ARGUMENT_FIELDS: [&str; 6] = ["type", "required", "access", "aliases", "about", "fields"];

const CLASSES: [(&str, Class); 2] = [("SAFE", Class::Safe), ("DESTRUCTIVE", Class::Destructive)];

const ACCESSES: [(&str, Access); 6] = [
    ("read", Access::Read),
    ("write", Access::Write),
    ("delete", Access::Delete),
    ("move_from", Access::MoveFrom),
    ("move_to", Access::MoveTo),
    ("cwd", Access::Cwd),
];

const ROLES: [(&str, Role); 12] = [
    ("select_intent", Role::SelectIntent),
    ("propose_intent", Role::ProposeIntent),
    ("completion", Role::Completion),
    ("shell", Role::Shell),
    ("shell_input", Role::ShellInput),
    ("output_reader", Role::OutputReader),
    ("delegation", Role::Delegation),
    ("skill", Role::Skill),
    ("mode_switch", Role::ModeSwitch),
    ("question", Role::Question),
    ("todo", Role::Todo),
    ("mcp_call", Role::McpCall),
];

/// Arguments within arguments; no tool needs more.
const FIELDS_DEPTH_MAX: usize = 3;

/// Reads one tool. Whatever is wrong is added to the problems; nothing is guessed.
pub fn read_tool(node: &Node, problems: &mut Problems) -> Option<Tool> {
    let fields = Fields::of(node, "a tool", &TOOL_FIELDS, problems)?;
    let name = needed(fields.text("name", problems), "name", node, problems)?;
    let about = needed(fields.text("about", problems), "about", node, problems)?;
    let class = needed(
        fields.word("class", &CLASSES, problems),
        "class",
        node,
        problems,
    )?;
    let kinds = ToolKind::ALL.map(|kind| (kind.as_str(), kind));
    let kind = needed(
        fields.word("kind", &kinds, problems),
        "kind",
        node,
        problems,
    )?;
    let levels = SideEffectLevel::ALL.map(|level| (level.as_str(), level));
    let level = needed(
        fields.word("level", &levels, problems),
        "level",
        node,
        problems,
    )?;
    let arguments = fields
        .get("arguments")
        .map(|entries| read_arguments(entries, 1, problems));
    let declared = arguments.as_deref().unwrap_or_default();
    let carries_metadata = fields.bool("carries_metadata", problems).unwrap_or(false);
    let own_schema = read_schema(&fields, problems);
    let made = || {
        arguments
            .as_ref()
            .map(|list| input_schema(about, list, carries_metadata))
    };
    let mut paths = Vec::new();
    collect_paths(declared, "", &mut paths);
    let tool = Tool {
        name: name.to_owned(),
        class,
        kind,
        level,
        role: fields.word("role", &ROLES, problems),
        targets: read_targets(&fields, problems),
        aliases: collect_aliases(node, declared, problems),
        required: collect_required(declared),
        capabilities: fields.texts("capabilities", problems).unwrap_or_default(),
        carries_metadata,
        undoable: fields
            .bool("undoable", problems)
            .unwrap_or(class == Class::Safe),
        emits_artifacts: fields.bool("emits_artifacts", problems).unwrap_or(false),
        result_readers: fields.texts("result_readers", problems).unwrap_or_default(),
        inline_result: fields.bool("inline_result", problems).unwrap_or(false),
        input_schema: own_schema.or_else(made).map(InputSchema::of),
        paths,
    };
    check_class(&tool, &fields, problems);
    check_targets(&tool, node, declared, problems);
    Some(tool)
}

fn needed<T>(value: Option<T>, name: &str, node: &Node, problems: &mut Problems) -> Option<T> {
    if value.is_none() && node.get(name).is_none_or(Node::is_null) {
        problems.add(node.at(), format!("a tool needs `{name}`"));
    }
    value
}

/// SAFE has to be earned: by a kind that reads only, or by a reason that somebody wrote down.
fn check_class(tool: &Tool, fields: &Fields<'_>, problems: &mut Problems) {
    let at = fields.node().at();
    let reason = fields.text("safe_because", problems);
    if tool.level == SideEffectLevel::None {
        problems.add(
            at,
            "`level` can't be `none`: a tool has to say how far it reaches",
        );
    }
    if tool.class == Class::Destructive {
        if reason.is_some() {
            problems.add(at, "`safe_because` belongs to a SAFE tool");
        }
        return;
    }
    if !tool.kind.is_read_only() && reason.is_none() {
        let kind = tool.kind.as_str();
        problems.add(
            at,
            format!("a SAFE tool of kind `{kind}` needs `safe_because`"),
        );
    }
    let reaches = tool.level > SideEffectLevel::ReadOnly;
    let fetches = tool.kind == ToolKind::Fetch && tool.level == SideEffectLevel::Network;
    if reaches && !fetches {
        let level = tool.level.as_str();
        problems.add(at, format!("a SAFE tool can't reach as far as `{level}`"));
    }
    let changes = tool.paths.iter().any(|param| param.access.mutates());
    let opaque = match tool.targets {
        TargetForm::Params | TargetForm::Nothing | TargetForm::Address { .. } => false,
        TargetForm::Patch { .. }
        | TargetForm::Command { .. }
        | TargetForm::Argv { .. }
        | TargetForm::Remote { .. }
        | TargetForm::Unknown => true,
    };
    if changes || opaque {
        problems.add(at, "a SAFE tool can't change its targets");
    }
}

/// A key that `targets` names has to be an argument, else every call would be refused.
fn check_targets(tool: &Tool, node: &Node, declared: &[Argument], problems: &mut Problems) {
    let keys: Vec<&str> = match &tool.targets {
        TargetForm::Params | TargetForm::Nothing | TargetForm::Unknown => Vec::new(),
        TargetForm::Patch { key }
        | TargetForm::Command { key }
        | TargetForm::Argv { key }
        | TargetForm::Address { key } => vec![key],
        TargetForm::Remote {
            server,
            tool,
            arguments,
        } => vec![server, tool, arguments],
    };
    for key in keys {
        let root = key.split(['.', '[']).next().unwrap_or_default();
        if !declared.iter().any(|argument| argument.key == root) {
            problems.add(
                node.at(),
                format!("`targets` names `{key}`, which is no argument"),
            );
        }
    }
}

fn read_targets(fields: &Fields<'_>, problems: &mut Problems) -> TargetForm {
    let Some(node) = fields.get("targets") else {
        return TargetForm::Params;
    };
    if node.as_text().is_some() {
        let words = [("params", 0_u8), ("nothing", 1), ("unknown", 2)];
        return match fields.word("targets", &words, problems) {
            Some(0) => TargetForm::Params,
            Some(1) => TargetForm::Nothing,
            Some(_) | None => TargetForm::Unknown,
        };
    }
    let known = ["patch", "command", "argv", "address", "remote"];
    let Some(form) = Fields::of(node, "`targets`", &known, problems) else {
        return TargetForm::Unknown;
    };
    let remote = form.get("remote");
    let key = |name: &str, problems: &mut Problems| form.text(name, problems).map(str::to_owned);
    let mut forms = [
        key("patch", problems).map(|key| TargetForm::Patch { key }),
        key("command", problems).map(|key| TargetForm::Command { key }),
        key("argv", problems).map(|key| TargetForm::Argv { key }),
        key("address", problems).map(|key| TargetForm::Address { key }),
        remote.and_then(|node| read_remote(node, problems)),
    ]
    .into_iter()
    .flatten();
    if let (Some(form), None) = (forms.next(), forms.next()) {
        return form;
    }
    problems.add(node.at(), "`targets` names exactly one form");
    TargetForm::Unknown
}

fn read_remote(node: &Node, problems: &mut Problems) -> Option<TargetForm> {
    let known = ["server", "tool", "arguments"];
    let fields = Fields::of(node, "`remote`", &known, problems)?;
    let mut key = |name: &str| {
        let text = fields.text(name, problems);
        needed(text, name, node, problems).map(str::to_owned)
    };
    Some(TargetForm::Remote {
        server: key("server")?,
        tool: key("tool")?,
        arguments: key("arguments")?,
    })
}

fn read_schema(fields: &Fields<'_>, problems: &mut Problems) -> Option<String> {
    let text = fields.text("input_schema", problems)?;
    if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
        let at = fields
            .get("input_schema")
            .map_or_else(|| fields.node().at(), Node::at);
        problems.add(at, format!("`input_schema` is not JSON: {error}"));
    }
    Some(text.to_owned())
}

fn read_arguments(node: &Node, depth: usize, problems: &mut Problems) -> Vec<Argument> {
    if depth > FIELDS_DEPTH_MAX {
        let message = format!("arguments are nested deeper than {FIELDS_DEPTH_MAX} levels");
        problems.add(node.at(), message);
        return Vec::new();
    }
    let Some(entries) = node.as_map() else {
        let message = format!("arguments must be a mapping, not {}", node.described());
        problems.add(node.at(), message);
        return Vec::new();
    };
    entries
        .iter()
        .filter_map(|(key, entry)| read_argument(key.as_text()?, entry, depth, problems))
        .collect()
}

fn read_argument(
    key: &str,
    node: &Node,
    depth: usize,
    problems: &mut Problems,
) -> Option<Argument> {
    let fields = Fields::of(node, "an argument", &ARGUMENT_FIELDS, problems)?;
    if key.contains(['.', '[', ']']) {
        problems.add(node.at(), format!("the key `{key}` holds `.`, `[` or `]`"));
    }
    let mut aliases = fields.texts("aliases", problems).unwrap_or_default();
    // Lists of aliases are shared between tools, so a list may name the canonical key too.
    aliases.retain(|alias| alias != key);
    let about = needed(fields.text("about", problems), "about", node, problems)?;
    let nested = fields.get("fields");
    Some(Argument {
        key: key.to_owned(),
        types: read_types(&fields, problems),
        required: fields.bool("required", problems).unwrap_or(false),
        access: fields.word("access", &ACCESSES, problems),
        aliases,
        about: about.to_owned(),
        fields: nested.map_or_else(Vec::new, |list| read_arguments(list, depth + 1, problems)),
    })
}

fn read_types(fields: &Fields<'_>, problems: &mut Problems) -> Vec<Type> {
    let Some(node) = fields.get("type") else {
        problems.add(fields.node().at(), "an argument needs `type`");
        return vec![Type::Any];
    };
    let Some(items) = node.as_list() else {
        let word = fields.word("type", &Type::WORDS, problems);
        return vec![word.unwrap_or(Type::Any)];
    };
    let mut types = Vec::new();
    for item in items {
        let text = item.as_text().unwrap_or_default();
        match Type::WORDS.iter().find(|(word, _)| *word == text) {
            Some((_, found)) => types.push(*found),
            None => problems.add(item.at(), format!("`type` can't be `{text}`")),
        }
    }
    types
}

fn collect_paths(arguments: &[Argument], prefix: &str, paths: &mut Vec<PathParam>) {
    for argument in arguments {
        let key = format!("{prefix}{}", argument.key);
        if let Some(access) = argument.access {
            let key = key.clone();
            let optional = !argument.required;
            paths.push(PathParam {
                key,
                access,
                optional,
            });
        }
        let in_list = argument.types.contains(&Type::List);
        let step = if in_list { "[]." } else { "." };
        collect_paths(&argument.fields, &format!("{key}{step}"), paths);
    }
}

fn collect_required(arguments: &[Argument]) -> Vec<String> {
    arguments
        .iter()
        .filter(|argument| argument.required)
        .map(|argument| argument.key.clone())
        .collect()
}

/// Every alias leads straight to a canonical key, so that there are no chains and no cycles.
fn collect_aliases(
    node: &Node,
    arguments: &[Argument],
    problems: &mut Problems,
) -> Vec<(String, String)> {
    let mut taken: BTreeSet<&str> = arguments.iter().map(|one| one.key.as_str()).collect();
    let mut aliases = Vec::new();
    for argument in arguments {
        for alias in &argument.aliases {
            if !taken.insert(alias) {
                let message = format!("the alias `{alias}` stands for two arguments");
                problems.add(node.at(), message);
            }
            aliases.push((alias.clone(), argument.key.clone()));
        }
    }
    aliases.sort();
    aliases
}
