//! Layers of policies, and calls against them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;
use serde_json::{Map, Value, json};
use tagout_vocab::path::Roots;
use tagout_vocab::{Class, Code, Place, SideEffectLevel, ToolKind};

use super::super::{
    Allowance, ArgConstraint, Axis, Capability, CapabilityPolicy, CapabilityRequest, Denied,
    NamePattern, RootRegion, Stricter, Use, check,
};
use super::capabilities;
use crate::catalogue::{Access, PathParam, TargetForm, Tool};
use crate::scope::{CaseRule, Scope};

pub(super) fn tool(name: &str, level: SideEffectLevel, needs: &[&str]) -> Tool {
    Tool {
        name: name.to_owned(),
        class: Class::Destructive,
        kind: ToolKind::Edit,
        level,
        role: None,
        paths: vec![PathParam {
            key: "path".to_owned(),
            access: Access::Write,
        }],
        targets: TargetForm::Params,
        aliases: Vec::new(),
        required: vec!["path".to_owned()],
        capabilities: needs.iter().map(|name| (*name).to_owned()).collect(),
        carries_metadata: false,
        undoable: true,
        emits_artifacts: false,
        result_readers: Vec::new(),
        inline_result: false,
        input_schema: None,
    }
}

pub(super) fn roots() -> Roots {
    Roots {
        workspace: "/ws".to_owned(),
        extra: vec![("data".to_owned(), "/data".to_owned())],
    }
}

pub(super) fn run(
    policy: &CapabilityPolicy,
    tool: &Tool,
    given: Value,
    targets: &[&str],
) -> Result<(), Denied> {
    let arguments: Map<String, Value> = serde_json::from_value(given).unwrap();
    let roots = roots();
    let targets: Vec<Place> = targets.iter().map(|raw| roots.place(raw, "")).collect();
    let using = Use {
        tool,
        arguments: &arguments,
        targets: &targets,
        roots: &roots,
        cwd: "",
        case: CaseRule::Sensitive,
    };
    check(policy, &using)
}

pub(super) fn constraint(tool: &str, key: Option<&str>, patterns: &[&str]) -> ArgConstraint {
    let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
    ArgConstraint {
        tool: NamePattern::parse(tool).unwrap(),
        key: key.map(str::to_owned),
        patterns: Scope::parse(&patterns).unwrap(),
    }
}

fn names(texts: &[&str]) -> Allowance<NamePattern> {
    Allowance::only(texts.iter().map(|text| NamePattern::parse(text).unwrap()))
}

fn folders(texts: &[&str]) -> Allowance<RootRegion> {
    Allowance::only(texts.iter().map(|text| RootRegion::parse(text).unwrap()))
}

fn ceiling() -> CapabilityPolicy {
    CapabilityPolicy {
        tools: names(&["edit", "mcp/*"]),
        capabilities: Allowance::Only(capabilities(&["filesystem.read", "filesystem.write"])),
        roots: folders(&["src", "data:in"]),
        ceiling: SideEffectLevel::WorkspaceWrite,
        undeclared: Allowance::nothing(),
        constraints: vec![constraint("edit", Some("path"), &["src"])],
        annotations: BTreeMap::from([(
            "mcp/x".to_owned(),
            Stricter {
                level: SideEffectLevel::WorkspaceWrite,
                capabilities: capabilities(&["filesystem.write"]),
            },
        )]),
    }
}

/// A5 Asking for more is an error that names the axis.
#[test]
fn widening_names_its_axis() {
    let refused = |axis: Axis, what: &str, change: fn(&mut CapabilityRequest)| {
        let mut request = CapabilityRequest::default();
        change(&mut request);
        let widening = ceiling().narrow(&request).unwrap_err();
        assert_eq!((widening.axis, widening.what.as_str()), (axis, what));
    };
    refused(Axis::Tool, "`shell`", |asked| {
        asked.tools = Some(names(&["mcp/a", "shell"]));
    });
    refused(Axis::Tool, "`mcp*`", |asked| {
        asked.tools = Some(names(&["mcp*"]));
    });
    refused(Axis::Tool, "everything", |asked| {
        asked.tools = Some(Allowance::Unrestricted);
    });
    refused(Axis::Capability, "`network.https`", |asked| {
        asked.capabilities = Some(Allowance::Only(capabilities(&["network.https"])));
    });
    refused(Axis::Root, "`.`", |asked| {
        asked.roots = Some(folders(&[".", "src/a"]));
    });
    refused(
        Axis::Ceiling,
        "`network` above `workspace_write`",
        |asked| {
            asked.ceiling = Some(SideEffectLevel::Network);
        },
    );
    refused(Axis::Undeclared, "`odd`", |asked| {
        asked.undeclared = Some(names(&["odd"]));
    });
    let lowered = "`mcp/x` as `none`, where `workspace_write` is set above";
    refused(Axis::Annotation, lowered, |asked| {
        asked
            .annotations
            .insert("mcp/x".to_owned(), Stricter::default());
    });
}

/// A5 A layer that asks for nothing keeps what is above; one that asks for less gets less.
#[test]
fn narrowing() {
    let above = ceiling();
    assert_eq!(above.narrow(&CapabilityRequest::default()).unwrap(), above);
    let request = CapabilityRequest {
        tools: Some(names(&["mcp/a*"])),
        roots: Some(folders(&["src/auth"])),
        ceiling: Some(SideEffectLevel::ReadOnly),
        constraints: vec![constraint("*", None, &["src/auth"])],
        ..CapabilityRequest::default()
    };
    let below = above.narrow(&request).unwrap();
    assert_eq!(below.tools, names(&["mcp/a*"]));
    assert_eq!(below.roots, folders(&["src/auth"]));
    assert_eq!(below.ceiling, SideEffectLevel::ReadOnly);
    assert_eq!(below.constraints.len(), 2);
    assert_eq!(below.annotations, above.annotations);
}

/// A5 A request of nothing is nothing, and stays it.
#[test]
fn nothing_stays_nothing() {
    let request = CapabilityRequest {
        tools: Some(Allowance::nothing()),
        ..CapabilityRequest::default()
    };
    let below = CapabilityPolicy::built_in().narrow(&request).unwrap();
    assert!(below.tools.is_nothing());
    let edit = tool("edit", SideEffectLevel::ReadOnly, &[]);
    assert_eq!(
        run(&below, &edit, json!({}), &[]).unwrap_err().axis,
        Axis::Tool
    );
    let denied = run(&CapabilityPolicy::default(), &edit, json!({}), &[]);
    assert_eq!(denied.unwrap_err().axis, Axis::Tool);
}

/// A5, A2 Each axis refuses on its own.
#[test]
fn each_axis_refuses() {
    let write = SideEffectLevel::WorkspaceWrite;
    let edit = tool("edit", write, &["filesystem.write"]);
    let given = || json!({"path": "src/a"});
    assert_eq!(run(&ceiling(), &edit, given(), &["src/a"]), Ok(()));
    let axis = |policy: &CapabilityPolicy, tool: &Tool, given: Value, targets: &[&str]| {
        let denied = run(policy, tool, given, targets).unwrap_err();
        (denied.axis, denied.code())
    };
    let at = |policy: &CapabilityPolicy, tool: &Tool| axis(policy, tool, given(), &["src/a"]);
    let denied = (Axis::Capability, Code::CapabilityDenied);
    let other = tool("other", write, &["filesystem.write"]);
    assert_eq!(at(&ceiling(), &other), (Axis::Tool, Code::CapabilityDenied));
    for needs in [
        &["network.https"][..],
        &["filesystem.delete"],
        &["nonsense"],
        &[],
    ] {
        assert_eq!(
            at(&ceiling(), &tool("edit", write, needs)),
            denied,
            "{needs:?}"
        );
    }
    let alone = CapabilityPolicy {
        capabilities: Allowance::Only(capabilities(&["filesystem.write"])),
        ..ceiling()
    };
    assert_eq!(at(&alone, &edit), denied, "writing requires reading");
    let both = tool(
        "edit",
        write,
        &["admin.tool.install", "admin.capability.grant"],
    );
    assert_eq!(
        at(&CapabilityPolicy::built_in(), &both),
        denied,
        "they exclude each other"
    );
    let exec = tool("edit", SideEffectLevel::ProcessExec, &["filesystem.write"]);
    assert_eq!(
        at(&ceiling(), &exec),
        (Axis::Ceiling, Code::CeilingExceeded)
    );
    let root = (Axis::Root, Code::CapabilityDenied);
    for path in ["docs/a", "/etc/passwd", "/data/out", "src/../docs", "srcx"] {
        assert_eq!(
            axis(&ceiling(), &edit, given(), &["src/a", path]),
            root,
            "{path}"
        );
    }
    assert_eq!(
        axis(&ceiling(), &edit, json!({"path": "docs/a"}), &["src/a"]),
        (Axis::Argument, Code::ArgConstraint)
    );
}

/// A2 A tool that declares no level is refused unless the policy names it, and an added reading
/// does not stand in for a declaration.
#[test]
fn undeclared_tools() {
    let odd = tool("odd", SideEffectLevel::None, &[]);
    let built_in = CapabilityPolicy::built_in();
    assert_eq!(
        run(&built_in, &odd, json!({}), &[]).unwrap_err().axis,
        Axis::Undeclared
    );
    let relabelled = CapabilityPolicy {
        annotations: BTreeMap::from([(
            "odd".to_owned(),
            Stricter {
                level: SideEffectLevel::ReadOnly,
                ..Stricter::default()
            },
        )]),
        ..CapabilityPolicy::built_in()
    };
    assert_eq!(
        run(&relabelled, &odd, json!({}), &[]).unwrap_err().axis,
        Axis::Undeclared
    );
    let named = CapabilityPolicy {
        undeclared: names(&["odd"]),
        ..CapabilityPolicy::built_in()
    };
    assert_eq!(run(&named, &odd, json!({}), &[]), Ok(()));
}

/// A5 A stricter reading raises what the catalogue says.
#[test]
fn readings_only_raise() {
    let low = CapabilityPolicy {
        ceiling: SideEffectLevel::ReadOnly,
        ..ceiling()
    };
    let read = tool("mcp/x", SideEffectLevel::ReadOnly, &[]);
    assert_eq!(
        run(&low, &read, json!({}), &[]).unwrap_err().axis,
        Axis::Ceiling
    );
    let other = tool("mcp/y", SideEffectLevel::ReadOnly, &[]);
    assert_eq!(run(&low, &other, json!({}), &[]), Ok(()));
    // Naming a lower level than the catalogue's changes nothing.
    let lowered = CapabilityPolicy {
        annotations: BTreeMap::from([("edit".to_owned(), Stricter::default())]),
        ..low
    };
    let edit = tool(
        "edit",
        SideEffectLevel::WorkspaceWrite,
        &["filesystem.write"],
    );
    assert_eq!(
        run(&lowered, &edit, json!({}), &[]).unwrap_err().axis,
        Axis::Ceiling
    );
}

/// A2 A typo in a ceiling grants nothing.
#[test]
fn an_unknown_ceiling_is_none() {
    let typo = CapabilityPolicy {
        ceiling: SideEffectLevel::parse("workspace-write"),
        ..CapabilityPolicy::built_in()
    };
    let read = tool("edit", SideEffectLevel::ReadOnly, &[]);
    assert_eq!(
        run(&typo, &read, json!({}), &[]).unwrap_err().axis,
        Axis::Ceiling
    );
}

#[test]
fn a_policy_survives_both_encodings() {
    let policy = ceiling();
    let json = serde_json::to_string(&policy).unwrap();
    assert_eq!(
        serde_json::from_str::<CapabilityPolicy>(&json).unwrap(),
        policy
    );
    let bytes = postcard::to_stdvec(&policy).unwrap();
    assert_eq!(
        postcard::from_bytes::<CapabilityPolicy>(&bytes).unwrap(),
        policy
    );
    assert!(serde_json::from_str::<CapabilityPolicy>(&json.replacen("tools", "tool", 1)).is_err());
}

fn policy() -> impl Strategy<Value = CapabilityPolicy> {
    let name = select(vec!["edit", "mcp/*", "mcp/x", "*"]);
    let folder = select(vec![".", "src", "src/a", "docs", "data:"]);
    let capability = select(Capability::all().take(4).collect::<Vec<_>>());
    let some_names = || {
        prop_oneof![
            3 => prop::collection::vec(name.clone(), 0..3).prop_map(|texts| names(&texts)),
            1 => Just(Allowance::Unrestricted),
        ]
    };
    let held = prop::option::of(constraint_at_random());
    (
        some_names(),
        prop_oneof![
            1 => prop::collection::btree_set(capability, 0..4).prop_map(Allowance::Only),
            1 => Just(Allowance::Unrestricted),
        ],
        prop_oneof![
            2 => prop::collection::vec(folder, 0..3).prop_map(|texts| folders(&texts)),
            1 => Just(Allowance::Unrestricted),
        ],
        select(SideEffectLevel::ALL.to_vec()),
        some_names(),
        held,
        prop::option::of(select(SideEffectLevel::ALL.to_vec())),
    )
        .prop_map(
            |(tools, capabilities, roots, ceiling, undeclared, held, raised)| {
                let reading = |level| {
                    (
                        "edit".to_owned(),
                        Stricter {
                            level,
                            ..Stricter::default()
                        },
                    )
                };
                CapabilityPolicy {
                    tools,
                    capabilities,
                    roots,
                    ceiling,
                    undeclared,
                    constraints: held.into_iter().collect(),
                    annotations: raised.map(reading).into_iter().collect(),
                }
            },
        )
}

fn constraint_at_random() -> impl Strategy<Value = ArgConstraint> {
    (
        select(vec!["*", "edit"]),
        select(vec![None, Some("path"), Some("no")]),
        select(vec!["**", "src"]),
    )
        .prop_map(|(tool, key, pattern)| constraint(tool, key, &[pattern]))
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(1_500) })]

    /// A5 What two layers let through together, each lets through alone; narrowing is within both.
    #[test]
    fn layers_only_narrow(
        a in policy(),
        b in policy(),
        name in select(vec!["edit", "mcp/x", "odd"]),
        level in select(SideEffectLevel::ALL.to_vec()),
        needs in select(vec![&["filesystem.read"][..], &["filesystem.write"], &[]]),
        path in select(vec!["src/a", "docs/a", "src/../x", "/data/x", "/etc"]),
    ) {
        let used = tool(name, level, needs);
        let given = || json!({"path": path});
        let passes = |policy: &CapabilityPolicy| run(policy, &used, given(), &[path]).is_ok();
        let both = a.intersect(&b);
        prop_assert_eq!(&both, &b.intersect(&a));
        prop_assert_eq!(&both.intersect(&a), &both);
        prop_assert!(!passes(&both) || (passes(&a) && passes(&b)));
        prop_assert_eq!(passes(&a), passes(&a.intersect(&CapabilityPolicy::everything())));
        let request = CapabilityRequest {
            tools: Some(b.tools.clone()),
            roots: Some(b.roots.clone()),
            ceiling: Some(b.ceiling),
            constraints: b.constraints.clone(),
            ..CapabilityRequest::default()
        };
        if let Ok(below) = a.narrow(&request) {
            prop_assert!(!passes(&below) || passes(&a));
        }
    }
}

/// The property above would hold if nothing ever passed.
#[test]
fn something_passes() {
    let used = tool(
        "edit",
        SideEffectLevel::WorkspaceWrite,
        &["filesystem.write"],
    );
    let both = ceiling().intersect(&CapabilityPolicy::built_in());
    assert_eq!(
        run(&both, &used, json!({"path": "src/a"}), &["src/a"]),
        Ok(())
    );
}
