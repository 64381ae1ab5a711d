#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One SGD step of a model in twill and in PyTorch, taking turns in one run: the same weights and the same batch.

    compare.py resnet50|gpt2 PROGRAM [threads, default 1] [rounds, default 5] [result.json]

PROGRAM is the binary of bench/models/<model>.cpp. First the losses of the first steps have to
agree with those that PyTorch computes in float64: in float32 its own are off by more than a hundredth behind fifty batch norms. Then both make steps in
turn; the table has medians and spreads of what the clock and, for a machine that does other work, the processor counted. Memory: of twill the peak that was predicted before anything ran and the one that the
pool counted, which have to be equal; and of both processes how far the high-water mark of resident memory stands above what
the process held before the model was made, which for PyTorch is the only figure there is.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import torch
    from torch.nn import functional
except ImportError:
    print("PyTorch is not installed")
    sys.exit(4)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/pytorch"))
from reference import Gpt2, save  # noqa: E402

RATE = 0.01
# Relative, of the loss of the first step and of the one behind it; tests/pytorch compares every gradient, in float64.
TOLERANCES = (1e-4, 1e-2)


def make(name):
    if name == "gpt2":
        tokens = torch.randint(0, 50257, (1, 257))
        return Gpt2(), tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    import torchvision

    return torchvision.models.resnet50(weights=None), torch.randn(8, 3, 128, 128), torch.randint(0, 1000, (8,))


def resident_megabytes():
    """Now, and at most so far."""
    status = pathlib.Path("/proc/self/status").read_text()
    now = int(status.split("VmRSS:")[1].split()[0]) / 1024
    return now, int(status.split("VmHWM:")[1].split()[0]) / 1024


def processor_seconds(process="self"):
    """What a process has used so far, in all its threads."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spread(times):
    return f"{1e3 * statistics.median(times):8.1f} ms (spread {(max(times) - min(times)) / statistics.median(times):.0%})"


def train(model, optimiser, x, target):
    """One step; its loss."""
    optimiser.zero_grad(set_to_none=True)
    logits = model(x)
    loss = functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1))
    loss.backward()
    optimiser.step()
    return loss.item()


def print_exact_losses(name):
    """The losses of the first steps in float64, in a process of its own: what that takes is no part of a peak."""
    torch.manual_seed(0)
    model, x, target = make(name)
    model = model.double().train()
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE)
    x = x.double() if x.is_floating_point() else x
    print(json.dumps([train(model, optimiser, x, target) for _ in TOLERANCES]))


class Twill:
    """The other process."""

    def __init__(self, program, folder, threads):
        self.process = subprocess.Popen(
            [program, folder, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        start = json.loads(self.process.stdout.readline())
        self.predicted, self.resident_before = start["predicted"], start["resident"]

    def steps(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main():
    name, program = sys.argv[1], sys.argv[2]
    if program == "--exact":
        return print_exact_losses(name)
    exact_losses = json.loads(subprocess.check_output([sys.executable, __file__, name, "--exact"], text=True))
    threads = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        before, _ = resident_megabytes()
        model, x, target = make(name)
        model.train()
        save(pathlib.Path(folder) / "weights.safetensors", model.state_dict())
        save(pathlib.Path(folder) / "batch.safetensors", {"input": x, "target": target})
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # what writing the files took is no part of a peak
        optimiser = torch.optim.SGD(model.parameters(), lr=RATE)

        def step():
            return train(model, optimiser, x, target)

        twill = Twill(program, folder, threads)
        for number, tolerance in enumerate(TOLERANCES):
            theirs, ours = step(), twill.steps(1)["loss"]
            exact = exact_losses[number]
            print(f"loss of step {number}: PyTorch {theirs:.6f}, in float64 {exact:.6f}, twill {ours:.6f}")
            if not abs(exact - ours) <= tolerance * abs(exact):
                print("the losses differ")
                return 1
        times = {"PyTorch": [], "twill": []}
        work = {"PyTorch": [], "twill": []}
        for _ in range(rounds):
            start, used = time.perf_counter(), processor_seconds()
            step()
            times["PyTorch"].append(time.perf_counter() - start)
            work["PyTorch"].append(processor_seconds() - used)
            used = processor_seconds(twill.process.pid)
            last = twill.steps(1)
            times["twill"].append(last["seconds"])
            work["twill"].append(processor_seconds(twill.process.pid) - used)
    for contender, measured in times.items():
        print(f"{contender:8} {spread(measured)}, processor {spread(work[contender])}")
    ratio = statistics.median(times["twill"]) / statistics.median(times["PyTorch"])
    print(f"twill / PyTorch {torch.__version__}, {threads} thread(s), load {os.getloadavg()[0]:.1f}: {ratio:.3f}")
    exact = twill.predicted == last["peak"]
    print(f"twill's peak: predicted {twill.predicted} bytes, counted {last['peak']}{'' if exact else '  DIFFERENT'}")
    peaks = {"PyTorch": resident_megabytes()[1] - before, "twill": last["resident"] - twill.resident_before}
    print("resident peak above the start, MB: " + ", ".join(f"{k} {v:.0f}" for k, v in peaks.items()))
    if len(sys.argv) > 5:
        result = {
            "model": name,
            "threads": threads,
            "load": os.getloadavg()[0],
            "pytorch": torch.__version__,
            "seconds": times,
            "processor_seconds": work,
            "predicted_bytes": twill.predicted,
            "counted_bytes": last["peak"],
            "resident_megabytes": peaks,
        }
        pathlib.Path(sys.argv[5]).write_text(json.dumps(result, indent=1) + "\n")
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main())
