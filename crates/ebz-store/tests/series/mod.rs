//! A series of frames, ways to store it, and checks.
#![allow(dead_code, reason = "each test file uses a part")]

use ebz::{Bound, Options, Result, View};
use ebz_store::{FrameStore, Frames, Policy, StoreOptions};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// Slabs of three planes, the last of two.
pub const SHAPE: [usize; 3] = [20, 30, 40];
pub const BOUND: f64 = 1e-3;

/// How frames are handed over.
#[derive(Debug, Clone, Copy)]
pub enum Way {
    Whole,
    /// By this many threads.
    Slabs(usize),
    /// Alternating.
    Mixed,
}

pub fn folder() -> Result<TempDir> {
    Ok(tempfile::tempdir()?)
}

pub fn options(policy: Policy, folder: &Path) -> StoreOptions {
    let coding = Options::new(Bound::Abs(BOUND)).chunk(&[3, 30, 40]);
    StoreOptions::new(policy, coding).path(folder.join("frames.ebz"))
}

/// A moving wave.
pub fn frame(number: usize) -> Vec<f32> {
    let value = |i: usize| {
        let (z, y, x) = (i / 1200, i / 40 % 30, i % 40);
        let phase = 0.3 * z as f32 + 0.21 * y as f32 + 0.17 * x as f32;
        (phase + number as f32).sin() + 0.01 * number as f32
    };
    (0..20 * 30 * 40).map(value).collect()
}

pub fn write(store: &mut FrameStore<f32>, way: Way, frames: usize) -> Result<()> {
    for number in store.frames()..frames {
        let mut values = frame(number);
        match way {
            Way::Slabs(threads) => by_slabs(store, &values, threads)?,
            Way::Mixed if number % 2 == 1 => by_slabs(store, &values, 2)?,
            _ => {
                store.put(&mut values)?;
                assert_eq!(values.len(), 20 * 30 * 40);
            }
        }
    }
    Ok(())
}

fn by_slabs(store: &mut FrameStore<f32>, values: &[f32], threads: usize) -> Result<()> {
    let slabs = store.slabs();
    let regions: Vec<_> = (0..slabs).map(|slab| store.slab_region(slab)).collect();
    let tolerance = store.tolerance()?;
    let new = store.begin(tolerance)?;
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let work = || -> Result<()> {
            loop {
                // In reverse order, since slabs may come in any order.
                let taken = next.fetch_add(1, Ordering::Relaxed);
                let Some(slab) = slabs.checked_sub(1 + taken) else {
                    return Ok(());
                };
                let planes = regions[slab][0].clone();
                let part = &values[planes.start * 1200..planes.end * 1200];
                new.slab(slab, &View::new(part, &[planes.len(), 30, 40])?)?;
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|t| t.join().expect("no panic"))
    })?;
    new.finish()
}

/// Reads frames in this order, alternating between whole frames and slabs.
pub fn check(frames: &mut Frames<f32>, policy: Policy, order: &[usize]) -> Result<()> {
    let mut out = Vec::new();
    for (turn, &number) in order.iter().enumerate() {
        // Slabs first: decoding ahead starts with the first whole frame.
        if turn < 2 || turn % 3 == 0 {
            let regions: Vec<_> = (0..frames.slabs()).map(|s| frames.slab_region(s)).collect();
            let open = frames.open(number)?;
            out.clear();
            for (slab, region) in regions.iter().enumerate() {
                let mut tile = vec![0.0; region[0].len() * 1200];
                open.slab(slab, &mut tile)?;
                out.extend_from_slice(&tile);
            }
        } else {
            frames.get(number, &mut out)?;
        }
        let truth = frame(number);
        assert_eq!(out.len(), truth.len());
        let bound = if policy.is_exact() { 0.0 } else { BOUND as f32 };
        let good = out.iter().zip(&truth).all(|(a, b)| (a - b).abs() <= bound);
        assert!(good, "frame {number} under policy {policy}");
    }
    Ok(())
}
