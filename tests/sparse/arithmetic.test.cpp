// SPDX-License-Identifier: Apache-2.0
//
// Products with sparse matrices against loops over dense ones, on random structures; sums and scaled rows and columns; bits
// that do not depend on threads; other device kinds.

#include "tests/support/late_device.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/expr.hpp>
#include <twill/sparse.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using namespace twill;
using sparse::CsrMatrix;

template <class T> using Dense = Tensor<T, Cpu, Shape<dyn, dyn>>;

/// Numbers of a few bits: their sums and products are exact in every order.
template <class T> std::vector<T> small_numbers(std::int64_t count, std::mt19937_64& random) {
  std::vector<T> numbers{};
  for (std::int64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<T>(static_cast<float>(static_cast<int>(random() % 9) - 4)));
  return numbers;
}
template <class T> Dense<T> small_dense(std::int64_t rows, std::int64_t columns, std::mt19937_64& random) {
  return from_values<Shape<dyn, dyn>>(small_numbers<T>(rows * columns, random), Dims(rows, columns), Cpu{0});
}

/// A matrix with this share of its elements stored, in some rows none.
template <class T> Dense<T> thinned(std::int64_t rows, std::int64_t columns, double share, std::mt19937_64& random) {
  const auto x = small_dense<T>(rows, columns, random);
  std::uniform_real_distribution<double> uniform{0, 1};
  for (std::int64_t r = 0; r < rows; ++r) {
    const double own = uniform(random) < 0.2 ? 0 : share;
    for (std::int64_t c = 0; c < columns; ++c)
      if (uniform(random) >= own) x(r, c) = T{};
  }
  return x;
}

/// The product of dense matrices, by its definition.
template <class T> std::vector<double> product(const Dense<T>& a, const Dense<T>& b) {
  const std::vector<T> left = to_vector(a);
  const std::vector<T> right = to_vector(b);
  const std::int64_t inner = a.size(1);
  const std::int64_t width = b.size(1);
  std::vector<double> result{};
  for (std::int64_t r = 0; r < a.size(0); ++r)
    for (std::int64_t i = 0; i < width; ++i) {
      double sum = 0;
      for (std::int64_t c = 0; c < inner; ++c)
        sum += static_cast<double>(left[static_cast<std::size_t>(r * inner + c)]) *
               static_cast<double>(right[static_cast<std::size_t>(c * width + i)]);
      result.push_back(sum);
    }
  return result;
}

template <class X> std::vector<double> numbers_of(const X& x) {
  std::vector<double> numbers{};
  for (const auto element : to_vector(x)) numbers.push_back(static_cast<double>(element));
  return numbers;
}

/// Every product of one random matrix.
template <class T> void check_products(std::mt19937_64& random) {
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  const std::int64_t rows = below(20);
  const std::int64_t columns = below(20);
  const std::int64_t width = below(4) == 0 ? 31 + below(40) : below(6);
  const auto dense = thinned<T>(rows, columns, 0.1 * static_cast<double>(1 + below(9)), random);
  const auto a = sparse::from_dense(dense);
  INFO(to_string(dense.shape()) << ", " << a.nnz() << " non-zeros, width " << width);
  const auto x = small_dense<T>(columns, width, random);
  const auto z = small_dense<T>(rows, width, random);
  CHECK(numbers_of(matmul(a, x)) == product<T>(dense, x));
  CHECK(numbers_of(transposed_matmul(a, z)) == product<T>(Dense<T>(dense.transpose()), z));
  CHECK(numbers_of(matmul(transpose(a), z)) == numbers_of(transposed_matmul(a, z)));
  const auto v = small_dense<T>(columns, 1, random);
  CHECK(numbers_of(matmul(a, v.template squeeze<1>())) == product<T>(dense, v));
  const auto w = small_dense<T>(rows, 1, random);
  CHECK(numbers_of(transposed_matmul(a, w.template squeeze<1>())) == product<T>(Dense<T>(dense.transpose()), w));
  const auto ones = full<T, Shape<dyn, dyn>>(Dims(columns, 1), static_cast<T>(1), Cpu{0});
  CHECK(numbers_of(sum<1>(a)) == product<T>(dense, ones));
  CHECK(numbers_of(sum<0>(a)) == numbers_of(sum<-1>(transpose(a))));
  const auto sampled = sampled_matmul(a, z, x.transpose());
  const std::vector<double> all = product<T>(z, Dense<T>(x.transpose()));
  const std::vector<double> stored = numbers_of(dense);
  std::vector<double> expected{};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (stored[i] != 0) expected.push_back(all[i]);
  CHECK(numbers_of(sampled.values()) == expected);
  const auto scaled = scale_columns(scale_rows(a, w.template squeeze<1>()), v.template squeeze<1>());
  const std::vector<double> left = numbers_of(w);
  const std::vector<double> right = numbers_of(v);
  std::vector<double> of_entries{};
  for (std::size_t i = 0; i < stored.size(); ++i)
    if (stored[i] != 0)
      of_entries.push_back(stored[i] * left[i / static_cast<std::size_t>(columns)] *
                           right[i % static_cast<std::size_t>(columns)]);
  CHECK(numbers_of(scaled.values()) == of_entries);
}

} // namespace

TEST_CASE("products with sparse matrices are those with dense ones", "[sparse]") {
  const std::uint64_t seed = test::test_seed();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  for (int k = 0; k < 100; ++k) {
    check_products<float>(random);
    check_products<double>(random);
    if (k < 20) check_products<half>(random);
  }
}

TEST_CASE("static extents go through products", "[sparse]") {
  std::mt19937_64 random{1};
  const auto a = sparse::from_dense(Tensor<float, Cpu, Shape<3, 4>>(thinned<float>(3, 4, 0.5, random)));
  const Tensor<float, Cpu, Shape<4, 2>> x(small_dense<float>(4, 2, random));
  STATIC_REQUIRE(std::is_same_v<decltype(matmul(a, x)), Tensor<float, Cpu, Shape<3, 2>>>);
  STATIC_REQUIRE(std::is_same_v<decltype(sum<1>(a)), Tensor<float, Cpu, Shape<3>>>);
  STATIC_REQUIRE(std::is_same_v<decltype(sum<0>(a)), Tensor<float, Cpu, Shape<4>>>);
  CHECK(numbers_of(matmul(a, 2.0F * x)) == numbers_of(eval(2.0F * matmul(a, x)))); // expressions are evaluated first
}

TEST_CASE("products refuse operands that do not fit", "[sparse]") {
  std::mt19937_64 random{1};
  const auto a = sparse::from_dense(thinned<float>(3, 4, 0.5, random));
  const auto x = small_dense<float>(5, 2, random);
  CHECK(test::message_of([&] { static_cast<void>(matmul(a, x)); }) ==
        "sparse matmul: the sparse matrix has 4 columns, the dense operand 5 rows");
  CHECK(test::message_of([&] { static_cast<void>(transposed_matmul(a, x)); }) ==
        "sparse transposed_matmul: the sparse matrix has 3 rows, the dense operand 5 rows");
  CHECK(test::message_of([&] { static_cast<void>(sampled_matmul(a, small_dense<float>(3, 2, random), x)); }) ==
        "sparse sampled_matmul: a product of shapes (3, 2) and (5, 2) for a sparse matrix of shape (3, 4)");
}

TEST_CASE("the bits of sparse products do not depend on the number of threads", "[sparse][DET-1]") {
  std::mt19937_64 random{5};
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> columns{};
  for (std::int64_t r = 0; r < 3000; ++r) { // row 17 has a third of all elements
    for (std::int64_t c = 0; c < 2000; ++c)
      if (r == 17 || random() % 500 == 0) columns.push_back(c);
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  std::normal_distribution<double> normal{};
  const auto normals = [&](std::int64_t count) {
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (double& number : numbers) number = normal(random);
    return numbers;
  };
  const std::vector<double> values = normals(static_cast<std::int64_t>(columns.size()));
  const std::vector<double> x = normals(3000 * 70);
  const sparse::Structure a{.rows = 3000,
                            .columns = 2000,
                            .entries = static_cast<std::int64_t>(columns.size()),
                            .row_offsets = offsets.data(),
                            .column_indices = columns.data()};
  const auto results = [&](const Team& team) {
    std::vector<double> all{};
    for (const std::int64_t width : {1, 3, 70}) {
      std::vector<double> y(static_cast<std::size_t>(3000 * width));
      sparse::multiply(team, a, values.data(), x.data(), width, y.data());
      all.insert(all.end(), y.begin(), y.end());
      y.resize(static_cast<std::size_t>(2000 * width));
      sparse::multiply_transposed(team, a, values.data(), x.data(), width, y.data());
      all.insert(all.end(), y.begin(), y.end());
      y.resize(columns.size());
      sparse::multiply_sampled(team, a, x.data(), x.data(), width, y.data());
      all.insert(all.end(), y.begin(), y.end());
    }
    return all;
  };
  const std::vector<double> alone = results(Team::serial());
  static std::vector<twill::detail::ForkJoin*> teams; // never destroyed, as those of devices
  for (const int size : {2, 3, 7}) {
    auto& threads = *new twill::detail::ForkJoin{std::vector<int>(static_cast<std::size_t>(size), 0), "sparse"};
    teams.push_back(&threads);
    CHECK(results(Team{threads}) == alone);
  }
}

TEST_CASE("rows are shared out by their non-zeros", "[sparse]") {
  const std::vector<std::int64_t> offsets{0, 0, 100, 101, 102, 103, 104};
  const std::vector<std::int64_t> columns(104, 0);
  const sparse::Structure a{.count = 1,
                            .rows = 6,
                            .columns = 1,
                            .entries = 104,
                            .row_offsets = offsets.data(),
                            .column_indices = columns.data()};
  CHECK(sparse::first_row_of_part(a, 0, 2) == 0);
  CHECK(sparse::first_row_of_part(a, 1, 2) == 2); // the long row is before it
  CHECK(sparse::first_row_of_part(a, 2, 2) == 6);
}

TEST_CASE("sparse products run on a late device", "[sparse][DEV-3]") {
  std::mt19937_64 random{7};
  const auto on_cpu = sparse::from_dense(thinned<float>(30, 40, 0.3, random));
  const auto x = small_dense<float>(40, 5, random);
  const auto z = small_dense<float>(30, 5, random);
  const auto a = on_cpu.to(test::Late{1});
  CHECK(sparse::same_structure(a, on_cpu));
  CHECK(sparse::same_structure(CsrMatrix(a.shape(), a.row_offsets(), a.column_indices(), a.values()), on_cpu));
  CHECK(to_vector(matmul(a, x.to(test::Late{1}))) == to_vector(matmul(on_cpu, x)));
  CHECK(to_vector(transposed_matmul(a, z.to(test::Late{1}))) == to_vector(transposed_matmul(on_cpu, z)));
  CHECK(to_vector(transpose(a).values()) == to_vector(transpose(on_cpu).values()));
  CHECK(to_vector(sparse::to_dense(a)) == to_vector(sparse::to_dense(on_cpu)));
  CHECK(test::message_of([&] { static_cast<void>(matmul(a, x.to(test::Late{0}))); }) ==
        "sparse matmul: matrix and operand are on late:1 and late:0; move one with to(device)");
}
