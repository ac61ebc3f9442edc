#!/usr/bin/env python3
"""Sizes of the cores by open tools: yosys for Cyclone 10 GX and 7 series, nextpnr for iCE40.

    rtl_sizes.py [fre|zfp]      prints tables for docs/hardware.md

These are not the vendors' tools: they estimate, and they do not place for these devices.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

INTEL = "synth_intel_alm -family cyclone10gx -nobram -nolutram -nodsp"
XILINX = "synth_xilinx -family xc7 -flatten -nobram -nodsp -noiopad"

ROOT = pathlib.Path(__file__).parent.parent
CORES = [
    ("fre", "fre_compress", "MANTISSA", 6),
    ("fre", "fre_decompress", "MANTISSA", 6),
    ("fre", "fre_encode", "MANTISSA", 6),
    ("fre", "fre_compact", "WIDTH", 27),
    ("fre", "fre_decode", "MANTISSA", 6),
    ("zfp", "zfp_compress", "AXES", 3),
    ("zfp", "zfp_decompress", "AXES", 3),
    ("zfp", "zfp_compress", "AXES", 2),
    ("zfp", "zfp_decompress", "AXES", 2),
]


def sources(*folders):
    return " ".join(str(path) for folder in folders for path in sorted((ROOT / "rtl" / folder).glob("*.sv")))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def synthesize(core, parameter, value, command, folder):
    """Cells of a core by type."""
    path = folder / f"{core}_{value}_{command.split()[0]}.json"
    output("yosys", "-q", "-p", f"read_verilog -sv {sources('common', 'fre', 'zfp')}; "
           f"chparam -set {parameter} {value} {core}; hierarchy -top {core}; {command}; tee -q -o {path} stat -json")
    return json.loads(path.read_text())["design"]["num_cells_by_type"]


def matching(cells, pattern):
    return sum(count for cell, count in cells.items() if re.fullmatch(pattern, cell))


def main(wanted):
    print(output("yosys", "-V").strip() + "; " +
          subprocess.run(["nextpnr-ice40", "--version"], capture_output=True, text=True).stderr.strip().split("-- ")[-1])
    print()
    print("| core | ALUTs | ALMs, at least–at most | registers | LUTs (7 series) | carry chains | registers |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name)
        cores = [core for core in CORES if wanted in (None, core[0])]
        cells = [[pool.submit(synthesize, *core[1:], command, folder) for command in (INTEL, XILINX)] for core in cores]
        for (_, core, parameter, value), (intel, xilinx) in zip(cores, cells):
            intel, xilinx = intel.result(), xilinx.result()
            six = matching(intel, "MISTRAL_ALUT6")
            small = matching(intel, "MISTRAL_(ALUT[2-5]|NOT|ALUT_ARITH)")
            luts = matching(xilinx, "LUT[1-6]|SRL.*|RAM.*")
            # Two small functions share an ALM if they need no more than eight inputs; a function of six has one alone.
            print(f"| `{core}`, {parameter} = {value} | {six + small:,} | {six + (small + 1) // 2:,}–{six + small:,} "
                  f"| {matching(intel, 'MISTRAL_FF'):,} | {luts:,} | {matching(xilinx, 'CARRY4'):,} "
                  f"| {matching(xilinx, 'FD.*'):,} |", flush=True)
        if wanted in (None, "fre"):
            print()
            print("| core on iCE40 HX8K, placed and routed | logic cells | MHz |")
            print("|---|---|---|")
            for decompress, core in enumerate(["fre_compress", "fre_decompress"]):
                netlist = folder / "netlist.json"
                output("yosys", "-q", "-p", f"read_verilog -sv {sources('common', 'fre', 'size')}; "
                       f"chparam -set DECOMPRESS {decompress} few_pins; synth_ice40 -top few_pins -json {netlist}")
                log = subprocess.run(["nextpnr-ice40", "--hx8k", "--package", "ct256", "--json", netlist, "--freq", "100", "--timing-allow-fail",
                                      "--pcf-allow-unconstrained"], check=True, capture_output=True, text=True).stderr
                cells = re.findall(r"ICESTORM_LC:\s+(\d+)/", log)[-1]
                speed = re.findall(r"Max frequency for clock.*?: ([\d.]+) MHz", log)[-1]
                print(f"| `{core}`, behind shift registers of 256 bits | {int(cells):,} | {float(speed):.0f} |")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
