use tagout_gate::Permit;

/// A value of whatever type is wanted, so that only the privacy of the fields stands in the way.
fn any<T>() -> T {
    loop {}
}

fn main() {
    let _ = Permit {
        execution: any(),
        ticket: any(),
        claim: None,
    };
}
