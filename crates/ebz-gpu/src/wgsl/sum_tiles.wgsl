// Prefix sum over the blocks of tiles, and the header of each body. One workgroup per chunk.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read_write> marks: array<u32>;
@group(0) @binding(5) var<storage, read_write> offsets: array<u32>; // in bytes; tiles + 1 entries per chunk
@group(0) @binding(6) var<storage, read_write> bodies: array<u32>;

var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let first = chunks[group.x].first_unit; let count = (chunks[group.x].units + 7u) / 8u;
    var total = 0u;
    for (var start = 0u; start < count; start += 256u) {
        var own = 0u;
        if (start + l < count) { own = 16u * length_of(marks[first + 8u * (start + l)]); }
        var sum = own;
        for (var s = 1u; s < 256u; s <<= 1u) {
            sums[l] = sum;
            workgroupBarrier();
            if (l >= s) { sum += sums[l - s]; }
            workgroupBarrier();
        }
        sums[l] = sum;
        workgroupBarrier();
        if (start + l < count) { offsets[first + group.x + start + l] = total + sum - own; }
        total += sums[255];
        workgroupBarrier();
    }
    if (l == 0u) {
        offsets[first + group.x + count] = total;
        let body = chunks[group.x].body;
        bodies[body] = chunks[group.x].mode;
        bodies[body + 1u] = chunks[group.x].step_low;
        bodies[body + 2u] = chunks[group.x].step_high;
        bodies[body + 3u] = chunks[group.x].base_low;
        bodies[body + 4u] = chunks[group.x].base_high;
        bodies[body + 5u] = total;
    }
}
