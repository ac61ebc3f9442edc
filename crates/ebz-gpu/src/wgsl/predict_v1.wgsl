// The dual quantization that the paper started from, for its ablation: codes around a radius, and what lies
// outside of it in an array of outliers, each value by branches of its own. Nobody decodes these codes.

@group(0) @binding(3) var<storage, read_write> slots: array<u32>;
@group(0) @binding(7) var<storage, read_write> outliers: array<u32>;

const RADIUS = 512;

var<workgroup> codes: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) l: u32) {
    let unit = group.x + group.y * groups.x;
    if (unit >= chunks[group.z].units) { return; }
    p = chunks[group.z];
    let place = i32(unit * UNIT + l);
    var residual = 0u;
    for (var n = 0u; n < 4u; n++) {
        let back = window_back(n);
        if (back >= 0) {
            // What has no coordinate counts as 0, as an outlier does whose value is stored elsewhere.
            residual += window_sign(n) * (number_at(place - back) & 0xffffu);
            if ((p.lags & 1u) != 0u) { residual -= window_sign(n) * (number_at(place - back - 1) & 0xffffu); }
        }
    }
    let difference = bitcast<i32>(residual << 16u) >> 16u;
    var code = 0u;
    var outlier = 0u;
    if (difference > -RADIUS && difference < RADIUS) {
        code = u32(difference + RADIUS);
    } else {
        outlier = u32(difference);
    }
    outliers[(p.first_unit + unit) * UNIT + l] = outlier;
    codes[l] = code;
    workgroupBarrier();
    if (l < 128u) { slots[(p.first_unit + unit) * SLOT + l] = codes[2u * l] | (codes[2u * l + 1u] << 16u); }
}
