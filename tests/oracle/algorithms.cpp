// SPDX-License-Identifier: Apache-2.0
//
// Sorting and searching, where Thrust is found: the names begin with `algorithms.`, so that a build without it can tell.

#include "tests/oracle/registry.hpp"

#if defined(TWILL_ORACLE_ALGORITHMS)
#include <twill/algorithms.hpp>
#endif

namespace oracle {

void add_algorithms([[maybe_unused]] Registry& to) {
#if defined(TWILL_ORACLE_ALGORITHMS)
  using Some = Types<bool, std::int64_t, twill::half, float>;
  unary<3>(to, "algorithms.sort<0>", Some{}, zeros_equal, [](const auto& x) { return twill::sort<0>(x); });
  unary<3>(to, "algorithms.sort<-1>", Types<float, std::int32_t>{}, zeros_equal,
           [](const auto& x) { return twill::sort(x); });
  unary<2>(to, "algorithms.argsort<-1>", Some{}, exact, [](const auto& x) { return twill::argsort(x); });
  unary<2>(to, "algorithms.unique", Some{}, zeros_equal, [](const auto& x) { return twill::unique(x); });
  unary<1>(to, "algorithms.bincount", Types<std::uint8_t, std::int32_t>{}, exact,
           [](const auto& x) { return twill::bincount(x); });
  binary<1>(to, "algorithms.searchsorted", Types<std::int32_t, float, double>{}, exact,
            [](const auto& a, const auto& b) { return twill::searchsorted(twill::sort(a), b); });
  binary<1>(to, "algorithms.searchsorted_right", Types<std::uint8_t, float>{}, exact,
            [](const auto& a, const auto& b) { return twill::searchsorted(twill::sort(a), b, twill::side_right); });
#endif
}

} // namespace oracle
