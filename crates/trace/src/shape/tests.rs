//! Shapes of hostile sources.

use proptest::prelude::*;

use super::Shape;
use crate::syntax::Syntax;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_have_a_shape(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        path in "a\\.(rs|py|ts|tsx|js|go|java|c|cpp|sh)",
    ) {
        let syntax = Syntax::parse(&path, &bytes).unwrap();
        let shape = Shape::of(&syntax, syntax.root());
        prop_assert_eq!(shape.hash(), Shape::of(&syntax, syntax.root()).hash());
    }
}
