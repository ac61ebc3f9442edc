//! `ebz report`: one page that holds all it shows. What it does in a browser is tested by scripts/test_report.

mod sandbox;

use sandbox::{Sandbox, bytes_of, field};
use serde_json::Value;

/// What a page shows.
fn data(sandbox: &Sandbox, name: &str) -> Value {
    let page = String::from_utf8(sandbox.read(name)).unwrap();
    let (_, rest) = page.split_once(r#"id="data">"#).unwrap();
    let (json, rest) = rest.split_once("</script>").unwrap();
    assert!(rest.ends_with("</html>\n"));
    assert!(
        !page.contains("http://") || page.matches("http").count() == 1,
        "only SVG's name"
    );
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_page_holds_slices_errors_spectra_and_trials() {
    let sandbox = Sandbox::new();
    sandbox.write("a_9x32x40.f32", &bytes_of(&field(9 * 32 * 40)));
    sandbox.ok(&[
        "report",
        "a_9x32x40.f32",
        "--abs",
        "0.01",
        "--codec",
        "interp",
    ]);
    let data = data(&sandbox, "a_9x32x40.f32.html");
    assert_eq!(data["shape"], serde_json::json!([9, 32, 40]));
    assert_eq!(data["slices"]["all"].as_array().unwrap().len(), 9);
    assert_eq!(data["bound"], 0.01);
    assert!(data["metrics"]["error_stat:max_error"].as_f64().unwrap() <= 0.01);
    assert_eq!(data["spectra"]["original"].as_array().unwrap().len(), 16);
    let lossy = ebz::codec::TABLE
        .iter()
        .filter(|entry| entry.offers(ebz::BoundKind::Abs) && entry.info.name != "raw");
    assert_eq!(data["trials"].as_array().unwrap().len(), 5 * lossy.count());
    let again = ["report", "a_9x32x40.f32", "--abs", "0.01"];
    sandbox.fails(2, &[&again[..], &["-q"]].concat(), &["exists", "--force"]);
}

#[test]
fn all_options_count() {
    let sandbox = Sandbox::new();
    let wave = |i: usize| ((i as f32 / 30.0).sin()).max(0.0);
    let values: Vec<f32> = (0..64 * 64).map(wave).collect();
    let zeros = values.iter().filter(|&&x| x == 0.0).count() as u64;
    sandbox.write("half_64x64.f32", &bytes_of(&values));
    let exact = |options: &[&str]| {
        let report = [
            "report",
            "half_64x64.f32",
            "-f",
            "--codec",
            "interp",
            "--range",
            "1%",
        ];
        sandbox.ok(&[&report[..], options].concat());
        data(&sandbox, "half_64x64.f32.html")["exact"]
            .as_u64()
            .unwrap()
    };
    assert!(exact(&["--clip", "none"]) < zeros);
    assert!(exact(&["--clip", "none", "--keep-zeros"]) >= zeros);
}

#[test]
fn pages_of_few_values_do_not_boast() {
    let sandbox = Sandbox::new();
    sandbox.write("few_3.f32", &bytes_of(&[1.0, 2.0, 3.0]));
    sandbox.ok(&["report", "few_3.f32"]);
    let data = data(&sandbox, "few_3.f32.html");
    let words = data["summary"]["words"].as_str().unwrap();
    assert!(
        words.contains("times more space") && !words.contains("inf"),
        "{words}"
    );
}

#[test]
fn unusual_arrays_have_pages_too() {
    let sandbox = Sandbox::new();
    let nan = vec![f32::NAN; 40];
    let mut one = vec![7.5f32; 40];
    sandbox.write("constant_40.f32", &bytes_of(&one));
    one[3] = f32::INFINITY;
    sandbox.write("infinite_5x8.f32", &bytes_of(&one));
    sandbox.write("missing_2x4x5.f32", &bytes_of(&nan));
    sandbox.write("single_1.f32", &bytes_of(&[3.0]));
    sandbox.write("<b>_40.f32", &bytes_of(&field(40)));
    for name in [
        "constant_40.f32",
        "infinite_5x8.f32",
        "missing_2x4x5.f32",
        "single_1.f32",
        "<b>_40.f32",
    ] {
        for bound in [
            &["--range", "1%"][..],
            &["--lossless"],
            &["--pointwise", "1%"],
        ] {
            sandbox.ok(&[&["report", name, "-f", "-o", "page.html"], bound].concat());
            assert_eq!(data(&sandbox, "page.html")["name"], name);
        }
    }
    sandbox.write("none_0.f32", &[]);
    sandbox.fails(2, &["report", "none_0.f32", "-q"], &["no values"]);
}
