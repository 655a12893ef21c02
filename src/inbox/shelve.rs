//! What becomes of a claimed file: moved to `processed` or, with its problems beside it, to `rejected`. By renaming
//! only, and never over another file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use super::claim::{Claimed, is_still};
use super::error::Error;
use crate::scenario::Problem;

/// File systems allow 255 bytes; this leaves room for a number and for the ending of a sidecar.
const LONGEST_STEM: usize = 200;

/// Where a claimed file is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// Put away under this path.
    To(PathBuf),
    /// In the inbox no more as it was claimed, or gone: what is there now is for a later look.
    Changed,
    /// In the inbox, for the same reason as last time, which was reported then. It will be tried again.
    StillStuck,
}

/// What lies beside a rejected file.
#[derive(Serialize)]
struct Sidecar<'s> {
    file: &'s str,
    sha256: Option<&'s str>,
    rejected_at: String,
    problems: &'s [Problem],
}

/// Moves a file that has been stored to `processed`; one of the same name there makes it `NAME-2`, `NAME-3` and so on.
pub fn finish(claimed: &Claimed, processed: &Path) -> Result<Moved, Error> {
    put_away(claimed, processed, |_| Ok(None))
}

/// Moves a bad file to `rejected`, and writes what is wrong with it to `NAME.error.json` beside it: first, whole and
/// synced, so that no rejected file is ever without its reasons.
#[expect(clippy::missing_panics_doc, reason = "strings and numbers always serialise")]
pub fn reject(
    claimed: &Claimed,
    problems: &[Problem],
    rejected: &Path,
    now: SystemTime,
) -> Result<Moved, Error> {
    let sidecar = Sidecar {
        file: &claimed.name,
        sha256: claimed.sha256.as_deref(),
        rejected_at: rfc3339(now),
        problems,
    };
    let mut text = serde_json::to_vec_pretty(&sidecar).expect("strings and numbers always serialise");
    text.push(b'\n');
    put_away(claimed, rejected, |place| {
        let path = sidecar_of(place);
        write_whole(&path, &text).map_err(|cause| Error::Sidecar { path: path.clone(), cause })?;
        Ok(Some(path))
    })
}

fn rfc3339(time: SystemTime) -> String {
    // Times that a clock can show are all in jiff's range of years -9999 to 9999.
    let time = jiff::Timestamp::try_from(time).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The move: a name is reserved, `beside` may write something for it, the file is renamed over the reservation. What
/// was made on the way is taken back when a later step fails.
fn put_away(
    claimed: &Claimed,
    folder: &Path,
    beside: impl FnOnce(&Path) -> Result<Option<PathBuf>, Error>,
) -> Result<Moved, Error> {
    let failed = |to: &Path| {
        let (from, to) = (claimed.path.clone(), to.to_owned());
        move |cause| Error::Move { from, to, cause }
    };
    if !is_still(&claimed.path, &claimed.stamp).map_err(failed(folder))? {
        return Ok(Moved::Changed);
    }
    let place = reserve(folder, &claimed.name).map_err(failed(folder))?;
    let sidecar = beside(&place).inspect_err(|_| free(&place))?;
    if let Err(cause) = fs::rename(&claimed.path, &place) {
        free(&place);
        sidecar.iter().for_each(take_back);
        return Err(failed(&place)(cause));
    }
    // Replaced or written to in the last moment: nobody has read what was moved.
    if !is_still(&place, &claimed.stamp).map_err(failed(&place))? {
        sidecar.iter().for_each(take_back);
        bring_back(&place, &claimed.path)?;
        return Ok(Moved::Changed);
    }
    Ok(Moved::To(place))
}

/// Moves a file that was put away back to where it came from, or beside what is there now.
pub(super) fn bring_back(from: &Path, to: &Path) -> Result<(), Error> {
    let failed = |cause| Error::Move { from: from.to_owned(), to: to.to_owned(), cause };
    let (Some(folder), Some(name)) = (to.parent(), to.file_name()) else {
        return Err(failed(ErrorKind::InvalidInput.into()));
    };
    let place = reserve(folder, &name.to_string_lossy()).map_err(failed)?;
    fs::rename(from, &place).inspect_err(|_| free(&place)).map_err(failed)
}

/// Makes an empty file under the first free one of `NAME.x`, `NAME-2.x`, …: making it is the test whether the name is
/// free, and to rename over it overwrites nothing. A name whose sidecar is taken is not free.
fn reserve(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if extension.len() <= 10 => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    let stem = shortened(stem);
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let place = folder.join(format!("{stem}{suffix}{extension}"));
        if !sidecar_of(&place).try_exists()? {
            match OpenOptions::new().write(true).create_new(true).open(&place) {
                Ok(_) => return Ok(place),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        number += 1;
    }
}

fn shortened(stem: &str) -> &str {
    let ends = (0..=stem.len().min(LONGEST_STEM)).rev();
    &stem[..ends.into_iter().find(|end| stem.is_char_boundary(*end)).unwrap_or_default()]
}

fn sidecar_of(place: &Path) -> PathBuf {
    place.with_extension("error.json")
}

fn write_whole(path: &Path, text: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension("json.tmp");
    let written = File::create(&unfinished).and_then(|mut file| {
        file.write_all(text)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&unfinished, path)).inspect_err(|_| take_back(&unfinished))
}

/// Gives a reserved name up, unless a file was moved there after all (renames over a network can fail and be done).
fn free(place: &Path) {
    if fs::metadata(place).is_ok_and(|found| found.len() == 0) {
        take_back(place);
    }
}

/// Removes what this module has made itself.
fn take_back(path: impl AsRef<Path>) {
    // An empty file, or a sidecar without its file, harms nobody, and there is an error to report already.
    let _ = fs::remove_file(path);
}

#[cfg(test)]
mod tests {
    use super::super::claim::{Settling, read, scan};
    use super::*;
    use std::time::Duration;

    fn claim(inbox: &Path) -> Claimed {
        let look = scan(inbox, SystemTime::now(), &mut Settling::default(), Duration::ZERO);
        read(&look.expect("a folder").ready[0]).expect("readable").expect("unchanged")
    }

    #[test]
    fn what_arrives_under_the_name_in_the_last_moment_is_not_taken_for_what_was_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let [inbox, rejected] = ["inbox", "rejected"].map(|name| dir.path().join(name));
        fs::create_dir(&inbox).and_then(|()| fs::create_dir(&rejected)).expect("made");
        let path = inbox.join("a.json");
        fs::write(&path, "old").expect("written");
        let moved = put_away(&claim(&inbox), &rejected, |place| {
            let sidecar = sidecar_of(place);
            fs::write(&sidecar, "why").expect("written");
            fs::write(inbox.join(".new"), "new").expect("written");
            fs::rename(inbox.join(".new"), &path).expect("replaced");
            Ok(Some(sidecar))
        });
        assert_eq!(moved.expect("no error"), Moved::Changed);
        assert_eq!(fs::read_to_string(&path).expect("brought back"), "new");
        assert_eq!(fs::read_dir(&rejected).expect("a folder").count(), 0);
    }
}
