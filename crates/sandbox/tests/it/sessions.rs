//! A session's network and its long-running commands.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::stage::{Stage, everyone};

fn confine(stage: &Stage, number: u32, words: &[&str]) -> Output {
    let scratch = stage.path(&format!("scratch/run{number}"));
    fs::create_dir_all(&scratch).unwrap();
    stage.give(&scratch);
    let lane = words.first().unwrap();
    let workspace = if *lane == "end" {
        stage.path("session")
    } else {
        stage.path("workspace")
    };
    stage
        .command(stage.path("bin/confine"))
        .arg(lane)
        .arg(workspace)
        .arg(scratch)
        .args(words.iter().skip(1))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Processes whose command line holds this word.
fn with_word(word: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").unwrap();
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let line = fs::read(path.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(word)
        })
        .collect()
}

/// L4 A server that is started in one call is reached by the next, from nowhere else, and ends with
/// its session.
#[test]
fn a_server_is_reached_by_the_next_call_and_ends_with_the_session() {
    const SERVER: &str = "import http.server as h\n\
        s = h.HTTPServer(('127.0.0.1', 8131), h.SimpleHTTPRequestHandler)\n\
        print('listening', flush=True)\n\
        s.serve_forever()\n";
    const CLIENT: &str = "import time, urllib.request as u\n\
        for i in range(200):\n\
        \x20   try: print(len(u.urlopen('http://127.0.0.1:8131/README.md').read())); break\n\
        \x20   except OSError: time.sleep(0.05)\n";
    for who in everyone() {
        let stage = Stage::new(who);
        fs::create_dir_all(stage.path("session")).unwrap();
        stage.give(&stage.path("session"));
        let net = format!("net={}", stage.path("session").display());
        let mark = format!("mark={}", stage.secret);
        let words = [
            "r", &net, "long=1", "--", "env", &mark, "python3", "-c", SERVER,
        ];
        let server = confine(&stage, 1, &words);
        assert!(server.status.success(), "{server:?}");
        let client = confine(&stage, 2, &["r", &net, "--", "python3", "-c", CLIENT]);
        assert_eq!(client.stdout, b"8192\n", "{client:?}");
        let elsewhere = confine(&stage, 3, &["r", "--", "python3", "-c", CLIENT]);
        assert_eq!(elsewhere.stdout, b"", "{elsewhere:?}");
        let host = Command::new("python3")
            .args(["-c", &CLIENT.replace("200", "2")])
            .output()
            .unwrap();
        assert_eq!(host.stdout, b"");
        let runs = tagout_sandbox::session_runs(&stage.path("session"));
        if rustix::process::geteuid().is_root() == (who == crate::stage::Who::Root) {
            assert_eq!(runs.unwrap().len(), 1);
        }
        let ended = confine(&stage, 4, &["end"]);
        assert!(ended.status.success(), "{ended:?}");
        assert_eq!(with_word(&stage.secret), Vec::<PathBuf>::new());
        let artifact = fs::read_to_string(stage.path("scratch/run1/output")).unwrap();
        assert!(artifact.starts_with("listening\n"), "{artifact}");
    }
}
