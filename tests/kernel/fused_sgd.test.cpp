// SPDX-License-Identifier: Apache-2.0
//
// Gradient descent inside a product beside the product and the update one after the other: the same bits, whatever the shape.

#include "harness.hpp"

#include <twill/kernel/fused_sgd.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <limits>

using namespace kernel_test;

namespace {

template <class T> std::vector<T> random_numbers(std::int64_t count, std::mt19937& random) {
  std::uniform_real_distribution<double> between{-1, 1};
  std::vector<T> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<T>(between(random)));
  return numbers;
}

/// W - rate * (A' B + decay * W) by the small product and a loop.
template <class T>
std::vector<T> one_after_the_other(const std::vector<T>& a, const std::vector<T>& b, std::vector<T> w, std::int64_t m,
                                   std::int64_t n, std::int64_t k, T rate, T decay) {
  std::vector<T> gradient(w.size());
  kernel::small_product<T>(true, false, m, n, k, T{1}, a.data(), m, b.data(), n, T{0}, gradient.data(), n);
  for (std::size_t i = 0; i < w.size(); ++i) {
    volatile T decayed = decay * w[i]; // nothing is contracted
    volatile T slope = gradient[i] + decayed;
    volatile T step = rate * slope;
    w[i] = w[i] - step;
  }
  return w;
}

template <class T> void check_fused_sgd() {
  std::mt19937 random{std::random_device{}()};
  const std::int64_t shapes[][3] = {{1, 1, 1},   {7, 5, 1},    {3, 784, 1}, {13, 67, 1},   {5, 33, 2},
                                    {8, 131, 3}, {31, 200, 7}, {10, 64, 9}, {6, 1031, 32}, {4, 3, 0}};
  for (const auto& [m, n, k] : shapes)
    for (const T decay : {T{0}, T(0.125)}) {
      CAPTURE(m, n, k, decay);
      std::vector<T> a = random_numbers<T>(k * m, random);
      for (std::size_t i = 0; i < a.size(); i += 3) a[i] = T{0}; // as relu leaves them
      const std::vector<T> b = random_numbers<T>(k * n, random);
      const std::vector<T> w = random_numbers<T>(m * n, random);
      const std::vector<T> expected = one_after_the_other<T>(a, b, w, m, n, k, T(0.1), decay);
      std::vector<T> got = w;
      const kernel::FusedSgd<T> descent{a.data(), b.data(), got.data(), m, n, k, T(0.1), decay};
      kernel::update_weight(descent, 0, m / 2); // in two parts
      kernel::update_weight(descent, m / 2, m - m / 2);
      CHECK(got == expected);
    }
}

} // namespace

TEST_CASE("descent inside a product changes a weight to the bits that product and update would", "[kernel]") {
  check_fused_sgd<float>();
  check_fused_sgd<double>();
}

TEST_CASE("a row without a gradient keeps its weights, and what is not finite elsewhere spreads as ever", "[kernel]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float slopes[2] = {0.0F, 2.0F};
  float input[3] = {1.0F, -1.0F, 0.5F};
  float weights[6] = {infinity, -0.0F, 3.0F, 1.0F, 2.0F, 3.0F};
  kernel::update_weight<float>({slopes, input, weights, 2, 3, 1, 0.5F, 0.0F}, 0, 2);
  CHECK(weights[0] == infinity);
  CHECK(std::bit_cast<std::uint32_t>(weights[1]) == 0x80000000U);
  CHECK(std::vector<float>(weights + 2, weights + 6) == std::vector<float>{3.0F, 0.0F, 3.0F, 2.5F});
  input[1] = infinity; // zero times infinity
  kernel::update_weight<float>({slopes, input, weights, 2, 3, 1, 0.5F, 0.0F}, 0, 2);
  CHECK(std::isnan(weights[1]));
  CHECK(weights[4] == -infinity);
}
