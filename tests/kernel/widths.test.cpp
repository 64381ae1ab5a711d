// SPDX-License-Identifier: Apache-2.0
//
// Results depend neither on how many lanes a vector has nor on what stands in the other lanes.

#include <twill/kernel/apply_pack.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace twill;
using kernel::Primitive;

namespace {

/// The bits of a function's results with so many lanes at a time.
template <Primitive P, int Lanes, class T> std::vector<T> results_with(const std::vector<T>& x) {
  std::vector<T> y(x.size());
  for (std::size_t i = 0; i + Lanes <= x.size(); i += Lanes)
    kernel::store(y.data() + i, kernel::apply<P>(kernel::load<T, Lanes>(x.data() + i)));
  return y;
}

/// How many results differ in a bit.
template <Primitive P, class T> int differences(const std::vector<T>& x) {
  constexpr int most = kernel::vector_bytes / static_cast<int>(sizeof(T));
  const auto few = results_with<P, 16 / static_cast<int>(sizeof(T))>(x), many = results_with<P, most>(x);
  int count = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    count +=
        std::isnan(few[i]) ? !std::isnan(many[i]) : few[i] != many[i] || std::signbit(few[i]) != std::signbit(many[i]);
  return count;
}

/// Numbers of every size, small ones beside large ones.
template <class T, class Bits> std::vector<T> mixture(Bits step) {
  std::vector<T> x;
  Bits bits = 0;
  for (int i = 0; i < 8192; ++i) {
    x.push_back(i % 3 == 0 ? std::bit_cast<T>(bits) : static_cast<T>(i - 4096) * T{0.0123F});
    bits += step;
  }
  return x;
}

template <class T, Primitive... P> int all_differences(const std::vector<T>& x) { return (differences<P>(x) + ...); }

} // namespace

TEST_CASE("results do not depend on the number of lanes", "[kernel]") {
  const auto floats = mixture<float, std::uint32_t>(1572941);
  CHECK(all_differences<float, Primitive::exp, Primitive::log, Primitive::sin, Primitive::tan, Primitive::tanh,
                        Primitive::erf, Primitive::erfc, Primitive::lgamma, Primitive::cbrt, Primitive::sinh>(floats) ==
        0);
  const auto doubles = mixture<double, std::uint64_t>(6755399441055744003U);
  CHECK(all_differences<double, Primitive::exp, Primitive::log, Primitive::cos, Primitive::tanh>(doubles) == 0);
}
