//! The inbox: a look at the folder, files claimed and checked, and putting them away once they are stored.

use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::de::IgnoredAny;

use super::claim::{Claimed, Kind, Ready, Settling, Stamp, read, scan};
use super::error::Error;
use super::holds::Holds;
use super::shelve::{self, Moved, bring_back};
use crate::scenario::{Checked, CheckedLines, Place, Problem, parse, parse_cases};

/// Files taken in one turn at most, so that a full folder does not keep the daemon from everything else.
pub const FILES_A_TURN: usize = 64;

/// Bytes of the largest file that is read; about a hundred times the paper's data set.
pub const LARGEST: u64 = 64 << 20;

/// A text that just ends too early may have a writer that pauses: it is given this many settle times.
const PATIENCE: u32 = 10;

/// How long, and how many, processed files are watched for a writer that goes on after all.
const WATCHED: Duration = Duration::from_secs(10 * 60);
const MOST_WATCHED: usize = 512;

/// Where files arrive and where they end, all on one file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Files are dropped here.
    pub inbox: PathBuf,
    /// Stored files go here.
    pub processed: PathBuf,
    /// Bad files go here, each with its `NAME.error.json`.
    pub rejected: PathBuf,
}

/// What a turn yields: every file in it is to be put away with `done`, `reject` or `put_back`.
#[derive(Debug)]
pub struct Turn {
    /// Scenarios before cases, then by name.
    pub taken: Vec<Taken>,
    /// To be logged; what they are about stays where it is and is tried again.
    pub errors: Vec<Error>,
    /// When another turn is worth while, events and rescans apart.
    pub look_again: Option<Duration>,
}

/// A claimed file and what it holds, or why it is to be rejected.
#[derive(Debug)]
pub struct Taken {
    /// The file.
    pub claimed: Claimed,
    /// What is to be stored.
    pub contents: Result<Contents, Vec<Problem>>,
}

/// What a good file holds.
#[derive(Debug)]
pub enum Contents {
    /// A scenario, new or corrected.
    Scenario(Box<Checked>),
    /// Cases; whether their scenarios are known, only the store can tell.
    Cases(CheckedLines),
}

/// The inbox of one daemon, which has it alone.
#[derive(Debug)]
pub struct Inbox {
    folders: Folders,
    settle: Duration,
    settling: Settling,
    holds: Holds,
    in_hand: HashSet<OsString>,
    processed: VecDeque<Processed>,
}

/// A file that was put away, and could still have a writer.
#[derive(Debug)]
struct Processed {
    at: SystemTime,
    from: PathBuf,
    to: PathBuf,
    stamp: Stamp,
}

impl Inbox {
    /// Makes the folders where they are missing. `settle` is how long a file has to have been left alone.
    pub fn open(folders: Folders, settle: Duration) -> Result<Inbox, Error> {
        let inbox_device = make(&folders.inbox)?;
        for other in [&folders.processed, &folders.rejected] {
            if make(other)? != inbox_device {
                let (inbox, other) = (folders.inbox.clone(), other.clone());
                return Err(Error::TwoFileSystems { inbox, other });
            }
        }
        Ok(Inbox {
            folders,
            settle,
            settling: Settling::default(),
            holds: Holds::default(),
            in_hand: HashSet::new(),
            processed: VecDeque::new(),
        })
    }

    /// Looks at the folder and takes what is ready, [`FILES_A_TURN`] at most. A file that was taken is not taken again
    /// before it has been put away.
    pub fn take(&mut self, now: SystemTime) -> Turn {
        let mut turn = Turn { taken: Vec::new(), errors: Vec::new(), look_again: None };
        self.bring_back_what_grew(now, &mut turn);
        let look = match scan(&self.folders.inbox, now, &mut self.settling, self.settle) {
            Ok(look) => look,
            Err(error) => {
                turn.errors.push(error);
                return turn;
            }
        };
        turn.look_again = look.next;
        self.holds.retain(|name| self.settling.knows(name));
        for ready in &look.ready {
            if self.in_hand.contains(&ready.name) {
                continue;
            }
            if let Some(wait) = self.holds.remaining(&ready.name, &ready.stamp, now) {
                turn.look_again_in(wait);
            } else if turn.taken.len() == FILES_A_TURN {
                turn.look_again_in(Duration::ZERO);
                break;
            } else if let Some(taken) = self.open_one(ready, now, &mut turn) {
                self.in_hand.insert(ready.name.clone());
                turn.taken.push(taken);
            }
        }
        turn
    }

    /// Moves a stored file to `processed`.
    pub fn done(&mut self, claimed: &Claimed, now: SystemTime) -> Result<Moved, Error> {
        let moved = shelve::finish(claimed, &self.folders.processed);
        if let Ok(Moved::To(to)) = &moved {
            self.processed.truncate(MOST_WATCHED - 1);
            let (from, to) = (claimed.path.clone(), to.clone());
            self.processed.push_front(Processed { at: now, from, to, stamp: claimed.stamp });
        }
        self.let_go(claimed, moved, now)
    }

    /// Moves a bad file to `rejected`, with its problems beside it.
    pub fn reject(
        &mut self,
        claimed: &Claimed,
        problems: &[Problem],
        now: SystemTime,
    ) -> Result<Moved, Error> {
        let moved = shelve::reject(claimed, problems, &self.folders.rejected, now);
        self.let_go(claimed, moved, now)
    }

    /// Leaves a file where it is that could not be stored for no fault of its own; it is taken again after a while.
    pub fn put_back(&mut self, claimed: &Claimed, now: SystemTime) {
        let name = name_of(claimed);
        self.in_hand.remove(name);
        self.holds.back_off(name, claimed.stamp, None, now);
    }

    fn let_go(
        &mut self,
        claimed: &Claimed,
        moved: Result<Moved, Error>,
        now: SystemTime,
    ) -> Result<Moved, Error> {
        let name = name_of(claimed);
        self.in_hand.remove(name);
        moved.or_else(|error| {
            let news = self.holds.back_off(name, claimed.stamp, error.kind(), now);
            if news { Err(error) } else { Ok(Moved::StillStuck) }
        })
    }

    fn open_one(&mut self, ready: &Ready, now: SystemTime, turn: &mut Turn) -> Option<Taken> {
        if let Some(problem) = unreadable_kind(ready) {
            return Some(refused_unread(ready, problem));
        }
        match read(ready) {
            Ok(Some(claimed)) => self.judge(claimed, now, turn),
            Ok(None) => {
                turn.look_again_in(self.settle);
                None
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                let right = "a file that the user running nightjar may read (chmod a+r)";
                let wrong = format!("this cannot be read: {error}");
                Some(refused_unread(ready, Problem::new(Place::file(), wrong, right)))
            }
            Err(cause) => {
                if self.holds.back_off(&ready.name, ready.stamp, Some(cause.kind()), now) {
                    turn.errors.push(Error::Read { path: ready.path.clone(), cause });
                }
                None
            }
        }
    }

    fn judge(&mut self, claimed: Claimed, now: SystemTime, turn: &mut Turn) -> Option<Taken> {
        let contents = check(&claimed);
        let patience = self.settle * PATIENCE;
        if contents.is_err()
            && is_cut_off(&claimed)
            && let Some(until) = claimed.stamp.modified.checked_add(patience)
            && let Ok(wait) = until.duration_since(now)
            && Duration::ZERO < wait
            && wait <= patience
        {
            self.holds.hold_until(name_of(&claimed), claimed.stamp, until);
            turn.look_again_in(wait);
            return None;
        }
        Some(Taken { claimed, contents })
    }

    /// A writer that was silent for longer than the settle time and then goes on does so in the moved file. When such a
    /// file has grown it is brought back, to be read again as a whole.
    fn bring_back_what_grew(&mut self, now: SystemTime, turn: &mut Turn) {
        let mut grown = Vec::new();
        self.processed.retain(|file| {
            let young = now.duration_since(file.at).is_ok_and(|age| age < WATCHED);
            let Some(stamp) = fs::metadata(&file.to).ok().filter(|_| young).map(|found| Stamp::of(&found))
            else {
                return false;
            };
            if stamp.inode == file.stamp.inode && stamp.size > file.stamp.size {
                grown.push((file.to.clone(), file.from.clone()));
            }
            stamp == file.stamp
        });
        for (to, from) in grown {
            turn.errors.extend(bring_back(&to, &from).err());
        }
    }
}

impl Turn {
    fn look_again_in(&mut self, wait: Duration) {
        self.look_again = Some(self.look_again.map_or(wait, |sooner| sooner.min(wait)));
    }
}

fn make(folder: &Path) -> Result<u64, Error> {
    let made = fs::create_dir_all(folder).and_then(|()| fs::metadata(folder));
    made.map(|found| found.dev()).map_err(|cause| Error::Folder { path: folder.to_owned(), cause })
}

fn name_of(claimed: &Claimed) -> &OsStr {
    claimed.path.file_name().expect("claimed files were found in a folder, by name")
}

fn refused_unread(ready: &Ready, problem: Problem) -> Taken {
    Taken { claimed: Claimed::unread(ready), contents: Err(vec![problem]) }
}

/// What can be refused by name and size.
fn unreadable_kind(ready: &Ready) -> Option<Problem> {
    let problem = |wrong: &str, right: &str| Some(Problem::new(Place::file(), wrong, right));
    if ready.name.as_encoded_bytes().ends_with(b".error.json") {
        return problem("this lies beside a rejected file and says why", "the corrected file alone");
    }
    if ready.kind == Kind::Other {
        let right = "NAME.json for a scenario, NAME.jsonl for more cases of known ones, one a line";
        return problem("this name says neither scenario nor cases", right);
    }
    if ready.stamp.size > LARGEST {
        let wrong = format!("this has {} bytes", ready.stamp.size);
        return problem(&wrong, &format!("at most {LARGEST} bytes; cases can come in several files"));
    }
    None
}

fn check(claimed: &Claimed) -> Result<Contents, Vec<Problem>> {
    let bytes = claimed.bytes.as_slice();
    let text = str::from_utf8(bytes).map_err(|error| vec![not_utf8(bytes, error.valid_up_to())])?;
    if claimed.kind == Kind::Cases {
        parse_cases(text).map(Contents::Cases)
    } else {
        parse(text).map(|checked| Contents::Scenario(Box::new(checked)))
    }
}

fn not_utf8(bytes: &[u8], good: usize) -> Problem {
    let lines = bytes[..good].split(|byte| *byte == b'\n');
    let (line, last) = lines.enumerate().last().unwrap_or_default();
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let wrong = if utf16 { "this is UTF-16" } else { "this is no UTF-8" };
    Problem::new(Place::text(line + 1, last.len() + 1), wrong, "text in UTF-8")
}

/// Whether the text ends where JSON cannot: all that tells a file that is being written from a bad one.
fn is_cut_off(claimed: &Claimed) -> bool {
    let text = match str::from_utf8(&claimed.bytes) {
        Ok(text) => text,
        Err(error) => return error.error_len().is_none(),
    };
    let last = match claimed.kind {
        Kind::Cases => text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default(),
        Kind::Scenario | Kind::Other => text,
    };
    serde_json::from_str::<IgnoredAny>(last).is_err_and(|error| error.is_eof())
}
