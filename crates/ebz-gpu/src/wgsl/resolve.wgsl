// Kernel 3 of 5: units that depend on exceptions, which repeat the previous coordinate.

@group(0) @binding(4) var<storage, read_write> states: array<u32>; // what a unit repeats at its start

var<workgroup> numbers: array<u32, 512>;         // two units that hold a window and the number before it
var<workgroup> good: array<atomic<u32>, 16>;

// The coordinate at an index of the two units; exceptions have that of the last valid value.
fn filled(i: u32, carry: u32) -> u32 {
    var word = i >> 5u;
    var bits = atomicLoad(&good[word]) & (0xffffffffu >> (31u - (i & 31u)));
    while (bits == 0u && word > 0u) {
        word--;
        bits = atomicLoad(&good[word]);
    }
    if (bits == 0u) { return carry; }
    return numbers[word * 32u + 31u - countLeadingZeros(bits)];
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) l: u32/*SUBGROUP*/) {
    let unit = group.x + group.y * groups.x;
    if (unit >= chunks[group.z].units) { return; }
    p = chunks[group.z];/*SET_SUBGROUP*/
    let at = p.first_unit + unit;
    let mark = marks[at];
    if ((mark & UNRESOLVED) == 0u) { return; }

    var residual = 0u;
    for (var n = 0u; n < 4u; n++) {
        let back = window_back(n);
        if (back >= 0) {
            // 1. The two units.
            let start = i32(unit * UNIT) - back;
            let from_unit = (start - 1) >> 8u;
            if (l < 16u) { atomicStore(&good[l], 0u); }
            workgroupBarrier();
            for (var i = l; i < 512u; i += 256u) {
                let number = number_at(from_unit * 256 + i32(i));
                numbers[i] = number;
                if (number != BAD) { atomicOr(&good[i >> 5u], 1u << (i & 31u)); }
            }
            workgroupBarrier();
            // 2. The window.
            var carry = 0u;
            if (from_unit > 0) { carry = states[p.first_unit + u32(from_unit)]; }
            let here = u32(start - from_unit * 256) + l;
            var difference = filled(here, carry);
            if ((p.lags & 1u) != 0u) { difference -= filled(here - 1u, carry); }
            residual += window_sign(n) * difference;
            workgroupBarrier();
        }
    }
    let packed = pack(l, at, zigzag(residual & 0xffffu));
    if (l == 0u) { marks[at] = packed | (mark & EXCEPTIONS); }
}
