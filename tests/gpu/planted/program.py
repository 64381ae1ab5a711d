#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with planted faults and the command lines of those that need a GPU, by the name that it is called: bench_gpu, a
Python with PyTorch that runs bench/gpu/peers.py, and compute-sanitizer. With PLANTED=no_gpu there is none to see."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

GROUPS = ("good", "wrong", "crash", "hang")
SKIPPED = 4
FINDINGS = 86


def crash():
    os.kill(os.getpid(), signal.SIGSEGV)


def hang():
    subprocess.Popen(["sleep", "60"])  # a child that has to end, too
    time.sleep(60)


def report(path, name, is_right=True):
    entry = {"name": name, "run_type": "iteration"}
    entry |= {"real_time": 1e6, "time_unit": "ns"} if is_right else {"error_occurred": True, "error_message": "the result is wrong"}
    node = {"operation": "matmul", "layer": "fc", "dtype": "bfloat16", "launches": 1, "ns": 5e5, "bytes": 1e8, "flops": 1e9}
    content = {"context": {"machine": "NVIDIA H100 80GB HBM3", "commit": os.environ["TWILL_COMMIT"]},
               "steps": {"gpu_mlp_step/32": {"peak_bytes": 1 << 30, "nodes": [node]}}, "benchmarks": [entry]}
    Path(path).write_text(json.dumps(content))


def bench(arguments):
    if arguments == ["--card"]:
        if os.environ.get("PLANTED") == "no_gpu":
            print("skipped: this machine has no GPU")
            return SKIPPED
        print("NVIDIA H100 80GB HBM3")
        return 0
    if arguments == ["--list"]:
        print("\n".join(GROUPS))
        return 0
    if os.environ.get("PLANTED") == "no_gpu":
        return SKIPPED
    out, group = arguments
    report(out, "gpu_matmul_bf16/twill/1024", group != "wrong")
    if group == "crash":
        crash()
    if group == "hang":
        hang()
    return 1 if group == "wrong" else 0


def peers(arguments):
    """peers.py OUT --only GROUP"""
    report(arguments[1], "gpu_matmul_bf16/pytorch/1024")
    return 0


def sanitizer(arguments):
    """Finds something in the suite `wrong`, else ends as the program does."""
    status = subprocess.call(arguments[arguments.index("--error-exitcode") + 2:])
    return FINDINGS if "wrong" in arguments else abs(status)


if __name__ == "__main__":
    programs = {"bench_gpu": bench, "torch_python": peers, "compute-sanitizer": sanitizer}
    sys.exit(programs[Path(sys.argv[0]).name](sys.argv[1:]))
