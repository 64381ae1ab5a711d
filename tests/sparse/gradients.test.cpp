// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices in compiled functions: first and second derivatives by values and by dense operands against central
// differences, on random structures; forward mode against reverse mode; batches against one after another; errors of runs.

#include "tests/support/message_of.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/sparse.hpp>
#include <twill/twill.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

namespace {

using namespace twill;
using graph::Value;
using Integers = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Vector = Tensor<double, Cpu, Shape<dyn>>;
using Matrix = Tensor<double, Cpu, Shape<dyn, dyn>>;

/// A sum with other weights for each element, so that a wrong place shows.
constexpr Value weighed(Value x) { return sum(x * sin(cast(graph::iota(x.graph(), x.shape()), x.dtype()) + 0.3)); }

/// Everything that models do with a matrix of values v; x is (columns, width), z is (rows, width). It is not linear in any.
struct AllProducts {
  constexpr Value operator()(Value v, Value x, Value z, Value offsets, Value columns) const {
    const auto a = sparse::csr(offsets, columns, v, z.shape()[0], x.shape()[0]);
    const Value y = matmul(a, x);
    const Value t = transposed_matmul(with_values(a, v * v), z);
    const Value s = sampled_matmul(a, y, transpose(t));
    const auto scaled = scale_columns(scale_rows(a, sin(sum<1>(a))), sum<0>(a));
    return weighed(y * z) + weighed(tanh(t)) + weighed(s * 0.1) + weighed(matmul(scaled, cos(sum(x, {1}))));
  }
};
/// The sum of its weighed gradients: its gradients are the second derivatives.
struct Slopes {
  constexpr Value operator()(Value v, Value x, Value z, Value offsets, Value columns) const {
    const Value y = AllProducts{}(v, x, z, offsets, columns);
    return weighed(graph::gradient(y, v)) + weighed(graph::gradient(y, x)) + weighed(graph::gradient(y, z));
  }
};

constexpr Value linear_products(Value v, Value x, Value z, Value offsets, Value columns) {
  const auto a = sparse::csr(offsets, columns, v, z.shape()[0], x.shape()[0]);
  return weighed(matmul(a, x)) + weighed(transposed_matmul(a, z)) + weighed(sampled_matmul(a, z, transpose(x)));
}

/// A matrix of a random structure, some of whose rows are empty, and dense operands.
struct Case {
  Vector v;
  Matrix x;
  Matrix z;
  Integers offsets;
  Integers columns;
};
Case random_case(std::mt19937_64& random) {
  const auto rows = static_cast<std::int64_t>(1 + random() % 4);
  const auto columns = static_cast<std::int64_t>(1 + random() % 4);
  const auto width = static_cast<std::int64_t>(1 + random() % 3);
  std::uniform_real_distribution<double> uniform{-1, 1};
  const auto numbers = [&](std::int64_t count) {
    std::vector<double> drawn(static_cast<std::size_t>(count));
    for (double& number : drawn) number = uniform(random);
    return drawn;
  };
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> indices{};
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::uint64_t k = random() % 4; k > 0; --k) // in any order, some of them twice
      indices.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns)));
    offsets.push_back(static_cast<std::int64_t>(indices.size()));
  }
  return {from_values(numbers(static_cast<std::int64_t>(indices.size())), Cpu{0}),
          from_values<Shape<dyn, dyn>>(numbers(columns * width), Dims(columns, width), Cpu{0}),
          from_values<Shape<dyn, dyn>>(numbers(rows * width), Dims(rows, width), Cpu{0}), from_values(offsets, Cpu{0}),
          from_values(indices, Cpu{0})};
}

/// The matrix of a case as a dense one, by its definition.
std::vector<double> dense_of(const Case& c) {
  const std::vector<std::int64_t> offsets = to_vector(c.offsets);
  const std::vector<std::int64_t> columns = to_vector(c.columns);
  const std::vector<double> values = to_vector(c.v);
  const auto width = static_cast<std::size_t>(c.x.size(0));
  std::vector<double> dense(static_cast<std::size_t>(c.z.size(0)) * width);
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
    for (auto i = static_cast<std::size_t>(offsets[r]); i < static_cast<std::size_t>(offsets[r + 1]); ++i)
      dense[r * width + static_cast<std::size_t>(columns[i])] += values[i];
  return dense;
}

template <class F> double value_of(F f, const Case& c) {
  return compiled(f)(c.v, c.x, c.z, c.offsets, c.columns).item();
}

/// The gradients by the k-th floating operand against differences of fourth order.
template <class F, class X> void check_gradient(F f, const Case& c, X Case::*operand, const Vector& gradient) {
  constexpr double h = 1e-4;
  const std::vector<double> slopes = to_vector(gradient);
  const std::vector<double> at = to_vector(c.*operand);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto moved = [&](double shift) {
      std::vector<double> numbers = at;
      numbers[i] += shift;
      Case other = c;
      other.*operand = from_values<typename X::shape_type>(numbers, (c.*operand).shape(), Cpu{0});
      return value_of(f, other);
    };
    const double difference = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
    INFO("element " << i);
    CHECK(slopes[i] == Approx(difference).epsilon(1e-7).margin(1e-7));
  }
}
template <class F> void check_gradients(F f, const Case& c) {
  const auto [v, x, z] = grad(f)(c.v, c.x, c.z, c.offsets, c.columns);
  check_gradient(f, c, &Case::v, v);
  check_gradient(f, c, &Case::x, Vector(x.reshape(-1)));
  check_gradient(f, c, &Case::z, Vector(z.reshape(-1)));
}

} // namespace

TEST_CASE("gradients of sparse products are those of differences", "[sparse]") {
  const std::uint64_t seed = test::test_seed();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  for (int k = 0; k < 200; ++k) {
    const Case c = random_case(random);
    INFO("case " << k << ": " << to_string(c.offsets) << ", " << to_string(c.columns));
    check_gradients(AllProducts{}, c);
    check_gradients(Slopes{}, c);
  }
}

TEST_CASE("products in models are those of the dense matrix, with columns in any order", "[sparse]") {
  std::mt19937_64 random{3};
  constexpr auto products = [](Value v, Value x, Value z, Value offsets, Value columns) {
    const auto a = sparse::csr(offsets, columns, v, z.shape()[0], x.shape()[0]);
    return std::tuple{matmul(a, x), transposed_matmul(a, z), matmul(a, sum(x, {1})), sum<1>(a), sum<0>(a)};
  };
  for (int k = 0; k < 50; ++k) {
    const Case c = random_case(random);
    const Matrix dense = from_values<Shape<dyn, dyn>>(dense_of(c), Dims(c.z.size(0), c.x.size(0)), Cpu{0});
    const auto [y, t, vector, of_rows, of_columns] = compiled(products)(c.v, c.x, c.z, c.offsets, c.columns);
    CHECK(bool{all(isclose(y, matmul(dense, c.x))).item()});
    CHECK(bool{all(isclose(t, matmul(dense.transpose(), c.z))).item()});
    CHECK(bool{all(isclose(vector, matmul(dense, sum<1>(c.x)))).item()});
    CHECK(bool{all(isclose(of_rows, sum<1>(dense))).item()});
    CHECK(bool{all(isclose(of_columns, sum<0>(dense))).item()});
  }
}

TEST_CASE("forward mode through sparse products agrees with reverse mode", "[sparse]") {
  std::mt19937_64 random{4};
  constexpr auto along = [](Value v, Value x, Value z, Value offsets, Value columns, Value t) {
    const auto of_values = [=](auto w) { return AllProducts{}(w, x, z, offsets, columns); };
    return std::tuple{jvp(of_values, v, t).second,
                      sum(graph::gradient(AllProducts{}(v, x, z, offsets, columns), v) * t)};
  };
  for (int k = 0; k < 20; ++k) {
    const Case c = random_case(random);
    const auto [forward, reverse] = compiled(along)(c.v, c.x, c.z, c.offsets, c.columns, c.v);
    CHECK(forward.item() == Approx(reverse.item()).epsilon(1e-10).margin(1e-12));
  }
}

TEST_CASE("batches of values, operands and structures are multiplied in one call", "[sparse]") {
  std::mt19937_64 random{5};
  constexpr auto distance = [](Value v, Value x, Value z, Value offsets, Value columns) {
    const auto of_values = [=](auto w) { return linear_products(w, x, z, offsets, columns); };
    const auto of_operands = [=](auto w) { return linear_products(v, w, z, offsets, columns); };
    const auto of_structures = [=](auto w) { return linear_products(v, x, z, offsets, w); };
    const auto apart = [](Value batched, Value first, Value second) {
      return max(abs(batched - graph::stack({first, second})));
    };
    const Value doubled = v * 2;
    const Value first = columns * 0;
    return apart(vmap(of_values)(graph::stack({v, doubled})), of_values(v), of_values(doubled)) +
           apart(vmap(of_operands)(graph::stack({x, x * 3})), of_operands(x), of_operands(x * 3)) +
           apart(vmap(of_structures)(graph::stack({columns, first})), of_structures(columns), of_structures(first));
  };
  for (int k = 0; k < 20; ++k) {
    const Case c = random_case(random);
    if (c.v.elements() == 0) continue; // max of nothing
    CHECK(compiled(distance)(c.v, c.x, c.z, c.offsets, c.columns).item() < 1e-12);
  }
}

TEST_CASE("half precision adds up in float32", "[sparse]") {
  constexpr auto product = [](Value v, Value x, Value offsets, Value columns) {
    return matmul(sparse::csr(offsets, columns, v, 1, x.shape()[0]), x);
  };
  const auto v = full<half, Shape<4000>>(Dims(4000), half{1}, Cpu{0});
  const auto x = full<half, Shape<1, 2>>(Dims(1, 2), half{1}, Cpu{0});
  const auto columns = zeros<std::int32_t, Shape<4000>>(Cpu{0});
  const auto offsets = from_values<Shape<2>>(std::vector<std::int32_t>{0, 4000}, Dims(2), Cpu{0});
  const auto y = compiled(product)(v, x, offsets, columns);
  STATIC_REQUIRE(decltype(y)::dtype == DType::float16);
  CHECK(to_vector(y) == std::vector<half>{half{4000}, half{4000}}); // half counts to 2048
}

TEST_CASE("runs refuse structures that are none", "[sparse]") {
  constexpr auto product = [](Value v, Value x, Value z, Value offsets, Value columns) {
    return matmul(sparse::csr(offsets, columns, v, z.shape()[0], x.shape()[0]), x);
  };
  const auto says = [&](const std::vector<std::int64_t>& offsets, const std::vector<std::int64_t>& columns) {
    return test::message_of([&] {
      static_cast<void>(compiled(product)(
          zeros<double, Shape<dyn>>(Dims(2)), zeros<double, Shape<dyn, dyn>>(Dims(4, 1)),
          zeros<double, Shape<dyn, dyn>>(Dims(3, 1)), from_values(offsets, Cpu{0}), from_values(columns, Cpu{0})));
    });
  };
  CHECK(says({0, 2}, {0, 1}) == "sparse matmul: there are 2 row offsets for 3 rows; there is one more than rows");
  CHECK(says({0, 2, 1, 2}, {0, 1}) == "sparse matmul: row offsets have to ascend; those of row 1 are 2 and 1");
  CHECK(says({0, 1, 1, 1}, {0, 1}) == "sparse matmul: the last row offset is 1, there are 2 column indices");
  CHECK(says({0, 1, 1, 2}, {0, 4}) ==
        "compiled function: a column index has to be between 0 and 3; element 1 of argument 5 is 4");
}
