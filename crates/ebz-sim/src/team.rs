//! A team of threads that computes time steps together: all take parts of a step until none is
//! left, then synchronize at a barrier.

use ebz::{Error, Result};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Builder;

/// Spins before sleeping: threads finish a step at nearly the same time, but waiting ones must not
/// take cores from compression and I/O.
const MAX_SPINS: u32 = 2000;

/// Threads that work together until they are done or one of them fails.
#[derive(Debug)]
pub struct Team {
    members: usize,
    arrived: AtomicUsize,
    meetings: AtomicUsize,
    next: AtomicUsize,
    broken: AtomicBool,
    asleep: Mutex<()>,
    wake: Condvar,
}

impl Team {
    /// Runs `work` on this many threads (0 means all cores) including the caller. The first error
    /// stops all of them.
    pub fn run(threads: usize, work: impl Fn(&Self) -> Result<()> + Sync) -> Result<()> {
        let team = Self {
            members: members(threads),
            arrived: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            asleep: Mutex::new(()),
            wake: Condvar::new(),
        };
        let job = || {
            // A thread that leaves early, even by a panic, must release the barrier.
            let mut leaving = Leaving {
                team: &team,
                early: true,
            };
            let result = work(&team);
            leaving.early = result.is_err();
            result
        };
        let results = std::thread::scope(|scope| {
            let start = |_| Builder::new().spawn_scoped(scope, job);
            let others: Vec<_> = (1..team.members).map(start).collect();
            if others.iter().any(std::io::Result::is_err) {
                // The others wait for it.
                team.break_up();
            }
            let mut results = vec![job()];
            for other in others {
                results.push(match other {
                    Ok(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
                    Err(error) => Err(error.into()),
                });
            }
            results
        });
        // Prefer the original error to its consequences in other threads.
        let failed = |result: &Result<()>| matches!(result, Err(error) if !is_broken(error));
        match results.iter().position(failed) {
            Some(first) => results.into_iter().nth(first).unwrap_or(Ok(())),
            None => results.into_iter().collect(),
        }
    }

    /// The next free part of this step, or `None` once all `parts` are taken.
    pub fn take(&self, parts: usize) -> Option<usize> {
        let part = self.next.fetch_add(1, Ordering::Relaxed);
        (part < parts).then_some(part)
    }

    /// A barrier; the last thread to arrive runs `between` before any continues, and parts can be
    /// taken again.
    pub fn meet(&self, between: impl FnOnce() -> Result<()>) -> Result<()> {
        let meeting = self.meetings.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            between()?;
            self.arrived.store(0, Ordering::Relaxed);
            self.next.store(0, Ordering::Relaxed);
            self.meetings.fetch_add(1, Ordering::Release);
            self.wake_all();
            return Ok(());
        }
        let over = || {
            self.meetings.load(Ordering::Acquire) != meeting || self.broken.load(Ordering::Acquire)
        };
        for _ in 0..MAX_SPINS {
            if over() {
                break;
            }
            std::hint::spin_loop();
        }
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        while !over() {
            asleep = self
                .wake
                .wait(asleep)
                .unwrap_or_else(PoisonError::into_inner);
        }
        match self.meetings.load(Ordering::Acquire) == meeting {
            true => Err(broken()),
            false => Ok(()),
        }
    }

    /// Lets all members fail at their next meeting.
    fn break_up(&self) {
        self.broken.store(true, Ordering::Release);
        self.wake_all();
    }

    fn wake_all(&self) {
        // A thread that checked and is about to sleep holds the lock until it does.
        drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_all();
    }
}

/// Number of threads: 0 means all cores.
pub fn members(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        _ => threads,
    }
}

const BROKEN: &str = "another thread of the team failed";

fn broken() -> Error {
    Error::invalid(BROKEN)
}

fn is_broken(error: &Error) -> bool {
    matches!(error, Error::InvalidArgument(text) if text == BROKEN)
}

struct Leaving<'a> {
    team: &'a Team,
    early: bool,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if self.early {
            self.team.break_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_every_step_is_done_once() {
        for threads in [1, 2, 5] {
            let done: Vec<_> = (0..97).map(|_| AtomicUsize::new(0)).collect();
            let between = AtomicUsize::new(0);
            Team::run(threads, |team| {
                for step in 0..200 {
                    while let Some(part) = team.take(done.len()) {
                        // No thread is ahead of the others.
                        assert_eq!(done[part].fetch_add(1, Ordering::Relaxed), step);
                    }
                    team.meet(|| {
                        between.fetch_add(1, Ordering::Relaxed);
                        Ok(())
                    })?;
                }
                Ok(())
            })
            .unwrap();
            assert!(done.iter().all(|n| n.load(Ordering::Relaxed) == 200));
            assert_eq!(between.load(Ordering::Relaxed), 200);
        }
    }

    #[test]
    fn an_error_ends_the_work_of_all_and_is_the_one_told() {
        let steps = AtomicUsize::new(0);
        let result = Team::run(4, |team| {
            loop {
                if steps.fetch_add(1, Ordering::Relaxed) == 1000 {
                    return Err(Error::invalid("the cause"));
                }
                team.meet(|| Ok(()))?;
            }
        });
        assert_eq!(result.unwrap_err().to_string(), "the cause");
        let result = Team::run(3, |team| {
            loop {
                team.meet(|| Err(Error::invalid("between")))?;
            }
        });
        assert_eq!(result.unwrap_err().to_string(), "between");
    }

    #[test]
    #[should_panic(expected = "lost")]
    fn a_panic_does_not_hang_the_others() {
        let steps = AtomicUsize::new(0);
        let _ = Team::run(3, |team| {
            loop {
                assert!(steps.fetch_add(1, Ordering::Relaxed) != 500, "lost");
                team.meet(|| Ok(()))?;
            }
        });
    }
}
