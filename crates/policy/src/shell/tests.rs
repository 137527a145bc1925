//! The corpus in both directions, and mutations of it.

mod bombs;
mod floor;

use std::sync::OnceLock;

use proptest::prelude::*;
use serde::Deserialize;
use tagout_vocab::path::Roots;
use tagout_vocab::{Class, Effect};

use super::{Analysis, Kept, Knowledge, OwnCall, ShellContext, analyse};

fn knowledge() -> &'static Knowledge {
    static LOADED: OnceLock<Knowledge> = OnceLock::new();
    LOADED.get_or_init(|| {
        Knowledge::built_in().unwrap_or_else(|problems| {
            let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("{} problems\n{}", told.len(), told.join("\n"))
        })
    })
}

fn look(line: &str) -> Analysis {
    let roots = Roots {
        workspace: "/repo/project".to_owned(),
        extra: Vec::new(),
    };
    let context = ShellContext {
        cwd: "/repo/project",
        ..ShellContext::bare(knowledge(), &roots)
    };
    analyse(line, &context)
}

#[derive(Deserialize)]
struct Labelled {
    cmd: String,
    label: String,
}

fn corpus(text: &str) -> Vec<Labelled> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const CORPUS: &str = include_str!("../../tests/fixtures/shell.jsonl");
const OWN: &str = include_str!("../../tests/fixtures/shell-own.jsonl");
const EVERYDAY: &str = include_str!("../../tests/fixtures/shell-everyday.jsonl");
/// Lines of an audit: labelled first, judged then.
const AUDIT: &str = include_str!("../../tests/fixtures/shell-audit.jsonl");

/// How many of each label are called SAFE, with the misses printed.
fn measure(name: &str, text: &str) -> [(usize, usize); 2] {
    let mut figures = [(0, 0), (0, 0)];
    for line in corpus(text) {
        let analysis = look(&line.cmd);
        let called_safe = analysis.class == Class::Safe;
        let labelled_safe = line.label == "safe";
        let figure = &mut figures[usize::from(!labelled_safe)];
        figure.0 += usize::from(called_safe);
        figure.1 += 1;
        if called_safe != labelled_safe {
            println!(
                "{name}: {} but not so judged: {:?}: {:?}",
                line.label,
                line.cmd,
                analysis.why()
            );
        }
    }
    let [safe, destructive] = figures;
    println!("{name}: safe lines called SAFE: {}/{}", safe.0, safe.1);
    println!(
        "{name}: destructive lines called SAFE: {}/{}",
        destructive.0, destructive.1
    );
    figures
}

/// H4 on labelled commands: nothing destructive is called SAFE, and what is safe nearly always is.
#[test]
fn the_corpus_is_judged_in_both_directions() {
    let all = [
        ("corpus", CORPUS),
        ("own", OWN),
        ("everyday", EVERYDAY),
        ("audit", AUDIT),
    ];
    for (name, text) in all {
        let [safe, destructive] = measure(name, text);
        assert_eq!(destructive.0, 0, "{name}");
        assert!(safe.0 * 100 >= safe.1 * 95, "{name}: {safe:?}");
    }
}

/// A line is safe or it is not: no two fixtures say otherwise.
#[test]
fn no_line_carries_two_labels() {
    let mut labels = std::collections::BTreeMap::new();
    for line in [CORPUS, OWN, EVERYDAY, AUDIT].into_iter().flat_map(corpus) {
        let label = labels.entry(line.cmd.clone()).or_insert(line.label.clone());
        assert_eq!(*label, line.label, "{:?}", line.cmd);
    }
}

/// What people read of a line holds no control characters, whatever the line holds.
#[test]
fn reasons_can_be_printed() {
    let odd = ["\u{1}", "\u{2}", "\u{1b}[31m", "\r", "\u{7f}"];
    for (index, line) in lines("safe")
        .into_iter()
        .chain(lines("destructive"))
        .enumerate()
    {
        let mark = odd[index % odd.len()];
        let changed = [
            line.clone(),
            format!("{line} '{mark}'"),
            format!("x{mark}y {line}"),
            format!("c=$(git rev-parse HEAD); sort $c \"$c\" -{mark}; {line}"),
            format!("declare -z x=(a b) '{mark}'; declare 'a{mark}=1'; {line}"),
            format!("rm -rf '/{mark}/..' /; {line}"),
        ];
        for changed in changed {
            let analysis = look(&changed);
            let told = analysis.parts.iter().flat_map(|part| {
                let detail = match &part.judgement {
                    super::Judgement::Unknown(reason) => Some(reason.clone()),
                    super::Judgement::ReadOnly
                    | super::Judgement::Writes(_)
                    | super::Judgement::Exec
                    | super::Judgement::Network => None,
                };
                [Some(part.why.clone()), part.instead.clone(), detail]
            });
            for text in told.chain([analysis.catastrophic.clone()]).flatten() {
                assert!(!text.contains(char::is_control), "{changed:?}: {text:?}");
            }
        }
    }
    let analysis = look("c=$(git rev-parse HEAD); git log --format=\"$c\" --outpu=$c");
    assert!(!analysis.why().unwrap().contains('\u{1}'));
}

fn safe(line: &str) -> bool {
    look(line).class == Class::Safe
}

fn lines(label: &str) -> Vec<String> {
    let all = corpus(CORPUS).into_iter().chain(corpus(OWN));
    all.filter(|line| line.label == label)
        .map(|line| line.cmd)
        .collect()
}

/// All variants of the first lines, which are the corpus, and a turning third of the others.
fn some_of(variants: &[String], index: usize) -> impl Iterator<Item = &String> {
    let corpus = corpus(CORPUS).len() / 2;
    let wanted = move |place: &usize| index < corpus || (place + index).is_multiple_of(3);
    variants
        .iter()
        .enumerate()
        .filter(move |(place, _)| wanted(place))
        .map(|(_, variant)| variant)
}

/// H4: whatever is added to a safe line that writes makes it destructive.
#[test]
fn additions_are_found_in_every_safe_line() {
    let plain = |line: &String| !line.contains("<<") && !line.contains('#') && safe(line);
    for (index, line) in lines("safe").iter().filter(|line| plain(line)).enumerate() {
        let line = line.trim_end().trim_end_matches('&');
        let changes = [
            format!("{line}; touch X"),
            format!("{line} && touch X"),
            format!("{line} || touch X"),
            format!("{line} | touch X"),
            format!("{line} & touch X"),
            format!("{line}\ntouch X"),
            format!("{line} | tee X"),
            format!("{line} > X"),
            format!("{line} 2>X"),
            format!("{line}; echo $(touch X)"),
            format!("{line}; echo `touch X`"),
            format!("{line}; : > X"),
            format!("touch X; {line}"),
            format!("x=$(touch X) ; {line}"),
            format!("touch X\n{line}"),
            format!("if touch X; then {line}\nfi"),
            format!("({line}\n) > X"),
            format!("{{ {line}\n}} >> X"),
            format!("f() {{ {line}\n}} > X; f"),
            format!("while {line}\ndo touch X; done"),
            format!("! touch X || {line}"),
            format!("cat <({line}\n) <(touch X)"),
            format!("echo \"$({line}\n)$(touch X)\""),
        ];
        for changed in some_of(&changes, index) {
            assert!(!safe(changed), "{changed:?}");
        }
    }
}

/// H4: the same destructive commands in other clothes.
#[test]
fn disguises_do_not_help() {
    for (index, line) in lines("destructive").into_iter().enumerate() {
        let quoted = line.replace('\'', r"'\''");
        let mut disguises = vec![
            format!("ls; {line}"),
            format!("{{ {line}\n}}"),
            format!("({line}\n)"),
            format!("true && {{ {line}\n}}"),
            format!("eval '{quoted}'"),
            format!("bash -c '{quoted}'"),
            format!("env bash -c '{quoted}'"),
            format!("timeout 5 sh -c '{quoted}'"),
            format!("find . -maxdepth 0 -exec bash -c '{quoted}' \\;"),
            format!("echo x | xargs -I% bash -c '{quoted}'"),
            format!("for i in 1; do {line}\ndone"),
            format!("if true; then {line}\nfi"),
            format!("case x in x) {line}\n;; esac"),
            format!("g() {{ {line}\n}}; g"),
            format!("x=\"$({line}\n)\""),
            format!("cat <({line}\n)"),
            format!("trap '{quoted}' EXIT"),
        ];
        if let Some((program, rest)) = line.split_once(' ')
            && program.bytes().all(|b| b.is_ascii_lowercase())
        {
            let (first, end) = program.split_at(1);
            disguises.extend([
                format!("{first}\\{end} {rest}"),
                format!("{first}''{end} {rest}"),
                format!("'{program}' {rest}"),
                format!("$'{program}' {rest}"),
                format!("{first}\"{end}\" {rest}"),
                format!("command {line}"),
                format!("exec {line}"),
                format!("env {line}"),
                format!("nice {line}"),
                format!("/usr/bin/{line}"),
                format!("p={program}; $p {rest}"),
                format!("$(echo {program}) {rest}"),
                format!("{program}${{IFS}}{rest}"),
                format!("{first}\\\n{end} {rest}"),
            ]);
            let plain = |c: char| c.is_ascii_alphanumeric() || " -_./".contains(c);
            if rest.chars().all(plain) && rest.split(' ').all(|word| !word.is_empty()) {
                let words = rest.replace(' ', ",");
                disguises.extend([
                    format!("{{{program},{words}}}"),
                    format!("{{{program},}} {rest}"),
                    format!("bash -c '{{{program},{words}}}'"),
                    format!("nice {{{program},{words}}}"),
                ]);
            }
        }
        for disguise in some_of(&disguises, index) {
            assert!(!safe(disguise), "{disguise:?}");
        }
    }
}

fn effects(line: &str) -> Vec<String> {
    let shown = |effect: &Effect| match effect {
        Effect::Read(target) => format!("read {}", target.place.shown()),
        Effect::Write(target) => format!("write {}", target.place.shown()),
        Effect::MakeFolder(target) => format!("make {}", target.place.shown()),
        Effect::Delete(target) => format!("delete {}", target.place.shown()),
        Effect::Run { command } => format!("run {command}"),
        Effect::Reach { host } => format!("reach {}", host.clone().unwrap_or_default()),
        Effect::Move { .. }
        | Effect::Remote { .. }
        | Effect::Delegate
        | Effect::Desktop
        | Effect::Unknown { .. } => "other".to_owned(),
    };
    look(line).effects.iter().map(shown).collect()
}

/// H7 for commands: what one writes is known before it runs, from where the shell stands then.
#[test]
fn effects_name_the_paths() {
    for (line, wanted) in [
        ("cp a src/b", vec!["read a", "write src/b"]),
        ("cd src && touch x", vec!["write src/x"]),
        ("cd src; echo hi > ../y", vec!["write y"]),
        (
            "cd src && mkdir -p -m 700 x y",
            vec!["make src/x", "make src/y"],
        ),
        (
            "(cd src && touch x); touch x",
            vec!["write src/x", "write x"],
        ),
        ("mv a b", vec!["write b", "delete a"]),
        ("rm -f a b", vec!["delete a", "delete b"]),
        ("sed -i s/a/b/ src/x", vec!["write src/x"]),
        ("cat < a > b", vec!["read a", "write b"]),
        ("ls | tee /repo/project/z", vec!["write z"]),
        ("cat /etc/passwd", vec!["read /etc/passwd"]),
        ("touch ~/x", vec!["write ~/x"]),
        ("touch '~x'", vec!["write ./~x"]),
        ("cd \"$d\" && touch x", vec!["run touch x"]),
        ("rm *.o", vec!["run rm *.o"]),
        ("make", vec!["run make"]),
        (
            "find . -name x -delete",
            vec!["read .", "run find . -name x -delete"],
        ),
        (
            "curl -o out https://example.com/x",
            vec![
                "write out",
                "run curl -o out https://example.com/x",
                "reach example.com",
            ],
        ),
        (
            "for f in a b; do touch $f.txt; done",
            vec!["write a.txt", "write b.txt"],
        ),
        ("git -C sub archive -o x.tar HEAD", vec!["write sub/x.tar"]),
        ("dd if=a of=b", vec!["read a", "write b"]),
        ("bash -c 'cd src; touch x'", vec!["write src/x"]),
        (
            "parallel touch ::: docs/x docs/y",
            vec![
                "write docs/x",
                "write docs/y",
                "run parallel touch ::: docs/x docs/y",
            ],
        ),
        (
            "flock l touch docs/x",
            vec!["write docs/x", "write l", "run flock l touch docs/x"],
        ),
        (
            "env -S 'touch docs/x'",
            vec!["write docs/x", "run env -S 'touch docs/x'"],
        ),
    ] {
        assert_eq!(effects(line), wanted, "{line}");
    }
    let home = look("touch ~/x").effects;
    assert!(matches!(&home[..], [Effect::Write(target)] if target.place.inside().is_none()));
}

/// Calls of Tagout itself are seen wherever they hide, for the verbs that are for people.
#[test]
fn own_calls_are_seen() {
    for line in [
        "tagout approve 7",
        "ls; tagout approve 7",
        "env tagout approve 7",
        "bash -c 'tagout approve 7'",
        "/usr/local/bin/tagout approve 7",
        "./target/debug/tagout approve 7",
        "echo $(tagout approve 7)",
        "nohup tagout approve 7 &",
        "xargs tagout approve 7",
        "tagout --json approve 7",
        "t=tagout; $t approve 7",
        "if (( ; tagout approve 7",
        "parallel tagout approve ::: 7",
        "strace tagout approve 7",
        "env -S 'tagout approve 7'",
        "npx tagout approve 7",
        "whoknows tagout approve 7",
    ] {
        let analysis = look(line);
        let words = |call: &OwnCall| call.words.first().is_some_and(|word| word == "approve");
        assert!(
            analysis.own_calls.iter().any(words),
            "{line}: {:?}",
            analysis.own_calls
        );
        assert_eq!(analysis.class, Class::Destructive, "{line}");
    }
    for line in [
        "cargo nextest run -p tagout exec_user",
        "cargo build --package tagout",
    ] {
        assert_eq!(look(line).own_calls, [], "{line}");
    }
    assert!(look("tagout $verb").own_calls[0].uncertain);
    assert!(safe("tagout log --json"));
}

/// H4: the policy extends what is read-only, and narrows it; narrowing wins.
#[test]
fn the_policy_extends_and_narrows() {
    let roots = Roots::default();
    let commands = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let read_only = commands(&["kubectl get", "mytool"]);
    let destructive = commands(&["cat", "kubectl get secrets"]);
    let context = ShellContext {
        read_only: &read_only,
        destructive: &destructive,
        ..ShellContext::bare(knowledge(), &roots)
    };
    let class = |line: &str| analyse(line, &context).class;
    assert_eq!(class("kubectl get pods | head"), Class::Safe);
    assert_eq!(class("mytool --x"), Class::Safe);
    for line in [
        "kubectl get secrets",
        "kubectl delete pod x",
        "mytool > x",
        "mytool $(touch x)",
        "cat x",
        "FOO=1 mytool",
        "./mytool",
    ] {
        assert_eq!(class(line), Class::Destructive, "{line}");
    }
}

/// A variable that every program inherits is not set in passing.
#[test]
fn inherited_variables_are_not_set_in_passing() {
    let roots = Roots::default();
    let exported = vec!["DEBUG".to_owned()];
    let context = ShellContext {
        exported: &exported,
        ..ShellContext::bare(knowledge(), &roots)
    };
    assert_eq!(analyse("DEBUG=1; ls", &context).class, Class::Destructive);
    assert_eq!(analyse("OTHER=1; ls", &context).class, Class::Safe);
}

/// An entry that contradicts its own example does not load.
#[test]
fn wrong_examples_do_not_load() {
    let lying = "programs:\n  - names: w\n    operands: delete*\n    safe: [w x]\n";
    let problems = Knowledge::from_yaml(&[("lying.yaml", lying)]).unwrap_err();
    insta::assert_snapshot!(
        problems[0].to_string(),
        @"lying.yaml:4:12: the example `w x` is given as safe, but is judged DESTRUCTIVE: it writes `x`"
    );
    let typo = "programs:\n  - names: x\n    opions: {}\n";
    let problems = Knowledge::from_yaml(&[("typo.yaml", typo)]).unwrap_err();
    insta::assert_snapshot!(
        problems[0].to_string(),
        @"typo.yaml:3:5: an entry has no field `opions` (did you mean `options`?)"
    );
}

/// What a short-lived process reads is what was packed.
#[test]
fn knowledge_survives_packing() {
    let packed = postcard::to_allocvec(knowledge().kept()).unwrap();
    println!("packed knowledge: {} bytes", packed.len());
    let read: Knowledge = postcard::from_bytes::<Kept>(&packed).unwrap().into();
    assert_eq!(&read, knowledge());
}

fn bounded() -> ProptestConfig {
    ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(bounded())]

    /// No text makes the reader fail.
    #[test]
    fn any_text_is_judged(line in "\\PC{0,200}") {
        look(&line);
    }

    /// No text made of shell makes the reader fail, and nothing is SAFE once a write follows it.
    #[test]
    fn shell_like_text_is_judged(pieces in proptest::collection::vec(piece(), 0..14)) {
        let line = pieces.concat();
        look(&line);
        prop_assert!(!safe(&format!("touch X; {line}")), "{:?}", line);
        if safe(&line) && !line.contains(['#', '\\']) && !line.contains("<<") {
            prop_assert!(!safe(&format!("{line}\ntouch X")), "{:?}", line);
            prop_assert!(!safe(&format!("( {line}\n) > X")), "{:?}", line);
        }
    }
}

fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        "ls",
        "cat x",
        "echo ",
        "'",
        "\"",
        "`",
        "$(",
        ")",
        "(",
        "{",
        "}",
        " ",
        " ",
        "\n",
        ";",
        "&",
        "|",
        "<",
        ">",
        "<<E\n",
        "\nE\n",
        "<<<",
        "${x:-",
        "${",
        "$((",
        "))",
        "[[ ",
        " ]]",
        "[ ",
        " ]",
        "\\",
        "$",
        "$x",
        "x=",
        "if ",
        "then ",
        "fi",
        "for i in ",
        "do ",
        "done",
        "case x in ",
        "esac",
        ";;",
        "f() ",
        "!",
        "{a,b}",
        "{1..3}",
        "*",
        "~",
        "2>&1",
        "sed p ",
        "awk 1 ",
        "find . ",
        "xargs ",
        "é",
        "$'",
        "a[",
        "]=",
        "-n",
        "--",
        "coproc ",
        "eval ",
        "bash -c ",
        "time ",
        "\t",
        "\r",
    ];
    (0..pieces.len()).prop_map(move |index| pieces[index].to_owned())
}

/// H4: programs that a file in the workspace can make start others are known, so that only walls
/// are trusted with them.
#[test]
fn helped_programs_are_known() {
    for (program, text) in [
        ("git", "git status"),
        ("/usr/bin/git", "/usr/bin/git status"),
        ("pytest", "pytest --version"),
        ("yarn", "yarn --version"),
        ("python3", "python3 -m json.tool"),
    ] {
        assert!(knowledge().is_helped(program, text), "{text}");
    }
    for (program, text) in [("python3", "python3 --version"), ("ls", "ls git")] {
        assert!(!knowledge().is_helped(program, text), "{text}");
    }
}
