// SPDX-License-Identifier: Apache-2.0
//
// The table of sparse products in models beside loops over the dense matrix: both element types, narrow and wide operands, vectors,
// batches by vmap; derivatives of both orders beside finite differences. Random structures: tests/sparse/gradients.test.cpp.

#include "tests/support/operation_table.hpp"

#include <twill/sparse/csr_value.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

using Arrays = std::vector<Array>;

constexpr std::int64_t csr_rows = 4;
constexpr std::int64_t csr_columns = 5;
constexpr std::int64_t csr_entries = csr_rows * (csr_rows - 1);

/// A matrix of 4 x 5 with 12 entries: row r has 2r, two of the last row in one place.
sparse::CsrValue csr_matrix(Value values) {
  const auto count = [&](std::int64_t n) { return graph::iota(values.graph(), graph::Extents{{n, 0}}); };
  const Value row = count(csr_rows + 1);
  return sparse::csr(row * (row - 1), count(csr_entries) * 2 % csr_columns, values, {csr_rows, 0}, {csr_columns, 0});
}
Value csr_ones(Value like) {
  return broadcast_to(graph::constant(like.graph(), like.dtype(), 1), graph::Extents{{csr_entries, 0}});
}
/// Calls f(row, column, entry) for each entry.
template <class F> void csr_each_entry(const F& f) {
  for (std::int64_t row = 0; row < csr_rows; ++row)
    for (std::int64_t entry = row * (row - 1); entry < row * (row + 1); ++entry)
      f(row, entry * 2 % csr_columns, static_cast<std::size_t>(entry));
}

/// The product of the matrix, or of its transpose, with a dense operand.
Array csr_product(const std::vector<double>& values, const Array& x, bool is_transposed) {
  const std::int64_t width = x.shape.rank == 2 ? x.shape[1] : 1;
  Array y{x.shape, {}};
  y.shape[0] = is_transposed ? csr_columns : csr_rows;
  y.elements.resize(static_cast<std::size_t>(y.shape[0] * width));
  csr_each_entry([&](std::int64_t row, std::int64_t column, std::size_t entry) {
    const std::int64_t to = is_transposed ? column : row;
    const std::int64_t from = is_transposed ? row : column;
    for (std::int64_t k = 0; k < width; ++k)
      y.elements[static_cast<std::size_t>(to * width + k)] +=
          values[entry] * x.elements[static_cast<std::size_t>(from * width + k)];
  });
  return y;
}

const OperationRow csr_rows_of_table[] = {
    {"matmul of csr and a matrix",
     {{Dims(csr_entries), Dims(csr_columns, 3)},
      {Dims(csr_entries), Dims(csr_columns, 1)},
      {Dims(csr_entries), Dims(csr_columns, 17)}},
     [](const Value* x) { return matmul(csr_matrix(x[0]), x[1]); },
     [](const Arrays& x) { return csr_product(x[0].elements, x[1], false); },
     RowTypes::wide},
    {"matmul of csr and a vector",
     {{Dims(csr_entries), Dims(csr_columns)}},
     [](const Value* x) { return matmul(csr_matrix(x[0]), x[1]); },
     [](const Arrays& x) { return csr_product(x[0].elements, x[1], false); },
     RowTypes::wide},
    {"transposed_matmul",
     {{Dims(csr_entries), Dims(csr_rows, 3)},
      {Dims(csr_entries), Dims(csr_rows)},
      {Dims(csr_entries), Dims(csr_rows, 17)}},
     [](const Value* x) { return transposed_matmul(csr_matrix(x[0]), x[1]); },
     [](const Arrays& x) { return csr_product(x[0].elements, x[1], true); },
     RowTypes::wide},
    {"sampled_matmul",
     {{Dims(csr_rows, 2), Dims(2, csr_columns)},
      {Dims(csr_rows, 1), Dims(1, csr_columns)},
      {Dims(csr_rows, 11), Dims(11, csr_columns)}},
     [](const Value* x) { return sampled_matmul(csr_matrix(csr_ones(x[0])), x[0], x[1]); },
     [](const Arrays& x) {
       const std::int64_t width = x[0].shape[1];
       Array samples{Dims(csr_entries), std::vector<double>(static_cast<std::size_t>(csr_entries))};
       csr_each_entry([&](std::int64_t row, std::int64_t column, std::size_t entry) {
         for (std::int64_t k = 0; k < width; ++k)
           samples.elements[entry] += x[0].elements[static_cast<std::size_t>(row * width + k)] *
                                      x[1].elements[static_cast<std::size_t>(k * csr_columns + column)];
       });
       return samples;
     },
     RowTypes::wide},
    {"scale_rows, scale_columns and with_values, added up by rows",
     {{Dims(csr_entries), Dims(csr_rows), Dims(csr_columns)}},
     [](const Value* x) {
       const auto scaled = scale_columns(scale_rows(csr_matrix(x[0]), x[1]), x[2]);
       return sparse::sum<1>(with_values(scaled, scaled.values * x[0]));
     },
     [](const Arrays& x) {
       Array sums{Dims(csr_rows), std::vector<double>(static_cast<std::size_t>(csr_rows))};
       csr_each_entry([&](std::int64_t row, std::int64_t column, std::size_t entry) {
         sums.elements[static_cast<std::size_t>(row)] += x[0].elements[entry] * x[0].elements[entry] *
                                                         x[1].elements[static_cast<std::size_t>(row)] *
                                                         x[2].elements[static_cast<std::size_t>(column)];
       });
       return sums;
     },
     RowTypes::wide},
};

} // namespace

TEST_CASE("sparse products in models agree with loops over entries", "[sparse]") {
  for (const OperationRow& row : csr_rows_of_table) check_forward(row);
}

TEST_CASE("both derivatives of sparse products are those of differences", "[sparse][gradient]") {
  for (const OperationRow& row : csr_rows_of_table) check_both_derivatives(row);
}
