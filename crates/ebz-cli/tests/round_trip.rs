//! Arrays through the command and back.

mod sandbox;

use sandbox::{Sandbox, bytes_of, field, npy, values_of};

fn assert_within(a: &[f32], b: &[f32], bound: f64) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((f64::from(*x) - f64::from(*y)).abs() <= bound, "{x} {y}");
    }
}

#[test]
fn raw_values_with_every_bound_that_the_default_codec_offers() {
    let sandbox = Sandbox::new();
    let values = field(10 * 12 * 14);
    sandbox.write("a.raw", &bytes_of(&values));
    for (bound, limit) in [
        (&["--abs", "0.25"][..], 0.25),
        (&["--range", "1e-2"][..], 0.1),
        (&["--lossless"][..], 0.0),
    ] {
        let layout = [
            "compress", "a.raw", "-t", "f32", "-s", "10x12x14", "--force",
        ];
        sandbox.ok(&[&layout, bound].concat());
        sandbox.ok(&["decompress", "a.raw.ebz", "-o", "b.raw", "--force"]);
        assert_within(&values, &values_of(&sandbox.read("b.raw")), limit);
        sandbox.ok(&["verify", "a.raw.ebz", "--against", "a.raw"]);
    }
    // Without -o, the original would be replaced.
    sandbox.fails(
        2,
        &["decompress", "a.raw.ebz"],
        &["a.raw exists", "--force"],
    );
}

#[test]
fn sixteen_bits() {
    let sandbox = Sandbox::new();
    // The upper halves of f32, and whole numbers of f16.
    let upper = |v: &f32| [v.to_le_bytes()[2], v.to_le_bytes()[3]];
    let values: Vec<u8> = field(10 * 12 * 14).iter().flat_map(upper).collect();
    let whole: Vec<u8> = (0..1680u16)
        .flat_map(|i| (0x6400 + i % 900).to_le_bytes())
        .collect();
    for (element, values) in [("bf16", values), ("f16", whole)] {
        let name = format!("a_10x12x14.{element}");
        let stored = format!("{name}.ebz");
        sandbox.write(&name, &values);
        for bound in [
            &["--abs", "0.5"][..],
            &["--pointwise", "1e-2"],
            &["--lossless"],
        ] {
            let json = sandbox.json(&[&["compress", &name, "--force", "--stats"], bound].concat());
            assert_eq!(json["shape"], serde_json::json!([10, 12, 14]));
            sandbox.ok(&["verify", &stored, "--against", &name]);
            sandbox.ok(&["compare", &name, &stored]);
        }
        sandbox.ok(&["decompress", &stored, "-o", "b.raw", "--force"]);
        assert!(sandbox.read("b.raw") == values);
        let layout = [
            "compress", "b.raw", "-s", "10x12x14", "--abs", "1", "-t", element,
        ];
        sandbox.ok(&[&layout[..], &["--force"]].concat());
        let json = sandbox.json(&["info", "b.raw.ebz"]);
        assert!(
            json.to_string().contains(&format!("\"{element}\"")),
            "{json}"
        );
    }
    sandbox.ok(&["decompress", "a_10x12x14.f16.ebz", "-o", "a.npy"]);
    assert!(sandbox.read("a.npy").windows(5).any(|w| w == b"'<f2'"));
    sandbox.ok(&["compress", "a.npy", "--abs", "0.5"]);
    sandbox.ok(&["verify", "a.npy.ebz", "--against", "a.npy"]);
    let npy = ["decompress", "a_10x12x14.bf16.ebz", "-o", "c.npy"];
    sandbox.fails(2, &npy, &["NumPy has no bf16", "raw"]);
}

#[test]
fn npy_in_and_out_with_regions() {
    let sandbox = Sandbox::new();
    let values = field(10 * 12 * 14);
    let file = npy("<f4", false, "(10, 12, 14)", &bytes_of(&values));
    sandbox.write("a.npy", &file);
    sandbox.ok(&[
        "compress",
        "a.npy",
        "--lossless",
        "--chunk",
        "3x5x14",
        "--threads",
        "2",
    ]);
    sandbox.ok(&["decompress", "a.npy.ebz", "-o", "b.npy"]);
    sandbox.ok(&[
        "compress",
        "b.npy",
        "--lossless",
        "--chunk",
        "3x5x14",
        "--threads",
        "1",
    ]);
    assert!(sandbox.read("a.npy.ebz") == sandbox.read("b.npy.ebz"));

    let region = ["decompress", "a.npy.ebz", "--region", "2:5,:,7", "-o"];
    sandbox.ok(&[&region[..], &["part.f32"]].concat());
    let expected: Vec<f32> = (2..5)
        .flat_map(|z| (0..12).map(move |y| (z * 12 + y) * 14 + 7))
        .map(|i| values[i])
        .collect();
    assert_eq!(values_of(&sandbox.read("part.f32")), expected);
    sandbox.ok(&[&region[..], &["part.npy"]].concat());
    let json = sandbox.json(&["compress", "part.npy", "--lossless"]);
    assert_eq!(json["shape"], serde_json::json!([3, 12, 1]));
}

#[test]
fn npy_in_other_orders_becomes_c_order() {
    let sandbox = Sandbox::new();
    let values = field(3 * 4 * 5);
    let big: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
    sandbox.write("big.npy", &npy(">f4", false, "(3, 4, 5)", &big));
    let mut columns = vec![0f64; 60];
    for (i, value) in values.iter().enumerate() {
        let (z, y, x) = (i / 20, i / 5 % 4, i % 5);
        columns[z + 3 * (y + 4 * x)] = f64::from(*value);
    }
    let little: Vec<u8> = columns.iter().flat_map(|v| v.to_le_bytes()).collect();
    let big: Vec<u8> = columns.iter().flat_map(|v| v.to_be_bytes()).collect();
    sandbox.write("fortran.npy", &npy("<f8", true, "(3, 4, 5)", &little));
    sandbox.write("both.npy", &npy(">f8", true, "(3, 4, 5)", &big));
    for name in ["big", "fortran", "both"] {
        sandbox.ok(&[
            "compress",
            &format!("{name}.npy"),
            "--range",
            "0",
            "-o",
            "x.ebz",
            "-f",
        ]);
        sandbox.ok(&["decompress", "x.ebz", "-o", "x.raw", "-f"]);
        let raw = sandbox.read("x.raw");
        let got: Vec<f32> = match name {
            "big" => values_of(&raw),
            _ => raw
                .as_chunks::<8>()
                .0
                .iter()
                .map(|word| f64::from_le_bytes(*word) as f32)
                .collect(),
        };
        assert_eq!(got, values, "{name}");
    }
    // No temporary copies are left.
    let left: Vec<_> = sandbox
        .contents()
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(left.len(), 5, "{left:?}");
}

#[test]
fn pipes_on_both_ends() {
    let sandbox = Sandbox::new();
    let values = field(20 * 30);
    let raw = bytes_of(&values);
    let file = npy("<f4", false, "(20, 30)", &raw);
    for (input, layout) in [(&raw, &["-t", "f32", "-s", "20x30"][..]), (&file, &[][..])] {
        for bound in [&["--abs", "0.1"], &["--range", "0.01"]] {
            let args = [&["compress", "-"], layout, bound].concat();
            let compressed = sandbox.run_with_input(&args, input);
            assert_eq!(compressed.status.code(), Some(0), "{compressed:?}");
            for region in [&[][..], &["--region", "0:20"]] {
                let args = [&["decompress", "-"], region].concat();
                let back = sandbox.run_with_input(&args, &compressed.stdout);
                assert_eq!(back.status.code(), Some(0), "{back:?}");
                assert_within(&values, &values_of(&back.stdout), 0.1);
            }
            for command in ["info", "verify"] {
                let output = sandbox.run_with_input(&[command, "-"], &compressed.stdout);
                assert_eq!(output.status.code(), Some(0), "{output:?}");
            }
        }
    }
    assert!(sandbox.contents().is_empty(), "temporary files are left");
}

#[test]
fn a_series_of_frames() {
    let sandbox = Sandbox::new();
    for step in 0..3 {
        let values: Vec<f32> = field(40).iter().map(|v| v + step as f32).collect();
        sandbox.write("step.raw", &bytes_of(&values));
        let step = format!("step={step}");
        sandbox.ok(&[
            "compress",
            "step.raw",
            "-t",
            "f32",
            "-s",
            "5x8",
            "--lossless",
            "-o",
            "all.ebz",
            "--append",
            "--meta",
            &step,
            "--meta",
            "who=me",
            "--stats",
        ]);
    }
    let info = sandbox.json(&["info", "all.ebz"]);
    assert_eq!(info["frames"].as_array().unwrap().len(), 3);
    assert_eq!(
        info["frames"][2]["metadata"],
        serde_json::json!({"step": 2, "who": "me"})
    );
    assert!(
        sandbox
            .ok(&["info", "all.ebz"])
            .contains("frame 2: f32 5x8")
    );
    sandbox.ok(&["verify", "all.ebz", "--against", "step.raw", "--frame", "2"]);
    sandbox.fails(
        2,
        &["verify", "all.ebz", "--against", "step.raw"],
        &["3 frames", "--frame"],
    );

    sandbox.ok(&["decompress", "all.ebz", "--frame", "1", "-o", "one.raw"]);
    sandbox.ok(&["decompress", "all.ebz", "-o", "all.npy"]);
    let all = sandbox.json(&["compress", "all.npy", "--lossless", "-o", "again.ebz"]);
    assert_eq!(all["shape"], serde_json::json!([3, 5, 8]));
    let raw = sandbox.run_with_input(&["decompress", "-"], &sandbox.read("all.ebz"));
    assert_eq!(raw.stdout.len(), 3 * 160);
    assert_eq!(raw.stdout[160..320], sandbox.read("one.raw"));
    sandbox.fails(
        2,
        &["decompress", "all.ebz", "--frame", "3", "-o", "x"],
        &["no frame 3"],
    );

    // A failing append leaves the file as it was.
    sandbox.write("short.raw", &[0; 100]);
    let args = [
        "compress", "-", "-t", "f32", "-s", "5x8", "--abs", "1", "-o", "all.ebz", "--append",
    ];
    let before = sandbox.read("all.ebz");
    let output = sandbox.run_with_input(&args, &sandbox.read("short.raw"));
    sandbox::assert_failure(&output, 2, &args, &["holds 100 bytes"]);
    assert!(sandbox.read("all.ebz") == before);
}

#[test]
fn a_series_with_a_ratio_tells_its_bounds() {
    let sandbox = Sandbox::new();
    let mut bounds = Vec::new();
    for step in 0..3 {
        let scale = 1.0 + step as f32;
        let values: Vec<f32> = field(20_000).iter().map(|v| v * scale).collect();
        sandbox.write("step_100x200.f32", &bytes_of(&values));
        let args = [
            "compress",
            "step_100x200.f32",
            "--ratio",
            "6",
            "-o",
            "all.ebz",
            "--append",
        ];
        let report = sandbox.json(&args);
        let frame = &report["frame"];
        assert!(frame["search"]["found"].as_f64().unwrap() >= 6.0, "{frame}");
        assert!(frame["search"]["codings"].as_u64().unwrap() >= 1, "{frame}");
        bounds.push(frame["tolerance"]["abs"].as_f64().unwrap());
    }
    let largest = bounds.iter().copied().fold(0.0, f64::max);
    assert_eq!(sandbox.json(&["info", "all.ebz"])["largest_abs"], largest);
    assert!(sandbox.ok(&["info", "all.ebz"]).contains(", largest abs "));

    // A target that no bound hits: what was found instead, and a target out of reach.
    let values: Vec<f32> = (0..40_000u32)
        .map(|i| 2.0 * (i.wrapping_mul(2_654_435_761) >> 31) as f32 - 1.0)
        .collect();
    sandbox.write("two_200x200.f32", &bytes_of(&values));
    let jump = sandbox.run(&["compress", "two_200x200.f32", "--ratio", "100"]);
    let said = String::from_utf8_lossy(&jump.stderr).into_owned();
    assert!(
        jump.status.success() && said.contains("the curve jumps over it"),
        "{said}"
    );
    // Both sides of the jump.
    assert_eq!(said.matches(" with |error| <= ").count(), 2, "{said}");
    let exact = sandbox.run(&["compress", "two_200x200.f32", "--ratio", "1.5", "-f"]);
    let said = String::from_utf8_lossy(&exact.stderr).into_owned();
    assert!(said.contains("exceeded by an exact copy"), "{said}");
    let least = sandbox.run(&["compress", "two_200x200.f32", "--psnr", "0.1", "-f"]);
    let said = String::from_utf8_lossy(&least.stderr).into_owned();
    assert!(said.contains("exceeded by every bound"), "{said}");
    sandbox.fails(
        2,
        &["compress", "two_200x200.f32", "--ratio", "1e9", "-fq"],
        &["cannot be reached", "this array allows"],
    );
}

#[test]
fn type_and_shape_from_the_name_only_if_nothing_else_tells() {
    let sandbox = Sandbox::new();
    sandbox.write("wave_5x8.f32", &bytes_of(&field(40)));
    let output = sandbox.run(&["compress", "wave_5x8.f32", "--lossless", "-o", "a.ebz"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("from its name: f32, 5x8"), "{text}");
    sandbox.ok(&[
        "compress",
        "wave_5x8.f32",
        "-s",
        "40",
        "--lossless",
        "-o",
        "b.ebz",
    ]);
    let info = sandbox.json(&["info", "b.ebz"]);
    assert_eq!(info["frames"][0]["shape"], serde_json::json!([40]));
    sandbox.write("wave.f32", &bytes_of(&field(40)));
    sandbox.fails(
        2,
        &["compress", "wave.f32", "--lossless"],
        &["what is its shape", "-s"],
    );
    sandbox.write("wave_40", &bytes_of(&field(40)));
    sandbox.fails(
        2,
        &["compress", "wave_40", "--lossless"],
        &["what is its type", "-t"],
    );
}

#[test]
fn arrays_without_values_and_scalars() {
    let sandbox = Sandbox::new();
    sandbox.write("none.npy", &npy("<f4", false, "(0, 5)", &[]));
    sandbox.write("one.npy", &npy("<f8", false, "()", &1.5f64.to_le_bytes()));
    for name in ["none.npy", "one.npy"] {
        let stored = format!("{name}.ebz");
        sandbox.ok(&["compress", name, "--range", "0.1", "--stats"]);
        sandbox.ok(&["verify", &stored, "--against", name]);
        sandbox.ok(&["decompress", &stored, "-o", "again.npy", "-f"]);
        sandbox.ok(&["compare", name, "again.npy"]);
    }
}

#[test]
fn fill_values_come_back_and_do_not_count() {
    let sandbox = Sandbox::new();
    let mut values = field(400);
    values[3] = -1e30;
    values[77] = f32::NAN;
    sandbox.write("a.npy", &npy("<f4", false, "(400,)", &bytes_of(&values)));
    let json = sandbox.json(&[
        "compress", "a.npy", "--range", "1e-3", "--fill", "-1e30", "--stats",
    ]);
    assert!(json["frame"]["tolerance"]["abs"].as_f64().unwrap() < 0.011);
    assert!(json["metrics"]["error_stat:max_error"].as_f64().unwrap() < 0.011);
    sandbox.ok(&["decompress", "a.npy.ebz", "-o", "b.raw"]);
    let back = values_of(&sandbox.read("b.raw"));
    assert_eq!(back[3], -1e30);
    assert_eq!(back[77].to_bits(), values[77].to_bits());
}

#[test]
fn compare_tells_numbers_and_draws() {
    let sandbox = Sandbox::new();
    // Multiples of 1/16, so that the errors are exact.
    let a: Vec<f32> = field(6000)
        .iter()
        .map(|v| (v * 16.0).round() / 16.0)
        .collect();
    let b: Vec<f32> = a
        .iter()
        .enumerate()
        .map(|(i, v)| v + [0.5, -0.25][i % 2])
        .collect();
    sandbox.write("a_10x20x30.f32", &bytes_of(&a));
    sandbox.write("b.npy", &npy("<f4", false, "(10, 20, 30)", &bytes_of(&b)));
    let json = sandbox.json(&[
        "compare",
        "a_10x20x30.f32",
        "b.npy",
        "--plot",
        "p.png",
        "-q",
    ]);
    assert_eq!(json["error_stat:max_error"], 0.5);
    let rmse = json["error_stat:rmse"].as_f64().unwrap();
    assert!((rmse - (0.15625f64).sqrt()).abs() < 1e-6);
    let range = json["error_stat:value_range"].as_f64().unwrap();
    let psnr = json["error_stat:psnr"].as_f64().unwrap();
    assert!((psnr - 20.0 * (range / rmse).log10()).abs() < 1e-9);
    assert!(json["autocorr:autocorr"].as_f64().unwrap() < -0.99);
    assert!(json["ssim:ssim"].as_f64().unwrap() < 1.0);
    assert!(json["error_stat:max_pw_rel_error"].as_f64().unwrap() > 0.02);
    assert!(sandbox.read("p.png").starts_with(b"\x89PNG"));
    let text = sandbox.ok(&["compare", "a_10x20x30.f32", "b.npy"]);
    assert!(text.contains("PSNR") && text.contains("####"), "{text}");

    // An .ebz file takes part, and tells raw files what they are.
    std::fs::rename(sandbox.path("a_10x20x30.f32"), sandbox.path("a.raw")).unwrap();
    sandbox.ok(&["compress", "b.npy", "--lossless"]);
    let json = sandbox.json(&["compare", "a.raw", "b.npy.ebz"]);
    assert_eq!(json["error_stat:max_error"], 0.5);
    sandbox.fails(
        2,
        &["compare", "a.raw", "b.npy", "--plot", "p.png"],
        &["p.png exists"],
    );
    sandbox.write("c.npy", &npy("<f4", false, "(5,)", &bytes_of(&a[..5])));
    sandbox.fails(
        2,
        &["compare", "c.npy", "b.npy"],
        &["10x20x30", "of shape 5"],
    );
}

#[test]
fn verify_tells_a_broken_bound() {
    let sandbox = Sandbox::new();
    let mut values = field(100);
    sandbox.write("a.raw", &bytes_of(&values));
    sandbox.ok(&[
        "compress", "a.raw", "-t", "f32", "-s", "100", "--abs", "0.01",
    ]);
    sandbox.ok(&["verify", "a.raw.ebz", "--against", "a.raw"]);
    values[50] += 1.0;
    sandbox.write("b.raw", &bytes_of(&values));
    sandbox.fails(
        1,
        &["verify", "a.raw.ebz", "--against", "b.raw"],
        &["break the bound"],
    );
}

#[test]
fn every_codec_is_listed_and_measured() {
    let sandbox = Sandbox::new();
    sandbox.write("a_8x16x16.f32", &bytes_of(&field(2048)));
    let list = sandbox.json(&["codecs"]);
    let names: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["name"].clone())
        .collect();
    assert_eq!(names.len(), ebz::codec::TABLE.len());
    let text = sandbox.ok(&["codecs"]);
    let json = sandbox.json(&[
        "bench",
        "a_8x16x16.f32",
        "--codec",
        "all",
        "--range",
        "1e-2",
        "--range",
        "1e-3",
        "--lossless",
        "--pointwise",
        "1e-2",
        "--precision",
        "12",
        "--repeats",
        "1",
        "--min-size",
        "1",
        "--quiet",
    ]);
    assert_eq!(json[0]["tiles"], 128);
    let rows = json[0]["rows"].as_array().unwrap();
    for name in &names {
        assert!(text.contains(name.as_str().unwrap()));
        assert!(rows.iter().any(|row| row["compressor"] == *name), "{name}");
    }
    for row in rows {
        assert!(row["ratio"].as_f64().unwrap() > 0.9, "{row}");
        assert!(
            row["error_over_bound"].as_f64().unwrap_or(0.0) <= 1.0,
            "{row}"
        );
    }
    let text = sandbox.ok(&[
        "bench",
        "a_8x16x16.f32",
        "--repeats",
        "1",
        "--threads",
        "2",
        "--min-size",
        "0",
    ]);
    assert!(text.contains("memcpy") && text.contains("wall"), "{text}");

    // Parameters change what is measured, and must be known to all codecs.
    let bench = [
        "bench",
        "a_8x16x16.f32",
        "--range",
        "1e-3",
        "--repeats",
        "1",
        "--min-size",
        "0",
    ];
    let ratio = |more: &[&str]| {
        let json = sandbox.json(&[&bench[..], more].concat());
        json[0]["rows"][0]["ratio"].as_f64().unwrap()
    };
    let isotropic = ratio(&["--codec", "interp", "--param", "mode=isotropic"]);
    let none = ratio(&["--codec", "interp", "--param", "mode=lorenzo-0"]);
    assert!(isotropic != none, "{isotropic}");
    let favor = ["--codec", "auto", "--favor", "ratio"];
    let json = sandbox.json(&[&bench[..], &favor].concat());
    let chosen = json[0]["rows"][0]["compressor"].as_str().unwrap();
    assert!(chosen.starts_with("auto ("), "{chosen}");
    let wrong = [&bench[..], &["--codec", "fz", "--param", "mode=isotropic"]].concat();
    sandbox.fails(2, &wrong, &["mode"]);
    let wrong = [&bench[..], &["--codec", "interp", "--param", "isotropic"]].concat();
    sandbox.fails(2, &wrong, &["KEY=VALUE"]);
}

#[test]
fn a_killed_writer_is_recovered() {
    let sandbox = Sandbox::new();
    let values = field(8 * 100);
    sandbox.write("a.raw", &bytes_of(&values));
    sandbox.ok(&[
        "compress",
        "a.raw",
        "-t",
        "f32",
        "-s",
        "8x100",
        "--lossless",
        "--chunk",
        "1x100",
    ]);
    let whole = sandbox.read("a.raw.ebz");
    sandbox.write("cut.ebz", &whole[..whole.len() / 2]);
    sandbox.fails(2, &["decompress", "cut.ebz"], &["truncated", "ebz recover"]);
    let output = sandbox.run(&["recover", "cut.ebz", "-o", "saved.ebz"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("frame 0") && text.contains("lost (now NaN)"),
        "{text}"
    );
    sandbox.ok(&["verify", "saved.ebz"]);
    sandbox.ok(&["decompress", "saved.ebz", "-o", "saved.raw"]);
    let saved = values_of(&sandbox.read("saved.raw"));
    assert_eq!(saved[..100], values[..100]);
    assert!(saved[799].is_nan());
    sandbox.fails(2, &["recover", "cut.ebz", "-o", "saved.ebz"], &["exists"]);
    let list = sandbox.json(&["recover", "a.raw.ebz", "-o", "copy.ebz"]);
    assert_eq!(list[0]["lost"], serde_json::json!([]));
    assert!(sandbox.read("copy.ebz") == whole);
}

#[test]
fn links_limit_the_overall_throughput() {
    let sandbox = Sandbox::new();
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../samples/wave_32x64x64.npy"
    );
    let quick = ["--range", "1e-3", "--repeats", "1", "--min-size", "1"];
    let links = ["--link", "1MB/s", "--link", "11.4GB/s"];
    let json = sandbox.json(&[&["bench", sample][..], &quick, &links].concat());
    let row = &json[0]["rows"][0];
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let speed = number(&json[0]["bytes"]) / number(&row["compress"]);
    for (overall, rate) in [(0, 1e6), (1, 11.4e9)] {
        let expected = 1.0 / (1.0 / (rate * number(&row["ratio"])) + 1.0 / speed);
        let overall = number(&row["overall"][overall]);
        assert!((overall / expected - 1.0).abs() < 1e-9, "{json}");
    }
}

#[test]
fn help_has_examples_for_every_command() {
    let sandbox = Sandbox::new();
    for command in [
        "compress",
        "decompress",
        "info",
        "verify",
        "compare",
        "codecs",
        "devices",
        "bench",
        "recover",
        "completions",
        "man",
    ] {
        let text = sandbox.ok(&[command, "--help"]);
        assert!(
            text.contains("Example") && text.contains(&format!("  ebz {command} ")),
            "{text}"
        );
    }
    assert!(sandbox.ok(&["--version"]).starts_with("ebz "));
}

#[test]
fn the_sample_field_compresses() {
    let sandbox = Sandbox::new();
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../samples/wave_32x64x64.npy"
    );
    let json = sandbox.json(&[
        "compress", sample, "--range", "1e-3", "-o", "wave.ebz", "--stats",
    ]);
    assert_eq!(json["shape"], serde_json::json!([32, 64, 64]));
}
