//! Translates the cores to C++ with Verilator and compiles them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The cores: module and parameter value.
const CORES: &[(&str, u32)] = &[
    ("fre_compress", 1),
    ("fre_compress", 6),
    ("fre_compress", 20),
    ("fre_decompress", 1),
    ("fre_decompress", 6),
    ("fre_decompress", 20),
    ("zfp_compress", 2),
    ("zfp_compress", 3),
    ("zfp_decompress", 2),
    ("zfp_decompress", 3),
];

fn main() {
    // Mutated sources are in another folder.
    println!("cargo:rerun-if-env-changed=EBZ_RTL_MUTANTS");
    let mutated = env::var_os("CARGO_FEATURE_MUTANTS").is_some();
    let sources = match mutated {
        true => env::var("EBZ_RTL_MUTANTS")
            .expect("EBZ_RTL_MUTANTS is the folder of the mutated sources"),
        false => "../../rtl".into(),
    };
    println!("cargo:rerun-if-changed={sources}");
    println!("cargo:rerun-if-changed=shim");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut modules = Vec::new();
    for folder in ["common", "fre", "zfp"] {
        modules.extend(files(&Path::new(&sources).join(folder), "sv"));
    }

    let mut shim = String::from("#include \"harness.h\"\n");
    let mut cases = String::new();
    let include = verilator_root().join("include");
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(1)
        .warnings(false)
        .include(&include)
        .include(include.join("vltstd"))
        .include("shim")
        .files(
            [
                "verilated.cpp",
                "verilated_threads.cpp",
                "verilated_dpi.cpp",
            ]
            .map(|file| include.join(file)),
        );
    for &(module, parameter) in CORES {
        // One parameter value is enough for mutants.
        if mutated && module.starts_with("fre") && parameter != 6 {
            continue;
        }
        let name = format!("{module}_{parameter}");
        let parameter_name = if module.starts_with("fre") {
            "MANTISSA"
        } else {
            "AXES"
        };
        let folder = out.join(&name);
        let _ = fs::remove_dir_all(&folder);
        let mut command = Command::new("verilator");
        command
            .args(["--cc", "-O3", "--x-initial", "unique"])
            .args(["-Wall", "-Wno-UNUSED", "-Wno-DECLFILENAME"])
            .args([
                "--top-module",
                module,
                "--prefix",
                &format!("V{name}"),
                "--Mdir",
            ])
            .arg(&folder)
            .arg(format!("-G{parameter_name}={parameter}"))
            .args(&modules);
        if mutated {
            // Expressions of mutants may differ in width.
            command.arg("-Wno-fatal");
        }
        let status = command.status().expect("verilator must be installed");
        assert!(status.success(), "{command:?}");
        // One translation unit: most of the compile time is spent on headers.
        let unit: String = files(&folder, "cpp")
            .iter()
            .map(|file| format!("#include {file:?}\n"))
            .collect();
        let path = out.join(format!("{name}.cpp"));
        fs::write(&path, unit).expect("OUT_DIR must be writable");
        build.include(&folder).file(path);
        writeln!(shim, "#include \"V{name}.h\"").expect("writing to a string cannot fail");
        writeln!(
            cases,
            "    if (!std::strcmp(core, \"{name}\")) return run<V{name}>(request, outcome), true;"
        )
        .expect("writing to a string cannot fail");
    }
    shim += "static int mutant = 0;\n\
        extern \"C\" int mutant_number() { return mutant; }\n\
        extern \"C\" void choose_mutant(int number) { mutant = number; }\n\
        extern \"C\" bool simulate_core(const char *core, const Request &request, Outcome &outcome) {\n";
    shim += &cases;
    shim += "    return false;\n}\n";
    let path = out.join("shim.cpp");
    fs::write(&path, shim).expect("OUT_DIR must be writable");
    build.file(path).compile("ebz_rtl_cores");
}

/// The files of a folder with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

fn verilator_root() -> PathBuf {
    let output = Command::new("verilator")
        .args(["--getenv", "VERILATOR_ROOT"])
        .output();
    let output = output.expect("verilator must be installed").stdout;
    String::from_utf8(output).expect("a path").trim().into()
}
