#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Few files that prove each header alone: `chains.py <include folder> <output folder> <headers...>`.

If B includes A, however deeply, a file that includes A and then B proves both: A comes first, and what it brings would be
there in B without it. So the headers are cut into as few chains as possible (Dilworth 1950, by bipartite matching), and
each chain is written as one file, which includes every header twice, as the guards have to work too. Prints the files.

`--check` writes nothing and fails when includes have changed so much that the files there are no longer chains.
"""

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


def check(folder: Path, output: Path, names: list[str]) -> int:
    reach = reach_of(folder, names)
    chains = [re.findall(r"<(.*)>$", file.read_text(), re.MULTILINE) for file in sorted(output.glob("*.cpp"))]
    broken = [(a, b) for chain in chains for a, b in zip(chain, chain[1:]) if a not in reach.get(b, ())]
    missing = set(names) - {name for chain in chains for name in chain}
    for lower, upper in broken:
        print(f"chains: {upper} no longer includes {lower}; configure this build again")
    for name in sorted(missing):
        print(f"chains: {name} is in no file; configure this build again")
    return 1 if broken or missing else 0


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    folder, output, names = Path(arguments[0]), Path(arguments[1]), sorted(arguments[2:])
    if "--check" in sys.argv:
        return check(folder, output, names)
    output.mkdir(parents=True, exist_ok=True)
    written = {}
    for chain in chains_of(names, reach_of(folder, names)):
        written[output / (re.sub(r"\W", "_", chain[-1]) + ".cpp")] = text_of(chain)
    for stale in set(output.glob("*.cpp")) - set(written):
        stale.unlink()
    for file, text in written.items():
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    print(";".join(str(file) for file in sorted(written)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
