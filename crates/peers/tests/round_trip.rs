//! Every peer decompresses what it compressed, as well as it promises.

use ebz_peers::{Goal, Peer};

fn field(len: usize) -> Vec<f64> {
    (0..len)
        .map(|i| (i as f64 * 0.01).sin() + (i % 17) as f64 * 1e-3)
        .collect()
}

fn check(peer: &dyn Peer, dims: &[usize]) {
    let what = format!("{} {dims:?}", peer.name());
    let goal = Goal::Abs(1e-3);
    let most = match peer.name().contains("lossless") {
        true => 0.0,
        false => 1.001e-3,
    };
    let values = field(dims.iter().product());
    let bytes = peer.compress_f64(&values, dims, goal);
    let mut back = vec![0.0; values.len()];
    peer.decompress_f64(&bytes, dims, goal, &mut back);
    let error = |(a, b): (&f64, &f64)| (a - b).abs();
    let worst = values.iter().zip(&back).map(error).fold(0.0, f64::max);
    assert!(worst <= most, "{what}: {worst}");

    let values: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    let bytes = peer.compress_f32(&values, dims, goal);
    let mut back = vec![0.0; values.len()];
    peer.decompress_f32(&bytes, dims, goal, &mut back);
    let error = |(a, b): (&f32, &f32)| f64::from((a - b).abs());
    let worst = values.iter().zip(&back).map(error).fold(0.0, f64::max);
    assert!(worst <= most, "{what}, f32: {worst}");
}

#[test]
fn peers_round_trip() {
    for peer in ebz_peers::all() {
        for dims in [&[5000][..], &[50, 101], &[19, 20, 21]] {
            if peer.supports(dims.len(), 1.0) {
                check(peer.as_ref(), dims);
            }
        }
    }
}
