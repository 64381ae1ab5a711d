// SPDX-License-Identifier: Apache-2.0
//
// Masks of attention without scores beside the composition and beside loops: boolean and added, broadcast along every axis,
// rows that see no key, gradients of added masks, derivatives against finite differences, 16-bit types.

#include "tests/support/compiled_rows.hpp"
#include "tests/support/numbers.hpp"

#include <twill/compile/function.hpp>
#include <twill/nn/attention.hpp>
#include <twill/ops/attention.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

constexpr auto streamed = [](Value q, Value k, Value v, Value mask) {
  return graph::streamed_attention(q, k, v, {.scale = 0.4, .mask = mask});
};
constexpr auto composed = [](Value q, Value k, Value v, Value mask) {
  return nn::composed_attention(q, k, v, {.mask = mask, .scale = 0.4});
};
constexpr auto streamed_causal = [](Value q, Value k, Value v, Value mask) {
  return graph::streamed_attention(q, k, v, {.scale = 0.4, .is_causal = true, .mask = mask > 0.4});
};
constexpr auto composed_causal = [](Value q, Value k, Value v, Value mask) {
  return nn::composed_attention(q, k, v, {.mask = mask > 0.4, .is_causal = true, .scale = 0.4});
};
constexpr auto streamed_half = [](Value q, Value k, Value v) {
  return graph::streamed_attention(graph::cast(q, DType::bfloat16), graph::cast(k, DType::bfloat16),
                                   graph::cast(v, DType::bfloat16), {.scale = 0.4});
};

template <class F> constexpr auto loss_of(const F&) {
  return [](Value q, Value k, Value v, Value mask) { return graph::sum(graph::square(F{}(q, k, v, mask))); };
}

void check_equal(const std::vector<double>& got, const std::vector<double>& expected, double bound) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == Approx(expected[i]).epsilon(bound).margin(bound));
}

using Queries = Tensor<double, Cpu, Shape<2, 3, 35, 4>>;
using Keys = Tensor<double, Cpu, Shape<2, 3, 67, 4>>;
using Values = Tensor<double, Cpu, Shape<2, 3, 67, 5>>;

struct Arrays {
  Queries q = randn<double, Shape<2, 3, 35, 4>>(Cpu{0});
  Keys k = randn<double, Shape<2, 3, 67, 4>>(Cpu{0});
  Values v = randn<double, Shape<2, 3, 67, 5>>(Cpu{0});
};

/// Both forms agree, values and gradients, the mask's too.
void check(const auto& one, const auto& other, const Arrays& x, const auto& mask) {
  check_equal(numbers(compiled(one)(x.q, x.k, x.v, mask)), numbers(compiled(other)(x.q, x.k, x.v, mask)), 1e-12);
  const auto mine = grad(loss_of(one))(x.q, x.k, x.v, mask);
  const auto theirs = grad(loss_of(other))(x.q, x.k, x.v, mask);
  check_equal(numbers(std::get<0>(mine)), numbers(std::get<0>(theirs)), 1e-11);
  check_equal(numbers(std::get<1>(mine)), numbers(std::get<1>(theirs)), 1e-11);
  check_equal(numbers(std::get<2>(mine)), numbers(std::get<2>(theirs)), 1e-11);
  check_equal(numbers(std::get<3>(mine)), numbers(std::get<3>(theirs)), 1e-11);
}

/// A mask of this shape, broadcast to (2, 3, 35, 67), with rows that see no key.
template <class S> void check_mask() {
  const Arrays x{};
  check(streamed_causal, composed_causal, x, rand<double, S>(Cpu{0}));
  check(streamed, composed, x, randn<double, S>(Cpu{0}));
}

inline constexpr std::array<Dims, 4> parts[]{{Dims(2, 2, 3, 2), Dims(2, 2, 4, 2), Dims(2, 2, 4, 2), Dims(2, 1, 3, 4)}};
inline constexpr std::tuple masked_rows{
    test::detail::row_on("masked attention", parts,
                         [](Value q, Value k, Value v, Value mask) { return streamed(q, k, v, mask); }),
};

} // namespace

TEST_CASE("masks of attention without scores broadcast along every axis", "[ops][TRAIN-1]") {
  check_mask<Shape<2, 1, 1, 67>>();
  check_mask<Shape<3, 35, 1>>();
  check_mask<Shape<2, 3, 35, 67>>();
}

TEST_CASE("a mask repeats along some of many leading axes", "[ops][TRAIN-1]") {
  const auto q = randn<double, Shape<2, 3, 2, 5, 4>>(Cpu{0});
  const auto k = randn<double, Shape<2, 3, 2, 6, 4>>(Cpu{0});
  const auto mask = randn<double, Shape<3, 1, 1, 6>>(Cpu{0});
  check_equal(numbers(compiled(streamed)(q, k, k, mask)), numbers(compiled(composed)(q, k, k, mask)), 1e-12);
  const auto first = randn<double, Shape<2, 1, 1, 5, 1>>(Cpu{0});
  check_equal(numbers(compiled(streamed)(q, k, k, first)), numbers(compiled(composed)(q, k, k, first)), 1e-12);
}

TEST_CASE("a query whose keys are all masked gets zeros and passes none on", "[ops][TRAIN-1]") {
  const auto q = randn<double, Shape<2, 4>>(Cpu{0});
  const auto k = randn<double, Shape<3, 4>>(Cpu{0});
  const auto v = randn<double, Shape<3, 2>>(Cpu{0});
  constexpr double never = -std::numeric_limits<double>::infinity();
  const auto mask =
      from_values<Shape<2, 3>>(std::vector<double>{never, never, never, 0, never, 0.5}, Dims(2, 3), Cpu{0});
  const std::vector<double> queries = numbers(q);
  const std::vector<double> keys = numbers(k);
  const std::vector<double> values = numbers(v);
  double weight[2] = {1, std::exp(0.5)};
  for (std::size_t i = 0; i < 4; ++i) {
    weight[0] *= std::exp(0.4 * queries[4 + i] * keys[i]);
    weight[1] *= std::exp(0.4 * queries[4 + i] * keys[8 + i]);
  }
  std::vector<double> expected{0, 0};
  for (std::size_t i = 0; i < 2; ++i)
    expected.push_back((weight[0] * values[i] + weight[1] * values[4 + i]) / (weight[0] + weight[1]));
  const auto check_form = [&](const auto& form) {
    check_equal(numbers(compiled(form)(q, k, v, mask)), expected, 1e-12);
    const auto gradients = grad(loss_of(form))(q, k, v, mask);
    const std::vector<double> dq = numbers(std::get<0>(gradients));
    const std::vector<double> dk = numbers(std::get<1>(gradients));
    const std::vector<double> dv = numbers(std::get<2>(gradients));
    for (std::size_t i = 0; i < 4; ++i) CHECK(dq[i] == 0);
    for (std::size_t i = 4; i < 8; ++i) CHECK(dk[i] == 0);
    CHECK((dv[2] == 0 && dv[3] == 0));
    for (double x : numbers(std::get<3>(gradients))) CHECK(std::isfinite(x));
  };
  check_form(streamed);
  check_form(composed);
}

TEST_CASE("attention without scores computes 16-bit types in float32", "[ops][TRAIN-6]") {
  const auto q = randn<float, Shape<33, 8>>(Cpu{0});
  const auto wide = [](Value a, Value b, Value c) { return graph::streamed_attention(a, b, c, {.scale = 0.4}); };
  const std::vector<double> expected = numbers(compiled(wide)(q, q, q));
  check_equal(numbers(compiled(streamed_half)(q, q, q)), expected, 0.05);
}

TEST_CASE("derivatives of masked attention agree with finite differences", "[ops][gradient][TRAIN-1]") {
  check_rows<masked_rows, 0, std::tuple_size_v<decltype(masked_rows)>>();
}
