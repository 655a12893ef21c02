//! A worker without weights, for tests of the daemon: it says what each message tells it to say, and fails when told to.
//!
//! It answers a prompt with what stands behind the last `say ` in it. A message that holds `crash always` makes it abort,
//! `crash once` too, but not a second time; `hang` makes it stop without a word. A model file named `refused…` cannot be
//! loaded. Asked to make up an object, it makes one of the prompt, so that another prompt is another object; where the prompt
//! says `uninspired`, always the same one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nightjar::cli::worker::{emit, requests};
use nightjar::decode::engine::frames::Reply;
use nightjar::decode::engine::scripted::{answering, byte_vocab};
use nightjar::decode::engine::worker::{Shape, serve};

/// Enough for every prompt of the tests.
const CONTEXT: u32 = 8000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| arguments.iter().skip_while(|argument| *argument != flag).nth(1);
    let model = PathBuf::from(value("--model").expect("--model"));
    let slots: u32 = value("--slots").and_then(|slots| slots.parse().ok()).expect("--slots");
    let slots = if slots == 0 { 8 } else { slots };
    if model.file_name().is_some_and(|name| name.to_string_lossy().starts_with("refused")) {
        emit(&Reply::Refused { reason: "this model refuses to be loaded".into() });
        return;
    }
    let requests = requests();
    emit(&Reply::Loaded { context: CONTEXT, slots, load_ms: 1 });
    let vocab = Arc::new(byte_vocab(&["\": \"", "{\"", "\"}", "null"]));
    let mut scripted = answering(vocab, CONTEXT, move |prompt| answer(prompt, &model));
    let served = serve(
        &mut scripted,
        Shape { reuse: true, share: true, ..Shape::plain(slots, 512) },
        &requests,
        &mut |reply| emit(&reply),
    );
    served.expect("the batches of the worker follow the rules");
}

fn answer(prompt: &str, model: &Path) -> String {
    if prompt.starts_with("Make up one more JSON object") && !prompt.contains("say ") {
        let mut hasher = DefaultHasher::new();
        prompt.hash(&mut hasher);
        let word = if prompt.contains("uninspired") { 0 } else { hasher.finish() };
        return format!("{{\"word\": \"w{word:x}\"}}");
    }
    let told = prompt.rsplit_once("say ").map_or("", |(_, rest)| rest).trim();
    let has_crashed = model.with_extension("crashed");
    if told.contains("crash always") || (told.contains("crash once") && !has_crashed.exists()) {
        std::fs::write(&has_crashed, "").expect("a place to remember the crash");
        eprintln!("scripted worker: crashing as told");
        std::process::abort();
    }
    if told.contains("hang") {
        std::thread::sleep(std::time::Duration::from_secs(3600));
    }
    told.trim_start_matches("crash once").trim().to_owned()
}
