//! Interleaved rounds: every contender once a round, a different one first each time, and not
//! always behind the same neighbour, whose traces in caches and on the disk would count as its own.

use std::time::Duration;

use crate::error::XtaskError;

/// Rounds that are run and thrown away, so that caches are as warm for the first as for the last.
const WARM_UP: usize = 3;

/// One of the things that are compared: does it once and says how long it took.
pub(super) type Contender<'a> = Box<dyn FnMut() -> Result<Duration, XtaskError> + 'a>;

/// The median time of each contender, in microseconds and in their order.
pub(super) fn medians(
    rounds: usize,
    contenders: &mut [Contender<'_>],
) -> Result<Vec<f64>, XtaskError> {
    medians_with(rounds, contenders, &[])
}

/// The same with some contenders that take part in every n-th round only, because they are slow:
/// pairs of their place and n.
pub(super) fn medians_with(
    rounds: usize,
    contenders: &mut [Contender<'_>],
    seldom: &[(usize, usize)],
) -> Result<Vec<f64>, XtaskError> {
    let count = contenders.len();
    let skips = |round: usize, which: usize| {
        let every = seldom.iter().find(|(place, _)| *place == which);
        every.is_some_and(|(_, every)| !round.is_multiple_of((*every).max(1)))
    };
    let mut samples: Vec<Vec<f64>> = vec![Vec::with_capacity(rounds); count];
    for round in 0..rounds + WARM_UP {
        for turn in 0..count {
            let which = place(round, turn, count);
            let Some(contender) = contenders.get_mut(which) else {
                continue;
            };
            if skips(round, which) {
                continue;
            }
            let took = contender()?;
            if let Some(samples) = samples.get_mut(which).filter(|_| round >= WARM_UP) {
                samples.push(took.as_secs_f64() * 1e6);
            }
        }
    }
    Ok(samples.into_iter().map(median).collect())
}

/// Who comes in a turn of a round. The order changes with the steps that are taken around the
/// circle, each of which meets everybody once.
fn place(round: usize, turn: usize, count: usize) -> usize {
    let divides = |by: usize, number: usize| number.is_multiple_of(by);
    let meets_all = |step: &usize| !(2..=*step).any(|by| divides(by, *step) && divides(by, count));
    let steps: Vec<usize> = (1..count.max(2)).filter(meets_all).collect();
    let step = steps.get(round / count.max(1) % steps.len().max(1));
    (round + turn * step.copied().unwrap_or(1)) % count.max(1)
}

/// The middle of the samples; no number where there are none.
fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    let at = |index: usize| samples.get(index).copied().unwrap_or(f64::NAN);
    if samples.len().is_multiple_of(2) {
        f64::midpoint(at(middle.wrapping_sub(1)), at(middle))
    } else {
        at(middle)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::{Contender, WARM_UP, median, medians, medians_with, place};

    #[test]
    fn medians_are_the_middle() {
        assert!((median(vec![9.0, 1.0, 5.0]) - 5.0).abs() < 1e-9);
        assert!((median(vec![1.0, 9.0, 3.0, 5.0]) - 4.0).abs() < 1e-9);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn contenders_take_turns_and_warm_up_is_not_counted() {
        let order = RefCell::new(Vec::new());
        let calls = RefCell::new(0u64);
        let slow_start = || {
            order.borrow_mut().push('a');
            *calls.borrow_mut() += 1;
            let warm = *calls.borrow() > WARM_UP as u64;
            Ok(Duration::from_micros(if warm { 10 } else { 99_999 }))
        };
        let steady = || {
            order.borrow_mut().push('b');
            Ok(Duration::from_micros(20))
        };
        let mut contenders: Vec<Contender<'_>> = vec![Box::new(slow_start), Box::new(steady)];
        let found = medians(2, &mut contenders).unwrap();
        assert!((found[0] - 10.0).abs() < 1e-6 && (found[1] - 20.0).abs() < 1e-6);
        drop(contenders);
        assert_eq!(order.into_inner().iter().collect::<String>(), "abbaabbaab");
    }

    #[test]
    fn everybody_comes_once_a_round_and_behind_several_others() {
        for count in 1..12 {
            let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
            let mut first: BTreeSet<usize> = BTreeSet::new();
            for round in 0..count * count {
                let order: Vec<usize> = (0..count).map(|turn| place(round, turn, count)).collect();
                assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), count);
                first.extend(order.first());
                for pair in order.windows(2) {
                    before[pair[1]].insert(pair[0]);
                }
            }
            assert_eq!(first.len(), count);
            let least = if count > 2 { 2 } else { 0 };
            assert!(before.iter().all(|others| others.len() >= least), "{count}");
        }
    }

    #[test]
    fn slow_contenders_take_part_in_some_rounds_among_the_others() {
        let order = RefCell::new(String::new());
        let once = |name: char| {
            let order = &order;
            move || {
                order.borrow_mut().push(name);
                Ok(Duration::from_micros(10))
            }
        };
        let mut contenders: Vec<Contender<'_>> = vec![Box::new(once('a')), Box::new(once('b'))];
        let found = medians_with(5, &mut contenders, &[(1, 4)]).unwrap();
        assert!(found.iter().all(|median| (median - 10.0).abs() < 1e-6));
        drop(contenders);
        assert_eq!(order.into_inner(), "abaaaabaaa");
    }
}
