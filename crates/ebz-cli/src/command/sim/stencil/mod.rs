//! `ebz sim heat`, `lbm` and `srad`: one kernel each, the same sweep for all.

mod table;

use super::median;
use crate::Outcome;
use crate::args::{Extents, Heat, Layout, Lbm, Precision, Scene, Srad, Sweep};
use crate::foreign;
use crate::input::Field;
use crate::output::Output;
use crate::picture::{self, Colours, Panel};
use crate::progress;
use crate::report;
use anyhow::{Context, Result, ensure};
use ebz::simd::Level;
use ebz::{Array, Bound, Element, with_type};
use ebz_sim::stencil::roofline::Machine;
use ebz_sim::stencil::run::{Plan, Run, run};
use ebz_sim::stencil::{Errors, Kernel, Value, compare, heat, lbm, srad};
use ebz_sim::team;
use ebz_store::grid::{Grid, State};
use ebz_store::io::Rate;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Maximum pixels along the longer side of a picture.
const MAX_PIXELS: usize = 1200;

pub fn heat(args: &Heat) -> Result<Outcome> {
    let grid = axes(&args.grid, "64x64x64")?;
    let kernel = heat::Heat::new(grid, args.diffusion, Level::detect())?;
    simulate(&kernel, &args.sweep)
}

pub fn lbm(args: &Lbm) -> Result<Outcome> {
    let scene = match args.scene {
        Scene::Channel => lbm::Scene::Channel,
        Scene::Cylinder => lbm::Scene::Cylinder,
        Scene::Cavity => lbm::Scene::Cavity,
    };
    let grid = axes(&args.grid, "512x1024")?;
    let kernel = lbm::Lbm::new(grid, scene, args.tau, args.velocity, Level::detect())?;
    simulate(&kernel, &args.sweep)
}

pub fn srad(args: &Srad) -> Result<Outcome> {
    let parameters = srad::Parameters {
        lambda: args.lambda,
        q0: args.q0,
        rho: args.rho,
        measured: args.measure_q0,
    };
    let kernel = match &args.image {
        Some(path) => srad::Srad::of(image(path)?, parameters, Level::detect())?,
        None => {
            let grid = axes(&args.grid, "512x512")?;
            srad::Srad::synthetic(grid, parameters, Level::detect())?
        }
    };
    simulate(&kernel, &args.sweep)
}

fn axes<const N: usize>(grid: &Extents, example: &str) -> Result<[usize; N]> {
    let axes: Result<[usize; N], _> = grid.0.clone().try_into();
    axes.ok()
        .with_context(|| format!("--grid needs {N} extents here, as in {example}"))
}

fn image(path: &Path) -> Result<Array<f64>> {
    let layout = Layout {
        element: None,
        shape: None,
        raw: false,
    };
    let mut field = Field::open(path, &layout, &std::env::temp_dir(), true)?;
    ensure!(
        field.shape.len() == 2,
        "{}: an image is an array of two axes",
        path.display()
    );
    let mut reader = field.reader()?;
    let values = with_type!(field.element, T => {
        let mut values = vec![T::default(); field.shape.iter().product()];
        field.fill(&mut *reader, &mut values)?;
        values.into_iter().map(T::to_f64).collect()
    });
    Ok(Array::new(values, &field.shape)?)
}

/// A completed run of one state.
struct Done<T> {
    state: State,
    run: Run<T>,
    errors: Option<Errors>,
    predicted: Option<f64>,
    /// Time ÷ time of the first state in the same round, median over the rounds.
    against_first: f64,
    folder: PathBuf,
}

impl<T> Done<T> {
    /// Removes the grid from the disk.
    fn remove(self) -> Result<()> {
        let Self {
            state, run, folder, ..
        } = self;
        drop(run);
        if state.on_disk() {
            std::fs::remove_dir_all(&folder)?;
        }
        Ok(())
    }
}

/// Runs the requested states in the requested precision, and reports.
fn simulate<K: Kernel<f32> + Kernel<f64>>(kernel: &K, args: &Sweep) -> Result<Outcome> {
    match args.element {
        Precision::F32 => simulate_as::<f32>(kernel, args),
        Precision::F64 => simulate_as::<f64>(kernel, args),
    }
}

fn simulate_as<T: Value>(kernel: &dyn Kernel<T>, args: &Sweep) -> Result<Outcome> {
    if let Some(path) = &args.output {
        foreign::check_picture(path)?;
    }
    let output = match &args.output {
        Some(path) => Some(Output::create(path, &args.force, args.talk.quiet)?),
        None => None,
    };
    let states = states(args);
    let rate = Arc::new(Rate::new(args.disk_rate.map(|rate| rate as f64)));
    let options = args.coding.options_or(Bound::Range(1e-6))?;
    let plan = |state: State| Plan {
        state,
        steps: args.steps,
        per_pass: args.per_pass,
        threads: team::members(args.threads.count()),
        slab: args.slab,
        memory: args.memory.unwrap_or(u64::MAX),
        options: options.clone(),
        folder: args
            .dir
            .join(format!("ebz-{}-{}", kernel.name(), state.name())),
        rate: rate.clone(),
        resume: args.resume,
    };
    let plans: Vec<Plan> = states.into_iter().map(plan).collect();
    let machine = machine(kernel, &plans, args)?;
    let mut times = vec![Vec::new(); plans.len()];
    let mut done: Vec<Done<T>> = Vec::new();
    for _ in 0..args.rounds {
        for previous in std::mem::take(&mut done) {
            previous.remove()?;
        }
        for (plan, times) in plans.iter().zip(&mut times) {
            let run = run_state(kernel, plan, args)?;
            times.push(run.time.as_secs_f64());
            let reference = done.iter().find(|done| !done.state.is_compressed());
            let errors = reference.map(|reference| compare(kernel, &reference.run.grid, &run.grid));
            let predicted = machine
                .as_ref()
                .and_then(|m| m.predict(plan.state, args.per_pass));
            done.push(Done {
                state: plan.state,
                run,
                errors: errors.transpose()?,
                predicted,
                against_first: 1.0,
                folder: plan.folder.clone(),
            });
        }
    }
    for (done, all) in done.iter_mut().zip(&times) {
        done.run.time = Duration::from_secs_f64(all[median(all)]);
        let ratios: Vec<f64> = all.iter().zip(&times[0]).map(|(a, b)| a / b).collect();
        done.against_first = ratios[median(&ratios)];
    }
    if let (Some(mut output), Some(last)) = (output, done.last()) {
        draw(kernel, &last.run.grid, args, &mut output)?;
        output.commit()?;
    }
    if args.talk.json {
        report::say_json(&table::json(kernel, args, machine.as_ref(), &done)?)?;
    } else {
        report::say(&table::text(kernel, args, machine.as_ref(), &done))?;
    }
    if !args.keep {
        done.into_iter().try_for_each(Done::remove)?;
    }
    Ok(Outcome::Fine)
}

/// Runs one state.
fn run_state<T: Value>(kernel: &dyn Kernel<T>, plan: &Plan, args: &Sweep) -> Result<Run<T>> {
    let cells = (kernel.cells() * kernel.shape()[0]) as u64;
    let bar = progress::bar(plan.steps * cells, plan.state.name(), args.talk.quiet);
    let mut run = run(kernel, plan, |step| bar.set_position(step * cells))?;
    bar.finish_and_clear();
    run.grid.forget_previous();
    if let Some(warning) = run.warning() {
        report::note(
            args.talk.quiet,
            &format!("{}: {warning}", plan.state.name()),
        );
    }
    Ok(run)
}

/// The states to run; raw ones first if they are the reference.
fn states(args: &Sweep) -> Vec<State> {
    let asked: Vec<State> = args.state.iter().map(|&state| state.into()).collect();
    let mut states = Vec::new();
    if args.compare {
        states.extend(asked.iter().map(|state| state.raw()));
    }
    states.extend(asked);
    let mut seen = Vec::new();
    states.retain(|state| {
        let new = !seen.contains(state);
        seen.push(*state);
        new
    });
    states
}

/// Measures the limits of the machine, unless disabled.
fn machine<T: Value>(
    kernel: &dyn Kernel<T>,
    plans: &[Plan],
    args: &Sweep,
) -> Result<Option<Machine>> {
    let on_disk = plans.iter().find(|plan| plan.state.on_disk());
    match on_disk.or(plans.first()) {
        Some(plan) if !args.no_roofline => {
            let folder = args.dir.clone();
            let plan = Plan {
                folder,
                ..plan.clone()
            };
            Ok(Some(Machine::measure(kernel, &plan)?))
        }
        _ => Ok(None),
    }
}

/// Draws the grid, downsampled to a reasonable size.
fn draw<T: Value>(
    kernel: &dyn Kernel<T>,
    grid: &Grid<T>,
    args: &Sweep,
    out: &mut Output,
) -> Result<()> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let shape = kernel.shape();
    let columns = shape[shape.len() - 1];
    let every = shape
        .iter()
        .fold(1, |most, n| n.div_ceil(MAX_PIXELS).max(most));
    // A plane of a 3-D grid is a picture; a row of a 2-D grid is a line of one.
    let solid = kernel.cells() != columns;
    grid.for_each_plane(|at, plane| {
        if solid || at.is_multiple_of(every) {
            rows.extend(kernel.picture(at, plane));
        }
        Ok(())
    })?;
    if solid {
        rows = rows.into_iter().step_by(every).collect();
    }
    let values: Vec<f64> = rows
        .iter()
        .flat_map(|row| row.iter().step_by(every).copied())
        .collect();
    let ends = |pick: fn(f64, f64) -> f64, start| values.iter().copied().fold(start, pick);
    let scale = (
        ends(f64::min, f64::INFINITY),
        ends(f64::max, f64::NEG_INFINITY),
    );
    let heading = format!(
        "{} on {}, {} steps",
        kernel.name(),
        report::shape(&shape),
        args.steps
    );
    let panel = Panel {
        title: String::new(),
        axes: [shape.len() - 2, shape.len() - 1].map(|axis| format!("axis {axis}")),
        extents: [rows.len() * every, columns],
        rows: rows.len(),
        columns: columns.div_ceil(every),
        values,
        colours: Colours::Values,
        scale,
        bound: None,
    };
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    picture::draw(path, &heading, &[vec![panel]], out)
}
