// Kernel 1 of decoding: planes to residuals, sums over planes, and sums within segments of 256 values. One
// workgroup per segment of a plane; it loops over the planes of the chunk and keeps the sums over planes
// in registers. A chunk without this lag is one plane.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> bodies: array<u32>;
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;    // two 16-bit numbers each
@group(0) @binding(4) var<storage, read_write> totals: array<u32>;  // of segments
@group(0) @binding(5) var<storage, read> offsets: array<u32>;

var<workgroup> line: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) l: u32) {
    let segment = group.x + group.y * groups.x;
    if (segment >= chunks[group.z].segments) { return; }
    p = chunks[group.z];
    let length = p.count / p.planes;
    let valid = segment * 256u + l < length;
    var sum = 0u;
    for (var z = 0u; z < p.planes; z++) {
        // 1. The segment covers one or two units.
        let start = z * length + segment * 256u;
        let end = min(start + 256u, (z + 1u) * length);
        let skip = start & 255u;
        let lower = residual_of(l, group.z, start >> 8u);
        var here = select(0u, lower, l >= skip);
        if (((end - 1u) >> 8u) != (start >> 8u)) {
            let upper = residual_of(l, group.z, (start >> 8u) + 1u);
            if (l < skip) { here = upper; }
        }
        // Thread l has residual l of a unit; the segment starts at residual `skip`.
        line[(l - skip) & 255u] = here;
        workgroupBarrier();
        sum += select(0u, line[l], valid);
        workgroupBarrier();

        // 2. Sums along the segment.
        var along = sum;
        if ((p.lags & 1u) != 0u) {
            for (var s = 1u; s < 256u; s <<= 1u) {
                line[l] = along;
                workgroupBarrier();
                if (l >= s) { along += line[l - s]; }
                workgroupBarrier();
            }
        }
        line[l] = along & 0xffffu;
        workgroupBarrier();
        let row = p.first_segment + z * p.segments + segment;
        if (l < 128u) { sums[row * 128u + l] = line[2u * l] | (line[2u * l + 1u] << 16u); }
        if (l == 255u) { totals[row] = along; }
        workgroupBarrier();
    }
}
