// The residuals of a unit from its bit planes.

@group(0) @binding(2) var<storage, read> marks: array<u32>;

var<workgroup> bytes: array<u32, 132>;   // the stored unit
var<workgroup> shape: vec2<u32>;         // width and number of dense planes
var<workgroup> used: array<u32, 16>;     // non-zero bytes of a sparse plane
var<workgroup> starts: array<u32, 16>;   // offsets of these bytes
var<workgroup> planes: array<u32, 128>;

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
