//! The linker's map: which piece of which file lies at an address, and how the linker is asked for
//! that piece.

use std::collections::BTreeMap;

/// The pieces of a program's code by their first address.
#[derive(Debug)]
pub(super) struct Map {
    pieces: BTreeMap<u64, Piece>,
}

#[derive(Debug)]
struct Piece {
    end: u64,
    file: String,
    section: String,
}

impl Map {
    /// Reads a map as LLVM's linker writes it: a line that ends with `FILE:(SECTION)` tells where a
    /// piece lies and how long it is; the others tell of what is larger or smaller.
    pub(super) fn read(text: &str) -> Self {
        let pieces = text.lines().filter_map(piece).collect();
        Self { pieces }
    }

    /// How the linker is asked for the piece that an address lies in; `None` for what can't be
    /// moved by itself.
    pub(super) fn pattern(&self, address: u64) -> Option<String> {
        let (_, piece) = self.pieces.range(..=address).next_back()?;
        if address >= piece.end {
            return None;
        }
        let name = piece.section.strip_prefix(".text")?;
        whole_file(&piece.file).or_else(|| named(name.strip_prefix('.')?))
    }
}

fn piece(line: &str) -> Option<(u64, Piece)> {
    let (before, section) = line.strip_suffix(')')?.rsplit_once(":(")?;
    let mut words = before.split_whitespace();
    let from = u64::from_str_radix(words.next()?, 16).ok()?;
    let size = u64::from_str_radix(words.nth(1)?, 16).ok()?;
    let piece = Piece {
        end: from.checked_add(size)?,
        file: words.last()?.to_owned(),
        section: section.to_owned(),
    };
    (section.starts_with(".text") && size > 0).then_some((from, piece))
}

/// A file of the C library or of the compiler's beginning: its functions have no pieces of their
/// own, and it is small.
fn whole_file(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    if let Some((archive, member)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        // A library's version may stand in its name.
        let library = archive.strip_suffix(".a")?.split('-').next()?;
        return Some(format!("{library}*.a:{member}"));
    }
    name.starts_with("crt").then(|| name.to_owned())
}

/// The name of a function without what changes from build to build.
fn named(name: &str) -> Option<String> {
    let name = name.strip_prefix("unlikely.").unwrap_or(name);
    let name = name.split_once(".llvm.").map_or(name, |(name, _)| name);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_.$".contains(letter);
    if !name.chars().all(is_plain) {
        return None;
    }
    let mut pattern = String::new();
    let mut rest = name;
    // A crate is written `Cs` + its fingerprint + `_` + its name.
    while let Some((before, after)) = rest.split_once("Cs") {
        pattern.push_str(before);
        pattern.push_str("Cs");
        let end = after.find(|letter: char| !letter.is_ascii_alphanumeric());
        match end.map(|end| after.split_at(end)) {
            Some((_, named)) if named.starts_with('_') => {
                pattern.push('*');
                rest = named;
            }
            Some(_) | None => rest = after,
        }
    }
    pattern.push_str(rest);
    Some(by_anyone(pattern))
}

/// A generic function's name ends with the crate that it was made in. Of several crates that made
/// it, builds choose differently.
fn by_anyone(mut pattern: String) -> String {
    let Some((before, last)) = pattern.rsplit_once("Cs*_") else {
        return pattern;
    };
    let digits = last.bytes().take_while(u8::is_ascii_digit).count();
    let (length, name) = last.split_at(digits);
    let name = name.strip_prefix('_').unwrap_or(name);
    if length.parse() == Ok(name.len()) {
        pattern.truncate(before.len() + "Cs*".len());
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::{Map, named};

    const MAP: &str = "\
             VMA              LMA     Size Align Out     In      Symbol
         1064c90          1064c90   1b37c3    16 .text.first
         1064c90          1064c90       12    16         /d/libstd-d1.rlib(std-d1.o):(.text._RNvCsAb_3std4init)
         1064c90          1064c90       12     1                 _RNvCsAb_3std4init
         1064c90          1064c90       12     1                 _RNvCsCd_5other5alias
         1064ca2          1064ca2       34     1         /d/tagout.rcgu.o:(.text.main)
         1218480          1218480       31    16         /usr/lib/../lib/crt1.o:(.text)
         1c75e30          1c75e30     2297    16         /usr/lib/libc.a(libc-start.o):(.text)
         1dc2138          1dc2138       30     8         /usr/lib/libc.a(libc-start.o):(.data)
";

    #[test]
    fn an_address_leads_to_its_piece() {
        let map = Map::read(MAP);
        let asked = |address| map.pattern(address);
        // An alias lies where the piece of another name does.
        assert_eq!(asked(0x0106_4c91).as_deref(), Some("_RNvCs*_3std4init"));
        assert_eq!(asked(0x0106_4ca2).as_deref(), Some("main"));
        assert_eq!(asked(0x0121_8480).as_deref(), Some("crt1.o"));
        assert_eq!(asked(0x01c7_7000).as_deref(), Some("libc*.a:libc-start.o"));
        for nowhere in [0, 0x0106_4cd6, 0x01dc_2138] {
            assert_eq!(asked(nowhere), None);
        }
    }

    #[test]
    fn fingerprints_of_crates_are_left_open() {
        let name = "_RNvMs_NtCs5oyWUJmDGWm_12tagout_vocab6digestNtB4_6Digest2of.llvm.99";
        let open = "_RNvMs_NtCs*_12tagout_vocab6digestNtB4_6Digest2of";
        assert_eq!(named(name).as_deref(), Some(open));
        assert_eq!(
            named("unlikely.sqlite3_free").as_deref(),
            Some("sqlite3_free")
        );
        assert_eq!(named("a name"), None);
        let made_in = |crate_name| named(&format!("_RINvCsAb_4core3popECsCd_{crate_name}"));
        assert_eq!(
            made_in("6tagout").as_deref(),
            Some("_RINvCs*_4core3popECs*")
        );
        let inside = "_RINvCs*_4core3popECs*_6tagout3run";
        assert_eq!(made_in("6tagout3run").as_deref(), Some(inside));
    }
}
