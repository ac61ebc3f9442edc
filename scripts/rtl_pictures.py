#!/usr/bin/env python3
"""Makes the pictures of docs/hardware.md: block diagrams with graphviz, timing diagrams from traces of the simulation.

    rtl_pictures.py MEASURE    MEASURE is the program of crates/ebz-rtl/examples/measure.rs
"""

import csv
import io
import pathlib
import re
import subprocess
import sys

PICTURES = pathlib.Path(__file__).parent.parent / "docs" / "pictures"

# Nodes (name, text), and edges (from, to, text); buses of flits come from `in` and go to `out`.
DIAGRAMS = {
    "hardware_fre_compress": (
        [("words", "flit_to_words\\n128 → 32"), ("encode", "fre_encode\\nTable 1, 2–27 bits"),
         ("previous", "previous value"), ("compact", "fre_compact\\n2–27 → 32"), ("flits", "words_to_flit\\n32 → 128"),
         ("control", "values left")],
        [("in", "words", "128"), ("words", "encode", "32, one value"), ("previous", "encode", "32"),
         ("encode", "previous", "rounded"), ("encode", "compact", "code, length"), ("compact", "flits", "32"),
         ("flits", "out", "128, last"), ("words", "control", "count"), ("control", "flits", "count, last")]),
    "hardware_fre_decompress": (
        [("words", "flit_to_words\\n128 → 32"), ("window", "three words, offset\\n96 → 27"),
         ("measure", "fre_decode\\nlength of the code"), ("decode", "register, fre_decode\\nvalue"),
         ("previous", "previous value"), ("flits", "words_to_flit\\n32 → 128"), ("control", "values left")],
        [("in", "words", "128"), ("words", "window", "32"), ("window", "measure", "27"), ("measure", "window", "length"),
         ("window", "decode", "27"), ("previous", "decode", "32"), ("decode", "previous", "value"),
         ("decode", "flits", "32, one value"), ("flits", "out", "128, last"), ("window", "control", "count"),
         ("control", "decode", "count, last")]),
    "hardware_zfp_compress": (
        [("header", "header flit"), ("rows", "rows of a block\\nlargest exponent"), ("quantize", "4 × zfp_quantize"),
         ("x", "zfp_lift x"), ("t1", "zfp_transpose\\n4 × 4"), ("y", "zfp_lift y"),
         ("t4", "zfp_transpose\\n4 × 4 × 4\\n(three axes)"), ("z", "zfp_lift z\\n(three axes)"),
         ("block", "negabinary\\nblock, zfp_order"), ("pack", "zfp_pack\\nblock, word by word"),
         ("word", "de_zfp_word, 2 stages: a plane, or\\nzfp_v_word, 5 stages: eight planes"),
         ("join", "flit_join, 2 stages\\n→ 128"), ("slice", "register_slice")],
        [("in", "header", ""), ("in", "rows", "128, four values"), ("rows", "quantize", "128"), ("quantize", "x", ""),
         ("x", "t1", ""), ("t1", "y", ""), ("y", "t4", ""), ("t4", "z", ""), ("z", "block", "128"),
         ("block", "pack", "64 × 32 or 16 × 32"), ("pack", "word", "block, index"), ("word", "join", "word, length"),
         ("join", "slice", "128, last"), ("slice", "out", "128, last"), ("header", "pack", "planes"),
         ("header", "slice", "")]),
    "hardware_zfp_decompress": (
        [("read", "de_zfp_read: a plane, or\\nzfp_v_read: eight planes"),
         ("block", "block, zfp_order\\nnegabinary"), ("z", "zfp_lift z\\n(three axes)"),
         ("t4", "zfp_transpose\\n4 × 4 × 4\\n(three axes)"), ("y", "zfp_lift y"), ("t1", "zfp_transpose\\n4 × 4"),
         ("x", "zfp_lift x"), ("dequantize", "4 × zfp_dequantize"), ("header", "header flit"),
         ("slice", "register_slice")],
        [("in", "read", "128"), ("read", "block", "64 × 32 or 16 × 32"), ("block", "z", "128"), ("z", "t4", ""),
         ("t4", "y", ""), ("y", "t1", ""), ("t1", "x", ""), ("x", "dequantize", ""),
         ("dequantize", "slice", "128, last"), ("read", "header", ""), ("header", "slice", ""),
         ("slice", "out", "128, last")]),
    "hardware_de_zfp_read": (
        [("flits", "three flits, offset"), ("measure", "de_zfp_decode\\nlength of the code"),
         ("shift", "shifter\\n2 stages"), ("decode", "de_zfp_decode\\n1 stage"), ("block", "block")],
        [("in", "flits", "128"), ("flits", "measure", "14"), ("measure", "flits", "length"), ("flits", "shift", "384"),
         ("shift", "decode", "66"), ("decode", "block", "64, a plane"), ("block", "out", "64 × 32")]),
    "hardware_zfp_v_read": (
        [("buffer", "eight flits"), ("window", "window"), ("heads", "headers\\nsum of widths, 3 stages"),
         ("widths", "bit_split\\nwidths of planes"), ("split", "bit_split\\n3 stages"), ("block", "block")],
        [("in", "buffer", "128"), ("buffer", "window", "256"), ("window", "heads", "110"),
         ("heads", "window", "next headers"), ("heads", "widths", "codes"), ("widths", "window", "next planes"),
         ("window", "split", "128"), ("widths", "split", "8 × 5"), ("split", "block", "8 × 16, planes"),
         ("block", "out", "16 × 32")]),
}

TRACES = ["fre_compress_6", "fre_decompress_6", "zfp_compress_2", "zfp_decompress_2"]
CYCLES = 60
# Cycles beside each other in a picture.
PANEL = 20


def block_diagram(nodes, edges, out):
    # Long chains go down the page.
    lines = [f"digraph {{ rankdir={'LR' if len(nodes) < 8 else 'TB'}; nodesep=0.25; ranksep=0.35; bgcolor=white;",
             'node [shape=box, style="rounded,filled", fillcolor="#e8f0fa", color="#34557a", fontname="Helvetica", fontsize=11];',
             'edge [color="#34557a", fontname="Helvetica", fontsize=9];',
             '"in" [label="i_valid, i_data\\ni_ready", shape=plaintext, style=""];',
             f'"out" [label="{out}", shape=plaintext, style=""];']
    lines += [f'"{name}" [label="{text}"];' for name, text in nodes]
    lines += [f'"{a}" -> "{b}" [label="{text}"];' for a, b, text in edges]
    dot = "\n".join(lines + ["}"])
    svg = subprocess.run(["dot", "-Tsvg"], input=dot, check=True, capture_output=True, text=True).stdout
    # Without the version of graphviz, so that pictures change when diagrams do.
    return re.sub(r"<!-- Generated by.*?-->\n", "", svg, flags=re.S)


def timing_diagram(core, rows):
    """Waves of the ports, and the low words of flits in the cycles in which they are handed over; long ones go on below."""
    step, height, left = 48, 26, 66
    signals = ["clk", "i_valid", "i_ready", "i_data", "o_valid", "o_ready", "o_last", "o_data"]
    panels = [rows[start:start + PANEL] for start in range(0, len(rows), PANEL)]
    width, tall = left + step * PANEL + 10, height * len(signals) + 22
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{tall * len(panels) + 20}" '
           'font-family="monospace" font-size="12"><rect width="100%" height="100%" fill="white"/>',
           f'<text x="4" y="14">{core}: low words of flits, where they are handed over</text>']
    for panel, part in enumerate(panels):
        start = 20 + tall * panel
        svg += [f'<text x="{left + step * cycle + 2}" y="{start + 12}" font-size="9" fill="#777">{PANEL * panel + cycle}</text>'
                for cycle in range(0, len(part), 5)]
        for line, signal in enumerate(signals):
            low = start + height * line + 35
            high = low - 16
            svg.append(f'<text x="4" y="{low - 4}">{signal}</text>')
            points = []
            for cycle, row in enumerate(part):
                x = left + step * cycle
                if signal == "clk":
                    points += [(x, low), (x, high), (x + step / 2, high), (x + step / 2, low)]
                elif signal.endswith("_data"):
                    port = signal[0]
                    taken = row[f"{port}_valid"] == row[f"{port}_ready"] == "1"
                    fill = "#cfe3cf" if taken else "#eeeeee"
                    svg.append(f'<rect x="{x}" y="{high}" width="{step}" height="{low - high}" fill="{fill}" stroke="#888"/>')
                    if taken:
                        svg.append(f'<text x="{x + step / 2:g}" y="{low - 5}" font-size="9" text-anchor="middle">'
                                   f'{row[signal]}</text>')
                else:
                    y = high if row[signal] == "1" else low
                    points += [(x, y), (x + step, y)]
            if points:
                path = " ".join(f"{x:g},{y:g}" for x, y in points)
                svg.append(f'<polyline points="{path}" fill="none" stroke="#34557a" stroke-width="1.3"/>')
    return "\n".join(svg + ["</svg>"]) + "\n"


def main(measure):
    PICTURES.mkdir(exist_ok=True)
    for name, (nodes, edges) in DIAGRAMS.items():
        out = "b_valid, b_values\\nb_ready" if name.endswith("_read") else "o_valid, o_data\\no_last, o_ready"
        (PICTURES / f"{name}.svg").write_text(block_diagram(nodes, edges, out))
    for core in TRACES:
        text = subprocess.run([measure, "trace", core], check=True, capture_output=True, text=True).stdout
        rows = list(csv.DictReader(io.StringIO(text)))[:CYCLES]
        (PICTURES / f"hardware_timing_{core}.svg").write_text(timing_diagram(core, rows))


if __name__ == "__main__":
    main(sys.argv[1])
