//! `--device gpu` as users have it. All of these need an adapter: `scripts/test_gpu` runs them.

#![cfg(feature = "gpu")]

mod sandbox;

use sandbox::{Sandbox, bytes_of, field};

const INPUT: [&str; 5] = ["a.raw", "-t", "f32", "-s", "20x30x40"];

fn with_input() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.raw", &bytes_of(&field(20 * 30 * 40)));
    sandbox
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn devices_are_listed() {
    let text = Sandbox::new().ok(&["devices"]);
    assert!(text.contains("vulkan"), "{text}");
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn files_are_those_of_the_cpu() {
    let sandbox = with_input();
    for layout in ["layout=planes", "layout=flags"] {
        let options = ["--range", "1e-3", "--param", layout, "--force", "-o"];
        let compress = [&["compress"], &INPUT[..], &options].concat();
        sandbox.ok(&[&compress[..], &["cpu.ebz"]].concat());
        let output = sandbox.run(&[&compress[..], &["gpu.ebz", "--device", "gpu"]].concat());
        let notices = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && !notices.contains("CPU"),
            "{notices}"
        );
        assert!(
            sandbox.read("cpu.ebz") == sandbox.read("gpu.ebz"),
            "{layout}"
        );
        sandbox.ok(&["decompress", "cpu.ebz", "-o", "cpu.raw", "--force"]);
        let decompress = ["decompress", "cpu.ebz", "-o", "gpu.raw", "--force"];
        sandbox.ok(&[&decompress[..], &["--device", "gpu"]].concat());
        assert!(
            sandbox.read("cpu.raw") == sandbox.read("gpu.raw"),
            "{layout}"
        );
    }
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn what_the_cpu_did_is_told() {
    let sandbox = with_input();
    let compress = [
        &["compress"],
        &INPUT[..],
        &["--lossless", "--device", "gpu"],
    ]
    .concat();
    let output = sandbox.run(&compress);
    let notices = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && notices.contains("done by the CPU"),
        "{notices}"
    );
    let wrong = [
        &["compress"],
        &INPUT[..],
        &["--abs", "1", "--device", "gpu:nobody makes it"],
    ];
    sandbox.fails(2, &wrong.concat(), &["nobody makes it"]);
}

#[test]
#[ignore = "needs an adapter: scripts/test_gpu"]
fn kernels_transfers_and_links_are_measured() {
    let sandbox = with_input();
    let bench = [
        "--range",
        "1e-3",
        "--repeats",
        "1",
        "--min-size",
        "0",
        "--device",
        "gpu",
    ];
    let bench = [&["bench"], &INPUT[..], &bench].concat();
    let text = sandbox.ok(&bench);
    for part in [
        "copy bandwidth",
        "upload",
        "download",
        "% of the copy bandwidth",
        "compact",
        "columns",
        "over a link of 11.4 GB/s",
        "over a link of 32 GB/s",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("the paper's optimizations"));
    let text = sandbox.ok(&[&bench[..], &["--param", "layout=flags", "--link", "7GB/s"]].concat());
    for part in [
        "shuffle+mark",
        "prefix sum",
        "over a link of 7 GB/s",
        "before the paper's optimizations: predict, outliers apart",
        "after them: predict",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
