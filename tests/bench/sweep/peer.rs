//! llama.cpp's server, driven so that all its slots stay busy.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nightjar::decode::engine::frames::Constraint;
use serde_json::{Value, json};

use super::{Arguments, Asked, Tally};

/// The server's process, killed at the end.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("the server is ours to end");
    }
}

/// A fresh server answers everything once.
pub(crate) fn run(program: &Path, arguments: &Arguments, asked: &[Asked]) -> Result<Tally> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let slots = arguments.server_slots;
    let mut command = Command::new(program);
    command
        .arg("--model")
        .arg(&arguments.model)
        .args(["--host", "127.0.0.1", "--port", &port.to_string(), "--parallel", &slots.to_string()])
        .args(["--ctx-size", &(slots * arguments.context).to_string(), "--no-webui"])
        .args(arguments.server_flags.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut server = Server(command.spawn().with_context(|| program.display().to_string())?);
    let address = format!("http://127.0.0.1:{port}");
    await_ready(&address, &mut server)?;
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(vec![Value::Null; asked.len()]);
    let start = Instant::now();
    thread::scope(|scope| {
        // Twice as many clients as slots, so that the next request is there when a slot becomes free.
        let clients: Vec<_> = (0..2 * slots)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(one) = asked.get(index) else { return Ok(()) };
                        let mut response = ureq::post(format!("{address}/completion"))
                            .send_json(request(one, arguments.max_tokens))
                            .with_context(|| format!("attempt {index}"))?;
                        answers.lock().expect("no client panics")[index] = response.body_mut().read_json()?;
                    }
                })
            })
            .collect();
        clients.into_iter().try_for_each(|client| client.join().expect("no client panics"))
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let answers = answers.into_inner().expect("no client panics");
    let sum = |key: &str| answers.iter().filter_map(|answer| answer["timings"][key].as_u64()).sum();
    let text = |answer: &Value| answer["content"].as_str().unwrap_or_default().to_owned();
    Ok(Tally {
        seconds,
        prompt_tokens: answers.iter().filter_map(|answer| answer["tokens_evaluated"].as_u64()).sum(),
        n_prompt: sum("prompt_n"),
        n_decoded: sum("predicted_n"),
        n_output: sum("predicted_n"),
        texts: answers.iter().map(text).collect(),
        model_s: 0.0,
        constraint_s: 0.0,
    })
}

fn request(asked: &Asked, max_tokens: u32) -> Value {
    let mut request =
        json!({"prompt": asked.prompt, "n_predict": max_tokens, "temperature": 0, "cache_prompt": true});
    match &asked.attempt.constraint {
        Constraint::None => {}
        // Its own JSON mode; `grammars/json.gbnf` lets it write blanks after the object until its tokens run out.
        Constraint::Json => request["json_schema"] = json!({"type": "object"}),
        Constraint::Grammar(text) => request["grammar"] = text.as_ref().into(),
        Constraint::Schema(schema) => request["json_schema"] = schema.as_ref().clone(),
    }
    request
}

fn await_ready(address: &str, server: &mut Server) -> Result<()> {
    for _ in 0..600 {
        if let Some(status) = server.0.try_wait()? {
            bail!("the server ended: {status}");
        }
        if ureq::get(format!("{address}/health")).call().is_ok() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(200));
    }
    bail!("the server is not ready after two minutes")
}
