//! What `explain` answers, for programs and for people.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tagout_vocab::{CheckResult, Class, Code, Judgement, Verdict};

use super::input::NotAQuestion;
use crate::report::painted;

/// The answer as one JSON object; the field names are fixed.
pub(super) fn to_json(id: Option<&Value>, judgement: &Judgement) -> Value {
    let (reason, remedy, rule, refusal) = match &judgement.verdict {
        Verdict::Allow(reason) => (reason.text.as_str(), "", reason.rule.as_str(), None),
        Verdict::Ask(refusal) | Verdict::Deny(refusal) => (
            refusal.reason.as_str(),
            refusal.remedy.as_str(),
            refusal.rule.as_str(),
            Some(refusal),
        ),
    };
    let mut answer = json!({
        "class": judgement.class.as_str(),
        "verdict": judgement.verdict.as_str(),
        "code": judgement.verdict.code().as_str(),
        "reason": reason,
        "remedy": remedy,
        "rule": rule,
        "tool": judgement.tool,
        "kind": judgement.kind.as_str(),
        "kind_class": judgement.kind.mutation_class(),
        "side_effect_level": judgement.level.as_str(),
        "effects": judgement.effects,
        "checks": judgement.checks,
    });
    if let (Some(refusal), Some(fields)) = (refusal, answer.as_object_mut()) {
        fields.insert("refusal".to_owned(), refusal.to_json());
    }
    with_id(answer, id)
}

/// A line that is not a question still gets an answer in its place, and the answer is no.
pub(super) fn refused(wrong: &NotAQuestion) -> Value {
    let answer = json!({
        "class": Class::Destructive.as_str(),
        "verdict": "deny",
        "code": Code::SchemaInvalid.as_str(),
        "reason": wrong.message,
        "remedy": "send one JSON object a line: `{\"tool\": …, \"arguments\": {…}}` or \
                   `{\"command\": …}`",
        "effects": [],
        "checks": [],
    });
    with_id(answer, wrong.id.as_ref())
}

fn with_id(mut answer: Value, id: Option<&Value>) -> Value {
    if let (Some(id), Some(fields)) = (id, answer.as_object_mut()) {
        fields.insert("id".to_owned(), id.clone());
    }
    answer
}

/// The answer as a person reads it: the verdict first, then every check in order.
pub(super) fn to_text(judgement: &Judgement) -> String {
    let mut text = String::new();
    // Writing into a `String` cannot fail.
    render(&mut text, judgement).unwrap_or_default();
    text
}

fn render(out: &mut String, judgement: &Judgement) -> std::fmt::Result {
    let (word, colour) = match &judgement.verdict {
        Verdict::Allow(_) => ("allow", "32"),
        Verdict::Ask(_) => ("ask", "33"),
        Verdict::Deny(_) => ("deny", "31"),
    };
    let word = painted(word, colour);
    writeln!(
        out,
        "{word}  {}  {}",
        judgement.verdict.code().as_str(),
        judgement.class.as_str()
    )?;
    match &judgement.verdict {
        Verdict::Allow(reason) => writeln!(out, "  {}", reason.text)?,
        Verdict::Ask(refusal) | Verdict::Deny(refusal) => {
            writeln!(out, "  {}", refusal.reason)?;
            writeln!(out, "  what to do: {}", refusal.remedy)?;
        }
    }
    if !judgement.effects.is_empty() {
        writeln!(out, "\neffects")?;
        for effect in &judgement.effects {
            writeln!(out, "  {}", effect.described())?;
        }
    }
    writeln!(out, "\nchecks")?;
    for check in &judgement.checks {
        let mark = match check.result {
            CheckResult::Pass => "ok",
            CheckResult::Refuse => "no",
            CheckResult::Ask => "ask",
            CheckResult::NotApplicable => "-",
            CheckResult::NotReached => "·",
        };
        writeln!(
            out,
            "  {mark:<4}{:<11} {}",
            check.gate.as_str(),
            check.detail
        )?;
    }
    Ok(())
}
