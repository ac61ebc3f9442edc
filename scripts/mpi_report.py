#!/usr/bin/env python3
"""Tables in Markdown of what scripts/mpi_tables measured.

    mpi_report.py tables.jsonl
"""

import json
import sys


def table(rows, columns):
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def number(row, name, digits=2):
    return f"{row[name]:.{digits}f}" if name in row else ""


def main():
    rows = [json.loads(line) for line in open(sys.argv[1])]
    for operation in dict.fromkeys(row["operation"] for row in rows):
        print(f"{operation}:\n")
        chosen = [row for row in rows if row["operation"] == operation]
        table(
            [
                [
                    str(row.get("mbit") or ""),
                    row["way"] + ("" if row.get("compressed", True) or row["way"] == "raw" else " (raw)"),
                    number(row, "ratio"),
                    number(row, "seconds", 3),
                    number(row, "speedup"),
                    f"{row['speedup'] / row['ratio']:.2f}" if row["ratio"] > 1.05 else "",
                    number(row, "model_raw", 3),
                    number(row, "model_compressed", 3),
                ]
                for row in chosen
            ],
            ["Mbit/s", "way", "ratio", "seconds", "× raw", "× raw / ratio", "model, raw", "model, compressed"],
        )


main()
