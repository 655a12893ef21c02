use std::path::Path;

use super::*;

fn parse(text: &str) -> Result<Config, Error> {
    Config::parse(&[Layer::file(text, "config.toml")?], Path::new("/base"))
}

#[test]
fn the_shipped_file_is_the_default() {
    let config = parse("").expect("defaults are complete");
    assert_eq!(config.paths.state, Path::new("/base/state"));
    assert_eq!(config.profile.name, "greedy");
    assert_eq!(config.scoring, Constants::default(), "config.toml and the spec's constants differ");
    let written: toml::Table = toml::from_str(DEFAULT).unwrap();
    assert_eq!(written.keys().count(), 9, "every table of config.toml is read");
}

#[test]
fn every_default_can_be_set_by_file_variable_and_flag() {
    let config = Config::parse(
        &[
            Layer::file("[engine]\nslots = 2\nthreads = 1\n[inbox]\nsettle_ms = 5", "c.toml").unwrap(),
            Layer::environment([("NIGHTJAR_ENGINE_SLOTS".into(), "3".into())]).unwrap(),
            Layer::flags(["engine.slots=4", "sweep.strategies=J,PJ+", "profiles.greedy.temperature=1"])
                .unwrap(),
        ],
        Path::new("."),
    )
    .unwrap();
    assert_eq!((config.engine.slots, config.engine.threads, config.inbox.settle_ms), (4, 1, 5));
    assert_eq!(config.sweep.strategies, [Strategy::J, Strategy::PJPlus]);
    assert!((config.profile.temperature - 1.0).abs() < f32::EPSILON);
}

#[test]
fn a_new_profile_takes_the_rest_from_greedy() {
    let config =
        parse("[sweep]\nprofile = \"short\"\n[profiles.short]\nmax_tokens = 7\nthinking = true").unwrap();
    assert_eq!((config.profile.name.as_str(), config.profile.max_tokens), ("short", 7));
    assert_eq!(config.profile.context, 4096);
}

#[test]
fn the_shipped_profiles_are_good() {
    let profile = |name: &str| parse(&format!("[sweep]\nprofile = \"{name}\"")).expect("shipped").profile;
    let (modern, ollama) = (profile("modern"), profile("ollama-2025"));
    assert!(modern.mask_first && modern.grammar.is_empty());
    assert_eq!(
        (ollama.top_k, ollama.repeat_last_n, ollama.context, ollama.mask_first),
        (40, 64, 4096, false)
    );
    assert_eq!(ollama.whitespace, crate::decode::constraint::Whitespace::Ollama2025);
    assert_eq!(ollama.grammar, "ollama-2025");
    let keyed = serde_json::to_string(&modern).expect("plain data");
    assert!(!keyed.contains("grammar"), "keys from before there were grammars stay: {keyed}");
}

#[test]
fn mistakes_are_named_with_their_place() {
    let cases = [
        "[engine]\nslot = 3",
        "\n\n[engin]\nslots = 3",
        "[engine]\nslots = \"3\"",
        "[engine]\nslots = 257",
        "[engine]\nslots = -1",
        "[engine]\nbatch = 40\nslots = 41",
        "[sweep]\nstrategies = [\"J\", \"Q\"]",
        "[sweep]\nstrategies = []",
        "[sweep]\nprofile = \"gredy\"",
        "[profiles.mine]\ntemprature = 1.0",
        "[sweep]\nprofile = \"m\"\n[profiles.m]\ntop_p = 1.5",
        "[sweep]\nprofile = \"m\"\n[profiles.m]\ndate = \"1.1.2026\"",
        "[sweep]\nprofile = \"m\"\n[profiles.m]\nmember_order = \"random\"",
        "engine = 3",
        "[engine]\nslots = = 3",
    ];
    let errors: Vec<String> = cases.iter().map(|text| parse(text).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(errors.join("\n"));
}
