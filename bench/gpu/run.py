#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The calls of bench/run_gpu.sh: run.py smoke|tests|bench|sanitize PROGRAMS OUT. Each ends with 1 where a part failed, where
no GPU was seen or where nothing ran."""

import os
import pathlib
import shutil
import sys

import session
import suites

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMOKE = ("device", "copies", "elementwise", "rows", "columns", "products", "gemm")
JOBS = int(os.environ.get("JOBS", 4))  # suites at once
# By device memory as a whole, which others use meanwhile.
ALONE = {"memory": "measures the memory of the whole card, and under a tool that is not its own"}


def chosen(call, names):
    """Those of the names that $ONLY has, all without it; a name that nothing has is a failure."""
    only = os.environ.get("ONLY", "").replace(",", " ").split()
    for name in only:
        if name not in names:
            call.outcome(name, 0, f"there is none of this name, but {', '.join(names)}", True)
    return [name for name in names if not only or name in only]


def work(call, choose):
    """Pairs of program and suite, of the suites that are chosen."""
    pairs = [(program, suite) for program in suites.PROGRAMS for suite in suites.suites_of(call, program)]
    wanted = choose(call, [suite for _, suite in pairs])
    return [pair for pair in pairs if pair[1] in wanted]


def smoke(call):
    suites.run_suites(call, work(call, lambda call, names: SMOKE), limit_s=25)
    bench = call.programs.path("bench_gpu")
    out = call.scratch / "products.json"
    result = call.run("a product", [bench, out, "products"], 30)
    call.outcome("a product", result.seconds, result.ending, result.status != 0)


def tests(call):
    limit = float(os.environ.get("SUITE_LIMIT", 60))
    pairs = work(call, chosen)
    for jobs, alone in ((JOBS, False), (1, True)):
        suites.run_suites(call, [pair for pair in pairs if (pair[1] in ALONE) == alone], limit, jobs)


def sanitize(call):
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.access(tool, os.X_OK):
        call.outcome("compute-sanitizer", 0, "was not found", True)
        return
    pairs = work(call, chosen)
    for suite, reason in ALONE.items():
        if any(suite == other for _, other in pairs):
            call.skip(suite, reason)
    pairs = [pair for pair in pairs if pair[1] not in ALONE]
    limit = float(os.environ.get("SUITE_LIMIT", 120))
    for name in ("memcheck", "racecheck", "initcheck"):
        suites.run_suites(call, pairs, limit, JOBS, tool=name,
                          prefix=[tool, "--tool", name, "--error-exitcode", str(suites.FINDINGS)],
                          environment={"TWILL_SUITE_SIZE": "small", "TWILL_MEMORY": "each_alone"})


def bench(call):
    import benchmarks

    benchmarks.run(call, chosen)


def main():
    command, programs, out = sys.argv[1:]
    os.chdir(ROOT)
    limit = float(os.environ.get("LIMIT", 90 if command == "smoke" else 570))
    call = session.Session(command, out, session.Programs(programs), limit)
    if call.sees_a_gpu():
        {"smoke": smoke, "tests": tests, "bench": bench, "sanitize": sanitize}[command](call)
    return call.finish()


if __name__ == "__main__":
    sys.exit(main())
