//! Data: what no confined command sees.

use std::path::{Path, PathBuf};

/// Below the home folder: keys, tokens, password stores, what other programs wrote down about the
/// person.
const IN_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".password-store",
    ".local/share/keyrings",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/doctl",
    ".config/op",
    ".config/rclone",
    ".config/stripe",
    ".config/heroku",
    ".config/sops",
    ".config/age",
    ".docker",
    ".kube",
    ".helm/repository",
    ".fly",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".boto",
    ".s3cfg",
    ".databrickscfg",
    ".pypirc",
    ".npmrc",
    ".yarnrc.yml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".local/share/fish/fish_history",
    ".Xauthority",
    ".ICEauthority",
];

/// On the machine: what only the administrator may read, for runs as the administrator.
const ON_MACHINE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/kubernetes",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/kubelet",
    "/var/lib/private",
    "/var/spool/cron",
    "/var/log/journal",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/sys/fs/bpf",
    "/sys/firmware",
];

/// All of it, for this home folder.
pub(crate) fn paths(home: Option<&Path>) -> Vec<PathBuf> {
    let machine = ON_MACHINE.iter().map(PathBuf::from);
    let own = home
        .into_iter()
        .flat_map(|home| IN_HOME.iter().map(move |name| home.join(name)));
    machine.chain(own).collect()
}
