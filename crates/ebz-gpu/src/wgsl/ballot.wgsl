// Bit planes with subgroup ballots, for subgroup sizes from 4 to 128.

var<workgroup> residuals: array<u32, 256>;
var<workgroup> planes: array<atomic<u32>, 128>;
var<private> subgroup: vec3<u32>; // subgroup id, size, lane

// Fills `planes`; every thread of the workgroup has one residual.
fn transpose(l: u32, residual: u32) {
    residuals[l] = residual;
    if (l < 128u) { atomicStore(&planes[l], 0u); }
    workgroupBarrier();
    // Threads of a subgroup need not be adjacent in the workgroup: redistribute the residuals.
    let first = subgroup.x * subgroup.y; let lane = subgroup.z;
    let mine = residuals[first + lane];
    for (var plane = 0u; plane < 16u; plane++) {
        let bits = subgroupBallot(((mine >> plane) & 1u) == 1u);
        if (subgroup.y >= 32u) {
            if ((lane & 31u) == 0u) {
                atomicStore(&planes[plane * 8u + ((first + lane) >> 5u)], bits[lane >> 5u]);
            }
        } else if (lane == 0u) {
            atomicOr(&planes[plane * 8u + (first >> 5u)], bits.x << (first & 31u));
        }
    }
    workgroupBarrier();
}

fn plane_word(i: u32) -> u32 { return atomicLoad(&planes[i]); }
