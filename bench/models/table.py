#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a Markdown table of what compare.py left: table.py BARS model_<name>_<threads>.json...

Bars are `model_step/<name>` in the file of bars: what twill may take as a multiple of PyTorch's time. Times are medians with
the spread (largest minus smallest, over the median). On one thread the ratio is that of the processor's time, which other
work on the machine disturbs least; on several it is that of the clock, because waiting threads use the processor, too.
"""

import json
import statistics
import sys
from pathlib import Path


def shown(times):
    median = statistics.median(times)
    return f"{1e3 * median:.0f} ms ±{100 * (max(times) - min(times)) / median:.0f}%"


def row(result, bars):
    by = "processor_seconds" if result["threads"] == 1 else "seconds"
    ratio = statistics.median(result[by]["twill"]) / statistics.median(result[by]["PyTorch"])
    bar = bars.get(f"model_step/{result['model']}", {})
    limit = bar.get("against", {}).get("pytorch")
    cause = f" ({bar['cause']})" if "cause" in bar else ""
    verdict = "" if limit is None else f"{limit:.2f}x: " + ("kept" if ratio <= limit else f"missed{cause}")
    exact = "equal" if result["predicted_bytes"] == result["counted_bytes"] else f"{result['counted_bytes']:,} counted"
    cells = [result["model"], str(result["threads"])]
    cells += [f"{shown(result['seconds'][who])}, {shown(result['processor_seconds'][who])}" for who in ("twill", "PyTorch")]
    cells += [f"**{ratio:.2f}x**", verdict, f"{result['predicted_bytes']:,}: {exact}"]
    cells += [f"{result['resident_megabytes'][who]:.0f}" for who in ("twill", "PyTorch")]
    cells += [result["pytorch"], f"{result['load']:.1f}"]
    return "| " + " | ".join(cells) + " |"


def main():
    bars = json.loads(Path(sys.argv[1]).read_text())
    results = [json.loads(Path(path).read_text()) for path in sys.argv[2:]]
    heads = ["model", "threads", "twill: clock, processor", "PyTorch: clock, processor", "ratio", "bar", "peak bytes predicted: counted",
             "twill's resident MB", "PyTorch's", "PyTorch", "load"]
    print("### training step of whole models\n")
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for result in sorted(results, key=lambda result: (result["model"], result["threads"])):
        print(row(result, bars))
    print()


if __name__ == "__main__":
    main()
