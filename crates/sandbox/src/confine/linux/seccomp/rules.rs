//! The tables: which system calls are refused, wholly or by their arguments.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompRule,
};

use super::Traits;

/// Landlock's first version that can say which sockets in the file system may be reached.
const UNIX_SOCKETS_ABI: u32 = 9;

/// Calls that `libc` has no name for on every architecture; the numbers are the same on all.
const OPEN_TREE_ATTR: i64 = 467;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

/// Refused whatever their arguments are.
const REFUSED: &[i64] = &[
    // Other processes' memory and descriptors.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // A second way to make calls, past this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Mounts and name spaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_chroot,
    // Keys, programs in the kernel, counters, page faults, handles that skip the path.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // The machine itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_set_mempolicy,
    libc::SYS_mbind,
    libc::SYS_memfd_secret,
];

/// The same, for calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS_modify_ldt,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];

/// Changes of metadata. Landlock does not hold them, so the lane without read-only mounts refuses
/// them altogether.
const METADATA: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

#[cfg(target_arch = "x86_64")]
const METADATA_HERE: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const METADATA_HERE: &[i64] = &[];

/// Shared memory, queues and semaphores of the whole machine, where no name space holds them.
const SHARED: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Calls that change how another process is run, where no name space keeps others out of sight, and
/// the argument that names it.
const OF_OTHERS: &[(i64, u8)] = &[
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
];

/// Ways to run that a program may ask for: those that only describe it, and asking which it is.
const PERSONALITIES: &[u64] = &[0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff];

/// Requests to a terminal that type on behalf of its user.
const TERMINAL_REQUESTS: &[u64] = &[0x5412, 0x541c];

/// Requests that change a file's flags, a kind of metadata.
const FLAG_REQUESTS: &[u64] = &[0x4008_6602, 0x4004_6602, 0x401c_5820];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Everything that is refused to a command of these traits.
pub(super) fn for_traits(traits: Traits) -> Result<Rules, BackendError> {
    let mut rules: Rules = REFUSED
        .iter()
        .chain(REFUSED_HERE)
        .map(|number| (*number, Vec::new()))
        .collect();
    rules.insert(libc::SYS_clone, new_namespaces()?);
    rules.insert(libc::SYS_socket, families(traits)?);
    rules.insert(libc::SYS_mknodat, device_files(2)?);
    rules.insert(libc::SYS_fchmod, set_user_id(1)?);
    rules.insert(libc::SYS_fchmodat, set_user_id(2)?);
    rules.insert(libc::SYS_fchmodat2, set_user_id(2)?);
    rules.insert(libc::SYS_renameat2, whiteouts()?);
    rules.insert(libc::SYS_prlimit64, limits_of_others()?);
    rules.insert(libc::SYS_personality, none_of(0, PERSONALITIES)?);
    #[cfg(target_arch = "x86_64")]
    {
        rules.insert(libc::SYS_mknod, device_files(1)?);
        rules.insert(libc::SYS_chmod, set_user_id(1)?);
    }
    if !traits.namespaces {
        rules.extend(SHARED.iter().map(|number| (*number, Vec::new())));
        for (number, argument) in OF_OTHERS {
            rules.insert(*number, vec![one(*argument, Len::Dword, Op::Ne, 0)?]);
        }
    }
    let mut requests = TERMINAL_REQUESTS.to_vec();
    if traits.fixed_metadata {
        requests.extend(FLAG_REQUESTS);
        for number in METADATA.iter().chain(METADATA_HERE) {
            rules.insert(*number, Vec::new());
        }
    }
    let requests = requests
        .into_iter()
        .map(|request| one(1, Len::Dword, Op::Eq, request))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_ioctl, requests);
    Ok(rules)
}

fn one(argument: u8, length: Len, op: Op, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, length, op, value)?])
}

/// `clone` with any flag that asks for a name space.
fn new_namespaces() -> Result<Vec<SeccompRule>, BackendError> {
    let flags = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    flags
        .into_iter()
        .map(|flag| {
            let flag = u64::from(flag.unsigned_abs());
            one(0, Len::Dword, Op::MaskedEq(flag), flag)
        })
        .collect()
}

/// Sockets of every family but the admitted ones: name spaces hold neither sockets in the file
/// system nor those to the virtual machine's host.
fn families(traits: Traits) -> Result<Vec<SeccompRule>, BackendError> {
    let mut admitted = Vec::new();
    if traits.sockets {
        admitted.extend([libc::AF_INET, libc::AF_INET6]);
    }
    if traits.landlock_abi >= UNIX_SOCKETS_ABI {
        admitted.push(libc::AF_UNIX);
    }
    let admitted: Vec<u64> = admitted
        .into_iter()
        .map(|family| u64::from(family.unsigned_abs()))
        .collect();
    none_of(0, &admitted)
}

/// An argument that is none of these; with an empty list every call.
fn none_of(argument: u8, admitted: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let conditions = admitted
        .iter()
        .map(|value| SeccompCondition::new(argument, Len::Dword, Op::Ne, *value))
        .collect::<Result<Vec<_>, _>>()?;
    if conditions.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![SeccompRule::new(conditions)?])
}

/// Modes that would let a program run as its owner.
fn set_user_id(argument: u8) -> Result<Vec<SeccompRule>, BackendError> {
    let bit = u64::from(libc::S_ISUID);
    Ok(vec![one(argument, Len::Dword, Op::MaskedEq(bit), bit)?])
}

/// Renaming that leaves behind what an overlay takes for «deleted».
fn whiteouts() -> Result<Vec<SeccompRule>, BackendError> {
    let flag = u64::from(libc::RENAME_WHITEOUT);
    Ok(vec![one(4, Len::Dword, Op::MaskedEq(flag), flag)?])
}

/// Setting the limits of another process: of the first one, which watches.
fn limits_of_others() -> Result<Vec<SeccompRule>, BackendError> {
    Ok(vec![SeccompRule::new(vec![
        SeccompCondition::new(0, Len::Dword, Op::Ne, 0)?,
        SeccompCondition::new(2, Len::Qword, Op::Ne, 0)?,
    ])?])
}

/// Device files, among them 0:0, which an overlay takes for «deleted».
fn device_files(argument: u8) -> Result<Vec<SeccompRule>, BackendError> {
    let mask = u64::from(libc::S_IFMT);
    [libc::S_IFCHR, libc::S_IFBLK]
        .into_iter()
        .map(|kind| one(argument, Len::Dword, Op::MaskedEq(mask), u64::from(kind)))
        .collect()
}
