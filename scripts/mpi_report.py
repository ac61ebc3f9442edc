#!/usr/bin/env python3
"""Tables in Markdown of what scripts/mpi_tables measured, and what a model makes of it.

    mpi_report.py tables.jsonl
"""

import json
import sys

CORES = 2  # of the machine that was measured, on which all ranks run
RANKS = 4


def table(columns, rows):
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def measured(rows):
    for operation in dict.fromkeys(row["operation"] for row in rows):
        for place in dict.fromkeys(row["place"] for row in rows if row["operation"] == operation):
            chosen = [row for row in rows if (row["operation"], row["place"]) == (operation, place)]
            megabytes = chosen[0]["raw_bytes"] / 1e6
            print(f"**{operation}**, {place}, {megabytes:.0f} MB raw:\n")
            table(
                ["way", "ratio", "seconds (least)", "seconds (median)", "× raw", "× raw / ratio", "× raw (medians)"],
                [
                    [
                        row["way"] + (", sent raw" if row["way"] == "adaptive" and not row["compressed"] else ""),
                        f"{row['ratio']:.2f}",
                        f"{row['seconds']:.3f}",
                        f"{row['median']:.3f}",
                        f"{row['speedup']:.2f}",
                        f"{row['speedup'] / row['ratio']:.2f}",
                        f"{row['median_speedup']:.2f}",
                    ]
                    for row in chosen
                ],
            )


def gather_model(codec, raw_bytes, bytes_per_second):
    """Least and most seconds of a gather on the measured machine: all overlaps, or nothing does.

    Encoding and decoding of all ranks share the cores."""
    link = raw_bytes / codec["ratio"] / bytes_per_second
    work = raw_bytes * (codec["encode"] + codec["decode"]) / CORES
    return max(link, work), link + work


def checked(rows, codecs):
    print("Model and measurement of gather: seconds if all overlaps, if nothing does, and as measured:\n")
    lines = []
    for row in rows:
        if row["operation"] != "gather" or "Mbit" not in row["place"] or row["way"] not in codecs:
            continue
        speed = float(row["place"].split()[0]) * 1e6 / 8
        least, most = gather_model(codecs[row["way"]], row["raw_bytes"], speed)
        inside = "yes" if 0.95 * least <= row["seconds"] <= 1.05 * most else "no"
        lines.append(
            [row["place"], row["way"], f"{least:.3f}", f"{row['seconds']:.3f}", f"{most:.3f}", inside]
        )
    table(["link", "codec", "overlapped", "measured", "one after the other", "within 5 %"], lines)


def projected(codecs):
    """128 nodes with the paper's rates for raw data, and speeds and ratios of codecs as measured here."""
    nodes, node_bytes = 128, 3.0e9
    write, gather = 30.51e9, 12.37e9
    total = nodes * node_bytes
    print("Projection to 128 nodes of 3.0 GB, speed-up over raw, with 1 and with 32 cores per node:\n")
    lines = []
    for name, codec in codecs.items():
        cells = [name, f"{codec['ratio']:.1f}"]
        for seconds_raw, rate, decodes in [
            (total / write, write, None),
            (total / gather, gather, False),
            (total / gather, gather, True),
        ]:
            pair = []
            for cores in (1, 32):
                encode = node_bytes * codec["encode"] / cores
                move = total / codec["ratio"] / rate
                if decodes is None:
                    seconds = encode + move
                else:
                    seconds = max(encode, move, total * codec["decode"] / cores if decodes else 0)
                pair.append(f"{seconds_raw / seconds:.1f}")
            cells.append(" / ".join(pair))
        lines.append(cells)
    table(["codec", "ratio", "write", "gather, not decoded", "gather, decoded at the root"], lines)


def main():
    rows = [json.loads(line) for line in open(sys.argv[1])]
    rows = [row for row in rows if row["place"] != "counted"]
    codecs = {row["way"]: row for row in rows if row["operation"] == "codec"}
    rows = [row for row in rows if row["operation"] != "codec"]
    measured(rows)
    print("Codecs on one core, by processor time:\n")
    table(
        ["codec", "ratio", "encode, GB/s", "decode, GB/s"],
        [
            [name, f"{codec['ratio']:.2f}", f"{1e-9 / codec['encode']:.2f}", f"{1e-9 / codec['decode']:.2f}"]
            for name, codec in codecs.items()
        ],
    )
    checked(rows, codecs)
    projected(codecs)


main()
