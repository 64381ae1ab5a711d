#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Printing of sparse matrices: a line with type, shape and number of non-zeros, then the three arrays as tensors are
// printed. Read next: tensor/print.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/text.hpp>
#include <twill/sparse/csr_matrix.hpp>
#include <twill/tensor/print.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>

namespace twill { inline namespace v0 { namespace sparse { inline namespace TWILL_ISA {

/// "csr matrix of float32, shape (2, 3), 2 non-zeros" and, each on lines of its own, the arrays.
template <Scalar T, Device D, AnyShape S> [[nodiscard]] std::string to_string(const CsrMatrix<T, D, S>& a) {
  return join_text({"csr matrix of ", name(dtype_of<T>), ", shape ", to_string(a.shape()), ", ", a.nnz(),
                    " non-zeros\nrow_offsets: ", to_string(a.row_offsets()),
                    "\ncolumn_indices: ", to_string(a.column_indices()), "\nvalues: ", to_string(a.values())});
}

/// Writes the text of `to_string`; waits for the matrix.
template <class Character, class Traits, Scalar T, Device D, AnyShape S>
std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& out,
                                                  const CsrMatrix<T, D, S>& a) {
  const std::string text = to_string(a);
  out.write(text.data(), static_cast<std::int64_t>(text.size()));
  return out;
}

}}}} // namespace twill::v0::sparse::TWILL_ISA
