//! Races, crashes, and file systems that refuse.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use nightjar::inbox::{Folders, Inbox, Moved};
use tempfile::TempDir;

use crate::night::{Night, SETTLE, case, scenario, settled, strings};

#[test]
fn a_file_replaced_before_it_is_put_away_stays_and_is_taken_again() {
    let mut night = Night::new();
    let path = night.drop_file("a.json", scenario("a"));
    let turn = night.inbox.take(settled());
    assert!(night.inbox.take(settled()).taken.is_empty(), "a file in hand is not taken again");
    fs::write(path.with_extension("tmp"), scenario("b")).expect("written");
    fs::rename(path.with_extension("tmp"), &path).expect("replaced");
    assert_eq!(night.store(&turn.taken[0]).expect("no error"), Moved::Changed);
    assert_eq!(night.files()[0], ["a.json"]);
    night.turn();
    assert_eq!(night.scenarios.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(night.files(), [strings(&[]), strings(&["a.json"]), strings(&[])]);

    let path = night.drop_file("bad.json", "{]");
    let turn = night.inbox.take(settled());
    fs::remove_file(path).expect("taken away");
    assert_eq!(night.store(&turn.taken[0]).expect("no error"), Moved::Changed);
    assert_eq!(night.files(), [strings(&[]), strings(&["a.json"]), strings(&[])]);
}

#[test]
fn a_writer_that_goes_on_after_all_has_the_whole_file_stored() {
    let mut night = Night::new();
    night.drop_file("z.json", scenario("z"));
    let path = night.drop_file("a.jsonl", case("z", "1"));
    let mut writer = OpenOptions::new().append(true).open(path).expect("open");
    night.turn();
    assert_eq!(night.scenarios["z"], 2);
    writer.write_all(case("z", "2").as_bytes()).expect("written to where it is now");
    night.turn();
    night.turn();
    assert_eq!(night.scenarios["z"], 4, "this store counts the first case again; the real one knows it");
    assert_eq!(night.files(), [strings(&[]), strings(&["a.jsonl", "z.json"]), strings(&[])]);
}

#[test]
fn a_crash_at_any_moment_leaves_the_file_to_be_taken_again() {
    let mut night = Night::new();
    night.drop_file("a.json", scenario("a"));
    let turn = night.inbox.take(settled());
    drop(turn);
    night.inbox = Inbox::open(night.folders.clone(), SETTLE).expect("an inbox");
    night.turn();
    assert_eq!((night.scenarios["a"], night.files()[0].len()), (1, 0));

    night.drop_file("b.json", scenario("b"));
    let turn = night.inbox.take(settled());
    night.inbox.put_back(&turn.taken[0].claimed, settled());
    let again = night.inbox.take(settled());
    assert!(again.taken.is_empty() && again.look_again.is_some_and(|wait| wait <= Duration::from_secs(1)));
    assert_eq!(night.inbox.take(settled() + Duration::from_secs(1)).taken.len(), 1);
}

#[test]
fn a_folder_that_cannot_be_written_loses_nothing_and_is_reported_once() {
    let mut night = Night::new();
    let (processed, rejected) = (night.folders.processed.clone(), night.folders.rejected.clone());
    fs::remove_dir(&processed).and_then(|()| fs::remove_dir(&rejected)).expect("removed");
    night.drop_file("a.json", scenario("a"));
    night.drop_file("bad.json", "{]");
    night.turn();
    assert_eq!(night.files()[0], ["a.json", "bad.json"]);
    assert_eq!(night.errors.len(), 2, "{:?}", night.errors);
    assert!(night.inbox.take(SystemTime::now() + SETTLE * 5).taken.is_empty(), "not tried every turn");
    let later = SystemTime::now() + Duration::from_secs(60);
    let turn = night.inbox.take(later);
    for taken in &turn.taken {
        assert_eq!(night.store(taken).expect("reported before"), Moved::StillStuck);
    }
    fs::create_dir(&processed).and_then(|()| fs::create_dir(&rejected)).expect("made");
    let turn = night.inbox.take(later + Duration::from_secs(60));
    night.put_away(&turn);
    assert_eq!(night.files(), [strings(&[]), strings(&["a.json"]), strings(&["bad.error.json", "bad.json"])]);
    assert_eq!((night.scenarios["a"], night.errors.len()), (1, 2));
}

#[test]
fn a_file_without_permission_is_rejected_unread() {
    let mut night = Night::new();
    let path = night.drop_file("secret.json", scenario("secret"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("its owner may");
    if fs::read(&path).is_ok() {
        println!("skipped: this user may read everything (root)");
        return;
    }
    night.turn();
    assert_eq!(night.files(), [strings(&[]), strings(&[]), strings(&["secret.error.json", "secret.json"])]);
    let sidecar = night.sidecar("secret.error.json");
    assert!(sidecar["sha256"].is_null());
    assert!(
        sidecar["problems"][0]["wrong"]
            .as_str()
            .expect("text")
            .starts_with("this cannot be read: Permission")
    );

    let path = night.drop_file("stuck.json", scenario("stuck"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("its owner may");
    fs::set_permissions(&night.folders.inbox, fs::Permissions::from_mode(0o500)).expect("its owner may");
    night.turn();
    let turn = night.inbox.take(SystemTime::now() + Duration::from_secs(60));
    assert_eq!(night.store(&turn.taken[0]).expect("reported before"), Moved::StillStuck);
    assert_eq!((night.files()[0].len(), night.errors.len()), (1, 1), "{:?}", night.errors);
    fs::set_permissions(&night.folders.inbox, fs::Permissions::from_mode(0o700)).expect("its owner may");
}

#[test]
fn folders_on_several_file_systems_are_refused_at_the_start() {
    let (here, Ok(there)) = (tempfile::tempdir().expect("a folder"), TempDir::new_in("/dev/shm")) else {
        println!("skipped: no /dev/shm");
        return;
    };
    let folders = Folders {
        inbox: here.path().join("inbox"),
        processed: there.path().join("processed"),
        rejected: here.path().join("rejected"),
    };
    match Inbox::open(folders, SETTLE) {
        Err(error) => assert!(error.to_string().contains("is on another file system than"), "{error}"),
        Ok(_) => println!("skipped: the temporary folder is on the file system of /dev/shm"),
    }
}

/// A tiny file system, unmounted at the end.
struct Mount(PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        // The temporary folder around it would report a mount that stays.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_loses_nothing_and_is_retried() {
    let dir = tempfile::tempdir().expect("a folder");
    let state = dir.path().join("state");
    fs::create_dir(&state).expect("made");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&state).output();
    if !mounted.is_ok_and(|mounted| mounted.status.success()) {
        println!("skipped: no tmpfs can be mounted here (needs root)");
        return;
    }
    let mount = Mount(state.clone());
    let mut night = Night::within(dir, &state);
    night.drop_file("a.json", scenario("a"));
    night.drop_file("bad.json", "{]");
    let filler = state.join("filler");
    let mut file = fs::File::create(&filler).expect("made");
    while file.write_all(&[0; 512]).is_ok() {}
    night.turn();
    assert_eq!(night.files()[1], ["a.json"], "a move needs no room");
    assert_eq!((night.files()[0].clone(), night.files()[2].clone()), (strings(&["bad.json"]), strings(&[])));
    assert!(night.errors.len() == 1 && night.errors[0].contains("No space left"), "{:?}", night.errors);

    fs::remove_file(&filler).expect("removed");
    drop(file);
    let turn = night.inbox.take(SystemTime::now() + Duration::from_secs(60));
    night.put_away(&turn);
    assert_eq!(night.files(), [strings(&[]), strings(&["a.json"]), strings(&["bad.error.json", "bad.json"])]);
    drop(mount);
}
