//! Stencil computations on grids that may live compressed: heat, lattice Boltzmann, speckle
//! reduction.
//!
//! ```text
//! old grid ─► planes ─► stage ─► stage ─► … ─► planes ─► new grid        (one pass, several steps)
//! ```
//!
//! A kernel says how one plane (of a 3-D grid; a row of a 2-D one) follows from three planes of the
//! stage before. [`sweep`] streams a grid through several steps of it at once, whatever the grid
//! lives in; [`run`] repeats that and reports.

mod errors;
pub mod heat;
pub mod lbm;
pub mod roofline;
pub mod run;
pub mod srad;
pub mod sweep;

pub use errors::{Errors, compare};

use ebz::{FillValues, FiniteRange};

/// One stencil computation: its grid, its start, and how a plane is advanced.
///
/// A time step is a chain of stages. Each computes a plane from the planes below, at and above it;
/// at the ends of the grid the last plane stands for the missing one.
pub trait Kernel: Sync {
    /// Name as the command gives it.
    fn name(&self) -> &'static str;

    /// Extents of the grid, slowest axis first; the first is the number of planes.
    fn shape(&self) -> Vec<usize>;

    /// Cells that a plane holds (a cell may have several values).
    fn cells(&self) -> usize;

    /// Stages of a time step.
    fn stages(&self) -> usize {
        1
    }

    /// Values per plane that a stage writes; the last one writes a plane of the grid.
    fn stage_len(&self, stage: usize) -> usize;

    /// What determines every number of the run, to recognise a grid that is to be continued.
    fn parameters(&self) -> String;

    /// Writes a plane of the first grid.
    fn start(&self, at: usize, plane: &mut [f64]);

    /// Largest less smallest value of the grid, which relative bounds are relative to: of the first
    /// grid, unless that says nothing.
    fn range(&self) -> f64 {
        let mut plane = vec![0.0; self.stage_len(self.stages() - 1)];
        let mut range = FiniteRange::EMPTY;
        for at in 0..self.shape()[0] {
            self.start(at, &mut plane);
            range = range.join(FiniteRange::of(&plane, &FillValues::NONE));
        }
        range.extent()
    }

    /// Writes plane `at` of a stage of time step `step` from three planes of the stage before.
    fn advance(&self, step: u64, stage: usize, at: usize, window: [&[f64]; 3], out: &mut [f64]);

    /// What a plane adds to the sums that [`Kernel::quantities`] are made from.
    fn sums(&self, at: usize, plane: &[f64]) -> Sums;

    /// The physical quantities of a grid, with their names.
    fn quantities(&self, sums: Sums) -> Vec<(&'static str, f64)>;

    /// The rows of a picture of the grid that a plane holds.
    fn picture(&self, at: usize, plane: &[f64]) -> Vec<Vec<f64>>;
}

/// Sums over a grid.
pub type Sums = [f64; 3];
