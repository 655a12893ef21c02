//! notify's events, debounced, as "look again". Never reads a file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::error::Error;

/// A burst of events is one reason to look.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// Says when to look into a folder: at once, after events, and every now and then in case there were none.
#[derive(Debug)]
pub struct Watch {
    folder: PathBuf,
    rescan: Duration,
    watcher: Option<RecommendedWatcher>,
    hints: mpsc::Receiver<()>,
    due: Instant,
    rescan_at: Instant,
}

impl Watch {
    /// Watches `folder`, not what is below it, from now on. Where that is not possible (too many watches, a file
    /// system without events), the error is to be reported, and looks come every `rescan` only.
    pub fn start(folder: &Path, rescan: Duration) -> (Watch, Option<Error>) {
        // One waiting hint says all; a second one would only say it twice.
        let (sender, hints) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |event| on_event(&sender, &event));
        let (watcher, error) = match watcher {
            Ok(mut watcher) => {
                let error = watcher.watch(folder, RecursiveMode::NonRecursive).err();
                (Some(watcher), error)
            }
            Err(error) => (None, Some(error)),
        };
        let now = Instant::now();
        let folder = folder.to_owned();
        let error = error.map(|cause| Error::Watch { path: folder.clone(), cause });
        (Watch { folder, rescan, watcher, hints, due: now, rescan_at: now + rescan }, error)
    }

    /// Sees to it that the next look comes within `wait`.
    pub fn within(&mut self, wait: Duration) {
        self.due = self.due.min(Instant::now() + wait);
    }

    /// Waits until the folder is to be looked at; at first not at all. Nothing is lost when this future is dropped.
    pub async fn look_again(&mut self) {
        loop {
            tokio::select! {
                biased;
                () = sleep_until(self.due.min(self.rescan_at)) => break,
                Some(()) = self.hints.recv() => self.within(DEBOUNCE),
            }
        }
        let now = Instant::now();
        if now >= self.rescan_at {
            self.watch_anew();
        }
        self.rescan_at = now + self.rescan;
        self.due = self.rescan_at;
    }

    /// A folder that was moved away and made again is another one, from which no events would come.
    fn watch_anew(&mut self) {
        if let Some(watcher) = &mut self.watcher {
            // Where the folder is missing, the look that follows says so; there is nothing more to do here.
            let _ = watcher.watch(&self.folder, RecursiveMode::NonRecursive);
        }
    }
}

/// Runs on notify's thread, and only passes the hint on.
fn on_event(hints: &mpsc::Sender<()>, event: &notify::Result<Event>) {
    if event.as_ref().map_or(true, is_reason_to_look) {
        // Full: a look is due already. Closed: nobody looks any more.
        let _ = hints.try_send(());
    }
}

/// Reading is none, or our own reading would make us look again and again. Lost events (`need_rescan`) are.
fn is_reason_to_look(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) | EventKind::Remove(_) => event.need_rescan(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{CreateKind, DataChange, Flag, ModifyKind, RemoveKind, RenameMode};

    #[test]
    fn events_become_one_waiting_hint() {
        let close = |mode| EventKind::Access(AccessKind::Close(mode));
        let table = [
            (EventKind::Create(CreateKind::File), true),
            (EventKind::Modify(ModifyKind::Data(DataChange::Any)), true),
            (EventKind::Modify(ModifyKind::Name(RenameMode::To)), true),
            (close(AccessMode::Write), true),
            (close(AccessMode::Read), false),
            (EventKind::Access(AccessKind::Open(AccessMode::Any)), false),
            (EventKind::Remove(RemoveKind::File), false),
            (EventKind::Other, true),
        ];
        for (kind, hinted) in table {
            let (sender, mut hints) = mpsc::channel(1);
            on_event(&sender, &Ok(Event::new(kind)));
            on_event(&sender, &Ok(Event::new(kind)));
            assert_eq!(hints.try_recv().is_ok(), hinted, "{kind:?}");
            assert!(hints.try_recv().is_err(), "{kind:?}");
        }
        let (sender, mut hints) = mpsc::channel(1);
        on_event(&sender, &Err(notify::Error::generic("overflow")));
        assert!(hints.try_recv().is_ok(), "an error is a reason to look");
        on_event(&sender, &Ok(Event::new(EventKind::Remove(RemoveKind::Any)).set_flag(Flag::Rescan)));
        assert!(hints.try_recv().is_ok(), "lost events are a reason to look");
        drop(hints);
        on_event(&sender, &Ok(Event::new(EventKind::Any)));
    }
}
