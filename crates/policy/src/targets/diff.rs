//! The files that a unified diff touches, in git's form or the plain one.

use tagout_vocab::limits::TARGETS_MAX;

use super::effects::Touch;

/// Lines of git's extended headers that name no file.
const SILENT: [&str; 5] = [
    "index ",
    "similarity index ",
    "dissimilarity index ",
    "old mode ",
    "new mode ",
];

/// Every file that the diff touches.
pub(super) fn touches<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<Touch> {
    let mut reader = Reader::default();
    for line in lines {
        reader.take(line);
        if reader.touches.len() > TARGETS_MAX {
            break;
        }
    }
    reader.close();
    reader.touches
}

/// What one file's section has said so far.
#[derive(Debug, Default)]
struct Section {
    git: Option<(String, String)>,
    git_unread: bool,
    old: Option<Name>,
    new: Option<Name>,
    rename: (Option<String>, Option<String>),
    copy: (Option<String>, Option<String>),
    deletes: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Name {
    Nothing,
    File(String),
}

#[derive(Debug, Default)]
struct Reader {
    touches: Vec<Touch>,
    section: Option<Section>,
    // Lines of the open hunk that are still to come.
    old_left: usize,
    new_left: usize,
    // Whether the last line of the hunk looked like the old name of another file.
    named: bool,
}

impl Reader {
    fn unknown(&mut self, what: &str) {
        let touch = Touch::Unknown(what.to_owned());
        if self.touches.last() != Some(&touch) {
            self.touches.push(touch);
        }
    }

    fn take(&mut self, line: &str) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if self.old_left > 0 || self.new_left > 0 {
            self.hunk_line(line);
        } else if !self.header(line) && !line.trim().is_empty() && !line.starts_with('\\') {
            self.unknown("a line of the diff is not understood");
        }
    }

    fn hunk_line(&mut self, line: &str) {
        // A program that does not count lines would take these two for the names of a file.
        if self.named && line.starts_with("+++ ") {
            self.unknown("a hunk of the diff holds what looks like the names of a file");
        }
        self.named = line.starts_with("--- ");
        let (old, new) = match line.chars().next() {
            Some(' ') | None => (1, 1),
            Some('+') => (0, 1),
            Some('-') => (1, 0),
            Some('\\') => (0, 0),
            Some(_) => (usize::MAX, 0),
        };
        let left = self
            .old_left
            .checked_sub(old)
            .zip(self.new_left.checked_sub(new));
        if left.is_none() {
            self.unknown("a hunk of the diff does not hold the lines that it announces");
        }
        (self.old_left, self.new_left) = left.unwrap_or_default();
        if left.is_none() {
            self.header(line);
        }
    }

    fn header(&mut self, line: &str) -> bool {
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.close();
            let git = git_names(names);
            self.section = Some(Section {
                git_unread: git.is_none(),
                git,
                ..Section::default()
            });
            return true;
        }
        if let Some(name) = line.strip_prefix("--- ") {
            self.old_name(name);
            return true;
        }
        if let Some(name) = line.strip_prefix("+++ ") {
            self.new_name(name);
            return true;
        }
        if let Some(range) = line.strip_prefix("@@ ") {
            return self.hunk(range);
        }
        self.extended(line)
    }

    fn old_name(&mut self, text: &str) {
        let in_git = self
            .section
            .as_ref()
            .is_some_and(|open| open.git.is_some() || open.git_unread);
        let taken = self.section.as_ref().is_some_and(|open| open.old.is_some());
        // In a plain diff each pair of names opens a section of its own.
        if taken || !in_git {
            self.close();
        }
        let name = file_name(text);
        if name.is_none() {
            self.unknown("a file's name in the diff is not understood");
        }
        self.section.get_or_insert_default().old = name;
    }

    fn new_name(&mut self, text: &str) {
        let name = file_name(text);
        let lacks_old = self.section.as_ref().is_none_or(|open| open.old.is_none());
        if name.is_none() || lacks_old {
            self.unknown("a file's name in the diff is not understood");
        }
        self.section.get_or_insert_default().new = name;
    }

    fn hunk(&mut self, range: &str) -> bool {
        let named = self.section.as_ref().is_some_and(|open| open.new.is_some());
        let Some((old, new)) = hunk_lengths(range).filter(|_| named) else {
            return false;
        };
        (self.old_left, self.new_left) = (old, new);
        true
    }

    /// Git's further lines between the names of a section and its hunks.
    fn extended(&mut self, line: &str) -> bool {
        let Some(section) = &mut self.section else {
            return false;
        };
        if SILENT.iter().any(|silent| line.starts_with(silent)) {
            return true;
        }
        if line.starts_with("new file mode ") || line.starts_with("create file mode ") {
            return true;
        }
        if line.starts_with("deleted file mode ") {
            section.deletes = true;
            return true;
        }
        let slots = [
            ("rename from ", &mut section.rename.0),
            ("rename to ", &mut section.rename.1),
            ("copy from ", &mut section.copy.0),
            ("copy to ", &mut section.copy.1),
        ];
        for (prefix, slot) in slots {
            if let Some(name) = line.strip_prefix(prefix) {
                *slot = unquoted(name);
                return slot.is_some();
            }
        }
        false
    }

    /// Says what the open section touches.
    fn close(&mut self) {
        let Some(section) = self.section.take() else {
            return;
        };
        if self.old_left > 0 || self.new_left > 0 {
            self.unknown("a hunk of the diff ends too early");
            (self.old_left, self.new_left) = (0, 0);
        }
        let before = self.touches.len();
        self.renames(&section);
        self.names(&section);
        self.git_header(&section, before);
        if self.touches.len() == before {
            self.unknown("a part of the diff names no file");
        }
    }

    fn renames(&mut self, section: &Section) {
        match (&section.rename.0, &section.rename.1) {
            (Some(from), Some(to)) => self.touches.push(Touch::Move(from.clone(), to.clone())),
            (None, None) => {}
            _ => self.unknown("a rename in the diff is not complete"),
        }
        match (&section.copy.0, &section.copy.1) {
            (Some(from), Some(to)) => {
                self.touches.push(Touch::Read(from.clone()));
                self.touches.push(Touch::Write(to.clone()));
            }
            (None, None) => {}
            _ => self.unknown("a copy in the diff is not complete"),
        }
    }

    fn names(&mut self, section: &Section) {
        let whole = |pair: &(Option<String>, Option<String>), name: &String| match pair {
            (Some(from), Some(to)) => from == name || to == name,
            _ => false,
        };
        let told = |name: &String| whole(&section.rename, name) || whole(&section.copy, name);
        match (&section.old, &section.new) {
            (Some(Name::File(old)), Some(Name::Nothing)) => {
                self.touches.push(Touch::Delete(old.clone()));
            }
            (Some(Name::Nothing), Some(Name::File(new))) => {
                self.touches.push(Touch::Write(new.clone()));
            }
            (Some(Name::File(old)), Some(Name::File(new))) => {
                // Programs choose one of two differing names by rules of their own: both count.
                for name in [old, new] {
                    if !told(name) && self.touches.last() != Some(&Touch::Write(name.clone())) {
                        self.touches.push(Touch::Write(name.clone()));
                    }
                }
            }
            (None, None) => {}
            _ => self.unknown("a part of the diff has one name only"),
        }
    }

    /// The names in git's own header, where no other line named the same files.
    fn git_header(&mut self, section: &Section, before: usize) {
        if section.git_unread && self.touches.len() == before {
            self.unknown("the names in a header of the diff can't be told apart");
        }
        let Some((old, new)) = &section.git else {
            return;
        };
        for name in [old, new] {
            let known = self.touches.iter().skip(before).any(|touch| match touch {
                Touch::Read(path) | Touch::Write(path) | Touch::Delete(path) => path == name,
                Touch::Move(from, to) => from == name || to == name,
                Touch::Unknown(_) => false,
            });
            if !known {
                let name = name.clone();
                let touch = if section.deletes {
                    Touch::Delete(name)
                } else {
                    Touch::Write(name)
                };
                self.touches.push(touch);
            }
        }
    }
}

/// The two names of `a/x b/x`. Without quotes they can be told apart only if they are the same.
fn git_names(text: &str) -> Option<(String, String)> {
    if text.contains('"') {
        return None;
    }
    let halves = |(at, _)| {
        let (old, new) = text.split_at_checked(at)?;
        let (old, new) = (old.strip_prefix("a/")?, new.strip_prefix(" b/")?);
        Some((old.to_owned(), new.to_owned()))
    };
    let splits: Vec<(String, String)> = text.match_indices(" b/").filter_map(halves).collect();
    match splits.as_slice() {
        [only] => Some(only.clone()),
        several => {
            let mut same = several.iter().filter(|(old, new)| old == new);
            let found = same.next()?.clone();
            same.next().is_none().then_some(found)
        }
    }
}

/// The file named after `---` or `+++`.
fn file_name(text: &str) -> Option<Name> {
    let (name, dated) = match text.split_once('\t') {
        Some((name, _)) => (name, true),
        None => (text, false),
    };
    // Without a tab after it, a name with blanks ends in different places for different programs.
    if !dated && !name.starts_with('"') && name.contains(char::is_whitespace) {
        return None;
    }
    let name = unquoted(name)?;
    if name == "/dev/null" {
        return Some(Name::Nothing);
    }
    let stripped = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    let file = stripped.unwrap_or(&name);
    (!file.is_empty()).then(|| Name::File(file.to_owned()))
}

/// A name as git writes it: plain, or in quotes with escapes.
fn unquoted(text: &str) -> Option<String> {
    let Some(inner) = text.strip_prefix('"') else {
        return (!text.is_empty()).then(|| text.to_owned());
    };
    let inner = inner.strip_suffix('"')?;
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte == b'"' {
            return None;
        }
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let escaped = rest.next()?;
        bytes.push(match escaped {
            b'"' | b'\\' => escaped,
            b'0'..=b'3' => {
                let mut value = escaped - b'0';
                for _ in 0..2 {
                    let digit = rest.next().filter(|digit| (b'0'..=b'7').contains(digit))?;
                    value = value.checked_mul(8)?.checked_add(digit - b'0')?;
                }
                value
            }
            // The other escapes are control characters, which no path here may hold.
            _ => return None,
        });
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|name| !name.is_empty())
}

/// The number of old and new lines of `-a,b +c,d @@ …`.
fn hunk_lengths(range: &str) -> Option<(usize, usize)> {
    let (ranges, _) = range.split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    let length = |part: &str| match part.split_once(',') {
        Some((start, length)) => start.parse::<usize>().ok().and(length.parse().ok()),
        None => part.parse::<usize>().ok().map(|_| 1),
    };
    Some((
        length(old.strip_prefix('-')?)?,
        length(new.strip_prefix('+')?)?,
    ))
}
