#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coverage of device code: which instructions of the kernels that were launched some thread has executed.

device_coverage.py [--at-least PERCENT] [--worst N] [--lines N] <report or folder>...: adds up the reports that runs on the
PTX interpreter leave (PTXRUN_REPORT; docs/ptx_interpreter.md). Kernels of several files that have one name and size are
one. --worst lists the kernels with the most instructions that nobody executed; --lines the source lines with the most of them, from
reports that were written with PTXRUN_UNREACHED=1. Ends with 1 below --at-least."""

import argparse
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path


class Kernel:
    """What is known of one kernel over all reports."""

    def __init__(self, size):
        self.size = size
        self.executed = 0  # bit n: instruction n
        self.launches = 0
        self.places = {}  # of instructions that one run or another did not reach

    def missing(self):
        return [n for n in range(self.size) if not self.executed >> n & 1]


def bits_of(digits):
    """A bitmap whose digits, and bits in a digit, begin with the lowest."""
    return int(digits[::-1] or "0", 16)


def files(paths):
    """The reports that are named, and those of folders."""
    return [path for each in paths for path in (sorted(each.glob("*.txt")) if each.is_dir() else [each])]


def read(paths):
    kernels = {}
    current = None
    for path in paths:
        for line in path.read_text().splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "KERNEL":
                words = rest.split()
                key = (words[-1], int(words[words.index("static") + 1]))
                current = kernels.setdefault(key, Kernel(key[1]))
                current.launches += int(words[words.index("launches") + 1])
            elif kind == "COVER":
                current.executed |= bits_of(rest.split()[1])
            elif kind == "UNREACHED":
                number, _, place = rest.partition(" ")
                current.places[int(number)] = place.split(": ")[0]
    return kernels


def demangled(names):
    if shutil.which("c++filt") is None:
        return list(names)
    result = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


def percent(part, whole):
    return 100 * part / whole if whole else 100.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT")
    parser.add_argument("--worst", type=int, default=0, metavar="N")
    parser.add_argument("--lines", type=int, default=0, metavar="N")
    parser.add_argument("reports", nargs="+", type=Path)
    arguments = parser.parse_args()
    kernels = read(files(arguments.reports))
    if not kernels:
        print("no kernel was launched")
        return 1
    missing = {key: kernel.missing() for key, kernel in kernels.items()}
    worst = sorted(kernels, key=lambda key: -len(missing[key]))[:arguments.worst]
    for key, name in zip(worst, demangled([name for name, _ in worst])):
        share = percent(key[1] - len(missing[key]), key[1])
        print(f"{len(missing[key]):6} of {key[1]:6} not executed ({share:.1f}% are)  {name}")
    places = Counter(kernel.places[n] for key, kernel in kernels.items() for n in missing[key] if n in kernel.places)
    for place, count in places.most_common(arguments.lines):
        print(f"{count:6} instructions not executed at {place}")
    static = sum(size for _, size in kernels)
    executed = static - sum(map(len, missing.values()))
    share = percent(executed, static)
    print(f"{len(kernels)} kernels, {sum(kernel.launches for kernel in kernels.values())} launches: "
          f"{executed} of {static} instructions executed, {share:.1f}%")
    return 0 if share >= arguments.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
