//! The channels of `crossbeam_channel` that the servants use, on locks that a test schedules.

use shuttle::sync::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;

struct State<R> {
    queue: VecDeque<R>,
    /// Number of messages ever taken.
    taken: usize,
    /// Number of messages ever sent.
    sent: usize,
    senders: usize,
    receivers: usize,
}

struct Channel<R> {
    state: Mutex<State<R>>,
    changed: Condvar,
    room: usize,
}

pub(crate) struct Sender<R>(Arc<Channel<R>>);

pub(crate) struct Receiver<R>(Arc<Channel<R>>);

pub(crate) fn unbounded<R>() -> (Sender<R>, Receiver<R>) {
    bounded(usize::MAX)
}

/// Without room, a sender waits until its message is taken.
pub(crate) fn bounded<R>(room: usize) -> (Sender<R>, Receiver<R>) {
    let state = State {
        queue: VecDeque::new(),
        taken: 0,
        sent: 0,
        senders: 1,
        receivers: 1,
    };
    let channel = Arc::new(Channel {
        state: Mutex::new(state),
        changed: Condvar::new(),
        room,
    });
    (Sender(channel.clone()), Receiver(channel))
}

impl<R> Sender<R> {
    pub fn send(&self, message: R) -> Result<(), ()> {
        let channel = &*self.0;
        let mut state = channel.state.lock().unwrap();
        while state.receivers > 0 && state.queue.len() >= channel.room.max(1) {
            state = channel.changed.wait(state).unwrap();
        }
        if state.receivers == 0 {
            return Err(());
        }
        state.queue.push_back(message);
        state.sent += 1;
        let number = state.sent;
        channel.changed.notify_all();
        while channel.room == 0 && state.taken < number && state.receivers > 0 {
            state = channel.changed.wait(state).unwrap();
        }
        Ok(())
    }
}

impl<R> Receiver<R> {
    pub fn try_recv(&self) -> Result<R, ()> {
        let mut state = self.0.state.lock().unwrap();
        let message = state.queue.pop_front().ok_or(())?;
        state.taken += 1;
        self.0.changed.notify_all();
        Ok(message)
    }

    pub fn recv(&self) -> Result<R, ()> {
        let mut state = self.0.state.lock().unwrap();
        while state.queue.is_empty() && state.senders > 0 {
            state = self.0.changed.wait(state).unwrap();
        }
        drop(state);
        // Another receiver may have been faster.
        match self.try_recv() {
            Err(()) if self.0.state.lock().unwrap().senders > 0 => self.recv(),
            found => found,
        }
    }
}

impl<R> Iterator for Receiver<R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        self.recv().ok()
    }
}

impl<R> Clone for Sender<R> {
    fn clone(&self) -> Self {
        self.0.state.lock().unwrap().senders += 1;
        Self(self.0.clone())
    }
}

impl<R> Clone for Receiver<R> {
    fn clone(&self) -> Self {
        self.0.state.lock().unwrap().receivers += 1;
        Self(self.0.clone())
    }
}

impl<R> Drop for Sender<R> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().senders -= 1;
        self.0.changed.notify_all();
    }
}

impl<R> Drop for Receiver<R> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap();
        state.receivers -= 1;
        if state.receivers == 0 {
            state.queue.clear();
        }
        drop(state);
        self.0.changed.notify_all();
    }
}
