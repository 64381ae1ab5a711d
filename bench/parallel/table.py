#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Markdown tables of what split_size, predictions and fit_predictions left: table.py [BARS] split_size.json ...

Speed-ups are against one device of one core in the same run. The bars of the split-size experiment are `split_size/<what>` in
the file of bars: the least part of what is possible at the best size (the schedule's ideal for cut and size, times what two
processes reach on two cores, over two), the least speed-up, and what model parallel without pipelining may take.
"""

import json
import statistics
import sys
from pathlib import Path


def shown(seconds):
    deviation = statistics.stdev(seconds) if len(seconds) > 1 else 0.0
    return f"{statistics.mean(seconds):.3f} ± {deviation:.3f} s"


def verdict(value, bars, name, is_least):
    bar = bars.get(f"split_size/{name}", {})
    limit = bar.get("least" if is_least else "most")
    if limit is None:
        return f"{value:.3f}"
    kept = value >= limit if is_least else value <= limit
    cause = f": {bar['cause']}" if not kept and "cause" in bar else ""
    return f"**{value:.3f}** (bar {limit}, {'kept' if kept else 'missed' + cause})"


def split_size(result, bars):
    one = statistics.mean(result["one_s"])
    scaling = 2 * one / statistics.mean(result["pair_s"])
    print(f"### split size: batch {result['batch']} of 3x{result['image']}x{result['image']}\n")
    print(f"One device: {shown(result['one_s'])}, {len(result['one_s'])} repeats. Two processes on the two cores: {scaling:.3f}x.\n")
    for cut in result["cuts"]:
        shares = cut["operations"]
        whole, *splits = cut["splits"]
        print(f"Cut {cut['name']}, {100 * shares[0] / sum(shares):.1f}% of the multiply-adds in the first stage:\n")
        heads = ["rows", "micro-batches", "time", "speed-up", "ideal", "of possible", "predicted / real"]
        print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
        for split in splits:
            mean = statistics.mean(split["seconds"])
            possible = split["ideal"] * scaling / 2
            cells = [str(split["rows"]), str(split["micro_batches"]), shown(split["seconds"]), f"{one / mean:.3f}x",
                     f"{split['ideal']:.3f}x", f"{100 * one / mean / possible:.1f}%", f"{split['predicted_s'] / mean:.3f}"]
            print("| " + " | ".join(cells) + " |")
        best = min(splits, key=lambda split: statistics.mean(split["seconds"]))
        speed_up = one / statistics.mean(best["seconds"])
        kind = "balanced" if cut["name"] == "balanced" else "own"
        print(f"\nBest: {best['rows']} rows, speed-up {verdict(speed_up, bars, kind + '/speed_up', True)}, of what is possible "
              f"{verdict(speed_up / (best['ideal'] * scaling / 2), bars, kind + '/of_possible', True)}. Without pipelining: "
              f"{verdict(statistics.mean(whole['seconds']) / one, bars, 'model_parallel', False)} of one device's time.\n")
        print(explained(splits, one, scaling))


def explained(splits, one, scaling):
    """Where the time of the fastest step of each size goes, as its time line has it. The factors' product is the step's time
    over what two processes would take for the same rows, one / scaling."""
    heads = ["rows", "first stage / both", "work", "unequal stages", "filling and waiting", "update and others", "product"]
    lines = ["The fastest steps by their time lines: *work* is what both devices compute against what they would compute of one "
             "device's step as two processes; the rest is what the slower device, waits and the update add.\n",
             "| " + " | ".join(heads) + " |\n|" + "---|" * len(heads)]
    for split in splits:
        busy, makespan, step = split["busy_s"], split["makespan_s"], split["fastest_s"]
        factors = [sum(busy) / (one * 2 / scaling), len(busy) * max(busy) / sum(busy), makespan / max(busy), step / makespan]
        product = step / (one / scaling)
        cells = [str(split["rows"]), f"{100 * busy[0] / sum(busy):.1f}%"] + [f"{factor:.3f}" for factor in factors]
        lines.append("| " + " | ".join([*cells, f"{product:.3f}"]) + " |")
    return "\n".join(lines) + "\n"


def predictions(result):
    link, machine = result["link"], result["machine"]
    print("### predicted / real steps on two devices\n")
    print(f"Link: {link['bytes_per_s'] / 1e9:.1f} GB/s, {link['latency_s'] * 1e6:.1f} µs. Machine: "
          f"{machine['operations_per_s'] / 1e9:.0f} GFLOP/s, {machine['bytes_per_s'] / 1e9:.1f} GB/s.\n")
    heads = ["schedule", "cut", "micro-batches", "time", "predicted / real", "least to most", "by counting"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for step in result["steps"]:
        cells = [step["schedule"], step["cut"], str(step["micro_batches"]), f"{1e3 * step['seconds']:.1f} ms",
                 f"{step['predicted']:.3f}", f"{step['least']:.2f} to {step['most']:.2f}", f"{step['counted']:.2f}"]
        print("| " + " | ".join(cells) + " |")
    off = max(abs(step["predicted"] - 1) for step in result["steps"])
    print(f"\nFurthest off: {100 * off:.1f}%.\n")


def estimates(result):
    machine, messages, sums = result["machine"], result["messages"], result["sums"]
    print("### parallel::fit: predicted / real steps of a network with six layers of 512 on two devices\n")
    print(f"Machine: {machine['operations_per_s'] / 1e9:.0f} GFLOP/s, {machine['bytes_per_s'] / 1e9:.1f} GB/s; messages "
          f"{messages['bytes_per_s'] / 1e9:.1f} GB/s, {messages['latency_s'] * 1e6:.1f} µs; sums {sums['bytes_per_s'] / 1e9:.1f} "
          f"GB/s, {sums['latency_s'] * 1e6:.1f} µs. Steps of one device that were timed beforehand: "
          + ", ".join(f"{rows} rows {1e3 * (gradient + update):.2f} ms" for rows, gradient, update in result["timed"]) + ".\n")
    heads = ["options", "rows", "time", "predicted / real", "least to most", "bytes"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for step in result["estimates"]:
        cells = [step["options"], str(step["rows"]), f"{1e3 * step['seconds']:.2f} ms", f"{step['predicted']:.3f}",
                 f"{step['least']:.2f} to {step['most']:.2f}", "as estimated" if step["bytes_are_estimated"] else "**others**"]
        print("| " + " | ".join(cells) + " |")
    near = sum(abs(step["predicted"] - 1) <= 0.1 for step in result["estimates"])
    print(f"\nWithin 10%: {near} of {len(result['estimates'])}.\n")


def main():
    bars = {}
    for path in sys.argv[1:]:
        result = json.loads(Path(path).read_text())
        if "cuts" in result:
            split_size(result, bars)
        elif "estimates" in result:
            estimates(result)
        elif "steps" in result:
            predictions(result)
        else:
            bars = result


if __name__ == "__main__":
    main()
