#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/reference are what tools/reference/writer.py writes, and every public name has its entry and its line of code.

`--write` writes them. Ends with 4 (skipped) where Doxygen is missing.
"""

import shutil
import sys
from pathlib import Path

import tree

sys.path.append(str(Path(__file__).resolve().parents[1] / "reference"))
import writer


def check(root):
    pages, faults = writer.make(root)
    yield from faults
    for path, text in pages.items():
        if not (root / path).exists() or (root / path).read_text() != text:
            yield f"{path}: not what the headers and tests/reference say; run tools/checks/reference_pages.py --write"
    for path in sorted((root / "docs/reference").glob("*.md")):
        if path.relative_to(root).as_posix() not in pages:
            yield f"{path.relative_to(root)}: a page that nothing writes"


if __name__ == "__main__":
    if shutil.which("doxygen") is None:
        print("skipped: Doxygen is not installed")
        sys.exit(4)
    if "--write" in sys.argv:
        sys.exit(writer.write(Path(__file__).resolve().parents[2]))
    tree.run(check)
