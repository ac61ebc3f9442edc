//! The choice of mode and order of the axes: by forecast, and where that leaves more than one, by coding
//! some blocks of the chunk, up to the entropy coder, whose size is estimated from the counts.

use super::encode::{self, Memory};
use super::forecast::{Forecast, Sampler};
use super::geometry::Extents;
use super::kernel::launch;
use super::plan::{Mode, ORDERS, Plan, Source};
use super::real::Real;
use super::stream::StreamWriter;
use crate::codec::{Dims, Params};
use crate::error::{Error, Result};
use crate::simd::Level as Isa;

/// What the user asked for: a plan, or the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Auto,
    Isotropic,
    /// The axis that planes are orthogonal to.
    Packet(usize),
    Lorenzo(u8),
}

impl Request {
    /// Reads the parameters of the codec.
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

/// Chunks of at most so many values are coded with every plan.
const MAX_VALUES_TO_TRY_EVERY_PLAN: usize = 16 << 10;
/// Chunks of at most so many values are tried on two blocks instead of all.
const MAX_VALUES_FOR_TWO_BLOCKS: usize = 64 << 10;
/// Extents of a block: rows fill their lanes, and with an odd number of values, nothing needs
/// extrapolation.
const BLOCK: Extents = [9, 9, 127];
/// Where blocks start, in parts of 64 of what the chunk leaves free.
const STARTS: [Extents; 4] = [[16, 40, 20], [48, 24, 44], [32, 56, 56], [0, 8, 8]];
/// Packets are tried unless their forecast is above that of isotropic mode by this factor.
const MAX_PACKET_FORECAST: f32 = 1.05;
/// Isotropic mode is tried unless its forecast is above that of packets by this factor: forecasts of
/// packets may be far too low.
const MAX_ISOTROPIC_FORECAST: f32 = 3.0;
/// Differences, whose forecast is nearly exact, are tried if it differs by less than this factor.
const CLOSE_LORENZO: f32 = 1.15;
/// What contexts and tables add to the forecast of differences.
const LORENZO_EXTRA: f32 = 1.12;
/// Packets take up to twice the time: they must be smaller by more than this part of their size.
const PACKET_BURDEN: u64 = 64;
/// A plan that takes more than the best one by this part of its size on the first block is out.
const CLEARLY_WORSE: u64 = 5;
/// Axes shorter than this make rows that waste lanes, if there is a longer one.
const SHORT_ROW: usize = 16;

/// Memory of the choice.
#[derive(Default)]
pub(super) struct Chooser<T> {
    memory: Memory<T>,
    block: Vec<T>,
    /// What each plan has made of the blocks so far.
    streams: Vec<StreamWriter>,
}

/// A plan on trial.
struct Trial {
    plan: Plan,
    /// With another order of the axes, see [`Chooser::best`].
    tried: Plan,
    /// Index of its streams.
    streams: usize,
    cost: u64,
}

impl<T: Real> Chooser<T> {
    /// The plan for a chunk.
    pub(super) fn plan(
        &mut self,
        isa: Isa,
        source: &Source<'_, T>,
        request: Request,
    ) -> Result<Plan> {
        let order = natural_order(source.dims);
        let plan = |mode, order| Ok(Plan { mode, order });
        match request {
            Request::Isotropic => plan(Mode::Isotropic, order),
            Request::Lorenzo(axes) => plan(Mode::Lorenzo(axes), order),
            Request::Packet(axis) => plan(Mode::Packet, packet_order(order, axis)),
            Request::Auto => self.best(isa, source, order),
        }
    }

    fn best(&mut self, isa: Isa, source: &Source<'_, T>, order: usize) -> Result<Plan> {
        let isotropic = Plan {
            mode: Mode::Isotropic,
            order,
        };
        let (extents, _) = isotropic.arrange(source.dims);
        let small = source.values.len() <= MAX_VALUES_TO_TRY_EVERY_PLAN;
        let forecast = Sampler::new(isa, source, order).map(|sampler| launch(isa, sampler));
        let plans = match forecast {
            Some(forecast) if !small => candidates(&forecast, order, extents),
            _ => everything(forecast.map(|f| f.lorenzo_axes), order, extents),
        };
        if let [only] = plans[..] {
            return Ok(only);
        }
        let starts = match source.values.len() {
            values if values <= MAX_VALUES_TO_TRY_EVERY_PLAN => &STARTS[..1],
            values if values <= MAX_VALUES_FOR_TWO_BLOCKS => &STARTS[..2],
            _ => &STARTS[..],
        };
        // Isotropic mode is tried in the order of packets, so that rows are long for both.
        let packet = plans.iter().find(|p| p.mode == Mode::Packet);
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
        for (number, &start) in starts.iter().enumerate() {
            self.cut(source, block, start);
            for trial in &mut trials {
                std::mem::swap(&mut self.memory.streams, &mut self.streams[trial.streams]);
                self.attempt(isa, source, trial.tried, block)?;
                if number == 0 || number + 1 == starts.len() {
                    trial.cost = self.memory.streams.estimate::<T>();
                    if trial.plan.mode == Mode::Packet {
                        trial.cost += trial.cost / PACKET_BURDEN;
                    }
                }
                std::mem::swap(&mut self.memory.streams, &mut self.streams[trial.streams]);
            }
            // The first block may decide already.
            let least = trials.iter().map(|t| t.cost).min().unwrap_or(0);
            trials.retain(|t| t.cost <= least + least / CLEARLY_WORSE);
            if trials.len() == 1 {
                break;
            }
        }
        let best = trials.iter().min_by_key(|t| t.cost);
        Ok(best.map_or(isotropic, |t| t.plan))
    }

    /// Copies a block of the chunk.
    fn cut(&mut self, source: &Source<'_, T>, block: Extents, start: Extents) {
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

    /// Codes the block into `self.memory`.
    fn attempt(
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
        encode::code(isa, &sample, plan, &mut self.memory)
    }
}

/// The axes of an arrangement that planes may be orthogonal to.
fn packet_axes(extents: Extents) -> impl Iterator<Item = usize> {
    // A plane of one row is a line, which isotropic mode handles as well.
    let axes = extents.iter().filter(|&&n| n > 1).count();
    (0..3).filter(move |&a| extents[a] >= 4 && axes > 1)
}

fn packet(order: usize, axis: usize) -> Plan {
    Plan {
        mode: Mode::Packet,
        order: packet_order(order, ORDERS[order][axis]),
    }
}

/// One plan of each kind.
fn everything(lorenzo: Option<u8>, order: usize, extents: Extents) -> Vec<Plan> {
    let long = (0..3).filter(|&a| extents[a] > 1).map(|a| 4 >> a).sum();
    let simple = [Mode::Isotropic, Mode::Lorenzo(lorenzo.unwrap_or(long))];
    let simple = simple.map(|mode| Plan { mode, order });
    let packets = packet_axes(extents).map(|axis| packet(order, axis));
    simple.into_iter().chain(packets).collect()
}

/// Plans that may be the best by their forecast.
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
    let lorenzo = forecast.lorenzo * LORENZO_EXTRA;
    if lorenzo * CLOSE_LORENZO < least {
        plans.clear();
    }
    if lorenzo < least * CLOSE_LORENZO || plans.is_empty() {
        plans.push(plan(Mode::Lorenzo(forecast.lorenzo_axes)));
    }
    plans
}

/// The extents of a block: as [`BLOCK`] in some order, but what a short axis leaves goes to the others.
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

/// The order in which axes of one value come first and the last axis is not short.
fn natural_order(dims: Dims) -> usize {
    let extents = [dims.nz, dims.ny, dims.nx];
    let longest = (0..3).rev().max_by_key(|&a| extents[a]).unwrap_or(2);
    let last = if extents[2] < SHORT_ROW && extents[longest] >= 2 * extents[2] {
        longest
    } else {
        2
    };
    let mut others: Vec<usize> = (0..3).filter(|&a| a != last).collect();
    others.sort_by_key(|&a| extents[a] > 1);
    index_of([others[0], others[1], last])
}

/// The order with an axis of the chunk slowest and the others as in `order`.
fn packet_order(order: usize, axis: usize) -> usize {
    let mut others = ORDERS[order].into_iter().filter(|&a| a != axis);
    let mut next = || others.next().unwrap_or(axis);
    index_of([axis, next(), next()])
}

fn index_of(order: [usize; 3]) -> usize {
    ORDERS.iter().position(|o| *o == order).unwrap_or(0)
}
