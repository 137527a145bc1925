//! The page shows what the data says.

use super::{PAGE, page};
use crate::process::root;

#[test]
fn the_page_shows_the_table() {
    let text = std::fs::read_to_string(root().join(PAGE)).unwrap();
    assert_eq!(
        page(&text).unwrap(),
        text,
        "`cargo xtask attacks` writes it"
    );
}
