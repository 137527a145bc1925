//! Git in commands: what commits contain is judged like files, and repositories can't be made to
//! run code.

use std::fs;

use serde_json::Value;

use crate::confined::Site;

const FILES: &[(&str, &str)] = &[("src/a.txt", "one\n"), ("other.txt", "other\n")];

/// What a person would see of a repository.
fn seen(site: &Site) -> String {
    let asked: [&[&str]; 4] = [
        &["rev-parse", "HEAD"],
        &["for-each-ref"],
        &["ls-files", "--stage"],
        &["status", "--porcelain", "src", "other.txt"],
    ];
    asked.iter().map(|words| site.git(words)).collect()
}

/// H7, invariant 7: a commit, or an index, that holds a change outside of the scope is parked, also
/// when no file of the working tree shows it.
#[test]
fn commits_are_judged() {
    let site = Site::new(FILES);
    site.write("other.txt", "other, later\n");
    site.git(&["commit", "-qam", "later"]);
    let before = seen(&site);
    let plant = "id=$(echo evil | git hash-object -w --stdin) && \
                 git update-index --add --cacheinfo 100644,$id,";
    for (line, path) in [
        (format!("{plant}other.txt && git commit -qm x"), "other.txt"),
        (
            format!("{plant}deep/new.txt && git commit -qm x"),
            "deep/new.txt",
        ),
        (format!("{plant}other.txt"), "other.txt"),
        (
            // Back to what it was long ago, and the same hidden behind a merge.
            "id=$(git rev-parse HEAD~1:other.txt) && git update-index --cacheinfo \
             100644,$id,other.txt && git commit -qm back"
                .to_owned(),
            "other.txt",
        ),
        (
            "c=$(git commit-tree HEAD~1^{tree} -p HEAD~1 -p HEAD -m merge) && \
             git update-ref refs/heads/hidden $c"
                .to_owned(),
            "other.txt",
        ),
        (
            // A merge of three, with a content of its own.
            format!(
                "git branch a && git branch b && git branch c && {plant}other.txt && \
                 c=$(git commit-tree $(git write-tree) -p a -p b -p c -m m) && git reset -q && \
                 git update-ref refs/heads/wide $c"
            ),
            "other.txt",
        ),
        (
            // A merge of three that goes back behind one of its parents.
            "c=$(git commit-tree HEAD~1^{tree} -p HEAD~1 -p HEAD \
             -p $(git commit-tree HEAD^{tree} -p HEAD -m x) -m m) && \
             git update-ref refs/heads/wide $c"
                .to_owned(),
            "other.txt",
        ),
        (
            "git commit -q --allow-empty -m x && git rm -q --cached other.txt && \
             git commit -qm gone"
                .to_owned(),
            "other.txt",
        ),
        (
            format!(
                "{plant}other.txt && c=$(echo m | git commit-tree $(git write-tree)) && \
                 git reset -q && git tag kept $c"
            ),
            "other.txt",
        ),
    ] {
        let told = site.receipt(&line);
        assert_eq!(told["error"]["code"], "SCOPE_VIOLATION", "{line}: {told:#}");
        let id = told["parked"].as_str().unwrap();
        let shown = site.tagout(&["parked", "show", id]);
        let said = format!("committed   {path}  (outside the scope of INT-001, and git's records");
        assert!(shown.stdout.contains(&said), "{}", shown.shown());
        assert_eq!(seen(&site), before, "{line}");
        let part = site.tagout(&["parked", "apply", id, "--in-scope", "--yes"]);
        assert_ne!(part.code, Some(0), "{}", part.shown());
    }
    site.git(&["fsck", "--strict"]);
}

/// Invariant 8: a commit can't carry what decides about agents, and a person's `apply` does not
/// either.
#[test]
fn authority_in_a_commit_is_parked() {
    let site = Site::new(FILES);
    let line = "id=$(echo '{}' | git hash-object -w --stdin) && git update-index --add \
                --cacheinfo 100644,$id,.claude/settings.json && git commit -qm x";
    let told = site.receipt(line);
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{told:#}");
    let id = told["parked"].as_str().unwrap();
    let ran = site.tagout(&["parked", "apply", id, "--yes"]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    let told =
        site.receipt("git replace $(git rev-parse HEAD:src/a.txt) $(git rev-parse HEAD:other.txt)");
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{told:#}");
    assert_eq!(site.git(&["show", "HEAD:src/a.txt"]), "one\n");
}

/// B2: what a person had changed before, in files or staged, may be committed along with the work.
#[test]
fn what_was_there_before_may_be_committed() {
    let site = Site::new(FILES);
    site.write("other.txt", "a person's\n");
    site.write("staged.txt", "staged by a person\n");
    site.git(&["add", "staged.txt"]);
    fs::remove_file(site.root().join("staged.txt")).unwrap();
    let ran = site.exec("echo two > src/b.txt && git add src other.txt && git commit -qm work");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let files = site.git(&["show", "--name-only", "--format="]);
    assert_eq!(files, "other.txt\nsrc/b.txt\nstaged.txt\n");
    assert_eq!(site.git(&["show", "HEAD:other.txt"]), "a person's\n");
    for line in [
        "git commit -q --amend -m again",
        "git branch topic HEAD~1 && git tag t",
        "git stash list && git reset -q --soft HEAD~1 && git commit -qm third",
        "git reset -q --soft HEAD@{1}",
    ] {
        let ran = site.exec(line);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.shown());
    }
    site.git(&["fsck", "--strict"]);
}

/// B2: merging several branches of the work at once and setting new files aside make commits with
/// three parents, and are everyday work.
#[test]
fn commits_with_three_parents_may_be_made() {
    let site = Site::new(FILES);
    let branch = site.git(&["branch", "--show-current"]);
    for line in [
        "for one in x y z; do git checkout -q -b $one master && echo $one > src/$one.txt && \
         git add src && git commit -qm $one; done && git checkout -q master && \
         git merge -q x y z -m wide",
        "cat src/a.txt",
        "echo new > src/new.txt && echo more >> src/a.txt && git stash push -q -u -- src",
        "git stash pop -q",
    ] {
        let ran = site.exec(&line.replace("master", branch.trim()));
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.shown());
    }
    let wide = site.git(&["rev-list", "--parents", "--max-count=1", "HEAD"]);
    assert_eq!(wide.split_whitespace().count(), 4, "{wide}");
    assert_eq!(site.read("src/new.txt").unwrap(), "new\n");
    assert_eq!(site.read("src/y.txt").unwrap(), "y\n");
}

/// H7: what waits to be committed in another worktree or in a submodule is not changed from here,
/// also when the repository's own index changes with it.
#[test]
fn other_worktrees_and_submodules_are_left_alone() {
    let site = Site::with_setup(FILES, |site| {
        site.git(&["worktree", "add", "-q", "../beside"]);
        fs::create_dir(site.root().join(".git/modules")).unwrap();
        site.git(&["clone", "-q", "--bare", ".", ".git/modules/part"]);
    });
    let staged = || site.git(&["-C", "../beside", "diff", "--cached", "--name-only"]);
    let plant = "id=$(echo evil | git hash-object -w --stdin) && echo two > src/b.txt && \
                 git add src && ";
    for line in [
        "GIT_INDEX_FILE=.git/worktrees/beside/index git update-index --cacheinfo \
         100644,$id,other.txt",
        "git rev-parse HEAD > .git/worktrees/beside/MERGE_HEAD",
        "GIT_INDEX_FILE=.git/modules/part/index git update-index --add --cacheinfo \
         100644,$id,other.txt",
        "git rev-parse HEAD > .git/modules/part/refs/heads/other",
    ] {
        let told = site.receipt(&format!("{plant}{line}"));
        assert_eq!(told["error"]["code"], "SCOPE_VIOLATION", "{line}: {told:#}");
        assert_eq!(staged(), "", "{line}");
    }
    // That an index was only looked through is no change of what it stages.
    let line = "python3 -c 'import os; os.utime(\".git/worktrees/beside/index\")' && \
                git add src && git commit -qm fine";
    let ran = site.exec(&format!("echo two > src/b.txt && {line}"));
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
}

/// A worktree is refused with what to do instead; one that a script makes is parked by name.
#[test]
fn worktrees_are_refused_with_a_remedy() {
    let site = Site::new(FILES);
    for line in [
        "git worktree add src/wt",
        "cd src && git -C .. worktree add ../beside",
    ] {
        let told = site.receipt(line);
        assert_ne!(told["outcome"], "completed", "{told:#}");
        let remedy = told["error"]["remedy"].as_str().unwrap();
        assert!(remedy.contains("git switch -c"), "{told:#}");
        assert_eq!(told["parked"], Value::Null, "{told:#}");
    }
    // A file of that name is none.
    let ran = site.exec("git log -- worktree add");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let hidden = "python3 -c 'import subprocess; \
                  subprocess.check_call([\"git\", \"worktree\", \"add\", \"-q\", \"src/wt\"])'";
    let told = site.receipt(hidden);
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{told:#}");
    let reason = told["error"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("worktree is another workspace"), "{told:#}");
    assert!(!site.root().join("src/wt").exists());
    assert_eq!(site.git(&["worktree", "list"]).lines().count(), 1);
}

/// T-002: a bare repository in the scope makes git run its programs, so none lands. Those of a
/// person's own run in the read-only lane, and nothing lands.
#[test]
fn a_planted_bare_repository_lands_nothing() {
    let site = Site::new(FILES);
    let plant = "mkdir -p src/x/refs src/x/objects && echo 'ref: refs/heads/m' > src/x/HEAD && \
                 printf '%s\\n' '[core]' 'repositoryformatversion = 0' 'bare = false' \
                 'worktree = ..' 'fsmonitor = \"touch ../PWNED ~/PWNED /tmp/PWNED; :\"' \
                 > src/x/config";
    let before = site.tree();
    for line in [
        plant,
        "git init -q --bare src/x",
        "mkdir -p src/x/objects src/x/refs src/x/hooks && echo x > src/x/HEAD && \
         echo : > src/x/hooks/post-checkout",
        "mkdir -p src/x && echo x > src/x/HEAD && echo ../../.git > src/x/commondir",
    ] {
        let told = site.receipt(line);
        assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{line}: {told:#}");
        assert_eq!(site.tree(), before, "{line}: {told:#}");
    }
    // Part by part it does not land either, and what only looks like a part of one does.
    for line in ["mkdir -p src/x/refs src/x/objects", "echo a > src/x/config"] {
        let told = site.receipt(&format!("{line} && echo x > src/x/left"));
        assert_eq!(told["outcome"], "completed", "{line}: {told:#}");
    }
    let told = site.receipt("echo 'ref: refs/heads/m' > src/x/HEAD");
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{told:#}");
    // A person's own is read without anything landing, and its settings stay.
    let made = std::process::Command::new("sh")
        .args(["-c", plant])
        .current_dir(site.root())
        .status();
    assert!(made.unwrap().success());
    let told = site.receipt("mkdir src/x/hooks && echo : > src/x/hooks/post-checkout");
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{told:#}");
    let before = site.tree();
    for line in [
        "cd src/x && git status",
        "git -C src/x status",
        "cd src/x && git diff",
    ] {
        let told = site.receipt(line);
        let lane = told["lane"].as_str().unwrap_or_default();
        assert!(
            lane == "read-only" || told["changed"] != Value::Null,
            "{line}: {told:#}"
        );
        assert_eq!(site.tree(), before, "{line}: {told:#}");
        println!("{line}: lane {lane}, exit {}", told["exit_code"]);
    }
    assert!(!site.home().join("PWNED").exists());
    assert!(!fs::exists("/tmp/PWNED").unwrap());
}

/// What a command plants in git's folder, by the words of the refusal.
fn planted(site: &Site, line: &str, word: &str) {
    let before = seen(site);
    let told = site.receipt(line);
    assert_eq!(told["error"]["code"], "AUTHORITY_FILE", "{line}: {told:#}");
    let id = told["parked"].as_str().unwrap();
    let shown = site.tagout(&["parked", "show", id]);
    assert!(shown.stdout.contains(word), "{line}: {}", shown.shown());
    let ran = site.tagout(&["parked", "apply", id, "--yes"]);
    assert_eq!(ran.code, Some(2), "{line}: {}", ran.shown());
    assert_eq!(seen(site), before, "{line}");
    site.git(&["fsck", "--strict"]);
}

/// L4, invariant 7: an object that is not what its name says is not taken over, alone or in a pack:
/// whoever fetches the real one later would see the other.
#[test]
fn forged_objects_are_refused() {
    let site = Site::new(FILES);
    let forge = "import hashlib, os, zlib\n\
                 real, evil = b'blob 6\\0hello\\n', b'blob 5\\0evil\\n'\n\
                 name = hashlib.sha1(real).hexdigest()\n\
                 os.makedirs('.git/objects/' + name[:2], exist_ok=True)\n\
                 open('.git/objects/' + name[:2] + '/' + name[2:], 'wb').write(zlib.compress(evil))\n";
    site.write("src/forge.py", forge);
    planted(&site, "python3 src/forge.py", "not what its name says");
    // The same behind a commit that is in order.
    let line = "python3 src/forge.py; echo two > src/b.txt; git add src/b.txt; git commit -qm two";
    planted(&site, line, "not what its name says");
    let pack = "import glob, subprocess\n\
                ids = subprocess.run(['git', 'rev-list', '--objects', '--all'], capture_output=True).stdout\n\
                subprocess.run(['git', 'pack-objects', '-q', '.git/objects/pack/pack'], input=ids)\n\
                for name in glob.glob('.git/objects/pack/*.pack'):\n    \
                    import os; os.chmod(name, 0o644)\n    \
                    data = bytearray(open(name, 'rb').read()); data[-30] ^= 1\n    \
                    open(name, 'wb').write(data)\n";
    site.write("src/pack.py", pack);
    planted(&site, "python3 src/pack.py", "not what its name says");
    let line = "python3 -c 'open(\".git/objects/pack/pack-1.promisor\", \"w\")'";
    planted(&site, line, "believe it unseen");
    // The same in a submodule, which can't be asked about.
    for (file, word) in [
        ("info/commit-graph", "git runs or obeys it"),
        ("pack/multi-pack-index", "believe it unseen"),
    ] {
        let line = format!(
            "python3 -c 'import os; p = \".git/modules/m/objects/{file}\"; \
             os.makedirs(os.path.dirname(p)); open(p, \"w\")'"
        );
        planted(&site, &line, word);
    }
    let line = "python3 -c 'import os; os.symlink(\"../src/o\", \".git/ORIG_HEAD\")'";
    planted(&site, line, "never makes");
    // What git itself writes is in order, packed or not.
    let ran =
        site.exec("echo two > src/b.txt && git add src && git commit -qm two && git repack -qd");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    site.git(&["fsck", "--strict"]);
    assert_eq!(site.git(&["show", "HEAD:src/b.txt"]), "two\n");
}

/// L4: a planted rebase, or a step planted in a person's own, runs nothing outside of the sandbox;
/// a rebase that stops and goes on works, and the person's own steps stay theirs.
#[test]
fn planted_steps_of_a_rebase_are_refused() {
    let site = Site::new(FILES);
    let first = site.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let plant = format!(
        "import os\n\
         os.mkdir('.git/rebase-merge')\n\
         for name, text in [('onto', '{first}'), ('orig-head', '{first}'), ('done', ''),\n    \
                ('head-name', 'refs/heads/x'), ('interactive', ''),\n    \
                ('git-rebase-todo', 'exec touch PWNED\\n')]:\n    \
             open('.git/rebase-merge/' + name, 'w').write(text)\n"
    );
    site.write("src/plant.py", &plant);
    planted(
        &site,
        "python3 src/plant.py",
        "would run `exec touch PWNED`",
    );
    fs::remove_file(site.root().join("src/plant.py")).unwrap();
    assert!(!site.root().join(".git/rebase-merge").exists());

    // A person is in the middle of one of their own, with a step that runs a program.
    site.git(&["checkout", "-q", "-b", "topic"]);
    for (file, text) in [("src/a.txt", "topic\n"), ("src/c.txt", "c\n")] {
        site.write(file, text);
        site.git(&["add", "-A", "src"]);
        site.git(&["commit", "-qm", file]);
    }
    site.git(&["checkout", "-q", "-b", "base", &first]);
    site.write("src/a.txt", "base\n");
    site.git(&["commit", "-qam", "base"]);
    site.git(&["checkout", "-q", "topic"]);
    let stopped = std::process::Command::new("git")
        .args(["rebase", "-x", "true", "base"])
        .current_dir(site.root())
        .env("HOME", site.home())
        .output()
        .unwrap();
    assert!(!stopped.status.success());
    let todo = site.root().join(".git/rebase-merge/git-rebase-todo");
    let own = fs::read_to_string(&todo).unwrap();
    assert!(own.contains("exec true"), "{own}");
    let line = "python3 -c 'open(\".git/rebase-merge/git-rebase-todo\", \"a\").write(\"x touch PWNED\\n\")'";
    planted(&site, line, "would run `x touch PWNED`");
    assert_eq!(fs::read_to_string(&todo).unwrap(), own);
    // An agent may resolve it and go on.
    assert_eq!(site.exec("cat src/a.txt").code, Some(0));
    let line = "printf 'both\\n' > src/a.txt && git add src/a.txt && \
                GIT_EDITOR=true git rebase --continue";
    let ran = site.exec(line);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(
        site.git(&["log", "--format=%s"]),
        "src/c.txt\nsrc/a.txt\nbase\nfirst\n"
    );
    assert!(!site.root().join("PWNED").exists());
    site.git(&["fsck", "--strict"]);
}

/// L4, H13: a stash of a command and a person's commit in between: undo gives both back, or says
/// why not, and the repository is sound.
#[test]
fn a_stash_and_a_person_in_between() {
    let site = Site::new(FILES);
    site.write("src/a.txt", "work of a person\n");
    let told = site.receipt("git stash -q");
    assert_eq!(told["outcome"], "completed", "{told:#}");
    assert_eq!(site.read("src/a.txt").as_deref(), Some("one\n"));
    site.write("src/new.txt", "a person's\n");
    site.git(&["add", "src/new.txt"]);
    site.git(&["commit", "-qm", "a person's"]);
    let head = site.git(&["rev-parse", "HEAD"]);
    let ran = site.tagout(&["undo", told["execution"].as_str().unwrap(), "--yes"]);
    println!("undo: {}", ran.shown());
    assert_eq!(
        site.git(&["rev-parse", "HEAD"]),
        head,
        "the person's commit stays"
    );
    assert_eq!(site.git(&["show", "HEAD:src/new.txt"]), "a person's\n");
    if ran.code == Some(0) {
        assert_eq!(
            site.read("src/a.txt").as_deref(),
            Some("work of a person\n")
        );
    } else {
        assert_eq!(site.git(&["stash", "list"]).lines().count(), 1);
        let ran = site.exec("git stash pop -q");
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
        assert_eq!(
            site.read("src/a.txt").as_deref(),
            Some("work of a person\n")
        );
    }
    site.git(&["fsck", "--strict"]);
}

/// L4, invariant 8: a hook that a command plants, in whatever way, never runs when a person uses
/// git afterwards.
#[test]
fn a_planted_hook_never_runs() {
    let site = Site::new(FILES);
    let hook = "import os, sys\n\
                os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True)\n\
                open(sys.argv[1], 'w').write('#!/bin/sh\\ntouch PWNED\\n')\n\
                os.chmod(sys.argv[1], 0o755)\n";
    site.write("src/hook.py", hook);
    for line in [
        "python3 src/hook.py .git/hooks/post-commit",
        "python3 src/hook.py .git/hooks/pre-commit && git commit -q --allow-empty -m x",
        "python3 src/hook.py src/hooks/post-commit && \
         python3 -c 'open(\".git/config\", \"a\").write(\"[core]\\nhooksPath = src/hooks\\n\")'",
        "git init -q src/sub && python3 src/hook.py src/sub/.git/hooks/post-checkout",
        "python3 -c 'import os, shutil; shutil.move(\".git\", \"g\"); os.symlink(\"g\", \".git\")'",
    ] {
        let told = site.receipt(line);
        assert_ne!(told["outcome"], "completed", "{line}: {told:#}");
        println!("{line}: {}", told["error"]["code"]);
        site.git(&["commit", "-q", "--allow-empty", "-m", "a person's"]);
        site.git(&["checkout", "-q", "-B", "again"]);
        assert!(!site.root().join("PWNED").exists(), "{line}");
        assert!(!site.root().join("src/sub").exists(), "{line}");
    }
    site.git(&["fsck", "--strict"]);
}

/// B2: in a linked worktree, whose repository lies elsewhere, files are changed as everywhere; what
/// git would write elsewhere is refused with what to do instead.
#[test]
fn a_linked_worktree_is_told_how() {
    let site = Site::new(FILES);
    // Not below `/tmp`, which a command has its own of.
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (main, place) = (at("main"), at("linked"));
    site.git(&["clone", "-q", ".", &main]);
    site.git(&["-C", &main, "worktree", "add", "-q", &place, "-b", "linked"]);
    let run = |words: &[&str]| {
        let output = site.command(words).current_dir(&place).output().unwrap();
        crate::confined::Ran::of(&output, &site.home())
    };
    let init = ["init", "--yes", "--intent", "Work", "--scope", "src/**"];
    for words in [&init[..], &["trust", "--yes"]] {
        let ran = run(words);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
    }
    let told = |line: &str| -> Value {
        let first = ["exec", "--session", "s-2", "--intent", "INT-001", "--json"];
        let ran = run(&[&first[..], &["--", line]].concat());
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.shown()))
    };
    assert_eq!(told("cat src/a.txt")["exit_code"], 0);
    let changed = told("echo more >> src/a.txt && git status --short");
    assert_eq!(changed["outcome"], "completed", "{changed:#}");
    let refused = told("git add src/a.txt");
    assert_ne!(refused["exit_code"], 0, "{refused:#}");
    let hint = refused["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("linked worktree"), "{refused:#}");
}
