# SPDX-License-Identifier: Apache-2.0
"""The first points of SciPy's Sobol sequence of 512 dimensions."""


def make(save):
    try:
        from scipy.stats import qmc
    except ImportError as error:
        print(f"point_sets: skipped: {error}")
        return
    save("sobol", qmc.Sobol(512, scramble=False, bits=32).random(32))
