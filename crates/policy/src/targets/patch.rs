//! The files that a patch touches: every one of them, or the statement that some are unknown.

use tagout_vocab::limits::TARGETS_MAX;

use super::diff;
use super::effects::Touch;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// Every file that a patch touches. A patch that names none is not understood.
pub(super) fn touches(text: &str) -> Vec<Touch> {
    let mut touches = read(text.lines());
    // Some programs break lines at more characters than others. A patch that means something else
    // to them is not understood.
    if text.contains(is_other_break) && read(text.split(is_any_break)) != touches {
        touches.push(Touch::Unknown(
            "the patch holds unusual line breaks".to_owned(),
        ));
    }
    if touches.is_empty() {
        touches.push(Touch::Unknown("the patch names no file".to_owned()));
    }
    touches
}

fn is_other_break(c: char) -> bool {
    matches!(
        c,
        '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn is_any_break(c: char) -> bool {
    c == '\n' || is_other_break(c)
}

fn read<'t>(lines: impl Iterator<Item = &'t str> + Clone) -> Vec<Touch> {
    let opening = lines.clone().find(|line| !line.trim().is_empty());
    let Some(opening) = opening.map(str::trim) else {
        return Vec::new();
    };
    if opening.starts_with(BEGIN) || heredoc_word(opening).is_some() {
        Envelope::default().read(lines)
    } else {
        diff::touches(lines)
    }
}

/// The closing word of a line that opens a here-document and does nothing else.
fn heredoc_word(line: &str) -> Option<&str> {
    let (command, word) = line.split_once("<<")?;
    let command = command.trim();
    let simple = command
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let word = word.trim_start_matches('-').trim();
    let bare = word
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
        .or_else(|| {
            word.strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'))
        })
        .unwrap_or(word);
    let named = !bare.is_empty() && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (simple && named).then_some(bare)
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Part {
    #[default]
    Before,
    /// Right after the head of an update, where a move may follow.
    UpdateHead,
    Update,
    Add,
    /// Where only another head may follow.
    Between,
    After,
}

/// Reads the `*** Begin Patch` form.
#[derive(Debug, Default)]
struct Envelope<'t> {
    part: Part,
    touches: Vec<Touch>,
    closing: Option<&'t str>,
}

impl<'t> Envelope<'t> {
    fn read(mut self, lines: impl Iterator<Item = &'t str>) -> Vec<Touch> {
        for line in lines {
            self.take(line);
            if self.touches.len() > TARGETS_MAX {
                break;
            }
        }
        if self.part != Part::After {
            self.unknown("the patch has no end");
        }
        self.touches
    }

    fn unknown(&mut self, what: &str) {
        let touch = Touch::Unknown(what.to_owned());
        if self.touches.last() != Some(&touch) {
            self.touches.push(touch);
        }
    }

    fn take(&mut self, line: &'t str) {
        let text = line.trim();
        match self.part {
            Part::Before => self.before(text),
            Part::After => {
                if !text.is_empty() && self.closing.take() != Some(text) {
                    self.unknown("something follows the patch");
                }
            }
            Part::UpdateHead | Part::Update | Part::Add | Part::Between => self.within(line, text),
        }
    }

    fn before(&mut self, text: &'t str) {
        if text == BEGIN {
            self.part = Part::Between;
        } else if let Some(word) = heredoc_word(text).filter(|_| self.closing.is_none()) {
            self.closing = Some(word);
        } else if !text.is_empty() {
            self.unknown("something stands before the patch");
        }
    }

    fn within(&mut self, line: &str, text: &str) {
        let is_change = line.starts_with(['+', '-']);
        if text == END && !is_change {
            self.part = Part::After;
            return;
        }
        // Programs differ in whether a head may be indented; counting it is the careful reading.
        if !is_change && self.head(text) {
            return;
        }
        let fits = match self.part {
            Part::Add => line.starts_with('+') || text.is_empty(),
            Part::UpdateHead | Part::Update => {
                line.is_empty()
                    || line.starts_with([' ', '+', '-', '\t'])
                    || line.starts_with("@@")
                    || text == "*** End of File"
            }
            Part::Between | Part::Before | Part::After => text.is_empty(),
        };
        if !fits {
            self.unknown("a line of the patch is not understood");
        }
        if self.part == Part::UpdateHead && !text.is_empty() {
            self.part = Part::Update;
        }
    }

    /// Takes a line that names a file; false for any other line.
    fn head(&mut self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix("*** ") else {
            return false;
        };
        let Some((verb, path)) = rest.split_once(':') else {
            return false;
        };
        let name = path.strip_prefix(' ').unwrap_or(path);
        let (touch, part) = match verb {
            "Add File" => (Touch::Write(name.to_owned()), Part::Add),
            "Update File" => (Touch::Write(name.to_owned()), Part::UpdateHead),
            "Delete File" => (Touch::Delete(name.to_owned()), Part::Between),
            "Move to" => return self.moved(name),
            _ => return false,
        };
        if name.trim() != name || name.is_empty() {
            self.unknown("a file's name in the patch is not understood");
        }
        self.touches.push(touch);
        self.part = part;
        true
    }

    fn moved(&mut self, name: &str) -> bool {
        let source = match self.touches.last() {
            Some(Touch::Write(from)) if self.part == Part::UpdateHead => Some(from.clone()),
            _ => None,
        };
        let clean = name.trim() == name && !name.is_empty();
        match source {
            Some(from) if clean => {
                self.touches.pop();
                self.touches.push(Touch::Move(from, name.to_owned()));
            }
            _ => {
                self.touches.push(Touch::Write(name.to_owned()));
                self.unknown("a move in the patch is not understood");
            }
        }
        self.part = Part::Update;
        true
    }
}
