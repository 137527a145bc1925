//! From an answer to what a client reads, each in its own form.

mod forms;

use serde_json::{Map, Value};
use tagout_vocab::Refusal;
use tagout_vocab::limits::HOOK_TEXT_BYTES_MAX;

use crate::client::Client;
use crate::profile::{Ask, Deny, Event, Kind, Rewrite};

/// What Tagout has to say about an event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// Nothing against it: the client's own rules and prompts go on.
    NoDecision,
    /// It may happen without the client's own rules, because the user's layer says so.
    Allow {
        /// Why.
        reason: String,
    },
    /// It may happen with these arguments.
    AllowRewritten {
        /// All of them.
        arguments: Map<String, Value>,
        /// Text for the model besides, where the client takes both.
        context: Option<String>,
    },
    /// A person has to agree first.
    Ask {
        /// To what, and why.
        reason: String,
        /// What to do where the client can't ask.
        remedy: String,
    },
    /// It may not happen.
    Deny {
        /// Why.
        reason: String,
        /// What to do instead.
        remedy: String,
    },
    /// Text for the model, and nothing against the event.
    Context {
        /// The text.
        text: String,
    },
}

impl Answer {
    /// Other arguments, and nothing to say about them.
    pub const fn rewritten(arguments: Map<String, Value>) -> Self {
        Self::AllowRewritten {
            arguments,
            context: None,
        }
    }

    /// A denial in the structured form that an agent can recover from.
    pub fn denied(refusal: &Refusal) -> Self {
        Self::Deny {
            reason: refusal.to_json().to_string(),
            remedy: String::new(),
        }
    }

    /// A question in the same form.
    pub fn asked(refusal: &Refusal) -> Self {
        Self::Ask {
            reason: refusal.to_json().to_string(),
            remedy: String::new(),
        }
    }
}

/// What the hook says and how it ends.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    /// One JSON object and a line's end, for one write; nothing where nothing is to be read. What
    /// can't be written whole has to end with [`Reply::EXIT_IF_UNWRITTEN`].
    pub stdout: Option<Vec<u8>>,
    /// Text for standard error.
    pub stderr: String,
    /// The exit code. It is never 1, which most clients take for consent.
    pub exit_code: u8,
}

impl Reply {
    /// The code to end with when standard output could not be written: most clients take half an
    /// answer for consent.
    pub const EXIT_IF_UNWRITTEN: u8 = 2;

    const NOTHING: Self = Self {
        stdout: None,
        stderr: String::new(),
        exit_code: 0,
    };
}

/// What the client reads for an answer.
///
/// What a client does not honour becomes a denial and never a silent yes: a question where a
/// question means «run it», other arguments where they are dropped.
pub fn reply(client: Client, event: &Event, answer: &Answer) -> Reply {
    match answer {
        Answer::NoDecision => said(forms::nothing(event)),
        Answer::Allow { reason } => said(forms::allow(event, &bounded(reason))),
        Answer::AllowRewritten { arguments, context } => {
            rewritten(client, event, (arguments, context.as_deref()))
        }
        Answer::Ask { reason, remedy } => match event.powers.ask {
            Ask::Asks => said(forms::ask(event, &message(reason, remedy))),
            Ask::Runs => denied(client, event, &message(reason, &agree_first(remedy))),
        },
        Answer::Deny { reason, remedy } => denied(client, event, &message(reason, remedy)),
        Answer::Context { text } => said(if event.powers.context {
            forms::context(event, &bounded(text))
        } else {
            forms::nothing(event)
        }),
    }
}

/// The answer that this client takes for «no» whatever else goes wrong: for panics, time-outs and
/// errors. On events where there is nothing to deny, it stops nothing.
pub fn strongest_denial(client: Client, event: &str, reason: &str) -> Reply {
    let denial = client.profile().denial;
    let text = message(reason, "");
    let known = client.event(event);
    if let Some(event) = known.filter(|event| event.powers.deny != Deny::Blocks) {
        return Reply {
            stderr: text,
            ..said(forms::nothing(event))
        };
    }
    // An event that nobody knows may be one before a tool, so it is answered like one.
    let like = known.or_else(|| client.events().find(|event| event.kind == Kind::Pre));
    let stdout = like
        .filter(|_| denial.reads_stdout)
        .and_then(|event| forms::deny(event, &text));
    Reply {
        stdout: stdout.map(line),
        stderr: text,
        exit_code: denial.strongest_exit,
    }
}

/// The answer to whoever it is that asks: a denial in every form at once, with a reason and code 2,
/// of which every client reads at least one.
pub fn denial_for_anyone(reason: &str) -> Reply {
    let text = message(reason, "");
    Reply {
        stdout: Some(line(forms::deny_in_every_form(&text))),
        stderr: text,
        exit_code: Reply::EXIT_IF_UNWRITTEN,
    }
}

fn said(value: Option<Value>) -> Reply {
    Reply {
        stdout: value.map(line),
        ..Reply::NOTHING
    }
}

fn rewritten(
    client: Client,
    event: &Event,
    (arguments, context): (&Map<String, Value>, Option<&str>),
) -> Reply {
    let needs_allow = match event.powers.rewrite {
        Rewrite::Takes => false,
        Rewrite::NeedsAllow => true,
        Rewrite::Never => {
            let reason = "this client drops rewritten arguments, so the call can't be confined";
            let remedy = "run the command through `tagout exec -- …` instead";
            return denied(client, event, &message(reason, remedy));
        }
    };
    let answer = forms::rewrite(event, arguments, needs_allow);
    let context = context.filter(|_| event.powers.context);
    said(match (answer, context) {
        (Some(answer), Some(text)) => Some(forms::beside(event, answer, &bounded(text))),
        (answer, _) => answer,
    })
}

fn denied(client: Client, event: &Event, text: &str) -> Reply {
    let denial = client.profile().denial;
    let value = forms::deny(event, text);
    let exit_code = match event.powers.deny {
        Deny::Nothing => {
            return Reply {
                stderr: words(text),
                ..said(forms::nothing(event))
            };
        }
        // The code would be read as a failure of the hook; what counts is the text.
        Deny::Tells if denial.reads_stdout => return said(value),
        Deny::Tells | Deny::Blocks => denial.exit,
    };
    let stdout = value.filter(|_| denial.reads_stdout).map(line);
    Reply {
        stdout,
        stderr: words(text),
        exit_code,
    }
}

/// A reason for standard error. Some clients read what stands there as their own kind of answer if
/// it is an object, and one in which they find no decision is a yes.
fn words(text: &str) -> String {
    if text.trim_start().starts_with(['{', '[', '"']) {
        format!("tagout: {text}")
    } else {
        text.to_owned()
    }
}

/// How it goes on where the client can't ask. No command to approve with: the model reads this.
fn agree_first(remedy: &str) -> String {
    let way = "A person has to agree first, in a terminal of their own; then make the same call \
               again.";
    if remedy.is_empty() {
        way.to_owned()
    } else {
        format!("{remedy} {way}")
    }
}

fn message(reason: &str, remedy: &str) -> String {
    let whole = [reason, remedy].map(str::trim).join("\n");
    let text = bounded(whole.trim());
    // Some clients take a denial without words for consent.
    if text.is_empty() {
        "denied by tagout, without a reason".to_owned()
    } else {
        text
    }
}

/// The text without what would steer a terminal, and short enough for a pipe.
fn bounded(text: &str) -> String {
    let mut kept = String::with_capacity(text.len().min(HOOK_TEXT_BYTES_MAX));
    for letter in text
        .chars()
        .filter(|letter| !letter.is_control() || "\n\t".contains(*letter))
    {
        if kept.len() + letter.len_utf8() > HOOK_TEXT_BYTES_MAX {
            break;
        }
        kept.push(letter);
    }
    kept
}

fn line(value: Value) -> Vec<u8> {
    let mut bytes = match value {
        // The only answer that is not JSON: a client that adds what is printed to its context.
        Value::String(text) => text.into_bytes(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string().into_bytes()
        }
    };
    bytes.push(b'\n');
    bytes
}
