"""Tables and plots from the CSV files of `bench/run`: `tables.py FOLDER DOCS [--recorded FILE]...`."""

import argparse
import collections
import csv
import math
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Keep text as text, and make the output reproducible.
plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "ebz"})

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
SPEEDS = ("compress_gb_s", "decompress_gb_s")
COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#000000"]


def read(path):
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def short(field):
    return field.rsplit("_", 1)[0]


def bound_of(row):
    return row["bound"].removeprefix("range ")


def title(bound):
    return bound.capitalize() if bound == "lossless" else f"Range {bound}"


def number(text):
    return float(text) if text not in ("", None) else math.nan


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def mean(values):
    values = [value for value in values if value > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def ratios(ours, peers, bounds):
    """A table per bound: a row per field, a column per compressor, the best in bold."""
    text = []
    for bound in bounds:
        cells = collections.defaultdict(dict)
        for row in [*ours, *peers]:
            if float_equal(bound_of(row), bound):
                cells[row["field"]][row.get("codec") or row["peer"]] = number(row["ratio"])
        names = list(dict.fromkeys(name for row in cells.values() for name in row))
        rows = []
        for field, row in sorted(cells.items()):
            best = max(row.values())
            rows.append([short(field), *(mark(row.get(name), best) for name in names)])
        means = [mean([row[name] for row in cells.values() if name in row]) for name in names]
        rows.append(["*geometric mean*", *(f"*{value:.2f}*" for value in means)])
        text.append(f"### {title(bound)}\n\n{table(['field', *names], rows)}")
    return "\n\n".join(text)


def mark(value, best):
    if value is None:
        return ""
    shown = f"{value:.2f}" if value < 1000 else f"{value:.0f}"
    return f"**{shown}**" if value == best else shown


def float_equal(a, b):
    try:
        return math.isclose(float(a), float(b))
    except ValueError:
        return a == b


def speeds(ours, peers):
    rows = []
    for label, part, key in (("ebz", ours, "codec"), ("peers", peers, "peer")):
        for name in dict.fromkeys(row[key] for row in part):
            mine = [row for row in part if row[key] == name]
            rows.append([name, *(f"{mean([number(row[speed]) for row in mine]):.2f}" for speed in SPEEDS)])
    return table(["", "compress GB/s", "decompress GB/s"], rows)


def over(point):
    """The largest error, in bounds; nothing for a lossless compressor."""
    return "" if point["bound"] == "lossless" else f"{number(point['error_over_bound']):.3g}"


def dominated(point, others, keys):
    return any(all(number(other[key]) >= number(point[key]) for key in keys) for other in others)


def open_points(ours, peers):
    """Points of peers that no ebz codec matches in ratio and both speeds."""
    rows, counts = [], collections.Counter()
    for point in peers:
        counts[point["peer"], "all"] += 1
        same = [row for row in ours if row["field"] == point["field"] and float_equal(bound_of(row), bound_of(point))]
        if not dominated(point, same, ("ratio", *SPEEDS)):
            counts[point["peer"], "open"] += 1
            best = max(same, key=lambda row: number(row["ratio"]), default=None)
            rows.append([point["peer"], short(point["field"]), bound_of(point), f"{number(point['ratio']):.2f}",
                         *(f"{number(point[speed]):.2f}" for speed in SPEEDS), over(point),
                         f"{best['codec']} {number(best['ratio']):.2f}" if best else ""])
    peers_named = dict.fromkeys(name for name, _ in counts)
    total = [[name, counts[name, "open"], counts[name, "all"]] for name in peers_named]
    header = ["peer", "field", "bound", "ratio", "compress GB/s", "decompress GB/s", "error / bound", "our best ratio"]
    return table(["peer", "points that no ebz codec dominates", "of"], total), table(header, rows) if rows else "None."


def recorded_points(ours, files, skipped):
    """Ratios measured elsewhere that exceed those of every ebz codec."""
    best = {}
    for row in ours:
        if not is_number(bound_of(row)):
            continue
        key = row["field"], float(bound_of(row))
        best[key] = max(best.get(key, ("", 0)), (row["codec"], number(row["ratio"])), key=lambda pair: pair[1])
    counts, above = collections.Counter(), []
    for path in files:
        for row in read(path):
            key = row["dataset"], float(row["rel"]) if is_number(row["rel"]) else None
            if key not in best or not is_number(row["ratio"]) or short(row["dataset"]) in skipped:
                continue
            counts[row["codec"], "all"] += 1
            if number(row["ratio"]) > best[key][1]:
                counts[row["codec"], "above"] += 1
                above.append([row["codec"], short(row["dataset"]), row["rel"], row["ratio"], "{} {:.2f}".format(*best[key]),
                              broken(row)])
    names = dict.fromkeys(name for name, _ in counts)
    total = [[name, counts[name, "above"], counts[name, "all"]] for name in names]
    rows = table(["compressor", "field", "bound", "ratio", "our best", "its error / bound"], above) if above else "None."
    return table(["compressor", "ratios above all of ours", "of"], total), rows


def broken(row):
    error = row.get("maxerr_over") or row.get("err_over_bound") or ""
    return f"{float(error):.3g}" if is_number(error) else ""


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def pareto(ours, peers, field, bound, path):
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    points = [row for row in [*ours, *peers] if row["field"] == field
              and (float_equal(bound_of(row), bound) or row["bound"] == "lossless" and "peer" in row)]
    names = list(dict.fromkeys(row.get("codec") or row["peer"] for row in points))
    for axis, speed in zip(axes, SPEEDS):
        for row in points:
            name = row.get("codec") or row["peer"]
            colour = COLOURS[names.index(name) % len(COLOURS)]
            axis.scatter(number(row[speed]), number(row["ratio"]), color=colour, marker="o" if "codec" in row else "^",
                         label=name if axis is axes[0] else None, s=45, zorder=3)
        axis.set(xscale="log", yscale="log", xlabel=speed.split("_")[0] + " GB/s")
        axis.grid(alpha=0.3, which="both")
    axes[0].set_ylabel("ratio")
    figure.suptitle(f"{short(field)}, range {bound}: up and to the right is better")
    figure.legend(loc="center right", fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0, 0.82, 1))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def scale(rows):
    text = []
    sizes = [row for row in rows if row["threads"] == "1"]
    cells = collections.defaultdict(dict)
    for row in sizes:
        cells[int(row["bytes"])][row["codec"]] = row
    names = list(dict.fromkeys(row["codec"] for row in sizes))
    body = [[human(size), *(f"{number(row[name][speed]):.2f}" for name in names for speed in SPEEDS)]
            for size, row in sorted(cells.items())]
    header = ["size", *(f"{name} {speed.split('_')[0]}" for name in names for speed in SPEEDS)]
    text.append("GB/s on one thread, range 1e-3:\n\n" + table(header, body))
    largest = max(cells)
    threads = collections.defaultdict(dict)
    for row in rows:
        if int(row["bytes"]) == largest:
            threads[int(row["threads"])][row["codec"]] = row
    body = [[count, *(f"{number(row[name][speed]):.2f}" for name in names for speed in SPEEDS)]
            for count, row in sorted(threads.items())]
    if len(threads) > 1:
        text.append(f"GB/s on {human(largest)}; wall time for more than one thread:\n\n" + table(["threads", *header[1:]], body))
    return "\n\n".join(text)


def human(size):
    unit = next(unit for unit in ("GiB", "MiB", "KiB") if size >= UNITS[unit])
    return f"{size / UNITS[unit]:.3g} {unit}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("docs", type=pathlib.Path)
    parser.add_argument("--recorded", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--unlike", action="append", default=[])
    given = parser.parse_args()
    ours, peers = read(given.folder / "results.csv"), read(given.folder / "peers.csv")
    bounds = list(dict.fromkeys(bound_of(row) for row in ours))
    lossy = [bound for bound in bounds if bound != "lossless"]
    text = ["# Results", "This page is the output of `bench/run`. Speeds are from the minimum CPU time of one thread, on each "
            "field in its original size. They depend on the machine and its load: compare them only with each other. "
            "Ratios are the same on every machine.",
            "## Ratios", ratios(ours, peers, bounds),
            "## Speeds", "Geometric means over all fields and bounds, lossless ones apart:",
            speeds([row for row in ours if row["bound"] != "lossless"], peers)]
    pictures = given.docs / "pictures"
    plotted = []
    for field in pick(ours):
        path = pictures / f"pareto_{short(field)}.svg"
        pareto(ours, peers, field, lossy[len(lossy) // 2], path)
        plotted.append(f"![{short(field)}: ratio over speed](pictures/{path.name})")
    text += ["## Ratio over speed", "Circles are ebz, triangles peers.", "\n\n".join(plotted)]
    if peers:
        total, rows = open_points(ours, peers)
        text += ["## Where a peer is better", "A point is a peer on a field with a bound. It is listed if no codec of ebz has "
                 "at least its ratio and both of its speeds on the same field and bound; an error above 1 means that the "
                 "peer violated the bound.", total, rows]
    if given.recorded:
        total, rows = recorded_points(ours, given.recorded, given.unlike)
        left_out = ""
        if given.unlike:
            left_out = f" Excluded: {', '.join(given.unlike)}, whose fill values were included in the range there."
        text += ["## Ratios recorded elsewhere", "Most of these compressors are not available as packages. Only ratios are "
                 f"compared, because the speeds were measured at another time.{left_out}", total, rows]
    rows = read(given.folder / "scaling.csv")
    if rows:
        text += ["## Size and threads", scale(rows)]
    (given.docs / "results.md").write_text("\n\n".join(text) + "\n")


def pick(ours):
    """The fields to plot: the largest ones."""
    sizes = {row["field"]: int(row["bytes"]) for row in ours}
    return sorted(sorted(sizes, key=sizes.get)[-4:])


main()
