//! Writes missing golden files. Existing files are never touched.

use ebz_testkit::golden;
use std::fs::File;
use std::io::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = golden::folder();
    std::fs::create_dir_all(&folder)?;
    for file in golden::all() {
        let path = folder.join(format!("{}.ebz", file.name));
        let sidecar = folder.join(format!("{}.{}", file.name, file.sidecar));
        if !path.exists() {
            create(&path, &(file.make)()?)?;
        }
        if !sidecar.exists() {
            create(&sidecar, golden::verdict(&std::fs::read(&path)?).as_bytes())?;
        }
    }
    Ok(())
}

fn create(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    println!("{}", path.display());
    File::create_new(path)?.write_all(bytes)
}
