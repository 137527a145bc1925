//! The table against RFC-0001's diagram, and against what the types let an execution do.

use tagout_ledger::LifecycleState as L;
use tagout_vocab::CallId;

use super::{Execution, TRANSITIONS};

/// RFC-0001 §3.1, with the aborted execution always rolled back.
const DIAGRAM: [(L, L); 8] = [
    (L::Declared, L::Validated),
    (L::Declared, L::Failed),
    (L::Validated, L::Authorized),
    (L::Validated, L::Denied),
    (L::Authorized, L::Executing),
    (L::Executing, L::Completed),
    (L::Executing, L::Aborted),
    (L::Aborted, L::RolledBack),
];

fn reached(from: L) -> Vec<L> {
    let rows = TRANSITIONS.iter().filter(|row| row.from == from);
    rows.map(|row| row.to).collect()
}

/// L1: the table is the diagram, each pair once and with a cause.
#[test]
fn the_table_is_the_diagram() {
    let pairs: Vec<(L, L)> = TRANSITIONS.iter().map(|row| (row.from, row.to)).collect();
    assert_eq!(pairs, DIAGRAM);
    assert!(TRANSITIONS.iter().all(|row| !row.causes.is_empty()));
}

/// L1: every way through the types is a way through the table, and every row is walked.
#[test]
fn types_and_table_agree() {
    let declared = || Execution::declare(CallId::new("e-1").unwrap());
    let mut walked = vec![];
    let failed = declared().fail();
    walked.push((L::Declared, failed.state()));
    let validated = declared().validate();
    walked.push((L::Declared, validated.state()));
    let denied = declared().validate().deny();
    walked.push((L::Validated, denied.state()));
    let authorized = validated.authorize();
    walked.push((L::Validated, authorized.state()));
    let executing = authorized.start();
    walked.push((L::Authorized, executing.state()));
    let aborted = declared().validate().authorize().start().abort();
    walked.push((L::Executing, aborted.state()));
    walked.push((L::Aborted, aborted.roll_back().state()));
    walked.push((L::Executing, executing.complete().state()));
    walked.sort_unstable();
    let mut table: Vec<(L, L)> = TRANSITIONS.iter().map(|row| (row.from, row.to)).collect();
    table.sort_unstable();
    assert_eq!(walked, table);
}

/// L1: an aborted execution has one way on; the four ends have none.
#[test]
fn ends_are_ends() {
    assert_eq!(reached(L::Aborted), [L::RolledBack]);
    for end in [L::Completed, L::Failed, L::Denied, L::RolledBack] {
        assert!(reached(end).is_empty(), "{end:?}");
    }
}
