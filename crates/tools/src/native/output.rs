//! What each native tool returns, as JSON Schema.

use serde_json::{Map, Value, json};

use crate::text::Encoding;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// One property: its name, its schema, and whether it is always there.
struct Field(&'static str, Value, bool);

fn object(about: &str, fields: &[Field]) -> Value {
    let required: Vec<&str> = fields
        .iter()
        .filter(|Field(_, _, always)| *always)
        .map(|Field(name, _, _)| *name)
        .collect();
    let mut properties = Map::new();
    for Field(name, schema, _) in fields {
        properties.insert((*name).to_owned(), schema.clone());
    }
    json!({
        "description": about,
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

/// A whole schema.
fn schema(about: &str, fields: &[Field]) -> Value {
    let mut schema = object(about, fields);
    if let Some(keywords) = schema.as_object_mut() {
        keywords.insert("$schema".to_owned(), json!(DIALECT));
    }
    schema
}

fn always(name: &'static str, schema: Value) -> Field {
    Field(name, schema, true)
}

fn sometimes(name: &'static str, schema: Value) -> Field {
    Field(name, schema, false)
}

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn count(about: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": about})
}

fn flag(about: &str) -> Value {
    json!({"type": "boolean", "description": about})
}

fn one_of(about: &str, words: &[&str]) -> Value {
    json!({"type": "string", "description": about, "enum": words})
}

fn list(about: &str, items: &Value) -> Value {
    json!({"type": "array", "description": about, "items": items})
}

fn path() -> Field {
    always("path", text("The file, beneath the workspace's root."))
}

fn truncated() -> Field {
    always("truncated", flag("Whether there is more than is shown."))
}

fn encoding() -> Field {
    let about = "How the file spells its characters.";
    always("encoding", one_of(about, &Encoding::WORDS))
}

fn changed_lines() -> Field {
    let about = "Where, as lines of the file before the change; the first hundred.";
    always("lines", list(about, &count("A line, counted from 1.")))
}

fn bytes() -> Field {
    always("bytes", count("Bytes of the file after the change."))
}

fn tolerated() -> Field {
    let about = "Changes whose old lines differed from the file's in blanks at line ends.";
    always("tolerated_whitespace", count(about))
}

pub(super) fn read_file() -> Value {
    let endings = ["none", "lf", "crlf", "mixed"];
    let encodings = [&Encoding::WORDS[..], &[super::reading::BINARY]].concat();
    let about = "How the file spells its characters.";
    let digest = "SHA-256 of the bytes of a file that is not text, in hexadecimal digits.";
    schema(
        "A file, or a part of it. Of one that is not text: how large it is, and its digest.",
        &[
            path(),
            always(
                "content",
                text("The lines, without numbers, `\\n` between them."),
            ),
            always(
                "start_line",
                count("First line shown, counted from 1; 0 for none."),
            ),
            always("end_line", count("Last line shown; 0 for none.")),
            always("total_lines", count("Lines of the whole file.")),
            always("bytes", count("Bytes of the whole file.")),
            always(
                "binary",
                flag("Whether it is not text; then nothing of it is shown."),
            ),
            sometimes("digest", text(digest)),
            truncated(),
            always("encoding", one_of(about, &encodings)),
            always("line_endings", one_of("How its lines end.", &endings)),
            always("final_newline", flag("Whether the last line ends.")),
        ],
    )
}

pub(super) fn list_files() -> Value {
    let entry = object(
        "One entry.",
        &[
            path(),
            always("kind", one_of("What it is.", &["file", "folder", "other"])),
        ],
    );
    schema(
        "The entries of a folder.",
        &[
            path(),
            always("entries", list("The entries in order.", &entry)),
            truncated(),
        ],
    )
}

pub(super) fn search_files() -> Value {
    let line = object(
        "One line.",
        &[
            always("line", count("Its number, counted from 1.")),
            always("text", text("The line, cut where it is long.")),
            always(
                "matches",
                flag("Whether it matches, or stands beside one that does."),
            ),
        ],
    );
    let file = object(
        "One file.",
        &[path(), always("lines", list("Its lines in order.", &line))],
    );
    schema(
        "What was found.",
        &[
            always("results", list("The files with matches.", &file)),
            always("matched_lines", count("Lines that match.")),
            always("files_searched", count("Files that were looked into.")),
            always(
                "files_skipped",
                count("Files that are binary or too large."),
            ),
            truncated(),
        ],
    )
}

pub(super) fn codebase_search() -> Value {
    let score = json!({"type": "number", "description": "How well it answers; higher is better."});
    let part = object(
        "A part of a file.",
        &[
            path(),
            always("start_line", count("First line, counted from 1.")),
            always("end_line", count("Last line.")),
            always("score", score),
            always("text", text("The lines.")),
        ],
    );
    schema(
        "The parts that answer best.",
        &[
            always("results", list("Best first.", &part)),
            always("files_indexed", count("Files that were weighed.")),
            truncated(),
        ],
    )
}

pub(super) fn list_code_definition_names() -> Value {
    let definition = object(
        "One definition.",
        &[
            always("kind", text("What it is, such as `function` or `class`.")),
            always("name", text("Its name.")),
            always("start_line", count("First line, counted from 1.")),
            always("end_line", count("Last line.")),
            always("depth", count("How many definitions it lies in.")),
        ],
    );
    let file = object(
        "One source file.",
        &[
            path(),
            always("language", text("Its language.")),
            always(
                "clean",
                flag("Whether it could be read without a syntax error."),
            ),
            always("definitions", list("In order.", &definition)),
        ],
    );
    schema(
        "What is defined where.",
        &[
            always("files", list("The source files.", &file)),
            always(
                "files_skipped",
                count("Source files that can't be read or are too large."),
            ),
            truncated(),
        ],
    )
}

pub(super) fn write_to_file() -> Value {
    schema(
        "What was written.",
        &[
            path(),
            always("created", flag("Whether the file is new.")),
            bytes(),
            always("lines", count("Its lines.")),
            encoding(),
        ],
    )
}

pub(super) fn replaced() -> Value {
    schema(
        "What was replaced.",
        &[
            path(),
            always("created", flag("Whether the file is new.")),
            always("replacements", count("Places that were replaced.")),
            changed_lines(),
            bytes(),
        ],
    )
}

pub(super) fn apply_diff() -> Value {
    schema(
        "What was changed.",
        &[
            path(),
            always("changes", count("Blocks or hunks that were applied.")),
            changed_lines(),
            tolerated(),
            bytes(),
        ],
    )
}

pub(super) fn apply_patch() -> Value {
    let kinds = ["add", "update", "move", "copy", "delete"];
    let file = object(
        "One file.",
        &[
            path(),
            always("change", one_of("What happened to it.", &kinds)),
            sometimes("to", text("Where it was moved or copied to.")),
            always("hunks", count("Changes in it.")),
            tolerated(),
        ],
    );
    schema(
        "What was changed.",
        &[always(
            "files",
            list("The files in the patch's order.", &file),
        )],
    )
}

pub(super) fn delete_file() -> Value {
    schema(
        "What was deleted.",
        &[path(), always("deleted", flag("True."))],
    )
}

pub(super) fn select_active_intent() -> Value {
    schema(
        "The selected intent.",
        &[
            always("intent_id", text("Its id.")),
            always(
                "context",
                text("What it owns and asks for, in `<intent_context>`."),
            ),
        ],
    )
}

fn pending(about: &str, id: Field, further: Option<Field>) -> Value {
    let status = one_of("How far it is.", &["pending", "answered"]);
    let mut fields = vec![always("status", status), id];
    fields.extend(further);
    fields.push(sometimes("note", text("What to do meanwhile.")));
    schema(about, &fields)
}

pub(super) fn propose_intent() -> Value {
    let id = always("proposal_id", text("The proposal's id."));
    pending("The stored proposal.", id, None)
}

pub(super) fn ask_followup_question() -> Value {
    let id = sometimes("question_id", text("The question's id, while it is open."));
    let answer = sometimes("answer", text("What the person answered."));
    pending("The stored question, or its answer.", id, Some(answer))
}

pub(super) fn attempt_completion() -> Value {
    schema(
        "The end of the task.",
        &[
            always("completed", flag("True.")),
            always("result", text("What was reached.")),
        ],
    )
}

pub(super) fn switch_mode() -> Value {
    schema("The new mode.", &[always("mode", text("The mode."))])
}

pub(super) fn update_todo_list() -> Value {
    schema(
        "The stored list.",
        &[
            always("items", count("Things on it.")),
            always("list", text("The list, one thing a line.")),
        ],
    )
}

pub(super) fn new_task() -> Value {
    schema(
        "The child session.",
        &[
            always("session_id", text("Its id.")),
            always("mode", text("Its mode.")),
        ],
    )
}

fn bounds() -> Value {
    let bound = |name, words| sometimes(name, count(words));
    object(
        "The bounds that it had.",
        &[
            bound("wall_ms", "Milliseconds from start to end."),
            bound("cpu_ms", "Milliseconds of processor time."),
            bound("memory_bytes", "Memory of all processes together."),
            bound("processes", "Processes and threads at once."),
            bound("file_bytes", "Size of one file."),
            bound("total_bytes", "Size of all that is written."),
            bound("descriptors", "Open descriptors of one process."),
            bound("output_bytes", "Bytes of output."),
        ],
    )
}

pub(super) fn execute_command() -> Value {
    let enforcer = object(
        "A wall or a limit, and who held it.",
        &[
            always("what", text("The wall or the limit.")),
            always("by", text("Who held it.")),
            always(
                "weaker",
                flag("A weaker form than this kind of host can give."),
            ),
        ],
    );
    let hit = object(
        "The bound that was hit. The run has failed then, whatever its exit code says.",
        &[
            always("limit", text("Which one.")),
            always("by", text("Who saw it.")),
            always("detail", text("What was seen.")),
        ],
    );
    let code = json!({"type": "integer", "description": "What the command returned."});
    schema(
        "How a command ended, and what it did.",
        &[
            sometimes("exit_code", code),
            sometimes("signal", count("The signal that ended it.")),
            always(
                "output",
                text("What it printed: beginning and end, both streams as they came."),
            ),
            always("output_bytes", count("Bytes that it printed.")),
            truncated(),
            sometimes(
                "artifact_id",
                text("Under which id the whole output can be read."),
            ),
            always(
                "lane",
                one_of(
                    "How it was held.",
                    &["read-only", "transaction", "snapshot"],
                ),
            ),
            always("enforcers", list("Who held what.", &enforcer)),
            sometimes("limit_hit", hit),
            always("limits", bounds()),
            always("wall_ms", count("Milliseconds from start to end.")),
            always("cpu_ms", count("Milliseconds of processor time.")),
            sometimes("peak_memory_bytes", count("The most memory at once.")),
            always("changed", list("Paths that it changed.", &text("A path."))),
            always("changed_total", count("How many paths it changed.")),
            sometimes(
                "given_up",
                flag("What it changed was given up, because it failed."),
            ),
            sometimes(
                "parked",
                text("Under which id its changes are kept for a person."),
            ),
            sometimes("long_running", text("The id of a command that goes on.")),
            sometimes(
                "hint",
                text("A known limit that its output points to, and the remedy."),
            ),
        ],
    )
}

pub(super) fn read_command_output() -> Value {
    schema(
        "A part of a stored output.",
        &[
            always("artifact_id", text("Which output.")),
            always("content", text("The part.")),
            always("offset", count("Its first byte.")),
            always("total_bytes", count("Bytes of the whole output.")),
            truncated(),
        ],
    )
}

pub(super) fn access_mcp_resource() -> Value {
    schema(
        "A resource.",
        &[
            always("uri", text("Its address.")),
            always("content", text("Its text.")),
        ],
    )
}
