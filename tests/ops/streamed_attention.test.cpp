// SPDX-License-Identifier: Apache-2.0
//
// Attention without scores in memory beside the composition that tests/nn/attention.test.cpp compares with PyTorch: values and
// gradients for sizes around those of a block; first and second derivatives against finite differences.

#include "tests/support/compiled_rows.hpp"
#include "tests/support/numbers.hpp"

#include <twill/compile/function.hpp>
#include <twill/nn/attention.hpp>
#include <twill/ops/attention.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

constexpr auto streamed = [](Value q, Value k, Value v) { return graph::streamed_attention(q, k, v, {.scale = 0.3}); };
constexpr auto composed = [](Value q, Value k, Value v) { return nn::composed_attention(q, k, v, {.scale = 0.3}); };
constexpr auto streamed_causal = [](Value q, Value k, Value v) {
  return graph::streamed_attention(q, k, v, {.scale = 0.3, .is_causal = true});
};
constexpr auto composed_causal = [](Value q, Value k, Value v) {
  return nn::composed_attention(q, k, v, {.is_causal = true, .scale = 0.3});
};

void check_equal(const std::vector<double>& got, const std::vector<double>& expected, double bound) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == Approx(expected[i]).epsilon(bound).margin(bound));
}

template <class T>
void check(const auto& one, const auto& other, std::int64_t queries, std::int64_t keys, double bound) {
  using S = Shape<2, dyn, 5>;
  const auto q = randn<T, S>(Dims(2, queries, 5), Cpu{0});
  const auto k = randn<T, S>(Dims(2, keys, 5), Cpu{0});
  const auto v = randn<T, Shape<2, dyn, 3>>(Dims(2, keys, 3), Cpu{0});
  INFO(queries << " queries, " << keys << " keys");
  check_equal(numbers(compiled(one)(q, k, v)), numbers(compiled(other)(q, k, v)), bound);
  constexpr auto loss = [](const auto& f) {
    return [](Value a, Value b, Value c) {
      return graph::sum(graph::square(std::remove_cvref_t<decltype(f)>{}(a, b, c)));
    };
  };
  const auto mine = grad(loss(one))(q, k, v);
  const auto theirs = grad(loss(other))(q, k, v);
  check_equal(numbers(std::get<0>(mine)), numbers(std::get<0>(theirs)), 10 * bound);
  check_equal(numbers(std::get<1>(mine)), numbers(std::get<1>(theirs)), 10 * bound);
  check_equal(numbers(std::get<2>(mine)), numbers(std::get<2>(theirs)), 10 * bound);
}

inline constexpr std::array<Dims, 3> parts[]{{Dims(1, 3, 2), Dims(1, 4, 2), Dims(1, 4, 2)}};
inline constexpr std::tuple attention_rows{
    test::detail::row_on("streamed attention", parts,
                         [](Value q, Value k, Value v) { return streamed_causal(q, k, v); }),
};

} // namespace

TEST_CASE("attention without scores equals attention with scores", "[ops][TRAIN-1]") {
  for (const std::int64_t queries : {1, 31, 33, 67})
    for (const std::int64_t keys : {1, 64, 65, 131}) check<double>(streamed, composed, queries, keys, 1e-12);
  check<double>(streamed, composed, 0, 5, 1e-12);
  for (const std::int64_t rows : {1, 32, 65, 130}) check<float>(streamed_causal, composed_causal, rows, rows, 2e-5);
}

TEST_CASE("derivatives of attention without scores agree with finite differences", "[ops][gradient][TRAIN-1]") {
  check_rows<attention_rows, 0, std::tuple_size_v<decltype(attention_rows)>>();
}
