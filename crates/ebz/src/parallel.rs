//! Processes a sequence of jobs on several threads with bounded memory.
//!
//! Each thread owns one state (buffers, scratch) and loops: take the next job, process it and, if
//! order matters, wait for its turn to emit. At most one job per state is in flight.

use crate::error::{Error, Result};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// Resolves a requested thread count, where 0 means all cores.
pub(crate) fn threads(requested: usize) -> usize {
    // Cached: the system call takes longer than decoding a small array.
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    match requested {
        0 => *CORES.get_or_init(cores),
        n => n,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on every job from `next`, in any order, on one thread per state.
pub(crate) fn unordered<S: Send, J: Send>(
    states: &mut [S],
    next: impl FnMut(&mut S) -> Result<Option<J>> + Send,
    work: impl Fn(&mut S, J) -> Result<()> + Sync,
) -> Result<()> {
    if let [state] = states {
        return run_single(state, next, work);
    }
    run(states, next, |state, _, job| work(state, job), || ())
}

/// Runs `work` on every job from `next` on one thread per state, and `emit` in job order.
pub(crate) fn ordered<S: Send, J: Send>(
    states: &mut [S],
    next: impl FnMut(&mut S) -> Result<Option<J>> + Send,
    work: impl Fn(&mut S, J) -> Result<()> + Sync,
    mut emit: impl FnMut(&mut S) -> Result<()> + Send,
) -> Result<()> {
    if let [state] = states {
        // A single thread needs no synchronization.
        return run_single(state, next, |state, job| {
            work(state, job)?;
            emit(state)
        });
    }
    struct Turn<E> {
        emit: E,
        number: u64,
        failed: bool,
    }
    let turn = Mutex::new(Turn {
        emit,
        number: 0,
        failed: false,
    });
    let moved = Condvar::new();
    let finish = |state: &mut S, number: u64, job: J| {
        work(state, job)?;
        let mut turn = moved
            .wait_while(lock(&turn), |t| t.number != number && !t.failed)
            .unwrap_or_else(PoisonError::into_inner);
        if turn.failed {
            return Ok(());
        }
        (turn.emit)(state)?;
        turn.number += 1;
        moved.notify_all();
        Ok(())
    };
    let fail = || {
        lock(&turn).failed = true;
        moved.notify_all();
    };
    run(states, next, finish, fail)
}

/// The loop on the calling thread only.
fn run_single<S, J>(
    state: &mut S,
    mut next: impl FnMut(&mut S) -> Result<Option<J>>,
    mut work: impl FnMut(&mut S, J) -> Result<()>,
) -> Result<()> {
    while let Some(job) = next(state)? {
        work(state, job)?;
    }
    Ok(())
}

/// Runs the loop on one thread per state, including the calling one. `work` also gets the job
/// number; `fail` wakes threads that wait for their turn.
fn run<S: Send, J: Send>(
    states: &mut [S],
    next: impl FnMut(&mut S) -> Result<Option<J>> + Send,
    work: impl Fn(&mut S, u64, J) -> Result<()> + Sync,
    fail: impl Fn() + Sync,
) -> Result<()> {
    struct Queue<N> {
        next: N,
        number: u64,
        error: Option<Error>,
    }
    let queue = Mutex::new(Queue {
        next,
        number: 0,
        error: None,
    });
    let jobs = |state: &mut S| {
        loop {
            let (job, number) = {
                let mut queue = lock(&queue);
                if queue.error.is_some() {
                    return;
                }
                match (queue.next)(state) {
                    Ok(Some(job)) => {
                        queue.number += 1;
                        (job, queue.number - 1)
                    }
                    Ok(None) => return,
                    Err(error) => {
                        queue.error.get_or_insert(error);
                        drop(queue);
                        return fail();
                    }
                }
            };
            if let Err(error) = work(state, number, job) {
                lock(&queue).error.get_or_insert(error);
                return fail();
            }
        }
    };
    let Some((own, others)) = states.split_first_mut() else {
        return Ok(());
    };
    let jobs = &jobs;
    std::thread::scope(|scope| {
        for state in others {
            let thread = std::thread::Builder::new();
            if thread.spawn_scoped(scope, move || jobs(state)).is_err() {
                // No more threads available: the ones already running do the work.
                break;
            }
        }
        jobs(own);
    });
    let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    queue.error.map_or(Ok(()), Err)
}
