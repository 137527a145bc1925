use tagout_gate::Permit;

fn main() {
    let _ = Permit { execution: (), ticket: (), claim: None };
}
