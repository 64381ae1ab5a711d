#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Markdown page of a product grid: product_grid.py product_grid.json >product_grid.md"""

import json
import math
import statistics
import sys
from pathlib import Path

NAMES = ("small", "cblas", "onednn")
LAYOUTS = {"nn": "A B", "nt": "A B^T", "tn": "A^T B"}


def measured(shape):
    return {name: shape[name] for name in NAMES if name in shape}


def main():
    content = json.loads(Path(sys.argv[1]).read_text())
    shapes = content["shapes"]
    print(f"# Matrix products by shape\n\n{content['machine']}; {content['compiler']}; float32, one thread, least of "
          f"{content['rounds']} alternating rounds\n")
    print("`chosen` is what kernel/product.hpp picks, over the fastest of the three.\n")
    print("| layout | shapes | fastest: small, CBLAS, oneDNN | chosen / fastest: mean, median, 90th percentile, worst |\n|---|---|---|---|")
    for layout, text in LAYOUTS.items():
        rows = [shape for shape in shapes if shape["layout"] == layout]
        wins = [sum(min(measured(shape), key=measured(shape).get) == name for shape in rows) for name in NAMES]
        ratios = sorted(shape[shape["choice"]] / min(measured(shape).values()) for shape in rows)
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"| {text} | {len(rows)} | {', '.join(map(str, wins))} | {mean:.3f}, {statistics.median(ratios):.2f}, "
              f"{ratios[int(0.9 * len(ratios))]:.2f}, {ratios[-1]:.2f} |")
    print("\n## Squares, GFLOP/s\n\n| layout | n | small | CBLAS | oneDNN | chosen |\n|---|---|---|---|---|---|")
    for shape in shapes:
        if shape["m"] == shape["n"] == shape["k"]:
            rate = [f"{2 * shape['m'] ** 3 / shape[name]:.1f}" if name in shape else "–" for name in NAMES]
            print(f"| {LAYOUTS[shape['layout']]} | {shape['m']} | {' | '.join(rate)} | {shape['choice']} |")
    print("\n## Where the choice loses most\n\n| layout | m | n | k | chosen | ns | fastest | ns |\n|---|---|---|---|---|---|---|---|")
    worst = sorted(shapes, key=lambda shape: min(measured(shape).values()) / shape[shape["choice"]])
    for shape in worst[:20]:
        best = min(measured(shape), key=measured(shape).get)
        print(f"| {LAYOUTS[shape['layout']]} | {shape['m']} | {shape['n']} | {shape['k']} | {shape['choice']} | "
              f"{shape[shape['choice']]:.0f} | {best} | {shape[best]:.0f} |")


if __name__ == "__main__":
    main()
