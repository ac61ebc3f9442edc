// The residuals of a unit from flags and blocks: unit u of a tile is block u of each of its planes.

var<workgroup> flags: array<u32, 8>;
var<workgroup> planes: array<u32, 128>; // 4 words of each of 32 planes

// The residual of this thread in a unit.
fn residual_of(l: u32, chunk: u32, unit: u32) -> u32 {
    let tile = unit >> 3u;
    let at_flags = p.body + HEADER / 4u + tile * 8u;
    workgroupBarrier();
    if (l < 8u) { flags[l] = bodies[at_flags + l]; }
    workgroupBarrier();

    // 1. Blocks; the preceding flags give their offsets.
    if (l < 128u) {
        let number = (l >> 2u) * 8u + (unit & 7u);
        let own = flags[number >> 5u];
        var word = 0u;
        if (((own >> (number & 31u)) & 1u) == 1u) {
            var before = countOneBits(own & ((1u << (number & 31u)) - 1u));
            for (var i = 0u; i < (number >> 5u); i++) { before += countOneBits(flags[i]); }
            let blocks = p.body + HEADER / 4u + ((p.units + 7u) >> 3u) * 8u;
            let start = offsets[p.first_unit + chunk + tile] / 4u;
            word = bodies[blocks + start + 4u * before + (l & 3u)];
        }
        planes[l] = word;
    }
    workgroupBarrier();

    // 2. Code: sign and magnitude.
    let first = (l & 1u) * 64u + (l >> 6u); let bit = (l >> 1u) & 31u;
    var code = 0u;
    for (var i = 0u; i < 16u; i++) { code |= ((planes[first + 4u * i] >> bit) & 1u) << i; }
    return select(code, (0u - code) | 0x8000u, code >= 0x8000u);
}
