# SPDX-License-Identifier: Apache-2.0
"""Writes a file with the safetensors library (pip install safetensors numpy)."""

import pathlib

import numpy
from safetensors.numpy import save_file


def make(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    save_file(
        {
            "weight": numpy.arange(6, dtype=numpy.float32).reshape(2, 3) * 0.5,
            "count": numpy.array(1234567890123, dtype=numpy.int64),
            "halves": numpy.array([0.25, -1.5], dtype=numpy.float16),
        },
        str(folder / "library.safetensors"),
        metadata={"made by": "safetensors"},
    )


if __name__ == "__main__":
    make(pathlib.Path(__file__).parent)
