//! How fast attempts end, lately. Knows no attempt.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// The window that "lately" means: long enough for slow models, short enough to forget the previous one.
const WINDOW: Duration = Duration::from_secs(300);

/// Ends of attempts within the window.
#[derive(Debug)]
pub(super) struct Pace {
    began: Instant,
    ends: VecDeque<Instant>,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { began: now, ends: VecDeque::new() }
    }

    pub(super) fn push(&mut self, now: Instant) {
        self.ends.push_back(now);
        while self.ends.front().is_some_and(|end| now - *end > WINDOW) {
            self.ends.pop_front();
        }
    }

    /// Attempts a minute; `None` before the first.
    pub(super) fn per_minute(&self, now: Instant) -> Option<f64> {
        let recent = self.ends.iter().filter(|end| now - **end <= WINDOW).count();
        // At least a second, or the first end would make a rate of thousands.
        let span = (now - self.began).clamp(Duration::from_secs(1), WINDOW);
        (recent > 0).then(|| recent as f64 * 60.0 / span.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_window() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut pace = Pace::new(start);
        assert_eq!(pace.per_minute(at(10)), None);
        (0..=30).for_each(|n| pace.push(at(n)));
        assert!((pace.per_minute(at(30)).unwrap() - 62.0).abs() < 1e-9);
        assert_eq!(pace.per_minute(at(400)), None);
    }
}
