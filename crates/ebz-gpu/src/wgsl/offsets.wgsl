// Kernel 4 of 5: offsets of the planes of each unit; header and codes of each body. One workgroup per
// chunk sums up the lengths of its units, so workgroups never wait for each other.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read_write> marks: array<u32>;
@group(0) @binding(5) var<storage, read_write> offsets: array<u32>; // units + 1 entries per chunk
@group(0) @binding(6) var<storage, read_write> bodies: array<atomic<u32>>;

var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let first = chunks[group.x].first_unit; let units = chunks[group.x].units;
    let body = chunks[group.x].body; let words = chunks[group.x].body_words;

    // 1. Sums. Words shared by two units start as zeros: kernel 5 adds to them.
    var total = 0u;
    for (var start = 0u; start < units; start += 256u) {
        let unit = start + l;
        var length = 0u;
        if (unit < units) { length = length_of(marks[first + unit]); }
        var sum = length;
        for (var s = 1u; s < 256u; s <<= 1u) {
            sums[l] = sum;
            workgroupBarrier();
            if (l >= s) { sum += sums[l - s]; }
            workgroupBarrier();
        }
        sums[l] = sum;
        workgroupBarrier();
        if (unit < units) {
            let offset = total + sum - length;
            offsets[first + group.x + unit] = offset;
            let word = (HEADER + units + offset) >> 2u;
            if (word < words) { atomicStore(&bodies[body + word], 0u); }
        }
        total += sums[255];
        workgroupBarrier();
    }
    if (l == 0u) {
        offsets[first + group.x + units] = total;
        let word = (HEADER + units + total) >> 2u;
        if (word < words) { atomicStore(&bodies[body + word], 0u); }
    }
    storageBarrier();
    workgroupBarrier();

    // 2. Header and codes, which may end in the middle of a word.
    if (l == 0u) {
        atomicStore(&bodies[body], chunks[group.x].mode);
        atomicStore(&bodies[body + 1u], chunks[group.x].step_low);
        atomicStore(&bodies[body + 2u], chunks[group.x].step_high);
        atomicStore(&bodies[body + 3u], chunks[group.x].base_low);
        atomicStore(&bodies[body + 4u], chunks[group.x].base_high);
        atomicStore(&bodies[body + 5u], total);
    }
    for (var unit = 4u * l; unit < units; unit += 1024u) {
        var word = 0u;
        for (var i = 0u; i < min(4u, units - unit); i++) {
            word |= code_of(marks[first + unit + i]) << (8u * i);
        }
        atomicStore(&bodies[body + HEADER / 4u + unit / 4u], word);
    }
}
