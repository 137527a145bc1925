//! Seccomp: the system calls that a command may not make.
//!
//! One filter. Its beginning is written out: it checks the architecture and turns away what the
//! tables can't express. Then it looks the call's number up; what a call is asked about its
//! arguments is compiled from the tables.

mod lookup;
mod rules;

#[cfg(test)]
mod tests;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use super::wire::{Failed, Spec};
use crate::wanted::Lane;

use self::lookup::Leaf;

/// What of a spec the filter depends on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Traits {
    namespaces: bool,
    sockets: bool,
    landlock_abi: u32,
    /// Whether changes of metadata are refused altogether.
    fixed_metadata: bool,
}

impl Traits {
    pub(super) fn of(spec: &Spec) -> Self {
        Self {
            namespaces: spec.namespaces,
            sockets: spec.sockets,
            landlock_abi: spec.landlock_abi,
            fixed_metadata: spec.lane == Lane::Snapshot && !spec.laid,
        }
    }

    /// Of a command in name spaces of its own, which is what most are.
    pub(super) fn usual(landlock_abi: u32) -> Self {
        Self {
            namespaces: true,
            sockets: true,
            landlock_abi,
            fixed_metadata: false,
        }
    }
}

/// The compiled filter of one run.
#[derive(Debug)]
pub(super) struct Filter(BpfProgram);

/// Compiles the filter for a command of these traits.
pub(super) fn compile(traits: Traits) -> Result<Filter, Failed> {
    program(traits).map(Filter).map_err(|error| Failed {
        step: format!("seccomp: {error}"),
        errno: libc::EINVAL,
    })
}

/// Puts the filter on this process and all that it starts.
pub(super) fn apply(filter: &Filter) -> Result<(), Failed> {
    apply_filter(&filter.0).map_err(|error| Failed {
        step: format!("seccomp: {error}"),
        errno: libc::EOPNOTSUPP,
    })
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: (TargetArch, u32) = (TargetArch::x86_64, 0xc000_003e);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: (TargetArch, u32) = (TargetArch::aarch64, 0xc000_00b7);
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: (TargetArch, u32) = (TargetArch::riscv64, 0xc000_00f3);

/// Kills whoever calls in another architecture's convention, says «no such call» to the numbers of
/// x32 and to `clone3`, whose flags lie in memory where no filter sees them; libraries then fall
/// back to `clone`, whose flags can be seen. The rest is looked up.
fn program(traits: Traits) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut leaves = Vec::new();
    for (number, rules) in rules::for_traits(traits)? {
        let leaf = if rules.is_empty() {
            Leaf::Refused(libc::EPERM)
        } else {
            Leaf::Asked(asked(number, rules)?)
        };
        leaves.push((u32::try_from(number).unwrap_or(u32::MAX), leaf));
    }
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(u32::MAX);
    leaves.push((clone3, Leaf::Refused(libc::ENOSYS)));
    Ok(lookup::program(ARCHITECTURE.1, leaves))
}

/// What is asked about the arguments of one call, as a filter of its own.
fn asked(
    number: i64,
    rules: Vec<seccompiler::SeccompRule>,
) -> Result<BpfProgram, seccompiler::BackendError> {
    SeccompFilter::new(
        [(number, rules)].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        ARCHITECTURE.0,
    )?
    .try_into()
}
