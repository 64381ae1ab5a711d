#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of sparse/.

#include <twill/sparse/arithmetic.hpp>
#include <twill/sparse/assembly.hpp>
#include <twill/sparse/csr_matrix.hpp>
#include <twill/sparse/csr_value.hpp>
#include <twill/sparse/entries.hpp>
#include <twill/sparse/print.hpp>
#include <twill/sparse/products.hpp>
#include <twill/sparse/structure.hpp>
