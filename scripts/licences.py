#!/usr/bin/env python3
"""Fails if anything that ships depends on a package without a permissive licence."""

import json
import re
import subprocess
import sys

PERMISSIVE = {
    "MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "ISC", "Zlib",
    "Unicode-3.0", "Unlicense", "CC0-1.0", "0BSD", "Apache-2.0 WITH LLVM-exception",
}
SHIPPED = {"ebz", "ebz-cli", "ebz-capi", "ebz-hdf5", "ebz-python"}


def permissive(expression):
    """SPDX expressions of the forms that packages use: alternatives of conjunctions."""
    alternatives = re.split(r" OR |/", expression.replace("(", "").replace(")", ""))
    return any(all(part.strip() in PERMISSIVE for part in one.split(" AND ")) for one in alternatives)


def main():
    metadata = json.loads(subprocess.check_output(
        ["cargo", "metadata", "--format-version", "1", "--all-features"]))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    to_do = [id for id, package in packages.items() if package["name"] in SHIPPED]
    seen = set()
    while to_do:
        id = to_do.pop()
        if id in seen:
            continue
        seen.add(id)
        for dependency in nodes[id]["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                to_do.append(dependency["pkg"])
    bad = [packages[id] for id in seen if not permissive(packages[id].get("license") or "")]
    for package in bad:
        print(f"{package['name']} {package['version']}: licence {package.get('license')}")
    print(f"{len(seen)} packages, {len(bad)} without a permissive licence")
    sys.exit(1 if bad or not seen else 0)


main()
