//! What is never allowed by a rule.

use super::look;

/// What no rule may allow is named as such, at any depth.
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
}

/// What is merely destructive is not on the floor.
#[test]
fn the_floor_is_narrow() {
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

/// What lies behind a bound counts as the worst: filling up to it hides nothing.
#[test]
fn the_floor_is_not_filled_up() {
    for count in [0, 63, 64, 200] {
        let code = "shutil.rmtree(\"x\")\n".repeat(count) + "shutil.rmtree(\"/\")";
        let line = format!("python3 -c '{code}'");
        assert!(look(&line).catastrophic.is_some(), "{count}");
    }
}

/// Lines that have an interpreter run some code: from its standard input, and from a word.
fn given(program: &str, code: &str) -> [String; 2] {
    let word = code.replace('\'', r"'\''");
    let option = match program {
        "python3" => "-c",
        "php" => "-r",
        _ => "-e",
    };
    [
        format!("{program} - <<'END'\n{code}\nEND"),
        format!("{program} {option} '{word}'"),
    ]
}

fn check(program: &str, code: &str, is_floor: bool) {
    for line in given(program, code) {
        let found = look(&line).catastrophic;
        assert_eq!(found.is_some(), is_floor, "{line}: {found:?}");
    }
}

/// What stands before it does not hide what code removes: comments, patterns and texts are told
/// apart as the language does, and where that is in doubt every place counts.
#[test]
fn nothing_in_code_hides_the_floor() {
    for (program, before) in [
        ("node", "// don't\n"),
        ("node", "class A{#x};"),
        ("node", "class A{ #x = 1; get y() { return this.#x } };"),
        ("node", "/* don't */"),
        ("node", "/* `don't` \" */"),
        ("node", "const a = /'/;"),
        ("node", "if (x) /'/.test(y); else /[/']/.test(z);\n"),
        ("node", "a = b / 'c'.length / d;"),
        ("node", "a = `${b + \"'\"}`;"),
        ("node", "a = `don't ${`nest '`}`;"),
        ("node", "#!/usr/bin/env node don't\n"),
        ("node", "<!-- don't\n"),
        ("node", "a = 'it\\'s';"),
        ("node", "let s = 1 // \" ' `\n"),
    ] {
        for remove in [
            "fs.rmSync('/', {recursive: true})",
            "execSync(\"rm -rf /\")",
        ] {
            check(program, &format!("{before}{remove}"), true);
        }
    }
    for (program, before, remove) in [
        ("python3", "# don't\n", "shutil.rmtree('/')"),
        ("python3", "a = 1 # don't\n", "os.system('rm -rf /')"),
        (
            "python3",
            "\"\"\"don't \"really\" \"\"\"\n",
            "shutil.rmtree('/')",
        ),
        (
            "python3",
            "a = 4 // 2 # it's \"\n",
            "subprocess.run(['rm', '-rf', '/'])",
        ),
        ("python3", "a = '#'\n", "shutil.rmtree('/')"),
        ("perl", "# don't\n", "system(\"rm -rf /\")"),
        ("perl", "$a = $';\n", "system('rm -rf /');"),
        ("perl", "$n = $#list; s/'/x/;\n", "system('rm -rf /');"),
        ("perl", "s{'}{\"}g;\n", "system('rm -rf /');"),
        ("perl", "print <<E;\ndon't\nE\n", "system('rm -rf /');"),
        ("perl", "=pod\n\ndon't\n\n=cut\n", "system('rm -rf /');"),
        ("perl", "$x = m'a';\n", "`rm -rf /`;"),
        ("ruby", "# don't\n", "FileUtils.rm_rf('/')"),
        ("ruby", "a = ?'\n", "FileUtils.rm_rf('/')"),
        ("ruby", "a = %q(don't)\n", "system('rm -rf /')"),
        ("ruby", "a = <<~E\n  don't\nE\n", "system('rm -rf /')"),
        ("php", "<?php # don't\n", "shell_exec('rm -rf /');"),
        ("php", "<?php // don't\n", "exec('rm -rf /');"),
        ("lua", "-- don't\n", "os.execute('rm -rf /')"),
        ("lua", "--[[ don't ]]", "os.execute('rm -rf /')"),
        ("lua", "a = [[don't]]\n", "os.execute('rm -rf /')"),
    ] {
        check(program, &format!("{before}{remove}"), true);
    }
}

/// However a function is named and called, what it is given counts.
#[test]
fn calls_of_any_form_are_on_the_floor() {
    for (program, code) in [
        ("node", "require('rimraf').sync('/')"),
        ("node", "require('rimraf')('/')"),
        ("node", "rimraf.sync('/')"),
        ("node", "rimraf.default.sync('/', {})"),
        ("node", "fs['rmSync']('/', {recursive: true})"),
        ("node", "fs.rmSync?.('/', {recursive: true})"),
        ("node", "fs?.rmSync('/', {recursive: true})"),
        ("node", "(0, fs.rmSync)('/', {recursive: true})"),
        ("node", "fs.rmSync.call(fs, '/', {recursive: true})"),
        (
            "node",
            "fs.rmSync (/* all */ '/' /* of it */, {recursive: true})",
        ),
        ("node", "fs.rmSync('/' // all of it\n, {recursive: true})"),
        ("node", "fs.rmSync('\\x2f', {recursive: true})"),
        ("node", "child_process.execSync(\"rm -rf /\")"),
        (
            "node",
            "console.log(`${fs.rmSync('/', {recursive: true})}`)",
        ),
        ("node", "eval(\"fs.rmSync('/', {recursive: true})\")"),
        ("node", "await $`rm -rf /`"),
        ("python3", "getattr(shutil, 'rmtree')('/')"),
        ("python3", "__import__('shutil').rmtree('/')"),
        ("python3", "shutil.rmtree (\n    '/' # all of it\n)"),
        ("python3", "print(f\"{shutil.rmtree('/')}\")"),
        ("python3", "exec('import shutil; shutil.rmtree(\"/\")')"),
        ("python3", "os.system(\"rm -rf /\")"),
        ("python3", "subprocess.run([\"rm\",\"-rf\",\"/\"])"),
        ("perl", "qx(rm -rf /)"),
        ("perl", "my $x = qx{rm -rf /};"),
        ("perl", "qx!rm -rf /!"),
        ("perl", "system(qw(rm -rf /));"),
        ("perl", "system qw(rm -rf /);"),
        ("perl", "exec q(rm -rf /);"),
        ("perl", "system (\"rm -rf /\");"),
        ("perl", "s/x/system(\"rm -rf ~\")/e"),
        ("perl", "print \"@{[system('rm -rf /')]}\""),
        ("ruby", "%x(rm -rf /)"),
        ("ruby", "%x[rm -rf /]"),
        ("ruby", "system(*%w[rm -rf /])"),
        ("ruby", "`rm -rf /`"),
        ("ruby", "puts \"#{system('rm -rf /')}\""),
        ("ruby", "system(\"rm -rf /\")"),
    ] {
        check(program, code, true);
    }
    let deep = format!("rmtree({}'/'{})", "(".repeat(80), ")".repeat(80));
    check("python3", &deep, true);
    let far = format!("rmtree({}'/'{})", " ".repeat(999), " ".repeat(999));
    check("python3", &far, true);
    let unknown = "whoknows \"// don't\nfs.rmSync('/')\"";
    assert!(look(unknown).catastrophic.is_some());
}

/// Code that speaks of it and does not do it, and everyday code.
#[test]
fn harmless_code_is_not_on_the_floor() {
    for (program, code) in [
        (
            "node",
            "// fs.rmSync('/') would be bad\nfs.rmSync('dist', {recursive: true})",
        ),
        ("node", "/* rimraf.sync('/') */ rimraf.sync('dist')"),
        (
            "node",
            "const u = 'https://x/y'; fetch(u).then(r => r.json())",
        ),
        (
            "node",
            "const home = os.homedir(); console.log(`${home}/x`, 1 / 2 / 3)",
        ),
        ("node", "class A { #x = '/'; rm() { return this.#x } }"),
        (
            "node",
            "const parts = p.split('/'); parts.filter(x => /^[a-z']+$/.test(x))",
        ),
        ("node", "execSync('git status'); execSync(`ls ${dir}`)"),
        (
            "node",
            "app.get('/', (q, r) => r.send('x')); server.start('/')",
        ),
        ("node", "require('rimraf').sync('node_modules/.cache')"),
        ("node", "console.log('fs.rmSync(\\'/\\')')"),
        (
            "python3",
            "# shutil.rmtree('/') is what it must not do\nshutil.rmtree('build')",
        ),
        (
            "python3",
            "\"\"\"It's not rmtree('/').\"\"\"\nprint(4 // 2)",
        ),
        ("python3", "print('os.system(\"rm -rf /\")')"),
        (
            "python3",
            "s = open('x').read(); s = s.replace('rm -rf /', ''); open('x', 'w').write(s)",
        ),
        (
            "python3",
            "p = Path.home() / '.cache' / 'x'\nshutil.rmtree(p)",
        ),
        (
            "python3",
            "subprocess.run(['git', 'commit', '-m', \"don't rmtree('/')\"])",
        ),
        (
            "python3",
            "subprocess.run(['ls', '/'])\nsubprocess.run('du -sh /', shell=True)",
        ),
        ("python3", "print(f'{a} of {b}', '/')"),
        ("perl", "# system('rm -rf /')\nprint 'x';"),
        ("perl", "while (<>) { s/'/\"/g; s{/}{::}g; print if m/rm/ }"),
        (
            "perl",
            "my %h = (s => 1, y => 2, q => '/'); print $h{s} / $h{y};",
        ),
        ("perl", "my @list = qw(a b c); print $#list;"),
        ("ruby", "# FileUtils.rm_rf('/')\nputs 10 % 3"),
        ("ruby", "FileUtils.rm_rf(%w[build tmp/cache])"),
        ("ruby", "system('bundle', 'exec', 'rspec')"),
        ("php", "<?php\n// exec('rm -rf /')\necho '/';"),
        ("lua", "-- os.execute('rm -rf /')\nprint('/')"),
    ] {
        check(program, code, false);
    }
}

/// Sixty commands in one piece of code are not on the floor. What does more than can be looked at
/// is.
#[test]
fn long_code_is_not_on_the_floor_and_endless_code_is() {
    let one = |n| format!("subprocess.run(['git', 'add', 'src/file{n}.rs'])");
    for (count, is_there) in [(60, false), (200, true)] {
        let many: Vec<String> = (0..count).map(one).collect();
        check("python3", &many.join("\n"), is_there);
    }
}

/// What looks like a comment or a pattern and is none hides nothing.
#[test]
fn what_only_looks_like_a_comment_hides_nothing() {
    let remove = "require(\"fs\").rmSync(\"/\",{recursive:true})";
    for code in [
        format!("//\r{remove}"),
        format!("//\u{2028}{remove}"),
        format!("//\u{2029}{remove}"),
        format!("if(1)/ b/* {remove} //*/"),
        format!("{{}}/ b/* {remove} //*/"),
        format!("function*f(){{yield/ b/* {remove} //*/}}"),
        format!("<a>//</a>; {remove}"),
    ] {
        check("node", &code, true);
    }
    for (program, code) in [
        ("perl", "print -s $f; system(\"rm -rf /\"); print $a, $b"),
        ("perl", "-s \"f\"; system(\"rm -rf /\"); print \"x\"; #\""),
        ("perl", "print \"a\".q#b#.system(\"rm -rf /\")"),
        ("perl", "/\n'/; system(\"rm -rf /\") #'"),
        ("perl", "=pod\n\nit's\n\n=cut\nsystem(\"rm -rf /\") #'"),
        ("perl", "print <<\\E;\n'\nE\nsystem(\"rm -rf /\") #'"),
        ("perl", "q,',; system(\"rm -rf /\") #'"),
        ("lua", "--[=[ ]=] os.execute(\"rm -rf /\")"),
        ("ruby", "x=%q#a#; system(\"rm -rf /\")"),
        ("php", "// ?><?php system(\"rm -rf /\");"),
        ("python3", "#\rimport shutil; shutil.rmtree('/')"),
    ] {
        check(program, code, true);
    }
}
