//! What a patch in the `*** Begin Patch` form leaves behind, where it says so beyond doubt.

/// How such a patch begins.
const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// One file of a patch.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Patched {
    /// Its name, as the patch writes it.
    pub(crate) name: String,
    /// Its text afterwards; nothing where it is gone.
    pub(crate) text: Option<String>,
}

/// What the patch does with one file.
enum Part<'p> {
    Add(Vec<&'p str>),
    Delete,
    Update {
        to: Option<&'p str>,
        chunks: Vec<Chunk<'p>>,
    },
}

#[derive(Default)]
struct Chunk<'p> {
    old: Vec<&'p str>,
    new: Vec<&'p str>,
}

/// Every file of a patch as it will be. `None` where the patch has another form, or where more
/// than one place in a file, or none, has the lines that it replaces: programs differ then.
pub(crate) fn after(patch: &str, read: impl Fn(&str) -> Option<String>) -> Option<Vec<Patched>> {
    let mut files = Vec::new();
    for (name, part) in parts(patch)? {
        match part {
            Part::Add(lines) => files.push(file(name, Some(joined(&lines)))),
            Part::Delete => files.push(file(name, None)),
            Part::Update { to, chunks } => {
                let text = updated(&read(name)?, &chunks)?;
                if to.is_some() {
                    files.push(file(name, None));
                }
                files.push(file(to.unwrap_or(name), Some(text)));
            }
        }
    }
    (!files.is_empty()).then_some(files)
}

fn file(name: &str, text: Option<String>) -> Patched {
    let name = name.to_owned();
    Patched { name, text }
}

fn joined(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [*line, "\n"]).collect()
}

fn parts(patch: &str) -> Option<Vec<(&str, Part<'_>)>> {
    // Where lines end otherwise, programs differ in what they write.
    if patch.contains('\r') {
        return None;
    }
    let mut lines = patch.trim().lines();
    if lines.next()?.trim_end() != BEGIN {
        return None;
    }
    let mut parts: Vec<(&str, Part<'_>)> = Vec::new();
    for line in lines {
        if line.trim_end() == END {
            return Some(parts);
        }
        if let Some(name) = line.strip_prefix("*** Add File: ") {
            parts.push((name, Part::Add(Vec::new())));
        } else if let Some(name) = line.strip_prefix("*** Delete File: ") {
            parts.push((name, Part::Delete));
        } else if let Some(name) = line.strip_prefix("*** Update File: ") {
            let chunks = Vec::new();
            parts.push((name, Part::Update { to: None, chunks }));
        } else {
            let (_, part) = parts.last_mut()?;
            take(part, line)?;
        }
    }
    None
}

fn take<'p>(part: &mut Part<'p>, line: &'p str) -> Option<()> {
    match part {
        Part::Add(lines) => lines.push(line.strip_prefix('+')?),
        Part::Delete => return line.is_empty().then_some(()),
        Part::Update { to, chunks } => {
            if let Some(name) = line.strip_prefix("*** Move to: ") {
                *to = Some(name);
            } else if line.starts_with("@@") {
                chunks.push(Chunk::default());
            } else if line != "*** End of File" {
                if chunks.is_empty() {
                    chunks.push(Chunk::default());
                }
                chunks.last_mut()?.take(line)?;
            }
        }
    }
    Some(())
}

impl<'p> Chunk<'p> {
    fn take(&mut self, line: &'p str) -> Option<()> {
        if let Some(new) = line.strip_prefix('+') {
            self.new.push(new);
        } else if let Some(old) = line.strip_prefix('-') {
            self.old.push(old);
        } else {
            let both = if line.is_empty() {
                line
            } else {
                line.strip_prefix(' ')?
            };
            self.old.push(both);
            self.new.push(both);
        }
        Some(())
    }
}

/// A text with every chunk replaced, each at the only place that has its old lines.
fn updated(text: &str, chunks: &[Chunk<'_>]) -> Option<String> {
    if text.contains('\r') {
        return None;
    }
    let mut lines: Vec<&str> = text.lines().collect();
    for chunk in chunks {
        if chunk.old.is_empty() {
            return None;
        }
        let windows = lines.windows(chunk.old.len()).enumerate();
        let mut places = windows.filter(|(_, window)| *window == chunk.old.as_slice());
        let (at, _) = places.next()?;
        if places.next().is_some() {
            return None;
        }
        let end = at.checked_add(chunk.old.len())?;
        lines.splice(at..end, chunk.new.iter().copied());
    }
    Some(joined(&lines))
}

#[cfg(test)]
mod tests;
