//! Encodes and decodes the chunks of a dataset.

use crate::memory::Buffer;
use ebz::hdf5::{double, from_words, halves};
use ebz::{Bound, Element, ElementType, Error, Fill, FillValues, MAX_AXES, Options};
use ebz::{Reader, Result, Tolerance, ValueScan, View, ViewMut, with_type};

/// Parameters specific to a dataset, which follow the options: element type, padding, number of
/// axes, extents.
#[derive(Debug, PartialEq)]
pub struct Local {
    /// Element type.
    pub element: ElementType,
    /// Whether values are big-endian in HDF5.
    pub is_big: bool,
    /// The fill value of the dataset, also the padding of chunks that extend beyond it.
    pub padding: f64,
    /// Chunk extents, slowest axis first.
    pub shape: Vec<usize>,
}

/// Flag in the word of the element type: values are big-endian.
const BIG_ENDIAN: u32 = 1 << 8;

/// Metadata of a stream whose values were big-endian. Streams themselves never are; the Python
/// codecs use the same key.
const ORDER_KEY: &str = "byteorder";
const ORDER_BIG: &str = ">";

impl Local {
    /// Appends the parameters.
    pub fn write_to(&self, words: &mut Vec<u32>) -> Result<()> {
        words.push(self.element as u32 | if self.is_big { BIG_ENDIAN } else { 0 });
        words.extend(halves(self.padding));
        words.push(self.shape.len() as u32);
        for &extent in &self.shape {
            words.push(u32::try_from(extent).map_err(|_| {
                Error::unsupported(
                    "chunks of 2^32 or more values along an axis: use smaller chunks",
                )
            })?);
        }
        Ok(())
    }

    /// Parses the parameters.
    pub fn read_from(words: &[u32]) -> Result<Self> {
        let damaged = || Error::invalid("the filter parameters lack the chunk shape");
        let (&[element, p0, p1, axes], extents) =
            words.split_first_chunk::<4>().ok_or_else(damaged)?;
        if extents.len() != axes as usize {
            return Err(damaged());
        }
        Ok(Self {
            element: ElementType::from_id(
                u8::try_from(element & !BIG_ENDIAN).map_err(|_| damaged())?,
            )?,
            is_big: element & BIG_ENDIAN != 0,
            padding: double(p0, p1),
            shape: extents.iter().map(|&extent| extent as usize).collect(),
        })
    }

    /// The shape with at most the maximum number of axes of a stream: slow axes are merged.
    fn stream_shape(&self) -> Vec<usize> {
        let surplus = self.shape.len().saturating_sub(MAX_AXES);
        let (slow, fast) = self
            .shape
            .split_at(if surplus > 0 { surplus + 1 } else { 0 });
        let merged = (surplus > 0).then(|| slow.iter().fold(1, |n: usize, &m| n.saturating_mul(m)));
        merged.into_iter().chain(fast.iter().copied()).collect()
    }

    /// Size of a chunk.
    fn bytes(&self) -> Result<usize> {
        Ok(ebz::element_count(&self.stream_shape())? * self.element.size())
    }
}

/// Compresses a chunk.
pub fn encode(words: &[u32], bytes: &[u8]) -> Result<Vec<u8>> {
    let (options, rest) = from_words(words)?;
    let local = Local::read_from(rest)?;
    let expected = local.bytes()?;
    if bytes.len() != expected {
        return Err(Error::invalid(format!(
            "a chunk of {} bytes, expected {expected}: ebz must be the first filter",
            bytes.len()
        )));
    }
    let mut swapped = Vec::new();
    let (mut options, mut bytes) = (options, bytes);
    if local.is_big {
        swapped.extend_from_slice(bytes);
        swap_bytes(&mut swapped, local.element);
        bytes = &swapped;
        options.metadata = Some(serde_json::json!({ ORDER_KEY: ORDER_BIG }));
    }
    with_type!(local.element, T => encode_as::<T>(&options, &local, bytes))
}

/// Reverses the bytes of every value.
fn swap_bytes(bytes: &mut [u8], element: ElementType) {
    for value in bytes.chunks_exact_mut(element.size()) {
        value.reverse();
    }
}

fn encode_as<T: Element>(options: &Options, local: &Local, bytes: &[u8]) -> Result<Vec<u8>> {
    let copy;
    let values: &[T] = match bytemuck::try_cast_slice(bytes) {
        Ok(values) => values,
        Err(_) => {
            copy = bytemuck::pod_collect_to_vec(bytes);
            &copy
        }
    };
    let mut options = options.clone().for_rewriting().threads(1);
    let padding = FillValues::from(local.padding);
    // Use the dataset's fill value only if it occurs: netCDF sets it for every dataset, and some
    // codecs compress better without fill values. Zero, HDF5's default, is treated as data and only
    // excluded from ranges.
    let mark = match local.padding {
        0.0 => FillValues::NONE,
        value if !values.contains(&T::from_f64(value)) => FillValues::NONE,
        _ => padding,
    };
    if options.needs_range() {
        // Apart from padding, the range of a chunk is at most that of the dataset.
        let scan = ValueScan::of(values, options.fill.and(padding)?);
        options.bound = match options.tolerance(|| Ok(scan.range().extent()))? {
            Tolerance::Abs(e) => Bound::Abs(e),
            // Works with any codec: a lossy one falls back to another.
            _ => Bound::Abs(0.0),
        };
        options.fill = match options.fill {
            Fill::Auto | Fill::AutoAnd(_) => {
                Fill::Found(options.fill.values()).and(scan.found().values)?
            }
            fill => fill,
        };
        // Limits include the padding if it is data.
        let mut range = scan.range();
        if mark.is_empty() && values.contains(&T::from_f64(local.padding)) {
            range.min = range.min.min(local.padding);
            range.max = range.max.max(local.padding);
        }
        options.clip = options.clip.resolve(range);
    }
    options.fill = options.fill.and(mark)?;
    ebz::compress(&View::new(values, &local.stream_shape())?, &options)
}

/// Decompresses a chunk. The parameters are not needed; but if they include the chunk shape, a
/// stream of another size is rejected, because HDF5 would read beyond its end.
pub fn decode(words: &[u32], bytes: &[u8]) -> Result<Buffer> {
    let reader = Reader::from_source(bytes)?.threads(1);
    let frame = reader.frame(0)?;
    let header = frame.header();
    let length = header.raw_bytes();
    let told = from_words(words).and_then(|(_, rest)| Local::read_from(rest));
    if let Ok(local) = &told
        && (local.element != header.element || local.bytes()? != length)
    {
        return Err(Error::corrupt("the chunk does not match the dataset"));
    }
    ebz::element_count(header.shape())?;
    // Before allocating: the shape is not trusted.
    let whole: Vec<_> = header.shape().iter().map(|&n| 0..n).collect();
    frame.check_region(&whole)?;
    let mut out = Buffer::zeroed(length)?;
    let shape = header.shape();
    let memory = out.bytes_mut();
    with_type!(header.element, T => frame.read_into::<T>(&mut view(memory, shape)?))?;
    let order = header.metadata.get(ORDER_KEY);
    let is_big = told.map_or(order.is_some_and(|order| order == ORDER_BIG), |local| {
        local.is_big
    });
    if is_big {
        swap_bytes(memory, header.element);
    }
    Ok(out)
}

/// Memory of the C allocator, aligned for any type, as values.
fn view<'a, T: Element>(memory: &'a mut [u8], shape: &[usize]) -> Result<ViewMut<'a, T>> {
    let values = bytemuck::try_cast_slice_mut(memory)
        .map_err(|error| Error::invalid(format!("memory of a chunk: {error}")))?;
    ViewMut::new(values, shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bound: Bound, element: ElementType, padding: f64, shape: &[usize]) -> Vec<u32> {
        let mut words = ebz::hdf5::to_words(&Options::new(bound)).unwrap();
        let shape = shape.to_vec();
        let local = Local {
            element,
            is_big: false,
            padding,
            shape,
        };
        local.write_to(&mut words).unwrap();
        words
    }

    #[test]
    fn any_number_of_axes() {
        let values: Vec<f32> = (0..128).map(|i| (i as f32 * 0.1).sin()).collect();
        for axes in 1..=32 {
            let mut shape = vec![1; axes];
            shape[axes / 2] = 128;
            let words = words(Bound::Abs(1e-3), ElementType::F32, 0.0, &shape);
            let stream = encode(&words, bytemuck::cast_slice(&values)).unwrap();
            let mut again = decode(&words, &stream).unwrap();
            let again: &[f32] = bytemuck::cast_slice(again.bytes_mut());
            assert!(values.iter().zip(again).all(|(a, b)| (a - b).abs() <= 1e-3));
            assert_eq!(decode(&[], &stream).unwrap().len(), 512, "without words");
        }
    }

    #[test]
    fn every_element_type() {
        for element in ElementType::ALL {
            let words = words(Bound::Abs(0.1), element, 0.0, &[20, 10]);
            with_type!(element, T => {
                let values: Vec<T> = (0..200).map(|i| T::from_f64(f64::from(i % 30))).collect();
                let stream = encode(&words, bytemuck::cast_slice(&values)).unwrap();
                let mut again = decode(&words, &stream).unwrap();
                let again: &[T] = bytemuck::cast_slice(again.bytes_mut());
                let close = |(a, b): (&T, &T)| (a.to_f64() - b.to_f64()).abs() <= 0.1;
                assert!(values.iter().zip(again).all(close), "{element}");
            });
        }
    }

    #[test]
    fn big_endian_values_round_trip() {
        let values: Vec<f32> = (0..64).map(|i| (i as f32 * 0.1).sin()).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
        let mut words = ebz::hdf5::to_words(&Options::new(Bound::Abs(1e-3))).unwrap();
        let local = Local {
            element: ElementType::F32,
            is_big: true,
            padding: 0.0,
            shape: vec![8, 8],
        };
        local.write_to(&mut words).unwrap();
        let (_, rest) = from_words(&words).unwrap();
        assert_eq!(Local::read_from(rest).unwrap(), local);
        let stream = encode(&words, &bytes).unwrap();
        for words in [words, Vec::new()] {
            let mut again = decode(&words, &stream).unwrap();
            let (again, _) = again.bytes_mut().as_chunks::<4>();
            let close = |(a, b): (&f32, &[u8; 4])| (a - f32::from_be_bytes(*b)).abs() <= 1e-3;
            assert_eq!(again.len(), 64);
            assert!(values.iter().zip(again).all(close));
        }
    }

    #[test]
    fn padding_is_not_part_of_the_range() {
        let mut values: Vec<f64> = (0..64).map(|i| 300.0 + (i as f64 * 0.1).sin()).collect();
        values[48..].fill(0.0);
        let words = words(Bound::Range(1e-3), ElementType::F64, 0.0, &[64]);
        let stream = encode(&words, bytemuck::cast_slice(&values)).unwrap();
        let mut again = decode(&words, &stream).unwrap();
        let again: &[f64] = bytemuck::cast_slice(again.bytes_mut());
        assert!(values.iter().zip(again).all(|(a, b)| (a - b).abs() <= 2e-3));
    }

    #[test]
    fn the_fill_value_of_the_dataset_is_exact() {
        let bounds = [Bound::Range(1e-3), Bound::Abs(0.03), Bound::Pointwise(1e-3)];
        for (padding, bound) in [-999.0, 1e20, -1234.5]
            .into_iter()
            .flat_map(|x| bounds.map(|b| (x, b)))
        {
            let mut values: Vec<f32> = (0..640).map(|i| (i as f32 * 0.1).sin()).collect();
            values[100..300].fill(padding);
            values[7] = padding;
            let words = words(bound, ElementType::F32, padding.into(), &[640]);
            let stream = encode(&words, bytemuck::cast_slice(&values)).unwrap();
            let mut again = decode(&words, &stream).unwrap();
            let again: &[f32] = bytemuck::cast_slice(again.bytes_mut());
            for (&a, &b) in values.iter().zip(again) {
                let within = a != padding && (a - b).abs() <= 0.03;
                assert!(a == b || within, "{a} became {b} with {bound}");
            }
        }
    }

    #[test]
    fn wrong_sizes_are_errors() {
        let right = words(Bound::Abs(0.1), ElementType::F32, 0.0, &[4, 4]);
        assert!(encode(&right, &[0; 60]).is_err());
        let stream = encode(&right, &[0; 64]).unwrap();
        let wrong = words(Bound::Abs(0.1), ElementType::F32, 0.0, &[4, 5]);
        assert!(decode(&wrong, &stream).is_err());
        for length in 0..stream.len() {
            assert!(decode(&right, &stream[..length]).is_err());
        }
        // The chunk size in the file may be that of an earlier, longer chunk.
        let stale = [&stream[..], &[0; 40]].concat();
        let error = decode(&right, &stale)
            .map(|buffer| buffer.len())
            .unwrap_err();
        assert!(error.to_string().contains("after its end"), "{error}");
    }
}
