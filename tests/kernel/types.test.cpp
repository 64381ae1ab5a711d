// SPDX-License-Identifier: Apache-2.0
//
// Every element type in the kernel shapes, and the conversions between them.

#include "harness.hpp"

#include <catch2/catch.hpp>

using namespace kernel_test;

namespace {

constexpr double exact = 0.0;
template <class T> using Doubled = Program<Along<T>, Shared<T>, Step<Primitive::add, 0, 1>, Out<T, 2>>;
template <class T> using Total = Program<Along<T>, Reduce<Reduction::sum, 0>, Out<T, 1>>;
template <class T>
using Largest = Program<Apart<T>, Reduce<Reduction::max, 0>, Reduce<Reduction::min, 0>, Out<T, 1>, Out<T, 2>>;
template <class From, class To> using Convert = Program<Along<From>, Cast<To, 0>, Out<To, 1>, Apart<From>, Cast<To, 3>>;

const std::int64_t sizes[] = {0, 1, 7, 16, 17, 65, 257};

} // namespace

TEMPLATE_TEST_CASE("every element type runs in every shape", "[kernel]", std::uint8_t, std::int32_t, std::int64_t, half,
                   bfloat16, float, double) {
  const double tolerance = std::is_same_v<TestType, half> ? 2e-3 : std::is_same_v<TestType, bfloat16> ? 2e-2 : 1e-5;
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    CHECK(difference<Doubled<TestType>>(Dims(3, n)) <= exact);
    CHECK(difference<Total<TestType>>(Dims(3, n)) <= tolerance);
    CHECK(difference<Largest<TestType>>(Dims(3, n)) <= exact);
    CHECK(difference<Convert<TestType, float>>(Dims(n)) <= exact);
    CHECK(difference<Convert<TestType, double>>(Dims(n)) <= exact);
    CHECK(difference<Convert<TestType, bool>>(Dims(n)) <= exact);
    CHECK(difference<Convert<bool, TestType>>(Dims(n)) <= exact);
    CHECK(difference<Convert<TestType, std::int64_t>>(Dims(n)) <= exact);
    CHECK(difference<Convert<float, TestType>>(Dims(n)) <= (std::is_same_v<TestType, std::uint8_t> ? 300 : exact));
  }
}
