//! Tests of the logs of living processes.

use std::sync::atomic::{AtomicBool, Ordering};

use super::super::Store;

/// B6: a process that begins while others clean up is neither refused nor taken for a dead one.
#[test]
fn a_log_is_begun_while_others_clean_up() {
    let folder = tempfile::tempdir().unwrap();
    Store::create(folder.path()).unwrap();
    let store = Store::at(folder.path().to_owned());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    store.orphans(|_| Ok(())).unwrap();
                }
            });
        }
        let begun: Vec<_> = (0..400)
            .map(|number| {
                let running = store.begin_running(&format!("r{number}"));
                let alive = folder.path().join(format!("running/r{number}"));
                running.map(|running| (alive.exists(), running))
            })
            .collect();
        over.store(true, Ordering::Relaxed);
        for (number, one) in begun.into_iter().enumerate() {
            assert!(one.unwrap().0, "{number} lost the file that says it lives");
        }
    });
}
