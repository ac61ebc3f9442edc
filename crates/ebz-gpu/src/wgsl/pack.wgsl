// Packs the residuals of a unit to planes in its slot.

@group(0) @binding(2) var<storage, read_write> marks: array<u32>;  // code, length and marks of each unit
@group(0) @binding(3) var<storage, read_write> slots: array<u32>;

const DENSE = 28u; // planes with at least this many non-zero bytes are dense

var<workgroup> used: array<u32, 16>;    // non-zero bytes of each plane
var<workgroup> starts: array<u32, 17>;  // offsets of the sparse planes
var<workgroup> slot: array<atomic<u32>, 128>;

// Bit i: byte i is not zero.
fn nonzero_bytes(v: u32) -> u32 {
    let t = (((v & 0x7f7f7f7fu) + 0x7f7f7f7fu) | v) & 0x80808080u;
    return ((t >> 7u) | (t >> 14u) | (t >> 21u) | (t >> 28u)) & 15u;
}

fn put(at: u32, byte: u32) { atomicOr(&slot[at >> 2u], byte << ((at & 3u) * 8u)); }

// Packs the unit whose zigzag residuals the threads hold; returns its code and length.
fn pack(l: u32, unit: u32, residual: u32) -> u32 {
    transpose(l, residual);

    // 1. Non-zero bytes.
    if (l < 128u) { atomicStore(&slot[l], 0u); }
    if (l < 16u) {
        var bytes = 0u;
        for (var w = 0u; w < 8u; w++) { bytes |= nonzero_bytes(plane_word(l * 8u + w)) << (4u * w); }
        used[l] = bytes;
    }
    workgroupBarrier();

    // 2. Width, dense planes, and offsets of the sparse ones.
    var width = 0u; var dense = 0u;
    for (var plane = 0u; plane < 16u; plane++) {
        let bytes = used[plane];
        if (bytes != 0u) { width = plane + 1u; }
        if (countOneBits(bytes) >= DENSE) { dense = plane + 1u; }
    }
    let groups = dense * 32u;
    if (l < 17u) {
        var at = groups + (width - dense + 1u) / 2u;
        for (var plane = dense; plane < min(l, width); plane++) {
            at += countOneBits(nonzero_bytes(used[plane])) + countOneBits(used[plane]);
        }
        starts[l] = at;
    }
    workgroupBarrier();

    // 3. Bytes: 16 threads per plane.
    let plane = l >> 4u; let j = l & 15u;
    if (plane < dense) {
        if (j < 8u) { atomicStore(&slot[plane * 8u + j], plane_word(plane * 8u + j)); }
    } else if (plane < width) {
        let bytes = used[plane]; let masks = nonzero_bytes(bytes);
        let start = starts[plane]; let behind = start + countOneBits(masks);
        for (var b = 2u * j; b < 2u * j + 2u; b++) {
            if (((bytes >> b) & 1u) == 1u) {
                let byte = (plane_word(plane * 8u + (b >> 2u)) >> ((b & 3u) * 8u)) & 0xffu;
                put(behind + countOneBits(bytes & ((1u << b) - 1u)), byte);
            }
        }
        if (j < 4u && ((masks >> j) & 1u) == 1u) {
            put(start + countOneBits(masks & ((1u << j) - 1u)), (bytes >> (8u * j)) & 0xffu);
        }
        if (j == 4u) { put(groups + (plane - dense) / 2u, masks << (4u * ((plane - dense) & 1u))); }
    }
    let length = starts[16];
    workgroupBarrier();
    if (l < (length + 3u) / 4u) { slots[unit * SLOT + l] = atomicLoad(&slot[l]); }
    return (width * (width + 1u) / 2u + dense) | (length << 8u);
}
