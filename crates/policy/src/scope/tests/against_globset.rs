//! The matcher compared with `globset`, pair by pair.

use globset::{GlobBuilder, GlobMatcher};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::super::{CaseRule, Pattern};
use super::path;

const PATTERNS: usize = 1_500;
const PATHS_PER_PATTERN: usize = 16;

/// One piece of a segment: its text, and texts that it may stand for.
type Piece = (&'static str, &'static [&'static str]);

const PIECES: &[Piece] = &[
    ("a", &["a"]),
    ("b", &["b"]),
    ("src", &["src"]),
    (".rs", &[".rs"]),
    ("é", &["é"]),
    (",", &[","]),
    ("*", &["", "a", "ab", "é", ".b"]),
    ("?", &["a", "b", "x"]),
    ("[ab]", &["a", "b", "c"]),
    ("[!b]", &["a", "c", "b"]),
    ("[a-c]", &["a", "b", "d"]),
    ("[^a-]", &["-", "b", "c"]),
    ("\\*", &["*", "a"]),
    ("{a,b}", &["a", "b", "c"]),
    ("{a*,b,c}", &["a", "ax", "c"]),
    ("{ab,a/b}", &["ab", "a/b"]),
    ("{,a}", &["", "a"]),
    ("{a,{b,src}}", &["a", "b", "src"]),
    ("**", &["", "a"]),
    ("{**/a,b}", &["a", "b", "a/b/a"]),
    ("{src/**,b}", &["src/a", "src/a/b", "b"]),
];

fn segment() -> impl Strategy<Value = (String, String)> {
    let piece = (select(PIECES), any::<prop::sample::Index>());
    let pieces = prop::collection::vec(piece, 1..3).prop_map(|pieces| {
        let mut pattern = String::new();
        let mut sample = String::new();
        for ((text, samples), index) in pieces {
            pattern.push_str(text);
            sample.push_str(samples[index.index(samples.len())]);
        }
        (pattern, sample)
    });
    let crossing =
        select(vec!["", "a", "a/b", "src"]).prop_map(|sample| ("**".to_owned(), sample.to_owned()));
    prop_oneof![3 => pieces, 1 => crossing]
}

/// A pattern with a path made from it, which often matches.
fn pattern() -> impl Strategy<Value = (String, Vec<String>)> {
    let paths = prop::collection::vec("[abc]{1,2}(/(a|b|src|é\\.rs|\\*)){0,3}", 0..3);
    (
        prop::collection::vec(segment(), 1..5),
        select(vec!["", "", "", "/", "./"]),
        select(vec!["", "", "", "/"]),
        select(vec!["", "", "/a", "/b/src"]),
        paths,
    )
        .prop_map(|(segments, lead, trail, below, mut paths)| {
            let (patterns, samples): (Vec<_>, Vec<_>) = segments.into_iter().unzip();
            let sample = samples.join("/");
            paths.push(format!("{sample}{below}"));
            paths.push(sample);
            (format!("{lead}{}{trail}", patterns.join("/")), paths)
        })
}

/// Braces written out, by a method of its own.
fn alternatives(pattern: &str) -> Vec<String> {
    let characters: Vec<char> = pattern.chars().collect();
    let Some(open) = (0..characters.len()).find(|i| characters[*i] == '{') else {
        return vec![pattern.to_owned()];
    };
    let mut depth = 0;
    let mut cuts = vec![open];
    for (index, character) in characters.iter().enumerate().skip(open) {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && *character == ',') {
            cuts.push(index);
        }
        if depth == 0 {
            break;
        }
    }
    let text = |from: usize, to: usize| characters[from..to].iter().collect::<String>();
    let (before, after) = (
        text(0, open),
        text(cuts[cuts.len() - 1] + 1, characters.len()),
    );
    cuts.windows(2)
        .flat_map(|cut| alternatives(&format!("{before}{}{after}", text(cut[0] + 1, cut[1]))))
        .collect()
}

fn glob(text: &str) -> GlobMatcher {
    // A negated class of globset takes a separator even when separators are literal.
    let text = text.replace("[!b]", "[!b/]").replace("[^a-]", "[^/a-]");
    GlobBuilder::new(&text)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .unwrap()
        .compile_matcher()
}

/// What globset says, once the forms that it reads otherwise are translated for it.
struct Reference {
    globs: Vec<GlobMatcher>,
    /// The whole pattern given to globset as it is, where nothing has to be translated.
    whole: Option<GlobMatcher>,
}

impl Reference {
    fn new(pattern: &str) -> Self {
        let body = pattern.trim_start_matches("./").trim_start_matches('/');
        let mut globs = Vec::new();
        for alternative in alternatives(body) {
            if alternative.starts_with('/') || alternative.is_empty() {
                continue;
            }
            let alternative = squeezed(&alternative);
            let trimmed = alternative.trim_end_matches('/');
            let is_plain = !trimmed.replace("\\*", "").contains(['*', '?', '[']);
            globs.push(glob(trimmed));
            if is_plain || trimmed != alternative {
                globs.push(glob(&format!("{trimmed}/**")));
            }
        }
        Self {
            globs,
            whole: needs_no_translation(body).then(|| glob(body)),
        }
    }

    fn matches(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.is_match(path))
    }
}

fn squeezed(text: &str) -> String {
    let mut text = text.to_owned();
    while text.contains("//") {
        text = text.replace("//", "/");
    }
    text
}

fn needs_no_translation(body: &str) -> bool {
    let outside: String = {
        let mut depth = 0;
        let keep = |c: &char| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0 && *c != '}'
        };
        body.chars().filter(keep).collect()
    };
    let has_wildcard = outside.replace("\\*", "").contains(['*', '?', '[']);
    let odd = ["{**", "/**,", "*{", "}*", "{,", "/{"];
    has_wildcard && !body.ends_with('/') && !odd.iter().any(|text| body.contains(text))
}

/// H7 Twenty thousand pairs and more, the same answer on each.
#[test]
fn the_same_answer_as_globset() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = pattern();
    let mut spare: Vec<String> = vec!["a".into(), "src/a".into(), "b/src".into()];
    let (mut pairs, mut matched, mut direct) = (0, 0, 0);
    for _ in 0..PATTERNS {
        let (text, mut paths) = strategy.new_tree(&mut runner).unwrap().current();
        spare.extend(paths.iter().cloned());
        let skip = spare.len().saturating_sub(PATHS_PER_PATTERN * 3);
        paths.extend(spare.iter().skip(skip).step_by(3).cloned());
        paths.truncate(PATHS_PER_PATTERN);
        let pattern = Pattern::parse(&text).unwrap();
        let reference = Reference::new(&text);
        for raw in &paths {
            let path = path(raw.trim_start_matches('/'));
            // The root is our own rule, and globset's bytes are no characters.
            if path.is_root() || (path.as_str().contains('é') && text.contains(['?', '['])) {
                continue;
            }
            let ours = pattern.grants(&path, CaseRule::Sensitive);
            assert_eq!(
                ours,
                reference.matches(path.as_str()),
                "`{text}` on `{path}`"
            );
            if let Some(whole) = &reference.whole {
                assert_eq!(
                    ours,
                    whole.is_match(path.as_str()),
                    "whole `{text}` on `{path}`"
                );
                direct += 1;
            }
            pairs += 1;
            matched += usize::from(ours);
        }
    }
    println!("{pairs} pairs, {matched} match, {direct} without translation");
    assert!(pairs >= 20_000, "{pairs} pairs");
    assert!(direct >= 5_000, "{direct} untranslated");
    assert!(
        matched * 100 >= pairs * 15,
        "only {matched} of {pairs} match"
    );
}

proptest! {
    #![proptest_config(super::cases(400))]

    /// Covering is never claimed wrongly.
    #[test]
    fn what_is_covered_is_owned((ours, _) in pattern(), (theirs, paths) in pattern()) {
        // A pattern at random seldom covers another, so one is put beneath the other's folder.
        let plain = ours.split('/')
            .find(|text| Pattern::parse(text).is_ok() && *text != ".")
            .unwrap_or("src");
        let related = format!("{plain}/{theirs}");
        let parsed = |text: &str| Pattern::parse(text).unwrap();
        for ours in [ours.as_str(), plain, &format!("{plain}/**")] {
            for theirs in [&theirs, &related] {
                if !parsed(ours).covers(&parsed(theirs)) {
                    continue;
                }
                let folder = plain.replace('\\', "");
                for raw in &paths {
                    for raw in [raw.clone(), format!("{folder}/{raw}"), folder.clone()] {
                        let path = path(raw.trim_start_matches('/'));
                        let inner = parsed(theirs).grants(&path, CaseRule::Sensitive);
                        let outer = parsed(ours).grants(&path, CaseRule::Sensitive);
                        prop_assert!(!inner || outer, "`{ours}` over `{theirs}` on `{path}`");
                    }
                }
            }
        }
    }

    /// Any text is a pattern or an error, and any pattern answers.
    #[test]
    fn no_text_panics(text in ".{0,40}", raw in "[a-zA-Zé/\\[\\]{}*,.!-]{0,20}") {
        let (Ok(pattern), Ok(path)) = (
            Pattern::parse(&text),
            tagout_vocab::WorkspacePath::new(&raw),
        ) else {
            return Ok(());
        };
        for case in [CaseRule::Sensitive, CaseRule::Insensitive] {
            prop_assert!(!pattern.grants(&path, case) || pattern.denies(&path, case));
        }
    }
}
