//! The shapes in which clients read answers.

use serde_json::{Map, Value, json};

use crate::profile::{Event, Form, Kind};

fn specific(event: &Event, fields: Value) -> Value {
    let mut inner = Map::new();
    inner.insert("hookEventName".to_owned(), Value::from(event.name));
    if let Value::Object(fields) = fields {
        inner.extend(fields);
    }
    json!({ "hookSpecificOutput": inner })
}

/// Nothing against the event.
pub(super) fn nothing(event: &Event) -> Option<Value> {
    match event.form {
        // With failures closed, an empty answer is a failure; before a tool this word only says
        // that there is no denial.
        Form::Permission => Some(json!({ "permission": "allow" })),
        Form::Continue => Some(json!({ "continue": true })),
        Form::Remark => Some(json!({})),
        Form::Bridge => Some(json!({ "decision": "none" })),
        Form::Specific
        | Form::Flat
        | Form::Decision
        | Form::Block
        | Form::Behavior
        | Form::FlatBehavior
        | Form::Cancel
        | Form::Exit
        | Form::ExitAndPrint
        | Form::Silent => None,
    }
}

/// A yes that the client's own rules do not narrow any more.
pub(super) fn allow(event: &Event, reason: &str) -> Option<Value> {
    let decided = json!({ "permissionDecision": "allow", "permissionDecisionReason": reason });
    match event.form {
        Form::Specific => Some(specific(event, decided)),
        Form::Flat if event.kind == Kind::Pre => Some(decided),
        Form::Behavior => Some(specific(
            event,
            json!({ "decision": { "behavior": "allow" } }),
        )),
        Form::FlatBehavior => Some(json!({ "behavior": "allow" })),
        Form::Flat
        | Form::Decision
        | Form::Block
        | Form::Cancel
        | Form::Permission
        | Form::Continue
        | Form::Remark
        | Form::Exit
        | Form::ExitAndPrint
        | Form::Bridge
        | Form::Silent => nothing(event),
    }
}

/// Other arguments.
pub(super) fn rewrite(
    event: &Event,
    arguments: &Map<String, Value>,
    needs_allow: bool,
) -> Option<Value> {
    let with = |fields: Value, key: &str, word: &str| match (fields, needs_allow) {
        (Value::Object(mut fields), true) => {
            fields.insert(key.to_owned(), Value::from(word));
            Value::Object(fields)
        }
        (fields, _) => fields,
    };
    match event.form {
        Form::Specific => {
            let fields = json!({ "updatedInput": arguments });
            Some(specific(event, with(fields, "permissionDecision", "allow")))
        }
        Form::Flat => Some(json!({ "modifiedArgs": arguments })),
        Form::Decision => Some(specific(event, json!({ "tool_input": arguments }))),
        Form::Behavior => {
            let decision = json!({ "behavior": "allow", "updatedInput": arguments });
            Some(specific(event, json!({ "decision": decision })))
        }
        Form::Cancel => Some(json!({ "cancel": false, "overrideInput": arguments })),
        Form::Permission => Some(json!({ "permission": "allow", "updated_input": arguments })),
        Form::Bridge => Some(json!({ "decision": "rewrite", "arguments": arguments })),
        Form::Block
        | Form::FlatBehavior
        | Form::Continue
        | Form::Remark
        | Form::Exit
        | Form::ExitAndPrint
        | Form::Silent => nothing(event),
    }
}

/// A question to the person.
pub(super) fn ask(event: &Event, text: &str) -> Option<Value> {
    let decided = json!({ "permissionDecision": "ask", "permissionDecisionReason": text });
    match event.form {
        Form::Specific => Some(specific(event, decided)),
        Form::Flat => Some(decided),
        Form::Permission => {
            Some(json!({ "permission": "ask", "user_message": text, "agent_message": text }))
        }
        Form::Decision
        | Form::Block
        | Form::Behavior
        | Form::FlatBehavior
        | Form::Cancel
        | Form::Continue
        | Form::Remark
        | Form::Exit
        | Form::ExitAndPrint
        | Form::Bridge
        | Form::Silent => deny(event, text),
    }
}

/// A denial.
pub(super) fn deny(event: &Event, text: &str) -> Option<Value> {
    let decided = || json!({ "permissionDecision": "deny", "permissionDecisionReason": text });
    match event.form {
        Form::Specific => Some(specific(event, decided())),
        Form::Flat if event.kind == Kind::Pre => Some(decided()),
        Form::Flat | Form::Block => Some(json!({ "decision": "block", "reason": text })),
        Form::Decision | Form::Bridge => Some(json!({ "decision": "deny", "reason": text })),
        Form::Behavior => {
            let decision = json!({ "behavior": "deny", "message": text });
            Some(specific(event, json!({ "decision": decision })))
        }
        Form::FlatBehavior => Some(json!({ "behavior": "deny", "message": text })),
        Form::Cancel => Some(json!({ "cancel": true, "errorMessage": text })),
        Form::Permission => {
            Some(json!({ "permission": "deny", "user_message": text, "agent_message": text }))
        }
        Form::Continue => Some(json!({ "continue": false, "user_message": text })),
        Form::Remark => nothing(event),
        Form::Exit | Form::ExitAndPrint | Form::Silent => None,
    }
}

/// A denial that says the same in the words of all forms.
pub(super) fn deny_in_every_form(text: &str) -> Value {
    json!({
        "decision": "block",
        "reason": text,
        "permissionDecision": "deny",
        "permissionDecisionReason": text,
        "permission": "deny",
        "user_message": text,
        "agent_message": text,
        "cancel": true,
        "errorMessage": text,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": text,
        },
    })
}

/// Text for the model.
pub(super) fn context(event: &Event, text: &str) -> Option<Value> {
    match event.form {
        Form::Specific | Form::Decision | Form::Block => {
            Some(specific(event, json!({ "additionalContext": text })))
        }
        Form::Flat => Some(json!({ "additionalContext": text })),
        Form::Cancel => Some(json!({ "cancel": false, "contextModification": text })),
        Form::Permission => Some(json!({ "permission": "allow", "additional_context": text })),
        Form::Continue => Some(json!({ "continue": true, "additional_context": text })),
        Form::Remark => Some(json!({ "additional_context": text })),
        Form::ExitAndPrint => Some(Value::from(text)),
        Form::Bridge => Some(json!({ "decision": "none", "context": text })),
        Form::Behavior | Form::FlatBehavior | Form::Exit | Form::Silent => nothing(event),
    }
}

/// An answer with text for the model in it as well: each form has a key of its own for it, beside
/// those of a rewrite.
pub(super) fn beside(event: &Event, answer: Value, text: &str) -> Value {
    let Some(Value::Object(told)) = context(event, text) else {
        return answer;
    };
    let Value::Object(mut whole) = answer else {
        return answer;
    };
    for (key, value) in told {
        match (whole.get_mut(&key), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => inner.extend(more),
            // What both say, the rewrite says.
            (Some(_), _) => {}
            (None, value) => drop(whole.insert(key, value)),
        }
    }
    Value::Object(whole)
}
