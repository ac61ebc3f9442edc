//! Output: a header for the case, and one row per run.

use super::super::median;
use crate::args::Rtm;
use crate::report;
use anyhow::Result;
use ebz_sim::rtm::{Closeness, HandOver, RELATIVE_ERRORS, Run, Shot};
use ebz_store::io::DiskSpeed;
use serde_json::json;

/// Data shared by all runs.
pub struct Case<'a> {
    pub args: &'a Rtm,
    pub shot: &'a Shot,
    /// Codec and bound.
    pub coding: [String; 2],
    pub frames: usize,
    /// Of the stencil alone.
    pub points_per_second: f64,
    /// The limit of the memory bandwidth.
    pub roof: f64,
    pub disk: Option<DiskSpeed>,
}

/// A run. Times are in seconds and do not overlap.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Row {
    policy: &'static str,
    hand_over: HandOver,
    bound: String,
    forward: f64,
    backward: f64,
    wait_write: f64,
    wait_read: f64,
    total: f64,
    ratio: f64,
    raw_bytes: u64,
    stored_bytes: u64,
    encode: f64,
    decode: f64,
    /// Number of frames computed, if not all: times are extrapolated.
    scaled_from_frames: Option<usize>,
    pub closeness: Option<Closeness>,
    /// Total ÷ total of policy memory in the same round, median over the rounds.
    against_memory: Option<f64>,
}

/// For each policy the round with the median time.
pub fn medians(rounds: Vec<Vec<Row>>) -> Vec<Row> {
    let Some(first) = rounds.first() else {
        return Vec::new();
    };
    let memory = first.iter().position(|row| row.policy == "memory");
    let row = |policy: usize| {
        let totals: Vec<f64> = rounds.iter().map(|round| round[policy].total).collect();
        let against = memory.map(|memory| {
            let ratio = |round: &Vec<Row>| round[policy].total / round[memory].total;
            let ratios: Vec<f64> = rounds.iter().map(ratio).collect();
            ratios[median(&ratios)]
        });
        Row {
            against_memory: against,
            ..rounds[median(&totals)][policy].clone()
        }
    };
    (0..first.len()).map(row).collect()
}

impl Row {
    pub fn new(run: &Run, hand_over: HandOver, bound: &str) -> Self {
        let report = &run.report;
        let (wait_write, wait_read) = (
            report.write_wait.as_secs_f64(),
            report.read_wait.as_secs_f64(),
        );
        let (forward, backward) = (run.forward.as_secs_f64(), run.backward.as_secs_f64());
        Self {
            policy: report.policy.name(),
            hand_over,
            bound: match report.policy.is_exact() {
                true => "exact".into(),
                false => bound.into(),
            },
            // Threads may have waited concurrently.
            forward: (forward - wait_write).max(0.0),
            backward: (backward - wait_read).max(0.0),
            wait_write: wait_write.min(forward),
            wait_read: wait_read.min(backward),
            total: forward + backward,
            ratio: report.ratio(),
            raw_bytes: report.raw_bytes,
            stored_bytes: report.stored_bytes,
            encode: report.encode.as_secs_f64(),
            decode: report.decode.as_secs_f64(),
            scaled_from_frames: None,
            closeness: None,
            against_memory: None,
        }
    }

    /// The policy as on the command line.
    fn name(&self) -> String {
        let hand_over = match self.hand_over {
            HandOver::Slabs => "slabs",
            HandOver::Frames => "frames",
        };
        format!("{}:{hand_over}", self.policy)
    }

    /// The run scaled to this many times as many frames.
    pub fn scaled(mut self, by: f64, frames: usize) -> Self {
        for time in [
            &mut self.forward,
            &mut self.backward,
            &mut self.wait_write,
            &mut self.wait_read,
            &mut self.total,
        ] {
            *time *= by;
        }
        self.scaled_from_frames = Some(frames);
        self
    }
}

/// Prints the results.
pub fn print(case: &Case<'_>, rows: &[Row]) -> Result<()> {
    let (args, shot) = (case.args, case.shot);
    if args.talk.json {
        let disk = case
            .disk
            .map(|disk| json!({"write": disk.write, "read": disk.read, "direct": disk.direct}));
        return report::say_json(&json!({
            "grid": shot.setup.extents,
            "steps": shot.setup.steps,
            "every": args.every,
            "rounds": args.rounds,
            "frames": case.frames,
            "time_step": shot.time_step,
            "frequency": shot.frequency,
            "points_per_wavelength": shot.points_per_wavelength,
            "points_per_second": case.points_per_second,
            "roof_points_per_second": case.roof,
            "codec": case.coding[0],
            "bound": case.coding[1],
            "disk": disk,
            "disk_rate": args.moving.disk_rate,
            "rows": rows,
        }));
    }
    let disk = match (case.disk, args.moving.disk_rate) {
        (None, _) => String::new(),
        (Some(disk), None) => format!("\ndisk: {disk}, not limited"),
        (Some(disk), Some(rate)) => {
            format!("\ndisk: {disk}, limited to {:.2} GB/s", rate as f64 / 1e9)
        }
    };
    report::say(&format!(
        "grid {}, {} steps of {:.3} ms, source {:.1} Hz, a frame every {}: {} of {}\n\
         stencil: {:.2} billion points/s; memory allows {:.2}{disk}\n\
         {}, {}\n{}",
        report::shape(&shot.setup.extents),
        shot.setup.steps,
        shot.time_step * 1e3,
        shot.frequency,
        args.every,
        report::count(case.frames, "frame"),
        report::bytes(shot.points() as u64 * 4),
        case.points_per_second / 1e9,
        case.roof / 1e9,
        case.coding[0],
        case.coding[1],
        table(rows)
    ))?;
    match args.histogram {
        true => report::say(&histogram(rows)),
        false => Ok(()),
    }
}

/// Histogram of the relative errors.
fn histogram(rows: &[Row]) -> String {
    let ends = RELATIVE_ERRORS.map(|end| match end {
        end if end.is_finite() => format!("< {} %", 100.0 * end),
        _ => "more".into(),
    });
    let line = |name: &str, cells: [String; RELATIVE_ERRORS.len()]| {
        let cells = cells.map(|cell| format!(" {cell:>8}")).concat();
        format!("{name:<32}{cells}")
    };
    let mut lines = vec![line("relative errors, % of the points", ends)];
    for row in rows {
        if let Some(close) = row.closeness {
            let cells = close.histogram.map(|share| format!("{:.2}", 100.0 * share));
            lines.push(line(&row.name(), cells));
        }
    }
    lines.join("\n")
}

fn table(rows: &[Row]) -> String {
    let mut lines = vec![
        format!(
            "{:<32} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>10} {:>8} {:>7}",
            "",
            "forward",
            "backward",
            "wait",
            "wait",
            "total",
            "against",
            "",
            "stored",
            "image",
            "within"
        ),
        format!(
            "{:<32} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>10} {:>8} {:>7}",
            "policy", "s", "s", "write s", "read s", "s", "memory", "ratio", "", "SNR dB", "2 %"
        ),
    ];
    for row in rows {
        let against = row.against_memory.map_or("-".into(), |ratio| {
            format!("{:+.1} %", 100.0 * (ratio - 1.0))
        });
        let close = row.closeness;
        let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.1}"));
        lines.push(format!(
            "{:<32} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {against:>8} {:>7.2} {:>10} {:>8} {:>7}",
            row.name(),
            row.forward,
            row.backward,
            row.wait_write,
            row.wait_read,
            row.total,
            row.ratio,
            report::bytes(row.stored_bytes),
            number(close.map(|c| c.snr)),
            number(close.map(|c| 100.0 * c.within_2_percent)),
        ));
        if let Some(frames) = row.scaled_from_frames {
            lines.push(format!(
                "  (timed on {frames} frames, which fit into memory, and scaled to all)"
            ));
        }
    }
    lines.join("\n")
}
