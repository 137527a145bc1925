//! What a person can change so that a step of the setup works.

/// The first version of Landlock that holds writing by truncation; without it a writable handle is
/// not needed to empty a file.
pub(crate) const LANDLOCK_ABI_MIN: u32 = 3;

/// For kernels without Landlock, or with an old one.
pub(crate) const LANDLOCK: &str = "use Linux 6.2 or newer with Landlock among the security modules \
    (`lsm=landlock,…` on the kernel's command line)";

/// For the lane without name spaces where there is a better one.
pub(super) const BARE_SPARE: &str = "nothing: it is used only where no lane above can be had and \
    `isolation: {accept: none}` stands in your own policy";

/// For the lane without name spaces where it is the only one for commands that write.
pub(super) const BARE_ALONE: &str = "until then `isolation: {accept: none}` in your own policy \
    lets commands run this way, and without it they are refused";

/// Which words of a step lead to which remedy; the first that fits.
const BY_STEP: &[(&str, &str)] = &[
    (
        "name spaces (clone)",
        "allow user name spaces: `sysctl user.max_user_namespaces=15000`, and on Debian \
         `kernel.unprivileged_userns_clone=1`",
    ),
    (
        "id maps",
        "allow user name spaces for this program: on Ubuntu `sysctl \
         kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile with `userns`",
    ),
    (
        "private mounts",
        "allow mounts in user name spaces: on Ubuntu `sysctl \
         kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile with `userns`",
    ),
    (
        "/proc",
        "run outside of the container, or start it so that /proc is not masked (`--security-opt \
         systempaths=unconfined`)",
    ),
    (
        "overlay",
        "keep Tagout's state on a file system that can be an upper layer, such as ext4, xfs, btrfs \
         or tmpfs, and not on an overlay itself; Linux 5.11 or newer",
    ),
    ("Landlock", LANDLOCK),
    (
        "seccomp",
        "use a kernel with CONFIG_SECCOMP_FILTER, on x86-64, arm64 or riscv64",
    ),
    (
        "read-only",
        "use Linux 5.12 or newer, where mounts can be made read-only recursively",
    ),
    (
        "helper",
        "start Tagout from a program whose main function begins with `serve_if_helper`",
    ),
];

/// The remedy for a step.
pub(super) fn of(step: &str) -> String {
    BY_STEP
        .iter()
        .find(|(words, _)| step.contains(words))
        .map_or(
            "run `tagout doctor` as the user who runs the agent",
            |(_, remedy)| remedy,
        )
        .to_owned()
}
