//! `nightjar worker`: one model behind stdin and stdout. Connects pipes to the worker; rules live there.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::decode::engine::frames::{Reply, Request};

/// Exit code of a worker whose daemon has gone without a word.
const ABANDONED: i32 = 70;

/// Requests from stdin, read on a thread of their own.
pub fn requests() -> Receiver<Request> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || read_requests(&sender));
    receiver
}

/// Reads to the end. Pipes closed without [`Request::Finish`] mean that the daemon was killed: nobody will read what
/// is generated from here on, and the next daemon needs the device, so the process ends at once.
fn read_requests(sender: &Sender<Request>) {
    for line in std::io::stdin().lock().lines() {
        let request = line.map_err(|e| e.to_string()).and_then(|line| {
            serde_json::from_str::<Request>(&line).map_err(|e| format!("not a request ({e}): {line}"))
        });
        match request {
            Ok(request) => {
                let last = request == Request::Finish;
                if sender.send(request).is_err() || last {
                    return;
                }
            }
            Err(problem) => {
                eprintln!("worker: {problem}");
                break;
            }
        }
    }
    std::process::exit(ABANDONED);
}

/// Writes one reply as a line; a closed pipe ends the process, as above.
pub fn emit(reply: &Reply) {
    let mut out = std::io::stdout().lock();
    let written = serde_json::to_writer(&mut out, reply).map_err(std::io::Error::from);
    if written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()).is_err() {
        std::process::exit(ABANDONED);
    }
}

/// Loads the model and serves it until told to finish.
///
/// # Errors
/// What the model failed with while it served; that it cannot be loaded is a reply, not an error.
#[cfg(feature = "llama")]
pub fn run(arguments: &super::args::Worker) -> anyhow::Result<()> {
    use crate::decode::engine::llama::{Options, with_model};
    use crate::decode::engine::worker::{Shape, serve};

    let options = Options {
        slots: arguments.slots,
        batch: arguments.batch,
        context: arguments.context,
        threads: arguments.threads,
        flash_attention: arguments.flash_attention,
        batch_invariant: arguments.batch_invariant,
        gpu_layers: arguments.gpu_layers,
    };
    let requests = requests();
    let start = std::time::Instant::now();
    let served = with_model(&arguments.model, options, |model| {
        let load_ms = start.elapsed().as_millis() as u64;
        let (context, slots) = (model.card().context, model.card().slots);
        emit(&Reply::Loaded { context, slots, load_ms });
        let shape = Shape {
            slots,
            batch: options.batch,
            reuse: arguments.reuse,
            share: arguments.share,
            drafts: arguments.drafts,
            draft_forced: arguments.draft_forced,
            group_by_length: arguments.group_by_length,
        };
        serve(model, shape, &requests, &mut |reply| emit(&reply))
    });
    match served {
        Ok(result) => Ok(result?),
        Err(error) => {
            emit(&Reply::Refused { reason: error.to_string() });
            Ok(())
        }
    }
}
