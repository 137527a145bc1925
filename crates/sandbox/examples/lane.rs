//! Runs one confined command as an order on the command line says, and tells how it went as JSON.
//!
//! `lane ORDER.json`. The tests start it as root, as an ordinary user, and on hosts that lack
//! something. `lane --without WHAT ORDER.json` first takes the named ability away from itself, as a
//! host would that does not have it.

#![allow(
    unsafe_code,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for tests"
)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use tagout_sandbox::{
    Host, Input, Lane, Layers, Limits, Network, Output, Wanted, Weaker, plan, serve_if_helper,
};

/// What is to be run; the parts of [`Wanted`] that can be written down.
#[derive(Deserialize)]
struct Order {
    scratch: PathBuf,
    lane: Lane,
    workspace: PathBuf,
    cwd: PathBuf,
    argv: Vec<OsString>,
    env: Vec<(String, String)>,
    limits: Limits,
    network: Network,
    layers: Layers,
    writable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    home: Option<PathBuf>,
    read_only_inside: Vec<PathBuf>,
    accept: Vec<Weaker>,
    artifact: PathBuf,
    /// Where it is there, the first process is made ahead, and so long before it is used.
    #[serde(default)]
    ahead_ms: Option<u64>,
    /// See [`Wanted::direct`].
    #[serde(default)]
    direct: Option<Vec<OsString>>,
}

fn main() -> ExitCode {
    serve_if_helper();
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--without") {
        let taken: Vec<String> = words.drain(..2.min(words.len())).collect();
        if let Err(error) = without::take(taken.last().map_or("", String::as_str)) {
            println!("{}", json!({ "broken": error.to_string() }));
            return ExitCode::FAILURE;
        }
    }
    if let [word, scratch] = words.as_slice()
        && word == "--probe"
    {
        println!("{}", json!(Host::probe(Path::new(scratch))));
        return ExitCode::SUCCESS;
    }
    let read = words.first().map(std::fs::read);
    let order: Result<Order, String> = match read {
        Some(Ok(text)) => serde_json::from_slice(&text).map_err(|error| error.to_string()),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("no order".to_owned()),
    };
    match order {
        Ok(order) => {
            println!("{}", run(&order));
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{}", json!({ "broken": error }));
            ExitCode::FAILURE
        }
    }
}

fn run(order: &Order) -> serde_json::Value {
    let host = match order.ahead_ms {
        None => Host::probe(&order.scratch),
        Some(time) => match probed_elsewhere(&order.scratch) {
            Ok(host) => {
                tagout_sandbox::start_helper_early(order.home.as_deref());
                std::thread::sleep(Duration::from_millis(time));
                host
            }
            Err(error) => return json!({ "broken": error.to_string() }),
        },
    };
    let lines = host.lines();
    let began = Instant::now();
    let plan = match plan(&host, &order.wanted()) {
        Ok(plan) => plan,
        Err(refused) => return json!({ "refused": refused, "lines": lines }),
    };
    let lane = plan.lane();
    let enforcers = plan.enforcers().to_vec();
    let ended = plan.start().and_then(tagout_sandbox::Running::wait);
    let took = began.elapsed();
    match ended {
        Ok(ended) => json!({
            "ended": ended,
            "lane": lane,
            "enforcers": enforcers,
            "lines": lines,
            "took_us": u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        }),
        Err(error) => json!({ "error": error.to_string(), "lane": lane, "lines": lines }),
    }
}

/// What another process found out, so that nothing was started by this one yet.
fn probed_elsewhere(scratch: &Path) -> std::io::Result<Host> {
    let told = Command::new(std::env::current_exe()?)
        .arg("--probe")
        .arg(scratch)
        .output()?;
    serde_json::from_slice(&told.stdout).map_err(std::io::Error::other)
}

impl Order {
    fn wanted(&self) -> Wanted {
        Wanted {
            lane: self.lane,
            workspace: self.workspace.clone(),
            cwd: self.cwd.clone(),
            argv: self.argv.clone(),
            direct: self.direct.clone(),
            env: self
                .env
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            limits: self.limits.clone(),
            network: self.network.clone(),
            layers: self.layers.clone(),
            writable: self.writable.clone(),
            hidden: self.hidden.clone(),
            home: self.home.clone(),
            through: Vec::new(),
            read_only_inside: self.read_only_inside.clone(),
            accept_degraded: self.accept.clone(),
            long_running: false,
            input: Input::Nothing,
            output: Output {
                artifact: self.artifact.clone(),
                live: None,
            },
        }
    }
}

mod without {
    //! Takes an ability away from this process and all that it starts.

    use std::collections::BTreeMap;
    use std::io;

    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition,
        SeccompFilter, SeccompRule,
    };

    type Rules = BTreeMap<i64, Vec<SeccompRule>>;

    /// Installs what makes the host look as if it did not have this.
    pub(crate) fn take(what: &str) -> io::Result<()> {
        match what {
            "user-namespaces" => {
                install(all(&[libc::SYS_clone3]), libc::ENOSYS)?;
                install(user_namespaces()?, libc::EPERM)
            }
            "landlock" => install(all(&[444, 445, 446]), libc::ENOSYS),
            "seccomp" => install(seccomp()?, libc::EINVAL),
            "mounts" => install(
                all(&[
                    libc::SYS_mount,
                    libc::SYS_fsopen,
                    libc::SYS_open_tree,
                    libc::SYS_fsmount,
                ]),
                libc::EPERM,
            ),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn all(calls: &[i64]) -> Rules {
        calls.iter().map(|call| (*call, Vec::new())).collect()
    }

    fn flag(argument: u8, flag: u64) -> io::Result<Vec<SeccompRule>> {
        let condition = SeccompCondition::new(argument, Len::Qword, Op::MaskedEq(flag), flag);
        let rule = SeccompRule::new(vec![condition.map_err(io::Error::other)?]);
        Ok(vec![rule.map_err(io::Error::other)?])
    }

    fn user_namespaces() -> io::Result<Rules> {
        let new_user = libc::CLONE_NEWUSER as u64;
        Ok(BTreeMap::from([
            (libc::SYS_unshare, flag(0, new_user)?),
            (libc::SYS_clone, flag(0, new_user)?),
        ]))
    }

    /// The call, and the older way to it.
    fn seccomp() -> io::Result<Rules> {
        let condition = SeccompCondition::new(0, Len::Dword, Op::Eq, libc::PR_SET_SECCOMP as u64);
        let rule = SeccompRule::new(vec![condition.map_err(io::Error::other)?]);
        Ok(BTreeMap::from([
            (libc::SYS_seccomp, Vec::new()),
            (libc::SYS_prctl, vec![rule.map_err(io::Error::other)?]),
        ]))
    }

    fn install(rules: Rules, errno: i32) -> io::Result<()> {
        let filter = SeccompFilter::new(
            rules,
            SeccompAction::Allow,
            SeccompAction::Errno(errno.unsigned_abs()),
            std::env::consts::ARCH
                .try_into()
                .map_err(io::Error::other)?,
        )
        .map_err(io::Error::other)?;
        let program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
        seccompiler::apply_filter(&program).map_err(io::Error::other)
    }
}
