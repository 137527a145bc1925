//! The native tools: each a declaration and the function behind it.
//!
//! What a tool accepts and which capabilities it needs stands in the catalogue, which the judge
//! reads too; here it is looked up, not written again.

mod commands;
mod diff;
mod files;
mod input;
mod looking;
mod output;
mod patches;
mod reading;
mod session;

use serde_json::{Map, Value};
use tagout_gate::policy::catalogue::{Catalogue, InputSchema};
use tagout_gate::{Command, Context, Tool, ToolError};
use tagout_vocab::limits::{
    COMMAND_TIME_MS_MAX, RUN_FILE_BYTES_MAX, RUN_MEMORY_BYTES_MAX, TOOL_FILE_BYTES_MAX,
    TOOL_MEMORY_BYTES_MAX, TOOL_SEARCH_TIME_MS_MAX, TOOL_TIME_MS_MAX,
};
use tagout_vocab::{Declaration, ResourceLimits, Role, Schema};
use thiserror::Error;

use input::Input;

type Run = fn(Input<'_>, &mut Context<'_, '_>) -> Result<Value, ToolError>;

/// Why the native tools can't be offered.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum NativeError {
    /// The catalogue has no such native tool.
    #[error("the catalogue does not describe the native tool `{tool}`")]
    NotDescribed {
        /// The tool.
        tool: String,
    },
    /// The catalogue's schema of the tool is no JSON.
    #[error("the catalogue's schema of `{tool}` can't be read")]
    Schema {
        /// The tool.
        tool: String,
    },
}

/// What is said about a tool here and nowhere else.
struct Spec {
    /// Its name in the catalogue.
    id: &'static str,
    /// The name people read.
    name: &'static str,
    /// What it does, for whoever chooses a tool.
    about: &'static str,
    output: fn() -> Value,
    time_ms_max: u64,
    promise: Promise,
    run: Run,
}

/// What running a tool again means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Promise {
    /// The same workspace and input give the same output, and once more changes nothing more.
    Repeatable,
    /// The same workspace and input give the same output; once more is another change or an error.
    Deterministic,
    /// The output holds a fresh id.
    Fresh,
}

const SPECS: &[Spec] = &[
    Spec {
        id: "read_file",
        name: "Read file",
        about: "Reads a file of the workspace, whole or in part. Lines come as they are, \
                without numbers; `start_line` says where they begin. Of a file that is not \
                text come its size and digest. A file has to be read before it is overwritten.",
        output: output::read_file,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: reading::read_file,
    },
    Spec {
        id: "list_files",
        name: "List files",
        about: "Lists the entries of a folder, and with `recursive` of all folders beneath \
                it. What the ignore files of the workspace leave out is not listed.",
        output: output::list_files,
        time_ms_max: TOOL_SEARCH_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: looking::list_files,
    },
    Spec {
        id: "search_files",
        name: "Search files",
        about: "Searches the files beneath a folder line by line for a regular expression, \
                and shows the lines beside each match.",
        output: output::search_files,
        time_ms_max: TOOL_SEARCH_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: looking::search_files,
    },
    Spec {
        id: "codebase_search",
        name: "Search the codebase",
        about: "Ranks parts of files by the words of a question. It works on this machine \
                alone, by words and names, not by a model.",
        output: output::codebase_search,
        time_ms_max: TOOL_SEARCH_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: looking::codebase_search,
    },
    Spec {
        id: "list_code_definition_names",
        name: "List definitions",
        about: "Lists the functions, types and other definitions of a source file, or of \
                the source files that lie directly in a folder.",
        output: output::list_code_definition_names,
        time_ms_max: TOOL_SEARCH_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: looking::list_code_definition_names,
    },
    Spec {
        id: "write_to_file",
        name: "Write file",
        about: "Writes a whole file, and the folders above it where they are missing. An \
                existing file keeps its encoding, its mode, and `\\r\\n` where all of its \
                lines end so.",
        output: output::write_to_file,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: files::write_to_file,
    },
    Spec {
        id: "apply_diff",
        name: "Apply diff",
        about: "Changes one file by `<<<<<<< SEARCH` blocks or by unified hunks. The old \
                lines have to stand in the file exactly and at one place only; \
                `:start_line:` chooses among several. All changes are made, or none.",
        output: output::apply_diff,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Deterministic,
        run: diff::apply_diff,
    },
    Spec {
        id: "edit",
        name: "Edit",
        about: "Replaces a text in a file. It has to occur exactly once, unless \
                `replace_all` is set. An empty old text fills a new or empty file.",
        output: output::replaced,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Deterministic,
        run: diff::edit,
    },
    Spec {
        id: "search_and_replace",
        name: "Search and replace",
        about: "Replaces a text in a file. It has to occur exactly once, unless \
                `replace_all` is set.",
        output: output::replaced,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Deterministic,
        run: diff::edit,
    },
    Spec {
        id: "search_replace",
        name: "Replace once",
        about: "Replaces a text in a file. It has to occur exactly once, unless \
                `replace_all` is set.",
        output: output::replaced,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Deterministic,
        run: diff::edit,
    },
    Spec {
        id: "edit_file",
        name: "Edit file",
        about: "Replaces a text in a file, which has to occur as often as \
                `expected_replacements` says: once, if it says nothing. An empty old text \
                fills a new or empty file.",
        output: output::replaced,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Deterministic,
        run: diff::edit_file,
    },
    Spec {
        id: "apply_patch",
        name: "Apply patch",
        about: "Adds, changes, moves and deletes files as a patch says, in the `*** Begin \
                Patch` form or as a unified diff. The whole patch is applied, or nothing \
                of it. Context has to match exactly and at one place only; blanks at line \
                ends may differ where that is beyond doubt.",
        output: output::apply_patch,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Deterministic,
        run: patches::apply_patch,
    },
    Spec {
        id: "delete_file",
        name: "Delete file",
        about: "Deletes a file or a link. Folders are not deleted.",
        output: output::delete_file,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Deterministic,
        run: files::delete_file,
    },
    Spec {
        id: "select_active_intent",
        name: "Select intent",
        about: "Selects the intent to work on, and answers with its scope, its constraints \
                and its acceptance criteria. Needed before anything is changed.",
        output: output::select_active_intent,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: session::select_active_intent,
    },
    Spec {
        id: "propose_intent",
        name: "Propose intent",
        about: "Asks a person for a new intent, or for a wider scope of an existing one. A \
                person answers; until then nothing changes.",
        output: output::propose_intent,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Fresh,
        run: session::propose_intent,
    },
    Spec {
        id: "ask_followup_question",
        name: "Ask a question",
        about: "Asks the person a question. It is stored until someone answers; asking the \
                same again gives the answer.",
        output: output::ask_followup_question,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Fresh,
        run: session::ask_followup_question,
    },
    Spec {
        id: "attempt_completion",
        name: "Complete",
        about: "Says that the task is done, and gives up the session's intent.",
        output: output::attempt_completion,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: session::attempt_completion,
    },
    Spec {
        id: "switch_mode",
        name: "Switch mode",
        about: "Notes the mode in which the agent works. Every call is judged the same in \
                every mode.",
        output: output::switch_mode,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: session::switch_mode,
    },
    Spec {
        id: "update_todo_list",
        name: "Update to-do list",
        about: "Replaces the agent's own list of things to do.",
        output: output::update_todo_list,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: session::update_todo_list,
    },
    Spec {
        id: "new_task",
        name: "New task",
        about: "Begins a child session for another agent. Its law is never wider than this \
                one's.",
        output: output::new_task,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Fresh,
        run: session::new_task,
    },
    Spec {
        id: "execute_command",
        name: "Execute command",
        about: "Runs a command line in a sandbox. One that only reads sees the workspace \
                read-only; one that may write works on a layer, and what it changed is \
                applied if the intent owns all of it, and kept for a person otherwise. \
                Build folders, caches and `/tmp` stay between the commands of a session \
                and never reach the workspace. There is no network unless a person \
                granted it, and nothing on standard input.",
        output: output::execute_command,
        time_ms_max: COMMAND_TIME_MS_MAX,
        promise: Promise::Fresh,
        run: commands::execute_command,
    },
    Spec {
        id: "read_command_output",
        name: "Read command output",
        about: "Reads the stored output of a command, whole or in part, or the lines of it \
                that hold a text.",
        output: output::read_command_output,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: commands::read_command_output,
    },
    Spec {
        id: "access_mcp_resource",
        name: "Read MCP resource",
        about: "Reads a resource of an MCP server.",
        output: output::access_mcp_resource,
        time_ms_max: TOOL_TIME_MS_MAX,
        promise: Promise::Repeatable,
        run: reading::access_mcp_resource,
    },
];

/// One native tool.
struct Native {
    declaration: Declaration,
    role: Option<Role>,
    run: Run,
}

impl Tool for Native {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn command(&self, input: &Map<String, Value>) -> Option<Command> {
        match self.role {
            // What is wrong with the input is told by the run.
            Some(Role::Shell) => commands::wanted(Input::new(input)).ok(),
            Some(_) | None => None,
        }
    }

    fn run(
        &self,
        input: &Map<String, Value>,
        context: &mut Context<'_, '_>,
    ) -> Result<Value, ToolError> {
        (self.run)(Input::new(input), context)
    }
}

/// Every native tool, as the catalogue describes it.
pub fn native(catalogue: &Catalogue) -> Result<Vec<Box<dyn Tool>>, NativeError> {
    SPECS.iter().map(|spec| made(spec, catalogue)).collect()
}

/// Those native tools that play one of some parts: who needs no more of them does not wait for
/// the others.
pub fn native_playing(
    roles: &[Role],
    catalogue: &Catalogue,
) -> Result<Vec<Box<dyn Tool>>, NativeError> {
    let playing: Vec<&str> = roles
        .iter()
        .filter_map(|role| Some(catalogue.by_role(*role)?.name.as_str()))
        .collect();
    SPECS
        .iter()
        .filter(|spec| playing.contains(&spec.id))
        .map(|spec| made(spec, catalogue))
        .collect()
}

fn made(spec: &Spec, catalogue: &Catalogue) -> Result<Box<dyn Tool>, NativeError> {
    Ok(Box::new(Native {
        declaration: declaration(spec, catalogue)?,
        role: catalogue.native_tool(spec.id).and_then(|tool| tool.role),
        run: spec.run,
    }))
}

/// What a tool may use up. A command may use more than a tool that runs in this process, because
/// the sandbox holds it.
fn limits(spec: &Spec, role: Option<Role>) -> ResourceLimits {
    let (memory, file) = match role {
        Some(Role::Shell) => (RUN_MEMORY_BYTES_MAX, RUN_FILE_BYTES_MAX),
        Some(_) | None => (TOOL_MEMORY_BYTES_MAX, TOOL_FILE_BYTES_MAX),
    };
    ResourceLimits {
        max_execution_time_ms: Some(spec.time_ms_max),
        max_memory_bytes: Some(memory),
        max_file_size_bytes: Some(file),
    }
}

fn declaration(spec: &Spec, catalogue: &Catalogue) -> Result<Declaration, NativeError> {
    let tool = || spec.id.to_owned();
    let entry = catalogue
        .native_tool(spec.id)
        .ok_or_else(|| NativeError::NotDescribed { tool: tool() })?;
    let schema = entry.input_schema.as_ref();
    let schema = schema.map_or("", InputSchema::text);
    let input_schema =
        serde_json::from_str(schema).map_err(|_| NativeError::Schema { tool: tool() })?;
    Ok(Declaration {
        id: tool(),
        version: "1.0.0".to_owned(),
        name: spec.name.to_owned(),
        description: spec.about.to_owned(),
        input_schema,
        output_schema: Schema::later(spec.output),
        required_capabilities: entry.capabilities.clone(),
        resource_limits: limits(spec, entry.role),
        deterministic: spec.promise != Promise::Fresh,
        idempotent: spec.promise == Promise::Repeatable,
    })
}
