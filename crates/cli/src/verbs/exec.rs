//! `tagout exec`: one command, confined and as a transaction.

mod told;
mod words;

use std::io::{self, Write as _};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tagout_gate::sandbox::{LiveSink, Stream};
use tagout_gate::{Attached, Engine, Outcome, Receipt};
use tagout_vocab::{Agent, Call, Code, Role, SessionId};

use crate::args::{ExecArgs, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{args, report, runtime, signals};

/// Tagout itself failed.
const FAILED: u8 = 125;
/// The command, or what it changed, was refused.
const REFUSED: u8 = 126;

/// Runs one command.
pub(crate) fn run(place: &PlaceArgs, args: &ExecArgs) -> Result<Exit, Failure> {
    exec(place, args).or_else(|failure| {
        let code = if failure.exit == Exit::Denied {
            REFUSED
        } else {
            FAILED
        };
        report::failure(&failure, args.json);
        Ok(Exit::Own(code))
    })
}

fn exec(place: &PlaceArgs, args: &ExecArgs) -> Result<Exit, Failure> {
    if args::is_governed() {
        let message = "this already is a governed call: a command in it is confined by that";
        let failure = Failure::denied(Code::StateViolation, message);
        return Err(failure.hint("run the command itself, without `tagout exec`"));
    }
    if !args.end {
        tagout_sandbox::start_helper_early(args::home().as_deref());
    }
    let engine = runtime::open_for_commands(place)
        .map_err(|failure| kept_away(args.permit.as_deref(), failure))?;
    let line = noted(args)?;
    // The note of a hook is used up before anything can refuse the line: it came here.
    let (session, agent) = actor(&engine, args, &line)?;
    if args.end {
        return end(&engine, &session, args.json);
    }
    let folder = here(&engine, args.cwd.as_deref())?;
    if let Some(mut refused) = select(&engine, args, (&session, &agent))? {
        in_verbs(&engine, args, &mut refused);
        told::tell(&refused, args.json)?;
        return Ok(Exit::Own(REFUSED));
    }
    let attached = Attached {
        live: (!args.json).then(through),
        ..Attached::default()
    };
    let stop = attached.stop.clone();
    let interrupted = signals::watch(move || stop.stop())?;
    let mut call = call(&engine, args, (line, session))?;
    call.agent = agent;
    call.cwd = folder;
    let mut receipt = engine.execute_with(&call, &attached);
    in_verbs(&engine, args, &mut receipt);
    told::tell(&receipt, args.json)?;
    let signal = interrupted.signal();
    if args.long_running && !args.json {
        told::of_long_running(&receipt, signal, args.session.as_deref());
    }
    let code = code(&receipt, signal);
    engine.close();
    std::mem::forget(receipt);
    Ok(Exit::Own(code))
}

fn in_verbs(engine: &Engine, args: &ExecArgs, receipt: &mut Receipt) {
    if let Some(refusal) = &mut receipt.refusal {
        super::run::in_verbs(refusal, engine, args.session.as_deref());
    }
}

/// What stands in a hook's note for the end of what a conversation left running: no line.
const END: &str = "\0end";

/// What the note of a hook for a command is about: the line that the shell runs.
pub(super) fn noted(args: &ExecArgs) -> Result<String, Failure> {
    if args.end {
        return Ok(END.to_owned());
    }
    words::line(&args.command)
}

/// A hook opened the same state a moment ago. If it can't be opened here, it is the client that
/// keeps its commands away from it.
pub(super) fn kept_away(permit: Option<&str>, failure: Failure) -> Failure {
    if permit.is_none() {
        return failure;
    }
    let message = format!(
        "the client runs this command in a sandbox of its own, where it can be neither recorded \
         nor held: {}",
        failure.message
    );
    Failure::denied(Code::IsolationUnavailable, message).hint(
        "use an edit tool instead of a command, or ask a person to start the client without its \
         own sandbox: Tagout confines commands itself",
    )
}

/// Ends what the session left running.
fn end(engine: &Engine, session: &SessionId, json: bool) -> Result<Exit, Failure> {
    let ended = engine.end_commands(session)?;
    if json {
        report::json(&json!({ "ended": ended }))?;
        return Ok(Exit::Done);
    }
    for id in &ended {
        report::line(&format!("ended {id}"))?;
    }
    Ok(Exit::Done)
}

/// What the command prints goes on as it comes.
fn through() -> LiveSink {
    LiveSink(Arc::new(|stream, bytes| {
        // Whoever does not read any more does not miss it; the whole is stored.
        let written = match stream {
            Stream::Out => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
            Stream::Err => io::stderr().lock().write_all(bytes),
        };
        written.unwrap_or_default();
    }))
}

/// The conversation and the agent: those of the client whose hook sent this line here, if one did.
fn actor(engine: &Engine, args: &ExecArgs, line: &str) -> Result<(SessionId, Agent), Failure> {
    let named = (args.session.as_deref(), args.permit.as_deref());
    super::run::actor(engine, named, line)
}

/// Takes the named intent up, if the session does not work on it already.
fn select(
    engine: &Engine,
    args: &ExecArgs,
    (session, agent): (&SessionId, &Agent),
) -> Result<Option<Receipt>, Failure> {
    let Some(wanted) = &args.intent else {
        return Ok(None);
    };
    let record = engine.session(session).map_err(Failure::failed)?;
    let active = record.session.active_intent();
    if active.is_some_and(|active| active.as_str() == wanted) {
        return Ok(None);
    }
    let mut arguments = Map::new();
    arguments.insert("intent_id".to_owned(), json!(wanted));
    let mut call = Call::new(engine.shelf().books.name_of(Role::SelectIntent), arguments);
    call.session = Some(session.clone());
    call.agent = agent.clone();
    let receipt = engine.execute(&call);
    Ok((receipt.outcome != Outcome::Completed).then_some(receipt))
}

fn call(
    engine: &Engine,
    args: &ExecArgs,
    (line, session): (String, SessionId),
) -> Result<Call, Failure> {
    let (tool, key) = engine
        .shelf()
        .books
        .shell()
        .ok_or_else(|| Failure::failed("the catalogue knows no tool that runs commands"))?;
    let mut arguments = Map::new();
    arguments.insert(key.to_owned(), Value::String(line));
    if let Some(cwd) = &args.cwd {
        arguments.insert("cwd".to_owned(), json!(cwd));
    }
    if let Some(timeout) = args.timeout {
        arguments.insert("timeout_ms".to_owned(), json!(timeout));
    }
    if args.long_running {
        arguments.insert("long_running".to_owned(), json!(true));
    }
    let mut call = Call::new(tool, arguments);
    call.session = Some(session);
    Ok(call)
}

/// The folder that a command starts in: the current one. From outside the workspace a folder in it
/// has to be named, else the command would mean other files than whoever wrote it.
fn here(engine: &Engine, named: Option<&str>) -> Result<String, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::failed(format!("the current folder can't be read: {error}")))?;
    let root = engine.workspace().root();
    let folder = match (here.starts_with(root), named) {
        (true, _) => &here,
        (false, Some(_)) => root,
        (false, None) => {
            let message = format!(
                "the command would start in `{}`, outside of the workspace `{}`",
                here.display(),
                root.display()
            );
            let hint = "start it in a folder of the workspace, or name one with `--cwd`";
            return Err(Failure::denied(Code::ScopeViolation, message).hint(hint));
        }
    };
    let text = folder.to_str();
    text.map(str::to_owned)
        .ok_or_else(|| Failure::invalid("the name of the folder is not text"))
}

/// The exit code: the command's own; ours where it can't speak for what happened.
fn code(receipt: &Receipt, signal: Option<u8>) -> u8 {
    if let Some(signal) = signal {
        return 128_u8.saturating_add(signal);
    }
    let own = receipt.output.as_ref().and_then(told::exit_code);
    let instead = match receipt.outcome {
        Outcome::Completed => 0,
        Outcome::Denied | Outcome::Pending => REFUSED,
        Outcome::RolledBack if receipt.parked.is_some() => REFUSED,
        Outcome::RolledBack | Outcome::Failed => FAILED,
    };
    match own {
        Some(0) | None => instead,
        Some(code) => code,
    }
}
