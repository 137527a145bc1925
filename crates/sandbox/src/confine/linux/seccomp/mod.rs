//! Seccomp: the system calls that a command may not make.
//!
//! Two filters. The first is written out: it checks the architecture and turns away what the second
//! can't express. The second is compiled from the tables.

mod rules;

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch, apply_filter, sock_filter,
};

use super::wire::{Failed, Spec};

/// The compiled filters of one run.
#[derive(Debug)]
pub(super) struct Filters {
    gate: BpfProgram,
    table: BpfProgram,
}

/// Compiles the filters for this spec.
pub(super) fn compile(spec: &Spec) -> Result<Filters, Failed> {
    Ok(Filters {
        gate: gate(),
        table: table(spec).map_err(|error| failed(&error))?,
    })
}

/// Puts the filters on this process and all that it starts.
pub(super) fn apply(filters: &Filters) -> Result<(), Failed> {
    for program in [&filters.gate, &filters.table] {
        apply_filter(program).map_err(|error| Failed {
            step: format!("seccomp: {error}"),
            errno: libc::EOPNOTSUPP,
        })?;
    }
    Ok(())
}

fn failed(error: &seccompiler::BackendError) -> Failed {
    Failed {
        step: format!("seccomp: {error}"),
        errno: libc::EINVAL,
    }
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: (TargetArch, u32) = (TargetArch::x86_64, 0xc000_003e);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: (TargetArch, u32) = (TargetArch::aarch64, 0xc000_00b7);
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: (TargetArch, u32) = (TargetArch::riscv64, 0xc000_00f3);

fn table(spec: &Spec) -> Result<BpfProgram, seccompiler::BackendError> {
    let rules: BTreeMap<i64, Vec<SeccompRule>> = rules::for_spec(spec)?;
    SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        ARCHITECTURE.0,
    )?
    .try_into()
}

/// Kills whoever calls in another architecture's convention, says «no such call» to the numbers of
/// x32 and to `clone3`, whose flags lie in memory where no filter sees them; libraries then fall
/// back to `clone`, whose flags can be seen.
fn gate() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const EQUAL: u16 = 0x15;
    const AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const ARCHITECTURE_OFFSET: u32 = 4;
    const X32_BIT: u32 = 0x4000_0000;
    const KILL: u32 = 0x8000_0000;
    const ALLOW: u32 = 0x7fff_0000;
    const ERRNO: u32 = 0x0005_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(u32::MAX);
    vec![
        step(LOAD, 0, 0, ARCHITECTURE_OFFSET),
        step(EQUAL, 1, 0, ARCHITECTURE.1),
        step(RETURN, 0, 0, KILL),
        step(LOAD, 0, 0, 0),
        step(AT_LEAST, 1, 0, X32_BIT),
        step(EQUAL, 0, 1, clone3),
        step(RETURN, 0, 0, ERRNO | libc::ENOSYS.unsigned_abs()),
        step(RETURN, 0, 0, ALLOW),
    ]
}
