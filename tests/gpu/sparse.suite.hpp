#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Products with sparse matrices on a GPU, by a library: against loops over dense matrices on the host, of numbers whose sums are
// exact in every order. Matrices of all shapes, also without rows, columns or elements, arrays that are not aligned,
// conversions, sums and scales, refusals, streams side by side, graphs, products and gradients in models.

#include <tests/support/suite.hpp>

#include <twill/compile/function.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/expr.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/sparse.hpp>

#if defined(__CUDACC__)
#include <twill/sparse/cuda/products.cuh>
#else
#include <tests/support/emulated_sparse_products.hpp>
#endif

#include <cstddef>
#include <cstdint>
#include <random>
#include <source_location>
#include <string>
#include <tuple>
#include <vector>

namespace twill::test { namespace sparse_suite {

using D = TestedDevice;
template <class T> using Vector = Tensor<T, D, Shape<dyn>>;
template <class T> using Matrix = Tensor<T, D, Shape<dyn, dyn>>;
using Numbers = std::vector<double>;

/// A dense matrix on the host.
struct Dense {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Numbers numbers{};

  [[nodiscard]] double at(std::int64_t r, std::int64_t c) const {
    return numbers[static_cast<std::size_t>(r * columns + c)];
  }
};

/// Whole numbers from -4 to 4, zero for all but a share of them.
inline Dense some_dense(std::int64_t rows, std::int64_t columns, double share = 1) {
  static std::mt19937_64 random{7};
  Dense x{rows, columns, {}};
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const bool is_stored = static_cast<double>(random() % 1000) < 1000 * share;
    x.numbers.push_back(is_stored ? static_cast<double>(random() % 9) - 4 : 0);
  }
  return x;
}

inline Dense transposed(const Dense& x) {
  Dense y{x.columns, x.rows, {}};
  for (std::int64_t c = 0; c < x.columns; ++c)
    for (std::int64_t r = 0; r < x.rows; ++r) y.numbers.push_back(x.at(r, c));
  return y;
}

inline Dense product(const Dense& x, const Dense& y) {
  Dense z{x.rows, y.columns, {}};
  for (std::int64_t r = 0; r < x.rows; ++r)
    for (std::int64_t c = 0; c < y.columns; ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < x.columns; ++i) sum += x.at(r, i) * y.at(i, c);
      z.numbers.push_back(sum);
    }
  return z;
}

/// The numbers of a matrix where another one is not zero.
inline Numbers sampled(const Dense& x, const Dense& at) {
  Numbers numbers;
  for (std::size_t i = 0; i < x.numbers.size(); ++i)
    if (at.numbers[i] != 0) numbers.push_back(x.numbers[i]);
  return numbers;
}

template <class T> Matrix<T> to_device(const Dense& x) {
  return from_values<Shape<dyn, dyn>>(std::vector<T>(x.numbers.begin(), x.numbers.end()), Dims(x.rows, x.columns),
                                      D{0});
}
template <class T> Vector<T> vector_of(const Dense& x) {
  return from_values(std::vector<T>(x.numbers.begin(), x.numbers.end()), D{0});
}

template <class X>
void require_numbers(const X& x, const Numbers& wanted,
                     const std::source_location& where = std::source_location::current()) {
  const auto values = to_vector(x);
  require_equal(values.size(), wanted.size(), where);
  for (std::size_t i = 0; i < wanted.size(); ++i) require_close(static_cast<double>(values[i]), wanted[i], 0, 0, where);
}

template <class T> void products_of_shape_are_right(std::int64_t rows, std::int64_t columns, double share) {
  const Dense dense = some_dense(rows, columns, share);
  const auto a = sparse::from_dense(to_device<T>(dense).cpu()).to(D{0});
  for (const std::int64_t width : {1, 3, 34}) {
    const Dense x = some_dense(columns, width), z = some_dense(rows, width);
    require_numbers(matmul(a, to_device<T>(x)), product(dense, x).numbers);
    require_numbers(transposed_matmul(a, to_device<T>(z)), product(transposed(dense), z).numbers);
    require_numbers(sampled_matmul(a, to_device<T>(z), to_device<T>(transposed(x))).values(),
                    sampled(product(z, transposed(x)), dense));
  }
  const Dense v = some_dense(columns, 1), w = some_dense(rows, 1);
  require_numbers(matmul(a, vector_of<T>(v)), product(dense, v).numbers);
  require_numbers(transposed_matmul(a, vector_of<T>(w)), product(transposed(dense), w).numbers);
}

inline void products_are_right() {
  for (const double share : {0.05, 0.4, 1.0}) {
    products_of_shape_are_right<float>(19, 23, share);
    products_of_shape_are_right<float>(1, 40, share);
    products_of_shape_are_right<float>(40, 1, share);
  }
  products_of_shape_are_right<double>(31, 17, 0.2);
}
const Case products_case{"products with sparse matrices are those with dense ones", &products_are_right};

inline void nothing_is_zero() {
  products_of_shape_are_right<float>(5, 7, 0); // no elements
  products_of_shape_are_right<float>(0, 7, 1);
  products_of_shape_are_right<float>(5, 0, 1);
  const auto a = sparse::from_dense(to_device<float>(some_dense(4, 3)));
  require_equal(matmul(a, to_device<float>(some_dense(3, 0))).elements(), std::int64_t{0});
  require_numbers(sampled_matmul(a, to_device<float>(some_dense(4, 0)), to_device<float>(some_dense(0, 3))).values(),
                  Numbers(static_cast<std::size_t>(a.nnz())));
}
const Case nothing_case{"matrices without elements, rows or columns give zeros", &nothing_is_zero};

/// The elements of a vector, which begin at an odd place in memory.
template <class T> Vector<T> displaced(const Vector<T>& x) {
  std::vector<T> values{T{}};
  for (const T value : to_vector(x)) values.push_back(value);
  return Vector<T>(from_values(values, D{0})(slice{1, x.elements() + 1}));
}

inline void arrays_and_operands_are_views() {
  const Dense dense = some_dense(9, 8, 0.4), x = some_dense(8, 5), y = some_dense(9, 5);
  const auto whole = sparse::from_dense(to_device<float>(dense));
  const sparse::CsrMatrix a(Dims(9, 8), displaced(Vector<std::int64_t>(whole.row_offsets())),
                            displaced(whole.column_indices()), displaced(whole.values()));
  require_numbers(matmul(a, to_device<float>(x)), product(dense, x).numbers);
  require_numbers(matmul(a, to_device<float>(transposed(x)).transpose()), product(dense, x).numbers);
  require_numbers(transposed_matmul(a, displaced(vector_of<float>(y)).reshape(9, 5)),
                  product(transposed(dense), y).numbers);
  const auto doubled = matmul(a, 2.0F * to_device<float>(x)); // an expression
  require_numbers(eval(0.5F * doubled), product(dense, x).numbers);
  require_numbers(sampled_matmul(a, to_device<float>(y), to_device<float>(transposed(x))).values(),
                  sampled(product(y, transposed(x)), dense));
}
const Case views_case{"products take arrays at odd places, views and expressions", &arrays_and_operands_are_views};

inline void conversions_keep_the_elements() {
  const Dense dense = some_dense(6, 11, 0.3);
  const auto a = sparse::from_dense(to_device<float>(dense));
  require_numbers(to_dense(a), dense.numbers);
  require_numbers(to_dense(transpose(a)), transposed(dense).numbers);
  const auto coo = to_coo(a);
  const auto again = sparse::from_coo(coo.shape, coo.row_indices, coo.column_indices, coo.values);
  require(same_structure(a, again));
  require_numbers(to_dense(again.to(Cpu{0})), dense.numbers);
}
const Case conversions_case{"matrices are made of dense ones and coordinates on the device",
                            &conversions_keep_the_elements};

inline void sums_and_scales_are_right() {
  const Dense dense = some_dense(7, 10, 0.5), of_rows = some_dense(7, 1), of_columns = some_dense(10, 1);
  const auto a = sparse::from_dense(to_device<float>(dense));
  const Dense ones{10, 1, Numbers(10, 1.0)}, others{7, 1, Numbers(7, 1.0)};
  require_numbers(sum<1>(a), product(dense, ones).numbers);
  require_numbers(sum<0>(a), product(transposed(dense), others).numbers);
  Dense scaled = dense;
  for (std::int64_t r = 0; r < 7; ++r)
    for (std::int64_t c = 0; c < 10; ++c)
      scaled.numbers[static_cast<std::size_t>(r * 10 + c)] *= of_rows.at(r, 0) * of_columns.at(c, 0);
  require_numbers(to_dense(scale_columns(scale_rows(a, vector_of<float>(of_rows)), vector_of<float>(of_columns))),
                  scaled.numbers);
}
const Case sums_case{"sums and scaled rows and columns are those of the dense matrix", &sums_and_scales_are_right};

inline void operands_are_refused() {
  const auto a = sparse::from_dense(to_device<float>(some_dense(4, 3)));
  require_throws<ShapeError>([&] { static_cast<void>(matmul(a, to_device<float>(some_dense(4, 2)))); },
                             "sparse matmul: the sparse matrix has 3 columns, the dense operand 4 rows");
  require_throws<ShapeError>([&] { static_cast<void>(transposed_matmul(a, vector_of<float>(some_dense(3, 1)))); },
                             "sparse transposed_matmul: the sparse matrix has 4 rows, the dense operand 3 rows");
  const auto offsets = from_values(std::vector<std::int64_t>{0, 1, 1}, D{0});
  const auto indices = from_values(std::vector<std::int64_t>{5}, D{0});
  require_throws<IndexError>(
      [&] { static_cast<void>(sparse::CsrMatrix(Dims(2, 3), offsets, indices, vector_of<float>(some_dense(1, 1)))); },
      "csr: row 0 has an element in column 5 of 3 columns");
}
const Case refusals_case{"operands and arrays that do not fit are named with their sizes", &operands_are_refused};

inline void problems_are_told() {
  const auto a = sparse::from_dense(to_device<float>(Dense{2, 3, {1, 0, 2, 0, 3, 0}}));
  const auto x = to_device<float>(some_dense(3, 4)), z = to_device<float>(some_dense(2, 4));
  forget_library_choices(D{0});
  for (int i = 0; i < 2; ++i) {
    static_cast<void>(matmul(a, x));
    static_cast<void>(transposed_matmul(a, z));
    static_cast<void>(sampled_matmul(a, z, x.transpose()));
  }
  const auto choices = library_choices(D{0});
  require_equal(choices.size(), std::size_t{3});
  require_equal(choices[0].by, sparse::ProductLibrary<D::Runtime>::type::name);
  require_equal(choices[0].problem, "product of a sparse matrix of 2 x 3 with 3 non-zeros by 3 x 4 float32");
  require_equal(choices[1].problem, "transposed product of a sparse matrix of 2 x 3 with 3 non-zeros by 2 x 4 float32");
  require_equal(choices[2].problem, "product of 2 x 4 by 4 x 3 float32 at the 3 non-zeros of a sparse matrix");
}
const Case choices_case{"the library's problems are told", &problems_are_told};

inline void streams_and_graphs_take_products() {
  const Dense dense = some_dense(30, 20, 0.2), x = some_dense(20, 6);
  const auto a = sparse::from_dense(to_device<float>(dense));
  auto operand = to_device<float>(x);
  synchronize(D{0});
  const gpu::Stream<D> sides[] = {gpu::Stream<D>{D{0}}, gpu::Stream<D>{D{0}}};
  std::vector<decltype(matmul(a, operand))> results;
  for (int round = 0; round < 4; ++round)
    for (const auto& side : sides) {
      const StreamGuard<D> guard{D{0}, side.handle()};
      results.push_back(matmul(a, transposed_matmul(a, matmul(a, operand))));
    }
  synchronize(D{0});
  const Numbers wanted = product(dense, product(transposed(dense), product(dense, x))).numbers;
  for (const auto& result : results) require_numbers(result, wanted);

  results.clear();
  const auto graph =
      gpu::capture(D{0}, [&] { results.push_back(matmul(a, transposed_matmul(a, matmul(a, operand)))); });
  require_equal(graph.reason(), std::string{});
  graph.launch();
  require_numbers(results[0], wanted);
  operand *= 2.0F;
  graph.launch();
  require_numbers(eval(0.5F * results[0]), wanted);
}
const Case streams_case{"two streams take turns at the library, and graphs record products",
                        &streams_and_graphs_take_products};

inline void stacks_are_multiplied() {
  std::vector<std::int64_t> offsets, indices;
  std::vector<float> values;
  std::vector<Dense> matrices;
  for (const int first : {0, 2}) { // three elements each, in rows 0 and 3 of 4, columns of 5
    matrices.push_back({4, 5, Numbers(20)});
    for (const int offset : {0, 2, 2, 2, 3}) offsets.push_back(offset);
    for (const int place : {first, first + 1, 15 + first}) {
      indices.push_back(place % 5);
      values.push_back(static_cast<float>(place + 1));
      matrices.back().numbers[static_cast<std::size_t>(place)] = place + 1;
    }
  }
  const Dense x[] = {some_dense(5, 3), some_dense(5, 3)}, z[] = {some_dense(4, 3), some_dense(4, 3)};
  const auto stacked = [](const Dense(&each)[2]) {
    Dense both{2 * each[0].rows, 3, each[0].numbers};
    both.numbers.insert(both.numbers.end(), each[1].numbers.begin(), each[1].numbers.end());
    return to_device<float>(both);
  };
  const auto all_offsets = from_values(offsets, D{0}), all_indices = from_values(indices, D{0});
  const auto all_values = from_values(values, D{0});
  const auto all_x = stacked(x), all_z = stacked(z);
  const Matrix<float> y(D{0}, Dims(8, 3)), t(D{0}, Dims(10, 3));
  const Vector<float> s(D{0}, Dims(6));
  sparse::Structure a{};
  a.count = 2;
  a.rows = 4;
  a.columns = 5;
  a.entries = 3;
  a.row_offsets = all_offsets.data();
  a.column_indices = all_indices.data();
  launch(D{0}, [&](const auto& queue) {
    multiply(queue, a, all_values.data(), all_x.data(), 3, y.data());
    multiply_transposed(queue, a, all_values.data(), all_z.data(), 3, t.data());
    multiply_sampled(queue, a, all_z.data(), all_x.data(), 3, s.data());
  });
  Numbers of_y, of_t, of_s;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto append = [](Numbers& to, const Numbers& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(of_y, product(matrices[i], x[i]).numbers);
    append(of_t, product(transposed(matrices[i]), z[i]).numbers);
    append(of_s, sampled(product(z[i], transposed(x[i])), matrices[i]));
  }
  require_numbers(y, of_y);
  require_numbers(t, of_t);
  require_numbers(s, of_s);
}
const Case stacks_case{"stacks of matrices are multiplied one after another", &stacks_are_multiplied};

/// A x, and the gradients of the sum of its products with z: by A's values, and by x, which are the two other products.
constexpr auto traced_products = [](graph::Value v, graph::Value x, graph::Value z, graph::Value offsets,
                                    graph::Value columns, graph::Value shift) {
  const auto a = sparse::csr(offsets, columns + shift, v, z.shape()[0], x.shape()[0]);
  const graph::Value y = matmul(a, x);
  const graph::Value total = graph::sum(y * z);
  return std::tuple{y, graph::gradient(total, v), graph::gradient(total, x)};
};

/// The model's results for arrays, of which `valid` offsets are those that count.
inline void model_is_right(std::int64_t rows, std::int64_t columns, const std::vector<std::int64_t>& offsets,
                           const std::vector<std::int64_t>& valid, const std::vector<std::int64_t>& indices,
                           std::int64_t shift) {
  Dense dense{rows, columns, Numbers(static_cast<std::size_t>(rows * columns))};
  const Dense x = some_dense(columns, 4), z = some_dense(rows, 4), v = some_dense(std::ssize(indices), 1);
  const Dense of_values = product(z, transposed(x));
  Numbers slopes;
  for (std::int64_t r = 0; r < rows; ++r)
    for (auto i = static_cast<std::size_t>(valid[static_cast<std::size_t>(r)]);
         i < static_cast<std::size_t>(valid[static_cast<std::size_t>(r + 1)]); ++i) {
      const std::int64_t column = indices[i] + shift;
      const bool is_inside = column >= 0 && column < columns;
      slopes.push_back(is_inside ? of_values.at(r, column) : 0);
      if (is_inside) dense.numbers[static_cast<std::size_t>(r * columns + column)] += v.numbers[i];
    }
  const auto all_offsets = from_values(offsets, D{0}), all_indices = from_values(indices, D{0});
  const auto by = full<std::int64_t, Shape<>>(Dims(), shift, D{0});
  const auto values = vector_of<float>(v);
  const auto from = to_device<float>(x), weights = to_device<float>(z);
  for (int run = 0; run < 3; ++run) { // the later ones may be captured
    const auto [y, of_v, of_x] = compiled(traced_products)(values, from, weights, all_offsets, all_indices, by);
    require_numbers(y, product(dense, x).numbers);
    require_numbers(of_v, slopes);
    require_numbers(of_x, product(transposed(dense), z).numbers);
  }
}

inline void models_multiply() {
  const std::vector<std::int64_t> offsets{0, 3, 3, 7, 8, 8}, indices{4, 0, 6, 2, 3, 5, 2, 1}; // in any order, one twice
  model_is_right(5, 7, offsets, offsets, indices, 0);
}
const Case models_case{"products in models and their gradients are those of the dense matrix", &models_multiply};

inline void computed_structures_are_safe() {
  const std::vector<std::int64_t> indices{4, 0, 6, 2, 3, 5, 2, 1};
  model_is_right(4, 7, {0, 3, 3, 7, 8}, {0, 3, 3, 7, 8}, indices, 2);
  model_is_right(4, 7, {0, 3, 3, 7, 8}, {0, 3, 3, 7, 8}, indices, -5);
  model_is_right(4, 7, {0, 6, 2, 7, 8}, {0, 6, 6, 7, 8}, indices, 0);
  model_is_right(4, 7, {-5, -3, -2, -1, -1}, {0, 0, 0, 0, 8}, indices, 0);
  model_is_right(4, 7, {5, -9, 3, 99, 2}, {0, 5, 5, 8, 8}, indices, 0);
}
const Case computed_case{"computed columns outside of a matrix are absent, offsets that do not ascend are read safely",
                         &computed_structures_are_safe};

#if defined(__CUDACC__)
inline void repeatable_products_are_asked_for() {
  const Dense dense = some_dense(9, 8, 0.4), x = some_dense(8, 5), y = some_dense(9, 5);
  const auto a = sparse::from_dense(to_device<float>(dense));
  const LibraryOptions before = library_options();
  LibraryOptions options = before;
  options.is_deterministic = true;
  set_library_options(options);
  require_numbers(matmul(a, to_device<float>(x)), product(dense, x).numbers);
  require_numbers(matmul(a, vector_of<float>(some_dense(8, 1, 0))), Numbers(9));
  require_throws<ValueError>(
      [&] { static_cast<void>(transposed_matmul(a, to_device<float>(y))); },
      "adds up in any order, and LibraryOptions::is_deterministic is set; multiply by a transposed matrix");
  require_numbers(matmul(transpose(a), to_device<float>(y)), product(transposed(dense), y).numbers);
  set_library_options(before);
}
const Case repeatable_case{"deterministic products are asked for, and refused where the library has none",
                           &repeatable_products_are_asked_for};

inline void failures_are_named() {
  const auto make = [](const nvidia::SparseProduct& p) {
    launch(D{0}, [&](const auto& queue) { const nvidia::CusparseProduct made(queue, p); });
  };
  nvidia::SparseProduct p{};
  p.rows = -1;
  p.columns = 3;
  p.entries = 2;
  p.width = 4;
  require_throws<GpuError>([&] { make(p); }, "cusparseCreateCsr on cuda:0: CUSPARSE_STATUS_INVALID_VALUE");
  require_throws<GpuError>([&] { make(p); },
                           "; product of a sparse matrix of -1 x 3 with 2 non-zeros by 3 x 4 float32");
}
const Case failures_case{"a failure of the library names its call and the product", &failures_are_named};
#endif

}} // namespace twill::test::sparse_suite
