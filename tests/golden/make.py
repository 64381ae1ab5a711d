#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the golden files beside it with PyTorch: `make.py [topic ...]`. The tests read the files and need no PyTorch.

Each topic is a file under scripts/ with a function `make(save)`, where `save(name, array)` writes <topic>/<name>.npy.
`make.py --check [topic ...]` writes nothing, and fails where the installed PyTorch has other values than the files.
"""

import importlib
import pathlib
import sys

try:
    import numpy
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(4)

HERE = pathlib.Path(__file__).parent


def saver(topic, differing):
    """Writes files, or where a list of those that differ is given, adds to it."""
    folder = HERE / topic

    def save(name, array):
        array = numpy.asarray(array.detach() if isinstance(array, torch.Tensor) else array)
        kind = numpy.int64 if array.dtype.kind in "iub" else numpy.float64
        array, path = numpy.ascontiguousarray(array, dtype=kind), folder / f"{name}.npy"
        if differing is None:
            folder.mkdir(exist_ok=True)
            numpy.save(path, array)
        elif not path.exists() or not numpy.allclose(numpy.load(path), array, 1e-10, 1e-14, equal_nan=True):
            differing.append(f"{topic}/{name}")

    return save


def main():
    sys.path.insert(0, str(HERE / "scripts"))
    names = [name for name in sys.argv[1:] if name != "--check"]
    differing = [] if "--check" in sys.argv else None
    topics = names or sorted(path.stem for path in (HERE / "scripts").glob("*.py"))
    for topic in topics:
        torch.manual_seed(0)
        torch.set_default_dtype(torch.float64)
        importlib.import_module(topic).make(saver(topic, differing))
    if differing:
        sys.exit(f"PyTorch {torch.__version__} has other values: {', '.join(differing)}")


if __name__ == "__main__":
    main()
