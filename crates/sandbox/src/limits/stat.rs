//! One line of `/proc/<pid>/stat`.

/// What the watcher wants to know of a process.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Stat {
    /// Who waits for it.
    pub(crate) parent: u32,
    /// Its own processor time.
    pub(crate) own_ticks: u64,
    /// That of its descendants that are gone and were waited for.
    pub(crate) waited_ticks: u64,
    /// How many threads it has.
    pub(crate) threads: u64,
    /// When it was started, since boot.
    pub(crate) started_ticks: u64,
    /// Pages of memory that it has.
    pub(crate) pages: u64,
    /// Whether it is dead and not yet waited for.
    pub(crate) dead: bool,
}

impl Stat {
    /// Reads one line. The name of the program may hold blanks and brackets, so that the fields
    /// are counted from its last closing bracket.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let close = line.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok());
        Some(Self {
            parent: u32::try_from(number(1)?).ok()?,
            own_ticks: number(11)?.checked_add(number(12)?)?,
            // The kernel writes these two as signed numbers.
            waited_ticks: number(13)?.checked_add(number(14)?)?,
            threads: number(17)?,
            started_ticks: number(19)?,
            pages: number(21)?,
            dead: matches!(fields.first(), Some(&("Z" | "X"))),
        })
    }
}
