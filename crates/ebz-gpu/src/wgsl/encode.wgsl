// Kernel 1 of 5: quantize, verify, difference, planes. One workgroup per unit; neighbours are recomputed.
// Units that depend on an exception are left to kernel 3.

@group(0) @binding(4) var<storage, read_write> states: array<u32>; // the last coordinate of each unit, or BAD

var<workgroup> numbers: array<u32, 1028>; // four windows of one number before a unit, and its numbers
var<workgroup> bad: atomic<u32>;          // bit 0: some window has an exception; bit 1: the unit itself

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) l: u32/*SUBGROUP*/) {
    let unit = group.x + group.y * groups.x;
    if (unit >= chunks[group.z].units) { return; }
    p = chunks[group.z];/*SET_SUBGROUP*/

    // 1. Coordinates.
    let start = i32(unit * UNIT);
    var mine = 0u;
    for (var n = 0u; n < 4u; n++) {
        let back = window_back(n);
        if (back >= 0) {
            let number = number_at(start - back + i32(l));
            numbers[n * 257u + l + 1u] = number;
            mine |= select(0u, select(1u, 3u, n == 0u), number == BAD);
            if (l == 0u) {
                let before = number_at(start - back - 1);
                numbers[n * 257u] = before;
                mine |= select(0u, 1u, before == BAD);
            }
        }
    }
    if (mine != 0u) { atomicOr(&bad, mine); }
    workgroupBarrier();

    // 2. The coordinate that exceptions at the start of later units repeat.
    let at = p.first_unit + unit;
    let is_bad = atomicLoad(&bad);
    if (l == 0u) {
        var last = 256u;
        while (last > 1u && numbers[last] == BAD) { last--; }
        states[at] = numbers[last];
        if (is_bad != 0u) { marks[at] = UNRESOLVED | select(0u, EXCEPTIONS, (is_bad & 2u) != 0u); }
    }
    if (is_bad != 0u) { return; }

    // 3. Residuals, planes.
    var residual = 0u;
    for (var n = 0u; n < 4u; n++) {
        if (window_back(n) >= 0) {
            let w = n * 257u + l;
            residual += window_sign(n) * (numbers[w + 1u] - select(0u, numbers[w], (p.lags & 1u) != 0u));
        }
    }
    let mark = pack(l, at, zigzag(residual & 0xffffu));
    if (l == 0u) { marks[at] = mark; }
}
