//! What a turn makes of each kind of file.

use std::fs;
use std::time::{Duration, SystemTime};

use nightjar::inbox::{FILES_A_TURN, Moved, Taken};

use crate::night::{Night, SETTLE, case, scenario, settled, strings};

#[test]
fn a_full_folder_is_taken_in_turns_without_waiting_between_them() {
    let mut night = Night::new();
    for index in 0..=FILES_A_TURN {
        night.drop_file(&format!("{index}.json"), scenario(&format!("s{index}")));
    }
    assert_eq!(night.turn(), Some(Duration::ZERO));
    assert_eq!(night.turn(), None);
    assert_eq!((night.scenarios.len(), night.turns), (FILES_A_TURN + 1, 2));
}

#[test]
fn the_same_file_twice_is_stored_once_and_kept_twice() {
    let mut night = Night::new();
    for _ in 0..3 {
        night.drop_file("a.json", scenario("a"));
        night.turn();
    }
    night.drop_file("b.json", scenario("a"));
    night.turn();
    assert_eq!(night.scenarios["a"], 1);
    assert_eq!(
        night.files(),
        [strings(&[]), strings(&["a-2.json", "a-3.json", "a.json", "b.json"]), strings(&[])]
    );
}

#[test]
fn a_bad_file_lies_beside_what_is_wrong_with_it() {
    let mut night = Night::new();
    let bad = scenario("a")
        .replace("\"type\":\"object\"", "\"type\":\"objekt\"")
        .replace("\"cases\"", "\"casess\"");
    let path = night.drop_file("bad.json", &bad);
    let turn = night.inbox.take(settled());
    let Taken { claimed, contents: Err(problems) } = &turn.taken[0] else { panic!("{turn:?}") };
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let moved = night.inbox.reject(claimed, problems, at).expect("moved");
    let to = night.folders.rejected.join("bad.json");
    assert_eq!(moved, Moved::To(to.clone()));
    assert!(!path.exists() && fs::read_to_string(to).expect("there") == bad);
    insta::assert_snapshot!(fs::read_to_string(night.folders.rejected.join("bad.error.json")).expect("there"), @r#"
    {
      "file": "bad.json",
      "sha256": "d14292d53ad4cc6c00593fbea09153c1df1c9003c0254333f6097a9eb724fa6d",
      "rejected_at": "2027-01-15T08:00:00Z",
      "problems": [
        {
          "pointer": "/casess",
          "wrong": "unknown member `casess`",
          "right": "`cases`"
        },
        {
          "pointer": "/schema/type",
          "wrong": "this is no valid JSON Schema: \"objekt\" is not valid under any of the schemas listed in the 'anyOf' keyword",
          "right": "`object`"
        },
        {
          "pointer": "",
          "wrong": "the member `cases` is missing",
          "right": "an array of at least one {\"text\": …, \"expected\": …}"
        }
      ]
    }
    "#);
}

#[test]
fn a_file_that_stays_half_written_is_rejected_after_a_while() {
    let mut night = Night::new();
    let text = scenario("half");
    night.drop_file("half.json", &text[..text.len() / 2]);
    night.drop_file("empty.json", "");
    night.drop_file("half.jsonl", &case("half", "t")[..20]);
    night.drop_file("character.json", &"{\"ü".as_bytes()[..3]);
    night.drop_file("wrong.json", "{]");
    let written = SystemTime::now();
    let turn = night.inbox.take(written + SETTLE * 2);
    assert!(turn.look_again.is_some_and(|wait| wait <= SETTLE * 8), "{:?}", turn.look_again);
    night.put_away(&turn);
    assert_eq!(night.files()[2], ["wrong.error.json", "wrong.json"], "what is plainly wrong does not wait");

    let turn = night.inbox.take(written + SETTLE * 10);
    night.put_away(&turn);
    let wrong = |name: &str| night.sidecar(name)["problems"][0]["wrong"].as_str().expect("text").to_owned();
    let table = [
        ("character.error.json", "this is no UTF-8"),
        ("empty.error.json", "this is empty"),
        ("half.error.json", "this is no JSON: EOF"),
        ("half-2.error.json", "this is no JSON: EOF"),
    ];
    for (name, expected) in table {
        assert!(wrong(name).starts_with(expected), "{name}: {}", wrong(name));
    }
    assert_eq!(night.files()[2].len(), 10);
}

#[test]
fn what_no_scenario_file_can_be_is_refused_and_says_what_would_be_right() {
    let mut night = Night::new();
    night.drop_file("notes.txt", "x");
    night.drop_file("noext", "x");
    night.drop_file("a.error.json", "{}");
    night.drop_file("utf16.json", [0xff, 0xfe, b'{', 0]);
    night.drop_file("latin1.json", b"{\n \"na\xefve\": 1}");
    night.drop_file("b.jsonl", case("nobody", "t"));
    let large = night.drop_file("large.json", "");
    fs::File::options()
        .write(true)
        .open(large)
        .and_then(|file| file.set_len((64 << 20) + 1))
        .expect("sparse");
    night.turn();
    assert_eq!(night.files()[0], [""; 0]);
    assert_eq!(night.files()[2].len(), 14);
    let said = |name: &str| {
        let sidecar = night.sidecar(name);
        let problem = &sidecar["problems"][0];
        let text = |member: &str| problem[member].as_str().expect("text").to_owned();
        (text("wrong"), text("right"), sidecar["sha256"].is_string(), problem["line"].as_u64())
    };
    let names = "NAME.json for a scenario, NAME.jsonl for more cases of known ones, one a line";
    let table = [
        ("notes.error.json", "this name says neither scenario nor cases", names, false, None),
        ("noext.error.json", "this name says neither scenario nor cases", names, false, None),
        (
            "a.error.error.json",
            "this lies beside a rejected file and says why",
            "the corrected file alone",
            false,
            None,
        ),
        ("utf16.error.json", "this is UTF-16", "text in UTF-8", true, Some(1)),
        ("latin1.error.json", "this is no UTF-8", "text in UTF-8", true, Some(2)),
        (
            "b.error.json",
            "no scenario is named `nobody`",
            "first a scenario file that is named `nobody`",
            true,
            Some(1),
        ),
        (
            "large.error.json",
            "this has 67108865 bytes",
            "at most 67108864 bytes; cases can come in several files",
            false,
            None,
        ),
    ];
    for (name, wrong, right, hashed, line) in table {
        assert_eq!(said(name), (wrong.to_owned(), right.to_owned(), hashed, line), "{name}");
    }
}

#[test]
fn a_scenario_and_more_cases_for_it_can_come_together() {
    let mut night = Night::new();
    night.drop_file("a.jsonl", case("z", "1") + &case("z", "2"));
    night.drop_file("z.json", scenario("z"));
    night.turn();
    assert_eq!((night.turns, night.scenarios["z"]), (1, 3));
    night.drop_file("a.jsonl", case("z", "3") + &case("zz", "4") + &case("zzz", "5"));
    night.turn();
    assert_eq!(night.scenarios["z"], 3, "one unknown name refuses the whole file");
    let problems = night.sidecar("a.error.json")["problems"].clone();
    let lines: Vec<Option<u64>> =
        problems.as_array().expect("a list").iter().map(|problem| problem["line"].as_u64()).collect();
    assert_eq!(lines, [Some(2), Some(3)]);
}

#[test]
fn nothing_is_overwritten_whatever_the_names() {
    let mut night = Night::new();
    let long = "ü".repeat(122);
    for round in 0..3 {
        for name in ["a.json", "a.txt", "b", &format!("{long}.json")] {
            night.drop_file(name, format!("[{round}"));
        }
        night.turn();
    }
    let rejected = night.files()[2].clone();
    assert_eq!(rejected.len(), 24, "{rejected:?}");
    for (file, kept, round) in
        [("a.json", "a.json", 0), ("a.txt", "a-2.txt", 0), ("a.json", "a-3.json", 1), ("b", "b-3", 2)]
    {
        assert_eq!(
            fs::read_to_string(night.folders.rejected.join(kept)).expect("there"),
            format!("[{round}")
        );
        let sidecar = kept.split('.').next().expect("a stem").to_owned() + ".error.json";
        assert_eq!(night.sidecar(&sidecar)["file"], file);
    }
    assert_eq!(night.errors, [""; 0]);
}
