//! A folder to run the command in.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A temporary folder in which the command runs.
pub struct Sandbox(tempfile::TempDir);

impl Sandbox {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Names and contents of everything in the folder.
    pub fn contents(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut all: Vec<_> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), std::fs::read(path).ok()))
            .collect();
        all.sort();
        all
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ebz"));
        command
            .args(args)
            .current_dir(self.0.path())
            .env("TMPDIR", self.0.path())
            // Drivers of GPUs complain where there is none.
            .env("XDG_RUNTIME_DIR", self.0.path())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub fn run_with_input(&self, args: &[&str], input: &[u8]) -> Output {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // The command may stop reading early; that is not this thread's business.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    /// Runs a command that must succeed; returns its standard output.
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same with `--json`.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.ok(&[args, &["--json"]].concat())).unwrap()
    }

    /// Runs a command that must fail with this code and one line that holds every one of `words`,
    /// and must leave the folder as it is.
    pub fn fails(&self, code: i32, args: &[&str], words: &[&str]) {
        let before = self.contents();
        let output = self.run(args);
        assert_failure(&output, code, args, words);
        assert!(self.contents() == before, "{args:?} left something behind");
    }
}

pub fn assert_failure(output: &Output, code: i32, args: &[&str], words: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 1, "{args:?}: {text}");
    assert!(lines[0].starts_with("ebz: "), "{args:?}: {text}");
    // No cause is told twice.
    let parts: Vec<_> = lines[0].split(": ").collect();
    assert!(
        (1..parts.len()).all(|i| !parts[..i].contains(&parts[i])),
        "{args:?}: {text}"
    );
    for word in words {
        assert!(text.contains(word), "{args:?}: no '{word}' in {text}");
    }
}

/// A smooth field.
pub fn field(count: usize) -> Vec<f32> {
    (0..count)
        .map(|i| (i as f32 * 0.01).sin() * 5.0 + 20.0)
        .collect()
}

pub fn bytes_of(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

pub fn values_of(bytes: &[u8]) -> Vec<f32> {
    let (words, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// An `.npy` file with any header and values.
pub fn npy(descr: &str, fortran: bool, shape: &str, values: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(values);
    bytes
}
