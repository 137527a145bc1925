//! A filter that looks the call's number up by halving.
//!
//! When a filter is put on a process, the kernel tries it with every number there is, so that calls
//! that are allowed whatever their arguments cost nothing later. Asking number after number makes
//! that the dearest step of a start.

use seccompiler::{BpfProgram, sock_filter};

/// What becomes of a call.
#[derive(Debug)]
pub(super) enum Leaf {
    /// It fails with this error.
    Refused(i32),
    /// This filter decides.
    Asked(BpfProgram),
}

const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const X32_BIT: u32 = 0x4000_0000;
const KILL: u32 = 0x8000_0000;
const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;

const fn step(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

const fn refused(error: i32) -> sock_filter {
    step(RETURN, 0, 0, ERRNO | error.unsigned_abs())
}

/// The whole filter: the architecture, the numbers of x32, then what is known of a number. A number
/// that nothing is known of is allowed.
pub(super) fn program(architecture: u32, mut leaves: Vec<(u32, Leaf)>) -> BpfProgram {
    leaves.sort_by_key(|(number, _)| *number);
    let mut program = vec![
        step(LOAD, 0, 0, ARCHITECTURE_OFFSET),
        step(EQUAL, 1, 0, architecture),
        step(RETURN, 0, 0, KILL),
        step(LOAD, 0, 0, NUMBER_OFFSET),
        step(AT_LEAST, 0, 1, X32_BIT),
        refused(libc::ENOSYS),
    ];
    program.extend(halved(&leaves));
    program
}

fn halved(leaves: &[(u32, Leaf)]) -> BpfProgram {
    let (below, rest) = leaves.split_at(leaves.len() / 2);
    let (number, leaf) = match (below, rest) {
        ([], []) => return vec![step(RETURN, 0, 0, ALLOW)],
        ([], [(number, leaf), ..]) => (*number, leaf),
        (_, [(number, _), ..]) => {
            let (below, rest) = (halved(below), halved(rest));
            let over = u32::try_from(below.len()).unwrap_or(u32::MAX);
            let mut program = vec![step(AT_LEAST, 0, 1, *number), step(JUMP, 0, 0, over)];
            program.extend(below);
            program.extend(rest);
            return program;
        }
        (_, []) => return halved(below),
    };
    let mut program = vec![step(EQUAL, 1, 0, number), step(RETURN, 0, 0, ALLOW)];
    match leaf {
        Leaf::Refused(error) => program.push(refused(*error)),
        Leaf::Asked(filter) => program.extend(filter.iter().cloned()),
    }
    program
}
