#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices from dense ones and from coordinates, and back. Structures are made on the host: matrices of other
// devices are copied there and back. Sums of entries of one place have the order in which they were given. Read next:
// sparse/arithmetic.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/sparse/csr_matrix.hpp>
#include <twill/sparse/entries.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill { inline namespace v0 { namespace sparse {

/// The coordinates of a matrix's non-zeros, by rows.
template <class Index, class Values> struct Coo {
  Index row_indices{};    ///< (non-zeros)
  Index column_indices{}; ///< (non-zeros)
  Values values{};        ///< (non-zeros)
  Dims shape{};           ///< (rows, columns)
};

}}} // namespace twill::v0::sparse

namespace twill { inline namespace v0 { namespace sparse { inline namespace TWILL_ISA {

/// The matrix of entries (row, column, value) in any order; those of one place are added up, as `torch.sparse`'s
/// `coalesce` and SciPy's `tocsr` do.
/// throws: ShapeError for numbers of entries that differ, IndexError naming an entry outside of the matrix
template <AnyShape S = Shape<dyn, dyn>, Scalar T, Device D, AnyShape S1, AnyShape S2, AnyShape S3>
requires(S::rank == 2 && S1::rank == 1 && S2::rank == 1 && S3::rank == 1 && !std::same_as<T, bool>)
    [[nodiscard]] CsrMatrix<T, D, S> from_coo(const Dims& shape, const Tensor<std::int64_t, D, S1>& row_indices,
                                              const Tensor<std::int64_t, D, S2>& column_indices,
                                              const Tensor<T, D, S3>& values) {
  return assemble<S>("from_coo", shape, to_vector(row_indices), to_vector(column_indices), to_vector(values),
                     values.device());
}

/// The coordinates of the non-zeros, by rows.
template <Scalar T, Device D, AnyShape S>
[[nodiscard]] Coo<Tensor<std::int64_t, D, Shape<dyn>>, Tensor<T, D, Shape<dyn>>> to_coo(const CsrMatrix<T, D, S>& a) {
  return {from_values(rows_of_entries(to_vector(a.row_offsets())), a.device()), a.column_indices(), a.values(),
          a.shape()};
}

/// The elements of a dense matrix that are not zero; NaN is not.
template <Scalar T, Device D, AnyShape S>
requires(S::rank == 2 && !std::same_as<T, bool>) [[nodiscard]] CsrMatrix<T, D, S> from_dense(const Tensor<T, D, S>& x) {
  const Dims shape = x.shape();
  const std::vector<T> elements = to_vector(x);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> indices{};
  std::vector<T> values{};
  for (std::int64_t r = 0; r < shape[0]; ++r) {
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      const T element = elements[static_cast<std::size_t>(r * shape[1] + c)];
      if (element == static_cast<T>(0)) continue;
      indices.push_back(c);
      values.push_back(element);
    }
    offsets.push_back(static_cast<std::int64_t>(indices.size()));
  }
  return arranged<S>(shape, offsets, indices, values, x.device());
}

/// The dense matrix, zero where nothing is stored. throws: OutOfMemoryError
template <Scalar T, Device D, AnyShape S> [[nodiscard]] Tensor<T, D, S> to_dense(const CsrMatrix<T, D, S>& a) {
  const std::vector<std::int64_t> offsets = to_vector(a.row_offsets());
  const std::vector<std::int64_t> indices = to_vector(a.column_indices());
  const std::vector<T> values = to_vector(a.values());
  const auto x = full<T, S, Cpu>(a.shape(), T{}, Cpu{0});
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
    for (auto i = static_cast<std::size_t>(offsets[r]); i < static_cast<std::size_t>(offsets[r + 1]); ++i)
      x.data()[static_cast<std::int64_t>(r) * a.columns() + indices[i]] = values[i];
  return x.to(a.device());
}

/// The transposed matrix, by rows.    cost: linear
template <Scalar T, Device D, AnyShape S> [[nodiscard]] auto transpose(const CsrMatrix<T, D, S>& a) {
  const std::vector<std::int64_t> rows = rows_of_entries(to_vector(a.row_offsets()));
  const std::vector<T> values = to_vector(a.values());
  const Dims shape(a.columns(), a.rows());
  const Sorted sorted = sorted_entries("transpose", shape, to_vector(a.column_indices()), rows);
  std::vector<std::int64_t> indices(rows.size());
  std::vector<T> numbers(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    indices[i] = rows[static_cast<std::size_t>(sorted.order[i])];
    numbers[i] = values[static_cast<std::size_t>(sorted.order[i])];
  }
  return arranged<Shape<S::extent(1), S::extent(0)>>(shape, sorted.row_offsets, indices, numbers, a.device());
}

/// Whether two matrices have one shape and non-zeros in the same places, whatever their values.
template <AnyCsrMatrix A, AnyCsrMatrix B> [[nodiscard]] bool same_structure(const A& a, const B& b) {
  return a.shape() == b.shape() && a.nnz() == b.nnz() && to_vector(a.row_offsets()) == to_vector(b.row_offsets()) &&
         to_vector(a.column_indices()) == to_vector(b.column_indices());
}

}}}} // namespace twill::v0::sparse::TWILL_ISA
