//! Encoding and decoding of slabs, shared by all threads of a store.

use crate::failure::lock;
use crate::options::StoreOptions;
use crate::report::Counters;
use ebz::slab::{EncodedSlab, FramePlan, SlabCoder};
use ebz::{Bound, Clip, Element, Error, Fill, Options, Result, Tolerance, ValueScan, View};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// How the frames of a store are split into slabs.
#[derive(Debug)]
pub(crate) struct Cut {
    pub shape: Vec<usize>,
    /// The box of the frame that each slab covers.
    regions: Vec<Vec<Range<usize>>>,
    /// The range of each slab among the values of the frame.
    pub places: Vec<Range<usize>>,
}

impl Cut {
    pub fn new(plan: &FramePlan) -> Self {
        let regions: Vec<_> = (0..plan.slabs())
            .map(|slab| plan.slab_region(slab))
            .collect();
        let mut start = 0;
        let mut place = |region: &Vec<Range<usize>>| {
            let length: usize = region.iter().map(Range::len).product();
            start += length;
            start - length..start
        };
        Self {
            shape: plan.header().shape().to_vec(),
            places: regions.iter().map(&mut place).collect(),
            regions,
        }
    }

    /// Number of values per frame.
    pub fn values(&self) -> usize {
        self.places.last().map_or(0, |place| place.end)
    }

    pub fn slabs(&self) -> usize {
        self.regions.len()
    }

    /// The box of a slab; empty if there is no such slab.
    pub fn region(&self, slab: usize) -> Vec<Range<usize>> {
        self.regions.get(slab).cloned().unwrap_or_default()
    }

    pub fn slab_shape(&self, slab: usize) -> Vec<usize> {
        self.regions[slab].iter().map(Range::len).collect()
    }

    /// An error unless this is the number of values of a frame.
    pub fn check_frame(&self, values: usize) -> Result<()> {
        if values == self.values() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{values} values for a frame of shape {:?}, which has {}",
            self.shape,
            self.values()
        )))
    }

    /// An error if there is no such slab.
    pub fn check_slab(&self, slab: usize) -> Result<()> {
        if slab < self.slabs() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "no slab {slab}: a frame has {}, numbered from 0",
            self.slabs()
        )))
    }
}

/// Encodes and decodes slabs on any thread.
pub(crate) struct Coding {
    pub cut: Cut,
    options: Options,
    exact: bool,
    /// The plan of the previous frame, which usually fits the next one too.
    last: Mutex<Option<Arc<FramePlan>>>,
    coders: Mutex<Vec<SlabCoder>>,
    pub counters: Arc<Counters>,
}

impl Coding {
    pub fn new<T: Element>(shape: &[usize], options: &StoreOptions) -> Result<Self> {
        if shape.contains(&0) {
            return Err(Error::invalid(format!(
                "frames of shape {shape:?} hold no values: every axis needs an extent of at least 1"
            )));
        }
        let template = FramePlan::new::<T>(shape, Tolerance::Lossless, &options.coding)?;
        // Reject bounds that need a search now rather than in a servant later.
        if !options.coding.one_pass {
            options.coding.tolerance(|| Ok(0.0))?;
        }
        Ok(Self::of(&template, options, Arc::default()))
    }

    /// For existing frames.
    pub fn of(plan: &FramePlan, options: &StoreOptions, counters: Arc<Counters>) -> Self {
        Self {
            cut: Cut::new(plan),
            options: options.effective_coding(plan.header().grid.chunk()),
            exact: options.policy.is_exact(),
            last: Mutex::new(None),
            coders: Mutex::default(),
            counters,
        }
    }

    /// The options for encoding frames.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The tolerance, if it does not depend on the values.
    pub fn fixed_tolerance(&self) -> Result<Tolerance> {
        self.options.tolerance(|| {
            Err(Error::invalid(
                "a range bound needs the whole frame: pass the tolerance of the frame, or put whole \
                 frames",
            ))
        })
    }

    /// The plan for a whole frame.
    pub fn plan_of<T: Element>(&self, values: &[T]) -> Result<Arc<FramePlan>> {
        if !self.options.needs_range() {
            return self.plan_for::<T>(self.fixed_tolerance()?);
        }
        let scan = ValueScan::of(values, self.options.fill);
        let tolerance = self.options.tolerance(|| Ok(scan.range().extent()))?;
        let clip = self.options.clip.resolve(scan.range());
        self.plan::<T>(tolerance, scan.fill(), clip)
    }

    /// The plan for frames with this tolerance and the fill values of the options.
    pub fn plan_for<T: Element>(&self, asked: Tolerance) -> Result<Arc<FramePlan>> {
        self.plan::<T>(asked, self.options.fill, self.options.clip)
    }

    fn plan<T: Element>(&self, asked: Tolerance, fill: Fill, clip: Clip) -> Result<Arc<FramePlan>> {
        let tolerance = match asked {
            _ if self.exact => Tolerance::Lossless,
            // The plan falls back to a lossless codec if necessary.
            Tolerance::Lossless => asked,
            _ => {
                let mut options = self.options.clone();
                options.bound = Bound::from(asked);
                options.check()?;
                options.tolerance(|| Ok(0.0))?
            }
        };
        let mut last = lock(&self.last);
        if let Some(plan) = &*last
            && (plan.header().tolerance, plan.header().fill) == (tolerance, fill)
            && plan.header().clip == clip.limits(tolerance)
        {
            return Ok(plan.clone());
        }
        let plan = FramePlan::new::<T>(&self.cut.shape, tolerance, &self.options)?;
        let plan = plan.with_fill(fill).with_clip(clip);
        Ok(last.insert(Arc::new(plan)).clone())
    }

    pub fn encode<T: Element>(
        &self,
        plan: &FramePlan,
        frame: u32,
        slab: usize,
        values: &View<'_, T>,
        out: &mut EncodedSlab,
    ) -> Result<()> {
        let mut coder = self.take();
        let encode = || coder.encode(plan, frame, slab, values, out);
        let result = self.counters.encode.time(encode);
        lock(&self.coders).push(coder);
        result
    }

    pub fn decode<T: Element>(
        &self,
        plan: &FramePlan,
        frame: u32,
        slab: usize,
        records: &[u8],
        out: &mut [T],
    ) -> Result<()> {
        let mut coder = self.take();
        let decode = || coder.decode(plan, frame, slab, records, out);
        let result = self.counters.decode.time(decode);
        lock(&self.coders).push(coder);
        result
    }

    /// An unused coder.
    fn take(&self) -> SlabCoder {
        let spare = lock(&self.coders).pop();
        spare.unwrap_or_else(|| SlabCoder::new(self.options.simd))
    }
}
