//! Files that arrive while the folder is watched.

use std::fs;
use std::path::Path;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use nightjar::inbox::Watch;

use crate::night::{Night, SETTLE, append, case, scenario, strings, watched};

#[tokio::test]
async fn a_file_that_is_written_in_pieces_is_taken_when_it_is_whole() {
    let mut night = Night::new();
    let mut watch = watched(&night);
    let text = scenario("slow");
    let path = night.folders.inbox.join("slow.json");
    let writer = spawn(move || {
        fs::write(&path, "").expect("made");
        let pieces: Vec<&str> =
            (0..10).map(|i| &text[i * text.len() / 10..(i + 1) * text.len() / 10]).collect();
        for (index, piece) in pieces.into_iter().enumerate() {
            append(&path, piece);
            // Mostly faster than the settle time, once in a while much slower.
            sleep(if index % 4 == 3 { SETTLE * 2 } else { SETTLE / 3 });
        }
    });
    night.watch(&mut watch, |night| !night.scenarios.is_empty()).await;
    writer.join().expect("written");
    assert_eq!(night.files(), [strings(&[]), strings(&["slow.json"]), strings(&[])]);
    assert_eq!((night.turns, night.errors.len()), (1, 0));
}

#[tokio::test]
async fn a_file_renamed_in_is_taken_through_its_event_at_the_first_look() {
    let mut night = Night::new();
    let mut watch = watched(&night);
    night.watch(&mut watch, |_| true).await;
    for (hidden, name) in [(".a", "a.json"), ("b.json.part", "b.json"), ("c.tmp", "c.json")] {
        let path = night.drop_file(hidden, scenario(&name[..1]));
        sleep(SETTLE * 2);
        fs::rename(&path, night.folders.inbox.join(name)).expect("renamed");
        night.watch(&mut watch, |night| night.scenarios.contains_key(&name[..1])).await;
    }
    let other = night.folders.inbox.with_file_name("elsewhere.json");
    fs::write(&other, scenario("d")).expect("written");
    fs::rename(&other, night.folders.inbox.join("d.json")).expect("renamed");
    night.watch(&mut watch, |night| night.scenarios.contains_key("d")).await;
    assert_eq!(
        night.files(),
        [strings(&[]), strings(&["a.json", "b.json", "c.json", "d.json"]), strings(&[])]
    );
}

#[tokio::test]
async fn five_hundred_files_at_once_are_all_taken_and_a_bad_one_blocks_only_itself() {
    let mut night = Night::new();
    night.drop_file("before.json", scenario("before"));
    let mut watch = watched(&night);
    for index in 0..498 {
        night.drop_file(&format!("{index}.json"), scenario(&format!("s{index}")));
    }
    night.drop_file("bad.json", "[1, 2");
    night.drop_file("more.jsonl", case("before", "1") + &case("s497", "2"));
    night.watch(&mut watch, |night| night.files()[0].is_empty()).await;
    assert_eq!((night.scenarios.len(), night.scenarios.values().sum::<usize>()), (499, 501));
    assert_eq!(night.files()[1].len(), 500);
    assert_eq!(night.files()[2], ["bad.error.json", "bad.json"]);
    assert!(night.turns >= 8, "{} turns", night.turns);
    assert_eq!(night.errors, [""; 0]);
}

#[tokio::test]
async fn a_folder_made_anew_is_watched_again_after_a_rescan() {
    let mut night = Night::new();
    let rescan = Duration::from_secs(1);
    let (mut watch, error) = Watch::start(&night.folders.inbox, rescan);
    assert!(error.is_none());
    fs::remove_dir(&night.folders.inbox).expect("removed");
    night.watch(&mut watch, |night| !night.errors.is_empty()).await;
    assert!(night.errors[0].starts_with("cannot look into "), "{:?}", night.errors);
    fs::create_dir(&night.folders.inbox).expect("made");
    night.drop_file("a.json", scenario("a"));
    night.watch(&mut watch, |night| night.scenarios.contains_key("a")).await;

    // Only an event can bring the next look so soon after a rescan.
    watch.look_again().await;
    watch.look_again().await;
    night.drop_file("b.json", scenario("b"));
    let start = Instant::now();
    watch.look_again().await;
    assert!(start.elapsed() < rescan * 3 / 4, "{:?}", start.elapsed());

    let (_, error) = Watch::start(Path::new("/nowhere"), rescan);
    assert!(error.expect("no such folder").to_string().starts_with("cannot watch /nowhere, so files in it"));
}
