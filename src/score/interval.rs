//! 95 % intervals: Wilson's for rates, the bootstrap for F1 and Score. Knows no verdicts.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Group;

/// Where a figure lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end
    pub low: f64,
    /// Upper end
    pub high: f64,
}

/// The 97.5 % quantile of the normal distribution: 2.5 % are left out on either side.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's score interval for `successes` out of `n`; [0, 1] where nothing was tried.
pub fn wilson(successes: u64, n: u64) -> Interval {
    if n == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let n = n as f64;
    let rate = successes as f64 / n;
    let scale = 1.0 + Z * Z / n;
    let centre = (rate + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
    Interval { low: (centre - half).max(0.0), high: (centre + half).min(1.0) }
}

/// The percentile bootstrap interval of a group's statistic. The sampling unit is the case: give one group a case,
/// all attempts at it summed, for attempts at one case are no independent evidence. The same arguments give the same
/// interval. `None` without cases or resamples.
pub fn bootstrap(
    cases: &[Group],
    statistic: impl Fn(&Group) -> f64,
    seed: u64,
    n_resamples: usize,
) -> Option<Interval> {
    if cases.is_empty() || n_resamples == 0 {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut resampled: Vec<f64> = (0..n_resamples)
        .map(|_| {
            let mut sum = Group::default();
            for _ in cases {
                sum += &cases[rng.random_range(0..cases.len())];
            }
            statistic(&sum)
        })
        .collect();
    resampled.sort_by(f64::total_cmp);
    Some(Interval { low: quantile(&resampled, 0.025), high: quantile(&resampled, 0.975) })
}

/// The quantile of sorted values, interpolated between the two nearest.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(interval: Interval, low: f64, high: f64, within: f64) {
        assert!((interval.low - low).abs() < within && (interval.high - high).abs() < within, "{interval:?}");
    }

    #[test]
    fn wilson_by_the_row() {
        // From the closed form, worked out independently to four places.
        let rows = [
            (0, 0, 0.0, 1.0),
            (0, 10, 0.0, 0.2775),
            (5, 10, 0.2366, 0.7634),
            (8, 10, 0.4902, 0.9433),
            (10, 10, 0.7225, 1.0),
            (104, 199, 0.4534, 0.5909),
        ];
        for (successes, n, low, high) in rows {
            close(wilson(successes, n), low, high, 5e-5);
        }
    }

    #[test]
    fn quantiles_are_interpolated() {
        let sorted = [1.0, 2.0, 4.0];
        for (share, value) in [(0.0, 1.0), (0.25, 1.5), (0.5, 2.0), (0.75, 3.0), (1.0, 4.0)] {
            assert!((quantile(&sorted, share) - value).abs() < 1e-12);
        }
        assert!((quantile(&[7.0], 0.975) - 7.0).abs() < 1e-12);
    }

    /// 199 cases, of which 104 are flawless.
    fn cases() -> Vec<Group> {
        (0..199).map(|i| Group { tests: 1, flawless: u64::from(i % 199 < 104), ..Group::default() }).collect()
    }

    #[test]
    fn bootstrap_of_a_rate_agrees_with_wilson() {
        let interval = bootstrap(&cases(), Group::doc_micro, 7, 4000).expect("there are cases");
        let Interval { low, high } = wilson(104, 199);
        close(interval, low, high, 0.008);
    }

    #[test]
    fn bootstrap_is_seeded() {
        let of = |seed| bootstrap(&cases(), Group::doc_micro, seed, 100);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_eq!(bootstrap(&[], Group::doc_micro, 1, 100), None);
        assert_eq!(bootstrap(&cases(), Group::doc_micro, 1, 0), None);
        let same = vec![Group { tests: 2, flawless: 1, ..Group::default() }; 5];
        assert_eq!(bootstrap(&same, Group::doc_micro, 1, 50), Some(Interval { low: 0.5, high: 0.5 }));
    }
}
