//! Every attempt to get out, in every lane, as root and as an ordinary user.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::stage::{Stage, Who, everyone};

/// What stops each attempt: see the head of the file.
const TABLE: &str = include_str!("../data/escapes.tsv");

/// How a lane is had.
struct Way {
    /// Its column in the table.
    column: &'static str,
    lane: &'static str,
    without: &'static [&'static str],
    accept: &'static [&'static str],
    /// Whether the command may write the workspace in place.
    in_place: bool,
    /// Whether its first process is made before the command is known.
    ahead: bool,
    reach: Reach,
}

/// What of the network the command may reach.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Reach {
    Nothing,
    /// The machine's: what is listened on there answers.
    Machine,
    /// The one that its session shares.
    Session,
}

/// What the machine's network is for; nothing else is open because of it.
const OF_THE_NETWORK: &[&str] = &[
    "name-lookup",
    "tcp",
    "tcp-6",
    "tcp-any-address",
    "tcp-fast-open",
    "tcp-mapped",
    "tcp-multipath",
    "tcp-own-addresses",
    "udp",
    "udp-6",
];

const READ_ONLY: Way = Way {
    column: "R",
    lane: "read_only",
    without: &[],
    accept: &[],
    in_place: false,
    ahead: false,
    reach: Reach::Nothing,
};
const TRANSACTION: Way = Way {
    column: "T",
    lane: "transaction",
    without: &[],
    accept: &[],
    in_place: false,
    ahead: false,
    reach: Reach::Nothing,
};
const SNAPSHOT: Way = Way {
    column: "S",
    lane: "snapshot",
    without: &[],
    accept: &[],
    in_place: true,
    ahead: false,
    reach: Reach::Nothing,
};
const BARE: Way = Way {
    column: "B",
    lane: "snapshot",
    without: &["user-namespaces"],
    accept: &["no_namespaces"],
    in_place: true,
    ahead: false,
    reach: Reach::Nothing,
};

/// S1 T-002 Nothing outside changes and nothing hidden is seen in the read-only lane.
#[test]
fn nothing_gets_out_of_the_read_only_lane() {
    attack(&READ_ONLY);
}

/// S1 T-002 The same for the transaction lane, whose workspace stays as it was.
#[test]
fn nothing_gets_out_of_the_transaction_lane() {
    attack(&TRANSACTION);
}

/// S1 T-002 The machine's network opens that network and nothing else: no socket of another kind,
/// none with a name instead of a path. The listener on the machine's own loopback answers.
#[test]
fn nothing_else_gets_out_with_the_machines_network() {
    for way in [READ_ONLY, TRANSACTION] {
        attack(&Way {
            reach: Reach::Machine,
            ..way
        });
    }
}

/// S1 L4 T-002 A session's network opens nothing of the machine.
#[test]
fn nothing_gets_out_of_a_sessions_network() {
    for way in [READ_ONLY, TRANSACTION] {
        attack(&Way {
            reach: Reach::Session,
            ..way
        });
    }
}

/// S1 T-002 The same for a first process that stood ready before the command was known.
#[test]
fn nothing_gets_out_of_what_was_built_ahead() {
    attack(&Way {
        ahead: true,
        ..READ_ONLY
    });
    attack(&Way {
        ahead: true,
        ..TRANSACTION
    });
}

/// S1 T-002 The same for the snapshot lane.
#[test]
fn nothing_gets_out_of_the_snapshot_lane() {
    attack(&SNAPSHOT);
}

/// S1 S2 The same for the snapshot lane of hosts without name spaces, where it was accepted.
#[test]
fn nothing_gets_out_of_the_snapshot_lane_without_name_spaces() {
    attack(&BARE);
}

/// The attempts mean something: without walls an ordinary user succeeds with very many of them. The
/// table says which ones on a usual machine.
#[test]
fn without_walls_the_attempts_succeed() {
    let mut stage = Stage::new(Who::Ordinary);
    stage.populate();
    let output = stage
        .command("sh")
        .arg("-c")
        .arg("exec 8>>\"$1\" 9<\"$2\"; exec \"$3\" setting.json")
        .arg("sh")
        .arg(stage.path("outside/inherited"))
        .arg(stage.path("outside"))
        .arg(stage.path("bin/escape"))
        .env("TAGOUT_ESCAPE_VARIABLE", "x")
        .env("SSH_AUTH_SOCK", "x")
        .output()
        .unwrap();
    let seen = lines(&String::from_utf8_lossy(&output.stdout));
    let open = seen.values().filter(|by| *by == "OPEN").count();
    println!("plain: {open} of {} attempts are open", seen.len());
    assert!(open >= 100, "{seen:#?}");
}

fn attack(way: &Way) {
    let mut seen = Vec::new();
    for who in everyone() {
        let mut stage = Stage::new(who);
        stage.populate();
        let mut guarded = vec!["outside", "home", "state", "bin"];
        if !way.in_place {
            guarded.push("workspace");
        }
        let escape = stage.path("bin/escape");
        let argv = [escape.to_str().unwrap(), "setting.json"];
        let mut order = stage.order(way.lane, &argv);
        order["accept"] = way.accept.into();
        if way.ahead {
            order["ahead_ms"] = 0.into();
        }
        let session = stage.path("session");
        match way.reach {
            Reach::Nothing => {}
            Reach::Machine => order["network"] = "any".into(),
            Reach::Session => {
                stage.make(&session);
                order["network"] = serde_json::json!({ "session": session });
            }
        }
        order["limits"]["file_bytes"] = (64 << 20).into();
        let before = stage.fingerprint(&guarded);
        let told = stage.run(way.without, &order);
        let ended = &told["ended"];
        assert!(ended.is_object(), "{who:?}: {told:#}");
        assert_eq!(ended["failed_by"], serde_json::Value::Null, "{told:#}");
        let after = stage.fingerprint(&guarded);
        assert_eq!(before, after, "{who:?}: something outside changed");
        if way.reach == Reach::Session {
            let end = stage
                .command(stage.path("bin/confine"))
                .arg("end")
                .arg(&session)
                .arg(stage.path("scratch"))
                .output()
                .unwrap();
            assert!(end.status.success(), "{end:?}");
        }
        let name = match who {
            Who::Root => "root",
            Who::Ordinary => "ordinary",
        };
        seen.push((name, lines(&stage.printed())));
    }
    if way.reach == Reach::Machine {
        for (who, seen) in &seen {
            assert_eq!(
                seen["tcp"], "OPEN",
                "{who}: the network is not the machine's"
            );
        }
    }
    compare(way, &seen);
}

type Seen = BTreeMap<String, String>;

/// Attempt and what came of it: `OPEN`, or what stopped it.
fn lines(printed: &str) -> Seen {
    let mut seen = Seen::new();
    for line in printed.lines() {
        let mut fields = line.split('\t');
        let (Some(name), Some(state)) = (fields.next(), fields.next()) else {
            continue;
        };
        let by = match state {
            "OPEN" => "OPEN",
            _ => fields.next().unwrap_or_default(),
        };
        seen.insert(name.to_owned(), by.to_owned());
    }
    seen
}

/// The column of the table: for each attempt what may come of it.
fn expected(column: &str) -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = rows.next().unwrap_or_default().split('\t').collect();
    let at = head.iter().position(|name| *name == column).unwrap();
    rows.map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        (cells[0], cells[at].split('|').collect())
    })
    .collect()
}

/// Fails on every attempt that is open and not said to be, and on any that was not tried or is
/// not in the table. A kernel may stop an attempt in another way than the table says; that is
/// only told.
fn compare(way: &Way, seen: &[(&str, Seen)]) {
    let column = way.column;
    let expected = expected(column);
    let opened = |name: &str| way.reach == Reach::Machine && OF_THE_NETWORK.contains(&name);
    let mut wrong = String::new();
    let mut open = 0;
    let mut count = 0;
    for (who, seen) in seen {
        for (name, by) in seen {
            count += 1;
            open += usize::from(by == "OPEN");
            match expected.get(name.as_str()) {
                Some(list) if list.contains(&by.as_str()) => {}
                Some(_) if opened(name) => {}
                Some(_) if by != "OPEN" => println!("{column}\t{who}\t{name}\tstopped by {by}"),
                Some(_) | None => writeln!(wrong, "{column}\t{who}\t{name}\t{by}").unwrap(),
            }
        }
        for name in expected.keys().filter(|name| !seen.contains_key(**name)) {
            writeln!(wrong, "{column}\t{who}\t{name}\tnot tried").unwrap();
        }
    }
    println!("{column}: {open} of {count} attempts are open");
    assert!(
        wrong.is_empty(),
        "not as the table says (lane, who, attempt, what came of it):\n{wrong}"
    );
}

/// An attempt that is open in a lane says in the table why that is harmless.
#[test]
fn what_is_open_has_a_note() {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut open = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [name, _, lanes @ .., note] = cells.as_slice() else {
            panic!("a row is too short: {row}");
        };
        let is_open = lanes
            .iter()
            .any(|cell| cell.split('|').any(|one| one == "OPEN"));
        assert_eq!(is_open, !note.is_empty(), "{name}");
        if is_open {
            open.push(*name);
        }
    }
    println!("open in some lane: {open:?}");
    assert!(
        open.len() <= 10,
        "the list of the harmless ones only shrinks"
    );
}
