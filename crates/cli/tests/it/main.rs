//! The real binary in a throw-away folder, and what it prints.
#![allow(
    clippy::disallowed_methods,
    reason = "tests set up folders and run the binary as a person would"
)]

#[cfg(test)]
mod bad_disks;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod commits;
#[cfg(test)]
mod compliance;
#[cfg(test)]
mod confined;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod doors;
#[cfg(test)]
mod exec;
#[cfg(test)]
mod exec_ahead;
#[cfg(test)]
mod exec_corpus;
#[cfg(test)]
mod exec_everyday;
#[cfg(test)]
mod exec_folders;
#[cfg(test)]
mod exec_git;
#[cfg(test)]
mod exec_inherited;
#[cfg(test)]
mod exec_limits;
#[cfg(test)]
mod exec_parked;
#[cfg(test)]
mod exec_snapshot;
#[cfg(test)]
mod exec_undone;
#[cfg(test)]
mod exec_user;
#[cfg(test)]
mod exec_walls;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod grant;
#[cfg(test)]
mod help;
#[cfg(test)]
mod hook_failures;
#[cfg(test)]
mod hook_hostile;
#[cfg(test)]
mod hook_late;
#[cfg(test)]
mod hook_life;
#[cfg(test)]
mod hook_oracle;
#[cfg(test)]
mod hook_place;
#[cfg(test)]
mod hook_plugin;
#[cfg(test)]
mod hook_select;
#[cfg(test)]
mod hook_settings;
#[cfg(test)]
mod hook_strayed;
#[cfg(test)]
mod hook_subagents;
#[cfg(test)]
mod hook_tools;
#[cfg(test)]
mod hooked;
#[cfg(test)]
mod init;
#[cfg(test)]
mod init_asked;
#[cfg(test)]
mod inside;
#[cfg(test)]
mod install;
#[cfg(test)]
mod intent;
#[cfg(test)]
mod killed_run;
#[cfg(test)]
mod ledgers;
#[cfg(test)]
mod lessons;
#[cfg(test)]
mod log;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod own_words;
#[cfg(test)]
mod proposals;
#[cfg(test)]
mod prove;
#[cfg(test)]
mod ran;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod runtime;
#[cfg(test)]
mod seal;
#[cfg(test)]
mod stats;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod threats;
#[cfg(test)]
mod together;
#[cfg(test)]
mod trace_bulk;
#[cfg(test)]
mod traced;
#[cfg(test)]
mod undone;
#[cfg(test)]
mod verify;
#[cfg(test)]
mod views;
#[cfg(test)]
mod ways_out;
#[cfg(test)]
mod words;
