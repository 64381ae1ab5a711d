# SPDX-License-Identifier: Apache-2.0
"""The suites of tests/gpu on a real GPU, a process for each: plainly, or under a tool of compute-sanitizer. A suite that
crashes or hangs goes on after the case that did; the case is named."""

import concurrent.futures
import re
import subprocess

from session import SKIPPED

PROGRAMS = ("test_cuda_suites", "test_cuda_libraries")
MOST_CUTS = 5  # crashes and hangs of one suite, after which it is left
FINDINGS = 86  # how compute-sanitizer ends that found something


def suites_of(session, program):
    """The names of a program's suites; none where it cannot run."""
    path = session.programs.path(program)
    if path is None:
        session.outcome(program, 0, "was not built", True)
        return []
    if program in session.programs.missing:
        session.skip(program, f"needs {', '.join(session.programs.missing[program])}, found nowhere")
        return []
    try:
        listed = subprocess.run([path, "--list-suites"], capture_output=True, text=True, timeout=60,
                                env=session.environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        session.outcome(program, 0, f"lists no suites: {error}", True)
        return []
    names = listed.stdout.split()
    if listed.returncode != 0 or not names:
        session.outcome(program, 0, f"lists no suites: it ended with {listed.returncode} {listed.stderr.strip()}", True)
    return names


class Verdict:
    """What became of the cases of a suite, over all processes that it took."""

    def __init__(self):
        self.passed, self.seconds = 0, 0.0
        self.failed: list[str] = []
        self.skipped: list[str] = []

    def read(self, result):
        """Takes the output of a process; gives the case that ended it, if one did."""
        self.seconds += result.seconds
        cases = re.split(r"^case: ", result.output, flags=re.MULTILINE)[1:]
        for number, text in enumerate(cases):
            name = text.split("\n", 1)[0]
            if number == len(cases) - 1 and result.was_cut:
                self.failed.append(f"{result.ending} in '{name}'")
                return name
            if re.search(r"^FAILED: ", text, re.MULTILINE):
                reason = text.split("FAILED: ", 1)[1].splitlines()[1:2]
                self.failed.append(f"'{name}': {' '.join(reason).strip()}")
            elif reasons := re.findall(r"^skipped: (.*)$", text, re.MULTILINE):
                self.skipped.append(f"'{name}': {reasons[0]}")
            else:
                self.passed += 1
        if result.status not in (0, 1, SKIPPED):
            self.failed.append(f"{result.ending}{' before its first case' if not cases else ''}")
        elif result.status == 1 and not self.failed:
            self.failed.append("ended with 1, and no case says why")
        return None

    def text(self):
        return ", ".join([f"{self.passed} passed", *([f"{len(self.skipped)} skipped"] if self.skipped else [])])


def run_suite(session, name, program, suite, limit_s, prefix=(), environment=None):
    """All cases of a suite, in as many processes as it takes."""
    verdict, after = Verdict(), []
    for _ in range(MOST_CUTS):
        command = [*prefix, session.programs.path(program), "--from", suite, *after]
        result = session.run(name, command, limit_s, environment)
        if prefix and result.status == FINDINGS:
            verdict.failed.append("findings, see the log")
            result = result._replace(status=0)
        case = verdict.read(result)
        if case is None:
            return verdict
        if session.left_s() < 5:
            verdict.failed.append(f"no time was left for the cases after '{case}'")
            return verdict
        after = ["--after", case]
    verdict.failed.append("the cases that follow were not run")
    return verdict


def run_suites(session, work, limit_s, jobs=1, prefix=(), environment=None, tool=""):
    """Runs pairs of program and suite in order, several at once where asked."""
    def one(pair):
        program, suite = pair
        name = f"{tool} {suite}".strip()
        if session.left_s() < 5:
            return name, None
        return name, run_suite(session, name, program, suite, limit_s, prefix, environment)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, verdict in pool.map(one, work):
            if verdict is None:
                session.skip(name, "out of time")
                continue
            session.outcome(name, verdict.seconds, verdict.text(), bool(verdict.failed))
            for line in verdict.failed:
                session.note(f"    {line}")
            for line in verdict.skipped:
                session.note(f"    skipped {line}")
