# SPDX-License-Identifier: Apache-2.0
"""How the peers in Python are timed, and the file that they leave: the form of Google Benchmark, which tools/bench_table.py reads."""

import argparse
import json
import os
import random
import re
import time
from pathlib import Path


def machine() -> str:
    models = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"{models[0] if models else 'unknown processor'}, {os.cpu_count()} cores"


def options_of(purpose: str):
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("out", type=Path, help="the file of results")
    parser.add_argument("--threads", type=int, default=1, help="in each operation")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--min-time", type=float, default=0.05, help="seconds of each repetition")
    parser.add_argument("--filter", type=re.compile, default=re.compile(""), help="only names with a match of this regular expression")
    return parser.parse_args()


def seconds(run, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return time.perf_counter() - start


def count_for(run, min_time: float) -> int:
    """How often a run fits into a repetition."""
    run()
    count = 1
    while (taken := seconds(run, count)) < min_time / 2 and count < 1 << 24:
        count = max(count * 2, min(int(count * min_time / max(taken, 1e-9)), count * 16))
    return count


def write(path: Path, rows, software: str):
    """Rows are a name, workload/contender/size, and the nanoseconds of one repetition."""
    context = {"machine": machine(), "compiler": software, "commit": os.environ.get("TWILL_COMMIT", "unknown")}
    runs = [{"name": name, "run_type": "iteration", "real_time": time_ns, "time_unit": "ns"} for name, time_ns in rows]
    path.write_text(json.dumps({"context": context, "benchmarks": runs}, indent=1) + "\n")


def measure(workloads, options):
    """All of {name: run}, repetition by repetition and in another order each time. Rows for `write`."""
    counts = {name: count_for(run, options.min_time) for name, run in workloads.items()}
    rows = []
    for repetition in range(options.repetitions):
        names = list(workloads)
        random.Random(repetition).shuffle(names)
        rows += [(name, 1e9 * seconds(workloads[name], counts[name]) / counts[name]) for name in names]
    return rows
