#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads PTX: check_ptx.py file... Ends with 1 unless every kernel stores something, calls nothing, and contains the
instruction that its program's exponentials need. (A call of a function that is host-only vanishes without a warning.)"""

import re
import sys

# Enumerators of kernel::Primitive in mangled names whose code has to contain ex2.
EXPONENTIALS = {11: "exp", 23: "tanh"}


def kernels(text: str):
    """Name and body of every kernel."""
    parts = re.split(r"^\s*(?:\.visible |\.weak )?\.entry ", text, flags=re.MULTILINE)[1:]
    for part in parts:
        yield re.match(r"\w+", part).group(), part


def main() -> int:
    found, faults = 0, []
    for path in sys.argv[1:]:
        for name, body in kernels(open(path).read()):
            found += 1
            if "st.global" not in body:
                faults.append(f"{name} stores nothing")
            if re.search(r"^\s*call", body, re.MULTILINE):
                faults.append(f"{name} calls a function")
            for number, primitive in EXPONENTIALS.items():
                if re.search(rf"StepILNS\d_9PrimitiveE{number}E", name) and "ex2" not in body:
                    faults.append(f"{name} computes no {primitive}")
    print(f"{found} kernels")
    print("\n".join(faults))
    return 1 if faults or found == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
