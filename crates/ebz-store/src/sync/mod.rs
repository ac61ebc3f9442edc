//! Channels and threads of the servants. Tests with `--cfg shuttle` replace them by ones whose schedule
//! they control (`schedules.rs`).

#[cfg(all(test, shuttle))]
mod channel;

#[cfg(not(all(test, shuttle)))]
pub(crate) use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
#[cfg(not(all(test, shuttle)))]
pub(crate) use std::thread::{Builder, JoinHandle};

#[cfg(all(test, shuttle))]
pub(crate) use channel::{Receiver, Sender, bounded, unbounded};
#[cfg(all(test, shuttle))]
pub(crate) use shuttle::thread::{Builder, JoinHandle};
