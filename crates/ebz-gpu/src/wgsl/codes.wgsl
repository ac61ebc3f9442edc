// Residuals of a unit to 16-bit sign-magnitude codes, two per word of its slot.

@group(0) @binding(2) var<storage, read_write> marks: array<u32>;  // blocks of each tile, marks of each unit
@group(0) @binding(3) var<storage, read_write> slots: array<u32>;

var<workgroup> codes: array<u32, 256>;

// Stores the unit whose zigzag residuals the threads hold; its mark is set with its tile.
fn pack(l: u32, unit: u32, residual: u32) -> u32 {
    let sign = residual & 1u;
    codes[l] = (((residual >> 1u) + sign) | (sign << 15u)) & 0xffffu;
    workgroupBarrier();
    if (l < 128u) { slots[unit * SLOT + l] = codes[2u * l] | (codes[2u * l + 1u] << 16u); }
    return 0u;
}
