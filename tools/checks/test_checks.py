#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checks themselves are tested: each refuses a small tree that is wrong, and passes its legal twin."""

import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import device_code
import files
import layers
import library_entries
import operations
import package
import paths
import readme
import reference_pages
import troubleshooting
import umbrellas

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "misuse"), str(ROOT / "tools")]
import bench_table
import readme_table
import roofline
import run as misuse

HEADER = "#pragma once\n// SPDX-License-Identifier: Apache-2.0\n//\n// A paragraph.\n\n"


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path: str, text: str):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def header(self, path: str, *included: str, body: str = ""):
        self.write(f"include/twill/{path}", HEADER + "".join(f"#include <{i}>\n" for i in included) + body)


class Layers(Tree):
    def test_an_earlier_layer_may_be_included_and_a_later_one_not(self):
        self.header("kernel/a.hpp", "twill/core/b.hpp", "vector")
        self.assertEqual(list(layers.check(self.root)), [])
        self.header("core/b.hpp", "twill/kernel/a.hpp")
        self.assertIn("later layer kernel", "".join(layers.check(self.root)))

    def test_a_folder_that_is_no_layer_is_refused(self):
        self.header("misc/a.hpp")
        self.assertIn("none of the layers", "".join(layers.check(self.root)))

    def test_a_detail_of_another_layer_is_refused(self):
        self.header("core/detail/a.hpp")
        self.header("kernel/b.hpp", "twill/core/detail/a.hpp")
        self.assertIn("detail of another layer", "".join(layers.check(self.root)))

    def test_a_name_in_the_detail_of_another_layer_is_refused(self):
        opened = "namespace twill { inline namespace v0 { namespace kernel {\nnamespace detail {\nint f();\n}\n}}}\n"
        self.header("kernel/a.hpp", body=opened)
        self.header("kernel/b.hpp", body="int x = kernel::detail::f();\n")
        self.assertEqual(list(layers.check(self.root)), [])
        self.header("nn/c.hpp", body="int y = kernel::detail::f();\n")
        self.assertIn("nn uses kernel::detail:: of another layer", "".join(layers.check(self.root)))


class Package(Tree):
    def test_version_and_address_are_copied_from_the_project(self):
        self.write("CMakeLists.txt", "project(twill VERSION 1.2.3 HOMEPAGE_URL https://a.org/twill LANGUAGES CXX)\n")
        self.write("conanfile.py", 'homepage = "https://b.org/twill"\n')
        self.write("examples/project/CMakeLists.txt", "Declare(twill GIT_REPOSITORY https://b.org/twill GIT_TAG v1.2.2 FIND)\n")
        faults = "".join(package.check(self.root))
        self.assertIn("conanfile.py: names https://b.org/twill where CMakeLists.txt has https://a.org/twill", faults)
        self.assertIn("names 1.2.2 where CMakeLists.txt has 1.2.3", faults)
        package.write(self.root)
        self.assertEqual(list(package.check(self.root)), [])
        self.write("conanfile.py", "\n")
        self.assertIn("names nothing", "".join(package.check(self.root)))


class Troubleshooting(Tree):
    def test_each_sentence_has_one_row_with_cause_and_remedy(self):
        self.header("core/a.hpp", body="enum class Problem : std::uint8_t {\n  none,\n  axes_differ, // sizes\n  too_few = 3,\n};\n"
                    "enum class Other : std::uint8_t { rank, };\n")
        rows = "| `axes_differ` | two sizes | one of them |\n"
        self.write(troubleshooting.PAGE, rows + "| `too_few` | none | some \\| more |\n")
        self.assertEqual(list(troubleshooting.check(self.root)), [])
        self.write(troubleshooting.PAGE, rows + rows + "| `too_few` | none |  |\n| `gone` | a | b |\n")
        faults = "\n".join(troubleshooting.check(self.root))
        for text in ("axes_differ has two rows", "the row of too_few lacks", "gone is no sentence"):
            self.assertIn(text, faults)
        self.write(troubleshooting.PAGE, "")
        self.assertIn("axes_differ (twill/core/a.hpp) has no row", "\n".join(troubleshooting.check(self.root)))


class DeviceCode(Tree):
    def test_counting_functions_of_the_standard_stay_on_the_host(self):
        self.header("kernel/gpu/a.hpp", "twill/kernel/b.hpp", "twill/memory/c.hpp")
        self.header("kernel/b.hpp", body="int f(unsigned long x) { return bits_needed(x); } // std::bit_width(x)\n")
        self.header("memory/c.hpp", body="int f(unsigned long x) { return std::bit_width(x); }\n")
        self.header("kernel/host.hpp", body="int f(unsigned long x) { return std::popcount(x); }\n")
        self.assertEqual(list(device_code.check(self.root)), [])
        self.header("kernel/b.hpp", body="int f(unsigned long x) { return std::bit_width(x); }\n")
        self.assertIn("kernel/b.hpp:6: std::bit_width", "".join(device_code.check(self.root)))

    def test_tables_of_the_compiler_are_read_at_constant_places(self):
        table = "static {} Line line(int i) {{ return summary_of<P>.lines[static_cast<std::size_t>(i)]; }}\n"
        self.header("kernel/gpu/a.hpp", body=table.format("consteval") + "int n = plan_of<P>.lines[I].cost;\n")
        self.header(
            "kernel/gpu/b.hpp",
            body="static constexpr int listed = []() consteval {\n  for (int i = 0; i < count; ++i)\n"
            "    if (Rule::holds(summary_of<P>.lines[static_cast<std::size_t>(i)]))\n      return i;\n}();\n",
        )
        self.assertEqual(list(device_code.check(self.root)), [])
        self.header("kernel/gpu/a.hpp", body=table.format("constexpr"))
        self.assertIn("kernel/gpu/a.hpp:6: reads a table", "".join(device_code.check(self.root)))


class LibraryEntries(Tree):
    def test_an_entry_that_nothing_calls_is_refused(self):
        entries = (
            "namespace twill::nvidia::detail {\ninline int own() { return 1; }\n} // namespace twill::nvidia::detail\n"
            "[[nodiscard]] inline bool try_gemm(int n) { return own() == n; }\n"
        )
        self.header("device/cuda/cublas.cuh", body=entries)
        self.assertIn("nothing in include/ calls try_gemm", "".join(library_entries.check(self.root)))
        self.header("kernel/cuda/product.cuh", body="// try_gemm(1)\n")
        self.assertIn("try_gemm", "".join(library_entries.check(self.root)))
        self.header("kernel/cuda/product.cuh", body="inline bool run() { return try_gemm(1); }\n")
        self.assertEqual(list(library_entries.check(self.root)), [])

    def test_an_epilogue_that_no_operation_asks_for_is_refused(self):
        self.header("device/cuda/gemm.hpp", body="enum class GemmEpilogue : char {\n  none, ///< P\n  bias, ///< P + bias\n};\n")
        self.header("ops/a.hpp", body="auto none = GemmEpilogue::none;\n")
        self.assertIn("epilogue bias", "".join(library_entries.check(self.root)))
        self.header("ops/a.hpp", body="auto both = GemmEpilogue::none == GemmEpilogue::bias;\n")
        self.assertEqual(list(library_entries.check(self.root)), [])


class Paths(Tree):
    def test_a_path_in_a_document_exists(self):
        self.header("core/a.hpp")
        self.write("docs/a.md", "See `include/twill/core/a.hpp`, `core/a.hpp`, `core/*.hpp --all` and `a/b`.\n")
        self.assertEqual(list(paths.check(self.root)), [])

    def test_a_path_that_leads_nowhere_is_refused(self):
        self.write("docs/a.md", "See `include/twill/core/b.hpp`.\n")
        self.assertIn("core/b.hpp, which does not exist", "".join(paths.check(self.root)))

    def test_a_file_that_a_comment_of_a_header_names_exists(self):
        self.header("core/a.hpp", body="// Read next: core/b.hpp.\nint x; ///< as in core/a.hpp\n")
        self.assertIn("a.hpp: a comment names core/b.hpp, which", "".join(paths.check(self.root)))
        self.header("core/b.hpp")
        self.assertEqual(list(paths.check(self.root)), [])


class Operations(Tree):
    def setUp(self):
        super().setUp()
        self.header("graph/functions.hpp", body="\nnamespace twill::graph {\n\n"
                    "[[nodiscard]] constexpr Value abs(Value x) { return x; }\n\n} // namespace twill::graph\n")
        self.header("ops/sort.hpp", body="\nnamespace twill::graph {\n\n"
                    "inline constexpr Operation argsort_operation{};\n[[nodiscard]] constexpr Value argsort(Value x,\n"
                    "                                      int axis);\n\n} // namespace twill::graph\n")
        self.write("tests/table.cpp", "abs(x); argsort(x); check_both_derivatives(row);")
        for path in (*operations.ROWS, operations.GRADIENTS):
            self.write(path, "")
        self.write(operations.KERNELS, "kernel_of<&graph::argsort_operation>")
        self.lines("test table tests/table.cpp", "abs values=table derivatives=table types=table shapes=table",
                   "argsort values=table derivatives=none(places) types=table shapes=table")

    def lines(self, *lines: str):
        self.write(operations.TABLE, "\n".join(lines))

    def faults(self):
        return "".join(operations.check(self.root))

    def test_a_complete_table_is_taken_and_what_is_new_is_missed(self):
        self.assertEqual(self.faults(), "")
        self.header("nn/losses/new.hpp", body="\nnamespace twill::nn {\n\nnamespace detail {\n"
                    "[[nodiscard]] constexpr graph::Value hidden(graph::Value x) { return x; }\n} // namespace detail\n\n"
                    "inline constexpr Loss<detail::Formula> hinge{};\ninline constexpr Operation fresh_operation{};\n")
        faults = self.faults()
        self.assertIn("hinge has no line", faults)
        self.assertIn("the operation fresh_operation is missing", faults)
        self.assertNotIn("hidden", faults)

    def test_an_elementwise_function_needs_a_row_and_a_rule_of_gradients_another(self):
        self.header("elementwise/real.hpp", body="\ntemplate <Argument X> [[nodiscard]] constexpr auto log_sin(X&& x) { return x; }\n")
        self.header("graph/functions.hpp", body="\ntemplate <> inline constexpr const Operation* rule_of<formula::LogSin> = nullptr;\n"
                    "[[nodiscard]] constexpr Value abs(Value x) { return x; }\n")
        faults = self.faults()
        self.assertIn("log_sin has no row; add one", faults)
        self.assertIn("log_sin, whose formula has a rule of gradients, has no row", faults)
        self.write(operations.ROWS[0], '{"log_sin of integers", singles}')
        self.write(operations.GRADIENTS, "graph::log_sin(x)")
        self.assertEqual(self.faults(), "")

    def test_a_table_of_tests_checks_forward_mode_and_batches_or_a_line_says_why_not(self):
        self.write("tests/table.cpp", "abs(x); argsort(x); check_forward(row);")
        faults = self.faults()
        self.assertIn("no test of abs holds jvp against vjp", faults)
        self.assertNotIn("vmap", faults)
        self.assertNotIn("argsort", faults)  # has no derivatives
        self.write("tests/table.cpp", "abs(x); argsort(x);")
        self.assertIn("no test of argsort holds vmap against a loop", self.faults())
        self.lines("test table tests/table.cpp", "abs values=table derivatives=table types=table shapes=table modes=none(a draw)",
                   "argsort values=table derivatives=none(places) types=table shapes=table modes=none(places)")
        self.assertEqual(self.faults(), "")

    def test_lines_have_to_name_functions_tests_that_use_them_and_every_aspect(self):
        self.lines("test table tests/table.cpp", "test gone tests/gone.cpp", "apart argsort finds places",
                   "abs values=none(few) derivatives=table types=table", 
                   "log values=other,table derivatives=table types=table shapes=table")
        faults = self.faults()
        self.assertIn("tests/gone.cpp does not exist", faults)
        self.assertIn("abs does not say where its shapes are tested", faults)
        self.assertIn("abs names none(few), which is no test", faults)
        self.assertIn("log is no public function", faults)
        self.assertIn("log names other, which is no test", faults)
        self.assertIn("tests/table.cpp does not use log", faults)


class Umbrellas(Tree):
    def test_writing_makes_them_complete_and_a_new_header_is_missed(self):
        self.header("core/a.hpp")
        self.header("core/detail/hidden.hpp")
        self.write("include/twill/data/zip.hpp", HEADER.replace("A paragraph.", "Not in the umbrella: needs zlib."))
        self.assertIn("missing", "".join(umbrellas.check(self.root)))
        umbrellas.write(self.root)
        self.assertEqual(list(umbrellas.check(self.root)), [])
        self.header("core/b.hpp")
        self.assertEqual(list(umbrellas.check(self.root)), ["twill/core.hpp: does not include twill/core/b.hpp"])

    def test_an_umbrella_holds_includes_only(self):
        self.header("core/a.hpp")
        umbrellas.write(self.root)
        path = self.root / "include/twill/core.hpp"
        path.write_text(path.read_text() + "int x;\n")
        self.assertIn("more than includes", "".join(umbrellas.check(self.root)))

    def test_the_umbrella_of_models_leaves_out_what_needs_more(self):
        self.header("core/a.hpp")
        self.header("linalg/b.hpp", "twill/core/a.hpp")
        umbrellas.write(self.root)
        self.assertEqual(list(umbrellas.check(self.root)), [])
        self.assertNotIn("linalg", (self.root / "include/twill/twill.hpp").read_text())
        self.assertIn("linalg", (self.root / "include/twill/all.hpp").read_text())

    def test_what_is_for_gpus_is_in_an_umbrella_of_its_own(self):
        self.header("core/a.hpp")
        self.header("device/b.hpp")
        self.header("device/gpu/c.hpp")
        self.header("device/cuda/d.cuh")
        umbrellas.write(self.root)
        self.assertEqual(list(umbrellas.check(self.root)), [])
        for_hosts = (self.root / "include/twill/device.hpp").read_text()
        for_gpus = (self.root / "include/twill/cuda.cuh").read_text()
        self.assertIn("device/b.hpp", for_hosts)
        self.assertNotIn("gpu/c.hpp", for_hosts)
        for header in ("twill/twill.hpp", "twill/device/gpu/c.hpp", "twill/device/cuda/d.cuh"):
            self.assertIn(f"#include <{header}>", for_gpus)


class Files(Tree):
    def test_length_licence_guard_and_macros(self):
        self.header("core/a.hpp")
        self.assertEqual(list(files.check(self.root)), [])
        self.header("core/long.hpp", body="\n" * 500)
        self.write("tests/a.cpp", "int x;\n")
        self.write("include/twill/core/b.hpp", "// SPDX-License-Identifier: Apache-2.0\n#ifdef __CUDACC__\n#endif\n")
        faults = "\n".join(files.check(self.root))
        for text in ("500 are the most", "tests/a.cpp: no SPDX", "#pragma once", "__CUDACC__ belongs to"):
            self.assertIn(text, faults)


class Readme(Tree):
    def test_a_block_equals_its_region(self):
        self.write("examples/a.cpp", "int main() {\n  // region: one\n  f();\n  // end region\n}\n")
        self.write("CONTRIBUTING.md", "")
        self.write("examples/README.md", "| [a.cpp](a.cpp) | an example | `1` |\n")
        self.write("README.md", "<!-- examples/a.cpp: one -->\n```cpp\nf();\n```\n")
        self.assertEqual(list(readme.check(self.root)), [])
        self.write("README.md", "<!-- examples/a.cpp: one -->\n```cpp\ng();\n```\n")
        self.assertIn("differs", "".join(readme.check(self.root)))
        self.write("README.md", "```cpp\ng();\n```\n")
        self.assertIn("without", "".join(readme.check(self.root)))

    def faults(self) -> str:
        return "".join(readme.check(self.root))

    def setUp(self):
        super().setUp()
        self.write("CONTRIBUTING.md", "")
        self.write("README.md", "# A tree\n")

    def test_blocks_of_all_documents_are_regions_but_those_of_a_shell(self):
        self.write("docs/a.py", "# region: one\nf()\n# end region\n")
        self.write("tools/setup", "")
        self.write("docs/guide.md", "```sh\ntools/setup && make -C build/docs/none # leaves docs/none\n```\n\n<!-- docs/a.py: one -->\n```python\nf()\n```\n")
        self.write("build/_deps/a.md", "```cpp\nf();\n```\n")
        self.assertEqual(self.faults(), "")
        self.write("docs/guide.md", "<!-- docs/a.py: two -->\n```python\nf()\n```\n\n```\nx\n```\n")
        self.assertIn("docs/guide.md: docs/a.py has no region two", self.faults())
        self.assertIn("does not name its language: x", self.faults())
        self.write("docs/a.py", "# region: two\nf(\n# end region\n")
        self.assertIn("was never closed", self.faults())
        self.write("docs/a.py", "def g():\n    # region: two\n    f(2)\n    # end region\n")
        readme.write(self.root)
        self.assertIn("```python\nf(2)\n```", (self.root / "docs/guide.md").read_text())
        self.write("docs/guide.md", "<!-- include/a.hpp: one -->\n```cpp\nf();\n```\n")
        self.assertIn("none of the folders", self.faults())
        self.write("docs/guide.md", "```sh\ntools/set_up && make\n```\n\n```cmake\nproject(a)\n```\n")
        self.assertIn("names tools/set_up, which does not exist", self.faults())
        self.assertIn("without `<!-- file: region -->` above it: project(a)", self.faults())

    def test_the_list_of_examples_has_all_of_them_with_what_they_print(self):
        self.write("examples/a.cpp", "// prints: it is done\nint main() {}\n")
        self.write("examples/README.md", "nothing\n")
        self.assertIn("a.cpp has no line", self.faults())
        self.write("examples/README.md", "| [a.cpp](a.cpp) | an example | `it is not` |\n")
        self.assertIn("lacks what it prints: it is done", self.faults())
        self.write("examples/README.md", "| [a.cpp](a.cpp) | an example | `it is done` |\n")
        self.assertEqual(self.faults(), "")

    def test_relative_links_and_anchors_resolve(self):
        self.write("docs/guide.md", "# The `Tensor<T>` type, and views\n## Views\n## Views\n```sh\n# Not here\n[a](b)\n```\n"
                   "`[&](auto x)` is code, [home](../README.md#a-tree), [up](#the-tensort-type-and-views), [2](#views-1),\n"
                   "[folder](..), [web](https://example.org/#x), ![picture](guide.md \"title\")\n\n[name]: guide.md\n")
        self.assertEqual(self.faults(), "")
        self.write("README.md", "[a](docs/none.md) [b](docs/guide.md#gone) [c](../outside.md) <img src=\"none.svg\">\n[d]: #e\n")
        faults = self.faults()
        for text in ("docs/none.md leads nowhere", "#gone names no heading of docs/guide.md", "../outside.md leads nowhere",
                     "none.svg leads nowhere", "#e names no heading of README.md"):
            self.assertIn(text, faults)


class Misuse(Tree):
    GOOD = '// expect: two is not three\nint x = 1;\n#ifdef MISUSE\nstatic_assert(2 == 3, "two is not three");\n#endif\n'

    def faults(self, text: str) -> str:
        self.write("a.cpp", text)
        return "".join(misuse.faults(self.root / "a.cpp", ["c++", "-fsyntax-only"]))

    def test_status_and_text_are_both_checked(self):
        self.assertEqual(self.faults(self.GOOD), "")
        self.assertIn("lacks the sentence", self.faults(self.GOOD.replace("expect: two", "expect: six")))
        self.assertIn("the misuse compiles", self.faults(self.GOOD.replace("2 == 3", "2 == 2")))
        self.assertIn("no `// expect:`", self.faults(self.GOOD.replace("// expect:", "//")))

    def test_each_legal_twin_has_to_compile(self):
        command = ["c++", "-fsyntax-only"]
        self.write("a.cpp", self.GOOD)
        self.write("b.cpp", "#include <vector>\n" + self.GOOD)
        both = [self.root / "a.cpp", self.root / "b.cpp"]
        self.assertEqual(list(misuse.faults_of_twins(both, command)), [])
        self.write("b.cpp", self.GOOD.replace("int x", "in x"))
        self.assertIn("a legal twin does not compile", "".join(misuse.faults_of_twins(both, command)))


class BenchTable(Tree):
    def test_medians_spread_and_ratio_to_the_reference(self):
        runs = [{"name": f"add/{who}/1000", "run_type": "iteration", "real_time": time, "time_unit": "us"}
                for who, times in (("twill", (3, 2, 4)), ("reference", (2, 2, 2))) for time in times]
        self.write("a.json", json.dumps({"context": {"machine": "m", "commit": "c"}, "benchmarks": runs}))
        samples, contexts = bench_table.read([self.root / "a.json"])
        self.assertIn("| 1000 | 3 µs ±33%, **1.50x** | 2 µs ±0% |", bench_table.table("add", samples["add"]))
        self.assertEqual(bench_table.machine(contexts), "machine: m; commit: c")
        self.assertIn("<svg", bench_table.plot("add", samples["add"]))

    def test_rows_that_spread_over_a_fifth_are_left_out(self):
        samples = {"add": {"twill": {"10": [3.0, 2.0, 4.0], "20": [3.0, 3.1, 3.2]}, "reference": {"10": [2.0] * 3, "20": [2.0] * 3},
                           "peer": {"10": [1.0], "20": [1.0, 9.0]}},
                   "copy": {"reference": {"": [1.0, 2.0, 3.0]}}}
        kept, left_out = bench_table.settled(samples)
        self.assertEqual(left_out, [("add", "10"), ("copy", "")])
        self.assertEqual(kept, {"add": {"twill": {"20": [3.0, 3.1, 3.2]}, "reference": {"20": [2.0] * 3}, "peer": {"20": [1.0, 9.0]}}})
        document = bench_table.document(samples, [], {})
        self.assertIn("Spread over 20%: add/10, copy.", document)
        self.assertNotIn("| 10 |", document)

    def test_shares_are_of_what_binds_at_the_size_of_the_working_set(self):
        times = {"bandwidth": {"triad": {"1000/1": [10.0], "100000/1": [2000.0]}},
                 "arithmetic": {"multiply_add": {"6400/1": [100.0]}}}
        machine = roofline.Machine(times)
        self.assertEqual(machine.roof("copy", "5000").bound, "bandwidth")
        self.assertAlmostEqual(machine.roof("copy", "5000").nanoseconds, 10_000 / 75)  # in the middle of 100 and 50 bytes per ns
        self.assertEqual(machine.roof("matrix_product", "100/1"), (2e6 / 64, "arithmetic"))
        self.assertIsNone(machine.roof("matrix_product", "100/2"))
        self.assertIsNone(machine.roof("unknown", "100"))
        table = bench_table.table("copy", {"twill": {"5000": [10_000 / 60]}}, None, machine)
        self.assertIn("80% of bandwidth", table)
        self.assertIn("| triad over 0 KB | 100.0 GB/s |", machine.table())


class ReadmeTable(Tree):
    def setUp(self):
        super().setUp()
        self.write("bench/results/latest/results.json", json.dumps({
            "contexts": [{"machine": "m", "compiler": "c", "flags": "-O3"}],
            "samples": {"mlp_step": {"twill": {"1": [2000.0]}, "reference": {"1": [1000.0]}, "pytorch": {"1": [8000.0]}}}}))

    def test_the_table_is_what_the_results_say(self):
        made = readme_table.table(self.root / "bench/results/latest")
        self.assertIn("| the same, batch 1 | 2 µs | 1 µs: 2.00x | 8 µs: 0.25x |", made)
        self.write("README.md", f"{readme_table.BEGIN}\n{made}{readme_table.END}\n")
        self.assertIsNone(readme_table.fault(self.root))

    def test_another_table_is_refused(self):
        made = readme_table.table(self.root / "bench/results/latest").replace("2.00x", "1.00x")
        self.write("README.md", f"{readme_table.BEGIN}\n{made}{readme_table.END}\n")
        self.assertIn("not what tools/readme_table.py makes", readme_table.fault(self.root))
        self.write("README.md", "no table\n")
        self.assertIn("no place", readme_table.fault(self.root))


@unittest.skipUnless(shutil.which("doxygen"), "Doxygen is not installed")
class ReferencePages(Tree):
    PAGE = "docs/reference/tensors.md"

    def setUp(self):
        super().setUp()
        for path in ("docs/Doxyfile", "docs/filter.awk"):
            self.write(path, (ROOT / path).read_text())
        self.write("include/twill/expr/map.hpp", "#pragma once\n\nnamespace twill { inline namespace v0 {\n\n"
                   "/// How it is done.\nstruct MapOptions {\n  int ways = 2; ///< how many\n};\n\n"
                   "/// Maps x. throws: Error\ntemplate <int Axis = -1, class X> auto map(X&& x, MapOptions options = {}, "
                   "int line = __builtin_LINE()) { return x; }\n\n}} // namespace twill::v0\n")

    def pages(self):
        return reference_pages.writer.make(self.root)

    def test_a_name_without_a_line_of_code_is_refused(self):
        self.assertIn(f"{self.PAGE}: map (expr/map.hpp) has no line of code", "".join(self.pages()[1]))
        self.write("tests/reference/tensors.cpp", "// PyTorch: another way.\n{ const auto map = map<1>(x, {.ways = 3}); }\n")
        pages, faults = self.pages()
        self.assertEqual(faults, [])
        for text in ("map<Axis = -1>(x, MapOptions options = {})\n\nconst auto map = map<1>(x, {.ways = 3});", "Maps x.\\\nThrows: Error.",
                     "PyTorch: another way.", "| `ways` | `2` | how many |"):
            self.assertIn(text, pages[self.PAGE])

    def test_pages_that_are_not_written_are_refused(self):
        self.write("tests/reference/tensors.cpp", "{ const auto y = map(x); }\n")
        for path, text in self.pages()[0].items():
            self.write(path, text)
        self.assertEqual(list(reference_pages.check(self.root)), [])
        self.write(self.PAGE, "# Tensors\n")
        self.write("docs/reference/another.md", "# Another\n")
        faults = "\n".join(reference_pages.check(self.root))
        self.assertIn(f"{self.PAGE}: not what the headers", faults)
        self.assertIn("another.md: a page that nothing writes", faults)

    def test_a_line_that_no_page_shows_is_refused(self):
        self.write("tests/reference/tensors.cpp", "{ const auto y = map(x); }\n{ const auto z = filter(x); }\n")
        self.assertIn("no page shows { const auto z = filter(x); }", "".join(self.pages()[1]))

    def test_names_after_a_namespace_in_two_lines_are_found(self):
        self.write("include/twill/expr/split.hpp", "#pragma once\n\nnamespace twill { inline namespace v0 { namespace detail {\n"
                   "inline namespace fast {\nvoid f();\n}}}} // namespace twill::v0::detail::fast\n\n"
                   "namespace twill { inline namespace v0 {\n\n/// After it.\nvoid later();\n\n}} // namespace twill::v0\n")
        self.assertIn("expr/split.hpp", "".join(self.pages()[1]))

    def test_a_header_without_a_page_is_refused(self):
        self.write("include/twill/tensor/another.hpp", "#pragma once\n\nnamespace twill {\n\n/// A name.\nvoid name();\n\n}\n")
        self.assertIn("no page for tensor/another.hpp", "".join(self.pages()[1]))


if __name__ == "__main__":
    unittest.main()
