//! What chunks take over from one of their neighbours: its mode, if they are like it.
//!
//! The choice of a mode takes a good part of the time of coding a chunk. Chunks of one array mostly want
//! the same, so that one of several chooses and says what it is like; the others only look whether they
//! are like it, and choose for themselves if not.

use super::choose::{Chooser, Request, SMALL, natural_order};
use super::encode::Source;
use super::forecast::{Reach, Sampler, log2, sum_of_squares};
use super::kernel::{Kernel, launch};
use super::pack::{WIDTH, zip};
use super::real::Real;
use crate::codec::{Advice, Context};
use crate::error::Result;
use crate::simd::Level as Isa;

/// Windows that a profile is made of.
const WINDOWS: usize = 32;
/// Distances of the neighbours that values are compared with, as powers of two.
const LEVELS: [usize; 2] = [0, 2];
/// Numbers of a profile per bit.
const PER_BIT: u8 = 8;
/// Profiles of chunks that are alike may differ by this on average, which is mostly the size of values,
const SHIFT: i32 = 3 * PER_BIT as i32 / 2;
/// and each of their numbers by this from the average, which tells other axes or noise.
const TURN: i32 = PER_BIT as i32 / 2;
/// Where there is nothing to interpolate between.
const NONE: u8 = u8::MAX;

/// How well values are predicted by their neighbours, for each axis and distance: the mean logarithm of
/// the error in steps.
type Profile = [u8; 6];

/// What the automatic choice for a chunk means for others.
pub(super) fn advise<T: Real>(
    source: &Source<'_, T>,
    context: &mut Context,
) -> Result<Option<Advice>> {
    let isa = context.simd();
    let Some((order, profile)) = look(isa, source) else {
        return Ok(None);
    };
    let mut chooser = context.take::<Chooser<T>>();
    let plan = chooser.plan(isa, source, Request::Auto);
    context.put_back(chooser);
    let mut bytes = [0; 16];
    bytes[0] = Request::of(&plan?).code();
    bytes[1] = order as u8;
    bytes[2..8].copy_from_slice(&profile);
    Ok(Some(Advice(bytes)))
}

/// The mode advised for a chunk, if it is like the one that the advice comes from.
pub(super) fn follow<T: Real>(isa: Isa, source: &Source<'_, T>, advice: &Advice) -> Request {
    let Some((order, profile)) = look(isa, source) else {
        return Request::Auto;
    };
    let [code, advised_order, a, b, c, d, e, f, ..] = advice.0;
    if order == usize::from(advised_order) && alike(profile, [a, b, c, d, e, f]) {
        Request::from_code(code)
    } else {
        Request::Auto
    }
}

/// Whether what is best for a chunk should be best for another.
fn alike(a: Profile, b: Profile) -> bool {
    let pairs = || a.iter().zip(&b).filter(|(a, b)| (**a, **b) != (NONE, NONE));
    let differences = || pairs().map(|(a, b)| i32::from(*a) - i32::from(*b));
    let shift = differences().sum::<i32>() / (pairs().count() as i32).max(1);
    pairs().all(|(a, b)| *a != NONE && *b != NONE)
        && shift.abs() <= SHIFT
        && differences().all(|d| (d - shift).abs() <= TURN)
}

/// The order of a chunk's axes and its profile, if it is large enough to have one.
fn look<T: Real>(isa: Isa, source: &Source<'_, T>) -> Option<(usize, Profile)> {
    if source.values.len() <= SMALL {
        return None;
    }
    let order = natural_order(source.dims);
    let sampler = Sampler::new(source, order)?;
    Some((order, launch(isa, Look(sampler))))
}

struct Look<'a, 'b, T>(Sampler<'a, 'b, T>);

impl<T: Real> Kernel for Look<'_, '_, T> {
    type Output = Profile;

    #[inline(always)]
    fn run(self) -> Profile {
        let sampler = self.0;
        let near = sampler.extents.map(|n| Reach::new(n, 1 << LEVELS[0]));
        let far = sampler.extents.map(|n| Reach::new(n, 1 << LEVELS[1]));
        let room = sampler.extents[2] - (WIDTH - 1);
        let last = [Reach::new(room, 1), Reach::new(room, 1 << LEVELS[1])];
        let reaches = [[near[0], far[0]], [near[1], far[1]], last];
        // Windows stay as far from the ends as any of their neighbours needs.
        let reach = reaches.map(|[near, far]| if far.kinds > 0 { far } else { near });
        let mut sums = [[0.0f32; 2]; 3];
        for number in 0..WINDOWS {
            let place = sampler.place(&reach, number);
            let target = sampler.window(place);
            for (axis, sums) in sums.iter_mut().enumerate() {
                for ((sum, level), reach) in sums.iter_mut().zip(LEVELS).zip(reaches[axis]) {
                    if reach.kinds > 0 {
                        let distance = sampler.strides[axis] << level;
                        let [linear, _] = sampler.interpolate(place, distance, 1);
                        let errors = zip(target, linear, |t, l| t - l);
                        let squares = sum_of_squares(errors, sampler.step.inverse);
                        // Below a 64th of a step, nothing matters.
                        *sum += 0.5 * log2(1.0 + squares * (4096.0 / WIDTH as f32));
                    }
                }
            }
        }
        let mut profile = [NONE; 6];
        let places = profile.iter_mut().zip(sums.as_flattened());
        for ((place, sum), reach) in places.zip(reaches.as_flattened()) {
            if reach.kinds > 0 {
                let units = sum * (f32::from(PER_BIT) / WINDOWS as f32);
                *place = units.min(f32::from(NONE - 1)) as u8;
            }
        }
        profile
    }
}
