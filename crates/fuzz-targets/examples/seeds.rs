//! Writes the valid inputs of every fuzz target to a folder, where libFuzzer starts from them.

use ebz_fuzz_targets::TARGETS;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).expect("usage: seeds FOLDER");
    for target in &TARGETS {
        let folder = PathBuf::from(&folder).join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
        println!("{}", target.name);
    }
    Ok(())
}
