//! Writes missing golden files, and their lines in the list of checksums. Existing files and lines
//! are never touched.

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
    let list = golden::checksums();
    let old = std::fs::read_to_string(&list).unwrap_or_default();
    let mut lines: Vec<String> = old.lines().map(str::to_string).collect();
    for file in golden::all() {
        for ending in ["ebz", file.sidecar] {
            let name = format!("{}.{ending}", file.name);
            if !lines
                .iter()
                .any(|line| line.ends_with(&format!("  {name}")))
            {
                lines.push(golden::line(&name, &std::fs::read(folder.join(&name))?));
            }
        }
    }
    lines.sort_by(|a, b| a[16..].cmp(&b[16..]));
    std::fs::write(list, lines.join("\n") + "\n")?;
    Ok(())
}

fn create(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    println!("{}", path.display());
    File::create_new(path)?.write_all(bytes)
}
