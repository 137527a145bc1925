//! The reference page says what the tables say.

use std::fs;
use std::path::Path;

use tagout_agents::install::plan::{Base, Scope};
use tagout_agents::install::sources::{Source, Which};
use tagout_agents::install::{files, stays_open};
use tagout_agents::profile::{Ask, Evidence, Failing, Prompts, Rewrite, Subagents, Then};
use tagout_agents::{Client, Kind};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/clients.md");
    fs::read_to_string(path).unwrap()
}

fn then(then: Then) -> &'static str {
    match then {
        Then::Runs => "**runs**",
        Then::Blocked => "denied",
        Then::Unknown => "not known",
    }
}

fn honours() -> Vec<String> {
    let row = |client: &Client| {
        let profile = client.profile();
        let event = client
            .registered()
            .find(|event| event.kind == Kind::Pre)
            .unwrap();
        let ask = match event.powers.ask {
            Ask::Asks => "holds the tool",
            Ask::Runs => "of no use",
        };
        let rewrite = match event.powers.rewrite {
            Rewrite::Takes => "yes",
            Rewrite::NeedsAllow => "with an allow",
            Rewrite::Never => "no",
        };
        let context = client.registered().filter(|event| event.powers.context);
        let context: Vec<&str> = context.map(|event| event.name).collect();
        let context = if context.is_empty() {
            "nowhere".to_owned()
        } else {
            context.join(", ")
        };
        let known = match profile.evidence {
            Evidence::Run { version } => version.to_owned(),
            Evidence::Read { .. } => "**never run**".to_owned(),
        };
        let title = profile.title;
        format!(
            "| {title} | `{client}` | {known} | `{}` | {ask} | {rewrite} | {context} |",
            event.name
        )
    };
    Client::ALL.iter().map(row).collect()
}

fn fails() -> Vec<String> {
    let row = |client: &Client| {
        let profile = client.profile();
        let Failing {
            crash,
            timeout,
            missing,
            garbled,
        } = profile.failing;
        let Prompts { sent, .. } = profile.prompts;
        let prompts = if sent { "told" } else { "not told" };
        let subagents = match profile.subagents {
            Subagents::Within => "marked",
            Subagents::Own => "sessions of their own",
            Subagents::Numbered => "numbered",
            Subagents::Unmarked => "look like their parent",
            Subagents::Bypass => "**reach no hook**",
        };
        let [crash, missing, timeout, garbled] = [crash, missing, timeout, garbled].map(then);
        format!(
            "| `{client}` | {crash} | {missing} | {timeout} | {garbled} | {prompts} | {subagents} |"
        )
    };
    Client::ALL.iter().map(row).collect()
}

fn places() -> Vec<String> {
    let row = |client: &Client| {
        let at = |scope| {
            let places = files(*client, scope).unwrap_or_default();
            let short = places.first().map(|place| {
                let path = &place.path;
                let many = places.len() > 1;
                let folder = path
                    .rsplit_once('/')
                    .filter(|_| many)
                    .map(|(folder, _)| folder);
                folder.unwrap_or(path).to_owned()
            });
            short.map_or("–".to_owned(), |path| format!("`{path}`"))
        };
        let [project, user, managed] = Scope::ALL.map(at);
        let instructions = client.profile().install.instructions;
        format!("| `{client}` | {project} | {user} | {managed} | `{instructions}` |")
    };
    Client::ALL.iter().map(row).collect()
}

fn source(source: &Source) -> String {
    let root = match source.at.base {
        Base::Workspace => "",
        Base::Home => "~/",
        Base::System => "/",
    };
    let path = format!("{root}{}", source.at.path);
    match source.which {
        Which::Itself => format!("`{path}`"),
        Which::Endings([one]) => format!("`{path}/*.{one}`"),
        Which::Endings(many) => format!("`{path}/*.{{{}}}`", many.join(",")),
        Which::Beneath(file) => format!("`{path}/*/{file}`"),
        Which::Events => format!("`{path}/EVENT`"),
    }
}

fn sources() -> Vec<String> {
    let row = |client: &Client| {
        let sources = client.profile().install.sources;
        let at = |scope| {
            let mine = sources.iter().filter(|source| source.at.scope == scope);
            let shown: Vec<String> = mine.map(source).collect();
            if shown.is_empty() {
                "–".to_owned()
            } else {
                shown.join(", ")
            }
        };
        let [project, user, managed] = Scope::ALL.map(at);
        format!("| `{client}` | {project} | {user} | {managed} |")
    };
    Client::ALL.iter().map(row).collect()
}

fn around() -> Vec<String> {
    let row = |client: &Client| {
        let install = &client.profile().install;
        let shows = install.shows;
        let code = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        let moved: Vec<String> = install
            .moved
            .iter()
            .map(|moved| format!("`{}` moves `{}`", moved.variable, moved.folder))
            .collect();
        let moved = if moved.is_empty() {
            "–".to_owned()
        } else {
            moved.join(", ")
        };
        let sandbox = match install.sandbox {
            None => "–",
            Some(sandbox) if sandbox.by_default => "on unless switched off",
            Some(_) => "off unless switched on",
        };
        let programs = code(shows.programs);
        let home = code(shows.home);
        format!("| `{client}` | {programs} | {home} | {moved} | {sandbox} |")
    };
    Client::ALL.iter().map(row).collect()
}

/// What a client needs and what stays open, under its title.
fn open(client: Client) -> String {
    let profile = client.profile();
    let needs = profile.install.needs.iter();
    let needs = needs.map(|need| format!("- needed: {need}\n"));
    let open = stays_open(client).into_iter();
    let open = open.map(|open| format!("- open: {open}\n"));
    let lines: String = needs.chain(open).collect();
    format!("### {}\n\n{lines}", profile.title)
}

/// Each client's section has its lines, in the order of the tables, and no others.
#[test]
fn the_page_says_what_stays_open() {
    let page = page();
    let expected: Vec<String> = Client::ALL.iter().map(|client| open(*client)).collect();
    let sections = page
        .split("## What is needed and what stays open\n\n")
        .nth(1);
    assert_eq!(sections, Some(expected.join("\n").as_str()));
}

/// Every row of the tables stands on the page, and the page has no others.
#[test]
fn the_page_says_what_the_tables_say() {
    let page = page();
    let expected: Vec<String> = [honours(), fails(), places(), sources(), around()]
        .into_iter()
        .flatten()
        .collect();
    let missing: Vec<&String> = expected
        .iter()
        .filter(|line| !page.lines().any(|known| known == **line))
        .collect();
    assert!(missing.is_empty(), "missing on the page:\n{missing:#?}");
    let data = |line: &&str| {
        let known = line.starts_with("| `");
        let titled = Client::ALL
            .iter()
            .any(|client| line.starts_with(&format!("| {} |", client.profile().title)));
        known || titled
    };
    let extra: Vec<&str> = page
        .lines()
        .filter(data)
        .filter(|line| !expected.iter().any(|one| one == line))
        .collect();
    assert!(extra.is_empty(), "on the page only:\n{extra:#?}");
}

/// The clients that were never run are named as such, all of them and no others.
#[test]
fn the_never_run_are_marked() {
    let page = page();
    let never = |client: &&Client| matches!(client.profile().evidence, Evidence::Read { .. });
    let count = Client::ALL.iter().filter(never).count();
    assert_eq!(count, 4);
    assert_eq!(page.matches("**never run**").count(), count);
}
