//! Real fields.

use ebz_testkit::fields::{AnyField, shared_fields, workspace};

/// A field of f32.
pub struct Field {
    /// Its file.
    pub name: String,
    /// Values in raster order.
    pub values: Vec<f32>,
    /// The last three extents; leading ones for fewer axes.
    pub shape: [usize; 3],
}

/// The sample of the repository.
pub fn sample() -> Result<Field, String> {
    let name = "wave_32x64x64.npy";
    let shape = [32, 64, 64];
    let path = workspace().join("samples").join(name);
    let file = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let start = file
        .len()
        .checked_sub(4 * shape.iter().product::<usize>())
        .ok_or("the sample is too short")?;
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

/// The sample, and the fields of f32 in the folder that `EBZ_DATA` names.
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
