# SPDX-License-Identifier: Apache-2.0
"""Which share of what the machine can do a benchmark reaches, by the peaks that bench/machine measured in the same run.

The work of a workload is what any implementation has to do: the bytes of its operands and results, each moved once, and the
operations of its formulas, of which a multiply-add is two and a division one. Its roof is the time that the one takes at the bandwidth
of a working set of that size, or the other at the peak of arithmetic, whichever is longer (Williams, Waterman and Patterson, 2009).
"""

import math
import statistics
from typing import NamedTuple

PEAKS = ("bandwidth", "arithmetic")


class Work(NamedTuple):
    bytes: float
    operations: float
    threads: int = 1


class Roof(NamedTuple):
    nanoseconds: float
    bound: str


def rows_of(operations):
    """Row programs read and write a matrix of 1024 x 1024."""
    return lambda threads=1: Work(8 * 1024 * 1024, operations * 1024 * 1024, threads)


def convolution(passes):
    def work(size, threads=1):
        channels, rest = size.split("x")
        extent, kernel = map(int, rest.split("k"))
        pixels = 8 * extent * extent * int(channels)
        return Work(4 * 2 * pixels * passes, 2 * pixels * int(channels) * kernel * kernel * passes, threads)
    return work


MLP = 784 * 256 + 256 * 256 + 256 * 10  # multiply-adds of a row, forward
MLP_STEP = 6 * MLP - 2 * 784 * 256  # nobody asks for the gradient by the pictures


def tanh_chain(n, threads=1):
    return Work(20 * n, 26 * n, threads)


# By workload, from the parts of a size.
WORK = {
    "chain": tanh_chain,
    "expression": tanh_chain,
    "axpy": lambda n, threads=1: Work(12 * n, 2 * n, threads),
    "sum": lambda n, threads=1: Work(4 * n, n, threads),
    "softmax": rows_of(25),
    "row_softmax": rows_of(25),
    "layer_norm": rows_of(8),
    "row_layer_norm": rows_of(8),
    "bias_gelu": rows_of(30),
    "matrix_product": lambda n, threads=1: Work(12 * n * n, 2 * n**3, threads),
    "dense_layer": lambda rows, inputs, outputs, threads=1: Work(
        4 * (rows * inputs + inputs * outputs + rows * outputs), 2 * rows * inputs * outputs, threads),
    "convolution": convolution(1),
    "convolution_with_gradients": convolution(3),
    "copy": lambda size: Work(2 * size, 0),
    "copy_to_device": lambda size: Work(2 * size, 0),
    "copy_transposed": lambda n: Work(8 * n * n, 0),
    "all_reduce": lambda size: Work(4 * size, size / 4, 2),  # two ranks: both are read and written
    "mlp_step": lambda rows: Work(8 * MLP + 4 * 784 * rows, rows * MLP_STEP),
    "fashion_mnist_epoch": lambda threads: Work(60_000 * 784, 60_000 * MLP_STEP, threads),
}


def parts_of(size: str):
    return [int(part) if part.isdigit() else part for part in size.split("/")] if size else []


class Machine:
    """The peaks among the samples of a run: rates by threads, and of bandwidth by working set."""

    def __init__(self, samples):
        self.bandwidth: dict[int, list[tuple[int, float]]] = {}  # threads: (bytes, bytes per ns), ascending
        self.arithmetic: dict[int, float] = {}  # threads: operations per ns
        for by_size in samples.get("bandwidth", {}).values():
            for size, times in by_size.items():
                moved, threads = parts_of(size)
                self.bandwidth.setdefault(threads, []).append((moved, moved / statistics.median(times)))
        for by_size in samples.get("arithmetic", {}).values():
            for size, times in by_size.items():
                operations, threads = parts_of(size)
                self.arithmetic[threads] = operations / statistics.median(times)
        for rates in self.bandwidth.values():
            rates.sort()

    def rate(self, moved: float, threads: int) -> float:
        """Bytes per ns of a working set, between those that were measured linearly over its logarithm."""
        rates = self.bandwidth[threads]
        if moved <= rates[0][0]:
            return rates[0][1]
        for (low, slow), (high, fast) in zip(rates, rates[1:]):
            if moved <= high:
                return slow + (fast - slow) * math.log(moved / low) / math.log(high / low)
        return rates[-1][1]

    def roof(self, workload: str, size: str) -> Roof | None:
        """None where the work is not known, or the peaks of so many threads are not."""
        if workload not in WORK:
            return None
        work = WORK[workload](*parts_of(size))
        if work.threads not in self.bandwidth or work.threads not in self.arithmetic:
            return None
        moving = work.bytes / self.rate(work.bytes, work.threads)
        computing = work.operations / self.arithmetic[work.threads]
        return Roof(moving, "bandwidth") if moving >= computing else Roof(computing, "arithmetic")

    def table(self) -> str:
        """The peaks themselves; empty without any."""
        if not self.bandwidth and not self.arithmetic:
            return ""
        lines = ["### machine", "", "What it can do at most, measured in the same run: the shares below are of this.", "",
                 "| | " + " | ".join(f"{threads} thread{'s' * (threads > 1)}" for threads in sorted(self.bandwidth)) + " |",
                 "|---|" + "---|" * len(self.bandwidth)]
        for moved in sorted({moved for rates in self.bandwidth.values() for moved, _ in rates}):
            cells = [f"{dict(self.bandwidth[threads]).get(moved, 0):.1f} GB/s" for threads in sorted(self.bandwidth)]
            name = f"{moved >> 10} KB" if moved < 1 << 20 else f"{moved >> 20} MB"
            lines.append(f"| triad over {name} | " + " | ".join(cells) + " |")
        if self.arithmetic:
            cells = [f"{self.arithmetic[threads]:.1f} GFLOP/s" for threads in sorted(self.arithmetic)]
            lines.append("| multiply-adds of float32 | " + " | ".join(cells) + " |")
        return "\n".join(lines) + "\n"
