//! The filter says what its tables say.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule};

use super::{ARCHITECTURE, Traits, program, rules};

const KILL: u32 = 0x8000_0000;
const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;

/// What the kernel would answer: the few instructions that filters here are made of.
fn answer(program: &BpfProgram, (arch, number): (u32, u32), arguments: [u64; 6]) -> u32 {
    let mut data = vec![number, arch, 0, 0];
    for argument in arguments {
        data.push((argument & 0xffff_ffff) as u32);
        data.push((argument >> 32) as u32);
    }
    let (mut at, mut held) = (0_usize, 0_u32);
    for _ in 0..program.len() {
        let step = &program[at];
        at += 1;
        let jump = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
        match step.code {
            0x20 => held = data[step.k as usize / 4],
            0x05 => at += step.k as usize,
            0x15 => at += jump(held == step.k),
            0x25 => at += jump(held > step.k),
            0x35 => at += jump(held >= step.k),
            0x54 => held &= step.k,
            0x06 => return step.k,
            other => panic!("no such instruction: {other:#x}"),
        }
    }
    panic!("a filter without an end");
}

fn all_traits() -> Vec<Traits> {
    let mut found = Vec::new();
    for (namespaces, fixed_metadata) in [(true, false), (true, true), (false, true)] {
        for (sockets, landlock_abi) in [(true, 9), (true, 6), (false, 6)] {
            found.push(Traits {
                namespaces,
                sockets,
                landlock_abi,
                fixed_metadata,
            });
        }
    }
    found
}

/// The tables as one filter that asks number after number.
fn plain(traits: Traits) -> BpfProgram {
    let rules: BTreeMap<i64, Vec<SeccompRule>> = rules::for_traits(traits).unwrap();
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, ARCHITECTURE.0);
    filter.unwrap().try_into().unwrap()
}

/// S2: the filter that halves says to every number what the tables say.
#[test]
fn looking_up_says_what_the_tables_say() {
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap();
    let values = [
        0,
        1,
        2,
        8,
        10,
        0x5412,
        0x541c,
        0x4008_6602,
        0o20_666,
        0o60_666,
        0o4755,
        0o755,
        0x1_0000_0000,
        0xffff_ffff,
        u64::MAX,
        0x1000_0000,
        0x2000_0000,
        0x0002_0000,
    ];
    for traits in all_traits() {
        let (found, told) = (program(traits).unwrap(), plain(traits));
        let rules = rules::for_traits(traits).unwrap();
        for number in (0..700).filter(|number| *number != clone3) {
            // What the tables say nothing of does not depend on arguments.
            let asked = rules.contains_key(&i64::from(number));
            for value in values
                .into_iter()
                .take(if asked { values.len() } else { 1 })
            {
                for place in 0..6 {
                    let mut arguments = [0; 6];
                    arguments[place] = value;
                    let call = (ARCHITECTURE.1, number);
                    assert_eq!(
                        answer(&found, call, arguments),
                        answer(&told, call, arguments),
                        "{traits:?}: call {number} with {arguments:x?}"
                    );
                }
            }
        }
    }
}

/// S2: what the tables can't express.
#[test]
fn other_conventions_are_turned_away() {
    let found = program(Traits::usual(6)).unwrap();
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap();
    let none = ERRNO | libc::ENOSYS.unsigned_abs();
    assert_eq!(answer(&found, (0x4000_0003, 1), [0; 6]), KILL);
    assert_eq!(answer(&found, (ARCHITECTURE.1, clone3), [0; 6]), none);
    assert_eq!(answer(&found, (ARCHITECTURE.1, 0x4000_0001), [0; 6]), none);
    assert_eq!(answer(&found, (ARCHITECTURE.1, u32::MAX), [0; 6]), none);
    assert_eq!(answer(&found, (ARCHITECTURE.1, 9999), [0; 6]), ALLOW);
}
