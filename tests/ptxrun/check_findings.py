#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each kernel of wrong_kernels.cu and compares what the PTX interpreter reports with the comment above the kernel.

check_findings.py <program> <source>: a line `// finds: <kind>` stands above each kernel; `nothing` means silence. A finding
has to name the kernel and a line of it or of a function that it calls, and the program has to end with 86."""

import os
import re
import subprocess
import sys

STATUS_OF_FINDINGS = 86
ENVIRONMENT = {"PTXRUN_RACES": "1", "PTXRUN_GLOBAL_RACES": "1", "PTXRUN_LIMIT_M": "1"}


def expected_findings(source):
    """The kind for each kernel, in the order of the file."""
    return re.findall(r"// finds: (.+)\n__global__ void (\w+)\(", source)


def fault_of(program, source_name, kernel, kind):
    """A sentence on what is wrong with the run of a kernel, or None."""
    run = subprocess.run([program, kernel], capture_output=True, text=True, env={**os.environ, **ENVIRONMENT}, timeout=60)
    text = run.stdout + run.stderr
    if kind == "nothing":
        return None if run.returncode == 0 and not text else f"is right, but ended with {run.returncode}:\n{text}"
    if run.returncode != STATUS_OF_FINDINGS:
        return f"ended with {run.returncode}, not {STATUS_OF_FINDINGS}:\n{text}"
    lines = [line for line in text.splitlines() if line.startswith("ptxrun: ")]
    if not any(kind in line for line in lines):
        return f"reports no '{kind}':\n{text}"
    if not re.search(rf"^  kernel .*\b{kernel}\(", text, re.M):
        return f"is not named:\n{text}"
    if not re.search(rf"^  at .*{re.escape(source_name)}:\d+", text, re.M):
        return f"is reported without a place in {source_name}:\n{text}"
    return None


def main():
    program, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        expected = expected_findings(file.read())
    listed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    faults = 0
    if sorted(listed) != sorted(kernel for _, kernel in expected):
        print("the program's kernels and the source's comments differ")
        faults += 1
    for kind, kernel in expected:
        fault = fault_of(program, os.path.basename(path), kernel, kind)
        if fault is not None:
            print(f"{kernel} {fault}")
            faults += 1
    print(f"{len(expected)} kernels, {faults} faults")
    return 1 if faults or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
