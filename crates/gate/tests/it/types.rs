//! What must not compile.

/// L1, and invariant 2: a wrong transition, a forged or copied permit, and a skipped validation do
/// not compile.
#[test]
fn slow_wrong_programs_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
