//! What can be typed. The help text is the doc comment of each field.

mod clients;
mod commands;
mod identity;
mod ledger;
pub(crate) mod patterns;
mod plain;
mod runtime;
mod trace;

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) use clients::{HookArgs, InstallArgs, ScopeArg, UninstallArgs};
pub(crate) use commands::{DoctorArgs, ExecArgs, ParkedArgs, ParkedVerb};
pub(crate) use identity::user;
pub(crate) use ledger::{LogArgs, ProveArgs, SealArgs, StatsArgs, VerifyArgs};
pub(crate) use plain::{exec as plain_exec, hook as plain_hook};
pub(crate) use runtime::{
    AnswerArgs, ApproveArgs, EpochArgs, EpochVerb, GrantArgs, GrantIssueArgs, GrantVerb, InitArgs,
    IntentNewArgs, IntentProposeArgs, PendingArgs, ProfileArg, RejectArgs, RunArgs, SessionArgs,
    TrustArgs,
};
pub(crate) use trace::{BlameArgs, TraceArgs, TraceFormat, TraceQueryArgs, TraceVerb, UndoArgs};

use clap::{Args as ClapArgs, CommandFactory as _, Parser, Subcommand, error::ErrorKind};
use clap_complete::Shell;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::notes::homes::{self, Homes};
use crate::report;

/// Lockout-tagout for AI coding agents
///
/// An agent may read freely. Before it changes anything it selects a declared intent, which owns a
/// scope of files; every call is judged against it.
#[derive(Debug, Parser)]
#[command(
    name = "tagout",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Where to work.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlaceArgs {
    /// The workspace; without it, the nearest folder above that holds `.orchestration/`
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// The folder with the states of all workspaces; else `TAGOUT_STATE_DIR`, else the user's own
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
}

/// One thing to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Init(InitArgs),
    Demo(DemoArgs),
    Explain(ExplainArgs),
    Run(RunArgs),
    Exec(ExecArgs),
    Hook(HookArgs),
    Install(InstallArgs),
    Uninstall(UninstallArgs),
    Intent(IntentArgs),
    Trust(TrustArgs),
    Pending(PendingArgs),
    Approve(ApproveArgs),
    Reject(RejectArgs),
    Answer(AnswerArgs),
    Epoch(EpochArgs),
    Parked(ParkedArgs),
    Doctor(DoctorArgs),
    Grant(GrantArgs),
    Lint(LintArgs),
    Log(LogArgs),
    Blame(BlameArgs),
    Trace(TraceArgs),
    Undo(UndoArgs),
    Verify(VerifyArgs),
    Prove(ProveArgs),
    Seal(SealArgs),
    Stats(StatsArgs),
    Compliance(ComplianceArgs),
    Completions(CompletionsArgs),
}

/// Show the verdict on a call and every check that led to it; nothing is run, nothing recorded
///
/// The workspace's files are read as they lie in the tree, as if a person had accepted them.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  \
    tagout explain --call call.json\n  \
    tagout explain --command 'rm -rf build'\n  \
    tagout explain --batch --json < calls.jsonl")]
#[command(group(clap::ArgGroup::new("what").required(true).args(["call", "command", "batch"])))]
pub(crate) struct ExplainArgs {
    /// A file with one call as JSON; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) call: Option<PathBuf>,

    /// One command line, judged as a shell call
    #[arg(long, value_name = "LINE")]
    pub(crate) command: Option<String>,

    /// JSON lines on standard input, one answer a line in the same order
    #[arg(long)]
    pub(crate) batch: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Look at the declared intents, take one up, or change them
#[derive(Debug, ClapArgs)]
pub(crate) struct IntentArgs {
    #[command(subcommand)]
    pub(crate) verb: IntentVerb,
}

/// What to do with intents.
#[derive(Debug, Subcommand)]
pub(crate) enum IntentVerb {
    /// List the intents of this workspace
    #[command(after_help = "Example:\n  tagout intent list --json")]
    List {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one intent whole, and whether it can be selected
    #[command(after_help = "Example:\n  tagout intent show INT-001")]
    Show {
        /// The intent's id
        id: String,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Declare an intent (for people)
    #[command(
        after_help = "Example:\n  tagout intent new INT-002 --name 'Tidy up' --scope 'src/**'"
    )]
    New(IntentNewArgs),
    /// Take an intent up in this session and print its context
    #[command(after_help = "Example:\n  tagout intent select INT-001")]
    Select {
        /// The intent's id
        id: String,
        #[command(flatten)]
        session: SessionArgs,
        /// The note of a client's hook that made the selection
        #[arg(long, value_name = "NOTE", hide = true, conflicts_with = "session")]
        permit: Option<String>,
    },
    /// Ask a person for an intent or a wider scope
    #[command(after_help = "Example:\n  \
        tagout intent propose --name 'Tidy up' --scope 'docs/**' --reason 'the guide is wrong'\n  \
        tagout intent propose --id INT-001 --name Wider --scope 'tests/**' --reason 'its tests'")]
    Propose(IntentProposeArgs),
    /// Mark an intent as done (for people)
    #[command(after_help = "Example:\n  tagout intent complete INT-001")]
    Complete {
        /// The intent's id
        id: String,
        /// Do not ask for a terminal
        #[arg(long)]
        yes: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Let an intent go, whoever holds it (for people)
    #[command(after_help = "Example:\n  tagout intent release INT-001")]
    Release {
        /// The intent's id
        id: String,
        /// Do not ask for a terminal
        #[arg(long)]
        yes: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

/// Check policy, intents, ignore files and the built-in catalogue
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout lint")]
pub(crate) struct LintArgs {
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Check this build and this workspace against the list of RFC-0001, line by line, by trying it
///
/// The trials run in a throw-away workspace. Exit code 0 only if every line is met.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout compliance --json")]
pub(crate) struct ComplianceArgs {
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show the main job end to end in a throw-away workspace, checked step by step
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout demo --keep")]
pub(crate) struct DemoArgs {
    /// Leave the workspace behind and say where it is
    #[arg(long)]
    pub(crate) keep: bool,

    /// Answer in JSON, one line a step
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the completion script of a shell
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout completions bash > ~/.bash_completion")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Reads the command line. Help and version are answers; anything else wrong is invalid input.
pub(crate) fn parse() -> Result<Args, Exit> {
    Args::try_parse_from(asked(std::env::args_os())).map_err(|error| {
        let answered = is_answer(&error);
        if !answered && wants_json() {
            let message = error.render().to_string();
            let failure = Failure::invalid(message.trim_end());
            let exit = report::failure(&failure.hint("`tagout --help` lists what there is"), true);
            return if runs_commands() { OWN_FAILURE } else { exit };
        }
        let exit = match (answered, runs_commands()) {
            (true, _) => Exit::Done,
            (false, true) => OWN_FAILURE,
            (false, false) => Exit::Invalid,
        };
        // Printing help can only fail when nobody reads it.
        error.print().unwrap_or_default();
        exit
    })
}

fn is_answer(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    )
}

/// The words of a line, where `help VERB` means `VERB --help`. What follows `--` can't be asked
/// about, and would be done.
fn asked(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    if words.get(1).is_some_and(|word| word == "help") {
        let own = words.iter().position(|word| word == "--");
        words.truncate(own.unwrap_or(words.len()));
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// What this program would do with a line.
#[derive(Debug)]
pub(crate) enum Meant {
    /// What the line says.
    Does(Box<Args>),
    /// Tell how it is used, and nothing else.
    Tells,
    /// Say that it can't read the line.
    Fails,
}

/// What the words behind this program's name mean, read as if it had been started with them.
pub(crate) fn meant(words: &[String]) -> Meant {
    let words = ["tagout"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    match Args::try_parse_from(asked(words.map(OsString::from))) {
        Ok(args) => Meant::Does(Box::new(args)),
        Err(error) if is_answer(&error) => Meant::Tells,
        Err(_) => Meant::Fails,
    }
}

/// What the verb that passes a command's exit code on ends with when it fails itself.
const OWN_FAILURE: Exit = Exit::Own(125);

/// Whether the line, which can't be understood, is one of the verb whose small exit codes belong to
/// somebody else's command.
fn runs_commands() -> bool {
    std::env::args_os()
        .take_while(|word| word != "--")
        .any(|word| word == "exec")
}

/// Whether a program reads the answer. Asked of the words themselves, so that it also holds for a
/// line that can't be understood; what follows `--` belongs to somebody else.
pub(crate) fn wants_json() -> bool {
    std::env::args_os()
        .take_while(|word| word != "--")
        .any(|word| word == "--json")
}

/// Whether a client started this program as its hook, also with a line that can't be understood.
pub(crate) fn is_hook() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "hook")
}

/// This program, by its absolute path. The kernel has to put it together, so it is asked once.
pub(crate) fn own_program() -> Option<String> {
    static PROGRAM: OnceLock<Option<String>> = OnceLock::new();
    let found = PROGRAM.get_or_init(|| {
        let path = std::env::current_exe().ok()?;
        path.to_str().map(str::to_owned)
    });
    found.clone()
}

/// The command line's definition, for completions.
pub(crate) fn command() -> clap::Command {
    Args::command()
}

/// Whether colours are wanted: the one environment variable that every program honours.
#[expect(
    clippy::disallowed_methods,
    reason = "the one declared list of environment variables"
)]
pub(crate) fn colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: Shell) -> Result<(), crate::failure::Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "tagout", &mut script);
    report::data(&String::from_utf8_lossy(&script))
}

/// The folder of the person's own policy: `TAGOUT_CONFIG_DIR`, else `tagout` in the user's
/// configuration folder. `None` when there is no home either.
pub(crate) fn config_dir() -> Option<PathBuf> {
    named("TAGOUT_CONFIG_DIR")
        .or_else(|| named("XDG_CONFIG_HOME").map(|folder| folder.join("tagout")))
        .or_else(|| named("HOME").map(|home| home.join(".config").join("tagout")))
}

/// The folder with the states of all workspaces: `TAGOUT_STATE_DIR`, else `tagout` in the user's
/// state folder. `None` when there is no home either.
pub(crate) fn state_dir() -> Option<PathBuf> {
    named("TAGOUT_STATE_DIR")
        .or_else(|| named("XDG_STATE_HOME").map(|folder| folder.join("tagout")))
        .or_else(|| home().map(|home| state_dir_in(&home)))
}

/// The same in a home where no variable says otherwise.
pub(crate) fn state_dir_in(home: &Path) -> PathBuf {
    home.join(".local").join("state").join("tagout")
}

/// The user's home.
pub(crate) fn home() -> Option<PathBuf> {
    named("HOME")
}

/// The user's home, and the folders of clients in it that their own variables move.
pub(crate) fn homes() -> Homes {
    let moved = homes::variables().filter_map(|moved| {
        let folder = std::path::absolute(named(moved.variable)?).ok()?;
        Some((moved.variable.to_owned(), folder))
    });
    Homes {
        home: home(),
        moved: moved.collect(),
    }
}

/// A program on the search path.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = named("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|found| is_program(found))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

/// What a client's own program is started with.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Whether this process was started by a governed call: `TAGOUT_GOVERNED` is set there, and the
/// sandbox shows a file that no process in it can remove.
pub(crate) fn is_governed() -> bool {
    named("TAGOUT_GOVERNED").is_some() || Path::new(tagout_sandbox::GOVERNED).exists()
}

/// What commands are run with: of this process's variables, those that programs usually need.
pub(crate) fn commands(state_home: PathBuf) -> tagout_gate::Commands {
    let home = home();
    let is_plain = |home: &&PathBuf| home.is_absolute() && !home.iter().any(|part| part == "..");
    let of_clients = home.iter().filter(is_plain).flat_map(|home| {
        let below = tagout_agents::CREDENTIALS.iter();
        below.map(|name| home.join(name)).collect::<Vec<PathBuf>>()
    });
    let hidden = std::iter::once(state_home)
        .chain(config_dir())
        .chain(of_clients)
        .collect();
    tagout_gate::Commands {
        environment: tagout_sandbox::environment::rebuild(
            std::env::vars_os(),
            tagout_sandbox::environment::USUAL,
        ),
        home,
        hidden,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one declared list of environment variables"
)]
fn named(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}
