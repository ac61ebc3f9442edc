//! Textbook versions of the three stencils: whole arrays, one value at a time.

use ebz_sim::stencil::Kernel;
use ebz_sim::stencil::lbm::Scene;
use ebz_sim::stencil::srad::Parameters;

/// The initial grid of a kernel.
pub fn start(kernel: &dyn Kernel) -> Vec<f64> {
    let shape = kernel.shape();
    let length: usize = shape[1..].iter().product();
    let mut all = vec![0.0; shape[0] * length];
    for (at, plane) in all.chunks_exact_mut(length).enumerate() {
        kernel.start(at, plane);
    }
    all
}

/// Heat with insulated sides.
pub fn heat([nz, ny, nx]: [usize; 3], r: f64, mut u: Vec<f64>, steps: usize) -> Vec<f64> {
    for _ in 0..steps {
        let old = u.clone();
        let value = |z: isize, y: isize, x: isize| {
            let clamp = |i: isize, n: usize| i.clamp(0, n as isize - 1) as usize;
            old[(clamp(z, nz) * ny + clamp(y, ny)) * nx + clamp(x, nx)]
        };
        for (i, new) in u.iter_mut().enumerate() {
            let (z, y, x) = (i / (ny * nx), i / nx % ny, i % nx);
            let [z, y, x] = [z, y, x].map(|i| i as isize);
            let around = value(z - 1, y, x)
                + value(z + 1, y, x)
                + value(z, y - 1, x)
                + value(z, y + 1, x)
                + value(z, y, x - 1)
                + value(z, y, x + 1);
            *new = value(z, y, x) + r * (around - 6.0 * value(z, y, x));
        }
    }
    u
}

/// Lattice Boltzmann with whole populations: collide, then stream. `start` and the result are
/// post-collision differences from rest, by row, population, column.
pub fn lbm(
    [ny, nx]: [usize; 2],
    scene: Scene,
    tau: f64,
    velocity: f64,
    start: Vec<f64>,
    steps: usize,
) -> Vec<f64> {
    let c: [(i64, i64); 9] = [
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
    let weight = |q: usize| match q {
        0 => 4.0 / 9.0,
        1..5 => 1.0 / 9.0,
        _ => 1.0 / 36.0,
    };
    let opposite = |q: usize| c.iter().position(|d| *d == (-c[q].0, -c[q].1)).unwrap();
    let place = |y: usize, q: usize, x: usize| (y * 9 + q) * nx + x;
    let solid = |y: usize, x: usize| {
        let (height, width) = (ny as f64, nx as f64);
        let radius = f64::min(height / 10.0, width / 8.0);
        let (dy, dx) = (y as f64 + 0.5 - height / 2.0, x as f64 + 0.5 - width / 4.0);
        scene == Scene::Cylinder && dy.hypot(dx) < radius
    };
    let force = match scene {
        Scene::Cavity => 0.0,
        _ => 8.0 * (tau - 0.5) / 3.0 * velocity / (ny * ny) as f64,
    };
    let mut after: Vec<f64> = start;
    for (i, f) in after.iter_mut().enumerate() {
        *f += weight(i / nx % 9);
    }
    for _ in 0..steps {
        let mut arrived = vec![f64::NAN; after.len()];
        for y in 0..ny {
            for x in (0..nx).filter(|&x| !solid(y, x)) {
                for q in 0..9 {
                    let f = after[place(y, q, x)];
                    let to_y = y as i64 + c[q].1;
                    let mut to_x = x as i64 + c[q].0;
                    if scene != Scene::Cavity {
                        to_x = to_x.rem_euclid(nx as i64);
                    }
                    let inside = (0..ny as i64).contains(&to_y) && (0..nx as i64).contains(&to_x);
                    if inside && !solid(to_y as usize, to_x as usize) {
                        arrived[place(to_y as usize, q, to_x as usize)] = f;
                    } else {
                        let lid = scene == Scene::Cavity && to_y == ny as i64;
                        let push = if lid { velocity } else { 0.0 };
                        let lost = 6.0 * weight(q) * c[q].0 as f64 * push;
                        arrived[place(y, opposite(q), x)] = f - lost;
                    }
                }
            }
        }
        for y in 0..ny {
            for x in 0..nx {
                let cell: Vec<f64> = (0..9).map(|q| arrived[place(y, q, x)]).collect();
                let density: f64 = cell.iter().sum();
                let ux = (0..9).map(|q| cell[q] * c[q].0 as f64).sum::<f64>() / density;
                let uy = (0..9).map(|q| cell[q] * c[q].1 as f64).sum::<f64>() / density;
                for q in 0..9 {
                    let cu = c[q].0 as f64 * ux + c[q].1 as f64 * uy;
                    let equilibrium = weight(q)
                        * density
                        * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
                    let new = cell[q] - (cell[q] - equilibrium) / tau
                        + 3.0 * weight(q) * c[q].0 as f64 * force;
                    after[place(y, q, x)] = if solid(y, x) { weight(q) } else { new };
                }
            }
        }
    }
    for (i, f) in after.iter_mut().enumerate() {
        *f -= weight(i / nx % 9);
    }
    after
}

/// Speckle reducing anisotropic diffusion, stage by stage.
pub fn srad([ny, nx]: [usize; 2], p: Parameters, mut image: Vec<f64>, steps: usize) -> Vec<f64> {
    for step in 0..steps {
        let at = |image: &[f64], y: isize, x: isize| {
            let y = y.clamp(0, ny as isize - 1) as usize;
            image[y * nx + x.clamp(0, nx as isize - 1) as usize]
        };
        let q0 = match p.measured {
            true => {
                let n = (ny * nx) as f64;
                let mean = image.iter().sum::<f64>() / n;
                let squares = image.iter().map(|v| (v - mean).powi(2));
                squares.sum::<f64>() / n / mean.powi(2)
            }
            false => (p.q0 * (-p.rho * step as f64).exp()).powi(2),
        };
        let differences = |image: &[f64], i: usize| {
            let (y, x) = ((i / nx) as isize, (i % nx) as isize);
            let to = |dy, dx| at(image, y + dy, x + dx) - image[i];
            [to(-1, 0), to(1, 0), to(0, -1), to(0, 1)]
        };
        let coefficient: Vec<f64> = (0..ny * nx)
            .map(|i| {
                let d = differences(&image, i);
                let g2 = d.iter().map(|d| d * d).sum::<f64>() / (image[i] * image[i]);
                let l = d.iter().sum::<f64>() / image[i];
                let q2 = (0.5 * g2 - l * l / 16.0) / (1.0 + 0.25 * l).powi(2);
                (1.0 / (1.0 + (q2 - q0) / (q0 * (1.0 + q0)))).clamp(0.0, 1.0)
            })
            .collect();
        image = (0..ny * nx)
            .map(|i| {
                let (y, x) = ((i / nx) as isize, (i % nx) as isize);
                let [n, s, w, e] = differences(&image, i);
                let c = coefficient[i];
                let (south, east) = (at(&coefficient, y + 1, x), at(&coefficient, y, x + 1));
                image[i] + 0.25 * p.lambda * (c * n + south * s + c * w + east * e)
            })
            .collect();
    }
    image
}
