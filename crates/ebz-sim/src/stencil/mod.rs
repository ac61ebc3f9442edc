//! Stencil computations on raw or compressed grids: heat, lattice Boltzmann, speckle reduction.
//!
//! ```text
//! old grid ─► planes ─► stage ─► stage ─► … ─► planes ─► new grid        (one pass, several steps)
//! ```
//!
//! A kernel computes one plane (of a 3-D grid; a row of a 2-D one) from three planes of the
//! previous stage. [`sweep`] streams a grid through several time steps at once, wherever the grid
//! is stored; [`run`] repeats that and reports.

mod errors;
pub mod heat;
pub mod lbm;
pub mod roofline;
pub mod run;
pub mod srad;
pub mod sweep;

pub use errors::{Errors, compare};

use ebz::{Element, FillValues, FiniteRange};
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// The values of a grid, and the arithmetic of its kernel: `f32` or `f64`.
pub trait Value:
    Element
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
}

impl Value for f32 {}
impl Value for f64 {}

/// A stencil computation: its grid, initial values, and how to advance a plane.
///
/// A time step is a chain of stages. Each computes a plane from the planes below, at and above it;
/// at the ends of the grid the last plane replaces the missing one.
pub trait Kernel<T: Value = f64>: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;

    /// Extents of the grid, slowest axis first; the first one is the number of planes.
    fn shape(&self) -> Vec<usize>;

    /// Cells per plane (a cell may have several values).
    fn cells(&self) -> usize;

    /// Stages per time step.
    fn stages(&self) -> usize {
        1
    }

    /// Values per plane that a stage writes; the last stage writes a plane of the grid.
    fn stage_len(&self, stage: usize) -> usize;

    /// Everything that determines the results, to check that a stored grid can be resumed.
    fn parameters(&self) -> String;

    /// Writes a plane of the initial grid.
    fn start(&self, at: usize, plane: &mut [T]);

    /// Range of the values (largest minus smallest) that relative bounds refer to: of the initial
    /// grid, unless that is not representative.
    fn range(&self) -> f64 {
        let mut plane = vec![T::default(); self.stage_len(self.stages() - 1)];
        let mut range = FiniteRange::EMPTY;
        for at in 0..self.shape()[0] {
            self.start(at, &mut plane);
            range = range.join(FiniteRange::of(&plane, &FillValues::NONE));
        }
        range.extent()
    }

    /// Whether a step depends on the sums of the grid before it; a pass then has one step.
    fn needs_sums(&self) -> bool {
        false
    }

    /// Writes plane `at` of a stage of a time step from three planes of the previous stage.
    fn advance(&self, step: Step, stage: usize, at: usize, window: [&[T]; 3], out: &mut [T]);

    /// The contribution of a plane to the sums behind [`Kernel::quantities`].
    fn sums(&self, at: usize, plane: &[T]) -> Sums;

    /// The physical quantities of a grid, with their names.
    fn quantities(&self, sums: Sums) -> Vec<(&'static str, f64)>;

    /// The rows of a picture of the grid in a plane.
    fn picture(&self, at: usize, plane: &[T]) -> Vec<Vec<f64>>;
}

/// Sums over a grid.
pub type Sums = [f64; 3];

/// A time step.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Number of steps before it.
    pub number: u64,
    /// Sums of the grid before it; zeros unless [`Kernel::needs_sums`].
    pub sums: Sums,
}

impl Step {
    /// A later step of the same pass.
    fn after(self, steps: u64) -> Self {
        Self {
            number: self.number + steps,
            ..self
        }
    }
}
