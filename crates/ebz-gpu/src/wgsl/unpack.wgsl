// Kernel 1 of decoding: planes to residuals, sums over planes, and sums within segments of 256 values. One
// workgroup for each segment of a plane; it goes through the planes of the chunk, so that what a sum over
// planes needs stays in registers. A chunk without that lag is one plane.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> bodies: array<u32>;
@group(0) @binding(2) var<storage, read> marks: array<u32>;
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;    // two 16-bit numbers each
@group(0) @binding(4) var<storage, read_write> totals: array<u32>;  // of segments
@group(0) @binding(5) var<storage, read> offsets: array<u32>;

var<workgroup> bytes: array<u32, 132>;   // the unit as it is stored
var<workgroup> shape: vec2<u32>;         // width and dense planes
var<workgroup> used: array<u32, 16>;     // which bytes of a sparse plane are not zero
var<workgroup> starts: array<u32, 16>;   // where these bytes are
var<workgroup> planes: array<u32, 128>;
var<workgroup> line: array<u32, 256>;

fn byte_at(at: u32) -> u32 { return (bytes[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu; }

// The residual of this thread in a unit.
fn residual_of(l: u32, chunk: u32, unit: u32) -> u32 {
    let entry = p.first_unit + chunk + unit;
    let from_byte = HEADER + p.units + offsets[entry];
    let length = offsets[entry + 1u] - offsets[entry];
    let skip = from_byte & 3u;
    workgroupBarrier();
    if (l < min((skip + length + 3u) / 4u, 132u)) { bytes[l] = bodies[p.body + (from_byte >> 2u) + l]; }
    workgroupBarrier();

    // 1. Masks, one after the other.
    if (l == 0u) {
        var width = 0u; var code = code_of(marks[p.first_unit + unit]);
        while (code > width) { width++; code -= width; }
        shape = vec2<u32>(width, code);
        let groups = skip + code * 32u;
        var at = groups + (width - code + 1u) / 2u;
        for (var plane = code; plane < min(width, 16u); plane++) {
            let sparse = plane - code;
            let masks = byte_at(groups + sparse / 2u) >> (4u * (sparse & 1u));
            var mask = 0u;
            for (var group = 0u; group < 4u; group++) {
                if (((masks >> group) & 1u) == 1u) {
                    mask |= byte_at(at) << (8u * group);
                    at++;
                }
            }
            used[plane] = mask;
            starts[plane] = at;
            at += countOneBits(mask);
        }
    }
    workgroupBarrier();

    // 2. Planes.
    let width = shape.x; let dense = shape.y;
    if (l < 128u) {
        let plane = l >> 3u; let first = (l & 7u) * 4u;
        var word = 0u;
        if (plane < dense) {
            for (var b = 0u; b < 4u; b++) { word |= byte_at(skip + plane * 32u + first + b) << (8u * b); }
        } else if (plane < width) {
            let mask = used[plane];
            var at = starts[plane] + countOneBits(mask & ((1u << first) - 1u));
            for (var b = 0u; b < 4u; b++) {
                if (((mask >> (first + b)) & 1u) == 1u) {
                    word |= byte_at(at) << (8u * b);
                    at++;
                }
            }
        }
        planes[l] = word;
    }
    workgroupBarrier();

    // 3. Residual.
    var bits = 0u;
    for (var plane = 0u; plane < min(width, 16u); plane++) {
        bits |= ((planes[plane * 8u + (l >> 5u)] >> (l & 31u)) & 1u) << plane;
    }
    return (bits >> 1u) ^ (0u - (bits & 1u));
}

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
        // 1. The segment lies in one or two units.
        let start = z * length + segment * 256u;
        let end = min(start + 256u, (z + 1u) * length);
        let skip = start & 255u;
        let lower = residual_of(l, group.z, start >> 8u);
        var here = select(0u, lower, l >= skip);
        if (((end - 1u) >> 8u) != (start >> 8u)) {
            let upper = residual_of(l, group.z, (start >> 8u) + 1u);
            if (l < skip) { here = upper; }
        }
        // Thread l has the residual at place l of a unit; the segment starts at place `skip`.
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
