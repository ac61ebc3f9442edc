//! Rewriting is idempotent: decompressed values that are compressed again with the same bound
//! decode to the same bits, even if other values of the array changed.
//!
//! One exception: an incompressible chunk is stored raw, with its values exact. They move to
//! lattice points once, within the bound, as soon as the chunk becomes compressible.

use ebz::codec::{Entry, TABLE};
use ebz::{Bound, BoundKind, Element, Options, View};
use ebz_testkit::fields::{AnyField, Content, Field, shared_fields};
use ebz_testkit::random::Random;

/// Compresses as one chunk, with the codec's options for rewriting.
struct Rewriter {
    options: Options,
    what: String,
}

impl Rewriter {
    fn new(entry: &Entry, bound: Bound, fill: impl Into<ebz::Fill>, what: &str) -> Self {
        let options = Options::new(bound).codec(entry.info.name).threads(1);
        let mut options = options.for_rewriting();
        options.fill = fill.into();
        let what = format!("{} {bound} {what}", entry.info.name);
        Self { options, what }
    }

    /// The decoded values, and whether the chunk may have been stored raw.
    fn rewrite<T: Element>(&self, values: &[T], shape: &[usize]) -> (Vec<T>, bool) {
        let options = self.options.clone().chunk(shape);
        let view = View::new(values, shape).unwrap();
        let bytes = ebz::compress(&view, &options).unwrap();
        let back = ebz::decompress::<T>(&bytes).unwrap();
        let constant = values
            .windows(2)
            .all(|pair| pair[0].to_word() == pair[1].to_word());
        let raw = bytes.len() >= size_of_val(values);
        (back.values().to_vec(), raw || constant)
    }

    /// Whether `value` is within the bound of `original`.
    fn allows<T: Element>(&self, original: T, value: T) -> bool {
        if original.to_word() == value.to_word() {
            return true;
        }
        let (x, y) = (original.to_f64(), value.to_f64());
        match self.options.bound {
            Bound::Abs(e) => (x - y).abs() <= e,
            Bound::Pointwise(e) => (x - y).abs() <= e * x.abs(),
            Bound::Precision(_) => x.is_finite(),
            _ => false,
        }
    }
}

/// The first position where bits differ.
fn difference<T: Element>(a: &[T], b: &[T]) -> Option<(usize, T, T)> {
    let pairs = a.iter().zip(b).enumerate();
    let mut different = pairs.filter(|(_, (a, b))| a.to_word() != b.to_word());
    different.next().map(|(i, (a, b))| (i, *a, *b))
}

/// An array with some changed values, and the origin of the others.
struct Changed<T> {
    values: Vec<T>,
    shape: Vec<usize>,
    /// For each value, its index in the old array if it is unchanged.
    old: Vec<Option<usize>>,
}

/// Modified arrays, with replacement values from `fresh`.
fn changes<T: Element>(values: &[T], shape: &[usize], fresh: &[T]) -> Vec<Changed<T>> {
    let mut random = Random::new(values.len() as u64);
    let mut all = Vec::new();
    let mut replaced = |part: usize, with: &dyn Fn(usize) -> T| {
        let mut changed = Changed {
            values: values.to_vec(),
            shape: shape.to_vec(),
            old: (0..values.len()).map(Some).collect(),
        };
        for _ in 0..values.len().div_ceil(part) {
            let at = random.below(values.len());
            changed.values[at] = with(at);
            changed.old[at] = None;
        }
        all.push(changed);
    };
    let huge = T::from_f64(if T::SIZE == 4 { 1e30 } else { 1e200 });
    let offset = T::from_f64(1e5);
    replaced(values.len(), &|_| huge);
    replaced(50, &|_| T::from_f64(f64::NAN));
    replaced(9, &|_| offset);
    replaced(2, &|at| fresh[at]);
    replaced(1, &|at| T::from_f64(fresh[at].to_f64() + 1e7));
    // A plane appended, and only the last plane: other extents, other neighbours.
    let plane = values.len() / shape[0];
    let mut longer = shape.to_vec();
    longer[0] += 1;
    all.push(Changed {
        values: [values, &fresh[..plane]].concat(),
        shape: longer,
        old: (0..values.len())
            .map(Some)
            .chain((0..plane).map(|_| None))
            .collect(),
    });
    let mut shorter = shape.to_vec();
    shorter[0] = 1;
    all.push(Changed {
        values: values[values.len() - plane..].to_vec(),
        shape: shorter,
        old: (values.len() - plane..values.len()).map(Some).collect(),
    });
    all
}

/// Checks one array with one bound.
fn check<T: Element>(rewriter: &Rewriter, original: &[T], shape: &[usize], fresh: &[T]) {
    let what = &rewriter.what;
    let (once, exact) = rewriter.rewrite(original, shape);
    let (twice, _) = rewriter.rewrite(&once, shape);
    assert_eq!(difference(&once, &twice), None, "{what}: rewritten");
    for (case, changed) in changes(&once, shape, fresh).into_iter().enumerate() {
        let (mut values, shape) = (changed.values, changed.shape);
        let mut settled = !exact;
        for pass in 0..3 {
            let (back, stored_exactly) = rewriter.rewrite(&values, &shape);
            for (i, old) in changed.old.iter().enumerate() {
                let Some(old) = *old else { continue };
                assert!(
                    rewriter.allows(original[old], back[i]),
                    "{what}: change {case}, pass {pass}, value {i}: {} became {}",
                    original[old],
                    back[i]
                );
                assert!(
                    !settled || back[i].to_word() == values[i].to_word(),
                    "{what}: change {case}, pass {pass}, value {i}: {} became {}",
                    values[i],
                    back[i]
                );
            }
            settled |= !stored_exactly;
            values = back;
        }
    }
}

fn bounds<T: Element>(kind: BoundKind, values: &[T]) -> Vec<Bound> {
    match kind {
        BoundKind::Abs => {
            let finite = values.iter().map(|x| x.to_f64()).filter(|x| x.is_finite());
            let largest = finite.fold(0.0, |most: f64, x| most.max(x.abs()));
            let tiny = if T::SIZE == 4 { 1e-42 } else { 1e-310 };
            let relative = [0.3, 1e-2, 1e-3, 1.7e-5, 3e-7, 1e-9].map(|e| e * largest);
            let fixed = [0.1, 0.01, 0.5, tiny, 1e-150, 1e38];
            let all = relative.into_iter().chain(fixed);
            all.filter(|e| e.is_finite() && *e > 0.0)
                .map(Bound::Abs)
                .collect()
        }
        BoundKind::Pointwise => [0.5, 1e-2, 1e-3, 1e-5, 1e-6, 2e-7, 1e-10, 1e-14]
            .map(Bound::Pointwise)
            .to_vec(),
        BoundKind::Precision => [1, 9, 20].map(Bound::Precision).to_vec(),
        BoundKind::Lossless => vec![Bound::Lossless],
        BoundKind::Range | BoundKind::Psnr | BoundKind::Ratio => Vec::new(),
    }
}

fn check_contents<T: Element>() {
    for entry in TABLE.iter().filter(|e| e.info.rewrites_exactly.is_some()) {
        for content in Content::ALL {
            for shape in [&[3, 50, 61][..], &[11, 70], &[2000]] {
                let field: Field<T> = content.field(shape, 5);
                let fresh: Field<T> = content.field(shape, 6);
                for &kind in entry.info.tolerances {
                    for bound in bounds(kind, &field.values) {
                        let what = format!("{content:?} {} {shape:?}", T::TYPE);
                        let rewriter = Rewriter::new(entry, bound, field.fill, &what);
                        check(&rewriter, &field.values, shape, &fresh.values);
                    }
                }
            }
        }
    }
}

#[test]
fn rewriting_f32_is_idempotent() {
    check_contents::<f32>();
}

#[test]
fn rewriting_f64_is_idempotent() {
    check_contents::<f64>();
}

fn check_real<T: Element>(field: &Field<T>) {
    // Parts of some 30,000 values from all over the array, with various extents.
    let plane: usize = field.shape[1..].iter().product();
    let planes = (30_000 / plane).clamp(1, field.shape[0]);
    let (mut shape, count) = (field.shape.clone(), planes * plane);
    shape[0] = planes;
    let last = (field.shape[0] - planes) * plane;
    let (part, fresh) = (&field.values[..count], &field.values[last..]);
    let extent = part.iter().map(|x| x.to_f64()).filter(|x| x.abs() < 1e30);
    let extent = extent.fold(0.0, |most: f64, x| most.max(x.abs()));
    for entry in TABLE.iter().filter(|e| e.info.rewrites_exactly.is_some()) {
        let abs = [1e-1, 1e-3, 1e-5].map(|e| Bound::Abs(e * extent));
        for bound in abs.into_iter().chain([1e-2, 1e-4].map(Bound::Pointwise)) {
            if entry.offers(bound.kind()) && bound.value() > 0.0 {
                let rewriter = Rewriter::new(entry, bound, field.fill, &field.name);
                check(&rewriter, part, &shape, fresh);
            }
        }
    }
}

#[test]
fn rewriting_real_fields_is_idempotent() {
    for field in shared_fields().unwrap() {
        match field {
            AnyField::F32(field) => check_real(&field),
            AnyField::F64(field) => check_real(&field),
        }
    }
}

/// Time steps are appended to a chunk one by one; the chunk is rewritten each time.
#[test]
fn a_growing_chunk_keeps_its_first_values() {
    let shape = [30, 24, 36];
    let field: Field<f32> = Content::Smooth.field(&shape, 3);
    let plane = shape[1] * shape[2];
    for entry in TABLE.iter().filter(|e| e.info.rewrites_exactly.is_some()) {
        for bound in [Bound::Abs(0.01), Bound::Abs(0.3), Bound::Pointwise(1e-3)] {
            if !entry.offers(bound.kind()) {
                continue;
            }
            let rewriter = Rewriter::new(entry, bound, ebz::Fill::None, "growing");
            let mut chunk: Vec<f32> = Vec::new();
            for (step, fresh) in field.values.chunks(plane).enumerate() {
                let before = chunk.clone();
                chunk.extend_from_slice(fresh);
                chunk = rewriter.rewrite(&chunk, &[step + 1, shape[1], shape[2]]).0;
                assert_eq!(difference(&before, &chunk), None, "{}", rewriter.what);
            }
            for (original, value) in field.values.iter().zip(&chunk) {
                assert!(rewriter.allows(*original, *value), "{}", rewriter.what);
            }
        }
    }
}

#[test]
fn for_rewriting_keeps_explicit_parameters() {
    let kept = |bound| {
        let options = Options::new(bound).codec("ceaz").for_rewriting();
        options.params.get("rewrite").map(str::to_owned)
    };
    assert_eq!(kept(Bound::Abs(0.1)).as_deref(), Some("exact"));
    assert_eq!(
        kept(Bound::Range(0.1)),
        None,
        "the tolerance depends on the data"
    );
    let options = Options::new(Bound::Abs(0.1)).codec("ceaz");
    let options = options.param("rewrite", "drifts").for_rewriting();
    assert_eq!(options.params.get("rewrite"), Some("drifts"));
}
