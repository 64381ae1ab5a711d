#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the golden files beside it with PyTorch: `make.py [topic ...]`. The tests read the files and need no PyTorch.

Each topic is a file under scripts/ with a function `make(save)`, where `save(name, array)` writes <topic>/<name>.npy.
"""

import importlib
import pathlib
import sys

import numpy
import torch

HERE = pathlib.Path(__file__).parent


def saver(topic):
    folder = HERE / topic
    folder.mkdir(exist_ok=True)

    def save(name, array):
        array = numpy.asarray(array.detach() if isinstance(array, torch.Tensor) else array)
        kind = numpy.int64 if array.dtype.kind in "iub" else numpy.float64
        numpy.save(folder / f"{name}.npy", numpy.ascontiguousarray(array, dtype=kind))

    return save


def main():
    sys.path.insert(0, str(HERE / "scripts"))
    topics = sys.argv[1:] or sorted(path.stem for path in (HERE / "scripts").glob("*.py"))
    for topic in topics:
        torch.manual_seed(0)
        torch.set_default_dtype(torch.float64)
        importlib.import_module(topic).make(saver(topic))


if __name__ == "__main__":
    main()
