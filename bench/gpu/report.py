# SPDX-License-Identifier: Apache-2.0
"""The times of peers in Python on a GPU: contenders of one workload and size take turns, repetition by repetition, as in
bench/gpu/timing.cuh, and the file has the same form. It is written again after each workload; what is wrong or fails is
recorded in it and left out."""

import contextlib
import json
import os

REPETITIONS = 7
MILLISECONDS = 20.0


class Report:
    """Times by measure(run, count, on_host), the nanoseconds of one of so many runs: on the device, or what the host takes."""

    def __init__(self, measure, path, machine, software):
        self.measure, self.path = measure, path
        self.context = {"machine": machine, "compiler": software, "commit": os.environ.get("TWILL_COMMIT", "unknown")}
        self.entries = []
        self.peaks = {}  # bytes, by name
        self.has_failed = False
        self.write()

    @contextlib.contextmanager
    def guard(self, name):
        """Records what ends what is done within, and goes on after it."""
        try:
            yield
        except (Exception, SystemExit) as error:
            self.has_failed = True
            message = str(error) or type(error).__name__
            print(f"{name}: {message}", flush=True)
            self.entries.append({"name": name, "run_type": "iteration", "error_occurred": True,
                                 "error_message": message.splitlines()[0][:500]})
            self.write()

    def compare(self, workload, size, contenders, on_host=False):
        counts = {}
        for name, run in contenders.items():
            with self.guard(f"{workload}/{name}/{size}"):
                for _ in range(3):
                    run()
                once = self.measure(run, 3, False)
                count = 1
                while count < 1_000_000 and once * 1e-6 * count < MILLISECONDS:
                    count *= 2
                self.measure(run, count, on_host)
                counts[name] = count
        for _ in range(REPETITIONS):
            for name, count in counts.items():
                self.entries.append({"name": f"{workload}/{name}/{size}", "run_type": "iteration",
                                     "real_time": self.measure(contenders[name], count, on_host), "time_unit": "ns"})
        self.write()

    def peak(self, name, size):
        """Records the most memory that a contender used, in bytes."""
        self.peaks[name] = size
        self.write()

    def write(self):
        """Replaces the file as a whole: it can be read at any time."""
        unfinished = f"{self.path}.part"
        with open(unfinished, "w") as file:
            json.dump({"context": self.context, "peak_bytes": self.peaks, "benchmarks": self.entries}, file, indent=1)
        os.replace(unfinished, self.path)
