//! Files that are left alone for a while: until they may be whole, or until a failed move is worth another try.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use super::claim::Stamp;

/// From the first failure on, doubled with each.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// A full disk or a wrong permission lasts until a person comes; a try costs next to nothing.
const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

/// By name in the inbox. A file that changes is held no longer.
#[derive(Debug, Default)]
pub(super) struct Holds {
    holds: HashMap<OsString, Hold>,
}

#[derive(Debug)]
struct Hold {
    stamp: Stamp,
    until: SystemTime,
    failure: Option<Failure>,
}

#[derive(Debug)]
struct Failure {
    wait: Duration,
    kind: Option<ErrorKind>,
}

impl Holds {
    /// How much longer the file is to be left alone.
    pub(super) fn remaining(&self, name: &OsStr, stamp: &Stamp, now: SystemTime) -> Option<Duration> {
        let hold = self.holds.get(name).filter(|hold| hold.stamp == *stamp)?;
        let remaining = hold.until.duration_since(now).ok()?;
        // Longer than any wait: the clock was set back.
        Some(remaining).filter(|left| !left.is_zero() && *left <= LONGEST_WAIT)
    }

    /// Leaves the file alone until then.
    pub(super) fn hold_until(&mut self, name: &OsStr, stamp: Stamp, until: SystemTime) {
        self.holds.insert(name.to_owned(), Hold { stamp, until, failure: None });
    }

    /// Leaves a file alone that could not be dealt with, each time for longer. True when this is news: its first
    /// failure, or one of another kind.
    pub(super) fn back_off(
        &mut self,
        name: &OsStr,
        stamp: Stamp,
        kind: Option<ErrorKind>,
        now: SystemTime,
    ) -> bool {
        let before = self.holds.remove(name).filter(|hold| hold.stamp == stamp).and_then(|hold| hold.failure);
        let wait = before.as_ref().map_or(FIRST_WAIT, |failure| (failure.wait * 2).min(LONGEST_WAIT));
        let news = before.is_none_or(|failure| failure.kind != kind);
        let failure = Some(Failure { wait, kind });
        self.holds.insert(name.to_owned(), Hold { stamp, until: now + wait, failure });
        news
    }

    /// Forgets every file that `keep` does not want.
    pub(super) fn retain(&mut self, keep: impl Fn(&OsStr) -> bool) {
        self.holds.retain(|name, _| keep(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit_and_end_with_a_change() {
        let stamp = Stamp { device: 1, inode: 2, size: 3, modified: SystemTime::UNIX_EPOCH };
        let (name, mut holds) = (OsStr::new("a.json"), Holds::default());
        let mut now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let mut waits = Vec::new();
        for turn in 0..11 {
            let news = holds.back_off(name, stamp, Some(ErrorKind::StorageFull), now);
            assert_eq!(news, turn == 0);
            let wait = holds.remaining(name, &stamp, now).expect("held");
            waits.push(wait.as_secs());
            assert_eq!(holds.remaining(name, &Stamp { size: 4, ..stamp }, now), None, "changed");
            now += wait;
            assert_eq!(holds.remaining(name, &stamp, now), None, "due");
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert!(
            holds.back_off(name, stamp, Some(ErrorKind::PermissionDenied), now),
            "another reason is news"
        );
        assert_eq!(holds.remaining(name, &stamp, now - Duration::from_secs(3600)), None, "clock set back");
        assert!(holds.back_off(name, Stamp { size: 4, ..stamp }, None, now), "another file is news");
        holds.retain(|_| false);
        assert_eq!(holds.remaining(name, &Stamp { size: 4, ..stamp }, now), None);
    }
}
