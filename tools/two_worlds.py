#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions of tensors that traced values lack, and the reverse: what a function template for both cannot call.

Reads the names that the reference shows (tools/reference/names.py). Ends with 4 (skipped) where Doxygen is missing.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tools/reference"), str(ROOT / "tools/checks")]
from names import Reference, run_doxygen

TENSOR_HEADERS = re.compile(r"(tensor/views|expr|algorithms|nn/eager\w*)\b")
TENSORS = re.compile(r"\b(TensorOperand|AnyTensor|Tensor|Operands|Argument)\b")
VALUES = re.compile(r"\b(Value|FirstValue|Term)\b")


def takes(entry, pattern):
    """Whether an operand of an overload is of such a type, itself or as a template parameter."""
    return any(pattern.search(p.type) for overload in entry.overloads for p in (*overload.templates, *overload.parameters))


def functions(root):
    """Names of functions of tensors and of traced values."""
    with tempfile.TemporaryDirectory() as folder:
        run_doxygen(root, Path(folder))
        entries = [e for e in Reference(root, Path(folder) / "xml").entries if e.kind == "function"]
    both = {e.name for e in entries if e.header.startswith("elementwise/")}
    values = {e.name.removeprefix("nn::") for e in entries if e.full.startswith("twill::graph::") and takes(e, VALUES)}
    tensors = {e.name for e in entries if re.fullmatch(r"twill::\w+", e.full) and TENSOR_HEADERS.match(e.header) and
               takes(e, TENSORS)}
    return tensors | both, {name for name in values | both if not name.startswith("operator")}


if __name__ == "__main__":
    if shutil.which("doxygen") is None:
        print("skipped: Doxygen is not installed")
        sys.exit(4)
    of_tensors, of_values = functions(ROOT)
    print("of tensors alone:", *sorted(of_tensors - of_values))
    print("of traced values alone:", *sorted(of_values - of_tensors))
