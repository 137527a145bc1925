//! The throw-away workspace of the demonstration, and one step in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value};
use tagout_gate::{Engine, Outcome, Places, Receipt, Site};
use tagout_ledger::{Kind, NewEvent, SealKey, Stamp, VerifyOptions};
use tagout_vocab::{Call, CallId, Code, SessionId, Verdict};
use tagout_workspace::files;
use tempfile::TempDir;

use super::{Content, Expected, Seen, Step};
use crate::failure::Failure;
use crate::verbs::explain::Desk;
use crate::{report, runtime};

/// Who plays the person.
const PERSON: &str = "demo";

/// A workspace, its engine and its judge.
pub(super) struct Stage {
    folder: TempDir,
    places: Places,
    engine: Engine,
    desk: Desk,
    session: SessionId,
}

impl Stage {
    /// Lays the files out, sets the workspace up and accepts its files as a person would.
    pub(super) fn set_up(content: &BTreeMap<String, String>) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("tagout-demo-")
            .tempdir()
            .map_err(|error| Failure::failed(format!("no throw-away folder: {error}")))?;
        let places = Places {
            root: folder.path().join("workspace"),
            state_home: folder.path().join("state"),
        };
        for (name, text) in content {
            store(&places.root.join(name), text)?;
        }
        Site::create(&places, &runtime::clockwork()?, PERSON).map_err(Failure::failed)?;
        let sources = runtime::sources(&places.root)?;
        let engine = runtime::open_without_user(&places)?;
        engine.accept(&sources, PERSON).map_err(Failure::failed)?;
        let engine = runtime::open_without_user(&places)?;
        let desk = Desk::open(Some(&places.root))?;
        desk.problems()?;
        let session = SessionId::new("demo").map_err(Failure::failed)?;
        Ok(Self {
            folder,
            places,
            engine,
            desk,
            session,
        })
    }

    /// Does one step and says what came out.
    pub(super) fn take(&self, step: &Step) -> Result<Seen, Failure> {
        if let Some(ask) = &step.ask {
            return self.ask(ask);
        }
        if let Some(run) = &step.run {
            return Ok(self.run(run));
        }
        if let Some(Content { path, content }) = &step.edit {
            store(&self.places.root.join(path), content)?;
            return Ok(seen(
                "edited",
                Code::Allowed,
                format!("{path} is another one now"),
            ));
        }
        if step.apply {
            return self.apply();
        }
        if let Some(path) = &step.revert {
            return self.revert(path);
        }
        if step.approve {
            return self.approve();
        }
        if step.verify {
            return self.verify();
        }
        Err(Failure::failed("a step that does nothing"))
    }

    fn ask(&self, question: &Value) -> Result<Seen, Failure> {
        let judgement = self.desk.judge_value(question)?;
        let reason = match &judgement.verdict {
            Verdict::Allow(reason) => reason.text.clone(),
            Verdict::Ask(refusal) | Verdict::Deny(refusal) => refusal.reason.clone(),
        };
        Ok(seen(
            judgement.verdict.as_str(),
            judgement.verdict.code(),
            reason,
        ))
    }

    fn run(&self, asked: &Value) -> Seen {
        let tool = asked
            .get("tool")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let arguments = asked.get("arguments").and_then(Value::as_object).cloned();
        let mut call = Call::new(tool, arguments.unwrap_or_else(Map::new));
        call.session = Some(self.session.clone());
        of_receipt(&self.engine.execute(&call))
    }

    /// Whether commands can be held here.
    pub(super) fn holds_commands(&self) -> Result<bool, Failure> {
        Ok(self.engine.holds_commands()?)
    }

    fn apply(&self) -> Result<Seen, Failure> {
        let parked = self.engine.parked()?;
        let set = parked
            .first()
            .ok_or_else(|| Failure::failed("nothing is parked"))?;
        let applied = self.engine.apply_parked(&set.id, PERSON, false)?;
        let reason = format!("{} by {PERSON}", applied.applied.join(", "));
        Ok(seen("applied", Code::Allowed, reason))
    }

    /// Takes the call back that last changed a path.
    fn revert(&self, path: &str) -> Result<Seen, Failure> {
        let reader = tagout_ledger::Reader::open(&self.engine.site().ledger())?;
        let mut made = None;
        for event in reader.events_from(0)? {
            let body = event?.body;
            if body.paths.iter().any(|change| change.path == path) {
                made = body.execution_id;
            }
        }
        let made = made.ok_or_else(|| Failure::failed("nobody made it"))?;
        let id = |text: &str| CallId::new(text).map_err(Failure::failed);
        let undo = id(&format!("{made}.undo"))?;
        let workspace = self.engine.workspace();
        let mut transaction = workspace.begin(&undo).map_err(Failure::failed)?;
        transaction.revert(&id(&made)?).map_err(Failure::failed)?;
        let undone = transaction.commit(crate::clock::now(), b"");
        let undone = undone.map_err(Failure::failed)?;
        let clockwork = runtime::clockwork()?;
        let stamp = Stamp {
            event_id: clockwork.id("ev"),
            timestamp: clockwork.now(),
        };
        let mut event = NewEvent::new(stamp, Kind::Undo);
        event.user_id = Some(PERSON.to_owned());
        event.execution_id = Some(undo.to_string());
        event.data = Some(serde_json::json!({ "undone": made }));
        self.engine.ledger().append(&[event])?;
        undone.confirm();
        Ok(seen(
            "reverted",
            Code::Allowed,
            format!("{path} is as before {made}"),
        ))
    }

    fn approve(&self) -> Result<Seen, Failure> {
        let pending = self.engine.pending().map_err(Failure::failed)?;
        let request = pending
            .first()
            .ok_or_else(|| Failure::failed("nothing waits"))?;
        self.engine
            .approve(&request.id, PERSON)
            .map_err(Failure::failed)?;
        let effects = request.effects.join(", ");
        Ok(seen(
            "approved",
            Code::Allowed,
            format!("{} by {PERSON}: {effects}", request.tool),
        ))
    }

    fn verify(&self) -> Result<Seen, Failure> {
        let site = self.engine.site();
        let now = crate::clock::now();
        self.engine.ledger().seal(now).map_err(Failure::failed)?;
        let key = SealKey::load(&site.seal_key()).map_err(Failure::failed)?;
        let options = VerifyOptions {
            keys: vec![key.verifier()],
            ..VerifyOptions::default()
        };
        let found = tagout_ledger::verify(&site.ledger(), &options).map_err(Failure::failed)?;
        if !found.ok {
            return Ok(seen(
                "broken",
                Code::Internal,
                format!("{:?}", found.problems),
            ));
        }
        let reason = format!("{} events, sealed and whole", found.events);
        Ok(seen("verified", Code::Allowed, reason))
    }

    /// Whether the files are as the step says.
    pub(super) fn check(&self, number: usize, step: &Step) -> Result<(), Failure> {
        if let Some(Content { path, content }) = &step.holds {
            let found = fs::read_to_string(self.places.root.join(path)).unwrap_or_default();
            if found != *content {
                let message = format!("after step {number}, {path} holds something else");
                return Err(Failure::failed(message));
            }
        }
        if let Some(path) = &step.absent
            && self.places.root.join(path).exists()
        {
            return Err(Failure::failed(format!(
                "after step {number}, {path} is there"
            )));
        }
        Ok(())
    }

    /// Takes the stage down, or leaves it and says where it is.
    pub(super) fn close(self, keep: bool) -> Result<(), Failure> {
        if keep {
            report::line(&format!("workspace: {}", self.places.root.display()))?;
            report::line(&format!("state: {}", self.engine.site().state().display()))?;
            drop(self.engine);
            let _left: PathBuf = self.folder.keep();
        }
        Ok(())
    }
}

fn seen(verdict: &str, code: Code, reason: String) -> Seen {
    let outcome = Expected {
        verdict: verdict.to_owned(),
        code: code.as_str().to_owned(),
    };
    Seen { outcome, reason }
}

fn of_receipt(receipt: &Receipt) -> Seen {
    let code = receipt
        .refusal
        .as_ref()
        .map_or(Code::Allowed, |refusal| refusal.code);
    let reason = receipt.refusal.as_ref().map_or_else(
        || match receipt.changes.len() {
            0 => "done, nothing changed".to_owned(),
            count => format!(
                "done, {count} changed, recorded up to event {}",
                receipt.events().map_or(0, |(_, last)| last)
            ),
        },
        |refusal| refusal.reason.clone(),
    );
    let word = match receipt.outcome {
        Outcome::Completed => "completed",
        Outcome::RolledBack => "rolled_back",
        Outcome::Failed => "failed",
        Outcome::Denied => "denied",
        Outcome::Pending => "pending",
    };
    seen(word, code, reason)
}

fn store(path: &std::path::Path, text: &str) -> Result<(), Failure> {
    let parent = path.parent().unwrap_or(path);
    files::ensure_dir(parent)
        .and_then(|()| files::write_atomic(path, text.as_bytes(), None))
        .map_err(Failure::failed)
}
