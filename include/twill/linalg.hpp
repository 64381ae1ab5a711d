#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of linalg/.

#include <twill/linalg/batch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/complex_columns.hpp>
#include <twill/linalg/complex_matrices.hpp>
#include <twill/linalg/complex_tensors.hpp>
#include <twill/linalg/complex_values.hpp>
#include <twill/linalg/eig.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/geev.hpp>
#include <twill/linalg/lapack.hpp>
#include <twill/linalg/least_squares.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/matrix_functions.hpp>
#include <twill/linalg/matrix_values.hpp>
#include <twill/linalg/norms.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/linalg/reported.hpp>
#include <twill/linalg/svd.hpp>
#include <twill/linalg/tensors.hpp>
#include <twill/linalg/triangular.hpp>
#include <twill/linalg/working_bytes.hpp>
