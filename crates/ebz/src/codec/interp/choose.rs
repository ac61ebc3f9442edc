//! The choice of mode and order of the axes: each is tried on a few blocks of the chunk, up to the
//! entropy coder, whose size is estimated from the counts.

use super::encode::{self, Memory, Source};
use super::geometry::Extents;
use super::quantize::cost;
use super::real::{Real, Step};
use super::stream::{Mode, ORDERS, Plan};
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

/// Values of a block on which every plan is tried, and of one on which the best two are compared.
const FIRST: usize = 16 << 10;
const SECOND: usize = 32 << 10;
/// The best two are compared again if the difference is less than this fraction of their cost.
const CLOSE: u64 = 16;
/// Axes shorter than this make rows that waste lanes, if there is a longer one.
const SHORT_ROW: usize = 16;

/// Memory of the choice.
#[derive(Default)]
pub(super) struct Chooser<T> {
    memory: Memory<T>,
    block: Vec<T>,
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
        let mut plans = vec![Plan {
            mode: Mode::Isotropic,
            order,
        }];
        // A plane of one row is a line, which isotropic mode handles as well.
        let extents = [source.dims.nz, source.dims.ny, source.dims.nx];
        let axes = extents.iter().filter(|&&n| n > 1).count();
        for axis in (0..3).filter(|&a| extents[a] >= 4 && axes > 1) {
            plans.push(Plan {
                mode: Mode::Packet,
                order: packet_order(order, axis),
            });
        }
        let mut costs = vec![0; plans.len()];
        let values = self.try_plans(isa, source, (FIRST, 1), &plans, &mut costs)?;
        // Differences are cheap to estimate: they are tried only if that leaves them a chance.
        let (axes, bits) = lorenzo_axes(source, order);
        let least = costs.iter().copied().min().unwrap_or(0);
        if bits * values as f64 <= 1.3 * least as f64 + values as f64 {
            let mode = Mode::Lorenzo(axes);
            plans.push(Plan { mode, order });
            costs.push(0);
            let last = plans.len() - 1;
            self.try_plans(isa, source, (FIRST, 1), &plans[last..], &mut costs[last..])?;
        }
        let mut ranking: Vec<(u64, Plan)> = costs.into_iter().zip(plans).collect();
        ranking.sort_by_key(|r| r.0);
        let (least, best) = ranking[0];
        // A block that is nearly constant says little about the others.
        let telling = least > values as u64 / 2;
        let close = |cost: u64| !telling || cost - least < least / CLOSE;
        ranking.retain(|r| close(r.0));
        if telling {
            ranking.truncate(2);
        }
        if ranking.len() < 2 {
            return Ok(best);
        }
        let (mut costs, plans): (Vec<u64>, Vec<Plan>) = ranking.into_iter().unzip();
        self.try_plans(isa, source, (SECOND, 3), &plans, &mut costs)?;
        let best = (0..plans.len()).min_by_key(|&i| costs[i]);
        Ok(plans[best.unwrap_or(0)])
    }

    /// Adds the cost of each plan on one block of about `size` values, `at` quarters into the chunk;
    /// returns how many values it has.
    fn try_plans(
        &mut self,
        isa: Isa,
        source: &Source<'_, T>,
        (size, at): (usize, usize),
        plans: &[Plan],
        costs: &mut [u64],
    ) -> Result<usize> {
        let dims = source.dims;
        let extents = [dims.nz, dims.ny, dims.nx];
        let block = block_extents(extents, size);
        let start: Extents = std::array::from_fn(|a| (extents[a] - block[a]) * at / 4);
        self.block.clear();
        for (z, y) in super::rearrange::rows(block[0], block[1]) {
            let row = ((start[0] + z) * dims.ny + start[1] + y) * dims.nx + start[2];
            self.block
                .extend_from_slice(&source.values[row..row + block[2]]);
        }
        let sample = Source {
            values: &self.block,
            dims: Dims {
                nz: block[0],
                ny: block[1],
                nx: block[2],
            },
            ..*source
        };
        for (plan, cost) in plans.iter().zip(costs) {
            encode::code(isa, &sample, *plan, &mut self.memory)?;
            *cost += self.memory.streams.estimate::<T>();
        }
        Ok(self.block.len())
    }
}

/// The extents of a part of a chunk: the longest axis is halved until it is small enough.
fn block_extents(mut extents: Extents, size: usize) -> Extents {
    while extents.iter().product::<usize>() > size {
        // Rows may be longer than the other axes.
        let weight = |a: usize| extents[a] * if a == 2 { 1 } else { 4 };
        let longest = (0..3).max_by_key(|&a| weight(a)).unwrap_or(2);
        extents[longest] = extents[longest].div_ceil(2);
    }
    extents
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

/// Rows of a sample, and points of each.
const SAMPLE_ROWS: usize = 48;
const SAMPLE_POINTS: usize = 64;

/// A sample of points that are at least `margin[a]` from both ends of each axis.
fn sample(extents: Extents, margin: Extents) -> impl Iterator<Item = Extents> {
    let inside: Extents = std::array::from_fn(|a| extents[a].saturating_sub(2 * margin[a]));
    let rows = inside[0] * inside[1];
    let apart = (rows / SAMPLE_ROWS).max(1) | 1;
    (apart / 2..rows).step_by(apart).flat_map(move |row| {
        // Different parts of different rows.
        let begin = row * 37 % (inside[2].saturating_sub(SAMPLE_POINTS) + 1);
        let end = (begin + SAMPLE_POINTS).min(inside[2]);
        let (z, y) = (margin[0] + row / inside[1], margin[1] + row % inside[1]);
        (begin..end).map(move |x| [z, y, margin[2] + x])
    })
}

/// The axes whose differences are smallest on a sample of rows, as bits of a class, and about how many
/// bits such a difference takes.
fn lorenzo_axes<T: Real>(source: &Source<'_, T>, order: usize) -> (u8, f64) {
    let plan = Plan {
        mode: Mode::Isotropic,
        order,
    };
    let (extents, strides) = plan.arrange(source.dims);
    let Some(step) = Step::<T>::new(source.bound, 1.0) else {
        return (7, 0.0);
    };
    let mut costs = [0u64; 8];
    // Points with a neighbour before them, wherever there is one.
    let first = extents.map(|n| usize::from(n > 1));
    let margin = extents.map(|n| usize::from(n > 2));
    let mut points = 0;
    for point in sample(extents, margin) {
        points += 1;
        let at: usize = (0..3).map(|a| point[a].max(first[a]) * strides[a]).sum();
        // The eight corners of the cube that ends here, by the axes along which they lie back.
        let mut corners = [0i64; 8];
        for (back, corner) in corners.iter_mut().enumerate() {
            let moved = |a: usize| {
                if back & 4 >> a != 0 {
                    first[a] * strides[a]
                } else {
                    0
                }
            };
            let value = source.values[at - moved(0) - moved(1) - moved(2)];
            *corner = i64::from(step.quantize(value).unwrap_or(0));
        }
        for (axes, total) in costs.iter_mut().enumerate() {
            let sum: i64 = (0..8)
                .filter(|back| back & !axes == 0)
                .map(|back: usize| {
                    if back.count_ones() % 2 == 1 {
                        -corners[back]
                    } else {
                        corners[back]
                    }
                })
                .sum();
            *total += u64::from(cost(sum as f32));
        }
    }
    let long = (0..3)
        .filter(|&a| first[a] == 1)
        .map(|a| 4 >> a)
        .sum::<usize>();
    let usable = (0..8).filter(|axes| axes & !long == 0);
    let best = usable.min_by_key(|&axes| (costs[axes], 7 - axes));
    let best = best.unwrap_or(0);
    (
        best as u8,
        costs[best] as f64 / 2048.0 / points.max(1) as f64,
    )
}
