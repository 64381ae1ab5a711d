#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README's C++ blocks are regions of files that are compiled and run.

A block is announced by `<!-- examples/03_tour.cpp: region -->` on the line above it; the file marks the region by the
lines `// region: name` and `// end region`. Indentation common to the region is removed before both are compared.
"""

import re
import textwrap

import tree

BLOCK = re.compile(r"(?:<!-- (\S+): ([\w-]+) -->\n)?```cpp\n(.*?)```", re.DOTALL)


def region(text: str, name: str) -> str | None:
    match = re.search(rf"^ *// region: {re.escape(name)}\n(.*?)^ *// end region", text, re.DOTALL | re.MULTILINE)
    return textwrap.dedent(match.group(1)) if match else None


def check(root):
    for document in ("README.md", "CONTRIBUTING.md"):
        path = root / document
        if not path.exists():
            yield f"{document}: missing"
            continue
        for file, name, block in BLOCK.findall(path.read_text()):
            if not file:
                yield f"{document}: a block without `<!-- file: region -->` above it: {block.splitlines()[0]}"
                continue
            if not (root / file).exists():
                yield f"{document}: {file} does not exist"
                continue
            expected = region((root / file).read_text(), name)
            if expected is None:
                yield f"{document}: {file} has no region {name}"
            elif expected.rstrip() != block.rstrip():
                yield f"{document}: the block differs from region {name} of {file}; it should read\n{expected}"


if __name__ == "__main__":
    tree.run(check)
