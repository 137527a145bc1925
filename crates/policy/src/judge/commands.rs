//! What the command lines of a call would do, worked into its class and its effects (H4).

use tagout_vocab::{Class, Effect, Role};

use super::books::Books;
use super::facts::Facts;
use crate::law::pattern::CommandLine;
use crate::shell::{self, Analysis, Judgement, OwnCall, ShellContext};
use crate::targets::{self, Normalised};

/// The command lines of a call, understood as one.
#[derive(Debug, Default)]
pub(super) struct Commands {
    /// The lines as given; empty when the call runs none.
    pub(super) lines: Vec<String>,
    /// What they touch.
    pub(super) effects: Vec<Effect>,
    /// Why they are not SAFE; `None` when every part of every line only reads.
    pub(super) destructive: Option<String>,
    /// Whether some part may start programs that a configuration in the workspace names.
    pub(super) helped: bool,
    /// Why no rule may ever allow them, if so.
    pub(super) catastrophic: Option<String>,
    /// A verb of Tagout that is for people, if one is called.
    pub(super) person_only: Option<PersonOnly>,
    /// Whether something is reached or published that can't be taken back.
    pub(super) network: bool,
    /// Whether commits are published.
    pub(super) push: bool,
}

/// A call of Tagout itself that only people make.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct PersonOnly {
    /// What is called.
    pub(super) what: String,
    /// What the agent can do.
    pub(super) remedy: &'static str,
    /// Whether the agent itself may do it in other words.
    pub(super) retryable: bool,
}

/// The verbs of Tagout that agents may use. Every other one is for people.
const AGENT_VERBS: [&[&str]; 20] = [
    &["log"],
    &["blame"],
    &["explain"],
    &["stats"],
    &["verify"],
    &["prove"],
    &["pending"],
    &["doctor"],
    &["lint"],
    &["compliance"],
    &["completions"],
    &["exec"],
    &["intent", "list"],
    &["intent", "show"],
    &["intent", "select"],
    &["intent", "propose"],
    &["trace", "query"],
    &["parked", "list"],
    &["parked", "show"],
    &["help"],
];

/// Understands every command line among the effects that the arguments name.
pub(super) fn understand(
    raw: &[Effect],
    normalised: &Normalised<'_>,
    books: &Books,
    facts: &Facts,
    cwd: &str,
) -> Commands {
    let mut commands = Commands::default();
    let cwd = targets::working_directory(normalised, cwd);
    let runs = |effect: &&Effect| matches!(effect, Effect::Run { .. });
    let is_single = raw.iter().filter(runs).count() == 1;
    for effect in raw {
        let Effect::Run { command } = effect else {
            continue;
        };
        commands.lines.push(command.clone());
        if !books.knowledge.is_there() {
            commands.doubt(command, "what programs do can't be looked up");
            continue;
        }
        if !is_shell(normalised) {
            commands.doubt(command, "it is in a language that is not read here");
            continue;
        }
        if let Some(other) = other_shell(normalised) {
            commands.doubt(command, &format!("it is run by `{other}`"));
            continue;
        }
        let Some(cwd) = &cwd else {
            commands.doubt(command, "its working directory can't be told");
            continue;
        };
        let context = ShellContext {
            cwd,
            own: facts.program.as_deref(),
            ..ShellContext::bare(&books.knowledge, &facts.roots)
        };
        let found = shell::analyse(command, &context);
        let is_alone = is_single && is_alone(command, context.own);
        let own = |call: &OwnCall| for_people(call, is_alone);
        let for_people = found.own_calls.iter().find_map(own);
        commands.person_only = commands.person_only.take().or(for_people);
        commands.add(books, command, found);
    }
    commands
}

/// Whether the lines of a call are run by a shell whose language is understood here.
pub fn is_in_known_shell(normalised: &Normalised<'_>) -> bool {
    is_shell(normalised) && other_shell(normalised).is_none()
}

fn is_shell(normalised: &Normalised<'_>) -> bool {
    normalised
        .tool
        .is_some_and(|tool| tool.role == Some(Role::Shell))
}

/// Shells whose language is understood here, by name or where systems keep them.
const SHELLS: [&str; 3] = ["bash", "sh", "zsh"];

/// The program that a call wants its line run by, where it is none of the known shells.
fn other_shell<'c>(normalised: &'c Normalised<'_>) -> Option<&'c str> {
    let named = normalised.arguments.get("shell")?;
    let named = named.as_str().unwrap_or("what is no text");
    let name = ["/bin/", "/usr/bin/", "/usr/local/bin/"]
        .iter()
        .find_map(|folder| named.strip_prefix(folder))
        .unwrap_or(named);
    (!SHELLS.contains(&name)).then_some(named)
}

impl Commands {
    fn doubt(&mut self, line: &str, why: &str) {
        self.effects.push(Effect::Run {
            command: line.to_owned(),
        });
        self.destructive.get_or_insert_with(|| why.to_owned());
    }

    fn add(&mut self, books: &Books, line: &str, found: Analysis) {
        let read = CommandLine::raw(line);
        if let Some(denied) = books.law.command_never_safe(&read) {
            let why = format!("{} calls it destructive", denied.source.file);
            self.destructive.get_or_insert(why);
        }
        if found.class == Class::Destructive && !vouched(books, &read, &found) {
            let why = found.why().unwrap_or("it can't be read whole").to_owned();
            self.destructive.get_or_insert(why);
        }
        let mut parts = found.parts.iter();
        self.helped |= parts.any(|part| books.knowledge.is_helped(&part.program, &part.text));
        let stays = found.stays_on_this_machine();
        self.catastrophic = self.catastrophic.take().or(found.catastrophic);
        self.network |= found.network && !stays;
        self.push |= found.push;
        let reaches = |effect: &Effect| matches!(effect, Effect::Reach { .. });
        let effects = found.effects.into_iter();
        self.effects
            .extend(effects.filter(|one| !(stays && reaches(one))));
    }
}

/// Whether the policy calls a line read-only that the analysis knows nothing about. It is never
/// believed over a finding that something is written, run or reached.
fn vouched(books: &Books, line: &CommandLine<'_>, found: &Analysis) -> bool {
    let unknown = |part: &shell::Part| matches!(part.judgement, Judgement::Unknown(_));
    let harmless = |part: &shell::Part| part.judgement == Judgement::ReadOnly || unknown(part);
    found.parts.iter().any(unknown)
        && found.parts.iter().all(harmless)
        && found.catastrophic.is_none()
        && found.own_calls.is_empty()
        && books.law.claims_read_only(line).is_some()
}

/// The verbs that act in a conversation, and how each is used.
const ACTING: [(&[&str], &str); 3] = [
    (
        &["intent", "select"],
        "run `tagout intent select ID` as a command of its own, with no redirection behind it",
    ),
    (
        &["intent", "propose"],
        "run `tagout intent propose` as a command of its own, with nothing else in the line: \
         texts in single quotes, no redirection",
    ),
    (
        &["exec"],
        "write the line without `tagout exec`, or all of it behind one: `tagout exec -- 'LINE'`",
    ),
];

/// A call of Tagout itself that is one for people, or could be. What acts in a conversation does so
/// in the one that it is called in, and only where it stands alone: then whoever judges it knows
/// the conversation and performs it.
fn for_people(call: &OwnCall, is_alone: bool) -> Option<PersonOnly> {
    if call.only_tells() {
        return None;
    }
    let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
    let known = !words.is_empty() && is_for_agents(&words);
    let harmless = known || (words.is_empty() && !call.uncertain);
    if !harmless {
        return Some(PersonOnly {
            what: format!("`tagout {}`", words.join(" ")),
            remedy: "ask the person to do it at their own terminal",
            retryable: false,
        });
    }
    let mut acting = ACTING.iter();
    let (verb, alone) = acting.find(|(verb, _)| words.starts_with(verb))?;
    let (what, remedy) = if call.may_have("--session") {
        let remedy = "leave the option away, and write all words out: the conversation is known";
        ("to name a conversation with `--session`".to_owned(), remedy)
    } else if !is_alone {
        let verb = verb.join(" ");
        let what =
            format!("`tagout {verb}` within a longer command, or in words for a shell to read,");
        (what, *alone)
    } else {
        return None;
    };
    Some(PersonOnly {
        what,
        remedy,
        retryable: true,
    })
}

/// Whether a line is nothing but words behind Tagout's name, or the path that it is known to lie
/// at, and the verb is the first of them.
pub fn is_alone(line: &str, own: Option<&str>) -> bool {
    let words = shell::only_words(line).unwrap_or_default();
    let [first, verb, ..] = words.as_slice() else {
        return false;
    };
    (first == "tagout" || Some(first.as_str()) == own) && !verb.starts_with('-')
}

/// Whether agents may use a verb of Tagout itself. Without a verb it only tells about itself.
pub fn is_for_agents(words: &[&str]) -> bool {
    let starts = |verb: &&[&str]| words.starts_with(verb);
    words.is_empty() || AGENT_VERBS.iter().any(starts)
}
