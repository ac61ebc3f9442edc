// Kernel 2 of 5: the coordinate of the last valid value before each unit, which exceptions at its start
// repeat. One workgroup per chunk.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(4) var<storage, read_write> states: array<u32>;

var<workgroup> last: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    let first = chunks[group.x].first_unit; let units = chunks[group.x].units;
    var before = 0u;
    for (var start = 0u; start < units; start += 256u) {
        let at = first + start + l;
        var state = BAD;
        if (start + l < units) { state = states[at]; }
        for (var s = 1u; s < 256u; s <<= 1u) {
            last[l] = state;
            workgroupBarrier();
            if (state == BAD && l >= s) { state = last[l - s]; }
            workgroupBarrier();
        }
        last[l] = select(state, before, state == BAD);
        workgroupBarrier();
        if (start + l < units) { states[at] = select(last[max(l, 1u) - 1u], before, l == 0u); }
        before = last[255];
        workgroupBarrier();
    }
}
