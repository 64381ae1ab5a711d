# SPDX-License-Identifier: Apache-2.0
"""One call of bench/run_gpu.sh on a machine with a GPU: parts with a time limit each, run in processes of their own, so that a
crash or a hang costs one of them. The summary is written again after each part: what ran, what failed, what was skipped and
why, with card, driver and commit. All output stands in one log, whose size is bounded."""

import datetime
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time
from typing import NamedTuple

SKIPPED = 4  # how programs end that cannot run here
LOG_BYTES = 15 << 20
PART_BYTES = 256 << 10


class Outcome(NamedTuple):
    status: int  # of the process; negative: the signal that ended it
    is_out_of_time: bool
    seconds: float
    output: str

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        if self.is_out_of_time:
            return f"hung: ended after {self.seconds:.0f} s"
        if self.status < 0:
            return f"crashed ({signal.Signals(-self.status).name})"
        return "passed" if self.status == 0 else f"failed ({self.status})"

    @property
    def was_cut(self) -> bool:
        """Whether it was ended before it was done."""
        return self.is_out_of_time or self.status < 0


class Programs:
    """The folder that `bench/run_gpu.sh build` made, and the folders of the libraries that its programs need."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = dict(os.environ)
        self.missing: dict[str, list[str]] = {}  # by program
        found = [*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))]
        for program in sorted(self.folder.iterdir()) if self.folder.is_dir() else []:
            if not os.access(program, os.X_OK) or program.is_dir():
                continue
            for library in re.findall(r"^\s*(\S+) => not found", run_quietly(["ldd", str(program)]), re.MULTILINE):
                folder = self.folder_of(library)
                if folder is None:
                    self.missing.setdefault(program.name, []).append(library)
                elif folder not in found:
                    found.append(folder)
        self.environment["LD_LIBRARY_PATH"] = ":".join(found)

    @staticmethod
    def folder_of(library):
        """Where Python's packages or the toolkit have a library."""
        packages = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
        for pattern in [*(f"{folder}/nvidia/**/lib" for folder in sorted(packages)), "/usr/local/cuda/lib64"]:
            for folder in sorted(glob.glob(pattern, recursive=True)):
                if os.path.exists(os.path.join(folder, library)):
                    return folder
        return None

    def path(self, name) -> str | None:
        path = self.folder / name
        return str(path) if path.is_file() else None

    def commit(self) -> str:
        """As the caller names it, else as the build noted it."""
        note = self.folder / "commit"
        return os.environ.get("TWILL_COMMIT") or (note.read_text().strip() if note.is_file() else "unknown")


def run_quietly(command) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


class Session:
    """Parts of one call, its summary and its log, within a limit of seconds."""

    def __init__(self, name, out, programs, limit_s):
        self.out = pathlib.Path(out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.name, self.programs, self.limit_s = name, programs, limit_s
        self.start = time.monotonic()
        self.failures = 0
        self.ran = 0
        self.lines: list[str] = []
        self.log = open(self.out / f"{name}.log", "w")
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="twill_gpu_"))
        self.environment = dict(programs.environment, TWILL_COMMIT=programs.commit(), PYTHONUNBUFFERED="1")
        card = run_quietly(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"])
        self.head = [f"{name}, {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
                     f"card, driver, memory: {card.strip() or 'unknown, nvidia-smi gives none'}",
                     f"commit: {programs.commit()}"]
        if card.strip():
            self.environment["TWILL_DRIVER"] = card.split(",")[1].strip()
        self.note("")

    def left_s(self) -> float:
        return self.limit_s - (time.monotonic() - self.start)

    def note(self, line):
        """Adds a line to the summary, and prints it."""
        if line:
            print(line, flush=True)
            self.lines.append(line)
        text = "\n".join([*self.head, "", *self.lines, ""])
        (self.out / f"{self.name}.txt").write_text(text)

    def outcome(self, name, seconds, text, failed=False):
        self.failures += failed
        self.ran += name != "card"
        self.note(f"{name:<36} {seconds:5.0f} s  {'FAILED: ' if failed else ''}{text}")

    def skip(self, name, reason):
        """What was not run is no failure, but is named."""
        self.note(f"{name:<36}      –  skipped: {reason}")

    def run(self, title, command, limit_s, environment=None, tick=lambda: None) -> Outcome:
        """Runs a command with all its children, at most so long and within what is left."""
        begin = time.monotonic()
        limit_s = max(0.1, min(limit_s, self.left_s()))
        is_out_of_time = False
        with tempfile.TemporaryFile(dir=self.scratch) as output:
            try:
                process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output,
                                           stderr=subprocess.STDOUT, start_new_session=True,
                                           env=dict(self.environment, **(environment or {})))
                while process.poll() is None:
                    if time.monotonic() - begin > limit_s:
                        is_out_of_time = True
                        os.killpg(process.pid, signal.SIGKILL)
                        process.wait()
                        break
                    try:
                        process.wait(0.5)
                    except subprocess.TimeoutExpired:
                        tick()
                status = process.returncode
            except OSError as error:
                output.write(f"{error}\n".encode())
                status = 127
            output.seek(0)
            text = output.read().decode(errors="replace")
        result = Outcome(status, is_out_of_time, time.monotonic() - begin, text)
        self.append(f"=== {title}: {result.ending}\n", text)
        return result

    def append(self, head, text):
        """To the log, from a long text its beginning and its end."""
        if len(text) > PART_BYTES:
            text = f"{text[:PART_BYTES // 2]}\n... {len(text) - PART_BYTES} characters left out ...\n{text[-PART_BYTES // 2:]}"
        if self.log.tell() + len(text) > LOG_BYTES:
            text = "left out: the log is full\n"
        self.log.write(head + text + ("" if text.endswith("\n") else "\n"))
        self.log.flush()

    def sees_a_gpu(self) -> bool:
        """Whether the programs see a GPU; a failure that names the reason if not."""
        program = self.programs.path("bench_gpu")
        if program is None:
            self.outcome("card", 0, f"{self.programs.folder} has no bench_gpu; run bench/run_gpu.sh build first", True)
            return False
        if "bench_gpu" in self.programs.missing:
            self.outcome("card", 0, f"bench_gpu needs {', '.join(self.programs.missing['bench_gpu'])}, found nowhere", True)
            return False
        result = self.run("card", [program, "--card"], 30)
        if result.status == 0 and not result.is_out_of_time:
            self.outcome("card", result.seconds, result.output.strip())
            return True
        reason = "no GPU was seen" if result.status == SKIPPED else f"no GPU was seen: bench_gpu {result.ending}"
        self.outcome("card", result.seconds, reason, True)
        return False

    def finish(self) -> int:
        """The exit status of the call."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        if self.ran == 0 and self.failures == 0:
            self.outcome(self.name, 0, "nothing ran", True)
        verdict = f"{self.failures} parts failed" if self.failures else "all that ran passed"
        self.note(f"{self.name}: {verdict}, {time.monotonic() - self.start:.0f} s")
        self.log.close()
        return 1 if self.failures else 0
