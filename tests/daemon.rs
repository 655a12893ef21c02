//! A daemon over its whole life. Alone in its test program, since it is stopped by a signal to the process.

mod house;

use house::{House, WORDS, rows, scenario};
use nightjar::store::{Reader, RunCommand, RunEnding};

#[test]
fn files_dropped_while_the_daemon_runs_join_the_plan_and_status_answers_meanwhile() {
    let house = House::with_models(&["alpha"]);
    house.drop_in("words.json", &scenario("words", &WORDS));
    let setup = house.setup(RunCommand::Daemon);
    let daemon = std::thread::spawn(move || nightjar::daemon::run(setup));
    let wait_for = |n: &str| {
        for _ in 0..600 {
            if house.database().exists()
                && rows(&house, "SELECT count(*) FROM sqlite_master WHERE name = 'attempts'") == "1"
                && rows(&house, "SELECT count(*) FROM attempts") == n
            {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("never {n} attempts: {}", rows(&house, "SELECT count(*) FROM attempts"));
    };
    wait_for("15");
    house.drop_in("more.json", &scenario("more", &WORDS[..1]));
    wait_for("20");
    let reader = Reader::open(&house.database()).unwrap();
    let status = reader.status().unwrap().expect("a run");
    assert!(status.run.ended_at.is_none() && status.progress.is_some());
    assert!(nightjar::daemon::is_locked(&house.state()));
    assert!(matches!(house.sweep(), Err(nightjar::daemon::Error::Locked(_))), "one daemon to a folder");
    // The daemon handles signals of its process, and that is this test's process.
    let told =
        std::process::Command::new("kill").args(["-TERM", &std::process::id().to_string()]).status().unwrap();
    assert!(told.success());
    let ending = daemon.join().unwrap().unwrap();
    assert!(ending.interrupted && ending.n_missing == 0);
    let status = reader.status().unwrap().expect("a run");
    assert_eq!(status.run.ending.map(RunEnding::as_str), Some("interrupted"));
}
