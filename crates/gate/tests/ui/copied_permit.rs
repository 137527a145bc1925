use tagout_gate::Permit;

fn copied(permit: &Permit) -> Permit {
    permit.clone()
}

fn main() {}
