//! Threads that a system may refuse to start.

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, ScopedJoinHandle, scope};

/// Calls `work` with each item in a thread of its own; results are in the order of the items. A thread that cannot be
/// started is an error, too.
pub fn each<I: Send, R: Send, E: From<io::Error> + Send>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let work = &work;
    scope(|scope| {
        let start = |item| Builder::new().spawn_scoped(scope, move || work(item));
        let threads: Vec<_> = items.into_iter().map(start).collect();
        let join = |thread: io::Result<ScopedJoinHandle<'_, _>>| {
            thread?.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}
