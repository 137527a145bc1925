//! Which paths reach a root.

use std::path::Path;

use super::reaches;

#[test]
fn what_reaches_a_root() {
    let root = Path::new("/home/me/code/site");
    for path in [
        "/",
        "/home",
        "/home/me/code",
        "/home/me/code/site",
        "/home/me/code/site/src/a",
        "/home/*",
        "/home/me/*/s?te",
        "/home/m*/c*e/*e",
        "/home/me/code/[a-z]ite",
        "/home/me/code/{site,other}",
        "/home/me/code/s{ite,}",
    ] {
        assert!(reaches(Path::new(path), root), "{path}");
    }
    for path in [
        "/var",
        "/home/you",
        "/home/me/code/other",
        "/home/me/code/sit",
        "/home/me/code/site2",
        "/home/me/*/other",
        "/home/me/code/s??",
        "/home/me/code/*x",
        "/home/me/code/x{site}",
    ] {
        assert!(!reaches(Path::new(path), root), "{path}");
    }
}
