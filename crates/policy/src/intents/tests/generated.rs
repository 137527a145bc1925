//! Edits of generated files: every dialect, comments everywhere, both line endings.

use proptest::prelude::*;
use tagout_vocab::IntentStatus;

use super::super::{append, read, set_scope, set_status};
use super::{any_pattern, any_status, id, intent};

const FILE: &str = "f.yaml";
const WORDS: &[&str] = &[
    "PENDING",
    "done",
    "'ACTIVE'",
    "\"blocked\"",
    "~",
    "",
    "DRAFT",
];
const PATTERNS: &[&str] = &[
    "src/**",
    "\"docs/*.md\"",
    "'a b/**'",
    "lib/",
    "x.rs",
    "\"!src/gen/**\"",
];
const EXTRAS: &[&str] = &[
    "created_at: 2026-01-01T00:00:00Z",
    "description: \"it's # no comment\"",
    "budget: {max_turns: 3}",
    "spec_hash: abc#def",
    "constraints: [one, \"two: 2\"]",
];

/// How one entry is written.
#[derive(Clone, Debug)]
struct Entry {
    flow: bool,
    status: Option<&'static str>,
    scope: Option<Vec<&'static str>>,
    scope_style: usize,
    extra: Option<&'static str>,
    status_first: bool,
}

/// How a file is written.
#[derive(Clone, Debug)]
struct Written {
    root: usize,
    margin: usize,
    ending: &'static str,
    final_ending: bool,
    comments: bool,
    after: bool,
    entries: Vec<Entry>,
}

prop_compose! {
    fn any_entry()(
        flow in prop::bool::weighted(0.2),
        status in prop::option::of(prop::sample::select(WORDS)),
        scope in prop::option::of(prop::collection::vec(prop::sample::select(PATTERNS), 0..4)),
        scope_style in 0..4_usize,
        extra in prop::option::of(prop::sample::select(EXTRAS)),
        status_first in any::<bool>(),
    ) -> Entry {
        Entry { flow, status, scope, scope_style, extra, status_first }
    }
}

prop_compose! {
    fn any_written()(
        root in 0..4_usize,
        margin in prop::sample::select(&[0_usize, 2, 4][..]),
        ending in prop::sample::select(&["\n", "\r\n"][..]),
        final_ending in any::<bool>(),
        comments in any::<bool>(),
        after in any::<bool>(),
        entries in prop::collection::vec(any_entry(), 1..4),
    ) -> Written {
        Written { root, margin, ending, final_ending, comments, after, entries }
    }
}

/// A text, and the comments that no edit of a scope may lose.
struct Rendered {
    text: String,
    kept: Vec<String>,
}

struct Pen {
    lines: Vec<String>,
    kept: Vec<String>,
    comments: bool,
}

impl Pen {
    fn line(&mut self, line: String, kept: bool) {
        if !self.comments {
            self.lines.push(line);
            return;
        }
        let comment = format!("# c{}", self.lines.len());
        self.lines.push(format!("{line} {comment}"));
        if kept {
            self.kept.push(comment);
        }
    }

    fn remark(&mut self, margin: &str) {
        if self.comments {
            let comment = format!("# r{}.", self.lines.len());
            self.lines.push(format!("{margin}{comment}"));
            self.kept.push(comment);
        }
    }
}

impl Written {
    fn render(&self) -> Rendered {
        let mut pen = Pen {
            lines: Vec::new(),
            kept: Vec::new(),
            comments: self.comments,
        };
        pen.remark("");
        match self.root {
            0 => pen.line("active_intents:".to_owned(), true),
            1 => pen.line("intents:".to_owned(), true),
            2 => {
                pen.line("version: 1".to_owned(), true);
                pen.line("active_intents:".to_owned(), true);
            }
            _ => {}
        }
        let margin = " ".repeat(if self.root == 3 { 0 } else { self.margin });
        for (index, entry) in self.entries.iter().enumerate() {
            pen.remark(&margin);
            entry.render(index, &margin, &mut pen);
        }
        if self.after && self.root == 1 {
            pen.remark("");
            pen.line("active_intent_id: INT-0".to_owned(), true);
        }
        let mut text = pen.lines.join(self.ending);
        if self.final_ending {
            text.push_str(self.ending);
        }
        Rendered {
            text,
            kept: pen.kept,
        }
    }
}

impl Entry {
    fn render(&self, index: usize, margin: &str, pen: &mut Pen) {
        if self.flow {
            let mut fields = vec![format!("id: INT-{index}"), "name: n".to_owned()];
            fields.extend(self.status.map(|word| format!("status: {word}")));
            let list = |scope: &Vec<&str>| format!("owned_scope: [{}]", scope.join(", "));
            fields.extend(self.scope.as_ref().map(list));
            pen.line(format!("{margin}- {{{}}}", fields.join(", ")), true);
            return;
        }
        pen.line(format!("{margin}- id: INT-{index}"), true);
        pen.line(format!("{margin}  name: n"), true);
        let status = self.status.map(|word| format!("{margin}  status: {word}"));
        if self.status_first
            && let Some(status) = &status
        {
            pen.line(status.clone(), true);
        }
        if let Some(extra) = self.extra {
            pen.line(format!("{margin}  {extra}"), true);
            pen.remark(&format!("{margin}  "));
        }
        if let Some(scope) = &self.scope {
            self.render_scope(scope, margin, pen);
        }
        if !self.status_first
            && let Some(status) = status
        {
            pen.line(status, true);
        }
    }

    fn render_scope(&self, scope: &[&str], margin: &str, pen: &mut Pen) {
        let (key, inner) = match self.scope_style {
            0 => ("owned_scope:", "    "),
            1 => ("ownedScope:", "  "),
            2 => {
                pen.line(format!("{margin}  scope:"), true);
                ("  paths:", "      ")
            }
            _ => {
                pen.line(
                    format!("{margin}  owned_scope: [{}]", scope.join(", ")),
                    true,
                );
                return;
            }
        };
        if scope.is_empty() {
            pen.line(format!("{margin}  {key} []"), true);
            return;
        }
        pen.line(format!("{margin}  {key}"), true);
        for pattern in scope {
            pen.remark(&format!("{margin}{inner}"));
            pen.line(format!("{margin}{inner}- {pattern}"), false);
        }
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

/// Asserts that each comment of the list is still there, and that no line ends in another way.
fn all_there(comments: &[String], before: &str, text: &str) {
    let ends = text.matches('\n').count();
    let carriage_ends = text.matches("\r\n").count();
    let carriage = before.contains('\r');
    assert_eq!(carriage_ends, if carriage { ends } else { 0 }, "{text:?}");
    for comment in comments {
        let found = text.contains(&format!("{comment}\n"))
            || text.contains(&format!("{comment}\r"))
            || text.ends_with(comment);
        assert!(found, "{comment} is lost in\n{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// H16: a status changes in one line, or takes one line of its own.
    #[test]
    fn a_status_touches_one_line(
        written in any_written(), which in any::<prop::sample::Index>(), status in any_status()
    ) {
        let Rendered { text, kept } = written.render();
        let index = which.index(written.entries.len());
        let edited = set_status(FILE, &text, &id(&format!("INT-{index}")), status);
        prop_assert!(edited.is_ok(), "{edited:?}\n{text}");
        let edited = edited.unwrap();
        all_there(&kept, &text, &edited);
        let (before, after) = (lines(&text), lines(&edited));
        let entry = &written.entries[index];
        let inserted = usize::from(entry.status.is_none() && !entry.flow);
        prop_assert_eq!(after.len(), before.len() + inserted);
        let same = before.iter().zip(&after).take_while(|(b, a)| b == a).count();
        let rest = before.len() - same;
        // At an open end the line before gets an ending; with none it is the line itself.
        let same_end = before.iter().rev().zip(after.iter().rev()).take(rest);
        let differ = same_end.filter(|(b, a)| b != a).count();
        prop_assert!(differ <= 1, "{differ} lines differ\n{text}\n->\n{edited}");
        let file = read(FILE, &edited).unwrap();
        prop_assert_eq!(file.intents[index].status, status);
    }

    /// H16, H18: a scope changes and nothing else does.
    #[test]
    fn a_scope_loses_no_comment_of_others(
        written in any_written(),
        which in any::<prop::sample::Index>(),
        patterns in prop::collection::vec(any_pattern(), 0..4),
        some_stay in any::<bool>(),
    ) {
        let Rendered { text, kept } = written.render();
        let index = which.index(written.entries.len());
        let before = read(FILE, &text).unwrap();
        let mut wanted = patterns;
        if some_stay {
            let mut old = before.intents[index].owned_scope.clone();
            old.truncate(2);
            wanted.splice(0..0, old);
        }
        let edited = set_scope(FILE, &text, &before.intents[index].id, &wanted);
        prop_assert!(edited.is_ok(), "{edited:?}\n{text}");
        let edited = edited.unwrap();
        all_there(&kept, &text, &edited);
        let after = read(FILE, &edited).unwrap();
        prop_assert_eq!(&after.intents[index].owned_scope, &wanted);
        for (n, (before, after)) in before.intents.iter().zip(&after.intents).enumerate() {
            prop_assert!(n == index || before == after);
        }
        let block = !written.entries[index].flow && written.entries[index].scope_style < 3;
        if block && !wanted.is_empty() && wanted == before.intents[index].owned_scope {
            prop_assert_eq!(edited, text);
        }
    }

    /// H16: a new intent leaves every byte that was there in its order.
    #[test]
    fn an_append_only_adds(
        written in any_written(), scope in prop::collection::vec(any_pattern(), 0..3)
    ) {
        let Rendered { text, kept } = written.render();
        let mut new = intent("INT-NEW", &[]);
        new.owned_scope = scope;
        new.status = IntentStatus::Draft;
        let edited = append(FILE, &text, &new);
        prop_assert!(edited.is_ok(), "{edited:?}\n{text}");
        let edited = edited.unwrap();
        all_there(&kept, &text, &edited);
        let same = text.bytes().zip(edited.bytes()).take_while(|(b, a)| b == a).count();
        let rest = &text[same..];
        prop_assert!(edited.ends_with(rest), "not an insertion\n{text}\n->\n{edited}");
        let after = read(FILE, &edited).unwrap();
        prop_assert_eq!(after.intents.last(), Some(&new));
    }

    /// An edit of arbitrary text is made right or refused; it never panics.
    #[test]
    fn arbitrary_text_is_edited_or_refused(text in any::<String>()) {
        // No generated text declares this intent, so only the append can succeed.
        prop_assert!(set_status(FILE, &text, &id("A"), IntentStatus::Completed).is_err());
        if let Ok(edited) = append(FILE, &text, &intent("A", &["x"])) {
            prop_assert!(read(FILE, &edited).is_ok(), "{edited}");
        }
    }
}
