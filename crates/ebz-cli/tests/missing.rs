//! Values that mark missing data: what the command finds, says and records.

mod sandbox;

use sandbox::{Sandbox, bytes_of, field, values_of};

const COUNT: usize = 6000;

fn ocean(mark: f32) -> Vec<f32> {
    let mut values = field(COUNT);
    let land = values
        .iter_mut()
        .enumerate()
        .filter(|(i, _)| i / 40 % 3 == 0);
    land.for_each(|(_, x)| *x = mark);
    values
}

#[test]
fn marks_are_found_from_files_and_pipes() {
    let sandbox = Sandbox::new();
    for (mark, shown) in [
        (9.96921e36f32, "9.96921e36"),
        (-999.0, "-999"),
        (1e20, "1e20"),
    ] {
        let raw = bytes_of(&ocean(mark));
        sandbox.write("a_60x100.f32", &raw);
        for bound in [
            &["--range", "1e-3"][..],
            &["--abs", "0.01"],
            &["--pointwise", "1e-3"],
            &["--psnr", "70"],
        ] {
            let from_file = [&["compress", "a_60x100.f32", "-o", "a.ebz", "-f"], bound].concat();
            let output = sandbox.run(&from_file);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
            let line = format!("fill value {shown} found (33.333 % of the values)");
            assert!(said.contains(&line), "{bound:?}: {said}");
            assert_eq!(said.matches("--fill none").count(), 1, "{said}");
            let pipe = [
                "compress", "-", "-t", "f32", "-s", "60x100", "-o", "b.ebz", "-f", "-q",
            ];
            let output = sandbox.run_with_input(&[&pipe[..], bound].concat(), &raw);
            assert!(output.status.success() && output.stderr.is_empty());
            assert_eq!(
                sandbox.read("a.ebz"),
                sandbox.read("b.ebz"),
                "{mark} {bound:?}"
            );
            sandbox.ok(&["verify", "a.ebz", "--against", "a_60x100.f32"]);
            sandbox.ok(&["decompress", "a.ebz", "-o", "b.raw", "-f"]);
            let back = values_of(&sandbox.read("b.raw"));
            for (x, y) in ocean(mark).iter().zip(&back) {
                assert!(
                    (*x == mark) == (*y == mark),
                    "{x} became {y} with {bound:?}"
                );
            }
            let told = sandbox.ok(&["info", "a.ebz"]);
            let whole = bound[0] == "--range" || bound[0] == "--psnr";
            let expected = if whole { shown } else { "auto" };
            assert!(told.contains(&format!("fill      {expected}")), "{told}");
        }
    }
}

#[test]
fn the_user_has_the_last_word() {
    let sandbox = Sandbox::new();
    sandbox.write("a_60x100.f32", &bytes_of(&ocean(-999.0)));
    let tolerance = |fill: &[&str]| {
        let args = [
            &[
                "compress",
                "a_60x100.f32",
                "--range",
                "1e-3",
                "-f",
                "--stats",
            ],
            fill,
        ]
        .concat();
        let json = sandbox.json(&args);
        json["frame"]["tolerance"]["abs"].as_f64().unwrap()
    };
    let found = tolerance(&[]);
    assert!(tolerance(&["--fill", "none"]) > 10.0 * found);
    assert!(tolerance(&["--fill", "1e20"]) > 10.0 * found);
    for fill in [
        &["--fill", "auto"][..],
        &["--fill", "-999,1e20"],
        &["--fill", "1e20", "--fill", "-999"],
    ] {
        assert_eq!(tolerance(fill), found, "{fill:?}");
    }
    sandbox.fails(
        2,
        &[
            "compress",
            "a_60x100.f32",
            "--abs",
            "1",
            "--fill",
            "much",
            "-f",
        ],
        &["fill 'much'", "auto"],
    );
}
