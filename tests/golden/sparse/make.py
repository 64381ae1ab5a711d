#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the .npz files beside it with SciPy: a matrix in several formats, stored and deflated. The tests read them."""

import pathlib

import numpy
import scipy.sparse

HERE = pathlib.Path(__file__).parent

dense = numpy.array([[1.5, 0, 0, 2], [0, 0, 0, 0], [0, -3, 0.25, 0]])
scipy.sparse.save_npz(HERE / "stored.npz", scipy.sparse.csr_array(dense), compressed=False)
scipy.sparse.save_npz(HERE / "deflated.npz", scipy.sparse.csr_matrix(dense), compressed=True)
scipy.sparse.save_npz(HERE / "columns.npz", scipy.sparse.csc_array(dense))
rows, columns = numpy.array([2, 0, 2, 0, 0, 2]), numpy.array([2, 3, 1, 0, 3, 1])  # duplicates, in no order
values = numpy.array([0.25, 0.5, -1, 1.5, 1.5, -2], numpy.float32)
scipy.sparse.save_npz(HERE / "coordinates.npz", scipy.sparse.coo_array((values, (rows, columns)), (3, 4)))
scipy.sparse.save_npz(HERE / "diagonals.npz", scipy.sparse.dia_array(dense))
