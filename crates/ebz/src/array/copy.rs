//! Copies of boxes between contiguous and strided memory.

/// Calls `f(offset, start, length)` for every run along the fastest axis of a box: `offset` into
/// the strided memory, `start` into the contiguous values.
fn for_each_run(
    shape: &[usize],
    strides: &[isize],
    origin: usize,
    mut f: impl FnMut(usize, usize, usize),
) {
    if shape.contains(&0) {
        return;
    }
    let Some((&length, outer)) = shape.split_last() else {
        return f(origin, 0, 1);
    };
    let mut index = vec![0usize; outer.len()];
    let (mut offset, mut start) = (origin as isize, 0);
    loop {
        f(offset as usize, start, length);
        start += length;
        let mut axis = outer.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < outer[axis] {
                break;
            }
            offset -= strides[axis] * outer[axis] as isize;
            index[axis] = 0;
        }
    }
}

/// Copies a box of strided memory, whose first element is at `origin`, into contiguous values.
pub(crate) fn gather<T: Copy>(
    from: &[T],
    shape: &[usize],
    strides: &[isize],
    origin: usize,
    to: &mut [T],
) {
    let step = strides.last().copied().unwrap_or(1);
    for_each_run(shape, strides, origin, |offset, start, length| {
        let run = &mut to[start..start + length];
        if step == 1 {
            run.copy_from_slice(&from[offset..offset + length]);
        } else {
            for (i, value) in run.iter_mut().enumerate() {
                *value = from[(offset as isize + i as isize * step) as usize];
            }
        }
    });
}

/// Copies contiguous values into a box of strided memory, whose first element is at `origin`.
pub(crate) fn scatter<T: Copy>(
    from: &[T],
    to: &mut [T],
    shape: &[usize],
    strides: &[isize],
    origin: usize,
) {
    let step = strides.last().copied().unwrap_or(1);
    for_each_run(shape, strides, origin, |offset, start, length| {
        let run = &from[start..start + length];
        if step == 1 {
            to[offset..offset + length].copy_from_slice(run);
        } else {
            for (i, value) in run.iter().enumerate() {
                to[(offset as isize + i as isize * step) as usize] = *value;
            }
        }
    });
}
