//! `tagout hook`: what clients call. One answer in one write, and a denial whatever goes wrong.
//!
//! The denial that this client honours is made before anything else: a signal, a crash and a watch
//! that runs out say it without the rest of the program. Nothing here starts a thread.

mod above;
mod called;
mod free;
mod life;
mod own;
mod place;
mod post;
mod pre;
mod shell;
mod work;

use std::io::{self, Read as _};
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use tagout_agents::{AgentError, Client, Reply, denial_for_anyone, strongest_denial};
use tagout_sandbox::{LastWord, last_word, speak, take_the_floor};
use tagout_vocab::limits::{HOOK_PAYLOAD_BYTES_MAX, HOOK_UNKNOWN_EVENT_MS_MAX};

use crate::args::{HookArgs, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;

/// Answers one event of a client.
pub(crate) fn run(place: &PlaceArgs, args: &HookArgs) -> Exit {
    let Some(client) = Client::named(&args.client) else {
        let reason = format!("tagout: `{}` is no client that tagout knows", args.client);
        return say(&denial_for_anyone(&reason));
    };
    let denied = |why: &str| {
        let reason = format!("tagout: {why}, so the call is denied");
        strongest_denial(client, &args.event, &reason)
    };
    let event = client.event(&args.event);
    let wait = event.map_or(HOOK_UNKNOWN_EVENT_MS_MAX, |event| client.watchdog_ms(event));
    let word = denied("the hook was ended, broke down or took too long");
    if last_word(word_of(word), Duration::from_millis(wait)).is_err() {
        return say(&denied("signals can't be watched"));
    }
    // The reason goes to the client; a panic's own words would only be beside it.
    panic::set_hook(Box::new(|_| {}));
    let job = Job {
        client,
        args,
        place,
    };
    let answered = panic::catch_unwind(AssertUnwindSafe(|| job.answer()));
    say(&match answered {
        Ok(Ok(reply)) => reply,
        Ok(Err(failure)) => denied(&described(&failure)),
        Err(_) => denied("the hook failed inside"),
    })
}

fn word_of(reply: Reply) -> LastWord {
    LastWord {
        stderr: told(&reply),
        stdout: reply.stdout.unwrap_or_default(),
        code: reply.exit_code,
    }
}

/// The answer to a command line that can't be understood.
pub(crate) fn unreadable() -> Exit {
    let reason =
        "tagout: the hook's own command line can't be understood; `tagout install` writes it";
    say(&denial_for_anyone(reason))
}

fn described(failure: &Failure) -> String {
    let hint = failure.hint.as_ref();
    let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("{}: {}{hint}", failure.code.as_str(), failure.message)
}

fn told(reply: &Reply) -> Vec<u8> {
    let text = reply.stderr.trim_end();
    if text.is_empty() {
        return Vec::new();
    }
    format!("{text}\n").into_bytes()
}

/// Writes an answer: the reason, then standard output in one write, then the code.
fn say(reply: &Reply) -> Exit {
    if !take_the_floor() {
        return Exit::Own(Reply::EXIT_IF_UNWRITTEN);
    }
    let stdout = reply.stdout.as_deref().unwrap_or_default();
    if !speak(&told(reply), stdout) {
        return Exit::Own(Reply::EXIT_IF_UNWRITTEN);
    }
    Exit::Own(reply.exit_code)
}

/// What one event needs.
struct Job<'a> {
    client: Client,
    args: &'a HookArgs,
    place: &'a PlaceArgs,
}

impl Job<'_> {
    fn answer(&self) -> Result<Reply, Failure> {
        self.fail_on_purpose();
        let mut bytes = Vec::new();
        let most = u64::try_from(HOOK_PAYLOAD_BYTES_MAX).unwrap_or(u64::MAX);
        io::stdin()
            .lock()
            .take(most.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::failed(format!("the payload can't be read: {error}")))?;
        match tagout_agents::parse_shared(self.client, &self.args.event, &bytes) {
            Ok(incoming) => work::answer(self, incoming),
            Err(error) if self.is_anyones(&error) => Ok(denial_for_anyone(&format!(
                "tagout: {error}, so the call is denied"
            ))),
            Err(error) => Err(Failure::invalid(error)),
        }
    }

    /// Whether it is another client that waits for an answer, which may read any of them.
    fn is_anyones(&self, error: &AgentError) -> bool {
        let event = self.client.event(&self.args.event);
        let blocks = event.is_none_or(tagout_agents::Event::can_block);
        blocks
            && matches!(
                error,
                AgentError::Mismatch { .. } | AgentError::UnknownEvent { .. }
            )
    }

    #[cfg(debug_assertions)]
    fn fail_on_purpose(&self) {
        match self.args.fail.as_deref() {
            Some("panic") => {
                let nothing: Option<u8> = None;
                assert!(nothing.is_some(), "asked for");
            }
            Some("abort") => std::process::abort(),
            Some("overflow") => drop(overflow(1)),
            Some(_) | None => {}
        }
    }

    #[cfg(not(debug_assertions))]
    #[expect(clippy::unused_self, reason = "it has the same form in every build")]
    const fn fail_on_purpose(&self) {}
}

/// Uses up the stack.
#[cfg(debug_assertions)]
fn overflow(depth: u64) -> u64 {
    if depth == 0 {
        return 0;
    }
    let waste = std::hint::black_box([depth; 1024]);
    let deeper = overflow(depth.saturating_add(1));
    waste.iter().fold(deeper, |all, one| all.wrapping_add(*one))
}
