//! Entries against folders made for the test: a models folder, an Ollama store, a Hugging Face cache.

use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::*;
use crate::models::gguf::testing::Gguf;

const HEX: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A machine with models: `home/`, `etc/` (the base), `ollama/`, `hub/`.
struct Machine {
    root: TempDir,
    places: Places,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let places = Places {
            base: at("etc"),
            home: Some(at("home")),
            ollama_models: Some(at("ollama")),
            hf_hub: Some(at("hub")),
        };
        for name in ["etc", "home", "ollama", "hub"] {
            fs::create_dir(at(name)).unwrap();
        }
        Self { root, places }
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn model(&self, path: &str) -> PathBuf {
        self.write(path, Gguf::model("llama").bytes())
    }

    fn manifest(&self, path: &str, kind: &str, digest: &str) {
        let manifest = serde_json::json!({"schemaVersion": 2, "layers": [
            {"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:00", "size": 1},
            {"mediaType": kind, "digest": digest, "size": 1},
        ]});
        self.write(&format!("ollama/manifests/{path}"), manifest.to_string());
    }

    /// The listing, a line each: name, then architecture or the reason, with the temporary folder as `/`.
    fn list(&self, entries: &[&str]) -> Vec<String> {
        let entries: Vec<_> = entries.iter().map(|&entry| entry.to_owned()).collect();
        let line = |found: &Found| match &found.result {
            Ok(header) => format!("{}: {}", found.name, header.architecture),
            Err(error) => format!("{}: {error}", found.name),
        };
        let root = self.root.path().display().to_string();
        resolve(&entries, &self.places).iter().map(|found| line(found).replace(&root, "")).collect()
    }
}

#[test]
fn paths_start_at_the_base_at_home_or_at_the_root() {
    let machine = Machine::new();
    machine.model("etc/models/a.q4.gguf");
    machine.model("home/b.gguf");
    let absolute = machine.model("else/c[1].gguf").display().to_string();
    let listed = machine.list(&["models/a.q4.gguf", "~/b.gguf", &absolute]);
    assert_eq!(listed, ["a.q4: llama", "b: llama", "c[1]: llama"]);
}

#[test]
fn patterns_list_what_they_match_in_order() {
    let machine = Machine::new();
    for path in ["etc/m/b.gguf", "etc/m/a.gguf", "etc/m/.part.gguf", "etc/m/deep/c.gguf", "home/[x]/d.gguf"] {
        machine.model(path);
    }
    machine.write("etc/m/z.gguf", "no model");
    fs::create_dir(machine.root.path().join("etc/m/folder.gguf")).unwrap();
    let bad = "z: not a GGUF file: starts with \"no model\", not with \"GGUF\"";
    assert_eq!(machine.list(&["m/*.gguf"]), ["a: llama", "b: llama", bad]);
    assert_eq!(machine.list(&["m/**/[ac].gguf"]), ["a: llama", "c: llama"]);
    assert_eq!(machine.list(&["~/*/d.gguf"]), ["d: llama"]);
    let absolute = format!("{}/etc/m/?.gguf", machine.root.path().display());
    assert_eq!(machine.list(&[&absolute]).len(), 3);
}

#[test]
fn a_folder_with_pattern_characters_is_still_a_folder() {
    let mut machine = Machine::new();
    machine.model("[v1]/m/a.gguf");
    machine.places.base = machine.root.path().join("[v1]");
    assert_eq!(machine.list(&["m/*.gguf"]), ["a: llama"]);
}

#[test]
fn a_file_is_listed_once_and_names_are_unique() {
    let machine = Machine::new();
    let real = machine.model("etc/one/m.gguf");
    machine.model("etc/two/m.gguf");
    machine.model("etc/three/two/m.gguf");
    std::os::unix::fs::symlink(&real, machine.root.path().join("etc/link.gguf")).unwrap();
    let listed = machine.list(&["one/m.gguf", "link.gguf", "*/m.gguf", "one/../one/m.gguf", "three/*/*"]);
    assert_eq!(listed, ["m: llama", "two/m: llama", "m-2: llama"]);
}

#[test]
fn a_split_model_is_one_model() {
    let machine = Machine::new();
    for part_idx in 0..2_u16 {
        let part = Gguf::model("llama").u16("split.no", part_idx).u16("split.count", 2).bytes();
        machine.write(&format!("etc/m/big-{:05}-of-00002.gguf", part_idx + 1), part);
    }
    machine.write(
        "etc/m/lost-00002-of-00002.gguf",
        Gguf::empty().u16("split.no", 1).u16("split.count", 2).bytes(),
    );
    let lost = "lost: part 2 of 2 of a split model; name its first part, `lost-00001-of-00002.gguf`";
    assert_eq!(machine.list(&["m/*"]), ["big: llama", lost]);
}

#[test]
fn paths_that_lead_nowhere_say_what_is_near() {
    let machine = Machine::new();
    machine.model("etc/models/smollm2.gguf");
    let cases = [
        (
            "models/smolm2.gguf",
            "no file `smolm2.gguf` in /etc/models; the nearest name there is `smollm2.gguf`",
        ),
        ("modles/smollm2.gguf", "no file `modles/smollm2.gguf` in /etc; the nearest name there is `models`"),
        ("models/zzz", "no file `zzz` in /etc/models"),
        ("models", "/etc/models is a folder; name a file in it, or `/etc/models/*.gguf` for all"),
        ("models/*.bin", "no file matches `models/*.bin` in /etc"),
        ("models/[.gguf", "bad pattern `/etc/models/[.gguf`: Pattern syntax error"),
        ("https://host/m.gguf", "`https://host/m.gguf` is an address, and nothing is downloaded here"),
    ];
    for (entry, expected) in cases {
        let [line] = &machine.list(&[entry])[..] else { panic!("{entry} is not one line") };
        let reason = line.strip_prefix(&format!("{entry}: ")).expect("a broken entry is listed as written");
        assert!(reason.starts_with(expected), "{entry}: {reason}");
    }
}

#[test]
fn ollama_names_lead_through_their_manifest_to_a_blob() {
    let model = "application/vnd.ollama.image.model";
    let machine = Machine::new();
    for (number, manifest) in [
        "registry.ollama.ai/library/qwen3/0.6b",
        "registry.ollama.ai/library/qwen3/latest",
        "registry.ollama.ai/me/tuned/v1",
        "hf.co:8080/org/repo/Q4_K_M",
    ]
    .iter()
    .enumerate()
    {
        let hex = format!("{number}{}", &HEX[1..]);
        machine.manifest(manifest, model, &format!("sha256:{hex}"));
        machine.model(&format!("ollama/blobs/sha256-{hex}"));
    }
    let entries =
        ["ollama:qwen3:0.6b", "ollama:qwen3", "ollama:me/tuned:v1", "ollama:hf.co:8080/org/repo:Q4_K_M"];
    let expected = [
        "qwen3:0.6b: llama",
        "qwen3:latest: llama",
        "me/tuned:v1: llama",
        "hf.co:8080/org/repo:Q4_K_M: llama",
    ];
    assert_eq!(machine.list(&entries), expected);
}

#[test]
fn ollama_names_that_lead_nowhere_say_why() {
    let model = "application/vnd.ollama.image.model";
    let machine = Machine::new();
    let digest = format!("sha256:{HEX}");
    machine.manifest("registry.ollama.ai/library/gone/1b", model, &digest);
    machine.manifest("registry.ollama.ai/library/cloud/1b", "application/vnd.ollama.image.license", &digest);
    machine.manifest("registry.ollama.ai/library/lora/1b", "application/vnd.ollama.image.adapter", &digest);
    machine.manifest("registry.ollama.ai/library/evil/1b", model, "sha256:../../../etc/passwd");
    machine.write("ollama/manifests/registry.ollama.ai/library/cut/1b", "{\"layers\": [");
    let at = |name: &str| format!("/ollama/manifests/registry.ollama.ai/library/{name}/1b: ");
    let cases = [
        ("gonne:1b", "no Ollama model `gonne:1b` in /ollama; the nearest name there is `gone:1b`".to_owned()),
        ("gone:1b", format!("{}its model file /ollama/blobs/sha256-{HEX} is missing; pull", at("gone"))),
        ("cloud:1b", format!("{}has no GGUF layer", at("cloud"))),
        ("lora:1b", format!("{}a model with an adapter on top", at("lora"))),
        ("evil:1b", format!("{}its model's digest is `sha256:../../../etc/passwd`, not", at("evil"))),
        ("cut:1b", format!("{}not JSON: EOF while parsing", at("cut"))),
        ("../x", "`ollama:../x` has not the form `ollama:[HOST/][NAMESPACE/]NAME[:TAG]`".to_owned()),
        ("a/b/c/d", "`ollama:a/b/c/d` has not the form".to_owned()),
        ("qwen3:", "`ollama:qwen3:` has not the form".to_owned()),
    ];
    for (name, expected) in cases {
        let entry = format!("ollama:{name}");
        let line = machine.list(&[&entry]).remove(0);
        assert!(line.starts_with(&format!("{entry}: {expected}")), "{line}");
    }
}

#[test]
fn without_a_variable_the_store_at_home_is_looked_at() {
    let mut machine = Machine::new();
    machine.manifest(
        "registry.ollama.ai/library/m/latest",
        "application/vnd.ollama.image.model",
        &format!("sha256:{HEX}"),
    );
    machine.model(&format!("ollama/blobs/sha256-{HEX}"));
    fs::create_dir(machine.root.path().join("home/.ollama")).unwrap();
    fs::rename(machine.root.path().join("ollama"), machine.root.path().join("home/.ollama/models")).unwrap();
    machine.places.ollama_models = None;
    assert_eq!(machine.list(&["ollama:m"]), ["m:latest: llama"]);
}

/// A cache with two snapshots of `org/repo`; `main` points to the older one.
fn hub() -> Machine {
    let machine = Machine::new();
    let repository = "hub/models--org--repo";
    machine.model(&format!("{repository}/blobs/b1"));
    machine.write(&format!("{repository}/refs/main"), "c0ffee\n");
    for (commit, file, age) in
        [("c0ffee", "m-Q4_K_M.gguf", 20), ("decade", "m-Q4_K_M.gguf", 30), ("newest", "m-Q8_0.gguf", 10)]
    {
        let folder = machine.root.path().join(repository).join("snapshots").join(commit);
        fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink("../../blobs/b1", folder.join(file)).unwrap();
        std::os::unix::fs::symlink("../../blobs/not-yet", folder.join("m-F16.gguf")).unwrap();
        fs::File::open(&folder).unwrap().set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    machine
}

#[test]
fn hub_entries_lead_to_the_snapshot_of_main_else_to_the_newest() {
    let machine = hub();
    let path = |entry: &str| {
        let found = resolve(&[entry.to_owned()], &machine.places).remove(0);
        assert!(found.result.is_ok(), "{:?}", found.result);
        found
            .path
            .unwrap()
            .strip_prefix(machine.root.path().join("hub/models--org--repo/snapshots"))
            .unwrap()
            .to_owned()
    };
    assert_eq!(path("hf:org/repo/m-Q4_K_M.gguf"), Path::new("c0ffee/m-Q4_K_M.gguf"));
    assert_eq!(path("hf:org/repo/*Q4*"), Path::new("c0ffee/m-Q4_K_M.gguf"));
    assert_eq!(path("hf:org/repo/m-Q8_0.gguf"), Path::new("newest/m-Q8_0.gguf"));
    fs::remove_file(machine.root.path().join("hub/models--org--repo/refs/main")).unwrap();
    assert_eq!(
        path("hf:org/repo/m-Q4_K_M.gguf"),
        Path::new("c0ffee/m-Q4_K_M.gguf"),
        "the newer of the two that have it"
    );
    let links = machine.list(&["hf:org/repo/m-Q4_K_M.gguf", "hf:org/repo/m-Q8_0.gguf"]);
    assert_eq!(links, ["m-Q4_K_M: llama"], "both are links to the same blob");
}

#[test]
fn hub_entries_that_lead_nowhere_say_why() {
    let mut machine = hub();
    let cases = [
        ("hf:org/rebo/m.gguf", "no repository `org/rebo` in /hub; the nearest name there is `org/repo`"),
        ("hf:org/repo/m-F16.gguf", "no downloaded file `m-F16.gguf` in /hub/models--org--repo"),
        (
            "hf:org/repo/m-Q5_0.gguf",
            "no downloaded file `m-Q5_0.gguf` in /hub/models--org--repo; the nearest name there is `m-Q8_0",
        ),
        ("hf:org/repo", "`hf:org/repo` has not the form `hf:ORG/REPO/FILE`"),
        ("hf:../repo/x", "`hf:../repo/x` has not the form"),
    ];
    for (entry, expected) in cases {
        let line = machine.list(&[entry]).remove(0);
        assert!(line.starts_with(&format!("{entry}: {expected}")), "{line}");
    }
    machine.places = Places { hf_hub: None, home: None, ..machine.places };
    assert_eq!(
        machine.list(&["hf:a/b/c", "~/m.gguf"]),
        [
            "hf:a/b/c: the Hugging Face cache cannot be found: no home folder is known",
            "~/m.gguf: `~/m.gguf` cannot be found: no home folder is known",
        ]
    );
}

#[test]
fn places_come_from_variables_in_the_tools_own_order() {
    let set = |vars: &'static [(&'static str, &'static str)]| {
        let value = |name: &str| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Places::new("/base".into(), value)
    };
    let all = set(&[("HOME", "/h"), ("HF_HOME", "/hf"), ("HF_HUB_CACHE", "/hub"), ("OLLAMA_MODELS", "/o")]);
    assert_eq!(all.hub().unwrap(), Path::new("/hub"));
    assert_eq!(all.ollama_stores(), [Path::new("/o")]);
    assert_eq!(set(&[("HF_HOME", "/hf"), ("XDG_CACHE_HOME", "/c")]).hub().unwrap(), Path::new("/hf/hub"));
    assert_eq!(set(&[("XDG_CACHE_HOME", "/c")]).hub().unwrap(), Path::new("/c/huggingface/hub"));
    let home = set(&[("HOME", "/h"), ("OLLAMA_MODELS", "")]);
    assert_eq!(home.hub().unwrap(), Path::new("/h/.cache/huggingface/hub"));
    let stores = ["/h/.ollama/models", "/usr/share/ollama/.ollama/models"];
    assert_eq!(home.ollama_stores(), stores.map(Path::new));
}
