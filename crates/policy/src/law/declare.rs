//! Tools that a policy file declares, in the fields of the catalogue.

use tagout_vocab::limits::POLICY_LIST_MAX;
use tagout_vocab::{Class, SideEffectLevel, ToolKind};

use crate::catalogue::{Access, PathParam, TargetForm, Tool};
use crate::problem::Problems;
use crate::yaml::{Fields, Node};

const KEYS: [&str; 15] = [
    "name",
    "class",
    "kind",
    "level",
    "paths",
    "targets",
    "aliases",
    "required",
    "capabilities",
    "carries_metadata",
    "undoable",
    "emits_artifacts",
    "result_readers",
    "inline_result",
    "input_schema",
];

const CLASSES: [(&str, Class); 2] = [("SAFE", Class::Safe), ("DESTRUCTIVE", Class::Destructive)];

const ACCESSES: [(&str, Access); 6] = [
    ("read", Access::Read),
    ("write", Access::Write),
    ("delete", Access::Delete),
    ("move_from", Access::MoveFrom),
    ("move_to", Access::MoveTo),
    ("cwd", Access::Cwd),
];

/// Reads the tools of a policy's `declare` list.
///
/// What is left out takes its most careful value: destructive, of no known kind, with unknown
/// targets, not undoable. A policy can't give a tool a role: that is the catalogue's alone.
pub fn read_declared(node: &Node, problems: &mut Problems) -> Vec<Tool> {
    let Some(items) = node.as_list() else {
        let message = format!("`declare` must be a list, not {}", node.described());
        problems.add(node.at(), message);
        return Vec::new();
    };
    if let Some(extra) = items.get(POLICY_LIST_MAX) {
        let message = format!("`declare` has more than {POLICY_LIST_MAX} entries");
        problems.add(extra.at(), message);
        return Vec::new();
    }
    let mut tools: Vec<Tool> = Vec::new();
    for item in items {
        let Some(tool) = tool(item, problems) else {
            continue;
        };
        if tools.iter().any(|known| known.name == tool.name) {
            let message = format!("the tool `{}` is declared twice", tool.name);
            problems.add(item.at(), message);
        }
        tools.push(tool);
    }
    tools
}

fn tool(item: &Node, problems: &mut Problems) -> Option<Tool> {
    let fields = Fields::of(item, "a tool", &KEYS, problems)?;
    let name = fields.text("name", problems).unwrap_or_default();
    if name.is_empty() {
        problems.add(item.at(), "a tool needs `name`");
        return None;
    }
    let levels = SideEffectLevel::ALL.map(|level| (level.as_str(), level));
    let level = fields.word("level", &levels, problems);
    if fields.get("level").is_none() {
        problems.add(item.at(), "a tool needs `level`: how far it reaches");
    }
    let kinds = ToolKind::ALL.map(|kind| (kind.as_str(), kind));
    let flag = |name: &str, problems: &mut Problems| fields.bool(name, problems).unwrap_or(false);
    let texts =
        |name: &str, problems: &mut Problems| fields.texts(name, problems).unwrap_or_default();
    let paths = paths(&fields, problems);
    let targets = targets(&fields, &paths, problems);
    Some(Tool {
        name: name.to_owned(),
        class: fields
            .word("class", &CLASSES, problems)
            .unwrap_or(Class::Destructive),
        kind: fields
            .word("kind", &kinds, problems)
            .unwrap_or(ToolKind::Other),
        level: level.unwrap_or(SideEffectLevel::None),
        role: None,
        paths,
        targets,
        aliases: aliases(&fields, problems),
        required: texts("required", problems),
        capabilities: texts("capabilities", problems),
        carries_metadata: flag("carries_metadata", problems),
        undoable: flag("undoable", problems),
        emits_artifacts: flag("emits_artifacts", problems),
        result_readers: texts("result_readers", problems),
        inline_result: flag("inline_result", problems),
        input_schema: schema(&fields, problems),
    })
}

fn paths(fields: &Fields<'_>, problems: &mut Problems) -> Vec<PathParam> {
    let mut paths = Vec::new();
    for item in fields.list("paths", problems).unwrap_or_default() {
        let Some(param) = Fields::of(item, "a path argument", &["key", "access"], problems) else {
            continue;
        };
        let key = param.text("key", problems);
        let access = param.word("access", &ACCESSES, problems);
        match (key, access) {
            (Some(key), Some(access)) => paths.push(PathParam {
                key: key.to_owned(),
                access,
            }),
            (None, _) | (_, None) => {
                problems.add(item.at(), "a path argument needs `key` and `access`");
            }
        }
    }
    paths
}

/// `params`, `nothing` or `unknown`, or a mapping of `patch`, `command` or `address` to a key.
fn targets(fields: &Fields<'_>, paths: &[PathParam], problems: &mut Problems) -> TargetForm {
    let Some(node) = fields.get("targets") else {
        return if paths.is_empty() {
            TargetForm::Unknown
        } else {
            TargetForm::Params
        };
    };
    if node.as_map().is_none() {
        let words = [
            ("params", &TargetForm::Params),
            ("nothing", &TargetForm::Nothing),
            ("unknown", &TargetForm::Unknown),
        ];
        let found = fields.word("targets", &words, problems);
        return found.cloned().unwrap_or(TargetForm::Unknown);
    }
    let known = ["patch", "command", "address"];
    let Some(form) = Fields::of(node, "`targets`", &known, problems) else {
        return TargetForm::Unknown;
    };
    let key = |name: &str, problems: &mut Problems| form.text(name, problems).map(str::to_owned);
    let patch = key("patch", problems).map(|key| TargetForm::Patch { key });
    let command = key("command", problems).map(|key| TargetForm::Command { key });
    let address = key("address", problems).map(|key| TargetForm::Address { key });
    let mut found = [patch, command, address].into_iter().flatten();
    if let (Some(form), None) = (found.next(), found.next()) {
        form
    } else {
        problems.add(node.at(), "`targets` needs exactly one form");
        TargetForm::Unknown
    }
}

fn aliases(fields: &Fields<'_>, problems: &mut Problems) -> Vec<(String, String)> {
    let Some(node) = fields.get("aliases") else {
        return Vec::new();
    };
    let Some(entries) = node.as_map() else {
        let message = format!("`aliases` must be a mapping, not {}", node.described());
        problems.add(node.at(), message);
        return Vec::new();
    };
    let mut aliases = Vec::new();
    for (alias, key) in entries {
        match (alias.as_text(), key.as_text()) {
            (Some(alias), Some(key)) => aliases.push((alias.to_owned(), key.to_owned())),
            (None, _) | (_, None) => problems.add(key.at(), "an alias names a key"),
        }
    }
    aliases
}

/// The schema is JSON in a text, so that it is carried as it was written.
fn schema(fields: &Fields<'_>, problems: &mut Problems) -> Option<String> {
    let text = fields.text("input_schema", problems)?;
    let object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
    if let (Err(error), Some(node)) = (object, fields.get("input_schema")) {
        let message = format!("`input_schema` must be a JSON object: {error}");
        problems.add(node.at(), message);
    }
    Some(text.to_owned())
}
