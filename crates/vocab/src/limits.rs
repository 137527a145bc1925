//! Every numeric bound of the product, with its unit last and its reason beside it.

/// Linux's `PATH_MAX`: a longer path can't be opened anyway.
pub const PATH_BYTES_MAX: usize = 4096;

/// Linux's `NAME_MAX`: the longest name that a folder takes.
pub const NAME_BYTES_MAX: usize = 255;

/// An id goes into log lines, file names and prompts; nobody reads a longer one.
pub const ID_BYTES_MAX: usize = 200;

/// The largest policy, intents or ignore file that is read at all.
pub const SIDECAR_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Nesting of a YAML or JSON document. Real files need fewer than ten levels.
pub const DOCUMENT_DEPTH_MAX: usize = 64;

/// Nodes of a YAML document after aliases are followed: what stops an alias bomb.
pub const DOCUMENT_NODES_MAX: usize = 400_000;

/// Intents in one file. The budgets are measured at 10,000.
pub const INTENTS_MAX: usize = 20_000;

/// Patterns in one intent's scope.
pub const SCOPE_PATTERNS_MAX: usize = 1_000;

/// Other intents that one intent may share its files with.
pub const SHARES_MAX: usize = 1_000;

/// Lines of one `.intentignore` that say something.
pub const IGNORE_LINES_MAX: usize = 10_000;

/// Steps that one search for overlapping scopes may take; beyond it the rest counts as overlapping.
pub const OVERLAP_STEPS_MAX: usize = 10_000_000;

/// Bytes of the text that tells a model about its intent: a page or two, not its whole context.
pub const CONTEXT_BYTES_MAX: usize = 32 * 1024;

/// Bytes of one list in that text, once escaped.
pub const CONTEXT_SECTION_BYTES_MAX: usize = 5 * 1024;

/// Bytes of one value in that text, once escaped.
pub const CONTEXT_VALUE_BYTES_MAX: usize = 1_024;

/// Records of the recent trace in that text: the latest ones.
pub const CONTEXT_TRACE_COUNT_MAX: usize = 12;

/// Bytes of one scope pattern.
pub const PATTERN_BYTES_MAX: usize = 1_024;

/// Steps that matching one pattern against one path may take; beyond it the match is «no» for an
/// allowing pattern and «yes» for a denying one.
pub const MATCH_STEPS_MAX: usize = 100_000;

/// Approval rules in one layer.
pub const RULES_MAX: usize = 10_000;

/// Bytes of one call's arguments as JSON.
pub const ARGUMENTS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Paths that one call may touch.
pub const TARGETS_MAX: usize = 10_000;

/// Schema violations that are listed in one refusal.
pub const VIOLATIONS_MAX: usize = 20;

/// Paths that are listed in one refusal.
pub const REFUSAL_PATHS_MAX: usize = 50;

/// RFC-0003: how deep a grant may be delegated.
pub const DELEGATION_DEPTH_MAX: usize = 3;

/// H17: the same call this many times in a row is refused.
pub const REPEAT_LIMIT_DEFAULT: u32 = 12;

/// Linux's `MAX_ARG_STRLEN`: a longer command line can't be handed to a shell anyway.
pub const COMMAND_BYTES_MAX: usize = 128 * 1024;

/// Bytes that a compiled regular expression of a policy file may take.
pub const REGEX_PROGRAM_BYTES_MAX: usize = 256 * 1024;

/// Nesting of a regular expression of a policy file.
pub const REGEX_DEPTH_MAX: u32 = 32;

/// A longer command line is not matched against patterns: it counts as one that can't be read.
pub const COMMAND_MATCH_BYTES_MAX: usize = 64 * 1024;

/// Entries of any one list in a policy file, rules aside.
pub const POLICY_LIST_MAX: usize = 2_000;

/// Symbolic links followed while one path is resolved: what the kernel itself allows.
pub const SYMLINK_HOPS_MAX: usize = 40;

/// Paths that one transaction may touch; a shell command may touch more than a call names.
pub const TRANSACTION_PATHS_MAX: usize = 200_000;

/// Depth of a folder tree that a transaction may create, move or remove.
pub const TREE_DEPTH_MAX: usize = 512;

/// A file image up to this size lies in the journal record itself; a larger one in the store.
pub const IMAGE_INLINE_BYTES_MAX: u64 = 256 * 1024;

/// Within this time the kernel takes a lease from nobody: the shortest time that it can be told to
/// wait for its holder is a second.
pub const LEASE_SURE_MS: u64 = 900;

/// Inline bytes of one journal record; what goes beyond is put into the store.
pub const JOURNAL_RECORD_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The largest file that a transaction keeps a before-image of, by default.
pub const IMAGE_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Bytes of before-images that are kept for undoing, by default.
pub const UNDO_STORE_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// How long a change can be undone at most, by default: thirty days.
pub const UNDO_HORIZON_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Commits after which the touched files are made durable and the journal starts a new segment.
pub const CHECKPOINT_COMMITS_MAX: usize = 64;

/// Bytes of a journal segment after which the same happens.
pub const CHECKPOINT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// How long a process waits for another one's commit before it gives up.
pub const LOCK_WAIT_MS_MAX: u64 = 20_000;

/// Bytes of a file that are kept with the note that a session saw it, to show a difference later.
pub const SEEN_CONTENT_BYTES_MAX: u64 = 64 * 1024;

/// Notes of a session that are searched for those of one folder.
pub const SEEN_SEARCHED_MAX: usize = 100_000;

/// Bytes of a difference that goes into a refusal.
pub const DIFFERENCE_BYTES_MAX: usize = 4 * 1024;

/// One event as a line of the ledger. A step that touched [`TARGETS_MAX`] paths fits.
pub const LEDGER_EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The largest number an event can have: adding to it never overflows, and databases can hold it.
pub const LEDGER_SEQ_MAX: u64 = 1 << 62;

/// Events in one durable append.
pub const LEDGER_STEP_EVENTS_MAX: usize = 1_024;

/// A segment is closed when the next step would make it larger than this.
pub const LEDGER_SEGMENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The append that leaves this many events without a seal writes one.
pub const LEDGER_SEAL_EVENTS_MAX: u64 = 256;

/// The append that comes this long after the last seal writes one.
pub const LEDGER_SEAL_MS_MAX: i64 = 60_000;

/// How long an append waits for other processes; the lock is held for microseconds.
pub const LEDGER_LOCK_WAIT_MS_MAX: u64 = 10_000;

/// How far back from its end a segment is looked at when it is opened.
pub const LEDGER_TAIL_BYTES: usize = 64 * 1024;

/// How far back from its end the last line of a segment is looked for first, and how much of what
/// lies before it is held at once.
pub const LEDGER_LINE_USUAL_BYTES: usize = 8 * 1024;

/// A proof, a checkpoint or a key file larger than this is not read.
pub const LEDGER_PROOF_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Problems that one verification lists.
pub const LEDGER_PROBLEMS_MAX: usize = 1_000;

/// Events that one query returns.
pub const LEDGER_QUERY_ROWS_MAX: usize = 100_000;

/// How long someone who follows the ledger waits before looking again.
pub const LEDGER_FOLLOW_PAUSE_MS: u64 = 250;

/// A longer string in the redacted text of a call is cut; its length is noted.
pub const TEXT_STRING_BYTES_MAX: usize = 16 * 1024;

/// One record of the gate's own state.
pub const RECORD_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What is read at once of the stored law: its front in most workspaces, and little more.
pub const COMPILED_FRONT_BYTES: usize = 8 * 1024;

/// A session's log is written anew when it is longer than this.
pub const SESSION_LOG_BYTES_MAX: u64 = 64 * 1024;

/// How far back from its end a session's log is looked at first; its last line is short.
pub const SESSION_TAIL_BYTES: u64 = 4 * 1024;

/// How long a request waits for a person: a day, so that a night's question is there in the
/// morning.
pub const APPROVAL_PENDING_MS_MAX: i64 = 24 * 60 * 60 * 1000;

/// How long a person's yes waits for its call to come again.
pub const APPROVAL_GRANTED_MS_MAX: i64 = 60 * 60 * 1000;

/// How long a request that is used, refused or too old is remembered. A no that is forgotten makes
/// the same call ask again.
pub const APPROVAL_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// How long a call that comes again with a permit open is the same call; later it is judged anew.
pub const PERMIT_REPEAT_MS_MAX: i64 = 60 * 1000;

/// How long a permit waits for its client's report; then it is settled by what the files tell.
pub const PERMIT_OPEN_MS_MAX: i64 = 24 * 60 * 60 * 1000;

/// How long a session is remembered in which nothing happens, and an answered question.
pub const SESSION_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// How long a grant that ended is still listed.
pub const GRANT_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Bytes of the list of uses of grants; beyond it, what no rate limit asks for is dropped.
pub const GRANT_USES_BYTES_MAX: u64 = 256 * 1024;

/// How often the gate's own records are tidied.
pub const TIDY_INTERVAL_MS: i64 = 60 * 60 * 1000;

/// When even someone who waits for a verdict tidies, because nobody else comes by.
pub const TIDY_OVERDUE_MS: i64 = 24 * 60 * 60 * 1000;

/// Records of one kind that one tidying looks at.
pub const TIDY_RECORDS_MAX: usize = 5_000;

/// How long a session holds an intent without making a call for it.
pub const LEASE_MS_MAX: i64 = 8 * 60 * 60 * 1000;

/// As much of an id as has to be typed: less is met by chance, or by a slip.
pub const ID_BEGINNING_BYTES_MIN: usize = 4;

/// How often a person is asked the same question.
pub const ASKED_COUNT_MAX: u32 = 3;

/// How long a tool may run that declares no bound of its own.
pub const TOOL_RUN_MS_MAX: u64 = 120_000;

/// L9: how often an execution is tried again.
pub const RETRIES_MAX: u32 = 3;

/// The wait before the first retry; it doubles each time.
pub const RETRY_BASE_MS: u64 = 100;

/// Bytes of a file in which an edit's old text is looked for before it is admitted.
pub const OLD_TEXT_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Nesting of a command line: lists, substitutions, wrappers and shells in shells together.
pub const COMMAND_DEPTH_MAX: usize = 64;

/// Simple commands in one line. Beyond it the rest is not looked at, and the line is destructive.
pub const COMMAND_PARTS_MAX: usize = 1_000;

/// Words that one word may become by brace expansion.
pub const COMMAND_BRACES_MAX: usize = 256;

/// Steps that the analysis of one line may take: what stops loops in loops in loops.
pub const COMMAND_STEPS_MAX: usize = 20_000;

/// Variables whose values are followed through one line.
pub const COMMAND_VARIABLES_MAX: usize = 64;

/// The largest file that a native tool reads, edits or writes. Larger ones are for commands.
pub const TOOL_FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Lines of a file that one reading returns unless the caller asks for fewer.
pub const READ_LINES_MAX: usize = 2_000;

/// Bytes of a file that one reading returns.
pub const READ_BYTES_MAX: usize = 256 * 1024;

/// Bytes of one line that a reading shows; the rest is cut, and the reading says so.
pub const READ_LINE_BYTES_MAX: usize = 4 * 1024;

/// Entries that one listing returns.
pub const LIST_ENTRIES_MAX: usize = 1_000;

/// Entries that one walk through folders looks at, whatever it returns.
pub const WALK_ENTRIES_MAX: usize = 200_000;

/// Depth of folders that a walk goes down.
pub const WALK_DEPTH_MAX: usize = 64;

/// Lines that one search returns as found.
pub const SEARCH_HITS_MAX: usize = 300;

/// Lines shown on each side of a found line.
pub const SEARCH_CONTEXT_LINES: usize = 1;

/// The largest file that a search looks into.
pub const SEARCH_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Bytes that one search reads in all.
pub const SEARCH_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Bytes of one line that a search shows.
pub const SEARCH_LINE_BYTES_MAX: usize = 500;

/// Bytes of a regular expression that a search takes.
pub const SEARCH_PATTERN_BYTES_MAX: usize = 4 * 1024;

/// Bytes that a compiled regular expression of a search may take.
pub const SEARCH_PROGRAM_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The largest file that a ranked search indexes.
pub const RANK_FILE_BYTES_MAX: u64 = 512 * 1024;

/// Bytes that one ranked search indexes in all.
pub const RANK_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Lines of one indexed part of a file.
pub const RANK_CHUNK_LINES: usize = 40;

/// Parts that a ranked search returns.
pub const RANK_HITS_MAX: usize = 10;

/// Words of a query that a ranked search uses.
pub const RANK_WORDS_MAX: usize = 64;

/// The largest file whose definitions are listed.
pub const OUTLINE_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Files of a folder whose definitions are listed.
pub const OUTLINE_FILES_MAX: usize = 200;

/// Definitions that one listing returns.
pub const OUTLINE_DEFINITIONS_MAX: usize = 2_000;

/// Times that the syntax parser reports progress before it is stopped.
pub const SYNTAX_PARSE_STEPS_MAX: usize = 200_000;

/// Places that an error about an edit shows.
pub const CANDIDATES_MAX: usize = 5;

/// Lines of one such place.
pub const CANDIDATE_LINES_MAX: usize = 12;

/// Bytes of one such line.
pub const CANDIDATE_LINE_BYTES_MAX: usize = 200;

/// Lines of a file that are compared with a text that was not found.
pub const SIMILARITY_LINES_MAX: usize = 50_000;

/// Files that one patch may name.
pub const PATCH_FILES_MAX: usize = 1_000;

/// Hunks of one patch.
pub const PATCH_HUNKS_MAX: usize = 10_000;

/// Line comparisons that applying one patch to one file may take.
pub const PATCH_STEPS_MAX: usize = 100_000_000;

/// Bytes of one question, proposal, result or task that an agent writes for a person.
pub const MESSAGE_BYTES_MAX: usize = 32 * 1024;

/// How long a native tool that touches a few files may take.
pub const TOOL_TIME_MS_MAX: u64 = 10_000;

/// How long a native tool that looks through the workspace may take.
pub const TOOL_SEARCH_TIME_MS_MAX: u64 = 60_000;

/// Memory that a native tool may take.
pub const TOOL_MEMORY_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Places that one edit replaces.
pub const REPLACEMENTS_MAX: usize = 100_000;

/// Lines of a file to which a patch is applied.
pub const PATCH_LINES_MAX: usize = 1_000_000;

/// A longer command line is not taken apart: it counts as one that could do anything.
pub const COMMAND_ANALYSED_BYTES_MAX: usize = 32 * 1024;

/// A longer value of a shell variable is not followed: it counts as one that is not known.
pub const COMMAND_VALUE_BYTES_MAX: usize = 4 * 1024;

/// How long a command may run at most.
pub const COMMAND_TIME_MS_MAX: u64 = 2 * 60 * 60 * 1000;

/// How long after a command's wall time its sandbox is heard out. It ends the command itself
/// before.
pub const SANDBOX_SILENCE_MS_MAX: u64 = 60 * 1000;

/// Bytes of a command's output that its answer shows; the rest is read from where it is stored.
pub const COMMAND_SHOWN_BYTES_MAX: usize = 48 * 1024;

/// Bytes of a stored output that one reading returns.
pub const ARTIFACT_READ_BYTES_MAX: usize = 256 * 1024;

/// Stored outputs that are kept; the oldest go first.
pub const ARTIFACTS_MAX: usize = 200;

/// Sets of changes that wait for a person; beyond it the newest is dropped, and the answer says so.
pub const PARKED_MAX: usize = 500;

/// Paths of a parked set that its record names.
pub const PARKED_PATHS_MAX: usize = 2_000;

/// Lessons that a session keeps.
pub const LESSONS_MAX: usize = 50;

/// Bytes of a command's last output that a lesson keeps.
pub const LESSON_BYTES_MAX: usize = 2_000;

/// The largest index of git that is read.
pub const GIT_INDEX_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// How long a command that is to go on is looked at before it is believed to: one that dies at once
/// is told like any other.
pub const LONG_RUNNING_GRACE_MS: u64 = 400;

/// How long processes that a command left behind may take to end by themselves before they are
/// ended and the run counts as failed. Long enough for what only finishes its last step, short
/// enough to be no way of going on.
pub const LEFT_BEHIND_GRACE_MS: u64 = 2_000;

/// How many of them are named.
pub const LEFT_BEHIND_NAMES_MAX: usize = 5;

/// How long git may take to say what a command's commits contain.
pub const GIT_ASKED_MS_MAX: u64 = 30_000;

/// New commits that are looked into; what brings more is parked.
pub const GIT_NEW_COMMITS_MAX: usize = 5_000;

/// What it may say.
pub const GIT_ASKED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How much of what it says a refusal quotes.
pub const GIT_SAID_CHARS_MAX: usize = 400;

/// Sessions whose build folders and caches are kept; those quiet for longest go first.
pub const SESSION_LAYERS_MAX: usize = 20;

/// Milliseconds that a mark in time waits for the file system's clock to move.
pub const MARK_WAIT_MS_MAX: u64 = 200;

/// Paths that one command may change.
pub const CHANGE_SET_PATHS_MAX: usize = 100_000;

/// Bytes of changed files that one command may leave.
pub const CHANGE_SET_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// What is handed to the sandbox's helper for one command: arguments, environment, paths. Linux
/// gives a program at most a quarter of its stack for the first two.
pub const SANDBOX_SPEC_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One message from inside a sandbox to the process that started it.
pub const SANDBOX_REPORT_BYTES_MAX: usize = 16 * 1024;

/// Bytes of the beginning of a command's output that are kept in memory.
pub const OUTPUT_HEAD_BYTES_MAX: usize = 64 * 1024;

/// Bytes of the end of a command's output that are kept in memory.
pub const OUTPUT_TAIL_BYTES_MAX: usize = 64 * 1024;

/// Memory of the group in which a probe sees whether memory is held.
pub const PROBE_MEMORY_BYTES: u64 = 8 * 1024 * 1024;

/// How long a command may run by default.
pub const RUN_WALL_MS_MAX: u64 = 10 * 60 * 1000;

/// Processor time of a command's whole tree by default: two processors for as long as it may run.
pub const RUN_CPU_MS_MAX: u64 = 20 * 60 * 1000;

/// Memory of a command's whole tree by default: a linker of a large program needs this much.
pub const RUN_MEMORY_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Processes and threads of a command at one time by default: a build on many processors.
pub const RUN_PROCESSES_MAX: u64 = 1_024;

/// Length of one file that a command writes by default.
pub const RUN_FILE_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Bytes that a command writes in all by default: a build folder with its dependencies.
pub const RUN_TOTAL_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;

/// Bytes that are kept before a command that writes in place.
pub const SNAPSHOT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Paths that are looked at to find what a command may write in place.
pub const SNAPSHOT_LOOKS_MAX: usize = 500_000;

/// How often it is noted that a command that writes in place goes on.
pub const SNAPSHOT_NOTE_MS: u64 = 1_000;

/// How often what a dead process's command left is looked at again.
pub const SNAPSHOT_TRIES_MAX: usize = 10;

/// Open descriptors of one process of a command by default: what most systems give.
pub const RUN_DESCRIPTORS_MAX: u64 = 4_096;

/// Bytes of output that a command may print by default.
pub const RUN_OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How long a session's keeper stays when nothing runs in it and nobody asks.
pub const SESSION_IDLE_MS_MAX: u64 = 10 * 60 * 1000;

/// How long a process waits for the answer of a session's keeper.
pub const SESSION_ANSWER_MS_MAX: u64 = 10_000;

/// Long-running commands of one session at one time.
pub const SESSION_RUNS_MAX: usize = 64;

/// What a client may send to a hook: a call's arguments and the result that comes back with them.
pub const HOOK_PAYLOAD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of the text that a hook says to a client: it fits into a pipe, so that one write takes it.
pub const HOOK_TEXT_BYTES_MAX: usize = 16 * 1024;

/// A note that one hook leaves for the next.
pub const HOOK_NOTE_BYTES_MAX: u64 = 256 * 1024;

/// Notes of one kind that are looked through.
pub const HOOK_NOTES_MAX: usize = 4_096;

/// How long an answer waits each time for the other end to take more of it.
pub const LAST_WORD_MS_MAX: i32 = 5_000;

/// How long after the hook a command may begin that it sent through `exec`.
pub const HOOK_NOTE_MS_MAX: i64 = 10 * 60 * 1000;

/// Files that a client says a call changed, of which someone looks whose they are.
pub const CHANGED_PATHS_MAX: usize = 500;

/// Events about one file among which the one is looked for that left it as it is.
pub const CHANGED_EVENTS_MAX: usize = 16;

/// After this, a call of the same session that holds a path and was never reported on is settled by
/// what the files tell.
pub const HOOK_MISSING_MS: i64 = 10_000;

/// How long a client may take to tell its version, or to try a command in its own sandbox.
pub const TRIAL_MS_MAX: u64 = 20_000;

/// What is read of each of the two outputs of a program that is tried.
pub const TRIAL_OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// Files that `install` notes as its own.
pub const INSTALL_NOTE_BYTES_MAX: u64 = 1024 * 1024;

/// A text beyond this is not compared line by line: the change is one range.
pub const TRACE_DIFF_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Lines of a text that is compared line by line.
pub const TRACE_DIFF_LINES_MAX: usize = 1_000_000;

/// A text beyond this is not merged line by line: either one side is unchanged, or it is a
/// conflict.
pub const MERGE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Lines of a text whose authorship is kept line by line; a larger one is kept as a whole.
pub const ATTRIBUTION_LINES_MAX: usize = 200_000;

/// Bytes of a text whose authorship is kept line by line.
pub const ATTRIBUTION_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Versions of a file in one run of differences; the next one starts from a whole copy.
pub const ATTRIBUTION_CHUNK_STATES_MAX: usize = 16;

/// Latest versions of a file that a content nobody recorded is compared with.
pub const ATTRIBUTION_NEAREST_STATES_MAX: usize = 12;

/// Places of a line in the index beyond which it says nothing about where it came from.
pub const ATTRIBUTION_PLACES_MAX: usize = 8;

/// Other versions that are looked at to find where the new lines of one file came from.
pub const ATTRIBUTION_SOURCES_MAX: usize = 12;

/// Token pairs that comparing two changed places may take; beyond it they count as rewritten.
pub const ATTRIBUTION_TOKENS_MAX: usize = 400_000;

/// References in one piece of a posting list.
pub const POSTINGS_PIECE_COUNT_MAX: usize = 256;

/// The largest source text that is parsed for its syntax.
pub const SYNTAX_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bytes of source whose syntax trees are held at once while one record is made; those of the files
/// beyond it are let go, and made again if they are needed.
pub const SYNTAX_HELD_BYTES_MAX: usize = 2 * SYNTAX_BYTES_MAX;

/// Depth of a syntax tree that is looked at; what lies deeper is taken as plain text.
pub const SYNTAX_DEPTH_MAX: usize = 400;

/// Nodes of a syntax tree that are compared; beyond it a change counts as new behaviour.
pub const SYNTAX_NODES_MAX: usize = 2_000_000;

/// Definitions of one file that are looked at for what a change touched.
pub const TRACE_DEFINITIONS_MAX: usize = 20_000;

/// Syntax nodes that one changed range names.
pub const TRACE_NODES_MAX: usize = 200;

/// Bytes of a symbol's path in a record.
pub const TRACE_SYMBOL_BYTES_MAX: usize = 500;

/// Definitions within definitions; those that lie deeper are not listed.
pub const SYMBOL_PARTS_MAX: usize = 64;

/// Extracted functions that a comparison puts back into their callers.
pub const INLINE_ROUNDS_MAX: usize = 16;

/// Names that a reason lists.
pub const REASON_NAMES_MAX: usize = 10;

/// Changed ranges that one file of a record lists.
pub const TRACE_RANGES_MAX: usize = 2_000;

/// Bytes of one line of a trace file; a longer one is damage.
pub const TRACE_LINE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Bytes of a trace file that is read at all.
pub const TRACE_FILE_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// Places of damage that reading one trace file lists; the rest is counted.
pub const TRACE_DAMAGE_MAX: usize = 1_000;

/// Changed ranges that one record lists; the files beyond it get one range each.
pub const TRACE_RECORD_RANGES_MAX: usize = 20_000;

/// Syntax nodes that one record names; the ranges beyond it have none.
pub const TRACE_RECORD_NODES_MAX: usize = 5_000;

/// Bytes of what a failed command said that go into a lesson.
pub const LESSON_SUMMARY_BYTES_MAX: usize = 500;

/// Lines of what it said that are looked at for that.
pub const LESSON_SUMMARY_LINES_MAX: usize = 3;

/// Bytes of its command line.
pub const LESSON_COMMAND_BYTES_MAX: usize = 200;

/// Events of the ledger that the trace takes in with one change of its database.
pub const TRACE_CATCH_UP_EVENTS_MAX: usize = 1_000;

/// Bytes of one execution's files that the trace looks at, both sides together. Beyond that only
/// digests are recorded.
pub const TRACE_EFFECTS_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Bytes of what clients' calls found and left that are kept so that they can be taken back.
pub const TRACE_IMAGES_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// The largest map of intents that is compared before it is written anew.
pub const TRACE_MAP_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Records that are held at once while all of them are handed on.
pub const TRACE_HELD_RECORDS_MAX: usize = 64;

/// Records that one question to the trace is answered with, unless it says how many.
pub const TRACE_QUERY_RECORDS_MAX: usize = 10_000;

/// Pages of 4 KiB that lie in the log beside the trace's database before they are moved into it,
/// which waits for the disk. Whoever opens the database first reads the log.
pub const TRACE_LOG_PAGES_MAX: u32 = 256;

/// Events of the ledger that one tidying looks through for executions without an end.
pub const LOST_SCAN_EVENTS_MAX: usize = 20_000;

/// Commits that are looked through for those that nobody has tied yet.
pub const GIT_WALK_COMMITS_MAX: usize = 10_000;

/// Commits that one look ties to the calls whose lines they hold; the next look goes on.
pub const GIT_TIE_COMMITS_MAX: usize = 200;

/// Files of one commit that are looked into; the others stay untied, and the event says so.
pub const GIT_TIE_FILES_MAX: usize = 4_096;

/// Bytes of files that one look reads from commits before it leaves the rest to the next.
pub const GIT_TIE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of one commit or of one folder's list in a repository.
pub const GIT_TREE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How deep the folders of a commit are looked through.
pub const GIT_TREE_DEPTH_MAX: usize = 256;

/// Commits of other repositories that an undo knows not to be its own any more.
pub const GIT_PUSHED_COMMITS_MAX: usize = 2_000;

/// Heads of branches from which commits are looked for.
pub const GIT_TIPS_MAX: usize = 1_000;

/// Packs of one object store.
pub const GIT_PACKS_MAX: usize = 1_000;

/// Differences that one packed object is put together from: as many as git itself allows.
pub const GIT_DELTAS_MAX: usize = 4_095;

/// How many times as many bytes those differences may have together as the object may have.
pub const GIT_DELTAS_TIMES_MAX: usize = 4;

/// Bytes of folders' lists that are held at once because they may be wanted again, and of commits
/// that wait to be looked into.
pub const GIT_HELD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes that one look at a repository makes from its objects, however little they take there.
pub const GIT_READ_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes of a list of steps, as a rebase keeps one, that are looked through.
pub const GIT_STEPS_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Bytes of a file of git's that names one thing.
pub const GIT_SMALL_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of the file that lists a repository's refs.
pub const GIT_PACKED_REFS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Folders that the name of a ref may have.
pub const GIT_REF_DEPTH_MAX: usize = 16;

/// Further object stores that a repository names.
pub const GIT_ALTERNATES_MAX: usize = 5;

/// Ties that one event about a commit lists; a commit with more gets further events.
pub const TIE_EVENT_ENTRIES_MAX: usize = 200;

/// Ties of one commit that are recorded at all.
pub const TIE_COMMIT_ENTRIES_MAX: usize = 4_000;

/// Commits of one call that are named where a call is shown: the latest ones.
pub const TIE_COMMITS_SHOWN_MAX: usize = 16;

/// Bytes of the system's list of users that are looked at for a name.
pub const PASSWD_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Characters of a call's path or command that one line of the log shows.
pub const LOG_WORDS_CHARS_MAX: usize = 72;

/// Characters of the reason of a refusal that one line of the log shows.
pub const LOG_REASON_CHARS_MAX: usize = 160;

/// How long a hook may take that does not know its event.
pub const HOOK_UNKNOWN_EVENT_MS_MAX: u64 = 2_000;

/// Names of a folder that are looked at for hooks of others.
pub const HOOK_FOLDER_NAMES_MAX: usize = 2_000;

/// Intents that a client is told of at its start.
pub const HOOK_INTENTS_SHOWN_MAX: usize = 8;

/// Bytes of the note that says how a long-running command ended.
pub const EXIT_NOTE_BYTES_MAX: u64 = 16;

/// How long the output of a tried program is waited for at least once it has ended.
pub const TRIAL_GRACE_MS: u64 = 100;

/// Bytes of a file with records that is taken in at once.
pub const TRACE_IMPORT_BYTES_MAX: usize = SIDECAR_BYTES_MAX * 16;

/// Characters of a commit's id that people are shown.
pub const SHORT_ID_CHARS: usize = 8;
