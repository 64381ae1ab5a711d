#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts under gdb the calls between a user's line and the loop over rows of a kernel, and the files that they are in.

    walk.py <program of walk.cpp> [--print]

docs/architecture.md describes both walks. Ends with 4 where there is no gdb, with 1 where a walk is longer than it may be.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

# The comment of the line, and the most calls and files from there to `run_rows`; half of the calls without debug information
# would count as fewer.
WALKS = {"statement": (12, 7), "step": (20, 10)}
FRAME = re.compile(r"^#\d+ .* at (\S+):\d+$", re.MULTILINE)


def files_of_walk(program: str, line: int) -> list[str]:
    """The file of each frame, from the kernel to the user's line."""
    commands = ["set pagination off", f"break walk.cpp:{line}", "run", "break run_rows", "continue", "bt"]
    arguments = [part for command in commands for part in ("-ex", command)]
    result = subprocess.run(["gdb", "-batch", "-nx", *arguments, program], capture_output=True, text=True, timeout=120)
    frames = FRAME.findall(result.stdout)
    if "run_rows" not in result.stdout or not frames:
        raise SystemExit(f"walk.py: gdb did not reach the kernel:\n{result.stdout}\n{result.stderr}")
    own = [i for i, name in enumerate(frames) if name.endswith("walk.cpp")]
    return [name.split("include/twill/")[-1] for name in frames[:own[0]]]


def main() -> int:
    program = sys.argv[1]
    if shutil.which("gdb") is None:
        print("walk.py: skipped, gdb was not found")
        return 4
    source = (Path(__file__).parent / "walk.cpp").read_text().splitlines()
    failed = False
    for name, (most_frames, most_files) in WALKS.items():
        line = next(number for number, text in enumerate(source, 1) if text.endswith(f"; // {name}"))
        frames = files_of_walk(program, line)
        files = list(dict.fromkeys(reversed(frames)))
        print(f"{name}: {len(frames)} calls of {most_frames} in {len(files)} files of {most_files}: {', '.join(files)}")
        if "--print" in sys.argv:
            print("\n".join(f"  {file}" for file in reversed(frames)))
        failed |= not most_frames / 2 < len(frames) <= most_frames or len(files) > most_files
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
