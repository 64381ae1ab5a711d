#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says where clang spends its time in one file: the worst headers, templates, constant evaluations and generated functions.

    worst.py [--compiler clang++-16] [--options "-O0 -g1"] [--top 15] file...
    worst.py [--top 15] trace.json...

A source or header is compiled with -ftime-trace; a .json is such a trace. Times are wall milliseconds. `own` leaves out what is
counted in a row of the same table already: a header without those that it includes, a template without what it instantiates.
Templates are summed over their arguments, and the longest name of each says how large these are.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=c++20", "-march=native", f"-I{ROOT / 'include'}", f"-I{ROOT}", "-fconstexpr-steps=268435456"]
TABLES = {
    "headers": lambda name: name == "Source",
    "templates, by instantiation": lambda name: name in ("InstantiateClass", "InstantiateFunction", "ParseClass"),
    "constant evaluations": lambda name: name.startswith("Evaluate") or name == "isPotentialConstantExpr",
    "functions, by generation of code": lambda name: name in ("CodeGen Function", "OptFunction"),
}


def trace_of(path: Path, compiler: str, options) -> dict:
    if path.suffix == ".json":
        return json.loads(path.read_text())
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.o"
        command = [compiler, *FLAGS, *options, "-ftime-trace", "-ftime-trace-granularity=100", "-x", "c++", "-c", str(path)]
        subprocess.run([*command, "-o", str(output)], check=True)
        return json.loads(output.with_suffix(".json").read_text())


def without_arguments(name: str) -> str:
    """A template's name without its arguments: `f<g<1>>::h` is `f<>::h`."""
    shown, depth = [], 0
    for match in re.finditer(r"operator[<>=]+|->|[<>]|[^<>-]+|-", name):
        part = match.group()
        if part == "<":
            shown += ["<>"] if depth == 0 else []
            depth += 1
        elif part == ">":
            depth = max(depth - 1, 0)
        elif depth == 0:
            shown.append(part)
    return "".join(shown)


def label(event) -> str:
    detail = event.get("args", {}).get("detail", "")
    if event["name"] == "Source":
        return str(Path(detail).resolve()).replace(f"{ROOT}/", "")
    if event["name"].startswith("Evaluate") or event["name"].startswith("isPot"):
        return detail.replace(f"{ROOT}/", "").replace(str(ROOT), "") or event["name"]
    return without_arguments(detail)


def summed(events):
    """Own and whole time, count and longest name of each label; events of one table, which nest."""
    totals = defaultdict(lambda: [0.0, 0.0, 0, 0])
    open_events = []  # [end, label, own time]

    def close():
        _, name, own = open_events.pop()
        totals[name][0] += own

    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while open_events and open_events[-1][0] <= event["ts"]:
            close()
        name = label(event)
        if open_events:
            open_events[-1][2] -= event["dur"]
        row = totals[name]
        if all(name != other for _, other, _ in open_events):
            row[1] += event["dur"]
        row[2] += 1
        row[3] = max(row[3], len(event.get("args", {}).get("detail", "")))
        open_events.append([event["ts"] + event["dur"], name, event["dur"]])
    while open_events:
        close()
    return totals


def show(trace: dict, top: int) -> None:
    events = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
    phases = {e["name"]: e["dur"] / 1000 for e in events if e["name"].startswith("Total ")}
    worst = sorted(phases.items(), key=lambda row: -row[1])[:10]
    print("; ".join(f"{name[6:]} {time:.0f} ms" for name, time in worst))
    for title, belongs in TABLES.items():
        totals = summed(e for e in events if belongs(e["name"]))
        print(f"\n| {title} | own ms | whole ms | count | longest name |\n|---|---|---|---|---|")
        for name, (own, whole, count, longest) in sorted(totals.items(), key=lambda row: -row[1][0])[:top]:
            print(f"| `{name[:110]}` | {own / 1000:.0f} | {whole / 1000:.0f} | {count} | {longest} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--compiler", default="clang++-16")
    parser.add_argument("--options", default="-O0 -g1")
    parser.add_argument("--top", type=int, default=15)
    options = parser.parse_args()
    for path in options.files:
        print(f"\n## {path}\n")
        show(trace_of(path, options.compiler, options.options.split()), options.top)
    return 0


if __name__ == "__main__":
    sys.exit(main())
