//! `ebz sim rtm`: reverse time migration with one or several policies.
//!
//! Steps: 1 set up the shot, 2 choose the runs and check their memory, 3 record, 4 run, 5 compare
//! the images, 6 print the table and write image and plot.

mod table;
#[cfg(feature = "peers")]
mod zfp;

use super::memory_available;
use crate::Outcome;
use crate::args::{Layout, Rtm};
use crate::cleanup::{Guard, Undo};
use crate::foreign;
use crate::foreign::has_extension;
use crate::input::Field;
use crate::npy::Header;
use crate::output::Output;
use crate::picture::{self, Colours, Panel};
use crate::{progress, report};
use anyhow::{Context, Result, bail, ensure};
use ebz::{Bound, Element, ElementType, Options, with_type};
use ebz_sim::rtm::{self, FixedRate, HandOver, Manner, Setup, Shot, Storage, closeness};
use ebz_store::{Policy, StoreOptions, io};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use table::{Case, Row};

/// Relative to the range of a frame: images stay above 60 dB, see docs/rtm.md.
const DEFAULT_BOUND: Bound = Bound::Range(1e-4);

/// Bytes written and read to measure the disk.
const PROBE_BYTES: usize = 128 << 20;

pub fn run(args: &Rtm) -> Result<Outcome> {
    // 1. The shot.
    let options = args.coding.options_or(DEFAULT_BOUND)?;
    let policies = policies(args)?;
    let engine = args.zfp_rate.map(zfp).transpose()?;
    let whole = |(policy, how): &(Policy, HandOver)| !policy.is_exact() && *how == HandOver::Frames;
    if engine.is_some() && policies.iter().any(whole) {
        bail!("zfp compresses slabs: pass frames as slabs (--hand-over slabs)");
    }
    let shot = shot(args)?;
    let manner = Manner {
        threads: args.threads.count(),
        slab: args.slab.into(),
        every: args.every,
    };
    manner.check(&shot)?;
    warn(args, &shot);

    // 2. The runs.
    let memory = Memory::new(args, &shot, &manner);
    memory.check_shot()?;
    if let [(Policy::Memory, _)] = policies[..] {
        memory.check_frames()?;
    }
    let image = open(args.image.as_ref(), args)?;
    if let Some(path) = &args.output {
        foreign::check_picture(path)?;
    }
    let picture = open(args.output.as_ref(), args)?;
    let mut disk = None;
    if policies.iter().any(|(policy, _)| policy.needs_file()) {
        ensure!(
            args.moving.dir.is_dir(),
            "there is no folder {}: create it, or name another with --dir",
            args.moving.dir.display()
        );
        // If the disk has no room for the probe, the run will fail with a clear error.
        disk = io::probe(&args.moving.dir, PROBE_BYTES).ok();
    }

    // 3. The recording, which also times the stencil.
    let bar = progress::steps(shot.setup.steps, "record".into(), args.talk.quiet);
    let start = Instant::now();
    let recorded = rtm::record(&shot, &manner, &|steps| {
        bar.inc(steps as u64);
        Ok(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let speed = shot.speed(true)?;
    let case = Case {
        frames: manner.frames(&shot),
        points_per_second: shot.points() as f64 * shot.setup.steps as f64 / seconds,
        roof: rtm::roof(&shot, &speed, manner.threads)?,
        disk,
        coding: match args.zfp_rate {
            Some(bits) => ["zfp".into(), format!("{bits} bits per value")],
            None => [options.codec.clone(), options.bound.to_string()],
        },
        args,
        shot: &shot,
    };

    // 4. The runs.
    let job = Job {
        args,
        shot: &shot,
        speed: &speed,
        manner,
        recorded: &recorded,
        options: &options,
        engine,
    };
    let mut rounds: Vec<Vec<Row>> = Vec::new();
    let mut reference: Option<Vec<f32>> = None;
    let mut last = None;
    for _ in 0..args.rounds {
        let mut rows = Vec::new();
        for &(policy, hand_over) in &policies {
            if policy == Policy::Memory && memory.check_frames().is_err() {
                rows.push(job.shortened(&memory)?);
                continue;
            }
            let run = job.run(policy, hand_over, &shot, &recorded)?;
            let mut row = Row::new(&run, hand_over, &case.coding[1]);
            // 5. Exact frames give the reference image.
            match &reference {
                Some(reference) => row.closeness = Some(closeness(reference, &run.image)?),
                None if policy.is_exact() => reference = Some(run.image.clone()),
                None => {}
            }
            rows.push(row);
            last = Some(run.image);
        }
        rounds.push(rows);
    }

    // 6. Results.
    let result = last.or(reference).unwrap_or_default();
    if let Some(mut output) = image {
        if args
            .image
            .as_ref()
            .is_some_and(|path| has_extension(path, "npy"))
        {
            output.write_all(&Header::bytes(ElementType::F32, &shot.setup.extents)?)?;
        }
        output.write_all(bytemuck::cast_slice(&result))?;
        output.commit()?;
    }
    if let Some(mut output) = picture {
        let first = shot.surface() + 4;
        let slice = rtm::middle_slice(&result, shot.setup.extents, first);
        let most = slice.size_of_most(0.01).max(f64::MIN_POSITIVE);
        let shape = report::shape(&shot.setup.extents);
        let panel = Panel {
            title: format!("from depth {first} on, times the square of the depth below"),
            axes: ["depth".into(), "x".into()],
            extents: [slice.rows, slice.columns],
            rows: slice.rows,
            columns: slice.columns,
            values: slice.values,
            colours: Colours::Errors,
            scale: (-most, most),
            bound: None,
        };
        let heading = format!("Image of {shape} after {} steps", args.steps);
        let path = args.output.as_deref().unwrap_or(Path::new("-"));
        picture::draw(path, &heading, &[vec![panel]], &mut output)?;
        output.commit()?;
    }
    table::print(&case, &table::medians(rounds))?;
    Ok(Outcome::Fine)
}

/// zfp with this many bits per value.
#[cfg(feature = "peers")]
fn zfp(bits: u8) -> Result<Arc<dyn FixedRate>> {
    Ok(Arc::new(zfp::Zfp(bits)))
}

#[cfg(not(feature = "peers"))]
fn zfp(_bits: u8) -> Result<Arc<dyn FixedRate>> {
    bail!("this ebz was built without peers: build it with `--features peers`")
}

fn open(path: Option<&PathBuf>, args: &Rtm) -> Result<Option<Output>> {
    path.map(|path| Output::create(path, &args.force, args.talk.quiet))
        .transpose()
}

fn shot(args: &Rtm) -> Result<Shot> {
    let (extents, velocities) = match &args.velocity {
        Some(path) => {
            let layout = Layout {
                element: None,
                shape: args.grid.clone(),
                raw: false,
            };
            let mut field = Field::open(path, &layout, &args.moving.dir, args.talk.quiet)?;
            let extents = three(&field.shape)?;
            (extents, velocities(&mut field)?)
        }
        None => {
            let given = args.grid.as_ref().map(|grid| three(&grid.0));
            let extents = given.transpose()?.unwrap_or([128; 3]);
            // Before the velocities are allocated, which take memory themselves.
            rtm::Layout::new(extents)?;
            let bytes = extents.iter().product::<usize>() as u64 * 4;
            fits(args, 5 * bytes)?;
            (extents, args.model.velocities(extents))
        }
    };
    let mut setup = Setup::new(extents, args.steps);
    setup.spacing = args.spacing;
    setup.time_step = args.time_step;
    setup.frequency = args.frequency;
    setup.margin = args.margin.unwrap_or(setup.margin);
    Ok(Shot::new(setup, velocities)?)
}

fn three(extents: &[usize]) -> Result<[usize; 3]> {
    extents.try_into().ok().with_context(|| {
        format!(
            "{} is not a grid of three axes: write --grid 128x128x128, depth first",
            report::shape(extents)
        )
    })
}

fn velocities(field: &mut Field) -> Result<Vec<f32>> {
    let count = field.shape.iter().product();
    let mut input = field.reader()?;
    with_type!(field.element, T => {
        let mut values = vec![T::default(); count];
        field.fill(&mut input, &mut values)?;
        Ok(values.into_iter().map(|value| value.to_f64() as f32).collect())
    })
}

/// Warns about settings that degrade the image.
fn warn(args: &Rtm, shot: &Shot) {
    if shot.points_per_wavelength < 3.5 {
        report::note(
            args.talk.quiet,
            &format!(
                "{:.1} points per shortest wavelength are few: waves will disperse; use a \
                 lower --frequency or a smaller --spacing",
                shot.points_per_wavelength
            ),
        );
    }
    if args.every > shot.most_between_frames {
        report::note(
            args.talk.quiet,
            &format!(
                "a frame every {} steps misses part of the wave: --every {} would not",
                args.every,
                shot.most_between_frames.max(1)
            ),
        );
    }
}

fn policies(args: &Rtm) -> Result<Vec<(Policy, HandOver)>> {
    let hand_over = |name: &str| match name {
        "slabs" => Ok(HandOver::Slabs),
        "frames" => Ok(HandOver::Frames),
        _ => bail!("'{name}' is not a way to pass frames: use slabs or frames"),
    };
    let usual = hand_over(&args.hand_over)?;
    if args.compare {
        return Ok(Policy::ALL.map(|policy| (policy, usual)).to_vec());
    }
    if args.policy.is_empty() {
        return Ok(vec![(Policy::CompressedDiskServants, usual)]);
    }
    let parse = |text: &String| match text.split_once(':') {
        Some((policy, how)) => Ok((policy.parse()?, hand_over(how)?)),
        None => Ok((text.parse()?, usual)),
    };
    args.policy.iter().map(parse).collect()
}

fn fits(args: &Rtm, bytes: u64) -> Result<()> {
    if let Some(available) = args.moving.memory.or_else(memory_available)
        && bytes > available
    {
        bail!(
            "this grid needs {} of memory, but there are {}: choose a smaller --grid",
            report::bytes(bytes),
            report::bytes(available)
        );
    }
    Ok(())
}

/// Memory budget.
struct Memory<'a> {
    args: &'a Rtm,
    fields: u64,
    frame: u64,
    frames: u64,
}

impl<'a> Memory<'a> {
    fn new(args: &'a Rtm, shot: &Shot, manner: &Manner) -> Self {
        let frame = shot.points() as u64 * 4;
        Self {
            args,
            // The stored frames, and the reference image.
            fields: shot.memory() + (u64::from(args.moving.buffers) + 2) * frame,
            frame,
            frames: manner.frames(shot) as u64,
        }
    }

    fn available(&self) -> u64 {
        let given = self.args.moving.memory.or_else(memory_available);
        given.unwrap_or(u64::MAX)
    }

    fn check_shot(&self) -> Result<()> {
        fits(self.args, self.fields)
    }

    /// Number of frames that the memory policy can keep.
    fn frames_that_fit(&self) -> u64 {
        self.available().saturating_sub(self.fields) / self.frame.max(1)
    }

    fn check_frames(&self) -> Result<()> {
        ensure!(
            self.frames <= self.frames_that_fit(),
            "the memory policy needs {} for {}, but {} are available: choose another --policy, \
             fewer frames with a larger --every, or more --memory",
            report::bytes(self.fields + self.frames * self.frame),
            report::count(self.frames as usize, "frame"),
            report::bytes(self.available())
        );
        Ok(())
    }
}

/// Parameters shared by all runs.
struct Job<'a> {
    args: &'a Rtm,
    shot: &'a Shot,
    speed: &'a rtm::Field,
    manner: Manner,
    recorded: &'a [f32],
    options: &'a Options,
    engine: Option<Arc<dyn FixedRate>>,
}

impl Job<'_> {
    fn run(
        &self,
        policy: Policy,
        hand_over: HandOver,
        shot: &Shot,
        recorded: &[f32],
    ) -> Result<rtm::Run> {
        let moving = &self.args.moving;
        let name = format!("ebz-rtm-{}.ebz", std::process::id());
        let path = moving.dir.join(name);
        let guard = policy
            .needs_file()
            .then(|| Guard::new(Undo::Remove(path.clone())));
        let options = StoreOptions::new(policy, self.options.clone())
            .path(&path)
            .servants(moving.servants.into())
            .buffers(moving.buffers.into())
            .pin(moving.pin)
            .direct(!moving.no_direct)
            .disk_rate(moving.disk_rate.map(|rate| rate as f64));
        let storage = Storage {
            options,
            hand_over,
            engine: self.engine.clone(),
        };
        let quiet = self.args.talk.quiet;
        let bar = progress::steps(2 * shot.setup.steps, policy.to_string(), quiet);
        let tell = |steps: usize| {
            bar.inc(steps as u64);
            Ok(())
        };
        let run = rtm::migrate(shot, self.speed, &self.manner, recorded, &storage, &tell);
        bar.finish_and_clear();
        drop(guard);
        run.with_context(|| match policy.needs_file() {
            true => format!(
                "policy {policy} with frames in {} (another folder: --dir)",
                moving.dir.display()
            ),
            false => format!("policy {policy}"),
        })
    }

    /// The memory policy on as many frames as fit, to estimate its time.
    fn shortened(&self, memory: &Memory<'_>) -> Result<Row> {
        let frames = memory.frames_that_fit() as usize;
        if frames == 0 {
            memory.check_frames()?;
        }
        let mut setup = self.shot.setup.clone();
        setup.steps = frames * self.manner.every;
        setup.time_step = Some(self.shot.time_step);
        setup.frequency = Some(self.shot.frequency);
        let receivers = self.recorded.len() / self.shot.setup.steps;
        let recorded = &self.recorded[..receivers * setup.steps];
        let short = self.shot.with(setup)?;
        let run = self.run(Policy::Memory, HandOver::Slabs, &short, recorded)?;
        let all = self.manner.frames(self.shot) as f64 / frames as f64;
        Ok(Row::new(&run, HandOver::Slabs, "").scaled(all, frames))
    }
}
