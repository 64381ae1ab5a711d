#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No operation is left untested: tests/operations.txt says where each public function of traced values is compared.

A line names a function and, for its values, derivatives, element types and shapes, the tests (short names that the file's
head explains); derivatives and types may be `none(reason)`. The check refuses a function without a line, a line without a function, a test that does
not exist or does not use the function, and an operation with a kernel that tests/support/operation_kernels.cpp does not
run.
Of the tests of a line, one holds jvp against vjp along random directions, unless there are no derivatives, and one `vmap` against
a loop over the examples; or the cell `modes=none(reason)` says why not.
An elementwise function needs no line but a row of its name in a table of functions, which runs it for values, derivatives, types
and shapes; one whose formula has a rule of gradients is also in the table of derivatives.
"""

import re

import tree

TABLE = "tests/operations.txt"
KERNELS = "tests/support/operation_kernels.cpp"
FOLDERS = ("graph", "ops", "linalg", "fft", "sparse", "nn")
ELEMENTWISE = "include/twill/elementwise"
ROWS = ("tests/graph/table_of_functions.test.cpp", "tests/nn/table_of_functions.test.cpp")
RULES = "include/twill/graph/functions.hpp"
GRADIENTS = "tests/support/gradient_table.hpp"
ASPECTS = ("values", "derivatives", "types", "shapes")
MAY_LACK = ("derivatives", "types")
# Calls of checks in tests/support, and the test that runs the rows of a table in a header.
FORWARD_MODE = re.compile(r"\b(check_both_derivatives|check_derivatives|check_function)\(")
BATCHES = re.compile(r"\b(check_both_derivatives|check_forward)\(|\b(check_batching|check_vmap)<")
RUN_BY = {GRADIENTS: "tests/graph/gradient.test.cpp"}
RESULT = (r"(?:graph::)?(?:Value|ComplexValue|CsrValue|Sorted|Recurrent|std::array<Value, \w+>"
          r"|(?:EigenPairs|LeastSquares|LU|QR|SlogDet|SVD|WithInfo)<Value, [^>]*>)")
FUNCTION = re.compile(rf"^(?:template <[^>]*> )?(?:\[\[nodiscard\]\] )?(?:TWILL_CONSTEXPR|constexpr) {RESULT} (operator[^\s\w(]+|\w+)\(", re.M)
NAMED = re.compile(r"^(?:template <.*> )?(?:\[\[nodiscard\]\] )?constexpr auto (\w+)\(", re.M)
LOSS = re.compile(r"^inline constexpr Loss<.*> (\w+)\{\};")
OPERATION = re.compile(r"^inline constexpr (?:graph::)?Operation (\w+)\{(.*?)\};", re.M | re.S)
OPENED = re.compile(r"^(?:inline )?namespace (.*) \{$")
CLOSED = re.compile(r"^\}+ // namespace")
CELL = re.compile(r"(\w+)=(none\([^)]+\)|[\w,]+)")


def declared(root):
    """Names of public functions of traced values, and of operations with a kernel."""
    functions, operations = set(), set()
    for header in tree.headers(root):
        layer, _, rest = header.removeprefix("twill/").partition("/")
        if layer not in FOLDERS or rest.startswith("detail/"):
            continue
        names = []
        text = (root / "include" / header).read_text()
        for name, description in OPERATION.findall(text):
            # A group of ranks does the one, devices do the other, the last is a rule of gradients alone.
            if ".collective" not in description and ".moves" not in description and not name.endswith("_rule"):
                operations.add(name)
        for line in text.splitlines():
            if opened := OPENED.match(line):
                names.append(opened[1])
            elif CLOSED.match(line) and names:
                names.pop()
            elif any("detail" in name for name in names):
                continue
            elif found := FUNCTION.match(line) or LOSS.match(line):
                functions.add(found[1])
    return functions, operations


def elementwise(root):
    """Names of the functions of elementwise/, apart from what computes them."""
    texts = [path.read_text() for path in (root / ELEMENTWISE).glob("*.hpp") if path.name != "argument.hpp"]
    return {name for text in texts for name in NAMED.findall(text)}


def elementwise_faults(root, functions):
    """Functions without a row, and formulas with a rule that the table of derivatives lacks."""
    rows = "".join((root / path).read_text() for path in ROWS)
    for name in sorted(functions):
        if not re.search(rf'\{{"{name}\b', rows):
            yield f"{ROWS[0]}: {name} has no row; add one"
    for formula in re.findall(r"rule_of<formula::(\w+)>", (root / RULES).read_text()):
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", formula).lower()
        if not uses((root / GRADIENTS).read_text(), name):
            yield f"{GRADIENTS}: {name}, whose formula has a rule of gradients, has no row"


def read_table(text):
    """The tests by their short names, the cells of each function, and what is no operation."""
    files, lines, apart = {}, {}, set()
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("test "):
            _, short, path = line.split()
            files[short] = path
        elif line.startswith("apart "):
            apart.add(line.split()[1])
        else:
            name, _, cells = line.partition(" ")
            lines[name] = dict(CELL.findall(cells))
    return files, lines, apart


def uses(text, name):
    """Whether a test calls the function, or writes the operator."""
    if name.startswith("operator"):
        return name.removeprefix("operator") in text
    return re.search(rf"\b{name}\b(<[^>]*>)?[({{)]|\"{name}\b|::{name}\b", text) is not None


def mode_faults(name, cells, texts, runs):
    """Forward mode and batches that no test of a line checks."""
    if cells.get("modes", "").startswith("none("):
        return
    shorts = {short for aspect in ASPECTS for short in cells.get(aspect, "").split(",") if short in texts}
    runs = [runs[short] for short in shorts if uses(texts[short], name)]
    if not cells.get("derivatives", "").startswith("none(") and not any(FORWARD_MODE.search(run) for run in runs):
        yield f"{TABLE}: no test of {name} holds jvp against vjp; add a row to a table, or modes=none(reason)"
    if not any(BATCHES.search(run) for run in runs):
        yield f"{TABLE}: no test of {name} holds vmap against a loop; add a row to a table, or modes=none(reason)"


def check(root):
    functions, operations = declared(root)
    by_row = elementwise(root)
    yield from elementwise_faults(root, by_row)
    files, lines, apart = read_table((root / TABLE).read_text())
    texts = {}
    for short, path in files.items():
        if not (root / path).is_file():
            yield f"{TABLE}: {path} does not exist"
        else:
            texts[short] = (root / path).read_text()
    runs = {short: (root / RUN_BY.get(files[short], files[short])).read_text() for short in texts}
    for name in sorted(functions - lines.keys() - apart):
        yield f"{TABLE}: {name} has no line; test its values, derivatives, types and shapes, and say where"
    for name in sorted((lines.keys() | apart) - functions - by_row):
        yield f"{TABLE}: {name} is no public function of traced values"
    for name, cells in lines.items():
        for aspect in ASPECTS:
            if aspect not in cells:
                yield f"{TABLE}: {name} does not say where its {aspect} are tested"
                continue
            if aspect in MAY_LACK and cells[aspect].startswith("none("):
                continue
            for short in cells[aspect].split(","):
                if short not in files:
                    yield f"{TABLE}: {name} names {short}, which is no test"
                elif short in texts and not uses(texts[short], name):
                    yield f"{TABLE}: {files[short]} does not use {name}"
        yield from mode_faults(name, cells, texts, runs)
    kernels = (root / KERNELS).read_text()
    for name in sorted(operations):
        if not re.search(rf"kernel_of<&[\w:]+::{name}\b", kernels):
            yield f"{KERNELS}: the operation {name} is missing"


if __name__ == "__main__":
    tree.run(check)
