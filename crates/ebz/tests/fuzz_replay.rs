//! The fuzz targets on a stable compiler: committed inputs, and thousands of generated ones.

use ebz_testkit::corruption::small_files;
use ebz_testkit::fields::workspace;
use ebz_testkit::fuzz::TARGETS;
use ebz_testkit::random::Random;

#[test]
fn committed_inputs_pass() {
    let folder = workspace().join("fuzz/corpus-regress");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for (_, target) in TARGETS {
            target(&bytes);
        }
        count += 1;
    }
    assert!(count > 0, "no committed inputs");
    println!("{count} inputs");
}

#[test]
fn generated_inputs_pass() {
    let files = small_files().unwrap();
    for (name, target) in TARGETS {
        let mut random = Random::new(name.len() as u64);
        for round in 0..2000 {
            let mut bytes = if round % 2 == 0 {
                let length = random.below(200);
                random.bytes(length)
            } else {
                files[random.below(files.len())].bytes.clone()
            };
            for _ in 0..random.below(4) {
                if !bytes.is_empty() {
                    let at = random.below(bytes.len());
                    bytes[at] = random.bits() as u8;
                }
            }
            target(&bytes);
        }
    }
}
