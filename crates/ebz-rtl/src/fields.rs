//! Real data fields for tests.

use ebz_testkit::fields::{AnyField, shared_fields, workspace};

/// A field of f32.
pub struct Field {
    /// File name.
    pub name: String,
    /// Values in raster order.
    pub values: Vec<f32>,
    /// The last three extents, padded with leading ones.
    pub shape: [usize; 3],
}

/// The sample field of the repository.
pub fn sample() -> Result<Field, String> {
    let name = "wave_32x64x64.npy";
    let shape = [32, 64, 64];
    let path = workspace().join("samples").join(name);
    let file = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let start = file
        .len()
        .checked_sub(4 * shape.iter().product::<usize>())
        .ok_or("the sample file is too short")?;
    let values = file[start..]
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    Ok(Field {
        name: name.into(),
        values,
        shape,
    })
}

/// The sample, and the f32 fields in the folder `EBZ_DATA`.
pub fn all() -> Result<Vec<Field>, String> {
    let mut fields = vec![sample()?];
    for field in shared_fields()? {
        if let AnyField::F32(field) = field {
            let mut shape = [1; 3];
            for (to, &from) in shape.iter_mut().rev().zip(field.shape.iter().rev()) {
                *to = from;
            }
            fields.push(Field {
                name: field.name,
                values: field.values,
                shape,
            });
        }
    }
    Ok(fields)
}
