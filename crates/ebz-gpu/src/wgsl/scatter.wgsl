// Kernel 4 of decoding, for frames on the device: runs of exact values. One workgroup per run.

@group(0) @binding(1) var<storage, read> runs: array<vec4<u32>>; // start, length, bits, 0
@group(0) @binding(6) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) l: u32) {
    let number = group.x + group.y * groups.x;
    if (number >= arrayLength(&runs)) { return; }
    let run = runs[number];
    for (var i = l; i < run.y; i += 64u) { output[run.x + i] = run.z; }
}
