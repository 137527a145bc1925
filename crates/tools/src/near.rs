//! The places of a file that come nearest to a text that was not found.

use std::collections::HashMap;

use tagout_vocab::limits::{
    CANDIDATE_LINE_BYTES_MAX, CANDIDATE_LINES_MAX, CANDIDATES_MAX, SIMILARITY_LINES_MAX,
};

use crate::fault::Candidate;

/// How alike two places have to be to be worth showing, from 0 to 1.
const ALIKE_MIN: f64 = 0.45;

/// Places that are looked at closely after a quick look at every line.
const SHORTLIST_MAX: usize = 24;

/// Lines around the anchor that are compared closely.
const WINDOW_LINES_MAX: usize = 24;

/// The nearest places, best first.
///
/// Each line is compared with the most telling line of what was sought, by the pairs of letters
/// that they share. The best of these places are then compared as a whole, letter by letter.
pub fn nearest(lines: &[&str], sought: &[&str]) -> Vec<Candidate> {
    let Some((offset, anchor)) = anchor(sought) else {
        return Vec::new();
    };
    let wanted = pairs(anchor);
    let mut quick: Vec<(f64, usize)> = lines
        .iter()
        .take(SIMILARITY_LINES_MAX)
        .enumerate()
        .filter_map(|(index, line)| {
            let alike = shared(&wanted, &pairs(line));
            let start = index.checked_sub(offset)?;
            (alike >= ALIKE_MIN / 2.0).then_some((alike, start))
        })
        .collect();
    quick.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    quick.truncate(SHORTLIST_MAX);
    let mut close: Vec<(f64, usize)> = quick
        .into_iter()
        .map(|(_, start)| (alike(lines, start, sought), start))
        .filter(|(score, _)| *score >= ALIKE_MIN)
        .collect();
    close.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    close.dedup_by_key(|(_, start)| *start);
    close
        .into_iter()
        .take(CANDIDATES_MAX)
        .map(|(_, start)| place(lines, start, sought.len()))
        .collect()
}

/// The lines of a place, as a person or a model should see them.
pub fn place(lines: &[&str], start: usize, count: usize) -> Candidate {
    let shown: Vec<String> = lines
        .iter()
        .skip(start)
        .take(count.clamp(1, CANDIDATE_LINES_MAX))
        .map(|line| cut(line, CANDIDATE_LINE_BYTES_MAX))
        .collect();
    Candidate {
        line: start.saturating_add(1),
        text: shown.join("\n"),
    }
}

/// The beginning of a text, cut between characters and marked where it was cut.
pub fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let kept = (0..=bytes_max)
        .rev()
        .find_map(|end| text.get(..end))
        .unwrap_or_default();
    format!("{kept}…")
}

/// The longest of the first lines of what was sought: short ones such as `}` are everywhere.
fn anchor<'t>(sought: &[&'t str]) -> Option<(usize, &'t str)> {
    sought
        .iter()
        .take(WINDOW_LINES_MAX)
        .map(|line| line.trim())
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .max_by_key(|(index, line)| (line.len(), usize::MAX - index))
}

type Pairs = HashMap<(u8, u8), u32>;

fn pairs(line: &str) -> Pairs {
    let mut counted = Pairs::new();
    let bytes: Vec<u8> = line.trim().bytes().take(CANDIDATE_LINE_BYTES_MAX).collect();
    // A line of one letter still is like itself.
    if let [only] = bytes.as_slice() {
        counted.insert((*only, 0), 1);
    }
    for pair in bytes.windows(2) {
        if let [first, second] = pair {
            *counted.entry((*first, *second)).or_default() += 1;
        }
    }
    counted
}

/// Dice's measure over pairs of letters.
fn shared(left: &Pairs, right: &Pairs) -> f64 {
    let total: u32 = left.values().sum::<u32>() + right.values().sum::<u32>();
    if total == 0 {
        return 0.0;
    }
    let common: u32 = left
        .iter()
        .map(|(pair, count)| right.get(pair).map_or(0, |other| (*count).min(*other)))
        .sum();
    2.0 * f64::from(common) / f64::from(total)
}

/// How alike the lines from `start` on and the sought ones are, on the mean of their lines.
fn alike(lines: &[&str], start: usize, sought: &[&str]) -> f64 {
    let compared = sought.iter().take(WINDOW_LINES_MAX);
    let mut here = lines.iter().skip(start);
    let (mut sum, mut count) = (0.0, 0_u32);
    for wanted in compared {
        let line = here.next().copied().unwrap_or_default();
        let short = |text: &str| cut(text.trim(), CANDIDATE_LINE_BYTES_MAX);
        sum += strsim::normalized_levenshtein(&short(wanted), &short(line));
        count += 1;
    }
    if count == 0 {
        0.0
    } else {
        sum / f64::from(count)
    }
}

#[cfg(test)]
mod tests;
