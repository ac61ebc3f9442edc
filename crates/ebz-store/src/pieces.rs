//! A frame being assembled from slabs, by several threads in any order.

use crate::coding::Coding;
use crate::failure::lock;
use ebz::slab::{EncodedSlab, FramePlan, OnePass};
use ebz::{Element, Error, Result, View};
use std::sync::{Arc, Mutex, PoisonError};

/// One item per slab, each filled by one thread.
#[derive(Debug)]
pub(crate) struct Pieces<P>(Vec<Mutex<Piece<P>>>);

#[derive(Debug)]
struct Piece<P> {
    content: P,
    given: bool,
}

impl<P> Pieces<P> {
    pub fn new(contents: impl IntoIterator<Item = P>) -> Self {
        let piece = |content| {
            Mutex::new(Piece {
                content,
                given: false,
            })
        };
        Self(contents.into_iter().map(piece).collect())
    }

    /// Fills the item of an existing slab, once.
    pub fn fill(&self, slab: usize, fill: impl FnOnce(&mut P) -> Result<()>) -> Result<()> {
        let mut piece = lock(&self.0[slab]);
        if piece.given {
            return Err(Error::invalid(format!(
                "slab {slab} was given twice: pass each slab of a frame once"
            )));
        }
        fill(&mut piece.content)?;
        piece.given = true;
        Ok(())
    }

    /// An error if a slab is missing.
    pub fn check_complete(&self) -> Result<()> {
        match self.0.iter().position(|piece| !lock(piece).given) {
            None => Ok(()),
            Some(slab) => Err(Error::invalid(format!(
                "slab {slab} of the frame is missing: pass all {} before finishing it",
                self.0.len()
            ))),
        }
    }

    /// Empties the frame but keeps its memory.
    pub fn reset(&mut self) {
        for piece in &mut self.0 {
            piece
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .given = false;
        }
    }

    /// What `f` makes of the content of a slab that exists.
    pub fn with<R>(&self, slab: usize, f: impl FnOnce(&P) -> R) -> R {
        f(&lock(&self.0[slab]).content)
    }

    /// Calls `f` for the item of each slab in order.
    pub fn each(&self, mut f: impl FnMut(&P) -> Result<()>) -> Result<()> {
        self.0.iter().try_for_each(|piece| f(&lock(piece).content))
    }

    pub fn into_contents(self) -> Vec<P> {
        let inner = |piece: Mutex<Piece<P>>| {
            let piece = piece.into_inner().unwrap_or_else(PoisonError::into_inner);
            piece.content
        };
        self.0.into_iter().map(inner).collect()
    }
}

/// An encoded frame on its way to storage.
pub(crate) struct Coded {
    pub number: u32,
    pub plan: Option<Arc<FramePlan>>,
    pub slabs: Pieces<EncodedSlab>,
    /// Whether the application's threads encode it, rather than a servant.
    pub by_slabs: bool,
}

impl Coded {
    pub fn new(slabs: usize, by_slabs: bool) -> Self {
        Self {
            number: 0,
            plan: None,
            slabs: Pieces::new((0..slabs).map(|_| EncodedSlab::default())),
            by_slabs,
        }
    }

    /// Starts a new frame.
    pub fn begin(&mut self, number: u32, plan: Arc<FramePlan>) {
        self.number = number;
        self.plan = Some(plan);
        self.slabs.reset();
    }

    /// The plan, which is set when a frame begins.
    pub fn plan(&self) -> Result<&Arc<FramePlan>> {
        let missing = || Error::invalid("the frame was not started");
        self.plan.as_ref().ok_or_else(missing)
    }

    /// Encodes one slab.
    pub fn slab<T: Element>(&self, coding: &Coding, slab: usize, view: &View<'_, T>) -> Result<()> {
        let plan = self.plan()?;
        self.slabs.fill(slab, |out| {
            coding.encode(plan, self.number, slab, view, out)
        })
    }

    /// Encodes a whole frame.
    pub fn whole<T: Element>(&mut self, coding: &Coding, number: u32, values: &[T]) -> Result<()> {
        if coding.options().one_pass {
            return self.whole_in_one_pass(coding, number, values);
        }
        let plan = coding.plan_of(values)?;
        self.begin(number, plan);
        for (slab, place) in coding.cut.places.iter().enumerate() {
            let shape = coding.cut.slab_shape(slab);
            self.slab(coding, slab, &View::new(&values[place.clone()], &shape)?)?;
        }
        Ok(())
    }

    /// The same with a ratio, for which every slab has a bound of its own.
    fn whole_in_one_pass<T: Element>(
        &mut self,
        coding: &Coding,
        number: u32,
        values: &[T],
    ) -> Result<()> {
        // Servants are threads already.
        let options = coding.options().clone().threads(1);
        let view = View::new(values, &coding.cut.shape)?;
        let mut pass = coding
            .counters
            .encode
            .time(|| OnePass::of(&view, &options))?;
        self.begin(number, Arc::new(pass.finished()));
        for (slab, place) in coding.cut.places.iter().enumerate() {
            self.plan = Some(Arc::new(pass.next_plan()));
            let shape = coding.cut.slab_shape(slab);
            self.slab(coding, slab, &View::new(&values[place.clone()], &shape)?)?;
            let bodies = self.slabs.with(slab, EncodedSlab::bodies);
            pass.note(bodies.into_iter().map(|(_, length)| length));
        }
        self.plan = Some(Arc::new(pass.finished()));
        Ok(())
    }
}
