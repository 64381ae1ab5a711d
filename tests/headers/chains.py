#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Few files that prove each header alone: `chains.py <include folder> <output folder> <headers...>`.

If B includes A, however deeply, a file that includes A and then B proves both: A comes first, and what it brings would be
there in B without it. So the headers are cut into as few chains as possible (Dilworth 1950, by bipartite matching), and
each chain is written as one file, which includes every header twice, as the guards have to work too. Prints the files.

`--base <header>`, of which there may be several, later ones including earlier ones: chains of headers that include it
are written into a folder of its name, to be compiled with it precompiled, which comes first as A does. `--suffix .cu` is
another one than .cpp. `--check` writes nothing and fails when includes have changed so much that the files there are no
longer chains.
"""

import argparse
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r"^\s*#\s*include\s*<(twill/[^>]+)>", re.MULTILINE)


def reach_of(folder: Path, names: list[str]) -> dict[str, set[str]]:
    """What each header includes, directly and through others."""
    included = {name: INCLUDE.findall((folder / name).read_text()) for name in names}
    reach: dict[str, set[str]] = {}

    def visit(name: str) -> set[str]:
        if name not in reach:
            reach[name] = set()
            for other in included.get(name, []):
                reach[name] |= {other} | visit(other)
        return reach[name]

    for name in names:
        visit(name)
    return reach


def chains_of(names: list[str], reach: dict[str, set[str]]) -> list[list[str]]:
    above: dict[str, str] = {}  # the next header of the chain, by the one before it

    def place(name: str, tried: set[str]) -> bool:
        for lower in sorted(reach[name] & set(names)):
            if lower >= name and name in reach[lower]:
                continue  # they include each other, at the end of one: a chain is no ring
            if lower not in tried:
                tried.add(lower)
                if lower not in above or place(above[lower], tried):
                    above[lower] = name
                    return True
        return False

    for name in names:
        place(name, set())
    chains = []
    for name in sorted(set(names) - set(above.values())):
        chain = [name]
        while chain[-1] in above:
            chain.append(above[chain[-1]])
        chains.append(chain)
    return chains


def text_of(chain: list[str]) -> str:
    return "".join(f"#include <{name}>\n" for name in chain) + "".join(f"#include <{name}> // again\n" for name in chain)


def folder_of(base: str) -> str:
    return re.sub(r"\W", "_", base)


def grouped(names: list[str], bases: list[str], reach: dict[str, set[str]]) -> dict[str, list[str]]:
    """The headers that include a base, by the last one; those that include none under an empty name."""
    groups: dict[str, list[str]] = {base: [] for base in ["", *bases]}
    for name in names:
        groups[next((base for base in reversed(bases) if base in reach[name]), "")].append(name)
    return groups


def check(folder: Path, output: Path, names: list[str], bases: list[str], suffix: str) -> int:
    reach = reach_of(folder, names)
    broken = []
    missing = set(names)
    for base in ["", *bases]:
        for file in sorted((output / folder_of(base)).glob(f"*{suffix}")):
            chain = re.findall(r"<(.*)>$", file.read_text(), re.MULTILINE)
            missing -= set(chain)
            chain = [base, *chain] if base else chain
            broken += [(a, b) for a, b in zip(chain, chain[1:]) if a not in reach.get(b, ())]
    for lower, upper in broken:
        print(f"chains: {upper} no longer includes {lower}; configure this build again")
    for name in sorted(missing):
        print(f"chains: {name} is in no file; configure this build again")
    return 1 if broken or missing else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--base", action="append", default=[])
    parser.add_argument("--suffix", default=".cpp")
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("names", nargs="+")
    given = parser.parse_args()
    names = sorted(given.names)
    if given.check:
        return check(given.folder, given.output, names, given.base, given.suffix)
    reach = reach_of(given.folder, names)
    written = {}
    for base, group in grouped(names, given.base, reach).items():
        output = given.output / folder_of(base)
        output.mkdir(parents=True, exist_ok=True)
        for chain in chains_of(group, reach):
            written[output / (folder_of(chain[-1]) + given.suffix)] = text_of(chain)
    for stale in set(given.output.glob(f"**/*{given.suffix}")) - set(written):
        stale.unlink()
    for file, text in written.items():
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    print(";".join(str(file) for file in sorted(written)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
