// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/sparse.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/sparse.hpp>
#include <twill/twill.hpp>

#include <cstdint>
#include <string>

using namespace twill;
using graph::Value;
using sparse::CsrMatrix;

// clang-format off

// Sparse matrices: in the header twill/sparse.hpp, namespace sparse. `a` is a matrix, `dense` a dense one, the others are vectors.
void matrices(const CsrMatrix<float>& a, const Tensor<float, Cpu, Shape<3, 4>>& dense, const Tensor<std::int64_t, Cpu, Shape<dyn>>& offsets, const Tensor<std::int64_t, Cpu, Shape<dyn>>& rows, const Tensor<std::int64_t, Cpu, Shape<dyn>>& columns, const Tensor<float, Cpu, Shape<dyn>>& values) {
  { const sparse::CsrMatrix matrix(Dims(3, 4), offsets, columns, values); }
  { const sparse::CsrMatrix matrix = sparse::from_coo(Dims(3, 4), rows, columns, values); }
  { const sparse::Coo coordinates = sparse::to_coo(a); }
  { const sparse::CsrMatrix<float, Cpu, Shape<3, 4>> matrix = sparse::from_dense(dense); }
  { const Tensor x = sparse::to_dense(a); }
  { const sparse::CsrMatrix t = sparse::transpose(a); }
  { const bool have_one_pattern = sparse::same_structure(a, transpose(a)); }
  { const std::string text = sparse::to_string(a); }
  { static_assert(sparse::AnyCsrMatrix<CsrMatrix<float>> && sparse::is_csr_matrix<CsrMatrix<float>>); }
}

// Products, sums and scaling: `a` is (3, 4); `x` has 4 rows, `z` 3, `s` and `t` are vectors of 3 and 4.
void arithmetic(const CsrMatrix<float>& a, const Tensor<float, Cpu, Shape<4, 2>>& x, const Tensor<float, Cpu, Shape<3, 2>>& z, const Tensor<float, Cpu, Shape<3>>& s, const Tensor<float, Cpu, Shape<4>>& t) {
  { const Tensor y = sparse::matmul(a, x); }
  { const Tensor y = sparse::transposed_matmul(a, z); }
  { const sparse::CsrMatrix products = sparse::sampled_matmul(a, z, x.transpose()); }
  { const Tensor of_rows = sparse::sum<1>(a); }
  { const sparse::CsrMatrix scaled = sparse::scale_rows(a, s); }
  { const sparse::CsrMatrix scaled = sparse::scale_columns(a, t); }
}

// In models: `offsets`, `columns` and `v` are inputs of a model, `x` and `z` dense values of it.
[[maybe_unused]] constexpr auto in_models = [](Value offsets, Value columns, Value v, Value x, Value z) {
  { const sparse::CsrValue a = sparse::csr(offsets, columns, v, z.shape()[0], x.shape()[0]); }
  const auto a = sparse::csr(offsets, columns, v, z.shape()[0], x.shape()[0]);
  { const sparse::CsrValue other = sparse::with_values(a, exp(v)); }
  { const Value y = sparse::matmul(a, x); }
  { const Value y = sparse::transposed_matmul(a, z); }
  { const Value products = sparse::sampled_matmul(a, z, transpose(x)); }
  { const Value of_rows = sparse::sum<1>(a); }
  { const sparse::CsrValue scaled = sparse::scale_rows(a, sum<1>(a)); }
  { const sparse::CsrValue scaled = sparse::scale_columns(a, sum<0>(a)); }
};
