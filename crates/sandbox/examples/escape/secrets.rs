//! Reading what is not the command's business.

use std::fs;

use crate::outcome::{Attempt, Outcome, any, only_if};
use crate::setting::Setting;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("secret-ssh", |setting| {
        credential(setting, ".ssh/id_ed25519")
    }),
    ("secret-ssh-list", ssh_list),
    ("secret-aws", |setting| {
        credential(setting, ".aws/credentials")
    }),
    ("secret-azure", |setting| {
        credential(setting, ".azure/token")
    }),
    ("secret-gcloud", |setting| {
        credential(setting, ".config/gcloud/credentials.db")
    }),
    ("secret-gnupg", |setting| credential(setting, ".gnupg/key")),
    ("secret-kube", |setting| credential(setting, ".kube/config")),
    ("secret-docker", |setting| {
        credential(setting, ".docker/config.json")
    }),
    ("secret-gh", |setting| {
        credential(setting, ".config/gh/hosts.yml")
    }),
    ("secret-netrc", |setting| credential(setting, ".netrc")),
    ("secret-git-credentials", |setting| {
        credential(setting, ".git-credentials")
    }),
    ("secret-npmrc", |setting| credential(setting, ".npmrc")),
    ("secret-pypirc", |setting| credential(setting, ".pypirc")),
    ("secret-cargo", |setting| {
        credential(setting, ".cargo/credentials.toml")
    }),
    ("secret-keyring", |setting| {
        credential(setting, ".local/share/keyrings/login.keyring")
    }),
    ("secret-browser", |setting| {
        credential(setting, ".mozilla/firefox/profile/logins.json")
    }),
    ("secret-shadow", |_| system_file("/etc/shadow")),
    ("secret-host-keys", |_| {
        system_file("/etc/ssh/ssh_host_ed25519_key")
    }),
    ("environment-inherited", environment_inherited),
    ("environment-loader", environment_loader),
    ("environment-agent", environment_agent),
    ("working-folder-lower", working_folder_lower),
    ("mounts-tell-state", mounts_tell_state),
];

/// The test has put a credential with its secret in there.
fn credential(setting: &Setting, name: &str) -> Outcome {
    let text = fs::read_to_string(setting.home.join(name))?;
    only_if(text.contains(&setting.secret), "it looks empty")
}

fn system_file(name: &str) -> Outcome {
    only_if(!fs::read(name)?.is_empty(), "it looks empty")
}

fn ssh_list(setting: &Setting) -> Outcome {
    let mut entries = fs::read_dir(setting.home.join(".ssh"))?;
    only_if(entries.next().is_some(), "it looks empty")
}

/// A variable of the launching process that nobody listed.
fn environment_inherited(setting: &Setting) -> Outcome {
    let found = std::env::var_os(&setting.variable).is_some();
    only_if(found, "it is not set")
}

/// Variables that make later programs load or run something.
fn environment_loader(_: &Setting) -> Outcome {
    let loaders = [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "NODE_OPTIONS",
        "PYTHONSTARTUP",
        "PERL5OPT",
        "RUBYOPT",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_CONFIG_COUNT",
        "LESSOPEN",
        "JAVA_TOOL_OPTIONS",
    ];
    let set: Vec<&str> = loaders
        .into_iter()
        .filter(|name| std::env::var_os(name).is_some())
        .collect();
    only_if(!set.is_empty(), "none is set")
}

/// Variables that lead to agents who hold keys.
fn environment_agent(_: &Setting) -> Outcome {
    let agents = [
        "SSH_AUTH_SOCK",
        "GPG_AGENT_INFO",
        "DBUS_SESSION_BUS_ADDRESS",
    ];
    let outcomes = agents.map(|name| only_if(std::env::var_os(name).is_some(), "none is set"));
    any(outcomes.into())
}

/// The folder in which the command starts must be the one that is seen by its path, not the one
/// that lies below.
fn working_folder_lower(setting: &Setting) -> Outcome {
    use std::os::unix::fs::MetadataExt as _;
    let here = fs::metadata(".")?;
    let there = fs::metadata(&setting.workspace)?;
    only_if(
        (here.dev(), here.ino()) != (there.dev(), there.ino()),
        "it is the workspace",
    )
}

/// The table of mounts names the folders that the layers lie in; names alone are no secret, but
/// what is in them must not be reachable by them.
fn mounts_tell_state(setting: &Setting) -> Outcome {
    let text = fs::read_to_string("/proc/self/mountinfo")?;
    let mut outcomes = vec![only_if(false, "no layer can be reached")];
    for part in text.split(['=', ',', ':', ' ', '\n']) {
        if part.starts_with(setting.state.to_string_lossy().as_ref()) {
            let seen = fs::read_dir(part).is_ok_and(|mut entries| entries.next().is_some());
            outcomes.push(only_if(seen, "no layer can be reached"));
        }
    }
    any(outcomes)
}
