//! Choice of mode and axis order. A forecast rules out most plans; the others are compared by
//! trial: some blocks of the chunk are encoded up to the entropy coder, whose output size is
//! estimated from the symbol counts.

use super::encode::{self, Memory};
use super::forecast::{Forecast, Sampler};
use super::geometry::Extents;
use super::kernel::launch;
use super::number::Number;
use super::plan::{Mode, ORDERS, Plan, Source, arrange};
use super::stream::StreamWriter;
use crate::codec::{Dims, Params};
use crate::error::{Error, Result};
use crate::simd::Level as Isa;

/// The parameter `mode`: a fixed mode, or the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Auto,
    Isotropic,
    /// The axis orthogonal to the planes.
    Packet(usize),
    Lorenzo(u8),
}

impl Request {
    /// Parses the codec parameters.
    pub(super) fn from_params(params: &Params) -> Result<Self> {
        let text = params.get("mode").unwrap_or("auto");
        let parsed = match text {
            "auto" => Some(Self::Auto),
            "isotropic" => Some(Self::Isotropic),
            "packet-z" => Some(Self::Packet(0)),
            "packet-y" => Some(Self::Packet(1)),
            "packet-x" => Some(Self::Packet(2)),
            _ => text.strip_prefix("lorenzo-").and_then(|axes| {
                let names = ["0", "x", "y", "yx", "z", "zx", "zy", "zyx"];
                let at = names.iter().position(|n| *n == axes)?;
                Some(Self::Lorenzo(at as u8))
            }),
        };
        parsed.ok_or_else(|| {
            Error::invalid(format!(
                "parameter mode={text}: use auto, isotropic, packet-z, packet-y, packet-x or \
                 lorenzo-zyx (any of its axes, or 0)"
            ))
        })
    }
}

/// Chunks of at most this many values are encoded with every plan.
const MAX_VALUES_TO_TRY_EVERY_PLAN: usize = 16 << 10;
/// For chunks of at most this many values, trials use two blocks instead of all.
const MAX_VALUES_FOR_TWO_BLOCKS: usize = 64 << 10;
/// Extents of a trial block: rows fill their lanes, and odd extents need no extrapolation.
const BLOCK: Extents = [9, 9, 127];
/// Offsets of the blocks, in 64ths of the difference between chunk and block extents.
const BLOCK_OFFSETS: [Extents; 4] = [[16, 40, 20], [48, 24, 44], [32, 56, 56], [0, 8, 8]];
/// Packet mode is tried if its forecast is below this multiple of the isotropic forecast.
const MAX_PACKET_FORECAST: f32 = 1.05;
/// Isotropic mode is tried unless its forecast exceeds the packet forecast by this factor; packet
/// forecasts may be far too low.
const MAX_ISOTROPIC_FORECAST: f32 = 3.0;
/// Lorenzo mode, whose forecast is nearly exact, is tried if the forecast is within this factor of
/// the best.
const LORENZO_MARGIN: f32 = 1.15;
/// Overhead of contexts and tables, which the Lorenzo forecast does not include.
const LORENZO_OVERHEAD: f32 = 1.12;
/// Packet mode takes up to twice the time: its cost is increased by one part in this many.
const PACKET_PENALTY_DIVISOR: u64 = 64;
/// A plan is dropped after a block if it costs more than the best by over one part in this many.
const MAX_EXCESS_DIVISOR: u64 = 5;
/// … and by over one bit for this many values.
const MIN_EXCESS_DIVISOR: usize = 4;
/// An axis shorter than this is not the fastest if there is a longer one: its rows would waste
/// lanes.
const MIN_ROW_VALUES: usize = 16;

/// Scratch buffers of the trials.
#[derive(Default)]
pub(super) struct Chooser<T> {
    memory: Memory<T>,
    block: Vec<T>,
    /// The encoded blocks of each plan.
    streams: Vec<StreamWriter>,
}

/// A plan on trial.
struct Trial {
    plan: Plan,
    /// The plan used for the trial: its axis order may differ, see [`Chooser::best`].
    tried: Plan,
    /// Index of its streams.
    streams: usize,
    cost: u64,
}

/// The plan of a chunk.
pub(super) struct Choice<'a> {
    pub(super) plan: Plan,
    /// The whole chunk, if it was encoded as a trial.
    pub(super) streams: Option<&'a mut StreamWriter>,
}

impl<T: Number> Chooser<T> {
    /// The plan for a chunk.
    pub(super) fn plan(
        &mut self,
        isa: Isa,
        source: &Source<'_, T>,
        request: Request,
    ) -> Result<Choice<'_>> {
        let order = natural_order(source.dims);
        let plan = |mode, order| {
            Ok(Choice {
                plan: Plan { mode, order },
                streams: None,
            })
        };
        match request {
            Request::Isotropic => plan(Mode::Isotropic, order),
            Request::Lorenzo(axes) => plan(Mode::Lorenzo(axes), order),
            Request::Packet(axis) => plan(Mode::Packet, packet_order(order, axis)),
            Request::Auto => self.best(isa, source, order),
        }
    }

    fn best(&mut self, isa: Isa, source: &Source<'_, T>, order: usize) -> Result<Choice<'_>> {
        let (extents, _) = arrange(order, source.dims);
        let small = source.values.len() <= MAX_VALUES_TO_TRY_EVERY_PLAN;
        let forecast = Sampler::new(isa, source, order).map(|sampler| launch(isa, sampler));
        let plans = match forecast {
            Some(forecast) if !small => candidates(&forecast, order, extents),
            _ => one_of_each_mode(forecast.map(|f| f.lorenzo_axes), order, extents),
        };
        if let [only] = plans[..] {
            return Ok(Choice {
                plan: only,
                streams: None,
            });
        }
        let starts = match source.values.len() {
            values if values <= MAX_VALUES_TO_TRY_EVERY_PLAN => &BLOCK_OFFSETS[..1],
            values if values <= MAX_VALUES_FOR_TWO_BLOCKS => &BLOCK_OFFSETS[..2],
            _ => &BLOCK_OFFSETS[..],
        };
        // Try isotropic mode on blocks in the axis order of packet mode, so that rows are long in
        // both.
        let packet = plans.iter().find(|p| p.mode == Mode::Packet && !small);
        let order = packet.map_or(order, |p| p.order);
        let block = block_extents(source.dims, order);
        self.streams.resize_with(plans.len(), StreamWriter::default);
        self.streams.iter_mut().for_each(StreamWriter::clear);
        let trial = |(streams, plan): (usize, Plan)| Trial {
            plan,
            tried: match plan.mode {
                Mode::Isotropic => Plan { order, ..plan },
                _ => plan,
            },
            streams,
            cost: 0,
        };
        let mut trials: Vec<Trial> = plans.into_iter().enumerate().map(trial).collect();
        for (index, &start) in starts.iter().enumerate() {
            self.copy_block(source, block, start);
            for trial in &mut trials {
                std::mem::swap(&mut self.memory.streams, &mut self.streams[trial.streams]);
                self.encode_block(isa, source, trial.tried, block)?;
                if index == 0 || index + 1 == starts.len() {
                    trial.cost = self.memory.streams.estimate();
                    if trial.plan.mode == Mode::Packet {
                        trial.cost += trial.cost / PACKET_PENALTY_DIVISOR;
                    }
                }
                std::mem::swap(&mut self.memory.streams, &mut self.streams[trial.streams]);
            }
            // One block may suffice for a decision.
            let least = trials.iter().map(|t| t.cost).min().unwrap_or(0);
            // What a constant block costs says nothing.
            let floor = (self.block.len() / MIN_EXCESS_DIVISOR) as u64;
            trials.retain(|t| t.cost <= least + floor.max(least / MAX_EXCESS_DIVISOR));
            if trials.len() == 1 {
                break;
            }
        }
        let best = trials.iter().min_by_key(|t| t.cost);
        let fallback = Plan {
            mode: Mode::Isotropic,
            order,
        };
        Ok(Choice {
            plan: best.map_or(fallback, |t| t.plan),
            streams: best.and_then(|t| self.streams.get_mut(t.streams).filter(|_| small)),
        })
    }

    /// Copies a block of the chunk to `self.block`.
    fn copy_block(&mut self, source: &Source<'_, T>, block: Extents, start: Extents) {
        let dims = source.dims;
        let extents = [dims.nz, dims.ny, dims.nx];
        let start: Extents = std::array::from_fn(|a| (extents[a] - block[a]) * start[a] / 64);
        self.block.clear();
        for (z, y) in super::rearrange::rows(block[0], block[1]) {
            let row = ((start[0] + z) * dims.ny + start[1] + y) * dims.nx + start[2];
            self.block
                .extend_from_slice(&source.values[row..row + block[2]]);
        }
    }

    /// Encodes the block into `self.memory`.
    fn encode_block(
        &mut self,
        isa: Isa,
        source: &Source<'_, T>,
        plan: Plan,
        [nz, ny, nx]: Extents,
    ) -> Result<()> {
        let sample = Source {
            values: &self.block,
            dims: Dims { nz, ny, nx },
            ..*source
        };
        encode::encode_streams(isa, &sample, plan, &mut self.memory)
    }
}

/// The axes along which packet mode can interpolate between planes.
fn packet_axes(extents: Extents) -> impl Iterator<Item = usize> {
    // With one long axis, planes would be single rows, which isotropic mode handles as well.
    let axes = extents.iter().filter(|&&n| n > 1).count();
    (0..3).filter(move |&a| extents[a] >= 4 && axes > 1)
}

fn packet(order: usize, axis: usize) -> Plan {
    Plan {
        mode: Mode::Packet,
        order: packet_order(order, ORDERS[order][axis]),
    }
}

/// One plan per mode, and packet mode along each axis.
fn one_of_each_mode(lorenzo: Option<u8>, order: usize, extents: Extents) -> Vec<Plan> {
    let long = (0..3).filter(|&a| extents[a] > 1).map(|a| 4 >> a).sum();
    let simple = [Mode::Isotropic, Mode::Lorenzo(lorenzo.unwrap_or(long))];
    let simple = simple.map(|mode| Plan { mode, order });
    let packets = packet_axes(extents).map(|axis| packet(order, axis));
    simple.into_iter().chain(packets).collect()
}

/// The plans that may be the best according to their forecasts.
fn candidates(forecast: &Forecast, order: usize, extents: Extents) -> Vec<Plan> {
    let plan = |mode| Plan { mode, order };
    let mut least = forecast.isotropic;
    let mut plans = vec![plan(Mode::Isotropic)];
    let cost = |axis: &usize| forecast.packet[*axis];
    if let Some(axis) = packet_axes(extents).min_by(|a, b| cost(a).total_cmp(&cost(b))) {
        let packet_cost = cost(&axis);
        if packet_cost * MAX_ISOTROPIC_FORECAST < least {
            plans.clear();
        }
        if packet_cost < least * MAX_PACKET_FORECAST {
            plans.push(packet(order, axis));
        }
        least = least.min(packet_cost);
    }
    let lorenzo = forecast.lorenzo * LORENZO_OVERHEAD;
    if lorenzo * LORENZO_MARGIN < least {
        plans.clear();
    }
    if forecast.masked || lorenzo < least * LORENZO_MARGIN || plans.is_empty() {
        plans.push(plan(Mode::Lorenzo(forecast.lorenzo_axes)));
    }
    plans
}

/// The extents of a trial block: [`BLOCK`] in the given axis order; if an axis is shorter, the
/// others grow.
fn block_extents(dims: Dims, order: usize) -> Extents {
    let extents = [dims.nz, dims.ny, dims.nx];
    if extents.iter().product::<usize>() <= MAX_VALUES_TO_TRY_EVERY_PLAN {
        return extents;
    }
    let mut block = [0; 3];
    for (axis, most) in ORDERS[order].into_iter().zip(BLOCK) {
        block[axis] = extents[axis].min(most);
    }
    let wanted: usize = BLOCK.iter().product();
    while 2 * block.iter().product::<usize>() <= wanted {
        let growing = (0..3).filter(|&a| block[a] < extents[a]);
        let Some(axis) = growing.min_by_key(|&a| block[a]) else {
            break;
        };
        block[axis] = (2 * block[axis] - 1).max(2).min(extents[axis]);
    }
    block
}

/// The axis order in which axes of length 1 come first and the last axis is not short.
fn natural_order(dims: Dims) -> usize {
    let extents = [dims.nz, dims.ny, dims.nx];
    let longest = (0..3).rev().max_by_key(|&a| extents[a]).unwrap_or(2);
    let last = if extents[2] < MIN_ROW_VALUES && extents[longest] >= 2 * extents[2] {
        longest
    } else {
        2
    };
    let mut others: Vec<usize> = (0..3).filter(|&a| a != last).collect();
    others.sort_by_key(|&a| extents[a] > 1);
    index_of([others[0], others[1], last])
}

/// The axis order with `axis` slowest and the others as in `order`.
fn packet_order(order: usize, axis: usize) -> usize {
    let mut others = ORDERS[order].into_iter().filter(|&a| a != axis);
    let mut next = || others.next().unwrap_or(axis);
    index_of([axis, next(), next()])
}

fn index_of(order: [usize; 3]) -> usize {
    ORDERS.iter().position(|o| *o == order).unwrap_or(0)
}
