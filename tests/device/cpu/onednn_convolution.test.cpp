// SPDX-License-Identifier: Apache-2.0
#include "tests/support/skip.hpp"

#include <twill/device/cpu/onednn_convolution.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace twill;

#if defined(TWILL_WITH_ONEDNN) && DNNL_VERSION_MAJOR == 2

namespace {

int number_of(std::int64_t rows) {
  const dnnl_dims_t extents = {rows, 3};
  dnnl_memory_desc_t order{};
  if (dnnl_memory_desc_init_by_tag(&order, 2, extents, dnnl_f32, dnnl_ab) != dnnl_success) return -1;
  return cpu::detail::number_of_order(order);
}

/// Asks when the process ends, as a thread may that nobody has joined: behind whatever the first call has made.
struct Asks {
  int expected = -1;
  ~Asks() {
    if (expected < 0 || (number_of(5) == expected && number_of(7) == expected + 1)) return;
    std::fputs("the orders of weights were destroyed while somebody asks for them\n", stderr);
    std::_Exit(1);
  }
};
Asks asks_at_exit{};

} // namespace

TEST_CASE("an order of weights has its number until the process has ended", "[device][cpu]") {
  asks_at_exit.expected = number_of(5);
  REQUIRE(asks_at_exit.expected >= 0);
  CHECK(number_of(7) == asks_at_exit.expected + 1);
  CHECK(number_of(5) == asks_at_exit.expected);
}

#else
TEST_CASE("an order of weights has its number until the process has ended", "[device][cpu]") {
  twill::test::skip("no oneDNN 2");
}
#endif
