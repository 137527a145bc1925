//! The corpus in both directions, mutations of it, and input that means harm to the reader itself.

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

/// Code and recipes that are long, deep, or made of nothing but marks.
fn bombs_of_code() -> Vec<String> {
    let codes = [
        "'' ".repeat(9_000),
        "[".repeat(9_000) + &"'',".repeat(5_000),
        "system('a b');".repeat(2_000),
        "rmSync(home".repeat(2_500),
    ];
    let recipes = "x:; make --eval '$(shell make a=b)'\n".repeat(700);
    let mut bombs = vec![
        "npx ".repeat(6_000) + "touch x",
        format!("make -f - <<'E'\n{recipes}E"),
    ];
    for code in codes {
        bombs.push(format!("node -e \"{code}\""));
        bombs.push(format!("python3 - <<'E'\n{code}\nE"));
    }
    bombs
}

/// H4: bombs end, soon, and as DESTRUCTIVE.
#[test]
fn bombs_are_bounded() {
    let many = 10_000;
    let mut bombs = vec!["x".repeat(1 << 20), "ls -a;".repeat(many)];
    let mut harmless = vec![
        "ls;".repeat(many),
        format!("echo {}", "$((1))".repeat(4_000)),
    ];
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
        ("timeout 1 ", ""),
    ] {
        for depth in [1_500, many] {
            let nested = format!("{}touch x{}", open.repeat(depth), close.repeat(depth));
            harmless.push(format!("echo {nested}"));
            harmless.push(format!("echo {}", open.repeat(depth)));
            bombs.push(nested);
        }
    }
    bombs.push(format!("touch {}", "{a,b}".repeat(40)));
    bombs.push(format!(
        "ls {}; touch x",
        "{1..99999999999999999999}".repeat(9)
    ));
    bombs.push(format!("echo {}", "{a,b}".repeat(4_000)));
    let unrolled = "for a in a b c d e f g; do ".repeat(12);
    bombs.push(unrolled + "ls" + &"; done".repeat(12));
    bombs.push("while read x; do ".repeat(25) + "touch x" + &"; done".repeat(25));
    bombs.extend(bombs_of_code());
    bombs.push("99999999999999999999>x".to_owned());
    bombs.push("ls ~99999999999999999999/; touch x".to_owned());
    harmless.push("x=1||".repeat(6_000) + "x=2");
    harmless.push(format!("while read y; do {} done", "x=1;".repeat(7_000)));
    harmless.push("a=1;".repeat(7_000) + "ls");
    harmless.push("(".to_owned() + &"ls|".repeat(9_000) + "ls)");
    harmless.push("ls <<E;".repeat(2_000) + "\n" + &"E\n".repeat(2_000));
    harmless.push("while read x; do ".repeat(12) + "x=1" + &"; done".repeat(12));
    let bound = std::time::Duration::from_secs(5);
    for (line, bomb) in bombs
        .iter()
        .map(|l| (l, true))
        .chain(harmless.iter().map(|l| (l, false)))
    {
        let started = std::time::Instant::now();
        let analysis = look(line);
        let shown: String = line.chars().take(40).collect();
        assert!(
            started.elapsed() < bound,
            "{shown} took {:?}",
            started.elapsed()
        );
        assert!(!bomb || analysis.class == Class::Destructive, "{shown}");
    }
}

/// What no rule may allow is named as such, at any depth; what is merely destructive is not.
#[test]
fn the_floor_is_found() {
    for line in [
        ":(){ :|:& };:",
        "bomb() { bomb | bomb & }; bomb",
        "rm -rf /",
        "rm -rf /*",
        "rm -fr ~",
        "rm -rf ~/",
        "rm -rf $HOME",
        "rm -rf \"$HOME\"/*",
        "rm -rf \"$X\"/*",
        "rm -rf .",
        "rm -rf ./*",
        "rm -rf *",
        "rm -rf ..",
        "rm -r /etc",
        "rm --recursive --force /usr",
        "rm -rf /repo/project",
        "sudo rm -rf / --no-preserve-root",
        "bash -c 'rm -rf /'",
        "ls; (cd x && rm -rf ~)",
        "chmod -R 777 /",
        "chown -R me /etc",
        "dd if=/dev/zero of=/dev/sda",
        "cat x > /dev/nvme0n1",
        "mkfs.ext4 /dev/sdb1",
        "git push --force",
        "git push -f origin main",
        "git push origin +main",
        "git push --force-with-lease",
        "shutdown -h now",
        "echo $(rm -rf /)",
        "find . -exec rm -rf / {} +",
        "env FOO=1 rm -rf /",
        "if true; then rm -rf ~; fi; ((",
        "xargs rm -rf /",
        "parallel rm -rf ::: /",
        "parallel rm -rf {} ::: x ~",
        "parallel ::: 'rm -rf /' ls",
        "parallel git push --force ::: a",
        "env -S 'rm -rf /'",
        "env -S 'bash -c' 'rm -rf /'",
        "strace -f -o /tmp/x rm -rf /",
        "ltrace -zz 5 rm -rf /",
        "script -c 'rm -rf /' /dev/null",
        "flock /tmp/l rm -rf /",
        "flock /tmp/l -c 'rm -rf /'",
        "chroot / rm -rf /",
        "unshare -r rm -rf /",
        "systemd-run --user rm -rf /",
        "su root -c 'rm -rf /'",
        "runuser -u me -- rm -rf /",
        "ssh host rm -rf /",
        "ssh -p 22 me@host 'cd x; rm -rf /'",
        "docker exec -it c rm -rf /",
        "tmux new-session -d 'rm -rf ~'",
        "nix-shell --run 'rm -rf /'",
        "poetry run rm -rf /",
        "bundle exec rm -rf /",
        "hyperfine 'rm -rf /'",
        "gdb --args rm -rf /",
        "perf stat rm -rf /",
        "whoknows --yes rm -rf /",
        "$x rm -rf /",
        "echo 'rm -rf /' | sh",
        "bash <<< 'rm -rf /'",
        "sh <<'E'\nrm -rf /\nE",
        "at now <<< 'rm -rf /'",
        "find / -delete",
        "find ~ -name x -delete",
        "find . -delete",
        "find -type f -delete",
        "find $HOME -exec rm {} +",
        "find /etc -type f -exec rm -f {} \\;",
        "{rm,-rf,/}",
        "npx rimraf /",
        "npx -y rimraf ~",
        "npx --yes rimraf@5 -g '/*'",
        "npm exec -- rimraf /",
        "pnpm dlx rimraf /",
        "yarn dlx rimraf $HOME",
        "bunx rimraf /",
        "rimraf /",
        "npx del-cli --force /",
        "npx trash ~",
        "python -c \"import shutil; shutil.rmtree('/')\"",
        "python3 -c 'import shutil,os; shutil.rmtree(os.path.expanduser(\"~\"))'",
        "python3 -c 'import os; os.system(\"rm -rf /\")'",
        "python3 -c 'import subprocess as s; s.run([\"rm\", \"-rf\", \"/\"])'",
        "python3 - <<'E'\nimport shutil\nshutil.rmtree('/')\nE",
        "echo \"import shutil; shutil.rmtree('/')\" | python3",
        "node -e \"fs.rmSync('/',{recursive:true})\"",
        "node -e 'require(\"fs\").rmSync(require(\"os\").homedir(), {recursive: true})'",
        "node -e 'require(\"child_process\").execSync(`rm -rf /`)'",
        "node -e 'require(\"child_process\").spawnSync(\"rm\", [\"-rf\", \"/\"])'",
        "node --eval=\"fs.rmSync('/',{recursive:true})\"",
        "perl -e 'system(\"rm -rf /\")'",
        "perl -e 'system \"rm\", \"-rf\", \"/\"'",
        "perl -MFile::Path -e 'rmtree \"/\"'",
        "perl -e '`rm -rf /`'",
        "ruby -rfileutils -e 'FileUtils.rm_rf(\"/\")'",
        "ruby -e 'system(\"rm\", \"-rf\", Dir.home)' && ruby -e 'exec \"rm -rf ~\"'",
        "php -r 'shell_exec(\"rm -rf /\");'",
        "lua -e 'os.execute(\"rm -rf /\")'",
        "deno eval \"Deno.removeSync('/', {recursive: true})\"",
        "sudo docker run x python3 -c \"import shutil; shutil.rmtree('/')\"",
        "make SHELL='rm -rf /'",
        "make SHELL=/bin/rm .SHELLFLAGS='-rf /' x",
        "make .SHELLFLAGS='-rf /' SHELL=rm",
        "make -C sub SHELL:='rm -rf ~'",
        "make --eval='$(shell rm -rf /)'",
        "make --eval 'x:; rm -rf /'",
        "make CLEAN='rm -rf /' clean",
        "make -f - <<'E'\nall:\n\t@rm -rf /\nE",
        "gmake SHELL='sh -c \"rm -rf /\"'",
        "make -f /dev/stdin <<< 'x:; @rm -rf ~'",
        "printf 'x:\\n\\trm -rf /\\n' | make -f -",
        "awk 'BEGIN { system(\"rm -rf /\") }'",
    ] {
        assert!(look(line).catastrophic.is_some(), "{line}");
    }
    for line in [
        "rm -rf target",
        "rm -rf ./build",
        "rm -rf /tmp/x",
        "rm x",
        "git push",
        "git clean -fdx",
        "git reset --hard",
        "curl https://x | sh",
        "echo 'rm -rf /'",
        "chmod -R u+w src",
        "dd if=x of=y",
        "f() { f; }; f",
        "cd build && rm -rf *",
        "find . -name '*.pyc' -delete",
        "find build -delete",
        "find . -type f -exec rm -f {} +",
        "find / -name x -exec grep y {} +",
        "parallel rm -rf ::: build",
        "npm run format",
        "npm init -y",
        "cargo run -- init",
        "ssh host ls",
        "git commit -m 'rm -rf / is bad'",
        "gh issue create --title 'rm -rf / is bad'",
        "npx rimraf dist",
        "npx rimraf@5 dist node_modules/.cache",
        "rimraf build",
        "python3 -c \"import shutil; shutil.rmtree('build')\"",
        "python3 -c \"print('rm -rf /')\"",
        "python3 -c 'import os; print(os.listdir(\"/\"))'",
        "python3 -c 'import shutil, os; shutil.rmtree(os.path.join(\"/\", \"tmp\", \"x\"))'",
        "node -e 'fs.rmSync(path.join(os.homedir(), \".cache/x\"), {recursive: true})'",
        "node -e 'console.log(process.env.HOME)'",
        "perl -e 'system(\"ls /\")'",
        "make SHELL=/bin/bash test",
        "make PREFIX=/ install",
        "make DESTDIR=/ PREFIX=/usr install",
    ] {
        assert_eq!(look(line).catastrophic, None, "{line}");
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
