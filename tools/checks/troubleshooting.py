#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/troubleshooting.md has a row with cause and remedy for each sentence that the compiler prints where a program is wrong:
each enumerator of an `enum class` below whose name ends in `Problem`, and of `ScheduleFault`. A row whose sentence none of them has
any more is refused, too."""

import re
from pathlib import Path

import tree

PAGE = "docs/troubleshooting.md"
ENUM = re.compile(r"enum class \w*(?:Problem|ScheduleFault) : [\w:]+ \{(.*?)\};", re.DOTALL)
ROW = re.compile(r"^\| `([a-z0-9]+(?:_[a-z0-9]+)*)` \| (.*) \| (.*) \|$", re.MULTILINE)


def sentences(root) -> dict[str, str]:
    """Each sentence, with a header that has it."""
    found: dict[str, str] = {}
    for header in tree.headers(root):
        for body in ENUM.findall((root / "include" / header).read_text()):
            for name in re.findall(r"(\w+)\s*(?:=[^,]*)?,", re.sub(r"//.*", "", body)):
                if name != "none":
                    found.setdefault(name, header)
    return found


def check(root):
    path = root / PAGE
    rows: dict[str, tuple[str, str]] = {}
    for name, cause, remedy in ROW.findall(path.read_text() if path.exists() else ""):
        if name in rows:
            yield f"{PAGE}: {name} has two rows"
        rows[name] = (cause.strip(), remedy.strip())
    known = sentences(root)
    for name, header in known.items():
        if name not in rows:
            yield f"{PAGE}: {name} ({header}) has no row `| sentence | cause | remedy |`"
        elif not all(rows[name]):
            yield f"{PAGE}: the row of {name} lacks a cause or a remedy"
    yield from (f"{PAGE}: {name} is no sentence of the library" for name in rows if name not in known)


if __name__ == "__main__":
    tree.run(check)
