#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README's table of results, made of what bench/run left: readme_table.py [--write]

It stands between two comments of README.md and is made of results.json, model_*.json and compile_time.json in
bench/results/latest, so that no number is copied by hand; tools/checks/readme.py compares. A row whose measurement is missing is left
out. --write puts it into README.md, otherwise it is printed.
"""

import json
import re
import statistics
import sys
from pathlib import Path

import bench_table

BEGIN, END = "<!-- tools/readme_table.py: begin -->", "<!-- tools/readme_table.py: end -->"
PLACE = re.compile(re.escape(BEGIN) + r"\n(.*?)" + re.escape(END), re.DOTALL)

# What a row is called, its workload and size; and what stands in the second column, by name: the reference, or the fastest of
# some libraries.
ROWS = [
    ("`tanh(a*b + c)*d - 0.5*a`, 100,000 floats", "expression", "100000", {"reference": ""}),
    ("softmax of rows", "softmax", "", {"reference": ""}),
    ("matrix product 1024, one core", "matrix_product", "1024/1", {"onednn": "oneDNN ", "openblas": "OpenBLAS "}),
    ("convolution 3x3 of 64 channels, one core", "convolution", "64x56k3/1", {"reference": "oneDNN "}),
    ("step of a 784-256-256-10 network, batch 256", "mlp_step", "256", {"reference": ""}),
    ("the same, batch 1", "mlp_step", "1", {"reference": ""}),
]
TORCH = ("pytorch_last", "pytorch", "libtorch_last", "libtorch")  # whichever is fastest
MODELS = [("step of ResNet-50, processor time", "resnet50"), ("step of GPT-2 124M, processor time", "gpt2")]
INCLUDES = ("#include <twill/twill.hpp>", "#include <torch/torch.h>")


def against(own: float, other: float, shown: str) -> str:
    return f"{shown}: {own / other:.2f}x"


def measured_rows(samples):
    kept, _ = bench_table.settled(samples)
    for name, workload, size, references in ROWS:
        contenders = kept.get(workload, {})
        medians = {who: statistics.median(by_size[size]) for who, by_size in contenders.items() if by_size.get(size)}
        own = medians.get("twill")
        if own is None:
            continue
        cells = [name, bench_table.pretty(own)]
        for peers in (references, dict.fromkeys(TORCH, "")):
            found = {who: medians[who] for who in peers if who in medians}
            best = min(found, key=found.get, default=None)
            cells.append(against(own, found[best], peers[best] + bench_table.pretty(found[best])) if best else "")
        yield cells


def model_rows(folder: Path):
    for name, model in MODELS:
        path = folder / f"model_{model}_1.json"
        if path.exists():
            times = json.loads(path.read_text())["processor_seconds"]
            own, other = (statistics.median(times[who]) for who in ("twill", "PyTorch"))
            yield [name, bench_table.pretty(1e9 * own), "", against(own, other, bench_table.pretty(1e9 * other))]


def include_rows(folder: Path):
    path = folder / "compile_time.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    seconds = {row["what"]: row["seconds"] for row in rows if row["options"] == "-O2" and row["compiler"] == "g++" and row.get("mode") != "compiled"}
    if all(name in seconds for name in INCLUDES):
        own, other = (seconds[name] for name in INCLUDES)
        yield [", ".join(f"`{name}`" if name == INCLUDES[0] else f"`{name.removeprefix('#include ')}`" for name in INCLUDES),
               f"{own:.2f} s", "", against(own, other, f"{other:.2f} s")]


def table(folder: Path) -> str:
    """The lines between the two comments."""
    samples, contexts = bench_table.read([folder / "results.json"])
    context = contexts[0]
    lines = [f"{context['machine']}; {context['compiler']} `{context['flags']}`; medians, and twill's time over the other's.", "",
             "| | twill | hand-written or the fastest library | libtorch or PyTorch |", "|---|---|---|---|"]
    for cells in [*measured_rows(samples), *model_rows(folder), *include_rows(folder)]:
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def fault(root: Path) -> str | None:
    """What is wrong with README's table; None where nothing is, or where there are neither results nor comments."""
    folder, readme = root / "bench/results/latest", root / "README.md"
    text = readme.read_text() if readme.exists() else ""
    if not (folder / "results.json").exists():
        return "README.md: has a table of results, and bench/results/latest/results.json does not exist" if BEGIN in text else None
    place = PLACE.search(text)
    if place is None:
        return f"README.md: no place for the table of results, {BEGIN} ... {END}"
    if place.group(1) != (expected := table(folder)):
        return f"README.md: the table of results is not what tools/readme_table.py makes; it should read\n{expected}"
    return None


def main():
    root = Path(__file__).resolve().parents[1]
    made = table(root / "bench/results/latest")
    if "--write" not in sys.argv:
        print(made, end="")
        return
    readme = root / "README.md"
    readme.write_text(PLACE.sub(lambda _: f"{BEGIN}\n{made}{END}", readme.read_text()))


if __name__ == "__main__":
    main()
