// Kernel 3 of decoding: sums along columns, and values. One thread per column, which keeps the sum in a
// register. Chunks without this lag are cut into columns of any length.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;
@group(0) @binding(4) var<storage, read_write> totals: array<u32>;
@group(0) @binding(6) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) l: u32) {
    p = chunks[group.z];
    let column = (group.x + group.y * groups.x) * 64u + l;
    if (column >= p.nx) { return; }
    let length = p.count / p.planes;
    let adds = (p.lags & 2u) != 0u;
    var segments = p.first_segment;
    var within = column;
    var sum = 0u;
    for (var i = column; i < p.count; i += p.nx) {
        while (within >= length) {
            within -= length;
            segments += p.segments;
        }
        let segment = segments + (within >> 8u); let place = within & 255u;
        let pair = sums[segment * 128u + (place >> 1u)];
        let number = (pair >> (16u * (place & 1u))) + totals[segment];
        sum = number + select(0u, sum, adds);
        let k = (bitcast<i32>(sum << 16u) >> 16u) + p.base;
        output[p.first + i] = point(u32(abs(k))) | select(0u, 0x80000000u, k < 0);
        within += p.nx;
    }
}
