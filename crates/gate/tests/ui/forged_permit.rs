use tagout_gate::Permit;

fn copied(permit: &Permit) -> Permit {
    permit.clone()
}

fn main() {
    let _ = Permit { execution: todo!(), ticket: todo!(), claim: None };
}
