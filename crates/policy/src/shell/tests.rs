//! The corpus in both directions, mutations of it, and input that means harm to the reader itself.

use std::sync::OnceLock;

use serde::Deserialize;
use tagout_vocab::Class;
use tagout_vocab::path::Roots;

use super::{Analysis, Knowledge, ShellContext, analyse};

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
        workspace: "/work/project".to_owned(),
        extra: Vec::new(),
    };
    let context = ShellContext {
        cwd: "/work/project",
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
            println!("{name}: {} but not so judged: {:?}: {:?}", line.label, line.cmd, analysis.why());
        }
    }
    let [safe, destructive] = figures;
    println!("{name}: safe lines called SAFE: {}/{}", safe.0, safe.1);
    println!("{name}: destructive lines called SAFE: {}/{}", destructive.0, destructive.1);
    figures
}

/// H4 on the labelled commands: nothing destructive is called SAFE, and what is safe nearly always is.
#[test]
fn the_corpus_is_judged_in_both_directions() {
    for (name, text) in [("corpus", CORPUS), ("own", OWN)] {
        let [safe, destructive] = measure(name, text);
        assert_eq!(destructive.0, 0, "{name}");
        assert!(safe.0 * 100 >= safe.1 * 95, "{name}: {safe:?}");
    }
}

fn safe(line: &str) -> bool {
    look(line).class == Class::Safe
}

fn lines(label: &str) -> Vec<String> {
    let all = corpus(CORPUS).into_iter().chain(corpus(OWN));
    all.filter(|line| line.label == label).map(|line| line.cmd).collect()
}

/// H4: whatever is added to a safe line that writes makes it destructive.
#[test]
fn additions_are_found_in_every_safe_line() {
    let plain = |line: &String| !line.contains("<<") && !line.contains('#') && safe(line);
    for line in lines("safe").iter().filter(|line| plain(line)) {
        let line = line.trim_end().trim_end_matches('&');
        for changed in [
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
        ] {
            assert!(!safe(&changed), "{changed:?}");
        }
    }
}

/// H4: the same destructive commands in other clothes.
#[test]
fn disguises_do_not_help() {
    for line in lines("destructive") {
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
        }
        for disguise in disguises {
            assert!(!safe(&disguise), "{disguise:?}");
        }
    }
}

/// H4: bombs end, soon, and as DESTRUCTIVE.
#[test]
fn bombs_are_bounded() {
    let many = 10_000;
    let mut bombs = vec!["x".repeat(1 << 20), "ls -a;".repeat(many)];
    for (open, close) in [
        ("(", ")"),
        ("$(", ")"),
        ("{ ", ";}"),
        ("`", "`"),
        ("${x:-", "}"),
        ("$((", "))"),
        ("<(", ")"),
        ("\"$(", ")\""),
        ("{a,", "}"),
        ("if ", "; fi"),
        ("[[ ( ", " ) ]]"),
        ("! ", ""),
        ("a[", "]"),
        ("case x in x) ", " ;; esac"),
        ("f() { ", "; }"),
        ("env ", ""),
        ("eval ", ""),
        ("x=$(", ")"),
        ("while ", "; do ls; done"),
    ] {
        bombs.push(open.repeat(many));
        bombs.push(format!("echo {}ls{}", open.repeat(many), close.repeat(many)));
        bombs.push(format!("echo {}ls{}", open.repeat(1_500), close.repeat(1_500)));
        bombs.push(format!("{}ls{}", open.repeat(1_500), close.repeat(1_500)));
    }
    bombs.push(format!("touch {}", "{a,b}".repeat(40)));
    bombs.push(format!("ls {}", "{1..99999999999999999999}".repeat(9)));
    bombs.push(format!("echo {}", "{a,b}".repeat(4_000)));
    bombs.push("for a in 1 2 3 4 5 6 7 x; do ".repeat(40) + "ls" + &"; done".repeat(40));
    bombs.push("for a in a b c d e f g; do ".repeat(12) + "ls" + &"; done".repeat(12));
    bombs.push("while read x; do ".repeat(25) + "x=1" + &"; done".repeat(25));
    bombs.push("99999999999999999999>x".to_owned());
    bombs.push("ls ~99999999999999999999/".to_owned() + "; touch x");
    let started = std::time::Instant::now();
    for bomb in &bombs {
        let one = std::time::Instant::now();
        let analysis = look(bomb);
        let shown: String = bomb.chars().take(40).collect();
        assert_eq!(analysis.class, Class::Destructive, "{shown}");
        assert!(one.elapsed().as_millis() < 2_000, "{shown} took {:?}", one.elapsed());
    }
    println!("{} bombs in {:?}", bombs.len(), started.elapsed());
}
