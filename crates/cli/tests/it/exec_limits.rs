//! Limits that a command runs into, through the real binary: each holds, and the run is reported as
//! failed although its shell says that all went well.

use std::fs;

use serde_json::Value;

use crate::confined::Site;

/// Programs that take too much of something or do not want to end.
const PROGRAMS: [(&str, &str); 5] = [
    (
        "src/children.py",
        "import os, time\n\
         for _ in range(6):\n    \
             if os.fork() == 0:\n        \
                 b = bytearray(900 << 20)\n        \
                 b[::4096] = b'x' * (len(b) // 4096)\n        \
                 time.sleep(2)\n        \
                 os._exit(0)\n\
         for _ in range(6):\n    \
             os.wait()\n",
    ),
    (
        "src/bomb.py",
        "import os, time\n\
         while True:\n    \
             try: os.fork()\n    \
             except OSError: time.sleep(0.01)\n",
    ),
    (
        "src/hop.py",
        "import os\n\
         if os.fork(): os._exit(0)\n\
         os.setsid()\n\
         while True:\n    \
             if os.fork(): os._exit(0)\n",
    ),
    (
        "src/daemon.py",
        "import os, time\n\
         if os.fork(): os._exit(0)\n\
         os.setsid()\n\
         if os.fork(): os._exit(0)\n\
         for fd in range(3): os.close(fd)\n\
         time.sleep(86394)\n",
    ),
    (
        "src/stop.py",
        "import os, signal, time\n\
         if os.fork() == 0: time.sleep(86393)\n\
         os.kill(-1, signal.SIGSTOP)\n\
         os.kill(os.getpid(), signal.SIGSTOP)\n",
    ),
];

/// What takes too much, the bound that holds it, and how the refusal is called.
const CASES: [(&str, &str, &str, &str); 10] = [
    (
        "children that are too much only together",
        "python3 src/children.py; true",
        "memory",
        "LIMIT_EXCEEDED",
    ),
    (
        "fork bomb",
        "python3 src/bomb.py & wait; true",
        "processes",
        "LIMIT_EXCEEDED",
    ),
    (
        "pid-hopping daemon",
        "python3 src/hop.py; true",
        "left_behind",
        "LIMIT_EXCEEDED",
    ),
    (
        "double-forked daemon",
        "python3 src/daemon.py; true",
        "left_behind",
        "LIMIT_EXCEEDED",
    ),
    (
        "background at the end of the line",
        "sleep 86392 &",
        "left_behind",
        "LIMIT_EXCEEDED",
    ),
    (
        "sparse file",
        "truncate -s 100T src/big; true",
        "file_size",
        "LIMIT_EXCEEDED",
    ),
    (
        "allocated file",
        "fallocate -l 3G src/big; true",
        "file_size",
        "LIMIT_EXCEEDED",
    ),
    (
        "output flood",
        "head -c 200M /dev/zero; true",
        "output",
        "LIMIT_EXCEEDED",
    ),
    (
        "stopped tree",
        "python3 src/stop.py; true",
        "wall",
        "TIMEOUT",
    ),
    (
        "stopped tree that is left behind",
        "sh -c 'kill -STOP $$' & true",
        "left_behind",
        "LIMIT_EXCEEDED",
    ),
];

/// Command lines of what runs anywhere from this site.
fn running(site: &Site) -> Vec<String> {
    let root = site.root();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        // A process of the sandbox that goes on still has its folder open.
        let cwd = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        if cwd.starts_with(&root) {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

/// S2, L6, T-002, T-004: each is held, the run is reported as failed although the shell says 0,
/// nothing of it is applied and nothing goes on.
#[test]
fn slow_whatever_is_too_much_is_held_and_reported() {
    let site = Site::new(&PROGRAMS);
    let before = site.tree();
    for (what, line, limit, code) in CASES {
        let line = format!("touch src/new; {line}");
        let time = if limit == "wall" { "3000" } else { "150000" };
        let options = ["--intent", "INT-001", "--timeout", time, "--json"];
        let ran = site.exec_with(&options, &line);
        let told: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{what}: {}", ran.shown()));
        println!(
            "{what}: exit {:?}, {}",
            ran.code, told["limit_hit"]["detail"]
        );
        assert_eq!(told["limit_hit"]["limit"], limit, "{what}: {told:#}");
        let bound: u64 = time.parse().unwrap();
        assert_eq!(told["limits"]["wall_ms"], bound, "{what}: {told:#}");
        assert_eq!(told["outcome"], "rolled_back", "{what}: {told:#}");
        assert_eq!(told["error"]["code"], code, "{what}: {told:#}");
        assert_ne!(ran.code, Some(0), "{what}: {told:#}");
        let states = site.states(told["execution"].as_str().unwrap());
        let last = states.last().map(String::as_str);
        assert_eq!(last, Some("ROLLED_BACK"), "{what}: {states:?}");
        assert_eq!(site.tree(), before, "{what}");
        assert_eq!(running(&site), Vec::<String>::new(), "{what}");
    }
}

/// L6: the reason names what was left behind and says what to do; a line that waits for it, and one
/// whose rest ends by itself, are fine.
#[test]
fn what_is_left_behind_is_named() {
    let site = Site::new(&[]);
    let ran = site.exec("echo x > src/x; sleep 86391 &");
    assert_eq!(ran.code, Some(125), "{}", ran.shown());
    let reason = "tagout: LIMIT_EXCEEDED: processes were left behind (sleep) and had to be ended\n";
    assert!(ran.stderr.contains(reason), "{}", ran.shown());
    assert!(ran.stderr.contains("long-running"), "{}", ran.shown());
    assert_eq!(site.read("src/x"), None);
    let ran = site.exec("(sleep 0.2; echo late > src/x) & wait");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let ran = site.exec("(setsid sh -c 'sleep 0.2; echo later > src/y' &)");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.read("src/x").as_deref(), Some("late\n"));
    assert_eq!(site.read("src/y").as_deref(), Some("later\n"));
}
