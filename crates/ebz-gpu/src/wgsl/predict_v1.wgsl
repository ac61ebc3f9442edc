// The baseline dual quantization of the paper, for its ablation: codes around a radius and an array of
// outliers, with branches per value. Nothing decodes these codes.

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
            // Values without a coordinate count as 0, like outliers that are stored elsewhere.
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
