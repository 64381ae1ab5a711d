#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Markdown tables and SVG plots of Google Benchmark JSON files: bench_table.py [--out FOLDER] result.json...

A benchmark is called `workload/contender` or `workload/contender/size`. Times are medians over the repetitions, with the
spread (the distance between the quartiles, over the median) beside them. A row in which twill or its reference spreads over 20%
was measured on a busy machine: it is left out and named below; --unsettled prints such rows alone, each as a pattern for
--benchmark_filter, and a row that was measured again, in files of --again, replaces the one before with all its contenders.
Where a workload has a contender `reference`, the others
are also given as a multiple of it. The machine, compiler, flags and commit come from the JSON's context. Where the peaks of the
machine were measured as well, twill's time is also a share of what binds the workload (tools/roofline.py).

Bars come from a file `{"workload/size": {"times": 1.05, "cause": "..."}}`: what twill may take as a multiple of the
reference, {"against": {"peer": 1.0}} as a multiple of another contender, or {"nanoseconds": 20} for itself, or several of
these; the cause is shown while the bar is missed. --out also leaves results.json,
every time that was measured, from which the same tables can be made again.
"""

import argparse
import json
import math
import statistics
from collections import defaultdict
from pathlib import Path

import roofline

NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
COLOURS = ["#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#66469b", "#5b8e7d", "#8d6a9f", "#444444", "#a0522d", "#0f9b8e"]
SHOWN = {"twill": COLOURS[0], "reference": COLOURS[7]}
LARGEST_SPREAD = 0.2  # of twill and of the reference


def read(paths, again=()):
    """{workload: {contender: {size: [nanoseconds of each repetition]}}} and the contexts."""
    samples, contexts = read_once(paths)
    fresh = defaultdict(lambda: defaultdict(dict))  # {workload: {size: {contender: times}}}
    for path in again:
        for workload, contenders in read_once([path])[0].items():
            for contender, by_size in contenders.items():
                for size, times in by_size.items():
                    fresh[workload][size][contender] = times
    for workload, by_size in fresh.items():
        for size, contenders in by_size.items():
            for contender, of_sizes in samples[workload].items():
                of_sizes.pop(size, None)
            for contender, times in contenders.items():
                samples[workload][contender][size] = times
    return samples, contexts


def read_once(paths):
    samples = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    contexts = []
    for path in paths:
        content = json.loads(Path(path).read_text())
        if "samples" in content:  # results.json
            contexts += content["contexts"]
            for workload, contenders in content["samples"].items():
                for contender, by_size in contenders.items():
                    for size, times in by_size.items():
                        samples[workload][contender][size] += times
            continue
        contexts.append(content["context"])
        for run in content["benchmarks"]:
            if run.get("run_type") == "aggregate" or run.get("error_occurred"):
                continue
            name = run.get("run_name", run["name"])
            parts = [p for p in name.split("/") if p not in ("real_time", "process_time", "manual_time")
                     and not p.startswith(("repeats:", "iterations:", "min_time:", "threads:"))]
            workload, contender = parts[0], parts[1] if len(parts) > 1 else "twill"
            size = "/".join(parts[2:])
            samples[workload][contender][size].append(run["real_time"] * NANOSECONDS[run["time_unit"]])
    return samples, contexts


def pretty(nanoseconds: float) -> str:
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= factor:
            return f"{nanoseconds / factor:.3g} {unit}" if nanoseconds < 999.5 * factor else f"{nanoseconds / factor:.0f} {unit}"
    return f"{nanoseconds:.3g} ns"


def spread(times) -> float:
    """The distance between the quartiles, over the median."""
    if len(times) < 2:
        return 0.0
    low, _, high = statistics.quantiles(times, n=4, method="inclusive")
    return (high - low) / statistics.median(times)


def is_settled(contenders, size: str) -> bool:
    return all(spread(contenders.get(name, {}).get(size, [])) <= LARGEST_SPREAD for name in SHOWN)


def settled(samples):
    """The samples without the rows that spread too much, and the names of those."""
    kept, left_out = {}, []
    for workload, contenders in samples.items():
        sizes = {size for by_size in contenders.values() for size in by_size}
        unsettled = {size for size in sizes if not is_settled(contenders, size)}
        left_out += [(workload, size) for size in sorted(unsettled, key=order)]
        if sizes - unsettled:
            kept[workload] = {name: {size: times for size, times in by_size.items() if size not in unsettled}
                              for name, by_size in contenders.items() if set(by_size) - unsettled}
    return kept, left_out


def order(size: str):
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in size.split("/")]


def ratio(contenders, name: str, size: str):
    """How many times as long as the reference a contender takes; None without a reference."""
    reference = contenders.get("reference", {}).get(size)
    times = contenders.get(name, {}).get(size)
    return statistics.median(times) / statistics.median(reference) if reference and times else None


def verdict(contenders, size: str, bar: dict) -> str:
    """Whether twill keeps its bar, and the cause where it does not."""
    times = contenders.get("twill", {}).get(size)
    if not times:
        return ""
    conditions = []  # what is asked, and whether it holds; None: not compared
    if "nanoseconds" in bar:
        conditions.append((f"{bar['nanoseconds']} ns", statistics.median(times) <= bar["nanoseconds"]))
    others = {"reference": bar["times"]} if "times" in bar else {}
    for name, limit in (others | bar.get("against", {})).items():
        other = contenders.get(name, {}).get(size)
        text = f"{limit:.2f}x" + ("" if name == "reference" else f" {name}")
        conditions.append((text, statistics.median(times) <= limit * statistics.median(other) if other else None))
    text = ", ".join(text + (": not compared" if holds is None else "") for text, holds in conditions)
    compared = [holds for _, holds in conditions if holds is not None]
    if not compared:
        return text
    kept = all(compared)
    cause = f" ({bar['cause']})" if "cause" in bar and not kept else ""
    return f"{text}: {'kept' if kept else 'missed'}{cause}"


def share(contenders, size: str, roof) -> str:
    """What twill reaches of the roof."""
    times = contenders.get("twill", {}).get(size)
    return f"{100 * roof.nanoseconds / statistics.median(times):.0f}% of {roof.bound}" if roof and times else ""


def table(workload, contenders, bars=None, peaks=None) -> str:
    sizes = sorted({size for by_size in contenders.values() for size in by_size}, key=order)
    names = sorted(contenders, key=lambda name: (name == "reference", name != "twill", name))
    own = {size: (bars or {}).get(f"{workload}/{size}" if size else workload) for size in sizes}
    shares = {size: share(contenders, size, peaks.roof(workload, size) if peaks else None) for size in sizes}
    heads = names + (["twill's share"] if any(shares.values()) else []) + (["bar"] if any(own.values()) else [])
    lines = [f"### {workload}", "", "| size | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    for size in sizes:
        reference = contenders.get("reference", {}).get(size)
        cells = []
        for name in names:
            times = contenders[name].get(size)
            if not times:
                cells.append("–")
                continue
            cell = pretty(statistics.median(times))
            if len(times) > 1:
                cell += f" ±{100 * spread(times):.0f}%"
            if reference and name != "reference":
                cell += f", **{ratio(contenders, name, size):.2f}x**"
            cells.append(cell)
        if any(shares.values()):
            cells.append(shares[size])
        if any(own.values()):
            cells.append(verdict(contenders, size, own[size]) if own[size] else "")
        lines.append(f"| {size or '–'} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def machine(contexts) -> str:
    lines = []
    for context in contexts:
        known = {"machine": context.get("machine", f"{context.get('num_cpus')} cores at {context.get('mhz_per_cpu')} MHz"),
                 "compiler": context.get("compiler"), "flags": context.get("flags"), "commit": context.get("commit"),
                 "date": context.get("date")}
        line = "; ".join(f"{key}: {value}" for key, value in known.items() if value and key != "date")
        if line not in lines:
            lines.append(line)
    return "\n".join(lines)


def plot(workload, contenders) -> str:
    """Time over size in log-log where the sizes are numbers, else bars."""
    points = {name: sorted((float(size), statistics.median(times)) for size, times in by_size.items() if size.isdigit() and int(size) > 0)
              for name, by_size in contenders.items()}
    points = {name: values for name, values in points.items() if len(values) > 1}
    return curves(workload, points) if points else bars(workload, contenders)


def frame(title: str, width: int, height: int, body: list[str]) -> str:
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
                      f'<rect width="{width}" height="{height}" fill="white"/>',
                      f'<text x="{width / 2}" y="20" text-anchor="middle" font-size="14">{title}</text>', *body, "</svg>"]) + "\n"


def curves(title, points) -> str:
    left, top, right, bottom = 70, 40, 520, 320
    xs = [math.log10(x) for values in points.values() for x, _ in values]
    ys = [math.log10(y) for values in points.values() for _, y in values]
    x_low, x_high, y_low, y_high = math.floor(min(xs)), math.ceil(max(xs)), math.floor(min(ys)), math.ceil(max(ys))

    def at(x, y):
        return (left + (math.log10(x) - x_low) / max(x_high - x_low, 1) * (right - left),
                bottom - (math.log10(y) - y_low) / max(y_high - y_low, 1) * (bottom - top))

    body = []
    for power in range(x_low, x_high + 1):
        x, _ = at(10.0**power, 10.0**y_low)
        body.append(f'<path d="M{x:.1f} {top}V{bottom}" stroke="#ddd"/><text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">1e{power}</text>')
    for power in range(y_low, y_high + 1):
        _, y = at(10.0**x_low, 10.0**power)
        body.append(f'<path d="M{left} {y:.1f}H{right}" stroke="#ddd"/><text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{pretty(10.0**power)}</text>')
    for index, (name, values) in enumerate(sorted(points.items())):
        colour = COLOURS[index % len(COLOURS)]
        path = " ".join("{:.1f},{:.1f}".format(*at(x, y)) for x, y in values)
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        body.append(f'<text x="{right + 12}" y="{top + 16 + 18 * index}" fill="{colour}">{name}</text>')
    return frame(title, 660, 360, body)


def bars(title, contenders) -> str:
    """A group for each size, the fastest first, each on a scale of its own; twill's bar and the reference's stand out."""
    body, y = [], 36
    for size in sorted({size for by_size in contenders.values() for size in by_size}, key=order):
        group = sorted((statistics.median(by_size[size]), name) for name, by_size in contenders.items() if by_size.get(size))
        if size:
            body.append(f'<text x="208" y="{y + 14}" font-weight="bold">{size}</text>')
            y += 22
        for time, name in group:
            length = 320 * time / group[-1][0]
            factor = ratio(contenders, name, size) if name != "reference" else None
            label = pretty(time) + (f", {factor:.2f}x" if factor else "")
            body.append(f'<text x="200" y="{y + 13}" text-anchor="end">{name}</text>'
                        f'<rect x="208" y="{y}" width="{length:.1f}" height="17" fill="{SHOWN.get(name, "#c9ced6")}"/>'
                        f'<text x="{214 + length:.1f}" y="{y + 13}">{label}</text>')
            y += 21
        y += 10
    return frame(title, 660, y + 6, body)


def document(samples, contexts, bars) -> str:
    """The tables of all workloads, with the machines in front."""
    peaks = roofline.Machine(samples)
    workloads, left_out = settled({workload: contenders for workload, contenders in samples.items() if workload not in roofline.PEAKS})
    tables = [peaks.table(), *(table(workload, contenders, bars, peaks) for workload, contenders in workloads.items())]
    if left_out:
        names = ", ".join("/".join(filter(None, row)) for row in left_out)
        tables.append(f"### left out\n\nSpread over {100 * LARGEST_SPREAD:.0f}%: {names}.\n")
    return machine(contexts) + "\n\n" + "\n".join(part for part in tables if part)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for results.md and one SVG for each workload; without: print the tables")
    parser.add_argument("--bars", type=Path, help="JSON file of bars")
    parser.add_argument("--append", type=Path, help="Markdown that follows the tables")
    parser.add_argument("--unsettled", action="store_true", help="print patterns of the rows that spread too much, nothing else")
    parser.add_argument("--again", nargs="*", default=[], help="rows that were measured again")
    parser.add_argument("results", nargs="+")
    options = parser.parse_args()
    samples, contexts = read(options.results, options.again)
    if options.unsettled:
        of_rows = [(workload, f"/{size}(/|$)" if size else "(/[a-z_]+(:[^/]*|_time))*$") for workload, size in settled(samples)[1]]
        print("\n".join(f"^{workload}/[a-z0-9_]+{end}" for workload, end in of_rows))
        return
    bars = json.loads(options.bars.read_text()) if options.bars else {}
    text = document(samples, contexts, bars)
    if options.append:
        text += "\n" + options.append.read_text()
    if options.out is None:
        print(text)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    shown, _ = settled({workload: contenders for workload, contenders in samples.items() if workload not in roofline.PEAKS})
    for workload, contenders in shown.items():
        (options.out / f"{workload}.svg").write_text(plot(workload, contenders))
    known = [{key: context[key] for key in ("machine", "compiler", "flags", "commit", "date") if key in context}
             for context in contexts]
    (options.out / "results.json").write_text(json.dumps({"contexts": known, "samples": samples}, indent=1) + "\n")
    links = "\n".join(f"![{workload}]({workload}.svg)" for workload in shown)
    (options.out / "results.md").write_text(f"# Benchmarks\n\n{text}\n{links}\n")


if __name__ == "__main__":
    main()
