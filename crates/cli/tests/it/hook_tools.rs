//! Which tools of a client run commands: those that the catalogue calls so, with the arguments that
//! it knows, and no others, whatever they carry that looks like a command.

use serde_json::{Value, json};
use tagout_agents::profile::Rewrite;
use tagout_agents::{Client, Kind};
use tagout_policy::catalogue::{self, Catalogue, TargetForm, Tool};
use tagout_vocab::Role;

use crate::confined::Site;
use crate::hook_oracle::{Does, Said};
use crate::hooked::{Call, ask, for_every_client, site_for};

/// The names of a client's tools with what each of them means.
fn tools_of(client: Client, catalogue: &Catalogue) -> Vec<(String, Tool)> {
    let known = catalogue.clients().find(|one| one.id == client.as_str());
    let entry = |entry: &catalogue::ClientTool| {
        let tool = catalogue.tool(&entry.tool).unwrap();
        (entry.name.clone(), tool.clone())
    };
    let tools = known.unwrap().tools().map(entry);
    // The event is the tool there, and this one comes after it.
    tools
        .filter(|(name, _)| !name.starts_with("post_"))
        .collect()
}

/// Tools of servers that nobody declared, in the client's spelling.
fn remote(client: Client, catalogue: &Catalogue) -> Vec<String> {
    let known = catalogue.clients().find(|one| one.id == client.as_str());
    let patterns = known.unwrap().mcp.iter();
    let spelled = |pattern: &catalogue::McpPattern, server: &str, tool: &str| {
        let between = pattern.separator.as_ref();
        let server = between.map_or_else(String::new, |between| format!("{server}{between}"));
        format!("{}{server}{tool}", pattern.prefix)
    };
    let all = patterns.flat_map(|pattern| {
        [
            spelled(pattern, "github", "merge_pull_request"),
            spelled(pattern, "computercontroller", "automation_script"),
            spelled(pattern, "github", "bash"),
        ]
    });
    all.collect()
}

/// Arguments that look like those of a shell.
fn disguises() -> Vec<Value> {
    let own = format!("'{}' exec -- ls", env!("CARGO_BIN_EXE_tagout"));
    let select = format!("'{}' intent select INT-001", env!("CARGO_BIN_EXE_tagout"));
    vec![
        json!({"command": "ls"}),
        json!({"commands": ["ls"]}),
        json!({"command": ["ls"]}),
        json!({"pull_number": 1, "cmd": "ls"}),
        json!({"command": "ls", "args": ["; touch kept/pwn"]}),
        json!({"command": own}),
        json!({"command": "tagout exec -- ls"}),
        json!({"script": "touch kept/pwn", "language": "shell", "command": own}),
        json!({"command": select}),
    ]
}

/// How much of all pairs of tools and disguises is tried.
#[derive(Clone, Copy)]
enum Pairs {
    /// Every tool once, every disguise, and all of them for what nobody declared.
    Sample,
    All,
}

/// One call that must not run.
struct Disguised {
    name: String,
    arguments: Value,
}

fn disguised(client: Client, catalogue: &Catalogue, pairs: Pairs) -> Vec<Disguised> {
    let tools = tools_of(client, catalogue);
    let (shells, others): (Vec<_>, Vec<_>) = tools
        .into_iter()
        .partition(|(_, tool)| tool.role == Some(Role::Shell));
    let with = |name: &str, arguments: Value| Disguised {
        name: name.to_owned(),
        arguments,
    };
    let mut all = Vec::new();
    let disguises = disguises();
    for (at, (name, _)) in others.iter().enumerate() {
        let one = &disguises[at % disguises.len()];
        let chosen = match pairs {
            Pairs::Sample => std::slice::from_ref(one),
            Pairs::All => &disguises,
        };
        all.extend(chosen.iter().map(|one| with(name, one.clone())));
    }
    // Where the event is the tool there are no others.
    if client.event(&others[0].0).is_none() {
        let unknown = ["nobody_declared_this".to_owned()];
        for name in remote(client, catalogue).iter().chain(&unknown) {
            all.extend(disguises.iter().map(|one| with(name, one.clone())));
        }
    }
    // Further arguments, and a program of the model's choice that the line would be given to.
    for (name, tool) in &shells {
        for (key, value) in [
            ("args", json!(["; touch kept/pwn"])),
            ("shell", json!("src/evil")),
        ] {
            let mut arguments = plain(tool);
            arguments[key] = value;
            all.push(with(name, arguments));
        }
    }
    all
}

/// The least that a shell's tool takes.
fn plain(tool: &Tool) -> Value {
    match &tool.targets {
        TargetForm::Command { key } if key == "commands" => json!({"commands": ["ls"]}),
        TargetForm::Command { key } => json!({ key: "ls" }),
        TargetForm::Argv { key } => json!({ key: ["ls"] }),
        TargetForm::Params
        | TargetForm::Patch { .. }
        | TargetForm::Nothing
        | TargetForm::Address { .. }
        | TargetForm::Remote { .. }
        | TargetForm::Unknown => panic!("{}: {:?}", tool.name, tool.targets),
    }
}

fn asked(site: &Site, client: Client, at: usize, one: &Disguised) -> Said {
    let id = format!("d{at}");
    let ids = ("main", id.as_str());
    ask(
        site,
        &Call::tool(client, ids, &one.name, one.arguments.clone()),
    )
}

/// What is no shell is refused before anything was selected, however much it looks like one.
fn others(client: Client, pairs: Pairs) {
    let site = site_for(&[]);
    let catalogue = Catalogue::built_in().unwrap();
    let all = disguised(client, &catalogue, pairs);
    assert!(all.len() >= 5, "{client}: {}", all.len());
    let passed = all.iter().enumerate().filter_map(|(at, one)| {
        let said = asked(&site, client, at, one);
        let refused = said.does() == Does::Denies && said.wrong.is_none();
        (!refused).then(|| format!("{client}: {} {}: {said:?}", one.name, one.arguments))
    });
    let passed: Vec<String> = passed.collect();
    let count = passed.len();
    assert!(passed.is_empty(), "{count} run:\n{}", passed.join("\n"));
}

/// After an intent was selected, what is no shell is never taken for one.
fn others_in_action(client: Client) {
    let site = site_for(&[client]);
    let catalogue = Catalogue::built_in().unwrap();
    for (at, one) in disguised(client, &catalogue, Pairs::Sample)
        .iter()
        .enumerate()
    {
        let said = asked(&site, client, at, one);
        let rewritten = said.does() == Does::RunsRewritten || said.stdout.contains("--permit");
        assert!(
            !rewritten && said.wrong.is_none(),
            "{client}: {} {}: {said:?}",
            one.name,
            one.arguments
        );
        let declared = tools_of(client, &catalogue);
        let is_known = declared.iter().any(|(name, _)| *name == one.name);
        assert!(
            is_known || said.does() == Does::Denies,
            "{client}: {said:?}"
        );
    }
}

/// Every tool that runs commands by the catalogue is still one for the hook.
fn shells(client: Client) {
    let site = site_for(&[]);
    let catalogue = Catalogue::built_in().unwrap();
    let tools = tools_of(client, &catalogue);
    let shells = tools
        .iter()
        .filter(|(_, tool)| tool.role == Some(Role::Shell));
    let mut seen = 0;
    for (at, (name, tool)) in shells.enumerate() {
        let one = Disguised {
            name: name.clone(),
            arguments: plain(tool),
        };
        let said = asked(&site, client, at, &one);
        let rewrites = client
            .events()
            .any(|event| event.kind == Kind::Pre && event.powers.rewrite != Rewrite::Never);
        let expected = if rewrites {
            Does::RunsRewritten
        } else {
            Does::Runs
        };
        assert_eq!(said.does(), expected, "{client}: {name}: {said:?}");
        assert_eq!(
            said.stdout.contains("--permit"),
            rewrites,
            "{client}: {name}"
        );
        seen += 1;
    }
    assert!(seen > 0, "{client} has no shell");
}

for_every_client!({
    tools_that_look_like_shells_are_judged_as_what_they_are =>
        |client| super::others(client, super::Pairs::Sample),
    slow_every_tool_in_every_disguise => |client| super::others(client, super::Pairs::All),
    tools_that_look_like_shells_are_never_rewritten => super::others_in_action,
    the_shells_of_the_catalogue_are_shells => super::shells,
});
