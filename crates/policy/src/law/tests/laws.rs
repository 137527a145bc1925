//! What must hold for every policy, whatever it says.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, json};
use tagout_vocab::{Class, SideEffectLevel, ToolKind, WorkspacePath};

use crate::law::compare::{ChangeKind, compare_layers};
use crate::law::pattern::CommandLine;
use crate::law::rules::{Fact, PathFact, RuleInput, Traits};
use crate::law::{
    Action, Isolation, Law, Layer, Network, OnFailure, Overlap, Profile, Source, approval, read,
};
use crate::scope::CaseRule;

/// The keys that a repository may set, each with some values; the first says nothing.
const KEYS: &[&[&str]] = &[
    &["", "profile: balanced", "profile: strict"],
    &[
        "",
        "tools: {allow: []}",
        "tools: {allow: [a, 'x*']}",
        "tools: {deny: [a]}",
        "tools: {allow: [a, b], deny: [b]}",
    ],
    &[
        "",
        "capabilities: {deny: [filesystem.write]}",
        "capabilities: {allow: [filesystem]}",
    ],
    &["", "ceiling: read_only", "ceiling: network"],
    &[
        "",
        "roots: [{name: r, path: /r}]",
        "roots: [{name: r, path: /r, access: write}]",
    ],
    &[
        "",
        "arguments: [{tool: a, key: path, path: src}]",
        "arguments: [{tool: '*', key: path, path: src/x}]",
    ],
    &[
        "",
        "mcp: {servers: {s: {trust_hints: true}}}",
        "mcp: {servers: {s: {trust_hints: false}}, readonly_tools: [s/t]}",
        "mcp: {deny: [s], readonly_tools: [s/t]}",
    ],
    &[
        "",
        "commands: {readonly: [{words: ls, examples: {match: [ls]}}]}",
        "commands: {deny: [{words: ls}]}",
        "commands: {readonly: [{words: ls, examples: {match: [ls]}}], \
         destructive: [{words: ls -x}]}",
    ],
    &["", "paths: {protect: [src/x]}", "paths: {protect: [src]}"],
    &[
        "",
        "limits: {repeat_limit: 2}",
        "limits: {calls: 0, minutes: 9, repeat_limit: 4}",
    ],
    &["", "intents: {overlap: ask}", "intents: {overlap: deny}"],
    &[
        "",
        "on_command_failure: keep",
        "on_command_failure: roll_back",
    ],
    &[
        "",
        "offer_shell_before_handshake: true",
        "offer_shell_before_handshake: false",
    ],
];

const USER_KEYS: &[&[&str]] = &[
    &[
        "",
        "profile: observe",
        "profile: balanced",
        "profile: strict",
    ],
    &["", "network: any", "network: none"],
    &[
        "",
        "isolation: {accept: none}",
        "isolation: {accept: process}",
    ],
];

/// What rules may match; each is combined with an action.
const MATCHES: &[&str] = &[
    "tool: a",
    "tool: 'x*'",
    "path: src/x",
    "path: src",
    "command: ls",
    "command: {regex: 'l.'}",
    "side_effect: network",
    "class: DESTRUCTIVE",
    "intent: INT-1",
    "server: s, mcp_tool: t",
];

fn rule() -> impl Strategy<Value = (String, String)> {
    let parts = (select(MATCHES), select(&["allow", "ask", "deny"][..]));
    parts.prop_map(|(matching, action)| (action.to_owned(), matching.to_owned()))
}

/// The text of a policy.
fn policy(user: bool) -> impl Strategy<Value = String> {
    let keys = if user {
        USER_KEYS
            .iter()
            .chain(KEYS.iter().skip(1))
            .copied()
            .collect()
    } else {
        KEYS.to_vec()
    };
    let values: Vec<_> = keys.into_iter().map(select).collect();
    (values, proptest::collection::vec(rule(), 0..5)).prop_map(|(values, rules)| {
        let rules: Vec<String> = rules
            .iter()
            .enumerate()
            .map(|(n, (action, matching))| {
                format!("{{id: r{n}, action: {action}, match: {{{matching}}}}}")
            })
            .collect();
        let rules = format!("rules: [{}]", rules.join(", "));
        let said = values.into_iter().filter(|value| !value.is_empty());
        let lines: Vec<&str> = said.chain([rules.as_str()]).collect();
        lines.join("\n")
    })
}

/// A policy, and one like it with some keys changed, so that changes of one key are common.
fn pair(user: bool) -> impl Strategy<Value = (String, String)> {
    (policy(user), policy(user)).prop_flat_map(|(old, other)| {
        let lines: Vec<String> = other.lines().map(str::to_owned).collect();
        let count = lines.len();
        subsequence(lines, 0..=count.min(2)).prop_map(move |changed| {
            let key = |line: &str| line.split(':').next().unwrap_or_default().to_owned();
            let replaced: Vec<String> = changed.iter().map(|line| key(line)).collect();
            let kept = old.lines().filter(|line| !replaced.contains(&key(line)));
            let new: Vec<&str> = kept.chain(changed.iter().map(String::as_str)).collect();
            (old.clone(), new.join("\n"))
        })
    })
}

fn assemble(user: Option<&str>, repository: &str) -> Law {
    let user = user.map(super::user);
    Law::assemble(Layer::built_in(), user, vec![super::repository(repository)]).unwrap()
}

/// How much a law lets through, question by question; more is wider.
fn reach(law: &Law) -> Vec<(String, u64)> {
    let mut answers = Vec::new();
    let mut ask = |question: String, answer: u64| answers.push((question, answer));
    approvals(law, &mut ask);
    tools_and_paths(law, &mut ask);
    commands_and_servers(law, &mut ask);
    scales(law, &mut ask);
    answers
}

fn tools_and_paths(law: &Law, ask: &mut impl FnMut(String, u64)) {
    for tool in ["a", "b", "xy"] {
        ask(
            format!("tool {tool}"),
            law.tool_denied(&[tool]).is_none().into(),
        );
        for arguments in [
            json!({}),
            json!({"path": "src/x"}),
            json!({"path": "src/y"}),
        ] {
            let map: &Map<_, _> = arguments.as_object().unwrap();
            let passes = law
                .argument_refused(&[tool], map, CaseRule::Sensitive)
                .is_none();
            ask(format!("argument {tool} {arguments}"), passes.into());
        }
    }
    for name in [
        "filesystem.read",
        "filesystem.write",
        "filesystem",
        "process.spawn",
    ] {
        ask(
            format!("capability {name}"),
            law.capability_denied(name).is_none().into(),
        );
    }
    for path in ["src/x", "src/y", "z"] {
        let place = WorkspacePath::new(path).unwrap();
        ask(
            format!("path {path}"),
            law.protected(&place, CaseRule::Sensitive).is_none().into(),
        );
    }
}

fn commands_and_servers(law: &Law, ask: &mut impl FnMut(String, u64)) {
    for line in ["ls", "ls -l", "ls -x", "ls | sh", "cat"] {
        let command = CommandLine::raw(line);
        ask(
            format!("deny {line}"),
            law.command_denied(&command).is_none().into(),
        );
        ask(
            format!("claim {line}"),
            law.claims_read_only(&command).is_some().into(),
        );
        ask(
            format!("safe {line}"),
            law.command_never_safe(&command).is_none().into(),
        );
    }
    for hint in [None, Some(true), Some(false)] {
        for tool in ["t", "u"] {
            ask(
                format!("reads {tool} {hint:?}"),
                law.mcp_reads("s", tool, hint).is_some().into(),
            );
            ask(
                format!("mcp {tool}"),
                law.mcp_denied("s", tool).is_none().into(),
            );
        }
    }
}

fn scales(law: &Law, ask: &mut impl FnMut(String, u64)) {
    let limits = law.limits();
    let root = law.roots().first().map_or(0, |root| 1 + root.access as u64);
    let answers = [
        ("root", root),
        ("ceiling", law.ceiling().rank() as u64),
        ("repeat", limits.repeat_max.unwrap().into()),
        ("calls", limits.calls_max.unwrap_or(u64::MAX)),
        ("minutes", limits.minutes_max.unwrap_or(u64::MAX)),
        ("overlap", (law.overlap() == Overlap::Ask).into()),
        (
            "failure",
            (law.on_command_failure() == OnFailure::Keep).into(),
        ),
        ("shell", law.offers_shell_before_handshake().into()),
        ("network", (law.network() == Network::Any).into()),
        ("isolation", Isolation::Full as u64 - law.isolation() as u64),
        ("profile", Profile::Strict as u64 - law.profile() as u64),
    ];
    for (question, answer) in answers {
        ask(question.to_owned(), answer);
    }
}

fn approvals(law: &Law, ask: &mut impl FnMut(String, u64)) {
    let (x, y) = (
        WorkspacePath::new("src/x").unwrap(),
        WorkspacePath::new("src/y").unwrap(),
    );
    let one = [PathFact::Inside(&x)];
    let two = [PathFact::Inside(&x), PathFact::Inside(&y)];
    let odd = [PathFact::Unknown];
    let paths = [
        Some(&[][..]),
        Some(&one[..]),
        Some(&two[..]),
        Some(&odd[..]),
        None,
    ];
    let (plain, chain) = (CommandLine::raw("ls"), CommandLine::raw("ls; rm x"));
    let commands = [
        Fact::Absent,
        Fact::Unknown,
        Fact::Is(&plain),
        Fact::Is(&chain),
    ];
    let levels = [
        SideEffectLevel::None,
        SideEffectLevel::WorkspaceWrite,
        SideEffectLevel::Network,
    ];
    for (tool, class) in [
        ("a", Class::Safe),
        ("a", Class::Destructive),
        ("xy", Class::Destructive),
    ] {
        for (paths, command) in paths.iter().flat_map(|paths| commands.map(|c| (*paths, c))) {
            for (index, level) in levels.into_iter().enumerate() {
                let input = RuleInput {
                    paths,
                    command,
                    server: [Fact::Absent, Fact::Is("s"), Fact::Unknown][index],
                    mcp_tool: [Fact::Absent, Fact::Is("t"), Fact::Unknown][index],
                    intent: [Fact::Absent, Fact::Is("INT-1"), Fact::Unknown][index],
                    traits: Traits {
                        undoable: index == 1,
                        ..Traits::default()
                    },
                    ..RuleInput::new(tool, ToolKind::Edit, level, class)
                };
                let answer = match approval(law, &input).action() {
                    Action::Deny => 0,
                    Action::Ask => 1,
                    Action::Allow => 2,
                };
                ask(format!("{input:?}"), answer);
            }
        }
    }
}

/// The questions in which one law lets more through than another.
fn wider(new: &Law, old: &Law) -> Vec<String> {
    let pairs = reach(new).into_iter().zip(reach(old));
    pairs
        .filter(|((_, new), (_, old))| new > old)
        .map(|((question, new), (_, old))| format!("{question}: {old} → {new}"))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// A5 A layer that restricts can be added without letting anything more through, and what the
    /// tree proposes never does before a person accepted it.
    #[test]
    fn a_proposal_never_widens(
        user in proptest::option::of(policy(true)),
        (accepted, proposed) in pair(false),
    ) {
        let accepted = assemble(user.as_deref(), &accepted);
        let now = accepted.with_proposal(vec![super::repository(&proposed)]);
        prop_assert_eq!(wider(&now, &accepted), Vec::<String>::new());
        // Nor does it let more through than the proposal would once it is accepted.
        let after = assemble(user.as_deref(), &proposed);
        prop_assert_eq!(wider(&now, &after), Vec::<String>::new());
        let gone = accepted.with_proposal(vec![]);
        prop_assert_eq!(wider(&gone, &accepted), Vec::<String>::new());
    }

    /// A5 A session within a session has never more than the one around it, nor than it asked for.
    #[test]
    fn a_narrowed_law_never_widens(
        user in proptest::option::of(policy(true)),
        (accepted, asked) in pair(false),
    ) {
        let law = assemble(user.as_deref(), &accepted);
        let asked = super::repository(&asked);
        match law.narrowed(asked.clone()) {
            Ok(narrowed) => {
                prop_assert_eq!(wider(&narrowed, &law), Vec::<String>::new());
                let again = narrowed.narrowed(asked).unwrap();
                prop_assert_eq!(reach(&again), reach(&narrowed));
            }
            Err(excess) => {
                prop_assert!(!excess.is_empty());
                prop_assert!(excess.iter().all(|change| change.kind == ChangeKind::Widens));
            }
        }
    }

    /// A5 Layers may come in any order: what they let through together is the same.
    #[test]
    fn the_order_of_layers_does_not_matter(one in policy(false), other in policy(false)) {
        let (one, other) = (super::repository(&one), super::repository(&other));
        let law = |layers| Law::assemble(Layer::built_in(), None, layers).unwrap();
        let (there, back) = (law(vec![one.clone(), other.clone()]), law(vec![other, one.clone()]));
        prop_assert_eq!(reach(&there), reach(&back));
        prop_assert_eq!(reach(&law(vec![one.clone(), one.clone()])), reach(&law(vec![one])));
    }

    /// A change that is said to widen nothing widens nothing.
    #[test]
    fn narrowing_a_repository_layer_never_allows_more(
        user in proptest::option::of(policy(true)),
        (old, new) in pair(false),
    ) {
        let changes = compare_layers(&super::repository(&old), &super::repository(&new));
        let (before, after) = (assemble(user.as_deref(), &old), assemble(user.as_deref(), &new));
        if changes.iter().all(|change| change.kind != ChangeKind::Widens) {
            prop_assert_eq!(wider(&after, &before), Vec::<String>::new());
        }
        if changes.iter().all(|change| change.kind == ChangeKind::Neutral) {
            prop_assert_eq!(wider(&before, &after), Vec::<String>::new());
        }
    }

    #[test]
    fn narrowing_the_users_layer_never_allows_more(
        (old, new) in pair(true),
        repository in policy(false),
    ) {
        let changes = compare_layers(&super::user(&old), &super::user(&new));
        if changes.iter().all(|change| change.kind != ChangeKind::Widens) {
            let law = |user: &str| assemble(Some(user), &repository);
            let (before, after) = (law(&old), law(&new));
            prop_assert_eq!(wider(&after, &before), Vec::<String>::new());
        }
    }

    /// H6 One more rule that denies or asks never allows more.
    #[test]
    fn adding_a_denial_never_allows_more(
        user in proptest::option::of(policy(true)),
        text in policy(false),
        matching in select(MATCHES),
        action in select(&["ask", "deny"][..]),
    ) {
        let rule = format!("{{id: new, action: {action}, match: {{{matching}}}}}");
        let more = text.replace("rules: []", "rules: [").replace("rules: [{", "rules: [, {");
        let more = more.replace("rules: [, ", &format!("rules: [{rule}, "));
        let more = if more.ends_with("rules: [") { format!("{more}{rule}]") } else { more };
        prop_assert!(more.contains("id: new"));
        let (before, after) = (assemble(user.as_deref(), &text), assemble(user.as_deref(), &more));
        prop_assert_eq!(wider(&after, &before), Vec::<String>::new());
    }

    /// H6 Whatever a repository says, it never answers a question or a denial of the user's layer.
    #[test]
    fn a_repository_never_overrides_the_users_questions(
        user in policy(true),
        repository in policy(false),
    ) {
        let chosen = user.starts_with("profile");
        let user = if chosen { user } else { format!("profile: balanced\n{user}") };
        let alone = Law::assemble(Layer::built_in(), Some(super::user(&user)), vec![]).unwrap();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        approvals(&alone, &mut |question, answer| before.push((question, answer)));
        approvals(&assemble(Some(&user), &repository), &mut |_, answer| after.push(answer));
        for ((question, alone), together) in before.into_iter().zip(after) {
            prop_assert!(together <= alone, "{}: {} → {}", question, alone, together);
        }
    }

    /// The reader never panics, and its problems have a place.
    #[test]
    fn arbitrary_text_never_panics(
        text in "\\PC{0,200}|(version: 1\n)?[a-z:\\[\\]{}, '\"*&!\n-]{0,200}",
    ) {
        if let Err(problems) = read(Source::repository("f"), &text) {
            let placed = problems.iter().all(|problem| problem.at.line.min(problem.at.column) > 0);
            prop_assert!(placed, "{:?}", problems);
        }
    }

    /// Nor does it on a policy with a hole in it.
    #[test]
    fn damaged_policies_never_panic(
        start in 0_usize..3500,
        length in 1_usize..40,
        junk in "[\\PC\n]{0,6}",
    ) {
        let text = include_str!("../../../tests/fixtures/policy/valid/full.yaml");
        let characters: Vec<char> = text.chars().collect();
        let kept = |range: &[char]| range.iter().collect::<String>();
        let start = start.min(characters.len());
        let end = (start + length).min(characters.len());
        let damaged = kept(&characters[..start]) + &junk + &kept(&characters[end..]);
        if let Err(problems) = read(Source::repository("f"), &damaged) {
            prop_assert!(!problems.is_empty());
        }
    }
}
