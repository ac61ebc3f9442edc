"""Writes the table of docs/reliability.md from all runs of scripts/fuzz (fuzz/runs.csv)."""

import csv
import pathlib

import record

ROOT = pathlib.Path(__file__).parent.parent


def table():
    with open(ROOT / "fuzz/runs.csv") as file:
        runs = list(csv.DictReader(file))
    names = list(dict.fromkeys(run["target"] for run in runs))
    print(
        "| target | libFuzzer: CPU minutes | executions | edges "
        "| without a sanitizer: CPU minutes | executions | calls of a decoder | with values | crashes |"
    )
    print("|---|---|---|---|---|---|---|---|---|")

    def total(rows, key):
        return sum(int(run[key] or 0) for run in rows)

    def minutes(rows):
        return f"{total(rows, 'cpu_seconds') / 60:.1f}"

    for name in [*names, None]:
        rows = [run for run in runs if name in (None, run["target"])]
        guided = [run for run in rows if run["engine"] == "libfuzzer"]
        stable = [run for run in rows if run["engine"] == "stable"]
        decodes, decoded = (f"{total(stable, key):,}" for key in ("decodes", "decoded"))
        edges = max((int(run["edges"]) for run in guided), default=0) if name else ""
        print(
            f"| {name or 'all'} | {minutes(guided)} | {total(guided, 'executions'):,} | {edges} "
            f"| {minutes(stable)} | {total(stable, 'executions'):,} "
            f"| {decodes} | {decoded} | {total(rows, 'crashes')} |"
        )


record.run("fuzzing", table, ROOT / "docs/reliability.md")
