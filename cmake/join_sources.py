#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one source file from several, which then share headers and what they instantiate:

    join_sources.py --out FILE SOURCE...

The includes at the top of all come first; what follows them in a source is put into a namespace of its own.
"""

import argparse
import pathlib
import re


def taken_apart(source: pathlib.Path) -> tuple[list[str], str]:
    """The includes at the top of a source, and the lines after them with empty ones in their place."""
    includes, lines, at_top = [], [], True
    for line in source.read_text().splitlines():
        included = re.match(r'#include\s+(?:"([^"]+)"|<)', line)
        at_top = at_top and (included is not None or not line.strip() or line.startswith("//"))
        beside = included and included[1] and source.parent / included[1]
        if beside and beside.exists():
            line = f'#include "{beside.resolve()}"'
        if included and at_top:
            includes.append(line)
            line = ""
        lines.append(line)
    return includes, "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    includes: dict[str, None] = {}  # in the order in which they are met
    bodies = []
    for source in options.sources:
        top, body = taken_apart(source)
        includes.update(dict.fromkeys(top))
        name = re.sub(r"\W", "_", f"{source.parent.name}_{source.name.removesuffix('.test.cpp')}") + "_tests"
        bodies.append(f'namespace {name} {{\n#line 1 "{source}"\n{body}\n}}  // namespace {name}\n')
    options.out.write_text("\n".join(includes) + "\n\n" + "\n".join(bodies))


if __name__ == "__main__":
    main()
