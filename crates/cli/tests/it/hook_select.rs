//! Tagout's own verbs as agents of clients use them: from the line that the model writes to what it
//! reads in the end, wherever its client runs commands and wherever the state lies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tagout_agents::Client;
use tagout_agents::profile::Rewrite;

use crate::confined::{Ran, Site};
use crate::hook_oracle::{Does, Said, said};
use crate::hooked::{Call, Line, fed, hook, in_full, intent_of, select, site_for, told};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tagout");

/// How the agent learns that an intent is its own.
const CONTEXT: &str = "<intent_context>";

/// What a client runs commands at.
#[derive(Clone, Copy, Debug)]
enum At {
    Pipe,
    Terminal,
}

/// A workspace, and where its state lies.
struct Desk {
    site: Site,
    state: PathBuf,
}

impl Desk {
    fn usual() -> Self {
        let site = site_for(&[]);
        let state = site.home().join(".local/state/tagout");
        Self { site, state }
    }

    /// The state lies where no shell looks by itself.
    fn elsewhere() -> Self {
        let Self { site, state } = Self::usual();
        let moved = site.home().join("other states");
        fs::rename(&state, &moved).unwrap();
        Self { site, state: moved }
    }

    fn ask(&self, call: &Call) -> Said {
        let event = call.before();
        let line = Line {
            state: Some(&self.state),
            ..Line::of(call.client, &event)
        };
        let ran = fed(hook(&self.site, &line), &call.payload(&self.site.root()));
        said(call.client, &ran)
    }

    /// What the client's shell, which knows a home and nothing else, makes of a line.
    fn run(&self, line: &str, at: At) -> Ran {
        self.run_in(&self.site.root(), line, at)
    }

    /// The same in a folder that the agent went to.
    fn run_in(&self, folder: &Path, line: &str, at: At) -> Ran {
        let mut command = match at {
            At::Pipe => Command::new("/bin/sh"),
            At::Terminal => Command::new("script"),
        };
        match at {
            At::Pipe => command.args(["-c", line]),
            At::Terminal => command.args(["-qec", line, "/dev/null"]),
        };
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.site.home());
        Ran::of(&command.output().unwrap(), Path::new("/nowhere"))
    }

    /// Plays a line of an agent: the hook's answer to what was run in the end, and its end.
    fn played(&self, client: Client, line: &str, at: At) -> (Said, Ran) {
        let mut line = line.to_owned();
        // One refusal may name the line to run instead.
        for _ in 0..2 {
            let said = self.ask(&Call::shell(client, ("main", &line), &line));
            match said.does() {
                Does::Runs => return (said, self.run(&line, at)),
                Does::RunsRewritten => {
                    let other = command_in(said.value.as_ref().unwrap());
                    return (said.clone(), self.run(&other.unwrap(), at));
                }
                Does::Denies | Does::Asks => line = instead(&said),
            }
        }
        panic!("{client}: `{line}` is refused for ever");
    }

    fn log(&self) -> String {
        let state = self.state.to_str().unwrap();
        self.site
            .tagout(&["log", "--json", "--state-dir", state])
            .stdout
    }
}

/// The command in an answer.
fn command_in(value: &Value) -> Option<String> {
    let own = match value.get("command").or(value.get("commands")) {
        Some(Value::Array(all)) => all.first(),
        other => other,
    };
    let own = own.and_then(Value::as_str).map(str::to_owned);
    own.or_else(|| value.as_object()?.values().find_map(command_in))
}

/// The line that a refusal names.
fn instead(said: &Said) -> String {
    let text = said.stderr.trim().strip_prefix("tagout: ").unwrap();
    let refusal: Value = serde_json::from_str(text).unwrap();
    let remedy = refusal["remedy"].as_str().unwrap();
    let line = remedy.strip_prefix("run exactly this instead: ");
    line.unwrap_or_else(|| panic!("{said:?}")).to_owned()
}

fn pre(client: Client) -> tagout_agents::profile::Powers {
    let call = Call::shell(client, ("main", "c"), "ls");
    client.event(&call.before()).unwrap().powers
}

/// H1, §13.3: the agent of every client reads the intent's context when its selection was made,
/// also where the client runs commands at a terminal: in the hook's own answer where the client
/// takes context, and in what the command prints. Nobody else selects anything.
#[test]
fn slow_every_client_is_told_what_it_selected() {
    let desk = Desk::usual();
    for client in Client::ALL {
        for at in [At::Pipe, At::Terminal] {
            let line = format!("tagout intent select {}", intent_of(*client));
            let (said, ran) = desk.played(*client, &line, at);
            assert_eq!(ran.code, Some(0), "{client}, {at:?}: {}", ran.shown());
            assert!(ran.stdout.contains(CONTEXT), "{client}: {}", ran.shown());
            let in_answer = said.stdout.contains(CONTEXT);
            assert_eq!(in_answer, pre(*client).context, "{client}: {said:?}");
        }
    }
    let log = desk.log();
    assert!(!log.contains("terminal-"), "{log}");
}

/// Where a client drops the hook's line and runs the one that the model wrote, the agent is told
/// all the same, once.
#[test]
fn a_line_that_stays_as_it_was_is_told() {
    let client = Client::Vscode;
    for at in [At::Pipe, At::Terminal] {
        let desk = Desk::usual();
        let line = format!("'{PROGRAM}' intent select {}", intent_of(client));
        let said = desk.ask(&Call::shell(client, ("main", "c"), &line));
        assert_eq!(said.does(), Does::RunsRewritten, "{said:?}");
        let ran = desk.run(&line, at);
        assert_eq!(ran.code, Some(0), "{at:?}: {}", ran.shown());
        assert!(ran.stdout.contains(CONTEXT), "{at:?}: {}", ran.shown());
        assert!(!desk.log().contains("terminal-"));
        let again = desk.run(&line, at);
        assert_ne!(again.code, Some(0), "{at:?}: {}", again.shown());
    }
}

/// A line under a hook's note is told once, and never selects by itself.
#[test]
fn a_selection_is_told_once() {
    let id = intent_of(Client::ClaudeCode);
    works_once(&format!("tagout intent select {id}"));
}

/// What the hook made of a line works once, and never in the terminal's own session.
fn works_once(line: &str) {
    let desk = Desk::usual();
    let said = desk.ask(&Call::shell(Client::ClaudeCode, ("main", "c"), line));
    let line = command_in(said.value.as_ref().unwrap()).unwrap();
    assert_eq!(desk.run(&line, At::Terminal).code, Some(0));
    let again = desk.run(&line, At::Terminal);
    assert_eq!(again.code, Some(2), "{}", again.shown());
    assert!(!desk.log().contains("terminal-"));
}

/// A person at a terminal selects for that terminal, whatever hooks did for others before.
#[test]
fn a_person_selects_for_their_terminal() {
    let desk = Desk::usual();
    let first = format!("'{PROGRAM}' intent select {}", intent_of(Client::Goose));
    let ran = desk.run(&first, At::Terminal);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(desk.log().contains("terminal-"));
    // What a conversation holds, nobody else can have, and a person is told whose it is.
    let (other, client) = (intent_of(Client::Kiro), Client::Kiro);
    let line = in_full(&desk.site, &format!("intent select {other}"));
    let said = desk.ask(&Call::shell(client, ("main", "c"), &line));
    assert!(said.runs(), "{said:?}");
    let ran = desk.run(&line, At::Terminal);
    assert!(ran.stdout.contains("kiro:main"), "{}", ran.shown());
}

/// What becomes of a line that is not refused as one for people, neither at once nor where it is
/// confined.
fn acts(desk: &Desk, client: Client, (call, line): (&str, &str)) -> Option<String> {
    let said = desk.ask(&Call::shell(client, ("main", call), line));
    let command = match said.does() {
        Does::Runs => line.to_owned(),
        Does::RunsRewritten => command_in(said.value.as_ref().unwrap()).unwrap(),
        Does::Denies | Does::Asks => {
            let text = told(&said);
            let is_refused = text.contains("PERSON_ONLY") && !text.contains(":victim");
            return (!is_refused).then(|| format!("{client}, {line}: {said:?}"));
        }
    };
    let path = Path::new(PROGRAM).parent().unwrap();
    let command = format!("PATH={}:$PATH; {command}", path.display());
    let ran = desk.run(&command, At::Pipe);
    let is_refused = ran.code == Some(126) && ran.stderr.contains("PERSON_ONLY");
    (!is_refused).then(|| format!("{client}, {line}: {}", ran.shown()))
}

/// §13.3: no agent takes an intent up, or asks for one, in another conversation than its own, or in
/// nobody's; whatever the spelling, the client, and the command around it.
#[test]
fn no_conversation_acts_in_another() {
    for client in [Client::ClaudeCode, Client::Goose] {
        let desk = Desk::usual();
        let id = intent_of(Client::Kiro);
        let victim = format!("{client}:victim");
        let own = format!("'{PROGRAM}'");
        let full = in_full(&desk.site, "exec");
        let propose = "intent propose --name a --scope 'b/**' --reason c";
        let lines = [
            format!("tagout intent select {id} --session {victim}"),
            format!("{own} intent select {id} --session {victim}"),
            format!("{own} intent select --session={victim} {id} --json"),
            format!("{own} intent select {id} --session nobody"),
            format!("{own} --workspace=. intent select {id}"),
            format!("{own} intent select {id} --state-dir /elsewhere"),
            format!("{own} {propose} --session {victim}"),
            format!("{own} {propose} --workspace=."),
            format!("tagout --state-dir=/elsewhere {propose}"),
            format!("cd src; {own} {propose}"),
            format!("cd src && tagout intent select {id} --session {victim}"),
            format!("cd src && {own} intent select {id}"),
            format!("bash -c 'tagout intent select {id} --session {victim}'"),
            format!("tagout intent select {id} 2>/dev/null"),
            format!("cd src && tagout exec --intent {id} -- ls"),
            format!("{own} --workspace=. exec --intent {id} -- ls"),
            format!("tagout --workspace=. exec --intent {id} -- ls"),
            format!("tagout --workspace . exec --intent={id} -- ls"),
            "tagout --state-dir=/elsewhere exec -- ls".to_owned(),
            format!("{own} exec --intent {id} --workspace=. -- ls"),
            format!("{own} exec --session={victim} -- ls"),
            format!("{own} exec --end --session {victim}"),
            format!("cd src; {own} exec -- ls"),
            format!("{own} exec -- ls > /dev/null"),
            format!("{full} -- 'tagout intent select {id} --session {victim}'"),
            // What a shell takes for a part of the last word, or for another one.
            format!("{full} --intent {id} -- 'touch src/kiro/x'\u{a0}"),
            format!("{full} --intent {id} -- touch src/kiro/x\u{2028}"),
            format!("{full} --intent {id} -- =touch src/kiro/x"),
        ];
        let wrong: Vec<String> = lines
            .iter()
            .enumerate()
            .filter_map(|(at, line)| acts(&desk, client, (&format!("c-{at}"), line)))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let write = Call::write(client, ("victim", "w"), "src/kiro/a.txt", "x");
        let said = desk.ask(&write);
        assert!(
            told(&said).contains("STATE_VIOLATION"),
            "{client}: {said:?}"
        );
        let state = desk.state.to_str().unwrap();
        let listed = desk.site.tagout(&["intent", "list", "--state-dir", state]);
        assert!(!listed.stdout.contains("held by"), "{}", listed.shown());
        assert!(!desk.log().contains("terminal-"), "{client}");
        // To look at what another one did is no act.
        let log = format!("tagout log --session {victim}");
        assert_eq!(desk.played(client, &log, At::Pipe).1.code, Some(0));
    }
}

/// §13.3: where lines can't be rewritten, one that acts says where, and bears nobody's note: the
/// folder that its shell is in by then may belong to another workspace.
#[test]
fn a_line_that_stays_as_it_is_says_where_it_acts() {
    let (desk, other) = (Desk::usual(), Desk::usual());
    let (here, there) = (desk.site.root(), other.site.root());
    for client in [
        Client::Goose,
        Client::QwenCode,
        Client::Windsurf,
        Client::Kiro,
    ] {
        let select = format!("intent select {}", intent_of(client));
        let propose = format!("intent propose --name {client} --scope 'b/**' --reason c");
        let exec = "exec -- 'ls src'".to_owned();
        for (verb, ends) in [(&select, 0), (&propose, 0), (&exec, 126)] {
            let ask = |line: &str| desk.ask(&Call::shell(client, ("main", line), line));
            let said = ask(&format!("'{PROGRAM}' {verb}"));
            assert_eq!(said.does(), Does::Denies, "{client}, {verb}: {said:?}");
            let line = instead(&said);
            let said = ask(&line);
            assert!(said.runs(), "{client}, {line}: {said:?}");
            let ran = desk.run_in(&there, &line, At::Pipe);
            assert_eq!(ran.code, Some(ends), "{client}, {line}: {}", ran.shown());
        }
        for verb in [&select, &propose] {
            let line = format!("{} --permit n-1", in_full(&desk.site, verb));
            let said = desk.ask(&Call::shell(client, ("main", "n"), &line));
            assert!(told(&said).contains("PERSON_ONLY"), "{client}: {said:?}");
        }
        let session = format!("{client}:main");
        assert!(desk.log().contains(&session), "{}", desk.log());
    }
    assert_ne!(here, there);
    assert!(!desk.log().contains("terminal-"), "{}", desk.log());
    assert!(!other.log().contains("session_id"), "{}", other.log());
    let waits = other.site.tagout(&["pending"]).stdout;
    assert!(!waits.contains("propose"), "{waits}");
}

/// §13.5: where lines can't be rewritten, a line that is too long to be read, or to be told again
/// whole, leads to a script file and not in a circle.
#[test]
fn too_long_a_line_leads_on() {
    let desk = Desk::usual();
    let full = in_full(&desk.site, "exec");
    for client in [Client::Goose, Client::Kiro] {
        select(&desk.site, client, "main", &intent_of(client));
        let long = |count: usize| format!("echo {} > src/{client}/a.txt", "x".repeat(count));
        for (line, code) in [
            (format!("{full} -- '{}'", long(40_000)), "LIMIT_EXCEEDED"),
            (long(40_000), "LIMIT_EXCEEDED"),
            (long(12_000), "_"),
        ] {
            let said = desk.ask(&Call::shell(client, ("main", "c"), &line));
            let text = told(&said);
            assert_eq!(said.does(), Does::Denies, "{client}: {text}");
            let is_told = text.contains(code) && text.contains("put it into a script file");
            assert!(is_told, "{client}, {}: {text}", line.len());
        }
        let line = long(2_000);
        let said = desk.ask(&Call::shell(client, ("main", "c"), &line));
        assert!(!told(&said).contains("script file"), "{said:?}");
    }
}

/// H18, §13.3: what an agent asks for is asked in its own conversation, once for each line, and
/// found by whoever looks for what waits.
#[test]
fn an_agent_proposes_in_its_own_conversation() {
    for desk in [Desk::usual(), Desk::elsewhere()] {
        for client in [Client::ClaudeCode, Client::Cline, Client::Goose] {
            let name = format!("more for {client}");
            let line = format!(
                "tagout intent propose --name '{name}' --scope 'b/**' --reason 'it is due'"
            );
            let (said, ran) = desk.played(client, &line, At::Pipe);
            let told = format!("{client}: {said:?}\n{}", ran.shown());
            assert_eq!(ran.code, Some(0), "{told}");
            let state = desk.state.to_str().unwrap();
            let waits = desk.site.tagout(&["pending", "--state-dir", state]);
            assert!(waits.stdout.contains(&name), "{}", waits.shown());
            let (session, log) = (format!("{client}:main"), desk.log());
            let asked = |line: &&str| line.contains("\"proposed\"");
            let last = log.lines().rfind(asked).unwrap();
            assert!(last.contains(&session), "{last}");
            assert!(!log.contains("terminal-"), "{log}");
        }
    }
}

/// A line under a hook's note asks once, and never for anybody else.
#[test]
fn a_proposal_is_made_once() {
    works_once("tagout intent propose --name a --scope 'b/**' --reason c");
}

/// How a verb is used can be asked of every verb, in both ways, by every agent; to ask is not to
/// do. What is asked for in JSON may say so first, and what goes on is ended in the conversation.
#[test]
fn agents_are_told_how() {
    let desk = Desk::usual();
    for client in [Client::ClaudeCode, Client::Goose] {
        let id = intent_of(client);
        for (line, shown) in [
            ("tagout intent select --help".to_owned(), "Usage:"),
            ("tagout intent select -h".to_owned(), "Usage:"),
            ("tagout intent propose --help".to_owned(), "Usage:"),
            ("tagout exec --help".to_owned(), "Usage:"),
            ("tagout approve --help".to_owned(), "Usage:"),
            ("tagout help".to_owned(), "Commands:"),
            ("tagout help exec".to_owned(), "Usage: tagout exec"),
            ("tagout help intent propose".to_owned(), "--scope"),
            ("tagout help approve".to_owned(), "Usage:"),
            (format!("tagout intent select --json {id}"), "context"),
            ("tagout exec --json --end".to_owned(), "\"ended\":[]"),
        ] {
            let (said, ran) = desk.played(client, &line, At::Pipe);
            let told = format!("{client}, {line}: {said:?}\n{}", ran.shown());
            assert_eq!(ran.code, Some(0), "{told}");
            assert!(ran.stdout.contains(shown), "{told}");
        }
    }
    assert!(!desk.log().contains("terminal-"));
}

/// §13.2: what is for people has no line that an agent could run instead.
#[test]
fn no_remedy_names_a_line_for_people() {
    let desk = Desk::elsewhere();
    for client in [Client::Goose, Client::QwenCode, Client::ClaudeCode] {
        for line in ["tagout approve a-1", "tagout grant list --yes"] {
            let said = desk.ask(&Call::shell(client, ("main", line), line));
            assert_eq!(said.does(), Does::Denies, "{client}: {said:?}");
            let text = told(&said);
            assert!(text.contains("PERSON_ONLY"), "{client}: {said:?}");
            assert!(!text.contains("run exactly"), "{client}: {said:?}");
        }
    }
}

/// The state may lie where no shell looks: the agent can still do all that it may, by the lines
/// that its instructions teach or by the ones that a refusal names, and is never told that it is
/// lost. One client takes other lines, one a list of them, one none.
#[test]
fn a_state_elsewhere_is_found() {
    let desk = Desk::elsewhere();
    for client in [Client::ClaudeCode, Client::Cline, Client::Goose] {
        let id = intent_of(client);
        let file = format!("src/{client}/a.txt");
        let lines = [
            ("tagout intent list".to_owned(), id.as_str()),
            (format!("tagout intent select {id}"), CONTEXT),
            (format!("'{PROGRAM}' intent select {id} --json"), "context"),
            (format!("'{PROGRAM}' log"), "intent"),
            ("tagout prove 1".to_owned(), "tagout-proof"),
            (format!("tagout exec -- 'echo own > {file}'"), ""),
            (format!("cat {file}"), "own"),
            (format!("echo plain > {file}"), ""),
        ];
        for (line, shown) in lines {
            let (said, ran) = desk.played(client, &line, At::Pipe);
            let told = format!("{client}, {line}: {said:?}\n{}", ran.shown());
            assert_eq!(ran.code, Some(0), "{told}");
            assert!(ran.stdout.contains(shown), "{told}");
        }
        assert_eq!(desk.site.read(&file).as_deref(), Some("plain\n"));
        let other = "tagout exec --state-dir /elsewhere -- ls";
        let said = desk.ask(&Call::shell(client, ("main", "other"), other));
        assert_eq!(said.does(), Does::Denies, "{client}: {said:?}");
    }
}

/// What a refusal names is let through as it stands, so that nothing has to be guessed: also with
/// places that anybody could have written, as long as they are the workspace's own.
#[test]
fn own_places_may_be_told() {
    let desk = Desk::usual();
    let client = Client::Goose;
    assert_eq!(pre(client).rewrite, Rewrite::Never);
    let root = desk.site.root();
    let (root, state) = (root.to_str().unwrap(), desk.state.to_str().unwrap());
    let asked = |places: &str| {
        let line = format!("'{PROGRAM}' exec {places} -- 'ls src'");
        desk.ask(&Call::shell(client, ("main", places), &line))
            .does()
    };
    assert_eq!(
        asked(&format!("--workspace {root} --state-dir={state}")),
        Does::Runs
    );
    for other in [
        format!("--workspace {root} --state-dir {state}/x"),
        "--workspace /".to_owned(),
        format!("--state-dir {state} --session goose:other"),
    ] {
        assert_eq!(asked(&other), Does::Denies, "{other}");
    }
}
