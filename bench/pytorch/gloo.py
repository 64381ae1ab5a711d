#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All-reduce of two processes by Gloo, as torch.distributed calls it: a peer of bench/parallel/all_reduce.mpi.cpp.

    gloo.py OUT.json [--repetitions 5] [--min-time 0.05]

The sums are compared first; the first process tells the other how often. Ends with 4 where there is no PyTorch with Gloo.
"""

import os
import socket
import sys
from pathlib import Path

try:
    import torch
    import torch.distributed
    import torch.multiprocessing
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(4)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import timing  # noqa: E402: found beside the other benchmarks

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)


def numbers_of(rank, count):
    return ((torch.arange(count) * 7 + rank * 13) % 101).float()


def play(rank, port, options):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    rows = []
    for repetition in range(options.repetitions):
        for size in SIZES:
            count = size // 4
            data = numbers_of(rank, count)
            torch.distributed.all_reduce(data)
            if not torch.equal(data, numbers_of(0, count) + numbers_of(1, count)):
                sys.exit("all_reduce/gloo: the sums are wrong")
            data.zero_()  # which stays what it is

            def run(data=data):
                torch.distributed.all_reduce(data)
            once = min(timing.seconds(run, 1) for _ in range(3))
            times = torch.tensor([max(3, int(options.min_time / max(once, 1e-9)))])
            torch.distributed.broadcast(times, 0)
            taken = timing.seconds(run, int(times))
            if rank == 0:
                rows.append((f"all_reduce/gloo/{size}", 1e9 * taken / int(times)))
    if rank == 0:
        timing.write(options.out, rows, f"PyTorch {torch.__version__}")
    torch.distributed.destroy_process_group()


def main():
    options = timing.options_of(__doc__.splitlines()[0])
    if not torch.distributed.is_available() or not getattr(torch.distributed, "is_gloo_available", lambda: True)():
        print("skipped: this PyTorch has no Gloo")
        return 4
    if (os.cpu_count() or 1) < 2:
        print("skipped: two processes need two cores")
        return 4
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(play, (port, options), nprocs=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
