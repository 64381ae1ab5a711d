#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks NumPy: writes case files for the driver, and finds the smallest case that fails.

    oracle.py golden --driver PROGRAM FILE       the committed file: seed 1
    oracle.py fresh --driver PROGRAM             new cases from TWILL_TEST_SEED, a number or `fresh` for another one in each
                                                 run, without it always the same; a failing case is shrunk and printed as
                                                 a line that the driver takes by itself

Ends with 4 where NumPy is missing. Functions whose reference is SciPy's or PyTorch's are left out, and named, where those are.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import replace

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed for " + sys.executable)
    sys.exit(4)

import distributions
import functions
import layers
import losses
import matrices
import networks
import sparse
import transforms
from cases import Case, Operand, make_pools, pool_lines, random_view
from dtypes import Array

LEAST_PER_ENTRY = 8
LEAST_CASES = 10500
CASES_OF_FAMILY = 300  # of functions whose names begin alike, of which several C++ files may have some
MOST_BYTES = 300
REFUSALS = (ValueError, IndexError, RuntimeError, np.linalg.LinAlgError)
MOST_BYTES_OF_FAMILY = 6000  # of functions with several results

for module in (matrices, sparse, transforms, losses, layers, distributions):
    functions.FUNCTIONS.update(module.FUNCTIONS)
MISSING = {"fft.": matrices.LIBRARY, "linalg.": matrices.LIBRARY, "sparse.": matrices.LIBRARY, "draws.": matrices.LIBRARY,
           "losses.": networks.LIBRARY, "layers.": networks.LIBRARY}
MISSING = {prefix: library for prefix, library in MISSING.items() if library}


def table(driver):
    """(name, element types) of each entry of the driver."""
    listed = subprocess.run([driver, "--list"], capture_output=True, text=True, check=True).stdout
    entries = [(line.split()[0], tuple(line.split()[1:])) for line in listed.splitlines()]
    for prefix, library in MISSING.items():
        left = sum(name.startswith(prefix) for name, _ in entries)
        print(f"left out: {left} functions {prefix}*, since {library} is not installed for {sys.executable}")
    return [entry for entry in entries if not entry[0].startswith(tuple(MISSING))]


def results_of(case, pools):
    arrays = [Array(operand.code, operand.view(pools)) for operand in case.operands]
    return functions.evaluate(case.name, arrays, case.numbers)


def random_case(draw, name, codes):
    function = functions.FUNCTIONS[functions.split_name(name)[0]]
    if function.make:
        operands, numbers = function.make(draw, codes)
        return Case(name, tuple(numbers), False, tuple(operands))
    shapes = function.shapes(draw, len(codes))
    operands = []
    for i, (code, shape) in enumerate(zip(codes, shapes)):
        pool = function.pools[min(i, len(function.pools) - 1)]
        memory, steps = (shape, ()) if draw.random() < 0.3 else random_view(draw, shape)
        operands.append(Operand(code, memory, pool, draw.randrange(1, 10**6), (), steps))
    numbers = function.numbers(draw) if function.numbers else ()
    return Case(name, numbers, function.out and draw.random() < 0.15, tuple(operands))


def family_of(name):
    """`linalg` of `linalg.solve`; nothing where a name has no family."""
    return name.split(".")[0] if "." in name else ""


def make_cases(seed, entries):
    """Some cases for each entry, until there are enough: (case, line). What NumPy refuses is drawn again."""
    draw = random.Random(seed)
    pools = make_pools(seed)
    lines = []
    usual = max(LEAST_PER_ENTRY, -(-LEAST_CASES // len(entries)))
    families = Counter(family_of(name) for name, _ in entries)
    for name, codes in entries:
        made = 0
        family = family_of(name)
        count = -(-CASES_OF_FAMILY // families[family]) if family else usual
        for _ in range(100 * count):
            try:
                case = random_case(draw, name, codes)
                results = results_of(case, pools)
            except REFUSALS:
                continue
            if sum(result.values.nbytes for result in results) > (MOST_BYTES_OF_FAMILY if family else MOST_BYTES):
                continue
            lines.append((case, case.text(results)))
            made += 1
            if made == count:
                break
        else:
            sys.exit(f"oracle: NumPy refused nearly all cases of {name} {codes}")
    return pools, lines


def write(path, pools, lines, title):
    with open(path, "w") as file:
        file.write(f"# {title}; the format stands in case.hpp\n")
        file.writelines(line + "\n" for line in pool_lines(pools))
        file.writelines(line + "\n" for line in lines)


def run(driver, pools, lines, *flags):
    """The driver's answer, and the lines that it found wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.txt")
        write(path, pools, lines, "cases")
        done = subprocess.run([driver, *flags, path], capture_output=True, text=True)
    wrong = {line[len("WRONG "):] for line in done.stdout.splitlines() if line.startswith("WRONG ")}
    return done, wrong


def simpler(case, pools):
    """Cases that are smaller than this one, the boldest first."""
    operands = case.operands

    def with_operand(i, operand):
        return replace(case, operands=operands[:i] + (operand,) + operands[i + 1:])

    if case.out:
        yield replace(case, out=False)
    views = [operand.view(pools) for operand in operands]
    for i, operand in enumerate(operands):
        if operand.steps:
            yield with_operand(i, Operand(operand.code, views[i].shape, values=(views[i].reshape(-1).copy(),)))
            yield with_operand(i, replace(operand, steps=operand.steps[:-1]))
    rank = max((view.ndim for view in views), default=0)
    for axis in range(-rank, 0):
        extent = max(view.shape[axis] for view in views if view.ndim >= -axis)
        for begin, end in ((0, extent // 2), (extent // 2, extent), (0, extent - 1), (1, extent)):
            if extent < 2 or (begin, end) == (0, extent):
                continue
            for chosen in [range(len(operands))] + ([[i] for i in range(len(operands))] if len(operands) > 1 else []):
                cut = list(operands)
                for i in chosen:
                    view = views[i]
                    if view.ndim >= -axis and view.shape[axis] == extent:
                        bounds = [(None, None, None)] * view.ndim
                        bounds[axis] = (begin, end, None)
                        if operands[i].steps:
                            cut[i] = replace(operands[i], steps=operands[i].steps + (("s", tuple(bounds)),))
                        else:
                            part = view[tuple(slice(*bound) for bound in bounds)]
                            cut[i] = Operand(operands[i].code, part.shape, values=(part.reshape(-1).copy(),))
                if tuple(cut) != operands:
                    yield replace(case, operands=tuple(cut))
    for i, operand in enumerate(operands):
        view = views[i]
        if view.ndim and view.shape[0] == 1 and not operand.steps:
            yield with_operand(i, Operand(operand.code, view.shape[1:], values=(view.reshape(-1).copy(),)))
        if not operand.steps and view.size <= 16:
            flat = view.reshape(-1)
            for place in range(flat.size):
                for value in (0, 1, 2):
                    if not (flat[place] == value or flat[place] in range(value)):
                        changed = flat.copy()
                        changed[place] = value
                        yield with_operand(i, Operand(operand.code, view.shape, values=(changed,)))


def shrink(driver, case, pools):
    """The smallest case that still fails that we can find, as a line of its own."""
    for _ in range(200):
        candidates = {}
        for candidate in simpler(case, pools):
            try:
                candidates.setdefault(candidate.text(results_of(candidate, pools)), candidate)
            except REFUSALS:
                continue
        _, wrong = run(driver, pools, list(candidates))
        smaller = next((candidate for line, candidate in candidates.items() if line in wrong), None)
        if smaller is None:
            break
        case = smaller
    explicit = tuple(operand if operand.values else replace(operand, values=(replace(operand, steps=()).view(pools).reshape(-1).copy(),))
                     for operand in case.operands)
    case = replace(case, operands=explicit)
    return case.text(results_of(case, pools))


def fresh(driver):
    given = os.environ.get("TWILL_TEST_SEED") or "20261"
    seed = random.SystemRandom().randrange(2, 10**9) if given == "fresh" else int(given)
    print(f"NumPy {np.__version__}, TWILL_TEST_SEED={seed}")
    pools, cases = make_cases(seed, table(driver))
    without = [word for prefix in MISSING for word in ("--without", prefix)]
    done, wrong = run(driver, pools, [line for _, line in cases], *without, "--coverage")
    print(done.stdout, end="")
    seen = set()
    for case, line in cases:
        kind = case.name, tuple(operand.code for operand in case.operands)
        if line in wrong and kind not in seen and len(seen) < 12:
            seen.add(kind)
            minimal = shrink(driver, case, pools)
            print("\nthe smallest case that fails; put the line into a file and give that to the driver:")
            print(run(driver, {}, [minimal])[0].stdout)
    return done.returncode


def main():
    warnings.simplefilter("ignore")  # means of nothing are among the cases, and what PyTorch thinks of them
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("golden", "fresh"))
    parser.add_argument("file", nargs="?")
    parser.add_argument("--driver", required=True)
    options = parser.parse_intermixed_args()
    if options.action == "fresh":
        return fresh(options.driver)
    if MISSING:
        sys.exit("oracle: the committed file needs " + " and ".join(sorted(set(MISSING.values()))))
    pools, cases = make_cases(1, table(options.driver))
    write(options.file, pools, [line for _, line in cases], "What NumPy computes, written by oracle.py golden")
    print(f"{len(cases)} cases, {os.path.getsize(options.file)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
