//! The architecture as a test: which module may name which, how long files may be, that each says what lives in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each module with the modules of this crate that it may name, in the order of the data flow. What is missing from a row
/// is forbidden; `decode` is taken apart, since its parts matter most.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("hash", &[]),
    ("config", &["decode::constraint", "decode::engine::switch", "decode::profile", "scenario", "score"]),
    ("scenario", &["hash"]),
    ("grammars", &["decode::constraint", "scenario"]),
    ("dataset", &["scenario"]),
    ("inbox", &["hash", "scenario"]),
    ("models", &["hash"]),
    ("prompt", &["scenario"]),
    ("decode::profile", &["decode::constraint"]),
    ("decode::vocab", &[]),
    ("decode::constraint", &[]),
    ("decode::allowed", &["decode::vocab", "decode::constraint"]),
    ("decode::sampler", &["decode::profile", "decode::vocab"]),
    ("decode::loops", &["decode::vocab"]),
    (
        "decode::sequence",
        &[
            "decode::allowed",
            "decode::engine::frames",
            "decode::loops",
            "decode::profile",
            "decode::sampler",
            "decode::vocab",
        ],
    ),
    (
        "decode::engine",
        &[
            "decode::allowed",
            "decode::constraint",
            "decode::profile",
            "decode::sequence",
            "decode::vocab",
            "hash",
            "prompt",
        ],
    ),
    (
        "plan",
        &[
            "decode::constraint",
            "decode::engine::frames",
            "decode::profile",
            "hash",
            "prompt",
            "scenario",
            "store",
        ],
    ),
    ("parse", &[]),
    ("score", &["parse"]),
    ("store", &["decode::engine::frames", "hash", "parse", "scenario", "score"]),
    ("judge", &["decode::engine::frames", "parse", "plan", "score", "store"]),
    (
        "generate",
        &[
            "dataset",
            "decode::constraint",
            "decode::engine::frames",
            "decode::engine::process",
            "decode::profile",
            "hash",
            "prompt",
            "scenario",
        ],
    ),
    ("report", &["dataset", "scenario", "score", "store"]),
    (
        "daemon",
        &[
            "config",
            "decode::engine::frames",
            "decode::engine::process",
            "decode::profile",
            "grammars",
            "hash",
            "inbox",
            "judge",
            "models",
            "plan",
            "scenario",
            "store",
        ],
    ),
    (
        "cli",
        &[
            "config",
            "daemon",
            "decode::allowed",
            "decode::constraint",
            "dataset",
            "decode::engine::frames",
            "decode::engine::llama",
            "decode::engine::process",
            "decode::engine::switch",
            "decode::engine::worker",
            "decode::vocab",
            "grammars",
            "generate",
            "hash",
            "judge",
            "models",
            "parse",
            "plan",
            "report",
            "scenario",
            "score",
            "store",
        ],
    ),
];

/// Crates that only one module may name.
const FENCED: &[(&str, &str)] = &[
    ("llama_cpp_2", "src/decode/engine/llama.rs"),
    ("rusqlite", "src/store/"),
    ("notify", "src/inbox/"),
    ("tokio", "src/daemon/ src/inbox/watch.rs src/decode/engine/process.rs src/generate/run.rs"),
    ("clap", "src/cli/ src/main.rs"),
];

const LONGEST_FILE: usize = 400;

fn sources() -> BTreeMap<PathBuf, String> {
    fn visit(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.insert(path.clone(), fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(Path::new("src"), &mut found);
    found
}

/// `src/decode/engine/worker.rs` as `decode::engine::worker`.
fn module(path: &Path) -> String {
    let parts: Vec<String> =
        path.with_extension("").iter().skip(1).map(|part| part.to_string_lossy().into_owned()).collect();
    parts.join("::").trim_end_matches("::mod").to_owned()
}

fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| {
        let stem = stem.to_string_lossy();
        stem.ends_with("tests") || stem == "testing"
    })
}

/// The text without comments and without what follows `#[cfg(test)]`.
fn code(text: &str) -> String {
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    before_tests.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Every `crate::…` path in the code, groups taken apart.
fn named(code: &str) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let inner = group.split('}').next().unwrap_or_default();
            assert!(!inner.contains('{'), "take apart the nested group in `crate::{{{inner}`");
            paths.extend(inner.split(',').map(|path| path.trim().to_owned()).filter(|path| !path.is_empty()));
        } else {
            paths
                .insert(rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect());
        }
    }
    paths
}

fn is_inside(path: &str, module: &str) -> bool {
    path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"))
}

#[test]
fn modules_name_only_what_lies_before_them() {
    let mut broken = Vec::new();
    for (path, text) in sources().iter().filter(|(path, _)| !is_test(path)) {
        let module = module(path);
        if ["lib", "main", "decode"].contains(&module.as_str()) {
            continue;
        }
        let rule = MAY_NAME.iter().find(|(name, _)| is_inside(&module, name));
        let (own, allowed) = rule.unwrap_or_else(|| panic!("{module} is in no row of MAY_NAME"));
        for named in named(&code(text)) {
            // `pub(in crate::decode)` is a visibility, not a use.
            let good = named == "decode"
                || is_inside(&named, own)
                || allowed.iter().any(|name| is_inside(&named, name));
            if !good {
                broken.push(format!("{} names crate::{named}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn crates_stay_behind_their_fences() {
    for (path, text) in sources().iter().filter(|(path, _)| !is_test(path)) {
        for (name, homes) in FENCED {
            let at_home = homes.split(' ').any(|home| path.to_string_lossy().starts_with(home));
            let text = code(text);
            let uses = [format!("{name}::"), format!("use {name}")].iter().any(|use_| {
                text.match_indices(use_.as_str()).any(|(at, _)| {
                    !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
                })
            });
            assert!(at_home || !uses, "{} uses {name}, which belongs to {homes}", path.display());
        }
    }
}

#[test]
fn files_are_short_and_say_what_lives_in_them() {
    for (path, text) in sources() {
        let n_lines = text.lines().count();
        assert!(n_lines <= LONGEST_FILE, "{} has {n_lines} lines, more than {LONGEST_FILE}", path.display());
        assert!(
            is_test(&path) || text.starts_with("//! "),
            "{} does not say what lives in it",
            path.display()
        );
    }
}

#[test]
fn the_checker_sees_what_it_should() {
    let code = "use crate::store::{Reader};\nuse crate::{parse::Json, score};\nlet x = crate::plan::Key(y);\nmycrate::z";
    assert_eq!(
        named(code).into_iter().collect::<Vec<_>>(),
        ["parse::Json", "plan::Key", "score", "store::"].map(str::to_owned)
    );
    assert!(
        is_inside("decode::vocab::Mask", "decode::vocab")
            && !is_inside("decode::vocabulary", "decode::vocab")
    );
}
