use tagout_gate::lifecycle::{Declared, Executing, Execution, RolledBack};

fn completes_unstarted(execution: Execution<Declared>) {
    let _ = execution.complete();
}

fn aborts_for_good(execution: Execution<Executing>) -> Execution<RolledBack> {
    execution.abort()
}

fn main() {}
