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
    ".dockercfg",
    ".config/containers/auth.json",
    ".oci",
    ".databricks",
    ".snowflake",
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
    ".bundle/config",
    ".composer/auth.json",
    ".config/composer/auth.json",
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
    ".lesshst",
    ".viminfo",
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
    "/proc/keys",
    "/proc/key-users",
];

/// What the kernel shows to the administrator alone.
const FOR_ROOT: &[&str] = &[
    "/proc/kcore",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/kpagecgroup",
    "/proc/timer_list",
    "/proc/slabinfo",
    "/proc/vmallocinfo",
    "/proc/sched_debug",
    "/proc/sysrq-trigger",
    "/proc/acpi",
    "/proc/scsi",
];

/// What looks empty: below this home folder, where tools read settings and fail when they must not.
pub(crate) fn in_home(home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    home.into_iter()
        .flat_map(|home| IN_HOME.iter().map(move |name| home.join(name)))
}

/// What can't be opened: on the machine, where an ordinary user could not open it either.
pub(crate) fn on_machine(root: bool) -> impl Iterator<Item = PathBuf> {
    let more = if root { FOR_ROOT } else { &[] };
    ON_MACHINE.iter().chain(more).map(PathBuf::from)
}
