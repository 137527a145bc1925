//! What the catalogue promises: it loads.

use super::*;

#[test]
fn loads() {
    let catalogue = Catalogue::built_in();
    if let Err(problems) = &catalogue {
        for problem in problems {
            println!("{problem}");
        }
    }
    let catalogue = catalogue.unwrap();
    assert_eq!(catalogue.native().count(), 23);
}
