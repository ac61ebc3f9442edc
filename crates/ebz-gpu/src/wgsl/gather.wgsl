// Bit planes without subgroups: one thread per word of a plane.

var<workgroup> residuals: array<u32, 256>;
var<workgroup> planes: array<u32, 128>;

// Fills `planes`; every thread of the workgroup has one residual.
fn transpose(l: u32, residual: u32) {
    residuals[l] = residual;
    workgroupBarrier();
    if (l < 128u) {
        let plane = l >> 3u; let first = (l & 7u) * 32u;
        var word = 0u;
        for (var i = 0u; i < 32u; i++) { word |= ((residuals[first + i] >> plane) & 1u) << i; }
        planes[l] = word;
    }
    workgroupBarrier();
}

fn plane_word(i: u32) -> u32 { return planes[i]; }
