//! Calls that real clients made are understood.

use super::*;

/// The effects of every captured call, sorted.
const EFFECTS: &str = "
claude-code Agent: delegate
claude-code Bash: run echo hi > c.txt; cat c.txt
claude-code Bash: run touch marker
claude-code Edit: write b.txt
claude-code Read: read a.txt
claude-code WebFetch: reach 127.0.0.1
claude-code Write: write b.txt
claude-code Write: write sub.txt
claude-code mcp__demo__echo: remote demo echo, unknown
cline editor: write b.txt
cline fetch_web_content: reach 127.0.0.1
cline read_files: read a.txt
cline run_commands: run echo hi > c.txt; cat c.txt
cline run_commands: run echo s > sub.txt
cline search_codebase: read .
cline spawn_agent: delegate
codex Bash: run echo hi > c.txt; cat c.txt
codex Bash: run echo sub > sub.txt
codex Bash: run touch marker
codex apply_patch: write b.txt, write a.txt
codex apply_patch: write patched.txt
codex mcp__demo__echo: remote demo echo, unknown
codex spawn_agent: delegate
copilot-cli Agent: delegate
copilot-cli Bash: run echo hi > c.txt; cat c.txt
copilot-cli Bash: run echo s > sub.txt
copilot-cli Edit: write b.txt
copilot-cli Glob: read *.txt
copilot-cli Grep: read .
copilot-cli Read: read a.txt
copilot-cli WebFetch: reach 127.0.0.1
copilot-cli Write: write b.txt
copilot-cli bash: run echo hi > c.txt; cat c.txt
copilot-cli create: write b.txt
copilot-cli demo-echo: unknown
copilot-cli demo/echo: unknown
copilot-cli edit: write b.txt
copilot-cli glob: read *.txt
copilot-cli grep: read .
copilot-cli task: delegate
copilot-cli view: read a.txt
copilot-cli web_fetch: reach 127.0.0.1
factory-droid ApplyPatch: unknown
factory-droid Create: write b.txt
factory-droid Edit: write b.txt
factory-droid Execute: run echo hi > c.txt; cat c.txt
factory-droid Glob: read *.txt, read .
factory-droid Grep: read .
factory-droid LS: read .
factory-droid Read: read a.txt
factory-droid Task: delegate
gemini-cli glob: read *.txt
gemini-cli grep_search: read .
gemini-cli invoke_agent: delegate
gemini-cli list_directory: read .
gemini-cli mcp_demo_echo: remote demo echo, unknown
gemini-cli read_file: read a.txt
gemini-cli replace: write b.txt
gemini-cli run_shell_command: run echo hi > c.txt; cat c.txt
gemini-cli web_fetch: reach 127.0.0.1
gemini-cli write_file: write b.txt
gemini-cli write_todos: nothing
goose edit: write b.txt
goose shell: run echo hi > c.txt; cat c.txt
goose tree: read .
goose write: write b.txt
opencode bash: run echo hi > c.txt; cat c.txt
opencode demo_echo: unknown
opencode edit: write b.txt
opencode glob: read *.txt
opencode grep: read .
opencode read: read a.txt
opencode task: delegate
opencode webfetch: reach 127.0.0.1
opencode write: write b.txt
qwen-code agent: delegate
qwen-code edit: write b.txt
qwen-code glob: read *.txt
qwen-code grep_search: read .
qwen-code mcp__demo__echo: remote demo echo, unknown
qwen-code read_file: read a.txt
qwen-code run_shell_command: run echo hi > c.txt; cat c.txt
qwen-code web_fetch: reach 127.0.0.1
qwen-code write_file: write b.txt
qwen-code write_file: write sub.txt
";

fn captured() -> Vec<Call> {
    let text = include_str!("../../../tests/fixtures/captured_calls.jsonl");
    text.lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| row[key].as_str().unwrap().to_owned();
            client_call(&text("client"), &text("tool"), &row["arguments"])
        })
        .collect()
}

/// L7, A3 every captured call of a client's own tool passes its input check and has known effects.
#[test]
fn captured_calls_are_understood() {
    let calls = captured();
    assert!(calls.len() > 80);
    for call in calls {
        let of_a_server = call.tool.contains("demo");
        let shown = shown(&call);
        CATALOGUE.with(|catalogue| {
            let normalised = normalise(&call, catalogue);
            assert_eq!(normalised.tool.is_none(), of_a_server, "{call:?}");
            let checked = check_input(&normalised);
            assert_eq!(checked, Ok(()), "{call:?}");
        });
        // One client's patch arrives as JSON in a text, which is not guessed.
        let nested = call.tool == "ApplyPatch";
        let unknown = shown.iter().any(|effect| effect == "unknown");
        assert_eq!(unknown, nested || of_a_server, "{call:?} {shown:?}");
    }
}

#[test]
fn captured_effects() {
    let mut lines: Vec<String> = captured()
        .iter()
        .map(|call| {
            let Origin::Client { client } = &call.origin else {
                panic!("not a client's call");
            };
            let mut found = shown(call);
            if found.is_empty() {
                found.push("nothing".to_owned());
            }
            format!("{client} {}: {}", call.tool, found.join(", "))
        })
        .collect();
    lines.sort();
    lines.dedup();
    assert_eq!(lines.join("\n"), EFFECTS.trim());
}
