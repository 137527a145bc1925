//! Hooks go into configuration files and come out again, byte for byte, beside what others wrote.

use proptest::prelude::*;
use serde_json::Value;
use tagout_agents::Client;
use tagout_agents::install::plan::{Base, Layout, Place, Scope};
use tagout_agents::install::{
    Binary, FileEdit, FindingKind, InstallError, Texts, check, files, install_plan,
    instruction_block, instruction_file, put_instructions, take_instructions, uninstall_plan,
};

pub(crate) fn binary() -> Binary {
    Binary {
        program: "/opt/tag out/tagout".to_owned(),
        workspace: Some("/home/dev/project".to_owned()),
        state: Some("/home/dev/.local/state/tagout".to_owned()),
    }
}

pub(crate) fn apply(texts: &Texts, edits: &[FileEdit]) -> Texts {
    let mut texts = texts.clone();
    for edit in edits {
        match &edit.text {
            Some(text) => texts.insert(edit.place.clone(), text.clone()),
            None => texts.remove(&edit.place),
        };
    }
    texts
}

fn scopes() -> impl Iterator<Item = (Client, Scope)> {
    Client::ALL
        .iter()
        .flat_map(|client| Scope::ALL.map(|scope| (*client, scope)))
        .filter(|(client, scope)| files(*client, *scope).is_ok())
}

/// The file in which handlers are merged with others', where the client has such a file.
fn merged(client: Client, scope: Scope) -> Option<Place> {
    match client.profile().install.layout {
        Layout::PluginFile | Layout::Executables => None,
        _ => files(client, scope)
            .ok()?
            .pop()
            .filter(|place| !place.is_toml()),
    }
}

fn installed(client: Client, scope: Scope, texts: &Texts) -> Texts {
    apply(
        texts,
        &install_plan(client, scope, &binary(), texts).unwrap(),
    )
}

/// Installs into a text, checks that a second time changes nothing, and takes out again.
fn round_trip(client: Client, scope: Scope, before: &Texts) -> Texts {
    let there = installed(client, scope, before);
    let again = install_plan(client, scope, &binary(), &there).unwrap();
    assert_eq!(again, [], "{client} {scope:?}: twice is once");
    let mut other = binary();
    other.program = "/usr/bin/tagout".to_owned();
    let moved = apply(
        &there,
        &install_plan(client, scope, &other, &there).unwrap(),
    );
    let back = apply(
        &moved,
        &install_plan(client, scope, &binary(), &moved).unwrap(),
    );
    assert_eq!(
        back, there,
        "{client} {scope:?}: a moved program leaves nothing behind"
    );
    let after = apply(&there, &uninstall_plan(client, scope, &there).unwrap());
    assert_eq!(&after, before, "{client} {scope:?}: byte for byte");
    there
}

/// Into nothing, and nothing is left.
#[test]
fn into_nothing_and_out_again() {
    let mut count = 0;
    for (client, scope) in scopes() {
        let there = round_trip(client, scope, &Texts::new());
        assert!(!there.is_empty());
        count += 1;
    }
    assert!(count >= 30, "{count}");
}

/// What is written, as a person would see it.
#[test]
fn what_is_written() {
    for client in Client::ALL {
        let edits = install_plan(*client, Scope::Project, &binary(), &Texts::new()).unwrap();
        let shown: Vec<String> = edits
            .iter()
            .map(|edit| {
                let mode = if edit.executable { " (executable)" } else { "" };
                format!(
                    "== {}{mode}\n{}",
                    edit.place.path,
                    edit.text.as_ref().unwrap()
                )
            })
            .collect();
        insta::assert_snapshot!(format!("install_{client}"), shown.join("\n"));
    }
    let managed = install_plan(Client::Codex, Scope::Managed, &binary(), &Texts::new()).unwrap();
    insta::assert_snapshot!("install_codex_managed", managed[0].text.as_ref().unwrap());
}

/// Managed hooks of one client hold only with a setting beside them, which is written once.
#[test]
fn a_managed_file_holds_what_keeps_hooks_on() {
    let place = Place {
        base: Base::System,
        path: "etc/codex/requirements.toml".to_owned(),
    };
    let plan = |text: &str| {
        let texts = Texts::from([(place.clone(), text.to_owned())]);
        install_plan(Client::Codex, Scope::Managed, &binary(), &texts)
    };
    let written = |text: &str| plan(text).unwrap()[0].text.clone().unwrap();
    for free in ["", "x = 1\n", "[mcp_servers.features]\nhooks = 1\n"] {
        let text = written(free);
        assert_eq!(
            text.matches("[features]\nhooks = true\n").count(),
            1,
            "{free}"
        );
        assert!(plan(&text).unwrap().is_empty(), "{free}");
    }
    for held in [
        "[features]\nhooks = true\n",
        "features.hooks = true\n",
        "features = { hooks = true }\n",
    ] {
        assert_eq!(written(held).matches("features").count(), 1, "{held}");
    }
    for other in [
        "[features]\nweb = true\n",
        "[features]\nhooks = false\n",
        "features.web = true\n",
        "[features.deep]\na = 1\n",
    ] {
        let error = plan(other).unwrap_err();
        let InstallError::Text { source, .. } = &error else {
            panic!("{other}: {error}");
        };
        let why = source.to_string();
        assert!(why.contains("`[features]` has no `hooks = true`"), "{why}");
    }
}

/// The same in a file of JSON: a new one says it, another has to, and taking out leaves nothing.
#[test]
fn a_managed_json_file_holds_what_keeps_hooks_on() {
    let place = Place {
        base: Base::System,
        path: "etc/gemini-cli/settings.json".to_owned(),
    };
    let texts = |text: &str| Texts::from([(place.clone(), text.to_owned())]);
    let plan = |texts: &Texts| install_plan(Client::GeminiCli, Scope::Managed, &binary(), texts);
    let new = plan(&Texts::new()).unwrap()[0].text.clone().unwrap();
    assert!(new.contains("\"hooksConfig\": {\"enabled\":true}"), "{new}");
    assert!(plan(&texts(&new)).unwrap().is_empty());
    let out = uninstall_plan(Client::GeminiCli, Scope::Managed, &texts(&new)).unwrap();
    assert_eq!(out[0].text, None);
    let held = "{\"hooksConfig\": {\"enabled\": true}}\n";
    let written = plan(&texts(held)).unwrap()[0].text.clone().unwrap();
    assert_eq!(written.matches("hooksConfig").count(), 1, "{written}");
    for other in ["{\"a\": 1}\n", "{\"hooksConfig\": {\"enabled\": false}}\n"] {
        assert!(plan(&texts(other)).is_err(), "{other}");
    }
    let project = install_plan(Client::GeminiCli, Scope::Project, &binary(), &Texts::new());
    assert!(
        !project.unwrap()[0]
            .text
            .as_ref()
            .unwrap()
            .contains("hooksConfig")
    );
}

/// In its managed file one client takes hooks under another key than its editor's for broken.
#[test]
fn a_managed_file_has_the_key_that_the_client_runs() {
    let written = |scope| {
        let plan = install_plan(Client::CopilotCli, scope, &binary(), &Texts::new()).unwrap();
        plan[0].text.clone().unwrap()
    };
    let key = |text: &str| (text.contains("\"bash\":"), text.contains("\"command\":"));
    assert_eq!(key(&written(Scope::Managed)), (true, false));
    assert_eq!(key(&written(Scope::Project)), (false, true));
    assert_eq!(key(&written(Scope::User)), (false, true));
}

/// What a repository says does not switch managed hooks off, and is not said to.
#[test]
fn managed_hooks_are_not_switched_off_by_a_repository() {
    for (client, path, text) in [
        (
            Client::Codex,
            ".codex/config.toml",
            "[features]\nhooks = false\n",
        ),
        (
            Client::ClaudeCode,
            ".claude/settings.json",
            "{\"disableAllHooks\": true}\n",
        ),
        (
            Client::GeminiCli,
            ".gemini/settings.json",
            "{\"hooksConfig\": {\"enabled\": false}}\n",
        ),
        (
            Client::CopilotCli,
            ".github/copilot/settings.json",
            "{\"disableAllHooks\": true}\n",
        ),
    ] {
        let place = Place {
            base: Base::Workspace,
            path: path.to_owned(),
        };
        let texts = Texts::from([(place, text.to_owned())]);
        let off = |scope| {
            let found = check(client, scope, &binary(), &texts);
            found.iter().any(|one| one.kind == FindingKind::SwitchedOff)
        };
        assert!(off(Scope::Project) && off(Scope::User), "{client}");
        assert!(!off(Scope::Managed), "{client}");
    }
}

/// Files as people really have them.
const FOUND: &[&str] = &[
    "",
    "\n",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "\u{feff}{}",
    "{ // nothing yet\n}\n",
    "{\"version\": 1}\n",
    "{\n  \"version\": 1\n}\n",
    "{\n  \"model\": \"opus\", // the big one\n  \"env\": {\"A\": \"1\"},\n}\n",
    "{\r\n\t\"theme\": \"dark\",\r\n\t\"hooks\": {}\r\n}\r\n",
    "{\n    \"hooks\": {\n        \"PreToolUse\": []\n    }\n}\n",
    "{\"hooks\":{\"PreToolUse\":[ ],\"Stop\":[\n]}}",
    "/* mine */ { \"a\": [1, 2, /* three */ 3] } // end",
];

/// What is not ours stays as it is.
#[test]
fn into_files_of_others_and_out_again() {
    for client in Client::ALL.iter().copied() {
        let scope = Scope::User;
        let Some(place) = merged(client, scope) else {
            continue;
        };
        for text in FOUND {
            // One client's file is one list, which is no object.
            if matches!(client.profile().install.layout, Layout::Triggers) && text.contains("hooks")
            {
                continue;
            }
            let mut before = Texts::new();
            before.insert(place.clone(), (*text).to_owned());
            round_trip_keeping(client, scope, &before, &place);
        }
    }
}

fn round_trip_keeping(client: Client, scope: Scope, before: &Texts, place: &Place) {
    let there = round_trip(client, scope, before);
    let text = &before[place];
    // Every comment and every key of the owner is still there.
    for word in [
        "// the big one",
        "/* three */",
        "// end",
        "\"theme\": \"dark\"",
        "\"A\": \"1\"",
    ] {
        assert_eq!(
            text.contains(word),
            there[place].contains(word),
            "{client} {word}"
        );
    }
}

fn foreign(client: Client) -> (Place, String) {
    let place = merged(client, Scope::User).unwrap();
    let event = client.registered().next().unwrap().name;
    let entry =
        r#"{ "matcher": "x", "hooks": [ { "type": "command", "command": "other-guard" } ] }"#;
    let text = match client.profile().install.layout {
        Layout::Groups { under: None, .. } => format!("{{\n  \"{event}\": [ {entry} ]\n}}\n"),
        Layout::Triggers => {
            "{ \"version\": \"v1\", \"hooks\": [ { \"name\": \"mine\" } ] }".to_owned()
        }
        _ => format!("{{\n  \"hooks\": {{\n    \"{event}\": [ {entry} ] // keep\n  }}\n}}\n"),
    };
    (place, text)
}

/// Hooks of others stay before ours, in their order, and run as before.
#[test]
fn beside_hooks_of_others() {
    for client in Client::ALL {
        if merged(*client, Scope::User).is_none() {
            continue;
        }
        let (place, text) = foreign(*client);
        let before = Texts::from([(place.clone(), text)]);
        let there = round_trip(*client, Scope::User, &before);
        let whole = &there[&place];
        let theirs = whole
            .find("other-guard")
            .or_else(|| whole.find("mine"))
            .unwrap();
        assert!(theirs < whole.find("--client").unwrap(), "{client}");
        assert_eq!(
            whole
                .matches(&format!("--event {}", first(*client)))
                .count()
                + whole.matches(&format!("\"{}\"\n", first(*client))).count()
                + usize::from(*client == Client::ClaudeCode),
            1,
            "{client} {whole}"
        );
    }
}

fn first(client: Client) -> &'static str {
    client.registered().next().unwrap().name
}

/// An entry that somebody added after ours stays when ours goes.
#[test]
fn what_was_added_later_stays() {
    let place = merged(Client::Codex, Scope::User).unwrap();
    let there = installed(Client::Codex, Scope::User, &Texts::new());
    let text = there[&place].replacen("\n    ],", ",\n      {\"hooks\": [\"later\"]}\n    ],", 1);
    assert_ne!(text, there[&place]);
    let texts = Texts::from([(place.clone(), text)]);
    let after = apply(
        &texts,
        &uninstall_plan(Client::Codex, Scope::User, &texts).unwrap(),
    );
    let left: Value = serde_json::from_str(&after[&place]).unwrap();
    assert_eq!(
        left,
        serde_json::json!({"hooks": {"PreToolUse": [{"hooks": ["later"]}]}})
    );
}

/// The hooks of one client are not another's.
#[test]
fn hooks_of_another_client_in_the_same_file_stay() {
    let place = merged(Client::ClaudeCode, Scope::User).unwrap();
    let there = installed(Client::ClaudeCode, Scope::User, &Texts::new());
    let text = there[&place].replace("claude-code", "copilot-cli");
    let texts = Texts::from([(place.clone(), text.clone())]);
    assert_eq!(
        uninstall_plan(Client::ClaudeCode, Scope::User, &texts).unwrap(),
        []
    );
    let both = installed(Client::ClaudeCode, Scope::User, &texts);
    let after = apply(
        &both,
        &uninstall_plan(Client::ClaudeCode, Scope::User, &both).unwrap(),
    );
    assert_eq!(after[&place], text);
}

/// What can't be understood is not touched.
#[test]
fn broken_files_are_refused() {
    for text in [
        "{",
        "[]",
        "{\"hooks\": 3}",
        "{\"hooks\": {\"PreToolUse\": {}}}",
        "{'a': 1}",
        "nul",
        "{\"a\":1,\"a\":2}",
        "{} {}",
        "{\"hooks\": {\"PreToolUse\": [}}",
        "{\"a\": \"\u{1}",
    ] {
        let place = merged(Client::ClaudeCode, Scope::User).unwrap();
        let texts = Texts::from([(place, text.to_owned())]);
        let plan = install_plan(Client::ClaudeCode, Scope::User, &binary(), &texts);
        assert!(matches!(plan, Err(InstallError::Text { .. })), "{text}");
    }
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let texts = Texts::from([(merged(Client::ClaudeCode, Scope::User).unwrap(), deep)]);
    assert!(install_plan(Client::ClaudeCode, Scope::User, &binary(), &texts).is_err());
}

/// A TOML file that is not whole, or that says already what ours would say, is not touched.
#[test]
fn broken_tables_are_refused() {
    let place = files(Client::Codex, Scope::Managed).unwrap().remove(0);
    for (text, told) in [
        ("a = \"open", "line 1: a text does not end"),
        ("[table\n", "line 1: a table's name does not end"),
        ("\na = [1,\n2\n", "line 2: a value does not end"),
        ("a = ]", "line 1: a bracket is not open"),
        (
            "# fine\njust words\n",
            "line 2: neither a table nor a key with a value",
        ),
        ("a =", "line 1: a key has no value"),
        ("hooks = {}\n", "`hooks` is not what the client reads there"),
        (
            "hooks.Stop = []\n",
            "`hooks` is not what the client reads there",
        ),
        (
            "[hooks]\nStop = []\n",
            "`hooks` is not what the client reads there",
        ),
    ] {
        let texts = Texts::from([(place.clone(), text.to_owned())]);
        match install_plan(Client::Codex, Scope::Managed, &binary(), &texts) {
            Err(InstallError::Text { source, .. }) => assert_eq!(source.to_string(), told),
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// A file of somebody else where ours has to stand is neither overwritten nor removed.
#[test]
fn files_of_others_are_not_overwritten() {
    for client in [Client::Cline, Client::Opencode, Client::Goose] {
        let place = files(client, Scope::Project).unwrap().remove(0);
        let texts = Texts::from([(place, "#!/bin/sh\necho mine\n".to_owned())]);
        let plan = install_plan(client, Scope::Project, &binary(), &texts);
        assert!(
            matches!(plan, Err(InstallError::Occupied { .. })),
            "{client}"
        );
        assert_eq!(uninstall_plan(client, Scope::Project, &texts).unwrap(), []);
    }
    assert!(matches!(
        install_plan(Client::Goose, Scope::Managed, &binary(), &Texts::new()),
        Err(InstallError::NoScope { .. })
    ));
}

/// Every registered event is there, and where a client can be made to fail closed it is.
#[test]
fn every_registered_event_is_written() {
    for (client, scope) in scopes() {
        let there = installed(client, scope, &Texts::new());
        let whole: String = there
            .iter()
            .map(|(place, text)| format!("{}\n{text}", place.path))
            .collect();
        for event in client.registered() {
            assert!(whole.contains(event.name), "{client} {}", event.name);
        }
        assert!(whole.contains("/opt/tag out/tagout"), "{client}: absolute");
    }
    let closed = |client, word| {
        let there = installed(client, Scope::Project, &Texts::new());
        assert!(there.values().any(|text| text.contains(word)), "{client}");
    };
    closed(Client::ClaudeCode, "\"onFailure\": \"block\"");
    closed(Client::Cursor, "\"failClosed\": true");
    for client in [
        Client::Codex,
        Client::GeminiCli,
        Client::QwenCode,
        Client::FactoryDroid,
        Client::Goose,
        Client::Vscode,
        Client::Windsurf,
        Client::Kiro,
        Client::CopilotCli,
    ] {
        closed(client, "exit 2");
    }
    closed(Client::Cline, "\"cancel\":true");
    closed(Client::Opencode, "so the call is denied");
}

/// H15 the block goes into the instruction file and out again, and speaks of what this client can.
#[test]
fn instructions_go_in_and_out() {
    for client in Client::ALL {
        assert_eq!(instruction_file(*client).base, Base::Workspace);
        for before in [
            None,
            Some(""),
            Some("# Mine"),
            Some("# Mine\n"),
            Some("a\r\nb\r\n"),
            Some("a\r\nb"),
            Some("a\n\n\n"),
            Some("a\n\r"),
        ] {
            let there = put_instructions(*client, before);
            assert!(there.contains("tagout intent select"), "{client}");
            assert_eq!(
                put_instructions(*client, Some(&there)),
                there,
                "twice is once"
            );
            assert_eq!(
                take_instructions(&there).as_deref(),
                before,
                "{client} {before:?}"
            );
        }
    }
    let open = "<!-- tagout:begin -->\nnever ended\n";
    let there = put_instructions(Client::Codex, Some(open));
    assert_eq!(
        take_instructions(&there).as_deref(),
        Some(open),
        "what never ended is not ours"
    );
    assert_eq!(
        take_instructions("nothing of ours").as_deref(),
        Some("nothing of ours")
    );
    insta::assert_snapshot!("instructions", instruction_block(Client::Goose));
    let old = put_instructions(Client::Goose, Some("# Mine\n")).replace("Reading is", "It was");
    let new = put_instructions(Client::Codex, Some(&old));
    assert_eq!(
        new,
        put_instructions(Client::Codex, Some("# Mine\n")),
        "an old block is replaced"
    );
}

/// H15 clients that read the same file get one block that is true for all of them, so that none
/// changes what another's agents were told.
#[test]
fn clients_of_one_file_share_one_block() {
    for client in Client::ALL {
        for other in Client::ALL {
            if instruction_file(*client) != instruction_file(*other) {
                continue;
            }
            let first = put_instructions(*client, Some("# Mine\n"));
            assert_eq!(
                put_instructions(*other, Some(&first)),
                first,
                "{client} {other}"
            );
        }
    }
    let shared = instruction_block(Client::Codex);
    assert!(
        shared.contains("names a line with `tagout exec`"),
        "{shared}"
    );
    assert!(
        shared.contains("handing work to helpers is refused"),
        "{shared}"
    );
    insta::assert_snapshot!("instructions_alone", instruction_block(Client::QwenCode));
}

fn space() -> impl Strategy<Value = String> + Clone {
    prop::sample::select(vec![
        "",
        "",
        " ",
        "\n",
        "\n  ",
        "\r\n\t",
        " /* c, ] } \" */ ",
        " // c\n",
    ])
    .prop_map(str::to_owned)
}

fn document() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "1",
        "-2.5e3",
        "true",
        "null",
        "\"a\"",
        "\"\\\"{[\\\\\"",
        "[]",
        "{}",
    ])
    .prop_map(str::to_owned);
    let value = leaf.prop_recursive(4, 24, 4, |inner| {
        let spaced = (space(), inner, space())
            .prop_map(|(a, value, b)| format!("{a}{value}{b}"))
            .boxed();
        let items = (
            prop::collection::vec(spaced.clone(), 0..4),
            any::<bool>(),
            space(),
        );
        let list = items.prop_map(|(items, comma, end)| {
            let comma = if comma && !items.is_empty() { "," } else { "" };
            format!("[{}{comma}{end}]", items.join(","))
        });
        let keys = prop::sample::subsequence(
            vec!["hooks", "PreToolUse", "Stop", "a", "version", "BeforeTool"],
            0..5,
        );
        let members = (
            keys,
            prop::collection::vec(spaced, 5),
            any::<bool>(),
            space(),
        );
        let object = members.prop_map(|(keys, values, comma, end)| {
            let comma = if comma && !keys.is_empty() { "," } else { "" };
            let pairs: Vec<String> = keys
                .iter()
                .zip(values)
                .map(|(key, value)| format!("{end}\"{key}\":{value}"))
                .collect();
            format!("{{{}{comma}{end}}}", pairs.join(","))
        });
        prop_oneof![list, object]
    });
    (space(), value, space()).prop_map(|(a, value, b)| format!("{a}{value}{b}"))
}

/// A file in which hooks can stand: objects and lists where a client looks for them.
fn configuration() -> impl Strategy<Value = String> {
    let items = (
        prop::collection::vec(document(), 0..3),
        any::<bool>(),
        space(),
    );
    let list = items.prop_map(|(items, comma, end)| {
        let comma = if comma && !items.is_empty() { "," } else { "" };
        format!("[{}{comma}{end}]", items.join(","))
    });
    let events = vec![
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SessionStart",
        "BeforeTool",
    ];
    let keys = prop::sample::subsequence(events, 0..4);
    let members = (
        keys,
        prop::collection::vec(list, 4),
        any::<bool>(),
        space(),
        space(),
    );
    let object = members.prop_map(|(keys, values, comma, start, end)| {
        let comma = if comma && !keys.is_empty() { "," } else { "" };
        let pairs: Vec<String> = keys
            .iter()
            .zip(values)
            .map(|(key, value)| format!("{start}\"{key}\":{end}{value}"))
            .collect();
        format!("{{{}{comma}{end}}}", pairs.join(","))
    });
    let hooks = prop::option::of(object);
    let others = prop::collection::vec(document(), 0..3);
    (hooks, others, any::<bool>(), space(), space()).prop_map(|(hooks, others, first, a, b)| {
        let mut members: Vec<String> = others
            .iter()
            .enumerate()
            .map(|(at, value)| format!("{a}\"k{at}\":{value}"))
            .collect();
        let at = if first { 0 } else { members.len() };
        members.splice(
            at..at,
            hooks.map(|hooks| format!("{b}\"hooks\"{a}:{hooks}")),
        );
        format!("{a}{{{}{b}}}{a}", members.join(","))
    })
}

fn toml_line() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "# a comment",
        "[table]",
        "[[list]] # more",
        "key = 1",
        "text = \"a # b \\\" c\" # d",
        "long = \"\"\"a\nb \\\"\"\" c\n\"\"\"",
        "raw = '''\n]\n'''",
        "many = [\n  1, # one\n  { a = 'x' },\n]",
        "[hooks]\ndescription = \"mine\"\n[after]",
        "[[hooks.Stop]]",
    ])
    .prop_map(str::to_owned)
}

/// Every file of every client and scope in which hooks are merged with what others wrote.
fn mergeable() -> Vec<(Client, Scope, Place)> {
    let one = |(client, scope)| merged(client, scope).map(|place| (client, scope, place));
    scopes().filter_map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Hooks go into every file in which they can stand, and out byte for byte.
    #[test]
    fn any_configuration_survives(text in configuration(), pick in any::<prop::sample::Index>()) {
        let all = mergeable();
        let (client, scope, place) = pick.get(&all).clone();
        let before = Texts::from([(place.clone(), text.clone())]);
        let Ok(edits) = install_plan(client, scope, &binary(), &before) else {
            // One client keeps one list where the others keep an object, and an administrator's
            // file that does not hold hooks on is theirs to mend.
            let install = &client.profile().install;
            let held = scope == Scope::Managed && install.held.is_some();
            prop_assert!(held || matches!(install.layout, Layout::Triggers));
            return Ok(());
        };
        let there = apply(&before, &edits);
        prop_assert!(install_plan(client, scope, &binary(), &there).unwrap().is_empty());
        let after = apply(&there, &uninstall_plan(client, scope, &there).unwrap());
        prop_assert_eq!(after.get(&place), Some(&text));
    }

    /// Whatever a file holds: it is refused, or hooks go in and out byte for byte.
    #[test]
    fn any_file_survives(text in document(), pick in any::<prop::sample::Index>()) {
        let all = mergeable();
        let (client, scope, place) = pick.get(&all).clone();
        let before = Texts::from([(place.clone(), text.clone())]);
        let Ok(edits) = install_plan(client, scope, &binary(), &before) else {
            return Ok(());
        };
        let there = apply(&before, &edits);
        prop_assert!(install_plan(client, scope, &binary(), &there).unwrap().is_empty());
        let after = apply(&there, &uninstall_plan(client, scope, &there).unwrap());
        prop_assert_eq!(after.get(&place), Some(&text));
    }

    /// An instruction file gets its block and loses it again, byte for byte, whatever it holds.
    #[test]
    fn any_instructions_survive(
        text in "[#a \n\r\u{e9}`<>!-]{0,40}",
        pick in any::<prop::sample::Index>(),
    ) {
        let client = *pick.get(Client::ALL);
        let there = put_instructions(client, Some(&text));
        prop_assert_eq!(put_instructions(client, Some(&there)), there.clone());
        prop_assert_eq!(take_instructions(&there), Some(text));
    }

    /// Tables go to the end of a TOML file and out again, byte for byte.
    #[test]
    fn any_toml_survives(
        lines in prop::collection::vec(toml_line(), 0..8),
        end in "[\r\n]{0,2}",
    ) {
        let text = lines.join("\n") + &end;
        let scope = Scope::Managed;
        let place = files(Client::Codex, scope).unwrap().remove(0);
        let before = Texts::from([(place.clone(), text.clone())]);
        let there = installed(Client::Codex, scope, &before);
        prop_assert!(there[&place].starts_with(&text));
        prop_assert!(install_plan(Client::Codex, scope, &binary(), &there).unwrap().is_empty());
        let after = apply(&there, &uninstall_plan(Client::Codex, scope, &there).unwrap());
        prop_assert_eq!(after.get(&place), Some(&text));
    }

    /// No text makes the reader panic.
    #[test]
    fn arbitrary_text_does_not_panic(text in "[\\[\\]{}\",:/* \n\\\\a1\u{e9}-]{0,60}") {
        for client in Client::ALL {
            let Some(place) = merged(*client, Scope::User) else { continue };
            let texts = Texts::from([(place, text.clone())]);
            let plan = install_plan(*client, Scope::User, &binary(), &texts);
            let taken = uninstall_plan(*client, Scope::User, &texts);
            prop_assert!(plan.is_err() || taken.is_ok());
        }
    }
}
