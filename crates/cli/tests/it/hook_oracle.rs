//! What a client makes of an answer, by what it was seen to do.
//!
//! The measured tables name what a hook did (`exit2_stderr`, `json_deny` …) and whether the tool
//! then ran. An answer of the real binary is taken apart into the same words. Of the clients that
//! were never run, what their documents say stands in `DOCUMENTED`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::LazyLock;

use serde_json::Value;
use tagout_agents::Client;

/// Words that deny, for clients that were read and not measured, and for our own plugin.
const DOCUMENTED: [(Client, &[&str]); 5] = [
    (
        Client::Opencode,
        &["exit2_stderr", "exit2_silent", "json_deny"],
    ),
    (
        Client::Cursor,
        &["exit2_stderr", "exit2_silent", "permission_deny"],
    ),
    (Client::Vscode, &["exit2_stderr", "json_deny"]),
    (Client::Windsurf, &["exit2_stderr", "exit2_silent"]),
    (Client::Kiro, &["exit2_stderr", "exit2_silent"]),
];

static MEASURED: LazyLock<BTreeMap<Client, Value>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/tests/captures");
    let read = |client: &Client| {
        let short = client.as_str().split('-').find(|part| *part != "factory")?;
        let text = fs::read(folder.join(format!("behaviour-{short}-b.json"))).ok()?;
        Some((*client, serde_json::from_slice(&text).unwrap()))
    };
    let tables: BTreeMap<Client, Value> = Client::ALL.iter().filter_map(read).collect();
    assert_eq!(tables.len() + DOCUMENTED.len(), Client::ALL.len());
    tables
});

/// What the client does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Does {
    /// The tool runs with the arguments that the model gave.
    Runs,
    /// It runs with others.
    RunsRewritten,
    /// It does not run.
    Denies,
    /// A person is asked.
    Asks,
}

/// One answer.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) client: Client,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What was printed, if anything was.
    pub(crate) value: Option<Value>,
    /// What is wrong with its form; then the client takes it for consent.
    pub(crate) wrong: Option<&'static str>,
}

/// Reads an answer.
pub(crate) fn said(client: Client, ran: &Output) -> Said {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&ran.stdout), text(&ran.stderr));
    let value: Option<Value> = serde_json::from_str(&stdout).ok();
    let whole = value.as_ref().is_some_and(Value::is_object)
        && stdout.ends_with("}\n")
        && stdout.matches('\n').count() == 1;
    let wrong = match ran.status.code() {
        None => Some("it was ended by a signal"),
        Some(1) => Some("it ended with code 1"),
        Some(0 | 2) if stdout.is_empty() || whole => None,
        Some(0 | 2) => Some("it is not one whole object"),
        Some(_) => Some("it ended with a code that means nothing"),
    };
    Said {
        client,
        code: ran.status.code(),
        stdout,
        stderr,
        value,
        wrong,
    }
}

impl Said {
    /// What the client does with it.
    pub(crate) fn does(&self) -> Does {
        let words = self.words();
        let is = |any: &[&str]| words.iter().any(|word| any.contains(word));
        if self.wrong.is_some() {
            Does::Runs
        } else if words.iter().any(|word| self.denies(word)) {
            Does::Denies
        } else if is(&["json_ask"]) {
            Does::Asks
        } else if is(&["rewrite"]) {
            Does::RunsRewritten
        } else {
            Does::Runs
        }
    }

    pub(crate) fn runs(&self) -> bool {
        self.wrong.is_none() && matches!(self.does(), Does::Runs | Does::RunsRewritten)
    }

    /// Whether a word alone stops the tool, by what was seen or read.
    fn denies(&self, word: &str) -> bool {
        let Some(table) = MEASURED.get(&self.client) else {
            return DOCUMENTED
                .iter()
                .any(|(client, words)| *client == self.client && words.contains(&word));
        };
        // One client's table calls it otherwise.
        let word = match word {
            "exit2_stderr" | "exit2_silent" if table.get("exit2").is_some() => "exit2",
            "exit2_silent" if table.get("exit2_nostderr").is_some() => "exit2_nostderr",
            "exit2_silent" if table.get(word).is_none() => return true,
            other => other,
        };
        let asks = word == "json_ask" || word == "rewrite";
        table
            .get(word)
            .is_some_and(|row| !asks && row["ran"] != true && row["rewritten"] != true)
    }

    /// The answer in the words of the tables. Where the exit code decides, printed words do not
    /// count.
    fn words(&self) -> Vec<&'static str> {
        let mut words = Vec::new();
        match (self.code, self.stderr.trim().is_empty()) {
            (Some(2), false) => words.push("exit2_stderr"),
            (Some(2), true) => words.push("exit2_silent"),
            _ => {}
        }
        let Some(value) = &self.value else {
            return words;
        };
        // Measured: with any other code than 0 this client does not read what is printed.
        if self.client == Client::Codex && self.code != Some(0) {
            return words;
        }
        let specific = &value["hookSpecificOutput"];
        let decision = specific["permissionDecision"].as_str();
        match decision.or(value["permissionDecision"].as_str()) {
            Some("deny") if self.reads_claudes() => words.push("json_deny"),
            Some("ask") => words.push("json_ask"),
            _ => {}
        }
        match value["decision"].as_str() {
            Some("block") if self.client == Client::Goose => words.push("decision_block"),
            Some("block") if self.client == Client::GeminiCli => words.push("json_block"),
            Some("block") => words.push("legacy_block"),
            Some("deny") if self.client == Client::Goose => words.push("decision_deny"),
            Some("deny") => words.push("json_deny"),
            Some("rewrite") => words.push("rewrite"),
            _ => {}
        }
        match value["permission"].as_str() {
            Some("deny") => words.push("permission_deny"),
            Some("ask") => words.push("json_ask"),
            _ => {}
        }
        if value["cancel"] == true {
            words.push("cancel");
        }
        let new = [
            &specific["updatedInput"],
            &specific["tool_input"],
            &value["modifiedArgs"],
        ];
        let other = [&value["overrideInput"], &value["updated_input"]];
        if new.iter().chain(&other).any(|one| one.is_object()) {
            words.push("rewrite");
        }
        words
    }

    /// Measured: some clients pass over the form that most took over.
    fn reads_claudes(&self) -> bool {
        !matches!(
            self.client,
            Client::GeminiCli | Client::Goose | Client::Cline | Client::Opencode
        )
    }
}
