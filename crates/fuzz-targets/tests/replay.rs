//! The fuzz targets on a stable compiler: committed inputs, and thousands of generated ones.

use ebz_fuzz_targets::TARGETS;
use ebz_testkit::fields::workspace;
use ebz_testkit::random::Random;

#[test]
fn every_target_has_a_program() {
    let folder = workspace().join("fuzz/fuzz_targets");
    let mut programs: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_string())
        .collect();
    let mut names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    programs.sort();
    names.sort();
    assert_eq!(programs, names);
}

#[test]
fn committed_inputs_pass() {
    let folder = workspace().join("fuzz/corpus-regress");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for target in &TARGETS {
            (target.run)(&bytes);
        }
        count += 1;
    }
    assert!(count > 0, "no committed inputs");
    println!("{count} inputs");
}

#[test]
fn generated_inputs_pass() {
    for target in &TARGETS {
        let seeds = (target.seeds)();
        for seed in &seeds {
            (target.run)(seed);
        }
        let mut random = Random::new(target.name.len() as u64);
        for _ in 0..300 {
            (target.run)(&random.mutated(&seeds));
        }
        println!("{}: {} seeds", target.name, seeds.len());
    }
}
