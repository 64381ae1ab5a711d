# SPDX-License-Identifier: Apache-2.0
"""What tools/check_consumers does to the folder that it is given: folders.py TOOL.

What somebody else has put there stays; what an earlier run has left goes. Nothing is built: where the folder is accepted, a
cmake that fails ends the run.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

MARK = ".made_by_check_consumers"
tool = sys.argv[1]


def run(folder, *options):
    """How it ends in a world in which no package can be made."""
    done = subprocess.run([sys.executable, tool, "--folder", folder, *options], text=True, capture_output=True,
                          env=dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}"))
    return done.returncode, done.stdout + done.stderr


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


with tempfile.TemporaryDirectory() as place:
    place = Path(place).resolve()
    programs = place / "programs"
    programs.mkdir()
    (programs / "cmake").write_text("#!/bin/sh\necho 'no cmake today'\nexit 1\n")
    (programs / "cmake").chmod(0o755)

    thesis = place / "thesis"
    (thesis / "chapters").mkdir(parents=True)
    (thesis / "chapters/one.txt").write_text("all there is")
    (thesis / "builds").mkdir()
    (thesis / "builds/kept.txt").write_text("as well")
    before = names(thesis)
    code, text = run(thesis, "--prepare")
    assert code == 1 and "is not empty and was not made by this program" in text, (code, text)
    assert names(thesis) == before
    code, text = run(thesis, "--prepared", "--ways", "find_package")
    assert code == 1 and "was not prepared" in text, (code, text)
    assert names(thesis) == before
    code, text = run(thesis / "chapters/one.txt", "--prepare")
    assert code == 1 and "is no folder" in text, (code, text)
    assert names(thesis) == before

    own = place / "deep/own"  # does not exist
    code, text = run(own, "--prepare")
    assert code == 1 and "no cmake today" in text, (code, text)
    assert names(own) == [MARK]
    (own / "moved").mkdir()
    (own / "moved/old.txt").write_text("of an earlier run")
    (own / "others").symlink_to(thesis)
    code, text = run(own, "--prepare")
    assert code == 1 and "no cmake today" in text, (code, text)
    assert names(own) == [MARK]
    assert names(thesis) == before  # behind the link

    (place / "empty").mkdir()
    code, text = run(place / "empty", "--prepare")
    assert code == 1 and "no cmake today" in text, (code, text)
print("folders of others stay as they are")
