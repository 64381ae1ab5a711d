#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/run_gpu.sh with planted/program.py and the suites beside it in place of the programs: each call goes on after a crash,
a hang and a wrong result, says so, and ends with the status that it should; without a GPU none passes. Nothing here needs a
GPU: run_gpu_test.py PROGRAM, that of planted/*.cpp and tests/support/suite_main.cpp."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = ("bench_gpu", "torch_python", "compute-sanitizer")
SUITES = Path(sys.argv.pop()).resolve()


class RunGpu(unittest.TestCase):
    """Limits are far above what a program takes that ends, since the machine may be busy."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.programs = self.folder / "programs"
        self.programs.mkdir()
        for name in PROGRAMS:
            shutil.copy(HERE / "planted/program.py", self.programs / name)
        shutil.copy(SUITES, self.programs / "test_cuda_suites")
        (self.programs / "commit").write_text("0123abc\n")

    def run_gpu(self, command, **environment):
        """The status, the summary, and all files that came of it."""
        out = self.folder / "out"
        path = f"{self.programs}:{os.environ['PATH']}"
        environment = {"PROGRAMS": str(self.programs), "TORCH_PYTHON": str(self.programs / "torch_python"), "PATH": path,
                       "LIMIT": "300", "SUITE_LIMIT": "3", "GROUP_LIMIT": "4", **environment}
        result = subprocess.run([HERE.parents[1] / "bench/run_gpu.sh", command, out], capture_output=True, text=True,
                                env={**{k: v for k, v in os.environ.items() if k not in ("TWILL_COMMIT", "ONLY")}, **environment})
        files = sorted(path.name for path in out.iterdir())
        self.assertLessEqual(len(files), 8)
        self.assertNotIn("Traceback", result.stderr)
        return result.returncode, (out / f"{command}.txt").read_text(), out

    def test_nothing_passes_without_a_gpu(self):
        for command in ("smoke", "tests", "bench", "sanitize"):
            status, summary, _ = self.run_gpu(command, PLANTED="no_gpu")
            self.assertEqual(status, 1)
            self.assertIn("no GPU was seen", summary)
            self.assertNotIn("passed", summary)

    def test_nothing_passes_without_programs(self):
        (self.programs / "bench_gpu").unlink()
        status, summary, _ = self.run_gpu("smoke")
        self.assertEqual(status, 1)
        self.assertIn("run bench/run_gpu.sh build first", summary)

    def test_tests_go_on_after_a_crash_and_a_hang(self):
        status, summary, out = self.run_gpu("tests")
        self.assertEqual(status, 1)
        self.assertRegex(summary, r"good +\d+ s +2 passed\n")
        self.assertRegex(summary, r"crash +\d+ s +FAILED: 2 passed\n    crashed \(SIGSEGV\) in 'crashes'\n")
        self.assertRegex(summary, r"hang +\d+ s +FAILED: 1 passed\n    hung: ended after \d+ s in 'hangs'\n")
        self.assertRegex(summary, r"wrong +\d+ s +FAILED: 1 passed\n    'is wrong': .*: 2 is not 3\n")
        self.assertIn("skipped 'needs two GPUs': this machine has one GPU", summary)
        self.assertRegex(summary, r"test_cuda_libraries +0 s +FAILED: was not built")
        self.assertIn("case: hangs", (out / "tests.log").read_text())

    def test_what_is_right_passes(self):
        shutil.copy(self.programs / "test_cuda_suites", self.programs / "test_cuda_libraries")
        status, summary, _ = self.run_gpu("tests", ONLY="good,away")
        self.assertEqual(status, 0, summary)
        self.assertIn("all that ran passed", summary)
        status, summary, _ = self.run_gpu("sanitize", ONLY="good")
        self.assertEqual(status, 0, summary)
        status, summary, out = self.run_gpu("bench", ONLY="good", TWILL_COMMIT="4567def")
        self.assertEqual(status, 0, summary)
        self.assertIn("commit: 4567def", summary)
        self.assertIn("cupy", summary)  # named, though it is not there

    def test_what_was_asked_for_and_is_not_there_fails(self):
        status, summary, _ = self.run_gpu("tests", ONLY="missing")
        self.assertEqual(status, 1)
        self.assertIn("missing", summary)

    def test_a_call_ends_in_time_and_names_the_rest(self):
        status, summary, _ = self.run_gpu("tests", LIMIT="6", ONLY="hang,crash,good", SUITE_LIMIT="60")
        self.assertEqual(status, 1)
        self.assertRegex(summary, r"no time was left for the cases after 'hangs'")

    def test_benchmarks_record_what_is_wrong_and_go_on(self):
        status, summary, out = self.run_gpu("bench")
        self.assertEqual(status, 1)
        self.assertIn("commit: 0123abc", summary)
        self.assertRegex(summary, r"twill good +\d+ s +passed")
        self.assertRegex(summary, r"twill wrong +\d+ s +FAILED: failed \(1\)\n    gpu_matmul_bf16/twill/1024: the result is wrong")
        self.assertRegex(summary, r"twill crash +\d+ s +FAILED: crashed \(SIGSEGV\)")
        self.assertRegex(summary, r"twill hang +\d+ s +FAILED: hung: ended after \d+ s")
        self.assertRegex(summary, r"pytorch hang +\d+ s +passed")
        content = json.loads((out / "bench.json").read_text())
        times = content["samples"]["gpu_matmul_bf16"]
        self.assertEqual(len(times["twill"]["1024"]), 3)  # also what a crash and a hang left
        self.assertEqual(len(times["pytorch"]["1024"]), 4)
        self.assertEqual(content["failures"], {"gpu_matmul_bf16/twill/1024": "the result is wrong"})
        text = (out / "bench.md").read_text()
        self.assertIn("### nodes of gpu_mlp_step/32", text)
        self.assertIn("### wrong or failed", text)
        self.assertRegex(text, r"\| gpu_matmul_bf16 \| 1024 \| arithmetic \| 100% \| \d+% \|")

    def test_the_sanitizer_s_findings_fail(self):
        status, summary, _ = self.run_gpu("sanitize", ONLY="good,wrong,crash")
        self.assertEqual(status, 1)
        for tool in ("memcheck", "racecheck", "initcheck"):
            self.assertRegex(summary, rf"{tool} good +\d+ s +2 passed")
            self.assertRegex(summary, rf"{tool} wrong +\d+ s +FAILED")
            self.assertIn("findings, see the log", summary)


if __name__ == "__main__":
    unittest.main()
