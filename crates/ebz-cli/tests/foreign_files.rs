//! Files of other formats are recognised, names are kept to, and bounds must make sense.

mod sandbox;

use sandbox::{Sandbox, assert_failure, bytes_of, field, npy};

/// 5 × 8 values as `a.raw`, and compressed as `a.ebz`.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.raw", &bytes_of(&field(40)));
    sandbox.ok(&[
        &["compress", "a.raw", "-o", "a.ebz", "--abs", "1e-3"][..],
        &LAYOUT,
    ]
    .concat());
    sandbox
}

const LAYOUT: [&str; 4] = ["-t", "f32", "-s", "5x8"];

/// A file of the size of 5 × 8 values of f32 or more that begins with these bytes.
fn beginning_with(start: &[u8]) -> Vec<u8> {
    let mut bytes = start.to_vec();
    bytes.resize(640, 7);
    bytes
}

#[test]
fn formats_are_recognised_by_their_first_bytes() {
    let sandbox = prepared();
    let mut nifti = vec![0; 348];
    nifti[..4].copy_from_slice(&348u32.to_le_bytes());
    nifti[344..].copy_from_slice(b"n+1\0");
    let cases: [(&[u8], &str); 19] = [
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"CDF\x01", "netCDF"),
        (b"CDF\x02", "netCDF"),
        (b"CDF\x05", "netCDF"),
        (b"GRIB\0\0\0\x02", "GRIB"),
        (b"# vtk DataFile Version 3.0\n", "VTK"),
        (b"<VTKFile type=", "VTK"),
        (b"<?xml version=\"1.0\"?>\n<VTKFile type=", "VTK"),
        (&nifti, "NIfTI"),
        (b"\x1c\x02\0\0n+2\0\r\n\x1a\n", "NIfTI"),
        (b"SIMPLE  =                    T", "FITS"),
        (b"MATLAB 5.0 MAT-file", "MATLAB"),
        (b"II*\0", "TIFF"),
        (b"PK\x03\x04", ".npz"),
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x04\x22\x4d\x18", "lz4"),
        (&sandbox.read("a.ebz"), ".ebz file already"),
    ];
    for (start, word) in cases {
        let bytes = beginning_with(start);
        sandbox.write("b", &bytes);
        sandbox.write("b_160.f32", &bytes);
        let layout = ["-t", "f32", "-s", "160"];
        for args in [
            &["compress", "b", "--abs", "1"][..],
            &["compress", "b_160.f32", "--abs", "1"],
            &[&["compress", "b", "--abs", "1"][..], &layout].concat(),
            &[&["compare", "b", "b"][..], &layout].concat(),
            &[&["bench", "b", "--abs", "1"][..], &layout].concat(),
        ] {
            sandbox.fails(2, args, &["b", word]);
        }
        let piped = [&["compress", "-", "--abs", "1", "-o", "c.ebz"][..], &layout].concat();
        let output = sandbox.run_with_input(&piped, &bytes);
        assert_failure(&output, 2, &piped, &["standard input", word]);
        // Who knows better says so.
        let raw = ["--lossless", "--raw", "-o", "c.ebz", "-f"];
        sandbox.ok(&[&["compress", "b"][..], &layout, &raw].concat());
        sandbox.ok(&["decompress", "c.ebz", "-o", "c.raw", "-f"]);
        assert!(sandbox.read("c.raw") == bytes);
    }
    for name in ["zarr.json", ".zarray"] {
        let folder = sandbox.path("z");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(name), "{}").unwrap();
        sandbox.fails(2, &["compress", "z", "--abs", "1"], &["Zarr"]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn names_are_kept_to() {
    let sandbox = prepared();
    for name in [
        "b.nc", "b.H5", "b.tif", "b.zarr", "b.grib2", "b.npz", "b.csv", "b.ebz",
    ] {
        let args = ["decompress", "a.ebz", "-o", name];
        sandbox.fails(2, &args, &[name, ".npy"]);
    }
    for name in ["b", "b.f32", "b.raw", "b.bin", "b.dat", "b.001"] {
        sandbox.ok(&["decompress", "a.ebz", "-o", name]);
        assert_eq!(sandbox.read(name).len(), 160);
    }
    let compare = [&["compare", "a.raw", "a.ebz", "--plot"][..]].concat();
    for name in ["b.pdf", "b.jpg"] {
        sandbox.fails(2, &[&compare[..], &[name]].concat(), &[name, ".png"]);
    }
    sandbox.ok(&[&compare[..], &["b.PNG"]].concat());
    assert!(sandbox.read("b.PNG").starts_with(b"\x89PNG"));
    sandbox.ok(&[&compare[..], &["b.svg"]].concat());
    let svg = String::from_utf8(sandbox.read("b.svg")).unwrap();
    for part in ["<svg", "axis 1", "B - A", "bound 0.001", "base64"] {
        assert!(svg.contains(part), "no {part} in the picture");
    }
    let heat = [
        "sim",
        "heat",
        "--grid",
        "8x8x8",
        "--steps",
        "2",
        "--no-roofline",
        "-o",
        "b.gif",
    ];
    sandbox.fails(2, &heat, &["b.gif", ".svg"]);
}

#[test]
fn advice_for_other_types_loses_nothing() {
    let sandbox = Sandbox::new();
    for (descr, word) in [
        ("<c8", "a.real and a.imag"),
        ("<i8", "2^53"),
        ("<u4", "2^24"),
    ] {
        sandbox.write("a.npy", &npy(descr, false, "(2,)", &[0; 16]));
        sandbox.fails(2, &["compress", "a.npy", "--abs", "1"], &[descr, word]);
    }
}

#[test]
fn negative_numbers_count_from_the_end() {
    let sandbox = Sandbox::new();
    for step in 0..3 {
        let values: Vec<f32> = (0..40).map(|i| (100 * step + i) as f32).collect();
        sandbox.write("a.raw", &bytes_of(&values));
        let args = ["compress", "a.raw", "-o", "a.ebz", "--lossless", "--append"];
        sandbox.ok(&[&args[..], &LAYOUT].concat());
    }
    let read = |args: &[&str]| {
        sandbox.ok(&[&["decompress", "a.ebz", "-o", "b", "-f"], args].concat());
        sandbox::values_of(&sandbox.read("b"))
    };
    assert_eq!(
        read(&["--frame", "-1", "--region", "-1,-2:"]),
        [238.0, 239.0]
    );
    assert_eq!(read(&["--frame=-3", "--region", "-5,:2"]), [0.0, 1.0]);
    assert_eq!(read(&["--frame", "1", "--region", "-1,-1"]), [139.0]);
    let piped = sandbox.run_with_input(
        &["decompress", "-", "--frame", "-1"],
        &sandbox.read("a.ebz"),
    );
    assert_eq!(
        piped.stdout,
        bytes_of(&(200..240).map(|i| i as f32).collect::<Vec<_>>())
    );
    sandbox.ok(&["verify", "a.ebz", "--against", "a.raw", "--frame", "-1"]);
    for frame in ["-4", "3"] {
        let args = ["decompress", "a.ebz", "-o", "c", "--frame", frame];
        sandbox.fails(2, &args, &["no frame", frame]);
    }
    let args = ["decompress", "a.ebz", "-o", "c", "--region", "-6,:"];
    sandbox.fails(2, &args, &["-6", "axis 0"]);
}

#[test]
fn a_bound_beyond_the_range_is_refused_and_a_loose_one_remarked_on() {
    let sandbox = prepared();
    let compress = |bound| {
        [
            &["compress", "a.raw", "-o", "b.ebz", "-f", "--range", bound][..],
            &LAYOUT,
        ]
        .concat()
    };
    sandbox.fails(2, &compress("2"), &["at most 1", "abs"]);
    for (bound, loose) in [("1", true), ("0.5", true), ("0.4", false)] {
        let output = sandbox.run(&compress(bound));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert_eq!(said.contains("half the range"), loose, "{said}");
    }
}

#[test]
fn compare_uses_the_fill_value_of_the_file() {
    let sandbox = Sandbox::new();
    let mut values = field(4000);
    values[..1000].fill(9.96921e36);
    sandbox.write("a.raw", &bytes_of(&values));
    let args = [
        "compress", "a.raw", "-t", "f32", "-s", "50x80", "--range", "1e-3", "-o", "a.ebz",
    ];
    sandbox.ok(&[&args[..], &["--fill", "9.96921e36"]].concat());
    let psnr = |args: &[&str]| {
        sandbox.json(&[&["compare"], args].concat())["error_stat:psnr"]
            .as_f64()
            .unwrap()
    };
    let told = psnr(&["a.raw", "a.ebz", "--fill", "9.96921e36"]);
    assert!((50.0..100.0).contains(&told), "{told}");
    assert_eq!(psnr(&["a.raw", "a.ebz"]), told);
    assert_eq!(
        psnr(&["a.ebz", "a.raw"]),
        psnr(&["a.ebz", "a.raw", "--fill", "9.96921e36"])
    );
}
