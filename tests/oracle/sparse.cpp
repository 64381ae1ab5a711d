// SPDX-License-Identifier: Apache-2.0
//
// Products and scalings of CSR matrices beside SciPy's. Operands: row offsets, columns, values, then dense ones; the case's
// number is the number of columns, which an empty matrix does not tell.

#include "tests/oracle/traced.hpp"

#include <twill/sparse.hpp>

#include <cstdint>

namespace oracle {
namespace {

using namespace twill::sparse;
using X = std::span<const Value>;
using N = const Numbers64&;

CsrValue matrix_of(X x, N numbers) {
  const twill::graph::Extent rows{x[0].shape()[0].factor - 1, 0};
  return csr(x[0], x[1], x[2], rows, {static_cast<std::int64_t>(numbers[0]), 0});
}

/// Matrices of tensors: what is stored of a dense one, and entries of one place that are added up.
void add_assembly(Registry& to) {
  using Stored = Types<std::int32_t, half, float, double, twill::complex64>;
  unary<2>(to, "sparse.transposed", Stored{}, exact, [](const auto& x) { return to_dense(transpose(from_dense(x))); });
  unary<2>(to, "sparse.stored", Stored{}, exact, [](const auto& x) { return to_coo(from_dense(x)).values; });
  binary<2>(to, "sparse.product", Types<float, double>{}, zeros_equal,
            [](const auto& a, const auto& b) { return matmul(from_dense(a), b); });
  const auto assembled = [](const auto& rows, const auto& columns, const auto& values, const std::vector<double>& n) {
    const Dims shape(static_cast<std::int64_t>(n[0]), static_cast<std::int64_t>(n[1]));
    return to_dense(from_coo(shape, rows, columns, values));
  };
  using F = decltype(assembled);
  to.push_back({"sparse.from_coo",
                {DType::int64, DType::int64, DType::float32},
                zeros_equal,
                run_three<F, 1, std::int64_t, std::int64_t, float>});
  to.push_back({"sparse.from_coo",
                {DType::int64, DType::int64, DType::float64},
                zeros_equal,
                run_three<F, 1, std::int64_t, std::int64_t, double>});
}

} // namespace

void add_sparse(Registry& to) {
  add_assembly(to);
  traced(to, "sparse.matmul", "iiTT",
         [](X x, N n) { return with_gradients(matmul(matrix_of(x, n), x[3]), x.subspan(2)); });
  traced(to, "sparse.transposed_matmul", "iiTT",
         [](X x, N n) { return with_gradients(transposed_matmul(matrix_of(x, n), x[3]), x.subspan(2)); });
  traced(to, "sparse.sampled_matmul", "iiTTT",
         [](X x, N n) { return with_gradients(sampled_matmul(matrix_of(x, n), x[3], x[4]), x.subspan(3)); });
  traced(to, "sparse.sum<0>", "iiT", [](X x, N n) { return TracedValues{sum<0>(matrix_of(x, n))}; });
  traced(to, "sparse.sum<1>", "iiT", [](X x, N n) { return TracedValues{sum<1>(matrix_of(x, n))}; });
  traced(to, "sparse.scale_rows", "iiTT",
         [](X x, N n) { return TracedValues{scale_rows(matrix_of(x, n), x[3]).values}; });
  traced(to, "sparse.scale_columns", "iiTT",
         [](X x, N n) { return TracedValues{scale_columns(matrix_of(x, n), x[3]).values}; });
  traced(to, "sparse.chain", "iiTT", [](X x, N n) { // A^T diag(sums of rows) A y
    const CsrValue a = matrix_of(x, n);
    return TracedValues{transposed_matmul(scale_rows(a, sum<1>(a)), matmul(a, x[3]))};
  });
}

} // namespace oracle
