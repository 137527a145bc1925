//! `tagout hook`: what clients call. One answer in one write, and a denial whatever goes wrong.
//!
//! The work is done on a thread of its own while the first one keeps the time: an answer that comes
//! too late, a signal and a panic all become the denial that this client honours.

mod life;
mod own;
mod post;
mod pre;
mod shell;
mod work;

use std::io::{self, Read as _, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tagout_agents::{Client, Reply, strongest_denial, unknown_client_denial};
use tagout_vocab::limits::HOOK_PAYLOAD_BYTES_MAX;

use crate::args::{HookArgs, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;

/// How long a hook may take for an event that nobody knows.
const UNKNOWN_EVENT_MS: u64 = 2_000;

/// Answers one event of a client.
pub(crate) fn run(place: &PlaceArgs, args: &HookArgs) -> Exit {
    let Some(client) = Client::named(&args.client) else {
        let reason = format!("tagout: `{}` is no client that tagout knows", args.client);
        return say(&unknown_client_denial(&reason));
    };
    let denied = |why: &str| {
        let reason = format!("tagout: {why}, so the call is denied");
        strongest_denial(client, &args.event, &reason)
    };
    let event = client.event(&args.event);
    let wait = event.map_or(UNKNOWN_EVENT_MS, |event| client.watchdog_ms(event));
    let (teller, told) = mpsc::channel();
    let interrupted = teller.clone();
    // A signal that can't be watched ends the process, which the registered command denies.
    drop(tagout_sandbox::on_interrupt(move |_| {
        drop(interrupted.send(Err("the hook was ended by a signal".to_owned())));
    }));
    // The reason goes to the client; a panic's own words would only be beside it.
    panic::set_hook(Box::new(|_| {}));
    let job = Job {
        client,
        args: args.clone(),
        workspace: place.workspace.clone(),
        state_home: place.state_dir.clone(),
    };
    let started = thread::Builder::new()
        .name("hook".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let answered = panic::catch_unwind(AssertUnwindSafe(|| job.answer()));
            let said = match answered {
                Ok(Ok(reply)) => Ok(reply),
                Ok(Err(failure)) => Err(described(&failure)),
                Err(_) => Err("the hook failed inside".to_owned()),
            };
            drop(teller.send(said));
        });
    if started.is_err() {
        return say(&denied("no thread could be started"));
    }
    match told.recv_timeout(Duration::from_millis(wait)) {
        Ok(Ok(reply)) => say(&reply),
        Ok(Err(why)) => say(&denied(&why)),
        Err(_) => say(&denied("the hook took too long")),
    }
}

/// As much as a program's first thread has.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// The answer to a command line that can't be understood.
pub(crate) fn unreadable() -> Exit {
    let reason =
        "tagout: the hook's own command line can't be understood; `tagout install` writes it";
    say(&unknown_client_denial(reason))
}

fn described(failure: &Failure) -> String {
    let hint = failure.hint.as_ref();
    let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("{}: {}{hint}", failure.code.as_str(), failure.message)
}

/// Writes an answer: standard output in one write, then the reason, then the code.
fn say(reply: &Reply) -> Exit {
    if !reply.stderr.is_empty() {
        let text = format!("{}\n", reply.stderr.trim_end());
        // A reason that nobody reads is not needed.
        io::stderr().write_all(text.as_bytes()).unwrap_or_default();
    }
    if let Some(bytes) = &reply.stdout {
        let mut out = io::stdout().lock();
        if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
            return Exit::Own(Reply::EXIT_IF_UNWRITTEN);
        }
    }
    Exit::Own(reply.exit_code)
}

/// What one event needs.
struct Job {
    client: Client,
    args: HookArgs,
    workspace: Option<std::path::PathBuf>,
    state_home: Option<std::path::PathBuf>,
}

impl Job {
    fn answer(&self) -> Result<Reply, Failure> {
        self.fail_on_purpose();
        let mut bytes = Vec::new();
        let most = u64::try_from(HOOK_PAYLOAD_BYTES_MAX).unwrap_or(u64::MAX);
        io::stdin()
            .lock()
            .take(most.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::failed(format!("the payload can't be read: {error}")))?;
        let incoming = tagout_agents::parse_shared(self.client, &self.args.event, &bytes)
            .map_err(Failure::invalid)?;
        work::answer(self, incoming)
    }

    #[cfg(debug_assertions)]
    fn fail_on_purpose(&self) {
        match self.args.fail.as_deref() {
            Some("panic") => {
                let nothing: Option<u8> = None;
                assert!(nothing.is_some(), "asked for");
            }
            Some("hang") => loop {
                thread::park();
            },
            Some(_) | None => {}
        }
    }

    #[cfg(not(debug_assertions))]
    #[expect(clippy::unused_self, reason = "it has the same form in every build")]
    const fn fail_on_purpose(&self) {}
}
