// Writes the non-zero blocks to their offsets. One workgroup per tile, one thread per block.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(5) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(6) var<storage, read_write> bodies: array<u32>;
@group(0) @binding(7) var<storage, read_write> tiles: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) l: u32) {
    let tile = group.x + group.y * groups.x;
    let count = (chunks[group.z].units + 7u) / 8u;
    if (tile >= count) { return; }
    let first = chunks[group.z].first_unit + group.z;
    let body = chunks[group.z].body;
    let at_flags = body + HEADER / 4u + tile * 8u;
    // A body that does not fit is not smaller than the values, and not needed.
    let words = HEADER / 4u + count * 8u;
    if (words + offsets[first + count] / 4u > chunks[group.z].body_words) { return; }

    let word = l >> 5u; let bit = l & 31u;
    let own = bodies[at_flags + word];
    if (((own >> bit) & 1u) == 0u) { return; }
    var before = countOneBits(own & ((1u << bit) - 1u));
    for (var i = 0u; i < word; i++) { before += countOneBits(bodies[at_flags + i]); }
    let to = body + words + offsets[first + tile] / 4u + 4u * before;
    let at = ((chunks[group.z].first_unit + 7u) / 8u + group.z + tile) * 1024u + 4u * l;
    for (var i = 0u; i < 4u; i++) { bodies[to + i] = tiles[at + i]; }
}
