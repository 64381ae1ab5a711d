// SPDX-License-Identifier: Apache-2.0
//
// Functions that move elements without changing them: views, copies in other shapes, joints, edges, chosen elements.

#include "tests/oracle/registry.hpp"

namespace oracle {
namespace {

template <twill::PadMode Mode> void add_pad(Registry& to, const std::string& name) {
  unary<2>(to, name, Types<std::uint8_t, float>{}, exact, [](const auto& x, const std::vector<double>& n) {
    const auto width = [&](std::size_t i) { return static_cast<std::int64_t>(n[i]); };
    return twill::pad(x, {{width(0), width(1)}, {width(2), width(3)}}, {.mode = Mode, .value = 5});
  });
}

} // namespace

void add_shapes(Registry& to) {
  using Some = Types<std::uint8_t, half, float, double>; // one of each width
  using Few = Types<std::uint8_t, float>;
  unary<3>(to, "transpose", Some{}, exact, [](const auto& x) { return x.transpose(); });
  unary<3>(to, "transpose<1,2>", Few{}, exact, [](const auto& x) { return x.template transpose<1, 2>(); });
  unary<3>(to, "permute<2,0,1>", Some{}, exact, [](const auto& x) { return x.template permute<2, 0, 1>(); });
  unary<4>(to, "flatten", Some{}, exact, [](const auto& x) { return x.flatten(); });
  unary<3>(to, "flatten<0,1>", Few{}, exact, [](const auto& x) { return x.template flatten<0, 1>(); });
  unary<2>(to, "unsqueeze<1>", Few{}, exact, [](const auto& x) { return x.template unsqueeze<1>(); });
  unary<3>(to, "flip", Few{}, exact, [](const auto& x) { return twill::flip(x); });
  unary<3>(to, "flip<0,2>", Few{}, exact, [](const auto& x) { return twill::flip<0, 2>(x); });
  unary<2>(to, "rot90<1>", Few{}, exact, [](const auto& x) { return twill::rot90(x); });
  unary<2>(to, "rot90<3>", Few{}, exact, [](const auto& x) { return twill::rot90<3>(x); });
  unary<3>(to, "moveaxis<0,2>", Few{}, exact, [](const auto& x) { return twill::moveaxis<0, 2>(x); });
  unary<2>(to, "roll<1>", Some{}, exact, [](const auto& x, const std::vector<double>& n) {
    return twill::roll<1>(x, static_cast<std::int64_t>(n[0]));
  });
  unary<2>(to, "roll", Few{}, exact,
           [](const auto& x, const std::vector<double>& n) { return twill::roll(x, static_cast<std::int64_t>(n[0])); });
  unary<2>(to, "tile", Few{}, exact, [](const auto& x, const std::vector<double>& n) {
    return twill::tile(x, static_cast<std::int64_t>(n[0]), static_cast<std::int64_t>(n[1]));
  });
  unary<2>(to, "repeat<0>", Few{}, exact, [](const auto& x, const std::vector<double>& n) {
    return twill::repeat<0>(x, static_cast<std::int64_t>(n[0]));
  });
  binary<2>(to, "concatenate<0>", Some{}, exact,
            [](const auto& a, const auto& b) { return twill::concatenate<0>(a, b); });
  binary<2>(to, "concatenate<1>", Few{}, exact,
            [](const auto& a, const auto& b) { return twill::concatenate<1>(a, b); });
  binary<2>(to, "stack<0>", Few{}, exact, [](const auto& a, const auto& b) { return twill::stack<0>(a, b); });
  binary<2>(to, "stack<2>", Few{}, exact, [](const auto& a, const auto& b) { return twill::stack<2>(a, b); });
  add_pad<twill::PadMode::constant>(to, "pad_constant");
  add_pad<twill::PadMode::edge>(to, "pad_edge");
  add_pad<twill::PadMode::reflect>(to, "pad_reflect");
  add_pad<twill::PadMode::symmetric>(to, "pad_symmetric");
  add_pad<twill::PadMode::wrap>(to, "pad_wrap");
  unary<3>(to, "diagonal<0,1>", Few{}, exact, [](const auto& x, const std::vector<double>& n) {
    return twill::diagonal<0, 1>(x, static_cast<std::int64_t>(n[0]));
  });
  unary<2>(to, "tril", Few{}, exact,
           [](const auto& x, const std::vector<double>& n) { return twill::tril(x, static_cast<std::int64_t>(n[0])); });
  unary<2>(to, "triu", Few{}, exact,
           [](const auto& x, const std::vector<double>& n) { return twill::triu(x, static_cast<std::int64_t>(n[0])); });
  unary<1>(to, "diag", Few{}, exact,
           [](const auto& x, const std::vector<double>& n) { return twill::diag(x, static_cast<std::int64_t>(n[0])); });
  unary<2>(to, "argwhere", Types<bool, float>{}, exact, [](const auto& x) { return twill::argwhere(x); });
  binary_with<2, float>(to, "take<0>", Types<std::int32_t, std::int64_t>{}, exact,
                        [](const auto& x, const auto& index) { return twill::take<0>(x, index); });
  binary_with<2, std::uint8_t>(to, "take<1>", Types<std::int64_t>{}, exact,
                               [](const auto& x, const auto& index) { return twill::take<1>(x, index); });
  binary_with<2, double>(to, "masked_select", Types<bool>{}, exact,
                         [](const auto& x, const auto& mask) { return twill::masked_select(x, mask); });
}

} // namespace oracle
