// For arrays on the device: the range of the finite values of each chunk without fill values, and whether
// all bits are equal. 64 workgroups per chunk.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> values: array<u32>;
// Per chunk: least and largest bits, least and largest finite value as ordered integers.
@group(0) @binding(2) var<storage, read_write> ranges: array<atomic<u32>>;

// Unsigned integers in the order of the values; -0 comes before 0.
fn in_order(x: u32) -> u32 { return select(x | 0x80000000u, ~x, (x & 0x80000000u) != 0u); }

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) l: u32) {
    p = chunks[group.z];
    var bits = vec2<u32>(0xffffffffu, 0u);
    var order = vec2<u32>(0xffffffffu, 0u);
    for (var i = group.x * 256u + l; i < p.count; i += groups.x * 256u) {
        let x = values[p.first + i];
        bits = vec2<u32>(min(bits.x, x), max(bits.y, x));
        var counts = (x & 0x7fffffffu) < 0x7f800000u;
        for (var f = 0u; f < p.fills; f++) {
            let fill = p.fill[f];
            counts = counts && x != fill && ((x | fill) << 1u) != 0u;
        }
        if (counts) {
            let place = in_order(x);
            order = vec2<u32>(min(order.x, place), max(order.y, place));
        }
    }
    let at = group.z * 4u;
    atomicMin(&ranges[at], bits.x);
    atomicMax(&ranges[at + 1u], bits.y);
    atomicMin(&ranges[at + 2u], order.x);
    atomicMax(&ranges[at + 3u], order.y);
}
