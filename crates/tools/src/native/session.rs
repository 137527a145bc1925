//! Talking to the engine and to people: intents, questions, modes, lists, tasks.

use serde_json::{Map, Value, json};
use tagout_gate::policy::intents;
use tagout_gate::policy::scope::Pattern;
use tagout_gate::{Context, Request, ToolError};
use tagout_vocab::IntentId;
use tagout_vocab::limits::{ID_BYTES_MAX, MESSAGE_BYTES_MAX, SCOPE_PATTERNS_MAX};

use super::input::{Input, invalid};

/// A text for people: there, and not longer than anyone reads.
fn message<'i>(input: Input<'i>, key: &str) -> Result<&'i str, ToolError> {
    let text = input.text(key)?;
    if text.trim().is_empty() {
        return Err(invalid(format!("`{key}` is empty")));
    }
    fits(key, text)?;
    Ok(text)
}

fn fits(key: &str, text: &str) -> Result<(), ToolError> {
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(invalid(format!(
            "`{key}` has more than {MESSAGE_BYTES_MAX} bytes; say it shorter"
        )));
    }
    Ok(())
}

fn messages(input: Input<'_>, key: &str, fields: &[&str]) -> Result<Vec<String>, ToolError> {
    let list = input.list(key, fields)?;
    fits(key, &list.join("\n"))?;
    Ok(list)
}

fn intent_id(text: &str) -> Result<IntentId, ToolError> {
    IntentId::new(text).map_err(|error| invalid(format!("`{text}` is no intent's id: {error}")))
}

pub(super) fn select_active_intent(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let asked = input.text("intent_id")?;
    let id = intent_id(asked)?;
    let known = &context.books().intents;
    let Some(intent) = known.get(&id) else {
        let hint = known
            .nearest_id(asked)
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(invalid(format!("there is no intent `{id}`{hint}")));
    };
    let past = context.history(&id);
    let text = intents::context(intent, &past.recent, &past.lessons);
    context.request(Request::Select(id.clone()));
    Ok(json!({"intent_id": id.as_str(), "context": text}))
}

pub(super) fn attempt_completion(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let result = message(input, "result")?;
    context.request(Request::Complete);
    Ok(json!({"completed": true, "result": result}))
}

pub(super) fn ask_followup_question(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let question = message(input, "question")?;
    let choices = messages(input, "follow_up", &["text"])?;
    if let Some(answer) = context.answer_to(question) {
        return Ok(json!({"status": "answered", "answer": answer}));
    }
    let id = context.request(Request::Question {
        question: question.to_owned(),
        choices,
    });
    Ok(json!({
        "status": "pending",
        "question_id": id,
        "note": "A person has to answer. Go on with what does not depend on it, and ask the same \
                 again later.",
    }))
}

pub(super) fn propose_intent(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let intent = input.text_opt("intent_id")?.map(intent_id).transpose()?;
    let name = input.text_opt("name")?.map(str::to_owned);
    if intent.is_none() && name.as_deref().is_none_or(|name| name.trim().is_empty()) {
        return Err(invalid(
            "give `intent_id` to widen an intent, or `name` for a new one",
        ));
    }
    fits("name", name.as_deref().unwrap_or_default())?;
    let id = context.request(Request::Propose {
        intent,
        name,
        owned_scope: scope(input)?,
        reason: message(input, "reason")?.to_owned(),
        constraints: messages(input, "constraints", &[])?,
        acceptance_criteria: messages(input, "acceptance_criteria", &[])?,
    });
    Ok(json!({
        "status": "pending",
        "proposal_id": id,
        "note": "A person has to answer. Nothing is wider until then.",
    }))
}

/// The paths of a proposal, which have to be patterns that a scope can hold.
fn scope(input: Input<'_>) -> Result<Vec<String>, ToolError> {
    let patterns = messages(input, "owned_scope", &[])?;
    if patterns.is_empty() || patterns.len() > SCOPE_PATTERNS_MAX {
        return Err(invalid(format!(
            "`owned_scope` has to name 1 to {SCOPE_PATTERNS_MAX} paths"
        )));
    }
    for pattern in &patterns {
        Pattern::parse_relative(pattern)
            .map_err(|error| invalid(format!("`{pattern}` can't be in a scope: {error}")))?;
    }
    Ok(patterns)
}

/// The name of a mode: a word, not a page.
fn mode<'i>(input: Input<'i>, key: &str) -> Result<&'i str, ToolError> {
    let mode = message(input, key)?;
    if mode.len() > ID_BYTES_MAX || mode.chars().any(char::is_control) {
        return Err(invalid(format!("`{key}` is no name of a mode")));
    }
    Ok(mode)
}

pub(super) fn switch_mode(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let mode = mode(input, "mode_slug")?;
    fits("reason", input.text_opt("reason")?.unwrap_or_default())?;
    context.request(Request::SwitchMode(mode.to_owned()));
    Ok(json!({"mode": mode}))
}

pub(super) fn update_todo_list(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let list = match input.raw("todos") {
        None => return Err(invalid("`todos` is missing")),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => items
            .iter()
            .map(item)
            .collect::<Result<Vec<_>, _>>()?
            .join("\n"),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            return Err(invalid("`todos` has to be a text or a list"));
        }
    };
    fits("todos", &list)?;
    let items = list.lines().filter(|line| !line.trim().is_empty()).count();
    context.request(Request::Todo(list.clone()));
    Ok(json!({"items": items, "list": list}))
}

/// One thing to do, as a line with a box.
fn item(value: &Value) -> Result<String, ToolError> {
    let wrong = || invalid("each of `todos` has to be a text or an object with `content`");
    let text = match value {
        Value::String(text) => return Ok(text.replace(['\r', '\n'], " ")),
        Value::Object(fields) => said(fields, &["content", "description", "title"]),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    let text = text.ok_or_else(wrong)?.replace(['\r', '\n'], " ");
    let status = value.get("status").and_then(Value::as_str);
    let mark = match status.unwrap_or_default() {
        "completed" | "done" => "[x]",
        "in_progress" | "in-progress" => "[-]",
        _ => "[ ]",
    };
    Ok(format!("{mark} {text}"))
}

fn said<'f>(fields: &'f Map<String, Value>, keys: &[&str]) -> Option<&'f str> {
    keys.iter().find_map(|key| fields.get(*key)?.as_str())
}

pub(super) fn new_task(
    input: Input<'_>,
    context: &mut Context<'_, '_>,
) -> Result<Value, ToolError> {
    let mode = mode(input, "mode")?;
    let mut task = message(input, "message")?.to_owned();
    let todos = messages(input, "todos", &[])?;
    for todo in &todos {
        task.push('\n');
        task.push_str(todo);
    }
    fits("message", &task)?;
    let id = context.request(Request::Child {
        mode: mode.to_owned(),
        message: task,
    });
    Ok(json!({"session_id": id, "mode": mode}))
}
