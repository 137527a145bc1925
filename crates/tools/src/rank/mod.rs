//! Ranking parts of files by the words of a question, with no index kept and nothing asked outside.
//!
//! The measure is BM25 over parts of some forty lines. Names are taken apart (`readFile` and
//! `read_file` hold `read` and `file`), words lose their commonest endings, and a file's path
//! counts with its content. The same files and the same question always give the same order.

use std::collections::{BTreeMap, HashMap, HashSet};

use tagout_vocab::limits::{RANK_CHUNK_LINES, RANK_HITS_MAX, RANK_WORDS_MAX};

/// A part of a file that may answer the question.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The file, by its number in the order in which the files were added.
    pub file: usize,
    /// First line, counted from one.
    pub start_line: usize,
    /// Last line.
    pub end_line: usize,
    /// How well it answers, higher is better.
    pub score: f64,
}

/// How fast more of the same word stops to count.
const SATURATION: f64 = 1.2;

/// How much a long part is held back.
const LENGTH_WEIGHT: f64 = 0.75;

/// How much more a word in the file's path counts than one in its lines.
const PATH_WEIGHT: u32 = 3;

/// Words that stand everywhere and ask for nothing.
const EMPTY_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "how", "i", "in",
    "is", "it", "of", "on", "or", "that", "the", "this", "to", "we", "what", "when", "where",
    "which", "who", "why", "with",
];

/// A question and the parts that were weighed so far.
#[derive(Debug)]
pub struct Ranking {
    words: Vec<String>,
    parts: Vec<Part>,
    length_total: u64,
    files: usize,
}

#[derive(Debug)]
struct Part {
    file: usize,
    start_line: usize,
    end_line: usize,
    length: u32,
    /// How often each word of the question occurs, in the question's order.
    counts: Vec<u32>,
}

impl Ranking {
    /// A question. Without any telling word there is none.
    pub fn new(question: &str) -> Option<Self> {
        let mut seen = HashSet::new();
        let words: Vec<String> = split(question)
            .into_iter()
            .filter(|word| !EMPTY_WORDS.contains(&word.as_str()))
            .map(|word| stem(&word))
            .filter(|word| seen.insert(word.clone()))
            .take(RANK_WORDS_MAX)
            .collect();
        (!words.is_empty()).then_some(Self {
            words,
            parts: Vec::new(),
            length_total: 0,
            files: 0,
        })
    }

    /// Weighs the parts of one file.
    pub fn add(&mut self, path: &str, text: &str) {
        let file = self.files;
        self.files += 1;
        let places: HashMap<String, usize> = self
            .words
            .iter()
            .enumerate()
            .map(|(index, word)| (word.clone(), index))
            .collect();
        let mut in_path = vec![0_u32; self.words.len()];
        for word in split(path) {
            count(&mut in_path, &places, &stem(&word), PATH_WEIGHT);
        }
        let lines: Vec<&str> = text.lines().collect();
        for (index, chunk) in lines.chunks(RANK_CHUNK_LINES).enumerate() {
            let mut counts = in_path.clone();
            let mut length = 0_u32;
            for word in chunk.iter().flat_map(|line| split(line)) {
                length = length.saturating_add(1);
                count(&mut counts, &places, &stem(&word), 1);
            }
            self.length_total = self.length_total.saturating_add(u64::from(length));
            let start_line = index * RANK_CHUNK_LINES + 1;
            self.parts.push(Part {
                file,
                start_line,
                end_line: start_line + chunk.len() - 1,
                length,
                counts,
            });
        }
    }

    /// The best parts, best first; equals in the order of files and lines.
    pub fn best(&self) -> Vec<Hit> {
        let rarities = self.rarities();
        let mean = self.mean_length();
        let mut hits: Vec<Hit> = self
            .parts
            .iter()
            .map(|part| Hit {
                file: part.file,
                start_line: part.start_line,
                end_line: part.end_line,
                score: part.score(&rarities, mean),
            })
            .filter(|hit| hit.score > 0.0)
            .collect();
        hits.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then(a.file.cmp(&b.file))
                .then(a.start_line.cmp(&b.start_line))
        });
        hits.truncate(RANK_HITS_MAX);
        hits
    }

    fn mean_length(&self) -> f64 {
        let parts = real(self.parts.len()).max(1.0);
        (real(usize::try_from(self.length_total).unwrap_or(usize::MAX)) / parts).max(1.0)
    }

    /// How telling each word is: the fewer parts hold it, the more.
    fn rarities(&self) -> Vec<f64> {
        let mut holders: BTreeMap<usize, usize> = BTreeMap::new();
        for part in &self.parts {
            for (index, _) in part
                .counts
                .iter()
                .enumerate()
                .filter(|(_, count)| **count > 0)
            {
                *holders.entry(index).or_default() += 1;
            }
        }
        let total = real(self.parts.len());
        (0..self.words.len())
            .map(|index| {
                let holders = real(holders.get(&index).copied().unwrap_or(0));
                libm::log(1.0 + (total - holders + 0.5) / (holders + 0.5))
            })
            .collect()
    }
}

impl Part {
    fn score(&self, rarities: &[f64], mean: f64) -> f64 {
        let stretch = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * f64::from(self.length) / mean;
        self.counts
            .iter()
            .zip(rarities)
            .map(|(count, rarity)| {
                let count = f64::from(*count);
                rarity * count * (SATURATION + 1.0) / (count + SATURATION * stretch)
            })
            .sum()
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of parts stay far below where a float loses units"
)]
const fn real(count: usize) -> f64 {
    count as f64
}

fn count(counts: &mut [u32], places: &HashMap<String, usize>, word: &str, weight: u32) {
    if let Some(slot) = places.get(word).and_then(|index| counts.get_mut(*index)) {
        *slot = slot.saturating_add(weight);
    }
}

/// The words of a text in small letters: runs of letters or digits, taken apart where a small
/// letter meets a capital one.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for character in text.chars() {
        let humps = before.is_some_and(char::is_lowercase) && character.is_uppercase();
        if (!character.is_alphanumeric() || humps) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        before = Some(character);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The word without its commonest ending: `files` asks for `file`, `parsing` for `parse`.
fn stem(word: &str) -> String {
    const LETTERS_LEFT_MIN: usize = 3;
    for ending in [
        "ations", "ation", "ings", "ing", "ers", "er", "ied", "ies", "ed", "es", "s", "e",
    ] {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.len() >= LETTERS_LEFT_MIN
        {
            return rest.to_owned();
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests;
