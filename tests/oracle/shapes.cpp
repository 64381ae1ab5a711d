// SPDX-License-Identifier: Apache-2.0
//
// Functions that move elements without changing them.

#include "tests/oracle/registry.hpp"

namespace oracle {

void add_shapes(Registry& to) {
  using Some = Types<std::uint8_t, half, float, double>; // one of each width
  unary<3>(to, "transpose", Some{}, exact, [](const auto& x) { return x.transpose(); });
  unary<3>(to, "transpose<1,2>", Some{}, exact, [](const auto& x) { return x.template transpose<1, 2>(); });
  unary<3>(to, "permute<2,0,1>", Some{}, exact, [](const auto& x) { return x.template permute<2, 0, 1>(); });
  unary<4>(to, "flatten", Some{}, exact, [](const auto& x) { return x.flatten(); });
  unary<3>(to, "flatten<0,1>", Some{}, exact, [](const auto& x) { return x.template flatten<0, 1>(); });
  unary<2>(to, "unsqueeze<1>", Some{}, exact, [](const auto& x) { return x.template unsqueeze<1>(); });
}

} // namespace oracle
