//! What a model is told about the intent it selected (H1).

use tagout_vocab::Intent;
use tagout_vocab::limits::{
    CONTEXT_SECTION_BYTES_MAX, CONTEXT_TRACE_COUNT_MAX, CONTEXT_VALUE_BYTES_MAX,
};

/// The answer to a selection: id, name, scope, constraints, acceptance criteria, the latest of the
/// intent's trace, and the lessons.
///
/// Every value is escaped, so that no text of an intent, a trace or a lesson can close a tag and
/// speak for Tagout. Lists that are too long are cut, and say by how much; of the trace and the
/// lessons the last ones are kept, because they are the newest.
pub fn context(intent: &Intent, recent_trace: &[String], lessons: &[String]) -> String {
    let mut text = String::from("<intent_context>\n");
    element(&mut text, "id", intent.id.as_str());
    element(&mut text, "name", &intent.name);
    element(&mut text, "status", intent.status.as_str());
    if let Some(description) = &intent.description {
        element(&mut text, "description", description);
    }
    section(
        &mut text,
        ["owned_scope", "path"],
        intent.owned_scope.iter(),
    );
    section(
        &mut text,
        ["constraints", "rule"],
        intent.constraints.iter(),
    );
    let criteria = intent.acceptance_criteria.iter();
    section(&mut text, ["acceptance_criteria", "criterion"], criteria);
    latest(
        &mut text,
        ["recent_trace", "entry"],
        recent_trace,
        CONTEXT_TRACE_COUNT_MAX,
    );
    latest(&mut text, ["lessons", "lesson"], lessons, usize::MAX);
    text.push_str("</intent_context>\n");
    text
}

fn element(text: &mut String, tag: &str, value: &str) {
    let value = escaped(value);
    text.extend(["  <", tag, ">", &value, "</", tag, ">\n"]);
}

/// A list from its start.
fn section<'a>(
    text: &mut String,
    tags: [&str; 2],
    items: impl ExactSizeIterator<Item = &'a String>,
) {
    let total = items.len();
    let kept = fitting(items);
    list(text, tags, &kept, total);
}

/// The end of a list, in its own order.
fn latest(text: &mut String, tags: [&str; 2], items: &[String], count_max: usize) {
    let mut kept = fitting(items.iter().rev().take(count_max));
    kept.reverse();
    list(text, tags, &kept, items.len());
}

fn list(text: &mut String, [tag, item_tag]: [&str; 2], kept: &[String], total: usize) {
    if total == 0 {
        text.extend(["  <", tag, "/>\n"]);
        return;
    }
    let omitted = total.saturating_sub(kept.len());
    let omitted = match omitted {
        0 => String::new(),
        count => format!(" omitted=\"{count}\""),
    };
    text.extend(["  <", tag, &omitted, ">\n"]);
    for item in kept {
        text.extend(["    <", item_tag, ">", item, "</", item_tag, ">\n"]);
    }
    text.extend(["  </", tag, ">\n"]);
}

/// The escaped values that fit into one section.
fn fitting<'a>(items: impl Iterator<Item = &'a String>) -> Vec<String> {
    // Tags, indentation and line break around each item.
    const AROUND_BYTES: usize = 40;
    let mut left = CONTEXT_SECTION_BYTES_MAX;
    let mut kept = Vec::new();
    for item in items {
        let item = escaped(item);
        match left.checked_sub(item.len() + AROUND_BYTES) {
            Some(rest) => left = rest,
            None => break,
        }
        kept.push(item);
    }
    kept
}

/// A value that can't be taken for a tag, cut where it is too long. Values stand between tags,
/// never in attributes, so quotes stay readable.
fn escaped(value: &str) -> String {
    let mut text = String::new();
    for character in value.trim().chars() {
        if text.len() >= CONTEXT_VALUE_BYTES_MAX {
            text.push('…');
            break;
        }
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '\n' | '\t' => text.push(character),
            hidden if hidden.is_control() => text.push('\u{fffd}'),
            shown => text.push(shown),
        }
    }
    text
}
