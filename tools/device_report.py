#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Report of a test run on the PTX interpreter, as tables of Markdown: suites with their cases, launches and coverage, then
families of kernels.

device_report.py [--only SUITES] [--also REPORT]... <program>...: runs each suite, or those of a list with commas, of programs
that were linked with the interpreter (docs/ptx_interpreter.md), in a process of its own. Variables such as PTXRUN_RACES are
passed on. --also adds reports of other runs, or folders of them, to the families and the sum: what other options and devices
reach. Ends with 1 when a case fails."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import device_coverage
from device_coverage import percent

NOTHING_RAN = 4
CUB = re.compile(r"\d+(radix_sort|reduce|scan|select|transform|merge_sort|for_each)\d+\w*?Device")
SMALL = 500  # instructions of a family; those with fewer share a row
BODIES = {"Elementwise": "elementwise programs", "JoinedElementwise": "elementwise programs that share a launch",
          "RowBody": "row programs", "Columns": "column sums"}


def family(name):
    """The kernel's template, from its mangled name: c++filt gives up on long ones."""
    if found := CUB.search(name):
        return f"CUB: {found[1].replace('_', ' ')}"
    rest = name.partition("run_bodyI")[2]
    while found := re.search(r"\d+(?=[A-Za-z_])(?!_)", rest):
        body, rest = rest[found.end():][:int(found[0])], rest[found.end() + int(found[0]):]
        if body[0].isupper():
            return BODIES.get(body, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", body.removesuffix("Body")).lower())
    return "other kernels"


class Sum:
    """Kernels taken together."""

    def __init__(self, kernels):
        self.kernels = len(kernels)
        self.launches = sum(kernel.launches for kernel in kernels)
        self.static = sum(kernel.size for kernel in kernels)
        self.executed = self.static - sum(len(kernel.missing()) for kernel in kernels)

    def cells(self):
        share = f"{percent(self.executed, self.static):.1f}%" if self.kernels else ""
        return f"{self.kernels:,} | {self.launches:,} | {self.static:,} | {share}"


class Suite:
    """One suite, run alone."""

    def __init__(self, program, name, report):
        begin = time.monotonic()
        result = subprocess.run([program, "--from", name], capture_output=True, text=True,
                                env=dict(os.environ, PTXRUN_REPORT=str(report)))
        self.name = name
        self.seconds = time.monotonic() - begin
        self.cases = len(re.findall(r"^case: ", result.stdout, re.MULTILINE))
        self.skipped = len(re.findall(r"^skipped: ", result.stdout, re.MULTILINE))
        self.failed = len(re.findall(r"^FAILED: ", result.stdout, re.MULTILINE))
        if result.returncode not in (0, NOTHING_RAN):
            self.failed = max(self.failed, 1)
            print(f"{name} ended with {result.returncode}\n{result.stdout}{result.stderr}", file=sys.stderr)
        self.sum = Sum(list(device_coverage.read([report]).values()) if report.exists() else [])

    def row(self):
        notes = [f"{count} {what}" for count, what in ((self.skipped, "skipped"), (self.failed, "**failed**")) if count]
        cases = f"{self.cases}" + (f" ({', '.join(notes)})" if notes else "")
        return f"| {self.name} | {cases} | {self.sum.cells()} | {self.seconds:.1f} |"


def document(suites, kernels, further):
    """further: how many reports of other runs the kernels are from, too"""
    families = {}
    for (name, _), kernel in kernels.items():
        families.setdefault(family(name), []).append(kernel)
    small = [name for name, group in families.items() if sum(kernel.size for kernel in group) < SMALL]
    rows = sorted(((name, Sum(group)) for name, group in families.items() if name not in small),
                  key=lambda row: -row[1].static)
    if small:
        rows.append((f"{len(small)} others", Sum([kernel for name in small for kernel in families[name]])))
    seconds = sum(suite.seconds for suite in suites)
    cases = sum(suite.cases for suite in suites)
    note = f" The sum, and the kernels below, also count reports of other runs ({further})." if further else ""
    return "\n".join([
        f"Coverage is the share of the instructions of launched kernels that some thread executed.{note}", "",
        "| suite | cases | kernels | launches | instructions | coverage | seconds |", "|---|---|---|---|---|---|---|",
        *(suite.row() for suite in suites),
        f"| **all** | {cases} | {Sum(list(kernels.values())).cells()} | {seconds:.1f} |", "",
        "| kernels | number | launches | instructions | coverage |", "|---|---|---|---|---|",
        *(f"| {name} | {group.cells()} |" for name, group in rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--also", action="append", default=[], type=Path, metavar="REPORT")
    parser.add_argument("--only", default="", metavar="SUITES")
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    suites = []
    with tempfile.TemporaryDirectory() as folder:
        for program in arguments.programs:
            listed = subprocess.run([program, "--list-suites"], capture_output=True, text=True, check=True).stdout
            for name in [name for name in listed.split() if not arguments.only or name in arguments.only.split(",")]:
                suites.append(Suite(program, name, Path(folder) / f"{len(suites):03}.txt"))
        also = device_coverage.files(arguments.also)
        kernels = device_coverage.read(device_coverage.files([Path(folder)]) + also)
    print(document(suites, kernels, len(also)))
    return 1 if any(suite.failed for suite in suites) else 0


if __name__ == "__main__":
    sys.exit(main())
