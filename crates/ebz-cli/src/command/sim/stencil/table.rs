//! The report of a stencil run.

use super::Done;
use crate::args::Sweep;
use crate::report;
use anyhow::Result;
use ebz_sim::stencil::roofline::Machine;
use ebz_sim::stencil::{Kernel, Value};
use ebz_store::grid::Layout;
use serde_json::json;
use std::fmt::Write;

/// The fastest state according to the roofline.
fn best(layout: &Layout, args: &Sweep, machine: Option<&Machine>) -> Option<&'static str> {
    let memory = args.memory.unwrap_or(u64::MAX);
    let state = machine?.best(args.per_pass, layout.bytes(), memory)?;
    Some(state.name())
}

/// As a table.
pub fn text<T: Value>(
    kernel: &dyn Kernel<T>,
    args: &Sweep,
    machine: Option<&Machine>,
    done: &[Done<T>],
) -> String {
    let mut text = String::new();
    let Some(first) = done.first() else {
        return text;
    };
    let layout = first.run.grid.layout();
    let giga = |bytes: f64| bytes / 1e9;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{} {} ({}), {:.3} GB of {}, {} steps, {} per pass, slabs of {}",
        kernel.name(),
        report::shape(layout.shape()),
        kernel.parameters(),
        giga(layout.bytes() as f64),
        layout.element(),
        args.steps,
        args.per_pass,
        layout.slab_planes(),
    );
    if let Some(m) = machine {
        let _ = write!(
            text,
            "at most: {:.0} million cells/s computed, {:.1} GB/s memory, {:.2} GB/s compressed, {:.2} \
             GB/s decompressed, ratio {:.1}",
            m.compute / 1e6,
            giga(m.memory),
            giga(m.encode),
            giga(m.decode),
            m.ratio
        );
        if let (Some(read), Some(write)) = (m.disk_read, m.disk_write) {
            let limited = args.disk_rate.map_or("", |_| " (limited)");
            let (read, write) = (giga(read), giga(write));
            let _ = write!(
                text,
                ", disk {read:.2} GB/s read and {write:.2} written{limited}"
            );
        }
        let _ = writeln!(
            text,
            "; should be fastest: {}",
            best(layout, args, machine).unwrap_or("unknown")
        );
    }
    let _ = writeln!(
        text,
        "{:<18} {:>9} {:>8} {:>9} {:>8} {:>7} {:>8} {:>9} {:>8} {:>8} {:>9} {:>9} {:>9}",
        "state",
        "Mcells/s",
        "x first",
        "at most",
        "GB/s",
        "ratio",
        "read GB",
        "wrote GB",
        "wait r s",
        "wait w s",
        "max error",
        "L2 error",
        "of change"
    );
    for Done {
        state,
        run,
        errors,
        predicted,
        against_first,
        ..
    } in done
    {
        let error = |pick: fn(&ebz_sim::stencil::Errors) -> f64| match errors {
            Some(errors) => format!("{:.1e}", pick(errors)),
            None => "-".into(),
        };
        let _ = writeln!(
            text,
            "{:<18} {:>9.1} {:>8.3} {:>9} {:>8.2} {:>7.2} {:>8.3} {:>9.3} {:>8.2} {:>8.2} {:>9} {:>9} {:>9}",
            state.name(),
            run.updates_per_second(kernel) / 1e6,
            1.0 / against_first,
            predicted.map_or("-".into(), |p| format!("{:.1}", p / 1e6)),
            giga(run.effective_bandwidth()),
            run.ratio(),
            giga(run.moved.read as f64),
            giga(run.moved.written as f64),
            run.moved.waited_reading.as_secs_f64(),
            run.moved.waited_writing.as_secs_f64(),
            error(|e| e.max),
            error(|e| e.l2),
            error(|e| e.of_change),
        );
    }
    for Done { state, errors, .. } in done {
        for (name, value, difference) in errors.iter().flat_map(|e| &e.quantities) {
            let state = state.name();
            let _ = writeln!(
                text,
                "{state}: {name} {value:.6e}, off by {difference:.1e} of it"
            );
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// As JSON.
pub fn json<T: Value>(
    kernel: &dyn Kernel<T>,
    args: &Sweep,
    machine: Option<&Machine>,
    done: &[Done<T>],
) -> Result<serde_json::Value> {
    let states: Result<Vec<serde_json::Value>> = done
        .iter()
        .map(|done| {
            let run = &done.run;
            Ok(json!({
                "state": done.state.name(),
                "steps": run.steps,
                "seconds": run.time.as_secs_f64(),
                "time_over_first": done.against_first,
                "cells_per_second": run.updates_per_second(kernel),
                "predicted_cells_per_second": done.predicted,
                "bytes_per_second": run.effective_bandwidth(),
                "ratio": run.ratio(),
                "read_bytes": run.moved.read,
                "written_bytes": run.moved.written,
                "grid_memory_bytes": run.grid.memory(),
                "waited_reading_seconds": run.moved.waited_reading.as_secs_f64(),
                "waited_writing_seconds": run.moved.waited_writing.as_secs_f64(),
                "tolerance": serde_json::to_value(run.tolerance)?,
                "change_per_pass": run.change,
                "warning": run.warning(),
                "errors": serde_json::to_value(&done.errors)?,
            }))
        })
        .collect();
    let layout = done.first().map(|done| done.run.grid.layout());
    Ok(json!({
        "kernel": kernel.name(),
        "parameters": kernel.parameters(),
        "element": T::TYPE,
        "shape": kernel.shape(),
        "raw_bytes": layout.map(Layout::bytes),
        "slab": layout.map(Layout::slab_planes),
        "steps_per_pass": args.per_pass,
        "rounds": args.rounds,
        "machine": serde_json::to_value(machine)?,
        "predicted_best": layout.and_then(|layout| best(layout, args, machine)),
        "states": states?,
    }))
}
