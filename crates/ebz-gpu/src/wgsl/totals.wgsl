// Kernel 2 of decoding: sums over all segments before each one. One workgroup per chunk.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(4) var<storage, read_write> totals: array<u32>;

var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let first = chunks[group.x].first_segment;
    let count = chunks[group.x].segments * chunks[group.x].planes;
    // Without lag 1, segments are independent.
    let weight = chunks[group.x].lags & 1u;
    var before = 0u;
    for (var start = 0u; start < count; start += 256u) {
        var own = 0u;
        if (start + l < count) { own = totals[first + start + l] * weight; }
        var sum = own;
        for (var s = 1u; s < 256u; s <<= 1u) {
            sums[l] = sum;
            workgroupBarrier();
            if (l >= s) { sum += sums[l - s]; }
            workgroupBarrier();
        }
        sums[l] = sum;
        workgroupBarrier();
        if (start + l < count) { totals[first + start + l] = before + sum - own; }
        before += sums[255];
        workgroupBarrier();
    }
}
