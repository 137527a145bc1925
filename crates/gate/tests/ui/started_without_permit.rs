use tagout_gate::lifecycle::Execution;
use tagout_vocab::CallId;

fn main() {
    let declared = Execution::declare(CallId::new("e-1").unwrap());
    let _ = declared.validate().authorize().start();
}
