#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures errors and speed of the vector functions and writes tools/ulp/results.md.

Over all 2^32 floats for the instruction set of this machine (about an hour of one core), over every 61st for the others.

    tools/ulp/measure.py            # CXX=clang++-16 for another compiler
    tools/ulp/measure.py --stride 4099 --print
"""
import argparse
import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
FLAGS = ["-std=c++20", "-O3"]

OPENING = """# Errors and speed of the vector functions

Written by `tools/ulp/measure.py`; compiler: {compiler}, flags: `{flags}`
and the `-march` of each heading; processor: {processor}. 4294967296 inputs are all of float32; smaller numbers are an even
sample of all bit patterns. power of float64 is held to 1.6 ULP by tests/kernel/accuracy.test.cpp; digamma is compared with
this library's own form in float64; special_functions.md compares it and the other special functions with mpmath.
Errors are in units in the last place of the result type, those of subnormals at least, against libm in float64 (float64: in
long double). "Wrong" counts results of another kind than the exact one: NaN, infinity, the sign of zero. Results are the same
for every number of lanes; without fused multiply-add (x86-64) they differ, and sin and tan lose relative accuracy at their zeros.
Activation functions are measured from the given number up: below, their results are no normal numbers; or digits cancel, as
in gelu and gelu_tanh, where gelu_accurate keeps those that the rounded square of x leaves.
"""


def build(compiler, source, march, folder):
    program = Path(folder) / f"{source}-{march}"
    libm = ["-DTWILL_ULP_WITH_LIBMVEC"], ["-lmvec"]
    command = [compiler, *FLAGS, f"-march={march}", f"-I{INCLUDE}", str(HERE / f"{source}.cpp"), "-o", str(program), "-lpthread"]
    if subprocess.run(command + libm[0] + libm[1], capture_output=True).returncode != 0:
        subprocess.run(command, check=True)
    return program


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown"


def opening(compiler):
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return OPENING.format(compiler=version, flags=" ".join(FLAGS), processor=processor())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--stride", default="1")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    compiler = os.environ.get("CXX", "g++")
    parts = [opening(compiler)]
    with tempfile.TemporaryDirectory() as folder:
        for march, stride in (("native", options.stride), ("x86-64-v3", "61"), ("x86-64", "61")):
            parts.append(f"## Errors with -march={march}\n\n" + run(build(compiler, "ulp", march, folder), "--stride", stride))
        parts.append("## Speed with -march=native, 4096 numbers in cache\n\n" + run(build(compiler, "speed", "native", folder)))
    text = "\n".join(parts)
    if options.print:
        print(text)
    else:
        (HERE / "results.md").write_text(text)
