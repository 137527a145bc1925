//! What rules match, which one decides, and what profiles say.

use tagout_vocab::{Class, SideEffectLevel, ToolKind, WorkspacePath};

use super::{
    Action, Approval, Fact, PathFact, RuleInput, Traits, approval, default_action, evaluate,
};
use crate::law::pattern::CommandLine;
use crate::law::tests::{repository, user};
use crate::law::{Law, Layer, Profile};

fn law(user_text: Option<&str>, repository_text: &str) -> Law {
    let user = user_text.map(user);
    Law::assemble(Layer::built_in(), user, vec![repository(repository_text)]).unwrap()
}

fn write<'a>(paths: Option<&'a [PathFact<'a>]>) -> RuleInput<'a> {
    RuleInput {
        paths,
        traits: Traits {
            undoable: true,
            ..Traits::default()
        },
        ..RuleInput::new(
            "write",
            ToolKind::Edit,
            SideEffectLevel::WorkspaceWrite,
            Class::Destructive,
        )
    }
}

fn run<'a>(line: &'a CommandLine<'a>) -> RuleInput<'a> {
    RuleInput {
        command: Fact::Is(line),
        ..RuleInput::new(
            "run",
            ToolKind::Execute,
            SideEffectLevel::ProcessExec,
            Class::Destructive,
        )
    }
}

fn decided(law: &Law, input: &RuleInput<'_>) -> Option<(Action, String)> {
    evaluate(law, input).map(|matched| (matched.action, matched.rule.to_owned()))
}

/// H6 Deny beats ask beats allow, whatever the order in the file and the layer.
#[test]
fn deny_beats_ask_beats_allow() {
    let text = |actions: [&str; 3]| {
        let rule =
            |action: &str| format!("{{id: {action}, action: {action}, match: {{tool: write}}}}");
        format!("rules: [{}]", actions.map(rule).join(", "))
    };
    for actions in [
        ["allow", "ask", "deny"],
        ["deny", "ask", "allow"],
        ["ask", "deny", "allow"],
    ] {
        let law = law(None, &text(actions));
        assert_eq!(decided(&law, &write(Some(&[]))).unwrap().0, Action::Deny);
    }
    let asking = "rules: [{id: mine, action: ask, match: {tool: 'wr*'}}]";
    let allowing = "rules: [{id: theirs, action: allow, match: {tool: write}}]";
    for (user, repository) in [(asking, allowing), (allowing, asking)] {
        let found = decided(&law(Some(user), repository), &write(Some(&[]))).unwrap();
        assert_eq!(found, (Action::Ask, "mine".to_owned()));
    }
}

/// What can't be told counts against the call.
#[test]
fn unknown_facts_make_denials_match_and_allowances_fail() {
    let rules = |action: &str| {
        format!(
            "rules: [{{id: p, action: {action}, match: {{path: secrets}}}}, \
             {{id: c, action: {action}, match: {{command: git push}}}}, \
             {{id: s, action: {action}, match: {{server: docs}}}}, \
             {{id: l, action: {action}, match: {{side_effect: network}}}}]"
        )
    };
    let odd = [PathFact::Unknown];
    let (program, verb) = (
        CommandLine::raw("$TOOL push"),
        CommandLine::raw("git $VERB"),
    );
    let inputs = [
        write(None),
        write(Some(&odd)),
        RuleInput {
            command: Fact::Unknown,
            ..write(Some(&[]))
        },
        RuleInput {
            server: Fact::Unknown,
            ..write(Some(&[]))
        },
        RuleInput {
            level: SideEffectLevel::None,
            ..write(Some(&[]))
        },
        run(&program),
        run(&verb),
    ];
    let denying = law(None, &rules("deny"));
    let asking = law(None, &rules("ask"));
    let allowing = law(None, &rules("allow"));
    for input in inputs {
        assert_eq!(
            decided(&denying, &input).unwrap().0,
            Action::Deny,
            "{input:?}"
        );
        assert_eq!(
            decided(&asking, &input).unwrap().0,
            Action::Ask,
            "{input:?}"
        );
        assert_eq!(decided(&allowing, &input), None, "{input:?}");
    }
    assert_eq!(
        decided(&denying, &write(Some(&[PathFact::Elsewhere]))),
        None
    );
}

/// A denial needs one target, an allowance needs them all.
#[test]
fn every_target_counts() {
    let (docs, source) = (
        WorkspacePath::new("docs/a").unwrap(),
        WorkspacePath::new("src/a").unwrap(),
    );
    let both = [PathFact::Inside(&docs), PathFact::Inside(&source)];
    let one = [PathFact::Inside(&docs)];
    let law_of = |action: &str| {
        law(
            None,
            &format!("rules: [{{id: d, action: {action}, match: {{path: docs}}}}]"),
        )
    };
    assert!(decided(&law_of("deny"), &write(Some(&both))).is_some());
    assert!(decided(&law_of("allow"), &write(Some(&both))).is_none());
    assert!(decided(&law_of("allow"), &write(Some(&one))).is_some());
    assert!(decided(&law_of("allow"), &write(Some(&[]))).is_none());
}

#[test]
fn a_denied_command_cannot_hide_and_an_allowed_one_stands_alone() {
    let denying = law(
        None,
        "rules: [{id: d, action: deny, match: {command: git push}}]",
    );
    let hidden = [
        "git push",
        "  git   push -f",
        "/usr/bin/git push",
        "sudo git push",
        "cd x && git push",
        "sh -c 'git push'",
        "echo $(git push)",
        "echo `git push`",
        "g'i't pu\\sh",
        "(git push)",
        "X=1 git push",
        "true\ngit push",
        "$(echo git) push",
    ];
    for line in hidden {
        assert!(
            decided(&denying, &run(&CommandLine::raw(line))).is_some(),
            "{line}"
        );
    }
    for line in ["git pull", "gitk push", "echo $HOME", "git stash push"] {
        assert!(
            decided(&denying, &run(&CommandLine::raw(line))).is_none(),
            "{line}"
        );
    }
    let allowing = law(
        None,
        "rules: [{id: a, action: allow, match: {command: [make test, {regex: 'npm (ci|test)'}]}}]",
    );
    for line in ["make test", "make test -j2", "npm ci", " npm test "] {
        assert!(
            decided(&allowing, &run(&CommandLine::raw(line))).is_some(),
            "{line}"
        );
    }
    let more = [
        "make test; rm x",
        "make test && rm x",
        "make test | sh",
        "make test > f",
        "make test $(rm x)",
        "make testing",
        "sudo make test",
        "npm ci x",
        "npm ci\nrm x",
        "make test *",
        "",
    ];
    for line in more {
        assert!(
            decided(&allowing, &run(&CommandLine::raw(line))).is_none(),
            "{line}"
        );
    }
}

/// What an analysis of the line found counts beside the raw text.
#[test]
fn parts_of_a_line_are_matched_too() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let parts = [words("echo x"), words("git push")];
    let line = CommandLine::analysed("echo x; $(printf 'g''it') push", &parts);
    let input = run(&line);
    let denying = law(
        None,
        "rules: [{id: d, action: deny, match: {command: git push}}]",
    );
    assert!(decided(&denying, &input).is_some());
    let long = "x ".repeat(100_000);
    assert!(
        decided(&denying, &run(&CommandLine::raw(&long))).is_some(),
        "a line too long to read is not harmless"
    );
}

/// H6 Design's table of profiles.
#[test]
fn profiles_ask_for_what_they_say() {
    let undoable = Traits {
        undoable: true,
        ..Traits::default()
    };
    let cases = [
        ("plain", undoable, [Action::Allow, Action::Ask]),
        (
            "not undoable",
            Traits::default(),
            [Action::Ask, Action::Ask],
        ),
        (
            "network",
            Traits {
                network: true,
                ..undoable
            },
            [Action::Ask, Action::Ask],
        ),
        (
            "delegation",
            Traits {
                delegation: true,
                ..undoable
            },
            [Action::Ask, Action::Ask],
        ),
        (
            "irreversible",
            Traits {
                irreversible: true,
                ..undoable
            },
            [Action::Ask, Action::Ask],
        ),
    ];
    for (name, traits, [balanced, strict]) in cases {
        let of = |profile, class| default_action(profile, class, traits);
        assert_eq!(
            of(Profile::Balanced, Class::Destructive),
            balanced,
            "{name}"
        );
        assert_eq!(of(Profile::Strict, Class::Destructive), strict, "{name}");
        assert_eq!(
            of(Profile::Observe, Class::Destructive),
            Action::Allow,
            "{name}"
        );
        for profile in [Profile::Balanced, Profile::Strict, Profile::Observe] {
            assert_eq!(of(profile, Class::Safe), Action::Allow, "{name}");
        }
    }
    let catastrophic = Traits {
        catastrophic: true,
        ..undoable
    };
    for profile in [Profile::Balanced, Profile::Strict, Profile::Observe] {
        assert_eq!(
            default_action(profile, Class::Destructive, catastrophic),
            Action::Ask
        );
    }
}

/// H6 A repository may answer the built-in profile's question and its own, never the user's.
#[test]
fn an_allowance_answers_only_the_questions_that_are_its_to_answer() {
    let allow = "rules: [{id: a, action: allow, match: {tool: run}}]";
    let strict_allow = format!("profile: strict\n{allow}");
    let action = |user: Option<&str>, repository: &str| {
        approval(&law(user, repository), &run(&CommandLine::raw("x"))).action()
    };
    assert_eq!(action(None, "profile: balanced"), Action::Ask);
    assert_eq!(action(None, allow), Action::Allow);
    assert_eq!(action(None, &strict_allow), Action::Allow);
    assert_eq!(action(Some("profile: strict"), allow), Action::Ask);
    assert_eq!(
        action(Some(&strict_allow), "profile: strict"),
        Action::Allow
    );
    assert_eq!(
        action(
            Some("profile: observe"),
            "{}".replace("{}", "ceiling: none").as_str()
        ),
        Action::Allow
    );
    let line = CommandLine::raw("x");
    let catastrophic = RuleInput {
        traits: Traits {
            catastrophic: true,
            ..Traits::default()
        },
        ..run(&line)
    };
    assert_eq!(
        approval(&law(Some(allow), allow), &catastrophic),
        Approval::Floor
    );
}

#[test]
fn an_allowance_of_the_tree_waits_for_a_person() {
    let allow = "rules: [{id: a, action: allow, match: {tool: run}}]";
    let fresh = Law::built_in().with_proposal(vec![repository(allow)]);
    assert_eq!(
        approval(&fresh, &run(&CommandLine::raw("x"))).action(),
        Action::Ask
    );
    let withdrawn = law(None, allow).with_proposal(vec![repository("profile: balanced")]);
    assert_eq!(
        approval(&withdrawn, &run(&CommandLine::raw("x"))).action(),
        Action::Ask
    );
    let kept = law(None, allow).with_proposal(vec![repository(allow)]);
    assert_eq!(
        approval(&kept, &run(&CommandLine::raw("x"))).action(),
        Action::Allow
    );
}

/// A rule that names its tool is not looked at for another tool.
#[test]
fn rules_are_found_by_tool() {
    let rules: Vec<String> = (0..1000)
        .map(|n| format!("{{id: r{n}, action: deny, match: {{tool: t{n}, path: src}}}}"))
        .collect();
    let law = law(
        None,
        &format!(
            "rules: [{}, {{id: g, action: ask, match: {{tool: 't*'}}}}]",
            rules.join(",")
        ),
    );
    let book = &law.layers().last().unwrap().rules;
    assert_eq!(book.candidates(Fact::Is("t7")).count(), 2);
    assert_eq!(book.candidates(Fact::Is("other")).count(), 1);
    assert_eq!(book.candidates(Fact::Unknown).count(), 1001);
}
