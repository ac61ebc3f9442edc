//! Points per second of the stencil.
use ebz_sim::rtm::*;
fn main() {
    let n: Vec<usize> = std::env::args()
        .skip(1)
        .map(|a| a.parse().unwrap())
        .collect();
    let (side, threads, slab) = (n[0], n[1], n[2]);
    let setup = Setup::new([side; 3], 100);
    let shot = Shot::new(setup, Model::Layered.velocities([side; 3])).unwrap();
    let speed = shot.speed(true).unwrap();
    let mut wave = Wave::new(&shot, &speed, threads, slab).unwrap();
    for _ in 0..4 {
        let t = std::time::Instant::now();
        wave.advance(20, |_| Ok(())).unwrap();
        println!(
            "{:.3} Gpoints/s",
            shot.points() as f64 * 20.0 / t.elapsed().as_secs_f64() / 1e9
        );
    }
}
