//! The environment of a confined command, rebuilt from an allowlist.

use std::ffi::{OsStr, OsString};

/// What programs need to find their files, to speak a language and to draw on a terminal. A name,
/// or a prefix that ends in `*`.
pub const USUAL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CI",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUST_BACKTRACE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "SOURCE_DATE_EPOCH",
];

/// What every confined command gets, whatever was given: no program waits for a pager or an answer,
/// git takes no locks while it reads and leaves no process behind that tidies its objects, and
/// temporary files go to the session's own folder.
const SET: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "gc.auto"),
    ("GIT_CONFIG_VALUE_0", "0"),
    ("TMPDIR", "/tmp"),
];

/// Names that make programs load code or follow someone else's settings: never kept, not even where
/// an allowlist names them.
const NEVER: &[&str] = &[
    "LD_*",
    "DYLD_*",
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "BASH_ENV",
    "ENV",
    "BASH_FUNC_*",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "NODE_OPTIONS",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "LESSOPEN",
    "LESSCLOSE",
    "GIT_CONFIG*",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_PROXY_COMMAND",
    "GIT_TEMPLATE_DIR",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DOCKER_HOST",
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "XAUTHORITY",
];

/// Keeps of the given variables those whose name is in `allow` (a name, or a prefix ending in `*`),
/// and sets what every confined command gets. Names that make programs load code are never kept.
pub fn rebuild(
    given: impl IntoIterator<Item = (OsString, OsString)>,
    allow: &[&str],
) -> Vec<(OsString, OsString)> {
    let fixed = |name: &OsStr| SET.iter().any(|(set, _)| name == *set);
    let kept = given
        .into_iter()
        .filter(|(name, _)| is_listed(name, allow) && !is_listed(name, NEVER) && !fixed(name));
    let set = SET
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    kept.chain(set).collect()
}

/// The floor under every allowlist: without what makes programs load code, unless it was set here.
#[cfg(target_os = "linux")]
pub(crate) fn safe(env: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    env.iter()
        .filter(|(name, value)| {
            let own = SET.iter().any(|(set, to)| name == *set && value == *to);
            own || !is_listed(name, NEVER)
        })
        .cloned()
        .collect()
}

fn is_listed(name: &OsStr, list: &[&str]) -> bool {
    let name = name.as_encoded_bytes();
    list.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix.as_bytes()),
        None => name == pattern.as_bytes(),
    })
}

#[cfg(test)]
mod tests;
