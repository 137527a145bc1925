//! Every client's tools lead to the expected meaning.

use super::*;

/// The tool map of the clients: client, names, canonical meaning.
const MEANINGS: &[(&str, &str, &str)] = &[
    ("claude-code", "Read", "read_file"),
    ("claude-code", "Write", "write_to_file"),
    ("claude-code", "Edit", "edit"),
    ("claude-code", "MultiEdit", "change_file"),
    ("claude-code", "NotebookEdit", "edit_notebook"),
    ("claude-code", "Glob", "find_files"),
    ("claude-code", "Grep", "search_text"),
    ("claude-code", "Bash Monitor", "execute_command"),
    ("claude-code", "PowerShell", "run_foreign_shell"),
    ("claude-code", "WebFetch", "fetch_url"),
    ("claude-code", "WebSearch", "web_search"),
    ("claude-code", "Agent Task Workflow", "spawn_agent"),
    ("claude-code", "SendMessage", "message_agent"),
    ("claude-code", "EnterWorktree ExitWorktree", "use_worktree"),
    ("claude-code", "EnterPlanMode ExitPlanMode", "plan_mode"),
    ("claude-code", "TodoWrite", "update_todo_list"),
    (
        "claude-code",
        "TaskCreate TaskUpdate TaskList TaskGet",
        "track_tasks",
    ),
    (
        "claude-code",
        "CronCreate ScheduleWakeup RemoteTrigger",
        "schedule_agent",
    ),
    ("codex", "Bash exec_command", "execute_command"),
    ("codex", "apply_patch", "apply_patch"),
    ("codex", "write_stdin", "shell_input"),
    ("codex", "view_image", "view_image"),
    ("codex", "spawn_agent", "spawn_agent"),
    ("codex", "send_input", "message_agent"),
    ("codex", "request_permissions", "request_permissions"),
    ("codex", "web_search", "web_search"),
    ("codex", "tool_search", "search_tools"),
    (
        "codex",
        "update_plan get_goal create_goal update_goal",
        "track_tasks",
    ),
    ("cursor", "Shell", "execute_command"),
    ("cursor", "WriteShellStdin", "shell_input"),
    ("cursor", "Read", "read_file"),
    ("cursor", "ReadLints", "read_diagnostics"),
    ("cursor", "Write", "write_to_file"),
    ("cursor", "Delete", "delete_file"),
    ("cursor", "List", "list_files"),
    ("cursor", "Grep", "search_text"),
    ("cursor", "Fetch WebFetch", "fetch_url"),
    ("cursor", "WebSearch", "web_search"),
    ("cursor", "FetchMcpResource", "download_mcp_resource"),
    ("cursor", "Task", "spawn_agent"),
    ("cursor", "ComputerUse RecordScreen", "drive_desktop"),
    ("gemini-cli", "read_file", "read_file"),
    ("gemini-cli", "read_many_files", "read_files"),
    ("gemini-cli", "write_file", "write_to_file"),
    ("gemini-cli", "replace", "edit"),
    ("gemini-cli", "run_shell_command", "execute_command"),
    ("gemini-cli", "list_directory", "list_files"),
    ("gemini-cli", "glob", "find_files"),
    ("gemini-cli", "grep_search", "search_text"),
    ("gemini-cli", "web_fetch", "fetch_from_prompt"),
    ("gemini-cli", "google_web_search", "web_search"),
    ("gemini-cli", "invoke_agent", "spawn_agent"),
    ("gemini-cli", "activate_skill", "use_skill"),
    ("gemini-cli", "write_todos", "update_todo_list"),
    ("gemini-cli", "update_topic complete_task", "note"),
    ("gemini-cli", "enter_plan_mode exit_plan_mode", "plan_mode"),
    ("qwen-code", "read_file", "read_file"),
    ("qwen-code", "notebook_edit", "edit_notebook"),
    ("qwen-code", "write_file", "write_to_file"),
    ("qwen-code", "edit", "edit"),
    ("qwen-code", "run_shell_command monitor", "execute_command"),
    ("qwen-code", "glob", "find_files"),
    ("qwen-code", "grep_search", "search_text"),
    ("qwen-code", "web_fetch", "fetch_url"),
    ("qwen-code", "agent", "spawn_agent"),
    ("copilot-cli", "view", "read_file"),
    ("copilot-cli", "create Write", "write_to_file"),
    ("copilot-cli", "edit str_replace_editor", "change_file"),
    ("copilot-cli", "apply_patch", "apply_patch"),
    ("copilot-cli", "bash", "execute_command"),
    ("copilot-cli", "powershell PowerShell", "run_foreign_shell"),
    ("copilot-cli", "read_bash", "inspect_output"),
    ("copilot-cli", "stop_bash", "stop_command"),
    ("copilot-cli", "grep", "search_text"),
    ("copilot-cli", "glob", "find_files"),
    ("copilot-cli", "sql session_store_sql", "run_sql"),
    ("copilot-cli", "web_fetch", "fetch_url"),
    ("copilot-cli", "task", "spawn_agent"),
    ("opencode", "read", "read_file"),
    ("opencode", "write", "write_to_file"),
    ("opencode", "edit", "edit"),
    ("opencode", "apply_patch", "apply_patch"),
    ("opencode", "multiedit", "change_file"),
    ("opencode", "bash", "execute_command"),
    ("opencode", "glob", "find_files"),
    ("opencode", "grep", "search_text"),
    ("opencode", "list", "list_folder"),
    ("opencode", "webfetch", "fetch_url"),
    ("opencode", "task", "spawn_agent"),
    ("opencode", "todowrite", "update_todo_list"),
    ("cline", "read_files", "read_files"),
    ("cline", "editor", "change_file"),
    ("cline", "apply_patch", "apply_patch"),
    ("cline", "run_commands", "run_commands"),
    ("cline", "search_codebase", "search_text"),
    ("cline", "fetch_web_content", "fetch_pages"),
    ("cline", "spawn_agent team_run_task", "spawn_agent"),
    ("cline", "team_send_message", "message_agent"),
    ("cline", "team_task", "manage_team"),
    ("cline", "replace_in_file", "apply_diff"),
    ("cline", "write_to_file", "write_to_file"),
    ("roo-code", "search_files", "search_files"),
    ("roo-code", "edit_file", "edit_file"),
    ("roo-code", "apply_patch", "apply_patch"),
    ("roo-code", "use_mcp_tool", "use_mcp_tool"),
    ("roo-code", "new_task", "new_task"),
    ("roo-code", "switch_mode", "switch_mode"),
    ("factory-droid", "Read", "read_file"),
    ("factory-droid", "LS", "list_folder"),
    ("factory-droid", "Glob", "find_files"),
    ("factory-droid", "Grep", "search_text"),
    ("factory-droid", "Create", "write_to_file"),
    ("factory-droid", "Edit", "edit"),
    ("factory-droid", "ApplyPatch", "apply_patch"),
    ("factory-droid", "Execute", "execute_command"),
    ("factory-droid", "Task", "spawn_agent"),
    ("factory-droid", "FetchUrl", "fetch_url"),
    ("factory-droid", "WebSearch", "web_search"),
    ("goose", "shell developer__shell", "execute_command"),
    ("goose", "write", "write_to_file"),
    ("goose", "edit", "edit"),
    ("goose", "developer__text_editor", "change_file"),
    ("goose", "tree", "list_files"),
    ("goose", "analyze", "list_code_definition_names"),
    ("goose", "read_image", "view_image"),
    ("goose", "delegate", "spawn_agent"),
    ("windsurf", "pre_read_code", "read_file"),
    ("windsurf", "pre_write_code", "change_file"),
    ("windsurf", "pre_run_command", "execute_command"),
    ("windsurf", "pre_mcp_tool_use", "use_mcp_tool"),
    ("kiro", "fs_read", "read_files"),
    ("kiro", "fs_write", "change_file"),
    ("kiro", "execute_bash", "execute_command"),
    ("kiro", "use_aws", "use_cloud"),
    ("vscode", "create_file", "write_to_file"),
    ("vscode", "replace_string_in_file", "edit"),
    ("vscode", "multi_replace_string_in_file", "change_files"),
    ("vscode", "insert_edit_into_file", "change_file"),
    ("vscode", "apply_patch", "apply_patch"),
    ("vscode", "edit_notebook_file", "edit_notebook"),
    ("vscode", "read_file", "read_file"),
    ("vscode", "list_dir", "list_files"),
    ("vscode", "file_search", "find_files"),
    ("vscode", "grep_search", "search_text"),
    ("vscode", "semantic_search", "codebase_search"),
    ("vscode", "run_in_terminal", "execute_command"),
    (
        "vscode",
        "create_and_run_task run_task run_vscode_command memory",
        "run_opaque",
    ),
    (
        "vscode",
        "run_notebook_cell install_extension",
        "run_opaque",
    ),
    ("vscode", "fetch_webpage", "fetch_url"),
    ("vscode", "github_repo", "web_search"),
    ("vscode", "create_directory", "create_folder"),
];

/// G1 the tools of every client have the meaning that the fact sheet gives them.
#[test]
fn clients_tools_have_their_meaning() {
    let catalogue = built_in();
    for (id, names, meaning) in MEANINGS {
        for name in names.split(' ') {
            let found = catalogue.lookup(&client(id), name);
            let found = found.map(|resolved| resolved.tool.name.as_str());
            assert_eq!(found, Some(*meaning), "{id} {name}");
        }
    }
    let named: BTreeSet<&str> = MEANINGS.iter().map(|(id, _, _)| *id).collect();
    let known: BTreeSet<&str> = catalogue.clients().map(|c| c.id.as_str()).collect();
    assert_eq!(named, known);
}

/// Every tool and key that the clients' models are offered is known to the catalogue.
#[test]
fn keys_on_the_wire_are_known() {
    let text = include_str!("../../../tests/fixtures/keys_on_wire.json");
    let wire: BTreeMap<String, BTreeMap<String, Vec<String>>> = serde_json::from_str(text).unwrap();
    let catalogue = built_in();
    // Tools of a demonstration server, and a wrapper that no hook ever sees.
    let beyond = [
        "mcp_demo_echo",
        "mcp__demo__echo",
        "demo-echo",
        "demo_echo",
        "tool_call",
    ];
    let mut count = 0;
    for (id, tools) in &wire {
        for (name, keys) in tools {
            if beyond.contains(&name.as_str()) {
                assert!(catalogue.lookup(&client(id), name).is_none(), "{id} {name}");
                continue;
            }
            let found = catalogue.lookup(&client(id), name);
            let found = found.unwrap_or_else(|| panic!("{id} {name} is unknown"));
            let schema: serde_json::Value =
                serde_json::from_str(found.tool.input_schema.as_ref().unwrap().text()).unwrap();
            for key in keys.iter().map(|key| key.trim_end_matches('?')) {
                let canonical = found.aliases.iter().chain(&found.tool.aliases);
                let aliased = canonical.clone().any(|(alias, _)| alias == key);
                let known = aliased
                    || found.keys.iter().any(|known| known == key)
                    || schema["properties"].get(key).is_some();
                assert!(known, "{id} {name} {key}");
                count += 1;
            }
        }
    }
    assert!(count > 300, "only {count} keys");
}

/// H5 names of servers' tools are taken apart only where there is one way to do it.
#[test]
fn remote_names_are_recognised_without_doubt() {
    let mut catalogue = built_in();
    let split = |catalogue: &Catalogue, id: &str, name: &str| {
        let found = catalogue.remote_name(&client(id), name)?;
        Some(format!(
            "{} {}",
            found.server.unwrap_or_default(),
            found.tool
        ))
    };
    let expected = [
        ("claude-code", "mcp__demo__echo", Some("demo echo")),
        ("claude-code", "mcp__a__b__c", None),
        ("claude-code", "mcp__a___c", None),
        ("claude-code", "mcp____c", None),
        ("claude-code", "Bash", None),
        ("codex", "mcp__demo__echo", Some("demo echo")),
        ("qwen-code", "mcp__demo__echo", Some("demo echo")),
        ("gemini-cli", "mcp_demo_echo", Some("demo echo")),
        ("gemini-cli", "mcp_demo_read_all", None),
        ("copilot-cli", "demo-echo", None),
        ("copilot-cli", "demo/echo", None),
        ("opencode", "demo_echo", None),
        ("goose", "demo__echo", None),
        ("goose", "developer__shell", None),
        ("cursor", "MCP:echo", Some(" echo")),
        ("kiro", "@demo/echo", Some("demo echo")),
        ("nobody", "mcp__demo__echo", None),
    ];
    for (id, name, parts) in expected {
        assert_eq!(split(&catalogue, id, name).as_deref(), parts, "{id} {name}");
    }
    catalogue.know_servers(["demo".to_owned(), "a".to_owned()]);
    let expected = [
        ("copilot-cli", "demo-echo", Some("demo echo")),
        ("copilot-cli", "demo/echo", Some("demo echo")),
        ("opencode", "demo_echo", Some("demo echo")),
        ("opencode", "demo_read_all", Some("demo read_all")),
        ("goose", "demo__echo", Some("demo echo")),
        ("claude-code", "mcp__a__b__c", Some("a b__c")),
        ("opencode", "bash", None),
    ];
    for (id, name, parts) in expected {
        assert_eq!(split(&catalogue, id, name).as_deref(), parts, "{id} {name}");
    }
    catalogue.know_servers(["a__b".to_owned()]);
    assert_eq!(split(&catalogue, "claude-code", "mcp__a__b__c"), None);
}

/// G3 the handshake reaches Tagout through every client's spelling of its own server's tools.
#[test]
fn own_tools_are_found_through_every_client() {
    let catalogue = built_in();
    let expected = [
        ("claude-code", "mcp__tagout__select_active_intent"),
        ("codex", "mcp__tagout__select_active_intent"),
        ("gemini-cli", "mcp_tagout_select_active_intent"),
        ("qwen-code", "mcp__tagout__select_active_intent"),
        ("copilot-cli", "tagout-select_active_intent"),
        ("opencode", "tagout_select_active_intent"),
        ("goose", "tagout__select_active_intent"),
        ("vscode", "mcp_tagout_select_active_intent"),
        ("kiro", "@tagout/select_active_intent"),
    ];
    for (id, name) in expected {
        let found = catalogue.lookup(&client(id), name);
        let role = found.and_then(|resolved| resolved.tool.role);
        assert_eq!(role, Some(Role::SelectIntent), "{id} {name}");
    }
    let beyond = catalogue.lookup(&client("claude-code"), "mcp__tagout__read_files");
    assert!(beyond.is_none(), "only native tools are Tagout's own");
}
