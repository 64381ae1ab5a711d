#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Data parallelism on two host devices, one core each, against one device with one core.

    scaling.py PROGRAM ROWS [result.json, default: none] [rounds, default 9] [seconds of a turn, default 0.5]
    scaling.py --table result.json...

PROGRAM is a binary of bench/parallel/scaling.cpp, ROWS the whole batch. In one run take turns: one device on the whole batch;
`DataParallel` and `DistributedDataParallel` on half of it on each device; and two processes that know nothing of each other,
each with half of the batch on a core of its own, which is as far as two cores carry. First the numbers have to be right: after
one step of plain SGD the weights are the mean of those of the two processes, for whatever normalises a half by itself. The
time of the two processes is that of the slower one. Bars: 0.97 of the scaling of the two processes for steps of more than 100
ms, and never slower than one device where its step takes more than 200 microseconds.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

CONTENDERS = ("one", "half0", "half1", "data_parallel", "distributed")
SHARE_OF_TWO_PROCESSES = 0.97
LONG_STEP, SHORT_STEP = 0.1, 200e-6
TOLERANCE = 1e-3  # of what a step changes: in float32 halves are summed in another order


class Contender:
    def __init__(self, program, name, rows, cores):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            ["taskset", "-c", ",".join(map(str, cores)), program, name, str(rows)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )
        self.start = json.loads(self.process.stdout.readline())["projections"]

    def begin(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()

    def end(self):
        return json.loads(self.process.stdout.readline())

    def steps(self, count):
        self.begin(count)
        return self.end()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def prove(contenders):
    """Whether one step gives the weights that it should."""
    after = {name: contender.steps(1) for name, contender in contenders.items()}
    start = contenders["one"].start
    is_right = all(contender.start == start for contender in contenders.values())
    wanted = [(a + b) / 2 for a, b in zip(after["half0"]["projections"], after["half1"]["projections"])]
    loss = (after["half0"]["loss"] + after["half1"]["loss"]) / 2
    change = max(abs(w - s) for w, s in zip(wanted, start))
    for name in ("data_parallel", "distributed"):
        off = max(abs(w - p) for w, p in zip(wanted, after[name]["projections"]))
        print(f"{name}: loss {after[name]['loss']:.6f} of {loss:.6f}, weights are off by {off / change:.1e} of the step")
        is_right = is_right and off <= TOLERANCE * change and abs(after[name]["loss"] - loss) <= 1e-4 * abs(loss)
    return is_right and change > 0


def measure(contenders, rounds, turn):
    seconds = contenders["one"].steps(2)["seconds"]
    count = max(1, round(turn / seconds))
    for contender in contenders.values():
        contender.steps(max(1, count // 2))
    times = {"one": [], "two_processes": [], "data_parallel": [], "distributed": []}
    for number in range(rounds):
        names = list(times)
        for name in names[number % 4 :] + names[: number % 4]:
            if name == "two_processes":
                pair = (contenders["half0"], contenders["half1"])
                for half in pair:
                    half.begin(count)
                times[name].append(max(half.end()["seconds"] for half in pair))
            else:
                times[name].append(contenders[name].steps(count)["seconds"])
    return times


def shown(times):
    median = statistics.median(times)
    unit, factor = ("ms", 1e3) if median > 1e-3 else ("us", 1e6)
    return f"{factor * median:.1f} {unit} ±{100 * (max(times) - min(times)) / median:.0f}%"


def table(results):
    lines = ["### two host devices against one, a core each\n",
             "| model | rows | one | two processes | DataParallel | distributed | bar | load |", "|" + "---|" * 8]
    for result in results:
        medians = {name: statistics.median(times) for name, times in result["seconds"].items()}
        scaling = {name: medians["one"] / median for name, median in medians.items()}
        cells = [result["model"], str(result["rows"]), shown(result["seconds"]["one"])]
        cells += [f"{shown(result['seconds'][name])}: **{scaling[name]:.2f}x**" for name in list(medians)[1:]]
        verdicts = []
        for name in ("data_parallel", "distributed"):
            share = scaling[name] / scaling["two_processes"]
            if medians["one"] > LONG_STEP:
                verdicts.append(f"{share:.3f} " + ("kept" if share >= SHARE_OF_TWO_PROCESSES else "missed"))
            elif medians["one"] > SHORT_STEP:
                verdicts.append(f"{share:.3f} " + ("kept" if scaling[name] >= 1 else "missed"))
        cells += [", ".join(verdicts), f"{result['load']:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1] == "--table":
        print(table([json.loads(Path(path).read_text()) for path in sys.argv[2:]]))
        return 0
    program, rows = sys.argv[1], int(sys.argv[2])
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 9
    turn = float(sys.argv[5]) if len(sys.argv) > 5 else 0.5
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        print("scaling: two cores are needed")
        return 4
    places = {"one": cores[:1], "half0": cores[:1], "half1": cores[1:]}
    contenders = {name: Contender(program, name, rows, places.get(name, cores)) for name in CONTENDERS}
    load = os.getloadavg()[0]
    if not prove(contenders):
        print("scaling: the weights are wrong")
        return 1
    times = measure(contenders, rounds, turn)
    for contender in contenders.values():
        contender.stop()
    result = {"model": Path(program).name.removeprefix("scaling_"), "rows": rows, "seconds": times, "load": load,
              "machine": platform.processor() or platform.machine(), "commit": os.environ.get("TWILL_COMMIT", "unknown")}
    if len(sys.argv) > 3:
        Path(sys.argv[3]).write_text(json.dumps(result, indent=1) + "\n")
    print(table([result]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
