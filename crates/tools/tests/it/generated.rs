//! Arguments that nobody would write: a structured error or success, and never a change outside.

use serde_json::{Map, Number, Value, json};
use tagout_gate::{compile, violations};

use crate::support::{Place, picture, tools};

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) >> 1).unwrap() % sides
    }

    fn pick<'t>(&mut self, words: &[&'t str]) -> &'t str {
        words[self.roll(words.len())]
    }
}

const PATHS: &[&str] = &[
    "a.txt",
    "src/lib.rs",
    "src",
    ".",
    "",
    "new/deep/file",
    "bin",
    "utf16",
    "latin",
    "crlf",
    "link",
    "out",
    "out/secret",
    "../outside/secret",
    "/etc/passwd",
    "a.txt/b",
    "a\u{0}b",
    "src/../a.txt",
    "..",
    "~",
    "dangling",
    "loop",
    "C:\\x",
    "a.txt ",
    "\u{202e}x",
    "src//lib.rs",
    "./a.txt",
    "empty",
];

const TEXTS: &[&str] = &[
    "one",
    "two\n",
    "fn",
    "",
    "\n",
    "\r\n",
    "x\r\ny",
    "ä",
    "😀",
    "(",
    "[a-z]+",
    "(a*)*$",
    ".",
    "^",
    "\\",
    "*.rs",
    "{a,b",
    "!x",
    "slice",
    "indentation",
    "INT-001",
    "INT-9",
    "code",
    "\u{0}",
    "caf\u{e9}",
    "<<<<<<< SEARCH\none\n=======\nuno\n>>>>>>> REPLACE",
    "<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE",
    "@@ -1 +1 @@\n-one\n+uno\n",
    "@@ -1,9 +1 @@\n-one\n",
    "@@ -0,0 +1 @@\n+x\n",
    "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+uno\n*** End Patch",
    "*** Begin Patch\n*** Add File: new\n+x\n*** Delete File: a.txt\n*** End Patch",
    "*** Begin Patch\n*** Update File: a.txt\n*** Move to: out/x\n*** End Patch",
    "*** Begin Patch\n*** Update File: link\n@@\n+x\n*** End Patch",
    "*** Begin Patch\n*** Delete File: src\n*** End Patch",
    "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+uno\n",
    "--- a/../outside/secret\n+++ b/../outside/secret\n@@ -1 +1 @@\n-secret\n+x\n",
    "diff --git a/a.txt b/bin\nrename from a.txt\nrename to bin\n",
    "diff --git a/out b/out\ndeleted file mode 120000\n--- a/out\n+++ /dev/null\n",
];

/// A value for an argument: most often of the type that its schema names, else anything.
fn value(dice: &mut Dice, key: &str, schema: &Value) -> Value {
    if dice.roll(5) == 0 {
        return anything(dice, 0);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[dice.roll(kinds.len())].as_str(),
        kind => kind.as_str(),
    };
    match kind {
        Some("string") if key.contains("path") => json!(dice.pick(PATHS)),
        Some("string") => json!(dice.pick(TEXTS)),
        Some("integer") => json!(dice.roll(4)),
        Some("boolean") => json!(dice.roll(2) == 0),
        Some("array") => {
            let count = dice.roll(4);
            (0..count)
                .map(|_| value(dice, key, &schema["items"]))
                .collect()
        }
        Some("object") => {
            let mut fields = Map::new();
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                if dice.roll(3) > 0 {
                    fields.insert(name.clone(), value(dice, name, field));
                }
            }
            Value::Object(fields)
        }
        _ => anything(dice, 0),
    }
}

fn anything(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(12) {
        0 => Value::Null,
        1 => Value::Bool(dice.roll(2) == 0),
        2 | 3 => {
            let numbers = [0, 1, 2, -1, 7, 1_000_000, i64::MAX, i64::MIN];
            Value::Number(Number::from(numbers[dice.roll(numbers.len())]))
        }
        4 => json!([1.5, 3.0, 1e300, -0.0][dice.roll(4)]),
        5 if depth < 3 => {
            let count = dice.roll(4);
            (0..count).map(|_| anything(dice, depth + 1)).collect()
        }
        6 if depth < 3 => {
            let keys = [
                "text",
                "mode",
                "content",
                "status",
                "anchor_line",
                "max_levels",
                "x",
            ];
            let mut fields = Map::new();
            for _ in 0..dice.roll(4) {
                fields.insert(dice.pick(&keys).to_owned(), anything(dice, depth + 1));
            }
            Value::Object(fields)
        }
        7 => Value::String(dice.pick(TEXTS).repeat(dice.roll(200))),
        8 => Value::String("x".repeat(5_000)),
        9 => Value::String(dice.pick(PATHS).to_owned()),
        _ => Value::String(dice.pick(TEXTS).to_owned()),
    }
}

fn arguments(dice: &mut Dice, schema: &Value) -> Map<String, Value> {
    let mut input = Map::new();
    for (key, property) in schema["properties"].as_object().unwrap() {
        if dice.roll(8) > 0 {
            input.insert(key.clone(), value(dice, key, property));
        }
    }
    if dice.roll(20) == 0 {
        input.insert("unheard_of".to_owned(), anything(dice, 0));
    }
    input
}

/// A workspace with something for everyone, beside a folder that is nobody's business.
fn place() -> Place {
    let place = Place::new(&[
        ("a.txt", b"one\ntwo\none more\n"),
        ("src/lib.rs", b"fn one() {}\n"),
        ("bin", b"\0\x01"),
        ("utf16", b"\xFF\xFEo\0n\0e\0"),
        ("latin", b"caf\xE9\none\n"),
        ("crlf", b"one\r\ntwo\nend"),
        ("empty", b""),
    ]);
    let outside = place.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "secret\n").unwrap();
    for (target, name) in [("a.txt", "link"), ("nowhere", "dangling"), ("loop", "loop")] {
        std::os::unix::fs::symlink(target, place.root().join(name)).unwrap();
    }
    std::os::unix::fs::symlink(&outside, place.root().join("out")).unwrap();
    place
}

/// What must not change: the tree, and what lies beside it.
fn untouched(place: &Place) -> [std::collections::BTreeMap<String, Vec<u8>>; 2] {
    [
        picture(place.root()),
        picture(&place.folder.path().join("outside")),
    ]
}

#[expect(clippy::print_stdout, reason = "the figures are what the test shows")]
fn run(count: usize, seed: u64) {
    let place = place();
    let before = untouched(&place);
    let (mut ran, mut done) = (0_usize, 0_usize);
    for (name, tool) in tools() {
        let mut dice = Dice(seed);
        let declaration = tool.declaration();
        let output_schema = compile(&declaration.output_schema).unwrap();
        let mut succeeded = 0;
        for index in 0..count {
            let input = arguments(&mut dice, &declaration.input_schema);
            // The transaction is dropped: whatever is on the disk afterwards went around it.
            let played = place.stage.run(tool.as_ref(), &input).unwrap();
            match &played.output {
                Ok(output) => {
                    succeeded += 1;
                    let wrong = violations(&output_schema, output);
                    assert!(wrong.is_empty(), "{name} {input:?}: {wrong:?}");
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(!text.is_empty() && text.len() < 200_000, "{name} {input:?}");
                }
            }
            drop(played);
            if index % 500 == 499 {
                assert_eq!(untouched(&place), before, "{name}");
            }
        }
        assert_eq!(untouched(&place), before, "{name}");
        (ran, done) = (ran + count, done + succeeded);
        // No server, no stored output and no sandbox in a rehearsal.
        let never = [
            "access_mcp_resource",
            "execute_command",
            "read_command_output",
        ];
        let never = never.contains(&name.as_str());
        assert!(
            never || succeeded > 0,
            "{name} never succeeded in {count} calls"
        );
    }
    println!("{count} calls of each tool: {ran} in all, {done} succeeded, 0 panics, 0 changes");
}

/// L5, L14, T-001: generated arguments end in a structured error or in success.
#[test]
fn threat_t001_a_thousand_generated_arguments_per_tool() {
    run(1_000, 1);
}

/// L5, L14, T-001: the same ten thousand times for each tool.
#[test]
fn slow_threat_t001_ten_thousand_generated_arguments_per_tool() {
    run(10_000, 2);
}
