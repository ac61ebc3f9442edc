// Kernel 5 of 5: moves units from their slots to their byte offsets. One workgroup per unit.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read_write> marks: array<u32>;
@group(0) @binding(3) var<storage, read_write> slots: array<u32>;
@group(0) @binding(5) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(6) var<storage, read_write> bodies: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) l: u32) {
    let unit = group.x + group.y * groups.x;
    let units = chunks[group.z].units;
    if (unit >= units) { return; }
    let first = chunks[group.z].first_unit + group.z;
    let length = length_of(marks[chunks[group.z].first_unit + unit]);
    // A body that does not fit is not smaller than the values, and not needed.
    let bytes = HEADER + units + offsets[first + units];
    if (length == 0u || (bytes + 3u) / 4u > chunks[group.z].body_words) { return; }

    let slot = (chunks[group.z].first_unit + unit) * SLOT;
    let at = HEADER + units + offsets[first + unit];
    let out = chunks[group.z].body + (at >> 2u);
    let shift = 8u * (at & 3u);
    let end = (at & 3u) + length;
    for (var w = l; w < (end + 3u) / 4u; w += 64u) {
        var word = 0u;
        if (w < (length + 3u) / 4u) { word = slots[slot + w] << shift; }
        if (shift != 0u && w > 0u) { word |= slots[slot + w - 1u] >> (32u - shift); }
        if ((w == 0u && shift != 0u) || 4u * w + 4u > end) {
            atomicOr(&bodies[out + w], word);
        } else {
            atomicStore(&bodies[out + w], word);
        }
    }
}
