//! Blocks of old and new text between conflict-like marks.

use tagout_vocab::limits::PATCH_HUNKS_MAX;

use super::{FinalBreak, Hunk, Op, Spot, unclear};
use crate::fault::Fault;

const SEARCH: &str = "<<<<<<< SEARCH";
const MIDDLE: &str = "=======";
const REPLACE: &str = ">>>>>>> REPLACE";
const START: &str = ":start_line:";
const END: &str = ":end_line:";
const RULE: &str = "-------";

/// Whether a text is written in blocks.
pub fn is_blocks(text: &str) -> bool {
    text.lines().any(|line| opens(line.trim_end()))
}

fn opens(line: &str) -> bool {
    line == SEARCH || line.strip_prefix(SEARCH) == Some(">")
}

#[derive(Debug, Default)]
enum Part {
    #[default]
    Outside,
    /// Between the opening mark and the old text, where lines about the place may stand.
    Head,
    Old,
    New,
}

#[derive(Debug, Default)]
struct Reader {
    part: Part,
    start: Option<usize>,
    lines: Vec<(Op, String)>,
    hunks: Vec<Hunk>,
}

/// Reads blocks. `near` is the line, counted from one, that stands for blocks without their own.
pub fn read_blocks(text: &str, near: Option<usize>) -> Result<Vec<Hunk>, Fault> {
    let mut reader = Reader::default();
    let mut last = 0;
    for (number, line) in (1..).zip(text.lines()) {
        reader.take(number, line, near)?;
        last = number;
    }
    match reader.part {
        Part::Outside if reader.hunks.is_empty() => {
            Err(Fault::invalid(format!("there is no `{SEARCH}` block")))
        }
        Part::Outside => Ok(reader.hunks),
        Part::Head | Part::Old | Part::New => {
            Err(unclear(last, "a block has no end (`>>>>>>> REPLACE`)"))
        }
    }
}

impl Reader {
    fn take(&mut self, number: usize, line: &str, near: Option<usize>) -> Result<(), Fault> {
        let mark = line.trim_end();
        match self.part {
            Part::Outside if opens(mark) => self.part = Part::Head,
            Part::Outside if mark.is_empty() => {}
            Part::Outside => return Err(unclear(number, "stands outside of any block")),
            Part::Head if mark.starts_with(START) => {
                let digits = mark.trim_start_matches(START).trim();
                let start = digits.parse::<usize>().ok().filter(|line| *line > 0);
                let start = start.ok_or_else(|| unclear(number, "is no line number"))?;
                self.start = Some(start);
            }
            Part::Head if mark.starts_with(END) => {}
            Part::Head if mark == RULE => self.part = Part::Old,
            Part::Head | Part::Old if mark == MIDDLE => self.part = Part::New,
            Part::Head | Part::Old => {
                self.part = Part::Old;
                self.line(number, Op::Remove, line)?;
            }
            Part::New if mark == REPLACE => self.close(number, near)?,
            Part::New => self.line(number, Op::Add, line)?,
        }
        Ok(())
    }

    /// A line of text. A backslash before a mark makes it text; a bare mark has no place here.
    fn line(&mut self, number: usize, op: Op, line: &str) -> Result<(), Fault> {
        let is_mark = |text: &str| {
            let text = text.trim_end();
            opens(text) || text == MIDDLE || text == REPLACE
        };
        if is_mark(line) {
            return Err(unclear(
                number,
                "is a mark in the wrong place; write a backslash before it if it is text",
            ));
        }
        let text = line.strip_prefix('\\').filter(|rest| is_mark(rest));
        self.lines.push((op, text.unwrap_or(line).to_owned()));
        Ok(())
    }

    fn close(&mut self, number: usize, near: Option<usize>) -> Result<(), Fault> {
        if self.hunks.len() >= PATCH_HUNKS_MAX {
            return Err(unclear(number, "there are too many blocks"));
        }
        let lines = std::mem::take(&mut self.lines);
        let start = self.start.take().or(near);
        let lacks_old = lines.iter().all(|(op, _)| *op == Op::Add);
        if lacks_old && start.is_none() {
            return Err(unclear(
                number,
                "the block has no old text; give the lines around the place, or `:start_line:`",
            ));
        }
        let spot = start.map_or(Spot::Anywhere, |line| Spot::OneOf(line.saturating_sub(1)));
        self.hunks.push(Hunk {
            spot,
            lines,
            at_end: false,
            final_break: FinalBreak::default(),
        });
        self.part = Part::Outside;
        Ok(())
    }
}
