//! Paths that no governed call may change (invariant 8), found however they are spelled.

use serde::{Deserialize, Serialize};
use tagout_vocab::WorkspacePath;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::problem::Problems;
use crate::yaml::{Fields, Node};

/// One protected run of path segments.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Guarded {
    /// The segments, folded as [`fold`] folds paths; `*` and `**` are wildcards.
    pub segments: Vec<String>,
    /// Whether what lies beneath is free.
    pub only: bool,
    /// Names directly beneath that are free, folded.
    pub except: Vec<String>,
    /// Why it is protected.
    pub why: String,
}

/// The protected paths, and the instruction files of which one block is protected.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Authority {
    /// At any depth of the workspace.
    pub workspace: Vec<Guarded>,
    /// At any depth of a path outside of it.
    pub home: Vec<Guarded>,
    /// Files that tell agents what to do.
    pub instructions: Vec<Guarded>,
    /// Of these the ones that lessons go into: the first that is there, or the last.
    pub lessons: Vec<String>,
    /// Further ones that lessons go into where they are there.
    pub lessons_also: Vec<String>,
}

impl Guarded {
    /// A protected run of segments, such as `.git/hooks`; `None` when the text holds no segment.
    pub fn new(path: &str, why: &str) -> Option<Self> {
        let segments: Vec<String> = path
            .split('/')
            .map(fold)
            .filter(|segment| !segment.is_empty())
            // Every run counts at any depth, so that this would say nothing in front.
            .skip_while(|segment| segment == "**")
            .collect();
        (!segments.is_empty()).then(|| Self {
            segments,
            only: false,
            except: Vec::new(),
            why: why.to_owned(),
        })
    }

    /// Whether the run occurs anywhere in the path.
    fn covers(&self, path: &[Segment]) -> bool {
        let Some(first) = self.segments.first() else {
            return false;
        };
        let begins = |(_, segment): &(usize, &Segment)| segment_fits(first, segment);
        path.iter().enumerate().filter(begins).any(|(start, _)| {
            let from = path.get(start..).unwrap_or_default();
            run_ends(&self.segments, from)
                .any(|end| self.takes(from.get(end..).unwrap_or_default()))
        })
    }

    /// Whether what follows the run is protected with it.
    fn takes(&self, beneath: &[Segment]) -> bool {
        let Some(first) = beneath.first() else {
            return true;
        };
        !self.only && !self.except.iter().any(|free| segment_fits(free, first))
    }

    /// Whether the path ends within the run, so that something protected may lie beneath it.
    fn begins_beneath(&self, path: &[Segment]) -> bool {
        (0..path.len()).any(|start| {
            let from = path.get(start..).unwrap_or_default();
            (1..self.segments.len())
                .any(|length| run_fits(self.segments.get(..length).unwrap_or_default(), from))
        })
    }
}

impl Authority {
    /// Why no call may change this path, if none may. It need not exist.
    pub fn workspace_reason(&self, path: &WorkspacePath) -> Option<&str> {
        reason(&self.workspace, path.as_str())
    }

    /// Why no call may change this path outside of the workspace, if none may.
    ///
    /// The home folder is not known here, so that the protected paths count at any depth.
    pub fn home_reason(&self, raw: &str) -> Option<&str> {
        reason(&self.home, raw)
    }

    /// Whether protected paths lie, or could lie, beneath this folder.
    ///
    /// Asked of what is removed or moved, and of where a folder is moved to: the path's text alone
    /// tells it, and the workspace's root always holds some.
    pub fn holds(&self, path: &WorkspacePath) -> bool {
        let segments = folded(path.as_str());
        segments.is_empty()
            || self
                .workspace
                .iter()
                .any(|guarded| guarded.begins_beneath(&segments))
    }

    /// Whether this is an instruction file, of which only Tagout's own block is protected.
    pub fn is_instruction(&self, path: &WorkspacePath) -> bool {
        reason(&self.instructions, path.as_str()).is_some()
    }
}

fn reason<'a>(list: &'a [Guarded], path: &str) -> Option<&'a str> {
    let segments = folded(path);
    let guarded = list.iter().find(|guarded| guarded.covers(&segments))?;
    Some(&guarded.why)
}

/// The segments of a path as the most forgiving file system would compare them.
fn folded(path: &str) -> Vec<Segment> {
    // A backslash separates on some systems, and a drive or a stream is set off by a colon.
    path.split(['/', '\\'])
        .map(fold)
        .filter(|segment| !segment.is_empty() && segment != "~")
        .map(|text| Segment {
            short: text.contains('~'),
            text,
        })
        .collect()
}

/// One folded segment of a path.
#[derive(Clone, Debug)]
struct Segment {
    text: String,
    // Whether it may be a short name, which is asked once and not once per protected path.
    short: bool,
}

/// Folds one segment: case, Unicode form, marks, ignorable code points, a stream's name after a
/// colon, and the dots and blanks at the end that some file systems drop.
fn fold(segment: &str) -> String {
    let folded = if segment.is_ascii() {
        segment.to_ascii_lowercase()
    } else {
        let upper: String = bare(segment).to_uppercase();
        bare(&upper.to_lowercase())
    };
    let name = folded.split(':').next().unwrap_or_default();
    name.trim_end_matches(|c: char| c == '.' || c.is_whitespace())
        .to_owned()
}

fn bare(text: &str) -> String {
    text.nfkd()
        .filter(|c| !is_combining_mark(*c) && !is_ignorable(*c))
        .collect()
}

/// Unicode's default-ignorable code points, which HFS+ and many eyes skip.
fn is_ignorable(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The lengths of the heads of `path` that the whole pattern matches.
fn run_ends<'a>(pattern: &'a [String], path: &'a [Segment]) -> impl Iterator<Item = usize> + 'a {
    let (head, tail) = parts(pattern);
    let least = head.len() + tail.map_or(0, <[String]>::len);
    // A head that does not fit leaves nothing to try, which keeps long paths cheap.
    let fits = path
        .get(..head.len())
        .is_some_and(|from| each_fits(head, from));
    let most = match (fits, tail) {
        (false, _) => 0,
        (true, None) => least + 1,
        (true, Some(_)) => path.len() + 1,
    };
    (least..most).filter(move |end| {
        let from = path.get(..*end).unwrap_or_default();
        tail.is_none_or(|tail| ends_with(from, tail))
    })
}

/// Whether the pattern matches all of these segments.
fn run_fits(pattern: &[String], path: &[Segment]) -> bool {
    let (head, tail) = parts(pattern);
    let Some(tail) = tail else {
        return head.len() == path.len() && each_fits(head, path);
    };
    path.len() >= head.len() + tail.len()
        && path
            .get(..head.len())
            .is_some_and(|from| each_fits(head, from))
        && ends_with(path, tail)
}

/// What stands before and after the one `**` that a pattern may hold.
fn parts(pattern: &[String]) -> (&[String], Option<&[String]>) {
    match pattern.iter().position(|segment| segment == "**") {
        Some(gap) => (
            pattern.get(..gap).unwrap_or_default(),
            Some(pattern.get(gap + 1..).unwrap_or_default()),
        ),
        None => (pattern, None),
    }
}

fn ends_with(path: &[Segment], tail: &[String]) -> bool {
    let start = path.len().saturating_sub(tail.len());
    path.get(start..)
        .is_some_and(|end| end.len() == tail.len() && each_fits(tail, end))
}

fn each_fits(pattern: &[String], path: &[Segment]) -> bool {
    pattern
        .iter()
        .zip(path)
        .all(|(pattern, segment)| segment_fits(pattern, segment))
}

fn segment_fits(pattern: &str, segment: &Segment) -> bool {
    let text = segment.text.as_str();
    // Almost every pair differs in its first byte, and this runs for every protected path.
    let same_start = pattern.as_bytes().first() == text.as_bytes().first();
    if !same_start && !segment.short && !pattern.starts_with('*') {
        return false;
    }
    match pattern.split_once('*') {
        Some((head, tail)) => {
            text.len() >= head.len() + tail.len() && text.starts_with(head) && text.ends_with(tail)
        }
        None => pattern == text || (segment.short && is_short_name(pattern, text)),
    }
}

/// Whether the segment is a short name (`GIT~1`) that NTFS may have given to the pattern's file.
fn is_short_name(pattern: &str, segment: &str) -> bool {
    let Some((stem, number)) = segment.split_once('~') else {
        return false;
    };
    let digits = number.split('.').next().unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let kept = |c: &char| c.is_ascii_alphanumeric() || *c == '_' || *c == '-';
    let name = pattern.trim_start_matches('.');
    let base = name.rsplit_once('.').map_or(name, |(base, _)| base);
    let full: String = base.chars().filter(kept).take(6).collect();
    let needs_one = pattern.starts_with('.') || pattern.len() > 8;
    // After a few collisions the name becomes two letters and four digits of a hash.
    let hashed = stem.len() == 6
        && stem.is_char_boundary(2)
        && full.get(..2).is_some_and(|two| stem.starts_with(two))
        && stem.chars().skip(2).all(|c| c.is_ascii_hexdigit());
    needs_one && (stem == full || hashed)
}

/// Reads the authority file.
pub(super) fn read_authority(root: &Node, problems: &mut Problems) -> Option<Authority> {
    let known = [
        "workspace",
        "home",
        "instructions",
        "lessons",
        "lessons_also",
    ];
    let fields = Fields::of(root, "the file", &known, problems)?;
    let mut groups = |name: &str| {
        let entries = fields.list(name, problems).unwrap_or_default();
        let mut list = Vec::new();
        for entry in entries {
            list.extend(read_group(entry, problems));
        }
        if list.is_empty() {
            problems.add(root.at(), format!("`{name}` protects nothing"));
        }
        list
    };
    let workspace = groups("workspace");
    let home = groups("home");
    let names = fields.texts("instructions", problems).unwrap_or_default();
    let instructions = names
        .iter()
        .filter_map(|path| Guarded::new(path, "an instruction file"))
        .collect();
    let mut texts = |name: &str| fields.texts(name, problems).unwrap_or_default();
    Some(Authority {
        workspace,
        home,
        instructions,
        lessons: texts("lessons"),
        lessons_also: texts("lessons_also"),
    })
}

fn read_group(node: &Node, problems: &mut Problems) -> Vec<Guarded> {
    let known = ["why", "paths", "only", "except"];
    let Some(fields) = Fields::of(node, "a group of paths", &known, problems) else {
        return Vec::new();
    };
    let (Some(why), Some(paths)) = (
        fields.text("why", problems),
        fields.texts("paths", problems),
    ) else {
        problems.add(node.at(), "a group of paths needs `why` and `paths`");
        return Vec::new();
    };
    let only = fields.bool("only", problems).unwrap_or(false);
    let free = fields.texts("except", problems).unwrap_or_default();
    let except: Vec<String> = free.iter().map(|name| fold(name)).collect();
    let mut list = Vec::new();
    for path in &paths {
        if path.matches("**").count() > 1 {
            problems.add(node.at(), format!("`{path}` holds `**` twice"));
        }
        list.extend(Guarded::new(path, why).map(|guarded| Guarded {
            only,
            except: except.clone(),
            ..guarded
        }));
    }
    list
}
