# SPDX-License-Identifier: Apache-2.0
"""The benchmarks of bench/run_gpu.sh: each group of workloads in a process of twill's, then each in one of PyTorch's; the
other libraries after them. What has been measured is in bench.json and bench.md after each workload. A result that is wrong is
recorded and fails the call, which goes on."""

import json
import os
import pathlib
import subprocess
import sys

from session import SKIPPED

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import bench_table  # noqa: E402
import gpu_roofline  # noqa: E402

GROUP_SECONDS = float(os.environ.get("GROUP_LIMIT", 150))
# The other peers, each all at once: (name, command, seconds).
OTHERS = (("cupy", [sys.executable, "bench/cupy/gpu_peers.py"], 60), ("jax", [sys.executable, "bench/jax/gpu_peers.py"], 90))


class Results:
    """The files of all parts, taken together."""

    def __init__(self, call):
        self.call = call
        self.seen: dict[pathlib.Path, float] = {}

    def files(self):
        return sorted(self.call.scratch.glob("*.json"))

    def collect(self):
        """Writes bench.json and bench.md where a part has written something."""
        times = {path: path.stat().st_mtime for path in self.files()}
        if times == self.seen:
            return
        self.seen = times
        samples, contexts = bench_table.read(times)
        explained = gpu_roofline.read(times)
        content = {"contexts": contexts, "samples": samples, **explained._asdict()}
        bars = json.loads((ROOT / "bench/gpu/bars.json").read_text())
        text = "\n".join(["# Benchmarks on a GPU\n", bench_table.document(samples, contexts, bars),
                          gpu_roofline.document(samples, contexts, explained)])
        for name, text in (("bench.json", json.dumps(content, indent=1) + "\n"), ("bench.md", text)):
            unfinished = self.call.out / f"{name}.part"
            unfinished.write_text(text)
            unfinished.replace(self.call.out / name)


def part(call, results, name, command, seconds):
    """One process, whose last argument but further ones is the file that it writes."""
    if call.left_s() < 10:
        call.skip(name, "out of time")
        return
    out = call.scratch / f"{name.replace(' ', '_')}.json"
    command = [out if argument == "OUT" else argument for argument in command]
    result = call.run(name, command, seconds, tick=results.collect)
    results.collect()
    reason = next((line for line in result.output.splitlines() if line.startswith("skipped")), "skipped")
    failures = gpu_roofline.read([out]).failures if out.exists() else {}
    if result.status == SKIPPED and not result.is_out_of_time:
        call.skip(name, reason.removeprefix("skipped: "))
        return
    call.outcome(name, result.seconds, result.ending, result.status != 0)
    for workload, message in failures.items():
        call.note(f"    {workload}: {message}")


def run(call, chosen):
    bench = call.programs.path("bench_gpu")
    listed = subprocess.run([bench, "--list"], capture_output=True, text=True, env=call.environment, timeout=60)
    groups = chosen(call, listed.stdout.split())
    if not listed.stdout:
        call.outcome("bench_gpu", 0, f"lists no groups: it ended with {listed.returncode}", True)
    results = Results(call)
    python = os.environ.get("TORCH_PYTHON", sys.executable)
    for group in groups:  # all of twill's before the first peer: a short call has at least these
        part(call, results, f"twill {group}", [bench, "OUT", group], GROUP_SECONDS)
    for group in groups:
        part(call, results, f"pytorch {group}", [python, "bench/gpu/peers.py", "OUT", "--only", group], GROUP_SECONDS)
    for name, command, seconds in OTHERS:
        part(call, results, name, [*command, "OUT"], seconds)
    matx = call.programs.path("bench_gpu_matx")
    if matx is None:
        call.skip("matx", "it was not found where the programs were built")
    else:
        part(call, results, "matx", [matx, "OUT"], 60)
