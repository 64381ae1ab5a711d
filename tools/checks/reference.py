#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reference has a sentence for every public name, and Doxygen finds nothing to warn of.

`reference.py` checks, without keeping the pages: 4 where Doxygen is missing, for CTest's "skipped".
`reference.py --write FOLDER` makes the pages.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEEP = "--write"


def run(folder: Path, keeps_pages: bool) -> subprocess.CompletedProcess:
    """Doxygen with the tree's Doxyfile. Without pages it writes an index of names, since it insists on writing something."""
    settings = ["@INCLUDE = docs/Doxyfile", f'OUTPUT_DIRECTORY = "{folder}"']
    if not keeps_pages:
        settings += ["GENERATE_HTML = NO", f'GENERATE_TAGFILE = "{folder}/names.xml"']
    return subprocess.run(["doxygen", "-"], input="\n".join(settings), text=True, cwd=ROOT, capture_output=True)


def main() -> int:
    if shutil.which("doxygen") is None:
        print("skipped: Doxygen is not installed")
        return 4
    if KEEP in sys.argv:
        folder = Path(sys.argv[sys.argv.index(KEEP) + 1])
        folder.mkdir(parents=True, exist_ok=True)
        result = run(folder, True)
    else:
        with tempfile.TemporaryDirectory() as folder:
            result = run(Path(folder), False)
    print(result.stdout + result.stderr, end="")
    return 1 if result.returncode != 0 or "warning:" in result.stderr else 0


if __name__ == "__main__":
    sys.exit(main())
