//! Workspaces with a known truth: files whose every line knows who wrote it, and the operations
//! that change them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Who wrote a line: nobody knows, someone outside, or the execution with this number.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub(crate) enum Who {
    Before,
    Human,
    Agent(u32),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Line {
    pub(crate) id: u64,
    pub(crate) text: String,
    pub(crate) who: Who,
}

pub(crate) type Files = BTreeMap<String, Vec<Line>>;

/// Numbers from a seed, the same on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }

    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Lines that are everywhere.
const COMMON: &[&str] = &[
    "}",
    "    }",
    "",
    "        }",
    "    });",
    "        return Ok(());",
    "    Ok(())",
    "        continue;",
    "    let mut result = Vec::new();",
    "        count += 1;",
    "    #[test]",
    "    } else {",
    "    return None;",
    "        break;",
    "    // Nothing to do.",
    "    if value.is_none() {",
];

const WORDS: &[&str] = &[
    "alpha",
    "buffer",
    "cache",
    "delta",
    "engine",
    "frame",
    "graph",
    "handle",
    "index",
    "journal",
    "kernel",
    "lease",
    "matrix",
    "node",
    "offset",
    "packet",
    "queue",
    "range",
    "slot",
    "token",
    "update",
    "vector",
    "window",
    "yield_point",
    "zone",
];

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) files: Files,
    pub(crate) dice: Dice,
    ids: u64,
    names: u64,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut world = Self {
            files: Files::new(),
            dice: Dice::new(seed),
            ids: 0,
            names: 0,
        };
        for file in 0..5 {
            let mut lines = Vec::new();
            for _ in 0..5 {
                lines.extend(world.function(Who::Before));
            }
            world.files.insert(format!("src/file_{file}.rs"), lines);
        }
        world
    }

    pub(crate) fn line(&mut self, text: String, who: Who) -> Line {
        self.ids += 1;
        Line {
            id: self.ids,
            text,
            who,
        }
    }

    fn name(&mut self) -> String {
        self.names += 1;
        let word = *self.dice.pick(WORDS);
        format!("{word}_{}", self.names)
    }

    /// A line of code; about one in three is one of those that are everywhere.
    pub(crate) fn some_line(&mut self, who: Who) -> Line {
        let text = if self.dice.percent(33) {
            (*self.dice.pick(COMMON)).to_owned()
        } else {
            let (one, other) = (self.name(), self.name());
            let word = *self.dice.pick(WORDS);
            let number = self.dice.below(100);
            match self.dice.below(4) {
                0 => format!("    let {one} = {word}.load({other}, {number});"),
                1 => format!("    {word}.push({one}, {other}.len() + {number});"),
                2 => format!("    if {one} > {number} && {word}.holds({other}) {{"),
                _ => format!("    // The {word} of {one} is {other} by {number}."),
            }
        };
        self.line(text, who)
    }

    pub(crate) fn some_lines(&mut self, count: usize, who: Who) -> Vec<Line> {
        (0..count).map(|_| self.some_line(who)).collect()
    }

    fn function(&mut self, who: Who) -> Vec<Line> {
        let name = self.name();
        let arg = self.name();
        let mut lines = vec![self.line(format!("fn {name}({arg}: u32) -> u32 {{"), who)];
        let count = 4 + self.dice.below(6);
        lines.extend(self.some_lines(count, who));
        lines.push(self.line(format!("    {name}({arg})"), who));
        lines.push(self.line("}".to_owned(), who));
        lines.push(self.line(String::new(), who));
        lines
    }

    pub(crate) fn some_file(&mut self) -> String {
        let names: Vec<String> = self.files.keys().cloned().collect();
        self.dice.pick(&names).clone()
    }

    /// Puts lines in the place of others. A line that is replaced by itself at either end was not
    /// changed.
    pub(crate) fn splice(
        &mut self,
        file: &str,
        from: usize,
        len: usize,
        with: &[Line],
    ) -> Vec<u64> {
        let lines = self.files.get_mut(file).unwrap();
        let old: Vec<Line> = lines[from..from + len].to_vec();
        let head = old
            .iter()
            .zip(with)
            .take_while(|(a, b)| a.text == b.text)
            .count();
        let rest = old.len().min(with.len()) - head;
        let tail = old
            .iter()
            .rev()
            .zip(with.iter().rev())
            .take(rest)
            .take_while(|(a, b)| a.text == b.text)
            .count();
        let new = with[head..with.len() - tail].to_vec();
        let ids = new.iter().map(|line| line.id).collect();
        lines.splice(from + head..from + len - tail, new);
        ids
    }

    pub(crate) fn insert(&mut self, file: &str, who: Who) -> Vec<u64> {
        let at = self.dice.below(self.files[file].len() + 1);
        let with = if self.dice.percent(25) {
            self.function(who)
        } else {
            let count = 1 + self.dice.below(8);
            self.some_lines(count, who)
        };
        self.splice(file, at, 0, &with)
    }

    pub(crate) fn edit(&mut self, file: &str, who: Who) -> Vec<u64> {
        let Some((at, len)) = self.stretch(file, 4) else {
            return Vec::new();
        };
        let mut with = Vec::new();
        for place in at..at + len {
            let text = self.files[file][place].text.clone();
            // The last number of a line: a literal, a type or a variable that is used there.
            let changed = match text.rfind(|c: char| c.is_ascii_digit()) {
                Some(last) if text[..last].contains('(') && self.dice.percent(60) => {
                    let number = 1000 + self.dice.below(9000);
                    let head = text[..=last].trim_end_matches(|c: char| c.is_ascii_digit());
                    format!("{head}{number}{}", &text[last + 1..])
                }
                _ => self.some_line(who).text,
            };
            let line = self.line(changed, who);
            with.push(line);
        }
        self.splice(file, at, len, &with)
    }

    pub(crate) fn delete(&mut self, file: &str) -> Vec<u64> {
        if self.files[file].len() > 20
            && let Some((at, len)) = self.stretch(file, 6)
        {
            self.splice(file, at, len, &[]);
        }
        Vec::new()
    }

    fn stretch(&mut self, file: &str, max: usize) -> Option<(usize, usize)> {
        let all = self.files[file].len();
        let len = 1 + self.dice.below(max);
        let last = all.checked_sub(len)?;
        Some((self.dice.below(last + 1), len))
    }

    /// Cuts a block of at least three lines that no other text can be mistaken for.
    pub(crate) fn cut(&mut self, file: &str) -> Option<Vec<Line>> {
        let (at, len) = self.stretch(file, 12)?;
        let lines = self.files.get_mut(file).unwrap();
        let block = &lines[at..at + len];
        let is_telling =
            |line: &&Line| line.text.trim().len() > 12 && !COMMON.contains(&line.text.as_str());
        if block.iter().filter(is_telling).count() < 3 || lines.len() < len + 10 {
            return None;
        }
        Some(lines.drain(at..at + len).collect())
    }

    pub(crate) fn paste(&mut self, file: &str, block: Vec<Line>) -> Vec<u64> {
        let at = self.dice.below(self.files[file].len() + 1);
        let ids = block.iter().map(|line| line.id).collect();
        self.files.get_mut(file).unwrap().splice(at..at, block);
        ids
    }

    /// Renames a function wherever it is named; the files that changed.
    pub(crate) fn rename(&mut self) -> (Vec<String>, Vec<u64>) {
        let defined: Vec<String> = self
            .files
            .values()
            .flatten()
            .filter_map(|line| {
                line.text
                    .strip_prefix("fn ")?
                    .split_once('(')
                    .map(|(n, _)| n.to_owned())
            })
            .collect();
        if defined.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let old = self.dice.pick(&defined).clone();
        let new = self.name();
        let mut files = Vec::new();
        let mut ids = Vec::new();
        for (file, lines) in &mut self.files {
            let mut is_changed = false;
            for line in lines {
                let text = replace_word(&line.text, &old, &new);
                if text != line.text {
                    line.text = text;
                    ids.push(line.id);
                    is_changed = true;
                }
            }
            if is_changed {
                files.push(file.clone());
            }
        }
        (files, ids)
    }

    /// Indents a stretch, breaks long calls over lines, or puts them together again.
    pub(crate) fn reformat(&mut self, file: &str) -> Vec<u64> {
        let Some((at, len)) = self.stretch(file, 25) else {
            return Vec::new();
        };
        let block: Vec<Line> = self.files[file][at..at + len].to_vec();
        let mut with: Vec<Line> = Vec::new();
        match self.dice.below(3) {
            0 => with.extend(block.into_iter().map(|mut line| {
                if !line.text.is_empty() {
                    line.text = format!("    {}", line.text);
                }
                line
            })),
            1 => {
                for line in block {
                    let parts = break_call(&line.text);
                    if parts.len() == 1 {
                        with.push(line);
                    } else {
                        for part in parts {
                            let part = self.line(part, line.who);
                            with.push(part);
                        }
                    }
                }
            }
            _ => {
                for line in block {
                    let last = with.last_mut().filter(|last| {
                        last.text.ends_with('(')
                            && last.who == line.who
                            && !last.text.contains("//")
                    });
                    match last {
                        Some(last) => last.text.push_str(line.text.trim()),
                        None => with.push(line),
                    }
                }
            }
        }
        let ids = with.iter().map(|line| line.id).collect();
        self.files.get_mut(file).unwrap().splice(at..at + len, with);
        ids
    }

    pub(crate) fn text(&self, file: &str) -> String {
        text(&self.files[file])
    }

    /// Of a hundred lines, how many occur more than once.
    pub(crate) fn duplicates(&self) -> (usize, usize) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for line in self.files.values().flatten() {
            *counts.entry(&line.text).or_default() += 1;
        }
        let repeated = counts.values().filter(|count| **count > 1).sum();
        (repeated, counts.values().sum())
    }
}

pub(crate) fn text(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        writeln!(text, "{}", line.text).unwrap();
    }
    text
}

fn replace_word(text: &str, old: &str, new: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let end = at + old.len();
        let before = rest[..at].chars().next_back().or(out.chars().next_back());
        let is_whole =
            !before.is_some_and(is_word) && !rest[end..].chars().next().is_some_and(is_word);
        out.push_str(&rest[..at]);
        out.push_str(if is_whole { new } else { old });
        rest = &rest[end..];
    }
    out + rest
}

/// `    let a = b.load(c, 1);` over four lines, as formatters do it.
fn break_call(text: &str) -> Vec<String> {
    let whole = vec![text.to_owned()];
    let Some(inner) = text.strip_suffix(");") else {
        return whole;
    };
    let Some((head, args)) = inner.split_once('(') else {
        return whole;
    };
    let Some((one, other)) = args.split_once(", ") else {
        return whole;
    };
    let indent: String = head.chars().take_while(|c| *c == ' ').collect();
    vec![
        format!("{head}("),
        format!("{indent}    {one},"),
        format!("{indent}    {other},"),
        format!("{indent});"),
    ]
}
