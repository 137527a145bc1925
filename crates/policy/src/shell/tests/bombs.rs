//! Lines that mean harm to their reader.

use tagout_vocab::Class;

use super::look;

/// Code and recipes that are long, deep, or made of nothing but marks.
fn bombs_of_code() -> Vec<String> {
    let numbered: Vec<String> = (0..2_000).map(|n| format!("system('a {n}');")).collect();
    let codes = [
        "'' ".repeat(9_000),
        "[".repeat(9_000) + &"'',".repeat(5_000),
        "system('a b');".repeat(2_000),
        "rmSync(home".repeat(2_500),
        "/".repeat(30_000),
        "/* ".repeat(9_000),
        "/'".repeat(9_000),
        "`${".repeat(9_000),
        "run run ' ".repeat(3_000),
        "system(`${eval(".repeat(1_500),
        "s(".repeat(9_000),
        "%x(".repeat(9_000),
        "\\u{".repeat(9_000),
        numbered.join(""),
    ];
    let recipes = "x:; make --eval '$(shell make a=b)'\n".repeat(700);
    let mut bombs = vec![
        "npx ".repeat(6_000) + "touch x",
        format!("make -f - <<'E'\n{recipes}E"),
    ];
    for code in codes {
        bombs.push(format!("node -e \"{code}\""));
        bombs.push(format!("groovy <<'E'\n{code}\nE"));
        bombs.push(format!("ruby <<'E'\n{code}\nE\nperl <<'E'\n{code}\nE"));
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
