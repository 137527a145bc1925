//! Reads the maps that others keep: events, lists by intent, tables.

/// What a line of a map says.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub struct Mapping {
    /// The intent.
    pub intent: String,
    /// The file or the pattern.
    pub path: String,
    /// The symbol, where one is named.
    pub symbol: Option<String>,
}

/// The columns of a table that matter.
#[derive(Clone, Copy, Default)]
struct Columns {
    intent: Option<usize>,
    path: Option<usize>,
}

/// Reads a map in any of the shapes in which it is found. It is a view and formatters damage it,
/// so lines that say nothing are passed over.
pub fn read(text: &str) -> Vec<Mapping> {
    let mut found = Vec::new();
    let mut heading = None;
    let mut columns = Columns::default();
    for line in text.lines().map(str::trim) {
        if let Some(title) = line.strip_prefix("##") {
            heading = intent_of(title.trim_start_matches('#').trim());
            columns = Columns::default();
        } else if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            found.extend(bullet(item, heading.as_deref()));
        } else if line.starts_with('|') {
            row(line, heading.as_deref(), &mut columns, &mut found);
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The intent that a heading names: after a time, before a name.
fn intent_of(title: &str) -> Option<String> {
    let parts = title.split(" - ").map(str::trim);
    let part = parts.into_iter().find(|part| !is_time(part))?;
    let id = part.split([':', ' ']).next()?.trim_matches('`');
    (!id.is_empty()).then(|| id.to_owned())
}

fn is_time(text: &str) -> bool {
    text.get(..4)
        .is_some_and(|year| year.bytes().all(|byte| byte.is_ascii_digit()))
        && text.get(4..5) == Some("-")
}

fn bullet(item: &str, heading: Option<&str>) -> Option<Mapping> {
    let codes: Vec<&str> = item
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| !code.is_empty())
        .collect();
    let own = |intent: &str, path: &str, symbol: Option<&str>| Mapping {
        intent: intent.to_owned(),
        path: path.to_owned(),
        symbol: symbol.map(str::to_owned),
    };
    match (codes.as_slice(), heading) {
        // The canonical line, which needs no heading.
        ([intent, path], None) => Some(own(intent, path, None)),
        ([intent, path, symbol, ..], None) => Some(own(intent, path, Some(symbol))),
        ([path, ..], Some(intent)) => Some(own(intent, path, None)),
        ([], Some(intent)) => {
            let path = item.split(" (").next().unwrap_or(item).trim();
            is_path(path).then(|| own(intent, path, None))
        }
        ([] | [_], None) => None,
    }
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains(' ')
}

fn row(line: &str, heading: Option<&str>, columns: &mut Columns, found: &mut Vec<Mapping>) {
    let cells: Vec<&str> = line
        .trim_matches('|')
        .split('|')
        .map(|cell| cell.trim().trim_matches('`'))
        .collect();
    if cells
        .iter()
        .all(|cell| cell.chars().all(|c| "-: ".contains(c)))
    {
        return;
    }
    let named = |words: &[&str]| {
        cells.iter().position(|cell| {
            let cell = cell.to_ascii_lowercase();
            words.iter().any(|word| cell == *word)
        })
    };
    let head = Columns {
        intent: named(&["intent id", "owning intent id", "intent"]),
        path: named(&["file", "file path", "key paths", "path", "paths"]),
    };
    if head.path.is_some() {
        *columns = head;
        return;
    }
    let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).copied();
    let Some(paths) = cell(columns.path) else {
        return;
    };
    let Some(intent) = cell(columns.intent).or(heading).filter(|id| !id.is_empty()) else {
        return;
    };
    for path in paths.split(',').map(|path| path.trim().trim_matches('`')) {
        if is_path(path) {
            found.push(Mapping {
                intent: intent.to_owned(),
                path: path.to_owned(),
                symbol: None,
            });
        }
    }
}
