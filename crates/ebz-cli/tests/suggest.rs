//! `ebz suggest`: bounds that keep what was asked for.

mod sandbox;

use sandbox::{Sandbox, bytes_of};

/// A wave with values of two decimals in `rounded`, and a smooth one in `smooth`.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    let wave = |i: usize| ((i % 64) as f32 / 9.0).sin() * ((i / 64) as f32 / 13.0).cos() * 30.0;
    let smooth: Vec<f32> = (0..64 * 96).map(wave).collect();
    let rounded: Vec<f32> = smooth.iter().map(|x| (x * 100.0).round() / 100.0).collect();
    sandbox.write("smooth_96x64.f32", &bytes_of(&smooth));
    sandbox.write("rounded_96x64.f32", &bytes_of(&rounded));
    sandbox
}

#[test]
fn wishes_hold_at_the_bound_that_is_suggested() {
    let sandbox = prepared();
    let suggest = [
        "suggest",
        "smooth_96x64.f32",
        "--keep",
        "psnr=60",
        "--keep",
        "ssim=0.999",
    ];
    let found = sandbox.json(&suggest);
    let bound = found["range"].as_f64().unwrap();
    let chosen = |step: &&serde_json::Value| step["range"] == bound;
    let step = found["steps"]
        .as_array()
        .unwrap()
        .iter()
        .find(chosen)
        .unwrap();
    assert!(
        step["criteria"]["psnr"]["value"].as_f64().unwrap() >= 60.0,
        "{step}"
    );
    // The array is so small that all of it was tried.
    let stats = sandbox.json(&[
        "compress",
        "smooth_96x64.f32",
        "--range",
        &bound.to_string(),
        "--codec",
        found["codec"].as_str().unwrap(),
        "--stats",
    ]);
    assert!(
        stats["metrics"]["error_stat:psnr"].as_f64().unwrap() >= 60.0,
        "{stats}"
    );
    assert!(
        stats["metrics"]["ssim:ssim"].as_f64().unwrap() >= 0.999,
        "{stats}"
    );
    // So do criteria that are checked on slices and on neighbours.
    let found = sandbox.json(&[
        "suggest",
        "smooth_96x64.f32",
        "--keep",
        "dssim=0.9995",
        "--keep",
        "gradient=1%",
    ]);
    assert!(found["range"].as_f64().unwrap() > 1e-6, "{found}");
    let criteria = &found["steps"].as_array().unwrap().last().unwrap()["criteria"];
    assert!(
        criteria["dssim"]["value"].as_f64().unwrap() >= 0.9995,
        "{criteria}"
    );
    assert!(
        criteria["gradient"]["value"].as_f64().unwrap() <= 0.01,
        "{criteria}"
    );
    // A stricter wish asks for a smaller bound.
    let stricter = sandbox.json(&["suggest", "smooth_96x64.f32", "--keep", "psnr=100"]);
    assert!(stricter["range"].as_f64().unwrap() < bound);
    let text = sandbox.ok(&suggest);
    assert!(
        text.contains("ebz compress smooth_96x64.f32 --range"),
        "{text}"
    );
}

#[test]
fn digits_that_are_there_are_seen() {
    let sandbox = prepared();
    let text = sandbox.ok(&["suggest", "rounded_96x64.f32"]);
    assert!(
        text.contains("multiples of 1e-2") && text.contains("--abs 4.9e-3"),
        "{text}"
    );
    assert!(
        !sandbox
            .ok(&["suggest", "smooth_96x64.f32"])
            .contains("multiples")
    );
}

#[test]
fn the_command_can_be_run_as_it_is() {
    let sandbox = Sandbox::new();
    let wave = |i: usize| ((i % 64) as f32 / 9.0).sin() * ((i / 64) as f32 / 13.0).cos();
    let mut values: Vec<f32> = (0..64 * 96).map(wave).collect();
    values[100..200].fill(-77.0);
    sandbox.write("my wave.bin", &bytes_of(&values));
    let layout = ["my wave.bin", "-t", "f32", "-s", "96x64", "--fill", "-77"];
    let text = sandbox.ok(&[&["suggest"], &layout[..]].concat());
    assert!(text.contains("without missing values (-77)"), "{text}");
    assert!(
        text.contains("  ebz compress 'my wave.bin' -t f32 -s 96x64 --fill=-77 --range "),
        "{text}"
    );
    // What no bound gives is named, and the bound that gives all else.
    let keep = [&["suggest"], &layout[..], &["--keep", "psnr=400"]].concat();
    let text = sandbox.ok(&keep);
    assert!(text.contains("meets psnr: use --lossless"), "{text}");
    assert!(!text.contains("ebz compress"), "{text}");
    let keep = [&keep[..], &["--keep", "correlation=0.99"]].concat();
    let text = sandbox.ok(&keep);
    assert!(text.contains("All else is met"), "{text}");
    let found = sandbox.json(&keep);
    assert_eq!(found["range"], serde_json::Value::Null);
    assert_eq!(found["nearly"]["without"], serde_json::json!(["psnr"]));
    let bound = found["nearly"]["range"].as_f64().unwrap();
    let codec = found["nearly"]["codec"].as_str().unwrap();
    assert!(
        text.contains(&format!("--range {bound:e} --codec {codec} ")),
        "{text}"
    );
    let alone = [&["suggest"], &layout[..], &["--keep", "correlation=0.99"]].concat();
    assert!(bound <= sandbox.json(&alone)["range"].as_f64().unwrap());
}

#[test]
fn what_cannot_be_done_is_said() {
    let sandbox = prepared();
    sandbox.write("same_40.f32", &bytes_of(&[2.5; 40]));
    sandbox.write("none_0.f32", &[]);
    sandbox.fails(2, &["suggest", "same_40.f32", "-q"], &["--lossless"]);
    sandbox.fails(2, &["suggest", "none_0.f32", "-q"], &["no values"]);
    sandbox.fails(
        2,
        &["suggest", "smooth_96x64.f32", "--keep", "taste=1"],
        &["ssim"],
    );
}
