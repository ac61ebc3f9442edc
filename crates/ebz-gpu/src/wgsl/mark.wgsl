// Flags alone, of tiles shuffled by another kernel; for the ablation.

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) l: u32) {
    let tile = group.x + group.y * groups.x;
    if (tile >= tiles_of(group.z)) { return; }
    load(l, group.z, tile);
    mark(l, group.z, tile);
}
