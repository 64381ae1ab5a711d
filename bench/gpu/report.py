# SPDX-License-Identifier: Apache-2.0
"""The times of peers in Python on a GPU: contenders of one workload and size take turns, repetition by repetition, as in
bench/gpu/timing.cuh, and the file has the same form."""

import json
import os

REPETITIONS = 7
MILLISECONDS = 20.0


class Report:
    """Times by measure(run, count, on_host), the nanoseconds of one of so many runs: on the device, or what the host takes."""

    def __init__(self, measure):
        self.measure = measure
        self.samples = []

    def compare(self, workload, size, contenders, on_host=False):
        counts = {}
        for name, run in contenders.items():
            for _ in range(3):
                run()
            once = self.measure(run, 3, False)
            count = 1
            while count < 1_000_000 and once * 1e-6 * count < MILLISECONDS:
                count *= 2
            counts[name] = count
            self.measure(run, count, on_host)
        for _ in range(REPETITIONS):
            for name, run in contenders.items():
                self.samples.append((f"{workload}/{name}/{size}", self.measure(run, counts[name], on_host)))

    def write(self, path, machine, software):
        context = {"machine": machine, "compiler": software, "commit": os.environ.get("TWILL_COMMIT", "unknown")}
        runs = [{"name": name, "run_type": "iteration", "real_time": value, "time_unit": "ns"} for name, value in self.samples]
        with open(path, "w") as file:
            json.dump({"context": context, "benchmarks": runs}, file, indent=1)
