//! Writes the golden files that do not exist yet. Files that exist are never touched.

use ebz_testkit::golden;
use std::fs::File;
use std::io::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = golden::folder();
    std::fs::create_dir_all(&folder)?;
    for file in golden::all() {
        let path = folder.join(format!("{}.ebz", file.name));
        let beside = folder.join(format!("{}.{}", file.name, file.beside));
        if !path.exists() {
            create(&path, &(file.make)()?)?;
        }
        if !beside.exists() {
            create(&beside, golden::verdict(&std::fs::read(&path)?).as_bytes())?;
        }
    }
    Ok(())
}

fn create(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    println!("{}", path.display());
    File::create_new(path)?.write_all(bytes)
}
