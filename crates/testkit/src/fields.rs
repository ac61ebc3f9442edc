//! Test arrays: synthetic ones of every content, and real ones if available.

use crate::random::Random;
use ebz::{Element, Fill, FillValues};
use std::path::{Path, PathBuf};

/// A test array.
#[derive(Debug, Clone)]
pub struct Field<T> {
    /// Name for messages.
    pub name: String,
    /// The values in C order.
    pub values: Vec<T>,
    /// Extents, slowest axis first.
    pub shape: Vec<usize>,
    /// The fill values.
    pub fill: FillValues,
}

impl<T> Field<T> {
    /// The fill values as an option.
    pub fn marks(&self) -> Fill {
        match self.fill.is_empty() {
            true => Fill::None,
            false => self.fill.into(),
        }
    }
}

impl<T: Element> Field<T> {
    /// The same values in another element type.
    pub fn rounded<U: Element>(&self) -> Field<U> {
        Field {
            name: format!("{} as {}", self.name, U::TYPE),
            values: self
                .values
                .iter()
                .map(|x| U::from_f64(x.to_f64()))
                .collect(),
            shape: self.shape.clone(),
            fill: self.fill,
        }
    }
}

/// A real field of either element type.
#[derive(Debug, Clone)]
pub enum AnyField {
    /// Single precision.
    F32(Field<f32>),
    /// Double precision.
    F64(Field<f64>),
}

/// Contents of synthetic fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A sum of long waves, like flow simulations.
    Smooth,
    /// Short waves with an envelope, like wave fields.
    Waves,
    /// Uniform noise.
    Noise,
    /// Plateaus with sharp edges.
    Steps,
    /// A single value.
    Constant,
    /// Zeros of both signs.
    Zeros,
    /// Smooth, with NaNs of several payloads, infinities, signed zeros, subnormals and extremes.
    Specials,
    /// Random bits.
    RandomBits,
    /// Smooth, with land masked by 1e20.
    FillHuge,
    /// Smooth, with gaps masked by -999.
    FillLow,
    /// A small signal on a huge offset.
    HugeOffset,
    /// Values of both signs over many orders of magnitude.
    DynamicRange,
    /// Smooth, with magnitudes around the smallest normal number.
    Tiny,
}

impl Content {
    /// Every content.
    pub const ALL: [Self; 13] = [
        Self::Smooth,
        Self::Waves,
        Self::Noise,
        Self::Steps,
        Self::Constant,
        Self::Zeros,
        Self::Specials,
        Self::RandomBits,
        Self::FillHuge,
        Self::FillLow,
        Self::HugeOffset,
        Self::DynamicRange,
        Self::Tiny,
    ];

    /// Its fill value.
    pub fn fill(self) -> Option<f64> {
        match self {
            Self::FillHuge => Some(1e20),
            Self::FillLow => Some(-999.0),
            _ => None,
        }
    }

    /// A field with this content.
    pub fn field<T: Element>(self, shape: &[usize], seed: u64) -> Field<T> {
        let count: usize = shape.iter().product();
        let mut random = Random::new(seed ^ ((self as u64) << 32));
        let phase = random.unit() * 6.0;
        let mut index = vec![0usize; shape.len()];
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(self.value::<T>(&index, phase, &mut random));
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        Field {
            name: format!("{self:?}"),
            values,
            shape: shape.to_vec(),
            fill: self.fill().map_or(FillValues::NONE, FillValues::from),
        }
    }

    fn value<T: Element>(self, index: &[usize], phase: f64, random: &mut Random) -> T {
        let smooth = |scale: f64| {
            let waves = index.iter().enumerate();
            waves.fold(0.3, |sum, (axis, &i)| {
                sum + (i as f64 * 0.05 * (1.0 + axis as f64 * 0.3) + phase).sin() * scale
            })
        };
        let land = index.iter().sum::<usize>() % 40 < 13;
        T::from_f64(match self {
            Self::Smooth => smooth(10.0),
            Self::Waves => {
                let distance = index
                    .iter()
                    .map(|&i| (i as f64 - 20.0).powi(2))
                    .sum::<f64>();
                (distance.sqrt() * 0.9 + phase).cos() * (-distance * 1e-3).exp() * 1e-3
            }
            Self::Noise => random.unit() * 2.0 - 1.0,
            Self::Steps => (smooth(1.0) * 2.0).floor() * 17.0,
            Self::Constant => 273.15 + phase,
            Self::Zeros => {
                if random.below(3) == 0 {
                    -0.0
                } else {
                    0.0
                }
            }
            Self::Specials => {
                if random.below(5) > 0 {
                    smooth(3.0)
                } else {
                    let all = specials::<T>();
                    return all[random.below(all.len())];
                }
            }
            Self::RandomBits => return T::from_word(random.bits()),
            Self::FillHuge if land => 1e20,
            Self::FillLow if land => -999.0,
            Self::FillHuge | Self::FillLow => smooth(2.0),
            Self::HugeOffset => largest::<T>().sqrt().clamp(4e4, 1e6) + smooth(0.01),
            Self::DynamicRange => {
                let most = largest::<T>().log10().floor().min(300.0) - 1.0;
                let magnitude = 10f64.powf((random.unit() * 2.0 - 1.0) * most);
                if random.below(2) == 0 {
                    magnitude
                } else {
                    -magnitude
                }
            }
            Self::Tiny => smooth(1.0) * T::from_word(1 << T::FRACTION_BITS).to_f64(),
        })
    }
}

/// Bit pattern of infinity.
fn infinity<T: Element>() -> u64 {
    (1 << (8 * T::SIZE - 1)) - (1 << T::FRACTION_BITS)
}

/// The largest finite value.
fn largest<T: Element>() -> f64 {
    T::from_word(infinity::<T>() - 1).to_f64()
}

/// Special values that break careless arithmetic.
pub fn specials<T: Element>() -> Vec<T> {
    let infinity = infinity::<T>();
    let (sign, normal) = (1 << (8 * T::SIZE - 1), 1 << T::FRACTION_BITS);
    let (quiet, payload) = (normal / 2, 0x1234_5678_9abc >> (52 - T::FRACTION_BITS));
    // Signalling, quiet, negative and full payloads; infinities; zeros; subnormals; extremes.
    let words = [
        infinity | 1,
        infinity | quiet,
        sign | infinity | quiet | payload,
        sign - 1,
        infinity,
        sign | infinity,
        0,
        sign,
        1,
        sign | (normal - 1),
        normal,
        infinity - 1,
        sign | (infinity - 1),
    ];
    words.map(T::from_word).to_vec()
}

/// The workspace folder.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[derive(serde::Deserialize)]
struct Manifest {
    arrays: Vec<Described>,
}

/// An array of the manifest; other fields are ignored.
#[derive(serde::Deserialize)]
struct Described {
    file: String,
    dtype: String,
    shape: Vec<usize>,
    fill_value: Option<f64>,
}

/// The real fields in the folder named by `EBZ_DATA`, or in `../shared/data` next to the workspace;
/// none if there is no such folder. An existing folder must be readable.
pub fn shared_fields() -> Result<Vec<AnyField>, String> {
    let named = std::env::var_os("EBZ_DATA").map(PathBuf::from);
    let folder = match named {
        Some(folder) => folder,
        None => {
            let folder = workspace().join("../shared/data");
            if !folder.is_dir() {
                return Ok(Vec::new());
            }
            folder
        }
    };
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let manifest: Manifest = serde_json::from_slice(&read("MANIFEST.json")?)
        .map_err(|error| format!("MANIFEST.json: {error}"))?;
    manifest
        .arrays
        .into_iter()
        .map(|array| {
            let bytes = read(&array.file)?;
            match array.dtype.as_str() {
                "f32" => parse(&array, &bytes).map(AnyField::F32),
                "f64" => parse(&array, &bytes).map(AnyField::F64),
                other => Err(format!("{}: element type {other}", array.file)),
            }
        })
        .collect()
}

fn parse<T: Element>(array: &Described, bytes: &[u8]) -> Result<Field<T>, String> {
    if bytes.len() != array.shape.iter().product::<usize>() * T::SIZE {
        return Err(format!("{}: size does not match its shape", array.file));
    }
    Ok(Field {
        name: array.file.clone(),
        values: bytemuck::pod_collect_to_vec(bytes),
        shape: array.shape.clone(),
        fill: array.fill_value.map_or(FillValues::NONE, FillValues::from),
    })
}
