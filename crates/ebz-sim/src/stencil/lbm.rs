//! Flow by the lattice Boltzmann method: D2Q9 with a single relaxation time (BGK) and half-way
//! bounce-back walls.
//!
//! A row stores the nine populations one after the other, each as its difference from the fluid at
//! rest, which preserves significant digits. A step pulls the populations from the neighbours and
//! collides them; rows hold the post-collision state.

use super::{Kernel, Step, Sums, Value};
use ebz::simd::Level;
use ebz::{Error, Result};

/// Populations per cell.
const Q: usize = 9;
/// Velocities (x, y); y counts rows.
const VELOCITY: [(isize, isize); Q] = [
    (0, 0),
    (1, 0),
    (0, 1),
    (-1, 0),
    (0, -1),
    (1, 1),
    (-1, 1),
    (-1, -1),
    (1, -1),
];
/// Index of the opposite velocity.
const OPPOSITE: [usize; Q] = [0, 3, 4, 1, 2, 7, 8, 5, 6];
/// Populations at rest.
const WEIGHT: [f64; Q] = {
    let (axis, diagonal) = (1.0 / 9.0, 1.0 / 36.0);
    [
        4.0 / 9.0,
        axis,
        axis,
        axis,
        axis,
        diagonal,
        diagonal,
        diagonal,
        diagonal,
    ]
};
/// Cells computed together.
const LANES: usize = 8;
/// The largest velocity for which the flow is nearly incompressible.
pub const MAX_VELOCITY: f64 = 0.17;

/// Geometry of the flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scene {
    /// A channel between two walls, periodic along the flow and driven by a force.
    Channel,
    /// The same with a cylinder in it.
    Cylinder,
    /// A box whose lid moves along x.
    Cavity,
}

/// The lattice Boltzmann kernel.
pub struct Lbm {
    shape: [usize; 2],
    scene: Scene,
    tau: f64,
    velocity: f64,
    /// Cells of each row that have to check for walls.
    special: Vec<Vec<u32>>,
    level: Level,
}

impl Lbm {
    /// A grid of `shape` rows and columns; `velocity` is that of the lid, or the one that the force
    /// would reach in the middle of an empty channel.
    pub fn new(
        shape: [usize; 2],
        scene: Scene,
        tau: f64,
        velocity: f64,
        level: Level,
    ) -> Result<Self> {
        if shape.iter().any(|&extent| extent < 4) {
            return Err(Error::invalid(
                "lbm needs at least 4 cells along every axis: use a larger --grid",
            ));
        }
        if !(tau > 0.5 && tau <= 5.0) {
            return Err(Error::invalid(format!(
                "relaxation time {tau}: the method is stable above 0.5 (and useful up to 5), so \
                 choose --tau in this range"
            )));
        }
        if !(-MAX_VELOCITY..=MAX_VELOCITY).contains(&velocity) {
            return Err(Error::invalid(format!(
                "velocity {velocity}: above {MAX_VELOCITY} cells per step the method is unstable, so \
                 choose a smaller --velocity"
            )));
        }
        let mut lbm = Self {
            shape,
            scene,
            tau,
            velocity,
            special: Vec::new(),
            level,
        };
        lbm.special = (0..shape[0])
            .map(|y| {
                (0..shape[1] as u32)
                    .filter(|&x| lbm.is_special(y, x as usize))
                    .collect()
            })
            .collect();
        Ok(lbm)
    }

    /// Kinematic viscosity in cells² per step.
    pub fn viscosity(&self) -> f64 {
        (self.tau - 0.5) / 3.0
    }

    /// Force per cell along x.
    fn force(&self) -> f64 {
        match self.scene {
            Scene::Cavity => 0.0,
            _ => 8.0 * self.viscosity() * self.velocity / (self.shape[0] as f64).powi(2),
        }
    }

    /// Whether the cell is inside the cylinder.
    pub fn is_solid(&self, y: usize, x: usize) -> bool {
        let [ny, nx] = self.shape.map(|n| n as f64);
        let (dy, dx) = (y as f64 + 0.5 - 0.5 * ny, x as f64 + 0.5 - 0.25 * nx);
        let radius = (0.1 * ny).min(0.125 * nx);
        self.scene == Scene::Cylinder && dy * dy + dx * dx < radius * radius
    }

    /// The cell that a population comes from; `None` for a wall.
    fn origin(&self, y: usize, x: usize, q: usize) -> Option<(usize, usize)> {
        let (cx, cy) = VELOCITY[q];
        let [ny, nx] = self.shape;
        let y = y.checked_add_signed(-cy).filter(|&y| y < ny)?;
        let x = match self.scene {
            Scene::Cavity => x.checked_add_signed(-cx).filter(|&x| x < nx)?,
            _ => (x + nx).wrapping_add_signed(-cx) % nx,
        };
        (!self.is_solid(y, x)).then_some((y, x))
    }

    fn is_special(&self, y: usize, x: usize) -> bool {
        // Rows too short for a group are computed cell by cell.
        self.shape[1] < LANES + 2
            || x == 0
            || x + 1 == self.shape[1]
            || self.is_solid(y, x)
            || (0..Q).any(|q| self.origin(y, x, q).is_none())
    }

    /// The new populations of a cell next to a wall or at the end of a row.
    fn special_cell<T: Value>(&self, y: usize, x: usize, window: [&[T]; 3]) -> [T; Q] {
        let [ny, nx] = self.shape;
        if self.is_solid(y, x) {
            return [T::default(); Q];
        }
        let mut cell = [[T::default(); 1]; Q];
        for (q, value) in cell.iter_mut().enumerate() {
            value[0] = match self.origin(y, x, q) {
                Some((from, x)) => window[from + 1 - y][q * nx + x],
                None => {
                    let lid = self.scene == Scene::Cavity && VELOCITY[q].1 < 0 && y + 1 == ny;
                    let push = if lid { self.velocity } else { 0.0 };
                    let moved = 6.0 * WEIGHT[q] * VELOCITY[q].0 as f64 * push;
                    window[1][OPPOSITE[q] * nx + x] + T::from_f64(moved)
                }
            };
        }
        collide(&mut cell, 1.0 / self.tau, self.force());
        cell.map(|[value]| value)
    }

    /// The new populations of the other cells of a row, several at a time.
    #[inline(always)]
    fn plain_cells<T: Value>(&self, window: [&[T]; 3], out: &mut [T]) {
        let nx = self.shape[1];
        let (omega, force) = (1.0 / self.tau, self.force());
        let mut x = 1;
        while x < nx - 1 {
            // The last group overlaps the previous one.
            x = x.min(nx - 1 - LANES);
            let mut cells = [[T::default(); LANES]; Q];
            for (q, lanes) in cells.iter_mut().enumerate() {
                let (cx, cy) = VELOCITY[q];
                let from = (q * nx + x).wrapping_add_signed(-cx);
                let row = &window[1usize.wrapping_add_signed(-cy)];
                lanes.copy_from_slice(&row[from..from + LANES]);
            }
            collide(&mut cells, omega, force);
            for (q, lanes) in cells.iter().enumerate() {
                out[q * nx + x..][..LANES].copy_from_slice(lanes);
            }
            x += LANES;
        }
    }

    /// Density and velocity (x, y) of a cell.
    pub fn flow<T: Value>(&self, row: &[T], x: usize) -> (f64, f64, f64) {
        let nx = self.shape[1];
        let sum = |weight: fn((isize, isize)) -> isize| -> f64 {
            (0..Q)
                .map(|q| weight(VELOCITY[q]) as f64 * row[q * nx + x].to_f64())
                .sum()
        };
        let density = 1.0 + sum(|_| 1);
        (density, sum(|c| c.0) / density, sum(|c| c.1) / density)
    }
}

/// Inputs of the equilibrium of some cells: momentum, velocity, and the term that all populations
/// share.
struct Moments<T, const L: usize> {
    momentum: [[T; L]; 2],
    velocity: [[T; L]; 2],
    still: [T; L],
}

/// Relaxes populations towards equilibrium and adds the force.
#[inline(always)]
fn collide<T: Value, const L: usize>(cells: &mut [[T; L]; Q], omega: f64, force: f64) {
    let [one, half_of_three, at_rest, rate] = [1.0, 1.5, WEIGHT[0], omega].map(T::from_f64);
    let [rest, east, north, west, south, ne, nw, sw, se] = cells;
    let mut moments = Moments {
        momentum: [[T::default(); L]; 2],
        velocity: [[T::default(); L]; 2],
        still: [T::default(); L],
    };
    for l in 0..L {
        let straight = (east[l] + west[l]) + (north[l] + south[l]);
        let excess = rest[l] + straight + ((ne[l] + sw[l]) + (nw[l] + se[l]));
        let jx = (east[l] - west[l]) + ((ne[l] - sw[l]) + (se[l] - nw[l]));
        let jy = (north[l] - south[l]) + ((ne[l] - sw[l]) + (nw[l] - se[l]));
        let inverse = one / (one + excess);
        let (ux, uy) = (jx * inverse, jy * inverse);
        let still = excess - half_of_three * (jx * ux + jy * uy);
        rest[l] += rate * (at_rest * still - rest[l]);
        moments.momentum[0][l] = jx;
        moments.momentum[1][l] = jy;
        moments.velocity[0][l] = ux;
        moments.velocity[1][l] = uy;
        moments.still[l] = still;
    }
    let [straight, diagonal] = [WEIGHT[1], WEIGHT[5]].map(|weight| Relaxation {
        omega,
        weight,
        push: 3.0 * weight * force,
    });
    straight.pair(east, west, [1.0, 0.0], &moments);
    straight.pair(north, south, [0.0, 1.0], &moments);
    diagonal.pair(ne, sw, [1.0, 1.0], &moments);
    diagonal.pair(nw, se, [-1.0, 1.0], &moments);
}

/// Relaxation of the populations with one weight.
struct Relaxation {
    omega: f64,
    weight: f64,
    push: f64,
}

impl Relaxation {
    /// Opposite populations differ only in the sign of their velocity.
    #[inline(always)]
    fn pair<T: Value, const L: usize>(
        &self,
        along: &mut [T; L],
        against: &mut [T; L],
        direction: [f64; 2],
        moments: &Moments<T, L>,
    ) {
        let push = T::from_f64(self.push * direction[0]);
        let [omega, weight] = [self.omega, self.weight].map(T::from_f64);
        let [x, y] = direction.map(T::from_f64);
        let [three, nine_halves] = [3.0, 4.5].map(T::from_f64);
        for l in 0..L {
            let j = x * moments.momentum[0][l] + y * moments.momentum[1][l];
            let u = x * moments.velocity[0][l] + y * moments.velocity[1][l];
            let (even, odd) = (moments.still[l] + nine_halves * (j * u), three * j);
            along[l] += omega * (weight * (even + odd) - along[l]) + push;
            against[l] += omega * (weight * (even - odd) - against[l]) - push;
        }
    }
}

impl<T: Value> Kernel<T> for Lbm {
    fn name(&self) -> &'static str {
        "lbm"
    }

    fn shape(&self) -> Vec<usize> {
        vec![self.shape[0], Q, self.shape[1]]
    }

    fn cells(&self) -> usize {
        self.shape[1]
    }

    fn stage_len(&self, _stage: usize) -> usize {
        Q * self.shape[1]
    }

    fn parameters(&self) -> String {
        let scene = format!("{:?}", self.scene).to_lowercase();
        format!("{scene}, tau {}, velocity {}", self.tau, self.velocity)
    }

    /// At rest in a cavity; in a channel, half of the velocity.
    fn start(&self, at: usize, plane: &mut [T]) {
        plane.fill(T::default());
        let nx = self.shape[1];
        if self.scene == Scene::Cavity {
            return;
        }
        // A perturbation, so that the wake of the cylinder need not develop from rounding errors.
        let y = (at as f64 + 0.5) / self.shape[0] as f64;
        for x in 0..nx {
            if self.is_solid(at, x) {
                continue;
            }
            let ripple = (std::f64::consts::TAU * x as f64 / nx as f64).sin();
            let ux = 2.0 * self.velocity * y * (1.0 - y);
            let uy = match self.scene {
                Scene::Cylinder => 0.1 * ux * ripple,
                _ => 0.0,
            };
            for q in 0..Q {
                let u = VELOCITY[q].0 as f64 * ux + VELOCITY[q].1 as f64 * uy;
                let change = 3.0 * u + 4.5 * u * u - 1.5 * (ux * ux + uy * uy);
                plane[q * nx + x] = T::from_f64(WEIGHT[q] * change);
            }
        }
    }

    /// The effect of the velocity on the populations along and against it.
    fn range(&self) -> f64 {
        6.0 * WEIGHT[1] * self.velocity.abs()
    }

    fn advance(&self, _step: Step, _stage: usize, at: usize, window: [&[T]; 3], out: &mut [T]) {
        let nx = self.shape[1];
        if self.special[at].len() < nx {
            self.level.run(
                #[inline(always)]
                || self.plain_cells(window, out),
            );
        }
        for &x in &self.special[at] {
            let cell = self.special_cell(at, x as usize, window);
            for (q, value) in cell.into_iter().enumerate() {
                out[q * nx + x as usize] = value;
            }
        }
    }

    fn sums(&self, at: usize, plane: &[T]) -> Sums {
        let mut sums = [0.0; 3];
        for x in (0..self.shape[1]).filter(|&x| !self.is_solid(at, x)) {
            let (density, ux, uy) = self.flow(plane, x);
            sums[0] += density;
            sums[1] += density * ux;
            sums[2] += density * (ux * ux + uy * uy);
        }
        sums
    }

    fn quantities(&self, [mass, momentum, energy]: Sums) -> Vec<(&'static str, f64)> {
        let mut all = vec![("mass", mass)];
        match self.scene {
            // The total momentum of a circulation suffers from cancellation.
            Scene::Cavity => all.push(("kinetic energy", 0.5 * energy)),
            _ => all.push(("momentum", momentum)),
        }
        all
    }

    fn picture(&self, _at: usize, plane: &[T]) -> Vec<Vec<f64>> {
        let speed = |x| {
            let (_, ux, uy) = self.flow(plane, x);
            ux.hypot(uy)
        };
        vec![(0..self.shape[1]).map(speed).collect()]
    }
}
